"""Register the checks, each with its id, severity, scope and functions.

A check is a generator that looks at one place of a file and yields a `Found` for each mistake. The
scope of the check is the kind of place. The decorator of a check holds all its documentation:
`kmerge check --explain`, `--list` and docs/checks.md are made from the decorators.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from kmerge_git.errors import UsageError
from kmerge_git.finding import DROPPED, ERROR, INFO, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from kmerge_git.finding import Finding
    from kmerge_git.kube.fieldpath import Path

    Function = Callable[..., Iterator["Found"]]

__all__ = ["ERROR", "INFO", "WARNING", "Check", "ChosenChecks", "Found", "also", "every", "select"]

# The groups a check can belong to, by the first letter of its id.
GROUPS = {"D": "directives", "M": "merge-damage"}

# The scopes of checks, each with the arguments of the function of a check.
TEXT = "text"  # checked_texts.Page: a file before it is parsed
UNREAD = "unread"  # manifest_damage.Unread: a file that cannot be decoded or parsed
TEMPLATE = "template"  # Page: a template in Go's language, which is not parsed
BOOK = "book"  # checked_texts.Book, whether a kustomization lists it: a file that is not a patch
PATCH_BOOK = "patch book"  # as BOOK: a file that is a patch
MANIFEST = "manifest"  # Page, page_values.Plain: a document that is not a patch
WORDS = "words"  # as MANIFEST: a document of a patch, or of a file that a kustomization lists
REPEATED = "repeated"  # page_values.Plain: a document that is not a patch
PATCH_REPEATED = "patch repeated"  # page_values.Plain: a document of a patch
OBJECT = "object"  # page_values.Map: a Kubernetes object, or a kustomization
KEYED = "keyed"  # page_values.KeyedList of an object
PATCH_KEYED = "patch keyed"  # page_values.KeyedList of a patch
PATCH = "patch"  # Spot: the top mapping of a patch
MAP = "map"  # Spot: a mapping of a patch that has a `$patch`
LIST = "list"  # ListSpot: a list of a patch
ELEMENT = "element"  # Spot: a mapping in a list of a patch
KEY = "key"  # KeySpot: a key of a patch that does not start with a `$`
LIST_DIRECTIVE = "list directive"  # ListDirective: `$setElementOrder`, `$deleteFromPrimitiveList`
RETAINED = "retained"  # KeySpot: `$retainKeys`
DOLLAR = "dollar"  # KeySpot: any other key that starts with a `$`
ENTRY = "entry"  # PatchEntry, values, offset: an entry for a patch
OPERATION = "operation"  # PatchOperation: an operation of a JSON 6902 patch
MERGE_PATCH = "merge patch"  # page_values.Plain: a document of a JSON merge patch
INLINE = "inline"  # PatchEntry: a patch inside another file that cannot be parsed
MERGED = "merged"  # merged_files.SidedFile: the result of a merge, and the versions of the sides
MERGED_TEXT = "merged text"  # SidedFile: the result before it is parsed
MERGED_UNREAD = "merged unread"  # SidedFile, CannotParse, offset: a result that cannot be parsed
MERGED_TEMPLATE = "merged template"  # SidedFile: a result that is a template or cannot be parsed
KUSTOMIZATION = "kustomization"  # Kustomization, World: a kustomization by itself
SET = "set"  # Gathering, World, Past: a kustomization with all the files that it names
HISTORY = "history"  # bytes, GitVersions: a file, and its versions in git
CHARTS = "charts"  # messages: about charts whose versions both sides of a merge raised
# what compares a merged file with its sides, and so finds nothing in a side alone
BESIDE = (CHARTS, HISTORY, MERGED, MERGED_UNREAD, MERGED_TEMPLATE)
COMMENTS = "comments"  # silencing.Comments: the comments of a file that silence findings

# The modules of checks: for all files, for patches, for results of merges, and for kustomizations.
COMMON = (
    "manifest_damage", "patches.patch_files", "patches.unknown_keys", "merges.git_versions",
    "silencing",
)  # fmt: skip
FOR_PATCHES = ("patches.directive_checks", "patches.tool_limits", "patches.target_checks")
FOR_MERGES = ("merges.merge_damage", "merges.dropped_changes")
FOR_KUSTOMIZATIONS = ("kustomize.kustomization_damage",)
LATE = {
    **dict.fromkeys((MERGED, MERGED_TEXT, MERGED_UNREAD, MERGED_TEMPLATE), FOR_MERGES),
    **dict.fromkeys((KUSTOMIZATION, SET), FOR_KUSTOMIZATIONS),
}


class Found(NamedTuple):
    """Hold one mistake that a check found: its offset, its message and other details."""

    at: int
    message: str
    path: Path = ()  # replaces the path of the site
    severity: str = ""  # replaces the severity of the check
    fix: tuple[str, ...] = ()  # see `finding.Finding`
    page: Any = None  # the `checked_texts.Page` of the place, if it is on another page
    meant: str = ""  # see `finding.Finding`


class Check:
    """Hold the documentation of a check, and decorate the functions that find the mistake."""

    __slots__ = (
        "by_comment", "counter", "ends_walk", "example", "functions", "group", "hides", "id",
        "is_eased", "kubectl", "kustomize", "mend", "needs", "refused_by", "scope", "severity",
        "tools", "twin", "what",
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
        by_comment: bool = True,
        is_eased: bool = False,
        kubectl: str,
        kustomize: str,
        example: str,
        counter: str,
        mend: str,
    ) -> None:
        self.id = id
        self.group = GROUPS[id[0]]
        self.severity = severity
        self.scope = scope
        self.functions: dict[str, Function] = {}  # scope -> function
        self.tools = tools  # K: wrong for kubectl and the API server, Z: wrong for kustomize
        self.needs = needs  # S: the schema of the kind, T: the target document
        self.hides = hides  # ids of checks whose findings at the same place are left out
        self.twin = twin  # the check that reports instead if no check of the group is chosen
        self.ends_walk = ends_walk  # the walk skips the values of keys that this check reports
        self.refused_by = refused_by  # tools that refuse such a patch whatever its fields are
        self.by_comment = by_comment  # a comment in the file can silence the check
        self.is_eased = is_eased  # its errors are only warnings in folders of test data
        self.what = what
        self.kubectl = kubectl
        self.kustomize = kustomize
        self.example = example  # a mistake; tests/check_examples.py says how to write examples
        self.counter = counter  # a correct text that is close to the mistake
        self.mend = mend
        if id in _checks:
            raise ValueError(f"there are two checks {id}")
        _checks[id] = self

    def __call__(self, function: Function) -> Function:
        """Register the function for the scope of the check."""
        self.functions[self.scope] = function
        return function

    def mend_for(self, meant: str) -> str:
        """Return how to fix the mistake, with the trailer for a lost change filled in."""
        before, trailer, rest = self.mend.partition(f"`{DROPPED}: ")
        return f"{before}{trailer}{meant}`{rest.partition('`')[2]}" if meant else self.mend


_checks: dict[str, Check] = {}


def also(id: str, scope: str) -> Callable[[Function], Function]:
    """Register a function that does the same check in another scope."""

    def register(function: Function) -> Function:
        _checks[id].functions[scope] = function
        return function

    return register


class ChosenChecks:
    """Hold the checks with the chosen ids, or all checks if `ids` is None."""

    __slots__ = ("_of", "ids")

    def __init__(self, ids: frozenset[str] | None = None) -> None:
        load(COMMON)
        self.ids = ids
        self._of: dict[tuple[str, str], list[tuple[Check, Function]]] = {}

    def of(self, scope: str, tools: str = "KZ") -> list[tuple[Check, Function]]:
        """Return the checks of a scope that apply to at least one of the tools, sorted by id."""
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
                if (self.ids is None or check.id in self.ids) and set(tools) & set(check.tools)
            ]
        return self._of[scope, tools]


def causes(findings: Iterable[Finding]) -> list[Finding]:
    """Remove findings that follow from other findings, so that each cause is reported once.

    A finding about a merge hides findings in the whole file. A finding about a list or a
    kustomization hides findings in the same line.
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
    """Import all modules of checks in the groups."""
    for name in (name for group in groups for name in group):
        import_module(f"kmerge_git.check.{name}")


