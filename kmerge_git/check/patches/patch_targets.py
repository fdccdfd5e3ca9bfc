"""Find the resources of a kustomization, to compare a patch with the objects that it changes."""

from __future__ import annotations

from typing import NamedTuple

from kmerge_git.bounds import SEARCHED_BASES
from kmerge_git.check.checked_texts import Page, World
from kmerge_git.check.kustomize.gathered_resources import YES, matches
from kmerge_git.check.kustomize.kustomization import (
    GENERATED,
    Kustomization,
    PatchEntry,
    book_of,
    in_folder,
    is_remote,
)
from kmerge_git.check.page_values import Map, Value, identity, words_of
from kmerge_git.check.patches.patch_verdict import Verdict
from kmerge_git.errors import UsageError
from kmerge_git.kube.identity import Identity

MAKERS = ("helmCharts", "helmChartInflationGenerator", "generators", "transformers", "replacements")


class Target(NamedTuple):
    """A target is an object that a patch changes: object `number` of the file at `path`.

    A generated object has no path.
    """

    identity: Identity
    # the name as it is written, and with the prefix and suffix of each kustomization
    names: tuple[str, ...]
    world: World
    path: str = ""
    number: int = 0

    @property
    def root(self) -> Map | None:
        """Read the content of the target; return None if the content is not known."""
        book = self.world.book(self.path)
        objects = list(book.objects()) if book is not None else []
        return objects[self.number] if self.number < len(objects) else None


class Targets(NamedTuple):
    """Hold the resources of a kustomization; `complete` is false if some cannot be read."""

    all: list[Target]
    complete: bool

    def named(self, wanted: Identity) -> list[Target]:
        """Return the resources with the wanted name and kind; an empty kind matches every kind.

        The namespace is ignored, because the kustomization may set it.
        """
        same = (wanted.group, wanted.kind)
        found = (target for target in self.all if wanted.name in target.names)
        return [t for t in found if not same[1] or (t.identity.group, t.identity.kind) == same]

    def selected(self, target: Map) -> list[Target]:
        """Return the resources that a `target:` selects; labels and annotations are ignored."""
        return [t for t in self.all if _selects(target, t)]


def targets_of(world: World, kustomization: Kustomization, depth: int = 0) -> Targets:
    """Return the resources of a kustomization and of its bases."""
    made: list[Target] = []
    root = kustomization.root
    # a component patches resources of the kustomizations that include the component
    complete = not kustomization.is_component and depth <= SEARCHED_BASES
    complete = complete and not any(word in root.fields for word in MAKERS)
    for path, written, _, field in kustomization.resources:
        if field != "crds":
            complete = _collect(world, made, path, written, depth) and complete
    for field, kind in GENERATED.items():
        for _, item in root.maps(field):
            name = item.string("name")
            made.append(Target(Identity("", kind, "", name, "v1", ""), (name,), world))
    prefix, suffix = root.string("namePrefix"), root.string("nameSuffix")
    if depth and kustomization.patches:  # a base patches them before
        made = [target._replace(path="") for target in made]
    if prefix or suffix:
        made = [t._replace(names=(*t.names, prefix + t.names[-1] + suffix)) for t in made]
    return Targets(made, complete)


def _collect(world: World, made: list[Target], path: str, written: str, depth: int) -> bool:
    """Add the resources of one entry of `resources`; return False if some cannot be read."""
    if depth > SEARCHED_BASES or is_remote(written):
        return False
    if world.is_directory(path):
        inner = in_folder(world, path)
        if inner is None:
            return False
        below = targets_of(world, inner, depth + 1)
        made += below.all
        return below.complete
    known = world.resources(path)
    for number, one in enumerate(known or ()):
        made.append(Target(one.who, (one.who.name,), world, path, number))
    return known is not None


class TargetFinder:
    """Find the objects that patches change; `told` is the file of `--target`."""

    __slots__ = ("_of", "told", "world")

    def __init__(self, world: World, told: str = "") -> None:
        self.world = world
        self.told = told
        self._of: dict[Kustomization, Targets] = {}

    def of(self, one: Kustomization | None) -> Targets | None:
        """Return the resources of a kustomization, or None if no kustomization is given."""
        if one is not None and one not in self._of:
            self._of[one] = targets_of(self.world, one)
        return self._of[one] if one is not None else None

    def find(self, page: Page, root: Map, verdict: Verdict) -> Target | None:
        """Return the one object that a patch changes, or None if the object is not known.

        Raise UsageError if the object of `--target` is of another kind than the patch.
        """
        if self.told and ("K" in verdict.tools or verdict.entry is None):
            target, kind = self._only_object(), root.string("kind")
            if target is not None and kind and kind != target.identity.kind:
                raise UsageError(
                    f"the target is a {target.identity.kind}, but {page.path} changes a {kind}",
                    path=self.told,
                    hint="use --target with the object that the patches change",
                )
            return target
        targets, entry = self.of(verdict.kustomization), verdict.entry
        if targets is None:
            return None
        selector = entry.target if entry is not None else None
        found = targets.selected(selector) if selector else targets.named(identity(root))
        return found[0] if len(found) == 1 else None

    def changed(self, verdict: Verdict) -> list[Target]:
        """Return the objects that `target:` selects, or the object of `--target`."""
        if "K" in verdict.tools and self.told:
            target = self._only_object()
            return [] if target is None else [target]
        targets, entry = self.of(verdict.kustomization), verdict.entry
        if targets is None or entry is None or entry.target is None:
            return []
        return targets.selected(entry.target)

    def words_of_others(self, verdict: Verdict, target: Target | None) -> frozenset[str] | None:
        """Return all words in the other patches of an object, or None if some are unknown."""
        one, own = verdict.kustomization, verdict.entry
        if target is not None and "K" in verdict.tools and self.told:
            return frozenset()
        targets = self.of(one)
        if target is None or one is None or targets is None or not targets.complete:
            return None
        # if the file was read twice, equal places are the same patch
        others = (x for x in one.patches if own is None or (x.field, x.at) != (own.field, own.at))
        words: set[str] = set()
        for entry in others:
            found = self._words(entry, target)
            if found is None:
                return None
            words |= found
        return frozenset(words)

    def _words(self, entry: PatchEntry, target: Target) -> set[str] | None:
        """Return the words of a patch for an object, or None if the patch cannot be read.

        The result is empty if the patch is for other objects.
        """
        if entry.target is not None and not _selects(entry.target, target):
            return set()
        book = book_of(entry, self.world)
        if entry.value is None and book is None:
            return None
        roots: list[Value] = [entry.value] if entry.value else book.roots if book else []
        if entry.target is None:
            roots = [root for root in roots if root.string("kind") == target.identity.kind]
            roots = [root for root in roots if root.string("metadata", "name") in target.names]
        return {word for root in roots for word in words_of(root)}

    def _only_object(self) -> Target | None:
        """Return the object of `--target`, or None unless the file has exactly one object."""
        book = self.world.book(self.told)
        known = [identity(root) for root in book.objects()] if book is not None else []
        return (
            Target(known[0], (known[0].name,), self.world, self.told) if len(known) == 1 else None
        )


def _selects(target: Map, one: Target) -> bool:
    """Return whether a `target:` selects a resource; each field is a pattern for a whole value."""
    wanted = {
        "group": [one.identity.group], "kind": [one.identity.kind], "name": [*one.names],
        "namespace": [one.identity.namespace] if one.identity.namespace else [],
    }  # fmt: skip
    answers = (matches(target.string(field), values) for field, values in wanted.items() if values)
    return all(answer == YES for answer in answers)
