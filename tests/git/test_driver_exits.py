"""What git makes of the driver's end: however it ends, no side is lost."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest
from installed import copied_package
from world import BASE, MERGED, OURS, ROOT, THEIRS, Done, Driven, World

from kmerge_git import pipeline
from kmerge_git.cli import drive
from kmerge_git.errors import TimeUp
from kmerge_git.git.driver_lines import ARGUMENTS, driver_command, driver_line, with_fallback
from kmerge_git.git.run_git import git_version
from kmerge_git.merge.plan import Why
from kmerge_git.system import calls

# far apart: lines merge this too
FAR = "".join(f"k{i}: {i}\n" for i in range(9))
FAR_BASE, FAR_OURS = "a: 1\n" + FAR + "z: 1\n", "a: 2\n" + FAR + "z: 1\n"
FAR_THEIRS, FAR_MERGED = "a: 1\n" + FAR + "z: 2\n", "a: 2\n" + FAR + "z: 2\n"


def fork_two(repo: Driven) -> None:
    """`far.yaml` merges by lines, `near.yaml` by fields only."""
    repo.fork(
        {"far.yaml": FAR_BASE, "near.yaml": BASE},
        {"far.yaml": FAR_OURS, "near.yaml": OURS},
        {"far.yaml": FAR_THEIRS, "near.yaml": THEIRS},
    )


def is_gits_own(repo: Driven, done: Done) -> None:
    """The merge is what git makes of it without a driver, stages and markers included."""
    assert done.code == 1, done.said
    assert repo.text("far.yaml") == FAR_MERGED
    marked = repo.text("near.yaml")
    assert marked.startswith("<<<<<<< ")
    assert "a: 2\nb: 1\n=======\na: 1\nb: 2\n>>>>>>> " in marked
    assert repo.unmerged() == ["near.yaml"]
    stages = [repo.show(f":{stage}:near.yaml") for stage in (1, 2, 3)]
    assert stages == [BASE, OURS, THEIRS]
    left = [n for n in os.listdir(repo.path) if n.startswith(".merge_file") or ".kmerge-" in n]
    assert left == []


# -- the driver answers ---------------------------------------------------------------------------


def test_clean(driven: Driven) -> None:
    fork_two(driven)
    assert driven.merge().code == 0
    assert (driven.text("far.yaml"), driven.text("near.yaml")) == (FAR_MERGED, MERGED)


def test_conflict(driven: Driven) -> None:
    driven.fork({"x.yaml": BASE}, {"x.yaml": OURS}, {"x.yaml": "a: 3\nb: 2\n"})
    done = driven.merge()
    assert done.code == 1
    assert "CONFLICT (content): Merge conflict in x.yaml" in done.out
    assert driven.unmerged() == ["x.yaml"]
    stages = [driven.show(f":{stage}:x.yaml") for stage in (1, 2, 3)]
    assert stages == [BASE, OURS, "a: 3\nb: 2\n"]
    lines = driven.text("x.yaml").splitlines()
    assert [lines[1], lines[2], lines[3], lines[5]] == ["a: 2", "=======", "a: 3", "b: 2"]
    assert f"a: {Why.BOTH_CHANGED}" in done.err
    assert "1 conflict, everything else is merged" in done.err


def test_many_conflicts_are_counted(driven: Driven) -> None:
    """Five conflicts are named; the command for the rest works where the user stands."""
    fields = [f"f{n:02}" for n in range(18)]
    base, ours, theirs = ("".join(f"{f}: {v}\nkeep-{f}: 0\n" for f in fields) for v in (1, 2, 3))
    name = "apps/a b\x1b[31m'.yaml"
    driven.fork({name: base}, {name: ours}, {name: theirs})
    done = driven.world.run("git", "merge", "side", cwd=driven.path / "apps", check=False)
    said = [line for line in done.err.splitlines() if line.startswith("kmerge: ")]
    assert [line.rpartition(".yaml: ")[2] for line in said] == [
        *(f"{field}: {Why.BOTH_CHANGED}" for field in fields[:5]),
        """and 13 more; run `kmerge resolve --list 'a b\\x1b[31m'"'"'.yaml'` to list all""",
        "18 conflicts, everything else is merged; run `kmerge resolve`",
    ]
    assert "\x1b" not in done.err


@pytest.mark.costly
def test_a_file_beyond_the_limits_says_so(driven: Driven) -> None:
    driven.fork(*({"a.yaml": "---\na: 1\n" * 10_001 + f"b: {b}\n"} for b in (1, 2, 3)))
    assert (
        "kmerge: a.yaml: git's line merge is used: the file has more than 10,000 documents\n"
        in driven.merge().err
    )


@pytest.mark.parametrize(("count", "rest"), [(5, 0), (6, 1)])
def test_the_named_conflicts(driven: Driven, count: int, rest: int) -> None:
    texts = ("".join(f"f{n}: {v}\nkeep-{n}: 0\n" for n in range(count)) for v in (1, 2, 3))
    driven.fork(*({"-x.yaml": text} for text in texts))
    said = driven.merge().err
    assert said.count(Why.BOTH_CHANGED) == 5
    assert (f"and {rest} more; run `kmerge resolve --list ./-x.yaml`" in said) == bool(rest)
    assert driven.kmerge("resolve", "--list", "./-x.yaml", check=False).code == 1


def test_binary_content_is_a_conflict_not_an_abort(driven: Driven) -> None:
    driven.fork({"x.yaml": b"a\0b"}, {"x.yaml": b"a\0c"}, {"x.yaml": b"a\0d"})
    done = driven.merge()
    assert done.code == 1
    assert driven.calls() == ["x.yaml"]
    assert driven.unmerged() == ["x.yaml"]
    assert driven.bytes("x.yaml") == b"a\0c"


def test_nothing_on_stdout(driven: Driven) -> None:
    for theirs in (THEIRS, "a: 3\nb: 2\n", "a: {{ x }}\n\t- b\n"):
        done = by_hand(driven, driver_line(), OURS, theirs)
        assert done.out == ""


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_the_mode_of_the_file_stays(driven: Driven, mode: int) -> None:
    driven.write("a", OURS).chmod(mode)
    assert by_hand(driven, driver_line(), OURS, THEIRS).code == 0
    assert driven.text("a") == MERGED
    assert (driven.path / "a").stat().st_mode & 0o777 == mode


# -- the driver does not answer -------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["exception", "kill", "hang", "busy"])
def test_an_injected_fault(driven: Driven, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    fork_two(driven)
    done = driven.git(
        "merge", "side", check=False, env={"KMERGE_FAULT": fault, "KMERGE_TIMEOUT": "0.2"}
    )
    is_gits_own(driven, done)
    assert "Traceback" not in done.err


@pytest.mark.parametrize("what", ["an import", "git"])
@pytest.mark.costly
def test_a_slow_start_uses_up_the_time_limit(driven: Driven, what: str) -> None:
    """The wall clock counts from the driver's first line, not from the merge itself."""
    if what == "git":
        ask_slow_git(driven, 4)
    else:
        package = copied(driven.world)
        with open(package / "errors.py", "a") as file:
            file.write("import time; time.sleep(1.6)\n")
        driven.drive(line_for(package))
    fork_two(driven)
    done = driven.git("merge", "side", check=False, env={"KMERGE_TIMEOUT": "0.5"})
    is_gits_own(driven, done)
    assert "near.yaml: no result within 1.5 s; git's line merge is used" in done.err


