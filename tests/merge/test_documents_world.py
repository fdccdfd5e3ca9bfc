"""Every pair of edits of the documents of a file: the merge is that of the edits.

A document is known by who it is, which no file says. So the truth is a merge of small models, and
knows nothing of likeness, of lines, or of how documents are paired.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import product
from random import Random

import pytest
import yaml
from depth import part
from worlds.lines import git_lines

from kmerge_git import Outcome, merge_files
from kmerge_git.text.markers import resolve

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


# -- documents


@dataclass(frozen=True)
class Doc:
    """`who` it is, its form, what it is called now, and the values of two of its fields."""

    who: str
    form: str
    name: str
    first: str = ""
    second: str = ""

    @property
    def is_large(self) -> bool:
        return self.form in ("large", "large map")


File = tuple[Doc, ...]
Versions = tuple[File, File, File]

KINDS = {
    "bare": "Namespace",
    "small": "ConfigMap",
    "name twice": "Service",
    "large": "Deployment",
    "large map": "ConfigMap",
}


def doc(who: str, form: str) -> Doc:
    return Doc(who, form, who, *(() if form == "bare" else (f"first-{who}", f"second-{who}")))


@cache
def text(one: Doc) -> str:
    """A document of 4 to 7 lines, or of 20 and more, most of which are in no other."""
    head = f"kind: {KINDS[one.form]}\nmetadata:\n  name: {one.name}\n"
    own = [f"{number}-of-{one.who}" for number in range(16)]
    if one.form == "bare":
        labels = f"  labels:\n    tier: {one.first}\n" if one.first else ""
        notes = f"  annotations:\n    note: {one.second}\n" if one.second else ""
        return f"apiVersion: v1\n{head}{labels}{notes}"
    if one.form == "name twice":
        return (
            f"apiVersion: v1\nkind: Service\nmetadata: {{name: {one.name}}}\nspec:\n"
            f"  selector: {{app: {one.name}}}\n"
            f"  externalName: {one.first}\n  clusterIP: {one.second}\n"
        )
    if one.form != "large":
        lines = "".join(f"  key-{v}: {v}\n" for v in own if one.is_large)
        return f"apiVersion: v1\n{head}data:\n  first: {one.first}\n{lines}  second: {one.second}\n"
    env = "".join(f"        - name: {v}\n          value: is-{v}\n" for v in own[:4])
    return (
        f"apiVersion: apps/v1\n{head}spec:\n  paused: {one.first}\n"
        f"  selector:\n    matchLabels:\n      app: {one.name}\n"
        f"  template:\n    metadata:\n      labels:\n        app: {one.name}\n    spec:\n"
        f"      containers:\n      - name: {one.name}\n        image: {own[4]}\n"
        f"        command: [{own[5]}]\n        args: [{own[6]}]\n        env:\n{env}"
        f"      hostname: {one.second}\n      schedulerName: {own[7]}\n"
        f"      serviceAccountName: {own[8]}\n"
    )


@cache
def file_text(file: File) -> bytes:
    return "---\n".join(map(text, file)).encode()


@lru_cache(1000)
def read(data: bytes) -> list[str]:
    """All documents of a file as PyYAML reads them, kind, name and values."""
    return [json.dumps(each, sort_keys=True) for each in yaml.load_all(data, LOADER)]


@cache
def meaning(one: Doc) -> str:
    return read(text(one).encode())[0]


# -- edits of a document, and of a file: what both sides do alike has the mark `x`

BASIC = ("keep", "edit", "rename", "delete", "copy")
PAIRS = [
    *product(BASIC, repeat=2),
    ("edit", "edit elsewhere"),
    ("edit elsewhere", "edit"),
    ("edit alike", "edit alike"),
    ("rename alike", "rename alike"),
    ("rename alike", "rename alike and edit"),
    ("rename alike and edit", "rename alike"),
    ("copy alike", "copy alike"),
]
ADDITIONS = [("", ""), ("one", ""), ("one", "one"), ("alike", "alike")]
ORDERS = ["keep", "reverse", "rotate"]


@dataclass(frozen=True)
class Side:
    """What a side does: an edit of each document, an order, and a document that it adds."""

    edits: tuple[str, ...]
    order: str = "keep"
    addition: str = ""


Sides = tuple[Side, Side]


def edited(one: Doc, edit: str, side: str) -> File:
    """What becomes of a document on a side."""
    mark = "x" if "alike" in edit else side
    name = f"{one.who}-{mark}"
    match edit.removesuffix(" alike"):
        case "keep":
            return (one,)
        case "edit":
            return (replace(one, first=f"changed-{mark}"),)
        case "edit elsewhere":
            return (replace(one, second=f"changed-{mark}"),)
        case "rename":
            return (replace(one, name=name),)
        case "rename alike and edit":
            return (replace(one, name=name, first=f"changed-{side}"),)
        case "copy":
            return one, replace(one, who=f"copy {mark} of {one.who}", name=name)
        case _:
            return ()


def made(base: File, side: Side, mark: str) -> File:
    """The file of a side."""
    parts = [edited(one, edit, mark) for one, edit in zip(base, side.edits, strict=True)]
    file = [one for each in parts for one in each]
    file = {"keep": file, "reverse": file[::-1], "rotate": file[1:] + file[:1]}[side.order]
    new = f"new-{'x' if side.addition == 'alike' else mark}"
    return (*file, *([doc(new, base[0].form)] if side.addition else []))


# -- gaps: between neighbours that both sides kept

# What a reader may take for one document. What every reading calls replaced has to be a conflict,
# and what any of them does may be one.
READINGS: list[Callable[[Doc], str]] = [
    lambda one: one.name,
    lambda one: one.who if one.is_large or one.name.endswith("-x") else one.name,
    lambda one: one.who,
]
Gaps = dict[str, set[tuple[str, str]]]


def gaps_of(versions: list[list[str]]) -> list[Gaps]:
    """Of each version: the nearest ones that all versions have, before and behind each other."""
    kept = set(versions[0]).intersection(*versions[1:])
    found: list[Gaps] = []
    for version in versions:
        gaps: Gaps = {}
        for direction, keys in ("before", version), ("behind", version[::-1]):
            nearest = ""
            for key in keys:
                nearest = key if key in kept else nearest
                gaps.setdefault(key, set()).add((direction, nearest))
        found.append(gaps)
    return found


def share_a_gap(trio: tuple[str, ...], gaps: list[Gaps]) -> bool:
    """Whether two of three are in one gap."""
    a, b, c = (each[key] for each, key in zip(gaps, trio, strict=True))
    return bool(a & b or a & c or b & c)


def renamed_in_one_gap(versions: Versions, who: str, key: Callable[[Doc], str]) -> bool:
    """Whether that is so of a document and its new names; it is nobody's neighbour itself."""
    trio = tuple(f"{who} {number}" for number in range(3))
    names = [
        [name if one.who == who else key(one) for one in version]
        for version, name in zip(versions, trio, strict=True)
    ]
    return share_a_gap(trio, gaps_of(names))


