"""Merge the readings of a template: a merged template must render what its readings merge to,
and the reading in which every condition holds shows what became of each field.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.three import Three, agreed
from kmerge_git.outcome import Decision
from kmerge_git.template.action_lexer import TOKEN
from kmerge_git.template.template_damage import when
from kmerge_git.template.template_pairs import tally
from kmerge_git.template.template_readings import ActionWords, WantedReadings, rendered
from kmerge_git.tree.documents import YamlText
from kmerge_git.tree.nodes import Mapping, Scalar, Sequence
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from kmerge_git.template.block_merge import Structure
    from kmerge_git.template.template_blocks import Template
    from kmerge_git.tree.nodes import Node

OTHER = "rendered, it would not be what the rendered sides merge to"
CLASH = "rendered, both sides conflict"


def compared(result: Template, at: Three[Template], merge: Structure) -> tuple[str, set[str]]:
    """Return why a reading of the result is not the merge of that reading of its versions.

    The reason is empty if all are. The texts are those of readings that are the very same as their
    merge. A reading that is no YAML, or has a key twice, in one of the versions is not compared.
    """
    wanted = WantedReadings(result.parts, *(version.parts for version in at.each()))
    wanted.names = [name for name in wanted.names if not name.startswith("mix")]
    words = ActionWords(scopes=False)
    same: set[str] = set()
    for name, (made, *versions) in _readings(words, wanted, result, *at.each()):
        why = _difference(made, Three(*(YamlText(text.encode()) for text in versions)), merge, same)
        if why:
            return f"{words.shown(why)} ({when(name)})", same
    return "", same


def _readings(
    words: ActionWords, wanted: WantedReadings, *versions: Template
) -> Iterator[tuple[str, list[str]]]:
    """Yield each reading by its name, with its text in each version, or an empty one."""
    texts = [
        {one.name: one.text for one in rendered(version.parts, words, wanted)}
        for version in versions
    ]
    for name in dict.fromkeys(name for version in texts for name in version):
        yield name, [version.get(name, "") for version in texts]


def _difference(made: str, at: Three[YamlText], merge: Structure, same: set[str]) -> str:
    agreement = agreed(at.map(lambda text: text.data))
    if agreement == made.encode():
        same.add(made)
        return ""
    try:
        for text in at.each():
            _ = _meaning(text)
    except KmergeError:
        return ""
    if agreement is not None:
        return "" if _is_same(made, agreement) else OTHER
    for three in (at, at.swapped()):  # which of two additions comes first is open
        outcome = merge(three)
        if not outcome.clean:
            conflict = outcome.conflicts[0] if outcome.conflicts else None
            return f"{CLASH}: {conflict.place}: {conflict.why}" if conflict else CLASH
        if made.encode() == outcome.text:
            same.add(made)
        if _is_same(made, outcome.text):
            return ""
    return OTHER


def _is_same(made: str, merged: bytes) -> bool:
    result = YamlText(made.encode())
    try:
        return result.data == merged or _meaning(result) == _meaning(YamlText(merged))
    except KmergeError:
        return False


def _meaning(text: YamlText) -> dict[Hashable, int]:
    """Return the documents of a text by what they mean, and how often each is there."""
    return tally(map(_canon, text.roots))


def _canon(node: Node) -> Hashable:
    """Return what a node means; quotes around an action count: it may come to a number."""
    if isinstance(node, Mapping):
        pairs = {entry.name: _canon(entry.value) for entry in node.entries}
        if len(pairs) < len(node.entries):
            raise Unsupported("a key twice")  # nobody can say what the text means
        return node.anchor, node.tag, frozenset(pairs.items())
    if isinstance(node, Sequence):
        return node.anchor, node.tag, tuple([_canon(entry.value) for entry in node.entries])
    if isinstance(node, Scalar) and TOKEN in node.value:
        return canon(node), node.style
    return canon(node)


# -- what became of each field


def explained(at: Three[Template], structure: Structure) -> tuple[Decision, ...]:
    """Return the decisions of a merge of the readings, with actions in the place of words."""
    words = ActionWords(scopes=False)
    wanted = WantedReadings(*(version.parts for version in at.each()))
    wanted.names = wanted.names[:1]
    decisions: list[Decision] = []
    for _, versions in _readings(words, wanted, *at.each()):
        try:
            decisions += structure(Three(*(YamlText(one.encode()) for one in versions))).explained
        except KmergeError:  # it has no fields
            continue
    # definitions and outputs are no fields, and a text without fields has decisions for comments
    return tuple([_in_actions(one, words) for one in decisions if one.resource or one.path])


def _in_actions(decision: Decision, words: ActionWords) -> Decision:
    shown = words.shown
    values = [
        "null, or what is rendered there" if text == "null" else shown(text)
        for text in (decision.ours, decision.theirs, decision.base)
    ]
    place = shown(decision.resource), shown(decision.path), shown(decision.what)
    return Decision(*place, decision.side, decision.rule, *values)
