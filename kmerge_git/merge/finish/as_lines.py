"""Show the doubts of a merge as conflicts of lines, if these are shorter than its own conflicts.

A doubt has no place of its own: the merge made a conflict of the collection around it. Where lines
conflict as well, a person who decides them has less to read, and decides no more than in git.
"""

from __future__ import annotations

from kmerge_git.merge.merged import NO_DOCUMENT, MergedDocument, MergedFile, conflicted
from kmerge_git.merge.three import Three, cut
from kmerge_git.merge.verify import line_damage, referee
from kmerge_git.text.diff3 import diff3, lines_between, refine, uncommon
from kmerge_git.text.pieces import Hunk
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.verify.referee import Settled
    from kmerge_git.outcome import Options, Outcome
    from kmerge_git.text.pieces import Pieces
    from kmerge_git.tree.documents import Stream

SIDES = ("ours", "theirs")


def shorter(
    merged: MergedFile, streams: Three[Stream], options: Options, settled: Settled
) -> Outcome | None:
    """Return the conflicts of the lines; None if they are not shorter, or a side would be wrong."""
    hunks = merged.hunks()
    pieces = _pieces(streams.map(lambda stream: stream.source.text), hunks[0][1])
    by_lines = [piece for piece in pieces if isinstance(piece, Hunk)]
    if not 0 < _length(by_lines) < _length([hunk for _, hunk in hunks]):
        return None
    names = {name for name, _ in hunks}
    document = MergedDocument(NO_DOCUMENT, names.pop() if len(names) == 1 else "", None, pieces)
    made = MergedFile([], [document], "")
    sides = [YamlText(made.decided(side).encode(), options.path) for side in SIDES]
    if not all(line_damage.is_sound(side, streams) for side in sides):
        return None
    shown = "\n".join(text for h in by_lines for text in (h.base, h.ours, h.theirs))
    results = (side.stream for side in sides)
    if referee.ask_referee(streams, options, settled, (), *results, shown=shown):
        return None
    return conflicted(made, streams.map(lambda stream: stream.source), options)


def _pieces(texts: Three[str], doubt: Hunk) -> Pieces:
    start, behind = uncommon(*texts.each())
    lines = texts.map(lambda text: lines_between(text, start, behind))
    pieces: Pieces = [texts.base[:start]]
    for region in refine(diff3(*lines.each()), *lines.each()):
        part = cut(region, lines).map(lambda some: "".join(f"{line}\n" for line in some))
        if region.kind == "clash":
            pieces.append(Hunk(*part.each(), doubt.place, doubt.why, doubt.about))
        else:
            pieces.append(part.theirs if region.kind == "theirs" else part.ours)
    if behind:
        return [*pieces, texts.base[len(texts.base) - behind :]]
    last = pieces[-1]  # the last line of a text does not end
    pieces[-1] = last[:-1] if isinstance(last, str) else last.map(lambda text: text[:-1])
    return pieces


def _length(hunks: list[Hunk]) -> int:
    return sum(hunk.ours.count("\n") + hunk.theirs.count("\n") for hunk in hunks)
