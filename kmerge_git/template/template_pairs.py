"""Find out which parts of the three versions of a template are the same part.

Each block, output and assignment gets an identity: a name that takes its place in the masked
texts. A part that several versions have is one identity in all of them, so that the merge of
the masked texts decides about its place and about its presence; its content is merged by
itself (see `block_merge`). Documents and elements whose rendered name changed stay one place.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.template.action_lexer import ASSIGN, TOKEN
from kmerge_git.template.masking import digest
from kmerge_git.template.template_blocks import Block
from kmerge_git.template.template_layout import DATA, ENTRY, WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from kmerge_git.merge.three import Three
    from kmerge_git.template.template_blocks import Part
    from kmerge_git.template.template_layout import Path, Placed


ALIKE = 0.6  # the share of lines or names below two headers or names of one thing
MOST_BLOCK_PAIRS = 10_000  # that are compared


class Entity:
    """A block, an output or an assignment in all the versions that have it."""

    __slots__ = ("base", "is_replaced", "ours", "theirs", "token")

    def __init__(self, token: str) -> None:
        self.token = token
        self.is_replaced = False  # a version has something else in its place
        self.base: Placed | None = None
        self.ours: Placed | None = None
        self.theirs: Placed | None = None

    def text(self, side: str) -> str | None:
        """What it is in a version; None: it is not there."""
        unit: Placed | None = getattr(self, side)
        return unit.part.text if unit is not None else None


def paired(units: Three[list[Placed]]) -> list[Entity]:
    """All entries that are opaque, each with its version of base, ours and theirs."""
    base, ours, theirs = (
        [unit for unit in version if unit.role == ENTRY] for version in units.each()
    )
    found = _Entities()
    to_ours, to_theirs = _matches(base, ours), _matches(base, theirs)
    in_ours = _replaced(Matching(base, ours, to_ours), units.base, units.ours)
    in_theirs = _replaced(Matching(base, theirs, to_theirs), units.base, units.theirs)
    to_ours |= in_ours
    to_theirs |= in_theirs
    for number, unit in enumerate(base):
        entity = found.add(unit)
        entity.base = unit
        entity.is_replaced = number in in_ours or number in in_theirs
        if number in to_ours:
            entity.ours = ours[to_ours[number]]
        if number in to_theirs:
            entity.theirs = theirs[to_theirs[number]]
    taken, others = set(to_ours.values()), set(to_theirs.values())
    new_ours = [unit for n, unit in enumerate(ours) if n not in taken]
    new_theirs = [unit for n, unit in enumerate(theirs) if n not in others]
    both = _matches(new_ours, new_theirs, only_same=True)
    for number, unit in enumerate(new_ours):
        entity = found.add(unit)
        entity.ours = unit
        if number in both:
            entity.theirs = new_theirs[both[number]]
    taken = set(both.values())
    for number, unit in enumerate(new_theirs):
        if number not in taken:
            found.add(unit).theirs = unit
    return found.all


class _Entities:
    """Entities, each with a token of its own."""

    __slots__ = ("all", "numbers", "tokens")

    def __init__(self) -> None:
        self.all: list[Entity] = []
        self.numbers: dict[str, int] = {}  # of tokens with one seed
        self.tokens: set[str] = set()

    def add(self, unit: Placed) -> Entity:
        """One more, for a unit that nothing was paired with."""
        seed = "\0".join((*unit.path, _key(unit.part)))
        number, token = self.numbers.get(seed, 0), ""
        while not token or token in self.tokens:
            token = f"{TOKEN}E{digest(f'{number}{seed}')}"
            number += 1
        self.numbers[seed] = number
        self.tokens.add(token)
        entity = Entity(token)
        self.all.append(entity)
        return entity


def _matches(old: list[Placed], new: list[Placed], *, only_same: bool = False) -> dict[int, int]:
    """The places in `new` by the places in `old` of what is one."""
    pairs = Matching(old, new, {})
    pairs.by(lambda u: (u.path, u.part.text), unique=False)
    pairs.by(lambda u: (u.path, _key(u.part)), unique=True)
    if not only_same:
        for n, m in _alike(pairs):
            pairs.of[n] = m
        pairs.by(lambda u: isinstance(u.part, Block) and u.part.text, unique=True)
    return pairs.of


class Matching:
    """Units of two versions, and which of them are one."""

    __slots__ = ("new", "of", "old")

    def __init__(self, old: list[Placed], new: list[Placed], of: dict[int, int]) -> None:
        self.old = old
        self.new = new
        self.of = of

    def left(self) -> tuple[list[int], list[int]]:
        """The numbers of those that have none."""
        taken = set(self.of.values())
        olds = [n for n in range(len(self.old)) if n not in self.of]
        return olds, [n for n in range(len(self.new)) if n not in taken]

    def by(self, name: Callable[[Placed], object], *, unique: bool) -> None:
        """Pair those that have the same name; if `unique`, where there is one of each."""
        olds, news = self.left()
        others = _grouped(self.new, news, name)
        for key, numbers in _grouped(self.old, olds, name).items():
            found = others.get(key, [])
            if not unique or len(numbers) == len(found) == 1:
                self.of.update(zip(numbers, found, strict=False))


def _replaced(pairs: Matching, base: list[Placed], side: list[Placed]) -> dict[int, int]:
    """Entries that stand where others stood, between the same neighbours."""
    names: dict[int, Hashable] = {}
    for n, m in pairs.of.items():
        names[id(pairs.old[n])] = names[id(pairs.new[m])] = n
    olds, news = pairs.left()
    before = _between(base, {id(pairs.old[n]) for n in olds}, names)
    after = _between(side, {id(pairs.new[n]) for n in news}, names)
    wanted = _grouped(pairs.old, olds, lambda unit: before.get(id(unit)))
    others = _grouped(pairs.new, news, lambda unit: after.get(id(unit)))
    return {
        numbers[0]: others[key][0]
        for key, numbers in wanted.items()
        if len(numbers) == len(others.get(key, ())) == 1
    }


def _between(
    units: list[Placed], open_ones: set[int], names: dict[int, Hashable]
) -> dict[int, Hashable]:
    """Where units stand that have no name yet: the place, and the names of both neighbours."""
    siblings: dict[Path, list[Placed]] = {}
    for unit in units:
        if unit.role in (ENTRY, WORDS) or (unit.role == DATA and unit.label):
            siblings.setdefault(unit.path, []).append(unit)
    found: dict[int, Hashable] = {}
    for path, row in siblings.items():
        marks = [None if id(unit) in open_ones else _mark(unit, names) for unit in row]
        marks = ["", *marks, ""]
        for number, unit in enumerate(row):
            around = marks[number], marks[number + 2]
            if id(unit) in open_ones and None not in around:
                found[id(unit)] = (path, unit.form, around)
    return found


def _mark(unit: Placed, names: dict[int, Hashable]) -> Hashable:
    """What a neighbour is known by."""
    if unit.role == ENTRY:
        return names.get(id(unit))
    return unit.label or unit.part.text


def _grouped(
    units: list[Placed], numbers: list[int], name: Callable[[Placed], object]
) -> dict[object, list[int]]:
    found: dict[object, list[int]] = {}
    for number in numbers:
        key = name(units[number])
        if key:
            found.setdefault(key, []).append(number)
    return found


def _alike(pairs: Matching) -> Iterator[tuple[int, int]]:
    """Blocks of one container, keyword and number of arms whose bodies are most alike."""
    found = _shares(pairs)
    best: dict[tuple[str, int], tuple[float, int]] = {}  # the most, and how often it is there
    for share, n, m in found:
        for one in (("old", n), ("new", m)):
            most, count = best.get(one, (0.0, 0))
            if share >= most:
                best[one] = share, count + 1 if share == most else 1
    for share, n, m in found:
        if best["old", n] == best["new", m] == (share, 1):
            yield n, m


def _shares(pairs: Matching) -> list[tuple[float, int, int]]:
    """How alike those are that are alike."""
    olds, news = pairs.left()
    if len(olds) * len(news) > MOST_BLOCK_PAIRS:
        return []
    found = []
    left = [*(pairs.old[n] for n in olds), *(pairs.new[m] for m in news)]
    lines = {id(unit): _lines(unit.part) for unit in left}
    for n in olds:
        for m in news:
            old, new = pairs.old[n], pairs.new[m]
            one, other = old.part, new.part
            if (
                isinstance(one, Block)
                and isinstance(other, Block)
                and old.path == new.path
                and (one.word, len(one.arms)) == (other.word, len(other.arms))
            ):
                common = share(lines[id(old)], lines[id(new)])
                if common >= ALIKE and not (_holds(one, other) or _holds(other, one)):
                    found.append((common, n, m))
    return found


def _holds(block: Block, other: Block) -> bool:
    """Whether a block is one that was put around another."""
    most = likeness(block, other)
    return any(
        _key(inner) == _key(other) and likeness(inner, other) >= most for inner in _inside(block)
    )


def _inside(block: Block) -> Iterator[Block]:
    for arm in block.arms:
        for part in arm.parts:
            if isinstance(part, Block):
                yield part
                yield from _inside(part)


def likeness(one: Block, other: Block) -> float:
    """The share of lines that the bodies of two blocks have in common."""
    return share(_lines(one), _lines(other))


def share(lines: list[str], others: list[str]) -> float:
    """Return the share of lines that two lists have in common."""
    common = 0
    counts: dict[str, int] = {}
    for line in others:
        counts[line] = counts.get(line, 0) + 1
    for line in lines:
        if counts.get(line, 0):
            counts[line] -= 1
            common += 1
    return 2 * common / (len(lines) + len(others)) if lines or others else 0.0


def _lines(part: Part) -> list[str]:
    arms = part.arms if isinstance(part, Block) else ()
    text = "".join(inner.text for arm in arms for inner in arm.parts)
    return [line.strip() for line in text.split("\n") if line.strip()]


def _key(part: Part) -> str:
    """What an entry is known by: a header, a text without its trim marks, a variable."""
    if isinstance(part, Block):
        return f"{part.word} {' '.join(part.arms[0].action.body.split())}"
    if part.kind == ASSIGN:
        names = [a.word for a in part.actions if a.kind == ASSIGN]
        return f"{'/'.join(names)} :="
    return said(part.text)


def said(text: str) -> str:
    """A line of actions without its trim marks and blanks."""
    return " ".join(text.replace("{{-", "{{ ").replace("-}}", " }}").split())


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
