"""The driver's bundle: its modules exist, and what is late is loaded at the first question."""

from __future__ import annotations

import ast
import marshal
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from installed import copied_package, spied_on

from kmerge_git import bundle

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "kmerge_git"
LIBRARIES = str(Path(find_spec("yaml").origin).parent.parent)
LISTED = [*bundle.EVERY_MERGE, *bundle.LATE, *bundle.MORE]

# The modules in which everything is decided, and all that they need when they are loaded.
NEEDED = {
    "kmerge_git.merge.decide.git_rules": """
        kmerge_git.kube.listkeys
        kmerge_git.merge.decide.block_texts
        kmerge_git.merge.decide.comments
        kmerge_git.merge.decide.keyed
        kmerge_git.merge.decide.order
        kmerge_git.merge.decide.rules
        kmerge_git.merge.pairing
        kmerge_git.merge.plan
        kmerge_git.merge.three
        kmerge_git.tree.nodes
        kmerge_git.tree.same
    """,
    "kmerge_git.merge.decide.walk": """
        kmerge_git.errors
        kmerge_git.merge.decide.block_texts
        kmerge_git.merge.decide.comments
        kmerge_git.merge.decide.keyed
        kmerge_git.merge.decide.rules
        kmerge_git.merge.decide.unkeyed
        kmerge_git.merge.plan
        kmerge_git.merge.three
        kmerge_git.tree.nodes
        kmerge_git.tree.same
    """,
}


def file_of(name: str) -> Path:
    path = ROOT.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def imports(source: str) -> list[tuple[str, str]]:
    """(module, name or nothing) of every import that runs when a module is loaded."""
    todo: list[ast.AST] = list(ast.parse(source).body)
    found: list[tuple[str, str]] = []
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            todo += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)
    return found


def modules(source: str) -> set[str]:
    """The package's modules that are imported when a module is loaded."""
    found = {f"{a}.{b}" if file_of(f"{a}.{b}").exists() else a for a, b in imports(source)}
    return {name for name in found if name.partition(".")[0] == "kmerge_git"}


def hasty(source: str) -> list[str]:
    """The late modules that a module loads, or looks into, when it is loaded itself."""
    return [module for module, _ in imports(source) if module in bundle.LATE]


@pytest.fixture(scope="module")
def every_merge() -> dict[str, str]:
    """The modules of every merge in the bundle's order, with their sources."""
    return {name: file_of(name).read_text() for name in bundle.in_order(ROOT)}


@pytest.mark.parametrize("name", LISTED)
def test_a_listed_module_exists(name):
    assert file_of(name).is_file()


def test_the_bundle_holds_every_module_of_its_rooms():
    assert all((PACKAGE / name / "__init__.py").is_file() for name in bundle.FOLDERS)
    _, head, _ = bundle.contents(ROOT)
    _, _, every, some, late = marshal.loads(head)
    held = {name for name, *_ in every} | set(some)
    below = {p for name in bundle.FOLDERS for p in (PACKAGE / name).rglob("*.py")}
    assert {file_of(name) for name in held} >= below
    assert held.issuperset(LISTED)
    assert set(late) == set(bundle.LATE) <= set(some)


