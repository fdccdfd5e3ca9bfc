"""Show the doubts of a merge as conflicts of lines, if these are shorter than its own conflicts.

A doubt has no place of its own: the merge made a conflict of the collection around it. Where lines
conflict as well, a person who decides them has less to read, and decides no more than in git.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.merge.merged import NO_DOCUMENT, MergedDocument, MergedFile, conflicted
from kmerge_git.merge.three import Three, cut
from kmerge_git.merge.verify import line_damage, referee
from kmerge_git.outcome import SIDES
from kmerge_git.text.diff3 import diff3, lines_between, refine, uncommon
from kmerge_git.text.markers import marker_size_for, sections
from kmerge_git.text.pieces import Hunk
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.verify.referee import Settled
    from kmerge_git.outcome import Options, Outcome
    from kmerge_git.text.pieces import Pieces
    from kmerge_git.tree.documents import Stream


def shorter(
    merged: MergedFile,
    shown: Outcome,
    streams: Three[Stream],
    options: Options,
    settled: Settled,
) -> Outcome | None:
    """Return the conflicts of the lines; None if they are not shorter, or a side would be wrong.

    `shown` is the merge with the conflicts that it has now.
    """
    hunks = [hunk for _, hunk in merged.hunks()]
    pieces = _pieces(streams.map(lambda stream: stream.source.text), hunks)
    by_lines = [piece for piece in pieces if isinstance(piece, Hunk)]
    names = {name for name, _ in merged.hunks()}
    document = MergedDocument(NO_DOCUMENT, names.pop() if len(names) == 1 else "", None, pieces)
    made = MergedFile([], [document], "")
    if not by_lines or not _is_readable(pieces, options):
        return None
    sides = [YamlText(made.decided(side).encode(), options.path) for side in SIDES]
    if not all(line_damage.is_sound(side, streams) for side in sides):
        return None
    results = [side.stream for side in sides]
    if referee.objections(made, results, [], streams, options, settled):
        return None
    sources = streams.map(lambda stream: stream.source)
    size = marker_size_for((source.text for source in sources.each()), options.marker_size)
    outcome = conflicted(made, sources, options)
    return outcome if _length(outcome, size) < _length(shown, size) else None


def _is_readable(pieces: Pieces, options: Options) -> bool:
    """Return whether a file can be read in which a person kept both sides of each conflict."""
    both = "".join(p if isinstance(p, str) else p.ours + p.theirs for p in pieces)
    try:
        return YamlText(both.encode(), options.path).stream.roots is not None
    except KmergeError:
        return False


def _pieces(texts: Three[str], doubts: list[Hunk]) -> Pieces:
    start, behind = uncommon(*texts.each())
    lines = texts.map(lambda text: lines_between(text, start, behind))
    regions = refine(diff3(*lines.each()), *lines.each())
    count = sum(region.kind == "clash" for region in regions)
    causes = iter(doubts if len(doubts) == count else doubts[:1] * count)
    pieces: Pieces = [texts.base[:start]]
    for region in regions:
        part = cut(region, lines).map(lambda some: "".join(f"{line}\n" for line in some))
        if region.kind == "clash":
            doubt = next(causes)
            pieces.append(Hunk(*part.each(), doubt.place, doubt.why, doubt.about))
        else:
            pieces.append(part.theirs if region.kind == "theirs" else part.ours)
    if behind:
        return [*pieces, texts.base[len(texts.base) - behind :]]
    last = pieces[-1]  # the last line of a text does not end
    pieces[-1] = last[:-1] if isinstance(last, str) else last.map(lambda text: text[:-1])
    return pieces


def _length(outcome: Outcome, marker_size: int) -> int:
    """Count the lines of both sides in the conflicts of a file."""
    text = outcome.text.decode("utf-8", "surrogateescape")
    parts = sections(text, marker_size)
    return sum(p[1].count("\n") + p[2].count("\n") for p in parts if not isinstance(p, str))
