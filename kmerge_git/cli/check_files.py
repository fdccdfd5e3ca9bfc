"""Which files `kmerge check` reads, and from where."""

from __future__ import annotations

import os
from functools import cache
from itertools import pairwise
from posixpath import normpath

from kmerge_git.check.kustomize.kustomization import NAMES
from kmerge_git.check.objects import objects
from kmerge_git.check.plain import documents
from kmerge_git.check.run import SUFFIXES
from kmerge_git.check.world import World
from kmerge_git.cli.check_places import (
    from_here,
    from_top_of,
    git_directory,
    top_here,
    top_of,
)
from kmerge_git.cli.check_versions import Versions, may_be_merging, versions_on_disk
from kmerge_git.cli.files import is_file
from kmerge_git.errors import CannotParse, UsageError
from kmerge_git.git import revpaths
from kmerge_git.git.hints import may_be_tracked
from kmerge_git.merge.bulk import unread
from kmerge_git.text.charts import is_chart_text
from kmerge_git.text.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kmerge_git.cli.check_versions import VersionsOf
    from kmerge_git.git.blobs import Blobs

SKIPPED = frozenset((".git", "node_modules", ".venv", "venv", ".tox", "vendor"))
SCRIPTS = ("*.sh", "*.bash", "*Makefile", "*.mk", "*justfile", "*Taskfile.y*ml", ".github/*.y*ml",
           ".gitlab-ci.yml")  # fmt: skip
# what is in the name of each of them
OF_SCRIPTS = (b".sh", b".bash", b"akefile", b".mk", b"justfile", b"Taskfile", b".github/",
              b".gitlab-ci")  # fmt: skip


def expand(paths: list[str]) -> list[str]:
    """The files to check: those named, and the manifests below the folders that are named."""
    found: dict[str, None] = {}
    for path in paths or ["."]:
        if os.path.isdir(path):
            found.update(dict.fromkeys(_below(path)))
        elif os.path.exists(path) or _was_deleted(path) or is_file(path):
            found[path] = None
        else:
            raise UsageError("no such file or folder", path=path, hint="check its name")
    for path in found:
        if os.path.exists(path) and not os.access(path, os.R_OK):
            raise UsageError("cannot read it", path=path, hint="check its permissions")
    return list(found)


def named(paths: Iterable[str]) -> frozenset[str]:
    """The files among the paths of a command line: what is in a folder nobody has named."""
    return frozenset(normpath(path) for path in paths if not os.path.isdir(path))


def disk_world(paths: list[str], target: str = "") -> tuple[World, VersionsOf, list[str]]:
    """The files of the working tree: how to read them, their versions, and which ones to check."""
    return (
        _on_disk([*paths, target] if target else paths),
        versions_on_disk(),
        expand(paths),
    )


def _on_disk(given: list[str]) -> World:
    """The files of the working tree, and `REV:PATH`: such a file finds its neighbours in there."""
    from kmerge_git.cli.check_bounds import Bounds

    bounds = Bounds(given, top_here)

    def read(path: str) -> bytes | None:
        data = bounds.read(path)
        is_of_git = data is None and revpaths.may_be(path) and not os.path.lexists(path)
        return revpaths.blob(path) if is_of_git else data

    def is_directory(path: str) -> bool:
        return bounds.is_directory(path) or revpaths.is_folder(path)

    return World(read, is_directory, bounds.is_outside)


def _was_deleted(path: str) -> bool:
    """pre-commit passes the names of files that a merge has deleted."""
    from kmerge_git.git.blobs import answer

    return any(
        answer("rev-parse", "--verify", "-q", f"{revision}:./{path}")
        for revision in ("HEAD", "MERGE_HEAD")
    )


def _below(folder: str) -> Iterable[str]:
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in SKIPPED)
        for name in sorted(names):
            if is_manifest_name(name):
                yield os.path.normpath(os.path.join(where, name))


def require_target(path: str, world: World) -> None:
    """Refuse a `--target` that has no object, or more than one."""
    hint = "--target is a file with the one object that the patches change"
    data = world.read(path)
    if data is None:
        raise UsageError("no such file", path=path, hint=hint)
    try:
        source = Source(data, path)
        if why := unread(source.text):
            raise UsageError(why, path=path, hint=hint)
        roots = [plain.root for plain in documents(source)]
    except CannotParse as error:
        raise UsageError(
            error.why, path=path, line=error.line, column=error.column, hint=hint
        ) from error
    found = [one for root in roots for one in objects(root)]
    if len(found) != 1:
        what = "no object (apiVersion, kind)" if not found else f"{len(found)} objects"
        raise UsageError(f"it holds {what}", path=path, hint=hint)


