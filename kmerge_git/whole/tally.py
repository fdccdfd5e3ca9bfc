"""What a replay found, counted while it runs; only what is worth a look is kept whole."""

from __future__ import annotations

from array import array
from statistics import median
from typing import Any

from kmerge_git.whole.replaying import Replayed, ReplayedMerge

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


class Tally:
    """The counts of a replay, and the files that deserve a look."""

    def __init__(self) -> None:
        self.merges = 0
        self.octopus = 0
        self.cut_off = 0
        self.criss_cross = 0
        self.counts = dict.fromkeys(COUNTS, 0)
        self.disagreements: list[Replayed] = []
        self.broken: list[Replayed] = []
        self.new_conflicts: list[Replayed] = []
        self.seconds = array("d")

    def add(self, merge: ReplayedMerge) -> None:
        """Count one merge."""
        self.octopus += merge.skipped == "octopus"
        self.cut_off += merge.skipped == "cut off"
        self.merges += not merge.skipped
        self.criss_cross += merge.criss_cross
        self.counts["deleted"] += merge.deleted
        self.counts["followed"] += merge.followed
        for file in merge.files:
            self._count(file)
            self.seconds.append(file.seconds)
            self.disagreements += [file] if file.is_disagreement else []
            self.broken += [file] if file.git_damage else []
            self.new_conflicts += [file] if file.git_clean and not file.kmerge_clean else []

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
        for name in names:
            self.counts[name] += 1

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
            "schema": 1,
            "merges": {
                "replayed": self.merges,
                "octopus": self.octopus,
                "cut_off": self.cut_off,
                "criss_cross": self.criss_cross,
            },
            "counts": self.counts,
            "milliseconds": self.milliseconds(),
            "disagreements": [
                {"number": number} | as_plain(file)
                for number, file in enumerate(self.disagreements, 1)
            ],
            "git_broken": [as_plain(file) for file in self.broken],
            "new_conflicts": [as_plain(file) for file in self.new_conflicts],
        }


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
