"""Merge a template: by blocks and fields (see `block_merge`), then the guards, then its readings.

This is entered where git's line merge of a template conflicts, and answers where it is certain.
Whatever is in doubt raises: then git's lines stay, byte for byte, and the doubt is the reason
that people read: `a template: CAUSE at WHERE`. A clean line merge of git is looked through: damage
that neither side has becomes a conflict.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.result_text import conflicted, to_bytes
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.line_opinion import Asked
from kmerge_git.outcome import BY_BLOCKS, Outcome
from kmerge_git.template import template_guards
from kmerge_git.template.action_lexer import ASSIGN, COMMENT
from kmerge_git.template.block_merge import Bodies, refuse_broken
from kmerge_git.template.masking import Words
from kmerge_git.template.merged_readings import compared, explained
from kmerge_git.template.template_blocks import BLANK, Block, Template
from kmerge_git.template.template_damage import around, new_damage
from kmerge_git.template.template_guards import refuse_joined
from kmerge_git.template.template_layout import Sided, Unreadable, lay_out
from kmerge_git.template.template_pairs import refuse_taken
from kmerge_git.text.linemerge import TemporaryFiles
from kmerge_git.text.markers import first_marker
from kmerge_git.text.opaque_files import is_chart_text
from kmerge_git.tree.oddities import has_control

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.outcome import Options
    from kmerge_git.template.block_merge import Structure
    from kmerge_git.tree.documents import YamlText

    ByStructure = Callable[[Three[YamlText], Options, Asked], Outcome]

LARGEST = 200_000  # characters of a template that is merged by its blocks
MOST_ACTIONS = 4_000  # in braces; large charts have some hundreds


def merged(
    texts: Three[YamlText], options: Options, lines: tuple[YamlText, int], by_structure: ByStructure
) -> Outcome | str:
    """Merge a template; or return why git's line merge stays, where there is more to say.

    `lines` is the line merge of git, `by_structure` merges texts that are YAML.
    """
    result, count = lines
    try:
        if not count:
            return looked_through(result, texts, options) or ""
        at = _templates(texts)
    except KmergeError:
        return ""
    if any("<<<<<<<" in one.text and first_marker(one.text) >= 0 for one in at.each()):
        return ""  # an image of rerere, or an ancestor of a criss-cross that was left open
    structure = _without_favor(by_structure, options)
    try:
        made = _by_blocks(at, structure, options.path)
    except KmergeError as error:
        if isinstance(error, Unreadable) and not any(has_control(one.text) for one in at.each()):
            return ""  # broken YAML with braces in it: its parser says more
        return f"a template: {error.why}"
    data = to_bytes(made.text, texts.map(lambda text: text.source))
    outcome = Outcome(data, True, "structure", reason=BY_BLOCKS)
    outcome.tell(None, lambda _: explained(at, structure))
    return outcome


def _templates(texts: Three[YamlText]) -> Three[Template]:
    return texts.map(lambda text: Template(text.source.text))


def _by_blocks(at: Three[Template], structure: Structure, path: str) -> Template:
    """Merge the blocks, and look at the result with all guards; raise what is in doubt."""
    for side, version in zip(("base", "ours", "theirs"), at.each(), strict=True):
        _refuse_unread(version, side)
    if is_chart_text(path):
        at.map(_refuse_prose)
    try:
        return _guarded(at, structure, path)
    except Sided as error:  # with the sides in one order, which the other may not have
        try:
            return _guarded(at.swapped(), structure, path)
        except KmergeError:
            raise error from None  # the other one's would call the sides by the wrong names


def _guarded(at: Three[Template], structure: Structure, path: str) -> Template:
    made = Template(Bodies(structure).by_structure(at.map(lambda version: version.parts)))
    refuse_broken(made)
    template_guards.check(made, at)
    refuse_joined(made, at)
    doubt, same = compared(made, at, structure)
    # a reading that is the very merge of its versions is as sound as any merge of YAML
    broken = new_damage(made, at, path, () if doubt else same)
    if broken:
        raise Sided(f"merged by its blocks it would be broken: {broken[0].why}")
    if doubt:
        raise Sided(doubt)
    return made


def held(made: Outcome, result: YamlText, texts: Three[YamlText], options: Options) -> Outcome:
    """Hold a merge by fields of a file with actions to the standard of merges of templates.

    Documents without actions of their own, and texts inside of fields, are merged as any others.
    """
    if options.rules == "git":
        _refuse_other_names(texts)
    return looked_through(result, texts, options) or made


def _refuse_other_names(texts: Three[YamlText]) -> None:
    """Refuse names that were freed and taken, in documents next to those that are templates."""
    words = Words()
    try:
        units = _templates(texts).map(lambda version: lay_out(version.parts, words.plain))
    except KmergeError:
        return  # it is no template
    refuse_taken(units)


def looked_through(result: YamlText, texts: Three[YamlText], options: Options) -> Outcome | None:
    """Return git's clean result with a conflict around damage that neither side has, if any."""
    sources = texts.map(lambda text: text.source)
    at, merged_text = _templates(texts), Template(result.source.text)
    found = new_damage(merged_text, at, options.path)
    if not found:
        return None
    # an ancestor has markers, as where lines conflict: only YAML has placeholders
    spelled = options.but(virtual=False, style="merge") if options.virtual else options
    made = conflicted(around(merged_text, at, options.path, found), sources, spelled)
    made.reason = found[0].why
    if options.favor and not options.virtual and made.open_merge is not None:
        return Outcome(made.open_merge.decided(options.favor), True, "lines", reason=made.reason)
    return made


def _without_favor(by_structure: ByStructure, options: Options) -> Structure:
    """Return the merge of texts that are YAML, which leaves conflicts what they are."""
    plain = options.but(favor="", policy=False)

    def structure(at: Three[YamlText]) -> Outcome:
        data = at.map(lambda text: text.data).each()
        asked = Asked(lambda favor: TemporaryFiles(data, favor=favor), plain.path)
        return by_structure(at, plain, asked)

    return structure


def _refuse_unread(version: Template, side: str) -> None:
    """Refuse a version that cannot be taken apart, and say where, or is too large for that."""
    if len(version.text) > LARGEST:
        raise Unsupported("it is too large for a merge by its blocks")
    if version.text.count("{{") > MOST_ACTIONS:
        raise Unsupported(f"more than {MOST_ACTIONS:,} actions, too many for a merge by its blocks")
    try:
        _ = version.parts
    except Unsupported as error:
        raise Unsupported(f"{error.why} at line {error.line} of {side}") from None


def _refuse_prose(version: Template) -> None:
    """Refuse helpers and notes that hold more than definitions: their lines are no entries."""
    for part in version.parts:
        if isinstance(part, Block):
            is_text = part.word != "define"
        else:
            is_text = part.kind not in (BLANK, COMMENT, ASSIGN)
        if is_text:
            raise Unsupported("text outside of definitions is merged by lines alone")
