"""`kmerge mergetool BASE LOCAL REMOTE MERGED`: merge a file for `git mergetool`."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace

from kmerge_git.cli import in_and_out
from kmerge_git.cli.in_and_out import inside, say
from kmerge_git.errors import KmergeError
from kmerge_git.merge.three import Three
from kmerge_git.outcome import WHOLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.outcome import Options
    from kmerge_git.whole.both_merges import Both
    from kmerge_git.whole.resolving import Resolving

EPILOG = """\
register the tool once, then use it for conflicts that git made without the driver:
  kmerge install --mergetool
  git mergetool --tool=kmerge

On a terminal it asks about each unresolved conflict, field by field, as `kmerge resolve` does.

exit code: 0 MERGED has no conflicts, 1 MERGED has conflict markers, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    parser.add_argument(
        "base", metavar="BASE", help="the merge base; the file may be empty or missing"
    )
    parser.add_argument("local", metavar="LOCAL", help="our version")
    parser.add_argument("remote", metavar="REMOTE", help="their version")
    parser.add_argument("merged", metavar="MERGED", help="the file for the result")


def run(args: argparse.Namespace) -> int:
    """Merge BASE, LOCAL and REMOTE into the file MERGED."""
    from kmerge_git.git.settings import settings_for
    from kmerge_git.git.sides import mine
    from kmerge_git.kube.crds import learn_files, learn_own
    from kmerge_git.whole.both_merges import Job, merge_all, options_for

    # if both sides added the file, git names a base that is empty or does not exist
    base = in_and_out.read(args.base) if args.base and os.path.exists(args.base) else b""
    settings = settings_for(args.merged)
    known = learn_files(settings.crds), learn_own("", settings.own_crds)
    for problem in (*settings.problems, *known[0], *known[1]):
        say(f"kmerge: {args.merged}: {problem}")
    texts = Three[bytes | None](base, in_and_out.read(args.local), in_and_out.read(args.remote))
    options = options_for(args.merged, settings, ("BASE", "LOCAL", "REMOTE"), mine=mine())
    (both,) = merge_all([Job(texts, options)], settings.timeout)
    outcome = both.outcome
    if both.is_late:
        say(f"kmerge: {args.merged}: {outcome.reason}")
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not outcome.clean and outcome.method not in WHOLE and is_terminal:
        from kmerge_git.cli.asking import ask

        return ask(_in_index(args.merged) or _alone(args.merged, both, texts, options), args)
    in_and_out.write(args.merged, outcome.text)
    for conflict in outcome.conflicts:
        say(f"kmerge: {args.merged}: {conflict.shown()}")
    if outcome.clean:
        say(f"kmerge: {args.merged}: merged without conflicts")
    return 0 if outcome.clean else 1


def _in_index(merged: str) -> Resolving | None:
    """Return the questions about a file, or None if the index has no conflict in this file.

    If the tool leaves conflicts, git restores the file. So the answers are saved in `.git`.
    """
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.resolving import Resolving

    try:
        repository = Repository.open()
        path = inside(merged, repository.worktree)
        resolving = Resolving.start(repository, (path,), json=True)
    except KmergeError:
        return None
    # `git mergetool` stages the file and goes on to the other files
    resolving.operation = replace(resolving.operation, name="mergetool")
    return resolving if any(q.path == path for q in resolving.questions) else None


def _alone(merged: str, both: Both, texts: Three[bytes | None], options: Options) -> Resolving:
    """Return the questions about a file if git's index has no conflict in this file."""
    from kmerge_git.whole.resolving import Resolving

    in_and_out.write(merged, both.outcome.text)
    return Resolving.of_one_file(merged, both, texts, options)
