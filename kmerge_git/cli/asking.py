"""Ask a person about the conflicts, one after the other (`kmerge resolve` on a terminal).

The person answers with a key, or writes a value or lines in git's editor.
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

from kmerge_git.bounds import SAME_LINES, SHOWN_REFUSALS
from kmerge_git.cli.question_screen import (
    AGAIN,
    ENTER,
    RESIZED,
    Around,
    Keys,
    Screen,
    Size,
    in_short,
    picture,
    side_of,
)
from kmerge_git.cli.resolve_report import stages, tell_end, tell_settled
from kmerge_git.errors import KmergeError
from kmerge_git.git.repository import last_change
from kmerge_git.git.run_git import ask_git
from kmerge_git.merge.finish.possible_answers import ended
from kmerge_git.text.markers import marker_size_for
from kmerge_git.text.pieces import VERSIONS
from kmerge_git.visible import counted, label, visible
from kmerge_git.whole.resolving import give, give_choice, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kmerge_git.git.index_stages import Operation
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.conflict_questions import Question
    from kmerge_git.whole.resolving import Resolving


HOWS = {"o": "ours", "t": "theirs", "b": "both", "0": "base", "h": "higher", "r": "rebump"}
RESTS = {"O": "ours", "T": "theirs"}
# by key, in the order of the prompt: the words that are printed for the key, and the help
HELP = {
    "o": ("ours", "take ours"),
    "t": ("theirs", "take theirs"),
    "b": ("both", "take both, ours first"),
    "0": ("base", "take the base and drop both changes"),
    "h": ("higher", "take the higher of the two versions"),
    "r": ("rebump", "take a higher version than both"),
    "e": ("edit", "edit it in your editor"),
    "O": ("ours", "take ours for the rest of this file"),
    "T": ("theirs", "take theirs for the rest of this file"),
    "a": ("all like this", "answer all conflicts like this one"),
    "s": ("skip", "skip it and leave it unresolved"),
    "k": ("back", "go back to the previous conflict"),
    "d": ("this file", "take this file as it is on disk"),
    "q": ("stop", "stop and keep the answers"),
    "?": ("", "show this list"),
}
_OF_A_SHELL = "|&;<>()$`\\\"' \t\n*?[#~=%"  # characters for which git uses a shell
_NOTE = "# kmerge: "
_HOW = "to give no answer, leave this text unchanged; lines like this one are removed"


def ask(resolving: Resolving, options: argparse.Namespace) -> int:
    """Ask until every conflict is answered or the person stops; return 1 if conflicts are left."""
    if isinstance(sys.stdout, TextIOWrapper):  # some terminals cannot show every character
        sys.stdout.reconfigure(errors="backslashreplace")
    screen = Screen(sys.stdout)
    authors_of = None
    if getattr(options, "blame", False):
        from kmerge_git.git.repository import Repository

        authors_of = Authors(Repository.open(), resolving.operation).of
    with Keys(sys.stdin) as keys:
        asking = Asking(resolving, screen, keys, authors_of)
        try:
            asking.settle()
            asking.run()
        except KeyboardInterrupt:  # Ctrl-C was pressed twice, or while git was at work
            screen.echo("")
        if not keys.is_killed:
            asking.write_rest()
    return tell_end(resolving, asking.staged, asking.failed)


class Asking:
    """Ask the questions one after another and write the answered files."""

    def __init__(
        self,
        resolving: Resolving,
        screen: Screen,
        keys: Keys,
        authors_of: Callable[[Question], Mapping[str, str]] | None = None,
    ) -> None:
        self._resolving = resolving
        self._questions = resolving.questions
        self._screen = screen
        self._keys = keys
        self._authors_of = authors_of
        self._shown_for = Size()
        self._whole: set[str] = set()  # files taken as they are in the working tree
        self.staged: dict[str, None] = {}  # in the order of staging
        self.failed: dict[str, str] = {}  # files that could not be written, and why

    def settle(self) -> None:
        """Stage the files that need no answer, and print them."""
        self._put(list(self._resolving.settled))
        tell_settled(self._resolving, self.staged)

    def run(self) -> None:
        """Ask the questions, from the first question without an answer."""
        at = self._next(-1)
        if self._questions:
            known = len(self._questions) - len(self._resolving.left)
            before = f", {known} already answered" if known else ""
            self._screen.say(
                f"{_conflicts(self._questions)}{before}; press `?` for help, "
                "or `q` to stop and keep the answers"
            )
        while at < len(self._questions):
            at = self._question(at)

    def _question(self, at: int) -> int:
        """Ask one question until the person moves on; return the number of the next question."""
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
        """Return the key that the person presses next; at the end of the input return `q`."""
        self._screen.prompt(prompt)
        key = self._keys.read()
        if key is None or key in (AGAIN, RESIZED):
            self._screen.echo("")
        elif not self._keys.echoes:
            self._screen.echo(HELP.get(key, (key,))[0])
        return "q" if key is None else key

    def _keys_here(self, at: int) -> list[str]:
        how, choices = HOWS | RESTS, self._questions[at].choices
        return [key for key in HELP if (how[key] in choices if key in how else at or key != "k")]

    def _do(self, key: str, at: int) -> int | None:
        """Carry out a key's command; return the next question's number, or None to ask again."""
        if key in HOWS:
            return self._give([self._questions[at]], HOWS[key], at)
        if key in RESTS:
            rest = [q for q in self._questions[at:] if q.path == self._questions[at].path]
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
            keys = self._keys_here(at)
            self._screen.rows(((f"{name}  {HELP[name][1]}", ""),) for name in keys)
        else:
            self._screen.say("this key is unknown; press `?` to list the keys", "yellow")
        return None

    # -- the keys

    def _give(self, questions: Sequence[Question], how: str, at: int) -> int | None:
        """Give several questions the same answer; print why a question cannot have this answer."""
        refused = give_choice(self._resolving, questions, how)
        ids = {question.id for question, _ in refused}
        answered = [question for question in questions if question.id not in ids]
        if len(questions) > 1:
            self._screen.say(f"{how}: {_conflicts(answered)}")
        elif answered:
            self._say_answer(answered[0])
        for question, why in refused[:SHOWN_REFUSALS]:
            place = f"{question.path}: {question.conflict.spot}: " if len(questions) > 1 else ""
            self._screen.say(f"cannot use this answer: {place}{why}", "yellow")
        if len(refused) > SHOWN_REFUSALS:
            self._screen.say(f"and {len(refused) - SHOWN_REFUSALS} more", "yellow")
        self._write({question.path for question in answered})
        return None if self._questions[at].id in ids else self._next(at)

    def _say_answer(self, question: Question) -> None:
        self._screen.say(in_short(question, self._resolving.answers[question.id]), most=1)

    def _all_like(self, at: int, key: str) -> int | None:
        """Give the same answer to all open conflicts, in all files, that are like this one."""
        here = self._questions[at]
        like = [q for q in self._questions if q is here or (here.name and q.is_like(here))]
        like = self._open(like, at)
        name = f": {here.name}, {here.conflict.why}" if here.name else ""
        self._screen.say(f"{_conflicts(like)} like this{name}")
        key = key or self._asked_for_all(like)
        if key not in HOWS:
            self._screen.say("no conflict got an answer", "yellow")
            return len(self._questions) if key == "q" else None
        return self._give(like, HOWS[key], at)

    def _asked_for_all(self, like: Sequence[Question]) -> str:
        keys = [key for key, how in HOWS.items() if any(how in q.choices for q in like)]
        key = RESIZED
        while key in (AGAIN, RESIZED):
            key = self._asked(f"Which answer for all? [{','.join(keys)}; other keys: none]")
        return key

    def _open(self, questions: Sequence[Question], at: int) -> list[Question]:
        """Return the questions that have no answer, and the present question in any case."""
        here, left = self._questions[at], self._left()
        return [q for q in questions if q is here or q.id in left]

    def _left(self) -> set[str]:
        return {question.id for question in self._resolving.left}

    def _edit(self, at: int) -> int | None:
        """Let the person write an answer in an editor; offer a new try if the answer is refused."""
        question = self._questions[at]
        text = draft(question, self._resolving.operation.labels)
        while True:
            try:
                with self._keys.lent():
                    text = edited(text)
                engine = self._resolving
                make = engine.answer_with if question.kind == "value" else engine.answer_lines
                refused = give(engine, [(question, make(question, written(question, text)))])
            except NoAnswer as none:
                self._screen.say(f"no answer was given: {words(none)}", "yellow")
                return None
            except KmergeError as error:
                refused = [(question, words(error))]
            if not refused:
                self._say_answer(question)
                self._write({question.path})
                return self._next(at)
            self._screen.say(f"cannot use this answer: {refused[0][1]}", "yellow")
            if self._asked("Edit the answer again? [y,n]") not in ("y", "Y", "e"):
                return None

    def _skip(self, at: int) -> int | None:
        """Leave a conflict undecided, even if it was decided before."""
        question = self._questions[at]
        if question.id in self._resolving.answers:
            self._resolving.give(question, None)
            self._write({question.path})
        return self._next(at)

    def _back(self, at: int) -> int | None:
        before = next(
            (n for n in reversed(range(at)) if self._questions[n].path not in self._whole), None
        )
        if before is None:
            self._screen.say("this is the first question", "yellow")
        return before

    def _take_file(self, at: int) -> int | None:
        path = self._questions[at].path
        try:
            self._resolving.take_file(path)
        except KmergeError as error:
            self._screen.say(f"cannot use this file: {words(error)}", "yellow")
            return None
        self._screen.say(f"{path}: resolved with the file on disk", most=1)
        self._whole.add(path)
        self.staged[path] = None
        self.failed.pop(path, None)
        return self._next(at)

    def _next(self, at: int) -> int:
        """Return the next unanswered question's number, or the count of questions at the end."""
        left = self._left()
        after = range(at + 1, len(self._questions))
        return next((n for n in after if self._questions[n].id in left), len(self._questions))

    # -- files

    def _write(self, paths: Iterable[str]) -> None:
        """Write the files without open conflicts; rewrite files that are in conflict again."""
        left = {question.path for question in self._resolving.left}
        ready = [path for path in sorted(paths) if path not in left or path in self.staged]
        self._put(ready)
        for path in ready:
            if path in self.failed:
                self._screen.say(f"{path} was not written: {self.failed[path]}", "yellow")
            elif path not in self.staged:
                self._screen.say(f"{path}: in conflict again", "dim")
            else:
                done = ", written and staged" if stages(self._resolving) else " and written"
                self._screen.say(f"{path}: resolved{done}", "dim")

    def write_rest(self) -> None:
        """Write the files that still have conflicts."""
        paths = dict.fromkeys(question.path for question in self._questions)
        self._put([path for path in paths if path not in self.staged])

    def _put(self, paths: list[str]) -> None:
        """Write files together; after an error write each file alone to find the unwritable one."""
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

    # -- the screen

    def _show(self, at: int) -> None:
        question = self._questions[at]
        self._shown_for = self._screen.room()
        around = Around(
            at + 1,
            len(self._questions),
            self._resolving.operation.labels,
            in_short(question, self._resolving.answers.get(question.id)),
            self._authors_of(question) if self._authors_of else {},
            self._higher(question),
            *self._resolving.around(question),
        )
        self._screen.rows(picture(question, around, self._shown_for))

    def _higher(self, question: Question) -> str:
        return (
            side_of(question, self._resolving.untried_answer(question, "higher"))
            if "higher" in question.choices
            else ""
        )


