"""Check that no comment is torn by two edits, and that no comment line is apart from its comment.

The law knows lines and columns, and nothing of entries. Three things break it:

- both sides changed a comment line of base, each in its own way. A line may be edited, taken away,
  moved, or used, and a line that was in use may be commented out;
- a comment line that one side alone wrote is not below the line that is above it there, or not
  under the same keys. The line above is the nearest one in the run of comments that is indented
  less behind its `#`; without such a line, the neighbours in the run count. The other side may have
  edited these lines and keys;
- a comment line that one side alone wrote is above another entry or element, which begins like the
  one that it is above there.

Nothing is parsed: block scalars are found by their headers and their indentation.
"""

from __future__ import annotations

from itertools import pairwise

from kmerge_git.merge.three import counted, grouped
from kmerge_git.merge.verify.sites import by_side, is_miscounted
from kmerge_git.text.diff3 import kept_indexes, uncommon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# What became of a comment line that was not edited.
GONE, ACTIVE, MOVED = "", "active", "moved"

MOST = 100  # a line that is there more often belongs to nothing

BOTH = "was changed differently by both sides"
ELSEWHERE = "would end up under another key"
APART = "would be separated from the rest of its comment"
ABOVE = "would end up above something else"


def torn(base: str, ours: str, theirs: str, made: str) -> list[tuple[str, str]]:
    """Return the comment lines of a document that break the law, each with a message.

    Callers ask `may_tear_comments` first, which is fast.
    """
    base, ours, theirs, made = _around_edits(base, ours, theirs, made)
    old = CommentLines(base)
    sides = [SideLines(old, text) for text in (ours, theirs)]
    result = CommentLines(made)
    found = {
        (old.bare[n], BOTH)
        for n in sides[0].became.keys() & sides[1].became.keys()
        if not _is_one_change(old.bare[n], {side.became[n] for side in sides}, old, result)
    }
    found |= {(line, ELSEWHERE) for line in _under_other_keys([old, *sides, result])}
    for side, other in (sides, sides[::-1]):
        new = [*_new_lines(side, other, old)]
        found |= {(line, APART) for line in _apart(new, side, other, old, result)}
        found |= {(side.bare[n], ABOVE) for n in new if _is_above_another(side, n, result)}
    return sorted(found)


def _around_edits(*texts: str) -> list[str]:
    """Return the texts without most of the lines that all of them begin and end with.

    The comments next to the other lines stay, and so do the lines that open the collections and
    block scalars around these, and what they may open.
    """
    start, behind = uncommon(*texts)
    above = texts[0][:start].split("\n")[:-1]
    first = len(above)
    while first and not _is_content(above[first - 1]):
        first -= 1
    first = max(first - 1, 0)
    kept = above[first:]
    column = _column(kept[0]) if kept else 0
    for line in reversed(above[:first]):
        if not column:
            break
        if _column(line) < column and _is_content(line):
            kept.insert(0, line)
            column = _column(line)
    inside = [text[start : len(text) - behind] for text in texts]
    # the lines below these are in collections that are opened above or below them
    floor = min(
        (_column(line) for text in inside for line in text.split("\n") if _is_content(line)),
        default=0,
    )
    below = texts[0][len(texts[0]) - behind :].split("\n")
    last = next(
        (n for n, line in enumerate(below) if _is_content(line) and _column(line) <= floor),
        len(below),
    )
    head = "".join(line + "\n" for line in kept)
    tail = "\n".join(below[: last + 1])
    return [head + text + tail for text in inside]


def _is_content(line: str) -> bool:
    return line.strip()[:1] not in ("", "#")


def comments(text: str) -> list[str]:
    """Return the lines that are comments, without their indentation."""
    if "#" not in text:
        return []
    lines = text.split("\n")
    marks = zip(lines, comment_marks(lines), strict=True)
    return [line.strip(" \t\r") for line, is_comment in marks if is_comment]


def comment_marks(lines: list[str]) -> list[bool]:
    """Return for each line whether it is a comment; lines of block scalars are none."""
    marks = []
    floor = -1  # the column of the entry that a block scalar belongs to
    for line in lines:
        bare = line.strip(" \t\r")
        if floor >= 0 and (not bare or _column(line) > floor):
            marks.append(False)
            continue
        marks.append(bare[:1] == "#")
        if bare:
            floor = _column(line) + _dashes(bare) if _opens_text(bare) else -1
    return marks


