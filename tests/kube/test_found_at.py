"""The value at a path of a document."""

from __future__ import annotations

import pytest

from kmerge_git.kube.differing import found_at
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

TEXT = b"""\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {a: 1}}
- {apiVersion: v1, kind: Pod, metadata: {name: api}, spec: {a: 2}}
ports:
- {port: 80, name: http}
- {port: 90, protocol: UDP}
args: [x, y]
twice: [{name: a}, {name: a}]
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("kind",), "List"),
        (("items", ("Pod/api",), "spec", "a"), "2"),
        (("items", ("Pod/gone",)), None),
        (("ports", (("port", "80"), ("protocol", "TCP")), "name"), "http"),
        (("ports", (("port", "90"), ("protocol", "TCP"))), None),
        (("args", 1), "y"),
        (("args", 2), None),
        (("args", "x"), None),
        (("kind", 0), None),
        (("twice", (("name", "a"),)), None),
        (("ports", ()), None),
    ],
)
def test_a_value_is_found(path: tuple[object, ...], expected: str | None) -> None:
    (root,) = split(Source(TEXT)).roots
    found = found_at(root, path)
    assert (found.raw if found is not None else None) == expected