def has_replaced_ones(versions: Versions, key: Callable[[Doc], str]) -> bool:
    """Whether both sides took a document away, with different new ones of its kind in a gap."""
    names = [[key(one) for one in version] for version in versions]
    kinds = {key(one): KINDS[one.form] for version in versions for one in version}
    often = Counter(name for version in names for name in version)
    alone = [[name for name in version if often[name] == 1] for version in names]
    if not all(alone):
        return False
    gaps = gaps_of(names)
    return any(
        len({kinds[name] for name in trio}) == 1 and share_a_gap(trio, gaps)
        for trio in product(*alone)
    )


def is_moved(base: File, side: File, who: str) -> bool:
    """Whether it stands before what it stood behind, or the other way round."""
    old, new = ([each.who for each in version] for version in (base, side))
    return any(
        (old.index(who) < old.index(other)) != (new.index(who) < new.index(other))
        for other in old
        if other in new
    )


# -- the truth

Docs = frozenset[Doc]


@dataclass(frozen=True)
class Fate:
    """What becomes of one document: in a clean merge, and with all conflicts as one side."""

    clean: Docs | None  # nothing: it must be a conflict
    may_clash: bool
    own: tuple[Docs, Docs]
    left: tuple[list[Docs], list[Docs]]


def fate(versions: Versions, who: str) -> Fate:
    """The merge of one document by who it is."""
    old, here, there = (next((o for o in v if o.who == who), None) for v in versions)
    mine, yours = (frozenset([side] if side is not None else []) for side in (here, there))
    clean, may_clash = _merged(versions, old, here, there)
    left = [mine], [yours]
    for one, other, choices in (mine, yours, left[0]), (yours, mine, left[1]):
        choices.extend([clean] if clean is not None else [])
        if old is not None and may_clash and {each.name for each in one} == {old.name}:
            choices.append(one | other)  # a name that is gone, and another that is new
    return Fate(clean, may_clash or clean is None, (mine, yours), left)


