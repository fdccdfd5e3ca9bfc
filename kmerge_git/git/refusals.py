"""What libgit2 cannot read, in plain words with the way out."""

from __future__ import annotations

from collections.abc import Iterable

from kmerge_git.errors import KmergeError, Unsupported

# what libgit2 says -> what it means, what to do
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
    """The error for what libgit2 said: the cause in plain words, and what to do."""
    for needle, why, hint in _REFUSALS:
        if needle in message.lower():
            known = needle != "extension"
            return Unsupported(why if known else f"{why} ({message})", path=path, hint=hint)
    return Unsupported(f"libgit2 cannot read this repository: {message}", path=path)


class MissingObject(Unsupported):
    """An object that the repository should have, and has not; `hint` says what brings it."""


def missing(oid: str, settings: Iterable[str], *, is_shallow: bool) -> MissingObject:
    """The error for an object that is not there, by the names of git's settings."""
    if any(name.endswith((".promisor", ".partialclonefilter")) for name in settings):
        why = f"object {oid[:10]} was never fetched: this is a partial clone"
        return MissingObject(why, hint="`git fetch --refetch --no-filter` completes it")
    if is_shallow:
        why = f"object {oid[:10]} is not here: this is a shallow clone"
        return MissingObject(why, hint="`git fetch --unshallow` completes it")
    hint = "`git fetch --refetch` brings it if the remote has it, `git fsck` lists what is missing"
    return MissingObject(f"object {oid[:10]} is missing", hint=hint)


def missing_id(error: Exception) -> str:
    """The id in what libgit2 says of an object that is not there; nothing in other complaints."""
    _, found, rest = str(error).partition("no match for id (")
    return rest.partition(")")[0] if found else ""
