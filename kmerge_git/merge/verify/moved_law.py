"""Guard: what one side moved and the other side deleted is not decided without a person.

The law knows no kind of move. A *part* is a document, an element of a list, an entry of a mapping
or a text of several lines. If both sides lack a part of base at its old place, and one of them has
it, equal or with half of its leaves, in a collection where base did not have it, then this side
moved the part. If the other side does not have it anywhere, that side deleted it.

An entry whose key is below a new key next to it now, and an element whose name is in a list next to
its own now, was moved there, whatever it holds (see `_NearMoves`). If the other side does not have
it there, too, that side deleted it, renamed it or moved it elsewhere. So it is with a small part
that is equal at one other place alone under its name, or under another key of its mapping.
"""

from __future__ import annotations

from kmerge_git.kube.identity import describe, identity
from kmerge_git.kube.likeness import LONG_LEAF, MOST_COMPARISONS, NAMING, Leaves, stripped_lines
from kmerge_git.kube.listkeys import ListKeys, field_text, start
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three, counted, grouped
from kmerge_git.merge.verify.edits_of_both import FEW_LINES
from kmerge_git.merge.verify.sites import Violation, shown
from kmerge_git.tree.nodes import Collection, Mapping, Node, Scalar, Sequence, is_block_text
from kmerge_git.tree.same import canon, canon_of, same_node, same_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.likeness import Leaf
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.verify.sites import Documents
    from kmerge_git.tree.documents import Document
    from kmerge_git.tree.nodes import Entry
    from kmerge_git.tree.same import Known

    Home = tuple[Hashable, ...]  # the names that lead to a collection
    Parts = dict[Hashable, "_Part"]
    Ways = dict[Hashable, "Way"]
    Way = tuple[Hashable, ...]  # the names; for an element without a name, this element of ours

# Parts with fewer leaves or lines are alike by chance.
_FEW_LEAVES = 4
_IDENTITY = (*NAMING, "namespace", "kind", "apiVersion")


def moved_near(documents: Documents, path: str) -> list[Violation]:
    """Return the places that have what a side moved below a new key or to a neighbouring list.

    Only documents are looked at that all versions have.
    """
    base, ours, theirs, made = (_whole(some, path) for some in documents)
    near = _NearMoves(made)
    near.compare(Three(base, ours, theirs), ())
    return near.found


def moved_and_deleted(documents: Documents, path: str) -> list[Violation]:
    """Return the places where the result has what one side moved and the other side deleted."""
    base, *sides, made = (_whole(some, path) for some in documents)
    changes = [_Changes(base, side) for side in sides]
    pairs = (changes, changes[::-1])
    moved = [place for mover, other in pairs for place in _moved_and_lost(mover, other, base)]
    there = ((part, _find(made, place)) for part, place in moved)
    return [_moved(part, now) for part, now in there if now is not None]


def _moved_and_lost(mover: _Changes, other: _Changes, base: _Part) -> Iterator[tuple[_Part, _Part]]:
    """Yield the parts that one side moved and the other side lacks, each with its new place."""
    lost = {part.key for part in other.gone}
    gone = [(part, part.is_large()) for part in mover.gone if part.key in lost]
    if not gone:
        return
    mover.look_inside()
    other.look_inside()
    large = sum(is_large for _, is_large in gone)
    if large * (len(mover.new) + len(other.new)) > MOST_COMPARISONS:
        return
    for part, is_large in gone:
        place = mover.new_place(part, base) if is_large else mover.same_elsewhere(part)
        if place and not (other.has(part) if is_large else other.has_at(place)):
            yield part, place


def _moved(part: _Part, now: _Part) -> Violation:
    what = f"`{part.title}` was moved by one side and deleted by the other side"
    return Violation("moved", now.number, now.path, what, now.path, why=Why.MOVED_AND_GONE)