def test_nothing_is_held_that_a_type_checker_alone_reads(tmp_path, monkeypatch):
    """In a bundle of one module, beside the start."""
    monkeypatch.setattr(bundle, "EVERY_MERGE", ("kmerge_git.typed",))
    monkeypatch.setattr(bundle, "MORE", ())
    (tmp_path / "kmerge_git" / "cli").mkdir(parents=True)
    (tmp_path / "kmerge_git" / "cli" / "start.py").touch()
    (tmp_path / "kmerge_git" / "typed.py").write_text(
        "from __future__ import annotations\n"
        "from typing import NoReturn\n"
        "if TYPE_CHECKING:\n    from x import A\n"
        "kept: A = 1\n"
        "gone: A\n"
        "class C:\n"
        "    gone: A\n"
        "    def f(self, a: A, /, b: A = 2, *c: A, d: A = 4, **e: A) -> A:\n"
        "        try:\n"
        "            inner: A = b\n"
        "        finally:\n"
        "            last: A = d\n"
        "        return inner + last\n"
    )
    _, _, ((_, _, code),), _, _ = marshal.loads(bundle.contents(tmp_path)[1])
    names: dict[str, Any] = {}
    exec(code, names)
    assert not {"A", "annotations", "TYPE_CHECKING", "__annotations__"} & {*code.co_names, *names}
    assert (names["kept"], names["C"]().f(0)) == (1, 6)
    assert names["C"].f.__annotations__ == {}
    assert not hasattr(names["C"], "gone")


def test_a_module_of_every_merge_stands_behind_what_it_imports(every_merge):
    order = list(every_merge)
    assert set(NEEDED) <= set(order)
    for place, (name, source) in enumerate(every_merge.items()):
        assert modules(source).difference(bundle.LATE).issubset(order[:place]), name


def test_a_module_of_every_merge_leaves_the_late_ones_alone(every_merge):
    assert not {name: found for name, source in every_merge.items() if (found := hasty(source))}


def test_a_late_module_stands_on_the_way_of_every_merge(every_merge):
    """Else it needs no stand-in: it is loaded where somebody imports it."""
    assert set(bundle.LATE) <= set().union(*map(modules, every_merge.values()))


@pytest.mark.parametrize(
    "source, seen",
    [
        ("from kmerge_git.merge import align", False),
        ("def f():\n    from kmerge_git.merge.decide.keyed import keyed", False),
        ("if TYPE_CHECKING:\n    from kmerge_git.merge.decide.keyed import Table", False),
        ("from kmerge_git.merge.decide.keyed import keyed", True),
        ("import kmerge_git.merge.decide.keyed", True),
        (
            "try:\n    from kmerge_git.merge.decide.keyed import keyed\nexcept ImportError:\n    pass",
            True,
        ),
        ("class A:\n    from kmerge_git.merge.decide.keyed import keyed", True),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    import kmerge_git.merge.decide.keyed", True),
    ],
)
def test_the_guard_sees_haste(source, seen, monkeypatch):
    monkeypatch.setattr(bundle, "LATE", ("kmerge_git.merge.decide.keyed",))
    assert bool(hasty(source)) == seen


@pytest.mark.parametrize("name", NEEDED)
def test_what_the_deciding_modules_import_when_they_are_loaded(name):
    assert sorted(modules(file_of(name).read_text())) == NEEDED[name].split()


# Tells which module, or which stand-in for a late one, cannot be had from its package.
HANGING = """
names = [name for name in sys.modules if name.startswith("kmerge_git.")]
for name in names:
    above, _, last = name.rpartition(".")
    if vars(sys.modules[above]).get(last) is not sys.modules[name]:
        print(name, file=sys.stderr)
late = [name for name in names if type(sys.modules[name]).__name__ == "Late"]
print(*sorted(late), file=sys.stderr)
print(*sorted(name for name in names if name not in late), file=sys.stderr)
"""


