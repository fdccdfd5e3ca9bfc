"""Walks over a patch and shows every place of it to the checks that look at such places.

What is not looked at: the inside of what `$patch: delete` removes and, but for directives and
nulls, of what `$patch: replace` stores; a misspelt directive; the lists of directives.
"""

from __future__ import annotations

from kmerge_git.check import registry
from kmerge_git.check.plain import List, Map, Text, Value
from kmerge_git.patch.directives import PATCH, is_directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kmerge_git.check.page import Page
    from kmerge_git.check.registry import Check, ChosenChecks, Found
    from kmerge_git.check.shapes import FieldType, ObjectType
    from kmerge_git.check.verdict import Verdict
    from kmerge_git.finding import Finding
    from kmerge_git.kube.fieldpath import Path

# Maps whose keys are the user's own, where the schema is not known.
USER_MAPS = frozenset(
    ("data", "stringData", "binaryData", "labels", "annotations", "matchLabels", "nodeSelector")
)

ABSENT = Value()  # what a target that is known does not have
ABSENT.at = 0

BUILTIN, CUSTOM, UNKNOWN = "builtin", "custom", "unknown"  # kinds of the patched object


class Spot:
    """A mapping of a patch. `target`: what it changes; None: not known, ABSENT: nothing."""

    __slots__ = (
        "element_of", "kind", "map", "path", "strategies", "struct", "target", "user", "verdict",
    )  # fmt: skip

    def __init__(
        self,
        verdict: Verdict,
        map: Map,
        path: Path,
        kind: str,
        struct: ObjectType | None,
        target: Value | None,
        *,
        user: bool = False,
        element_of: ListSpot | None = None,
        strategies: str = "",
    ) -> None:
        self.verdict = verdict
        self.map = map
        self.path = path
        self.kind = kind
        self.struct = struct
        self.target = target
        self.user = user  # its keys are the user's own, no field names
        self.element_of = element_of
        self.strategies = strategies  # of the field that holds it, see `shapes.FieldType`

    @property
    def tools(self) -> str:
        """The tools the patch is for."""
        return self.verdict.tools

    @property
    def directive(self) -> str | None:
        """The text of its `$patch`, or None."""
        value = self.map.get(PATCH)
        if value is None:
            return None
        return value.text if isinstance(value, Text) else "a collection"

    def field(self, key: str) -> FieldType | None:
        """The type of a field, where it is known."""
        return self.struct.field(key) if self.struct else None


class ListSpot:
    """A list of a patch, with the mapping and the key it stands under."""

    __slots__ = ("field", "key", "list", "path", "spot", "target")

    def __init__(
        self,
        spot: Spot,
        key: str,
        list: List,
        path: Path,
        field: FieldType | None,
        target: Value | None,
    ) -> None:
        self.spot = spot
        self.key = key
        self.list = list
        self.path = path
        self.field = field
        self.target = target

    @property
    def tools(self) -> str:
        """The tools the patch is for."""
        return self.spot.tools

    @property
    def merge_key(self) -> str:
        """What pairs its elements; empty where they are not paired or nothing is known."""
        return self.field.merge_key if self.field and self.field.merges else ""

    def maps(self) -> Iterable[tuple[int, Map]]:
        """The elements that are mappings."""
        return ((n, v) for n, v in enumerate(self.list.values) if isinstance(v, Map))

    def found(self, element: Map) -> Value | None:
        """The element of the target that a patch element changes."""
        key = self.merge_key
        if self.target is None or not key or key not in element.fields:
            return None
        if isinstance(self.target, List):
            for value in self.target.values:
                if isinstance(value, Map) and value.text(key) == element.text(key):
                    return value
        return ABSENT


class KeySpot:
    """A key of a mapping of a patch."""

    __slots__ = ("at", "key", "spot", "value")

    def __init__(self, spot: Spot, key: str, at: int, value: Value) -> None:
        self.spot = spot
        self.key = key
        self.at = at
        self.value = value


