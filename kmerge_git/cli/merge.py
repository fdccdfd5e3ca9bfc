"""`kmerge merge REV`: do what `git merge REV` does, but merge all manifests in a single process."""

from __future__ import annotations

import argparse

from kmerge_git import time_limit
from kmerge_git.cli import in_and_out, merge_file
from kmerge_git.cli.merge_options import GitOptions, add_git_options, spelled
from kmerge_git.errors import UsageError
from kmerge_git.git.run_git import ask_git

DESCRIPTION = """\
Do what `git merge REV` does, but merge all manifests in one process. Edits of resources that the
other side moved to another file are applied there. The command lists what it resolved. Git keeps
the state of the merge, so `git merge --abort` works as usual.
"""

EPILOG = """\
examples:
  kmerge merge topic               merge the branch, and commit unless there are conflicts
  kmerge merge -X theirs topic     theirs wins if both sides changed a field (or --favor theirs)
  kmerge merge --abort             undo a merge with conflicts

The command works without `kmerge install`. If a merge is not needed (a fast-forward) or not
possible (local changes), git alone does the work. To merge three files, use `kmerge merge-file`.

exit status: 0 merged, 1 unresolved conflicts are left, other codes as in git merge
"""

__all__ = ["DESCRIPTION", "EPILOG", "add_arguments", "run", "spelled"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    parser.add_argument("revs", nargs="*", metavar="REV", help="the branch or commit to merge")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    add_git_options(parser)
    merge_file.add_favor(parser)
    for action in merge_file.add_options(parser):
        action.help = argparse.SUPPRESS  # `merge-file` was called `merge` before


def run(args: argparse.Namespace) -> int:
    """Merge a branch, or merge three files as `merge-file` does."""
    if _are_files(args):
        args.base, args.ours, args.theirs = args.revs
        with time_limit.within(args.ours):
            return merge_file.run(args)
    from kmerge_git.cli.merge_branch import merge_whole

    if args.favor:  # --favor ours means -X ours
        args.given = GitOptions((*args.given.pairs, ("--strategy-option", args.favor)))
    return merge_whole(args)


def _are_files(args: argparse.Namespace) -> bool:
    """Return whether the arguments are three files, or options for three files are given."""
    usual = merge_file.add_options(argparse.ArgumentParser())
    is_meant = any(getattr(args, action.dest) != action.default for action in usual)
    if len(args.revs) != 3:
        if is_meant:
            raise UsageError(
                f"three files are needed (BASE OURS THEIRS), not {len(args.revs)}",
                hint="see `kmerge merge-file --help`",
            )
        return False
    if is_meant or any(map(in_and_out.is_file, args.revs)):
        return True
    asked = ("rev-parse", "--verify", "-q", "--end-of-options")
    # without a commit among them they name files that do not exist
    return all(ask_git(*asked, f"{rev}^{{commit}}").code for rev in args.revs)
