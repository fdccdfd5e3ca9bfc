"""Find commented entries that one side took away and the other side edited inside.

A run of comment lines is cut as its YAML would be: an entry begins at its outermost column and
holds the deeper lines below it. All other comment lines are prose, cut at blank lines. An entry is
the same entry in two versions if its first line names the same key or element, and if the line
above it or the line below it is the same.
"""

from __future__ import annotations

from bisect import bisect_left

from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three, grouped
from kmerge_git.outcome import SIDES
from kmerge_git.text.diff3 import changes, diff, uncommon
from kmerge_git.text.pieces import Hunk, joined, side_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from kmerge_git.text.pieces import Pieces

MOST = 50  # blocks with one name beside one line that are looked through
ROUNDS = 3  # after this many tries to put torn blocks back, the whole document is a conflict

SAME, EDITED, MOVED, ACTIVE, GONE = "same", "edited", "moved", "active", "gone"
TAKEN = (MOVED, ACTIVE, GONE)


class TextRow:
    """Hold a line that is neither blank nor text of a block scalar.

    `column` is the column of the content; the content of a comment is behind its `#`.
    """

    __slots__ = ("bare", "column", "is_comment", "line", "number")

    def __init__(self, number: int, line: str) -> None:
        self.number = number
        self.line = line.strip(" \t\r")
        self.is_comment = line.lstrip(" \t").startswith("#")
        content = line.lstrip(" \t#") if self.is_comment else line.lstrip(" \t")
        self.column = len(line) - len(content)
        self.bare = content.rstrip(" \t\r")

    @property
    def key(self) -> str:
        """Return the key of an entry, the whole text of a list element, or '' for prose."""
        bare = self.bare
        if bare[:2] in ("- ", "-"):
            return bare
        head, colon, value = bare.partition(": ")
        head = head if colon else bare[:-1] if bare[-1:] == ":" else ""
        is_key = head and (" " not in head or head[0] == head[-1] in "\"'")
        return f"{head}:" if is_key and not value.startswith(": ") else ""

    @property
    def is_text(self) -> bool:
        """Return whether a comment is neither empty nor an action of a template."""
        return self.bare[:2] not in ("", "{{")

    @property
    def is_parent(self) -> bool:
        """Return whether the value of a key is below its line, so that dashes may follow it."""
        return self.bare[-1:] == ":" and self.bare[:1] != "-"


class CommentBlock:
    """Hold the lines of a commented entry, of prose, or of an active entry."""

    __slots__ = ("key", "rows")

    def __init__(self, rows: list[TextRow], key: str) -> None:
        self.rows = rows
        self.key = key  # of an entry; prose has none

    @property
    def start(self) -> int:
        """Return the number of the first line."""
        return self.rows[0].number

    @property
    def end(self) -> int:
        """Return the number of the line below the last line."""
        return self.rows[-1].number + 1

    @property
    def text(self) -> list[str]:
        """Return the content of the lines; the first line is at column 0."""
        return [" " * (row.column - self.rows[0].column) + row.bare for row in self.rows]


