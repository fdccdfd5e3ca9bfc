"""Walk through three trees of entries, values, mappings and lists, and plan each place.

The walk is the same for all rules. If all versions have a value, three comparisons come first: if
theirs equals base, take ours; if ours equals base, take theirs; if ours equals theirs, take ours.
The rule set (see `rules`) is asked only after that; a document with instructions (`Live`) is asked
earlier. A plan of None means that the rule set or a person decides the whole place.
"""

from __future__ import annotations

from kmerge_git.errors import RepeatedKey
from kmerge_git.merge.decide import block_texts, keyed, unkeyed
from kmerge_git.merge.decide.comments import (
    foot_lines,
    has_own_comment,
    head_lines,
    lead_lines,
    may_lose_comments,
    may_part,
    merged_tail,
)
from kmerge_git.merge.decide.rules import BY_ELEMENTS, Place, shared_out
from kmerge_git.merge.plan import Build, Item, Keep, Plan, Take, Why, keeps_tail
from kmerge_git.merge.three import Three, under, whose, whose_by
from kmerge_git.tree.nodes import (
    Collection,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    after,
    key_text,
    properties,
)
from kmerge_git.tree.same import is_undecided, same_bare, same_entry_text, same_lines, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import TypeVar

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.merge.decide.floating_comments import FloatingComments
    from kmerge_git.merge.decide.rules import Notes, Riddle, Rules
    from kmerge_git.merge.plan import Doubt, Journal

    T = TypeVar("T")
    C = TypeVar("C", bound=Collection)


