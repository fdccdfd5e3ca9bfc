"""The layers: who may import whom, and what the driver may not import at all."""

import ast
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from kmerge_git.kube.listkeys import key_names
from kmerge_git.tree.documents import YamlText

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "kmerge_git"

MERGING = {"text", "tree", "kube", "merge"}
CORE = MERGING | {"patch"}
LAYERS = {
    "text": set(),
    "tree": {"text"},
    "kube": {"text", "tree"},
    "merge": {"text", "tree", "kube"},
    "compare": MERGING,
    "patch": {"tree", "kube"},
    "template": MERGING,
    "check": CORE | {"api", "compare", "template", "verdict", "bounds"},
    "pipeline": MERGING | {"template"},
    "verdict": MERGING | {"pipeline", "template"},
    "api": MERGING | {"pipeline", "verdict"},
    "git": {"text", "bounds"},
    "report": {"bounds"},
    "packages": MERGING | {"api", "pipeline"},
    "vendored": MERGING | {"api", "compare", "pipeline", "packages", "git"},
    "whole": MERGING | {"api", "compare", "template", "pipeline", "packages", "git", "bounds"},
    "replay": MERGING | {"git", "whole", "bounds"},
    "bundle": set(),
    "cli": CORE
    | {"bundle", "compare", "bounds"}
    | {"check", "api", "pipeline", "git", "report", "whole", "replay", "packages", "vendored"},
    "finding": set(),
    "errors": set(),
    "system": set(),
    "visible": set(),
    "nearest": set(),
    "atomic_files": set(),
    "time_limit": {"bounds"},
    "bounds": set(),
    "outcome": set(),
    "__init__": set(),
    "__main__": {"cli"},
}
# The rooms of merging: what decides writes no text, and what verifies knows neither.
BESIDE = {"three", "plan", "pairing", "bulk"}
ROOMS = {
    "three": set(),
    "plan": {"three"},
    "bulk": {"three", "elision"},
    "pairing": {"three", "bulk"},
    "newfile": {"three", "plan", "pairing"},
    "elision": {"three"},
    "layout": {"three"},
    "decide": BESIDE,
    "write": {"three", "plan"},
    "merged": {"three", "plan", "elision", "write"},
    "by_resource": BESIDE
    | {
        "newfile",
        "elision",
        "layout",
        "merged",
        "decide",
        "write",
    },
    "reshape": {"three", "plan", "write"},
    "placeholders": {"three", "plan", "merged", "write"},
    "verify": {"three", "plan", "bulk", "merged"},
    "sealed": {"three", "verify", "placeholders"},
    "finish": {"three", "plan", "merged", "decide", "verify"},
    "kyaml": BESIDE | {"decide", "by_resource", "merged", "verify"},
    "rule_sentences": set(),
}
# The rooms of the checks: what stands beside them is open to all three.
CHECKING = {"kustomize": set(), "merges": set(), "patches": {"kustomize"}}
OPEN_TO_ALL = {
    *("errors", "outcome", "finding", "system", "visible", "nearest", "atomic_files"),
    *("time_limit", "__init__"),
}
# Each of these libraries is known in one place only, so that it can be replaced there.
HOMES = {
    "pygit2": ("git/libgit2.py",),
    "yaml": ("tree/parser.py",),
    "ruamel": ("tree/emit.py",),
}
# Each costs a large part of a bare interpreter's start: see docs/dependencies.md.
BANNED = {
    *("re", "argparse", "typing", "enum", "dataclasses", "pathlib", "subprocess", "json"),
    *("logging", "collections", "functools", "pygit2", "ruamel", "yaml.reader", "yaml.constructor"),
    *("os", "bisect"),
}
LIBRARIES = str(Path(find_spec("yaml").origin).parent.parent)
MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.fixture(scope="module", autouse=True)
def forget_the_trees():
    """So many objects would be in the way of the tests after these."""
    yield
    tree_of.cache_clear()


