"""The law "accept both": who keeps both sides of every conflict has a sound file.

That is what editors offer with one click: the markers go, and the base's section. What is left

- *parses*, as each side alone does;
- is *whole*: whatever stands in an element, an entry or a document in the reading of a side
  stands in the same one still. Where `- key: a` and `- key: b` are in the conflict and the
  `operator: Exists` of both is behind it, the first one has lost it. What is longer than `LONG`
  lines may be cut;
- *repeats* no key but that of a value that both sides have, ours and theirs in one conflict.
  Two collections of one kind could be one, if it is the same line that introduces them, the
  same column in which they stand, and one order in which both sides have the keys around them; but
  for the styles with a base: these are never cut inside.

Not looked at: where a conflict is within brackets of several lines, in which commas are missing,
or about a document that is one line of JSON.
This reads with PyYAML's events alone and knows nothing of how conflicts are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import yaml
from lawbook_values import Breach
from marked_text import lines_of

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LONG = 12
LAW = "accept"
BREAKS = dict.fromkeys(map(ord, "\r\x85\u2028\u2029"), "_")  # lines for YAML 1.1, not for git
Place = tuple[int, int]


def breaches(
    text: str, size: int = 7, *, style: str = "merge", versions: Sequence[str] = ()
) -> list[Breach]:
    """All that is against the law in a text with conflicts, which is the merge of these versions.

    What a version has that is no YAML, or a key twice, is no fault of the merge.
    """
    known = [_read("", _clean(each).split("\n")) for each in versions]
    if any(isinstance(each, Breach) for each in known):
        return []
    marked = _Marked(text, size)
    read = {side: _read(side, lines) for side, lines in marked.lines.items()}
    sides = {side: each for side, each in read.items() if isinstance(each, _Reading)}
    both = sides.pop("both", None)
    if len(sides) == 2 and any(_is_beyond(marked, *side) for side in sides.items()):
        return []
    if both is None or len(sides) < 2:
        return [each for each in read.values() if isinstance(each, Breach)]
    twice = {key for each in known if isinstance(each, _Reading) for key in _twice(each)}
    found = _repeated(marked, sides, both, style)
    return [*_torn(marked, sides, both), *(breach for key, breach in found if key not in twice)]


def _is_beyond(marked: _Marked, side: str, reading: _Reading) -> bool:
    """Whether a conflict is within brackets, or is all of a document that has no entries."""
    whole = any(marked.section[marked.up[side][line]] for line in reading.bare)
    return whole or any(marked.is_cut(side, lines) for lines in reading.flows)


def accepted(text: str, size: int = 7) -> str:
    """What is left when both sides of every conflict are kept."""
    return "\n".join(_Marked(text, size).lines["both"])


def _read(side: str, lines: list[str]) -> _Reading | Breach:
    try:
        return _Reading(lines)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = min(mark.line, len(lines) - 1) if mark else 0
        what = f"{getattr(error, 'problem', error)}: {lines[at]}"
        return Breach(LAW, f"{side} taken, line {at + 1}", what)


# -- the marked text


class _Marked:
    """A text with conflicts, its three readings, and where their lines come from."""

    def __init__(self, text: str, size: int) -> None:
        self.lines: dict[str, list[str]] = {"ours": [], "theirs": [], "both": []}
        self.up: dict[str, list[int]] = {"ours": [], "theirs": []}  # line of a side: line of both
        self.section: list[tuple[int, str] | None] = []  # of both: which conflict, whose section
        for conflict, at, line in lines_of(_clean(text), size):
            if at == "base":
                continue
            for side in self.up:
                if at in ("", side):
                    self.up[side].append(len(self.section))
                    self.lines[side].append(line)
            self.lines["both"].append(line)
            self.section.append((conflict, at) if at else None)

    def is_cut(self, side: str, lines: range) -> bool:
        """Whether a conflict begins or ends within these lines of a side."""
        up = self.up[side]
        inside = {self.section[up[at]] for at in lines}
        return len(inside) > 1 or up[lines[-1]] - up[lines[0]] != lines[-1] - lines[0]


def _clean(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\ufeff", "")


# -- a reading


@dataclass(eq=False)
class Entry:
    """An entry of a map, or an element of a list: where it starts, and its last line."""

    line: int
    column: int
    key: str  # `-` of an element
    parent: Entry | None
    document: int
    end: int = 0
    kind: str = ""
    below: list[Entry] = field(default_factory=list)

    @property
    def place(self) -> Place:
        return self.line, self.column

    @property
    def length(self) -> int:
        return self.end - self.line + 1


class _Reading:
    """The entries of a text, by the places where they start; what is in brackets is a leaf."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.entries: dict[Place, Entry] = {}
        self.documents: list[list[Entry]] = []  # what stands at the top
        self.flows: list[range] = []  # brackets of several lines
        self.bare: list[int] = []  # where documents start that have no entries
        self._anchors: set[str] = set()
        text = "\n".join(lines).translate(BREAKS)
        self._events = iter(list(yaml.parse(text, Loader=LOADER)))
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.documents.append([])
                self._anchors = set()
                root = next(self._events)
                if (
                    self._node(root, None)[0] == "leaf"
                    and root.start_mark.index < root.end_mark.index
                ):
                    self.bare.append(root.start_mark.line)

    def by_key(self) -> Iterator[list[Entry]]:
        """What stands in one map under one key; elements of lists have none."""
        for entries in [*self.documents, *(entry.below for entry in self.entries.values())]:
            found: dict[str, list[Entry]] = {}
            for entry in entries:
                if entry.key != "-":
                    found.setdefault(entry.key, []).append(entry)
            yield from found.values()

    def _node(self, event: yaml.Event, owner: Entry | None) -> tuple[str, int]:
        """Its kind, and its last line."""
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise yaml.MarkedYAMLError(problem="no such anchor", problem_mark=event.start_mark)
            return "leaf", event.end_mark.line
        if event.anchor:
            self._anchors.add(event.anchor)
        if isinstance(event, yaml.ScalarEvent):
            return "leaf", self._last_line(event)
        if event.flow_style:
            end = self._skipped(event)
            if end > event.start_mark.line:
                self.flows.append(range(event.start_mark.line, end + 1))
            return "leaf", end
        end = event.start_mark.line
        for each in self._events:
            if isinstance(each, yaml.CollectionEndEvent):
                break
            if isinstance(event, yaml.SequenceStartEvent):
                entry, value = self._entry(*self._dash(each), "-", owner), each
            else:
                key = each.value if isinstance(each, yaml.ScalarEvent) else ""
                entry = self._entry(each.start_mark.line, each.start_mark.column, key, owner)
                if isinstance(each, yaml.CollectionStartEvent):
                    self._skipped(each)
                value = next(self._events)
            entry.kind, entry.end = self._node(value, entry)
            entry.end = end = max(entry.end, entry.line)
        return ("list" if isinstance(event, yaml.SequenceStartEvent) else "map"), end

    def _entry(self, line: int, column: int, key: str, owner: Entry | None) -> Entry:
        entry = Entry(line, column, key, owner, len(self.documents) - 1)
        self.entries[entry.place] = entry
        (self.documents[-1] if owner is None else owner.below).append(entry)
        return entry

    def _dash(self, value: yaml.Event) -> Place:
        """Where the dash of an element is, whose value may start on a later line."""
        at = value.start_mark.line
        before = self.lines[at][: value.start_mark.column].rstrip()
        while not before.endswith("-"):
            at -= 1
            before = f" {self.lines[at]}".split(" #")[0][1:].rstrip()
        return at, len(before) - 1

    def _last_line(self, event: yaml.ScalarEvent) -> int:
        end = event.end_mark.line
        if event.style in ("|", ">") and end > event.start_mark.line:
            end -= event.end_mark.column == 0 and end < len(self.lines)
            while end > event.start_mark.line and not self.lines[end].strip():
                end -= 1
        return int(end)

    def _skipped(self, event: yaml.Event) -> int:
        """Pass by the rest of a collection; its last line."""
        depth = 1
        while depth:
            event = next(self._events)
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
        return int(event.end_mark.line)


