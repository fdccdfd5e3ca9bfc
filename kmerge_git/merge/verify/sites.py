"""Hold what the laws share: places, violations, the names of list elements, and counts.

Things are counted by their content, in base, ours, theirs and the result.
"""

from __future__ import annotations

from operator import eq

from kmerge_git.kube.identity import Identity
from kmerge_git.kube.listkeys import ListKeys, start
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, has_lines
from kmerge_git.tree.same import canon_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator
    from collections.abc import Sequence as Row
    from typing import TypeVar

    from kmerge_git.kube.fieldpath import Path, Step
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.tree.documents import Document
    from kmerge_git.tree.same import Known

    Spot = tuple[Collection, Where]
    Child = tuple[int, int, Step | None]

    # the tables of base, ours, theirs and the result
    Tables = list[dict[Hashable, Entry]]
    # how often something occurs in base, ours, theirs and the result
    Count = list[int]
    Keys = list[Hashable]
    Documents = list[list[Document]]  # of base, ours, theirs and the result
    K = TypeVar("K", bound=Hashable)
    T = TypeVar("T")

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
        site = Site.__new__(Site)  # for every field; a dictionary is copied fastest
        site.__dict__ = {**self.__dict__, **facts}
        return site

    def below(self, step: Step, pattern: str, where: Where) -> Site:
        """Return the place of the value of a key, or of an element with a key, at this place."""
        path = self.path if self.is_fixed else (*self.path, step)
        return self.but(path=path, pattern=self.pattern + pattern, where=where)

    def elements(self) -> Site:
        """Return one place for all elements of the list at this place, which have no keys."""
        place = self.but(where=self.where.items(), pattern=f"{self.pattern}[]", is_fixed=True)
        return place.but(entire=True, is_shared=False, pure=False, fresh=False)


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
            _, end, step = children[at] if at >= 0 else (0, 0, None)
            if step is None or offset >= end:
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
            for step, entry, where in steps(*spot) if spot is not None else ():
                value = entry.value
                if step is not None:
                    self._found.setdefault((*path, step), _spot(value, where))
                if isinstance(value, Collection):
                    top, bottom = value.start, value.end
                    if not value.flow:  # the lines above and below a block belong to it
                        top, bottom = min(value.top, top), value.bottom
                    children.append((top, bottom, step))
        return self._below[path]


def _spot(node: Node | None, where: Where) -> Spot | None:
    return (node, where) if isinstance(node, Collection) else None


def steps(node: Collection, where: Where) -> Iterator[tuple[Step | None, Entry, Where]]:
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
        return "would come back, although one side deleted it"
    return "would appear twice" if made == 2 else f"would appear {made} times"


# -- counts and orders

_MOST = 300  # in longer lists the order is not checked, to save time


def bounds(base: int, ours: int, theirs: int) -> tuple[int, int]:
    """Return the least and the greatest count that the result may have, from the input counts."""
    mine, yours = ours - base, theirs - base
    both = base + mine + yours
    if mine > 0 and yours > 0:
        return base + max(mine, yours), both
    if mine < 0 and yours < 0:
        return max(both, 0), base + min(mine, yours)
    return max(both, 0), max(both, 0)


def is_miscounted(count: Count) -> bool:
    """Return whether the result has something too rarely or too often."""
    low, high = bounds(*count[:RESULT])
    return not low <= count[RESULT] <= high


def disordered(base: Keys, ours: Keys, theirs: Keys, result: Keys) -> tuple[Hashable, ...]:
    """Return two elements whose order in the result is wrong, or ().

    Only elements that occur exactly once in every version and in the result are compared.
    """
    once = {key for key, n in by_side([base, ours, theirs, result]).items() if n == [1, 1, 1, 1]}
    b, o, t, r = ([key for key in keys if key in once] for keys in (base, ours, theirs, result))
    if (t == b and r == o) or (o == b and r == t) or o == t == r or len(b) > _MOST:
        return ()
    places = [{key: n for n, key in enumerate(keys)} for keys in (o, t, r)]
    pairs = ((x, y) for n, x in enumerate(b) for y in b[n + 1 :])
    return next((pair for pair in pairs if _is_turned(*pair, places)), ())


def _is_turned(x: Hashable, y: Hashable, places: list[dict[Hashable, int]]) -> bool:
    """Return whether two elements have the wrong order in the result; base has `x` before `y`."""
    mine, yours, made = (place[x] < place[y] for place in places)
    return made != (mine and yours)


def replaced_twice(base: Keys, ours: Keys, theirs: Keys, result: Keys) -> tuple[Hashable, ...]:
    """Return two elements of the result that replace the same deleted elements, or ().

    Both sides deleted the same elements of a gap, each side added an element in this gap instead,
    and the result holds both added elements. An element that both sides added replaces one deleted
    element.
    """
    old, mine, yours, made = set(base), set(ours), set(theirs), set(result)
    known = old & mine & yours
    here, there = _gaps(ours, known), _gaps(theirs, known)
    for edge, gone in _gaps(base, known).items():
        new = [x for x in here.get(edge, ()) if x not in old]
        others = [x for x in there.get(edge, ()) if x not in old]
        if len({*gone} - mine - yours) > len({*new}.intersection(others)):
            twice = [[x for x in new if x not in yours], [x for x in others if x not in mine]]
            if all(made.intersection(found) for found in twice):
                return tuple(next(x for x in found if x in made) for found in twice)
    return ()


def _gaps(keys: Keys, known: set[Hashable]) -> dict[tuple[Hashable, Hashable], Keys]:
    """Return the elements in each gap between two elements in `known`."""
    gaps: dict[tuple[Hashable, Hashable], Keys] = {}
    run: Keys = []
    before: Hashable = None
    for key in (*keys, None):
        if key is None or key in known:
            gaps[before, key] = run
            before, run = key, []
        else:
            run.append(key)
    return gaps


def by_side(lists: Iterable[Iterable[K]]) -> dict[K, Count]:
    """Return how often each item occurs in base, ours, theirs and the result."""
    counts: dict[K, Count] = {}
    for side, things in enumerate(lists):
        for thing in things:
            counts.setdefault(thing, [0, 0, 0, 0])[side] += 1
    return counts


def unsettled(counts: dict[Hashable, Count]) -> dict[Hashable, Count]:
    """Return the counts that differ, without the elements that both sides replaced in the same way.

    If one side alone made all other changes, and the result has these changes, return nothing.
    """
    rest = {key: count for key, count in counts.items() if len(set(count)) > 1}
    gone = {key for key, count in rest.items() if count[0] and not any(count[1:])}
    new = {key for key, count in rest.items() if not count[0] and len(set(count[1:])) == 1}
    if sum(rest[key][0] for key in gone) == sum(rest[key][1] for key in new):
        rest = {key: count for key, count in rest.items() if key not in gone and key not in new}
    return {} if all(map(follows, rest.values())) else rest


def follows(four: Row[T], same: Callable[[T, T], bool] = eq) -> bool:
    """Return whether at most one side changed a value, and the result has that change."""
    base, ours, theirs, made = four
    return (same(base, theirs) and same(ours, made)) or (same(base, ours) and same(theirs, made))
