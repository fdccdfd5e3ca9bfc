"""Which fields differ between two versions, as they are shown to people."""

from __future__ import annotations

import pytest

from kmerge_git.kube.differing import differing
from kmerge_git.kube.fieldpath import show
from kmerge_git.kube.listkeys import start
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

POD = "apiVersion: v1\nkind: Pod\nspec:\n  "

FIELDS = [
    ("a: 1", "a: '1'", ["a"]),
    ("a: 1", "a:   1 # why", []),
    ("a: {b: 1, c: 2}", "c: 0\na: {c: 3, b: 1, d: 4}", ["c", "a.c", "a.d"]),
    ("a: 1\nb: 1", "b: 1", ["a"]),
    ("a: {b: 1}", "a: [b]", ["a"]),
    ("1", "2", [""]),
    ("a: &x 1", "a: &y 1", ["a"]),
    ("a: {b: 1}", "a: &x {b: 1}", ["a"]),
    # by the keys of a table, by inferred ones, and without any
    (
        POD + "containers: [{name: a, image: x}, {name: b, image: x}]",
        POD + "containers: [{name: b, image: y}, {name: a, image: x}]",
        ["spec.containers[name=b].image"],
    ),
    ("l: [{name: a, v: 1}]", "l: [{name: a, v: 2}, {name: b}]", ["l[name=a].v", "l[name=b]"]),
    # the key itself
    (
        POD + "containers: [{name: a, image: x, tty: true}, {name: b}]",
        POD + "containers: [{name: c, image: y, tty: true}, {name: b}]",
        ["spec.containers[name=c]", "spec.containers[name=a]"],
    ),
    (
        POD + "containers: [{name: a, image: x, tty: true, stdin: true}, {name: b}]",
        POD + "containers: [{name: c, image: y, tty: true, stdin: true}, {name: b}]",
        ["spec.containers[name=a].name", "spec.containers[name=a].image"],
    ),
    ("l: [{name: a, v: 1}]", "l: [{name: b, v: 1}]", ["l[name=b]", "l[name=a]"]),
    ("l: [{name: a}, {name: b}]", "l: [{name: b}, {name: a}]", ["l"]),
    ("l: [x, y]", "l: [x, z]", ["l[1]"]),
    ("l: [x, y]", "l: [z, x]", ["l"]),
    ("l: [x, y]", "l: [x]", ["l"]),
    ("l: [[{v: 1}]]", "l: [[{v: 2}]]", ["l[0][0].v"]),
    ("l: [{name: a}, {name: a}]", "l: [{name: a}, {name: b}]", ["l[1].name"]),
    (
        "apiVersion: v1\nkind: Pod\nmetadata: {finalizers: [a]}",
        "apiVersion: v1\nkind: Pod\nmetadata: {finalizers: [b]}",
        ["metadata.finalizers"],
    ),
]


@pytest.mark.parametrize(("old", "new", "fields"), FIELDS)
def test_the_fields_that_differ(old: str, new: str, fields: list[str]) -> None:
    versions = [split(Source.of(text + "\n")).documents[0].root for text in (old, new)]
    assert [show(path) for path in differing(*versions, start(versions[1]))] == fields
