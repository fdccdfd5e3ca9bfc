"""`kmerge mergetool BASE LOCAL REMOTE MERGED`: what `git mergetool --tool=kmerge` calls."""

from __future__ import annotations

import argparse
import os
import sys

from kmerge_git.cli import files
from kmerge_git.git.settings import settings_for
from kmerge_git.kube.crdfiles import learn_files
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.pipeline import merge_files

EPILOG = """\
register it once, then use it in a conflict that came about without the driver:
  kmerge install --mergetool
  git mergetool --tool=kmerge

exit code: 0 MERGED has no conflicts, 1 conflicts are marked in MERGED, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    parser.add_argument("base", metavar="BASE", help="the ancestor; empty or missing if none")
    parser.add_argument("local", metavar="LOCAL", help="our version")
    parser.add_argument("remote", metavar="REMOTE", help="their version")
    parser.add_argument("merged", metavar="MERGED", help="the file to write")


def run(args: argparse.Namespace) -> int:
    """Merge three files into the fourth."""
    # both sides added the file: git names a base that is empty, or that is not there
    base = files.read(args.base) if args.base and os.path.exists(args.base) else b""
    settings = settings_for(args.merged)
    for problem in (*settings.problems, *learn_files(settings.crds)):
        print(f"kmerge: {args.merged}: {problem}", file=sys.stderr)
    outcome = merge_files(
        base,
        files.read(args.local),
        files.read(args.remote),
        path=args.merged,
        rules=settings.rules,
        favor=settings.favor,
        marker_size=settings.marker_size,
        labels=("BASE", "LOCAL", "REMOTE"),
        style=settings.conflict_style,
        policy=policy_for(settings.policies),
    )
    files.write(args.merged, outcome.text)
    for conflict in outcome.conflicts:
        place = f"{conflict.place}: " if conflict.place else ""
        print(f"kmerge: {args.merged}: {place}{conflict.why}", file=sys.stderr)
    if outcome.clean:
        print(f"kmerge: {args.merged}: merged, no conflicts", file=sys.stderr)
    return 0 if outcome.clean else 1
