"""Read kustomizations: what they gather and patch, and what they say about a file.

This module reads kustomization files, the built-in patch transformers, and the kinds that hold
patches inline (Flux, Argo CD, Kyverno). With the help of git, it finds out whether a file is a
patch, a resource or missing. A path in a kustomization is relative to the folder of the
kustomization. The folder may be in a revision (`REV:PATH`), and the path may be remote.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from posixpath import basename, dirname, join, normpath
from typing import NamedTuple

from kmerge_git.bounds import COMPARED_FILES
from kmerge_git.check.checked_texts import Book, Page, World, embedded
from kmerge_git.check.page_values import List, Map, Text, Value, roots_of, scalars
from kmerge_git.errors import CannotParse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
HIVE, HIVE_GROUP = "Hive", "hive.openshift.io/"
DOMAINS = ("com", "org", "net", "io", "dev", "de", "eu", "cloud", "local", "internal", "corp")


class PatchEntry(NamedTuple):
    """Hold one entry for a patch: a file (`path`), a text (`inline`) or a YAML value (`value`)."""

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
    patch_type: str = ""  # of a patch for kubectl in an object of Hive: strategic, json or merge

    @property
    def tools(self) -> str:
        """Return the tool that reads the patch: K is kubectl, Z is kustomize."""
        return "K" if self.patch_type else "Z"

    @property
    def is_of_policy(self) -> bool:
        """Return whether a patch belongs to a Kyverno policy.

        The rule of such a policy selects the objects that are patched.
        """
        return self.holder.endswith("Policy")


class Kustomization:
    """Hold a kustomization: a file, or the kustomize fields of another object."""

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
    elif is_hive_patch(root):
        return list(_hive(page, [((), root)], HIVE))
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
    elif api.startswith(HIVE_GROUP):
        patches = ((("spec", "patches", n), item) for n, item in spec.maps("patches"))
        entries = list(_hive(page, patches))
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


def is_hive_patch(root: Value) -> bool:
    """Return whether a document is an entry for the patches of a SyncSet, in a file of its own.

    A script wraps such files in a SyncSet. The document has the kind of the object that it patches.
    """
    is_named = bool(root.string("kind") and root.string("name")) and "metadata" not in root.fields
    return is_named and bool(root.string("patch")) and bool(root.string("patchType"))


def is_of_hive(root: Value) -> bool:
    """Return whether a document holds patches of Hive, and so is not a patch itself."""
    return root.string("apiVersion").startswith(HIVE_GROUP) or is_hive_patch(root)


def _hive(page: Page, items: Iterable[tuple[Path, Map]], holder: str = "") -> Iterator[PatchEntry]:
    for field, item in items:
        text = item.get("patch")
        if isinstance(text, Text) and text.text:
            kind = item.string("patchType") or "strategic"
            yield PatchEntry(
                page, item.at, (*field, "patch"), 5, inline=text, target=item,
                is_json6902=kind == "json", holder=holder, patch_type=kind,
            )  # fmt: skip


def _join(directory: str, path: str) -> str:
    return inside_of(directory, path) if path else ""


# -- what the kustomizations around a file say about it -------------------------------------------


class Evidence(NamedTuple):
    """Hold what the kustomizations around a file say about the file."""

    listed_by: Kustomization | None  # the kustomization that lists the file as a resource
    named_by: tuple[Kustomization | None, PatchEntry] | None  # the entry for the patch
    near: Kustomization | None  # the kustomization in or above the file's folder


class Kustomizations:
    """Hold the kustomizations among the checked files, and in the folders around these files."""

    def __init__(self, world: World, past: Past) -> None:
        self.world = world
        self.past = past
        self.files: set[str] = set()  # the checked files
        self.given: list[Kustomization] = []  # the kustomizations among the files
        self._seen: dict[Kustomization, None] = {}  # kustomizations in other folders
        self._folders: dict[str, Kustomization | None] = {}
        self._named_by_transformers: dict[Kustomization, dict[str, PatchEntry]] = {}
        self._read: set[str] = set()  # other files that may be read

    def expect(self, paths: Iterable[str]) -> None:
        """Read the kustomizations among the files before the files are checked."""
        self.files = {normpath(path) for path in paths}
        for path in sorted(self.files):
            if basename(path) in NAMES:
                known = in_folder(self.world, folder_of(path))
                if known is not None:
                    self._folders[folder_of(path)] = known
                    self.given.append(known)

    def late(self, path: str) -> int:
        """Return the rank of a file: first come resources, then patches, then kustomizations.

        In this order each file is read only once.
        """
        if basename(path) in NAMES:
            return 2
        return int("patch" in basename(path) or any(path in one.entries for one in self.given))

    def about(self, path: str) -> Evidence:
        """Return what the kustomizations say about a file."""
        wanted = normpath(path)
        nearest = near(self.world, wanted, self._folders)
        around = [*self.given, *nearest]
        self._seen |= dict.fromkeys(around)
        named_by = (
            (one, entry)
            for one in around
            if (entry := one.entries.get(wanted) or self._of_transformers(one).get(wanted))
        )
        listed_by = next((one for one in around if wanted in one.listed), None)
        return Evidence(listed_by, next(named_by, None), nearest[0] if nearest else None)

    def _of_transformers(self, one: Kustomization) -> dict[str, PatchEntry]:
        """Return the patch files that the transformers of a kustomization name."""
        if one not in self._named_by_transformers:
            texts = (item for item in one.root.items("transformers") if isinstance(item, Text))
            paths = (inside_of(one.directory, text.text) for text in texts)
            self._named_by_transformers[one] = {
                entry.path: entry
                for book in filter(None, map(self.world.book, paths))
                for root in book.objects()
                for entry in inside(book.page, root)
                if entry.path
            }
        return self._named_by_transformers[one]

    # -- builds ----------------------------------------------------------------------------------

    @cached_property
    def _deleted(self) -> set[str]:
        return {normpath(path) for path in self.past.concerned()} - self.files

    def touched(self) -> list[Kustomization]:
        """Return the kustomizations that include a checked or deleted file, also through others."""
        place = self.past.place
        touched: dict[str, Kustomization] = {one.path: one for one in self.given}
        wanted = {place(path) for path in self.files | self._deleted}
        folders = {folder_of(p) for p in wanted if basename(p) in NAMES}
        wanted |= {folder or "." for folder in folders}
        known = {one.path: one for one in self._seen}
        met = known.keys() | touched.keys()
        paths = dict.fromkeys(self.past.kustomizations()).keys() - met
        unread = {path: self.world.read(path) or b"" for path in sorted(paths)}
        while True:
            known |= self._promising(unread, wanted)
            more = {
                path: one
                for path, one in known.items()
                if path not in touched and not wanted.isdisjoint(map(place, one.mentioned))
            }
            if not more:
                return list(touched.values())
            touched |= more
            wanted |= {place(one.directory or ".") for one in more.values()}

    def _promising(self, unread: dict[str, bytes], wanted: set[str]) -> dict[str, Kustomization]:
        """Return those kustomizations of other folders whose text contains a wanted name."""
        words = {basename(path).encode("utf-8", "surrogateescape") for path in wanted}
        met: list[str] = []
        for path, data in unread.items():
            here = self.past.place(path)
            is_below = "." in wanted or any(here.startswith(f"{each}/") for each in wanted)
            if (is_below and b".." in data) or any(word in data for word in words):
                met.append(path)
        for path in met:
            del unread[path]
        found = {path: in_folder(self.world, folder_of(path)) for path in met}
        return {path: one for path, one in found.items() if one is not None}

    def is_apart(self, path: str) -> bool:
        """Return whether a file need not be parsed because it cannot matter to a checked file.

        If there are many files, only those that contain the name of a checked resource are parsed.
        """
        named = any(p in one.entries for one in self._seen for p in self.files)
        if self._deleted or path in self.files or self.given or named:
            return False
        if path in self._read or len(self._read) < COMPARED_FILES:
            self._read.add(path)
            return False
        data = self.world.read(path) or b""
        return not any(name in data for name in self._names)

    @cached_property
    def _names(self) -> set[bytes]:
        """Return the present and former names of the resources in the checked files."""
        names: set[str] = set()
        for path in self.files:
            names.update(one.name for one in self.world.resources(path) or ())
            for data in self.past.before(path) or ():
                words = (root.string("metadata", "name") for root in roots_of(data, path) or ())
                names.update(filter(None, words))
        return {name.encode("utf-8", "replace") for name in names}


# The fates of a missing file.
DELETED = "deleted"  # this commit or merge deleted or renamed the file
UNSTAGED = "unstaged"  # the file is in the working tree, but will not be committed
MADE = "made"  # git ignores the file, or a submodule has it: another tool makes it


class Fate(NamedTuple):
    """Hold why a file is missing, and its new name if it was renamed."""

    what: str
    now: str = ""


class Past(NamedTuple):
    """Give access to the last commit, or to the sides of a merge.

    Without git every answer is empty.
    """

    # the fates of missing files, as far as they are known
    fates: Callable[[list[str]], dict[str, Fate]] = lambda paths: {}
    # the versions of a file on each side; None if they are not known
    before: Callable[[str], list[bytes] | None] = lambda path: None
    # the files that the commit deletes
    concerned: Callable[[], Iterable[str]] = lambda: ()
    # the paths of all kustomizations, to find those that name such a file
    kustomizations: Callable[[], Iterable[str]] = lambda: ()
    # a path from the top of the repository: `../a/b` and `b` may be the same file
    place: Callable[[str], str] = lambda path: path


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
