"""Apply policies: a team decides once for a field, instead of once for every conflict (rule 12).

A policy only decides a conflict. `higher` decides if both values are versions of the same thing,
`rebump` decides a chart's own version, `mine` decides the changelog of that version, and `union`
decides if both sides only added to a list. Otherwise the conflict stays, and the ruling gives the
reason. A tag and its digest in one map are decided together, so that the tag never comes from
one side and the digest from the other. A value like `image: name:tag@sha256:...` holds both tag and
digest in one scalar.
"""

from __future__ import annotations

from kmerge_git.kube.fieldpath import matches, pattern
from kmerge_git.kube.likeness import is_named_alike
from kmerge_git.merge.decide.comments import tails_clash
from kmerge_git.merge.decide.higher_version import (
    LETTERS,
    compared,
    higher,
    image,
    is_moment,
    is_number,
    is_port,
    version,
)
from kmerge_git.merge.decide.rules import Ruling
from kmerge_git.merge.plan import ADVICE, Keep, Take
from kmerge_git.merge.three import Three, whose
from kmerge_git.outcome import SIDES
from kmerge_git.tree.documents import split_text
from kmerge_git.tree.nodes import Collection, Scalar, inline
from kmerge_git.tree.same import same_comments, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kmerge_git.kube.fieldpath import Path, Word
    from kmerge_git.merge.decide.rules import Place, Policy
    from kmerge_git.merge.plan import Plan
    from kmerge_git.tree.nodes import Entry, Mapping

    Numbers = tuple[int, ...]
    # `v` or '' and three numbers; of a prerelease, all before its last number, and this number
    Chart = tuple[str, Numbers]
    At = Three[list[Entry]]
    Maps = Three[Mapping | None]
    Alone = Callable[[Path, At, Place | None], Ruling | None]


CHART = "Chart.yaml"
KINDS = ("major", "minor", "patch")


def is_chart(file: str) -> bool:
    """Return whether a path is that of a chart's description."""
    return file.rpartition("/")[2] == CHART


def rebumped(base: str | None, mine: str, other: str) -> tuple[str, str]:
    """Return a version above both versions, and the kind of bump that made it.

    The kind is '' if `mine` is taken unchanged. `mine` is taken if it is the higher version.
    Otherwise the bump that made `mine` is applied to `other`. For example, one side changed 1.2.0
    to 1.2.1 and the other changed it to 1.3.0: `mine` is a patch, so the result is 1.3.1. Of
    prereleases only the last number may differ, as in `2.3.0-beta.4`. If there is no such version,
    return no version and the reason.
    """
    parsed = [_chart_version(text) for text in (mine, other, base) if text is not None]
    versions = [known for known in parsed if known is not None]
    forms = {form for form, _ in versions}
    if len(versions) < len(parsed) or len(forms) > 1:
        return "", _refusal(mine, other, base or "", is_parsed=len(versions) == len(parsed))
    form, numbers = versions[0]
    others = versions[1][1]
    if base is None:
        why = "the merge base has no version"
        return (mine, "") if numbers > others and "-" not in form else ("", why)
    start = versions[2][1]
    if numbers <= start or others <= start:
        return "", "one side did not raise the version"
    if numbers == others:
        return "", "the versions are equal"
    return (mine, "") if numbers > others else _bumped(form, start, numbers, others)


def _bumped(form: str, start: Numbers, numbers: Numbers, others: Numbers) -> tuple[str, str]:
    """Return the other version with the bump that made `numbers` of `start`, and its kind."""
    at = next(n for n, number in enumerate(numbers) if number != start[n])
    bumped = (*others[:at], others[at] + 1, *[0] * (len(others) - at - 1))
    kind = KINDS[at] if len(numbers) == len(KINDS) else "prerelease"
    return form + ".".join(map(str, bumped)), kind


def _refusal(*texts: str, is_parsed: bool) -> str:
    if any("+" in text for text in texts):
        return "a version with build metadata cannot be bumped"
    if any("-" in text for text in texts):
        return "prereleases can be bumped only if they differ in just the last number"
    return (
        "the versions have different formats" if is_parsed else "the values are not chart versions"
    )


