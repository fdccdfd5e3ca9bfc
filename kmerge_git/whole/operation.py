"""Which operation stopped in a repository, and the three commits it was about."""

from __future__ import annotations

from pathlib import Path

from kmerge_git.errors import KmergeError
from kmerge_git.git.commits import Commit
from kmerge_git.git.conflicts import Operation
from kmerge_git.git.repository import Repository

UNKNOWN = Operation("", "", "", "", ("base", "ours", "theirs"))


def current_operation(repository: Repository) -> Operation:
    """The operation that git is in the middle of."""
    for name, file in (
        ("rebase", "REBASE_HEAD"),
        ("cherry-pick", "CHERRY_PICK_HEAD"),
        ("revert", "REVERT_HEAD"),
        ("merge", "MERGE_HEAD"),
    ):
        oid = _first_line(repository, file).strip()
        if oid:
            return _operation(repository, name, oid)
    return UNKNOWN


def _first_line(repository: Repository, name: str) -> str:
    """The first line of a file below `.git` (MERGE_HEAD, MERGE_MSG); nothing without the file."""
    file = Path(repository.git_dir, name)
    return file.read_text(errors="replace").partition("\n")[0] if file.is_file() else ""


def _operation(repository: Repository, name: str, oid: str) -> Operation:
    try:
        head, other = repository.commit("HEAD"), repository.commit(oid)
        if name == "merge":
            return _merge(repository, head, other)
        parent = repository.commit(other.parents[0])
    except (KmergeError, IndexError):
        return UNKNOWN
    title = f"{other.oid[:7]} ({other.subject})"
    if name == "revert":
        labels = (title, "HEAD", f"parent of {title}")
        return Operation(name, other.tree, head.tree, parent.tree, labels)
    labels = (f"parent of {title}", "HEAD", title)
    return Operation(name, parent.tree, head.tree, other.tree, labels)


def _merge(repository: Repository, head: Commit, other: Commit) -> Operation:
    base = repository.merge_base(head.oid, other.oid)
    if base is None:
        return UNKNOWN
    labels = (base[:7], "HEAD", _name(repository, other) or other.oid[:7])
    return Operation("merge", repository.commit(base).tree, head.tree, other.tree, labels)


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
