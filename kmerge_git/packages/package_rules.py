"""Merge the manifests and the other texts of a package by the rules of git or of kyaml."""

from __future__ import annotations

from typing import NamedTuple

from kmerge_git.errors import Unsupported
from kmerge_git.merge.kyaml.kyaml_merges import Result, merge3_bytes, merge3_text
from kmerge_git.merge.kyaml.two_way import merge2_bytes
from kmerge_git.merge.three import Three
from kmerge_git.time_limit import within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Words = tuple[str, str, str]
    Labels = Words | Callable[[str], Words]
    Merge = Callable[[Three[bytes], str], Result]


class Ways(NamedTuple):
    """Hold the merge functions of a rule set; in a two-way merge the original is empty."""

    rules: str  # `git` or `kyaml`
    manifest: Merge
    text: Merge
    words: Three[str]  # the names of the three versions in messages
    two_way: bool = False


def ways(
    rules: str,
    *,
    labels: Labels,
    style: str = "merge",
    infer: bool = True,
    words: Words = ("original", "dest", "updated"),
) -> Ways:
    """Return the three-way merge functions of the rules `git` or `kyaml`.

    `labels` names the three versions in conflict markers and errors, in the order of `words`. It is
    either three names, or a function that returns three names for the path of a file.
    """
    if rules == "git":
        return _git_ways(labels, style, words)

    def manifest(texts: Three[bytes], path: str) -> Result:
        return merge3_bytes(texts, infer=infer, path=path, names=Three(*_labels(labels, path)))

    def text(texts: Three[bytes], path: str) -> Result:
        return merge3_text(texts, path=path, names=Three(*_labels(labels, path)))

    return Ways(rules, manifest, text, Three(*words))


def two_ways(
    *,
    labels: Labels,
    infer: bool = True,
    prepend: bool = False,
    words: Words = ("", "dest", "src"),
) -> Ways:
    """Return the functions of a two-way merge of src over dest; only manifests are merged."""

    def manifest(texts: Three[bytes], path: str) -> Result:
        _, dest, src = _labels(labels, path)
        return merge2_bytes(
            texts.theirs, texts.ours, infer=infer, prepend=prepend, path=path, names=(src, dest)
        )

    return Ways("kyaml", manifest, lambda texts, path: Result(texts.ours), Three(*words), True)


def timed(rules: Ways) -> Ways:
    """Return the same rules with a time limit for each file."""

    def in_time(merge: Merge) -> Merge:
        def merge_in_time(texts: Three[bytes], path: str) -> Result:
            with within(path):
                return merge(texts, path)

        return merge_in_time

    return rules._replace(manifest=in_time(rules.manifest), text=in_time(rules.text))


def _git_ways(labels: Labels, style: str, words: Words) -> Ways:
    """Return the merge functions of the rules `git`.

    The merge driver merges manifests, and git merges other texts by lines.
    """

    def manifest(texts: Three[bytes], path: str) -> Result:
        from kmerge_git.api import merge_files  # the rules `kyaml` do not need this module

        outcome = merge_files(*texts.each(), path=path, labels=_labels(labels, path), style=style)
        conflicts = 0 if outcome.clean else max(len(outcome.conflicts), 1)
        reason = outcome.reason if outcome.method in ("lines", "kept") and conflicts else ""
        return Result(outcome.text, outcome.decisions, reason, conflicts)

    def text(texts: Three[bytes], path: str) -> Result:
        from kmerge_git.text.linemerge import TemporaryFiles
        from kmerge_git.text.markers import marker_size_for

        size = marker_size_for(data.decode("latin-1") for data in texts.each())
        data, conflicts = TemporaryFiles(
            texts.each(), marker_size=size, labels=_labels(labels, path), style=style
        ).result()
        if conflicts < 0:
            raise Unsupported("git's line merge failed for this file", path=path)
        return Result(data, (), "git's line merge has a conflict" if conflicts else "", conflicts)

    return Ways("git", manifest, text, Three(*words))


def _labels(labels: Labels, path: str) -> Words:
    return labels(path) if callable(labels) else labels
