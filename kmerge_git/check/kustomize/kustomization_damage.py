"""M04, M13-M15, D69: find what a careless merge leaves in kustomizations and their files.

This module also finds the files and folders that a kustomization names, and reports those that are
missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import relpath
from typing import NamedTuple

from kmerge_git.check.checked_texts import World
from kmerge_git.check.kustomize.kustomization import (
    DELETED,
    GENERATED,
    MADE,
    NAMES,
    UNSTAGED,
    Fate,
    Kustomization,
    Past,
    has_placeholder,
    in_folder,
    inside_of,
    is_remote,
)
from kmerge_git.check.kustomize.kustomize_build import NO_MERGE, NOT_THERE, TWICE, Gathering
from kmerge_git.check.page_values import Map, Text, Value, roots_of
from kmerge_git.check.registry import (
    ERROR,
    INFO,
    KUSTOMIZATION,
    SET,
    WARNING,
    Check,
    Found,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.registry import Function
    from kmerge_git.kube.fieldpath import Path

    Naming = str | list["Naming"] | dict[str, "Naming"]

# Lists in which only one of two elements with the same name counts, and the fields that it sets.
COUNTED = {"images": ("newName", "newTag", "digest", "tagSuffix"), "replicas": ("count",)}
# The fields that name files or folders: brackets stand for lists, braces for maps.
FILE, FOLDER, EITHER = "file", "folder", "file or folder"
_WITH_PATHS: Naming = [{"path": FILE}]
_GENERATED: Naming = [{"files": [FILE], "envs": [FILE], "env": FILE}]
NAMING: Naming = {
    "resources": [EITHER], "bases": [EITHER], "components": [FOLDER], "crds": [FILE],
    "generators": [EITHER], "transformers": [EITHER], "validators": [EITHER],
    "configurations": [FILE], "patchesStrategicMerge": [FILE],
    "patches": _WITH_PATHS, "patchesJson6902": _WITH_PATHS, "replacements": _WITH_PATHS,
    "configMapGenerator": _GENERATED, "secretGenerator": _GENERATED,
    "helmCharts": [{"valuesFile": FILE, "additionalValuesFiles": [FILE]}],
    "openapi": {"path": FILE},
}  # fmt: skip
ABSENT = "does not exist"
NO_KUSTOMIZATION = "has no kustomization file"
UNSURE = (ABSENT, NO_KUSTOMIZATION)  # a tool may make the file before kustomize runs


def mistakes(kind: str) -> Function:
    """Return the function of a check that reports one kind of mistakes in a build."""

    def find(build: Gathering, world: World, past: Past) -> Iterator[Found]:
        """Find what kustomize refuses when it gathers and patches resources."""
        yield from build.mistakes[kind]

    return find


Check(
    "M04", ERROR, SET, "duplicate resource in a kustomization and its bases",
    kubectl="`kubectl apply` applies both resources; the last one wins.",
    kustomize="The build fails: `may not add resource with an already registered id`. The id "
    "consists of group, version, kind, name and namespace, after bases have added prefixes, "
    "suffixes and namespaces.",
    example="# file: kustomization.yaml\nresources:\n- base\n- web.yaml\n"
    "# file: base/kustomization.yaml\nresources:\n- web.yaml\n# file: base/web.yaml\n"
    "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n# file: web.yaml\n"
    "apiVersion: v1\nkind: Service\nmetadata:\n  name: web",
    counter="# file: kustomization.yaml\nresources:\n- base\n- web.yaml\n"
    "# file: base/kustomization.yaml\nnamePrefix: old-\nresources:\n- web.yaml\n"
    "# file: base/web.yaml\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\n"
    "# file: web.yaml\napiVersion: v1\nkind: Service\nmetadata:\n  name: web",
    mend="Keep the resource in one file: one side of a merge may have moved it.",
)(mistakes(TWICE))  # fmt: skip


@Check(
    "M13", ERROR, KUSTOMIZATION, "duplicate entry in a kustomization",
    hides=("M22",),
    tools="Z",
    kubectl="Not affected.",
    kustomize="The build fails: `may not add resource with an already registered id`, or, for a "
    "generator, `exists; behavior must be merge or replace`. Of two `images` or two "
    "`replicas` entries for the same name, one has no effect.",
    example="# file: kustomization.yaml\nresources:\n- web.yaml\n- ./web.yaml",
    counter="# file: kustomization.yaml\nimages:\n- name: web\n  newTag: v1\n"
    "- name: web\n  newName: registry.example.com/web",
    mend="Keep one of the two entries: both sides of a merge may have added the same entry.",
)  # fmt: skip
def repeated_entry(one: Kustomization, world: World) -> Iterator[Found]:
    """Find an entry for a resource, image, replica count or generator that is listed twice.

    Such an entry is left when both sides of a merge added it.
    """
    yield from _repeated_resources(one, world)
    for field, keys in COUNTED.items():
        yield from _repeated_words(one, field, keys)
    seen = set()
    for field, number, item in ((f, n, item) for f in GENERATED for n, item in one.root.maps(f)):
        name = item.string("name")
        key = (field, name, item.string("namespace") or "default")
        if item.string("behavior") not in ("merge", "replace") and name:
            if key in seen:
                yield Found(item.at, f"{field} has two entries for {name}", path=(field, number))
            seen.add(key)


def _repeated_resources(one: Kustomization, world: World) -> Iterator[Found]:
    """Find files and folders with content that are listed twice, in any spelling of the path."""
    seen: dict[str, str] = {}
    for path, text, at, field in one.resources:
        if field in ("resources", "bases"):
            if path in seen and _brings_something(world, path):
                before = f", first as {seen[path]}" if seen[path] != text else ""
                yield Found(at, f"{field} lists {text} twice{before}", path=(field,))
            seen.setdefault(path, text)


def _brings_something(world: World, path: str) -> bool:
    if world.is_directory(path):
        inner = in_folder(world, path)
        lists = ("resources", "bases", "components", "helmCharts", "generators", *GENERATED)
        return inner is None or any(inner.root.items(field) for field in lists)
    return world.resources(path) != []


def _repeated_words(one: Kustomization, field: str, keys: tuple[str, ...]) -> Iterator[Found]:
    """Find entries of a field that have the same name.

    The later entry counts, unless the first entry renames: then the later entry is lost.
    """
    seen: dict[str, Map] = {}
    for number, item in one.root.maps(field):
        name = item.string("name")
        first = seen.setdefault(name, item)
        if first is item or not name:
            continue
        before, after = ({k: each.string(k) for k in keys if each.has(k)} for each in (first, item))
        what = ""
        if before == after:
            what = f"{field} has two entries for {name} with the same values"
        elif before.get("newName", name) != name:
            what = f"{name} is already renamed to {before['newName']}; this entry has no effect"
        elif before.keys() & after.keys():
            what = f"{field} has two entries for {name}; the first one has no effect"
        if what:
            severity = WARNING if before == after else ""
            yield Found(item.at, what, path=(field, number), severity=severity)


# -- files that are not there ---------------------------------------------------------------------


@Check(
    "M14", WARNING, SET, "a kustomization lists a file or folder that does not exist",
    tools="Z", is_eased=True,
    kubectl="Not affected.",
    kustomize="The build fails: `no such file or directory`, or `unable to find one of "
    "'kustomization.yaml', ..`.",
    example="# file: kustomization.yaml\nresources:\n- web.yaml",
    counter="# file: kustomization.yaml\nresources:\n- https://example.com/web.yaml\n"
    "- github.com/example/web//deploy?ref=v1",
    mend="Correct or remove the entry, or restore the file: one side of a merge may have deleted "
    "or renamed a file that the other side lists.",
)  # fmt: skip
def missing_file(build: Gathering, world: World, past: Past) -> Iterator[Found]:
    """Find a missing file, a folder without a kustomization, or a file where a folder belongs."""
    # a file may be named twice, with one fault: the first entry is reported
    faults = [(each, what_is_wrong(each, world)) for each in named(build.one)]
    wrong = {(each.path, what): each for each, what in reversed(faults) if what}
    if not wrong:
        return
    fates = past.fates([path for (_, what), each in wrong.items() for path in _where(each, what)])
    before = _named_before(build.one, past)
    for (_, what), each in wrong.items():
        fate = next((fates[path] for path in _where(each, what) if path in fates), None)
        if fate is not None and fate.what == MADE:
            continue
        is_sure = fate is not None or what not in UNSURE
        is_new = before is not None and each.path not in before
        severity = ERROR if is_sure or is_new else ""
        message = _missing(build.one, each, what, fate)
        yield Found(each.at, message, path=each.field, severity=severity)


def _where(each: NamedFile, what: str) -> list[str]:
    """Return the possible paths of a named file. At least one of them must exist."""
    if what != NO_KUSTOMIZATION:
        return [each.path]
    return [inside_of(each.path, name) for name in NAMES]


def _missing(one: Kustomization, each: NamedFile, what: str, fate: Fate | None) -> str:
    if fate is not None and fate.what == UNSTAGED:
        return f"{each.text} is not staged, so the commit will lack it; run `git add` on it"
    if fate is None or fate.what != DELETED:
        return f"{each.text} {what}"
    now = relpath(fate.now, one.directory or ".") if fate.now else ""
    return f"{each.text} {what}: " + (f"it was renamed to {now}" if now else "it was deleted")


def _named_before(one: Kustomization, past: Past) -> set[str] | None:
    """Return the paths that a kustomization named before, or None if they are not known."""
    versions = past.before(one.path)
    before = None if versions is None else [roots_of(data, one.path) for data in versions]
    if before is None or None in before:
        return None
    maps = [root for roots in before for root in roots or () if isinstance(root, Map)]
    return {each.path for root in maps for each in named(Kustomization(one.page, root))}


# -- resources that are not there -----------------------------------------------------------------


Check(
    "M15", ERROR, SET, "a generator changes a resource that does not exist",
    tools="Z",
    kubectl="Not affected.",
    kustomize="The build fails: `does not exist; cannot merge or replace`.",
    example="# file: kustomization.yaml\nconfigMapGenerator:\n- name: settings\n"
    "  behavior: merge\n  literals: [a=b]",
    counter="# file: kustomization.yaml\nresources:\n- base\nconfigMapGenerator:\n"
    "- name: settings\n  behavior: merge\n  literals: [a=b]\n"
    "# file: base/kustomization.yaml\nconfigMapGenerator:\n- name: settings\n  literals: [a=c]",
    mend="Correct the name or the namespace, or omit `behavior`: one side of a merge may have "
    "removed or renamed a resource that the other side changes.",
)(mistakes(NO_MERGE))  # fmt: skip


Check(
    "D69", ERROR, SET, "a patch for a resource that does not exist",
    tools="Z", needs="T",
    kubectl="Not affected.",
    kustomize="The build fails with `no matches for Id`, or with `multiple matches` if the patch "
    "matches two resources. If a patch with a `target:` matches nothing, it has no "
    "effect (kmerge reports this as a warning).",
    example="# file: kustomization.yaml\nresources:\n- web.yaml\npatches:\n- path: patch.yaml\n"
    "# file: patch.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: wbe\nspec:\n"
    "  replicas: 2\n# file: web.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n"
    "  name: web",
    counter="# file: kustomization.yaml\nnamePrefix: my-\nresources:\n- web.yaml\npatches:\n"
    "- path: patch.yaml\n# file: patch.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n"
    "  name: web\nspec:\n  replicas: 2\n# file: web.yaml\napiVersion: apps/v1\n"
    "kind: Deployment\nmetadata:\n  name: web",
    mend="Correct the kind, name, namespace or version, or remove the patch.",
)(mistakes(NOT_THERE))  # fmt: skip


@Check(
    "D80", INFO, KUSTOMIZATION, "a deprecated field for patches",
    tools="Z",
    kubectl="Not affected.",
    kustomize="kustomize prints a warning, but the field still works.",
    example="# file: kustomization.yaml\nresources:\n- https://example.com/base\n"
    "patchesStrategicMerge:\n- web.yaml\n# file: web.yaml\napiVersion: apps/v1\n"
    "kind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2",
    counter="# file: kustomization.yaml\nresources:\n- https://example.com/base\n"
    "patches:\n- path: web.yaml\n# file: web.yaml\napiVersion: apps/v1\n"
    "kind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2",
    mend="Write `patches: [{path: ..}]`; `kustomize edit fix` does that.",
)  # fmt: skip
def deprecated_fields(one: Kustomization, world: World) -> Iterator[Found]:
    """Find `patchesStrategicMerge` and `patchesJson6902`. The field `patches` replaces them."""
    for field in ("patchesStrategicMerge", "patchesJson6902"):
        if field in one.root.fields:
            at = one.root.at_key(field)
            yield Found(at, f"{field} is deprecated; use patches", path=(field,), severity=INFO)


# -- the files that a kustomization names ---------------------------------------------------------


class NamedFile(NamedTuple):
    """Hold the path of a file or folder that a kustomization names."""

    text: str
    path: str
    at: int
    field: Path
    wanted: str


def named(one: Kustomization) -> Iterator[NamedFile]:
    """Yield the files and folders of this repository that a kustomization names, in order."""
    for value, field, wanted in _values(one.root, NAMING):
        if not isinstance(value, Text) or not value.text or value.null or "\n" in value.text:
            continue
        path = value.text
        if field[0] in GENERATED and field[-2] == "files":
            path = path.partition("=")[2] or path
        if not is_remote(path) and not has_placeholder(path) and ": " not in path:
            yield NamedFile(path, inside_of(one.directory, path), value.at, field, wanted)


def _values(value: Value, naming: Naming, field: Path = ()) -> Iterator[tuple[Value, Path, str]]:
    """Yield the values that name files.

    Each value comes with its field, and with the wanted kind of file.
    """
    if isinstance(naming, str):
        yield value, field, naming
    elif isinstance(naming, list):
        for number, item in enumerate(value.values):
            yield from _values(item, naming[0], (*field, number))
    else:
        for key in (key for key in naming if key in value.fields):
            yield from _values(value.fields[key][1], naming[key], (*field, key))


def what_is_wrong(one: NamedFile, world: World) -> str:
    """Return why kustomize cannot use a named file or folder, or '' if no reason is known."""
    if world.is_outside(one.path):
        return ""
    if not world.is_directory(one.path):
        data = world.read(one.path)
        if data is None:
            return ABSENT
        needs_folder = one.wanted == FOLDER and b"\n" in data  # else maybe a symbolic link
        return "is a file, but components are folders" if needs_folder else ""
    if one.wanted == FILE:
        return "is a folder, but this field needs a file"
    inner = in_folder(world, one.path)
    if inner is None:
        names = (inside_of(one.path, name) for name in NAMES)
        found = any(world.read(name) is not None for name in names)
        return "" if found else NO_KUSTOMIZATION
    if one.wanted == FOLDER and not inner.is_component:
        return "is not a component; list it under resources"
    if inner.is_component and one.field[0] in ("resources", "bases"):
        return "is a component; list it under components"
    return ""
