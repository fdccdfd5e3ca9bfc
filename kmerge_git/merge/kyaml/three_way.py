"""Decide by the rules `kyaml`: updated wins, null clears, and no conflict is left.

These three-way rules are for a deployment tool that cannot ask a person. Original is the base,
updated is theirs, and the destination is ours. The rule numbers are the numbers in
docs/merge-rules.md. A change of the destination that is not in the result gets a note `lost`.
"""

from __future__ import annotations

from kmerge_git.merge.bulk import refuse_changed
from kmerge_git.merge.decide.comments import merge_lines, merge_tail
from kmerge_git.merge.decide.order import weave
from kmerge_git.merge.decide.rules import BY_ELEMENTS, Reading
from kmerge_git.merge.kyaml.value_parts import (
    Nulls,
    added_rule,
    clash_rule,
    delta,
    document_holds_null,
    excluded,
    lost,
    own,
    part_of,
    rest,
    tables_of,
    taken,
    took,
    updated_value,
    without_cleared,
)
from kmerge_git.merge.pairing import likely_same
from kmerge_git.merge.plan import Item, Keep, Note, Plan, Take, Why, settled
from kmerge_git.merge.three import Three, whose
from kmerge_git.tree.nodes import Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import same_entry_text, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.merge.decide.rules import KeyPaths, Keys, Notes, Place, Riddle, Table
    from kmerge_git.merge.plan import Line, Lines
    from kmerge_git.tree.documents import Document


