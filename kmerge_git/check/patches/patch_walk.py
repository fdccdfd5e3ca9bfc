"""Walk over a patch and apply the checks to its places.

The walk skips misspelt directives, the values of directives for lists, and the content of a map
with `$patch: delete`. In a map with `$patch: replace`, only keys, directives and nulls are checked.
"""

from __future__ import annotations

from typing import NamedTuple

from kmerge_git.check import registry
from kmerge_git.check.page_values import List, Map, Text, Value, is_set
from kmerge_git.patch import DELETE, ORDER, PATCH, RETAIN_KEYS, is_directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kmerge_git.check.checked_texts import Page
    from kmerge_git.check.patches.field_types import FieldType
    from kmerge_git.check.patches.patch_verdict import Verdict
    from kmerge_git.check.registry import Check, ChosenChecks, Found
    from kmerge_git.finding import Finding
    from kmerge_git.kube.fieldpath import Path


# Maps whose keys users may choose freely, for kinds without a known schema.
USER_MAPS = frozenset(
    ("data", "stringData", "binaryData", "labels", "annotations", "matchLabels", "nodeSelector")
)


class PatchWalk:
    """Walk over one patch and collect the findings in `found`."""

    def __init__(self, checks: ChosenChecks, verdict: Verdict, page: Page) -> None:
        self.checks = checks
        self.verdict = verdict
        self.page = page
        self.found: list[tuple[Check, Found, Path]] = []  # the path of a field
        self.hidden_at: dict[int, set[str]] = {}  # offset -> ids
        self.seen: set[int] = set()
        self.schema_matters = True

    def patch(
        self, root: Map, kind: str, type: FieldType | None, target: Value | None
    ) -> list[Finding]:
        """Return what is wrong with a whole patch document."""
        spot = Spot(self.verdict, root, (), kind, type, target)
        _, reporting = self.ask(registry.PATCH, spot, ())
        refused_by = {tool for check in reporting for tool in check.refused_by}
        self.schema_matters = refused_by.isdisjoint(self.verdict.tools)
        self.map(spot, frozenset())
        return [
            self.page.finding(check, found, path=path, rule=self.verdict.why)
            for check, found, path in self.found
            if check.id not in self.hidden_at[found.at]
        ]

    def ask(
        self,
        scope: str,
        site: Spot | ListSpot | KeySpot | ListDirective,
        path: Path,
        hidden: frozenset[str] = frozenset(),
    ) -> tuple[frozenset[str], list[Check]]:
        """Run the checks of a scope on a site.

        Return the ids of the checks to hide below the site, and the checks that found something.
        """
        found: list[tuple[Check, Found]] = []
        for check, function in self.checks.of(scope, self.verdict.tools):
            if check.id not in hidden and ("S" not in check.needs or self.schema_matters):
                found += [(check, one) for one in function(site)]
        hides = hidden.union(*(check.hides for check, _ in found))
        for check, one in found:
            if check.id not in hides:
                self.found.append((check, one, path))
                self.hidden_at.setdefault(one.at, set()).update(check.hides)
        reporting = [check for check, _ in found]
        return hides | {check.id for check in reporting}, reporting

    def map(self, spot: Spot, hidden: frozenset[str]) -> None:
        """Check a mapping and the values below it."""
        if id(spot.map) in self.seen:
            return  # an alias: its anchor was checked
        self.seen.add(id(spot.map))
        skipped, hides = self.keys(spot)
        hidden |= hides
        if spot.element_of is not None:
            hidden, _ = self.ask(registry.ELEMENT, spot, spot.path, hidden)
        if PATCH in spot.map.fields:
            self.ask(registry.MAP, spot, spot.path, hidden)
        outer = spot.element_of
        # kustomize ignores `$patch: replace` in an element and merges the element
        is_merged = outer is not None and spot.directive == "replace" and not outer.is_replaced
        if spot.directive in ("delete", "replace") and not is_merged:
            if spot.directive == "replace" and spot.element_of is None:
                self.stored(spot.map, spot)
            return
        for key, (_, value) in spot.map.fields.items():
            if not is_directive(key) and key not in skipped:
                self.below(spot, key, value)

    def stored(self, map: Map, outer: Spot) -> None:
        """Check the keys inside a map that is stored unchanged: each must be a known field."""
        for key, (_, value) in map.fields.items():
            field = outer.field(key)
            if is_directive(key) or field is None or id(value) in self.seen:
                continue
            self.seen.add(id(value))
            path = (*outer.path, key)
            elements = [((*path, n), item, field.of) for n, item in enumerate(value.values)]
            for where, element, type in elements or [(path, value, field)]:
                if isinstance(element, Map) and type is not None and type.struct is not None:
                    inner = Spot(outer.verdict, element, where, outer.kind, type, None)
                    self.keys(inner, stored=True)
                    self.stored(element, inner)

    def keys(self, spot: Spot, *, stored: bool = False) -> tuple[set[str], frozenset[str]]:
        """Check the keys of a mapping.

        Return the keys whose values the walk must skip, and the ids of the checks to hide because
        of these keys.
        """
        ended: set[str] = set()
        hides: frozenset[str] = frozenset()
        is_inside = stored or spot.directive in ("delete", "replace")
        for key, (at, value) in spot.map.fields.items():
            path = spot.path if is_directive(key) else (*spot.path, key)
            if not is_inside or not is_directive(key):  # `$patch` checks report these
                site: KeySpot | ListDirective = KeySpot(spot, key, at, value)
                scope = registry.DOLLAR if key[:1] == "$" else registry.KEY
                if key == RETAIN_KEYS:
                    scope = registry.RETAINED
                elif key.startswith((ORDER, DELETE)):
                    scope, site = registry.LIST_DIRECTIVE, ListDirective(spot, key, at, value)
                _, reporting = self.ask(scope, site, path)
                for check in reporting:
                    if check.ends_walk:
                        ended.add(key)
                        hides = hides.union(check.hides)
        return ended, hides

    def below(self, spot: Spot, key: str, value: Value) -> None:
        """Check the value of a key."""
        if not isinstance(value, Map | List):
            return
        field, target, path = spot.field(key), child(spot.target, key), (*spot.path, key)
        user = spot.struct is None and (spot.user or key in USER_MAPS)
        if field is not None:
            kinds = (field.kind, field.of.kind if field.of else "")
            user = "map" in kinds or "free" in kinds
        if isinstance(value, List):
            self.list(ListSpot(spot, key, value, path, field, target), user)
            return
        inner = Spot(spot.verdict, value, path, spot.kind, field, target, user=user)
        if field is not None and field.kind == "map":
            self.map_of(inner, field)
        else:
            self.map(inner, frozenset())

    def map_of(self, spot: Spot, field: FieldType) -> None:
        """Check a map whose keys users choose and whose values have one type."""
        if field.of is None or field.of.struct is None:
            self.map(spot, frozenset())
            return
        self.ask(registry.MAP, spot, spot.path)
        for key, (_, value) in spot.map.fields.items():
            if isinstance(value, Map) and not is_directive(key):
                path, target = (*spot.path, key), child(spot.target, key)
                inner = Spot(spot.verdict, value, path, spot.kind, field.of, target)
                self.map(inner, frozenset())

    def list(self, spot: ListSpot, user: bool) -> None:
        """Check a list and its elements."""
        if id(spot.list) in self.seen:
            return
        self.seen.add(id(spot.list))
        hidden, _ = self.ask(registry.LIST, spot, spot.path)
        outer, is_replaced, of = spot.spot, spot.is_replaced, spot.field.of if spot.field else None
        for number, element in spot.maps():
            path = spot.path_of(number, element)
            inner = Spot(
                outer.verdict, element, path, outer.kind, of, spot.found(element),
                user=user, element_of=spot,
            )  # fmt: skip
            if is_replaced:  # the elements are stored unchanged, but need their keys
                self.ask(registry.ELEMENT, inner, path, hidden)
                self.ask(registry.MAP, inner, path, hidden)
                self.keys(inner, stored=True)
                if PATCH not in element.fields:
                    self.stored(element, inner)
            else:
                self.map(inner, hidden)


