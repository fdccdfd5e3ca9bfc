"""The registered line around the driver: the switch, a driver that is gone, lines of other versions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed import copied_package
from test_driver_exits import (
    by_hand,
    copied,
    filled_in,
    fork_two,
    is_gits_own,
    line_for,
)
from world import MERGED, OURS, ROOT, THEIRS, Done, Driven, Repo, World

from kmerge_git.git import driver_lines
from kmerge_git.git.driver_lines import driver_line, with_fallback

GONE = "/no/such dir/python"
# as it was before the advice depended on the reason
ONE_HINT = (
    """echo "kmerge: the driver gave no answer: $w; merged by lines; """
    """run \\`kmerge status --deep\\`">&2;[ ! -f "$l" ]||echo>"$t\""""
)
OTHER = f'"{{}}" -I -S "{ROOT}/kmerge_git/cli/driver.py" %O %A %B'


def told(done: Done) -> list[str]:
    return [line for line in done.err.splitlines() if "kmerge" in line or "not found" in line]


def again(repo: Driven) -> Done:
    repo.git("reset", "-q", "--hard", "HEAD")
    return repo.merge()


# -- the line itself ------------------------------------------------------------------------------


@pytest.fixture
def environment(world: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What looks like a virtual environment with the package in it, and is where this runs."""
    prefix = world.root / "a %b $c env"
    site = prefix / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    site.mkdir(parents=True)
    lib = Path(driver_lines.yaml_directory(ROOT / "kmerge_git" / "cli" / "driver.py"))
    for name in ("yaml", "_yaml"):
        (site / name).symlink_to(lib / name)
    copied_package(site / "kmerge_git")
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(sys, "executable", str(prefix / "bin" / "python"))
    return prefix


def in_environment(prefix: Path) -> tuple[str, Path]:
    (driver,) = prefix.glob("lib/python3*/site-packages/kmerge_git/cli/driver.py")
    return driver_line(driver=driver.resolve(), lib=""), driver


def test_it_is_short(environment: Path) -> None:
    line, driver = in_environment(environment)
    python = driver_lines.quoted(str(environment / "bin" / "python"))
    assert len(line) - len(python) - len(driver_lines.quoted(str(driver))) <= 770
    line = driver_line("PYTHON", lib="")
    assert len(line) - len(str(ROOT / "kmerge_git" / "cli" / "driver.py")) <= 770
    assert "\n" not in line


@pytest.mark.costly
def test_another_python_in_the_same_environment(driven: Driven, environment: Path) -> None:
    line, driver = in_environment(environment)
    assert f"python3.{sys.version_info[1]}" not in line
    driven.drive(line)
    fork_two(driven)
    done = driven.merge()
    assert (done.code, driven.text("near.yaml")) == (0, MERGED), done.said
    (environment / "lib" / driver.parents[3].name).rename(environment / "lib" / "python3.99")
    driven.git("reset", "-q", "--hard", "HEAD~1")
    done = driven.merge()
    assert (done.code, driven.text("near.yaml"), told(done)) == (0, MERGED, []), done.said


@pytest.mark.parametrize("other", ["python3.1", "python3.99"])
def test_the_package_of_another_python_is_not_taken(environment: Path, other: str) -> None:
    line, driver = in_environment(environment)
    assert "/lib/python3*/" in line
    shutil.copytree(driver.parent, environment / "lib" / other / Path(*driver.parts[-4:-1]))
    line = driver_line(driver=driver.resolve(), lib="")
    assert f"f={driver_lines.quoted(str(driver.resolve()))};" in line


def test_an_environment_that_is_removed(driven: Driven, environment: Path) -> None:
    driven.drive(in_environment(environment)[0])
    shutil.rmtree(environment)
    fork_two(driven)
    done = driven.merge()
    is_gits_own(driven, done)
    assert told(done) == [said(f"no program {environment}/bin/python")]


def test_outside_of_environments_the_file_is_named(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    line, driver = in_environment(environment)
    assert f"f={driver_lines.quoted(str(driver.resolve()))};" in line


# -- the switch -----------------------------------------------------------------------------------


def test_switched_off_no_interpreter_starts(driven: Driven) -> None:
    started = driven.world.root / "started"
    python = driven.world.root / "python"
    python.write_text(f'#!/bin/sh\necho >>"{started}"\nexit 1\n')
    python.chmod(0o755)
    driven.drive(driver_line(str(python)))
    fork_two(driven)
    done = driven.git("merge", "side", check=False, env={"KMERGE": "0"})
    is_gits_own(driven, done)
    assert told(done) == []
    assert not started.exists()
    again(driven)
    assert started.read_text() == "\n\n"


@pytest.mark.world
@pytest.mark.parametrize("word", ["", "1", "00", "(", "!", "-f", "0 "])
def test_only_0_switches_off(driven: Driven, word: str) -> None:
    fork_two(driven)
    done = driven.git("merge", "side", check=False, env={"KMERGE": word})
    assert (done.code, driven.text("near.yaml")) == (0, MERGED), done.said


# -- no answer ------------------------------------------------------------------------------------


def said(why: str) -> str:
    hint = "run `kmerge status --deep`"
    if why.startswith("no "):
        hint = "install kmerge again, then run `kmerge install`"
    return f"kmerge: the driver gave no answer: {why}; merged by lines; {hint}"


def test_an_interpreter_that_is_gone_is_told_once_a_merge(driven: Driven) -> None:
    driven.drive(driver_line(GONE))
    fork_two(driven)
    for _ in range(3):
        done = again(driven)
        is_gits_own(driven, done)
        assert told(done) == [said(f"no program {GONE}")]


def test_a_driver_file_that_is_gone_is_told_once(driven: Driven) -> None:
    package = copied(driven.world)
    driven.drive(line_for(package))
    shutil.rmtree(package)
    fork_two(driven)
    done = driven.merge()
    is_gits_own(driven, done)
    assert told(done) == [said(f"no file {package}/cli/driver.py")]


@pytest.mark.parametrize("code", [0, 1, 2, 3, 5, 127, 255])
def test_another_end_is_told_once(driven: Driven, code: int) -> None:
    command = f'p=/bin/sh;f="{ROOT}/README.md";(exit {code})'
    driven.drive(with_fallback(command))
    fork_two(driven)
    done = driven.merge()
    is_gits_own(driven, done)
    assert told(done) == [said(f"exit {code}")]


def test_a_reason_that_the_driver_told_is_not_told_again(driven: Driven) -> None:
    driven.drive(with_fallback("(echo reason >&2; exit 4)"))
    fork_two(driven)
    done = driven.merge()
    is_gits_own(driven, done)
    assert done.err.count("reason") == 2
    assert told(done) == []


@pytest.mark.parametrize("ends", ["exit 0", "exit 3", "exec cat"])
def test_another_program_at_the_place_of_the_interpreter(driven: Driven, ends: str) -> None:
    python = driven.world.root / "python"
    python.write_text(f"#!/bin/sh\necho printed\n{ends}\n")
    python.chmod(0o755)
    driven.drive(driver_line(str(python)))
    fork_two(driven)
    is_gits_own(driven, driven.merge())
    done = driven.git("merge-tree", "--write-tree", "main", "side", check=False)
    assert done.code == 1
    assert "printed" not in done.out
    assert row(driven, "line")["state"] == "FAIL"


def test_without_an_index_it_is_told_and_nothing_is_left(driven: Driven) -> None:
    driven.drive(driver_line(GONE))
    fork_two(driven)
    done = driven.git("merge-tree", "--write-tree", "main", "side", check=False)
    assert set(told(done)) == {said(f"no program {GONE}")}
    assert "kmerge" not in done.out
    assert not (driven.path / ".git" / "kmerge-told").exists()


def test_the_name_of_a_file_is_no_command_and_not_shown(driven: Driven) -> None:
    name = "$(touch hurt) `touch hurt`\x1b[2J'\"; touch hurt #.yaml"
    driven.drive(driver_line(GONE))
    driven.fork({name: "a: 1\n"}, {name: "a: 2\n"}, {name: "a: 3\n"})
    done = driven.merge()
    assert done.code == 1
    assert not (driven.path / "hurt").exists()
    assert "\x1b" not in done.err
    assert "=======" in driven.text(name)


SHELLS = [shell for shell in ("dash", "bash", "busybox", "ksh", "zsh") if shutil.which(shell)]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_reads_the_line(driven: Driven, shell: str) -> None:
    words = ["busybox", "sh"] if shell == "busybox" else [shell]
    if shell == "zsh":
        words += ["--emulate", "sh"]
    for python, switch, code in ((sys.executable, "", 0), (GONE, "", 1), (sys.executable, "0", 1)):
        by_hand(driven, "true", OURS, THEIRS)
        line = filled_in(driver_line(python))
        env = {"KMERGE": switch}
        done = driven.world.run(*words, "-c", line, cwd=driven.path, check=False, env=env)
        assert (done.code, done.out) == (code, "")
        assert (driven.text("a") == MERGED) is (code == 0)
        assert told(done) == ([said(f"no program {GONE}")] if python == GONE else [])


def test_a_file_that_cannot_be_merged_by_lines_is_a_conflict(driven: Driven) -> None:
    driven.drive(driver_line(GONE))
    driven.fork({"x.yaml": b"a\0b"}, {"x.yaml": b"a\0c"}, {"x.yaml": b"a\0d"})
    assert driven.merge().code == 1
    assert driven.unmerged() == ["x.yaml"]


# -- whatever the modules do, it is no answer -----------------------------------------------------


@pytest.mark.world
@pytest.mark.parametrize(
    "start",
    [
        "raise SystemExit(0)",
        "raise SystemExit(3)",
        "import sys; sys.exit()",
        "raise KeyboardInterrupt",
        "raise GeneratorExit",
        "def run(*args): raise SystemExit(0)",
        "def run(*args): raise SystemExit(3)",
        "def run(*args): pass",
        "import sys; sys.exit = sys.stderr = None; raise SystemExit(0)",
        "import posix; posix.close(1); posix.close(2); raise SystemExit(0)",
        "",
    ],
)
def test_a_start_that_ends_the_process(tmp_path: Path, start: str) -> None:
    shutil.copy(ROOT / "kmerge_git" / "cli" / "driver.py", tmp_path)
    (tmp_path / "start.py").write_text(start + "\n")
    argv = [sys.executable, "-I", "-S", str(tmp_path / "driver.py"), "o", "a", "b"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode in (1, 120)  # 120: Python could not flush
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) <= 1


def test_an_older_driver_leaves_the_result_to_lines(driven: Driven) -> None:
    """One that wrote its result and ended with 0 would have it merged once more."""
    package = copied(driven.world)
    start = package / "cli" / "start.py"
    newer = "        above = _above()\n"
    assert newer in start.read_text()
    start.write_text(start.read_text().replace(newer, ""))
    driven.drive(line_for(package))
    fork_two(driven)
    is_gits_own(driven, driven.merge())


# -- lines of other versions ----------------------------------------------------------------------


def rows(repo: Repo, command: str = "status") -> list[dict[str, str]]:
    return json.loads(repo.kmerge(command, "--json", check=False).out)["probes"]


def row(repo: Repo, name: str) -> dict[str, str]:
    return next(row for row in rows(repo) if row["name"] == name)


@pytest.mark.world
@pytest.mark.parametrize("command", [("install",), ("status", "--fix")])
@pytest.mark.parametrize(
    "line",
    [
        OTHER.format(sys.executable),
        OTHER.format(GONE),
        driver_line().replace("kmerge status --deep", "kmerge doctor"),
        driver_line().replace(driver_lines.SAY, ONE_HINT),
        driver_line().removesuffix("[ $c = 0 ]"),
    ],
    ids=["plain", "gone", "another hint", "one hint", "another end"],
)
@pytest.mark.costly
def test_a_line_of_another_form_is_renewed(repo: Repo, command: tuple[str, ...], line: str) -> None:
    repo.kmerge("install")
    assert row(repo, "line")["state"] == "ok"
    repo.git("config", "merge.kmerge.driver", line)
    said = row(repo, "line")
    assert (said["state"], said["hint"]) == ("warn", "run `kmerge install` to update it")
    assert said["text"] == "another version of kmerge wrote the registered command"
    done = repo.kmerge(*command)
    assert "local configuration: renewed merge.kmerge.driver" in done.said
    assert repo.config("merge.kmerge.driver") == [driver_line()]
    assert row(repo, "line")["state"] == "ok"


def test_a_line_of_another_form_is_taken_out(repo: Repo) -> None:
    repo.kmerge("install")
    repo.git("config", "merge.kmerge.driver", OTHER.format(GONE))
    repo.kmerge("uninstall")
    assert repo.config("merge.kmerge.driver") == []


@pytest.mark.costly
def test_every_scope_is_mended(repo: Repo) -> None:
    repo.kmerge("install", "--global")
    repo.kmerge("install")
    for scope in ("--global", "--local"):
        repo.git("config", scope, "merge.kmerge.driver", driver_line(GONE))
    told = [(row["state"], row["hint"]) for row in rows(repo) if row["name"] == "line"]
    assert told == [("FAIL", "run `kmerge install`"), ("warn", "run `kmerge install --global`")]
    repo.kmerge("status", "--fix")
    for scope in ("--global", "--local"):
        assert repo.config("merge.kmerge.driver", scope) == [driver_line()]


@pytest.mark.costly
def test_what_runs_from_another_place_stays(repo: Repo, world: World) -> None:
    repo.kmerge("install")
    other = driver_line(driver=copied(world) / "cli" / "driver.py")
    repo.git("config", "merge.kmerge.driver", other)
    repo.kmerge("status", "--fix")
    assert repo.config("merge.kmerge.driver") == [other]


@pytest.mark.parametrize("option, key", [
    ("--mergetool", "mergetool.kmerge.cmd"),
    ("--diff", "diff.kmerge.command"),
])  # fmt: skip
@pytest.mark.costly
def test_the_other_commands_are_mended_too(repo: Repo, option: str, key: str) -> None:
    repo.kmerge("install", option)
    (good,) = repo.config(key)
    dead = good.replace(driver_lines.sh_quoted(driver_lines.interpreter()), f'"{GONE}"')
    assert dead != good
    repo.git("config", key, dead)
    assert repo.kmerge("status", check=False).code == 1
    (failed,) = [row for row in rows(repo) if row["state"] == "FAIL"]
    assert key in failed["text"] and "kmerge status --fix" in failed["hint"]
    assert f"repaired: local configuration: renewed {key}" in repo.kmerge("status", "--fix").err
    assert repo.config(key) == [good]
    repo.git("config", key, dead)
    assert f"renewed {key}" in repo.kmerge("install").said
    assert repo.config(key) == [good]


def test_the_older_command_of_git_diff_is_renewed(repo: Repo) -> None:
    repo.kmerge("install", "--diff")
    (good,) = repo.config("diff.kmerge.command")
    repo.git("config", "diff.kmerge.command", good.partition(" | old=")[0] + "; :; }; kmerge_diff")
    assert "renewed diff.kmerge.command" in repo.kmerge("status", "--fix").err
    assert repo.config("diff.kmerge.command") == [good]


@pytest.mark.costly
def test_a_system_configuration_that_may_not_be_written_is_told(repo: Repo, world: World) -> None:
    repo.kmerge("install")
    system = world.root / "etc" / "gitconfig"
    repo.git("config", "--file", system, "merge.kmerge.driver", driver_line(GONE))
    repo.git("config", "merge.kmerge.driver", OTHER.format(sys.executable))
    system.with_name("gitconfig.lock").touch()
    env = {"GIT_CONFIG_NOSYSTEM": "0"}
    done = repo.kmerge("status", "--fix", env=env)
    assert "not repaired: " in done.err
    assert "only an administrator can change the system configuration" in done.err
    assert repo.config("merge.kmerge.driver", "--local") == [driver_line()]
    system.with_name("gitconfig.lock").unlink()
    assert "renewed merge.kmerge.driver" in repo.kmerge("status", "--fix", env=env).err
    assert "/no/such" not in system.read_text()
