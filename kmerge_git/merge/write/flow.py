"""Write flow collections on one line, or with one entry per line as in most JSON files."""

from __future__ import annotations

from kmerge_git.kube import fieldpath
from kmerge_git.merge.plan import Build, Clash, Item, Take, decided_item, named_clash
from kmerge_git.merge.write.placed_lines import entry_as_flow, shift_rest, token
from kmerge_git.text.pieces import VERSIONS, Hunk, joined, side_text
from kmerge_git.tree.nodes import Collection, Entry, column_of, comment_behind, in_flow, is_linewise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.text.pieces import Pieces


def write(plan: Build) -> Pieces:
    """Return our flow collection with the plan's items."""
    ours = plan.ours
    text, entries = ours.text, ours.entries
    start = text[ours.start : ours.content]
    if plan.properties is not None:
        start = plan.properties + " " if plan.properties else ""
    if not plan.items:
        return [start + text[ours.content] + text[ours.end - 1]]
    if not entries:
        inner = ", ".join(_taken(item) for item in plan.items)
        return [start + text[ours.content] + inner + text[ours.end - 1]]
    return [start, *_write_lines(plan)] if is_linewise(ours) else [start, *_write_within(plan)]


def must_lift(plan: Build) -> bool:
    """Return whether the whole entry conflicts because a conflict in it has no lines of its own."""
    return not is_linewise(plan.ours) and any(map(_clashes, plan.items))


def _clashes(item: Item) -> bool:
    """Return whether an item is a conflict, or must be written once for each side."""
    return isinstance(item.plan, Clash) or (isinstance(item.plan, Build) and must_lift(item.plan))


def _write_within(plan: Build) -> Pieces:
    """Return entries separated by commas; keep our text between two entries of ours."""
    ours = plan.ours
    text, entries = ours.text, ours.entries
    number = {id(entry): index for index, entry in enumerate(entries)}
    usual = _usual_gap(ours)
    pieces: Pieces = [text[ours.content : entries[0].start]]
    before = -2
    for index, item in enumerate(plan.items):
        at = number.get(id(item.ours or item.replaces), -2)
        if index:
            stays = at == before + 1
            pieces.append(text[entries[before].value.end : entries[at].start] if stays else usual)
        pieces += _entry(item)
        before = at
    return [*pieces, text[entries[-1].value.end : ours.end]]


def _usual_gap(ours: Collection) -> str:
    """Return the text that separates two entries on one line."""
    text, entries = ours.text, ours.entries
    if len(entries) > 1:
        gap = text[entries[0].value.end : entries[1].start]
        return gap if not gap.strip(", ") else ", "
    first = entries[0]
    compact = first.key is not None and text[first.key.end : first.value.start] == ":"
    return "," if compact else ", "


def _write_lines(plan: Build) -> Pieces:
    """Return every entry on lines of its own, with a comma behind all but the last entry.

    The last entry may differ from side to side.
    """
    ours = plan.ours
    text, entries = ours.text, ours.entries
    first_line = text.rfind("\n", 0, entries[0].start) + 1
    indent = text[first_line : entries[0].start]  # JSON may have tabs there
    closing = text.rfind("\n", 0, ours.end) + 1
    ends = [text.rfind("\n", 0, e.start) + 1 for e in entries[1:]] + [closing]
    behind = {id(e): text[e.value.end : end] for e, end in zip(entries, ends, strict=True)}
    trailing = "," in behind[id(entries[-1])].split("#")[0]
    last = [_last(plan.items, side) for side in VERSIONS]
    pieces: Pieces = [text[ours.content : first_line]]
    for index, item in enumerate(plan.items):
        commas = ["," if trailing or index < end else "" for end in last]
        own = item.ours or item.replaces
        tail = behind[id(own)] if own is not None else comment_behind(item.theirs) + "\n"
        pieces += _lines(item, indent, commas, tail)
    return [*joined(pieces), text[closing : ours.end]]


def _last(items: list[Item], side: str) -> int:
    """Return the index of the last item that a side has."""
    for index in reversed(range(len(items))):
        plan = items[index].plan
        if not isinstance(plan, Clash) or plan.at.side(side):
            return index
    return -1


def _lines(item: Item, indent: str, commas: list[str], tail: str) -> Pieces:
    """Return the lines of an item, with the comma that each side has behind the item."""
    bare = tail.replace(",", "", 1) if "," in tail.split("#", maxsplit=1)[0] else tail
    if isinstance(item.plan, Clash):
        base, ours, theirs = (
            _clash_lines(item.plan.at.side(side), indent, comma)
            for side, comma in zip(VERSIONS, commas, strict=True)
        )
        return [Hunk(base, ours, theirs, fieldpath.show(item.path), item.plan.why, item)]
    if _clashes(item):
        base, ours, theirs = (
            "".join(
                indent + side_text(_entry(one), side) + comma + bare
                for one in decided_item(item, side)
            )
            for side, comma in zip(VERSIONS, commas, strict=True)
        )
        path, why, inside = named_clash(item.plan)
        return [Hunk(base, ours, theirs, fieldpath.show(path), why, inside)]
    pieces = [indent, *_entry(item)]
    if len(set(commas)) == 1:
        return [*pieces, commas[0] + bare]
    last = ""
    while pieces and isinstance(pieces[-1], str) and "\n" not in last:
        last = str(pieces.pop()) + last
    start = last.rfind("\n") + 1
    base, ours, theirs = (last[start:] + comma + bare for comma in commas)
    return [*pieces, last[:start], Hunk(base, ours, theirs, "", "")]


def _clash_lines(entries: list[Entry], indent: str, comma: str) -> str:
    marks = [*[","] * (len(entries) - 1), comma]
    return "".join(
        indent + _moved(entry, len(indent)) + mark + comment_behind(entry) + "\n"
        for entry, mark in zip(entries, marks, strict=False)
    )


def _entry(item: Item) -> Pieces:
    """Return one entry, without the comma behind the entry."""
    entry, plan = item.ours, item.plan
    if entry is None:
        return [_taken(item)]
    text = entry.value.text
    before = text[entry.start : entry.value.start]
    if item.key is not None and entry.key is not None:
        before = item.key + text[entry.key.end : entry.value.start]
    if isinstance(plan, Build):
        return [before, *write(plan)]
    if isinstance(plan, Take):
        new = token(plan.node, plan.style, flow=True)
        if entry.value.start == entry.value.end and entry.key is not None:
            before = (entry.key.raw if item.key is None else item.key) + ": "
        if item.theirs is not None:
            new = shift_rest(new, column_of(entry) - column_of(item.theirs))
        return [before + new]
    return [before + text[entry.value.start : entry.value.end]]


def _taken(item: Item) -> str:
    """Return the text of their entry in a form that fits into our collection."""
    entry = item.plan.entry if isinstance(item.plan, Take) and item.plan.entry else item.theirs
    column = column_of(item.ours) if item.ours is not None else None
    return _moved(entry, column) if entry is not None else ""


def _moved(entry: Entry, column: int | None) -> str:
    if not in_flow(entry):
        return entry_as_flow(entry)
    text = entry.value.text[entry.start : entry.value.end]
    return text if column is None else shift_rest(text, column - column_of(entry))
