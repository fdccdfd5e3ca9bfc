"""A document that one side alone indented anew: base and the other side are laid out so first.

What that side did to all lines would else be done to those alone that a merge touches. Lines are
paired by what they say; a line that the side does not have moves as those beside it. What would
mean something else afterwards stays as it is.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.merge.three import Three
from kmerge_git.text.common import lines_between, uncommon
from kmerge_git.text.diff3 import diff
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document
from kmerge_git.tree.nodes import Collection
from kmerge_git.tree.same import same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Lines = list[str]


def laid_out_anew(at: Three[Document | None]) -> Three[Document | None]:
    """The three versions, at the columns to which one side alone moved the lines."""
    documents = [document for document in at.each() if document is not None]
    if len(documents) < 3 or any(document.inline for document in documents):
        return at
    versions = Three(*documents)
    base, *sides = (document.content for document in documents)
    if not any(_may_be_moved(base, side) for side in sides):
        return at
    lines = versions.map(lambda document: document.content.split("\n"))
    made = _as_theirs(versions, lines)
    if made is not None:
        return Three(*made.each())
    mirrored = _as_theirs(versions.swapped(), lines.swapped())
    return Three(*mirrored.swapped().each()) if mirrored is not None else at


def _may_be_moved(base: str, side: str) -> bool:
    """The same, told from the lines between what two texts share; it says yes too often."""
    start, behind = uncommon(base, side)
    gone, fresh = (set(lines_between(text, start, behind)) for text in (base, side))
    columns = {line.lstrip() for line in gone - fresh if line.strip()}
    return not columns.isdisjoint(line.lstrip() for line in fresh - gone)


def _as_theirs(at: Three[Document], lines: Three[Lines]) -> Three[Document] | None:
    """Base and ours with the indentation of theirs, and theirs; None: theirs changed none alone."""
    base, ours, theirs = at.each()
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
    depths, there = _depths(lines.base), _depths(lines.theirs)
    found: dict[int, int] = {}
    is_moved = False
    for number, line in enumerate(bare.base):
        if not line or number not in yours:
            continue
        old, new = columns.base[number], columns.theirs[yours[number]]
        own = columns.ours[mine[number]] if number in mine else old
        # what went into another block did not only move
        follows = own == old != new and depths[number] == there[yours[number]]
        found[number] = new if follows else own
        is_moved |= follows
    if is_moved:
        yield from found.items()


def _depths(lines: Lines) -> list[int]:
    """How many blocks every line stands in; a comment in as many as the line above it."""
    depths: list[int] = []
    around: list[tuple[int, bool]] = []
    for line in lines:
        bare = line.lstrip(" ")
        if bare and bare[0] != "#":
            kind = len(line) - len(bare), bare[:2] in ("- ", "-")
            while around and around[-1] >= kind:
                around.pop()
            around.append(kind)
        depths.append(len(around))
    return depths


def _pairs(base: Lines, side: Lines) -> dict[int, int]:
    """The lines of base that a side has kept, and where."""
    return {i + n: j + n for i, stop, j, _ in diff(base, side) for n in range(stop - i)}


def _moved(lines: Lines, wanted: dict[int, int]) -> str:
    """The text with its lines at the wanted columns; the others move as those beside them."""
    columns = [_column(line) if line.strip() else -1 for line in lines]
    shifts = {number: wanted[number] - columns[number] for number in wanted}
    result: Lines = []
    above = [(-1, 0)]  # the columns of the lines around, and how far each moved
    for number, (line, column) in enumerate(zip(lines, columns, strict=True)):
        if column < 0:
            result.append(line)
            continue
        while above[-1][0] > column:
            above.pop()
        shift = shifts.get(number)
        if shift is None:
            shift = _shift_beside(columns, shifts, number, line[column] == "-")
        if shift is None:
            shift = above[-1][1]
        above.append((column, shift))
        result.append(" " * max(column + shift, 0) + line[column:])
    return "\n".join(result)


def _shift_beside(
    columns: list[int], shifts: dict[int, int], number: int, is_element: bool
) -> int | None:
    """How far the nearest line moves that stands in the same block; of an element its own lines."""
    column = columns[number]
    inside = column + 2 if is_element else column
    for rest in (range(number + 1, len(columns)), range(number - 1, -1, -1)):
        for other in rest:
            if 0 <= columns[other] < column:
                break
            if other in shifts and columns[other] in (column, inside):
                return shifts[other]
    return None


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
