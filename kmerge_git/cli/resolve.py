"""`kmerge resolve`: finish what a merge, rebase or cherry-pick left in conflict, field by field."""

from __future__ import annotations

import argparse
import json
import sys

from kmerge_git.cli.files import tell
from kmerge_git.cli.solve import inside
from kmerge_git.errors import UsageError

EPILOG = """\
examples:
  git merge feature                 stops with conflicts
  kmerge resolve                    asks about one field after the other; `?` shows the keys
  git commit                        or what `git status` says

  kmerge resolve --list             the conflicts, each with its id
  kmerge resolve --take theirs apps/
  kmerge resolve --undo FILE        brings the conflict of a file back

exit status: 0 no conflict is left, 1 conflicts are left, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: all conflicts)")
    add("--list", action="store_true", help="show the conflicts, change nothing")
    add("--take", metavar="SIDE", help="the answer: ours, theirs, both, base or higher")
    add("--undo", action="store_true", help="bring the conflicts of the files back")
    add("--force", action="store_true", help="with --undo: even work that is not staged is dropped")
    add("--blame", action="store_true", help="show who changed each side last, and in which commit")
    add("--with-json", action="store_true", help="*.json files, too")
    add("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Ask, where there is somebody to be asked."""
    from kmerge_git.git.repository import Repository

    if args.undo:
        return _undo(args)
    from kmerge_git.whole.resolving import Resolving

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("there is no terminal to ask on", hint="see --list, --take and --from")
    from kmerge_git.cli.asking import ask

    repository = Repository.open()
    paths = tuple(inside(path, repository.worktree) for path in args.paths)
    return ask(Resolving.start(repository, paths, json=args.with_json), args)


def _undo(args: argparse.Namespace) -> int:
    """Bring conflicts back."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.unresolving import undo

    if not args.paths:
        raise UsageError("which files?", hint="`--undo .` brings back all below this folder")
    repository = Repository.open()
    paths = [inside(path, repository.worktree) for path in args.paths]
    files = undo(repository, paths, force=args.force)
    if args.json:
        rows = [{"path": f.path, "situation": f.situation, "was": f.was} for f in files]
        print(json.dumps({"schema": 1, "undone": rows}, indent=2))
        return 0
    for file in files:
        was = f"; `git cat-file -p {file.was[:10]}` shows what was staged" if file.was else ""
        tell(f"in conflict again: {file.path} ({file.situation}{was})")
    return 0
