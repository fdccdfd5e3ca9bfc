"""The lawbook itself: a sound result breaks no law, and each law sees what is against it."""

from __future__ import annotations

from random import Random

import pytest
from depth import part
from lawbook import LAWS, breaches
from strategies import trio


def found(base: str, ours: str, theirs: str, result: str, path: str = "") -> set[str]:
    """The laws that a result breaks; it has conflicts where it holds markers."""
    texts = [text.encode() for text in (base, ours, theirs, result)]
    clean = "<<<<<<<" not in result
    return {breach.law for breach in breaches(*texts, clean=clean, path=path)}


def args(*words: str) -> str:
    return "args:\n" + "".join(f"- {word}\n" for word in words)


def pod(field: str, *elements: str) -> str:
    """A pod with a list of containers or of their like."""
    lines = "".join(f"  - {element}\n" for element in elements)
    return f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  {field}:\n{lines}"


def resources(*files: str) -> str:
    return "kind: Kustomization\nresources:\n" + "".join(f"- {file}\n" for file in files)


A, B, C, D = (f"{{name: {name}, image: {name}}}" for name in "abcd")
MAP = "# one\na: 1\n# two\nb: 2\n"
DOCUMENTS = [
    f"---\nkind: A\nmetadata:\n  name: {name}\ndata:\n  value: of-{name}\n" for name in "abcd"
]
CONFLICT = "<<<<<<< ours\nb: 3\n||||||| base\nb: 2\n=======\nb: 4\n>>>>>>> theirs\n"
# law: base, ours, theirs, a sound result, and one that breaks it
CASES: dict[str, list[tuple[str, str, str, str, str]]] = {
    "comments": [
        (MAP, MAP + "c: 3\n", MAP[6:], MAP[6:] + "c: 3\n", MAP + "c: 3\n"),
        ("a: 1\n", "# x\na: 1\n", "a: 2\n", "# x\na: 2\n", "a: 2\n"),
        ("a: 1\n", "# x\na: 1\n", "# x\na: 2\n", "# x\na: 2\n", "# x\n# x\n# x\na: 2\n"),
        (
            MAP,
            MAP[6:].replace("2", "3"),
            MAP.replace("2", "4"),
            MAP[6:11] + "# two\n" + CONFLICT,
            MAP[:-5] + CONFLICT,
        ),
        (
            "b: |\n  # x\n",
            "b: |\n  # x\n  y\n",
            "b: |\n  z\n",
            "b: |\n  z\n  y\n",
            "# x\nb: |\n  z\n  y\n",
        ),
    ],
    "lines": [
        (
            "a: 1\nb: {}\n",
            "a: 2\nb: {}\n",
            "a: 1\nb: {}\nc: 3\n",
            "a: 2\nb: {}\nc: 3\n",
            "a: 2\nb:  {}\nc: 3\n",
        ),
        ("m:\n  a: 1\n  b: 2\n", "m:\n  a: 1\n", "m:\n  b: 2\n", "m: {}\n", "n: {}\n"),
    ],
    "columns": [
        (
            "m:\n  a: 1\n  b: 2\n  c: 3\n",
            "m:\n  a: 3\n  b: 2\n  c: 3\n",
            "m:\n    a: 1\n    b: 2\n    c: 3\n",
            "m:\n    a: 3\n    b: 2\n    c: 3\n",
            "m:\n  a: 3\n  b: 2\n  c: 3\n",
        ),
        (
            "m:\n  a: 1\n  b: 2\nn:\n  c: 3\n",
            "m:\n  a: 1\n  b: 2\nn:\n  c: 4\n",
            "m:\n    a: 1\n    b: 5\nn:\n  c: 3\n",
            "m:\n    a: 1\n    b: 5\nn:\n  c: 4\n",
            "m:\n   a: 1\n   b: 5\nn:\n  c: 4\n",
        ),
    ],
    "documents": [
        (
            "".join(DOCUMENTS[:2]),
            "".join(DOCUMENTS[:3]),
            DOCUMENTS[1] + DOCUMENTS[0],
            "".join(DOCUMENTS[1::-1]) + DOCUMENTS[2],
            "".join(DOCUMENTS[:3]) + DOCUMENTS[0],
        ),
        (
            DOCUMENTS[0],
            "".join(DOCUMENTS[:2]),
            DOCUMENTS[0] + DOCUMENTS[2],
            "".join(DOCUMENTS[:3]),
            "".join(DOCUMENTS[:2]),
        ),
    ],
    "count": [
        (args(*"abcd"), args(*"dabc"), args(*"dbc"), args(*"dbc"), args(*"ddbc")),
        (args(*"ab"), args(*"axb"), args(*"yab"), args(*"yaxb"), args(*"axb")),
        (
            args("{a: 1}", "{b: 1}"),
            args("{a: 1}"),
            args("{a: 1}", "{b: 1}", "{c: 1}"),
            args("{a: 1}", "{c: 1}"),
            args("{a: 1}", "{b: 1}", "{c: 1}"),
        ),
    ],
    "order": [
        (args(*"abc"), args(*"bac"), args(*"abcx"), args(*"bacx"), args(*"abcx")),
        (
            pod("initContainers", A, B),
            pod("initContainers", B, A),
            pod("initContainers", A, B, C),
            pod("initContainers", B, A, C),
            pod("initContainers", A, B, C),
        ),
    ],
    "leaf": [
        ("a: 1\nb: 2\n", "a: 3\nb: 2\n", "a: 1\nb: 4\n", "a: 3\nb: 4\n", "a: 3\nb: 2\n"),
        ("a: 1\nb: 2\n", "a: 1\nb: 3\n", "a: 1\nb: 4\n", "a: 1\n" + CONFLICT, "a: 1\nb: 3\n"),
        (
            pod("containers", A),
            pod("containers", A, B),
            pod("containers", C, A),
            pod("containers", C, A, B),
            pod("containers", A, B),
        ),
        (
            pod("containers", A, B),
            pod("containers", A.replace("image: a", "image: x"), B),
            pod("containers", B, A),
            pod("containers", B, A.replace("image: a", "image: x")),
            pod("containers", B, A),
        ),
    ],
    "gone": [
        (
            "a: 1\nb: 2\nc: 3\n",
            "b: 2\nc: 3\n",
            "a: 1\nb: 2\nc: 4\n",
            "b: 2\nc: 4\n",
            "a: 1\nb: 2\nc: 4\n",
        ),
        ("a: 1\nb: 2\n", "a: 2\nb: 2\n", "a: 1\nb: 3\n", "a: 2\nb: 3\n", "a: 2\nb: 3\nc: 4\n"),
    ],
    "gap": [
        (resources(*"abc"), resources(*"axc"), resources(*"abcd"), resources(*"axcd"), ""),
        (resources(*"abc"), resources(*"axc"), resources(*"ayc"), "", resources(*"axyc")),
        (
            pod("containers", A),
            pod("containers", B),
            pod("containers", C),
            "",
            pod("containers", B, C),
        ),
        (
            pod("containers", A),
            pod("containers", D, B),
            pod("containers", B, C),
            pod("containers", D, B, C),
            "",
        ),
    ],
}


def test_each_law_has_its_cases() -> None:
    assert CASES.keys() == {*LAWS}


@pytest.mark.parametrize(
    "law, case", [(law, case) for law, cases in CASES.items() for case in cases]
)
def test_a_law_sees_what_breaks_it(law: str, case: tuple[str, str, str, str, str]) -> None:
    base, ours, theirs, sound, broken = case
    path = "kustomization.yaml" if "Kustomization" in base else ""
    if sound:
        assert found(base, ours, theirs, sound, path) == set()
        assert found(base, theirs, ours, sound, path) == set()
    if broken:
        assert law in found(base, ours, theirs, broken, path)


def test_a_side_that_changed_alone_is_lawful() -> None:
    for number in part(range(200)):
        base, ours, _ = (data.decode() for data in trio(Random(number)))
        assert found(base, ours, base, ours) == found(base, base, ours, ours) == set()
        assert found(base, ours, ours, ours) == set()
