"""Compare the fields of the three versions with the result, to find broken laws.

If only one side changed a value and the result has this change, the value is skipped. The laws of
leaf, gone and order are checked during the comparison. Counts are collected during the comparison
and checked afterwards.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import Leaves
from kmerge_git.kube.listkeys import ListKeys
from kmerge_git.merge.verify import sites
from kmerge_git.merge.verify.edits_of_both import come_back, repeated
from kmerge_git.merge.verify.sites import (
    RESULT,
    Site,
    Violation,
    bounds,
    by_side,
    disordered,
    follows,
    is_miscounted,
    replaced_twice,
    unsettled,
)
from kmerge_git.tree.nodes import (
    Collection,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    has_lines,
    is_block_text,
)
from kmerge_git.tree.same import canon, meaning, same_node, same_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.merge.verify.sites import Count, Keys, Tables
    from kmerge_git.tree.documents import Document
    from kmerge_git.tree.same import Known, Meaning

    # base, ours, theirs, result
    Nodes = list[Node | None]
    Entries = list[Entry | None]
    Place = tuple[int, Path]  # the number of a document (-1 for none), the path of a collection
    Tally = dict[Place, Count]


UNLIKE = "would differ from the side that changed it"


class Fields:
    """Compare all fields of the versions and the result once; collect the violations and counts."""

    __slots__ = (
        *("exempt", "found", "gained", "has_conflicts", "known", "lost", "perhaps", "settled"),
        "tallies",
    )

    def __init__(self, *, has_conflicts: bool) -> None:
        self.has_conflicts = has_conflicts
        self.settled: set[Path] = set()  # decided paths in the current document
        self.found: list[Violation] = []
        self.exempt: set[str] = set()  # lines that a policy or the favoured side decided
        self.known: Known = {}
        self.tallies = Tallies()
        self.perhaps = (
            Tallies()
        )  # the entries that only base has, because each side may have renamed them differently

    def report(self, law: str, site: Site, what: str, which: object = None) -> None:
        """Add a violation."""
        self.found.append(Violation(law, site.number, site.path, what, (site.path, which)))

    # -- entries with a path

    def children(self, tables: Tables, site: Site, inner: Callable[[Hashable], Site]) -> None:
        """Compare the entries of mappings, of lists with keys, or of files, key by key."""
        base, ours, theirs = (table.keys() for table in tables[:RESULT])
        lost = [base - ours, base - theirs]
        both_lost, both_gained = base - ours - theirs, (ours & theirs) - base
        rows: dict[Hashable, Entries] = {
            key: [table.get(key) for table in tables] for table in tables for key in table
        }
        for key in rows if site.entire else _unsettled(rows):
            at = rows[key]
            there = [entry is not None for entry in at]
            if site.is_shared and there == [True, False, False, False] and not both_gained:
                # Both sides deleted the entry, or each side renamed it differently in a conflict.
                self.aside(at, inner(key), site, key)
                continue
            # The fields of a renamed entry come from its old key.
            renamed = both_lost if there[1] and there[2] else lost[0 if there[1] else 1]
            pure = site.pure and (there[0] or not renamed)
            fresh = site.fresh or (pure and there[:RESULT] == [False, True, True])
            self.entry(at, inner(key).but(pure=pure, fresh=fresh), site, key)

    def aside(self, at: Entries, site: Site, around: Site, key: Hashable) -> None:
        """Count an entry that only base has in `perhaps`, because sides may have renamed it."""
        if self.has_conflicts:
            kept, self.tallies = self.tallies, self.perhaps
            self.entry(at, site, around, key)
            self.tallies = kept

    def entry(self, at: Entries, site: Site, around: Site, key: Hashable) -> None:
        """Compare the versions of a mapping's entry, of an element with a key, or of a document."""
        nodes = _values(at)
        if site.path in self.settled:
            self.leave_out(at)
            return
        there = [node is not None for node in nodes]
        parts = sites.parts(key)
        for part in parts:
            self.tallies.count(around, part, [int(is_there) for is_there in there], site.fresh)
        if site.is_shared:
            law, what = _presence(nodes, is_one=len(parts) == 1)
            if law:
                self.report(law, around, f"`{sites.shown(key)}` {what}")
        is_shared = (
            site.is_shared and there[RESULT] and (all(there) or (site.pure and not there[0]))
        )
        site = site.but(is_shared=is_shared, entire=site.entire or not all(there[:RESULT]))
        self.value(nodes, site, around, sites.shown(key))

    def value(self, nodes: Nodes, site: Site, around: Site, name: str) -> None:
        """Compare the values at one place; a version or the result may have no value."""
        kinds = {type(node) for node in nodes[1:] if node is not None}
        if site.is_shared and (len(kinds) > 1 or not kinds <= {Mapping, Sequence}):
            what = _leaf(nodes)
            if what:
                made = nodes[RESULT]
                self.report("leaf", around, f"`{name}` {what}", made and canon(made))
            site = site.but(is_shared=False)
        if _is_emptied(nodes) and site.where.list_rule().kind != "set":
            what = f"`{name}` would be empty, although neither side emptied it"
            self.report("emptied", site, what)
        mappings = [node if isinstance(node, Mapping) else None for node in nodes]
        if any(mappings):
            self.mapping(mappings, site)
        lists = [node if isinstance(node, Sequence) else None for node in nodes]
        if any(lists):
            self.sequence(lists, site)
        self.leaves(nodes, site, around)

    def leaves(self, nodes: Nodes, site: Site, around: Site) -> None:
        """Count the values at a place, but not texts, because these may be merged line by line."""
        if any(node is not None and is_block_text(node) for node in nodes) or all(
            map(has_lines, nodes[1:RESULT])
        ):
            return
        for side, node in enumerate(nodes):
            if isinstance(node, Scalar) and "\n" not in node.value:
                self.tallies.value(site, around, meaning(node), side)

    def mapping(self, nodes: list[Mapping | None], site: Site) -> None:
        """Compare mappings key by key; in a pattern, `*` is a key that may be renamed."""
        where = site.where.at(next(node for node in nodes if node is not None))
        tables: Tables = [dict(node.index().items()) if node is not None else {} for node in nodes]

        is_whole = None not in nodes[:RESULT]

        def inner(key: Hashable) -> Site:
            entries = [table.get(key) for table in tables]
            may_be_renamed = None in entries[:RESULT] and any(
                isinstance(entry.value, Collection) for entry in entries if entry is not None
            )
            pattern = ".*" if is_whole and may_be_renamed else f".{key}"
            return site.below(str(key), pattern, where.child(str(key)))

        self.children(tables, site.but(where=where), inner)

    def sequence(self, nodes: list[Sequence | None], site: Site) -> None:
        """Compare lists by the keys of their elements, or by content if there are no keys."""
        rule = site.where.list_rule()
        lists = [[*node.entries] if node is not None else [] for node in nodes]
        laws = site.is_shared and None not in nodes[1:]
        if laws and lists[0]:
            from kmerge_git.merge.verify.reference_law import turned  # few lists are judged

            pair = turned(lists)
            if pair:
                self.report(
                    "order", site, f"`{pair[0]}` refers to `{pair[1]}`, but would come before it"
                )
        # the keys of the result count only if the inputs are empty
        list_keys = ListKeys(rule, lists[:RESULT] if any(lists[:RESULT]) else lists)
        tables = sites.tables(lists, list_keys)
        if tables is None:
            self.unkeyed(lists, site, rule, laws=laws)
            return
        items = site.where.items()
        self.children(tables, site, lambda key: site.below(list_keys.step(key), "[]", items))
        keys = [list(table) for table in tables]
        if laws and len(keys[RESULT]) < len(lists[RESULT]):
            self.report("count", site, "an element would appear twice", len(lists[RESULT]))
        swapped = disordered(*keys) if laws and rule.ordered else ()
        if swapped:
            self.report("order", site, f"{sites.named(swapped)} would be in the wrong order")
        both = replaced_twice(*keys) if laws else ()
        if both:
            names = sites.named(sorted(both, key=sites.shown))  # the same whichever side is ours
            self.report("count", site, f"{names} would both replace the same element")

    # -- elements without a path

    def unkeyed(self, lists: list[list[Entry]], site: Site, rule: ListRule, *, laws: bool) -> None:
        """Check the number, the order and the fields of elements without keys."""
        keys: list[Keys] = [[sites.what(e.value, self.known) for e in entries] for entries in lists]
        counts = by_side(keys)
        self.emptied_inside(lists, site)
        self.texts_inside(lists, site)
        if laws:
            from kmerge_git.merge.verify.unkeyed_laws import UnkeyedElements

            elements = UnkeyedElements(lists, keys, counts, site, self.compared)
            are_lawful = elements.are_lawful(rule, has_conflicts=self.has_conflicts)
            self.found += elements.found
            if are_lawful:
                return  # every element is right, so nothing can come from another place
        elif site.is_shared and not lists[0] and keys[RESULT] != (keys[1] or keys[2]):
            self.report(
                "leaf", site, "an added list would differ from the side that added it", tuple(keys)
            )
        self.elements(lists, keys, counts if site.entire else unsettled(counts), site)

    def emptied_inside(self, lists: list[list[Entry]], site: Site) -> None:
        """Check that no element has an empty collection where no version has one."""
        texts = [entry.value.raw for entry in lists[RESULT]]
        if not all(lists) or not any("{}" in text or "[]" in text for text in texts):
            return
        *inputs, made = (_empty_places(entries) for entries in lists)
        new = made.difference(*inputs)
        if new:
            name = ".".join(sorted(new)[0]) or "an element"
            what = f"`{name}` would be empty, although neither side emptied it"
            self.report("emptied", site, what)

    def texts_inside(self, lists: list[list[Entry]], site: Site) -> None:
        """Check the texts of several lines that are at one index in all versions."""
        if len(set(map(len, lists))) > 1:
            return
        for row in zip(*lists, strict=True):
            nodes: Nodes = [entry.value for entry in row]
            if all(map(has_lines, nodes)) and not follows(nodes, _same):
                what = _of_lines(nodes)
                if what:
                    self.report("leaf", site, f"a text {what}")

    def elements(
        self,
        lists: list[list[Entry]],
        keys: list[Keys],
        differing: dict[Hashable, Count],
        site: Site,
    ) -> None:
        """Count the values of elements without keys, wherever they are in the file."""
        for key, count in differing.items():
            if sites.is_leaf(key):
                self.tallies.count(site, key, count, site.fresh)
        if site.fresh:  # the common part of both additions counts as base
            lists, keys = [lists[1], *lists[1:]], [keys[1], *keys[1:]]
            differing = {key: [min(count[1:3]), *count[1:]] for key, count in differing.items()}
        inner = site.elements()
        for side, entries in enumerate(lists):
            for entry, key in zip(entries, keys[side], strict=True):
                is_value = sites.is_leaf(key) or has_lines(entry.value)
                if key in differing and differing[key][side] and not is_value:
                    self.alone(entry.value, side, inner, site)

    def compared(self, nodes: Nodes, site: Site, around: Site, name: str) -> list[Violation]:
        """Return the laws that the values at a place break, and report nothing."""
        trial = Fields(has_conflicts=self.has_conflicts)
        trial.value(nodes, site, around, name)
        return trial.found

    def alone(self, node: Node, side: int, site: Site, around: Site) -> None:
        """Count the values of an element or document that is not paired with other versions."""
        nodes: Nodes = [None, None, None, None]
        nodes[side] = node
        self.value(nodes, site.but(is_shared=False), around, "")

    def judge(self, made: list[Document]) -> None:
        """Check the counts of the whole file, and report each place once.

        Also check that each value that only one side added occurs somewhere in the result.
        """
        reported = {(v.document, v.path) for v in self.found}
        for which, place, what in self.tallies.wrong(self.perhaps):
            if place not in reported:
                self.found.append(Violation("count", *place, what, which))
        lost = [*self.tallies.lost(self.perhaps)]
        documents = made if lost else ()
        there = {value for document in documents for _, value in Leaves(document.root).counts}
        for value, place in lost:
            if value not in there:
                what = f"`{value[1]}`, which one side added, would be lost"
                self.found.append(Violation("leaf", *place, what))

    def leave_out(self, at: Iterable[Entry | None]) -> None:
        """Remember the lines of an entry that a policy or the favoured side decided.

        The laws for lines are not checked for these lines.
        """
        for entry in at:
            if entry is not None:
                lines = entry.value.text[entry.lead : entry.end].split("\n")
                self.exempt.update(line.strip() for line in lines)


