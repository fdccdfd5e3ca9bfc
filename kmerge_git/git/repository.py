"""Read repositories and merge lines with pygit2, which only this module imports.

Every function returns plain values. A refusal of libgit2 becomes an error that names the cause and
the remedy. Reading never writes, not even a loose object: the new objects of a merge lie in a
scratch folder (`git.scratch_merges`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import chain
from subprocess import TimeoutExpired

import pygit2
from pygit2 import enums
from pygit2.enums import MergeFavor, MergeFileFlag
from pygit2.ffi import C, ffi

from kmerge_git.bounds import AUTHOR_CHARACTERS, BLAME_LINES, BLAME_SECONDS
from kmerge_git.errors import KmergeError, Unsupported, UsageError
from kmerge_git.git.index_stages import Stages
from kmerge_git.git.merge_sides import Change, TreeEntry
from kmerge_git.git.run_git import ask_git, ask_here, environment
from kmerge_git.outcome import Options
from kmerge_git.text.opaque_files import is_binary
from kmerge_git.visible import label, shortened

# libgit2 keeps up to 256 MiB of parsed trees by default; a replay of a long history needs no more
# than the few that it is looking at.
_CACHE_BYTES = 256 << 10
_MAPPED_BYTES = 64 << 20  # bytes of pack files mapped at a time; the default is 8 GiB
_KEPT = 4  # comparisons of two trees
_RENAME_SOURCES = 400  # git's merge.renameLimit is 7000; each pair costs a comparison


@contextmanager
def _explaining(path: str = "") -> Iterator[None]:
    try:
        yield
    except (pygit2.GitError, ValueError, OSError) as error:
        raise explained(str(error), path) from error


class Repository:
    """Read a repository through libgit2; the index is only read."""

    def __init__(self, opened: Callable[[], pygit2.Repository]) -> None:
        self._opened = opened
        self._inner = inner = opened()
        self.worktree: str | None = inner.workdir
        self.git_dir: str = inner.path
        self.is_shallow = bool(inner.is_shallow)  # the history is cut off
        self._compared: dict[tuple[str | None, str, bool], tuple[Change, ...]] = {}

    @classmethod
    def open(cls, path: str = "") -> Repository:
        """Open the repository around a path: a bare one, a linked worktree, or a submodule.

        Without a path, open the repository that git would use: the one in `GIT_DIR`, or the one
        around the current folder.
        """
        for name in ("GIT_DIR", "GIT_WORK_TREE"):  # for libgit2, and for git in another folder
            if os.environ.get(name):
                os.environ[name] = os.path.abspath(os.environ[name])
        path = path or os.environ.get("GIT_DIR") or "."
        pygit2.settings.cache_max_size(_CACHE_BYTES)
        pygit2.settings.mwindow_size = _MAPPED_BYTES // 8
        pygit2.settings.mwindow_mapped_limit = _MAPPED_BYTES
        with _explaining():
            return cls(partial(pygit2.Repository, path, enums.RepositoryOpenFlag.FROM_ENV))

    @classmethod
    def at(cls, git_dir: str) -> Repository:
        """Open the repository of a git directory, whatever the environment says."""
        with _explaining():
            return cls(partial(pygit2.Repository, git_dir))

    def reopen(self) -> None:
        """Close all files, so that a process that is forked next shares none with this one."""
        self._inner.free()
        with _explaining():
            self._inner = self._opened()

    # -- commits ---------------------------------------------------------------------------------

    def commit(self, rev: str) -> Commit:
        """Return the commit that a revision names."""
        try:
            return _commit(self._inner.revparse_single(rev).peel(pygit2.Commit))
        except (KeyError, ValueError, pygit2.GitError) as error:
            if rev == "HEAD" and self._inner.head_is_unborn:
                raise UsageError("there is no commit here yet") from error
            hint = "`git fetch --unshallow`, this clone is shallow" if self.is_shallow else ""
            hint = hint or "see `git log` and `git branch -a`"
            raise UsageError(f"{rev!r} is not a commit here", hint=hint) from error

    def named(self, oid: str) -> Commit:
        """Return the commit with an id that the repository itself gave, such as a parent's id."""
        try:
            return _commit(self._inner[pygit2.Oid(hex=oid)].peel(pygit2.Commit))
        except KeyError as error:
            raise self.missing(oid) from error

    def merge_base(self, ours: str, theirs: str) -> str | None:
        """Return the first merge base, or None if the histories are unrelated."""
        with self._reading():
            base = self._inner.merge_base(pygit2.Oid(hex=ours), pygit2.Oid(hex=theirs))
        return str(base) if base else None

    def is_criss_cross(self, base: str, ours: str, theirs: str) -> bool:
        """Return whether the two commits have other merge bases besides `base`."""
        # Ours has the same commits beyond theirs as beyond the base, unless theirs reaches some
        # of these commits without passing the base.
        a, b, m = (pygit2.Oid(hex=oid) for oid in (ours, theirs, base))
        with self._reading():
            return bool(self._inner.ahead_behind(a, b)[0] != self._inner.ahead_behind(a, m)[0])

    def commits(self, spec: str, more: Iterable[str] = ()) -> Iterator[Commit]:
        """Yield the commits of `REV` or `A..B`, newest first, and those that more ids reach."""
        last, left_out = ends_of(spec)
        start = pygit2.Oid(hex=self.commit(last).oid)
        walker = self._inner.walk(start, enums.SortMode.TOPOLOGICAL | enums.SortMode.TIME)
        for oid in more:
            walker.push(pygit2.Oid(hex=oid))
        if left_out:
            walker.hide(pygit2.Oid(hex=self.commit(left_out).oid))
        with self._reading():
            yield from map(_commit, walker)

    def stashes(self) -> tuple[str, ...]:
        """Return the ids of the stashed commits, newest first."""
        with _explaining():
            return tuple(str(stash.commit_id) for stash in self._inner.listall_stashes())

    def patch_id(self, commit: Commit) -> str:
        """Return an id of a commit's change that survives a rebase, or '' for an empty change."""
        old = self.commit(commit.parents[0]).tree if commit.parents else None
        with self._reading():
            diff = self._diff(old, commit.tree)
            deltas = [patch.delta for patch in diff if patch is not None]
        # libgit2's id leaves out the contents of binary files
        files = [f"{d.old_file.id}{d.new_file.id}" for d in deltas if d.is_binary]
        return " ".join([str(diff.patchid), *files]) if deltas else ""

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
            diff = self._diff(old, new)
            deltas = list(diff.deltas)
            if renames and {"A", "D"} <= {delta.status_char() for delta in deltas}:
                diff.find_similar(rename_limit=_RENAME_SOURCES)
                deltas = list(diff.deltas)
        return tuple(_change(delta) for delta in deltas)

    def _diff(self, old: str | None, new: str) -> pygit2.Diff:
        tree = self._tree(new)
        return tree.diff_to_tree(swap=True) if old is None else self._tree(old).diff_to_tree(tree)

    def entry(self, tree: str, path: str) -> TreeEntry | None:
        """Return the entry of the file at a path of a tree, or None if there is no file."""
        try:
            with self._reading():
                node = self._tree(tree)[path]
        except KeyError:
            return None
        return None if node.type_str == "tree" else TreeEntry(str(node.id), int(node.filemode))

    def text(self, entry: TreeEntry | None) -> bytes | None:
        """Return the bytes of the file of an entry, or None if the entry is None."""
        return self.blob(entry.oid) if entry else None

    def blob(self, oid: str) -> bytes:
        """Return the bytes of a blob."""
        try:
            return bytes(self._inner.read(pygit2.Oid(hex=oid))[1])
        except (KeyError, pygit2.GitError) as error:
            raise self.missing(oid) from error

    def _tree(self, oid: str) -> pygit2.Tree:
        try:
            return self._inner[pygit2.Oid(hex=oid)].peel(pygit2.Tree)
        except KeyError as error:
            raise self.missing(oid) from error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn errors of libgit2 into kmerge errors that name the cause and the remedy."""
        try:
            yield
        except (pygit2.GitError, KeyError, ValueError, OSError) as error:
            if oid := str(error).partition("no match for id (")[2].partition(")")[0]:
                raise self.missing(oid) from error
            if isinstance(error, KeyError):
                raise
            raise explained(str(error)) from error

    def missing(self, oid: str) -> MissingObject:
        """Return the error for a missing object: the cause, and the way to get the object."""
        settings = [entry.name for entry in self._inner.config]
        why = "is missing"
        hint = (
            "`git fetch --refetch` brings it if the remote has it, `git fsck` lists what is missing"
        )
        if any(name.endswith((".promisor", ".partialclonefilter")) for name in settings):
            why = "was never fetched: this is a partial clone"
            hint = "`git fetch --refetch --no-filter` completes it"
        elif self.is_shallow:
            why = "is not here: this is a shallow clone"
            hint = "`git fetch --unshallow` completes it"
        return MissingObject(f"object {oid[:10]} {why}", hint=hint)

    def with_files(self, tree: str, files: Mapping[str, TreeEntry | None]) -> str:
        """Write a copy of a tree with some files replaced, and return the id of the copy.

        A file whose entry is None is removed.
        """
        named = {os.fsencode(path): entry for path, entry in files.items()}
        return self._write_tree(self._grown(self.blob(tree), _nested(named)))

    def _write_tree(self, data: bytes) -> str:
        return str(self._inner.write(enums.ObjectType.TREE, data))

    def _grown(self, data: bytes, new: Below) -> bytes:
        """Return the bytes of a tree with the new files, or b'' if no file is left."""
        nodes = dict(_nodes(data))
        for name, below in new.items():
            old = nodes.pop(name, None)
            if isinstance(below, dict):
                inner = self.blob(old[1].hex()) if old and old[0] == FOLDER else b""
                inner = self._grown(inner, below)
                nodes |= {name: (FOLDER, bytes.fromhex(self._write_tree(inner)))} if inner else {}
            elif below:
                nodes[name] = below
        # git sorts a folder as if its name ended with a slash
        rows = sorted(nodes.items(), key=lambda item: item[0] + b"/" * (item[1][0] == FOLDER))
        return b"".join(b"%o %s\0%s" % (mode, name, oid) for name, (mode, oid) in rows)

    # -- the index and the working tree ----------------------------------------------------------

    def conflicts(self) -> tuple[Stages, ...]:
        """Return the conflicted files of the index."""
        if self.worktree is None:
            ask_here("--show-toplevel")
        with _explaining():
            self._inner.index.read()
            conflicts = list(self._inner.index.conflicts or ())
        return tuple(map(_stages, conflicts))

    def staged(self, path: str) -> TreeEntry | None:
        """Return the index entry of a file, or None if the file is absent or in conflict."""
        with _explaining():
            try:
                return _entry(self._inner.index[path])
            except KeyError:
                return None

    def store(self, data: bytes) -> str:
        """Write a blob and return its id."""
        return str(self._inner.create_blob(data))

    def to_worktree(self, path: str, data: bytes) -> bytes:
        """Convert bytes as git does on checkout, by the rules for line ends and `ident`."""
        return self._filtered(path, data, enums.FilterMode.TO_WORKTREE)

    def from_worktree(self, path: str, data: bytes) -> bytes:
        """Convert bytes as git does on staging, by the rules for line ends and `ident`."""
        return self._filtered(path, data, enums.FilterMode.TO_ODB)

    def _filtered(self, path: str, data: bytes, mode: enums.FilterMode) -> bytes:
        if b"\0" in data:  # pygit2 cuts its result at the first NUL
            return data
        with _explaining(path):
            # a path is bytes to libgit2, whatever the annotation says
            filters = self._inner.load_filter_list(os.fsencode(path), mode)  # type: ignore[arg-type]
            return bytes(filters.apply_to_buffer(data)) if filters else data

    def attribute(self, path: str, name: str) -> str | None:
        """Return an attribute of a path in git's words, or None if no value is specified."""
        with _explaining(path):
            value = self._inner.get_attr(os.fsencode(path), name)
        return value if value is None or isinstance(value, str) else ("set" if value else "unset")

    def settings(self) -> list[tuple[str, str]]:
        """Return git's settings, weakest first; a name may occur more than once."""
        with _explaining():
            return [(str(entry.name), str(entry.value)) for entry in self._inner.config]


