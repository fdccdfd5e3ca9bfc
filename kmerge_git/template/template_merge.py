"""Merge a template block by block, beginning with the innermost blocks.

The steps are: split the text into blocks, find their places, pair the blocks of the versions, merge
each block that both sides changed, mask the texts, merge them as YAML, unmask the result, then
check the result with the guards and by its readings.

This merge runs when git's line merge of a template has conflicts, and it succeeds only if the
result is certain. If anything is uncertain, an error is raised: git's line merge then stays byte
for byte, and the reason is reported as `a template: CAUSE at WHERE`. A clean line merge of git is
checked too: if it does damage that neither side has, or has a line too often or too rarely, the
blocks are merged, and if that is impossible, the damage becomes a conflict.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.merged import conflicted, to_bytes
from kmerge_git.merge.three import Three, agreed
from kmerge_git.merge.verify.line_opinion import Asked
from kmerge_git.outcome import BY_BLOCKS, Outcome
from kmerge_git.template import template_guards
from kmerge_git.template.masking import Words, masked
from kmerge_git.template.template_damage import Damage, around, is_yaml, new_damage
from kmerge_git.template.template_guards import refuse_joined, refuse_other_dot, refuse_twice
from kmerge_git.template.template_layout import (
    ENTRY,
    WORDS,
    Placed,
    Sided,
    Unreadable,
    indent,
    lay_out,
)
from kmerge_git.template.template_pairs import follow, paired, refuse_taken
from kmerge_git.template.template_parser import (
    ASSIGN,
    BLANK,
    COMMENT,
    Block,
    Template,
    templates,
)
from kmerge_git.text.linemerge import TemporaryFiles
from kmerge_git.text.markers import first_marker
from kmerge_git.text.opaque_files import is_chart_text
from kmerge_git.tree.documents import YamlText
from kmerge_git.tree.oddities import has_control
from kmerge_git.tree.parser import allow_deep_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.outcome import Options
    from kmerge_git.template.masking import Masked
    from kmerge_git.template.template_layout import LineForm
    from kmerge_git.template.template_pairs import Entity
    from kmerge_git.template.template_parser import Parts

    ByStructure = Callable[[Three[YamlText], Options, Asked], Outcome]
    Structure = Callable[[Three[YamlText]], Outcome]
    MergeBody = Callable[[Three[Parts], str], str]

LARGEST = 200_000  # characters of a template that is merged by its blocks
MOST_ACTIONS = 4_000  # `{{` in a template; large charts have some hundreds


def merged(
    texts: Three[YamlText], options: Options, lines: tuple[YamlText, int], by_structure: ByStructure
) -> Outcome | str:
    """Merge a template. If git's line merge has to stay, return the reason, which may be ''.

    `lines` is git's line merge and its number of conflicts; `by_structure` merges YAML texts.
    """
    result, count = lines
    try:
        if not count:
            return _clean_lines(result, texts, options, by_structure)
        at = templates(texts)
    except KmergeError:
        return ""
    if any("<<<<<<<" in one.text and first_marker(one.text) >= 0 for one in at.each()):
        return ""  # an image of rerere, or an ancestor of a criss-cross merge with conflicts
    structure = without_favor(by_structure, options)
    try:
        template = _by_blocks(at, structure, options.path)
    except KmergeError as error:
        if isinstance(error, Unreadable) and not any(has_control(one.text) for one in at.each()):
            return ""  # broken YAML with braces in it: the YAML parser says more
        return f"a template: {error.why}"
    return _outcome_of(template, texts, options)


def _outcome_of(template: Template, texts: Three[YamlText], options: Options) -> Outcome:
    """Return the outcome of a merge by blocks."""
    data = to_bytes(template.text, texts.map(lambda text: text.source))
    outcome = Outcome(data, True, "structure", reason=BY_BLOCKS)
    return outcome.made_of(texts, options)


def _clean_lines(
    result: YamlText, texts: Three[YamlText], options: Options, by_structure: ByStructure
) -> Outcome | str:
    """Check a clean line merge of git; if it is right, return ''.

    The blocks are merged if the line merge does damage, if it has a line more or less often than
    the changes of both sides explain, or if a side moved lines. If that is impossible, damage and
    such a line become a conflict.
    """
    at = templates(texts)
    merged_text = Template(result.source.text, at.base)
    damage = new_damage(merged_text, at, options.path)
    odd = template_guards.odd_lines(merged_text, at) if is_yaml(options.path) else []
    may_be_moved = is_yaml(options.path) and not is_chart_text(options.path)
    if not damage and not (may_be_moved and (odd or template_guards.has_moved_lines(at))):
        return ""
    structure = without_favor(by_structure, options)
    try:
        template = _by_blocks(at, structure, options.path)
        return "" if template.text == merged_text.text else _outcome_of(template, texts, options)
    except KmergeError:
        pass
    if not damage:
        damage = [Damage("a line would be lost or appear twice", "", line, line) for line in odd]
    return _with_conflict(damage, merged_text, at, texts, options) if damage else ""


def _by_blocks(at: Three[Template], structure: Structure, path: str) -> Template:
    """Merge the blocks and check the result with all guards; raise an error if unsure."""
    for side, version in zip(("base", "ours", "theirs"), at.each(), strict=True):
        _refuse_unread(version, side)
    if is_chart_text(path):
        at.map(_refuse_prose)
    allow_deep_calls()  # nested blocks need nested calls
    try:
        return _guarded(at, structure, path)
    except Sided as error:  # the sides in the other order may merge
        try:
            return _guarded(at.swapped(), structure, path)
        except KmergeError:
            raise error from None  # the second error would swap the names of the sides


def _guarded(at: Three[Template], structure: Structure, path: str) -> Template:
    lines: dict[str, LineForm] = {}
    text = Bodies(structure, lines).by_structure(at.map(lambda version: version.parts))
    result = Template(text, at.base)
    refuse_broken(result)
    template_guards.check(result, at, lines)
    refuse_joined(result, at)
    broken = new_damage(result, at, path)
    if broken:
        raise Sided(f"a block-by-block merge would break the template: {broken[0].why}")
    return result


def looked_through(result: YamlText, texts: Three[YamlText], options: Options) -> Outcome | None:
    """Check a clean merge of a template, and put a conflict around new damage.

    Return None if there is no new damage.
    """
    at = templates(texts)
    merged_text = Template(result.source.text, at.base)
    damage = new_damage(merged_text, at, options.path)
    return _with_conflict(damage, merged_text, at, texts, options) if damage else None


def _with_conflict(
    damage: list[Damage],
    merged_text: Template,
    at: Three[Template],
    texts: Three[YamlText],
    options: Options,
) -> Outcome:
    """Return a merged template with a conflict around its damage."""
    sources = texts.map(lambda text: text.source)
    # a virtual ancestor gets conflict markers here: only YAML has placeholders
    spelled = options.but(virtual=False, style="merge") if options.virtual else options
    outcome = conflicted(around(merged_text, at, options.path, damage), sources, spelled)
    outcome.reason = damage[0].why
    if options.favor and not options.virtual and outcome.open_merge is not None:
        return Outcome(
            outcome.open_merge.decided(options.favor), True, "lines", reason=outcome.reason
        )
    return outcome


def without_favor(by_structure: ByStructure, options: Options) -> Structure:
    """Return a function that merges YAML texts without the options that resolve conflicts."""
    plain = options.but(favor="", policy=False)

    def structure(at: Three[YamlText]) -> Outcome:
        data = at.map(lambda text: text.data).each()
        asked = Asked(
            lambda favor, size: TemporaryFiles(data, favor=favor, marker_size=size),
            at,
            plain.marker_size,
        )
        return by_structure(at, plain, asked)

    return structure


def _refuse_unread(version: Template, side: str) -> None:
    """Refuse a version that is too large or cannot be split into blocks; name its side."""
    if len(version.text) > LARGEST:
        raise Unsupported("the file is too large to be merged block by block")
    if version.text.count("{{") > MOST_ACTIONS:
        raise Unsupported(
            f"the file has more than {MOST_ACTIONS:,} actions, too many for a block-by-block merge"
        )
    try:
        _ = version.parts
    except Unsupported as error:
        raise Unsupported(f"{error.why} at line {error.line} of {side}") from None


def _refuse_prose(version: Template) -> None:
    """Refuse helper files and notes that have text outside of definitions."""
    for part in version.parts:
        kind = part.word if isinstance(part, Block) else part.kind
        if kind not in ("define", BLANK, COMMENT, ASSIGN):
            raise Unsupported("text outside of `define` blocks can only be merged line by line")


# -- the merge of the blocks


class Bodies:
    """Merge texts with actions, and the bodies of the blocks in these texts."""

    __slots__ = ("lines", "structure")

    def __init__(self, structure: Structure, lines: dict[str, LineForm] | None = None) -> None:
        self.structure = structure  # merges YAML texts
        self.lines = {} if lines is None else lines  # what equal lines say about places

    def by_structure(self, parts: Three[Parts]) -> str:
        """Merge three versions of a text by their blocks and fields."""
        words = Words(self.lines)
        units = parts.map(lambda version: lay_out(version, words.line))
        refuse_taken(units)
        follow(units)
        entities = paired(units)
        tokens = _tokens(entities)
        order = template_guards.containers(units, tokens)
        refuse_twice(entities)
        contents = {entity.token: _content(entity, self._body) for entity in entities}
        versions = units.map(lambda version: masked(version, tokens, words))
        lines = versions.base.entries | versions.ours.entries | versions.theirs.entries
        merged_text = self._in_order(versions, order, words)
        return words.unmasked(merged_text, {line: contents[token] for line, token in lines.items()})

    def _in_order(self, at: Three[Masked], order: list[tuple[Placed, Placed]], words: Words) -> str:
        """Merge the masked texts so that their entries come in the wanted order.

        If both sides add entries at one place, the additions of either side may come first.
        """
        lines = at.ours.lines | at.theirs.lines
        wanted = [(lines[id(one)], lines[id(other)]) for one, other in order]
        for three in (at, at.swapped()) if wanted else (at,):
            merged_text = self._masked(three, words)
            rows = merged_text.splitlines(keepends=True)
            known = {row: number for number, row in enumerate(rows)}
            if all(known.get(one, 0) < known.get(other, -1) for one, other in wanted):
                return merged_text
        raise Unsupported(
            "both sides added entries at the same position, and their order is not clear"
        )

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

    def _body(self, at: Three[Parts], word: str) -> str:
        """Merge the lines in one branch of a block."""
        if word != "define":
            try:
                return self.by_structure(at)
            except Unreadable:  # other errors refuse the line merge, too
                return self.by_text(at)
        try:
            return self.by_text(at)
        except KmergeError:
            return self.by_structure(at)

    def by_text(self, at: Three[Parts], _word: str = "") -> str:
        """Merge a text by git's line merge, and treat each block as one line."""
        units = at.map(
            lambda parts: [
                Placed(part, ENTRY if isinstance(part, Block) else WORDS, "", 0) for part in parts
            ]
        )
        entities = paired(units)
        tokens = _tokens(entities)
        contents = {entity.token: _content(entity, self.by_text) for entity in entities}

        def shown(unit: Placed) -> str:
            return f"{tokens[id(unit)]}\n" if unit.role == ENTRY else unit.part.text

        merged_text = _by_lines(units.map(lambda version: "".join(map(shown, version))))
        lines = merged_text.splitlines(keepends=True)
        result = "".join(contents.get(line.rstrip("\n"), line) for line in lines)
        refuse_broken(Template(result))
        return result


