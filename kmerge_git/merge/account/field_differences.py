"""The fields at which the versions of a merge differ, and which version is in the result.

A result with conflicts is two: everything decided for ours, and for theirs. Where these two
differ, the place is left to a person.
"""

from __future__ import annotations

from kmerge_git.merge.decide.keyed import keys_of
from kmerge_git.merge.three import Three, under
from kmerge_git.tree.block_scalars import body_lines
from kmerge_git.tree.brief import brief, listed, shortened
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, Sequence, is_block_text
from kmerge_git.tree.same import canon, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator
    from typing import TypeVar

    from kmerge_git.kube.fieldpath import Path, Step
    from kmerge_git.kube.listkeys import ListRule, Where
    from kmerge_git.merge.decide.rules import Rules, Table


def differences(rules: Rules, four: Four, path: Path, where: Where) -> Iterator[Difference]:
    """Yield the places from here on at which a side did anything."""
    if four.is_the_same:
        return
    if four.at.base is None and alike(four.at.ours, four.at.theirs):
        yield whole(four, path)
        return
    if _are_all(four, Mapping):
        yield from marked(four, path)
        yield from _in_mapping(rules, four, path, where.at(four.at.base or four.at.ours))
        return
    if _are_all(four, Sequence):
        rule = where.list_rule()
        tables = rules.keyed(_as_lists(four.at), rule)
        if tables is not None and rule.kind != "set":
            yield from marked(four, path)
            yield from _in_list(rules, four, path, where, tables)
            return
        yield whole(four, path, is_set=rule.kind == "set")
        return
    yield whole(four, path)


def _are_all(four: Four, kind: type[Collection]) -> bool:
    """Return whether both sides have a collection of a kind, and base has none of another."""
    at = four.at
    is_base = at.base is None or isinstance(at.base, kind)
    return is_base and isinstance(at.ours, kind) and isinstance(at.theirs, kind)


def _as_lists(at: Three[Node | None]) -> Three[Sequence | None]:
    return at.map(lambda node: node if isinstance(node, Sequence) else None)


def _in_mapping(rules: Rules, four: Four, path: Path, where: Where) -> Iterator[Difference]:
    known = four.at.map(_index)
    tables, _ = rules.renamed(known.map(dict), (), None)
    ends = _each_end(four.ends, _index_of_end)
    for key in _labels(tables):
        at = under(tables, key)
        names = at.map(lambda entry: entry.name if entry is not None else None)
        inner = Four(at.map(_value), _found(ends, names))
        yield from _renamed(names, (*path, str(key)), inner)
        yield from differences(rules, inner, (*path, str(key)), where.child(str(key)))


def _renamed(names: Three[str | None], path: Path, four: Four) -> Iterator[Difference]:
    """Yield an entry that has another key on a side."""
    if names.base is None or not {names.ours, names.theirs} - {names.base, None}:
        return
    new = [n for n in (names.ours, names.theirs) if n not in (names.base, None)]
    side = "both" if len(new) > 1 else "ours" if new == [names.ours] else "theirs"
    what = "renamed" if len(new) == 1 else "renamed alike on both sides"
    yield Difference(path, what, side, "11", names.map(lambda name: name or ""))


def _in_list(
    rules: Rules, four: Four, path: Path, where: Where, own: Three[Table]
) -> Iterator[Difference]:
    lists, rule = _as_lists(four.at), where.list_rule()
    keys = keys_of(lists, rule)
    tables, _ = rules.renamed(own, keys.paths, rule)

    def key_of(entry: Entry | None) -> Hashable:
        return keys.of(entry.value) if entry is not None else None

    def by_key(node: Node | None) -> dict[Hashable, Node] | None:
        if not isinstance(node, Sequence):
            return None
        return {key_of(entry): entry.value for entry in node.entries}

    ends = _each_end(four.ends, by_key)
    for key in _labels(tables):
        at = under(tables, key)
        inner = Four(at.map(_value), _found(ends, at.map(key_of)))
        step: Step = keys.step(key)
        yield from differences(rules, inner, (*path, step), where.items())
    yield from _order(tables, ends, key_of, path, rule)