def _opens_text(bare: str) -> bool:
    """Return whether a line ends in the header of a block scalar."""
    if ("|" not in bare and ">" not in bare) or bare[0] == "#":
        return False
    value = bare.split(" #", maxsplit=1)[0].rstrip()
    mark = value.rstrip("+-0123456789")
    return mark[-1:] in ("|", ">") and (len(mark) == 1 or mark[-2] in " \t")


def _dashes(bare: str) -> int:
    """Return the width of the dashes before a key.

    If no key follows the last dash, this dash does not count.
    """
    taken = 0
    while bare.startswith("- "):
        rest = bare[1:].lstrip(" ")
        if rest[0] in "|>":
            break
        taken += len(bare) - len(rest)
        bare = rest
    return taken


class CommentLines:
    """Hold the lines of a document, without their indentation, and which lines are comments."""

    __slots__ = (
        *("above", "active", "bare", "columns", "count", "is_comment"),
        *("parents", "places", "runs"),
    )

    def __init__(self, text: str) -> None:
        lines = [*text.split("\n"), ""]  # so a blank line is around all
        self.columns = [*map(_column, lines)]
        self.bare = [line.strip(" \t\r") for line in lines]
        self.is_comment = comment_marks(lines)
        self.count = counted(self.bare)
        self.active = dict(self.count)
        self.runs = _runs(self.is_comment)
        for n in self.runs:
            self.active[self.bare[n]] -= 1
        self.places = grouped((self.bare[n], n) for n in self.runs)
        self.above = _above(lines, self.runs)
        self.parents = _parents(lines, self.runs) if self.runs else []

    def has_text(self, n: int) -> bool:
        """Return whether a line is a comment with a text."""
        return self.is_comment[n] and bool(self.bare[n].strip("# \t"))

    def block_below(self, n: int) -> str:
        """Return the lines of the entry or element that a comment line is above, or ''."""
        first = self.runs[n].stop
        is_above = bool(self.bare[first]) and self.columns[n] <= self.columns[first]
        return self.block(first) if is_above else ""

    def block(self, first: int) -> str:
        """Return the lines of an entry or element that are neither blank nor comments."""
        column = self.columns[first]
        end = first + 1
        while end < len(self.bare) and self._is_inside(end, column, first):
            end += 1
        return "".join(f"{self.bare[n]}\n" for n in range(first, end) if self._has_content(n))

    def _is_inside(self, n: int, column: int, first: int) -> bool:
        """Return whether a line is in the block that begins with another line."""
        if self.columns[n] > column or not self._has_content(n):
            return True
        is_at_key = self.columns[n] == column and self.bare[first][0] != "-"
        return is_at_key and self.bare[n][0] == "-"

    def times(self, block: str) -> int:
        """Return how often a block is there."""
        first = block.partition("\n")[0]
        return sum(self.block(n) == block for n, line in enumerate(self.bare) if line == first)

    def _has_content(self, n: int) -> bool:
        return bool(self.bare[n]) and not self.is_comment[n]

    def owned(
        self, shared: set[str], known: dict[tuple[int, str], int]
    ) -> Iterator[tuple[int, str]]:
        """Yield each comment line, with a number for the lines that open the collections around it.

        Only lines that are `shared` by all versions are compared; `known` holds their numbers.
        """
        owners: dict[int, int] = {}
        for n in filter(self.has_text, self.runs):
            top = n  # the first line of the block around the comment
            while (up := self.above[top]) is not None:
                top = up
            parent = self.parents[top]
            inside: list[int] = []
            while parent is not None and parent not in owners:
                inside.append(parent)
                parent = self.parents[parent]
            owner = owners[parent] if parent is not None else 0
            for opening in reversed(inside):
                line = self.bare[opening]
                is_known = owner >= 0 and line in shared
                owner = known.setdefault((owner, line), len(known) + 1) if is_known else -1
                owners[opening] = owner
            if owner >= 0:
                yield owner, self.bare[n]


def _runs(is_comment: list[bool]) -> dict[int, range]:
    """Return for each comment line the comment lines around it without a gap."""
    found: dict[int, range] = {}
    n = -1
    while True:
        try:
            start = is_comment.index(True, n + 1)
        except ValueError:
            return found
        n = is_comment.index(False, start)  # no comment is in the last line
        found.update(dict.fromkeys(range(start, n), range(start, n)))


