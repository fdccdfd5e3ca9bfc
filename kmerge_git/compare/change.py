"""Describe changes as values: for people a field and two texts, for programs everything.

The changes of a file are complete: from one version's values and the changes follow the values of
the other version, in both directions (see `FieldChange.as_json`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kmerge_git.kube import fieldpath
from kmerge_git.tree.nodes import Node

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Element


How = Literal[
    "added",
    "deleted",
    "changed",
    "renamed",  # a resource has another name; the fields that say so are changes of their own
    "reordered",  # elements of a list, or the documents of a file
    "layout",  # comments, spelling, indentation: no value is another one
    "lines",  # of a file that has no fields
    "binary",
]


@dataclass(frozen=True, slots=True)
class At:
    """An element of a list, or a document of a file: its places in both versions, from 0.

    `key` names the element where its list has keys; a place is None where it is not.
    """

    old: int | None
    new: int | None
    key: Element = ()

    @classmethod
    def of(cls, old: int, new: int, key: Element = ()) -> At:
        """Return the place of an element; -1 means that a version does not have it."""
        return cls(old if old >= 0 else None, new if new >= 0 else None, key)

    @property
    def shown(self) -> Element | int:
        """Return the step as it is written in a field's path."""
        if self.key:
            return self.key
        return (self.new if self.new is not None else self.old) or 0

    def as_json(self) -> dict[str, Any]:
        """Return the places that are known, and the key in its parts."""
        key = [part if isinstance(part, str) else list(part) for part in self.key]
        known = {"old": self.old, "new": self.new, "key": key or None}
        return {name: value for name, value in known.items() if value is not None}


Steps = tuple[str | At, ...]


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A plain value, with the node that it came from where that is known."""

    plain: object
    node: Node | None = None


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One change: of a field, without steps of a whole resource, without a document of the file."""

    how: How
    resource: str = ""  # Deployment/web
    steps: Steps = ()
    before: FieldValue | None = None
    after: FieldValue | None = None
    document: At | None = None  # of lines: where they begin
    order: tuple[int, ...] = ()  # reordered: where those that both have were, in their new order
    names: tuple[str, ...] = ()  # reordered: the elements in their new order
    what: tuple[str, ...] = ()  # layout: in words
    comments: tuple[tuple[str, str], ...] = ()  # of layout, of a resource: `+` or `-`, and it
    source: str = ""  # renamed: the old name; added: where it was: another file, another key
    target: str = ""  # deleted: where it is by now
    inside: tuple[FieldChange, ...] = ()  # added, with a source: what changed in it

    @property
    def path(self) -> fieldpath.Path:
        """Return the steps as a path of the whole package."""
        return tuple(step if isinstance(step, str) else step.shown for step in self.steps)

    @property
    def field(self) -> str:
        """Return the path as text, empty for a whole resource."""
        return fieldpath.show(self.path)

    def as_json(self) -> dict[str, Any]:
        """Return everything about the change, by which one version's values become the other's.

        `before` and `after` are there where the field is. The elements of a list are known by
        their places in both versions; those that both have keep their order but for `order`.
        """
        known: dict[str, Any] = {
            "resource": self.resource,
            "how": self.how,
            "field": self.field,
            "steps": [s if isinstance(s, str) else s.as_json() for s in self.steps],
        }
        if self.document:
            known["line" if self.how == "lines" else "document"] = self.document.as_json()
        if self.before:
            known["before"] = self.before.plain
        if self.after:
            known["after"] = self.after.plain
        if self.how == "reordered":
            known |= {"order": list(self.order), "names": list(self.names)}
        if self.how == "layout":
            known |= {"what": list(self.what), "comments": [list(c) for c in self.comments]}
        if self.source:
            known["from"] = self.source
        if self.target:
            known["to"] = self.target
        if self.inside:
            known["inside"] = [change.as_json() for change in self.inside]
        return known
