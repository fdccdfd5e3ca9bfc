"""Policy `rebump`: a chart's own version goes above both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmerge_git.api import merge_files
from kmerge_git.merge.decide.policies import policy_for, rebumped
from kmerge_git.merge.plan import Why
from kmerge_git.outcome import Outcome

BUMPS = [
    # mine is the higher one already
    ("1.2.0", "1.3.0", "1.2.9", "1.3.0", ""),
    ("1.2.0", "2.0.0", "1.9.0", "2.0.0", ""),
    (None, "1.1.0", "1.0.0", "1.1.0", ""),
    # my kind of bump on top of the other's
    ("1.2.0", "1.2.1", "1.2.2", "1.2.3", "patch"),
    ("1.2.0", "1.2.1", "1.3.0", "1.3.1", "patch"),
    ("1.2.0", "1.2.5", "1.2.7", "1.2.8", "patch"),
    ("1.2.9", "1.3.0", "2.0.4", "2.1.0", "minor"),
    ("1.2.3", "2.0.0", "2.1.1", "3.0.0", "major"),
    ("0.9.73", "0.9.74", "0.10.0", "0.10.1", "patch"),
    ("v1.2.3", "v1.2.4", "v1.2.9", "v1.2.10", "patch"),
    # a prerelease of the same version and word
    ("2.3.0-beta.3", "2.3.0-beta.5", "2.3.0-beta.4", "2.3.0-beta.5", ""),
    ("2.3.0-beta.3", "2.3.0-beta.4", "2.3.0-beta.5", "2.3.0-beta.6", "prerelease"),
    ("v0.1.0-rc.9", "v0.1.0-rc.10", "v0.1.0-rc.11", "v0.1.0-rc.12", "prerelease"),
    ("1.0.0-a.0", "1.0.0-a.1", "1.0.0-a.1000", "1.0.0-a.1001", "prerelease"),
]
PRE = "prereleases can be bumped only if they differ in just the last number"
REFUSED = [
    (None, "1.0.0", "1.1.0", "the merge base has no version"),
    ("1.2.0", "1.1.0", "1.3.0", "one side did not raise the version"),
    ("1.2.0", "1.3.0", "1.1.0", "one side did not raise the version"),
    ("1.2.0", "1.2.0", "1.3.0", "one side did not raise the version"),
    ("1.2.0", "1.3.0", "1.3.0", "the versions are equal"),
    ("1.2.0", "1.3.0-rc.1", "1.2.1", PRE),
    ("1.2.0-rc.1", "1.2.0", "1.2.1", PRE),
    ("1.2.0-rc.1", "1.2.0", "1.2.0-rc.2", PRE),
    ("1.2.0-rc.1", "1.2.0-rc.2", "1.3.0-rc.1", PRE),
    ("1.2.0-beta.1", "1.2.0-beta.2", "1.2.0-rc.1", PRE),
    ("1.2.0-alpha.3", "1.2.0-beta.2", "1.2.0-beta.1", PRE),
    ("1.2.0-rc.1", "v1.2.0-rc.2", "1.2.0-rc.3", PRE),
    ("1.2.0-rc1", "1.2.0-rc2", "1.2.0-rc3", PRE),  # `rc10` is lower than `rc9`
    ("1.2.0-1", "1.2.0-2", "1.2.0-3", PRE),
    ("1.2.0-.1", "1.2.0-.2", "1.2.0-.3", PRE),
    ("1.2.0-rc.1.0", "1.2.0-rc.1.1", "1.2.0-rc.1.2", PRE),
    ("1.2.0-rc-x.1", "1.2.0-rc-x.2", "1.2.0-rc-x.3", PRE),
    ("1.2.0-rc.01", "1.2.0-rc.02", "1.2.0-rc.03", PRE),
    ("1.2-rc.1", "1.2-rc.2", "1.2-rc.3", PRE),
    (None, "1.2.0-rc.2", "1.2.0-rc.1", "the merge base has no version"),
    ("1.2.0-rc.4", "1.2.0-rc.3", "1.2.0-rc.5", "one side did not raise the version"),
    ("1.2.0-rc.4", "1.2.0-rc.5", "1.2.0-rc.3", "one side did not raise the version"),
    ("1.2.0-rc.4", "1.2.0-rc.5", "1.2.0-rc.5", "the versions are equal"),
    ("1.2.0", "1.3.0", "1.2.1+b", "a version with build metadata cannot be bumped"),
    ("1.2.0-rc.1", "1.2.0-rc.2+b", "1.2.0-rc.3", "a version with build metadata cannot be bumped"),
    ("1.2.0", "v1.2.1", "1.3.0", "the versions have different formats"),
    ("1.2", "1.3", "1.4", "the values are not chart versions"),
    ("1.2.0", "1.02.1", "1.3.0", "the values are not chart versions"),
    ("1.2.0", "latest", "1.3.0", "the values are not chart versions"),
    ("1", "2", "3", "the values are not chart versions"),
]


@pytest.mark.parametrize("base, mine, other, value, kind", BUMPS)
def test_above_both(base: str | None, mine: str, other: str, value: str, kind: str) -> None:
    assert rebumped(base, mine, other) == (value, kind)


@pytest.mark.parametrize("base, mine, other, why", REFUSED)
def test_where_nothing_can_be_said(base: str | None, mine: str, other: str, why: str) -> None:
    assert rebumped(base, mine, other) == ("", why)


NUMBERS = st.tuples(*[st.integers(0, 12)] * 3)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_the_value_is_above_both_or_mine(base: object, mine: object, other: object) -> None:
    texts = [".".join(map(str, numbers)) for numbers in (base, mine, other)]  # type: ignore[call-overload]
    value, kind = rebumped(texts[0], texts[1], texts[2])
    if value:
        made = tuple(map(int, value.split(".")))
        assert made > max(base, other) and made >= mine  # type: ignore[call-overload]
        assert (value == texts[1]) == (kind == "")


@given(*[st.text(alphabet="0123456789.v-+x٣ ", max_size=12) | st.text(max_size=8)] * 3)
def test_any_three_texts_have_an_answer(base: str, mine: str, other: str) -> None:
    value, words = rebumped(base, mine, other)
    assert value or words


# -- in a merge


CHART = "apiVersion: v2\n# bump me\nversion: {}  # see RELEASING\nappVersion: 1.0.0\n"


def merged(
    base: str,
    ours: str,
    theirs: str,
    mine: str = "ours",
    path: str = "a/Chart.yaml",
    of: str = CHART,
) -> Outcome:
    texts = (of.format(text).encode() for text in (base, ours, theirs))
    policy = policy_for([("**", "rebump")], mine, path)
    return merge_files(*texts, path=path, policy=policy)


@pytest.mark.parametrize("base, mine, other, value, _", [row for row in BUMPS if row[0]])
@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_a_merge_and_its_mirror(
    base: str, mine: str, other: str, value: str, _: str, quote: str
) -> None:
    three = [f"{quote}{text}{quote}" for text in (base, mine, other)]
    expected = CHART.format(f"{quote}{value}{quote}").encode()
    here = merged(*three)
    there = merged(three[0], three[2], three[1], mine="theirs")
    assert (here.text, here.clean) == (there.text, there.clean) == (expected, True)
    assert [d.rule for d in here.decisions] == ["12 policy rebump"]


def test_the_quotes_of_our_line_stay() -> None:
    made = merged("1.2.0", "'1.2.1'", "1.3.0").text
    assert made == CHART.format("'1.3.1'").encode()


def test_a_comment_that_one_side_changed_comes_along() -> None:
    base, ours, theirs = (CHART.format(v) for v in ("1.2.0", "1.2.1", "1.3.0"))
    texts = [base, ours, theirs.replace("see RELEASING", "automatic")]
    policy = policy_for([("version", "rebump")], "ours", "Chart.yaml")
    made = merge_files(*(t.encode() for t in texts), path="Chart.yaml", policy=policy)
    assert made.text.decode() == texts[2].replace("1.3.0", "1.3.1")


def test_comments_that_both_changed_leave_all_of_it_to_a_person() -> None:
    base, ours, theirs = (CHART.format(v) for v in ("1.2.0", "1.2.1", "1.3.0"))
    texts = [base, ours.replace("RELEASING", "A"), theirs.replace("RELEASING", "B")]
    policy = policy_for([("version", "rebump")], "ours", "Chart.yaml")
    made = merge_files(*(t.encode() for t in texts), path="Chart.yaml", policy=policy)
    assert [c.told for c in made.conflicts] == [
        f"{Why.BOTH_CHANGED} (policy rebump: the sides differ in more than the value)"
    ]
    assert not [d for d in made.decisions if d.is_settled]


def test_in_one_line_of_braces() -> None:
    made = merged("1.2.0", "1.2.1", "1.3.0", of="{{apiVersion: v2, version: {}, name: a}}\n")
    assert made.text == b"{apiVersion: v2, version: 1.3.1, name: a}\n"


@pytest.mark.parametrize(
    "mine, path, of, three, why",
    [
        (
            "",
            "a/Chart.yaml",
            CHART,
            "1.2.0|1.2.1|1.3.0",
            "only a merge, rebase or cherry-pick shows",
        ),
        (
            "ours",
            "a/values.yaml",
            CHART,
            "1.2.0|1.2.1|1.3.0",
            "only the `version` of a Chart",
        ),
        (
            "ours",
            "Chart.yaml",
            "a:\n  version: {}\n",
            "1.2.0|1.2.1|1.3.0",
            "only the `version` of a Chart.yaml",
        ),
        (
            "ours",
            "Chart.yaml",
            CHART,
            "1.2.0|&v 1.2.1|1.3.0",
            "one of the values has an anchor or a tag",
        ),
    ],
)
def test_where_it_is_silent_and_says_so(
    mine: str, path: str, of: str, three: str, why: str
) -> None:
    made = merged(*three.split("|"), mine=mine, path=path, of=of)
    assert len(made.conflicts) == 1
    assert f"{Why.BOTH_CHANGED} (policy rebump: {why}" in made.conflicts[0].told
    assert made.conflicts[0].why == Why.BOTH_CHANGED
    assert any(why in d.what for d in made.explained)


def test_both_alike_is_no_conflict() -> None:
    made = merged("1.2.0", "1.2.1", "1.2.1")
    assert (made.clean, made.text) == (True, CHART.format("1.2.1").encode())
