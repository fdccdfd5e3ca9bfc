"""The referee's walk through the fields of three versions and of the result, side by side.

What one side alone changed, and the result has as that side, cancels out and is not walked. The
laws of leaf, gone and order are looked at on the way; counts are gathered and judged at the end.
"""

from __future__ import annotations

from kmerge_git.kube.listkeys import ListRule, element_key, field_text, infer_key, step_of
from kmerge_git.merge.verify.sequences import allowed, bounds, disordered, replaced_twice
from kmerge_git.merge.verify.spots import Opened, Spot, Violation
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import canon, same_node
from kmerge_git.tree.scalars import meaning
from kmerge_git.tree.spans import is_block_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from kmerge_git.kube.fieldpath import Path

    # base, ours, theirs, result
    Nodes = list[Node | None]
    Entries = list[Entry | None]
    Tables = list[dict[Hashable, Entry]]
    # (document, path of the collection) -> how often in each of the four
    Tally = dict[tuple[int, Path], list[int]]

RESULT = 3
UNLIKE = "is not what the side that changed it made it"


class Fields:
    """One walk: the violations found, and the counts that are judged when it is over."""

    __slots__ = ("counts", "exempt", "found", "opened", "settled", "values")

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.settled: set[Path] = set()  # in the document that is walked
        self.found: list[Violation] = []
        self.exempt: set[str] = set()  # the lines of what was settled
        self.counts: dict[tuple[str, Hashable], Tally] = {}
        self.values: dict[Hashable, Tally] = {}

    def tell(self, law: str, spot: Spot, what: str) -> None:
        """Note a violation."""
        self.found.append(Violation(law, spot.number, spot.path, what))

    # -- what has a path

    def children(self, tables: Tables, spot: Spot, inner: Callable[[Hashable], Spot]) -> None:
        """What stands under keys: entries of mappings, keyed elements, documents."""
        base, ours, theirs, _ = tables
        lost = [any(key not in side for key in base) for side in (ours, theirs)]
        gained = [any(key not in base for key in side) for side in (ours, theirs)]
        both_lost = any(key not in ours and key not in theirs for key in base)
        for key in dict.fromkeys(key for table in tables for key in table):
            at: Entries = [table.get(key) for table in tables]
            there = [entry is not None for entry in at]
            if spot.told and there == [True, False, False, False] and not all(gained):
                continue  # deleted by both: no side can have renamed it
            # the fields of what may have been renamed come from elsewhere, too
            renamed = both_lost if there[1] and there[2] else lost[0 if there[1] else 1]
            pure = spot.pure and (there[0] or not renamed)
            fresh = spot.fresh or (pure and there[:RESULT] == [False, True, True])
            self.entry(at, inner(key).but(pure=pure, fresh=fresh), spot, key)

    def entry(self, at: Entries, spot: Spot, around: Spot, key: Hashable) -> None:
        """An entry of a mapping, a keyed element, a document."""
        nodes: Nodes = [entry.value if entry is not None else None for entry in at]
        made = at[RESULT]
        if spot.path in self.settled:
            self.leave_out(at)
            return
        if _follows(nodes) or (None not in nodes and _agree(nodes)):
            return
        there = [node is not None for node in nodes]
        parts = _parts(key)
        for part in parts:
            self.count(around, part, [int(is_there) for is_there in there], spot.fresh)
        told = spot.told
        if made is not None and self.opened.touches(made.line, made.end):
            is_leaf = not all(isinstance(node, Collection) for node in nodes if node is not None)
            told = told and not is_leaf and not self.opened.covers(made)
        elif told and not self.opened.holds(_shown(key)):
            law, what = _presence(nodes, is_one=len(parts) == 1)
            if law:
                self.tell(law, around, f"`{_shown(key)}` {what}")
        told = told and there[RESULT] and (all(there) or (spot.pure and not there[0]))
        self.value(nodes, spot.but(told=told), around, _shown(key))

    def value(self, nodes: Nodes, spot: Spot, around: Spot, name: str) -> None:
        """What stands at one place in some of the four."""
        kinds = {_kind(node) for node in nodes[1:] if node is not None}
        if spot.told and (len(kinds) > 1 or "leaf" in kinds):
            what = _leaf(nodes)
            if what:
                self.tell("leaf", around, f"`{name}` {what}")
            spot = spot.but(told=False)
        mappings = [node if isinstance(node, Mapping) else None for node in nodes]
        if any(mappings):
            self.mapping(mappings, spot)
        lists = [node if isinstance(node, Sequence) else None for node in nodes]
        if any(lists):
            self.sequence(lists, spot)
        for side, node in enumerate(nodes):
            if isinstance(node, Scalar) and "\n" not in node.value:
                known = spot.pattern.rpartition(".")[2], meaning(node)
                _add(self.values.setdefault(known, {}), around, side, 1)

    def mapping(self, nodes: list[Mapping | None], spot: Spot) -> None:
        """Key by key; a key that may have been renamed is no part of a pattern."""
        spot = spot.within(next(node for node in nodes if node is not None))
        tables: Tables = [{**node.index()} if node is not None else {} for node in nodes]

        is_whole = None not in nodes[:RESULT]

        def inner(key: Hashable) -> Spot:
            entries = [table.get(key) for table in tables]
            may_be_renamed = None in entries[:RESULT] and any(
                isinstance(entry.value, Collection) for entry in entries if entry is not None
            )
            return spot.key(str(key), "*" if is_whole and may_be_renamed else str(key))

        self.children(tables, spot, inner)

    def sequence(self, nodes: list[Sequence | None], spot: Spot) -> None:
        """By key where the list has one, else by what the elements are."""
        rule = spot.where.list_rule()
        lists = [[*node.entries] if node is not None else [] for node in nodes]
        made = nodes[RESULT]
        is_open = made is not None and self.opened.touches(made.start, made.end)
        laws = spot.told and not is_open and None not in nodes[1:]
        tables = _tables(lists, rule)
        if tables is None:
            self.unkeyed(lists, spot, rule, laws=laws)
            return
        self.children(tables, spot, lambda key: spot.element(step_of(key, rule)))
        keys = [list(table) for table in tables]
        if laws and len(keys[RESULT]) < len(lists[RESULT]):
            self.tell("count", spot, "an element stands twice")
        if laws and rule.ordered:
            self.order(keys, spot)
        if laws:
            both = replaced_twice(*keys)
            if both:
                self.tell("count", spot, f"{_named(both)} both replace what is gone")

    # -- what has none

    def unkeyed(
        self, lists: list[list[Entry]], spot: Spot, rule: ListRule, *, laws: bool
    ) -> None:
        """Elements without keys: how many of each, their order, and what is in those that differ."""
        keys = [[_canon(entry.value) for entry in entries] for entries in lists]
        counts = _counted(keys)
        differing = {key: count for key, count in counts.items() if not _follows_count(count)}
        if not differing and laws and rule.bag:
            return
        for key, count in differing.items():
            if key[0] != "leaf":
                continue
            self.count(spot, key, count, spot.fresh)
            low, high = allowed(key, *keys[:RESULT])
            if laws and not low <= count[RESULT] <= high and not self.opened.holds(_shown(key)):
                self.tell("count", spot, _miscounted(_shown(key), count[RESULT], low, high))
        if laws:
            what = _unexplained([c for key, c in counts.items() if key[0] != "leaf"])
            if what:
                self.tell("count", spot, what)
            if rule.kind != "set" and not rule.bag:
                self.order(keys, spot)
        inner = spot.elements()
        for side, entries in enumerate(lists):
            for entry, key in zip(entries, keys[side], strict=True):
                if key in differing and key[0] != "leaf":
                    nodes: Nodes = [None, None, None, None]
                    nodes[side] = entry.value
                    self.value(nodes, inner, spot, "")

    def order(self, keys: list[list[Hashable]], spot: Spot) -> None:
        """The law of order, where it means something."""
        pair = disordered(*keys)
        if pair:
            self.tell("order", spot, f"{_named(pair)} stand the other way round")

    # -- counts

    def count(self, spot: Spot, key: Hashable, count: list[int], is_fresh: bool) -> None:
        """Note how often a key stands in a collection of each of the four."""
        tally = self.counts.setdefault((spot.pattern, key), {})
        if is_fresh:
            count = [min(count[1], count[2]), *count[1:]]
        for side, number in enumerate(count):
            _add(tally, spot, side, number)

    def leave_out(self, at: Iterable[Entry | None]) -> None:
        """Remember the lines of something that a policy or the favourite side settled."""
        for entry in at:
            if entry is not None:
                lines = entry.value.text[entry.lead : entry.end].split("\n")
                self.exempt.update(line.strip() for line in lines)

    def judge(self) -> None:
        """Look at what was counted all over the file."""
        told = {(v.document, v.path) for v in self.found}
        for (_, key), tally in self.counts.items():
            base, ours, theirs, made = (sum(c[side] for c in tally.values()) for side in range(4))
            low, high = bounds(base, ours, theirs)
            if low <= made <= high or self.opened.holds(_shown(key)):
                continue
            number, path = _place(tally)
            if (number, path) not in told:
                what = _miscounted(_shown(key), made, low, high)
                self.found.append(Violation("count", number, path, what))

    def lost_values(self) -> list[tuple[Hashable, tuple[int, Path]]]:
        """Values that one side alone brought and the result seems not to have, and where."""
        lost = []
        for key, tally in self.values.items():
            base, ours, theirs, made = (sum(c[side] for c in tally.values()) for side in range(4))
            if not base and not made and (ours > 0) != (theirs > 0):
                lost.append((key, _place(tally)))
        return lost


