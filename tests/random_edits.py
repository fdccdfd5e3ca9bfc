"""Random edits of a manifest, as people make them: of values, keys, order, comments and spelling.

An edit changes a `File` in place. What it does not mean to change keeps its text.
"""

from __future__ import annotations

from random import Random

from random_manifests import (
    ABOVE,
    COMMENTS,
    LINES,
    SCALARS,
    WORDS,
    chance,
    configmap,
    node,
    restyle,
    service,
    values,
    weighted,
)
from rendering import Document, File
from trees import Entry, List, Map, Node, Scalar, Text, collections, copied


def edited(r: Random, made: File, most: int, spot: int | None = None) -> File:
    """A copy of a file after one to `most` edits, the first of them at a spot that others edit too."""
    made = copied(made)
    edit(r, made, spot)
    for _ in range(r.randint(0, most - 1)):
        edit(r, made)
    return made


def edit(r: Random, made: File, spot: int | None = None) -> None:
    """One change: somewhere, or, mostly of a value, at a spot, which is one place in equal files."""
    if not made.documents or (spot is None and chance(r, 8)):
        r.choice(FILE_EDITS)(r, made)
        return
    where = r if spot is None else Random(spot)
    document = where.choice(made.documents)
    places = [c for c in collections(document.root) if c.entries]
    if places:
        place = where.choice(places)
        change = _change if spot is not None and chance(r, 60) else r.choice(EDITS)
        change(r, document, place, where.choice(place.entries))
    elif isinstance(document.root, Map):
        _insert(r, document.root)
    else:
        document.root = node(r, 1)


def edited_text(r: Random, made: Text) -> Text:
    """A copy of a block scalar after an edit or two.

    No line of it comes back elsewhere: in lines, a move is no more than a deletion and an addition.
    """
    fresh = [line for line in LINES if line not in made.lines]
    made = copied(made)
    for _ in range(r.randint(1, 2)):
        _change_text(r, made, fresh)
    return made


# -- in a document


def _change(r: Random, document: Document, place: Map, entry: Entry) -> None:
    made = entry.node
    if isinstance(made, Text):
        _change_text(r, made, LINES)
    elif isinstance(made, Map):
        if made.entries:
            _change(r, document, made, r.choice(made.entries))
        else:
            _insert(r, made)
    elif isinstance(made, Scalar):
        made.text = r.choice([*WORDS, *SCALARS])


def _change_text(r: Random, made: Text, lines: list[str]) -> None:
    at = r.randint(0, len(made.lines))
    made.lines[at : at + r.randint(0, 2)] = [r.choice(lines) for _ in range(r.randint(0, 2))]


def _add(r: Random, document: Document, place: Map, entry: Entry) -> None:
    _insert(r, place)


def _insert(r: Random, place: Map) -> None:
    """Add an entry to a collection: in a list of mappings mostly one that is like the others."""
    new = Entry(node(r, 2))
    if not isinstance(place, List):
        free = [word for word in WORDS if word not in [e.key for e in place.entries]]
        if not free:
            return
        new.key = r.choice(free)
    elif place.entries and isinstance(place.entries[0].node, Map) and not chance(r, 20):
        new.node = copied(r.choice(place.entries).node)
        _rename_element(r, new.node)
    if chance(r, 15):
        new.above = [r.choice(COMMENTS)]
    if chance(r, 10):
        new.tail = r.choice(COMMENTS)
    end = len(place.entries)
    place.entries.insert(r.randint(0, end) if chance(r, 50) else end, new)


def _delete(r: Random, document: Document, place: Map, entry: Entry) -> None:
    place.entries.remove(entry)


def _rename(r: Random, document: Document, place: Map, entry: Entry) -> None:
    if entry.key is not None:
        entry.key += r.choice("12")
    else:
        _rename_element(r, entry.node)


def _rename_element(r: Random, element: Node) -> None:
    for entry in element.entries if isinstance(element, Map) else []:
        if isinstance(entry.node, Scalar):
            if entry.key == "name":
                entry.node.text = r.choice(WORDS)
            elif entry.key in ("containerPort", "port"):
                entry.node.text = str(r.randint(1, 9))


def _shuffle(r: Random, document: Document, place: Map, entry: Entry) -> None:
    if chance(r, 50):
        r.shuffle(place.entries)
    else:
        place.entries.remove(entry)
        place.entries.insert(r.randint(0, len(place.entries)), entry)


def _move(r: Random, document: Document, place: Map, entry: Entry) -> None:
    """To another collection of the same kind."""
    target = r.choice([c for c in collections(document.root) if c.entries])
    inside = any(each is target for each in collections(entry.node))
    if isinstance(place, List) == isinstance(target, List) and not inside:
        place.entries.remove(entry)
        if entry.key is None or entry.key not in [e.key for e in target.entries]:
            target.entries.insert(r.randint(0, len(target.entries)), entry)


def comment(r: Random, document: Document, place: Map, entry: Entry) -> None:
    """Another comment above, behind or below, or none."""
    kind = r.choice(["above", "above", "tail", "drop", "foot"])
    if kind == "above":
        entry.above = [r.choice(ABOVE) for _ in range(r.randint(1, 2))]
    elif kind == "tail":
        entry.tail = r.choice([*COMMENTS, ""])
    elif kind == "drop":
        entry.above = []
    else:
        place.foot = [r.choice(COMMENTS)]


def _restyle(r: Random, document: Document, place: Map, entry: Entry) -> None:
    restyle(r, entry)


def _replace(r: Random, document: Document, place: Map, entry: Entry) -> None:
    entry.node = node(r, 1)


EDITS = weighted(
    (_change, 30),
    (_add, 20),
    (_delete, 15),
    (_rename, 7),
    (_shuffle, 7),
    (_move, 3),
    (comment, 8),
    (_restyle, 7),
    (_replace, 3),
)


# -- of a file


def _add_document(r: Random, made: File) -> None:
    new = Document(r.choice([values, configmap, service])(r, r.choice(WORDS[5:])))
    made.documents.insert(r.randint(0, len(made.documents)), new)


def _drop_document(r: Random, made: File) -> None:
    if made.documents:
        made.documents.remove(r.choice(made.documents))


def _swap_documents(r: Random, made: File) -> None:
    r.shuffle(made.documents)


def _other_start(r: Random, made: File) -> None:
    made.bare = not made.bare


def _other_end(r: Random, made: File) -> None:
    if chance(r, 50):
        made.newline = not made.newline
    else:
        made.tail = "" if made.tail else "...\n"


def _other_line_ends(r: Random, made: File) -> None:
    made.crlf = not made.crlf


def _indent(r: Random, made: File) -> None:
    step = r.choice([2, 0, 4])
    for document in made.documents:
        for each in collections(document.root):
            each.step = step


FILE_EDITS = weighted(
    (_add_document, 2),
    (_drop_document, 1),
    (_swap_documents, 1),
    (_other_start, 1),
    (_other_end, 2),
    (_other_line_ends, 1),
    (_indent, 1),
)
