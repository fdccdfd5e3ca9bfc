"""Refuse merges of templates that may do damage which a comparison of fields does not show.

The guards of a container compare the changes of both sides in one map or list. The guards of a file
count the lines, keys and actions of the result. Nobody knows what an action renders, so there is a
conflict wherever changes of both sides may meet in the output of an action. Two more guards refuse
lines that trim marks join, and actions of both sides that render the same value.
"""

from __future__ import annotations

from itertools import zip_longest

from kmerge_git.errors import Unsupported
from kmerge_git.merge.three import Three, counted, grouped
from kmerge_git.template.masking import Words
from kmerge_git.template.template_layout import (
    DATA,
    DOCUMENT,
    ENTRY,
    SeenThrough,
    Sided,
    is_separator,
    key_of,
    unquoted,
)
from kmerge_git.template.template_pairs import places_of, said
from kmerge_git.template.template_parser import (
    ASSIGN,
    KEYWORDS,
    OUTPUT,
    TOKEN,
    Block,
    Row,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence
    from typing import TypeVar

    from kmerge_git.template.template_layout import LineForm, Path, Placed
    from kmerge_git.template.template_pairs import Entity
    from kmerge_git.template.template_parser import Action, Arm, Part, Template

    K = TypeVar("K", bound=Hashable)
    Counts = dict[Hashable, int]
    Children = dict[Path, dict[str, Placed]]  # names in their order
    Context = tuple[str, ...]  # the headers of the `with` and `range` blocks around a line
    Text = tuple[str, list[Row], list[Context]]  # a name, its lines, and what is around each

MOST_ORDERED = 10_000  # the most pairs of entries whose order is compared
_OF_ALL = (".Release", ".Chart", ".Capabilities", ".Template", ".Files")  # values of no feature


# -- a container


def containers(units: Three[list[Placed]], tokens: dict[int, str]) -> list[tuple[Placed, Placed]]:
    """Refuse changes of both sides in one map or list if the output of an action may mix them.

    Return pairs of parts: in the result, the first part of each pair must come before the second.
    """
    base, ours, theirs = (_children(version, tokens) for version in units.each())
    order: list[tuple[Placed, Placed]] = []
    for path in [path for path in ours if path in theirs]:
        old = {*base.get(path, ())}
        at = Three(old, {*ours[path]}, {*theirs[path]})
        if at.ours == old == at.theirs:
            continue
        is_new = bool(path) and path not in base and path[-1] not in base.get(path[:-1], ())
        _container(at, is_new=is_new)
        order += _order(Three(base.get(path, {}), ours[path], theirs[path]))
        if _entries(at.ours - old) & _entries(at.theirs - old):
            above = [path[:end] for end in range(1, len(path) + 1)]
            if any(_gone(base, ours, one) != _gone(base, theirs, one) for one in above):
                raise Unsupported(
                    "both sides added the same action, but replaced different entries with it"
                )
    places = units.map(lambda version: places_of({unit.path for unit in version}))
    for side, other in (("ours", units.theirs), ("theirs", units.ours)):
        gone = places.base - places.side(side)
        olds, news = _below(units.base, gone), _below(other, gone)
        for path, lines in olds.items():
            if news.get(path, lines) == lines:
                continue
            if any("{{" in line for line in (*lines, *news[path])):
                raise Unsupported(
                    "one side renamed or deleted an entry, and the other side changed its contents"
                )
    return order


def _container(at: Three[set[str]], *, is_new: bool) -> None:
    added, others = at.ours - at.base, at.theirs - at.base
    gone, lost = at.base - at.ours, at.base - at.theirs
    if added != others and len(gone & lost) > len(added & others):
        raise Unsupported("both sides replaced the same entry with different entries")
    if is_new and _entries(added) != _entries(others):
        raise Unsupported("both sides added the same field with different actions in it")
    different = added ^ others
    if added and others and any(TOKEN in name for name in different - _entries(different)):
        raise Unsupported(
            "both sides added entries, and the key of one of these entries is a template action"
        )


def _order(at: Three[dict[str, Placed]]) -> Iterator[tuple[Placed, Placed]]:
    """Yield pairs of entries in the order of the result.

    One entry of each pair is a replacement by one side. The other entry is a new neighbour that the
    other side added. The masked texts do not show this order, because the replaced entries are
    gone.
    """
    kept = {name for name in at.base if name in at.ours and name in at.theirs}
    rows = at.map(lambda names: _gaps(names, kept))
    for base, ours, theirs in zip(*rows.each(), strict=False):
        for mine, yours, has, adds in (
            (ours, theirs, at.ours, at.theirs),
            (theirs, ours, at.theirs, at.ours),
        ):
            for name, other, is_behind in _neighbours({*base}, mine, yours):
                pair = has[name], adds[other]
                yield pair if is_behind else pair[::-1]


def _neighbours(
    old: set[str], mine: list[str], yours: list[str]
) -> Iterator[tuple[str, str, bool]]:
    """Yield each replacement with an addition of the other side.

    The third value says whether the addition comes after the replacement.
    """
    lost = old - {*mine}
    gone = [number for number, name in enumerate(yours) if name in lost]
    known = old.union(mine)
    added = {*mine} - old - {*yours}
    others = [(n, name) for n, name in enumerate(yours) if name not in known]
    if not gone or not _entries(added | (lost & {*yours})):
        return
    if len(added) * len(others) > MOST_ORDERED:
        raise Unsupported("both sides added too many entries at the same position")
    for number, other in others:
        if gone[0] < number < gone[-1]:
            raise Unsupported(
                "one side added an entry between entries that the other side replaced"
            )
        for name in added:
            yield name, other, number > gone[-1]


def _gaps(names: Iterable[str], kept: set[str]) -> list[list[str]]:
    """Split names at the names that all versions have; return the names of each gap."""
    gaps: list[list[str]] = [[]]
    for name in names:
        if name in kept:
            gaps.append([])
        else:
            gaps[-1].append(name)
    return gaps


def _gone(base: Children, side: Children, path: Path) -> set[str]:
    return {*base.get(path, ())} - {*side.get(path, ())}


def _below(units: list[Placed], places: set[Path]) -> dict[Path, list[str]]:
    """Return the texts below each of some places."""
    return grouped(
        (unit.path[:end], unit.part.text)
        for unit in (units if places else ())
        for end in range(1, len(unit.path) + 1)
        if unit.path[:end] in places
    )


def _children(units: list[Placed], tokens: dict[int, str]) -> Children:
    """Return the entries and fields of each place by name."""
    children: Children = {}
    counts: Counts = {}
    for unit in units:
        if unit.role == ENTRY:
            place = unit.path if unit.form != DOCUMENT else ()  # a file has documents
            children.setdefault(place, {})[tokens[id(unit)]] = unit
        elif unit.role == DATA and unit.label:
            count = counts[unit.path, unit.label] = counts.get((unit.path, unit.label), 0) + 1
            name = f"{unit.label}#{count}" if count > 1 else unit.label
            children.setdefault(unit.path, {})[name] = unit
    return children


def _entries(names: set[str]) -> set[str]:
    """Return those names that are tokens of blocks, outputs and assignments."""
    return {name for name in names if name.startswith(f"{TOKEN}E")}


# -- a file


def check(result: Template, at: Three[Template], lines: dict[str, LineForm] | None = None) -> None:
    """Refuse a result that has a key, action or line more often or less often than a merge can."""
    contents = _Contents(Words(lines))
    if contents.has_places_of_both(result, at):
        raise Unsupported("an entry that both sides added would appear twice")
    actions = contents.actions(result)
    if [*_miscounted(at.map(contents.actions), actions, {*actions})]:
        raise Unsupported("an action would be lost or appear twice")
    texts = at.map(lambda version: counted(_bare_lines(version)))
    if [*_miscounted(texts, counted(_bare_lines(result)), set())]:
        raise Unsupported("a line would be lost or appear twice")


def _bare_lines(version: Template) -> list[str]:
    return [unquoted(line.strip()) for line in version.text.split("\n")]


def has_moved_lines(at: Three[Template]) -> bool:
    """Return whether a side has lines that occur once, as in base, in a different order."""
    base, *sides = ([line.strip() for line in one.text.split("\n")] for one in at.each())
    counts = counted(base)
    for side in sides:
        there = counted(side)
        once = {line for line, count in counts.items() if count == there.get(line) == 1}
        if [line for line in base if line in once] != [line for line in side if line in once]:
            return True
    return False


def odd_lines(result: Template, at: Three[Template]) -> list[int]:
    """Return the numbers of lines that the changes of both sides do not explain.

    These are lines that the result has more or less often than a merge can have them, and elements
    of lists that both sides added under one name. A lost line is reported as the first line. Each
    `end` and `else` is omitted, because a template without one of them is not valid.
    """
    lines = _bare_lines(result)
    versions = at.map(lambda version: counted(_bare_lines(version)))
    counts = counted(lines)
    odd = {*_miscounted(versions, counts, {*counts})}
    odd = {line for line in odd if line and line.strip("{- }") not in ("end", "else")}
    added = [
        grouped(
            (line.partition("=")[0], line)
            for line, count in side.items()
            if line[:2] == "- " and count > versions.base.get(line, 0)
        )
        for side in (versions.ours, versions.theirs)
    ]
    for name in added[0].keys() & added[1].keys():
        both = {*added[0][name], *added[1][name]}
        more = sum(counts.get(line, 0) - versions.base.get(line, 0) for line in both)
        if more > max(len(side[name]) for side in added):
            odd |= both
    numbers = [number for number, line in enumerate(lines) if line in odd]
    return numbers or [0] * bool(odd)


def _miscounted(at: Three[dict[K, int]], result: dict[K, int], more: set[K]) -> Iterator[K]:
    """Yield what is in the result more or less often than a merge allows.

    The keys of all versions and the keys in `more` are counted.
    """
    for key in more.union(*at.each()):
        base, ours, theirs = at.base.get(key, 0), at.ours.get(key, 0), at.theirs.get(key, 0)
        least = most = ours + theirs - base
        if ours > base and theirs > base:
            least = max(ours, theirs)
        elif ours < base and theirs < base:
            least, most = max(most, 0), min(ours, theirs)
        if not least <= result.get(key, 0) <= most:
            yield key


class _Contents:
    """Count the contents of some versions; what they share is read once."""

    __slots__ = ("_actions", "_line_of", "_seen")

    def __init__(self, words: Words) -> None:
        self._line_of = words.line
        self._seen = SeenThrough(words.line)
        self._actions: dict[str, list[str]] = {}  # of each line

    def has_places_of_both(self, result: Template, at: Three[Template]) -> bool:
        """Return whether the result has a key or output of both sides more often than each side."""
        if any(self._changes_values(at.base, side) for side in (at.ours, at.theirs)):
            return False
        base, ours = self.places(at.base), self.places(at.ours)
        text = unquoted(at.theirs.text)
        new = {
            key: count
            for key, count in ours.items()
            if count > base.get(key, 0) and _may_be_in(text, key[-1])
        }
        if not new:
            return False
        theirs = self.places(at.theirs)
        both = {key: max(new[key], theirs[key]) for key in new.keys() & theirs.keys()}
        both = {key: most for key, most in both.items() if theirs[key] > base.get(key, 0)}
        made = self.places(result) if both else {}
        return any(made.get(key, 0) > most for key, most in both.items())

    def _changes_values(self, base: Template, side: Template) -> bool:
        """Return whether a side changed nothing but values of keys, so that it has no new place."""
        pairs: list[tuple[Text, Text]] = [
            *zip_longest(_texts(base.parts), _texts(side.parts), fillvalue=("", [], []))
        ]
        if any((old[0], old[2]) != (new[0], new[2]) for old, new in pairs):
            return False
        return all(
            one.text == other.text or self._line_of(one).differs_in_value(self._line_of(other))
            for (_, old, _), (_, new, _) in pairs
            for one, other in zip(old, new, strict=True)
        )

    def places(self, version: Template) -> dict[tuple[object, ...], int]:
        """Count the keys and outputs of a text by their places."""
        places: list[tuple[object, ...]] = []
        for name, rows, around in _texts(version.parts):
            for unit, context in zip(self._seen.places(rows), around, strict=True):
                row = unit.part
                assert isinstance(row, Row)
                if unit.role == DATA and unit.label:
                    places.append((name, unit.path, unit.label))
                elif row.kind == OUTPUT:
                    places.append((name, said(row.text), _of_dot(row, context)))
                elif row.kind == ASSIGN:
                    places += [(name, a.word) for a in row.actions if a.kind == ASSIGN]
        return counted(places)

    def actions(self, version: Template) -> Counts:
        """Count the actions of a text, and the lines that separate documents."""
        spelled: list[Hashable] = []
        for row in version.rows:
            if is_separator(row.text):
                spelled.append("---")
            if row.text not in self._actions:
                spans = ((action.start, action.end) for action in row.actions)
                self._actions[row.text] = [said(row.text[at:end]) for at, end in spans]
            spelled += self._actions[row.text]
        return counted(spelled)


def _may_be_in(text: str, label: object) -> bool:
    """Return whether a text without quotation marks may have a place with a label."""
    if not isinstance(label, str) or TOKEN in label:
        return True
    return unquoted(label).removeprefix("- ") in text


def _texts(parts: Sequence[Part]) -> Iterator[Text]:
    """Yield the name and lines of the file and of each `define`, with the lines of all branches.

    Each line comes with the headers of the `with` and `range` around the line.
    """
    lines: list[tuple[Row, Context]] = []
    for part in parts:
        if isinstance(part, Block) and part.word == "define":
            own = part.arms[0]
            yield from ((said(own.header), *text[1:]) for text in _texts(own.parts))
        else:
            lines += _rows(part, ())
    yield "", [row for row, _ in lines], [context for _, context in lines]


def _rows(part: Part, context: Context) -> Iterator[tuple[Row, Context]]:
    if isinstance(part, Row):
        yield part, context
        return
    if part.word in ("with", "range"):
        context = (*context, said(part.arms[0].header))
    for arm in part.arms:
        for inner in arm.parts:
            yield from _rows(inner, context)


def _of_dot(row: Row, context: Context) -> Context:
    """Return the headers that set the dot of an output, or () if the output uses no dot."""
    words = row.text.replace("(", " ").split()
    return context if any(word[0] == "." for word in words) else ()


# -- lines that trim marks join


def refuse_joined(result: Template, at: Three[Template]) -> None:
    """Refuse a result in which trim marks join lines that no version joins.

    `-}}` removes the line end and the blanks before the text below. `{{-` removes the line end and
    the blanks before an output, unless the output begins with a line end. The readings do not show
    joined lines, because each action is a line in a reading.
    """
    new = {*_joints(result)}
    for version in (at.ours, at.theirs, at.base):
        if new:
            new.difference_update(_joints(version))
    if new:
        raise Sided("a trim mark (`-`) would join two lines that were separate")


def _joints(version: Template) -> Iterator[tuple[str, str]]:
    """Yield the two lines that each trim mark joins, without the values in these lines.

    Of the line above an output, only its kind counts: text, or an output.
    """
    above = own = ""  # the kind of the nearest line above that renders something; the line above
    trims = False
    for line in filter(None, map(str.strip, version.text.split("\n"))):
        is_text = not line.startswith("{{")
        is_output = not is_text and _is_output(line)
        is_trimmed = line.startswith("{{-")
        if trims and (is_text or (is_output and not is_trimmed)):
            yield key_of(own) or own, key_of(line) or line
        if is_output and is_trimmed and "nindent" not in line:
            yield above, key_of(line) or line
        if is_text or is_output:
            above = "text" if is_text else "output"
        own, trims = line, line.endswith("-}}")


def _is_output(line: str) -> bool:
    """Return whether a line that begins with an action renders a value."""
    word = line.lstrip("{- ").partition(" ")[0]
    return word not in KEYWORDS and word[:2] != "/*" and ":=" not in line


# -- values that actions render, in any spelling


def refuse_twice(entities: list[Entity]) -> None:
    """Refuse entries that both sides add to one map or list and that render the same value.

    For example, `toYaml .` in `with .Values.extra` and `toYaml .Values.extra` in an `if` render the
    same value, so a merge would render the value twice.
    """
    ours, theirs = _added(entities, "ours", "theirs"), _added(entities, "theirs", "ours")
    for path in ours.keys() & theirs.keys():
        if ours[path] & theirs[path]:
            raise Unsupported("both sides added actions that render the same value")


def refuse_other_dot(word: str, arms: Three[Arm]) -> None:
    """Refuse a block whose dot one side changed and the other side begins to use.

    The dot of a `with` or `range` is the value that the header of the block names.
    """
    if word not in ("with", "range"):
        return
    about = arms.map(lambda arm: " ".join(arm.action.body.split()))
    for changed, other in ((about.ours, arms.theirs), (about.theirs, arms.ours)):
        if changed != about.base and _uses(other.parts) - _uses(arms.base.parts):
            raise Unsupported(
                "one side changed what `.` means in a block where the other side added `.`"
            )


def _uses(parts: Sequence[Part]) -> set[str]:
    """Return the actions that use the dot, or a variable other than `$`."""
    return {action.body for action in _actions(parts) if any(map(_is_local, action.words))}


def _is_local(word: str) -> bool:
    return word[0] == "." or (word[0] == "$" and word[1:2] not in ("", "."))


def _actions(parts: Sequence[Part]) -> Iterator[Action]:
    """Yield the actions of some parts, except for each `end`."""
    for part in parts:
        if isinstance(part, Row):
            yield from part.actions
            continue
        for arm in part.arms:
            yield arm.action
            yield from _actions(arm.parts)


def _added(entities: list[Entity], side: str, other: str) -> dict[Path, set[str]]:
    """Return the values that the additions of one side render, grouped by place.

    Additions that the other side made too are omitted.
    """
    values: dict[Path, set[str]] = {}
    for entity in entities:
        unit = entity.at.side(side)
        if unit is not None and entity.at.base is None and entity.at.side(other) is None:
            values.setdefault(unit.path, set()).update(_subjects(unit.part, is_inner=False))
    return values


def _subjects(part: Part, *, is_inner: bool) -> Iterator[str]:
    """Yield the values that a part of a template renders.

    `is_inner` says that the part is inside a `with` or `range`.
    """
    if isinstance(part, Row):
        for action in part.actions:
            if part.kind == OUTPUT and action.kind == OUTPUT:
                yield from _values(action, is_inner=is_inner)
        return
    if part.word == "define":
        return
    is_other_dot = part.word in ("with", "range")
    if is_other_dot:
        yield from _values(part.arms[0].action, is_inner=is_inner)
    for number, arm in enumerate(part.arms):
        for inner in arm.parts:
            yield from _subjects(inner, is_inner=is_inner or (is_other_dot and not number))


def _values(action: Action, *, is_inner: bool) -> Iterator[str]:
    """Yield the values that an action names.

    If an `include` names no values, yield the name of the included template.
    """
    words, strings = action.words, action.strings
    begins = ("$.",) if is_inner else (".", "$.")
    bare = [word.lstrip("$") for word in words if word.startswith(begins) and len(word) > 2]
    values = [word for word in bare if not word.startswith(_OF_ALL)]
    yield from values
    is_named = action.word in ("include", "template")
    if not values and strings and is_named and (not is_inner or "$" in words):
        yield strings[0]
