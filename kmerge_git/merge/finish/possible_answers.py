"""Say what somebody may answer to a conflict, and which lines the answer puts in its place.

The lines of a side are read as YAML to know which entry the conflict is about. A value that no
side has is in `finish/own_value`.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Refused
from kmerge_git.kube.listkeys import field_text
from kmerge_git.merge.decide.policies import higher, why_not_higher
from kmerge_git.merge.plan import Clash, Item, Why
from kmerge_git.outcome import SIDES
from kmerge_git.text.markers import first_marker
from kmerge_git.text.source import Source
from kmerge_git.text.undecided import UNDECIDED
from kmerge_git.tree.documents import split
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
# What a conflict is about; `value` is one scalar below a key, or in a list.
KINDS = ("value", "entries", "text", "comment", "document", "lines")


def kind_of(hunk: Hunk, *, by_lines: bool = False) -> str:
    """Which of `KINDS` a conflict is."""
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
    """Whether entries have one name, and what stands beside them between brackets is the same."""
    if any(in_flow(entry) for entry in entries) and len({_beside(e) for e in entries[-2:]}) > 1:
        return False
    return len({entry.name for entry in entries}) == 1


def _beside(entry: Entry) -> tuple[str, str]:
    value = entry.value
    return value.text[: value.start], value.text[value.end :].rstrip("\n}]").rstrip(",\n")


def value_of(kind: str, hunk: Hunk, side: str) -> str | None:
    """A side for people: the scalar of a value, else the lines without their indentation."""
    text = hunk.side(side)
    entry = entry_of(hunk, text) if kind == "value" else None
    if entry is not None:
        return entry.value.raw
    return dedented(text) if text else None


def choices(kind: str, hunk: Hunk) -> tuple[str, ...]:
    """The answers that may be given; the whole file has the last word about them."""
    found = [*SIDES]
    if _both(kind, hunk) is not None:
        found.append("both")
    if not _is_undecided(hunk.base):
        found.append("base")
    if _higher(kind, hunk):
        found.append("higher")
    return tuple(found)


def lines_of(kind: str, hunk: Hunk, choice: str) -> str:
    """The lines that an answer puts in the place of a conflict."""
    if choice == "higher":
        side = _higher(kind, hunk)
        if not side:
            raise Refused(_why_not_higher(kind, hunk))
        return hunk.side(side)
    if choice == "both":
        text = _both(kind, hunk)
        if text is None:
            raise Refused(_why_not_both(kind, hunk))
        return text
    if choice == "base" and _is_undecided(hunk.base):
        raise Refused("the base is an undecided merge itself")
    return hunk.side(choice)


def edited(text: str, size: int = 7) -> str:
    """Lines that somebody wrote for the place of a conflict."""
    if first_marker(text, min(size, 7)) >= 0:
        raise Refused("conflict markers are left in it")
    if "\0" in text or "\r" in text.replace("\r\n", "\n"):
        raise Refused("there is a character in it that no manifest can hold")
    text = text.replace("\r\n", "\n")
    return text if not text or text.endswith("\n") else text + "\n"


def _is_undecided(base: str) -> bool:
    """Whether it comes from a merge of several bases that had a conflict there, ours or git's."""
    return UNDECIDED in base or first_marker(base) >= 0


# -- a higher version


def _higher(kind: str, hunk: Hunk) -> str:
    values = _two_values(kind, hunk)
    return higher(*values) if values else ""


def _why_not_higher(kind: str, hunk: Hunk) -> str:
    values = _two_values(kind, hunk)
    return why_not_higher(*values) if values else "these are not two values of one field"


def _two_values(kind: str, hunk: Hunk) -> tuple[str, str] | None:
    if kind != "value":
        return None
    ours, theirs = entry_of(hunk, hunk.ours), entry_of(hunk, hunk.theirs)
    if ours is None or theirs is None:
        return None
    mine, yours = ours.value, theirs.value
    if not (isinstance(mine, Scalar) and isinstance(yours, Scalar)):
        return None
    return mine.value, yours.value


# -- both


def _both(kind: str, hunk: Hunk) -> str | None:
    """Ours, and below it what theirs has besides; None where there are no two things."""
    ours, theirs = hunk.ours, hunk.theirs
    if not ours or not theirs or _does_damage(hunk):
        return None
    if kind == "document":
        return ours + (theirs if theirs.startswith("---") else "---\n" + theirs)
    if kind in ("text", "lines") or _are_comments(ours + theirs):
        return ours + theirs
    mine, yours = block_of(ours), block_of(theirs)
    if mine is None or yours is None or _begins_an_element(hunk, mine):
        return None
    return _both_entries(mine, yours)


def _both_entries(mine: Collection, yours: Collection) -> str | None:
    here, there = map(_told, mine.entries), list(map(_told, yours.entries))
    known = set(here)
    more = [entry for entry, told in zip(yours.entries, there, strict=True) if told not in known]
    if type(mine) is not type(yours) or not more or known <= set(there):
        return None  # one side has all that the other has
    if _have_one(more, mine.entries):
        return None
    if len(more) == len(yours.entries):
        return mine.text + yours.text
    return mine.text + "".join(yours.text[_first_line(e) : e.end] for e in more)


def _first_line(entry: Entry) -> int:
    """Where an entry begins with the comments that belong to it."""
    return entry.attached if entry.line != entry.start else entry.line


