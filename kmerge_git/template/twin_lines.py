"""Find pairs of lines of a template that may repeat a key, or an element of a list with keys.

The lines are read from the top, as people read them: the indentation shows to which mapping or list
a line belongs. A pair has the same key in one mapping, or the same key in two elements of one list.
Of a pair, one line is in all branches that the other line is in. So two branches of one block are
no pair, and neither are blocks with different conditions, which may exclude each other.

The output of an action is unknown. It ends each mapping and list that it may end. A pair is only a
candidate: YAML must find it in a reading of the template (see `template_readings`).
"""

from __future__ import annotations

from kmerge_git.kube.listkeys import key_names
from kmerge_git.template.template_layout import APART, DATA, LineForm, column_of, unquoted
from kmerge_git.template.template_parser import ASSIGN, BLANK, COMMENT, OUTPUT, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kmerge_git.template.template_parser import Part, Row

    Branches = frozenset[str]  # the branches around a line, each as the text of its conditions
    Pairs = Iterator[tuple[int, int]]  # the numbers of both lines, counted from 0

MOST_WAYS = 100  # branches that are remembered for one key


class _Level:
    """Hold the keys of an open mapping, or of the elements of an open list, with their lines."""

    __slots__ = ("rank", "seen", "start")

    def __init__(self, rank: int, start: int = -1) -> None:
        self.rank = rank  # twice the column, and one more for a list: its key may have that column
        self.start = start  # the line of the dash, if the mapping is an element of a list
        self.seen: dict[str, dict[Branches, int]] = {}

    def pairs(self, key: str, number: int, branches: Branches) -> Pairs:
        """Yield a line together with the last line above that has the same key."""
        lines = self.seen.setdefault(key, {})
        above = [line for way, line in lines.items() if way <= branches or branches <= way]
        if above:
            yield max(above), number
        if len(lines) < MOST_WAYS:
            lines[branches] = number


class TwinLines:
    """Read the lines of a template, and hold the mappings and lists that are open."""

    def __init__(self) -> None:
        self._key_names = key_names()
        self._forms: dict[str, LineForm] = {}
        self._levels: list[_Level] = []
        self._scalar = -1  # the column of the key of the open block scalar, or -1
        self._assignments = 0  # before the current line: a condition may have changed since

    def of(self, parts: Sequence[Part], branches: Branches = frozenset(), scope: str = "") -> Pairs:
        """Yield the pairs among some parts. Definitions are omitted: they may be any text."""
        for part in parts:
            if not isinstance(part, Block):
                yield from self._row(part, branches)
            elif part.word not in ("define", "block"):
                asked = f"{scope}{self._assignments}"
                for arm in part.arms:
                    asked += f"\n{arm.action.body}"  # an `else` depends on all conditions above it
                    inner = asked if part.word in ("range", "with") else scope
                    yield from self.of(arm.parts, branches | {asked}, inner)

    def _row(self, row: Row, branches: Branches) -> Pairs:
        self._assignments += row.kind == ASSIGN
        if row.kind in (ASSIGN, BLANK, COMMENT):
            return
        if row.kind == OUTPUT:
            self._leave(2 * column_of(row) + 1)  # an unknown column ends everything
            return
        form = self._forms.get(row.text)
        if form is None:
            form = self._forms[row.text] = LineForm(row, row.text)
        if -1 < self._scalar < form.column:
            return
        self._scalar = form.scalar
        if form.role == APART:
            self._levels.clear()
        elif form.role == DATA:
            yield from self._line(row, form, branches)

    def _line(self, row: Row, form: LineForm, branches: Branches) -> Pairs:
        for column, inside, _, _ in form.dashes:
            self._open(2 * column + 1)
            self._levels.append(_Level(2 * inside, row.number))
        mapping = self._open(2 * form.inside)
        if not form.key or "{{" in form.key:
            return
        yield from mapping.pairs(unquoted(form.key), row.number, branches)
        text = unquoted(row.text.partition(" #")[0]).strip().lstrip("- ")
        if mapping.start >= 0 and form.key in self._key_names and "{{" not in text:
            yield from self._levels[-2].pairs(text, mapping.start, branches)

    def _open(self, rank: int) -> _Level:
        """Return the mapping or list of this rank; close the deeper ones."""
        self._leave(rank)
        if not self._levels or self._levels[-1].rank < rank:
            self._levels.append(_Level(rank))
        return self._levels[-1]

    def _leave(self, rank: int) -> None:
        while self._levels and self._levels[-1].rank > rank:
            self._levels.pop()