def refuse_broken(result: Template) -> None:
    """Refuse a merged text that cannot be split into blocks."""
    try:
        _ = result.parts
    except Unsupported:
        raise Unsupported("the merged text would not be a valid template") from None


def _first(outcome: Outcome) -> str:
    """Return the reason for the first conflict of a masked text, and its field."""
    if not outcome.conflicts:
        return "both sides changed the same lines"
    conflict = outcome.conflicts[0]
    why = conflict.why.replace("deleted in", "deleted or put inside a block in")
    return f"{why} at {conflict.field}" if conflict.field else why


def _tokens(entities: list[Entity]) -> dict[int, str]:
    """Return the token of each part, by the `id()` of the part."""
    return {id(unit): entity.token for entity in entities for unit in entity.at.each() if unit}


# -- blocks that both sides changed


def _content(entity: Entity, body: MergeBody) -> str:
    """Return the text of an entry in the result, or '' if the entry is deleted."""
    at = entity.at.map(lambda unit: unit.part.text if unit is not None else None)
    if at.ours is None or at.theirs is None:
        left = at.ours or at.theirs or ""
        if at.base is not None and left and left != at.base:
            raise Unsupported("one side deleted an entry that the other side changed")
        return left
    same = agreed(at)
    if same is not None:
        return same
    if at.base is None:
        raise Unsupported("both sides added the same entry with different contents")
    if entity.is_replaced:
        raise Unsupported("one side replaced an entry that the other side changed")
    parts = [unit.part for unit in entity.at.each() if unit is not None]
    blocks = [part for part in parts if isinstance(part, Block)]
    if len(blocks) < len(parts):
        raise Unsupported("both sides changed the same template action")
    return _block(Three(*blocks), body)


