"""Read YAML documents as values with offsets, and find the Kubernetes objects in the documents.

Every committed file is checked, so the values are built in one pass over libyaml's graph, which
costs much less than building `tree.nodes`. The value of an alias is the same object as the value of
its anchor, so a walk must remember the collections that it has visited.

This module also recognises unquoted words that YAML 1.1 readers (kubectl, Helm, Argo CD) and YAML
1.2 readers understand differently.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from kmerge_git.errors import CannotParse
from kmerge_git.kube import keytable
from kmerge_git.kube.identity import Identity
from kmerge_git.patch import PATCH, is_directive
from kmerge_git.tree import parser
from kmerge_git.tree.documents import Document, YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from kmerge_git.kube.fieldpath import Path

    Fields = dict[str, tuple[int, "Value"]]

# The first step of a path whose beginning is not known.
SOMEWHERE = ()
# parts of the names of fields that hold patches for another tool
PASSING = ("patch", "overlay", "override", "kustomiz", "merge", "strategic")
NULLS = frozenset(("", "~", "null", "Null", "NULL"))
YES_NO = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), "true"),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), "false"),
}
_NO_FIELDS: Fields = {}
_NO_VALUES: list[Value] = []


class Value:
    """A value is a scalar, mapping or sequence that starts at the offset `at` of the text.

    Every value has `fields` and `values`; in a scalar, both are empty.
    """

    __slots__ = ("at",)

    at: int
    fields: Fields = _NO_FIELDS  # of a mapping: key -> offset of the key, value
    values: list[Value] = _NO_VALUES  # of a list

    @property
    def entries(self) -> list[tuple[str | int, Value]]:
        """Return the fields or elements of the value, each with its key or its number."""
        fields: list[tuple[str | int, Value]] = [(k, item) for k, (_, item) in self.fields.items()]
        return fields or list(enumerate(self.values))

    @property
    def null(self) -> bool:
        """Return whether the value is a null; only a scalar can be a null."""
        return False

    def get(self, *keys: str) -> Value | None:
        """Follow keys from mapping to mapping; return the value, or None if a key is missing."""
        value = self
        for key in keys:
            if key not in value.fields:
                return None
            value = value.fields[key][1]
        return value

    def has(self, *keys: str) -> bool:
        """Return whether the keys lead to a value that is not null."""
        value = self.get(*keys)
        return value is not None and not value.null

    def string(self, *keys: str) -> str:
        """Return the text of the scalar at the keys, or '' if they lead to no scalar."""
        value = self.get(*keys)
        return value.text if isinstance(value, Text) and not value.null else ""

    def map(self, *keys: str) -> Map | None:
        """Return the mapping at the keys, or None if they lead to no mapping."""
        value = self.get(*keys)
        return value if isinstance(value, Map) else None

    def items(self, *keys: str) -> list[Value]:
        """Return the elements of the list at the keys, or an empty list if there is no list."""
        value = self.get(*keys)
        return value.values if value is not None else []

    def maps(self, *keys: str) -> list[tuple[int, Map]]:
        """Return the mappings in the list at the keys, each with its number in the list."""
        return [(n, item) for n, item in enumerate(self.items(*keys)) if isinstance(item, Map)]

    def at_key(self, key: str) -> int:
        """Return the offset of a key, or the offset of the mapping if the key is missing."""
        return self.fields[key][0] if key in self.fields else self.at

    def at_value(self, key: str) -> int:
        """Return the offset of the value of a key, or of the key if its value is not written."""
        value = self.get(key)
        is_written = not (isinstance(value, Text) and not value.text and not value.style)
        return value.at if value is not None and is_written else self.at_key(key)


class Text(Value):
    """A text is a scalar; `style` is the same as in `tree.nodes.Scalar`."""

    __slots__ = ("style", "tag", "text")

    def __init__(self, at: int, text: str, style: str, tag: str) -> None:
        self.at = at
        self.text = text
        self.style = style
        self.tag = tag

    @property
    def is_plain(self) -> bool:
        """Return whether the scalar has no quotes and no tag, so that its text decides its type."""
        return not self.style and not self.tag

    @property
    def null(self) -> bool:
        """Return whether the scalar is a null."""
        return not self.style and not self.tag and self.text in NULLS


class Map(Value):
    """A map is a mapping; if a key is repeated, the last value counts."""

    __slots__ = ("fields",)

    def __init__(self, at: int) -> None:
        self.at = at
        self.fields: Fields = {}


class List(Value):
    """A list is a sequence."""

    __slots__ = ("values",)

    def __init__(self, at: int, values: list[Value]) -> None:
        self.at = at
        self.values = values


class Repeated(NamedTuple):
    """A repeated key is a second occurrence of a key in a mapping."""

    key: str
    at: int
    is_alike: bool  # both occurrences have equal values
    is_quoted_once: bool


class Plain:
    """A `Plain` holds the root value of one document, and the repeated keys of its mappings.

    The methods turn the nodes of libyaml's graph into values. They are written for speed, because
    every checked file passes through them.
    """

    __slots__ = ("_base", "_made", "_text", "dollar", "repeated", "root")

    def __init__(self, document: Document) -> None:
        """Parse the document; raise the parser's own exceptions."""
        self.repeated: list[Repeated] = []
        self.dollar = False  # some key starts with a `$`
        self._text = document.source.text
        self._base = document.parsed_from
        self._made: dict[int, Value] = {}  # id of a collection of the graph -> the value made of it
        content = self._text[self._base : document.end]
        graph = parser.compose(content) if content.strip("\n ") else None
        self.root = None if graph is None else self._value(graph)
        self._made.clear()

    @property
    def is_json(self) -> bool:
        """Return whether the document is written in the style of JSON."""
        return self.root is not None and self._text[self.root.at] in "{["

    def _value(self, graph: Any) -> Value:
        content, number = graph.value, id(graph)
        if isinstance(content, str):
            return self._scalar(graph)
        if number not in self._made:
            at = graph.start_mark.index + self._base
            made: Map | List = Map(at) if graph.id == "mapping" else List(at, [])
            self._made[number] = made  # an alias inside may refer to it before it is complete
            if isinstance(made, Map):
                self._fill(made.fields, content)
            else:
                made.values = [self._value(item) for item in content]
        return self._made[number]

    def _scalar(self, graph: Any) -> Text:
        at, text, tag = graph.start_mark.index + self._base, self._text, ""
        if text[at : at + 1] in ("!", "&"):
            _, tag, _ = parser.properties(text, at, graph.end_mark.index + self._base)
        return Text(at, graph.value, graph.style or "", tag)

    def _fill(self, fields: Fields, content: Any) -> None:
        base, scalar, value = self._base, self._scalar, self._value
        for key, item in content:
            name = key.value
            at = key.start_mark.index + base
            if not isinstance(name, str):
                name = f"? (at {at})"  # a collection as a key is never equal to another key
            elif name[:1] == "$":
                self.dollar = True
            below = scalar(item) if isinstance(item.value, str) else value(item)
            if name in fields:
                below = self._repeat(name, at, fields[name], below)
            fields[name] = (at, below)
        if "<<" in fields:
            _merge_in(fields)

    def _repeat(self, name: str, at: int, first: tuple[int, Value], second: Value) -> Value:
        """Record a repeated key; return the value that readers use for the key."""
        quotes = [self._text[place : place + 1] in ("'", '"') for place in (first[0], at)]
        again = Repeated(name, at, alike(first[1], second), quotes[0] != quotes[1])
        self.repeated.append(again)
        if name != "<<":
            return second
        # readers that accept two `<<` use both; the later wins, as the earlier does in a list
        return List(second.at, [*_listed(second), *_listed(first[1])])


