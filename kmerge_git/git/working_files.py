"""Ask git how files of a working tree are treated: by attributes, line ends and `ident`.

libgit2 could tell this in the same process, but it reads no pattern in quotes, and a file whose
line ends it then misses would be written with the wrong ones.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import IO

from kmerge_git.errors import GitFailed
from kmerge_git.git.run_git import GitAnswer, GitProcess, ask_git
from kmerge_git.git.settings import ATTRIBUTES
from kmerge_git.git.spawned_git import attributes_by_path

_CONVERSIONS = ("text", "eol", "crlf", "ident")
_NAMES = (*ATTRIBUTES, "merge", "filter", "working-tree-encoding", *_CONVERSIONS)


class WorkingFiles:
    """Ask git about the files of one working tree; attributes are read once by path."""

    def __init__(
        self,
        words: list[str],
        cwd: str,
        env: Mapping[str, str],
        settings: Callable[[], list[tuple[str, str]]],
    ) -> None:
        self._words = words
        self._cwd = cwd
        self._env = env
        self._settings = settings
        self._process: GitProcess | None = None
        self._known: dict[str, dict[str, str]] = {}
        self._expected: list[str] = []

    def close(self) -> None:
        """End the process and forget what it said."""
        self._process = None
        self._known = {}

    def expect(self, paths: Iterable[str]) -> None:
        """Note paths whose attributes will be read: git is asked for all of them at once."""
        self._expected = [path for path in paths if path not in self._known]

    def attribute(self, path: str, name: str) -> str | None:
        """Return an attribute of a path in git's words, or None if no value is specified."""
        if path in self._expected:
            listing = b"".join(os.fsencode(each) + b"\0" for each in self._expected)
            asked = ("check-attr", "-z", "--stdin", *_NAMES)
            answer = self._ask(*asked, stdin=listing, more={"GIT_FLUSH": "0"}).checked().data
            self._known |= attributes_by_path(answer)
            self._expected = []
        if path not in self._known:
            self._known[path] = self._asked(path)
        return self._known[path].get(name)

    def _asked(self, path: str) -> dict[str, str]:
        if self._process is None:
            asked = (*self._words, "check-attr", "-z", "--stdin", *_NAMES)
            self._process = GitProcess(*asked, cwd=self._cwd, env=self._env)
        out = self._process.ask(os.fsencode(path) + b"\0")
        answer = {}
        for _ in _NAMES:
            _, name, value = (_word(out) for _ in range(3))
            answer[name] = value
        return {name: value for name, value in answer.items() if value != "unspecified"}

    def converted(self, path: str, data: bytes, *, to_worktree: bool) -> bytes:
        """Convert bytes as git does on checkout or staging, by line ends and `ident` alone."""
        if not self._may_convert(path, data, to_worktree=to_worktree):
            return data
        # the object is not for the repository: it lies in a folder of its own
        with tempfile.TemporaryDirectory() as folder:
            objects = {"GIT_OBJECT_DIRECTORY": folder}
            at = f"--path={path}"
            stored, shown = ("--no-filters", ("--filters", at)) if to_worktree else (at, ("blob",))
            asked = ("hash-object", "-w", "--stdin", stored)
            oid = self._ask(*asked, stdin=data, more=objects).checked().line
            return self._ask("cat-file", *shown, oid, more=objects).checked().data

    def _may_convert(self, path: str, data: bytes, *, to_worktree: bool) -> bool:
        """Return whether git may change a file by line ends or `ident`, and no program does."""
        text, eol, crlf, ident = (self.attribute(path, name) for name in _CONVERSIONS)
        others = ("filter", "working-tree-encoding")
        if any(self.attribute(path, name) not in (None, "unset") for name in others):
            return False  # only git knows the file in the working tree
        if ident == "set" and b"$Id" in data:
            return True
        if to_worktree:
            return eol == "crlf" or self._by_default
        return b"\r\n" in data and (any((text, eol, crlf)) or self._by_default)

    @cached_property
    def _by_default(self) -> bool:
        """True if git's settings may change line ends."""
        return any(
            value.lower() not in ("false", "no", "off", "0", "lf", "native")
            for key, value in self._settings()
            if key in ("core.autocrlf", "core.eol")
        )

    def _ask(self, *words: str, stdin: bytes = b"", more: Mapping[str, str]) -> GitAnswer:
        env = {**self._env, **more}
        return ask_git(*self._words, *words, cwd=self._cwd, stdin=stdin, env=env)


def _word(out: IO[bytes]) -> str:
    """Read up to the next NUL."""
    word = b""
    while (char := out.read(1)) != b"\0":
        if not char:
            raise GitFailed(["git", "check-attr"], 1, "git stopped before it answered; try again")
        word += char
    return os.fsdecode(word)
