"""The line of a key or dash around a value: what stands before the value, and what behind it.

Three kinds of values carry a comment differently. A value that ends its line has it behind itself.
A block collection below its key has it on the key's line; where one starts behind a dash, it goes
to lines of its own for a comment. A block scalar has no place for one.
"""

from __future__ import annotations

from kmerge_git.merge.plan import Item, Take, keeps_tail
from kmerge_git.merge.write.layout import shift_rest
from kmerge_git.tree.nodes import Collection, Entry, Node
from kmerge_git.tree.spans import (
    after,
    column_of,
    in_mid_line,
    on_own_lines,
    opening,
    properties,
    separator_end,
)


def key_part(item: Item, entry: Entry, column: int) -> str:
    """The indentation and the key or dash."""
    text = entry.value.text
    indent = " " * column if entry.line == entry.start else text[entry.line : entry.start]
    if entry.key is None:
        return indent + "-"
    key = item.key if item.key is not None else entry.key.raw
    return indent + text[entry.start : entry.key.start] + key


def before_value(item: Item, entry: Entry, column: int, stop: int = -1) -> str:
    """Everything of the entry's lines before its value, or before `stop`."""
    begin = behind_key(entry)
    end = entry.value.start if stop < 0 else stop
    return key_part(item, entry, column) + entry.value.text[begin:end]


def behind_key(entry: Entry) -> int:
    """The offset behind the key or the dash."""
    return entry.key.end if entry.key is not None else entry.start + 1


def separator(entry: Entry) -> str:
    """What stands between the key and its value's line: a colon, but for `? ` keys."""
    if entry.key is None:
        return ""
    found = entry.value.text[entry.key.end : separator_end(entry)]
    return found or "\n" + " " * column_of(entry) + ":"  # `? key` alone


def rest_of_key_line(item: Item, entry: Entry, marks: str | None = None) -> str:
    """What follows a key above a block, with other properties, another comment, or both."""
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
    return separator(entry) + (" " + marks if marks else "") + comment + "\n"


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


def dash_comment(item: Item) -> str:
    """A comment of theirs for the line of our dash, if ours has its value on that line."""
    if item.ours is None or not _starts_in_mid_line(item.ours.value) or not item.after:
        return ""
    return item.after.split("\n", 1)[0].strip()


def _starts_in_mid_line(node: Node) -> bool:
    return isinstance(node, Collection) and in_mid_line(node)


def _lines(text: str, by: int) -> str:
    """A tail as whole lines, with a blank before its comment."""
    text = shift_rest(text.rstrip() + "\n", by)
    return text if text[:1] in " \n" else "  " + text