def every() -> list[Check]:
    """Load all modules of checks; return all checks, sorted by id."""
    load(COMMON, FOR_PATCHES, FOR_MERGES, FOR_KUSTOMIZATIONS)
    return [_checks[id] for id in sorted(_checks)]


def get(id: str) -> Check:
    """Return the check with an id in upper or lower case; raise UsageError for an unknown id."""
    known = _checks.get(id.upper()) or {check.id: check for check in every()}.get(id.upper())
    if known is None:
        raise UsageError(f"there is no check {id}", hint="run `kmerge check --list`")
    return known


def select(selected: Iterable[str], ignored: Iterable[str]) -> frozenset[str] | None:
    """Return the ids of the checks to run, or None to run all checks."""
    chosen, dropped = expand(selected), expand(ignored)
    if not chosen and not dropped:
        return None
    return frozenset(chosen or {c.id for c in every()}) - dropped


def expand(words: Iterable[str]) -> set[str]:
    """Return the ids of the checks that the words name.

    A word is an id (`D12`), the start of an id (`D1`), the name of a group, or `all`.
    """
    names = [w.strip() for word in words for w in word.split(",") if w.strip()]
    ids = [c.id for c in every()] if names else []
    by_group = {name: letter for letter, name in GROUPS.items()}
    chosen: set[str] = set()
    for name in names:
        prefix = "" if name == "all" else by_group.get(name.lower(), name.upper())
        matching = {id for id in ids if id.startswith(prefix)}
        if not matching:
            raise UsageError(f"there is no check {name}", hint="run `kmerge check --list`")
        chosen |= matching
    return chosen
