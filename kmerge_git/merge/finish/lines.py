"""The lines of a conflict's side, read as YAML: which entry of them the conflict is about."""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.merge.plan import Clash, Item
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Sequence
from kmerge_git.tree.spans import in_flow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.text.pieces import Hunk

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
