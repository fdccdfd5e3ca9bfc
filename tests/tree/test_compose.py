"""Nodes have exact spans. Each trap of libyaml's marks has a test here that names it."""

import sys
from importlib import import_module

import pytest
import ruamel.yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from spans import assert_identity, nodes
from strategies import files, randoms

from kmerge_git import tree
from kmerge_git.errors import CannotParse, Unsupported
from kmerge_git.text.source import Source
from kmerge_git.tree import compose, parser
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Alias, Collection, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.plain_values import load


def root(text: str) -> Node:
    assert_identity(text.encode())
    (document,) = split(Source(text.encode())).documents
    assert document.root is not None
    return document.root


def raws(text: str) -> list[str]:
    """The characters of all leaves, in order."""
    return [node.raw for node in nodes(root(text)) if not isinstance(node, Collection)]


# The traps


def test_trap_marks_count_characters_and_not_bytes():
    assert raws("é: 'ö'\n日本: 😀 x\nz: 1\n") == ["é", "'ö'", "日本", "😀 x", "z", "1"]


def test_trap_marks_do_not_count_a_byte_order_mark():
    data = "\ufeffa: é\nb: 2\n".encode()
    assert_identity(data)
    top = split(Source(data)).documents[0].root
    assert [node.raw for node in nodes(top)][1:] == ["a", "é", "b", "2"]


def test_trap_marks_count_from_the_start_of_the_parsed_text():
    source = Source(b"# prologue\n---\na: 1\n--- # two\nb: [x]\n--- |\n  text\n%YAML 1.1\n---\n")
    with pytest.raises(CannotParse):  # a directive has to stand behind `...`
        _ = split(source).roots
    documents = split(
        Source(b"# prologue\n---\na: 1\n--- # two\nb: [x]\n--- |\n  text\n")
    ).documents
    leaves = [[n.raw for n in nodes(d.root) if not isinstance(n, Collection)] for d in documents]
    assert leaves == [["a", "1"], ["b", "x"], ["|\n  text"]]


def test_trap_the_end_of_a_block_collection_runs_past_comments_and_blank_lines():
    text = "a:\n  b:\n  - 1\n  - 2\n\n  # behind\n\n# more\nc: 3\n"
    top = root(text)
    assert top.get("a").raw == "b:\n  - 1\n  - 2"
    assert top.get("a").get("b").raw == "- 1\n  - 2"


@pytest.mark.parametrize(
    "scalar, raw, value",
    [
        # clip, strip, keep
        ("|\n  x\n\n\n", "|\n  x", "x\n"),
        ("|-\n  x\n\n\n", "|-\n  x", "x"),
        ("|+\n  x\n\n\n", "|+\n  x\n\n", "x\n\n\n"),
        (">\n  x\n  y\n\n", ">\n  x\n  y", "x y\n"),
        (">+\n  x\n\n", ">+\n  x\n", "x\n\n"),
        # explicit indentation, in both orders of the header, with a comment
        ("|2\n    x\n\n", "|2\n    x", "  x\n"),
        ("|2-\n    x\n", "|2-\n    x", "  x"),
        ("|-2\n    x\n", "|-2\n    x", "  x"),
        ("|+2 # + comment\n    x\n\n", "|+2 # + comment\n    x\n", "  x\n\n"),
        ("| # + comment\n  x\n\n", "| # + comment\n  x", "x\n"),
        # lines of blanks only: deeper than the content they are content
        ("|\n  x\n    \n", "|\n  x\n    ", "x\n  \n"),
        ("|\n  x\n  \n", "|\n  x", "x\n"),
        ("|\n  x\n \n\n", "|\n  x", "x\n"),
        ("|2\n    x\n   \n", "|2\n    x\n   ", "  x\n \n"),
        ("|2\n   \n\n", "|2\n   ", " \n"),
        (">2\n\n    x\n  y\n", ">2\n\n    x\n  y", "\n  x\ny\n"),
        ("|\n\n  x\n", "|\n\n  x", "\nx\n"),
        ("|\n  x\n\n  y\n", "|\n  x\n\n  y", "x\n\ny\n"),
        # nothing but a header
        ("|\n", "|", ""),
        ("|\n\n\n", "|", ""),
        ("|-\n", "|-", ""),
        ("|+\n\n", "|+\n", "\n"),
        ("&a !t |\n  x\n\n", "&a !t |\n  x", "x\n"),
        # content that looks like something else
        ("|\n  # no comment\n", "|\n  # no comment", "# no comment\n"),
        ("|\n  x: [\n", "|\n  x: [", "x: [\n"),
    ],
)
@pytest.mark.parametrize(
    "around", ["k: {}", "- {}", "k: {}# c\nz: 1\n", "- {}- z\n", "m:\n- k: {}  z: 1\n"]
)
def test_trap_the_end_of_a_block_scalar_includes_trailing_blank_lines(scalar, raw, value, around):
    if around.startswith("m:"):  # two columns deeper
        scalar, raw = (part.replace("\n  ", "\n    ") for part in (scalar, raw))
        if scalar.startswith("|2\n"):
            return  # counted from the parent
    top = root(around.replace("{}", scalar, 1))
    found = [n for n in nodes(top) if isinstance(n, Scalar) and n.style]
    assert [(n.raw, n.value) for n in found] == [(raw, value)]


