"""The registry of checks: id, severity, what it is good for, and the function, side by side.

A check is a generator over one place of a file (its scope); it yields `Found` for what is wrong
there. Everything that documents it stands in its decorator: `kmerge check --explain`, `--list`
and docs/checks.md are made from it.
"""

from __future__ import annotations

from kmerge_git.errors import UsageError
from kmerge_git.finding import ERROR, INFO, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Function = Callable[[Any], Iterator["Found"]]

__all__ = ["ERROR", "INFO", "WARNING", "Check", "Found", "also", "check", "every", "only", "select"]

# The groups a check can belong to, by the first letter of its id.
GROUPS = {"D": "directives", "M": "merge-damage", "T": "traps"}
OFF_BY_DEFAULT = ("T",)

# Where a check looks: the thing its function is called with.
TEXT = "text"  # page.Page: a file before it is parsed
UNREAD = "unread"  # damage.Unread: a file that cannot be parsed
BOOK = "book"  # world.Book: a file with all its documents
MANIFEST = "manifest"  # plain.Value: the top value of a document that is no patch
OBJECT = "object"  # damage.ObjectSite: a Kubernetes object, or a kustomization
PODS = "pods"  # damage.ListSite: a list of an object or patch whose elements have keys
REPEATED = "repeated"  # plain.Map: a mapping that repeats a key
WORDS = "words"  # plain.Text: a scalar of a patch, or of a resource of a kustomization
ANY_WORDS = "any words"  # plain.Text: a scalar of any object
TYPED = "typed"  # shapes.Typed: a scalar and the type its field has
PATCH = "patch"  # walk.Spot: the top mapping of a patch
MAP = "map"  # walk.Spot: a mapping of a patch that has a `$patch`
LIST = "list"  # walk.ListSpot: a list of a patch
ELEMENT = "element"  # walk.Spot: a mapping in a list of a patch
KEY = "key"  # walk.KeySpot: a key of a patch that does not start with a `$`
DOLLAR = "dollar"  # walk.KeySpot: a key that does
ENTRY = "entry"  # entries.EntrySite: what a kustomization says about a patch
SET = "set"  # across.SetSite: a kustomization with all its files
HISTORY = "history"  # history.HistorySite: a file and its versions in git


class Found:
    """What a check has to say about one place."""

    __slots__ = ("at", "fix", "message", "path", "severity")

    def __init__(
        self,
        at: int,
        message: str,
        *,
        path: str = "",
        severity: str = "",
        fix: tuple[str, ...] = (),
    ) -> None:
        self.at = at
        self.message = message
        self.path = path  # below the site's own path, or in its place
        self.severity = severity  # where it is not the check's own
        self.fix = fix  # see `finding.Finding`


class Check:
    """One check and its documentation."""

    __slots__ = (
        "example",
        "functions",
        "hides",
        "id",
        "kubectl",
        "kustomize",
        "mend",
        "needs",
        "severity",
        "tools",
        "what",
    )

    def __init__(self, id: str, severity: str) -> None:
        self.id = id
        self.severity = severity
        self.functions: dict[str, Function] = {}  # scope -> what looks there
        self.tools = "KZ"  # K: wrong for kubectl and the API server, Z: wrong for kustomize
        self.needs = ""  # S: the schema of the kind, T: the target document
        self.hides: tuple[str, ...] = ()  # checks that say nothing more at the same place
        self.what = self.kubectl = self.kustomize = self.example = self.mend = ""

    @property
    def group(self) -> str:
        """Directives, merge-damage or traps."""
        return GROUPS[self.id[0]]

    @property
    def on(self) -> bool:
        """Whether it runs when nothing is selected."""
        return not self.id.startswith(OFF_BY_DEFAULT)


_checks: dict[str, Check] = {}


def check(
    id: str,
    severity: str,
    scope: str,
    what: str,
    *,
    tools: str = "KZ",
    needs: str = "",
    hides: tuple[str, ...] = (),
    kubectl: str = "",
    kustomize: str = "",
    example: str = "",
    mend: str = "",
) -> Callable[[Function], Function]:
    """Register a function as a check."""

    def register(function: Function) -> Function:
        made = Check(id, severity)
        made.functions[scope] = function
        made.tools, made.needs, made.hides = tools, needs, hides
        made.what, made.kubectl, made.kustomize = what, kubectl, kustomize
        made.example, made.mend = example, mend
        if id in _checks:
            raise ValueError(f"two checks are called {id}")
        _checks[id] = made
        return function

    return register


def also(id: str, scope: str) -> Callable[[Function], Function]:
    """Register a function that finds the same thing at places of another kind."""

    def register(function: Function) -> Function:
        _checks[id].functions[scope] = function
        return function

    return register


def every() -> list[Check]:
    """All checks, by id; loads the modules that hold them."""
    from kmerge_git.check.catalogue import load

    load()
    return [_checks[id] for id in sorted(_checks)]


def only(scope: str, chosen: frozenset[str] | None, tools: str = "KZ") -> list[Check]:
    """The loaded checks of one scope that are chosen and count for one of the tools, by id."""
    return [
        c
        for id, c in sorted(_checks.items())
        if scope in c.functions and (chosen is None or id in chosen) and set(tools) & set(c.tools)
    ]


def get(id: str) -> Check:
    """A check by its id, whichever way it is written."""
    every()
    try:
        return _checks[id.upper()]
    except KeyError:
        raise UsageError(f"no check is called {id}", hint="see `kmerge check --list`") from None


def select(selected: Iterable[str], ignored: Iterable[str]) -> frozenset[str] | None:
    """The ids that run; None means the usual ones."""
    chosen, dropped = _expand(selected), _expand(ignored)
    if not chosen and not dropped:
        return None
    return frozenset(chosen or {c.id for c in every() if c.on}) - dropped


def _expand(words: Iterable[str]) -> set[str]:
    """Ids named by `D12`, by `D1` or `D` (all that start so), by a group's name, or by `all`."""
    names = [w.strip() for word in words for w in word.split(",") if w.strip()]
    ids = [c.id for c in every()] if names else []
    found: set[str] = set()
    by_group = {name: letter for letter, name in GROUPS.items()}
    for name in names:
        prefix = "" if name == "all" else by_group.get(name.lower(), name.upper())
        matching = {id for id in ids if id.startswith(prefix)}
        if not matching:
            raise UsageError(f"no check is called {name}", hint="see `kmerge check --list`")
        found |= matching
    return found
