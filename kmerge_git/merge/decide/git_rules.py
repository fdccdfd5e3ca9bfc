"""Apply the rules `git`: both sides are alike, every value is data, and doubt is a conflict."""

from __future__ import annotations

from kmerge_git.kube.listkeys import has_port_names
from kmerge_git.merge.decide import block_texts, keyed
from kmerge_git.merge.decide.comments import (
    has_new_comments,
    lead_lines,
    merge_lines,
    merge_tail,
)
from kmerge_git.merge.decide.order import arranged, as_sorted, in_place, weave_alike
from kmerge_git.merge.decide.rules import BY_ELEMENTS, Reading
from kmerge_git.merge.pairing import same_name
from kmerge_git.merge.plan import Clash, Item, Keep, Note, Plan, Take, Why, has_clash
from kmerge_git.merge.three import Three, whose
from kmerge_git.tree.nodes import Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import same_comments, same_entry_text, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.merge.decide.rules import KeyPaths, Keys, Notes, Place, Riddle, Table
    from kmerge_git.merge.plan import Line, Lines
    from kmerge_git.tree.documents import Document


LARGE = 2_500  # in a collection with more entries the changed entries are counted
# the number of the rule that makes a conflict; 6 for a value, 8 for a resource
RULE_OF = {Why.BOTH_ADD_HERE: "5", Why.ORDER: "3", Why.SAME_NAME: "3", Why.COMMENT: "14"}
RULE_OF |= dict.fromkeys((Why.OURS_GONE, Why.THEIRS_GONE), "2") | dict.fromkeys(Why.FIRM, "11")
AS_TEXT = Reading(whole=False)  # null and `$patch` are data like any other value