class Walk:
    """Walk under a rule set, and write the decisions into the journal."""

    __slots__ = ("doubts", "journal", "opened", "rules")

    def __init__(
        self, rules: Rules, journal: Journal, doubts: dict[Path, Doubt] | None = None
    ) -> None:
        self.rules = rules
        self.journal = journal
        self.doubts = doubts or {}  # the places without a certain merge
        # the places that a doubt opens, and the places around them
        opened = [path for path, doubt in self.doubts.items() if doubt.opens]
        self.opened = {path[:size] for path in opened for size in range(len(path) + 1)}

    def trial(self) -> Walk:
        """Return the same walk with a new journal, for decisions that may be dropped."""
        return Walk(self.rules, self.journal.trial(), self.doubts)

    def noted(self, answer: tuple[T, Notes]) -> T:
        """Write down the notes of a rule set's answer, and return the answer."""
        decision, notes = answer
        if notes:
            self.journal.write(notes)
        return decision

    # -- an entry of a mapping, an element of a list

    def entry(self, at: Three[Entry | None], place: Place) -> Item | None:
        """Decide one entry; return None if the result does not have the entry."""
        base, ours, theirs = at.base, at.ours, at.theirs
        instruction = place.live.instructed(at, place) if place.live is not None else None
        if instruction is not None:
            return self.noted(instruction)
        if ours is None or theirs is None:
            if place.path in self.opened and place.path in self.doubts:
                return self.clash_of_entries(at, self.doubts[place.path].why, place)
            return self.noted(self.rules.alone(at, place))
        if place.path in self.opened and not same_entry_text(ours, theirs):
            return self.both(at, place)
        if not (place.live and place.live.enters(ours.value, theirs.value)):
            if same_entry_text(ours, theirs) or (base and same_entry_text(base, theirs)):
                return Item(Keep(ours.value), ours, theirs, place.path)
            if base and same_entry_text(base, ours):
                if self.rules.stops and same_bare(base, theirs):
                    return Item(Keep(ours.value), ours, theirs, place.path)
                self.journal.write((self.rules.took(ours.value, theirs.value, place),))
                taken = Take(theirs.value, theirs)
                return Item(taken, None, theirs, place.path, base=base, replaces=ours)
        return self.both(at, place)

    def both(self, at: Three[Entry | None], place: Place) -> Item | None:
        """Decide an entry that both sides have with different lines."""
        plan = self.node(at.map(lambda e: e.value if e else None), place, at.theirs)
        if plan is None:
            plan = self.noted(self.rules.winner(at, place))
        if plan is None:
            why = Why.BOTH_CHANGED if at.base else Why.BOTH_ADDED
            doubt = self.doubts.get(place.path)
            return self.clash_of_entries(at, doubt.why if doubt is not None else why, place)
        return self.with_plan(plan, at, place)

    def with_plan(self, plan: Plan, at: Three[Entry | None], place: Place) -> Item | None:
        """Decide the comments and the key around a value that both sides have."""
        ours, theirs = at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller's case
        tails = at.map(lambda e: after(e) if e else "")
        follows: str | None = None
        if keeps_tail(plan, ours, theirs):
            follows, clash = self.rules.tail(tails, plan)
            if clash:
                follows = merged_tail(at)
                clash = follows is None
        else:  # our own comment has no place behind the other side's value
            clash = has_own_comment(tails if isinstance(plan, Take) else tails.swapped())
        if clash:
            return self.clash_of_entries(at, Why.COMMENT, place)
        return Item(
            plan,
            ours,
            theirs,
            place.path,
            base=at.base,
            lead=self.rules.lines(at.map(lead_lines), is_new=at.base is None),
            key=self.rules.piece(at.map(lambda e: key_text(e) if e else "")),
            after=follows,
        )

    def clash_of_entries(self, at: Three[Entry | None], why: str, place: Place) -> Item | None:
        """Make a conflict of one entry, unless the rules decide the entry."""
        items = self.clash(at.map(lambda e: [e] if e else []), why, place)
        return items[0] if items else None

    def clash(self, at: Three[list[Entry]], why: str, place: Place) -> list[Item]:
        """Make a conflict of entries, unless the rules decide the entries."""
        return self.noted(self.rules.clash(at, why, place))

    # -- a value

    def node(
        self, at: Three[Node | None], place: Place, source: Entry | None = None
    ) -> Plan | None:
        """Decide a value that both sides have at a place; `source` is the entry of theirs."""
        ours, theirs = at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller's case
        if place.path in self.doubts:
            return None
        alike = type(ours) is type(theirs)
        if place.path in self.opened and isinstance(ours, Collection) and alike:
            return self.collection(at, place)
        if place.live and alike and place.live.enters(ours, theirs):
            return self.collection(at, place)
        side, style = whose_by(at, same_lines), None
        if not side and alike and isinstance(ours, Collection):
            if is_undecided(at.base) and not same_node(ours, theirs):
                return None  # a side added or deleted an entry here
            return self.collection(at, place)
        if not side and not block_texts.new_header_comment(at):
            side, style = whose_by(at, same_node), _style_of_ours(at)
        if side == "ours":
            return Keep(ours)
        return self.taken(ours, theirs, place, source, style) if side else self.text(at, place)

    def taken(
        self, ours: Node, theirs: Node, place: Place, source: Entry | None, style: str | None = None
    ) -> Take:
        """Take their value, which only their side changed."""
        self.journal.write((self.rules.took(ours, theirs, place),))
        part = place.live.part(source) if place.live and source is not None else None
        return Take(theirs, source, style, part=part)

    def text(self, at: Three[Node | None], place: Place) -> Plan | None:
        """Merge two different scalars; return None for other kinds of values."""
        if not (isinstance(at.ours, Scalar) and isinstance(at.theirs, Scalar)):
            return None
        return self.noted(self.rules.text(at, place))

    def collection(self, at: Three[Node | None], place: Place) -> Plan | None:
        """Merge two mappings or two lists; ignore a base of a different kind."""
        base, ours, theirs = at.base, at.ours, at.theirs
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            before = base if isinstance(base, Mapping) else None
            return self.mapping(Three(before, ours, theirs), place)
        if isinstance(ours, Sequence) and isinstance(theirs, Sequence):
            old = base if isinstance(base, Sequence) else None
            return self.sequence(Three(old, ours, theirs), place)
        return None

    # -- mappings and lists

    def mapping(self, at: Three[Mapping | None], place: Place) -> Plan | None:
        """Merge a mapping key by key."""
        inner = place.within(at.base or at.ours)
        tables = at.map(_table)
        tables, riddles = self.rules.renamed(tables, (), None)
        known, (at, loose) = at, self.parted(at, tables, place)
        if at is not known:
            tables, riddles = self.rules.renamed(at.map(_table), (), None)
        items = self.items(tables, riddles, lambda name: inner.key(str(name), at))
        for group in inner.where.exclusive():
            if len(names := [str(name) for name in items if name in group]) > 1:
                gone = self.noted(self.rules.exclusive(at, group, names, inner))
                if gone is None:
                    return None
                for name in gone:
                    del items[name]
        order = self.rules.order(tables, items, None)
        return self.built(at, [items[name] for name in order or items], loose)

    def sequence(self, at: Three[Sequence | None], place: Place) -> Plan | None:
        """Merge a list by its keys, as a set, or as a sequence of elements."""
        rule = place.where.list_rule()
        tables, riddles = self.by_keys(at, rule)
        known, (at, loose) = at, self.parted(at, tables, place)
        if tables is None:
            plan = self.rules.unkeyed(at, place)
            if plan is not BY_ELEMENTS:
                return plan
            elements = unkeyed.merge_elements(self, at, place)
            return self.built(at, elements, loose)
        if at is not known:
            tables, riddles = self.by_keys(at, rule)
            assert tables is not None  # comments change no key
        inner = place.elements(at)
        keys = keyed.keys_of(at, rule)
        if rule.ordered and not all(keyed.are_runs(table, riddles) for table in tables.each()):
            return None
        items = self.items(tables, riddles, lambda key: inner.step(keys.step(key)))
        order = self.rules.order(tables, items, rule)
        return self.built(at, [items[key] for key in order], loose) if order is not None else None

    def by_keys(
        self, at: Three[Sequence | None], rule: ListRule
    ) -> tuple[Three[dict[Hashable, Entry]] | None, list[Riddle]]:
        """Return the elements by key, with renames undone, and groups in doubt, or None."""
        tables = self.rules.keyed(at, rule)
        if tables is None:
            return None, []
        return self.rules.renamed(tables, keyed.keys_of(at, rule).paths, rule)

    def items(
        self,
        tables: Three[dict[Hashable, Entry]],
        riddles: list[Riddle],
        place_of: Callable[[Hashable], Place],
    ) -> dict[Hashable, Item]:
        """Decide every element under its key; turn each group in doubt into one conflict."""
        items: dict[Hashable, Item] = {}
        asked = {key for riddle in riddles for key in riddle.keys}
        parts = tables.map(lambda table: shared_out(table, riddles))
        for number, riddle in enumerate(riddles):
            found = Three(*(part[number] for part in parts.each()))
            # a place that does not depend on the side: that of base, if base has one
            first = next(iter(found.base), min(riddle.keys, key=repr))
            sides = found.map(lambda t: list(t.values()))
            keys = {id(e): k for t in (found.ours, found.theirs) for k, e in t.items()}
            for made in self.clash(sides, riddle.why, place_of(first)):
                items[keys[id(made.ours or made.theirs)]] = made
        for key in [*tables.ours, *(k for k in tables.theirs if k not in tables.ours)]:
            item = self.entry(under(tables, key), place_of(key)) if key not in asked else None
            if item is not None:
                items[key] = item
        return items

    def parted(
        self, at: Three[C | None], tables: Three[dict[Hashable, Entry]] | None, place: Place
    ) -> tuple[Three[C | None], FloatingComments | None]:
        """Return the versions of a collection without floating comments, and these comments."""
        if not self.rules.stops or not may_part(at, tables):
            return at, None
        from kmerge_git.merge.decide import floating_comments

        if tables is not None:
            return floating_comments.part(at, floating_comments.names_by(tables), place)
        return floating_comments.part(at, floating_comments.names_in(at), place)

    def switched(self, item: Item, place: Place) -> list[Item]:
        """Make a conflict of an entry that one side commented in.

        The other side deleted the comment that contained the entry.
        """
        at = Three([], *([e] if e is not None else [] for e in (item.ours, item.theirs)))
        return self.clash(at, Why.BOTH_CHANGED, Place(item.path, place.where))

    def built(
        self, at: Three[Collection | None], items: list[Item], loose: FloatingComments | None = None
    ) -> Plan | None:
        """Plan the collection with these items, and with its merged comments, anchor and tag."""
        ours, theirs = at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller's case
        doubtful = (ours.flow or theirs.flow) and self.rules.stops
        if doubtful and may_lose_comments(at):
            return None
        marks = at.map(lambda c: properties(c) if c else "")
        if not whose(marks) and self.rules.stops:
            return None
        above = below = None
        # the lines of an empty `[]` belong to the text around it
        if not theirs.flow or (theirs.entries and self.rules.stops):
            above = self.rules.lines(at.map(head_lines), is_new=at.base is None)
            below = self.rules.lines(at.map(foot_lines), is_new=at.base is None)
        if loose is not None:
            from kmerge_git.merge.decide import floating_comments

            for number in reversed(floating_comments.switched(loose, items)):
                items[number : number + 1] = self.switched(items[number], loose.place)
            items, alone = floating_comments.put_back(loose, items, self.rules.lines)
            below = alone or below
        marks_of_theirs = self.rules.piece(marks)
        return Build(ours, theirs, items, head=above, foot=below, properties=marks_of_theirs)


