"""Write the lines of a unified diff in the format of `git diff` and `git apply`."""

from __future__ import annotations

from kmerge_git.text.diff3 import changes
from kmerge_git.text.opaque_files import is_binary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.text.diff3 import Hunk

AROUND = 3  # context lines before and after a change
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def file_patch(
    names: tuple[str, str],
    data: tuple[bytes | None, bytes | None],
    modes: tuple[bytes, bytes],
) -> Iterator[bytes]:
    """Yield the lines of a patch of one file; if the file is absent on a side, its data is None."""
    left, right = _quoted(f"a/{names[0]}"), _quoted(f"b/{names[1]}")
    old, new = data
    yield b"diff --git %s %s\n" % (left, right)
    if old is None:
        yield b"new file mode %s\n" % modes[1]
    elif new is None:
        yield b"deleted file mode %s\n" % modes[0]
    elif modes[0] != modes[1]:
        yield b"old mode %s\nnew mode %s\n" % modes
    if names[0] != names[1]:
        yield b"rename from %s\nrename to %s\n" % (_quoted(names[0]), _quoted(names[1]))
    if (old or b"") == (new or b""):
        return
    left = left if old is not None else b"/dev/null"
    right = right if new is not None else b"/dev/null"
    if any(is_binary(version or b"") for version in data):
        yield b"Binary files %s and %s differ\n" % (left, right)
        return
    yield b"--- %s%s\n+++ %s%s\n" % (left, _tab(left), right, _tab(right))
    yield from _hunks(_lines(old or b""), _lines(new or b""))


def _hunks(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    for group in _groups(changes(old, new)):
        a0 = max(group[0][0] - AROUND, 0)
        b0 = max(group[0][2] - AROUND, 0)
        a1 = min(group[-1][1] + AROUND, len(old))
        b1 = min(group[-1][3] + AROUND, len(new))
        yield b"@@ -%s +%s @@\n" % (_range(a0, a1), _range(b0, b1))
        at = a0
        for i0, i1, j0, j1 in group:
            yield from (_line(b" ", line) for line in old[at:i0])
            yield from (_line(b"-", line) for line in old[i0:i1])
            yield from (_line(b"+", line) for line in new[j0:j1])
            at = i1
        yield from (_line(b" ", line) for line in old[at:a1])


def _groups(hunks: list[Hunk]) -> list[list[Hunk]]:
    """Group changes that are so close that their context lines meet."""
    groups: list[list[Hunk]] = []
    for hunk in hunks:
        if groups and hunk[0] - groups[-1][-1][1] <= 2 * AROUND:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    return groups


def _range(start: int, stop: int) -> bytes:
    count = stop - start
    first = start + 1 if count else start
    return b"%d" % first if count == 1 else b"%d,%d" % (first, count)


def _line(sign: bytes, line: bytes) -> bytes:
    return (
        sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"
    )


def _lines(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _tab(name: bytes) -> bytes:
    """Return the tab that git writes after a name with spaces, to mark the end of the name."""
    return b"\t" if b" " in name else b""


def _quoted(path: str) -> bytes:
    """Return a path, quoted as git quotes paths."""
    data = path.encode("utf-8", "surrogateescape")
    if not any(byte < 32 or byte > 126 or byte in (34, 92) for byte in data):
        return data
    parts = (
        f"\\{_ESCAPES[b]}" if b in _ESCAPES else chr(b) if 32 <= b < 127 else f"\\{b:03o}"
        for b in data
    )
    return f'"{"".join(parts)}"'.encode()
