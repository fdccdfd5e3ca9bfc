"""Say why a file is left in conflict, and how a person decides it.

No merge of fields can decide these files: links, submodules, binary files, names of files, files
of other merge drivers, and files that nobody but the owner of a key can write.
"""

from __future__ import annotations

from kmerge_git.git.index_stages import Stages
from kmerge_git.git.repository import Repository
from kmerge_git.git.touched_files import SUBMODULE
from kmerge_git.outcome import Outcome

EITHER = "`git checkout --ours FILE` or `--theirs`, then `git add` it"
OR_GONE = "`git add` keeps it, `git rm` takes it away"
BY_MARKERS = "decide between its markers, then `git add` it"
BY_HAND = "correct the file, then `git add` it"
NAMES = "`git rm` the names that are not wanted, `git add` the one that is"
IN_ONE_SIDE = (
    "`git checkout --ours FILE` or `--theirs`, make the other change in it, then `git add` it"
)
_IN_SUBMODULE = "`git -C FILE checkout COMMIT`, then `git add` it"
_LOOKED_AT = 8000  # bytes at the start of a file in which git looks for a NUL byte
_NO_MERGE = ("unset", "binary")  # values of the attribute `merge` with which git keeps ours
_MODE = "`git add --chmod=+x FILE` or `--chmod=-x`"


def two_modes(stages: Stages) -> str:
    """If both sides added a file with different modes, return the reason; otherwise return ''."""
    ours, theirs = stages.ours, stages.theirs
    if stages.base or not (ours and theirs and ours.is_text and theirs.is_text):
        return ""
    if ours.mode == theirs.mode:
        return ""
    return f"added with mode {ours.mode:o} on our side and {theirs.mode:o} on theirs"


def way_out(stages: Stages, outcome: Outcome | None = None) -> str:
    """Return what a person does about a file; return '' if the reason itself already says this."""
    if any(entry and entry.mode == SUBMODULE for entry in stages.entries):
        return _IN_SUBMODULE
    if outcome is None:
        if None in (stages.ours, stages.theirs):
            return (
                NAMES
                if all(entry is None or entry.is_text for entry in stages.entries)
                else OR_GONE
            )
        return EITHER
    if outcome.method == "sealed":
        return IN_ONE_SIDE
    return _MODE if outcome.clean else EITHER


def why_left(repository: Repository, stages: Stages, refusal: str) -> tuple[str, str]:
    """Return why a file that kmerge does not merge is left, and what a person does about it.

    `refusal` says why kmerge does not merge files of that path.
    """
    if stages.obstacle:
        return stages.obstacle, way_out(stages)
    if None in (stages.ours, stages.theirs):
        return f"{refusal}, {stages.situation}", OR_GONE
    reasons = [refusal, two_modes(stages)]
    texts = [repository.text(entry) or b"" for entry in stages.entries]
    if any(b"\0" in text[:_LOOKED_AT] for text in texts):
        reasons.append("binary")
    if reasons[-1] == "binary" or repository.attribute(stages.path, "merge") in _NO_MERGE:
        way = EITHER
    else:
        way = _MODE if reasons[1] else ""
    return ", ".join(filter(None, reasons)), way


def with_way(why: str, way: str) -> str:
    """Return a reason, and behind it what a person does about it."""
    return f"{why}; {way}" if way else why