def documents(text: YamlText) -> list[Plain]:
    """Parse the documents of a text; raise CannotParse if that fails."""
    plains = []
    for document in text.stream.documents:
        try:
            plains.append(Plain(document))
        except Exception as raw:
            from kmerge_git.check.parser_words import plainly  # late: few files cannot be parsed

            try:
                _ = document.root  # this reader raises an error with an explanation
            except CannotParse as error:
                raise plainly(error, document, raw) from None
            raise
    return plains


def parses(text: YamlText) -> bool:
    """Return whether all documents of a text can be parsed."""
    try:
        return all(map(Plain, text.stream.documents))
    except Exception:
        return False


def roots_of(data: bytes | None, path: str = "") -> list[Value] | None:
    """Return the root values of a file's documents, or None for a missing or unparseable file."""
    try:
        plains = documents(YamlText(data, path)) if data is not None else None
    except CannotParse:
        return None
    return None if plains is None else [one.root for one in plains if one.root is not None]


def _listed(value: Value) -> list[Value]:
    return value.values if isinstance(value, List) else [value]


def _merge_in(fields: Fields) -> None:
    """Replace `<<: *anchor` in a mapping by the fields of the mapping with that anchor.

    Each of the copied fields gets the offset of the `<<`.
    """
    at, value = fields["<<"]
    sources = _listed(value)
    if all(isinstance(source, Map) for source in sources):
        del fields["<<"]
        for source in sources:
            for key, (_, item) in source.fields.items():
                fields.setdefault(key, (at, item))


