"""Ask kustomizations and git about a file: is it a patch, a resource, a lost file?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from posixpath import basename, normpath

from kmerge_git.bounds import COMPARED_FILES
from kmerge_git.check.checked_texts import World
from kmerge_git.check.kustomize import kustomization
from kmerge_git.check.kustomize.kustomization import Kustomization, PatchEntry, folder_of, inside_of
from kmerge_git.check.page_values import Map, Text, documents
from kmerge_git.errors import CannotParse
from kmerge_git.text.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.check.kustomize.kustomize_build import Gathering


class Evidence:
    """What the kustomizations around a file say about it."""

    __slots__ = ("listed_by", "named_by", "near")

    def __init__(self) -> None:
        self.listed_by: Kustomization | None = None  # as a resource
        self.named_by: tuple[Kustomization | None, PatchEntry] | None = None  # as a patch
        self.near: Kustomization | None = None  # the one in or above its folder


class Kustomizations:
    """The kustomizations of a run: those among its files, and those in the folders around them."""

    __slots__ = (
        "_folders", "_named_by_transformers", "_names", "_read", "_seen", "files", "given", "past",
        "world",
    )  # fmt: skip

    def __init__(self, world: World, past: Past) -> None:
        self.world = world
        self.past = past
        self.files: set[str] = set()  # the files of the run
        self.given: list[Kustomization] = []  # kustomizations among them
        self._seen: dict[Kustomization, None] = {}  # and those that were met on the way
        self._folders: dict[str, Kustomization | None] = {}
        self._named_by_transformers: dict[Kustomization, dict[str, PatchEntry]] = {}
        self._names: set[bytes] | None = None  # of the resources of the run
        self._read: set[str] = set()  # files that are read although they are not of the run

    def expect(self, paths: Iterable[str]) -> None:
        """Learn what the kustomizations of a run say before its files are checked."""
        self.files = {normpath(path) for path in paths}
        for path in sorted(self.files):
            if basename(path) in kustomization.NAMES:
                known = kustomization.in_folder(self.world, folder_of(path))
                if known is not None:
                    self._folders[folder_of(path)] = known
                    self.given.append(known)

    def late(self, path: str) -> int:
        """Rank a file: resources first, then patches, then kustomizations, so each is read once."""
        if basename(path) in kustomization.NAMES:
            return 2
        return int("patch" in basename(path) or any(path in one.entries for one in self.given))

    def about(self, path: str) -> Evidence:
        """Return what the kustomizations say about a file."""
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
        """Return the patches that are named by the transformers a kustomization lists as files."""
        if one not in self._named_by_transformers:
            self._named_by_transformers[one] = {
                entry.path: entry
                for item in one.root.items("transformers")
                if isinstance(item, Text)
                for book in [self.world.book(inside_of(one.directory, item.text))]
                if book is not None
                for root in book.objects()
                for entry in kustomization.inside(book.page, root)
                if entry.path
            }
        return self._named_by_transformers[one]

    # -- builds ----------------------------------------------------------------------------------

    def builds(self) -> Iterator[Gathering]:
        """Return the builds that files of the run are in, or that name what the commit deletes."""
        others = {normpath(path) for path in self.past.concerned()} - self.files
        touched = self._touched(others)
        if not touched:
            return
        from kmerge_git.check.kustomize.kustomize_build import (
            Gatherer,  # most files are in no build
        )

        gatherer = Gatherer(self.world, lambda path: not others and self._is_apart(path))
        for one in touched:
            yield gatherer.of(one)

    def _touched(self, others: set[str]) -> list[Kustomization]:
        """Return the kustomizations that name a file of the run, or that include such a one."""
        place = self.past.place
        touched: dict[str, Kustomization] = {one.path: one for one in self.given}
        wanted = {place(path) for path in self.files | others}
        folders = {folder_of(p) for p in wanted if basename(p) in kustomization.NAMES}
        wanted |= {folder or "." for folder in folders}
        known = {one.path: one for one in self._seen}
        met = known.keys() | touched.keys()
        unread = {
            path: self.world.read(path) or b""
            for path in self.past.kustomizations()
            if path not in met
        }
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
        """Return kustomizations of other folders that have one of the names in their text."""
        words = {basename(path).encode("utf-8", "surrogateescape") for path in wanted}
        found = {}
        for path, data in list(unread.items()):
            here = self.past.place(path)
            above = b".." in data and any(here.startswith(each + "/") for each in wanted)
            above = above or (b".." in data and "." in wanted)
            if above or any(word in data for word in words):
                del unread[path]
                one = kustomization.in_folder(self.world, folder_of(path))
                if one is not None:
                    found[path] = one
        return found

    def _is_apart(self, path: str) -> bool:
        """Return whether a file cannot matter to those of the run; parsing is what takes time.

        Where there are many files, read only those that contain the name of a changed resource.
        """
        if (
            path in self.files
            or self.given
            or any(p in one.entries for one in self._seen for p in self.files)
        ):
            return False
        if path in self._read or len(self._read) < COMPARED_FILES:
            self._read.add(path)
            return False
        if self._names is None:
            self._names = {name for each in self.files for name in self._names_in(each)}
        data = self.world.read(path) or b""
        return not any(name in data for name in self._names)

    def _names_in(self, path: str) -> Iterator[bytes]:
        """Return the names of the resources of a file, as it is now and as it was."""
        for one in self.world.resources(path) or ():
            yield _bytes(one.name)
        for data in self.past.before(path) or ():
            for root in _roots(data, path):
                metadata = root.map("metadata")
                if metadata is not None and metadata.text("name"):
                    yield _bytes(metadata.text("name"))


def _bytes(name: str) -> bytes:
    """Encode a name as a text has it; no text contains a surrogate."""
    return name.encode("utf-8", "replace")


def _roots(data: bytes, path: str) -> list[Map]:
    try:
        return [p.root for p in documents(Source(data, path)) if isinstance(p.root, Map)]
    except CannotParse:
        return []


# What became of a file that is not there.
DELETED = "deleted"  # by this commit, or in this merge; or it is called otherwise now
UNSTAGED = "unstaged"  # it is in the working tree, but will not be committed
MADE = "made"  # git ignores it, or it is in a submodule: something else makes it


class Fate:
    """What became of a file: one of the words, and its new name where it has one."""

    __slots__ = ("now", "what")

    def __init__(self, what: str, now: str = "") -> None:
        self.what = what
        self.now = now


class Past:
    """Answers about the last commit, or the sides of a merge; without git there is none."""

    __slots__ = ("before", "concerned", "fates", "kustomizations", "place")

    def __init__(
        self,
        fates: Callable[[list[str]], dict[str, Fate]] = lambda paths: {},
        before: Callable[[str], list[bytes] | None] = lambda path: None,
        concerned: Callable[[], Iterable[str]] = lambda: (),
        kustomizations: Callable[[], Iterable[str]] = lambda: (),
        place: Callable[[str], str] = lambda path: path,
    ) -> None:
        self.fates = fates  # of those files about which there is something to say
        self.before = before  # a file as it was on each side; None where nobody knows
        self.concerned = concerned  # files beside those of the run: the commit deletes them
        self.kustomizations = kustomizations  # all there are, to find those that name such a file
        self.place = place  # a path from the top: here `../a/b` and `b` may be one
