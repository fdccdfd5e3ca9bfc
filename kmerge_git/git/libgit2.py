"""Read repositories and merge lines with pygit2, which only this module imports."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property

import pygit2
from pygit2 import enums
from pygit2.enums import MergeFavor, MergeFileFlag, MergeFlag

from kmerge_git.errors import Unsupported
from kmerge_git.git.merge_sides import Change, TreeEntry
from kmerge_git.git.objects import FOLDER, Absent, GitObjects, nodes

# libgit2 keeps up to 256 MiB of parsed trees by default; a replay of a long history needs no more
# than the few that it is looking at.
_CACHE_BYTES = 256 << 10
_MAPPED_BYTES = 64 << 20  # bytes of pack files mapped at a time; the default is 8 GiB
_RENAME_SOURCES = 400  # git's merge.renameLimit is 7000; each pair costs a comparison
_KINDS = {
    int(enums.ObjectType.BLOB): "blob",
    int(enums.ObjectType.TREE): "tree",
    int(enums.ObjectType.COMMIT): "commit",
    int(enums.ObjectType.TAG): "tag",
}
_ID = re.compile("[0-9a-f]{40}")
_NUMBERS = {kind: number for number, kind in _KINDS.items()}


class Libgit2Objects:
    """Read and write the objects of one repository by libgit2 (see `git.objects.Objects`)."""

    def __init__(self, path: str, *, alone: bool = False) -> None:
        pygit2.settings.cache_max_size(_CACHE_BYTES)
        pygit2.settings.mwindow_size = _MAPPED_BYTES // 8
        pygit2.settings.mwindow_mapped_limit = _MAPPED_BYTES
        none = enums.RepositoryOpenFlag(0)
        flags = none if alone else enums.RepositoryOpenFlag.FROM_ENV
        try:
            self._inner = inner = pygit2.Repository(path, flags)
        except (pygit2.GitError, ValueError, OSError) as error:
            raise _refusal(str(error)) from error
        self.worktree: str | None = inner.workdir
        self.git_dir: str = inner.path
        self.is_shallow = bool(inner.is_shallow)
        self._is_alone = alone

    def close(self) -> None:
        """Close all files."""
        self._inner.free()

    def find(self, name: str) -> tuple[str, str, bytes] | None:
        """Return id, kind and bytes of the object that an id or any name of git stands for."""
        try:
            # an object by its id is not parsed: git reads some commits that libgit2 refuses
            is_id = _ID.fullmatch(name)
            oid = pygit2.Oid(hex=name) if is_id else self._inner.revparse_single(name).id
            kind, data = self._inner.read(oid)
        except (KeyError, ValueError, pygit2.GitError):
            return None
        return str(oid), _KINDS[kind], bytes(data)

    def entry(self, tree: str, path: str) -> TreeEntry | None:
        """Return the entry of the file at a path of a tree, or None if there is no file."""
        with _reading():
            top = self._tree(tree)
        try:
            with _reading():
                node = top[path]
        except KeyError:
            return None
        return None if node.type_str == "tree" else TreeEntry(str(node.id), int(node.filemode))

    def walk(self, starts: Sequence[str], hidden: Sequence[str]) -> Iterator[str]:
        """Yield the ids of the commits that are reached from the starts only, newest first."""
        with _reading():
            order = enums.SortMode.TOPOLOGICAL | enums.SortMode.TIME
            walker = self._inner.walk(None, order)
            for oid in starts:
                walker.push(pygit2.Oid(hex=oid))
            for oid in hidden:
                walker.hide(pygit2.Oid(hex=oid))
            for commit in walker:
                yield str(commit.id)

    def merge_base(self, ours: str, theirs: str) -> str | None:
        """Return the first merge base, or None if the histories are unrelated."""
        with _reading():
            base = self._inner.merge_base(pygit2.Oid(hex=ours), pygit2.Oid(hex=theirs))
        return str(base) if base else None

    def has_other_bases(self, base: str, ours: str, theirs: str) -> bool:
        """Return whether the two commits have other merge bases besides `base`."""
        # Ours has the same commits beyond theirs as beyond the base, unless theirs reaches some
        # of these commits without passing the base.
        a, b, m = (pygit2.Oid(hex=oid) for oid in (ours, theirs, base))
        with _reading():
            return bool(self._inner.ahead_behind(a, b)[0] != self._inner.ahead_behind(a, m)[0])

    def changes(self, old: str | None, new: str, *, renames: bool) -> list[Change]:
        """Return the changes from one tree to another; `old` may be None for the empty tree."""
        with _reading():
            tree, before = self._tree(new), self._tree(old) if old else None
            if before:
                with suppress(KeyError, ValueError, pygit2.GitError):
                    found = self._edited_or_added(str(before.id), str(tree.id))
                    return sorted(found, key=lambda change: os.fsencode(change.new_path))
            diff = before.diff_to_tree(tree) if before else tree.diff_to_tree(swap=True)
            deltas = list(diff.deltas)
            if renames and {"A", "D"} <= {delta.status_char() for delta in deltas}:
                diff.find_similar(rename_limit=_RENAME_SOURCES)
                deltas = list(diff.deltas)
        return [_change(delta) for delta in deltas]

    def _edited_or_added(self, old: str, new: str) -> Iterator[Change]:
        """Yield the changed and the added files; raise `ValueError` if there are other changes.

        libgit2 would look into each folder, also into those that are the same in both trees.
        """
        todo = [(b"", old, new)]
        for top, *trees in todo:  # `todo` grows on the way
            before, after = (
                dict(nodes(self._inner.read(tree)[1], tree)) if tree else {} for tree in trees
            )
            for name in {name for name, _ in before.items() ^ after.items()}:
                path, a, b = top + name, before.get(name), after.get(name)
                if b is None or (a and a[0] >> 12 != b[0] >> 12):
                    raise ValueError("a file may be renamed")
                if b[0] == FOLDER:
                    todo.append((path + b"/", a[1].hex() if a else "", b[1].hex()))
                else:
                    entries = (each and TreeEntry(each[1].hex(), each[0]) for each in (a, b))
                    yield Change(os.fsdecode(path), os.fsdecode(path), *entries)

    def _tree(self, oid: str) -> pygit2.Tree:
        try:
            return self._inner[pygit2.Oid(hex=oid)].peel(pygit2.Tree)
        except KeyError as error:
            raise Absent(oid) from error

    def write(self, kind: str, data: bytes) -> str:
        """Write an object and return its id.

        libgit2 does not know `core.sharedRepository`, and git has the words for what is in the way.
        """
        if not self._is_shared:
            with suppress(pygit2.GitError):
                return str(self._inner.write(_NUMBERS[kind], data))
        return self._by_git.write(kind, data)

    @cached_property
    def _by_git(self) -> GitObjects:
        return GitObjects(self.git_dir, alone=self._is_alone)

    @cached_property
    def _is_shared(self) -> bool:
        """True if files in the repository get other permissions than the user's own files."""
        return "core.sharedrepository" in self._inner.config


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except (pygit2.GitError, KeyError, ValueError, OSError) as error:
        if found := re.search(r"object not found - .* \(([0-9a-f]{40})\)", str(error)):
            raise Absent(found[1]) from error
        if isinstance(error, KeyError):
            raise
        raise Unsupported(f"libgit2 cannot read this repository: {error}") from error


