"""Checks patches: files, inline texts, and what a kustomization says about them."""

from __future__ import annotations

from kmerge_git.check import catalogue, kustomization, registry, shapes
from kmerge_git.check.classify import kubeadm_kind
from kmerge_git.check.entries import EntrySite
from kmerge_git.check.keyed_lists import keyed_lists
from kmerge_git.check.kustomization import Kustomization, PatchEntry
from kmerge_git.check.page import Page, embedded, identity
from kmerge_git.check.patch_files import directive_in_manifest
from kmerge_git.check.plain import Map, Plain, Value, collections, path_at, scalars
from kmerge_git.check.registry import Found
from kmerge_git.check.shapes import ObjectType
from kmerge_git.check.targets import Target, Targets
from kmerge_git.check.verdict import JSON6902, PATCH, Verdict
from kmerge_git.check.walk import BUILTIN, CUSTOM, UNKNOWN, Walk
from kmerge_git.check.words import may_differ
from kmerge_git.check.world import Book
from kmerge_git.errors import CannotParse, UsageError
from kmerge_git.finding import Finding
from kmerge_git.patch.field_shapes import is_builtin_group, version_of
from kmerge_git.tree.documents import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.run import Run


def patch_book(run: Run, book: Book, verdict: Verdict) -> list[Finding]:
    """The findings of a patch file, or of a patch inside another file."""
    catalogue.load(catalogue.FOR_PATCHES)
    page = book.page
    findings = []
    for check in run.checks(registry.BOOK):
        if check.id == "D65" and "K" in verdict.tools:
            findings += [
                page.finding(check, f, verdict=verdict)
                for f in check.functions[registry.BOOK](book)
            ]
    for plain in book.plains:
        if isinstance(plain.root, Map):
            findings += words_of(run, page, plain, registry.WORDS, verdict)
            findings += patch_value(run, page, plain.root, verdict)
    return findings


def patch_value(run: Run, page: Page, root: Map, verdict: Verdict) -> list[Finding]:
    """The findings of one patch document."""
    catalogue.load(catalogue.FOR_PATCHES)
    targets = _targets(run, verdict)
    target = _target(run, page, root, verdict, targets)
    kind, struct = _kind(page, root, verdict, target)
    walk = Walk(verdict, page, run.chosen)
    if kind == CUSTOM and "K" not in verdict.tools and _has_openapi(verdict):
        kind = UNKNOWN
    walk.patch(root, kind, struct, target.root if target else None)
    findings = walk.findings
    if kind == BUILTIN and root.text("kind"):
        for site in keyed_lists(root):
            for check in run.checks(registry.PODS):
                if check.id in ("M08", "M09"):
                    findings += [
                        page.finding(check, f, path=site.path, verdict=verdict)
                        for f in check.functions[registry.PODS](site)
                    ]
    return findings


def inner_patch(
    run: Run, entry: PatchEntry, one: Kustomization | None, page: Page
) -> list[Finding]:
    """The findings of a patch that stands inside another file."""
    verdict = Verdict(PATCH, entry.rule, "Z", entry.holder or page.path, entry, one)
    if entry.value is not None:
        return patch_value(run, page, entry.value, verdict)
    if entry.inline is None or "{{" in entry.inline.text:
        return []
    inner = embedded(page, entry.inline)
    try:
        plains = [Plain(document) for document in split(inner.source).documents]
    except CannotParse:
        check = registry.get("D64")
        message = f"{entry.field} is no YAML; kustomize refuses this patch"
        found = Found(entry.inline.at, message)
        return [page.finding(check, found, verdict=verdict)] if run.wants("D64") else []
    book = Book(inner, plains)
    findings = entry_findings(run, entry, one, book, page, entry.inline.at)
    roots = [p.root for p in plains if p.root is not None]
    if entry.is_a == JSON6902 or not all(isinstance(root, Map) for root in roots):
        return findings
    for plain in plains:
        for value in plain.repeating:
            findings += [
                inner.finding(check, f, path=path_at(plain.root, f.at), verdict=verdict)
                for check in run.checks(registry.REPEATED)
                if check.id == run.repeats_id(is_patch=True)
                for f in check.functions[registry.REPEATED](value)
            ]
    return findings + patch_book(run, book, verdict)


def entry_findings(
    run: Run, entry: PatchEntry, one: Kustomization | None, book: Book, page: Page, at: int
) -> list[Finding]:
    """D64 and D69, at a place of the kustomization or of the patch file."""
    verdict = Verdict(PATCH, entry.rule, "Z", entry.page.path, entry, one)
    targets = run.targets(one) if one is not None else None
    site = EntrySite(entry, book.plains, targets, at)
    return [
        page.finding(check, found, path=entry.field if at else "", verdict=verdict)
        for check in run.checks(registry.ENTRY)
        for found in check.functions[registry.ENTRY](site)
    ]


