"""The rules that templates are merged by, one after the other: where each decides, and where not.

Rules 2 and 5, how text becomes actions and blocks: `test_template_lexer`, `test_template_blocks`.
Rules 19 and 20, what a result renders: `test_template_damage`, `test_template_agreement`.
"""

from __future__ import annotations

import pytest
from template_texts import PATH, git, merged, merged_anyway, parse, refusal, text

from kmerge_git import merge_files
from kmerge_git.errors import Unsupported
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.template import template_guards
from kmerge_git.template.masking import Words
from kmerge_git.template.template_layout import ENTRY, WORDS, Placed, lay_out
from kmerge_git.template.template_merge import Bodies
from kmerge_git.template.template_pairs import paired
from kmerge_git.template.template_parser import Block, Row, Template
from kmerge_git.text.linemerge import TemporaryFiles

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
        for unit in lay_out(parse(text(written)), Words().line)
        if unit.role == ENTRY
    ]


def pairs(base: str, ours: str) -> list[tuple[str, str]]:
    """The entries of two versions by how each begins there, in a list."""

    def begin(unit: Placed | None) -> str:
        return unit.part.text.strip().split("\n")[0] if unit is not None else ""

    units = [lay_out(parse(version), Words().line) for version in (base, ours, base)]
    found = paired(Three(*units))
    return [(begin(one.at.base), "" if one.is_replaced else begin(one.at.ours)) for one in found]


# -- rule 1: only where git's line merge conflicts


@pytest.fixture
def asked(monkeypatch):
    """The merges that the room was asked for."""
    found = []
    real = Bodies.by_structure

    def by_structure(merge, at):
        found.append(at)
        return real(merge, at)

    monkeypatch.setattr(Bodies, "by_structure", by_structure)
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
    versions[number] += "{{ .x }}\n"
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
    theirs = base.replace(".image", ".theirs")
    assert refusal(base, ours, theirs) == f"{Why.BOTH_CHANGED} at image"
    assert merged(base, ours, theirs) is None


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


def test_rule_7_what_outputs_and_assignments_are_known_by():
    line = "  {{ .Values.a }}\n"
    assert pairs(line, line.replace("{{ ", "{{-  "))[0] == ("{{ .Values.a }}", "{{-  .Values.a }}")
    assert ("{{ .Values.a }}", "") in pairs(line, line.replace(".a", ".b"))
    line = "{{ $a := 1 }}\n"
    assert pairs(line, line.replace("1", "2")) == [("{{ $a := 1 }}", "{{ $a := 2 }}")]
    assert ("{{ $a := 1 }}", "") in pairs(line, line.replace("$a", "$b"))


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


def test_rule_8_what_blocks_are_known_by():
    one, other = (f"{{{{- if .a }}}}\n{name}: 1\n{{{{- end }}}}\n" for name in "bc")
    header = "{{- if .a }}"
    assert pairs(one, other) == [(header, header)]
    assert pairs(one + other, other + one.replace("1", "2")) == [(header, header)] * 2
    assert pairs(one + other, one.replace("1", "2") + other.replace("1", "2")) == [
        *[(header, "")] * 2,
        *[("", header)] * 2,
    ]
    assert pairs(one + other, other) == [(header, ""), (header, header)]


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
    place = [unit.path for unit in lay_out(parse(TWO), Words().line) if unit.role == ENTRY]
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
        ("a:\n{{- with .a }}{{ toYaml . | indent 3 }}{{- end }}\n", 3),
        ("a:\n  {{ toYaml (.a | indent 2) }}\n", 4),
        ("a:\n{{- if .b }}\n    b: 1\n{{- end }}\n", 4),
        ("a:\n{{- if .b }}\n# c\n  b: 1\n{{- end }}\n", 2),
        ('a:\n{{- if .b }}\n{{- include "x" . | nindent 5 }}\n{{- end }}\n', 5),
        ("a:\n{{- if .b }}\n{{- if .c }}\n  b: 1\n{{- end }}\n{{- end }}\n", 2),
        ("a:\n{{ .b }}\n  c: 1\n", 2),
        ("a:\n  c: 1\n  {{ .b }}\n", 2),
        ("a:\n  {{ .b }}\nc: 1\n", 2),
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


