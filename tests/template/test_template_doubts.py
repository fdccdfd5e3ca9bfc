"""Doubts that merges of templates end in, and merges that no doubt may depend on a side for."""

from __future__ import annotations

from template_texts import git, merged, refusal, text
from worlds.lines import git_lines

from kmerge_git import merge_files
from kmerge_git.text.markers import resolve

TERMS = text("""
    kind: Pod
    spec:
      version: {{ .Values.version }}
      terms:
        - match:
            - key: os
              operator: In
        - match:
            - key: os
              operator: In
              values: [linux]
""")


def test_elements_without_names_are_not_taken_for_each_other():
    ours = TERMS.replace("operator: In\n          values", "other: In\n          values")
    theirs = TERMS.replace(
        "operator: In\n          values",
        '{{- include "o" . | nindent 10 }}\n          values',
    )
    assert merged(TERMS, ours, theirs) is None
    assert refusal(TERMS, ours, theirs).startswith("both sides replaced the same entry")


def test_what_fits_with_one_order_of_the_sides_fits_with_the_other():
    base = text("""
        apiVersion: v1
        kind: Pod
        spec:
          tolerations:
            {{- if .Values.base }}
            - name: one
              operator: Exists
            {{- end }}
    """)
    ours = base.replace(
        "    - name: one",
        "    {{- if .Values.new }}\n    - name: two\n      value: true\n    {{- end }}\n    - name: one",
    )
    theirs = base.replace("name: one", "name: three")
    made = ours.replace("name: one", "name: three")
    assert merged(base, ours, theirs) == made
    assert merged(base, theirs, ours) == made


def test_a_trim_mark_joins_no_lines_that_were_apart():
    base = text("""
        kind: Pod
        spec:
          {{- if .Values.a }}
          a: 1
          {{- end }}
          version: 1
    """)
    new = "  {{- with .Values.b }}\n  b: 1\n  {{- end }}\n"
    ours, theirs = base + new, base + "  c: 1\n"
    assert merged(base, ours, theirs) == ours + "  c: 1\n"
    trimmed = new.removesuffix(" }}\n") + " -}}\n"
    assert merged(base, base + trimmed, theirs) == theirs + trimmed
    ours, theirs = (f"{base}  {side}: 1\n{trimmed.replace('b', side)}" for side in "bc")
    assert merged(base, ours, theirs) is None
    trimmed = base.replace("{{- end }}", "{{- end -}}\n  {{- /* comment */}}")
    theirs = trimmed.replace("a: 1", "a: 2").replace("version: 1", "version: 2")
    ours = trimmed.replace("a: 1", "a: 1\n  b: 1")
    assert merged(trimmed, ours, theirs) == theirs.replace("a: 2", "a: 2\n  b: 1")


def test_a_trim_mark_joins_no_output_to_another():
    base = text("""
        kind: Pod
        spec:
          path: a
          ports: []
        {{- include "affinity" .Values | indent 2 }}
    """)
    ours = base.replace("path: a", "path: b").replace("  ports: []\n", "")
    theirs = base.replace("  ports", '  {{- include "t" . | nindent 2 }}\n  ports')
    assert merged(base, ours, theirs) is None
    own, other = base.replace("| indent", "| nindent"), theirs.replace("| indent", "| nindent")
    made = other.replace("path: a", "path: b").replace("  ports: []\n", "")
    assert merged(own, ours.replace("| indent", "| nindent"), other) == made


def test_a_trim_mark_behind_a_value_joins_no_new_line_to_it():
    base = text("""
        kind: Pod
        spec:
          path: {{ .Values.path }}
          {{- include "web.more" . | nindent 2 }}
          z: 1
    """)
    ours = base.replace(".path }}", ".path -}}").replace("{{- include", "{{ include")
    theirs = base.replace("  {{- include", "  port: 1\n  {{- include")
    assert merged(base, ours, theirs) is None


def test_branches_and_definitions_are_not_above_each_other():
    base = text("""
        {{- define "a" -}}
        {{- if .Values.a -}}
        {{- .Values.x -}}
        {{- else -}}
        {{- .Values.y -}}
        {{- end -}}
        {{- end -}}
        {{- define "b" -}}
        {{- .Values.z -}}
        {{- end -}}
    """)
    ours = base.replace(".x", ".o").replace("{{- else -}}", "{{- else }}").replace(".z", ".p")
    theirs = base.replace(".y", ".t")
    made = ours.replace(".y", ".t")
    assert merged(base, ours, theirs, "charts/web/templates/_helpers.tpl") == made


def test_an_action_that_gives_a_column_stays_at_its_own():
    base = text("""
        metadata:
          name: {{ .Values.name }}
          labels:
            app: web
            tier: front
    """)
    ours = base.replace("    app: web\n    tier", "      app: web\n      tier")
    theirs = base.replace("web\n", "web\n    zone: {{ .Values.zone }}\n")
    assert merged(base, ours, theirs) == ours.replace(
        "web\n", "web\n      zone: {{ .Values.zone }}\n"
    )
    theirs = base.replace("web\n", "web\n    zone: {{- toYaml .Values.zone | nindent 6 }}\n")
    assert merged(base, ours, theirs) is None


HELPERS = text("""
    {{- define "a" -}}
    x
    {{- end }}
    {{- define "b" -}}
    y
    {{- end }}
""")
HELPERS_PATH = "charts/web/templates/_helpers.tpl"


def test_a_name_is_defined_once():
    new = '{{- define "c" -}}\n1\n{{- end }}\n'
    ours, theirs = new + HELPERS, HELPERS + new.replace("1", "2")
    assert git(HELPERS, ours, theirs)[1] == 0
    texts = (HELPERS.encode(), ours.encode(), theirs.encode())
    made = merge_files(*texts, path=HELPERS_PATH)
    assert (made.clean, made.reason) == (False, 'template defined twice: "c"')
    for side, kept in (("ours", ours), ("theirs", theirs)):
        assert resolve(made.text.decode(), side) == kept
    texts = (HELPERS.encode(), (ours + new).encode(), theirs.encode())  # ours did it
    assert merge_files(*texts, path=HELPERS_PATH, line_merge=git_lines).reason != made.reason


def test_what_both_sides_did_to_an_end_is_no_doubt_about_the_others():
    """Both trim one `end`, and ours has a block more: no line is lost."""
    block = "{{- if .Values.%s }}\n%s: 1\n{{- end }}\n"
    base = "kind: Pod\n" + block % ("a", "a") + "spec: 1\n" + block % ("b", "b")
    theirs = base.removesuffix("{{- end }}\n") + "{{- end -}}\n"
    ours = theirs.replace("spec", block % ("c", "c") + "spec")
    made = merge_files(base.encode(), ours.encode(), theirs.encode(), path="charts/a.yaml")
    assert (made.clean, made.text.decode()) == (True, ours)


def test_a_merge_of_fields_leaves_a_template():
    """Ours adds a block below, theirs puts one around what is above: both end in an `end`."""
    base = text("""
        kind: ConfigMap
        data:
          a: |
            level
            {{- if .Values.base }}
            mode
            {{- end }}
            last
    """)
    new, end, last = "    {{- if .Values.new }}\n", "    {{- end }}\n", "    last\n"
    ours = base.replace(last, f"{new}    shared\n{end}{last}")
    theirs = base.replace("    level", f"{new}    level").replace(last, end + last)
    made = merge_files(*(one.encode() for one in (base, ours, theirs)), path="charts/a.yaml")
    assert (made.clean, made.method) == (False, "lines")
    assert made.reason == "a template: the merged text would not be a valid template"
