"""Apply the rules `git`, which treat both sides alike, every value as data, and doubt as a clash.

A policy for the place may settle a clash (rule 12).
"""

from __future__ import annotations

from kmerge_git.kube.listkeys import has_port_names
from kmerge_git.merge.decide import block_texts, keyed
from kmerge_git.merge.decide.comments import (
    has_new_comments,
    lead_lines,
    merge_lines,
    merge_tail,
    tails_clash,
)
from kmerge_git.merge.decide.order import arranged, as_sorted, in_place, weave_alike
from kmerge_git.merge.decide.rules import BY_ELEMENTS, Reading, Ruling
from kmerge_git.merge.pairing import same_name
from kmerge_git.merge.plan import Clash, Item, Keep, Note, Plan, Take, Why, decided, has_clash
from kmerge_git.merge.three import Three, whose
from kmerge_git.tree.nodes import Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import same_comments, same_entry_text, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.merge.decide.rules import KeyPaths, Keys, Notes, Place, Policy, Riddle, Table
    from kmerge_git.merge.plan import Line, Lines
    from kmerge_git.tree.documents import Document


LARGE = 2_500  # in a collection with more entries the changed entries are counted
# the number of the rule that makes a conflict; 6 for a value, 8 for a resource
RULE_OF = {Why.BOTH_ADD_HERE: "5", Why.ORDER: "3", Why.SAME_NAME: "3", Why.COMMENT: "14"}
RULE_OF |= dict.fromkeys((Why.OURS_GONE, Why.THEIRS_GONE), "2") | dict.fromkeys(Why.FIRM, "11")
AS_TEXT = Reading(whole=False)  # null and `$patch` are data like any other value


class GitRules:
    """Hold the rules `git`; `decide.rules.Rules` describes the questions that they answer."""

    __slots__ = ("policy",)
    stops = True

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy

    # -- documents

    def twins(self, ours: list[Document], theirs: list[Document]) -> list[tuple[int, int]]:
        return same_name(ours, theirs)

    def reading(self, at: Three[Document | None]) -> Reading:
        return AS_TEXT

    def added(self, document: Document) -> Plan | None:
        return None

    def document_clash(self, why: str) -> tuple[str, Notes]:
        ruling, notes = self._settled(Three([], [], []), why, None)
        return ruling.side, notes

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
        ruling, notes = self._settled(at, why, place)
        side = ruling.side
        if not side:
            return [_conflict(at, why, place, ruling.refused)], notes
        items = [] if side == "theirs" else _kept(at.ours, place.path)
        if side != "ours":
            theirs = at.theirs if ruling.taken is None else ruling.taken
            items += [_taken(entry, place.path) for entry in theirs]
        return items, notes

    def _settled(
        self, at: Three[list[Entry]], why: str, place: Place | None
    ) -> tuple[Ruling, Notes]:
        """Return the ruling of a policy; if no policy decides, the ruling gives the reason."""
        path = place.path if place is not None else ()
        ruling = self.policy(path, *at.each(), place) if self.policy is not None else None
        if ruling is not None and _may_say(ruling, why):
            return ruling, [Note(path, why, ruling.side, ruling.rule)]
        refused = _refusal(ruling) if ruling is not None else ""
        rule = RULE_OF.get(why, "9" if why.startswith(Why.ALIAS) else "6") if path else "8"
        words = f"{why} ({refused})" if refused else why
        return Ruling("", "", refused=refused), [Note(path, words, "conflict", rule)]

    # -- values

    def text(self, at: Three[Node | None], place: Place) -> tuple[Plan | None, Notes]:
        base, ours, theirs = at.base, at.ours, at.theirs
        assert isinstance(ours, Scalar) and isinstance(theirs, Scalar)  # the caller's case
        plan = block_texts.merge(base if isinstance(base, Scalar) else None, ours, theirs)
        if plan is None and isinstance(base, Scalar) and _is_in_block(place):
            plan = block_texts.merge_flow(base, ours, theirs)
        if plan is None or not has_clash(plan):
            return plan, []
        ruling, notes = self._settled(Three([], [], []), Why.BOTH_CHANGED, place)
        return decided(plan, ruling.side) if ruling.side else plan, notes

    def winner(self, at: Three[Entry | None], place: Place) -> tuple[Plan | None, Notes]:
        if self.policy is None:
            return None, []
        found = self.policy(place.path, *at.map(lambda e: [e] if e else []).each(), place)
        # if both sides changed the comments too, comments and value stay a conflict
        if found is None or found.plan is None or tails_clash(at):
            return None, []
        why = Why.BOTH_CHANGED if at.base else Why.BOTH_ADDED
        what = f"{why}: {found.what}" if found.what else why
        return found.plan, [Note(place.path, what, found.side, found.rule)]

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


def _is_in_block(place: Place) -> bool:
    """Return whether a value belongs to a key of a block mapping on our side."""
    return place.maps is not None and place.maps.ours is not None and not place.maps.ours.flow


def _texts(table: Table) -> dict[Hashable, str]:
    """Return each member of a set as text, by key."""
    values = ((key, entry.value) for key, entry in table.items())
    return {key: value.value if isinstance(value, Scalar) else "" for key, value in values}


def _taken(theirs: Entry, path: Path) -> Item:
    """Return an item that takes their entry with all its lines."""
    return Item(Take(theirs.value, theirs), None, theirs, path)


def _kept(ours: list[Entry], path: Path) -> list[Item]:
    return [Item(Keep(entry.value), entry, None, path) for entry in ours]


def _may_say(found: Ruling, why: str) -> bool:
    """Return whether a ruling may decide whole entries.

    A ruling to keep both sides counts only if both sides added to the same place.
    """
    if found.side == "union":
        return why == Why.BOTH_ADD_HERE
    return bool(found.side) and found.plan is None


def _refusal(found: Ruling) -> str:
    """Return the reason why a policy does not decide a conflict."""
    if found.plan is not None:
        return f"{found.rule.partition(' ')[2]}: more than the value differs"
    return found.refused


def _conflict(at: Three[list[Entry]], why: str, place: Place, refused: str) -> Item:
    """Return a clash; comments above the clash stay outside if both sides agree on them."""
    firsts = at.map(lambda entries: entries[0] if entries else None)
    lead: Lines | None = None
    with_lead = True
    if firsts.ours is not None and firsts.theirs is not None:
        lead = merge_lines(firsts.map(lead_lines))
        with_lead = any(isinstance(part, Three) for part in lead or ())
    clash = Clash(at, why, place.where, with_lead=with_lead, refused=refused)
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
