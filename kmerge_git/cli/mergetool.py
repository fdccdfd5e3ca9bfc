"""`kmerge mergetool BASE LOCAL REMOTE MERGED`: what `git mergetool --tool=kmerge` calls."""

from __future__ import annotations

import argparse
import os

from kmerge_git.cli import files
from kmerge_git.git.mine import mine
from kmerge_git.git.settings import settings_for
from kmerge_git.kube.crdfiles import learn_files, learn_own
from kmerge_git.merge.three import Three
from kmerge_git.whole.merging import merge_one, options_for

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
    known = learn_files(settings.crds), learn_own("", settings.own_crds)
    for problem in (*settings.problems, *known[0], *known[1]):
        files.say(f"kmerge: {args.merged}: {problem}")
    texts = Three(base, files.read(args.local), files.read(args.remote))
    labels = ("BASE", "LOCAL", "REMOTE")
    outcome = merge_one(texts, options_for(args.merged, settings, labels, mine=mine()))
    files.write(args.merged, outcome.text)
    for conflict in outcome.conflicts:
        files.say(f"kmerge: {args.merged}: {conflict.shown()}")
    if outcome.clean:
        files.say(f"kmerge: {args.merged}: merged, no conflicts")
    return 0 if outcome.clean else 1
