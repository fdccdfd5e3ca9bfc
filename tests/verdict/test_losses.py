"""What the judge says of results that people, git or kmerge made: kept, decided, lost."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import strategies

from kmerge_git.api import merge_files
from kmerge_git.errors import KmergeError
from kmerge_git.merge.three import Three
from kmerge_git.tree.compose import View
from kmerge_git.tree.documents import YamlText
from kmerge_git.tree.nodes import Collection
from kmerge_git.verdict import losses
from kmerge_git.verdict.losses import Judged, is_dropped

BASE = b"""\
replicas: 1
image: {name: web, tag: v1}
args: [-a, -b=1]
ports:
- name: http
  port: 80
script: |
  make
  make test
"""
CHANGES = {
    "a scalar": (b"replicas: 1", b"replicas: 5"),
    "a field of a map": (b"tag: v1", b"tag: v2"),
    "an added field": (b"replicas: 1\n", b"replicas: 1\npaused: true\n"),
    "a deleted field": (b"replicas: 1\n", b""),
    "an element with a key": (b"port: 80\n", b"port: 81\n"),
    "an added element": (b"  port: 80\n", b"  port: 80\n- name: https\n  port: 443\n"),
    "an argument": (b"-b=1", b"-b=2"),
    "an added argument": (b"[-a, ", b"[-a, -n, "),
    "a line of a text": (b"make test", b"make check"),
    "an added line": (b"  make test\n", b"  make test\n  make clean\n"),
}
OTHER = (b"name: web,", b"name: shop,")  # what the other side changed


def versions(change: tuple[bytes, bytes], side: str) -> Three[bytes]:
    mine, other = BASE.replace(*change), BASE.replace(*OTHER)
    assert mine != BASE != other
    return Three(BASE, mine, other) if side == "ours" else Three(BASE, other, mine)


def judged(three: Three[bytes], result: bytes, path: str, **more: Any) -> list[Judged]:
    return losses.judged(three.map(lambda data: YamlText(data, path)), YamlText(result), **more)


def without_asking(
    rows: list[Judged], three: Three[bytes], text: bytes, *, clean: bool
) -> list[Judged]:
    merged = YamlText(text), clean
    return losses.without_asking(rows, three.map(lambda data: YamlText(data, "a.yaml")), merged)


def lost(three: Three[bytes], result: bytes) -> list[tuple[str, str]]:
    rows = judged(three, result, "a.yaml")
    return [(row.place, row.side) for row in rows if row.verdict == "lost"]


@pytest.mark.parametrize("side", ["ours", "theirs"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_that_is_lost(change: tuple[bytes, bytes], side: str) -> None:
    three = versions(change, side)
    both = BASE.replace(*change).replace(*OTHER)
    assert lost(three, both) == []
    found = lost(three, BASE.replace(*OTHER))
    assert found and {of for _, of in found} == {side}
    assert lost(three, BASE.replace(*change)) == [
        ("image.name", "theirs" if side == "ours" else "ours")
    ]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_lost_change_was_not_asked_about(change: tuple[bytes, bytes]) -> None:
    three = versions(change, "ours")
    result = BASE.replace(*OTHER)
    rows = [row for row in judged(three, result, "a.yaml") if row.verdict == "lost"]
    made = merge_files(*three.each(), path="a.yaml", line_merge=lambda *_: (b"", False))
    assert made.clean and without_asking(rows, three, made.text, clean=True) == rows
    assert is_dropped(judged(three, result, "a.yaml"), "ours")
    assert not is_dropped(judged(three, made.text, "a.yaml"), "ours")


DECIDED = Three(b"a: 1\nb: 1\n", b"a: 2\nb: 1\n", b"a: 3\nb: 2\n")


@pytest.mark.parametrize("value", [b"2", b"3", b"7"])
def test_a_conflict_is_decided_whatever_it_comes_to(value: bytes) -> None:
    rows = judged(DECIDED, b"a: " + value + b"\nb: 2\n", "a.yaml")
    assert [(row.place, row.verdict) for row in rows] == [("a", "decided"), ("b", "kept")]


def test_neither_change_of_a_conflict() -> None:
    assert lost(DECIDED, b"a: 1\nb: 2\n") == [("a", "both")]
    lines = b"<<<<<<< ours\na: 2\n=======\na: 3\n>>>>>>> theirs\nb: 2\n"
    rows = [row for row in judged(DECIDED, b"a: 1\nb: 1\n", "a.yaml") if row.verdict == "lost"]
    unasked = without_asking(rows, DECIDED, lines, clean=False)
    assert [row.place for row in unasked] == ["b"]


def test_a_value_that_nobody_has_is_invented() -> None:
    three = Three(b"a: 1\nb: 1\n", b"a: 2\nb: 1\n", b"a: 1\nb: 2\n")
    rows = judged(three, b"a: 9\nb: 2\nc: 3\n", "a.yaml")
    assert [(row.place, row.verdict) for row in rows] == [("a", "invented"), ("b", "kept")]


def test_what_is_elsewhere_is_not_lost() -> None:
    web = b"kind: Service\napiVersion: v1\nmetadata: {name: web}\nspec: {port: %d}\n"
    other = b"kind: Service\napiVersion: v1\nmetadata: {name: api}\nspec: {port: 1}\n"
    base = web % 1 + b"---\n" + other
    three = Three(base, other, web % 2 + b"---\n" + other)
    for port, found in ((2, []), (1, [("Service/web spec.port", "theirs")])):
        root = YamlText(web % port).roots[0]
        rows = judged(three, other, "a.yaml", elsewhere=lambda document, root=root: root)
        gone = [(row.place, row.side) for row in rows if row.verdict == "lost"]
        assert gone == found


TEMPLATE = b"""\
kind: Service
metadata:
  name: {{ .Values.name }}
