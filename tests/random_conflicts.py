"""Random merges that end in conflicts, of things of few lines: two sides that edit one collection.

Few words and few fields make many lines alike, inside an element and among its neighbours: there
it is in doubt where a conflict starts and ends.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from random_manifests import chance, mapping, sequence, weighted
from rendering import Document, File
from trees import Entry, List, Map, Node, Scalar, Text, copied

LONG = 12  # lines of an element or a document, at most
FIELDS = ["key", "operator", "effect", "image", "path", "port"]
VALUES = ["a", "b", "c", "Exists", "1"]
NAMES = ["web", "api", "db", "red", "blue"]
LINES = ["one", "two", "three", "  deeper", "# four", ""]
COMMENTS = ["# note", "# keep", "# why"]


def conflict_trio(r: Random) -> tuple[bytes, bytes, bytes]:
    """Base, ours and theirs; by far the most of them are no clean merge."""
    shape = r.choice(SHAPES)
    base = shape(r)
    spot = r.randrange(1000)
    step = r.choice([0, 2])
    texts = [
        _file(made, shape, step) for made in (base, _edited(r, base, spot), _edited(r, base, spot))
    ]
    return texts[0], texts[1], texts[2]


def _edited(r: Random, base: Map, spot: int) -> Map:
    """A copy of a collection after one to three edits, the first where the other side has its."""
    made = copied(base)
    for number in range(r.randint(1, 3)):
        where = Random(spot) if not number and chance(r, 80) else r
        r.choice(EDITS)(r, made, where.randrange(len(made.entries)) if made.entries else 0)
    return made


# -- the collection that both sides edit, and what is around it


def _unkeyed(r: Random) -> List:
    """A list that nobody knows."""
    return sequence(*(_element(r) for _ in range(r.randint(0, 4))))


def _keyed(r: Random) -> List:
    """Containers: the name does not always come first."""
    return sequence(*(_named(r, name) for name in r.sample(NAMES, r.randint(0, 3))))


def _mapped(r: Random) -> Map:
    """A map of maps."""
    names = r.sample(NAMES, r.randint(0, 3))
    return Map(entries=[Entry(_element(r), name) for name in names])


def _documents(r: Random) -> List:
    """Documents with a name, which stand for elements here."""
    return sequence(*(_resource(r, name) for name in r.sample(NAMES, r.randint(0, 3))))


SHAPES: list[Callable[[Random], Map]] = weighted(
    (_unkeyed, 4), (_keyed, 3), (_mapped, 2), (_documents, 2)
)


def _file(made: Map, shape: Callable[[Random], Map], step: int) -> bytes:
    """The file around a collection."""
    if shape is _documents:
        return File([Document(entry.node, entry.above) for entry in made.entries], bare=False).data
    around: Map
    if shape is _keyed:
        pod = mapping(containers=made, hostNetwork="true")
        around = mapping(apiVersion="v1", kind="Pod", metadata=mapping(name="web"), spec=pod)
    else:
        around = mapping(first="1", things=made, last="2")
    _indent(made, step)
    return File([Document(around)]).data


def _indent(node: Node, step: int) -> None:
    if isinstance(node, Map):
        node.step = step if isinstance(node, List) else 2
        for entry in node.entries:
            _indent(entry.node, step)


# -- elements


def _element(r: Random) -> Map:
    """A map of one to four fields, not longer than `LONG` lines."""
    entries = [Entry(_value(r), field) for field in r.sample(FIELDS, r.randint(1, 4))]
    if r.randrange(3):
        entries[0].node = Scalar(text=r.choice(VALUES))
    made = Map(entries=entries)
    return made if _length(made) <= LONG - 2 else _element(r)


def _named(r: Random, name: str) -> Map:
    made = _element(r)
    at = 0 if chance(r, 60) else r.randint(0, len(made.entries))
    made.entries.insert(at, Entry(Scalar(text=name), "name"))
    return made


def _resource(r: Random, name: str) -> Map:
    kind = "Service" if chance(r, 30) else "Widget"
    made = mapping(apiVersion="v1", kind=kind, metadata=mapping(name=name), spec=_element(r))
    return made if _length(made) <= LONG - 2 else _resource(r, name)


def _value(r: Random) -> Node:
    kind = r.choice("sssssmmlnntf")
    if kind == "m":
        return mapping(**{field: r.choice(VALUES) for field in r.sample(FIELDS, r.randint(1, 2))})
    if kind == "l":
        return sequence(*r.sample(VALUES, r.randint(1, 3)))
    if kind == "n":
        return sequence(
            *(
                mapping(
                    **{field: r.choice(VALUES) for field in r.sample(FIELDS[:3], r.randint(1, 2))}
                )
                for _ in range(r.randint(1, 2))
            )
        )
    if kind == "t":
        return Text(
            lines=[r.choice(LINES[:3]), *(r.choice(LINES) for _ in range(r.randint(0, 2))), "end"]
        )
    if kind == "f":
        made = mapping(key=r.choice(VALUES), path=r.choice(VALUES))
        made.flow = "line"
        return made
    return Scalar(text=r.choice(VALUES))


def _length(node: Node) -> int:
    """The lines of a value."""
    if isinstance(node, Text):
        return len(node.lines) + 1
    if not isinstance(node, Map) or node.flow:
        return 1
    return sum(
        len(entry.above) + _length(entry.node) + _below_its_key(entry) for entry in node.entries
    )


def _below_its_key(entry: Entry) -> bool:
    return entry.key is not None and isinstance(entry.node, Map) and not entry.node.flow


# -- edits of the collection, at an entry of it


def _change(r: Random, made: Map, at: int) -> None:
    """Another scalar somewhere in an element."""
    place = made
    if not made.entries:
        return _add(r, made, at)
    entry = made.entries[at]
    while isinstance(entry.node, Map) and entry.node.entries:
        place = entry.node
        entry = r.choice(place.entries)
    if isinstance(entry.node, Text):
        entry.node.lines.insert(r.randint(0, len(entry.node.lines) - 1), r.choice(LINES))
    elif entry.key not in ("kind", "apiVersion"):
        entry.node = Scalar(text=r.choice(VALUES))
    return None


def _change_first(r: Random, made: Map, at: int) -> None:
    """Another value of the first field: what is behind it is often as on the other side."""
    element = made.entries[at].node if made.entries else None
    if isinstance(element, Map) and element.entries and element.entries[0].key != "apiVersion":
        first = element.entries[0]
        first.node = Scalar(text=r.choice(NAMES if first.key == "name" else VALUES))


def _change_field(r: Random, made: Map, at: int) -> None:
    """Another value of a field, often of another kind, or a new field."""
    element = made.entries[at].node if made.entries else None
    if not isinstance(element, Map):
        return
    if element.entries and element.entries[0].key == "apiVersion":
        element = element.entries[-1].node
    if not isinstance(element, Map) or element.flow or isinstance(element, List):
        return
    field = r.choice(FIELDS)
    found = next((entry for entry in element.entries if entry.key == field), None)
    if found is not None:
        found.node = _value(r)
    else:
        element.entries.insert(r.randint(0, len(element.entries)), Entry(_value(r), field))


def _add(r: Random, made: Map, at: int) -> None:
    """Another element, mostly one that is like its neighbour."""
    names = [name for name in NAMES if name not in _names(made)]
    if not names:
        return
    name, at = r.choice(names), min(at, len(made.entries) - 1)
    new = copied(made.entries[at]) if made.entries and chance(r, 60) else None
    if new is None:
        new = Entry(_like(r, made, name))
    elif isinstance(new.node, Map):
        _rename(new.node, name)
        if not isinstance(made, List) or "name" not in _keys(new.node):
            _change_field(r, Map(entries=[new]), 0)
    if not isinstance(made, List):
        new.key = name
    made.entries.insert(max(at, 0) + r.randint(0, 1), new)


def _like(r: Random, made: Map, name: str) -> Map:
    """A new element, of the kind of those that are there."""
    keys = {key for entry in made.entries for key in _keys(entry.node)}
    if "apiVersion" in keys:
        return _resource(r, name)
    return _named(r, name) if "name" in keys else _element(r)


def _replace(r: Random, made: Map, at: int) -> None:
    """Another element in its place."""
    if made.entries:
        old = made.entries.pop(at)
        _add(r, made, at)
        if not made.entries:
            made.entries.append(old)


def _delete(r: Random, made: Map, at: int) -> None:
    if made.entries:
        made.entries.pop(at)


def _move(r: Random, made: Map, at: int) -> None:
    if made.entries:
        made.entries.insert(r.randint(0, len(made.entries) - 1), made.entries.pop(at))


def _comment(r: Random, made: Map, at: int) -> None:
    """Another comment above an element, or above one of its fields."""
    if made.entries:
        entry = made.entries[at]
        if chance(r, 40) and isinstance(entry.node, Map) and len(entry.node.entries) > 1:
            entry = entry.node.entries[-1]
        entry.above = [r.choice(COMMENTS)]


def _flow(r: Random, made: Map, at: int) -> None:
    """An element, or a collection in it, in brackets on one line."""
    element = made.entries[at].node if made.entries else None
    inner = (
        [e.node for e in element.entries if isinstance(e.node, Map)]
        if isinstance(element, Map)
        else []
    )
    chosen = r.choice(inner) if inner else element
    if isinstance(chosen, Map) and _keys(chosen)[:1] != ["apiVersion"]:
        is_flat = all(isinstance(entry.node, Scalar) for entry in chosen.entries)
        chosen.flow = "line" if is_flat else ""


def _retype(r: Random, made: Map, at: int) -> None:
    """An element of another kind, or all of them."""
    if made.entries and not {"apiVersion", "name"} & {*_keys(made.entries[at].node)}:
        made.entries[at].node = _value(r)


def _keys(node: Node) -> list[str | None]:
    return [entry.key for entry in node.entries] if isinstance(node, Map) else []


def _names(made: Map) -> set[str]:
    """The names of the entries."""
    if not isinstance(made, List):
        return {entry.key or "" for entry in made.entries}
    return {
        inner.node.text
        for entry in made.entries
        for field in (entry.node.entries if isinstance(entry.node, Map) else [])
        for inner in ([field] if field.key == "name" else _metadata(field))
        if isinstance(inner.node, Scalar)
    }


def _metadata(field: Entry) -> list[Entry]:
    return field.node.entries if field.key == "metadata" and isinstance(field.node, Map) else []


def _rename(element: Map, name: str) -> None:
    for field in element.entries:
        for inner in [field] if field.key == "name" else _metadata(field):
            inner.node = Scalar(text=name)


EDITS: list[Callable[[Random, Map, int], None]] = weighted(
    (_change, 6),
    (_change_first, 5),
    (_change_field, 5),
    (_add, 7),
    (_replace, 5),
    (_delete, 3),
    (_move, 2),
    (_comment, 2),
    (_flow, 1),
    (_retype, 2),
)