class GitRules:
    """Hold the rules `git`; `decide.rules.Rules` describes the questions that they answer."""

    __slots__ = ()
    stops = True

    # -- documents

    def twins(self, ours: list[Document], theirs: list[Document]) -> list[tuple[int, int]]:
        return same_name(ours, theirs)

    def reading(self, at: Three[Document | None]) -> Reading:
        return AS_TEXT

    def added(self, document: Document) -> Plan | None:
        return None

    def document_clash(self, why: str) -> tuple[str, Notes]:
        return "", [Note((), why, "conflict", "8")]

    # -- entries

    def took(self, ours: Node, theirs: Node, place: Place) -> Note:
        return Note(place.path, "changed", "theirs", "1")

    def alone(self, at: Three[Entry | None], place: Place) -> tuple[Item | None, Notes]:
        base, path = at.base, place.path
        there = at.ours or at.theirs
        assert there is not None  # the caller's case
        if base is None:
            if at.ours is not None:
                return Item(Keep(there.value), there, None, path), []
            return _taken(there, path), [Note(path, "added", "theirs", "1")]
        if _untouched(base, there):
            return None, [Note(path, "deleted", "theirs", "1")] if at.ours is not None else []
        sides = at.map(lambda e: [e] if e is not None else [])
        items, notes = self.clash(sides, Why.THEIRS_GONE if at.ours else Why.OURS_GONE, place)
        return items[0] if items else None, notes

    def clash(self, at: Three[list[Entry]], why: str, place: Place) -> tuple[list[Item], Notes]:
        return [_conflict(at, why, place)], [_open(place.path, why)]

    # -- values

    def text(self, at: Three[Node | None], place: Place) -> tuple[Plan | None, Notes]:
        base, ours, theirs = at.base, at.ours, at.theirs
        assert isinstance(ours, Scalar) and isinstance(theirs, Scalar)  # the caller's case
        plan = block_texts.merge(base if isinstance(base, Scalar) else None, ours, theirs)
        mine = place.maps.ours if place.maps is not None else None  # set below a key
        if plan is None and isinstance(base, Scalar) and mine is not None and not mine.flow:
            plan = block_texts.merge_flow(base, ours, theirs)
        is_open = plan is not None and has_clash(plan)
        return plan, [_open(place.path, Why.BOTH_CHANGED)] if is_open else []

    def winner(self, at: Three[Entry | None], place: Place) -> tuple[Plan | None, Notes]:
        return None, []

    def exclusive(
        self, at: Three[Mapping | None], group: Collection[str], names: list[str], place: Place
    ) -> tuple[list[str] | None, Notes]:
        sides = [side for side in (at.ours, at.theirs) if side is not None]
        # a side that has several of the fields may know why
        has_several = any(sum(e.name in group for e in side.entries) > 1 for side in sides)
        return [] if has_several else None, []

    # -- the elements of lists, and the order of everything

    def keyed(self, at: Three[Sequence | None], rule: ListRule) -> Three[Table] | None:
        return keyed.by_key(at.map(lambda seq: seq.entries if seq else ()), rule, by_name=True)

    def renamed(
        self, tables: Three[Table], key_paths: KeyPaths, rule: ListRule | None
    ) -> tuple[Three[Table], list[Riddle]]:
        if len(tables.base) > LARGE:
            from kmerge_git.merge.bulk import refuse_changed  # few collections are so large

            refuse_changed(tables, same_entry_text)
        sides = (tables.ours, tables.theirs)
        if tables.base and all(tables.base.keys() <= side.keys() for side in sides):
            # nothing has another key; but what both sides added may be one thing
            is_named = rule is not None and has_port_names(rule)
            may_be_one = rule is None or rule.kind == "infer"
            if not is_named and not (may_be_one and len(tables.base) < min(map(len, sides))):
                return tables, []
        from kmerge_git.merge.decide.renamed_elements import follow  # most merges take nothing away

        return follow(tables, key_paths, rule)

    def unkeyed(self, at: Three[Sequence | None], place: Place) -> Plan | None:
        return BY_ELEMENTS

    def order(
        self, tables: Three[Table], kept: dict[Hashable, Item], rule: ListRule | None
    ) -> Keys | None:
        versions = tables.map(list)
        keys, clash = weave_alike(*versions.each(), kept)
        if rule is not None and rule.kind == "set" and not clash:
            return as_sorted(keys, tables.map(_texts).each())
        lawful = arranged(*versions.each()) if clash else keys
        if lawful is None:
            # nobody knows whether order means something where no table knows the list
            if rule is not None and (rule.ordered or rule.kind == "infer"):
                return None
            lawful = keys
        order = [key for key in lawful if key in kept]
        if rule is None or rule.kind == "set":
            return order
        return in_place(order, *versions.each())

    # -- the text between values

    def lines(self, lines: Three[list[Line]], *, is_new: bool = False) -> Lines | None:
        return merge_lines(lines, is_new=is_new)

    def tail(self, tails: Three[str], plan: Plan) -> tuple[str | None, bool]:
        return merge_tail(tails)

    def piece(self, at: Three[str]) -> str | None:
        return at.theirs if whose(at) == "theirs" else None


def _texts(table: Table) -> dict[Hashable, str]:
    """Return each member of a set as text, by key."""
    values = ((key, entry.value) for key, entry in table.items())
    return {key: value.value if isinstance(value, Scalar) else "" for key, value in values}


def _taken(theirs: Entry, path: Path) -> Item:
    """Return an item that takes their entry with all its lines."""
    return Item(Take(theirs.value, theirs), None, theirs, path)


def _open(path: Path, why: str) -> Note:
    """Return the note of a conflict."""
    rule = RULE_OF.get(why, "9" if why.startswith(Why.ALIAS) else "6") if path else "8"
    return Note(path, why, "conflict", rule)


def _conflict(at: Three[list[Entry]], why: str, place: Place) -> Item:
    """Return a conflict; comments above the conflict stay outside if both sides agree on them."""
    firsts = at.map(lambda entries: entries[0] if entries else None)
    lead: Lines | None = None
    with_lead = True
    if firsts.ours is not None and firsts.theirs is not None:
        lead = merge_lines(firsts.map(lead_lines))
        with_lead = any(isinstance(part, Three) for part in lead or ())
    clash = Clash(at, why, place.where, with_lead=with_lead)
    lead = None if with_lead else lead
    return Item(clash, firsts.ours, firsts.theirs, place.path, lead=lead)


def _untouched(base: Entry, other: Entry) -> bool:
    """Return whether a side left an entry alone, apart from quotes, blanks and indentation."""
    return same_entry_text(base, other) or (
        base.name == other.name
        and same_node(base.value, other.value)
        and same_comments(base, other)
        and not has_new_comments(base, other)
    )
