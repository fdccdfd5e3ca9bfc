"""One walk over a merged document beside what its sides have there: what none of them explains.

A part with the text of one side is that side's own and is not entered, so a walk costs as much as
the sides differ. A merge may keep, drop and combine what the sides have, and who finishes one by
hand may decide between them: nothing of that is odd. Odd is what no side has, and the lack of what
every side has.

Texts of several lines in a merged file, beside what the sides have in their places.
"""

from __future__ import annotations

from collections import Counter

from kmerge_git.bounds import LINE_CHARACTERS
from kmerge_git.check.merges.merged_lists import BLOCK, ElementKeys, Elements, least
from kmerge_git.kube.listkeys import Where, field_text, start
from kmerge_git.tree.nodes import Alias, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.plain_values import anchored
from kmerge_git.tree.same import canon_of, same_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.merges.merged_lists import Nodes
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.tree.nodes import Entry
    from kmerge_git.tree.same import Known


# what is odd about a part of a merged file
NEW = "new"  # no side has it
GONE = "gone"  # every side has it
TWICE = "twice"  # no side has it so often
UNTIED = "untied"  # a merge key or an alias that every side has is gone
FUSED = "fused"  # a document is part of another one
CUT = "cut"  # a text of several lines lacks some, or its header
MERGE_KEY = "<<"


class Odd:
    """Something odd: what about it, where, and in words."""

    __slots__ = ("at", "beside", "message", "parent", "path", "value", "what")

    def __init__(self, what: str, at: int, path: Path, message: str) -> None:
        self.what = what
        self.at = at
        self.path = path
        self.message = message
        # of a field that no side has: its value, where it stands, and what the sides have there
        self.value: Node | None = None
        self.parent: Mapping | None = None
        self.beside: Nodes = []


def walked(root: Node, sides: Nodes, path: str) -> list[Odd]:
    """Return what is odd in a document of the file at `path`."""
    walk = SideWalk(Anchors(sides))
    walk.node(root, sides, start(root, path), ())
    return walk.found


class Anchors:
    """What the aliases of the sides stand for."""

    __slots__ = ("_named", "_roots")

    def __init__(self, roots: Nodes) -> None:
        self._roots = [root for root in roots if root is not None]
        self._named: dict[int, dict[str, Node]] = {}

    def written_out(self, node: Node | None) -> Node | None:
        """Return a node, or what it stands for if it is an alias."""
        if not isinstance(node, Alias):
            return node
        for number, root in enumerate(self._roots):
            if root.text is node.text:
                if number not in self._named:
                    self._named[number] = {one.anchor: one for one in anchored(root)}
                return self._named[number].get(node.name, node)
        return node