def _chart_version(text: str) -> Chart | None:
    """Return the form and the numbers of `1.2.3`, `v1.2.3` or `1.2.3-rc.1`, None for other texts.

    Without a dot before its last number a prerelease has no number: `rc10` is lower than `rc9`.
    """
    release, dash, pre = text.partition("-")
    prefix = "v" if release[:1] == "v" else ""
    parts = release[len(prefix) :].split(".")
    word, _, count = pre.partition(".")
    counted = [*parts, count] if dash else parts
    is_known = all(is_number(part) and str(int(part)) == part for part in counted)
    is_word = not word.strip(LETTERS) and bool(word) == bool(dash)
    if len(parts) != 3 or not is_known or not is_word:
        return None
    numbers = tuple(map(int, counted))
    return (f"{release}-{word}.", numbers[3:]) if dash else (prefix, numbers)


VERSION = ("version",)
MOST_OF_ADVICE = 40  # characters of a version in a label
RULE = "12 policy rebump"
ON_TOP = "only a merge, rebase or cherry-pick shows which change goes on top"
NOT_ONE_VALUE = "both sides must have a single-line value"
MARKED = "one of the values has an anchor or a tag"
NOTHING = Ruling("", "")
UNQUOTED = "YAML reads these values as numbers (1.10 as 1.1); put them in quotes"
# endings of field names for which a plain number is a version
VERSIONS = ("version", "tag", "image", "release", "chart", "revision", "rev", "ref", "channel")


def policy_for(
    rules: list[tuple[str, str]],
    mine: str = "",
    file: str = "",
    is_topic: Callable[[], bool] | None = None,
) -> Policy | None:
    """Return a policy made of pairs of field path and policy name.

    If several pairs match a field, the first pair that decides counts. `rebump` and `mine` put the
    change of side `mine` on top of the other side's change; if `mine` is empty, they refuse. `file`
    is the path of the file in the repository. `is_topic` returns whether a merge is made into a
    branch other than the default branch; only `mine` asks. For a chart's own version
    the ruling says what `rebump` would write, even without a rule.
    """
    chart = _OnTop(mine, is_chart(file), is_topic)
    if not rules and not chart.is_chart:
        return None
    patterns = [(pattern(field), name) for field, name in rules]
    is_rebumped = any(name == "rebump" for _, name in rules)

    def alone(path: Path, at: At, place: Place | None) -> Ruling | None:
        refused: dict[str, None] = {}
        for words, name in patterns:
            if matches(words, path):
                ruling = _ruling(name, words, path, at, place, chart)
                if ruling.side:
                    return ruling
                if ruling.refused and at.ours and at.theirs:
                    refused[f"policy {name}: {ruling.refused}"] = None
        advice = "" if is_rebumped else chart.advice(path, at)
        refused |= {advice: None} if advice else {}
        return _refused("; ".join(refused)) if refused else None

    def decide(
        path: Path,
        base: list[Entry],
        ours: list[Entry],
        theirs: list[Entry],
        place: Place | None = None,
    ) -> Ruling | None:
        at = Three(base, ours, theirs)
        ruling = alone(path, at, place)
        return together(ruling, path, at, place, alone) if place is not None else ruling

    return decide


def _ruling(
    name: str, words: list[Word], path: Path, at: At, place: Place | None, chart: _OnTop
) -> Ruling:
    """Return the ruling of one policy about a field; `words` are the pattern that matches it."""
    if name == "rebump":
        return chart.rebump(path, at)
    if name == "mine":
        return chart.changes(path, at, is_named=_names(words, path))
    if name == "higher" and chart.is_own(path) and words != [*VERSION]:
        # the higher version may be published already, with other content
        return _refused("use `rebump` for a chart's own version")
    if name == "higher":
        return _higher(at, path, place, is_named=_names(words, path))
    return Ruling(name, f"12 policy {name}") if name in SIDES else _union(at, place)


def _names(words: list[Word], path: Path) -> bool:
    """Return whether a field path ends in the name of a field, so that its content is known."""
    word = words[-1] if words else "**"
    last = word if isinstance(word, str) else word[0]
    return last != "**" and (last != "*" or not isinstance(path[-1], str))


def _refused(why: str) -> Ruling:
    return Ruling("", "", refused=why)


# -- lists


