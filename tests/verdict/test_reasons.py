"""What `explained` says of a merge: complete, true of the result, and the same seen from either side."""

from __future__ import annotations

import tomllib
from pathlib import Path
from random import Random

import pytest
import strategies
from test_cases import FOLDERS, name, trio

from kmerge_git.api import merge_files
from kmerge_git.errors import KmergeError
from kmerge_git.kube import fieldpath
from kmerge_git.kube.differing import differing
from kmerge_git.kube.identity import pairing
from kmerge_git.kube.listkeys import start
from kmerge_git.merge.pairing import name_of
from kmerge_git.merge.plan import Why
from kmerge_git.outcome import BY_BLOCKS, Decision, Outcome
from kmerge_git.text.source import Source
from kmerge_git.tree import compose
from kmerge_git.tree.documents import split

SWAPPED = {"ours": "theirs", "theirs": "ours"}


def merged(texts: tuple[bytes, bytes, bytes], path: str = "", **options: str) -> Outcome:
    return merge_files(*texts, path=path, line_merge=lambda *_: (b"", False), **options)


def fields(old: bytes, new: bytes, path: str) -> list[tuple[str, str]]:
    """Resource and field of what differs between two texts: found without any merge."""
    mine, yours = (split(Source(data, path)).documents for data in (old, new))
    pairs = pairing(mine, yours).pairs
    found = []
    for i, j in pairs:
        before, after = mine[i].root, yours[j].root
        if before is not None and after is not None:
            steps = differing(before, after, start(after, path))
            found += [(name_of(yours[j]), fieldpath.show(step)) for step in steps]
    gone = [d for n, d in enumerate(mine) if n not in {i for i, _ in pairs} and d.root is not None]
    come = [d for n, d in enumerate(yours) if n not in {j for _, j in pairs} and d.root is not None]
    return found + [(name_of(document), "") for document in (*gone, *come)]


def covers(decision: Decision, place: tuple[str, str]) -> bool:
    """Whether a decision speaks of a field, or of something around or inside of it."""
    if {decision.resource, place[0]} == {""} or decision.resource == place[0]:
        return not decision.path or not place[1] or _in_line(decision.path, place[1])
    return (
        decision.path.startswith(("metadata", "kind", "apiVersion", "items")) or not decision.path
    )


def _in_line(one: str, other: str) -> bool:
    if one.startswith(other) or other.startswith(one):
        return True
    # an element may be told by its place, or by its name
    return one.partition("[")[0] == other.partition("[")[0] and "[" in one + other


def complete(texts: tuple[bytes, bytes, bytes], path: str = "") -> None:
    outcome = merged(texts, path)
    if not outcome.clean:
        return
    told = outcome.explained
    base, ours, theirs = texts
    if outcome.method != "lines":
        assert told or base == ours == theirs
    for old, sides in ((base, None), (ours, "ours"), (theirs, "theirs")):
        for place in fields(old, outcome.text, path):
            speaking = [d for d in told if covers(d, place)]
            assert speaking, (place, told)
            assert any(d.side != sides for d in speaking), (place, sides, told)


@pytest.mark.world
@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_every_field_that_differs_is_told(folder: Path) -> None:
    path = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8")).get("path", "")
    texts = trio(folder)
    try:
        complete(texts, path)
    except KmergeError:
        outcome = merged(texts, path)
        assert outcome.method in ("lines", "kept", "same") or outcome.reason == BY_BLOCKS
        assert outcome.explained or outcome.reason != BY_BLOCKS
    mirrored(texts, path)


@pytest.mark.world
@pytest.mark.parametrize("seed", range(60))
def test_every_field_of_random_merges_is_told(seed: int) -> None:
    texts = strategies.trio(Random(seed), 4)
    complete(texts)
    mirrored(texts)


