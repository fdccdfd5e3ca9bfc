"""`kmerge merge-file BASE OURS THEIRS`: merge three files as the merge driver does."""

from __future__ import annotations

import argparse

from kmerge_git.cli import in_and_out
from kmerge_git.cli.in_and_out import say, warn
from kmerge_git.cli.main import make_haste
from kmerge_git.errors import UsageError
from kmerge_git.outcome import BY_BLOCKS, Outcome

_METHODS = {
    "same": "two of the three versions are equal",
    "lines": "merged with git's line merge",
    "structure": "merged by structure",
    "sealed": "the file is encrypted",
    "kept": "ours is kept",
}

EPILOG = """\
examples:
  kmerge merge-file base.yaml ours.yaml theirs.yaml            print the result
  kmerge merge-file base.yaml ours.yaml theirs.yaml -o ours.yaml
  kmerge merge-file base.yaml ours.yaml theirs.yaml --explain  print why each field has its value
  git show :1:a.yaml | kmerge merge-file - ours.yaml theirs.yaml

exit code: 0 merged without conflicts, 1 the result has conflict markers, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    parser.add_argument("base", help="the merge base; `-` reads stdin")
    parser.add_argument("ours", help="our version")
    parser.add_argument("theirs", help="their version")
    add_favor(parser)
    add_options(parser)


def add_favor(parser: argparse.ArgumentParser) -> None:
    """Define `--favor`, which `kmerge merge` takes for branches as well."""
    parser.add_argument(
        "--favor", choices=("ours", "theirs"), help="the side that wins if both changed a field"
    )


def add_options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Define the options for three files, and return them."""
    add = parser.add_argument
    return [
        add(
            "-o", "--output", metavar="OUT", help="write the result to this file instead of stdout"
        ),
        add("--path", default="", metavar="P", help="the path of the file in its repository"),
        add(
            "--rules",
            choices=("git", "kyaml"),
            default="git",
            help="the merge rules to use (default: git)",
        ),
        add(
            "--conflict-style",
            choices=("merge", "diff3", "zdiff3"),
            default="merge",
            help="diff3 and zdiff3 also show the base in conflicts (default: merge)",
        ),
        add(
            "--marker-size",
            type=int,
            default=7,
            metavar="N",
            help="the length of the conflict markers (default: 7, at most 200)",
        ),
        add(
            "--crd",
            action="append",
            default=[],
            metavar="FILE",
            help="a CustomResourceDefinition; its x-kubernetes-list-map-keys are the merge keys of "
            "lists (repeatable)",
        ),
        add("--explain", action="store_true", help="print every decision of the merge on stderr"),
    ]


def run(args: argparse.Namespace) -> int:
    """Merge three files."""
    from kmerge_git.api import merge_files
    from kmerge_git.kube.crds import learn

    if [args.base, args.ours, args.theirs].count("-") > 1:
        raise UsageError("only one of the three files can be stdin")
    if args.marker_size < 1:
        raise UsageError("--marker-size must be at least 1; values above 200 count as 200")
    make_haste()
    for path in args.crd:
        if not learn(in_and_out.read(path), path):
            raise UsageError("the file has no CustomResourceDefinition", path=path)
    outcome = merge_files(
        *(in_and_out.read(path) for path in (args.base, args.ours, args.theirs)),
        path=args.path or (args.ours if args.ours != "-" else ""),
        rules=args.rules,
        favor=args.favor,
        marker_size=args.marker_size,
        labels=(args.base, args.ours, args.theirs),
        style=args.conflict_style,
    )
    in_and_out.write(args.output, outcome.text)
    _report(outcome, explain=args.explain)
    return 0 if outcome.clean else 1


def _report(outcome: Outcome, *, explain: bool) -> None:
    if explain:
        from kmerge_git.cli.explain import explain_line

        for decision in outcome.explained:
            say(explain_line(decision))
        how = _METHODS[outcome.method] + (f": {outcome.reason}" if outcome.reason else "")
        say(BY_BLOCKS if outcome.reason == BY_BLOCKS else how)
    elif outcome.reason and outcome.method in ("lines", "sealed", "kept") and not outcome.clean:
        warn(outcome.reason)
    for conflict in outcome.conflicts if outcome.method == "structure" else ():
        say(f"conflict: {conflict.shown('document')}")
