"""One side indents lists anew, and the other side edits elements; equal lines stand elsewhere.

The values are those of the edits: whoever indents anew changes none.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import product

import yaml

Value = dict[str, list[object]]
Columns = dict[str, int]  # the column of the dashes of each list
BASES: dict[str, Value] = {
    "maps": {
        "first": [{"name": "a", "size": 1, "mode": "x"}, {"name": "b", "size": 2, "mode": "x"}],
        "second": [{"name": "b", "size": 2, "mode": "x"}, {"name": "c", "size": 2, "mode": "x"}],
    },
    "maps without keys": {
        "first": [{"get": "a", "size": 1, "mode": "x"}, {"get": "b", "size": 2, "mode": "x"}],
        "second": [{"get": "b", "size": 2, "mode": "x"}, {"get": "b", "size": 3, "mode": "x"}],
    },
    "scalars": {"first": ["a", "b", "c"], "second": ["b", "c", "b"]},
}
INDENTS: dict[str, Columns] = {
    "none": {"first": 0, "second": 0},
    "the first": {"first": 2, "second": 0},
    "the second": {"first": 0, "second": 2},
    "both": {"first": 2, "second": 2},
    "deeper": {"first": 4, "second": 2},
}


def write(value: Value, columns: Columns) -> bytes:
    """Return the file."""
    text = ""
    for name, elements in value.items():
        text += f"{name}:" + ("" if elements else " []") + "\n"
        lines = yaml.safe_dump(elements, sort_keys=False).splitlines() if elements else []
        text += "".join(" " * columns[name] + line + "\n" for line in lines)
        text += f"behind-{name}: 1\n"
    return text.encode()


def _new(value: Value) -> object:
    """Return an element that is made of lines of others."""
    one = value["second"][0]
    return {**one, "size": 7} if isinstance(one, dict) else "n"  # type: ignore[dict-item]


def _named(value: object, name: str) -> object:
    if not isinstance(value, dict):
        return value
    return {key: name if key in ("name", "get") else part for key, part in value.items()}


def edits(base: Value) -> Iterator[tuple[str, Value]]:
    """The versions of the other side."""
    for which in base:
        for at, element in enumerate(base[which]):
            changed = {**element, "size": 5} if isinstance(element, dict) else "z"
            for what, new in (("change", [changed]), ("delete", [])):
                version = deepcopy(base)
                version[which][at : at + 1] = new
                yield f"{what} {which} {at}", version
        for at in range(len(base[which]) + 1):
            version = deepcopy(base)
            version[which].insert(at, _named(_new(base), "n"))
            yield f"add to {which} {at}", version


def worlds() -> Iterator[tuple[str, bytes, bytes, bytes, Value]]:
    """Every merge: its name, the three versions, and the value of the result."""
    for (name, base), (old, new), (shown, columns) in product(
        BASES.items(), (("0", "none"), ("2", "both")), INDENTS.items()
    ):
        if INDENTS[new] == columns:
            continue
        for what, version in edits(base):
            texts = write(base, INDENTS[new]), write(base, columns), write(version, INDENTS[new])
            yield f"{name} at {old}: indent {shown}; {what}", *texts, version


def read(data: bytes) -> Value:
    """Return the lists of a file."""
    value = yaml.safe_load(data)
    return {name: part for name, part in value.items() if not name.startswith("behind")}
