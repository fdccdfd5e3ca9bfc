"""The part of the day: it only chooses, eight days choose all, and nothing named is left out."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import depth
import forking
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def day(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The default depth, on a day that a test chooses."""
    monkeypatch.setattr(depth, "_depth", "part")
    return monkeypatch


@pytest.mark.parametrize("of", [3, 4, depth.SHARE])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 100])
def test_as_many_days_as_parts_choose_everything(
    day: pytest.MonkeyPatch, count: int, of: int
) -> None:
    chosen = []
    for number in [*range(20260427, 20260431), *range(20260501, 20260505)][-of:]:  # a month ends
        day.setattr(depth, "_seed", str(number))
        today = depth.part(range(count), of)
        assert today == sorted(today) and len(today) >= min(1, count)
        chosen += today
    assert {*chosen} == {*range(count)}
    assert count < of or len(chosen) == count  # of fewer there is always one


def test_a_part_has_no_pattern(day: pytest.MonkeyPatch) -> None:
    """Of pairs of four edits each day tries all four, on both sides."""
    pairs = [(one, other) for one in "abcd" for other in "abcd" for _ in range(10)]
    day.setattr(depth, "_seed", "1")
    assert all(len({pair[at] for pair in depth.part(pairs)}) == 4 for at in (0, 1))


def test_everything_is_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depth, "_depth", "all")
    assert depth.part("abcdefgh") == [*"abcdefgh"]
    assert [*depth.kill_points()][:4] == [1, 2, 3, 4]


def test_three_days_kill_at_every_point(day: pytest.MonkeyPatch) -> None:
    points: set[int] = set()
    for number in range(3):
        day.setattr(depth, "_seed", str(number))
        points |= {*depth.kill_points()}
    assert points == {*range(1, 301)}


MARKED = """
import pytest

@pytest.mark.world
@pytest.mark.parametrize("case", range(40))
def test_world(case): pass

@pytest.mark.rates
def test_rates(): pass

@pytest.mark.kill
def test_kill(): pass

@pytest.mark.costly
@pytest.mark.parametrize("case", range(23))
def test_costly(case): pass

def test_cheap(): pass
"""
COSTLY = """
import pytest

pytestmark = pytest.mark.costly

def test_first(): pass

@pytest.mark.parametrize("case", range(4))
def test_other(case): pass
"""
INSTALLED = """
import pytest

@pytest.mark.installed
def test_{}(): pass

@pytest.mark.installed
def test_{}(): pass
"""


def run_words(folder: Path, *words: str, how: str = "part") -> list[str]:
    """What pytest prints of the tests above, below our settings."""
    (folder / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    (folder / "pytest.ini").write_text("[pytest]\ntestpaths = t\naddopts = --strict-markers\n")
    (folder / "t").mkdir()
    (folder / "t" / "test_marked.py").write_text(MARKED)
    (folder / "t" / "test_shared.py").write_text(COSTLY)
    for number, names in enumerate(("ab", "cd")):
        (folder / "t" / f"test_installed{number}.py").write_text(INSTALLED.format(*names))
    words = ("-p", "no:cacheprovider", "--basetemp", str(folder / "files"), *words)
    argv = (sys.executable, "-m", "pytest", "-v", *words)
    env = {
        "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "tests"),
        "KMERGE_TESTS_DEPTH": how, "KMERGE_TESTS_SEED": "20261123",
    }  # fmt: skip
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def passed(folder: Path, *words: str, how: str = "part") -> Counter[str]:
    """How often each test function ran."""
    lines = [line for line in run_words(folder, *words, how=how) if "PASSED" in line]
    return Counter(line.partition("::")[2].partition(" ")[0].partition("[")[0] for line in lines)


def test_what_is_left_out(tmp_path: Path) -> None:
    ran = passed(tmp_path, "-n", "0")
    installed = [ran.pop(name, 0) for name in ("test_a", "test_b", "test_c", "test_d")]
    costly = [ran.pop(name, 0) for name in ("test_costly", "test_first", "test_other")]
    assert ran == {"test_world": 5, "test_kill": 1, "test_cheap": 1}
    assert sum(installed) == 1
    assert costly in ([3, 0, 0], [2, 1, 4])  # of 24 with a file that runs as one


def test_workers_leave_out_the_same(tmp_path: Path) -> None:
    """Each of them counts what it left out; the last line has the number once."""
    words = run_words(tmp_path, "-n", "2")
    assert words[0].startswith("depth: a part; `tests/run --seed 20261123` repeats it, ")
    assert "11 passed" in words[-2]
    assert words[-1].startswith("depth: a part, 64 tests left out; ")


def test_what_is_named_runs_whole(tmp_path: Path) -> None:
    ran = passed(tmp_path, "t")
    assert (ran["test_world"], ran["test_rates"], sum(ran.values())) == (40, 1, 75)


def test_without_the_variables_everything_runs(tmp_path: Path) -> None:
    assert sum(passed(tmp_path, how="all").values()) == 75


def examples(most: int, fail_at: int = 0, how: type[BaseException] = AssertionError) -> list[int]:
    """What a law tries, in the order in which it does."""
    tried: list[int] = []

    @settings(max_examples=most)
    @given(number=st.integers())
    def law(number: int) -> None:
        assume(number % 7)
        tried.append(number)
        if fail_at and len(tried) >= fail_at:
            raise how("broken")

    with depth.quarter_of_examples(law):
        law()
    return tried


def test_the_first_quarter_of_the_examples(day: pytest.MonkeyPatch) -> None:
    quarter = examples(100)
    day.setattr(depth, "_depth", "all")
    whole = examples(100)
    assert len(whole) == 100
    assert 15 < len(quarter) <= 25
    assert whole[: len(quarter)] == quarter


@pytest.mark.usefixtures("day")
@pytest.mark.parametrize("how", [AssertionError, SystemExit, pytest.fail.Exception])
def test_a_law_that_is_broken_is_still_red(how: type[BaseException]) -> None:
    with pytest.raises(how, match="broken"):
        examples(100, fail_at=10, how=how)


@pytest.mark.parametrize(
    "words, told",
    [
        (("--seed",), "--seed wants a number"),
        (("--seed", "today"), '"today"'),
        (("--seed=1;ls",), '"1;ls"'),
        (("tests/tree", "--seed"), '""'),
        (("-k", "x", "--seed", "no"), '"no"'),
    ],
)
def test_a_seed_is_a_number(words: tuple[str, ...], told: str) -> None:
    argv = [ROOT / "tests" / "run", *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert told in done.stderr


def test_one_test_in_ten_starts_its_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    tests = [f"tests/git/test_x.py::test_y[{number}]" for number in range(1000)]
    for how, low, high in (("forked", 0, 0), ("some", 70, 130), ("real", 1000, 1000)):
        monkeypatch.setattr(forking, "HOW", how)
        assert low <= sum(map(forking.starts_for_real, tests)) <= high
