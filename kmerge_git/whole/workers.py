"""Replays merges in several processes, the results in the order of the merges."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence

from kmerge_git.git.repository import Repository
from kmerge_git.whole.cores import collect_rarely
from kmerge_git.whole.replaying import ReplayedMerge, Replayer

_BATCH = 16  # merges a task: small enough for a smooth bar, large enough to cost nothing
_FEW = 32  # starting processes takes longer than so many merges

_replayer: Replayer | None = None  # of a worker process


def replay_all(
    repository: Repository, commits: Sequence[str], jobs: int
) -> Iterator[ReplayedMerge]:
    """Replay the merges, in as many processes as asked for."""
    if jobs <= 1 or len(commits) < _FEW:
        replayer = Replayer(repository)
        yield from map(replayer.merge, commits)
        return
    # `spawn`, because a forked copy of an open repository is not safe to use
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs, _start, (repository.git_dir,)) as pool:
        batches = (commits[at : at + _BATCH] for at in range(0, len(commits), _BATCH))
        for results in pool.imap(_replay, batches):
            yield from results


def _start(git_dir: str) -> None:
    global _replayer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    _replayer = Replayer(Repository.open(git_dir))
    collect_rarely()


def _replay(commits: Sequence[str]) -> list[ReplayedMerge]:
    if _replayer is None:
        raise RuntimeError("a worker without its repository")
    return [_replayer.merge(oid) for oid in commits]
