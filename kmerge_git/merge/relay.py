"""A document that theirs alone indented anew: base and ours are laid out as theirs first.

Ours is the canvas of a result, so its lines would stay at their columns, and what nobody but theirs
touched would not be as theirs has it. Lines are paired by what they say; a line that theirs does
not have moves as what it stands below. What would mean something else afterwards stays as it is.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.merge.three import Three
from kmerge_git.text.diff3 import diff
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document
from kmerge_git.tree.nodes import Collection
from kmerge_git.tree.same import same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Lines = list[str]


def laid_out_anew(at: Three[Document | None]) -> Three[Document | None] | None:
    """Base and ours with the indentation of theirs, and theirs; None: theirs changed none alone."""
    base, ours, theirs = at.base, at.ours, at.theirs
    if base is None or ours is None or theirs is None or base.inline or ours.inline:
        return None
    lines = Three(*(document.content.split("\n") for document in (base, ours, theirs)))
    if not _may_be_indented_anew(lines.base, lines.theirs):
        return None
    bare = lines.map(lambda found: [line.strip() for line in found])
    wanted = dict(_wanted(lines, bare))
    if not wanted:
        return None
    kept = _pairs(bare.base, bare.ours)
    moved = (
        _moved(lines.base, wanted),
        _moved(lines.ours, {o: wanted[b] for b, o in kept.items() if b in wanted}),
    )
    made = [Document(Source.of(text), 0, 0, 0, len(text), False) for text in moved]
    if all(_means(new, old) for new, old in zip(made, (base, ours), strict=True)):
        return Three(made[0], made[1], theirs)
    return None


def _may_be_indented_anew(base: Lines, theirs: Lines) -> bool:
    """Whether a line of theirs says what one of base said in another column."""
    known = set(base)
    fresh = {line.lstrip() for line in theirs if line not in known}
    known = set(theirs)
    return any(line.lstrip() in fresh for line in base if line not in known and line.strip())


def _wanted(lines: Three[Lines], bare: Three[Lines]) -> Iterator[tuple[int, int]]:
    """The columns of base's lines that theirs has; nothing if theirs moved none of them alone."""
    mine, yours = _pairs(bare.base, bare.ours), _pairs(bare.base, bare.theirs)
    columns = lines.map(lambda found: [_column(line) for line in found])
    found: dict[int, int] = {}
    is_moved = False
    for number, line in enumerate(bare.base):
        if not line or number not in yours:
            continue
        old, new = columns.base[number], columns.theirs[yours[number]]
        own = columns.ours[mine[number]] if number in mine else old
        found[number] = new if own == old else own
        is_moved |= own == old != new
    if is_moved:
        yield from found.items()


def _pairs(base: Lines, side: Lines) -> dict[int, int]:
    """The lines of base that a side has kept, and where."""
    return {i + n: j + n for i, stop, j, _ in diff(base, side) for n in range(stop - i)}


def _moved(lines: Lines, wanted: dict[int, int]) -> str:
    """The text with its lines at the wanted columns; the others move as what they stand below."""
    result: Lines = []
    above = [(-1, 0)]  # the columns of the lines around, and how far each moved
    for number, line in enumerate(lines):
        if not line.strip():
            result.append(line)
            continue
        column = _column(line)
        while above[-1][0] > column:
            above.pop()
        shift = wanted[number] - column if number in wanted else above[-1][1]
        if number not in wanted and line[column] == "-":
            shift = _shift_of_element(lines, wanted, number, shift)
        above.append((column, shift))
        result.append(" " * max(column + shift, 0) + line[column:])
    return "\n".join(result)


def _shift_of_element(lines: Lines, wanted: dict[int, int], number: int, shift: int) -> int:
    """How far the first line of an element moves: as the others of it."""
    column = _column(lines[number])
    for below in range(number + 1, len(lines)):
        line = lines[below]
        if line.strip() and _column(line) <= column:
            break
        if below in wanted and _column(line) == column + 2:
            return wanted[below] - _column(line)
    return shift


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _means(new: Document, old: Document) -> bool:
    """Whether a document still says the same, from the same column on."""
    try:
        made, known = new.root, old.root
    except KmergeError:
        return False
    if not isinstance(made, Collection) or not isinstance(known, Collection):
        return False
    return made.column == known.column and same_node(made, known)