def _table(mapping: Mapping | None) -> dict[Hashable, Entry]:
    if mapping is None:
        return {}
    table: dict[Hashable, Entry] = dict(mapping.index().items())
    if len(table) != len(mapping.entries):
        raise _repeated_key(mapping)
    return table


def _repeated_key(mapping: Mapping) -> RepeatedKey:
    seen: set[str] = set()
    entry = next(e for e in mapping.entries if e.name in seen or seen.add(e.name))  # type: ignore[func-returns-value]
    line = mapping.text.count("\n", 0, entry.start) + 1
    column = entry.start - mapping.text.rfind("\n", 0, entry.start)
    why = f"duplicate key {entry.name!r} in a mapping"
    excerpt = mapping.text.split("\n", line)[line - 1]
    return RepeatedKey(why, line=line, column=column, hint="remove one of them", excerpt=excerpt)


def _style_of_ours(at: Three[Node | None]) -> str | None:
    """If only our side changed the quotes, return our quotes; otherwise return None."""
    base, ours, theirs = at.base, at.ours, at.theirs
    if not (isinstance(base, Scalar) and isinstance(ours, Scalar) and isinstance(theirs, Scalar)):
        return None
    changed = theirs.style == base.style != ours.style
    return ours.style if changed and ours.style in ("'", '"') else None