def _merged(
    versions: Versions, old: Doc | None, here: Doc | None, there: Doc | None
) -> tuple[Docs | None, bool]:
    """What it is in a clean merge, and whether it may be in a conflict instead."""
    base, ours, theirs = versions
    if old is None:
        return frozenset(one for one in (here, there) if one is not None), False
    if here is None or there is None:
        left = here or there
        if left is None:
            return frozenset(), False
        if left == old:
            return frozenset(), is_moved(base, ours if here else theirs, old.who)
        is_small_and_renamed = left == replace(old, name=left.name) and not left.is_large
        return (frozenset([left]) if is_small_and_renamed else None), is_small_and_renamed
    if old.name not in (here.name, there.name) and here.name != there.name:
        is_one = all(renamed_in_one_gap(versions, old.who, key) for key in READINGS)
        return (None if is_one else frozenset([here, there])), not is_one
    names, *values = ((v.name, v.first, v.second) for v in (old, here, there))
    fields = [_agreed(*three) for three in zip(names, *values, strict=True)]
    if None in fields:
        return None, False
    merged = Doc(old.who, old.form, *map(str, fields))
    is_certain = merged.name == old.name or here == there or old in (here, there)
    return frozenset([merged]), not (old.is_large or is_certain)


def _agreed(base: str, ours: str, theirs: str) -> str | None:
    """The three comparisons."""
    if ours in (theirs, base):
        return theirs
    return ours if theirs == base else None


def verdict(versions: Versions, outcome: Outcome) -> str:
    """What a merge is, beside the truth: right, needless, or what is wrong."""
    everybody = {one.who: one for version in versions for one in version}
    fates = {who: fate(versions, who) for who in everybody}
    replaced = [has_replaced_ones(versions, key) for key in READINGS]
    if outcome.clean:
        if all(replaced) or any(each.clean is None for each in fates.values()):
            return "wrong: no conflict"
        wanted = Counter(meaning(one) for each in fates.values() for one in each.clean or ())
        return "right" if Counter(read(outcome.text)) == wanted else "wrong: other documents"
    if outcome.method == "structure":  # and not git's lines
        for number, side in enumerate(("ours", "theirs")):
            data = resolve(outcome.text.decode(), side).encode()
            wrong = _wrongly_left(versions, fates, number, read(data), vague=any(replaced))
            if wrong:
                return f"wrong: {wrong} with the conflicts as {side}"
    return "right" if any(replaced) or any(f.may_clash for f in fates.values()) else "needless"


def _wrongly_left(
    versions: Versions, fates: dict[str, Fate], number: int, found: list[str], *, vague: bool
) -> str:
    """Who is not as one side or the merge has it, if all conflicts are resolved to that side.

    `vague`: nothing tells which small document was replaced by which, but that the new ones of this
    side are there.
    """
    known = {one.name: one for version in versions for one in version}
    names = [json.loads(each)["metadata"]["name"] for each in found]
    groups: dict[str, list[str]] = {who: [] for who in fates}
    for name, each in zip(names, found, strict=True):
        groups[known[name].who].append(each)
    large = {one.who for one in known.values() if one.is_large}
    old = {one.name for one in versions[0]}
    for who, each in fates.items():
        if vague and who not in large:
            new = {one.name for one in each.own[number]} - old
            is_right = all(names.count(name) == 1 for name in new)
        else:
            choices = [sorted(map(meaning, docs)) for docs in each.left[number]]
            is_right = sorted(groups[who]) in choices
        if not is_right:
            return who
    return ""


# -- the world

ONE = [(form,) for form in KINDS]
TWO = [
    *[(form, form) for form in ("bare", "small", "large")],
    ("large", "bare"),
    ("large map", "small"),  # of one kind
    ("name twice", "large map"),
]
THREE = [(form,) * 3 for form in ("bare", "small", "large")] + [
    ("name twice", "bare", "small"),
    ("small", "large", "small"),
    ("large", "small", "large"),
    ("large map", "small", "large map"),
]
SAMPLES = 25  # of three documents
Forms = tuple[str, ...]


def base_of(forms: Forms) -> File:
    return tuple(doc("abc"[number], form) for number, form in enumerate(forms))


