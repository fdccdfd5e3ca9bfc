"""Keep base, ours and theirs together as one value, always in this order."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
    from typing import Generic, TypeVar

    from kmerge_git.text.diff3 import Region

    T = TypeVar("T", covariant=True)
    U = TypeVar("U")
    K = TypeVar("K", bound=Hashable)
else:  # importing `typing` costs as much as a small merge
    T = None

    class Generic:
        __slots__ = ()

        def __class_getitem__(cls, item: object) -> type:
            return cls


class Three(Generic[T]):
    """Hold the three versions of a three-way merge (git's %O %A %B)."""

    __slots__ = ("base", "ours", "theirs")

    def __init__(self, base: T, ours: T, theirs: T) -> None:
        self.base = base
        self.ours = ours
        self.theirs = theirs

    def map(self, change: Callable[[T], U]) -> Three[U]:
        """Apply `change` to each version and return the three results."""
        return Three(change(self.base), change(self.ours), change(self.theirs))

    def each(self) -> tuple[T, T, T]:
        """Return the three versions as a tuple."""
        return self.base, self.ours, self.theirs

    def side(self, name: str) -> T:
        """Return the version with a name: `base`, `ours` or `theirs`."""
        version: T = getattr(self, name)
        return version

    def swapped(self) -> Three[T]:
        """Return the same merge with ours and theirs exchanged."""
        return Three(self.base, self.theirs, self.ours)

    def __repr__(self) -> str:
        return f"Three({self.base!r}, {self.ours!r}, {self.theirs!r})"


def whose(at: Three[object]) -> str:
    """Return the name of the version that wins, or '' if both sides changed it differently.

    Return `theirs` if only their side changed the value. Return `ours` if their side left the value
    alone or made the same change.
    """
    if at.theirs in (at.base, at.ours):
        return "ours"
    return "theirs" if at.ours == at.base else ""


def whose_by(at: Three[T | None], same: Callable[[T, T], bool]) -> str:
    """Return the name of the version that wins if `same` compares them; base may be None."""
    base, ours, theirs = at.base, at.ours, at.theirs
    assert ours is not None and theirs is not None  # the caller's case
    if same(ours, theirs) or (base is not None and same(base, theirs)):
        return "ours"
    return "theirs" if base is not None and same(base, ours) else ""


def agreed(at: Three[T]) -> T | None:
    """Return the version that wins, or None if both sides changed it differently."""
    side = whose(at)
    return at.side(side) if side else None


def standing(at: Three[T]) -> T:
    """Return the version that wins, or ours if both sides changed it differently."""
    return at.side(whose(at) or "ours")


def cut(region: Region, at: Three[list[U]]) -> Three[list[U]]:
    """Return the part of each of three lists that a region of `diff3` covers."""
    return Three(
        at.base[region.b0 : region.b1],
        at.ours[region.o0 : region.o1],
        at.theirs[region.t0 : region.t1],
    )


def under(tables: Three[Mapping[K, U]], key: K) -> Three[U | None]:
    """Return the three values that one key has in three tables."""
    return Three(tables.base.get(key), tables.ours.get(key), tables.theirs.get(key))


def counted(things: Iterable[K]) -> dict[K, int]:
    """Return how often each thing occurs."""
    counts: dict[K, int] = {}
    known = counts.get  # the loop is long
    for thing in things:
        counts[thing] = known(thing, 0) + 1
    return counts


def grouped(pairs: Iterable[tuple[K, U]]) -> dict[K, list[U]]:
    """Return a list of things for each key, in their original order."""
    groups: dict[K, list[U]] = {}
    for key, thing in pairs:
        groups.setdefault(key, []).append(thing)
    return groups


def shared_start(lists: Sequence[Sequence[K]]) -> int:
    """Return how many elements at the start are the same in all lists."""
    rows = enumerate(zip(*lists, strict=False))
    return next((n for n, row in rows if len(set(row)) > 1), min(map(len, lists)))


def is_part(shorter: Sequence[K], longer: Sequence[K]) -> bool:
    """Return whether all elements of one sequence occur in another, in the same order."""
    rest = iter(longer)
    return all(any(x == y for y in rest) for x in shorter)
