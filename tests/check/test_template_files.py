"""Templates that no merge made: keys and elements that one branch has twice, and lone markers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from random import Random
from typing import NamedTuple

import depth
import pytest
import yaml

from kmerge_git.check.checked_texts import nowhere
from kmerge_git.check.run import Run, check_text

PATH = "charts/web/templates/web.yaml"
POD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  template:
    spec:
      containers:
      - name: web
        image: {{ .Values.image }}
"""


def found(text: str, path: str = PATH) -> list[tuple[str, int]]:
    return [(finding.id, finding.line) for finding in check_text(text.encode(), path)]


def whole(text: str) -> str:
    """A template that nobody takes for YAML."""
    return text + "{{- with .last }}\nlast: {{ . }}\n{{- end }}\n"


DAMAGED: list[tuple[str, str, list[tuple[str, int]]]] = [
    ("beside an action", "a: 1\nb: {{ .x }}\n{{- if .y }}\nc: 1\n{{- end }}\na: 2\n", [("M02", 6)]),
    ("three times", "a: {{ .x }}\n{{ .z }}: 1\na: 2\na: 3\n", [("M02", 3), ("M02", 4)]),
    ("in quotes once", "{{- if .y }}\n'a': 1\na: 2\n{{- end }}\n", [("M02", 3)]),
    ("once in a block", "a: 1\n{{- if .y }}\na: 2\n{{- end }}\n", [("M02", 3)]),
    ("once in an else", "{{- if .y }}\nb: 1\n{{- else }}\na: 1\n{{- end }}\na: 2\n", [("M02", 6)]),
    (
        "in two equal conditions",
        "{{- with .y }}\na: {{ . }}\n{{- end }}\nb: 1\n{{- with .y }}\na: {{ . }}\n{{- end }}\n",
        [("M02", 6)],
    ),
    (
        "beside an output at its column",
        's:\n  a: 1\n  {{- include "l" . | nindent 2 }}\n  a: 2\n',
        [("M02", 4)],
    ),
    ("in an element of a list", "{{- if .y }}\nl:\n- a: 1\n  a: 2\n{{- end }}\n", [("M02", 4)]),
    (
        "two entries of env",
        POD + "        env:\n        - name: A\n          value: {{ .a }}\n        {{- if .b }}\n"
        "        - value: {{ .b }}\n          name: A\n        {{- end }}\n",
        [("M05", 15)],
    ),
    (
        "two containers",
        POD + "      {{- if .b }}\n      - name: web\n        image: b\n      {{- end }}\n",
        [("M05", 12)],
    ),
    (
        "two pull secrets",
        POD + "      imagePullSecrets:\n      - name: a\n      {{- with .b }}\n"
        "      - name: {{ . }}\n      {{- end }}\n      - name: a\n",
        [("M06", 16)],
    ),
    ("a lone marker", "{{- if .y }}\na: 1\n=======\na: 2\n{{- end }}\n", [("M01", 3)]),
    ("a marker with CRLF", "{{ .x }}: 1\r\n=======\r\nb: 2\r\n", [("M01", 2)]),
    ("a marker in a broken template", "{{- if .y }}\na: 1\n=======\nb: 2\n", [("M01", 3)]),
]
SOUND: list[tuple[str, str]] = [
    ("two branches", "{{- if .y }}\na: 1\n{{- else }}\na: 2\n{{- end }}\n"),
    ("else if", "{{- if .y }}\na: 1\n{{- else if .z }}\na: 2\n{{- end }}\n"),
    ("opposites", "{{- if .y }}\na: 1\n{{- end }}\n{{- if not .y }}\na: 2\n{{- end }}\n"),
    (
        "values that exclude each other",
        '{{- if eq .y "a" }}\na: 1\n{{- end }}\n{{- if eq .y "b" }}\na: 2\n{{- end }}\n',
    ),
    (
        "a condition that has changed",
        "{{- $x := .y }}\n{{- if $x }}\na: 1\n{{- end }}\n{{- $x = .z }}\n{{- if $x }}\na: 2\n{{- end }}\n",
    ),
    (
        "the same words about another value",
        "{{- range .l }}\n{{- if .y }}\na: 1\n{{- end }}\n{{- end }}\n{{- if .y }}\na: 1\n{{- end }}\n",
    ),
    ("keys that actions make", "{{ .x }}: 1\n{{ .x }}: 2\na-{{ .x }}: 1\na-{{ .x }}: 2\n"),
    ("an output that may be a key", 's:\n  a: 1\n{{ include "l" . }}\n  a: 2\n'),
    ("an output further left", "s:\n  a: 1\n{{- toYaml .x | nindent 0 }}\n  a: 2\n"),
    ("another document", "a: {{ .x }}\n---\na: 2\n"),
    ("another document perhaps", "a: {{ .x }}\n{{- if .y }}\n---\n{{- end }}\na: 2\n"),
    ("another mapping", "s:\n  a: {{ .x }}\nt:\n  a: 2\n{{ .y }}:\n  a: 3\n"),
    ("a text", "{{ .x }}: 1\ns: |\n  a: 1\n  a: 2\n"),
    ("a comment", "{{ .x }}: 1\na: 1\n# a: 2\n{{/* \na: 3\n=======\n*/}}\n"),
    ("elements of no known list", "{{ .x }}: 1\nl:\n- a: 1\n  b: 1\n- a: 1\n  b: 2\n"),
    ("a definition", '{{ define "x" }}\na: 1\na: 2\n=======\n{{ end }}\nb: {{ .x }}\n'),
    (
        "containers of two pods",
        POD + "---\n" + POD.replace("name: {{ .Release.Name }}", "name: other"),
    ),
    (
        "env of two branches",
        POD + "        env:\n        {{- if .b }}\n        - name: A\n        {{- else }}\n"
        "        - name: A\n          value: b\n        {{- end }}\n",
    ),
    (
        "names that actions make",
        POD
        + '        env:\n        - name: A{{ .x }}\n        - name: A{{ .x }}\n        - name: "{{ .y }}"\n',
    ),
    (
        "ports with two protocols",
        POD
        + "        ports:\n        - containerPort: 53\n        - containerPort: 53\n          protocol: UDP\n",
    ),
    ("a heading in a text", "{{ .x }}: 1\ns: |\n  Changes\n  =======\n"),
]


