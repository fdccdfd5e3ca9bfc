"""Read repositories: commits, trees, files, the index and the settings.

Objects are read and written through one port (`git.objects`), by libgit2 or by git; the index, the
stashes and the settings are asked of git. Every function returns plain values. Reading never
writes, not even a loose object: the new objects of a merge lie in a scratch folder
(`git.scratch_merges`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha1
from heapq import heapify, heappop, heappush
from itertools import chain
from pathlib import Path
from subprocess import TimeoutExpired

from kmerge_git.bounds import AUTHOR_CHARACTERS, BLAME_LINES, BLAME_SECONDS
from kmerge_git.errors import KmergeError, Unsupported, UsageError
from kmerge_git.git.index_stages import Stages, read_stages
from kmerge_git.git.merge_sides import Change, TreeEntry
from kmerge_git.git.objects import (
    FOLDER,
    LOST,
    Absent,
    GitObjects,
    Node,
    Objects,
    nodes,
    own_environment,
    place_of,
)
from kmerge_git.git.run_git import OFFLINE, GitAnswer, ask_git, ask_here, environment
from kmerge_git.git.spawned_git import config_pairs
from kmerge_git.git.working_files import WorkingFiles
from kmerge_git.visible import label, shortened

_KEPT = 4  # comparisons of two trees


class Repository:
    """Read a repository; the index is only read."""

    def __init__(self, opened: Callable[[], Objects], *, alone: bool = False) -> None:
        self._opened = opened
        self._objects = objects = opened()
        self._env = own_environment(alone=alone)
        self.worktree = objects.worktree
        self.git_dir = objects.git_dir
        self.is_shallow = objects.is_shallow  # the history is cut off
        self._compared: dict[tuple[str | None, str, bool], tuple[Change, ...]] = {}
        self._words = place_of(self.git_dir, self.worktree)
        self._cwd = self.worktree or self.git_dir
        self._files = WorkingFiles(self._words, self._cwd, self._env, self.settings)
        self._index = ""  # what `git ls-files --stage -z` prints

    @classmethod
    def open(cls, path: str = "") -> Repository:
        """Open the repository around a path: a bare one, a linked worktree, or a submodule.

        Without a path, open the repository that git would use: the one in `GIT_DIR`, or the one
        around the current folder.
        """
        for name in ("GIT_DIR", "GIT_WORK_TREE"):  # for libgit2, and for git in another folder
            if os.environ.get(name):
                os.environ[name] = os.path.abspath(os.environ[name])
        place = path or os.environ.get("GIT_DIR") or "."
        repository = cls(partial(_objects, place))
        if repository.worktree is None and not os.environ.get("GIT_DIR"):
            ask_here("--git-dir", cwd=Path(place))  # safe.bareRepository may forbid it to git
        return repository

    @classmethod
    def at(cls, git_dir: str) -> Repository:
        """Open the repository of a git directory, whatever the environment says."""
        return cls(partial(_objects, git_dir, alone=True), alone=True)

    def reopen(self) -> None:
        """Close all files, so that a process that is forked next shares none with this one."""
        self._objects.close()
        self._files.close()
        self._objects = self._opened()

    def ask(self, *words: str, stdin: str = "") -> GitAnswer:
        """Run git in this repository, without fetching anything."""
        return ask_git(*self._words, *words, cwd=self._cwd, stdin=stdin, env=self._env)

    def noted(self, name: str) -> str:
        """Return the id that git notes as AUTO_MERGE, REBASE_HEAD ..: in a file or a reftable."""
        if Path(self.git_dir, "reftable").is_dir():
            return self.ask("rev-parse", "--verify", "-q", name).line
        with suppress(OSError):
            return Path(self.git_dir, name).read_text(errors="replace").partition("\n")[0].strip()
        return ""

    # -- commits ---------------------------------------------------------------------------------

    def commit(self, rev: str) -> Commit:
        """Return the commit that a revision names."""
        found = self._objects.find(f"{rev}^{{commit}}") if rev else None
        if found:
            return _commit(found[0], found[2], self._cut_off)
        if rev == "HEAD" and self.ask("symbolic-ref", "-q", "HEAD").out:
            raise UsageError("this repository has no commit yet")
        hint = "this clone is shallow: run `git fetch --unshallow`" if self.is_shallow else ""
        hint = hint or "see `git log` and `git branch -a`"
        raise UsageError(f"{rev!r} is not a commit of this repository", hint=hint)

    def named(self, oid: str) -> Commit:
        """Return the commit with an id that the repository itself gave, such as a parent's id."""
        return _commit(oid, self._read(oid), self._cut_off)

    @cached_property
    def _cut_off(self) -> frozenset[str]:
        """The commits of a shallow clone whose parents are not here."""
        if not self.is_shallow:
            return frozenset()
        path = self.ask("rev-parse", "--path-format=absolute", "--git-path", "shallow").line
        with suppress(OSError):
            return frozenset(Path(path).read_text().split())
        return frozenset()

    def _read(self, oid: str) -> bytes:
        found = self._objects.find(oid)
        if found is None:
            raise self.missing(oid)
        return found[2]

    def merge_base(self, ours: str, theirs: str) -> str | None:
        """Return the first merge base, or None if the histories are unrelated."""
        with self._reading():
            return self._objects.merge_base(ours, theirs)

    def is_criss_cross(self, base: str, ours: str, theirs: str) -> bool:
        """Return whether the two commits have other merge bases besides `base`."""
        with self._reading():
            return self._objects.has_other_bases(base, ours, theirs)

    def commits(self, spec: str, more: Iterable[str] = ()) -> Iterator[Commit]:
        """Yield the commits of `REV` or `A..B`, newest first, and those that more ids reach."""
        last, left_out = ends_of(spec)
        starts = [self.commit(last).oid, *more]
        hidden = [self.commit(left_out).oid] if left_out else []
        with self._reading():
            yield from map(self.named, self._objects.walk(starts, hidden))

    def stashes(self) -> tuple[str, ...]:
        """Return the ids of the stashed commits, newest first."""
        listed = self.ask("rev-list", "--walk-reflogs", "refs/stash", "--")
        return tuple(listed.out.split()) if not listed.code else ()

    def patch_ids(self, commits: Iterable[Commit]) -> dict[str, str]:
        """Return, by commit, an id of its change that survives a rebase; '' for no change."""
        wanted = {commit.oid: "" for commit in commits}
        flags = ("--root", "-r", "-p", "--binary", "--full-index", "--no-textconv", "--no-ext-diff")
        answer = self.ask("diff-tree", "--stdin", *flags, stdin="".join(f"{o}\n" for o in wanted))
        with self._reading():
            patches = _checked(answer)
        at, digest = "", sha1(usedforsecurity=False)
        for line in patches.split(b"\n"):
            if (oid := os.fsdecode(line)) in wanted:
                at, digest = oid, sha1(usedforsecurity=False)
            elif line and not line.startswith((b"@@ ", b"index ")):  # these change in a rebase
                digest.update(b"".join(line.split()))
                wanted[at] = digest.hexdigest()
        return wanted

    # -- trees and blobs -------------------------------------------------------------------------

    def changes(self, old: str | None, new: str, *, renames: bool = True) -> tuple[Change, ...]:
        """Return the changes from one tree to another; `old` may be None for the empty tree.

        The last few answers are kept: one revision is merged into many branches.
        """
        asked = old, new, renames
        if asked not in self._compared:
            if len(self._compared) >= _KEPT:
                del self._compared[next(iter(self._compared))]
            self._compared[asked] = self._changes(old, new, renames=renames)
        self._compared[asked] = self._compared.pop(asked)  # used last
        return self._compared[asked]

    def _changes(self, old: str | None, new: str, *, renames: bool) -> tuple[Change, ...]:
        with self._reading():
            return tuple(self._objects.changes(old, new, renames=renames))

    def entry(self, tree: str, path: str) -> TreeEntry | None:
        """Return the entry of the file at a path of a tree, or None if there is no file."""
        with self._reading():
            return self._objects.entry(tree, path)

    def text(self, entry: TreeEntry | None) -> bytes | None:
        """Return the bytes of the file of an entry, or None if the entry is None."""
        return self.blob(entry.oid) if entry else None

    def blob(self, oid: str) -> bytes:
        """Return the bytes of a blob."""
        return self._read(oid)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn an object that is missing into the error that names the cause and the remedy."""
        try:
            yield
        except Absent as error:
            raise self.missing(error.oid) from error

    def missing(self, oid: str) -> MissingObject:
        """Return the error for a missing object: the cause, and the way to get the object."""
        names = [name for name, _ in self.settings()]
        why = "is missing"
        hint = "run `git fetch --refetch` to get it; `git fsck` lists all missing objects"
        if any(name.endswith((".promisor", ".partialclonefilter")) for name in names):
            why = "was never fetched: this is a partial clone"
            hint = "run `git fetch --refetch --no-filter` to get all objects"
        elif self.is_shallow:
            why = "is missing: this is a shallow clone"
            hint = "run `git fetch --unshallow`"
        return MissingObject(f"object {oid[:10]} {why}", hint=hint)

    def with_files(self, tree: str, files: Mapping[str, TreeEntry | None]) -> str:
        """Write a copy of a tree with some files replaced, and return the id of the copy.

        A file whose entry is None is removed.
        """
        named = {os.fsencode(path): entry for path, entry in files.items()}
        return self._objects.write("tree", self._grown(self.blob(tree), _nested(named), tree))

    def _grown(self, data: bytes, new: Below, oid: str) -> bytes:
        """Return the bytes of a tree with the new files, or b'' if no file is left."""
        found = dict(nodes(data, oid))
        for name, below in new.items():
            old = found.pop(name, None)
            if isinstance(below, dict):
                inner = self.blob(old[1].hex()) if old and old[0] == FOLDER else b""
                inner = self._grown(inner, below, oid)
                if inner:
                    found[name] = FOLDER, bytes.fromhex(self._objects.write("tree", inner))
            elif below:
                found[name] = below
        # git sorts a folder as if its name ended with a slash
        rows = sorted(found.items(), key=lambda item: item[0] + b"/" * (item[1][0] == FOLDER))
        return b"".join(b"%o %s\0%s" % (mode, name, each) for name, (mode, each) in rows)

    # -- the index and the working tree ----------------------------------------------------------

    def conflicts(self) -> tuple[Stages, ...]:
        """Read the index again, and return its conflicted files."""
        if self.worktree is None:
            ask_here("--show-toplevel")
        self._index = self.ask("ls-files", "--stage", "-z").checked().out
        lines = self._index.split("\0")[:-1]
        found = read_stages(line for line in lines if line.partition("\t")[0][-1] != "0")
        self.expect(stages.path for stages in found)
        return found

    def staged(self, path: str) -> TreeEntry | None:
        """Return the index entry of a file, or None if the file is absent or in conflict.

        The index is the one that `conflicts` has read.
        """
        self._index = self._index or self.ask("ls-files", "--stage", "-z").checked().out
        before, found, _ = f"\0{self._index}".partition(f" 0\t{path}\0")
        mode, oid = before.rpartition("\0")[2].split(" ") if found else ("", "")
        return TreeEntry(oid, int(mode, 8)) if found else None

    def store(self, data: bytes, kind: str = "blob") -> str:
        """Write an object and return its id."""
        return self._objects.write(kind, data)

    def to_worktree(self, path: str, data: bytes) -> bytes:
        """Convert bytes as git does on checkout, by the rules for line ends and `ident`."""
        return self._files.converted(path, data, to_worktree=True)

    def from_worktree(self, path: str, data: bytes) -> bytes:
        """Convert bytes as git does on staging, by the rules for line ends and `ident`."""
        return self._files.converted(path, data, to_worktree=False)

    def attribute(self, path: str, name: str) -> str | None:
        """Return an attribute of a path in git's words, or None if no value is specified."""
        return self._files.attribute(path, name)

    def expect(self, paths: Iterable[str]) -> None:
        """Note paths whose attributes will be read: git is asked for all of them at once."""
        self._files.expect(paths)

    def settings(self) -> list[tuple[str, str]]:
        """Return git's settings, weakest first; a name may occur more than once."""
        return config_pairs(self.ask("config", "--list", "-z").checked().data)


