"""A document as plain values with the offsets of its keys: all that a check reads.

The checks read every file that is committed, so this is built in one pass over libyaml's graph
and is much cheaper than the spans of `tree.nodes`. An alias is the value of its anchor, the very
same object: a walk that meets a collection twice must not go down twice.

Plain words as YAML 1.1 (kubectl, Helm, Argo CD) and YAML 1.2 readers take them.
"""

from __future__ import annotations

from functools import lru_cache

from kmerge_git.tree import parser
from kmerge_git.tree.documents import Document, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.text.source import Source


# The first step of a path that begins at some place of a kind that is not known.
SOMEWHERE = ()
NULLS = frozenset(("", "~", "null", "Null", "NULL"))


class Value:
    """A value; `at` is the offset where it starts in the text."""

    __slots__ = ("at",)

    at: int

    @property
    def null(self) -> bool:
        """Return whether the value is a null; only a scalar can be one."""
        return False


class Text(Value):
    """A scalar; `style` as in `tree.nodes.Scalar`."""

    __slots__ = ("style", "tag", "text")

    def __init__(self, at: int, text: str, style: str, tag: str) -> None:
        self.at = at
        self.text = text
        self.style = style
        self.tag = tag

    @property
    def null(self) -> bool:
        """Return whether the value is a null; only a scalar can be one."""
        return not self.style and not self.tag and self.text in NULLS


class Map(Value):
    """A mapping. Of repeated keys the last counts."""

    __slots__ = ("fields",)

    def __init__(self, at: int) -> None:
        self.at = at
        self.fields: dict[str, tuple[int, Value]] = {}  # key -> offset of the key, value

    @property
    def values(self) -> list[Value]:
        """Return the values below its keys."""
        return [item for _, item in self.fields.values()]

    def get(self, key: str) -> Value | None:
        """Return the value below a key."""
        found = self.fields.get(key)
        return found[1] if found else None

    def has(self, key: str) -> bool:
        """Return whether there is something below a key that is no null."""
        value = self.get(key)
        return value is not None and not value.null

    def text(self, key: str) -> str:
        """Return the scalar below a key as text, or nothing."""
        found = self.fields.get(key)
        value = found[1] if found else None
        return value.text if isinstance(value, Text) and not value.null else ""

    def map(self, key: str) -> Map | None:
        """Return the mapping below a key, or None."""
        value = self.get(key)
        return value if isinstance(value, Map) else None

    def items(self, key: str) -> list[Value]:
        """Return the items of the list below a key; none where there is no list."""
        value = self.get(key)
        return value.values if isinstance(value, List) else []

    def maps(self, key: str) -> list[tuple[int, Map]]:
        """Return the items of that list that are mappings, with their places."""
        return [(n, item) for n, item in enumerate(self.items(key)) if isinstance(item, Map)]

    def at_key(self, key: str) -> int:
        """Return the offset of a key, or of the mapping if it lacks the key."""
        found = self.fields.get(key)
        return found[0] if found else self.at

    def at_value(self, key: str) -> int:
        """Return the offset of the value below a key, or of the key if nothing is written there."""
        value = self.get(key)
        is_written = not (isinstance(value, Text) and not value.text and not value.style)
        return value.at if value is not None and is_written else self.at_key(key)


class List(Value):
    """A sequence."""

    __slots__ = ("values",)

    def __init__(self, at: int, values: list[Value]) -> None:
        self.at = at
        self.values = values


class Plain:
    """A parsed document: its value, and the keys that stand twice in one mapping."""

    __slots__ = ("dollar", "repeated", "root", "twins")

    def __init__(self, document: Document) -> None:
        """Parse; raises CannotParse."""
        self.repeated: list[tuple[str, int]] = []  # each with its offset, but for the first
        self.twins: dict[int, Twin] = {}  # that offset -> how the keys differ
        self.dollar = False  # some key starts with a `$`
        text = document.source.text
        base = document.parsed_from
        content = text[base : document.end]
        try:
            graph = parser.compose(content) if content.strip("\n ") else None
        except Exception:
            _ = document.root  # the reader with all its spans knows how to explain it
            raise
        self.root: Value | None = None
        if graph is not None:
            self.root = _Builder(self, text, base).value(graph)


