"""`kmerge vendor`: copy packages from upstream repositories and record their origin."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from kmerge_git.cli.in_and_out import say, show, waiting
from kmerge_git.report.results import CommandResult
from kmerge_git.visible import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.report.results import Line
    from kmerge_git.vendored.package_status import FileDifference
    from kmerge_git.vendored.package_updating import Added

DESCRIPTION = """\
Copy a package of manifests from a git repository, change your copy, and later merge upstream's new
version into it. DIR/.kmerge-vendor records the origin of the copy; a Kptfile with `upstream` and
`upstreamLock` is accepted as well.
"""
EPILOG = """\
examples:
  kmerge vendor add https://github.com/example/shop vendor/shop --path deploy --ref v1.0.0
  kmerge vendor status --fetch              local changes, and newer versions upstream
  kmerge vendor update vendor/shop --ref v1.1.0
  kmerge vendor update vendor/shop --continue       after you have resolved the conflicts
  kmerge vendor diff vendor/shop            the local changes as a patch
  kmerge vendor add ../shop vendor/shop --path deploy --ref v1.0.0 --adopt    a copy made by hand

The source is an https, ssh or local repository. Submodules and filters are not supported. kmerge
never runs a package's files and never reads them as configuration. It keeps fetched files in a
cache below $XDG_CACHE_HOME or ~/.cache. `kmerge vendor ACTION --help` explains each action;
docs/vendoring.md explains everything and compares `kmerge vendor` with kpt.

exit code: 0 done; 1 unresolved conflicts (update), a newer version or an unfinished update
(status), local changes (diff); 2 an error
"""
_ADD = """\
Copy the directory P of the commit R of REPO to DIR, and write DIR/.kmerge-vendor. kmerge does not
commit the files. From a local repository kmerge copies a commit, not the working tree.

examples:
  kmerge vendor add https://github.com/example/shop vendor/shop --path deploy --ref v1.0.0
  kmerge vendor add git@example.com:team/shop.git vendor/shop     all files of HEAD
  kmerge vendor add ../shop vendor/shop --path deploy --ref v1.0.0 --adopt

exit code: 0 done, 2 an error: nothing is written
"""
_UPDATE = """\
Merge the changes between the recorded commit and the commit R into the files of DIR, whether these
are committed or not.
kmerge writes conflicts into the files and into git's index, as `git merge` does, so that you can
run `kmerge resolve`. The record changes only with --continue; --abort restores the old files. To
undo a finished update, use git.

examples:
  kmerge vendor update vendor/shop --ref v1.1.0 --dry-run     only list the changes
  kmerge vendor update vendor/shop --ref v1.1.0
  kmerge vendor update vendor/shop --continue
  kmerge vendor update --all                  all packages, each with its recorded ref

exit code: 0 done or nothing to do, 1 unresolved conflicts (with --dry-run: expected conflicts),
2 an error; with --all, the highest code of all packages
"""
_STATUS = """\
List the local changes since the recorded commit, by resource and field, and unfinished updates.
With --fetch also list newer tags and the current commit of a recorded branch.

examples:
  kmerge vendor status
  kmerge vendor status vendor/shop --fetch

exit code: 0 up to date, with or without local changes; 1 upstream has a newer version or an update
is unfinished; 2 an error
"""
_DIFF = """\
Print the local changes as a patch, with the paths that upstream uses.

example:
  kmerge vendor diff vendor/shop > mine.patch     apply it with `git apply` in upstream's directory

exit code: 0 no local changes, 1 local changes, 2 an error
"""
_LIST = """\
Print the directory, ref, commit, path and source of every package, without looking for changes.

