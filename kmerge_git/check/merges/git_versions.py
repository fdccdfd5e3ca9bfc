"""M11, M12: find mistakes that show only in a comparison of the versions of a file in git.

This module does not call git: its caller reads the versions.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from kmerge_git.bounds import MESSAGE_NAMES
from kmerge_git.check.page_values import Map, alike, documents
from kmerge_git.check.registry import ERROR, HISTORY, WARNING, Check, Found
from kmerge_git.errors import CannotParse
from kmerge_git.merge.three import Three, whose
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kmerge_git.check.merges.merged_files import Elsewhere


class MergeVersions(NamedTuple):
    """Hold the sides and the result of a merged file, and a way to ask git about the file."""

    sides: Three[bytes | None]
    result: bytes | None  # the file as it is committed, or staged
    # the fields that would merge cleanly, but that one side lacks; computed for few files
    lost: Callable[[str], tuple[str, ...]] = lambda side: ()
    was_in_conflict: Callable[[], bool] = lambda: False  # if so, a person chose the result
    elsewhere: Elsewhere = lambda identity: []


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
    "M11", ERROR, HISTORY, "one side of a merge was dropped",
    kubectl="The file is valid, but the changes of one branch are gone.",
    kustomize="The file is valid, but the changes of one branch are gone.",
    example="# base:\nreplicaCount: 1\nimage:\n  name: web\n  tag: v1\n"
    "# ours:\nreplicaCount: 2\nimage:\n  name: web\n  tag: v1\n"
    "# theirs:\nreplicaCount: 1\nimage:\n  name: web\n  tag: v2\n"
    "# committed:\nreplicaCount: 2\nimage:\n  name: web\n  tag: v1",
    counter="# base:\nreplicaCount: 1\nimage:\n  name: web\n  tag: v1\n"
    "# ours:\nreplicaCount: 2\nimage:\n  name: web\n  tag: v1\n"
    "# theirs:\nreplicaCount: 3\nimage:\n  name: web\n  tag: v1\n"
    "# committed:\nreplicaCount: 2\nimage:\n  name: web\n  tag: v1",
    mend="`git checkout -m -- FILE` merges a file that was in conflict anew, `git merge --abort` "
    "takes all of the merge back; `git diff MERGE_HEAD -- FILE` and `git diff HEAD -- FILE` show "
    "what each side has. If it is meant, `git config kmerge.check.ignore M11` says so.",
)  # fmt: skip
def one_side_dropped(data: bytes, versions: GitVersions) -> Iterator[Found]:
    """Find a merged file that equals one branch and lost the changes of the other branch.

    If both branches changed only the same places, taking one side loses nothing. If the file was in
    conflict, a person has chosen the side, so the finding is only a warning.
    """
    merge = versions.merge
    if merge is None or merge.result is None or whose(merge.sides):
        return
    for name, other in (("ours", "theirs"), ("theirs", "ours")):
        if merge.result == merge.sides.side(name):
            lost = merge.lost(name)
            if lost:
                yield Found(
                    0, f"both sides changed this file, and it is exactly {name}: these changes of "
                    f"{other} merge clean and are dropped: {_few(lost)}",
                    severity=WARNING if merge.was_in_conflict() else "",
                )  # fmt: skip


def _few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MESSAGE_NAMES} more" if len(names) > MESSAGE_NAMES else ""
    return ", ".join(names[:MESSAGE_NAMES]) + more


@Check(
    "M12", ERROR, HISTORY, "the plain part of a SOPS file was changed without its mac",
    kubectl="It does not read such files.",
    kustomize="`sops` refuses to decrypt it: `MAC mismatch`.",
    example="# ours:\nmetadata:\n  name: web\ndata:\n  a: ENC[x]\nsops:\n  mac: ENC[1]\n"
    "# committed:\nmetadata:\n  name: shop\ndata:\n  a: ENC[x]\nsops:\n  mac: ENC[1]",
    counter="# ours:\nmetadata:\n  name: web\ndata:\n  a: ENC[x]\nsops:\n  mac: ENC[1]\n"
    "# committed:\nmetadata:\n  name: shop\ndata:\n  a: ENC[x]\nsops:\n  mac: ENC[2]",
    mend="Take one side of the merge with `git checkout --ours FILE`, then make the other change "
    "with `sops edit FILE`.",
)  # fmt: skip
def changed_without_mac(data: bytes, versions: GitVersions) -> Iterator[Found]:
    """Find a SOPS file with changed plain text but the same `sops.mac` as in HEAD."""
    new = sealed(data)
    old = sealed(versions.head) if new is not None else None
    if new is None or old is None or new.string("sops", "mac") != old.string("sops", "mac"):
        return
    changed = _first_change(new, old)
    if changed is not None:
        message = "this changed, but sops.mac did not: sops will refuse to decrypt the file"
        yield Found(changed, f"{message} (MAC mismatch)")


def sealed(data: bytes | None) -> Map | None:
    """Return the content of a SOPS file, or None if the file is no SOPS file."""
    if data is None or b"sops" not in data or b"mac" not in data:
        return None
    try:
        roots = [plain.root for plain in documents(YamlText(data))]
    except CannotParse:
        return None
    root = roots[0] if len(roots) == 1 else None
    return (
        root if isinstance(root, Map) and root.map("sops") and root.string("sops", "mac") else None
    )


def _first_change(new: Map, old: Map) -> int | None:
    """Return the offset of the first difference outside of `sops`, or None."""
    for key, (at, value) in new.fields.items():
        before = old.get(key)
        if key != "sops" and not (before and alike(value, before)):
            if isinstance(value, Map) and isinstance(before, Map):
                deeper = _first_change(value, before)
                return at if deeper is None else deeper
            return at
    return new.at if set(old.fields) - set(new.fields) else None
