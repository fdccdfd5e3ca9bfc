"""Commented entries, prose, and comments of new keys: three versions of lines, `|` between them."""

from __future__ import annotations

import pytest

from kmerge_git.merge.commented_entries import VersionBlocks
from kmerge_git.merge.plan import Why
from kmerge_git.pipeline import merge_files

BLOCKS = {
    "one entry": ("# a:|#   b: 1|#   c: 2|", [3]),
    "two entries": ("# a:|#   b: 1|# c: 2|", [2, 1]),
    "defaults": ("# a: 1|# b: 2|# c: 3|", [1, 1, 1]),
    "prose above an entry": ("# How many, and|# why so many.|# a: 1|", [2, 1]),
    "elements at the column of their key": ("# a:|# - b: 1|#   c: 2|# - d|# e: 1|", [4, 1]),
    "no blank": ("#a:|#  b:|#    c: 1|#- d|", [4]),
    "prose behind a tight element": ("#- ../webhook|# [CERT] to enable it|#- ../cert|", [1, 1, 1]),
    "marks at the column of each line": ("# a:|  # b:|    # c: 1|# d: 1|", [3, 1]),
    "an empty comment within": ("# a:|#|#   b: 1|", [3]),
    "a blank line within": ("# a:||#   b: 1|", [2]),
    "paragraphs": ("# One.|#|# Two|# lines.||# Three.|", [1, 2, 1]),
    "no key": ("# See https://a.b/c: it says|# more about it|", [2]),
    "in a block text": ("a: ||  # b: 1|  c|# d: 1|".replace("a: |", "a: \\", 1), [1]),
}


@pytest.mark.parametrize("text, sizes", BLOCKS.values(), ids=BLOCKS)
def test_what_a_run_is_cut_into(text: str, sizes: list[int]) -> None:
    lines = text.replace("|", "\n").replace("\\", "|")
    assert [len(block.rows) for block in VersionBlocks(lines).blocks] == sizes


PROSE = "x: 1|# one|# two|# three|y: 1|"
# base, ours, theirs and the result, or None for a conflict
MERGES = {
    "prose taken away and reworded": (PROSE, "x: 1|y: 1|", PROSE.replace("two", "2"), None),
    "one line of prose": ("# a|x: 1|", "x: 1|", "# b|x: 1|", None),
    "all lines around it": (PROSE, "x: 1|# two|y: 1|", PROSE.replace("two", "2"), None),
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
            *(text.replace("|", "\n").encode() for text in trio),
            path="values.yaml",
            line_merge=lambda *_: (b"", False),
        )
        for trio in ((base, ours, theirs), (base, theirs, ours))
    ]
    if wanted is None:
        assert [outcome.clean for outcome in outcomes] == [False, False]
        assert all(len(outcome.conflicts) == 1 for outcome in outcomes)
        return
    assert all(outcome.clean for outcome in outcomes)
    assert outcomes[0].text.decode().replace("\n", "|") == wanted


def conflict(base: str, ours: str, theirs: str) -> str:
    trio = (text.encode() for text in (base, ours, theirs))
    outcome = merge_files(
        *trio, path="values.yaml", style="diff3", line_merge=lambda *_: (b"", False)
    )
    assert not outcome.clean
    return outcome.text.decode()


BASE = "a: 1\n# limits:\n#   cpu: 1\n#   memory: 1\nb: 1\nc: 1\n"
EDITED = BASE.replace("cpu: 1", "cpu: 2")


def test_the_conflict_is_around_the_entry() -> None:
    ours = BASE.replace("# limits:\n#   cpu: 1\n#   memory: 1", "limits:\n  cpu: 1\n  memory: 1")
    assert (
        conflict(BASE, ours.replace("c: 1", "c: 3"), EDITED.replace("a: 1", "a: 2"))
        == f"""\
a: 2
<<<<<<< ours (limits: {Why.COMMENT})
limits:
  cpu: 1
  memory: 1
||||||| base
# limits:
#   cpu: 1
#   memory: 1
=======
# limits:
#   cpu: 2
#   memory: 1
>>>>>>> theirs
b: 1
c: 3
"""
    )


def test_a_moved_entry_is_a_conflict_in_both_places() -> None:
    entry = BASE[5:-10]
    ours = BASE.replace(entry, "") + entry
    assert conflict(BASE, ours, EDITED).count(f"(limits: {Why.COMMENT})") == 2


def test_git_does_not_overrule_it() -> None:
    base = "a: 1\n# l:\n#   a: 1\n#   b: 1\n#   c: 1\n#   d: 1\n#   e: 1\nz: 1\n"
    ours, theirs = base.replace("# l:", "l:").replace("#   a", "  a"), base.replace("e: 1", "e: 2")
    git = ours.replace("e: 1", "e: 2").encode()
    for trio in ((base, ours, theirs), (base, theirs, ours)):
        data = (text.encode() for text in trio)
        assert not merge_files(*data, path="values.yaml", line_merge=lambda *_: (git, True)).clean
