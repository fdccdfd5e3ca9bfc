"""The merge of templates, top-down.

text -> blocks -> places -> pairs -> blocks that both sides changed, from inside out
     -> masked texts -> the merge of YAML -> the text again -> the guards.

It is entered where git's line merge of a template conflicts, and answers where it is certain.
Whatever is in doubt raises: then git's lines stand, byte for byte. Where git's lines are clean
they are looked through: damage that neither side has becomes a conflict.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.conflicted import conflicted
from kmerge_git.merge.ends import to_bytes
from kmerge_git.merge.three import Three, agreed
from kmerge_git.merge.verify.line_opinion import Asked
from kmerge_git.outcome import BY_BLOCKS, Outcome
from kmerge_git.template import guards
from kmerge_git.template.agreement import differs
from kmerge_git.template.around import around
from kmerge_git.template.blocks import BLANK, Block, Row, parse
from kmerge_git.template.damage import brought, new_damage
from kmerge_git.template.layout import lay_out, told
from kmerge_git.template.lexer import ASSIGN, COMMENT
from kmerge_git.template.masking import Words, masked
from kmerge_git.template.pairing import paired
from kmerge_git.template.places import indent
from kmerge_git.template.renamed import follow, refuse_taken
from kmerge_git.text.charts import is_chart_text
from kmerge_git.text.linemerge import TemporaryFiles
from kmerge_git.text.markers import first_marker
from kmerge_git.text.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.outcome import Options
    from kmerge_git.template.layout import Evidence
    from kmerge_git.template.pairing import Entity

    Structure = Callable[[Three[bytes]], Outcome]
    ByStructure = Callable[[Three[Source], Options, Asked], Outcome]


def merged(
    texts: Three[bytes], options: Options, lines: tuple[bytes, int], by_structure: ByStructure
) -> Outcome | None:
    """The merge of a template; None: git's line merge stands.

    `lines` is what git came to, `by_structure` merges texts that are YAML.
    """
    text, count = lines
    try:
        sources = texts.map(lambda data: Source(data, options.path))
        if not count:
            return _looked_through(text, sources, options)
        at = sources.map(lambda source: source.text)
        at.map(_refuse_markers)
        if is_chart_text(options.path):
            at.map(refuse_prose)
        structure = _without_favor(by_structure, options)
        made = Merge(structure).by_structure(at)
        guards.check(made, at)
        doubt = brought(made, at, options.path) or differs(made, at, structure, options.path)
        if doubt:
            raise Unsupported(doubt)
    except KmergeError:
        return None
    except Exception:  # a bug must cost a conflict, not data
        return None
    return Outcome(to_bytes(made, sources), True, "structure", reason=BY_BLOCKS)


def _looked_through(text: bytes, sources: Three[Source], options: Options) -> Outcome | None:
    """Git's clean result with a conflict around damage that neither side has; None: it has none."""
    result = Source(text, options.path).text
    at = sources.map(lambda source: source.text)
    found = new_damage(result, at, options.path)
    if not found:
        return None
    made = conflicted(around(result, at, options.path, found), sources, options)
    made.reason = found[0].why
    return made


def _without_favor(by_structure: ByStructure, options: Options) -> Structure:
    """The merge of texts that are YAML, which leaves conflicts what they are."""
    plain = options.but(favor="", policy=False)

    def structure(at: Three[bytes]) -> Outcome:
        asked = Asked(lambda favor: TemporaryFiles(at.each(), favor=favor))
        return by_structure(at.map(Source), plain, asked)

    return structure


def _refuse_markers(text: str) -> None:
    """Refuse images of rerere, and ancestors of a criss-cross: what was left open is no text."""
    if "<<<<<<<" in text and first_marker(text) >= 0:
        raise Unsupported("an input holds conflict markers")


def refuse_prose(text: str) -> None:
    """Refuse helpers and notes that hold more than definitions: their lines are no entries."""
    for part in parse(text):
        is_definition = isinstance(part, Block) and part.word == "define"
        if not is_definition and not (
            isinstance(part, Row) and part.kind in (BLANK, COMMENT, ASSIGN)
        ):
            raise Unsupported("helpers and notes are text")


