"""Make the certificate of a merge, which lists the result at each place that a side changed.

Its form is in `kmerge_git/report/check.schema.json`. Values of Secrets are hidden.
For encrypted files only the ids of the blobs are shown.
"""

from __future__ import annotations

import os

from kmerge_git.check.merges.judged_file import judged_file
from kmerge_git.cli.check_repository import from_here
from kmerge_git.finding import DROPPED
from kmerge_git.git.merge_sides import trailers_of
from kmerge_git.git.run_git import git_bytes
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kmerge_git.cli.check_files import VersionsOf
    from kmerge_git.git.merge_sides import FileCase, MergeSides

BY_VALUE, BY_BYTES, NOT = "by value", "by bytes", "not"


def certificate(
    top: str, sides: MergeSides, names: Iterable[str], versions: VersionsOf
) -> dict[str, object]:
    """Return the certificate of a merge for files, named by their paths in the repository."""
    named = [*names]
    results = _results(top, sides.result, named)
    cases = sides.files()
    return {
        "base": sides.base,
        "ours": sides.ours,
        "theirs": sides.theirs,
        "result": sides.result or None,  # None for the index
        "meant": trailers_of(sides.result, DROPPED) if sides.result else [],
        "files": [_file(top, cases[name], results.get(name), versions) for name in named],
    }


def _results(top: str, result: str, names: list[str]) -> dict[str, str]:
    """Return the ids of the merged files."""
    words = ("ls-tree", "-r", "-z", result) if result else ("ls-files", "-s", "-z")
    out = git_bytes("--literal-pathspecs", "-C", top, *words, "--", *names) if names else b""
    ids = {}
    for line in filter(None, out.split(b"\0")):
        head, _, name = line.partition(b"\t")
        ids[os.fsdecode(name)] = head.split()[2 if result else 1].decode("ascii")
    return ids


def _file(top: str, case: FileCase, result: str | None, versions: VersionsOf) -> dict[str, object]:
    rows: list[dict[str, str]] = []
    judged, why = NOT, "not a text file" if result else "the file was deleted"
    merge = versions(from_here(top, case.path)).merge
    if merge is not None and merge.result is not None:
        text = YamlText(merge.result, case.path)
        judge = judged_file(merge.with_result(text))
        judged, rows = BY_BYTES, [] if judge.is_whole else judge.table()
        why = judge.why
        if not judge.is_whole:
            judged = NOT if why else BY_VALUE
    blobs = [*(entry.oid if entry else None for entry in case.entries), result]
    return {
        "file": case.path,
        "kind": case.kind,
        "blobs": dict(zip(("base", "ours", "theirs", "result"), blobs, strict=True)),
        "judged": judged,
        "why": why,
        "rows": rows,
    }
