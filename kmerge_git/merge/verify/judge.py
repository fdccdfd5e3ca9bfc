"""What the referee says about a result, and the conflicts that take the place of what is wrong.

The referee knows the inputs and the result alone. Here stands what it is asked about, and where
its answer leads: the place that cannot be right is a conflict in the next merge, then what is
around it.
"""

from __future__ import annotations

from kmerge_git.merge.plan import Why
from kmerge_git.merge.verify import damage
from kmerge_git.text.pieces import side_text
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split, split_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.merged import MergedFile
    from kmerge_git.merge.plan import Doubts
    from kmerge_git.merge.three import Three
    from kmerge_git.merge.verify.sites import Violation
    from kmerge_git.outcome import Options
    from kmerge_git.tree.documents import Document, Stream


class Referee:
    """The referee of one merge: it knows the inputs, and what a policy or a side settled."""

    __slots__ = ("_at", "_options", "_settled")

    def __init__(
        self, at: Three[Stream], options: Options, settled: Callable[[], list[tuple[str, Path]]]
    ) -> None:
        self._at = at
        self._options = options
        self._settled = settled  # tells the places that a policy or the favourite side decided

    def accepts(self, data: bytes) -> bool:
        """Whether git's line merge brings no damage, and is a merge of the inputs."""
        path = self._options.path
        if not damage.is_sound(data, self._at, path):
            return False
        return not self._violations(split(Source(data, path)))

    def objections(self, merged: MergedFile, read: list[Document]) -> list[Violation]:
        """What our merge cannot be right about; of one with conflicts, outside of these.

        `read`: the documents that the proof has read, and that need not be read again.
        """
        result = self._read(merged.decided("ours"))
        hunks = [hunk for _, hunk in merged.hunks()]
        if not hunks:
            return self._violations(result, None, read)
        found = self._violations(result, self._read(merged.decided("theirs")), read)
        # what a conflict speaks of is still to be decided
        shown = "\n".join(text for h in hunks for text in (h.base, h.ours, h.theirs))
        words = (
            set(shown.replace(":", " ").split()) if found else ()
        )  # most stand there as they are
        return [v for v in found if v.about not in words and v.about not in shown]

    def _read(self, text: str) -> Stream:
        return split_like(Source.of(text, self._options.path), self._at.ours)

    def _violations(
        self, result: Stream, other: Stream | None = None, read: list[Document] | None = None
    ) -> list[Violation]:
        if self._options.rules != "git":
            return []  # there is a winner, and what lost is told
        from kmerge_git.merge.verify.referee import violations  # most merges need none

        return violations(self._at, result, other, settled=self._settled(), read=read or ())


def uncertain(found: Violation) -> str:
    """The cause of a conflict around what cannot be right."""
    return f"{Why.UNCERTAIN}: {found.what}"


def widened(doubts: Doubts, found: list[Violation], merged: MergedFile) -> Doubts | None:
    """The doubts with those that a merge gave cause to; None: no place is left to doubt."""
    grown = {key: dict(paths) for key, paths in doubts.items()}
    shown = [d for d in merged.documents if side_text([d.opening, *d.pieces], "ours").strip()]
    for violation in found:
        if not 0 <= violation.document < len(shown):
            return None
        paths = grown.setdefault(shown[violation.document].numbers, {})
        path = _not_yet(violation.path, paths)
        if path is None:
            return None
        paths[path] = uncertain(violation)
    return grown


def _not_yet(path: Path, paths: dict[Path, str]) -> Path | None:
    """The place, or the next one around it that was not in doubt before."""
    while path in paths:
        if not path:
            return None
        path = path[:-1]
    return path
