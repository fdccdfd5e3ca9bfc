"""`kmerge diff --external`: one file, as git calls the command of `diff.kmerge`.

Git gives the path and for each version a file, an id and a mode; where nothing is, `/dev/null` and
dots. What goes to no person (`git diff > x.patch`, a pipe) is a patch, as it always was; so is a
file without fields. The exit code is 0: git takes any other for its own end.
"""

from __future__ import annotations

import argparse
import os
import stat
import sys

from kmerge_git.cli.comparing import watched
from kmerge_git.cli.printing import Paint, tell
from kmerge_git.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.compare.folder_changes import FileVersion

AS_TEXT = ("lines", "binary")
SIGNS = {"+": "green", "-": "red", "@": "blue", "d": "bold"}


def run(args: argparse.Namespace) -> int:
    """Show one file."""
    given = args.paths or []
    for_people = sys.stdout.isatty() or _has_pager()
    if len(given) == 1:  # nothing else is told of a file in conflict
        tell(f"{given[0]}: in conflict" if for_people else f"* Unmerged path {given[0]}")
        return 0
    if len(given) < 7:
        hint = "it is for `diff.kmerge.command`: see `kmerge install --diff`"
        raise UsageError("--external needs the seven words that git gives", hint=hint)
    path, old_file, _, old_mode, new_file, _, new_mode = given[:7]
    name = given[7] if len(given) > 7 else path
    old, new = _version(old_file, old_mode), _version(new_file, new_mode)
    is_painted = args.color == "auto" and _has_pager() and not os.environ.get("NO_COLOR")
    paint = Paint("always" if is_painted else args.color, sys.stdout)
    found = watched(name, old, new, path if name != path else "") if for_people else None
    if found and found.is_manifest and all(c.how not in AS_TEXT for c in found.changes):
        from kmerge_git.compare.shown_changes import file_lines

        for text, colour in file_lines(found, full=args.full):
            print(paint.line((text, colour)))
    else:
        _print_patch((path, name), (old, new), paint)
    return 0


def _has_pager() -> bool:
    """Whether git shows this in its pager, which has colours where the terminal has."""
    if os.environ.get("GIT_PAGER_IN_USE", "") in ("", "0", "false"):
        return False
    return not stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)  # a file that an alias writes


def _version(file: str, mode: str) -> FileVersion | None:
    from kmerge_git.compare.folder_changes import LINK, FileVersion
    from kmerge_git.whole.diff_sides import read_file

    if mode == "." or file == os.devnull:
        return None
    found = read_file(file)
    # git writes what a link leads to into a file of its own
    return found if found.mode == LINK else FileVersion(found.data, int(mode, 8))


def _print_patch(
    names: tuple[str, str],
    versions: tuple[FileVersion | None, FileVersion | None],
    paint: Paint,
) -> None:
    """A patch as git writes it, which `git apply` takes."""
    from kmerge_git.text.git_patch import file_patch

    old, new = (version.data if version else None for version in versions)
    before, after = (b"%06o" % version.mode if version else b"" for version in versions)
    patch = b"".join(file_patch(names, (old, new), (before, after)))
    if not (paint.is_on or sys.stdout.isatty()):
        sys.stdout.flush()
        sys.stdout.buffer.write(patch)
        sys.stdout.buffer.flush()
        return
    for line in patch.decode("utf-8", "surrogateescape").split("\n")[:-1]:
        print(paint.line((line, SIGNS.get(line[:1], ""))))