class Walk:
    """One walk over one patch; what it finds piles up in `found`."""

    def __init__(self, checks: ChosenChecks, verdict: Verdict, page: Page) -> None:
        self.checks = checks
        self.verdict = verdict
        self.page = page
        self.found: list[tuple[Check, Found, Path]] = []  # and the path
        self.hidden_at: dict[int, set[str]] = {}  # offset -> ids
        self.seen: set[int] = set()
        self.schema_matters = True

    def patch(
        self, root: Map, kind: str, struct: ObjectType | None, target: Value | None
    ) -> list[Finding]:
        """What is wrong with a whole patch document."""
        spot = Spot(self.verdict, root, (), kind, struct, target)
        _, spoke = self.ask(registry.PATCH, spot, ())
        tools = set(self.verdict.tools)
        self.schema_matters = not any(tools & set(check.refused_by) for check in spoke)
        self.map(spot, frozenset())
        return [
            self.page.finding(check, found, path=path, rule=self.verdict.why)
            for check, found, path in self.found
            if check.id not in self.hidden_at[found.at]
        ]

    def ask(
        self,
        scope: str,
        site: Spot | ListSpot | KeySpot,
        path: Path,
        hidden: frozenset[str] = frozenset(),
    ) -> tuple[frozenset[str], list[Check]]:
        """Ask the checks of a scope; returns what is hidden from now on, and which ones spoke."""
        found: list[tuple[Check, Found]] = []
        for check, function in self.checks.of(scope, self.verdict.tools):
            if check.id in hidden or ("S" in check.needs and not self.schema_matters):
                continue
            found += [(check, one) for one in function(site)]
        if not found:
            return hidden, []
        hides = hidden.union(*(check.hides for check, _ in found))
        for check, one in found:
            if check.id not in hides:
                self.found.append((check, one, path))
                self.hidden_at.setdefault(one.at, set()).update(check.hides)
        spoke = [check for check, _ in found]
        return hides | {check.id for check in spoke}, spoke

    def map(self, spot: Spot, hidden: frozenset[str]) -> None:
        """Check a mapping and what is below it."""
        if id(spot.map) in self.seen:
            return  # an alias: its anchor was checked
        self.seen.add(id(spot.map))
        if spot.element_of is not None:
            hidden, _ = self.ask(registry.ELEMENT, spot, spot.path, hidden)
        if PATCH in spot.map.fields:
            self.ask(registry.MAP, spot, spot.path, hidden)
        skipped = self.keys(spot)
        if spot.directive in ("delete", "replace") and not _is_merged(spot):
            return
        for key, (_, value) in spot.map.fields.items():
            if not is_directive(key) and key not in skipped:
                self.below(spot, key, value)

    def keys(self, spot: Spot, *, stored: bool = False) -> set[str]:
        """Check the keys; returns those below which nothing is looked at."""
        ended = set()
        inside = stored or spot.directive in ("delete", "replace")
        for key, (at, value) in spot.map.fields.items():
            known = is_directive(key)
            if inside and known:
                continue  # D03, D05, D08, D11 speak about them
            path = spot.path if known else (*spot.path, key)
            scope = registry.DOLLAR if key[:1] == "$" else registry.KEY
            _, spoke = self.ask(scope, KeySpot(spot, key, at, value), path)
            if any(check.ends_walk for check in spoke):
                ended.add(key)
        return ended

    def below(self, spot: Spot, key: str, value: Value) -> None:
        """Check the value of a key."""
        if not isinstance(value, Map | List):
            return
        field = spot.field(key)
        target = child(spot.target, key)
        path = (*spot.path, key)
        user = _user_keys(spot, key, field)
        if isinstance(value, Map):
            struct = field.struct if field else None
            inner = Spot(
                spot.verdict, value, path, spot.kind, struct, target, user=user,
                strategies=field.strategies if field else "",
            )  # fmt: skip
            if field is not None and field.kind == "map":
                self.map_of(inner, field)
            else:
                self.map(inner, frozenset())
        else:
            self.list(ListSpot(spot, key, value, path, field, target), user)

    def map_of(self, spot: Spot, field: FieldType) -> None:
        """A map with the user's keys over values of one type."""
        of = field.of.struct if field.of else None
        if of is None:
            self.map(spot, frozenset())
            return
        self.ask(registry.MAP, spot, spot.path)
        for key, (_, value) in spot.map.fields.items():
            if isinstance(value, Map) and not is_directive(key):
                path, target = (*spot.path, key), child(spot.target, key)
                inner = Spot(spot.verdict, value, path, spot.kind, of, target)
                self.map(inner, frozenset())

    def list(self, spot: ListSpot, user: bool) -> None:
        """Check a list and its elements."""
        if id(spot.list) in self.seen:
            return
        self.seen.add(id(spot.list))
        hidden, _ = self.ask(registry.LIST, spot, spot.path)
        replaced = is_replaced(spot)
        outer = spot.spot
        struct = spot.field.of.struct if spot.field and spot.field.of else None
        for number, element in spot.maps():
            path = element_path(spot, number, element)
            target = spot.found(element)
            inner = Spot(
                outer.verdict, element, path, outer.kind, struct, target,
                user=user, element_of=spot,
                strategies=spot.field.strategies if spot.field else "",
            )  # fmt: skip
            if replaced:  # what is in it is stored as it is, but the element needs its key
                self.ask(registry.ELEMENT, inner, path, hidden)
                self.ask(registry.MAP, inner, path, hidden)
                self.keys(inner, stored=True)
            else:
                self.map(inner, hidden)


def child(target: Value | None, key: str) -> Value | None:
    """What a target has below a key."""
    if target is None:
        return None
    value = target.get(key) if isinstance(target, Map) else None
    if value is None or (isinstance(value, Text) and value.null):
        return ABSENT
    return value


def is_replaced(spot: ListSpot) -> bool:
    """Whether an element `- $patch: replace` makes the list replace the whole other one."""
    return any(
        element.text(PATCH) == "replace" and ("K" in spot.tools or len(element.fields) == 1)
        for _, element in spot.maps()
    )


def _is_merged(spot: Spot) -> bool:
    """To kustomize `$patch: replace` beside other keys of an element says nothing."""
    outer = spot.element_of
    return outer is not None and spot.directive == "replace" and not is_replaced(outer)


def element_path(spot: ListSpot, number: int, element: Map) -> Path:
    """The path of an element: by its merge key, else by its number."""
    key = spot.merge_key or "name"
    name = element.text(key)
    return (*spot.path, ((key, name),) if name else number)


def _user_keys(spot: Spot, key: str, field: FieldType | None) -> bool:
    if field is not None:
        return field.kind in ("map", "free") or (
            field.of is not None and field.of.kind in ("map", "free")
        )
    if spot.struct is not None:
        return False
    return spot.user or key in USER_MAPS
