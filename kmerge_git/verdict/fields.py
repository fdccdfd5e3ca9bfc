"""Compare the fields of three versions with a result: what became of each change.

A place gets one of these verdicts. *Kept*: the result has the change, as the side that made it.
*Combined*: it holds the changes of both sides. *Decided*: both sides changed the place, and the
result has one of them, or a value of its own. *Lost*: it has the value of base although a side
changed it, or nothing although nobody deleted it. *Invented*: no version has it. A place without a
verdict is in conflict, or unknown.

The walk goes as deep as the rules of the merge do. A thorough walk goes on where a whole list, text
or section is in doubt: to the elements of lists without keys, to the lines of texts, and into
sections that one side added or deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import eq

from kmerge_git.merge.decide.keyed import keys_of
from kmerge_git.merge.three import Three, under
from kmerge_git.outcome import SIDES
from kmerge_git.tree.brief import brief
from kmerge_git.tree.nodes import Collection, Mapping, Node, Sequence, is_block_text
from kmerge_git.verdict.loose_lists import labelled
from kmerge_git.verdict.spelling import alike, as_lists, shown_values, side_by_side
from kmerge_git.verdict.text_lines import judged_lines, lost_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator
    from typing import TypeVar

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.decide.rules import Rules, Table
    from kmerge_git.tree.nodes import Entry

    T = TypeVar("T")
    Ends = tuple[T | None, T | None] | None  # None if the result is unknown at this place
    KeyOf = Callable[[Entry], Hashable]

KEPT, COMBINED, DECIDED, LOST, INVENTED = "kept", "combined", "decided", "lost", "invented"


@dataclass(slots=True)
class Difference:
    """Hold a place where the versions of a merge differ, and what the result has there."""

    path: Path
    what: str
    side: str  # the side that the result follows: `ours`, `theirs`, `both` or `conflict`
    rule: str
    values: Three[str]
    kind: str = "scalar"  # `scalar`, `list`, `map`, `element`, `document`, `comment` or `order`
    resource: str = ""
    verdict: str = ""
    of: str = ""  # the side whose change has this verdict, or `both`
    result: str = ""  # the value in the result
    node: Node | None = None  # the value in the result, or else the nearest node around it
    lost: Node | None = None  # the value that the result should have

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
    near: Node | None = None  # the nearest node of the result around this place

    @property
    def result(self) -> Node | None:
        """Return the value of the result, if its conflicts can be resolved to one value only."""
        return self.ends[0] if self.ends is not None and alike(*self.ends) else None


class FieldWalk:
    """Walk through the fields of three versions and a result.

    With `lost_of`, only lost places have their values. If it is one side, the result is the other
    side, and what this side did not change is left out.
    """

    __slots__ = ("_is_thorough", "_lost_of", "_rules", "_taken")

    def __init__(self, rules: Rules, *, is_thorough: bool = False, lost_of: str = "") -> None:
        self._rules = rules
        self._is_thorough = is_thorough
        self._lost_of = lost_of
        self._taken = {"ours": "theirs", "theirs": "ours"}.get(lost_of, "")

    def differences(self, four: Four, path: Path, where: Where) -> Iterator[Difference]:
        """Yield the places, at a path or below the path, that a side changed."""
        at = four.at
        if self._is_settled(four):
            return
        is_set = False
        is_gone = self._is_thorough and four.ends == (None, None)
        if not is_gone and (at.base is not None or not alike(at.ours, at.theirs)):
            if _are_all(at, Mapping):
                yield from marked(four, path)
                yield from self._in_mapping(four, path, where.at(at.base or at.ours))
                return
            if _are_all(at, Sequence):
                rule = where.list_rule()
                is_set = rule.kind == "set"
                tables = self._rules.keyed(as_lists(at), rule)
                if tables is not None and not is_set:
                    yield from marked(four, path)
                    yield from self._in_list(four, path, where, tables)
                    return
        one = whole(four, path, is_set=is_set, is_short=bool(self._lost_of))
        if self._is_thorough and not is_gone and one.verdict in (DECIDED, INVENTED, LOST):
            yield from self._parts(four, path, where, one)
        else:
            yield one

    def _is_settled(self, four: Four) -> bool:
        """Return whether no side changed a place; for a judge, the result is the same as well."""
        at = four.at
        if self._taken and four.ends is not None and four.ends[0] is at.side(self._taken):
            return alike(at.base, at.side(self._lost_of))
        if not (alike(at.base, at.ours) and alike(at.base, at.theirs)):
            return False
        is_same = four.ends is None or all(alike(at.base, end) for end in four.ends)
        return is_same or not self._is_thorough

    def _parts(self, four: Four, path: Path, where: Where, one: Difference) -> Iterator[Difference]:
        """Yield the differences inside of a place; if there are none, yield the whole place."""
        result, base = four.result, four.at.base
        if result is None:
            yield one
            return
        # what a side deleted and the result has counts as unchanged on that side
        at = four.at.map(lambda node: base if node is None else node)
        inner = Four(at, four.ends, four.near)
        there = [node for node in (*at.each(), result) if node is not None]
        rows: list[Difference] | None = None
        if all(isinstance(node, Mapping) for node in there):
            rows = [*self._in_mapping(inner, path, where.at(there[0]))]
        elif all(isinstance(node, Sequence) for node in there):
            rows = [*self._in_any_list(inner, path, where)]
        elif all(map(is_block_text, there)):
            rows = [*_in_text(inner, path, one)]
        if rows is None or (one.verdict == LOST and not any(row.verdict == LOST for row in rows)):
            rows = [one]
        elif not any(row.verdict == LOST for row in rows):
            one.verdict = COMBINED if one.of == "both" else one.verdict
            rows = [one]
        yield from rows

    # -- mappings

    def _in_mapping(self, four: Four, path: Path, where: Where) -> Iterator[Difference]:
        indexes: Three[dict[Hashable, Entry]] = four.at.map(
            lambda node: dict(node.index().items()) if isinstance(node, Mapping) else {}
        )
        tables, _ = self._rules.renamed(indexes, (), None)
        for key, names, inner in self._entries(four, tables, Mapping, lambda entry: entry.name):
            yield from _renamed(names, (*path, str(key)), four)
            yield from self.differences(inner, (*path, str(key)), where.child(str(key)))

    # -- lists

    def _in_any_list(self, four: Four, path: Path, where: Where) -> Iterator[Difference]:
        rule = where.list_rule()
        tables = None
        if rule.kind != "set":
            tables = self._rules.keyed(as_lists(four.at), rule)
        if tables is not None:
            yield from self._in_list(four, path, where, tables)
        else:
            yield from self._in_loose_list(four, path, where)

    def _in_list(
        self, four: Four, path: Path, where: Where, own: Three[Table]
    ) -> Iterator[Difference]:
        rule = where.list_rule()
        keys = keys_of(as_lists(four.at), rule)
        tables, _ = self._rules.renamed(own, keys.paths, rule)

        def key_of(entry: Entry) -> Hashable:
            return keys.of(entry.value)

        for key, _, inner in self._entries(four, tables, Sequence, key_of):
            yield from self.differences(inner, (*path, keys.step(key)), where.items())
        ends = _each_end(four.ends, Sequence, key_of)
        yield from _element_order(tables, ends, key_of, path)

    def _entries(
        self, four: Four, tables: Three[Table], kind: type[Collection], key_of: KeyOf
    ) -> Iterator[tuple[Hashable, Three[Hashable], Four]]:
        """Yield each key of the tables, with the keys and values of its entry in each version."""
        ends = _each_end(four.ends, kind, key_of)
        near = four.result or four.near
        for key in dict.fromkeys([*tables.base, *tables.ours, *tables.theirs]):
            at = under(tables, key)
            own = at.map(lambda entry: key_of(entry) if entry is not None else None)
            values = at.map(lambda entry: entry.value if entry is not None else None)
            there = _values_in(ends, own)
            # an entry that both sides have, and the result has not, may have another name there
            is_unknown = there == (None, None) and None not in (own.ours, own.theirs)
            if is_unknown and not self._is_thorough:
                there = None
            yield key, own, Four(values, there, near)

    def _in_loose_list(self, four: Four, path: Path, where: Where) -> Iterator[Difference]:
        """Yield the differences in the elements of a list without keys."""
        result = four.result
        assert isinstance(result, Sequence)
        lists = labelled(as_lists(four.at), result)
        for label in lists.labels:
            at = under(lists.tables, label)
            there = lists.result.get(label)
            inner = Four(at, (there, there), result)
            place = (*path, lists.number(label))
            for one in self.differences(inner, place, where.items()):
                is_whole = one.path == place
                if not (is_whole and one.verdict == LOST and lists.has_as_many(at)):
                    yield one


def _are_all(at: Three[Node | None], kind: type[Collection]) -> bool:
    """Return whether both sides have a collection of this kind at a place.

    The base must have a collection of this kind, or no value.
    """
    is_base = at.base is None or isinstance(at.base, kind)
    return is_base and isinstance(at.ours, kind) and isinstance(at.theirs, kind)


def _renamed(names: Three[Hashable], path: Path, four: Four) -> Iterator[Difference]:
    """Yield a difference for an entry that has another key on a side."""
    new = [name for name in (names.ours, names.theirs) if name not in (names.base, None)]
    if names.base is None or not new:
        return
    side = "both" if len(new) > 1 else "ours" if new == [names.ours] else "theirs"
    what = "renamed" if len(new) == 1 else "renamed identically on both sides"
    values = names.map(lambda name: str(name or ""))
    row = Difference(path, what, side, "11", values, of=side, node=four.result)
    if isinstance(four.result, Mapping):
        there = four.result.index()
        row.verdict = KEPT if new[0] in there else LOST if names.base in there else INVENTED
    yield row


def _each_end(
    ends: Ends[Node], kind: type[Collection], key_of: KeyOf
) -> tuple[dict[Hashable, Node], dict[Hashable, Node]] | None:
    """Return the entries of a result by key: once resolved to ours, and once to theirs.

    Return None if the result has another kind of value at this place.
    """
    if ends is None:
        return None
    different = ends[:1] if ends[0] is ends[1] else ends  # a clean result is the same twice
    tables = [
        {key_of(entry): entry.value for entry in end.entries}
        for end in different
        if isinstance(end, Collection) and isinstance(end, kind)
    ]
    return (tables[0], tables[-1]) if len(tables) == len(different) else None


def _values_in(
    ends: tuple[dict[Hashable, Node], dict[Hashable, Node]] | None, keys: Three[Hashable]
) -> Ends[Node]:
    """Return the values in the result, found by the keys of the entry in the versions."""
    if ends is None:
        return None
    names = [key for key in (keys.ours, keys.theirs, keys.base) if key is not None]
    first, second = (next((end[name] for name in names if name in end), None) for end in ends)
    return first, second


def _element_order(
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
        return f"{mine} identically on both sides"
    return f"{mine} on both sides" if mine == yours else f"{mine} in ours, {yours} in theirs"


def verdict_of(
    at: Three[T | None], ends: Ends[T], same: Callable[[T | None, T | None], bool]
) -> tuple[str, str]:
    """Return what became of a place, and the side that changed it (`both`, `ours`, `theirs`)."""
    doers = [side for side in SIDES if not same(at.side(side), at.base)]
    of = doers[0] if len(doers) == 1 else "both" if doers else ""
    if ends is None or not same(*ends):
        return "", of
    result = ends[0]
    if any(same(result, at.side(side)) for side in doers):
        is_agreed = len(doers) == 1 or same(at.ours, at.theirs)
        return KEPT if is_agreed else DECIDED, of
    is_gone = result is None and at.ours is not None and at.theirs is not None
    if doers and (is_gone or same(result, at.base)):
        return LOST, of
    is_decided = len(doers) == 2 and not same(at.ours, at.theirs)
    return DECIDED if is_decided else INVENTED, of


def whole(four: Four, path: Path, *, is_set: bool = False, is_short: bool = False) -> Difference:
    """Return the difference of two values that are compared as a whole, not entry by entry.

    If `is_short` is true, only a lost difference has its values.
    """
    at = four.at
    verdict, of = verdict_of(at, four.ends, alike)
    side = side_of(at, four.ends, alike)
    if is_short and verdict != LOST:
        return Difference(path, "", side, "", Three("", "", ""), verdict=verdict, of=of)
    what = what_of(at, alike)
    rule = _rule(at, path, what, is_set=is_set)
    node = at.theirs or at.ours or at.base
    kind = "list" if isinstance(node, Sequence) else "scalar"
    if path and not isinstance(path[-1], str) and what != "changed":
        kind = "element"
    elif isinstance(node, Mapping):
        kind = "map"
    row = Difference(path, what, side, rule, shown_values(at), kind, node=four.result or four.near)
    row.verdict, row.of, row.result = verdict, of, brief(four.result)
    row.lost = at.side("ours" if of == "both" else of) if of else None
    return row


def _in_text(four: Four, path: Path, one: Difference) -> Iterator[Difference]:
    """Yield a difference for each change of a text of several lines that is lost."""
    result = four.result
    assert result is not None
    for side, line in lost_lines(four.at.map(judged_lines), judged_lines(result)):
        values = Three("", *(line if side == name else "" for name in SIDES))
        yield Difference(
            path, "changed", "both", one.rule, values, "line", verdict=LOST, of=side, node=result
        )


def _rule(at: Three[Node | None], path: Path, what: str, *, is_set: bool) -> str:
    """Return the number of the rule that decides a place with these versions."""
    if " " not in what or "identically" in what:
        return "3" if path and isinstance(path[-1], tuple) and what != "changed" else "1"
    if at.ours is None or at.theirs is None:
        return "2"
    if type(at.ours) is not type(at.theirs):
        return "7"
    if isinstance(at.ours, Sequence):
        return "4" if is_set else "5"
    return "6"
