"""`kmerge merge3`: merge two versions of a file or of a directory with their common base."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from kmerge_git import time_limit
from kmerge_git.cli import in_and_out, merge_report
from kmerge_git.cli.in_and_out import say, tell
from kmerge_git.cli.main import make_haste
from kmerge_git.errors import UsageError
from kmerge_git.merge.three import Three

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.kyaml.kyaml_merges import Result
    from kmerge_git.packages.package_rules import Labels, Ways, Words

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
    add_shared_options(parser)
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
    from kmerge_git.packages.package_rules import ways

    if args.rules == "git" and not args.infer:
        raise UsageError("--no-infer is a switch of --rules kyaml")
    names = Three(args.original, args.dest, args.updated)

    def make_ways(labels: Labels) -> Ways:
        return ways(args.rules, labels=labels, style=args.conflict_style, infer=args.infer)

    return merge_inputs(args, names, names.each(), merge_report.MERGE3, make_ways)


def add_shared_options(parser: argparse.ArgumentParser) -> None:
    """Define the options that `merge2` and `merge3` have in common."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write there: a file, or a new or empty directory",
    )
    where.add_argument("--in-place", action="store_true", help="write the result over dest")
    where.add_argument(
        "-n", "--dry-run", action="store_true", help="write nothing; tell what would change"
    )
    parser.add_argument(
        "--no-infer",
        dest="infer",
        action="store_false",
        help="pair elements only in lists that the tables know, not by what their elements hold",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="tell every decision on stderr: place, rule, whose value was taken",
    )
    parser.add_argument("--summary", action="store_true", help="tell counts on stderr")
    parser.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="tell no losses and notes, only what needs a person",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print what was done as JSON; needs -o, --in-place or --dry-run",
    )


def merge_inputs(
    args: argparse.Namespace,
    names: Three[str],
    given: tuple[str, ...],
    words: dict[str, str],
    make_ways: Callable[[Labels], Ways],
) -> int:
    """Merge files or directories; `given` holds the inputs, with no base in a two-way merge."""
    make_haste()
    if args.json and (args.output in (None, "-") and not (args.in_place or args.dry_run)):
        hint = "add -o OUT, --in-place or --dry-run"
        raise UsageError("--json and the result cannot both go to stdout", hint=hint)
    if _are_directories(*given):
        from kmerge_git.cli import folder_inputs  # loaded here because only directories need it
        from kmerge_git.packages.package_rules import timed

        def labels(path: str) -> Words:
            return names.map(lambda root: os.path.join(root, path)).each()

        return folder_inputs.run(args, names, words, timed(make_ways(labels)))
    _check(args, *given)
    texts = names.map(lambda name: in_and_out.read(name) if name else b"")
    path = next((name for name in (names.ours, *given) if name != "-"), "")
    with time_limit.within(path):
        merged = make_ways(names.each()).manifest(texts, path)
    return _finish(args, merged, texts.ours, words)


def _are_directories(*paths: str) -> bool:
    """Return whether all paths are directories; refuse a mixture of files and directories."""
    are = [os.path.isdir(path) for path in paths]
    if any(are) and not all(are):
        raise UsageError(
            "it is no directory, but another input is",
            path=paths[are.index(False)],
            hint="give only files or only directories",
        )
    return all(are)


def _check(args: argparse.Namespace, *paths: str) -> None:
    """Refuse options that make no sense for files."""
    if paths.count("-") > 1:
        raise UsageError("only one of the inputs can be stdin", hint="give files for the others")
    if args.in_place and args.dest == "-":
        raise UsageError("--in-place needs a file as --dest", hint="use -o")
    if args.output is not None and os.path.isdir(args.output):
        raise UsageError("it is a directory, but the inputs are files", path=args.output)


def _finish(args: argparse.Namespace, merged: Result, before: bytes, words: dict[str, str]) -> int:
    """Write the merged file and report the merge."""
    is_same = merged.data == before
    if args.in_place:
        if not is_same:
            in_and_out.write(args.dest, merged.data)
    elif not args.dry_run:
        in_and_out.write(args.output, merged.data)
    if args.json:
        from kmerge_git.packages.package_files import File
        from kmerge_git.packages.package_merge import ResultFile

        file = ResultFile(args.dest, File(before), File(merged.data), merged)
        merge_report.print_json(args, [file], [], words)
        return int(bool(merged.conflicts))
    merge_report.report(args, merged, words)
    if args.dry_run:
        tell(f"{'unchanged' if is_same else 'changed'}: {args.dest}")
    if args.summary:
        say(merge_report.count(merged.decisions, words, merged.conflicts))
    return int(bool(merged.conflicts))