def _follows(at: Nodes) -> bool:
    """Whether at most one side changed a value, and the result is as that side has it."""
    base, ours, theirs, made = at
    if _same(base, theirs):
        return _same(ours, made)
    return _same(base, ours) and _same(theirs, made)


def _agree(at: Nodes) -> bool:
    """Whether both sides made the same of a value, and the result has it."""
    return _same(at[1], at[2]) and _same(at[1], at[RESULT])


def _same(a: Node | None, b: Node | None) -> bool:
    if a is None or b is None:
        return a is b
    return a is b or same_node(a, b)


def _follows_count(count: list[int]) -> bool:
    base, ours, theirs, made = count
    return (base == theirs and ours == made) or (base == ours and theirs == made)


def _presence(at: Nodes, *, is_one: bool) -> tuple[str, str]:
    """The law that is broken by something being there, or not, and how; or two empty texts.

    A key of several fields may be new because each side changed one of them.
    """
    base, ours, theirs, made = at
    sides = [side for side in (ours, theirs) if side is not None]
    if made is None:
        if base is not None and len(sides) == 2:
            return "leaf", "is lost"
        return ("leaf", "was added and is lost") if sides and base is None and is_one else ("", "")
    if not sides:
        if base is not None:
            return "gone", "is there, and both sides deleted it"
        return ("count", "is there, and neither side has it") if is_one else ("", "")
    if len(sides) == 1 and base is not None and same_node(base, sides[0]):
        return "gone", "is there, and one side deleted it"
    return "", ""


