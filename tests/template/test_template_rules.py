"""The rules that templates are merged by, one after the other: where each decides, and where not.

Rules 2 and 5, how text becomes actions and blocks: `test_template_lexer`, `test_template_blocks`.
Rules 19 and 20, what a result renders: `test_template_damage`, `test_template_agreement`.
"""

from __future__ import annotations

import pytest
from template_texts import PATH, git, merged, merged_anyway, refusal, text

from kmerge_git import merge_files
from kmerge_git.errors import Unsupported
from kmerge_git.template import merging
from kmerge_git.template.blocks import Block, Row, parse
from kmerge_git.template.layout import ENTRY, WORDS, lay_out
from kmerge_git.template.masking import Words

SERVICE = text("""
    kind: Service
    metadata:
      name: {{ .Values.name }}
      labels:
        app: web
        tier: {{ .Values.tier }}
    spec:
      {{- if .Values.port }}
      port: 80
      {{- end }}
      type: ClusterIP
""")


def placed(written: str) -> list[tuple[str, int, str]]:
    """The entries of a template: how each begins, its column, what it is an entry of."""
    return [
        (unit.part.text.strip().split("\n")[0], unit.column, unit.form)
        for unit in lay_out(parse(text(written)), Words().plain)
        if unit.role == ENTRY
    ]


# -- rule 1: only where git's line merge conflicts


@pytest.fixture
def asked(monkeypatch):
    """The merges that the room was asked for."""
    found = []
    real = merging.Merge.by_structure

    def by_structure(merge, at):
        found.append(at)
        return real(merge, at)

    monkeypatch.setattr(merging.Merge, "by_structure", by_structure)
    return found


def test_rule_1_what_git_merges_clean_is_not_merged_again(asked):
    ours, theirs = SERVICE.replace(".name", ".ours"), SERVICE.replace("80", "81")
    by_lines, count = git(SERVICE, ours, theirs)
    made = merge_files(SERVICE.encode(), ours.encode(), theirs.encode(), path=PATH)
    assert (count, made.clean, made.text.decode()) == (0, True, by_lines)
    assert not asked


def test_rule_1_where_git_conflicts_the_blocks_are_merged(asked):
    ours, theirs = SERVICE.replace(".name", ".ours"), SERVICE.replace("labels:", "labels: # all")
    assert merged(SERVICE, ours, theirs)
    assert asked


def test_rule_1_a_text_without_actions_is_for_nobody_here(asked):
    base, ours, theirs = "a: [\n", "a: [1\n", "a: [2\n"
    assert merged(base, ours, theirs) is None
    assert not asked


@pytest.mark.parametrize("number", range(3))
def test_rule_1_an_action_of_any_version_is_enough(asked, number):
    versions = ["a: 1\n", "a: 2\n", "a: 3\n"]
    versions[number] += "{{ template }}\n"
    merge_files(*(version.encode() for version in versions), path=PATH)
    assert asked


# -- rule 3: what is no template is refused


@pytest.mark.parametrize(
    "line",
    [
        "{{ .a",
        '{{ "a }}',
        "{{ `a }}",
        "{{/* a }}",
        "{{ (.a }}",
        "{{ .a ! }}",
        "{{- if .a }}",
        "{{- end }}",
        "{{- else }}",
        "# kmTplE0000000000000000",
        "# KMTPLV0000000000000000",
    ],
)
def test_rule_3_no_template(line):
    with pytest.raises(Unsupported):
        parse(SERVICE + line + "\n")
    ours, theirs = SERVICE.replace("tier:", "ours:"), SERVICE.replace("app:", "theirs:")
    assert merged(SERVICE, ours, theirs)
    assert merged(*(version + line + "\n" for version in (SERVICE, ours, theirs))) is None


# -- rule 4: kinds of lines


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("a: b", "text"),
        ("  \t", "blank"),
        ("a: {{ .b }}", "inline"),
        ("a: {{ if .b }}c{{ else }}d{{ end }}", "inline"),
        ("  {{- if .b }}c: d{{ end }}", "output"),
        ("  {{- .a }} {{ .b -}}", "output"),
        ('  {{- include "x" . | nindent 2 }}', "output"),
        ("{{- $x := 1 }}", "assign"),
        ("{{- $x = 1 }}", "assign"),
        ("{{- /* c */ -}}", "comment"),
        ("{{ $x := 1 }}{{/* c */}}", "assign"),
    ],
)
def test_rule_4_kinds_of_lines(line, kind):
    (row,) = parse(line + "\n")
    assert isinstance(row, Row)
    assert row.kind == kind


