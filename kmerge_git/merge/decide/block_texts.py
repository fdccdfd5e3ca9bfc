"""Block scalars that both sides edited: a three-way merge of their lines."""

from __future__ import annotations

from kmerge_git.merge.plan import NewText, TextClash
from kmerge_git.merge.three import Three, cut
from kmerge_git.text.diff3 import diff3, refine
from kmerge_git.tree.nodes import Node, Scalar


def merge(base: Scalar | None, ours: Scalar, theirs: Scalar) -> NewText | None:
    """Our block scalar with both sides' lines, or None where the texts cannot be compared."""
    versions = [s for s in (base, ours, theirs) if s is not None]
    if ours.style not in ("|", ">") or ours.anchor != theirs.anchor or ours.tag != theirs.tag:
        return None
    if any(s.style != ours.style for s in versions):
        return None
    headers = [header(s) for s in (base or ours, ours, theirs)]
    if headers[0] != headers[1] != headers[2] != headers[0]:
        return None
    chosen = headers[2] if headers[1] == headers[0] else headers[1]
    notes = [header_comment(s) for s in (base or ours, ours, theirs)]
    if notes[0] != notes[1] != notes[2] != notes[0]:
        return None
    lines = Three(body_lines(base) if base else [], body_lines(ours), body_lines(theirs))
    parts: list[list[str] | TextClash] = []
    regions = diff3(lines.base, lines.ours, lines.theirs)
    for region in refine(regions, lines.ours, lines.theirs):
        part = cut(region, lines)
        if region.kind == "clash":
            parts.append(TextClash(part.base, part.ours, part.theirs))
        else:
            parts.append(part.theirs if region.kind == "theirs" else part.ours)
    plan = NewText(ours, chosen, parts)
    plan.comment = notes[2] if notes[1] == notes[0] else notes[1]
    explicit = has_explicit_indent(ours) and has_explicit_indent(theirs)
    return plan if explicit or _starts_at_the_margin(plan) else None


def header(scalar: Scalar) -> str:
    """`|`, `>-` and so on, without an explicit indentation and without its comment."""
    first = scalar.text[scalar.content : scalar.end].split("\n", 1)[0].split("#")[0]
    return "".join(char for char in first.strip() if not char.isdigit())


def header_comment(scalar: Scalar) -> str:
    """The comment behind the header of a block scalar, or nothing."""
    first = scalar.text[scalar.content : scalar.text.find("\n", scalar.content)]
    return first[first.find("#") :].rstrip() if "#" in first else ""


def new_header_comment(base: Node | None, ours: Node, theirs: Node) -> bool:
    """Whether theirs has another comment behind the header of a block scalar."""
    versions = (base or ours, ours, theirs)
    if not all(isinstance(s, Scalar) and s.style in ("|", ">") for s in versions):
        return False
    old, mine, yours = (header_comment(s) for s in versions if isinstance(s, Scalar))
    return yours not in (old, mine)


def body_lines(scalar: Scalar) -> list[str]:
    """The source lines of a block scalar without their indentation."""
    lines = scalar.text[scalar.content : scalar.end].split("\n")[1:]
    indent = body_indent(scalar)
    return [line[indent:] if line[:indent].strip() == "" else line for line in lines]


def body_indent(scalar: Scalar) -> int:
    """The column of a block scalar's lines."""
    first, *lines = scalar.text[scalar.content : scalar.end].split("\n")
    digits = [c for c in first.split("#")[0] if c.isdigit()]
    if digits:
        value_lines = scalar.value.split("\n")
        # with an explicit indentation the value itself tells how many blanks are content
        for line, value in zip(lines, value_lines, strict=False):
            if value.strip() and line.endswith(value.rstrip("\n")):
                return len(line) - len(value)
    for line in lines:
        if line.strip():
            return len(line) - len(line.lstrip(" "))
    return 0


def has_explicit_indent(scalar: Scalar) -> bool:
    """Whether the header names an indentation."""
    first = scalar.text[scalar.content : scalar.end].split("\n", 1)[0].split("#")[0]
    return any(char.isdigit() for char in first)


def _starts_at_the_margin(plan: NewText) -> bool:
    """Whether the merged lines can stand under a header without an indentation."""
    for side in ("base", "ours", "theirs"):
        first = next((line for line in plan.lines(side) if line.strip()), "")
        if first.startswith((" ", "\t")):
            return False
    return True
