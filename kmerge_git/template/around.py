"""Git's result of a template, with markers around what its line merge broke and nowhere else."""

from __future__ import annotations

from kmerge_git.merge.merged import NO_DOCUMENT, MergedDocument, MergedFile, whole_conflict
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.template.damage import new_damage
from kmerge_git.text.diff3 import diff
from kmerge_git.text.pieces import Hunk, side_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.template.damage import Damage
    from kmerge_git.text.pieces import Pieces

    Cuts = dict[int, tuple[int, int]]  # a place in the result -> the first and last of a version
    Window = tuple[int, int]

MORE = (0, 1, 2, 4, 8, 16, 32, 64)  # lines around the damage, until the answers are sound


def around(result: str, texts: Three[str], path: str, found: list[Damage]) -> MergedFile:
    """The result with a conflict around its damage, which no side's answer has any more."""
    lines = _lines(result)
    versions = texts.map(_lines)
    cuts = versions.map(lambda version: _cuts(lines, version))
    tried: list[Window] = []
    for more in MORE:
        windows = _windows(found, more, cuts, len(lines))
        if windows != tried:
            tried = windows
            pieces = _pieces(lines, versions, cuts, windows, _why(found))
            if _is_sound(pieces, texts, path):
                return MergedFile([], [MergedDocument(NO_DOCUMENT, "", None, pieces)], "")
    return whole_conflict(texts, _why(found))


def _why(found: list[Damage]) -> str:
    return f"{Why.DAMAGE}: {found[0].short}"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _cuts(lines: list[str], version: list[str]) -> Cuts:
    """The places between lines of the result that have their like in a version."""
    found: Cuts = {0: (0, 0)}
    ends = (len(lines), len(lines), len(version), len(version))
    for i1, i2, j1, _ in [*diff(lines, version), ends]:
        for i in range(i1, i2 + 1):
            j = j1 + i - i1
            first, last = found.get(i, (j, j))
            found[i] = min(first, j), max(last, j)
    return found


def _windows(found: list[Damage], more: int, cuts: Three[Cuts], size: int) -> list[Window]:
    """The lines of the result around the damage, from and to where all versions can be cut."""
    windows: list[Window] = []
    for first, last in sorted((one.first, one.last) for one in found):
        start, end = max(first - more, 0), min(last + 1 + more, size)
        while not all(start in own for own in cuts.each()):
            start -= 1
        while not all(end in own for own in cuts.each()):
            end += 1
        while windows and start <= windows[-1][1]:
            before = windows.pop()
            start, end = min(start, before[0]), max(end, before[1])
        windows.append((start, end))
    return windows


def _pieces(
    lines: list[str],
    versions: Three[list[str]],
    cuts: Three[Cuts],
    windows: list[Window],
    why: str,
) -> Pieces:
    """The result with a hunk in the place of each window."""
    pieces: Pieces = []
    at = 0
    for start, end in windows:
        base, ours, theirs = (
            "".join(version[own[start][1] : max(own[end][0], own[start][1])])
            for version, own in zip(versions.each(), cuts.each(), strict=True)
        )
        pieces += ["".join(lines[at:start]), Hunk(base, ours, theirs, "", why, is_whole=True)]
        at = end
    return [piece for piece in (*pieces, "".join(lines[at:])) if piece]


def _is_sound(pieces: Pieces, texts: Three[str], path: str) -> bool:
    """Whether each conflict is one, and neither side's answer to them does damage."""
    if any(isinstance(piece, Hunk) and piece.ours == piece.theirs for piece in pieces):
        return False
    return not any(new_damage(side_text(pieces, side), texts, path) for side in ("ours", "theirs"))
