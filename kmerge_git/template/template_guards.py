"""Refuse merges of templates that may do damage which no field shows, whoever made them.

The guards of a container look at what both sides did in one map or list, those of a file count
what the result holds. Nobody knows what an action renders: where two changes may meet in it,
there is a conflict. Two guards of their own: lines that trim marks join, and actions of both
sides that render one value.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.merge.three import Three
from kmerge_git.template.action_lexer import (
    ASSIGN,
    COMMENT,
    ELSE,
    END,
    OPEN,
    OUTPUT,
    TOKEN,
    Action,
    actions,
    behind_string,
)
from kmerge_git.template.masking import Words
from kmerge_git.template.template_blocks import Block, Row, parse
from kmerge_git.template.template_layout import (
    APART,
    DATA,
    DOCUMENT,
    ENTRY,
    Sided,
    key_of,
    seen_through,
    unquoted,
)
from kmerge_git.template.template_pairs import said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from kmerge_git.template.template_blocks import Arm, Part
    from kmerge_git.template.template_layout import Path, Placed
    from kmerge_git.template.template_pairs import Entity


if TYPE_CHECKING:
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


def refuse_joined(made: str, at: Three[str]) -> None:
    """Refuse a result that joins lines which no version joins."""
    known = {joint for text in at.each() for joint in _joints(text)}
    if not known.issuperset(_joints(made)):
        raise Sided("a trim mark joins lines that were apart")


def _joints(text: str) -> Iterator[tuple[str, str]]:
    """What each trim mark joins: lines without their blanks; `text` is any line of text above."""
    found = actions(text)
    above, behind = "", 0
    around: list[tuple[bool, str]] = []  # of each open block: is it a define, what is above it
    for number, action in enumerate(found):
        between = text[behind : action.start]
        is_first = _ends_in_blanks(between, is_start=not behind)
        if between.strip():
            above = "text"
        behind = action.end
        below = _below_joints(text, found, number)
        own = _line(text, action.start) if below or is_first else ""
        if below:
            yield own, below
        if is_first and action.trims_before and (below or _is_joined(action)):
            yield above, own
        if action.kind == OUTPUT and is_first:
            above = own
        elif action.kind == OPEN:
            around.append((action.word == "define", above))
            above = "" if action.word == "define" else above
        elif action.kind == ELSE:
            above = around[-1][1]
        elif action.kind == END:
            is_define, outside = around.pop()
            above = outside if is_define else above


def _ends_in_blanks(text: str, *, is_start: bool) -> bool:
    """Whether a line begins in a text, and has nothing yet."""
    _, line_end, before = text.rpartition("\n")
    return (is_start or bool(line_end)) and not before.strip()


def _is_joined(action: Action) -> bool:
    return action.kind == OUTPUT and "nindent" not in action.body


def _below_joints(text: str, found: list[Action], number: int) -> str:
    """The line of text or of an output that the end of an action trims; nothing if none."""
    action = found[number]
    until = found[number + 1].start if number + 1 < len(found) else len(text)
    at = text.find("\n", action.end, until)
    if not action.trims_after or at < 0 or text[action.end : at].strip():
        return ""
    while text[at : at + 1].isspace():
        at += 1
    below = _line(text, at)
    if below.startswith("{{") and (
        found[number + 1].trims_before or found[number + 1].kind != OUTPUT
    ):
        return ""
    return below


def _line(text: str, at: int) -> str:
    """The line at an offset, without its value: the other side may have changed that."""
    end = text.find("\n", at)
    line = text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)].strip()
    return key_of(line) or line


_OF_ALL = (".Release", ".Chart", ".Capabilities", ".Template", ".Files")  # of no feature


def refuse_twice(entities: list[Entity]) -> None:
    """Refuse entries of both sides in one map or list that are about one value."""
    ours, theirs = _added(entities, "ours", "theirs"), _added(entities, "theirs", "ours")
    for path in ours.keys() & theirs.keys():
        if ours[path] & theirs[path]:
            raise Unsupported("both sides added what renders the same value")


def refuse_other_dot(word: str, arms: Three[Arm]) -> None:
    """Refuse a `with` or `range` over something else, where the other side uses its dot anew."""
    if word not in ("with", "range"):
        return
    about = arms.map(lambda arm: " ".join(arm.action.body.split()))
    for changed, other in ((about.ours, arms.theirs), (about.theirs, arms.ours)):
        if changed != about.base and _uses(other) - _uses(arms.base):
            raise Unsupported(
                "one side changed what the dot of a block is, and the other uses it there"
            )


def _uses(arm: Arm) -> set[str]:
    """The actions inside that use the dot, or a variable that is no name of the whole file."""
    found = set()
    for part in arm.parts:
        for action in actions(part.text):
            words, _ = _words(action.body) if action.kind != COMMENT else ([], [])
            if any(
                word[0] == "." or (word[0] == "$" and word[1:2] not in ("", ".")) for word in words
            ):
                found.add(action.body)
    return found


def _added(entities: list[Entity], side: str, other: str) -> dict[Path, set[str]]:
    """The values that what a side alone added is about, by the place where it stands."""
    found: dict[Path, set[str]] = {}
    for entity in entities:
        unit = getattr(entity, side)
        if unit is not None and entity.base is None and getattr(entity, other) is None:
            found.setdefault(unit.path, set()).update(_subjects(unit.part, is_inner=False))
    return found


def _subjects(part: Part, *, is_inner: bool) -> Iterator[str]:
    """The values of a part; inner ones stand where the dot is that of a `with` or `range`."""
    if isinstance(part, Row):
        for action in part.actions:
            if part.kind == OUTPUT and action.kind == OUTPUT:
                yield from _values(action.body, is_inner=is_inner)
        return
    if part.word == "define":
        return
    is_other_dot = part.word in ("with", "range")
    if is_other_dot:
        yield from _values(part.arms[0].action.body, is_inner=is_inner)
    for number, arm in enumerate(part.arms):
        for inner in arm.parts:
            yield from _subjects(inner, is_inner=is_inner or (is_other_dot and not number))


def _values(body: str, *, is_inner: bool) -> Iterator[str]:
    """The values that an action names; an `include` without any is known by its name."""
    words, quoted = _words(body)
    found = [word.lstrip("$") for word in words if _is_value(word, is_inner=is_inner)]
    yield from found
    is_named = body.startswith(("include ", "template "))
    if not found and quoted and is_named and (not is_inner or "$" in words):
        yield quoted[0]


def _is_value(word: str, *, is_inner: bool) -> bool:
    begins = "$." if is_inner else (".", "$.")
    return word.startswith(begins) and len(word) > 2 and not word.lstrip("$").startswith(_OF_ALL)


def _words(body: str) -> tuple[list[str], list[str]]:
    """The words of an action, and the strings in it."""
    words, quoted = [""], []
    at = 0
    while at < len(body):
        mark = body[at]
        if mark in "\"'`":
            end = behind_string(body, at) - 1
            quoted.append(body[at + 1 : end])
            at = end
        if mark in "._$" or mark.isalnum():
            words[-1] += mark
        else:
            words.append("")
        at += 1
    return [word for word in words if word], quoted
