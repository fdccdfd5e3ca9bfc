"""What a replay found, counted while it runs; only what is worth a look is kept whole."""

from __future__ import annotations

from array import array
from statistics import median
from typing import Any

from kmerge_git.replay.left_conflicts import Remaining
from kmerge_git.replay.past_merges import Chosen, Replayed, ReplayedMerge
from kmerge_git.replay.policy_trials import Trial, attribute_lines

# what is counted, with the words of the report
COUNTS = {
    "files": "manifests changed on both sides",
    "git_conflicts": "conflict under git",
    "resolved": "of these kmerge resolves",
    "resolved_same_bytes": "with the very bytes that people committed",
    "resolved_same_meaning": "with the same meaning",
    "resolved_other_order": "the same but for the order of list items or documents",
    "resolved_different": "differently from people",
    "resolved_unknown": "the file is not in people's commit, or not YAML",
    "still_conflicts": "conflict under both",
    "new_conflicts": "clean under git, a conflict under kmerge",
    "git_broken": "clean under git, but broken",
    "mended": "of these kmerge merges to a sound result or stops",
    "changed": "clean under both, with different results",
    "people_broken": "broken in what people committed",
    "late": "no result within the time limit: git's line merge stands",
    "by_lines": "merged by lines (templates, not YAML)",
    "deleted": "deleted on one side and changed on the other: a conflict, no driver is asked",
    "followed": "of these `kmerge solve` takes the edit to where the resource is now",
}
_AGREED = {
    "same bytes": "resolved_same_bytes",
    "same meaning": "resolved_same_meaning",
    "another order": "resolved_other_order",
    "different": "resolved_different",
}


# what is counted for each sort of files, with the words of the report
OF_A_SORT = {
    "git_conflicts": "conflict under git",
    "resolved": "resolved",
    "resolved_different": "differently from people",
}

RemainingHere = tuple[Replayed, Remaining]  # a conflict in its file


