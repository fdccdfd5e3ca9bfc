"""The commits of a history that may have holes: a mirror need not have every object."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import chain

from kmerge_git.git.commits import Commit, ends_of
from kmerge_git.git.refusals import MissingObject
from kmerge_git.git.repository import Repository


def commits_here(repository: Repository, spec: str) -> tuple[Iterable[Commit], str]:
    """The commits of `REV` or `A..B`, newest first; and what brings those that are not here."""
    walk = repository.commits(spec)
    try:
        first = next(walk, None)  # libgit2 has looked at every commit then
    except MissingObject as error:
        last, left_out = (repository.commit(rev) if rev else None for rev in ends_of(spec))
        without = {commit.oid for commit in _reached(repository, left_out)}
        found = _reached(repository, last)
        return [commit for commit in found if commit.oid not in without], error.hint
    return chain([first] if first else [], walk), ""


def _reached(repository: Repository, start: Commit | None) -> list[Commit]:
    """All that can be reached without the commits that are not here."""
    found: list[Commit] = []
    seen: set[str] = set()
    heap: list[tuple[int, str, Commit]] = []
    if start:
        heappush(heap, (-start.time, start.oid, start))
    while heap:
        commit = heappop(heap)[-1]
        found.append(commit)
        for oid in set(commit.parents) - seen:
            seen.add(oid)
            try:
                parent = repository.named(oid)
            except MissingObject:
                continue
            heappush(heap, (-parent.time, oid, parent))
    return found
