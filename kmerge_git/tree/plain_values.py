"""Turn nodes into plain Python values, as kubectl reads them.

Aliases are replaced by their values. `<<` adds the fields that the mapping lacks. If a key is
repeated, the last entry wins. Every key becomes a string, because JSON has no other keys.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import YamlText
from kmerge_git.tree.nodes import Alias, Collection, Mapping, Node, Scalar
from kmerge_git.tree.parser import DEEPEST
from kmerge_git.tree.same import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


MOST_EXPANDED = 200_000  # nodes that aliases expand to; ten lines can expand to a billion

_MERGE_TAGS = ("", "!!merge", "!<tag:yaml.org,2002:merge>")
_ODD_FLOATS = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}


def load(data: bytes, path: str = "") -> list[object]:
    """Return the values of the documents of a stream; skip documents that hold only comments."""
    try:
        return [to_value(root) for root in YamlText(data, path).roots]
    except Unsupported as error:
        error.path = path
        raise


def to_value(node: Node | None, root: Node | None = None) -> object:
    """Return the value of a node.

    `root` is the top node of the document, which holds the anchors.
    """
    return reader(root or node)(node) if node is not None else None


def reader(root: Node) -> Callable[[Node], object]:
    """Return a function that reads the values of nodes of one document.

    The function caches the values of collections.
    """
    reading = _Reading(root)

    def read(node: Node) -> object:
        reading.expanded = reading.inside = reading.depth = 0
        try:
            return reading.value(node)
        except RecursionError:  # the caller's own stack was deep already
            raise _unsupported(node, "maps and lists are nested too deep") from None

    return read


def is_merge_key(key: Node | None) -> bool:
    """Return whether a key is an unquoted `<<`; a quoted `<<` is a normal key."""
    return (
        isinstance(key, Scalar) and key.value == "<<" and not key.style and key.tag in _MERGE_TAGS
    )


class _Reading:
    """Read the value of a node; replace aliases, and limit how many values this creates."""

    __slots__ = ("anchors", "depth", "expanded", "inside", "known", "root")

    def __init__(self, root: Node) -> None:
        self.root = root
        self.anchors: dict[str, list[Node]] | None = None
        self.depth = 0
        self.inside = 0  # aliases around the current node
        self.expanded = 0
        self.known: dict[int, object] = {}  # the cached values of collections, by id

    def value(self, node: Node) -> object:
        if self.inside:
            self.expanded += 1
            if self.expanded > MOST_EXPANDED:
                raise _unsupported(node, f"aliases expand to more than {MOST_EXPANDED} values")
        if isinstance(node, Scalar):
            return resolve(node.value, node.style, node.tag)
        if isinstance(node, Alias):
            self.inside += 1
            value = self.value(self.target(node))
            self.inside -= 1
            return value
        if not isinstance(node, Collection):
            raise TypeError(f"{type(node).__name__} is not a known kind of node")
        if not self.inside and id(node) in self.known:  # aliases are counted every time
            return self.known[id(node)]
        self.depth += 1
        if self.depth > DEEPEST:  # aliases can nest deeper than the parser allows
            raise _unsupported(node, f"maps and lists are nested deeper than {DEEPEST} levels")
        value = (
            self.mapping(node)
            if isinstance(node, Mapping)
            else [self.value(entry.value) for entry in node.entries]
        )
        self.depth -= 1
        if not self.inside:
            self.known[id(node)] = value
        return value

    def mapping(self, node: Mapping) -> dict[str, object]:
        own: dict[str, object] = {}
        merged: dict[str, object] = {}
        for entry in node.entries:
            if entry.key is None or is_merge_key(entry.key):
                merged.update(self.merged(entry.value))
            else:
                own[self.key(entry.key)] = self.value(entry.value)
        return {**merged, **own} if merged else own

    def merged(self, node: Node) -> dict[str, object]:
        """Return the fields that `<<` adds from a node.

        If several mappings in the node have a key, the first mapping wins.
        """
        value = self.value(node)
        parts = value if isinstance(value, list) else [value]
        result: dict[str, object] = {}
        for part in reversed(parts):
            if not isinstance(part, dict):
                raise _unsupported(
                    node, "the value of `<<` must be a mapping or a list of mappings"
                )
            result.update(part)
        return result

    def key(self, node: Node) -> str:
        value = self.value(node)
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return _ODD_FLOATS.get(repr(value), repr(value))
        kind = "null" if value is None else "a map or list"
        raise _unsupported(
            node, f"{kind} is used as a key", "use a string, as JSON and Kubernetes require"
        )

    def target(self, alias: Alias) -> Node:
        if self.anchors is None:
            self.anchors = anchors_of(self.root)
        target = meant(alias, self.anchors)
        if target is None:
            raise _unsupported(alias, f"the alias *{alias.name} has no anchor before it")
        if target.end > alias.start:
            raise _unsupported(alias, f"the alias *{alias.name} is inside its own anchor")
        return target


def anchors_of(root: Node) -> dict[str, list[Node]]:
    """Return the nodes of a document that have an anchor, by its name, in the order of the text."""
    nodes: dict[str, list[Node]] = {}
    for node in anchored(root):
        nodes.setdefault(node.anchor, []).append(node)
    return nodes


def meant(alias: Alias, anchors: dict[str, list[Node]]) -> Node | None:
    """Return the node that an alias means: the last one before it that has its anchor."""
    from bisect import bisect_left  # few readers meet an alias

    nodes = anchors.get(alias.name, [])
    at = bisect_left(nodes, alias.start, key=lambda node: node.start)
    return nodes[at - 1] if at else None


def anchored(node: Node) -> Iterator[Node]:
    """Yield the nodes that have an anchor, in the order of the text."""
    if node.anchor:
        yield node
    if isinstance(node, Collection) and node.text.find("&", node.start, node.end) >= 0:
        for entry in node.entries:
            if entry.key is not None:
                yield from anchored(entry.key)
            yield from anchored(entry.value)


def _unsupported(
    node: Node, why: str, hint: str = "write the value instead of the alias"
) -> Unsupported:
    return Source.of(node.text).place(Unsupported(why, hint=hint), node.start)
