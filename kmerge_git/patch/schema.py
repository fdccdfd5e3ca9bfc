"""What a field of a kind is to a strategic merge patch: strategy, merge key, what is below.

One `Schema` is one place in a kind. A lookup is made only where both sides hold a map, or both a
list, exactly where upstream makes it: there lies every schema error of kubectl.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from kmerge_git.errors import PatchError
from kmerge_git.kube import keytable
from kmerge_git.patch.values import failure

_STRATEGIES = {"m": "merge", "r": "replace", "k": "retainKeys"}

Place = Any  # where a source stands in itself; None: below here everything is allowed


@dataclass(frozen=True, slots=True)
class Field:
    """A field: the place below it, its merge strategy, its merge key."""

    below: Schema
    strategy: str = ""  # "", "merge" or "replace"
    retain_keys: bool = False
    merge_key: str = ""
    list_keys: tuple[str, ...] = ()  # the keys of server-side apply: kustomize's


class Facts(NamedTuple):
    """What a source says about a field."""

    below: Place = None
    strategies: tuple[str, ...] = ()
    merge_key: str = ""
    list_keys: tuple[str, ...] = ()


class Source(Protocol):
    """Where a schema comes from: the built-in tables, or OpenAPI definitions."""

    def look_up(self, place: Place, name: str, *, in_list: bool) -> Facts:
        """The facts of a field; raises `UnknownField`."""
        ...

    def name(self, place: Place) -> str:
        """What upstream calls the place in messages."""
        ...


class UnknownField(Exception):
    """The schema has no such field; the text is upstream's."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of a kind, or of a place inside it."""

    source: Source
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
        schema = cls(_Builtin(), number)
        if complete:
            from kmerge_git.patch.field_shapes import complete_schema

            return complete_schema(api_version, kind, schema)
        return schema

    @classmethod
    def from_definitions(cls, definitions: Mapping[str, Any], root: str) -> Schema:
        """A complete schema from OpenAPI definitions (v2; v3 schemas work too).

        `definitions` is the document, or its `definitions` part; `root` names one of them.
        """
        from kmerge_git.patch.openapi import schema_of

        return schema_of(definitions, root)

    def field(self, name: str, *, in_list: bool, at: tuple[str | int, ...] = ()) -> Field:
        """What the field is; `in_list`: both sides hold a list there, else both hold a map."""
        try:
            facts = self.source.look_up(self.place, name, in_list=in_list)
        except UnknownField as unknown:
            raise failure(str(unknown), at) from None
        rest = [s for s in facts.strategies if s != "retainKeys"]
        if len(facts.strategies) > 2 or len(rest) > 1:
            raise failure(f"unexpected patch strategy: [{' '.join(facts.strategies)}]", at)
        return Field(
            Schema(self.source, facts.below),
            rest[0] if rest else "",
            "retainKeys" in facts.strategies,
            facts.merge_key,
            facts.list_keys or ((facts.merge_key,) if facts.merge_key else ()),
        )

    def name(self) -> str:
        """What upstream calls this place: the Go kind, or the OpenAPI name."""
        return self.source.name(self.place)


class _Builtin:
    """The strategic half of the key table; a place is the number of a definition."""

    def look_up(self, place: Place, name: str, *, in_list: bool) -> Facts:
        return Facts() if place is None else _facts(place, name)

    def name(self, place: Place) -> str:
        return "struct"


@lru_cache(maxsize=4096)  # the names come from files
def _facts(number: int, name: str) -> Facts:
    strategic, structural, below = keytable.fields(number).get(name, ("", "", ""))
    letters, _, key = strategic.partition(":")
    strategies = tuple(_STRATEGIES[letter] for letter in letters)
    keys = () if structural in {"", "*"} else structural.split(",")
    return Facts(
        int(below.lstrip("[{")) if below else None,
        strategies,
        key,
        tuple(one.partition("=")[0] for one in keys),
    )