def test_trap_the_last_line_of_a_block_scalar_may_have_no_end():
    data = b"a: |\n  x\n  y"
    assert_identity(data)
    assert split(Source(data)).documents[0].root.get("a").raw == "|\n  x\n  y"


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\u2029"])
def test_trap_libyaml_breaks_lines_where_nobody_else_does(odd):
    assert raws(f"a: 'x{odd}y'\nb: 2\n") == ["a", f"'x{odd}y'", "b", "2"]
    assert raws(f"a: |\n  x{odd}  y\nb: 2\n")[-2:] == ["b", "2"]


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\u2029", "\r", "\ufeff"])
@pytest.mark.parametrize(
    "text",
    ["a: 1 # x{}b: 2\n", "a: 1{}b: 2\n", "a:{}  b: 2\n", "{}a: 1\n", "- x\n{}- y\n", "a: |{}  x\n"],
)
def test_trap_an_odd_line_break_between_nodes_is_refused(odd, text):
    with pytest.raises(CannotParse) as caught:
        assert_identity(b"z: 1\n---\n" + text.replace("{}", odd).encode())
    assert caught.value.line >= 3


def test_trap_an_alias_is_composed_to_the_node_of_its_anchor():
    top = root("a: &x [1, 2]\nb: *x\nc:\n- *x\n- {k: *x}\n*x : d\n")
    aliases = [node for node in nodes(top) if isinstance(node, Alias)]
    assert [(alias.raw, alias.name) for alias in aliases] == [("*x", "x")] * 4
    assert [alias.start for alias in aliases] == [16, 24, 33, 37]
    assert top.get("a").anchor == "x"


def test_trap_an_alias_that_ends_a_collection_is_not_where_its_anchor_is():
    text = "a:\n-\n - &b 1\n - x\n- *b\nc: 2\n"
    assert root(text).get("a").raw == "-\n - &b 1\n - x\n- *b"
    assert root("k:\n  &x a: 1\n  *x : 2\nz: 3\n").get("k").raw == "&x a: 1\n  *x : 2"


def test_trap_repeated_keys_survive():
    top = root("a: 1\nb: 2\na: 3\n")
    assert [(entry.name, entry.value.raw) for entry in top.entries] == [
        ("a", "1"),
        ("b", "2"),
        ("a", "3"),
    ]
    assert top.get("a").raw == "3"