def _order(
    tables: Three[Table],
    ends: Ends[dict[Hashable, Node]],
    key_of: Callable[[Entry | None], Hashable],
    path: Path,
    rule: ListRule,
) -> Iterator[Difference]:
    """Yield the order of the elements that all versions have, if a side changed it."""
    common = [k for k in tables.base if k in tables.ours and k in tables.theirs]
    orders = tables.map(lambda table: [key for key in table if key in set(common)])
    if orders.base == orders.ours == orders.theirs:
        return
    shown = orders.map(lambda keys: shortened(", ".join(map(_text_of, keys))))
    names = {key_of(entry): key for table in tables.each() for key, entry in table.items()}
    found = None
    if ends is not None and None not in ends:
        results = [[names.get(key) for key in end or ()] for end in ends]
        first, second = ([key for key in keys if key in set(common)] for keys in results)
        found = first, second
    side = side_of(orders, found, lambda a, b: a == b)
    yield Difference(path, "reordered", side, "3" if rule.kind != "set" else "4", shown, "order")


def _text_of(key: Hashable) -> str:
    parts = key if isinstance(key, tuple) else (key,)
    return "/".join(str(part) for part in parts if part is not None)


def _labels(tables: Three[Table]) -> list[Hashable]:
    return list(dict.fromkeys([*tables.base, *tables.ours, *tables.theirs]))


def _value(entry: Entry | None) -> Node | None:
    return entry.value if entry is not None else None


def _index(node: Node | None) -> dict[Hashable, Entry]:
    return dict(node.index().items()) if isinstance(node, Mapping) else {}


def _index_of_end(node: Node | None) -> dict[Hashable, Node] | None:
    if not isinstance(node, Mapping):
        return None
    return {name: entry.value for name, entry in node.index().items()}


def _each_end(
    ends: Ends[Node], table: Callable[[Node | None], dict[Hashable, Node] | None]
) -> Ends[dict[Hashable, Node]]:
    """Return the entries of the result by key; None where it has another kind of value."""
    if ends is None:
        return None
    tables = [table(end) for end in ends]
    return None if None in tables else (tables[0], tables[1])


def _found(
    ends: Ends[dict[Hashable, Node]], keys: Three[Hashable]
) -> tuple[Node | None, Node | None] | None:
    """Return the entry in the result, under the key of one of the versions."""
    if ends is None:
        return None
    names = [key for key in (keys.ours, keys.theirs, keys.base) if key is not None]
    first, second = (
        next((end[name] for name in names if name in end), None) if end is not None else None
        for end in ends
    )
    if first is None and second is None and keys.ours is not None and keys.theirs is not None:
        return None  # it is there under another name
    return first, second


if TYPE_CHECKING:
    T = TypeVar("T")
    Ends = tuple[T | None, T | None] | None  # None: the result is unknown there


class Difference:
    """A place where the versions of a merge differ, and the side that is in the result."""

    __slots__ = ("kind", "path", "resource", "rule", "side", "values", "what")

    def __init__(
        self,
        path: Path,
        what: str,
        side: str,
        rule: str,
        values: Three[str],
        kind: str = "scalar",
    ) -> None:
        self.resource = ""
        self.path = path
        self.what = what
        self.side = side  # `ours`, `theirs`, `both` or `conflict`
        self.rule = rule
        self.values = values
        self.kind = kind  # `scalar`, `list`, `map`, `element`, `document`, `comment` or `order`

    @property
    def doers(self) -> set[str]:
        """Return the sides that did something here."""
        is_alone = self.side in ("ours", "theirs") and " " not in self.what
        return {self.side} if is_alone else {"ours", "theirs"}


class Four:
    """The nodes of one place in the versions and in the result."""

    __slots__ = ("at", "ends")

    def __init__(self, at: Three[Node | None], ends: Ends[Node]) -> None:
        self.at = at
        self.ends = ends

    @property
    def is_the_same(self) -> bool:
        """Return whether no side did anything here."""
        at = self.at
        return alike(at.base, at.ours) and alike(at.base, at.theirs)


def marked(four: Four, path: Path) -> list[Difference]:
    """Return the anchor and tag of a collection if a side changed them, without its entries."""
    if four.at.base is None:
        return []
    at = four.at.map(_marks)
    if at.base == at.ours == at.theirs:
        return []
    ends = (_marks(four.ends[0]), _marks(four.ends[1])) if four.ends is not None else None
    side = side_of(at, ends, lambda a, b: a == b)
    return [Difference(path, what_of(at, lambda a, b: a == b), side, "1", at)]


def _marks(node: Node | None) -> str:
    return " ".join(m for m in (node.anchor and f"&{node.anchor}", node.tag) if m) if node else ""