# -- what may be wrong


def _torn(marked: _Marked, sides: dict[str, _Reading], both: _Reading) -> Iterator[Breach]:
    """What of a side stands in another element, entry or document when both are taken."""
    for side, reading in sides.items():
        up = marked.up[side]
        for entry in reading.entries.values():
            what = f"of {side}, {both.lines[up[entry.line]].strip()!r}"
            now = both.entries.get((up[entry.line], entry.column))
            if now is None:
                what += " is no entry any more"
            elif _is_torn(entry, now, up, reading, both):
                if (
                    max(_length(reading, entry), _length_there(marked, sides, side, entry, now))
                    > LONG
                ):
                    continue
                owner = entry.parent and reading.lines[entry.parent.line].strip()
                what += f" is no longer in {repr(owner) if owner else 'its document'}"
            elif entry.kind == "leaf" and now.end < up[entry.end] and entry.length <= LONG:
                what += " is cut off"
            else:
                continue
            yield Breach(LAW, f"line {up[entry.line] + 1}", what)


def _is_torn(entry: Entry, now: Entry, up: list[int], reading: _Reading, both: _Reading) -> bool:
    """Whether an entry stands in another one than on its side, or in another document."""
    parent = entry.parent
    if parent is not None:
        return now.parent is None or now.parent.place != (up[parent.line], parent.column)
    first = reading.documents[entry.document][0]
    leader = both.entries.get((up[first.line], first.column))
    return now.parent is not None or (leader is not None and leader.document != now.document)


