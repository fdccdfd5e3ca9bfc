"""Whether a conflicted file still is what a merge left behind, or holds somebody's work."""

from __future__ import annotations

from collections.abc import Iterable

from kmerge_git.git.inmemory import Libgit2LineMerge
from kmerge_git.merge.three import Three
from kmerge_git.text.markers import resolve


def is_left_by_a_merge(
    found: bytes | None,
    three: Three[bytes | None],
    merged: Iterable[bytes | None],
    lines: Libgit2LineMerge,
    size: int = 7,
) -> bool:
    """Whether overwriting loses nothing: a missing file, one side, or a merge with its markers.

    Labels and conflict styles differ, so both readings of the markers are compared: with git's
    merge, and with those that kmerge made or may have made.
    """
    if found is None:
        return True
    plain = _plain(found)
    if plain in {_plain(side) for side in three.each() if side}:
        return True
    pair = _readings(plain, size)
    if any(pair == _readings(_plain(data), size) for data in merged if data is not None):
        return True
    sides = three.map(lambda side: side or b"")
    # where a side gave the file other line ends, every line of it is in conflict
    return any(
        _is_left(text, of, lines, size) for text, of in ((plain, sides.map(_plain)), (found, sides))
    )


def _is_left(text: bytes, three: Three[bytes], lines: Libgit2LineMerge, size: int) -> bool:
    known = [lines.readings(*three.each(), patience=flag) for flag in (False, True)]
    if _ends_in_a_marker(text, size):  # what stands before a marker has a line end there
        known = [(_ended(ours), _ended(theirs)) for ours, theirs in known]
    return _readings(text, size) in known


def _ends_in_a_marker(found: bytes, size: int) -> bool:
    return found.endswith(b"\n") and found[:-1].rpartition(b"\n")[2].startswith(b">" * size)


def _ended(text: bytes) -> bytes:
    return text if not text or text.endswith(b"\n") else text + b"\n"


def _plain(data: bytes) -> bytes:
    """Without the line ends that a checkout may have added."""
    return data.replace(b"\r\n", b"\n")


def _readings(data: bytes, size: int) -> tuple[bytes, bytes]:
    """A conflicted text with every conflict resolved to ours, and to theirs."""
    text = data.decode("utf-8", "surrogateescape")
    ours, theirs = (resolve(text, side, size) for side in ("ours", "theirs"))
    return ours.encode("utf-8", "surrogateescape"), theirs.encode("utf-8", "surrogateescape")
