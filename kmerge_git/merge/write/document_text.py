"""Write a document: turn a plan and our text into the text of the result.

Entries that a plan keeps are copied from our text. Only the entries that a plan changes are
written again. The place of a comment depends on the kind of the value. If the value ends its line,
the comment is behind the value. If the value is a block collection below its key, the comment is on
the line of the key. If the value is a block collection that starts behind a dash, it moves to lines
of its own to make room for the comment. A block scalar has no place for a comment.

If only a part of their entry is taken, the part is first written by itself, with its own comments
and spelling, and parsed again. After that it is an ordinary entry that can be put at any column.
"""

from __future__ import annotations

from kmerge_git.kube import fieldpath
from kmerge_git.merge.plan import (
    Build,
    Clash,
    Item,
    Keep,
    NewText,
    Plan,
    Remark,
    Take,
    decided,
    decided_item,
    is_empty,
    keeps_tail,
    named_clash,
)
from kmerge_git.merge.three import Three
from kmerge_git.merge.write import flow
from kmerge_git.merge.write.placed_lines import (
    comment_lines,
    entry_lines,
    gap,
    overlay,
    shift_rest,
    starts_blank,
    text_lines,
    value_lines,
    value_rest,
    way_below,
    without_blank_start,
)
from kmerge_git.text.pieces import VERSIONS, Hunk, side_text
from kmerge_git.tree.documents import Document, split_text
from kmerge_git.tree.nodes import (
    Collection,
    Entry,
    Mapping,
    Scalar,
    after,
    column_of,
    in_mid_line,
    inline,
    is_block_text,
    keeps_blank_lines,
    on_own_lines,
    opening,
    properties,
    separator_end,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.text.pieces import Pieces


def write_document(plan: Plan, at: Three[Document | None]) -> Pieces:
    """Return the text of our document without its opening line."""
    plan = _without_parts(plan)
    ours, theirs = at.ours, at.theirs
    assert ours is not None  # the caller's case
    text, root = ours.source.text, ours.root
    if isinstance(plan, Take) and theirs is not None:
        if isinstance(root, Scalar) and inline(root) and inline(plan.node):
            return [text[ours.body : root.start], plan.node.raw, text[root.end : ours.end]]
        return [theirs.content]
    if isinstance(plan, NewText):
        before, behind = text[ours.body : plan.ours.content], text[plan.ours.end + 1 : ours.end]
        return [before, *text_lines(plan, 2, ()), behind]
    if not isinstance(plan, Build):
        return [ours.content]
    if must_lift(plan):
        base, mine, yours = (
            side_text(write_document(decided(plan, side), at), side) for side in VERSIONS
        )
        return [Hunk(base, mine, yours, *cause(plan))]
    return _write_top(plan, ours)


def _write_top(plan: Build, ours: Document) -> Pieces:
    """Return the text of a document whose root is a collection."""
    text, root = ours.source.text, ours.root
    assert isinstance(root, Collection)  # a `Build` plan has a collection
    if not plan.items:
        empty = "{}\n" if isinstance(root, Mapping) else "[]\n"
        if root.flow:
            return [text[ours.body : root.start], empty[:-1], text[root.end : ours.end]]
        head, foot = _ends(plan, 0, ())
        return [text[ours.body : root.top], *head, *foot, empty]
    if root.flow and (root.entries or plan.theirs.flow):
        return [text[ours.body : root.start], *flow.write(plan), text[root.end : ours.end]]
    if root.flow:  # an empty flow collection that is filled
        rest = text[root.end : ours.end].lstrip(" ").removeprefix("\n")
        return [text[ours.body : root.start], *write_items(plan, 0), rest]
    before = text[ours.body : root.top]
    block = write_block(plan, root.column, ())
    if in_mid_line(root):
        return overlay(before, root.column, block)
    return [before, *block, text[root.bottom : ours.end]]


def must_lift(plan: Build) -> bool:
    """Return whether a conflict must be written as a conflict of the entry around it.

    This is so if the conflict has no lines of its own, or if a side would have no entries left.
    """
    if plan.ours.flow and not _becomes_block(plan) and flow.must_lift(plan):
        return True
    return is_empty(plan, "ours") or is_empty(plan, "theirs")


def cause(plan: Plan) -> tuple[str, str, Item | None]:
    """Return the place and cause of a conflict for its label, and the item that conflicts."""
    path, why, item = named_clash(plan)
    return fieldpath.show(path), why, item


# -- parts of entries


def _without_parts(plan: Plan) -> Plan:
    """Replace every entry of which the plan takes only a part by an entry with just that part."""
    if isinstance(plan, Take):
        return _alone(plan)
    if not isinstance(plan, Build):
        return plan
    items = [_without_part(item) for item in plan.items]
    if all(new is old for new, old in zip(items, plan.items, strict=True)):
        return plan
    ours, theirs = plan.ours, plan.theirs
    return Build(ours, theirs, items, head=plan.head, foot=plan.foot, properties=plan.properties)


def _without_part(item: Item) -> Item:
    plan = _without_parts(item.plan)
    if plan is item.plan:
        return item
    theirs = plan.entry if isinstance(plan, Take) and item.ours is None else item.theirs
    return item.but(plan, theirs, item.lead)


def _alone(plan: Take) -> Take:
    old = plan.entry
    if plan.part is None or old is None:
        return plan
    pieces = entry_pieces(Item(plan.part, old, old, ()), column_of(old))
    root = split_text(side_text(pieces, "ours")).documents[0].root
    assert isinstance(root, Collection)  # an entry belongs to a collection
    entry = root.entries[0]
    return Take(
        entry.value, entry, plan.style, anchor=plan.anchor, keeps_comment=plan.keeps_comment
    )


# -- block collections


def write_block(plan: Build, column: int, path: Path) -> Pieces:
    """Return the lines of a block collection: head, items, foot."""
    head, foot = _ends(plan, column, path)
    if starts_blank(foot) and _has_open_end(plan):
        foot = without_blank_start(foot)
    return [p for p in (*head, *write_items(plan, column), *foot) if p]


def _ends(plan: Build, column: int, path: Path) -> tuple[Pieces, Pieces]:
    """Return the comment lines above the first entry and those below the last entry."""
    ours = plan.ours
    head: Pieces = [ours.text[ours.top : ours.entries[0].lead]]
    foot: Pieces = [ours.text[ours.entries[-1].end : ours.bottom]]
    return (
        head if plan.head is None else comment_lines(plan.head, column, path),
        foot if plan.foot is None else comment_lines(plan.foot, column, path),
    )


def write_items(plan: Build, column: int) -> Pieces:
    pieces: Pieces = []
    above: Plan | None = None
    for item in plan.items:
        lines = _item(item, column)
        if above is not None and starts_blank(lines) and _has_open_end(above):
            lines = without_blank_start(lines)
        pieces += lines
        above = item.plan
    return pieces


def _has_open_end(plan: Plan) -> bool:
    """Return whether blank lines below the plan would become part of its last block scalar."""
    if isinstance(plan, Build):
        return bool(plan.items) and _has_open_end(plan.items[-1].plan)
    if isinstance(plan, Clash):
        return any(keeps_blank_lines(e.value) for e in (*plan.at.ours[-1:], *plan.at.theirs[-1:]))
    if isinstance(plan, NewText):
        return is_block_text(plan.ours) and "+" in plan.header
    return isinstance(plan, Keep | Take) and keeps_blank_lines(plan.node)


# -- entries


def _item(item: Item, column: int) -> Pieces:
    if isinstance(item.plan, Clash):
        return _clash(item.plan, item, column)
    if isinstance(item.plan, Remark):
        return comment_lines(item.plan.parts, column, item.path)
    entry = item.ours
    if entry is None:
        taken = item.plan.entry if isinstance(item.plan, Take) else item.theirs
        return [entry_lines(taken, column)] if taken is not None else []
    return [*_lead(item, entry, column), *entry_pieces(item, column)]


def _lead(item: Item, entry: Entry, column: int) -> Pieces:
    """Return the lines above one of our entries."""
    if item.lead is None:
        return [entry.value.text[entry.lead : entry.line]]
    return comment_lines(item.lead, column, item.path)


def _clash(clash: Clash, item: Item, column: int) -> Pieces:
    """Return a hunk around the entries; comments above stay outside if both sides agree on them."""

    def lines(entries: list[Entry]) -> str:
        leads = [clash.with_lead, *[True] * len(entries)]
        return "".join(
            entry_lines(e, column, lead=lead) for e, lead in zip(entries, leads, strict=False)
        )

    hunk = Hunk(*clash.at.map(lines).each(), fieldpath.show(item.path), clash.why, item)
    entry = item.ours
    return [hunk] if clash.with_lead or entry is None else [*_lead(item, entry, column), hunk]


def entry_pieces(item: Item, column: int) -> Pieces:
    """Return the lines of one of our entries, starting with its key or dash."""
    plan, entry = item.plan, item.ours
    assert entry is not None  # the caller's case
    if isinstance(plan, Build):
        if must_lift(plan):
            return [_lifted(item, column)]
        if plan.ours.flow and not _becomes_block(plan):
            return [before_value(item, entry, column), *flow.write(plan), tail_of(item, entry)]
        return _entry_with_block(item, entry, plan, column)
    if isinstance(plan, NewText):
        before = before_value(item, entry, column, stop=plan.ours.content)
        tail = tail_of(item, entry)
        tail = tail[1:] if is_block_text(plan.ours) else tail
        return [before, *text_lines(plan, column + 2, item.path), tail]
    if isinstance(plan, Take):
        return [_with_taken(item, entry, plan, column)]
    return _with_own_value(item, entry, column)


def _with_own_value(item: Item, entry: Entry, column: int) -> Pieces:
    """Write an entry of ours with its own value, and perhaps a new key or comment."""
    value = entry.value
    if on_own_lines(value):
        below = value.text[behind_key(entry) + len(opening(entry)) : entry.end]
        return [key_part(item, entry, column) + rest_of_key_line(item, entry) + below]
    kept = value.text[value.start : value.end]
    if dash_comment(item):
        line = f"{key_part(item, entry, column)}  {dash_comment(item)}\n"
        indent = value.start - (value.text.rfind("\n", 0, value.start) + 1)
        return [line, " " * indent + kept + tail_of(item, entry)]
    return [before_value(item, entry, column) + kept + tail_of(item, entry)]


def _with_taken(item: Item, entry: Entry, plan: Take, column: int) -> str:
    """Write our key with their value; the comment comes from the side that has a comment."""
    taken, new = plan.entry, plan.node
    assert taken is not None  # the caller's case
    if on_own_lines(new):
        line = key_part(item, entry, column) + rest_of_key_line(item, entry, properties(new))
        return line + value_lines(taken, column, entry.value)
    # the lines of a block are aligned, whatever the gap behind our dash
    is_block = isinstance(new, Collection) and not new.flow
    if inline(entry.value) and not is_block:
        start = before_value(item, entry, column)
    else:
        start = key_part(item, entry, column) + (separator(entry) if entry.key else "")
        start = start if entry.key else start + " " * (gap(taken) - 1)
    rest = value_rest(taken, column, plan.style)
    if plan.anchor:
        rest = f"&{plan.anchor} {rest}".rstrip()
    if plan.keeps_comment and not keeps_tail(plan, entry, taken):
        rest = _with_comment(rest, after(entry))
    if not rest.strip():
        start = start.rstrip(" ")
    elif not start.endswith((" ", "\n")):
        start += " "
    return start + rest + tail_of(item, entry)


def _with_comment(rest: str, tail: str) -> str:
    """Add the comment of an old value to the new value, which has several lines."""
    comment = tail.split("\n", 1)[0].rstrip()
    if "#" not in comment:
        return rest
    first, newline, below = rest.partition("\n")
    return first + ("" if comment[0].isspace() else " ") + comment + newline + below


def _lifted(item: Item, column: int) -> Hunk:
    """Return a hunk that has the whole entry once for each side, with the comment of that side."""
    sides = []
    for side, own in zip(VERSIONS, (item.base, item.ours, item.theirs), strict=True):
        pieces: Pieces = []
        for one in decided_item(item, side):
            tailed = one.with_tail(after(own)) if own is not None and own is not item.ours else one
            pieces += entry_pieces(tailed, column)
        sides.append(side_text(pieces, side))
    if item.base is None:
        sides[0] = ""
    return Hunk(sides[0], sides[1], sides[2], *cause(item.plan))


# -- entries whose value is a block collection


def _becomes_block(plan: Build) -> bool:
    """Return whether our empty flow collection is filled with block entries."""
    return plan.ours.flow and not plan.ours.entries and bool(plan.items) and not plan.theirs.flow


def _entry_with_block(item: Item, entry: Entry, plan: Build, column: int) -> Pieces:
    ours = plan.ours
    if _becomes_block(plan):
        return _filled(item, entry, plan, column)
    if not plan.items:
        return _emptied(item, entry, plan, column)
    pieces = write_block(plan, ours.column, item.path)
    if dash_comment(item):
        return [f"{key_part(item, entry, column)}  {dash_comment(item)}\n", *pieces]
    if in_mid_line(ours) and not plan.properties:
        return overlay(before_value(item, entry, column, stop=ours.content), ours.column, pieces)
    line = key_part(item, entry, column) + rest_of_key_line(item, entry, plan.properties)
    return [line, *pieces]


def _filled(item: Item, entry: Entry, plan: Build, column: int) -> Pieces:
    """Replace our empty `{}` or `[]` by block lines of theirs."""
    inner = column + way_below(item.theirs, plan.theirs)
    marks = plan.properties if plan.properties is not None else properties(plan.ours)
    tail = tail_of(item, entry)
    pieces = write_items(plan, inner)
    if entry.key is None and not marks and not tail.strip():
        return overlay(key_part(item, entry, column).ljust(inner), inner, pieces)
    line = key_part(item, entry, column) + separator(entry) + (" " + marks if marks else "")
    return [line + tail, *pieces]


def _emptied(item: Item, entry: Entry, plan: Build, column: int) -> Pieces:
    """Write a collection that lost its last entry as `{}` or `[]`."""
    empty = "{}" if isinstance(plan.ours, Mapping) else "[]"
    if in_mid_line(plan.ours):
        return [before_value(item, entry, column, stop=plan.ours.content) + empty + "\n"]
    line = rest_of_key_line(item, entry, plan.properties)
    bare, hash_mark, comment = line.partition("#")
    spacer = "  " if hash_mark else ""
    first = bare.rstrip() + " " + empty + spacer + hash_mark + comment.rstrip("\n")
    head, foot = _ends(plan, plan.ours.column, item.path)
    return [key_part(item, entry, column) + first.rstrip() + "\n", *head, *foot]


def key_part(item: Item, entry: Entry, column: int) -> str:
    """Return the indentation and the key or dash."""
    text = entry.value.text
    indent = " " * column if entry.line == entry.start else text[entry.line : entry.start]
    if entry.key is None:
        return indent + "-"
    key = item.key if item.key is not None else entry.key.raw
    return indent + text[entry.start : entry.key.start] + key


def before_value(item: Item, entry: Entry, column: int, stop: int = -1) -> str:
    """Return the text of the entry up to its value, or up to the offset `stop`."""
    end = entry.value.start if stop < 0 else stop
    return key_part(item, entry, column) + entry.value.text[behind_key(entry) : end]


def behind_key(entry: Entry) -> int:
    """Return the offset at which the key or the dash ends."""
    return entry.key.end if entry.key is not None else entry.start + 1


def separator(entry: Entry) -> str:
    """Return the text between a key and its value: a colon, or more after a `? `."""
    if entry.key is None:
        return ""
    between = entry.value.text[entry.key.end : separator_end(entry)]
    return between or "\n" + " " * column_of(entry) + ":"  # `? key` without a value


def rest_of_key_line(item: Item, entry: Entry, marks: str | None = None) -> str:
    """Return the rest of the line of a key whose value is a block below the key.

    `marks` is a new anchor and tag, or None to keep ours.
    """
    value = entry.value
    below = on_own_lines(value)
    line = opening(entry) if below else ""
    own = properties(value)
    if below and item.after is None and marks in (None, own):
        return line
    marks = own if marks is None else marks
    comment = item.after
    if comment is None:
        comment = after(entry) if below else tail_of(item, entry)
    comment = comment.split("\n", 1)[0].rstrip()
    if comment and not comment[0].isspace():
        comment = " " + comment
    return separator(entry) + (" " + marks if marks else "") + comment + "\n"


def tail_of(item: Item, entry: Entry) -> str:
    """Return the text behind the value of one of our entries, to the end of its lines."""
    plan, value = item.plan, entry.value
    taken = plan.entry if isinstance(plan, Take) else None
    if taken is not None and not keeps_tail(plan, entry, taken):
        return _lines(after(taken), column_of(entry) - column_of(taken))
    if item.after is not None and not in_mid_line(value):
        by = column_of(entry) - column_of(item.theirs) if item.theirs is not None else 0
        return _lines(item.after, by)
    return _lines(after(entry), 0) if on_own_lines(value) else value.text[value.end : entry.end]


def dash_comment(item: Item) -> str:
    """Return a comment of theirs for the line of our dash, if our value begins on that line."""
    if item.ours is None or not in_mid_line(item.ours.value) or not item.after:
        return ""
    return item.after.split("\n", 1)[0].strip()


def _lines(text: str, by: int) -> str:
    """Return the text behind a value as whole lines, with a blank before its comment."""
    text = shift_rest(text.rstrip() + "\n", by)
    return text if text[:1] in " \n" else "  " + text
