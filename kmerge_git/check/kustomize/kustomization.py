"""What kustomizations, transformers and GitOps objects say about patches: which ones they apply.

Reads kustomization files, the built-in patch transformers, and the kinds that hold patches
inline (Flux, Argo CD, Kyverno).

Paths as kustomizations write them: beside a file, in a revision (`REV:PATH`), or elsewhere.
"""

from __future__ import annotations

from posixpath import basename, dirname, join, normpath

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


class PatchEntry:
    """One patch that something names: in a file (`path`), as text (`inline`) or as a `value`."""

    __slots__ = (
        "at", "field", "holder", "inline", "is_json6902", "options", "page", "path", "rule",
        "target", "value",
    )  # fmt: skip

    def __init__(
        self, page: Page, at: int, field: Path, rule: int, *, path: str = "",
        inline: Text | None = None, value: Map | List | None = None, target: Map | None = None,
        is_json6902: bool = False, options: Map | None = None,
    ) -> None:  # fmt: skip
        self.page = page
        self.at = at
        self.field = field  # where it stands: ("patches", 0)
        self.rule = rule
        self.is_json6902 = is_json6902  # else its content decides
        self.path = path
        self.inline = inline
        self.value = value
        self.target = target
        self.options = options
        self.holder = ""  # kind of the object that holds an inline patch


class Kustomization:
    """A kustomization file, or the kustomize part of another object."""

    __slots__ = (
        "_mentioned", "directory", "entries", "listed", "page", "patches", "path", "resources",
        "root",
    )  # fmt: skip

    def __init__(self, page: Page, root: Map) -> None:
        self.page = page
        self.path = page.path
        self.root = root
        self.directory = folder_of(page.path)
        self.resources = [
            (inside_of(self.directory, text.text), text.text, text.at, field)
            for field in RESOURCE_FIELDS
            for text in root.items(field)
            if isinstance(text, Text) and text.text
        ]
        self.patches = list(_patches(page, root, directory=self.directory))
        self.listed = {path for path, _, _, _ in self.resources}
        self.entries = {entry.path: entry for entry in reversed(self.patches) if entry.path}
        self._mentioned: set[str] | None = None

    @property
    def mentioned(self) -> set[str]:
        """Return all paths that it may name: as resources, patches, files of a generator."""
        if self._mentioned is None:
            self._mentioned = {inside_of(self.directory, text) for text in _texts(self.root)}
        return self._mentioned

    def names(self, path: str) -> bool:
        """Return whether it names a file anywhere, for example as a file of a generator."""
        return normpath(path) in self.mentioned


def is_kustomization(path: str, root: Value | None) -> bool:
    """Return whether a document is a kustomization: by the file's name, or by its kind."""
    if not isinstance(root, Map):
        return False
    api = root.text("apiVersion")
    if api:
        known = root.text("kind") in ("Kustomization", "Component", "")
        return known and api.startswith("kustomize.config.k8s.io/")
    return basename(path) in NAMES


def near(world: World, path: str, known: dict[str, Kustomization | None]) -> list[Kustomization]:
    """Return the kustomizations in the folder of a file and in the folders above it."""
    found = []
    folder, below = folder_of(path), path
    while folder != below:
        if folder not in known:
            known[folder] = in_folder(world, folder)
        here = known[folder]
        if here is not None:
            found.append(here)
        folder, below = folder_of(folder), folder
    return found


def in_folder(world: World, folder: str) -> Kustomization | None:
    """Return the kustomization of a folder, or None."""
    for name in NAMES:
        book = world.book(inside_of(folder, name))
        if book is not None:
            for plain in book.plains:
                if isinstance(plain.root, Map) and is_kustomization(name, plain.root):
                    return Kustomization(book.page, plain.root)
    return None


def inside(page: Page, root: Map) -> list[PatchEntry]:
    """Return the patches that an object of another kind holds or names (rules 3 and 5)."""
    kind, api, spec = root.text("kind"), root.text("apiVersion"), root.map("spec")
    found: list[PatchEntry] = []
    if kind in ("PatchTransformer", "PatchStrategicMergeTransformer", "PatchJson6902Transformer"):
        found = list(_transformer(page, root))
    elif spec is None:
        return []
    elif api.startswith("kustomize.toolkit.fluxcd.io/"):
        found = list(_patches(page, spec, ("spec",)))
    elif kind == "HelmRelease":
        for n, renderer in spec.maps("postRenderers"):
            inner = renderer.map("kustomize")
            if inner is not None:
                found += _patches(page, inner, ("spec", "postRenderers", n, "kustomize"))
    elif api.startswith("argoproj.io/"):
        found = list(_argo(page, spec))
    elif api.startswith(("kyverno.io/", "policies.kyverno.io/")):
        found = list(_kyverno(page, spec))
    for entry in found:
        entry.holder = kind
    return found


def book_of(entry: PatchEntry, world: World) -> Book | None:
    """Return the file or the inline text of a patch; None where it cannot be read."""
    if entry.inline is None:
        return world.book(entry.path) if entry.path else None
    try:
        return Book(embedded(entry.page, entry.inline))
    except CannotParse:
        return None


