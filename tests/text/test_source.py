"""Bytes to text and back: every spelling survives, every unreadable input is a clean error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmerge_git.errors import CannotParse
from kmerge_git.text.source import LONGEST_LINE, Source


@pytest.mark.parametrize(
    "data, text, eol, bom, final_newline",
    [
        (b"", "", "\n", False, True),
        (b"a\n", "a\n", "\n", False, True),
        (b"a", "a\n", "\n", False, False),
        (b"a\r\nb\r\n", "a\nb\n", "\r\n", False, True),
        (b"a\r\nb", "a\nb\n", "\r\n", False, False),
        (b"\xef\xbb\xbfa\n", "a\n", "\n", True, True),
        (b"\xef\xbb\xbf", "", "\n", True, True),
        ("é😀\n".encode(), "é😀\n", "\n", False, True),
        # mixed line ends are left alone
        (b"a\r\nb\n", "a\r\nb\n", "", False, True),
        (b"a\rb\r\n", "a\rb\r\n", "", False, True),
        (b"a\nb\r\nc", "a\nb\r\nc\n", "", False, False),
        # libyaml breaks lines here, we do not
        ("a\x85b\u2028c\n".encode(), "a\x85b\u2028c\n", "\n", False, True),
    ],
)
def test_bytes_to_text_and_back(data, text, eol, bom, final_newline):
    source = Source(data)
    assert (source.text, source.eol, source.bom) == (text, eol, bom)
    assert source.final_newline == final_newline
    assert source.encode(source.text) == data


@given(st.lists(st.sampled_from(["a", "é", "\n", "\r\n", "\r", " ", "\t", "\ufeff", "\u2028"])))
def test_any_text_comes_back_byte_for_byte(parts):
    data = "".join(parts).encode()
    try:
        source = Source(data)
    except CannotParse:
        refused = True
    else:
        refused = False
        assert source.encode(source.text) == data
        assert source.text == "" or source.text.endswith("\n")
    assert refused == data.endswith(b"\r")


@given(st.binary(max_size=40))
def test_any_bytes_are_text_or_a_clean_error(data):
    try:
        source = Source(data, "f.yaml")
    except CannotParse as error:
        message = str(error)
    else:
        message = ""
        assert source.encode(source.text) == data
    assert not message or message.startswith("f.yaml:")


def test_a_changed_text_is_written_in_the_spelling_of_the_file():
    assert Source(b"\xef\xbb\xbfa: 1\r\nb: 2").encode("a: 1\nb: 3\nc: 4\n") == (
        b"\xef\xbb\xbfa: 1\r\nb: 3\r\nc: 4"
    )
    assert Source(b"a\r\nb").encode("a\n") == b"a"
    assert Source(b"a\nb\r\nc").encode("a\nb\r\n") == b"a\nb"  # no lone CR is left behind


@pytest.mark.parametrize(
    "data, line, column, why",
    [
        (b"a: 1\nb: \xff\n", 2, 4, "byte 0xff is not UTF-8"),
        ("a: é".encode()[:-1], 1, 4, "byte 0xc3 is not UTF-8"),  # truncated in a character
        (b"a: \xed\xa0\x80\n", 1, 4, "byte 0xed is not UTF-8"),  # half of a UTF-16 pair
        (b"\xe9t\xe9\n", 1, 1, "byte 0xe9 is not UTF-8"),  # Latin-1
        (b"a: 1\nb: \0\n", 2, 4, "the file is binary: it contains a NUL byte"),
        ("a: 1\n".encode("utf-16"), 0, 0, "the file is UTF-16"),
        (b"\xfe\xff\x00a", 0, 0, "the file is UTF-16"),
        (b"a: 1\r", 0, 0, "the file ends with a lone carriage return"),
        (b"a: 1\n" + b"x" * (LONGEST_LINE + 1), 0, 0, "a line is longer than 8 MiB"),
        (b"x" * (50 << 20), 0, 0, "a line is longer than 8 MiB"),
    ],
)
def test_what_is_no_text_is_refused_with_its_place(data, line, column, why):
    with pytest.raises(CannotParse) as caught:
        Source(data, "dir/f.yaml")
    error = caught.value
    assert (error.path, error.line, error.column, error.why) == ("dir/f.yaml", line, column, why)
    assert error.hint


def test_many_short_lines_may_be_long_together():
    assert Source(b"a: 1\n" * (LONGEST_LINE // 5 + 10)).text.startswith("a: 1\n")


@pytest.mark.parametrize(
    "text, offset, position, line",
    [
        ("a\nbc\n", 0, (1, 1), "a"),
        ("a\nbc\n", 1, (1, 2), "a"),
        ("a\nbc\n", 3, (2, 2), "bc"),
        ("é😀x\n", 2, (1, 3), "é😀x"),  # characters, not bytes
        ("a\u2028b\n", 2, (1, 3), "a\u2028b"),  # one line to everybody but YAML
    ],
)
def test_positions_count_lines_and_characters_from_one(text, offset, position, line):
    source = Source(text.encode())
    assert source.position(offset) == position
    assert source.line_at(offset) == line


def test_positions_may_be_asked_for_in_any_order():
    text = "a\n\nbc\nd\n"
    source = Source(text.encode())
    offsets = [n * 7 % len(text) for n in range(3 * len(text))]
    for offset in offsets:
        before = text[:offset].split("\n")
        assert source.position(offset) == (len(before), len(before[-1]) + 1)


def test_an_error_shows_the_line_with_a_caret():
    error = Source(b"a: 1\n\tb: 2\n", "f.yaml").error("no tabs", 6, "use spaces")
    assert str(error) == "f.yaml:2:2: no tabs; use spaces"
    assert error.caret() == "  \tb: 2\n  \t^"
