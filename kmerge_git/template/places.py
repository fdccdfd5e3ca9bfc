"""What the lines of a template tell about where they stand, and about what they stand in."""

from __future__ import annotations

from kmerge_git.template.blocks import BLANK, INLINE, TEXT, Block, Row
from kmerge_git.template.lexer import ASSIGN, COMMENT, OUTPUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kmerge_git.template.blocks import Part

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