def test_rule_11_an_output_alone_under_an_empty_key_is_its_child():
    base = "spec:\n  tolerations:\n  {{ toYaml .a | nindent 4 }}\n  type: a\n"
    (output,) = (unit for unit in lay_out(parse(base), Words().line) if unit.role == ENTRY)
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
    roles = [unit.role for unit in lay_out(parse(TEXTS), Words().line)]
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
    assert refusal(base, ours, theirs) == "a block begins inside a block scalar and ends after it"
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
    why = "a template block or action is on a line where YAML allows no field or element"
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


# -- rule 14: blocks with another header


CHANGED = text("""
    spec:
      {{- if .Values.a }}
      one: 1
      two: 2
      three: 3
      four: 4
      {{- else }}
      none: 0
      {{- end }}
      last: 1
""")


def test_rule_14_a_header_and_a_body_changed_by_two_people():
    ours = CHANGED.replace("if .Values.a", "if and .Values.a .Values.o")
    theirs = CHANGED.replace("one: 1", "one: {{ .Values.one }}")
    assert merged(CHANGED, ours, theirs) == ours.replace("one: 1", "one: {{ .Values.one }}")


def test_rule_14_both_changed_the_header():
    ours, theirs = (CHANGED.replace("if .Values.a", f"if .Values.{name}") for name in "ot")
    assert refusal(CHANGED, ours, theirs) == "both sides changed the condition of the same block"
    assert merged(CHANGED, ours, theirs) is None


def test_rule_14_else_lines_and_ends_are_merged_by_themselves():
    ours = CHANGED.replace("{{- else }}", "{{- else -}}").replace("{{- end }}", "{{- end -}}")
    theirs = CHANGED.replace("four: 4", "four: 5").replace("none: 0", "none: 1")
    assert merged(CHANGED, ours, theirs) == ours.replace("4: 4", "").replace(
        "four: 4", "four: 5"
    ).replace("none: 0", "none: 1")
    theirs = CHANGED.replace("{{- end }}", "{{ end }}")
    assert merged(CHANGED, ours, theirs) is None


def test_rule_14_other_keywords_do_not_pair():
    ours = CHANGED.replace("if .Values.a", "with .Values.a")
    assert merged(CHANGED, ours, CHANGED.replace("one: 1", "one: 2")) is None


def test_rule_14_another_number_of_arms_does_not_pair():
    header, other = "{{- if .Values.a }}", "{{- if .Values.b }}"
    assert (header, other) in pairs(CHANGED, CHANGED.replace(header, other))
    fewer = CHANGED.replace("  {{- else }}\n  none: 0\n", "").replace(header, other)
    assert (header, other) not in pairs(CHANGED, fewer)
    assert (header, "") in pairs(CHANGED, CHANGED.replace(header, "{{- with .Values.b }}"))


def test_rule_14_other_containers_do_not_pair():
    block = "  {{- if .a }}\n  a: 1\n  {{- end }}\n"
    ours = block.replace(".a", ".b") + "  b: 1\n"
    found = pairs(f"one:\n{block}  b: 1\ntwo: 1\n", f"one: 1\ntwo:\n{ours}")
    assert found[0] == ("{{- if .a }}", "")
    assert pairs(f"one:\n{block}", f"one:\n{ours}")[0] == ("{{- if .a }}", "{{- if .b }}")


def test_rule_14_a_block_that_went_elsewhere_and_changed_is_a_conflict():
    base = CHANGED.replace("spec:", "{{- if .Values.a }}\nz: 0\n{{- end }}\nspec:")
    ours = base.replace("spec:", "spec:\n  inner:").replace("\n  ", "\n    ")
    ours = ours.replace("    inner:", "  inner:").replace(
        "if .Values.a }}\n    o", "if .o }}\n    o"
    )
    assert merged(base, ours, base.replace("one: 1", "one: 2")) is None


@pytest.mark.parametrize(("lines", "is_one"), [(6, True), (5, False)])
def test_rule_14_six_of_ten_lines_are_alike(lines, is_one):
    keys = [f"  k{number}: 1" for number in range(10)]
    other = [*keys[:lines], *(f"  o{number}: 1" for number in range(lines, 10))]
    base, ours = (
        "\n".join(["spec:", f"  {{{{- if .{name} }}}}", *body, "  {{- end }}", "  z: 1", ""])
        for name, body in (("a", keys), ("b", other))
    )
    theirs = base.replace("k0: 1", "k0: 2")
    made = merged(base, ours, theirs)
    assert made == (ours.replace("k0: 1", "k0: 2") if is_one else None)


