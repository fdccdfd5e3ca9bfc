"""Files that were renamed: every version of one under the path where its merge will stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from kmerge_git.merge.three import Three
from kmerge_git.packages.files import File, Package
from kmerge_git.packages.outlines import holds_only_names
from kmerge_git.packages.renames import arrivals, find_renames


@dataclass(frozen=True, slots=True)
class Followed:
    """Packages in which the versions of one file have one path."""

    at: Three[Package]
    sources: dict[str, str]  # what dest had under another path, by the new one
    named_by_dest: set[str]  # paths of files that dest renamed
    notes: dict[str, str]  # what is to be told of a path
    refused: dict[str, str]  # why a path is left to a person


def follow(at: Three[Package], words: Three[str]) -> Followed:
    """Pair what each side renamed; where both did, dest's name stands."""
    theirs = find_renames(*_gone_and_fresh(at, "theirs"), arrivals(at.base, at.theirs))
    ours = _renames_of_dest(at, theirs)
    to: Three[dict[str, str]] = Three({}, {}, {})
    notes, refused = {}, {}
    for path, mine in sorted(ours.items()):
        yours = theirs.get(path, "" if path not in at.theirs else path)
        if mine != yours and mine in at.theirs:
            continue  # each has a file of this name: they are merged as what they are
        if yours and mine != yours:
            to.theirs[yours] = mine
            if yours != path:
                notes[mine] = f"renamed to {yours} in {words.theirs}; {words.ours}'s name stays"
        to.base[path] = mine
    named_by_dest = set(to.base.values())
    room = Room(at)
    for path, yours in sorted(theirs.items()):
        if path in to.base or yours in to.base.values():
            continue
        if path not in at.ours:
            to.base[path] = yours  # gone in dest, or merged there before
        elif room.is_free(yours, path):
            to.base[path] = to.ours[path] = yours
        elif not (yours in at.ours and _go_together(path, yours, at)):
            to.theirs[yours] = path
            taken = "has one of its own" if yours in at.ours else "has others in its way"
            refused[path] = f"renamed to {yours} in {words.theirs}, {words.ours} {taken}"
    packages = [_renamed(p, names) for p, names in zip(at.each(), to.each(), strict=True)]
    sources = {target: path for path, target in to.ours.items()}
    return Followed(Three(*packages), sources, named_by_dest, notes, refused)


def _renamed(package: Package, names: dict[str, str]) -> Package:
    staying = {path: file for path, file in package.items() if path not in names}
    return staying | {names[path]: file for path, file in package.items() if path in names}


def _renames_of_dest(at: Three[Package], theirs: dict[str, str]) -> dict[str, str]:
    """What dest renamed; it may have followed theirs before, and then nothing else is looked for.

    The next version of a file that dest renamed tells as much as the one that it came from.
    """
    gone, fresh = _gone_and_fresh(at, "ours")
    arrived = arrivals(at.base, at.ours)
    for path in gone:
        later = at.theirs.get(path) or at.theirs.get(theirs.get(path, ""))
        gone[path] += (later,) if later else ()
    found = {}
    for path, target in theirs.items():
        if path in gone and target in fresh:
            file = fresh[target]
            if find_renames({path: gone[path]}, {target: file}, arrived):
                found[path] = target
                del gone[path], fresh[target]
    return found | find_renames(gone, fresh, arrived)


def _gone_and_fresh(
    at: Three[Package], side: str
) -> tuple[dict[str, tuple[File, ...]], dict[str, File]]:
    """The files of the base that a side lacks, and those that it has beside the base's."""
    there = at.side(side)
    gone: dict[str, tuple[File, ...]] = {}
    gone |= {path: (file,) for path, file in sorted(at.base.items()) if path not in there}
    fresh = {path: file for path, file in sorted(there.items()) if path not in at.base}
    return gone, fresh


def _is_same(a: File | None, b: File | None) -> bool:
    return a is not None and b is not None and (a.data, a.link) == (b.data, b.link)


def _go_together(path: str, target: str, at: Three[Package]) -> bool:
    """Whether what was renamed and what dest has there need not be put side by side.

    They are the same; or all are resources with names, and these are followed one by one.
    """
    ours, theirs = at.ours[target], at.theirs[target]
    files = [(path, at.base[path]), (path, at.ours[path]), (target, ours), (target, theirs)]
    return _is_same(ours, theirs) or all(holds_only_names(*file) for file in files)


class Room:
    """Where in dest a file may come to stand that theirs renamed."""

    def __init__(self, at: Three[Package]) -> None:
        self._ours = at.ours
        self._staying = {
            path
            for path, file in at.ours.items()
            if path in at.theirs or not _is_same(file, at.base.get(path))
        }
        self._folders = Counter(folder for path in self._staying for folder in folders(path))

    def is_free(self, target: str, source: str) -> bool:
        """Whether neither a file nor a folder of dest is in the way, but for the file itself."""
        if target in self._ours:
            return False
        inside = source in self._staying and source.startswith(f"{target}/")
        if self._folders[target] > int(inside):
            return False
        return all(folder == source or folder not in self._staying for folder in folders(target))


def folders(path: str) -> Iterator[str]:
    """The folders that a path goes through."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
