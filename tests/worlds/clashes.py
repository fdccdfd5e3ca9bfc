"""Every pair of short lists that two sides write in one place, of elements with lines in common.

What is wanted is told from the texts alone: a side taken is that side, both taken leave whole
elements, and what both have at the start or the end stands outside of the conflict.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

from depth import part
from worlds.lines import git_lines

from kmerge_git.api import merge_files

Word = tuple[str, ...]
Section = tuple[str, ...]
# the first line is another one's first, the last line another one's last
ELEMENTS = {"a": ("k: a", "v: 1"), "b": ("k: b", "v: 1"), "c": ("k: a",), "d": ("v: 1", "k: a")}
NAMED = {f"{name}{image}": (f"name: {name}", f"image: {image}") for name in "abc" for image in "xy"}
MOST = 3  # elements of a list


@dataclass(frozen=True)
class Clash:
    """A list, what is around it, and what its elements are."""

    before: str
    after: str
    elements: dict[str, tuple[str, ...]]

    def write(self, word: Word) -> bytes:
        """The file with these elements."""
        lines = [
            ("- " if not at else "  ") + line
            for each in word
            for at, line in enumerate(self.elements[each])
        ]
        head = self.before if lines else self.before.replace(":\n", ": []\n")
        return (head + "".join(f"{line}\n" for line in lines) + self.after).encode()

    def words(self) -> list[Word]:
        """The lists that are written, in which no name stands twice."""
        found = [word for size in range(MOST + 1) for word in permutations(self.elements, size)]
        if self.elements is ELEMENTS:
            return found
        return [word for word in found if len({each[0] for each in word}) == len(word)]


UNKEYED = Clash("rules:\n", "last: 1\n", ELEMENTS)
ARGUMENTS = Clash("first: 1\nargs:\n", "last: 1\n", {char: (char,) for char in "abcd"})
KEYED = Clash("initContainers:\n", "last: 1\n", NAMED)
CLASHES = {"unkeyed": UNKEYED, "scalars": ARGUMENTS, "keyed": KEYED}


# -- the merges

STYLES = ("merge", "zdiff3", "diff3")
SHARES = {"unkeyed": 1, "scalars": 8, "keyed": 16}  # each pair of sides, or one in so many
BASES: dict[str, Word] = {"unkeyed": (), "scalars": (), "keyed": ("ax",)}
Conflict = tuple[Word, Word, str, str]  # the sides, the text, and that with the sides swapped


@cache
def conflicts(name: str, style: str) -> list[Conflict]:
    """The conflicts of a world, or of the day's part; of the styles that say more, of fewer pairs."""
    clash = CLASHES[name]
    pairs = list(combinations(clash.words(), 2))[:: SHARES[name] * (1 if style == "merge" else 8)]
    found = []
    for ours, theirs in part(pairs):
        base, mine, yours = map(clash.write, (BASES[name], ours, theirs))
        outcome = merge_files(base, mine, yours, style=style, line_merge=git_lines)
        if not outcome.clean:
            assert outcome.method == "structure"
            mirror = merge_files(base, yours, mine, style=style, line_merge=git_lines)
            found.append((ours, theirs, outcome.text.decode(), mirror.text.decode()))
    return found


# -- what stands in conflicts


def sections(text: str) -> list[tuple[Section, Section]]:
    """The lines of ours and of theirs in every conflict; of the base's there is nothing told."""
    found: list[tuple[Section, Section]] = []
    inside: dict[str, list[str]] = {}
    at = ""
    for line in text.split("\n"):
        char = line[:1]
        if char and line[:7] == char * 7 and char in "<|=>":
            at = "" if char == ">" else char
            if char == "<":
                inside = {"<": [], "|": [], "=": []}
            elif char == ">":
                found.append((tuple(inside["<"]), tuple(inside["="])))
        elif at:
            inside[at].append(line)
    return found


def elements(lines: Section) -> list[Section]:
    """The elements of a section; nothing where it starts inside of one."""
    if not lines or not lines[0].startswith("-"):
        return []
    starts = [at for at, line in enumerate(lines) if line.startswith("-")]
    return [lines[a:b] for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]