def test_trap_a_template_may_parse_without_an_error():
    top = root("a: {{ .Values.x }}\nb: 1\n")
    assert isinstance(top.get("a"), Mapping)
    assert top.get("a").raw == "{{ .Values.x }}"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{" * 100_000,
        "[" * 50_000 + "]" * 50_000,
        '{"a":' * 50_000,
        "- " * 100_000,
        "-   " * 60_000 + "x",
        "? " * 60_000,
        "?\t" * 60_000 + "x",
        "".join(" " * n + "a:\n" for n in range(2_000)),
        "".join(" " * n + "-\n" for n in range(2_000)),
        "".join("\r" + " " * n + "-" for n in range(2_000)),
        "".join("\u2028" + " " * n + "-" for n in range(2_000)),
        "".join("\x85" + " " * n + "-" for n in range(2_000)),
        "a: " + "!t [" * 60_000,
    ],
    ids=lambda text: text[:12],
)
def test_trap_deep_nesting_is_refused_before_it_crashes_the_interpreter(text):
    with pytest.raises(CannotParse) as caught:
        _ = split(Source(text.encode(), "deep.yaml")).roots
    assert "deeper than 200 levels" in caught.value.why or "\t" in text


@pytest.mark.parametrize("depth, fits", [(199, True), (200, True), (201, False)])
@pytest.mark.parametrize("opening", ["[", "- ", "{a: ", "? "])
def test_the_depth_that_is_allowed_is_exact(opening, depth, fits):
    closing = {"[": "]", "{a: ": "}"}.get(opening, "")
    text = opening * depth + "x" + closing * depth + "\n"
    if fits:
        assert_identity(text.encode())
    else:
        with pytest.raises(CannotParse, match="are nested deeper than"):
            assert_identity(text.encode())


def test_long_prose_that_is_not_deep_is_no_trouble():
    text = "a: |\n" + "".join(f"  {' ' * n}text [ {{\n" for n in range(300))
    assert not parser.may_be_deep("a: 1\n")
    assert parser.may_be_deep(text)
    assert_identity(text.encode())


def test_trap_offsets_are_the_same_with_every_line_end():
    text = "a: 1\nb:\n- 'x\n  y'\n- |\n  z\n"
    expected = [node.raw for node in nodes(root(text))]
    data = text.replace("\n", "\r\n").encode()
    assert_identity(data)
    assert [node.raw for node in nodes(split(Source(data)).documents[0].root)] == expected


def test_mixed_line_ends_keep_their_carriage_returns():
    data = b"a: 1\r\nb:\n- x\r\n- |\r\n  y\r\nc: 'p\r\n  q'\n"
    assert_identity(data)
    top = split(Source(data)).documents[0].root
    assert [n.raw for n in nodes(top)][1:] == [
        "a",
        "1",
        "b",
        "- x\r\n- |\r\n  y",
        "x",
        "|\r\n  y",
        "c",
        "'p\r\n  q'",
    ]


# What nodes say