def mirrored(texts: tuple[bytes, bytes, bytes], path: str = "") -> None:
    """The same is told with the sides swapped."""
    base, ours, theirs = texts

    def places(texts: tuple[bytes, bytes, bytes], *, swap: bool) -> list[tuple[str, ...]]:
        return sorted(
            (d.path, d.rule, SWAPPED.get(d.side, d.side) if swap else d.side)
            for d in merged(texts, path).explained
        )

    if ours != theirs:
        assert places((base, ours, theirs), swap=False) == places((base, theirs, ours), swap=True)


DID_BOTH = f"{'changed'} on both sides"  # what the sides did, not the cause of a conflict
TRIO = (
    b"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n"
    b"  paused: false\n  template:\n    spec:\n      containers:\n      - name: app\n"
    b"        image: app:1\n        args: [a, b]\n",
    b"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2\n"
    b"  paused: false\n  template:\n    spec:\n      containers:\n      - name: app\n"
    b"        image: app:2\n        args: [a, b, ours]\n",
    b"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3\n"
    b"  template:\n    spec:\n      containers:\n      - name: app\n"
    b"        image: app:1\n        args: [theirs, a, b]\n      - {name: log, image: log:1}\n",
)


def rows(outcome: Outcome) -> list[tuple[str, ...]]:
    return [
        (d.path, d.what, d.side, d.rule, d.base, d.ours, d.theirs)
        for d in outcome.explained
        if d.resource == "Deployment/web"
    ]


def test_each_place_with_its_three_values() -> None:
    app = "spec.template.spec.containers[name=app]"
    assert rows(merged(TRIO)) == [
        ("spec.replicas", Why.BOTH_CHANGED, "conflict", "6", "1", "2", "3"),
        ("spec.paused", "deleted", "theirs", "1", "false", "false", ""),
        (f"{app}.image", "changed", "ours", "1", "app:1", "app:2", "app:1"),
        (
            *(f"{app}.args", DID_BOTH, "both", "5"),
            *("[…]", "[…, ours]", "[…, theirs]"),
        ),
        (
            *("spec.template.spec.containers[name=log]", "added", "theirs", "3"),
            *("", "", "{name: log, image: log:1}"),
        ),
    ]


def test_versions_that_read_the_same_are_told_apart() -> None:
    """The same lines in another order, the same text with other blanks."""
    text = "a: {}\n{}b: {}\n"
    trio = [
        text.format(*words).encode()
        for words in (
            ('"x"', "# k\n", 1),
            ('"x y"', "# n\n# k\n", 2),
            ('"x  y"', "# k\n# n\n", 3),
        )
    ]
    told = {
        d.path or d.what: (d.ours, d.theirs) for d in merged((trio[0], trio[1], trio[2])).explained
    }
    almost = "(same as ours except for blanks, order, tags or anchors)"
    assert told == {
        "a": ('"x y"', almost),
        "b": ("2", "3"),
        "comments": ("# n", almost),
    }


def test_a_favoured_side_and_a_policy_are_told_with_the_values() -> None:
    favoured = rows(merged(TRIO, favor="theirs"))[0]
    assert favoured == (
        "spec.replicas",
        Why.BOTH_CHANGED,
        "theirs",
        "13 favor",
        "1",
        "2",
        "3",
    )


def test_what_was_taken_whole_is_told_as_well() -> None:
    outcome = merge_files(b"a: 1\nb: 1\n", b"a: 1\nb: 1\n", b"a: 2\nb: 1\n")
    assert outcome.method == "same"
    assert [(d.path, d.side, d.base, d.theirs) for d in outcome.explained] == [
        ("a", "theirs", "1", "2")
    ]


def test_nothing_is_told_of_what_has_no_fields() -> None:
    template = b"a: 1\n{{- if .x }}\nb: 1\n"  # a block without its end
    outcome = merged((template, template + b"c: 1\n", template + b"d: 1\n"))
    assert outcome.method == "lines"
    assert outcome.explained == ()


def test_rules_of_a_deployment_tool_are_told_by_their_numbers() -> None:
    told = {d.path: (d.side, d.rule) for d in merged(TRIO, rules="kyaml").explained}
    assert told["spec.replicas"] == ("theirs", "M2 lost")
    assert told["spec.template.spec.containers[name=app].image"] == ("ours", "M1")


POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\n"
LIST = "spec:\n  containers:\n  - name: a\n    image: a:1\n  - name: b\n    image: b:1\n"
TURNED = "spec:\n  containers:\n  - name: b\n    image: b:1\n  - name: a\n    image: a:1\n"
RENAMED = (
    "{}:\n  key: some-long-value-of-this-entry\n  two: another-long-value\n  three: {}\nz: {}\n"
)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        # the order of a list with keys, told by its names
        (
            POD.format("p") + LIST,
            POD.format("p") + TURNED,
            POD.format("p") + LIST + "  hostNetwork: true\n",
            ("spec.containers", "reordered", "ours", "3", "a, b", "b, a", "a, b"),
        ),
        # the order of resources
        (
            POD.format("p") + "---\n" + POD.format("q"),
            POD.format("q") + "---\n" + POD.format("p"),
            POD.format("p") + "---\n" + POD.format("q") + "spec: {a: 1}\n",
            ("", "reordered", "ours", "8", "Pod/p, Pod/q", "Pod/q, Pod/p", "Pod/p, Pod/q"),
        ),
        # comments, those above all resources too
        (
            "a: 1\nb: 1\n",
            "a: 1\nb: 2\n",
            "# why\na: 1\nb: 1\n",
            ("", "comments", "theirs", "14", "", "", "# why"),
        ),
        (
            "# top\n---\na: 1\nb: 1\n",
            "# top, too\n---\na: 1\nb: 1\n",
            "# top\n---\na: 1\nb: 2\n",
            ("", "comments", "ours", "14", "# top", "# top, too", "# top"),
        ),
        # a comment in a block text is none
        (
            "a: |\n  # x\n  echo\nb: 1\n",
            "a: |\n  # y\n  echo\nb: 1\n",
            "a: |\n  # x\n  echo\nb: 2\n",
            ("a", "changed", "ours", "1", "… # x", "… # y", "… # x"),
        ),
        # spelling alone
        (
            "a: x\nb: 1\n",
            'a: "x"\nb: 1\n',
            "a: x\nb: 2\n",
            ("", "layout", "ours", "14", "", "", ""),
        ),
        # the line ends of a file
        (
            "a: 1\nb: 1\n",
            "a: 1\r\nb: 1\r\n",
            "a: 1\nb: 1\n",
            ("", "layout", "ours", "14", "", "", ""),
        ),
        # a key of a mapping
        (
            RENAMED.format("old", 1, 1),
            RENAMED.format("new", 1, 1),
            RENAMED.format("old", 2, 1),
            ("old", "renamed", "ours", "11", "old", "new", "old"),
        ),
        # an anchor
        (
            "a:\n  x: 1\n  y: 1\nb: 1\n",
            "a: &a\n  x: 1\n  y: 1\nb: *a\n",
            "a:\n  x: 1\n  y: 2\nb: 1\n",
            ("a", "changed", "ours", "1", "", "&a", ""),
        ),
        # a set
        (
            POD.format("p") + "  finalizers: [a, b]\n",
            POD.format("p") + "  finalizers: [a, b, c]\n",
            POD.format("p") + "  finalizers: [b]\n",
            (
                "metadata.finalizers",
                DID_BOTH,
                "both",
                "4",
                "[…, a]",
                "[…, a, c]",
                "[…]",
            ),
        ),
        # a resource that went, and one that came
        (
            POD.format("p") + "---\n" + POD.format("q"),
            POD.format("p") + "spec: {a: 1}\n---\n" + POD.format("q"),
            POD.format("p"),
            (
                *("", "deleted", "theirs", "8"),
                *["{apiVersion: v1, kind: Pod, metadata: {name: q}}"] * 2,
                "",
            ),
        ),
        # two kinds of values
        (
            "a: 1\nb: 1\n",
            "a: [1]\nb: 1\n",
            "a: {b: 1}\nb: 1\n",
            ("a", Why.BOTH_CHANGED, "conflict", "7", "1", "[1]", "{b: 1}"),
        ),
        # one side deleted it
        (
            "a: {x: 1}\nb: 1\n",
            "b: 1\n",
            "a: {x: 2}\nb: 1\n",
            ("a", Why.OURS_GONE, "conflict", "2", "{x: 1}", "", "{x: 2}"),
        ),
    ],
)
def test_what_is_told(base: str, ours: str, theirs: str, expected: tuple[str, ...]) -> None:
    outcome = merged((base.encode(), ours.encode(), theirs.encode()))
    found = [(d.path, d.what, d.side, d.rule, d.base, d.ours, d.theirs) for d in outcome.explained]
    assert expected in found


