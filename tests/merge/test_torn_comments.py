"""Commented entries and prose: three versions of lines, with `|` between them."""

from __future__ import annotations

import pytest
from worlds.lines import git_itself

from kmerge_git.api import merge_files
from kmerge_git.merge.plan import Why
from kmerge_git.merge.verify.torn_comments import torn

PROSE = "x: 1|# one|# two|# three|y: 1|"
# base, ours, theirs and the result, or None for a conflict
MERGES = {
    "prose taken away and reworded": (PROSE, "x: 1|y: 1|", PROSE.replace("two", "2"), None),
    "one line of prose": ("# a|x: 1|", "x: 1|", "# b|x: 1|", None),
    "all lines around it": (
        PROSE, "x: 1|# two|y: 1|", PROSE.replace("two", "2"), None,
    ),
    "another line of prose": (
        PROSE, "x: 1|# two|# three|y: 1|", PROSE.replace("three", "3"), "x: 1|# two|# 3|y: 1|",
    ),
    "both cut prose": (PROSE, "x: 1|y: 1|", "x: 1|# one|y: 1|", "x: 1|y: 1|"),
    "the first of some defaults, and the third": (
        "# a: 1|# b: 2|# c: 3|z: 1|", "a: 1|# b: 2|# c: 3|z: 1|", "# a: 1|# b: 2|# c: 4|z: 1|",
        "a: 1|# b: 2|# c: 4|z: 1|",
    ),
    "a default in use, and another value": ("# a: 1|z: 1|", "a: 1|z: 1|", "# a: 2|z: 1|", None),
    "an entry in use, and taken away": ("# a:|#   b: 1|z: 1|", "a:|  b: 1|z: 1|", "z: 1|", None),
    "both edit an entry": (
        "# a:|#   b: 1|#   c: 1|#   d: 1|z: 1|", "# a:|#   b: 2|#   c: 1|#   d: 1|z: 1|",
        "# a:|#   b: 1|#   c: 1|#   d: 2|z: 1|", "# a:|#   b: 2|#   c: 1|#   d: 2|z: 1|",
    ),
    "an element moves with its comment": (
        "- name: a|  v: 1|- name: b|  v: 1|  # w:|  #   x: 1|  #   y: 1|",
        "- name: b|  v: 1|  # w:|  #   x: 1|  #   y: 1|- name: a|  v: 1|",
        "- name: a|  v: 1|- name: b|  v: 1|  # w:|  #   x: 2|  #   y: 1|",
        "- name: b|  v: 1|  # w:|  #   x: 2|  #   y: 1|- name: a|  v: 1|",
    ),
    "the blocks of two keys, in another order": (
        "b:|  v: b|  # r:|  #   c: 1|a:|  v: a|  # r:|  #   c: 1|",
        "a:|  v: a|  # r:|  #   c: 1|b:|  v: b|  # r:|  #   c: 1|",
        "b:|  v: b|  # r:|  #   c: 2|a:|  v: a|  # r:|  #   c: 1|",
        "a:|  v: a|  # r:|  #   c: 1|b:|  v: b|  # r:|  #   c: 2|",
    ),
    "in use, and copied to another key": (
        "a:|  v: a|  # r:|  #   c: 1|", "a:|  v: a|  r:|    c: 1|n:|  v: n|  # r:|  #   c: 1|",
        "a:|  v: a|  # r:|  #   c: 2|", None,
    ),
    "deleted, and copied to another key": (
        "b:|  # r:|  #   c: 1|  x: 1|c:|  # r:|  #   c: 1|  x: 1|",
        "b:|  x: 1|c:|  # r:|  #   c: 1|  x: 1|d:|  # r:|  #   c: 1|  x: 1|",
        "b:|  # r:|  #   c: 2|  x: 1|c:|  # r:|  #   c: 1|  x: 1|", None,
    ),
    "other blanks, and in use": ("a: 1|#x: 1|b: 2|", "a: 1|# x: 1|b: 2|", "a: 1|x: 1|b: 2|", None),
    "other blanks, and deleted": ("a: 1|#x: 1|b: 2|", "a: 1|# x: 1|b: 2|", "a: 1|b: 2|", None),
    "commented out with two values": ("a: 1|m: 5|b: 2|", "a: 1|# m: 6|b: 2|", "a: 1|# m: 5|b: 2|", None),
    "above an element, and another one that begins alike before it": (
        "l:|- g: 1|  v: a|- g: 1|  v: b|  w: 1|- g: 1|  v: c|",
        "l:|- g: 1|  v: a|- g: 1|  v: x|- g: 1|  v: b|  w: 1|- g: 1|  v: c|",
        "l:|- g: 1|  v: a|# c|- g: 1|  v: b|  w: 1|- g: 1|  v: c|",
        "l:|- g: 1|  v: a|- g: 1|  v: x|# c|- g: 1|  v: b|  w: 1|- g: 1|  v: c|",
    ),
    "moved to two places": (
        "a:|  # r|  k: 1|b:|  k: 2|c:|  k: 3|", "a:|  k: 1|b:|  # r|  k: 2|c:|  k: 3|",
        "a:|  k: 1|b:|  k: 2|c:|  # r|  k: 3|", None,
    ),
    "text now, and edited": (
        "c: !|  a|# on: 1|k: 1|", "c: !|  a|  # on: 1|k: 1|", "c: !|  a|# on: 2|k: 1|", None,
    ),
    "a note above what the other side uses": (
        "z: 1|# a: 1|k: 1|", "z: 1|a: 1|k: 1|", "z: 1|# see docs|# a: 1|k: 1|", None,
    ),
    "deleted by both, and the same text in use elsewhere": (
        "w:|  # r: 1|  i: 1|p:|  # r: 1|  i: 2|", "w:|  i: 1|p:|  # r: 1|  i: 2|",
        "w:|  i: 1|p:|  r: 1|  i: 2|", "w:|  i: 1|p:|  r: 1|  i: 2|",
    ),
    "in use, and the keys in another order": (
        "w:|  # b: 1|j:|  # b: 1|  m: j|c:|  m: c|", "c:|  m: c|j:|  # b: 1|  m: j|w:|  # b: 1|",
        "w:|  # b: 1|j:|  b: 1|  m: j|c:|  m: c|", "c:|  m: c|j:|  b: 1|  m: j|w:|  # b: 1|",
    ),
    "two comments of a new key": ("a: 1|", "a: 1|# one|b: 1|", "a: 1|# two|b: 1|", None),
    "one comment of a new key": (
        "a: 1|", "a: 1|# one|b: 1|", "a: 1|b: 1|", "a: 1|# one|b: 1|",
    ),
    "the comment of a new key, with one more line": (
        "a: 1|", "a: 1|# one|b: 1|", "a: 1|# one|# more|b: 1|", "a: 1|# one|# more|b: 1|",
    ),
    "two comments of a key of base": (
        "a: 1|b: 1|", "a: 1|# one|b: 1|", "a: 1|# two|b: 1|", "a: 1|# one|# two|b: 1|",
    ),
}  # fmt: skip


