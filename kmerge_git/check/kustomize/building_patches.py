"""What a kustomization does to the resources it has gathered, as far as identities go.

Patches may remove and rename them, the namespace, prefix and suffix rename all of them.
"""

from __future__ import annotations

from kmerge_git.check.kustomize.builds import NOT_THERE, TWICE, EntryPlace, Gathering, Trouble
from kmerge_git.check.kustomize.folders import inside_of
from kmerge_git.check.kustomize.gathered import (
    NO_PREFIX,
    Gathered,
    is_of_cluster,
    key_of,
    selects,
    texts_of,
)
from kmerge_git.check.kustomize.kustomization import Kustomization, PatchEntry, book_of
from kmerge_git.check.objects import identity
from kmerge_git.check.patterns import NO, PERHAPS, YES
from kmerge_git.check.plain import List, Map, Text, Value, scalars
from kmerge_git.finding import WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.page import Page
    from kmerge_git.check.world import Book, World
    from kmerge_git.kube.fieldpath import Path

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
    """The documents of a patch, those of a `kind: List` too; None where it cannot be read."""
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
    """The field of a patch that no resource has."""
    *above, last = path
    holder = (root.map("metadata") or root) if above else root
    return EntryPlace(holder.at_key(str(last)), path, place.text)


def _nearly(build: Gathering, root: Map) -> tuple[Path, str]:
    """The field of a patch that is in the way, and what the resource has that is meant."""
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
    """What a strategic merge patch does to the identity and the labels of a resource."""
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
    """Whether a target names one resource; else it may well be for what others have."""
    return bool(text) and PATTERN.isdisjoint(text) and ".*" not in text


def _may_rename(entry: PatchEntry, roots: list[Value]) -> bool:
    if entry.options is not None:
        return True
    return any(not isinstance(root, Map) or root.text("$patch") == "delete" for root in roots)


def _operations(one: Gathered, root: List) -> None:
    """What a JSON 6902 patch does to the identity and the labels of a resource."""
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
    """`replacements` may write to names; which resources they take is not looked at."""
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
