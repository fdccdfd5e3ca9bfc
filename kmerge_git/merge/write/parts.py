"""Entries of theirs of which only a part comes: text of its own before it is put anywhere.

The part is written with the entry's own text as the canvas, so that it keeps its comments and its
spelling, and read again: then it is an entry like others, and can stand at any column.
"""

from __future__ import annotations

from kmerge_git.merge.plan import Build, Item, Plan, Take
from kmerge_git.merge.write.document import entry_pieces
from kmerge_git.text.pieces import side_text
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Collection, Entry
from kmerge_git.tree.spans import column_of


def standing_alone(plan: Plan) -> Plan:
    """The plan with every part as an entry of a text of its own."""
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
    plan = standing_alone(item.plan)
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
    item = Item(part, entry, entry, ())
    text = side_text(entry_pieces(item, column_of(entry)), "ours")
    root = split(Source.of(text)).documents[0].root
    assert isinstance(root, Collection)  # an entry stands in a collection
    return root.entries[0]
