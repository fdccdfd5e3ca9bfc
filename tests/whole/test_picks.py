"""What a message says was picked or reverted: one commit, or it is no three-way merge."""

from __future__ import annotations

import pytest

from kmerge_git.replay.past_merges import Pick, pick_of

A, B = "a" * 40, "b" * 40
PICKED = f"(cherry picked from commit {A})"


@pytest.mark.parametrize(
    "message, pick",
    [
        (f"x\n\n{PICKED}\n", Pick("cherry-pick", A)),
        (f"x\n\nSigned-off-by: A <a@b>\n{PICKED}\n", Pick("cherry-pick", A)),
        (f"x\n\n(cherry picked from commit {B})\n{PICKED}", Pick("cherry-pick", A)),
        (f'Revert "x"\n\nThis reverts commit {A}.\n', Pick("revert", A)),
        (f'Reapply "x"\n\nThis reverts commit {A}.\n', Pick("revert", A)),
        (
            f'Revert "x"\n\nThis reverts commit {A}, reversing\nchanges made to {B}.\n',
            Pick("revert", A, B),
        ),
        # several at once
        (f"two\n\n* x\n\n(cherry picked from commit {B})\n\n* y\n\n{PICKED}\n", None),
        (f'Revert "x"\n\nThis reverts commit {A}.\n\nThis reverts commit {B}.\n', None),
        (f'All (#1)\n\n* Revert "x"\n\nThis reverts commit {A}.\n', None),
        ("x", None),
        (f"x\n\nas in {PICKED}\n", None),
    ],
)
def test_what_a_message_tells(message: str, pick: Pick | None) -> None:
    assert pick_of(message) == pick
