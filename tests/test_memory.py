"""What a merge made is freed at once: nothing of it holds what holds it."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from kmerge_git.api import merge_files
from kmerge_git.merge.kyaml.two_way import merge2_bytes

BASE = b"""\
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {x: y}}
spec:
  containers:
  - name: one
    image: "a:1"  # the first
    env: &e
    - {name: A, value: b}
  - name: two
    env: *e
    args: [a, b]
"""
OURS = BASE.replace(b"a:1", b"a:2")


def clean() -> None:
    theirs = BASE.replace(b"[a, b]", b"[a, b, c]")
    assert merge_files(BASE, OURS, theirs, line_merge=lambda *_: (b"", False)).clean


def conflict() -> None:
    theirs = BASE.replace(b"a:1", b"a:3")
    assert not merge_files(BASE, OURS, theirs, line_merge=lambda *_: (b"", False)).clean


def two_way() -> None:
    assert b"a:2" in merge2_bytes(OURS, BASE).data


@pytest.mark.parametrize("merge", [clean, conflict, two_way])
def test_nothing_waits_for_the_collector(merge: Callable[[], None]) -> None:
    merge()  # what stays for good is made now
    gc.collect()
    gc.freeze()  # what is there is not counted, and not looked at
    gc.disable()
    try:
        merge()
        assert ours() == 0
    finally:
        gc.enable()
        gc.unfreeze()


def ours() -> int:
    """The objects of our classes, and those of the parser, that the collector looks at."""
    modules = [str(type(thing).__module__).partition(".")[0] for thing in gc.get_objects()]
    return sum(module in ("kmerge_git", "yaml") for module in modules)