def _length(reading: _Reading, entry: Entry) -> int:
    """The length of what an entry stands in."""
    if entry.parent is not None:
        return _with_comments(reading, entry.parent)
    top = reading.documents[entry.document]
    return top[-1].end - top[0].line + 1


def _length_there(
    marked: _Marked, sides: dict[str, _Reading], side: str, entry: Entry, now: Entry
) -> int:
    """The length of what has taken an entry over, as the other side has it, at the same depth."""
    other = "theirs" if side == "ours" else "ours"
    column = entry.parent.column if entry.parent is not None else -1
    inside = now
    while inside.parent is not None and inside.parent.column >= column:
        inside = inside.parent
        if inside.column == column:
            break
    lines = {line: at for at, line in enumerate(marked.up[other])}
    there = sides[other].entries.get((lines.get(inside.line, -1), inside.column))
    if there is None:
        return 0
    if inside.column == column:
        return _with_comments(sides[other], there)
    return _length(sides[other], there)


def _with_comments(reading: _Reading, entry: Entry) -> int:
    """The length of an entry with the comments at its end, which are deeper than its start."""
    end = entry.end
    for at in range(entry.end + 1, len(reading.lines)):
        bare = reading.lines[at].lstrip(" ")
        if bare and (bare[0] != "#" or len(reading.lines[at]) - len(bare) <= entry.column):
            break
        end = at if bare else end
    return end - entry.line + 1


def _repeated(
    marked: _Marked, sides: dict[str, _Reading], both: _Reading, style: str
) -> Iterator[tuple[str, Breach]]:
    """Keys that stand in a map twice."""
    for first, *others in both.by_key():
        if others:
            what = _why_not(marked, sides, first, others, style)
            if what:
                breach = Breach(LAW, f"line {others[0].line + 1}", f"{first.key!r} {what}")
                yield first.key, breach


def _twice(reading: _Reading) -> Iterator[str]:
    """The keys that a text has twice."""
    return (first.key for first, *others in reading.by_key() if others)


def _keys_around(reading: _Reading, entry: Entry) -> list[str]:
    owner = entry.parent
    entries = reading.documents[entry.document] if owner is None else owner.below
    return [each.key for each in entries]


def _why_not(
    marked: _Marked, sides: dict[str, _Reading], first: Entry, others: list[Entry], style: str
) -> str:
    """Why a key must not be there again; nothing where both sides of a conflict have it once."""
    where = [marked.section[entry.line] for entry in (first, *others)]
    if None in where:
        return "stands again, and not in a conflict"
    conflicts = {at[0] for at in where if at}
    if len(where) > 2 or {at[1] for at in where if at} != {"ours", "theirs"}:
        return "stands on one side twice"
    if len(conflicts) > 1:
        return "stands in two conflicts"
    kinds, forms, around = set(), set(), []
    for entry, at in zip((first, *others), where, strict=True):
        side = at[1] if at else ""
        line = marked.up[side].index(entry.line)
        there = sides[side].entries[line, entry.column]
        around.append(_keys_around(sides[side], there))
        kinds.add(there.kind)
        forms.add((sides[side].lines[line].strip(), *(each.column for each in there.below[:1])))
    if style != "merge" or "leaf" in kinds or len(kinds) > 1 or len(forms) > 1:
        return ""
    mine, yours = around
    if [key for key in mine if key in yours] != [key for key in yours if key in mine]:
        return ""
    return f"is a {kinds.pop()} twice"
