"""`kmerge policy try GLOB FIELD POLICY`: the old name of `kmerge replay --policy`."""

from __future__ import annotations

import argparse

from kmerge_git.cli import replay

EPILOG = replay.EPILOG


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    actions = parser.add_subparsers(metavar="try", required=True)
    trying = actions.add_parser("try", epilog=EPILOG, formatter_class=parser.formatter_class)
    trying.add_argument("rule", nargs=3, metavar=("GLOB", "FIELD", "POLICY"))
    replay.add_arguments(trying)


def run(args: argparse.Namespace) -> int:
    """Try the policy."""
    args.policy = " ".join(args.rule)
    return replay.run(args)