@pytest.mark.parametrize("base, ours, theirs, wanted", MERGES.values(), ids=MERGES)
def test_merges(base: str, ours: str, theirs: str, wanted: str | None) -> None:
    outcomes = [
        merge_files(
            *(text.encode() for text in lines_of(*trio)), path="values.yaml", line_merge=git_itself
        )
        for trio in ((base, ours, theirs), (base, theirs, ours))
    ]
    if wanted is None:
        assert [outcome.clean for outcome in outcomes] == [False, False]
        assert all(len(outcome.conflicts) == 1 for outcome in outcomes)
        return
    assert all(outcome.clean for outcome in outcomes)
    assert outcomes[0].text.decode().replace("\n", "|") == wanted


# base, ours, theirs, a result that tears a comment, and the line that is reported
TORN = {
    "uncommented and edited": (
        "# s:|#   t: 1|# o: 1|", "s:|  t: 1|# o: 1|", "# s:|#   t: 2|# o: 1|", "s:|  t: 1|#   t: 2|# o: 1|",
        "#   t: 1",
    ),
    "an edit without its block": (
        "# s:|#   t: 1|#   u: 1|", "", "# s:|#   t: 1|#   u: 2|", "#   u: 2|", "#   u: 1",
    ),
    "a new line without its block": (
        "# s:|#   t: 1|a: 1|", "a: 1|", "# s:|#   t: 1|#   u: 2|a: 1|", "#   u: 2|a: 1|", "#   u: 2",
    ),
    "a new line in another block": (
        "# s:|#   t: 1|a: 1|# v:|#   w: 1|", "# s:|#   t: 1|a: 2|# v:|#   w: 1|",
        "# s:|#   t: 1|#   u: 2|a: 1|# v:|#   w: 1|",
        "# s:|#   t: 1|a: 2|# v:|#   u: 2|#   w: 1|", "# s:",
    ),
    "two edits of one line": (
        "# a: 1|b: 1|", "# a: 2|b: 1|", "# a: 3|b: 1|", "# a: 2|# a: 3|b: 1|", "# a: 1",
    ),
    "prose apart": (
        "a: 1|# one|# two|b: 1|", "a: 1|# one|# two|# three|b: 1|", "a: 1|# one|# two|b: 2|",
        "# three|a: 1|# one|# two|b: 2|", "# two",
    ),
    "moved and edited": (
        "a: 1|b: 1|c: 1|# s:|#   t: 1|", "# s:|#   t: 1|a: 1|b: 1|c: 1|", "a: 1|b: 1|c: 1|# s:|#   t: 2|",
        "# s:|#   t: 1|a: 1|b: 1|c: 1|#   t: 2|", "#   t: 1",
    ),
    "part of a block in use": (
        "# l:|#   a: 1|#   b: 1|#   c: 1|", "l:|  a: 1|#   b: 1|#   c: 1|", "# l:|#   a: 1|#   b: 1|#   c: 2|",
        "l:|  a: 1|#   b: 1|#   c: 2|", "#   c: 2",
    ),
    "above an element that begins alike": (
        "l:|- g: 1|  v: a|- g: 1|  v: b|", "l:|- g: 1|  v: a|- g: 1|  v: x|- g: 1|  v: b|",
        "l:|- g: 1|  v: a|# c|- g: 1|  v: b|", "l:|- g: 1|  v: a|# c|- g: 1|  v: x|- g: 1|  v: b|",
        "# c",
    ),
    "above an element that begins alike, with blank lines": (
        "l:|- g: 1||  v: a|- g: 1||  v: b|", "l:|- g: 1||  v: a|- g: 1||  v: x|- g: 1||  v: b|",
        "l:|- g: 1||  v: a|# c|- g: 1||  v: b|", "l:|- g: 1||  v: a|# c|- g: 1||  v: x|- g: 1||  v: b|",
        "# c",
    ),
    "above an element that begins alike, with a comment that was edited": (
        "l:|- g: 1|  v: a|- g: 1|  # d|  v: b|", "l:|- g: 1|  v: a|- g: 1|  v: x|- g: 1|  # e|  v: b|",
        "l:|- g: 1|  v: a|# c|- g: 1|  # d|  v: b|",
        "l:|- g: 1|  v: a|# c|- g: 1|  v: x|- g: 1|  # e|  v: b|", "# c",
    ),
    "above a key that begins alike, with its list at its column": (
        "l:|- g: 1|  r:|  - a|- g: 1|  r:|  - b|", "l:|- g: 1|  r:|  - a|- g: 1|  r:|  - x|- g: 1|  r:|  - b|",
        "l:|- g: 1|  r:|  - a|- g: 1|  # c|  r:|  - b|",
        "l:|- g: 1|  r:|  - a|- g: 1|  # c|  r:|  - x|- g: 1|  r:|  - b|", "# c",
    ),
    "above an element that begins alike, and another one was edited": (
        "l:|- g: 1|  v: a|- g: 1|  v: b|- g: 1|  v: c|",
        "l:|- g: 1|  v: a|- g: 1|  v: x|- g: 1|  v: b|- g: 1|  v: d|",
        "l:|- g: 1|  v: a|# c|- g: 1|  v: b|- g: 1|  v: c|",
        "l:|- g: 1|  v: a|# c|- g: 1|  v: x|- g: 1|  v: b|- g: 1|  v: d|", "# c",
    ),
    "above an element with a line for its dash": (
        "l:|-|  v: a|-|  v: b|", "l:|-|  v: a|-|  v: x|-|  v: b|",
        "l:|-|  v: a|# c|-|  v: b|", "l:|-|  v: a|# c|-|  v: x|-|  v: b|", "# c",
    ),
}  # fmt: skip
WHOLE = {
    "above an element that the other side edited": (
        "l:|- g: 1|  v: a|- g: 1|  v: b|", "l:|- g: 1|  v: a|- g: 1|  v: x|- g: 1|  v: 2|",
        "l:|- g: 1|  v: a|# c|- g: 1|  v: b|", "l:|- g: 1|  v: a|- g: 1|  v: x|# c|- g: 1|  v: 2|",
    ),
    "above a key that the other side edited, where another one has the same": (
        "l:|- g: 1|  r:|    - a|- g: 1|  r:|    - a|z: 1|", "l:|- g: 1|  r:|    - x|- g: 1|  r:|    - a|z: 2|",
        "l:|- g: 1|  # c|  r:|    - a|- g: 1|  r:|    - a|z: 1|",
        "l:|- g: 1|  # c|  r:|    - x|- g: 1|  r:|    - a|z: 2|",
    ),
    "above an element to which the other side added lines": (
        "l:|- g: 1|  v:|  - a|- g: 1|  v:|  - b|", "l:|- g: 1|  v:|  - a|  - c|- g: 1|  v:|  - b|",
        "l:|# c|- g: 1|  v:|  - a|- g: 1|  v:|  - b|", "l:|# c|- g: 1|  v:|  - a|  - c|- g: 1|  v:|  - b|",
    ),
    "above its element": (
        "l:|- g: 1|  v: a|- g: 1|  v: b|", "l:|- g: 1|  v: a|- g: 1|  v: x|- g: 1|  v: b|",
        "l:|- g: 1|  v: a|# c||- g: 1|  # d|  v: b|",
        "l:|- g: 1|  v: a|- g: 1|  v: x|# c||- g: 1|  # d|  v: b|",
    ),
    "at the end of the element above": (
        "l:|- g: 1|  v: a|- g: 1|  v: b|", "l:|- g: 1|  v: a|- g: 1|  v: x|- g: 1|  v: b|",
        "l:|- g: 1|  v: a|  # c|- g: 1|  v: b|", "l:|- g: 1|  v: a|  # c|- g: 1|  v: x|- g: 1|  v: b|",
    ),
    "the edit follows the move": (
        "a: 1|b: 1|c: 1|# s:|#   t: 1|", "# s:|#   t: 1|a: 1|b: 1|c: 1|", "a: 1|b: 1|c: 1|# s:|#   t: 2|",
        "# s:|#   t: 2|a: 1|b: 1|c: 1|",
    ),
    "below a line that the other side edited": (
        "# s: 1|a: 1|", "# s: 2|a: 1|", "# s: 1|#   t: 1|a: 1|", "# s: 2|#   t: 1|a: 1|",
    ),
    "both uncomment it": ("# s: 1|a: 1|", "s: 1|a: 1|", "s: 1|a: 2|", "s: 1|a: 2|"),
    "text in a block scalar": (
        "a: !|  # s: 1|b: 1|", "a: !|  # s: 2|b: 1|", "a: !|  # s: 3|b: 1|", "a: !|  # s: 2|b: 1|",
    ),
}  # fmt: skip


