"""Find the operation that stopped in a repository, and its three trees.

Git's directory has a folder for a rebase or for `git am`, a name of a commit (`*_HEAD`) for the
rest. A name can be left over from an operation that has ended, and a stash can be applied
in the middle of anything: so an operation is believed only if the stages of the conflicted files
can come from its trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kmerge_git.errors import KmergeError
from kmerge_git.git.index_stages import Operation, Stages
from kmerge_git.git.repository import Commit, Repository

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
# no resource moves between these trees
_NO_TREES = (EMPTY_TREE, EMPTY_TREE, EMPTY_TREE)
UNKNOWN = Operation("", *_NO_TREES, ("base", "ours", "theirs"))
_APPLIED = "constructed merge base"  # what `git am` calls its base


def current_operation(
    repository: Repository, conflicts: tuple[Stages, ...] | None = None
) -> Operation:
    """Return the operation in progress; `conflicts` are its own, else those of the index."""
    try:
        head = repository.commit("HEAD")
    except KmergeError:
        return UNKNOWN
    if conflicts is None:
        conflicts = repository.conflicts() if repository.worktree else ()
    candidates = list(_candidates(repository, head, conflicts))
    for operation in candidates:
        if not operation.is_known or _can_be(repository, operation, conflicts):
            return operation
    for operation in (*_squashes(repository, head), *_stashes(repository, head)):
        if _matches(repository, operation, conflicts):
            return operation
    # an operation is in progress, but these conflicts are about something else
    return replace(UNKNOWN, name=candidates[0].name) if candidates else UNKNOWN


def _candidates(
    repository: Repository, head: Commit, conflicts: tuple[Stages, ...]
) -> Iterator[Operation]:
    """Yield the operations that git's directory names, in the order in which git looks."""
    place = Path(repository.git_dir)
    rebase = _first_line(repository, "REBASE_HEAD") if _is_rebasing(place) else ""
    merged = _read(place / "MERGE_HEAD").split()
    picked = _first_line(repository, "CHERRY_PICK_HEAD")
    if merged:
        is_own = _step(repository)[:1] in (["merge"], ["m"])
        yield _merge(repository, "rebase" if is_own else "merge", head, merged)
    for name, oid in (
        ("rebase" if picked == rebase else "cherry-pick", picked),
        ("revert", _first_line(repository, "REVERT_HEAD")),
        ("rebase", rebase),
    ):
        if oid:
            yield _pick(repository, name, head, oid, conflicts)
    if (place / "rebase-apply/applying").exists():
        message = _first_line(repository, "rebase-apply/final-commit")
        yield Operation("am", *_NO_TREES, (_APPLIED, "HEAD", message or "theirs"))


def _is_rebasing(place: Path) -> bool:
    return (place / "rebase-merge").is_dir() or (place / "rebase-apply/rebasing").exists()


def _read(file: Path) -> str:
    return file.read_text(errors="replace") if file.is_file() else ""


def _first_line(repository: Repository, name: str) -> str:
    """Return the first line of a file below `.git` (MERGE_HEAD); nothing without the file."""
    return _read(Path(repository.git_dir, name)).partition("\n")[0].strip()


def _merge(repository: Repository, name: str, head: Commit, merged: list[str]) -> Operation:
    """Return a merge of two commits; of a merge of more, one tree is nowhere kept."""
    try:
        (other,) = (repository.commit(oid) for oid in merged)
    except (KmergeError, ValueError):
        return replace(UNKNOWN, name=name)
    base = repository.merge_base(head.oid, other.oid)
    label = "empty tree"
    if base:
        several = repository.is_criss_cross(base, head.oid, other.oid)
        label = "merged common ancestors" if several else base[:7]
    tree = repository.commit(base).tree if base else EMPTY_TREE
    named = _rewritten(repository, other) if name == "rebase" else _name(repository, other)
    return Operation(name, tree, head.tree, other.tree, (label, "HEAD", named or other.oid[:7]))


def _name(repository: Repository, other: Commit) -> str:
    """Return the name in git's own `Merge branch 'NAME'`, if it names the merged commit.

    The message may be the user's, and the branch one of another repository.
    """
    message = _first_line(repository, "MERGE_MSG")
    name = message.partition("'")[2].partition("'")[0] if message.startswith("Merge ") else ""
    return name if name and _is_named(repository, name, other) else ""