def _above(lines: list[str], runs: dict[int, range]) -> dict[int, int | None]:
    """Return for each comment line the nearest line above in its run that is indented less.

    The columns behind the `#` count. The elements of a list may be at the column of its key.
    """
    found: dict[int, int | None] = {}
    around: list[tuple[int, int, bool]] = []  # the columns and numbers, and whether it is a key
    for n, run in runs.items():
        line = lines[n]
        text = line.lstrip(" \t#").rstrip()
        column = len(line) - len(line.lstrip(" \t#"))
        if n == run.start:
            around.clear()
        is_element = text[:2] in ("- ", "-")
        while around and around[-1][0] >= column:
            if around[-1][0] == column and is_element and around[-1][2]:
                break
            around.pop()
        inside = (m for at, m, _ in reversed(around) if at != column - 1)
        found[n] = next(inside, None)
        if text:
            around.append((column, n, text[-1] == ":" and not is_element))
    return found


def _parents(lines: list[str], runs: dict[int, range]) -> list[int | None]:
    """Return for each line the nearest line above that is indented less and is no comment."""
    found: list[int | None] = []
    around: list[tuple[int, int]] = []  # the columns and numbers of the lines around
    for n, line in enumerate(lines):
        column = _column(line)
        if n in runs:
            found.append(next((m for at, m in reversed(around) if at < column), None))
            continue
        if column == len(line) or not line.strip():
            found.append(None)  # nothing is below a blank line
            continue
        while around and around[-1][0] >= column:
            around.pop()
        found.append(around[-1][1] if around else None)
        around.append((column, n))
    return found


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


class SideLines(CommentLines):
    """Hold the lines of a side, and what became of the comment lines of base."""

    __slots__ = ("became", "kept")

    def __init__(self, base: CommentLines, text: str) -> None:
        super().__init__(text)
        self.kept = {
            i: j
            for i, j in kept_indexes(base.bare, self.bare).items()
            if base.is_comment[i] == self.is_comment[j]
        }
        self.became: dict[int, str] = {}
        ends = [(-1, -1), *sorted(self.kept.items()), (len(base.bare), len(self.bare))]
        for (above, mine), (below, yours) in pairwise(ends):
            if below - above == yours - mine == 1:
                continue
            if any(base.is_comment[above + 1 : below] + self.is_comment[mine + 1 : yours]):
                self._read(base, range(above + 1, below), range(mine + 1, yours))

    def _read(self, base: CommentLines, gone: range, come: range) -> None:
        """Note what became of the comment lines between two lines that the side kept."""
        old = [n for n in gone if base.bare[n]]
        texts = [self.bare[m] if self.is_comment[m] else ACTIVE for m in come if self.bare[m]]
        in_use = {_key(self.bare[m]) for m in come if not self.is_comment[m]}
        written = [text for text in texts if text != ACTIVE and text not in base.count]
        lost = [n for n in old if base.is_comment[n]]
        rows = _paired(old, texts) | _paired(lost, written)
        for n in lost:
            line = base.bare[n]
            self.became[n] = (
                self._elsewhere(base, line, in_use) or rows.get(n) or _like(line, written)
            )
        self._note_commented(base, old, written)

    def _note_commented(self, base: CommentLines, old: list[int], written: list[str]) -> None:
        """Note which lines that were in use are comments now."""
        for n in old:
            text = GONE if base.is_comment[n] else _like(base.bare[n], written)
            if text:
                self.became[n] = text

    def _elsewhere(self, base: CommentLines, line: str, in_use: set[str]) -> str:
        """Return whether a lost comment line was moved or is in use now, or ''."""
        if len(self.places.get(line, ())) >= len(base.places[line]):
            return MOVED
        is_used = len(base.places[line]) == 1 and is_more(line, self, base)
        return ACTIVE if is_used or (":" in line and _key(line) in in_use) else ""

    def now(self, n: int, base: CommentLines) -> set[str]:
        """Return the text that a line of base has on this side, if it still is a comment there."""
        became = self.became.get(n, GONE)
        if n in self.kept or became == MOVED:
            return {base.bare[n]}
        return {became} - {GONE, ACTIVE}


def is_more(line: str, lines: CommentLines, base: CommentLines) -> bool:
    """Return whether a version has the text of a comment in use more often than base."""
    text = line.lstrip("#").strip()
    return text != "" and lines.active.get(text, 0) > base.active.get(text, 0)


def _like(line: str, written: list[str]) -> str:
    """Return what a comment line may have been rewritten to, or `GONE`."""
    return next((text for text in written if _key(text) == _key(line)), GONE)


