"""Choose the files that `kmerge check` reads, and ask git for their versions.

The versions are those before the commit and on both sides of a merge. Git also knows whether a
missing file was deleted, renamed or generated. Git is called only if a check needs the answer.
"""

from __future__ import annotations

import os
from functools import cache, cached_property, partial
from itertools import accumulate, pairwise
from posixpath import normpath

from kmerge_git.bounds import CHANGED_FILES
from kmerge_git.check.checked_texts import World
from kmerge_git.check.kustomize.kustomization import DELETED, MADE, NAMES, UNSTAGED, Fate, Past
from kmerge_git.check.merges.git_versions import NOTHING, GitVersions, MergeVersions
from kmerge_git.check.page_values import documents, objects
from kmerge_git.check.registry import ERROR, INFO, WARNING
from kmerge_git.check.run import SUFFIXES
from kmerge_git.cli.check_repository import (
    Bounds,
    from_here,
    from_top_of,
    git_directory,
    is_beyond,
    may_be_merging,
    prefix_of,
    top_here,
    top_of,
)
from kmerge_git.errors import CannotParse, KmergeError, UsageError
from kmerge_git.git import revision_paths
from kmerge_git.git.hints import may_be_tracked
from kmerge_git.git.run_git import try_git
from kmerge_git.kube.identity import identity
from kmerge_git.merge.bulk import unread
from kmerge_git.merge.three import Three
from kmerge_git.text.opaque_files import is_chart_text
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kmerge_git.git.index_stages import Stages
    from kmerge_git.git.merge_sides import Entries, FileCase, MergeSides
    from kmerge_git.git.tracked_files import Blobs
    from kmerge_git.kube.identity import Identity
    from kmerge_git.tree.nodes import Node


SKIPPED = frozenset((".git", "node_modules", ".venv", "venv", ".tox", "vendor"))
SCRIPTS = ("*.sh", "*.bash", "*Makefile", "*.mk", "*justfile", "*Taskfile.y*ml", ".github/*.y*ml",
           ".gitlab-ci.yml")  # fmt: skip
# parts of names: each script has one of them in its name
OF_SCRIPTS = (b".sh", b".bash", b"akefile", b".mk", b"justfile", b"Taskfile", b".github/",
              b".gitlab-ci")  # fmt: skip


def expand(paths: list[str]) -> list[str]:
    """Return the named files, also missing ones, and the manifests below the named folders."""
    found: dict[str, None] = {}
    for path in paths or ["."]:
        if os.path.isdir(path):
            found.update(dict.fromkeys(_below(path)))
        else:
            found[path] = None
    for path in found:
        if os.path.exists(path) and not os.access(path, os.R_OK):
            raise UsageError("this file is not readable", path=path, hint="check its permissions")
    return list(found)


def named(paths: Iterable[str]) -> frozenset[str]:
    """Return the paths of a command line that do not name folders."""
    return frozenset(normpath(path) for path in paths if not os.path.isdir(path))


def disk_world(paths: list[str], target: str = "") -> tuple[World, VersionsOf, list[str]]:
    """Return a reader of the working tree, a finder of versions in git, and the files to check."""
    return (
        _on_disk([*paths, target] if target else paths),
        versions_on_disk(),
        expand(paths),
    )


def _on_disk(given: list[str]) -> World:
    """Return a reader of the working tree, which also reads `REV:PATH` from git."""
    bounds = Bounds(given, top_here)

    def read(path: str) -> bytes | None:
        data = bounds.read(path)
        is_of_git = data is None and revision_paths.may_be(path) and not os.path.lexists(path)
        return revision_paths.blob(path) if is_of_git else data

    def is_directory(path: str) -> bool:
        return bounds.is_directory(path) or revision_paths.is_folder(path)

    return World(read, is_directory, bounds.is_outside, bounds.is_special)


def was_deleted(path: str) -> bool:
    """Return whether HEAD or MERGE_HEAD has a file; pre-commit also names deleted files."""
    return any(
        try_git("rev-parse", "--verify", "-q", f"{revision}:./{path}")
        for revision in ("HEAD", "MERGE_HEAD")
    )


def _below(folder: str) -> Iterable[str]:
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in SKIPPED)
        for name in sorted(names):
            if is_manifest_name(name):
                yield os.path.normpath(os.path.join(where, name))


