"""Both sides have the same insertion in a list in which things repeat, and a few edits more.

That is what a cherry-pick or a backport leaves behind. A tool that takes the two insertions for
two puts it there twice, where the elements beside it are the same as in it.

What is right is computed from the three lists of words alone. An *alignment* is a row of columns,
and a column holds one word of some of the three lists. What both sides kept costs nothing. A change
costs one, whether one side made it or both made the same: an insertion, a deletion, a replacement.
Where both replaced a word, each with another, or one replaced what the other deleted, the sides
contradict each other: this costs two, and the alignment has no result. The result of another is
what its columns come to, where who changed something is followed. The right results are those of
the cheapest alignments: there may be one, several (two insertions in one gap have no order), or
none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import product
from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Words = tuple[str, ...]
Case = tuple[Words, Words, Words]  # base, ours, theirs
Place = tuple[int, int, int]


# -- the law


def truth(base: Words, ours: Words, theirs: Words, *, replacing: int = 1) -> set[Words]:
    """The results of all alignments of the least cost; none where all of these contradict.

    With a cost of 2 a replacement is no cheaper than a deletion and an insertion. Then what
    `[a b c] + [n m c] + [a b n m]` comes to is `[n m]`, and not `[n m n m]`.
    """
    results = _cheapest(base, ours, theirs, replacing)
    return {result for result in results if result is not None}


def is_decided(base: Words, ours: Words, theirs: Words) -> bool:
    """Whether there is one result, and none of the alignments of the least cost contradicts it."""
    results = _cheapest(base, ours, theirs)
    return len(results) == 1 and None not in results


def _cheapest(base: Words, ours: Words, theirs: Words, replacing: int = 1) -> set[Words | None]:
    """What the cheapest alignments come to, and `None` if the sides contradict in one of them.

    Places are taken in the order of what it costs to get there, and of two of one cost the one
    with fewer words behind it first: all that is known of a place is known when it is taken.
    """
    start, end = (0, 0, 0), (len(base), len(ours), len(theirs))
    costs: dict[Place, int] = {start: 0}
    found: dict[Place, set[Words | None]] = {start: {()}}
    waiting = [(0, 0, start)]
    while waiting:
        cost, _, place = heappop(waiting)
        if place == end:
            break
        if cost > costs[place]:
            continue
        for step, more, word in _columns(base, ours, theirs, place, replacing):
            there = (place[0] + step[0], place[1] + step[1], place[2] + step[2])
            if there not in costs or cost + more < costs[there]:
                costs[there], found[there] = cost + more, set()
                heappush(waiting, (cost + more, sum(there), there))
            if cost + more == costs[there]:
                found[there] |= {
                    None if word is None or result is None else result + word
                    for result in found[place]
                }
    return found[end]


def _columns(
    base: Words, ours: Words, theirs: Words, place: Place, replacing: int
) -> Iterator[tuple[Place, int, Words | None]]:
    """The columns that may follow: which lists have a word in it, the cost, what it gives."""
    i, j, k = place
    b, o, t = base[i : i + 1], ours[j : j + 1], theirs[k : k + 1]
    if o:
        yield (0, 1, 0), 1, o
    if t:
        yield (0, 0, 1), 1, t
    if o and o == t:
        yield (0, 1, 1), 1, o
    if not b:
        return
    yield (1, 0, 0), 1, ()
    if o:
        yield ((1, 1, 0), 1, ()) if o == b else ((1, 1, 0), 2, None)
    if t:
        yield ((1, 0, 1), 1, ()) if t == b else ((1, 0, 1), 2, None)
    if o and t:
        if b in (o, t) or o == t:
            yield (1, 1, 1), 0 if b == o == t else replacing, t if o == b else o
        else:
            yield (1, 1, 1), 2, None


# -- the cases


def every_case(words: Sequence[str], sizes: Iterable[int] = (3, 4)) -> Iterator[Case]:
    """Every list over the words, with every insertion of a word, and at most one edit a side.

    Of two cases that differ only in which side is ours, one.
    """
    for size in sizes:
        for base in product(words, repeat=size):
            pairs = set()
            for both in _insertions(base, words):
                sides = _edits(both, words) - {base}
                pairs |= {(ours, theirs) for ours in sides for theirs in sides if ours < theirs}
            for ours, theirs in sorted(pairs):
                yield base, ours, theirs


def some_cases(words: Sequence[str], seed: int, number: int) -> list[Case]:
    """Some of these, chosen by a seed; either side may be ours."""
    rng = random.Random(seed)
    found: dict[Case, None] = {}
    while len(found) < number:
        base = tuple(rng.choices(words, k=rng.choice((3, 4, 4, 4))))
        both = rng.choice(sorted(_insertions(base, words)))
        sides = sorted(_edits(both, words) - {base})
        ours, theirs = rng.sample(sides, 2)
        if (base, theirs, ours) not in found:
            found[base, ours, theirs] = None
    return list(found)


def samples(seed: int, number: int, common: Sequence[str] = ("", "}", "fi", "done")) -> list[Case]:
    """Larger ones: 5 to 14 words, of which about 40 % are `common`, and 1 to 4 that both added.

    What both added is sometimes a copy of what stands there already. Each side has one edit or two
    besides.
    """
    rng = random.Random(seed)
    found: dict[Case, None] = {}
    while len(found) < number:
        fresh = map("w{}".format, range(100))

        def word(fresh: Iterator[str] = fresh) -> str:
            return rng.choice(common) if rng.random() < 0.4 else next(fresh)

        base = tuple(word() for _ in range(rng.randint(5, 14)))
        run = tuple(word() for _ in range(rng.randint(1, 4)))
        if rng.random() < 1 / 3:
            start = rng.randrange(len(base))
            run = base[start : start + rng.randint(1, 4)]
        at = rng.randint(0, len(base))
        both = base[:at] + run + base[at:]
        sides = []
        for _ in range(2):
            side = both
            for _ in range(rng.randint(1, 2)):
                side = _edit(rng, side, word)
            sides.append(side)
        ours, theirs = sides
        if base not in sides and ours != theirs:
            found[base, ours, theirs] = None
    return list(found)


def _insertions(base: Words, words: Iterable[str]) -> set[Words]:
    return {(*base[:at], word, *base[at:]) for word in words for at in range(len(base) + 1)}


def _edits(version: Words, words: Iterable[str]) -> set[Words]:
    """What a version comes to by one edit at most."""
    at = range(len(version))
    without = {version[:i] + version[i + 1 :] for i in at}
    replaced = {(*version[:i], word, *version[i + 1 :]) for word in words for i in at}
    return {version} | _insertions(version, words) | without | replaced


def _edit(rng: random.Random, version: Words, word: Callable[[], str]) -> Words:
    """The version after an edit of one word somewhere."""
    kind = rng.choice(("insert", "delete", "replace"))
    at = rng.randint(0, len(version) - (kind != "insert"))
    new = () if kind == "delete" else (word(),)
    return version[:at] + new + version[at + (kind != "insert") :]


# -- the forms


@dataclass(frozen=True)
class Form:
    """A place that holds the words, in a file that is otherwise the same in all versions."""

    item: Callable[[str], str]  # the lines of a word
    before: str
    after: str
    find: Callable[[str], list[str]]  # the words of such a file
    words: tuple[str, str, str] = ("a", "b", "c")  # of short lists
    common: tuple[str, ...] = ("}", "fi", "done", "else")  # those that repeat in longer ones

    def write(self, words: Words) -> bytes:
        """The file."""
        return (self.before + "".join(map(self.item, words)) + self.after).encode()

    def read(self, data: bytes) -> Words | None:
        """The words; nothing if it is another file than `write` would make of them."""
        try:
            text = data.decode()
            words = tuple(self.find(text))
            same = yaml.load(text, LOADER) == yaml.load(self.write(words), LOADER)
        except (ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError):
            return None
        return words if same and all(isinstance(word, str) for word in words) else None


def _value(text: str, *path: str | int) -> Any:
    value = yaml.load(text, LOADER)
    for step in path:
        value = value[step]
    return value


def _comments(text: str) -> list[str]:
    """The comment lines above a key, if all comments are there."""
    top, middle = text.split("name: web\n")
    block, rest = middle.split("replicas:")
    lines = [line.strip() for line in block.splitlines()]
    if "#" in top + rest or not all(line.startswith("#") for line in lines):
        raise ValueError("a comment elsewhere, or something else in between")
    return [line[1:].strip() for line in lines]


_CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n"
_REST = "  other: value\n"
_DEPLOYMENT = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n"
    "    spec:\n      containers:\n      - name: app\n        image: app:1\n        args:\n"
)
_JOB = "name: ci\non: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n    steps:\n"
_WORKFLOW = (
    "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata:\n  name: web\nspec:\n"
    "  entrypoint: main\n  templates:\n  - name: main\n    steps:\n"
)
FORMS = {
    # a first and a last line: blank ones at an end of a block text are something else
    "block": Form(
        lambda word: f"    {word}\n" if word else "\n",
        f"{_CONFIG}  script: |\n    begin\n",
        f"    end\n{_REST}",
        lambda text: _value(text, "data", "script").split("\n")[1:-2],
        ("", "}", "a"),
        ("", "}", "fi", "done"),
    ),
    "folded": Form(
        lambda word: f"    {word}\n",
        f"{_CONFIG}  about: >\n    begin\n",
        f"    end\n{_REST}",
        lambda text: _value(text, "data", "about").split()[1:-1],
        common=("and", "or", "the", "of"),
    ),
    "plain": Form(
        lambda word: f"    {word}\n",
        f"{_CONFIG}  about:\n    begin\n",
        f"    end\n{_REST}",
        lambda text: _value(text, "data", "about").split()[1:-1],
        common=("and", "or", "the", "of"),
    ),
    "args": Form(
        lambda word: f"        - {word}\n",
        _DEPLOYMENT,
        "        tty: true\n",
        lambda text: _value(text, "spec", "template", "spec", "containers", 0, "args"),
        ("a", "b", "-v"),
        ("-v", "--set", "--", "-f"),
    ),
    "comments": Form(
        lambda word: f"# {word}".rstrip() + "\n",
        "name: web\n",
        "replicas: 2\nimage: app:1\n",
        _comments,
        ("", "a", "b"),
        ("", "}", "note", "done"),
    ),
    "steps": Form(
        lambda word: f"    - run: {word}\n      shell: bash\n",
        _JOB,
        "    timeout-minutes: 5\n",
        lambda text: [step["run"] for step in _value(text, "jobs", "build", "steps")],
        common=("build", "test", "lint", "push"),
    ),
    "lists": Form(
        lambda word: f"    - - name: {word}\n        template: {word}\n",
        _WORKFLOW,
        "    parallelism: 1\n",
        lambda text: [group[0]["name"] for group in _value(text, "spec", "templates", 0, "steps")],
        common=("build", "test", "lint", "push"),
    ),
}