def _conflicts(questions: Sequence[Question]) -> str:
    files = len({question.path for question in questions})
    return f"{counted(len(questions), 'conflict')} in {counted(files, 'file')}"


# -- an answer from an editor


class NoAnswer(KmergeError):
    """Report that the user left the editor without an answer."""


def draft(question: Question, labels: tuple[str, str, str]) -> str:
    """Return the text for the editor: an explanation, then the value or the lines."""
    names = dict(zip(VERSIONS, map(label, labels), strict=True))
    about = [f"{question.path}: {question.conflict.shown()}"]
    if question.kind != "value":
        about += ["edit the lines, and delete the conflict markers;", _HOW]
        return _noted(about) + _marked(question, names)
    for side in VERSIONS:
        value = question.values.side(side)
        shown = "(none)" if value is None else value.removesuffix("\n")
        about.append(f"{side} ({names[side]}): {shown}")
    about += ["edit the YAML value below;", _HOW]
    given = question.values.ours or question.values.theirs or ""
    return _noted(about) + given.removesuffix("\n") + "\n"


def edited(text: str) -> str:
    """Let the person edit a text; return the new text, or raise `NoAnswer` without a change."""
    program = _editor()
    with tempfile.TemporaryDirectory(prefix="kmerge-") as folder:  # nobody else may read it
        file = Path(folder, "kmerge-edit.yaml")
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        code = _run(program, str(file))
        if code:
            how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
            raise NoAnswer(f"the editor {how}")
        try:
            after = file.read_bytes().decode()
        except OSError as error:
            raise NoAnswer(f"the edited text cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise NoAnswer("the edited text is not UTF-8; save the file as UTF-8") from error
    if after == text:
        raise NoAnswer("the text was not changed")
    return after.replace("\r\n", "\n")


def written(question: Question, text: str) -> str:
    """Return the text below the explanation, which is the answer.

    Raise an error if the text is empty or a conflict marker is left.
    """
    lines = text.split("\n")
    while lines and lines[0].startswith(_NOTE.rstrip()):
        del lines[0]
    left = "\n".join(lines)
    if not left.strip():
        raise NoAnswer("the text is empty")
    if question.kind != "value":
        size = marker_size_for(_lines_of_sides(question))
        signs = tuple(sign * size for sign in "<|>")
        if any(line.startswith(signs) or line == "=" * size for line in lines):
            raise KmergeError("the text still has a conflict marker")
    return left


def _run(program: str, file: str) -> int:
    """Run an editor on a file as git does, and return the exit code of the editor.

    A command with special characters is run by a shell.
    """
    if program == ":":
        return 0
    argv = [program, file]
    if any(char in _OF_A_SHELL for char in program):
        argv = ["sh", "-c", f'{program} "$@"', program, file]
    try:
        return subprocess.call(argv)
    except OSError as error:
        raise NoAnswer(f"the editor cannot be started: {error.strerror}") from error


def _editor() -> str:
    """Return the editor that git would start."""
    answer = ask_git("var", "GIT_EDITOR", env=dict(os.environ))
    if answer.code or not answer.line:
        why = answer.complaint.removeprefix("error: ") or "no editor is set for git"
        raise NoAnswer(why, hint="set one with `git config core.editor`")
    return answer.line


def _noted(lines: list[str]) -> str:
    return "".join(f"{_NOTE}{visible(line)}\n" for line in lines)


def _marked(question: Question, names: dict[str, str]) -> str:
    """Return the lines of both sides as a conflict with markers."""
    size = marker_size_for(_lines_of_sides(question))
    base, ours, theirs = map(ended, _lines_of_sides(question))
    before = f"{'|' * size} base ({names['base']})\n{base}" if base else ""
    return (
        f"{'<' * size} ours ({names['ours']})\n{ours}{before}{'=' * size}\n"
        f"{theirs}{'>' * size} theirs ({names['theirs']})\n"
    )


def _lines_of_sides(question: Question) -> tuple[str, str, str]:
    conflict = question.conflict
    return conflict.base, conflict.ours, conflict.theirs


# the refs that may name the commit of theirs
_NAMES = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD", "REVERT_HEAD^")


class Authors:
    """Find the authors of the two sides of a merge, rebase or other operation."""

    def __init__(self, repository: Repository, operation: Operation) -> None:
        self._repository = repository
        self._trees = {"ours": operation.ours, "theirs": operation.theirs}
        self._revisions = self._commits(operation) if operation.is_known else {}

    def of(self, question: Question) -> dict[str, str]:
        """Return a text like `a1b2c3d4e5 Ada: subject` by side, if the last change is certain."""
        authors = {}
        for side, revision in self._revisions.items():
            lines = question.conflict.ours if side == "ours" else question.conflict.theirs
            changes = {
                last_change(self._repository.worktree or ".", revision, question.path, *span)
                for span in self._spans(side, question.path, lines)
            }
            change = changes.pop() if len(changes) == 1 else None
            if change is not None:
                authors[side] = f"{change[0]} {change[1]}: {change[2]}"
        return authors

    def _commits(self, operation: Operation) -> dict[str, str]:
        """Return the commit of each side; for a stash, theirs is the commit of `git stash`."""
        commits = {"ours": "HEAD"}
        for name in (*_NAMES, *(self._repository.stashes() if operation.name == "stash" else ())):
            try:
                commit = self._repository.commit(name)
            except KmergeError:
                continue
            if commit.tree == operation.theirs:
                return commits | {"theirs": commit.oid}
        return commits

    def _spans(self, side: str, path: str, lines: str) -> list[tuple[int, int]]:
        """Find lines in a side's file; return the first and last line number of each place."""
        entry = self._repository.entry(self._trees[side], path)
        if not lines or entry is None:
            return []
        text = "\n" + self._repository.blob(entry.oid).decode("utf-8", "replace")
        text = text.replace("\r\n", "\n")
        wanted = "\n" + lines.removesuffix("\n")
        spans = []
        at = text.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            if text[end : end + 1] in ("", "\n"):
                first = text.count("\n", 0, at + 1)
                spans.append((first, first + wanted.count("\n") - 1))
            at = text.find(wanted, end)
        return spans if len(spans) <= SAME_LINES else []
