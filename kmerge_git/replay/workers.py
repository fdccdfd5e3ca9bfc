"""Repeat merges in several processes; return the results in the order of the merges."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing.pool import Pool
from types import TracebackType
from typing import TypeVar

from kmerge_git.bounds import FEW_FILES, FEW_MERGES, MERGES_A_TASK
from kmerge_git.git.repository import Repository
from kmerge_git.replay.left_conflicts import FieldPolicy
from kmerge_git.replay.past_merges import Replayed, ReplayedMerge, Replayer, Tried
from kmerge_git.whole.cores import collect_rarely

_replayer: Replayer  # the replayer of a worker process

T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """Repeat merges in several processes, which start only if there is enough work."""

    def __init__(self, repository: Repository, jobs: int, glob: str = "*") -> None:
        self._repository = repository
        self._jobs = jobs
        self._glob = glob  # the pattern of the files to replay
        self._own: Replayer | None = None
        self._pool: Pool | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()

    def replay(self, commits: Sequence[str]) -> Iterator[ReplayedMerge]:
        """Repeat the merges of these commits."""
        return self._each(Replayer.merge, commits, self._jobs > 1 and len(commits) >= FEW_MERGES)

    def tried(self, rule: FieldPolicy, files: Sequence[Replayed]) -> Iterator[Tried]:
        """Merge files with conflicts once more, with one policy."""
        few = 1 if self._pool is not None else FEW_FILES
        work = partial(Replayer.tried, rule=rule)
        return self._each(work, files, self._jobs > 1 and len(files) >= few)

    def _each(
        self, work: Callable[[Replayer, T], R], jobs: Sequence[T], is_shared: bool
    ) -> Iterator[R]:
        if not is_shared:
            self._own = self._own or Replayer(self._repository, self._glob)
            for job in jobs:
                yield work(self._own, job)
            return
        if self._pool is None:
            # `spawn`, because a forked copy of an open repository is not safe to use
            context = multiprocessing.get_context("spawn")
            self._pool = context.Pool(self._jobs, _start, (self._repository.git_dir, self._glob))
        batches = (
            (work, jobs[at : at + MERGES_A_TASK]) for at in range(0, len(jobs), MERGES_A_TASK)
        )
        for results in self._pool.imap(_run, batches):
            yield from results


def _start(git_dir: str, glob: str) -> None:
    global _replayer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    _replayer = Replayer(Repository.open(git_dir), glob)
    collect_rarely()


def _run(task: tuple[Callable[[Replayer, T], R], Sequence[T]]) -> list[R]:
    work, jobs = task
    return [work(_replayer, job) for job in jobs]