def _block(at: Three[Block], body: MergeBody) -> str:
    """Merge a block that both sides changed, one branch after the other."""
    if len({(block.word, len(block.arms)) for block in at.each()}) > 1:
        raise Unsupported(
            "both sides changed a block, and its keyword or number of `else` branches differs"
        )
    parts = []
    for base, ours, theirs in zip(*at.map(lambda block: block.arms).each(), strict=True):
        arms = Three(base, ours, theirs)
        refuse_other_dot(at.base.word, arms)
        parts.append(_agreed(arms.map(lambda arm: arm.header)))
        same = agreed(arms.map(lambda arm: "".join(part.text for part in arm.parts)))
        parts.append(body(arms.map(lambda arm: arm.parts), at.base.word) if same is None else same)
    return "".join((*parts, _agreed(at.map(lambda block: block.ending))))


def _agreed(at: Three[str]) -> str:
    same = agreed(at)
    if same is None:
        raise Unsupported("both sides changed the condition of the same block")
    return same


# -- lines


def _by_lines(at: Three[str]) -> str:
    """Return git's line merge of the versions; refuse conflicts."""
    text, count = TemporaryFiles(at.map(str.encode).each()).result()
    if count:
        raise Unsupported("both sides changed the same lines of a text")
    return text.decode()


def _refuse_moved(at: Three[str]) -> None:
    """Refuse bodies of blocks at different columns, because a merge would lose the new column."""
    columns = set()
    for text in at.each():
        lines = [line for line in text.split("\n") if line.strip() and line.lstrip()[0] != "#"]
        columns |= {min(indent(line) for line in lines)} if lines else set()
    if len(columns) > 1:
        raise Unsupported("one side re-indented the body of a block")
