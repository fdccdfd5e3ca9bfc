"""Take the later one of two timestamps that no person decides (rule 16).

A program writes them whenever it writes the file: `operator-sdk` into a ClusterServiceVersion, Helm
into the index of a chart repository and into a lock of dependencies. They are known by name, and
both must be times of RFC 3339. No other value is decided without a policy. The digest of a lock is
the digest of the dependencies that Helm has resolved; neither side's belongs to those of both.
"""

from __future__ import annotations

from datetime import datetime

from kmerge_git.merge.decide.higher_version import DIGITS, is_number
from kmerge_git.merge.decide.rules import Ruling
from kmerge_git.merge.plan import Keep, Take
from kmerge_git.merge.three import Three
from kmerge_git.tree.nodes import Scalar, inline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.decide.rules import Place, Policy
    from kmerge_git.tree.nodes import Entry

    Moment = tuple[datetime, str]  # to the second, and the fraction of a second

RULE = "16 later time"
FORMS = [f"0000-00-00T00:00:00{zone}" for zone in ("Z", "+00:00", "-00:00")]
UPDATE = "run `helm dependency update`"


def with_time(policy: Policy | None, time: Path, *, is_lock: bool) -> Policy:
    """Return a policy that also decides the timestamp at a path, if no other policy does.

    Of a lock it refuses the digest.
    """

    def decide(
        path: Path,
        base: list[Entry],
        ours: list[Entry],
        theirs: list[Entry],
        place: Place | None = None,
    ) -> Ruling | None:
        ruling = policy(path, base, ours, theirs, place) if policy is not None else None
        if ruling is not None and ruling.side:
            return ruling
        if path == time:
            return _later(Three(base, ours, theirs)) or ruling
        is_digest = is_lock and path == ("digest",)
        return Ruling("", "", refused=UPDATE) if is_digest else ruling

    return decide


def _later(at: Three[list[Entry]]) -> Ruling | None:
    """Take the later value, unless a side went back, or a value is not a time."""
    entries = [entry for entries in at.each() for entry in entries]
    known = [moment for moment in map(_moment, entries) if moment is not None]
    if not (at.ours and at.theirs) or len(known) < len(entries):
        return None
    *before, ours, theirs = known
    if ours == theirs or any(moment > min(ours, theirs) for moment in before):
        return None
    if ours > theirs:
        return Ruling("ours", RULE, plan=Keep(at.ours[0].value))
    return Ruling("theirs", RULE, plan=Take(at.theirs[0].value, at.theirs[0]))


def _moment(entry: Entry) -> Moment | None:
    """Return the time of `2023-10-11T17:54:55.123Z`, or None for other values."""
    node = entry.value
    if not isinstance(node, Scalar) or not inline(node) or node.anchor or node.tag:
        return None
    text = node.value.upper()
    zone = text[-1:] if text[-1:] == "Z" else text[-6:]
    second, fraction = text[:19], text[19 : -len(zone)]
    form = "".join("0" if char in DIGITS else char for char in second + zone)
    is_fraction = not fraction or (fraction[0] == "." and is_number(fraction[1:]))
    if form not in FORMS or not is_fraction:
        return None
    try:
        moment = datetime.fromisoformat(second + zone.replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment, fraction.rstrip("0")
