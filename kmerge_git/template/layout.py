"""Where the parts of a template stand: their column, what they stand below, map or list.

A template is no YAML, so this is read from lines and their indentation, as people read it. What
is guessed here is not believed: the masked text (see `masking`) is parsed, and every part must
come back where it was put.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.template.blocks import BLANK, Block, Row
from kmerge_git.template.lexer import ASSIGN, COMMENT, OUTPUT
from kmerge_git.template.names import column_inside, document_names, name_line, unquoted
from kmerge_git.template.placed import (
    APART,
    DATA,
    ENTRY,
    LOOSE,
    WORDS,
    Placed,
    Unreadable,
    is_apart,
)
from kmerge_git.template.places import (
    DOCUMENT,
    LIST,
    MAP,
    SCALARS,
    column_of,
    first_line,
    form_of,
    indent,
    is_blank,
    is_item,
    is_separator,
    key_of,
    line_form,
    reaches_out,
    rows,
    scalar_above,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kmerge_git.template.blocks import Part
    from kmerge_git.template.placed import Path

    Evidence = dict[Path, str]

DEEPEST = 100  # fields inside fields; manifests have twenty


def lay_out(
    parts: Sequence[Part], plain: Callable[[Row], str], evidence: Evidence | None = None
) -> list[Placed]:
    """The parts with their places; `evidence` tells what collections are in other versions."""
    return _Layout(plain, evidence or {}).of(parts)


def told(units: list[Placed], evidence: Evidence) -> None:
    """Note what lines of YAML tell about the collections that they stand in."""
    for unit in units:
        if unit.role == DATA and unit.form:
            evidence.setdefault(unit.path, unit.form)


def seen_through(parts: Sequence[Part], plain: Callable[[Row], str]) -> list[Placed]:
    """The places of all lines, those inside of blocks too, as if every branch were taken."""
    return _Layout(plain, {}).of([row for part in parts for row in rows(part)])


class _Layout:
    """One walk over the parts of a text."""

    def __init__(self, plain: Callable[[Row], str], evidence: Evidence) -> None:
        self.plain = plain
        self.evidence = evidence
        self.stack: list[tuple[int, str, str, bool]] = []  # column, label, form, is it open
        self.document = ""
        self.columns: list[int] = []  # of the next part that tells one, for each part
        self.forms: dict[int, tuple[int, str]] = {}  # by column: up to which part, and which

    def of(self, parts: Sequence[Part]) -> list[Placed]:
        units = self._units(parts)
        names = document_names(units)
        self.document = next(names)
        self.columns = _columns_below(units)
        for number, unit in enumerate(units):
            if is_apart(unit):
                self.stack, self.document = [], next(names)
                unit.path = self._path()
            elif unit.role == ENTRY:
                self._place_entry(unit, units, number)
                self._refuse_reaching(unit)
            elif unit.role == DATA:
                self._place_line(unit, units, number)
        return units

    # -- roles

    def _units(self, parts: Sequence[Part]) -> list[Placed]:
        units: list[Placed] = []
        above = -1  # the column of the key of the block scalar that is open, or -1
        columns = [column_of(part) for part in parts]
        after = _next_columns(columns)
        for part, column, below in zip(parts, columns, after, strict=True):
            if above >= 0 and not is_blank(part):
                at = column if column >= 0 else _column_in_text(part, above, below)
                if at > above:
                    units += self._words(part, above)
                    continue
                above = -1
            unit = self._unit(part, column)
            units.append(unit)
            if unit.role == DATA:
                above = scalar_above(unit.plain)
        return units

    def _unit(self, part: Part, column: int) -> Placed:
        if isinstance(part, Block):
            unit = Placed(part, ENTRY, "", column)
            unit.form = form_of(part, self.plain)
            if is_separator(first_line(part)):
                unit.form, unit.column = DOCUMENT, 0
            return unit
        plain = self.plain(part)
        bare = plain.strip()
        if part.kind in (OUTPUT, ASSIGN):
            return Placed(part, ENTRY, plain, column)
        if part.kind in (BLANK, COMMENT) or not bare or bare.startswith("#"):
            return Placed(part, LOOSE, plain, column)
        if is_separator(plain):
            return Placed(part, APART, plain, 0)
        return Placed(part, DATA, plain, column)

    def _words(self, part: Part, above: int) -> Iterator[Placed]:
        """The lines of a part that stands inside a block scalar."""
        if isinstance(part, Row):
            yield Placed(part, WORDS, self.plain(part), above + 1)
            return
        name = part.arms[0].header.strip()  # which block it is that goes on or ends
        for arm in part.arms:
            yield Placed(_bare(arm.header), WORDS, name, above + 1)
            for inner in arm.parts:
                column = column_of(inner)
                if 0 <= column <= above and not is_blank(inner):
                    raise Unreadable("a block begins inside a block scalar and ends behind it")
                yield from self._words(inner, above)
        yield Placed(_bare(part.ending), WORDS, name, above + 1)

    # -- places

    def _place_line(self, unit: Placed, units: list[Placed], number: int) -> None:
        text = unit.plain.rstrip("\n")
        column = indent(text)
        rest = text[column:]
        form = LIST if is_item(rest) else MAP
        self._leave(column, form)
        unit.path = self._path()
        unit.column = column
        is_first = True
        while is_item(rest):
            inner = rest[1:].lstrip(" ")
            inside = column + len(rest) - len(inner)
            if not inner:
                inside = column_inside(units, number, column)
            label = "- " + unquoted(name_line(inner, inside, units, number) or inner)
            form = LIST if key_of(inner) or is_item(inner) else SCALARS
            if is_first:
                unit.form, unit.label, is_first = form, label, False
            self.stack.append((column, label, form, not inner))
            column, rest = inside, inner
        key = key_of(rest)
        if key:
            value = rest[len(key) + 1 :].strip()
            is_open = not value or (value[0] in "&!#" and " " not in value)
            if is_first:
                unit.form, unit.label = MAP, key
            self.stack.append((column, key, MAP, is_open))

    def _place_entry(self, unit: Placed, units: list[Placed], number: int) -> None:
        if unit.column < 0:
            unit.column = self._column(unit, self.columns[number])
        column = unit.column
        self._leave_deeper(column)
        form = unit.form or self._form_here(column, self._form_below(units, number, column))
        self._leave(column, form)
        unit.form, unit.path = form, self._path()
        self.stack.append((column, "", form, False))

    def _refuse_reaching(self, unit: Placed) -> None:
        """Refuse a block that ends what stands around it."""
        if isinstance(unit.part, Block) and reaches_out(unit.part, unit.column):
            raise Unreadable("a block holds lines left of the column where it stands")

    def _form_below(self, units: list[Placed], number: int, column: int) -> str:
        """What the next line or block at a column is an entry of, before the collection ends."""
        upto, form = self.forms.get(column, (-1, ""))
        if upto > number:
            return form
        form = ""
        for upto in range(number + 1, len(units)):
            unit = units[upto]
            if is_apart(unit) or (unit.role == DATA and unit.column < column):
                break
            if unit.role == DATA and unit.column == column:
                form = line_form(unit.plain)
                break
            if unit.role == ENTRY and unit.form and unit.column in (column, -1):
                form = unit.form
                break
        else:
            upto = len(units)
        self.forms[column] = upto, form
        return form

    def _form_here(self, column: int, after: str) -> str:
        """What an entry is that does not tell: what its siblings are, those before it first."""
        if self.stack and self.stack[-1][0] == column:
            _, _, before, is_open = self.stack[-1]
            return after if before == MAP and is_open and after else before
        return after or self.evidence.get(self._path(), MAP)

    def _column(self, unit: Placed, after: int) -> int:
        """The column of an entry that does not tell: its own where that is a sibling's."""
        own = indent(unit.part.text)
        if own == after:
            return own
        is_known = any(column == own for column, *_ in self.stack)
        is_child = bool(self.stack) and self.stack[-1][3] and own > self.stack[-1][0]
        if own > after and (is_known or is_child):
            return own
        if after >= 0:
            return after
        return self.stack[-1][0] if self.stack else own

    def _leave_deeper(self, column: int) -> None:
        while self.stack and self.stack[-1][0] > column:
            self.stack.pop()

    def _leave(self, column: int, form: str) -> None:
        """Leave what an entry at a column does not stand below."""
        self._leave_deeper(column)
        while self.stack and self.stack[-1][0] == column:
            _, _, before, is_open = self.stack[-1]
            if form != MAP and before == MAP and is_open:
                break  # a list may stand at the column of its key
            self.stack.pop()
            if MAP not in (form, before):
                break  # the element before it; what is below is the key of their list

    def _path(self) -> Path:
        if len(self.stack) > DEEPEST:
            raise Unsupported("fields too deep inside each other")
        return (self.document, *(label for _, label, _, _ in self.stack if label))


def _columns_below(units: list[Placed]) -> list[int]:
    """For each part the column of the next entry or line that tells one, in its document."""
    found: list[int] = []
    column = -1
    for unit in reversed(units):
        found.append(column)
        if is_apart(unit):
            column = -1
        elif unit.column >= 0 and unit.role in (DATA, ENTRY):
            column = unit.column
    return found[::-1]


def _next_columns(columns: list[int]) -> list[int]:
    """For each column the next one behind it that is known, or -1."""
    found: list[int] = []
    after = -1
    for column in reversed(columns):
        found.append(after)
        after = column if column >= 0 else after
    return found[::-1]


def _column_in_text(part: Part, above: int, after: int) -> int:
    """The column of a part below a block scalar that does not tell: its own, if it renders text."""
    own = indent(part.text)
    if own > above and not (isinstance(part, Row) and part.kind in (ASSIGN, COMMENT)):
        return own
    return after if after >= 0 else own


def _bare(text: str) -> Row:
    return Row(text, OUTPUT, (), ())
