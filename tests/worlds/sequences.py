"""Every merge of `[a, b, c]` with each arrangement of parts of `{a, b, c, n}` on both sides.

What is lawful is computed from the three lists alone, by two laws:

*count*: what one side alone added or removed follows that side, what both removed is gone. What
both added is there once if it stands in one gap, which is where the same of the elements that both
sides keep stand before it; beside others it may be two things, and is there once or twice.
*order*: of two elements that all versions have, the order is the three-way merge of the sides'
orders: whoever changed it is followed, and what nobody changed stays. A newcomer among maps keeps its
place among all that its side has around it, where one order has both; else it may stand anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Word = tuple[str, ...]
BASE: Word = ("a", "b", "c")
ARRANGEMENTS: list[Word] = [w for size in range(5) for w in permutations("abcn", size)]
WORLD: list[tuple[Word, Word]] = list(product(ARRANGEMENTS, repeat=2))


# -- the laws


def lawful(
    ours: Word,
    theirs: Word,
    result: Word,
    *,
    keyed: bool = False,
    ordered: bool = True,
    placed: bool = False,
) -> bool:
    """Whether `[a, b, c]` may come to this; in a `keyed` list a thing is there once at most.

    In a `placed` list a newcomer keeps its place, if it can.
    """
    for x in "abcn":
        allowed = counts(BASE, ours, theirs, x)
        if result.count(x) not in (allowed[:1] if keyed else allowed):
            return False
    if placed and not _keeps(result, pairs := [*places_of_newcomers(ours, theirs, result)]):
        return not any(_keeps(word, pairs) for word in permutations(result))
    return not ordered or _keeps(result, orders(BASE, ours, theirs))


def _keeps(word: Word, pairs: Iterable[tuple[Hashable, Hashable]]) -> bool:
    return all(word.index(x) < word.index(y) for x, y in pairs if x in word and y in word)


def places_of_newcomers(
    ours: Word, theirs: Word, result: Word
) -> Iterator[tuple[Hashable, Hashable]]:
    """The pairs `x` before `y` that a newcomer asks for, and those of what all versions have."""
    yield from orders(BASE, ours, theirs)
    for x, y in permutations(result, 2):
        if not {x, y} <= {*BASE}:
            ways = {side.index(x) < side.index(y) for side in (ours, theirs) if {x, y} <= {*side}}
            if ways == {True}:
                yield x, y


def lawful_results(ours: Word, theirs: Word) -> set[Word]:
    """All that `[a, b, c]` may come to in a list with an order and without keys."""
    bags = product(*([x * n for n in counts(BASE, ours, theirs, x)] for x in "abcn"))
    words = {word for bag in bags for word in permutations("".join(bag))}
    return {word for word in words if lawful(ours, theirs, word)}


def counts(
    base: Sequence, ours: Sequence, theirs: Sequence, x: Hashable, *, whole: bool = False
) -> range:
    """How often a thing may be there; a `whole` one, not a word of a line, is one in one gap."""
    old, mine, yours = (version.count(x) for version in (base, ours, theirs))
    if old in (mine, yours):
        now = yours if mine == old else mine
        return range(now, now + 1)
    both = max(mine + yours - old, 0)
    if mine < old and yours < old:
        return range(both, min(mine, yours) + 1)
    if mine > old and yours > old:
        alone = old == 0 and mine == yours == 1
        once = alone and _in_one_gap(base, ours, theirs, x, whole)
        return range(max(mine, yours), (1 if once else both) + 1)
    return range(both, both + 1)


def _in_one_gap(base: Sequence, ours: Sequence, theirs: Sequence, x: Hashable, whole: bool) -> bool:
    """Whether both sides put it into one gap of what both keep, beside the same other newcomers."""
    kept = {y for y in base if y in ours and y in theirs}
    gaps = [{y for y in side[: side.index(x)] if y in kept} for side in (ours, theirs)]
    runs = [_run(base, side, side.index(x)) for side in (ours, theirs)]
    return gaps[0] == gaps[1] and (whole or runs[0] == runs[1])


def _run(base: Sequence, side: Sequence, at: int) -> list[Hashable]:
    """The newcomers without a break around one of them."""
    start = stop = at
    while start and side[start - 1] not in base:
        start -= 1
    while stop < len(side) and side[stop] not in base:
        stop += 1
    return list(side[start:stop])


def orders(base: Sequence, ours: Sequence, theirs: Sequence) -> Iterator[tuple[Hashable, Hashable]]:
    """The pairs `x` before `y`, of what all versions have once."""
    versions = (base, ours, theirs)
    known = [x for x in dict.fromkeys(base) if all(v.count(x) == 1 for v in versions)]
    places = [{x: v.index(x) for x in known} for v in versions]
    for x, y in combinations(known, 2):
        old, mine, yours = (at[x] < at[y] for at in places)
        yield (x, y) if (mine if yours == old else yours) else (y, x)


# -- the forms


@dataclass(frozen=True)
class Form:
    """A place that holds the list, in a file that is otherwise the same in all versions."""

    item: Callable[[str], str]  # the lines of an element
    before: str = ""
    empty: str = ""  # the lines before it, where the list is empty
    after: str = ""
    keyed: bool = True
    ordered: bool = False
    placed: bool = False  # its elements are maps with an order, and no two of them are alike

    def write(self, word: Word) -> bytes:
        """The file."""
        if not word:
            return (self.empty + self.after).encode()
        return (self.before + "".join(map(self.item, word)) + self.after).encode()

    def read(self, data: bytes) -> Word:
        """The list, from the only words of one letter in the file."""
        found = []
        for document in yaml.load_all(data, LOADER):
            found += list(_letters(document))
        return tuple(found)

    def allows(self, ours: Word, theirs: Word, result: Word) -> bool:
        """Whether it is lawful here."""
        kind = {"keyed": self.keyed, "ordered": self.ordered, "placed": self.placed}
        return lawful(ours, theirs, result, **kind)


def _letters(value: object) -> Iterator[str]:
    if isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _letters(child)
    elif isinstance(value, str) and len(value) == 1:
        yield value


def _under(path: str, item: Callable[[str], str], after: str = "", **more: bool) -> Form:
    """The form below a path of keys, of which the last is the list's."""
    *heads, field = path.split("\n")
    start = "".join(head + "\n" for head in heads)
    return Form(item, f"{start}{field}:\n", f"{start}{field}: []\n", after, **more)


_POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n"
FORMS = {
    "args": _under(
        _POD + "  containers:\n  - name: app\n    args",
        lambda x: f"    - {x}\n",
        "    tty: true\n",
        keyed=False,
        ordered=True,
    ),
    "finalizers": _under(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  finalizers",
        lambda x: f"  - {x}\n",
        "data:\n  key: value\n",
    ),
    "env": _under(
        _POD + "  containers:\n  - name: app\n    env",
        lambda x: f"    - name: {x}\n      value: of-{x}\n",
        "    tty: true\n",
        ordered=True,
        placed=True,
    ),
    "containers": _under(
        _POD + "  containers",
        lambda x: f"  - name: {x}\n    image: image-of-{x}:1\n    tty: true\n",
        "  hostNetwork: true\n",
    ),
    "documents": Form(
        lambda x: (
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n"
            f"  name: {x}\ndata:\n  one: 1-{x}\n  two: 2-{x}\n"
        ),
    ),
}
