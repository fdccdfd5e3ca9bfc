"""The places of a patch that its checks look at."""

from __future__ import annotations

from kmerge_git.check.objects import is_set
from kmerge_git.check.plain import List, Map, Text, Value
from kmerge_git.patch.directives import DELETE, ORDER, PATCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kmerge_git.check.patches.shapes import FieldType
    from kmerge_git.check.patches.verdict import Verdict
    from kmerge_git.kube.fieldpath import Path

ABSENT = Value()  # what a target that is known does not have
ABSENT.at = 0


class Spot:
    """A mapping of a patch. `target`: what it changes; None: not known, ABSENT: nothing."""

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
        self.user = user  # its keys are the user's own, no field names
        self.element_of = element_of
        holder = element_of.field if element_of else type
        self.strategies = holder.strategies if holder else ""  # of the field that holds it
        # what pairs it with an element of the target, and what tells elements apart on the server
        self.merge_key = element_of.merge_key if element_of else ""
        self.server_keys = holder.keys if element_of and holder else ()

    @property
    def directive(self) -> str | None:
        """The text of its `$patch`, or None."""
        value = self.map.get(PATCH)
        if value is None:
            return None
        return value.text if isinstance(value, Text) else "a collection"

    @property
    def at(self) -> int:
        """Where its `$patch` stands, or the mapping itself."""
        return self.map.at_key(PATCH)

    def field(self, key: str) -> FieldType | None:
        """The type of a field, where it is known."""
        return self.struct.field(key) if self.struct else None

    def leaves(self, key: str) -> bool:
        """Whether a field of the patch is there afterwards: kubectl deletes no key of a map."""
        return self.map.has(key) if "K" in self.tools else is_set(self.map, key)


class ListSpot:
    """A list of a patch, with the mapping and the key it stands under."""

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
        self.merge_key = field.merge_key if field else ""  # nothing: its elements are not paired
        self.target = target

    @property
    def is_replaced(self) -> bool:
        """Whether an element `- $patch: replace` makes the list replace the whole other one."""
        return any(
            element.text(PATCH) == "replace" and ("K" in self.tools or len(element.fields) == 1)
            for _, element in self.maps()
        )

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

    def path_of(self, number: int, element: Map) -> Path:
        """The path of an element: by its merge key, else by its number."""
        key = self.merge_key or "name"
        name = element.text(key)
        return (*self.path, ((key, name),) if name else number)


class KeySpot:
    """A key of a mapping of a patch."""

    __slots__ = ("at", "key", "spot", "value")

    def __init__(self, spot: Spot, key: str, at: int, value: Value) -> None:
        self.spot = spot
        self.key = key
        self.at = at
        self.value = value


class PatchOperation:
    """An operation of a JSON 6902 patch; `target` is None where it is not known at that point."""

    __slots__ = ("is_as_written", "target", "tools", "type", "value")

    def __init__(
        self,
        value: Value,
        tools: str,
        type: FieldType | None,
        target: Value | None,
        *,
        is_as_written: bool = False,
    ) -> None:
        self.value = value
        self.tools = tools
        self.type = type  # of the patched object
        self.target = target
        self.is_as_written = is_as_written  # no field of a kustomization has added to it so far


class ListDirective:
    """`$setElementOrder/f` or `$deleteFromPrimitiveList/f`, and the list f beside it."""

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
        listed = value.values if isinstance(value, List) else []
        self.order = listed if self.word == ORDER else []
        self.deletions = listed if self.word == DELETE else []
