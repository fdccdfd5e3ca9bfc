"""Rules `git`: symmetric, every value is data, a difference that cannot be decided is a clash.

Reads top-down: an entry, its value, then mappings, lists and texts. At every place the same three
comparisons come first: theirs = base: ours; ours = base: theirs; ours = theirs: ours.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.kube.listkeys import Where
from kmerge_git.merge.decide import block_texts, keyed, unkeyed
from kmerge_git.merge.decide.comments import bare_lines, merge_lines, merge_tail
from kmerge_git.merge.decide.order import weave
from kmerge_git.merge.plan import Build, Clash, Item, Keep, Plan, Take, TextClash
from kmerge_git.merge.sides import decided
from kmerge_git.merge.three import Three, under
from kmerge_git.merge.write import flow
from kmerge_git.merge.write.key_line import keeps_tail
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import comments, same_comments, same_entry_text, same_lines, same_node
from kmerge_git.tree.spans import after, foot, head, key_text, properties

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.journal import Journal
    from kmerge_git.text.pieces import Pieces
    from kmerge_git.tree.documents import Document

BOTH_CHANGED = "changed on both sides"
BOTH_ADDED = "added on both sides"
OURS_GONE = "deleted in ours, changed in theirs"
THEIRS_GONE = "changed in ours, deleted in theirs"
COMMENT = "comment changed on both sides"


class GitRules:
    """The symmetric rules; other rule sets change single answers."""

    name = "git"
    infer = True  # lists of unknown kinds may be keyed by a field that all elements have
    strict = True  # what no rule decides is a clash; other rule sets always have an answer

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    # -- documents

    def lone_pair(self, ours: list[Document], theirs: list[Document]) -> list[tuple[int, int]]:
        """The one pair of added documents, where that is clear without their names."""
        return []

    # -- an entry of a mapping, an element of a list

    def entry(self, at: Three[Entry | None], path: Path, where: Where) -> Item | None:
        """What becomes of one entry; None: it is not in the result."""
        base, ours, theirs = at.base, at.ours, at.theirs
        if ours is not None and theirs is not None:
            if not self.may_skip(ours, theirs):
                return self.entry_of_both(at, path, where)
            if same_entry_text(ours, theirs) or (base and same_entry_text(base, theirs)):
                return Item(Keep(ours.value), ours, theirs, path)
            if base and same_entry_text(base, ours):
                self.takes(path, ours.value, theirs.value)
                item = self.taken(theirs, path)
                item.base, item.replaces = base, ours
                return item
            return self.entry_of_both(at, path, where)
        if ours is not None:
            return self.only_ours(base, ours, path)
        if theirs is not None:
            return self.only_theirs(base, theirs, path)
        return None

    def takes(self, path: Path, ours: Node, theirs: Node) -> None:
        """Remember that a change of theirs is taken."""
        self.journal.note(path, "changed", "theirs", "2")

    def may_skip(self, ours: Entry, theirs: Entry) -> bool:
        """Whether equal lines on two sides decide, without a look inside."""
        return True

    def may_skip_documents(self, at: Three[Document | None]) -> bool:
        """As `may_skip`, for documents."""
        return True

    def added_document(self, theirs: Document) -> Pieces:
        """The text of a document that only theirs has."""
        return [theirs.content]

    def drops_document(self, at: Three[Document | None]) -> bool:
        """Whether a document is to be deleted whatever stands in it."""
        return False

    def document_side(self, path: Path, why: str) -> str:
        """Which side wins where one deleted a document that the other changed; nothing: a clash."""
        return self.journal.settle(path, [], [], [], why)

    def taken(self, theirs: Entry, path: Path) -> Item:
        """Theirs' entry with all its lines."""
        return Item(Take(theirs.value, theirs), None, theirs, path)

    def only_ours(self, base: Entry | None, ours: Entry, path: Path) -> Item | None:
        """An entry that theirs does not have."""
        if base is None:
            return Item(Keep(ours.value), ours, None, path)
        if _untouched(base, ours):
            self.journal.note(path, "deleted", "theirs", "2")
            return None
        return self.clash([base], [ours], [], THEIRS_GONE, path)

    def only_theirs(self, base: Entry | None, theirs: Entry, path: Path) -> Item | None:
        """An entry that ours does not have."""
        if base is None:
            self.journal.note(path, "added", "theirs", "2")
            return self.taken(theirs, path)
        if _untouched(base, theirs):
            return None
        return self.clash([base], [], [theirs], OURS_GONE, path)

    def entry_of_both(self, at: Three[Entry | None], path: Path, where: Where) -> Item | None:
        """An entry that both sides have, with different lines."""
        ours, theirs = at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller's case
        plan = self.value(at, path, where)
        if isinstance(plan, Clash):
            return self.clash(plan.base, plan.ours, plan.theirs, plan.why, path)
        item = Item(plan, ours, theirs, path)
        item.base = at.base
        item.lead = self.comment_lines(at.map(_lead))
        item.key = self.pick(at.map(lambda e: key_text(e) if e else ""))
        tails = at.map(lambda e: after(e) if e else "")
        item.after, clash = self.tail(tails)
        if not keeps_tail(plan, ours, theirs):
            # a comment that only this side has finds no place behind the other side's value
            taken = isinstance(plan, Take)
            clash = _has_own_comment(tails if taken else tails.swapped())
            item.after = None
        if clash:
            bases = [at.base] if at.base else []
            return self.clash(bases, [ours], [theirs], COMMENT, path)
        return item

    # -- a value

    def value(self, entries: Three[Entry | None], path: Path, where: Where) -> Plan:
        """The value of an entry that both sides have."""
        at: Three[Node | None] = entries.map(lambda e: e.value if e else None)
        plan = self.node(at, path, where, entries.theirs)
        if plan is None:
            return _clash_of(entries, BOTH_CHANGED if entries.base else BOTH_ADDED)
        return plan

    def node(
        self, at: Three[Node | None], path: Path, where: Where, source: Entry | None
    ) -> Plan | None:
        """The value at a place that both sides have; None: a clash of the whole place."""
        base, ours, theirs = at.base, at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller's case
        if same_lines(ours, theirs) or (base is not None and same_lines(base, theirs)):
            return Keep(ours)
        if base is not None and same_lines(base, ours):
            self.takes(path, ours, theirs)
            return Take(theirs, source)
        if type(ours) is type(theirs) and isinstance(ours, Collection):
            return self.collections(at, path, where)
        if isinstance(theirs, Scalar) and block_texts.new_header_comment(base, ours, theirs):
            return self.scalars(base, ours, theirs, path) if isinstance(ours, Scalar) else None
        if same_node(ours, theirs):
            return Keep(ours)
        if base is not None and same_node(base, theirs):
            return Keep(ours)
        if base is not None and same_node(base, ours):
            self.takes(path, ours, theirs)
            return Take(theirs, source, _style_of_ours(base, ours, theirs))
        if isinstance(ours, Scalar) and isinstance(theirs, Scalar):
            return self.scalars(base, ours, theirs, path)
        return None

    def scalars(self, base: Node | None, ours: Scalar, theirs: Scalar, path: Path) -> Plan | None:
        """Two different scalars."""
        plan = block_texts.merge(base if isinstance(base, Scalar) else None, ours, theirs)
        if plan is not None and not plan.clean:
            side = self.journal.settle(path, [], [], [], BOTH_CHANGED)
            if side in ("ours", "theirs"):
                return decided(plan, side)
        return plan

    def collections(self, at: Three[Node | None], path: Path, where: Where) -> Plan | None:
        """Two mappings or two lists; a base of another kind counts as nothing."""
        ours, theirs = at.ours, at.theirs
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            base = at.base if isinstance(at.base, Mapping) else None
            return self.mappings(Three(base, ours, theirs), path, where)
        if isinstance(ours, Sequence) and isinstance(theirs, Sequence):
            old = at.base if isinstance(at.base, Sequence) else None
            return self.sequences(Three(old, ours, theirs), path, where)
        return None

    # -- mappings

    def mappings(self, at: Three[Mapping | None], path: Path, where: Where) -> Plan | None:
        """Key by key."""
        where = where.at(at.base or at.ours)
        tables = at.map(_table)
        items: dict[Hashable, Item] = {}
        for name in [*tables.ours, *(k for k in tables.theirs if k not in tables.ours)]:
            entries = under(tables, name)
            item = self.entry(entries, (*path, str(name)), where.child(str(name)))
            if item is not None:
                items[name] = item
        if self.excluded(at, items, path, where):
            return None
        order, _ = self.order(tables, items)
        return self.built(at, [items[name] for name in order])

    def excluded(
        self, at: Three[Mapping | None], items: dict[Hashable, Item], path: Path, where: Where
    ) -> bool:
        """Whether both sides chose different ones of members that exclude each other."""
        for group in where.exclusive():
            members = [name for name in items if name in group]
            if len(members) < 2:
                continue
            alone = (at.ours, at.theirs)
            if all(sum(e.name in group for e in side.entries) < 2 for side in alone if side):
                return True
        return False

    # -- lists

    def sequences(self, at: Three[Sequence | None], path: Path, where: Where) -> Plan | None:
        """By key where the list has one, as a set, or as a sequence of elements."""
        rule = where.list_rule()
        known = self.infer or rule.kind != "infer"
        tables = keyed.keyed(at, rule, by_name=self.strict) if known else None
        if tables is None:
            return self.unkeyed(at, path, where)
        items: dict[Hashable, Item] = {}
        inner = where.items()
        for key in [*tables.ours, *(k for k in tables.theirs if k not in tables.ours)]:
            entries = under(tables, key)
            item = self.entry(entries, (*path, keyed.step(key, rule)), inner)
            if item is not None:
                items[key] = item
        if self.strict and rule.kind == "keyed" and rule.fields[0] in keyed.PORT_KEYS:
            unkeyed.clash_on_repeated_names(self, tables, items, path)
        order, clash = self.order(tables, items)
        if clash and rule.ordered and self.strict:
            return None
        if rule.kind == "set":
            order = self.set_order(order, tables.ours)
        return self.built(at, [items[key] for key in order])

    def unkeyed(self, at: Three[Sequence | None], path: Path, where: Where) -> Plan | None:
        """Three-way merge of the element sequence."""
        return self.built(at, unkeyed.merge_elements(self, at, path, where))

    def clash_of_elements(self, at: Three[list[Entry]], why: str, path: Path) -> list[Item | None]:
        """Elements that both sides changed, added or removed at one place."""
        side = self.journal.settle(path, at.base, at.ours, at.theirs, why)
        if side == "theirs":
            return [self.taken(e, path) for e in at.theirs]
        if side in ("ours", "union"):
            kept: list[Item | None] = [Item(Keep(e.value), e, None, path) for e in at.ours]
            return kept + [self.taken(e, path) for e in at.theirs if side == "union"]
        clash = Clash(at.base, at.ours, at.theirs, why)
        ours = at.ours[0] if at.ours else None
        theirs = at.theirs[0] if at.theirs else None
        return [Item(clash, ours, theirs, path)]

    def set_order(self, order: list[Hashable], ours: dict[Hashable, Entry]) -> list[Hashable]:
        """The members of a set: as in any list, an addition stands behind what it follows."""
        return order

    # -- what is common to collections

    def order(
        self, tables: Three[dict[Hashable, Entry]], items: dict[Hashable, Item]
    ) -> tuple[list[Hashable], bool]:
        """The order of entries, and whether both sides reordered them differently."""
        base, ours, theirs = (list(t) for t in (tables.base, tables.ours, tables.theirs))
        return weave(base, ours, theirs, items)

    def built(self, at: Three[Collection | None], items: list[Item]) -> Plan | None:
        """The collection with these items, and with its merged comments and properties."""
        ours, theirs = at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller's case
        if self.strict and (ours.flow or theirs.flow) and flow.loses_comments(at, items):
            return None
        plan = Build(ours, theirs, items)
        if not theirs.flow:  # else its lines belong to what stands around it
            plan.head = self.comment_lines(at.map(lambda c: bare_lines(head(c)) if c else []))
            plan.foot = self.comment_lines(at.map(lambda c: bare_lines(foot(c)) if c else []))
        marks = at.map(lambda c: properties(c) if c else "")
        plan.properties = self.pick(marks)
        both = len({marks.base, marks.ours, marks.theirs}) == 3
        if self.strict and plan.properties is None and both:
            return None  # both sides changed the anchor or the tag
        return plan

    def comment_lines(self, lines: Three[list[str]]) -> list[list[str] | TextClash] | None:
        """Comment lines that stand above, in front of or below entries; None: ours."""
        parts, side = merge_lines(lines), self.journal.favor
        if parts is None or not side:
            return parts
        return [part.side(side) if isinstance(part, TextClash) else part for part in parts]

    def tail(self, tails: Three[str]) -> tuple[str | None, bool]:
        """The text behind a value: (theirs or None for ours, whether both changed it)."""
        return merge_tail(tails)

    def pick(self, at: Three[str]) -> str | None:
        """Theirs where only theirs changed a piece of text, else None for ours."""
        return at.theirs if at.ours == at.base != at.theirs else None

    def clash(
        self, base: list[Entry], ours: list[Entry], theirs: list[Entry], why: str, path: Path
    ) -> Item | None:
        """A place that needs a person, unless a policy or a favourite side decides it."""
        side = self.journal.settle(path, base, ours, theirs, why)
        if side == "ours":
            return Item(Keep(ours[0].value), ours[0], None, path) if ours else None
        if side == "theirs":
            return self.taken(theirs[0], path) if theirs else None
        return Item(
            Clash(base, ours, theirs, why),
            ours[0] if ours else None,
            theirs[0] if theirs else None,
            path,
        )


