"""Why git's lines stand where the blocks of a template were not merged, in words for people."""

from __future__ import annotations

import pytest
from template_texts import PATH, text

from kmerge_git import merge_files
from kmerge_git.merge.plan import Why
from kmerge_git.outcome import Outcome
from kmerge_git.template import template_merge
from kmerge_git.template.template_damage import Damage

WEB = text("""
    metadata:
      labels:
        app: web
      {{- if .Values.a }}
      name: {{ .Values.name }}
      {{- end }}
    spec:
      image: {{ .Values.image }}
""")
APP = "    app: web\n"


def made(base: str, ours: str, theirs: str, path: str = PATH) -> Outcome:
    return merge_files(base.encode(), ours.encode(), theirs.encode(), path=path)


REASONS = {
    "a field that both sides changed": (
        WEB.replace(".image", ".ours"),
        WEB.replace(".image", ".theirs"),
        f"{Why.BOTH_CHANGED} at spec.image",
    ),
    "a block against a change inside": (
        WEB.replace("  {{- if .Values.a }}\n  name: {{ .Values.name }}\n  {{- end }}\n", ""),
        WEB.replace(".name", ".theirs"),
        "one side deleted an entry that the other side changed",
    ),
    "a guard": (
        WEB.replace(APP, '    {{- include "a" . | nindent 4 }}\n'),
        WEB.replace(APP, '    {{- include "b" . | nindent 4 }}\n'),
        "both sides replaced the same entry with different entries",
    ),
    "a version that is none": (
        WEB.replace("  {{- end }}\n", "").replace(".image", ".ours"),
        WEB.replace(".image", ".theirs"),
        "`if` has no `end` at line 4 of ours",
    ),
    "a control action beside text": (
        WEB.replace(".image", ".ours"),
        WEB.replace("  image:", "  image: x{{ if .a }}\n  {{ end }}"),
        "`if` is not alone on its line at line 8 of theirs",
    ),
    "no fields between the actions": (
        WEB.replace("  image:", "  image: ["),
        WEB.replace(".image", ".theirs"),
        "the text between the template actions is not valid YAML",
    ),
}


@pytest.mark.parametrize("ours, theirs, why", REASONS.values(), ids=REASONS)
def test_the_cause_and_where(ours: str, theirs: str, why: str) -> None:
    outcome = made(WEB, ours, theirs)
    assert (outcome.method, outcome.clean) == ("lines", False)
    assert outcome.reason == f"a template: {why}"


def test_actions_stand_in_the_place_of_their_words() -> None:
    base = WEB + "  ports:\n    - name: {{ .Values.port }}\n      port: 1\n"
    ours, theirs = base.replace("port: 1", "port: 2"), base.replace("port: 1", "port: 3")
    at = "spec.ports[name={{ .Values.port }}].port"
    assert made(base, ours, theirs).reason == f"a template: {Why.BOTH_CHANGED} at {at}"


def test_helpers_are_definitions() -> None:
    ours, theirs = "a {{ .a }}\n", "b {{ .a }}\n"
    reason = made("{{ .a }}\n", ours, theirs, "web/templates/_helpers.tpl").reason
    assert reason == "a template: text outside of `define` blocks can only be merged line by line"


def test_what_a_rendering_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_merge, "new_damage", lambda *_: [Damage("a doubt", "", 0, 0)])
    ours = WEB.replace(APP, f"{APP}    ours: {{{{ .a }}}}\n")
    theirs = WEB.replace(APP, f"{APP}    theirs: {{{{ .b }}}}\n")
    reason = "a template: a block-by-block merge would break the template: a doubt"
    assert made(WEB, ours, theirs).reason == reason


def test_braces_make_no_template_of_broken_yaml() -> None:
    """What its parser says is closer to what is wrong."""
    base = 'expr: "{{ $labels.pod }}"\na: 1\nb: ]\n'
    reason = made(base, base.replace("a: 1", "a: 2"), base.replace("a: 1", "a: 3")).reason
    assert reason.startswith("line 3: not YAML")


def test_markers_are_told_as_markers() -> None:
    open_merge = "<<<<<<< a\na: 1\n=======\na: 2\n>>>>>>> b\n"
    reason = made(open_merge + WEB, open_merge.replace("2", "3") + WEB, WEB).reason
    assert "template" not in reason


def test_what_git_merges_clean_needs_no_reason_of_the_blocks() -> None:
    outcome = made(WEB, WEB.replace(".image", ".ours"), WEB.replace("app: web", "app: theirs"))
    assert (outcome.clean, outcome.reason) == (True, "a template, not YAML")


def test_the_fields_of_a_merge_by_blocks_are_told() -> None:
    more = "  {{- with .Values.{0} }}\n  {0}:\n    {{- toYaml . | nindent 4 }}\n  {{- end }}\n"
    ours, theirs = (WEB + more.replace("{0}", name) for name in ("env", "volumes"))
    told = [(one.path, one.ours, one.theirs) for one in made(WEB, ours, theirs).explained]
    rendered = "null, or the text that the template renders"
    assert told == [("spec.env", rendered, ""), ("spec.volumes", "", rendered)]


def test_definitions_are_no_fields() -> None:
    base = '{{- define "a" }}\na\n{{- end }}\n'
    ours, theirs = (base + "\n" + base.replace('"a"', name) for name in ('"b"', '"c"'))
    outcome = made(base, ours, theirs, "web/templates/_helpers.tpl")
    assert (outcome.clean, outcome.explained) == (True, ())
