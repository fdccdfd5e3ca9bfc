"""The known word that a misspelt one is nearest to."""

from __future__ import annotations

from collections.abc import Iterable


def distance(one: str, other: str, limit: int) -> int:
    """How many characters to add, drop, change or swap; `limit + 1` where it is more."""
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return min(row[-1], limit + 1)


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is at most two steps away, one from a short word, case aside."""
    limit = 2 if len(word) >= 6 else 1
    best, found = limit + 1, ""
    for candidate in known:
        steps = distance(word.lower(), candidate.lower(), limit)
        if steps < best:
            best, found = steps, candidate
    return found


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message about a word that is not known; nothing where none is near."""
    guess = nearest(word, known)
    return f'; did you mean "{guess}"?' if guess else ""
