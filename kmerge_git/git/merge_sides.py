"""Find the sides of a merge in progress or of a merge commit, and the files that both touched.

This module calls git, so that a hook need not import libgit2. While the hook `pre-merge-commit`
runs, there is no MERGE_HEAD yet, so variables of `git merge` name the commits.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from kmerge_git.errors import UsageError
from kmerge_git.git.run_git import git_bytes, try_git

_GITHEAD = "GITHEAD_"
_SEE = "see `git log` and `git branch -a`"
# operations that apply one commit: git remembers the sides of the files that were in conflict
_PICKS = ("CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD")


class MergeSides:
    """Hold the commits of a merge; `result` is the merge commit, or '' for a merge in progress."""

    __slots__ = (
        "_cases", "_changes", "_is_one", "_undone", "_written",
        "base", "is_gits", "ours", "result", "theirs",
    )  # fmt: skip

    def __init__(
        self, base: str, ours: str, theirs: str, result: str = "", *, is_gits: bool = False
    ) -> None:
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.result = result
        self.is_gits = is_gits  # git commits it just now, and no person has seen it yet
        self._cases: dict[str, FileCase] | None = None
        self._changes: tuple[list[Change], list[Change]] | None = None
        self._is_one: bool | None = None
        self._undone: dict[str, FileCase] | None = None
        self._written: frozenset[str] | None = None

    def changes(self) -> tuple[list[Change], list[Change]]:
        """Return the file changes of ours and the file changes of theirs."""
        if self._changes is None:
            ours = _changes(self.base, self.ours)
            folder = _subtree(self.base, self.ours, ours)
            if folder:
                ours = _changes(self.base, f"{self.ours}:{folder}")
            self._changes = _below(folder, ours), _below(folder, _changes(self.base, self.theirs))
        return self._changes

    def cases(self) -> dict[str, FileCase]:
        """Return the files that both sides touched, by their paths in the result."""
        if self._cases is None:
            self._cases = {case.path: case for case in touched_by_both(*self.changes())}
        return self._cases

    def files(self) -> dict[str, FileCase]:
        """Return the files that both sides touched, or one side alone in vain."""
        return self.undone() | self.cases()

    def undone(self) -> dict[str, FileCase]:
        """Return the files that one side alone changed, and that are not so in the result."""
        if self._undone is None:
            ours, theirs = self.changes()
            cases = (*self._differing(ours, theirs), *self._differing(theirs, ours, is_ours=False))
            self._undone = {case.path: case for case in cases}
        return self._undone

    def _differing(
        self, own: list[Change], others: list[Change], *, is_ours: bool = True
    ) -> Iterator[FileCase]:
        """Yield the files that one side alone changed, and that differ in the result."""
        touched = {path for change in others for path in (change.old_path, change.new_path)}
        alone = [one for one in own if touched.isdisjoint((one.old_path, one.new_path))]
        side = self.ours if is_ours else self.theirs
        differing = self._changed_since(side) if alone else frozenset()
        for change in alone:
            if change.new_path in differing and change.new != change.old:
                old, new, path = change.old, change.new, change.new_path
                entries = (old, new, old) if is_ours else (old, old, new)
                note = f"renamed from {change.old_path}" if change.old_path != path else ""
                yield FileCase(path, "changed by one side", entries, note)

    def written(self) -> frozenset[str]:
        """Return the files that differ between base and the result."""
        if self._written is None:
            self._written = self._changed_since(self.base)
        return self._written

    def _changed_since(self, side: str) -> frozenset[str]:
        """Return the files that differ between a side, or base, and the result."""
        command = "diff-tree -r --no-commit-id" if self.result else "diff-index --cached"
        revisions = [side, self.result] if self.result else [side]
        out = git_bytes(*command.split(), "-z", "--name-only", *revisions)
        return frozenset(os.fsdecode(name) for name in out.split(b"\0") if name)

    def blobs(self) -> list[str]:
        """Return the old and the new blobs of all files that a side changed."""
        changes = [change for side in self.changes() for change in side]
        entries = [entry for change in changes for entry in (change.old, change.new)]
        return list(dict.fromkeys(e.oid for e in entries if e is not None and e.is_text))

    @property
    def is_one_side(self) -> bool:
        """Return whether git took one side as the whole result, as `git merge -s ours` does."""
        if self._is_one is None:
            self._is_one = self._takes_one_side()
        return self._is_one

    def _takes_one_side(self) -> bool:
        if not self.result:
            return self.is_gits and not git_bytes(
                "diff-index", "--cached", "--name-only", self.ours
            )
        names = (f"{rev}^{{tree}}" for rev in (self.result, self.ours, self.theirs))
        result, *sides = git_bytes("rev-parse", *names).split()
        return result in sides


def in_progress() -> MergeSides | None:
    """Return the sides of the merge in progress.

    Return None if there is no merge, or if the merge has more than two commits.
    """
    heads, ours = git_file("MERGE_HEAD").split(), _commit("HEAD")
    is_gits = not heads
    if is_gits:  # `git merge` names the commits to merge in environment variables
        named = (name.removeprefix(_GITHEAD) for name in os.environ if name.startswith(_GITHEAD))
        heads = [oid for oid in named if _commit(oid)]
    if len(heads) != 1 or not ours:
        return None
    base = _merge_base(ours, heads[0])
    if not base or base == heads[0]:
        return None  # HEAD has the commit already: the variables are those of a finished command
    return MergeSides(base, ours, heads[0], is_gits=is_gits)


def is_applying() -> bool:
    """Return whether git applies a commit: cherry-pick, revert, a rebase step or squash."""
    return any(map(_commit, _PICKS)) or bool(git_file("SQUASH_MSG"))


def of_commit(rev: str) -> MergeSides | str:
    """Return the sides of a merge commit, or the reason if there are no two sides to compare."""
    oid = _commit(rev)
    if not oid:
        raise UsageError(f"{rev!r} is not a commit of this repository", hint=_SEE)
    # not `git rev-list`, which hides the parents where a shallow history ends
    header = git_bytes("cat-file", "commit", oid).partition(b"\n\n")[0].decode("utf-8", "replace")
    parents = [line.split()[1] for line in header.split("\n") if line.startswith("parent ")]
    if len(parents) != 2:
        more = f"an octopus merge with {len(parents)} parents"
        return more if len(parents) > 2 else "not a merge commit"
    base = _merge_base(*parents) if all(map(_commit, parents)) else ""
    if not base:
        hint = "run `git fetch --unshallow`, or set `fetch-depth: 0` in CI"
        why = "the shallow history lacks the parents or the merge base of this merge"
        raise UsageError(why, path=rev, hint=hint)
    return MergeSides(base, parents[0], parents[1], oid)


def of_revisions(base: str, ours: str, theirs: str, result: str) -> MergeSides:
    """Return the sides of a merge without a merge commit: a squash, or a rebase as a whole."""
    oids = []
    for rev in (base, ours, theirs, result):
        oid = _commit(rev) or (_resolved(f"{rev}^{{tree}}") if rev == base else "")
        if not oid:
            raise UsageError(
                f"{rev!r} is not a commit of this repository",
                hint="see `git log` and `git branch -a`",
            )
        oids.append(oid)
    return MergeSides(*oids)


def trailers_of(commit: str, key: str) -> list[str]:
    """Return the values of the trailers with a key, in the message of a commit."""
    wanted = f"--format=%(trailers:key={key},valueonly,unfold)"
    text = try_git("show", "-s", "--no-show-signature", wanted, commit).decode("utf-8", "replace")
    return [line.strip() for line in text.split("\n") if line.strip()]


def _merge_base(ours: str, theirs: str) -> str:
    """Return the merge base, or the empty tree if the histories are unrelated.

    Return '' if a shallow clone cuts the histories off.
    """
    base = try_git("merge-base", ours, theirs).decode().strip()
    if base or try_git("rev-parse", "--is-shallow-repository").strip() == b"true":
        return base
    return git_bytes("hash-object", "-t", "tree", os.devnull).decode().strip()


def _commit(rev: str) -> str:
    return _resolved(f"{rev}^{{commit}}")


def _resolved(rev: str) -> str:
    return try_git("rev-parse", "--verify", "-q", "--end-of-options", rev).decode().strip()


def git_file(name: str) -> str:
    """Return the text of a file in git's folder, such as MERGE_HEAD, or '' without the file."""
    path = os.fsdecode(try_git("rev-parse", "--git-path", name).removesuffix(b"\n"))
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _changes(old: str, new: str) -> list[Change]:
    """Return the changes from one tree to another, and follow renames."""
    out = git_bytes(
        "diff-tree", "-r", "-z", "-M", "--raw", "--no-commit-id", "--full-index", old, new
    )
    fields = out.split(b"\0")
    changes, at = [], 0
    while at < len(fields) and fields[at]:
        *modes, first, second, status = fields[at][1:].decode("ascii").split()
        names = [os.fsdecode(name) for name in fields[at + 1 : at + 2 + (status[0] in "RC")]]
        before, after = (
            TreeEntry(oid, int(mode, 8)) if int(mode, 8) else None
            for oid, mode in zip((first, second), modes, strict=True)
        )
        changes.append(Change(names[0], names[-1], before, after))
        at += 1 + len(names)
    return changes


