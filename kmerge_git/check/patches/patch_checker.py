"""Apply the checks to patches, together with the objects that the patches change.

The patches are files, inline texts, JSON 6902 operations, and entries of kustomizations.
"""

from __future__ import annotations

from functools import partial

from kmerge_git.check import registry
from kmerge_git.check.checked_texts import Book, Page, embedded
from kmerge_git.check.kustomize.kustomization import Kustomization, PatchEntry, inside
from kmerge_git.check.page_values import List, Map, Value, api_version, keyed_lists
from kmerge_git.check.patches.field_types import FieldType, root_type, type_below
from kmerge_git.check.patches.patch_targets import Target, TargetFinder
from kmerge_git.check.patches.patch_verdict import (
    BUILTIN,
    CUSTOM,
    PATCH,
    UNKNOWN,
    Verdict,
    kubeadm_kind,
)
from kmerge_git.check.patches.patch_walk import PatchOperation, PatchWalk
from kmerge_git.check.patches.unknown_keys import POD_FIELDS
from kmerge_git.check.registry import ChosenChecks
from kmerge_git.errors import CannotParse
from kmerge_git.finding import Finding
from kmerge_git.patch import is_directive
from kmerge_git.patch.field_shapes import is_builtin_group, root_shape, version_of

registry.load(registry.FOR_PATCHES)

WORKLOAD = ("apps/v1", "Deployment")  # represents all kinds with the same pods


class PatchChecker:
    """Apply the chosen checks to patches, each with the object that the patch changes."""

    __slots__ = ("checks", "targets")

    def __init__(self, checks: ChosenChecks, targets: TargetFinder) -> None:
        self.checks = checks
        self.targets = targets

    def book(self, book: Book, verdict: Verdict) -> list[Finding]:
        """Return the findings of a patch file, or of a patch inside another file."""
        page, checks, rule, tools = book.page, self.checks, verdict.why, verdict.known_tools
        findings = page.findings(checks, registry.PATCH_BOOK, book, tools=tools, rule=rule)
        for plain in book.plains:
            root = plain.root
            findings += page.findings(checks, registry.PATCH_REPEATED, plain, root=root, rule=rule)
            if isinstance(root, Map):
                site = page, plain, tools
                findings += page.findings(checks, registry.WORDS, *site, root=root, rule=rule)
                findings += self.value(page, root, verdict)
                for entry in inside(page, root):  # the patched object may hold patches itself
                    findings += self.inner(entry, None)
        return findings + self.json(book, verdict)

    def json(self, book: Book, verdict: Verdict) -> list[Finding]:
        """Return the findings of the JSON 6902 patches in a file."""
        lists = (root for root in book.roots if isinstance(root, List))
        return [found for root in lists for found in self._operations(book.page, root, verdict)]

    def value(self, page: Page, root: Map, verdict: Verdict) -> list[Finding]:
        """Return the findings of one patch document."""
        target = self.targets.find(page, root, verdict)
        kind, type = _kind(page, root, verdict, target)
        others = partial(self.targets.words_of_others, verdict, target)
        walk = PatchWalk(self.checks, verdict._replace(type=type, others=others), page)
        findings = walk.patch(root, kind, type, target.root if target else None)
        if kind == BUILTIN and root.string("kind"):
            for site in keyed_lists(root):
                scope, rule = registry.PATCH_KEYED, verdict.why
                findings += page.findings(self.checks, scope, site, path=site.path, rule=rule)
        return findings

    def inner(self, entry: PatchEntry, one: Kustomization | None) -> list[Finding]:
        """Return the findings of a patch that is a part of another file."""
        page = entry.page
        where = entry.holder or page.path
        verdict = Verdict(PATCH, entry.rule, entry.tools, where, entry, one)
        if isinstance(entry.value, List):
            return self._operations(page, entry.value, verdict)
        if entry.value is not None:
            return self.value(page, entry.value, verdict)
        if entry.inline is None or "{{" in entry.inline.text:
            return []
        try:
            book = Book(embedded(page, entry.inline))
        except CannotParse:
            return page.findings(self.checks, registry.INLINE, entry, rule=verdict.why)
        if entry.patch_type == "merge":
            return self._merge_patch(book, verdict)
        findings = self.book(book, verdict)
        if not entry.is_of_policy and not entry.patch_type:
            findings += self.entry(entry, one, book, entry.inline.at)
        return findings

    def _merge_patch(self, book: Book, verdict: Verdict) -> list[Finding]:
        """Return the findings of a JSON merge patch, which has no directives."""
        page, rule, findings = book.page, verdict.why, []
        for plain in book.plains:
            for scope in (registry.PATCH_REPEATED, registry.MERGE_PATCH):
                findings += page.findings(self.checks, scope, plain, root=plain.root, rule=rule)
        return findings

    def entry(
        self, entry: PatchEntry, one: Kustomization | None, book: Book, at: int
    ) -> list[Finding]:
        """Return the findings about the kustomization's entry for a patch.

        The findings are reported in the kustomization, or in the patch file if `at` is 0.
        """
        verdict = Verdict(PATCH, entry.rule, "Z", entry.page.path, entry, one)
        page, path = (entry.page, entry.field) if at else (book.page, ())
        site = entry, book.roots, at
        return page.findings(self.checks, registry.ENTRY, *site, path=path, rule=verdict.why)

    def _operations(self, page: Page, root: List, verdict: Verdict) -> list[Finding]:
        """Return what is wrong with the operations of one JSON 6902 patch."""
        # without an entry or an option of the command, the content tells that these are operations
        is_told = verdict.entry is not None or verdict.rule in (0, 6)
        if not is_told and not any("/" in value.string("path") for value in root.values):
            return []
        changed = self.targets.changed(verdict)
        first = changed[0] if changed else None
        selected = verdict.entry.target if verdict.entry is not None else None
        api, kind = _selected_kind(selected) if first is None else _kind_of(first)
        type = root_type(api, kind) if api and kind else None
        others = self.targets.words_of_others(verdict, first) if len(changed) == 1 else None
        is_settled = others is not None and not others  # no other patch changes the object
        target = first.root if first is not None and is_settled else None
        is_as_written = is_settled and _is_as_written(verdict, changed[0])
        findings: list[Finding] = []
        done: list[str] = []  # the paths of earlier operations
        for number, value in enumerate(root.values):
            known = None if any(_is_touched(path, value) for path in done) else target
            site = PatchOperation(value, verdict.tools, type, known, is_as_written)
            findings += page.findings(
                self.checks, registry.OPERATION, site, tools=verdict.tools,
                path=(number,), rule=verdict.why,
            )  # fmt: skip
            done += filter(None, (value.string("path"), value.string("from")))
        return findings


