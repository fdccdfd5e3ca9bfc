"""Shows the operations of JSON 6902 patches to their checks, with the objects that they change."""

from __future__ import annotations

from kmerge_git.check import registry
from kmerge_git.check.patches.shapes import FieldType, root_type
from kmerge_git.check.patches.spots import PatchOperation
from kmerge_git.check.patches.targets import Target, TargetFinder
from kmerge_git.check.plain import List, Map, Value
from kmerge_git.check.registry import ChosenChecks
from kmerge_git.patch.field_shapes import version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.page import Page
    from kmerge_git.check.patches.verdict import Verdict
    from kmerge_git.finding import Finding


def operation_findings(
    checks: ChosenChecks, targets: TargetFinder, page: Page, root: List, verdict: Verdict
) -> list[Finding]:
    """What is wrong with the operations of one patch."""
    if not _are_operations(root, verdict):
        return []
    changed = targets.changed(verdict)
    type = _type(verdict, changed[0] if changed else None)
    settled = len(changed) == 1 and targets.is_settled(verdict, changed[0])
    target = changed[0].root if settled else None
    is_as_written = settled and _is_as_written(verdict, changed[0])
    findings: list[Finding] = []
    done: list[str] = []  # the paths of the operations before
    for number, value in enumerate(root.values):
        known = None if any(_is_touched(path, value) for path in done) else target
        site = PatchOperation(value, verdict.tools, type, known, is_as_written=is_as_written)
        of = checks.of(registry.OPERATION, verdict.tools)
        findings += page.findings(of, site, path=(number,), rule=verdict.why)
        if isinstance(value, Map):
            done += [value.text(field) for field in ("path", "from") if value.text(field)]
    return findings


def _is_as_written(verdict: Verdict, target: Target) -> bool:
    """Whether it comes from a file of this kustomization, whose `patches` are the first to act."""
    one, entry = verdict.kustomization, verdict.entry
    if one is None or entry is None or entry.field[:1] != ("patches",):
        return False
    return target.path in [path for path, *_ in one.resources]


def _are_operations(root: List, verdict: Verdict) -> bool:
    """Whether a list is a patch: somebody says so, or it looks like one."""
    if verdict.entry is not None or verdict.rule in (0, 6):
        return bool(root.values)
    maps = [value for value in root.values if isinstance(value, Map)]
    return any("/" in value.text("path") for value in maps)


def _is_touched(path: str, value: Value) -> bool:
    """Whether an operation before, at `path`, may change what another finds at its own."""
    above, _, last = path.rpartition("/")
    start = above if last == "-" or last.isdigit() else path
    texts = [value.text("path"), value.text("from")] if isinstance(value, Map) else []
    return any(text == start or text.startswith(f"{start}/") for text in texts)


def _type(verdict: Verdict, target: Target | None) -> FieldType | None:
    """The type of the objects that are changed, where it is built in."""
    entry = verdict.entry
    api = kind = ""
    if target is not None:
        one = target.identity
        api, kind = f"{one.group}/{one.version}" if one.group else one.version, one.kind
    elif entry is not None and entry.target is not None:
        group, version = entry.target.text("group"), entry.target.text("version")
        kind = entry.target.text("kind")
        api = f"{group}/{version or 'v1'}" if group else version or version_of(kind)
    return root_type(api, kind) if api and kind else None