def is_manifest_name(path: str) -> bool:
    """Whether a file is looked at when nobody names it."""
    name = path.rpartition("/")[2]
    return name.endswith(SUFFIXES) or name in NAMES or is_chart_text(path)


def script_with() -> Callable[[str], str]:
    """Finds the script of the repository that gives a file to `kubectl patch`."""
    found = cache(lambda: list(_patch_files()))

    def script_of(path: str) -> str:
        wanted = normpath(path)
        for script, word in found():
            if wanted == word or wanted.endswith("/" + word) or word.endswith("/" + wanted):
                return script
        return ""

    return script_of


def _patch_files() -> Iterable[tuple[str, str]]:
    """Script and file of every strategic `kubectl patch .. --patch-file FILE` that is tracked."""
    folder = git_directory()
    if not folder or not may_be_tracked(folder, *OF_SCRIPTS):
        return
    from kmerge_git.git.blobs import answer

    pattern = r"kubectl.*patch|--patch-file"
    out = answer("grep", "-z", "-I", "-E", "-e", pattern, "--", *SCRIPTS)
    for line in out.decode("utf-8", "replace").split("\n"):
        script, _, command = line.partition("\0")
        words = command.replace("=", " ").replace('"', " ").replace("'", " ").split()
        if ("--type", "merge") in pairwise(words) or ("--type", "json") in pairwise(words):
            continue
        for option, word in pairwise(words):
            if option in ("--patch-file", "-p") and word.endswith(SUFFIXES):
                yield script, normpath(word.lstrip("@$(<"))


# -- git ---------------------------------------------------------------------------------------


def staged_world(paths: list[str]) -> tuple[World, VersionsOf, list[str]]:
    """The staged files: how to read them, their versions, and which ones to check."""
    from kmerge_git.git.blobs import blobs_of, staged_paths, tracked

    top = top_of("--staged")
    from_top = [from_top_of(top, path) for path in paths]
    is_merging = may_be_merging(git_directory())
    sides = Versions(top, blobs_of(top), is_merging=is_merging).sides
    if from_top:
        names = _staged_names(paths, from_top, tracked(top))
    else:
        both = sides.cases() if sides else ()
        names = [p for p in staged_paths(top, both) if is_manifest_name(p)]
    blobs = blobs_of(top, len(names))
    world = world_of(top, blobs, ":0", lambda: tracked(top))
    versions = Versions(top, blobs, is_merging=is_merging)
    return world, versions.of, [from_here(top, name) for name in names]


def world_of(top: str, blobs: Blobs, revision: str, names: Callable[[], list[str]]) -> World:
    """The files of a revision, or of the index (`:0`); `names` are all of them."""

    files: set[str] = set()
    folders: set[str] = set()

    def learn() -> None:
        files.update(names())
        folders.update(("", "."))
        for name in files:
            folders.update(_folders_above(name))

    def read(path: str) -> bytes | None:
        return None if is_beyond(path) else blobs.read(f"{revision}:{from_top_of(top, path)}")

    def is_directory(path: str) -> bool:
        if not folders:
            learn()
        return from_top_of(top, path) in folders

    def is_beyond(path: str) -> bool:
        return path.startswith("/") or f"{from_top_of(top, path)}/".startswith("../")

    def is_outside(path: str) -> bool:
        if not folders:
            learn()
        # what seems to be in a file is behind a link
        return is_beyond(path) or not files.isdisjoint(_folders_above(from_top_of(top, path)))

    return World(read, is_directory, is_outside)


def _folders_above(name: str) -> Iterable[str]:
    parts = name.split("/")[:-1]
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def _staged_names(paths: list[str], from_top: list[str], known: Iterable[str]) -> list[str]:
    """The files that the index has at these paths, or below them."""
    index = set(known)
    names: list[str] = []
    for path, name in zip(paths, from_top, strict=True):
        below = "" if name == "." else name + "/"
        inside = [k for k in sorted(index) if k.startswith(below)]
        if name not in index and not inside:
            hint = "check its name, or `git add` it"
            raise UsageError("nothing of this name is staged", path=path, hint=hint)
        names += [name] if name in index else filter(is_manifest_name, inside)
    return names