class _NearMoves:
    """Find what a side moved below a new key next to it, or to a list next to its own list."""

    __slots__ = ("found", "made")

    def __init__(self, made: _Part) -> None:
        self.made = made
        self.found: list[Violation] = []

    def compare(self, at: Three[_Part], way: Way) -> None:
        """Compare a part that both sides changed; `way` leads to it."""
        nodes = [part.node for part in at.each()]
        base, *sides = nodes
        if base is not None and any(node and same_text(base, node) for node in sides):
            return
        parts = at.map(_Part.parts)
        self.both_turned(nodes, way)
        for name, part in parts.base.items():
            if name in parts.ours and name in parts.theirs:
                self.compare(Three(part, parts.ours[name], parts.theirs[name]), (*way, name))
        for trio in _edited_by_both(parts):
            self.compare(trio, (*way, trio.ours))
        if isinstance(base, Mapping):
            self.moves(at, at, way, lambda mover: _below_new_keys(at.base, mover))
            self.renamed(parts, way)
            for key, part in parts.base.items():
                if isinstance(part.node, Sequence):
                    self.lists(at, key, way)

    def both_turned(self, nodes: list[Node | None], way: Way) -> None:
        """Report a collection that each side made another kind of collection, in its own way."""
        base, *sides = nodes
        if not isinstance(base, Collection) or not base.entries:
            return
        others = [n for n in sides if isinstance(n, Collection) and type(n) is not type(base)]
        if len(others) == len(sides) and canon(others[0]) != canon(others[1]):
            now = _at(self.made, way)
            if now is not None and now.node is not None:
                what = f"`{now.title}` was restructured differently on both sides"
                which = now.path, canon(now.node)
                self.found.append(Violation("moved", now.number, now.path, what, which))

    def lists(self, at: Three[_Part], key: Hashable, way: Way) -> None:
        """Find the elements of a list that a side moved to another list of a mapping."""
        empty = _Part(None, at.base.where, -1)
        homes = at.map(lambda part: part.parts().get(key, empty))
        base, *sides = (home.node for home in homes.each())
        if base and any(node and same_text(base, node) for node in sides):
            return

        def ways(mover: _Part) -> Ways:
            found: Ways = {}
            for other, part in mover.parts().items():
                old = at.base.parts().get(other, empty)
                if other != key and isinstance(part.node, Sequence):
                    new = (name for name in part.parts() if name not in old.parts())
                    found = {name: (other, name) for name in new} | found
            return found

        self.moves(at, homes, way, ways, (key,))

    def moves(
        self,
        at: Three[_Part],
        homes: Three[_Part],
        way: Way,
        ways: Callable[[_Part], Ways],
        home: Way = (),
    ) -> None:
        """Report what was moved away and is gone, and what was added where all was moved away."""
        parts = homes.map(_Part.parts)
        for one, other in (("ours", "theirs"), ("theirs", "ours")):
            mine, yours = parts.side(one), parts.side(other)
            gone = [name for name in parts.base if name not in mine]
            known = ways(at.side(one)) if gone else {}
            places = {name: known[name] for name in gone if name in known}
            for name, there in places.items():
                now = _at(self.made, (*way, *there)) if name not in yours else None
                if now is not None and _at(at.side(other), there) is None:
                    self.found.append(_moved(parts.base[name], now))
            if len(places) == len(parts.base) and any(name in yours for name in places):
                new = [name for name in yours if name not in parts.base and name not in mine]
                self.added((*way, *home), new)

    def renamed(self, parts: Three[Parts], way: Way) -> None:
        """Report an entry that has another key on one side, and not on the other side."""
        base, *sides = parts.each()
        lost = [name for name in base if not any(name in side for side in sides)]
        gone = [base[name] for name in lost if base[name].tells()]
        if not gone:
            return
        known: Known = {}
        for side, other in (sides, sides[::-1]):
            new = ((part.node, key) for key, part in side.items() if key not in base)
            keys = grouped((canon_of(node, known), key) for node, key in new if node is not None)
            for old in gone:
                names = keys.get(canon_of(old.node, known), []) if old.node is not None else []
                now = _at(self.made, (*way, names[0])) if len(names) == 1 else None
                if now is not None and names[0] not in other:
                    self.found.append(_moved(old, now))

    def added(self, way: Way, names: list[Hashable]) -> None:
        """Report what was added where the other side moved everything away."""
        for now in (_at(self.made, (*way, name)) for name in names):
            if now is not None:
                what = f"`{now.title}` was added to content that the other side moved"
                law = "moved", now.number, now.path, what, now.path
                self.found.append(Violation(*law, why=Why.ADDED_BEHIND))


