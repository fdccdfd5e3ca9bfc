"""The later one of two timestamps that a program writes; every other value stays a conflict."""

from __future__ import annotations

from itertools import product

import pytest
from depth import part
from lawbook import breaches
from lawful_times import later
from laws import obey

from kmerge_git.api import merge_files
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.merge.plan import Why
from kmerge_git.outcome import Outcome

OPERATOR = """\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  annotations:
    capabilities: Basic Install
    createdAt: {time}
    support: x
  name: etcd.v0.9.4
spec:
  version: 0.9.4
"""
LOCK = """\
dependencies:
- name: postgresql
  repository: https://charts.example.org
  version: 11.6.12
digest: sha256:aa
generated: {time}
"""
INDEX = """\
apiVersion: v1
entries:
  web:
  - created: {created}
    name: web
    version: 1.0.0
generated: {time}
"""
FILES = {
    "bundle/etcd.clusterserviceversion.yaml": OPERATOR,
    "charts/web/Chart.lock": LOCK,
    "requirements.lock": LOCK,
    "docs/index.yaml": INDEX,
}
TIMES = [
    "2022-07-01T18:19:20Z",
    "2022-07-01T18:19:20.5Z",
    "2022-07-01T18:19:20.49Z",
    "2022-07-01T18:19:20.123456789Z",
    "2022-07-01T18:19:20.1234567890Z",
    "2022-07-01T20:19:20+02:00",  # as the first one
    "2022-07-01T20:19:21.25+02:00",
    "2022-06-30T23:59:59-23:59",
    "2022-07-01t18:19:21z",
    "1999-12-31T23:59:59.999Z",
]
OTHERS = [
    "2022-07-01",
    "2022-07-02 18:19:20",
    "2022-07-02T18:19:20",
    "2022-07-02T18:19:20.Z",
    "2022-07-02T18:19:20,5Z",
    "2022-07-02T18:19:20.5 Z",
    "2022-07-02T18:19:20+0200",
    "2022-07-02T18:19:20+02",
    "2022-07-02T18:19:20+25:00",
    "2022-07-02T18:19:20-02:0",
    "2022-13-02T18:19:20Z",
    "2022-02-30T18:19:20Z",
    "2022-07-02T18:19:61Z",
    "22-07-02T18:19:20Z",
    "٢٠٢٢-07-02T18:19:20Z",
    "+022-07-02T18:19:20Z",
    "yesterday",
    "1656699560",
    "",
]


def merged(path: str, text: str, base: str, ours: str, theirs: str) -> Outcome:
    texts = (text.format(time=time, created=TIMES[0]).encode() for time in (base, ours, theirs))
    made = merge_files(*texts, path=path, line_merge=lambda *_: (b"", False))
    assert not made.reason.startswith("internal error")
    return made


TRIPLES = [*product([*TIMES[::3], *OTHERS[::6]], [*TIMES, *OTHERS], [*TIMES, *OTHERS])]


@pytest.mark.parametrize("path", FILES)
def test_the_later_one_of_every_pair(path: str) -> None:
    """Of any three values: decided as another reader of times says, and the same for either side."""
    wrong = []
    for values in part(TRIPLES[::4] if "web" in path else TRIPLES[::31]):
        if len({*values}) < 3:
            continue
        found = [
            merged(path, FILES[path], *three) for three in (values, (values[0], *values[:0:-1]))
        ]
        wanted = later(*values)
        texts = {made.text for made in found} if wanted else set()
        right = {FILES[path].format(time=wanted, created=TIMES[0]).encode()} if wanted else set()
        if {made.clean for made in found} != {wanted is not None} or texts != right:
            wrong.append((values, wanted, found[0].text.decode()))
    assert not wrong, f"{len(wrong)}: {wrong[:3]}"


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("quotes", [("", ""), ('"', '"'), ("", '"'), ("'", "")])
def test_it_is_reported_and_keeps_its_quotes_and_comment(
    path: str, quotes: tuple[str, str]
) -> None:
    one, two = (f"{q}{TIMES[n]}{q}" for q, n in zip(quotes, (3, 1), strict=True))
    made = merged(path, FILES[path].replace("{time}", "{time}  # by a program"), TIMES[0], one, two)
    assert made.clean
    assert f"{two}  # by a program\n" in made.text.decode()
    (told,) = [decision for decision in made.decisions if decision.is_told]
    assert told.shown().endswith(f": {Why.BOTH_CHANGED}, theirs taken (rule 16 later time)")


