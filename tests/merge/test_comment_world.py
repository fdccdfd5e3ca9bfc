"""Of every pair of small edits around comments, some: all of them take a minute."""

from __future__ import annotations

import pytest
from comment_world import FORMS, broken, is_lawful, merged, worlds
from depth import part
from worlds.lines import git_itself

from kmerge_git.api import merge_files

STRIDE = 17  # of 50,625


@pytest.mark.parametrize("form", FORMS)
def test_comments_follow_who_changed_them(form: str) -> None:
    found = [world for world in worlds() if world[0].startswith(f"{form}: ")][::STRIDE]
    assert len(found) > 300
    wrong = []
    for name, written, trio in part(found):
        outcome = merged(written, trio)
        wrong += [f"{name}: {line}" for line in broken(trio, outcome)]
        base, ours, theirs = trio
        if merged(written, (base, theirs, ours)).clean != outcome.clean:
            wrong.append(f"{name}: a conflict from one side only")
    assert not wrong


@pytest.mark.parametrize(
    "counts, lawful",
    [
        ((1, 0, 1, 0), True), ((1, 0, 1, 1), False), ((1, 1, 1, 2), False), ((0, 1, 1, 1), True),
        ((0, 1, 1, 2), True), ((0, 1, 1, 3), False), ((0, 1, 0, 0), False), ((2, 1, 1, 0), True),
        ((2, 1, 1, 2), False), ((1, 2, 0, 1), True), ((1, 2, 0, 2), False),
    ],
)  # fmt: skip
def test_what_is_lawful(counts: tuple[int, int, int, int], lawful: bool) -> None:
    assert is_lawful(*counts) is lawful


KUSTOMIZATION = """\
resources:
- ../crd
- ../manager
# [WEBHOOK] To enable the webhook, uncomment it here
# and in crd/kustomization.yaml
#- ../webhook
# [CERTMANAGER] for the webhook
#- ../certmanager

# labels of all
commonLabels:
  a: b
"""
WEBHOOK = KUSTOMIZATION.replace("#- ../webhook", "- ../webhook")
CERTMANAGER = KUSTOMIZATION.replace("#- ../cert", "- ../cert")


def switch(ours: str, theirs: str) -> tuple[bool, str]:
    trio = (text.encode() for text in (KUSTOMIZATION, ours, theirs))
    outcome = merge_files(*trio, path="kustomization.yaml", line_merge=lambda *_: (b"", False))
    return outcome.clean, outcome.text.decode()


def test_both_sides_switch_another_line() -> None:
    both = WEBHOOK.replace("#- ../cert", "- ../cert")
    assert switch(WEBHOOK, CERTMANAGER) == (True, both)
    assert switch(CERTMANAGER, WEBHOOK) == (True, both)


def test_one_side_switches_and_the_other_writes_around_it() -> None:
    other = KUSTOMIZATION.replace("for the webhook", "for all").replace("a: b", "a: c")
    wanted = other.replace("#- ../webhook", "- ../webhook")
    assert switch(WEBHOOK, other) == switch(other, WEBHOOK) == (True, wanted)


VALUES = "a: 1\n# why\n#b: 2\n# c\nc: 3\n"


def test_the_same_line_switched_and_taken_away() -> None:
    gone, on = VALUES.replace("#b: 2\n", ""), VALUES.replace("#b", "b")
    for ours, theirs in ((gone, on), (on, gone)):
        trio = (text.encode() for text in (VALUES, ours, theirs))
        outcome = merge_files(*trio, line_merge=git_itself)
        assert not outcome.clean
        assert outcome.text.count(b"# why") == outcome.text.count(b"# c") == 1


# base, ours, theirs and the result; `|` is a line end
MOVED = {
    "below another entry": ("a: 1|# m|b: 2|c: 3|", "a: 1|# m|b: 2|c: 4|n: 1|", "a: 1|b: 2|# m|c: 3|",
        "a: 1|b: 2|# m|c: 4|n: 1|"),
    "among others": ("a: 1|# 1|# 2|# 3|", "a: 2|# 1|# 2|# 3|n: 1|", "a: 1|# 3|# 1|# 2|m: 1|",
        "a: 2|# 3|# 1|# 2|n: 1|m: 1|"),
    "to where something is new": ("a: 1|# f|", "a: 1|n: 1|# f|", "a: 1|# f|m: 1|", "a: 1|n: 1|# f|m: 1|"),
}  # fmt: skip


@pytest.mark.parametrize("base, ours, theirs, expected", MOVED.values(), ids=MOVED)
def test_where_comments_go(base: str, ours: str, theirs: str, expected: str) -> None:
    assert put(base, ours, theirs) == (True, expected)


def test_a_comment_far_above_an_entry_that_the_other_side_takes_away() -> None:
    base, ours = "a: 1|b: 2|c: 3|", "a: 1|# of b||b: 2|c: 3|"
    assert not put(base, ours, "a: 1|c: 3|")[0]
    assert not put(base, "a: 1|c: 3|", ours)[0]


def test_the_comments_within_a_conflict_stay_in_it() -> None:
    base = "l:|- a|# x|- b|- c|"
    ours, theirs = "l:|- o|# x|- p|- c|# f|- n|", "l:|- r|- s|# x|- t|- u|- c|# f|"
    clean, text = put(base, ours, theirs)
    assert not clean
    conflict = text.partition("<<<<<<<")[2].partition(">>>>>>>")[0]
    assert "- o|# x|- p|" in conflict and "# x" in conflict.partition("=======")[2]
    assert text.count("# x") == 2


def put(*texts: str) -> tuple[bool, str]:
    trio = (text.replace("|", "\n").encode() for text in texts)
    outcome = merge_files(*trio, path="values.yaml", line_merge=lambda *_: (b"", False))
    return outcome.clean, outcome.text.decode().replace("\n", "|")
