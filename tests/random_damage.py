"""Damage that people do to a file when they finish a merge by hand: one at a time, of every kind.

A damage is never what a merge of the three sides could mean: that is refused, and so is what
leaves the same values. What was gone had been on all three sides, what came is on none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from yaml_places import Entry, Node, Path, Reading, read, value

TRIES = 40  # places that are tried before a damage cannot be done

# Why a damage is none.
NOWHERE, UNREAD, SAME, MEANT, PARSES, BROKEN = (
    "no place for it",
    "a side cannot be read",
    "it changes no value",
    "a merge could mean it",
    "it can still be read",
    "it cannot be read any more",
)


class Merge:
    """The three sides of a merge and its result; a side may be missing."""

    def __init__(self, base: str, ours: str, theirs: str, result: str) -> None:
        self.texts = (base, ours, theirs)
        self.result = result
        self.sides = [read(text) for text in self.texts]
        self.reading = read(result)

    @property
    def readings(self) -> tuple[Reading, list[Reading]] | None:
        """The result and the sides, where all of them can be read."""
        sides = [side for side in self.sides if side is not None]
        return (self.reading, sides) if self.reading and len(sides) == 3 else None


@dataclass(frozen=True, slots=True)
class Damage:
    """A damaged result: of what form, and in which line it starts (from 1)."""

    kind: str
    form: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Try:
    """A result that may be damaged: its lines, and whether that is no ordinary work."""

    lines: list[str]
    is_damage: Callable[[Reading | None], str] = lambda damaged: ""


def damage(kind: str, merge: Merge, r: Random) -> Damage | str:
    """One damage of a kind, or why there is none."""
    forms = KINDS[kind]
    why = NOWHERE
    for form in r.sample(list(forms), len(forms)):
        tries = forms[form](merge, r)
        for _ in range(TRIES):
            one = next(tries, None)
            if one is None:
                break
            text = "\n".join(one.lines)
            refused = _refused(kind, merge, text, one)
            if not refused:
                return Damage(kind, form, text, _first_changed(merge.result, text))
            why = refused
    if why == NOWHERE and kind != "markers" and merge.readings is None:
        return UNREAD
    return why


def _refused(kind: str, merge: Merge, text: str, one: Try) -> str:
    """Why this is no damage, or nothing."""
    if text == merge.result or text in merge.texts:
        return SAME
    if kind == "markers":
        return ""
    damaged = read(text)
    if damaged is None:
        return BROKEN if kind in ("slip", "gone", "twice") else one.is_damage(None)
    assert merge.reading is not None
    if damaged.value == merge.reading.value:
        return SAME
    if any(side and damaged.value == side.value for side in merge.sides):
        return MEANT
    return one.is_damage(damaged)


def _first_changed(before: str, after: str) -> int:
    pairs = zip(before.split("\n"), after.split("\n"), strict=False)
    return next((n for n, (a, b) in enumerate(pairs, 1) if a != b), after.count("\n") + 1)


def _shuffled(items: list[Any], r: Random) -> list[Any]:
    return r.sample(items, len(items))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _moved(lines: list[str], first: int, stop: int, by: int) -> list[str] | None:
    """The lines with some of them moved by columns, or None where there is no room."""
    made = list(lines)
    for number in range(first, stop):
        if lines[number].strip():
            if by < 0 and _indent(lines[number]) < -by:
                return None
            made[number] = " " * by + lines[number] if by > 0 else lines[number][-by:]
    return made


def _without(lines: list[str], first: int, stop: int) -> list[str]:
    return lines[:first] + lines[stop:]


# -- an indentation slip that still parses


def _slip_of_lines(merge: Merge, r: Random) -> Iterator[Try]:
    """One line, or a few that follow each other."""
    if merge.readings is None:
        return
    lines = merge.readings[0].lines
    inside = _inside_scalars(merge.readings[0])
    while True:
        first = r.randrange(len(lines))
        stop = min(len(lines), first + r.choice([1, 1, 1, 2, 3, 5]))
        text = lines[first].strip()
        if not text or text.startswith(("#", "---", "...")) or inside & {*range(first, stop)}:
            yield Try(lines)
            continue
        yield Try(_moved(lines, first, stop, r.choice([-4, -2, -1, 1, 2, 4])) or lines)


def _slip_of_a_block(merge: Merge, r: Random) -> Iterator[Try]:
    """An entry or an element with all that is below it."""
    if merge.readings is None:
        return
    made, _ = merge.readings
    for entry in _shuffled([e for e in made.entries if e.own], r):
        by = r.choice([-4, -2, -1, 1, 2, 4])
        yield Try(_moved(made.lines, entry.first, entry.stop, by) or made.lines)


def _inside_scalars(made: Reading) -> set[int]:
    """The lines that are content of a scalar of several lines, but for its first."""
    inside: set[int] = set()
    for node in made.texts.values():
        inside.update(range(node.first + 1, node.stop))
    return inside


# -- something that all three had is gone


def _gone(kinds: Callable[[Entry, Node], bool]) -> Callable[[Merge, Random], Iterator[Try]]:
    """Takes entries away whose path is on all sides."""

    def tries(merge: Merge, r: Random) -> Iterator[Try]:
        if merge.readings is None:
            return
        made, sides = merge.readings
        for entry in _shuffled(made.entries, r):
            if entry.own and kinds(entry, made.parents[entry.path[:-1]]):
                yield Try(
                    _without(made.lines, entry.first, entry.stop),
                    _fewer(entry.path, sides),
                )

    return tries


def _fewer(path: Path, sides: list[Reading]) -> Callable[[Reading | None], str]:
    """All sides have a path more often than the damaged text has it."""

    def is_damage(damaged: Reading | None) -> str:
        left = damaged.paths[path] if damaged else 0
        return "" if left < _least([side.paths[path] for side in sides]) else MEANT

    return is_damage


def _least(counts: list[int]) -> int:
    """How many of equal things base, ours and theirs leave in a merge, whatever it does."""
    base, ours, theirs = counts
    return min(base, ours, theirs, max(0, ours + theirs - base))


def _is_plain_entry(entry: Entry, parent: Node) -> bool:
    return parent.kind == "map" and entry.stop == entry.first + 1 and not _is_merge(entry)


def _is_block_entry(entry: Entry, parent: Node) -> bool:
    return parent.kind == "map" and entry.stop > entry.first + 1


def _is_keyed(entry: Entry, parent: Node) -> bool:
    return parent.kind == "list" and _step(entry) == "e" and entry.node.kind != "alias"


def _is_unkeyed(entry: Entry, parent: Node) -> bool:
    return parent.kind == "list" and _step(entry) == "=" and entry.node.kind != "alias"


def _step(entry: Entry) -> object:
    last = entry.path[-1]
    return last[0] if isinstance(last, tuple) else ""


def _is_merge(entry: Entry) -> bool:
    return entry.key is not None and entry.key.text == "<<"


def _gone_document(merge: Merge, r: Random) -> Iterator[Try]:
    if merge.readings is None:
        return
    made, sides = merge.readings
    if len(made.documents) < 2:
        return
    for each in _shuffled(made.documents, r):
        first, stop = _span_of_document(made, each)
        yield Try(_without(made.lines, first, stop), _fewer(each.path, sides))


def _span_of_document(made: Reading, each: Entry) -> tuple[int, int]:
    """From its `---` to the next; without one of its own, the next goes with it."""
    number = made.documents.index(each)
    following = made.documents[number + 1 :]
    if not following:
        return each.first, each.stop
    stop = following[0].first
    return each.first, stop if each.opened >= 0 else stop + 1


# -- a list element twice


def _twice(place: str) -> Callable[[Merge, Random], Iterator[Try]]:
    """Copies whole elements."""

    def tries(merge: Merge, r: Random) -> Iterator[Try]:
        if merge.readings is None:
            return
        made, sides = merge.readings
        for entry in _shuffled(made.entries, r):
            parent, path = made.parents[entry.path[:-1]], entry.path[:-1]
            copy = made.lines[entry.first : entry.stop]
            if parent.kind != "list" or not entry.own or any("&" in line for line in copy):
                continue
            number = value(entry.node)
            most = max(side.lists.get(path, Counter())[number] for side in sides)
            if made.lists[path][number] < most:
                continue  # a side has it twice
            at = entry.stop if place == "beside" else max(e.stop for e in parent.entries)
            yield Try([*made.lines[:at], *copy, *made.lines[at:]])

    return tries


# -- a merge key, an alias or an anchor


def _alias_entries(merge: Merge, r: Random) -> Iterator[tuple[Reading, Entry]]:
    """The entries whose value is an alias on all sides."""
    if merge.readings is None:
        return
    made, sides = merge.readings
    for entry in _shuffled(made.entries, r):
        one = entry.node.kind == "alias" or (_is_merge(entry) and entry.node.kind == "list")
        path = entry.path if entry.node.kind == "alias" else entry.path[:-1]
        of_all = entry.node.kind != "alias" or all(side.aliases[path] for side in sides)
        if one and of_all and all(side.paths[entry.path] for side in sides):
            yield made, entry


def _alias_gone(merge: Merge, r: Random) -> Iterator[Try]:
    for made, entry in _alias_entries(merge, r):
        if entry.own:
            yield Try(_without(made.lines, entry.first, entry.stop))


def _alias_null(merge: Merge, r: Random) -> Iterator[Try]:
    for made, entry in _alias_entries(merge, r):
        if entry.node.kind == "alias":
            line = made.lines[entry.node.first]
            word = f"*{entry.node.anchor}"
            at = entry.node.column
            cut = line[:at].rstrip(" ") + line[at:].replace(word, "", 1)
            yield Try([*made.lines[: entry.node.first], cut, *made.lines[entry.node.first + 1 :]])


def _alias_written_out(merge: Merge, r: Random) -> Iterator[Try]:
    """Some of what the anchor holds stands there in place of the alias."""
    for made, entry in _alias_entries(merge, r):
        target = entry.node.target
        if not entry.own or target is None or target.kind != "map" or target.flow:
            continue
        simple = [
            made.lines[e.first].strip()
            for e in target.entries
            if e.own and e.stop == e.first + 1 and not _is_merge(e)
        ]
        if len(target.entries) < 2 or not simple:
            continue
        some = sorted(r.sample(simple, r.randint(1, min(len(simple), len(target.entries) - 1))))
        if _is_merge(entry) or entry.key is None:
            margin = " " * entry.column
            first = margin if entry.key is not None else f"{margin}- "
            rest = margin if entry.key is not None else f"{margin}  "
            written = [first + some[0], *(rest + line for line in some[1:])]
        else:
            head = made.lines[entry.first][: entry.column] + entry.key.text + ":"
            written = [head, *(" " * (entry.column + 2) + line for line in some)]
        yield Try([*made.lines[: entry.first], *written, *made.lines[entry.stop :]])


def _anchor_gone(merge: Merge, r: Random) -> Iterator[Try]:
    if merge.readings is None:
        return
    made, sides = merge.readings
    used = {node.anchor for node in made.parents.values() if node.kind == "alias"}
    for node in _shuffled([n for n in made.parents.values() if n.kind != "alias"], r):
        if node.anchor in used and all(node.anchor in side.anchors for side in sides):
            number = node.first
            line = made.lines[number]
            at = line.find(f"&{node.anchor}")
            if at >= 0:
                cut = line[:at] + line[at + len(node.anchor) + 1 :].removeprefix(" ")
                yield Try([*made.lines[:number], cut, *made.lines[number + 1 :]])


# -- a document that fused with its neighbour


def _fused(change: Callable[[str], list[str]]) -> Callable[[Merge, Random], Iterator[Try]]:
    """The line between two documents is gone, or no longer what it was."""

    def tries(merge: Merge, r: Random) -> Iterator[Try]:
        if merge.readings is None:
            return
        made, _ = merge.readings
        for each in _shuffled(made.documents[1:], r):
            if each.opened >= 0 and made.lines[each.opened].rstrip() == "---":
                line = change(made.lines[each.opened])
                yield Try([*made.lines[: each.opened], *line, *made.lines[each.opened + 1 :]])

    return tries


# -- a block scalar


def _block_scalars(merge: Merge, r: Random) -> Iterator[tuple[Reading, Path, Node]]:
    if merge.readings is None:
        return
    made, _ = merge.readings
    for path, node in _shuffled(list(made.texts.items()), r):
        if node.style in ("|", ">") and node.stop > node.first + 1:
            yield made, path, node


def _text_cut(where: str) -> Callable[[Merge, Random], Iterator[Try]]:
    """Lines are gone that all sides have in this text."""

    def tries(merge: Merge, r: Random) -> Iterator[Try]:
        for made, path, node in _block_scalars(merge, r):
            first, stop = node.first + 1, node.stop
            count = r.randint(1, max(1, min(12, (stop - first) // 2)))
            at = stop - count if where == "end" else r.randint(first, stop - count)
            assert merge.readings is not None
            yield Try(
                _without(made.lines, at, at + count),
                _fewer_lines(path, made, made.lines[at : at + count], merge.readings[1]),
            )

    return tries


def _fewer_lines(
    path: Path, made: Reading, lines: list[str], sides: list[Reading]
) -> Callable[[Reading | None], str]:
    gone = Counter(line.strip() for line in lines if line.strip())
    before = _text_lines(made, path)

    def is_damage(damaged: Reading | None) -> str:
        there = [_text_lines(side, path) for side in sides]
        for line, count in gone.items():
            if before[line] - count >= _least([side[line] for side in there]):
                return MEANT
        return "" if gone else SAME

    return is_damage


def _text_lines(reading: Reading, path: Path) -> Counter[str]:
    """The lines of a text as they stand."""
    node = reading.texts.get(path)
    lines = reading.lines[node.first + 1 : node.stop] if node else []
    return Counter(line.strip() for line in lines)


def _text_without_header(merge: Merge, r: Random) -> Iterator[Try]:
    for made, _, node in _block_scalars(merge, r):
        line = made.lines[node.first]
        at = line.find(node.style, node.column)
        cut = line[:at].rstrip(" ") + ("\r" if line.endswith("\r") else "")
        yield Try([*made.lines[: node.first], cut, *made.lines[node.first + 1 :]])


def _text_dedented(merge: Merge, r: Random) -> Iterator[Try]:
    """The content, or the rest of it, stands further left."""
    for made, _, node in _block_scalars(merge, r):
        first = r.choice([node.first + 1, r.randrange(node.first + 1, node.stop)])
        yield Try(_moved(made.lines, first, node.stop, -r.choice([1, 2, 4])) or made.lines)


def _text_line_moved(merge: Merge, r: Random) -> Iterator[Try]:
    for made, _, node in _block_scalars(merge, r):
        at = r.randrange(node.first + 1, node.stop)
        yield Try(_moved(made.lines, at, at + 1, r.choice([-4, -2, -1, 1, 2, 4])) or made.lines)


# -- what cannot be read any more


def _broken(change: Callable[[str, Random], str]) -> Callable[[Merge, Random], Iterator[Try]]:
    """Breaks a line."""

    def is_damage(damaged: Reading | None) -> str:
        return "" if damaged is None else PARSES

    def tries(merge: Merge, r: Random) -> Iterator[Try]:
        if merge.readings is None:
            return
        lines = merge.readings[0].lines
        for number in _shuffled(list(range(len(lines))), r):
            if lines[number].strip() and not lines[number].lstrip().startswith("#"):
                cut = change(lines[number], r)
                yield Try([*lines[:number], cut, *lines[number + 1 :]], is_damage)

    return tries


def _with_tab(line: str, r: Random) -> str:
    width = _indent(line)
    return "\t" + line[width:] if width else line


def _with_open_quote(line: str, r: Random) -> str:
    for quote in r.sample("\"'", 2):
        if line.count(quote) == 2:
            at = line.rfind(quote)
            return line[:at] + line[at + 1 :]
    head, colon, rest = line.partition(": ")
    return f'{head}{colon}"{rest}' if colon and rest[:1].isalnum() else line


def _with_open_bracket(line: str, r: Random) -> str:
    for bracket in r.sample("]}", 2):
        if bracket in line:
            at = line.rfind(bracket)
            return line[:at] + line[at + 1 :]
    head, colon, rest = line.partition(": ")
    return f"{head}{colon}[{rest}" if colon and rest[:1].isalnum() else line


def _without_colon(line: str, r: Random) -> str:
    head, colon, rest = line.partition(":")
    return f"{head}{rest}" if colon and rest[:1] in ("", " ", "\r") else line


def _with_bad_indent(line: str, r: Random) -> str:
    by = r.choice([-3, -2, -1, 1, 2, 3])
    if by < 0:
        return line[min(-by, _indent(line)) :]
    return " " * by + line


# -- markers


def _markers(
    size: Callable[[Random], int],
    *,
    whole: bool,
    words: tuple[str, ...],
    margin: str,
    end: str = "",
) -> Callable[[Merge, Random], Iterator[Try]]:
    """Leaves markers: all of a conflict, or one of its lines."""

    def tries(merge: Merge, r: Random) -> Iterator[Try]:
        lines = merge.result.split("\n")
        last = len(lines) - 1 if not lines[-1] else len(lines)
        for _ in range(TRIES):
            at = _place(merge, r, margin, last)
            if at is None:
                return
            number, column = at
            made = [
                " " * column + word[0] * size(r) + word[1:] + end
                for word in (WHOLE if whole else [r.choice(words)])
            ]
            if whole:
                stop = min(last, number + r.randint(1, 3))
                middle = r.randint(number, stop)
                upper, lower = lines[number:middle], lines[middle:stop]
                first, between, final = made
                block = [first, *upper, between, *lower, final]
                yield Try([*lines[:number], *block, *lines[stop:]])
            else:
                yield Try([*lines[:number], made[0], *lines[number:]])

    return tries


WHOLE = ["< HEAD", "=", "> topic"]


def _place(merge: Merge, r: Random, margin: str, last: int) -> tuple[int, int] | None:
    """A line before which markers can stand, and how far they are indented."""
    if margin == "text":
        node = next((node for _, _, node in _block_scalars(merge, r)), None)
        if node is None:
            return None
        assert merge.reading is not None
        content = [n for n in range(node.first + 1, node.stop) if merge.reading.lines[n].strip()]
        column = min((_indent(merge.reading.lines[n]) for n in content), default=0)
        return (r.choice(content), column) if content and column else None
    lines = merge.result.split("\n")
    if margin == "none":
        return r.randrange(last) if last else 0, 0
    indented = [n for n in range(last) if _indent(lines[n]) and lines[n].strip()]
    if not indented:
        return None
    number = r.choice(indented)
    return number, _indent(lines[number])


def _seven(r: Random) -> int:
    return 7


def _long(r: Random) -> int:
    return r.choice([9, 11, 15, 32])


def _marks(
    words: str, margin: str, *, size: Callable[[Random], int] = _seven, end: str = ""
) -> Callable[[Merge, Random], Iterator[Try]]:
    return _markers(size, whole=not words, words=_WORDS[words], margin=margin, end=end)


_WORDS = {
    "": (),
    "=": ("=",),
    ">": ("> topic", "> 1a2b3c4 (web: two replicas)"),
    "any": ("< HEAD", "| 1a2b3c4", "=", "> topic"),
}

Form = Callable[[Merge, Random], Iterator[Try]]
KINDS: dict[str, dict[str, Form]] = {
    "slip": {"lines": _slip_of_lines, "a block": _slip_of_a_block},
    "gone": {
        "an entry": _gone(_is_plain_entry),
        "a block": _gone(_is_block_entry),
        "a keyed element": _gone(_is_keyed),
        "an element": _gone(_is_unkeyed),
        "a document": _gone_document,
    },
    "twice": {"beside": _twice("beside"), "at the end": _twice("end")},
    "alias": {
        "gone": _alias_gone,
        "null": _alias_null,
        "written out": _alias_written_out,
        "anchor gone": _anchor_gone,
    },
    "fused": {
        "the line is gone": _fused(lambda line: []),
        "it is blank": _fused(lambda line: [line.replace("---", "")]),
        "it is indented": _fused(lambda line: [f"  {line}"]),
        "it is a comment": _fused(lambda line: [f"# {line}"]),
    },
    "text": {
        "its end": _text_cut("end"),
        "its middle": _text_cut("middle"),
        "header": _text_without_header,
        "dedented": _text_dedented,
        "a line moved": _text_line_moved,
    },
    "unreadable": {
        "tab": _broken(_with_tab),
        "quote": _broken(_with_open_quote),
        "bracket": _broken(_with_open_bracket),
        "colon": _broken(_without_colon),
        "indentation": _broken(_with_bad_indent),
    },
    "markers": {
        "all": _marks("", "none"),
        "all, indented": _marks("", "indented"),
        "all, in a text": _marks("", "text"),
        "all, CRLF": _marks("", "none", end="\r"),
        "only =": _marks("=", "none"),
        "only =, indented": _marks("=", "indented"),
        "only =, in a text": _marks("=", "text"),
        "only >": _marks(">", "none"),
        "only >, indented": _marks(">", "indented"),
        "only >, in a text": _marks(">", "text"),
        "one, CRLF": _marks("any", "none", end="\r"),
        "one of a longer": _marks("any", "none", size=_long),
        "one of a longer, in a text": _marks("any", "text", size=_long),
    },
}