class VersionBlocks:
    """Hold the lines of a version of a document, and its comment blocks."""

    __slots__ = ("blocks", "lines", "names", "rows")

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.rows = [*_rows(self.lines)]
        self.blocks: list[CommentBlock] = []
        self.names: list[tuple[Hashable, int]] = []  # of entries, each with its line
        self._read()

    def _read(self) -> None:
        around: list[tuple[int, Hashable]] = []
        n = 0
        while n < len(self.rows):
            row = self.rows[n]
            if row.is_comment:
                block = self._block(n)
                n += len(block.rows)
                if row.is_text:
                    self.blocks.append(block)
                if block.key:
                    self.names.append((("#", block.key), block.start))
                continue
            depth = 2 * row.column + (row.bare[0] == "-")  # dashes may be below their key
            while around and around[-1][0] >= depth:
                around.pop()
            name = (around[-1][1] if around else None, row.key or row.bare)
            around.append((depth, name))
            self.names.append((name, row.number))
            n += 1

    def _block(self, n: int) -> CommentBlock:
        """Return the commented entry or the prose that begins at a row."""
        first, end = self.rows[n], n + 1
        if first.key:
            return CommentBlock(self.inside(n, comments=True), first.key)
        while end < len(self.rows) and first.is_text:
            row, above = self.rows[end], self.rows[end - 1]
            if not (row.is_comment and row.is_text) or row.key or row.number > above.number + 1:
                break
            end += 1
        return CommentBlock(self.rows[n:end], "")

    def inside(self, n: int, *, comments: bool) -> list[TextRow]:
        """Return the row of an entry and the rows within it."""
        first, end = self.rows[n], n + 1
        for m in range(n + 1, len(self.rows)):
            row = self.rows[m]
            if row.is_comment < comments:
                break
            if row.is_comment and not (comments and row.bare):
                continue
            is_list = row.column == first.column and row.bare[:1] == "-" and first.is_parent
            if row.column < first.column + 2 - (not comments) and not is_list:
                break
            end = m + 1
        return self.rows[n:end]

    def beside(self, common: set[Hashable]) -> dict[int, tuple[Hashable, Hashable]]:
        """Map the id of each block to the nearest of the common names above it and below it."""
        named = [(number, name) for name, number in self.names if name in common]
        result: dict[int, tuple[Hashable, Hashable]] = {}
        at = 0
        for block in self.blocks:
            while at < len(named) and named[at][0] < block.start:
                at += 1
            own = at < len(named) and named[at][0] < block.end
            below = at + own
            result[id(block)] = (
                named[at - 1][1] if at else None,
                named[below][1] if below < len(named) else None,
            )
        return result

    def new_keys(self, known: set[Hashable]) -> Iterator[tuple[str, int]]:
        """Yield the key and the row of each active entry whose name is not known."""
        new = {number for name, number in self.names if name not in known}
        for n, row in enumerate(self.rows):
            if row.number in new and not row.is_comment:
                yield row.key, n


def _rows(lines: list[str]) -> Iterator[TextRow]:
    floor = -1  # the column of the entry that a block scalar belongs to
    for number, line in enumerate(lines):
        bare = line.lstrip(" ")
        column = len(line) - len(bare)
        if not bare.strip() or column > floor >= 0:
            continue
        floor = -1
        yield TextRow(number, line)
        if bare[0] != "#" and _opens_text(bare):
            floor = column


def _opens_text(bare: str) -> bool:
    """Return whether a line ends in the header of a block scalar."""
    value = bare.split(" #", maxsplit=1)[0].rstrip().rstrip("+-0123456789")
    return value[-1:] in ("|", ">") and value[-2:-1] in ("", " ", "\t")


class BlockState:
    """Hold what a side did with a comment block of base, and the lines of the side about it."""

    __slots__ = ("block", "kind")

    def __init__(self, kind: str, block: CommentBlock | None) -> None:
        self.kind = kind
        self.block = block

    @property
    def text(self) -> list[str]:
        """Return the content of the lines of the side."""
        return self.block.text if self.block is not None else []


class BlockChange:
    """Hold a comment block of base, and what each side did with it."""

    __slots__ = ("base", "ours", "theirs")

    def __init__(self, base: CommentBlock, ours: BlockState, theirs: BlockState) -> None:
        self.base = base
        self.ours = ours
        self.theirs = theirs

    @property
    def is_torn(self) -> bool:
        """Return whether one side took the block away and the other side edited it."""
        ours, theirs = self.ours, self.theirs
        return _is_torn(self.base, ours, theirs) or _is_torn(self.base, theirs, ours)

    @property
    def edited(self) -> CommentBlock | None:
        """Return the block of the side that alone changed it, or None."""
        if self.theirs.kind == EDITED and self.ours.kind == SAME:
            return self.theirs.block
        return self.ours.block if (self.ours.kind, self.theirs.kind) == (EDITED, SAME) else None

    @property
    def line(self) -> str:
        """Return a line that a side has in this block, if possible one that base lacks."""
        known = {row.line for row in self.base.rows}
        states = sorted((self.ours, self.theirs), key=lambda state: state.kind != EDITED)
        rows = [row for state in states if state.block is not None for row in state.block.rows]
        new = (row.line for row in rows if row.line not in known)
        return next(new, (rows or self.base.rows)[0].line)


