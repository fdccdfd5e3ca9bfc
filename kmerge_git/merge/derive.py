"""Entries that exist in no file: an entry of theirs without some of its parts.

The plan that leaves the parts out is written with the entry's own text as the canvas, and the
text is parsed again. So an added map without its nulls keeps its comments and its spelling.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.merge.plan import Build, Item, Keep, Plan
from kmerge_git.merge.write.document import entry_pieces
from kmerge_git.text.pieces import side_text
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Collection, Entry, Node
from kmerge_git.tree.spans import column_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def derived(entry: Entry, plan: Plan) -> Entry:
    """The entry with this plan for its value, as an entry of a text of its own."""
    item = Item(plan, entry, entry, ())
    text = side_text(entry_pieces(item, column_of(entry)), "ours")
    try:
        root = split(Source.of(text)).documents[0].root
    except KmergeError:
        return entry  # an alias whose anchor stands elsewhere: the entry as it is
    return root.entries[0] if isinstance(root, Collection) and root.entries else entry


def pruned(entry: Entry, drop: Callable[[Entry], bool]) -> Entry:
    """The entry without the mapping entries for which `drop` says so, at every depth."""
    plan = pruned_plan(entry.value, drop)
    return derived(entry, plan) if plan is not None else entry


def pruned_plan(value: Node, drop: Callable[[Entry], bool]) -> Build | None:
    """A value without them, as a plan over its own text; None: there is nothing to drop."""
    if not isinstance(value, Collection):
        return None
    items = []
    changed = False
    for child in value.entries:
        if child.key is not None and drop(child):
            changed = True
            continue
        inner = pruned_plan(child.value, drop)
        changed = changed or inner is not None
        items.append(Item(inner or Keep(child.value), child, child, ()))
    return Build(value, value, items) if changed else None
