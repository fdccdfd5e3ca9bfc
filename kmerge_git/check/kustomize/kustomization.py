"""Read which patches kustomizations, transformers and GitOps objects apply.

This module reads kustomization files, the built-in patch transformers, and the kinds that hold
patches inline (Flux, Argo CD, Kyverno). A path in a kustomization is relative to the folder of the
kustomization. The folder may be in a revision (`REV:PATH`), and the path may be remote.
"""

from __future__ import annotations

from functools import cached_property
from posixpath import basename, dirname, join, normpath
from typing import NamedTuple

from kmerge_git.check.checked_texts import Book, Page, embedded
from kmerge_git.check.page_values import List, Map, Text, Value, scalars
from kmerge_git.errors import CannotParse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.check.checked_texts import World
    from kmerge_git.kube.fieldpath import Path

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
RESOURCE_FIELDS = ("resources", "bases", "components", "crds")
TRANSFORMERS = (
    "PatchTransformer", "PatchStrategicMergeTransformer", "PatchJson6902Transformer"
)  # fmt: skip
GENERATED = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
REMOTE = ("://", "git@", "?ref=", "?version=", "github.com/", "github.com:", "git::", "gh:")
PLACEHOLDERS = ("$", "{{", "{%", "<", "%")
LONGEST = 256  # characters of a text that may be a path
DOMAINS = ("com", "org", "net", "io", "dev", "de", "eu", "cloud", "local", "internal", "corp")


class PatchEntry(NamedTuple):
    """An entry names one patch: a file (`path`), a text (`inline`) or a YAML value (`value`)."""

    page: Page
    at: int
    field: Path  # the path of the entry: ("patches", 0)
    rule: int
    path: str = ""
    inline: Text | None = None
    value: Map | List | None = None
    target: Map | None = None
    is_json6902: bool = False  # if false, the content decides
    options: Map | None = None
    holder: str = ""  # the kind of the object around an inline patch

    @property
    def is_of_policy(self) -> bool:
        """Return whether a patch belongs to a Kyverno policy.

        The rule of such a policy selects the objects that are patched.
        """
        return self.holder.endswith("Policy")


class Kustomization:
    """A kustomization is a file, or the kustomize fields of another object."""

    def __init__(self, page: Page, root: Map) -> None:
        self.page = page
        self.path = page.path
        self.root = root
        self.directory = folder_of(page.path)
        self.is_component = root.string("kind") == "Component"
        self.resources = [
            (inside_of(self.directory, text.text), text.text, text.at, field)
            for field in RESOURCE_FIELDS
            for text in root.items(field)
            if isinstance(text, Text) and text.text
        ]
        self.patches = list(_patches(page, root, directory=self.directory))
        self.listed = {path for path, _, _, _ in self.resources}
        self.entries = {entry.path: entry for entry in reversed(self.patches) if entry.path}

    @cached_property
    def mentioned(self) -> set[str]:
        """Return all paths that the kustomization may name: resources, patches and other files."""
        texts = [x.text for x in scalars(self.root) if len(x.text) < LONGEST and "\n" not in x.text]
        texts += [text.partition("=")[2] for text in texts if "=" in text]  # files: [name=path]
        return {inside_of(self.directory, text) for text in texts}


def is_kustomization(path: str, root: Value | None) -> bool:
    """Return whether a document is a kustomization, by its kind or its file name."""
    if not isinstance(root, Map) or not root.string("apiVersion"):
        return isinstance(root, Map) and basename(path) in NAMES
    is_kind = root.string("kind") in ("Kustomization", "Component", "")
    return is_kind and root.string("apiVersion").startswith("kustomize.config.k8s.io/")


def near(world: World, path: str, known: dict[str, Kustomization | None]) -> list[Kustomization]:
    """Return the kustomizations in the folder of a file and in all folders above this folder."""
    around = []
    folder, below = folder_of(path), path
    while folder != below:
        if folder not in known:
            known[folder] = in_folder(world, folder)
        around.append(known[folder])
        folder, below = folder_of(folder), folder
    return [one for one in around if one is not None]


def in_folder(world: World, folder: str) -> Kustomization | None:
    """Return the kustomization of a folder, or None if the folder has none."""
    for book in filter(None, (world.book(inside_of(folder, name)) for name in NAMES)):
        for root in book.roots:
            if isinstance(root, Map) and is_kustomization(book.page.path, root):
                return Kustomization(book.page, root)
    return None


def inside(page: Page, root: Map) -> list[PatchEntry]:
    """Return the patches that an object contains or names (rules 3 and 5).

    The object is not a kustomization.
    """
    kind, api, spec = root.string("kind"), root.string("apiVersion"), root.map("spec")
    entries: list[PatchEntry] = []
    if kind in TRANSFORMERS:
        entries = list(_transformer(page, root))
    elif spec is None:
        return []
    elif api.startswith("kustomize.toolkit.fluxcd.io/"):
        entries = list(_patches(page, spec, ("spec",)))
    elif kind == "HelmRelease":
        for n, renderer in spec.maps("postRenderers"):
            inner = renderer.map("kustomize")
            if inner is not None:
                entries += _patches(page, inner, ("spec", "postRenderers", n, "kustomize"))
    elif api.startswith("argoproj.io/"):
        entries = list(_argo(page, spec))
    elif api.startswith(("kyverno.io/", "policies.kyverno.io/")):
        entries = list(_kyverno(page, spec))
    return [entry._replace(holder=kind) for entry in entries]