def test_every_module_hangs_at_its_package(tmp_path, every_merge):
    """Else `from package import module` goes the long way of an import."""
    driver = copied_package(tmp_path / "lib" / "kmerge_git") / "cli" / "driver.py"
    for name, side in (
        ("base", "a: 1\nb: 1\n"),
        ("ours", "a: 2\nb: 1\n"),
        ("theirs", "a: 1\nb: 2\n"),
    ):
        (tmp_path / name).write_text(POD + side)
    library = spied_on(tmp_path / "lib", HANGING)
    command = [sys.executable, "-I", "-S", driver, library, "base", "ours", "theirs"]
    subprocess.run([*command, "--version"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    late, others = map(str.split, done.stderr.splitlines())
    assert set(late) == set(bundle.LATE)
    assert set(others) >= every_merge.keys() - {"kmerge_git"}


# -- what a real merge loads: each side changes one of two lines that do not touch

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n"
MERGES = {
    "mappings": ("left: {0}\nlist: [a]\nright: {1}\n", ""),
    "a list with a key": ("spec:\n  volumes:\n  - a: {0}\n    name: a\n  - b: {1}\n    name: b\n", "keyed likeness"),
    "a list without": ("spec:\n  tolerations:\n  - key: a{0}\n    value: a\n  - key: b{1}\n", "keyed likeness unkeyed"),
    "a flow mapping": ("spec: {{a: {0},\n  x: 1,\n  b: {1}}}\n", "flow"),
    "a text": ("spec:\n  text: |\n    {0}\n    a\n    {1}\n", "block_scalars block_texts proof"),
}  # fmt: skip


def drive(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    driver = str(PACKAGE / "cli" / "driver.py")
    command = [sys.executable, "-I", "-S", "-X", "importtime", driver, f"--lib={LIBRARIES}", *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def loaded(folder: Path, text: str) -> set[str]:
    """The last names of the late modules that a merge by the driver loads."""
    for name, lines in (("base", (1, 1)), ("ours", (2, 1)), ("theirs", (1, 2))):
        (folder / name).write_text(POD + text.format(*lines))
    done = drive("base", "ours", "theirs", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "ours").read_text() == POD + text.format(2, 2)
    names = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    return {name.rpartition(".")[2] for name in names if name in bundle.LATE}


@pytest.mark.world
@pytest.mark.parametrize("text, late", MERGES.values(), ids=MERGES)
def test_a_merge_loads_late_modules_when_it_asks(tmp_path, text, late):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)  # where git calls its drivers
    drive("--version", cwd=tmp_path)  # this one may have to write the bundle
    assert loaded(tmp_path, text) == set(late.split())


# Neighbouring lines: git alone has a conflict in each of them.
WITHOUT_ACTIONS = {
    "fields": "a: {0}\nb: {1}\n",
    "no YAML": "\ta: {0}\n\tb: {1}\n",
    "a conflict": "a: {0}{1}\n",
    "a key twice": "a: {0}\nb: {1}\na: 1\n",
}
WITH_ACTIONS = {
    "a template": "a: {0}\nb: {1}\nc: {{{{ .d }}}}\n",
    "a template that git merges clean": "a: {0}\n\n\nb: {1}\nc: {{{{ .d }}}}\n",
}
IN_TEXTS = {"actions in quotes": "a: {0}\nb: {1}\nc: '{{{{ .d }}}}'\n"}


def rooms(folder: Path, text: str) -> set[str]:
    """The modules for templates that a merge by the driver loads."""
    for name, lines in (("base", (1, 1)), ("ours", (2, 1)), ("theirs", (1, 2))):
        (folder / name).write_text(text.format(*lines))
    done = drive("--path=templates/a.yaml", "base", "ours", "theirs", cwd=folder)
    assert done.returncode in (0, 3), done.stderr
    names = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    return {name for name in names if name.startswith("kmerge_git.template")}


@pytest.mark.world
@pytest.mark.parametrize(
    "text, is_asked",
    [
        *((text, False) for text in (WITHOUT_ACTIONS | IN_TEXTS).values()),
        *((text, True) for text in WITH_ACTIONS.values()),
    ],
    ids=[*WITHOUT_ACTIONS, *IN_TEXTS, *WITH_ACTIONS],
)
def test_a_file_without_actions_costs_nothing(tmp_path, text, is_asked):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    drive("--version", cwd=tmp_path)  # this one may have to write the bundle
    assert bool(rooms(tmp_path, text)) == is_asked


def test_no_merge_loads_the_room_of_templates_at_its_start():
    assert not [name for name in bundle.in_order(ROOT) if name.startswith("kmerge_git.template")]
