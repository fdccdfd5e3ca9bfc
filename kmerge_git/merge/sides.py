"""A plan decided for one side: every clash gives way to what that side has there.

The writer needs it where a clash has no lines of its own (within a line of JSON, in the only entry
of a list): then the entry around it is written once for each side, with all that is merged in it.
"""

from __future__ import annotations

from kmerge_git.kube.fieldpath import show
from kmerge_git.merge.plan import Build, Clash, Item, Keep, NewText, Plan, Take, TextClash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Path

    Parts = list[list[str] | TextClash]


def decided(plan: Plan, side: str) -> Plan:
    """The plan without clashes."""
    if isinstance(plan, NewText):
        text = NewText(plan.ours, plan.header, [plan.lines(side)])
        text.comment = plan.comment
        return text
    if not isinstance(plan, Build):
        return plan
    items = [one for item in plan.items for one in decided_item(item, side)]
    result = Build(plan.ours, plan.theirs, items)
    result.properties = plan.properties
    result.head, result.foot = _parts(plan.head, side), _parts(plan.foot, side)
    return result


def decided_item(item: Item, side: str) -> Iterator[Item]:
    """The entries that stand in an item's place."""
    if isinstance(item.plan, Clash):
        for entry in getattr(item.plan, side):
            if side == "ours":
                yield Item(Keep(entry.value), entry, None, item.path)
            else:
                taken = Item(Take(entry.value, entry), None, entry, item.path)
                taken.base = item.plan.base[0] if item.plan.base else None
                yield taken
        return
    result = Item(decided(item.plan, side), item.ours, item.theirs, item.path)
    result.base, result.key, result.after = item.base, item.key, item.after
    result.replaces = item.replaces
    result.lead = _parts(item.lead, side)
    yield result


def is_empty(plan: Build, side: str) -> bool:
    """Whether a side's decision leaves no entry, though there are items."""
    return bool(plan.items) and all(
        isinstance(item.plan, Clash) and not getattr(item.plan, side) for item in plan.items
    )


def has_clash(plan: Plan) -> bool:
    """Whether anything in a plan is left to decide."""
    if isinstance(plan, Build):
        return any(has_clash(item.plan) for item in plan.items)
    if isinstance(plan, NewText):
        return any(isinstance(part, TextClash) for part in plan.parts)
    return isinstance(plan, Clash)


def named_clash(plan: Plan) -> tuple[Path, str]:
    """Place and cause of one clash in a plan: the same one when the sides are swapped."""
    found = []
    for item in plan.items if isinstance(plan, Build) else ():
        inside = isinstance(item.plan, Clash)
        place = (item.path, item.plan.why) if inside else named_clash(item.plan)  # type: ignore[attr-defined]
        if place[1]:
            found.append(place)
    return min(found, key=_shown, default=((), ""))


def _shown(place: tuple[Path, str]) -> tuple[list[str], str]:
    path, why = place
    return [step if isinstance(step, str) else show((step,)) for step in path], why


def _parts(parts: Parts | None, side: str) -> Parts | None:
    if parts is None:
        return None
    return [part.side(side) if isinstance(part, TextClash) else part for part in parts]