def block_changes(at: Three[str]) -> list[BlockChange]:
    """Return what the sides did with each comment block of base."""
    if "#" not in at.base:
        return []
    changed = _comment_changes(at.base, at.ours), _comment_changes(at.base, at.theirs)
    # a block that nobody edited cannot be torn
    if None in changed or not any(changed):
        return []
    versions = at.map(VersionBlocks)
    base = versions.base
    ours, theirs = (_SideBlocks(base, side) for side in (versions.ours, versions.theirs))
    return [BlockChange(block, ours.state(block), theirs.state(block)) for block in base.blocks]


def divided(found: list[BlockChange], pieces: Pieces) -> list[BlockChange]:
    """Return the entries that one side alone edited and that a merge has in parts or in conflicts.

    A deletion of the active entry below a commented entry can put the commented entry in conflict.
    """
    edited = [(change, change.edited) for change in found if change.base.key and change.edited]
    if not edited:
        return []
    hunks = "".join(p.ours + p.theirs for p in pieces if isinstance(p, Hunk))
    readings = [
        _joined(line.strip(" \t#\r") for line in side_text(pieces, side).split("\n"))
        for side in SIDES
    ]
    return [
        change
        for change, block in edited
        if change.line in hunks
        or not any(_joined(row.bare for row in block.rows) in text for text in readings)
    ]


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(["", *filter(None, lines), ""])


def _comment_changes(base: str, side: str) -> bool | None:
    """Return whether a side has other comment lines than base.

    Return None if no comment is beside or between the changed lines of the side.
    """
    start, behind = uncommon(base, side)
    texts = [text[start : len(text) - behind] for text in (base, side)]
    if not any("#" in text for text in texts):
        above = base[:start].rstrip().rpartition("\n")[2]
        below = base[len(base) - behind :]
        is_beside = any(line.lstrip().startswith("#") for line in (above, below))
        return False if is_beside else None
    lines, others = (
        sorted(line for line in map(str.strip, text.split("\n")) if line.startswith("#"))
        for text in texts
    )
    return lines != others


def _is_torn(base: CommentBlock, taker: BlockState, other: BlockState) -> bool:
    """Return whether `taker` took a block away in which the other side did something else."""
    if not base.key:
        return other.kind == EDITED and taker.kind in (GONE, EDITED) and _is_cut(base, taker, other)
    if taker.kind == ACTIVE and other.kind in (MOVED, GONE):
        return True
    if taker.kind == other.kind == EDITED:
        return _has_torn_part(base.text, taker.text, other.text)
    return taker.kind in TAKEN and other.kind == EDITED


def _has_torn_part(base: list[str], taker: list[str], other: list[str]) -> bool:
    """Return whether `taker` took away an entry of several lines that `other` edited inside.

    The entry is within a commented entry that both sides edited.
    """
    left, there = ({*_kept(base, side)} for side in (taker, other))
    for n in range(1, len(base) - 1):
        end = _end_inside(base, n)
        if end - n < 2 or not left.isdisjoint(range(n, end)) or n not in there:
            continue
        start = _kept(base, other)[n]
        if other[start : _end_inside(other, start)] != base[n:end]:
            return True
    return False


def _kept(base: list[str], side: list[str]) -> dict[int, int]:
    """Map the numbers of the lines that a side kept to their numbers on the side."""
    return {i + n: j + n for i, stop, j, _ in diff(base, side) for n in range(stop - i)}