# -- rule 15: paired blocks, arm by arm


def test_rule_15_each_arm_is_merged_by_itself():
    ours = CHANGED.replace("one: 1", "one: 2").replace("none: 0", "none: 0\n  o: 1")
    theirs = CHANGED.replace("two: 2", "two: 3").replace("none: 0", "none: 1")
    made = ours.replace("two: 2", "two: 3").replace("none: 0", "none: 1")
    assert merged(CHANGED, ours, theirs) == made


def test_rule_15_blocks_inside_of_blocks_are_merged_first():
    base = text("""
        {{- if .Values.a }}
        spec:
          {{- with .Values.b }}
          one: 1
          two: 2
          three: 3
          four: 4
          {{- end }}
        {{- end }}
    """)
    ours = base.replace("one: 1", "one: 2").replace("if .Values.a", "if .Values.o")
    theirs = base.replace("two: 2", "two: 3").replace("with .Values.b", "with .Values.t")
    made = theirs.replace("one: 1", "one: 2").replace("if .Values.a", "if .Values.o")
    assert merged(base, ours, theirs) == made


def test_rule_15_a_block_deleted_by_one_and_changed_by_the_other():
    block = SERVICE[SERVICE.index("  {{- if") : SERVICE.index("  type")]
    ours = SERVICE.replace(block, "")
    theirs = SERVICE.replace("port: 80", "port: 81")
    assert refusal(SERVICE, ours, theirs) == "one side deleted an entry that the other side changed"
    assert merged(SERVICE, ours, theirs) is None


def test_rule_15_other_arms_are_a_conflict():
    ours = CHANGED.replace("  {{- else }}\n  none: 0\n", "")
    theirs = CHANGED.replace("one: 1", "one: 2")
    assert refusal(CHANGED, ours, theirs).startswith("both sides changed a block")
    assert merged_anyway(CHANGED, ours, theirs) is None


NO_FIELDS = text("""
    spec:
      {{- if .Values.a }}
      list: [1,
      {{- if .Values.b }}
      2
      {{- end }}
      ]
      one: 1
      two: 2
      three: 3
      {{- end }}
      last: 1
""")


def test_rule_15_a_body_that_cannot_be_read_is_merged_by_lines():
    ours = NO_FIELDS.replace("one: 1", "one: 2").replace("last: 1", "o: 1\n  last: 1")
    theirs = NO_FIELDS.replace("three: 3", "three: 4").replace("last: 1", "last: 2")
    made = ours.replace("three: 3", "three: 4").replace("last: 1", "last: 2")
    assert merged(NO_FIELDS, ours, theirs) == made


def test_rule_15_a_body_that_cannot_be_read_and_conflicts_is_a_conflict():
    ours, theirs = NO_FIELDS.replace("one: 1", "one: 2"), NO_FIELDS.replace("two: 2", "two: 3")
    assert merged(NO_FIELDS, ours, theirs) is None


def test_rule_15_a_doubt_about_a_body_is_none_that_its_lines_settle():
    ours = CHANGED.replace("one: 1", "{{ .Values.key }}: 1\n  one: 1").replace("last: 1", "last: 2")
    theirs = CHANGED.replace("four: 4", "four: 4\n  five: 5").replace("last: 1", "last: 1\n  t: 1")
    assert (
        refusal(CHANGED, ours, theirs)
        == "both sides added entries, and the key of one of these entries is a template action"
    )
    assert merged(CHANGED, ours, theirs) is None


# -- rule 16: the masked texts


def test_rule_16_all_masked_sides_must_parse():
    ours = SERVICE.replace("tier:", "tier: [")
    theirs = SERVICE.replace("app: web", "app: theirs")
    assert (
        refusal(SERVICE, ours, theirs) == "the text between the template actions is not valid YAML"
    )
    assert merged(SERVICE, ours, theirs) is None
    assert merged(SERVICE, ours.replace("[", "[]#"), theirs)


def test_rule_16_a_block_that_both_sides_added():
    both = "  {{{{- if .Values.tls }}}}\n  tls: {}\n  {{{{- end }}}}\n  type:"
    ours, theirs, other = (SERVICE.replace("  type:", both.format(n)) for n in (1, 1, 2))
    near = theirs.replace("  type: ClusterIP", "  type: LoadBalancer")
    assert merged(SERVICE, ours, near) == near
    why = "both sides added the same entry with different contents"
    assert refusal(SERVICE, ours, other) == why
    assert merged(SERVICE, ours, other) is None


