"""Find entries that one side moved under a new key of their mapping."""

from __future__ import annotations

from kmerge_git.kube.likeness import Leaves
from kmerge_git.merge.new_parents.moved_parts import (
    BY_KEY_ALONE,
    Findings,
    FoundMove,
    are_alike,
    holds_half,
    is_moved,
    losses,
    tells_little,
    untouched,
)
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.merge.write import moved_text
from kmerge_git.tree.nodes import Collection, Entry, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.write.moved_text import Rewritten
    from kmerge_git.tree.nodes import Node

    Doubts = dict[Path, str]
    Inside = list[tuple[Path, Entry]]  # the keys above an entry, below a new key
    Rewrite = Callable[[str], Rewritten | None]  # the side -> the lines of that version


class MovedKeys:
    """Search entries that one side moved under a new key of their mapping."""

    __slots__ = (
        *("at", "base", "fresh", "inside", "mover", "other", "path", "findings", "side", "where"),
    )

    def __init__(
        self, findings: Findings, at: Three[Mapping], where: Where, path: Path, side: str
    ) -> None:
        self.findings = findings
        self.at = at
        self.where = where
        self.path = path
        self.side = side
        self.base = at.base.index()
        self.mover = at.side(side).index()
        self.other = (at.theirs if side == "ours" else at.ours).index()
        self.fresh: dict[str, Entry] = {}  # the new keys that hold something
        self.inside: Inside = []

    def search(self) -> None:
        """Search the entries that the side lacks below the keys that are new on it."""
        gone = [name for name in self.base if name not in self.mover]
        self.fresh = {
            name: entry
            for name, entry in self.mover.items()
            if name not in self.base and isinstance(entry.value, Collection)
        }
        if not gone or not self.fresh:
            return
        for name, entry in self.fresh.items():
            self.inside += _inside(entry.value, (name,))
        groups = self.groups(gone)
        for parent, names in groups.items():
            self.move(parent, names)
        certain = {name for names in groups.values() for name in names}
        for name in gone:
            if name not in certain and name not in self.other:
                self.doubt(name)
        if certain or any(entry.name in gone for _, entry in self.inside):
            self.additions(gone)

    def groups(self, gone: list[str]) -> dict[str, list[str]]:
        """Return the entries that were certainly moved, by their new parents."""
        sure: dict[str, list[str]] = {}
        whole: dict[str, list[str]] = {}
        if self.path and self.path[-1] in BY_KEY_ALONE:
            return sure
        for name in gone:
            parent, is_like = self.parent_of(name)
            if parent:
                whole.setdefault(parent, []).append(name)
            if parent and is_like:
                sure.setdefault(parent, []).append(name)
        for parent, names in whole.items():
            values = [[self.base[n].value, self.there(parent, n).value] for n in names]
            if are_alike([old for old, _ in values], [new for _, new in values]):
                sure[parent] = names
        return sure

    def parent_of(self, name: str) -> tuple[str, bool]:
        """Return the only new key that may hold an entry now, and whether the entry is alike.

        Return '' if there is no such key, or more than one place below new keys.
        """
        old = self.base[name].value
        places = [(path, e) for path, e in self.inside if e.key is not None and e.name == name]
        same = [(path, e) for path, e in places if is_moved(old, e.value)]
        best = same or places
        if len(best) != 1 or len(best[0][0]) != 1:
            return "", False
        parent = str(best[0][0][0])
        is_map = isinstance(self.fresh[parent].value, Mapping)
        return parent if is_map else "", bool(same)

    def there(self, parent: str, name: str) -> Entry:
        """Return an entry at its new place."""
        value = self.fresh[parent].value
        assert isinstance(value, Mapping)  # `groups` has seen to it
        return value.index()[name]

    def move(self, parent: str, names: list[str]) -> None:
        """Take the move of some entries, if the other side changed one of them."""
        known = self.other.get(parent)
        if known is None and all(untouched(self.base[n], self.other.get(n)) for n in names):
            return
        there = known.value.index() if known and isinstance(known.value, Mapping) else {}
        left = [name for name in names if name in self.other]
        deleted = [name for name in names if name not in self.other and name not in there]
        above = (*self.path, parent)
        lost = [(*above, name) for name in deleted]
        where = self.where.child(parent).at(self.fresh[parent].value)
        for name in left:
            trio = (
                self.base[name].value,
                self.other[name].value,
                self.there(parent, name).value,
            )
            lost += losses(*trio, where.child(name), (*above, name))
        if not left and known is None:
            lost.append(above)
        self.findings.doubt(lost, Why.UNDER_NEW_PARENT)
        at, mover = self.at, self.at.side(self.side)

        def rewrite(side: str) -> Rewritten | None:
            return moved_text.under_key(at.side(side), mover, parent, names)

        without = {above: Why.UNDER_NEW_PARENT} if deleted else {}
        other = "theirs" if self.side == "ours" else "ours"
        key = ("keys", self.path, self.side, parent)
        self.findings.found(key, FoundMove(other, rewrite, without))

    def doubt(self, name: str) -> None:
        """Doubt a new key that may hold what both sides took away."""
        old = self.base[name].value
        leaves = Leaves(old) if not tells_little(old) else Leaves(None)
        for path, entry in self.inside:
            if (entry.key is not None and entry.name == name) or holds_half(leaves, entry):
                known = self.other.get(str(path[0]))
                if known is None or not _has(known.value, path[1:], entry):
                    self.findings.doubt([(*self.path, path[0])], Why.UNDER_NEW_PARENT)
                    return

    def additions(self, gone: list[str]) -> None:
        """Doubt what the other side adds where everything was moved away."""
        if len(gone) < len(self.base) or not self.base.keys() & self.other.keys():
            return
        added = [name for name in self.other if name not in self.base and name not in self.mover]
        self.findings.doubt([(*self.path, name) for name in added], Why.ADDED_BEHIND)


def _inside(node: Node, path: Path) -> Iterator[tuple[Path, Entry]]:
    """Yield the entries below a node, each with the keys above it."""
    for entry in node.entries if isinstance(node, Collection) else ():
        yield path, entry
        yield from _inside(entry.value, (*path, entry.name))


def _has(node: Node, path: Path, entry: Entry) -> bool:
    """Return whether a node has an entry with the same key at a path."""
    for step in path:
        inner = node.get(str(step)) if isinstance(node, Mapping) else None
        if inner is None:
            return False
        node = inner
    return isinstance(node, Mapping) and entry.name in node.index()