def _leaf(at: Nodes) -> str:
    """What is wrong with a value of the result where one side alone has the say, or nothing."""
    base, ours, theirs, made = at
    if ours is None or theirs is None:  # then it is new, on one side
        return "" if _same(ours or theirs, made) else "is not what was added"
    if _same(ours, theirs) or _same(base, theirs):
        return "" if _same(ours, made) else UNLIKE
    if _same(base, ours):
        return "" if _same(theirs, made) else UNLIKE
    if all(node is not None and is_block_text(node) for node in at[1:]):
        return ""  # merged by lines
    return "was changed on both sides"


def _kind(node: Node) -> str:
    if isinstance(node, Mapping):
        return "mapping"
    return "sequence" if isinstance(node, Sequence) else "leaf"


def _canon(node: Node) -> tuple[str, Hashable]:
    """What an element is, and whether it has a name for people."""
    return ("leaf", canon(node)) if isinstance(node, Scalar) else ("", canon(node))


def _tables(lists: list[list[Entry]], rule: ListRule) -> Tables | None:
    """The elements by key; None: there is none, or an input repeats it. Of a repetition in the
    result the first one counts."""
    infer = infer_key(lists[:RESULT]) if rule.kind == "infer" else None
    if rule.kind == "atomic" or (rule.kind == "infer" and infer is None):
        return None
    tables: Tables = []
    for side, entries in enumerate(lists):
        table: dict[Hashable, Entry] = {}
        for entry in entries:
            node = entry.value
            key = field_text(node, infer) if infer is not None else element_key(node, rule)
            if key is None or (key in table and side < RESULT):
                return None
            table.setdefault(key, entry)
        tables.append(table)
    return tables


