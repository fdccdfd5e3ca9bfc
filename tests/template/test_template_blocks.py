"""A template as a tree of lines and blocks, rebuilt byte for byte."""

import pytest
from template_texts import parse

from kmerge_git.errors import Unsupported
from kmerge_git.template.template_parser import (
    ASSIGN,
    BLANK,
    COMMENT,
    DEEPEST,
    INLINE,
    OUTPUT,
    TEXT,
    Block,
    Row,
)


def shown(parts) -> list:
    """The tree as lists: a line is its text, a block its arms and its ending."""
    found = []
    for part in parts:
        if isinstance(part, Row):
            found.append(part.text)
        else:
            arms = [(arm.header, shown(arm.parts)) for arm in part.arms]
            found.append((part.word, arms, part.ending))
    return found


def rebuilt(text: str) -> str:
    return "".join(part.text for part in parse(text))


@pytest.mark.parametrize(
    "line, kind",
    [
        ("a: 1", TEXT),
        ("# a }}", TEXT),
        ("", BLANK),
        (" \t", BLANK),
        ("\f", TEXT),
        ("a: {{ .a }}", INLINE),
        ("{{ .a }}: b", INLINE),
        ("a: {{ $x := 1 }}", INLINE),
        ("a: {{/* b */}}", INLINE),
        ("a: {{ if .b }}c{{ else }}d{{ end }}", INLINE),
        ("  {{- .a }}", OUTPUT),
        ("{{ .a }} {{ .b }}", OUTPUT),
        ("{{ .a }}{{/* b */}}", OUTPUT),
        ("{{ $x := 1 }}{{ .a }}", OUTPUT),
        ("{{ if .a }}b: c{{ end }}", OUTPUT),
        ("{{ if .a }}{{ .b }}{{ end }}", OUTPUT),
        ("{{ if .a }}{{ end }}", OUTPUT),
        ("{{ if .a }}b{{ $x = 1 }}{{ end }}", OUTPUT),
        ("{{ if .a }}{{ $x = 1 }}{{ .b }}{{ end }}", OUTPUT),
        ("{{ if .a }}{{/* b */}}{{ end }}", OUTPUT),
        ('{{ block "a" . }}b{{ end }}', OUTPUT),
        ('{{ template "a" . }}', OUTPUT),
        ("{{ break }}", OUTPUT),
        ("{{- $x := 1 -}}", ASSIGN),
        ("{{ $x := 1 }} {{ $y = 2 }}", ASSIGN),
        ("{{ $x := 1 }}{{/* a */}}", ASSIGN),
        ("{{ if .a }}{{ $x = 1 }}{{ else }}{{ $x = 2 }}{{ end }}", ASSIGN),
        ("{{- /* a */ -}}", COMMENT),
        ("{{/* a */}} {{/* b */}}", COMMENT),
        ("{{/* a\n  b: 1\n*/}}", COMMENT),
        ("a: {{ f\n  .b }}", INLINE),
        ("{{ f `\n\n` }}", OUTPUT),
    ],
)
def test_a_line_has_a_kind(line, kind):
    for text in (f"{line}\n", f"x: 1\n{line}\ny: 1\n"):
        (found,) = [part for part in parse(text) if part.text == f"{line}\n"]
        assert found.kind == kind
    assert rebuilt(line) == line


def test_spans_are_counted_from_the_start_of_the_line():
    _, line = parse("a: 1\nb: {{ .b }} {{ if .c }}{{ .d }}{{ end }}!\n")
    assert [line.text[start:end] for start, end in line.groups] == [
        "{{ .b }}",
        "{{ if .c }}{{ .d }}{{ end }}",
    ]
    spans = [(a.start, a.end) for a in line.actions]
    assert [line.text[start:end] for start, end in spans] == [
        "{{ .b }}",
        "{{ if .c }}",
        "{{ .d }}",
        "{{ end }}",
    ]


def test_blocks_hold_arms_and_arms_hold_lines():
    text = (
        "a: 1\n"
        "  {{- if .a }} {{- /* why */}}\n"
        "b: {{ .b }}\n"
        "{{- range .c }}\n"
        "  - {{ . }}\n"
        "{{- end }}\n"
        "{{- else if .d }}\n"
        "{{- else }}\r\n"
        "\r\n"
        "{{- end -}}"
    )
    assert shown(parse(text)) == [
        "a: 1\n",
        (
            "if",
            [
                (
                    "  {{- if .a }} {{- /* why */}}\n",
                    ["b: {{ .b }}\n", ("range", [("{{- range .c }}\n", ["  - {{ . }}\n"])], "{{- end }}\n")],
                ),
                ("{{- else if .d }}\n", []),
                ("{{- else }}\r\n", ["\r\n"]),
            ],
            "{{- end -}}",
        ),
    ]  # fmt: skip
    assert rebuilt(text) == text