def _paired(lines: list[int], texts: list[str]) -> dict[int, str]:
    """Return what became of each line if there are as many lines as before."""
    return dict(zip(lines, texts, strict=True)) if len(lines) == len(texts) else {}


def _key(line: str) -> str:
    """Return what two readings of one line have in common: the key, or the first words."""
    text = line.lstrip("#").strip()
    return text.partition(":")[0] if ":" in text else " ".join(text.split()[:2])


def _is_one_change(line: str, changes: set[str], base: CommentLines, result: CommentLines) -> bool:
    """Return whether two changes of a line are one, or can both be in the result."""
    if not line.strip("# \t"):
        return True
    made, before = len(result.places.get(line, ())), len(base.places.get(line, ()))
    if MOVED not in changes:
        return len(changes) == 1
    if changes == {MOVED}:
        return made <= before
    edited = next(iter(changes - {MOVED}))
    is_there = is_more(line, result, base) if edited == ACTIVE else edited in result.places
    return made < before and (edited == GONE or is_there)


def _under_other_keys(versions: list[CommentLines]) -> Iterator[str]:
    """Return the comments that the result has too rarely or too often under the same keys."""
    shared = set.intersection(*({*version.active.items()} for version in versions))
    known: dict[tuple[int, str], int] = {}
    owned = (version.owned({line for line, _ in shared}, known) for version in versions)
    return (line for (_, line), count in by_side(owned).items() if is_miscounted(count))


def _new_lines(side: SideLines, other: SideLines, base: CommentLines) -> Iterator[int]:
    """Yield the numbers of the comment lines that one side alone wrote."""
    known = set(side.kept.values())
    for n, line in enumerate(side.bare):
        before = base.count.get(line, 0)
        is_new = other.count.get(line, 0) <= before < side.count[line]
        if is_new and n not in known and side.has_text(n):
            yield n


def _apart(
    new: list[int], side: SideLines, other: SideLines, base: CommentLines, result: CommentLines
) -> Iterator[str]:
    """Yield a line that the result has away from a new comment line of a side."""
    known = {m: n for n, m in side.kept.items()}
    for n in new:
        line = side.bare[n]
        near = _Near(side, other, base, n, known)
        places = result.places.get(line, ())
        if 0 < len(places) < MOST and not any(near.fits(result, at) for at in places):
            yield min(near.wanted, default=line)  # the same line if the sides are exchanged


def _is_above_another(side: SideLines, n: int, result: CommentLines) -> bool:
    """Return whether a comment is above a block that only begins like its own in the result.

    Its own must be elsewhere in the result: it may have been edited by the other side.
    """
    own, places = side.block_below(n), result.places.get(side.bare[n], ())
    found = {result.block_below(at) for at in places} if own and len(places) < MOST else ()
    begins = {block.partition("\n")[0] for block in found}
    return (
        own not in found
        and begins == {own.partition("\n")[0]}
        and result.times(own) >= side.times(own)
    )


class _Near:
    """Hold what is around a new comment line of a side, as the other side has it."""

    __slots__ = ("below", "in_use", "is_alone", "is_inside", "wanted")

    def __init__(
        self, side: SideLines, other: SideLines, base: CommentLines, n: int, known: dict[int, int]
    ) -> None:
        up = side.above[n]
        self.is_inside = up is not None
        near = [m for m in (n - 1, n + 1) if m in side.runs[n]] if up is None else [up]
        texts = [other.now(known[m], base) if m in known else {side.bare[m]} for m in near]
        self.wanted: set[str] = set().union(*texts)
        self.is_alone = not near
        # the neighbours that the other side has in use
        self.in_use = {
            (m > n, _key(side.bare[m]))
            for m in near
            if other.became.get(known.get(m, -1)) == ACTIVE
        }
        self.below = "" if side.is_comment[n + 1] else side.bare[n + 1]

    def fits(self, result: CommentLines, at: int) -> bool:
        """Return whether a line of the result is where the side has it."""
        if self.is_inside:
            up = result.above[at]
            return up is not None and result.bare[up] in self.wanted
        run = result.runs[at]
        edges = {(False, _key(result.bare[run.start - 1])), (True, _key(result.bare[run.stop]))}
        return (
            self.is_alone
            or any(
                m in run and m != at for text in self.wanted for m in result.places.get(text, ())
            )
            or not edges.isdisjoint(self.in_use)
            or result.bare[at + 1] == self.below != ""
        )