def _patches(page: Page, root: Map, above: Path = (), directory: str = "") -> Iterator[PatchEntry]:
    """Return the patches of a kustomization, or of an object that has its fields at `above`."""
    rule = 5 if above else 2
    yield from _with_targets(page, root, above, "patches", rule, directory)
    for n, item in enumerate(root.items("patchesStrategicMerge")):
        here = (*above, "patchesStrategicMerge", n)
        if isinstance(item, Map):
            yield PatchEntry(page, item.at, here, rule, value=item)
        elif isinstance(item, Text) and "\n" in item.text:
            yield PatchEntry(page, item.at, here, rule, inline=item)
        elif isinstance(item, Text):
            yield PatchEntry(page, item.at, here, rule, path=_join(directory, item.text))
    yield from _with_targets(page, root, above, "patchesJson6902", rule, directory)


def _with_targets(
    page: Page, root: Map, above: Path, field: str, rule: int, directory: str
) -> Iterator[PatchEntry]:
    """Return the patches of a field of maps, each with a path or a text, and a target."""
    for n, item in root.maps(field):
        inline = item.get("patch")
        yield PatchEntry(
            page, item.at, (*above, field, n), rule, path=_join(directory, item.text("path")),
            inline=inline if isinstance(inline, Text) else None, target=item.map("target"),
            value=inline if isinstance(inline, List) else None,
            is_json6902=field == "patchesJson6902", options=item.map("options"),
        )  # fmt: skip


def _transformer(page: Page, root: Map) -> Iterator[PatchEntry]:
    directory = folder_of(page.path)
    target = root.map("target")
    for field in ("path", "patch", "paths", "patches", "jsonOp"):
        value = root.get(field)
        items = value.values if isinstance(value, List) else [value]
        for item in items:
            if not isinstance(item, Text) or not item.text:
                continue
            is_path = field.startswith("path") or ("\n" not in item.text and field != "jsonOp")
            yield PatchEntry(
                page, item.at, (field,), 3,
                path=_join(directory, item.text) if is_path else "",
                inline=None if is_path else item, target=target,
            )  # fmt: skip


def _argo(page: Page, spec: Map) -> Iterator[PatchEntry]:
    inner = spec.map("template")
    above: Path = ("spec",)
    if inner is not None and inner.map("spec") is not None:  # an ApplicationSet
        spec, above = inner.map("spec") or spec, ("spec", "template", "spec")
    several = [(("sources", n), source) for n, source in spec.maps("sources")]
    for where, source in [(("source",), spec.map("source")), *several]:
        part = source.map("kustomize") if source is not None else None
        if part is not None:
            yield from _patches(page, part, (*above, *where, "kustomize"))


def _kyverno(page: Page, spec: Map) -> Iterator[PatchEntry]:
    for n, rule in spec.maps("rules"):
        mutate = rule.map("mutate")
        for holder in (mutate, *(each for _, each in mutate.maps("foreach"))) if mutate else ():
            value = holder.map("patchStrategicMerge")
            if value is not None:
                field = ("spec", "rules", n, "mutate", "patchStrategicMerge")
                yield PatchEntry(page, value.at, field, 5, value=value)
            text = holder.get("patchesJson6902")
            if isinstance(text, Text) and not text.null:
                field = ("spec", "rules", n, "mutate", "patchesJson6902")
                yield PatchEntry(page, text.at, field, 5, inline=text, is_json6902=True)


def _join(directory: str, path: str) -> str:
    return inside_of(directory, path) if path else ""


def _texts(value: Value) -> Iterator[str]:
    for scalar in scalars(value):
        text = scalar.text
        if len(text) < 256 and "\n" not in text:
            yield text
            if "=" in text:  # files: [name=path]
                yield text.partition("=")[2]


REMOTE = ("://", "git@", "?ref=", "?version=", "github.com/", "github.com:", "git::", "gh:")
PLACEHOLDERS = ("$", "{{", "{%", "<", "%")
DOMAINS = ("com", "org", "net", "io", "dev", "de", "eu", "cloud", "local", "internal", "corp")


def folder_of(path: str) -> str:
    """Return the folder of a file; that of `REV:FILE` is `REV:`."""
    revision, colon, rest = path.partition(":")
    return revision + colon + dirname(rest) if colon else dirname(path)


def inside_of(folder: str, entry: str) -> str:
    """Return the path that an entry of a kustomization in a folder stands for."""
    revision, colon, rest = folder.partition(":")
    if not colon:
        return normpath(join(folder, entry))
    path = normpath(join(rest, entry))
    return revision + colon + ("" if path == "." else path)


def is_remote(entry: str) -> bool:
    """Return whether an entry stands for something on another machine.

    kustomize takes URLs, `git@HOST:PATH`, `HOST/ORG/REPO` and all that names a revision.
    """
    if any(mark in entry for mark in REMOTE) or ".git/" in entry or entry.endswith(".git"):
        return True
    host, slash, _ = entry.partition("/")
    user, at, _ = host.partition("@")
    domain = host.rpartition(".")[2].partition(":")[0]
    is_host = "." in host.lstrip(".") and domain in DOMAINS
    return bool(slash) and (is_host or bool(user and at and ":" in host))


def has_placeholder(entry: str) -> bool:
    """Return whether something writes another text into an entry before kustomize reads it."""
    marked = any(mark in entry for mark in PLACEHOLDERS)
    return marked or entry.count("@") > 1 or entry.count("__") > 1
