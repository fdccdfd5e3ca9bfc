"""What `kmerge check` learns from git about files that are not there."""

from __future__ import annotations

import os
from functools import cache, partial

from kmerge_git.check.kustomize.past import DELETED, MADE, UNSTAGED, Fate, Past
from kmerge_git.cli.check_places import (
    from_here,
    from_top_of,
    git_directory,
    is_beyond,
    prefix_of,
    top_here,
)
from kmerge_git.git.hints import may_be_tracked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kmerge_git.git.mergesides import MergeSides

HEADS = ("HEAD", "MERGE_HEAD")
FEW = 2000  # changed files whose kustomizations can all be read
PARENTS = ("HEAD^1", "HEAD^2")  # what the last commit deleted is found by whoever checks it


class GitPast:
    """The answers of git about one state: the working tree, the index, or a commit."""

    def __init__(self, *, staged: bool = False, sides: MergeSides | None = None) -> None:
        self._staged = staged
        self._is_merge = sides is not None
        self._result = sides.result if sides else ""
        self._heads = (sides.ours, sides.theirs) if sides else HEADS
        self._befores = self._heads if sides else (*HEADS, *PARENTS)
        self._top = cache(top_here)

    def past(self, *, of_all: bool) -> Past:
        """The answers as the checks want them; `of_all` the files of the run are all there are."""
        if of_all or not self._may_name_files():
            return Past(self.fates, self.before)
        top = self._top()
        if not top:
            return Past()
        is_below = prefix_of(top) != "."
        place = partial(from_top_of, top) if is_below else lambda path: path
        return Past(self.fates, self.before, self.concerned, self.kustomizations, place)

    def _may_name_files(self) -> bool:
        """Whether git may know a kustomization; told without a question to it."""
        folder = git_directory()
        return bool(folder) and (self._is_merge or may_be_tracked(folder, b"ustomization"))

    def fates(self, paths: list[str]) -> dict[str, Fate]:
        """What became of some files, those about which git knows something."""
        top = self._top()
        names = {path: from_top_of(top, path) for path in paths} if top else {}
        known = (name for name in names.values() if "\0" not in name)  # no name of a file has it
        inside = [name for name in known if not is_beyond(name)]
        found = self._known(top, inside) if inside else {}
        return {path: found[name] for path, name in names.items() if name in found}

    def _known(self, top: str, names: list[str]) -> dict[str, Fate]:
        """The fates by the paths from the top."""
        from kmerge_git.git.absent import made_elsewhere, moved, present, renamed

        found = {name: Fate(MADE) for name in made_elsewhere(top, names)}
        for before in self._befores:
            gone = present(top, before, names) - found.keys()
            now = renamed(top, before, self._result) if gone else {}
            for name in gone:
                new = moved(name, now)
                found[name] = Fate(DELETED, from_here(top, new) if new else "")
        for name in names if self._staged else ():
            if name not in found and os.path.lexists(os.path.join(top, name)):
                found[name] = Fate(UNSTAGED)
        return found

    def before(self, path: str) -> list[bytes] | None:
        """A file as the commits before this state have it; None where there is no git."""
        from kmerge_git.git.blobs import answer

        top = self._top()
        if not top:
            return None
        name = from_top_of(top, path)
        found = (answer("-C", top, "cat-file", "blob", f"{head}:{name}") for head in self._heads)
        return [data for data in found if data]

    def concerned(self) -> Iterable[str]:
        """The files that this state takes away, or in a merge those that a side changed."""
        from kmerge_git.git.absent import changed

        top = self._top()
        if not top:
            return []
        befores = self._heads if self._is_merge else self._heads[:1]

        def names(kinds: str) -> list[str]:
            return [n for before in befores for n in changed(top, before, self._result, kinds)]

        found = names("ACDMT") if self._is_merge else []
        if not 0 < len(found) <= FEW:
            found = names("D")
        return [from_here(top, name) for name in dict.fromkeys(found)]

    def kustomizations(self) -> Iterable[str]:
        """All kustomizations that git knows."""
        from kmerge_git.git.absent import all_kustomizations

        top = self._top()
        return [from_here(top, n) for n in all_kustomizations(top, self._result)] if top else []


def past_of(files: list[str], *, staged: bool, sides: MergeSides | None = None) -> Past:
    """What git knows for a run: of folders all files are looked at, whatever became of others."""
    of_all = not staged and sides is None and all(os.path.isdir(path) for path in files)
    return GitPast(staged=staged, sides=sides).past(of_all=of_all)
