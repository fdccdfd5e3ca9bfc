"""What must hold of every merge, said about plain values and bytes.

`obey` puts one trio through all laws. The changes of both sides are compared with the result by a
small merge of plain values of its own, which knows nothing of nodes, spans, plans or text: where a
value is the same in base and ours, the result has theirs; where it is the same in base and theirs,
the result has ours; where all differ, mappings and keyed lists are looked into, other lists and
texts are compared as bags of facts, and for anything else there must be a conflict.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import marked_text
import whole_text
from lawful_times import later
from manifest_values import GONE, Folded, documents, said, same, show
from yaml_places import Nodes, Unreadable

from kmerge_git.api import merge_files
from kmerge_git.merge import by_resource
from kmerge_git.merge.decide.git_rules import GitRules
from kmerge_git.merge.plan import Journal, Why
from kmerge_git.merge.three import Three
from kmerge_git.text.pieces import side_text
from kmerge_git.tree.documents import YamlText, is_idle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.outcome import Outcome

    Trio = tuple[bytes, bytes, bytes]
    Facts = Counter[tuple[str, ...]]

KEYS = {
    "containers": ("name",),
    "initContainers": ("name",),
    "env": ("name",),
    "images": ("name",),
    "volumes": ("name",),
}


class Broken(AssertionError):
    """A law that does not hold, with the texts."""


def obey(trio: Trio, path: str = "") -> Outcome:
    """Put a trio through all laws; the outcome is of the merge without git's line merge."""
    base, ours, theirs = trio
    for given, wanted in (
        ((base, base, theirs), theirs),
        ((base, ours, base), ours),
        ((base, ours, ours), ours),
        ((ours, ours, ours), ours),
    ):
        found = merge(given, path)
        if found.text != wanted or not found.clean:
            raise Broken(f"one side alone: {found}\n{found.text.decode(errors='replace')}")
    outcome = merge(trio, path)
    read_as_a_whole(trio, outcome, path)
    if not comparable(trio):
        return outcome
    if outcome.method == "structure":
        nothing_lost(trio, outcome)
        sides_swapped(trio, outcome, path)
        lines_survive(trio, outcome)
    return outcome


def read_as_a_whole(trio: Trio, outcome: Outcome, path: str) -> None:
    """Another reader takes the file, if it takes the versions, and sees the documents of the plan."""
    unread = whole_text.unread(trio, outcome.text, clean=outcome.clean, path=path)
    if unread:
        raise Broken(unread)
    found = whole_text.documents(outcome.text, path)
    if outcome.clean and outcome.method == "structure" and found is not None:
        wanted = planned(trio, path)
        if found != wanted:
            raise Broken(f"{found} documents, not {wanted}:\n{outcome.text.decode()}")


def planned(trio: Trio, path: str = "") -> int:
    """How many documents the plan of a merge has."""
    streams = by_resource.split_all(Three(*(YamlText(data, path) for data in trio)))
    merged = by_resource.merge(GitRules(), streams, Journal(), path)
    texts = (document.opening + side_text(document.pieces, "ours") for document in merged.documents)
    return sum(not is_idle(text) for text in texts)


def merge(trio: Trio, path: str = "") -> Outcome:
    """The structural merge alone: git's line merge has only conflicts to say."""
    outcome = merge_files(*trio, path=path, style="diff3", line_merge=lambda *_: (b"", False))
    if outcome.reason.startswith("internal error"):  # it would pass for one large conflict
        raise Broken(outcome.reason)
    return outcome


def comparable(trio: Trio) -> bool:
    """Whether the inputs are sound YAML with values."""
    try:
        for data in trio:
            load(data)
    except (Unreadable, UnicodeDecodeError):
        return False
    return True


def load(data: bytes) -> dict[str, object]:
    """The documents by what they are; those without identity by their place. Raises Unreadable."""
    found: dict[str, object] = {}
    for called, root in documents(data.decode().replace("\r\n", "\n")):
        name = called or "?"
        while name in found:
            name += "+"
        found[name] = said(root)
    return found


# -- every change of either side is in the result, or in a conflict


def nothing_lost(trio: Trio, outcome: Outcome) -> None:
    """The law of laws."""
    at = Three(*map(load, trio))
    values = {side: load(decided(outcome.text, trio, side)) for side in ("ours", "theirs")}
    _base_parses(decided(outcome.text, trio, "base"))
    near, twins = Places(outcome), _added_alike(at)
    for side in ("ours", "theirs"):
        decided_for = "" if outcome.clean else side
        if _renamed(at):
            bags = at.map(lambda documents: [v for n, v in documents.items() if n not in twins])
            if any(values[side].get(name) != at.ours[name] for name in sorted(twins)):
                raise Broken(f"both sides added {twins}, and it is not in the result")
            result = [v for n, v in values[side].items() if n not in twins]
            _check_facts(bags.base, bags.ours, bags.theirs, result, (), decided_for, whole=True)
        else:
            _check(at.base, at.ours, at.theirs, values[side], (), decided_for, near)


