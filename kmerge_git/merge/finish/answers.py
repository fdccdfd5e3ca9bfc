"""What somebody may answer to a conflict, and the lines that the answer puts in its place."""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Refused
from kmerge_git.kube.listkeys import field_text
from kmerge_git.merge.decide.policies import higher, why_not_higher
from kmerge_git.merge.plan import Item, Why
from kmerge_git.outcome import SIDES
from kmerge_git.text.markers import first_marker
from kmerge_git.text.source import Source
from kmerge_git.text.undecided import UNDECIDED
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Collection, Entry, Node, Scalar, Sequence
from kmerge_git.tree.same import same_node
from kmerge_git.tree.spans import column_of, inline, is_block_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.text.pieces import Hunk

CHOICES = (*SIDES, "both", "base", "higher")
_read: dict[str, Collection | None] = {}  # what lines are that were read a moment ago
_MOST_READ = 16
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
    sides = [_entry_of(hunk, text) for text in (hunk.base, hunk.ours, hunk.theirs) if text]
    entries = [entry for entry in sides if entry is not None and inline(entry.value)]
    is_value = len(entries) == len(sides) and all(isinstance(e.value, Scalar) for e in entries)
    return "value" if is_value and len({e.name for e in entries}) == 1 else "entries"


def path_of(hunk: Hunk) -> Path:
    """The place of a conflict; nothing for a document and for what has no fields."""
    if isinstance(hunk.about, Item):
        return hunk.about.path
    return hunk.about if isinstance(hunk.about, tuple) else ()


def value_of(kind: str, hunk: Hunk, side: str) -> str | None:
    """A side for people: the scalar of a value, else the lines without their indentation."""
    text = hunk.side(side)
    entry = _entry_of(hunk, text) if kind == "value" else None
    if entry is not None:
        return entry.value.raw
    return _dedented(text) if text else None