class Tally:
    """The counts of a replay, and the files that deserve a look."""

    def __init__(self) -> None:
        self.merges = 0
        self.octopus = 0
        self.cut_off = 0
        self.missing = 0
        self.elsewhere = 0
        self.picks = 0
        self.reverts = 0
        self.criss_cross = 0
        self.hint = ""  # what brings the missing objects
        self.notes: list[str] = []  # what is to be known about the history itself
        self.counts = dict.fromkeys(COUNTS, 0)
        self.sorts: dict[str, dict[str, int]] = {}  # of git's conflicts
        self.disagreements: list[Replayed] = []
        self.broken: list[Replayed] = []
        self.new_conflicts: list[Replayed] = []
        self.still: list[Replayed] = []  # in conflict under both
        self.proposals: list[Trial] = []
        self.seconds = array("d")

    def replayed(self) -> str:
        """What was made again: `3 merges, 2 cherry-picks, 1 revert`."""
        kinds = ((self.merges, "merge"), (self.picks, "cherry-pick"), (self.reverts, "revert"))
        parts = [f"{count} {noun}{'s' * (count != 1)}" for count, noun in kinds if count]
        return ", ".join(parts) or "0 merges"

    def left_out(self) -> list[str]:
        """How many were not made again, and why."""
        return [
            f"{count} {words}"
            for count, words in (
                (self.octopus, "with more than two parents left out"),
                (self.cut_off, "beyond this shallow clone"),
                (self.missing, "left out for want of an object"),
                (self.elsewhere, "of a commit that is not here"),
            )
            if count
        ]

    def add(self, merge: ReplayedMerge) -> None:
        """Count one merge."""
        self.octopus += merge.skipped == "octopus"
        self.cut_off += merge.skipped == "cut off"
        self.missing += merge.skipped == "missing"
        self.elsewhere += merge.skipped == "elsewhere"
        self.hint = self.hint or merge.hint
        if not merge.skipped:
            self.merges += merge.kind == "merge"
            self.picks += merge.kind == "cherry-pick"
            self.reverts += merge.kind == "revert"
        self.criss_cross += merge.criss_cross
        self.counts["deleted"] += merge.deleted
        self.counts["followed"] += merge.followed
        for file in merge.files:
            self._count(file)
            self.seconds.append(file.seconds)
            self.disagreements += [file] if file.is_disagreement else []
            self.broken += [file] if file.git_damage else []
            if not file.kmerge_clean:
                (self.new_conflicts if file.git_clean else self.still).append(file)

    def _count(self, file: Replayed) -> None:
        names = ["files"]
        names += ["git_conflicts"] if not file.git_clean else []
        names += ["people_broken"] if file.people_damage else []
        names += ["by_lines"] if file.method == "lines" and not file.kmerge_clean else []
        if file.is_resolved:
            names += ["resolved", _AGREED.get(file.agreement, "resolved_unknown")]
        elif not file.git_clean:
            names.append("still_conflicts")
        elif not file.kmerge_clean:
            names.append("new_conflicts")
        if file.git_damage:
            names.append("git_broken")
            names += [] if file.kmerge_damage else ["mended"]
        names += ["changed"] if file.changed else []
        names += ["late"] if file.is_late else []
        for name in names:
            self.counts[name] += 1
        if not file.git_clean:
            of_sort = self.sorts.setdefault(file.sort, dict.fromkeys(OF_A_SORT, 0))
            for name in OF_A_SORT.keys() & names:
                of_sort[name] += 1

    @property
    def conflicted(self) -> list[Replayed]:
        """The files that kmerge leaves in conflict."""
        return [*self.still, *self.new_conflicts]

    def left(self) -> list[tuple[str, str, list[RemainingHere]]]:
        """What is left under both, by cause and field, the most conflicts first."""
        groups: dict[tuple[str, str], list[RemainingHere]] = {}
        for file in self.still:
            for each in file.left:
                groups.setdefault((each.cause, each.called(file.path)), []).append((file, each))
        order = sorted(groups, key=lambda key: (-len(groups[key]), key))
        return [(*key, groups[key]) for key in order]

    def milliseconds(self) -> dict[str, float]:
        """Median and longest time of a file."""
        seconds = self.seconds or [0.0]
        return {
            "median": round(median(seconds) * 1000, 3),
            "longest": round(max(seconds) * 1000, 3),
        }

    def times(self) -> str:
        """`1.2 ms a file (median), 1.4 ms at most`: both rounded alike."""
        times = self.milliseconds()
        return f"{times['median']:.1f} ms a file (median), {times['longest']:.1f} ms at most"

    def as_json(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return {
            "merges": {
                "replayed": self.merges,
                "octopus": self.octopus,
                "cut_off": self.cut_off,
                "missing": self.missing,
                "criss_cross": self.criss_cross,
            },
            "picks": {
                "cherry_picks": self.picks,
                "reverts": self.reverts,
                "elsewhere": self.elsewhere,
            },
            "notes": list(self.notes),
            "counts": self.counts,
            "by_kind": self.sorts,
            "milliseconds": self.milliseconds(),
            "disagreements": [
                {"number": number} | as_plain(file)
                for number, file in enumerate(self.disagreements, 1)
            ],
            "git_broken": [as_plain(file) for file in self.broken],
            "new_conflicts": [as_plain(file) for file in self.new_conflicts],
            "left": [
                {"cause": cause, "field": field, "conflicts": [_plain_left(*at) for at in found]}
                for cause, field, found in self.left()
            ],
            "proposals": [trial.as_json() for trial in self.proposals],
            "gitattributes": attribute_lines(self.proposals),
        }


def notes(tally: Tally, chosen: Chosen, where: str, *, is_shallow: bool, hint: str) -> list[str]:
    """What a reader of the counts has to know about the history that was replayed."""
    found = []
    if is_shallow:
        found.append("the history is cut off, this is a shallow clone: `git fetch --unshallow`")
    if hint:
        found.append(f"the history has holes, commits are not here: {hint}")
    if tally.missing:
        found.append(f"objects of the merges that were left out are not here: {tally.hint}")
    if not chosen.instead:
        return found
    if not chosen.seen:
        return [*found, f"no commits in {where}"]
    found.append(f"no merges in {where}: squashed and rebased pull requests leave none")
    if chosen.commits:
        found.append("cherry-picks and reverts that name their commit are replayed instead")
    command = "kmerge refresh --with REV --branches GLOB --dry-run"
    return [*found, f"what open branches would come to: `{command}`"]


def as_plain(file: Replayed) -> dict[str, Any]:
    """A file of a past merge, as plain values."""
    return {
        "commit": file.commit,
        "subject": file.subject,
        "path": file.path,
        "git": "clean" if file.git_clean else "conflict",
        "git_damage": list(file.git_damage),
        "kmerge": "clean" if file.kmerge_clean else "conflict",
        "people": file.agreement,
        "people_damage": list(file.people_damage),
        "conflicts": list(file.places),
        "criss_cross": file.criss_cross,
        "blobs": file.blobs,
    }


def _plain_left(file: Replayed, left: Remaining) -> dict[str, Any]:
    return {
        "commit": file.commit,
        "path": file.path,
        "resource": left.resource,
        "field": left.field,
    }