def _below_new_keys(base: _Part, mover: _Part) -> Ways:
    """Return the way to each key below a key that is new; of several ways, the first."""
    ways: Ways = {}
    for key, part in mover.parts().items():
        if key not in base.parts():
            _add_ways(ways, part, (key,))
    return ways


def _add_ways(ways: Ways, part: _Part, way: Way) -> None:
    for name, inside in part.parts().items() if isinstance(part.node, Mapping) else ():
        ways.setdefault(name, (*way, name))
        _add_ways(ways, inside, (*way, name))


def _edited_by_both(parts: Three[Parts]) -> Iterator[Three[_Part]]:
    """Yield the elements without a name that both sides edited, if each side has as many."""
    known = parts.ours.keys() | parts.theirs.keys(), parts.base.keys(), parts.base.keys()
    left = [
        [part for name, part in inside.items() if not part.has_name and name not in others]
        for inside, others in zip(parts.each(), known, strict=True)
    ]
    if len(set(map(len, left))) == 1:
        yield from (Three(*trio) for trio in zip(*left, strict=True))


def _at(here: _Part | None, way: Way) -> _Part | None:
    """Return the part to which a way leads; of elements without a name, the most alike one."""
    for step in way:
        inside = here.parts() if here is not None else {}
        if isinstance(step, _Part):
            alike = step.leaves.shared
            here = max(inside.values(), key=lambda part: alike(part.leaves), default=None)
        else:
            here = inside.get(step)
    return here


