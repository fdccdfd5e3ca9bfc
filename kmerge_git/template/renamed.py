"""Documents and elements whose name is rendered, and was changed: they are still the same place.

A place is known by the lines above it (`Placed.path`). `name: {{ include "old" . }}` that became
`name: {{ include "new" . }}` would take everything below it for something else.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.template.lexer import TOKEN
from kmerge_git.template.placed import DATA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.three import Three
    from kmerge_git.template.placed import Path, Placed

ALIKE = 0.6  # of the lines below two names


def follow(units: Three[list[Placed]]) -> None:
    """Give what stands below a name that a side changed the name that base has."""
    for side in (units.ours, units.theirs):
        deepest = max((len(unit.path) for unit in side), default=0)
        for depth in range(deepest):
            for new, old in _renamed(units.base, side, depth).items():
                for unit in side:
                    if unit.path[: depth + 1] == new:
                        unit.path = old + unit.path[depth + 1 :]


def refuse_taken(units: Three[list[Placed]]) -> None:
    """Refuse a name that a side freed by a rename and gave to something new."""
    for side in (units.ours, units.theirs):
        deepest = max((len(unit.path) for unit in side), default=0)
        for depth in range(deepest):
            olds, news = _texts_below(units.base, depth), _texts_below(side, depth)
            for place in olds.keys() & news.keys():
                for other in news.keys() - olds.keys():
                    if other[:-1] == place[:-1] and _is_more_like(
                        olds[place], news[other], news[place]
                    ):
                        raise Unsupported(
                            "one side renamed something, and gave its old name to something new"
                        )


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
    for new in news.keys() - olds.keys():
        rivals[new] = [
            old
            for old in olds.keys() - news.keys()
            if old[:-1] == new[:-1]
            and _shape(old[-1], depth) == _shape(new[-1], depth)
            and _share(olds[old], news[new]) >= ALIKE
        ]
    taken = [old for found in rivals.values() for old in found]
    return {
        new: found[0]
        for new, found in rivals.items()
        if len(found) == 1 and taken.count(found[0]) == 1
    }


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


def _share(names: list[str], others: list[str]) -> float:
    rest = list(others)
    for name in names:
        if name in rest:
            rest.remove(name)
    return 2 * (len(others) - len(rest)) / (len(names) + len(others))