class KyamlRules:
    """Decide every place of a merge by the rules of kyaml; see `decide.rules.Rules`."""

    __slots__ = ("infer",)
    stops = False

    def __init__(self, *, infer: bool = True) -> None:
        self.infer = infer  # if False, only the table of Kubernetes' kinds has list keys (rule K6)

    # -- documents

    def twins(self, ours: list[Document], theirs: list[Document]) -> list[tuple[int, int]]:
        return likely_same(ours, theirs)

    def reading(self, at: Three[Document | None]) -> Reading:
        """Let a null of one side clear a field, even if the other side did not change the field."""
        base, ours, theirs = at.base, at.ours, at.theirs
        if base is None or ours is None or theirs is None:
            return Reading()
        is_same = base.content == ours.content == theirs.content
        holds_null = not is_same and (document_holds_null(ours) or document_holds_null(theirs))
        return Reading(Nulls() if holds_null else None)

    def added(self, document: Document) -> Plan | None:
        return None

    def document_clash(self, why: str) -> tuple[str, Notes]:
        """Delete a document if either side deleted the document (rules R1 and R5)."""
        side = "ours" if "deleted in ours" in why else "theirs"
        rule = "R5" if side == "ours" else "R1" if "deleted" in why else "M2"
        what = why.replace("theirs", "`updated`").replace("ours", "`dest`")
        return side, [Note((), what, side, f"{rule} lost")]

    # -- entries

    def took(self, ours: Node, theirs: Node, place: Place) -> Note:
        return took(ours, theirs, place.path)

    def alone(self, at: Three[Entry | None], place: Place) -> tuple[Item | None, Notes]:
        if at.theirs is not None:
            return self._only_theirs(at.base, at.theirs, place)
        assert at.ours is not None  # the caller guarantees this
        return self._only_ours(at.base, at.ours, place)

    def _only_theirs(
        self, base: Entry | None, theirs: Entry, place: Place
    ) -> tuple[Item | None, Notes]:
        """Take what updated adds or changes in an entry that the destination lacks."""
        path = place.path
        if base is None:
            return taken(theirs, place), [Note(path, "added", "theirs", added_rule(theirs))]
        if same_node(base.value, theirs.value):
            return None, []  # M22
        what = "deleted in `dest`, changed in `updated`"
        if _is_resource(theirs, place):
            return None, [Note(path, what, "ours", "R5 lost", "", theirs.value.raw)]
        changed = delta(
            base.value, theirs.value, place.where, self._key_fields(theirs, place), infer=self.infer
        )
        if changed is None:
            return None, []
        part = part_of(theirs, [changed])
        item = Item(Take(theirs.value, theirs, part=part), None, theirs, path)
        rule = "M12" if isinstance(theirs.value, Mapping) else "M19"
        return item, [lost(path, what, "M15" if theirs.key is None else rule, None, theirs.value)]

    def _key_fields(self, entry: Entry, place: Place) -> tuple[str, ...]:
        """Return the fields that make the key of an element.

        If a change of an element is taken, these fields are taken, too.
        """
        if entry.key is not None or place.list_rule is None:
            return ()
        if place.list_rule.kind != "infer":
            return place.list_rule.fields
        step = place.path[-1]  # the step holds the field that was inferred as the key
        return tuple(part[0] for part in step) if isinstance(step, tuple) else ()

    def _only_ours(
        self, base: Entry | None, ours: Entry, place: Place
    ) -> tuple[Item | None, Notes]:
        """Decide an entry that updated lacks: delete it if original has it, otherwise keep it."""
        path = place.path
        if base is None:
            return own(ours, place), []
        if ours.key is None:
            changed = not same_node(base.value, ours.value)
            rule = "R1" if _is_resource(ours, place) else "M21" if changed else "M20"
            return None, [_deleted(path, rule, ours, lost_too=changed)]
        kept, gone = rest(base.value, ours.value, place.where, path, infer=self.infer)
        rule = "M20"
        if isinstance(ours.value, Scalar):
            rule = "M4"
        elif not isinstance(ours.value, Mapping) and gone == [path]:
            rule = "M8"
        notes = [_deleted(lost_place, rule, ours, lost_too=True) for lost_place in gone]
        if kept is None:
            return None, notes or [_deleted(path, rule, ours, lost_too=False)]
        notes.append(
            Note(path, "deleted, except for the parts that only `dest` has", "theirs", "M20")
        )
        return Item(kept, ours, None, path), notes

    def clash(self, at: Three[list[Entry]], why: str, place: Place) -> tuple[list[Item], Notes]:
        """Take the value of updated, and drop the comment that follows the old value (rule M34)."""
        ours, theirs = at.ours[0], at.theirs[0]
        note = lost(place.path, why, "M34", ours.value, theirs.value)
        return [taken(theirs, place, over=ours)], [note]

    # -- values

    def text(self, at: Three[Node | None], place: Place) -> tuple[Plan | None, Notes]:
        """Refuse to merge the lines of block texts, so that updated wins (rules M2 and M30)."""
        return None, []

    def winner(self, at: Three[Entry | None], place: Place) -> tuple[Plan | None, Notes]:
        """Take the value of updated."""
        assert at.ours is not None and at.theirs is not None  # the caller guarantees this
        what = Why.BOTH_CHANGED if at.base else Why.BOTH_ADDED
        values = at.map(lambda e: e.value if e is not None else None)
        note = lost(place.path, what, clash_rule(values), values.ours, values.theirs)
        part = None
        if place.live and values.base is not None and values.theirs is not None:
            plan = without_cleared(values.base, values.theirs, place.where, infer=self.infer)
            part = part_of(at.theirs, [plan])
        return updated_value(at.ours, at.theirs, place, part), [note]

    def exclusive(
        self, at: Three[Mapping | None], group: Collection[str], names: list[str], place: Place
    ) -> tuple[list[str] | None, Notes]:
        """Drop fields of the destination that exclude a field of updated (rule M27)."""
        gone = excluded(at, names)
        notes = [
            lost(
                (*place.path, name),
                "removed, because `updated` has another field that excludes this one",
                "M27",
                entry.value,
                None,
            )
            for name, entry in gone.items()
        ]
        return list(gone), notes

    # -- lists and order

    def keyed(self, at: Three[Sequence | None], rule: ListRule) -> Three[Table] | None:
        return tables_of(at, rule, infer=self.infer)

    def renamed(
        self, tables: Three[Table], key_paths: KeyPaths, rule: ListRule | None
    ) -> tuple[Three[Table], list[Riddle]]:
        refuse_changed(tables, same_entry_text)
        return tables, []  # another key is another element

    def unkeyed(self, at: Three[Sequence | None], place: Place) -> Plan | None:
        """Merge lists as a whole: take the list of updated if it changed (rules M6, M7 and M29)."""
        base, ours, theirs = at.base, at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller guarantees this
        if base is not None and (same_node(base, ours) or same_node(base, theirs)):
            return BY_ELEMENTS  # the value of one side, and the comments of both sides
        return Keep(ours) if same_node(ours, theirs) else None

    def order(
        self, tables: Three[Table], kept: dict[Hashable, Item], rule: ListRule | None
    ) -> Keys | None:
        """Put the new members of a set last (rule M28)."""
        order, _ = weave(list(tables.base), list(tables.ours), list(tables.theirs), kept)
        if rule is None or rule.kind != "set":
            return order
        return [k for k in order if k in tables.ours] + [k for k in order if k not in tables.ours]

    # -- the text between values

    def lines(self, lines: Three[list[Line]], *, is_new: bool = False) -> Lines | None:
        """Keep the comment of the destination if both sides changed the comment (rule M34)."""
        parts = merge_lines(lines)
        return [*settled(parts, "ours")] if parts is not None else None

    def tail(self, tails: Three[str], plan: Plan) -> tuple[str | None, bool]:
        """Keep the trailing comment of the destination if both sides changed the comment.

        See rules M33 and M34. A scalar that is taken from updated has the comment of updated.
        """
        new, _ = merge_tail(tails)
        if new is None and isinstance(plan, Take) and isinstance(plan.node, Scalar):
            is_own = tails.theirs.strip() not in ("", tails.base.strip())
            return tails.theirs if is_own else None, False
        return new, False

    def piece(self, at: Three[str]) -> str | None:
        return at.theirs if whose(at) == "theirs" else None


def _deleted(path: Path, rule: str, ours: Entry, *, lost_too: bool) -> Note:
    """Return the note for a deletion by updated."""
    if lost_too:
        return lost(path, "deleted in `updated`, changed in `dest`", rule, ours.value, None)
    return Note(path, "deleted", "theirs", rule)


def _is_resource(entry: Entry, place: Place) -> bool:
    """Return whether an entry is a resource in a `kind: List`."""
    rule = place.list_rule
    return entry.key is None and rule is not None and rule.kind == "resources"
