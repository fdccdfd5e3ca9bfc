"""The texts that are checked: a page for each, its documents, and the files they are read from.

A patch written inside another file (a block scalar of a kustomization) is a page of its own;
its positions are those of the outer file. A path is as the user gave it, with `/` between its
parts. A check that looks at other files (the kustomization that names a patch, the resource it
changes) reads them here too, so that a partly staged commit is judged by what it will hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from posixpath import normpath

from kmerge_git.bounds import PARSED_FILES
from kmerge_git.check.kustomize.gathered_resources import Gathered, texts_of
from kmerge_git.check.page_values import SOMEWHERE, List, Map, Text, documents, path_at
from kmerge_git.check.plain_objects import identity, objects
from kmerge_git.errors import CannotParse
from kmerge_git.finding import Finding
from kmerge_git.merge.bulk import unread
from kmerge_git.text.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.page_values import Value
    from kmerge_git.check.registry import Check, Found, Function
    from kmerge_git.kube.fieldpath import Path


class Page:
    """A text; `origin` is the scalar that holds it inside the page `outer`."""

    __slots__ = ("indent", "origin", "outer", "path", "source")

    def __init__(self, source: Source, outer: Page | None = None, origin: Text | None = None):
        self.source = source
        self.path = source.path  # as the user named it
        self.outer = outer
        self.origin = origin
        self.indent = 0
        if outer is not None and origin is not None:
            self.indent = _indent(outer.source.text, origin)

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column in the file, from 1."""
        line, column = self.source.position(min(offset, len(self.source.text)))
        if self.outer is None or self.origin is None:
            return line, column
        start_line, start_column = self.outer.position(self.origin.at)
        if self.origin.style != "|":
            return start_line, start_column
        return start_line + line, column + self.indent

    def excerpt(self, offset: int) -> str:
        """Return the line of the file that holds the offset."""
        if self.outer is None or self.origin is None:
            return self.source.line_at(min(offset, len(self.source.text)))
        return self.outer.line(self.position(offset)[0])

    def line(self, number: int) -> str:
        """Return a line of this page's own file, from 1."""
        if self.outer is not None:
            return self.outer.line(number)
        lines = self.source.text.split("\n", number)
        return lines[number - 1][:200] if number <= len(lines) else ""

    def finding(self, check: Check, found: Found, *, path: Path = (), rule: str = "") -> Finding:
        """Return a finding for the reports; `rule` says why the text counts as a patch."""
        line, column = self.position(found.at)
        return Finding(
            check.id,
            found.severity or check.severity,
            self.path,
            line,
            column,
            found.message,
            path=shown(found.path or path),
            mend=check.mend,
            rule=rule,
            excerpt=self.excerpt(found.at),
            fix=found.fix,
        )

    def findings(
        self,
        checks: list[tuple[Check, Function]],
        *site: object,
        path: Path = (),
        root: Value | None = None,
        rule: str = "",
    ) -> list[Finding]:
        """Return what checks find at a place; each path is `path`, or is looked up in `root`."""
        return [
            (one.page or self).finding(check, one, path=path or path_at(root, one.at), rule=rule)
            for check, function in checks
            for one in function(*site)
        ]


def shown(path: Path) -> str:
    """Return a path as findings show it: `spec.containers[name="web"]`."""
    from kmerge_git.kube.fieldpath import show

    if path[:1] == (SOMEWHERE,):
        return f"....{show(path[1:], quoted=True)}"
    return show(path, quoted=True)


def embedded(outer: Page, origin: Text) -> Page:
    """Return the page of a text that stands in a scalar of another page."""
    return Page(Source(origin.text.encode(), outer.path), outer, origin)


def _indent(text: str, origin: Text) -> int:
    """Return how far the content of a literal block scalar is indented."""
    if origin.style != "|":
        return 0
    first = next((x for x in origin.text.split("\n") if x.strip()), "")
    position = text.find("\n", origin.at)
    while position >= 0:
        end = text.find("\n", position + 1)
        line = text[position + 1 : end if end >= 0 else len(text)]
        position = end
        if line.strip():
            return len(line) - len(line.lstrip(" ")) - (len(first) - len(first.lstrip(" ")))
    return 0


class Book:
    """A file that was read: its page and its documents."""

    __slots__ = ("page", "plains")

    def __init__(self, page: Page) -> None:
        """Parse; raises CannotParse."""
        self.page = page
        self.plains = documents(page.source)

    def objects(self) -> Iterator[Map]:
        """Return the Kubernetes objects of the file, those in a `kind: List` too."""
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
        """Return a file and its documents, or None where it is missing or no YAML."""
        path = normpath(path)
        if path not in self._books:
            if len(self._books) >= PARSED_FILES:
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
        """Return the resources that a file brings to a build; None where it cannot be read."""
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
    """Return a world without files, in which a text is checked alone."""
    return World(lambda path: None, lambda path: False)