@pytest.mark.parametrize(
    "text, wanted", [case[1:] for case in DAMAGED], ids=[c[0] for c in DAMAGED]
)
def test_what_is_found(text: str, wanted: list[tuple[str, int]]) -> None:
    assert found(whole(text)) == wanted


@pytest.mark.parametrize("text", [case[1] for case in SOUND], ids=[case[0] for case in SOUND])
def test_what_is_sound(text: str) -> None:
    run = Run(nowhere())
    assert run.file(PATH, whole(text).encode()) == []
    assert run.skipped == {}


def test_a_finding() -> None:
    """The line and its text are those of the template, and so are the names."""
    text = whole("l:\n- name: {{ .x }}\n  a: {{ .y }}\n  a: {{ .z }}  # why\n")
    (finding,) = check_text(text.encode(), PATH)
    assert (finding.line, finding.column, finding.excerpt) == (4, 3, "  a: {{ .z }}  # why")
    assert finding.path == 'l[name="{{ .x }}"].a'
    assert finding.message == "duplicate key a; only one of the two values is used"
    assert found(text.replace("# why", "# kmerge: ignore M02")) == []
    assert found(text, "charts/web/templates/_web.tpl") == []


@pytest.mark.parametrize(
    "text, why",
    [
        ("{{- if .x }}\na: 1\n", "`if` has no `end`"),
        ("{{- if .x }}\na: 1\n{{- end }}\nc: [\nb: 1\nb: 2\n", "not YAML"),
        ('{{- "a }}\nb: 1\n', "a string is not closed"),
    ],
)
def test_what_cannot_be_read(text: str, why: str) -> None:
    run = Run(nowhere())
    assert run.file(PATH, text.encode()) == []
    assert run.skipped[PATH].startswith("a template that cannot be read: ")
    assert why in run.skipped[PATH]