def test_rule_4_opening_else_and_end_make_a_block():
    (block,) = parse("{{- if .a }}\na: 1\n{{- else if .b }}\n{{- else }}\nc: 1\n{{- end }}\n")
    assert isinstance(block, Block)
    headers = ["{{- if .a }}\n", "{{- else if .b }}\n", "{{- else }}\n"]
    assert [arm.header for arm in block.arms] == headers
    assert (block.word, block.ending) == ("if", "{{- end }}\n")


@pytest.mark.parametrize(
    "written",
    [
        "a: {{ if .a }}\n1\n{{ end }}\n",
        "{{ if .a }} a: 1\n{{ end }}\n",
        "{{ if .a }}\na: 1\n{{ end }} # a\n",
        "{{ if .a }}\na: 1\n{{ else }}b: 1\n{{ end }}\n",
        "{{ if .a }}{{ if .b }}\na: 1\n{{ end }}{{ end }}\n",
        "{{ if .a }}\na: 1\n{{ end }}{{ if .b }}\nb: 1\n{{ end }}\n",
        "{{ .a }}{{ if .a }}\na: 1\n{{ end }}\n",
    ],
)
def test_rule_4_a_control_action_stands_alone(written):
    with pytest.raises(Unsupported):
        parse(written)


def test_rule_4_a_comment_may_stand_beside_a_control_action():
    (block,) = parse("{{- if .a }}{{/* why */}}\na: 1\n{{/* so */}} {{- end }}\n")
    assert isinstance(block, Block)


# -- rule 6: inline actions are words


def test_rule_6_a_word_is_made_from_the_text_of_its_action():
    words = Words()

    def plain(line: str) -> str:
        (row,) = parse(line)
        assert isinstance(row, Row)
        return words.plain(row)

    one, same, other = plain("{{ .a }}-x: {{ .a }}\n"), plain("{{ .a }}-x:"), plain("{{ .b }}-x:")
    word = one.partition("-")[0]
    assert one == f"{word}-x: {word}\n"
    assert word.isalnum()
    assert same == f"{word}-x:"
    assert not other.startswith(word)
    assert plain('a: {{ if .a }}x{{ else }}"{{ .b }}"{{ end }}').count("kmTpl") == 1


def test_rule_6_values_with_actions_are_values():
    base = text("""
        image: {{ .Values.image }}:1
        env: {{ if .Values.debug }}debug{{ else }}prod{{ end }}
        args: ["--a={{ .Values.a }}", '{{ .Values.b }}']
    """)
    ours = base.replace(":1", ":{{ .Values.tag }}")
    theirs = base.replace("debug{{", "trace{{")
    assert merged(base, ours, theirs) == ours.replace("debug{{", "trace{{")
    assert merged(base, ours, base.replace(".image", ".theirs")) is None


# -- rule 7: outputs and assignments are entries


OUTPUTS = text("""
    {{- $name := .Values.name }}
    metadata:
      labels:
        {{- include "web.labels" . | nindent 4 }}
        app: web
""")


def test_rule_7_an_output_is_one_with_other_trim_marks():
    ours = OUTPUTS.replace("{{- include", "{{ include")
    theirs = OUTPUTS.replace("app:", "tier: a\n    app:")
    assert merged(OUTPUTS, ours, theirs) == ours.replace("app:", "tier: a\n    app:")


def test_rule_7_an_output_with_another_text_is_another():
    ours = OUTPUTS.replace("web.labels", "ours")
    assert merged(OUTPUTS, ours, OUTPUTS.replace("web.labels", "theirs")) is None
    added = [OUTPUTS + f'    {{{{- include "{name}" . | nindent 4 }}}}\n' for name in ("o", "t")]
    made = merged(OUTPUTS, *added)
    assert made is not None
    assert made.count("include") == 3


def test_rule_7_an_assignment_is_its_variable():
    ours = OUTPUTS.replace(".Values.name", ".Values.ours")
    theirs = OUTPUTS.replace("metadata:", "{{- $other := 1 }}\nmetadata:")
    made = ours.replace("metadata:", "{{- $other := 1 }}\nmetadata:")
    assert merged(OUTPUTS, ours, theirs) == made
    assert merged(OUTPUTS, ours, OUTPUTS.replace(".Values.name", "1")) is None


# -- rule 8: what a block is known by


BLOCKS = text("""
    spec:
      {{- if .Values.a }}
      a: 1
      {{- end }}
      {{- if .Values.b }}
      b: 1
      {{- end }}
      c: 1
""")


def test_rule_8_a_block_is_its_header():
    ours = BLOCKS.replace("a: 1", "a: 2\n  o: 1").replace("b: 1", "b: 1\n  o2: 1")
    theirs = BLOCKS.replace("a: 1", "t: 1\n  a: 1").replace("b: 1", "b: 2")
    made = ours.replace("a: 2", "t: 1\n  a: 2").replace("b: 1", "b: 2")
    assert merged(BLOCKS, ours, theirs) == made


