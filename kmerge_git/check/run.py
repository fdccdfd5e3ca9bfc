"""Checks files: reads, parses, finds out what each is, and shows it to the checks."""

from __future__ import annotations

from posixpath import basename, dirname, join, normpath

from kmerge_git.check import catalogue, kustomization, registry
from kmerge_git.check.classify import Evidence, classify
from kmerge_git.check.damage import ObjectSite, Unread
from kmerge_git.check.history import HistorySite, Versions, sealed
from kmerge_git.check.keyed_lists import keyed_lists
from kmerge_git.check.kustomization import Kustomization, PatchEntry
from kmerge_git.check.page import Page
from kmerge_git.check.plain import Map, Plain, Text, path_at
from kmerge_git.check.suppress import unsilenced
from kmerge_git.check.targets import Targets, targets_of
from kmerge_git.check.templates import is_template, looks_like_a_manifest
from kmerge_git.check.verdict import MANIFEST, Verdict
from kmerge_git.check.world import Book, World, nowhere
from kmerge_git.errors import CannotParse
from kmerge_git.finding import Finding, order
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kmerge_git.check.registry import Check

SUFFIXES = (".yaml", ".yml", ".kyaml", ".json")


def check_text(data: bytes, path: str) -> list[Finding]:
    """What is wrong with one file, seen alone; `path` says what kind of file it is."""
    return Run(nowhere()).file(path, data)


def check_files(paths: Iterable[str], run: Run) -> list[Finding]:
    """What is wrong with files, each alone and together."""
    names = [normpath(path.replace("\\", "/")) for path in paths]
    run.expect(names)
    found: list[Finding] = []
    for path in sorted(names, key=run.late):
        data = run.world.read(path)
        if data is not None:  # deleted by the commit
            found += run.file(path, data)
    found += run.together()
    return sorted(found, key=order)


