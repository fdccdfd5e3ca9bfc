"""M12: find a mistake that shows only in a comparison of the versions of a file in git.

This module does not call git: its caller reads the versions.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from kmerge_git.check.page_values import Map, Text, Value, alike, documents
from kmerge_git.check.registry import ERROR, HISTORY, Check, Found
from kmerge_git.errors import CannotParse
from kmerge_git.merge.three import Three
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kmerge_git.check.merges.merged_files import Elsewhere, SidedFile
    from kmerge_git.kube.identity import Identity
    from kmerge_git.tree.nodes import Node


class MergeVersions(NamedTuple):
    """Hold the sides and the result of a merged file, and a way to ask git about the file."""

    sides: Three[bytes | None]
    result: bytes | None  # the file as it is committed, or staged
    elsewhere: Elsewhere = lambda identity: []
    # the resource in a file that gained it in this merge
    gained: Callable[[Identity], Node | None] = lambda identity: None
    # how severe a lost change is at most, INFO if another finding names it, or ''
    # if the file is not judged by value: generated, for example
    gravest: Callable[[], str] = lambda: ERROR
    name: str = ""  # the path from the top of the repository

    def with_result(self, result: YamlText) -> SidedFile:
        """Return a result, such as the file on the disk, with the versions of the sides."""
        from kmerge_git.check.merges.merged_files import SidedFile  # few commits are merges

        known = (self.elsewhere, self.gained, self.gravest, self.name)
        return SidedFile(result, self.sides, *known)


class GitVersions:
    """Hold the versions of a file in git. Each version is read when it is first needed."""

    def __init__(
        self,
        head: Callable[[], bytes | None] = lambda: None,
        merge: Callable[[], MergeVersions | None] = lambda: None,
    ) -> None:
        self._head = head
        self._merge = merge

    @cached_property
    def head(self) -> bytes | None:
        """Return the file in the last commit, which is "ours" while a merge is unfinished."""
        return self._head()

    @cached_property
    def merge(self) -> MergeVersions | None:
        """Return the versions of the file in a merge, or None if no merge changed the file."""
        return self._merge()


NOTHING = GitVersions()


@Check(
    "M12", ERROR, HISTORY, "a SOPS file was changed, but not its `mac`",
    kubectl="Not affected.",
    kustomize="A build that decrypts the file fails: `sops` reports `MAC mismatch`.",
    example="# ours:\nmetadata:\n  name: web\ndata:\n  a: ENC[x]\nsops:\n  mac: ENC[1]\n"
    "# committed:\nmetadata:\n  name: shop\ndata:\n  a: ENC[x]\nsops:\n  mac: ENC[1]",
    counter="# ours:\nmetadata:\n  name: web\ndata:\n  a: ENC[x]\nsops:\n  mac: ENC[1]\n"
    "# committed:\nmetadata:\n  name: shop\ndata:\n  a: ENC[x]\nsops:\n  mac: ENC[2]",
    mend="Restore one side of the merge with `git checkout --ours FILE`, then make the "
    "changes of the other side with `sops edit FILE`.",
)  # fmt: skip
def changed_without_mac(data: bytes, versions: GitVersions) -> Iterator[Found]:
    """Find a SOPS file with changed fields whose `mac` is that of HEAD, or of a side of a merge.

    A file that has all fields of one of these versions with the same `mac` is as valid as that
    version. With `mac_only_encrypted`, only the encrypted values count.
    """
    new = sealed(data)
    merge = versions.merge if new else None
    versions_before = (versions.head, merge.sides.theirs if merge else None) if new else ()
    olds = [old for old in map(sealed, versions_before) if old and _macs(old) == _macs(new)]
    changes = [_first_change_of(new, old) for old in olds]
    if changes and changes[0] is not None and None not in changes:
        message = "this field changed, but sops.mac did not: sops will refuse to decrypt the file"
        yield Found(changes[0], f"{message} (MAC mismatch)")


def sealed(data: bytes | None) -> list[Map]:
    """Return the documents of a SOPS file, or an empty list if it is not a SOPS file."""
    if data is None or b"sops" not in data or b"mac" not in data:
        return []
    try:
        roots = [plain.root for plain in documents(YamlText(data))]
    except CannotParse:
        return []
    maps = [root for root in roots if isinstance(root, Map)]
    is_sealed = any(root.map("sops") and root.string("sops", "mac") for root in maps)
    return maps if is_sealed else []


def _macs(of: list[Map]) -> set[str | None]:
    return {root.string("sops", "mac") for root in of if root.map("sops")}


def _first_change_of(new: list[Map], old: list[Map]) -> int | None:
    """Return the offset of the first difference that the `mac` covers, or None."""
    if len(new) != len(old):
        return new[0].at
    for one, other in zip(new, old, strict=True):
        changed = _first_change(one, other, _is_partial(one) and _is_partial(other))
        if changed is not None:
            return changed
    return None


def _first_change(new: Map, old: Map, partial: bool) -> int | None:
    """Return the offset of the first difference outside of `sops`, or None.

    If `partial` is true, compare only encrypted values.
    """

    def same(one: Value | None, other: Value | None) -> bool:
        if partial:
            return _encrypted(one) == _encrypted(other)
        return one is not None and other is not None and alike(one, other)

    for key, (at, value) in new.fields.items():
        before = old.get(key)
        if key != "sops" and not same(value, before):
            if isinstance(value, Map) and isinstance(before, Map):
                deeper = _first_change(value, before, partial)
                return at if deeper is None else deeper
            return at
    gone = set(old.fields) - set(new.fields)
    return new.at if any(not same(None, old.get(key)) for key in gone) else None


def _encrypted(value: Value | None) -> list[str]:
    """Return the encrypted values inside of a value, in their order."""
    if isinstance(value, Text):
        return [value.text] if value.text.startswith("ENC[") else []
    return [text for _, inner in (value.entries if value else ()) for text in _encrypted(inner)]


def _is_partial(of: Map) -> bool:
    """Return whether the `mac` of a document covers the encrypted values alone."""
    return of.string("sops", "mac_only_encrypted").lower() == "true"
