"""M27: templates beside the sides of a merge, finished badly or well."""

from __future__ import annotations

import pytest
from merges import merge_findings

from kmerge_git.check.checked_texts import nowhere
from kmerge_git.check.merges.git_versions import GitVersions, MergeVersions
from kmerge_git.check.run import Run
from kmerge_git.merge.three import Three

PATH = "charts/web/templates/web.yaml"
BASE = """\
kind: Deployment
metadata:
  name: {{ include "web.fullname" . }}
  labels:
    {{- include "web.labels" . | nindent 4 }}
spec:
  {{- with .Values.replicas }}
  replicas: {{ . }}
  {{- end }}
  containers:
  - name: web
    image: {{ .Values.image }}
    args:
    - --one
    - {{ .Values.arg }}
    {{- if .Values.probe }}
    probe:
      path: /
      port: 80
    {{- end }}
  script: |
    make all
    make {{ .Values.target }}
    make push
"""
OURS = BASE.replace("    - --one\n", "    - --first\n")
THEIRS = BASE.replace("path: /\n", "path: /ready\n")
MERGED = OURS.replace("path: /\n", "path: /ready\n")
SIDES = (BASE.encode(), OURS.encode(), THEIRS.encode())
PROBE = (
    "    {{- if .Values.probe }}\n    probe:\n      path: /ready\n      port: 80\n    {{- end }}\n"
)
LIST = "    args:\n    - --first\n    - {{ .Values.arg }}\n"

# what was done, and where it is found in which words
DAMAGED: list[tuple[str, str, str, int, str]] = [
    ("a key twice", "  script: |\n", "  replicas: 2\n  script: |\n", 21, "duplicate key: "),
    ("a section twice", LIST, LIST + PROBE, 22, "duplicate key: "),
    ("an element twice", "    - {{ .Values.arg }}\n", "    - {{ .Values.arg }}\n    - {{ .Values.arg }}\n", 16, "duplicate list element: "),
    ("a list item that slipped", "    - --first\n", "     - --first\n", 15, "not valid YAML: "),
    ("a block without end", "      port: 80\n    {{- end }}\n", "      port: 80\n", 16, "not a valid template: "),
    ("an end too much", "  script: |\n", "  {{- end }}\n  script: |\n", 21, "not a valid template: "),
    ("a field that slipped", "      port: 80\n", "    port: 80\n", 19, "no side of the merge has port in this place"),
    ("a field that is gone", "      port: 80\n", "", 18, "port is missing; every side of the merge has it"),
    ("a line of a text that is gone", "    make push\n", "", 21, "this text lacks a line that every side of the merge has"),
    ("an action that is gone from a list", "    - {{ .Values.arg }}\n", "", 14, "the element {{ .Values.arg }} is missing"),
]  # fmt: skip


@pytest.mark.parametrize("why, old, new, line, said", DAMAGED, ids=[one[0] for one in DAMAGED])
def test_damage_is_found(why: str, old: str, new: str, line: int, said: str) -> None:
    assert MERGED.count(old) == 1
    damaged = MERGED.replace(old, new).encode()
    for sides in (SIDES, (SIDES[0], SIDES[2], SIDES[1])):
        found = merge_findings(sides, damaged, PATH)
        assert {one.id for one in found} == {"M27"}
        assert [one.line for one in found if one.message.startswith(said)] == [line]
        assert "kmTpl" not in "".join(one.message for one in found)


