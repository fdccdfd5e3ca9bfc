"""Documents and elements whose name is rendered, and was changed: they are still the same place.

A place is known by the lines above it (`Placed.path`). `name: {{ include "old" . }}` that became
`name: {{ include "new" . }}` would take everything below it for something else.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.template.lexer import TOKEN
from kmerge_git.template.pairing import ALIKE, share
from kmerge_git.template.placed import DATA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from kmerge_git.merge.three import Three
    from kmerge_git.template.placed import Path, Placed

MOST_NAME_PAIRS = 40_000  # that are compared


def follow(units: Three[list[Placed]]) -> None:
    """Give what stands below a name that a side changed the name that base has."""
    for side in (units.ours, units.theirs):
        deepest = max((len(unit.path) for unit in side), default=0)
        for depth in range(deepest):
            olds = _renamed(units.base, side, depth)
            for unit in side if olds else ():
                new = unit.path[: depth + 1]
                unit.path = olds.get(new, new) + unit.path[depth + 1 :]


def refuse_taken(units: Three[list[Placed]]) -> None:
    """Refuse a name that a side freed by a rename and gave to something new."""
    for side in (units.ours, units.theirs):
        deepest = max((len(unit.path) for unit in side), default=0)
        for depth in range(deepest):
            olds, news = _texts_below(units.base, depth), _texts_below(side, depth)
            changed = [place for place in olds.keys() & news.keys() if olds[place] != news[place]]
            for place, other in _pairs(changed, news.keys() - olds.keys(), lambda one: one[:-1]):
                if _is_more_like(olds[place], news[other], news[place]):
                    raise Unsupported(
                        "one side renamed something, and gave its old name to something new"
                    )


def _pairs(
    olds: Iterable[Path], news: Iterable[Path], kin: Callable[[Path], Hashable]
) -> Iterator[tuple[Path, Path]]:
    """Every two of old and new places that are of one kind; not of more than a merge looks at."""
    others: dict[Hashable, list[Path]] = {}
    for new in news:
        others.setdefault(kin(new), []).append(new)
    groups = [(old, others.get(kin(old), ())) for old in olds]
    if sum(len(found) for _, found in groups) > MOST_NAME_PAIRS:
        raise Unsupported("too many changed names to tell which are one")
    for old, found in groups:
        for new in found:
            yield old, new


def _texts_below(units: list[Placed], depth: int) -> dict[Path, list[str]]:
    """The lines below each place of a depth, but for the name of a document itself."""
    found: dict[Path, list[str]] = {}
    for unit in units:
        if len(unit.path) > depth:
            place = unit.path[: depth + 1]
            text = unit.part.text.strip()
            if depth or text != f"name: {place[0].partition('/')[2]}":
                found.setdefault(place, []).append(text)
    return found


def _is_more_like(old: list[str], new: list[str], same: list[str]) -> bool:
    """Whether lines have gone from one place to another that is new."""
    lines, others, those = set(old), set(new), set(same)
    return len((lines & others) - those) > len((lines & those) - others)


def _renamed(base: list[Placed], side: list[Placed], depth: int) -> dict[Path, Path]:
    """The places of a side that have another name in base, where there is no doubt."""
    olds, news = _below(base, depth), _below(side, depth)
    rivals: dict[Path, list[Path]] = {}
    taken: dict[Path, int] = {}
    kin = _kin(depth)
    for old, new in _pairs(olds.keys() - news.keys(), news.keys() - olds.keys(), kin):
        if share(olds[old], news[new]) >= ALIKE:
            rivals.setdefault(new, []).append(old)
            taken[old] = taken.get(old, 0) + 1
    return {
        new: found[0] for new, found in rivals.items() if len(found) == 1 and taken[found[0]] == 1
    }


def _kin(depth: int) -> Callable[[Path], Hashable]:
    """What two places have in common of which one may be the other, renamed."""
    return lambda path: (path[:-1], _shape(path[-1], depth))


def _below(units: list[Placed], depth: int) -> dict[Path, list[str]]:
    """The names that stand below each place of a depth that a rendered text may name."""
    found: dict[Path, list[str]] = {}
    for unit in units:
        if unit.role == DATA and len(unit.path) > depth:
            found.setdefault(unit.path[: depth + 1], []).append(unit.label)
    return {path: names for path, names in found.items() if not depth or TOKEN in path[-1]}


def _shape(name: str, depth: int) -> str:
    """What two names have in common that differ in nothing but what is rendered."""
    if not depth:
        return name.partition("/")[0]
    return name.partition(TOKEN)[0]
