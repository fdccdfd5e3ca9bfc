"""Find the aliases that a plan would turn to another anchor, and the places of the conflicts."""

from __future__ import annotations

from kmerge_git.kube.listkeys import ListKeys, start
from kmerge_git.merge.anchors import Groups, lawful, marks, marks_of_key, resolved
from kmerge_git.merge.plan import Build, Clash, Keep, NewText, Remark, Take, Why
from kmerge_git.merge.three import Three
from kmerge_git.outcome import SIDES
from kmerge_git.tree.nodes import Alias, Collection, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Path, Step
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.anchors import Meaning
    from kmerge_git.merge.plan import Item, Plan
    from kmerge_git.tree.nodes import Entry, Node

    Roots = Three[Node | None]


def wider(doubts: dict[Path, str], plan: Plan, roots: Roots, path: str) -> dict[Path, str]:
    """Return the places of a document that become conflicts, because a plan turns aliases there.

    The places of earlier doubts stay. If they were of no use for an alias, the collection around
    the alias is added. `path` is the path of the file.
    """
    sides = [root for root in (roots.ours, roots.theirs) if root is not None]
    if not any(isinstance(node, Alias) for root in sides for node in marks(root)):
        return doubts  # `*` and `&` are in texts only
    result = dict(doubts)
    for why, places in _Targets(plan, roots, path).turned():
        new = [place for place in places if place not in doubts]
        if not new:
            place = places[0]
            while place in doubts and place:
                place = place[:-1]
            new = [place]
        for place in new:
            result.setdefault(place, why)
    return result


class _Targets:
    """Compare what aliases mean in the result of a plan with what they mean in the versions."""

    __slots__ = ("groups", "meant", "path", "plan", "roots")

    def __init__(self, plan: Plan, roots: Roots, path: str) -> None:
        self.plan = plan
        self.roots = roots.each()
        self.path = path
        self.groups = Groups()
        self.groups.pair(plan, [*self.roots])
        there = [[*marks(root)] if root is not None else [] for root in self.roots]
        self.groups.pair_moved([[node for node in nodes if node.anchor] for nodes in there])
        self.meant = {id(alias): node for nodes in there for alias, node in resolved(nodes)}

    def turned(self) -> list[tuple[str, list[Path]]]:
        """Return the causes of conflicts, each with the places of the alias and of its anchors."""
        found: dict[tuple[str, Path], list[Path]] = {}
        for side in SIDES:
            for first in ("", *SIDES):  # which side is ours decides nothing
                self.compare([*_planned(self.plan, side, first)], side, found)
        return [(why, list(dict.fromkeys(places))) for (why, _), places in found.items()]

    def compare(
        self, nodes: list[Node], side: str, found: dict[tuple[str, Path], list[Path]]
    ) -> None:
        """Add the aliases of a result that are turned; the conflicts are decided for a side."""
        anchored = {(node.anchor, self.groups.number(node)) for node in nodes if node.anchor}
        for alias, target in resolved(nodes):
            at = Three(*self.groups.of(alias))
            if self.groups.meaning(alias, target) in lawful(at.map(self.own_meaning), side):
                continue
            what = "would mean another" if target is not None else "would lose its"
            why = f"{Why.ALIAS}{alias.name}` {what} `&{alias.name}`"
            new = [target] if target is not None and self.is_new(target) else []
            known = [self.meant.get(id(node)) for node in at.each()]
            gone = [n for n in known if n and (n.anchor, self.groups.number(n)) not in anchored]
            places = [self.place(node) for node in (alias, *new, *gone)]
            found.setdefault((why, places[0]), []).extend(places)

    def own_meaning(self, node: Node | None) -> Meaning | None:
        """Return what an alias means in its own version, or None for other nodes."""
        return self.groups.meaning(node, self.meant[id(node)]) if isinstance(node, Alias) else None

    def is_new(self, node: Node) -> bool:
        """Return whether a side does not have this anchor at the place of the node."""
        return any(n is None or n.anchor != node.anchor for n in self.groups.of(node)[1:])

    def place(self, node: Node) -> Path:
        """Return the path of a node, or of what around it has no key or is new on one side."""
        side = next(n for n, found in enumerate(self.groups.of(node)) if found is node)
        path: Path = ()
        around, where = self.roots[side], start(self.roots[side], self.path)
        while isinstance(around, Collection) and around is not node:
            entry = next(e for e in around.entries if node.end <= e.value.end)
            step, where = _step(around, entry, where)
            if step is None:
                break
            path = (*path, step)
            if entry.key is node or None in self.groups.of(entry.value)[1:]:
                break
            around = entry.value
        return path


def _step(around: Collection, entry: Entry, where: Where) -> tuple[Step | None, Where]:
    """Return the step to an entry and the place of its value; the step is None without a key."""
    if isinstance(around, Mapping):
        return entry.name, where.at(around).child(entry.name)
    keys = ListKeys(where.list_rule(), [around.entries])
    key = keys.of(entry.value)
    return None if key is None else keys.step(key), where.items()


def _planned(plan: Plan, side: str, first: str) -> Iterator[Node]:
    """Yield the aliases and the nodes with an anchor of a plan, with its conflicts decided.

    Where additions of both sides meet, those of the side `first` come first, if it is given.
    """
    if isinstance(plan, Build):
        top = plan.ours if plan.properties is None else plan.theirs
        if top.anchor:
            yield top
        for item in _with_first(plan.items, first) if first else plan.items:
            if isinstance(item.plan, Clash):
                for entry in item.plan.at.side(side):
                    yield from marks_of_key(entry)
                    yield from marks(entry.value)
            elif not isinstance(item.plan, Remark):
                own = item.ours or item.theirs if item.key is None else item.theirs
                yield from marks_of_key(own)
                yield from _planned(item.plan, side, first)
    elif isinstance(plan, Take) and plan.part is not None:
        yield from _planned(plan.part, side, first)
    elif isinstance(plan, Keep | Take):
        yield from marks(plan.node)
    elif isinstance(plan, NewText):
        yield from marks(plan.ours)


def _with_first(items: list[Item], first: str) -> list[Item]:
    """Return the items; where additions of both sides meet, those of one side come first."""
    result: list[Item] = []
    later: list[Item] = []  # additions of the other side
    for item in items:
        side = _adding_side(item)
        if side and side != first:
            later.append(item)
            continue
        if not side:
            result += later
            later = []
        result.append(item)
    return result + later


def _adding_side(item: Item) -> str:
    """Return the side that alone added what an item holds, or ''."""
    at = Three(item.base or item.replaces, item.ours, item.theirs)
    if isinstance(item.plan, Clash):
        at = item.plan.at.map(lambda entries: entries[0] if entries else None)
    if at.base is not None or (at.ours is None) == (at.theirs is None):
        return ""
    return "ours" if at.ours is not None else "theirs"