RULES = text("""
    spec:
      rules:
        - host: {{ .Values.host }}
          {{- if .Values.port }}
          port: 80
          {{- end }}
          path: /
""")


def test_rule_16_a_body_that_one_side_indented_anew_is_refused():
    head, lines = RULES.splitlines(keepends=True)[:2], RULES.splitlines(keepends=True)[2:]
    ours = "".join([*head, *(line[2:] for line in lines)])
    theirs = RULES.replace("port: 80", "port: 81")
    assert merged(RULES, ours, theirs) is None
    assert merged(RULES, ours, RULES.replace("path: /", "path: /a"))


def test_rule_16_a_masked_line_that_comes_back_in_another_way_is_refused():
    words = Words()
    (row,) = parse("a: {{ .a }}\n")
    assert isinstance(row, Row)
    plain = words.plain(row)
    assert words.unmasked(plain, {}) == row.text
    assert words.unmasked("  b: 1\n", {"  b: 1": "never"}) == "  b: 1\n"
    for other in (plain.replace("kmTplV", "kmTplE"), plain[:-3] + "\n"):
        with pytest.raises(Unsupported):
            words.unmasked(other, {})
    entry = '  kmTplE0123456789abcdef: ""'
    assert words.unmasked(entry + "\n", {entry: "  whole\n"}) == "  whole\n"
    with pytest.raises(Unsupported):
        words.unmasked("  " + entry + "\n", {entry: "  whole\n"})


# -- rule 17: guards of a container


LABELS = text("""
    metadata:
      labels:
        app: web
        tier: a
      name: web
""")
INCLUDE = '    {{{{- include "{}" . | nindent 4 }}}}\n'


def test_rule_17_both_replaced_an_entry_by_other_actions():
    line = "    tier: a\n"
    ours, theirs = (LABELS.replace(line, INCLUDE.format(name)) for name in ("ours", "theirs"))
    why = "both sides replaced the same entry with different entries"
    assert refusal(LABELS, ours, theirs) == why
    assert merged(LABELS, ours, theirs) is None
    theirs = LABELS.replace(line, "    level: a\n")
    assert refusal(LABELS, ours, theirs) == why
    assert merged(LABELS, ours, theirs) is None


def test_rule_17_both_added_other_actions_and_replaced_nothing():
    ours, theirs = (LABELS.replace("  name", INCLUDE.format(n) + "  name") for n in ("o", "t"))
    assert merged(LABELS, ours, theirs) == LABELS.replace(
        "  name", INCLUDE.format("o") + INCLUDE.format("t") + "  name"
    )


def test_rule_17_the_same_action_in_the_place_of_other_entries():
    line = INCLUDE.format("web.labels")
    ours, theirs = LABELS.replace("    tier: a\n", line), LABELS.replace("    app: web\n", line)
    assert merged_anyway(LABELS, ours, ours) == ours
    why = "both sides added the same action, but replaced different entries with it"
    assert refusal(LABELS, ours, theirs) == why
    assert merged(LABELS, ours, theirs) is None


def test_rule_17_a_new_container_with_other_actions():
    ours, theirs = (LABELS + f"  annotations:\n{INCLUDE.format(name)}" for name in ("o", "t"))
    assert (
        refusal(LABELS, ours, theirs)
        == "both sides added the same field with different actions in it"
    )
    assert merged(LABELS, ours, theirs) is None
    assert merged_anyway(LABELS, ours, ours) == ours


def test_rule_17_a_new_container_with_actions_on_one_side():
    ours = LABELS + f"  annotations:\n{INCLUDE.format('o')}"
    theirs = LABELS + "  annotations:\n    a: b\n"
    assert (
        refusal(LABELS, ours, theirs)
        == "both sides added the same field with different actions in it"
    )
    assert merged(LABELS, ours, theirs) is None


def test_rule_17_both_put_the_same_in_the_place_of_more():
    ours = LABELS.replace("    app: web\n    tier: a\n", INCLUDE.format("web.labels"))
    assert merged_anyway(LABELS, ours, ours) == ours


