"""Find and write conflict markers, and resolve the conflicts of a text to one of its sides.

A marker is a whole line that starts at column 0 with several `<`, `|`, `=` or `>`. A space and a
label may follow these characters, but nothing may follow the `=` characters.
"""

from __future__ import annotations

from kmerge_git.visible import label as one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kmerge_git.outcome import Labels

SIZE = 7
# Jujutsu makes its markers longer by the same number, which is enough to see the difference.
_LONGER = 4


def first_marker(text: str, size: int = SIZE) -> int:
    """Return the offset of the first marker of at least this size, or -1.

    A line that consists only of `=` does not count as a marker, because many texts underline
    headings in this way.
    """
    offsets = [at for at in (_first(text, char, size) for char in "<|>") if at >= 0]
    return min(offsets, default=-1)


def has_new_marker(text: str, versions: Iterable[str], size: int = SIZE) -> bool:
    """Return whether a text has a line that looks like a marker, and that no version has.

    `size` is the size of the markers; git's own markers are looked for as well.
    """
    size = min(size, SIZE)
    found = set(_marker_lines(text, size))
    return bool(found) and not found.issubset(
        line for version in versions for line in _marker_lines(version, size)
    )


def has_torn_markers(text: str, versions: Iterable[str], size: int = SIZE) -> bool:
    """Return whether a text has markers, but not exactly the markers of one of the versions.

    `=` characters alone are also the line below a heading. They count if a version has markers.
    """
    size = min(size, SIZE)
    known = [*versions]
    found = _all_markers(text, size)
    is_marked = any(first_marker(one, size) >= 0 for one in (text, *known))
    return is_marked and bool(found) and all(found != _all_markers(one, size) for one in known)


def has_new_conflict(text: str, versions: Iterable[str], size: int = SIZE) -> bool:
    """Return whether a text has a conflict, from `<<<<<<<` to `>>>>>>>`, that is in no version.

    Git's own markers may read like markers that a version has.
    """
    known, at = [*versions], 0
    while (start := _first(text, "<", min(size, SIZE), at)) >= 0:
        end = _first(text, ">", min(size, SIZE), start)
        at = _next_line(text, end if end >= 0 else start)
        if end >= 0 and not any(text[start:at] in version for version in known):
            return True
    return False


def _all_markers(text: str, size: int) -> list[str]:
    """Return the markers and the lines of `=` in the order of the text."""
    found = sorted(at for char in "<|=>" for at in _offsets(text, char, size))
    return [_line(text, at) for at in found]


def _marker_lines(text: str, size: int) -> Iterator[str]:
    for char in "<|>":
        for at in _offsets(text, char, size):
            yield _line(text, at)


def _offsets(text: str, char: str, size: int) -> Iterator[int]:
    at = _first(text, char, size)
    while at >= 0:
        yield at
        at = _first(text, char, size, at + 1)


def _line(text: str, at: int) -> str:
    return text[at : _next_line(text, at)].rstrip("\r\n")


def marker_size_for(texts: Iterable[str], size: int = SIZE) -> int:
    """Return a marker size that is greater than the size of any possible marker in these texts.

    If no line looks like a marker, return `size`.
    """
    longest = 0
    for text in texts:
        for char in "<|=>":
            longest = max([longest, *(_run(text, at) for at in _offsets(text, char, size))])
    return longest + _LONGER if longest else size


def conflict(
    ours: str,
    base: str | None,
    theirs: str,
    labels: Labels = ("", "", ""),
    size: int = SIZE,
) -> str:
    """Return the lines of a conflict; `labels` are the labels of ours, base and theirs.

    If the text of a side has no line end, add a line end. If `base` is None, the conflict has no
    section for the base.
    """
    out = [_marker("<", size, labels[0]), _whole(ours)]
    if base is not None:
        out += [_marker("|", size, labels[1]), _whole(base)]
    out += ["=" * size + "\n", _whole(theirs), _marker(">", size, labels[2])]
    return "".join(out)


def resolve(text: str, side: str, size: int = SIZE) -> str:
    """Return the text with every conflict resolved to 'ours', 'base' or 'theirs'.

    This function is the inverse of `conflict`. The result is exact if all markers have exactly this
    size, and if no other line looks like a marker (see `marker_size_for`). Lines outside of
    conflicts stay as they are. If a conflict has no section for the base, resolving it to 'base'
    leaves no lines.
    """
    number = {"base": 0, "ours": 1, "theirs": 2}[side]
    parts = sections(text, size)
    return "".join(part if isinstance(part, str) else part[number] for part in parts)


def sections(text: str, size: int = SIZE) -> list[str | tuple[str, str, str]]:
    """Split the text into the parts outside of conflicts and the three versions of each conflict.

    The versions of a conflict are a tuple of base, ours and theirs.
    """
    parts: list[str | tuple[str, str, str]] = []
    at = 0
    while True:
        start = _exact(text, "<", size, at)
        middle = _exact(text, "=", size, start) if start >= 0 else -1
        end = _exact(text, ">", size, middle) if middle >= 0 else -1
        if end < 0:
            return [*parts, text[at:]]
        bar = _exact(text, "|", size, start)
        if not start < bar < middle:
            bar = middle
        base = text[_next_line(text, bar) : middle] if bar < middle else ""
        ours = text[_next_line(text, start) : bar]
        parts += [text[at:start], (base, ours, text[_next_line(text, middle) : end])]
        at = _next_line(text, end)


def _first(text: str, char: str, size: int, start: int = 0) -> int:
    """Return the offset of the next line that is a marker of at least this size, or -1."""
    run = char * size
    is_first = text.startswith(run, start) and (not start or text[start - 1] == "\n")
    at = start if is_first else text.find("\n" + run, start) + 1 or -1
    while at >= 0:
        behind = at + _run(text, at)
        ends = ("", "\n") if char == "=" else ("", " ", "\t", "\r", "\n")
        if text[behind : behind + 1] in ends or text[behind : behind + 2] == "\r\n":
            return at
        at = text.find("\n" + run, at) + 1 or -1
    return -1


def _exact(text: str, char: str, size: int, start: int) -> int:
    """Return the offset of the next line that is a marker of exactly this size, or -1."""
    at = _first(text, char, size, start)
    while at >= 0 and _run(text, at) != size:
        at = _first(text, char, size, at + 1)
    return at


def _run(text: str, at: int) -> int:
    """Return the number of equal characters in a row that start at `at`."""
    behind = at + 1
    while text.startswith(text[at], behind):
        behind += 1
    return behind - at


def _next_line(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _marker(char: str, size: int, label: str) -> str:
    shown = one_line(label)
    return char * size + (f" {shown}" if shown else "") + "\n"


def _whole(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
