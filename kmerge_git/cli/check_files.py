"""Which files `kmerge check` reads, and from where."""

from __future__ import annotations

import os
from functools import cache
from itertools import pairwise
from posixpath import normpath

from kmerge_git.check.history import GitVersions
from kmerge_git.check.kustomization import NAMES
from kmerge_git.check.objects import objects
from kmerge_git.check.plain import documents
from kmerge_git.check.run import SUFFIXES
from kmerge_git.check.world import World, disk
from kmerge_git.cli.files import is_file
from kmerge_git.errors import CannotParse, UsageError
from kmerge_git.git import revpaths
from kmerge_git.git.hints import may_be_configured
from kmerge_git.merge.three import Three
from kmerge_git.text.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kmerge_git.git.blobs import Blobs

    VersionsOf = Callable[[str, bytes], GitVersions | None]

SKIPPED = frozenset((".git", "node_modules", ".venv", "venv", ".tox", "vendor"))
SCRIPTS = ("*.sh", "*.bash", "*Makefile", "*.mk", "*justfile", "*Taskfile.y*ml", ".github/*.y*ml",
           ".gitlab-ci.yml")  # fmt: skip


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


def on_disk() -> World:
    """The files of the working tree, and `REV:PATH`: such a file finds its neighbours in there."""
    plain = disk()

    def read(path: str) -> bytes | None:
        data = plain.read(path)
        return revpaths.blob(path) if data is None and revpaths.may_be(path) else data

    return World(read, plain.is_directory)


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
        roots = [plain.root for plain in documents(Source(data, path))]
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
    return name.endswith(SUFFIXES) or name in NAMES


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
    """Script and file of every `kubectl patch .. --patch-file FILE` that is tracked."""
    if not _git_directory():
        return
    from kmerge_git.git.blobs import answer

    pattern = r"kubectl.*patch|--patch-file"
    out = answer("grep", "-z", "-I", "-E", "-e", pattern, "--", *SCRIPTS)
    for line in out.decode("utf-8", "replace").split("\n"):
        script, _, command = line.partition("\0")
        words = command.replace("=", " ").replace('"', " ").replace("'", " ").split()
        for option, word in pairwise(words):
            if option in ("--patch-file", "-p") and word.endswith(SUFFIXES):
                yield script, normpath(word.lstrip("@$(<"))


# -- git ---------------------------------------------------------------------------------------


def staged_world(paths: list[str]) -> tuple[World, VersionsOf, list[str]]:
    """The staged files: how to read them, their versions, and which ones to check."""
    from kmerge_git.git.blobs import blobs_of, staged_paths, top_of_tree, tracked

    top = top_of_tree()
    if top is None:
        raise UsageError(
            "--staged needs a git repository with a working tree",
            hint="go into one, or leave --staged out",
        )
    prefix = _prefix(top)
    from_top = [normpath(f"{prefix}/{p}") for p in paths]
    if from_top:
        names = _staged_names(paths, from_top, tracked(top))
    else:
        names = [p for p in staged_paths(top) if is_manifest_name(p)]
    blobs = blobs_of(top, len(names))

    def read(path: str) -> bytes | None:
        return blobs.read(f":0:{normpath(f'{prefix}/{path}')}")

    folders: set[str] = set()

    def is_directory(path: str) -> bool:
        if not folders:
            folders.add("")
            for name in tracked(top):
                parts = name.split("/")[:-1]
                folders.update("/".join(parts[: n + 1]) for n in range(len(parts)))
        return normpath(f"{prefix}/{path}") in folders

    shown = [os.path.relpath(name, prefix).replace(os.sep, "/") for name in names]
    return World(read, is_directory), _versions_in(top, blobs), shown


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


def versions_on_disk() -> VersionsOf:
    """The versions in git of files of the working tree; None outside of a repository."""
    merging = cache(_merge_is_unfinished)
    reader = cache(_reader)

    def of(path: str, data: bytes) -> GitVersions | None:
        if not merging() and not _may_be_sealed(data):
            return None  # neither check has anything to say: git need not be asked
        versions_of = reader()
        return versions_of(path, data) if versions_of else None

    return of