@pytest.mark.parametrize("path", FILES)
def test_the_laws_hold_around_it(path: str) -> None:
    texts = [FILES[path].format(time=TIMES[n], created=TIMES[0]).encode() for n in (0, 1, 3)]
    made = obey((texts[0], texts[1], texts[2]), path)
    assert made.clean and made.text == texts[1]
    for result, is_lawful in ((texts[1], True), (texts[2], False), (texts[0], False)):
        found = breaches(texts[0], texts[1], texts[2], result, clean=True, path=path)
        assert (not [breach for breach in found if breach.law == "leaf"]) == is_lawful
    elsewhere = breaches(texts[0], texts[1], texts[2], texts[1], clean=True, path="values.txt")
    assert bool(elsewhere) == ("kind" not in FILES[path])


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("gone", ["ours", "theirs"])
def test_one_that_a_side_deleted_is_a_conflict(path: str, gone: str) -> None:
    base, there = (FILES[path].format(time=TIMES[n], created=TIMES[0]) for n in (0, 1))
    lines = base.split("\n")
    without = "\n".join(line for line in lines if "createdAt" not in line and line[:5] != "gener")
    texts = (base, *((without, there) if gone == "ours" else (there, without)))
    (conflict,) = merge_files(*(text.encode() for text in texts), path=path).conflicts
    assert "time" not in conflict.told


def test_every_version_of_a_lock_is_one() -> None:
    texts = [LOCK.format(time=time).encode() for time in (TIMES[0], TIMES[1], TIMES[3])]
    for number in range(3):
        versions = [*texts]
        versions[number] = versions[number].replace(b"digest: sha256:aa\n", b"")
        assert not merge_files(*versions, path="Chart.lock").clean


def test_a_block_text_is_not_one_value() -> None:
    texts = [LOCK.format(time=time) for time in (TIMES[0], f"|-\n  {TIMES[1]}", TIMES[3])]
    assert not merge_files(*(text.encode() for text in texts), path="Chart.lock").clean


def test_both_added_it() -> None:
    texts = [OPERATOR.replace("    createdAt: {time}\n", "")]
    texts += [OPERATOR.format(time=time) for time in (TIMES[0], TIMES[1])]
    assert merge_files(*(text.encode() for text in texts)).text.decode() == texts[2]


def test_a_comment_that_both_changed_leaves_all_of_it_to_a_person() -> None:
    texts = [LOCK.format(time=f"{TIMES[n]}  # {n}").encode() for n in (0, 1, 3)]
    (conflict,) = merge_files(*texts, path="Chart.lock").conflicts
    assert (
        conflict.told == f"{Why.BOTH_CHANGED} (later time: the sides differ in more than the value)"
    )


@pytest.mark.parametrize(
    "path, text",
    [
        ("values.yaml", LOCK),
        ("Chart.lock.yaml", LOCK),
        ("Chart.lock", LOCK.replace("digest", "sum")),
        ("index.yaml", INDEX.replace("entries", "charts")),
        ("myindex.yaml", INDEX),
        ("csv.yaml", OPERATOR.replace("ClusterServiceVersion", "Deployment")),
        ("csv.yaml", OPERATOR.replace("createdAt", "updatedAt")),
        ("csv.yaml", OPERATOR.replace("annotations", "labels")),
        ("csv.yaml", OPERATOR.replace("metadata", "status")),
        ("index.yaml", INDEX.replace("{time}", "x").replace("{created}", "{time}")),
        ("Chart.lock", LOCK.replace("generated", "made")),
        ("Chart.lock", LOCK.replace("  version: 11.6.12", "  generated: {time}").replace("\ngenerated: {time}", "")),
        ("Chart.lock", LOCK.replace("{time}", "&a {time}")),
        ("Chart.lock", LOCK.replace("{time}", "!!str {time}")),
        ("Chart.lock", LOCK.replace("{time}", "[{time}]")),
        ("Chart.lock", LOCK.replace("{time}", "|\n  {time}")),
    ],
)  # fmt: skip
def test_no_other_value_is_decided(path: str, text: str) -> None:
    assert not merged(path, text, TIMES[0], TIMES[1], TIMES[6]).clean


