"""An answer that a person writes: the value or the lines of a conflict in git's editor."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from kmerge_git.errors import KmergeError
from kmerge_git.git.call import ask_git
from kmerge_git.visible import label, visible

if TYPE_CHECKING:
    from kmerge_git.whole.questions import Question

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
