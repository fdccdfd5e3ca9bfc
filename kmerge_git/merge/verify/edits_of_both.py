"""Find edits that both sides made and a merge made twice, and lines that one side moved.

Lists are compared by the distance between them: how many items to delete and to insert. A merge
is between its sides. What leads from ours to theirs leads there through the merge, and an edit
that both sides made is on neither way from a side to the merge.
"""

from __future__ import annotations

from kmerge_git.kube.outline import outline
from kmerge_git.merge.three import Three, counted, whose
from kmerge_git.text.diff3 import lines_between, longest_increasing, uncommon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence
    from typing import TypeVar

    K = TypeVar("K", bound=Hashable)

FEW_LINES = 3  # fewer lines may be alike by chance
# the signs of elements that name others (see `reference_law`)
NAMING = ("$(", "{{", "needs:", "runAfter:", "depend", "if:")


def repeated(lists: Sequence[Sequence[K]], *, is_file: bool = False) -> list[K]:
    """Return the things with which the result, the last list, may repeat what both sides did.

    If both sides did the same, and the result has it twice, the way through it is longer. The lists
    are compared between the things that all have once, because an edit does not move beyond these.
    In a whole file, where sides move and add what has lines in common, only a thing counts that the
    result has more often than either side.
    """
    base, ours, theirs, made = lists
    if ours == theirs or base in (ours, theirs) or made in (ours, theirs):
        return []
    old, mine, yours, counts = map(counted, lists)
    more = {k for k, n in counts.items() if k in mine and k in yours and n > max(1, old.get(k, 0))}
    if is_file:
        more = {key for key in more if counts[key] > max(mine[key], yours[key])}
    found: list[K] = []
    for part in _between_firm(lists) if more else ():
        if more.intersection(part[-1]) and _is_detour(*part):
            found += more.intersection(part[-1])
    return sorted(found, key=lambda key: counts[key] <= max(mine[key], yours[key]))


def _is_detour(
    base: Sequence[K], ours: Sequence[K], theirs: Sequence[K], made: Sequence[K]
) -> bool:
    """Return whether the sides share edits, and a merge is not on the way between them."""
    if base in (ours, theirs) or made in (ours, theirs):
        return False
    ways = _ways(((ours, theirs), (ours, made), (made, theirs)))
    if not ways or ways[0] == ways[1] + ways[2]:
        return False
    own = _ways(((base, ours), (base, theirs)))
    return bool(own) and ways[0] < sum(own)


def _between_firm(lists: Sequence[Sequence[K]]) -> Iterator[list[Sequence[K]]]:
    """Yield the parts of lists between the things that all have once, and in the same order."""
    tables = [_once(things) for things in lists]
    firm = [key for key in tables[0] if all(key in table for table in tables)]
    for table in tables[1:]:
        order = longest_increasing([(n, table[key]) for n, key in enumerate(firm)])
        firm = [firm[n] for n, _ in order]
    starts = [0] * len(lists)
    for key in [*firm, None]:
        ends = [
            len(things) if key is None else table[key]
            for things, table in zip(lists, tables, strict=True)
        ]
        yield [v[a:z] for v, a, z in zip(lists, starts, ends, strict=True)]
        starts = [end + 1 for end in ends]


def has_moves(lists: Sequence[Sequence[K]]) -> bool:
    """Return whether a thing that all lists have once is at another place among these."""
    tables = [_once(things) for things in lists]
    firm = [key for key in tables[0] if all(key in table for table in tables)]
    places = ([table[key] for key in firm] for table in tables)
    return any(found != sorted(found) for found in places)


def may_turn(base: Sequence[str], sides: Iterable[Sequence[str]], new: Iterable[str]) -> bool:
    """Return whether a side moved lines of base, and a new line may name an element."""
    if not any(sign in line for line in new for sign in NAMING):
        return False
    # in brackets the last element has no comma
    old = [line.rstrip(",") for line in base]
    return any(has_moves((old, [line.rstrip(",") for line in side])) for side in sides)


def _once(things: Sequence[K]) -> dict[K, int]:
    """Return the index of each thing that a list has once."""
    often = counted(things)
    return {thing: n for n, thing in enumerate(things) if often[thing] == 1}


