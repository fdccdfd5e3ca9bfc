"""`kmerge diff`: what changed, by resource and field."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from kmerge_git.cli import in_and_out
from kmerge_git.cli.printing import Paint, add_color, counted, tell, tell_json
from kmerge_git.errors import UsageError

if TYPE_CHECKING:
    from kmerge_git.compare.folder_changes import ComparedFile
    from kmerge_git.whole.diff_sides import DiffWords, TwoSides

DESCRIPTION = """\
What changed, by resource and field: elements of lists paired by their keys, moved and renamed
resources named, texts line by line. The words are those of `git diff`; without any the work tree
is compared with the last commit.
"""
EPILOG = """\
examples:
  kmerge diff                         the work tree against the last commit
  kmerge diff --staged                what will be committed
  kmerge diff HEAD~3                  a commit against the work tree
  kmerge diff main topic              two commits; main..topic is the same
  kmerge diff main...topic -- apps/   what topic changed since it left main, below apps/
  kmerge diff old.yaml new.yaml       two files, or two folders
  kmerge diff HEAD:web.yaml -         a file of a commit and stdin

Untracked files are not shown. Files that are no YAML or JSON are counted by lines: `git diff`
shows them. Long values are cut; --full shows all of them, and new resources with their values.

exit code: 0 done; with --exit-code 1 if there are differences; 2 an error
"""
BEHIND_DASHES = "paths"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("words", nargs="*", metavar="A B", help="revisions, REV:PATH, files or folders")
    add("--staged", "--cached", action="store_true", help="the index against a commit")
    add("--stat", action="store_true", help="a line a file: how much changed")
    add("--full", action="store_true", help="cut nothing")
    add("--json", action="store_true", help="print all there is to know, as JSON")
    add("--exit-code", action="store_true", help="exit with 1 if there are differences")
    add("--external", action="store_true", help="as git calls `diff.kmerge.command`")
    add_color(parser, "colours on stdout (default: auto)")
    parser.set_defaults(paths=None)


def run(args: argparse.Namespace) -> int:
    """Compare and print."""
    if args.external:
        from kmerge_git.cli import diff_external

        return diff_external.run(args)
    from kmerge_git.cli.comparing import watched
    from kmerge_git.cli.haste import make_haste
    from kmerge_git.compare.folder_changes import compare_folders
    from kmerge_git.whole.diff_sides import of_git, understood

    make_haste()
    asked = understood(args.words, args.paths)
    if asked.things and args.staged:
        raise UsageError("--staged is about the index", hint="put `--` before paths")
    sides = _of_things(asked) if asked.things else of_git(asked, staged=args.staged)
    found = compare_folders(sides.old, sides.new, watched)
    if args.json:
        tell_json(_as_json(found, sides))
    else:
        _print(found, sides, args)
    return 1 if args.exit_code and (found or sides.unmerged) else 0


def _of_things(asked: DiffWords) -> TwoSides:
    from kmerge_git.whole.diff_sides import is_folder, of_things

    if asked.things.count("-") > 1:
        raise UsageError("only one of the two can be stdin")
    old, new = asked.things
    return of_things(old, new, {w: in_and_out.read(w) for w in asked.things if not is_folder(w)})


def _print(found: list[ComparedFile], sides: TwoSides, args: argparse.Namespace) -> None:
    from kmerge_git.compare.shown_changes import lines, summary

    paint = Paint(args.color, sys.stdout)
    if args.stat:
        for file in found:
            tell(summary(file))
        if found:
            tell(f"{counted(len(found), 'file')} changed")
    else:
        for text, colour in lines(found, full=args.full):
            print(paint.line((text, colour)))
    for path in sides.unmerged:
        tell(f"{path}: in conflict")


def _as_json(found: list[ComparedFile], sides: TwoSides) -> dict[str, object]:
    return {
        "command": "diff",
        "files": _in_words([file.as_json() for file in found]),
        "unmerged": list(sides.unmerged),
    }


def _in_words(value: object) -> object:
    """The same with words for the numbers that JSON has not."""
    if isinstance(value, dict):
        return {name: _in_words(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_in_words(item) for item in value]
    odd = {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}
    return odd.get(repr(value), value) if isinstance(value, float) else value