def _unsettled(rows: dict[Hashable, Entries]) -> list[Hashable]:
    """Return the keys whose entries must be compared.

    If the result has the change of the only side that changed an entry, or the same change of both
    sides, the entry is skipped. But an added or deleted key is compared if it may have been
    renamed.
    """
    left = [key for key, at in rows.items() if not _cancels_out(_values(at))]
    agreed = {key for key in left if _replaced(_values(rows[key]))}
    gone = {key for key in left if rows[key][0] and not any(rows[key][1:])}
    if not gone or len(agreed) == len(gone):  # both sides replaced the same keys alike
        left = [key for key in left if key not in agreed and key not in gone]
    moved = any(None in rows[key][:RESULT] for key in left)
    known = set(left)
    return [key for key, at in rows.items() if key in known or (moved and None in at[:RESULT])]


def _cancels_out(at: Nodes) -> bool:
    """Return whether the result has the change of one side, or the same change of both sides."""
    return follows(at, _same) or (
        None not in at and _same(at[1], at[2]) and _same(at[1], at[RESULT])
    )


def _replaced(at: Nodes) -> bool:
    """Return whether both sides added the same value, and the result has this value."""
    return at[0] is None and at[1] is not None and _same(at[1], at[2]) and _same(at[1], at[RESULT])