def _base_parses(data: bytes) -> None:
    """The base's sections fit in; but an anchor that is gone may leave an alias of the base alone."""
    try:
        Nodes(data.decode())
    except Unreadable as error:
        if "undefined alias" not in str(error):
            raise Broken(f"decided for the base: {error}\n{data.decode()}") from error


def _renamed(at: Three[dict[str, object]]) -> bool:
    """Whether documents cannot be told apart by name: one has another name now, or two have none."""
    for side in (at.ours, at.theirs):
        if any(name not in side for name in at.base) and any(name not in at.base for name in side):
            return True
    versions = (at.base, at.ours, at.theirs)
    if not at.base and len(at.ours) == len(at.theirs) == 1 and at.ours.keys() != at.theirs.keys():
        return True  # one new file
    if any(name.endswith("+") for version in versions for name in version):
        return True
    return any("?" in version and len(version) != len(at.base) for version in versions)


def _added_alike(at: Three[dict[str, object]]) -> set[str]:
    """The documents that both sides have alike and the base has not: they are one document."""
    return {
        name
        for name, value in at.ours.items()
        if "?" not in name and name not in at.base and at.theirs.get(name) == value
    }


def decided(text: bytes, trio: Trio, side: str) -> bytes:
    """A text with every conflict decided for one side."""
    inputs = [data.decode().replace("\r\n", "\n") for data in trio]
    text_with_markers = text.decode().replace("\r\n", "\n")
    return marked_text.decided(text_with_markers, side, marked_text.size_for(inputs)).encode()


class Places:
    """Where an outcome has its conflicts, without the indexes of elements."""

    def __init__(self, outcome: Outcome) -> None:
        self.all = [_segments(c.field) for c in outcome.conflicts]
        self.clean = outcome.clean
        # a line of flow may hold several conflicts, and is named after one of them
        texts = [text for c in outcome.conflicts for text in (c.ours, c.theirs)]
        self.in_flow = any("{" in text or "[" in text for text in texts)

    def near(self, path: tuple[str, ...]) -> bool:
        """Whether a conflict is at, above or below a path (the document itself is not in it)."""
        wanted = [_plain(part) for part in path[1:]]
        return self.in_flow or any(
            all(a == b or "[]" in (a, b) for a, b in zip(place, wanted, strict=False))
            for place in self.all
        )


def _segments(field: str) -> list[str]:
    return [_plain(part) for part in re.findall(r"\[[^\]]*\]|[^.\[]+", field)]


def _plain(part: str) -> str:
    """A segment without brackets; `[]` for an index, which may be another one on another side."""
    if not part.startswith("["):
        return part
    name = part.strip("[]").split(",")[0]
    return "[]" if name.isdigit() else name.split("=", 1)[-1]


def _check(
    b: object, o: object, t: object, r: object, path: tuple[str, ...], side: str, near: Places
) -> None:
    """`side`: which side the conflicts of `r` were decided for; empty where it is clean."""
    if same(b, o) or same(b, t) or same(o, t):
        wanted, other = (t, o) if same(b, o) else (o, t)
        if same(r, wanted):
            return
        conflicted = side and same(r, other) and near.near(path)
        lost = side == ("theirs" if wanted is t else "ours")
        if conflicted and not (lost and not same(o, t)):
            return
        if side and near.near(path) and isinstance(r, dict | list):
            _check_facts(b, o, t, r, path, side)
            return
        raise Broken(f"at {path}: {show(r)} where {show(wanted)} is wanted ({side or 'clean'})")
    if isinstance(o, dict) and isinstance(t, dict):
        if not isinstance(r, dict):
            raise Broken(f"at {path}: {show(r)} is no mapping")
        old = b if isinstance(b, dict) else {}
        if _may_be_renamed(old, o, t):
            _check_facts(*map(_pairs, (old, o, t, r)), path, side, whole=True)
            return
        for key in {**old, **o, **t, **r}:
            _check(*(x.get(key, GONE) for x in (old, o, t, r)), (*path, key), side, near)
        return
    if isinstance(o, list) and isinstance(t, list):
        if not isinstance(r, list):
            raise Broken(f"at {path}: {show(r)} is no list")
        old_list = b if isinstance(b, list) else []
        keyed = [by_key(x, path) for x in (old_list, o, t, r)]
        may_be_renamed = None not in keyed and _may_be_renamed(*keyed[:3])
        if None not in keyed and not may_be_renamed:
            for key in dict.fromkeys(k for x in keyed for k in x):
                _check(*(x.get(key, GONE) for x in keyed), (*path, f"[name={key}]"), side, near)
            return
        whole = may_be_renamed or _renamed_and_gone(old_list, o, t)
        _check_facts(old_list, o, t, r, path, side, whole=whole)
        return
    if isinstance(o, str) and isinstance(t, str) and isinstance(r, str) and has_lines(o, t):
        _check_facts(b if isinstance(b, str) else "", o, t, r, path, side)
        return
    if side and same(r, o if side == "ours" else t):
        return
    if path[-1] in ("createdAt", "generated") and r == later(None if b is GONE else b, o, t):
        return  # the later one of two timestamps that a program writes
    raise Broken(f"at {path}: both changed, and the result has {show(r)} ({side or 'clean'})")


