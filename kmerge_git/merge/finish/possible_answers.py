"""Find the possible answers to a conflict, and the lines that replace the conflict.

The lines of a side are parsed as YAML to find the entry that the conflict is about. A value that
neither side has is written into the lines of a side, which are parsed again as a check.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache

from kmerge_git.errors import KmergeError, Refused
from kmerge_git.kube.listkeys import field_text
from kmerge_git.merge.decide.higher_version import compared
from kmerge_git.merge.plan import Clash, Item, Why
from kmerge_git.outcome import SIDES
from kmerge_git.text.markers import SIZE, first_marker, has_new_marker
from kmerge_git.text.pieces import UNDECIDED
from kmerge_git.tree.documents import split_text
from kmerge_git.tree.nodes import (
    Collection,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    column_of,
    in_flow,
    inline,
    is_block_text,
)
from kmerge_git.tree.oddities import refuse_oddities
from kmerge_git.tree.same import canon, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.text.pieces import Hunk


CHOICES = (*SIDES, "both", "base", "higher", "rebump")
# The kinds of conflicts. `value` is one scalar below a key or in a list.
KINDS = ("value", "entries", "text", "comment", "document", "lines")
BRACKETS = (("{\n", "}\n"), ("[\n", "]\n"))  # put around lines of a flow collection

_TWICE = "the file would contain the same entry twice"
_NOT_IN_A_ROW = "the lines of both sides do not make valid YAML together"


def kind_of(hunk: Hunk, *, by_lines: bool = False) -> str:
    """Return the kind of a conflict, as listed in `KINDS`."""
    if by_lines:
        return "lines"
    if hunk.why == Why.COMMENT:
        return "comment"
    if isinstance(hunk.about, tuple):
        return "text"
    if not isinstance(hunk.about, Item):
        return "document"
    sides = [entry_of(hunk, text) for text in (hunk.base, hunk.ours, hunk.theirs) if text]
    entries = [entry for entry in sides if entry is not None and inline(entry.value)]
    is_value = len(entries) == len(sides) and all(isinstance(e.value, Scalar) for e in entries)
    return "value" if is_value and _are_one(entries) else "entries"


def _are_one(entries: list[Entry]) -> bool:
    """Return whether entries have the same name and, in flow collections, the same neighbours."""
    if any(in_flow(entry) for entry in entries) and len({_around(e) for e in entries[-2:]}) > 1:
        return False
    return len({entry.name for entry in entries}) == 1


def _around(entry: Entry) -> tuple[str, str]:
    value = entry.value
    return value.text[: value.start], value.text[value.end :].rstrip("\n}]").rstrip(",\n")


def value_of(kind: str, hunk: Hunk, side: str) -> str | None:
    """Return the value of a side as text for people.

    If the value is one scalar, return the scalar. Otherwise return the lines without indentation.
    """
    text = hunk.side(side)
    entry = entry_of(hunk, text) if kind == "value" else None
    if entry is not None:
        return entry.value.raw
    return dedented(text) if text else None


def choices(kind: str, hunk: Hunk) -> tuple[str, ...]:
    """Return the one-word answers that are possible for a conflict.

    The check of the whole file may still refuse an answer.
    """
    possible = []
    for choice in CHOICES:
        with suppress(Refused):
            lines_of(kind, hunk, choice)
            possible.append(choice)
    return tuple(possible)


def lines_of(kind: str, hunk: Hunk, choice: str) -> str:
    """Return the lines that replace a conflict after an answer."""
    if choice == "higher":
        return hunk.side(_higher(kind, hunk))
    if choice == "rebump":
        raise Refused(
            "`rebump` is possible only for a chart's `version`, in a merge, rebase or cherry-pick"
        )
    if choice == "both":
        return _both(kind, hunk)
    # The base may be a merge of several bases with a conflict, either of kmerge or of git.
    if choice == "base" and (UNDECIDED in hunk.base or first_marker(hunk.base) >= 0):
        raise Refused("the merge base itself contains a conflict; choose a side")
    return hunk.side(choice)


def edited(text: str, size: int = SIZE, versions: Iterable[str] = ()) -> str:
    """Check the lines that a user wrote for a conflict, and return them with a final line end.

    `size` is the size of the markers, and `versions` are the texts that may have such lines, too.
    """
    if has_new_marker(text, versions, size):
        raise Refused("the answer still contains conflict markers; remove them")
    text = text.replace("\r\n", "\n")
    if "\0" in text or "\r" in text:
        raise Refused("the answer contains a NUL or carriage return character; remove it")
    return ended(text)


def ended(text: str) -> str:
    """Return lines with a line end after the last of these lines."""
    return text if not text or text.endswith("\n") else text + "\n"


def _higher(kind: str, hunk: Hunk) -> str:
    """Return the side whose version number is higher."""
    entries = [entry_of(hunk, hunk.side(side)) for side in SIDES] if kind == "value" else []
    values = [e.value.value for e in entries if e is not None and isinstance(e.value, Scalar)]
    if len(values) < 2:
        raise Refused("`higher` needs a conflict between two values of one field")
    side, why = compared(*values)
    if why:
        raise Refused(why)
    return side


def _both(kind: str, hunk: Hunk) -> str:
    """Return the lines of ours, followed by the lines that only theirs has."""
    ours, theirs = hunk.ours, hunk.theirs
    if not ours or not theirs:
        raise Refused("`both` is not possible: one side has no lines here")
    if hunk.why.startswith(Why.DAMAGE):  # the lines of both sides together do damage
        raise Refused(_TWICE)
    if kind == "document":
        return ours + (theirs if theirs.startswith("---") else "---\n" + theirs)
    stripped = (line.lstrip() for line in (ours + theirs).split("\n"))
    if kind in ("text", "lines") or all(line[:1] in ("", "#") for line in stripped):
        return ended(ours) + theirs
    mine, yours = block_of(ours), block_of(theirs)
    if mine is None or yours is None:
        raise Refused(_NOT_IN_A_ROW)
    # A field on the line of a dash begins an element of a list.
    is_in_dash = _is_about_a_key(hunk) and isinstance(mine, Sequence)
    lines = "" if is_in_dash else _both_entries(mine, yours)
    if lines:
        return lines
    if kind == "comment":
        raise Refused(_NOT_IN_A_ROW)
    is_twice = _have_one(mine.entries, yours.entries)
    raise Refused(
        _TWICE
        if is_twice
        else "one side already contains all entries of the other side; choose that side"
    )


def _both_entries(mine: Collection, yours: Collection) -> str:
    """Return the lines of two collections together.

    Return '' if one collection contains the other, or if a key has different values in them.
    """
    here, there = {_meaning(e) for e in mine.entries}, {_meaning(e) for e in yours.entries}
    if type(mine) is not type(yours) or here <= there or there <= here:
        return ""  # one side has all that the other has
    more = [entry for entry in yours.entries if _meaning(entry) not in here]
    if _have_one(more, mine.entries):
        return ""
    if len(more) == len(yours.entries):
        return mine.text + yours.text
    # an entry begins with its comments
    starts = [e.attached if e.line != e.start else e.line for e in more]
    return mine.text + "".join(yours.text[a : e.end] for a, e in zip(starts, more, strict=True))


def _have_one(some: Iterable[Entry], others: Iterable[Entry]) -> bool:
    """Return whether two lists of entries have a key or an element name in common."""
    return bool({*map(_called, some)} & {*map(_called, others)} - {None})


def _called(entry: Entry) -> Hashable:
    return (entry.name,) if entry.key is not None else field_text(entry.value, "name")


def _meaning(entry: Entry) -> Hashable:
    """Return a value that is equal for entries with the same key and the same meaning."""
    return entry.name, canon(entry.value)


# -- the lines of a side


def path_of(hunk: Hunk) -> Path:
    """Return the path of a conflict.

    The path is empty for a conflict about a document, or about lines without fields.
    """
    if isinstance(hunk.about, Item):
        return hunk.about.path
    return hunk.about if isinstance(hunk.about, tuple) else ()


def _is_about_a_key(hunk: Hunk) -> bool:
    """Return whether a conflict is about a key, as opposed to an element of a list."""
    path = path_of(hunk)
    return bool(path) and isinstance(path[-1], str)


def entry_of(hunk: Hunk, text: str) -> Entry | None:
    """Return the entry that a conflict is about, if the lines of a side hold no other entry.

    If the lines are a key with a flow collection, return the entry inside this collection. If the
    lines are a part of a flow collection, the returned entry is in a new text: the lines in the
    brackets of the collection (see `within`).
    """
    is_about_a_key = _is_about_a_key(hunk)
    block = block_of(text)
    if not is_about_a_key and isinstance(block, Mapping):
        return None  # the element is within a flow collection on the line of a key
    if _is_in_flow(hunk):
        opening, closing = BRACKETS[0 if is_about_a_key else 1]
        top = _collection(opening + text + closing)
        if top is not None and len(top.entries) == 1 and not _is_around(hunk, top.entries[0]):
            return top.entries[0]
    return _entry_below(hunk, block)


def within(text: str) -> str:
    """Return the text of an entry without the brackets that `entry_of` put around it."""
    for opening, closing in BRACKETS:
        if text.startswith(opening) and text.endswith("\n" + closing):
            return text[len(opening) : -len(closing)]
    return text


def _entry_below(hunk: Hunk, top: Collection | None) -> Entry | None:
    while top is not None and len(top.entries) == 1:
        entry = top.entries[0]
        if not _is_around(hunk, entry):
            return entry
        inner = entry.value if isinstance(entry.value, Collection) else None
        if entry.key is not None:
            return _in_one_line(hunk, entry, inner)
        top = inner
    return _in_one_line(hunk, None, top) if top is not None and top.flow else None


def _is_around(hunk: Hunk, entry: Entry) -> bool:
    """Return whether an entry contains the entry that the conflict is about."""
    if _is_about_a_key(hunk):
        return entry.key is None or entry.name != path_of(hunk)[-1]
    return entry.key is not None


def _in_one_line(hunk: Hunk, around: Entry | None, inner: Node | None) -> Entry | None:
    """Return the entry inside flow collections; follow only keys of mappings to find the entry.

    List elements are not searched, because their indexes may differ between the versions.
    """
    path = path_of(hunk)
    at = len(path) - 1
    while around is not None and at >= 0 and path[at] != around.name:
        at -= 1
    keys = path[at + 1 :] if around is not None and at >= 0 else path[-1:]
    entry = None
    for key in keys:
        if not (isinstance(inner, Mapping) and inner.flow and isinstance(key, str)):
            return None
        named = [entry for entry in inner.entries if entry.name == key]
        if len(named) != 1:
            return None
        entry, inner = named[0], named[0].value
    return entry


def _is_in_flow(hunk: Hunk) -> bool:
    item = hunk.about
    if not isinstance(item, Item):
        return False
    entries = [item.ours, item.theirs, item.base]
    if isinstance(item.plan, Clash):
        entries += [entry for at in item.plan.at.each() for entry in at[:1]]
    return any(entry is not None and in_flow(entry) for entry in entries)


def block_of(text: str) -> Collection | None:
    """Return the block collection that some lines hold, or None."""
    top = _collection(text)
    return None if top is None or top.flow else top


@lru_cache(maxsize=32)  # the lines of a conflict are parsed about ten times
def _collection(text: str) -> Collection | None:
    """Return the collection that some lines hold, or None."""
    try:
        root = root_of(text)
    except KmergeError:
        return None
    return root if isinstance(root, Collection) else None


def root_of(text: str) -> Node | None:
    """Return the top node of a text that is one document, or None."""
    documents = split_text(text).documents
    return documents[0].root if len(documents) == 1 else None


def dedented(text: str) -> str:
    """Return lines without the indentation that all lines share."""
    lines = text.split("\n")
    margin = min((len(x) - len(x.lstrip(" ")) for x in lines if x.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)


# -- a value that neither side has

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
            raise Refused("the conflict is inside a string; enter text, not a map or a list")
        return _at_column(root.value.rstrip("\n") + "\n", _column(model))
    if kind in ("comment", "lines"):
        raise Refused("the conflict has no single value; enter the lines instead")
    _refuse_documents(given)
    entry = entry_of(hunk, model)
    if entry is not None and (kind == "value" or not in_flow(entry)):
        return _in_place(hunk, entry, root, given)
    top = block_of(model)
    if not isinstance(root, Collection) or type(top) is not type(root) or root.flow:
        shape = "a list" if isinstance(top, Sequence) else "fields"
        raise Refused(f"the conflict has several entries; enter {shape} on separate lines")
    return _at_column(given, _column(model))


def _in_place(hunk: Hunk, entry: Entry, root: Node, given: str) -> str:
    """Return the lines of an entry with a new value; parse the lines to check the value."""
    lines = within(_entry_with(entry, root, given))
    there = entry_of(hunk, lines)
    if there is None or there.name != entry.name or not same_node(there.value, root):
        raise Refused("the value would have a different meaning here; put quotes around it")
    return lines


def _parsed(given: str) -> Node:
    try:
        stream = split_text(given)
        root = stream.documents[0].root if len(stream.documents) == 1 else None
        refuse_oddities(split_text(""), stream)
    except KmergeError as error:
        raise Refused(
            f"the answer is not valid YAML: {error.why.removeprefix('not YAML: ')}"
        ) from None
    if root is None:
        raise Refused("the answer contains no value, or several documents")
    return root


def _entry_with(entry: Entry, root: Node, given: str) -> str:
    """Return the lines of an entry with a new value; keep the comment after the old value."""
    old = entry.value
    text = old.text
    is_block = isinstance(root, Collection) and not root.flow
    is_line = "\n" not in given.strip("\n")
    if is_line and is_block and isinstance(old, Scalar):
        raise Refused("YAML reads this value as a map or a list; put quotes or brackets around it")
    is_short = is_line and not is_block
    if is_short and inline(old):
        blank = "" if text[old.start - 1].isspace() or old.start < old.end else " "
        return text[: old.start] + blank + given.strip() + text[old.end :]
    if in_flow(entry):
        raise Refused("the field is inside brackets; enter a value on one line")
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


def _refuse_documents(given: str) -> None:
    if any(line[:3] in _OF_DOCUMENTS and not line[3:4].strip() for line in given.split("\n")):
        raise Refused("enter only the value, without `---` and `...`")


def _indented(text: str, column: int) -> str:
    return "\n".join(" " * column + line if line else "" for line in text.split("\n"))