def test_rule_8_a_header_that_repeats_is_known_by_content():
    base = BLOCKS.replace(".b", ".a")
    second = base[base.index("  {{- if", 9) :].removesuffix("  c: 1\n")
    ours = base.replace(second, second.replace(".a", ".o"))
    theirs = base.replace("spec:\n", "spec:\n" + second.replace("b: 1", "t: 1"))
    made = theirs.replace(second, second.replace(".a", ".o"))
    assert merged_anyway(base, ours, theirs) == made


def test_rule_8_a_header_that_repeats_with_content_of_its_own_is_no_name():
    base = BLOCKS.replace(".b", ".a")
    second = base[base.index("  {{- if", 9) :].removesuffix("  c: 1\n")
    ours = base.replace(second, second.replace("b: 1", "b: 2"))
    theirs = base.replace(second, second.replace("b: 1", "b: 3"))
    assert merged(base, ours, theirs) is None


# -- rule 9: where an entry stands is part of its name


TWO = text("""
    kind: A
    metadata:
      name: a
      labels:
        {{- include "web.labels" . | nindent 4 }}
      annotations:
        {{- include "web.labels" . | nindent 4 }}
    ---
    kind: B
    metadata:
      name: b
      labels:
        {{- include "web.labels" . | nindent 4 }}
""")


def test_rule_9_the_same_output_elsewhere_is_another():
    line = '    {{- include "web.labels" . | nindent 4 }}\n'
    in_a, in_b = TWO.split("---\n")
    notes, in_other = in_a.replace(f"  annotations:\n{line}", ""), in_b.replace("web.l", "b.l")
    ours, theirs = f"{notes}---\n{in_b}", f"{in_a}---\n{in_other}"
    assert merged_anyway(TWO, ours, theirs) == f"{notes}---\n{in_other}"


def test_rule_9_the_same_output_in_a_document_of_another_name_is_another():
    place = [unit.path for unit in lay_out(parse(TWO), Words().plain) if unit.role == ENTRY]
    assert place == [
        ("A/a", "metadata", "labels"),
        ("A/a", "metadata", "annotations"),
        ("B/b", "metadata", "labels"),
    ]


# -- rule 10: the column of an entry


@pytest.mark.parametrize(
    ("written", "column"),
    [
        ('a:\n{{- include "x" . | nindent 6 }}\n', 6),
        ('a:\n{{- with .a }}{{ toYaml . | indent 3 }}{{- end }}\n', 3),
        ('a:\n  {{ toYaml (.a | indent 2) }}\n', 4),
        ("a:\n{{- if .b }}\n    b: 1\n{{- end }}\n", 4),
        ("a:\n{{- if .b }}\n# c\n  b: 1\n{{- end }}\n", 2),
        ('a:\n{{- if .b }}\n{{- include "x" . | nindent 5 }}\n{{- end }}\n', 5),
        ("a:\n{{- if .b }}\n{{- if .c }}\n  b: 1\n{{- end }}\n{{- end }}\n", 2),
        ("a:\n{{ .b }}\n  c: 1\n", 2),
        ("a:\n  c: 1\n  {{ .b }}\n", 2),
        ('a:\n  b: 1\n{{- define "x" }}\n    b: 1\n{{- end }}\n', 0),
    ],
)
def test_rule_10_columns(written, column):
    ((_, found, _),) = placed(written)
    assert found == column


def test_rule_10_an_entry_is_merged_among_its_siblings():
    base = text("""
        spec:
          selector:
        {{- if .Values.b }}
            b: 1
        {{- end }}
            c: 1
        {{- toYaml .Values.more | nindent 2 }}
    """)
    ours = base.replace("    c: 1\n", "    c: 1\n    o: 1\n").replace("b: 1", "b: 2")
    theirs = base.replace("    c: 1\n", "    c: 2\n").replace(".Values.b", ".Values.t")
    made = ours.replace("c: 1", "c: 2").replace(".Values.b", ".Values.t")
    assert merged(base, ours, theirs) == made


# -- rule 11: maps and lists


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("a:\n{{- if .b }}\n- b: 1\n{{- end }}\n", "list"),
        ("a:\n{{- if .b }}\n- b\n{{- end }}\n", "scalars"),
        ("a:\n{{- if .b }}\n  b: 1\n{{- end }}\n", "map"),
        ("a:\n- b: 1\n{{ .c }}\n", "list"),
        ("a:\n{{ .c }}\n- b\nd: 1\n", "scalars"),
        ("a:\n  b: 1\n  {{ .c }}\n", "map"),
        ("a:\n  {{ .c }}\n  - b\n", "scalars"),
        ("a:\n  {{ .c }}\n", "map"),
        ("{{- if .a }}\n---\na: 1\n{{- end }}\n", "document"),
    ],
)
def test_rule_11_the_body_tells_what_a_collection_is_and_then_the_siblings(written, form):
    ((_, _, found),) = placed(written)
    assert found == form


