"""Nothing that others wrote drives a terminal, forges a line, or hides."""

import unicodedata

import pytest

from kmerge_git.api import merge_files
from kmerge_git.errors import KmergeError
from kmerge_git.outcome import LABELS
from kmerge_git.visible import label, visible

ESCAPES = {
    "\0": r"\x00",
    "\a": r"\x07",
    "\x1b[2J": r"\x1b[2J",
    "\n": r"\n",
    "\r": r"\r",
    "\x7f": r"\x7f",
    "\x85": r"\x85",
    "\x9b": r"\x9b",
    "\u061c": r"\u061c",
    "\u200b": r"\u200b",
    "\u200e": r"\u200e",
    "\u2028": r"\u2028",
    "\u202e": r"\u202e",
    "\u2060": r"\u2060",
    "\u2066": r"\u2066",
    "\ufeff": r"\ufeff",
    "\udcff": r"\xff",
    chr(0xD83D): r"\ud83d",
}
EVIL = "".join(ESCAPES)


@pytest.mark.parametrize("evil", ESCAPES)
def test_what_is_not_to_be_seen_is_an_escape(evil):
    assert visible(f"a{evil}b") == f"a{ESCAPES[evil]}b"


@pytest.mark.parametrize(
    "text", ["", "a b", "\ttab", "Grüße", "日本", "🚀", "👩\u200d🚀", "a\u00a0b", "\\x1b", "\ue000"]
)
def test_what_people_write_stays(text):
    assert visible(text) == text


def test_no_control_character_is_left_out():
    for code in range(0x110000):
        char = chr(code)
        if unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") and char != "\t":
            assert visible(char).isprintable(), f"{code:x}"
        elif unicodedata.bidirectional(char) in ("RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "PDI"):
            assert visible(char) == f"\\u{code:04x}"


def test_a_label_is_on_one_line_with_single_spaces():
    assert label(" a\n b\tc \x1b\r\n\u2028") == r"a b c \x1b \u2028"


YAML = 'kind: Deployment\nmetadata:\n  name: we\u202eb\nspec:\n  "k\\x1b\\u0085": {0}\n'
LINES = "{{{{- {0} }}}}\n"


@pytest.mark.parametrize("form", [YAML, LINES], ids=["fields", "lines"])
@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_labels_in_the_file(form, style):
    texts = [form.replace("{0}", n).replace("{{{{", "{{").replace("}}}}", "}}") for n in "123"]
    outcome = merge_files(
        *(text.encode() for text in texts),
        labels=tuple(f"{name}{EVIL}>>>>>>> x" for name in LABELS),
        style=style,
    )
    assert not outcome.clean
    marks = [n for n in outcome.text.decode().split("\n") if n[:7] in ("<" * 7, "|" * 7, ">" * 7)]
    assert len(marks) == (2 if style == "merge" else 3)
    assert all(mark.isprintable() for mark in marks)
    assert all(r"\x1b[2J" in mark and r"\u202e" in mark and r"\xff" in mark for mark in marks)
    if form == YAML:
        assert r"Deployment/we\u202eb spec.k\x1b\x85" in marks[0]


def test_the_excerpt_of_an_error_and_its_caret():
    error = KmergeError("why", excerpt="a\x1b\t: \x9b!", column=6)
    assert error.caret().split("\n") == ["  a\\x1b\t: \\x9b!", "       \t  ^"]
