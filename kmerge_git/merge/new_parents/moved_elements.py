"""Find elements that one side moved from one list of a mapping to another."""

from __future__ import annotations

from kmerge_git.kube.likeness import Leaves
from kmerge_git.kube.listkeys import ListKeys
from kmerge_git.merge.new_parents.moved_parts import (
    BY_KEY_ALONE,
    Findings,
    FoundMove,
    holds_half,
    is_moved,
    losses,
    tells_little,
    untouched,
)
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three, counted
from kmerge_git.merge.write import moved_text
from kmerge_git.tree.nodes import Entry, Mapping, Sequence
from kmerge_git.tree.same import (
    canon,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.write.moved_text import Rewritten

    Doubts = dict[Path, str]
    Table = dict[Hashable, Entry]
    Rewrite = Callable[[str], Rewritten | None]  # the side -> the lines of that version


class MovedElements:
    """Search elements that one side moved to another list of the same mapping."""

    __slots__ = ("at", "findings", "path", "side", "where")

    def __init__(
        self, findings: Findings, at: Three[Mapping], where: Where, path: Path, side: str
    ) -> None:
        self.findings = findings
        self.at = at
        self.where = where
        self.path = path
        self.side = side

    def search(self, source: str, target: str, others: list[str]) -> None:
        """Search elements of the list `source` in the list `target`; `others` are further lists."""
        names = "base", self.side, "theirs" if self.side == "ours" else "ours"
        maps = [self.at.side(name) for name in names]
        old, new = ([_elements(node, key) for node in maps] for key in (source, target))
        keys = ListKeys(self.where.child(source).list_rule(), [*old, *new])
        tables = [keys.table(entries) if keys.exist else None for entries in (*old, *new)]
        known = [table for table in tables if table is not None]
        if len(known) < len(tables):
            self.unkeyed(old, new, target)
            return
        elsewhere = [_elements(maps[1], name) for name in others]
        twins = counted(keys.of(e.value) for entries in elsewhere for e in entries)
        moved = _MovedLists(source, target, keys, known)
        moved.certain = [key for key in moved.new if key not in twins and moved.is_certain(key)]
        self.additions(moved)
        if moved.certain:
            self.move(moved)
        for key in moved.taken_away():
            self.doubt(moved, key, as_whole=True)

    def doubt(self, moved: _MovedLists, key: Hashable, *, as_whole: bool) -> None:
        """Doubt an element of the new list, or the new list as a whole if one side alone has it."""
        other = self.at.theirs if self.side == "ours" else self.at.ours
        places: list[Path] = [(*self.path, moved.target, moved.keys.step(key))]
        if as_whole and moved.target not in other.index():
            places.append((*self.path, moved.target))
        self.findings.doubt(places, Why.UNDER_NEW_PARENT)

    def move(self, moved: _MovedLists) -> None:
        """Take the move of some elements, if the other side changed one of them."""
        base, other = moved.base, moved.other
        if all(untouched(base[key], other.get(key)) for key in moved.certain):
            return
        deleted = [k for k in moved.certain if k not in other and k not in moved.there]
        for key in deleted:
            self.doubt(moved, key, as_whole=not other.keys() & set(moved.certain))
        where = self.where.child(moved.target).items()
        for key in moved.certain:
            if key in other:
                trio = base[key].value, other[key].value, moved.arrived[key].value
                inside = (*self.path, moved.target, moved.keys.step(key))
                self.findings.doubt(losses(*trio, where, inside), Why.UNDER_NEW_PARENT)
        at, mover = self.at, self.at.side(self.side)

        def rewrite(side: str) -> Rewritten | None:
            table = base if side == "base" else other
            chosen = [table[key] for key in moved.certain if key in table]
            order = {key: n for n, key in enumerate(moved.arrived)}
            place = at.side(side)

            def rank(entry: Entry) -> int:
                return order.get(moved.keys.of(entry.value), -1)

            return moved_text.to_list(place, mover, (moved.source, moved.target), chosen, rank)

        without = {(*self.path, moved.target): Why.UNDER_NEW_PARENT} if deleted else {}
        name = "theirs" if self.side == "ours" else "ours"
        key = ("list", self.path, self.side, moved.source, moved.target)
        self.findings.found(key, FoundMove(name, rewrite, without))

    def additions(self, moved: _MovedLists) -> None:
        """Doubt what the other side adds to a list whose elements were all moved away."""
        if not moved.base.keys() & set(moved.new):
            return
        if moved.base.keys() & moved.mover.keys() or not moved.base.keys() & moved.other.keys():
            return
        mover = self.at.side(self.side).index()
        for key in moved.other:
            if key not in moved.base and key not in moved.mover and key not in moved.arrived:
                inside = (*self.path, moved.source)
                places = [(*inside, moved.keys.step(key))]
                places += [inside] if moved.source not in mover else []
                self.findings.doubt(places, Why.ADDED_BEHIND)

    def unkeyed(self, old: list[list[Entry]], new: list[list[Entry]], target: str) -> None:
        """Doubt a list that has what both sides took away from another list."""
        base, mover, other = ([canon(e.value) for e in entries] for entries in old)
        there = [{canon(e.value) for e in entries} for entries in new]
        fresh = [e for e in new[1] if canon(e.value) not in there[0] | there[2]]
        for entry, value in zip(old[0], base, strict=True):
            if value in mover or value in other or tells_little(entry.value):
                continue
            leaves = Leaves(entry.value)
            if any(holds_half(leaves, e) for e in fresh):
                self.findings.doubt([(*self.path, target)], Why.UNDER_NEW_PARENT)
                return


class _MovedLists:
    """Hold two lists by the keys of their elements, and what one side moved between them."""

    __slots__ = (
        *("arrived", "base", "certain", "keys", "mover", "new", "other", "source", "target"),
        "there",
    )

    def __init__(self, source: str, target: str, keys: ListKeys, known: list[Table]) -> None:
        self.source = source
        self.target = target
        self.keys = keys
        self.base, self.mover, self.other = known[:3]  # the list that they were moved from
        old, self.arrived, self.there = known[3:]  # the other list: base, the mover, the other side
        self.new = [key for key in self.arrived if key not in old]
        self.certain: list[Hashable] = []  # the elements that were certainly moved

    def is_certain(self, key: Hashable) -> bool:
        """Return whether a new element of the other list is one that is gone from its own."""
        if key not in self.base or key in self.mover or self.source in BY_KEY_ALONE:
            return False
        return is_moved(self.base[key].value, self.arrived[key].value)

    def taken_away(self) -> Iterator[Hashable]:
        """Yield new elements that may be what both sides took away from the list."""
        fresh = [key for key in self.new if key not in self.there and key not in self.certain]
        for old in self.base:
            if old in self.mover or old in self.other or old in self.certain:
                continue
            leaves = Leaves(self.base[old].value, self.keys.paths)
            for key in fresh:
                if key == old or holds_half(leaves, self.arrived[key]):
                    yield key


def _elements(node: Mapping, name: str) -> list[Entry]:
    entry = node.index().get(name)
    return list(entry.value.entries) if entry and isinstance(entry.value, Sequence) else []