@cache
def tree_of(path: Path) -> ast.AST:
    """Return the syntax of a module, read once for all tests."""
    return ast.parse(path.read_bytes())


def imported(path: Path) -> set[str]:
    """Return every dotted name the module imports anywhere, `import_module("x")` included."""
    return imports_of(tree_of(path))


def imports_of(tree: ast.AST) -> set[str]:
    """Return the dotted names that are imported below a node."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write imports of the package in full"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.add(inner if is_module(inner) else node.module or "")
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
            called = called.id if isinstance(called, ast.Name) else called
            if called in ("import_module", "__import__"):
                names.add(str(node.args[0].value))
    return names


def is_module(name: str) -> bool:
    """Return whether a dotted name is a module or package of ours."""
    place = ROOT.joinpath(*name.split("."))
    return place.is_dir() or place.with_name(f"{place.name}.py").is_file()


def part_of(dotted: str) -> str:
    """Return the layer a dotted name below kmerge_git belongs to."""
    part = [*dotted.split("."), "__init__"][1]
    return part if (PACKAGE / part).is_dir() or (PACKAGE / f"{part}.py").exists() else "__init__"


def trespasses(path: Path, names: set[str]) -> list[str]:
    """Return what is wrong with a module's imports."""
    here = path.relative_to(PACKAGE).as_posix()
    layer = here.split("/")[0].removesuffix(".py")
    if layer not in LAYERS:
        return [f"{here}: no row in LAYERS: say what it may import"]
    wrong = []
    for name in sorted(names):
        top = name.split(".")[0]
        if top == "kmerge_git":
            part = part_of(name)
            if part not in LAYERS[layer] | OPEN_TO_ALL | {layer}:
                wrong.append(f"{here} imports {name}: {layer} may not know {part}")
            if layer == part == "merge":
                wrong += between_rooms(here, name)
            if layer == part == "check":
                wrong += between_checks(here, name)
        elif top in HOMES and not here.startswith(HOMES[top]):
            wrong.append(f"{here} imports {name}: only {', '.join(HOMES[top])} may")
    return wrong


def between_rooms(here: str, name: str) -> list[str]:
    """Return what is wrong with an import of one room of merging by another."""
    room, there = here.split("/")[1].removesuffix(".py"), name.split(".")[2]
    if there in {room, *ROOMS.get(room, ())}:
        return []
    return [f"{here} imports {name}: {room} may not know {there}"]


def between_checks(here: str, name: str) -> list[str]:
    """Return what is wrong with an import of one room of the checks by another."""
    room, there = here.split("/")[1].removesuffix(".py"), (*name.split("."), "")[2]
    if room not in CHECKING or there not in CHECKING or there in {room, *CHECKING[room]}:
        return []
    return [f"{here} imports {name}: {room} may not know {there}"]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_a_module_imports_only_what_its_layer_may_know(path):
    assert not trespasses(path, imported(path))


@pytest.mark.parametrize(
    "where, name",
    [
        ("text/source.py", "kmerge_git.tree.nodes"),
        ("tree/nodes.py", "kmerge_git.kube"),
        ("git/settings.py", "kmerge_git.merge"),
        ("report/findings.py", "kmerge_git.check"),
        ("errors.py", "kmerge_git.text"),
        ("git/installation.py", "pygit2"),
        ("merge/plan.py", "yaml.nodes"),
        ("merge/plan.py", "ruamel.yaml"),
        ("unknown.py", "os"),
        ("merge/decide/walk.py", "kmerge_git.merge.write.flow"),
        ("check/merges/merge_walk.py", "kmerge_git.check.patches.patch_walk"),
        ("check/kustomize/kustomize_build.py", "kmerge_git.check.patches.patch_targets"),
        ("merge/verify/proof.py", "kmerge_git.merge.decide.walk"),
        ("merge/verify/proof.py", "kmerge_git.merge.write.document_text"),
        ("merge/by_resource.py", "kmerge_git.merge.kyaml.kyaml_merges"),
        ("merge/a_new_room.py", "kmerge_git.merge.plan"),
    ],
)
def test_the_guard_sees_a_trespass(where, name):
    assert trespasses(PACKAGE / where, {name})


