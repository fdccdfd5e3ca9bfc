"""Where the checks read files from: the working tree, the staged blobs, or nowhere.

A path is as the user gave it, with `/` between its parts. A check that looks at other files
(the kustomization that names a patch, the resource it changes) reads them here too, so that a
partly staged commit is judged by what will be committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from posixpath import normpath

from kmerge_git.check.kustomize.gathered import Gathered, texts_of
from kmerge_git.check.objects import identity, objects
from kmerge_git.check.page import Page
from kmerge_git.check.plain import List, Map, Text, documents
from kmerge_git.errors import CannotParse
from kmerge_git.merge.bulk import unread
from kmerge_git.text.source import Source

KEPT = 64  # parsed files that are kept; a base is read by each of its overlays


class Book:
    """A file that was read: its page and its documents."""

    __slots__ = ("page", "plains")

    def __init__(self, page: Page) -> None:
        """Parse; raises CannotParse."""
        self.page = page
        self.plains = documents(page.source)

    def objects(self) -> Iterator[Map]:
        """The Kubernetes objects of the file, those in a `kind: List` too."""
        for plain in self.plains:
            yield from objects(plain.root)


class World:
    """Files by path; `read` gives the bytes of one, or None; of what `is_outside`, None too."""

    __slots__ = ("_books", "_resources", "is_directory", "is_outside", "read")

    def __init__(
        self,
        read: Callable[[str], bytes | None],
        is_directory: Callable[[str], bool],
        is_outside: Callable[[str], bool] = lambda path: False,
    ) -> None:
        self.read = read
        self.is_directory = is_directory
        self.is_outside = is_outside
        self._books: dict[str, Book | None] = {}
        self._resources: dict[str, list[Gathered] | None] = {}

    def book(self, path: str) -> Book | None:
        """A file and its documents, or None where it is missing or no YAML."""
        path = normpath(path)
        if path not in self._books:
            if len(self._books) >= KEPT:
                del self._books[next(iter(self._books))]
            self._books[path] = self._read(path)
        return self._books[path]

    def _read(self, path: str) -> Book | None:
        data = self.read(path)
        try:
            source = Source(data, path) if data is not None else None
            return Book(Page(source)) if source is not None and not unread(source.text) else None
        except CannotParse:
            return None

    def resources(self, path: str) -> list[Gathered] | None:
        """What a file has for a build: to be copied; None where it cannot be read."""
        path = normpath(path)
        if path not in self._resources:
            self.remember(path, self.book(path))
        return self._resources[path]

    def remember(self, path: str, book: Book | None) -> None:
        """Keep what is in a file that was read anyway, for checks of many files."""
        path = normpath(path)
        if book is None or any(isinstance(p.root, Text | List) for p in book.plains):
            self._resources[path] = None  # no resources, or the index has a symbolic link there
        else:
            self._resources[path] = [_gathered(path, book, o) for o in book.objects()]


def _gathered(path: str, book: Book, root: Map) -> Gathered:
    metadata = root.map("metadata") or Map(root.at)
    labels, annotations = metadata.map("labels"), metadata.map("annotations")
    line = book.page.position(root.at)[0]
    return Gathered(identity(root), path, line, texts_of(labels), texts_of(annotations))


def nowhere() -> World:
    """A world without files: a text is checked alone."""
    return World(lambda path: None, lambda path: False)
