"""`kmerge diff`: show changes by resource and field."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial

from kmerge_git.cli import in_and_out
from kmerge_git.cli.in_and_out import Paint, add_color, show, show_lines, tell, warn
from kmerge_git.cli.main import make_haste
from kmerge_git.errors import TimeUp, UsageError
from kmerge_git.report.results import CommandResult
from kmerge_git.time_limit import within
from kmerge_git.visible import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.compare.folder_changes import ComparedFile, FileVersion
    from kmerge_git.report.results import Line
    from kmerge_git.whole.diff_sides import TwoSides

DESCRIPTION = """\
Show changes by resource and field. List elements are paired by their keys, moved and renamed
resources are listed as such, and texts are compared line by line. The arguments are those of
`git diff`. Without arguments the working tree is compared with the last commit.
"""
EPILOG = """\
examples:
  kmerge diff                         the last commit and the working tree
  kmerge diff --staged                the last commit and the index
  kmerge diff HEAD~3                  another commit and the working tree
  kmerge diff main topic              two commits; main..topic is the same
  kmerge diff main...topic -- apps/   the changes of topic since it left main, only in apps/
  kmerge diff old.yaml new.yaml       two files, or two directories
  kmerge diff HEAD:web.yaml -         a file of a commit and stdin

Untracked files are not shown. For files that are not YAML or JSON, only the number of changed lines
is shown; `git diff` shows the lines. Long values are shortened; --full prints them in full, and new
resources with all values.

exit code: 0 done; with --exit-code 1 if there are differences; 2 an error
"""
BEHIND_DASHES = "paths"
_COLOURS = {"+": "green", "-": "red", "@": "blue", "d": "bold"}  # the colours of a patch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of the command."""
    add = parser.add_argument
    add("words", nargs="*", metavar="A B", help="revisions, REV:PATH, files or directories")
    add("--staged", "--cached", action="store_true", help="compare a commit with the index")
    add("--stat", action="store_true", help="print one line per file with the number of changes")
    add("--full", action="store_true", help="do not shorten values")
    add("--json", action="store_true", help="print all differences as JSON")
    add("--exit-code", action="store_true", help="exit with 1 if there are differences")
    add(
        "--external",
        action="store_true",
        help="take the arguments that git passes to `diff.kmerge.command`",
    )
    add_color(parser, "colour the output (default: auto)")
    parser.set_defaults(paths=None)


def run(args: argparse.Namespace) -> int:
    """Compare two versions and print the differences."""
    if args.external:
        return _external(args)
    make_haste()
    from kmerge_git.compare.folder_changes import compare_folders
    from kmerge_git.whole.diff_sides import is_folder, of_git, of_things, understood

    asked = understood(args.words, args.paths)
    if asked.things and args.staged:
        raise UsageError("--staged compares the index, not files", hint="put `--` before paths")
    if asked.things.count("-") > 1:
        raise UsageError("only one of the two files can be stdin")
    if asked.things:
        old, new = asked.things
        texts = {name: in_and_out.read(name) for name in asked.things if not is_folder(name)}
        sides = of_things(old, new, texts)
    else:
        sides = of_git(asked, staged=args.staged)
    files = compare_folders(sides.old, sides.new, _compared)
    result = CommandResult(partial(_fields, files, sides), partial(_lines, files, sides, args))
    show(result, as_json=args.json, color=args.color)
    return int(args.exit_code and bool(files or sides.unmerged))


def _compared(
    path: str, old: FileVersion | None, new: FileVersion | None, source: str = ""
) -> ComparedFile:
    """Compare two versions of a file; compare by lines if the time limit is reached."""
    from kmerge_git.compare.folder_changes import compared

    try:
        with within(path):
            return compared(path, old, new, source)
    except TimeUp as up:
        warn(f"{up}; only lines are compared")
        return compared(path, old, new, source, by_fields=False)


