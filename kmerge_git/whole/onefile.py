"""One file merged out of three others, whose conflicts are answered where it stands: a merge tool.

No index is asked and none is written; nothing is kept but the file itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kmerge_git.errors import Refused
from kmerge_git.git.files import replace_file
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.text.markers import first_marker
from kmerge_git.whole.kept import Kept
from kmerge_git.whole.merging import Both
from kmerge_git.whole.operation import UNKNOWN
from kmerge_git.whole.questions import AskedFile
from kmerge_git.whole.resolving import Resolving
from kmerge_git.whole.settling import FileMerge


class OneFile(Resolving):
    """A file in conflict, its questions, and the answers so far."""

    def __init__(self, path: str, both: Both, three: Three[bytes | None], options: Options) -> None:
        outcome = both.outcome
        file = FileMerge(path, "", "conflict", outcome.reason, outcome.text, both=both, three=three)
        self._file = AskedFile(file, options)
        self._path = path
        self._kept = _Nowhere(Path(path).parent)
        self._asked = {path: self._file}
        self._answers = {path: {}}
        self._whole = set()
        self._to_settle = {}
        self._written = outcome.text
        self.operation = replace(UNKNOWN, name="mergetool", labels=options.labels)
        self.problems = ()
        self.questions = self._file.questions

    @property
    def unasked(self) -> tuple[tuple[str, str], ...]:
        """There is no other file."""
        return ()

    def take_file(self, path: str) -> None:
        """Let the file be as it stands, whatever was answered before."""
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
        if first_marker(text) >= 0:
            raise Refused("conflict markers are left in it", path=path)
        self._whole.add(path)

    def put(self, paths: Iterable[str] | None = None) -> tuple[str, ...]:
        """Write the file with its answers; it is told if none is missing."""
        if self._whole:
            return (self._path,)
        self.check()
        target, answers = Path(self._path), self._answers[self._path]
        if target.read_bytes() != self._written:
            raise Refused("it was edited meanwhile", path=self._path)
        data = self._file.data(answers) or b""
        if data != self._written:
            replace_file(target, data, executable=False, drafts=target.parent)
            self._written = data
        return () if self.left else (self._path,)


class _Nowhere(Kept):
    """Answers that nobody will ask for again."""

    def _load(self) -> None:
        pass

    def _save(self) -> None:
        pass