def _subtree(base: str, ours: str, changes: list[Change]) -> str:
    """Return the folder of ours into which `git subtree` merges theirs, or '' for the top.

    Ours has added the files of the base to such a folder, and has changed fewer of these files in
    the folder than at the top.
    """
    kept = {change.old_path for change in changes if change.old and change.new}
    added = [change.new_path.split("/") for change in changes if change.old is None]
    folders = Counter(
        "/".join(parts[:number])
        for parts in added
        for number in range(1, len(parts))
        if "/".join(parts[number:]) in kept
    )
    if not folders:
        return ""
    folder = max(folders, key=lambda name: (folders[name], name))
    return folder if _lost(_changes(base, f"{ours}:{folder}")) < _lost(changes) else ""


def _lost(changes: list[Change]) -> int:
    """Count the files of the base that are deleted or changed."""
    return sum(change.old is not None for change in changes)


def _below(folder: str, changes: list[Change]) -> list[Change]:
    """Return the changes with the name of a folder put before all paths."""
    top = f"{folder}/" if folder else ""
    return [Change(top + one.old_path, top + one.new_path, one.old, one.new) for one in changes]


SYMLINK = 0o120000
SUBMODULE = 0o160000

Kind = Literal[
    "changed by both",
    "changed by one side",
    "added by both",
    "deleted by us",
    "deleted by them",
    "renamed to two names",
    "file and directory",
]


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """Hold a file in a tree or in the index: the id of its blob and its mode."""

    oid: str
    mode: int

    @property
    def is_text(self) -> bool:
        """Return whether the entry is a regular file, not a symbolic link or a submodule."""
        return self.mode not in (SYMLINK, SUBMODULE)