def test_a_comment_that_a_favoured_side_settled_has_its_rule() -> None:
    """It is at no place where values differ: the journal alone knows of it."""
    texts = (b"a: 1 # x\nb: 1\n", b"a: 1 # y\nb: 1\n", b"a: 1 # z\nb: 1\n")
    found = [(d.path, d.side, d.rule, d.ours) for d in merged(texts, favor="ours").explained]
    assert ("a", "ours", "13 favor", "1") in found


def test_git_s_own_lines_are_told_as_such() -> None:
    texts = (b"l: [a, b]\nb: 1\n", b"l: [a, b, o]\nb: 1\n", b"l: [t, a, b]\nb: 1\n")
    result = b"l: [t, a, b, o]\nb: 1\n"
    outcome = merge_files(*texts, line_merge=lambda *_: (result, True))
    told = [(d.path, d.side, d.rule) for d in outcome.explained]
    assert told == [("l", "both", "15" if outcome.method == "lines" else "5")]


def test_the_driver_s_decisions_stay_as_short_as_they_were() -> None:
    outcome = merged(TRIO)
    assert len(outcome.decisions) < len(outcome.explained)
    assert {d.base for d in outcome.decisions} == {""}
    assert outcome.explained is outcome.explained


@pytest.mark.parametrize(
    ("ours", "theirs", "readings"),
    [
        ("b1 a1 c1", "a2 b2 c2", 6),  # the three of base, and those of the result and of theirs
        ("b1 a1 c3", "a2 b2 c2", 7),  # one conflict: the result has two texts of this document
    ],
)
def test_documents_of_one_text_are_read_once(
    ours: str, theirs: str, readings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def text(documents: str) -> bytes:
        head = "apiVersion: v1\nkind: A\nmetadata:\n  name: n"
        return "".join(f"---\n{head}{n}\nspec: {v}\n" for n, v in documents.split()).encode()

    outcome = merged((text("a1 b1 c1"), text(ours), text(theirs)))
    assert outcome.method == "structure"
    original, read = compose.compose, []

    def counted(source: Source, span: tuple[int, int, int, int]) -> object:
        read.append(span)
        return original(source, span)

    monkeypatch.setattr(compose, "compose", counted)
    assert outcome.explained
    assert len(read) == readings


@pytest.mark.world
@pytest.mark.parametrize("favor", ["ours", "theirs"])
@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_all_that_a_favoured_side_decided_is_told(folder: Path, favor: str) -> None:
    """Comments and whole resources, too; in a resource that is one conflict nothing else."""
    path = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8")).get("path", "")
    left = merge_files(*trio(folder), path=path)
    made = merge_files(*trio(folder), path=path, favor=favor)
    if left.method != "structure" or left.clean or not made.clean:
        return
    conflicts = {(c.resource, c.field) for c in left.conflicts}
    for decisions in (made.decisions, made.explained):
        told = [d for d in decisions if d.rule == "13 favor"]
        assert {d.side for d in told} == {favor}
        assert "conflict" not in {d.side for d in decisions}
        assert conflicts <= {(d.resource, d.path) for d in told}
        assert {d.resource for d in told} == {resource for resource, _ in conflicts}
        whole = {resource for resource, field in conflicts if not field}
        assert not [d for d in told if d.resource in whole and d.path]
