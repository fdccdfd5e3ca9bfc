"""How far `kmerge check` reads what files name: to the borders of the repository.

A kustomization of a stranger may name `/etc/passwd`, a device that never ends, or a link to
either: nothing of that is read or told. What the command line names is read wherever it is.
"""

from __future__ import annotations

import os

from kmerge_git.cli.files import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Bounds:
    """What lies in the repository around this folder, and around files that are named outside."""

    __slots__ = ("_given", "_real", "_stdin", "_top", "_tops")

    def __init__(self, given: Iterable[str], top: Callable[[], str]) -> None:
        self._stdin: bytes | None = None  # it can be read once
        self._top = top  # of the working tree around this folder; nothing: there is none
        self._given = [os.path.abspath(path) for path in given]
        self._tops: list[str] = []
        self._real: dict[str, str] = {}  # folders, and where they are

    def read(self, path: str) -> bytes | None:
        """A file; what is outside or no plain file only where the command line names it."""
        if path == "-" and os.path.abspath(path) in self._given and not os.path.lexists(path):
            if self._stdin is None:
                self._stdin = read(path)
            return self._stdin
        named = os.path.abspath(path) in self._given and not self._is_ours(path)
        if not named and (not os.path.isfile(path) or self.is_outside(path)):
            return None
        try:
            with open(path, "rb") as file:
                return file.read()
        except (OSError, ValueError):
            return None

    def is_directory(self, path: str) -> bool:
        """Whether a folder is there, and within the bounds."""
        return os.path.isdir(path) and not self.is_outside(path)

    def is_outside(self, path: str) -> bool:
        """Whether a file or folder lies beyond, or what it is a link to."""
        if path.partition(":")[2].startswith("../"):  # of a commit: REV:../PATH
            return True
        folder, name = os.path.split(path)
        if name in ("", ".", "..") or os.path.islink(path):
            return not _is_below(os.path.realpath(path), self._all_tops())
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        return not _is_below(os.path.join(self._real[folder], name), self._all_tops())

    def _is_ours(self, path: str) -> bool:
        """Whether a path by its letters lies in the repository around this folder."""
        return _is_below(os.path.abspath(path), self._all_tops()[:1])

    def _all_tops(self) -> list[str]:
        if not self._tops:
            here = self._top()
            self._tops = [os.path.realpath(here) if here else os.sep]
            for path in self._given:
                if not _is_below(path, self._tops):
                    self._tops.append(_top_of(path))
        return self._tops


def _is_below(path: str, tops: list[str]) -> bool:
    return any(path == top or path.startswith(top.rstrip(os.sep) + os.sep) for top in tops)


def _top_of(path: str) -> str:
    """The repository around a file elsewhere; without one, all there is."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    folder = os.path.realpath(folder)
    while not os.path.exists(os.path.join(folder, ".git")):
        if folder == os.path.dirname(folder):
            return folder
        folder = os.path.dirname(folder)
    return folder