def _values(at: Entries) -> Nodes:
    return [entry.value if entry is not None else None for entry in at]


def _same(a: Node | None, b: Node | None) -> bool:
    """Return whether two values are equal: compare block texts exactly, other values by meaning."""
    if a is None or b is None:
        return a is b
    if isinstance(a, Collection) and isinstance(b, Collection) and not (a.flow and b.flow):
        return same_text(a, b)
    return same_node(a, b)


def _presence(at: Nodes, *, is_one: bool) -> tuple[str, str]:
    """Return the law that is broken because a value is present or absent, and a message.

    If no law is broken, return two empty texts. A key made of several fields may be new in the
    result, because each side may have changed one of the fields.
    """
    base, ours, theirs, made = at
    sides = [side for side in (ours, theirs) if side is not None]
    if made is None:
        if base is not None and len(sides) == 2:
            return "leaf", "would be lost"
        return (
            ("leaf", "was added, but would be lost")
            if sides and base is None and is_one
            else ("", "")
        )
    if not sides:
        if base is not None:
            return "gone", "would be kept, although both sides deleted it"
        return ("count", "would be added, although neither side has it") if is_one else ("", "")
    if len(sides) == 1 and base is not None and same_node(base, sides[0]):
        return "gone", "would be kept, although one side deleted it"
    return "", ""