def _lines(files: list[ComparedFile], sides: TwoSides, args: argparse.Namespace) -> Iterator[Line]:
    from kmerge_git.compare.shown_changes import lines, summary

    if not args.stat:
        yield from _coloured(lines(files, full=args.full))
    elif files:
        yield from map(summary, files)
        yield f"{counted(len(files), 'file')} changed"
    for path in sides.unmerged:
        yield f"{path}: in conflict"


def _coloured(lines: Iterable[tuple[str, str]]) -> Iterator[Line]:
    """Yield each pair of text and colour as a line."""
    return ((line,) for line in lines)


def _fields(files: list[ComparedFile], sides: TwoSides) -> dict[str, object]:
    return {
        "command": "diff",
        "files": _without_odd_numbers([file.as_json() for file in files]),
        "unmerged": list(sides.unmerged),
    }


def _without_odd_numbers(value: object) -> object:
    """Return a value with a text such as `.nan` for each number that JSON cannot hold."""
    if isinstance(value, dict):
        return {name: _without_odd_numbers(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_odd_numbers(item) for item in value]
    odd = {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}
    return odd.get(repr(value), value) if isinstance(value, float) else value


# -- the command of `diff.kmerge` ----------------------------------------------------------------


def _external(args: argparse.Namespace) -> int:
    """Show one file when git runs `diff.kmerge.command`; return 0, because git stops otherwise.

    Git passes the path, and for each version a file, an id and a mode; a missing version is
    `/dev/null` with dots. A file without fields is shown as a patch. Every file is shown so if the
    output is not for a person (`git diff > x.patch`, a pipe).
    """
    given = args.paths or []
    has_pager = _has_pager()
    for_people = sys.stdout.isatty() or has_pager
    if len(given) == 1:  # git passes only the path of a file in conflict
        tell(f"{given[0]}: in conflict" if for_people else f"* Unmerged path {given[0]}")
        return 0
    if len(given) < 7:
        hint = "only git uses this option; see `kmerge install --diff`"
        raise UsageError("--external needs the seven arguments that git passes", hint=hint)
    path, old_file, _, old_mode, new_file, _, new_mode = given[:7]
    name = given[7] if len(given) > 7 else path
    old, new = _version(old_file, old_mode), _version(new_file, new_mode)
    if args.color == "auto" and has_pager and not os.environ.get("NO_COLOR"):
        args.color = "always"
    file = _compared(name, old, new, path if name != path else "") if for_people else None
    if file and file.is_manifest and all(c.how not in ("lines", "binary") for c in file.changes):
        from kmerge_git.compare.shown_changes import file_lines

        show_lines(_coloured(file_lines(file, full=args.full)), args.color)
    else:
        _print_patch((path, name), (old, new), args.color)
    return 0


def _has_pager() -> bool:
    """Return whether git shows the output in its pager."""
    from stat import S_ISREG

    if os.environ.get("GIT_PAGER_IN_USE", "") in ("", "0", "false"):
        return False
    return not S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)  # a git alias may write a file


def _version(file: str, mode: str) -> FileVersion | None:
    from kmerge_git.compare.folder_changes import LINK, FileVersion
    from kmerge_git.whole.diff_sides import read_file

    if mode == "." or file == os.devnull:
        return None
    version = read_file(file)
    # for a link git writes the target of the link into a temporary file
    return version if version.mode == LINK else FileVersion(version.data, int(mode, 8))


def _print_patch(
    names: tuple[str, str], versions: tuple[FileVersion | None, FileVersion | None], color: str
) -> None:
    """Print a patch in git's format, for `git apply`."""
    from kmerge_git.text.git_patch import file_patch

    old, new = (version.data if version else None for version in versions)
    before, after = (b"%06o" % version.mode if version else b"" for version in versions)
    patch = b"".join(file_patch(names, (old, new), (before, after)))
    if Paint(color, sys.stdout).is_on or sys.stdout.isatty():
        lines = patch.decode("utf-8", "surrogateescape").split("\n")[:-1]
        show_lines(_coloured((line, _COLOURS.get(line[:1], "")) for line in lines), color)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(patch)
    sys.stdout.buffer.flush()