spec:
  port: 80
  {{- include "ports" . | nindent 2 }}
  type: A
"""


@pytest.mark.parametrize(
    "change",
    [(b"port: 80", b"port: 81"), (b"nindent 2", b"nindent 4"), (b"  type: A\n", b"  type: A\n  a: b\n")],
    ids=["a field", "an action", "an added field"],
)  # fmt: skip
def test_a_template(change: tuple[bytes, bytes]) -> None:
    theirs = TEMPLATE.replace(b"type: A", b"type: B")
    three = Three(TEMPLATE, TEMPLATE.replace(*change), theirs)
    rows = judged(three, theirs, "templates/a.yaml", is_template=True)
    assert {(row.side, row.verdict) for row in rows} == {("ours", "lost"), ("theirs", "kept")}
    both = theirs.replace(*change) if b"a: b" not in change[1] else theirs + b"  a: b\n"
    assert {row.verdict for row in judged(three, both, "templates/a.yaml", is_template=True)} == {
        "kept"
    }


@pytest.mark.world
@pytest.mark.parametrize("seed", range(60))
def test_a_clean_merge_loses_nothing(seed: int) -> None:
    texts = strategies.trio(Random(seed), 4)
    outcome = merge_files(*texts, line_merge=lambda *_: (b"", False))
    if outcome.clean:
        try:
            assert lost(Three(*texts), outcome.text) == []
        except KmergeError:
            assert outcome.method != "structure"


def test_what_a_person_put_elsewhere_is_not_lost() -> None:
    three = Three(b"a: {x: 1}\nb: {y: 1}\n", b"a: {x: 1}\nb: {y: 2}\n", b"a: {x: 1, z: 5}\nb: {y: 1}\n")  # fmt: skip
    assert lost(three, b"a: {x: 1}\nb: {y: 2, z: 5}\n") == []
    assert lost(three, b"a: {x: 1}\nb: {y: 2, z: 6}\n") == [("a.z", "theirs")]


def losses_of_one(three: Three[bytes], side: str, lost_of: str) -> list[tuple[object, ...]]:
    """The changes that are lost where the result is one side."""
    texts = three.map(lambda data: YamlText(data, "a.yaml"))
    rows = losses.judged(texts, texts.side(side), lost_of=lost_of)
    return [
        (row.place, row.kind, row.what, row.side, *row.values.each(), row.result, row.at)
        for row in rows
        if row.verdict == "lost"
    ]


@pytest.mark.parametrize("seed", range(120))
def test_where_the_result_is_a_side_only_the_other_one_lost_something(seed: int) -> None:
    three = Three(*strategies.trio(Random(f"one side {seed}"), 5))
    for side, other in (("ours", "theirs"), ("theirs", "ours")):
        try:
            rows = losses_of_one(three, side, "")
        except KmergeError:
            continue
        assert losses_of_one(three, side, other) == losses_of_one(three, side, "both") == rows


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_what_cannot_be_lost_is_not_read(monkeypatch: pytest.MonkeyPatch, side: str) -> None:
    """The side of the result changed many fields, the other one: only this is walked into."""
    built: list[str] = []
    real = View.pairs

    def pairs(self: View, graph: Any, collection: Collection) -> Any:
        built.append(collection.raw)
        return real(self, graph, collection)

    monkeypatch.setattr(View, "pairs", pairs)
    base = "".join(f"k{n}: {{a: 1}}\n" for n in range(50))
    result = base.replace("1", "2").replace("k7: {a: 2}", "k7: {a: 1}").encode()
    other = base.replace("k7: {a: 1}", "k7: {a: 3}").encode()
    three = Three(base.encode(), *((result, other) if side == "ours" else (other, result)))
    lost_of = "theirs" if side == "ours" else "ours"
    assert [row[0] for row in losses_of_one(three, side, lost_of)] == ["k7.a"]
    assert sorted(text for text in built if text[0] == "{") == ["{a: 1}", "{a: 1}", "{a: 3}"]


def test_a_value_that_another_field_has_in_its_place_is_lost() -> None:
    three = Three(b"a: 1\nx: 1\n", b"a: 1\nx: 2\n", b"b: 1\na: 1\nx: 1\n")
    assert lost(three, b"a: 1\nx: 2\n") == [("b", "theirs")]
