"""Which line of which attribute file says something of a path: git tells the value alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from kmerge_git.errors import KmergeError
from kmerge_git.git.attributes import split_line
from kmerge_git.git.call import ask_git
from kmerge_git.git.files import read_text
from kmerge_git.git.places import git_path, system_attribute_file, user_attribute_file
from kmerge_git.git.settings import matches


class AttributePlaces:
    """The attribute files around the files of a working tree, each read once."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self._lines: dict[Path, list[str]] = {}

    def place_of(self, path: str, name: str, value: str) -> str:
        """`FILE:LINE` of the line that gives a path this value of an attribute.

        Nothing where that is not certain: macros, patterns with brackets or backslashes, files
        that only the index has. `value` is what git says, in its words.
        """
        files = list(self._files(path))
        if any(self._has_macro(file, name) for file, _ in files):
            return ""
        for file, inside in files:
            lines = self._lines_of(file)
            for number in range(len(lines), 0, -1):
                line = lines[number - 1]
                if name not in line:
                    continue
                pattern, words = split_line(line)
                found = _value(name, words)
                if found and ("[" in pattern or "\\" in pattern):
                    return ""
                if found and matches(pattern, inside):
                    return f"{_shown(file, self.top)}:{number}" if found == value else ""
        return ""

    def _has_macro(self, file: Path, name: str) -> bool:
        """Whether a macro says something of an attribute: any line that names it may, then."""
        lines = self._lines_of(file)
        return any(name in line and line.lstrip().startswith("[attr]") for line in lines)

    def _files(self, path: str) -> Iterator[tuple[Path, str]]:
        """The files that may say something of a path, the strongest first; its name for them."""
        yield self._info, path
        parts = path.split("/")
        for count in range(len(parts) - 1, -1, -1):
            yield Path(self.top, *parts[:count], ".gitattributes"), "/".join(parts[count:])
        yield self._user, path
        if self._system is not None:
            yield self._system, path

    @cached_property
    def _info(self) -> Path:
        return git_path("info/attributes", self.top)

    @cached_property
    def _user(self) -> Path:
        asked = ("config", "--type=path", "--get", "core.attributesFile")
        said = ask_git(*asked, cwd=self.top)  # of any scope: git takes it from each
        if said.code == 0 and said.line:
            return self.top / said.line
        return user_attribute_file(self.top)

    @cached_property
    def _system(self) -> Path | None:
        if not os.environ.get("GIT_ATTR_NOSYSTEM"):
            with suppress(KmergeError):  # git need not tell
                return system_attribute_file(self.top)
        return None

    def _lines_of(self, file: Path) -> list[str]:
        if file not in self._lines:
            self._lines[file] = _read(file).split("\n")
        return self._lines[file]


def _read(file: Path) -> str:
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
