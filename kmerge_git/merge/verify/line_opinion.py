"""Compare a merge with a second opinion: a line merge of the same files.

The line merge knows nothing of YAML. If two independent merges agree, no third merge is needed.
Git's own line merge is slower, because it is a separate process, but it knows more than the line
merge of kmerge. So git is asked only if the line merge of kmerge neither agrees with the result nor
finds a conflict.
"""

from __future__ import annotations

from kmerge_git.merge.three import Three, agreed, cut
from kmerge_git.merge.verify.edits_of_both import (
    FEW_LINES,
    come_back,
    may_have_moved_parts,
    may_turn,
    repeats_an_edit,
)
from kmerge_git.outcome import SIDES
from kmerge_git.text.diff3 import diff3, lines_between, uncommon
from kmerge_git.text.pieces import side_text
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.merge.merged import MergedDocument, MergedFile
    from kmerge_git.text.linemerge import LineMerge
    from kmerge_git.tree.documents import Stream

DELETED = "deleted"  # our own line merge agrees, and both sides deleted the same lines

# Signs of YAML that a line merge may break: aliases, anchors and block texts. Lines do not show the
# anchor of an alias, a repeated anchor, or the end of a block text.
UNTOLD = ("*", "&", ": |", ": >", "- |", "- >", "? |", "? >")


class Asked:
    """Run git's line merge when its result is first needed, and keep the result.

    If our version or theirs has lines that look like markers, the markers are longer.
    """

    __slots__ = ("_answer", "_size", "_start", "_texts")

    def __init__(
        self, start: Callable[[str, int], LineMerge], texts: Three[YamlText], size: int
    ) -> None:
        self._start = start
        self._texts = texts
        self._size = size
        self._answer: tuple[YamlText, int] | None = None

    def result(self) -> tuple[YamlText, int]:
        """Return the merged text and the number of conflicts.

        If the lines cannot be merged, the number of conflicts is -1.
        """
        if self._answer is None:
            self._answer = self.favored("")
        return self._answer

    def favored(self, side: str) -> tuple[YamlText, int]:
        """Return the result with every conflict resolved to a side."""
        data, count = self._start(side, self.marker_size()).result()
        return YamlText(data, self._texts.ours.path), count

    def marker_size(self) -> int:
        """Return the size of the markers."""
        from kmerge_git.text.markers import marker_size_for  # most merges need no git

        sides = (self._texts.ours.data, self._texts.theirs.data)
        return marker_size_for((side.decode("latin-1") for side in sides), self._size)

    def again(self) -> tuple[YamlText, int]:
        """Run the merge again, with other labels for example, and return the new result."""
        self._answer = None
        return self.result()


def opinion(merged: MergedFile, streams: Three[Stream]) -> str:
    """Merge the lines of the three files, and compare the merged lines with the result.

    Return `agrees` if the lines are the same, '' if git must be asked, and otherwise the word for a
    conflict of the lines, which git finds, too.
    """
    sources = [stream.source for stream in streams.each()]
    spellings = {(source.bom, source.eol, source.final_newline) for source in sources}
    if len(spellings) > 1 or not _in_place(merged, streams):
        return ""
    opinions = list(map(_opinion, merged.documents))
    if "clash" in opinions:
        return "clash"
    is_said = (
        "".join(map(str, merged.prologue)) == agreed(streams.map(lambda stream: stream.prologue))
        and merged.tail == agreed(streams.map(lambda stream: stream.tail))
        and all(opinions)
    )
    if is_said and DELETED in opinions:
        texts = streams.map(lambda stream: [document.content for document in stream.documents])
        is_said = not may_have_moved_parts(texts)  # the other side may have moved these lines
    return "agrees" if is_said else ""


def needs_proof(merged: MergedFile) -> bool:
    """Return whether a document uses YAML features that a line merge cannot check."""
    return any(
        mark in side_text(document.pieces, "ours")
        for document in merged.documents
        if document.plan is not None
        for mark in UNTOLD
    )


def _in_place(merged: MergedFile, streams: Three[Stream]) -> bool:
    """Return whether every version has the documents of the result in the same order."""
    count = len(merged.documents)
    if any(len(stream.documents) != count for stream in streams.each()):
        return False
    return all(
        version is not None and version.number == number
        for number, document in enumerate(merged.documents)
        for version in document.at.each()
    )


def _opinion(made: MergedDocument) -> str:
    at = made.elided.at if made.elided else made.at
    texts = at.map(lambda d: d.content if d is not None else "")
    picked = agreed(texts)
    word = DELETED if texts.ours == texts.theirs != texts.base else "agrees"
    if picked is None:
        picked, word = _by_lines(texts)
        if picked is None:
            return "clash"
    openings = made.at.map(lambda d: d.opening if d is not None else "")
    is_said = made.opening == agreed(openings) and side_text(made.pieces, "ours") == picked
    return word if is_said and not repeats_an_edit(texts, picked) else ""


def _by_lines(texts: Three[str]) -> tuple[str | None, str]:
    """Return the merge of the lines, or None if the lines conflict.

    Also return how much it confirms: nothing if a line that both sides took away is there, or one
    with its key, or if a new line may name an element that a side moved.
    """
    start, behind = uncommon(*texts.each())
    lines = texts.map(lambda text: lines_between(text, start, behind))
    result: list[str] = []
    gone: list[str] = []
    new: list[str] = []
    for region in diff3(*lines.each()):
        if region.kind == "clash":
            return None, ""
        part = cut(region, lines)
        picked = part.theirs if region.kind == "theirs" else part.ours
        result += picked
        new += picked if region.kind in SIDES else ()
        gone += part.base if region.kind == "both" else ()
    sides = (lines.ours, lines.theirs)
    is_moved = _share_a_key(gone, new) or bool(gone and come_back([*lines.each(), result]))
    is_moved = is_moved or may_turn(lines.base, sides, new)
    if behind and result:
        result.append("")
    text = texts.base[:start] + "\n".join(result) + texts.base[len(texts.base) - behind :]
    return text, "" if is_moved else DELETED if len(gone) >= FEW_LINES else "agrees"


def _share_a_key(gone: list[str], new: list[str]) -> bool:
    """Return whether a new line has the key of a line that is gone, which may have been moved."""
    keys = {line.strip(" -").partition(":")[0] + ":" for line in gone if ":" in line}
    return any(key in line for line in new for key in keys)
