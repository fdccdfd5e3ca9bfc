"""Files that must not be merged by field, though they could be."""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.text.sealed import SEALED, is_sealed
from kmerge_git.tree.oddities import refuse_oddities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.three import Three
    from kmerge_git.tree.documents import Stream


def refuse_unmergeable(streams: Three[Stream], size: int) -> None:
    """Refuse what must not be merged by field.

    Sealed files: their mac covers all values. Conflict markers in an input: rerere's images,
    ancestors of a criss-cross. Templates, and mappings whose keys are collections.
    """
    # what versions share is one text in memory (see `split_like`), and looked through once
    both = (*streams.ours.documents, *streams.theirs.documents)
    contents = {id(d.content): d.content for d in both}
    if any("ENC[" in content and is_sealed(content) for content in contents.values()):
        raise Unsupported(SEALED)
    contents |= {id(d.content): d.content for d in streams.base.documents}
    if any("<<<<<<<" in content for content in contents.values()):
        from kmerge_git.text.markers import first_marker

        if any(first_marker(stream.source.text, min(size, 7)) >= 0 for stream in streams.each()):
            raise Unsupported("an input holds conflict markers")
    refuse_oddities(*streams.each())
