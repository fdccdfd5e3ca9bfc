"""Define when a resource moved between files, for all modules that follow moved resources.

Packages (`packages/followed_resources`), merges of repositories (`whole/moved_edits`) and
comparisons (`compare/folder_changes`) read files in different ways and name resources differently.
So the name of a resource can be any hashable value here. Several files of an overlay layout or of
several charts hold resources of one name. Then `destination` compares what the resources say.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import CLEARLY, RENAMED, bag, likeness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence
    from typing import TypeVar

    Name = TypeVar("Name", bound=Hashable)
    Thing = TypeVar("Thing")
    Place = TypeVar("Place")


def once(named: Iterable[tuple[Name | None, Thing]]) -> dict[Name, Thing]:
    """Return the named items by name; omit items that share a name or have no name.

    Two items with the same name cannot be distinguished, so neither item is followed.
    """
    things: dict[Name, Thing] = {}
    shared = set()
    for name, thing in named:
        if name in things:
            shared.add(name)
        elif name is not None:
            things[name] = thing
    return {name: thing for name, thing in things.items() if name not in shared}


def holders(contents: Iterable[tuple[Place, Iterable[Name]]]) -> dict[Name, list[Place]]:
    """Return for each name the places that hold the name, in the order of the places."""
    found: dict[Name, list[Place]] = {}
    for place, names in contents:
        for name in names:
            found.setdefault(name, []).append(place)
    return found


def moved(before: Collection[str], after: Collection[str]) -> tuple[str, str] | None:
    """Return the file that a resource left, and the file that the resource moved to.

    Return None unless the resource left exactly one file and arrived in exactly one file. Two files
    of a kustomization may hold resources of the same name.
    """
    gone, fresh = set(before) - set(after), set(after) - set(before)
    return (gone.pop(), fresh.pop()) if len(gone) == len(fresh) == 1 else None


class Namesake:
    """Hold one of the resources of a name in one version: its file, and its lines."""

    __slots__ = ("folders", "lines", "path")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.folders = path.split("/")[:-1]
        self.lines = bag(text)


def destination(old: Namesake, before: Sequence[Namesake], after: Sequence[Namesake]) -> str | None:
    """Return the file to which a resource moved; '' if it is gone, None if that is open.

    `before` are all resources of its name, `old` among them; `after` are those in new places.
    """
    if len(before) == len(after) == 1:
        return after[0].path
    own = [new for new in after if old in _closest(new, before)]
    near = _closest(old, own)
    if len(near) == 1 and _closest(near[0], before) == [old]:
        return near[0].path
    return None if own else ""


def _closest(one: Namesake, others: Sequence[Namesake]) -> list[Namesake]:
    """Return the resources of another version that may be the same one.

    One that is clearly more alike comes first. Between resources that are about as much alike, the
    folders decide, unless a resource farther away is more alike.
    """
    alike = [likeness(one.lines, other.lines) for other in others]
    best = max(alike, default=0.0)
    if best < RENAMED:
        return []
    close = [o for o, share in zip(others, alike, strict=True) if share >= best - CLEARLY]
    first = [o for o in close if all(o is p or _is_nearer(one, o, p) for p in close)]
    return [o for o in first if likeness(one.lines, o.lines) == best] or close


def _is_nearer(one: Namesake, near: Namesake, far: Namesake) -> bool:
    """Return whether a file is in the folder of another, or in the same chart or overlay.

    Fewer steps alone do not count: the folder above all overlays is near to each of them.
    """
    (steps, shared), (more_steps, less_shared) = (_way(one, other) for other in (near, far))
    return steps < more_steps and (not steps or shared > less_shared)


def _way(one: Namesake, other: Namesake) -> tuple[int, int]:
    """Return the number of steps between two folders, and the number of folders above both."""
    pairs = list(zip(one.folders, other.folders, strict=False))
    shared = next((at for at, (a, b) in enumerate(pairs) if a != b), len(pairs))
    return len(one.folders) + len(other.folders) - 2 * shared, shared