class Merge:
    """A merge of a template, and of the bodies in it."""

    __slots__ = ("structure",)

    def __init__(self, structure: Structure) -> None:
        self.structure = structure  # the merge of texts that are YAML

    def by_structure(self, at: Three[str]) -> str:
        """The merge of three texts by their blocks and fields; raises where it is in doubt."""
        words = Words()
        parts = at.map(parse)
        evidence: Evidence = {}
        for version in parts.each():
            told(lay_out(version, words.plain), evidence)
        units = parts.map(lambda version: lay_out(version, words.plain, evidence))
        refuse_taken(units)
        follow(units)
        entities = paired(units)
        tokens = {
            id(unit): entity.token
            for entity in entities
            for unit in (entity.base, entity.ours, entity.theirs)
            if unit is not None
        }
        guards.containers(units, tokens)
        contents = {entity.token: self._content(entity) for entity in entities}
        texts = units.map(lambda version: masked(version, tokens, words))
        lines: dict[str, str] = {}
        for _, known in texts.each():
            lines |= known
        made = self._masked(texts.map(lambda one: one[0]))
        _refuse_other_entries(made, entities, lines)
        return words.unmasked(made, {line: contents[token] for line, token in lines.items()})

    def _masked(self, at: Three[str]) -> str:
        same = agreed(at)
        if same is not None:
            return same
        _refuse_moved(at)
        outcome = self.structure(at.map(lambda text: text.encode("utf-8", "surrogateescape")))
        if not outcome.clean:
            raise Unsupported("both sides changed the same place")
        return outcome.text.decode("utf-8", "surrogateescape")

    def _content(self, entity: Entity) -> str:
        """What an entry says in the result; nothing where it is not there."""
        base, ours, theirs = (entity.text(side) for side in ("base", "ours", "theirs"))
        if ours is None or theirs is None:
            left = ours or theirs or ""
            if base is not None and left and left != base:
                raise Unsupported("one side deleted what the other changed")
            return left
        if base is None:
            if ours != theirs:
                raise Unsupported("both sides added a block with different contents")
            return ours
        same = agreed(Three(base, ours, theirs))
        if same is not None:
            return same
        blocks = [unit.part for unit in (entity.base, entity.ours, entity.theirs) if unit]
        found = [part for part in blocks if isinstance(part, Block)]
        if len(found) < 3:
            raise Unsupported("both sides changed an output")
        return self._block(Three(*found))

    def _block(self, at: Three[Block]) -> str:
        """A block that both sides changed: its arms by themselves."""
        if len({(block.word, len(block.arms)) for block in at.each()}) > 1:
            raise Unsupported("both sides changed a block that has other branches now")
        made = []
        for number in range(len(at.base.arms)):
            arms = at.map(lambda block, n=number: block.arms[n])  # type: ignore[misc]
            made.append(_agreed(arms.map(lambda arm: arm.header)))
            bodies = arms.map(lambda arm: "".join(part.text for part in arm.parts))
            made.append(self._body(bodies, is_text=at.base.word == "define"))
        return "".join((*made, _agreed(at.map(lambda block: block.ending))))

    def _body(self, at: Three[str], *, is_text: bool) -> str:
        """The merge of the lines between an opening and what ends its arm."""
        same = agreed(at)
        if same is not None:
            return same
        by_lines = self._lines(at) if is_text else None
        if by_lines is not None:
            return by_lines
        try:
            return self.by_structure(at)
        except KmergeError:
            by_lines = None if is_text else self._lines(at)
            if by_lines is None:
                raise
            return by_lines

    def _lines(self, at: Three[str]) -> str | None:
        """Git's line merge of a body; None where it conflicts, or is no body any more."""
        texts = at.map(lambda text: text.encode("utf-8", "surrogateescape"))
        text, count = TemporaryFiles(texts.each()).result()
        if count:
            return None
        made = text.decode("utf-8", "surrogateescape")
        try:
            parse(made)
        except KmergeError:
            return None
        return made


def _agreed(at: Three[str]) -> str:
    same = agreed(at)
    if same is None:
        raise Unsupported("both sides changed the condition of a block")
    return same


def _refuse_moved(at: Three[str]) -> None:
    """Refuse bodies at different columns: a merge of them would say nothing about the column."""
    columns = set()
    for text in at.each():
        lines = [line for line in text.split("\n") if line.strip() and line.lstrip()[0] != "#"]
        columns |= {min(indent(line) for line in lines)} if lines else set()
    if len(columns) > 1:
        raise Unsupported("the body of a block was indented anew")


def _refuse_other_entries(made: str, entities: list[Entity], lines: dict[str, str]) -> None:
    """Refuse a result that lost an entry, has it twice, or has one that a side deleted."""
    found: dict[str, int] = {}
    for line in made.split("\n"):
        if line in lines:
            found[lines[line]] = found.get(lines[line], 0) + 1
    for entity in entities:
        is_gone = entity.base is not None and None in (entity.ours, entity.theirs)
        if found.get(entity.token, 0) != int(not is_gone):
            raise Unsupported("an entry is lost, or stands twice")
