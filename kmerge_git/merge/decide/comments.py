"""Merge the text between values: comment lines, blank lines, and comments behind values."""

from __future__ import annotations

from kmerge_git.merge.plan import Line
from kmerge_git.merge.three import Three, agreed, counted, cut, standing, whose
from kmerge_git.tree.nodes import (
    Collection,
    after,
    column_of,
    foot,
    head,
)
from kmerge_git.tree.same import comments, same_comments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from kmerge_git.merge.plan import Lines
    from kmerge_git.tree.nodes import Entry

    Run = list[Line] | Three[list[Line]]


def comment_lines(text: str, home: int) -> list[Line]:
    """Return the lines of a text that belongs to an entry or a collection at column `home`."""
    return [Line.of(line, home) for line in text.split("\n")[:-1]] if text else []


def lead_lines(entry: Entry | None) -> list[Line]:
    """Return the lines above an entry that belong to the entry."""
    if entry is None or entry.lead == entry.line:
        return []
    return comment_lines(entry.value.text[entry.lead : entry.line], column_of(entry))


def head_lines(made: Collection | None) -> list[Line]:
    """Return the lines at the top of a collection that belong to no entry."""
    return comment_lines(head(made), made.column) if made is not None else []


def foot_lines(made: Collection | None) -> list[Line]:
    """Return the lines at the bottom of a collection that belong to no entry."""
    return comment_lines(foot(made), made.column) if made is not None else []


def may_part(
    at: Three[Collection | None], tables: Three[dict[Hashable, Entry]] | None = None
) -> bool:
    """Return whether comments may be taken out of the entries of three collections.

    All three must be block collections with entries, and the base must contain a `#`. If the
    versions have the same comments at the same entries of the `tables`, none floats.
    """
    blocks = [c for c in at.each() if c is not None and not c.flow and c.entries]
    if len(blocks) < 3 or "#" not in blocks[0].text[blocks[0].top : blocks[0].bottom]:
        return False
    if tables is None:
        return True
    base, *sides = map(_own_comments, blocks, tables.each())
    if any(side != base for side in sides):
        return True
    texts = [block.text[block.top : block.bottom] for block in blocks]
    return any(len({t.count(line) for t in texts}) > 1 for lines in base.values() for line in lines)


def _own_comments(
    made: Collection, table: dict[Hashable, Entry]
) -> dict[tuple[Hashable, ...], list[str]]:
    """Return the comments of a collection above its entries, at its top and at its bottom."""
    entries = made.entries
    spans: dict[tuple[Hashable, ...], tuple[int, int]] = {
        (key,): (entry.lead, entry.line) for key, entry in table.items()
    }
    spans["top", ""] = made.top, entries[0].lead
    spans["bottom", ""] = entries[-1].end, made.bottom
    filled = ((place, made.text[a:z]) for place, (a, z) in spans.items() if a < z)
    found = {place: [*filter(None, map(str.strip, text.split("\n")))] for place, text in filled}
    return {place: lines for place, lines in found.items() if lines}


def merge_lines(lines: Three[list[Line]], *, is_new: bool = False) -> Lines | None:
    """Return the merged lines, or None if our lines stay as they are.

    With `is_new` the lines belong to something that base does not have.
    The comments are merged as if there were no blank lines. The blank lines before, between and
    after the comments are merged separately.
    """
    side, forms = whose(lines), lines.map(lambda found: [line.form for line in found])
    if side == "theirs" and forms.ours == forms.base:
        return [lines.theirs]
    if lines.ours == lines.theirs:
        if lines.base != lines.ours:
            return None
        # perhaps only their side changed how the same comments are written
        written = [_spelled(at) for at in map(Three, *lines.each())]
        same = all(a is b for a, b in zip(written, lines.ours, strict=True))
        return None if same else [written]
    if side == "ours" and forms.theirs == forms.base:
        return None
    runs = lines.map(_Run)
    above = {id(line): blanks for run in runs.each() for line, blanks in run.above}
    parts: Lines = [standing(runs.map(lambda run: run.front))]
    for run in _merge_texts(runs.map(lambda run: run.comments), above, is_new=is_new):
        if isinstance(run, Three):
            parts.append(run.map(lambda side: _with_blanks(side, above)))
        else:
            blanks = above[id(run[0])] if run and len(parts) > 1 else []
            parts.append([*blanks, *_with_blanks(run, above)])
    return [*parts, standing(runs.map(lambda run: run.back))] if any(parts[1:]) else parts[:1]


def _merge_texts(
    lines: Three[list[Line]], above: dict[int, list[Line]], *, is_new: bool
) -> Iterator[Run]:
    """Merge comments, and merge the blank lines above comments that all versions have.

    `above` has the blank lines above each comment.
    """
    from kmerge_git.text.shared_edits import diff3_once

    for region in diff3_once(*lines.each(), adjacent_ok=True):
        part = cut(region, lines)
        if region.kind == "clash":
            yield from _clash(part, is_new=is_new)
        elif region.kind == "same":
            for at in map(Three, *part.each()):
                blanks = standing(at.map(lambda line: above[id(line)]))
                line = _spelled(at)
                above[id(line)] = blanks
                yield [line]
        else:
            yield part.theirs if region.kind == "theirs" else part.ours