def _why_not_both(kind: str, hunk: Hunk) -> str:
    if not hunk.ours or not hunk.theirs:
        return "one side has nothing there"
    if _does_damage(hunk):
        return "the same thing would stand there twice"
    mine, yours = block_of(hunk.ours), block_of(hunk.theirs)
    if mine is None or yours is None or kind == "comment":
        return "these are no lines that can stand one below the other"
    if _have_one(mine.entries, yours.entries):
        return "the same thing would stand there twice"
    return "one side has all that the other has"


def _does_damage(hunk: Hunk) -> bool:
    """Whether it is a conflict because lines of both sides do not go together."""
    return hunk.why.startswith(Why.DAMAGE)


def _are_comments(text: str) -> bool:
    return all(line.lstrip().startswith("#") for line in text.split("\n") if line.strip())


def _have_one(some: Iterable[Entry], others: Iterable[Entry]) -> bool:
    """Whether some have a key of the others, or elements of one name."""
    return bool({*map(_called, some)} & {*map(_called, others)} - {None})


def _called(entry: Entry) -> Hashable:
    name = field_text(entry.value, "name")
    return (entry.name,) if entry.key is not None else name


def _told(entry: Entry) -> Hashable:
    """The same for entries of one key and one meaning."""
    return entry.name, canon(entry.value)


def _begins_an_element(hunk: Hunk, top: Collection) -> bool:
    """Whether the conflict is about a field that stands on the line of a dash."""
    return is_about_a_key(hunk) and isinstance(top, Sequence)


_read: dict[str, Node | None] = {}  # what lines are that were read a moment ago
_MOST_READ = 32
BRACKETS = (("{\n", "}\n"), ("[\n", "]\n"))  # around lines from within a flow collection


def path_of(hunk: Hunk) -> Path:
    """The place of a conflict; nothing for a document and for what has no fields."""
    if isinstance(hunk.about, Item):
        return hunk.about.path
    return hunk.about if isinstance(hunk.about, tuple) else ()


def is_about_a_key(hunk: Hunk) -> bool:
    """Whether a conflict has a key, and is not about an element of a list."""
    path = path_of(hunk)
    return bool(path) and isinstance(path[-1], str)


def entry_of(hunk: Hunk, text: str) -> Entry | None:
    """The entry that a conflict is about, in the lines of a side that hold nothing else.

    Of a flow collection in one line it is the entry inside. Where the lines stand within one, the
    entry's text has the brackets around them (see `within`).
    """
    if not is_about_a_key(hunk) and isinstance(block_of(text), Mapping):
        return None  # the element stands within a flow collection on the line of a key
    if _stands_in_flow(hunk):
        opening, closing = BRACKETS[0 if is_about_a_key(hunk) else 1]
        top = _collection(opening + text + closing)
        if top is not None and len(top.entries) == 1 and not _is_of_other(hunk, top.entries[0]):
            return top.entries[0]
    return _entry_below(hunk, block_of(text))


def within(text: str) -> str:
    """A text that `entry_of` found an entry in, without brackets that are none of its own."""
    for opening, closing in BRACKETS:
        if text.startswith(opening) and text.endswith("\n" + closing):
            return text[len(opening) : -len(closing)]
    return text


def _entry_below(hunk: Hunk, top: Collection | None) -> Entry | None:
    while top is not None and len(top.entries) == 1:
        entry = top.entries[0]
        if not _is_of_other(hunk, entry):
            return entry
        inner = entry.value if isinstance(entry.value, Collection) else None
        if entry.key is not None:
            return _in_one_line(hunk, entry, inner)
        top = inner
    return _in_one_line(hunk, None, top) if top is not None and top.flow else None


def _is_of_other(hunk: Hunk, entry: Entry) -> bool:
    """Whether an entry is not what the conflict is about, but something around it."""
    if is_about_a_key(hunk):
        return entry.key is None or entry.name != path_of(hunk)[-1]
    return entry.key is not None


def _in_one_line(hunk: Hunk, around: Entry | None, made: Collection | None) -> Entry | None:
    """The entry within flow collections: found by keys alone, whose places are certain."""
    path = path_of(hunk)
    at = len(path) - 1
    while around is not None and at >= 0 and path[at] != around.name:
        at -= 1
    keys = path[at + 1 :] if around is not None and at >= 0 else path[-1:]
    found = None
    for key in keys:
        if not (isinstance(made, Mapping) and made.flow and isinstance(key, str)):
            return None
        named = [entry for entry in made.entries if entry.name == key]
        if len(named) != 1:
            return None
        found, made = named[0], named[0].value  # type: ignore[assignment]
    return found


def _stands_in_flow(hunk: Hunk) -> bool:
    item = hunk.about
    if not isinstance(item, Item):
        return False
    found = [item.ours, item.theirs, item.base]
    if isinstance(item.plan, Clash):
        found += [entry for entries in item.plan.at.each() for entry in entries[:1]]
    return any(entry is not None and in_flow(entry) for entry in found)


def block_of(text: str) -> Collection | None:
    """The block collection that some lines are."""
    top = _collection(text)
    return None if top is None or top.flow else top


def _collection(text: str) -> Collection | None:
    """The collection that some lines are; of each conflict they are asked for ten times."""
    if text not in _read:
        if len(_read) >= _MOST_READ:
            _read.clear()
        _read[text] = _parsed(text)
    root = _read[text]
    return root if isinstance(root, (Mapping, Sequence)) else None


def _parsed(text: str) -> Node | None:
    try:
        documents = split(Source.of(text)).documents
        return documents[0].root if len(documents) == 1 else None
    except KmergeError:
        return None


def dedented(text: str) -> str:
    """Lines without the indentation that all of them share."""
    lines = text.split("\n")
    margin = min((len(x) - len(x.lstrip(" ")) for x in lines if x.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)
