"""The files and folders that a kustomization names, and those of them that are not there."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.kustomize.folders import has_placeholder, inside_of, is_remote
from kmerge_git.check.kustomize.kustomization import (
    NAMES,
    RESOURCE_FIELDS,
    Kustomization,
    in_folder,
)
from kmerge_git.check.plain import Map, Text, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.world import World
    from kmerge_git.kube.fieldpath import Path

FILE, FOLDER, EITHER = "file", "folder", "file or folder"
ABSENT = "is not there"
NO_KUSTOMIZATION = "has no kustomization"
PLUGINS = ("generators", "transformers", "validators")
GENERATORS = ("configMapGenerator", "secretGenerator")


class NamedFile:
    """A file or folder that a kustomization names."""

    __slots__ = ("at", "field", "path", "text", "wanted")

    def __init__(self, one: Kustomization, text: Text, field: Path, wanted: str, path: str) -> None:
        self.text = path or text.text
        self.at = text.at
        self.field = field
        self.wanted = wanted
        self.path = inside_of(one.directory, self.text)


def named(one: Kustomization) -> Iterator[NamedFile]:
    """All that a kustomization names in this repository, in the order of its fields."""
    for value, field, wanted in _values(one.root):
        if not isinstance(value, Text) or not value.text or value.null or "\n" in value.text:
            continue
        path = value.text
        if field[0] in GENERATORS and field[-2] == "files":
            path = path.partition("=")[2] or path
        if not is_remote(path) and not has_placeholder(path) and ": " not in path:
            yield NamedFile(one, value, field, wanted, path)


def _values(root: Map) -> Iterator[tuple[Value | None, Path, str]]:
    """Values that name files: what each is, where it stands, and what has to be there."""
    for name in (*RESOURCE_FIELDS, *PLUGINS, "configurations"):
        wanted = EITHER if name in ("resources", "bases", *PLUGINS) else FILE
        for n, item in enumerate(root.items(name)):
            yield item, (name, n), FOLDER if name == "components" else wanted
    for n, item in enumerate(root.items("patchesStrategicMerge")):
        yield item, ("patchesStrategicMerge", n), FILE
    for name in ("patches", "patchesJson6902", "replacements"):
        for n, entry in root.maps(name):
            yield entry.get("path"), (name, n, "path"), FILE
    for name in GENERATORS:
        for n, entry in root.maps(name):
            for inner in ("files", "envs"):
                for m, item in enumerate(entry.items(inner)):
                    yield item, (name, n, inner, m), FILE
            yield entry.get("env"), (name, n, "env"), FILE
    for n, entry in root.maps("helmCharts"):
        yield entry.get("valuesFile"), ("helmCharts", n, "valuesFile"), FILE
        for m, item in enumerate(entry.items("additionalValuesFiles")):
            yield item, ("helmCharts", n, "additionalValuesFiles", m), FILE
    schema = root.map("openapi")
    if schema is not None:
        yield schema.get("path"), ("openapi", "path"), FILE


def what_is_wrong(one: NamedFile, world: World) -> str:
    """Why kustomize cannot take a named file or folder; nothing where it can, or nobody knows."""
    if world.is_outside(one.path):
        return ""
    if not world.is_directory(one.path):
        data = world.read(one.path)
        if data is None:
            return ABSENT
        needs_folder = one.wanted == FOLDER and b"\n" in data  # else it may be a symbolic link
        return "is a file; the folder of a component is needed here" if needs_folder else ""
    if one.wanted == FILE:
        return "is a folder; a file is needed here"
    inner = in_folder(world, one.path)
    if inner is None:
        names = (inside_of(one.path, name) for name in NAMES)
        found = any(world.read(name) is not None for name in names)
        return "" if found else NO_KUSTOMIZATION
    is_component = inner.root.text("kind") == "Component"
    if one.wanted == FOLDER and not is_component:
        return "is no component; list it under resources"
    if is_component and one.field[0] in ("resources", "bases"):
        return "is a component; list it under components"
    return ""
