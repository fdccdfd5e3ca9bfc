"""Readings: what a template may come to, with words for its actions."""

from __future__ import annotations

from itertools import permutations

import pytest
from template_texts import parse

from kmerge_git.template.template_parser import TOKEN
from kmerge_git.template.template_readings import ActionWords, WantedReadings, rendered
from kmerge_git.tree.parser import accepts


def readings(parts) -> dict[str, str]:
    """The text of every reading, by its name."""
    wanted = WantedReadings(parts, thorough=True)
    return {one.name: one.text for one in rendered(parts, ActionWords(), wanted)}


def shown(text: str, name: str = "all", *, scopes: bool = True) -> str:
    """A reading with its actions in the place of their words again."""
    words = ActionWords(scopes=scopes)
    found = {one.name: one.text for one in rendered(parse(text), words)}
    return words.shown(found[name])


BRANCHES = """\
top: 1
{{- if .Values.a }}
a: 1
{{- else if .Values.b }}
b: 1
{{- else }}
c: 1
{{- end }}
{{- range .Values.all }}
each: 1
{{- else }}
none: 1
{{- end }}
"""


@pytest.mark.parametrize(
    "name, lines",
    [
        ("all", ["top: 1", "a: 1", "each: 1"]),
        ("none", ["top: 1", "c: 1", "none: 1"]),
        ("arm1", ["top: 1", "b: 1", "each: 1"]),
    ],
)
def test_which_arms_a_reading_takes(name: str, lines: list[str]) -> None:
    assert readings(parse(BRANCHES))[name].splitlines() == lines


def test_without_conditions_there_is_one_reading() -> None:
    assert [*readings(parse('a: {{ .x }}\n{{ block "x" . }}\nb: 1\n{{ end }}\n'))] == ["all"]


def test_two_mixtures_in_a_row_take_contrary_arms() -> None:
    found = readings(parse("{{ if .a }}\na: 1\n{{ end }}\n{{ if .b }}\nb: 1\n{{ end }}\n"))
    mixes = [found[name] for name in found if name.startswith("mix")]
    assert mixes == ["b: 1\n", "a: 1\n"] or mixes == ["a: 1\n", "b: 1\n"]


@pytest.mark.parametrize("count", [2, 3, 5, 12, 32])
def test_any_two_conditions_differ_in_some_reading(count: int) -> None:
    """One is true and the other false, and the other way round, whatever their names are."""
    names = [f"{'abc'[n % 3]}{n}" for n in range(count)]
    text = "".join(f"{{{{ if .Values.{name} }}}}\n{name}: 1\n{{{{ end }}}}\n" for name in names)
    lines = [set(reading.splitlines()) for reading in readings(parse(text)).values()]
    for one, other in permutations(names, 2):
        assert any(f"{one}: 1" in found and f"{other}: 1" not in found for found in lines)


def test_any_two_branches_are_rendered_together() -> None:
    """The first branch of one block meets each other branch of another block."""
    block = (
        "{{ if .x%d }}\nfirst%d:\n{{ else if .y%d }}\nsecond%d:\n{{ else }}\nlast%d:\n{{ end }}\n"
    )
    text = "".join(block % ((n,) * 5) for n in range(4))
    lines = [set(reading.splitlines()) for reading in readings(parse(text)).values()]
    for one, other in permutations(range(4), 2):
        for name in ("first", "second", "last"):
            assert any({f"first{one}:", f"{name}{other}:"} <= found for found in lines)


def test_a_condition_has_one_answer() -> None:
    """In all versions of a file, whatever stands around it."""
    block = "{{- if .Values.%s }}\n%s: 1\n{{- end }}\n"
    names = [chr(97 + n) for n in range(12)]
    text = "".join(block % (name, name) for name in names)
    other = "x: 1\n" + "".join(block % (name, name) for name in reversed(names))
    wanted = WantedReadings(parse(text), parse(other), thorough=True)
    one, two = (rendered(parse(each), ActionWords(), wanted) for each in (text, other))
    mixes = [pair for pair in zip(one, two, strict=True) if pair[0].name.startswith("mix")]
    assert len(mixes) == 8
    for here, there in mixes:
        lines = set(here.text.splitlines())
        assert lines == set(there.text.splitlines()) - {"x: 1"}
        assert 0 < len(lines) < 12


def test_what_is_the_contrary_of_a_condition() -> None:
    text = "{{ with $.Values.a }}\nk: 1\n{{ end }}\n{{ if not .Values.a }}\nk: 2\n{{ end }}\n"
    for name, reading in readings(parse(text)).items():
        assert reading.count("k:") == 1, name
    alone = "{{ if not .Values.b }}\nk: 2\n{{ end }}\n"
    assert readings(parse(alone))["all"] == "k: 2\n"
    both = WantedReadings(parse(text), parse(alone))
    assert rendered(parse(alone), ActionWords(), both)[0].text == "k: 2\n"


def test_a_define_is_a_text_of_its_own() -> None:
    text = '{{ define "a" }}\nx: 1\n{{ end }}\n{{ define "b" }}\nx: 2\n{{ end }}\ny: 1\n'
    found = readings(parse(text))
    assert found == {"all": "y: 1\n", 'all: define "a"': "x: 1\n", 'all: define "b"': "x: 2\n"}