def _union(at: At, place: Place | None) -> Ruling:
    """Keep the additions of both sides, and common additions once; the list must be in the base."""
    is_added = not at.base and at.ours and at.theirs
    if not is_added or any(entry.key is not None for entry in (*at.ours, *at.theirs)):
        return NOTHING
    lists = place.lists if place is not None else None
    if lists is not None and (lists.base is None or not lists.base.entries):
        return _refused("both sides added the whole list")
    why = _two_versions(at)
    if why:
        return _refused(why)
    left = list(at.ours)
    taken = []
    for entry in at.theirs:
        twin = next((one for one in left if same_node(one.value, entry.value)), None)
        if twin is None:
            taken.append(entry)
        elif same_comments(twin, entry):
            left.remove(twin)
        else:
            return _refused("both sides added the same element with different comments")
    return Ruling("union", "12 policy union", taken=taken)


def _two_versions(at: At) -> str:
    """If both sides add one element in two versions, return this as a reason to refuse, else ''."""
    mine, yours = _options(at.ours), _options(at.theirs)
    if any(mine[name] != yours[name] for name in mine if name in yours):
        return "both sides added the same option with different values"
    pairs = ((ours.value, theirs.value) for ours in at.ours for theirs in at.theirs)
    if any(is_named_alike(a, b, anywhere=True) and not same_node(a, b) for a, b in pairs):
        return "both sides added the same element with different values"
    return ""


def _options(entries: list[Entry]) -> dict[str, str]:
    """Return the options of a command line, written `--b=1`, or `--b` followed by `1`."""
    texts = [entry.value.value if isinstance(entry.value, Scalar) else "" for entry in entries]
    options = {}
    for text, follows in zip(texts, [*texts[1:], ""], strict=True):
        name, sign, value = text.partition("=")
        if sign or text[:1] == "-":
            options[name] = value if sign or follows[:1] == "-" else follows
    return options


# -- versions


def _higher(at: At, path: Path, place: Place | None, *, is_named: bool) -> Ruling:
    """Take the value of the side that has the higher version."""
    if not (at.ours and at.theirs):
        return NOTHING  # a deleted field has no version
    values = [*_values(at)]
    if len(values) != 2:
        return _refused(NOT_ONE_VALUE)
    ours, theirs = values
    side, why = compared(ours.value, theirs.value)
    maps = place.maps if place is not None else None
    why = why or _doubt(path, ours, theirs, side) or _back(at.base, ours.value, theirs.value)
    if not (why or is_named or _is_version(path)) and all(map(_is_quantity, values)):
        why = "the field's name does not show that the values are versions"
    why = why or (of_two_images(path, maps) if maps is not None else "")
    if why:
        return _refused(why)
    plan: Plan = Keep(ours) if side == "ours" else Take(theirs, at.theirs[0])
    return Ruling(side, "12 policy higher", plan=plan)


def _doubt(path: Path, ours: Scalar, theirs: Scalar, side: str) -> str:
    """If the values may be something other than versions, return the reason, else ''."""
    is_image = path and isinstance(path[-1], str) and path[-1].lower().endswith("image")
    if is_port(ours.value) and is_port(theirs.value) and not is_image:
        return "the values may be port numbers"
    if (ours.anchor, ours.tag) != (theirs.anchor, theirs.tag):
        return MARKED
    if _are_floats(ours, theirs):
        left, right = float(ours.value), float(theirs.value)
        return "" if (left > right if side == "ours" else right > left) else UNQUOTED
    return UNQUOTED if _is_cut(ours) or _is_cut(theirs) else ""


def _is_version(path: Path) -> bool:
    """Return whether the name of a field shows that the field holds a version."""
    names = [step for step in path if isinstance(step, str)]
    return bool(names) and names[-1].lower().endswith(VERSIONS)


def _is_quantity(node: Scalar) -> bool:
    """Return whether a value may be an amount or an id, as `0.5` and `4-core` may."""
    parts = version(node.value)
    if parts is None or image(node.value):
        return False
    prefix, numbers, _, variant = parts
    is_bare = not prefix and not variant
    return prefix not in ("v", "V") and (len(numbers) == 1 or (is_bare and len(numbers) == 2))


def _back(before: list[Entry], ours: str, theirs: str) -> str:
    """If a side went back to a lower version, return this as a reason to refuse, else ''."""
    base = before[0].value if len(before) == 1 else None
    if not isinstance(base, Scalar) or is_moment(base.value):  # the clock of a program may be late
        return ""
    is_back = "ours" in (higher(base.value, ours), higher(base.value, theirs))
    return "one side went back to a lower version" if is_back else ""