def lines_of(*texts: str) -> list[str]:
    return [text.replace("|", "\n").replace("!", "|") for text in texts]


@pytest.mark.parametrize("base, ours, theirs, made, line", TORN.values(), ids=TORN)
def test_a_torn_comment(base: str, ours: str, theirs: str, made: str, line: str) -> None:
    base, ours, theirs, made = lines_of(base, ours, theirs, made)
    for sides in ((ours, theirs), (theirs, ours)):
        assert line in [told for told, _ in torn(base, *sides, made)]


@pytest.mark.parametrize("base, ours, theirs, made", WHOLE.values(), ids=WHOLE)
def test_a_whole_comment(base: str, ours: str, theirs: str, made: str) -> None:
    base, ours, theirs, made = lines_of(base, ours, theirs, made)
    for sides in ((ours, theirs), (theirs, ours)):
        assert [*torn(base, *sides, made)] == []


@pytest.mark.parametrize("base, ours, theirs, made, line", TORN.values(), ids=TORN)
def test_git_does_not_overrule_it(base: str, ours: str, theirs: str, made: str, line: str) -> None:
    base, ours, theirs, made = (f"{text}z: 1\n" for text in lines_of(base, ours, theirs, made))
    for sides in ((ours, theirs), (theirs, ours)):
        data = (text.encode() for text in (base, *sides))
        outcome = merge_files(
            *data, path="values.yaml", line_merge=lambda *_: (made.encode(), True)
        )
        assert outcome.text.decode() != made


