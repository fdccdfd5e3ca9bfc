"""The writer: a plan and our text become the text of the result.

What a plan keeps is cut from our text unchanged; only the entries that a plan changes are put
together anew. This is the only place that knows indentation (with `layout` and `flow`).
"""

from __future__ import annotations

from kmerge_git.kube.fieldpath import show
from kmerge_git.merge.decide.comments import bare_lines, merge_lines
from kmerge_git.merge.plan import Build, Clash, Item, Keep, NewText, Plan, Take, TextClash
from kmerge_git.merge.sides import decided, decided_item, is_empty, named_clash
from kmerge_git.merge.three import Three
from kmerge_git.merge.write import flow
from kmerge_git.merge.write.hunks import comment_lines, text_lines
from kmerge_git.merge.write.key_line import dash_comment, keeps_tail, tail_of
from kmerge_git.merge.write.layout import Layout, entry_lines, in_flow, value_lines, value_rest
from kmerge_git.text.pieces import (
    SIDES,
    Hunk,
    overlay,
    side_text,
    starts_blank,
    without_blank_start,
)
from kmerge_git.tree.documents import Document
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Scalar
from kmerge_git.tree.spans import (
    after,
    column_of,
    in_mid_line,
    inline,
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
    """The text of our document below its opening."""
    ours, theirs = at.ours, at.theirs
    assert ours is not None  # the caller's case
    text, root = ours.source.text, ours.root
    if isinstance(plan, Take) and theirs is not None:
        if isinstance(root, Scalar) and inline(root) and inline(plan.node):
            return [text[ours.body : root.start], plan.node.raw, text[root.end : ours.end]]
        return [theirs.content]
    if root is None or not isinstance(plan, Build | NewText):
        return [ours.content]
    if isinstance(plan, NewText):
        before = text[ours.body : root.content]
        return [before, *text_lines(plan, 2, ()), text[root.end + 1 : ours.end]]
    if _must_lift(plan):
        base, mine, yours = (
            side_text(write_document(decided(plan, side), at), side) for side in SIDES
        )
        return [Hunk(base, mine, yours, *_cause(plan))]
    if not plan.items:
        empty = "{}\n" if isinstance(root, Mapping) else "[]\n"
        if plan.ours.flow:
            return [text[ours.body : root.start], empty[:-1], text[root.end : ours.end]]
        return [text[ours.body : plan.ours.top], *_around(plan, 0, ()), empty]
    if plan.ours.flow and (plan.ours.entries or plan.theirs.flow):
        return [text[ours.body : root.start], *flow.write(plan), text[root.end : ours.end]]
    if plan.ours.flow:  # an empty one, filled
        rest = text[root.end : ours.end].lstrip(" ").removeprefix("\n")
        return [text[ours.body : root.start], *_items(plan, 0), rest]
    before = text[ours.body : plan.ours.top]
    block = _block(plan, plan.ours.column, ())
    if in_mid_line(plan.ours):
        return overlay(before, plan.ours.column, block)
    return [before, *block, text[plan.ours.bottom : ours.end]]


def _must_lift(plan: Build) -> bool:
    """Whether a clash inside has no lines of its own, or leaves nothing on one side."""
    if plan.ours.flow and not _becomes_block(plan) and flow.must_lift(plan):
        return True
    return is_empty(plan, "ours") or is_empty(plan, "theirs")


def _cause(plan: Plan) -> tuple[str, str]:
    path, why = named_clash(plan)
    return show(path), why


def _block(plan: Build, column: int, path: Path) -> Pieces:
    """The lines of a block collection: head, items, foot."""
    ours = plan.ours
    text = ours.text
    pieces: Pieces = []
    if plan.head is None:
        pieces.append(text[ours.top : ours.entries[0].lead])
    else:
        pieces += comment_lines(plan.head, column, path)
    pieces += _items(plan, column)
    if plan.foot is None:
        foot: Pieces = [text[ours.entries[-1].end : ours.bottom]]
    else:
        foot = comment_lines(plan.foot, column, path)
    if starts_blank(foot) and _has_open_end(plan):
        foot = without_blank_start(foot)
    pieces += foot
    return [p for p in pieces if p]


def _items(plan: Build, column: int) -> Pieces:
    layout = Layout(plan.ours.text, plan.ours.start)
    pieces: Pieces = []
    above: Plan | None = None
    for item in plan.items:
        lines = _item(item, column, layout)
        if above is not None and starts_blank(lines) and _has_open_end(above):
            lines = without_blank_start(lines)
        pieces += lines
        above = item.plan
    return pieces


def _has_open_end(plan: Plan) -> bool:
    """Whether blank lines below would belong to the text above them."""
    if isinstance(plan, Build):
        return bool(plan.items) and _has_open_end(plan.items[-1].plan)
    if isinstance(plan, Clash):
        entries = (*plan.ours[-1:], *plan.theirs[-1:])
        return any(keeps_blank_lines(e.value) for e in entries)
    if isinstance(plan, NewText):
        return "+" in plan.header
    return isinstance(plan, Keep | Take) and keeps_blank_lines(plan.node)


def _item(item: Item, column: int, layout: Layout | None) -> Pieces:
    if isinstance(item.plan, Clash):
        return _clash(item.plan, item, column, layout)
    entry = item.ours
    if entry is None:
        taken = item.plan.entry if isinstance(item.plan, Take) else item.theirs
        # what was there already is indented as ours has it, but for its column
        new = layout if item.base is None else None
        return [entry_lines(taken, column, new)] if taken is not None else []
    text = entry.value.text
    if item.lead is None:
        lead: Pieces = [text[entry.lead : entry.line]]
    else:
        lead = comment_lines(item.lead, column, item.path)
    return [*lead, *entry_pieces(item, column, layout)]


def entry_pieces(item: Item, column: int, layout: Layout | None = None) -> Pieces:
    """The lines of one of our entries from its key or dash on."""
    plan, entry = item.plan, item.ours
    assert entry is not None  # the caller's case
    value = entry.value
    if isinstance(plan, Build):
        if _must_lift(plan):
            return [_lifted(item, entry, column, layout)]
        if plan.ours.flow and not _becomes_block(plan):
            return [_start(item, entry, column), *flow.write(plan), tail_of(item, entry)]
        return _entry_with_block(item, entry, plan, column, layout)
    if isinstance(plan, NewText):
        before = _start(item, entry, column, stop=plan.ours.content)
        return [before, *text_lines(plan, column + 2, item.path), tail_of(item, entry)[1:]]
    if isinstance(plan, Take):
        return [_with_taken(item, entry, plan, column, layout)]
    if on_own_lines(value):
        below = value.text[_top(entry) : entry.end]
        return [_key(item, entry, column) + _opening(item, entry) + below]
    kept = value.text[value.start : value.end]
    if dash_comment(item):
        line = f"{_key(item, entry, column)}  {dash_comment(item)}\n"
        indent = value.start - (value.text.rfind("\n", 0, value.start) + 1)
        return [line, " " * indent + kept + tail_of(item, entry)]
    return [_start(item, entry, column) + kept + tail_of(item, entry)]


def _with_taken(item: Item, entry: Entry, plan: Take, column: int, layout: Layout | None) -> str:
    """Our key with theirs' value, and the comment of whom it is from."""
    taken, new = plan.entry, plan.node
    if taken is None:
        return ""
    if item.base is not None and on_own_lines(item.base.value):
        layout = None
    if on_own_lines(new):
        key = _key(item, entry, column)
        marks = properties(new)
        return key + _opening(item, entry, marks) + value_lines(taken, column, layout)
    # a block's lines stand below one another, whatever gap ours has behind its dash
    is_block = isinstance(new, Collection) and not new.flow
    if inline(entry.value) and not is_block:
        start = _start(item, entry, column)
    else:
        start = _key(item, entry, column) + _separator(entry)
    rest = value_rest(taken, column, layout, plan.style)
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
    """A value of several lines with the comment that stood behind the old one."""
    comment = tail.split("\n", 1)[0].rstrip()
    if "#" not in comment:
        return rest
    first, newline, below = rest.partition("\n")
    return first + ("" if comment[0].isspace() else " ") + comment + newline + below


def _lifted(item: Item, entry: Entry, column: int, layout: Layout | None) -> Hunk:
    """The entry once for each side."""
    sides = []
    for side in SIDES:
        pieces: Pieces = []
        for one in decided_item(item, side):
            pieces += entry_pieces(one, column, layout)
        sides.append(side_text(pieces, side))
    if item.base is None:
        sides[0] = ""
    return Hunk(sides[0], sides[1], sides[2], *_cause(item.plan))


def _key(item: Item, entry: Entry, column: int) -> str:
    """The indentation and the key or dash."""
    text = entry.value.text
    indent = " " * column if entry.line == entry.start else text[entry.line : entry.start]
    if entry.key is None:
        return indent + "-"
    key = item.key if item.key is not None else entry.key.raw
    return indent + text[entry.start : entry.key.start] + key


def _separator(entry: Entry) -> str:
    """What stands between the key and its value's line: a colon, but for `? ` keys."""
    if entry.key is None:
        return ""
    found = entry.value.text[entry.key.end : separator_end(entry)]
    if found or entry.key.start == entry.start:
        return found or ":"
    return "\n" + " " * column_of(entry) + ":"  # `? key` alone


def _start(item: Item, entry: Entry, column: int, stop: int = -1) -> str:
    """Everything of the entry's lines before its value."""
    begin = entry.key.end if entry.key is not None else entry.start + 1
    return (
        _key(item, entry, column)
        + entry.value.text[begin : entry.value.start if stop < 0 else stop]
    )


def _top(entry: Entry) -> int:
    begin = entry.key.end if entry.key is not None else entry.start + 1
    return begin + len(opening(entry))


def _becomes_block(plan: Build) -> bool:
    """Whether an empty flow collection of ours is filled with block entries."""
    return plan.ours.flow and not plan.ours.entries and bool(plan.items) and not plan.theirs.flow


def _entry_with_block(
    item: Item, entry: Entry, plan: Build, column: int, layout: Layout | None
) -> Pieces:
    ours = plan.ours
    if _becomes_block(plan):
        layout = layout or Layout(ours.text, ours.start)
        inner = column + layout.way_to(plan.theirs, item.theirs)
        marks = plan.properties if plan.properties is not None else properties(ours)
        tail = tail_of(item, entry)
        pieces = _items(plan, inner)
        if entry.key is None and not marks and not tail.strip():
            return overlay(_key(item, entry, column).ljust(inner), inner, pieces)
        line = _key(item, entry, column) + _separator(entry) + (" " + marks if marks else "")
        return [line + tail, *pieces]
    if not plan.items:
        return _emptied(item, entry, plan, column)
    pieces = _block(plan, ours.column, item.path)
    if dash_comment(item):
        return [f"{_key(item, entry, column)}  {dash_comment(item)}\n", *pieces]
    if in_mid_line(ours):
        return overlay(_start(item, entry, column, stop=ours.content), ours.column, pieces)
    return [_key(item, entry, column) + _opening(item, entry, plan.properties), *pieces]


def _opening(item: Item, entry: Entry, marks: str | None = None) -> str:
    """The rest of the key's line above a block, with other properties, another comment, or both."""
    value = entry.value
    below = on_own_lines(value)
    line = opening(entry) if below else ""
    if below and item.after is None and marks in (None, properties(value)):
        return line
    if marks is None:
        marks = properties(value)
    if item.after is not None:
        comment = item.after
    else:
        comment = after(entry) if below else tail_of(item, entry)
    comment = comment.split("\n", 1)[0].rstrip()
    if comment and not comment[0].isspace():
        comment = " " + comment
    spaced = (" " + marks if marks else "") + comment
    return _separator(entry) + spaced + "\n"


def _emptied(item: Item, entry: Entry, plan: Build, column: int) -> Pieces:
    """R6: a collection that lost its last entry stays as `{}` or `[]`."""
    empty = "{}" if isinstance(plan.ours, Mapping) else "[]"
    if in_mid_line(plan.ours):
        return [_start(item, entry, column, stop=plan.ours.content) + empty + "\n"]
    line = _opening(item, entry, plan.properties)
    bare, hash_mark, comment = line.partition("#")
    spacer = "  " if hash_mark else ""
    first = bare.rstrip() + " " + empty + spacer + hash_mark + comment.rstrip("\n")
    return [
        _key(item, entry, column) + first.rstrip() + "\n",
        *_around(plan, plan.ours.column, item.path),
    ]


def _around(plan: Build, column: int, path: Path) -> Pieces:
    """Head and foot of a collection that has no entries left."""
    ours = plan.ours
    head = [ours.text[ours.top : ours.entries[0].lead]]
    foot = [ours.text[ours.entries[-1].end : ours.bottom]]
    return [
        *(head if plan.head is None else comment_lines(plan.head, column, path)),
        *(foot if plan.foot is None else comment_lines(plan.foot, column, path)),
    ]


def _clash(clash: Clash, item: Item, column: int, layout: Layout | None) -> Pieces:
    """A hunk around the entries; the comments above stay outside where both sides agree."""
    above, inside = _shared_lead(clash, column, item.path)
    if clash.base:
        layout = None  # versions of what ours has are indented as they are
    base, ours, theirs = (
        "".join(
            entry_lines(e, column, layout if made is clash.theirs else None, lead=inside or i > 0)
            for i, e in enumerate(made)
        )
        for made in (clash.base, clash.ours, clash.theirs)
    )
    return [*above, Hunk(base, ours, theirs, show(item.path), clash.why)]


def _shared_lead(clash: Clash, column: int, path: Path) -> tuple[Pieces, bool]:
    if not clash.ours or not clash.theirs:
        return [], True
    ours, theirs = clash.ours[0], clash.theirs[0]
    leads = [
        bare_lines(e.value.text[e.lead : e.line]) if e is not None else []
        for e in (clash.base[0] if clash.base else None, ours, theirs)
    ]
    merged = merge_lines(Three(*leads))
    if merged is None:
        if in_flow(ours):
            return [], False
        return [ours.value.text[ours.lead : ours.line]], False
    if any(isinstance(part, TextClash) for part in merged):
        return [], True
    return comment_lines(merged, column, path), False
