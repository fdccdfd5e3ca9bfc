"""Three-way merge of what stands between values: comment lines, blank lines, line tails."""

from __future__ import annotations

from kmerge_git.merge.plan import TextClash
from kmerge_git.merge.three import Three, cut


def bare_lines(text: str) -> list[str]:
    """Lines without their indentation; blank lines are empty."""
    return [line.strip(" \t\r") for line in text.split("\n")[:-1]] if text else []


def merge_lines(lines: Three[list[str]]) -> list[list[str] | TextClash] | None:
    """The merged lines, or None where ours stand as they are."""
    base, ours, theirs = lines.base, lines.ours, lines.theirs
    if theirs in (base, ours):
        return None
    if ours == base:
        return [theirs]
    from kmerge_git.text.diff3 import diff3

    parts: list[list[str] | TextClash] = []
    for region in diff3(base, ours, theirs):
        part = cut(region, lines)
        if region.kind == "clash":
            parts += _clash(part)
        else:
            parts.append(part.theirs if region.kind == "theirs" else part.ours)
    return parts


def _clash(part: Three[list[str]]) -> list[list[str] | TextClash]:
    """Lines that both sides changed: what both added is kept; prose wins over blank lines."""
    if not any(part.theirs):
        return [part.ours]
    if not any(part.ours):
        return [part.theirs]
    from kmerge_git.text.diff3 import Region, refine

    result: list[list[str] | TextClash] = []
    new = not any(part.base)
    whole = [Region("clash", 0, len(part.base), 0, len(part.ours), 0, len(part.theirs))]
    for region in refine(whole, part.ours, part.theirs):
        rest = cut(region, part)
        if new:  # what both begin or end with is there once
            result += [rest.ours, rest.theirs] if region.kind == "clash" else [rest.ours]
            continue
        clash = region.kind == "clash" and (any(rest.ours) or any(rest.theirs))
        result.append(TextClash(rest.base, rest.ours, rest.theirs) if clash else rest.ours)
    return result


def merge_tail(tails: Three[str]) -> tuple[str | None, bool]:
    """The text behind a value: (theirs or None for ours, whether both changed it)."""
    base, ours, theirs = tails.base.strip(), tails.ours.strip(), tails.theirs.strip()
    if theirs in (base, ours):
        return None, False
    return (tails.theirs, False) if ours == base else (None, True)
