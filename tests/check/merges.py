"""A file of a merge beside its sides, as the checks see it; no git is asked."""

from __future__ import annotations

from collections import Counter

from kmerge_git.check.checked_texts import nowhere
from kmerge_git.check.merges.git_versions import GitVersions, MergeVersions
from kmerge_git.check.run import Run
from kmerge_git.finding import Finding
from kmerge_git.merge.three import Three

Sides = tuple[bytes | None, bytes, bytes]


LOSSES = ("M11", "M28")


def merge_findings(
    sides: Sides, result: bytes, path: str = "a.yaml", *, is_judged: bool = False
) -> list[Finding]:
    """What is found in the result of a merge, and on neither side.

    Only where it is judged, a change that the result has not counts.
    """
    versions = merged_versions(sides, result)
    found = Run(nowhere(), versions=lambda path: versions).file(path, result)
    found = [one for one in found if is_judged or one.id not in LOSSES]
    known: Counter[tuple[str, str, str]] = Counter()
    for side in sides[1:]:
        known |= said(Run(nowhere()).file(path, side or b""))
    return beyond(found, known)


def merged_versions(sides: Sides, result: bytes) -> GitVersions:
    """The versions of a file in a merge, without git."""
    merge = MergeVersions(Three(*sides), result)
    return GitVersions(lambda: sides[1], lambda: merge)


def beyond(found: list[Finding], known: Counter[tuple[str, str, str]]) -> list[Finding]:
    """The findings that are not known yet, as often as they are."""
    left = Counter(known)
    new = []
    for one in found:
        left[_said(one)] -= 1
        if left[_said(one)] < 0:
            new.append(one)
    return new


def _said(finding: Finding) -> tuple[str, str, str]:
    return finding.id, finding.path, finding.message


def said(found: list[Finding]) -> Counter[tuple[str, str, str]]:
    """What findings say, and how often."""
    return Counter(map(_said, found))
