"""What a field of a kind is to a strategic merge patch: strategy, merge key, what is below.

One `Schema` is one place in a kind. A lookup is made only where both sides hold a map, or both a
list, exactly where upstream makes it: there lies every schema error of kubectl.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kmerge_git.errors import PatchError
from kmerge_git.kube import keytable
from kmerge_git.patch.definitions import Definitions, definitions_of
from kmerge_git.patch.field_shapes import root_shape
from kmerge_git.patch.sources import Builtin, Place, UnknownField
from kmerge_git.patch.values import failure


@dataclass(frozen=True, slots=True)
class FieldRule:
    """How a patch merges a field: by what strategy and key, and the schema below it."""

    below: Schema
    strategy: str = ""  # "", "merge" or "replace"
    retain_keys: bool = False
    merge_key: str = ""
    list_keys: tuple[str, ...] = ()  # the keys of server-side apply: kustomize's


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of a kind, or of a place inside it."""

    source: Builtin | Definitions
    place: Place = None

    @classmethod
    def builtin(cls, api_version: str, kind: str, *, complete: bool = False) -> Schema:
        """The schema of a built-in kind (Kubernetes 1.21 to 1.36).

        It knows the strategic fields and takes all others as plain (map merged, list replaced).
        With `complete` it knows every field, and an unknown one is the error that kubectl has.
        """
        found = cls.find(api_version, kind, complete=complete)
        if found is None:
            group, _, version = api_version.rpartition("/")
            raise PatchError(
                f"strategic merge patch is not supported for {group}/{version}, Kind={kind} "
                "locally, try --type merge"
            )
        return found

    @classmethod
    def find(cls, api_version: str, kind: str, *, complete: bool = False) -> Schema | None:
        """The built-in schema, or None for a custom resource."""
        number = keytable.root(api_version, kind)
        if not 0 <= number < keytable.LEARNED:  # a CRD tells list keys, and no strategies
            return None
        shape = root_shape(api_version, kind) if complete else ""
        return cls(Builtin(), (number, shape))

    @classmethod
    def from_definitions(cls, definitions: Mapping[str, Any], root: str) -> Schema:
        """A complete schema from OpenAPI definitions (v2; v3 schemas work too).

        `definitions` is the document, or its `definitions` part; `root` names one of them.
        """
        known = definitions_of(definitions)
        if root not in known:
            raise PatchError(f"the schema has no definition {root}")
        return cls(Definitions(known), (root, known[root]))

    def field(self, name: str, *, in_list: bool, at: tuple[str | int, ...] = ()) -> FieldRule:
        """What the field is; `in_list`: both sides hold a list there, else both hold a map."""
        try:
            facts = self.source.look_up(self.place, name, in_list=in_list)
        except UnknownField as unknown:
            raise failure(str(unknown), at) from None
        rest = [s for s in facts.strategies if s != "retainKeys"]
        if len(facts.strategies) > 2 or len(rest) > 1:
            raise failure(f"unexpected patch strategy: [{' '.join(facts.strategies)}]", at)
        return FieldRule(
            Schema(self.source, facts.below),
            rest[0] if rest else "",
            "retainKeys" in facts.strategies,
            facts.merge_key,
            facts.list_keys or ((facts.merge_key,) if facts.merge_key else ()),
        )

    def name(self) -> str:
        """What upstream calls this place: the Go kind, or the OpenAPI name."""
        return self.source.name(self.place)