def directives_of_manifest(run: Run, page: Page, plain: Plain) -> list[Finding]:
    """D60, but not in the patches that an object holds as values."""
    root = plain.root
    if root is None:
        return []
    held: set[int] = set()
    if isinstance(root, Map):
        if root.text("kind") == "ControllerRevision":
            return []  # a stored revision is a patch by design
        held = {id(entry.value) for entry in kustomization.inside(page, root) if entry.value}
    check = registry.get("D60")
    inside = {f.at for v in _values(root, held) for f in directive_in_manifest(v)}
    return [
        page.finding(check, f, path=path_at(root, f.at))
        for f in directive_in_manifest(root)
        if f.at not in inside
    ]


def _values(root: Value, held: set[int]) -> list[Value]:
    return [value for value in collections(root) if id(value) in held]


def words_of(
    run: Run, page: Page, plain: Plain, scope: str, verdict: Verdict | None = None
) -> list[Finding]:
    """What the checks of single words find in a document."""
    checks = run.checks(scope)
    if not checks or (scope == registry.WORDS and not may_differ(page.source.text)):
        return []
    return [
        page.finding(check, found, path=path_at(plain.root, found.at), verdict=verdict)
        for value in scalars(plain.root)
        for check in checks
        for found in check.functions[scope](value)
    ]


def traps_of(run: Run, page: Page, root: Map) -> list[Finding]:
    """T01-T03 in an object."""
    findings = []
    for value in scalars(root):
        for check in run.checks(registry.ANY_WORDS):
            findings += [page.finding(check, f) for f in check.functions[registry.ANY_WORDS](value)]
    if run.checks(registry.TYPED):
        for site in shapes.typed(root):
            for check in run.checks(registry.TYPED):
                findings += [page.finding(check, f) for f in check.functions[registry.TYPED](site)]
    return findings


def _targets(run: Run, verdict: Verdict) -> Targets | None:
    if "K" in verdict.tools and run.target:
        book = run.world.book(run.target)
        found = Targets()
        for number, root in enumerate(book.objects() if book else ()):
            found.add(Target(*identity(root), run.world, run.target, number))
        return found
    if verdict.kustomization is None:
        return None
    return run.targets(verdict.kustomization)


def _target(
    run: Run, page: Page, root: Map, verdict: Verdict, targets: Targets | None
) -> Target | None:
    """The one object that a patch changes, if it can be known."""
    if targets is None:
        return None
    if "K" in verdict.tools and run.target:
        return _told_target(run, page, root, targets)
    entry = verdict.entry
    if entry is not None and entry.target is not None:
        found = targets.selected(entry.target)
    else:
        group, kind, _, name = identity(root)
        found = targets.named(group, kind, name) if kind else targets.of_name(name)
    return found[0] if len(found) == 1 else None


def _told_target(run: Run, page: Page, root: Map, targets: Targets) -> Target | None:
    """The object of `--target`; compared with another kind, every finding would be wrong."""
    target, kind = targets.only, root.text("kind")
    if target is not None and kind and kind != target.kind:
        raise UsageError(
            f"it is a {target.kind}, but {page.path} changes a {kind}",
            path=run.target,
            hint="--target is the object that the patches change",
        )
    return target


def _kind(
    page: Page, root: Map, verdict: Verdict, target: Target | None
) -> tuple[str, ObjectType | None]:
    """What kind of object is patched, and its type."""
    api, kind = root.text("apiVersion"), root.text("kind")
    if not kind and verdict.entry is not None and verdict.entry.target is not None:
        wanted = verdict.entry.target
        group, version = wanted.text("group"), wanted.text("version")
        kind = wanted.text("kind")
        api = f"{group}/{version or 'v1'}" if group else version or version_of(kind)
    if (not kind or not api) and target is not None:
        api, kind = target.group + "/v1" if target.group else "v1", target.kind
    if not kind and verdict.rule == 6:
        api, kind = kubeadm_kind(page.path)
    if verdict.entry is not None and verdict.entry.holder.endswith("Policy"):
        return UNKNOWN, None  # Kyverno: the keys may be anchors
    if not kind or not api:
        return UNKNOWN, None
    struct = shapes.root_type(api, kind)
    if struct is not None:
        return BUILTIN, struct
    return (UNKNOWN if is_builtin_group(api) else CUSTOM), None


def _has_openapi(verdict: Verdict) -> bool:
    one = verdict.kustomization
    return one is not None and "openapi" in one.root.fields