def test_the_guard_sees_imports_inside_functions(tmp_path):
    module = tmp_path / "m.py"
    module.write_text("def f():\n    import yaml.nodes\n    return import_module('pygit2')\n")
    assert imported(module) == {"yaml.nodes", "pygit2"}


def rows(text: str) -> dict[str, int]:
    """Return the layers that people read of, in that order, with their statements."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == 3:
            found[cells[0].strip("`")] = int(cells[2].replace(",", ""))
    return found


def statements(layer: str) -> int:
    """Count the statements of a layer, without docstrings."""
    paths = [*(PACKAGE / layer).rglob("*.py")] or [PACKAGE / f"{layer}.py"]
    nodes = [n for path in paths for n in ast.walk(tree_of(path))]
    return sum(isinstance(n, ast.stmt) and not is_text(n) for n in nodes)


def is_text(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def test_the_tables_for_people_say_the_same():
    house = (ROOT / "CONTRIBUTING.md").read_text().partition("## Architecture")[2]
    house = house.partition("\nHouse style")[0]
    assert len(house.splitlines()) <= 55, "it fits one screen"
    layers = rows(house)
    assert layers.keys() == LAYERS.keys() - OPEN_TO_ALL - {"bundle", "bounds", "__main__"}
    above = OPEN_TO_ALL | {"bundle", "bounds"}
    for layer, told in layers.items():
        assert LAYERS[layer] <= above, f"{layer} imports what stands below it"
        above |= {layer}
        assert abs(statements(layer) - told) <= max(told / 10, 20), (layer, statements(layer))


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return modules that import each other in a ring, or nothing."""
    done: set[str] = set()

    def visit(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        found = (
            [] if name in done else [visit(other, [*way, name]) for other in sorted(graph[name])]
        )
        done.add(name)
        return next(filter(None, found), [])

    return next(filter(None, (visit(name, []) for name in sorted(graph))), [])


def test_no_module_imports_one_that_imports_it():
    """Not for types alone either, and not over folders."""
    files = {dotted(path): path for path in PACKAGE.rglob("*.py")}
    graph = {name: imported(path) & files.keys() for name, path in files.items()}
    assert sum(map(len, graph.values())) > len(graph) / 2, "the imports were not seen"
    assert not circle(graph)


# What merges one file. Everything else is a tool around it, which a merge of git never loads.
CORE_ROOMS = {
    *("text", "tree", "kube", "merge", "template", "pipeline"),
    *("outcome", "errors", "system", "visible", "__init__"),
}
CORE_OF_GIT = {"hints", "settings", "sides", "spawned_git"}
CORE_OF_CLI = {"drive", "lost_changes"}


def reached(start: str, graph: dict[str, set[str]]) -> set[str]:
    """Return the modules that a module imports, now or later, and those that these import."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph[name]
    return found


def outside_of_the_core(names: set[str]) -> set[str]:
    """Return the modules that the driver's merge must not load, not even late."""
    allowed = {f"kmerge_git.cli.{name}" for name in CORE_OF_CLI}
    allowed |= {f"kmerge_git.git.{name}" for name in CORE_OF_GIT}
    return {name for name in names - allowed if part_of(name) not in CORE_ROOMS}


def test_the_core_loads_no_tool():
    files = {dotted(path): path for path in PACKAGE.rglob("*.py")}
    graph = {name: imported(path) & files.keys() for name, path in files.items()}
    core = reached("kmerge_git.cli.drive", graph)
    assert {"kmerge_git.pipeline", "kmerge_git.template.template_merge"} <= core
    assert not outside_of_the_core(core)


def test_a_tool_in_the_core_is_seen():
    graph = {"kmerge_git.pipeline": {"kmerge_git.api"}, "kmerge_git.api": set()}
    assert outside_of_the_core(reached("kmerge_git.pipeline", graph)) == {"kmerge_git.api"}


def dotted(path: Path) -> str:
    name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    return name.removesuffix(".__init__")


def test_a_ring_is_seen():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


BRANCHES = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.comprehension)


