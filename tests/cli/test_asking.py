"""The way through the questions, in a real pseudo-terminal."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("termios")

from ask_fake import QUESTIONS
from terminal import Terminal

from kmerge_git.cli.question_screen import ENTER, ESCAPE, Keys
from kmerge_git.merge.plan import Why

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
FIRST, SECOND, THIRD = "1 of 7", "2 of 7", "3 of 7"
PROMPT = "?] "
FILES = ["web.yaml", "b.yaml", "c.yaml"]
NO_ANSWERS = (
    "\x1bOA", "\x1b[A", "\x1b[1;5C", "é", "\x1b",
    "\x1b\x1bOt",  # Alt and an arrow
    "\x1b[[A", "\x1b[Mott",  # of the Linux console; the mouse
    "\x1b[200~ooT\nq\x1b[201~",  # pasted
    "\x1b]11;rgb:0000/eoTe/0000\x07", "\x1b]11;rgb:0000/0000/0000\x1b\\",  # a colour: late answers
    "\x1bP1$r0 q\x1b\\",
    "\x1b[Ao", "éo",  # pasted without a mark
)  # fmt: skip
UNWANTED = ("GIT_", "KMERGE", "EDITOR", "VISUAL", "NO_COLOR", "FORCE_COLOR", "ENV")


class Asked(Terminal):
    """The fake questions in a terminal, and what came of them."""

    def __init__(self, folder: Path, size: tuple[int, int] = (24, 80), **variables: str) -> None:
        self._out = folder / "out.json"
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "KMERGE"))}
        env = (
            keep | {"PYTHONPATH": f"{ROOT}:{TESTS}", "HOME": str(folder), "LINES": "77"} | variables
        )
        argv = [sys.executable, Path(__file__).with_name("ask_fake.py"), self._out]
        super().__init__(argv, cwd=folder, env=env, rows=size[0], columns=size[1])

    def question(self, number: int) -> str:
        """Wait until it is asked."""
        return self.wait(f"{number} of 7") + self.wait(PROMPT)

    def outcome(self) -> dict[str, Any]:
        return json.loads(self._out.read_text())

    def hows(self) -> str:
        """The answers of the seven, a letter each; `.` for none."""
        answers = self.outcome()["answers"]
        return "".join(answers.get(q.id, ".")[0][0] for q in QUESTIONS)


@contextmanager
def asked(folder: Path, *args: Any, **variables: str) -> Iterator[Asked]:
    with Asked(folder, *args, **variables) as terminal:
        terminal.wait("7 conflicts in 3 files")
        terminal.question(1)
        yield terminal


def test_every_side_key(tmp_path: Path) -> None:
    with asked(tmp_path) as it:
        for number, key in enumerate("hbt0oot", 1):
            it.press(key)
            if number < 7:
                it.question(number + 1)
        assert it.end() == 0
        assert it.is_normal()
        assert it.hows() == "hbtboot"
        assert it.outcome()["puts"] == [["web.yaml"], ["b.yaml"], ["c.yaml"]]
        assert "finish with `git commit`" in it.rest()


def test_what_cannot_be_is_said_and_asked_again(tmp_path: Path) -> None:
    with asked(tmp_path) as it:
        it.press("o")
        assert "h" not in it.question(2).rpartition("[")[2]
        it.press("h")
        assert "cannot use this answer: `higher` cannot be here" in it.wait(PROMPT)
        it.press("x")
        assert "this key is unknown" in it.wait(PROMPT)
        it.press("q")
        assert it.end() == 1
        assert it.hows() == "o......"


def test_the_rest_of_a_file(tmp_path: Path) -> None:
    with asked(tmp_path) as it:
        it.press("s")
        it.question(2)
        it.press("T")
        assert "theirs: 2 conflicts in 1 file\n" in it.question(4)
        it.press("O")
        assert "b.yaml: resolved, written and staged" in it.question(6)
        it.press("T")
        assert it.end() == 1
        assert it.hows() == ".ttoott"
        assert "open    web.yaml: 1 conflict\n" in it.rest()
        assert (
            "2 files staged, 1 file still in conflict; run `kmerge resolve` to continue"
            in it.rest()
        )


def test_the_rest_of_a_file_says_where_it_is_not_possible(tmp_path: Path) -> None:
    with asked(tmp_path) as it:
        it.press("sss")
        it.question(4)
        it.press("ah")
        told = it.wait("Which answer for all? [o,t,b,0,h; other keys: none]") + it.wait(PROMPT)
        assert f"2 conflicts in 2 files like this: version, {Why.BOTH_CHANGED}" in told
        why = "c.yaml: Deployment/web version: `higher` cannot be here"
        assert f"higher: 1 conflict in 1 file\ncannot use this answer: {why}\n" in told
        it.press("q")
        assert it.end() == 1
        assert it.hows() == "...h..."


def test_all_like_this(tmp_path: Path) -> None:
    with asked(tmp_path) as it:
        it.press("sss")
        it.question(4)
        it.press("aT")
        it.wait("other keys: none]")
        assert "no conflict got an answer" in it.wait(PROMPT)
        it.press("at")
        it.wait("theirs: 2 conflicts in 2 files")
        assert "name" in it.question(5)
        it.press("q")
        it.end()
        assert it.hows() == "...t.t."


@pytest.mark.parametrize("answered, like", [("", "2 conflicts in 2"), ("t", "1 conflict in 1")])
def test_all_like_this_are_those_without_an_answer_in_all_files(
    tmp_path: Path, answered: str, like: str
) -> None:
    """The person skipped the first of them, or answered it before."""
    with asked(tmp_path) as it:
        it.press("sss")
        it.question(4)
        it.press((answered or "s") + "s")
        it.question(6)
        it.press("a")
        assert f"{like} file" in it.wait("other keys: none]")
        it.press("o")
        told = it.question(7)
        assert ("ours: 2 conflicts in 2 files\n" if not answered else "ours: 2\n") in told
        it.press("s")
        assert it.end() == 1
        assert it.hows() == f"...{answered or 'o'}.o."


def test_what_a_key_did_comes_before_what_was_written(tmp_path: Path) -> None:
    program = editor(tmp_path, put("web:1.7\\n"))
    with asked(tmp_path, GIT_EDITOR=program) as it:
        assert "  theirs (feature)  web:1.6 (higher)\n" in it.seen
        it.press("h")
        assert "\ntheirs: web:1.6\n\n2 of 7" in it.question(2)
        it.press("b")
        assert "\nboth: - b …\n" in it.question(3)
        it.press("t")
        done = "web.yaml: resolved, written and staged"
        assert f"\ntheirs: line 0 …\n{done}\n" in it.question(4)
        it.press("h0")
        assert "\nours: 1.3.0\n" in it.question(5)
        assert "\nbase: a\nb.yaml: resolved" in it.question(6)
        it.press("e")
        assert "\nedited: web:1.7\n" in it.question(7)
        it.press("d")
        assert it.end() == 0
        assert "\nc.yaml: resolved with the file on disk\n" in it.rest()


def test_back_over_a_file_that_is_staged(tmp_path: Path) -> None:
    with asked(tmp_path) as it:
        it.press("k")
        assert "this is the first question" in it.wait(PROMPT)
        it.press("ooo")
        assert "web.yaml: resolved, written and staged" in it.question(4)
        it.press("k")
        assert "answer: ours: line 0 … (press Enter to keep it)" in it.question(3)
        it.press("t")
        assert "web.yaml: resolved, written and staged" in it.question(4)
        it.press("kk")
        it.question(3)
        it.question(2)
        it.press("s")
        assert "web.yaml: in conflict again" in it.question(4)
        it.press("kk\n")
        it.question(3)
        it.question(2)
        assert "this key is unknown" in it.wait(PROMPT)
        it.press("q")
        assert it.end() == 1
        assert it.hows() == "o.t...."
        assert it.outcome()["puts"] == [["web.yaml"], ["web.yaml"], ["web.yaml"], FILES]


def test_a_file_as_it_stands(tmp_path: Path) -> None:
    with asked(tmp_path) as it:
        it.press("d")
        it.question(4)
        it.press("k")
        assert "this is the first question" in it.wait(PROMPT)
        it.press("q")
        assert it.end() == 1
        assert it.outcome()["taken"] == ["web.yaml"]
        assert "staged  web.yaml" in it.rest()


def test_the_words_fit_the_smallest_terminal(tmp_path: Path) -> None:
    with asked(tmp_path, (20, 40)) as it:
        it.press("?")
        told = it.wait(PROMPT).splitlines()
        assert len(told) <= 20
        assert max(map(len, told)) <= 40
        assert [line[0] for line in told if line[1:3] == "  "] == [*"otb0heOTasdq?"]
        it.press("oos")
        for number in (2, 3, 4):
            shown = it.question(number).splitlines()
            assert len(shown) - shown.index("") <= 19  # without what the key did
        assert "press `e` to see all" in it.seen
        assert max(map(len, it.seen.splitlines())) <= 40
        it.press("o")
        prompt = it.question(5).rpartition("[")[2].removesuffix("] ").split(",")
        assert prompt == [*"ot0eOTaskdq?"]
        it.press("?")
        told = it.wait(PROMPT).splitlines()
        assert [line[0] for line in told if line[1:3] == "  "] == prompt
        it.press("q")
        it.end()


def test_an_arrow_is_no_answer(tmp_path: Path) -> None:
    with asked(tmp_path) as it:
        for key in NO_ANSWERS:
            it.press(key)
            assert "this key is unknown" in it.wait(PROMPT)
        it.press("q")
        assert it.end() == 1
        assert it.hows() == "......."


def test_the_bytes_of_a_key_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    read = os.read
    monkeypatch.setattr(os, "read", lambda file, count: read(file, 1))
    master, slave = os.openpty()
    with os.fdopen(slave) as terminal, Keys(terminal) as keys:
        for typed, key in (("\x1b[A", ESCAPE), ("é", "é"), ("t", "t"), ("\n", ENTER)):
            os.write(master, typed.encode())
            assert keys.read() == key
    os.close(master)


@pytest.mark.parametrize("key", ["\x03", "\x04", "q"])
def test_stop_and_keep(tmp_path: Path, key: str) -> None:
    with asked(tmp_path) as it:
        it.press("o")
        it.question(2)
        it.press(key)
        assert it.end() == 1
        assert it.is_normal()
        assert it.hows() == "o......"
        assert it.outcome()["puts"] == [FILES]
        assert "Traceback" not in it.seen


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_ended_from_outside(tmp_path: Path, number: int) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:  # below `nohup`, and what it starts leaves it so
        pytest.skip("this signal is ignored here")
    with asked(tmp_path) as it:
        it.press("o")
        it.question(2)
        assert not it.is_normal()
        it.process.send_signal(number)
        assert it.end() == -number
        assert it.is_normal()
        assert "Traceback" not in it.seen


def test_stopped_and_brought_back(tmp_path: Path) -> None:
    """By a shell: only with one is a process stopped at all."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(UNWANTED)}
    env |= {"PYTHONPATH": f"{ROOT}:{TESTS}", "PS1": "$ ", "HOME": str(tmp_path)}
    with Terminal(["sh", "-i"], cwd=tmp_path, env=env) as it:
        it.wait("$ ")
        it.press(f"{sys.executable} {Path(__file__).with_name('ask_fake.py')} out.json\n")
        it.wait(FIRST)
        it.wait(PROMPT)
        it.press("o")
        it.wait(SECOND)
        it.wait(PROMPT)
        it.press("\x1a")
        it.wait("topped")
        it.wait("$ ")
        it.press("stty -a\n")
        flags = it.wait("$ ")
        assert "-icanon" not in flags and "icanon" in flags
        it.press("fg\n")
        it.wait(SECOND)
        it.wait(PROMPT)
        it.press("q")
        it.wait("still in conflict")
        it.wait("$ ")
        it.press("stty -a\n")
        assert "-icanon" not in it.wait("$ ")
        it.press("exit\n")
        it.end()
    assert json.loads((tmp_path / "out.json").read_text())["puts"] == [FILES]


