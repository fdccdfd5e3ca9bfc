"""Register the checks: the id, severity, use and function of each.

A check is a generator over one place of a file (its scope); it yields `Found` for what is wrong
there. Everything that documents it stands in its decorator: `kmerge check --explain`, `--list`
and docs/checks.md are made from it.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from kmerge_git.errors import UsageError
from kmerge_git.finding import ERROR, INFO, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from kmerge_git.finding import Finding
    from kmerge_git.kube.fieldpath import Path

    Function = Callable[..., Iterator["Found"]]

__all__ = ["ERROR", "INFO", "WARNING", "Check", "ChosenChecks", "Found", "also", "every", "select"]

# The groups a check can belong to, by the first letter of its id.
GROUPS = {"D": "directives", "M": "merge-damage", "T": "traps"}
OFF_BY_DEFAULT = ("T",)

# The scopes in which a check looks, each with the arguments of its function.
TEXT = "text"  # checked_texts.Page: a file before it is parsed
UNREAD = "unread"  # CannotParse, offset, since when: a file that cannot be decoded or parsed
BOOK = "book"  # checked_texts.Book, whether a kustomization lists it: a file that is no patch
PATCH_BOOK = "patch book"  # the same of a patch
MANIFEST = "manifest"  # Page, page_values.Plain: a document that is no patch
WORDS = "words"  # the same: a document of a patch, or of a resource of a kustomization
REPEATED = "repeated"  # page_values.Plain: a document that is no patch
PATCH_REPEATED = "patch repeated"  # the same of a patch
OBJECT = "object"  # path, page_values.Map: a Kubernetes object, or a kustomization
KEYED = "keyed"  # page_values.KeyedList of an object
PATCH_KEYED = "patch keyed"  # the same of a patch
PATCH = "patch"  # Spot: the top mapping of a patch
MAP = "map"  # Spot: a mapping of a patch that has a `$patch`
LIST = "list"  # ListSpot: a list of a patch
ELEMENT = "element"  # Spot: a mapping in a list of a patch
KEY = "key"  # KeySpot: a key of a patch that does not start with a `$`
LIST_DIRECTIVE = "list directive"  # ListDirective: `$setElementOrder`, `$deleteFromPrimitiveList`
RETAINED = "retained"  # KeySpot: `$retainKeys`
DOLLAR = "dollar"  # KeySpot: another key that starts with a `$`
ENTRY = "entry"  # PatchEntry, values, Targets or None, offset: what a kustomization says of a patch
OPERATION = "operation"  # PatchOperation: one of a JSON 6902 patch
INLINE = "inline"  # PatchEntry: a patch inside another file that cannot be parsed
MERGED = "merged"  # merged_files.SidedFile: a file that a merge made, and its sides
MERGED_TEXT = "merged text"  # the same, before it is parsed
MERGED_UNREAD = "merged unread"  # the same, CannotParse, offset: it cannot be parsed
MERGED_TEMPLATE = "merged template"  # the same: it cannot be parsed, or is none to be parsed
KUSTOMIZATION = "kustomization"  # Kustomization, World: a kustomization by itself
SET = "set"  # Gathering, World, Past: a kustomization with all its files
HISTORY = "history"  # bytes, GitVersions: a file and its versions in git

# The modules of checks: for every file, for patches, for what a merge made, for kustomizations, and
# those that are off by default.
COMMON = ("manifest_damage", "patches.patch_files", "patches.unknown_keys", "merges.git_versions")
FOR_PATCHES = ("patches.directive_checks", "patches.tool_limits", "patches.target_checks")
FOR_MERGES = ("merges.merge_damage",)
FOR_KUSTOMIZATIONS = ("kustomize.kustomization_damage",)
OPTIONAL = ("traps",)
LATE = {
    **dict.fromkeys((MERGED, MERGED_TEXT, MERGED_UNREAD, MERGED_TEMPLATE), FOR_MERGES),
    **dict.fromkeys((KUSTOMIZATION, SET), FOR_KUSTOMIZATIONS),
}


class Found(NamedTuple):
    """A check reports what it has found at one place."""

    at: int
    message: str
    path: Path = ()  # in place of the site's own
    severity: str = ""  # where it is not the check's own
    fix: tuple[str, ...] = ()  # see `finding.Finding`
    page: Any = None  # the `checked_texts.Page` of the place, if not the one that is looked at


class Check:
    """A check has its documentation, and decorates the function that finds what it is about."""

    __slots__ = (
        "counter", "ends_walk", "example", "functions", "group", "hides", "id", "kubectl",
        "kustomize", "mend", "needs", "on", "refused_by", "scope", "severity", "tools", "twin",
        "what",
    )  # fmt: skip

    def __init__(
        self,
        id: str,
        severity: str,
        scope: str,
        what: str,
        *,
        tools: str = "KZ",
        needs: str = "",
        hides: tuple[str, ...] = (),
        twin: str = "",
        ends_walk: bool = False,
        refused_by: str = "",
        kubectl: str,
        kustomize: str,
        example: str,
        counter: str,
        mend: str,
    ) -> None:
        self.id = id
        self.group = GROUPS[id[0]]
        self.on = not id.startswith(OFF_BY_DEFAULT)  # runs when nothing is selected
        self.severity = severity
        self.scope = scope
        self.functions: dict[str, Function] = {}  # scope -> the function that looks there
        self.tools = tools  # K: wrong for kubectl and the API server, Z: wrong for kustomize
        self.needs = needs  # S: the schema of the kind, T: the target document
        self.hides = hides  # checks that report nothing more at the same place or offset
        self.twin = twin  # reports in its place where nothing of its group is chosen
        self.ends_walk = ends_walk  # nothing below a key that it reports is looked at
        self.refused_by = refused_by  # tools to which the fields of such a patch do not matter
        self.what = what
        self.kubectl = kubectl
        self.kustomize = kustomize
        self.example = example  # what it finds; tests/check_examples.py says how to write one
        self.counter = counter  # what is close to that, and right
        self.mend = mend
        if id in _checks:
            raise ValueError(f"two checks are called {id}")
        _checks[id] = self

    def __call__(self, function: Function) -> Function:
        """Make the function look at the places of the check's scope."""
        self.functions[self.scope] = function
        return function


