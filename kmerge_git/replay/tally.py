"""Count the results of a replay while it runs, and keep only the files that a report shows."""

from __future__ import annotations

from array import array
from collections import Counter
from statistics import median
from typing import Any

from kmerge_git.replay.left_conflicts import Remaining
from kmerge_git.replay.past_merges import Chosen, Replayed, ReplayedMerge, Tried
from kmerge_git.replay.policy_trials import Trial, attribute_lines
from kmerge_git.replay.pull_requests import Heads
from kmerge_git.visible import counted

# the counts, with the words of the report
COUNTS = {
    "files": "manifests that both sides changed",
    "git_conflicts": "git leaves a conflict",
    "resolved": "of these, resolved by kmerge",
    "resolved_same_bytes": "with the same bytes as the commit",
    "resolved_same_meaning": "with the same values as the commit",
    "resolved_other_order": "like the commit, except for the order of list elements or documents",
    "resolved_different": "different from what was committed",
    "resolved_unknown": "not compared: the file is missing in the commit, or not YAML",
    "still_conflicts": "git and kmerge leave a conflict",
    "new_conflicts": "only kmerge leaves a conflict",
    "git_broken": "git leaves no conflict, but its result is broken",
    "mended": "of these, merged correctly or reported as a conflict by kmerge",
    "changed": "git and kmerge leave no conflict, but their results differ",
    "people_broken": "the committed file is broken",
    "late": "not merged within the time limit: git's line merge is used",
    "by_lines": "git's line merge is used and leaves a conflict (templates, or not YAML)",
    "deleted": "deleted on one side and changed on the other: git runs no merge driver",
    "away": "of these, kept deleted by the policy `deletion`",
    "away_as_people": "same as committed",
    "followed": "of these, merged by `kmerge resolve` into the file that has the resource now",
}
_AGREED = {
    "same bytes": "resolved_same_bytes",
    "same meaning": "resolved_same_meaning",
    "another order": "resolved_other_order",
    "different": "resolved_different",
}
# counts of each sort of files, with the words of the report
OF_A_SORT = {
    "git_conflicts": "git leaves a conflict",
    "resolved": "resolved",
    "resolved_different": "different from what was committed",
}
_REPLAYED = (
    ("merges", "replayed", "merge"),
    ("squash_merges", "replayed", "squash merge"),
    ("picks", "cherry_picks", "cherry-pick"),
    ("picks", "reverts", "revert"),
)
_LEFT_OUT = (
    ("merges", "octopus", "skipped (more than two parents)"),
    ("merges", "criss_cross", "skipped (several merge bases)"),
    ("merges", "cut_off", "skipped (the merge base is not in this shallow clone)"),
    ("merges", "missing", "skipped (objects are missing)"),
    ("picks", "elsewhere", "skipped (the picked or reverted commit is missing)"),
)

Report = dict[str, Any]  # the results as plain values, of one repository or of many together
RemainingHere = tuple[Replayed, Remaining]  # a conflict in its file


class Tally:
    """Hold the counts of a replay, and the files that a report shows."""

    def __init__(self) -> None:
        # the numbers of repeated merges
        self.kinds = {"merge": 0, "squash merge": 0, "cherry-pick": 0, "revert": 0}
        self.skipped: Counter[str] = Counter()  # the numbers of skipped commits, by reason
        self.hint = ""  # the command that fetches missing objects
        self.notes: list[str] = []  # about the history itself
        self.counts = dict.fromkeys(COUNTS, 0)
        # of squash merges, which conflicted for nobody: the button refuses what git cannot merge
        self.squashed = dict.fromkeys(COUNTS, 0)
        self.sorts: dict[str, dict[str, int]] = {}  # the counts of git's conflicts, by sort of file
        self.disagreements: list[Replayed] = []
        self.broken: list[Replayed] = []
        self.away: list[Tried] = []  # deleted files, as policy `deletion` would leave them
        self.new_conflicts: list[Replayed] = []
        self.still: list[Replayed] = []  # in conflict under both
        self.proposals: list[Trial] = []
        self.seconds = array("d")

    def add(self, merge: ReplayedMerge) -> None:
        """Add the results of one merge to the counts."""
        if merge.skipped:
            self.skipped[merge.skipped] += 1
        else:
            self.kinds[merge.kind] += 1
        self.hint = self.hint or merge.hint
        counts = self.squashed if merge.kind == "squash merge" else self.counts
        counts["deleted"] += merge.deleted
        counts["followed"] += merge.followed
        counts["away"] += len(merge.away)
        counts["away_as_people"] += sum(one.freed == "same bytes" for one in merge.away)
        self.away += [] if merge.kind == "squash merge" else merge.away
        for file in merge.files:
            self.seconds.append(file.seconds)
            facts = _facts(file)
            for name, is_so in facts.items():
                counts[name] += bool(is_so)
            if merge.kind == "squash merge":
                continue
            if not file.git_clean:
                of_sort = self.sorts.setdefault(file.sort, dict.fromkeys(OF_A_SORT, 0))
                for name in OF_A_SORT:
                    of_sort[name] += bool(facts.get(name))
            self.disagreements += [file] if file.is_disagreement else []
            self.broken += [file] if file.git_damage else []
            if not file.kmerge_clean:
                (self.new_conflicts if file.git_clean else self.still).append(file)

    @property
    def conflicted(self) -> list[Replayed]:
        """The files that kmerge leaves in conflict."""
        return [*self.still, *self.new_conflicts]

    @property
    def open_files(self) -> int:
        """The number of files in conflict, including those that one side deleted."""
        return len(self.conflicted) + self.counts["deleted"]

    def left(self) -> list[tuple[str, str, list[RemainingHere]]]:
        """Return the conflicts that git and kmerge leave, the largest groups first."""
        groups: dict[tuple[str, str], list[RemainingHere]] = {}
        for file in self.still:
            for each in file.left:
                groups.setdefault((each.cause, each.called(file.path)), []).append((file, each))
        order = sorted(groups, key=lambda key: (-len(groups[key]), key))
        return [(*key, groups[key]) for key in order]

    def milliseconds(self) -> dict[str, float]:
        """Return the median and the longest merge time of a file, in milliseconds."""
        seconds = self.seconds or [0.0]
        times = {"median": median(seconds), "longest": max(seconds)}
        return {name: round(time * 1000, 3) for name, time in times.items()}

    def as_json(self) -> Report:
        """Return all results of the replay as plain values."""
        return {
            "repositories": 1,
            "merges": {
                "replayed": self.kinds["merge"],
                "octopus": self.skipped["octopus"],
                "cut_off": self.skipped["cut off"],
                "missing": self.skipped["missing"],
                "criss_cross": self.skipped["criss-cross"],
            },
            "squash_merges": {"replayed": self.kinds["squash merge"], "counts": self.squashed},
            "picks": {
                "cherry_picks": self.kinds["cherry-pick"],
                "reverts": self.kinds["revert"],
                "elsewhere": self.skipped["elsewhere"],
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
                {"cause": cause, "field": field, "conflicts": [_plain_left(*at) for at in places]}
                for cause, field, places in self.left()
            ],
            "proposals": [trial.as_json() for trial in self.proposals],
            "gitattributes": attribute_lines(self.proposals),
        }


