"""Two texts side by side as an HTML table: the lines that differ, with a few around them."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from html import escape
from itertools import zip_longest

from kmerge_git.visible import visible
from kmerge_git.whole.showing import lines_of

_AROUND = 3
_MOST_ROWS = 160
_MOST_LINES = 6000  # difflib is quadratic: longer texts are not compared in the page


def table(left: bytes, right: bytes, heads: tuple[str, str]) -> str:
    """The table; equal lines far from a difference are left out."""
    a, b = lines_of(left), lines_of(right)
    if max(len(a), len(b)) > _MOST_LINES:
        return f'<p class="note">{len(a)} and {len(b)} lines: too long for this page.</p>'
    rows = list(_rows(a, b))
    body = "".join(rows[:_MOST_ROWS])
    if len(rows) > _MOST_ROWS:
        body += _gap(f"{len(rows) - _MOST_ROWS} more lines")
    head = "".join(f'<th colspan="2">{escape(word)}</th>' for word in heads)
    return (
        '<div class="scroll"><table class="diff"><colgroup><col class="n"><col><col class="n">'
        f"<col></colgroup><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _rows(a: list[str], b: list[str]) -> Iterator[str]:
    groups = SequenceMatcher(None, a, b, autojunk=False).get_grouped_opcodes(_AROUND)
    for number, group in enumerate(groups):
        if number:
            yield _gap("⋯")
        for tag, a_start, a_end, b_start, b_end in group:
            for at, bt in zip_longest(range(a_start, a_end), range(b_start, b_end)):
                one_side = "left" if bt is None else "right" if at is None else "changed"
                kind = "same" if tag == "equal" else one_side
                yield f'<tr class="{kind}">{_cells(a, at)}{_cells(b, bt)}</tr>'


def _cells(text: list[str], line: int | None) -> str:
    """The number of a line and the line; empty where the other side has more lines."""
    if line is None:
        return '<td class="n"></td><td></td>'
    return f'<td class="n">{line + 1}</td><td>{escape(visible(text[line]))}</td>'


def _gap(text: str) -> str:
    return f'<tr class="gap"><td colspan="4">{escape(text)}</td></tr>'