class SideWalk:
    """One walk over one document; what it finds piles up in `found`."""

    __slots__ = ("_anchors", "_known", "found")

    def __init__(self, anchors: Anchors) -> None:
        self._anchors = anchors
        self.found: list[Odd] = []
        self._known: Known = {}

    def say(self, what: str, at: int, path: Path, message: str) -> None:
        """Keep what was found."""
        self.found.append(Odd(what, at, path, message))

    def node(self, made: Node, sides: Nodes, where: Where, path: Path) -> None:
        """Compare a value with what the sides have in its place; at least one has something."""
        if any(same_text(made, side) for side in sides if side is not None):
            return
        if self._lost_its_kind(made, sides, path):
            return
        sides = [self._anchors.written_out(side) for side in sides]
        if isinstance(made, Mapping):
            self.mapping(made, sides, where.at(made), path)
        elif isinstance(made, Sequence):
            self.sequence(made, sides, where, path)
        elif isinstance(made, Scalar):
            self.text(made, sides, path)

    def _lost_its_kind(self, made: Node, sides: Nodes, path: Path) -> bool:
        """Return whether every side has another kind of value here; report what is gone."""
        if _all(sides, Alias) and not isinstance(made, Alias):
            name = next(side.name for side in sides if isinstance(side, Alias))
            self.say(
                UNTIED, made.start, path, f"every side of the merge has the alias *{name} here"
            )
        elif lost_header(made, sides):
            what = "the text of several lines that the sides have is none here"
            self.say(CUT, made.start, path, f"{what}: its header, `|` or `>`, is gone")
        elif _all(sides, Mapping) and not isinstance(made, Mapping):
            self._gone_inside(made, sides, path, "fields")
        elif _all(sides, Sequence) and not isinstance(made, Sequence):
            self._gone_inside(made, sides, path, "elements")
        else:
            return False
        return True

    def _gone_inside(self, made: Node, sides: Nodes, path: Path, what: str) -> None:
        inside = [side for side in sides if isinstance(side, Mapping | Sequence) and side.entries]
        if len(inside) == len(sides) and not isinstance(made, Alias):
            self.say(GONE, made.start, path, f"every side of the merge has {what} here")

    # -- mappings --------------------------------------------------------------------------------

    def mapping(self, made: Mapping, sides: Nodes, where: Where, path: Path) -> None:
        """Compare the fields of a mapping; report new ones, and lost ones that every side has."""
        maps = [side for side in sides if isinstance(side, Mapping)]
        names = made.index()
        for name, entry in names.items():
            values = [side.get(name) if isinstance(side, Mapping) else None for side in sides]
            here = (*path, name)
            if any(value is not None for value in values):
                self.node(entry.value, values, where.child(name), here)
            else:
                self.new_field(made, entry, sides, here)
        if len(maps) == len(sides):
            for name in maps[0].index():
                if name not in names and all(name in side.index() for side in maps):
                    self.gone_field(made, name, path)

    def new_field(self, made: Mapping, entry: Entry, sides: Nodes, path: Path) -> None:
        """Report a field that no side has."""
        key = entry.key if entry.key is not None else entry.value
        odd = Odd(NEW, key.start, path, f"no side of the merge has {entry.name} here")
        odd.value, odd.parent, odd.beside = entry.value, made, sides
        self.found.append(odd)

    def gone_field(self, made: Mapping, name: str, path: Path) -> None:
        """Report the loss of a field that every side has."""
        if name == MERGE_KEY:
            what = "every side of the merge has a merge key `<<` here, and it is gone"
            self.say(UNTIED, made.start, path, what)
        else:
            what = f"{name} is gone: every side of the merge has it"
            self.say(GONE, made.start, (*path, name), what)

    # -- lists -----------------------------------------------------------------------------------

    def sequence(self, made: Sequence, sides: Nodes, where: Where, path: Path) -> None:
        """Compare elements by their keys where all have one, else by what they are."""
        lists = [side for side in sides if isinstance(side, Sequence)]
        if not lists:
            return
        keys = ElementKeys([made, *lists], lists, where.list_rule(), self._known)
        elements = Elements(made, lists, keys.of)
        for number, (key, node) in enumerate(elements.made):
            here, there = (*path, keys.step(key, number)), elements.of(key)
            if not there:
                self.shape(node, elements.all, here)
                places = elements.in_place(number)
                if any(place is not None for place in places):
                    rest = [None] * (len(sides) - len(places))
                    self.losses(node, [*places, *rest], where.items(), here)
            elif keys.are_fields:
                rest = [None] * (len(sides) - len(there))
                self.node(node, [*there, *rest], where.items(), here)
        self.twice(elements, path)
        for node in elements.gone() if len(lists) == len(sides) else ():
            if isinstance(node, Alias):
                what = f"every side of the merge has the alias *{node.name} in this list"
                self.say(UNTIED, made.start, path, what)
                continue
            what = f"{_shown(node)} is gone: every side of the merge has it"
            self.say(GONE, made.start, path, what)

    def twice(self, elements: Elements, path: Path) -> None:
        """Report elements that are there twice."""
        for node in elements.twice():
            self.say(TWICE, node.start, path, f"{_shown(node)} stands here twice, and on no side")

    def losses(self, made: Node, sides: Nodes, where: Where, path: Path) -> None:
        """Report what is gone from an element that somebody changed."""
        inside = SideWalk(self._anchors)
        inside.node(made, sides, where, path)
        self.found += [odd for odd in inside.found if odd.what not in (NEW, TWICE)]

    def shape(self, made: Node, likes: list[Node], path: Path) -> None:
        """Compare a new element with others: each of its fields is in an element of a side too."""
        if isinstance(made, Mapping):
            maps = [one for one in likes if isinstance(one, Mapping)]
            for entry in made.entries if maps else ():
                below = [v for one in maps if (v := one.get(entry.name)) is not None]
                here = (*path, entry.name)
                if below:
                    self.shape(entry.value, below, here)
                else:
                    self.new_field(made, entry, [*maps], here)
        elif isinstance(made, Sequence):
            lists = [one for one in likes if isinstance(one, Sequence)]
            self.twice(Elements(made, lists, lambda node: canon_of(node, self._known)), path)
            inner = [e.value for one in lists for e in one.entries]
            for number, entry in enumerate(made.entries if inner else ()):
                self.shape(entry.value, inner, (*path, number))
        elif isinstance(made, Scalar):
            self._runs_on(made, likes, path)

    # -- texts -----------------------------------------------------------------------------------

    def text(self, made: Scalar, sides: Nodes, path: Path) -> None:
        """Report lines that a block text lost, and plain texts that run on."""
        what = damage_of(made, sides)
        if what:
            self.say(CUT, made.start, path, what)
        else:
            self._runs_on(made, [side for side in sides if side is not None], path)

    def _runs_on(self, made: Scalar, sides: list[Node], path: Path) -> None:
        """Report a plain text over several lines, which a line makes that slipped to the right."""
        if _is_folded(made) and not any(_is_folded(side) for side in sides):
            what = "no side of the merge has a text over several lines here"
            self.say(NEW, made.start, path, f"{what}: a line slipped into it")


def _all(sides: Nodes, kind: type[Node]) -> bool:
    return all(isinstance(side, kind) for side in sides)


