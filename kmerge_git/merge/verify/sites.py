"""Describe the places that the referee checks, its violations, and the names of list elements."""

from __future__ import annotations

from kmerge_git.kube.identity import Identity
from kmerge_git.kube.listkeys import ListKeys, start
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, has_lines
from kmerge_git.tree.same import canon_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from kmerge_git.kube.fieldpath import Path, Step
    from kmerge_git.kube.listkeys import ListRule, Where
    from kmerge_git.tree.same import Known

    Spot = tuple[Collection, Where]
    Child = tuple[int, int, Step | None]

    # the tables of base, ours, theirs and the result
    Tables = list[dict[Hashable, Entry]]

# the fields by which messages show an element that is a mapping, the first that it has
_NAMES = ("name", "id", "key", "host", "path")

# the index of the result in lists of base, ours, theirs and the result
RESULT = 3


class Violation:
    """Hold a law that a result breaks, and the place where the result breaks the law."""

    __slots__ = ("document", "law", "path", "what", "which", "why")

    def __init__(
        self,
        law: str,
        document: int,
        path: Path,
        what: str,
        which: Hashable = None,
        *,
        why: str = "",
    ) -> None:
        self.law = law  # count, order, leaf, gone, moved, comment, untouched or twice
        self.why = why  # the cause of the conflict; '' if nothing but a doubt is its cause
        self.document = document  # the number of the document in the result, or -1 for the file
        self.path = path  # the path of the nearest collection that only keys lead to
        self.what = what
        self.which = which  # the key or element, if `what` does not name it

    @property
    def key(self) -> tuple[str, str, Hashable]:
        """Return a key that two results share for the same violation."""
        return self.law, self.what, self.which

    @property
    def about(self) -> str:
        """Return the text of the key, element or line that the violation is about."""
        return self.what.partition("`")[2].rpartition("`")[0]

    def __repr__(self) -> str:
        return f"Violation({self.law} {self.document} {self.path}: {self.what})"


class Site:
    """Represent one place in the three versions and in the result together."""

    __slots__ = (
        "entire",
        "fresh",
        "is_fixed",
        "is_shared",
        "number",
        "path",
        "pattern",
        "pure",
        "where",
    )

    def __init__(self, number: int, where: Where) -> None:
        self.number = number  # the number of the document in the result
        self.where = where
        self.path: Path = ()  # up to the first list without keys
        self.is_fixed = False  # inside a list without keys, where the path does not grow
        self.pattern = ""  # the path without keys and indexes of elements
        self.is_shared = True  # the path exists in every version
        self.pure = True  # no renamed entry can be at this place
        self.entire = False  # whether entries below are counted even if they do not differ
        self.fresh = False  # both sides added the place, so common parts count as base

    def but(self, **facts: object) -> Site:
        """Return the same place with some attributes changed."""
        site = Site(self.number, self.where)
        for name in Site.__slots__:
            setattr(site, name, facts[name] if name in facts else getattr(self, name))
        return site

    def within(self, node: Node | None) -> Site:
        """Return this place for a mapping; if the mapping is a resource, its kind is now known."""
        return self.but(where=self.where.at(node))

    def key(self, name: str, pattern: str) -> Site:
        """Return the place of the value of a key in the mapping at this place."""
        return self._below(name, f".{pattern}", self.where.child(name))

    def element(self, step: Step) -> Site:
        """Return the place of the element that has this key in the list at this place."""
        return self._below(step, "[]", self.where.items())

    def elements(self) -> Site:
        """Return one place for all elements of the list at this place, which have no keys."""
        where, pattern = self.where.items(), f"{self.pattern}[]"
        site = self.but(where=where, pattern=pattern, is_fixed=True, entire=True)
        return site.but(is_shared=False, pure=False, fresh=False)

    def _below(self, step: Step, pattern: str, where: Where) -> Site:
        path = self.path if self.is_fixed else (*self.path, step)
        return self.but(path=path, pattern=self.pattern + pattern, where=where)


