"""Doubts that merges of templates end in, and merges that no doubt may depend on a side for."""

from __future__ import annotations

from template_texts import merged, refusal, text

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
    assert refusal(TERMS, ours, theirs).startswith("both sides took an entry away")


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
