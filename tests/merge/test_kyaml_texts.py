"""Rules `kyaml` on what has no fields: lines are merged, and dest's stay where both changed them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmerge_git.api import merge_files
from kmerge_git.errors import KmergeError
from kmerge_git.merge.kyaml.kyaml_merges import merge3, merge3_bytes, merge3_text
from kmerge_git.merge.kyaml.two_way import merge2_bytes
from kmerge_git.merge.three import Three

# original, dest, updated, the result, lines that are told
CLASH = ("a: {{ .o }}\nb: 1\nc: 1\n", "a: {{ .d }}\nb: 1\nc: 1\n", "a: {{ .u }}\nb: 1\nc: 2\n")
THREE_WAY = {
    "nobody loses": ("a: {{ .a }}\nb: 1\nc: 1\n", "a: {{ .b }}\nb: 1\nc: 1\n", "a: {{ .a }}\nb: 1\nc: 2\n", "a: {{ .b }}\nb: 1\nc: 2\n", []),
    "both changed a line": (*CLASH, "a: {{ .d }}\nb: 1\nc: 2\n", ["[line 1]"]),
    "a null inside clears nothing": ("a: {{ .a }}\nc:\nb: 1\n", "a: {{ .b }}\nc:\nb: 1\n", "a: {{ .a }}\nc:\nb: 2\n", "a: {{ .b }}\nc:\nb: 2\n", []),
    "neighbouring lines": ("a: {{ .a }}\nb: 1\n", "a: {{ .b }}\nb: 1\n", "a: {{ .a }}\nb: 2\n", "a: {{ .b }}\nb: 1\n", ["[line 1]"]),
    "an action in a comment": ("# {{ if .x }}\na: 1\n# {{ end }}\nb: 1\n", "# {{ if .y }}\na: 1\n# {{ end }}\nb: 1\n", "# {{ if .x }}\na: 1\n# {{ end }}\nb: 2\n", "# {{ if .y }}\na: 1\n# {{ end }}\nb: 2\n", []),
    "in another document": ("a: {{ .a }}\n---\nb: 1\nc: 1\n", "a: {{ .b }}\n---\nb: 2\nc: 1\n", "a: {{ .a }}\n---\nb: 3\nc: 1\n", "a: {{ .b }}\n---\nb: 2\nc: 1\n", ["[line 3]"]),
    "one that does not parse": ("{{- if .a }}\nb: 1\n{{- end }}\n", "{{- if .b }}\nb: 1\n{{- end }}\n", "{{- if .c }}\nb: 1\n{{- end }}\n", "{{- if .b }}\nb: 1\n{{- end }}\n", ["[line 1]"]),
    "a key that is a list": ("? [a]\n: 1\nb: 1\nc: 1\n", "? [a]\n: 2\nb: 1\nc: 1\n", "? [a]\n: 3\nb: 1\nc: 2\n", "? [a]\n: 2\nb: 1\nc: 2\n", ["[line 2]"]),
    "a repeated key": ("a: 1\na: 0\nb: 1\n", "a: 2\na: 0\nb: 1\n", "a: 3\na: 0\nb: 2\n", "a: 2\na: 0\nb: 2\n", ["[line 1]"]),
    "new on both sides": ("", "a: {{ .d }}\n", "a: {{ .u }}\n", "a: {{ .d }}\n", ["[line 1]"]),
    "lines would repeat a key": ("? [a]\n: 1\nb: 1\nc: 1\n", "x: 1\n? [a]\n: 1\nb: 1\nc: 1\n", "? [a]\n: 1\nb: 1\nc: 1\nx: 2\n", "x: 1\n? [a]\n: 1\nb: 1\nc: 1\n", [""]),
}  # fmt: skip


@pytest.mark.parametrize("case", THREE_WAY.values(), ids=THREE_WAY)
def test_three_way(case):
    *texts, expected, told = case
    original, dest, updated = (text.encode() for text in texts)
    merged = merge3_bytes(Three(original, dest, updated))
    assert merged.data.decode() == expected
    assert [d.path for d in merged.lost] == told
    assert all(d.side == "ours" for d in merged.lost)
    assert merged.reason
    assert "render" not in merged.reason  # nobody is to mend a template
    driven = merge_files(original, dest, updated, rules="kyaml")
    assert (driven.text, driven.clean, driven.method) == (merged.data, True, "lines")
    assert [d.path for d in driven.decisions] == told
    again = merge3_bytes(Three(original, merged.data, updated))
    assert again.data == merged.data, "applied twice"


def test_what_is_told():
    (lost,) = merge3_bytes(Three(*(text.encode() for text in CLASH))).lost
    assert (lost.what, lost.ours, lost.theirs) == (
        "both sides changed these lines; the lines of `dest` are kept",
        "a: {{ .d }}\n",
        "a: {{ .u }}\n",
    )


@pytest.mark.parametrize(
    "dest, src",
    [
        ("a: {{ .d }}\nb: 1\n", "a: {{ .s }}\nb: 1\n"),
        ("a: {{ .d }}\nb: 1\n", "b: 2\n"),
        ("a: 1\n", "a: {{ .s }}\n"),
        ("a: 1\nb: null\n", "# {{ if .x }}\na: 2\n"),
        ("a: 1\n", "{{- if .x }}\na: 2\n{{- end }}\n"),
        ("? [a, b]\n: 1\n", "? [a, b]\n: 2\n"),
    ],
)
def test_two_way_dest_is_kept_and_it_is_told(dest, src):
    merged = merge2_bytes(src.encode(), dest.encode())
    assert merged.data.decode() == dest
    assert [d.side for d in merged.lost] == ["ours"]
    same = merge2_bytes(dest.encode(), dest.encode()) if "{{" in dest or "?" in dest else None
    assert same is None or (same.data.decode() == dest and not same.lost)


def test_two_way_a_template_that_both_have_is_not_looked_into():
    """What reads as a null there would clear a field of itself."""
    dest = b"a: {{ .x }}\n---\nkind: A\nb: 1\n"
    merged = merge2_bytes(b"a: {{ .x }}\n---\nkind: A\nb: 2\n", dest)
    assert merged.data == dest
    assert merged.lost


def test_two_way_refuses_a_repeated_key():
    with pytest.raises(KmergeError, match="duplicate key"):
        merge2_bytes(b"a: 1\n", b"a: 1\na: 2\n")


def test_what_is_broken_without_an_action_is_an_error():
    with pytest.raises(KmergeError, match="not YAML"):
        merge3_bytes(Three(b"a: [\n", b"a: [[\n", b"a: [[[\n"))


@pytest.mark.parametrize(
    "original, dest, updated, expected, told",
    [
        (b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n", b"A\nb\nC\n", 0),
        (b"a\nb\n", b"mine\nb\n", b"theirs\nb\nc\n", b"mine\nb\nc\n", 1),
        (b"a\nb\n", b"a\nb\nmine\n", b"a\nb\ntheirs\n", b"a\nb\nmine\n", 1),
        (b"a\r\nx\r\nb\r\n", b"A\r\nx\r\nb\r\n", b"a\nx\nB\n", b"A\nx\nB\n", 0),
        (b"\xe9\nx\nb\n", b"\xe9\nx\nB\n", b"\xe8\nx\nb\n", b"\xe8\nx\nB\n", 0),
        (b"\xe9\n", b"\xe8\n", b"\xea\n", b"\xe8\n", 1),
        (b"\0a\n", b"\0b\n", b"\0c\n", b"\0b\n", 1),
        (b"\0a\n", b"\0a\n", b"\0c\n", b"\0c\n", 0),
        (b"x\n", b"# d\nx\n", b"x\n# u\n", b"# d\nx\n# u\n", 0),
        (b"a", b"a", b"b", b"b", 0),
    ],
)
def test_other_texts(original, dest, updated, expected, told):
    merged = merge3_text(Three(original, dest, updated))
    assert (merged.data, len(merged.lost)) == (expected, told)


LINES = st.lists(st.sampled_from("abc"), max_size=5).map(
    lambda found: "".join(f"{x}\n" for x in found)
)


@given(original=LINES, dest=LINES, updated=LINES)
def test_lines_of_dest_are_never_overwritten(original, dest, updated):
    at = Three(original.encode(), dest.encode(), updated.encode())
    merged = merge3_text(at)
    if dest == original:
        assert merged.data == at.theirs
    for word in "abc":  # only what updated took away itself may be gone
        fewer = max(original.count(word) - updated.count(word), 0)
        assert merged.data.decode().count(word) >= dest.count(word) - fewer or merged.lost
    assert merged.lost or updated == original or merged.data != at.ours or dest == updated


def test_what_both_added_behind_other_changes_is_there_once():
    """Where the two comparisons lay lines side by side differently, git's merge knows better."""
    block = "{{- if .x }}\np: {{ .x }}\n{{- end }}\n"
    base = "a: 1\n{{- end }}\n{{- if .y }}\nq: {{ .y }}\n{{- end }}\nz: 1\n"
    dest = base.replace("z: 1\n", block + "z: 1\n")
    merged = merge3_bytes(
        Three(base.encode(), dest.encode(), dest.replace("a: 1", "a: 2").encode())
    )
    assert merged.data.decode() == dest.replace("a: 1", "a: 2")


@pytest.mark.parametrize("between", ["", "c: 1\nd: 1\ne: 1\n"])
def test_no_alias_gets_another_anchor(between: str) -> None:
    """Updated has a second anchor of the name before an alias that only dest has."""
    base = f"a: &k 1\nb: 1\n{between}z: 1\n"
    dest = base.replace("z: 1", "z: *k")
    assert merge3(base, base.replace("b: 1", "b: &k 2"), dest) == dest
    taken = merge3(base, base.replace("b: 1", "b: &j 2"), dest)
    assert taken.endswith("z: *k\n") and "b: &j 2" in taken
    theirs = base.replace("b: 1", "b: &k 2")
    driven = merge_files(base.encode(), dest.encode(), theirs.encode(), rules="kyaml")
    assert not driven.clean