def has_lines(o: str, t: str) -> bool:
    """Whether two texts are merged line by line."""
    return "\n" in o + t or (isinstance(o, Folded) and isinstance(t, Folded))


def _renamed_and_gone(b: list[object], o: list[object], t: list[object]) -> bool:
    """Whether an element that a side lacks may live on under a new name.

    So it may if both have a new one of this name: it is one, and it stands there once.
    """
    old, mine, yours = (
        {show(e["name"]) for e in x if isinstance(e, dict) and "name" in e} for x in (b, o, t)
    )
    both = mine & yours
    return (bool(old - mine - yours) and bool((mine | yours) - old)) or bool(
        old - both and both - old
    )


def _may_be_renamed(*versions: dict[str, object] | None) -> bool:
    """Whether an entry with content is gone on a side that has a new one: it may be the same."""
    old, *sides = (
        {k for k, v in (x or {}).items() if isinstance(v, dict | list)} for x in versions
    )
    return any(old - side and side - old for side in sides)


def _pairs(value: dict[str, object]) -> list[object]:
    """The entries of a mapping without their order, each with its key as one more value."""
    return [[key, content] for key, content in value.items()]


def by_key(value: list[object], path: tuple[str, ...]) -> dict[str, object] | None:
    """The elements of a list that Kubernetes keys by name."""
    fields = KEYS.get(path[-1]) if path else None
    if fields is None:
        return None
    found = {}
    for element in value:
        name = element.get(fields[0]) if isinstance(element, dict) else None
        if not isinstance(name, str | int) or name in found:
            return None
        found[name] = element
    return found


def _check_facts(
    b: object,
    o: object,
    t: object,
    r: object,
    path: tuple[str, ...],
    side: str,
    *,
    whole: bool = False,
) -> None:
    """`whole`: what one side deleted and the other renamed may be there under its new name."""
    at = Three(*(Counter(facts(x)) for x in (b, o, t)))
    found = Counter(facts(r))
    if whole:  # under a new key, perhaps: values and keys, each for itself
        at = Three(*(_words(counts) for counts in (at.base, at.ours, at.theirs)))
        found = _words(found)
    for fact in {*at.base, *at.ours, *at.theirs, *found}:
        if fact[-1] in ("{}", "[]", "''"):
            continue  # what is left of a collection that lost its entries on both sides
        old, mine, yours, now = at.base[fact], at.ours[fact], at.theirs[fact], found[fact]
        if side:
            low = (mine if side == "ours" else yours) > old
            high = max(mine, yours, old) + max(mine + yours - old, 0)
        else:
            both = mine + yours - old
            bounds = (max(both, 0), mine, yours)
            if (mine - old) * (yours - old) < 0:
                low, high = min(mine, yours), max(mine, yours)
            else:
                low, high = (min(bounds), max(bounds)) if mine != old != yours else (both, both)
            if (mine < old and _are_new(fact, at.base, at.theirs)) or (
                yours < old and _are_new(fact, at.base, at.ours)
            ):
                high = max(high, min(old, max(mine, yours)))
        if whole:
            high = max(high, mine + yours)
            # what one side adds may be what the other has renamed something to: they are one
            low = min(low, old) if old else low
        if not low <= now <= high:
            raise Broken(f"below {path}: {fact} {now} times, not {low}..{high} ({side or 'clean'})")


def _are_new(fact: tuple[str, ...], base: Facts, side: Facts) -> bool:
    """Whether a side added to the list of a fact: an element that replaced one may repeat the fact."""
    if "-" not in fact:
        return False
    of = fact[: len(fact) - fact[::-1].index("-")]
    return any(other[: len(of)] == of and side[other] > base[other] for other in side)


