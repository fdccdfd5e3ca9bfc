"""Check that git's line merge leaves every alias with the anchor that it meant."""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.kube.outline import outline
from kmerge_git.merge.anchors import Groups, lawful, marks, may_turn, resolved
from kmerge_git.merge.three import Three, grouped
from kmerge_git.outcome import SIDES
from kmerge_git.tree.documents import split_text
from kmerge_git.tree.nodes import Alias

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from kmerge_git.merge.anchors import Meaning
    from kmerge_git.tree.documents import Document, Stream
    from kmerge_git.tree.nodes import Node


def turns_alias(result: Stream, at: Three[Stream], sides: tuple[str, ...] = SIDES) -> bool:
    """Return whether an alias of a result may mean another anchor than it should.

    Where both sides changed what an alias means, the result must agree with each of the `sides`.
    The nodes are paired by their keys and their content. Where they cannot be paired, the answer is
    True. A document that is the same on one side needs no check.
    """
    streams = (*at.each(), result)
    known = {d.content for stream in streams[1:3] for d in stream.documents}
    tables = [_by_name(stream, streams) for stream in streams]
    for name, document in tables[-1].items():
        if "*" in document.content and document.content not in known:
            versions = [table.get(name) for table in tables]
            texts = [version.content for version in versions[:3] if version is not None]
            if may_turn(texts) and _is_turned([d.root if d else None for d in versions], sides):
                return True
    return False


def refuse_turned(text: str, path: str, at: Three[Stream]) -> None:
    """Refuse a result of the rules `kyaml` in which an alias means another anchor than it should.

    These rules have no conflicts: where both sides changed what an alias means, theirs wins.
    """
    if turns_alias(split_text(text, path), at, ("theirs",)):
        raise Unsupported("an alias would mean another anchor of its name")


def _by_name(stream: Stream, streams: tuple[Stream, ...]) -> dict[Hashable, Document]:
    """Return the documents by name, or by number where a name is missing or repeated."""
    named = grouped((outline(document.content), document) for document in stream.documents)
    names = {name for name, documents in named.items() if name and len(documents) == 1}
    table: dict[Hashable, Document] = {}
    for document in stream.documents:
        name = outline(document.content)
        table[name if name in names else document.number] = document
    return table


def _is_turned(roots: list[Node | None], sides: tuple[str, ...]) -> bool:
    groups = Groups(len(roots))
    groups.pair(None, roots)
    there = [[*marks(root)] if root is not None else [] for root in roots]
    groups.pair_moved([[node for node in nodes if node.anchor] for nodes in there])
    meant = {id(alias): node for nodes in there for alias, node in resolved(nodes)}

    def meaning(node: Node | None) -> Meaning | None:
        return groups.meaning(node, meant[id(node)]) if isinstance(node, Alias) else None

    for alias, _ in resolved(there[-1]):
        known = Three(*map(meaning, groups.of(alias)[:3]))
        if any(meaning(alias) not in lawful(known, side) for side in sides):
            return True
    return False
