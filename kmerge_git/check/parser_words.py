"""Explain in plain words the errors that libyaml finds in a text."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kmerge_git.errors import CannotParse
    from kmerge_git.tree.documents import Document

_OPEN = "the quote that opens in line {line} is not closed"
_UNCLOSED = 'the "{first}" in line {line} is not closed, or a comma is missing before this place'
_NAMELESS = 'an unquoted value cannot start with "{first}"; quote it'
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
    "could not find expected ':'": 'line {line} has no ":"; add it, or correct the indentation',
    "did not find expected key": "expected a key of the map that begins in line {line}; "
    "correct the indentation or the quotes",
    "did not find expected '-' indicator": "expected an element of the list that begins in line "
    "{line}; correct the indentation",
    "mapping values are not allowed in this context": 'a key is not allowed in this place; quote a '
    'text that contains ": ", or correct the indentation',
    "block sequence entries are not allowed in this context": "a list element is not allowed in "
    "this place; write it on a line of its own",
    "did not find expected node content": 'expected a value, but found "{char}"',
    "found unknown escape character": "this backslash escape is unknown; write two backslashes, "
    "or use single quotes",
    "did not find expected comment or line break": 'only a comment may follow "{first}" in its '
    "line",
    "did not find expected <document start>": "the document ends before this place; correct "
    "the indentation, or write `---` above this line",
    "found a tab character that violates indentation": "a tab is not allowed as indentation",
    "found a tab character where an indentation space is expected": "a tab is not allowed as "
    "indentation",
}  # fmt: skip


def plainly(error: CannotParse, document: Document, raw: Any) -> CannotParse:
    """Explain an error in plain words; `raw` is libyaml's own error in the document."""
    place = getattr(raw, "problem_mark", None)
    words = WORDS.get(getattr(raw, "problem", ""))
    if words is None or place is None:
        return error
    base, source = document.parsed_from, document.source
    start = base + (raw.context_mark or place).index
    char, first = (source.text[at : at + 1] for at in (base + place.index, start))
    if first == "\t":
        words = "a tab is not allowed as indentation"
    line = source.position(start)[0]
    error.why = "not YAML: " + words.format(line=line, first=first, char=char.strip())
    if error.hint == "fix the YAML":
        error.hint = ""
    return error