def test_rule_11_another_version_tells_where_nothing_else_does():
    base = "args:\n  {{- range .Values.args }}\n  {{ . }}\n  {{- end }}\nenv: 1\n"
    ours = base.replace("env", "  - --ours\nenv")
    theirs = base.replace("range .Values", "range $.Values")
    assert merged(base, ours, theirs.replace("env: 1", "env: 2")) == ours.replace(
        "range .Values", "range $.Values"
    ).replace("env: 1", "env: 2")


def test_rule_11_an_output_alone_under_an_empty_key_is_its_child():
    base = "spec:\n  tolerations:\n  {{ toYaml .a | nindent 4 }}\n  type: a\n"
    (output,) = (unit for unit in lay_out(parse(base), Words().plain) if unit.role == ENTRY)
    assert output.path == ("/", "spec", "tolerations")
    gone = base.replace("  tolerations:\n  {{ toYaml .a | nindent 4 }}\n", "")
    theirs = base.replace("type: a", "type: b")
    assert merged(base, gone, theirs) == gone.replace("type: a", "type: b")


# -- rule 12: texts and flow collections


TEXTS = text("""
    data:
      {{ .Values.name }}.conf: |
        {{- if .Values.a }}
        a = 1
        {{- end }}
        {{- range .Values.all }}
        {{ . }}
        {{- end }}
      last: {{ .Values.last }}
""")


def test_rule_12_inside_a_block_scalar_actions_are_text():
    roles = [unit.role for unit in lay_out(parse(TEXTS), Words().plain)]
    assert roles == ["data", "data", *[WORDS] * 6, "data"]
    ours = TEXTS.replace("a = 1", "a = 2")
    theirs = TEXTS.replace("last: {", "first: {{ .Values.first }}\n  last: {")
    assert merged_anyway(TEXTS, ours, theirs) == theirs.replace("a = 1", "a = 2")


def test_rule_12_both_sides_in_one_place_of_a_text_is_a_conflict():
    ours = TEXTS.replace("if .Values.a", "if .Values.o")
    assert merged(TEXTS, ours, TEXTS.replace("if .Values.a", "if .Values.t")) is None
    assert merged(TEXTS, ours, TEXTS.replace("if .Values.a", "with .Values.a")) is None


def test_rule_12_a_block_that_ends_behind_the_text_is_refused():
    base = TEXTS.replace("  last:", "    {{- if .Values.b }}\n    b\n  last:") + "  {{- end }}\n"
    ours, theirs = base.replace("last: {", "o: {"), base.replace(".Values.last", "1")
    assert refusal(base, ours, theirs) == "a block begins in a text and ends behind it"
    assert merged(base, ours, theirs) is None


def test_rule_12_action_lines_in_flow_collections_are_refused():
    base = text("""
        a: [
          1,
          {{- if .Values.b }}
          2,
          {{- end }}
        ]
        b: 1
        c: 1
    """)
    ours, theirs = base.replace("b: 1", "b: 2"), base.replace("c: 1", "c: 2")
    why = "a block or an output does not stand where entries stand"
    assert refusal(base, ours, theirs) == why
    assert merged(base, ours, theirs) is None
    whole = base[base.index("  {{- if") : base.index("]")]
    assert merged(*(version.replace(whole, "") + "{{ .a }}\n" for version in (base, ours, theirs)))


# -- rule 13: an action that renders lines above others


CHILDREN = text("""
    metadata:
      labels: {{- include "web.labels" . | nindent 4 }}
        app: web
        tier: {{ .Values.tier }}
      name: web
""")


def test_rule_13_an_action_above_children_is_no_value():
    ours = CHILDREN.replace("app: web", "app: ours")
    theirs = CHILDREN.replace(".tier", ".theirs")
    assert merged(CHILDREN, ours, theirs) == theirs.replace("app: web", "app: ours")
    other = CHILDREN.replace("web.labels", "other.labels")
    assert merged(CHILDREN, other, ours) == other.replace("app: web", "app: ours")


def test_rule_13_both_sides_changed_it():
    ours, theirs = (CHILDREN.replace("web.labels", name) for name in ("ours", "theirs"))
    assert merged(CHILDREN, ours, theirs) is None


def test_rule_13_without_children_it_is_a_value():
    base = CHILDREN.replace("    app: web\n    tier: {{ .Values.tier }}\n", "")
    ours = base.replace("web.labels", "other.labels")
    theirs = base.replace("name: web", "name: theirs")
    assert merged(base, ours, theirs) == ours.replace("name: web", "name: theirs")
