"""Check the elements of a list without keys that all versions have.

An element is known by its content. An element of base that a side edited (see `list_readings`) is
the same element in all versions, so its order is checked, and its fields as well.
"""

from __future__ import annotations

from kmerge_git.merge.verify import sites
from kmerge_git.merge.verify.edits_of_both import has_moves, is_between, repeated
from kmerge_git.merge.verify.sites import RESULT, Violation, bounds, disordered, unsettled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.merge.verify.list_readings import Counts, Edit, Newcomers
    from kmerge_git.merge.verify.sites import Keys, Site
    from kmerge_git.tree.nodes import Entry, Node

    # compare four versions at a place in a place, and return the broken laws
    Compare = Callable[[list[Node | None], Site, Site, str], list[Violation]]


class UnkeyedElements:
    """Hold the elements of a list in base, ours, theirs and the result, and what is wrong."""

    __slots__ = ("_compare", "_counts", "_edits", "_keys", "_lists", "_made", "_site", "found")

    def __init__(
        self,
        lists: list[list[Entry]],
        keys: list[Keys],
        counts: Counts,
        site: Site,
        compare: Compare,
    ) -> None:
        self.found: list[Violation] = []
        self._compare = compare
        self._lists = lists
        self._keys = keys
        self._counts = counts
        self._site = site
        self._edits = self._edited()
        self._made: dict[Hashable, Hashable] = {}  # the keys of edited elements, result -> base

    def are_lawful(self, rule: ListRule, *, has_conflicts: bool) -> bool:
        """Note what is wrong with the elements, and return whether each of them is certain.

        An element is uncertain if both sides changed it, and no other version shows which one.
        """
        for edit in self._edits:
            self._judge(edit)
        is_certain = self._judge_counts(is_open=has_conflicts or rule.bag)
        if rule.kind != "set" and not rule.bag:
            pair = disordered(*self._named())
            if pair:
                self._report("order", f"{sites.named(pair)} would be in the wrong order")
            repeats = any(count > 1 for n in self._counts.values() for count in n[:RESULT])
            if repeats and not has_moves(self._named()):
                for key in repeated(self._named())[:1]:
                    what = f"`{sites.shown(key)}` was added by both sides and would appear twice"
                    self._report("count", what)
        return is_certain and not self.found

    def _report(self, law: str, what: str, which: object = None) -> None:
        path = self._site.path
        self.found.append(Violation(law, self._site.number, path, what, (path, which)))

    def _edited(self) -> list[Edit]:
        """Return the elements of base that a side edited, if each of them is certain."""
        counts = self._counts.values()
        if not any(count[0] > min(count[1:RESULT]) for count in counts):
            return []  # nothing is gone on a side
        if not any(count[0] < max(count[1:RESULT]) for count in counts):
            return []  # nothing is new on a side
        from kmerge_git.merge.verify.list_readings import edits

        nodes = [[entry.value for entry in entries] for entries in self._lists]
        return edits(self._keys, nodes, self._counts)

    def _named(self) -> list[Keys]:
        """Return the keys of the four versions, with the key of base for each edited element."""
        if not self._edits:
            return self._keys
        names: list[dict[Hashable, Hashable]] = [
            {},
            {edit.ours: edit.old for edit in self._edits},
            {edit.theirs: edit.old for edit in self._edits},
            self._made,
        ]
        versions = zip(self._keys, names, strict=True)
        return [[name.get(key, key) for key in version] for version, name in versions]

    # -- edited elements

    def _judge(self, edit: Edit) -> None:
        """Check an edited element, and find it in the result."""
        wanted = edit.single
        if edit.is_disputed:
            what = f"`{sites.shown(edit.old)}` was edited on one side and deleted on the other side"
            self._report("gone", what, tuple(self._keys[RESULT]))
        elif wanted is None:
            self._judge_both(edit)
        elif self._counts[wanted][RESULT] == 1:
            self._made[wanted] = edit.old
        elif not self._counts[wanted][RESULT] and not sites.is_leaf(wanted):
            what = "an edited element would differ from the side that edited it"
            self._report("leaf", what, tuple(self._keys[RESULT]))

    def _judge_both(self, edit: Edit) -> None:
        """Check an element that both sides edited differently.

        An element of the result is a merge of both versions if it breaks no law. If there is none,
        report the laws that the best candidate breaks.
        """
        nodes = [
            {key: entry.value for key, entry in zip(names, entries, strict=True)}
            for names, entries in zip(self._keys, self._lists, strict=True)
        ]
        own: list[Node | None] = [nodes[0][edit.old], nodes[1][edit.ours], nodes[2][edit.theirs]]
        inner = self._site.elements().but(is_shared=True, pure=True, entire=False)
        name = sites.shown(edit.old)
        lawful: Keys = []
        faults: list[list[Violation]] = []
        for key, node in nodes[RESULT].items():
            if key in (edit.ours, edit.theirs) or not any(self._counts[key][:RESULT]):
                broken = self._compare([*own, node], inner, self._site, name)
                faults.append(broken)
                lawful += [key] if not broken else []
        if len(lawful) == 1:
            self._made[lawful[0]] = edit.old
        elif not faults:
            what = f"`{name}`, which both sides edited, would be lost"
            self._report("count", what, tuple(self._keys[RESULT]))
        elif not lawful:
            best = min(faults, key=len)
            self.found += best

    # -- counts

    def _judge_counts(self, *, is_open: bool) -> bool:
        """Check how often each element is there, and return whether each element is certain."""
        settled = self._settled()
        rest = {key: n for key, n in unsettled(self._counts).items() if key not in settled}
        new = self._newcomers(rest)
        allowed: dict[Hashable, tuple[int, int]] = {}
        for key, count in rest.items():
            base, ours, theirs, made = count
            is_leaf = sites.is_leaf(key)
            low, high = bounds(base, ours, theirs)
            if made < low and max(count[:RESULT]) > 1 and is_between(self._named()):
                low = made  # a side may have added it here and taken it away there
            if new is not None and not base and ours and theirs:
                low, high = new.allowed(key, (0, ours, theirs), is_word=is_leaf, is_open=is_open)
                if not is_open and new.is_disputed(key, is_word=is_leaf):
                    what = (
                        f"both sides added `{sites.shown(key)}`; kmerge cannot match the additions"
                    )
                    self._report("count", what, key)
            if not is_leaf:
                allowed[key] = low, high
            elif not low <= made <= high:
                self._report("count", sites.miscounted(key, made, low, high))
        what, which = _unexplained({key: rest[key] for key in allowed}, allowed)
        if what:
            self._report("count", what, which)
        return all(low <= rest[key][RESULT] <= high for key, (low, high) in allowed.items())

    def _settled(self) -> set[Hashable]:
        """Return the keys of the edited elements that the result has, in all versions."""
        found = {*self._made.values()}
        settled = {key for e in self._edits if e.old in found for key in (e.old, e.ours, e.theirs)}
        for key in settled - self._made.keys():
            if self._counts[key][RESULT]:  # the result has the element in another version
                self._report("count", "an element would appear twice, in two versions", key)
        return settled | self._made.keys()

    def _newcomers(self, counts: Counts) -> Newcomers | None:
        """Return the additions of both sides, if both sides added an element."""
        if not any(not base and ours and theirs for base, ours, theirs, _ in counts.values()):
            return None
        from kmerge_git.merge.verify.list_readings import Newcomers

        return Newcomers(*self._named()[:RESULT])


