"""A build: the resources that a kustomization gathers, and what went wrong in gathering them."""

from __future__ import annotations

from kmerge_git.check.kustomize.gathered import Gathered
from kmerge_git.check.kustomize.kustomization import Kustomization

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.kustomize.gathered import Key
    from kmerge_git.check.page import Page
    from kmerge_git.kube.fieldpath import Path

# What is wrong with a build, and which check tells it.
TWICE = "twice"  # one identity for two resources
NOT_THERE = "not there"  # a patch whose target no resource is
NO_MERGE = "no merge"  # a generator for something that is not there


class EntryPlace:
    """An entry of the kustomization that is looked at; `inside` is a component that it names."""

    __slots__ = ("at", "field", "inside", "text")

    def __init__(self, at: int, field: Path, text: str, inside: str = "") -> None:
        self.at = at
        self.field = field
        self.text = text
        self.inside = inside


class Trouble:
    """Something that is wrong with a build, at an entry of its kustomization or on a `page`."""

    __slots__ = ("message", "page", "place", "severity", "what")

    def __init__(
        self,
        what: str,
        place: EntryPlace,
        message: str,
        severity: str = "",
        page: Page | None = None,
    ) -> None:
        self.what = what
        self.place = place
        self.page = page  # of the patch that the entry names
        inside = place.inside
        self.message = f"{message}, says {inside}" if inside else message
        self.severity = severity


class Gathering:
    """The resources of a kustomization, with what went wrong in gathering them."""

    __slots__ = ("_index", "_keys", "is_open", "one", "paths", "resources", "troubles")

    def __init__(self, one: Kustomization) -> None:
        self.one = one
        self.resources: list[Gathered] = []
        self.is_open = False
        self.troubles: list[Trouble] = []
        self.paths = {one.path}  # the files that were read for it
        self._keys: dict[Key, Gathered] = {}
        self._index: dict[Key, list[Gathered]] | None = None

    @property
    def is_sure(self) -> bool:
        """Whether all resources are known by all their names."""
        return not self.is_open and not any(one.vague for one in self.resources)

    def add(self, one: Gathered, by: EntryPlace) -> Gathered | None:
        """Add a resource; returns the one that is in its place."""
        first = None if one.vague else self._keys.get(one.key)
        if first is None:
            one.by = by.text
            self.resources.append(one)
            self._keys[one.key] = one
            if self._index is not None:
                self._enter(self._index, one)
        return first

    def remove(self, one: Gathered) -> None:
        """Take a resource out, as `$patch: delete` does."""
        self.resources.remove(one)
        self._keys.pop(one.key, None)
        self._index = None

    def blur(self) -> None:
        """From here on nobody knows what the resources are called."""
        for one in self.resources:
            one.vague = True
        self.renamed()

    def renamed(self) -> list[tuple[Gathered, Gathered]]:
        """Take notice of new names; returns pairs of resources that have the same one now."""
        same = []
        self._index = None
        self._keys = {}
        for one in self.resources:
            if not one.vague:
                first = self._keys.setdefault(one.key, one)
                if first is not one:
                    same.append((first, one))
        return same

    def called(self, key: Key) -> list[Gathered]:
        """The resources that have or had an identity."""
        if self._index is None:
            self._index = {}
            for one in self.resources:
                self._enter(self._index, one)
        return [one for one in self._index.get(key, ()) if not one.vague]

    @staticmethod
    def _enter(index: dict[Key, list[Gathered]], one: Gathered) -> None:
        for each in dict.fromkeys((*one.past, one.key)):
            index.setdefault(each, []).append(one)
