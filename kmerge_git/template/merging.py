"""The merge of templates, top-down.

text -> a merge by blocks and fields (see `bodies`) -> the guards -> the readings.

It is entered where git's line merge of a template conflicts, and answers where it is certain.
Whatever is in doubt raises: then git's lines stand, byte for byte. Where git's lines are clean
they are looked through: damage that neither side has becomes a conflict.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.conflicted import conflicted
from kmerge_git.merge.ends import to_bytes
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.line_opinion import Asked
from kmerge_git.outcome import BY_BLOCKS, Outcome
from kmerge_git.template import guards
from kmerge_git.template.agreement import differs
from kmerge_git.template.around import around
from kmerge_git.template.blocks import BLANK, Block, Row, parse
from kmerge_git.template.bodies import Bodies
from kmerge_git.template.damage import brought, new_damage
from kmerge_git.template.lexer import ASSIGN, COMMENT
from kmerge_git.template.placed import Sided
from kmerge_git.template.telling import explained
from kmerge_git.text.charts import is_chart_text
from kmerge_git.text.linemerge import TemporaryFiles
from kmerge_git.text.markers import first_marker
from kmerge_git.text.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.outcome import Options
    from kmerge_git.template.bodies import Structure

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
            return looked_through(text, sources, options)
        at = sources.map(lambda source: source.text)
        at.map(_refuse_markers)
        if is_chart_text(options.path):
            at.map(refuse_prose)
        structure = _without_favor(by_structure, options)
        try:
            made = _made(at, structure, options.path)
        except Sided:
            made = _made(at.swapped(), structure, options.path)
    except KmergeError:
        return None
    outcome = Outcome(to_bytes(made, sources), True, "structure", reason=BY_BLOCKS)
    outcome.tell(None, lambda _: explained(at, structure))
    return outcome


def _made(at: Three[str], structure: Structure, path: str) -> str:
    """The merge by blocks, which nothing is to be said against."""
    made = Bodies(structure).by_structure(at)
    guards.check(made, at)
    doubt = brought(made, at, path) or differs(made, at, structure, path)
    if doubt:
        raise Sided(doubt)
    return made


def looked_through(text: bytes, sources: Three[Source], options: Options) -> Outcome | None:
    """Git's clean result with a conflict around damage that neither side has; None: it has none."""
    result = Source(text, options.path).text
    at = sources.map(lambda source: source.text)
    found = new_damage(result, at, options.path)
    if not found:
        return None
    made = conflicted(around(result, at, options.path, found), sources, options)
    made.reason = found[0].why
    if options.favor and made.open_merge is not None:
        return Outcome(made.open_merge.decided(options.favor), True, "lines", reason=made.reason)
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
