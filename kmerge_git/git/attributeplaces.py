"""Which line of which attribute file says something of a path: git tells the value alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kmerge_git.errors import KmergeError
from kmerge_git.git.attributes import split_line
from kmerge_git.git.files import read_text
from kmerge_git.git.places import git_path, system_attribute_file, user_attribute_file
from kmerge_git.git.settings import matches


def place_of(top: Path, path: str, name: str, value: str) -> str:
    """`FILE:LINE` of the line that gives a path this value of an attribute.

    Nothing where that is not certain: macros, patterns with brackets, files that only the index
    has. `value` is what git says, in its words.
    """
    for file, inside in _files(top, path):
        text = _text(file)
        if name not in text:
            continue
        if "[attr]" in text:
            return ""
        for number, line in reversed(list(enumerate(text.split("\n"), 1))):
            pattern, words = split_line(line)
            found = _value(name, words)
            if found and "[" in pattern:
                return ""
            if found and matches(pattern, inside):
                return f"{_shown(file, top)}:{number}" if found == value else ""
    return ""


def _files(top: Path, path: str) -> Iterator[tuple[Path, str]]:
    """The files that may say something of a path, the strongest first, and its name for them."""
    yield git_path("info/attributes", top), path
    parts = path.split("/")
    for count in range(len(parts) - 1, -1, -1):
        yield Path(top, *parts[:count], ".gitattributes"), "/".join(parts[count:])
    yield user_attribute_file(top), path
    if not os.environ.get("GIT_ATTR_NOSYSTEM"):
        with suppress(KmergeError):  # git need not tell
            yield system_attribute_file(top), path


def _text(file: Path) -> str:
    if file.is_symlink():  # git does not follow one in a working tree
        return ""
    with suppress(KmergeError, OSError):
        return read_text(file)
    return ""


def _value(name: str, words: list[str]) -> str:
    """What a line says of an attribute, in git's words; the last of its words wins."""
    plain = {name: "set", f"-{name}": "unset", f"!{name}": "unspecified"}
    found = ""
    for word in words:
        key, equals, given = word.partition("=")
        found = given if equals and key == name else plain.get(word, found)
    return found


def _shown(file: Path, top: Path) -> str:
    """A file as people name it: from the top, or from their home."""
    for root, start in ((top, ""), (Path.home(), "~/")):
        with suppress(ValueError):
            return start + file.relative_to(root).as_posix()
    return str(file)
