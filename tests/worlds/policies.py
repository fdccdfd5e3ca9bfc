"""Short lists of versions under policies: which version each element has, said by the edits alone.

An element is known by its name, whether or not the list has keys. A policy decides about values; it
neither divides an element in two nor brings one back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Word = tuple[tuple[str, str], ...]  # the elements, each with its name and its version
BASE: Word = (("b", "1.1.0"), ("c", "1.0.4"))
POLICIES: dict[str, tuple[tuple[str, str], ...]] = {
    "none": (),
    "higher": (("**.version", "higher"),),
    "union": (("**", "union"),),
    "higher and union": (("**.version", "higher"), ("**", "union")),
    "union and higher": (("**", "union"), ("**.version", "higher")),
}


@dataclass(frozen=True)
class List:
    """A list in a file: the lines above it, where it is, and the fields of its elements."""

    head: str
    at: tuple[str, ...]
    name: str
    more: tuple[str, ...] = ()  # lines that all elements have
    column: int = 0

    def write(self, word: Word) -> bytes:
        """Return the file."""
        text = self.head + ("" if word else " []") + "\n"
        for name, version in word:
            lines = (f"{self.name}: {name}", f"version: {version}", *self.more)
            text += "".join(
                f"{' ' * self.column}{'  ' if n else '- '}{line}\n" for n, line in enumerate(lines)
            )
        return text.encode()

    def read(self, data: bytes) -> Word:
        """Return the elements of a file."""
        value = yaml.load(data, LOADER)
        for step in self.at:
            value = (value or {}).get(step)
        return tuple((each[self.name], each["version"]) for each in value or ())


LISTS = {
    "without keys": List("versions:", ("versions",), "channel"),
    "without keys, with more fields": List(
        "versions:", ("versions",), "channel", ("os: linux", "arch: amd64", "size: 3")
    ),
    "with inferred keys": List("versions:", ("versions",), "name"),
    "with keys of the table": List(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:",
        ("spec", "containers"),
        "name",
        column=2,
    ),
}


def _bumped(name: str, version: str) -> Callable[[Word], Word]:
    return lambda word: tuple((n, version if n == name else v) for n, v in word)


def _without(name: str) -> Callable[[Word], Word]:
    return lambda word: tuple(each for each in word if each[0] != name)


EDITS: dict[str, Callable[[Word], Word]] = {
    "keep": lambda word: word,
    "bump b": _bumped("b", "1.2.0"),
    "bump b further": _bumped("b", "1.3.0"),
    "bump c": _bumped("c", "1.0.5"),
    "bump both": lambda word: _bumped("b", "1.4.0")(_bumped("c", "1.0.6")(word)),
    "drop b": _without("b"),
    "drop c": _without("c"),
    **{
        f"add {name} {version} {'above' if is_above else 'below'}": (
            lambda word, each=(name, version), is_above=is_above: (
                (each, *word) if is_above else (*word, each)
            )
        )
        for name, version, is_above in product("ad", ("2.0.0", "2.1.0"), (True, False))
    },
    "add a, drop c": lambda word: (("a", "2.1.0"), *_without("c")(word)),
    "add a, bump b": lambda word: (("a", "2.2.0"), *_bumped("b", "1.5.0")(word)),
}


def truth(ours: Word, theirs: Word, policy: str) -> dict[str, str]:
    """Return the version of each element; `clash` stands for a version that a person decides."""
    sides = [dict(word) for word in (BASE, ours, theirs)]
    merged = {}
    for name in dict.fromkeys(name for word in (BASE, ours, theirs) for name, _ in word):
        base, mine, yours = (side.get(name) for side in sides)
        if mine == yours or base in (mine, yours):
            found = yours if base == mine else mine
        elif mine is None or yours is None:
            found = "clash"
        else:
            found = max(mine, yours) if "higher" in policy else "clash"
        if found is not None:
            merged[name] = found
    if not merged and ours and theirs:
        return dict.fromkeys(sides[0], "clash")  # neither side wanted an empty list
    return merged


def worlds() -> Iterator[tuple[str, Word, Word]]:
    """Every pair of edits, in both orders."""
    for (one, ours), (other, theirs) in product(EDITS.items(), repeat=2):
        yield f"{one}; {other}", ours(BASE), theirs(BASE)


def is_in_two_gaps(ours: Word, theirs: Word) -> bool:
    """Return whether both sides add one element, but one above and the other below the others.

    In a list without keys these may be two elements.
    """
    known = {name for name, _ in BASE}
    ends = [
        {(name, at == 0) for at, (name, _) in enumerate(word) if name not in known}
        for word in (ours, theirs)
    ]
    names = [{name for name, _ in found} for found in ends]
    return bool(names[0] & names[1]) and not ends[0] & ends[1]
