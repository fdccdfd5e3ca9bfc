"""Compare a merged document with its sides, and find oddities that no side explains.

A part that has the same text on one side is skipped, so the time grows only with the differences
between the sides. A merge may keep, drop and combine parts of the sides, and a person may decide
between the sides: such results are not odd. A part is odd if no side has the part. A missing part
is odd if every side has it.

The elements of a list are paired by their keys. In a list without keys, equal elements are paired.
Between two such pairs, an element of a side is paired with a similar element of the result.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import NamedTuple

from kmerge_git.bounds import LINE_CHARACTERS
from kmerge_git.kube.likeness import CLEARLY, MOST_COMPARISONS, SAME_PLACE, Leaves, likeness
from kmerge_git.kube.listkeys import ListKeys, Where, field_text, start
from kmerge_git.merge.verify.alias_law import Marks, is_one
from kmerge_git.text.diff3 import changes
from kmerge_git.tree.nodes import Alias, Collection, Mapping, Node, Scalar, Sequence, is_block_text
from kmerge_git.tree.plain_values import anchors_of, meant
from kmerge_git.tree.same import canon_of, same_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from kmerge_git.kube.fieldpath import Element, Path
    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.tree.nodes import Entry
    from kmerge_git.tree.same import Known

    Nodes = list[Node | None]  # the value of each side at one place
    Keyed = list[tuple[Hashable, Node]]

SURE = SAME_PLACE + CLEARLY  # the likeness must be higher than equal keys give

# the sorts of oddities of a part of a merged file
NEW = "new"  # no side has it
GONE = "gone"  # every side has it
TWICE = "twice"  # no side has it as many times
UNTIED = "untied"  # a merge key or an alias that every side has is gone
FUSED = "fused"  # a document became part of another document
CUT = "cut"  # a block scalar lacks lines, or its header
MERGE_KEY = "<<"


class Odd(NamedTuple):
    """Describe a part that no side explains, or the lack of a part that every side has."""

    what: str
    at: int
    path: Path
    message: str
    # for a field that no side has: its value, its mapping, and the values of the sides there
    value: Node | None = None
    parent: Mapping | None = None
    beside: Nodes | tuple[()] = ()


def walked(root: Node, sides: Nodes, path: str) -> list[Odd]:
    """Return the oddities of one document in the file at `path`."""
    walk = SideWalk(Anchors(sides))
    walk.node(root, sides, start(root, path), ())
    if root.text.find("*", root.start, root.end) >= 0:
        walk.found += _turned_aliases(root, [side for side in sides if side is not None], path)
    return walk.found


def _turned_aliases(root: Node, sides: list[Node], path: str) -> Iterator[Odd]:
    """Find aliases that mean another anchor than on each side that has them."""
    known, made = [Marks(node, path).meant for node in sides], Marks(root, path)
    for place, meanings in made.meant.items():
        there = [meaning for side in known for meaning in side.get(place, ())]
        names = {meaning.name for meaning in there if meaning.node is not None}
        for meaning in meanings:
            if meaning.node and meaning.name in names and not is_one(meaning, there):
                name = meaning.name
                alias = next(n for p, n in made.of[name] if p == place and isinstance(n, Alias))
                message = (
                    f"the alias *{name} refers to another &{name} than on the sides of the merge"
                )
                yield Odd(UNTIED, alias.start, (), message)


class Anchors:
    """Resolve the aliases of each side with the anchors of the same side."""

    __slots__ = ("_named", "_roots")

    def __init__(self, roots: Nodes) -> None:
        self._roots = [root for root in roots if root is not None]
        self._named: dict[int, dict[str, list[Node]]] = {}  # by the `id()` of a root

    def written_out(self, node: Node | None) -> Node | None:
        """Return a node. If the node is an alias, return the value of its anchor."""
        root = next((one for one in self._roots if node and one.text is node.text), None)
        if not isinstance(node, Alias) or root is None:
            return node
        if id(root) not in self._named:
            self._named[id(root)] = anchors_of(root)
        return meant(node, self._named[id(root)]) or node


class SideWalk:
    """Compare one document with its sides, and collect the oddities in `found`."""

    __slots__ = ("_anchors", "_known", "found")

    def __init__(self, anchors: Anchors) -> None:
        self._anchors = anchors
        self.found: list[Odd] = []
        self._known: Known = {}

    def say(self, what: str, at: int, path: Path, message: str) -> None:
        """Record an oddity."""
        self.found.append(Odd(what, at, path, message))

    def node(self, made: Node, sides: Nodes, where: Where, path: Path) -> None:
        """Compare a merged value with the values of the sides at the same place."""
        if any(same_text(made, side) for side in sides if side is not None):
            return
        if not self._lost_its_kind(made, sides, path):
            sides = [self._anchors.written_out(side) for side in sides]
            if isinstance(made, Mapping):
                self.mapping(made, sides, where.at(made), path)
            elif isinstance(made, Sequence):
                self.sequence(made, sides, where, path)
            elif isinstance(made, Scalar):
                self.text(made, sides, path)

    def _lost_its_kind(self, made: Node, sides: Nodes, path: Path) -> bool:
        """Report a value that lost its content and is of another kind than on every side.

        Return whether every side has another kind of value.
        """
        aliases = [side.name for side in sides if isinstance(side, Alias)]
        if len(aliases) == len(sides) and not isinstance(made, Alias):
            message = f"the alias *{aliases[0]} is missing; every side of the merge has it"
            self.say(UNTIED, made.start, path, message)
            return True
        if lost_header(made, sides):
            what = "every side of the merge has a multi-line text in this place"
            self.say(CUT, made.start, path, f"{what}; its header, `|` or `>`, is missing")
            return True
        for kind, what in ((Mapping, "fields"), (Sequence, "elements")):
            there = [side for side in sides if isinstance(side, kind)]
            if len(there) == len(sides) and not isinstance(made, kind):
                if all(side.entries for side in there) and not isinstance(made, Alias):
                    self.say(
                        GONE,
                        made.start,
                        path,
                        f"the {what} are missing; every side of the merge has them",
                    )
                return True
        return False

    # -- mappings --------------------------------------------------------------------------------

    def mapping(self, made: Mapping, sides: Nodes, where: Where, path: Path) -> None:
        """Compare the fields of a mapping: report fields that no side has, and missing fields.

        A missing field is reported only if every side has the field.
        """
        maps = [side for side in sides if isinstance(side, Mapping)]
        names = made.index()
        for name, entry in names.items():
            values = [side.get(name) if isinstance(side, Mapping) else None for side in sides]
            here = (*path, name)
            if any(value is not None for value in values):
                self.node(entry.value, values, where.child(name), here)
            else:
                self.new_field(made, entry, sides, here)
        for name in maps[0].index() if len(maps) == len(sides) else ():
            if name in names or not all(name in side.index() for side in maps):
                continue
            if name == MERGE_KEY:
                what = "the merge key `<<` is missing; every side of the merge has it"
                self.say(UNTIED, made.start, path, what)
            else:
                what = f"{name} is missing; every side of the merge has it"
                self.say(GONE, made.start, (*path, name), what)

    def new_field(self, made: Mapping, entry: Entry, sides: Nodes, path: Path) -> None:
        """Report a field that no side has."""
        key = entry.key if entry.key is not None else entry.value
        what = f"no side of the merge has {entry.name} in this place"
        self.found.append(Odd(NEW, key.start, path, what, entry.value, made, sides))

    # -- lists -----------------------------------------------------------------------------------

    def sequence(self, made: Sequence, sides: Nodes, where: Where, path: Path) -> None:
        """Compare the elements of a list by their keys.

        If any element has no key, all elements are compared by their values.
        """
        lists = [side for side in sides if isinstance(side, Sequence)]
        if not lists:
            return
        keys = ElementKeys(made, lists, where.list_rule(), self._known)
        elements = Elements(made, lists, keys.of)
        for number, (key, node) in enumerate(elements.made):
            here, there = (*path, keys.step(key, number)), elements.of(key)
            if not there:
                self.shape(node, elements.all, here)
            versions: Nodes = [*there] if there else elements.in_place(number)
            versions += [None] * (len(sides) - len(versions))
            if there and keys.are_fields:
                self.node(node, versions, where.items(), here)
            elif not there and any(version is not None for version in versions):
                self.losses(node, versions, where.items(), here)
        self.twice(elements, path)
        for node in elements.gone() if len(lists) == len(sides) else ():
            what = f"{_shown(node)} is missing; every side of the merge has it"
            if isinstance(node, Alias):
                what = f"the alias *{node.name} is missing; every side of the merge has it"
            self.say(UNTIED if isinstance(node, Alias) else GONE, made.start, path, what)

    def twice(self, elements: Elements, path: Path) -> None:
        """Report elements that the list has twice although no side has them twice."""
        for node in elements.twice():
            self.say(
                TWICE, node.start, path, f"{_shown(node)} is there twice; no side has it twice"
            )

    def losses(self, made: Node, sides: Nodes, where: Where, path: Path) -> None:
        """Report the parts that a changed element of the result lost."""
        inside = SideWalk(self._anchors)
        inside.node(made, sides, where, path)
        self.found += [odd for odd in inside.found if odd.what not in (NEW, TWICE)]

    def shape(self, made: Node, likes: list[Node], path: Path) -> None:
        """Compare a new element with the elements of the sides.

        Report fields that none of the elements of the sides has.
        """
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
        """Report a block scalar that lost lines, and a plain scalar that absorbed another line."""
        damage, line = damage_of(made, sides)
        if damage:
            self.say(CUT, _start_of_line(made, line), path, damage)
        else:
            self._runs_on(made, [side for side in sides if side is not None], path)

    def _runs_on(self, made: Scalar, sides: list[Node], path: Path) -> None:
        """Report a plain scalar that absorbed another line and that no side has."""
        if _is_folded(made) and not any(_is_folded(side) for side in sides):
            what = "no side of the merge has a multi-line text in this place"
            self.say(NEW, made.start, path, f"{what}; check the indentation of its lines")


def _is_folded(node: Node) -> bool:
    return isinstance(node, Scalar) and not node.style and "\n" in node.raw


def _shown(node: Node) -> str:
    """Return the text for an element in messages: its name, or its first characters."""
    name = field_text(node, "name")
    words = node.raw.partition("\n")[0].strip()[:LINE_CHARACTERS] if name is None else name
    return f"the element {words}" if words or name is not None else "an empty element"


# -- the elements of a merged list, and those of the sides in their places ------------------------


class ElementKeys:
    """Identify elements of a list by their key fields, or else by their whole values."""

    __slots__ = ("_keys", "_known", "are_fields")

    def __init__(self, made: Sequence, sides: list[Sequence], rule: ListRule, known: Known) -> None:
        self._known = known
        self._keys = ListKeys(rule, [side.entries for side in sides])
        nodes = [entry.value for version in (made, *sides) for entry in version.entries]
        has_keys = self._keys.exist and rule.kind != "set"
        self.are_fields = has_keys and all(self._keys.of(node) is not None for node in nodes)

    def of(self, node: Node) -> Hashable:
        """Return the key of an element."""
        return self._keys.of(node) if self.are_fields else canon_of(node, self._known)

    def step(self, key: Hashable, number: int) -> Element | int:
        """Return the step in a path to an element: the key of the element, or its number."""
        return (self._keys.step(key) if self.are_fields else ()) or number


class Elements:
    """Hold the elements of a merged list, and the elements of the list on each side, by key."""

    __slots__ = ("_lists", "_partners", "_tables", "all", "made")

    def __init__(
        self, made: Sequence, lists: list[Sequence], key_of: Callable[[Node], Hashable]
    ) -> None:
        self.made, *self._lists = (
            [(key_of(e.value), e.value) for e in one.entries] for one in (made, *lists)
        )
        self.all = [node for side in self._lists for _, node in side]
        self._tables = [_table(side) for side in self._lists]
        self._partners: list[dict[int, Node]] | None = None

    def of(self, key: Hashable) -> list[Node]:
        """Return all elements with a key: one element from each side that has such an element."""
        return [table[key][0] for table in self._tables if key in table]

    def in_place(self, number: int) -> Nodes:
        """Return the elements of the sides at the place of a merged element that no side has."""
        if self._partners is None:
            self._partners = [_in_places(side, self.made) for side in self._lists]
        return [partners.get(number) for partners in self._partners]

    def twice(self) -> list[Node]:
        """Return elements that the list has more often than any side, or twice in a row."""
        tables = [Counter(_with_options(side)) for side in self._lists]
        pairs = (pair for side in self._lists for pair in pairwise(side))
        behind = {key for (key, _), (after, _) in pairs if key == after}
        met: Counter[Hashable] = Counter()
        found = []
        before: Hashable = None
        for (key, node), words in zip(self.made, _with_options(self.made), strict=True):
            met[words] += 1
            most = max((table[words] for table in tables), default=0)
            if met[words] > max(most, 1) or (key == before and key not in behind):
                found.append(node)
            before = key
        return found

    def gone(self) -> list[Node]:
        """Return elements of every side that the list lost and that nothing replaced."""
        counts = Counter(key for key, _ in self.made)
        new = [n for n, (key, _) in enumerate(self.made) if not self.of(key)]
        taken = {id(node) for n in new for node in self.in_place(n)}
        found = [
            nodes[0]
            for key, nodes in self._tables[0].items()
            if counts[key] < least([len(table.get(key, ())) for table in self._tables])
            and not taken.intersection(map(id, nodes))
        ]
        found += self._versions_gone(set(counts), taken)
        strange = sum(not any(self.in_place(n)) for n in new)
        return found if len(found) > strange else [n for n in found if isinstance(n, Alias)]

    def _versions_gone(self, made: set[Hashable], taken: set[int]) -> list[Node]:
        """Return elements that the sides have in different versions and the list does not have."""
        ours, others = self._lists[-2], [*self._lists[:-2], self._lists[-1]]
        wanted = [
            n
            for n, (key, node) in enumerate(ours)
            if key not in made and id(node) not in taken and len(self.of(key)) < len(self._lists)
        ]
        if not wanted:
            return []
        sides = [(_table(side), _in_places(side, ours, SURE)) for side in others]
        left = {id(node) for side in others for key, node in side if key not in made} - taken
        gone = []
        for n in wanted:
            key, node = ours[n]
            versions = [table[key][0] if key in table else at.get(n) for table, at in sides]
            if all(version and id(version) in left for version in versions):
                gone.append(node)
        return gone


def least(counts: list[int]) -> int:
    """Return how many equal things a merge must keep, given their counts in base and on both sides.

    Without a base, only the counts of both sides are given.
    """
    if len(counts) < 3:
        return min(counts)
    base, ours, theirs = counts
    return max(0, min(base, ours, theirs, ours + theirs - base))


def _table(side: Keyed) -> dict[Hashable, list[Node]]:
    table: dict[Hashable, list[Node]] = defaultdict(list)
    for key, node in side:
        table[key].append(node)
    return dict(table)


# -- elements that a list has twice


def _with_options(side: Keyed) -> list[Hashable]:
    """Return the keys of elements; an option and its argument, as in `-f a`, are combined."""
    words: list[Hashable] = []
    option: Hashable = None  # an option whose argument follows
    for number, (key, node) in enumerate(side):
        if _is_option(node):
            words.append(("option", key, _argument(side, number)))
            option = key
        else:
            is_argument = option is not None and not _has_dash(node)
            words.append(("argument", option, key) if is_argument else key)
            option = None
    return words


def _argument(side: Keyed, number: int) -> Hashable:
    """Return the key of the argument that follows an option, or None if there is no argument."""
    for key, node in side[number + 1 :]:
        if key != side[number][0]:
            return None if _has_dash(node) else key
    return None


def _is_option(node: Node) -> bool:
    return _has_dash(node) and isinstance(node, Scalar) and "=" not in node.value


def _has_dash(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value[:1] == "-"


# -- elements that the merge changed


def _in_places(side: Keyed, made: Keyed, share: float = SAME_PLACE) -> dict[int, Node]:
    """Pair elements of a side with merged elements at the same place.

    Return the elements of the side, keyed by the numbers of the merged elements.
    """
    found: dict[int, Node] = {}
    for s0, s1, m0, m1 in changes([key for key, _ in side], [key for key, _ in made]):
        if s0 == s1 or m0 == m1 or (s1 - s0) * (m1 - m0) > MOST_COMPARISONS:
            continue
        old, new = ([_Content(node) for _, node in gap] for gap in (side[s0:s1], made[m0:m1]))
        table = [
            (_likeness(a, b), -abs(i - j), i, j)
            for i, a in enumerate(old)
            for j, b in enumerate(new)
        ]
        taken: set[int] = set()
        for alike, _, i, j in sorted(table, reverse=True):
            if alike >= share and i not in taken and m0 + j not in found:
                taken.add(i)
                found[m0 + j] = old[i].node
    return found


class _Content:
    """Hold the content of an element, prepared for comparisons with other elements."""

    __slots__ = ("is_text", "leaves", "names", "node", "words")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.leaves = Leaves(node) if isinstance(node, Collection) else None
        self.names = node.index().keys() if isinstance(node, Mapping) else None
        self.is_text = is_block_text(node)
        text = node.value if isinstance(node, Scalar) else node.raw
        self.words = Counter(text.split())


def _likeness(old: _Content, new: _Content) -> float:
    """Return how similar two elements are, from 0 to 1.

    Two mappings are at least SAME_PLACE alike if they have equal keys.
    """
    if old.is_text:  # its header may be lost; a scalar of one line counts as replaced
        is_part = new.is_text and new.words <= old.words
        return max(likeness(old.words, new.words), SAME_PLACE if is_part else 0.0)
    if old.leaves is None or new.leaves is None or type(old.node) is not type(new.node):
        return 0.0
    total = old.leaves.total + new.leaves.total
    share = 2 * old.leaves.shared(new.leaves) / total if total else 1.0
    return max(share, SAME_PLACE) if _is_rest(old, new) else share


def _is_rest(old: _Content, new: _Content) -> bool:
    """Return whether two mappings have the same keys, or the new mapping is a part of the old."""
    if old.names is None or new.names is None or old.leaves is None or new.leaves is None:
        return False
    is_part = new.leaves.total > 0 and old.leaves.shared(new.leaves) == new.leaves.total
    return old.names == new.names or (is_part and new.names <= old.names)


# -- texts of several lines ----------------------------------------------------------------------


def lost_header(made: Node, sides: Nodes) -> bool:
    """Return whether a value is a block scalar on every side, but not in the result.

    A side may also lack the value. Then the words of the text must still follow the key in the
    result.
    """
    there = [side for side in sides if side is not None]
    if (
        not there
        or is_block_text(made)
        or not all(map(is_block_text, there))
        or _is_respelled(made, there)
    ):
        return False
    if len(there) == len(sides):
        return True
    texts = [" ".join(lines_of(side)).split() for side in there]
    return any(words and _reads(made, words) for words in texts)


def _is_respelled(made: Node, sides: list[Node]) -> bool:
    """Return whether a block scalar was rewritten with quotation marks or as one line."""
    if not isinstance(made, Scalar) or not made.raw:
        return False
    if made.style:
        return "\n" in made.value
    folded = (side.value for side in sides if isinstance(side, Scalar) and side.style == ">")
    words = made.value.split()
    return "\n" not in made.raw and any(value.split() == words for value in folded)


def _reads(made: Node, words: list[str]) -> bool:
    """Return whether the words of a text still follow a key, as a value or as comments below."""
    if isinstance(made, Alias):
        return False
    if made.raw:
        line_start = made.text.rfind("\n", 0, made.start) + 1
        is_first = not made.text[line_start : made.start].strip()
        return is_first and made.raw.split() == words
    below = made.text[made.end :].lstrip()
    return below[:1] == "#" and below[: 4 * len(" ".join(words))].split()[: len(words)] == words


def damage_of(made: Node, sides: Nodes) -> tuple[str, int]:
    """Return the damage of a block scalar, and the number of the damaged line or -1.

    The damage is '' if a merge can produce the text.
    """
    blocks = [lines_of(side) for side in sides if side is not None and is_block_text(side)]
    if not is_block_text(made) or not blocks:
        return "", -1
    lines = lines_of(made)
    cut = _cut(lines, blocks) if len(blocks) == len(sides) else ("", -1)
    return cut if cut[0] else _slipped(lines, blocks)


def _start_of_line(text: Scalar, number: int) -> int:
    """Return the offset of a line of a block scalar (see `lines_of`), or of its header for -1."""
    at = text.start
    for line in text.text[text.start : text.end].split("\n"):
        is_header = at == text.start
        if not is_header and line.strip():
            if number == 0:
                return at + len(line) - len(line.lstrip(" "))
            number -= 1
        at += len(line) + 1
    return text.start


def lines_of(node: Node) -> list[str]:
    """Return the lines of a block scalar.

    For a literal scalar these are the lines of the value, for a folded scalar the lines in the
    file.
    """
    assert isinstance(node, Scalar)
    if node.style == "|":
        return _filled(node.value)
    return _dedented(_filled(node.text[node.content : node.end])[1:])


def _filled(text: str) -> list[str]:
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def _dedented(lines: list[str]) -> list[str]:
    column = min((len(line) - len(line.lstrip(" ")) for line in lines), default=0)
    return [line[column:] for line in lines]


def _cut(made: list[str], sides: list[list[str]]) -> tuple[str, int]:
    """Return a message about a line that every side has and that the result lost, or ''.

    Also return the number of the line if it is at another column, or -1.
    """
    tables = [Counter(lines) for lines in sides]
    mine = Counter(made)
    gone = [line for line in tables[0] if mine[line] < least([table[line] for table in tables])]
    if not gone:
        return "", -1
    new = [line for line in mine if not any(line in table for table in tables)]
    bare = {line.strip() for line in gone}
    for line in (line for line in new if line.strip() in bare):
        what = "every side of the merge indents this line differently"
        return f"{what}: {line.strip()[:LINE_CHARACTERS]}", made.index(line)
    if len(gone) <= len(new):  # somebody replaced the lines
        return "", -1
    line = gone[0].strip()[:LINE_CHARACTERS]
    return f"this text lacks a line that every side of the merge has: {line}", -1


def _slipped(made: list[str], sides: list[list[str]]) -> tuple[str, int]:
    """Return a message about a line that moved to another column, or '', and the line's number.

    The neighbours of such a line are the same as on a side.
    """
    known = {line for lines in sides for line in lines}
    around = [_around(lines) for lines in sides]
    what = "one side of the merge indents this line differently"
    for number, (framed, line) in enumerate(zip(_around(made), made, strict=True)):
        if line not in known and any(framed in lines for lines in around):
            return f"{what}: {framed[1][:LINE_CHARACTERS]}", number
    for lines in sides:  # the first line sets the indentation, so that the other lines seem to move
        is_same = len(made) > 1 and _dedented(made[1:]) == _dedented(lines[1:])
        if is_same and made[0].strip() == lines[0].strip() and made not in sides:
            return f"{what}: {made[0][:LINE_CHARACTERS]}", 0
    return "", -1


def _around(lines: list[str]) -> list[tuple[str, str, str]]:
    """Return each line without indentation, together with the lines above and below."""
    framed = ["", *lines, ""]
    return [
        (before, line.strip(), after)
        for before, line, after in zip(framed, lines, framed[2:], strict=False)
    ]