def _is_folded(node: Node) -> bool:
    return isinstance(node, Scalar) and not node.style and "\n" in node.raw


def _shown(node: Node) -> str:
    """Return an element as messages show it: by its name, or by its first characters."""
    name = field_text(node, "name")
    if name is not None:
        return f"the element {name}"
    line = node.raw.partition("\n")[0].strip()
    return f"the element {line[:40]}" if line else "an empty element"


def is_block(node: Node | None) -> bool:
    """Return whether a value is a text below a `|` or a `>`."""
    return isinstance(node, Scalar) and node.style in BLOCK


def lost_header(made: Node, sides: Nodes) -> bool:
    """Return whether every side that has a value has a block text, and the result has none.

    Where a side has no value, the words of the text must still follow the key.
    """
    there = [side for side in sides if side is not None]
    if not there or is_block(made) or not all(map(is_block, there)) or _is_respelled(made, there):
        return False
    if len(there) == len(sides):
        return True
    texts = [" ".join(lines_of(side)).split() for side in there]
    return any(words and _reads(made, words) for words in texts)


def _is_respelled(made: Node, sides: list[Node]) -> bool:
    """Return whether a block text was rewritten in quotes or in one line: no header was lost."""
    if not isinstance(made, Scalar) or not made.raw:
        return False
    if made.style:
        return "\n" in made.value
    words = made.value.split()
    return "\n" not in made.raw and any(_folds_to(side, words) for side in sides)


def _folds_to(node: Node | None, words: list[str]) -> bool:
    return isinstance(node, Scalar) and node.style == ">" and node.value.split() == words


def _reads(made: Node, words: list[str]) -> bool:
    """Return whether the words of a text follow a key, as its value or as comments below it."""
    if isinstance(made, Alias):
        return False
    if made.raw:
        return _starts_a_line(made) and made.raw.split() == words
    below = made.text[made.end :].lstrip()
    return below[:1] == "#" and below[: 4 * len(" ".join(words))].split()[: len(words)] == words


def _starts_a_line(node: Node) -> bool:
    return not node.text[node.text.rfind("\n", 0, node.start) + 1 : node.start].strip()


def damage_of(made: Node, sides: Nodes) -> str:
    """Return what is wrong with a text of several lines; nothing where a merge can come to it."""
    blocks = [lines_of(side) for side in sides if side is not None and is_block(side)]
    if not is_block(made) or not blocks:
        return ""
    lines = lines_of(made)
    cut = _cut(lines, blocks) if len(blocks) == len(sides) else ""
    return cut or _slipped(lines, blocks)


def lines_of(node: Node) -> list[str]:
    """Return the lines of a block text: their meaning, or, of a folded text, their spelling."""
    assert isinstance(node, Scalar)
    if node.style == "|":
        return _filled(node.value)
    lines = _filled(node.text[node.content : node.end])[1:]
    return _dedented(lines)


def _filled(text: str) -> list[str]:
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def _dedented(lines: list[str]) -> list[str]:
    column = min((len(line) - len(line.lstrip(" ")) for line in lines), default=0)
    return [line[column:] for line in lines]


def _cut(made: list[str], sides: list[list[str]]) -> str:
    """Return a message about a line that every side has, and that nobody dropped or replaced."""
    tables = [Counter(lines) for lines in sides]
    mine = Counter(made)
    gone = [line for line in tables[0] if mine[line] < least([table[line] for table in tables])]
    if not gone:
        return ""
    new = [line for line in mine if not any(line in table for table in tables)]
    slipped = {line.strip() for line in new}.intersection(line.strip() for line in gone)
    if slipped:
        return f"on every side this line stands at another column: {min(slipped)[:LINE_CHARACTERS]}"
    if len(gone) <= len(new):  # lines that somebody wrote in their place
        return ""
    line = gone[0].strip()[:LINE_CHARACTERS]
    return f"a line that every side of the merge has is gone from this text: {line}"


def _slipped(made: list[str], sides: list[list[str]]) -> str:
    """Return a message about a line at a new column between its neighbours of a side."""
    known = {line for lines in sides for line in lines}
    around = [_around(lines) for lines in sides]
    for (before, bare, after), line in zip(_around(made), made, strict=True):
        if line not in known and any((before, bare, after) in lines for lines in around):
            return f"a side of the merge has this line at another column: {bare[:LINE_CHARACTERS]}"
    for lines in sides:  # the first line says where the text starts: the others seem to move
        is_same = len(made) > 1 and _dedented(made[1:]) == _dedented(lines[1:])
        if is_same and made[0].strip() == lines[0].strip() and made not in sides:
            return (
                f"a side of the merge has this line at another column: {made[0][:LINE_CHARACTERS]}"
            )
    return ""


def _around(lines: list[str]) -> list[tuple[str, str, str]]:
    """Return each line without its column, together with its neighbours."""
    framed = ["", *lines, ""]
    return [
        (before, line.strip(), after)
        for before, line, after in zip(framed, lines, framed[2:], strict=False)
    ]
