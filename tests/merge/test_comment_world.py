"""Of every pair of small edits around comments, some: all of them take a minute."""

from __future__ import annotations

import pytest
from comment_world import FORMS, broken, is_lawful, merged, worlds

STRIDE = 17  # of 50,625


@pytest.mark.parametrize("form", FORMS)
def test_comments_follow_who_changed_them(form: str) -> None:
    found = [world for world in worlds() if world[0].startswith(f"{form}: ")][::STRIDE]
    assert len(found) > 300
    wrong = []
    for name, written, trio in found:
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