def _objects(path: str, *, alone: bool = False) -> Objects:
    """Open a repository by libgit2 or, where that is missing or refuses the repository, by git."""
    try:
        from kmerge_git.git.libgit2 import Libgit2Objects, Unopened
    except ImportError:  # there is no wheel for every machine
        return GitObjects(path, alone=alone)
    try:
        return Libgit2Objects(path, alone=alone)
    except Unopened:
        return GitObjects(path, alone=alone)


def _checked(answer: GitAnswer) -> bytes:
    """Return the output of git; raise `Absent` if git reports a missing object."""
    if answer.code and (lost := LOST.search(answer.err)):
        raise Absent(lost[1])
    return answer.checked().data


def _commit(oid: str, data: bytes, cut_off: frozenset[str]) -> Commit:
    header, _, text = data.partition(b"\n\n")
    lines = [line.partition(b" ") for line in header.split(b"\n")]
    first = {word: value for word, _, value in reversed(lines)}
    message = _decoded(text, os.fsdecode(first.get(b"encoding", b"")))
    subject = (message.splitlines() or [""])[0]
    parents = tuple(os.fsdecode(value) for word, _, value in lines if word == b"parent")
    parents = () if oid in cut_off else parents
    time = first.get(b"committer", b"").split(b" ")[-2:][0]  # behind it is the time zone
    author = first.get(b"author", b"").rpartition(b">")[0].rpartition(b"<")[2]
    tree = os.fsdecode(first.get(b"tree", b""))
    return Commit(oid, tree, parents, subject, message, _number(time), author)