def test_many_ways_to_one_key() -> None:
    """The time grows with the lines, not with their pairs."""
    text = "".join(f"{{{{- if .x{n} }}}}\na: 1\n{{{{- end }}}}\n" for n in range(3000))
    assert found(text) == []


# -- the oracle: every value of every condition, and YAML


CONDITIONS = (".a", ".b", "not .a")
Branches = frozenset[tuple[str, bool]]


class Line(NamedTuple):
    """A line of a template, and what must be true for it to be rendered."""

    text: str
    branches: Branches


def entries(random: Random, column: int, branches: Branches = frozenset()) -> Iterator[Line]:
    """A mapping at a column; some entries are in blocks."""
    at = " " * column
    for _ in range(random.randint(1, 3)):
        key, kind = random.choice("xyz"), random.random()
        if kind < 0.4:
            yield Line(f"{at}{key}: {random.randint(1, 2)}", branches)
        elif kind < 0.6 and column < 4:
            yield Line(f"{at}{key}:", branches)
            yield from entries(random, column + 2, branches)
        elif kind < 0.65:
            yield Line(f"{at}{{{{- toYaml .c | nindent {column} }}}}", branches)
        elif len(branches) < 2:
            yield from block(random, column, branches)


def block(random: Random, column: int, branches: Branches) -> Iterator[Line]:
    above = {condition[-1] for condition, _ in branches}
    condition = random.choice([one for one in CONDITIONS if one[-1] not in above])
    for number, word in enumerate((f"if {condition}", "else")[: random.randint(1, 2)]):
        yield Line(f"{{{{- {word} }}}}", branches)
        yield from entries(random, column, branches | {(condition, not number)})
    yield Line("{{- end }}", branches)


def expected(lines: list[Line]) -> set[int]:
    """The numbers of all lines that repeat a key in each rendering that has both lines."""
    pairs: dict[tuple[int, int], bool] = {}
    for a, b in product((True, False), repeat=2):
        is_true = {".a": a, ".b": b, "not .a": not a}
        there = [
            number
            for number, line in enumerate(lines, 1)
            if "{{" not in line.text
            and all(is_true[condition] is wanted for condition, wanted in line.branches)
        ]
        text = "\n".join(lines[number - 1].text for number in there)
        repeated = {(there[one], there[two]) for one, two in repetitions(yaml.compose(text))}
        for one, two in combinations(there, 2):
            pairs[one, two] = pairs.get((one, two), True) and (one, two) in repeated
    return {two for (one, two), is_one in pairs.items() if is_one and related(lines, one, two)}


def related(lines: list[Line], one: int, two: int) -> bool:
    first, second = lines[one - 1].branches, lines[two - 1].branches
    return first <= second or second <= first


def repetitions(node: yaml.Node | None) -> Iterator[tuple[int, int]]:
    if isinstance(node, yaml.MappingNode):
        for (one, _), (two, _) in combinations(node.value, 2):
            if one.value == two.value:
                yield one.start_mark.line, two.start_mark.line
        for _, value in node.value:
            yield from repetitions(value)
    elif isinstance(node, yaml.SequenceNode):
        for element in node.value:
            yield from repetitions(element)


def test_every_finding_and_nothing_else() -> None:
    """Small templates: what each choice of conditions renders, parsed by another reader."""
    count = 0
    for seed in range(depth.day(), depth.day() + 400):
        lines = [*entries(Random(seed), 0)]
        text = "\n".join(line.text for line in lines) + "\n"
        if "{{" in text:
            wanted = expected(lines)
            assert {finding.line for finding in check_text(text.encode(), PATH)} == wanted, text
            count += len(wanted)
    assert count > 300
