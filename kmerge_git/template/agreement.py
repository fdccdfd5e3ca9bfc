"""Whether the readings of a merged template are what a merge of the readings comes to."""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.three import Three, agreed
from kmerge_git.template.blocks import parse
from kmerge_git.template.damage import when
from kmerge_git.template.lexer import TOKEN
from kmerge_git.template.rendering import WantedReadings, rendered
from kmerge_git.template.shapes import ActionWords
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Mapping, Scalar, Sequence
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from kmerge_git.outcome import Outcome
    from kmerge_git.tree.nodes import Node

OTHER = "rendered, it would not be what the rendered sides merge to"
CLASH = "rendered, both sides conflict"


class _Doubled(Exception):
    """A key stands twice: what the text means nobody can say."""


def differs(
    result: str, texts: Three[str], merge: Callable[[Three[bytes]], Outcome], path: str = ""
) -> str:
    """Why a reading of the result is not the merge of that reading of its versions; or nothing.

    Nothing is said of a reading that is no YAML, or has a key twice, in one of the versions.
    """
    try:
        parts = [parse(text) for text in (result, *texts.each())]
    except Unsupported:
        return ""
    wanted = WantedReadings(*parts)
    wanted.names = [name for name in wanted.names if not name.startswith("mix")]
    words = ActionWords(scopes=False)
    made, *versions = (
        {one.name: one.text for one in rendered(each, words, wanted)} for each in parts
    )
    names = dict.fromkeys(name for one in (made, *versions) for name in one)
    for name in names:
        base, ours, theirs = (one.get(name, "") for one in versions)
        why = _differs(made.get(name, ""), Three(base, ours, theirs), merge, path)
        if why:
            return f"{words.shown(why)} ({when(name)})"
    return ""


def _differs(made: str, at: Three[str], merge: Callable[[Three[bytes]], Outcome], path: str) -> str:
    try:
        for text in at.each():
            _ = _meaning(text, path)
    except (KmergeError, _Doubled):
        return ""
    same = agreed(at)
    if same is not None:
        return "" if _is_same(made, same, path) else OTHER
    for three in (at, at.swapped()):  # which of two additions comes first is open
        outcome = merge(three.map(str.encode))
        if not outcome.clean:
            found = outcome.conflicts[0] if outcome.conflicts else None
            return f"{CLASH}: {found.place}: {found.why}" if found else CLASH
        if _is_same(made, outcome.text.decode(), path):
            return ""
    return OTHER


def _is_same(made: str, merged: str, path: str) -> bool:
    if made == merged:
        return True
    try:
        return _meaning(made, path) == _meaning(merged, path)
    except (KmergeError, _Doubled):
        return False


def _meaning(text: str, path: str) -> dict[Hashable, int]:
    """The documents of a text by what they mean, and how often each is there."""
    found: dict[Hashable, int] = {}
    for document in split(Source.of(text, path)).documents:
        root = document.root
        if root is not None:
            key = _canon(root)
            found[key] = found.get(key, 0) + 1
    return found


def _canon(node: Node) -> Hashable:
    """What a node means; quotes around an action count: it may come to a number."""
    if isinstance(node, Mapping):
        pairs = {entry.name: _canon(entry.value) for entry in node.entries}
        if len(pairs) < len(node.entries):
            raise _Doubled
        return node.anchor, node.tag, frozenset(pairs.items())
    if isinstance(node, Sequence):
        return node.anchor, node.tag, tuple([_canon(entry.value) for entry in node.entries])
    if isinstance(node, Scalar) and TOKEN in node.value:
        return canon(node), node.style
    return canon(node)