def _reader() -> VersionsOf | None:
    if not _git_directory():
        return None
    from kmerge_git.git.blobs import blobs_of, top_of_tree

    top = top_of_tree()
    return _versions_in(top, blobs_of(top)) if top is not None else None


def learn_definitions() -> list[str]:
    """Make the checks know the custom resources of `kmerge.crd`; says what is of no use."""
    git_directory = _git_directory()
    if not git_directory or not may_be_configured(git_directory, b"crd"):
        return []
    from kmerge_git.git.blobs import top_of_tree
    from kmerge_git.git.questions import GitQuestion, config_pairs
    from kmerge_git.kube.crdfiles import learn_files

    pairs = config_pairs(GitQuestion("config", "--null", "--get-regexp", r"^kmerge\.crd$").answer())
    top = top_of_tree() if pairs else None
    return learn_files(os.path.join(top, place) for _, place in pairs) if top is not None else []


def _merge_is_unfinished() -> bool:
    """Whether there is a MERGE_HEAD, in a linked working tree too."""
    found = _git_directory()
    if os.path.isfile(found):  # `gitdir: PATH`, relative to the file
        with open(found, encoding="utf-8", errors="surrogateescape") as file:
            pointer = file.read().partition("gitdir:")[2].strip()
        found = os.path.join(os.path.dirname(found), pointer)
    return bool(found) and os.path.exists(os.path.join(found, "MERGE_HEAD"))


def _git_directory() -> str:
    """`.git` around this folder, or the file in its place, or nothing; most calls need no git."""
    if os.environ.get("GIT_DIR"):
        return os.environ["GIT_DIR"]
    folder = os.getcwd()
    while True:
        path = os.path.join(folder, ".git")
        if os.path.exists(path):
            return path
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def _prefix(top: str) -> str:
    """This folder, as a path from the top of the working tree."""
    return os.path.relpath(os.getcwd(), top).replace(os.sep, "/")


def _may_be_sealed(data: bytes) -> bool:
    return b"sops" in data and b"mac" in data


def _versions_in(top: str, blobs: Blobs) -> VersionsOf:
    """Reads the versions that M11 and M12 compare, where one of them can say something."""
    from kmerge_git.git.blobs import answer, merge_heads

    prefix = _prefix(top)
    heads = cache(merge_heads)
    resolved = cache(lambda: _resolved(top))

    def of(path: str, data: bytes) -> GitVersions | None:
        theirs, base = heads()
        if not theirs and not _may_be_sealed(data):
            return None
        name = normpath(f"{prefix}/{path}")
        if name.startswith("../"):
            return None
        head = blobs.read(f"HEAD:{name}")
        if not theirs:
            return GitVersions(head)
        about = ("check-attr", "-z", "merge", "kmerge-generated", "--", name)
        words = answer("-C", top, *about).split(b"\0")
        at = Three(
            blobs.read(f"{base}:{name}") if base else None, head, blobs.read(f"{theirs}:{name}")
        )
        return GitVersions(
            head,
            blobs.read(f":0:{name}"),
            at.base,
            at.theirs,
            # or it is generated again
            words[2:3] == [b"kmerge"] and words[5:6] not in ([b"set"], [b"true"]),
            lambda side: _keeps(at, side, name),
            lambda: name in resolved(),
        )

    return of


def _resolved(top: str) -> set[str]:
    """The files of which somebody has decided since the merge: they were in conflict."""
    from kmerge_git.git.undo import resolved_conflicts

    return {stages.path for stages in resolved_conflicts(top)}


def _keeps(at: Three[bytes | None], side: str, path: str) -> bool:
    """Whether a side holds the other's changes, too, but for those that both made in one place."""
    from kmerge_git.pipeline import merge_files  # of few files anybody asks

    base, ours, theirs = (data or b"" for data in at.each())
    made = merge_files(base, ours, theirs, path=path, favor=side)
    return made.method == "kept" or made.text == (ours if side == "ours" else theirs)
