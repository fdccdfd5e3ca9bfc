"""The laws of a merge, checked over three versions and a result; how it was made does not matter.

- *comments*: a comment line that one side added or removed follows that side;
- *lines*: a line of the base that both sides keep stands in the result;
- *columns*: it is indented as one of the sides has it, and where one side alone re-indented the
  whole document, as that side has it;
- *documents*, *count*, *order*, *leaf* and *gone*: see `lawbook_values`.

The first three look at text alone and pair nothing. A result with conflicts has to be in style
diff3; what only one way of deciding them would break is no breach. Where equal things could have
been told apart in several ways, every one of them is lawful.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import lawbook_values
from common_lines import common
from lawbook_values import KEYS, Breach, bounds, bounds_of_equal
from marked_text import decided, lines_of, size_for
from yaml_places import Nodes, Unreadable

Lines = list[str]
LAWS = ("comments", "lines", "columns", *lawbook_values.LAWS)


def breaches(
    base: bytes, ours: bytes, theirs: bytes, result: bytes, *, clean: bool, path: str = ""
) -> list[Breach]:
    """All that is against a law; nothing where the result is only one side, and a conflict."""
    versions = [_text(data) for data in (base, ours, theirs)]
    text = _text(result)
    readings, inside = [text], [[], [], []]
    if not clean:
        size = size_for(versions)
        readings = [decided(text, side, size) for side in ("ours", "theirs", "base")]
        inside = _sections(text, size)
        if readings[0] == text:
            return []
    lines = [version.split("\n") for version in versions]
    results = [reading.split("\n") for reading in readings]
    return [
        *_comments(*lines, results, inside),
        *_lines(*lines, results[:2]),
        *_columns(*lines, results[:2]),
        *lawbook_values.breaches(versions, readings[0], readings[not clean], path),
    ]


def _text(data: bytes) -> str:
    text = "\n" + data.decode("utf-8", "replace").replace("\r\n", "\n")
    text += "\n" * (not text.endswith("\n"))  # a lost one at the end of a file is no lost work
    return text.replace("\n\ufeff", "\n")[1:]  # a byte order mark may stand in a conflict


def _sections(text: str, size: int) -> list[Lines]:
    """What base, ours and theirs have in conflicts."""
    sections: dict[str, Lines] = {"base": [], "ours": [], "theirs": [], "": []}
    for _, section, line in lines_of(text, size):
        sections[section].append(line)
    return [sections[side] for side in ("base", "ours", "theirs")]


# -- comments


def _comments(
    base: Lines, ours: Lines, theirs: Lines, results: list[Lines], inside: Sequence[Lines]
) -> Iterator[Breach]:
    versions = (base, ours, theirs)
    try:
        told = [_comments_of("\n".join(lines)) for lines in (*versions, *results)]
    except Unreadable:  # what is text and what is a comment, nobody can tell
        told = [[line.strip() for line in lines] for lines in (*versions, *results)]
    # a comment is kept where it leads the same entry
    kept = [
        {at for at, there in _matches(base, side) if _owner(base, at) == _owner(side, there)}
        for side in (ours, theirs)
    ]
    bags = [Counter(line for line in lines if line.startswith("#")) for lines in told]
    within = [Counter(map(str.strip, lines)) for lines in inside]
    for text in dict.fromkeys(comment for bag in bags for comment in bag):
        old, mine, yours, *found = (bag[text] for bag in bags)
        there = {at for at, line in enumerate(told[0]) if line == text}
        low, high = bounds_of_equal(there, kept, mine, yours)
        if low <= max(found) and min(found) <= high:
            continue
        # what is left of all versions where the conflicts are cut out
        bag = [count - cut[text] for count, cut in zip((old, mine, yours), within, strict=True)]
        low, high = bounds(*(max(count, 0) for count in bag))
        if max(found) < low and _leads_all(text, told, (base, ours, theirs), results):
            continue
        if not any(inside) or not low <= found[0] - within[1][text] <= high:
            times = f"{min(found)} to {max(found)}"
            yield Breach("comments", "", f"{text} | {times} times, not {low} to {high}")


def _leads_all(
    text: str, told: list[Lines], versions: tuple[Lines, Lines, Lines], results: list[Lines]
) -> bool:
    """Whether a comment leads all that it led: two things that it led have become one."""
    owners = {
        _owner(lines, at)
        for lines, comments in zip(versions, told, strict=False)
        for at, comment in enumerate(comments)
        if comment == text
    }
    bare = [[_owner([line], 0) for line in lines] for lines in results]
    there = max(sum(lines.count(owner) for owner in owners) for lines in bare)
    return there <= max(comments.count(text) for comments in told[3:])


def _owner(lines: Lines, at: int) -> str:
    """What a comment leads: the key below it; of an element, or of what names one, all of the line."""
    below = (line.strip() for line in lines[at:])
    line = next((bare for bare in below if bare and bare[0] != "#"), "")
    key = line.partition(":")[0]
    return line if line[:1] == "-" or key.strip(" \"'") in KEYS else key


def _comments_of(text: str) -> Lines:
    """The lines, of which all are empty but those that are comments."""
    lines = [line.strip() if line.strip().startswith("#") else "" for line in text.split("\n")]
    if any(lines):
        for at in _lines_of_texts(text):
            lines[at] = ""
    return lines


def _lines_of_texts(text: str) -> Iterator[int]:
    """The lines of scalars, but for the first one of each."""
    nodes = [document.node for document in Nodes(text).documents]
    while nodes:
        node = nodes.pop()
        nodes += [entry.node for entry in node.entries]
        if node.kind == "scalar":
            yield from range(node.first + 1, node.stop)


# -- untouched lines


def _lines(base: Lines, ours: Lines, theirs: Lines, results: list[Lines]) -> Iterator[Breach]:
    versions = [(side, dict(_matches(base, side))) for side in (ours, theirs)]
    found = [Counter(text for line in result for text in _shown(line)) for result in results]
    for text, places in _places(base).items():
        # of equal lines nobody knows which one a side took away, or put elsewhere
        lost = sum(
            at not in kept or (len(places) > 1 and _parent(base, at) != _parent(side, kept[at]))
            for at in places
            for side, kept in versions
        )
        if max(counts[text] for counts in found) < len(places) - lost:
            yield Breach("lines", "", f"{text} | is gone")


def _columns(base: Lines, ours: Lines, theirs: Lines, results: list[Lines]) -> Iterator[Breach]:
    mine, yours = (dict(_matches(base, side)) for side in (ours, theirs))
    found: list[dict[str, set[int]]] = [{} for _ in results]
    for columns_of, result in zip(found, results, strict=True):
        for line in result:
            for text in _shown(line):
                columns_of.setdefault(text, set()).add(_column(line))
    documents: dict[int, dict[str, list[int]]] = {}  # lines that are like no other, and columns
    starts = [at for at, line in enumerate(base) if line.startswith("---")]
    for text, (at, *others) in _places(base).items():
        if at in mine and at in yours and not others:
            lines = base[at], ours[mine[at]], theirs[yours[at]]
            parents = _parent(base, at), _parent(ours, mine[at]), _parent(theirs, yours[at])
            columns = [*map(_column, lines)]
            in_brackets = len({line.endswith(",") for line in lines}) > 1
            is_clear = not in_brackets and len({*parents}) == 1 and len({*columns}) < 3
            if max(columns) and is_clear:
                documents.setdefault(bisect(starts, at), {})[text] = columns
    for document in documents.values():
        alone = [side for side in (1, 2) if all(map(_is_alone(side), document.values()))]
        for text, columns in document.items():
            allowed = {columns[side] for side in alone or (1, 2)}
            if all(text in there and not there[text] & allowed for there in found):
                yield Breach("columns", "", f"{text} | is not at column {min(allowed)}")


def _is_alone(side: int) -> Callable[[list[int]], bool]:
    """Whether it is this one of the two sides that has a line at another column."""
    return lambda columns: columns[0] == columns[3 - side] != columns[side]


def _places(base: Lines) -> dict[str, list[int]]:
    """Where each line that says something stands."""
    places: dict[str, list[int]] = {}
    for at, line in enumerate(base):
        if any(map(str.isalnum, line)):
            places.setdefault(_bare(line), []).append(at)
    return places


def _matches(base: Lines, side: Lines) -> Iterator[tuple[int, int]]:
    """The lines that a side keeps, and where it has them; re-indented ones are kept as well."""
    i = j = 0
    for i0, i1, j0, j1 in [*common(base, side), (len(base), len(base), len(side), len(side))]:
        bare = [[_bare(line) for line in part] for part in (base[i:i0], side[j:j0])]
        blocks = common(*bare)
        # a line or two that come back in another text are no text that was re-indented
        if 2 * sum(a1 - a0 for a0, a1, *_ in blocks) >= i0 - i:
            for a0, a1, b0, _ in blocks:
                yield from ((i + at, j + b0 + at - a0) for at in range(a0, a1))
        yield from zip(range(i0, i1), range(j0, j1), strict=True)
        i, j = i1, j1


def _bare(line: str) -> str:
    """A line without what indents it, a dash too, and without a comma, which is a neighbour's."""
    return line.lstrip(" -").rstrip().rstrip(",")


def _shown(line: str) -> tuple[str, ...]:
    """The lines that this one stands for: a key may have lost all that stood below it."""
    bare = _bare(line)
    filled = bare.replace(": {}", ":").replace(": []", ":")
    return (bare,) if bare == filled else (bare, filled)


def _parent(lines: Lines, at: int) -> str:
    """The line that a line stands below; at the top, the name of the resource."""
    depth = len(lines[at]) - len(lines[at].lstrip(" "))
    if not depth:
        return _name_of(lines, at)
    above = (line for line in reversed(lines[:at]) if line.strip() and line.strip()[0] != "#")
    return next((_bare(line) for line in above if len(line) - len(line.lstrip(" ")) < depth), "")


def _name_of(lines: Lines, at: int) -> str:
    """The first line with a name in the document of a line."""
    first = next((n + 1 for n in range(at, -1, -1) if lines[n].startswith("---")), 0)
    for line in lines[first:]:
        if line.startswith("---"):
            break
        if _bare(line).startswith("name:"):
            return _bare(line)
    return ""


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" -"))