def require_target(path: str, world: World) -> None:
    """Raise an error unless the file of `--target` holds exactly one object."""
    hint = "use --target with a file that has only the object that the patches change"
    data = world.read(path)
    if data is None:
        raise UsageError("no such file", path=path, hint=hint)
    try:
        file = YamlText(data, path)
        if why := unread(file.source.text):
            raise UsageError(why, path=path, hint=hint)
        roots = [plain.root for plain in documents(file)]
    except CannotParse as error:
        raise UsageError(
            error.why, path=path, line=error.line, column=error.column, hint=hint
        ) from error
    found = [one for root in roots for one in objects(root)]
    if len(found) != 1:
        what = "no object with apiVersion and kind" if not found else f"{len(found)} objects"
        raise UsageError(f"the file has {what}", path=path, hint=hint)


def is_manifest_name(path: str) -> bool:
    """Return whether `kmerge check` reads a file of this name when given only a folder."""
    name = path.rpartition("/")[2]
    return name.endswith(SUFFIXES) or name in NAMES or is_chart_text(path)


def script_with() -> Callable[[str], str]:
    """Return a function that finds the script in which `kubectl patch` reads a given file."""
    found = cache(lambda: list(_patch_files()))

    def script_of(path: str) -> str:
        wanted = normpath(path)
        for script, word in found():
            if wanted == word or wanted.endswith("/" + word) or word.endswith("/" + wanted):
                return script
        return ""

    return script_of


def _patch_files() -> Iterable[tuple[str, str]]:
    """Find `kubectl patch --patch-file FILE` in tracked scripts; yield each script and its FILE."""
    folder = git_directory()
    if not folder or not may_be_tracked(folder, *OF_SCRIPTS):
        return
    out = try_git("grep", "-z", "-I", "-E", "-e", r"kubectl.*patch|--patch-file", "--", *SCRIPTS)
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
    """Return a reader of the index, a finder of versions in git, and the files to check."""
    from kmerge_git.git.tracked_files import Blobs, staged_paths, tracked

    top = top_of("--staged")
    from_top = [from_top_of(top, path) for path in paths]
    is_merging = may_be_merging(git_directory())
    blobs = Blobs(top)
    versions = Versions(top, blobs, is_merging=is_merging)
    if from_top:
        names = _staged_names(from_top, tracked(top))
    else:
        both = versions.sides.cases() if versions.sides else ()
        names = [p for p in staged_paths(top, both) if is_manifest_name(p)]
    world = world_of(top, blobs, ":0", lambda: tracked(top))
    return world, versions.of, [from_here(top, name) for name in names]


def world_of(top: str, blobs: Blobs, revision: str, names: Callable[[], list[str]]) -> World:
    """Return a reader of a revision's files, or of the index for `:0`; `names` lists all files."""

    @cache
    def tree() -> tuple[set[str], set[str]]:
        files = set(names())
        return files, {"", "."}.union(*map(_folders_above, files))

    def read(path: str) -> bytes | None:
        return None if is_beyond(path) else blobs.read(f"{revision}:{from_top_of(top, path)}")

    def is_directory(path: str) -> bool:
        return from_top_of(top, path) in tree()[1]

    def is_beyond(path: str) -> bool:
        return path.startswith("/") or f"{from_top_of(top, path)}/".startswith("../")

    def is_outside(path: str) -> bool:
        # a path below a file leads through a link
        return is_beyond(path) or not tree()[0].isdisjoint(_folders_above(from_top_of(top, path)))

    return World(read, is_directory, is_outside)


def _folders_above(name: str) -> Iterable[str]:
    return accumulate(name.split("/")[:-1], "{}/{}".format)


def _staged_names(from_top: list[str], known: Iterable[str]) -> list[str]:
    """Return the named files, also missing ones, and the staged manifests below named folders."""
    index = set(known)
    names: list[str] = []
    for name in from_top:
        below = "" if name == "." else name + "/"
        inside = [k for k in sorted(index) if k.startswith(below)]
        is_one = name in index or not inside
        names += [name] if is_one else filter(is_manifest_name, inside)
    return names


if TYPE_CHECKING:
    VersionsOf = Callable[[str], GitVersions]

# values of the attribute `merge` with which a file is merged by its content
MERGING = ("set", "text", "union", "kmerge")


def versions_on_disk() -> VersionsOf:
    """Return a function that asks git for the versions of a file in the working tree."""
    folder = git_directory()
    if not folder:
        return lambda path: NOTHING
    reader = cache(_reader)
    merging = cache(lambda: may_be_merging(folder))

    def head(path: str) -> bytes | None:
        return found.of(path).head if (found := reader()) else None

    def merge(path: str) -> MergeVersions | None:
        return found.of(path).merge if merging() and (found := reader()) else None

    return lambda path: GitVersions(lambda: head(path), lambda: merge(path))


def _reader() -> Versions | None:
    from kmerge_git.git.tracked_files import Blobs

    top = top_here()
    return Versions(top, Blobs(top)) if top else None


