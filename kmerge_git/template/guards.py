"""What no merge of templates may do, whoever made it: doubts that fields do not tell.

The guards of a container look at what both sides did in one map or list, those of a file count
what stands in the result. What an action renders nobody knows: where two changes may meet in it,
there is a conflict.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.merge.three import Three
from kmerge_git.template.blocks import Block, Row, parse
from kmerge_git.template.layout import seen_through
from kmerge_git.template.lexer import ASSIGN, OUTPUT, TOKEN, actions
from kmerge_git.template.masking import Words
from kmerge_git.template.names import unquoted
from kmerge_git.template.pairing import said
from kmerge_git.template.placed import APART, DATA, ENTRY
from kmerge_git.template.places import DOCUMENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from kmerge_git.template.blocks import Part
    from kmerge_git.template.placed import Path, Placed

    Counts = dict[Hashable, int]
    Children = dict[Path, dict[str, Placed]]  # names in their order

MOST_ORDERED = 10_000  # pairs of entries whose order is looked at


# -- a container


def containers(units: Three[list[Placed]], tokens: dict[int, str]) -> list[tuple[Placed, Placed]]:
    """Refuse changes of both sides in one map or list that may meet in what an action renders.

    Returned is what has to stand before what in the result.
    """
    base, ours, theirs = (_children(version, tokens) for version in units.each())
    order: list[tuple[Placed, Placed]] = []
    for path in [path for path in ours if path in theirs]:
        old = {*base.get(path, ())}
        at = Three(old, {*ours[path]}, {*theirs[path]})
        _container(at, is_new=not _is_known(path, base))
        order += _order(Three(base.get(path, {}), ours[path], theirs[path]))
        if _entries(at.ours - old) & _entries(at.theirs - old):
            above = [path[:end] for end in range(1, len(path) + 1)]
            if any(_gone(base, ours, one) != _gone(base, theirs, one) for one in above):
                raise Unsupported("both sides added one action, each in the place of other entries")
    texts = units.map(_below)
    for one, other in ((texts.ours, texts.theirs), (texts.theirs, texts.ours)):
        for path, lines in texts.base.items():
            if path in one or other.get(path, lines) == lines:
                continue
            if any("{{" in line for line in (*lines, *other[path])):
                raise Unsupported("one side renamed or deleted what the other changed inside")
    return order


def _container(at: Three[set[str]], *, is_new: bool) -> None:
    added, others = at.ours - at.base, at.theirs - at.base
    gone, lost = at.base - at.ours, at.base - at.theirs
    if added != others and len(gone & lost) > len(added & others):
        raise Unsupported("both sides took an entry away, and put different things in its place")
    if is_new and _entries(added) != _entries(others):
        raise Unsupported("both sides added a field, with different actions in it")
    is_templated = any(TOKEN in name and not _is_entry(name) for name in added ^ others)
    if added and others and is_templated:
        raise Unsupported("both sides added entries, and the key of one is rendered")


def _order(at: Three[dict[str, Placed]]) -> Iterator[tuple[Placed, Placed]]:
    """What one side put in the place of entries stands where these stood beside the other's.

    The masked texts do not tell: they have lost the entries that others stand for.
    """
    kept = [name for name in at.base if name in at.ours and name in at.theirs]
    rows = at.map(lambda names: _gaps(names, kept))
    for base, ours, theirs in zip(*rows.each(), strict=False):
        for mine, yours, has, adds in (
            (ours, theirs, at.ours, at.theirs),
            (theirs, ours, at.theirs, at.ours),
        ):
            for name, other, is_behind in _beside({*base}, mine, yours):
                pair = has[name], adds[other]
                yield pair if is_behind else pair[::-1]


def _beside(old: set[str], mine: list[str], yours: list[str]) -> Iterator[tuple[str, str, bool]]:
    """What one side put in the place of entries, what the other added; is that behind them?"""
    lost = old - {*mine}
    gone = [number for number, name in enumerate(yours) if name in lost]
    known = old.union(mine)
    added = {*mine} - old - {*yours}
    others = [(n, name) for n, name in enumerate(yours) if name not in known]
    if not gone or not _entries(added | (lost & {*yours})):
        return
    if len(added) * len(others) > MOST_ORDERED:
        raise Unsupported("too many entries of both sides in one place")
    for number, other in others:
        if gone[0] < number < gone[-1]:
            raise Unsupported("one side added something among entries that the other replaced")
        for name in added:
            yield name, other, number > gone[-1]


def _gaps(names: dict[str, Placed], kept: list[str]) -> list[list[str]]:
    """The names between those that all versions have."""
    found: list[list[str]] = [[]]
    marks = set(kept)
    for name in names:
        if name in marks:
            found.append([])
        else:
            found[-1].append(name)
    return found


def _gone(base: Children, side: Children, path: Path) -> set[str]:
    return {*base.get(path, ())} - {*side.get(path, ())}


def _below(units: list[Placed]) -> dict[Path, list[str]]:
    """The lines below each place."""
    found: dict[Path, list[str]] = {}
    for unit in units:
        for end in range(1, len(unit.path) + 1):
            found.setdefault(unit.path[:end], []).append(unit.part.text)
    return found


def _children(units: list[Placed], tokens: dict[int, str]) -> Children:
    """What stands in each place, by name; elements without names may share one place."""
    found: Children = {}
    counts: Counts = {}
    for unit in units:
        if unit.role == ENTRY:
            place = unit.path if unit.form != DOCUMENT else ()  # documents stand in the file
            found.setdefault(place, {})[tokens[id(unit)]] = unit
        elif unit.role == DATA and unit.label:
            _add(counts, (unit.path, unit.label))
            count = counts[unit.path, unit.label]
            name = f"{unit.label}#{count}" if count > 1 else unit.label
            found.setdefault(unit.path, {})[name] = unit
    return found


def _is_known(path: Path, base: Children) -> bool:
    return not path or path in base or path[-1] in base.get(path[:-1], ())


def _entries(names: set[str]) -> set[str]:
    return {name for name in names if _is_entry(name)}


def _is_entry(name: str) -> bool:
    return name.startswith(TOKEN + "E")


# -- a file


def check(made: str, at: Three[str]) -> None:
    """Refuse a result in which something stands more or less often than a merge can make it."""
    words = Words()
    base, ours, theirs, result = (
        _Counted(text, words) for text in (at.base, at.ours, at.theirs, made)
    )
    for key, count in result.places.items():
        b, o, t = (version.places.get(key, 0) for version in (base, ours, theirs))
        if o > b and t > b and count > max(o, t):
            raise Unsupported("what both sides added would stand twice")
    for key in {*base.actions, *ours.actions, *theirs.actions, *result.actions}:
        b, o, t, r = (version.actions.get(key, 0) for version in (base, ours, theirs, result))
        low, high = _bounds(b, o, t)
        if not low <= r <= high:
            raise Unsupported("an action would be lost, or stand too often")
    for line in {*base.lines, *ours.lines, *theirs.lines}:
        b, o, t, r = (version.lines.get(line, 0) for version in (base, ours, theirs, result))
        low, high = _bounds(b, o, t)
        if not low <= r <= high:
            raise Unsupported("a line would be lost, or stand too often")


def _bounds(base: int, ours: int, theirs: int) -> tuple[int, int]:
    """How often something may stand in a merge."""
    total = ours + theirs - base
    if ours > base and theirs > base:
        return max(ours, theirs), total
    if ours < base and theirs < base:
        return max(total, 0), min(ours, theirs)
    return total, total


class _Counted:
    """How often the keys, outputs and actions of a text stand in it."""

    __slots__ = ("actions", "lines", "places")

    def __init__(self, text: str, words: Words) -> None:
        self.places: Counts = {}
        self.actions: Counts = {}
        self.lines: Counts = {}
        for line in text.split("\n"):
            _add(self.lines, unquoted(line.strip()))
        for action in actions(text):
            _add(self.actions, said(text[action.start : action.end]))
        for name, rows, around in _texts(parse(text)):
            for unit, context in zip(seen_through(rows, words.plain), around, strict=True):
                self._count(unit, name, context)

    def _count(self, unit: Placed, name: str, context: tuple[str, ...]) -> None:
        row = unit.part
        assert isinstance(row, Row)
        if unit.role == DATA and unit.label:
            _add(self.places, (name, unit.path, unit.label))
        elif row.kind == OUTPUT:
            _add(self.places, (name, said(row.text), _of_dot(row, context)))
        elif row.kind == ASSIGN:
            for action in row.actions:
                if action.kind == ASSIGN:
                    _add(self.places, (name, action.word))
        if unit.role == APART:
            _add(self.actions, "---")


def _texts(parts: Sequence[Part]) -> Iterator[tuple[str, list[Row], list[tuple[str, ...]]]]:
    """The text of a file and that of each `define` in it, by name: lines of all branches.

    Each line comes with the headers of the `with` and `range` around it.
    """
    rows: list[Row] = []
    around: list[tuple[str, ...]] = []
    for part in parts:
        if isinstance(part, Block) and part.word == "define":
            yield from (
                (said(part.arms[0].header), *text[1:]) for text in _texts(part.arms[0].parts)
            )
        else:
            for row, context in _rows(part, ()):
                rows.append(row)
                around.append(context)
    yield "", rows, around


def _rows(part: Part, context: tuple[str, ...]) -> Iterator[tuple[Row, tuple[str, ...]]]:
    if isinstance(part, Row):
        yield part, context
        return
    inner = context
    if part.word in ("with", "range"):
        inner = (*context, said(part.arms[0].header))
    for arm in part.arms:
        for one in arm.parts:
            yield from _rows(one, inner)


def _of_dot(row: Row, context: tuple[str, ...]) -> tuple[str, ...]:
    """What the dot of an output is; nothing where it uses none, or that of the file."""
    words = row.text.replace("(", " ").split()
    return context if any(word[0] == "." for word in words) else ()


def _add(counts: Counts, key: Hashable) -> None:
    counts[key] = counts.get(key, 0) + 1
