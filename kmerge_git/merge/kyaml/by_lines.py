"""The last resort of rules `kyaml`: a three-way merge of lines; where both changed, dest's stay.

For what is no YAML, as Helm templates, for mappings in which a key stands twice or is a map, and
for other texts. Fields have a meaning that says who is right, lines have none: here nothing of
the destination is ever overwritten.
"""

from __future__ import annotations

from kmerge_git.merge.journal import Note
from kmerge_git.merge.three import Three, cut
from kmerge_git.text.diff3 import diff3, refine

STAYS = "both changed, dest's lines stay"
LOST = "lines lost"  # the rule; here it is updated's change that does not come through


def merge_by_lines(texts: Three[str]) -> tuple[str, list[Note]]:
    """The merged text, and a note about all lines of updated that were not taken."""
    lines = texts.map(_lines)
    regions = diff3(lines.base, lines.ours, lines.theirs, adjacent_ok=True)
    result: list[str] = []
    notes: list[Note] = []
    for region in refine(regions, lines.ours, lines.theirs):
        part = cut(region, lines)
        if region.kind == "clash":
            place = (f"line {region.o0 + 1}",)
            ours, theirs = "".join(part.ours), "".join(part.theirs)
            notes.append(Note(place, STAYS, "ours", LOST, ours, theirs))
        result += part.theirs if region.kind == "theirs" else part.ours
    return "".join(result), notes


def _lines(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines
