"""reshape: a document becomes a wanted value with the fewest edits (the edit law)."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

import pytest
from counting import steps
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import json_values, manifests

from kmerge_git.errors import KmergeError
from kmerge_git.merge.reshape import equal, reshape
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split
from kmerge_git.tree.emit import dump
from kmerge_git.tree.nodes import Mapping
from kmerge_git.tree.plain_values import to_value


def document(text: str) -> Document:
    return split(Source.of(text)).documents[0]


def edited(value: object, dice: random.Random, fresh: object) -> object:
    """The value with one change somewhere: set, add, delete, or move."""
    value = copy.deepcopy(value)
    here = value
    while True:
        inner = (list(here.values()) if isinstance(here, dict) else here) or []
        deeper = [v for v in inner if isinstance(v, dict | list) and v]
        if not deeper or dice.random() < 0.3:
            break
        here = dice.choice(deeper)
    if isinstance(here, dict):
        key = dice.choice([*here, "new-key"])
        if dice.random() < 0.3:
            here.pop(key, None)
        else:
            here[key] = fresh
    elif isinstance(here, list):
        roll = dice.random()
        at = dice.randrange(len(here) + 1)
        if roll < 0.3 and at < len(here):
            del here[at]
        elif roll < 0.5 and len(here) > 1:
            here.append(here.pop(0))
        elif roll < 0.8 or at == len(here):
            here.insert(at, fresh)
        else:
            here[at] = fresh
    return value


@settings(max_examples=1000)
@given(manifests(), json_values(), st.integers(0, 2**32))
def test_the_edit_law(data: str, fresh: object, seed: int) -> None:
    """The result reads as the wanted value; entries that did not change keep every byte."""
    try:
        source = Source(data.encode())
        found = split(source).documents
        root = found[0].root if found else None
        before = to_value(root)
    except KmergeError:
        assume(False)
    assume(isinstance(root, Mapping) and isinstance(before, dict))
    wanted, dice = before, random.Random(seed)
    for _ in range(dice.choice((1, 1, 2, 4))):
        wanted = edited(wanted, dice, fresh) if wanted else wanted
    result = reshape(found[0], wanted)
    after = document(result).root
    assert equal(to_value(after), wanted)
    if not isinstance(root, Mapping) or root.flow or "*" in data:
        return
    for entry in root.entries:
        name = entry.name
        if name in before and name in wanted and equal(before[name], wanted[name]):
            assert root.text[entry.line : entry.end].rstrip("\n") in result


@settings(max_examples=200)
@given(manifests())
def test_the_same_value_changes_no_byte(data: str) -> None:
    try:
        found = split(Source(data.encode())).documents
        values = [(d, to_value(d.root)) for d in found if d.root is not None]
    except KmergeError:
        assume(False)
    for one, value in values:
        assert reshape(one, value) == one.text


CASES = [
    # a number keeps no quotes, a string keeps them
    ('a: "8080" # port\n', {"a": 9090}, "a: 9090 # port\n"),
    ('a: "8080" # port\n', {"a": "9090"}, 'a: "9090" # port\n'),
    ("a: 'x'\nb: yes\n", {"a": "y", "b": True}, "a: 'y'\nb: yes\n"),
    ("a: x\n", {"a": "yes"}, 'a: "yes"\n'),
    # collections filled and emptied
    ("a: {} # c\n", {"a": {"b": 1}}, "a: # c\n  b: 1\n"),
    ("a:\n  b: 1\n", {"a": {}}, "a: {}\n"),
    ("a:\n- b\n- c\n", {"a": ["c", "b"]}, "a:\n- c\n- b\n"),
    ("a: [x, y]\n", {"a": ["x", "z, w"]}, 'a: [x, "z, w"]\n'),
    # JSON stays JSON
    ('{\n  "a": 1\n}\n', {"a": 1, "b": ["x"]}, '{\n  "a": 1,\n  "b": ["x"]\n}\n'),
    ('["web"]\n', ["😀", "\u2028"], '["😀", "\\u2028"]\n'),
    # block scalars keep their header
    ("a: |\n  x\n  y\nb: 1\n", {"a": "x\nz\n", "b": 1}, "a: |\n  x\n  z\nb: 1\n"),
    ("a: &n 1\nb: *n\n", {"a": 2, "b": 1}, "a: &n 2\nb: 1\n"),
    # a block behind a dash stands one space from it, or its lines would not stand in one column
    ("-\n  a: 1\n-   []\n", [{"a": 1}, ["x", "z"]], "-\n  a: 1\n- - x\n  - z\n"),
    ("-   x\n", [{"a": 1, "b": 2}], "- a: 1\n  b: 2\n"),
]


@pytest.mark.parametrize("text, value, expected", CASES)
def test_cases(text: str, value: object, expected: str) -> None:
    assert reshape(document(text), value) == expected


@pytest.mark.parametrize(
    "have, want",
    [
        (lambda n: [{"a": k} for k in range(n)], lambda n: [{"a": -k} for k in range(n)]),
        (lambda n: [{"a": k} for k in range(n)], lambda n: [{"a": k} for k in range(n)][::-1]),
        (
            lambda n: [{"name": k, "v": 1} for k in range(n)],
            lambda n: [{"name": -k} for k in range(n)],
        ),
        (lambda n: [1] * n, lambda n: [True] * n),
        (lambda n: {f"a{k}": k for k in range(n)}, lambda n: {f"b{k}": k for k in range(n)}),
    ],
)
@pytest.mark.costly
def test_twice_as_much_takes_twice_as_long(
    have: Callable[[int], object], want: Callable[[int], object]
) -> None:
    def count(size: int) -> int:
        made = document(dump({"l": have(size)}))
        wanted = {"l": want(size)}
        return steps(lambda: reshape(made, wanted))

    count(3)  # what is made once is made now
    assert count(400) < 2.5 * count(200)


def test_a_value_deep_down_is_compared_once() -> None:
    def count(depth: int) -> int:
        made = document("[" * depth + "1" + "]" * depth)
        wanted: object = 2
        for _ in range(depth):
            wanted = [wanted]
        return steps(lambda: reshape(made, wanted))

    count(3)
    assert count(120) < 2.5 * count(60)
