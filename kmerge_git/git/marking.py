"""One git command with the driver bound for this one call, registered or not.

The patterns stand where a user's own attributes are, the weakest place: whatever a repository says
about its files overrules them, and so does what the user's own file says, which stands behind them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kmerge_git.errors import KmergeError
from kmerge_git.git.call import ask_git, git
from kmerge_git.git.driverline import NAME, quoted
from kmerge_git.git.files import read_text
from kmerge_git.git.patterns import DEFAULTS, AttributeFile, select

# Git's own line merge, and always a conflict: the three versions stay in the index, and what is in
# the working tree has its markers even if nobody comes to finish it.
# An attribute could ask for markers of gigabytes.
_FILES = "git merge-file -q --marker-size=$((%L>200?200:%L))"
MARKING = f"{_FILES} -L ours -L base -L theirs %A %O %B; false"
# The same with a note of each file: attributes may have changed when the merge is over.
_NOTE = "printf '%%s %%s\\0' %L %P >>{log}; " + _FILES + " {labels} %A %O %B; false"
# Enough where nobody sees the text: ours stays as it is, a conflict all the same.
ONLY_MARK = "false"
DRAFT = "kmerge-attributes-"


@contextmanager
def marked(
    line: str, git_dir: Path | None = None, cwd: Path | None = None, *, own: Path | None = None
) -> Iterator[list[str]]:
    """The words to put right behind `git`: this driver for the usual files, in this call alone.

    `own`: the user's own attributes, where somebody knows that git's configuration names none.
    """
    folder = git_dir or Path(git("rev-parse", "--absolute-git-dir", cwd=cwd).rstrip("\r\n"))
    number, name = _draft(folder)
    try:
        text = _usual() + read_text(own or _own_attributes(cwd)).removeprefix("\ufeff")
        _write(number, name, text)
        yield [
            *("-c", f"merge.kmerge.name={NAME}"),
            *("-c", f"merge.kmerge.driver={line}"),
            *("-c", f"core.attributesFile={name}"),
        ]
    finally:
        Path(name).unlink(missing_ok=True)


def marking(log: Path, labels: tuple[str, str, str]) -> str:
    """The line that marks with the labels of base, ours and theirs, and notes every file."""
    base, ours, theirs = (quoted(label.replace("\n", " ")) for label in labels)
    return _NOTE.format(log=quoted(str(log)), labels=f"-L {ours} -L {base} -L {theirs}")


def _draft(folder: Path) -> tuple[int, str]:
    """A new file inside git's directory, or where temporary files are if that cannot be written."""
    try:
        return tempfile.mkstemp(prefix=f"{DRAFT}{os.getpid()}-", dir=folder.absolute())
    except OSError:
        return tempfile.mkstemp(prefix=DRAFT)


def _write(number: int, name: str, text: str) -> None:
    try:
        with open(number, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
    except OSError as error:  # the disk is full, and no name is in it
        raise KmergeError(error.strerror or str(error), path=name) from error


def _usual() -> str:
    """What `kmerge install` writes where nothing is registered yet."""
    return select(AttributeFile(Path(), ""), [], DEFAULTS)[0]


def _own_attributes(cwd: Path | None) -> Path:
    """The file of the user that ours takes the place of."""
    asked = ask_git("config", "--null", "--type=path", "--get", "core.attributesFile", cwd=cwd)
    if asked.code == 0:
        given = Path(asked.out.removesuffix("\0"))
        return given if given.is_absolute() else _top(cwd) / given
    return usual_attributes()


def usual_attributes() -> Path:
    """Where git looks for a user's attributes unless it is told a place."""
    root = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(root).expanduser() / "git" / "attributes"


def _top(cwd: Path | None) -> Path:
    """Where git stands when it opens files: at the top of the working tree, if there is one."""
    asked = ask_git("rev-parse", "--show-toplevel", cwd=cwd)
    return Path(asked.line) if asked.code == 0 and asked.line else (cwd or Path())
