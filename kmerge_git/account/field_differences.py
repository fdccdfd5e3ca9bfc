"""Compare the fields of the versions of a merge, and find the version that is in the result.

A result with conflicts is read twice: with all conflicts resolved to ours, and to theirs. If these
two readings differ at a place, a person has to decide the place.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from operator import eq

from kmerge_git.merge.decide.keyed import keys_of
from kmerge_git.merge.three import Three, under
from kmerge_git.outcome import LABELS
from kmerge_git.tree.block_scalars import body_lines
from kmerge_git.tree.brief import beside, in_full, listed
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, Sequence, is_block_text
from kmerge_git.tree.same import canon, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator
    from typing import TypeVar

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.decide.rules import Rules, Table

    T = TypeVar("T")
    Ends = tuple[T | None, T | None] | None  # None if the result is unknown at this place
    KeyOf = Callable[[Entry], Hashable]


# where two versions differ and read the same
ALMOST = "(as {} but for blanks, order, tags or anchors)"


@dataclass(slots=True)
class Difference:
    """Hold a place where the versions of a merge differ, and the side that the result follows."""

    path: Path
    what: str
    side: str  # `ours`, `theirs`, `both` or `conflict`
    rule: str
    values: Three[str]
    kind: str = "scalar"  # `scalar`, `list`, `map`, `element`, `document`, `comment` or `order`
    resource: str = ""

    @property
    def doers(self) -> set[str]:
        """Return the sides that changed this place."""
        is_alone = self.side in ("ours", "theirs") and " " not in self.what
        return {self.side} if is_alone else {"ours", "theirs"}


@dataclass(frozen=True, slots=True)
class Four:
    """Hold the nodes at one place: a node of each of the three versions and of the result."""

    at: Three[Node | None]
    ends: Ends[Node]


def differences(rules: Rules, four: Four, path: Path, where: Where) -> Iterator[Difference]:
    """Yield the places, at a path or below the path, that a side changed."""
    at = four.at
    if alike(at.base, at.ours) and alike(at.base, at.theirs):
        return
    is_looked_into = at.base is not None or not alike(at.ours, at.theirs)
    is_set = False
    if is_looked_into and _are_all(at, Mapping):
        yield from marked(four, path)
        yield from _in_mapping(rules, four, path, where.at(at.base or at.ours))
        return
    if is_looked_into and _are_all(at, Sequence):
        rule = where.list_rule()
        is_set = rule.kind == "set"
        tables = rules.keyed(_as_lists(at), rule)
        if tables is not None and not is_set:
            yield from marked(four, path)
            yield from _in_list(rules, four, path, where, tables)
            return
    yield whole(four, path, is_set=is_set)


def _are_all(at: Three[Node | None], kind: type[Collection]) -> bool:
    """Return whether both sides have a collection of this kind at a place.

    The base must have a collection of this kind, or no value.
    """
    is_base = at.base is None or isinstance(at.base, kind)
    return is_base and isinstance(at.ours, kind) and isinstance(at.theirs, kind)


def _as_lists(at: Three[Node | None]) -> Three[Sequence | None]:
    return at.map(lambda node: node if isinstance(node, Sequence) else None)


def _in_mapping(rules: Rules, four: Four, path: Path, where: Where) -> Iterator[Difference]:
    tables, _ = rules.renamed(four.at.map(_index), (), None)
    for key, names, inner in _entries(four, tables, Mapping, lambda entry: entry.name):
        yield from _renamed(names, (*path, str(key)))
        yield from differences(rules, inner, (*path, str(key)), where.child(str(key)))


def _index(node: Node | None) -> dict[Hashable, Entry]:
    return dict(node.index().items()) if isinstance(node, Mapping) else {}


def _renamed(names: Three[Hashable], path: Path) -> Iterator[Difference]:
    """Yield a difference for an entry that has another key on a side."""
    new = [name for name in (names.ours, names.theirs) if name not in (names.base, None)]
    if names.base is None or not new:
        return
    side = "both" if len(new) > 1 else "ours" if new == [names.ours] else "theirs"
    what = "renamed" if len(new) == 1 else "renamed alike on both sides"
    yield Difference(path, what, side, "11", names.map(lambda name: str(name or "")))


def _in_list(
    rules: Rules, four: Four, path: Path, where: Where, own: Three[Table]
) -> Iterator[Difference]:
    rule = where.list_rule()
    keys = keys_of(_as_lists(four.at), rule)
    tables, _ = rules.renamed(own, keys.paths, rule)

    def key_of(entry: Entry) -> Hashable:
        return keys.of(entry.value)

    for key, _, inner in _entries(four, tables, Sequence, key_of):
        yield from differences(rules, inner, (*path, keys.step(key)), where.items())
    yield from _order(tables, _each_end(four.ends, Sequence, key_of), key_of, path)


def _entries(
    four: Four, tables: Three[Table], kind: type[Collection], key_of: KeyOf
) -> Iterator[tuple[Hashable, Three[Hashable], Four]]:
    """Yield each key of the tables, with the keys and the values of its entry in every version."""
    ends = _each_end(four.ends, kind, key_of)
    for key in dict.fromkeys([*tables.base, *tables.ours, *tables.theirs]):
        at = under(tables, key)
        own = at.map(lambda entry: key_of(entry) if entry is not None else None)
        values = at.map(lambda entry: entry.value if entry is not None else None)
        yield key, own, Four(values, _values_in(ends, own))


def _each_end(
    ends: Ends[Node], kind: type[Collection], key_of: KeyOf
) -> tuple[dict[Hashable, Node], dict[Hashable, Node]] | None:
    """Return the entries of a result by key: once resolved to ours, and once to theirs.

    Return None if the result has another kind of value at this place.
    """
    if ends is None:
        return None
    tables = [
        {key_of(entry): entry.value for entry in end.entries}
        for end in ends
        if isinstance(end, Collection) and isinstance(end, kind)
    ]
    return (tables[0], tables[1]) if len(tables) == 2 else None


def _values_in(
    ends: tuple[dict[Hashable, Node], dict[Hashable, Node]] | None, keys: Three[Hashable]
) -> Ends[Node]:
    """Return the values in the result, found by the keys of the entry in the versions."""
    if ends is None:
        return None
    names = [key for key in (keys.ours, keys.theirs, keys.base) if key is not None]
    first, second = (next((end[name] for name in names if name in end), None) for end in ends)
    if first is None and second is None and keys.ours is not None and keys.theirs is not None:
        return None  # the result has the entry under another name
    return first, second


def _order(
    tables: Three[Table],
    ends: tuple[dict[Hashable, Node], dict[Hashable, Node]] | None,
    key_of: KeyOf,
    path: Path,
) -> Iterator[Difference]:
    """Yield a difference if a side changed the order of the elements that all versions have."""
    common = {key for key in tables.base if key in tables.ours and key in tables.theirs}
    orders = tables.map(lambda table: [key for key in table if key in common])
    if orders.base == orders.ours == orders.theirs:
        return
    names = {key_of(entry): key for table in tables.each() for key, entry in table.items()}
    result = None
    if ends is not None:
        first, second = ([n for n in map(names.get, end) if n in common] for end in ends)
        result = first, second
    shown = side_by_side(orders, orders.map(lambda keys: ", ".join(map(_text_of, keys))), eq)
    yield Difference(path, "reordered", side_of(orders, result, eq), "3", shown, "order")


def _text_of(key: Hashable) -> str:
    parts = key if isinstance(key, tuple) else (key,)
    return "/".join(str(part) for part in parts if part is not None)


def marked(four: Four, path: Path) -> list[Difference]:
    """Return a difference if a side changed the anchor or the tag of a collection."""
    at = four.at.map(_marks)
    if four.at.base is None or at.base == at.ours == at.theirs:
        return []
    ends = (_marks(four.ends[0]), _marks(four.ends[1])) if four.ends is not None else None
    return [Difference(path, what_of(at, eq), side_of(at, ends, eq), "1", at)]


def _marks(node: Node | None) -> str:
    return " ".join(m for m in (node.anchor and f"&{node.anchor}", node.tag) if m) if node else ""


def alike(a: Node | None, b: Node | None) -> bool:
    """Return whether two nodes have the same meaning, or are both absent."""
    return a is b if a is None or b is None else same_node(a, b)


def side_of(at: Three[T], ends: Ends[T], same: Callable[[T | None, T | None], bool]) -> str:
    """Return the side that the result follows, or `conflict`.

    Return `both` if the result equals both sides, or if it equals neither side.
    """
    if ends is None:
        is_mine, is_theirs = same(at.base, at.theirs), same(at.base, at.ours)
        if same(at.ours, at.theirs):
            return "both"
        return "ours" if is_mine else "theirs" if is_theirs else "conflict"
    if not same(*ends):
        return "conflict"
    is_mine, is_theirs = same(ends[0], at.ours), same(ends[0], at.theirs)
    return "both" if is_mine == is_theirs else "ours" if is_mine else "theirs"


def what_of(at: Three[T | None], same: Callable[[T | None, T | None], bool]) -> str:
    """Return the change in words: `changed`, `added` or `deleted`, on one side or on both sides."""

    def change(new: T | None) -> str:
        how = "added" if at.base is None else "deleted" if new is None else "changed"
        return "" if same(at.base, new) else how

    mine, yours = change(at.ours), change(at.theirs)
    if not mine or not yours:
        return mine or yours
    if same(at.ours, at.theirs):
        return f"{mine} alike on both sides"
    return f"{mine} on both sides" if mine == yours else f"{mine} in ours, {yours} in theirs"


def whole(four: Four, path: Path, *, is_set: bool = False) -> Difference:
    """Return the difference of two values that are compared as a whole, not entry by entry."""
    at = four.at
    what, side = what_of(at, alike), side_of(at, four.ends, alike)
    rule, kind = _rule(at, path, what, is_set=is_set), _kind(at, path, what)
    return Difference(path, what, side, rule, shown_values(at), kind)


def _kind(at: Three[Node | None], path: Path, what: str) -> str:
    if path and not isinstance(path[-1], str) and what != "changed":
        return "element"
    node = at.theirs or at.ours or at.base
    return (
        "list" if isinstance(node, Sequence) else "map" if isinstance(node, Mapping) else "scalar"
    )


def _rule(at: Three[Node | None], path: Path, what: str, *, is_set: bool) -> str:
    """Return the number of the rule that decides a place with these versions."""
    if " " not in what or "alike" in what:
        return "3" if path and isinstance(path[-1], tuple) and what != "changed" else "1"
    if at.ours is None or at.theirs is None:
        return "2"
    if type(at.ours) is not type(at.theirs):
        return "7"
    if isinstance(at.ours, Sequence):
        return "4" if is_set else "5"
    return "6"


def shown_values(at: Three[Node | None]) -> Three[str]:
    """Return the three values of a place, each in one line.

    For texts and lists, return only the parts that differ.
    """
    there = [node for node in at.each() if node is not None]
    texts = at.map(in_full)
    if len(there) > 1 and all(map(is_block_text, there)):
        lines = at.map(lambda node: body_lines(node) if isinstance(node, Scalar) else None)
        texts = apart(lines, str, str.strip, _as_lines)
    elif len(there) > 1 and all(isinstance(node, Sequence) for node in there):
        lists = _as_lists(at).map(lambda n: [e.value for e in n.entries] if n is not None else None)
        texts = apart(lists, canon, in_full, lambda parts, is_all: listed(parts, all_of_it=is_all))
    return side_by_side(at, texts, alike)


def side_by_side(at: Three[T], texts: Three[str], same: Callable[[T, T], bool]) -> Three[str]:
    """Return the texts of three versions in one line each, so that different versions differ.

    Words say it where two different versions read the same.
    """
    versions = at.each()
    shown = beside([" ".join(text.split()) for text in texts.each()])
    for later, earlier in ((1, 0), (2, 0), (2, 1)):
        is_read_alike = bool(shown[later]) and shown[later] == shown[earlier]
        if is_read_alike and not same(versions[later], versions[earlier]):
            shown[later] = ALMOST.format(LABELS[earlier])
    return Three(*shown)


def apart(
    at: Three[list[T] | None],
    key: Callable[[T], Hashable],
    spelled: Callable[[T], str],
    joined: Callable[[list[str], bool], str],
) -> Three[str]:
    """Return for each version its parts that some other version lacks.

    If the versions differ only in the order of their parts, return all parts.
    """
    counts = [Counter(map(key, parts)) for parts in at.each() if parts is not None]
    common = counts[0]
    for count in counts[1:]:
        common = common & count

    def rest(parts: list[T] | None) -> list[T]:
        left = Counter(common)
        different = []
        for one in parts or ():
            left[key(one)] -= 1
            different += [one] if left[key(one)] < 0 else []
        return different

    is_order = not any(map(rest, at.each()))

    def shown(parts: list[T] | None) -> str:
        if parts is None:
            return ""
        different = parts if is_order else rest(parts)
        return joined([spelled(one) for one in different], len(different) == len(parts))

    return at.map(shown)


def _as_lines(parts: list[str], is_all: bool) -> str:
    text = " / ".join(part for part in parts if part)
    return text if is_all else f"… {text}"
