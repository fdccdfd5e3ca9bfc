"""Actions are found as Go's text/template finds them, and what it refuses is refused.

The tables were held against Go 1.23: what is refused here Go refuses, too.
"""

import pytest
from template_texts import actions

from kmerge_git.errors import Unsupported
from kmerge_git.template.template_parser import (
    ASSIGN,
    COMMENT,
    ELSE,
    END,
    OPEN,
    OUTPUT,
    TOKEN,
    unset,
)


def spelled(text: str) -> list[str]:
    return [text[action.start : action.end] for action in actions(text)]


@pytest.mark.parametrize(
    "text, kind, word, body",
    [
        ("{{ .a }}", OUTPUT, "", ".a"),
        ("{{.a}}", OUTPUT, "", ".a"),
        ("{{ . }}", OUTPUT, "", "."),
        ("{{.}}", OUTPUT, "", "."),
        ("{{.|f}}", OUTPUT, "", ".|f"),
        ("{{ .5e-1 }}", OUTPUT, "", ".5e-1"),
        ("{{ -0x1F }}", OUTPUT, "", "-0x1F"),
        ('{{ include "a" . | nindent 4 }}', OUTPUT, "include", 'include "a" . | nindent 4'),
        ('{{ template "x" }}', OUTPUT, "template", 'template "x"'),
        ('{{ template "x" .a }}', OUTPUT, "template", 'template "x" .a'),
        ("{{ break }}", OUTPUT, "break", "break"),
        ("{{ continue }}", OUTPUT, "continue", "continue"),
        ("{{ (f .a).b }}", OUTPUT, "", "(f .a).b"),
        ("{{ $x }}", OUTPUT, "", "$x"),
        ("{{ $ }}", OUTPUT, "", "$"),
        ("{{ $.a.b }}", OUTPUT, "", "$.a.b"),
        ("{{ iffy }}", OUTPUT, "iffy", "iffy"),
        ("{{ .if }}", OUTPUT, "", ".if"),
        ("{{ .a | }}", OUTPUT, "", ".a |"),
        ("{{ if .a }}", OPEN, "if", "if .a"),
        ("{{if.a}}", OPEN, "if", "if.a"),
        ("{{ if(.a) }}", OPEN, "if", "if(.a)"),
        ("{{ if $x := .a }}", OPEN, "if", "if $x := .a"),
        ("{{ with .a }}", OPEN, "with", "with .a"),
        ("{{ range .a }}", OPEN, "range", "range .a"),
        ("{{ range $i, $e := .a }}", OPEN, "range", "range $i, $e := .a"),
        ('{{ define "x" }}', OPEN, "define", 'define "x"'),
        ("{{ block `x` . }}", OPEN, "block", "block `x` ."),
        ("{{ else }}", ELSE, "else", "else"),
        ("{{ else if .a }}", ELSE, "else", "else if .a"),
        ("{{ else with .a }}", ELSE, "else", "else with .a"),
        ("{{end}}", END, "end", "end"),
        ("{{ $x := 1 }}", ASSIGN, "$x", "$x := 1"),
        ("{{ $x = 1 }}", ASSIGN, "$x", "$x = 1"),
        ("{{$x:=1}}", ASSIGN, "$x", "$x:=1"),
        ("{{/* a */}}", COMMENT, "", "/* a */"),
        ("{{/* }} \n{{ */}}", COMMENT, "", "/* }} \n{{ */"),
        ("{{/**/}}", COMMENT, "", "/**/"),
    ],
)
def test_an_action_has_a_kind(text, kind, word, body):
    (action,) = actions(text)
    assert (action.start, action.end) == (0, len(text))
    assert (action.kind, action.word, action.body) == (kind, word, body)


@pytest.mark.parametrize(
    "text, before, after, body",
    [
        ("{{- .a -}}", True, True, ".a"),
        ("{{-\n.a\n-}}", True, True, ".a"),
        ("{{-\t.a\r\n-}}", True, True, ".a"),
        ("{{ .a -}}", False, True, ".a"),
        ("{{-  .a  }}", True, False, ".a"),
        ("{{-3}}", False, False, "-3"),
        ("{{ -3 }}", False, False, "-3"),
        ("{{- -3 -}}", True, True, "-3"),
        ("{{- /* a */ -}}", True, True, "/* a */"),
        ("{{- /* a */}}", True, False, "/* a */"),
        ("{{/* a */\n-}}", False, True, "/* a */"),
        ('{{ "a -}}" }}', False, False, '"a -}}"'),
    ],
)
def test_a_trim_mark_stands_beside_white_space(text, before, after, body):
    (action,) = actions(text)
    assert (action.trims_before, action.trims_after, action.body) == (before, after, body)
    assert (action.start, action.end) == (0, len(text))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a: 1\n", []),
        ("}} a {", []),
        ("a {{ .a }}{{ .b }} c", ["{{ .a }}", "{{ .b }}"]),
        ('{{ "}}" }} }}', ['{{ "}}" }}']),
        (r'{{ "\"}}" }}', [r'{{ "\"}}" }}']),
        (r'{{ "\\" }}" }}', [r'{{ "\\" }}']),
        ("{{ '}' }}", ["{{ '}' }}"]),
        (r"{{ '\'' }}", [r"{{ '\'' }}"]),
        ("{{ `{{ .a }}` }}", ["{{ `{{ .a }}` }}"]),
        ("{{ `a\n\\` }}", ["{{ `a\n\\` }}"]),
        ('{{ "{{" }}{{"}}"}}', ['{{ "{{" }}', '{{"}}"}}']),
        ("{{/* {{ .a }} */}}{{ .b }}", ["{{/* {{ .a }} */}}", "{{ .b }}"]),
        ("{{ f\n  .a\n}} b", ["{{ f\n  .a\n}}"]),
        ("{{ f\r\n  .a\r\n}}\r\n", ["{{ f\r\n  .a\r\n}}"]),
        ("\ufeff{{ .a }}\0{{ .b }}", ["{{ .a }}", "{{ .b }}"]),
        ("é{{ .é٣ }}é", ["{{ .é٣ }}"]),
        ("{{ .a }}{{ .a }}", ["{{ .a }}", "{{ .a }}"]),
        ('{{ f "}}" }}{{ f "}}`" }}', ['{{ f "}}" }}', '{{ f "}}`" }}']),
        ("{{ 0x1F }}{{ 0b1 }}{{ 1_0.5e-3 }}{{ .5 }}{{ 0x1p-2 }}{{ 1+2i }}{{ 1-2 }}", None),
        ("{{ 'a' }}{{ nil | f }}{{ f (g (h 1)) . }}", None),
    ],
)
def test_actions_end_where_go_ends_them(text, expected):
    if expected is None:
        expected = [f"{{{{{part}" for part in text.split("{{")[1:]]
    assert spelled(text) == expected


