"""The past merges that `replay` and `policy try` make again: which ones, and what they are."""

from __future__ import annotations

import argparse
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from kmerge_git.cli.files import tell
from kmerge_git.cli.progress import Progress

if TYPE_CHECKING:
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.picks import Chosen
    from kmerge_git.whole.replaying import ReplayedMerge
    from kmerge_git.whole.tally import Tally
    from kmerge_git.whole.workers import Workers


def add_scope(parser: argparse.ArgumentParser) -> None:
    """Define which merges are made again, and in how many processes."""
    add = parser.add_argument
    add("range", nargs="?", default="HEAD", metavar="RANGE", help="REV or A..B")
    add("--last", type=count, metavar="N", help="only the newest N merges")
    add("--picks", action="store_true", help="cherry-picks and reverts, too")
    add("--jobs", type=count, metavar="N", help="processes (default: one a processor)")


def count(text: str) -> int:
    """The number of an option."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def scope(args: argparse.Namespace) -> list[str]:
    """Which merges were asked for, as words of the command line."""
    words = [args.range] if args.range != "HEAD" else []
    words += ["--last", str(args.last)] if args.last else []
    return words + (["--picks"] if args.picks else [])


@contextmanager
def workers(args: argparse.Namespace, repository: Repository, glob: str = "*") -> Iterator[Workers]:
    """Who makes the merges again; `glob`: of which files."""
    from kmerge_git.cli import main
    from kmerge_git.whole.cores import collect_rarely, cores
    from kmerge_git.whole.workers import Workers

    if main.owns_process:
        collect_rarely()
    with Workers(repository, args.jobs or cores(), glob) as found:
        yield found


def chosen(args: argparse.Namespace, repository: Repository) -> tuple[Chosen, str]:
    """The merges that were asked for, and what brings those that are not here."""
    from kmerge_git.git.history import commits_here
    from kmerge_git.whole.picks import choose

    history, hint = commits_here(repository, args.range)
    return choose(history, picks=args.picks, most=args.last), hint


def each(made: Workers, commits: list[str]) -> Generator[ReplayedMerge]:
    """The merges made again, with a bar that says how far it is."""
    with closing(Progress(len(commits), "merges")) as bar:
        for done, merge in enumerate(made.replay(commits), 1):
            bar.update(done)
            yield merge


def tallied(args: argparse.Namespace, repository: Repository, made: Workers) -> Tally:
    """The merges that were asked for, made again and counted."""
    from kmerge_git.whole.tally import Tally, notes

    found, hint = chosen(args, repository)
    tally = Tally()
    for merge in each(made, found.commits):
        tally.add(merge)
    shallow = repository.is_shallow
    tally.notes = notes(tally, found, args.range, is_shallow=shallow, hint=hint)
    return tally


def tell_head(tally: Tally) -> None:
    """What was made again, and what is to be known about it."""
    parts = [f"{tally.replayed()} replayed"]
    parts += [f"{tally.criss_cross} with several merge bases"] if tally.criss_cross else []
    tell(", ".join([*parts, *tally.left_out()]))
    for note in tally.notes:
        tell(note)
    tell("")