def _decoded(text: bytes, encoding: str) -> str:
    try:
        return text.decode(encoding or "utf-8", "replace")
    except (LookupError, ValueError):  # a name of no encoding, or of one for other things
        return text.decode("utf-8", "replace")


def _number(word: bytes) -> int:
    """Return a time, or 0 for what is no number in a broken commit."""
    return int(word) if word.removeprefix(b"-").isdigit() else 0


def commits_here(
    repository: Repository, spec: str, more: Iterable[str] = ()
) -> tuple[Iterable[Commit], str]:
    """Return the commits of a range (and of more ids) that exist here, newest first, and a hint.

    The hint says how to get the commits that are missing, and is '' if no commit is missing.
    """
    walk = repository.commits(spec, more)
    try:
        first = next(walk, None)  # by now libgit2 has visited every commit
    except MissingObject as error:
        end, start = ends_of(spec)
        without = {commit.oid for commit in _reached(repository, [start] if start else [])}
        reached = _reached(repository, [end, *more])
        return [commit for commit in reached if commit.oid not in without], error.hint
    return chain([first] if first else [], walk), ""


def _reached(repository: Repository, revs: Iterable[str]) -> list[Commit]:
    """Return every commit that can be reached without passing a missing commit."""
    reached: list[Commit] = []
    starts = {commit.oid: commit for commit in map(repository.commit, revs)}
    seen = {*starts}
    heap = [(-start.time, start.oid, start) for start in starts.values()]
    heapify(heap)
    while heap:
        commit = heappop(heap)[-1]
        reached.append(commit)
        for oid in set(commit.parents) - seen:
            seen.add(oid)
            with suppress(MissingObject):
                parent = repository.named(oid)
                heappush(heap, (-parent.time, oid, parent))
    return reached


