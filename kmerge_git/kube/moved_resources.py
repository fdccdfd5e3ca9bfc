"""Define when a resource moved between files, for all modules that follow moved resources.

Packages (`packages/followed_resources`), merges of repositories (`whole/moved_edits`) and
comparisons (`compare/folder_changes`) read files in different ways and name resources differently.
So the name of a resource can be any hashable value here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable
    from typing import TypeVar

    Name = TypeVar("Name", bound=Hashable)
    Thing = TypeVar("Thing")
    Place = TypeVar("Place")


def once(named: Iterable[tuple[Name | None, Thing]]) -> dict[Name, Thing]:
    """Return the named items by name; leave out items that share a name or have no name.

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
