"""Write a document: turn a plan and our text into the text of the result.

If only a part of their entry is taken, the part is first written by itself, with its own comments
and spelling, and parsed again. After that it is an ordinary entry that can be put at any column.
"""

from __future__ import annotations

from kmerge_git.merge.plan import Build, Item, NewText, Plan, Take, decided
from kmerge_git.merge.three import Three
from kmerge_git.merge.write import flow
from kmerge_git.merge.write.block_entries import (
    cause,
    entry_pieces,
    head_and_foot,
    must_lift,
    write_block,
    write_items,
)
from kmerge_git.merge.write.placed_lines import overlay, text_lines
from kmerge_git.text.pieces import VERSIONS, Hunk, side_text
from kmerge_git.tree.documents import Document, split_text
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Scalar, column_of, in_mid_line, inline

TYPE_CHECKING = False
if TYPE_CHECKING:
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
        return [text[ours.body : root.top], *head_and_foot(plan, 0, ()), empty]
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


# -- parts of entries


def _without_parts(plan: Plan) -> Plan:
    """Replace every entry of which the plan takes only a part by an entry with just that part."""
    if isinstance(plan, Take):
        return _alone(plan)
    if not isinstance(plan, Build):
        return plan
    items = [_item(item) for item in plan.items]
    if all(new is old for new, old in zip(items, plan.items, strict=True)):
        return plan
    ours, theirs = plan.ours, plan.theirs
    return Build(ours, theirs, items, head=plan.head, foot=plan.foot, properties=plan.properties)


def _item(item: Item) -> Item:
    plan = _without_parts(item.plan)
    if plan is item.plan:
        return item
    theirs = plan.entry if isinstance(plan, Take) and item.ours is None else item.theirs
    return item.but(plan, theirs, item.lead)


def _alone(plan: Take) -> Take:
    if plan.part is None or plan.entry is None:
        return plan
    entry = _written(plan.entry, plan.part)
    return Take(
        entry.value, entry, plan.style, anchor=plan.anchor, keeps_comment=plan.keeps_comment
    )


def _written(entry: Entry, part: Plan) -> Entry:
    pieces = entry_pieces(Item(part, entry, entry, ()), column_of(entry))
    root = split_text(side_text(pieces, "ours")).documents[0].root
    assert isinstance(root, Collection)  # an entry belongs to a collection
    return root.entries[0]
