"""Ask a person about one conflict after the other (`kmerge resolve` on a terminal).

An answer is a key, or a value or lines that the person writes in git's editor.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from kmerge_git.bounds import SHOWN_REFUSALS
from kmerge_git.cli.pressed_keys import AGAIN, ENTER, RESIZED, Keys
from kmerge_git.cli.printing import counted
from kmerge_git.cli.question_screen import Around, Screen, Size, in_short, picture, side_of
from kmerge_git.cli.resolve_report import stages, told
from kmerge_git.errors import KmergeError
from kmerge_git.git.run_git import ask_git
from kmerge_git.visible import label, visible
from kmerge_git.whole.given_answers import Refusals, give, give_choice, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kmerge_git.cli.authors import Authors
    from kmerge_git.whole.conflict_questions import Question
    from kmerge_git.whole.resolving import Resolving


HOWS = {"o": "ours", "t": "theirs", "b": "both", "0": "base", "h": "higher"}
# a key, what is said when it was pressed, and what more there is to know
HELP = (
    ("o", "ours", ""),
    ("t", "theirs", ""),
    ("b", "both", ", ours first"),
    ("0", "base", ": neither change"),
    ("h", "higher", ", of two versions"),
    ("e", "edit", " it in your editor"),
    ("O", "ours", " for the rest of this file"),
    ("T", "theirs", " for the rest of this file"),
    ("a", "all like this", ": and a key"),
    ("s", "skip", ": leave it undecided"),
    ("k", "back", " to the one before"),
    ("d", "this file", " as it stands on disk"),
    ("q", "stop", ", keep what was answered"),
    ("?", "", "these words"),
)
RESTS = {"O": "ours", "T": "theirs"}
WORDS = {key: said for key, said, _ in HELP}


def ask(resolving: Resolving, options: argparse.Namespace) -> int:
    """Ask until all is answered, or no more answer comes; 1 if conflicts are left."""
    if isinstance(sys.stdout, TextIOWrapper):  # not every terminal knows every character
        sys.stdout.reconfigure(errors="backslashreplace")
    screen = Screen(sys.stdout)
    with Keys(sys.stdin) as keys:
        asking = Asking(resolving, screen, keys, _authors(resolving, options))
        try:
            asking.run()
        except KeyboardInterrupt:  # asked for twice, or while git was at work
            screen.echo("")
        if not keys.is_killed:
            asking.write_rest()
    return told(resolving, asking.staged, asking.failed)


def _authors(resolving: Resolving, options: argparse.Namespace) -> Authors | None:
    if not getattr(options, "blame", False):
        return None
    from kmerge_git.cli.authors import Authors
    from kmerge_git.git.repository import Repository

    return Authors(Repository.open(), resolving.operation)


class Asking:
    """The way through the questions."""

    def __init__(
        self, resolving: Resolving, screen: Screen, keys: Keys, authors: Authors | None = None
    ) -> None:
        self._resolving = resolving
        self._questions = resolving.questions
        self._screen = screen
        self._keys = keys
        self._authors = authors
        self._shown_for = Size()
        self._whole: set[str] = set()  # files that stay as they stand in the working tree
        self.staged: dict[str, None] = {}  # in the order in which they were
        self.failed: dict[str, str] = {}  # files that could not be written, and why

    def run(self) -> None:
        """Ask, from the first question without an answer on."""
        at = self._next(-1)
        self._begin()
        while at < len(self._questions):
            at = self._question(at)

    def _begin(self) -> None:
        if not self._questions:
            return
        files = len({question.path for question in self._questions})
        told = f"{counted(len(self._questions), 'conflict')} in {counted(files, 'file')}"
        known = len(self._questions) - len(self._resolving.left)
        told += f", {known} answered before" if known else ""
        self._screen.say(f"{told}; `?` explains the keys, `q` stops and keeps the answers")

    def _question(self, at: int) -> int:
        """Ask one question until its answer says where to go on."""
        self._show(at)
        while True:
            key = self._asked(f"Which? [{','.join(self._keys_here(at))}]")
            if key == AGAIN or (key == RESIZED and self._screen.room() != self._shown_for):
                self._show(at)
            elif key != RESIZED:
                after = self._do(key, at)
                if after is not None:
                    return after

    def _asked(self, prompt: str) -> str:
        """The key that comes next; the end of all keys is as good as the key that stops."""
        self._screen.prompt(prompt)
        key = self._keys.read()
        if key is None or key in (AGAIN, RESIZED):
            self._screen.echo("")
        elif not self._keys.echoes:
            self._screen.echo(WORDS.get(key, key))
        return "q" if key is None else key

    def _keys_here(self, at: int) -> list[str]:
        question = self._questions[at]
        keys = [key for key, how in HOWS.items() if how in question.choices]
        rest = [key for key, how in RESTS.items() if how in question.choices]
        return [*keys, "e", *rest, "a", "s", *(["k"] if at else []), "d", "q", "?"]

    def _do(self, key: str, at: int) -> int | None:
        """Do what a key means; where to go on, or None to ask again."""
        if key in HOWS:
            return self._give([self._questions[at]], HOWS[key], at)
        if key in RESTS:
            path = self._questions[at].path
            rest = [q for q in self._questions[at:] if q.path == path]
            return self._give(self._open(rest, at), RESTS[key], at)
        if key[:1] == "a" and (len(key) == 1 or key[1:].strip() in HOWS):
            return self._all_like(at, key[1:].strip())
        acts = {"e": self._edit, "s": self._skip, "k": self._back, "d": self._take_file}
        if key in acts:
            return acts[key](at)
        if key == "q":
            return len(self._questions)
        if key == ENTER and self._questions[at].id in self._resolving.answers:
            return self._next(at)
        if key == "?":
            self._screen.rows(((f"{name}  {said}{more}", ""),) for name, said, more in HELP)
        else:
            self._screen.say("this key is no answer; `?` shows those that are", "yellow")
        return None

    # -- what the keys do

    def _give(self, questions: Sequence[Question], how: str, at: int) -> int | None:
        """One answer for some questions, where it is possible; says where it is not."""
        engine = self._resolving
        refused = give_choice(engine, questions, how)
        self._write({question.path for question in questions})
        if len(questions) > 1:
            given = len(questions) - len(refused)
            self._screen.say(f"{how} for {counted(given, 'conflict')}")
        for question, why in refused[:SHOWN_REFUSALS]:
            place = f"{question.conflict.spot or question.path}: " if len(questions) > 1 else ""
            self._screen.say(f"not here: {place}{why}", "yellow")
        if len(refused) > SHOWN_REFUSALS:
            self._screen.say(f"and not in {len(refused) - SHOWN_REFUSALS} more", "yellow")
        here = self._questions[at]
        if any(question is here for question, _ in refused):
            return None
        if how == "higher" and len(questions) == 1:
            self._screen.say(f"it is {side_of(here, self._resolving.answers[here.id])}", "dim")
        return self._next(at)

    def _all_like(self, at: int, key: str) -> int | None:
        """The same answer for all of the same name and cause."""
        here = self._questions[at]
        like = self._open(
            [q for q in self._questions if q is here or (here.name and q.is_like(here))], at
        )
        name = f": {here.name}, {here.conflict.why}" if here.name else ""
        self._screen.say(f"{len(like)} like this{name}")
        if not key:
            key = self._asked_for_all(like)
        if key not in HOWS:
            self._screen.say("none of them is answered", "yellow")
            return len(self._questions) if key == "q" else None
        return self._give(like, HOWS[key], at)

    def _asked_for_all(self, like: Sequence[Question]) -> str:
        keys = [key for key, how in HOWS.items() if any(how in q.choices for q in like)]
        key = RESIZED
        while key in (AGAIN, RESIZED):
            key = self._asked(f"For all of them? [{','.join(keys)}, else none]")
        return key

    def _open(self, questions: Sequence[Question], at: int) -> list[Question]:
        """The question that is asked, and those of the others that wait for an answer."""
        here, left = self._questions[at], self._left()
        return [q for q in questions if q is here or q.id in left]

    def _left(self) -> set[str]:
        return {question.id for question in self._resolving.left}

    def _edit(self, at: int) -> int | None:
        """Let an editor make the answer, as often as a person wants to try."""
        question = self._questions[at]
        text = draft(question, self._resolving.operation.labels)
        while True:
            try:
                with self._keys.lent():
                    text = edited(text)
                refused = self._give_written(question, written(question, text))
            except NoAnswer as none:
                self._screen.say(f"{words(none)}: no answer is given", "yellow")
                return None
            except KmergeError as error:
                refused = [(question, words(error))]
            if not refused:
                self._write({question.path})
                return self._next(at)
            self._screen.say(f"this cannot be: {refused[0][1]}", "yellow")
            if self._asked("Edit it again? [y,n]") not in ("y", "Y", "e"):
                return None

    def _give_written(self, question: Question, text: str) -> Refusals:
        engine = self._resolving
        make = engine.answer_with if question.kind == "value" else engine.answer_lines
        return give(engine, [(question, make(question, text))])

    def _skip(self, at: int) -> int | None:
        """Leave it undecided, also if it was not."""
        question = self._questions[at]
        if question.id in self._resolving.answers:
            self._resolving.give(question, None)
            self._write({question.path})
        return self._next(at)

    def _back(self, at: int) -> int | None:
        for before in range(at - 1, -1, -1):
            if self._questions[before].path not in self._whole:
                return before
        self._screen.say("this is the first question", "yellow")
        return None

    def _take_file(self, at: int) -> int | None:
        path = self._questions[at].path
        try:
            self._resolving.take_file(path)
        except KmergeError as error:
            self._screen.say(f"not as it stands: {words(error)}", "yellow")
            return None
        self._whole.add(path)
        self.staged[path] = None
        self.failed.pop(path, None)
        return self._next(at)

    def _next(self, at: int) -> int:
        """The next question that waits for an answer; behind the last one if there is none."""
        left = self._left()
        after = range(at + 1, len(self._questions))
        return next((n for n in after if self._questions[n].id in left), len(self._questions))

    # -- what is written

    def _write(self, paths: Iterable[str]) -> None:
        """Write the files that are decided, and those that were and are not any more."""
        left = {question.path for question in self._resolving.left}
        ready = [path for path in sorted(paths) if path not in left or path in self.staged]
        self._put(ready)
        for path in ready:
            if path in self.failed:
                self._screen.say(f"not written: {path}: {self.failed[path]}", "yellow")
            else:
                done = "decided, written and staged"
                done = done if stages(self._resolving) else "decided and written"
                said = done if path in self.staged else "in conflict again"
                self._screen.say(f"{path}: {said}", "dim")

    def write_rest(self) -> None:
        """What is left when nothing more is asked: markers, and files that need no answer."""
        paths = dict.fromkeys([question.path for question in self._questions])
        self._put([*(p for p in paths if p not in self.staged), *self._resolving.settled])

    def _put(self, paths: list[str]) -> None:
        """Write all of them at once; or one by one, so that one stands in nobody's way."""
        if not paths:
            return
        try:
            staged = self._resolving.put(paths)
        except KmergeError as error:
            if len(paths) > 1:
                for path in paths:
                    self._put([path])
            else:
                self.failed[paths[0]] = words(error)
            return
        for path in paths:
            self.failed.pop(path, None)
            self.staged.pop(path, None)
        self.staged |= dict.fromkeys(staged)

    # -- what is shown

    def _show(self, at: int) -> None:
        question = self._questions[at]
        self._shown_for = self._screen.room()
        around = Around(
            at + 1,
            len(self._questions),
            self._resolving.operation.labels,
            in_short(self._resolving.answers.get(question.id)),
            self._authors.of(question) if self._authors else {},
        )
        self._screen.rows(picture(question, around, self._shown_for))