def _commit(inner: pygit2.Commit) -> Commit:
    subject = (inner.message.splitlines() or [""])[0]
    parents = tuple(map(str, inner.parent_ids))
    about = subject, inner.message, inner.commit_time, inner.author.raw_email
    return Commit(str(inner.id), str(inner.tree_id), parents, *about)


def _change(delta: pygit2.DiffDelta) -> Change:
    status, old, new = delta.status_char(), delta.old_file, delta.new_file
    before, after = None if status == "A" else _entry(old), None if status == "D" else _entry(new)
    return Change(old.path, new.path, before, after)


def _stages(three: tuple[pygit2.IndexEntry | None, ...]) -> Stages:
    path = next(str(entry.path) for entry in three if entry)
    return Stages(path, *(_entry(entry) if entry else None for entry in three))


def _entry(found: pygit2.IndexEntry | pygit2.DiffFile) -> TreeEntry:
    return TreeEntry(str(found.id), int(found.mode))


def commits_here(
    repository: Repository, spec: str, more: Iterable[str] = ()
) -> tuple[Iterable[Commit], str]:
    """Return the commits of a range (and of more ids) that exist here, newest first, and a hint.

    The hint tells how to get the commits that are missing, and is '' if no commit is missing.
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
        raise UsageError(f"{spec!r}: a range is A..B", hint="two dots")
    return (right if dots else left) or "HEAD", (left or "HEAD") if dots else ""


_SHORT = 10  # digits of a commit
# objects that a partial clone lacks are not fetched behind the user's back
_OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0"}


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
        answer = ask_git(*asked, cwd=directory, env=environment() | _OFFLINE, seconds=BLAME_SECONDS)
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


# (part of libgit2's message, its meaning, the remedy)
_REFUSALS = (
    (
        "object format",
        "the repository names its objects by sha256, which libgit2 cannot read",
        "the merge driver works there all the same: `kmerge install`",
    ),
    (
        "refstorage",
        "the repository keeps its references in a reftable, which libgit2 cannot read",
        "`git refs migrate --ref-format=files` converts it",
    ),
    (
        "'link'",
        "the index is split, which libgit2 cannot read",
        "`git update-index --no-split-index` joins it",
    ),
    (
        "'sdir'",
        "the index is sparse, which libgit2 cannot read",
        "`git sparse-checkout reapply --no-sparse-index` expands it",
    ),
    (
        "extension",
        "the repository uses an extension that libgit2 does not know",
        "the merge driver works there all the same: `kmerge install`",
    ),
    (
        "not owned",
        "the repository belongs to another user",
        "`git config --global --add safe.directory PATH` trusts it",
    ),
    ("repository not found", "this is not a git repository", "run kmerge inside one"),
)


def explained(message: str, path: str = "") -> KmergeError:
    """Return the error for a message of libgit2, with a plain cause and the remedy."""
    for needle, why, hint in _REFUSALS:
        if needle in message.lower():
            known = needle != "extension"
            return Unsupported(why if known else f"{why} ({message})", path=path, hint=hint)
    return Unsupported(f"libgit2 cannot read this repository: {message}", path=path)


class MissingObject(Unsupported):
    """Report an object that the repository lacks; `hint` is the way to get the object."""


Node = tuple[int, bytes]  # mode and id
Below = dict[bytes, "Below | Node | None"]
FOLDER = 0o40000
_ID = 20  # bytes: libgit2 opens no repository with longer ids


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


def _nodes(data: bytes) -> Iterator[tuple[bytes, Node]]:
    at = 0
    while at < len(data):
        space, end = data.index(b" ", at), data.index(b"\0", at)
        mode = int(data[at:space], 8)
        at = end + 1 + _ID
        yield data[space + 1 : end], (mode, data[end + 1 : at])


_PLAIN = Options()
_STYLES = {
    "merge": MergeFileFlag.STYLE_MERGE,
    "diff3": MergeFileFlag.STYLE_DIFF3,
    "zdiff3": MergeFileFlag.STYLE_DIFF3 | MergeFileFlag.STYLE_ZDIFF3,
}


class Memory(pygit2.OdbBackend):
    """Store git objects in memory, for as long as this store exists."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, tuple[int, bytes]] = {}

    def read_cb(self, oid: pygit2.Oid) -> tuple[int, bytes]:
        return self.objects[str(oid)]

    def read_prefix_cb(self, oid: pygit2.Oid) -> tuple[int, bytes, pygit2.Oid]:
        return (*self.objects[str(oid)], oid)

    def read_header_cb(self, oid: pygit2.Oid) -> tuple[int, int]:
        kind, data = self.objects[str(oid)]
        return kind, len(data)

    def exists_cb(self, oid: pygit2.Oid) -> bool:
        return str(oid) in self.objects

    def exists_prefix_cb(self, oid: pygit2.Oid) -> pygit2.Oid:
        _ = self.objects[str(oid)]  # a KeyError says that the object is missing
        return oid

    def write_cb(self, oid: pygit2.Oid, data: bytes, kind: int) -> None:
        self.objects[str(oid)] = (kind, bytes(data))

    def refresh_cb(self) -> None:
        """Do nothing, because no other process can change objects in memory."""


