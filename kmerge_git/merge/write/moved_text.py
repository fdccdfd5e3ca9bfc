"""Write a version of a file with a move that the other side made.

Each function returns the span of the lines that are replaced, the new lines, and what the changed
collection must mean after that. It returns None for a layout that it cannot write.
"""

from __future__ import annotations

from kmerge_git.merge.write.placed_lines import entry_lines, shift, shift_rest
from kmerge_git.tree.nodes import (
    Collection,
    Entry,
    Mapping,
    Node,
    Sequence,
    column_of,
    foot,
    head,
    in_flow,
    in_mid_line,
    on_own_lines,
)
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Sequence as Some

    Wanted = dict[int, object]  # id of a node -> what it means after the move
    Rewritten = tuple[int, int, str, Wanted]


def value_of(node: Node, wanted: Wanted) -> object:
    """Return what a node means; `wanted` has the collections that mean something else now."""
    if id(node) in wanted:
        return wanted[id(node)]
    if isinstance(node, Mapping):
        return node.anchor, node.tag, {e.name: value_of(e.value, wanted) for e in node.entries}
    if isinstance(node, Collection):
        return node.anchor, node.tag, [value_of(e.value, wanted) for e in node.entries]
    return canon(node)


def under_key(place: Mapping, mover: Mapping, parent: str, names: Some[str]) -> Rewritten | None:
    """Write the entries of a mapping below a key that the mover gave them."""
    there, own = mover.index()[parent], place.index()
    value, known, column = there.value, own.get(parent), place.column
    assert isinstance(value, Mapping)  # the caller's case
    if place.flow or not place.entries:
        return None
    moved = [own[e.name] for e in value.entries if e.name in names and e.name in own]
    rest = [e for e in place.entries if e not in moved and e is not known]
    blocks = [entry_lines(e, column) for e in rest]
    wanted: dict[str, object] = {e.name: value_of(e.value, {}) for e in rest}
    if moved or known is not None:
        block = _filled(known, there, column, moved)
        if block is None:
            return None
        blocks.insert(_position(mover, parent, [e.name for e in rest]), block)
        wanted[parent] = _meaning(known, moved)
    lines = _tiled(place, blocks)
    if lines is None:
        return None
    return place.top, place.bottom, lines, {id(place): (place.anchor, place.tag, wanted)}


def _filled(known: Entry | None, like: Entry, column: int, moved: list[Entry]) -> str | None:
    """Write a key with the moved entries below it, and with the entries that it has already."""
    if known is None:
        inner = column + _way_inside(like)
        return _key_line(like, column) + "".join(entry_lines(e, inner) for e in moved)
    if not (isinstance(known.value, Mapping) and on_own_lines(known.value)):
        return None
    inner = known.value.column
    return entry_lines(known, column) + "".join(entry_lines(e, inner) for e in moved)


def _meaning(known: Entry | None, moved: list[Entry]) -> object:
    """Return what a map means with the moved entries."""
    old = known.value if known is not None else None
    inside = [*old.entries, *moved] if isinstance(old, Mapping) else moved
    marks = (old.anchor, old.tag) if old is not None else ("", "")
    return *marks, {e.name: value_of(e.value, {}) for e in inside}


def to_list(
    place: Mapping,
    mover: Mapping,
    names: tuple[str, str],
    chosen: list[Entry],
    rank: Callable[[Entry], int],
) -> Rewritten | None:
    """Write elements of one list of a mapping into another list, where the mover has them.

    `rank` returns the place of an element in the mover's list, or -1 if the list does not have it.
    """
    source, target = names
    own, like = place.index(), mover.index()
    old, known = own.get(source), own.get(target)
    if place.flow or not all(map(_is_block_list, (old, known or old))):
        return None
    rest = [entry for entry in _entries(old) if entry not in chosen]
    elements = _merged_order(_entries(known), chosen, rank)
    lists = {source: rest, target: elements}
    others = [entry for entry in place.entries if entry.name not in names]
    blocks = {e.name: entry_lines(e, place.column) for e in others}
    wanted = {e.name: value_of(e.value, {}) for e in others}
    for name, entries in lists.items():
        if entries or name in like:
            blocks[name] = _list_lines(own.get(name), like.get(name), place.column, entries)
            wanted[name] = _list_meaning(own.get(name), entries)
    order = [entry.name for entry in place.entries if entry.name in blocks]
    lines = _tiled(place, [blocks[name] for name in _with_new(order, blocks, target, mover)])
    if lines is None:
        return None
    return place.top, place.bottom, lines, {id(place): (place.anchor, place.tag, wanted)}


def _with_new(order: list[str], blocks: dict[str, str], target: str, mover: Mapping) -> list[str]:
    """Return the keys in their order, with the key of the other list if it is new."""
    if target not in blocks or target in order:
        return order
    at = _position(mover, target, order)
    return [*order[:at], target, *order[at:]]


def _list_meaning(known: Entry | None, elements: list[Entry]) -> object:
    marks = (known.value.anchor, known.value.tag) if known is not None else ("", "")
    return *marks, [value_of(entry.value, {}) for entry in elements]


def _is_block_list(entry: Entry | None) -> bool:
    value = entry.value if entry is not None else None
    return isinstance(value, Sequence) and not value.flow and bool(value.entries)