# (part of libgit2's message, what it means, the remedy): git would say the same
_REFUSALS = (
    (
        "not owned",
        "the repository belongs to another user",
        "run `git config --global --add safe.directory PATH` to trust it",
    ),
    ("repository not found", "this is not a git repository", "run kmerge inside a git repository"),
)


class Unopened(Exception):
    """Report a repository that libgit2 cannot read, and git perhaps can."""


def _refusal(message: str) -> Exception:
    for needle, why, hint in _REFUSALS:
        if needle in message.lower():
            return Unsupported(why, hint=hint)
    return Unopened(message)


def _change(delta: pygit2.DiffDelta) -> Change:
    status, old, new = delta.status_char(), delta.old_file, delta.new_file
    before, after = None if status == "A" else _entry(old), None if status == "D" else _entry(new)
    return Change(old.path, new.path, before, after)


def _entry(found: pygit2.DiffFile) -> TreeEntry:
    return TreeEntry(str(found.id), int(found.mode))


class InMemoryLines:
    """Merge lines over blobs in memory, without a process."""

    def __init__(self) -> None:
        self._memory = _Memory()
        odb = pygit2.Odb()
        odb.add_backend(self._memory, 1)
        self._inner = pygit2.Repository()
        self._inner.set_odb(odb)

    def merged(
        self, three: tuple[bytes, bytes, bytes], favor: str = "", *, patience: bool = False
    ) -> bytes | None:
        """Return the merged text, in which `favor` wins every conflict, or None for a conflict."""
        base, ours, theirs = map(self._tree, three)
        side = {"ours": MergeFavor.OURS, "theirs": MergeFavor.THEIRS}.get(favor, MergeFavor.NORMAL)
        flags = MergeFileFlag.DIFF_PATIENCE if patience else MergeFileFlag.DEFAULT
        try:
            index = self._inner.merge_trees(base, ours, theirs, side, MergeFlag(0), flags)
            if index.conflicts is not None:
                return None
            return self._memory.objects[str(index[_NAME].id)][1]
        finally:
            self._memory.objects.clear()

    def _tree(self, data: bytes) -> pygit2.Oid:
        """Put a tree with one file into memory, and return its id."""
        blob = self._inner.write(enums.ObjectType.BLOB, data)
        return self._inner.write(
            enums.ObjectType.TREE, b"100644 %s\0%s" % (_NAME.encode(), blob.raw)
        )


_NAME = "file"


class _Memory(pygit2.OdbBackend):
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