# what people do, and what is no damage
FINE: list[tuple[str, str, str]] = [
    ("nothing", "", ""),
    ("a field of one's own", "      port: 80\n", "      port: 80\n      scheme: HTTPS\n"),
    ("another condition", "{{- if .Values.probe }}", "{{- if .Values.probes.ready }}"),
    ("another branch", "      port: 80\n    {{- end }}\n", "      port: 80\n    {{- else }}\n    probe: {}\n    {{- end }}\n"),
    ("another branch with a condition", "      port: 80\n    {{- end }}\n", "      port: 80\n    {{- else if .Values.b }}\n    probe: {}\n    {{- end }}\n"),
    ("a branch instead of none", "    image: {{ .Values.image }}\n", "    {{- if .Values.image }}\n    image: {{ .Values.image }}\n    {{- end }}\n"),
    ("trim marks", "{{- end }}\n  script", "{{ end }}\n  script"),
    ("an include of one's own", "  script: |\n", "  {{- include \"web.more\" . | nindent 2 }}\n  script: |\n"),
]  # fmt: skip


@pytest.mark.parametrize("why, old, new", FINE, ids=[one[0] for one in FINE])
def test_a_decision_is_no_damage(why: str, old: str, new: str) -> None:
    assert not old or MERGED.count(old) == 1
    made = MERGED.replace(old, new) if old else MERGED
    assert merge_findings(SIDES, made.encode(), PATH) == []


def test_what_nobody_merged_is_looked_at_without_its_sides() -> None:
    damaged = MERGED.replace("  script: |\n", "  replicas: 2\n  script: |\n").encode()
    alone = Run(nowhere()).file(PATH, damaged)
    assert [(one.id, one.line) for one in alone] == [("M02", 21)]
    assert merge_findings((SIDES[0], SIDES[0], SIDES[2]), damaged, PATH) == alone
    assert merge_findings((SIDES[0], SIDES[1], damaged), damaged, PATH) == []
    for broken in ("{{ if }}", "{{ end }}", "{{ .a"):  # no template on a side: nobody can tell
        sides = (SIDES[0], SIDES[1], SIDES[2] + broken.encode())
        assert merge_findings(sides, damaged, PATH) == alone


@pytest.mark.parametrize("path", [PATH, "web/templates/_helpers.tpl"])
def test_what_was_rendered_was_checked(path: str) -> None:
    one_side = (SIDES[0], SIDES[1], SIDES[0])
    for sides, result, is_checked in ((SIDES, MERGED.encode(), True), (one_side, SIDES[1], False)):
        merge = MergeVersions(Three(*sides), result)
        versions = GitVersions(lambda: SIDES[1], lambda merge=merge: merge)  # type: ignore[misc]
        run = Run(nowhere(), versions=lambda path, versions=versions: versions)  # type: ignore[misc]
        assert run.file(path, result) == []
        assert (path not in run.skipped) == (is_checked or path == PATH)


def test_a_file_that_is_new_on_both_sides() -> None:
    damaged = MERGED.replace("  script: |\n", "  replicas: 2\n  script: |\n").encode()
    for base in (None, b""):
        assert merge_findings((base, *SIDES[1:]), MERGED.encode(), PATH) == []
        found = merge_findings((base, *SIDES[1:]), damaged, PATH)
        assert [one.id for one in found] == ["M27"]


def test_helpers_and_notes() -> None:
    helper = '{{- define "web.pod" -}}\n%s{{- end }}\n'
    texts = ("a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: 1\nb: 2\n")
    sides = tuple((helper % text).encode() for text in texts)
    twice = (helper % "a: 2\nb: 1\nb: 2\n").encode()
    found = merge_findings(sides, twice, "templates/_helpers.tpl")  # type: ignore[arg-type]
    assert [(one.id, one.line) for one in found] == [("M27", 4)]
    assert merge_findings(sides, twice, "templates/NOTES.txt") == []  # type: ignore[arg-type]
    assert merge_findings(sides, (helper % "a: 2\nb: 2\n").encode(), "templates/_helpers.tpl") == []  # type: ignore[arg-type]


def test_what_is_meant_can_be_said() -> None:
    meant = "  replicas: 2  # kmerge: ignore M27\n  script: |\n"
    assert merge_findings(SIDES, MERGED.replace("  script: |\n", meant).encode(), PATH) == []