def _end_inside(lines: list[str], start: int) -> int:
    """Return the number of the line below an entry and all that is within it."""
    indent = " " * (len(lines[start]) - len(lines[start].lstrip()))
    is_list = lines[start][-1:] == ":" and lines[start][len(indent)] != "-"
    inside = (indent + " ", indent + "-") if is_list else (indent + " ",)
    rest = range(start + 1, len(lines))
    return next((n for n in rest if not lines[n].startswith(inside)), len(lines))


def _is_cut(base: CommentBlock, taker: BlockState, other: BlockState) -> bool:
    """Return whether `taker` took away all prose, or all lines around one that `other` edited."""
    lines, there = base.text, other.text
    left = set(taker.text)
    if set(there) <= set(lines) or not left < set(lines):
        return False
    edited = [n for n, line in enumerate(lines) if line not in there]
    around = ([lines[m] for m in (n - 1, n + 1) if 0 <= m < len(lines)] for n in edited)
    return not left or any(left.isdisjoint(some) for some in around if some)


class _SideBlocks:
    """Look up what a side did with the comment blocks of base."""

    __slots__ = ("_active", "_beside", "_blocks", "_free", "_new", "_prose", "_twins")

    def __init__(self, base: VersionBlocks, side: VersionBlocks) -> None:
        known = {name for name, _ in base.names}
        common = known & {name for name, _ in side.names}
        self._active = {row.bare for row in base.rows if not row.is_comment}
        self._prose = {line for block in base.blocks if not block.key for line in block.text}
        self._beside = base.beside(common) | side.beside(common)
        self._blocks = grouped(pair for block in side.blocks for pair in self._places(block))
        self._twins = {id(block): self._in_place(block) for block in base.blocks}
        taken = {id(twin) for twin in self._twins.values()}
        free = [block for block in side.blocks if id(block) not in taken]
        self._free = grouped(pair for block in free for pair in self._spots(block))
        self._new = {key: (side, n) for key, n in side.new_keys(known)}

    def state(self, block: CommentBlock) -> BlockState:
        """Return what the side did with a block of base."""
        twin = self._twins[id(block)]
        if twin is not None:
            return BlockState(SAME if twin.text == block.text else EDITED, twin)
        if block.key:
            moved = (b for b in self._free.get(block.key, ()) if _share(block, b))
            for kind, there in ((MOVED, next(moved, None)), (ACTIVE, self._uncommented(block))):
                if there is not None:
                    return BlockState(kind, there)
        elif any(name in self._blocks for name, _ in _names(block)):
            return BlockState(SAME, None)  # its lines are elsewhere
        places = enumerate(self._beside[id(block)])
        near = (b for place in places for b in self._free.get(place, ())[:MOST])
        edited = next((b for b in near if self._is_edited(block, b)), None)
        return BlockState(EDITED if edited is not None else GONE, edited)

    def _is_edited(self, block: CommentBlock, other: CommentBlock) -> bool:
        """Return whether a block of the side replaces a block of base that has another key."""
        if other.rows[0].bare in self._active:
            return False
        if not block.key:
            return not other.key and not self._prose.issuperset(other.text)
        return _share(block, other) or _are_lines(block, other)

    def _places(self, block: CommentBlock) -> list[tuple[Hashable, CommentBlock]]:
        """Return the names of a block, alone and with each neighbour, each with the block."""
        beside = self._beside[id(block)]
        pairs: list[tuple[Hashable, CommentBlock]] = [*_names(block)]
        return [*pairs, *((((name, at)), b) for name, b in pairs for at in enumerate(beside))]

    def _spots(self, block: CommentBlock) -> list[tuple[Hashable, CommentBlock]]:
        """Return the key and the neighbours of a block, each with the block."""
        spots = [block.key, *enumerate(self._beside[id(block)])]
        return [(spot, block) for spot in spots if spot]

    def _in_place(self, block: CommentBlock) -> CommentBlock | None:
        """Return the same block of the side, if it is in its old place."""
        beside = [*enumerate(self._beside[id(block)])]
        places = [(name, at) for name, _ in _names(block) for at in beside]
        near = [b for place in places for b in self._blocks.get(place, ())[:MOST]]
        if not block.key:
            near = [self._own(block, b) for b in near]
        return next((b for b in near if b.text == block.text), near[0] if near else None)

    def _own(self, block: CommentBlock, other: CommentBlock) -> CommentBlock:
        """Return prose of the side without the lines that other prose of base has."""
        own = set(block.text)
        rows = [row for row in other.rows if row.bare in own or row.bare not in self._prose]
        return CommentBlock(rows, "")

    def _uncommented(self, block: CommentBlock) -> CommentBlock | None:
        """Return the active entry of the side that was a commented entry of base."""
        side, n = self._new.get(block.key, (None, 0))
        return CommentBlock(side.inside(n, comments=False), block.key) if side is not None else None


