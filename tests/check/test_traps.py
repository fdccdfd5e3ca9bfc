"""T01-T03: words that mean something else than they look like."""

from __future__ import annotations

import pytest
from tables import check

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: a\n"

WORDS = [
    ("yes", ["T01"]), ("off", ["T01"]), ("NO", ["T01"]), ("y", ["T01"]), ("2020-01-01", []),
    ("0777", ["T02"]), ("0o777", ["T02"]), ("1:30", ["T02"]), ("1_000", []), ("0b11", []),
    ("010", ["T02"]), ("10", []), ("0", []), ("true", []), ("null", []), ("abc", []), ("1.5", []),
    ("'yes'", []), ("|-\n    yes", []), ("", []),
]  # fmt: skip


@pytest.mark.parametrize("word, ids", WORDS)
def test_words(word: str, ids: list[str]) -> None:
    text = HEAD + f"x:\n  a: {word}\n"
    assert [f.id for f in check({"a.yaml": text}, select_ids="T01,T02")] == ids
    assert check({"a.yaml": text}) == []  # off by default


TYPED = [
    ("a port in env", POD + "    env:\n    - name: A\n      value: 8080\n", (10, 14)),
    ("a boolean in env", POD + "    env:\n    - name: A\n      value: true\n", (10, 14)),
    ("data", HEAD + "data:\n  a: 1\n", (6, 6)),
    ("an annotation", HEAD + "  annotations:\n    a: yes\n", (6, 8)),
    ("an argument", POD + "    args: [a, 1.5]\n", (8, 15)),
]
FINE = [
    ("quoted", POD + "    env:\n    - name: A\n      value: '8080'\n"),
    ("a number", POD + "    ports:\n    - containerPort: 80\n"),
    ("a port by name or number", POD + "    livenessProbe: {httpGet: {port: 80}}\n"),
    ("a quantity", POD + "    resources: {limits: {cpu: 1}}\n"),
    (
        "a custom resource",
        "apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\nspec: {a: 1}\n",
    ),
]


@pytest.mark.parametrize("why, text, place", TYPED, ids=[c[0] for c in TYPED])
def test_typed(why: str, text: str, place: tuple[int, int]) -> None:
    [one] = check({"a.yaml": text}, select_ids="T03")
    assert (one.line, one.column) == place


@pytest.mark.parametrize("why, text", FINE, ids=[c[0] for c in FINE])
def test_fine(why: str, text: str) -> None:
    assert check({"a.yaml": text}, select_ids="T03") == []


def test_messages() -> None:
    [one] = check({"a.yaml": HEAD + "x: yes\n"}, select_ids="T01")
    assert one.message == (
        "yes is a boolean in YAML 1.1 (kubectl, Helm, Argo CD) and a string in YAML 1.2; "
        "quote it, or write it plainly"
    )
    [two] = check({"a.yaml": HEAD + "x: 0644\n"}, select_ids="traps")
    assert two.message.startswith("0644 is 420 in YAML 1.1 (kubectl, Helm, Argo CD) and 644 in")
    [three] = check({"a.yaml": HEAD + "data: {PORT: 80}\n"}, select_ids="T")
    assert three.message == 'the field holds strings, 80 is a number; write "80"'
    assert three.path == "data.PORT"
