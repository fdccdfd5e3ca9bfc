"""Merge a template's text, and the bodies of its blocks, from inside out.

text -> blocks -> places -> pairs -> the blocks that both sides changed, each by itself
     -> masked texts -> the merge of YAML -> the text again.

Whatever is in doubt raises.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.three import Three, agreed
from kmerge_git.template import template_guards
from kmerge_git.template.masking import Words, masked
from kmerge_git.template.template_blocks import Block, Template
from kmerge_git.template.template_guards import refuse_other_dot, refuse_twice
from kmerge_git.template.template_layout import (
    ENTRY,
    WORDS,
    Placed,
    Sided,
    Unreadable,
    indent,
    lay_out,
    note_forms,
)
from kmerge_git.template.template_pairs import follow, paired, refuse_taken, tally
from kmerge_git.text.linemerge import TemporaryFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kmerge_git.outcome import Outcome
    from kmerge_git.template.masking import Masked
    from kmerge_git.template.template_blocks import Part
    from kmerge_git.template.template_layout import Evidence
    from kmerge_git.template.template_pairs import Entity
    from kmerge_git.tree.documents import YamlText

    Structure = Callable[[Three[YamlText]], Outcome]
    MergeBody = Callable[[Three[Sequence[Part]], str], str]


class Bodies:
    """Merges of texts with actions; one inside the other."""

    __slots__ = ("structure",)

    def __init__(self, structure: Structure) -> None:
        self.structure = structure  # the merge of texts that are YAML

    def by_structure(self, parts: Three[Sequence[Part]]) -> str:
        """Merge three versions by their blocks and fields."""
        words = Words()
        evidence: Evidence = {}
        for version in parts.each():
            note_forms(lay_out(version, words.plain), evidence)
        units = parts.map(lambda version: lay_out(version, words.plain, evidence))
        refuse_taken(units)
        follow(units)
        entities = paired(units)
        tokens = _tokens(entities)
        order = template_guards.containers(units, tokens)
        refuse_twice(entities)
        contents = {entity.token: _content(entity, self._body) for entity in entities}
        versions = units.map(lambda version: masked(version, tokens, words))
        lines = versions.base.entries | versions.ours.entries | versions.theirs.entries
        made = self._in_order(versions, order, words)
        _refuse_other_entries(made, entities, lines)
        return words.unmasked(made, {line: contents[token] for line, token in lines.items()})

    def _in_order(self, at: Three[Masked], order: list[tuple[Placed, Placed]], words: Words) -> str:
        """Merge the masked texts; where both sides add, either of them may come first."""
        lines = at.ours.lines | at.theirs.lines
        wanted = [(lines[id(one)], lines[id(other)]) for one, other in order]
        for three in (at, at.swapped()) if wanted else (at,):
            made = self._masked(three, words)
            rows = made.splitlines(keepends=True)
            known = {row: number for number, row in enumerate(rows)}
            if all(known.get(one, 0) < known.get(other, -1) for one, other in wanted):
                return made
        raise Unsupported("both sides put entries in one place, and their order is open")

    def _masked(self, at: Three[Masked], words: Words) -> str:
        texts = at.map(lambda version: version.text)
        same = agreed(texts)
        if same is not None:
            return same
        _refuse_moved(texts)
        try:
            outcome = self.structure(at.map(lambda version: version.opened))
        except KmergeError as error:
            raise Unreadable(words.shown(error.why)) from None
        if not outcome.clean:
            raise Unsupported(words.shown(_first(outcome)))
        return outcome.text.decode()

    def _body(self, at: Three[Sequence[Part]], word: str) -> str:
        """Merge the lines between an opening and the end of its arm."""
        if word != "define":
            try:
                return self.by_structure(at)
            except Unreadable:  # any other doubt is one about its lines, too
                return self.by_text(at)
        try:
            return self.by_text(at)
        except KmergeError:
            return self.by_structure(at)

    def by_text(self, at: Three[Sequence[Part]], _word: str = "") -> str:
        """Merge a text by git's lines; each block is one line."""
        units = at.map(lambda parts: [_as_line(part) for part in parts])
        entities = paired(units)
        tokens = _tokens(entities)
        contents = {entity.token: _content(entity, self.by_text) for entity in entities}

        def shown(unit: Placed) -> str:
            return f"{tokens[id(unit)]}\n" if unit.role == ENTRY else unit.part.text

        made = _by_lines(units.map(lambda version: "".join(map(shown, version))))
        _refuse_other_entries(made, entities, {token: token for token in contents})
        lines = made.splitlines(keepends=True)
        result = "".join(contents.get(line.rstrip("\n"), line) for line in lines)
        refuse_broken(Template(result))
        return result