@pytest.mark.parametrize(
    "text, leaves",
    [
        ("a: 1\n", ["a", "1"]),
        ("a:\nb:\n", ["a", "", "b", ""]),
        ("a: plain over\n  two lines # c\nb: 1\n", ["a", "plain over\n  two lines", "b", "1"]),
        ("a: 'it''s\n\n  two'\n", ["a", "'it''s\n\n  two'"]),
        ('a: "x\\\n  y"\n', ["a", '"x\\\n  y"']),
        ("a: [x, 'y', \"z\"]\n", ["a", "x", "'y'", '"z"']),
        ("{a: 1, b: [], c: }\n", ["a", "1", "b", "c", ""]),
        ("a: [ # c\n  x, # d\n  y # e\n  ]\n", ["a", "x", "y"]),
        ("[a: b, {c: d}: e, ? f]\n", ["a", "b", "c", "d", "e", "f", ""]),
        ("[&x a: b, *x : c]\n", ["&x a", "b", "*x", "c"]),
        ('{"a":1}\n', ['"a"', "1"]),
        ("a: !!str 1\nb: !x &y z\nc: &w !v\n", ["a", "!!str 1", "b", "!x &y z", "c", "&w !v"]),
        ("a: !<tag:yaml.org,2002:str> 1\n", ["a", "!<tag:yaml.org,2002:str> 1"]),
        ("&k a: 1\n", ["&k a", "1"]),
        ("? a\n: b\n? c\nd: e\n", ["a", "b", "c", "", "d", "e"]),
        ("? |\n  a\n: - b\n", ["|\n  a", "b"]),
        ("? a # no: value\n? b\n", ["a", "", "b", ""]),
        ("a: # c\n  # d\n  b\n", ["a", "b"]),
        ("a:\t1\nb: \t 2\t# c\n", ["a", "1", "b", "2"]),
        ("? a\n:: b\n? c\n:d: e\n", ["a", "", ":", "b", "c", "", ":d", "e"]),
        ('{"a":# c\n}\n', ['"a"', ""]),
        ("- - - a\n    - b\n- c\n", ["a", "b", "c"]),
        ("-\n  a\n-\n- b\n", ["a", "", "b"]),
        ("- ? a\n- : b\n", None),
        ("a : 1\n'b' : 2\n", ["a", "1", "'b'", "2"]),
        ("k: {a:1}\n", ["k", "a:1", ""]),
        ("--- |\n  x\n", ["|\n  x"]),
        ("--- 'x'\n", ["'x'"]),
        ("x\n", ["x"]),
        ("a: b: c\n", None),
        ("a:\n- b\n c: d\n", None),
    ],
)
def test_the_leaves_of_a_document(text, leaves):
    if leaves is None:
        with pytest.raises(CannotParse):
            root(text)
    else:
        assert raws(text) == leaves


@pytest.mark.parametrize(
    "text, kind, style, value",
    [
        ("a", Scalar, "", "a"),
        ("'a'", Scalar, "'", "a"),
        ('"a\\n"', Scalar, '"', "a\n"),
        ("|\n  a\n", Scalar, "|", "a\n"),
        (">-\n  a\n  b\n", Scalar, ">", "a b"),
        ("[]", Sequence, None, None),
        ("{}", Mapping, None, None),
    ],
)
def test_the_kind_and_style_of_a_node(text, kind, style, value):
    node = root(f"k: {text}\n").get("k")
    assert type(node) is kind
    if kind is Scalar:
        assert (node.style, node.value) == (style, value)
    else:
        assert node.flow


@pytest.mark.parametrize(
    "text, anchor, tag, content",
    [
        ("k: &a v\n", "a", "", "v"),
        ("k: !t v\n", "", "!t", "v"),
        ("k: &a !t v\n", "a", "!t", "v"),
        ("k: !t &a v\n", "a", "!t", "v"),
        ("k: &a\n  v\n", "a", "", "v"),
        ("k: &a # c\n  v\n", "a", "", "v"),
        ("k: &a-b_1 [v]\n", "a-b_1", "", "[v]"),
        ("k: !<x:y> {v: 1}\n", "", "!<x:y>", "{v: 1}"),
        ("k: &a\n  v: 1\n", "a", "", "v: 1"),
        ("k: &a\n  !t v: 1\n", "a", "", "!t v: 1"),
        ("k: &a\n- v\n", "a", "", "- v"),
        ("k: &a\n", "a", "", ""),
        ("k: !t\n", "", "!t", ""),
        ("k: &a |\n  v\n", "a", "", "|\n  v"),
    ],
)
def test_properties_stand_before_the_content(text, anchor, tag, content):
    node = root(text).get("k")
    assert (node.anchor, node.tag, node.text[node.content : node.end]) == (anchor, tag, content)


