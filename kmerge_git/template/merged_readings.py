"""Merge the readings of a template: a merged template must render what its readings merge to,
and the reading in which every condition holds tells what became of each field.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.three import Three, agreed
from kmerge_git.outcome import Decision
from kmerge_git.template.action_lexer import TOKEN
from kmerge_git.template.template_blocks import parse
from kmerge_git.template.template_damage import when
from kmerge_git.template.template_readings import ActionWords, WantedReadings, rendered
from kmerge_git.tree.documents import YamlText, split_text
from kmerge_git.tree.nodes import Mapping, Scalar, Sequence
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from kmerge_git.outcome import Outcome
    from kmerge_git.template.block_merge import Structure
    from kmerge_git.tree.documents import Stream
    from kmerge_git.tree.nodes import Node


OTHER = "rendered, it would not be what the rendered sides merge to"
CLASH = "rendered, both sides conflict"


class _Doubled(Exception):
    """A key stands twice: what the text means nobody can say."""


def differs(
    result: str, texts: Three[str], merge: Callable[[Three[YamlText]], Outcome], path: str = ""
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


def _differs(
    made: str, at: Three[str], merge: Callable[[Three[YamlText]], Outcome], path: str
) -> str:
    texts = at.map(lambda version: YamlText(version.encode()))
    try:
        for text in texts.each():
            _ = _meaning(text.stream)
    except (KmergeError, _Doubled):
        return ""
    same = agreed(at)
    if same is not None:
        return "" if _is_same(made, same, path) else OTHER
    for three in (texts, texts.swapped()):  # which of two additions comes first is open
        outcome = merge(three)
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
        return _meaning(split_text(made, path)) == _meaning(split_text(merged, path))
    except (KmergeError, _Doubled):
        return False


def _meaning(stream: Stream) -> dict[Hashable, int]:
    """The documents of a text by what they mean, and how often each is there."""
    found: dict[Hashable, int] = {}
    for document in stream.documents:
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


def explained(at: Three[str], structure: Structure) -> tuple[Decision, ...]:
    """The decisions of a merge of the readings, with actions where these have words for them."""
    words = ActionWords(scopes=False)
    parts = at.map(parse)
    wanted = WantedReadings(*parts.each())
    wanted.names = wanted.names[:1]
    base, ours, theirs = (
        {one.name: one.text.encode() for one in rendered(version, words, wanted)}
        for version in parts.each()
    )
    found: list[Decision] = []
    for name in dict.fromkeys((*base, *ours, *theirs)):
        texts = Three(base.get(name, b""), ours.get(name, b""), theirs.get(name, b""))
        try:
            found += structure(texts.map(YamlText)).explained
        except KmergeError:  # it has no fields
            continue
    # definitions and outputs are no fields, and of a text without fields only comments are told
    told = [one for one in found if one.resource or one.path]
    return tuple([_in_actions(decision, words) for decision in told])


def _in_actions(told: Decision, words: ActionWords) -> Decision:
    shown = words.shown

    def value(text: str) -> str:
        return "null, or what is rendered there" if text == "null" else shown(text)

    return Decision(
        shown(told.resource),
        shown(told.path),
        shown(told.what),
        told.side,
        told.rule,
        value(told.ours),
        value(told.theirs),
        value(told.base),
    )
