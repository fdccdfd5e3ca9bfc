"""`kmerge replay`: merge the repository's own past merges again, and compare."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from kmerge_git.cli.colour import Paint, add_color
from kmerge_git.cli.files import say, tell
from kmerge_git.cli.progress import Progress
from kmerge_git.errors import KmergeError, UsageError

if TYPE_CHECKING:
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.replaying import Replayed, ReplayedMerge
    from kmerge_git.whole.tally import Tally

EPILOG = """\
examples:
  kmerge replay                       all merges that HEAD can reach
  kmerge replay v1.0..main            those of a range
  kmerge replay --last 200            the newest 200
  kmerge replay --picks               cherry-picks (-x) and reverts as well
  kmerge replay --html report.html    the report as one page, with a chart
  kmerge replay --show 3              the third disagreement: what each side did, and both results
  kmerge replay --show 3 --extract d  its five texts as files: base, ours, theirs, kmerge, people

Every manifest that both sides of a past merge changed is merged again, by git's line merge and by
kmerge, and compared with what people committed. Nothing in the repository is touched, nothing is
fetched. A history without merges (squashed pull requests) still has its cherry-picks and reverts:
where the message names the commit, they are replayed.

exit status: 0 the replay is done, 2 an error
"""
_MOST_LINES = 20
_BELOW = ("resolved", "mended", "followed")  # counts of what the line above counts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("range", nargs="?", default="HEAD", metavar="RANGE", help="REV or A..B")
    add("--last", type=_count, metavar="N", help="only the newest N merges")
    add("--picks", action="store_true", help="cherry-picks and reverts, too")
    add("--jobs", type=_count, metavar="N", help="processes (default: one a processor)")
    add("--json", action="store_true", help="print the report as JSON")
    add("--html", metavar="FILE", help="write the report as one HTML page")
    add("--show", type=_count, metavar="N", help="show the N-th disagreement")
    add("--extract", metavar="DIR", help="with --show: write its texts as files")
    add_color(parser, "colours on stdout")


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Replay, then report."""
    from kmerge_git.git.history import commits_here
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.picks import choose
    from kmerge_git.whole.tally import Tally, notes

    if args.extract and not args.show:
        raise UsageError("--extract needs --show N", hint="it writes the texts of one disagreement")
    repository = Repository.open()
    history, hint = commits_here(repository, args.range)
    found = choose(history, picks=args.picks, most=args.last)
    with closing(_replay(repository, found.commits, args.jobs)) as merges:
        if args.show:
            return _show(args, repository, merges)
        tally = Tally()
        for merge in merges:
            tally.add(merge)
    shallow = repository.is_shallow
    tally.notes = notes(tally, found, args.range, is_shallow=shallow, hint=hint)
    if args.html:
        _write_page(args, repository, tally)
    if args.json:
        print(json.dumps(tally.as_json(), indent=2))
    else:
        _print(tally, args, Paint(args.color, sys.stdout))
    return 0


def _replay(
    repository: Repository, commits: list[str], jobs: int | None
) -> Generator[ReplayedMerge]:
    from kmerge_git.cli import main
    from kmerge_git.whole.cores import collect_rarely, cores
    from kmerge_git.whole.workers import replay_all

    if main.owns_process:
        collect_rarely()

    with closing(Progress(len(commits), "merges")) as bar:
        for done, merge in enumerate(replay_all(repository, commits, jobs or cores()), 1):
            bar.update(done)
            yield merge


def _show(args: argparse.Namespace, repository: Repository, merges: Iterator[ReplayedMerge]) -> int:
    from kmerge_git.whole.replaying import Replayer
    from kmerge_git.whole.showing import extract, lines

    disagreements = (file for merge in merges for file in merge.files if file.is_disagreement)
    file = next(islice(disagreements, args.show - 1, None), None)
    if file is None:
        command = " ".join(["kmerge", "replay", *_scope(args)])
        raise UsageError(f"there is no disagreement {args.show}", hint=f"`{command}` lists them")
    texts = Replayer(repository).texts(file)
    if args.extract:
        try:
            for name in extract(texts, file.path, args.extract):
                tell(name)
        except OSError as error:
            raise KmergeError(error.strerror or str(error), path=args.extract) from error
        return 0
    paint = Paint(args.color, sys.stdout)
    for text, colour in lines(file, texts):
        print(paint.line((text, colour)))
    return 0


def _print(tally: Tally, args: argparse.Namespace, paint: Paint) -> None:
    from kmerge_git.whole.tally import COUNTS

    head = [f"{tally.replayed()} replayed"]
    head += [f"{tally.criss_cross} with several merge bases"] if tally.criss_cross else []
    tell(", ".join([*head, *tally.left_out()]))
    for note in tally.notes:
        tell(note)
    tell("")
    for name, words in COUNTS.items():
        count = tally.counts[name]
        depth = 2 if name.startswith("resolved_") else int(name in _BELOW)
        if count or name in ("files", "git_conflicts", "resolved"):
            tell(f"{count:>7}  {'  ' * depth}{words}{_share(tally, name)}")
    if tally.counts["files"]:
        tell("")
        tell(tally.times())
    _print_list(tally, args, paint)


def _share(tally: Tally, name: str) -> str:
    part_of = "resolved" if name.startswith("resolved_") else ""
    part_of = {"git_conflicts": "files", "resolved": "git_conflicts"}.get(name, part_of)
    whole = tally.counts.get(part_of)
    return f" ({100 * tally.counts[name] / whole:.0f}%)" if whole else ""


def _print_list(tally: Tally, args: argparse.Namespace, paint: Paint) -> None:
    found = tally.disagreements
    if found:
        command = " ".join(["kmerge", "replay", *_scope(args), "--show", "N"])
        tell("")
        print(paint.line(("disagreements", "bold"), f" (`{command}` shows one)"))
    for number, file in enumerate(found[:_MOST_LINES], 1):
        tell(f"{number:>5}  {_place(file)}")
    if len(found) > _MOST_LINES:
        tell(f"       and {len(found) - _MOST_LINES} more: --json and --html list all")
    if tally.broken:
        tell("")
        print(paint.line(("clean under git, but broken", "bold")))
    for file in tally.broken[:_MOST_LINES]:
        tell(f"       {_place(file)}: {'; '.join(file.git_damage)}")


def _place(file: Replayed) -> str:
    flag = " (criss-cross)" if file.criss_cross else ""
    return f"{file.commit[:10]}  {file.path}{flag}"


def _scope(args: argparse.Namespace) -> list[str]:
    """Which merges were asked for, as words of the command line."""
    scope = [args.range] if args.range != "HEAD" else []
    scope += ["--last", str(args.last)] if args.last else []
    return scope + (["--picks"] if args.picks else [])


def _write_page(args: argparse.Namespace, repository: Repository, tally: Tally) -> None:
    from kmerge_git.whole.page import page
    from kmerge_git.whole.replaying import Replayer

    place = Path(repository.worktree or repository.git_dir)
    name = place.name.removesuffix(".git") or str(place)
    scope = " ".join(_scope(args))
    draft = Path(f"{args.html}.kmerge-{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.writelines(page(tally, name, scope, Replayer(repository).texts))
        draft.replace(args.html)
    except OSError as error:
        raise KmergeError(error.strerror or str(error), path=args.html) from error
    finally:
        draft.unlink(missing_ok=True)
    say(f"kmerge: the report is in {args.html}")
