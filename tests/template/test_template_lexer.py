"""Actions are found as Go's text/template finds them, and what it refuses is refused."""

import pytest

from kmerge_git.errors import Unsupported
from kmerge_git.template.lexer import ASSIGN, COMMENT, ELSE, END, OPEN, OUTPUT, actions


def spelled(text: str) -> list[str]:
    return [text[action.start : action.end] for action in actions(text)]


@pytest.mark.parametrize(
    "text, kind, word, body",
    [
        ("{{ .a }}", OUTPUT, "", ".a"),
        ('{{ include "a" . | nindent 4 }}', OUTPUT, "include", 'include "a" . | nindent 4'),
        ('{{ template "x" }}', OUTPUT, "template", 'template "x"'),
        ("{{ if .a }}", OPEN, "if", "if .a"),
        ("{{if.a}}", OPEN, "if", "if.a"),
        ("{{ iffy }}", OUTPUT, "iffy", "iffy"),
        ("{{ if $x := .a }}", OPEN, "if", "if $x := .a"),
        ("{{ range $i, $e := .a }}", OPEN, "range", "range $i, $e := .a"),
        ('{{ define "x" }}', OPEN, "define", 'define "x"'),
        ("{{ block `x` . }}", OPEN, "block", "block `x` ."),
        ("{{ else }}", ELSE, "else", "else"),
        ("{{ else if .a }}", ELSE, "else", "else if .a"),
        ("{{end}}", END, "end", "end"),
        ("{{ $x := 1 }}", ASSIGN, "$x", "$x := 1"),
        ("{{ $x = 1 }}", ASSIGN, "$x", "$x = 1"),
        ("{{ $x }}", OUTPUT, "", "$x"),
        ("{{/* a */}}", COMMENT, "", "/* a */"),
    ],
)
def test_an_action_has_a_kind(text, kind, word, body):
    (action,) = actions(text)
    assert (action.kind, action.word, action.body) == (kind, word, body)
