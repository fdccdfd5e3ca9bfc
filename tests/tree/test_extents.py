"""Who owns a line of a block collection: the rule of `tree.nodes`, case by case.

Each line of the texts starts with a mark: `>` the entry's own lines, `l` its lead, `a` the
comment block attached to it (a part of the lead), `h` the head of the collection, `f` its foot.
"""

import pytest
from counting import steps
from spans import assert_identity

from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Collection, Sequence


def marks(collection: Collection) -> list[tuple[str, str]]:
    """The lines of a collection, each with the number of its entry and what it is to it."""
    text, found = collection.text, []
    regions = [("h", collection.top, collection.entries[0].lead)]
    for number, entry in enumerate(collection.entries):
        regions.append((f"{number}l", entry.lead, entry.attached))
        regions.append((f"{number}a", entry.attached, entry.line))
        regions.append((f"{number}>", entry.line, entry.end))
    regions.append(("f", collection.entries[-1].end, collection.bottom))
    for mark, start, end in regions:
        found += [(mark, line) for line in text[start:end].splitlines()]
    return found


def table(lines: list[tuple[str, str]]) -> tuple[str, list[tuple[str, str]]]:
    return "".join(line + "\n" for _, line in lines), lines


@pytest.mark.parametrize(
    "lines",
    [
        [("0>", "a: 1"), ("1>", "b: 2")],
        # the trailing comment is the entry's own
        [("0>", "a: 1  # one"), ("1>", "b: 2")],
        # a comment that touches the next entry is attached to it
        [("0>", "a: 1"), ("1a", "# two"), ("1a", "# more"), ("1>", "b: 2")],
        # blank lines lead the next entry; only the block that touches it is attached
        [("0>", "a: 1"), ("1l", ""), ("1>", "b: 2")],
        [("0>", "a: 1"), ("1l", ""), ("1a", "# two"), ("1>", "b: 2")],
        [("0>", "a: 1"), ("1l", "# alone"), ("1l", ""), ("1a", "# two"), ("1>", "b: 2")],
        [("0>", "a: 1"), ("1l", "# alone"), ("1l", ""), ("1>", "b: 2")],
        # deeper comments below an entry are its own
        [("0>", "a: 1"), ("0>", "  # deeper"), ("1>", "b: 2")],
        [("0>", "a:"), ("0>", "  x: 1"), ("0>", "  # deeper"), ("1a", "# two"), ("1>", "b: 2")],
        [("0>", "a:"), ("0>", "  x: 1"), ("0>", ""), ("0>", "  # deeper"), ("1>", "b: 2")],
        [("0>", "a: 1"), ("1a", "# two"), ("1a", "  # deeper, but behind"), ("1>", "b: 2")],
        # comments right below an empty collection are like others
        [("0>", "a: {}  # one"), ("1l", "# x: 1"), ("1l", ""), ("1a", "# two"), ("1>", "b: 2")],
        [("0>", "a: []"), ("0>", "  # deeper"), ("1l", "# - x"), ("1l", ""), ("1>", "b: 2")],
        [("0>", "a: []"), ("f", "# - x"), ("f", ""), ("f", "# foot")],
        [("0>", "a: []"), ("1a", "# two"), ("1>", "b: 2")],
        [("0>", "a: []"), ("1l", ""), ("1l", "# alone"), ("1l", ""), ("1>", "b: 2")],
        [("0>", "a:"), ("0>", "  x: []"), ("1l", "# alone"), ("1l", ""), ("1>", "b: 2")],
        [("0>", "a: [x]"), ("1l", "# alone"), ("1l", ""), ("1>", "b: 2")],
        # before the first entry only the attached block is its lead, the rest is the head
        [("h", "# head"), ("h", ""), ("0a", "# one"), ("0>", "a: 1"), ("1>", "b: 2")],
        [("h", "# head"), ("h", ""), ("0>", "a: 1")],
        [("0a", "# one"), ("0>", "a: 1")],
        # what follows the last entry is the foot
        [("0>", "a: 1"), ("f", ""), ("f", "# foot")],
        [("0>", "a: 1"), ("f", "# foot")],
        [("0>", "a: 1"), ("0>", "  # deeper"), ("f", "# foot")],
        [("0>", "a: 1"), ("f", "")],
        # values over several lines
        [("0>", "a: |"), ("0>", "  x"), ("1l", ""), ("1>", "b: 2")],
        [("0>", "a: |+"), ("0>", "  x"), ("0>", ""), ("1>", "b: 2")],
        [("0>", "a: |"), ("0>", "  x"), ("1a", "# two"), ("1>", "b: 2")],
        [("0>", "a: x"), ("0>", "  y"), ("1>", "b: 2")],
        [("0>", "a: ["), ("0>", "  x, # c"), ("0>", "  ] # d"), ("1a", "# two"), ("1>", "b: 2")],
        [("0>", "a:"), ("0>", "# between key and value"), ("0>", "  1"), ("1>", "b: 2")],
        [("0>", "? a"), ("0>", ": 1"), ("1>", "? b"), ("2>", "c: 2")],
        [("0>", "a:"), ("0>", "- x"), ("0>", "- y"), ("1a", "# two"), ("1>", "b: 2")],
        [("0>", "a:"), ("1>", "b:"), ("f", "# foot")],
        [("0>", "&x a: &y"), ("0>", "  b: 1"), ("1>", "*x : 2")],
    ],
)  # fmt: skip
def test_the_lines_of_a_mapping(lines):
    text, expected = table(lines)
    assert_identity(text.encode())
    top = split(Source(text.encode())).documents[0].root
    assert marks(top) == expected