def too_large(name: str, tree: ast.AST) -> list[str]:
    """Return the functions that nobody can hold in the head at once."""
    found = []
    for made in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        inside = list(ast.walk(made))
        lines = made.end_lineno - made.lineno + 1
        ways = 1 + sum(isinstance(node, BRANCHES) for node in inside)
        ways += sum(len(node.values) - 1 for node in inside if isinstance(node, ast.BoolOp))
        ways += sum(len(node.ifs) for node in inside if isinstance(node, ast.comprehension))
        if lines > 45 or ways > 18:
            found.append(f"{name}.{made.name}: {lines} lines, {ways} ways")
    return found


def test_functions_stay_small():
    modules = [(str(path.relative_to(PACKAGE)), tree_of(path)) for path in MODULES]
    assert not [line for name, tree in modules for line in too_large(name, tree)]


def test_what_is_too_large_is_seen():
    long = "def f():\n" + "    x = 1\n" * 45
    assert too_large("a", ast.parse(long))
    for many in (19, 18):
        branched = f"def f(x):\n    return {' and '.join(['x'] * many)}\n"
        assert bool(too_large("a", ast.parse(branched))) == (many == 19)
    assert not too_large("a", ast.parse("x = 1\n" * 1000))


def test_a_class_name_means_one_thing():
    trees = map(tree_of, MODULES)
    names = [n.name for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    assert len(names) > 100
    assert sorted(names) == sorted(set(names))


# Modules of one name: each with the reason.
SAME_NAMES = {
    **dict.fromkeys(("make_patch",), "a command is called as it is in kmerge --help"),
}


def test_a_module_name_means_one_thing():
    names = [path.stem for path in MODULES if path.stem != "__init__"]
    twice = {name for name in names if names.count(name) > 1}
    assert twice == SAME_NAMES.keys()


# Small modules with one importer that stay apart: each with the wall that it stands behind.
SMALL_ROOMS: dict[str, str] = {}


def lonely(sources: dict[str, str], late: set[str]) -> set[str]:
    """Return the modules under 80 lines that one module alone imports, when it is loaded."""
    everywhere: dict[str, set[str]] = {name: set() for name in sources}
    when_loaded: dict[str, set[str]] = {name: set() for name in sources}
    for name, text in sources.items():
        tree = ast.parse(text)
        for target in imports_of(tree) & sources.keys():
            everywhere[target].add(name)
        for inner in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
            inner.body = [ast.Pass()]
        for target in imports_of(tree) & sources.keys():
            when_loaded[target].add(name)
    small = {name for name, text in sources.items() if text.count("\n") < 80}
    return {n for n in small - late if len(everywhere[n]) == 1 and everywhere[n] == when_loaded[n]}


def test_a_small_module_has_more_than_one_reader():
    import kmerge_git.bundle

    sources = {dotted(path): path.read_text() for path in MODULES if path.stem != "__init__"}
    assert lonely(sources, {*kmerge_git.bundle.LATE}) == SMALL_ROOMS.keys()


def test_a_lonely_module_is_seen():
    used = {"a": "import b\nimport c\nimport d", "b": "import c", "c": "", "d": "\n" * 80}
    assert lonely(used, set()) == {"b"}
    assert lonely(used, {"b"}) == set()
    assert lonely({"a": "def f():\n    import b", "b": ""}, set()) == set()


# Where fields that are keys of lists stand together for another reason.
OTHER_FIELDS = {
    "check/patches/patch_verdict.py": {"the fields of metadata": ("name", "uid")},
    "check/patches/tool_limits.py": {"guesses for a message, where no schema tells": ("name", "type")},
}  # fmt: skip


def spelled_keys(tree: ast.AST) -> list[tuple[str, ...]]:
    """Return the names of list keys in each literal of a module that holds two or more of them."""
    names = key_names()
    slots = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__slots__"
    ]
    found = []
    for node in ast.walk(tree):
        is_list = isinstance(node, ast.Tuple | ast.List | ast.Set) and node not in slots
        elements = node.elts if is_list else node.keys if isinstance(node, ast.Dict) else []
        held = [one.value for one in elements if isinstance(one, ast.Constant)]
        found.append(tuple(sorted({*held} & names)))
    return [held for held in found if len(held) > 1]