def all_sides(forms: Forms) -> list[Sides]:
    """Every pair of edits of one document, and of two with some orders and additions.

    Of three documents some of two million. Each pair of sides is there once, whoever is ours.
    """
    r = Random(str(forms))
    count, orders = len(forms), ORDERS[: len(forms)]
    if count == 3:
        edits = {tuple(r.choices(PAIRS, k=count)): None for _ in range(SAMPLES)}
    else:
        edits = dict.fromkeys(product(PAIRS, repeat=count))
    found: dict[frozenset[tuple[str, ...]], list[Sides]] = {}
    for pairs in edits:
        mine, yours = zip(*pairs, strict=True)
        rest = product(orders, orders, ADDITIONS)
        found[frozenset([mine, yours])] = [
            (Side(mine, order, addition), Side(yours, other, another))
            for order, other, (addition, another) in rest
        ]
    return [
        sides
        for choices in found.values()
        for sides in (choices if count == 1 else r.sample(choices, 1))
    ]


def merged(versions: Versions) -> Outcome:
    return merge_files(*map(file_text, versions), line_merge=git_lines)


def judged(forms: Forms, sides: Sides) -> str:
    """What a merge is, in either direction."""
    base = base_of(forms)
    ours, theirs = (made(base, side, mark) for side, mark in zip(sides, "12", strict=True))
    versions = base, ours, theirs
    outcome, swapped = merged(versions), merged((base, theirs, ours))
    told = {verdict(versions, outcome), verdict((base, theirs, ours), swapped)}
    if outcome.clean != swapped.clean or (
        outcome.clean and sorted(read(outcome.text)) != sorted(read(swapped.text))
    ):
        told.add("wrong: another result with the sides swapped")
    if "needless" in told:
        lines, is_clean = git_lines(*map(file_text, versions))
        if is_clean and verdict(versions, Outcome(lines, True, "lines")) == "right":
            told.add("wrong: a conflict where git has none and is right")
    return ", ".join(sorted(told))


@cache
def verdicts(forms: Forms) -> dict[Sides, str]:
    return {sides: judged(forms, sides) for sides in part(all_sides(forms)[::2])}


@pytest.mark.parametrize("forms", [*ONE, *TWO, *THREE], ids=" and ".join)
def test_the_merge_is_that_of_the_edits(forms: Forms) -> None:
    wrong = {sides: told for sides, told in verdicts(forms).items() if "wrong" in told}
    assert not wrong, "\n".join(f"{told}: {sides}" for sides, told in [*wrong.items()][:20])


@pytest.mark.rates
def test_few_conflicts_are_needless() -> None:
    every = [told for forms in (*ONE, *TWO, *THREE) for told in verdicts(forms).values()]
    assert every.count("needless") <= len(every) / 200


# -- files of many documents, of which not each is compared with each


def many(count: int, form: str) -> File:
    return tuple(doc(f"web{number}", form) for number in range(count))


def prefixed(prefix: str, file: File) -> File:
    return tuple(replace(one, name=f"{prefix}{one.name}") for one in file)


def names_in(outcome: Outcome, side: str) -> list[str]:
    """The names of the documents, if all conflicts are resolved to a side."""
    found = read(resolve(outcome.text.decode(), side).encode())
    return [json.loads(each)["metadata"]["name"] for each in found]


def both_ways(base: File, ours: File, theirs: File) -> list[tuple[Versions, Outcome]]:
    versions = (base, ours, theirs), (base, theirs, ours)
    return [(each, merged(each)) for each in versions]


@pytest.mark.parametrize("form", KINDS)
@pytest.mark.costly
def test_many_that_one_side_renames_are_clean(form: str) -> None:
    base, last = many(60, form), doc("last", form)
    renamed, changed = prefixed("my-", base), replace(last, first="changed")
    for theirs in ((*base, changed), (*base, last, doc("new", form))):
        for versions, outcome in both_ways((*base, last), (*renamed, last), theirs):
            assert verdict(versions, outcome) == "right"
            assert outcome.clean


@pytest.mark.parametrize("count", [49, 51])
@pytest.mark.costly
def test_an_edit_follows_one_of_many_renamed_ones(count: int) -> None:
    base = many(count, "large")
    theirs = (*base[:7], replace(base[7], first="changed"), *base[8:])
    for versions, outcome in both_ways(base, prefixed("my-", base), theirs):
        assert outcome.clean
        assert verdict(versions, outcome) == "right"


@pytest.mark.parametrize("form", KINDS)
@pytest.mark.parametrize("count", [49, 51])
@pytest.mark.costly
def test_many_that_both_sides_rename_are_conflicts(count: int, form: str) -> None:
    base = many(count, form)
    ours, theirs = prefixed("my-", base), prefixed("your-", base)
    for versions, outcome in both_ways(base, ours, theirs):
        assert verdict(versions, outcome) == "right"
        if count == 49:  # else they are too many to compare, and git's lines conflict
            assert len({conflict.resource for conflict in outcome.conflicts}) == count
            for side, version in zip(("ours", "theirs"), versions[1:], strict=True):
                assert names_in(outcome, side) == [one.name for one in version]


