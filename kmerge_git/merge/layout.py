"""Give all versions of a document the indentation that only one side changed.

Otherwise the new indentation would reach only the lines that the merge touches.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.merge.three import Three, counted
from kmerge_git.text.diff3 import kept_indexes, lines_between, uncommon
from kmerge_git.tree.documents import Document, whole_document
from kmerge_git.tree.nodes import Collection, Scalar
from kmerge_git.tree.same import same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    Lines = list[str]


def laid_out_anew(at: Three[Document | None]) -> Three[Document | None]:
    """Give all three versions the indentation that only one side changed."""
    documents = [document for document in at.each() if document is not None]
    if len(documents) < 3 or any(document.inline for document in documents):
        return at
    versions = Three(*documents)
    base, *sides = (document.content for document in documents)
    if not any(_may_be_moved(base, side) for side in sides):
        return at
    lines = versions.map(lambda document: document.content.split("\n"))
    as_theirs = _as_theirs(versions, lines)
    if as_theirs is not None:
        return as_theirs
    mirrored = _as_theirs(versions.swapped(), lines.swapped())
    return mirrored.swapped() if mirrored is not None else at


def _may_be_moved(base: str, side: str) -> bool:
    """Return whether a side may have moved lines to other columns; if unsure, return True."""
    start, behind = uncommon(base, side)
    return _has_moved_line(*(lines_between(text, start, behind) for text in (base, side)))


def _has_moved_line(base: Lines, side: Lines) -> bool:
    """Return whether a side has a line of base less often, and has it at another column instead."""
    old, new = counted(base), counted(side)
    fewer = {line.lstrip() for line, count in old.items() if count > new.get(line, 0)}
    more = (line.lstrip() for line, count in new.items() if count > old.get(line, 0))
    return not (fewer - {""}).isdisjoint(more)


def _as_theirs(at: Three[Document], lines: Three[Lines]) -> Three[Document] | None:
    """Indent base and ours like theirs, and return all three versions.

    Return None if theirs moved no line that ours left at its column.
    """
    base, ours, theirs = at.each()
    if not _has_moved_line(lines.base, lines.theirs):
        return None
    bare = lines.map(lambda found: [line.strip() for line in found])
    wanted = _wanted(lines, bare)
    if not wanted:
        return None
    kept = kept_indexes(bare.base, bare.ours)
    moved = (
        _moved(base, lines.base, wanted),
        _moved(ours, lines.ours, {o: wanted[b] for b, o in kept.items() if b in wanted}),
    )
    laid_out = [whole_document(text) for text in moved]
    if all(_means(new, old) for new, old in zip(laid_out, (base, ours), strict=True)):
        return Three(laid_out[0], laid_out[1], theirs)
    return None


def _wanted(lines: Three[Lines], bare: Three[Lines]) -> dict[int, int]:
    """Return the number and the wanted column of each line of base that theirs kept.

    Return nothing if theirs moved no line that ours left at its column.
    """
    yours = kept_indexes(bare.base, bare.theirs)
    columns = lines.map(lambda some: [_column(line) for line in some])
    # most sides moved no line that they kept, and blocks take long to find
    if not any(
        line and n in yours and columns.base[n] != columns.theirs[yours[n]]
        for n, line in enumerate(bare.base)
    ):
        return {}
    mine = kept_indexes(bare.base, bare.ours)
    depths, there = _depths(lines.base), _depths(lines.theirs)
    ties = lines.map(lambda found: [b is not None and b.anchor is not None for b in _blocks(found)])
    columns_wanted: dict[int, int] = {}
    is_moved = False
    for number, line in enumerate(bare.base):
        if not line or number not in yours:
            continue
        old, new = columns.base[number], columns.theirs[yours[number]]
        own = columns.ours[mine[number]] if number in mine else old
        # a line in another block was not only indented
        follows = own == old != new and depths[number] == there[yours[number]]
        follows = follows and ties.base[number] == ties.theirs[yours[number]]
        columns_wanted[number] = new if follows else own
        is_moved |= follows
    return columns_wanted if is_moved else {}


def _depths(lines: Lines) -> list[int]:
    """Count the blocks around each line; a comment is as deep as the line above it."""
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


def _moved(document: Document, lines: Lines, wanted: dict[int, int]) -> str:
    """Return the text of a document with its lines at the wanted columns.

    All keys of a mapping and all elements of a list move alike: as most of those move whose columns
    are wanted, or else as the line above them moves. Comments and the lines of texts move alone.
    """
    blocks = _blocks(lines)
    texts = _text_lines(document)
    votes: dict[LineBlock, dict[int, int]] = {}
    weak: dict[LineBlock, dict[int, int]] = {}  # these count where a block has no other votes
    for number, column in wanted.items():
        block = blocks[number]
        if block is not None:
            shift = column - _column(lines[number])
            is_weak = block.anchor is not None or lines[number].strip()[0] == "#"
            counts = (weak if is_weak else votes).setdefault(block.first, {})
            counts[shift] = counts.get(shift, 0) + 1
    votes = {**weak, **votes}
    result: Lines = []
    shift = 0
    for number, line in enumerate(lines):
        column, block = _column(line), blocks[number]
        if number in wanted and texts.get(number, line[column : column + 1] == "#"):
            shift = wanted[number] - column
        elif block is not None and texts.get(number, True):
            shift = block.shift(votes)
        result.append(" " * max(column + shift, 0) + line[column:] if line.strip() else line)
    return "\n".join(result)


def _text_lines(document: Document) -> dict[int, bool]:
    """Return the lines within scalars, except the first line of each, and whether they move alone.

    The lines of a text such as `|2` move with the line above the text.
    """
    found: dict[int, bool] = {}
    text, nodes = document.source.text, [document.root]
    while nodes:
        node = nodes.pop()
        if isinstance(node, Collection):
            nodes += [entry.value for entry in node.entries]
        elif isinstance(node, Scalar) and "\n" in node.raw:
            first = text.count("\n", document.body, node.start) + 1
            lines = range(first, first + text.count("\n", node.start, node.end))
            found |= dict.fromkeys(lines, not _is_measured(node.raw))
    return found


class LineBlock:
    """Hold lines at one column that move alike: the keys of a mapping, the elements of a list.

    If the first of them is on the line of a dash, the block is tied to that dash, its `anchor`.
    """

    __slots__ = ("above", "anchor", "column", "is_list")

    def __init__(
        self, column: int, is_list: bool, above: LineBlock | None, anchor: LineBlock | None = None
    ) -> None:
        self.column = column
        self.is_list = is_list
        self.above = above
        self.anchor = anchor

    @property
    def first(self) -> LineBlock:
        """Return the block of the first dash on the line, or the block itself."""
        return self if self.anchor is None else self.anchor.first

    def shift(self, votes: dict[LineBlock, dict[int, int]]) -> int:
        """Return by how many columns the block moves."""
        first, above = self.first, self.first.above
        least = above.shift(votes) if above is not None else 0
        if first not in votes:
            return least
        shift = max(votes[first], key=votes[first].__getitem__)
        is_flat = above is not None and first.is_list and not above.is_list
        if above is not None and first.column + shift + is_flat <= above.column + least:
            return least  # it would leave the block above it
        return shift


def _is_measured(line: str) -> bool:
    """Return whether the first line of a text ends with a header such as `|2`."""
    header = line.partition("\n")[0].split(" #")[0].split()[-1:]
    return bool(header) and header[0][0] in "|>" and any(map(str.isdigit, header[0]))


def _enter(around: list[LineBlock], column: int, bare: str) -> LineBlock:
    """Return the block of a line that begins at a column, and put it into the blocks around."""
    is_list = bare[:2] in ("- ", "-")
    while around and (around[-1].column, around[-1].is_list) > (column, is_list):
        around.pop()
    if not around or (around[-1].column, around[-1].is_list) != (column, is_list):
        around.append(LineBlock(column, is_list, around[-1] if around else None))
    own = around[-1]
    while bare.startswith("- "):
        rest = bare[1:].lstrip(" ")
        column += len(bare) - len(rest)
        if rest and rest[0] != "#":
            dash = around[-1]
            around.append(LineBlock(column, rest[:2] in ("- ", "-"), dash, anchor=dash))
        bare = rest
    return own


def _block_at(column: int, blocks: list[LineBlock]) -> LineBlock | None:
    """Return the last block at a column, or else the last block that is less deep."""
    same = [block for block in blocks if block.column == column]
    return next(reversed(same or [block for block in blocks if block.column < column]), None)


def _blocks(lines: Lines) -> list[LineBlock | None]:
    """Return the block of each line; a comment belongs to the block of the line below it."""
    blocks: list[LineBlock | None] = [None] * len(lines)
    around: list[LineBlock] = []
    comments: list[int] = []  # above the next line
    for number, line in enumerate(lines):
        column = _column(line)
        bare = line[column:]
        if not bare.strip() or bare[0] == "#":
            comments += [number] if bare.strip() else []
            continue
        before = [*around]
        blocks[number] = _enter(around, column, bare)
        for at in comments:
            blocks[at] = _block_at(_column(lines[at]), [*before, *around])
        comments.clear()
    for at in comments:
        blocks[at] = _block_at(_column(lines[at]), around)
    return blocks


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _means(new: Document, old: Document) -> bool:
    """Return whether a document still has the same meaning and the same start column."""
    try:
        new_root, old_root = new.root, old.root
    except KmergeError:
        return False
    if not isinstance(new_root, Collection) or not isinstance(old_root, Collection):
        return False
    return new_root.column == old_root.column and same_node(new_root, old_root)