def test_each_operator_of_a_file_for_itself() -> None:
    other = OPERATOR.replace("etcd.v0.9.4", "etcd.v0.9.2").replace("Basic Install", "Deep")
    plain = OPERATOR.replace("ClusterServiceVersion", "Deployment").replace("etcd.v0.9.4", "d")
    rows = [
        (TIMES[0], TIMES[0], TIMES[0]),
        (TIMES[1], TIMES[3], TIMES[1]),
        (TIMES[3], TIMES[1], TIMES[3]),
    ]
    texts = [
        "---\n".join(
            of.format(time=time) for of, time in zip((OPERATOR, other, plain), row, strict=True)
        )
        for row in rows
    ]
    made = merge_files(*(text.encode() for text in texts), path="x.yaml")
    assert [conflict.resource for conflict in made.conflicts] == ["Deployment/d"]
    assert made.text.decode().count(f"createdAt: {TIMES[1]}") == 3
    assert made.text.decode().count(f"createdAt: {TIMES[3]}") == 1


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_policy_for_the_field_decides_first(side: str) -> None:
    texts = [LOCK.format(time=time).encode() for time in (TIMES[0], TIMES[1], TIMES[3])]
    policy = policy_for([("generated", side)])
    made = merge_files(*texts, path="Chart.lock", policy=policy)
    assert made.text == texts[1 if side == "ours" else 2]
    assert [decision.rule for decision in made.decisions] == [f"12 policy {side}"]


def test_a_policy_says_why_neither_it_nor_the_rule_decides() -> None:
    texts = [LOCK.format(time=time).encode() for time in ("0", "1", "2")]
    (conflict,) = merge_files(
        *texts, path="Chart.lock", policy=policy_for([("**", "higher")])
    ).conflicts
    assert "policy higher: a plain number is not a version" in conflict.told


def test_a_policy_that_refuses_leaves_it_to_the_rule() -> None:
    texts = [LOCK.format(time=time).encode() for time in (TIMES[0], TIMES[1], TIMES[3])]
    made = merge_files(*texts, path="Chart.lock", policy=policy_for([("**", "higher")]))
    assert made.text == texts[1]


# -- the lock of a chart's dependencies


def lock(time: str, digest: str, **versions: str) -> bytes:
    entries = (
        f"- name: {name}\n  repository: https://x\n  version: {v}\n" for name, v in versions.items()
    )
    return f"dependencies:\n{''.join(entries)}digest: sha256:{digest}\ngenerated: {time}\n".encode()


def test_dependencies_merge_by_name_and_the_digest_says_how_it_is_made() -> None:
    made = merge_files(
        lock(TIMES[0], "aa", a="1.0.0", b="1.0.0", c="1.0.0"),
        lock(TIMES[1], "bb", a="1.1.0", b="1.0.0", c="1.0.0", d="2.0.0"),
        lock(TIMES[3], "cc", e="3.0.0", a="1.0.0", b="1.2.0"),
        path="charts/x/Chart.lock",
    )
    words = f"digest: {Why.BOTH_CHANGED} (run `helm dependency update`)"
    assert [conflict.shown() for conflict in made.conflicts] == [words]
    text = made.text.decode()
    assert f"<<<<<<< ours ({words})\ndigest: sha256:bb\n=======\ndigest: sha256:cc\n>>>>>>>" in text
    names = [line[8:] for line in text.split("\n") if line[:8] == "- name: "]
    assert names == ["e", "a", "b", "d"]
    assert [line[11:] for line in text.split("\n") if line[:9] == "  version"] == [
        *("3.0.0", "1.1.0", "1.2.0", "2.0.0")
    ]
    assert text.endswith(f"generated: {TIMES[1]}\n")


def test_a_version_of_a_lock_stays_a_conflict() -> None:
    texts = [lock(TIMES[n], str(n), a=f"1.{n}.0") for n in (0, 1, 3)]
    made = merge_files(*texts, path="Chart.lock")
    assert [c.field for c in made.conflicts] == ["dependencies[name=a].version", "digest"]


@pytest.mark.parametrize(
    "path, has_hint", [("Chart.lock", True), ("x.yaml", False), ("index.yaml", False)]
)
def test_only_a_lock_has_the_hint(path: str, has_hint: bool) -> None:
    texts = [lock(TIMES[0], digest, a="1.0.0") for digest in ("aa", "bb", "cc")]
    texts = [b"entries: {}\n" + text for text in texts]
    (conflict,) = merge_files(*texts, path=path).conflicts
    assert ("helm dependency update" in conflict.told) == has_hint


def test_the_same_digest_on_both_sides_is_no_conflict() -> None:
    texts = [lock(TIMES[n], "bb" if n else "aa", a="1.0.0") for n in (0, 1, 3)]
    assert merge_files(*texts, path="Chart.lock").text == texts[1]