def _values(at: At) -> Iterator[Scalar]:
    """Yield the value of each side that has one value, if the value is on one line."""
    for entries in (at.ours, at.theirs):
        value = entries[0].value if len(entries) == 1 else None
        if isinstance(value, Scalar) and inline(value):
            yield value


def _is_cut(node: Scalar) -> bool:
    """Return whether YAML parsers read another version: unquoted, `1.10` is 1.1, but 2.0 is 2.0."""
    return _are_floats(node) and node.value[-1:] == "0" and node.value[-2:] != ".0"


def _are_floats(*nodes: Scalar) -> bool:
    """Return whether YAML parsers read all these values as plain numbers like `0.5`."""
    return all(
        not node.style and node.value.count(".") == 1 and is_number(node.value.replace(".", ""))
        for node in nodes
    )


class _OnTop:
    """Decide the version of a chart and its changelog for the side whose change goes on top."""

    __slots__ = ("is_chart", "is_topic", "mine")

    def __init__(self, mine: str, is_chart: bool, is_topic: Callable[[], bool] | None) -> None:
        self.mine = mine  # the side, or ''
        self.is_chart = is_chart  # whether the file is a `Chart.yaml`
        self.is_topic = is_topic  # see `policy_for`

    def is_own(self, path: Path) -> bool:
        """Return whether a field is the chart's own version."""
        return self.is_chart and path == VERSION

    def rebump(self, path: Path, at: At) -> Ruling:
        """Take a version above both versions; bump `mine` if it is not above the other version."""
        if not self.is_own(path):
            return _refused(f"only the `version` of a {CHART} can be bumped")
        if not self.mine:
            return _refused(ON_TOP)
        values = [*_values(at)]
        before = at.base[0].value if at.base else None
        if len(values) != 2 or not isinstance(before, Scalar | type(None)):
            return _refused(NOT_ONE_VALUE)
        ours, theirs = values
        if ours.anchor or ours.tag or theirs.anchor or theirs.tag:
            return _refused(MARKED)
        start = before.value if before is not None else None
        own, other = (ours, theirs) if self.mine == "ours" else (theirs, ours)
        value, kind = rebumped(start, own.value, other.value)
        if not value:
            return _refused(kind)
        if value == own.value:
            return Ruling(self.mine, RULE, plan=_value(at, self.mine))
        what = f"set to {value}: {other.value} with the same bump ({kind}) as in {self.mine}"
        return Ruling("neither", RULE, plan=_written(value, ours.style), what=what)

    def advice(self, path: Path, at: At) -> str:
        """Return what `rebump` would write, if it would decide a place."""
        plan = self.rebump(path, at).plan
        node = plan.node if isinstance(plan, Keep | Take) else None
        is_short = isinstance(node, Scalar) and len(node.value) <= MOST_OF_ADVICE
        return f"{ADVICE} {node.value}" if isinstance(node, Scalar) and is_short else ""

    def changes(self, path: Path, at: At, *, is_named: bool) -> Ruling:
        """Take the whole annotation of `mine`, if a policy puts the version of `mine` on top.

        The other side's changes are published with its own version. In a merge into the default
        branch nothing shows which side is new.
        """
        is_annotation = self.is_chart and len(path) == 2 and path[0] == "annotations"
        if not is_annotation or not is_named:
            return _refused(
                f"the policy must name an annotation in a {CHART} in full, without wildcards"
            )
        if not (at.ours or at.theirs):
            return Ruling("ours", "12 policy mine", after=VERSION)  # a text: see `by_policy`
        if not (at.ours and at.theirs):
            return NOTHING  # a list of changes against a deleted one
        if not self.mine:
            return _refused(ON_TOP)
        if self.mine == "ours" and self.is_topic is not None and not self.is_topic():
            return _refused("the merge is into the default branch, or `origin/HEAD` is not set")
        return Ruling(self.mine, "12 policy mine", plan=_value(at, self.mine), after=VERSION)


def _written(value: str, quote: str) -> Take:
    """Write a value that neither side has, in our quotes."""
    root = split_text(f"version: {quote}{value}{quote}\n").documents[0].root
    assert isinstance(root, Collection)  # just written so
    entry = root.entries[0]
    return Take(entry.value, entry, keeps_comment=True)


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