class Libgit2LineMerge:
    """Run the line merge of libgit2 over blobs in memory, without a process."""

    def __init__(self) -> None:
        self._memory = Memory()
        odb = pygit2.Odb()
        odb.add_backend(self._memory, 1)
        self._inner = pygit2.Repository()
        self._inner.set_odb(odb)

    def __call__(self, base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bool]:
        """Return the merged text and whether the text is free of conflicts.

        Return ours and False if libgit2 cannot merge.
        """
        text, count = self.merge_file(base, ours, theirs, Options())
        return (text, count == 0) if count >= 0 else (ours, False)

    def merge_file(
        self, base: bytes, ours: bytes, theirs: bytes, options: Options
    ) -> tuple[bytes, int]:
        """Return the text and the number of conflicts, as `git merge-file` does.

        The number is -1 if libgit2 cannot merge.
        """
        flags = MergeFileFlag.SIMPLIFY_ALNUM | _STYLES[options.style]
        favor = {"ours": MergeFavor.OURS, "theirs": MergeFavor.THEIRS}.get(options.favor)
        return self._merge((base, ours, theirs), favor or MergeFavor.NORMAL, flags, options)

    def readings(
        self, base: bytes, ours: bytes, theirs: bytes, *, patience: bool = False
    ) -> tuple[bytes, bytes]:
        """Return two merged texts: one takes ours in every conflict, the other takes theirs."""
        three, flags = (base, ours, theirs), MergeFileFlag.DEFAULT
        if patience:
            flags = MergeFileFlag.DIFF_PATIENCE
        to_ours, _ = self._merge(three, MergeFavor.OURS, flags)
        to_theirs, _ = self._merge(three, MergeFavor.THEIRS, flags)
        return to_ours, to_theirs

    def _merge(
        self,
        three: tuple[bytes, bytes, bytes],
        favor: MergeFavor,
        flags: MergeFileFlag,
        options: Options = _PLAIN,
    ) -> tuple[bytes, int]:
        if any(map(is_binary, three)):
            return b"", -1  # git takes no side of binary files either
        size = options.marker_size
        # these C strings must stay alive during the merge
        labels = [
            ffi.new("char[]", label(word).encode("utf-8", "surrogateescape"))
            for word in options.labels
        ]
        # version, ancestor_label, our_label, their_label, favor, flags, marker_size
        given = ffi.new("git_merge_file_options *", [1, *labels, int(favor), int(flags), size])
        result = ffi.new("git_merge_file_result *")
        entries = [self._put(data)._to_c() for data in three]
        code = C.git_merge_file_from_index(
            result, self._inner._repo, *(entry[0] for entry in entries), given
        )
        if code:
            return b"", -1
        try:
            text = bytes(ffi.buffer(result.ptr, result.len))
            is_clean = bool(result.automergeable)
        finally:
            C.git_merge_file_result_free(result)
            self._memory.objects.clear()
        if is_clean:
            return text, 0
        text = text if all(three) else _labelled(text, size, options.labels)
        return text, max(1, sum(line.startswith(b"<" * size + b" ") for line in text.split(b"\n")))

    def _put(self, data: bytes) -> pygit2.IndexEntry:
        oid = pygit2.hash(data)
        self._memory.objects[str(oid)] = (int(enums.ObjectType.BLOB), data)
        return pygit2.IndexEntry("file", oid, enums.FileMode.BLOB)


def _labelled(text: bytes, size: int, labels: tuple[str, str, str]) -> bytes:
    """Return the text with the labels that libgit2 leaves out if a version is empty."""
    marks = dict(zip((b"|" * size, b"<" * size, b">" * size), labels, strict=True))
    lines = []
    for line in text.split(b"\n"):
        bare = line.removesuffix(b"\r")
        word = label(marks.get(bare, "")).encode("utf-8", "surrogateescape")
        lines.append(bare + b" " + word + line[len(bare) :] if word else line)
    return b"\n".join(lines)