exit code: 0 done, 2 a record cannot be read
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of all actions."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_add(_action(actions, "add", "copy a package and record its origin", _ADD))
    _add_update(_action(actions, "update", "merge upstream's new version into a package", _UPDATE))
    status = _action(
        actions, "status", "list local changes, unfinished updates, newer tags", _STATUS
    )
    status.add_argument(
        "dirs", nargs="*", metavar="DIR", help="packages (default: all of the repository)"
    )
    status.add_argument(
        "--fetch", action="store_true", help="fetch from upstream to find newer versions"
    )
    _add_accept(status)
    diff = _action(actions, "diff", "print the local changes as a patch", _DIFF)
    diff.add_argument("dir", nargs="?", metavar="DIR", help="the package (default: the only one)")
    listing = _action(actions, "list", "list all packages of the repository", _LIST)
    for each in (status, diff, listing):
        _add_json(each)


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str, text: str
) -> argparse.ArgumentParser:
    """Return the parser of an action; its help keeps the line breaks of `text`."""
    about, _, examples = text.partition("\n\n")
    raw = argparse.RawDescriptionHelpFormatter
    return actions.add_parser(
        name, help=summary, description=about, epilog=examples, formatter_class=raw
    )


def _add_add(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="REPO", help="an https or ssh URL, or a local repository")
    add("dir", metavar="DIR", help="a new or empty directory")
    text = "the directory of the package in its repository (default: the top)"
    add("--path", default="", metavar="P", help=text)
    add("--ref", default="", metavar="R", help="tag, branch or full commit id (default: HEAD)")
    add("--adopt", action="store_true", help="write only the record, for a copy made by hand")
    _add_accept(parser)
    _add_json(parser)


def _add_update(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("dir", nargs="?", metavar="DIR", help="the package (default: the only one)")
    add("--all", action="store_true", help="all packages of the repository")
    add(
        "--ref",
        default="",
        metavar="R",
        help="tag, branch or commit id (default: the recorded ref)",
    )
    add("--path", default="", metavar="P", help="the package's new directory upstream, if it moved")
    add(
        "--rules",
        choices=("git", "kyaml"),
        default="git",
        help="git: a field that both sides changed is a conflict; "
        "kyaml: upstream wins, and lost local changes are listed",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "-n", "--dry-run", action="store_true", help="list the changes, but write nothing"
    )
    how.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="finish the update after you resolved its conflicts",
    )
    how.add_argument(
        "--abort", action="store_true", help="cancel the update and restore the old files"
    )
    add("-q", "--quiet", action="store_true", help="print no notes and no lost changes")
    _add_accept(parser)
    _add_json(parser)


def _add_accept(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--accept-source", action="store_true", help="accept a record with a changed source"
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Run the action that was given on the command line."""
    if args.action == "add":
        return _add(args)
    if args.action == "update":
        from kmerge_git.cli.vendor_actions import finish, update_packages

        return finish(args) if args.go_on or args.abort else update_packages(args)
    from kmerge_git.cli.vendor_actions import ACTIONS

    return ACTIONS[args.action](args)


def _add(args: argparse.Namespace) -> int:
    from kmerge_git.cli.vendor_actions import odd_names
    from kmerge_git.vendored.package_status import both, differences
    from kmerge_git.vendored.package_updating import add

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
    differing = differences(*both(added.vendored, fetch=False)) if args.adopt else []
    for name in odd_names(directory, added.upstream):
        say(name)
    if not args.json:
        for left in added.left_out:
            say(f"not copied: {left}")
    result = CommandResult(
        lambda: {
            **added.vendored.facts,
            "files": len(added.upstream),
            "changed": [change.path for change in differing],
            "left_out": list(added.left_out),
        },
        lambda: _lines(added, differing, is_adopted=args.adopt),
    )
    show(result, as_json=args.json)
    return 0


def _lines(added: Added, differing: list[FileDifference], *, is_adopted: bool) -> Iterator[Line]:
    record = added.vendored.record
    how = "adopted as" if is_adopted else "added from"
    files = counted(len(added.upstream), "file")
    yield f"{added.vendored.directory}: {how} {record.ref} ({record.commit[:7]}), {files}"
    if differing:
        differ = "1 file differs" if len(differing) == 1 else f"{len(differing)} files differ"
        yield f"{differ} from upstream; kmerge treats the differences as local changes"