@pytest.mark.costly
def test_time_without_cpu_costs_no_merge(driven: Driven) -> None:
    """A driver on a busy machine waits in the same way."""
    ask_slow_git(driven, 1.2)
    driven.fork_one()
    done = driven.git("merge", "side", env={"KMERGE_TIMEOUT": "1"})
    assert (done.code, "no result" in done.err) == (0, False)


def ask_slow_git(repo: Driven, seconds: float) -> None:
    """Let the driver ask a git that takes some time to read the configuration."""
    repo.git("config", "kmerge.rules", "git")  # so git is asked
    slow = repo.world.root / "slow"
    slow.mkdir()
    wait = f'[ "$1" != config ] || sleep {seconds}'
    (slow / "git").write_text(f'#!/bin/sh\n{wait}\nexec {shutil.which("git")} "$@"\n')
    (slow / "git").chmod(0o755)
    repo.drive(f"PATH={slow}:$PATH;{driver_line()}")


@pytest.mark.parametrize(
    "fault, patience, late", [("busy", 100, "0.1 s of CPU time"), ("hang", 2, "0.2 s")]
)
def test_which_clock_ends_the_driver(
    world: World, monkeypatch: pytest.MonkeyPatch, fault: str, patience: int, late: str
) -> None:
    """One clock counts CPU, of a busy loop and not of a sleep; the other one counts all time."""
    for name, value in (("KMERGE_FAULT", fault), ("KMERGE_TIMEOUT", "0.1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(TimeUp, "PATIENCE", patience)
    said = f"kmerge: x.yaml: no result within {late}; git's line merge is used\n"
    assert called(world) == (drive.NO_ANSWER, said)
    assert left() == [0, 0]


def test_the_wall_clock_has_three_times_the_limit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks: list[float] = []

    merge = pipeline.merge

    def timed(*merged: Any) -> Any:
        clocks.extend(left())
        return merge(*merged)

    monkeypatch.setenv("KMERGE_TIMEOUT", "60")
    monkeypatch.setattr(pipeline, "merge", timed)
    assert called(world) == (drive.CLEAN, "")
    assert clocks == pytest.approx([60, 180], rel=0.1)


def left() -> list[float]:
    """The seconds that the two clocks have left."""
    return [signal.getitimer(timer)[0] for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL)]


def called(world: World) -> tuple[int, str]:
    """The exit code of the driver in this process, and what it printed."""
    files = [world.root / name for name in "oab"]
    for file, text in zip(files, (BASE, OURS, THEIRS), strict=True):
        file.write_text(text)
    with redirect_stderr(io.StringIO()) as told:
        return drive.main(["--path=x.yaml", *map(str, files)]), told.getvalue()


def test_an_exception_is_told_in_one_line(driven: Driven) -> None:
    driven.fork_one()
    done = driven.git("merge", "side", check=False, env={"KMERGE_FAULT": "exception"})
    told = [line for line in done.err.splitlines() if line.startswith("kmerge: ")]
    assert told == ["kmerge: RuntimeError: KMERGE_FAULT=exception; git's line merge is used"]


def test_switched_off(driven: Driven) -> None:
    fork_two(driven)
    done = driven.git("merge", "side", check=False, env={"KMERGE": "0"})
    is_gits_own(driven, done)
    assert "kmerge:" not in done.err


def test_the_interpreter_is_gone(driven: Driven) -> None:
    driven.drive(driver_line("/no/such/python"))
    fork_two(driven)
    is_gits_own(driven, driven.merge())


def test_the_interpreter_is_not_executable(driven: Driven) -> None:
    python = driven.world.root / "python"
    python.write_text("not a program")
    driven.drive(driver_line(str(python)))
    fork_two(driven)
    is_gits_own(driven, driven.merge())


def copied(world: World) -> Path:
    """A copy of the package, to be damaged."""
    return copied_package(world.root / "lib" / "kmerge_git")


def line_for(package: Path) -> str:
    return driver_line(driver=package / "cli" / "driver.py")


@pytest.mark.costly
def test_a_copied_package_works(driven: Driven) -> None:
    driven.drive(line_for(copied(driven.world)))
    driven.fork_one()
    assert driven.merge().code == 0


@pytest.mark.world
@pytest.mark.parametrize(
    "gone", [".", "cli/driver.py", "pipeline.py", "git/settings.py", "merge", "tree/parser.py"]
)
def test_the_package_is_gone_or_broken(driven: Driven, gone: str) -> None:
    package = copied(driven.world)
    driven.drive(line_for(package))
    path = package / gone
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    fork_two(driven)
    is_gits_own(driven, driven.merge())


@pytest.mark.world
@pytest.mark.parametrize(
    "where", ["cli/driver.py", "cli/start.py", "cli/drive.py", "pipeline.py", "tree/parser.py"]
)
@pytest.mark.parametrize("text", ["", "import os; os._exit(0)", "import os; os._exit(3)"])
def test_a_file_that_ends_the_process_is_no_answer(driven: Driven, where: str, text: str) -> None:
    """An empty one is what a full disk leaves; git would keep ours alone, as a clean merge."""
    package = copied(driven.world)
    driven.drive(line_for(package))
    (package / where).write_text(text)
    fork_two(driven)
    done = driven.merge()
    is_gits_own(driven, done)
    assert "kmerge: " in done.err


@pytest.mark.parametrize("where", ["pipeline.py", "cli/driver.py", "merge/decide/walk.py"])
def test_the_package_does_not_compile(driven: Driven, where: str) -> None:
    package = copied(driven.world)
    driven.drive(line_for(package))
    (package / where).write_text("def broken(:\n")
    fork_two(driven)
    is_gits_own(driven, driven.merge())


def test_pyyaml_is_gone(driven: Driven) -> None:
    driven.drive(driver_line(lib=str(driven.world.root)))
    fork_two(driven)
    words = ("git", "merge", "side")
    done = driven.world.run(*words, cwd=driven.path, check=False, internal_error=True)
    is_gits_own(driven, done)


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4, 70, 126, 127, 128, 129, 255])
def test_every_other_exit_code_is_no_answer(driven: Driven, code: int) -> None:
    driven.drive(with_fallback(f"(exit {code})"))
    fork_two(driven)
    is_gits_own(driven, driven.merge())


