"""What became of each field of a template, told of the reading in which every condition holds."""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Decision
from kmerge_git.template.blocks import parse
from kmerge_git.template.rendering import WantedReadings, rendered
from kmerge_git.template.shapes import ActionWords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.template.bodies import Structure


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
            found += structure(texts).explained
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