@pytest.mark.parametrize(
    "lines",
    [
        [("0>", "- a"), ("1>", "- b")],
        [("0>", "- a # one"), ("1l", ""), ("1a", "# two"), ("1>", "- b")],
        [("h", "# head"), ("h", ""), ("0a", "# one"), ("0>", "- a"), ("f", "# foot")],
        [("0>", "- name: a"), ("0>", "  x: 1"), ("0>", "  # in it"), ("1a", "# two"), ("1>", "- b")],
        [("0>", "- name: a"), ("1a", "# of the next one"), ("1>", "- name: b")],
        [("0>", "- name: a"), ("0>", " # deeper than the dash"), ("1>", "- name: b")],
        [("0>", "-"), ("0>", "  # c"), ("0>", "  a: 1"), ("1>", "-"), ("2>", "- c")],
        [("0>", "- - a"), ("0>", "  - b"), ("1>", "- - c")],
    ],
)  # fmt: skip
def test_the_lines_of_a_sequence(lines):
    text, expected = table(lines)
    assert_identity(text.encode())
    top = split(Source(text.encode())).documents[0].root
    assert isinstance(top, Sequence)
    assert marks(top) == expected


def inner(text: str, *steps: str | int) -> Collection:
    assert_identity(text.encode())
    node = split(Source(text.encode())).documents[0].root
    for step in steps:
        node = node.entries[step].value if isinstance(step, int) else node.get(step)
    return node


def test_a_nested_collection_owns_the_lines_of_its_entry_below_the_key():
    text = "a: # of a\n  # head\n\n  # one\n  x: 1\n\n  # foot\n# of b\nb: 2\n"
    assert marks(inner(text, "a")) == [
        ("h", "  # head"),
        ("h", ""),
        ("0a", "  # one"),
        ("0>", "  x: 1"),
        ("f", ""),
        ("f", "  # foot"),
    ]
    assert [mark for mark, _ in marks(inner(text))] == ["0>"] * 7 + ["1a", "1>"]


def test_a_collection_in_a_line_starts_in_the_middle_of_it():
    text = "- name: a # one\n  # two\n  b: 2\n- c: 3\n"
    made = inner(text, 0)
    assert (made.top, made.content, made.column) == (2, 2, 2)
    assert made.entries[0].line == made.entries[0].start == 2
    assert marks(made) == [
        ("0>", "name: a # one"),
        ("1a", "  # two"),
        ("1>", "  b: 2"),
    ]


def test_a_comment_in_an_unusual_column_belongs_by_its_depth():
    text = "a:\n    x: 1\n  # above x, below a\n    y: 2\n   # last\nb: 1\n"
    assert [mark for mark, _ in marks(inner(text, "a"))] == ["0>", "1a", "1>", "f"]
    assert [mark for mark, _ in marks(inner(text))] == ["0>"] * 5 + ["1>"]


def test_a_list_at_the_column_of_its_key_gives_comments_there_to_the_next_key():
    text = "a:\n- x\n# of y\n- y\n# of b\nb: 1\n"
    assert [mark for mark, _ in marks(inner(text, "a"))] == ["0>", "1a", "1>"]
    assert marks(inner(text))[-2:] == [("1a", "# of b"), ("1>", "b: 1")]


def test_flow_entries_own_no_lines():
    made = inner("a: [ # c\n  x, # d\n  y ]\n", "a")
    assert [(e.start, e.end, e.lead, e.attached, e.line) for e in made.entries] == [
        (11, 12, 11, 11, 11),
        (20, 21, 20, 20, 20),
    ]


def test_with_windows_line_ends_the_same_lines_are_owned():
    lines = [
        ("h", "# h"),
        ("h", ""),
        ("0>", "a: 1"),
        ("1l", ""),
        ("1a", "# b"),
        ("1>", "b: 2"),
        ("f", "# f"),
    ]
    text, expected = table(lines)
    for data in (
        text.replace("\n", "\r\n").encode(),
        (text.replace("\n", "\r\n") + "# z\n").encode(),
    ):
        assert_identity(data)
        found = marks(split(Source(data)).documents[0].root)
        assert found[: len(expected)] == expected


def test_a_document_owns_no_line_of_the_next_one():
    text = "a: 1\n# foot\n---\n# head\n\nb: 2\n"
    assert_identity(text.encode())
    one, two = split(Source(text.encode())).documents
    assert marks(one.root) == [("0>", "a: 1"), ("f", "# foot")]
    assert marks(two.root) == [("h", "# head"), ("h", ""), ("0>", "b: 2")]


@pytest.mark.parametrize("below", ["", "# c\n", "  # c\n"])
def test_blank_lines_cost_nothing(below: str) -> None:
    def work(count: int) -> int:
        text = f"a: 1{chr(10) * count}{below}b: 1\n"
        return steps(lambda: split(Source(text.encode())).documents[0].root.entries)

    work(10)  # what is loaded once is loaded now
    assert work(10_000) <= 1.1 * work(10)
