"""Text of another file at our columns: as a block, in one line, as one token."""

from __future__ import annotations

import pytest

from kmerge_git.merge.write.placed_lines import (
    as_flow,
    entry_lines,
    token,
    value_lines,
    value_rest,
    way_below,
)
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Collection, Entry, Node, after, keeps_blank_lines

NOTHING = split(Source.of("0\n")).documents[0].root

# -- the adapters: `a.0.b` is a path; in our text `@` is where we are


def written(part: str, text: str, path: str, column: int) -> str:
    """An entry, its value below its key, or behind it, when its key comes to a column of ours."""
    entry = found(text, path)
    if part == "below":
        return value_lines(entry, column, NOTHING)
    if part == "behind":
        return value_rest(entry, column, None)
    return entry_lines(entry, column, lead=part != "bare entry")


def test_a_block_that_replaces_one_of_its_kind_stands_where_that_stood():
    taken, block = found("k:\n- a\n", "k"), root("  - b\n")
    assert value_lines(taken, 0, block) == "  - a\n"
    assert value_lines(taken, 0, NOTHING) == "- a\n"


def told(what: str, text: str, style: str | None = None) -> str:
    """A value in one line; as a token of a block, or of one line."""
    if what == "one line":
        return as_flow(root(text))
    return token(root(text), style, flow=what == "token in one line")


def tail(text: str, path: str) -> str:
    return after(found(text, path))


def ends_open(text: str) -> bool:
    """Whether blank lines below would be content."""
    return keeps_blank_lines(root(text))


def found(text: str, path: str) -> Entry:
    node = root(text)
    for step in path.split("."):
        entry = node.entries[int(step)] if step.isdigit() else node.index()[step]
        node = entry.value
    return entry


def root(text: str) -> Node:
    return split(Source.of(text)).documents[0].root


# -- at another column

MOVED = {
    "to the right": ("entry", "a: 1\n", "a", 2, "  a: 1\n"),
    "to the margin": ("entry", "a:\n  b: 1\n", "a.b", 0, "b: 1\n"),
    "with what stands above and behind": ("entry", "x: 1\n\n# far\n\n# above\nb: 1  # behind\n# next\nc: 2\n", "b", 2,
        "\n  # far\n\n  # above\n  b: 1  # behind\n"),
    "without what stands above": ("bare entry", "x: 1\n# above\nb: 1  # behind\n", "b", 2, "  b: 1  # behind\n"),
    "with a deeper comment below": ("entry", "b:\n  c: 1\n  # below\n# next\nd: 1\n", "b", 2, "  b:\n    c: 1\n    # below\n"),
    "comments at the margin": ("entry", "a:\n    b:\n# odd\n  # two\n        c: 1\n", "a.b", 0, "b:\n# odd\n# two\n    c: 1\n"),
    "a block scalar and its blank lines": ("entry", "a: |\n  x\n    y\n\n  z\nb: 1\n", "a", 2,
        "  a: |\n    x\n      y\n\n    z\n"),
    "plain text of two lines": ("entry", "a: x\n  y\nb: 1\n", "a", 2, "  a: x\n    y\n"),
    "an element": ("entry", "- n: x\n  v: 1\n", "0", 2, "  - n: x\n    v: 1\n"),
    "a list in a list": ("entry", "- - x\n  - y\n", "0", 2, "  - - x\n    - y\n"),
    "a field that starts in mid-line": ("entry", "- n: x\n  v: 1\n", "0.n", 4, "    n: x\n"),
    "a key behind a question mark": ("entry", "? k\n: v\n", "k", 2, "  ? k\n  : v\n"),
    "a flow entry": ("entry", "{b: 1, c: [2, 3]}\n", "c", 2, "  c: [2, 3]\n"),
    "a flow entry of two lines": ("entry", "a: {b: [1,\n     2]}\n", "a.b", 2, "  b: [1,\n   2]\n"),
    "a flow entry without a value": ("entry", "{b, c: }\n", "c", 0, "c:\n"),
    "a flow element": ("entry", "[{x: 1}, y]\n", "0", 2, "  - {x: 1}\n"),
    "below: a mapping": ("below", "k: # c\n    # in\n    b: 1\n", "k", 2, "      # in\n      b: 1\n"),
    "below: a list": ("below", "k:\n- b: 1\n  c: 1\n", "k", 2, "  - b: 1\n    c: 1\n"),
    "behind: a scalar": ("behind", "k: v  # c\n", "k", 2, "v"),
    "behind: a block scalar": ("behind", "- k: |\n    x\n\n    y\n", "0.k", 0, "|\n  x\n\n  y"),
    "behind: a flow mapping": ("behind", "k: {a: 1,\n  b: 2}\n", "k", 2, "{a: 1,\n    b: 2}"),
    "behind a dash": ("behind", "- a: 1\n  b: 2\n", "0", 2, "a: 1\n    b: 2"),
    "behind a dash and a gap": ("behind", "-   a: 1\n    b: 2\n", "0", 2, "a: 1\n      b: 2"),
}  # fmt: skip