def _counted(keys: list[list[tuple[str, Hashable]]]) -> dict[tuple[str, Hashable], list[int]]:
    counts: dict[tuple[str, Hashable], list[int]] = {}
    for side, found in enumerate(keys):
        for key in found:
            counts.setdefault(key, [0, 0, 0, 0])[side] += 1
    return counts


def _unexplained(counts: list[list[int]]) -> str:
    """What is wrong with the elements of a list without keys that are collections; or nothing.

    Two versions of one element may have become a third: each of them is gone for one that is new.
    """
    made = sum(count[RESULT] for count in counts if not any(count[:RESULT]))
    new = [0, 0, 0]
    short = [0, 0, 0]
    for count in counts:
        base, ours, theirs, there = count
        low, high = bounds(base, ours, theirs)
        if there > high and any(count[:RESULT]):
            return "an element stands there too often"
        if there >= low:
            for side in (1, 2):
                new[side] += there if count[side] > base else 0
        elif ours <= base and theirs <= base:
            return "an element is lost"
        else:
            for side in (1, 2):
                short[side] += low - there if count[side] > base else 0
    if short[1] > made + new[2] or short[2] > made + new[1]:
        return "an element that one side added or changed is lost"
    return "an element comes from no side" if made > min(short[1:]) else ""


def _parts(key: Hashable) -> tuple[Hashable, ...]:
    """A key of several fields counts field by field: each side may change one of them."""
    if isinstance(key, tuple) and key[:1] != ("leaf",) and len(key) > 1:
        return tuple(enumerate(key))
    return (key,)


def _add(tally: Tally, spot: Spot, side: int, number: int) -> None:
    tally.setdefault((spot.number, spot.path), [0, 0, 0, 0])[side] += number


def _place(tally: Tally) -> tuple[int, Path]:
    """The place where a count is most likely to be wrong."""
    wrong = []
    for place, (base, ours, theirs, made) in tally.items():
        low, high = bounds(base, ours, theirs)
        if not low <= made <= high:
            wrong.append(place)
    return next((place for place in wrong or tally if place[0] >= 0), (-1, ()))


def _miscounted(name: str, made: int, low: int, high: int) -> str:
    wanted = f"{low}" if low == high else f"{low} to {high}"
    return f"`{name}` would stand there {made} times, not {wanted}"


def _shown(key: Hashable) -> str:
    """A key for people."""
    while isinstance(key, tuple) and key:
        texts = [part for part in key if isinstance(part, str) and part not in ("leaf", "str")]
        key = texts[-1] if key[0] != "leaf" and texts and isinstance(key[-1], str) else key[-1]
    return str(key)


def _named(pair: Iterable[Hashable]) -> str:
    return " and ".join(f"`{_shown(key)}`" for key in pair)
