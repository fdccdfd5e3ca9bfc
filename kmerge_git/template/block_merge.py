"""The merge of a template's text, and of the bodies of its blocks, from inside out.

text -> blocks -> places -> pairs -> the blocks that both sides changed, each by itself
     -> masked texts -> the merge of YAML -> the text again.

Whatever is in doubt raises.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.three import Three, agreed
from kmerge_git.template import template_guards
from kmerge_git.template.masking import Words, masked
from kmerge_git.template.template_blocks import Block, parse
from kmerge_git.template.template_guards import refuse_other_dot, refuse_twice
from kmerge_git.template.template_layout import (
    ENTRY,
    WORDS,
    Placed,
    Sided,
    Unreadable,
    indent,
    lay_out,
    told,
)
from kmerge_git.template.template_pairs import follow, paired, refuse_taken
from kmerge_git.text.linemerge import TemporaryFiles
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.outcome import Outcome
    from kmerge_git.template.masking import Masked
    from kmerge_git.template.template_blocks import Part
    from kmerge_git.template.template_layout import Evidence
    from kmerge_git.template.template_pairs import Entity


if TYPE_CHECKING:
    Structure = Callable[[Three[YamlText]], Outcome]


class Bodies:
    """Merges of texts with actions; one inside the other."""

    __slots__ = ("structure",)

    def __init__(self, structure: Structure) -> None:
        self.structure = structure  # the merge of texts that are YAML

    def by_structure(self, at: Three[str]) -> str:
        """The merge of three texts by their blocks and fields."""
        words = Words()
        parts = at.map(parse)
        evidence: Evidence = {}
        for version in parts.each():
            told(lay_out(version, words.plain), evidence)
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
        """The merge of the masked texts; which side comes first is open where both add."""
        lines = at.ours.lines | at.theirs.lines
        wanted = [(lines[id(one)], lines[id(other)]) for one, other in order]
        texts = at.map(lambda version: version.text)
        for three in (texts, texts.swapped()) if wanted else (texts,):
            made = self._masked(three, words)
            rows = made.splitlines(keepends=True)
            known = {row: number for number, row in enumerate(rows)}
            if all(known.get(one, 0) < known.get(other, -1) for one, other in wanted):
                return made
        raise Unsupported("both sides put entries in one place, and their order is open")

    def _masked(self, at: Three[str], words: Words) -> str:
        same = agreed(at)
        if same is not None:
            return same
        _refuse_moved(at)
        try:
            outcome = self.structure(_encoded(at).map(YamlText))
        except KmergeError as error:
            raise Unreadable(words.shown(error.why)) from None
        if not outcome.clean:
            raise Unsupported(words.shown(_first(outcome)))
        return _decoded(outcome.text)

    def _body(self, at: Three[str], word: str) -> str:
        """The merge of the lines between an opening and what ends its arm."""
        if word != "define":
            try:
                return self.by_structure(at)
            except Unreadable:  # any other doubt is one about its lines, too
                return self.by_text(at, word)
        try:
            return self.by_text(at, word)
        except KmergeError:
            return self.by_structure(at)

    def by_text(self, at: Three[str], _word: str = "") -> str:
        """Git's line merge of a text, in which each block is one line."""
        units = at.map(lambda text: [_as_line(part) for part in parse(text)])
        entities = paired(units)
        tokens = _tokens(entities)
        contents = {entity.token: _content(entity, self.by_text) for entity in entities}

        def shown(unit: Placed) -> str:
            return f"{tokens[id(unit)]}\n" if unit.role == ENTRY else unit.part.text

        made = _by_lines(units.map(lambda version: "".join(map(shown, version))))
        _refuse_other_entries(made, entities, {token: token for token in contents})
        lines = made.splitlines(keepends=True)
        result = "".join(contents.get(line.rstrip("\n"), line) for line in lines)
        refuse_broken(result)
        return result


def refuse_broken(made: str) -> None:
    """Refuse a merged text that cannot be taken apart as its versions can."""
    try:
        parse(made)
    except Unsupported:
        raise Unsupported("the merged text would be no template any more") from None


def _first(outcome: Outcome) -> str:
    """The cause of the first conflict of a masked text, and its field."""
    if not outcome.conflicts:
        return "both sides changed the same place"
    found = outcome.conflicts[0]
    why = found.why.replace("deleted in", "gone or inside a block in")
    return f"{why} at {found.field}" if found.field else why


def _as_line(part: Part) -> Placed:
    return Placed(part, ENTRY if isinstance(part, Block) else WORDS, "", 0)


def _tokens(entities: list[Entity]) -> dict[int, str]:
    """The token of each unit, by its identity."""
    return {
        id(unit): entity.token
        for entity in entities
        for unit in (entity.base, entity.ours, entity.theirs)
        if unit is not None
    }


# -- blocks that both sides changed


def _content(entity: Entity, body: Callable[[Three[str], str], str]) -> str:
    """What an entry says in the result; nothing where it is not there."""
    base, ours, theirs = (entity.text(side) for side in ("base", "ours", "theirs"))
    if ours is None or theirs is None:
        left = ours or theirs or ""
        if base is not None and left and left != base:
            raise Unsupported("one side deleted what the other changed")
        return left
    if base is None:
        if ours != theirs:
            raise Unsupported("both sides added an entry, with different contents")
        return ours
    same = agreed(Three(base, ours, theirs))
    if same is not None:
        return same
    if entity.is_replaced:
        raise Unsupported("one side replaced what the other changed")
    blocks = [unit.part for unit in (entity.base, entity.ours, entity.theirs) if unit]
    found = [part for part in blocks if isinstance(part, Block)]
    if len(found) < 3:
        raise Unsupported("both sides changed an output")
    return _block(Three(*found), body)


def _block(at: Three[Block], body: Callable[[Three[str], str], str]) -> str:
    """A block that both sides changed: its arms by themselves."""
    if len({(block.word, len(block.arms)) for block in at.each()}) > 1:
        raise Unsupported("both sides changed a block, and its branches are not the same")
    made = []
    for number in range(len(at.base.arms)):
        arms = at.map(lambda block, n=number: block.arms[n])  # type: ignore[misc]
        refuse_other_dot(at.base.word, arms)
        made.append(_agreed(arms.map(lambda arm: arm.header)))
        bodies = arms.map(lambda arm: "".join(part.text for part in arm.parts))
        same = agreed(bodies)
        made.append(body(bodies, at.base.word) if same is None else same)
    return "".join((*made, _agreed(at.map(lambda block: block.ending))))


def _agreed(at: Three[str]) -> str:
    same = agreed(at)
    if same is None:
        raise Unsupported("both sides changed the condition of a block")
    return same


# -- lines


def _by_lines(at: Three[str]) -> str:
    """Git's line merge, where it is clean."""
    text, count = TemporaryFiles(_encoded(at).each()).result()
    if count:
        raise Unsupported("both sides changed the same lines of a text")
    return _decoded(text)


def _encoded(at: Three[str]) -> Three[bytes]:
    return at.map(lambda text: text.encode("utf-8", "surrogateescape"))


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


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
    found: dict[str, int] = {}
    for line in made.split("\n"):
        if line in lines:
            found[lines[line]] = found.get(lines[line], 0) + 1
    for entity in entities:
        is_gone = entity.base is not None and None in (entity.ours, entity.theirs)
        if found.get(entity.token, 0) != int(not is_gone):
            raise Sided("an entry would be lost, or stand twice")