def test_the_conflict_is_git_s() -> None:
    base = "a: 1\n# limits:\n#   cpu: 1\nb: 1\nc: 1\n"
    ours = base.replace("# limits:\n#   cpu", "limits:\n  cpu").replace("c: 1", "c: 3")
    trio = (text.encode() for text in (base, ours, base.replace("cpu: 1", "cpu: 2")))
    outcome = merge_files(*trio, path="values.yaml", line_merge=git_itself)
    assert outcome.reason == f"{Why.UNCERTAIN}: `#   cpu: 1` was changed differently by both sides"
    assert outcome.text.decode().splitlines()[1:-2] == [
        *("<<<<<<< ours", "limits:", "  cpu: 1"),
        *("=======", "# limits:", "#   cpu: 2", ">>>>>>> theirs"),
    ]


def far_apart(one: int, two: int) -> str:
    """A document whose first and last lines all versions share."""
    above = "".join(f"  k{n}: {n}\n" for n in range(30))
    repo = "  repo:\n    # where it is\n    url: a\n    # which one\n    branch: b\n"
    return f"top:\n{above}  one: {one}\n  gap: 0\n  two: {two}\n{repo}{above.replace('k', 'z')}"


@pytest.mark.parametrize(
    "old, new, faults",
    [
        ("", "", []),
        # the keys of comments in lines that all versions share
        ("  two: 2\n  repo:\n", "  repo:\n  two: 2\n", ["# where it is", "# which one"]),
        ("  one: 2\n", "  one: 2\n    # which one\n", ["# which one"]),
    ],
)
def test_comments_beyond_the_edits_keep_their_keys(old: str, new: str, faults: list[str]) -> None:
    versions = far_apart(1, 1), far_apart(2, 1), far_apart(1, 2)
    made = far_apart(2, 2).replace(
        "    # which one\n", "" if "which" in new else "    # which one\n"
    )
    found = torn(*versions, made.replace(old, new, 1) if old else made)
    assert [line for line, _ in found] == faults


