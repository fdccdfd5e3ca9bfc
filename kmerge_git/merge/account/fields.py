"""The fields of one resource in which the versions of a merge differ, down to the last one."""

from __future__ import annotations

from kmerge_git.kube.listkeys import element_key, field_text, step_of
from kmerge_git.merge.account.places import Difference, Four, alike, marked, side_of, whole
from kmerge_git.merge.decide.keyed import key_paths
from kmerge_git.merge.three import Three, under
from kmerge_git.tree.brief import shortened
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from kmerge_git.kube.fieldpath import Path, Step
    from kmerge_git.kube.listkeys import ListRule, Where
    from kmerge_git.merge.account.places import Ends
    from kmerge_git.merge.decide.rules import Rules, Table


def differences(rules: Rules, four: Four, path: Path, where: Where) -> Iterator[Difference]:
    """The places from here on at which a side did anything."""
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
    """Whether both sides have a collection of a kind, and base has none of another."""
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
    """An entry that has another key on a side."""
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
    paths = key_paths(lists, rule)
    named = paths[0][0] if rule.kind == "infer" else None
    tables, _ = rules.renamed(own, paths, rule)

    def key_of(entry: Entry | None) -> Hashable:
        if entry is None:
            return None
        return field_text(entry.value, named) if named else element_key(entry.value, rule)

    def by_key(node: Node | None) -> dict[Hashable, Node] | None:
        if not isinstance(node, Sequence):
            return None
        return {key_of(entry): entry.value for entry in node.entries}

    ends = _each_end(four.ends, by_key)
    for key in _labels(tables):
        at = under(tables, key)
        inner = Four(at.map(_value), _found(ends, at.map(key_of)))
        step: Step = step_of(key, rule, named)
        yield from differences(rules, inner, (*path, step), where.items())
    yield from _order(tables, ends, key_of, path, rule)


def _order(
    tables: Three[Table],
    ends: Ends[dict[Hashable, Node]],
    key_of: Callable[[Entry | None], Hashable],
    path: Path,
    rule: ListRule,
) -> Iterator[Difference]:
    """The order of the elements that all versions have, if a side changed it."""
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
    """The entries of the result by their keys; None where it has another kind of value there."""
    if ends is None:
        return None
    tables = [table(end) for end in ends]
    return None if None in tables else (tables[0], tables[1])


def _found(
    ends: Ends[dict[Hashable, Node]], keys: Three[Hashable]
) -> tuple[Node | None, Node | None] | None:
    """What the result has of an entry, under the key of one of the versions."""
    if ends is None:
        return None
    names = [key for key in (keys.ours, keys.theirs, keys.base) if key is not None]
    first, second = (
        next((end[name] for name in names if name in end), None) if end is not None else None
        for end in ends
    )
    if first is None and second is None and keys.ours is not None and keys.theirs is not None:
        return None  # it is there under a name that nobody looked for
    return first, second