def alike(one: Value, other: Value) -> bool:
    """Return whether two values are equal; their offsets may differ."""
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


def mappings(value: Value | None) -> Iterator[Map]:
    """Yield every mapping at and below a value; yield each mapping once."""
    todo = [] if value is None else [value]
    seen: set[int] = set()
    while todo:
        current = todo.pop()
        if id(current) not in seen:
            seen.add(id(current))
            todo.extend(item for _, item in reversed(current.entries))
            if isinstance(current, Map):
                yield current


def scalars(root: Value | None) -> Iterator[Text]:
    """Yield every scalar value of a document."""
    return (value for _, _, value in places(root) if isinstance(value, Text))


def places(root: Value | None) -> Iterator[tuple[Path, int, Value]]:
    """Yield the path, the offset of the key (-1 if there is no key) and the value of every value.

    In a path, an element of a list is identified by its `name`, or by its number if it has no name.
    """
    todo: list[tuple[Path, int, Value]] = [] if root is None else [((), -1, root)]
    seen: set[int] = set()
    yield from todo
    while todo:
        path, _, value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        below = [((*path, key), at, item) for key, (at, item) in value.fields.items()]
        for number, item in enumerate(value.values):
            name = item.string("name")
            below.append(((*path, (("name", name),) if name else number), -1, item))
        yield from below
        todo += below


def path_at(root: Value | None, at: int) -> Path:
    """Return the path of the key or value at an offset, or () if nothing starts there."""
    for path, key_at, value in places(root):
        if at == key_at or (at == value.at and (key_at >= 0 or isinstance(value, Text))):
            return path
    return ()


# -- plain words ---------------------------------------------------------------------------------


@lru_cache(maxsize=1)  # called for each document of one file
def may_differ(text: str) -> bool:
    """Return whether a text may contain a word that YAML 1.1 and YAML 1.2 read differently.

    This is a fast first test, which may return True for a text without such a word.
    """
    for mark in ",[]{}:":
        text = text.replace(mark, " ")
    words = set(text.split())
    return not words.isdisjoint(YES_NO) or any(word[4:5] == "-" for word in words)


def is_integer(text: str) -> bool:
    """Return whether a plain word is a decimal integer."""
    return re.fullmatch("[-+]?[0-9]+", text) is not None


def is_date(text: str) -> bool:
    """Return whether a plain word is a date without a time, as `2020-01-31` is."""
    month, day = "(0?[0-9]|1[0-2])", "([012]?[0-9]|3[01])"
    return re.fullmatch(f"[0-9]{{4}}-{month}-{day}", text) is not None


# -- Kubernetes objects: their identities and directives ------------------------------------------


def objects(root: Value | None) -> Iterator[Map]:
    """Yield the Kubernetes object in a document, or each object in a `kind: List`."""
    if not isinstance(root, Map) or not (root.string("kind") and root.string("apiVersion")):
        return
    if root.string("kind").endswith("List") and "items" in root.fields:
        for item in root.items("items"):
            yield from objects(item)
    else:
        yield root


def is_object(root: Value) -> bool:
    """Return whether a map has `kind` and an `apiVersion` that is `v1` or has a group."""
    api = root.string("apiVersion")
    return bool(root.string("kind")) and (api == "v1" or "/" in api)


def identity(root: Value) -> Identity:
    """Return the identity that is written in an object; a missing part is empty."""
    group, _, version = root.string("apiVersion").rpartition("/")
    words = (root.string("metadata", word) for word in ("namespace", "name", "generateName"))
    namespace, name, generate_name = words
    return Identity(group, root.string("kind"), namespace, name, version, generate_name)


