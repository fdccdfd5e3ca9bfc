"""Find the place of each part of a template: its column, its path, and its kind of collection.

A template is not YAML, so the places are guessed from the indentation of lines, as people read a
template. Then the guesses are checked: the masked text (see `masking`) is parsed as YAML, and YAML
must find every part at the guessed place.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.template.template_parser import (
    ASSIGN,
    BLANK,
    COMMENT,
    INLINE,
    OUTPUT,
    TEXT,
    Block,
    Row,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from kmerge_git.template.template_parser import Part

    Path = tuple[str, ...]

# The roles of a part in the text around it.
DATA = "data"  # a line of YAML, with or without inline actions
ENTRY = "entry"  # a block, an output or an assignment: one opaque entry
WORDS = "words"  # a line inside a block scalar
LOOSE = "loose"  # blank lines, comments
APART = "apart"  # the line that separates documents

# The kinds of a collection, as far as one of its lines shows.
MAP, LIST, SCALARS, DOCUMENT = "map", "list", "scalars", "document"

DEEPEST = 100  # fields inside fields; manifests have twenty


class Unreadable(Unsupported):
    """Report that the fields of a text cannot be found. A line merge may still work."""


class Sided(Unsupported):
    """Report that a merge is uncertain, but may be certain if the two sides are swapped.

    The order of the sides decides which of two additions comes first.
    """


class Placed:
    """Hold a part of a template and its place."""

    __slots__ = ("column", "form", "label", "line", "part", "path", "plain", "role")

    def __init__(
        self, part: Part, role: str, plain: str, column: int, line: LineForm | None = None
    ) -> None:
        self.part = part
        self.role = role
        self.plain = plain  # the text of a line with words in the place of its actions
        self.column = column
        self.line = line
        self.path: Path = ()  # the name of the document, and the labels of the lines above
        self.label = ""  # the name of the part: a key, or the line of an element
        self.form = ""  # the kind of the collection around the part


def is_apart(unit: Placed) -> bool:
    """Return whether a new document begins at this part."""
    return unit.role == APART or unit.form == DOCUMENT


def behind(units: list[Placed], number: int) -> Iterator[Placed]:
    """Yield the parts that come after the part with this number."""
    return (units[at] for at in range(number + 1, len(units)))


def lay_out(parts: Sequence[Part], line_of: Callable[[Row], LineForm]) -> list[Placed]:
    """Find the places of the parts of a template."""
    return _Layout(line_of).of(parts)


class SeenThrough:
    """Find the places of all lines of some versions, including those in all branches of blocks.

    The places in a document that several versions share are found once.
    """

    __slots__ = ("_known", "_line_of", "_names")

    def __init__(self, line_of: Callable[[Row], LineForm]) -> None:
        self._line_of = line_of
        self._names: dict[tuple[str, ...], str] = {}
        self._known: dict[tuple[str, tuple[str, ...]], list[Placed]] = {}

    def places(self, lines: list[Row]) -> Iterator[Placed]:
        """Yield the lines of a text with their places."""
        starts = [n for n, row in enumerate(lines) if self._line_of(row).role == APART]
        counts: dict[str, int] = {}
        for start, end in zip([0, *starts], [*starts, len(lines)], strict=True):
            document = lines[start:end]
            texts = tuple(row.text for row in document)
            layout = _Layout(self._line_of, 0 if end < len(lines) else -1)
            if texts not in self._names:
                self._names[texts] = _document_name(layout.units(document))
            name = _numbered(self._names[texts], counts)
            if (name, texts) not in self._known:
                units = layout.units(document)
                self._known[name, texts] = layout.placed(units, iter([name, name]))
            yield from self._known[name, texts]


class LineForm:
    """Describe what a line says about places, whatever is above and below it."""

    __slots__ = (
        *("column", "dashes", "form", "inside", "is_open", "key", "name", "plain", "role"),
        "scalar",
    )

    def __init__(self, row: Row, plain: str) -> None:
        self.plain = plain  # with words in the place of its actions
        self.column = column_of(row)
        self.role = _role(row, plain)
        self.form = _line_form(plain)
        self.scalar = -1  # the column of the key or dash whose text begins in this line
        # of each dash: its column, the column and the text behind it, and the form of its list
        self.dashes: list[tuple[int, int, str, str]] = []
        self.inside = self.column  # the column of the text behind the dashes
        self.key = ""
        self.is_open = False  # whether the value of the key is below
        bare = plain.strip()
        self.name = bare if bare.startswith("name:") else ""
        if self.role == DATA:
            self._read()

    def differs_in_value(self, other: LineForm) -> bool:
        """Return whether two lines have the same key at the same place, and name nothing."""
        if not self.key or self.dashes or self.name or self.key == "kind":
            return False
        mine, its = (
            (line.role, line.column, line.key, line.is_open, line.scalar, line.dashes)
            for line in (self, other)
        )
        return mine == its

    def _read(self) -> None:
        self.scalar = scalar_above(self.plain)
        text = self.plain.rstrip("\n")
        column = indent(text)
        rest = text[column:]
        while _is_item(rest):
            inner = rest[1:].lstrip(" ")
            inside = column + len(rest) - len(inner)
            form = LIST if key_of(inner) or _is_item(inner) else SCALARS
            self.dashes.append((column, inside, inner, form))
            column, rest = inside, inner
        self.inside = column
        self.key = key_of(rest)
        if self.key:
            value = rest[len(self.key) + 1 :].strip()
            self.is_open = not value or (value[0] in "&!#" and " " not in value)


def _role(row: Row, plain: str) -> str:
    if row.kind in (OUTPUT, ASSIGN):
        return ENTRY
    bare = plain.strip()
    if row.kind in (BLANK, COMMENT) or bare[:1] in ("", "#"):
        return LOOSE
    return APART if is_separator(plain) else DATA


class _Layout:
    """Find the place of each part in one pass over a text."""

    def __init__(self, line_of: Callable[[Row], LineForm], behind: int = -1) -> None:
        self.line_of = line_of
        self.behind = behind  # the column of the line behind the text
        # column, label, form, is it open, the path below it
        self.stack: list[tuple[int, str, str, bool, Path]] = []
        self.document = ""
        self.columns: list[int] = []  # the next known column after each part
        self.forms: dict[int, tuple[int, str]] = {}  # by column: last part searched, and form

    def of(self, parts: Sequence[Part]) -> list[Placed]:
        units = self.units(parts)
        return self.placed(units, _document_names(units))

    def placed(self, units: list[Placed], names: Iterator[str]) -> list[Placed]:
        """Set the places of the parts; `names` are those of the documents."""
        self.document = next(names)
        columns = [unit.column if unit.role in (DATA, ENTRY) else -1 for unit in units]
        ends = {number for number, unit in enumerate(units) if is_apart(unit)}
        self.columns = _next_known(columns, ends)
        for number, unit in enumerate(units):
            if is_apart(unit):
                self.stack, self.document = [], next(names)
                unit.path = self._path()
            elif unit.role == ENTRY:
                self._place_entry(unit, units, number)
                if isinstance(unit.part, Block) and reaches_out(unit.part, unit.column):
                    raise Unreadable("a block contains lines that are indented less than the block")
            elif unit.role == DATA:
                self._place_line(unit, units, number)
        return units

    # -- roles

    def units(self, parts: Sequence[Part]) -> list[Placed]:
        """Return the parts with their roles."""
        units: list[Placed] = []
        above = -1  # the column of the key of the block scalar that is open, or -1
        columns = [column_of(part) for part in parts]
        after = _next_known([*columns, self.behind])[: len(columns)]
        for part, column, below in zip(parts, columns, after, strict=True):
            if above >= 0 and not _is_blank(part):
                at = column if column >= 0 else _column_in_text(part, above, below)
                if at > above:
                    units += self._words(part, above)
                    continue
                above = -1
            unit = self._unit(part, column)
            units.append(unit)
            if unit.role == DATA and unit.line is not None:
                above = unit.line.scalar
        return units

    def _unit(self, part: Part, column: int) -> Placed:
        if isinstance(part, Block):
            unit = Placed(part, ENTRY, "", column)
            unit.form = self._form_of(part)
            lines = (row.text for row in rows(part) if row.text.strip())
            if is_separator(next((one for one in lines if one.lstrip()[0] != "#"), "")):
                unit.form, unit.column = DOCUMENT, 0
            return unit
        line = self.line_of(part)
        return Placed(part, line.role, line.plain, 0 if line.role == APART else column, line)

    def _form_of(self, block: Block) -> str:
        """Return the kind of collection that the first line of YAML in a block shows, or ''."""
        if block.word == "define":
            return MAP  # a definition renders nothing at its own place
        forms = (self.line_of(row).form for row in rows(block) if row.kind in (TEXT, INLINE))
        return next(filter(None, forms), "")

    def _words(self, part: Part, above: int) -> Iterator[Placed]:
        """Yield the lines of a part that is inside a block scalar."""
        if isinstance(part, Row):
            yield Placed(part, WORDS, self.line_of(part).plain, above + 1)
            return
        name = part.arms[0].header.strip()  # the block that an `else` or `end` belongs to
        for arm in part.arms:
            yield Placed(Row(arm.header, OUTPUT), WORDS, name, above + 1)
            for inner in arm.parts:
                column = column_of(inner)
                if 0 <= column <= above and not _is_blank(inner):
                    raise Unreadable("a block begins inside a block scalar and ends after it")
                yield from self._words(inner, above)
        yield Placed(Row(part.ending, OUTPUT), WORDS, name, above + 1)

    # -- places

    def _place_line(self, unit: Placed, units: list[Placed], number: int) -> None:
        line = unit.line
        assert line is not None  # the line of each unit with this role
        self._leave(unit.column, LIST if line.dashes else MAP)
        unit.path = self._path()
        for column, behind_dash, inner, form in line.dashes:
            inside = behind_dash if inner else _column_inside(units, number, column)
            label = "- " + unquoted(_name_line(inner, inside, units, number) or inner)
            if not unit.label:
                unit.form, unit.label = form, label
            self._enter(column, label, form, is_open=not inner)
        if line.key:
            if not unit.label:
                unit.form, unit.label = MAP, line.key
            self._enter(line.inside, line.key, MAP, is_open=line.is_open)

    def _place_entry(self, unit: Placed, units: list[Placed], number: int) -> None:
        if unit.column < 0:
            unit.column = self._column(unit, self.columns[number])
        column = unit.column
        self._leave_deeper(column)
        form = unit.form or self._form_here(column, self._form_below(units, number, column))
        self._leave(column, form)
        unit.form, unit.path = form, self._path()
        self._enter(column, "", form, is_open=False)

    def _form_below(self, units: list[Placed], number: int, column: int) -> str:
        """Return the kind of collection that the next line at the same column shows, or ''."""
        upto, form = self.forms.get(column, (-1, ""))
        if upto > number:
            return form
        form = ""
        for upto in range(number + 1, len(units)):
            unit = units[upto]
            if is_apart(unit) or (unit.role == DATA and unit.column < column):
                break
            if unit.role == DATA and unit.column == column:
                form = unit.line.form if unit.line is not None else ""
                break
            if unit.role == ENTRY and unit.form and unit.column in (column, -1):
                form = unit.form
                break
        else:
            upto = len(units)
        self.forms[column] = upto, form
        return form

    def _form_here(self, column: int, after: str) -> str:
        """Guess the kind of collection of an entry, first from the sibling before the entry."""
        if self.stack and self.stack[-1][0] == column:
            _, _, before, is_open, _ = self.stack[-1]
            return after if before == MAP and is_open and after else before
        return after or MAP

    def _column(self, unit: Placed, after: int) -> int:
        """Guess the column of an entry.

        The indentation of the entry itself counts if a sibling has the same column.
        """
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
        """Close the collections that cannot contain an entry at this column."""
        self._leave_deeper(column)
        while self.stack and self.stack[-1][0] == column:
            _, _, before, is_open, _ = self.stack[-1]
            if form != MAP and before == MAP and is_open:
                break  # a list may have the same column as its key
            self.stack.pop()
            if MAP not in (form, before):
                break  # the previous element ends, but its list stays open

    def _path(self) -> Path:
        if len(self.stack) > DEEPEST:
            raise Unsupported("the fields are nested too deep")
        return self.stack[-1][-1] if self.stack else (self.document,)

    def _enter(self, column: int, label: str, form: str, *, is_open: bool) -> None:
        above = self.stack[-1][-1] if self.stack else (self.document,)
        path = (*above, label) if label else above
        self.stack.append((column, label, form, is_open, path))


def _next_known(columns: list[int], ends: Container[int] = ()) -> list[int]:
    """Return the next known column after each part, or -1.

    The search stops at the parts in `ends`.
    """
    known: list[int] = []
    after = -1
    for number in reversed(range(len(columns))):
        known.append(after)
        after = columns[number] if columns[number] >= 0 else after
        after = -1 if number in ends else after
    return known[::-1]


def _column_in_text(part: Part, above: int, after: int) -> int:
    """Return the column of a part that comes below a block scalar.

    If the part renders text, the column is the indentation of the part.
    """
    own = indent(part.text)
    if own > above and not (isinstance(part, Row) and part.kind in (ASSIGN, COMMENT)):
        return own
    return after if after >= 0 else own


# -- columns


def column_of(part: Part) -> int:
    """Return the column of the text of a part, or -1 if it is unknown."""
    if isinstance(part, Row):
        if part.kind == OUTPUT:
            return _indented_by(part)
        return -1 if part.kind in (ASSIGN, COMMENT, BLANK) else indent(part.text)
    if part.word == "define":
        return 0
    weak = -1
    for inner in (inner for arm in part.arms for inner in arm.parts):
        if isinstance(inner, Row) and inner.text.lstrip().startswith("#"):
            continue
        column = column_of(inner)
        if column >= 0:
            return column
        if weak < 0 and isinstance(inner, Row) and inner.kind == OUTPUT:
            weak = indent(inner.text)
    return weak if weak > indent(part.arms[0].header) else -1


def reaches_out(block: Block, column: int) -> bool:
    """Return whether a block has YAML lines that are indented less than the block itself.

    Lines of `---` do not count.
    """
    above = -1
    for row in rows(block):
        if row.kind not in (TEXT, INLINE):
            continue
        at, bare = indent(row.text), row.text.strip()
        if above >= 0 and at > above:
            continue
        above = scalar_above(row.text) if row.kind == TEXT else -1
        if at < column and not bare.startswith("#") and not is_separator(row.text):
            return True
    return False


def rows(part: Part) -> Iterator[Row]:
    """Yield the lines in all branches of a part."""
    if isinstance(part, Row):
        yield part
        return
    for arm in part.arms:
        for inner in arm.parts:
            yield from rows(inner)


def _indented_by(line: Row) -> int:
    """Return the column of the lines that an output line renders, or -1."""
    for action in reversed(line.actions):
        column = given_column(action.body)
        if column >= 0:
            is_at_its_own = "nindent" not in action.body and not action.trims_before
            return column + (indent(line.text) if is_at_its_own else 0)
    return -1


def given_column(body: str) -> int:
    """Return the number in the last `indent` or `nindent` of an action, or -1."""
    _, name, after = body.rpartition("indent ")
    digits = after.split()[0].rstrip(")") if name and after.strip() else ""
    is_number = digits.isascii() and digits.isdecimal() and len(digits) < 4
    return int(digits) if is_number else -1


def indent(text: str) -> int:
    """Return the number of blanks at the start of a line."""
    return len(text) - len(text.lstrip(" "))


# -- the form of a line


def _line_form(text: str) -> str:
    bare = text.strip()
    if not bare or bare.startswith("#") or is_separator(text):
        return ""
    if not _is_item(bare):
        return MAP
    inner = bare[1:].lstrip(" ")
    return LIST if key_of(inner) or _is_item(inner) else SCALARS


def _is_blank(part: Part) -> bool:
    return isinstance(part, Row) and part.kind == BLANK


def is_separator(text: str) -> bool:
    """Return whether a line separates documents."""
    return text[:3] in ("---", "...") and text[3:4] in ("", " ", "\t", "\n")


def _is_item(text: str) -> bool:
    return text[:1] == "-" and text[1:2] in ("", " ")


def key_of(text: str) -> str:
    """Return the key at the start of a line as it is written, or '' if there is no key."""
    at = 0
    if text[:1] in ('"', "'"):
        at = text.find(text[0], 1)
    elif text[:1] in ("[", "{", "#", "?", "|", ">", "%", "@", "`"):
        return ""
    while at >= 0 and (at := text.find(":", at)) >= 0:
        if text[at + 1 : at + 2] in ("", " ", "\n"):
            key = text[:at]
            return "" if " #" in key else key
        at += 1
    return ""


def scalar_above(plain: str) -> int:
    """Return the column of the key or dash if a block scalar begins in this line, or -1."""
    if "|" not in plain and ">" not in plain:
        return -1
    *words, last = plain.partition(" #")[0].split() or [""]
    if last[:1] not in ("|", ">") or last[1:].strip("+-0123456789"):
        return -1
    before = [word for word in words if word[0] not in "&!"]
    begins = bool(before) and (before[-1] == "-" or before[-1].endswith(":"))
    return key_column(plain) if begins else -1


def key_column(text: str) -> int:
    """Return the column of a line's key after the dashes.

    If there is no key, return the column of the last dash.
    """
    column, rest = indent(text), text.strip()
    above = column
    while _is_item(rest):
        inner = rest[1:].lstrip(" ")
        above, column = column, column + len(rest) - len(inner)
        rest = inner
    return column if key_of(rest) else above


# -- the names of documents and elements


def _document_names(units: list[Placed]) -> Iterator[str]:
    """Yield the name of each document: its kind and name, and a number for a repeated name."""
    counts: dict[str, int] = {}
    groups: list[list[Placed]] = [[]]
    for unit in units:
        if is_apart(unit):
            groups.append([])
        else:
            groups[-1].append(unit)
    yield from (_numbered(_document_name(group), counts) for group in groups)


def _numbered(name: str, counts: dict[str, int]) -> str:
    count = counts[name] = counts.get(name, 0) + 1
    return f"{name}#{count}" if count > 1 else name


def _document_name(units: list[Placed]) -> str:
    kind = name = below = ""
    for unit in units:
        if unit.role != DATA:
            continue
        is_name = below == "metadata:" and not name and unit.line is not None and unit.line.name
        if unit.column and not is_name:
            continue
        text = unit.plain.partition(" #")[0].strip()
        if unit.column == 0:
            below = text
            if text.startswith("kind:"):
                kind = text[5:].strip()
        else:
            name = text[5:].strip()
    return f"{kind}/{name}"


def _column_inside(units: list[Placed], number: int, column: int) -> int:
    """Return the column of the content of an element whose dash is alone on a line."""
    below = next((u for u in behind(units, number) if u.role in (DATA, ENTRY)), None)
    return below.column if below is not None and below.column > column else column + 1


def unquoted(text: str) -> str:
    """Return a line without quotation marks, so that the same name is equal in any quotes."""
    return text.replace('"', "").replace("'", "")


def _name_line(inner: str, column: int, units: list[Placed], number: int) -> str:
    """Return the `name:` line of an element, which need not be the first line; or ''."""
    if inner.startswith("name:"):
        return inner
    for unit in behind(units, number):
        if is_apart(unit) or (unit.role in (DATA, ENTRY) and -1 < unit.column < column):
            break
        if unit.line is not None and unit.line.name and unit.column == column:
            return unit.line.name
    return ""
