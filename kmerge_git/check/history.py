"""M11, M12: what only the versions in git can tell.

This module knows no git: the versions come with the site, whoever has read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kmerge_git.check.plain import List, Map, Text, Value, documents
from kmerge_git.check.registry import ERROR, HISTORY, WARNING, Check, Found
from kmerge_git.errors import CannotParse
from kmerge_git.merge.three import Three, whose
from kmerge_git.text.source import Source


class GitVersions:
    """The versions of a file: before the commit, and the three of an unfinished merge."""

    __slots__ = ("base", "driven", "head", "keeps", "staged", "theirs", "was_in_conflict")

    def __init__(
        self,
        head: bytes | None,
        staged: bytes | None = None,
        base: bytes | None = None,
        theirs: bytes | None = None,
        driven: bool = False,
        keeps: Callable[[str], bool] = lambda side: False,
        was_in_conflict: Callable[[], bool] = lambda: False,
    ) -> None:
        self.head = head  # ours, while a merge is unfinished
        self.staged = staged
        self.base = base
        self.theirs = theirs  # None: no merge, or the file is not there
        self.driven = driven  # whether kmerge merges this path
        # whether a side as it is holds all that merges clean: asked for few files
        self.keeps = keeps
        self.was_in_conflict = was_in_conflict  # and somebody has staged what is to be there


@Check(
    "M11", ERROR, HISTORY, "one side of a merge was dropped",
    kubectl="The file is valid, but the changes of one branch are gone.",
    kustomize="The file is valid, but the changes of one branch are gone.",
    example="# both branches changed web.yaml, and what is staged is exactly one of them",
    mend="`git checkout -m -- FILE` merges a file that was in conflict anew, `git merge --abort` "
    "takes all of the merge back; `git diff MERGE_HEAD -- FILE` and `git diff HEAD -- FILE` show "
    "what each side has. If it is meant, run the check with `--ignore M11`.",
)  # fmt: skip
def one_side_dropped(data: bytes, v: GitVersions) -> Iterator[Found]:
    """Both branches changed the file, what is staged is one of them, and the other's are lost.

    Where both changed the same places alone, to take one side loses nothing that a merge would
    have kept. Of a file that was in conflict somebody has decided: that is a warning.
    """
    if not v.driven or v.theirs is None or v.head is None or v.staged is None:
        return
    if whose(Three(v.base, v.head, v.theirs)):
        return
    for name, side, other in (("ours", v.head, "theirs"), ("theirs", v.theirs, "ours")):
        if v.staged == side and not v.keeps(name):
            yield Found(
                0, f"both sides changed this file, but what is staged is exactly {name}: the "
                f"changes of {other} are dropped, also those that merge clean",
                severity=WARNING if v.was_in_conflict() else "",
            )  # fmt: skip


@Check(
    "M12", ERROR, HISTORY, "the plain part of a SOPS file was changed without its mac",
    kubectl="It does not read such files.",
    kustomize="`sops` refuses to decrypt it: `MAC mismatch`.",
    example="# metadata.labels changed, sops.mac did not",
    mend="Take one side of the merge with `git checkout --ours FILE`, then make the other change "
    "with `sops edit FILE`.",
)  # fmt: skip
def changed_without_mac(data: bytes, versions: GitVersions) -> Iterator[Found]:
    """Content outside of `sops` differs from HEAD, and `sops.mac` is the same as there."""
    new, old = sealed(data), sealed(versions.head)
    if new is None or old is None:
        return
    sops, before = new.map("sops"), old.map("sops")
    if sops is None or before is None or sops.text("mac") != before.text("mac"):
        return
    changed = _first_change(new, old)
    if changed is not None:
        yield Found(
            changed,
            "this changed, but sops.mac did not: sops will refuse to decrypt the file (MAC "
            "mismatch)",
        )


def sealed(data: bytes | None) -> Map | None:
    """The content of a SOPS file, or None for other files."""
    if data is None or b"sops" not in data or b"mac" not in data:
        return None
    try:
        roots = [plain.root for plain in documents(Source(data))]
    except CannotParse:
        return None
    root = roots[0] if len(roots) == 1 else None
    if not isinstance(root, Map):
        return None
    sops = root.map("sops")
    return root if sops is not None and sops.text("mac") else None


def _first_change(new: Map, old: Map) -> int | None:
    """Where the content outside `sops` differs first."""
    for key, (at, value) in new.fields.items():
        before = old.get(key)
        if key != "sops" and not _same(value, before, set()):
            if isinstance(value, Map) and isinstance(before, Map):
                deeper = _first_change(value, before)
                return at if deeper is None else deeper
            return at
    return new.at if set(old.fields) - set(new.fields) else None


def _same(one: Value | None, other: Value | None, met: set[tuple[int, int]]) -> bool:
    if isinstance(one, Text) and isinstance(other, Text):
        return one.text == other.text
    pair = (id(one), id(other))
    if pair in met:
        return True  # aliases: whoever met them first says whether they differ
    met.add(pair)
    if isinstance(one, List) and isinstance(other, List):
        pairs = zip(one.values, other.values, strict=False)
        return len(one.values) == len(other.values) and all(_same(a, b, met) for a, b in pairs)
    if isinstance(one, Map) and isinstance(other, Map):
        return one.fields.keys() == other.fields.keys() and all(
            _same(value, other.get(key), met) for key, (_, value) in one.fields.items()
        )
    return False
