"""One file of a whole merge: what git makes of it, and what kmerge makes of it.

The only module of `whole` that runs a merge.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from kmerge_git.git.settings import Settings
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Conflict, Options, Outcome
from kmerge_git.pipeline import merge_files

MergeLines = Callable[[bytes, bytes, bytes], tuple[bytes, bool]]
Result = Literal["clean", "resolved", "improved", "conflict"]


def plain(conflict: Conflict) -> dict[str, str]:
    """A conflict for a report: where, why, and the three texts without their indentation."""
    texts = {side: short(getattr(conflict, side)) for side in ("base", "ours", "theirs")}
    return {"resource": conflict.resource, "field": conflict.field, "why": conflict.why} | texts


def short(text: str) -> str:
    """A few lines of a file without the indentation that they share."""
    return textwrap.dedent(text).strip("\n")


@dataclass(frozen=True, slots=True)
class Both:
    """The two merges of a file; `git` is the text of git's line merge."""

    outcome: Outcome
    git: bytes
    git_clean: bool

    @property
    def result(self) -> Result:
        """`resolved`: only git conflicts; `improved`: both clean, but structure says otherwise."""
        if not self.outcome.clean:
            return "conflict"
        if not self.git_clean:
            return "resolved"
        return "clean" if self.outcome.text == self.git else "improved"


def options_for(
    path: str, settings: Settings, labels: tuple[str, str, str], *, favored: bool = True
) -> Options:
    """How a path is merged by its settings; not `favored`: neither side wins."""
    return Options(
        path,
        settings.rules,
        settings.favor if favored else None,
        settings.marker_size,
        labels,
        settings.conflict_style,
        policy_for(settings.policies),
    )


def merge_one(
    three: Three[bytes | None], options: Options, line_merge: MergeLines | None = None
) -> Outcome:
    """Kmerge's merge of a file that both sides have (an added file has an empty base)."""
    texts = three.map(lambda data: data or b"")
    return merge_files(
        *texts.each(),
        path=options.path,
        rules=options.rules,
        favor=options.favor,
        marker_size=options.marker_size,
        labels=options.labels,
        style=options.style,
        policy=options.policy,
        line_merge=line_merge,
    )


def merge_both(three: Three[bytes | None], options: Options, line_merge: MergeLines) -> Both:
    """Git's and kmerge's merge of a file, the line merge made once."""
    lines = line_merge(*three.map(lambda data: data or b"").each())
    return Both(merge_one(three, options, lambda base, ours, theirs: lines), *lines)