def documents(*names: str, **notes: str) -> str:
    """Some manifests; a note is a comment at the head of the manifest of this name."""
    head, body = "apiVersion: v1\nkind: A\nmetadata:\n  name:", "spec:\n  b: 2\n  c: 3\n  d: 4\n"
    return "".join(f"---\n{notes.get(name, '')}{head} {name}\n{body}" for name in names)


# ours, theirs and the result, of the documents a and b
STRAYED = {
    "a new document before it": (
        documents(*"axb"), documents(*"ab", b="# n\n"), documents(*"axb", b="# n\n"),
    ),
    "two with the same comment": (
        documents(*"axb"), documents(*"ab", a="# n\n", b="# n\n"), documents(*"axb", a="# n\n", b="# n\n"),
    ),
    "a renamed document": (
        documents(*"ac"), documents(*"ab", b="# n\n"), documents(*"ac", c="# n\n"),
    ),
    "a new document after it": (
        documents(*"abx"), documents(*"ab", b="# n\n"), documents(*"abx", b="# n\n"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("ours, theirs, wanted", STRAYED.values(), ids=STRAYED)
def test_a_comment_stays_in_its_document(ours: str, theirs: str, wanted: str) -> None:
    for sides in ((ours, theirs), (theirs, ours)):
        data = (text.encode() for text in (documents(*"ab"), *sides))
        outcome = merge_files(*data, path="a.yaml", line_merge=git_itself)
        assert (outcome.clean, outcome.text.decode()) == (True, wanted)
