"""Find conflicts in lists without keys that git's clean lines would settle with one thing twice."""

from __future__ import annotations

from kmerge_git.kube.likeness import MOST_COMPARISONS, RENAMED_LEAVES, Leaves, are_named_apart
from kmerge_git.merge.plan import Build, Clash
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.merge.merged import MergedFile
    from kmerge_git.merge.plan import Plan
    from kmerge_git.merge.three import Three
    from kmerge_git.tree.nodes import Entry, Node

    Values = list[Node]


def may_be_twice(merged: MergedFile, by_lines: str) -> bool:
    """Return whether git's lines hold an addition of each side that may be one new thing."""
    return any(
        _may_be_one(clash.at, by_lines)
        for document in merged.documents
        if document.plan is not None
        for clash in _of_lists(document.plan)
    )


def _of_lists(plan: Plan) -> Iterator[Clash]:
    """Yield the conflicts of a plan about elements of lists without keys."""
    for item in plan.items if isinstance(plan, Build) else ():
        if isinstance(item.plan, Clash):
            entries = [*item.plan.at.ours, *item.plan.at.theirs]
            has_key = item.path and isinstance(item.path[-1], tuple)
            if not has_key and all(entry.key is None for entry in entries):
                yield item.plan
        else:
            yield from _of_lists(item.plan)


def _may_be_one(at: Three[list[Entry]], by_lines: str) -> bool:
    """Return whether two additions may be one thing.

    Two of three leaves are equal, and no naming field differs. An element that is as much like one
    of base, which its side lacks, may be an edited version of that one.
    """
    base, ours, theirs = at.map(lambda there: {canon(e.value): e.value for e in there}).each()
    if len(ours) * len(theirs) > MOST_COMPARISONS:
        return False
    new = [
        [node for key, node in side.items() if key not in base and key not in other]
        for side, other in ((ours, theirs), (theirs, ours))
    ]
    mine, yours = ([node for node in side if node.raw in by_lines] for side in new)
    lost = [[node for key, node in base.items() if key not in side] for side in (ours, theirs)]
    return any(_are_one(a, b, lost) for a in mine for b in yours)


def _are_one(ours: Node, theirs: Node, lost: list[Values]) -> bool:
    pair = Leaves(ours), Leaves(theirs)
    shared, (part, whole) = pair[0].shared(pair[1]), RENAMED_LEAVES
    if whole * shared < part * max(leaves.total for leaves in pair):
        return False
    old = [Leaves(n).shared(p) for p, some in zip(pair, lost, strict=True) for n in some]
    return shared > max(old, default=0) and not are_named_apart(ours, theirs)