def replayed(report: Report) -> str:
    """Return the numbers of repeated merges: `3 merges, 2 cherry-picks, 1 revert`."""
    counts = [(report[part][name], noun) for part, name, noun in _REPLAYED]
    return ", ".join(counted(count, noun) for count, noun in counts if count) or "0 merges"


def left_out(report: Report) -> list[str]:
    """Return how many commits were not repeated, for each reason."""
    counts = [(report[part][name], why) for part, name, why in _LEFT_OUT]
    return [f"{count} {why}" for count, why in counts if count]


def times(report: Report) -> str:
    """Return the merge times in words: `1.2 ms per file (median), 1.4 ms at most`."""
    times = report["milliseconds"]
    return f"{times['median']:.1f} ms per file (median), {times['longest']:.1f} ms at most"


def _facts(file: Replayed) -> dict[str, object]:
    """Return what a file counts for: the names of counts, each with a truth value."""
    return {
        "files": True,
        "git_conflicts": not file.git_clean,
        "people_broken": file.people_damage,
        "by_lines": file.method == "lines" and not file.kmerge_clean,
        "resolved": file.is_resolved,
        _AGREED.get(file.agreement, "resolved_unknown"): file.is_resolved,
        "still_conflicts": not file.git_clean and not file.kmerge_clean,
        "new_conflicts": file.git_clean and not file.kmerge_clean,
        "git_broken": file.git_damage,
        "mended": file.git_damage and not file.kmerge_damage,
        "changed": file.changed,
        "late": file.is_late,
    }


def notes(
    tally: Tally, chosen: Chosen, heads: Heads, where: str, *, is_shallow: bool, hint: str
) -> list[str]:
    """Return notes about the replayed history that explain the counts."""
    lines = []
    if heads.missing:
        lines.append(f"{counted(heads.missing, 'ref')} skipped: the commit is not in this clone")
    if chosen.ambiguous:
        squashes = counted(chosen.ambiguous, "squash merge")
        lines.append(f"{squashes} skipped: several pull requests have the same number")
    if is_shallow:
        lines.append(
            "this shallow clone has only a part of the history; run `git fetch --unshallow`"
        )
    if hint:
        lines.append(f"commits of the history are missing in this clone: {hint}")
    if tally.skipped["missing"]:
        lines.append(f"objects of the skipped merges are missing in this clone: {tally.hint}")
    if not chosen.instead:
        return lines
    if not chosen.seen:
        return [*lines, f"no commits in {where}"]
    lines.append(f"no merges in {where}: squashed and rebased pull requests leave no merges")
    if chosen.commits:
        lines.append(
            "cherry-picks and reverts that name the id of the original commit are replayed instead"
        )
    if not heads.oids:
        lines.append("run `kmerge replay --pulls` for merges in the branches of pull requests")
    command = "kmerge refresh --with REV --branches GLOB --dry-run"
    return [*lines, f"run `{command}` to preview open branches"]


def as_plain(file: Replayed) -> dict[str, Any]:
    """Return the facts about a file of a past merge as plain values."""
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
        "blobs": file.blobs,
    }


def _plain_left(file: Replayed, left: Remaining) -> dict[str, Any]:
    return {
        "commit": file.commit,
        "path": file.path,
        "resource": left.resource,
        "field": left.field,
    }
