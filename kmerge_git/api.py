"""Merge three texts from a Python program."""

from __future__ import annotations

from kmerge_git.merge.three import Three
from kmerge_git.outcome import LABELS, Options, Outcome
from kmerge_git.pipeline import merge
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.merge.decide.rules import Policy
    from kmerge_git.outcome import Decision
    from kmerge_git.text.linemerge import LineMerge


def merge_files(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    *,
    path: str = "",
    rules: str = "git",
    favor: str | None = None,
    marker_size: int = 7,
    labels: tuple[str, str, str] = LABELS,
    style: str = "merge",
    policy: Policy | None = None,
    line_merge: Callable[[bytes, bytes, bytes], tuple[bytes, bool]] | None = None,
) -> Outcome:
    """Merge two versions of a manifest with their common base, as the git driver does."""
    options = Options(path, rules, favor, marker_size, labels, style, policy)
    data = base, ours, theirs

    def start(favor: str, size: int) -> LineMerge:
        from kmerge_git.text.linemerge import Given, TemporaryFiles

        if line_merge is not None:
            return Given(*line_merge(*data))
        return TemporaryFiles(data, marker_size=size, labels=labels, style=style, favor=favor)

    outcome = merge(Three(*data).map(lambda text: YamlText(text, path)), options, start)
    outcome.explain = explain
    return outcome


def explain(outcome: Outcome) -> tuple[Decision, ...]:
    """Return a decision for each place at which the versions of a merge differ."""
    from kmerge_git.verdict.reasons import explained  # few callers ask

    return explained(outcome)