def test_a_result_that_vanished_stops_the_merge(driven: Driven) -> None:
    # no line of ours does this: the result replaces the file, and nothing removes it
    driven.drive("rm %A; exit 0")
    driven.fork_one()
    before = driven.show("HEAD:x.yaml")
    assert driven.merge().code not in (0, 1)
    assert driven.text("x.yaml") == before
    assert driven.git("status", "--porcelain", "-uno").out == ""


@pytest.mark.parametrize("signal", ["KILL", "SEGV", "TERM", "ABRT"])
def test_every_signal_is_no_answer(driven: Driven, signal: str) -> None:
    driven.drive(with_fallback(f"sh -c 'kill -{signal} $$'"))
    fork_two(driven)
    is_gits_own(driven, driven.merge())


@pytest.mark.costly
def test_a_kill_while_the_result_is_written_leaves_ours_whole(driven: Driven) -> None:
    package = copied(driven.world)
    text = (package / "cli" / "drive.py").read_text()
    rename = "        calls.replace(fresh, path)\n"
    assert rename in text
    (package / "cli" / "drive.py").write_text(
        text.replace(rename, "        calls.kill(calls.getpid(), 9)\n" + rename)
    )
    driven.drive(line_for(package))
    driven.fork_one()
    assert driven.merge().code == 1
    assert "a: 2\nb: 1\n=======\na: 1\nb: 2\n" in driven.text("x.yaml")
    # nobody can clean up behind a SIGKILL; `kmerge status --deep` knows the name
    (left,) = [name for name in os.listdir(driven.path) if ".kmerge-" in name]
    assert left.startswith(".merge_file_")


