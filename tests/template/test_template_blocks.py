"""A template as a tree of lines and blocks, rebuilt byte for byte."""

from kmerge_git.template.blocks import parse


def test_the_pieces_joined_are_the_text():
    text = "a: 1\n{{- if .a }}\nb: {{ .b }}\n{{- else }}\nc: 1\n{{- end }}\nd"
    assert "".join(part.text for part in parse(text)) == text
