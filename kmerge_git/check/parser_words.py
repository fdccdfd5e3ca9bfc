"""Say in plain words what libyaml found wrong in a text."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kmerge_git.errors import CannotParse
    from kmerge_git.tree.documents import Document

_OPEN = "the quote opened in line {line} is not closed"
_UNCLOSED = 'the "{first}" in line {line} is not closed, or lacks a comma before this place'
_NAMELESS = 'a plain value cannot start with "{first}"; quote it'
# the words of libyaml -> our words, with the line and the character where the unfinished part
# begins (`line`, `first`), and the character at the place of the error (`char`)
WORDS = {
    "found unexpected end of stream": _OPEN,
    "found unexpected document indicator": _OPEN,
    "did not find expected ',' or ']'": _UNCLOSED,
    "did not find expected ',' or '}'": _UNCLOSED,
    "found character that cannot start any token": _NAMELESS,
    "did not find expected alphabetic or numeric character": _NAMELESS,
    "found unknown directive name": _NAMELESS,
    "could not find expected ':'": 'line {line} is no key: it has no ":"',
    "did not find expected key": "a key of the map that begins in line {line} is expected here; "
    "correct the indentation or the quotes",
    "did not find expected '-' indicator": "an element of the list that begins in line {line} is "
    "expected here; correct the indentation",
    "mapping values are not allowed in this context": 'no key may be here; quote a text that has '
    '": " in it, or correct the indentation',
    "block sequence entries are not allowed in this context": "no element of a list may be here; "
    "write it in a line of its own",
    "did not find expected node content": 'a value is expected here, not "{char}"',
    "found unknown escape character": "in double quotes this backslash means nothing; write two "
    "of them, or use single quotes",
    "did not find expected comment or line break": 'only a comment may follow "{first}" in its '
    "line",
    "did not find expected <document start>": "the document has ended before this place; correct "
    "the indentation, or write `---` above it",
    "found a tab character that violates indentation": "a tab cannot indent a line",
    "found a tab character where an indentation space is expected": "a tab cannot indent a line",
}  # fmt: skip


def plainly(error: CannotParse, document: Document, raw: Any) -> CannotParse:
    """Say an error in plain words; `raw` is libyaml's own error in the document."""
    place = getattr(raw, "problem_mark", None)
    words = WORDS.get(getattr(raw, "problem", ""))
    if words is None or place is None:
        return error
    base, source = document.parsed_from, document.source
    start = base + (raw.context_mark or place).index
    char, first = (source.text[at : at + 1] for at in (base + place.index, start))
    if first == "\t":
        words = "a tab cannot indent a line"
    line = source.position(start)[0]
    error.why = "not YAML: " + words.format(line=line, first=first, char=char.strip())
    if error.hint == "mend the YAML":
        error.hint = ""
    return error