_checks: dict[str, Check] = {}


def also(id: str, scope: str) -> Callable[[Function], Function]:
    """Make a function find the same thing as a check at places of another kind."""

    def register(function: Function) -> Function:
        _checks[id].functions[scope] = function
        return function

    return register


class ChosenChecks:
    """The chosen checks are those with the ids, or without ids the usual ones."""

    __slots__ = ("_of", "ids")

    def __init__(self, ids: frozenset[str] | None = None) -> None:
        load(COMMON)
        if any(id.startswith(OFF_BY_DEFAULT) for id in ids or ()):
            load(OPTIONAL)
        self.ids = ids
        self._of: dict[tuple[str, str], list[tuple[Check, Function]]] = {}

    def of(self, scope: str, tools: str = "KZ") -> list[tuple[Check, Function]]:
        """Return the checks, by id, that look at such places and count for one of the tools."""
        if (scope, tools) not in self._of:
            load(LATE.get(scope, ()))
            groups = GROUPS.keys() if self.ids is None else {id[0] for id in self.ids}
            there = [
                (
                    check if check.id[0] in groups or not check.twin else _checks[check.twin],
                    check.functions[scope],
                )
                for _, check in sorted(_checks.items())
                if scope in check.functions
            ]
            self._of[scope, tools] = [
                (check, function)
                for check, function in there
                if (check.on if self.ids is None else check.id in self.ids)
                and set(tools) & set(check.tools)
            ]
        return self._of[scope, tools]


def causes(findings: Iterable[Finding]) -> list[Finding]:
    """Leave out the findings that a check of merges or of lists hides: report each cause once.

    A check of a merge hides others in the whole file, a check of lists in its line.
    """
    there = list(findings)
    hidden: set[tuple[str, int]] = set()
    for finding in there:
        check = _checks[finding.id]
        if check.scope in (MERGED, MERGED_UNREAD):
            hidden.update((id, other.line) for id in check.hides for other in there)
        elif check.scope in (KEYED, KUSTOMIZATION):
            hidden.update((id, finding.line) for id in check.hides)
    return [finding for finding in there if (finding.id, finding.line) not in hidden]


def load(*groups: tuple[str, ...]) -> None:
    """Import some modules of checks."""
    for name in (name for group in groups for name in group):
        import_module(f"kmerge_git.check.{name}")


def every() -> list[Check]:
    """Return all checks, by id; load the modules that hold them."""
    load(COMMON, FOR_PATCHES, FOR_MERGES, FOR_KUSTOMIZATIONS, OPTIONAL)
    return [_checks[id] for id in sorted(_checks)]


def get(id: str) -> Check:
    """Return a check by its id in any spelling."""
    known = _checks.get(id.upper()) or {check.id: check for check in every()}.get(id.upper())
    if known is None:
        raise UsageError(f"no check is called {id}", hint="see `kmerge check --list`")
    return known


def select(selected: Iterable[str], ignored: Iterable[str]) -> frozenset[str] | None:
    """Return the ids of the checks that run; None stands for the usual ones."""
    chosen, dropped = expand(selected), expand(ignored)
    if not chosen and not dropped:
        return None
    return frozenset(chosen or {c.id for c in every() if c.on}) - dropped


def expand(words: Iterable[str]) -> set[str]:
    """Return the ids that `D12`, `D1` or `D` (all that start so), a group, or `all` names."""
    names = [w.strip() for word in words for w in word.split(",") if w.strip()]
    ids = [c.id for c in every()] if names else []
    by_group = {name: letter for letter, name in GROUPS.items()}
    chosen: set[str] = set()
    for name in names:
        prefix = "" if name == "all" else by_group.get(name.lower(), name.upper())
        matching = {id for id in ids if id.startswith(prefix)}
        if not matching:
            raise UsageError(f"no check is called {name}", hint="see `kmerge check --list`")
        chosen |= matching
    return chosen
