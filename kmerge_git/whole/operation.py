"""Which operation stopped in a repository, and the three trees it was about.

Git's own truth is what lies in its directory: a folder for a rebase or for `git am`, a name of a
commit (`*_HEAD`) for the rest. A name can be left over from an operation that has ended, and a
stash can be applied in the middle of anything: so an operation is believed only if the stages of
the conflicted files can come from its trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kmerge_git.errors import KmergeError
from kmerge_git.git.commits import Commit
from kmerge_git.git.index_stages import Operation, Stages
from kmerge_git.git.repository import Repository

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
# nothing came from anywhere: no move is found between these trees
_NO_TREES = (EMPTY_TREE, EMPTY_TREE, EMPTY_TREE)
UNKNOWN = Operation("", *_NO_TREES, ("base", "ours", "theirs"))
_APPLIED = "constructed merge base"  # what `git am` calls its base


def current_operation(
    repository: Repository, conflicts: tuple[Stages, ...] | None = None
) -> Operation:
    """The operation that git is in the middle of; `conflicts` are its own, if not the index'."""
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
    # it is under way, but these conflicts are about something else
    return replace(UNKNOWN, name=candidates[0].name) if candidates else UNKNOWN


def _candidates(
    repository: Repository, head: Commit, conflicts: tuple[Stages, ...]
) -> Iterator[Operation]:
    """The operations that git's directory speaks of, in the order in which git looks."""
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
    """The first line of a file below `.git` (MERGE_HEAD, MERGE_MSG); nothing without the file."""
    return _read(Path(repository.git_dir, name)).partition("\n")[0].strip()


def _merge(repository: Repository, name: str, head: Commit, merged: list[str]) -> Operation:
    """A merge; of more than two commits the last is merged into a tree that nobody has kept."""
    try:
        others = [repository.commit(oid) for oid in merged]
    except KmergeError:
        return replace(UNKNOWN, name=name)
    if len(others) > 1:
        return replace(UNKNOWN, name=name)
    (other,) = others
    base = repository.merge_base(head.oid, other.oid)
    label = "empty tree"
    if base:
        several = repository.is_criss_cross(base, head.oid, other.oid)
        label = "merged common ancestors" if several else base[:7]
    tree = repository.commit(base).tree if base else EMPTY_TREE
    named = _rewritten(repository, other) if name == "rebase" else _name(repository, other)
    labels = (label, "HEAD", named or other.oid[:7])
    return Operation(name, tree, head.tree, other.tree, labels)


def _name(repository: Repository, other: Commit) -> str:
    """The name in git's own `Merge branch 'NAME'`, if it is one of what is merged.

    The message may be the user's, and the branch one of another repository.
    """
    message = _first_line(repository, "MERGE_MSG")
    name = message.partition("'")[2].partition("'")[0] if message.startswith("Merge ") else ""
    try:
        return name if name and repository.commit(name).oid == other.oid else ""
    except KmergeError:
        return ""


def _rewritten(repository: Repository, other: Commit) -> str:
    """The name under which `git rebase -r` keeps what its step merges."""
    for word in _step(repository):
        name = f"refs/rewritten/{word}"
        try:
            if repository.commit(name).oid == other.oid:
                return name
        except KmergeError:
            continue
    return ""


def _step(repository: Repository) -> list[str]:
    """The words of the last step of a rebase (`pick ID`, `merge -C ID NAME`)."""
    steps = _read(Path(repository.git_dir, "rebase-merge/done")).rstrip()
    return steps.rpartition("\n")[2].split()


def _pick(
    repository: Repository, name: str, head: Commit, oid: str, conflicts: tuple[Stages, ...]
) -> Operation:
    """A commit that is applied, or taken back, on top of HEAD.

    Which parent of a merge commit `-m` named is told by the stages alone.
    """
    try:
        commit = repository.commit(oid)
        parents = [repository.commit(parent).tree for parent in commit.parents] or [EMPTY_TREE]
    except KmergeError:
        return replace(UNKNOWN, name=name)
    labels = _labels(repository, name, commit)
    found = []
    for parent in parents:
        base, theirs = (commit.tree, parent) if name == "revert" else (parent, commit.tree)
        found.append(Operation(name, base, head.tree, theirs, labels))
    if len(found) > 1:
        found = [one for one in found if _is_exact(repository, one, conflicts)]
    return found[0] if len(found) == 1 else Operation(name, *_NO_TREES, labels)


def _labels(repository: Repository, name: str, commit: Commit) -> tuple[str, str, str]:
    title = f"{commit.oid[:7]} ({commit.subject})"
    before = f"parent of {title}" if commit.parents else "(empty tree)"
    if name == "revert":
        return title, "HEAD", before
    if name == "rebase" and Path(repository.git_dir, "rebase-apply").is_dir():
        return _APPLIED, "HEAD", commit.subject
    return before, "HEAD", title


def _squashes(repository: Repository, head: Commit) -> Iterator[Operation]:
    """What `git merge --squash` noted for the message; an abort leaves the note behind."""
    for line in _read(Path(repository.git_dir, "SQUASH_MSG")).split("\n"):
        if line.startswith("commit "):  # the first is the newest
            yield _merge(repository, "squash", head, line.split()[1:2])
            return


def _stashes(repository: Repository, head: Commit) -> Iterator[Operation]:
    """What `git stash apply` would have merged, for each entry; a failed `pop` keeps its own."""
    for oid in repository.stashes():
        try:
            stash = repository.commit(oid)
            base = repository.commit(stash.parents[0]).tree
        except (KmergeError, IndexError):
            continue
        labels = ("Stash base", "Updated upstream", "Stashed changes")
        yield Operation("stash", base, head.tree, stash.tree, labels)


def _can_be(repository: Repository, operation: Operation, conflicts: tuple[Stages, ...]) -> bool:
    """Whether nothing speaks against it, or something for it: a killed `solve` adds stages."""
    return _matches(repository, operation, conflicts) or not any(
        _speaks(repository, operation, stages) is False for stages in conflicts
    )


def _matches(repository: Repository, operation: Operation, conflicts: tuple[Stages, ...]) -> bool:
    return any(_speaks(repository, operation, stages) for stages in conflicts)


def _is_exact(repository: Repository, operation: Operation, conflicts: tuple[Stages, ...]) -> bool:
    said = [_speaks(repository, operation, stages) for stages in conflicts]
    return True in said and False not in said


def _speaks(repository: Repository, operation: Operation, stages: Stages) -> bool | None:
    """Whether a file's stages are those of the trees; None where a renamed file tells nothing."""
    pairs = [(operation.theirs, stages.theirs)]
    if operation.name not in ("merge", "squash"):  # the base of a merge may be made of several
        pairs.append((operation.base, stages.base))
    found = [(repository.entry(tree, stages.path), entry) for tree, entry in pairs]
    oids = [(there and there.oid, entry and entry.oid) for there, entry in found]
    if any(there is not None and there != entry for there, entry in oids):
        return False
    return True if any(there is not None and there == entry for there, entry in oids) else None
