"""The runner of mutants: what it edits, how lines are traced, and that nothing stale is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
try:
    import mutate
    import mutate_source
finally:
    sys.path.remove(str(ROOT / "tools"))


def edits(body: str) -> set[tuple[str, str]]:
    """Kind and line of each mutant of a function `f(a, b, ours, theirs)`."""
    source = f"def f(a, b, ours, theirs):\n    {body}\n".encode()
    lines = [
        (one.kind, mutate_source.mutated(source, one).decode().split("\n")[one.line - 1].strip())
        for one in mutate_source.mutants("x.py", source)
    ]
    assert len(lines) == len(set(lines))
    return set(lines)


# -- the mutants


@pytest.mark.parametrize(
    "body, expected",
    [
        ("a < b", {("comparison", "a <= b")}),
        ("a is not b", {("comparison", "a is b")}),
        ("a not in b", {("comparison", "a in b")}),
        ("(a) == (b)", {("comparison", "(a) != (b)")}),
        ("a < b in a", {("comparison", "a <= b in a"), ("comparison", "a < b not in a")}),
        (
            "a and (b)",
            {("boolean", "a or (b)"), ("condition", "True and (b)"), ("condition", "a and (True)")},
        ),
        ("a or b", {("boolean", "a and b"), ("condition", "False or b"), ("condition", "a or False")}),
        ("not a", {("boolean", "a")}),
        ("b if a else 'ä'", {("boolean", "b if not (a) else 'ä'")}),
        ("a('ä', 3)", {("off by one", "a('ä', 4)"), ("off by one", "a('ä', 2)")}),
        ("a(ours, 'ä')", {("side", "a(theirs, 'ä')")}),
        ("a('ours')", {("side", "a('theirs')")}),
        ("'ä', a.ours", {("side", "'ä', a.theirs")}),
    ],
)  # fmt: skip
def test_an_expression_is_edited(body: str, expected: set[tuple[str, str]]) -> None:
    assert edits(body) == {*expected, ("statement", "pass")}


@pytest.mark.parametrize(
    "body", ["'a docstring'", "assert a < b", "import a", "x: 'ours'", "pass", "a: b[1]"]
)
def test_types_and_documentation_are_left_alone(body: str) -> None:
    assert edits(body) == set()


def test_messages_are_left_alone() -> None:
    assert edits("raise a(f'{b[1]} of ours', 'our 1')") == {("statement", "pass")}


def test_what_no_function_does_is_left_alone() -> None:
    source = b"A = 1 < 2\nclass C:\n    x = 1\ndef f(a=1) -> g(1):\n    pass\n"
    assert mutate_source.mutants("x.py", source) == []


def test_what_does_not_compile_is_left_out() -> None:
    assert edits("x = 1; nonlocal_ = x") >= {("statement", "pass; nonlocal_ = x")}
    assert not mutate_source.compiles(b"def f():\n    return 1 is 1\n")  # a warning, too


def test_real_modules_are_edited_in_one_place() -> None:
    file = ROOT / "kmerge_git" / "text" / "markers.py"
    source = file.read_bytes()
    found = mutate_source.mutants("x.py", source)
    assert {one.kind for one in found} >= {"comparison", "boolean", "off by one", "statement"}
    for one in found:
        assert source[one.start : one.end].decode() == one.old != one.new
        assert source.count(b"\n", 0, one.start) + 1 in range(one.line, one.last + 1)


def test_the_kinds_are_chosen_in_turn_and_a_line_once() -> None:
    source = b"def f(a, b):\n    a(); a()\n    a(); a()\n    a(1)\n    return a < b\n"
    found = mutate_source.mutants("x.py", source)
    some = mutate_source.chosen(found, 3, Random("x"))
    assert [one.kind for one in some] == ["comparison", "off by one", "statement"]
    assert some == mutate_source.chosen(found, 3, Random("x"))
    assert sorted(one.line for one in mutate_source.chosen(found, 9, Random(1))) == [2, 3, 4, 5]


# -- the map


def test_a_trace_is_read(tmp_path: Path) -> None:
    a, b, c = "tests/test_x.py::a", "tests/test_x.py::b", "tests/test_y.py::c"
    facts = {
        "gw0": {
            "numbers": {a: 1, "fixture tests::wide": 2, "collection of tests/test_x.py": 3},
            "seconds": {a: 2.0},
            "uses": {t: ["fixture tests::wide", "collection of tests/test_x.py"] for t in (a, b)},
            "failed": [],
        },
        "gw1": {"numbers": {b: 1, c: 2}, "seconds": {b: 1.0, c: 0.5}, "uses": {c: []}, "failed": [c]},
    }  # fmt: skip
    lines = {
        "gw0": "1 m.py 10 11\n2 m.py 12\n3 m.py 13\n",
        "gw1": "2 m.py 11\n0 m.py 14\n1 n.py 5\n",
    }
    for worker, its_facts in facts.items():
        (tmp_path / worker).mkdir()
        (tmp_path / worker / "facts.json").write_text(json.dumps(its_facts))
        (tmp_path / worker / "lines").write_text(lines[worker])
    reach, failed = mutate.read_trace(tmp_path)
    mutate.write_map(reach, tmp_path / "map.gz")
    assert mutate.read_map(tmp_path / "map.gz") == reach
    assert failed == [c]
    assert {line: reach.ids(bits) for line, bits in reach.lines["m.py"].items()} == {
        10: [a],
        11: [c, a],  # the cheapest first
        12: [b, a],
        13: [b, a],
        14: [c, b, a],
    }
    mutant = mutate.Mutant("kmerge_git/n.py", 6, 7, 5, "statement", 0, 1, "a", "pass")
    assert reach.ids(reach.of(mutant)) == [b]  # a statement is reached by its first line


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="lines are traced since Python 3.12")
def test_lines_are_traced_in_children_and_after_a_fork(tmp_path: Path) -> None:
    package, folder = tmp_path / "kmerge_git", tmp_path / "trace" / "gw0"
    package.mkdir()
    folder.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "m.py").write_text("def f(x):\n    if x:\n        return 1\n    return 2\n")
    tracer = (ROOT / "tools" / "mutation" / "mutate_tracer.py").read_text()
    script = (
        f"exec(compile({tracer!r}, 'tracer', 'exec'), names := {{'__name__': 'tracer'}})\n"
        f"assert names['start']({str(tmp_path / 'trace')!r}) and not names['start']('')\n"
        "import os, sys; sys.path.insert(0, os.getcwd())\n"
        "import kmerge_git.m as m\n"
        "m.f(1); m.f(1)\n"
        f"open({str(folder / 'now')!r}, 'w').write('8')\n"
        "if os.fork() == 0:\n    m.f(0)\n    os._exit(0)\n"
        "os.wait(); m.f(0)\n"
    )
    for environment in ({"MUTATE_TRACE": str(folder)}, {}):  # a test may have emptied it
        (folder / "now").write_text("7")
        (folder / "lines").unlink(missing_ok=True)
        command = [sys.executable, "-W", "ignore", "-c", script]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)
        assert (folder / "lines").read_text().splitlines() == [
            *("7 m.py 2", "7 m.py 3"),
            *("8 m.py 2", "8 m.py 4"),
            "7 m.py 4",
        ]


# -- verdicts

TOY = {
    "kmerge_git/__init__.py": "",
    "kmerge_git/m.py": "def f(a, b):\n    c = a < b\n    d = 1\n    return c\n",
    "tests/test_m.py": "import pytest\nfrom kmerge_git.m import f\n\n"
    "def test_green():\n    assert f(1, 2)\n\n"
    "@pytest.mark.parametrize('x', ['a - b'])\ndef test_red(x):\n    assert f(2, 1)\n\n"
    "def test_edge():\n    assert not f(1, 1)\n",
    "pytest.ini": "[pytest]\npythonpath = tests\n",
}


@pytest.fixture
def bench(tmp_path: Path) -> mutate.Bench:
    """A toy tree in which every test reaches every line."""
    for name, text in TOY.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text(text)
    tests = [f"tests/test_m.py::test_{name}" for name in ("green", "red[a - b]", "edge")]
    reach = mutate.Reach(tests, [1.0, 2.0, 3.0], {}, {"m.py": dict.fromkeys((2, 3, 4), 0b111)})
    return mutate.Bench(tmp_path, tmp_path / "tree", reach, 60, {}, frozenset(tests))


def toy_mutant(kind: str, line: int) -> mutate.Mutant:
    name = "kmerge_git/m.py"
    found = mutate_source.mutants(name, TOY[name].encode())
    return next(one for one in found if one.kind == kind and one.line == line)


def test_a_mutant_is_killed_by_a_test_that_is_green_without_it(bench: mutate.Bench) -> None:
    result = mutate.verdict(toy_mutant("comparison", 2), bench)
    assert (result.word, result.killer) == ("killed", "tests/test_m.py::test_edge")
    assert bench.red == {"tests/test_m.py::test_red[a - b]"}
    assert mutate.verdict(toy_mutant("statement", 3), bench).word == "survived"


def test_a_mutant_that_never_ends_is_a_timeout(bench: mutate.Bench) -> None:
    (bench.template / "tests" / "test_m.py").write_text("import time\ntime.sleep(600)\n")
    hasty = replace(bench, limit=1)
    assert mutate.verdict(toy_mutant("statement", 3), hasty).word == "timeout"


def test_a_mutant_of_another_source_is_not_run(bench: mutate.Bench) -> None:
    mutant = replace(toy_mutant("comparison", 2), old=">")
    assert mutate.verdict(mutant, bench).word == "changed"


def test_nothing_stale_is_run(bench: mutate.Bench) -> None:
    """The file has the size and the time of the one that was compiled."""
    name = "kmerge_git/m.py"
    file = bench.template / name
    beside = os.environ | {"PYTHONPYCACHEPREFIX": ""}
    compiling = [sys.executable, "-m", "compileall", "-q", file.parent]
    subprocess.run(compiling, env=beside, check=True)
    bundle = file.parent / "__pycache__" / "driver" / "x.bundle"
    bundle.parent.mkdir(parents=True)
    bundle.write_bytes(b"stale")
    content = file.read_bytes().replace(b"<", b">")
    with mutate.copy_with(bench, name, content) as tree:
        about = file.stat()
        os.utime(tree / name, ns=(about.st_atime_ns, about.st_mtime_ns))
        assert (tree / name).stat().st_size == about.st_size
        assert not (tree / "kmerge_git" / "__pycache__" / "driver").exists()
        code = "from kmerge_git.m import f; print(f(1, 2))"
        environment = mutate.environment_for(tree, {})
        code_and_words = mutate.ended([sys.executable, "-c", code], tree, environment, 60)
        assert code_and_words == (0, "False\n")
    assert file.read_text() == TOY[name]


def test_batches_grow() -> None:
    tests = list(map(str, range(300)))
    batches = list(mutate.batches(tests))
    assert [len(batch) for batch in batches] == [10, 40, 160, 90]
    assert [test for batch in batches for test in batch] == tests
    assert list(mutate.batches([])) == []
