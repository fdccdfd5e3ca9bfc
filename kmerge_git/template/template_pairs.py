"""Find out which parts of the three versions of a template are the same part.

Each block, output and assignment gets a token, which replaces it in the masked texts. If several
versions share a part, the part has the same token in these versions. So the merge of the masked
texts decides where the part belongs and whether it stays. The content of the part is merged
separately (see `template_merge`).

A place is named after the lines above it (`Placed.path`). If `name: {{ include "old" . }}` became
`name: {{ include "new" . }}`, everything below would seem to be new; so documents and elements
whose rendered name changed keep their place.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.kube.likeness import likeness
from kmerge_git.merge.three import Three, counted, grouped
from kmerge_git.template.template_layout import DATA, ENTRY, WORDS
from kmerge_git.template.template_parser import ASSIGN, TOKEN, Block, blocks_in, hashed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from kmerge_git.template.template_layout import Path, Placed
    from kmerge_git.template.template_parser import Part

    Trio = Three[Placed | None]

ALIKE = 0.6  # the least share of common lines or names for two parts to be the same part
MOST_BLOCK_PAIRS = 10_000  # the most pairs that are compared
MOST_NAME_PAIRS = 40_000  # the most pairs that are compared


class Entity:
    """Hold a block, an output or an assignment, as each version has it."""

    __slots__ = ("at", "is_replaced", "token")

    def __init__(self, token: str, at: Trio, *, is_replaced: bool) -> None:
        self.token = token
        self.at = at
        self.is_replaced = is_replaced  # a side replaced the entry by another entry


def paired(units: Three[list[Placed]]) -> list[Entity]:
    """Pair the blocks, outputs and assignments of the three versions."""
    at = units.map(lambda version: [unit for unit in version if unit.role == ENTRY])
    to_ours, to_theirs = _matches(at.base, at.ours), _matches(at.base, at.theirs)
    in_ours = _replaced(Matching(at.base, at.ours, to_ours), units.base, units.ours)
    in_theirs = _replaced(Matching(at.base, at.theirs, to_theirs), units.base, units.theirs)
    to_ours |= in_ours
    to_theirs |= in_theirs
    mine, yours = _partners(at.ours, to_ours), _partners(at.theirs, to_theirs)
    trios: list[Trio] = [Three(u, mine.get(n), yours.get(n)) for n, u in enumerate(at.base)]
    new_ours, new_theirs = _left(at.ours, to_ours), _left(at.theirs, to_theirs)
    both = _matches(new_ours, new_theirs, only_same=True)
    yours = _partners(new_theirs, both)
    trios += [Three(None, unit, yours.get(n)) for n, unit in enumerate(new_ours)]
    trios += [Three(None, None, unit) for unit in _left(new_theirs, both)]
    return [
        Entity(token, trio, is_replaced=number in in_ours or number in in_theirs)
        for number, (trio, token) in enumerate(zip(trios, _tokens(trios), strict=True))
    ]


def _partners(units: list[Placed], of: dict[int, int]) -> dict[int, Placed]:
    return {number: units[other] for number, other in of.items()}


def _left(units: list[Placed], of: dict[int, int]) -> list[Placed]:
    taken = set(of.values())
    return [unit for number, unit in enumerate(units) if number not in taken]


def _tokens(trios: list[Trio]) -> Iterator[str]:
    """Yield tokens; every token is different."""
    numbers: dict[str, int] = {}  # the number of tokens for each seed
    tokens = {""}
    for trio in trios:
        unit = trio.base or trio.ours or trio.theirs
        assert unit is not None
        seed = "\0".join((*unit.path, _key(unit.part)))
        number, token = numbers.get(seed, 0), ""
        while token in tokens:
            token = f"{TOKEN}E{hashed(f'{number}{seed}'):016x}"
            number += 1
        numbers[seed] = number
        tokens.add(token)
        yield token


def _matches(old: list[Placed], new: list[Placed], *, only_same: bool = False) -> dict[int, int]:
    """Match the entries of two versions: map their numbers in `new` to their numbers in `old`."""
    pairs = Matching(old, new, {})
    pairs.by(lambda u: (u.path, u.part.text), unique=False)
    pairs.by(lambda u: (u.path, _key(u.part)), unique=True)
    if not only_same:
        pairs.of.update(_alike(pairs))
        pairs.by(lambda u: isinstance(u.part, Block) and u.part.text, unique=True)
    return pairs.of


class Matching:
    """Pair units of two versions by their numbers."""

    __slots__ = ("new", "of", "old")

    def __init__(self, old: list[Placed], new: list[Placed], of: dict[int, int]) -> None:
        self.old = old
        self.new = new
        self.of = of

    def left(self) -> tuple[list[int], list[int]]:
        """Return the numbers of the units without a partner: first in `old`, then in `new`."""
        taken = set(self.of.values())
        olds = [n for n in range(len(self.old)) if n not in self.of]
        return olds, [n for n in range(len(self.new)) if n not in taken]

    def by(self, name: Callable[[Placed], object], *, unique: bool) -> None:
        """Pair units with the same name. With `unique`, the name must be unique in each version."""
        for numbers, others in self.grouped(name, name):
            if not unique or len(numbers) == len(others) == 1:
                self.of.update(zip(numbers, others, strict=False))

    def grouped(
        self, name: Callable[[Placed], object], new_name: Callable[[Placed], object]
    ) -> list[tuple[list[int], list[int]]]:
        """Group the units without a partner by name.

        Return the numbers in `old` and the numbers in `new` for each group.
        """
        olds, news = self.left()
        others = _grouped(self.new, news, new_name)
        groups = _grouped(self.old, olds, name)
        return [(numbers, others.get(key, [])) for key, numbers in groups.items()]


def _replaced(pairs: Matching, base: list[Placed], side: list[Placed]) -> dict[int, int]:
    """Return the entries that a side put in place of other entries, between the same neighbours."""
    names: dict[int, Hashable] = {}
    for n, m in pairs.of.items():
        names[id(pairs.old[n])] = names[id(pairs.new[m])] = n
    olds, news = pairs.left()
    before = _between(base, {id(pairs.old[n]) for n in olds}, names)
    after = _between(side, {id(pairs.new[n]) for n in news}, names)
    groups = pairs.grouped(lambda u: before.get(id(u)), lambda u: after.get(id(u)))
    return {olds[0]: news[0] for olds, news in groups if len(olds) == len(news) == 1}


def _between(
    units: list[Placed], open_ones: set[int], names: dict[int, Hashable]
) -> dict[int, Hashable]:
    """Return the place and the two neighbours of each unit without a partner."""
    siblings = grouped(
        (unit.path, unit)
        for unit in units
        if unit.role in (ENTRY, WORDS) or (unit.role == DATA and unit.label)
    )
    places: dict[int, Hashable] = {}
    for path, row in siblings.items():
        marks = [None if id(unit) in open_ones else _mark(unit, names) for unit in row]
        marks = ["", *marks, ""]
        for number, unit in enumerate(row):
            around = marks[number], marks[number + 2]
            if id(unit) in open_ones and None not in around:
                places[id(unit)] = (path, unit.form, around)
    return places


def _mark(unit: Placed, names: dict[int, Hashable]) -> Hashable:
    """Return the name by which a neighbour is recognized."""
    if unit.role == ENTRY:
        return names.get(id(unit))
    return unit.label or unit.part.text


def _grouped(
    units: list[Placed], numbers: list[int], name: Callable[[Placed], object]
) -> dict[object, list[int]]:
    groups = grouped((name(units[number]), number) for number in numbers)
    return {key: group for key, group in groups.items() if key}


# -- blocks whose bodies are alike


def _alike(pairs: Matching) -> Iterator[tuple[int, int]]:
    """Yield pairs of similar blocks. Each block is the best match of the other block."""
    shares = list(_shares(pairs))
    olds = grouped((n, common) for common, n, _ in shares)
    news = grouped((m, common) for common, _, m in shares)
    for common, n, m in shares:
        both = olds[n], news[m]
        if all(max(one) == common and one.count(common) == 1 for one in both):
            yield n, m


def _shares(pairs: Matching) -> Iterator[tuple[float, int, int]]:
    """Yield pairs of similar blocks: the share of equal lines, and the numbers of both blocks.

    Only blocks in the same place, with the same keyword and the same number of branches, are
    compared.
    """
    olds, news = pairs.left()
    if len(olds) * len(news) > MOST_BLOCK_PAIRS:
        return
    lines = {n: _lines(pairs.new[n].part) for n in news}
    for n in olds:
        old, one = pairs.old[n], pairs.old[n].part
        mine = _lines(one)
        for m in news:
            new, other = pairs.new[m], pairs.new[m].part
            if (
                isinstance(one, Block)
                and isinstance(other, Block)
                and old.path == new.path
                and (one.word, len(one.arms)) == (other.word, len(other.arms))
            ):
                common = share(mine, lines[m])
                if common >= ALIKE and not (_holds(one, other) or _holds(other, one)):
                    yield common, n, m


def _holds(block: Block, other: Block) -> bool:
    """Return whether one block contains another block, because a side put a block around it."""
    wanted, most = _lines(other), share(_lines(block), _lines(other))
    return any(
        _key(inner) == _key(other) and share(_lines(inner), wanted) >= most
        for inner in blocks_in(part for arm in block.arms for part in arm.parts)
    )


def share(lines: list[str], others: list[str]) -> float:
    """Return the share of common lines of two lists, or 0 if the first list is empty."""
    return likeness(counted(lines), counted(others)) if lines else 0.0


def _lines(part: Part) -> list[str]:
    arms = part.arms if isinstance(part, Block) else ()
    text = "".join(inner.text for arm in arms for inner in arm.parts)
    return [line.strip() for line in text.split("\n") if line.strip()]


def _key(part: Part) -> str:
    """Return the text that identifies an entry.

    A block is identified by the header, an assignment by the variables, and an output by the text
    without trim marks.
    """
    if isinstance(part, Block):
        return f"{part.word} {' '.join(part.arms[0].action.body.split())}"
    if part.kind == ASSIGN:
        names = [a.word for a in part.actions if a.kind == ASSIGN]
        return f"{'/'.join(names)} :="
    return said(part.text)


def said(text: str) -> str:
    """Return a line of actions with trim marks and extra blanks removed."""
    return " ".join(text.replace("{{-", "{{ ").replace("-}}", " }}").split())


# -- places with a rendered name that was changed


def follow(units: Three[list[Placed]]) -> None:
    """Undo the renames of each side: give renamed places the names that they have in base."""
    base = _named_places(units.base)
    for side in (units.ours, units.theirs):
        depth = -1
        while left := [n for n in _depths_of_new(_named_places(side), base) if n > depth]:
            depth = min(left)
            olds = _renamed(units.base, side, depth)
            for unit in side if olds else ():
                new = unit.path[: depth + 1]
                unit.path = olds.get(new, new) + unit.path[depth + 1 :]


def refuse_taken(units: Three[list[Placed]]) -> None:
    """Refuse a side that renamed something and gave the old name to something new."""
    base = places_of({unit.path for unit in units.base})
    sizes = counted(unit.path[0] for unit in units.base if unit.path)
    has_bare_name = 1 in sizes.values()  # a document that has nothing but a name
    for side in (units.ours, units.theirs):
        new = _depths_of_new(places_of({unit.path for unit in side}), base)
        for depth in sorted(new | {0} if has_bare_name else new):
            _refuse_taken(units.base, side, depth)


def _refuse_taken(base: list[Placed], side: list[Placed], depth: int) -> None:
    olds, news = _texts_below(base, depth), _texts_below(side, depth)
    changed = [place for place in olds.keys() & news.keys() if olds[place] != news[place]]
    for place, other in _pairs(changed, news.keys() - olds.keys(), lambda one: one[:-1]):
        old, new, same = set(olds[place]), set(news[other]), set(news[place])
        if len((old & new) - same) > len((old & same) - new):
            raise Unsupported("one side renamed an entry and gave its old name to a new entry")


def places_of(paths: set[Path]) -> set[Path]:
    """Return the places of some paths, and all places above them."""
    return {path[:end] for path in paths for end in range(1, len(path) + 1)}


def _named_places(units: list[Placed]) -> set[Path]:
    return places_of({unit.path for unit in units if unit.role == DATA})


def _depths_of_new(places: set[Path], base: set[Path]) -> set[int]:
    """Return the depths of the new places of a side that are in an old place."""
    return {len(place) - 1 for place in places - base if len(place) == 1 or place[:-1] in base}


def _pairs(
    olds: Iterable[Path], news: Iterable[Path], kin: Callable[[Path], Hashable]
) -> Iterator[tuple[Path, Path]]:
    """Pair every old place with every new place of the same kind; refuse too many pairs."""
    others = grouped((kin(new), new) for new in news)
    groups = [(old, others.get(kin(old), ())) for old in olds]
    if sum(len(same_kind) for _, same_kind in groups) > MOST_NAME_PAIRS:
        raise Unsupported("too many entries were renamed, so kmerge cannot match their names")
    for old, same_kind in groups:
        yield from ((old, new) for new in same_kind)


def _texts_below(units: list[Placed], depth: int) -> dict[Path, list[str]]:
    """Return the lines below each place of a depth. The name line of a document is omitted."""
    lines = [(u.path[: depth + 1], u.part.text.strip()) for u in units if len(u.path) > depth]
    return grouped(
        (place, text)
        for place, text in lines
        if depth or text != f"name: {place[0].partition('/')[2]}"
    )


def _renamed(base: list[Placed], side: list[Placed], depth: int) -> dict[Path, Path]:
    """Map each place that a side clearly renamed to its place in base."""
    olds, news = _names_below(base, depth), _names_below(side, depth)

    def kin(path: Path) -> Hashable:
        """Return the part of a place that stays the same in a rename."""
        return path[:-1], path[-1].partition(TOKEN if depth else "/")[0]

    pairs = [
        (old, new)
        for old, new in _pairs(olds.keys() - news.keys(), news.keys() - olds.keys(), kin)
        if share(olds[old], news[new]) >= ALIKE
    ]
    counts = counted(path for pair in pairs for path in pair)
    return {new: old for old, new in pairs if counts[old] == counts[new] == 1}


def _names_below(units: list[Placed], depth: int) -> dict[Path, list[str]]:
    """Return the names below those places of a depth whose own name an action may render."""
    names = grouped(
        (unit.path[: depth + 1], unit.label)
        for unit in units
        if unit.role == DATA and len(unit.path) > depth
    )
    return {path: below for path, below in names.items() if not depth or TOKEN in path[-1]}
