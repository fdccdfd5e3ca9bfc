"""Check what git is about to commit or to push, for the hook `kmerge-merge`.

That is a merge, the files that were in conflict in a rebase, cherry-pick, revert or squash, what
names a deleted file, and the merges of a push. Most commits have none of these: then no check is
loaded.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import redirect_stdout
from io import StringIO

from kmerge_git.bounds import PUSHED_MERGES
from kmerge_git.cli.check_repository import (
    FROM_REF,
    commit_of,
    from_here,
    git_directory,
    may_be_merging,
    top_of,
)
from kmerge_git.cli.in_and_out import warn
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.git.run_git import try_git
from kmerge_git.git.tracked_files import changed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Check = Callable[[argparse.Namespace], int]

# what was lost in a merge, and what names a file or a resource that is not there
LOST, DANGLING = ("M11", "M28"), ("M14", "M15", "D69")
# variables of pre-commit; hooks/pre-push sets the first two, and FROM_REF
TO_REF, REMOTE = "PRE_COMMIT_TO_REF", "PRE_COMMIT_REMOTE_NAME"
BRANCH = "PRE_COMMIT_LOCAL_BRANCH"


def judge(args: argparse.Namespace, check: Check) -> int:
    """Check what git commits or pushes, and return the worst exit code of the checks."""
    if args.format != "text" or args.files:
        raise UsageError(
            "--committed takes no files and always prints text", hint="omit files and --format"
        )
    top = top_of("--committed")
    pushed = os.environ.get(TO_REF) or os.environ.get(BRANCH, "")
    codes = _of_push(top, pushed, args, check) if pushed else map(check, _of_commit(top, args))
    return max(codes, default=0)


# -- a commit --------------------------------------------------------------------------------------


def _of_commit(top: str, args: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Yield the calls of `kmerge check` that judge the commit; mostly there are none."""
    if may_be_merging(git_directory()):
        from kmerge_git.git.merge_sides import in_progress

        if in_progress() is not None:
            yield _call(args, *LOST, *DANGLING, merge=True, staged=True)
            return  # with the deletions of both sides
        if try_git("-C", top, "ls-files", "--resolve-undo"):
            yield _call(args, *LOST, merge=True, staged=True)
    deleted = changed(top, "HEAD", "")
    if deleted:
        from kmerge_git.check.kustomize.kustomization import NAMES

        # what no longer names a file may be the base of another one, whose patch needs that file
        bases = [n for n in changed(top, "HEAD", "", "AMT") if n.rpartition("/")[2] in NAMES]
        files = [from_here(top, name) for name in deleted + bases]
        yield _call(args, *DANGLING, staged=True, new="", files=files)


def _call(args: argparse.Namespace, *ids: str, **more: object) -> argparse.Namespace:
    """Return the arguments of a call that runs these checks, unless they are switched off.

    The other checks are ignored, because an id that is selected runs whatever is switched off.
    """
    from kmerge_git.check.registry import every

    others = ",".join(check.id for check in every() if check.id not in ids)
    known = vars(args) | {"quiet": True, "ignore": [*args.ignore, others]}
    return argparse.Namespace(**known | more)


# -- a push ----------------------------------------------------------------------------------------


def _of_push(top: str, pushed: str, args: argparse.Namespace, check: Check) -> Iterator[int]:
    """Judge the merge commits that the remote does not have, and yield their exit codes.

    A rebased branch is judged, too, but what it lacks may have been amended: nothing is refused.
    """
    for merge in pushed_merges(top, pushed):
        name = try_git("-C", top, "show", "-s", "--format=%h %s", merge).decode("utf-8", "replace")
        what = f"the merge {name.strip()}"
        yield _told(
            check, _call(args, *LOST, merge_of=merge), what, f"in {what}, which this push contains:"
        )
    if sides := _rebased(top, pushed):
        said = "these changes of the remote branch are not in the rebased branch (lost or amended):"
        _told(check, _call(args, *LOST, merged=sides), "the rebased branch", said)


def _told(check: Check, call: argparse.Namespace, what: str, said: str) -> int:
    """Print what a call finds, with a line before it, and return its exit code."""
    try:
        with redirect_stdout(StringIO()) as text:
            code = check(call)
    except KmergeError as error:
        warn(f"{what} was not checked: {error}")
        return 0
    if text.getvalue():
        warn(said)
        sys.stdout.write(text.getvalue())
    return code


def pushed_merges(top: str, pushed: str) -> list[str]:
    """Return the newest of the merge commits that the remote does not have."""
    if not pushed.strip("0"):
        return []  # a branch is deleted
    last, first = commit_of(top, pushed), _first(top, pushed)
    if not last or not first:
        why = (
            "git does not know this commit"
            if not last
            else "none of its commits is known to be on the remote"
        )
        warn(f"the merges of {pushed} were not checked: {why}")
        return []
    asked = ["rev-list", "--merges", last, "--not", first]
    if remote := os.environ.get(REMOTE, ""):
        asked.append(f"--remotes={remote}")
    merges = try_git("-C", top, *asked).decode().split()
    if len(merges) > PUSHED_MERGES:
        warn(f"only the newest {PUSHED_MERGES} of {len(merges)} pushed merges are checked")
    return merges[:PUSHED_MERGES]


def _first(top: str, pushed: str) -> str:
    """Return the commit that the remote has, or of a new branch where it left the default one."""
    known = os.environ.get(FROM_REF, "")
    if known.strip("0") and (commit := commit_of(top, known)):
        return commit
    default = commit_of(top, f"refs/remotes/{os.environ.get(REMOTE, '')}/HEAD")
    return _merge_base(top, default, pushed) if default else ""


def _rebased(top: str, pushed: str) -> list[str]:
    """Return base, both sides and the result if a branch was rebased since it was pushed, or [].

    Ours is the commit of the default branch below the branch as it is now, theirs is the branch as
    the remote has it. A branch that starts where it started was amended.
    """
    last, old = commit_of(top, pushed), commit_of(top, os.environ.get(FROM_REF, ""))
    default = commit_of(top, f"refs/remotes/{os.environ.get(REMOTE, '')}/HEAD")
    if not (last and old and default) or _merge_base(top, old, last) == old:
        return []
    onto = _merge_base(top, default, last)
    base = _merge_base(top, old, onto) if onto else ""
    return [base, onto, old, last] if base not in ("", onto) else []


def _merge_base(top: str, one: str, other: str) -> str:
    return try_git("-C", top, "merge-base", one, other).decode().strip()
