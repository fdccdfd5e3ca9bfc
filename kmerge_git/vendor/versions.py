"""Tags as versions: which of them are newer than one that is in use."""

from __future__ import annotations

import re
from dataclasses import dataclass

_VERSION = re.compile(
    r"(.*?)(\d{1,18}(?:\.\d{1,18})*)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?", re.S
)
Parts = tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class TagVersion:
    """A tag in its parts: `chart-` `1.2.0` `rc.1`."""

    prefix: str
    numbers: tuple[int, ...]
    pre: str

    @property
    def rank(self) -> tuple[tuple[int, ...], bool, Parts]:
        """What versions are compared by: a pre-release comes before its release."""
        numbers = self.numbers
        while numbers and numbers[-1] == 0:
            numbers = numbers[:-1]
        parts = [
            (0, int(p), "") if p.isdecimal() and len(p) < 19 else (1, 0, p)
            for p in self.pre.split(".")
        ]
        return numbers, not self.pre, tuple(parts)


def version(tag: str) -> TagVersion | None:
    """The version that a tag names, if it names one."""
    found = _VERSION.fullmatch(tag)
    if found is None or not tag.isascii() or (found[1] and found[1][-1] == "."):
        return None
    return TagVersion(found[1], tuple(map(int, found[2].split("."))), found[3] or "")


def newer(tag: str, tags: list[str]) -> list[str]:
    """The tags above this one, the newest first; pre-releases only for who is on one."""
    mine = version(tag)
    if mine is None:
        return []
    found = [
        (yours.rank, other)
        for other in tags
        if (yours := version(other)) and yours.prefix == mine.prefix
        if yours.rank > mine.rank and (mine.pre or not yours.pre)
    ]
    return [other for _, other in sorted(found, reverse=True)]