def refuse_broken(made: Template) -> None:
    """Refuse a merged text that cannot be taken apart as its versions can."""
    try:
        _ = made.parts
    except Unsupported:
        raise Unsupported("the merged text would be no template any more") from None


def _first(outcome: Outcome) -> str:
    """Return the cause of the first conflict of a masked text, and its field."""
    if not outcome.conflicts:
        return "both sides changed the same place"
    conflict = outcome.conflicts[0]
    why = conflict.why.replace("deleted in", "gone or inside a block in")
    return f"{why} at {conflict.field}" if conflict.field else why


def _as_line(part: Part) -> Placed:
    return Placed(part, ENTRY if isinstance(part, Block) else WORDS, "", 0)


def _tokens(entities: list[Entity]) -> dict[int, str]:
    """Return the token of each unit, by its identity."""
    return {id(unit): entity.token for entity in entities for unit in entity.at.each() if unit}


# -- blocks that both sides changed


def _content(entity: Entity, body: MergeBody) -> str:
    """Return the text of an entry in the result; nothing if it is gone."""
    at = entity.at.map(lambda unit: unit.part.text if unit is not None else None)
    if at.ours is None or at.theirs is None:
        left = at.ours or at.theirs or ""
        if at.base is not None and left and left != at.base:
            raise Unsupported("one side deleted what the other changed")
        return left
    same = agreed(at)
    if same is not None:
        return same
    if at.base is None:
        raise Unsupported("both sides added an entry, with different contents")
    if entity.is_replaced:
        raise Unsupported("one side replaced what the other changed")
    parts = [unit.part for unit in entity.at.each() if unit is not None]
    blocks = [part for part in parts if isinstance(part, Block)]
    if len(blocks) < len(parts):
        raise Unsupported("both sides changed an output")
    return _block(Three(*blocks), body)


def _block(at: Three[Block], body: MergeBody) -> str:
    """Merge a block that both sides changed: each of its arms by itself."""
    if len({(block.word, len(block.arms)) for block in at.each()}) > 1:
        raise Unsupported("both sides changed a block, and its branches are not the same")
    made = []
    for base, ours, theirs in zip(*at.map(lambda block: block.arms).each(), strict=True):
        arms = Three(base, ours, theirs)
        refuse_other_dot(at.base.word, arms)
        made.append(_agreed(arms.map(lambda arm: arm.header)))
        same = agreed(arms.map(lambda arm: "".join(part.text for part in arm.parts)))
        made.append(body(arms.map(lambda arm: arm.parts), at.base.word) if same is None else same)
    return "".join((*made, _agreed(at.map(lambda block: block.ending))))


def _agreed(at: Three[str]) -> str:
    same = agreed(at)
    if same is None:
        raise Unsupported("both sides changed the condition of a block")
    return same


# -- lines


def _by_lines(at: Three[str]) -> str:
    """Merge by git's lines, where that is clean."""
    text, count = TemporaryFiles(at.map(str.encode).each()).result()
    if count:
        raise Unsupported("both sides changed the same lines of a text")
    return text.decode()


def _refuse_moved(at: Three[str]) -> None:
    """Refuse bodies at different columns: a merge of them would say nothing about the column."""
    columns = set()
    for text in at.each():
        lines = [line for line in text.split("\n") if line.strip() and line.lstrip()[0] != "#"]
        columns |= {min(indent(line) for line in lines)} if lines else set()
    if len(columns) > 1:
        raise Unsupported("one side indented the body of a block anew")


def _refuse_other_entries(made: str, entities: list[Entity], lines: dict[str, str]) -> None:
    """Refuse a result that lost an entry, has it twice, or has one that a side deleted."""
    counts = tally(lines[line] for line in made.split("\n") if line in lines)
    for entity in entities:
        is_gone = entity.at.base is not None and None in (entity.at.ours, entity.at.theirs)
        if counts.get(entity.token, 0) != int(not is_gone):
            raise Sided("an entry would be lost, or stand twice")
