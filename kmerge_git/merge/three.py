"""Base, ours, theirs: always in this order, always as one value."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from typing import Any, Generic, TypeVar

    from kmerge_git.text.diff3 import Region

    T = TypeVar("T", covariant=True)
    U = TypeVar("U")

    class Three(Generic[T]):
        base: T
        ours: T
        theirs: T

        def __init__(self, base: T, ours: T, theirs: T) -> None: ...
        def map(self, change: Callable[[T], U]) -> Three[U]: ...
        def swapped(self) -> Three[T]: ...

else:

    class Three:
        """The trio of a three-way merge (git's %O %A %B)."""

        __slots__ = ("base", "ours", "theirs")

        def __init__(self, base: Any, ours: Any, theirs: Any) -> None:
            self.base = base
            self.ours = ours
            self.theirs = theirs

        def __class_getitem__(cls, item: Any) -> type:
            return cls

        def map(self, change: Any) -> Three:
            """The trio of what `change` makes of each."""
            return Three(change(self.base), change(self.ours), change(self.theirs))

        def swapped(self) -> Three:
            """The same merge seen from the other side."""
            return Three(self.base, self.theirs, self.ours)

        def __repr__(self) -> str:
            return f"Three({self.base!r}, {self.ours!r}, {self.theirs!r})"


def cut(region: Region, at: Three[list[U]]) -> Three[list[U]]:
    """The part of three lists that a region of `diff3` speaks of."""
    return Three(
        at.base[region.b0 : region.b1],
        at.ours[region.o0 : region.o1],
        at.theirs[region.t0 : region.t1],
    )


def under(tables: Three[Mapping[Hashable, U]], key: Hashable) -> Three[U | None]:
    """What stands under a key in each of three tables."""
    return Three(tables.base.get(key), tables.ours.get(key), tables.theirs.get(key))
