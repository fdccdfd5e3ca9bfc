"""What follows a value: its comment on the line, and the deeper comments below.

Three kinds of values carry it differently. A value that ends its line has it behind itself. A
block collection below its key has it on the key's line; where one starts behind a dash, it goes
to lines of its own for a comment. A block scalar has no place for one.
"""

from __future__ import annotations

from kmerge_git.merge.plan import Item, Plan, Take
from kmerge_git.merge.write.layout import shift_rest
from kmerge_git.tree.nodes import Collection, Entry, Node, Scalar
from kmerge_git.tree.spans import after, column_of, in_mid_line, on_own_lines


def has_tail(node: Node) -> bool:
    """Whether a comment can stand on the line where a value ends, or where its key stands."""
    if isinstance(node, Scalar):
        return not _is_text(node)
    return not (isinstance(node, Collection) and in_mid_line(node))


def keeps_tail(plan: Plan, ours: Entry, theirs: Entry) -> bool:
    """Whether the text behind a value has a place in the plan's result."""
    if isinstance(plan, Take):
        return has_tail(ours.value) and has_tail(plan.node)
    return not _is_text(ours.value) or _is_text(theirs.value)


def _is_text(node: Node) -> bool:
    return isinstance(node, Scalar) and node.style in ("|", ">")


def tail_of(item: Item, entry: Entry) -> str:
    """What follows the value of an entry of ours, to the end of its lines."""
    plan, value = item.plan, entry.value
    taken = plan.entry if isinstance(plan, Take) else None
    if taken is not None and not keeps_tail(plan, entry, taken):
        return _lines(after(taken), column_of(entry) - column_of(taken))
    if item.after is not None and not _starts_in_mid_line(value):
        by = column_of(entry) - column_of(item.theirs) if item.theirs is not None else 0
        return _lines(item.after, by)
    if on_own_lines(value):
        return _lines(after(entry), 0)
    return value.text[value.end : entry.end]


def _starts_in_mid_line(node: Node) -> bool:
    return isinstance(node, Collection) and in_mid_line(node)


def dash_comment(item: Item) -> str:
    """A comment of theirs for the line of our dash, if ours has its value on that line."""
    if item.ours is None or not _starts_in_mid_line(item.ours.value) or not item.after:
        return ""
    return item.after.split("\n", 1)[0].strip()


def _lines(text: str, by: int) -> str:
    """A tail as whole lines, with a blank before its comment."""
    text = shift_rest(text.rstrip() + "\n", by)
    return text if text[:1] in " \n" else "  " + text