def _names(block: CommentBlock) -> list[tuple[str, CommentBlock]]:
    """Return the key of an entry, or the lines of prose, each with the block."""
    return [(block.key, block)] if block.key else [(line, block) for line in block.text]


def _share(block: CommentBlock, other: CommentBlock) -> bool:
    """Return whether two blocks have half of their lines in common."""
    lines = set(block.text)
    same = sum(line in lines for line in other.text)
    return 2 * same >= max(len(lines), len(other.text))


def _are_lines(block: CommentBlock, other: CommentBlock) -> bool:
    """Return whether two blocks are entries of one line."""
    return bool(block.key and other.key) and len(block.rows) == len(other.rows) == 1


def untorn(at: Three[str], side: str) -> str | None:
    """Return the text of a side with all torn blocks as base has them, or None if this fails."""
    for _ in range(ROUNDS):
        found = [change for change in block_changes(at) if change.is_torn]
        if not found:
            return at.side(side)
        text = _restored(at.base, at.side(side), found, side)
        at = Three(at.base, text, at.theirs) if side == "ours" else Three(at.base, at.ours, text)
    return None


def adopted(at: Three[str], found: list[BlockChange]) -> Three[str]:
    """Return the texts in which all versions have the edits that one side alone made in blocks."""
    lines = at.map(lambda text: text.split("\n"))
    new: list[list[tuple[int, int, list[str]]]] = [[], [], []]  # ranges of lines in each version
    for change in found:
        edited = change.edited
        there = lines.ours if edited is change.ours.block else lines.theirs
        blocks = change.base, change.ours.block, change.theirs.block
        for ranges, block in zip(new, blocks, strict=True):
            if block is not None and edited is not None and block is not edited:
                ranges.append((block.start, block.end, there[edited.start : edited.end]))
    for ranges, whole in zip(new, lines.each(), strict=True):
        for start, end, text in sorted(ranges, reverse=True):
            whole[start:end] = text
    return lines.map("\n".join)


def _restored(base: str, side: str, found: list[BlockChange], name: str) -> str:
    """Return the text of a side with blocks as base has them, in their old places."""
    old, lines = base.split("\n"), side.split("\n")
    states = [(change.base, change.ours if name == "ours" else change.theirs) for change in found]
    gone = {n for _, state in states if (b := state.block) for n in range(b.start, b.end)}
    rest = [n for n in range(len(lines)) if n not in gone]
    bare, there = [line.strip() for line in old], [lines[n].strip() for n in rest]
    pairs = ((i + n, rest[j + n]) for i, stop, j, _ in diff(bare, there) for n in range(stop - i))
    kept = {n: m for n, m in pairs if bare[n]}
    above = sorted(kept)
    new = grouped((_place(bare, kept, above, *pair), pair[0]) for pair in states)
    result: list[str] = []
    for n in range(len(lines) + 1):
        for block in sorted(new.get(n, ()), key=lambda block: block.start):
            result += old[block.start : block.end]
        result += lines[n : n + 1] if n not in gone else []
    return "\n".join(result)