def _empty_places(entries: list[Entry]) -> set[tuple[str, ...]]:
    """Return the paths of the empty collections in the elements of a list."""
    kinds = (Mapping.__name__, Sequence.__name__)
    return {
        path for entry in entries for path, value in Leaves(entry.value).counts if value in kinds
    }


def _is_emptied(at: Nodes) -> bool:
    """Return whether both sides together took everything out of a collection."""
    *inputs, made = at
    return (
        isinstance(made, Collection)
        and not made.entries
        and all(isinstance(node, Collection) and node.entries for node in inputs)
    )


def _leaf(at: Nodes) -> str:
    """Return what is wrong with a scalar value in the result, or ''."""
    base, ours, theirs, made = at
    if ours is None or theirs is None:  # only one side added the value
        return "" if _same(ours or theirs, made) else "would differ from what was added"
    if _same(ours, theirs) or _same(base, theirs):
        return "" if _same(ours, made) else UNLIKE
    if _same(base, ours):
        return "" if _same(theirs, made) else UNLIKE
    if all(map(has_lines, at[1:])):  # merged by lines
        return _of_lines(at)
    return "was changed differently on both sides"


def _of_lines(at: Nodes) -> str:
    """Return what is wrong with a text that was merged line by line, or ''."""
    texts = [node.value.split("\n") if isinstance(node, Scalar) else [] for node in at]
    twice = repeated(texts)
    if twice:
        return f"would contain `{twice[0]}` twice, because both sides added it"
    back = come_back(texts)
    return (
        f"would contain `{back[0]}`, which one side moved and the other side deleted"
        if back
        else ""
    )


