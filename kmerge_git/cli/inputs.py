"""What `merge2` and `merge3` have in common: their options, and one file in and out."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from kmerge_git import time_limit
from kmerge_git.cli import accounts, in_and_out
from kmerge_git.cli.haste import make_haste
from kmerge_git.cli.printing import say, tell
from kmerge_git.errors import UsageError
from kmerge_git.merge.kyaml.kyaml_merges import Result
from kmerge_git.merge.three import Three

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.packages.package_rules import Labels, Ways, Words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options that both commands know."""
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


def run(
    args: argparse.Namespace,
    names: Three[str],
    given: tuple[str, ...],
    words: dict[str, str],
    make_ways: Callable[[Labels], Ways],
) -> int:
    """Merge files or directories; two-way the base is not among the inputs that are given."""
    make_haste()
    if args.json and (args.output in (None, "-") and not (args.in_place or args.dry_run)):
        hint = "add -o OUT, --in-place or --dry-run"
        raise UsageError("--json and the result cannot both go to stdout", hint=hint)
    if are_directories(*given):
        from kmerge_git.cli import folder_inputs  # only directories need these
        from kmerge_git.packages.package_rules import timed

        def labels(path: str) -> Words:
            return names.map(lambda root: os.path.join(root, path)).each()

        return folder_inputs.run(args, names, timed(make_ways(labels)))
    check(args, *given)
    texts = names.map(lambda name: in_and_out.read(name) if name else b"")
    path = next((name for name in (names.ours, *given) if name != "-"), "")
    with time_limit.within(path):
        merged = make_ways(names.each()).manifest(texts, path)
    return finish(args, merged, texts.ours, words)


def are_directories(*paths: str) -> bool:
    """Whether all are directories; some, but not all, is an error."""
    found = [os.path.isdir(path) for path in paths]
    if any(found) and not all(found):
        odd = paths[found.index(False)]
        raise UsageError(
            "it is no directory, but another input is",
            path=odd,
            hint="give only files or only directories",
        )
    return all(found)


def check(args: argparse.Namespace, *paths: str) -> None:
    """Refuse what makes no sense with files."""
    if paths.count("-") > 1:
        raise UsageError("only one of the inputs can be stdin", hint="give files for the others")
    if args.in_place and args.dest == "-":
        raise UsageError("--in-place needs a file as --dest", hint="use -o")
    if args.output is not None and os.path.isdir(args.output):
        raise UsageError("it is a directory, but the inputs are files", path=args.output)


def finish(args: argparse.Namespace, merged: Result, before: bytes, words: dict[str, str]) -> int:
    """Write the result of one file and say what there is to say."""
    if args.in_place:
        if merged.data != before:
            in_and_out.write(args.dest, merged.data)
    elif not args.dry_run:
        in_and_out.write(args.output, merged.data)
    status = "same" if merged.data == before else "changed"
    if args.json:
        from kmerge_git.packages.package_files import File
        from kmerge_git.packages.package_merge import ResultFile

        file = ResultFile(args.dest, File(before), File(merged.data), merged)
        accounts.print_json(args, [file], [], words)
        return 1 if merged.conflicts else 0
    accounts.tell(args, merged, words)
    if args.dry_run:
        tell(f"{'unchanged' if status == 'same' else status}: {args.dest}")
    if args.summary:
        say(accounts.count(merged.decisions, words, merged.conflicts))
    return 1 if merged.conflicts else 0
