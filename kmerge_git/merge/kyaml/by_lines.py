"""The last resort of rules `kyaml`: git's merge of lines; where both changed them, dest's stay.

For what is no YAML, as Helm templates, for mappings in which a key stands twice or is a map, and
for other texts. Fields have a meaning that says who is right, lines have none: here nothing of
the destination is ever overwritten.
"""

from __future__ import annotations

from kmerge_git.merge.journal import Note
from kmerge_git.text.markers import marker_size_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.merge.three import Three

STAYS = "both changed, dest's lines stay"
LOST = "lines lost"  # the rule; here it is updated's change that does not come through


def merge_by_lines(texts: Three[bytes]) -> tuple[bytes, list[Note]]:
    """The merged text, and a note about all lines of updated that were not taken."""
    from kmerge_git.text.linemerge import TemporaryFiles  # few files are texts

    size = marker_size_for(text.decode("latin-1") for text in texts.each())
    marked, conflicts = TemporaryFiles(texts.each(), marker_size=size).result()
    if conflicts == 0:
        return marked, []
    data, conflicts = TemporaryFiles(texts.each(), favor="ours").result()
    if conflicts:  # git cannot read it as text
        return texts.ours, [Note((), "both changed, dest's version stays", "ours", LOST)]
    return data, [
        Note((f"line {line}",), STAYS, "ours", LOST, ours, theirs)
        for line, ours, theirs in _clashes(marked, size)
    ]


def _clashes(marked: bytes, size: int) -> Iterator[tuple[int, str, str]]:
    """The lines of both sides in each conflict, and where dest's stand in the result."""
    start, middle, end = (char * size for char in (b"<", b"=", b">"))
    number = 1  # of the next line of the result
    inside: list[list[bytes]] = []
    for line in marked.split(b"\n"):
        if line.startswith(start):
            inside = [[]]
        elif not inside:
            number += 1
        elif line.startswith(end):
            ours, theirs = (b"".join(side).decode("utf-8", "replace") for side in inside)
            yield number, ours, theirs
            number += len(inside[0])
            inside = []
        elif line.rstrip(b"\r") == middle:
            inside.append([])
        else:
            inside[-1].append(line + b"\n")
