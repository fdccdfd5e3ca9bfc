"""Run the checks over files: read, parse and classify each file, then apply the checks."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cached_property, partial
from os import sep
from posixpath import normpath

from kmerge_git.check import registry
from kmerge_git.check.checked_texts import Book, Page, World, is_fixture, nowhere
from kmerge_git.check.kustomize.kustomization import (
    Kustomization,
    Kustomizations,
    Past,
    inside,
    is_kustomization,
)
from kmerge_git.check.manifest_damage import Unread
from kmerge_git.check.merges.git_versions import NOTHING, GitVersions, sealed
from kmerge_git.check.not_yaml import (
    IN_TEMPLATES,
    WITH_ACTIONS,
    is_steered,
    looks_like_a_manifest,
    reason,
)
from kmerge_git.check.page_values import Map, keyed_lists, parses
from kmerge_git.check.patches.patch_targets import TargetFinder
from kmerge_git.check.patches.patch_verdict import MANIFEST, Verdict, classify
from kmerge_git.check.registry import ChosenChecks
from kmerge_git.check.silencing import Comments
from kmerge_git.errors import CannotParse
from kmerge_git.finding import Finding, order
from kmerge_git.merge.bulk import unread
from kmerge_git.text.opaque_files import is_chart_text
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
    from contextlib import AbstractContextManager

    from kmerge_git.check.merges.merged_files import SidedFile
    from kmerge_git.check.patches.patch_checker import PatchChecker

SUFFIXES = (".yaml", ".yml", ".kyaml", ".json")


def check_text(data: bytes, path: str) -> list[Finding]:
    """Check one file alone and return the findings; the `path` determines the kind of the file."""
    return Run(nowhere()).file(path, data)


def check_files(
    paths: Iterable[str],
    run: Run,
    watch: Callable[[str], AbstractContextManager[None]] = lambda path: nullcontext(),
) -> list[Finding]:
    """Check each file, then all files together, and return the findings.

    Each file is checked inside the context manager `watch(path)`.
    """
    names = [normpath(path.replace(sep, "/")) for path in paths]
    run.kustomizations.expect(names)
    found: list[Finding] = []
    for path in sorted(names, key=run.kustomizations.late):
        data = run.world.read(path)
        if data is not None:
            with watch(path):
                found += run.file(path, data)
        elif run.world.is_special(path):
            run.skipped[path] = "a pipe, a socket or a device"
        elif run.world.is_outside(path):
            run.skipped[path] = "a link that leads out of the repository"
        else:
            run.missing.append(path)
    with watch("the kustomizations"):
        found += run.together()
    return sorted(found, key=order)


class Run:
    """Check files, and keep their content for checks that compare several files."""

    def __init__(
        self,
        world: World,
        chosen: frozenset[str] | None = None,
        *,
        told: str = "",
        script_with: Callable[[str], str] = lambda path: "",
        versions: Callable[[str], GitVersions] = lambda path: NOTHING,
        target: str = "",
        past: Past | None = None,
        named: Container[str] = (),
        tools: str = "",
    ) -> None:
        self.world = world
        self.checks = ChosenChecks(chosen)
        self.told = told  # PATCH or MANIFEST from the command line, or ''
        self.tools = tools  # the tools from the command line, or ''
        self.script_with = script_with
        self.versions = versions
        self.target = target  # the file of `--target`
        self.past = past or Past()
        self.kustomizations = Kustomizations(world, self.past)
        self.named = named  # the files that the user has named
        self.skipped: dict[str, str] = {}  # files that were not checked, and why
        self.missing: list[str] = []  # files that are not there; a commit may have deleted them

    @cached_property
    def targets(self) -> TargetFinder:
        """Return the `TargetFinder`, which finds the objects that patches change."""
        return TargetFinder(self.world, self.target)

    # -- one file --------------------------------------------------------------------------------

    def file(self, path: str, data: bytes) -> list[Finding]:
        """Return the findings of one file; drop the fixes that do not work."""
        findings = self._file(path, data)
        if any(finding.fix for finding in findings):
            from kmerge_git.check.patches.patch_fix import promised  # late: few files need it

            findings = promised(data, findings, partial(self._file, path))
        return findings

    def _file(self, path: str, data: bytes) -> list[Finding]:
        try:
            page = Page(YamlText(data, path))
        except CannotParse as error:
            return self._undecoded(error, data, path)
        merged = self._merged(page)
        findings = page.findings(self.checks, registry.TEXT, page)
        if merged and not findings:
            findings = page.findings(self.checks, registry.MERGED_TEXT, merged)
        findings = findings or self._parsed(page, data, merged)
        unique = {(f.id, f.line, f.column, f.path, f.message): f for f in findings}
        findings = registry.causes(unique.values())
        comments = Comments(page.source.text)
        findings += page.findings(self.checks, registry.COMMENTS, comments)
        return sorted(comments.heard(findings), key=order)

    def _merged(self, page: Page) -> SidedFile | None:
        """If a merge made the file, return it with the versions of the sides, otherwise None."""
        merge = self.versions(page.path).merge
        return merge.with_result(page.file) if merge is not None else None

    def _undecoded(self, error: CannotParse, data: bytes, path: str) -> list[Finding]:
        """Return the findings of a file whose bytes cannot be decoded as text."""
        line, column = error.line or 1, error.column or 1
        is_meant = b"apiVersion" in data or (b"\0" not in data and path in self.named)
        findings = [
            Finding(check.id, check.severity, path, line, column, one.message, mend=check.mend)
            for check, function in (self.checks.of(registry.UNREAD) if is_meant else ())
            for one in function(Unread(error, 0))
        ]
        if self.versions(path).merge is not None:
            text = data.decode("utf-8", "replace").replace("\0", "\ufffd")
            page = Page(YamlText(text.encode(), path))
            site = self._merged(page), error, _offset(page.source.text, error)
            findings += page.findings(self.checks, registry.MERGED_UNREAD, *site)
        findings = registry.causes(findings)
        if not findings:
            self.skipped[path] = f"not text: {error.why}"
        return findings

    def _parsed(self, page: Page, data: bytes, merged: SidedFile | None) -> list[Finding]:
        checks, text, path = self.checks, page.source.text, page.path
        if is_chart_text(path):
            return self._template(page, merged, [], IN_TEMPLATES)
        if why := unread(text):
            self.skipped[path] = why
            return []
        try:
            book = Book(page)
        except CannotParse as error:
            return self._not_parsed(page, error, merged)
        if is_steered(text):
            self.skipped[path] = "a template with statements in its comments"
            return []
        of_book = self._of_book(book, is_sealed="sops" in text and bool(sealed(data)))
        findings = page.findings(checks, registry.HISTORY, data, self.versions(path))
        if merged:
            del book  # a comparison of large versions needs the memory
            findings += page.findings(checks, registry.MERGED, merged)
        return findings + of_book

    def _of_book(self, book: Book, *, is_sealed: bool) -> list[Finding]:
        """Check the documents of a file."""
        verdict = Verdict(MANIFEST, 11) if is_sealed else self.verdict(book)
        findings: list[Finding] = []
        for plain in book.plains if not verdict.is_patch else ():
            site, root = (registry.REPEATED, plain), plain.root
            findings += book.page.findings(self.checks, *site, root=root, rule=verdict.why)
        return findings if is_sealed else findings + self._of_kind(book, verdict)

    def _template(
        self, page: Page, merged: SidedFile | None, findings: list[Finding], why: str
    ) -> list[Finding]:
        """Run the checks for templates and add their findings to `findings`.

        If there are no findings and no check could read the template, record it as skipped.
        """
        is_asked = False
        if merged is not None and "{{" in page.source.text:
            findings = findings + page.findings(self.checks, registry.MERGED_TEMPLATE, merged)
            is_asked = merged.is_mixed and bool(self.checks.of(registry.MERGED_TEMPLATE))
        if why in (IN_TEMPLATES, WITH_ACTIONS) and not is_chart_text(page.path):
            from kmerge_git.check.template_files import repeats  # late: few files are templates

            known = {finding.line for finding in findings}
            more, why = repeats(page, self.checks)
            more += page.findings(self.checks, registry.TEMPLATE, page)
            findings = findings + [finding for finding in more if finding.line not in known]
            why = f"a template that cannot be read: {why}" if why else ""
        if why and not findings and not is_asked:
            self.skipped[page.path] = why
        return findings

    def _not_parsed(
        self, page: Page, error: CannotParse, merged: SidedFile | None
    ) -> list[Finding]:
        text, path, findings = page.source.text, page.path, []
        at = _offset(text, error)
        if merged:
            findings = page.findings(self.checks, registry.MERGED_UNREAD, merged, error, at)
        head = YamlText(self.versions(path).head or b"", path)
        before = head.source.text if self.versions(path).head is not None and parses(head) else None
        why = reason(text, path, lambda other: parses(YamlText(other.encode(), path)), before)
        if not why:
            why = f"not YAML: {error.why.removeprefix('not YAML: ')}"
            is_named = path in self.named or "undefined alias" in error.why
            is_meant = not is_fixture(path) and (is_named or looks_like_a_manifest(text, path))
            if before is not None or is_meant:
                site = Unread(error, at, text, before is not None, self._others(path))
                findings += page.findings(self.checks, registry.UNREAD, site)
        return self._template(page, merged, findings, why)

    def _others(self, path: str) -> list[tuple[str, bytes | None]]:
        """Return the versions of a file in git, each with its name."""
        versions = self.versions(path)
        if versions.merge is None:
            return [("HEAD", versions.head)]
        sides = versions.merge.sides
        return [(name, sides.side(name)) for name in ("ours", "theirs", "base")]

    def verdict(self, book: Book) -> Verdict:
        """Decide whether a file is a patch, and which tools read the file."""
        path = book.page.path
        evidence = self.kustomizations.about(path)
        verdict = classify(path, book.plains, self.told, evidence, self.script_with)
        # only a patch for kubectl has its object in a file that kustomize need not know
        tools = self.tools or ("K" if self.target and not verdict.is_known else "")
        if verdict.is_a != MANIFEST and tools:
            return verdict._replace(tools=tools, is_given=True)
        return verdict

    def _of_kind(self, book: Book, verdict: Verdict) -> list[Finding]:
        """Check a file as a patch or as a manifest, depending on the verdict."""
        if verdict.is_a == MANIFEST:
            self.world.remember(book.page.path, book)
            return self._manifest(book, verdict)
        checker = self._patches()
        findings = (checker.book if verdict.is_patch else checker.json)(book, verdict)
        entry, one = verdict.entry, verdict.kustomization
        if entry is not None and one not in self.kustomizations.given:
            findings += checker.entry(entry, one, book, 0)
        return findings

    def _patches(self) -> PatchChecker:
        from kmerge_git.check.patches.patch_checker import PatchChecker  # late: few are patches

        return PatchChecker(self.checks, self.targets)

    # -- manifests -------------------------------------------------------------------------------

    def _manifest(self, book: Book, verdict: Verdict) -> list[Finding]:
        page, checks, is_listed = book.page, self.checks, verdict.rule == 1
        findings = page.findings(checks, registry.BOOK, book, is_listed)
        for plain in book.plains:
            root = plain.root
            for scope in (registry.MANIFEST, registry.WORDS)[: 1 + is_listed]:
                findings += page.findings(checks, scope, page, plain, root=root)
            is_object = root is not None and root.string("apiVersion") and root.string("kind")
            if not is_object and isinstance(root, Map) and is_kustomization(page.path, root):
                findings += self._object(page, root)
        for root in book.objects():
            findings += self._object(page, root)
            for entry in inside(page, root):
                findings += self._patches().inner(entry, None)
        return findings

    def _object(self, page: Page, root: Map) -> list[Finding]:
        findings = page.findings(self.checks, registry.OBJECT, root)
        for site in keyed_lists(root):
            if len(site.elements) > 1 or site.name in ("env", "volumes"):
                findings += page.findings(self.checks, registry.KEYED, site, path=site.path)
        if is_kustomization(page.path, root):
            findings += self._kustomization(Kustomization(page, root))
        return findings

    def _kustomization(self, one: Kustomization) -> list[Finding]:
        findings = one.page.findings(self.checks, registry.KUSTOMIZATION, one, self.world)
        for entry in one.patches:
            book = self.world.book(entry.path)
            if entry.inline is not None or entry.value is not None:
                findings += self._patches().inner(entry, one)
            elif book is not None:
                findings += self._patches().entry(entry, one, book, entry.at)
        return findings

    # -- all files -------------------------------------------------------------------------------

    def together(self) -> list[Finding]:
        """Return the findings of the checks that compare a kustomization with all its files."""
        findings: list[Finding] = []
        touched = self.kustomizations.touched()
        if not touched:
            return findings
        from kmerge_git.check.kustomize.kustomize_build import Gatherer  # late: few are in a build

        gatherer = Gatherer(self.world, self.kustomizations.is_apart)
        for build in map(gatherer.of, touched):
            page, site = build.one.page, (build, self.world, self.past)
            for found in page.findings(self.checks, registry.SET, *site):
                book = self.world.book(found.file) if found.file != page.path else None
                text = (book.page if book else page).source.text
                findings += Comments(text).heard([found])
        return findings


def _offset(text: str, error: CannotParse) -> int:
    lines = text.split("\n")
    line = min(max(error.line, 1), len(lines))
    return sum(len(x) + 1 for x in lines[: line - 1]) + max(error.column - 1, 0)
