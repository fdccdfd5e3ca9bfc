"""What texts begin and end with alike: characters are compared in no time, lines are not."""

from __future__ import annotations


def head(a: str, b: str) -> int:
    """The length of the common beginning, by halves: comparing is fast, indexing is not."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a.startswith(b[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def tail(a: str, b: str, most: int) -> int:
    """The length of the common end, up to a number of characters."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if a.endswith(b[len(b) - middle : len(b) - low], 0, len(a) - low):
            low = middle
        else:
            high = middle - 1
    return low


def uncommon(base: str, *sides: str) -> tuple[int, int]:
    """How many characters all begin with, and end with: whole lines, that do not overlap."""
    heads = [head(base, side) for side in sides]
    start = base.rfind("\n", 0, min(heads)) + 1
    stop = min(
        tail(base, side, min(len(base), len(side)) - same)
        for side, same in zip(sides, heads, strict=True)
    )
    line_end = base.find("\n", len(base) - stop)
    return start, len(base) - line_end - 1 if line_end >= 0 else 0


def lines_between(text: str, start: int, behind: int) -> list[str]:
    """The lines that stand neither among the first nor among the last characters."""
    inside = text[start : len(text) - behind]
    if not behind:
        return inside.split("\n")
    return inside[:-1].split("\n") if inside else []
