"""A digest goes with its tag: one decision, or two conflicts."""

from __future__ import annotations

from itertools import product

import pytest

from kmerge_git.api import merge_files
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.merge.plan import Why
from kmerge_git.outcome import Outcome
from kmerge_git.tree.plain_values import load

HIGHER = [("**", "higher")]


def image(
    tag: str, digest: str, name: str = "a/b", keys: tuple[str, str] = ("tag", "digest")
) -> str:
    digest_line = f"  {keys[1]}: sha256:{digest}\n" if digest else ""
    return f"image:\n  repository: {name}\n  {keys[0]}: {tag}\n{digest_line}"


def merged(rules: list[tuple[str, str]], *texts: str) -> Outcome:
    return merge_files(*(text.encode() for text in texts), path="v.yaml", policy=policy_for(rules))


@pytest.mark.parametrize("keys", [("tag", "digest"), ("newTag", "digest")])
@pytest.mark.parametrize("rules", [HIGHER, [("**.tag", "higher"), ("**.newTag", "higher")]])
def test_both_of_the_higher_tag(rules: list[tuple[str, str]], keys: tuple[str, str]) -> None:
    three = [image(*pair, keys=keys) for pair in (("1.0", "00"), ("1.1", "11"), ("1.2", "22"))]
    made = merged(rules, *three)
    assert (made.clean, made.text.decode()) == (True, three[2])
    assert [(d.path, d.side, d.rule) for d in made.decisions] == [
        (f"image.{key}", "theirs", "12 policy higher") for key in keys
    ]


def test_a_digest_that_is_gone_on_the_side_of_the_higher_tag() -> None:
    ours = image("1.3", "")
    assert merged(HIGHER, image("1.0", "00"), ours, image("1.2", "22")).text.decode() == ours


@pytest.mark.parametrize(
    "ours, theirs, rules",
    [
        (("1.1", "11"), ("1.2", "00"), HIGHER),  # theirs' tag, ours' digest
        (("1.1", "11"), ("1.2", "22"), [("**.digest", "ours"), *HIGHER]),
        (("1.1", ""), ("1.2", "00"), HIGHER),
    ],
)
def test_they_never_part(
    ours: tuple[str, str], theirs: tuple[str, str], rules: list[tuple[str, str]]
) -> None:
    made = merged(rules, image("1.0", "00"), image(*ours), image(*theirs))
    assert made.conflicts and not [d for d in made.decisions if d.is_settled]
    assert all("would come from different sides" in c.told for c in made.conflicts)


def test_comments_at_one_of_them_leave_both_to_a_person() -> None:
    three = [image("1.0", "00"), image("1.1", "11 # a"), image("1.2", "22 # b")]
    assert [c.field for c in merged(HIGHER, *three).conflicts] == ["image.tag", "image.digest"]
    three = [image("1.0", "00"), image("1.1 # a", "11"), image("1.2 # b", "22")]
    assert [c.field for c in merged(HIGHER, *three).conflicts] == ["image.tag", "image.digest"]


@pytest.mark.parametrize(
    "beside, version",
    [
        *((digest, "tag") for digest in ("imageSha", "tagDigest", "hash", "commit")),
        *(("checksum", "version"), ("imageID", "image"), ("sha512", "targetRevision")),
        # what the version is of
        *((name, "tag") for name in ("hub", "imageName", "name", "registry")),
        *(("chart", "version"), ("chart", "targetRevision"), ("repo", "rev"), ("url", "ref")),
    ],
)
def test_what_one_side_changed_beside_a_version_is_of_that_version(
    beside: str, version: str
) -> None:
    """Never a version of theirs with what stands beside ours."""
    rows = (("1.0.0", "zz"), ("1.1.0", "yy"), ("1.2.0", "zz"))
    three = [f"a:\n  {version}: {number}\n  {beside}: {text}\n" for number, text in rows]
    assert [c.field for c in merged(HIGHER, *three).conflicts] == [f"a.{version}"]


def test_a_name_that_holds_the_version() -> None:
    three = [f"a:\n  chart: web-1.{n}.0\n  version: 1.{n}.0\n" for n in range(3)]
    assert merged(HIGHER, *three).text.decode() == three[2]


def test_a_new_digest_of_the_tag_that_is_the_same() -> None:
    made = merged(HIGHER, image("1.0", "00"), image("1.0", "11"), image("1.0", "22"))
    assert [c.told for c in made.conflicts] == [
        f"{Why.BOTH_CHANGED} (policy higher: digests cannot be compared as versions)"
    ]


def test_a_tag_of_another_image() -> None:
    made = merged(HIGHER, image("1.0", "00"), image("1.1", "00", "a/c"), image("1.2", "00"))
    assert [c.field for c in made.conflicts] == ["image.tag"]
    assert "`repository` in the same map is different on each side" in made.conflicts[0].told


TAGS, DIGESTS = ("1.0", "1.1", "1.2"), ("00", "11", "22")


@pytest.mark.parametrize("rules", [HIGHER, [("**.tag", "higher")], [("**.digest", "higher")]])
@pytest.mark.costly
def test_no_settled_merge_mixes_the_sides(rules: list[tuple[str, str]]) -> None:
    """All tags and digests that the sides can have: what a policy settled is a side's pair."""
    versions = [*product(TAGS, (*DIGESTS, ""))]
    for ours, theirs in product(versions, versions):
        texts = [image(*pair) for pair in (("1.0", "00"), ours, theirs)]
        made = merged(rules, *texts)
        back = merged(rules, texts[0], texts[2], texts[1])
        assert made.clean == back.clean
        if made.clean:
            assert load(made.text) == load(back.text)
        if made.clean and any(d.is_settled for d in made.decisions):
            assert made.text.decode() in texts[1:], (ours, theirs)
