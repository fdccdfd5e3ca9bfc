"""Read both versions of the files that `kmerge diff` compares, from git's trees or from folders.

`git diff --raw` finds the files that differ, so ranges, merge bases and path patterns mean the
same as for git. Only files that differ are read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from kmerge_git.compare.folder_changes import FILE, LINK, SUBMODULE, FileVersion, is_manifest
from kmerge_git.errors import GitFailed, UsageError
from kmerge_git.git import revision_paths
from kmerge_git.git.run_git import ask_here, git_bytes, try_git
from kmerge_git.git.tracked_files import Blobs, top_of_tree

Files = dict[str, FileVersion]
EXECUTABLE = 0o100755
NOTHING = frozenset("0")  # the id of a file that is not in the object database
OTHERWISE = ", or give two files or two folders"
WHOLE_PATHS = ("-c", "diff.relative=false", "diff")
RAW = (
    *WHOLE_PATHS,
    "--raw",
    "-z",
    "--no-renames",
    "--no-abbrev",
    "--no-color",
    "--no-ext-diff",
)


@dataclass(frozen=True, slots=True)
class TwoSides:
    """Hold both versions of each file that differs, and the paths of the files in conflict."""

    old: Files
    new: Files
    unmerged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DiffWords:
    """Hold the parsed command line: revisions, paths, or two files or folders to compare."""

    revisions: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    things: tuple[str, ...] = ()


def understood(words: Sequence[str], behind: Sequence[str] | None) -> DiffWords:
    """Sort the words into revisions and paths as git does; `behind` holds the words after `--`.

    If there is no `--`, `behind` is None. Then two paths are compared with each other, and a lone
    `REV:PATH` is compared with the file at PATH on the disk.
    """
    if behind is not None:
        wrong = next((word for word in words if not is_revision(word)), "")
        if wrong:
            ask_here("--git-dir", OTHERWISE)
            raise UsageError(f"{wrong} is not a revision", hint="put paths after the `--`")
        return DiffWords(tuple(words), tuple(behind))
    revisions: list[str] = []
    rest = list(words)
    while rest and len(revisions) < 2 and is_revision(rest[0]):
        if os.path.lexists(rest[0]):
            hint = f"use `{rest[0]} --` for the revision, or `-- {rest[0]}` for the path"
            raise UsageError(f"{rest[0]} is both a revision and a path", hint=hint)
        revisions.append(rest.pop(0))
    if not revisions and len(rest) == 2 and all(map(is_thing, rest)):
        return DiffWords(things=tuple(rest))
    if not revisions and len(rest) == 1 and _of_git(rest[0]):
        return DiffWords(things=(rest[0], _on_disk(revision_paths.parts(rest[0])[1])))
    for word in rest:
        if not os.path.lexists(word):
            ask_here("--git-dir", OTHERWISE)
            hint = "put `--` before a path that does not exist; see `git log` for revisions"
            error = UsageError(f"{word} is neither a revision nor a path", hint=hint)
            raise revision_paths.why_missing(word) or error
    return DiffWords(tuple(revisions), tuple(rest))


def is_revision(word: str) -> bool:
    """Return whether git reads a word as a commit or as a range of commits."""
    if word.startswith("-") or "\0" in word or (":" in word and ":/" not in word):
        return False
    try:
        return bool(try_git("rev-parse", "-q", "--revs-only", word).strip())
    except UsageError:  # no git
        return False


def is_thing(word: str) -> bool:
    """Return whether a word names a file or folder on the disk or in git."""
    return word == "-" or os.path.lexists(word) or _of_git(word)


def _of_git(word: str) -> bool:
    return (
        not os.path.lexists(word)
        and revision_paths.may_be(word)
        and _kind(word) in ("blob", "tree")
    )


def _kind(name: str) -> str:
    try:
        return try_git("cat-file", "-t", name).decode().strip()
    except UsageError:
        return ""


def _on_disk(path: str) -> str:
    """Return a path that git gave, relative to the current folder."""
    if path.startswith(("./", "../")):
        return path
    return os.path.join(os.fsdecode(git_bytes("rev-parse", "--show-cdup").rstrip(b"\n")), path)


# -- versions from git --------------------------------------------------------------------------


def of_git(asked: DiffWords, *, staged: bool) -> TwoSides:
    """Return the two sides of a diff of revisions; by default the last commit is the old side."""
    revisions = list(asked.revisions)
    if staged:
        if len(revisions) > 1 or any(".." in word for word in revisions):
            hint = "give one revision, or none"
            raise UsageError("--staged compares the index with one commit", hint=hint)
        revisions.insert(0, "--cached")
    if not asked.revisions:
        revisions.append(_last_commit())
    try:
        out = git_bytes(*RAW, *revisions, "--", *asked.paths)
    except GitFailed as error:
        if not _are_commits(asked.revisions):
            ask_here("--show-toplevel", ", or give two commits")
        raise UsageError(_said(error), hint="see `git log` for revisions") from None
    unmerged = () if _are_commits(asked.revisions) else _unmerged(asked.paths)
    return _read(out, unmerged)


def _are_commits(revisions: Sequence[str]) -> bool:
    """Return whether both sides are commits; then conflicts in the index do not matter."""
    return bool(revisions) and len(try_git("rev-parse", "--revs-only", *revisions).split()) > 1


def _unmerged(paths: Sequence[str]) -> tuple[str, ...]:
    try:
        if not git_bytes("ls-files", "-u", "-z", "--", ":/"):
            return ()
        names = git_bytes(*WHOLE_PATHS, "--name-only", "-z", "--diff-filter=U", "--", *paths)
    except GitFailed as error:
        raise UsageError(_said(error), hint="give two commits") from None
    return tuple(os.fsdecode(names).split("\0")[:-1])


def _last_commit() -> str:
    if try_git("rev-parse", "-q", "--verify", "HEAD"):
        return "HEAD"
    ask_here("--git-dir", OTHERWISE)
    return git_bytes("hash-object", "-t", "tree", os.devnull).decode().strip()  # no commit yet


def _said(error: GitFailed) -> str:
    line = (error.stderr.strip().splitlines() or ["git failed without a message"])[0]
    return line.removeprefix("fatal: ").removeprefix("error: ")


def _read(raw: bytes, unmerged: tuple[str, ...]) -> TwoSides:
    """Read the files that `git diff --raw` names."""
    blobs, top = Blobs("."), top_of_tree() or ""
    sides: tuple[Files, Files] = ({}, {})
    words = os.fsdecode(raw).split("\0")
    for about, path in zip(words[:-1:2], words[1::2], strict=True):
        old_mode, new_mode, old, new, _ = about.removeprefix(":").split(" ")
        for side, octal, oid in zip(sides, (old_mode, new_mode), (old, new), strict=True):
            mode = int(octal, 8)
            if mode and path not in unmerged:
                side[path] = _version(blobs, path, mode, oid, top)
    for path in sides[0].keys() & sides[1].keys():
        version = sides[1][path]
        if sides[0][path] != version:
            continue
        if version.mode == SUBMODULE:  # git's mark for uncommitted changes in the submodule
            sides[1][path] = FileVersion(version.data + b"-dirty", SUBMODULE)
        else:  # the file on the disk differs only in its line ends
            del sides[0][path], sides[1][path]
    return TwoSides(*sides, unmerged)


def _version(blobs: Blobs, path: str, mode: int, oid: str, top: str = "") -> FileVersion:
    if mode == SUBMODULE:
        where = os.path.join(top, path)
        return FileVersion(_checked_out(where) if NOTHING.issuperset(oid) else oid.encode(), mode)
    if NOTHING.issuperset(oid):
        full = os.path.join(top, path)
        if os.path.exists(full) and not os.path.isfile(full):  # reading a pipe could wait forever
            raise UsageError(
                "not a regular file", path=path, hint="only regular files can be compared"
            )
        return _cleaned(path, read_file(full, mode))
    data = blobs.read(oid)
    if data is None:
        raise UsageError(f"git has no object {oid}", path=path, hint="run `git fsck`")
    return FileVersion(data, mode)


def _checked_out(submodule: str) -> bytes:
    """Return the commit that a submodule has checked out."""
    from kmerge_git.git.run_git import ask_git, environment  # few repositories need it

    env = environment(any_repository=True)
    return ask_git("-C", submodule, "rev-parse", "-q", "--verify", "HEAD", env=env).line.encode()


def _cleaned(path: str, version: FileVersion) -> FileVersion:
    """Return a file of the working tree as git would stage it, with git's line ends."""
    if version.mode == LINK or not (b"\r\n" in version.data or b"$Id" in version.data):
        return version
    from kmerge_git.git.repository import Repository  # import late: few files need the module

    return FileVersion(Repository.open().from_worktree(path, version.data), version.mode)


