"""Write the driver's modules into one file, so that the modules load in one read.

Fifty imports cost the driver as much time as the start of a bare interpreter. The first driver
that finds no bundle, or an outdated bundle, writes a new bundle next to the compiled files. If
that folder is not writable, the driver runs without a bundle. The bundle is an image of the module
files, which are checked by size and time. The bundle holds the code of `cli/start.py`, then the
modules that every merge needs, in the order of their imports, then all other modules. Docstrings,
line numbers and types are omitted, because they are half of what every start would read.
"""

from __future__ import annotations

import ast
import marshal
from contextlib import suppress
from pathlib import Path
from types import CodeType

from kmerge_git.atomic_files import replace_file

# The imports of every merge begin here: at the driver itself, and at its late imports.
EVERY_MERGE = (
    "kmerge_git.cli.drive",
    "kmerge_git.git.settings",
    "kmerge_git.pipeline",
    "kmerge_git.tree.compose",
    "kmerge_git.kube.keytable",
)
# Every merge imports these modules but few merges use them: each is loaded at its first use.
LATE = (
    "kmerge_git.kube.fieldpath",
    "kmerge_git.kube.likeness",
    "kmerge_git.merge.decide.block_texts",
    "kmerge_git.merge.decide.keyed",
    "kmerge_git.merge.decide.unkeyed",
    "kmerge_git.merge.verify.line_damage",
    "kmerge_git.merge.verify.proof",
    "kmerge_git.merge.verify.referee",
    "kmerge_git.merge.write.flow",
    "kmerge_git.tree.block_scalars",
)
# Only some merges need the modules in these folders and in MORE.
FOLDERS = ("text", "tree", "kube", "merge", "template")
MORE = (
    "kmerge_git.cli.lost_changes",
    "kmerge_git.git.sides",
    "kmerge_git.git.spawned_git",
    "kmerge_git.visible",
)


def write(root: str, target: str) -> None:
    """Write the bundle of the package in folder `root` to `target`, which all users may read."""
    with suppress(OSError, ValueError, SyntaxError):  # the next start tries again
        data = b"".join(contents(Path(root)))
        Path(target).unlink(missing_ok=True)  # the old file may have another mode
        replace_file(target, data, new_mode=0o644, durable=False)


def contents(root: Path) -> tuple[bytes, bytes, bytes]:
    """Return the three parts of a bundle: the size of the head, the head, and the rest.

    Every start reads the head. The head holds the code of the start, the stamps of the files, the
    modules that every merge needs, the places of the modules in the rest, and the names of the
    modules that are loaded late. The rest holds the modules that only some merges need.
    """
    package = root / "kmerge_git"
    order = in_order(root)
    every = [(name, _file(root, name)) for name in order]
    start = package / "cli" / "start.py"
    stamps = [_stamp(root, file) for file in (start, *(file for _, file in every))]
    codes = [(name, file.relative_to(root).as_posix(), _code(file)) for name, file in every]
    some = {_name(root, file) for folder in FOLDERS for file in (package / folder).rglob("*.py")}
    rest = b""
    places = {}
    for name in sorted(some.union(MORE).difference(order)):
        file = _file(root, name)
        code = marshal.dumps(_code(file))
        # offsets are from the end of the head, whose size is not known yet
        places[name] = (_stamp(root, file), len(rest), len(code))
        rest += code
    head = marshal.dumps((_code(start), stamps, codes, places, LATE))
    return b"%d\n" % len(head), head, rest


def in_order(root: Path) -> list[str]:
    """Return the modules that every merge needs, each module after the modules that it imports."""
    done: dict[str, None] = {}
    on_the_way: set[str] = set()

    def visit(name: str) -> None:
        file = _file(root, name)
        foreign = name.partition(".")[0] != "kmerge_git" or not file.is_file()
        if foreign or name in on_the_way or name in LATE:
            return
        on_the_way.add(name)
        visit(name.rpartition(".")[0])
        for statement in ast.parse(file.read_bytes()).body:
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    visit(alias.name)
            elif isinstance(statement, ast.ImportFrom) and statement.module:
                visit(statement.module)
                for alias in statement.names:
                    visit(f"{statement.module}.{alias.name}")
        done[name] = None

    for name in EVERY_MERGE:
        visit(name)
    return list(done)


def _file(root: Path, name: str) -> Path:
    path = root.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_name(path.name + ".py")


def _name(root: Path, file: Path) -> str:
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _stamp(root: Path, file: Path) -> tuple[str, int, int]:
    stat = file.stat()
    return file.relative_to(root).as_posix(), stat.st_size, stat.st_mtime_ns


def _code(file: Path) -> CodeType:
    tree = ast.parse(file.read_bytes())
    _untype(tree)
    return _bare(compile(tree, str(file), "exec", dont_inherit=True, optimize=2))


def _bare(code: CodeType) -> CodeType:
    """Return the code without line numbers."""
    parts = (_bare(part) if isinstance(part, CodeType) else part for part in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=tuple(parts))


def _untype(block: ast.AST) -> None:
    """Remove `from __future__` and everything that only a type checker reads.

    Types occur only in statements, so the expressions, which are nine tenths of a tree, are
    skipped.
    """
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        statements = getattr(block, field, ())
        if statements:
            kept = [one for statement in statements for one in _untyped(statement)]
            setattr(block, field, kept)


def _untyped(statement: ast.AST) -> list[ast.AST]:
    """Return the statement without types, as a list that is empty if only types were in it."""
    match statement:
        case ast.ImportFrom(module="__future__"):
            return []
        case ast.AnnAssign(value=None):
            return [ast.copy_location(ast.Pass(), statement)]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return [ast.copy_location(ast.Assign([target], value), statement)]
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=other):
            kept = [one for inner in other for one in _untyped(inner)]
            return kept or [ast.copy_location(ast.Pass(), statement)]
        case ast.FunctionDef(args=args):
            statement.returns = None
            for arg in (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg):
                if arg:
                    arg.annotation = None
    _untype(statement)
    return [statement]
