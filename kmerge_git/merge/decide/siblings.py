"""A tag and its digest in one map are one decision: never one side's tag with the other's digest.

`image: name:tag@sha256:...` is one value already. Here are `tag` and `digest` as two fields, with
the name of the image perhaps in a third.
"""

from __future__ import annotations

from kmerge_git.merge.decide.comments import tails_clash
from kmerge_git.merge.decide.rules import Ruling
from kmerge_git.merge.decide.versions import higher, image
from kmerge_git.merge.plan import Keep, Take
from kmerge_git.merge.three import Three, whose
from kmerge_git.tree.nodes import Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.decide.rules import Place
    from kmerge_git.merge.plan import Plan
    from kmerge_git.tree.nodes import Entry, Mapping

    At = Three[list[Entry]]
    Maps = Three[Mapping | None]
    Alone = Callable[[Path, At, Place | None], Ruling | None]

TAGS = ("tag", "newTag", "imageTag", "version", "image", "targetRevision", "rev", "ref")
DIGESTS = (
    *("digest", "imageDigest", "tagDigest", "sha256", "sha512", "sha", "imageSha", "imageID"),
    *("hash", "checksum", "commit"),
)
NAMES = (
    *("image", "imageName", "name", "newName", "repository", "repo", "repoURL", "registry"),
    *("hub", "chart", "url"),
)
BOTH = "both"

PARTED = "the tag and its digest would come from two sides"
NO_TAG = "its tag is left to decide, too"


def of_two_images(path: Path, maps: Maps) -> str:
    """Why a version cannot be compared: the map says on each side that it is of another image."""
    if not path or path[-1] not in TAGS:
        return ""
    for name in NAMES:
        if name != path[-1]:
            at = _texts(maps, name)
            ours, theirs = (image(text or "") or text or "" for text in (at.ours, at.theirs))
            if ours != theirs and not higher(ours, theirs):  # `web-1.1` and `web-1.2` are one thing
                return f"`{name}` beside it is another one on each side"
    return ""


def together(
    ruling: Ruling | None, path: Path, at: At, place: Place, alone: Alone
) -> Ruling | None:
    """What a policy may say about a tag or a digest, in view of the other one."""
    if place.maps is None or not path or path[-1] not in (*TAGS, *DIGESTS):
        return ruling
    beside = _Beside(path, place, place.maps, alone)
    if path[-1] in DIGESTS:
        return _with_tag(ruling, at, beside)
    if ruling is None or not ruling.side:
        return ruling
    is_parted = any(beside.parts_from(ruling.side, name) for name in DIGESTS)
    return _parted(ruling) if is_parted else ruling


def _with_tag(ruling: Ruling | None, at: At, beside: _Beside) -> Ruling | None:
    """A digest that both sides changed goes where its tag goes."""
    tags = {name: side for name in TAGS if (side := beside.side_of(name)) != BOTH}
    if not tags:
        return ruling
    side = next(iter(tags.values()))
    if not side or len({*tags.values()}) > 1:
        return Ruling("", "", refused=f"policy: {NO_TAG}") if ruling is not None else None
    own = beside.path[-1]
    if ruling is not None and ruling.side not in ("", side):
        return _parted(ruling)
    if any(beside.parts_from(side, name) for name in DIGESTS if name != own):
        return _parted(ruling)
    spoken = [beside.ruling(name) for name in tags]
    by_policy = next((one for one in spoken if one is not None and one.side == side), None)
    return ruling if by_policy is None else Ruling(side, by_policy.rule, plan=_value(at, side))


def _parted(ruling: Ruling | None) -> Ruling:
    """What a policy says where a tag and its digest would come from two sides."""
    rule = ruling.rule.partition(" ")[2] if ruling is not None else ""
    return Ruling("", "", refused=f"{rule or 'policy'}: {PARTED}")


def _value(at: At, side: str) -> Plan | None:
    """The value of a side, where both have one."""
    entry = next(iter(at.side(side)), None)
    if entry is None or not (at.ours and at.theirs) or not isinstance(entry.value, Scalar):
        return None
    return Keep(entry.value) if side == "ours" else Take(entry.value, entry)


class _Beside:
    """The fields beside a place, in the three versions of its mapping."""

    __slots__ = ("alone", "maps", "path", "place")

    def __init__(self, path: Path, place: Place, maps: Maps, alone: Alone) -> None:
        self.path = path
        self.place = place
        self.maps = maps
        self.alone = alone  # what the policies say about a field, whatever stands beside it

    def side_of(self, name: str) -> str:
        """Whose value a field gets: a side's, that of both, or nothing for a conflict."""
        at = _texts(self.maps, name)
        if at.ours == at.theirs:
            return BOTH
        side = whose(at)
        if side or self._is_for_a_person(name):
            return side
        ruling = self.ruling(name)
        return ruling.side if ruling is not None else ""

    def parts_from(self, side: str, name: str) -> bool:
        """Whether a field comes from the other side, or stays a conflict whatever is decided."""
        return self.side_of(name) not in (BOTH, "", side) or self._is_for_a_person(name)

    def ruling(self, name: str) -> Ruling | None:
        """What the policies say about a field for itself."""
        return self.alone((*self.path[:-1], name), _entries(self.maps, name), self.place)

    def _is_for_a_person(self, name: str) -> bool:
        """Whether both sides changed a field, and the comments behind it, too."""
        at = _entries(self.maps, name).map(lambda found: found[0] if found else None)
        return not whose(_texts(self.maps, name)) and tails_clash(at)


def _texts(maps: Maps, name: str) -> Three[str | None]:
    """A field's value on each side as text."""
    found = _entries(maps, name)
    return found.map(lambda entries: _text(entries[0]) if entries else None)


def _text(entry: Entry) -> str | None:
    return entry.value.value if isinstance(entry.value, Scalar) else None


def _entries(maps: Maps, name: str) -> At:
    return maps.map(lambda m: [m.index()[name]] if m is not None and name in m.index() else [])
