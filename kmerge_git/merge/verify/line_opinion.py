"""Whether a merge by lines comes to the same text as the merge by structure did.

Two merges that know nothing of each other and agree need no third opinion. So git's own line
merge, which is a process, is asked only where this one, which knows less, says no.
"""

from __future__ import annotations

from kmerge_git.merge.three import Three, cut
from kmerge_git.text.diff3 import diff3
from kmerge_git.text.pieces import side_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.documents import Merged, Resource
    from kmerge_git.tree.documents import Document, Stream

# What lines do not tell: whether an alias has its anchor and an anchor is alone, and where a text
# of several lines ends.
UNTOLD = ("*", "&", ": |", ": >", "- |", "- >", "? |", "? >")


def lines_agree(merged: Merged, streams: Three[Stream]) -> bool:
    """Whether the lines of all three files, merged in place, are the lines of the result."""
    sources = streams.map(lambda stream: stream.source)
    spelling = sources.map(lambda s: (s.bom, s.eol, s.final_newline))
    if not spelling.base == spelling.ours == spelling.theirs:
        return False
    prologue = "".join(map(str, merged.prologue))
    return (
        _in_place(merged, streams)
        and prologue == _one_changed(streams.map(lambda stream: stream.prologue))
        and merged.tail == _one_changed(streams.map(lambda stream: stream.tail))
        and all(map(_agrees, merged.resources))
    )


def needs_proof(merged: Merged) -> bool:
    """Whether there is a document in which agreement by lines is not enough."""
    return any(
        mark in side_text(resource.pieces, "ours")
        for resource in merged.resources
        if resource.plan is not None
        for mark in UNTOLD
    )


def _in_place(merged: Merged, streams: Three[Stream]) -> bool:
    """Whether every version has the documents of the result, and in that order."""
    count = len(merged.resources)
    if any(len(s.documents) != count for s in (streams.base, streams.ours, streams.theirs)):
        return False
    return all(
        document is not None and document.number == number
        for number, resource in enumerate(merged.resources)
        for document in (resource.at.base, resource.at.ours, resource.at.theirs)
    )


def _agrees(resource: Resource) -> bool:
    if resource.opening != _one_changed(resource.at.map(_opening)):
        return False
    at = resource.elided.at if resource.elided else resource.at
    texts = at.map(_content)
    text = side_text(resource.pieces, "ours")
    picked = _one_changed(texts)
    if picked is not None:
        return text == picked
    return _by_lines(texts) == text


def _by_lines(texts: Three[str]) -> str | None:
    """The merge of the lines; None: they clash."""
    lines = texts.map(lambda text: text.split("\n"))
    result: list[str] = []
    for region in diff3(lines.base, lines.ours, lines.theirs):
        if region.kind == "clash":
            return None
        part = cut(region, lines)
        result += part.theirs if region.kind == "theirs" else part.ours
    return "\n".join(result)


def _one_changed(texts: Three[str]) -> str | None:
    """The text of the side that changed it; None: both did, and not in the same way."""
    if texts.ours in (texts.base, texts.theirs):
        return texts.theirs
    return texts.ours if texts.theirs == texts.base else None


def _opening(document: Document | None) -> str:
    return document.opening if document is not None else ""


def _content(document: Document | None) -> str:
    return document.content if document is not None else ""
