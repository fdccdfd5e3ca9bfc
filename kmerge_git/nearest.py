"""Guess which known name is meant by a misspelt word, with one of two measures.

On a command line people shorten a name or type another form of the name, so `nearest` compares
whole words. A key of a manifest is usually wrong by a letter or two, and a bad guess would change
the file, so `misspelt` counts letters.
"""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 2_000  # names that are compared
_LONGEST = 200  # characters
_ALIKE = 0.7


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known name that is most like a word, or ''; ignore case and leading dashes."""
    wanted = _bare(word)
    if not 1 < len(wanted) <= _LONGEST:
        return ""
    names: dict[str, str] = {}
    for name in known:
        if len(names) < _MOST and len(name) <= _LONGEST:
            names.setdefault(_bare(name), name)
    if wanted in names:
        return names[wanted]
    begun = [name for name in names if name.startswith(wanted)]
    if len(begun) == 1:
        return names[begun[0]]
    from difflib import get_close_matches

    alike = get_close_matches(wanted, names, 1, _ALIKE)
    return names[alike[0]] if alike else ""


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the hint `otherwise`, and put `did you mean NAME?` first if a known name is near."""
    name = nearest(word, known)
    return f"did you mean `{name}`? {otherwise}".rstrip() if name else otherwise


def _bare(name: str) -> str:
    return name.lstrip("-").lower()


def misspelt(word: str, known: Iterable[str]) -> str:
    """Return the known word that is nearest to a word, or '' if no known word is near.

    In a near word two letters at most differ, or one letter if the word is short. Case is ignored.
    """
    limit = 2 if len(word) >= 6 else 1
    best, meant = limit + 1, ""
    for candidate in known:
        steps = distance(word.lower(), candidate.lower(), limit)
        if steps < best:
            best, meant = steps, candidate
    return meant


def spelling_hint(word: str, known: Iterable[str]) -> str:
    """Return the end of a message, `; did you mean "NAME"?`, or '' if no known word is near."""
    meant = misspelt(word, known)
    return f'; did you mean "{meant}"?' if meant else ""


def distance(one: str, other: str, limit: int) -> int:
    """Count the edits of letters that turn one word into the other; return `limit + 1` at most."""
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