def _rewritten(repository: Repository, other: Commit) -> str:
    """Return the name under which `git rebase -r` keeps the commit that its step merges."""
    names = (f"refs/rewritten/{word}" for word in _step(repository))
    return next((name for name in names if _is_named(repository, name, other)), "")


def _is_named(repository: Repository, name: str, commit: Commit) -> bool:
    try:
        return repository.commit(name).oid == commit.oid
    except KmergeError:
        return False


def _step(repository: Repository) -> list[str]:
    """Return the words of the last step of a rebase (`pick ID`, `merge -C ID NAME`)."""
    done = _read(Path(repository.git_dir, "rebase-merge/done"))
    return done.rstrip().rpartition("\n")[2].split()


def _pick(
    repository: Repository, name: str, head: Commit, oid: str, conflicts: tuple[Stages, ...]
) -> Operation:
    """Return a commit that is applied, or taken back, on top of HEAD.

    Of a merge commit only the stages show which parent `-m` named.
    """
    try:
        commit = repository.commit(oid)
        parents = [repository.commit(parent).tree for parent in commit.parents] or [EMPTY_TREE]
    except KmergeError:
        return replace(UNKNOWN, name=name)
    labels = _labels(repository, name, commit)
    steps = [(parent, commit.tree) for parent in parents]
    steps = [(theirs, base) for base, theirs in steps] if name == "revert" else steps
    picks = [Operation(name, base, head.tree, theirs, labels) for base, theirs in steps]
    if len(picks) > 1:
        picks = [pick for pick in picks if _is_exact(repository, pick, conflicts)]
    return picks[0] if len(picks) == 1 else Operation(name, *_NO_TREES, labels)


def _labels(repository: Repository, name: str, commit: Commit) -> tuple[str, str, str]:
    title = f"{commit.oid[:7]} ({commit.subject})"
    before = f"parent of {title}" if commit.parents else "(empty tree)"
    if name == "revert":
        return title, "HEAD", before
    if name == "rebase" and Path(repository.git_dir, "rebase-apply").is_dir():
        return _APPLIED, "HEAD", commit.subject
    return before, "HEAD", title


def _squashes(repository: Repository, head: Commit) -> Iterator[Operation]:
    """Yield the merge that `git merge --squash` noted; an abort leaves the note behind."""
    for line in _read(Path(repository.git_dir, "SQUASH_MSG")).split("\n"):
        if line.startswith("commit "):  # the first is the newest
            yield _merge(repository, "squash", head, line.split()[1:2])
            return


def _stashes(repository: Repository, head: Commit) -> Iterator[Operation]:
    """Yield what `git stash apply` merges for each entry; a failed `pop` keeps its entry."""
    for oid in repository.stashes():
        try:
            stash = repository.commit(oid)
            base = repository.commit(stash.parents[0]).tree
        except (KmergeError, IndexError):
            continue
        labels = ("Stash base", "Updated upstream", "Stashed changes")
        yield Operation("stash", base, head.tree, stash.tree, labels)


def _can_be(repository: Repository, operation: Operation, conflicts: tuple[Stages, ...]) -> bool:
    """Return whether no stages contradict it, or some confirm it: a killed `solve` adds some."""
    confirms = [_confirms(repository, operation, stages) for stages in conflicts]
    return True in confirms or False not in confirms


def _matches(repository: Repository, operation: Operation, conflicts: tuple[Stages, ...]) -> bool:
    return any(_confirms(repository, operation, stages) for stages in conflicts)


def _is_exact(repository: Repository, operation: Operation, conflicts: tuple[Stages, ...]) -> bool:
    confirms = [_confirms(repository, operation, stages) for stages in conflicts]
    return True in confirms and False not in confirms


def _confirms(repository: Repository, operation: Operation, stages: Stages) -> bool | None:
    """Return whether a file's stages are those of the trees; None for a renamed file."""
    pairs = [(operation.theirs, stages.theirs)]
    if operation.name not in ("merge", "squash"):  # the base of a merge may be made of several
        pairs.append((operation.base, stages.base))
    entries = [(repository.entry(tree, stages.path), entry) for tree, entry in pairs]
    same = [there.oid == (entry and entry.oid) for there, entry in entries if there is not None]
    return all(same) if same else None