# a line of a template, and what it comes to
LINES = [
    ("a: {{ .x }}", "a: {{ .x }}"),
    ("a: {{- .x -}} # why", "a: {{ .x }} # why"),
    ('a: "{{ .x }}-{{ .y | quote }}"', 'a: "{{ .x }}-{{ .y | quote }}"'),
    ("a: {{ if .x }}b{{ else }}c{{ end }}", "a: {{ if .x }}b{{ else }}c{{ end }}"),
    ("{{ .k }}: {{ .v }}", "{{ .k }}: {{ .v }}"),
    ("- {{ .x }}", "- {{ .x }}"),
    ("a: [{{ .x }}, {{ .y }}]", "a: [{{ .x }}, {{ .y }}]"),
    ("a: 1 {{- /* why */}}", "a: 1 "),
    ("  {{- toYaml .x | nindent 2 }}", None),
    ("{{ $x := 1 }}", None),
    ("{{/* why */}}", None),
    ("{{ if .x }}a: 1{{ end }}", None),
]


@pytest.mark.parametrize("line, came", LINES, ids=[line for line, _ in LINES])
def test_what_a_line_comes_to(line: str, came: str | None) -> None:
    assert shown(f"{line}\n") == (f"{came}\n" if came is not None else "")
    assert accepts(readings(parse(f"{line}\n"))["all"])


def test_one_action_is_one_word() -> None:
    """Trim marks and the blanks around it are no part of it; what stands in quotes is."""
    one, same, other = (
        readings(parse(f"a: {{{{{inside}}}}}\n"))["all"] for inside in ("-  .x -", ".x", '"a  b"')
    )
    assert one == same
    assert other != readings(parse('a: {{ "a b" }}\n'))["all"]
    assert one.startswith(f"a: {TOKEN}")


def test_the_dot_is_another_one_in_another_loop() -> None:
    text = "{{ range .%s }}\n- {{ .x }}\n- {{ $.x }}\n- {{ $v }}\n{{ end }}\n"
    twice = text % "a" + text % "b"
    first, root, variable, *again = readings(parse(twice))["all"].splitlines()
    assert first != again[0]
    assert root == again[1]
    assert variable != again[2]
    same = rendered(parse(twice), ActionWords(scopes=False))[0].text.splitlines()
    assert same[:3] == same[3:]
    in_one = readings(parse(text % "a" + text % "a"))["all"].splitlines()
    assert in_one[:3] == in_one[3:]


# a value that is an output on lines of its own, and what may stand below it
ABOVE = [
    ("labels: {{- include \"x\" . | nindent 2 }}\n  a: 1\n", "labels:\n  a: 1\n"),
    ("args: {{- include \"x\" . | nindent 0 }}\n- a\n", "args:\n- a\n"),
    ("- {{- include \"x\" . | nindent 2 }}\n  a: 1\n", "-\n  a: 1\n"),
    ("- a: {{- include \"x\" . | nindent 4 }}\n    b: 1\n", "- a:\n    b: 1\n"),
    ("a: {{ include \"x\" . | nindent 2 }}\nb: 1\n", 'a: {{ include "x" . | nindent 2 }}\nb: 1\n'),
    ("- a: {{ include \"x\" . | nindent 2 }}\n  b: 1\n", '- a: {{ include "x" . | nindent 2 }}\n  b: 1\n'),
]  # fmt: skip


@pytest.mark.parametrize("text, came", ABOVE, ids=[text for text, _ in ABOVE])
def test_a_value_that_goes_on_below(text: str, came: str) -> None:
    assert shown(text) == came
    assert accepts(readings(parse(text))["all"])


# a text of several lines with actions, and what it comes to
SCALARS = [
    ("a: |\n  one\n{{ .x | indent 2 }}\n  two\nb: 1\n", "a: |\n  one\n  {{ .x | indent 2 }}\n  two\nb: 1\n"),
    ("a: |\n  {{- .x | nindent 2 }}\nb: 1\n", "a: |\n  {{ .x | nindent 2 }}\nb: 1\n"),
    ("- |\n  one\n- {{ .x }}\n", "- |\n  one\n- {{ .x }}\n"),
    ("- a: >- # why\n    one\n\n    two\n  b: 1\n", "- a: >- # why\n    one\n\n    two\n  b: 1\n"),
    ("a: &x |2\n   one\n{{ .x }}\nb: 1\n", "a: &x |2\n   one\nb: 1\n"),
    ("a: |\n  {{- if .x }}\n  k: v\n  {{- end }}\n  k: v\n", "a: |\n  k: v\n  k: v\n"),
    ("a: b |\n{{ .x }}\nb: 1\n", "a: b |\nb: 1\n"),
]  # fmt: skip


@pytest.mark.parametrize("text, came", SCALARS, ids=[text for text, _ in SCALARS])
def test_in_a_block_scalar_everything_is_text(text: str, came: str) -> None:
    assert shown(text) == came
    assert accepts(readings(parse(text))["all"])


def test_lines_are_found_again() -> None:
    text = "a: 1\n{{ if .x }}\n{{/* one\ntwo */}}\nb: {{ .b }}\n{{ else }}\nc: 1\n{{ end }}\nd: 1\n"
    found = {one.name: one for one in rendered(parse(text), ActionWords())}
    for name in ("all", "none"):
        one = found[name]
        assert [text.split("\n")[n][0] for n in one.numbers] == [
            x[0] for x in one.text.splitlines()
        ]
        assert one.line_at(one.text.index("d:")) == 8
    assert found["all"].number(99) == 8