def test_rule_17_what_one_side_added_beside_what_the_other_replaced():
    line = INCLUDE.format("web.labels")
    ours = LABELS.replace("    tier: a\n", line)
    after = LABELS.replace("    tier: a\n", "    tier: a\n    zone: x\n")
    before = LABELS.replace("    tier: a\n", "    zone: x\n    tier: a\n")
    assert merged(LABELS, ours, after) == ours.replace(line, line + "    zone: x\n")
    assert merged(LABELS, ours, before) == ours.replace(line, "    zone: x\n" + line)


def test_rule_17_what_one_side_added_among_what_the_other_replaced():
    ours = LABELS.replace("    app: web\n    tier: a\n", INCLUDE.format("web.labels"))
    theirs = LABELS.replace("    tier: a\n", "    zone: x\n    tier: a\n")
    assert (
        refusal(LABELS, ours, theirs)
        == "one side added an entry between entries that the other side replaced"
    )
    assert merged(LABELS, ours, theirs) is None


def test_rule_17_a_name_that_is_rendered():
    ours = LABELS.replace("  name", "    {{ .Values.label }}: x\n  name")
    theirs = LABELS.replace("  name", "    component: x\n  name")
    assert (
        refusal(LABELS, ours, theirs)
        == "both sides added entries, and the key of one of these entries is a template action"
    )
    assert merged(LABELS, ours, theirs) is None
    theirs = LABELS.replace("tier: a", "tier: b")
    assert merged(LABELS, ours, theirs) == ours.replace("tier: a", "tier: b")
    assert merged_anyway(LABELS, ours, ours) == ours


ELSE = "with .Values.a }}\n    a: b\n    {{- else"


def entry(opening: str, output: str) -> str:
    """The labels with one more entry: an output in a block, or alone."""
    line = f"    {{{{- {output} | nindent 4 }}}}\n"
    block = f"    {{{{- {opening} }}}}\n{line}    {{{{- end }}}}\n" if opening else line
    return LABELS.replace("  name", block + "  name")


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        (("with .Values.a", "toYaml ."), ("if .Values.a", "toYaml .Values.a"), True),
        (("with .Values.a", "toYaml ."), ("", "tpl (toYaml $.Values.a) $"), True),
        (("with .Values.a", "toYaml ."), ("if .Values.a", "toYaml .Values.b"), False),
        (("with .Values.a", "toYaml .Values.b"), ("", "toYaml .Values.b"), False),
        (("range .Values.a", "toYaml $.Values.b"), ("", "toYaml .Values.b"), True),
        (("", 'include "x" .'), ("if .Values.a", 'include "x" $'), True),
        (("", 'include "x" .'), ("with .Values.a", 'include "x" $'), True),
        (("", 'include "x" .'), ("with .Values.a", 'include "x" .'), False),
        (("", "toYaml .Values.b"), (ELSE, "toYaml .Values.b"), True),
        (("", 'include "x" .Values.a'), ("", 'include "x" .Values.b'), False),
        (("", 'include "x" (dict "a" .Release.Name)'), ("", "toYaml .Release.Name"), False),
        (("", 'include "x.a" .'), ("", "toYaml .x.a"), False),
        (("if .Values.a", "toYaml .Values.b"), ("if .Values.a.b", "toYaml .Values.c"), False),
    ],
)
def test_rule_17_one_value_in_two_ways(one, other, is_one):
    ours, theirs = entry(*one), entry(*other)
    why = "both sides added actions that render the same value" if is_one else ""
    assert refusal(LABELS, ours, theirs) == why
    assert (merged(LABELS, ours, theirs) is None) == is_one


# -- rule 18: guards of a file


def test_rule_18_a_field_in_and_outside_of_a_block():
    block = "  {{- if .Values.host }}\n  host: true\n  {{- end }}\n"
    ours = SERVICE.replace("  type", "  host: true\n  type")
    theirs = SERVICE.replace("  type", block + "  type")
    assert refusal(SERVICE, ours, theirs) == "an entry that both sides added would appear twice"
    assert merged(SERVICE, ours, theirs) is None
    other = theirs.replace("host: true", "ghost: true")
    made = merged(SERVICE, ours, other)
    assert made is not None
    assert "  host: true\n" in made
    assert "  ghost: true\n" in made


