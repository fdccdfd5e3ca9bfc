"""`kmerge merge3`: the seed documents' three-way merge, of files and of directories."""

from __future__ import annotations

import argparse

from kmerge_git.cli import accounts, inputs
from kmerge_git.errors import UsageError
from kmerge_git.merge.three import Three
from kmerge_git.packages.package_rules import ways

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.packages.package_rules import Labels, Ways

DESCRIPTION = """\
Merge what changed from ORIGINAL to UPDATED into DEST, as for a vendored package with changes of
one's own: ORIGINAL is the upstream version that DEST was made from, UPDATED is the new one.

By default updated wins: where both changed a field, its value is taken and the loss is told on
stderr; a null clears. With --rules git both sides weigh the same, and what cannot be decided is
marked as a conflict. Every byte of DEST that the merge has nothing to say about stays.

All three are files (with any number of documents, YAML or JSON), or all three are directories.
In directories files that were renamed, split or joined are followed, and other texts are merged by
lines. Where upstream is a git repository, `kmerge vendor` keeps the original for you.
"""
EPILOG = """\
examples:
  kmerge merge3 --original v1.yaml --updated v2.yaml --dest mine.yaml          result on stdout
  kmerge merge3 --original v1.yaml --updated v2.yaml --dest mine.yaml --in-place
  kmerge merge3 --original v1/ --updated v2/ --dest vendor/app/ --in-place --summary
  kmerge merge3 --original v1/ --updated v2/ --dest vendor/app/ --dry-run      what would change
  git show HEAD:a.yaml | kmerge merge3 --original - --updated new.yaml --dest a.yaml --explain

exit code: 0 merged; 1 (--rules git only) conflicts are marked in the result, or a file is left to a
person; 2 an error: nothing is written. docs/merge-rules.md explains the rules by their numbers.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    add = parser.add_argument
    add("--original", "-O", required=True, metavar="O", help="what updated and dest come from")
    add("--updated", "-U", required=True, metavar="U", help="the new original")
    add("--dest", "-D", required=True, metavar="D", help="the version with changes of one's own")
    inputs.add_arguments(parser)
    add(
        "--rules",
        choices=("kyaml", "git"),
        default="kyaml",
        help="kyaml: updated wins, null clears; git: both sides weigh the same, with conflicts",
    )
    add(
        "--conflict-style",
        choices=("merge", "diff3", "zdiff3"),
        default="merge",
        help="how --rules git marks conflicts",
    )


def run(args: argparse.Namespace) -> int:
    """Merge three files or three directories."""
    if args.rules == "git" and not args.infer:
        raise UsageError("--no-infer is a switch of --rules kyaml")
    names = Three(args.original, args.dest, args.updated)

    def make_ways(labels: Labels) -> Ways:
        return ways(args.rules, labels=labels, style=args.conflict_style, infer=args.infer)

    return inputs.run(args, names, names.each(), accounts.MERGE3, make_ways)
