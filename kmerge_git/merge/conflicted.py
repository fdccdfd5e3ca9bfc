"""A merged file with its conflicts spelled out: markers in the text, and what each is about."""

from __future__ import annotations

from kmerge_git.merge.ends import put_mark_into_conflict, to_bytes
from kmerge_git.merge.merged import texts_of
from kmerge_git.outcome import Conflict, Outcome
from kmerge_git.text.undecided import without_placeholders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.merged import MergedDocument, MergedFile
    from kmerge_git.merge.three import Three
    from kmerge_git.outcome import Options
    from kmerge_git.text.source import Source


def conflicted(merged: MergedFile, sources: Three[Source], options: Options) -> Outcome:
    """Ours with its conflicts spelled out."""
    from kmerge_git.merge.write.labels import told, where

    # by the hunk: a label tells of several, and a hunk that is cut has several labels
    conflicts = {
        id(hunk): Conflict(
            resource,
            hunk.place,
            hunk.why,
            without_placeholders(hunk.base),
            hunk.ours,
            hunk.theirs,
            run=where(hunk),
            told=told(hunk),
        )
        for resource, hunk in merged.hunks()
    }
    if options.virtual:
        from kmerge_git.merge.undecided import undecided_text

        text = undecided_text(merged)
    else:
        text = _marked(merged, conflicts, sources, options)
    data = to_bytes(text, sources)
    return Outcome(data, False, "structure", conflicts=tuple(conflicts.values()))


def _marked(
    merged: MergedFile, conflicts: dict[int, Conflict], sources: Three[Source], options: Options
) -> str:
    """The text with markers around what is left to decide."""
    from kmerge_git.merge.write.labels import label
    from kmerge_git.merge.write.marked import marked, spell
    from kmerge_git.text.markers import marker_size_for

    size = marker_size_for((source.text for source in sources.each()), options.marker_size)
    labels, style = options.labels, options.style

    def spelled(of: MergedDocument) -> str:
        at, uncut = (of.elided.at, of.elided.texts) if of.elided is not None else (of.at, ())
        return spell(
            marked(of.pieces, texts_of(at), style, uncut),
            lambda hunks: label(of.name, [conflicts[id(hunk)] for hunk in hunks]),
            labels,
            size,
            style,
        )

    return put_mark_into_conflict(merged.text(spelled), sources, size)