class _Part:
    """Hold a part of a version, and where it is."""

    __slots__ = (
        *("_leaves", "_parts", "group", "home", "is_named", "largest", "left_group", "name"),
        *("node", "number", "path", "path_ends", "where"),
    )

    def __init__(self, node: Node | None, where: Where, number: int) -> None:
        self.node = node
        self.where = where
        self.number = number  # of its document
        self.home: Home = ()  # the collection that holds it
        self.name: Hashable = ""  # its name in this collection
        self.is_named = True  # it is an element or document with a name, and no mere entry
        self.path: Path = ()  # the place where the merge may make a conflict of it
        self.path_ends = False  # in a list without keys, where a path does not go further
        self.group = -1  # the index of its list in a list of lists
        self.left_group = False  # a new part that stands beside others of the list of lists now
        self.largest: _Part | None = None  # the largest part around it that is new or gone, too
        self._leaves: Leaves | None = None
        self._parts: Parts | None = None

    @property
    def has_name(self) -> bool:
        """Return whether its name, and not its content, identifies the part."""
        return not (isinstance(self.name, tuple) and self.name[:1] == ("=",))

    @property
    def key(self) -> tuple[Home, Hashable]:
        return self.home, self.name

    @property
    def title(self) -> str:
        """Return the name for messages."""
        known = identity(self.node) if self.node is not None else None
        if known is not None:
            return describe(known)
        naming = (field_text(self.node, f) for f in NAMING) if self.node is not None else ()
        return next(filter(None, naming), shown(self.name))

    @property
    def is_text(self) -> bool:
        return self.node is not None and is_block_text(self.node)

    @property
    def leaves(self) -> Leaves:
        """Return the leaves; those of a text are its lines."""
        if self._leaves is None:
            self._leaves = Leaves(self.node)
            if isinstance(self.node, Scalar) and self.is_text:
                lines = stripped_lines(self.node.value).items()
                self._leaves.counts = {((), line): count for line, count in lines}
                self._leaves.total = sum(self._leaves.counts.values())
        return self._leaves

    def is_large(self) -> bool:
        least = _FEW_LEAVES if isinstance(self.node, Collection) else FEW_LINES
        return self.leaves.total >= least

    def tells(self) -> bool:
        """Return whether the value is a filled collection or long; a flag is equal by chance."""
        if isinstance(self.node, Scalar):
            return len(self.node.value) > LONG_LEAF
        return isinstance(self.node, Collection) and bool(self.node.entries)

    def shared(self, other: _Part) -> int:
        """Return how many leaves this part has in common with what it may have become, or 0."""
        if type(self.node) is not type(other.node):
            return 0
        shared = self.leaves.shared(other.leaves)
        return shared if 2 * shared >= self.leaves.total else 0

    def is_elsewhere(self, new: _Part) -> bool:
        """Return whether a new part has another path; the index of an element is not a path."""
        is_other = new.name != self.name and self.has_name and new.has_name
        return new.home != self.home or is_other or new.left_group

    def parts(self) -> Parts:
        """Return the parts directly inside, by name; of two with one name, return the first."""
        if self._parts is None:
            self._parts = {}
            for part in self._inside():
                self._parts.setdefault(part.name, part)
        return self._parts

    def _inside(self) -> Iterator[_Part]:
        node = self.node
        if isinstance(node, Mapping):
            where = self.where.at(node)
            for entry in node.entries:
                yield self._part(entry, where.child(entry.name), entry.name, (entry.name,))
        elif isinstance(node, Sequence):
            yield from self._elements(node)

    def _elements(self, node: Sequence) -> Iterator[_Part]:
        keys = ListKeys(self.where.list_rule(), [node.entries])
        table = keys.table(node.entries)
        where = self.where.items()
        if table is not None:
            for key, entry in table.items():
                yield self._part(entry, where, key, (keys.step(key),), is_named=True)
            return
        grouped = [(-1, entry) for entry in node.entries]
        if all(isinstance(entry.value, Sequence) for entry in node.entries):
            lists = [e.value.entries for e in node.entries if isinstance(e.value, Sequence)]
            grouped = [(n, entry) for n, entries in enumerate(lists) for entry in entries]
            where = where.items()
        names = [_name(entry.value) for _, entry in grouped]
        often = counted(names)
        for name, (group, entry) in zip(names, grouped, strict=True):
            is_named = name is not None and often[name] == 1
            key = name if is_named else ("=", canon_of(entry.value, {}))
            part = self._part(entry, where, key, None, is_named=is_named)
            part.group = group
            yield part

    def _part(
        self,
        entry: Entry,
        where: Where,
        name: Hashable,
        step: Path | None,
        *,
        is_named: bool = False,
    ) -> _Part:
        part = _Part(entry.value, where, self.number)
        part.home = (*self.home, self.name)
        part.name = name
        part.is_named = is_named
        part.path_ends = self.path_ends or step is None
        part.path = self.path if part.path_ends or step is None else (*self.path, *step)
        return part


def _whole(documents: list[Document], path: str) -> _Part:
    """Return a version as a part that holds its documents."""
    whole = _Part(None, start(None, path), -1)
    whole._parts = {}
    nameless = 0
    for document in documents:
        root = document.root
        if root is None:
            continue
        part = _Part(root, start(root, path), document.number)
        part.name = identity(root)
        part.home = ("",)
        if part.name is None or part.name in whole._parts:
            part.name, nameless = nameless, nameless + 1
        whole._parts[part.name] = part
    return whole


def _name(node: Node) -> Hashable:
    """Return the name of an element of a list without keys, or None."""
    named = ((field, field_text(node, field)) for field in NAMING)
    return next((pair for pair in named if pair[1]), None)


def _find(whole: _Part, place: _Part) -> _Part | None:
    """Return what a version has at the place of a part, if it may be this part."""
    here = whole
    for name in (*place.home[1:], place.name):
        inside = here.parts()
        now = inside.get(name)
        if now is None and not place.has_name:
            now = next((part for part in inside.values() if place.shared(part)), None)
        if now is None:
            return None
        here = now
    return here if place.shared(here) else None