# what the other side does: it renames all but one, which it deletes, or only some
LESS: dict[str, Callable[[File], File]] = {
    "one deleted": lambda base: prefixed("your-", base[1:]),
    "some renamed": lambda base: (*prefixed("your-", base[:45]), *base[45:]),
}


@pytest.mark.parametrize("theirs", LESS.values(), ids=LESS)
@pytest.mark.parametrize("count", [49, 60])
@pytest.mark.costly
def test_no_new_name_stands_beside_that_of_the_other_side(
    count: int, theirs: Callable[[File], File]
) -> None:
    base = many(count, "large")
    for _, outcome in both_ways(base, prefixed("my-", base), theirs(base)):
        assert not outcome.clean
        for side in ("ours", "theirs"):
            found = {*names_in(outcome, side)}
            both = [one.name for one in base if {f"my-{one.name}", f"your-{one.name}"} <= found]
            assert not both, f"with the conflicts as {side}"


@pytest.mark.parametrize("form", ["large", "large map"])
@pytest.mark.parametrize("count", [49, 51])
@pytest.mark.costly
def test_one_of_many_renamed_ones_is_a_conflict_if_the_other_side_deletes_it(
    count: int, form: str
) -> None:
    base = many(count, form)
    for versions, outcome in both_ways(base, prefixed("my-", base), (*base[:7], *base[8:])):
        assert verdict(versions, outcome) == "right"
        assert [each.resource.partition("/")[2] for each in outcome.conflicts] == ["my-web7"]


@pytest.mark.parametrize("form", ["large", "large map"])
@pytest.mark.parametrize("count", [49, 51])
@pytest.mark.costly
def test_many_renamed_ones_are_conflicts_if_the_other_side_deletes_them(
    count: int, form: str
) -> None:
    base, last = many(count, form), doc("last", form)
    for versions, outcome in both_ways((*base, last), (*prefixed("my-", base), last), (last,)):
        assert verdict(versions, outcome) == "right"
        assert not outcome.clean


@pytest.mark.parametrize("count", [49, 51])
@pytest.mark.costly
def test_no_edit_of_many_renamed_ones_is_lost(count: int) -> None:
    base = many(count, "large")
    theirs = tuple(replace(one, first="changed") for one in base)
    for versions, outcome in both_ways(base, prefixed("my-", base), theirs):
        assert outcome.clean
        assert outcome.method == ("structure" if count == 49 else "lines")
        assert verdict(versions, outcome) == "right"


# -- single files


def test_a_json_file_that_both_sides_rename_is_read_on_either_side() -> None:
    def written(name: str) -> bytes:
        value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
        return (json.dumps(value, indent=2) + "\n").encode()

    outcome = merge_files(
        *map(written, ("old", "mine", "yours")), path="x.json", line_merge=git_lines
    )
    assert not outcome.clean
    for side, name in ("ours", "mine"), ("theirs", "yours"):
        found = json.loads(resolve(outcome.text.decode(), side))
        assert found["metadata"]["name"] == name


def config_map(name: str, values: dict[str, str]) -> str:
    head = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n"
    return head + "".join(f"  {key}: {value}\n" for key, value in values.items())


@pytest.mark.parametrize("changed", ["key-0", "key-5", "key-6"])
@pytest.mark.parametrize("common", ["", "0", "5", "012", "345"])
def test_an_edit_of_a_deleted_one_never_lands_in_a_new_one(common: str, changed: str) -> None:
    """Of six values three may be the same; with more of them, it may have been renamed.

    The key 6 is a new one.
    """
    nginx = {f"key-{number}": f"nginx-{number}" for number in range(6)}
    own = {f"key-{number}": f"redis-{number}" for number in range(6) if str(number) not in common}
    base = config_map("nginx", nginx)
    ours = config_map("redis", {**nginx, **own})
    theirs = config_map("nginx", {**nginx, changed: "edited"})
    web = text(doc("web", "large")) + "---\n"
    for above in ("", web):
        for sides in ((ours, theirs), (theirs, ours)):
            versions = [f"{above}{version}".encode() for version in (base, *sides)]
            outcome = merge_files(*versions, line_merge=git_lines)
            assert not outcome.clean, outcome.text.decode()
            for side in ("ours", "theirs"):
                found = read(resolve(outcome.text.decode(), side).encode())
                assert not [each for each in found if '"redis"' in each and "edited" in each]
