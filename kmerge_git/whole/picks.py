"""Cherry-picks and reverts of a history: the three-way merges that their messages tell of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from kmerge_git.errors import UsageError
from kmerge_git.git.commits import Commit
from kmerge_git.git.repository import Repository
from kmerge_git.merge.three import Three

Kind = Literal["cherry-pick", "revert"]

_PICKED = re.compile(r"^\(cherry picked from commit ([0-9a-f]{7,64})\)$", re.MULTILINE)
_REVERTED = re.compile(
    r"^This reverts commit ([0-9a-f]{7,64})"
    r"(?:,\s+reversing\s+changes\s+made\s+to\s+([0-9a-f]{7,64}))?\.",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Pick:
    """A commit that was applied again or taken back, as the message names it."""

    kind: Kind
    commit: str
    parent: str = ""  # the one that a revert of a merge went back to


@dataclass(frozen=True, slots=True)
class Chosen:
    """The commits of a history that are made again; `instead`: it has no merges, only picks."""

    commits: list[str]
    instead: bool
    seen: int  # commits that were looked at


def choose(history: Iterable[Commit], *, picks: bool, most: int | None) -> Chosen:
    """The newest merges; with `picks`, or where there are none, the newest picks and reverts."""
    merges: list[str] = []
    others: list[str] = []
    seen = 0
    for commit in history:
        seen += 1
        if len(commit.parents) > 1 or (picks and pick_of(commit.message)):
            merges.append(commit.oid)
        elif not merges and pick_of(commit.message):
            others.append(commit.oid)
        if len(merges) == most:
            break
    return Chosen(merges or others[:most], instead=not merges, seen=seen)


def pick_of(message: str) -> Pick | None:
    """What a message says was picked or reverted; None for a commit that is several of them."""
    reverts = list(_REVERTED.finditer(message))
    if reverts:
        own = message[:7].lower() in ("revert ", "revert:", "revert(", "reapply")
        (found, *more) = reverts
        return Pick("revert", found[1], found[2] or "") if own and not more else None
    picks = list(_PICKED.finditer(message))
    # who picks a pick gets a second line below the first; elsewhere it is a squash of several
    gaps = [message[a.end() : b.start()] for a, b in pairwise(picks)]
    return Pick("cherry-pick", picks[-1][1]) if picks and not "".join(gaps).strip("\n") else None


def trees_of(repository: Repository, commit: Commit, pick: Pick) -> Three[str | None] | None:
    """Base, ours and theirs as git had them; None where the named commit is not here.

    Of a merge that was picked the first parent is the base: no message tells another one.
    """
    named = _commit(repository, pick.commit)
    before = _commit(repository, pick.parent) if pick.parent else None
    if named is None or (pick.parent and (before is None or before.oid not in named.parents)):
        return None
    if before is None and named.parents:
        before = repository.named(named.parents[0])
    ours = repository.named(commit.parents[0]).tree
    if pick.kind == "cherry-pick":
        return Three(before.tree if before else None, ours, named.tree)
    return Three(named.tree, ours, before.tree) if before else None


def _commit(repository: Repository, oid: str) -> Commit | None:
    try:
        found = repository.commit(oid)
    except UsageError:
        return None
    return found if found.oid.startswith(oid) else None