def documents(source: Source) -> list[Plain]:
    """Return the documents of a text; raises CannotParse."""
    return [Plain(document) for document in split(source).documents]


class Twin:
    """Two equal keys of one mapping: do they have equal values, is only one of them quoted."""

    __slots__ = ("is_alike", "is_quoted_once")

    def __init__(self, is_alike: bool, is_quoted_once: bool) -> None:
        self.is_alike = is_alike
        self.is_quoted_once = is_quoted_once


def alike(one: Value, other: Value) -> bool:
    """Return whether two values are equal, wherever they stand."""
    todo: list[tuple[Value, Value]] = [(one, other)]
    seen: set[tuple[int, int]] = set()
    while todo:
        a, b = todo.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        if isinstance(a, Text) and isinstance(b, Text):
            if (a.text, a.tag, not a.style) != (b.text, b.tag, not b.style):
                return False
        elif isinstance(a, List) and isinstance(b, List) and len(a.values) == len(b.values):
            todo += zip(a.values, b.values, strict=True)
        elif isinstance(a, Map) and isinstance(b, Map) and a.fields.keys() == b.fields.keys():
            todo += [(item, b.fields[key][1]) for key, (_, item) in a.fields.items()]
        else:
            return False
    return True


class _Builder:
    """Makes our values of the graph's nodes; written for speed, every file passes through it."""

    __slots__ = ("base", "made", "plain", "source")

    def __init__(self, plain: Plain, source: str, base: int) -> None:
        self.plain = plain
        self.source = source
        self.base = base
        self.made: dict[int, Value] = {}  # id of a collection of the graph -> our value

    def value(self, graph: Any) -> Value:
        content = graph.value
        if isinstance(content, str):
            return self.text(graph)
        number = id(graph)
        if number in self.made:
            return self.made[number]
        at = graph.start_mark.index + self.base
        if graph.id == "mapping":
            found = Map(at)
            self.made[number] = found
            self.fill(found, content)
            return found
        made = List(at, [])
        self.made[number] = made
        made.values = [self.value(item) for item in content]
        return made

    def text(self, graph: Any) -> Text:
        at = graph.start_mark.index + self.base
        tag = _tag(self.source, at) if self.source[at : at + 1] in ("!", "&") else ""
        return Text(at, graph.value, graph.style or "", tag)

    def fill(self, made: Map, content: Any) -> None:
        fields, base, text, value = made.fields, self.base, self.text, self.value
        for key, item in content:
            name = key.value
            at = key.start_mark.index + base
            if not isinstance(name, str):
                name = f"? (at {at})"  # a collection as a key: never equal to another
            elif name[:1] == "$":
                self.plain.dollar = True
            found = text(item) if isinstance(item.value, str) else value(item)
            if name in fields:
                found = self.repeated(name, at, fields[name], found)
            fields[name] = (at, found)
        if "<<" in fields:
            _merge_in(fields)

    def repeated(self, name: str, at: int, first: tuple[int, Value], second: Value) -> Value:
        """Remember a key that is there twice; returns the value that counts."""
        quotes = [self.source[place : place + 1] in ("'", '"') for place in (first[0], at)]
        self.plain.repeated.append((name, at))
        self.plain.twins[at] = Twin(alike(first[1], second), quotes[0] != quotes[1])
        if name != "<<":
            return second
        # where two are taken at all, both count and the later wins, as in a list the earlier does
        return List(second.at, [*_listed(second), *_listed(first[1])])


def _listed(value: Value) -> list[Value]:
    return value.values if isinstance(value, List) else [value]


