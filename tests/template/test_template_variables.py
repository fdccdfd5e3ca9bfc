"""Which variables are used where nobody sets them, and what blocks are about."""

from __future__ import annotations

import pytest
from template_texts import actions, parse

from kmerge_git.errors import Unsupported
from kmerge_git.merge.three import Three
from kmerge_git.template.template_guards import refuse_other_dot
from kmerge_git.template.template_parser import Block, unset


@pytest.mark.parametrize(
    ("made", "is_unset"),
    [
        ("{{ $a := 1 }}{{ $a }}", False),
        ("{{ $a }}{{ $a := 1 }}", True),
        ("{{ $a := f $a }}", True),
        ("{{ if .x }}{{ $a := 1 }}{{ $a }}{{ end }}", False),
        ("{{ if .x }}{{ $a := 1 }}{{ end }}{{ $a }}", True),
        ("{{ $a := 1 }}{{ if .x }}{{ $a := 2 }}{{ end }}{{ $a }}", False),
        ("{{ if $a := .x }}{{ $a }}{{ else }}{{ $a }}{{ end }}", False),
        ("{{ $a := 1 }}{{ if .x }}{{ if .y }}{{ $a }}{{ end }}{{ $a }}{{ end }}", False),
        ('{{ $a := 1 }}{{ define "x" }}{{ $a }}{{ end }}', True),
        ('{{ $a := 1 }}{{ block "x" . }}{{ $a }}{{ end }}', True),
        ('{{ define "x" }}{{ $a := 1 }}{{ end }}{{ $a }}', True),
        ('{{ $a := 1 }}{{ define "x" }}{{ $ }}{{ end }}{{ $a }}', False),
        ("{{ range $a, $b := .x }}{{ $a }}{{ $b }}{{ end }}", False),
        ("{{ if eq (f $a) `:=` }}{{ end }}", True),
        ('{{ if eq $a "(:=" }}{{ end }}', True),
        ('{{ if eq $a ":=" }}{{ end }}', True),
        ('{{ "$a" }}{{ `$a` }}{{/* $a */}}', False),
    ],
)
def test_a_variable_that_nobody_sets(made, is_unset):
    assert [*unset(enumerate(actions(made)))] == (["$a"] if is_unset else [])


def arm(header: str, *lines: str):
    (block,) = parse("\n".join((f"{{{{ {header} }}}}", *lines, "{{ end }}\n")))
    assert isinstance(block, Block)
    return block.arms[0]


@pytest.mark.parametrize(
    ("word", "changed", "used", "is_refused"),
    [
        ("with", "with .b", "a: {{ .x }}", True),
        ("range", "range .b", "a: {{ .x }}", True),
        ("with", "with .a", "a: {{ .x }}", False),
        ("with", "with .b", "a: {{ $.x }}", False),
        ("with", "with .b", "a: {{ $x }}", True),
        ("with", "with .b", "b: {{ .y }}", False),
        ("if", "if .b", "a: {{ .x }}", False),
    ],
)
def test_a_block_about_something_else_and_a_new_use_of_its_dot(word, changed, used, is_refused):
    base = arm(f"{word} .a", "b: {{ .y }}")
    ours, theirs = arm(changed, "b: {{ .y }}"), arm(f"{word} .a", "b: {{ .y }}", used)
    for at in (Three(base, ours, theirs), Three(base, theirs, ours)):
        if is_refused:
            with pytest.raises(Unsupported):
                refuse_other_dot(word, at)
        else:
            refuse_other_dot(word, at)
