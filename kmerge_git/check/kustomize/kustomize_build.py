"""Do what kustomize does with a kustomization, as far as identities go: which resources it gathers.

The order is that of kustomize: resources and bases, generators, components, then the patches,
the namespace, prefix and suffix, labels. What stands on other machines, comes from charts or
cannot be read leaves a build `open`: then nobody can say that a resource is not there.
"""

from __future__ import annotations

from kmerge_git.bounds import BUILT_BASES
from kmerge_git.check.kustomize.gathered_resources import (
    NO,
    NO_PREFIX,
    PERHAPS,
    YES,
    Gathered,
    is_of_cluster,
    key_of,
    selects,
    texts_of,
)
from kmerge_git.check.kustomize.kustomization import (
    Kustomization,
    PatchEntry,
    book_of,
    in_folder,
    inside_of,
    is_remote,
)
from kmerge_git.check.page_values import List, Map, Text, Value, scalars
from kmerge_git.check.plain_objects import identity
from kmerge_git.finding import WARNING
from kmerge_git.kube.identity import Identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.check.checked_texts import Book, Page, World
    from kmerge_git.check.kustomize.gathered_resources import Key
    from kmerge_git.kube.fieldpath import Path


MAKERS = ("helmCharts", "helmChartInflationGenerator", "generators")
GENERATORS = (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret"))


class Gatherer:
    """Builds kustomizations, each once."""

    __slots__ = ("_built", "skips", "world")

    def __init__(self, world: World, skips: Callable[[str], bool] = lambda path: False) -> None:
        self.world = world
        self.skips = skips  # files that have nothing to do with what was changed
        self._built: dict[str, Gathering] = {}

    def of(self, one: Kustomization, above: frozenset[str] = frozenset()) -> Gathering:
        """Return the build of a kustomization; `above` holds the paths of those that include it."""
        if one.path not in self._built:
            build = Gathering(one)
            # what a component patches is in the kustomizations that include it
            build.is_open = _is_component(one)
            self._run(build, one, above | {one.path}, None)
            self._built[one.path] = build
        return self._built[one.path]

    def _run(
        self, build: Gathering, one: Kustomization, above: frozenset[str], within: EntryPlace | None
    ) -> None:
        root = one.root
        fields = ("resources", "bases", "components")
        seen: set[str] = set()
        for field in fields:
            if field == "components":
                _generate(build, one, within)
            for number, (path, text, at) in enumerate(
                (path, text, at) for path, text, at, f in one.resources if f == field
            ):
                place = within or EntryPlace(at, (field, number), text)
                if field == "components":
                    self._component(build, path, above, place)
                elif path not in seen:
                    self._include(build, path, text, above, place)
                    seen.add(path)
        if any(maker in root.fields for maker in MAKERS):
            build.is_open = True
        transform(build, one, self.world, within)
        if "transformers" in root.fields:
            build.is_open = True
            build.blur()

    def _component(
        self, build: Gathering, path: str, above: frozenset[str], place: EntryPlace
    ) -> None:
        """Do what a component says, to all that is there."""
        inner = self._folder(build, path, above)
        if inner is None or not _is_component(inner):
            build.is_open = True
        else:
            held = EntryPlace(place.at, place.field, place.text, inner.path)
            self._run(build, inner, above | {inner.path}, held)

    def _include(
        self, build: Gathering, path: str, text: str, above: frozenset[str], place: EntryPlace
    ) -> None:
        """Add what an entry of `resources` or `bases` brings."""
        found: list[Gathered] | None = None
        if self.world.is_directory(path):
            inner = self._folder(build, path, above)
            if inner is not None and not _is_component(inner):  # kustomize refuses a component
                below = self.of(inner, above)
                build.paths |= below.paths
                build.is_open = build.is_open or below.is_open
                found = below.resources
        elif not is_remote(text) and not self.skips(path):
            build.paths.add(path)
            found = self.world.resources(path)
        if found is None:
            build.is_open = True
        else:
            _take(build, [one.copy() for one in found if one.name and one.kind], place)

    def _folder(self, build: Gathering, path: str, above: frozenset[str]) -> Kustomization | None:
        """Return the kustomization of a folder; None if it has none, or one that includes this."""
        inner = in_folder(self.world, path) if self.world.is_directory(path) else None
        if inner is None or inner.path in above or len(above) > BUILT_BASES:
            return None
        build.paths.add(inner.path)
        return inner


def _is_component(one: Kustomization) -> bool:
    return one.root.text("kind") == "Component"


def _take(build: Gathering, brought: list[Gathered], place: EntryPlace) -> None:
    """Add resources; those that are there already are one trouble together."""
    twice = []
    for one in brought:
        first = build.add(one, place)
        if first is not None:
            # two documents of a file: another check says that
            told = (first.path, first.by, first.who) == (one.path, place.text, one.who)
            if not told or first.line == one.line:
                twice.append((first, one))
    if not twice:
        return
    first, one = twice[0]
    if not one.path:
        message = f"{one}, which is generated there, is in {first.path or first.by} too"
    elif one.path == first.path:
        message = f"{one} of {one.path} comes in a second time, first by {first.by}"
    else:
        message = f"{one} in line {one.line} of {one.path} is in {first.path or first.by} too"
    more = f", and {len(twice) - 1} more" if len(twice) > 1 else ""
    build.troubles.append(Trouble(TWICE, place, message + more))


def _generate(build: Gathering, one: Kustomization, within: EntryPlace | None) -> None:
    """Add what the generators make; a generator may also change what is there."""
    made: list[Gathered] = []
    for field, kind in GENERATORS:
        for number, item in one.root.maps(field):
            name, behavior = item.text("name"), item.text("behavior")
            if not name:
                continue
            place = within or EntryPlace(item.at, (field, number), one.path)
            who = Identity("", kind, item.text("namespace"), name, "v1", "")
            new = Gathered(who, labels=_of_options(one, item, "labels"))
            new.annotations = _of_options(one, item, "annotations")
            found = build.called(new.key)
            changes = behavior in ("merge", "replace")
            if not found and changes:
                if build.is_sure:
                    what = f"{new} is not there, so that nothing can be {behavior}d with it"
                    build.troubles.append(Trouble(NO_MERGE, place, what))
            elif not found:
                build.add(new, place)
                made.append(new)
            elif len(found) > 1:
                named = " and ".join(str(each) for each in found[:2])
                what = f"{new} may be {named}: kustomize does not choose"
                build.troubles.append(Trouble(NO_MERGE, place, what))
            elif changes:
                for slot in ("labels", "annotations"):
                    old = getattr(found[0], slot)
                    setattr(found[0], slot, None if old is None else old | getattr(new, slot))
            elif found[0] not in made:
                where = found[0].path or found[0].by
                what = f"{new} is in {where} too; to change that one, write `behavior: merge`"
                build.troubles.append(Trouble(TWICE, place, what))


def _of_options(one: Kustomization, item: Map, field: str) -> dict[str, str]:
    """Return the labels or annotations of a generated resource."""
    holders = (one.root.map("generatorOptions"), item.map("options"))
    return {k: v for each in holders if each for k, v in texts_of(each.map(field)).items()}


ORDER = ("patchesStrategicMerge", "patches")
RENAMED_BY = ("metadata", "kind", "apiVersion")  # fields that replacements may write to
PATTERN = frozenset("*?+|()[]{}^$\\")  # in what is no name


def transform(
    build: Gathering, one: Kustomization, world: World, within: EntryPlace | None
) -> None:
    """Do what a kustomization does, in the order of kustomize."""
    for field in ORDER:
        _patches(build, one, world, within, field)
    _namespace(build, one, within)
    _names(build, one)
    _labels(build, one)
    _patches(build, one, world, within, "patchesJson6902")
    _replacements(build, one, world)


def _patches(
    build: Gathering, one: Kustomization, world: World, within: EntryPlace | None, field: str
) -> None:
    for entry in one.patches:
        if entry.field[0] == field:
            text = entry.path or "the patch"
            place = within or EntryPlace(entry.at, entry.field, text)
            book = book_of(entry, world)
            roots = _content(entry, book)
            if roots is None:
                build.blur()
            elif entry.target is not None:
                _selected(build, entry, entry.target, roots, place)
            else:
                page = book.page if book is not None and within is None else None
                for root in roots:
                    if isinstance(root, Map):
                        _named(build, root, entry, place, page)


def _content(entry: PatchEntry, book: Book | None) -> list[Value] | None:
    """Return the documents of a patch, of a `kind: List` its items; None if it cannot be read."""
    if entry.value is not None:
        return [entry.value]
    if book is None:
        return None
    roots: list[Value] = []
    for plain in book.plains:
        root = plain.root
        if isinstance(root, Map) and root.text("kind").endswith("List") and "items" in root.fields:
            roots += root.items("items")
        elif root is not None:
            roots.append(root)
    return roots


# -- patches that name their target themselves ---------------------------------------------------


def _named(
    build: Gathering, root: Map, entry: PatchEntry, place: EntryPlace, page: Page | None
) -> None:
    who = identity(root)
    if not who.kind or not who.name or not who.version:
        return  # kustomize refuses it for that
    found = build.called(key_of(who.group, who.version, who.kind, who.namespace, who.name))
    if len(found) == 1:
        _merge(build, found[0], root, entry, place)
    elif found:
        named = " and ".join(f"{each} of {each.path or each.by}" for each in found[:2])
        what = f"the patch for {who.kind}/{who.name} may be for {named}: kustomize does not choose"
        build.troubles.append(Trouble(NOT_THERE, place, what))
    elif build.is_sure:
        wanted = f"{who.namespace}/{who.name}" if who.namespace else who.name
        path, why = _nearly(build, root)
        here = "this kustomization"
        if page is not None:
            place, here = _place_in(root, path, place), build.one.path
        what = f"no resource {who.kind}/{wanted} in {here}{why}"
        build.troubles.append(Trouble(NOT_THERE, place, what, page=page))


def _place_in(root: Map, path: Path, place: EntryPlace) -> EntryPlace:
    """Return the place of the field of a patch that no resource matches."""
    *above, last = path
    holder = (root.map("metadata") or root) if above else root
    return EntryPlace(holder.at_key(str(last)), path, place.text)


def _nearly(build: Gathering, root: Map) -> tuple[Path, str]:
    """Return the field of a patch that keeps it from its resource, and the resource's own value."""
    who = identity(root)
    for one in build.resources:
        if (one.kind, one.name) == (who.kind, who.name):
            api = f"{one.group}/{one.version}" if one.group else one.version
            if api != root.text("apiVersion"):
                return ("apiVersion",), f"; it is {api} in {one.path or one.by}"
            why = f"; it has {one.namespace or 'no'} namespace in {one.path or one.by}"
            return ("metadata", "namespace"), why
    kinds = [one.kind for one in build.resources if one.name == who.name]
    if kinds and who.kind not in {one.kind for one in build.resources}:
        return ("kind",), f"; {who.name} is a {kinds[0]} there"
    return ("metadata", "name"), ""


def _merge(
    build: Gathering, one: Gathered, root: Map, entry: PatchEntry, place: EntryPlace
) -> None:
    """Apply a strategic merge patch to the identity and the labels of a resource."""
    if root.text("$patch") == "delete":
        build.remove(one)
        return
    metadata = root.map("metadata") or Map(root.at)
    for slot in ("labels", "annotations"):
        new, old = metadata.map(slot), getattr(one, slot)
        if new is None or old is None:
            continue
        known = not any(key.startswith("$") or value.null for key, (_, value) in new.fields.items())
        setattr(one, slot, old | texts_of(new) if known else None)
    options = entry.options
    if options is None:
        return
    if options.text("allowKindChange") == "true" and root.text("kind") not in ("", one.kind):
        one.past.append(one.key)
        one.kind = root.text("kind")
    if options.text("allowNameChange") == "true" and metadata.text("name") not in ("", one.name):
        one.rename(metadata.text("name"))
    _collide(build, place)


# -- patches with a `target:` --------------------------------------------------------------------


def _selected(
    build: Gathering, entry: PatchEntry, target: Map, roots: list[Value], place: EntryPlace
) -> None:
    answers = [(one, selects(target, one)) for one in build.resources]
    found = any(answer != NO for _, answer in answers)
    if build.is_sure and not place.inside and not found:
        severity = "" if _is_name(target.text("name")) else WARNING
        kind, name = target.text("kind") or "*", target.text("name") or "*"
        what = f"no resource {kind}/{name} in this kustomization"
        build.troubles.append(Trouble(NOT_THERE, place, what, severity))
    for one, answer in answers:
        if answer == YES:
            _change(build, one, roots, entry, place)
        elif answer == PERHAPS and _may_rename(entry, roots):
            one.vague = True
    if any(isinstance(root, List) for root in roots):
        _collide(build, place)


def _change(
    build: Gathering, one: Gathered, roots: list[Value], entry: PatchEntry, place: EntryPlace
) -> None:
    for root in roots:
        if one not in build.resources:
            return  # deleted
        if isinstance(root, List):
            _operations(one, root)
        elif isinstance(root, Map):
            _merge(build, one, root, entry, place)


def _is_name(text: str) -> bool:
    """Return whether a target names one resource; a pattern may be meant for other bases."""
    return bool(text) and PATTERN.isdisjoint(text) and ".*" not in text


def _may_rename(entry: PatchEntry, roots: list[Value]) -> bool:
    if entry.options is not None:
        return True
    return any(not isinstance(root, Map) or root.text("$patch") == "delete" for root in roots)


def _operations(one: Gathered, root: List) -> None:
    """Apply a JSON 6902 patch to the identity and the labels of a resource."""
    for step in root.values:
        if not isinstance(step, Map):
            continue
        path, value = step.text("path"), step.get("value")
        op = step.text("op")
        if op == "test":
            continue
        is_text = isinstance(value, Text) and op in ("add", "replace")
        if path == "/metadata/name" and is_text:
            one.rename(step.text("value"))
        elif path == "/metadata/namespace" and is_text:
            one.move(step.text("value"))
        elif path.startswith("/metadata/labels") or path == "/metadata":
            one.labels = None
        elif path.startswith("/metadata/annotations"):
            one.annotations = None
        if path in ("", "/", "/metadata", "/kind", "/apiVersion") or (
            path.startswith("/metadata/name") and not is_text
        ):
            one.vague = True


def _collide(build: Gathering, place: EntryPlace) -> None:
    for first, other in build.renamed()[:1]:
        what = f"the patch gives two resources the name {other}, that of {first.path or first.by}"
        build.troubles.append(Trouble(TWICE, place, what))
        other.vague = True


# -- what changes all resources ------------------------------------------------------------------


def _namespace(build: Gathering, one: Kustomization, within: EntryPlace | None) -> None:
    namespace = one.root.text("namespace")
    if not namespace:
        return
    for each in build.resources:
        if (each.group, each.kind) == ("", "Namespace"):
            each.rename(namespace)
        elif not is_of_cluster(each.group, each.kind):
            each.move(namespace)
    for first, other in build.renamed()[:1]:
        place = within or EntryPlace(one.root.at_key("namespace"), ("namespace",), namespace)
        what = (
            f"two resources become {other}: that of {first.path or first.by} and that of "
            f"{other.path or other.by}"
        )
        build.troubles.append(Trouble(TWICE, place, what))


def _names(build: Gathering, one: Kustomization) -> None:
    for field in ("namePrefix", "nameSuffix"):
        added = one.root.text(field)
        if not added:
            continue
        for each in build.resources:
            if each.who.kind not in NO_PREFIX:
                is_prefix = field == "namePrefix"
                each.rename(added + each.name if is_prefix else each.name + added)
        build.renamed()


def _labels(build: Gathering, one: Kustomization) -> None:
    labels = texts_of(one.root.map("commonLabels"))
    for _, item in one.root.maps("labels"):
        labels |= texts_of(item.map("pairs"))
    annotations = texts_of(one.root.map("commonAnnotations"))
    for each in build.resources:
        if each.labels is not None:
            each.labels = each.labels | labels
        if each.annotations is not None:
            each.annotations = each.annotations | annotations


def _replacements(build: Gathering, one: Kustomization, world: World) -> None:
    """Blur the names if `replacements` may write to them; their sources are not looked at."""
    for _, item in one.root.maps("replacements"):
        roots: list[Value | None] = [item]
        if item.text("path"):
            book = world.book(inside_of(one.directory, item.text("path")))
            if book is None:
                build.blur()
                return
            roots = [plain.root for plain in book.plains]
        told = [text.text for root in roots for text in scalars(root)]
        if any(text.startswith(RENAMED_BY) for text in told):
            build.blur()


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
        """Return whether all resources are known by all their names."""
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
        """Mark all resources as vague: from here on nobody knows their names."""
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
        """Return the resources that have or had an identity."""
        if self._index is None:
            self._index = {}
            for one in self.resources:
                self._enter(self._index, one)
        return [one for one in self._index.get(key, ()) if not one.vague]

    @staticmethod
    def _enter(index: dict[Key, list[Gathered]], one: Gathered) -> None:
        for each in dict.fromkeys((*one.past, one.key)):
            index.setdefault(each, []).append(one)