def _kind(
    page: Page, root: Map, verdict: Verdict, target: Target | None
) -> tuple[str, FieldType | None]:
    """Return whether the patched kind is built in, custom or unknown, and its type, if known."""
    if verdict.entry is not None and verdict.entry.is_of_policy:
        return UNKNOWN, None  # the keys may be anchors of Kyverno
    api, kind = _patched_kind(page, root, verdict, target)
    if not kind or not api:
        return UNKNOWN, None
    type = root_type(api, kind)
    if type is not None:
        # a removed version has a type with the same list keys, but maybe other fields
        return BUILTIN if root_shape(api, kind) else UNKNOWN, type
    one = verdict.kustomization
    knows_custom = "K" not in verdict.tools and one is not None and "openapi" in one.root.fields
    return (UNKNOWN if knows_custom or is_builtin_group(api) else CUSTOM), None


def _patched_kind(
    page: Page, root: Map, verdict: Verdict, target: Target | None
) -> tuple[str, str]:
    """Return apiVersion and kind of the object that a patch changes.

    They are taken from the patch, the `target:` of its entry, the target, or the file name.
    """
    api, kind = root.string("apiVersion"), root.string("kind")
    if not kind or not api:
        selected = verdict.entry.target if verdict.entry is not None else None
        for named in (_selected_kind(selected), _kind_of(target)):
            api, kind = api or named[0], kind or named[1]
    if not kind and verdict.rule == 6:
        api, kind = kubeadm_kind(page.path)
    if not kind and not api and "K" in verdict.tools and _has_pods(root):
        api, kind = WORKLOAD
    return api, kind


def _selected_kind(target: Map | None) -> tuple[str, str]:
    """Return the apiVersion and kind that a `target:` names; each is '' if not given."""
    if target is None:
        return "", ""
    if target.string("apiVersion"):  # an entry of Hive; a `target:` has group and version
        return target.string("apiVersion"), target.string("kind")
    group, version, kind = (target.string(field) for field in ("group", "version", "kind"))
    return api_version(group, version or ("v1" if group else version_of(kind))), kind


def _kind_of(target: Target | None) -> tuple[str, str]:
    if target is None:
        return "", ""
    one = target.identity
    return api_version(one.group, one.version or "v1"), one.kind


def _has_pods(root: Map) -> bool:
    """Return whether a patch changes pods, and only uses fields that all workloads share.

    Other kinds have pods as well, but kubectl applies no strategic merge patches to those kinds.
    """
    spec, pod = root.map("spec"), root.map("spec", "template", "spec")
    of_spec = type_below(root_type(*WORKLOAD), "spec")
    if spec is None or pod is None or of_spec is None:
        return False
    known = all(is_directive(key) or of_spec.below(key) for key in spec.fields)
    return known and any(key.rpartition("/")[2] in POD_FIELDS for key in pod.fields)


# -- JSON 6902 patches ---------------------------------------------------------------------------


def _is_as_written(verdict: Verdict, target: Target) -> bool:
    """Return whether a resource still has the content of its file when it is patched."""
    one, entry = verdict.kustomization, verdict.entry
    if one is None or entry is None or entry.field[:1] != ("patches",):
        return False
    return target.path in [path for path, *_ in one.resources]


def _is_touched(path: str, value: Value) -> bool:
    """Return whether an operation at `path` may change the place of a later operation."""
    above, _, last = path.rpartition("/")
    start = above if last == "-" or last.isdigit() else path
    texts = value.string("path"), value.string("from")
    return any(text == start or text.startswith(f"{start}/") for text in texts)
