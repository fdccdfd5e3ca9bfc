"""`kmerge vendor`: packages from upstream with their origin on record."""

from __future__ import annotations

import argparse
import json
import os

from kmerge_git.cli.accounts import counted
from kmerge_git.cli.files import say, tell
from kmerge_git.cli.progress import waiting

DESCRIPTION = """\
Copy a package of manifests from a git repository, change it, and take upstream's next version
without losing either. DIR/.kmerge-vendor says where it came from; a Kptfile with `upstream` and
`upstreamLock` does, too.
"""
EPILOG = """\
examples:
  kmerge vendor add https://github.com/example/shop vendor/shop --path deploy --ref v1.0.0
  kmerge vendor status --fetch              what was changed here, and what is newer upstream
  kmerge vendor update vendor/shop --ref v1.1.0
  kmerge vendor update vendor/shop --continue       once the conflicts are resolved
  kmerge vendor diff vendor/shop            the local changes as a patch
  kmerge vendor add ../shop vendor/shop --path deploy --ref v1.0.0 --adopt    a copy made by hand

Only https, ssh and local repositories; no submodules, no filters, nothing of a package is run or
read as configuration. Files are fetched into a cache below $XDG_CACHE_HOME or ~/.cache.

exit code: 0 done; 1 conflicts are left (update), something is newer or unfinished (status), there
are local changes (diff); 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command lines of all actions."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_add(actions.add_parser("add", help="copy a package and record where it came from"))
    _add_update(actions.add_parser("update", help="merge upstream's next version into it"))
    status = actions.add_parser("status", help="local changes, an unfinished update, newer tags")
    status.add_argument(
        "dirs", nargs="*", metavar="DIR", help="packages (default: all of the repository)"
    )
    status.add_argument("--fetch", action="store_true", help="ask upstream, too")
    _add_accept(status)
    diff = actions.add_parser("diff", help="the local changes as a patch")
    diff.add_argument("dir", nargs="?", metavar="DIR", help="the package (default: the only one)")
    listing = actions.add_parser("list", help="all packages of the repository")
    for each in (status, diff, listing):
        _add_json(each)


def _add_add(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="REPO", help="an https or ssh URL, or a repository on this machine")
    add("dir", metavar="DIR", help="a new or empty directory")
    add("--path", default="", metavar="P", help="the package's directory in the repository")
    add("--ref", default="", metavar="R", help="a tag, branch or commit (default: HEAD)")
    add("--adopt", action="store_true", help="DIR is a copy made by hand: write the record only")
    _add_accept(parser)
    _add_json(parser)


def _add_update(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("dir", nargs="?", metavar="DIR", help="the package (default: the only one)")
    add("--all", action="store_true", help="all packages of the repository")
    add("--ref", default="", metavar="R", help="a tag, branch or commit (default: as recorded)")
    add(
        "--path", default="", metavar="P", help="where upstream has the package by now, if it moved"
    )
    add(
        "--rules",
        choices=("git", "kyaml"),
        default="git",
        help="git: what both changed is a conflict; kyaml: upstream wins, and what is lost is told",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--dry-run", action="store_true", help="tell what would change, write nothing")
    how.add_argument("--continue", dest="go_on", action="store_true", help="conflicts are resolved")
    how.add_argument("--abort", action="store_true", help="put back what was there before")
    add("-q", "--quiet", action="store_true", help="no losses and notes on stderr")
    _add_accept(parser)
    _add_json(parser)


def _add_accept(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--accept-source", action="store_true", help="the record names another source than before"
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Run one action."""
    if args.action == "add":
        return _add(args)
    if args.action == "update":
        from kmerge_git.cli import vendor_update

        return vendor_update.finish(args) if args.go_on or args.abort else vendor_update.run(args)
    from kmerge_git.cli import vendor_status

    actions = {"status": vendor_status.status, "diff": vendor_status.diff}
    return actions.get(args.action, vendor_status.listing)(args)


def _add(args: argparse.Namespace) -> int:
    from kmerge_git.vendor.adding import add
    from kmerge_git.vendor.comparing import differences
    from kmerge_git.vendor.looking import both

    directory = os.path.normpath(args.dir)
    with waiting(f"fetching {args.source}"):
        added = add(
            args.source,
            directory,
            path=args.path,
            ref=args.ref,
            adopt=args.adopt,
            accept=args.accept_source,
        )
    record = added.vendored.record
    differing = differences(*both(added.vendored, fetch=False)) if args.adopt else []
    if args.json:
        found = {
            "schema": 1,
            **added.vendored.facts,
            "files": len(added.upstream),
            "changed": [change.path for change in differing],
            "left_out": list(added.left_out),
        }
        print(json.dumps(found, indent=2))
        return 0
    for left in added.left_out:
        say(f"not copied: {left}")
    what = "adopted as" if args.adopt else "added from"
    version = f"{record.ref} ({record.commit[:7]})"
    tell(f"{directory}: {what} {version}, {counted(len(added.upstream), 'file')}")
    if differing:
        files = "1 file differs" if len(differing) == 1 else f"{len(differing)} files differ"
        tell(f"{files}, and are local changes from now on")
    return 0