class _Changes:
    """Hold the largest parts of base that a side lacks, and all parts that are new there."""

    __slots__ = ("added", "gone", "named", "new")

    def __init__(self, base: _Part, side: _Part) -> None:
        self.gone: list[_Part] = []
        self.added: list[_Part] = []  # new parts that no other new part holds
        self.new: list[_Part] = []  # with those that they hold
        self.named: dict[Hashable, list[_Part]] = {}  # new parts of any size, by their names
        self._compare(base, side)

    def look_inside(self) -> None:
        """Find what the new parts hold; few sides lack a part that the other side lacks as well."""
        for part in self.added:
            self._add(part, None)
        self.added = []

    def has(self, old: _Part) -> bool:
        """Return whether the side has a part at another place, or edited in its place."""
        return any(old.shared(new) for new in self.new)

    def has_at(self, place: _Part) -> bool:
        """Return whether the side has a new part at the place of a part."""
        return any(part.key == place.key for part in self.named.get(place.name, ()))

    def new_place(self, old: _Part, base: _Part) -> _Part | None:
        """Return what a part of base became on this side in another collection, or None.

        Nothing else there may be as much like it, and it may not be more like another part.
        """
        alike = [(old.shared(new), new) for new in self.new if old.is_elsewhere(new)]
        alike = [(shared, new) for shared, new in alike if shared and _counts(new, base)]
        most = max((shared for shared, _ in alike), default=0)
        best = [new for shared, new in alike if shared == most]
        if not best or (len(best) > 1 and most < old.leaves.total):
            return None
        others = (part for part in self.gone if part is not old)
        return None if any(part.shared(best[0]) > most for part in others) else best[0]

    def same_elsewhere(self, old: _Part) -> _Part | None:
        """Return the only new part with the name and the value of a part whose parent stays."""
        if old.largest is not None or not old.has_name:
            return None
        equal = [
            part
            for part in self.named.get(old.name, ())
            if part.node is not None and old.node is not None and same_node(part.node, old.node)
        ]
        return equal[0] if len(equal) == 1 and old.is_elsewhere(equal[0]) else None

    def _compare(self, old: _Part, new: _Part) -> None:
        if old.node is not None and new.node is not None and same_text(old.node, new.node):
            return
        mine, yours = old.parts(), new.parts()
        for name, part in mine.items():
            if name not in yours:
                self._lose(part)
        for name, part in yours.items():
            if name in mine and part.group >= 0 and _has_left_group(name, mine, yours):
                part.left_group = True
                self._lose(mine[name])
                self.added.append(part)
            elif name in mine:
                self._compare(mine[name], part)
            else:
                self.added.append(part)

    def _lose(self, part: _Part) -> None:
        """Note a part that is gone, and what it held if it held nothing else."""
        self.gone.append(part)
        inside = [*part.parts().values()] if isinstance(part.node, Collection) else []
        if len(inside) == 1:
            inside[0].largest = part
            self._lose(inside[0])

    def _add(self, part: _Part, largest: _Part | None) -> None:
        part.largest = largest
        if part.has_name:
            self.named.setdefault(part.name, []).append(part)
        if isinstance(part.node, Collection) or part.is_text:
            self.new.append(part)
            for inside in part.parts().values():
                self._add(inside, largest or part)


def _has_left_group(name: Hashable, mine: Parts, yours: Parts) -> bool:
    """Return whether an element of a list of lists has other elements next to it now."""
    return any(
        (mine[other].group == mine[name].group) != (yours[other].group == yours[name].group)
        for other in mine.keys() & yours.keys()
    )


def _counts(new: _Part, base: _Part) -> bool:
    """Return whether a new part may be an old part that was moved.

    A mere entry inside of another new part is one only if this part brings nothing else.
    """
    if new.is_named or new.largest is None or new.is_text:
        return True
    known = {_last(leaf) for part in base.parts().values() for leaf in part.leaves.counts}
    known.update(map(_last, new.leaves.counts))
    rest = map(_last, new.largest.leaves.counts.keys() - new.leaves.counts.keys())
    return all(leaf in known or leaf[0] in _IDENTITY for leaf in rest)


def _last(leaf: Leaf) -> tuple[str, Hashable]:
    """Return the last key and the value of a leaf."""
    return (leaf[0][-1] if leaf[0] else "", leaf[1])