class Tallies:
    """Count keys by the pattern of their path, and values by the name of their field."""

    __slots__ = ("keys", "values")

    def __init__(self) -> None:
        self.keys: dict[tuple[str, Hashable], Tally] = {}
        self.values: dict[tuple[str, Meaning], Tally] = {}

    def count(self, site: Site, key: Hashable, count: Count, is_fresh: bool) -> None:
        """Add how often a key occurs in a collection of base, ours, theirs and the result."""
        if is_fresh:  # the common part of both additions counts as base
            count = [min(count[1], count[2]), *count[1:]]
        tally = self.keys.setdefault((site.pattern, key), {})
        known = tally.setdefault((site.number, site.path), [0, 0, 0, 0])
        for side, number in enumerate(count):
            known[side] += number

    def one(self, site: Site, key: Hashable, side: int) -> None:
        """Count one occurrence of a key in base, ours, theirs or the result."""
        self.count(site, key, [int(side == which) for which in range(4)], False)

    def forget_parts(self, site: Site) -> None:
        """Remove the counts of the parts of a key that were counted at a site."""
        for pattern, key in [*self.keys]:
            if pattern == site.pattern and isinstance(key, tuple):
                del self.keys[pattern, key]

    def value(self, site: Site, around: Site, value: Meaning, side: int) -> None:
        """Count one occurrence of a value in base, ours, theirs or the result."""
        tally = self.values.setdefault((site.pattern.rpartition(".")[2], value), {})
        tally.setdefault((around.number, around.path), [0, 0, 0, 0])[side] += 1

    def wrong(self, perhaps: Tallies) -> Iterator[tuple[tuple[str, Hashable], Place, str]]:
        """Yield the keys with a wrong count in the result, each with its place and a message.

        `perhaps` counts further keys that base may have.
        """
        for which, tally in self.keys.items():
            base, ours, theirs, made = _sums(tally)
            more = _sums(perhaps.keys.get(which, {}))[0]
            allowed = [bounds(base, ours, theirs), bounds(base + more, ours, theirs)]
            if not any(low <= made <= high for low, high in allowed):
                yield which, _place(tally), sites.miscounted(which[1], made, *allowed[0])

    def lost(self, perhaps: Tallies) -> Iterator[tuple[Meaning, Place]]:
        """Yield the values that only one side added and the result lacks, each with its place.

        A value in `perhaps` may come from base, so it is not counted as added.
        """
        for (name, value), tally in self.values.items():
            base, ours, theirs, made = _sums(tally)
            if base or made or (ours > 0) == (theirs > 0):
                continue
            if (name, value) not in perhaps.values:
                yield value, _place(tally)


def _sums(tally: Tally) -> Count:
    return [sum(count[side] for count in tally.values()) for side in range(4)]


def _place(tally: Tally) -> Place:
    """Return the place whose count is most likely wrong; prefer a place in the result."""
    wrong = [place for place, count in tally.items() if is_miscounted(count)]
    in_result = [place for place in wrong or tally if place[0] >= 0]
    return next((p for p in in_result if tally[p][RESULT]), in_result[0] if in_result else (-1, ()))
