"""Merge the lines of scalars of several lines that both sides edited."""

from __future__ import annotations

from kmerge_git.merge.plan import Line, NewText
from kmerge_git.merge.three import Three, cut, standing, whose
from kmerge_git.text.diff3 import refine
from kmerge_git.text.opaque_files import VAULT
from kmerge_git.text.shared_edits import diff3_once
from kmerge_git.tree.block_scalars import (
    body_lines,
    flow_indent,
    flow_lines,
    has_explicit_indent,
    header,
    header_comment,
)
from kmerge_git.tree.nodes import Node, Scalar, is_block_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.plan import Lines


def merge(base: Scalar | None, ours: Scalar, theirs: Scalar) -> NewText | None:
    """Merge the lines of both sides into our block scalar; return None if that is impossible."""
    if is_encrypted(ours) or is_encrypted(theirs):
        return None
    if not is_block_text(ours) or ours.anchor != theirs.anchor or ours.tag != theirs.tag:
        return None
    if theirs.style != ours.style or (base is not None and base.style != ours.style):
        return None
    if base is None and not _are_one_text(ours, theirs):
        return None
    at = Three(base or ours, ours, theirs)
    headers, notes = at.map(header), at.map(header_comment)
    if not whose(headers) or not whose(notes):
        return None
    lines = Three(body_lines(base) if base else [], body_lines(ours), body_lines(theirs))
    plan = NewText(ours, standing(headers), _merged(lines), standing(notes))
    explicit = has_explicit_indent(ours) and has_explicit_indent(theirs)
    return plan if explicit or _starts_at_the_margin(plan) else None


def _are_one_text(ours: Scalar, theirs: Scalar) -> bool:
    """Return whether two texts that both sides added end alike, and share their comment, if any."""
    ends = [text.value[len(text.value.rstrip("\n")) :] for text in (ours, theirs)]
    notes = set(map(header_comment, (ours, theirs))) - {""}
    return ends[0] == ends[1] and len(notes) < 2


def merge_flow(base: Scalar, ours: Scalar, theirs: Scalar) -> NewText | None:
    """Merge the lines of plain or quoted scalars; return None if that is impossible.

    It is impossible if the first or the last line is in a conflict, because these lines have text
    of other nodes on them.
    """
    if is_encrypted(ours) or is_encrypted(theirs):
        return None
    at = Three(base, ours, theirs)
    marks = {(scalar.style, scalar.anchor, scalar.tag) for scalar in at.each()}
    if is_block_text(ours) or len(marks) > 1 or not all("\n" in s.raw for s in at.each()):
        return None
    parts = _merged(at.map(_spelled))
    if isinstance(parts[0], Three) or isinstance(parts[-1], Three):
        return None
    return NewText(ours, ours.style, parts)


def is_encrypted(scalar: Scalar) -> bool:
    """Return whether Ansible Vault encrypted a value; its lines are one value."""
    return scalar.tag.startswith("!vault") or scalar.value.lstrip().startswith(VAULT)


def _spelled(scalar: Scalar) -> list[str]:
    """Return the lines of a scalar; their indentation means nothing and is not compared."""
    first, *below = flow_lines(scalar)
    home = flow_indent(scalar)
    return [Line.of(first, 0), *(Line.of(line, home) for line in below)]


def _merged(lines: Three[list[str]]) -> Lines:
    parts: Lines = []
    for region in refine(diff3_once(*lines.each()), *lines.each()):
        part = cut(region, lines)
        side = "theirs" if region.kind == "theirs" else "ours"
        parts.append(part if region.kind == "clash" else part.side(side))
    return parts


def new_header_comment(at: Three[Node | None]) -> bool:
    """Return whether theirs has a comment on a block scalar's header that base and ours lack."""
    versions = (at.base or at.ours, at.ours, at.theirs)
    if not all(isinstance(s, Scalar) and is_block_text(s) for s in versions):
        return False
    old, mine, yours = (header_comment(s) for s in versions if isinstance(s, Scalar))
    return yours not in (old, mine)


def _starts_at_the_margin(plan: NewText) -> bool:
    """Return whether the merged text begins without spaces, however conflicts are decided.

    Otherwise the header of the block scalar would need an indentation number.
    """
    for side in ("base", "ours", "theirs"):
        first = next((line for line in plan.lines(side) if line.strip()), "")
        if first.startswith((" ", "\t")):
            return False
    return True