def child(target: Value | None, key: str) -> Value | None:
    """Return the target's value of a key, ABSENT if it is missing, None if no target is known."""
    if target is None:
        return None
    value = target.get(key)
    return ABSENT if value is None or value.null else value


ABSENT = Value()  # the value that a known target lacks
ABSENT.at = 0


class Spot:
    """A spot is a mapping of a patch; `target` is what the mapping changes, or None if unknown."""

    __slots__ = (
        "element_of", "kind", "map", "merge_key", "path", "server_keys", "strategies", "struct",
        "target", "tools", "user", "verdict",
    )  # fmt: skip

    def __init__(
        self,
        verdict: Verdict,
        map: Map,
        path: Path,
        kind: str,
        type: FieldType | None,
        target: Value | None,
        *,
        user: bool = False,
        element_of: ListSpot | None = None,
    ) -> None:
        self.verdict = verdict
        self.tools = verdict.tools
        self.map = map
        self.path = path
        self.kind = kind
        self.struct = type.struct if type else None
        self.target = target
        self.user = user  # the user chooses the keys, which are no field names
        self.element_of = element_of
        holder = element_of.field if element_of else type
        self.strategies = holder.strategies if holder else ""  # those of the holding field
        # the key that pairs the mapping with an element of the target, and the keys on the server
        self.merge_key = element_of.merge_key if element_of else ""
        self.server_keys = holder.keys if element_of and holder else ()

    @property
    def directive(self) -> str | None:
        """Return the text of the mapping's `$patch`, or None if it has none."""
        value = self.map.get(PATCH)
        text = value.text if isinstance(value, Text) else "a collection"
        return None if value is None else text

    @property
    def name(self) -> str:
        """Return the text of the mapping's merge key."""
        return self.map.string(self.merge_key)

    @property
    def at(self) -> int:
        """Return the offset of the mapping's `$patch`, or of the mapping if it has none."""
        return self.map.at_key(PATCH)

    def field(self, key: str) -> FieldType | None:
        """Return the type of a field, or None if the type is not known."""
        return self.struct.field(key) if self.struct else None

    def leaves(self, key: str) -> bool:
        """Return whether a field has a value after the patch.

        For kubectl, a map with `$patch: delete` has a value, because an empty map is left.
        """
        return self.map.has(key) if "K" in self.tools else is_set(self.map, key)


