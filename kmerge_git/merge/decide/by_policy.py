"""Let a policy decide the conflicts of a plan (rule 12).

The merge without a policy goes first. The policy is asked about the conflicts that are left, and
all other decisions of the plan stay.
"""

from __future__ import annotations

from kmerge_git.merge.decide.comments import tails_clash
from kmerge_git.merge.decide.rules import Place, Ruling
from kmerge_git.merge.plan import (
    Build,
    Clash,
    Item,
    Keep,
    NewText,
    Note,
    Take,
    Why,
    decided,
    has_clash,
)
from kmerge_git.merge.three import Three
from kmerge_git.outcome import SIDES
from kmerge_git.tree.nodes import Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.decide.rules import Policy
    from kmerge_git.merge.decide.walk import Walk
    from kmerge_git.merge.plan import Plan
    from kmerge_git.tree.nodes import Node


# The causes of a conflict about one value; a doubt begins with one of the last two.
OF_VALUES = (Why.BOTH_CHANGED, Why.BOTH_ADDED)
OF_DOUBTS = (Why.UNCERTAIN, Why.ALIAS)


class Rulings:
    """Ask a policy about the conflicts of one document, and collect what it decides or refuses."""

    __slots__ = ("notes", "policy", "walk")

    def __init__(self, policy: Policy, walk: Walk) -> None:
        self.policy = policy
        self.walk = walk  # merges the comments around a value that the policy chose
        self.notes: list[Note] = []

    def document(self, why: str) -> str:
        """Return the side whose document or file is taken, or '' if the conflict stays."""
        ruling = self.policy((), [], [], [], None)
        if ruling is None or ruling.side not in SIDES:
            return ""
        self._decide((), why, ruling)
        return ruling.side

    def plan(self, plan: Plan, base: Node | None, place: Place) -> Plan:
        """Return the plan with the conflicts decided that the policy decides."""
        if not isinstance(plan, Build) or plan.is_guess:
            return plan  # a policy decides about values, never about what is one element
        items: list[Item] = []
        if isinstance(plan.ours, Mapping) and isinstance(plan.theirs, Mapping):
            maps = Three(base if isinstance(base, Mapping) else None, plan.ours, plan.theirs)
            within = place.within(maps.base or maps.ours)
            made: dict[int, list[Item]] = {}
            # a value may be decided by the fields beside the map that holds it (see `Ruling.after`)
            for item in sorted(plan.items, key=lambda item: isinstance(item.plan, Build)):
                key = str(item.path[-1]) if item.path else ""
                made[id(item)] = self._item(item, within.key(key, maps))
            items += [new for item in plan.items for new in made[id(item)]]
        elif isinstance(plan.ours, Sequence) and isinstance(plan.theirs, Sequence):
            lists = Three(base if isinstance(base, Sequence) else None, plan.ours, plan.theirs)
            inner = place.elements(lists)
            for item in plan.items:
                # a conflict of all elements has the path of their list
                step = item.path[len(place.path) :]
                items += self._item(item, inner.step(step[0]) if step else inner)
        return plan.but(items)

    def _item(self, item: Item, place: Place) -> list[Item]:
        inside = item.plan
        if isinstance(inside, Clash):
            return self._clash(item, inside, place)
        if isinstance(inside, Build):
            base = item.base.value if item.base is not None else None
            return [item.but(self.plan(inside, base, place), item.theirs, item.lead)]
        if isinstance(inside, NewText) and has_clash(inside):
            ruling = self.policy(place.path, [], [], [], place)
            if ruling is not None and ruling.side in SIDES and ruling.plan is None:
                if ruling.after:
                    return self._whole(item, inside, place)
                self._decide(place.path, Why.BOTH_CHANGED, ruling)
                return [item.but(decided(inside, ruling.side), item.theirs, item.lead)]
        return [item]

    def _whole(self, item: Item, text: NewText, place: Place) -> list[Item]:
        """Ask about a text of several lines as one value; if it stays, so do its conflicts."""
        at = Three(item.base, item.ours, item.theirs).map(lambda entry: [entry] if entry else [])
        (made,) = self._clash(item, Clash(at, Why.BOTH_CHANGED, place.where), place)
        if not isinstance(made.plan, Clash):
            return [made]
        left = NewText(text.ours, text.header, text.parts, text.comment, made.plan.refused)
        return [item.but(left, item.theirs, item.lead)]

    def _clash(self, item: Item, clash: Clash, place: Place) -> list[Item]:
        """Return the entries that the policy chooses, or the conflict with the policy's refusal."""
        ruling = self.policy(place.path, *clash.at.each(), place)
        if ruling is None:
            return [item]
        if ruling.after and not self._is_on_top(ruling):
            ruling = Ruling(
                "",
                "",
                refused=f"policy mine: no policy took the chart's `version` from {ruling.side}",
            )
        if ruling.plan is not None and _is_of_one_value(clash):
            at = clash.at.map(lambda entries: entries[0] if entries else None)
            made = self.walk.with_plan(ruling.plan, at, place) if not tails_clash(at) else None
            if made is not None and not isinstance(made.plan, Clash):
                self._decide(place.path, clash.why, ruling)
                return [made]
        # both sides are kept only where both added to the same place
        is_whole = ruling.plan is None and ruling.side in SIDES
        if is_whole or (ruling.side == "union" and clash.why == Why.BOTH_ADD_HERE):
            self._decide(place.path, clash.why, ruling)
            return _chosen(clash, ruling, place)
        refused = ruling.refused
        if ruling.plan is not None:
            refused = f"{ruling.rule.partition(' ')[2]}: the sides differ in more than the value"
        if refused:
            self.notes.append(Note(place.path, f"{clash.why} ({refused})", "conflict", ""))
            clash = Clash(
                clash.at, clash.why, clash.where, with_lead=clash.with_lead, refused=refused
            )
        return [item.but(clash, item.theirs, item.lead)]

    def _is_on_top(self, ruling: Ruling) -> bool:
        """Return whether a policy decided the field that the ruling depends on for its side."""
        sides = (ruling.side, "neither")
        return any(note.path == ruling.after and note.side in sides for note in self.notes)

    def _decide(self, path: Path, why: str, ruling: Ruling) -> None:
        what = f"{why}: {ruling.what}" if ruling.what else why
        self.notes.append(Note(path, what, ruling.side, ruling.rule))


def _is_of_one_value(clash: Clash) -> bool:
    is_value = clash.why in OF_VALUES or clash.why.startswith(OF_DOUBTS)
    return is_value and all(len(entries) < 2 for entries in clash.at.each())


def _chosen(clash: Clash, ruling: Ruling, place: Place) -> list[Item]:
    """Return the entries of the side that a policy takes, or those of both sides."""
    ours = [] if ruling.side == "theirs" else clash.at.ours
    theirs = clash.at.theirs if ruling.taken is None else ruling.taken
    items = [Item(Keep(entry.value), entry, None, place.path) for entry in ours]
    for entry in theirs if ruling.side != "ours" else ():
        items.append(Item(Take(entry.value, entry), None, entry, place.path))
    return items