def test_an_arm_knows_where_its_action_stands():
    text = "  {{/* a */}}{{- if .a }}\n {{ else }}\n{{ end }}\n"
    (block,) = parse(text)
    first, second = block.arms
    assert first.header[first.action.start : first.action.end] == "{{- if .a }}"
    assert second.header[second.action.start : second.action.end] == "{{ else }}"
    assert (first.action.body, second.action.word) == ("if .a", "else")


def test_an_opening_over_several_lines_is_one_header():
    text = "{{- if and\n  .a\n  .b }}\nc: 1\n{{- end }}\n"
    (block,) = parse(text)
    assert block.arms[0].header == "{{- if and\n  .a\n  .b }}\n"


@pytest.mark.parametrize(
    "text, line, column, why",
    [
        ("a\n{{ end }}\n", 2, 1, "`end` is outside of a block"),
        ("{{ else }}\n", 1, 1, "`else` is outside of a block"),
        ("a\n {{ if .a }}\n", 2, 2, "`if` has no `end`"),
        ("{{ if .a }}\n{{ with .b }}\n{{ end }}\n", 1, 1, "`if` has no `end`"),
        ("{{ if .a }}\n{{ else }}\n{{ else }}\n{{ end }}\n", 3, 1, "is not allowed in its block"),
        (
            "{{ if .a }}\n{{ else }}\n{{ else if .b }}\n{{ end }}\n",
            3,
            1,
            "is not allowed in its block",
        ),
        ("{{ if .a }}\n{{ else with .b }}\n{{ end }}\n", 2, 1, "is not allowed in its block"),
        ("{{ range .a }}\n{{ else if .b }}\n{{ end }}\n", 2, 1, "is not allowed in its block"),
        ('{{ define "a" }}\n{{ else }}\n{{ end }}\n', 2, 1, "is not allowed in its block"),
        ('{{ block "a" . }}\n{{ else }}\n{{ end }}\n', 2, 1, "is not allowed in its block"),
        ('{{ if .a }}\n{{ define "a" }}\n{{ end }}\n{{ end }}\n', 2, 1, "inside a block"),
        ('a\n{{ define "a" }}b{{ end }}\n', 2, 1, "a `define` begins and ends on the same line"),
        ("a: {{ if .a }}\n{{ end }}\n", 1, 4, "is not alone on its line"),
        ("{{ if .a }} # b\n{{ end }}\n", 1, 1, "is not alone on its line"),
        ("# {{ if .a }}\n{{ end }}\n", 1, 3, "is not alone on its line"),
        ("{{ if .a }}\n{{ end }}: b\n", 2, 1, "is not alone on its line"),
        ("{{ if .a }}{{ .b }}\n{{ end }}\n", 1, 1, "is not alone on its line"),
        ("{{ $x := 1 }}{{ if .a }}\n{{ end }}\n", 1, 14, "is not alone on its line"),
        ("{{ if .a }}\n{{ with .b }}\n{{ end }}{{ end }}\n", 3, 10, "in the middle"),
        ("{{ if .a }}{{ with .b }}\n{{ end }}\n{{ end }}\n", 1, 12, "in the middle"),
        ("{{ if .a }}\n{{ else }}x{{ end }}\n", 2, 12, "in the middle"),
        ("{{ if .a }}b{{ end }}{{ if .c }}\n{{ end }}\n", 1, 13, "in the middle"),
        ("{{ if .a }}\nb\n{{ end }}{{ if .c }}{{ end }}\n", 3, 10, "in the middle"),
        ("a\n\rb {{ .c }}\r\n", 2, 1, "a carriage return without"),
        ("a\r\n\r", 2, 1, "a carriage return without"),
        ("a: kmtplx\n", 1, 0, "reserved word kmTpl"),
    ],
)
def test_what_is_no_tree_of_whole_lines_is_refused(text, line, column, why):
    with pytest.raises(Unsupported, match=why) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize("end", ["\n", ""])
def test_blocks_go_as_deep_as_is_said(end):
    text = f"{{{{ if .a }}}}{end}" * DEEPEST + f"{{{{ end }}}}{end}" * DEEPEST
    (part,) = parse(text)
    assert isinstance(part, Block) == bool(end)
    assert part.text == text
    with pytest.raises(Unsupported, match="deeper than 200 levels"):
        parse(f"{{{{ if .a }}}}{end}{text}{{{{ end }}}}{end}")


@pytest.mark.parametrize(
    "unit", ["{{", "{{ if }}", '{{"', "{{/*", "{{`", "{{ if .a }}", "{{ if .a }}\n", "{{ end }}"]
)
def test_a_megabyte_of_openings_is_refused_and_no_more(unit):
    with pytest.raises(Unsupported):
        parse(unit * (2**20 // len(unit)))
    with pytest.raises(Unsupported):
        parse("{{ if .a }}" * 50_000 + "{{ end }}" * 50_000)


def test_a_block_of_many_lines_is_joined():
    text = "{{ if .a }}\n" + "{{ with .b }}\n{{ else }}\n  c: 1\n{{ end }}\n" * 500 + "{{ end }}"
    (block,) = parse(text)
    assert block.text == text
    assert len(block.arms[0].parts) == 500
