"""Rules `kyaml`: the updated side wins, null clears, nothing is a conflict.

These are the seed documents' three-way rules for a deployment tool that must end with an answer:
original = base, updated = theirs, destination = ours. The numbers are those of docs/merge-rules.md.
A change of the destination that loses is written into the journal as `lost`.
"""

from __future__ import annotations

from kmerge_git.merge.decide.git import GitRules
from kmerge_git.merge.derive import derived, pruned, pruned_plan
from kmerge_git.merge.kyaml.nulls import document_holds_null, holds_null, null
from kmerge_git.merge.kyaml.numbers import THREE_WAY, added_rule, clash_rule, null_rule, taken_rule
from kmerge_git.merge.kyaml.parts import ListKeys, delta, rest
from kmerge_git.merge.plan import Item, Keep, Plan, Take, TextClash
from kmerge_git.merge.three import Three
from kmerge_git.merge.write.document import write_document
from kmerge_git.merge.write.key_line import keeps_tail
from kmerge_git.tree.nodes import Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import same_node
from kmerge_git.tree.spans import after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import ListRule, Where
    from kmerge_git.merge.journal import Journal
    from kmerge_git.outcome import Decision
    from kmerge_git.text.pieces import Pieces
    from kmerge_git.tree.documents import Document


class KyamlRules(GitRules):
    """The seeds' rules: an answer at every place."""

    name = "kyaml"
    strict = False
    numbers = THREE_WAY

    def __init__(self, journal: Journal, *, infer: bool = True) -> None:
        super().__init__(journal)
        self.infer = infer
        self.keys = ListKeys(infer)
        self.nulls = True  # whether the document that is merged may hold a null
        self.where: Where | None = None  # the place of the collection that is merged
        self.list_rule: ListRule | None = None  # of the list whose elements are merged
        self.list_fields: tuple[str, ...] = ()

    def takes(self, path: Path, ours: Node, theirs: Node) -> None:
        """Remember that a change of updated is taken, and of a scalar the values."""
        values = (ours.raw, theirs.raw) if isinstance(theirs, Scalar) else ("", "")
        self.journal.note(path, "changed", "theirs", taken_rule(theirs, path), *values)

    def numbered(self, decision: Decision) -> Decision:
        """A decision with the number that its rule has in the contract."""
        decision.rule = self.numbers.get((decision.what, decision.rule), decision.rule)
        return decision

    def lose(
        self, path: Path, what: str, rule: str, ours: Node | None, theirs: Node | None
    ) -> None:
        """A change of the destination that does not come through."""
        dest, updated = (node.raw if node is not None else "" for node in (ours, theirs))
        self.journal.note(path, what, "theirs", f"{rule} lost", dest, updated)

    # -- entries

    def entry(self, at: Three[Entry | None], path: Path, where: Where) -> Item | None:
        """As in rules git, after nulls have cleared what they name."""
        if self.cleared(at, path, where):
            return None
        self.where = where
        return super().entry(at, path, where)

    def cleared(self, at: Three[Entry | None], path: Path, where: Where) -> bool:
        """M5, M9, M10: a null in the destination or in updated clears the field."""
        base, ours, theirs = at.base, at.ours, at.theirs
        there = ours or theirs
        if there is None or there.key is None:
            return False
        if ours is not None and null(ours.value):
            self.journal.note(path, "null clears", "ours", null_rule(theirs or base))
            return True
        if theirs is None or not null(theirs.value):
            return False
        if base is not None and null(base.value) and self.is_keyed(ours, where):
            return False  # M17: a null that both carry is no change
        rule = null_rule(ours or base)
        if ours is not None and (base is None or not same_node(base.value, ours.value)):
            self.lose(path, "null clears", rule, ours.value, theirs.value)
        elif ours is not None:
            self.journal.note(path, "null clears", "theirs", rule)
        return True

    def is_keyed(self, entry: Entry | None, where: Where) -> bool:
        """Whether an entry holds a list whose elements have keys."""
        return entry is not None and self.has_keys(entry.value, where)

    def has_keys(self, node: Node, where: Where) -> bool:
        """Whether a node is a list whose elements have keys."""
        if not isinstance(node, Sequence):
            return False
        return self.keys.tables(Three(None, node, None), where.list_rule()) is not None

    def may_skip(self, ours: Entry, theirs: Entry) -> bool:
        """A null inside clears, even where nobody changed anything."""
        return not (self.nulls and (holds_null(ours.value) or holds_null(theirs.value)))

    def may_skip_documents(self, at: Three[Document | None]) -> bool:
        """Documents that are equal in all three versions are not touched at all."""
        base, ours, theirs = at.base, at.ours, at.theirs
        if ours is None or theirs is None:
            return True
        if base and base.content == ours.content == theirs.content:
            return True
        self.nulls = document_holds_null(ours) or document_holds_null(theirs)
        return not self.nulls

    def added_document(self, theirs: Document) -> Pieces:
        """A document of theirs, without the nulls inside it."""
        if not self.is_to_prune(theirs) or theirs.root is None:
            return [theirs.content]
        plan = pruned_plan(theirs.root, self.is_nothing)
        return write_document(plan, Three(None, theirs, theirs)) if plan else [theirs.content]

    def is_to_prune(self, theirs: Document) -> bool:
        """Whether an added document may hold what is not to be added."""
        return document_holds_null(theirs)

    def is_nothing(self, entry: Entry) -> bool:
        """Whether an entry adds nothing."""
        return null(entry.value)

    def taken(self, theirs: Entry, path: Path) -> Item:
        """An entry of theirs, without the nulls inside it."""
        entry = self.without_nulls(theirs)
        return Item(Take(entry.value, entry), None, entry, path)

    def without_nulls(self, theirs: Entry) -> Entry:
        """An entry as it is added: a null adds nothing."""
        return pruned(theirs, self.is_nothing) if self.nulls else theirs

    def only_theirs(self, base: Entry | None, theirs: Entry, path: Path) -> Item | None:
        """The destination lacks it: what updated adds or changes comes back."""
        if base is None:
            self.journal.note(path, "added", "theirs", added_rule(theirs))
            return self.taken(theirs, path)
        if same_node(base.value, theirs.value):
            return None  # M22
        element = theirs.key is None
        if element and self.list_rule is not None and self.list_rule.kind == "resources":
            self.journal.note(
                path, "removed in dest, changed in updated", "ours", "R5 lost", "", theirs.value.raw
            )
            return None
        assert self.where is not None  # an entry is being merged
        kept = self.list_fields if element else ()
        plan = delta(base.value, theirs.value, self.where, self.keys, kept)
        if plan is None:
            return None
        rule = "M15" if element else "M12" if isinstance(theirs.value, Mapping) else "M19"
        self.lose(path, "removed in dest, changed in updated", rule, None, theirs.value)
        changed = theirs if isinstance(plan, Keep) else derived(theirs, plan)
        return self.taken(changed, path)

    def only_ours(self, base: Entry | None, ours: Entry, path: Path) -> Item | None:
        """Updated lacks it: what original had goes, what only the destination has stays."""
        if base is None:
            # M5 says: even if nobody changed it
            plan = pruned_plan(ours.value, _is_null) if self.nulls else None
            return Item(plan or Keep(ours.value), ours, None, path)
        if ours.key is None:
            lost = not same_node(base.value, ours.value)
            resource = self.list_rule is not None and self.list_rule.kind == "resources"
            self.deleted(path, "R1" if resource else "M21" if lost else "M20", ours, lost)
            return None
        assert self.where is not None  # an entry is being merged
        gone: list[Path] = []
        kept = rest(base.value, ours.value, self.where, self.keys, path, gone)
        rule = "M20"
        if isinstance(ours.value, Scalar):
            rule = "M4"
        elif not isinstance(ours.value, Mapping) and gone == [path]:
            rule = "M8"
        for place in gone:
            self.deleted(place, rule, ours, lost=True)
        if kept is None and not gone:
            self.deleted(path, rule, ours, lost=False)
        if kept is None:
            return None
        self.journal.note(path, "deleted, what only dest has stays", "theirs", "M20")
        return Item(kept, ours, None, path)

    def deleted(self, path: Path, rule: str, ours: Entry, lost: bool) -> None:
        """A deletion by updated."""
        if lost:
            self.lose(path, "deleted in updated, changed in dest", rule, ours.value, None)
        else:
            self.journal.note(path, "deleted", "theirs", rule)

    def entry_of_both(self, at: Three[Entry | None], path: Path, where: Where) -> Item | None:
        """M34: a scalar taken from updated brings its comment, if it has one of its own."""
        item = super().entry_of_both(at, path, where)
        if item is None or not isinstance(item.plan, Take) or item.after is not None:
            return item
        assert at.ours is not None and at.theirs is not None  # the caller's case
        if isinstance(item.plan.node, Scalar) and keeps_tail(item.plan, at.ours, at.theirs):
            base, theirs = after(at.base).strip() if at.base else "", after(at.theirs)
            if theirs.strip() not in ("", base):
                item.after = theirs
        return item

    # -- values

    def node(
        self, at: Three[Node | None], path: Path, where: Where, source: Entry | None
    ) -> Plan | None:
        """As in rules git; where a null stands inside, equal lines do not decide."""
        ours, theirs = at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller's case
        if type(ours) is type(theirs) and self.must_enter(ours, theirs):
            return self.collections(at, path, where)
        plan = super().node(at, path, where, source)
        if isinstance(plan, Take) and plan.entry is not None and self.nulls:
            entry = self.without_nulls(plan.entry)
            return Take(entry.value, entry, plan.style)
        return plan

    def must_enter(self, ours: Node, theirs: Node) -> bool:
        """Whether something inside clears or instructs."""
        return self.nulls and (holds_null(ours) or holds_null(theirs))

    def value(self, entries: Three[Entry | None], path: Path, where: Where) -> Plan:
        """Where rules git clash, updated's value is taken."""
        at: Three[Node | None] = entries.map(lambda e: e.value if e else None)
        plan = self.node(at, path, where, entries.theirs)
        if plan is not None:
            return plan
        theirs = entries.theirs
        assert theirs is not None and at.ours is not None  # the caller's case
        what = "changed on both sides" if entries.base else "added on both sides"
        self.lose(path, what, clash_rule(at), at.ours, at.theirs)
        entry = self.without_nulls(theirs)
        take = Take(entry.value, entry, _quotes(at.ours))
        if isinstance(entry.value, Scalar) and not entry.value.anchor:
            take.anchor = at.ours.anchor  # the destination's aliases must not lose it
        return take

    def scalars(self, base: Node | None, ours: Scalar, theirs: Scalar, path: Path) -> Plan | None:
        """M2, M30: updated wins; there is no merge inside of texts."""
        return None

    def excluded(
        self, at: Three[Mapping | None], items: dict[Hashable, Item], path: Path, where: Where
    ) -> bool:
        """M27: of members that exclude each other updated's stays."""
        there = at.theirs.index() if at.theirs is not None else {}
        for group in where.exclusive():
            members = [name for name in items if name in group]
            theirs = [name for name in members if name in there]
            for name in members if theirs else ():
                if name not in theirs:
                    entry = items[name].ours
                    value = entry.value if entry is not None else None
                    self.lose((*path, str(name)), "excluded by updated's", "M27", value, None)
                    del items[name]
        return False

    # -- lists

    def sequences(self, at: Three[Sequence | None], path: Path, where: Where) -> Plan | None:
        """As in rules git, with the list's keys at hand for its elements."""
        before = self.list_rule, self.list_fields
        self.list_rule = where.list_rule()
        self.list_fields = self.keys.fields(at, self.list_rule)
        plan = super().sequences(at, path, where)
        self.list_rule, self.list_fields = before
        return plan

    def set_order(self, order: list[Hashable], ours: dict[Hashable, Entry]) -> list[Hashable]:
        """M28: new members come last."""
        return [k for k in order if k in ours] + [k for k in order if k not in ours]

    def unkeyed(self, at: Three[Sequence | None], path: Path, where: Where) -> Plan | None:
        """M6, M7, M29: whole lists; updated's if it changed."""
        base, ours, theirs = at.base, at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller's case
        if base is not None and (same_node(base, ours) or same_node(base, theirs)):
            return super().unkeyed(at, path, where)  # one value, and the comments of both
        return Keep(ours) if same_node(ours, theirs) else None

    def clash(
        self, base: list[Entry], ours: list[Entry], theirs: list[Entry], why: str, path: Path
    ) -> Item | None:
        """A comment of ours that has no place behind updated's value."""
        if not theirs:
            return None
        mine = ours[0].value if ours else None
        self.lose(path, why, "M34", mine, theirs[0].value)
        item = self.taken(theirs[0], path)
        item.ours = ours[0] if ours else None
        return item

    # -- text between values

    def comment_lines(self, lines: Three[list[str]]) -> list[list[str] | TextClash] | None:
        """M34: where both changed a comment, the destination's stays."""
        parts = super().comment_lines(lines)
        if parts is None:
            return None
        return [part.ours if isinstance(part, TextClash) else part for part in parts]

    def tail(self, tails: Three[str]) -> tuple[str | None, bool]:
        """M33, M34: where both changed a comment, the destination's stays (see `entry_of_both`)."""
        return super().tail(tails)[0], False

    def document_side(self, path: Path, why: str) -> str:
        """R1, R5: deleted is deleted, on either side."""
        gone = "ours" if "deleted in ours" in why else "theirs"
        rule = "R5" if gone == "ours" else "R1" if "deleted" in why else "M2"
        what = why.replace("theirs", "updated").replace("ours", "dest")
        self.journal.note(path, what, gone, f"{rule} lost")
        return gone


def _is_null(entry: Entry) -> bool:
    return null(entry.value)


def _quotes(node: Node | None) -> str | None:
    return node.style if isinstance(node, Scalar) and node.style in ("'", '"') else None
