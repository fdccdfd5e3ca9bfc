"""Find out from kustomizations and git whether a file is a patch, a resource or missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from posixpath import basename, normpath
from typing import NamedTuple

from kmerge_git.bounds import COMPARED_FILES
from kmerge_git.check.checked_texts import World
from kmerge_git.check.kustomize import kustomization
from kmerge_git.check.kustomize.kustomization import Kustomization, PatchEntry, folder_of, inside_of
from kmerge_git.check.page_values import Text, roots_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.check.kustomize.kustomize_build import Gathering


class Evidence(NamedTuple):
    """Hold what the kustomizations around a file say about the file."""

    listed_by: Kustomization | None  # the kustomization that lists the file as a resource
    named_by: tuple[Kustomization | None, PatchEntry] | None  # the entry for the patch
    near: Kustomization | None  # the kustomization in or above the file's folder


class Kustomizations:
    """Hold the kustomizations among the checked files, and in the folders around these files."""

    def __init__(self, world: World, past: Past) -> None:
        self.world = world
        self.past = past
        self.files: set[str] = set()  # the checked files
        self.given: list[Kustomization] = []  # the kustomizations among the files
        self._seen: dict[Kustomization, None] = {}  # kustomizations in other folders
        self._folders: dict[str, Kustomization | None] = {}
        self._named_by_transformers: dict[Kustomization, dict[str, PatchEntry]] = {}
        self._read: set[str] = set()  # other files that may be read

    def expect(self, paths: Iterable[str]) -> None:
        """Read the kustomizations among the files before the files are checked."""
        self.files = {normpath(path) for path in paths}
        for path in sorted(self.files):
            if basename(path) in kustomization.NAMES:
                known = kustomization.in_folder(self.world, folder_of(path))
                if known is not None:
                    self._folders[folder_of(path)] = known
                    self.given.append(known)

    def late(self, path: str) -> int:
        """Return the rank of a file: first come resources, then patches, then kustomizations.

        In this order each file is read only once.
        """
        if basename(path) in kustomization.NAMES:
            return 2
        return int("patch" in basename(path) or any(path in one.entries for one in self.given))

    def about(self, path: str) -> Evidence:
        """Return what the kustomizations say about a file."""
        wanted = normpath(path)
        near = kustomization.near(self.world, wanted, self._folders)
        around = [*self.given, *near]
        self._seen |= dict.fromkeys(around)
        named_by = (
            (one, entry)
            for one in around
            if (entry := one.entries.get(wanted) or self._of_transformers(one).get(wanted))
        )
        listed_by = next((one for one in around if wanted in one.listed), None)
        return Evidence(listed_by, next(named_by, None), near[0] if near else None)

    def _of_transformers(self, one: Kustomization) -> dict[str, PatchEntry]:
        """Return the patch files that the transformers of a kustomization name."""
        if one not in self._named_by_transformers:
            texts = (item for item in one.root.items("transformers") if isinstance(item, Text))
            paths = (inside_of(one.directory, text.text) for text in texts)
            self._named_by_transformers[one] = {
                entry.path: entry
                for book in filter(None, map(self.world.book, paths))
                for root in book.objects()
                for entry in kustomization.inside(book.page, root)
                if entry.path
            }
        return self._named_by_transformers[one]

    # -- builds ----------------------------------------------------------------------------------

    def builds(self) -> Iterator[Gathering]:
        """Yield the builds that contain a checked file or name a deleted file."""
        others = {normpath(path) for path in self.past.concerned()} - self.files
        touched = self._touched(others)
        if not touched:
            return
        from kmerge_git.check.kustomize.kustomize_build import (
            Gatherer,  # late: most files are in no build
        )

        gatherer = Gatherer(self.world, lambda path: not others and self._is_apart(path))
        for one in touched:
            yield gatherer.of(one)

    def _touched(self, others: set[str]) -> list[Kustomization]:
        """Return the kustomizations that include a checked file, directly or through others."""
        place = self.past.place
        touched: dict[str, Kustomization] = {one.path: one for one in self.given}
        wanted = {place(path) for path in self.files | others}
        folders = {folder_of(p) for p in wanted if basename(p) in kustomization.NAMES}
        wanted |= {folder or "." for folder in folders}
        known = {one.path: one for one in self._seen}
        met = known.keys() | touched.keys()
        paths = dict.fromkeys(self.past.kustomizations()).keys() - met
        unread = {path: self.world.read(path) or b"" for path in sorted(paths)}
        while True:
            known |= self._promising(unread, wanted)
            more = {
                path: one
                for path, one in known.items()
                if path not in touched and not wanted.isdisjoint(map(place, one.mentioned))
            }
            if not more:
                return list(touched.values())
            touched |= more
            wanted |= {place(one.directory or ".") for one in more.values()}

    def _promising(self, unread: dict[str, bytes], wanted: set[str]) -> dict[str, Kustomization]:
        """Return those kustomizations of other folders whose text contains a wanted name."""
        words = {basename(path).encode("utf-8", "surrogateescape") for path in wanted}
        met: list[str] = []
        for path, data in unread.items():
            here = self.past.place(path)
            is_below = "." in wanted or any(here.startswith(f"{each}/") for each in wanted)
            if (is_below and b".." in data) or any(word in data for word in words):
                met.append(path)
        for path in met:
            del unread[path]
        found = {path: kustomization.in_folder(self.world, folder_of(path)) for path in met}
        return {path: one for path, one in found.items() if one is not None}

    def _is_apart(self, path: str) -> bool:
        """Return whether a file need not be parsed because it cannot matter to a checked file.

        If there are many files, only those that contain the name of a checked resource are parsed.
        """
        named = any(p in one.entries for one in self._seen for p in self.files)
        if path in self.files or self.given or named:
            return False
        if path in self._read or len(self._read) < COMPARED_FILES:
            self._read.add(path)
            return False
        data = self.world.read(path) or b""
        return not any(name in data for name in self._names)

    @cached_property
    def _names(self) -> set[bytes]:
        """Return the present and former names of the resources in the checked files."""
        names: set[str] = set()
        for path in self.files:
            names.update(one.name for one in self.world.resources(path) or ())
            for data in self.past.before(path) or ():
                words = (root.string("metadata", "name") for root in roots_of(data, path) or ())
                names.update(filter(None, words))
        return {name.encode("utf-8", "replace") for name in names}


# The fates of a missing file.
DELETED = "deleted"  # this commit or merge deleted or renamed the file
UNSTAGED = "unstaged"  # the file is in the working tree, but will not be committed
MADE = "made"  # git ignores the file, or a submodule has it: another tool makes it


class Fate(NamedTuple):
    """Say why a file is missing, and give its new name if it was renamed."""

    what: str
    now: str = ""


class Past(NamedTuple):
    """Give access to the last commit, or to the sides of a merge.

    Without git every answer is empty.
    """

    # the fates of missing files, as far as they are known
    fates: Callable[[list[str]], dict[str, Fate]] = lambda paths: {}
    # the versions of a file on each side; None if they are not known
    before: Callable[[str], list[bytes] | None] = lambda path: None
    # the files that the commit deletes
    concerned: Callable[[], Iterable[str]] = lambda: ()
    # the paths of all kustomizations, to find those that name such a file
    kustomizations: Callable[[], Iterable[str]] = lambda: ()
    # a path from the top of the repository: `../a/b` and `b` may be the same file
    place: Callable[[str], str] = lambda path: path
