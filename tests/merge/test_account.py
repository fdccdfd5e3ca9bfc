"""What `explained` says of a merge: complete, true of the result, and the same seen from either side."""

from __future__ import annotations

import tomllib
from pathlib import Path
from random import Random

import pytest
import strategies
from test_cases import FOLDERS, name, trio

from kmerge_git.errors import KmergeError
from kmerge_git.kube import fieldpath
from kmerge_git.kube.differing import differing
from kmerge_git.kube.identity import pairing
from kmerge_git.kube.listkeys import start
from kmerge_git.merge.pairing import name_of
from kmerge_git.outcome import Decision, Outcome
from kmerge_git.pipeline import merge_files
from kmerge_git.text.source import Source
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


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_every_field_that_differs_is_told(folder: Path) -> None:
    path = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8")).get("path", "")
    texts = trio(folder)
    try:
        complete(texts, path)
    except KmergeError:
        assert merged(texts, path).method in ("lines", "kept", "same")
    mirrored(texts, path)


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
        ("spec.replicas", "changed on both sides", "conflict", "6", "1", "2", "3"),
        ("spec.paused", "deleted", "theirs", "1", "false", "false", ""),
        (f"{app}.image", "changed", "ours", "1", "app:1", "app:2", "app:1"),
        (
            *(f"{app}.args", "changed on both sides", "both", "5"),
            *("[…]", "[…, ours]", "[…, theirs]"),
        ),
        (
            *("spec.template.spec.containers[name=log]", "added", "theirs", "3"),
            *("", "", "{name: log, image: log:1}"),
        ),
    ]


def test_a_favoured_side_and_a_policy_are_told_with_the_values() -> None:
    favoured = rows(merged(TRIO, favor="theirs"))[0]
    assert favoured == (
        "spec.replicas",
        "changed on both sides",
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
    template = b"a: 1\n{{- if .x }}\nb: 1\n{{- end }}\n"
    outcome = merged((template, template + b"c: 1\n", template + b"d: 1\n"))
    assert outcome.method == "lines"
    assert outcome.explained == ()


def test_rules_of_a_deployment_tool_are_told_by_their_numbers() -> None:
    told = {d.path: (d.side, d.rule) for d in merged(TRIO, rules="kyaml").explained}
    assert told["spec.replicas"] == ("theirs", "M2 lost")
    assert told["spec.template.spec.containers[name=app].image"] == ("ours", "M1")