class ListSpot:
    """A list spot is a list of a patch, with the mapping and the key that hold the list."""

    __slots__ = ("field", "key", "list", "merge_key", "path", "spot", "target", "tools")

    def __init__(
        self, spot: Spot, key: str, list: List, path: Path, field: FieldType | None,
        target: Value | None,
    ) -> None:  # fmt: skip
        self.spot = spot
        self.tools = spot.tools
        self.key = key
        self.list = list
        self.path = path
        self.field = field
        self.merge_key = field.merge_key if field else ""  # '' if the elements are not paired
        self.target = target

    @property
    def is_replaced(self) -> bool:
        """Return whether the list has `- $patch: replace`, which replaces the whole target list."""
        return any("K" in self.tools or len(m.fields) == 1 for m in self.marked("replace"))

    def marked(self, *words: str) -> list[Map]:
        """Return all elements with a `$patch`, or only those whose `$patch` is one of the words."""
        marked = (element for _, element in self.maps() if PATCH in element.fields)
        return [element for element in marked if not words or element.string(PATCH) in words]

    def maps(self) -> Iterable[tuple[int, Map]]:
        """Return the elements that are mappings, with their numbers."""
        return ((n, v) for n, v in enumerate(self.list.values) if isinstance(v, Map))

    @property
    def target_maps(self) -> list[Map]:
        """Return the mappings in the target's list."""
        values = self.target.values if self.target is not None else []
        return [value for value in values if isinstance(value, Map)]

    def found(self, element: Map) -> Value | None:
        """Return the target's element for a patch element: ABSENT if missing, None if unknown."""
        key = self.merge_key
        if self.target is None or not key or key not in element.fields:
            return None
        name = element.string(key)
        return next((v for v in self.target_maps if v.string(key) == name), ABSENT)

    def path_of(self, number: int, element: Map) -> Path:
        """Return the path of an element; the last step is its merge key or else its number."""
        key = self.merge_key or "name"
        name = element.string(key)
        return (*self.path, ((key, name),) if name else number)


class KeySpot(NamedTuple):
    """A key spot is a key of a mapping of a patch."""

    spot: Spot
    key: str
    at: int
    value: Value


class PatchOperation(NamedTuple):
    """Hold one operation of a JSON 6902 patch; `target` is None for an unknown object."""

    value: Value
    tools: str
    type: FieldType | None  # of the patched object
    target: Value | None
    is_as_written: bool = False  # no field of a kustomization has changed the target so far


class ListDirective:
    """A list directive is `$setElementOrder/f` or `$deleteFromPrimitiveList/f` for a list f."""

    __slots__ = (
        "at", "deletions", "key", "list", "merge_key", "order", "spot", "type", "value", "word",
    )  # fmt: skip

    def __init__(self, spot: Spot, key: str, at: int, value: Value) -> None:
        self.spot = spot
        self.key = key
        self.at = at
        self.value = value
        self.word = ORDER if key.startswith(ORDER) else DELETE
        self.list = key.removeprefix(f"{self.word}/") if key.startswith(f"{self.word}/") else ""
        field = spot.field(self.list)
        self.type = field if field is not None and field.kind == "list" else None
        self.merge_key = self.type.merge_key if self.type else ""
        self.order = value.values if self.word == ORDER else []
        self.deletions = value.values if self.word == DELETE else []