# -- no room, no right, no time -------------------------------------------------------------------


def test_a_result_that_cannot_be_written_in_full(driven: Driven) -> None:
    # one block is less than the result: what a full disk does to the driver, and to it alone
    driven.drive(with_fallback(f"(ulimit -f 1; {driver_command()} {ARGUMENTS})"))
    big = "".join(f"k{i}: {i}\n" for i in range(2000))
    driven.fork(
        {"x.yaml": BASE + big + "y: 1\n"},
        {"x.yaml": OURS + big + "y: 2\n"},
        {"x.yaml": THEIRS + big + "y: 1\n"},
    )
    done = driven.merge()
    assert done.code == 1
    assert driven.unmerged() == ["x.yaml"]
    marked = driven.text("x.yaml")
    assert "a: 2\nb: 1\n=======\na: 1\nb: 2\n" in marked
    assert marked.endswith(big + "y: 2\n")
    assert [n for n in os.listdir(driven.path) if "kmerge" in n] == []


LIMITED = """
import os, resource, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
signal.signal(signal.SIGXFSZ, signal.SIG_DFL if sys.argv[1] == "kill" else signal.SIG_IGN)
os.execvp(sys.argv[2], sys.argv[2:])
"""


@pytest.mark.parametrize("how", ["kill", "error"])
@pytest.mark.parametrize("by", ["git", "git alone", "kmerge"])
def test_a_result_that_nobody_can_write_leaves_ours_whole(
    driven: Driven, by: str, how: str
) -> None:
    """Each version is within the limit, what all make of it is not: half a file would be left."""
    more = {side: "".join(f"{side}{n}: {'x' * 40}\n" for n in range(100)) for side in "ot"}
    base, ours = f"a: 1\n{FAR}z: 1\n", f"a: 1\n{more['o']}{FAR}z: 1\n"
    driven.fork({"x.yaml": base}, {"x.yaml": ours}, {"x.yaml": f"a: 1\n{FAR}{more['t']}z: 1\n"})
    if by == "git alone":
        driven.drive(with_fallback("(exit 4)"))
    command = [sys.executable, "-m", "kmerge_git"] if by == "kmerge" else ["git"]
    words = (sys.executable, "-c", LIMITED, how, *command, "merge", "side")
    env = {"PYTHONDONTWRITEBYTECODE": "1"}  # half a .pyc would break every later start
    done = driven.world.run(*words, cwd=driven.path, env=env, check=False)
    assert done.code == (2 if by == "kmerge" else 1)
    assert (driven.text("x.yaml"), driven.unmerged()) == (ours, ["x.yaml"])
    assert [n for n in os.listdir(driven.path) if "kmerge" in n or n.startswith(".merge")] == []


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that every user may enter."""
    directory = Path(tempfile.mkdtemp(prefix="kmerge-test-"))
    directory.chmod(0o755)
    yield directory
    directory.chmod(0o755)
    shutil.rmtree(directory)


def test_a_directory_that_is_read_only(driven: Driven, open_directory: Path) -> None:
    import pwd

    nobody = pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else None
    for name, text in (("o", BASE), ("a", OURS), ("b", THEIRS)):
        (open_directory / name).write_text(text)
        (open_directory / name).chmod(0o666)
    open_directory.chmod(0o555)
    line = filled_in(driver_line(os.path.realpath(sys.executable)))
    done = subprocess.run(
        ["sh", "-c", line], cwd=open_directory, user=nobody, capture_output=True, check=False
    )
    if b"gave no answer: no " in done.stderr:
        pytest.skip("another user cannot read this tree")
    assert done.returncode == 1
    assert b"Permission" in done.stderr
    # in conflict as it is: the lines cannot be written either (git itself needs to write here, too)
    assert (open_directory / "a").read_text() == OURS
    assert sorted(os.listdir(open_directory)) == ["a", "b", "o"]


def test_no_time(driven: Driven) -> None:
    driven.git("config", "kmerge.timeout", "0.001")
    big = "".join(f"k{i}: {{a: [1, 2, {i}]}}\n" for i in range(5000))
    driven.fork({"x.yaml": BASE + big}, {"x.yaml": OURS + big}, {"x.yaml": THEIRS + big})
    done = driven.merge()
    assert done.code == 1
    assert re.search(r"no result within 0\.00(1 s of CPU time|3 s); git's line merge", done.err)
    assert "a: 2\nb: 1\n=======\na: 1\nb: 2\n" in driven.text("x.yaml")


def test_enough_time(driven: Driven) -> None:
    driven.git("config", "kmerge.timeout", "0")  # no limit
    driven.fork_one()
    assert driven.merge().code == 0


# -- half registered ------------------------------------------------------------------------------


def test_attributes_without_a_driver_merge_text(driven: Driven) -> None:
    driven.git("config", "--unset-all", "merge.kmerge.driver")
    driven.git("config", "--unset-all", "merge.kmerge.name")
    fork_two(driven)
    is_gits_own(driven, driven.merge())


def test_a_name_without_a_driver_stops_the_merge_and_status_says_so(driven: Driven) -> None:
    driven.git("config", "--unset-all", "merge.kmerge.driver")
    driven.fork_one()
    done = driven.merge()
    assert done.code == 128
    assert "lacks command line" in done.err
    assert "git stops every merge" in driven.kmerge("status", check=False).out


def test_the_registered_line_is_what_makes_it_safe(driven: Driven) -> None:
    """Without the fallback a crash loses theirs: the reason for all of the above."""
    driven.drive(f"{driver_command('/no/such/python')} {ARGUMENTS}")
    driven.fork_one()
    done = driven.merge()
    assert done.code != 0
    if git_version() < (2, 42):
        assert driven.text("x.yaml") == OURS  # unmarked; `git add` would drop theirs


# -- by hand --------------------------------------------------------------------------------------


def filled_in(line: str, size: int = 7) -> str:
    """The line with git's placeholders filled in, for the files o, a, b."""
    values = {"L": str(size), "P": "x.yaml", "S": "''", "X": "ours", "Y": "theirs"}
    values |= {"O": "o", "A": "a", "B": "b"}
    for name, value in values.items():
        line = line.replace("%" + name, value)
    return line.replace("%%", "%")