# -- files and folders --------------------------------------------------------------------------


def of_things(old: str, new: str, read: dict[str, bytes]) -> TwoSides:
    """Return the two sides of a diff of files or folders; `read` holds files already read."""
    if not read:
        return TwoSides(_folder(old), _folder(new))
    for word in (old, new):
        if word not in read:
            hint = "give two files or two folders"
            raise UsageError("this is a folder, but the other path is a file", path=word, hint=hint)
    names = [revision_paths.parts(word)[1] if _of_git(word) else word for word in (new, old)]
    name = next(filter(is_manifest, names), names[0])
    if read[old] == read[new]:
        return TwoSides({}, {})
    return TwoSides({name: FileVersion(read[old])}, {name: FileVersion(read[new])})


def is_folder(word: str) -> bool:
    """Return whether a word names a folder on the disk or in git."""
    if os.path.lexists(word) or word == "-":
        return os.path.isdir(word)
    return _kind(word) == "tree"


def _folder(word: str) -> Files:
    return _below(word) if os.path.isdir(word) else _tree(word)


def _tree(name: str) -> Files:
    """Return the files of a git tree, with paths relative to the tree."""
    oid = git_bytes("rev-parse", "-q", "--verify", name).decode().strip()
    out = os.fsdecode(git_bytes("ls-tree", "-r", "-z", "--full-tree", oid))
    blobs, files = Blobs("."), {}
    for line in out.split("\0")[:-1]:
        about, _, path = line.partition("\t")
        mode, _, oid = about.split(" ")
        files[path] = _version(blobs, path, int(mode, 8), oid)
    return files


def _below(root: str) -> Files:
    """Return the files below a folder, except `.git`; do not follow links."""
    files: Files = {}
    for where, folders, names in os.walk(root):
        links = [name for name in folders if os.path.islink(os.path.join(where, name))]
        folders[:] = sorted(name for name in folders if name != ".git" and name not in links)
        for name in sorted((*names, *links)):
            full = os.path.join(where, name)
            path = os.path.relpath(full, root).replace(os.sep, "/")
            if os.path.islink(full) or os.path.isfile(full):
                files[path] = read_file(full)
    return files


def read_file(path: str, mode: int = 0) -> FileVersion:
    """Return a file on the disk; for a symbolic link, return its target as the content."""
    try:
        if os.path.islink(path):
            return FileVersion(os.fsencode(os.readlink(path)), LINK)
        with open(path, "rb") as file:
            executable = os.fstat(file.fileno()).st_mode & 0o100
            return FileVersion(file.read(), mode or (EXECUTABLE if executable else FILE))
    except OSError as error:
        hint = "check its path and permissions"
        raise UsageError(
            f"kmerge cannot read this path: {error.strerror}", path=path, hint=hint
        ) from None
