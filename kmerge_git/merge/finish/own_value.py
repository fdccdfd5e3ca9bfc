"""Write a value that neither side has into the lines of a conflict, and parse them as a check."""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Refused
from kmerge_git.merge.finish.possible_answers import block_of, dedented, edited, entry_of, within
from kmerge_git.tree.documents import split_text
from kmerge_git.tree.nodes import (
    Collection,
    Entry,
    Node,
    Scalar,
    Sequence,
    column_of,
    in_flow,
    inline,
    is_block_text,
)
from kmerge_git.tree.oddities import refuse_oddities
from kmerge_git.tree.same import same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.text.pieces import Hunk


_OF_DOCUMENTS = ("---", "...")  # inside an indented value these lines would be text


def with_value(kind: str, hunk: Hunk, given: str) -> str:
    """Return the lines of a conflict with a given value in place of the values of the sides."""
    root = _parsed(edited(given.lstrip("\n")))
    given = edited(given.strip("\n"))
    model = hunk.ours or hunk.theirs or hunk.base
    if kind == "document":
        return given if not model.startswith("---") or given.startswith("---") else f"---\n{given}"
    if kind == "text":
        if not isinstance(root, Scalar):
            raise Refused("these are lines of a text: give a text")
        return _at_column(root.value.rstrip("\n") + "\n", _column(model))
    if kind in ("comment", "lines"):
        raise Refused("there is no value in this place; give the lines")
    _refuse_documents(given)
    entry = entry_of(hunk, model)
    if entry is not None and (kind == "value" or not in_flow(entry)):
        return _in_place(hunk, entry, root, given)
    top = block_of(model)
    if not isinstance(root, Collection) or type(top) is not type(root) or root.flow:
        shape = "a list" if isinstance(top, Sequence) else "fields"
        raise Refused(f"there are several entries here: give {shape}, in lines")
    return _at_column(given, _column(model))


def _refuse_documents(given: str) -> None:
    if any(line[:3] in _OF_DOCUMENTS and not line[3:4].strip() for line in given.split("\n")):
        raise Refused("give the value alone, without `---` and `...`")


def _in_place(hunk: Hunk, entry: Entry, root: Node, given: str) -> str:
    """Return the lines of an entry with a new value; parse the lines to check the value."""
    lines = within(_entry_with(entry, root, given))
    there = entry_of(hunk, lines)
    if there is None or there.name != entry.name or not same_node(there.value, root):
        raise Refused("it would mean something else in this place: quote it")
    return lines


def _parsed(given: str) -> Node:
    try:
        stream = split_text(given)
        root = stream.documents[0].root if len(stream.documents) == 1 else None
        refuse_oddities(split_text(""), stream)
    except KmergeError as error:
        raise Refused(f"it is no YAML: {error.why.removeprefix('not YAML: ')}") from None
    if root is None:
        raise Refused("there is no value in it")
    return root


def _entry_with(entry: Entry, root: Node, given: str) -> str:
    """Return the lines of an entry with a new value; keep the comment after the old value."""
    old = entry.value
    text = old.text
    is_block = isinstance(root, Collection) and not root.flow
    is_line = "\n" not in given.strip("\n")
    if is_line and is_block and isinstance(old, Scalar):
        raise Refused("it would be a map or a list: put quotes or brackets around it")
    is_short = is_line and not is_block
    if is_short and inline(old):
        blank = "" if text[old.start - 1].isspace() or old.start < old.end else " "
        return text[: old.start] + blank + given.strip() + text[old.end :]
    if in_flow(entry):
        raise Refused("it is between brackets: give a value of one line")
    line_end = text.find("\n", entry.start)
    head = text[: old.start if old.start <= line_end else line_end].rstrip() + " "
    column = column_of(entry)
    if is_short or is_block_text(root):
        first, _, rest = given.strip("\n").partition("\n")
        says_its_column = any(sign.isdigit() for sign in first.partition("#")[0])
        rest = _indented(rest, column) if says_its_column else _at_column(rest, column + 2)
        return f"{head}{first}\n" + (rest + "\n" if rest else "")
    lines = _at_column(given, column + 2)
    return head + lines.lstrip(" ") if entry.key is None else head.rstrip() + "\n" + lines


def _column(text: str) -> int:
    line = next((x for x in text.split("\n") if x.strip()), "")
    return len(line) - len(line.lstrip(" "))


def _at_column(text: str, column: int) -> str:
    return _indented(dedented(text), column)


def _indented(text: str, column: int) -> str:
    return "\n".join(" " * column + line if line else "" for line in text.split("\n"))
