"""Merge the lines of whole repositories as git does, where it can be in this process.

libgit2 merges over blobs in memory. A text with markers comes from `git merge-file` itself, and so
does every merge where libgit2 is not installed.
"""

from __future__ import annotations

from functools import cached_property

from kmerge_git.outcome import Options
from kmerge_git.text.linemerge import TemporaryFiles
from kmerge_git.text.opaque_files import is_binary

Texts = tuple[bytes, bytes, bytes]  # base, ours, theirs


class LineMerges:
    """Merge the lines of many files."""

    def __init__(self) -> None:
        try:
            from kmerge_git.git.libgit2 import InMemoryLines  # it may not be installed

            self._memory: InMemoryLines | None = InMemoryLines()
        except ImportError:
            self._memory = None

    def merge_file(self, texts: Texts, options: Options) -> tuple[bytes, int]:
        """Return the text and the number of conflicts, as `git merge-file` does.

        The number is -1 if git cannot merge.
        """
        return MergedLines(self, texts, options).result()

    @property
    def is_in_memory(self) -> bool:
        """True if libgit2 merges what needs no markers."""
        return self._memory is not None

    def without_markers(self, texts: Texts, favor: str) -> bytes | None:
        """Return the merged text if no marker is needed, or None if git must be asked."""
        return self._memory.merged(texts, favor) if self._memory else None

    def readings(self, texts: Texts, *, patience: bool = False) -> tuple[bytes, bytes]:
        """Return two merged texts: one takes ours in every conflict, the other takes theirs."""
        if any(map(is_binary, texts)):
            return b"", b""
        ours, theirs = (self._reading(texts, side, patience) for side in ("ours", "theirs"))
        return ours, theirs

    def _reading(self, texts: Texts, side: str, patience: bool) -> bytes:
        text = self._memory.merged(texts, side, patience=patience) if self._memory else None
        return TemporaryFiles(texts, favor=side).result()[0] if text is None else text


class MergedLines:
    """Hold the line merge of one file, of which each part is made when it is first read."""

    def __init__(self, merges: LineMerges, texts: Texts, options: Options) -> None:
        self._merges = merges
        self._texts = texts
        self._options = options

    @property
    def clean(self) -> bool:
        """True if there is no conflict; git is not asked if libgit2 has found one."""
        if self._plain is None and self._merges.is_in_memory:
            return False
        return self.result()[1] == 0

    @property
    def text(self) -> bytes:
        """The merged text; git keeps ours if it cannot merge, as a binary file."""
        text, count = self.result()
        return text if count >= 0 else self._texts[1]

    def result(self) -> tuple[bytes, int]:
        """Return the text, with markers for conflicts, and the number of conflicts.

        The result is (b"", -1) if git cannot merge.
        """
        return self._by_git if self._plain is None else (self._plain, 0)

    @cached_property
    def _is_binary(self) -> bool:
        return any(map(is_binary, self._texts))  # git takes no side of binary files either

    @cached_property
    def _plain(self) -> bytes | None:
        if self._is_binary:
            return None
        return self._merges.without_markers(self._texts, self._options.favor or "")

    @cached_property
    def _by_git(self) -> tuple[bytes, int]:
        if self._is_binary:
            return b"", -1
        given = self._options
        return TemporaryFiles(
            self._texts,
            marker_size=given.marker_size,
            labels=given.labels,
            style=given.style,
            favor=given.favor or "",
        ).result()