class CollectionPaths:
    """Find the collections of a document by their paths; read each collection only once."""

    __slots__ = ("_below", "_found")

    def __init__(self, root: Node | None, file: str) -> None:
        self._found: dict[Path, Spot | None] = {(): _spot(root, start(root, file))}
        self._below: dict[Path, list[Child]] = {}

    def nearest(self, path: Path) -> Path:
        """Return the longest beginning of the path that leads to a collection."""
        for size in range(len(path) + 1):
            if not self._leads_to_one(path[:size]):
                return path[: size - 1] if size else ()
        return path

    def around(self, offset: int) -> Path:
        """Return the path of the innermost collection that holds the line at an offset.

        All steps of the path are keys of mappings or keys of list elements.
        """
        from bisect import bisect_right  # imported here, because few merges need it

        path: Path = ()
        while self._leads_to_one(path):
            children = self._children(path)
            at = bisect_right(children, offset, key=lambda child: child[0]) - 1
            if at < 0 or offset >= children[at][1]:
                break
            step = children[at][2]
            if step is None:
                break
            path = (*path, step)
        return path

    def _leads_to_one(self, path: Path) -> bool:
        """Return whether a path leads to a collection; its parent path leads to a collection."""
        if path not in self._found:
            self._children(path[:-1])
        return self._found.get(path) is not None

    def _children(self, path: Path) -> list[Child]:
        """Return the start, the end and the step of each collection directly inside another."""
        if path not in self._below:
            children = self._below[path] = []
            spot = self._found[path]
            for step, entry, where in _steps(*spot) if spot is not None else ():
                value = entry.value
                if step is not None:
                    self._found.setdefault((*path, step), _spot(value, where))
                if isinstance(value, Collection):
                    children.append((*_held(value), step))
        return self._below[path]


def _spot(node: Node | None, where: Where) -> Spot | None:
    return (node, where) if isinstance(node, Collection) else None


def _held(value: Collection) -> tuple[int, int]:
    """Return the start and the end of the lines that belong to a collection."""
    return (value.start, value.end) if value.flow else (min(value.top, value.start), value.bottom)


def _steps(node: Collection, where: Where) -> Iterator[tuple[Step | None, Entry, Where]]:
    """Yield the entries of a collection, each with its step in a path.

    The step is None for an element without a key.
    """
    if isinstance(node, Mapping):
        where = where.at(node)
        for entry in node.entries:
            yield entry.name, entry, where.child(entry.name)
        return
    keys = ListKeys(where.list_rule(), [node.entries])
    for entry in node.entries:
        key = keys.of(entry.value)
        yield (None if key is None else keys.step(key)), entry, where.items()


def keys_of(lists: list[list[Entry]], rule: ListRule) -> ListKeys:
    """Return the keys of a list: look at the inputs, or at the result if the inputs are empty."""
    return ListKeys(rule, lists[:RESULT] if any(lists[:RESULT]) else lists)


def tables(lists: list[list[Entry]], keys: ListKeys) -> Tables | None:
    """Return the elements of each version by key.

    Return None if the elements have no key, or if an input has two elements with one key. If the
    result has two elements with one key, use the first element.
    """
    known = [keys.table(entries) for entries in lists[:RESULT]]
    of_result: dict[Hashable, Entry] = {}
    for entry in lists[RESULT]:
        of_result.setdefault(keys.of(entry.value), entry)
    of_inputs = [table for table in known if table is not None]
    return [*of_inputs, of_result] if len(of_inputs) == RESULT and None not in of_result else None


def index(node: Mapping | None) -> dict[Hashable, Entry]:
    return dict(node.index().items()) if node is not None else {}


def what(node: Node, known: Known) -> Hashable:
    """Return the content of an element, and mark the element if it is a leaf.

    A leaf is a scalar of one line, so a leaf is never merged.
    """
    alone = isinstance(node, Scalar) and not has_lines(node)
    return ("leaf" if alone else "", canon_of(node, known))


def is_leaf(key: Hashable) -> bool:
    return isinstance(key, tuple) and key[0] == "leaf"


def parts(key: Hashable) -> tuple[Hashable, ...]:
    """Split a key that is made of several fields, because each side may change another field."""
    if isinstance(key, Identity):
        return tuple(enumerate(key.key))
    if isinstance(key, tuple) and len(key) > 1 and all(isinstance(x, str | None) for x in key):
        return tuple(enumerate(key))
    return (key,)


def shown(key: Hashable) -> str:
    """Return a key as text for messages; show an element that is a mapping by one of its fields."""
    if isinstance(key, frozenset):
        fields = {str(name): value for name, value in key}
        known = [name for name in (*_NAMES, *sorted(fields)) if name in fields]
        return next(filter(None, (shown(fields[name]) for name in known)), "")
    if not isinstance(key, tuple):
        return str(key)
    if not key:
        return ""
    texts = [part for part in key if isinstance(part, str) and part not in ("leaf", "str")]
    is_text = key[0] != "leaf" and texts and isinstance(key[-1], str)
    return shown(texts[-1] if is_text else key[-1])


def named(pair: Iterable[Hashable]) -> str:
    return " and ".join(f"`{shown(key)}`" for key in pair)


def miscounted(key: Hashable, made: int, low: int, high: int) -> str:
    """Return a message about a key that the result has too rarely or too often."""
    return f"`{shown(key)}` {wrong_count(made, low, high)}"


def wrong_count(made: int, low: int, high: int) -> str:
    """Return what happens to something that the result has too rarely or too often."""
    if made < low:
        return "would be lost"
    if not high:
        return "would come back, though one side deleted it"
    return "would be there twice" if made == 2 else f"would be there {made} times"
