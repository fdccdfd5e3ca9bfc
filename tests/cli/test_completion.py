"""`kmerge completion`: what the shells offer, asked of the shells themselves."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shlex import quote

import pytest

from kmerge_git.cli.completion import SCRIPTS, candidates
from kmerge_git.cli.main import COMMANDS, SHARED, actions_of, line_parser, main, shown

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "$(touch${IFS}ran)"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with branches, one of them hostile, and the three scripts."""
    here = tmp_path_factory.mktemp("completion")

    def git(*words: str) -> str:
        call = ["git", "-C", str(here), "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(call, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "a")
    for name in ("topic/cache", "topic/region", HOSTILE, "\u202eodd", "gr\u00fcn"):
        git("branch", name)
    git("tag", "v1")
    git("remote", "add", "upstream", "nowhere")
    for name, script in SCRIPTS.items():
        (here / f"c.{name}").write_text(script)
    program = here / "bin" / "kmerge"
    program.parent.mkdir()
    python = f"PYTHONPATH={quote(str(ROOT))} exec {quote(sys.executable)} -m kmerge_git"
    program.write_text(f'#!/bin/sh\n{python} "$@"\n')
    program.chmod(0o755)
    return here


def ran(place: Path, *argv: str) -> list[str]:
    if not shutil.which(argv[0]):
        pytest.skip(f"no {argv[0]} here")
    path = f"{place / 'bin'}:{os.environ['PATH']}"
    env = os.environ | {"LC_ALL": "C.UTF-8", "HOME": str(place), "PATH": path}
    done = subprocess.run(argv, cwd=place, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [line for line in done.stdout.splitlines() if line]


def bash(place: Path, line: str) -> list[str]:
    """What bash's function answers; words as bash splits them, at `=` as well."""
    words = line.replace("=", " = ").split(" ")
    words = [word for word in words[:-1] if word] + words[-1:]
    if words[-2:] == ["=", ""]:
        words.pop()
    start = "_git_kmerge" if words[0] == "git" else "_kmerge"
    script = f"""
        source ./c.bash
        COMP_WORDS=({" ".join(map(quote, words))}) COMP_CWORD={len(words) - 1}
        {start}
        [ ${{#COMPREPLY[@]}} -eq 0 ] || printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    return [word.rstrip(" ") for word in ran(place, "bash", "--norc", "-c", script)]


def zsh(place: Path, line: str) -> list[str]:
    """What the function hands to zsh's own."""
    words = line.split(" ")
    script = f"""
        compdef() {{ }}
        source ./c.zsh
        words=({" ".join(map(quote, words))}) CURRENT={len(words)} PREFIX={quote(words[-1])}
        compset() {{ if [[ $1 == -P ]] PREFIX=${{PREFIX##${{~2}}}} }}
        offer() {{ local one; for one; [[ $one == $PREFIX* ]] && print -r -- $one; true }}
        compadd() {{ shift; offer "$@" }}
        _describe() {{ local name=${{@[-1]}}; offer ${{${{(P)name}}%%:*}} }}
        _files() {{ print FILES }}
        _kmerge
    """
    return ran(place, "zsh", "-f", "-c", script)


def fish(place: Path, line: str) -> list[str]:
    script = f"source c.fish; complete -C {quote(line)}"
    found = [word.partition("\t")[0] for word in ran(place, "fish", "--no-config", "-c", script)]
    return [word.rpartition("=")[2] for word in found]


ALL = pytest.mark.parametrize("shell", [bash, zsh, fish])
Shell = Callable[[Path, str], list[str]]


@ALL
@pytest.mark.parametrize(
    "line, offered",
    [
        ("kmerge mer", {"merge", "merge-file", "merge2", "merge3", "mergetool"}),
        ("kmerge -v st", {"status"}),
        ("kmerge vendor ", {"add", "update", "status", "diff", "list"}),
        ("kmerge vendor up", {"update"}),
        ("kmerge refresh --dr", {"--dry-run"}),
        ("kmerge vendor update --ab", {"--abort"}),
        ("kmerge --vers", {"--version"}),
        ("kmerge check --format ", {"text", "json", "github", "sarif"}),
        ("kmerge check --format js", {"json"}),
        ("kmerge check --format=js", {"json"}),
        ("kmerge check --explain D1", {"D10", "D12"}),
        ("kmerge resolve --take hi", {"higher"}),
        ("kmerge preview topic --format ma", {"markdown"}),
        ("kmerge completion ", {"bash", "zsh", "fish"}),
        ("kmerge preview topic/", {"topic/cache", "topic/region"}),
        ("kmerge preview --into topic/c", {"topic/cache"}),
        ("kmerge explain v", {"v1"}),
        ("kmerge refresh --push ", {"upstream"}),
        ("kmerge refresh --with main topic/", {"topic/cache", "topic/region"}),
        ("kmerge preview gr", {"gr\u00fcn"}),
    ],
)
def test_what_is_offered(shell: Shell, line: str, offered: set[str], place: Path) -> None:
    found = set(shell(place, line))
    if line == "kmerge check --explain D1":
        assert found >= offered
    else:
        assert found == offered


@ALL
def test_a_branch_of_others_is_data(shell: Shell, place: Path) -> None:
    found = shell(place, "kmerge preview ")
    assert "HEAD" in found
    assert "v1" in found
    quoted = HOSTILE if shell is not bash else "\\$\\(touch\\$\\{IFS\\}ran\\)"
    assert quoted in found
    assert not [name for name in found if "odd" in name]
    assert not (place / "ran").exists()


def test_bash_completes_git_kmerge_and_ranges(place: Path) -> None:
    assert bash(place, "git kmerge stat") == ["status"]
    assert bash(place, "git -C x kmerge refresh --dr") == ["--dry-run"]
    assert bash(place, "kmerge replay v1..topic/c") == ["v1..topic/cache"]


def test_bash_itself_finds_the_function(place: Path) -> None:
    assert ran(place, "bash", "--norc", "-c", "source ./c.bash; complete -p kmerge") == [
        "complete -o bashdefault -o default -o nospace -F _kmerge kmerge"
    ]


def test_files_are_left_to_the_shell(place: Path) -> None:
    (place / "web.yaml").touch()
    assert bash(place, "kmerge status w") == []
    if shutil.which("zsh"):
        assert zsh(place, "kmerge status w") == ["FILES"]
    if shutil.which("fish"):
        assert fish(place, "kmerge status w") == ["web.yaml"]
        assert fish(place, "kmerge replay --last w") == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_every_parser_is_there(command: str) -> None:
    def compare(parser: argparse.ArgumentParser, *words: str) -> None:
        wanted = {flag for action in shown(parser) for flag in action.option_strings}
        assert {*candidates([*words, "-"])} == wanted
        for action, below in actions_of(parser):
            compare(below, *words, action)

    compare(dict(actions_of(line_parser(command)))[command], command)


def test_a_new_option_shows_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from kmerge_git.cli import refresh

    before = refresh.add_arguments

    def more(parser: argparse.ArgumentParser) -> None:
        before(parser)
        parser.add_argument("--brand-new", metavar="REV", help="it's new: [a] `b` \\ $(c)")

    monkeypatch.setattr(refresh, "add_arguments", more)
    assert candidates(["refresh", "--"])["--brand-new"] == "it's new: [a] `b` \\ $(c)"
    assert "HEAD" in candidates(["refresh", "--brand-new", ""])


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_command_prints_the_script(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", name]) == 0
    script = capsys.readouterr().out
    assert script == SCRIPTS[name]
    assert script.count("\n") <= 20
    if shutil.which(name):
        subprocess.run([name, "-n"], input=script, text=True, check=True)


def test_no_other_shell_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bsh"]) == 2
    assert "did you mean `bash`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [[], ["git"], ["kmerge", "merge", "--no-such=x"], ["kmerge", "--version", "--x="]]
)
def test_nothing_is_printed_where_nothing_is_known(
    words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["__complete", *words]) == 0
    out, err = capfd.readouterr()
    assert (set(out.splitlines()) <= {""}, err) == (True, "")


def test_an_error_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no git
    assert main(["__complete", "kmerge", "preview", ""]) == 0
    assert capfd.readouterr() == ("", "")


def test_it_stands_in_no_list(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "__complete" not in capsys.readouterr().out
    assert "__complete" not in candidates([""])
    assert main(["__complet"]) == 2
    assert "__complete" not in capsys.readouterr().err


LOADED = """\
import sys
from kmerge_git.cli.main import main
try:
    main(sys.argv[1:])
finally:
    print(*sys.modules, file=sys.stderr)
"""


def loaded_by(*words: str) -> set[str]:
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", LOADED, *words]
    return set(
        subprocess.run(command, env=env, capture_output=True, text=True, check=True).stderr.split()
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_no_more_is_loaded_than_the_parser_of_the_command(command: str) -> None:
    """The shell waits for it at each key."""
    found = loaded_by("__complete", "kmerge", command, "--")
    assert f"kmerge_git.cli.{SHARED.get(command, command).replace('-', '_')}" in found
    others = {f"kmerge_git.cli.{name.replace('-', '_')}" for name in COMMANDS if name != command}
    shared = SHARED | {"merge": "merge_file", "resolve": "solve", "mergetool": "solve"}
    allowed = {f"kmerge_git.cli.{shared.get(command)}"}
    assert found & others - allowed <= {"kmerge_git.cli.completion"}
    assert len(found) <= 1.5 * len(loaded_by("--version"))
    engine = ("kmerge_git.pipeline", "kmerge_git.merge.decide", "kmerge_git.tree.compose")
    assert not [name for name in found if name.startswith(engine)]
