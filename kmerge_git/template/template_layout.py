"""Find the place of each part of a template: its column, its path, and whether it is in a map
or in a list.

A template is no YAML, so this is read from lines and their indentation, as people read it.
These guesses are checked: the masked text (see `masking`) is parsed, and every part must
come back where it was put.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.template.action_lexer import ASSIGN, COMMENT, OUTPUT
from kmerge_git.template.template_blocks import BLANK, INLINE, TEXT, Block, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kmerge_git.template.template_blocks import Part


if TYPE_CHECKING:
    Path = tuple[str, ...]

# What a part is to the text around it.
DATA = "data"  # a line of YAML, inline actions in it
ENTRY = "entry"  # a block, an output or an assignment: one opaque entry
WORDS = "words"  # a line inside a block scalar
LOOSE = "loose"  # blank lines, comments
APART = "apart"  # the line that separates documents


class Unreadable(Unsupported):
    """A text in which no fields can be found; whether it can be merged, its lines may say."""


class Sided(Unsupported):
    """A doubt that there may not be with the sides swapped: of two additions one comes first."""


class Placed:
    """A part with its place."""

    __slots__ = ("column", "form", "label", "part", "path", "plain", "role")

    def __init__(self, part: Part, role: str, plain: str, column: int) -> None:
        self.part = part
        self.role = role
        self.plain = plain  # the text of a line with words in the place of its actions
        self.column = column
        self.path: Path = ()  # the document and the lines that it stands below
        self.label = ""  # what it is called there: a key, or the line of an element
        self.form = ""  # MAP, LIST or SCALARS: what it is an entry of


def is_apart(unit: Placed) -> bool:
    """Whether a document begins here."""
    return unit.role == APART or unit.form == DOCUMENT


def behind(units: list[Placed], number: int) -> Iterator[Placed]:
    """The parts behind one of them."""
    for at in range(number + 1, len(units)):
        yield units[at]


if TYPE_CHECKING:
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


# What a collection is, as far as one of its lines tells.
MAP, LIST, SCALARS, DOCUMENT = "map", "list", "scalars", "document"


# -- columns


def column_of(part: Part) -> int:
    """The column that a part says it has; -1: it says nothing."""
    if isinstance(part, Row):
        if part.kind == OUTPUT:
            return _indented_by(part)
        if part.kind in (ASSIGN, COMMENT, BLANK):
            return -1
        return indent(part.text)
    if part.word == "define":
        return 0
    return _body_column(part)


def _body_column(block: Block) -> int:
    weak = -1
    for arm in block.arms:
        for part in arm.parts:
            if isinstance(part, Row) and part.text.lstrip().startswith("#"):
                continue
            column = column_of(part)
            if column >= 0:
                return column
            if weak < 0 and isinstance(part, Row) and part.kind == OUTPUT:
                weak = indent(part.text)
    return weak if weak > indent(block.arms[0].header) else -1


def reaches_out(block: Block, column: int) -> bool:
    """Whether lines of YAML in a block stand left of its column; documents of its own may."""
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
    """The lines in all branches of a part."""
    if isinstance(part, Row):
        yield part
        return
    for arm in part.arms:
        for inner in arm.parts:
            yield from rows(inner)


def _indented_by(line: Row) -> int:
    """The column at which an output line says that its lines stand, or -1."""
    for action in reversed(line.actions):
        column = given_column(action.body)
        if column >= 0:
            is_beside = "nindent" not in action.body and not action.trims_before
            return column + (indent(line.text) if is_beside else 0)
    return -1


def given_column(body: str) -> int:
    """What `nindent 8` or `indent 8` of an action says, the last one of several; or -1."""
    _, found, after = body.rpartition("indent ")
    digits = after.split()[0].rstrip(")") if found and after.strip() else ""
    is_number = digits.isascii() and digits.isdecimal() and len(digits) < 4
    return int(digits) if is_number else -1


def indent(text: str) -> int:
    """The number of blanks that a line begins with."""
    return len(text) - len(text.lstrip(" "))


# -- what a line is


def form_of(part: Part, plain: Callable[[Row], str]) -> str:
    """What the entries of a block are, by its first line of YAML; nothing where it has none."""
    if isinstance(part, Row):
        return ""
    if part.word == "define":
        return MAP  # it renders nothing where it stands
    for arm in part.arms:
        for inner in arm.parts:
            if isinstance(inner, Block):
                found = form_of(inner, plain)
            elif inner.kind in (OUTPUT, ASSIGN, COMMENT, BLANK):
                found = ""
            else:
                found = line_form(plain(inner))
            if found:
                return found
    return ""


def line_form(text: str) -> str:
    bare = text.strip()
    if not bare or bare.startswith("#") or is_separator(text):
        return ""
    if not is_item(bare):
        return MAP
    inner = bare[1:].lstrip(" ")
    return LIST if key_of(inner) or is_item(inner) else SCALARS


def is_blank(part: Part) -> bool:
    """Whether a part is an empty line."""
    return isinstance(part, Row) and part.kind == BLANK


def is_separator(text: str) -> bool:
    """Whether a line separates documents."""
    return text[:3] in ("---", "...") and text[3:4] in ("", " ", "\t", "\n")


def is_item(text: str) -> bool:
    return text[:1] == "-" and text[1:2] in ("", " ")


def key_of(text: str) -> str:
    """The key that a line begins with, as it is written; nothing where it is no entry."""
    start = 0
    if text[:1] in ('"', "'"):
        start = text.find(text[0], 1)
        if start < 0:
            return ""
    elif text[:1] in ("[", "{", "#", "?", "|", ">", "%", "@", "`"):
        return ""
    at = start
    while True:
        at = text.find(":", at)
        if at < 0:
            return ""
        if text[at + 1 : at + 2] in ("", " ", "\n"):
            key = text[:at]
            return "" if " #" in key else key
        at += 1


def scalar_above(plain: str) -> int:
    """The column of the key of a block scalar that begins in a line, or -1."""
    text = plain.rstrip()
    cut = text.find(" #")
    text = (text[:cut] if cut >= 0 else text).rstrip()
    head, _, last = text.rpartition(" ")
    if last[:1] not in ("|", ">") or any(c not in "|>+-123456789" for c in last) or not head:
        return -1
    return key_column(text)


def key_column(text: str) -> int:
    """The column of the key of a line, behind its dashes; of the last dash where it has none."""
    column, rest = indent(text), text.strip()
    above = column
    while is_item(rest):
        inner = rest[1:].lstrip(" ")
        above, column = column, column + len(rest) - len(inner)
        rest = inner
    return column if key_of(rest) else above


def first_line(block: Block) -> str:
    """The first line of a block that is more than a comment."""
    for arm in block.arms:
        for part in arm.parts:
            found = first_line(part) if isinstance(part, Block) else part.text
            if found.strip() and not found.lstrip().startswith("#"):
                return found
    return ""


_QUOTES = str.maketrans("", "", "\"'")


def document_names(units: list[Placed]) -> Iterator[str]:
    """The names of the documents in their order: kind and name, and a number where they repeat."""
    seen: dict[str, int] = {}
    groups: list[list[Placed]] = [[]]
    for unit in units:
        if is_apart(unit):
            groups.append([])
        else:
            groups[-1].append(unit)
    for group in groups:
        name = _document(group)
        seen[name] = seen.get(name, 0) + 1
        yield f"{name}#{seen[name]}" if seen[name] > 1 else name


def _document(units: list[Placed]) -> str:
    kind = name = ""
    below = ""
    for unit in units:
        if unit.role != DATA:
            continue
        text = unit.plain.partition(" #")[0].strip()
        if unit.column == 0:
            below = text
            if text.startswith("kind:"):
                kind = text[5:].strip()
        elif below == "metadata:" and text.startswith("name:") and not name:
            name = text[5:].strip()
    return f"{kind}/{name}"


def column_inside(units: list[Placed], number: int, column: int) -> int:
    """The column of an element whose dash stands alone in its line."""
    below = next((u for u in behind(units, number) if u.role in (DATA, ENTRY)), None)
    return below.column if below is not None and below.column > column else column + 1


def unquoted(text: str) -> str:
    """A line without quotes: another spelling of a name is no other element."""
    return text.translate(_QUOTES)


def name_line(inner: str, column: int, units: list[Placed], number: int) -> str:
    """The line of the name of an element, wherever it stands in it."""
    if inner.startswith("name:"):
        return inner
    for unit in behind(units, number):
        if is_apart(unit) or (unit.role in (DATA, ENTRY) and -1 < unit.column < column):
            break
        if unit.role == DATA and unit.column == column and unit.plain.strip().startswith("name:"):
            return unit.plain.strip()
    return ""