def test_list_keys_are_spelled_in_one_place():
    """Every other place asks `kube.listkeys`."""
    rest = {}
    for path in MODULES:
        here = path.relative_to(PACKAGE).as_posix()
        reasons = OTHER_FIELDS.get(here, {}).values()
        if not here.startswith(("kube/", "patch/")):
            held = spelled_keys(tree_of(path))
            rest[here] = [names for names in held if names not in reasons]
            assert set(held) >= set(reasons), f"{here}: it needs no exception any more"
    assert not {here: held for here, held in rest.items() if held}


@pytest.mark.parametrize(
    "source, seen",
    [
        ("KEYS = ('a', 'name', 'ip')", [("ip", "name")]),
        ("KEYS = frozenset((*('mountPath', 'name'), 'a'))", [("mountPath", "name")]),
        ("{'containerPort': 1, 'protocol': 'TCP'}", [("containerPort", "protocol")]),
        ("KEYS = {'topologyKey', 'x', 'whenUnsatisfiable'}", [("topologyKey", "whenUnsatisfiable")]),
        ("KEYS = ('name', 'host', 'path')", []),
        ("class A:\n    __slots__ = ('name', 'type')", []),
    ],
)  # fmt: skip
def test_spelled_list_keys_are_seen(source, seen):
    assert spelled_keys(ast.parse(source)) == seen


def other_ways_to_a_text(tree: ast.AST) -> list[str]:
    """Return how a `YamlText` could be made of more than bytes and a path, or be given its nodes."""
    found = []
    for made in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        if made.name != "YamlText":
            continue
        for method in (node for node in made.body if isinstance(node, ast.FunctionDef)):
            if any(
                ast.unparse(one) in ("classmethod", "staticmethod") for one in method.decorator_list
            ):
                found.append(method.name)
            if method.name == "__init__":
                kinds = [ast.unparse(arg.annotation) for arg in method.args.args[1:]]
                rest = [method.args.vararg, method.args.kwarg, *method.args.kwonlyargs]
                found += [] if kinds == ["bytes", "str"] and not any(rest) else ["__init__"]
    return found


MADE_OF_BYTES = [name for name in YamlText.__slots__ if name.startswith("_")]


def handed_over(tree: ast.AST) -> list[str]:
    """Return where the values that a `YamlText` makes of its bytes are set from outside."""
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in MADE_OF_BYTES
        and isinstance(node.ctx, ast.Store)
        and ast.unparse(node.value) != "self"
    ]


def test_a_text_is_made_from_bytes_alone():
    """Who reads a result sees its bytes, never the nodes that a writer meant."""
    path = PACKAGE / "tree" / "documents.py"
    assert "class YamlText:" in path.read_text()
    for module in MODULES:
        tree = tree_of(module)
        assert not handed_over(tree), module
        assert not other_ways_to_a_text(tree), module


@pytest.mark.parametrize(
    "source",
    [
        "class YamlText:\n    def __init__(self, data: bytes, path: str, root: Node) -> None: ...\n",
        "class YamlText:\n    def __init__(self, data: bytes, path: str, *, root: Node) -> None: ...\n",
        "class YamlText:\n    @classmethod\n    def of(cls, root: Node) -> YamlText: ...\n",
    ],
)
def test_another_way_to_a_text_is_seen(source):
    assert other_ways_to_a_text(ast.parse(source))
    assert handed_over(ast.parse(f"text.{MADE_OF_BYTES[0]} = stream"))


