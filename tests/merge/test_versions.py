"""Which of two versions is the higher one: tags with dates, counters, timestamps; and why not."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmerge_git.merge.decide.higher_version import compared, higher


@pytest.mark.parametrize(
    "low, high",
    [
        # a date and a commit
        ("v20221123-4b1eb2a191", "v20221201-0a1eb2a191"),
        ("prod-3f8d5c2-20260223171148", "prod-aa8d5c2-20260224090000"),
        ("20260223-171148-3f8d5c2", "20260223-181148-1f8d5c2"),
        ("v20250717-57d1ca3-1.30", "v20250807-7b202b3-1.30"),
        ("x/y:v20200529-3f8d5c2", "x/y:v20200617-1f8d5c2"),
        ("v20221123-1234567", "v20221124-4b1eb2a"),  # a hash of digits alone beside another
        ("20240131", "20240215"),
        # a build's number behind what both have in common
        ("0.0.1-n5181.haad09135", "0.0.1-n5194.h94d5f0bb"),
        ("1.2.3-9-g4b1eb2a", "1.2.3-12-g0a1eb2a"),
        ("main-99-4b1eb2a", "main-100-0a1eb2a"),
        ("1.17.0-8", "1.17.0-10"),
        ("1.2.3-debian-11-r9", "1.2.3-debian-11-r10"),
        ("1.2.3-build.9", "1.2.3-build.10"),
        ("app:17", "app:18"),
        ("owner/action@v3", "owner/action@v4"),
        ("main-3f8d5c2-1700000000", "main-4f8d5c2-1700000100"),
        ("1.0.9", "1.0.10"),
        ("23.04", "23.10"),
        ("2023.10", "2024.1"),
        ("1.2.3-rc.1-alpine", "1.2.3-rc.2-alpine"),
        ("1.2.3-SNAPSHOT", "1.2.3"),
        ("v1.27.3+k3s2", "v1.27.4+k3s1"),
        ("1.2.3+4b1eb2a", "1.2.4+0a1eb2a"),
        ("^1.2.3", "^1.3.0"),
        ("2023-10-10T13:03:29Z", "2023-10-12T13:12:40Z"),
    ],
)
def test_the_later_one_is_higher_from_both_sides(low: str, high: str) -> None:
    assert (compared(low, high), compared(high, low)) == (("theirs", ""), ("ours", ""))


@pytest.mark.parametrize(
    "one, other, why",
    [
        ("3", "5", "a plain number is not a version"),
        ("16", "17.2", "a plain number is not a version"),
        ("99999999", "88888888", "a plain number is not a version"),  # no dates
        ("app:1234567", "app:7654321", "a plain number is not a version"),  # perhaps commits
        ("10.0.0.1", "10.0.0.2", "the values may be IP addresses"),
        ("30000-32000", "30000-32767", "the versions belong to different series or variants"),
        ("512M", "4G", "the versions belong to different series or variants"),
        ("a/b@4b1eb2a4b1", "a/b@0a1eb2a4b1", "commits cannot be ordered"),
        ("PR-12", "PR-15", "the numbers of pull requests do not show which build is newer"),
        (
            "main-pr12-4b1eb2a",
            "main-pr15-0a1eb2a",
            "the numbers of pull requests do not show which build is newer",
        ),
        ("4b1eb2a", "0a1eb2a", "commits cannot be ordered"),
        ("v20221123-4b1eb2a", "v20221123-0a1eb2a", "commits cannot be ordered"),
        ("0.1.0-d95cd14", "0.1.0-ee79f00", "commits cannot be ordered"),
        ("sha256:4b1eb2a4b1", "sha256:0a1eb2a4b1", "digests cannot be compared as versions"),
        ("app@sha256:11", "app@sha256:22", "digests cannot be compared as versions"),
        ("app:1.2@sha256:11", "app:1.2@sha256:22", "the tags are the same, but the digests differ"),
        ("a/app:1.2", "b/app:1.3", "the names in front of the versions differ"),
        ("app:1.2", "1.3", "the names in front of the versions differ"),
        ("1.2", "1.2.0", "the versions are equal"),
        ("v20230101", "v1.2", "the versions have different formats"),
        ("2023-10-10", "2023-10-11", "the versions belong to different series or variants"),
        (
            "2023-10-10T13:03:29",
            "2023-10-10T13:03:30Z",
            "the versions belong to different series or variants",
        ),
        ("1.2-alpine", "1.3-debian", "the versions belong to different series or variants"),
        ("1.2.3-java11", "1.2.3-java17", "the versions belong to different series or variants"),
        (
            "1.2.3-debian-11",
            "1.2.3-debian-12",
            "the versions belong to different series or variants",
        ),
        (
            "1.25-alpine3.17",
            "1.25-alpine3.18",
            "the versions belong to different series or variants",
        ),
        (
            "v20230721-3e2062e",
            "v20230312-4.5.2-28-g66a7607",
            "the versions belong to different series or variants",
        ),
        ("1.2-3-g4b1eb2a", "1.3-1-g0a1eb2a", "the values differ in more than one number"),
        ("20230101-a-20240101", "20230102-a-20240102", "the values differ in more than one date"),
        ("main", "dev", "the values are not versions"),
        # commits that look like versions
        ("abc1234", "abc2345", "commits cannot be ordered"),
        ("app:sha-abc1234", "app:sha-abc2345", "commits cannot be ordered"),
        ("app:sha-1234567", "app:sha-2345678", "the versions have different formats"),
        ("v1234567", "v2345678", "the versions have different formats"),
        ("1.2.3-1234567", "1.2.3-2345678", "the versions belong to different series or variants"),
        # days that are none, of two forms, or written in another order
        (
            "v20231301-4b1eb2a",
            "v20231401-0a1eb2a",
            "the versions belong to different series or variants",
        ),
        ("main-20231012", "main-202210121230", "the versions have different formats"),
        ("main-20231012", "main-12345", "the versions have different formats"),
        ("31.12.2022", "1.2.2023", "the versions have different formats"),
        ("2023.10", "1.5", "the versions have different formats"),
        ("1.02", "1.1", "the versions have different formats"),
        # a pre-release whose order nobody knows
        ("1.2.3-dev.1", "1.2.3-alpha.1", "the versions belong to different series or variants"),
        ("1.2.3-snapshot", "1.2.3-rc1", "the versions belong to different series or variants"),
        ("1.2.3-pre.4b1eb2a", "1.2.3-pre.5b1eb2a", "commits cannot be ordered"),
        (
            "1.2.3-dev.main",
            "1.2.3-dev.topic",
            "the versions belong to different series or variants",
        ),
        (
            "1.2.3-rc.1-alpine",
            "1.2.3-rc.2-debian",
            "the versions belong to different series or variants",
        ),
        ("v1.27.3+k3s1", "v1.27.4+rke2r1", "the versions belong to different series or variants"),
        # what is no version at all
        ("-1", "-2", "the values are not versions"),
        (".5", ".25", "the values are not versions"),
        ("--v=2", "--v=4", "the values are not versions"),
        ("--qps=50.5", "--qps=60.5", "the values are not versions"),
        ("--version=1.2.3", "--version=1.3.0", "the values are not versions"),
        (">= 1.2.3", ">= 1.3.0", "the values are not versions"),
        ("<1.2.3", "<1.3.0", "the values are not versions"),
        ("$1.20", "$1.30", "the values are not versions"),
        ("We need 1.2", "We need 1.3", "the values are not versions"),
        ("we need app:1.2", "we need app:1.3", "the values are not versions"),
        ("--target=app:1.2", "--target=app:1.3", "the values are not versions"),
        ("fe80::1", "fe80::2", "the values are not versions"),
        ("latest", "1.2", "the values are not versions"),
    ],
)
def test_why_neither_is_higher(one: str, other: str, why: str) -> None:
    assert (compared(one, other), compared(other, one)) == (("", why), ("", why))


# https://semver.org, 11.4
BY_SEMVER = (
    *("1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2"),
    *("1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1-alpha", "1.2.0", "1.10.0", "2.0.0"),
)


@pytest.mark.parametrize("low, high", list(combinations(BY_SEMVER, 2)))
def test_the_order_of_semver(low: str, high: str) -> None:
    assert (higher(low, high), higher(high, low)) == ("theirs", "ours")


ODD = st.text(alphabet="0123456789abcfgnrv.-_+:@/TZ PR٣", max_size=24)
PARTS = st.sampled_from(
    [
        *("1", "2", "10", "02", "7654321", "20231012", "20231301", "2023", "abc1234", "1234567"),
        *("rc", "rc1", "dev", "alpha", "r1", "g4b1eb2a", "amd64", "v1"),
    ]
)
TAGS = st.lists(st.tuples(PARTS, st.sampled_from([".", "-", "+", "_"])), min_size=1).map(
    lambda parts: "".join(part + mark for part, mark in parts)[:-1]
)
LIKELY = TAGS | st.from_regex(
    r"(v|n|PR-|app:)?[0-9]{1,3}(\.[0-9]{1,2}){0,3}(-[a-z0-9]{1,8}){0,2}", fullmatch=True
)


@given(st.text(max_size=30) | ODD | LIKELY, st.text(max_size=30) | ODD | LIKELY)
def test_any_two_texts_have_an_answer_that_does_not_depend_on_the_side(a: str, b: str) -> None:
    other = {"ours": "theirs", "theirs": "ours", "": ""}
    side, why = compared(a, b)
    assert compared(b, a) == (other[side], why)
    assert higher(a, b) == side
    assert bool(side) != bool(why)


@given(LIKELY, LIKELY, LIKELY)
def test_what_is_higher_is_so_in_a_row(a: str, b: str, c: str) -> None:
    if higher(a, b) == higher(b, c) == "ours":
        assert higher(a, c) != "theirs"
