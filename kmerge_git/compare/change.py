"""Describe the changes between two versions of a file, for people and for programs.

The changes are complete: a program can compute the values of either version from the values of the
other version and the changes (see `FieldChange.as_json`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kmerge_git.kube import fieldpath
from kmerge_git.tree.nodes import Mapping, Node, Sequence
from kmerge_git.tree.plain_values import to_value

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Element


How = Literal[
    "added",
    "deleted",
    "changed",
    "renamed",  # a resource has another name; its changed fields are separate changes
    "reordered",  # the elements of a list, or the documents of a file
    "layout",  # comments, spelling or indentation differ, but no value
    "lines",  # lines of a file that has no fields
    "binary",
]


@dataclass(frozen=True, slots=True)
class At:
    """Hold the index of a list element or document in each of the two versions, counted from 0.

    An index is None if that version lacks the element. `key` names an element of a keyed list.
    """

    old: int | None
    new: int | None
    key: Element = ()

    @classmethod
    def of(cls, old: int, new: int, key: Element = ()) -> At:
        """Return the places of an element; -1 means that this version lacks the element."""
        return cls(old if old >= 0 else None, new if new >= 0 else None, key)

    @property
    def shown(self) -> Element | int:
        """Return the key or index of the element as shown in a field path."""
        if self.key:
            return self.key
        return (self.new if self.new is not None else self.old) or 0

    def as_json(self) -> dict[str, Any]:
        """Return the known indexes, and the parts of the key as a list."""
        key = [part if isinstance(part, str) else list(part) for part in self.key]
        known = {"old": self.old, "new": self.new, "key": key or None}
        return {name: value for name, value in known.items() if value is not None}


Steps = tuple[str | At, ...]


_UNREAD = object()


class FieldValue:
    """Hold a plain value and, if known, the YAML node from which the value came.

    Of an `unread` value only the node is known, until somebody asks for the value.
    """

    __slots__ = ("_plain", "node")

    def __init__(self, plain: object, node: Node | None = None) -> None:
        self._plain = plain
        self.node = node

    @classmethod
    def unread(cls, node: Node | None) -> FieldValue:
        """Return the value of a node without any alias, which needs no other node to be read."""
        return cls(_UNREAD, node)

    @property
    def is_unread(self) -> bool:
        """Return whether the value was not read from the node yet."""
        return self._plain is _UNREAD

    @property
    def plain(self) -> object:
        """Return the plain value."""
        if self._plain is _UNREAD:
            self._plain = to_value(self.node)
        return self._plain

    @property
    def kind(self) -> type[object]:
        """Return dict or list for a collection, and object for any other value."""
        node = self.node
        if self._plain is not _UNREAD:
            return next((kind for kind in (dict, list) if isinstance(self._plain, kind)), object)
        if isinstance(node, Mapping):
            return dict
        return list if isinstance(node, Sequence) else object


@dataclass(frozen=True, slots=True)
class FieldChange:
    """Hold a change of a field, of a whole resource (no `steps`) or of the file (no `document`)."""

    how: How
    resource: str = ""  # Deployment/web
    steps: Steps = ()
    before: FieldValue | None = None
    after: FieldValue | None = None
    document: At | None = None  # for lines, the places where they begin
    order: tuple[int, ...] = ()  # reordered: the old ranks, in the new order
    names: tuple[str, ...] = ()  # reordered: the elements in their new order
    what: tuple[str, ...] = ()  # layout: the differences in words
    comments: tuple[tuple[str, str], ...] = ()  # `+` or `-`, and a comment
    source: str = ""  # renamed: the old name; added: the old file or key
    target: str = ""  # deleted: the new file or key
    inside: tuple[FieldChange, ...] = ()  # added from a source: the inner changes

    @property
    def path(self) -> fieldpath.Path:
        """Return the steps as a field path, with keys or indexes for list elements."""
        return tuple(step if isinstance(step, str) else step.shown for step in self.steps)

    @property
    def field(self) -> str:
        """Return the path as text, or '' for a whole resource."""
        return fieldpath.show(self.path)

    def as_json(self) -> dict[str, Any]:
        """Return the whole change, so that a program can turn either version into the other.

        `before` and `after` are left out if the version lacks the field. List elements are
        identified by their places in both versions. Elements of both versions keep their order,
        except for the change `order`.
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
