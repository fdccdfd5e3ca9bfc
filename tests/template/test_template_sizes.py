"""What a merge of templates does with large and deep ones: it refuses, or takes each line once."""

from __future__ import annotations

import sys

import pytest
from counting import steps
from template_texts import PATH, merged, parse

from kmerge_git import merge_files
from kmerge_git.errors import Unsupported
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.template import template_guards, template_merge, template_pairs, template_parser
from kmerge_git.template.masking import Words, masked
from kmerge_git.template.template_layout import DEEPEST, ENTRY, WORDS, lay_out
from kmerge_git.template.template_pairs import paired
from kmerge_git.template.template_parser import Template

BASE = "metadata:\n  name: {{ .Values.name }}\n"
OURS = BASE + "  namespace: a\n"
THEIRS = BASE + "  {{- with .Values.labels }}\n  labels: {{ . }}\n  {{- end }}\n"


def beside(more: str) -> Three[str]:
    """A merge that git's lines cannot do, with more in all versions."""
    return Three(BASE, OURS, THEIRS).map(lambda text: text + more)


def test_a_template_as_large_as_nobody_writes_is_left_to_git(monkeypatch):
    at = beside("spec: 1\n")
    monkeypatch.setattr(template_merge, "LARGEST", max(map(len, at.each())))
    assert merged(*at.each())
    monkeypatch.setattr(template_merge, "LARGEST", max(map(len, at.each())) - 1)
    assert merged(*at.each()) is None


def test_more_actions_than_anybody_writes_are_left_to_git(monkeypatch):
    at = beside("spec: {{ .x }}\n")
    monkeypatch.setattr(template_merge, "MOST_ACTIONS", 5)
    assert merged(*at.each())
    monkeypatch.setattr(template_merge, "MOST_ACTIONS", 4)
    assert merged(*at.each()) is None


@pytest.mark.parametrize("more", [0, 1])
def test_fields_too_deep_inside_each_other_are_refused(more):
    text = "".join(f"{' ' * n}k{n}:\n" for n in range(DEEPEST + more + 1))
    if more:
        with pytest.raises(Unsupported, match="too deep"):
            lay_out(parse(text), Words().line)
    else:
        assert len(lay_out(parse(text), Words().line)[-1].path) == DEEPEST + 1


def names(letter: str, count: int) -> str:
    return "spec:\n" + "".join(
        f"  {{{{ .{letter}{n} }}}}:\n    a{n}: 1\n    b{n}: 1\n    c{n}: 1\n" for n in range(count)
    )


def test_more_renamed_names_than_are_compared_are_refused(monkeypatch):
    at = Three(*(lay_out(parse(names(x, 3)), Words().line) for x in ("a", "b", "a")))
    monkeypatch.setattr(template_pairs, "MOST_NAME_PAIRS", 9)
    template_pairs.follow(at)
    assert {unit.path for unit in at.base} == {unit.path for unit in at.ours}
    at = Three(*(lay_out(parse(names(x, 3)), Words().line) for x in ("a", "b", "a")))
    monkeypatch.setattr(template_pairs, "MOST_NAME_PAIRS", 8)
    with pytest.raises(Unsupported, match="too many"):
        template_pairs.follow(at)


def test_equal_outputs_have_words_of_their_own():
    parts = parse("spec:\n" + "  {{ .a }}\n" * 5)
    units = Three(*(lay_out(parts, Words().line) for _ in range(3)))
    tokens = [entity.token for entity in paired(units)]
    assert len(set(tokens)) == 5
    assert tokens == [entity.token for entity in paired(units)]


def test_an_output_takes_its_form_from_the_same_line_as_the_one_above():
    written = "a:\n  {{ .x }}\n  {{ .y }}\n  - 1\n  {{ .z }}\nb:\n  {{ .x }}\n  {{ .y }}\n  c: 1\n"
    units = lay_out(parse(written), Words().line)
    assert [unit.form for unit in units if unit.role == ENTRY] == ["scalars"] * 3 + ["map"] * 2


