"""The last resort of rules `kyaml`: a three-way merge of lines, updated wins.

For what is no YAML, as Helm templates, and for mappings in which a key stands twice.
"""

from __future__ import annotations

from kmerge_git.merge.journal import Note
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three, cut
from kmerge_git.text.diff3 import diff3, refine


def merge_by_lines(texts: Three[str]) -> tuple[str, list[Note]]:
    """The merged text, and a note about all lines of ours that lose."""
    lines = texts.map(lambda text: text.splitlines(keepends=True))
    regions = diff3(lines.base, lines.ours, lines.theirs, adjacent_ok=True)
    result: list[str] = []
    notes: list[Note] = []
    for region in refine(regions, lines.ours, lines.theirs):
        part = cut(region, lines)
        if region.kind == "clash":
            place = (f"line {region.o0 + 1}",)
            ours, theirs = "".join(part.ours), "".join(part.theirs)
            notes.append(Note(place, Why.BOTH_CHANGED, "theirs", "lines lost", ours, theirs))
        result += part.ours if region.kind in ("same", "ours", "both") else part.theirs
    return "".join(result), notes
