"""Find what one side moved under a new parent, and see where the other side's changes belong.

A move is certain if the moved part is equal to that of base, or much like it; if its old place is
gone on that side and its new place is new there; if the new parent is a new key beside it, a list
beside its own list, or the map that its list became; and if nothing else there may be it, too.

After a certain move, base and the other version are written anew with the same move, so that an
edit of the other side is an edit of the moved part. What the other side deleted or renamed is a
doubtful place, and so is what it deleted where a move is likely but not certain.
"""

from __future__ import annotations

from kmerge_git.kube.listkeys import ListKeys, start
from kmerge_git.merge.new_parents.keyed_lists import list_to_map, two_maps
from kmerge_git.merge.new_parents.moved_elements import MovedElements
from kmerge_git.merge.new_parents.moved_keys import MovedKeys
from kmerge_git.merge.new_parents.moved_parts import Findings
from kmerge_git.merge.three import Three, under
from kmerge_git.tree.documents import Stream
from kmerge_git.tree.nodes import Entry, Mapping, Sequence
from kmerge_git.tree.same import same_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.write.moved_text import Rewritten
    from kmerge_git.tree.documents import Document
    from kmerge_git.tree.nodes import Node

    Doubts = dict[Path, str]
    Rewrite = Callable[[str], Rewritten | None]  # the side -> the lines of that version


# The most moves that are followed in a document.
MOST_MOVES = 50


def followed(at: Three[Document], path: str) -> tuple[Three[Document], Doubts] | None:
    """Return the versions after the moves of either side, and the doubtful places.

    Return None if nothing was moved that the other side changed.
    """
    if any(document.inline for document in at.each()):
        return None
    findings = Findings()
    result = at
    for _ in range(MOST_MOVES):
        roots = result.map(lambda document: document.root)
        findings.move = None
        _MoveSearch(findings).node(roots, start(roots.base or roots.ours, path), ())
        move = findings.move
        if move is None:
            break
        after = move.of(result)
        findings.doubts |= move.without if after is None else {}
        result = after or result
    return (result, findings.doubts) if findings.doubts or result is not at else None


def followed_streams(at: Three[Stream]) -> Three[Stream] | None:
    """Return three versions of a file after the moves of either side, or None if there are none.

    Only files are searched in which all versions have the same number of documents.
    """
    documents = [list(stream.documents) for stream in at.each()]
    if len({len(version) for version in documents}) > 1:
        return None
    is_changed = False
    for number, versions in enumerate(zip(*documents, strict=True)):
        if len({document.content for document in versions}) < len(versions):
            continue
        moved = followed(Three(*versions), at.ours.source.path)
        for version, new in zip(documents, moved[0].each() if moved else (), strict=False):
            is_changed |= version[number] is not new
            version[number] = new
    if not is_changed:
        return None
    return Three(*(_with(stream, new) for stream, new in zip(at.each(), documents, strict=True)))


def _with(stream: Stream, documents: list[Document]) -> Stream:
    known = stream.source, stream.prologue_end
    return Stream(*known, tuple(documents), stream.tail_start, stream.markers)


class _MoveSearch:
    """Search the places that both sides changed."""

    __slots__ = ("findings",)

    def __init__(self, findings: Findings) -> None:
        self.findings = findings

    def node(
        self,
        at: Three[Node | None],
        where: Where,
        path: Path,
        entries: Three[Entry | None] | None = None,
    ) -> None:
        """Search the values at one place."""
        base, ours, theirs = at.each()
        if base is None or ours is None or theirs is None:
            return
        if same_text(base, ours) or same_text(base, theirs):
            return
        kinds = [type(node) for node in at.each()]
        if isinstance(base, Mapping) and isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            self.mapping(Three(base, ours, theirs), where, path)
        elif kinds == [Sequence, Mapping, Sequence] and entries is not None:
            list_to_map(self.findings, entries, "ours", where, path)
        elif kinds == [Sequence, Sequence, Mapping] and entries is not None:
            list_to_map(self.findings, entries, "theirs", where, path)
        elif kinds == [Sequence, Mapping, Mapping]:
            two_maps(self.findings, at, where, path)
        elif (
            isinstance(base, Sequence)
            and isinstance(ours, Sequence)
            and isinstance(theirs, Sequence)
        ):
            self.sequence(Three(base, ours, theirs), where, path)

    def mapping(self, at: Three[Mapping], where: Where, path: Path) -> None:
        """Search a mapping, and the values of its entries."""
        where = where.at(at.base)
        tables = at.map(lambda mapping: mapping.index())
        for side in ("ours", "theirs"):
            MovedKeys(self.findings, at, where, path, side).search()
            self.lists(at, where, path, side)
        for name in tables.base:
            entries = under(tables, name)
            self.node(_values(entries), where.child(name), (*path, name), entries)

    def sequence(self, at: Three[Sequence], where: Where, path: Path) -> None:
        """Search the elements of a list, by key or by index."""
        lists = at.map(lambda sequence: list(sequence.entries))
        keys = ListKeys(where.list_rule(), lists.each())
        tables = lists.map(keys.table)
        inner = where.items()
        if tables.base is None or tables.ours is None or tables.theirs is None:
            if len(set(map(len, lists.each()))) == 1:
                for number, trio in enumerate(zip(*lists.each(), strict=True)):
                    values = Three(*trio).map(lambda entry: entry.value)
                    self.node(values, inner, (*path, number))
            return
        for key in tables.base:
            found = under(Three(tables.base, tables.ours, tables.theirs), key)
            self.node(_values(found), inner, (*path, keys.step(key)))

    def lists(self, at: Three[Mapping], where: Where, path: Path, side: str) -> None:
        """Search elements that a side moved from one list of a mapping to another."""
        base, mover = at.base.index(), at.side(side).index()
        sources, targets = _other_lists(base, mover), _other_lists(mover, base)
        for source in sources:
            for target in targets:
                if source != target:
                    others = [name for name in targets if name not in (source, target)]
                    MovedElements(self.findings, at, where, path, side).search(
                        source, target, others
                    )


def _other_lists(mine: dict[str, Entry], other: dict[str, Entry]) -> list[str]:
    """Return the keys of the lists of one version that another version does not have like this."""
    return [
        name
        for name, entry in mine.items()
        if isinstance(entry.value, Sequence)
        and (name not in other or not same_text(entry.value, other[name].value))
    ]


def _values(at: Three[Entry | None]) -> Three[Node | None]:
    return at.map(lambda entry: entry.value if entry is not None else None)
