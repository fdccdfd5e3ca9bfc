"""The pieces of text around a value that merge on their own."""

from __future__ import annotations

from kmerge_git.tree.nodes import Alias, Collection, Entry, Node, Scalar


def in_mid_line(collection: Collection) -> bool:
    """Whether a block collection starts behind a dash or `?` on the same line."""
    at = collection.content
    return not collection.flow and collection.top == at > 0 and collection.text[at - 1] != "\n"


def on_own_lines(node: Node) -> bool:
    """Whether a node is a block collection that starts on a line of its own."""
    return isinstance(node, Collection) and not node.flow and not in_mid_line(node)


def is_block_text(node: Node) -> bool:
    """Whether a node is a block scalar: lines under a header (`|`, `>`)."""
    return isinstance(node, Scalar) and node.style in ("|", ">")


def inline(node: Node) -> bool:
    """Whether a node is one token (or flow collection) within one line."""
    if is_block_text(node):
        return False
    return not (isinstance(node, Collection) and not node.flow) and "\n" not in node.raw


def in_flow(entry: Entry) -> bool:
    """Whether an entry stands in a flow collection: it does not own its line."""
    return entry.end == entry.value.end


def is_linewise(made: Collection) -> bool:
    """Whether every entry of a flow collection has its own lines, and the closing bracket too."""
    text = made.text
    ends = [*(e.start for e in made.entries[1:]), made.end - 1]
    return bool(made.entries) and all(
        not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t")
        and text.find("\n", made.content, at) > 0
        for at in (made.entries[0].start, *ends)
    )


def comment_behind(entry: Entry | None) -> str:
    """The comment that stands behind an entry of a flow collection on its line."""
    if entry is None or not in_flow(entry):
        return ""
    text = entry.value.text
    behind = text[entry.value.end : text.find("\n", entry.value.end)].lstrip(" ,")
    return "  " + behind.rstrip() if behind.startswith("#") else ""


def after(entry: Entry) -> str:
    """What follows a value on its line and below; of a block collection the key line's comment."""
    value = entry.value
    if not on_own_lines(value):
        mid_line = isinstance(value, Collection) and not value.flow
        return "" if mid_line else value.text[value.end : entry.end]
    line, hash_mark, comment = opening(entry).partition("#")
    blanks = line[len(line.rstrip(" \t")) :]
    return blanks + hash_mark + comment.rstrip() if hash_mark else ""


def opening(entry: Entry) -> str:
    """Between the key or dash and the first line of a block collection below it."""
    start = entry.key.end if entry.key is not None else entry.start + 1
    value = entry.value
    top = value.top if isinstance(value, Collection) else value.start
    return value.text[start:top]


def head(collection: Collection) -> str:
    """The comment lines above the first entry that do not belong to it."""
    if collection.flow or in_mid_line(collection) or not collection.entries:
        return ""
    return collection.text[collection.top : collection.entries[0].lead]


def foot(collection: Collection) -> str:
    """The comment lines below the last entry that do not belong to it."""
    if collection.flow or not collection.entries:
        return ""
    return collection.text[collection.entries[-1].end : collection.bottom]


def key_text(entry: Entry) -> str:
    """The key as it is written."""
    return entry.key.raw if entry.key is not None else ""


def properties(node: Node) -> str:
    """Anchor and tag as they are written."""
    if isinstance(node, Alias) or node.content == node.start:
        return ""
    return " ".join(node.text[node.start : node.content].split("#")[0].split())


def column_of(entry: Entry) -> int:
    """The column of an entry's key or dash."""
    return entry.start - (entry.value.text.rfind("\n", 0, entry.start) + 1)


def separator_end(entry: Entry) -> int:
    """The offset behind the colon of a key; of a dash the offset behind it."""
    key = entry.key
    if key is None:
        return entry.start + 1
    text, at = entry.value.text, key.end
    while at < entry.value.start:
        if text[at] == "#":
            at = text.find("\n", at)
        elif text[at] == ":":
            return at + 1
        else:
            at += 1
    return key.end


def keeps_blank_lines(node: Node) -> bool:
    """Whether a node ends in a block scalar to which blank lines below it would belong (`|+`)."""
    while isinstance(node, Collection) and not node.flow and node.entries:
        node = node.entries[-1].value
    if not is_block_text(node):
        return False
    header = node.text[node.content : node.text.find("\n", node.content)]
    return "+" in header.split("#", maxsplit=1)[0]
