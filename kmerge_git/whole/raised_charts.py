"""Find charts that both sides of a merge raised to one version, each with a release of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from kmerge_git.git.merge_sides import Change
from kmerge_git.merge.decide.higher_version import higher
from kmerge_git.merge.decide.policies import is_chart

_VERSION = re.compile(rb"^version:[ \t]+[\"']?([^\s\"'#]+)", re.M)


def raised_alike(
    ours: Sequence[Change],
    theirs: Sequence[Change],
    read: Callable[[str], bytes],
    is_there: Callable[[str], bool],
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each Chart.yaml that both sides raised to one version, with this version.

    Each comes with the other files of the chart, which differ between the sides. A chart in a chart
    has a version of its own. `is_there` returns whether a file is in the result.
    """
    by_path = {change.new_path: change.new for change in theirs}
    differing = sorted({change.new_path for change in {*ours} ^ {*theirs}})
    for change in ours:
        path, new = change.new_path, by_path.get(change.new_path)
        if is_chart(path) and change.old and change.new and new:
            base, one, other = (version_of(read(e.oid)) for e in (change.old, change.new, new))
            files = [file for file in differing if _chart_of(file, is_there) == path != file]
            if one == other and higher(base, one) == "theirs" and files:
                yield path, one, files


def _chart_of(file: str, is_there: Callable[[str], bool]) -> str:
    """Return the Chart.yaml of the innermost chart that has a file, or ''."""
    above = (str(folder / "Chart.yaml") for folder in PurePosixPath(file).parents)
    return next(filter(is_there, above), "")


def version_of(data: bytes) -> str:
    """Return the version of a chart, or ''."""
    match = _VERSION.search(data)
    return match[1].decode("utf-8", "replace") if match else ""


def in_words(version: str, files: list[str]) -> str:
    """Return a sentence about a chart that both sides raised."""
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"both sides raised the version to {version} but differ in {files[0]}{more}"
