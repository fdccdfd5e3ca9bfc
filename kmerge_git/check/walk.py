"""Walks over a patch and shows every place of it to the checks that look at such places.

What is not looked at: the inside of what `$patch: delete` removes and, but for D05, of what
`$patch: replace` stores; a key that is misspelt (D50, D51); the lists of directives.
"""

from __future__ import annotations

from kmerge_git.check import registry
from kmerge_git.check.page import Page
from kmerge_git.check.plain import List, Map, Text, Value, field_path
from kmerge_git.check.registry import Check, Found
from kmerge_git.check.verdict import Verdict
from kmerge_git.finding import Finding
from kmerge_git.patch.directives import PATCH, is_directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kmerge_git.check.kustomization import PatchEntry
    from kmerge_git.check.shapes import FieldType, ObjectType

# Maps whose keys are the user's own, where the schema is not known.
USER_MAPS = frozenset(
    ("data", "stringData", "binaryData", "labels", "annotations", "matchLabels", "nodeSelector")
)

ABSENT = Value()  # what a target that is known does not have
ABSENT.at = 0

BUILTIN, CUSTOM, UNKNOWN = "builtin", "custom", "unknown"  # kinds of the patched object


MISSPELT = frozenset(("D50", "D51"))


class Spot:
    """A mapping of a patch. `target`: what it changes; None: not known, ABSENT: nothing."""

    __slots__ = (
        "element_of", "entry", "kind", "map", "page", "path", "strategies", "struct", "target",
        "tools", "user",
    )  # fmt: skip

    def __init__(
        self,
        page: Page,
        tools: str,
        map: Map,
        path: str,
        kind: str,
        struct: ObjectType | None,
        target: Value | None,
        *,
        user: bool = False,
        element_of: ListSpot | None = None,
        strategies: str = "",
    ) -> None:
        self.page = page
        self.tools = tools
        self.map = map
        self.path = path
        self.kind = kind
        self.struct = struct
        self.target = target
        self.user = user  # its keys are the user's own, no field names
        self.element_of = element_of
        self.strategies = strategies  # of the field that holds it, see `shapes.FieldType`
        self.entry: PatchEntry | None = None  # of the top mapping: what names the patch

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
        path: str,
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
    """One walk over one patch; the findings pile up in `findings`."""

    def __init__(self, verdict: Verdict, page: Page, chosen: frozenset[str] | None) -> None:
        self.verdict = verdict
        self.page = page
        self.findings: list[Finding] = []
        tools = verdict.tools
        scopes = (
            registry.MAP, registry.LIST, registry.ELEMENT, registry.KEY, registry.DOLLAR,
            registry.PATCH,
        )  # fmt: skip
        self.checks = {s: registry.only(s, chosen, tools) for s in scopes}
        self.seen: set[int] = set()
        self.no_schema = False  # D62: the server refuses the patch, whatever its fields are

    def patch(self, root: Map, kind: str, struct: ObjectType | None, target: Value | None) -> None:
        """Check a whole patch document."""
        spot = Spot(self.page, self.verdict.tools, root, "", kind, struct, target)
        spot.entry = self.verdict.entry
        found = self.run(registry.PATCH, spot, "")
        self.no_schema = "D62" in found and "K" in self.verdict.tools
        self.map(spot, frozenset())
        new = {(f.line, f.column) for f in self.findings if f.id == "D19"}
        self.findings = [f for f in self.findings if f.id != "D06" or (f.line, f.column) not in new]

    def run(
        self,
        scope: str,
        site: Spot | ListSpot | KeySpot,
        path: str,
        hidden: frozenset[str] = frozenset(),
    ) -> frozenset[str]:
        """Ask the checks of a scope; returns what they found and what that hides."""
        found: list[tuple[Check, Found]] = []
        for check in self.checks[scope]:
            if check.id in hidden or (self.no_schema and "S" in check.needs):
                continue
            found += [(check, one) for one in check.functions[scope](site)]
        if not found:
            return hidden
        hides = hidden.union(*(check.hides for check, _ in found))
        for check, one in found:
            if check.id not in hides:
                finding = self.page.finding(check, one, path=path, verdict=self.verdict)
                self.findings.append(finding)
        return hides | {check.id for check, _ in found}

    def map(self, spot: Spot, hidden: frozenset[str]) -> None:
        """Check a mapping and what is below it."""
        if id(spot.map) in self.seen:
            return  # an alias: its anchor was checked
        self.seen.add(id(spot.map))
        if spot.element_of is not None:
            hidden = self.run(registry.ELEMENT, spot, spot.path, hidden)
        if PATCH in spot.map.fields:
            self.run(registry.MAP, spot, spot.path, hidden)
        skipped = self.keys(spot)
        if spot.directive in ("delete", "replace") and not _is_merged(spot):
            return
        for key, (_, value) in spot.map.fields.items():
            if not is_directive(key) and key not in skipped:
                self.below(spot, key, value)

    def keys(self, spot: Spot, *, stored: bool = False) -> set[str]:
        """Check the keys; returns those that are misspelt."""
        misspelt = set()
        inside = stored or spot.directive in ("delete", "replace")
        for key, (at, value) in spot.map.fields.items():
            known = is_directive(key)
            if inside and known:
                continue  # D03, D05, D08, D11 speak about them
            path = spot.path if known else field_path(spot.path, key)
            scope = registry.DOLLAR if key[:1] == "$" else registry.KEY
            if self.run(scope, KeySpot(spot, key, at, value), path) & MISSPELT:
                misspelt.add(key)
        return misspelt

    def below(self, spot: Spot, key: str, value: Value) -> None:
        """Check the value of a key."""
        if not isinstance(value, Map | List):
            return
        field = spot.field(key)
        target = child(spot.target, key)
        path = field_path(spot.path, key)
        user = _user_keys(spot, key, field)
        if isinstance(value, Map):
            struct = field.struct if field else None
            inner = Spot(
                spot.page, spot.tools, value, path, spot.kind, struct, target, user=user,
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
        self.run(registry.MAP, spot, spot.path)
        for key, (_, value) in spot.map.fields.items():
            if isinstance(value, Map) and not is_directive(key):
                path, target = field_path(spot.path, key), child(spot.target, key)
                inner = Spot(spot.page, spot.tools, value, path, spot.kind, of, target)
                self.map(inner, frozenset())

    def list(self, spot: ListSpot, user: bool) -> None:
        """Check a list and its elements."""
        if id(spot.list) in self.seen:
            return
        self.seen.add(id(spot.list))
        hidden = self.run(registry.LIST, spot, spot.path)
        replaced = is_replaced(spot)
        outer = spot.spot
        struct = spot.field.of.struct if spot.field and spot.field.of else None
        for number, element in spot.maps():
            path = element_path(spot, number, element)
            target = spot.found(element)
            inner = Spot(
                outer.page, outer.tools, element, path, outer.kind, struct, target,
                user=user, element_of=spot,
                strategies=spot.field.strategies if spot.field else "",
            )  # fmt: skip
            if replaced:  # what is in it is stored as it is, but the element needs its key
                self.run(registry.ELEMENT, inner, path, hidden)
                self.run(registry.MAP, inner, path, hidden)
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


def element_path(spot: ListSpot, number: int, element: Map) -> str:
    """The path of an element: by its merge key, else by its number."""
    key = spot.merge_key or "name"
    name = element.text(key)
    return f'{spot.path}[{key}="{name}"]' if name else f"{spot.path}[{number}]"


def _user_keys(spot: Spot, key: str, field: FieldType | None) -> bool:
    if field is not None:
        return field.kind in ("map", "free") or (
            field.of is not None and field.of.kind in ("map", "free")
        )
    if spot.struct is not None:
        return False
    return spot.user or key in USER_MAPS
