"""What somebody may answer to a conflict, and the lines that the answer puts in its place.

A value of their own is `finish/values`.
"""

from __future__ import annotations

from kmerge_git.errors import Refused
from kmerge_git.kube.listkeys import field_text
from kmerge_git.merge.decide.policies import higher, why_not_higher
from kmerge_git.merge.finish.lines import block_of, dedented, entry_of, is_about_a_key
from kmerge_git.merge.plan import Item, Why
from kmerge_git.outcome import SIDES
from kmerge_git.text.markers import first_marker
from kmerge_git.text.undecided import UNDECIDED
from kmerge_git.tree.nodes import Collection, Entry, Scalar, Sequence
from kmerge_git.tree.same import canon
from kmerge_git.tree.spans import in_flow, inline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

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