def _words(counts: Counter[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
    """What facts say at their ends; where they stand does not count."""
    words: Counter[tuple[str, ...]] = Counter()
    for fact, count in counts.items():
        words[fact[-1:]] += count
    return words


def facts(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """What a value says, a line a fact, without the places in lists."""
    if isinstance(value, dict) and value:
        for key, child in value.items():
            yield from facts(child, (*path, key))
    elif isinstance(value, list) and value:
        for child in value:
            yield from facts(child, (*path, "-"))
    elif isinstance(value, str):
        for word in value.split() or [""]:
            yield (*path, repr(word))
    else:
        yield (*path, show(value))


# -- other laws


def sides_swapped(trio: Trio, outcome: Outcome, path: str) -> None:
    """The other way round there is the same meaning and the same set of conflicts.

    But for what the referee objects to: a fault of the writer may come with one canvas alone.
    """
    other = merge((trio[0], trio[2], trio[1]), path)
    if is_uncertain(outcome) or is_uncertain(other):
        return
    if other.method != "structure":
        raise Broken(f"sides swapped: {other.reason}")
    there = sorted(_segments(c.field) for c in other.conflicts)
    here = sorted(_segments(c.field) for c in outcome.conflicts)
    if there != here and not _one_in_flow(outcome, other):
        raise Broken(f"sides swapped: conflicts at {there}, not at {here}\n{other.text.decode()}")
    for side, mirror in (("ours", "theirs"), ("theirs", "ours")):
        mine = sorted(map(facts_of_file, [decided(outcome.text, trio, side)]))
        yours = sorted(map(facts_of_file, [decided(other.text, trio, mirror)]))
        if mine != yours:
            raise Broken(f"sides swapped: {mine}\nis not {yours}\n{other.text.decode()}")


def is_uncertain(outcome: Outcome) -> bool:
    """Whether the referee objected to what had been merged."""
    told = (outcome.reason, *(conflict.why for conflict in outcome.conflicts))
    return any(why.startswith(Why.UNCERTAIN) for why in told)


def _one_in_flow(a: Outcome, b: Outcome) -> bool:
    """Whether several conflicts are one, because one side has them in a line of flow."""
    few, many = sorted((a, b), key=lambda outcome: len(outcome.conflicts))
    texts = [c.ours + c.theirs for c in few.conflicts]
    return (
        len(few.conflicts) < len(many.conflicts)
        and {c.field for c in few.conflicts} <= {c.field for c in many.conflicts}
        and any("{" in text or "[" in text for text in texts)
    )


def facts_of_file(data: bytes) -> list[tuple[str, ...]]:
    """All facts of all documents, in no order."""
    return sorted(
        fact
        for name, value in load(data).items()
        for fact in facts(in_one_line(value), (name.strip("+"),))
    )


def unquoted(data: bytes) -> str:
    """A text without its quotes: of two equal elements either one may be the deleted one."""
    return data.decode().replace('"', "").replace("'", "")


def in_one_line(value: object) -> object:
    """A value with all white space alike: a folded text of ours may be a quoted one of theirs."""
    if isinstance(value, dict):
        return {key: in_one_line(child) for key, child in value.items()}
    if isinstance(value, list):
        return [in_one_line(child) for child in value]
    return " ".join(value.split()) if isinstance(value, str) else value


def lines_survive(trio: Trio, outcome: Outcome) -> None:
    """A line that all three versions have is in the result, as often as the least of them has it."""
    *versions, result = (Counter(bare_lines(data)) for data in (*trio, outcome.text))
    base, ours, theirs = versions
    text = "\n".join(result)
    for line, count in ours.items():
        if not line or line.split(" #")[0][-1] in ":{}[]":
            continue  # `key: {}` when its last entry is gone, or filled again
        if line[0] == "#" and len({_above(line, data) for data in trio}) > 1:
            continue  # it stands with something else now, and goes where that goes
        # or it stands in a flow collection now, or its text has another header
        shown = line.rstrip("|>+-0123456789 ")
        if base[line] == count == theirs[line] == 1 and not result[line] and shown not in text:
            raise Broken(f"the line {line!r} is gone")


def bare_lines(data: bytes) -> list[str]:
    """The lines without indentation, dashes, commas and quotes, with single blanks inside."""
    lines = unquoted(data).split("\n")
    return [" ".join(line.strip(" -,\r\ufeff").split()) for line in lines]


def _above(comment: str, data: bytes) -> str:
    """The line with content that a comment stands below."""
    lines = bare_lines(data)
    above = lines[: lines.index(comment)] if comment in lines else []
    return next((line for line in reversed(above) if line and line[0] != "#"), "")