@pytest.mark.parametrize("part, text, path, column, expected", MOVED.values(), ids=MOVED)
def test_text_at_another_column(part, text, path, column, expected):
    assert written(part, text, path, column) == expected


@pytest.mark.parametrize(
    "text, path, way",
    [("k:\n  x: 1\n", "k", 2), ("k:\n- x\n", "k", 0), ("-   x: 1\n", "0", 4), ("k: {}\n", "k", 2)],
)
def test_where_an_empty_collection_is_filled(text, path, way):
    """An addition keeps its own steps."""
    entry = found(text, path)
    assert isinstance(entry.value, Collection)
    assert way_below(entry, entry.value) == way


# -- in one line, as one token


@pytest.mark.parametrize(
    "text, flow",
    [
        ("a: 1\nb: [x]\n", "{a: 1, b: [x]}"),
        ("- x\n- - y\n- z: 1\n  w: 2\n", "[x, [y], {z: 1, w: 2}]"),
        ("a: 1  # gone\n# gone\nb:\n", "{a: 1, b: null}"),
        ("{a: 1,  b: 2}", "{a: 1,  b: 2}"),  # as it was written
        ("a: &x b\nc: *x\n", "{a: &x b, c: *x}"),
        ("x: |\n  l1\n  l2\n", '{x: "l1\\nl2\\n"}'),
        ("? a, b\n: 1\n", '{"a, b": 1}'),
        *((plain, plain) for plain in ("a b", "-1", "1e-5", "'a, b'", '"a, b"', "a:b", "null")),
        *((odd, f'"{odd}"') for odd in ("a, b", "1,5", "-x", "?x", ":x", "a#b", "x]", "x{", "x}")),
        ("&a b, c", '&a "b, c"'),
        ("!t b, c", '!t "b, c"'),
    ],
)
def test_a_value_in_one_line(text, flow):
    assert told("one line", text) == flow


@pytest.mark.parametrize(
    "text, style, expected",
    [
        ("x", None, "x"), ("x", "'", "'x'"), ("x", '"', '"x"'), ("it's", "'", "'it''s'"),
        ("'x'", '"', '"x"'), ('"x"', "'", "'x'"), ('"x"', None, '"x"'),
        ('"x\\n"', "'", '"x\\n"'),  # quotes that cannot hold it
        ("1", "'", "1"), ("true", '"', "true"),  # what is no string stays what it is
        ("&a x", "'", "&a 'x'"), ("!t x", "'", "!t x"), ("[x]", "'", "[x]"),
    ],
)  # fmt: skip
def test_a_value_as_a_token(text, style, expected):
    assert told("token", text, style) == expected
    assert told("token in one line", text, style) == expected


def test_a_token_fits_where_it_stands():
    assert told("token in one line", "- x\n- y\n") == "[x, y]"
    assert told("token", "- x\n- y\n") == "- x\n- y"


# -- what belongs to a value


@pytest.mark.parametrize(
    "text, path, expected",
    [
        ("a: 1\n", "a", "\n"), ("a: 1  # c\n", "a", "  # c\n"), ("a: [1]  # c\n", "a", "  # c\n"),
        ("a: 1\n  # below\nb: 2\n", "a", "\n  # below\n"),
        ("a:  # c\n  b: 1  # d\n", "a", "  # c"), ("a:\n  b: 1\n", "a", ""),
        ("- a: 1  # c\n", "0", ""),  # the comment is that of the field
        ("{a: 1, b: 2}\n", "a", ""),
    ],
)  # fmt: skip
def test_what_stands_behind_a_value(text, path, expected):
    assert tail(text, path) == expected


def test_blank_lines_below_are_content_where_a_text_keeps_them():
    assert all(map(ends_open, ("|+\n  x\n\n", "a:\n- b: >+2 # c\n    x\n\n")))
    texts = "a: |+\n  x\n\nb: 1\n", "|\n  x\n", "| # +\n  x\n", "x+\n"
    assert not any(map(ends_open, texts))