def come_back(texts: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines that one side deleted, and that a result has because the other moved them.

    Only lines with words count, and only those that no version repeats.
    """
    tables = [counted(filter(None, map(str.strip, lines))) for lines in texts]
    return [
        line
        for line, n in tables[0].items()
        if n == 1
        and sorted(table.get(line, 0) for table in tables[1:]) == [0, 1, 1]
        and line in tables[3]
        and any(map(str.isalnum, line))
    ]


def is_between(lists: Sequence[Sequence[K]]) -> bool:
    """Return whether the result is at the one place between both sides where a merge must be.

    What only ours did is on the way from the merge to theirs, and the other way round.
    """
    base, ours, theirs, made = lists
    pairs = ((ours, theirs), (base, ours), (base, theirs), (ours, made), (made, theirs))
    ways = _ways(pairs)
    if not ways:
        return False
    sides, mine, yours, to_ours, to_theirs = ways
    return 2 * to_ours == sides + yours - mine and 2 * to_theirs == sides + mine - yours


def _ways(pairs: Iterable[tuple[Sequence[K], Sequence[K]]]) -> list[int]:
    """Return the distances, or nothing if a distance is too long."""
    from kmerge_git.text.shared_edits import distance  # few lists were changed by both sides

    ways = [distance(*pair) for pair in pairs]
    return [way for way in ways if way is not None] if None not in ways else []


def repeats_an_edit(texts: Three[str], made: str) -> bool:
    """Return whether a line merge has an edit twice that both sides made.

    Blank lines between entries are not edits.
    """
    if whose(texts):
        return False
    start, behind = uncommon(*texts.each(), made)
    lines = (lines_between(text, start, behind) for text in (*texts.each(), made))
    stripped = [[*filter(None, map(str.strip, side))] for side in lines]
    return bool(repeated(stripped, is_file=True))


def may_have_moved_parts(versions: Three[list[str]]) -> bool:
    """Return the same of versions that are lists of documents, of which some have changed."""
    known = counted(text for version in versions.each() for text in version)
    changed = versions.map(lambda texts: "".join(text for text in texts if known[text] < 3))
    return may_have_moved(changed.each())


def may_have_moved(texts: Iterable[str]) -> bool:
    """Return whether a side lacks lines of base that the other side may have moved."""
    versions = [*texts]
    start, behind = uncommon(*versions)  # what all have moves nowhere
    lines = (lines_between(text, start, behind) for text in versions)
    # lines count without their indentation and the dashes of list elements
    base, *sides = (counted(line.strip(" -\t\r") for line in some) for some in lines)
    for mine, yours in (sides, sides[::-1]):
        gone = [line for line, n in base.items() if mine.get(line, 0) < n <= yours.get(line, 0)]
        if 2 * len(gone) >= FEW_LINES:  # at least half of a part is there
            return True
    return False


def new_namesakes(texts: list[list[str]]) -> set[Hashable]:
    """Return the names that documents of a result have more often than those of any version."""
    base, *_, made = texts
    old, there = set(base), set(made)
    gone = counted(outline(text) for text in base if text not in there)
    new = counted(outline(text) for text in made if text not in old)
    more = {name for name, n in new.items() if name is not None and n > gone.get(name, 0)}
    count = counted(map(outline, made if more else ()))
    more = {name for name in more if count[name] > 1}
    known = [counted(map(outline, version)) for version in texts[:-1]] if more else []
    return {k for k in more if count[k] > max(names.get(k, 0) for names in known)}


def may_tear_comments(base: str, ours: str, theirs: str) -> bool:
    """Return whether a side wrote a comment line, or both changed comment lines."""
    if base in (ours, theirs) or ours == theirs:
        return False
    changed = []
    for side in (ours, theirs):
        start, behind = uncommon(base, side)
        old, new = (_comment_set(text[start : len(text) - behind]) for text in (base, side))
        if new - old:
            return True
        changed.append(old)
    return bool(changed[0] & changed[1])


def _comment_set(text: str) -> set[str]:
    lines = map(str.strip, text.split("\n")) if "#" in text else ()
    return {line for line in lines if line[:1] == "#"}