def by_hand(repo: Driven, line: str, ours: str, theirs: str) -> Done:
    for name, text in (("o", BASE), ("a", ours), ("b", theirs)):
        repo.write(name, text)
    return repo.world.run("sh", "-c", filled_in(line), cwd=repo.path, check=False)


@pytest.mark.world
@pytest.mark.parametrize(
    "arguments", [(), ("o",), ("o", "a"), ("o", "a", "b", "c"), ("--path=x", "o", "a", "gone")]
)
def test_a_wrong_call_is_no_answer(driven: Driven, arguments: tuple[str, ...]) -> None:
    for name, text in (("o", BASE), ("a", OURS), ("b", THEIRS)):
        driven.write(name, text)
    driver = ROOT / "kmerge_git" / "cli" / "driver.py"
    done = driven.world.run(
        sys.executable, "-I", "-S", driver, *arguments, cwd=driven.path, check=False
    )
    assert done.code == 4
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    assert driven.text("a") == OURS


# -- in which order it ends -----------------------------------------------------------------------

CLASH = "a: 3\nb: 1\n"
# what theirs is, the variables, the exit code, and a word of the report
ENDS: dict[str, tuple[str, dict[str, str], int, str]] = {
    "clean": (THEIRS, {}, drive.CLEAN, ""),
    "a conflict": (CLASH, {}, drive.CONFLICT, "1 conflict, everything else is merged"),
    "a side that is favoured": (CLASH, {"KMERGE_FAVOR": "theirs"}, drive.CLEAN, "theirs taken"),
    "a loss": (CLASH, {"KMERGE_RULES": "kyaml"}, drive.CLEAN, "x.yaml: "),
    "lines": ("a: {{ x }}\n\t- b\n", {}, drive.CONFLICT, ""),
    "a bad setting": (THEIRS, {"KMERGE_RULES": "none"}, drive.CLEAN, "KMERGE_RULES"),
}


