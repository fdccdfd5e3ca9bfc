"""List every text that kmerge shows to people: errors, help texts, checks, reasons and reports.

    python tools/messages.py                         all of them, each with its kind and place
    python tools/messages.py --kind error            one kind
    python tools/messages.py --sample 200 --seed 7   200 of them at random, to be read by somebody
    python tools/messages.py kmerge_git/whole        those of a folder or a file

`<name>` stands for a value that is put in, `[..]` for a part that is not always there. A text that
begins or ends in the middle of a sentence is a part of a longer one. Samples have no texts of less
than four words. Names, examples and texts for programs (git's arguments, scripts, patterns) are
not listed.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).resolve().parent.parent
PACKAGE = HERE / "kmerge_git"
KINDS = ("error", "help", "check", "reason", "report")
HELP = {"description", "epilog", "help"}  # arguments of argparse
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# files, calls and constants (by a word of their names) whose texts are for programs
SHELL = ("git/driver_lines.py", "text/git_patch.py")
PROGRAMS = {
    "TypeVar", "cast", "compile", "git", "match", "replace", "run", "search", "split", "sub",
}  # fmt: skip
SCRIPTS = {
    "CSS", "GONE", "KUSTOMIZATION", "MARKING", "ONCE", "RAISED", "RENAMING", "SCRIPTS", "SHIM",
    "SOURCES", "STYLE",
}  # fmt: skip
EXAMPLES = {"example", "counter"}  # arguments of a check
REASONS = ("merge/", "template/", "text/", "tree/", "kube/", "verdict/", "pipeline.py")
TAG = re.compile(r"<[^<>]*>")
TWO_WORDS = re.compile(r"[a-z]{2,}[,:;]? [`<(]?[a-z]{2,}|[a-z]{3,} [`<][a-z]|> [a-z]{3,}")


class Message(NamedTuple):
    """Hold a text of the package, with its kind and its place."""

    kind: str
    place: str
    text: str


def messages(root: Path = PACKAGE) -> list[Message]:
    """Return all texts for people below a folder of the package, or in one file of it."""
    files = [root] if root.is_file() else sorted(root.rglob("*.py"))
    return [message for path in files for message in _messages_of(path)]


def _messages_of(path: Path) -> Iterator[Message]:
    name = str(path.relative_to(PACKAGE))
    if name in SHELL:
        return
    tree = ast.parse(path.read_text("utf-8"))
    default = "reason" if name.startswith(REASONS) else "report"
    for line, kind, text in _texts(tree, "help" if name.startswith("cli/main") else default):
        if TWO_WORDS.search(TAG.sub("<x>", text)):
            yield Message(kind, f"{name}:{line}", text)


def _texts(node: ast.AST, kind: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, kind and words of each string below a node that may be a text."""
    if isinstance(node, ast.JoinedStr | ast.Constant):
        if text := _spelled(node):
            yield node.lineno, kind, text
        for part in ast.walk(node):  # a conditional part is a text of its own
            if isinstance(part, ast.IfExp):
                yield from _texts(part.body, kind)
                yield from _texts(part.orelse, kind)
        return
    whole = _problem_and_remedy(node) if isinstance(node, ast.Call) else ()
    if whole:
        yield whole[0].lineno, "error", "; ".join(_spelled(part) for part in whole)
    for child in _children(node):
        if not any(part in whole for part in (child, getattr(child, "value", None))):
            yield from _texts(child, _kind_of(child, kind))


def _problem_and_remedy(node: ast.Call) -> tuple[ast.expr, ...]:
    """Return the two texts that an error joins, or () if the call makes no error with both."""
    hints = [keyword.value for keyword in node.keywords if keyword.arg == "hint"]
    both = (*node.args[:1], *hints)
    is_spelled = all(isinstance(part, ast.JoinedStr | ast.Constant) for part in both)
    return both if len(both) == 2 and is_spelled else ()


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of a node, without docstrings, annotations and texts for programs."""
    docstring = node.body[0] if isinstance(node, DOCUMENTED) and node.body else None
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            is_docstring = child is docstring and isinstance(child, ast.Expr)
            if isinstance(child, ast.AST) and not is_docstring and not _is_for_programs(child):
                yield child


def _is_for_programs(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return _called(node) in PROGRAMS
    if isinstance(node, ast.keyword):
        return node.arg in EXAMPLES
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return bool(SCRIPTS & set(node.targets[0].id.strip("_").split("_")))
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _kind_of(node: ast.AST, kind: str) -> str:
    if isinstance(node, ast.keyword) and node.arg in HELP:
        return "help"
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return "help" if node.targets[0].id.strip("_") in ("EXAMPLES", "EPILOG", "HELP") else kind
    if isinstance(node, ast.Raise):
        return "error"
    if isinstance(node, ast.Call):
        name = _called(node)
        if name in ("Check", "Found"):
            return "check"
        if name.endswith("Error") or name in ("CannotParse", "Unsupported", "Refused"):
            return "error"
        if name in ("add_argument", "add_parser"):
            return "help"
    return kind


def _called(node: ast.Call) -> str:
    """Return the last name of what a call calls."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _spelled(node: ast.expr) -> str:
    """Return a text with `<name>` for each value that is put in; '' if the node is not a text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_spelled(part) for part in node.values)
    if any(isinstance(part, ast.IfExp) for part in ast.walk(node)):
        return "[..]"
    return f"<{_name_of(node)}>"


def _name_of(node: ast.AST) -> str:
    """Return a short name for the value that a text puts in."""
    names = [
        each.attr if isinstance(each, ast.Attribute) else each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute | ast.Name)
    ]
    return names[0].strip("_") if names else "value"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the texts, one for each line; the line ends of a text are shown as `\\n`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("root", nargs="?", type=Path, default=PACKAGE, help="a folder or a file")
    parser.add_argument("--kind", choices=KINDS, help="only texts of this kind")
    parser.add_argument("--sample", type=int, metavar="N", help="N of them, at random")
    parser.add_argument("--seed", type=int, default=0, help="another number, another sample")
    args = parser.parse_args(argv)
    listed = [
        message for message in messages(args.root.resolve()) if args.kind in (None, message.kind)
    ]
    if args.sample:
        listed = [message for message in listed if len(message.text.split()) > 3]
        listed = random.Random(args.seed).sample(listed, min(args.sample, len(listed)))
    for message in listed:
        text = message.text.replace("\n", "\\n")
        print(f"{message.kind}  {message.place}  {text}")
    print(f"{len(listed)} texts", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