def test_the_anchor_of_a_key_is_not_the_mappings():
    top = root("&x a: 1\n")
    assert (top.anchor, top.entries[0].key.anchor) == ("", "x")


def test_a_document_of_comments_has_no_root():
    for text in ("", "# x\n", "---\n# x\n", "---\n", "\n\n"):
        assert_identity(text.encode())
        assert all(document.root is None for document in split(Source(text.encode())).documents)


def test_keys_have_names():
    top = root("1: a\n'1': b\n? [c]\n: d\n")
    assert [entry.name for entry in top.entries] == ["1", "1", "[c]"]
    assert top.get("1").raw == "b"
    assert top.get("nothing") is None


# Errors


@pytest.mark.parametrize(
    "text, place, why, hint",
    [
        ("a: [1\nb: 2\n", (2, 2), "did not find expected ',' or ']'", "fix the YAML"),
        (
            "a:\n\tb: 1\n",
            (2, 1),
            "found character that cannot start any token",
            "indent with spaces, not with tabs",
        ),
        ("a: *x\n", (1, 4), "found undefined alias", "define the anchor before the alias"),
        ("a: {{ x }} y\n", (1, 12), "did not find expected", "render the template first"),
        ("{{- if x }}\na: 1\n", (1, 3), "", "render the template first"),
        ("a: 'x\n", (1, 6), "found unexpected end of stream", "fix the YAML"),
        ("a: @x\n", (1, 4), "found character that cannot start any token", "fix the YAML"),
        (
            "a: 1\n b: 2\n",
            (2, 3),
            "mapping values are not allowed in this context",
            "fix the YAML",
        ),
        ("a: b: c\n", (1, 5), "mapping values are not allowed in this context", "fix the YAML"),
        ("a: \x01\n", (1, 4), "control characters are not allowed", "remove the control character"),
        (
            "a: é\nb: \x7f\n",
            (2, 4),
            "control characters are not allowed",
            "remove the control character",
        ),
        (
            "a: \ufffe\n",
            (1, 4),
            "control characters are not allowed",
            "remove the control character",
        ),
        (
            "<<<<<<< ours\na: 1\n=======\n",
            (2, 2),
            "mapping values are not allowed",
            "resolve the conflict first",
        ),
    ],
)
def test_an_error_says_where_and_what_to_do(text, place, why, hint):
    data = b"# first\n---\nz: 1\n---\n" + text.encode()  # four lines above
    with pytest.raises(CannotParse) as caught:
        _ = split(Source(data, "f.yaml")).roots
    error = caught.value
    assert (error.line - 4, error.column) == place
    assert why in error.why
    assert error.hint == hint
    lines = data.decode().split("\n")
    assert error.excerpt == lines[error.line - 1]
    assert str(error) == f"f.yaml:{error.line}:{error.column}: {error.why}; {hint}"
    if error.excerpt:
        assert error.caret().split("\n")[1].index("^") == error.column + 1


# fmt: off
PIECES = [
    *("a", "k: v\n", "- i\n", ": ", ":", "- ", "-", "? ", "?", "\n", "\n  ", "\n    ", " ", "\t"),
    *("# c", "\r", "\r\n", "&x ", "*x", "!t ", "!!str ", "!<v:x> ", "|", "|-", "|+2", ">", "<<: "),
    *("'q'", '"q"', "'q\n  r'", "[", "]", "{", "}", ",", "---\n", "--- ", "...\n", "%YAML 1.1\n"),
    *("\u2028", "\x85", "\ufeff", "é", "😀", "\x00", "\x07"),
]
# fmt: on


def assert_clean(error: CannotParse | Unsupported) -> None:
    assert error.why
    assert error.hint


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_any_text_has_a_tree_with_exact_spans_or_a_clean_error(text):
    data = text.encode()
    try:
        assert_identity(data)
        load(data)
    except (CannotParse, Unsupported) as error:
        assert_clean(error)


