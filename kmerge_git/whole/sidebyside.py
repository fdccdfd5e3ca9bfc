"""Two texts side by side as an HTML table: the lines that differ, with a few around them."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from html import escape

_AROUND = 3
_MOST_ROWS = 160
_MOST_LINES = 6000  # difflib is quadratic: longer texts are not compared in the page

Row = tuple[str, int, str, int, str]  # class, line number and text of the left, of the right


def table(left: bytes, right: bytes, heads: tuple[str, str]) -> str:
    """The table; equal lines far from a difference are left out."""
    a, b = _lines(left), _lines(right)
    if max(len(a), len(b)) > _MOST_LINES:
        return f'<p class="note">{len(a)} and {len(b)} lines: too long for this page.</p>'
    rows = list(_rows(a, b))
    body = "".join(map(_row, rows[:_MOST_ROWS]))
    if len(rows) > _MOST_ROWS:
        body += _gap(f"{len(rows) - _MOST_ROWS} more lines")
    head = "".join(f'<th colspan="2">{escape(word)}</th>' for word in heads)
    return (
        '<div class="scroll"><table class="diff"><colgroup><col class="n"><col><col class="n">'
        f"<col></colgroup><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").splitlines()


def _rows(a: list[str], b: list[str]) -> Iterator[Row]:
    groups = SequenceMatcher(None, a, b, autojunk=False).get_grouped_opcodes(_AROUND)
    for number, group in enumerate(groups):
        if number:
            yield ("gap", 0, "", 0, "")
        for tag, a_start, a_end, b_start, b_end in group:
            for index in range(max(a_end - a_start, b_end - b_start)):
                at, bt = a_start + index, b_start + index
                has_left, has_right = at < a_end, bt < b_end
                kind = "same" if tag == "equal" else _kind(has_left, has_right)
                yield (
                    kind,
                    at + 1 if has_left else 0,
                    a[at] if has_left else "",
                    bt + 1 if has_right else 0,
                    b[bt] if has_right else "",
                )


def _kind(has_left: bool, has_right: bool) -> str:
    if has_left and has_right:
        return "changed"
    return "left" if has_left else "right"


def _row(row: Row) -> str:
    kind, left_number, left, right_number, right = row
    if kind == "gap":
        return _gap("⋯")
    return (
        f'<tr class="{kind}"><td class="n">{left_number or ""}</td><td>{escape(left)}</td>'
        f'<td class="n">{right_number or ""}</td><td>{escape(right)}</td></tr>'
    )


def _gap(text: str) -> str:
    return f'<tr class="gap"><td colspan="4">{escape(text)}</td></tr>'