def _entries(entry: Entry | None) -> list[Entry]:
    value = entry.value if entry is not None else None
    return [*value.entries] if isinstance(value, Collection) else []


def _list_lines(known: Entry | None, like: Entry | None, column: int, elements: list[Entry]) -> str:
    """Write an entry whose value is a list, with other elements."""
    entry = known or like
    assert entry is not None  # the caller's case
    if not elements:
        return _key_line(entry, column)[:-1] + " []\n"
    if known is None or not isinstance(known.value, Sequence):
        dashes = column + _way_inside(entry)
        return _key_line(entry, column) + "".join(entry_lines(e, dashes) for e in elements)
    first = known.value.entries[0]
    opening = entry_lines(known, column)[: -len(known.value.text[first.lead : known.end])]
    return opening + "".join(entry_lines(e, known.value.column) for e in elements)


def _tiled(place: Mapping, blocks: list[str]) -> str | None:
    """Return the lines of a mapping with other entries."""
    lines = head(place) + "".join(blocks) + foot(place)
    if not in_mid_line(place):
        return lines
    column = place.column
    if lines[:column].strip() or lines[column : column + 1] in ("#", " ", "\n", ""):
        return None  # a comment cannot follow a dash
    return lines[column:]


def with_keys(
    entry: Entry, mover: Entry, keys: Some[tuple[str, tuple[str, ...]]]
) -> Rewritten | None:
    """Write a list as a map, with the keys that the mover gave to the elements of base."""
    place, there = entry.value, mover.value
    assert isinstance(place, Sequence) and isinstance(there, Mapping)  # the caller's case
    if place.flow or in_flow(entry) or not on_own_lines(place):
        return None
    if len(keys) != len(place.entries):
        return None
    column = column_of(entry) + _way_inside(mover)
    blocks: dict[str, str] = {}
    wanted: dict[str, object] = {}
    for element, (key, dropped) in zip(place.entries, keys, strict=True):
        target = there.index()[key]
        lines = _element_with_key(element, target, column, dropped)
        if lines is None:
            return None
        blocks[key] = lines
        wanted[key] = value_of(element.value, {})
        if dropped and isinstance(element.value, Mapping):
            kept = [e for e in element.value.entries if e.name not in dropped]
            inside = {e.name: value_of(e.value, {}) for e in kept}
            wanted[key] = (element.value.anchor, element.value.tag, inside)
    text = "".join(blocks[e.name] for e in there.entries if e.name in blocks)
    lines = head(place) + text + foot(place)
    return place.top, place.bottom, lines, {id(place): (place.anchor, place.tag, wanted)}


def list_under_key(entry: Entry, mover: Entry, name: str) -> Rewritten | None:
    """Write a list below a key that the mover put above it."""
    place, there = entry.value, mover.value
    assert isinstance(place, Sequence) and isinstance(there, Mapping)  # the caller's case
    if place.flow or in_flow(entry) or not on_own_lines(place):
        return None
    parent = there.index()[name]
    column = column_of(entry) + _way_inside(mover)
    by = column + _way_inside(parent) - place.column
    lines = _key_line(parent, column) + shift(place.text[place.top : place.bottom], by)
    inside = [value_of(e.value, {}) for e in place.entries]
    wanted = (place.anchor, place.tag, {name: ("", "", inside)})
    return place.top, place.bottom, lines, {id(place): wanted}


def _element_with_key(
    element: Entry, target: Entry, column: int, dropped: tuple[str, ...]
) -> str | None:
    """Write an element of a list as the entry of a map."""
    value, text = element.value, element.value.text
    above = shift(text[element.lead : element.line], column - column_of(element))
    key = " " * column + (target.key.raw if target.key is not None else "") + ":"
    if isinstance(value, Mapping) and not value.flow:
        entries = [e for e in value.entries if e.name not in dropped]
        inner = column + _way_inside(target)
        if not entries or value.content != value.start:
            return None
        return f"{above}{key}\n" + "".join(entry_lines(e, inner) for e in entries)
    if dropped or (isinstance(value, Collection) and not value.flow):
        return None
    return f"{above}{key} " + shift_rest(
        text[value.start : element.end], column - column_of(element)
    )


def _key_line(entry: Entry, column: int) -> str:
    """Return the line of a key whose value is a block below it."""
    return " " * column + (entry.key.raw if entry.key is not None else "") + ":\n"


def _way_inside(entry: Entry) -> int:
    """Return how many columns the block of an entry is indented."""
    value = entry.value
    if not isinstance(value, Collection) or not on_own_lines(value):
        return 2
    return max(value.column - column_of(entry), 0 if isinstance(value, Sequence) else 1)


def _position(mover: Mapping, name: str, names: list[str]) -> int:
    """Return where a new key goes: behind the nearest key that stands above it on the mover."""
    above: list[str] = []
    for entry in mover.entries:
        if entry.name == name:
            break
        above.append(entry.name)
    return next((names.index(key) + 1 for key in reversed(above) if key in names), 0)


def _merged_order(old: list[Entry], new: list[Entry], rank: Callable[[Entry], int]) -> list[Entry]:
    """Return the elements of two lists, each new one behind those that precede it on the mover."""
    result = list(old)
    for entry in sorted(new, key=rank):
        before = [n for n, known in enumerate(result) if -1 < rank(known) < rank(entry)]
        result.insert(max(before) + 1 if before else 0, entry)
    return result