@dataclass(frozen=True, slots=True)
class Commit:
    """Hold a commit: its id, its tree, its parents, its message, its time and its author."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    subject: str  # the first line of the message
    message: str = ""
    time: int = 0  # seconds, by the clock of the committer
    author: bytes = b""  # a mail address


def ends_of(spec: str) -> tuple[str, str]:
    """Return the end and the start of a range `A..B`; for a single `REV` the start is ''."""
    left, dots, right = spec.partition("..")
    if right.startswith("."):
        raise UsageError(f"{spec!r} is not a range of the form A..B", hint="use two dots")
    return (right if dots else left) or "HEAD", (left or "HEAD") if dots else ""


_SHORT = 10  # digits of a commit


def last_change(
    directory: str, rev: str, path: str, first_line: int, last_line: int
) -> tuple[str, str, str] | None:
    """Return the newest commit that touched the given lines of a file at revision `rev`.

    The result is the short id, the author and the subject, without control characters. Return None
    if git fails or takes too long, because a name on a screen must never make a command fail.
    """
    if rev.startswith("-") or not 0 < first_line <= last_line:
        return None
    lines = f"{first_line},{min(last_line, first_line + BLAME_LINES - 1)}"
    # no program is run to show the file as text
    asked = ("blame", "--porcelain", "--no-textconv", "-L", lines, rev, "--", path)
    try:
        answer = ask_git(*asked, cwd=directory, env=environment() | OFFLINE, seconds=BLAME_SECONDS)
    except (KmergeError, OSError, ValueError, TimeoutExpired):
        return None
    return None if answer.code else _newest(answer.out)


def _newest(blamed: str) -> tuple[str, str, str] | None:
    """Return the newest commit in the output of `git blame`.

    The output describes a commit only where the commit occurs first.
    """
    commits: list[dict[str, str]] = []
    for line in blamed.split("\n"):
        if line.startswith("\t"):  # a line of the file itself
            continue
        word, _, rest = line.partition(" ")
        if len(word) in (40, 64) and rest[:1].isdigit():
            commits.append({"id": word})
        elif commits:
            commits[-1][word] = rest
    known = [c for c in commits if c.get("committer-time", "").isdigit()]
    if not known:
        return None
    newest = max(known, key=lambda commit: int(commit["committer-time"]))
    author, subject = (
        shortened(label(newest.get(word, "")), AUTHOR_CHARACTERS) for word in ("author", "summary")
    )
    return newest["id"][:_SHORT], author, subject


class MissingObject(Unsupported):
    """Report an object that the repository lacks; `hint` is the way to get the object."""


Below = dict[bytes, "Below | Node | None"]


def _nested(files: Mapping[bytes, TreeEntry | None]) -> Below:
    """Group the files by folder, beginning with removals, so that a folder can replace a file."""
    top: Below = {}
    for path, entry in sorted(files.items(), key=lambda item: item[1] is not None):
        *folders, name = path.split(b"/")
        at = top
        for folder in folders:
            below = at.get(folder)
            if not isinstance(below, dict):
                below = at[folder] = {}
            at = below
        if entry is not None:
            at[name] = entry.mode, bytes.fromhex(entry.oid)
        elif not at.get(name):
            at[name] = None
    return top
