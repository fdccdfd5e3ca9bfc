"""What the kustomizations around a file say about it: that it is a patch, or a resource."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from posixpath import basename, dirname, join, normpath

from kmerge_git.check import kustomization
from kmerge_git.check.kustomization import Kustomization, PatchEntry
from kmerge_git.check.plain import Text
from kmerge_git.check.world import World


class Evidence:
    """What the kustomizations around a file say about it."""

    __slots__ = ("listed_by", "named_by", "near")

    def __init__(self) -> None:
        self.listed_by: Kustomization | None = None  # as a resource
        self.named_by: tuple[Kustomization | None, PatchEntry] | None = None  # as a patch
        self.near: Kustomization | None = None  # the one in or above its folder


class Kustomizations:
    """The kustomizations of a run: those among its files, and those in the folders around them."""

    __slots__ = ("_folders", "_named_by_transformers", "_seen", "files", "given", "world")

    def __init__(self, world: World) -> None:
        self.world = world
        self.files: set[str] = set()  # the files of the run
        self.given: list[Kustomization] = []  # kustomizations among them
        self._seen: dict[Kustomization, None] = {}  # and those that were met on the way
        self._folders: dict[str, Kustomization | None] = {}
        self._named_by_transformers: dict[Kustomization, dict[str, PatchEntry]] = {}

    def expect(self, paths: Iterable[str]) -> None:
        """Learn what the kustomizations of a run say before its files are checked."""
        self.files = {normpath(path) for path in paths}
        for path in sorted(self.files):
            if basename(path) in kustomization.NAMES:
                known = kustomization.in_folder(self.world, dirname(path))
                if known is not None:
                    self._folders[dirname(path)] = known
                    self.given.append(known)

    def late(self, path: str) -> int:
        """Resources first, then patches, then kustomizations: so no file is read twice."""
        if basename(path) in kustomization.NAMES:
            return 2
        return int("patch" in basename(path) or any(path in one.entries for one in self.given))

    def about(self, path: str) -> Evidence:
        """What they say about a file."""
        evidence = Evidence()
        wanted = normpath(path)
        near = kustomization.near(self.world, wanted, self._folders)
        evidence.near = near[0] if near else None
        for one in [*self.given, *near]:
            self._seen.setdefault(one)
            if wanted in one.listed:
                evidence.listed_by = evidence.listed_by or one
            entry = one.entries.get(wanted) or self._of_transformers(one).get(wanted)
            if entry is not None and evidence.named_by is None:
                evidence.named_by = (one, entry)
        return evidence

    def _of_transformers(self, one: Kustomization) -> dict[str, PatchEntry]:
        """The patches that are named by the transformers a kustomization lists as files."""
        if one not in self._named_by_transformers:
            self._named_by_transformers[one] = {
                entry.path: entry
                for item in one.root.items("transformers")
                if isinstance(item, Text)
                for book in [self.world.book(join(one.directory, item.text))]
                if book is not None
                for root in book.objects()
                for entry in kustomization.inside(book.page, root)
                if entry.path
            }
        return self._named_by_transformers[one]

    def touched(self) -> Iterator[Kustomization]:
        """Those that are among the files of the run, or have resources among them."""
        for one in self._seen | dict.fromkeys(self.given):
            if one.path in self.files or not self.files.isdisjoint(one.listed):
                yield one
