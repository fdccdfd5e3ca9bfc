"""Whatever a text is, it is rebuilt byte for byte or refused: no other error, no lost byte."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from template_texts import actions, parse

from kmerge_git.errors import Unsupported
from kmerge_git.template.template_parser import CONTROL, Block

FRAGMENTS = [
    *("{{", "}}", "{{-", "-}}", "{{- ", " -}}", "{{/*", "*/}}", "{{- /*", "*/ -}}", "{{ ", " }}"),
    *('"', "'", "`", "\\", '\\"', " ", "\n", "\t", "\r\n", "\r", "(", ")", "|", ",", ".", "$", "$x"),
    *(":=", "=", ":", "1", "-3", "0x1F", "1+2i", "a", "é", "if", "else", "end", "range", "with"),
    *("define", "block", "template", "nil", ".a", '"s"', '"}}"', "`}}`", "'}'", "[", "}", "-"),
    *("{{ end }}", "{{ if .a }}", "{{ else }}", "{{ range $i, $e := .b }}", "{{ else if .c }}"),
    *("{{ end }}\n", "{{- if .a }}\n", "{{ else }}\n", "{{- with .a }}\n", "{{- end }}\n"),
    *("{{/* c */}}", "{{ .a }}", "{{ $x := 1 }}", "a: 1\n", "- b\n", "  c:\n", "# d\n", "\ufeff", "\0"),
    *("\u2028", "\x85", "\x0c", "\ud800", "---\n", "kmTpl"),
]  # fmt: skip
SEEDS = [
    'a: 1\n{{- if and .a (eq .b "}}") }}\nb: {{ .c }}\n{{- else if .d }}\nc: 1\n{{- end }}\n',
    "{{- range $i, $e := .a }}\n- {{ $e }}\n{{- else }}\n- {{ if .b }}x{{ end }}\n{{- end }}\n",
    '{{- define "x" -}}\na: {{ template "y" . }}\n{{- end }}\n{{/* c */}}\n{{ $x := `\n` }}\n',
]
LINES = [
    *("a: 1\n", "  - b\n", "\n", "c: {{ .c }}\n", "{{- $x := .d }}\n", "{{/* e\n}} */}}\n", "}}\r\n"),
    *("f: {{ if .f }}g{{ else }}h{{ end }}\n", '  {{- include "i" . | nindent 4 }}\n', "{{ j\n. }}\n"),
]  # fmt: skip
OPENINGS = ("{{- if .a }}\n", "{{ range $i, $e := .b -}}\n", "  {{with .c}} {{/* d */}}\n")
CHANGES = st.lists(
    st.tuples(st.integers(0, 200), st.integers(0, 6), st.sampled_from(FRAGMENTS)), max_size=3
)


def changed(seed: str, changes: list[tuple[int, int, str]]) -> str:
    for at, gone, new in changes:
        seed = seed[:at] + new + seed[at + gone :]
    return seed


GRAMMAR = st.lists(st.sampled_from(FRAGMENTS), max_size=20).map("".join)
MUTATED = st.builds(changed, st.sampled_from(SEEDS), CHANGES)


Tree = list["str | tuple[str, Tree, Tree | None]"]  # a line, or an opening with one or two arms


def nested(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    block = st.tuples(st.sampled_from(OPENINGS), inner, st.none() | inner)
    return st.lists(st.sampled_from(LINES) | block, max_size=4)


TREES = st.recursive(st.lists(st.sampled_from(LINES), max_size=3), nested, max_leaves=12)


def spelled(tree: Tree) -> str:
    return "".join(part if isinstance(part, str) else spelled_block(*part) for part in tree)


def spelled_block(header: str, body: Tree, other: Tree | None) -> str:
    rest = "" if other is None else f"{{{{ else }}}}\n{spelled(other)}"
    return f"{header}{spelled(body)}{rest}{{{{- end }}}}\n"


def as_written(parts) -> Tree:
    """The tree that was read, as `TREES` has them."""
    found: Tree = []
    for part in parts:
        if isinstance(part, Block):
            arms = [as_written(arm.parts) for arm in part.arms]
            found.append((part.arms[0].header, arms[0], arms[1] if arms[1:] else None))
        else:
            found.append(part.text)
    return found


def look_through(part) -> None:
    """Hold what a tree says about itself against its text."""
    if isinstance(part, Block):
        assert part.text.endswith(part.ending)
        for arm in part.arms:
            (control,) = [a for a in actions(arm.header) if a.kind in CONTROL]
            assert (control.body, control.end - control.start) == (
                arm.action.body,
                arm.action.end - arm.action.start,
            )
            for inner in arm.parts:
                look_through(inner)
        return
    assert part.kind not in CONTROL
    assert not part.text.rstrip("\n").count("\n") or part.actions
    found = actions(part.text)
    assert [(a.start, a.end, a.kind, a.body) for a in found] == [
        (a.start, a.end, a.kind, a.body) for a in part.actions
    ]
    for start, end in part.groups:
        assert part.text.startswith("{{", start)
        assert part.text.endswith("}}", start, end)
    ends = [end for _, end in part.groups]
    assert all(end <= start for end, (start, _) in zip(ends, part.groups[1:], strict=False))


@settings(max_examples=600, deadline=None)
@given(GRAMMAR | MUTATED)
@example("".join(FRAGMENTS))
def test_a_text_is_rebuilt_or_refused(text):
    try:
        parts = parse(text)
    except Unsupported as error:
        refused = error
    else:
        refused = None
    if refused is not None:
        assert 1 <= refused.line <= text.count("\n") + 1
        return
    assert "".join(part.text for part in parts) == text
    for part in parts:
        look_through(part)


@settings(max_examples=200, deadline=None)
@given(TREES)
def test_a_tree_that_was_written_is_read(tree):
    assert as_written(parse(spelled(tree))) == tree


@settings(max_examples=100, deadline=None)
@given(MUTATED, MUTATED)
def test_what_stands_before_changes_nothing(first, second):
    """A template behind another is read as it is alone."""
    try:
        alone = [parse(f"{text}\n") for text in (first, second)]
    except Unsupported:
        return
    both = parse(f"{first}\n{second}\n")
    assert [part.text for part in both] == [part.text for parts in alone for part in parts]
