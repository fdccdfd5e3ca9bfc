"""Attribute files as text: what they say about `merge`, and our fenced block of lines.

No line of anybody else is ever changed: in an attribute file the last line that matches has the
last word, so where the block stands decides who wins. At the top of the file it gives way to
every line of a person; behind a line it overrules that line, and taking it out restores it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from kmerge_git.errors import KmergeError
from kmerge_git.git.files import read_text

OPEN = "# >>> kmerge >>>"
CLOSE = "# <<< kmerge <<<"
ABOUT = "# written by `kmerge install`; `kmerge uninstall` takes it out again"
OURS = "kmerge"
# values of `merge` that stand for no driver of anybody's, in words
BUILT_IN = {
    "set": "git's text merge",
    "text": "git's text merge",
    "unset": "git's binary merge",
}
BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class AttributeLine:
    """A line of an attribute file that says something about `merge`, or about `diff`."""

    number: int  # 1-based line number
    text: str  # the line without its end
    pattern: str
    merge: str  # a driver's name; "set", "unset" or "unspecified" for merge, -merge, !merge
    fenced: bool  # inside our block


def read_attributes(path: Path) -> str:
    """An attribute file's text ('' if there is none), its block checked to be whole."""
    text = read_text(path)
    try:
        find_block(text)
    except KmergeError as error:
        error.path = str(path)
        raise
    return text


def merge_rules(text: str, attribute: str = "merge") -> list[AttributeLine]:
    """The lines that set `merge` (or `diff`), in the order of the file; a later one wins."""
    # what a word means: git's own ones, and the macros of the file
    values = {"binary": "unset", f"-{attribute}": "unset", f"!{attribute}": "unspecified"}
    start, stop = find_block(text)
    found = []
    for index, line in enumerate(_lines(text)):
        pattern, words = split_line(line)
        value = ""
        for word in words:  # the last of them wins
            name, _, given = word.partition("=")
            value = (given or "set") if name == attribute else values.get(word, value)
        if pattern.startswith("[attr]"):
            values |= {pattern.removeprefix("[attr]"): value} if value else {}
        elif pattern and value:
            fenced = start <= index < stop
            found.append(AttributeLine(index + 1, line.rstrip("\r\n"), pattern, value, fenced))
    return found


def split_line(line: str) -> tuple[str, list[str]]:
    """A line's pattern and its attributes; ('', []) for comments and blank lines."""
    line = line.removeprefix(BOM).strip(" \t\r\n")
    if not line or line.startswith("#"):
        return "", []
    if not line.startswith('"'):
        first, *words = line.split()
        return first, words
    end = 1
    while end < len(line) and line[end] != '"':
        end += 2 if line[end] == "\\" else 1
    pattern = line[1:end].replace('\\"', '"').replace("\\\\", "\\")
    return pattern, line[end + 1 :].split()


def quoted_pattern(pattern: str) -> str:
    """A pattern as an attribute file takes it: in quotes if it holds white space or quotes."""
    if pattern.startswith(("#", '"')) or any(c in pattern for c in " \t"):
        return '"' + pattern.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return pattern


def covers(pattern: str, ours: str) -> bool:
    """Whether `pattern` takes every file that `ours` takes, in every directory."""
    bare = pattern.removeprefix("**/")
    is_same = ours in (pattern, bare)
    return is_same or ("/" not in bare and fnmatchcase(example(ours), bare))


def overlaps(pattern: str, ours: str) -> bool:
    """Whether some file can match both patterns, judged by the last parts of their paths."""
    return fnmatchcase(example(ours), _last(pattern)) or fnmatchcase(example(pattern), _last(ours))


def example(pattern: str) -> str:
    """A file name that the last part of a pattern matches."""
    name = _last(pattern)
    while "[" in name and "]" in name[name.index("[") + 2 :]:
        start = name.index("[")
        stop = name.index("]", start + 2)
        name = name[:start] + name[start + 1 : stop].lstrip("!^")[0] + name[stop + 1 :]
    return name.replace("**", "*").replace("*", "kmerge").replace("?", "k")


def find_block(text: str) -> tuple[int, int]:
    """The block as a range of line indexes, its fences included; (0, 0) if there is none."""
    bare = [line.removeprefix(BOM).rstrip("\r\n") for line in _lines(text)]
    if OPEN not in bare:
        return 0, 0
    start = bare.index(OPEN)
    if bare.count(OPEN) > 1 or CLOSE not in bare[start:]:
        raise KmergeError(
            f"the block that starts here has no `{CLOSE}` of its own, or there are two of them",
            line=start + 1,
            hint="mend these lines by hand, then try again",
        )
    return start, bare.index(CLOSE, start) + 1


def with_block(text: str, rules: Iterable[str], *, after: int = 0) -> str:
    """The text with the block in it, behind the line with the number `after`.

    An older block is replaced; it stays where it is, unless `after` is behind it.
    """
    start, stop = find_block(text)
    lines = _lines(without_block(text))
    place = max(start, after - (stop - start) if after > start else 0)
    end = "\r\n" if "\r\n" in text else "\n"
    block = [line + end for line in (OPEN, ABOUT, *rules, CLOSE)]
    head = BOM if place == 0 and text.startswith(BOM) else ""
    if head and lines:
        lines[0] = lines[0].removeprefix(BOM)
    if 0 < place == len(lines) and not lines[-1].endswith("\n"):
        # the missing line end moves behind the block, so that `without_block` can put it back
        lines[-1] += end
        block[-1] = CLOSE
    return head + "".join(lines[:place] + block + lines[place:])


def without_block(text: str) -> str:
    """The text as it was before the block came, byte for byte."""
    start, stop = find_block(text)
    lines = _lines(text)
    if stop == 0:
        return text
    before = lines[:start]
    if before and stop == len(lines) and not lines[-1].endswith("\n"):
        before[-1] = before[-1].removesuffix("\n").removesuffix("\r")
    head = BOM if start == 0 and text.startswith(BOM) else ""
    return head + "".join(before + lines[stop:])


def _lines(text: str) -> list[str]:
    # not splitlines(): to git only \n ends a line
    *whole, rest = text.split("\n")
    return [line + "\n" for line in whole] + ([rest] if rest else [])


def _last(pattern: str) -> str:
    return pattern.rstrip("/").rpartition("/")[2] or "*"