def alike(a: Node | None, b: Node | None) -> bool:
    """Return whether two nodes mean the same, or neither is there."""
    return a is b if a is None or b is None else same_node(a, b)


def side_of(at: Three[T], ends: Ends[T], same: Callable[[T | None, T | None], bool]) -> str:
    """Return the side whose version is in the result; `both`: neither alone, or the same."""
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
    """Return the changes of the sides: `changed`, `added`, `deleted`, of one side or of both."""
    mine, yours = _how(at.base, at.ours, same), _how(at.base, at.theirs, same)
    if not mine or not yours:
        return mine or yours
    if same(at.ours, at.theirs):
        return f"{mine} alike on both sides"
    return f"{mine} on both sides" if mine == yours else f"{mine} in ours, {yours} in theirs"


def _how(old: T | None, new: T | None, same: Callable[[T | None, T | None], bool]) -> str:
    if same(old, new):
        return ""
    return "added" if old is None else "deleted" if new is None else "changed"


def whole(four: Four, path: Path, *, is_set: bool = False) -> Difference:
    """Return the difference of a place that is not looked into."""
    at = four.at
    what, side = what_of(at, alike), side_of(at, four.ends, alike)
    kind = _kind(at, path, what)
    return Difference(path, what, side, _rule(at, path, what, is_set=is_set), told(at), kind)


def _kind(at: Three[Node | None], path: Path, what: str) -> str:
    if path and not isinstance(path[-1], str) and what != "changed":
        return "element"
    node = at.theirs or at.ours or at.base
    if isinstance(node, Collection):
        return "list" if isinstance(node, Sequence) else "map"
    return "scalar"


def _rule(at: Three[Node | None], path: Path, what: str, *, is_set: bool) -> str:
    """Return the number of the rule that decides about such a place."""
    if " " not in what or "alike" in what:
        return "3" if path and isinstance(path[-1], tuple) and what != "changed" else "1"
    if at.ours is None or at.theirs is None:
        return "2"
    if type(at.ours) is not type(at.theirs):
        return "7"
    if isinstance(at.ours, Sequence):
        return "4" if is_set else "5"
    return "6"


def told(at: Three[Node | None]) -> Three[str]:
    """Return the three values in a line each; of texts and lists only the differing parts."""
    there = [node for node in at.each() if node is not None]
    if len(there) > 1 and all(isinstance(node, Scalar) and is_block_text(node) for node in there):
        lines = at.map(lambda node: body_lines(node) if isinstance(node, Scalar) else None)
        return apart(lines, lambda line: line, lambda line: line.strip(), _as_lines)
    if len(there) > 1 and all(isinstance(node, Sequence) for node in there):
        lists = at.map(
            lambda n: [e.value for e in n.entries] if isinstance(n, Collection) else None
        )
        return apart(lists, canon, brief, _as_list)
    return at.map(brief)


def apart(
    at: Three[list[T] | None],
    key: Callable[[T], Hashable],
    spelled: Callable[[T], str],
    joined: Callable[[list[str], bool], str],
) -> Three[str]:
    """Return the parts of each version that not all have; all parts where there are none."""
    counts = [_counted(map(key, found)) for found in at.each() if found is not None]
    common = {k: min(count.get(k, 0) for count in counts) for k in counts[0]}
    apart = at.map(lambda found: None if found is None else _without(found, common, key))
    is_order = not any(apart.each())
    shown = at if is_order else apart
    return Three(
        *(
            joined([spelled(one) for one in found], len(found) == len(known))
            if found is not None and known is not None
            else ""
            for found, known in zip(shown.each(), at.each(), strict=True)
        )
    )


def _counted(keys: Iterable[Hashable]) -> dict[Hashable, int]:
    counts: dict[Hashable, int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    return counts


def _without(found: list[T], common: dict[Hashable, int], key: Callable[[T], Hashable]) -> list[T]:
    left, rest = dict(common), []
    for one in found:
        name = key(one)
        if left.get(name):
            left[name] -= 1
        else:
            rest.append(one)
    return rest


def _as_lines(parts: list[str], is_all: bool) -> str:
    text = " / ".join(part for part in parts if part)
    return shortened(text if is_all else f"… {text}")


def _as_list(parts: list[str], is_all: bool) -> str:
    return shortened(listed(parts, all_of_it=is_all))