def of_two_images(path: Path, maps: Maps) -> str:
    """If each side has a different image in the same map, return why tags are not comparable.

    Otherwise return ''.
    """
    if not path or path[-1] not in TAGS:
        return ""
    for name in NAMES:
        if name != path[-1]:
            at = _texts(maps, name)
            ours, theirs = (image(text or "") or text or "" for text in (at.ours, at.theirs))
            if ours != theirs and not higher(ours, theirs):  # `web-1.1` and `web-1.2` are one image
                return f"`{name}` in the same map is different on each side"
    return ""


def together(
    ruling: Ruling | None, path: Path, at: At, place: Place, alone: Alone
) -> Ruling | None:
    """Decide a tag and its digest together: adjust the ruling about a field to the other field."""
    if place.maps is None or not path or path[-1] not in (*TAGS, *DIGESTS):
        return ruling
    neighbours = _Neighbours(path, place, place.maps, alone)
    if path[-1] in DIGESTS:
        return _with_tag(ruling, at, neighbours)
    if ruling is None or not ruling.side:
        return ruling
    is_parted = any(neighbours.parts_from(ruling.side, name) for name in DIGESTS)
    return _parted(ruling) if is_parted else ruling


def _with_tag(ruling: Ruling | None, at: At, neighbours: _Neighbours) -> Ruling | None:
    """Decide a digest that both sides changed in the same way as its tag."""
    tags = {name: side for name in TAGS if (side := neighbours.side_of(name)) != BOTH}
    if not tags:
        return ruling
    side = next(iter(tags.values()))
    if not side or len({*tags.values()}) > 1:
        return (
            None
            if ruling is None
            else _refused("policy: the tag of this digest has a conflict, too")
        )
    own = neighbours.path[-1]
    if ruling is not None and ruling.side not in ("", side):
        return _parted(ruling)
    if any(neighbours.parts_from(side, name) for name in DIGESTS if name != own):
        return _parted(ruling)
    spoken = [neighbours.ruling(name) for name in tags]
    by_policy = next((one for one in spoken if one is not None and one.side == side), None)
    return ruling if by_policy is None else Ruling(side, by_policy.rule, plan=_value(at, side))


def _parted(ruling: Ruling | None) -> Ruling:
    """Refuse a ruling that would take a tag from one side and its digest from the other."""
    rule = ruling.rule.partition(" ")[2] if ruling is not None else ""
    return _refused(f"{rule or 'policy'}: the tag and its digest would come from different sides")


def _value(at: At, side: str) -> Plan | None:
    """Return the value of a side, if both sides have a value."""
    entry = next(iter(at.side(side)), None)
    if entry is None or not (at.ours and at.theirs) or not isinstance(entry.value, Scalar):
        return None
    return Keep(entry.value) if side == "ours" else Take(entry.value, entry)


class _Neighbours:
    """Hold the fields of the mapping around a field, in its three versions."""

    __slots__ = ("alone", "maps", "path", "place")

    def __init__(self, path: Path, place: Place, maps: Maps, alone: Alone) -> None:
        self.path = path
        self.place = place
        self.maps = maps
        self.alone = alone  # the ruling about a field, without its neighbours

    def side_of(self, name: str) -> str:
        """Return the side whose value a field gets, `both`, or '' for a conflict."""
        at = _texts(self.maps, name)
        if at.ours == at.theirs:
            return BOTH
        side = whose(at)
        if side or self._is_for_a_person(name):
            return side
        ruling = self.ruling(name)
        return ruling.side if ruling is not None else ""

    def parts_from(self, side: str, name: str) -> bool:
        """Return whether a field comes from the side opposite to `side`, or is in conflict."""
        return self.side_of(name) not in (BOTH, "", side) or self._is_for_a_person(name)

    def ruling(self, name: str) -> Ruling | None:
        """Return the ruling of the policies about a field; ignore the fields next to it."""
        return self.alone((*self.path[:-1], name), _entries(self.maps, name), self.place)

    def _is_for_a_person(self, name: str) -> bool:
        """Return whether both sides changed a field and also the comments behind the field."""
        at = _entries(self.maps, name).map(lambda found: found[0] if found else None)
        return not whose(_texts(self.maps, name)) and tails_clash(at)


def _texts(maps: Maps, name: str) -> Three[str | None]:
    """Return a field's value in each version as text."""
    values = maps.map(lambda m: m.get(name) if m is not None else None)
    return values.map(lambda value: value.value if isinstance(value, Scalar) else None)


def _entries(maps: Maps, name: str) -> At:
    return maps.map(lambda m: [m.index()[name]] if m is not None and name in m.index() else [])