RULE_SETS = [
    *(PACKAGE / "merge" / "decide").glob("*.py"),
    *(PACKAGE / "merge" / "kyaml").glob("*.py"),
]


def remembered(tree: ast.AST) -> list[str]:
    """Return what classes inherit, and what methods but `__init__` set on `self`."""
    found = []
    for made in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        found += [
            f"{made.name}({base})" for base in map(ast.unparse, made.bases) if base != "Protocol"
        ]
        for method in (node for node in made.body if isinstance(node, ast.FunctionDef)):
            targets = [n for n in ast.walk(method) if isinstance(n, ast.Attribute)]
            stored = {ast.unparse(n) for n in targets if isinstance(n.ctx, ast.Store | ast.Del)}
            found += [
                f"{made.name}.{method.name}: {name}" for name in stored if method.name != "__init__"
            ]
    return sorted(found)


@pytest.mark.parametrize("path", RULE_SETS, ids=lambda p: p.name)
def test_no_rule_set_inherits_or_remembers_anything(path):
    """An answer depends on what is asked, and on nothing that was asked before."""
    assert not remembered(tree_of(path))


def test_what_is_remembered_is_seen():
    source = "class A(B):\n    def __init__(self):\n        self.a = 1\n    def ask(self):\n        self.b = 1\n"
    assert remembered(ast.parse(source)) == ["A(B)", "A.ask: self.b"]


def loaded_by(*command: str, cwd: Path | None = None) -> tuple[int, set[str]]:
    """Run an interpreter as git's driver line does and return its exit code and imports."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert lines, done.stderr
    return done.returncode, {line.rsplit("|", 1)[1].strip() for line in lines}


needs_libyaml = pytest.mark.skipif(
    find_spec("yaml._yaml") is None, reason="PyYAML has no C module here: the slow road is expected"
)


def test_the_pipeline_imports_nothing_heavy():
    code = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {LIBRARIES!r}]; import kmerge_git.pipeline"
    status, modules = loaded_by("-c", code)
    assert status == 0
    assert not modules & BANNED


@needs_libyaml
def test_a_merge_by_the_driver_imports_nothing_heavy(tmp_path):
    driver = PACKAGE / "cli" / "driver.py"
    subprocess.run(["git", "init", "-q", tmp_path], check=True)  # where git calls its drivers
    versions = ("base", "ours", "theirs")
    flags = [f"--lib={LIBRARIES}", "--marker-size=7", "--path=a.yaml"]
    for _ in range(2):  # the first start may have to write the bundle
        for name, (left, right) in zip(versions, ((1, 1), (2, 1), (1, 2)), strict=True):
            head = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
            text = f"{head}left: {left}\nlist: [a]\nright: {right}\n"
            (tmp_path / name).write_text(text)
        status, modules = loaded_by(str(driver), *flags, *versions, cwd=tmp_path)
        assert status == 0
    assert "left: 2\nlist: [a]\nright: 2\n" in (tmp_path / "ours").read_text()
    assert not modules & BANNED
    # what every merge needs is in the bundle's first part, and nothing is imported by name
    assert not {name for name in modules if name.startswith("kmerge_git")}
    assert len(modules) <= 24


def test_the_room_of_templates_is_not_entered_without_actions():
    """Neither where the fields clash nor where only git's lines can be merged."""
    code = f"""
import sys
sys.path[:0] = [{str(ROOT)!r}, {LIBRARIES!r}]
from kmerge_git.api import merge_files
for text in (b"a: %d\\n", b"a: [%d\\n", b"a: %d\\na: 0\\n"):
    assert not merge_files(*(text % number for number in (1, 2, 3)), path="a.yaml").clean
assert not [name for name in sys.modules if name.startswith("kmerge_git.template")]
"""
    assert loaded_by("-c", code)[0] == 0
