"""Compare the renderings of a merged template with the renderings of its sides."""

from __future__ import annotations

from kmerge_git.check.merges.merge_walk import CUT, FUSED, GONE, NEW, TWICE, UNTIED
from kmerge_git.check.merges.merged_files import SidedFile
from kmerge_git.merge.three import Three
from kmerge_git.template.template_damage import is_yaml, new_damage, when
from kmerge_git.template.template_readings import ActionWords, WantedReadings, rendered
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.template.template_parser import Template


__all__ = ["new_damage", "slips"]


def slips(result: Template, sides: Three[Template | None], path: str) -> Iterator[tuple[int, str]]:
    """Yield the oddities in two renderings of a merged template, with line numbers from 0.

    In one rendering all conditions are true, in the other rendering none is. A new field is odd
    only if a side has the same line at another column, because a person who finishes a merge may
    add fields.
    """
    if not is_yaml(path):
        return
    there = [side for side in sides.each() if side is not None]
    trees = [version.parts for version in (result, *there)]
    wanted, words = WantedReadings(*trees), ActionWords()
    # no other readings: an `else` that somebody wrote replaces fields without losing any
    wanted.names = [name for name in wanted.names if name in ("all", "none")]
    made, *others = ({one.name: one for one in rendered(tree, words, wanted)} for tree in trees)
    if sides.base is None:
        others.insert(0, {})
    base, ours, theirs = others
    lines = {line.strip() for side in there for line in side.text.split("\n")}
    for name, reading in made.items():
        at = Three(base.get(name), ours.get(name), theirs.get(name))
        versions = at.map(lambda one: one.text.encode() if one is not None else None)
        merged = SidedFile(YamlText(reading.text.encode(), path), versions)
        for odd in merged.odd(NEW, GONE, TWICE, UNTIED, FUSED, CUT):
            line = reading.line_at(odd.at)
            if odd.what != NEW or result.text.split("\n", line + 1)[line].strip() in lines:
                yield line, f"{words.shown(odd.message)} ({when(name)})"
