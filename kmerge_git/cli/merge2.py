"""`kmerge merge2`: merge two files or two directories without a base."""

from __future__ import annotations

import argparse

from kmerge_git.cli.merge3 import add_shared_options, merge_inputs
from kmerge_git.cli.merge_report import MERGE2
from kmerge_git.merge.three import Three

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.packages.package_rules import Labels, Ways

DESCRIPTION = """\
Merge the fields of SRC over DEST: what SRC has is taken, what only DEST has stays, a null in SRC
removes the field. Elements of keyed lists (containers by name, ports by number and protocol ...)
are merged one by one, other lists are replaced. `$patch: replace`, `delete` and `merge` in SRC
work as in kustomize. Every byte of DEST that SRC has nothing to say about stays.

Both are files (with any number of documents, YAML or JSON), or both are directories. There a file
that differs and is no manifest, or is a template, stays as DEST has it, and is told.
"""
EPILOG = """\
examples:
  kmerge merge2 --src overlay.yaml --dest base.yaml                 the result on stdout
  kmerge merge2 --src overlay.yaml --dest base.yaml --in-place
  kmerge merge2 --src overlay.yaml --dest base.yaml --prepend       new containers come first
  kmerge merge2 --src overlay/ --dest base/ --dry-run               what would change
  echo 'spec: {replicas: 3}' | kmerge merge2 --src - --dest web.yaml --explain

exit code: 0 merged, 2 an error: nothing is written. docs/merge-rules.md explains the rules by
their numbers.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    parser.add_argument("--src", "-S", required=True, metavar="S", help="what is merged over dest")
    parser.add_argument("--dest", "-D", required=True, metavar="D", help="what it is merged into")
    add_shared_options(parser)
    parser.add_argument(
        "--prepend",
        action="store_true",
        help="put new elements of keyed lists first instead of last",
    )


def run(args: argparse.Namespace) -> int:
    """Merge two files or two directories."""
    from kmerge_git.packages.package_rules import two_ways

    names = Three("", args.dest, args.src)

    def make_ways(labels: Labels) -> Ways:
        return two_ways(labels=labels, infer=args.infer, prepend=args.prepend)

    return merge_inputs(args, names, (names.ours, names.theirs), MERGE2, make_ways)