def book_of(entry: PatchEntry, world: World) -> Book | None:
    """Return the file or the inline text of a patch, or None if the patch cannot be read."""
    if entry.inline is None:
        return world.book(entry.path)
    try:
        return Book(embedded(entry.page, entry.inline))
    except CannotParse:
        return None


def _patches(page: Page, root: Map, above: Path = (), directory: str = "") -> Iterator[PatchEntry]:
    """Yield the patches of a kustomization, or of the kustomize fields of an object.

    The kustomize fields of an object are at the path `above`.
    """
    rule = 5 if above else 2
    yield from _with_targets(page, root, above, "patches", rule, directory)
    for n, item in enumerate(root.items("patchesStrategicMerge")):
        entry = PatchEntry(page, item.at, (*above, "patchesStrategicMerge", n), rule)
        if isinstance(item, Map):
            yield entry._replace(value=item)
        elif isinstance(item, Text) and "\n" in item.text:
            yield entry._replace(inline=item)
        elif isinstance(item, Text):
            yield entry._replace(path=_join(directory, item.text))
    yield from _with_targets(page, root, above, "patchesJson6902", rule, directory)


def _with_targets(
    page: Page, root: Map, above: Path, field: str, rule: int, directory: str
) -> Iterator[PatchEntry]:
    """Yield the patches of a field that lists maps.

    Each map has a path or a text, and a target.
    """
    for n, item in root.maps(field):
        inline = item.get("patch")
        yield PatchEntry(
            page, item.at, (*above, field, n), rule, path=_join(directory, item.string("path")),
            inline=inline if isinstance(inline, Text) else None, target=item.map("target"),
            value=inline if isinstance(inline, List) else None,
            is_json6902=field == "patchesJson6902", options=item.map("options"),
        )  # fmt: skip


def _transformer(page: Page, root: Map) -> Iterator[PatchEntry]:
    for field in ("path", "patch", "paths", "patches", "jsonOp"):
        for item in (root.get(field), *root.items(field)):
            if not isinstance(item, Text) or not item.text:
                continue
            entry = PatchEntry(page, item.at, (field,), 3, target=root.map("target"))
            if field.startswith("path") or ("\n" not in item.text and field != "jsonOp"):
                yield entry._replace(path=inside_of(folder_of(page.path), item.text))
            else:
                yield entry._replace(inline=item)


def _argo(page: Page, spec: Map) -> Iterator[PatchEntry]:
    above: Path = ("spec",)
    inner = spec.map("template", "spec")
    if inner is not None:  # an ApplicationSet
        spec, above = inner, ("spec", "template", "spec")
    several = [(("sources", n), source) for n, source in spec.maps("sources")]
    for where, source in [(("source",), spec.map("source")), *several]:
        part = source.map("kustomize") if source is not None else None
        if part is not None:
            yield from _patches(page, part, (*above, *where, "kustomize"))


def _kyverno(page: Page, spec: Map) -> Iterator[PatchEntry]:
    for n, rule in spec.maps("rules"):
        mutate = rule.map("mutate")
        for holder in (mutate, *(each for _, each in mutate.maps("foreach"))) if mutate else ():
            value, text = holder.map("patchStrategicMerge"), holder.get("patchesJson6902")
            field: Path = ("spec", "rules", n, "mutate")
            if value is not None:
                yield PatchEntry(page, value.at, (*field, "patchStrategicMerge"), 5, value=value)
            if isinstance(text, Text) and not text.null:
                here = (*field, "patchesJson6902")
                yield PatchEntry(page, text.at, here, 5, inline=text, is_json6902=True)


def _join(directory: str, path: str) -> str:
    return inside_of(directory, path) if path else ""


# -- paths ---------------------------------------------------------------------------------------


def folder_of(path: str) -> str:
    """Return the folder of a file. The folder of a file `REV:FILE` is `REV:`."""
    revision, colon, rest = path.partition(":")
    return revision + colon + dirname(rest) if colon else dirname(path)


def inside_of(folder: str, entry: str) -> str:
    """Return the path of the file or folder that an entry of a kustomization names."""
    revision, colon, rest = folder.partition(":")
    path = normpath(join(rest if colon else folder, entry))
    return revision + colon + ("" if path == "." else path) if colon else path


def is_remote(entry: str) -> bool:
    """Return whether an entry names a remote resource.

    Remote resources for kustomize are URLs, `git@HOST:PATH`, `HOST/ORG/REPO` and every entry with a
    revision.
    """
    is_url = any(mark in entry for mark in REMOTE) or ".git/" in entry or entry.endswith(".git")
    host, slash, _ = entry.partition("/")
    user, at, _ = host.partition("@")
    domain = host.rpartition(".")[2].partition(":")[0]
    is_host = "." in host.lstrip(".") and domain in DOMAINS
    return is_url or (bool(slash) and (is_host or bool(user and at and ":" in host)))


def has_placeholder(entry: str) -> bool:
    """Return whether an entry has a placeholder that a tool replaces before kustomize runs."""
    marked = any(mark in entry for mark in PLACEHOLDERS)
    return marked or entry.count("@") > 1 or entry.count("__") > 1
