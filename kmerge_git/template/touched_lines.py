"""Cut a merged template down to the lines among which the merge may have done damage.

Damage is between two lines: a key or an element twice, or a line that does not fit the one above.
Damage that a side has already does not count. So a line is omitted if both sides have it below the
same lines and in the same blocks, and if all lines next to it are there as well. What stays is each
line that a side does not have, the lines above it, the fields next to all of these, and what names
the elements and documents next to them.
"""

from __future__ import annotations

from kmerge_git.template.template_layout import indent, is_separator, scalar_above
from kmerge_git.template.template_parser import (
    ASSIGN,
    BLANK,
    COMMENT,
    OUTPUT,
    Arm,
    Block,
    Row,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kmerge_git.template.template_parser import Part, Template

    Lines = list[tuple[Row, int]]  # each with the number of the branch around it

TOP = 0  # the number above all documents


def cut_down(result: Template, sides: Iterable[Template]) -> list[Part]:
    """Return the parts of a result in which it may have damage that neither side has."""
    numbers = _Numbers()
    rows = numbers.of(result.parts)
    there = set(rows.values())
    touched: set[int] = set()
    for side in sides:
        touched |= there.symmetric_difference(numbers.of(side.parts).values())
    return _cut(result.parts, numbers.kept(rows, touched))


def _cut(parts: Sequence[Part], kept: set[int]) -> list[Part]:
    """Return the parts with only those lines whose `id()` is in `kept`."""
    left: list[Part] = []
    for part in parts:
        if isinstance(part, Row):
            if id(part) in kept:
                left.append(part)
            continue
        arms = [Arm(arm.header, arm.action, _cut(arm.parts, kept)) for arm in part.arms]
        if any(arm.parts for arm in arms):
            left.append(Block(tuple(arms), part.ending, ""))
    return left


class _Numbers:
    """Number the lines of some versions: the same line at the same place has one number."""

    __slots__ = ("_documents", "above", "holds_more", "known")

    def __init__(self) -> None:
        self.known: dict[tuple[int, int, str], int] = {}
        self.above = [TOP]  # the number of the line above each line
        self._documents: dict[tuple[object, ...], list[int]] = {}  # documents of several versions
        # whether a line needs what is below it to be read, or to be named
        self.holds_more = [False]

    def of(self, parts: Sequence[Part]) -> dict[int, int]:
        """Return the numbers of the lines in all blocks, by the `id()` of the lines."""
        rows: dict[int, int] = {}
        texts: list[tuple[str, Lines]] = [("", [])]
        self._collect(parts, TOP, texts, texts[0][1])
        seen: dict[int, int] = {}
        for name, lines in texts:
            start = 0
            for end in [n for n, (row, _) in enumerate(lines) if is_separator(row.text)]:
                self._document(lines[start:end], name, rows, seen)
                start = end
            self._document(lines[start:], name, rows, seen)
        return rows

    def kept(self, rows: dict[int, int], touched: set[int]) -> set[int]:
        """Return the `id()`s of the lines that are next to or above touched lines."""
        opened = {TOP}
        for number in touched:
            above = self.above[number]
            while above not in opened:
                opened.add(above)
                above = self.above[above]
        kept: set[int] = set()
        ids: set[int] = set()
        for row, number in rows.items():
            above = self.above[number]
            if above in opened or self.above[above] == TOP or above in kept:
                ids.add(row)
                if self.holds_more[number]:
                    kept.add(number)
        return ids

    def _collect(
        self, parts: Sequence[Part], branch: int, texts: list[tuple[str, Lines]], lines: Lines
    ) -> None:
        """Append the lines of all branches; the lines of a `define` are a text of their own."""
        for part in parts:
            if isinstance(part, Row):
                if part.kind not in (ASSIGN, COMMENT):
                    lines.append((part, branch))
                continue
            opening, into = part.arms[0].header, lines
            if part.word == "define":
                into = []
                texts.append((opening, into))
            for arm in part.arms:
                inner = self._number(branch, 0, f"{opening}{arm.header}", {})
                self._collect(arm.parts, inner, texts, into)

    def _document(
        self, lines: Lines, name: str, rows: dict[int, int], seen: dict[int, int]
    ) -> None:
        top = self._number(TOP, 0, name + _names(lines), seen)
        key = top, *((row.text, branch) for row, branch in lines)
        if key not in self._documents:
            self._documents[key] = list(self._below(top, lines, seen))
        rows.update(zip((id(row) for row, _ in lines), self._documents[key], strict=True))

    def _below(self, top: int, lines: Lines, seen: dict[int, int]) -> Iterator[int]:
        stack = [(-1, top)]
        for row, branch in lines:
            text = row.text.rstrip()
            column = indent(text)
            bare = text[column:]
            if row.kind in (OUTPUT, BLANK) or bare[:1] in ("#", ""):
                yield self._number(stack[-1][1], branch, text, seen)
                continue
            depth = 2 * column + (bare[:2] in ("- ", "-"))
            while stack[-1][0] >= depth:
                stack.pop()
            number = self._number(stack[-1][1], branch, text, seen)
            stack.append((depth, number))
            yield number

    def _number(self, above: int, branch: int, text: str, seen: dict[int, int]) -> int:
        """Return the number of a line; a line that is there again gets another one each time."""
        key = above, branch, text
        number = self.known.get(key)
        if number is None:
            number = self.known[key] = len(self.above)
            self.above.append(above)
            self.holds_more.append(_holds_more(text.strip()))
        count = seen[number] = seen.get(number, 0) + 1
        return number if count == 1 else self._number(above, branch, f"{text}\n{count}", seen)


def _holds_more(text: str) -> bool:
    """Return whether the lines below a line belong to its value, or may name it."""
    if text == "metadata:" or text[:2] in ("- ", "-"):
        return True
    return text[-1:] != ":" and scalar_above(text) < 0


def _names(lines: Lines) -> str:
    """Return the lines that name a document."""
    names, is_open = [], False
    for row, _ in lines:
        text = row.text
        if text[:1] not in (" ", "\n"):
            is_open = text.startswith("metadata:")
            if text.startswith("kind:"):
                names.append(text)
        elif is_open and text.lstrip(" ").startswith("name:"):
            names.append(text)
            is_open = False
    return "".join(names)