def test_a_resize_in_the_middle(tmp_path: Path) -> None:
    with asked(tmp_path) as it:
        it.resize(20, 40)
        shown = it.question(1)
        assert max(map(len, shown.splitlines())) <= 40
        it.press("q")
        it.end()


@pytest.mark.parametrize(
    "variables, is_coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colours(tmp_path: Path, variables: dict[str, str], is_coloured: bool) -> None:
    with asked(tmp_path, **variables) as it:
        it.press("q\n")
        it.end()
        assert ("\x1b" in it.raw) == is_coloured


def test_a_terminal_without_single_keys_takes_lines(tmp_path: Path) -> None:
    with asked(tmp_path, TERM="dumb") as it:
        assert it.is_normal()
        it.press("ours\n")
        assert "this key is unknown" in it.wait(PROMPT)
        it.press("o\n")
        it.question(2)
        it.press("\x1b[A\n\n")
        it.wait("this key is unknown")
        it.wait("this key is unknown")
        it.wait(PROMPT)
        it.press("s\n")
        it.question(3)
        it.press("s\n")
        it.question(4)
        it.press("a t\n")
        it.question(5)
        it.press("\x03")
        assert it.end() == 1
        assert it.hows() == "o..t.t."


def editor(folder: Path, *scripts: str) -> str:
    """An editor that does one thing after the other, and keeps what it was shown."""
    file = folder / "editor"
    parts = "".join(f"{n}) {script};;\n" for n, script in enumerate(scripts, 1))
    counter = (
        'n=$(cat "$D/n" 2>/dev/null || echo 0); n=$((n+1)); echo $n >"$D/n"; cp "$1" "$D/$n"\n'
    )
    file.write_text(f"#!/bin/sh\nD='{folder}'\n{counter}case $n in\n{parts}esac\n")
    file.chmod(0o755)
    return str(file)


def put(value: str) -> str:
    return f"printf '{value}' >\"$1\""


@pytest.mark.costly
def test_edit_a_value(tmp_path: Path) -> None:
    program = editor(tmp_path, put("rubbish\\n"), put("# kmerge: x\\nweb:1.7\\n"))
    with asked(tmp_path, GIT_EDITOR=program) as it:
        it.press("e")
        told = it.wait("Edit the answer again? [y,n] ")
        assert "cannot use this answer: the answer is not valid YAML" in told
        assert not it.is_normal()
        it.press("y")
        it.question(2)
        it.press("k")
        assert "answer: edited: web:1.7" in it.question(1)
        it.press("q")
        assert it.end() == 1
    shown = (tmp_path / "1").read_text()
    assert "# kmerge: ours (HEAD): web:1.5\n" in shown and Why.BOTH_CHANGED in shown
    assert [line for line in shown.splitlines() if line[:1] != "#"] == ["web:1.5"]
    assert (tmp_path / "2").read_text() == "rubbish\n"
    assert it.outcome()["answers"][QUESTIONS[0].id] == ["value", "web:1.7\n"]
    assert list(tmp_path.glob("**/kmerge-edit*")) == []


def test_rubbish_is_given_up(tmp_path: Path) -> None:
    with asked(tmp_path, GIT_EDITOR=editor(tmp_path, put("rubbish"))) as it:
        it.press("e")
        it.wait("Edit the answer again? [y,n] ")
        it.press("n")
        it.wait("[o,t,b,0,h,e")
        it.press("q")
        assert it.end() == 1
        assert it.hows() == "......."


@pytest.mark.world
@pytest.mark.parametrize(
    "script, why",
    [
        ("exit 3", "the editor ended with exit code 3"),
        (":", "the text was not changed"),
        ("kill -9 $$", "was ended by signal 9"),
        (put("# kmerge: x\\n\\n"), "the text is empty"),
        (put(""), "the text is empty"),
        (put("\\377"), "not UTF-8"),
        ('rm "$1"', "cannot be read"),
    ],
)
def test_no_answer_of_the_editor(tmp_path: Path, script: str, why: str) -> None:
    with asked(tmp_path, GIT_EDITOR=editor(tmp_path, script)) as it:
        it.press("e")
        told = it.wait("no answer was given: ") + it.wait(PROMPT)
        assert why in told
        it.press("q")
        assert it.end() == 1
        assert it.hows() == "......."


def test_the_editor_is_what_git_says_in_a_folder_with_blanks(tmp_path: Path) -> None:
    folder = tmp_path / "a $(touch hit) b"
    folder.mkdir()
    program = editor(folder, put("web:2"))
    with asked(tmp_path, GIT_EDITOR=f"'{program}'", TMPDIR=str(folder)) as it:
        it.press("e")
        it.question(2)
        it.press("q")
        it.end()
        assert it.hows()[0] == "v"
    assert not list(tmp_path.glob("**/hit"))


def test_there_is_no_editor(tmp_path: Path) -> None:
    with asked(tmp_path, TERM="dumb") as it:
        it.press("e\n")
        said = it.wait("no answer was given: ") + it.wait(PROMPT)
        # git's own words; ours where git has none (2.47 has none)
        assert "Terminal is dumb, but EDITOR unset" in said or "no editor is set for git" in said
        it.press("\x04")
        assert it.end() == 1


def test_an_editor_that_leaves_the_terminal_as_it_wants_it(tmp_path: Path) -> None:
    with asked(tmp_path, GIT_EDITOR=editor(tmp_path, "stty raw -echo")) as it:
        it.press("e")
        it.wait("the text was not changed")
        it.wait(PROMPT)
        it.press("q")
        assert it.end() == 1
        assert it.is_normal()


def test_a_terminal_that_does_not_know_a_character(tmp_path: Path) -> None:
    with asked(tmp_path, PYTHONIOENCODING="ascii") as it:
        it.press("é")
        assert "\\xe9" in it.wait("this key is unknown")
        it.wait(PROMPT)
        it.press("q")
        assert it.end() == 1


def test_edit_lines(tmp_path: Path) -> None:
    kept = put("# kmerge: x\\n- a\\n<<<<<<< ours (HEAD)\\n- b\\n")
    with asked(tmp_path, GIT_EDITOR=editor(tmp_path, kept, put("# mine\\n- b\\n- c\\n"))) as it:
        it.press("s")
        it.question(2)
        it.press("e")
        assert "the text still has a conflict marker" in it.wait("Edit the answer again? [y,n] ")
        it.press("y")
        it.question(3)
        it.press("q")
        it.end()
        assert it.outcome()["answers"][QUESTIONS[1].id] == ["lines", "# mine\n- b\n- c\n"]
    lines = [line for line in (tmp_path / "1").read_text().splitlines() if line[:1] != "#"]
    assert lines == ["<<<<<<< ours (HEAD)", "- b", "=======", "- c", ">>>>>>> theirs (feature)"]


@pytest.mark.costly
def test_ctrl_c_in_the_editor_is_the_editors(tmp_path: Path) -> None:
    script = f"trap 'exit 5' INT; echo ready; while :; do read x <{os.devnull}; done"
    with asked(tmp_path, GIT_EDITOR=editor(tmp_path, script)) as it:
        it.press("e")
        it.wait("ready")
        assert it.is_normal()
        it.press("\x03")
        it.wait("no answer was given: the editor ended with exit code 5")
        it.wait(PROMPT)
        it.press("q")
        assert it.end() == 1
