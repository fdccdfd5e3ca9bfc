"""Hold the checked texts as pages and documents, and read other files that a check needs.

A patch inside another file (in a block scalar of a kustomization) has a page of its own, but the
lines and columns of its findings are those of the outer file. A path is spelled as the user gave
it, with `/` between its parts. A check that needs other files (the kustomization that names a
patch, or the resource that a patch changes) reads them through this module, so that a partly staged
commit is judged by what the commit will hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from posixpath import normpath

from kmerge_git.bounds import PARSED_FILES
from kmerge_git.check.kustomize.gathered_resources import Gathered, texts_of
from kmerge_git.check.page_values import SOMEWHERE, Map, Text, documents, identity, objects, path_at
from kmerge_git.errors import CannotParse
from kmerge_git.finding import ERROR, WARNING, Finding
from kmerge_git.merge.bulk import unread
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.page_values import Value
    from kmerge_git.check.registry import Check, ChosenChecks, Found
    from kmerge_git.kube.fieldpath import Path


# Folders of files that tests read as data, some of them broken on purpose.
FIXTURES = frozenset(
    ("fixtures", "__fixtures__", "fixture", "testdata", "test-data", "test_data", "testfiles",
     "__snapshots__", "snapshots")
)  # fmt: skip


class Page:
    """Hold one text to check: a file, or a text in a scalar of another page."""

    __slots__ = ("_indent", "_inside", "file", "path", "source")

    def __init__(self, file: YamlText, inside: tuple[Page, Text] | None = None) -> None:
        """Decode the text; raise CannotParse if that fails."""
        self.file = file
        self.path = file.path  # as the user named it
        self.source = file.source
        self._inside = inside
        self._indent = _indent(inside[0].source.text, inside[1]) if inside else 0

    def position(self, offset: int) -> tuple[int, int]:
        """Turn an offset in the text into a line and a column of the file, both counted from 1."""
        line, column = self.source.position(min(offset, len(self.source.text)))
        if self._inside is None:
            return line, column
        outer, origin = self._inside
        start_line, start_column = outer.position(origin.at)
        if origin.style != "|":
            return start_line, start_column
        return start_line + line, column + self._indent

    def excerpt(self, offset: int) -> str:
        """Return the line of the file that contains the offset."""
        if self._inside is None:
            return self.source.line_at(min(offset, len(self.source.text)))
        number, page = self.position(offset)[0], self
        while page._inside is not None:
            page = page._inside[0]
        lines = page.source.text.split("\n", number)
        return lines[number - 1][:200] if number <= len(lines) else ""

    def finding(self, check: Check, found: Found, *, path: Path = (), rule: str = "") -> Finding:
        """Make a finding from what a check found; `rule` says why the text counts as a patch."""
        line, column = self.position(found.at)
        severity = found.severity or check.severity
        if severity == ERROR and check.is_eased and is_fixture(self.path):
            severity = WARNING
        return Finding(
            check.id, severity, self.path, line, column, found.message,
            path=shown(found.path or path), mend=check.mend_for(found.meant), rule=rule,
            excerpt=self.excerpt(found.at), fix=found.fix, meant=found.meant,
        )  # fmt: skip

    def findings(
        self,
        checks: ChosenChecks,
        scope: str,
        *site: object,
        tools: str = "KZ",
        path: Path = (),
        root: Value | None = None,
        rule: str = "",
    ) -> list[Finding]:
        """Run the checks of a scope on one place and return their findings.

        If no `path` is given, the path of each finding is looked up in `root`.
        """
        return [
            (one.page or self).finding(check, one, path=path or path_at(root, one.at), rule=rule)
            for check, function in checks.of(scope, tools)
            for one in function(*site)
        ]


def is_fixture(path: str) -> bool:
    """Return whether a file is in a folder of test data, which nobody applies to a cluster."""
    return not FIXTURES.isdisjoint(path.split("/")[:-1])


def shown(path: Path) -> str:
    """Return a path as findings show it: `spec.containers[name="web"]`."""
    from kmerge_git.kube.fieldpath import show

    if path[:1] == (SOMEWHERE,):
        return f"....{show(path[1:], quoted=True)}"
    return show(path, quoted=True)


def embedded(outer: Page, origin: Text) -> Page:
    """Return the page for a text that is a scalar of another page."""
    return Page(YamlText(origin.text.encode(), outer.path), (outer, origin))


def _indent(text: str, origin: Text) -> int:
    """Return by how many columns the content of a literal block scalar is indented."""
    if origin.style != "|":
        return 0
    texts = origin.text.split("\n"), text[origin.at :].split("\n")[1:]
    inner, outer = (next((line for line in lines if line.strip()), "") for lines in texts)
    return len(outer) - len(outer.lstrip(" ")) - (len(inner) - len(inner.lstrip(" ")))


class Book:
    """Hold the page of a file and its parsed documents."""

    __slots__ = ("page", "plains")

    def __init__(self, page: Page) -> None:
        """Parse the page; raise CannotParse if that fails."""
        self.page = page
        self.plains = documents(page.file)

    @property
    def roots(self) -> list[Value]:
        """Return the root values of the documents that are not empty."""
        return [plain.root for plain in self.plains if plain.root is not None]

    def objects(self) -> Iterator[Map]:
        """Yield the Kubernetes objects of the file, and the items of each `kind: List`."""
        for root in self.roots:
            yield from objects(root)


class World:
    """Read files that the checks need; `read` returns None for an unreadable file."""

    __slots__ = ("_books", "_resources", "is_directory", "is_outside", "is_special", "read")

    def __init__(
        self,
        read: Callable[[str], bytes | None],
        is_directory: Callable[[str], bool],
        is_outside: Callable[[str], bool] = lambda path: False,
        is_special: Callable[[str], bool] = lambda path: False,
    ) -> None:
        self.read = read
        self.is_directory = is_directory
        self.is_outside = is_outside
        self.is_special = is_special  # neither a file nor a folder
        self._books: dict[str, Book | None] = {}
        self._resources: dict[str, list[Gathered] | None] = {}

    def book(self, path: str) -> Book | None:
        """Return a file and its documents, or None if the file is missing or is not YAML."""
        if not path:
            return None
        path = normpath(path)
        if path not in self._books:
            if len(self._books) >= PARSED_FILES:
                del self._books[next(iter(self._books))]
            self._books[path] = self._read(path)
        return self._books[path]

    def _read(self, path: str) -> Book | None:
        data = self.read(path)
        try:
            page = Page(YamlText(data, path)) if data is not None else None
            return Book(page) if page is not None and not unread(page.source.text) else None
        except CannotParse:
            return None

    def resources(self, path: str) -> list[Gathered] | None:
        """Return the resources in a file, or None if the file cannot be read."""
        path = normpath(path)
        if path not in self._resources:
            self.remember(path, self.book(path))
        return self._resources[path]

    def remember(self, path: str, book: Book | None) -> None:
        """Keep the resources of a file that was read, for checks that compare several files."""
        path = normpath(path)
        if book is None or not all(isinstance(root, Map) for root in book.roots):
            self._resources[path] = None  # not resources, or a symbolic link in the index
            return
        resources = self._resources[path] = []
        for root in book.objects():
            line = book.page.position(root.at)[0]
            slots = (texts_of(root, "metadata", slot) for slot in ("labels", "annotations"))
            resources.append(Gathered(identity(root), path, line, *slots))


def nowhere() -> World:
    """Return a `World` without any files, for checking a single text by itself."""
    return World(lambda path: None, lambda path: False)
