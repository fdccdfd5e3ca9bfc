"""The parts of a template, each with its place."""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.template.places import DOCUMENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.template.blocks import Part

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
