"""The name that somebody may have meant who typed another one."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 2_000  # names that are looked at
_LONGEST = 200  # characters
_ALIKE = 0.7


def nearest(word: str, known: Iterable[str]) -> str:
    """The known name that is most like a word, or nothing; leading dashes and case do not count."""
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
    from difflib import get_close_matches  # only who made a slip waits for it

    found = get_close_matches(wanted, names, 1, _ALIKE)
    return names[found[0]] if found else ""


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """`did you mean `NAME`? OTHERWISE`, for a hint; OTHERWISE alone if no name is near."""
    name = nearest(word, known)
    if not name:
        return otherwise
    return f"did you mean `{name}`?" + (f" {otherwise}" if otherwise else "")


def _bare(name: str) -> str:
    return name.lstrip("-").lower()
