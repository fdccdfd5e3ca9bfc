"""What is no YAML though it reads as such, and mappings that no field can name."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kmerge_git.errors import CannotParse, TextOnly
from kmerge_git.text.source import Source
from kmerge_git.tree import parser
from kmerge_git.tree.documents import split
from kmerge_git.tree.oddities import ODD_KEY, TEMPLATE, has_control, refuse_oddities

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PIECES = [*"{}[]:,?*&!#- \n\t'|a", "a: ", "&x ", "*x", "- ", "? ", ": ", "\n  ", "{a}", "[a]", " #"]
EMPTY = split(Source(b""))


def why(text: str) -> str:
    try:
        refuse_oddities(EMPTY, split(Source(text.encode())))
    except TextOnly as error:
        return error.why
    return ""


@pytest.mark.parametrize(
    "text",
    [
        "a: {{ .Values.a }}\n",
        "a: {{- .Values.a -}}x\n- b\n",
        "a:\n  - b: [c, {{ .d }}]\n",
        "{{ . }}\n",
        '{"a": {{ .b }}}\n',
        "# {{- if .a }}\nb: 1\n# {{- end }}\n",
        "b: 1\n# {{ end }}\n",
        "b: 1 # {{ if .a }}\nc: 1 # {{ end }}\n",
        "# {{ with .a }}\n",
        "# {{- range .a }}\n---\nb: 1\n",
        "b: 1\n--- # {{ else }}\nc: 1\n",
        "b: 1\n...\n# {{ end }}\n",
        "# {{ if .a }}\n# {{ if .b }}\nc: 1\n# {{ end }}\n# {{ end }}\n",
        "a: b\n  {{- if .c }}\n  d\n  {{ end }}\n",
        "a: b-{{ if .c }}d{{ end }}\n",
        'a: b-{{ template "c" . }}\n',
        "- b-{{\n  end }}\n",
        "x-{{ end }}\n",
    ],
)
def test_templates(text):
    with pytest.raises((TextOnly, CannotParse)) as caught:
        refuse_oddities(EMPTY, split(Source(text.encode())))
    assert caught.type is CannotParse or caught.value.why == TEMPLATE


@pytest.mark.parametrize(
    "text",
    [
        "? [a, b]\n: c\n",
        "?\n  - a\n: c\n",
        "a:\n- ? b: c\n  : d\n",
        "a: {? [b] : c}\n",
        "a: [? [b] : c]\n",
        "[a, b]: c\n",
        "{a: b}: c\n",
        "- {a: b} : c\n",
        "&x {a: b}: c\n",
        "- !!map {a: b}: c\n",
        "a: &x  {[b]: c}\n",
        "a: { # {\n  {b}}\n",
        "a: {b, # c\n  {d}}\n",
        "a: {b,\n  [d]}\n",
        "a: [b, {c}: d]\n",
        "a: { &x [b] : c }\n",
        "a: {b, !!seq [c] : d}\n",
        "a: &x {b: c}\nd:\n  *x : e\n",
        "a: &x {b: c}\nd: {*x : e}\n",
        "a: &x {b: c}\nd: {e, *x}\n",
        "a: &x {b: c}\n? *x\n: e\n",
        '{\n  "a": {"b": 1, {"c": 2}: 3}\n}\n',
    ],
)
def test_keys_that_are_collections(text):
    assert any(
        isinstance(key, yaml.CollectionNode)
        for node in nodes(yaml.compose(text))
        if isinstance(node, yaml.MappingNode)
        for key, _ in node.value
    ), "the parser sees none"
    assert why(text) == ODD_KEY


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_no_odd_key_is_missed(text):
    """The look at the characters may see one too many, but never misses one."""
    try:
        root = yaml.compose(text, LOADER)
    except (yaml.YAMLError, ValueError):
        return
    found = any(
        isinstance(key, yaml.CollectionNode)
        for node in (nodes(root) if root is not None else ())
        if isinstance(node, yaml.MappingNode)
        for key, _ in node.value
    )
    try:
        is_refused = bool(why(text))
    except CannotParse:
        is_refused = True
    assert is_refused or not found


def nodes(root: yaml.Node) -> list[yaml.Node]:
    todo, seen = [root], set()
    for node in todo:
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            todo += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            todo += node.value
    return todo


@pytest.mark.parametrize(
    "text",
    [
        'a: "{{ if $x }}y{{ end }}"\n',
        "a: '{{ range . }}\n  {{ end }}'\n",
        "a: |\n  {{- if .b }}\n  # {{ else }}\n  {{- end }}\n\n# c\n",
        "a: >-\n  {{ with .b }}\nc: 1\n",
        '"{{ end }}": 1\n',
        "a: b:{{ .Values.c }}\n",
        "a: b:{{workflow.parameters.tag}} {{=sprig.trim(x)}}\n",
        "a: b {{template.name}} {{ends}} {{iffy}}\n",
        "a: 1 # {{ .Values.a }}\n",
        "a: 1\n# b: |\n#   {{ if .c }}\n\n#   {{ else }}\n#   {{ end }}\nd: 1\n",
        "a: 1 # {{ if .b }}{{ end }}\nc: 1\n",
        "a: {b: {c: [d, {e: f}]}, g: [[h], [i, j]]}\n",
        "a: [[{b: c}]]\n",
        '{"a": {"b": [1, {"c": 2}]}, "d": {}}\n',
        "a: ${B}:${C} what? [d]: {e}\nf: why?\n",
        "? plain\n: x\n? 'quoted'\n: y\n",
        "*\n",
        "a: &x b\n*x : c\n",
    ],
)
def test_data(text):
    try:
        yaml.compose(text)
    except yaml.YAMLError:
        pass
    else:
        assert why(text) == ""


def test_what_all_versions_have_is_not_looked_at():
    texts = ("a: {{ b }}\n---\nc: 1\n", "a: {{ b }}\n---\nc: 2\n", "a: {{ b }}\n---\nc: 3\n")
    refuse_oddities(*(split(Source(text.encode())) for text in texts))
    with pytest.raises(TextOnly):
        refuse_oddities(*(split(Source(text.encode())) for text in (*texts, "c: 1\n")))


def test_the_place_is_told():
    with pytest.raises(TextOnly) as caught:
        refuse_oddities(EMPTY, split(Source(b"a: 1\n---\nb:\n- {{ .x }}\n", "f.yaml")))
    assert str(caught.value) == f"f.yaml:4:4: {TEMPLATE}"


def test_entries_that_were_asked_for_change_no_answer():
    stream = split(Source(b"a: {{ .b }}\n"))
    root = stream.documents[0].root
    assert root is not None and len(root.entries) == 1
    with pytest.raises(TextOnly):
        refuse_oddities(EMPTY, stream)


def test_who_has_no_sign_is_not_parsed(monkeypatch):
    monkeypatch.setattr(parser, "compose", None)  # whoever calls it fails
    stream = split(Source(b"a: 1\nb: {}\nc: [d, e]\ng: {h: [i]}\n"))
    refuse_oddities(EMPTY, stream)
    with pytest.raises(TypeError):
        refuse_oddities(EMPTY, split(Source(b"a: {[b]: c}\n")))


@pytest.mark.parametrize(
    ("line", "is_control"),
    [
        ("a: '{{if x}}b{{end}}'", False),
        ('- "{{if x}}b{{end}}"', False),
        ('- a: "{{if eq .x \\"y\\"}}b{{end}}" # a comment', False),
        ("a: 'it''s {{if x}}b{{end}}'", False),
        ("a: '{{if x}}b'", True),
        ("a: '{{if x}}' '{{end}}'", True),
        ("a: {{if x}}b{{end}}", True),
        ("a: 'b' # {{if x}}{{end}}", True),
        ('a: "b\\\\" {{if x}} "', True),
        ("# a: '{{if x}}b{{end}}'", True),
        ("{a: '{{if x}}b{{end}}'}", True),
    ],
)
def test_actions_within_one_quoted_value_decide_about_no_other_line(
    line: str, is_control: bool
) -> None:
    assert has_control(line) == is_control
    assert has_control(f"a: 1\n{line}\nb: '{{{{if x}}}}c{{{{end}}}}'\n") == is_control