@pytest.mark.parametrize(
    "text, column",
    [
        # the lexer
        ("{{", 1),
        ("a {{ .a", 3),
        ("{{ .a }", 7),
        ("{{ .a -}", 7),
        ("{{{ .a }}", 3),
        ("{{ [1] }}", 4),
        ("{{ .a-}}", 6),
        ("{{ a-b }}", 5),
        ("{{ .a[0] }}", 6),
        ('{{ "a }}', 4),
        ('{{ "a\n" }}', 4),
        ('{{ "a\\\n" }}', 4),
        ("{{ 'a }}", 4),
        ("{{ 'a\n' }}", 4),
        ("{{ `a }}", 4),
        ('{{ "a\\', 4),
        ("{{ (.a }}", 1),
        ("{{ .a) }}", 6),
        ("{{ :a }}", 4),
        ("{{ - }}", 4),
        ("{{--}}", 3),
        ("{{ a\0 }}", 5),
        ("{{ \0 }}", 4),
        ("{{ \ufeff.a }}", 4),
        ("{{ \xa0.a }}", 4),
        ("{{ \ud800 }}", 4),
        ("{{/* a }}", 1),
        ("{{/* a */ }}", 1),
        ("{{/* a */  -}}", 1),
        ("{{/*/}}", 1),
        ("{{ /* a */}}", 4),
        ("{{-  /* a */ -}}", 6),
        # the parser
        ("{{}}", 1),
        ("{{ }}", 1),
        ("{{- -}}", 5),
        ("{{ | f }}", 1),
        ("{{ f || g }}", 1),
        ("{{ f () }}", 1),
        ("{{ a == b }}", 1),
        ("{{ f a, b }}", 1),
        ("{{ a if b }}", 1),
        ("{{ if }}", 1),
        ("{{ if $x := }}", 1),
        ("{{ $x := }}", 1),
        ("{{ $x, $y := .a }}", 1),
        ("{{ if $x, $y := .a }}", 1),
        ("{{ end if }}", 1),
        ("{{ else a }}", 1),
        ("{{ else range .a }}", 1),
        ("{{ else if }}", 1),
        ("{{ else if end }}", 1),
        ("{{ else if .a end }}", 1),
        ("{{ range $i, $e := }}", 1),
        ("{{ range $i, $e := end }}", 1),
        ('{{ template "x" end }}', 1),
        ("{{ define x }}", 1),
        ('{{ define "x" . }}', 1),
        ('{{ block "x" }}', 1),
        ("{{ template .a }}", 1),
        ('{{ template "x" | }}', 1),
        ("{{ break 1 }}", 1),
    ],
)
def test_what_go_refuses_is_refused(text, column):
    with pytest.raises(Unsupported) as caught:
        actions(text)
    assert (caught.value.line, caught.value.column) == (1, column)


@pytest.mark.parametrize("text", ["{{/* a }}", "{{- /* a */}}{{/*/}}"])
def test_a_comment_that_never_ends_is_told_as_one(text):
    with pytest.raises(Unsupported, match="a template comment is not closed"):
        actions(text)


def test_a_refusal_says_where():
    with pytest.raises(Unsupported, match="an action contains '%'") as caught:
        actions("a: 1\nb: {{ .b }}\n  c: {{ 1 % 2 }}\n")
    assert (caught.value.line, caught.value.column) == (3, 11)


@pytest.mark.parametrize("word", [TOKEN, TOKEN.upper(), TOKEN.lower(), f"x{TOKEN}1"])
def test_a_text_with_our_own_words_is_refused(word):
    with pytest.raises(Unsupported) as caught:
        actions(f"a: 1\nb: {word}\n")
    assert caught.value.line == 2
    with pytest.raises(Unsupported):
        actions(word)


@pytest.mark.parametrize(
    "string", ['"a"', "'a'", "`a`", '"a\\"b"', '"a\\\\"', "'\\''", '"`"', '`"`', "`a\\`"]
)
def test_behind_a_string(string):
    assert set(unset(enumerate(actions(f"{{{{ .x {string} $y }}}}")))) == {"$y"}