def _tag(text: str, at: int) -> str:
    """Return the tag of a scalar that starts with its properties, as in `&anchor !!str`."""
    for word in text[at : at + 200].split()[:2]:
        if word[0] == "!":
            return word
        if word[0] != "&":
            break
    return ""


def _merge_in(fields: dict[str, tuple[int, Value]]) -> None:
    """Take over what `<<: *anchor` brings, at the place of the `<<`."""
    at, value = fields["<<"]
    sources = value.values if isinstance(value, List) else [value]
    if all(isinstance(source, Map) for source in sources):
        del fields["<<"]
        for source in sources:
            if isinstance(source, Map):
                for key, (_, item) in source.fields.items():
                    fields.setdefault(key, (at, item))


def collections(value: Value | None) -> Iterator[Map | List]:
    """Return every mapping and list at and below a value, each once."""
    todo = [value]
    seen: set[int] = set()
    while todo:
        current = todo.pop()
        if isinstance(current, Map | List) and id(current) not in seen:
            seen.add(id(current))
            yield current
            todo.extend(reversed(current.values))


def scalars(root: Value | None) -> Iterator[Text]:
    """Return every scalar value of a document."""
    if isinstance(root, Text):
        yield root
    for value in collections(root):
        for item in value.values:
            if isinstance(item, Text):
                yield item


def path_at(root: Value | None, at: int) -> Path:
    """Return the path of the key or value that starts at an offset; empty if none does."""
    todo: list[tuple[Value | None, Path]] = [(root, ())]
    seen: set[int] = set()
    while todo:
        value, path = todo.pop()
        if isinstance(value, Text) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Map):
            for key, (key_at, item) in value.fields.items():
                here: Path = (*path, key)
                if at in (key_at, item.at):
                    return here
                todo.append((item, here))
        elif isinstance(value, List):
            for number, item in enumerate(value.values):
                name = item.text("name") if isinstance(item, Map) else ""
                here = (*path, (("name", name),) if name else number)
                if isinstance(item, Text) and item.at == at:
                    return here
                todo.append((item, here))
    return ()


YES_NO = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), "true"),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), "false"),
}
_DIGITS = frozenset("0123456789")


@lru_cache(maxsize=1)  # it is asked for each document of a file
def may_differ(text: str) -> bool:
    """Return whether some word of a text could be read differently; it is cheap and too wary."""
    for mark in ",[]{}:":
        text = text.replace(mark, " ")
    words = set(text.split())
    if not words.isdisjoint(YES_NO):
        return True
    return any(word[4:5] == "-" for word in words)


def is_plain(value: Text) -> bool:
    """Return whether a scalar has neither quotes nor a tag, so that its reader decides its type."""
    return not value.style and not value.tag


def is_integer(text: str) -> bool:
    """Return whether a plain word is a decimal integer."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    return bool(digits) and _DIGITS.issuperset(digits)


def is_date(text: str) -> bool:
    """Return whether a plain word is a day, as `2020-01-31`; all readers take a time alike."""
    parts = text.split("-")
    if len(parts) != 3 or len(parts[0]) != 4 or not all(map(_DIGITS.issuperset, parts)):
        return False
    month, day = parts[1:]
    return all(0 < len(p) <= 2 for p in (month, day)) and int(month) <= 12 and int(day) <= 31


def scalars_with_paths(root: Value | None) -> Iterator[tuple[Text, Path]]:
    """Return every scalar value of a document, with the keys and numbers that lead to it."""
    todo: list[tuple[Value | None, Path]] = [(root, ())]
    seen: set[int] = set()
    while todo:
        value, path = todo.pop()
        if isinstance(value, Text):
            yield value, path
        elif id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, Map):
                todo += [(item, (*path, key)) for key, (_, item) in value.fields.items()]
            elif isinstance(value, List):
                todo += [(item, (*path, number)) for number, item in enumerate(value.values)]