def _untouched(base: Entry, other: Entry) -> bool:
    """Whether a side left an entry alone, but perhaps for spelling and indentation."""
    return same_entry_text(base, other) or (
        same_node(base.value, other.value) and same_comments(base, other)
    )


def _clash_of(entries: Three[Entry | None], why: str) -> Clash:
    sides = entries.map(lambda e: [e] if e else [])
    return Clash(sides.base, sides.ours, sides.theirs, why)


def _table(mapping: Mapping | None) -> dict[Hashable, Entry]:
    if mapping is None:
        return {}
    table: dict[Hashable, Entry] = dict(mapping.index().items())
    if len(table) != len(mapping.entries):
        raise _repeated_key(mapping)
    return table


def _repeated_key(mapping: Mapping) -> Unsupported:
    seen: set[str] = set()
    entry = next(e for e in mapping.entries if e.name in seen or seen.add(e.name))  # type: ignore[func-returns-value]
    line = mapping.text.count("\n", 0, entry.start) + 1
    column = entry.start - mapping.text.rfind("\n", 0, entry.start)
    why = f"the key {entry.name!r} stands twice in one mapping"
    excerpt = mapping.text.split("\n", line)[line - 1]
    return Unsupported(why, line=line, column=column, hint="remove one of them", excerpt=excerpt)


def _lead(entry: Entry | None) -> list[str]:
    return bare_lines(entry.value.text[entry.lead : entry.line]) if entry is not None else []


def _has_own_comment(tails: Three[str]) -> bool:
    """Whether ours has a comment that neither base nor theirs has."""
    ours = comments(tails.ours)
    return bool(ours) and ours != comments(tails.base) and ours != comments(tails.theirs)


def _style_of_ours(base: Node, ours: Node, theirs: Node) -> str | None:
    """Our quotes, if we changed them and theirs did not."""
    if not (isinstance(base, Scalar) and isinstance(ours, Scalar) and isinstance(theirs, Scalar)):
        return None
    changed = theirs.style == base.style != ours.style
    return ours.style if changed and ours.style in ("'", '"') else None