class Versions:
    """Find the versions of files in a merge: the merge in progress or a merge commit."""

    def __init__(
        self, top: str, blobs: Blobs, commit: MergeSides | None = None, *, is_merging: bool = True
    ) -> None:
        self._top = top
        self._blobs = blobs
        self._is_merging = is_merging  # or a merge may be in progress
        self._commit = commit  # None for the index and the merge in progress

    def of(self, path: str) -> GitVersions:
        """Return the versions of a file, whose path is relative to the current folder."""
        name = from_top_of(self._top, path)
        if is_beyond(name):
            return NOTHING
        head = self._commit.ours if self._commit else "HEAD"
        return GitVersions(lambda: self._blobs.read(f"{head}:{name}"), lambda: self._merge(name))

    # -- in a merge ------------------------------------------------------------------------------

    @cached_property
    def sides(self) -> MergeSides | None:
        """Return the commits that are being merged, or None outside of a merge."""
        if not self._is_merging:
            return None
        from kmerge_git.git.merge_sides import in_progress

        return self._commit or in_progress()

    def _merge(self, name: str) -> MergeVersions | None:
        if not self._is_merging:
            return None
        if self.sides is None:
            entries = self._applied(name)
            return MergeVersions(self._texts(entries), None, name=name) if entries else None
        case = self._cases.get(name)
        if case is None or not case.is_text:
            return None
        oids = (entry.oid if entry else "" for entry in case.entries)
        *texts, result = self._blobs.read_each(*oids, f"{self.sides.result or ':0'}:{name}")
        if self._is_link(name, result):
            return None
        return MergeVersions(
            Three(*texts),
            result,
            elsewhere=self._elsewhere,
            gained=lambda wanted: self.gained(wanted, name),
            gravest=lambda: self._gravest(name),
            name=name,
        )

    def _is_link(self, name: str, result: bytes | None) -> bool:
        """Return whether the merged file is a symbolic link."""
        if result is None or b"\n" in result:
            return False
        rev = self.sides.result if self.sides else ""
        words = ("ls-tree", "-z", rev) if rev else ("ls-files", "-sz")
        return try_git("--literal-pathspecs", "-C", self._top, *words, "--", name)[:6] == b"120000"

    def _texts(self, entries: Entries) -> Three[bytes | None]:
        return Three(*self._blobs.read_each(*(entry.oid if entry else "" for entry in entries)))

    def _applied(self, name: str) -> Entries | None:
        """If a file was in conflict in a cherry-pick or revert, return the versions of the file."""
        stages = self._resolved.get(name) if self._is_applying else None
        if stages is None or not (stages.ours and stages.theirs):
            return None
        head = self._blobs.read(f"HEAD:{name}")  # git may still list conflicts of an older merge
        return stages.entries if head == self._blobs.read(stages.ours.oid) else None

    @cached_property
    def _is_applying(self) -> bool:
        from kmerge_git.git.merge_sides import is_applying

        return is_applying()

    @cached_property
    def _resolved(self) -> dict[str, Stages]:
        """Return the conflicts of this merge that are resolved, by path."""
        from kmerge_git.git.index_stages import resolved_conflicts

        return {stages.path: stages for stages in resolved_conflicts(self._top)}

    def _gravest(self, name: str) -> str:
        """Return how severe a lost change of a file is at most, or '' if the file is not judged.

        Not judged are generated files, and files that git does not merge. A merge that is one of
        its sides is one finding for all of its files.
        """
        drivers, generated = self._attributes
        if drivers.get(name, "set") not in MERGING or generated.get(name) in ("set", "true"):
            return ""
        if self.sides is None or not self.sides.is_one_side:
            return ERROR
        return WARNING if self._is_single else INFO

    @cached_property
    def _cases(self) -> dict[str, FileCase]:
        return self.sides.files() if self.sides else {}

    @cached_property
    def _is_single(self) -> bool:
        return sum(map(is_manifest_name, self._cases)) == 1

    @cached_property
    def _attributes(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the values of the attributes `merge` and `kmerge-generated`, each by file."""
        from kmerge_git.git.tracked_files import values_of

        drivers, generated = (
            values_of(self._top, self._cases, about) for about in ("merge", "kmerge-generated")
        )
        return drivers, generated

    def _elsewhere(self, wanted: Identity) -> list[Node]:
        """Return the versions of a resource in the other files of the merge."""
        found = []
        for oid in self.sides.blobs() if self.sides else ():
            root = _resource(self._blobs.read(oid), wanted)
            found += [root] if root is not None else []
        return found

    def gained(self, wanted: Identity, without: str) -> Node | None:
        """Return a resource in another file that has it in the result and not in base."""
        if self.sides is None:
            return None
        for name, data in self._written.items():
            found = _resource(data, wanted) if name != without else None
            base = self._blobs.read(f"{self.sides.base}:{name}") if found is not None else None
            if found is not None and _resource(base, wanted) is None:
                return found
        return None

    @cached_property
    def _written(self) -> dict[str, bytes]:
        """Return the manifests of the result that differ from base; each is asked many times."""
        if self.sides is None:
            return {}
        at = self.sides.result or ":0"
        names = filter(is_manifest_name, self.sides.written())
        read = ((name, self._blobs.read(f"{at}:{name}")) for name in names)
        return {name: data for name, data in read if data is not None}


def _resource(data: bytes | None, wanted: Identity) -> Node | None:
    """Return the root of a resource in a file, or None."""
    if data is None or wanted.name.encode() not in data:
        return None
    try:
        roots = YamlText(data).roots
    except KmergeError:
        return None
    return next((root for root in roots if identity(root) == wanted), None)


HEADS = ("HEAD", "MERGE_HEAD")
PARENTS = ("HEAD^1", "HEAD^2")  # files that the last commit deleted are missing, too


class GitPast:
    """Ask git for the state before the working tree, before the index, or before a commit."""

    def __init__(self, *, staged: bool = False, sides: MergeSides | None = None) -> None:
        self._staged = staged
        self._is_merge = sides is not None
        self._result = sides.result if sides else ""
        self._heads = (sides.ours, sides.theirs) if sides else HEADS
        self._befores = self._heads if sides else (*HEADS, *PARENTS)
        self._top = cache(top_here)

    def past(self, *, of_all: bool) -> Past:
        """Return functions that ask git; `of_all` means that the run checks all files."""
        folder = git_directory()
        may_name_files = folder and (self._is_merge or may_be_tracked(folder, b"ustomization"))
        if of_all or not may_name_files:
            return Past(self.fates, self.before)
        top = self._top()
        if not top:
            return Past()
        is_below = prefix_of(top) != "."
        place = partial(from_top_of, top) if is_below else lambda path: path
        return Past(self.fates, self.before, self.concerned, self.kustomizations, place)

    def fates(self, paths: list[str]) -> dict[str, Fate]:
        """Return, for each missing file that git knows, why the file is missing."""
        top = self._top()
        names = {path: from_top_of(top, path) for path in paths} if top else {}
        known = (name for name in names.values() if "\0" not in name)  # no file name has a NUL
        inside = [name for name in known if not is_beyond(name)]
        found = self._known(top, inside) if inside else {}
        return {path: found[name] for path, name in names.items() if name in found}

    def _known(self, top: str, names: list[str]) -> dict[str, Fate]:
        """Return why each file is missing; `names` are paths from the top of the working tree."""
        from kmerge_git.git.tracked_files import made_elsewhere, moved, present, renamed

        found = {name: Fate(MADE) for name in made_elsewhere(top, names)}
        for before in self._befores:
            gone = present(top, before, names) - found.keys()
            now = renamed(top, before, self._result) if gone else {}
            for name in gone:
                new = moved(name, now)
                found[name] = Fate(DELETED, from_here(top, new) if new else "")
        for name in names if self._staged else ():
            if name not in found and os.path.lexists(os.path.join(top, name)):
                found[name] = Fate(UNSTAGED)
        return found

    def before(self, path: str) -> list[bytes] | None:
        """Return the versions of a file in earlier commits, or None outside of a repository."""
        top = self._top()
        if not top:
            return None
        name = from_top_of(top, path)
        found = (try_git("-C", top, "cat-file", "blob", f"{head}:{name}") for head in self._heads)
        return [data for data in found if data]

    def concerned(self) -> Iterable[str]:
        """Return the files that a merge's sides changed; outside of a merge, the deleted files."""
        from kmerge_git.git.tracked_files import changed

        top = self._top()
        if not top:
            return []
        befores = self._heads if self._is_merge else self._heads[:1]

        def names(kinds: str) -> list[str]:
            return [n for before in befores for n in changed(top, before, self._result, kinds)]

        found = names("ACDMT") if self._is_merge else []
        if not 0 < len(found) <= CHANGED_FILES:
            found = names("D")
        return [from_here(top, name) for name in dict.fromkeys(found)]

    def kustomizations(self) -> Iterable[str]:
        """Return all kustomizations that git tracks."""
        from kmerge_git.git.tracked_files import all_kustomizations

        top = self._top()
        return [from_here(top, n) for n in all_kustomizations(top, self._result)] if top else []


def past_of(files: list[str], *, staged: bool, sides: MergeSides | None = None) -> Past:
    """Return functions that ask git about deleted files and earlier versions."""
    of_all = not staged and sides is None and all(os.path.isdir(path) for path in files)
    return GitPast(staged=staged, sides=sides).past(of_all=of_all)
