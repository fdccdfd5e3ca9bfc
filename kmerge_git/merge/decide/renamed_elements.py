"""Find elements whose key a side changed by their content, or leave them in conflict.

The input is the elements of three collections, in tables by key. The output has one label for each
element, which is its key in the base. Thus a key is a field like any other, and the other side's
changes inside the element are kept. If it is uncertain which elements belong together, these
elements are not merged. They become one group, which is in conflict as a whole.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import (
    EDITED,
    MOST_COMPARISONS,
    found_in_none,
    in_common,
)
from kmerge_git.kube.renamed_keys import (
    EntryLeaves,
    candidates,
    exchanged,
    labelled,
    matched,
)
from kmerge_git.merge.bulk import refuse_replaced
from kmerge_git.merge.decide.new_things import riddles as new_things
from kmerge_git.merge.decide.order import may_stay, moved
from kmerge_git.merge.decide.rules import Riddle
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three, agreed, counted, grouped, under
from kmerge_git.tree.same import same_comments, same_entry_text, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.kube.renamed_keys import Candidates, Keys, Renamed
    from kmerge_git.merge.decide.rules import KeyPaths, Table
    from kmerge_git.tree.nodes import Entry


def follow(
    at: Three[Table], key_paths: KeyPaths, rule: ListRule | None
) -> tuple[Three[Table], list[Riddle]]:
    """Return the tables with renamed elements under their old keys, and all groups in doubt.

    The elements of such a group cannot be paired with certainty. `key_paths` names the fields of an
    element that are its key. `rule` is the rule of the list, or None for a mapping. Scalar entries
    are never renamed, because they have only their key to identify them.
    """
    twice = new_things(at, key_paths, rule)
    if not at.base:
        return at, twice
    search = _Search(at, key_paths, rule)
    mine, yours = search.renames("ours"), search.renames("theirs")
    if search.follows_moves:
        alike = search.renamed_alike()
        mine, yours = {**alike, **mine}, {**alike, **yours}
    tables = Three(at.base, labelled(at.ours, mine), labelled(at.theirs, yours))
    riddles = search.riddles + twice
    riddles += _gone_or_apart(tables, mine, yours, is_mapping=rule is None)
    riddles += _moved_and_gone(tables)
    if mine or yours:
        riddles += _collisions(tables, mine, yours)
    if rule is not None and rule.kind in ("keyed", "infer", "set"):
        riddles += _replaced(tables)
    return tables, _joined(riddles)


class _Search:
    """Search both sides for elements of base that have a new key."""

    __slots__ = ("at", "follows_moves", "key_paths", "leaves", "ordered", "riddles")

    def __init__(self, at: Three[Table], key_paths: KeyPaths, rule: ListRule | None) -> None:
        self.at = at
        self.key_paths = key_paths
        self.ordered = rule is not None and rule.ordered
        # in a list with keys a move is a change like any other
        self.follows_moves = rule is not None and rule.kind != "atomic"
        self.leaves = EntryLeaves(key_paths)
        self.riddles: list[Riddle] = []

    def renames(self, name: str) -> Renamed:
        """Return the new keys of one side, each with the old key that it replaced."""
        base, side = self.at.base, self.at.side(name)
        other = self.at.theirs if name == "ours" else self.at.ours
        gone, fresh = exchanged(base, side)
        if not gone or not fresh:
            return {}
        passed = self._moved(other)
        untouched = {k for k in gone if _is_untouched(base[k], other.get(k))}
        in_doubt = {*gone} if self.ordered else {*gone} - (untouched - passed)
        # where something is moved or added, the place of a renamed element depends on its old one
        is_arranged = bool(passed or self._moved(side)) or self._adds(other)
        if not (in_doubt or is_arranged or any(k in other for k in fresh)):
            return {}
        if len(gone) * len(fresh) > MOST_COMPARISONS:
            refuse_replaced(len(in_doubt), len(fresh), "entries")
            if in_doubt:
                self.riddles.append(Riddle([*in_doubt, *fresh], Why.WHICH))
            return {}
        renamed = self._matched(candidates(base, side, gone, fresh, self.leaves), in_doubt)
        if is_arranged:
            more = self._moved_ones(renamed, side, other, untouched & passed)
            renamed |= {new: old for new, old in more.items() if old in untouched}
        return renamed

    def _matched(self, candidates: Candidates, in_doubt: set[Hashable]) -> Renamed:
        """Match the most similar pairs; uncertain pairs of elements in doubt become groups."""
        renamed, uncertain = matched(candidates)
        self.riddles.extend(Riddle(p, Why.WHICH) for p in uncertain if p[0] in in_doubt)
        return renamed

    def _moved(self, side: Table) -> set[Hashable]:
        """Return the elements of a list with keys that changed places with others on a side."""
        if not self.follows_moves:
            return set()
        return moved(self.at.base, labelled(side, self._guesses(side)))

    def _adds(self, side: Table) -> bool:
        """Return whether a side has all elements of a list with keys, and a new one."""
        return self.follows_moves and side.keys() > self.at.base.keys()

    def renamed_alike(self) -> Renamed:
        """Return the new keys that both sides gave to an element, if its new value is the same.

        Only its place and its comments depend on the answer.
        """
        base, ours, theirs = self.at.each()
        shared = {
            k
            for k in ours
            if k not in base and k in theirs and same_node(ours[k].value, theirs[k].value)
        }
        if not shared or all(k in ours or k in theirs for k in base):
            return {}
        mine, yours = self._guesses(ours), self._guesses(theirs)
        return {k: mine[k] for k in shared if k in mine and mine[k] == yours.get(k)}

    def _guesses(self, side: Table) -> Renamed:
        """Return the probable new keys of one side, each with the old key that it replaced."""
        gone, fresh = exchanged(self.at.base, side)
        if not 0 < len(gone) * len(fresh) <= MOST_COMPARISONS:
            return {}
        renamed, _ = matched(candidates(self.at.base, side, gone, fresh, self.leaves))
        known = {*renamed, *renamed.values()}
        gone, fresh = ([k for k in keys if k not in known] for keys in (gone, fresh))
        return renamed | matched(self._half_alike(gone, fresh, side)[0])[0]

    def _moved_ones(
        self, renamed: Renamed, side: Table, other: Table, in_doubt: set[Hashable]
    ) -> Renamed:
        """Return the new keys of more elements, which the other side at most moved.

        Only the place of such an element depends on the answer, so half of its leaves are enough if
        the element kept its place on this side, if the two are equal except for their keys, or if
        no other element is like one of them.
        """
        known = {*other, *renamed}.difference(self.at.base)
        known.update(renamed.values(), *(riddle.keys for riddle in self.riddles))
        gone, fresh = (
            [k for k in keys if k not in known] for keys in exchanged(self.at.base, side)
        )
        alike, unlike = self._half_alike(gone, fresh, side)
        found, _ = matched(alike)
        labels = [renamed.get(k, k) for k in side]

        def is_near(old: Hashable, new: Hashable) -> bool:
            return may_stay([*self.at.base], [old if k == new else k for k in labels], old)

        for old, new in _with_rivals(alike, found):
            if not is_near(old, new):
                del found[new]
        lost = in_doubt.difference(found.values())
        pairs = [(old, new) for _, old, new in alike]
        pairs += [pair for pair in unlike if pair[0] in lost and is_near(*pair)]
        self.riddles.extend(
            Riddle([old, new], Why.WHICH)
            for old, new in pairs
            if old in lost and new not in found and self._share_alone(old, new, side)
        )
        return found

    def _half_alike(
        self, gone: Keys, fresh: Keys, side: Table
    ) -> tuple[Candidates, list[tuple[Hashable, Hashable]]]:
        """Return the pairs of old and new keys that share half of their leaves, and other pairs."""
        alike: Candidates = []
        unlike: list[tuple[Hashable, Hashable]] = []
        for old in gone:
            for new in fresh:
                a, b = self.leaves.of(self.at.base[old]), self.leaves.of(side[new])
                likeness = a.shared(b) / max(a.total, b.total, 1)
                if likeness * EDITED[1] >= EDITED[0]:
                    alike.append((likeness, old, new))
                else:
                    unlike.append((old, new))
        return alike, unlike

    def _share_alone(self, old: Hashable, new: Hashable, side: Table) -> bool:
        """Return whether two elements share a leaf that only other new elements have, if any."""
        base = self.at.base
        others = [e for k, e in base.items() if k != old] + [side[k] for k in side if k in base]
        shared = in_common(self.leaves.of(base[old]), self.leaves.of(side[new]))
        return bool(found_in_none(shared, (entry.value for entry in others)))


def _with_rivals(alike: Candidates, found: Renamed) -> list[tuple[Hashable, Hashable]]:
    """Return the matched pairs that are not equal, and of which one is like another element."""
    counts = counted(key for _, *pair in alike for key in pair)
    return [
        (old, new)
        for likeness, old, new in alike
        if found.get(new) == old and likeness < 1 and counts[old] + counts[new] > 2
    ]


def _is_untouched(base: Entry, other: Entry | None) -> bool:
    if other is None:
        return False
    if same_entry_text(base, other):
        return True
    return same_node(base.value, other.value) and same_comments(base, other)


def _gone_or_apart(
    at: Three[Table], mine: Renamed, yours: Renamed, *, is_mapping: bool
) -> Iterator[Riddle]:
    """Find elements that one side renamed and the other side deleted or renamed differently."""
    for renamed, other in ((mine, at.theirs), (yours, at.ours)):
        for old in renamed.values():
            if old not in other:
                yield Riddle([old], Why.RENAMED_AND_GONE)
    if is_mapping:
        names = {old: new for new, old in mine.items()}
        apart = [old for new, old in yours.items() if names.get(old, new) != new]
        yield from (Riddle([old], Why.RENAMED_APART) for old in apart)


def _moved_and_gone(at: Three[Table]) -> Iterator[Riddle]:
    """Find elements that one side moved and changed, and that the other side deleted."""
    for side, other in ((at.ours, at.theirs), (at.theirs, at.ours)):
        if not side.keys() - other.keys():
            continue
        elsewhere = moved(at.base, side)
        for key, base in at.base.items():
            if (key in elsewhere and key not in other) and not _is_untouched(base, side[key]):
                yield Riddle([key], Why.MOVED_AND_GONE)


def _collisions(at: Three[Table], mine: Renamed, yours: Renamed) -> Iterator[Riddle]:
    """Find elements that the merge would give the same key."""
    names = Three(
        {k: k for k in at.base},
        {k: k for k in at.ours} | {old: new for new, old in mine.items()},
        {k: k for k in at.theirs} | {old: new for new, old in yours.items()},
    )
    ends: dict[Hashable, set[Hashable]] = {}
    for label in {**names.ours, **names.theirs}:
        versions = under(names, label)
        name = agreed(versions)
        for end in [name] if name is not None else [versions.ours, versions.theirs]:
            if end is not None and (name is not None or label in at.base):
                ends.setdefault(end, set()).add(label)
            elif end is not None:
                ends.setdefault(label, set()).add(label)
    return (Riddle(labels, Why.SAME_NAME) for labels in ends.values() if len(labels) > 1)


def _replaced(at: Three[Table]) -> Iterator[Riddle]:
    """Find elements that both sides deleted, and that each side replaced by its own elements.

    The new elements replace a deleted element if they are in the same gap. The gap of an element
    is between its nearest neighbours in base that both sides kept.
    """
    lost = [k for k in at.base if k not in at.ours and k not in at.theirs]
    if not lost:
        return
    gaps: dict[Hashable, int] = {}  # key of base -> its gap; for a kept key, the gap in front of it
    number = 0
    for key in at.base:
        gaps[key] = number
        number += key in at.ours and key in at.theirs
    mine, yours = _newcomers(at.ours, at.theirs, gaps), _newcomers(at.theirs, at.ours, gaps)
    for gap, keys in grouped((gaps[key], key) for key in lost).items():
        ours, theirs = mine.get(gap, ()), yours.get(gap, ())
        if ours and theirs:
            yield Riddle([*keys, *ours, *theirs], Why.REPLACED)


def _newcomers(side: Table, other: Table, gaps: dict[Hashable, int]) -> dict[int, list[Hashable]]:
    """Return the elements that only one side has, by the gaps that they are in."""
    last = sum(k in side and k in other for k in gaps)
    newcomers: dict[int, list[Hashable]] = {}
    behind = 0
    waiting: list[Hashable] = []
    for key in (*side, None):
        if key is None or (key in gaps and key in other):
            before = last if key is None else gaps[key]
            for gap in {behind, before} if waiting else ():
                newcomers.setdefault(gap, []).extend(waiting)
            behind, waiting = before + 1, []
        elif key not in gaps and key not in other:
            waiting.append(key)
    return newcomers


def _joined(riddles: list[Riddle]) -> list[Riddle]:
    """Unite groups that share an element, and put the result in the place of the last of them."""
    last = list(range(len(riddles)))  # riddle -> a later riddle of the same group
    known: dict[Hashable, int] = {}
    for number, riddle in enumerate(riddles):
        for key in riddle.keys:
            last[_end(last, known.setdefault(key, number))] = number
    groups = grouped((_end(last, number), riddle) for number, riddle in enumerate(riddles))
    return [
        Riddle({k for r in groups[end] for k in r.keys}, min(r.why for r in groups[end]))
        for end in sorted(groups)
    ]


def _end(last: list[int], number: int) -> int:
    while last[number] != number:
        last[number] = number = last[last[number]]
    return number