class Listener(io.StringIO):
    """A stderr that notes when something is said."""

    def __init__(self, events: list[str]) -> None:
        super().__init__()
        self.events = events

    def write(self, text: str) -> int:
        self.events.append("said")
        return super().write(text)


@pytest.fixture
def ending(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What happens in the last steps of the driver in this process, which keeps its own clock."""
    before = signal.getsignal(signal.SIGALRM)
    events: list[str] = []
    replace = calls.replace

    def noted(source: str, target: str) -> None:
        events.append("replaced")
        replace(source, target)

    monkeypatch.chdir(driven.path)
    monkeypatch.setattr(calls, "replace", noted)
    yield events
    signal.signal(signal.SIGALRM, before)


def driven_here(repo: Driven, events: list[str], theirs: str) -> tuple[int, str]:
    """The driver's exit code for the files o, a and b, and what it says."""
    for name, text in (("o", BASE), ("a", OURS), ("b", theirs)):
        repo.write(name, text)
    words = ["--path=x.yaml", "--marker-size=7", "o", "a", "b"]
    with redirect_stderr(Listener(events)) as told:
        return drive.main(words, lambda: events.append("at last")), told.getvalue()


@pytest.mark.parametrize("how", ENDS)
def test_the_result_is_put_in_its_place_at_the_very_end(
    driven: Driven, ending: list[str], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A driver that is killed after that has answered in full, and is asked by nobody."""
    theirs, variables, code, word = ENDS[how]
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found, told = driven_here(driven, ending, theirs)
    assert (found, word in told) == (code, True)
    assert ending == ["said"] * (len(ending) - 2) + ["at last", "replaced"]
    assert bool(told) == ("said" in ending)
    assert driven.text("a") != OURS


def test_a_result_that_is_ours_needs_no_place(driven: Driven, ending: list[str]) -> None:
    assert driven_here(driven, ending, BASE) == (drive.CLEAN, "")
    assert (ending, driven.text("a")) == (["at last"], OURS)


@pytest.mark.parametrize("theirs", [THEIRS, CLASH])
def test_a_result_that_cannot_be_put_in_its_place(
    driven: Driven, ending: list[str], monkeypatch: pytest.MonkeyPatch, theirs: str
) -> None:
    def refused(source: str, target: str) -> None:
        assert ending[-1:] == ["at last"]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(calls, "replace", refused)
    with pytest.raises(OSError, match="No space left"):
        driven_here(driven, ending, theirs)
    assert driven.text("a") == OURS
    assert sorted(name for name in os.listdir(driven.path) if name != ".git") == ["a", "b", "o"]


def broken_at_its_end(package: Path, line: str) -> None:
    """Let the driver of this copy do that instead of its last step."""
    file = package / "cli" / "drive.py"
    text, rename = file.read_text(), "        calls.replace(fresh, path)\n"
    assert text.count(rename) == 1
    file.write_text(text.replace(rename, f"        {line}\n"))


@pytest.mark.costly
def test_without_its_last_step_it_has_given_no_answer(driven: Driven) -> None:
    package = copied(driven.world)
    broken_at_its_end(package, "raise OSError(28, 'No space left on device')")
    command = driver_command(driver=package / "cli" / "driver.py")
    done = by_hand(driven, f"{command} {ARGUMENTS}", OURS, CLASH)
    assert (done.code, done.out, driven.text("a")) == (drive.NO_ANSWER, "", OURS)
    assert done.err.endswith("No space left on device; git's line merge is used\n")
    for name in "oab":
        (driven.path / name).unlink()
    driven.drive(line_for(package))
    fork_two(driven)
    is_gits_own(driven, driven.merge())
