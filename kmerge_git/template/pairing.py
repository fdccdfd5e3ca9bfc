"""Which blocks, outputs and assignments of the three versions are one.

Each gets an identity: a name that stands in its place in the masked texts. What is one in several
versions has one identity there, so that the merge of the masked texts decides where it stands,
and whether; what it says is merged by itself (see `merging`).
"""

from __future__ import annotations

from kmerge_git.template.blocks import Block
from kmerge_git.template.lexer import ASSIGN, TOKEN
from kmerge_git.template.placed import ENTRY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kmerge_git.merge.three import Three
    from kmerge_git.template.blocks import Part
    from kmerge_git.template.placed import Placed

ALIKE = 0.6  # of the lines of two bodies: blocks with another header that are one


class Entity:
    """A block, an output or an assignment in all the versions that have it."""

    __slots__ = ("base", "ours", "theirs", "token")

    def __init__(self, token: str) -> None:
        self.token = token
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
    found: list[Entity] = []
    to_ours, to_theirs = _matches(base, ours), _matches(base, theirs)
    for number, unit in enumerate(base):
        entity = _entity(found, unit)
        entity.base = unit
        if number in to_ours:
            entity.ours = ours[to_ours[number]]
        if number in to_theirs:
            entity.theirs = theirs[to_theirs[number]]
    new_ours = [u for n, u in enumerate(ours) if n not in set(to_ours.values())]
    new_theirs = [u for n, u in enumerate(theirs) if n not in set(to_theirs.values())]
    both = _matches(new_ours, new_theirs, only_same=True)
    for number, unit in enumerate(new_ours):
        entity = _entity(found, unit)
        entity.ours = unit
        if number in both:
            entity.theirs = new_theirs[both[number]]
    for number, unit in enumerate(new_theirs):
        if number not in set(both.values()):
            _entity(found, unit).theirs = unit
    return found


def _entity(found: list[Entity], unit: Placed) -> Entity:
    from kmerge_git.template.masking import digest

    seed = "\0".join((*unit.path, _key(unit.part)))
    number, token = 0, ""
    taken = {entity.token for entity in found}
    while not token or token in taken:
        token = f"{TOKEN}E{digest(f'{number}{seed}')}"
        number += 1
    entity = Entity(token)
    found.append(entity)
    return entity


def _matches(old: list[Placed], new: list[Placed], *, only_same: bool = False) -> dict[int, int]:
    """The places in `new` by the places in `old` of what is one."""
    pairs: dict[int, int] = {}

    def left(units: list[Placed], taken: set[int]) -> list[int]:
        return [n for n in range(len(units)) if n not in taken]

    def pair(name: Callable[[Placed], object], *, unique: bool) -> None:
        news = _grouped(new, left(new, set(pairs.values())), name)
        for key, olds in _grouped(old, left(old, set(pairs)), name).items():
            others = news.get(key, [])
            if unique and not len(olds) == len(others) == 1:
                continue
            pairs.update(zip(olds, others, strict=False))

    pair(lambda u: (u.path, u.part.text), unique=False)
    pair(lambda u: (u.path, _key(u.part)), unique=True)
    if only_same:
        return pairs
    for n, m in _alike(old, new, left(old, set(pairs)), left(new, set(pairs.values()))):
        pairs[n] = m
    pair(lambda u: isinstance(u.part, Block) and u.part.text, unique=True)
    return pairs


def _grouped(
    units: list[Placed], numbers: list[int], name: Callable[[Placed], object]
) -> dict[object, list[int]]:
    found: dict[object, list[int]] = {}
    for number in numbers:
        key = name(units[number])
        if key:
            found.setdefault(key, []).append(number)
    return found


def _alike(
    old: list[Placed], new: list[Placed], olds: list[int], news: list[int]
) -> Iterator[tuple[int, int]]:
    """Blocks of one container, keyword and number of arms whose bodies are most alike."""
    found = []
    for n in olds:
        for m in news:
            one, other = old[n].part, new[m].part
            if (
                isinstance(one, Block)
                and isinstance(other, Block)
                and old[n].path == new[m].path
                and (one.word, len(one.arms)) == (other.word, len(other.arms))
                and not (_holds(one, other) or _holds(other, one))
            ):
                share = likeness(one, other)
                if share >= ALIKE:
                    found.append((share, n, m))
    for share, n, m in found:
        rivals = [s for s, x, y in found if (x == n) != (y == m)]
        if all(share > rival for rival in rivals):
            yield n, m


def _holds(block: Block, other: Block) -> bool:
    """Whether a block is one that was put around another."""
    share = likeness(block, other)
    return any(
        _key(inner) == _key(other) and likeness(inner, other) >= share for inner in _inside(block)
    )


def _inside(block: Block) -> Iterator[Block]:
    for arm in block.arms:
        for part in arm.parts:
            if isinstance(part, Block):
                yield part
                yield from _inside(part)


def likeness(one: Block, other: Block) -> float:
    """The share of lines that the bodies of two blocks have in common."""
    lines, others = _lines(one), _lines(other)
    common = 0
    rest = list(others)
    counts: dict[str, int] = {}
    for line in rest:
        counts[line] = counts.get(line, 0) + 1
    for line in lines:
        if counts.get(line, 0):
            counts[line] -= 1
            common += 1
    return 2 * common / (len(lines) + len(others)) if lines or others else 0.0


def _lines(block: Block) -> list[str]:
    text = "".join(part.text for arm in block.arms for part in arm.parts)
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
