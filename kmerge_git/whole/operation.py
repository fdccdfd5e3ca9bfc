"""Find the operation that stopped in a repository, and its three trees.

Git's directory has a folder for a rebase or `git am`, and a file with a commit id (`*_HEAD`) for
other operations; where references are in a reftable, so are all of these ids but MERGE_HEAD. Such
an id can be left over from an operation that has ended, and a stash can be applied during any
operation. So an operation counts only if the stages of the conflicted files can come from its
trees. An update of a package has a journal in the package, and no trees.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.git.index_stages import Operation, Stages
from kmerge_git.git.objects import EMPTY_TREE
from kmerge_git.git.repository import Commit, Repository
from kmerge_git.packages.exchange_journal import above
from kmerge_git.packages.exchanged_files import unfinished

# no resource was moved between these trees
_NO_TREES = (EMPTY_TREE, EMPTY_TREE, EMPTY_TREE)
UNKNOWN = Operation("", *_NO_TREES, ("base", "ours", "theirs"))
_APPLIED = "constructed merge base"  # the label that `git am` gives to its base


def current_operation(
    repository: Repository, conflicts: tuple[Stages, ...] | None = None
) -> Operation:
    """Return the operation in progress that left these conflicts, by default those of the index."""
    try:
        head = repository.commit("HEAD")
    except KmergeError:
        return UNKNOWN
    if conflicts is None:
        conflicts = repository.conflicts() if repository.worktree else ()
    candidates = list(_candidates(repository, head, conflicts))
    for operation in candidates:
        votes = _votes(repository, operation, conflicts) if operation.is_known else set()
        if True in votes or False not in votes:
            return operation
    for operation in (*_squashes(repository, head), *_stashes(repository, head)):
        if True in _votes(repository, operation, conflicts):
            return operation
    for operation in _updates(repository, conflicts):
        return operation
    # an operation is in progress, but these conflicts come from something else
    return replace(UNKNOWN, name=candidates[0].name) if candidates else UNKNOWN


def tip_of(repository: Repository, operation: Operation) -> str:
    """Return the tree in which a rebase or a series of picks ends, or '' if that is unknown."""
    oid = ""
    if operation.name == "rebase":
        heads = (f"rebase-{backend}/orig-head" for backend in ("merge", "apply"))
        oid = next(filter(None, (_first_line(repository, head) for head in heads)), "")
    elif operation.name == "cherry-pick":
        steps = _read(Path(repository.git_dir, "sequencer/todo")).split("\n")
        words = [step.split() for step in steps if step.strip() and step[0] != "#"]
        oid = words[-1][1] if words and len(words[-1]) > 1 else ""
    try:
        return repository.commit(oid).tree if oid else ""
    except KmergeError:
        return ""


def _candidates(
    repository: Repository, head: Commit, conflicts: tuple[Stages, ...]
) -> Iterator[Operation]:
    """Yield the operations that git's directory records, in the order in which git checks them."""
    place = Path(repository.git_dir)
    is_rebasing = (place / "rebase-merge").is_dir() or (place / "rebase-apply/rebasing").exists()
    rebase = repository.noted("REBASE_HEAD") if is_rebasing else ""
    merged = _read(place / "MERGE_HEAD").split()
    picked = repository.noted("CHERRY_PICK_HEAD")
    if merged:
        is_own = _step(repository)[:1] in (["merge"], ["m"])
        yield _merge(repository, "rebase" if is_own else "merge", head, merged)
    for name, oid in (
        ("rebase" if picked == rebase else "cherry-pick", picked),
        ("revert", repository.noted("REVERT_HEAD")),
        ("rebase", rebase),
    ):
        if oid:
            yield _pick(repository, name, head, oid, conflicts)
    if (place / "rebase-apply/applying").exists():
        message = _first_line(repository, "rebase-apply/final-commit")
        yield Operation("am", *_NO_TREES, (_APPLIED, "HEAD", message or "theirs"))


def _read(file: Path) -> str:
    return file.read_text("utf-8", errors="replace") if file.is_file() else ""


def _first_line(repository: Repository, name: str) -> str:
    """Return the first line of a file such as MERGE_HEAD in `.git`, or '' if missing."""
    return _read(Path(repository.git_dir, name)).partition("\n")[0].strip()


def _merge(repository: Repository, name: str, head: Commit, merged: list[str]) -> Operation:
    """Return a merge of two commits; for a merge of several commits, the trees are unknown."""
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
    """Return NAME if git's message is `Merge branch 'NAME'` and NAME is the merged commit.

    Otherwise return '': the user may have written the message, or the branch may be in another
    repository.
    """
    message = _first_line(repository, "MERGE_MSG")
    name = message.partition("'")[2].partition("'")[0] if message.startswith("Merge ") else ""
    return name if name and _is_named(repository, name, other) else ""


def _rewritten(repository: Repository, other: Commit) -> str:
    """Return the name that `git rebase -r` gave to the commit that the present step merges."""
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
    """Return the cherry-pick or revert of a commit on top of HEAD.

    If the commit is a merge, only the stages show which parent the option `-m` selected.
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
        votes = [_votes(repository, pick, conflicts) for pick in picks]
        picks = [p for p, of in zip(picks, votes, strict=True) if True in of and False not in of]
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
    """Yield the merge that `git merge --squash` recorded; the record remains after an abort."""
    for line in _read(Path(repository.git_dir, "SQUASH_MSG")).split("\n"):
        if line.startswith("commit "):  # the first commit is the newest
            yield _merge(repository, "squash", head, line.split()[1:2])
            return


def _stashes(repository: Repository, head: Commit) -> Iterator[Operation]:
    """Yield the merge that `git stash apply` makes for each stash entry."""
    for oid in repository.stashes():
        try:
            stash = repository.commit(oid)
            base = repository.commit(stash.parents[0]).tree
        except (KmergeError, IndexError):
            continue
        labels = ("Stash base", "Updated upstream", "Stashed changes")
        yield Operation("stash", base, head.tree, stash.tree, labels)


def _updates(repository: Repository, conflicts: tuple[Stages, ...]) -> Iterator[Operation]:
    """Yield the unfinished update of each package that has a file in conflict."""
    top = repository.worktree or ""
    for folder in dict.fromkeys(f for one in conflicts for f in (*above(one.path), "")):
        package = os.path.join(top, folder)
        with suppress(UsageError):  # another program made the folder
            state = unfinished(package)
            if state and state.about:
                labels = ("recorded", "local", "upstream")
                yield Operation("vendor update", *_NO_TREES, labels, os.path.relpath(package))


def _votes(
    repository: Repository, operation: Operation, conflicts: tuple[Stages, ...]
) -> set[bool | None]:
    """Return whether stages confirm an operation (True) or contradict it (False)."""
    return {_confirms(repository, operation, stages) for stages in conflicts}


def _confirms(repository: Repository, operation: Operation, stages: Stages) -> bool | None:
    """Return whether a file's stages come from the trees, or None if the trees lack the path.

    Return None also if kmerge wrote the stages, which then come from no tree.
    """
    if stages.is_proposal:
        return None
    pairs = [(operation.theirs, stages.theirs)]
    if operation.name not in ("merge", "squash"):  # git may have merged several bases into one
        pairs.append((operation.base, stages.base))
    entries = [(repository.entry(tree, stages.path), entry) for tree, entry in pairs]
    same = [there.oid == (entry and entry.oid) for there, entry in entries if there is not None]
    return all(same) if same else None
