"""Walks over a patch and shows every place of it to the checks that look at such places.

What is not looked at: the inside of what `$patch: delete` removes and, but for directives and
nulls, of what `$patch: replace` stores; a misspelt directive; the lists of directives.
"""

from __future__ import annotations

from kmerge_git.check import registry
from kmerge_git.check.patches.spots import ABSENT, KeySpot, ListDirective, ListSpot, Spot
from kmerge_git.check.plain import List, Map, Value
from kmerge_git.patch.directives import DELETE, ORDER, PATCH, RETAIN_KEYS, is_directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.page import Page
    from kmerge_git.check.patches.shapes import FieldType
    from kmerge_git.check.patches.verdict import Verdict
    from kmerge_git.check.registry import Check, ChosenChecks, Found
    from kmerge_git.finding import Finding
    from kmerge_git.kube.fieldpath import Path

# Maps whose keys are the user's own, where the schema is not known.
USER_MAPS = frozenset(
    ("data", "stringData", "binaryData", "labels", "annotations", "matchLabels", "nodeSelector")
)


class PatchWalk:
    """One walk over one patch; what it finds piles up in `found`."""

    def __init__(self, checks: ChosenChecks, verdict: Verdict, page: Page) -> None:
        self.checks = checks
        self.verdict = verdict
        self.page = page
        self.found: list[tuple[Check, Found, Path]] = []  # the path of the field last
        self.hidden_at: dict[int, set[str]] = {}  # offset -> ids
        self.seen: set[int] = set()
        self.schema_matters = True

    def patch(
        self, root: Map, kind: str, type: FieldType | None, target: Value | None
    ) -> list[Finding]:
        """What is wrong with a whole patch document."""
        spot = Spot(self.verdict, root, (), kind, type, target)
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
        site: Spot | ListSpot | KeySpot | ListDirective,
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
            if spot.directive == "replace" and spot.element_of is None:
                self.stored(spot.map, spot)
            return
        for key, (_, value) in spot.map.fields.items():
            if not is_directive(key) and key not in skipped:
                self.below(spot, key, value)

    def stored(self, map: Map, outer: Spot) -> None:
        """Check the keys below a map that is stored as it is: its fields must be there."""
        for key, (_, value) in map.fields.items():
            field = outer.field(key)
            if is_directive(key) or field is None or id(value) in self.seen:
                continue
            self.seen.add(id(value))
            path = (*outer.path, key)
            elements = enumerate(value.values) if isinstance(value, List) else [("", value)]
            type = field.of if isinstance(value, List) else field
            for number, element in elements:
                if isinstance(element, Map) and type is not None and type.struct is not None:
                    where = path if number == "" else (*path, number)
                    inner = Spot(outer.verdict, element, where, outer.kind, type, None)
                    self.keys(inner, stored=True)
                    self.stored(element, inner)

    def keys(self, spot: Spot, *, stored: bool = False) -> set[str]:
        """Check the keys; returns those below which nothing is looked at."""
        ended = set()
        inside = stored or spot.directive in ("delete", "replace")
        for key, (at, value) in spot.map.fields.items():
            known = is_directive(key)
            if inside and known:
                continue  # the checks of `$patch` speak about them
            path = spot.path if known else (*spot.path, key)
            _, spoke = self.ask(*_site_of_key(spot, key, at, value), path)
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
            inner = Spot(spot.verdict, value, path, spot.kind, field, target, user=user)
            if field is not None and field.kind == "map":
                self.map_of(inner, field)
            else:
                self.map(inner, frozenset())
        else:
            self.list(ListSpot(spot, key, value, path, field, target), user)

    def map_of(self, spot: Spot, field: FieldType) -> None:
        """Check a map whose keys are the user's own and whose values have one type."""
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
        replaced = spot.is_replaced
        outer = spot.spot
        of = spot.field.of if spot.field else None
        for number, element in spot.maps():
            path = spot.path_of(number, element)
            target = spot.found(element)
            inner = Spot(
                outer.verdict, element, path, outer.kind, of, target, user=user, element_of=spot
            )
            if replaced:  # what is in it is stored as it is, but the element needs its key
                self.ask(registry.ELEMENT, inner, path, hidden)
                self.ask(registry.MAP, inner, path, hidden)
                self.keys(inner, stored=True)
                if PATCH not in element.fields:
                    self.stored(element, inner)
            else:
                self.map(inner, hidden)


def _site_of_key(
    spot: Spot, key: str, at: int, value: Value
) -> tuple[str, KeySpot | ListDirective]:
    """The scope of a key, and what its checks are shown."""
    if key.startswith((ORDER, DELETE)):
        return registry.LIST_DIRECTIVE, ListDirective(spot, key, at, value)
    scope = registry.DOLLAR if key[:1] == "$" else registry.KEY
    return registry.RETAINED if key == RETAIN_KEYS else scope, KeySpot(spot, key, at, value)


def child(target: Value | None, key: str) -> Value | None:
    """What a target has below a key."""
    if target is None:
        return None
    value = target.get(key) if isinstance(target, Map) else None
    if value is None or (value.null):
        return ABSENT
    return value


def _is_merged(spot: Spot) -> bool:
    """Whether an element has a `$patch: replace` that kustomize ignores: it is merged."""
    outer = spot.element_of
    return outer is not None and spot.directive == "replace" and not outer.is_replaced


def _user_keys(spot: Spot, key: str, field: FieldType | None) -> bool:
    if field is not None:
        return field.kind in ("map", "free") or (
            field.of is not None and field.of.kind in ("map", "free")
        )
    if spot.struct is not None:
        return False
    return spot.user or key in USER_MAPS