Entries = tuple[TreeEntry | None, TreeEntry | None, TreeEntry | None]
Files = dict[str, TreeEntry]


@dataclass(frozen=True, slots=True)
class Change:
    """Hold one side's change to a file; an added file has no `old`, a deleted file no `new`."""

    old_path: str
    new_path: str
    old: TreeEntry | None
    new: TreeEntry | None


@dataclass(frozen=True, slots=True)
class FileCase:
    """Hold a file that both sides touched; `path` is the path of the result."""

    path: str
    kind: Kind
    entries: Entries  # of the base, of ours and of theirs
    note: str = ""

    @property
    def is_text(self) -> bool:
        """Return whether every version of the file is a regular file."""
        return all(entry.is_text for entry in self.entries if entry)


def touched_by_both(ours: Sequence[Change], theirs: Sequence[Change]) -> tuple[FileCase, ...]:
    """Return the files that need a merge, sorted by path.

    Omit files that are the same on both sides, and files that one side only renamed or did not
    touch.
    """
    by_path = {change.old_path: change for change in theirs if change.old}
    pairs = [(our, by_path[our.old_path]) for our in ours if our.old and our.old_path in by_path]
    cases = [case for our, their in pairs if (case := _pair(our, their))]
    taken = {case.path for case in cases}
    our_new, their_new = _arrivals(ours), _arrivals(theirs)
    cases += [case for case in _added_files(our_new, their_new) if case.path not in taken]
    cases += _files_over_directories(our_new, their_new)
    return tuple(sorted(cases, key=lambda case: case.path))


def _pair(our: Change, their: Change) -> FileCase | None:
    """Return the case of a base file that both sides changed, deleted or renamed.

    Return None if the file needs no merge.
    """
    base = our.old
    if our.new is None and their.new is None:
        return None
    if our.new is None:
        return FileCase(their.new_path, "deleted by us", (base, None, their.new))
    if their.new is None:
        return FileCase(our.new_path, "deleted by them", (base, our.new, None))
    entries = (base, our.new, their.new)
    moved_by_us = our.new_path != our.old_path
    moved_by_them = their.new_path != their.old_path
    if moved_by_us and moved_by_them and our.new_path != their.new_path:
        note = f"{our.new_path} and {their.new_path}"
        return FileCase(our.old_path, "renamed to two names", entries, note)
    if base in (our.new, their.new) or our.new == their.new:
        return None  # one side did no more than rename, or both did the same
    path = our.new_path if moved_by_us else their.new_path
    note = f"renamed from {our.old_path}" if path != our.old_path else ""
    return FileCase(path, "changed by both", entries, note)


def _arrivals(changes: Sequence[Change]) -> Files:
    """Return the files that one side added or renamed, with their new paths as keys."""
    return {
        change.new_path: change.new
        for change in changes
        if change.new and (change.old is None or change.old_path != change.new_path)
    }


def _added_files(ours: Files, theirs: Files) -> list[FileCase]:
    """Return the files that both sides put at the same path with different contents."""
    return [
        FileCase(path, "added by both", (None, entry, theirs[path]))
        for path, entry in ours.items()
        if path in theirs and theirs[path] != entry
    ]


def _files_over_directories(ours: Files, theirs: Files) -> list[FileCase]:
    """Return the files of one side at paths where the other side has a directory."""
    our_directories, their_directories = _directories(ours), _directories(theirs)
    clash: Kind = "file and directory"
    return [
        FileCase(path, clash, (None, entry, None), "theirs has a directory of this name")
        for path, entry in ours.items()
        if path in their_directories
    ] + [
        FileCase(path, clash, (None, None, entry), "ours has a directory of this name")
        for path, entry in theirs.items()
        if path in our_directories
    ]


def _directories(paths: Iterable[str]) -> set[str]:
    return {parent.as_posix() for path in paths for parent in PurePosixPath(path).parents}


def merged_mode(base: TreeEntry | None, ours: TreeEntry | None, theirs: TreeEntry | None) -> int:
    """Return the mode of the result: the changed mode, or ours if both sides changed the mode."""
    sides = [entry.mode for entry in (ours, theirs) if entry]
    if len(sides) == 2 and base and sides[0] == base.mode:
        return sides[1]
    return sides[0] if sides else 0o100644