def test_lines_of_actions_stand_at_the_column_of_their_own_text():
    written = (
        "a: |\n    x\n  {{- if .a }}\n      y\n  {{- end }}\nb: 1\n"
        "c: |\n         z\n\n  {{- if .b }}\n  {{- end }}\n"
    )
    words = Words()
    units = lay_out(parse(written), words.line)
    made = masked(units, {}, words).text.split("\n")
    lines = [line for line in made if "kmTplL" in line]
    assert [len(line) - len(line.lstrip()) for line in lines] == [4, 4, 9, 9]
    assert all(unit.role == WORDS for unit in units if "{{" in unit.part.text)


@pytest.mark.parametrize("limit", [0, 1, 100])
def test_what_is_known_of_a_text_is_what_it_is(monkeypatch, limit):
    """A template is taken apart when it is first asked, and only then."""
    taken_apart = []
    refuse = template_parser.refuse_own_words  # which looks at each text that is
    monkeypatch.setattr(
        template_parser, "refuse_own_words", lambda text: (taken_apart.append(text), refuse(text))
    )
    texts = [f"{name}: {{{{ .{limit} }}}}\n" for name in "abca"]
    for template in map(Template, texts):
        for _ in range(limit):
            assert "".join(part.text for part in template.parts) == template.text
            assert len(template.rows) == 1
    assert taken_apart == (texts if limit else [])


def test_more_entries_of_both_sides_in_one_place_than_are_looked_at(monkeypatch):
    base = "a:\n  - x: 1\n  - y: 1\n"
    at = Three(base, "a:\n  {{- range .V }}\n  - z: {{ . }}\n  {{- end }}\n", base + "  - w: 1\n")
    units = at.map(lambda text: lay_out(parse(text), Words().line))
    tokens = {id(unit): "kmTplE1" for unit in units.ours if unit.role == ENTRY}
    assert template_guards.containers(units, tokens) is not None
    monkeypatch.setattr(template_guards, "MOST_ORDERED", 0)
    with pytest.raises(Unsupported, match="too many"):
        template_guards.containers(units, tokens)


def test_blocks_as_deep_as_they_are_read_need_no_deeper_stack():
    """Each block around another takes some calls; the driver starts with Python's own limit."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        depth = template_parser.DEEPEST - 5
        opening, ending = "{{- if .a }}\n" * depth, "{{- end }}\n" * depth
        base, ours, theirs = (f"{opening}z: {side}\n{ending}" for side in "bot")
        reason = merge_files(*(one.encode() for one in (base, ours, theirs)), path=PATH).reason
    finally:
        sys.setrecursionlimit(max(before, sys.getrecursionlimit()))
    assert reason == f"a template: {Why.BOTH_CHANGED} at z"


DOCUMENT = """---
kind: Service
metadata:
  name: {{{{ include "name" . }}}}-{n}
spec:
  {{{{- if .Values.s{n}.port }}}}
  ports:
  - name: web
    port: {{{{ .Values.s{n}.port }}}}
  {{{{- else }}}}
  clusterIP: None
  {{{{- end }}}}
"""
FIELDS = """  f{n}:
    {{{{- with .Values.f{n} }}}}
    a: {{{{ .a }}}}
    {{{{- end }}}}
    b: 1
"""


@pytest.mark.parametrize("more", [DOCUMENT, FIELDS], ids=["documents", "fields"])
def test_a_merge_takes_as_long_as_a_template_is(more: str):
    """Ten times as much that nobody changed."""

    def work(count: int) -> int:
        at = beside("spec:\n" + "".join(more.format(n=n) for n in range(count)))
        texts = at.map(str.encode).each()
        assert merge_files(*texts, path=PATH).clean  # which loads what is needed
        return steps(lambda: merge_files(*texts, path=PATH))

    assert work(100) < 12 * work(10)