if TYPE_CHECKING:
    Labels = tuple[str, str, str]

SIDES = ("base", "ours", "theirs")
_OF_A_SHELL = "|&;<>()$`\\\"' \t\n*?[#~=%"  # git's own list
_NOTE = "# kmerge: "
_HOW = "saved unchanged or empty it is no answer; lines like this one are not part of it"


class NoAnswer(KmergeError):
    """The editor was left without an answer."""


def draft(question: Question, labels: Labels, value: str | None = None) -> str:
    """What the editor shows: an explanation, and the value or the lines; `value` stands so far."""
    names = dict(zip(SIDES, map(label, labels), strict=True))
    about = [f"{question.path}: {question.conflict.shown()}"]
    if question.kind != "value":
        about += ["leave the lines as they shall stand, without markers;", _HOW]
        return _noted(about) + _marked(question, names)
    for side in SIDES:
        found = question.values.side(side)
        told = "(none)" if found is None else found.removesuffix("\n")
        about.append(f"{side} ({names[side]}): {told}")
    about += ["the value stands below, as YAML;", _HOW]
    given = value or question.values.side("ours") or question.values.side("theirs") or ""
    return _noted(about) + given.removesuffix("\n") + "\n"


def edited(text: str) -> str:
    """What the editor makes of a text; `NoAnswer` if it fails, or leaves all as it was."""
    program = _editor()
    with tempfile.TemporaryDirectory(prefix="kmerge-") as folder:  # nobody else may read it
        file = Path(folder, "kmerge-edit.yaml")
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        code = _run(program, str(file))
        if code:
            how = f"ended with {code}" if code > 0 else f"was ended by signal {-code}"
            raise NoAnswer(f"the editor {how}")
        try:
            found = file.read_bytes().decode()
        except OSError as error:
            raise NoAnswer(f"what the editor left cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise NoAnswer("what the editor left is no UTF-8") from error
    if found == text:
        raise NoAnswer("nothing was changed")
    return found.replace("\r\n", "\n")


def written(question: Question, text: str) -> str:
    """What a person wrote below the explanation; an error if it is nothing, or no decision."""
    lines = text.split("\n")
    while lines and lines[0].startswith(_NOTE.rstrip()):
        del lines[0]
    left = "\n".join(lines)
    if not left.strip():
        raise NoAnswer("it is empty")
    if question.kind != "value":
        size = _size(question)
        signs = tuple(sign * size for sign in "<|>")
        if any(line.startswith(signs) or line == "=" * size for line in lines):
            raise KmergeError("a line of the markers is left in it")
    return left


def _run(program: str, file: str) -> int:
    """Run an editor as git does: by a shell if it is more than a name; the file is an argument."""
    if program == ":":
        return 0
    argv = [program, file]
    if any(char in _OF_A_SHELL for char in program):
        argv = ["sh", "-c", f'{program} "$@"', program, file]
    try:
        return subprocess.call(argv)
    except OSError as error:
        raise NoAnswer(f"the editor does not start: {error.strerror}") from error


def _editor() -> str:
    """The editor that git would start."""
    asked = ask_git("var", "GIT_EDITOR", env=dict(os.environ))
    if asked.code or not asked.line:
        what = asked.complaint.removeprefix("error: ") or "git names no editor"
        raise NoAnswer(what, hint="`git config core.editor` sets one")
    return asked.line


def _noted(lines: list[str]) -> str:
    return "".join(f"{_NOTE}{visible(line)}\n" for line in lines)


def _marked(question: Question, names: dict[str, str]) -> str:
    """The lines of the sides as a conflict is written."""
    size = _size(question)
    conflict = question.conflict  # as the lines stand in the file: so they are wanted
    base, ours, theirs = map(_ended, (conflict.base, conflict.ours, conflict.theirs))
    before = f"{'|' * size} base ({names['base']})\n{base}" if base else ""
    return (
        f"{'<' * size} ours ({names['ours']})\n{ours}{before}{'=' * size}\n"
        f"{theirs}{'>' * size} theirs ({names['theirs']})\n"
    )


def _size(question: Question) -> int:
    """Longer than anything of the kind that a side has."""
    size = 7
    conflict = question.conflict
    lines = "\n".join((conflict.base, conflict.ours, conflict.theirs)).split("\n")
    while any(line.startswith(tuple(sign * size for sign in "<|=>")) for line in lines):
        size += 1
    return size


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
