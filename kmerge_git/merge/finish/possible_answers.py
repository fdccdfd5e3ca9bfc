"""Say what somebody may answer to a conflict, and which lines the answer puts in its place.

The lines of a side are read as YAML to know which entry the conflict is about. `own_value` makes
the lines of a value that no side has.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache

from kmerge_git.errors import KmergeError, Refused
from kmerge_git.kube.listkeys import field_text
from kmerge_git.merge.decide.higher_version import higher, why_not_higher
from kmerge_git.merge.plan import Clash, Item, Why
from kmerge_git.outcome import SIDES
from kmerge_git.text.markers import first_marker
from kmerge_git.text.undecided import UNDECIDED
from kmerge_git.tree.documents import split_text
from kmerge_git.tree.nodes import (
    Collection,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    in_flow,
    inline,
)
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.text.pieces import Hunk

CHOICES = (*SIDES, "both", "base", "higher")
# The kinds of conflicts; `value` is one scalar below a key, or in a list.
KINDS = ("value", "entries", "text", "comment", "document", "lines")
BRACKETS = (("{\n", "}\n"), ("[\n", "]\n"))  # around lines from within a flow collection

_TWICE = "the same thing would stand there twice"
_NOT_IN_A_ROW = "these are no lines that can stand one below the other"


def kind_of(hunk: Hunk, *, by_lines: bool = False) -> str:
    """Return which of `KINDS` a conflict is."""
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
    """Return whether entries have one name and, between brackets, the same neighbours."""
    if any(in_flow(entry) for entry in entries) and len({_around(e) for e in entries[-2:]}) > 1:
        return False
    return len({entry.name for entry in entries}) == 1


def _around(entry: Entry) -> tuple[str, str]:
    value = entry.value
    return value.text[: value.start], value.text[value.end :].rstrip("\n}]").rstrip(",\n")


def value_of(kind: str, hunk: Hunk, side: str) -> str | None:
    """Return a side for people: the scalar of a value, else the lines without indentation."""
    text = hunk.side(side)
    entry = entry_of(hunk, text) if kind == "value" else None
    if entry is not None:
        return entry.value.raw
    return dedented(text) if text else None


def choices(kind: str, hunk: Hunk) -> tuple[str, ...]:
    """Return the answers that may be given; the proof of the whole file decides in the end."""
    possible = []
    for choice in CHOICES:
        with suppress(Refused):
            lines_of(kind, hunk, choice)
            possible.append(choice)
    return tuple(possible)


def lines_of(kind: str, hunk: Hunk, choice: str) -> str:
    """Return the lines that an answer puts in the place of a conflict."""
    if choice == "higher":
        return hunk.side(_higher(kind, hunk))
    if choice == "both":
        return _both(kind, hunk)
    # the base may come from a merge of several bases that had a conflict there, ours or git's
    if choice == "base" and (UNDECIDED in hunk.base or first_marker(hunk.base) >= 0):
        raise Refused("the base is an undecided merge itself")
    return hunk.side(choice)


def edited(text: str, size: int = 7) -> str:
    """Return the lines that somebody wrote for the place of a conflict."""
    if first_marker(text, min(size, 7)) >= 0:
        raise Refused("conflict markers are left in it")
    text = text.replace("\r\n", "\n")
    if "\0" in text or "\r" in text:
        raise Refused("there is a character in it that no manifest can hold")
    return ended(text)


def ended(text: str) -> str:
    """Return lines of which the last one ends as well."""
    return text if not text or text.endswith("\n") else text + "\n"


def _higher(kind: str, hunk: Hunk) -> str:
    """Return the side with the higher version."""
    entries = [entry_of(hunk, hunk.side(side)) for side in SIDES] if kind == "value" else []
    values = [e.value.value for e in entries if e is not None and isinstance(e.value, Scalar)]
    if len(values) < 2:
        raise Refused("these are not two values of one field")
    side = higher(*values)
    if not side:
        raise Refused(why_not_higher(*values))
    return side


def _both(kind: str, hunk: Hunk) -> str:
    """Return the lines of ours, and below them those that theirs has besides."""
    ours, theirs = hunk.ours, hunk.theirs
    if not ours or not theirs:
        raise Refused("one side has nothing there")
    if hunk.why.startswith(Why.DAMAGE):  # lines of both sides do not go together
        raise Refused(_TWICE)
    if kind == "document":
        return ours + (theirs if theirs.startswith("---") else "---\n" + theirs)
    if kind in ("text", "lines") or _are_comments(ours + theirs):
        return ours + theirs
    mine, yours = block_of(ours), block_of(theirs)
    if mine is None or yours is None:
        raise Refused(_NOT_IN_A_ROW)
    # a field on the line of a dash begins an element
    is_in_dash = _is_about_a_key(hunk) and isinstance(mine, Sequence)
    lines = "" if is_in_dash else _both_entries(mine, yours)
    if lines:
        return lines
    if kind == "comment":
        raise Refused(_NOT_IN_A_ROW)
    is_twice = _have_one(mine.entries, yours.entries)
    raise Refused(_TWICE if is_twice else "one side has all that the other has")


def _both_entries(mine: Collection, yours: Collection) -> str:
    """Return the lines of two collections; nothing where they are not two things."""
    here, there = {_meaning(e) for e in mine.entries}, {_meaning(e) for e in yours.entries}
    if type(mine) is not type(yours) or here <= there or there <= here:
        return ""  # one side has all that the other has
    more = [entry for entry in yours.entries if _meaning(entry) not in here]
    if _have_one(more, mine.entries):
        return ""
    if len(more) == len(yours.entries):
        return mine.text + yours.text
    return mine.text + "".join(yours.text[_first_line(e) : e.end] for e in more)


def _first_line(entry: Entry) -> int:
    """Return where an entry begins with the comments that belong to it."""
    return entry.attached if entry.line != entry.start else entry.line


def _are_comments(text: str) -> bool:
    return all(line.lstrip().startswith("#") for line in text.split("\n") if line.strip())


def _have_one(some: Iterable[Entry], others: Iterable[Entry]) -> bool:
    """Return whether some have a key of the others, or elements of one name."""
    return bool({*map(_called, some)} & {*map(_called, others)} - {None})


def _called(entry: Entry) -> Hashable:
    return (entry.name,) if entry.key is not None else field_text(entry.value, "name")


def _meaning(entry: Entry) -> Hashable:
    """Return the same for entries of one key and one meaning."""
    return entry.name, canon(entry.value)


# -- the lines of a side


def path_of(hunk: Hunk) -> Path:
    """Return the place of a conflict; nothing for a document and for what has no fields."""
    if isinstance(hunk.about, Item):
        return hunk.about.path
    return hunk.about if isinstance(hunk.about, tuple) else ()


def _is_about_a_key(hunk: Hunk) -> bool:
    """Return whether a conflict is about a key, not about an element of a list."""
    path = path_of(hunk)
    return bool(path) and isinstance(path[-1], str)


def entry_of(hunk: Hunk, text: str) -> Entry | None:
    """Return the entry that a conflict is about, in the lines of a side that hold nothing else.

    Of a flow collection in one line it is the entry inside. Where the lines are part of a flow
    collection, the entry's text has the brackets around them (see `within`).
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
    """Return a text that `entry_of` found an entry in, without the brackets put around it."""
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
    """Return whether an entry is around the one that the conflict is about."""
    if _is_about_a_key(hunk):
        return entry.key is None or entry.name != path_of(hunk)[-1]
    return entry.key is not None


def _in_one_line(hunk: Hunk, around: Entry | None, inner: Node | None) -> Entry | None:
    """Return the entry within flow collections, by keys alone: their places are certain."""
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
    """Return the block collection that some lines are."""
    top = _collection(text)
    return None if top is None or top.flow else top


@lru_cache(maxsize=32)  # of each conflict the lines are read ten times
def _collection(text: str) -> Collection | None:
    """Return the collection that some lines are."""
    try:
        root = root_of(text)
    except KmergeError:
        return None
    return root if isinstance(root, Collection) else None


def root_of(text: str) -> Node | None:
    """Return the root of a text that is one document."""
    documents = split_text(text).documents
    return documents[0].root if len(documents) == 1 else None


def dedented(text: str) -> str:
    """Return lines without the indentation that all of them share."""
    lines = text.split("\n")
    margin = min((len(x) - len(x.lstrip(" ")) for x in lines if x.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)
