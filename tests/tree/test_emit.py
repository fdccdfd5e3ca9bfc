"""New text: what it looks like, and that every reader gets the value back."""

from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.emitter import Emitter
from ruamel.yaml.representer import SafeRepresenter

from kmerge_git.errors import Unsupported
from kmerge_git.tree.emit import dump
from kmerge_git.tree.plain_values import load

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LINES = st.lists(
    st.sampled_from(
        ["", "a", " b", "\tc", "d ", "# e", "- f", "g: h", "---", "...", "é\u2028", "\x85"]
    ),
    max_size=5,
).map("\n".join)
WORDS = st.sampled_from(
    ["yes", "no", "on", "y", "N", "true", "null", "~", "010", "0o7", "0x1f", "1_000", "1e3", "1.5"]
    + [".5", ".inf", "12:30", "2001-01-01", "=", "<<", "-", "?", ":", "-a", "?a", ":a", "a:", "a#"]
    + [mark + "a" for mark in "[{]},#&*!|>'\"%@`"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
    LINES,
    WORDS,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(TEXT, WORDS, LINES), inner, max_size=4),
    ),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([(2, 0), (2, 2), (4, 0), (4, 2), (3, 1)]))
@settings(max_examples=300, deadline=None)
def test_what_is_written_reads_back(value, style):
    assert load(dump(value, *style).encode()) == [value]


@given(VALUES, st.sampled_from([(2, 0), (2, 2), (4, 0), (4, 2), (3, 1)]))
@settings(max_examples=300, deadline=None)
def test_what_is_written_is_what_ruamel_writes(value, style):
    if not isinstance(value, str) and not has_odd_key(value):  # at the top they are quoted
        assert dump(value, *style) == with_ruamel(value, *style)


def has_odd_key(value: object) -> bool:
    """Return whether a key has line breaks: ruamel.yaml writes it as a block."""
    if isinstance(value, list):
        return any(map(has_odd_key, value))
    if not isinstance(value, dict):
        return False
    return any(len(key.splitlines()) > 1 or "\n" in key for key in value) or any(
        map(has_odd_key, value.values())
    )


def with_ruamel(value: object, indent: int, list_offset: int) -> str:
    """Write a value with ruamel.yaml, in the style of kubectl."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = Plain
    yaml.Emitter = Indented
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False
    yaml.width = 1 << 30
    yaml.indent(mapping=indent, sequence=list_offset + 2, offset=list_offset)
    stream = StringIO()
    yaml.dump(value, stream)
    text = stream.getvalue()
    if text.endswith("\n...\n"):
        text = text[:-4]
    if isinstance(value, list) and value and list_offset:
        text = "\n".join(line.removeprefix(" " * list_offset) for line in text.split("\n"))
    return text


class Plain(SafeRepresenter):
    """If an object occurs again, write it again, without an alias."""

    def ignore_aliases(self, data):
        return True


class Indented(Emitter):
    """Indent the lines of a block scalar relative to its parent, whatever the list offset is."""

    MAX_SIMPLE_KEY_LENGTH = 1000

    def determine_block_hints(self, text):
        step = int(self.indent or 0) - int(self.indents.values[-1][0] or 0)
        if self.indents.last_seq():  # counted from the dash
            step -= self.sequence_dash_offset
        hint = str(step) if text[0] in " \t\n" else ""
        bare = text.rstrip("\n")
        chomping = {0: "-", 1: ""}.get(len(text) - len(bare), "+")
        return hint + chomping, step, chomping


def represent_str(representer, text):
    plain = dump(text) == f"{text}\n"
    style = "|" if dump({"a": text}).startswith("a: |") else None if plain else '"'
    return representer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def represent_none(representer, value):
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


Plain.add_representer(str, represent_str)
Plain.add_representer(type(None), represent_none)


@pytest.mark.parametrize(
    "value, text",
    [
        ({}, "{}\n"),
        ([], "[]\n"),
        (None, "null\n"),
        ("a", "a\n"),
        ("a\nb", '"a\\nb"\n'),
        ({"a": {"b": [], "c": {}}}, "a:\n  b: []\n  c: {}\n"),
        ({"b": 1, "a": True, "c": None, "d": 1.5}, "b: 1\na: true\nc: null\nd: 1.5\n"),
        ({"args": ["-c", "a: b"]}, 'args:\n- -c\n- "a: b"\n'),
        ({"l": [{"name": "a", "image": "b"}]}, "l:\n- name: a\n  image: b\n"),
        ({"l": [[1, 2], []]}, "l:\n- - 1\n  - 2\n- []\n"),
        ({"a": "x\ny\n"}, "a: |\n  x\n  y\n"),
        ({"a": "x\ny"}, "a: |-\n  x\n  y\n"),
        ({"a": "x\n\n"}, "a: |+\n  x\n\n"),
        ({"a": "  x\n"}, "a: |2\n    x\n"),
        ({"a": "x \ny"}, 'a: "x \\ny"\n'),
        ({"a": "\n"}, 'a: "\\n"\n'),
        ({"a": "w " * 200 + "w"}, "a: " + "w " * 200 + "w\n"),
        ({"a": ""}, 'a: ""\n'),
    ],
)
def test_the_style_is_kubectls(value, text):
    assert dump(value) == text


@pytest.mark.parametrize(
    "word",
    ["yes", "NO", "on", "y", "~", "null", "", "010", "1e3", "0x1f", "1_000", "12:30", "1.5",
     "2001-01-01", "=", "<<", ".inf", "a: b", "a #b", "- a", "*a", "&a", "{a", "@a", " a"],
)  # fmt: skip
def test_quoted_is_what_some_reader_would_misread(word):
    assert dump({"a": word}) == f'a: "{word}"\n'


@pytest.mark.parametrize(
    "word", ["a", "1.2.3", "a:b", "-a", "a#b", "http://x/?y", "1s", "é", "a, b"]
)
def test_plain_is_what_every_reader_reads_alike(word):
    assert dump({"a": word}) == f"a: {word}\n"


@pytest.mark.parametrize(
    "indent, offset, text",
    [
        (2, 0, "a:\n- b:\n    c: 1\n"),
        (2, 2, "a:\n  - b:\n      c: 1\n"),
        (4, 0, "a:\n- b:\n      c: 1\n"),
        (4, 2, "a:\n  - b:\n        c: 1\n"),
    ],
)
def test_indentation_is_the_callers_choice(indent, offset, text):
    assert dump({"a": [{"b": {"c": 1}}]}, indent, offset) == text


def test_a_list_at_the_top_starts_at_the_margin():
    assert dump([{"a": ["x"]}, "  y\n"], 2, 2) == "- a:\n    - x\n- |2\n    y\n"


def test_the_same_object_twice_is_written_twice():
    shared = ["x"]
    assert dump({"a": shared, "b": shared}) == "a:\n- x\nb:\n- x\n"


def test_half_a_character_is_refused():
    with pytest.raises(Unsupported, match="surrogate"):
        dump({"a": "\ud800"})


def test_a_key_of_any_length_reads_back():
    value = {"a" * 2000: {"b": [1], "c\n" * 600: ["d", {"e" * 1001: 2}]}}
    assert load(dump(value).encode()) == [value]


@pytest.mark.parametrize("number", [1e21, -1e-7, float("inf"), float("-inf"), 10**30])
def test_a_number_of_any_size_reads_back(number):
    (read,) = load(dump({"a": number}).encode())
    assert read == {"a": float(number)}