@settings(max_examples=80, deadline=None)
@given(files(), randoms())
def test_a_damaged_manifest_has_a_tree_or_a_clean_error(made, dice):
    text = made.data.decode()
    for _ in range(3):
        at = dice.randrange(len(text) + 1)
        text = (
            text[:at]
            + dice.choice(["", "\n", " ", "  ", ":", "- ", "'", "#", "\t", "{"])
            + text[at + dice.randrange(3) :]
        )
    try:
        assert_identity(text.encode())
    except CannotParse as error:
        assert_clean(error)


# Other readers and other ways to load the parser


@settings(max_examples=60, deadline=None)
@given(files())
def test_ruamel_reads_the_same_values_and_key_orders(made):
    try:
        other = list(
            YAML(typ="safe", pure=True).load_all(made.data.decode().removeprefix("\ufeff"))
        )
    except ruamel.yaml.error.YAMLError:
        return  # a YAML 1.2 reader may refuse what libyaml takes
    text = Source(made.data).text
    theirs = list(YAML(typ="base", pure=True).load_all(text))
    ours = [_as_text(document.root) for document in split(Source(made.data)).documents]
    assert len(other) == len(theirs)
    assert repr(ours) == repr(theirs)


def _as_text(node: Node, known: dict | None = None) -> object:
    """What ruamel.yaml's base loader makes of a node: every scalar is text."""
    known = {} if known is None else known
    if isinstance(node, Alias):
        return known[node.name]
    value: object
    if isinstance(node, Mapping):
        value = {_as_text(e.key, known): _as_text(e.value, known) for e in node.entries}
    elif isinstance(node, Sequence):
        value = [_as_text(entry.value, known) for entry in node.entries]
    else:
        value = node.value
    if node.anchor:
        known[node.anchor] = value
    return value


def test_the_pure_parser_gives_the_same_nodes(monkeypatch):
    text = "a: &x [1, {b: c}]\nd: *x\ne: |\n  f\n\n? g\n: !t 'h'\ni: é😀\n"
    expected = [(type(n), n.start, n.end, n.raw) for n in nodes(root(text))]
    monkeypatch.setitem(sys.modules, "yaml._yaml", None)
    monkeypatch.setattr(tree, "parser", parser)  # both are put back at the end
    monkeypatch.delitem(sys.modules, parser.__name__)
    monkeypatch.setattr(compose, "parser", import_module(parser.__name__))
    assert not compose.parser.accepts("a: 1")  # which libyaml alone can tell
    top = split(Source(text.encode())).documents[0].root
    assert [(type(n), n.start, n.end, n.raw) for n in nodes(top)] == expected
    for deep in ("[" * 300, "- " * 300):
        with pytest.raises(CannotParse, match="are nested deeper than"):
            _ = split(Source(deep.encode())).roots
    with pytest.raises(CannotParse, match="not YAML"):
        _ = split(Source(b"a: \x01\n")).roots


def test_garbage_collection_is_left_as_it_was():
    import gc

    assert gc.isenabled()
    root("a: 1\n")
    assert gc.isenabled()
    gc.disable()
    try:
        root("a: 1\n")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_missing_key_is_known_before_the_entries_are_built():
    """Mappings are asked for many keys that they do not have."""
    top = split(Source(b"a: 1\nb: {c: 2}\n")).documents[0].root
    assert isinstance(top, Mapping)
    assert top.get("id") is None
    assert top.unbuilt is not None


@pytest.mark.parametrize("key", ["[a]", "? - a", "{a: b}"])
def test_a_key_that_is_a_collection_is_found_by_its_text(key):
    separator = "\n: " if key[0] == "?" else ": "
    top = split(Source(f"a: 1\n{key}{separator}2\n".encode())).documents[0].root
    assert isinstance(top, Mapping)
    value = top.get(key.removeprefix("? "))
    assert isinstance(value, Scalar)
    assert value.value == "2"
