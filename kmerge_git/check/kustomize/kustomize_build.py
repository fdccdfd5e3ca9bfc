"""Follow the steps of a kustomize build to know the identities of its resources.

The order is that of kustomize: resources and bases, generators, components, then the patches, the
namespace, the prefix and suffix, and the labels. A build is `open` if a part of it is remote, comes
from charts or cannot be read. In an open build, nobody can say that a resource is missing.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

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
    GENERATED,
    Kustomization,
    PatchEntry,
    book_of,
    in_folder,
    inside_of,
    is_remote,
)
from kmerge_git.check.page_values import List, Map, Text, Value, api_version, identity, scalars
from kmerge_git.check.registry import WARNING, Found
from kmerge_git.kube.identity import Identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.check.checked_texts import Book, Page, World
    from kmerge_git.check.kustomize.gathered_resources import Key
    from kmerge_git.kube.fieldpath import Path

MAKERS = ("helmCharts", "helmChartInflationGenerator", "generators")
ORDER = ("patchesStrategicMerge", "patches")
RENAMED_BY = ("metadata", "kind", "apiVersion")  # replacements may change these

# The kinds of mistakes in a build; a check reports each kind.
TWICE = "twice"  # two resources have one identity
NOT_THERE = "not there"  # no resource is the target of a patch
NO_MERGE = "no merge"  # a generator changes a resource that does not exist


class Gatherer:
    """Build kustomizations, and build each kustomization only once."""

    __slots__ = ("_built", "skips", "world")

    def __init__(self, world: World, skips: Callable[[str], bool] = lambda path: False) -> None:
        self.world = world
        self.skips = skips  # says if a file is unrelated to the changed files
        self._built: dict[str, Gathering] = {}

    def of(self, one: Kustomization, above: frozenset[str] = frozenset()) -> Gathering:
        """Return the build of a kustomization.

        `above` holds the paths of the kustomizations that include this kustomization.
        """
        if one.path not in self._built:
            build = Gathering(one)
            # a component patches resources of the kustomizations that include it
            build.is_open = one.is_component
            self._run(build, one, above | {one.path}, None)
            self._built[one.path] = build
        return self._built[one.path]

    def _run(
        self, build: Gathering, one: Kustomization, above: frozenset[str], within: EntryPlace | None
    ) -> None:
        included: set[str] = set()
        for field in ("resources", "bases", "components"):
            if field == "components":
                _generate(build, one, within)
            entries = (entry for entry in one.resources if entry[-1] == field)
            for number, (path, text, at, _) in enumerate(entries):
                place = within or EntryPlace(at, (field, number), text)
                if field == "components":
                    self._component(build, path, above, place)
                elif path not in included:
                    self._include(build, path, text, above, place)
                    included.add(path)
        if any(maker in one.root.fields for maker in MAKERS):
            build.is_open = True
        transform(build, one, self.world, within)
        if "transformers" in one.root.fields:
            build.is_open = True
            build.blur()

    def _component(
        self, build: Gathering, path: str, above: frozenset[str], place: EntryPlace
    ) -> None:
        """Apply a component to all resources of the build."""
        inner = self._folder(path, above)
        if inner is None or not inner.is_component:
            build.is_open = True
        else:
            self._run(build, inner, above | {inner.path}, place._replace(inside=inner.path))

    def _include(
        self, build: Gathering, path: str, text: str, above: frozenset[str], place: EntryPlace
    ) -> None:
        """Add the resources that an entry of `resources` or `bases` names."""
        brought: list[Gathered] | None = None
        if self.world.is_directory(path):
            inner = self._folder(path, above)
            if inner is not None and not inner.is_component:  # kustomize refuses a component
                below = self.of(inner, above)
                build.is_open = build.is_open or below.is_open
                brought = below.resources
        elif not is_remote(text) and not self.skips(path):
            brought = self.world.resources(path)
        if brought is None:
            build.is_open = True
        else:
            _take(build, [copy(one) for one in brought if one.name and one.kind], place)

    def _folder(self, path: str, above: frozenset[str]) -> Kustomization | None:
        """Return the kustomization in a folder.

        Return None if the folder has no kustomization, or if including its kustomization would form
        a cycle.
        """
        inner = in_folder(self.world, path) if self.world.is_directory(path) else None
        return None if inner is None or inner.path in above or len(above) > BUILT_BASES else inner


def _take(build: Gathering, brought: list[Gathered], place: EntryPlace) -> None:
    """Add resources to a build.

    All resources that the build already has are reported together, as one mistake.
    """
    twice = []
    for one in brought:
        first = build.add(one, place)
        if first is not None:
            # another check reports two documents of one file
            is_known = (first.path, first.by, first.who) == (one.path, place.text, one.who)
            if not is_known or first.line == one.line:
                twice.append((first, one))
    if not twice:
        return
    first, one = twice[0]
    if not one.path:
        message = f"duplicate resource: {one} is generated, and it is also in {first.origin}"
    elif one.path == first.path:
        message = f"duplicate resource: {first.by} already adds {one} of {one.path}"
    else:
        message = (
            f"duplicate resource: {one} in line {one.line} of {one.path} is also in {first.origin}"
        )
    more = f", and {len(twice) - 1} more" if len(twice) > 1 else ""
    build.trouble(TWICE, place, message + more)


def _generate(build: Gathering, one: Kustomization, within: EntryPlace | None) -> None:
    """Add the resources that generators make, and apply generators that change a resource."""
    made: list[Gathered] = []
    entries = ((field, n, item) for field in GENERATED for n, item in one.root.maps(field))
    for field, number, item in entries:
        name, behavior = item.string("name"), item.string("behavior")
        if not name:
            continue
        place = within or EntryPlace(item.at, (field, number), one.path)
        who = Identity("", GENERATED[field], item.string("namespace"), name, "v1", "")
        labels, annotations = (
            texts_of(one.root, "generatorOptions", slot) | texts_of(item, "options", slot)
            for slot in ("labels", "annotations")
        )
        new = Gathered(who, labels=labels, annotations=annotations)
        there = build.called(new.key)
        changes = behavior in ("merge", "replace")
        if not there and not changes:
            build.add(new, place)
            made.append(new)
        elif not there:
            if build.is_sure:
                what = f"{new} does not exist, so this generator cannot {behavior} it"
                build.trouble(NO_MERGE, place, what)
        elif len(there) > 1:
            named = " and ".join(map(str, there[:2]))
            build.trouble(
                NO_MERGE, place, f"{new} matches {named}; kustomize refuses an ambiguous match"
            )
        elif changes:
            there[0].mark(labels=labels, annotations=annotations)
        elif there[0] not in made:
            what = f"is also in {there[0].origin}; to change that one, write `behavior: merge`"
            build.trouble(TWICE, place, f"{new} {what}")


# -- changes to the gathered resources ------------------------------------------------------------


def transform(
    build: Gathering, one: Kustomization, world: World, within: EntryPlace | None
) -> None:
    """Patch, rename and label the resources, in the order of kustomize."""
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
    for entry in (entry for entry in one.patches if entry.field[0] == field):
        place = within or EntryPlace(entry.at, entry.field, entry.path or "the patch")
        book = book_of(entry, world)
        roots = _content(entry, book)
        if roots is None:
            build.blur()
        elif entry.target is not None:
            _selected(build, entry, entry.target, roots, place)
        else:
            page = book.page if book is not None and within is None else None
            for root in (root for root in roots if isinstance(root, Map)):
                _named(build, root, entry, place, page)


def _content(entry: PatchEntry, book: Book | None) -> list[Value] | None:
    """Return the documents of a patch, or None if the patch cannot be read.

    The items of a `kind: List` count as documents.
    """
    if entry.value is not None or book is None:
        return None if entry.value is None else [entry.value]
    roots: list[Value] = []
    for root in book.roots:
        is_list = root.string("kind").endswith("List") and "items" in root.fields
        roots += root.items("items") if is_list else [root]
    return roots


# -- patches whose own identity names the target --------------------------------------------------


def _named(
    build: Gathering, root: Map, entry: PatchEntry, place: EntryPlace, page: Page | None
) -> None:
    who = identity(root)
    if not who.kind or not who.name or not who.version:
        return  # kustomize refuses such a patch
    there = build.called(key_of(who.group, who.version, who.kind, who.namespace, who.name))
    if len(there) == 1:
        _merge(build, there[0], root, entry, place)
    elif there:
        named = " and ".join(f"{each} of {each.origin}" for each in there[:2])
        what = f"the patch for {who.kind}/{who.name} matches {named}; kustomize refuses it"
        build.trouble(NOT_THERE, place, what)
    elif build.is_sure:
        wanted = f"{who.namespace}/{who.name}" if who.namespace else who.name
        path, why = _nearly(build, root)
        here = "this kustomization"
        if page is not None:  # the place is the field that no resource has
            here, last = build.one.path, str(path[-1])
            holder = (root.map("metadata") or root) if len(path) > 1 else root
            place = EntryPlace(holder.at_key(last), path, place.text)
        what = f"no resource {who.kind}/{wanted} in {here}{why}"
        build.trouble(NOT_THERE, place, what, page=page)


def _nearly(build: Gathering, root: Map) -> tuple[Path, str]:
    """Find a resource that is similar to a patch.

    Return the field of the patch that differs from the resource, and the difference.
    """
    who = identity(root)
    for one in build.resources:
        if (one.kind, one.name) == (who.kind, who.name):
            api = api_version(one.group, one.version)
            if api != root.string("apiVersion"):
                return ("apiVersion",), f"; its apiVersion is {api} in {one.origin}"
            why = f"; its namespace is {one.namespace or 'not set'} in {one.origin}"
            return ("metadata", "namespace"), why
    kinds = [one.kind for one in build.resources if one.name == who.name]
    if kinds and who.kind not in {one.kind for one in build.resources}:
        return ("kind",), f"; {who.name} is a {kinds[0]}"
    return ("metadata", "name"), ""


def _merge(
    build: Gathering, one: Gathered, root: Map, entry: PatchEntry, place: EntryPlace
) -> None:
    """Apply a strategic merge patch to the identity and the labels of a resource."""
    if root.string("$patch") == "delete":
        build.remove(one)
        return
    for slot in ("labels", "annotations"):
        new = root.map("metadata", slot)
        if new is not None:
            fields = new.fields.items()
            is_known = not any(key.startswith("$") or value.null for key, (_, value) in fields)
            one.mark(**{slot: texts_of(new) if is_known else None})
    options, kind, name = entry.options, root.string("kind"), root.string("metadata", "name")
    if options is None:
        return
    if options.string("allowKindChange") == "true" and kind not in ("", one.kind):
        one.change("kind", kind)
    if options.string("allowNameChange") == "true" and name not in ("", one.name):
        one.change("name", name)
    _collide(build, place)


# -- patches with a `target:` --------------------------------------------------------------------


def _selected(
    build: Gathering, entry: PatchEntry, target: Map, roots: list[Value], place: EntryPlace
) -> None:
    answers = [(one, selects(target, one)) for one in build.resources]
    if build.is_sure and not place.inside and all(answer == NO for _, answer in answers):
        kind, name = target.string("kind") or "*", target.string("name") or "*"
        what = f"no resource {kind}/{name} in this kustomization, so the patch has no effect"
        build.trouble(NOT_THERE, place, what, WARNING)
    is_deletion = any(not isinstance(x, Map) or x.string("$patch") == "delete" for x in roots)
    may_rename = is_deletion or entry.options is not None
    for one, answer in answers:
        if answer == YES:
            _change(build, one, roots, entry, place)
        elif answer == PERHAPS and may_rename:
            one.vague = True
    if any(isinstance(root, List) for root in roots):
        _collide(build, place)


def _change(
    build: Gathering, one: Gathered, roots: list[Value], entry: PatchEntry, place: EntryPlace
) -> None:
    for root in roots:
        if one not in build.resources:
            return  # the patch has deleted the resource
        if isinstance(root, List):
            _operations(one, root)
        elif isinstance(root, Map):
            _merge(build, one, root, entry, place)


def _operations(one: Gathered, root: List) -> None:
    """Apply a JSON 6902 patch to the identity and the labels of a resource."""
    for step in root.values:
        path, op = step.string("path"), step.string("op")
        if not isinstance(step, Map) or op == "test":
            continue
        is_text = isinstance(step.get("value"), Text) and op in ("add", "replace")
        if path in ("/metadata/name", "/metadata/namespace") and is_text:
            one.change(path.rpartition("/")[2], step.string("value"))
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
        what = f"the patch renames a resource to {other}, which is also in {first.origin}"
        build.trouble(TWICE, place, what)
        other.vague = True


# -- changes to all resources ---------------------------------------------------------------------


def _namespace(build: Gathering, one: Kustomization, within: EntryPlace | None) -> None:
    namespace = one.root.string("namespace")
    if not namespace:
        return
    for each in build.resources:
        if (each.group, each.kind) == ("", "Namespace"):
            each.change("name", namespace)
        elif not is_of_cluster(each.group, each.kind):
            each.change("namespace", namespace)
    for first, other in build.renamed()[:1]:
        place = within or EntryPlace(one.root.at_key("namespace"), ("namespace",), namespace)
        origins = f"one of {first.origin} and one of {other.origin}"
        build.trouble(TWICE, place, f"this namespace gives two resources the id {other}: {origins}")


def _names(build: Gathering, one: Kustomization) -> None:
    for field in ("namePrefix", "nameSuffix"):
        added = one.root.string(field)
        for each in build.resources if added else ():
            if each.who.kind not in NO_PREFIX:
                is_prefix = field == "namePrefix"
                each.change("name", added + each.name if is_prefix else each.name + added)
        if added:
            build.renamed()


def _labels(build: Gathering, one: Kustomization) -> None:
    labels = texts_of(one.root, "commonLabels")
    for _, item in one.root.maps("labels"):
        labels |= texts_of(item, "pairs")
    annotations = texts_of(one.root, "commonAnnotations")
    for each in build.resources:
        each.mark(labels=labels, annotations=annotations)


def _replacements(build: Gathering, one: Kustomization, world: World) -> None:
    """Mark all names as unknown if `replacements` may write to them."""
    for _, item in one.root.maps("replacements"):
        path = item.string("path")
        book = world.book(inside_of(one.directory, path)) if path else None
        roots: list[Value] = book.roots if book is not None else [item]
        words = [text.text for root in roots for text in scalars(root)]
        if any(word.startswith(RENAMED_BY) for word in words) or (path and book is None):
            build.blur()


# -- the result of a build ------------------------------------------------------------------------


class EntryPlace(NamedTuple):
    """Hold the place of an entry in a kustomization.

    If the entry names a component, `inside` is the path of that component.
    """

    at: int
    field: Path
    text: str
    inside: str = ""


class Gathering:
    """Hold the resources of a kustomization, and the mistakes in its build."""

    __slots__ = ("_index", "_keys", "is_open", "mistakes", "one", "resources")

    def __init__(self, one: Kustomization) -> None:
        self.one = one
        self.resources: list[Gathered] = []
        self.is_open = False
        self.mistakes: dict[str, list[Found]] = {TWICE: [], NOT_THERE: [], NO_MERGE: []}
        self._keys: dict[Key, Gathered] = {}
        self._index: dict[Key, list[Gathered]] | None = None

    def trouble(
        self, what: str, place: EntryPlace, message: str, severity: str = "",
        page: Page | None = None,
    ) -> None:  # fmt: skip
        """Record a mistake at an entry of the kustomization, or in the file of a patch."""
        message += f" (in {place.inside})" if place.inside else ""
        found = Found(place.at, message, path=place.field, severity=severity, page=page)
        self.mistakes[what].append(found)

    @property
    def is_sure(self) -> bool:
        """Return whether all resources of the build and all their names are known."""
        return not self.is_open and not any(one.vague for one in self.resources)

    def add(self, one: Gathered, by: EntryPlace) -> Gathered | None:
        """Add a resource, unless the build already has a resource with the same key.

        In that case return the resource that the build already has.
        """
        first = None if one.vague else self._keys.get(one.key)
        if first is None:
            one.by = by.text
            self.resources.append(one)
            self._keys[one.key] = one
            if self._index is not None:
                _enter(self._index, one)
        return first

    def remove(self, one: Gathered) -> None:
        """Remove a resource, as `$patch: delete` does."""
        self.resources.remove(one)
        self._keys.pop(one.key, None)
        self._index = None

    def blur(self) -> None:
        """Mark all resources as vague, because after this step their names are unknown."""
        for one in self.resources:
            one.vague = True
        self.renamed()

    def renamed(self) -> list[tuple[Gathered, Gathered]]:
        """Index the resources by their new names. Return pairs of resources with the same name."""
        self._index, self._keys = None, {}
        known = [one for one in self.resources if not one.vague]
        pairs = [(self._keys.setdefault(one.key, one), one) for one in known]
        return [(first, one) for first, one in pairs if first is not one]

    def called(self, key: Key) -> list[Gathered]:
        """Return the resources that have this identity or had it before."""
        if self._index is None:
            self._index = {}
            for one in self.resources:
                _enter(self._index, one)
        return [one for one in self._index.get(key, ()) if not one.vague]


def _enter(index: dict[Key, list[Gathered]], one: Gathered) -> None:
    for key in dict.fromkeys((*one.past, one.key)):
        index.setdefault(key, []).append(one)