class _Run:
    """Split lines into comments and the blank lines before, between and after the comments."""

    __slots__ = ("above", "back", "comments", "front")

    def __init__(self, lines: list[Line]) -> None:
        self.comments = [line for line in lines if line]
        self.above: list[tuple[Line, list[Line]]] = []
        self.front: list[Line] = []
        blanks = self.front
        for line in lines:
            if line:
                self.above.append((line, blanks if self.above else []))
                blanks = []
            else:
                blanks.append(line)
        self.back = blanks if self.comments else []


def _with_blanks(run: list[Line], above: dict[int, list[Line]]) -> list[Line]:
    """Return comments with the blank lines between them."""
    return [*run[:1], *(line for comment in run[1:] for line in (*above[id(comment)], comment))]


def _spelled(at: Three[Line]) -> Line:
    """Return a comment that all versions have, with the indentation that only one side changed."""
    return at.theirs if at.theirs.form != at.base.form == at.ours.form else at.ours


def _clash(part: Three[list[Line]], *, is_new: bool) -> list[Run]:
    """Merge comments that both sides changed; keep all new comments, drop deleted comments.

    Different comments of something new are a conflict, and so are additions that share a line: they
    are two versions of one text.
    """
    if part.base and (fewer := _only_taken_away(part)):
        return [fewer[0]]
    from kmerge_git.text.diff3 import Region, refine

    is_union = not (part.base or is_new) and set(part.ours).isdisjoint(part.theirs)
    result: list[Run] = []
    whole = [Region("clash", 0, len(part.base), 0, len(part.ours), 0, len(part.theirs))]
    for region in refine(whole, *part.each()):
        rest = cut(region, part)
        if region.kind != "clash":
            result.append(rest.theirs if region.kind == "theirs" else rest.ours)
        elif is_union:
            result += [rest.ours, rest.theirs]
        elif part.base or (rest.ours and rest.theirs):
            result.append(rest)
        else:
            result.append(rest.ours or rest.theirs)
    return result


def _only_taken_away(part: Three[list[Line]]) -> list[list[Line]]:
    """If one side only deleted comments, delete them from the other side's comments.

    Return an empty list if each side did more than delete comments.
    """
    from kmerge_git.text.diff3 import diff

    for side, other in ((part.ours, part.theirs), (part.theirs, part.ours)):
        kept = diff(part.base, side)
        if sum(end - start for start, end, _, _ in kept) == len(side):
            there = {n for start, end, _, _ in kept for n in range(start, end)}
            gone = {
                theirs + n
                for start, end, theirs, _ in diff(part.base, other)
                for n in range(end - start)
                if start + n not in there
            }
            return [[line for n, line in enumerate(other) if n not in gone]]
    return []


def takes_new_comments(at: Three[list[Entry]], side: str) -> bool:
    """Return whether elements that `side` deleted have new comments on the other side."""
    other = at.theirs if side == "ours" else at.ours
    return any(
        has_new_comments(base, there) or not same_comments(base, there)
        for base, there in zip(at.base, other, strict=False)
    )


def has_new_comments(base: Entry, other: Entry) -> bool:
    """Return whether an entry has comments above it that the same entry in the base lacks."""
    old, new = (counted(filter(None, lead_lines(entry))) for entry in (base, other))
    return any(count > old.get(line, 0) for line, count in new.items())


def merge_tail(tails: Three[str]) -> tuple[str | None, bool]:
    """Merge the text behind a value; also return whether both sides changed it differently.

    A text of None means that our text stays.
    """
    side = whose(tails.map(str.strip))
    return tails.theirs if side == "theirs" else None, not side


def tails_clash(at: Three[Entry | None]) -> bool:
    """Return whether both sides changed the text behind a value differently."""
    return merge_tail(at.map(lambda entry: after(entry) if entry is not None else ""))[1]


def merged_tail(at: Three[Entry | None]) -> str | None:
    """Merge the texts behind values if at most the lines below the values differ.

    Otherwise return None.
    """
    columns = {column_of(entry) for entry in at.each() if entry is not None}
    tails = at.map(
        lambda entry: after(entry).partition("\n") if entry is not None else ("", "", "")
    )
    first = agreed(tails.map(lambda tail: tail[0].strip()))
    if first is None or len(columns) > 1:
        return None
    column = columns.pop()
    below = tails.map(lambda tail: comment_lines(tail[2], column))
    if not any(all(line in side for line in below.base) for side in (below.ours, below.theirs)):
        return None  # a comment that one side deleted here may have moved
    parts = merge_lines(below) or [below.ours]
    line = next(tail[0] for tail in tails.each() if tail[0].strip() == first)
    lines = [line.rstrip()]
    for part in parts:
        if isinstance(part, Three):
            return None
        lines += [one.spelled for one in part if isinstance(one, Line)]
    return "\n".join(lines) + "\n"


def has_own_comment(tails: Three[str]) -> bool:
    """Return whether our value is followed by a comment that base and theirs lack."""
    ours = comments(tails.ours)
    return bool(ours) and ours != comments(tails.base) and ours != comments(tails.theirs)


def may_lose_comments(at: Three[Collection | None]) -> bool:
    """Return whether a collection that a side wrote in brackets has comments inside.

    Comments in brackets do not move with entries, and brackets on one line hold none. A block
    collection counts only if the other side did not empty the collection.
    """
    ours, theirs = at.ours, at.theirs
    is_filled = bool(ours and theirs and ours.entries and theirs.entries)
    versions = [made for made in at.each() if made is not None and (made.flow or is_filled)]
    return any(
        comments(made.raw if made.flow else made.text[min(made.start, made.top) : made.bottom])
        for made in versions
    )
