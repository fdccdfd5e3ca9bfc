"""The resources a kustomization has, so that a patch can be compared with what it changes."""

from __future__ import annotations

from kmerge_git.bounds import SEARCHED_BASES
from kmerge_git.check.checked_texts import Page, World
from kmerge_git.check.kustomize.gathered_resources import YES, matches
from kmerge_git.check.kustomize.kustomization import (
    Kustomization,
    PatchEntry,
    book_of,
    in_folder,
    is_remote,
)
from kmerge_git.check.page_values import Map, Text, Value
from kmerge_git.check.patches.patch_verdict import Verdict
from kmerge_git.check.plain_objects import identity, words_of
from kmerge_git.errors import UsageError
from kmerge_git.kube.identity import Identity

MAKERS = ("helmCharts", "helmChartInflationGenerator", "generators", "transformers", "replacements")


class Target:
    """A resource: object `number` of the file at `path`; without a path it is generated."""

    __slots__ = ("_world", "identity", "names", "number", "path")

    def __init__(self, identity: Identity, world: World, path: str = "", number: int = 0) -> None:
        self.identity = identity
        # as written, and with the prefix and suffix of each kustomization
        self.names = [identity.name]
        self.path = path
        self.number = number
        self._world = world

    @property
    def root(self) -> Map | None:
        """Return its content, read when it is asked for; None where it is not known."""
        book = self._world.book(self.path) if self.path else None
        if book is None:
            return None
        return next((o for n, o in enumerate(book.objects()) if n == self.number), None)


class Targets:
    """All resources of a kustomization; not `complete` where some cannot be seen."""

    __slots__ = ("_by_name", "all", "complete")

    def __init__(self) -> None:
        self.complete = True
        self.all: list[Target] = []
        self._by_name: dict[str, list[Target]] = {}

    def add(self, target: Target) -> None:
        """Add a resource with all its names."""
        self.all.append(target)
        for name in dict.fromkeys(target.names):
            self._by_name.setdefault(name, []).append(target)

    def named(self, wanted: Identity) -> list[Target]:
        """Return the resources with an identity, or with its name alone where it has no kind.

        The namespace does not count: it may come from the kustomization.
        """
        same = (wanted.group, wanted.kind)
        found = self._by_name.get(wanted.name, [])
        return [t for t in found if not same[1] or (t.identity.group, t.identity.kind) == same]

    def selected(self, target: Map) -> list[Target]:
        """Return the resources that a `target:` selects; labels and annotations do not count."""
        return [t for t in self.all if _selects(target, t)]


def targets_of(world: World, kustomization: Kustomization, depth: int = 0) -> Targets:
    """Return the resources of a kustomization and of its bases."""
    made: list[Target] = []
    root = kustomization.root
    found = Targets()
    is_component = root.text("kind") == "Component"  # it patches what those have that include it
    if is_component or depth > SEARCHED_BASES or any(maker in root.fields for maker in MAKERS):
        found.complete = False
    for path, written, _, field in kustomization.resources:
        if field != "crds":
            found.complete = _collect(world, made, path, written, depth) and found.complete
    for field, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
        for _, item in root.maps(field):
            made.append(Target(Identity("", kind, "", item.text("name"), "v1", ""), world))
    prefix, suffix = root.text("namePrefix"), root.text("nameSuffix")
    for target in made:
        if depth and kustomization.patches:
            target.path = ""  # a base changes it on the way
        if prefix or suffix:
            target.names.append(prefix + target.names[-1] + suffix)
        found.add(target)
    return found


def _collect(world: World, made: list[Target], path: str, written: str, depth: int) -> bool:
    """Add what one entry of `resources` brings; False where it cannot be seen."""
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
    made += [Target(found.who, world, path, number) for number, found in enumerate(known or ())]
    return known is not None


