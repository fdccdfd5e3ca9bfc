"""Lists that one side rearranges while the other adds elements, which may name others.

What is right is computed from the three lists alone, over all orders: an addition keeps its place
among all that its side has around it, and two elements that one side alone put the other way round
stand as that side has them. Where no order has both, the additions may stand anywhere, but none in
front of an element that it names and that stood before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, permutations

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Word = tuple[str, ...]
Names = tuple[tuple[str, str], ...]  # an addition, and an element that it names

OLD = "abcde"
NEW = "mn"


@dataclass(frozen=True)
class Case:
    """What one side makes of the order, what the other adds, and what the additions name."""

    base: Word
    moved: Word
    added: Word
    names: Names = ()

    def __str__(self) -> str:
        words = " / ".join(map("".join, (self.base, self.moved, self.added)))
        return " ".join([words, *(f"{new}->{old}" for new, old in self.names)])

    def lawful(self) -> set[Word]:
        """All orders that keep each pair; nothing if they contradict each other."""
        pairs = [*combinations(self.moved, 2)]
        pairs += [(x, y) for x, y in combinations(self.added, 2) if {x, y} & {*NEW}]
        return {word for word in permutations(self.added) if _keeps(word, pairs)}

    def breaks(self, result: Word) -> bool:
        """Whether an addition stands in front of what it names."""
        return not _keeps(result, [(old, new) for new, old in self.names])


def _keeps(word: Word, pairs: list[tuple[str, str]]) -> bool:
    return all(word.index(x) < word.index(y) for x, y in pairs)


def cases(size: int, new: int) -> Iterator[Case]:
    """Every order of `size` elements, with so many additions at every place, without names."""
    base = tuple(OLD[:size])
    for moved in permutations(base):
        if moved != base:
            for places in combinations(range(size + new), new):
                letters, rest = iter(NEW[:new]), iter(base)
                places_of_new = set(places)
                added = (next(letters if n in places_of_new else rest) for n in range(size + new))
                yield Case(base, moved, tuple(added))


def named(case: Case, most: int = 2) -> Iterator[Case]:
    """The case with each choice of up to so many elements that the last addition names."""
    new = [x for x in case.added if x in NEW][-1]
    ahead = case.added[: case.added.index(new)]
    for some in chain.from_iterable(combinations(ahead, n) for n in range(most + 1)):
        yield Case(case.base, case.moved, case.added, tuple((new, old) for old in some))


# -- the forms


@dataclass(frozen=True)
class Form:
    """A file with such a list, and how an element names others."""

    path: str
    head: str
    item: Callable[[str, list[str]], str]  # the lines of an element that names these
    foot: str = ""

    def write(self, word: Word, names: Names = ()) -> bytes:
        """The file."""
        items = (self.item(x, [old for new, old in names if new == x]) for x in word)
        return (self.head + "".join(items) + self.foot).encode()

    def read(self, data: bytes) -> Word:
        """The list: the words of one letter that name an element."""
        return tuple(_letters(yaml.load(data, LOADER)))


def _letters(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        name = value.get("name", value.get("id"))
        if isinstance(name, str) and len(name) == 1:
            yield name
    below = value.values() if isinstance(value, dict) else value
    for child in below if isinstance(value, dict | list) else ():  # type: ignore[attr-defined]
        yield from _letters(child)


def _listed(field: str) -> Callable[[str, list[str]], str]:
    def item(x: str, names: list[str]) -> str:
        extra = f"    {field}: [{', '.join(names)}]\n" if names else ""
        return f"  - name: {x}\n    taskRef: {{kind: Task, id: do-{x}}}\n" + extra

    return item


def _env(x: str, names: list[str]) -> str:
    value = ":".join([f"of-{x}", *(f"$({name})" for name in names)])
    return f"    - name: {x}\n      value: {value}\n"


def _step(x: str, names: list[str]) -> str:
    words = " ".join(f"${{{{ steps.{name}.outputs.tag }}}}" for name in names)
    return f"    - id: {x}\n      uses: actions/{x}@v1\n      with:\n        tag: of-{x} {words}\n"


_POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n"
FORMS = {
    "env": Form(
        "pod.yaml", _POD + "  containers:\n  - name: app\n    env:\n", _env, "    tty: true\n"
    ),
    "containers": Form(
        "pod.yaml",
        _POD + "  containers:\n",
        lambda x, names: f"  - name: {x}\n    image: image-of-{x}:1\n    args: [{_used(names)}]\n",
        "  hostNetwork: true\n",
    ),
    "tasks": Form(
        "pipeline.yaml",
        "apiVersion: tekton.dev/v1\nkind: Pipeline\nmetadata:\n  name: web\nspec:\n  tasks:\n",
        _listed("runAfter"),
    ),
    "steps": Form(".github/workflows/ci.yaml", "jobs:\n  build:\n    steps:\n", _step),
}


def _used(names: list[str]) -> str:
    return ", ".join(f"$({name})" for name in names)
