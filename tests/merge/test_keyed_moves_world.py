"""Lists with keys that both sides arrange and edit: no clean result is wrong, whoever is ours."""

from __future__ import annotations

from functools import cache
from itertools import product
from random import Random

import pytest
import yaml
from depth import part
from worlds.keyed_moves import (
    LISTINGS,
    Listing,
    Version,
    acted,
    shown,
    sides,
    truth,
    twice_acted,
    with_new,
    with_one_more,
)
from worlds.lines import git_lines

from kmerge_git.api import merge_files
from kmerge_git.merge.plan import Why
from kmerge_git.outcome import Outcome

SAMPLES = 120  # of a listing, with comments or without


def merged(made: Listing, *versions: Version) -> Outcome:
    return merge_files(*map(made.write, versions), line_merge=git_lines)


def causes(outcome: Outcome) -> list[tuple[str, list[str]]]:
    """The conflicts by place and by the words of the cause, without who did what."""
    found = [(c.field, c.why.replace(",", "").replace("theirs", "ours")) for c in outcome.conflicts]
    return sorted((field, sorted(why.split())) for field, why in found)


def samples(name: str, *, commented: bool) -> list[tuple[Version, Version, Version]]:
    """Bases of three elements with two sides that arrange them, and do one or two things more."""
    made, r = LISTINGS[name], Random(f"{name} {commented}")
    base = tuple(made.one(who, commented=commented) for who in "abc")
    once = [side for _, side in sides(made, base, commented=commented)]
    new = [side for _, side in with_new(made, base)]
    chosen = [(base, r.choice(once), r.choice(once)) for _ in range(SAMPLES // 2)]
    chosen += [(base, r.choice(new), r.choice(new)) for _ in range(SAMPLES // 8)]
    kept = [acted(base, each.who, action) for each in base for action in ("rename", "edit")]
    chosen += [(base, *pair) for pair in product(kept, with_one_more(made, base))]
    more = (*base, made.one("d", commented=commented))
    chosen += [
        (more, *(twice_acted(made, r, more, commented=commented) for _ in range(2)))
        for _ in range(SAMPLES * 3 // 8)
    ]
    return part(chosen)


@cache
def verdicts(name: str) -> list[str]:
    """What is said of every sample, with what both orders of the sides come to."""
    made = LISTINGS[name]
    verdicts = []
    for commented in (False, True):
        for base, ours, theirs in samples(name, commented=commented):
            here, there = merged(made, base, ours, theirs), merged(made, base, theirs, ours)
            wanted = truth(made, base, ours, theirs)
            found = [made.read(one.text) if one.clean else None for one in (here, there)]
            said = [wanted.judge(made, one) for one in found]
            same = said[0] == said[1] and causes(here) == causes(there)
            verdict = max(said) if same else f"wrong: not the same the other way round: {said}"
            verdicts.append(
                verdict if verdict == "right" else f"{verdict}: {shown(ours)} and {shown(theirs)}"
            )
    return verdicts


@pytest.mark.parametrize("name", LISTINGS)
def test_no_clean_result_is_wrong(name: str) -> None:
    wrong = [verdict for verdict in verdicts(name) if verdict.startswith("wrong")]
    assert not wrong, "\n".join(wrong)


@pytest.mark.rates
def test_few_conflicts_are_needless() -> None:
    said = [verdict for name in LISTINGS for verdict in verdicts(name)]
    needless = [verdict for verdict in said if verdict.startswith("needless")]
    assert len(needless) <= len(said) // 100, "\n".join(needless)


# -- one new thing, in two versions

SIZES = (7, 8, 9)


def service(name: str, size: int, last: str = "x") -> dict[str, dict[str, str]]:
    return {name: {f"f{n}": f"v{n}" if n < size - 1 else last for n in range(size)}}


def file_of(services: dict[str, dict[str, str]], *, as_list: bool) -> bytes:
    whole: object = services
    if as_list:
        whole = [{"name": name, **fields} for name, fields in services.items()]
    return yaml.safe_dump({"services": whole}, sort_keys=False).encode()


@pytest.mark.parametrize("as_list", [False, True], ids=["map", "list"])
@pytest.mark.parametrize("size", SIZES)
def test_large_additions_that_differ_by_name_alone_are_a_conflict(size: int, as_list: bool) -> None:
    a, b = service("a", 4, "a"), service("b", 4, "b")
    base = file_of(a | b, as_list=as_list)

    def placed(new: dict[str, dict[str, str]]) -> list[bytes]:
        return [file_of(one, as_list=as_list) for one in (new | a | b, a | new | b, a | b | new)]

    for last, other in product("xy", ("one", "two")):
        mine, yours = service("one", size), service(other, size, last)
        is_two = size >= 8 and last == "x" and other == "two"
        is_clash = is_two or (other == "one" and last == "y")
        for ours, theirs in product(placed(mine), placed(yours)):
            outcome = merge_files(base, ours, theirs)
            assert outcome.clean != is_clash, outcome.text
            if is_two:
                assert {conflict.why for conflict in outcome.conflicts} == {Why.TWO_VERSIONS}
                assert f"{Why.TWO_VERSIONS}, as `".encode() in outcome.text


def test_where_the_table_knows_the_keys_two_additions_are_two() -> None:
    head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n"
    fields = "".join(f"    f{n}: v{n}\n" for n in range(9))
    first, one, two = (f"  - name: {name}\n{fields}" for name in ("app", "one", "two"))
    versions = (head + first, head + one + first, head + first + two)
    assert merge_files(*(text.encode() for text in versions)).clean