class Run:
    """One run over some files, with what it has learned about them."""

    def __init__(
        self,
        world: World,
        chosen: frozenset[str] | None = None,
        *,
        told: str = "",
        script_with: Callable[[str], str] = lambda path: "",
        versions: Callable[[str, bytes], Versions | None] = lambda path, data: None,
        target: str = "",
    ) -> None:
        self.world = world
        self.chosen = chosen
        self.told = told  # PATCH or MANIFEST, from the command line
        self.script_with = script_with
        self.versions = versions
        self.target = target  # a file with the object that kubectl patches change
        self.folders: dict[str, Kustomization | None] = {}
        self.skipped: set[str] = set()  # files that are no YAML and were not checked
        self.expected: set[str] = set()  # the files of this run
        self.given: list[Kustomization] = []  # kustomizations among them
        self.seen: dict[Kustomization, None] = {}  # and those that were met on the way
        self.transformers: dict[Kustomization, dict[str, PatchEntry]] = {}
        self._targets: dict[Kustomization, Targets] = {}
        catalogue.load(catalogue.COMMON)
        if chosen is not None and any(id.startswith("T") for id in chosen):
            catalogue.load(catalogue.OPTIONAL)
        self._checks: dict[str, list[Check]] = {}

    def checks(self, scope: str) -> list[Check]:
        """The chosen checks of a scope."""
        if scope not in self._checks:
            self._checks[scope] = [
                c for c in registry.only(scope, self.chosen) if self.chosen is not None or c.on
            ]
        return self._checks[scope]

    def wants(self, id: str) -> bool:
        """Whether a check is chosen."""
        return self.chosen is None or id in self.chosen

    # -- one file --------------------------------------------------------------------------------

    def expect(self, paths: Iterable[str]) -> None:
        """Learn what the kustomizations of a run say before its files are checked."""
        self.expected = {normpath(path) for path in paths}
        for path in sorted(self.expected):
            if basename(path) in kustomization.NAMES:
                known = kustomization.in_folder(self.world, dirname(path))
                if known is not None:
                    self.folders[dirname(path)] = known
                    self.given.append(known)

    def late(self, path: str) -> int:
        """Resources first, then patches, then kustomizations: so no file is read twice."""
        if basename(path) in kustomization.NAMES:
            return 2
        return int("patch" in basename(path) or any(path in one.entries for one in self.given))

    def targets(self, one: Kustomization) -> Targets:
        """The resources of a kustomization."""
        if one not in self._targets:
            self._targets[one] = targets_of(self.world, one)
        return self._targets[one]

    def file(self, path: str, data: bytes) -> list[Finding]:
        """The findings of one file."""
        try:
            source = Source(data, path)
        except CannotParse as error:
            return self._unreadable(error, data, path)
        page = Page(source)
        findings = self._each(registry.TEXT, page, page)
        if not findings:
            findings = self._parsed(page, data)
        unique = {(f.id, f.line, f.column, f.path, f.message): f for f in findings}
        return unsilenced(sorted(unique.values(), key=order), source.text)

    def _unreadable(self, error: CannotParse, data: bytes, path: str) -> list[Finding]:
        """Bytes that are no text: only a manifest would need to be one."""
        if b"apiVersion" not in data or not self.wants("M10"):
            self.skipped.add(path)
            return []
        check = registry.get("M10")
        line, column = error.line or 1, error.column or 1
        finding = Finding(
            check.id, check.severity, path, line, column, f"{error.why}; {error.hint}",
            mend=check.mend,
        )  # fmt: skip
        return [finding]

    def _each(
        self, scope: str, site: object, page: Page, path: str = "", verdict: Verdict | None = None
    ) -> list[Finding]:
        return [
            page.finding(check, found, path=path, verdict=verdict)
            for check in self.checks(scope)
            for found in check.functions[scope](site)
        ]

    def _parsed(self, page: Page, data: bytes) -> list[Finding]:
        if is_template(page.source.text, page.path):
            return []
        try:
            plains = [Plain(document) for document in split(page.source).documents]
        except CannotParse as error:
            return self._not_parsed(page, error)
        if "sops" in page.source.text and sealed(data) is not None:
            return self._of_history(page, data) + self._repeats(page, plains, None)
        verdict = self.verdict(page, plains)
        book = Book(page, plains)
        if verdict.is_a == MANIFEST:
            self.world.remember(page.path, book)
        findings = self._of_history(page, data)
        findings += self._repeats(page, plains, verdict)
        if verdict.is_patch:
            findings += self._patch(book, verdict)
        elif verdict.is_a == MANIFEST:
            findings += self._manifest(book, verdict)
        if verdict.entry is not None and verdict.kustomization not in self.given:
            findings += self._entry(verdict.entry, verdict.kustomization, book, page, 0)
        return findings

    def _not_parsed(self, page: Page, error: CannotParse) -> list[Finding]:
        text = page.source.text
        alias = "undefined alias" in error.why
        findings = []
        if alias or looks_like_a_manifest(text, page.path):
            findings = self._each(registry.UNREAD, Unread(page, error, _offset(text, error)), page)
        if not findings:
            self.skipped.add(page.path)
        return findings

    def _of_history(self, page: Page, data: bytes) -> list[Finding]:
        if not (self.wants("M11") or self.wants("M12")):
            return []
        versions = self.versions(page.path, data)
        if versions is None:
            return []
        return self._each(registry.HISTORY, HistorySite(data, versions), page)

    def _repeats(self, page: Page, plains: list[Plain], verdict: Verdict | None) -> list[Finding]:
        """Repeated keys: D66 in a patch, M02 elsewhere; one of them says it for both."""
        found = []
        id = self.repeats_id(is_patch=verdict is not None and verdict.is_patch)
        for plain in plains:
            for value in plain.repeating:
                for check in self.checks(registry.REPEATED):
                    if check.id == id:
                        for one in check.functions[registry.REPEATED](value):
                            path = path_at(plain.root, one.at)
                            found.append(page.finding(check, one, path=path, verdict=verdict))
        return found

    def repeats_id(self, *, is_patch: bool) -> str:
        """The check that speaks about repeated keys; its twin does where only its group runs."""
        mine, twin = ("D66", "M02") if is_patch else ("M02", "D66")
        group_runs = self.chosen is None or any(id[0] == mine[0] for id in self.chosen)
        return mine if group_runs else twin

    # -- what is it? -----------------------------------------------------------------------------

    def verdict(self, page: Page, plains: list[Plain]) -> Verdict:
        """Whether a file is a patch."""
        return classify(page.path, plains, self.told, self._evidence(page.path), self.script_with)

    def _evidence(self, path: str) -> Evidence:
        evidence = Evidence()
        wanted = normpath(path)
        near = kustomization.near(self.world, wanted, self.folders)
        evidence.near = near[0] if near else None
        for one in [*self.given, *near]:
            self.seen.setdefault(one)
            if wanted in one.listed:
                evidence.listed_by = evidence.listed_by or one
            entry = one.entries.get(wanted) or self._of_transformers(one).get(wanted)
            if entry is not None and evidence.named_by is None:
                evidence.named_by = (one, entry)
        return evidence

    def _of_transformers(self, one: Kustomization) -> dict[str, PatchEntry]:
        """The patches that are named by the transformers a kustomization lists as files."""
        if one not in self.transformers:
            self.transformers[one] = {
                entry.path: entry
                for item in one.root.items("transformers")
                if isinstance(item, Text)
                for book in [self.world.book(join(one.directory, item.text))]
                if book is not None
                for root in book.objects()
                for entry in kustomization.inside(book.page, root)
                if entry.path
            }
        return self.transformers[one]

    # -- manifests -------------------------------------------------------------------------------

    def _manifest(self, book: Book, verdict: Verdict) -> list[Finding]:
        from kmerge_git.check.patches import directives_of_manifest, words_of

        page = book.page
        findings = self._each(registry.BOOK, book, page) if verdict.rule != 7 else []
        findings = [f for f in findings if f.id != "D65"]
        for plain in book.plains:
            if plain.dollar and self.wants("D60"):
                findings += directives_of_manifest(self, page, plain)
            if verdict.rule == 1:
                findings += words_of(self, page, plain, registry.WORDS)
        for root in self._objects(book):
            findings += self._object(page, root)
        for root in book.objects():
            for entry in kustomization.inside(page, root):
                findings += self._inner(entry, None, page)
        return findings

    def _objects(self, book: Book) -> Iterator[Map]:
        yield from book.objects()
        for plain in book.plains:
            root = plain.root
            if not isinstance(root, Map) or (root.text("apiVersion") and root.text("kind")):
                continue  # it was among the objects
            if kustomization.is_kustomization(book.page.path, root):
                yield root

    def _object(self, page: Page, root: Map) -> list[Finding]:
        findings = self._each(registry.OBJECT, ObjectSite(page.path, root), page)
        for site in keyed_lists(root):
            if len(site.list.values) > 1 or site.name in ("env", "volumes"):
                findings += self._each(registry.PODS, site, page)
        if self.checks(registry.ANY_WORDS) or self.checks(registry.TYPED):
            from kmerge_git.check.patches import traps_of

            findings += traps_of(self, page, root)
        if kustomization.is_kustomization(page.path, root):
            findings += self._kustomization(Kustomization(page, root))
        return findings

    def _kustomization(self, one: Kustomization) -> list[Finding]:
        findings = []
        for entry in one.patches:
            if entry.inline is not None or entry.value is not None:
                findings += self._inner(entry, one, one.page)
            elif entry.path:
                book = self.world.book(entry.path)
                if book is not None:
                    findings += self._entry(entry, one, book, one.page, entry.at)
        return findings

    # -- patches ---------------------------------------------------------------------------------

    def _inner(self, entry: PatchEntry, one: Kustomization | None, page: Page) -> list[Finding]:
        from kmerge_git.check.patches import inner_patch

        return inner_patch(self, entry, one, page)

    def _patch(self, book: Book, verdict: Verdict) -> list[Finding]:
        from kmerge_git.check.patches import patch_book

        return patch_book(self, book, verdict)

    def _entry(
        self, entry: PatchEntry, one: Kustomization | None, book: Book, page: Page, at: int
    ) -> list[Finding]:
        from kmerge_git.check.patches import entry_findings

        return entry_findings(self, entry, one, book, page, at)

    # -- all files -------------------------------------------------------------------------------

    def together(self) -> list[Finding]:
        """What only the files together can tell."""
        from kmerge_git.check.across import SetSite

        findings: list[Finding] = []
        for one in self.seen | dict.fromkeys(self.given):
            touched = one.path in self.expected or not self.expected.isdisjoint(one.listed)
            if touched:
                found = self._each(registry.SET, SetSite(one, self.world, self.expected), one.page)
                findings += unsilenced(found, one.page.source.text)
        return findings


def _offset(text: str, error: CannotParse) -> int:
    lines = text.split("\n")
    line = min(max(error.line, 1), len(lines))
    return sum(len(x) + 1 for x in lines[: line - 1]) + max(error.column - 1, 0)
