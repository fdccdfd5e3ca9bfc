"""Three-way merge of what stands between values: comment lines, blank lines, line tails."""

from __future__ import annotations

from kmerge_git.merge.plan import Clash
from kmerge_git.merge.three import Three, cut, whose
from kmerge_git.tree.nodes import Collection
from kmerge_git.tree.same import comments
from kmerge_git.tree.spans import comment_behind, is_linewise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.plan import Item, Lines
    from kmerge_git.tree.nodes import Entry


def bare_lines(text: str) -> list[str]:
    """Lines without their indentation; blank lines are empty."""
    return [line.strip(" \t\r") for line in text.split("\n")[:-1]] if text else []


def lead_lines(entry: Entry | None) -> list[str]:
    """The lines above an entry that belong to it."""
    return bare_lines(entry.value.text[entry.lead : entry.line]) if entry is not None else []


def merge_lines(lines: Three[list[str]]) -> Lines | None:
    """The merged lines, or None where ours stand as they are."""
    side = whose(lines)
    if side:
        return None if side == "ours" else [lines.theirs]
    from kmerge_git.text.diff3 import diff3

    parts: Lines = []
    for region in diff3(*lines.each()):
        part = cut(region, lines)
        if region.kind == "clash":
            parts += _clash(part)
        else:
            parts.append(part.theirs if region.kind == "theirs" else part.ours)
    return parts


def _clash(part: Three[list[str]]) -> Lines:
    """Lines that both sides changed: what both added is kept; prose wins over blank lines."""
    if not any(part.theirs):
        return [part.ours]
    if not any(part.ours):
        return [part.theirs]
    from kmerge_git.text.diff3 import Region, refine

    result: Lines = []
    new = not any(part.base)
    whole = [Region("clash", 0, len(part.base), 0, len(part.ours), 0, len(part.theirs))]
    for region in refine(whole, part.ours, part.theirs):
        rest = cut(region, part)
        if new:  # what both begin or end with is there once
            result += [rest.ours, rest.theirs] if region.kind == "clash" else [rest.ours]
            continue
        clash = region.kind == "clash" and (any(rest.ours) or any(rest.theirs))
        result.append(rest if clash else rest.ours)
    return result


def merge_tail(tails: Three[str]) -> tuple[str | None, bool]:
    """The text behind a value: (theirs or None for ours, whether both changed it)."""
    side = whose(tails.map(str.strip))
    return tails.theirs if side == "theirs" else None, not side


def has_own_comment(tails: Three[str]) -> bool:
    """Whether ours has a comment behind its value that neither base nor theirs has."""
    ours = comments(tails.ours)
    return bool(ours) and ours != comments(tails.base) and ours != comments(tails.theirs)


def loses_comments(at: Three[Collection | None], items: list[Item]) -> bool:
    """Whether comments inside a flow collection would be lost: only those behind entries move."""
    ours, theirs = at.ours, at.theirs
    assert ours is not None and theirs is not None  # the caller's case
    mine, yours = _inside(ours), _inside(theirs)
    if mine and not is_linewise(ours) and _breaks_commented_gap(ours, items):
        return True
    known = mine + (_inside(at.base) if at.base is not None else [])
    for item in items:
        brought = item.plan.at.theirs if isinstance(item.plan, Clash) else [item.theirs]
        if item.ours is None or isinstance(item.plan, Clash):
            known += [comment for entry in brought for comment in comments(comment_behind(entry))]
    return any(comment not in known for comment in yours)


def _breaks_commented_gap(ours: Collection, items: list[Item]) -> bool:
    """Whether entries of ours part that have a comment between them."""
    kept = [id(item.ours or item.replaces) for item in items]
    together = {(kept[i - 1], kept[i]) for i in range(1, len(kept))}
    previous: Entry = ours.entries[0]
    for entry in ours.entries[1:]:
        parted = (id(previous), id(entry)) not in together
        if parted and comments(ours.text[previous.value.end : entry.start]):
            return True
        previous = entry
    return False


def _inside(made: Collection) -> list[str]:
    """The comments between the entries of a flow collection, at every depth."""
    if not made.flow or "#" not in made.raw:
        return []
    text, position = made.text, made.content
    found: list[str] = []
    for entry in made.entries:
        found += comments(text[position : entry.start])
        if entry.key is not None:
            found += comments(text[entry.key.end : entry.value.start])
        if isinstance(entry.value, Collection):
            found += _inside(entry.value)
        position = entry.value.end
    return found + comments(text[position : made.end])