def _place(
    bare: list[str], kept: dict[int, int], above: list[int], block: CommentBlock, state: BlockState
) -> int:
    """Return the number of the line of a side above which a block of base belongs.

    `kept` maps the lines of base to the same lines of the side.
    """
    if state.block is not None and state.kind != MOVED:
        return state.block.start
    below = next((n for n in range(block.end, len(bare)) if bare[n]), -1)
    if below in kept:
        return kept[below]
    nearest = bisect_left(above, block.start) - 1
    return kept[above[nearest]] + 1 if nearest >= 0 else 0


def are_shown(found: list[BlockChange], pieces: Pieces) -> bool:
    """Return whether the lines that the sides have about torn blocks are all in conflicts."""
    hunks = [piece for piece in pieces if isinstance(piece, Hunk)]
    for side in SIDES if hunks else ():
        shown = {line.strip(" \t#\r") for hunk in hunks for line in hunk.side(side).split("\n")}
        for one in found:
            state = one.ours if side == "ours" else one.theirs
            old = {row.bare for row in one.base.rows} if state.kind == EDITED else set()
            rows = state.block.rows if state.block is not None else []
            if not all(row.bare in shown or row.bare in old for row in rows):
                return False
    return bool(hunks)


def place(found: list[BlockChange]) -> str:
    """Return the place of conflicts about torn blocks."""
    keys = sorted({one.base.key.removeprefix("- ").rstrip(":") for one in found} - {""})
    return keys[0] if len(keys) == 1 else "comment"


def apart(ours: Pieces, theirs: Pieces, found: list[BlockChange], base: str) -> Pieces:
    """Return two merges of one document as one; what differs between them is a conflict.

    `found` has the torn blocks, and `base` is the text of base.
    """
    mine, yours = _tokens(ours), _tokens(theirs)
    pieces: Pieces = []
    at, lines, torn = 0, base.split("\n"), {change.line: change.base for change in found}
    names = _marked(mine, [c.ours for c in found]), _marked(yours, [c.theirs for c in found])
    for b0, b1, s0, s1 in changes(*names):
        pieces += mine[at:b0]
        one, other = side_text(mine[b0:b1], "ours"), side_text(yours[s0:s1], "theirs")
        shown = dict.fromkeys(line.strip(" \t\r") for line in (one + other).split("\n"))
        blocks = [torn.pop(line) for line in shown if line in torn]
        old = [line + "\n" for block in blocks for line in lines[block.start : block.end]]
        pieces.append(Hunk("".join(old), one, other, place(found), Why.COMMENT))
        at = b1
    return joined([*pieces, *mine[at:]])


def _tokens(pieces: Pieces) -> Pieces:
    """Return pieces whose texts are cut into lines."""
    cut = ([p] if isinstance(p, Hunk) else p.splitlines(keepends=True) for p in pieces)
    return [token for tokens in cut for token in tokens]


def _marked(tokens: Pieces, states: list[BlockState]) -> list[Hashable]:
    """Return the tokens; the lines of torn blocks become equal to nothing in the other merge."""
    names: list[Hashable] = [
        token if isinstance(token, str) else (token.base, token.ours, token.theirs)
        for token in tokens
    ]
    bare = [token.strip(" \t#\r\n") if isinstance(token, str) else "" for token in tokens]
    numbers = grouped((line, n) for n, line in enumerate(bare))
    for state in states:
        rows = [row.bare for row in state.block.rows] if state.block is not None else [""]
        starts = numbers.get(rows[0], ()) if rows[0] else ()
        starts = [n for n in starts[:MOST] if bare[n : n + len(rows)] == rows]
        for n in range(starts[0], starts[0] + len(rows)) if len(starts) == 1 else ():
            names[n] = (id(state), n)
    return names