def test_rule_18_an_output_in_and_outside_of_a_block():
    line = '    {{ "a: b" }}\n'
    ours = LABELS.replace("  name", line + "  name")
    theirs = LABELS.replace(
        "  name", f"    {{{{ if .Values.a }}}}\n{line}    {{{{ end }}}}\n  name"
    )
    assert refusal(LABELS, ours, theirs) == "an entry that both sides added would appear twice"
    assert merged(LABELS, ours, theirs) is None
    theirs = theirs.replace("a: b", "c: d")
    assert merged(LABELS, ours, theirs) is not None


@pytest.mark.parametrize("word", ["with", "range"])
def test_rule_18_an_output_of_another_dot_is_another(word):
    line = "    {{- toYaml . | nindent 4 }}\n"
    ours, theirs = (
        LABELS.replace("  name", f"    {{{{- {word} .{n} }}}}\n{line}    {{{{- end }}}}\n  name")
        for n in ("o", "t")
    )
    assert merged(LABELS, ours, theirs) is not None


def check_counts(base: str, ours: str, theirs: str, made: str) -> bool:
    """Whether a result has what it must have, and no more."""
    try:
        template_guards.check(Template(made), Three(base, ours, theirs).map(Template))
    except Unsupported:
        return False
    return True


def test_rule_18_how_often_actions_and_documents_stand():
    one, two, none = "a: {{ .a }}\n", "a: {{ .a }}\nb: {{- .a }}\n", "a: 1\n"
    assert check_counts(one, two, one, two)
    assert not check_counts(one, two, one, one)
    assert not check_counts(one, one, none, one)
    assert check_counts(one, two, two, two)
    assert check_counts(two, one, one, one)
    assert check_counts(two, one, "b: {{- .a }}\n", none)
    assert not check_counts(two, one, one, two)
    four = [f"a:\n{n * '- {{ .a }}'}\n".replace("}}-", "}}\n-") for n in range(4)]
    assert check_counts(four[0], four[1], four[2], four[2])
    assert not check_counts(four[0], four[1], four[2], four[1])
    assert check_counts(four[2], four[1], four[0], four[0])
    assert not check_counts(four[2], four[1], four[0], four[1])
    assert check_counts("a: 1\n", "a: 1\n---\n", "a: 2\n", "a: 2\n---\n")
    assert not check_counts("a: 1\n", "a: 1\n---\n", "a: 2\n", "a: 2\n")


def test_rule_18_an_output_without_a_dot_is_the_same_anywhere():
    ours, theirs = (f'{{{{ with .{n} }}}}\n{{{{ "x" }}}}\n{{{{ end }}}}\n' for n in "ot")
    assert not check_counts("a: 1\n", "a: 1\n" + ours, "a: 1\n" + theirs, f"a: 1\n{ours}{theirs}")
    ours, theirs = (one.replace('"x"', ".x") for one in (ours, theirs))
    assert check_counts("a: 1\n", "a: 1\n" + ours, "a: 1\n" + theirs, f"a: 1\n{ours}{theirs}")


# -- rule 21: in doubt, git's line merge


@pytest.mark.parametrize("error", [Unsupported("why"), ValueError("a bug"), RecursionError()])
def test_rule_21_whatever_goes_wrong_ends_in_lines(monkeypatch, error):
    def fails(*_):
        raise error

    monkeypatch.setattr(Bodies, "by_structure", fails)
    ours, theirs = SERVICE.replace("80", "81"), SERVICE.replace("80", "82")
    assert merged(SERVICE, ours, theirs) is None
    at = [version.encode() for version in (SERVICE, ours, theirs)]
    is_bug = not isinstance(error, Unsupported)
    assert merge_files(*at, path=PATH).reason.startswith("internal error") == is_bug


# -- rule 22: the text of a conflict that is left


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
@pytest.mark.parametrize("favor", [None, "ours", "theirs"])
def test_rule_22_a_conflict_is_gits_own(style, favor):
    ours = SERVICE.replace("80", "81").replace("app: web", "app: ours")
    theirs = SERVICE.replace("80", "82").replace("tier:", "level:")
    at = [version.encode() for version in (SERVICE, ours, theirs)]
    options = {"labels": ("1", "2", "3"), "marker_size": 9, "style": style}
    made = merge_files(*at, path=PATH, favor=favor, **options)
    data, count = TemporaryFiles(tuple(at), favor=favor or "", **options).result()
    assert (made.text, len(made.conflicts)) == (data, count)