def _dedented(text: str) -> str:
    lines = text.split("\n")
    margin = min((len(x) - len(x.lstrip(" ")) for x in lines if x.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)


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
    ours, theirs = _entry_of(hunk, hunk.ours), _entry_of(hunk, hunk.theirs)
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
    if not ours or not theirs:
        return None
    if kind == "document":
        return ours + (theirs if theirs.startswith("---") else "---\n" + theirs)
    if kind in ("text", "lines") or (kind == "comment" and _are_comments(ours + theirs)):
        return ours + theirs
    mine, yours = _top(ours), _top(theirs)
    if mine is None or yours is None or _begins_an_element(hunk, mine):
        return None
    return _both_entries(mine, yours)


def _both_entries(mine: Collection, yours: Collection) -> str | None:
    more = [entry for entry in yours.entries if not _stands_in(mine, entry)]
    has_less = any(not _stands_in(yours, entry) for entry in mine.entries)
    if type(mine) is not type(yours) or not more or not has_less:
        return None  # one side has all that the other has
    if any(_is_one(a, b) for a in more for b in mine.entries):
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
    mine, yours = _top(hunk.ours), _top(hunk.theirs)
    if mine is None or yours is None or kind == "comment":
        return "these are no lines that can stand one below the other"
    if any(_is_one(a, b) for a in mine.entries for b in yours.entries):
        return "the same thing would stand there twice"
    return "one side has all that the other has"


def _are_comments(text: str) -> bool:
    return all(line.lstrip().startswith("#") for line in text.split("\n") if line.strip())


def _is_one(one: Entry, other: Entry) -> bool:
    """Whether two entries have one key, or are elements of one name."""
    if one.key is not None or other.key is not None:
        return one.name == other.name
    names = [field_text(entry.value, "name") for entry in (one, other)]
    return names[0] is not None and names[0] == names[1]


def _stands_in(there: Collection, entry: Entry) -> bool:
    return any(e.name == entry.name and same_node(e.value, entry.value) for e in there.entries)


def _begins_an_element(hunk: Hunk, top: Collection) -> bool:
    """Whether the conflict is about a field that stands on the line of a dash."""
    return _is_about_a_key(hunk) and isinstance(top, Sequence)


# -- a value that nobody has


def with_value(kind: str, hunk: Hunk, given: str) -> str:
    """The lines of a conflict with a value in the place of those of both sides."""
    given = edited(given.strip("\n"))
    root = _parsed(given)
    model = hunk.ours or hunk.theirs or hunk.base
    if kind == "document":
        return given
    if kind == "text":
        if not isinstance(root, Scalar):
            raise Refused("these are lines of a text: give a text")
        return _at_column(root.value.rstrip("\n") + "\n", _column(model))
    if kind in ("comment", "lines"):
        raise Refused("there is no value in this place; give the lines")
    entry = _entry_of(hunk, model)
    if entry is not None:
        return _entry_with(model, entry, root, given)
    top = _top(model)
    if top is None or type(top) is not type(root) or not _is_block(root):
        shape = "a list" if isinstance(top, Sequence) else "fields"
        raise Refused(f"here stand several entries: give {shape}, in lines")
    return _at_column(given, _column(model))


def _parsed(given: str) -> Node:
    try:
        documents = split(Source.of(given)).documents
        root = documents[0].root if len(documents) == 1 else None
    except KmergeError as error:
        raise Refused(f"it is no YAML: {error.why}") from None
    if root is None:
        raise Refused("there is no value in it")
    return root


def _is_block(node: Node) -> bool:
    return isinstance(node, Collection) and not node.flow


def _entry_with(model: str, entry: Entry, root: Node, given: str) -> str:
    """The only entry of some lines with another value; a comment behind the old one stays."""
    old = entry.value
    is_line = "\n" not in given.strip("\n")
    if is_line and _is_block(root) and isinstance(old, Scalar):
        raise Refused(
            "without quotes it would be a map or a list; put quotes or brackets around it"
        )
    is_short = is_line and not _is_block(root)
    if is_short and inline(old):
        return model[: old.start] + given.strip() + model[old.end :]
    line_end = model.find("\n", entry.start)
    head = model[: old.start if old.start <= line_end else line_end].rstrip() + " "
    if is_short or is_block_text(root):
        first, _, rest = given.strip("\n").partition("\n")
        return f"{head}{first}\n" + (_at_column(rest, column_of(entry) + 2) + "\n" if rest else "")
    if entry.key is None:
        lines = _at_column(given, column_of(entry) + 2)
        return head.rstrip() + " " + lines.lstrip(" ")
    return head.rstrip() + "\n" + _at_column(given, column_of(entry) + 2)


def _column(text: str) -> int:
    line = next((x for x in text.split("\n") if x.strip()), "")
    return len(line) - len(line.lstrip(" "))


def _at_column(text: str, column: int) -> str:
    lines = _dedented(text).split("\n")
    return "\n".join(" " * column + line if line.strip() else "" for line in lines)


# -- the lines of a side as YAML


def _entry_of(hunk: Hunk, text: str) -> Entry | None:
    """The entry that a conflict is about, in the lines of a side that hold nothing else."""
    top = _top(text)
    is_about_a_key = _is_about_a_key(hunk)
    while top is not None and len(top.entries) == 1:
        entry = top.entries[0]
        if entry.key is not None or not is_about_a_key:
            return entry
        top = entry.value if isinstance(entry.value, Collection) else None
    return None


def _is_about_a_key(hunk: Hunk) -> bool:
    path = path_of(hunk)
    return bool(path) and isinstance(path[-1], str)


def _top(text: str) -> Collection | None:
    """The block collection that some lines are; of each conflict they are asked for ten times."""
    if text not in _read:
        if len(_read) >= _MOST_READ:
            _read.clear()
        _read[text] = _collection(text)
    return _read[text]


def _collection(text: str) -> Collection | None:
    try:
        documents = split(Source.of(text)).documents
        root = documents[0].root if len(documents) == 1 else None
    except KmergeError:
        return None
    return root if isinstance(root, Collection) and not root.flow else None
