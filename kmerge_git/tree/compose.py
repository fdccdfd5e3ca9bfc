"""Documents to nodes: libyaml's node graph seen through our views, with exact spans.

libyaml's marks have traps, each met in one place here:
- marks count characters of the text that was parsed, so every offset is shifted by its start;
- an alias composes to the anchor's own node: known by a start before the current position;
- the end of a block collection runs past comments and blank lines: the last leaf's end is used;
- the end of a block scalar includes trailing blank lines: `block_scalar_end`;
- U+0085, U+2028 and U+2029 are line breaks to libyaml: only offsets are used, never lines.
"""

from __future__ import annotations

from kmerge_git.errors import CannotParse
from kmerge_git.text.source import Source
from kmerge_git.tree import parser
from kmerge_git.tree.breaks import has_odd_breaks, odd_break_outside, refuse, refuse_many
from kmerge_git.tree.extents import block_scalar_end
from kmerge_git.tree.nodes import Node
from kmerge_git.tree.views import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    # offsets of a document: where it starts, where the parser begins to read, its content, its end
    Span = tuple[int, int, int, int]


def compose(source: Source, span: Span) -> Node | None:
    """The top node of a document, or None where it holds only comments."""
    start, _, body, end = span
    graph = _graph(source, span)
    if has_odd_breaks(source.text[start:end]):
        _refuse_odd_breaks(source, span)
    if graph is None:
        return None
    return View(source, span, graph).node(graph, body, body, end)


def _graph(source: Source, span: Span) -> Any:
    _, base, _, end = span
    try:
        return parser.compose(source.text[base:end])
    except parser.TooDeep:
        hint = "flatten it, or merge it by lines"
        why = f"more than {parser.DEEPEST} collections inside each other"
        raise source.error(why, base, hint) from None
    except parser.yaml_error() as error:
        raise _explain(source, span, error) from None
    except (ValueError, RecursionError) as error:
        raise source.error(f"not YAML: {error}", base) from None


def _refuse_odd_breaks(source: Source, span: Span) -> None:
    """Let odd line breaks through where they are text: in quotes, in the lines of a block."""
    text, (start, base, _, end) = source.text, span
    refuse_many(source, base, end)
    harmless = []
    for begin, stop, style, value in parser.long_scalars(text[base:end]):
        first, last = begin + base, stop + base
        if style in "|>":
            last = block_scalar_end(text, first, last, value)
            first = min(text.find("\n", first) + 1, last)
        harmless.append((first, last))
    at = odd_break_outside(text, start, end, harmless)
    if text.startswith("\ufeff", base):  # libyaml drops it and does not count it
        at = base
    if at >= 0:
        raise refuse(source, at)


def _explain(source: Source, span: Span, error: Any) -> CannotParse:
    """libyaml's words, at the place in the whole file, with what to do."""
    start, base, _, end = span
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        why = " ".join(str(error.problem or error.context).split())
        offset = min(base + mark.index, max(len(source.text) - 1, 0))
    else:
        why = str(getattr(error, "reason", "") or "a character YAML does not allow")
        offset = base + _first_odd_character(source.text[base:end])
    markers = f"\n{source.text[start:end]}".find("\n<<<<<<< ") >= 0
    hint = "resolve the conflict first" if markers else _hint(why, source.line_at(offset))
    return source.error(f"not YAML: {why}", offset, hint)


def _hint(why: str, line: str) -> str:
    if "{{" in line:
        return "render the template first"
    if "\t" in line and ("start any token" in why or "tab" in why):
        return "indent with spaces, not with tabs"
    if "undefined alias" in why:
        return "define the anchor before the alias"
    if "control characters" in why or "YAML does not allow" in why:
        return "remove the control character"
    return "mend the YAML"


def _first_odd_character(text: str) -> int:
    for index, char in enumerate(text):
        if (char < " " and char not in "\t\n\r") or char in "\x7f\ufffe\uffff":
            return index
        if "\x7f" < char < "\xa0" and char != "\x85":
            return index
    return 0