def _unexplained(
    counts: Counts, allowed: dict[Hashable, tuple[int, int]]
) -> tuple[str, tuple[Hashable, ...]]:
    """Return what is wrong with the elements that are no leaves, and these elements.

    If both sides changed an element, the result may have a third version of the element instead.
    """
    merged = [key for key, count in counts.items() if not any(count[:RESULT])]
    new_versions = sum(counts[key][RESULT] for key in merged)
    changed_twice = 0  # how many elements of base neither side has any more
    new = [0, 0, 0]
    missing: list[Keys] = [[], [], []]
    for key, count in counts.items():
        base, ours, theirs, there = count
        low, high = allowed[key]
        if there > high and any(count[:RESULT]):
            return "an element would appear too often", (key,)
        if there < low and ours <= base and theirs <= base:
            return "an element would be lost", (key,)
        changed_twice += max(base - max(ours, theirs), 0)
        for side in (1, 2):
            if count[side] > base:
                new[side] += min(there, low)
                missing[side] += [key] * (low - there)
    for side, other in ((1, 2), (2, 1)):
        if len(missing[side]) > min(new_versions + new[other], changed_twice):
            return "an element that one side added or changed would be lost", tuple(missing[side])
    if new_versions > min(len(missing[1]), len(missing[2])):
        return "an element would be added, although neither side has it", tuple(merged)
    return "", ()