def api_version(group: str, version: str) -> str:
    """Return the `apiVersion` for a group and a version; the group may be empty."""
    return f"{group}/{version}" if group else version


def may_be_builtin(root: Value) -> bool:
    """Return whether the API group of an object may belong to Kubernetes itself."""
    group, slash, _ = root.string("apiVersion").partition("/")
    return bool(group) and (not slash or "." not in group or group.endswith(".k8s.io"))


def is_values_file(path: str, root: Value | None) -> bool:
    """Return whether a file holds values of a Helm chart, such as `values-prod.yaml`."""
    *folders, last = path.lower().split("/")
    name, _, suffix = last.rpartition(".")
    words = name.replace("_", "-").replace(".", "-").split("-")
    is_named_so = suffix in ("yaml", "yml") and "values" in (*folders[-1:], *words)
    return is_named_so and isinstance(root, Map) and not root.string("apiVersion")


def passed_on(root: Map) -> Iterator[Value]:
    """Yield values that may be patches for another tool, from a custom object or a chart."""
    for value in mappings(root) if not may_be_builtin(root) else ():
        yield from (item for key, (_, item) in value.fields.items() if is_passed_on(key))


def is_passed_on(key: str) -> bool:
    """Return whether a field's key suggests that the field holds patches for another tool."""
    word = key.lower()
    return any(part in word for part in PASSING)


def words_of(value: Value | None) -> Iterator[str]:
    """Yield all keys and scalars of a value, and the parts of each scalar that is a path."""
    for text in scalars(value):
        yield text.text
        if text.text.startswith("/"):
            yield from text.text.split("/")
    for inner in mappings(value):
        yield from inner.fields


def is_set(map: Map, key: str) -> bool:
    """Return whether a patch sets a field instead of removing it by null or `$patch: delete`."""
    return map.has(key) and map.string(key, PATCH) != "delete"


def directives_below(value: Value | None) -> list[tuple[int, str]]:
    """Return the offset and the key of every directive in a value, in text order.

    Skip a directive whose value is a map, because that is a part of a schema: `$patch: {type:
    string}`.
    """
    return sorted(
        (at, key)
        for inner in mappings(value)
        for key, (at, item) in inner.fields.items()
        if is_directive(key) and not isinstance(item, Map)
    )


# -- lists whose elements have keys: containers by name, ports by number --------------------------


class KeyedList(NamedTuple):
    """A keyed list identifies its elements by keys, such as containers by their names."""

    path: Path
    name: str
    elements: list[Value]
    keys: list[tuple[str, str]]  # each field of the key, and its default value


def keyed_lists(root: Map) -> list[KeyedList]:
    """Return the keyed lists of an object.

    If the kind is not built in, the keyed lists of all pod specs in the object are included.
    """
    number = keytable.root(root.string("apiVersion"), root.string("kind"))
    known = _keyed(root, number, (), set())
    if known and number < keytable.LEARNED:
        return known
    seen = {id(one.elements) for one in known}
    pods = keytable.below(keytable.fields(keytable.root("v1", "Pod"))["spec"][2])
    for value in mappings(root):
        containers = value.items("containers")
        if containers and all(c.fields.keys() >= {"name", "image"} for c in containers):
            of_pod = _keyed(value, pods, (SOMEWHERE,), set())
            known += [one for one in of_pod if id(one.elements) not in seen]
    return known


def _keyed(value: Map, number: int, path: Path, seen: set[int]) -> list[KeyedList]:
    if number < 0 or id(value) in seen:  # an unknown kind, or an alias
        return []
    seen.add(id(value))
    lists = []
    for name, (_, structural, below) in keytable.fields(number).items():
        item = value.get(name)
        if item is None:
            continue
        where = (*path, name)
        if isinstance(item, List) and (keys := keytable.keys(structural)):
            lists.append(KeyedList(where, name, item.values, keys))
        elements: list[tuple[Path, Value]] = [((step,), one) for step, one in item.entries]
        if isinstance(item, Map) and below[:1] != "{":
            elements = [((), item)]  # `below` is the definition of the map itself
        for steps, one in elements if below else ():
            if isinstance(one, Map):
                lists += _keyed(one, keytable.below(below), (*where, *steps), seen)
    return lists