class TargetFinder:
    """Finds the object that a patch changes; `told` is the file of `--target`."""

    __slots__ = ("_of", "told", "world")

    def __init__(self, world: World, told: str = "") -> None:
        self.world = world
        self.told = told
        self._of: dict[Kustomization, Targets] = {}

    def of(self, one: Kustomization | None) -> Targets | None:
        """Return the resources of a kustomization; None without a kustomization."""
        if one is not None and one not in self._of:
            self._of[one] = targets_of(self.world, one)
        return self._of[one] if one is not None else None

    def find(self, page: Page, root: Map, verdict: Verdict) -> Target | None:
        """Return the one object that a patch changes, if it can be known."""
        if self.told and ("K" in verdict.tools or verdict.entry is None):
            return self._told_target(page, root)
        targets = self.of(verdict.kustomization)
        if targets is None:
            return None
        if verdict.entry is not None and verdict.entry.target is not None:
            found = targets.selected(verdict.entry.target)
        else:
            found = targets.named(identity(root))
        return found[0] if len(found) == 1 else None

    def changed(self, verdict: Verdict) -> list[Target]:
        """Return the objects that the `target:` of an entry selects, or the one of `--target`."""
        if "K" in verdict.tools and self.told:
            book = self.world.book(self.told)
            found = list(book.objects()) if book else []
            return [Target(identity(found[0]), self.world, self.told)] if len(found) == 1 else []
        targets, entry = self.of(verdict.kustomization), verdict.entry
        if targets is None or entry is None or entry.target is None:
            return []
        return targets.selected(entry.target)

    def is_settled(self, verdict: Verdict, target: Target) -> bool:
        """Return whether a patch finds an object as it is written: nothing changes it before."""
        return self.words_of_others(verdict, target) == frozenset()

    def words_of_others(self, verdict: Verdict, target: Target) -> frozenset[str] | None:
        """Return the words of an object's other patches; None where something unseen changes it."""
        one = verdict.kustomization
        if "K" in verdict.tools and self.told:
            return frozenset()
        targets = self.of(one)
        if one is None or targets is None or not targets.complete:
            return None
        words: set[str] = set()
        for entry in _others(one, verdict.entry):
            found = self._words(entry, target)
            if found is None:
                return None
            words |= found
        return frozenset(words)

    def _words(self, entry: PatchEntry, target: Target) -> set[str] | None:
        """Return the words of a patch that may change an object; None if it is not seen."""
        if entry.target is not None and not _selects(entry.target, target):
            return set()
        roots: list[Value | None] = [entry.value]
        if entry.value is None:
            book = book_of(entry, self.world)
            if book is None:
                return None
            roots = [plain.root for plain in book.plains]
        if entry.target is None:
            maps = [root for root in roots if isinstance(root, Map)]
            names = [(identity(root), root) for root in maps]
            kind = target.identity.kind
            roots = [r for n, r in names if n.kind == kind and n.name in target.names]
        return {word for root in roots for word in words_of(root)}

    def _told_target(self, page: Page, root: Map) -> Target | None:
        """Return the object of `--target`; refuse one of another kind than the patch's."""
        book = self.world.book(self.told)
        objects = list(book.objects()) if book else []
        if len(objects) != 1:
            return None
        target = Target(identity(objects[0]), self.world, self.told)
        kind, known = root.text("kind"), target.identity.kind
        if kind and kind != known:
            raise UsageError(
                f"it is a {known}, but {page.path} changes a {kind}",
                path=self.told,
                hint="--target is the object that the patches change",
            )
        return target


def _others(one: Kustomization, entry: PatchEntry | None) -> list[PatchEntry]:
    """Return the patches of a kustomization except for one, known by its place."""
    return [x for x in one.patches if entry is None or (x.field, x.at) != (entry.field, entry.at)]


def _selects(target: Map, one: Target) -> bool:
    """Return whether every given field matches; the fields are patterns for the whole value."""
    wanted = {
        "group": [one.identity.group], "kind": [one.identity.kind], "name": one.names,
        "namespace": [one.identity.namespace] if one.identity.namespace else [],
    }  # fmt: skip
    for field, values in wanted.items():
        value = target.get(field)
        is_said = isinstance(value, Text) and value.text and values
        if is_said and matches(target.text(field), values) != YES:
            return False
    return True
