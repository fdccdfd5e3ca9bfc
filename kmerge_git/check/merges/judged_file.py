"""Compare a merged file with its sides by value, whoever merged it.

A change that git's lines or kmerge merge without asking, and that the result lacks, is an error:
nobody had to decide it. If the place was in conflict, somebody may have decided it, so it is a
warning.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache

from kmerge_git.check.registry import ERROR, INFO, WARNING
from kmerge_git.errors import KmergeError
from kmerge_git.kube import fieldpath
from kmerge_git.kube.identity import identity
from kmerge_git.outcome import SIDES
from kmerge_git.text.opaque_files import holds_seal, is_chart_text
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.merges.merged_files import SidedFile
    from kmerge_git.merge.three import Three
    from kmerge_git.tree.documents import Document
    from kmerge_git.tree.nodes import Node
    from kmerge_git.verdict.losses import Judged


@lru_cache(maxsize=1)  # M11 and M28 ask about the same file, one after the other
def judged_file(merged: SidedFile) -> JudgedFile:
    """Return the comparison of a merged file with its sides by value."""
    return JudgedFile(merged)


class JudgedFile:
    """Compare a merged file by value: find its lost changes, and sides that were dropped."""

    def __init__(self, merged: SidedFile) -> None:
        self.why = ""  # the reason why there are no rows
        self._merged = merged
        self._path = merged.result.path
        self._texts = merged.sides.map(lambda side: side or YamlText(b"", self._path))
        self._versions: Three[bytes] = self._texts.map(lambda text: text.data)

    @cached_property
    def _is_template(self) -> bool:
        """Return whether the file is a Helm template, which is judged by its readings."""
        has_actions = b"{{" in self._merged.result.data
        return is_chart_text(self._path) or (has_actions and not self._merged.is_yaml)

    def _rows(self, lost_of: str = "") -> list[Judged]:
        """Return what became of each place, or [] if the file cannot be judged by value."""
        from kmerge_git.verdict.losses import judged  # late: few commits are merges

        if not (self._is_template or self._merged.is_yaml):
            self.why = "it is not YAML"
            return []
        try:
            return judged(
                self._texts,
                self._merged.result,
                is_template=self._is_template,
                elsewhere=self._elsewhere,
                lost_of=lost_of,
            )
        except KmergeError as error:
            self.why = error.why
            return []

    def table(self) -> list[dict[str, str]]:
        """Return the rows for programs."""
        return [
            {
                "resource": row.resource,
                "field": fieldpath.show(row.path),
                "what": row.what,
                "verdict": row.verdict,
                "side": row.side,
                "taken": row.taken,
                "base": row.values.base,
                "ours": row.values.ours,
                "theirs": row.values.theirs,
                "result": row.result,
            }
            for row in self._rows()
        ]

    @cached_property
    def lost(self) -> list[Judged]:
        """Return the lost changes, in the order of the file."""
        if self._has_every_line or self.is_whole or self._gravest == INFO:
            return []
        return [row for row in self._changes if row.verdict == "lost"]

    @cached_property
    def _changes(self) -> list[Judged]:
        """Return the places that may be lost, without those of other checks.

        M21 knows whether what both sides have got another name; elements without a key have none.
        """
        result, at = self._merged.result, self._texts
        other = "theirs" if result is at.ours else "ours" if result is at.theirs else "both"
        rows = self._rows(other)
        if other != "both" and any(r.verdict == "lost" and r.side != other for r in rows):
            rows = self._rows("both")  # a resource is in another file of the result
        return [
            row
            for row in rows
            if not (_is_of_documents(row) or (row.is_gone and not isinstance(row.path[-1], int)))
        ]

    @cached_property
    def is_whole(self) -> bool:
        """Return whether the file has no fields to compare: encrypted, generated, or not merged."""
        return not self._gravest or holds_seal(*self._versions.each())

    @property
    def is_of_one_side(self) -> bool:
        """Return whether one side alone changed the file."""
        return self._versions.base in (self._versions.ours, self._versions.theirs)

    @cached_property
    def dropped(self) -> list[str]:
        """Return the sides that changed something, and of whose changes the result has none."""
        from kmerge_git.verdict.losses import is_dropped

        sides = [side for side in SIDES if self.lost and is_dropped(self._changes, side)]
        return [side for side in sides if not self._has_lines_of(side)]

    def _has_lines_of(self, side: str) -> bool:
        """Return whether the result has, or lacks, a line only because of a side."""
        base, result = (_lines(data) for data in (self._versions.base, self._merged.result.data))
        own, other = (
            _lines(self._versions.side(s)) for s in (side, *(s for s in SIDES if s != side))
        )
        return not result.isdisjoint(own - base - other) or not result >= (base & other) - own

    def severity(self, rows: list[Judged]) -> str:
        """Return the severity of lost changes: an error if one was not in conflict."""
        is_grave = self._gravest == ERROR and any(row in self._unasked for row in rows)
        return ERROR if is_grave else WARNING

    @cached_property
    def _gravest(self) -> str:
        return self._merged.gravest()

    @cached_property
    def _unasked(self) -> list[Judged]:
        """Return the lost changes that git's lines or kmerge merge without asking anybody.

        Where both sides added things that may be one, in a list without keys or in a new file,
        kmerge keeps both; a person who keeps one of them has decided.
        """
        from kmerge_git.api import merge_files
        from kmerge_git.text.linemerge import TemporaryFiles

        by_git, count = TemporaryFiles(self._versions.each()).result()
        lines = by_git, count == 0
        made = merge_files(*self._versions.each(), path=self._path, line_merge=lambda *_: lines)
        in_lines = self._lost_of(*lines)
        in_ours = self._lost_of(made.text, made.clean) if self._versions.base else []
        return in_lines + [row for row in in_ours if not any(isinstance(n, int) for n in row.path)]

    def _lost_of(self, text: bytes, is_clean: bool) -> list[Judged]:
        """Return the lost changes that a merge of the versions has."""
        from kmerge_git.verdict.losses import without_asking

        merged = YamlText(text, self._path), is_clean
        return without_asking(self.lost, self._texts, merged, is_template=self._is_template)

    @property
    def _has_every_line(self) -> bool:
        """Return whether the result has the lines that the changes of both sides come to."""
        base, ours, theirs = (Counter(data.split(b"\n")) for data in self._versions.each())
        expected = ours + theirs
        expected.subtract(base)
        return Counter(self._merged.result.data.split(b"\n")) == +expected

    def _elsewhere(self, document: Document) -> Node | None:
        known = identity(document.root) if document.root is not None else None
        return self._merged.gained(known) if known is not None and known.name else None


def _is_of_documents(row: Judged) -> bool:
    """Return whether a place is the order of documents, which no cluster depends on."""
    return row.kind == "order" and not row.path


def _lines(data: bytes) -> set[bytes]:
    return {line.strip() for line in data.split(b"\n") if line.strip()}
