"""Scalars: what kubectl reads, which spellings are the same, how a string is spelled."""

import json
import math
import shutil
import subprocess

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from kmerge_git.tree.nodes import Scalar
from kmerge_git.tree.same import is_null, kind_of, meaning, resolve, respell, same

# What `kubectl label --local -o json` (v1.32) made of these tokens.
KUBECTL = [
    *[
        (word, True)
        for word in ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"]
    ],
    *[
        (word, False)
        for word in ["n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"]
    ],
    *[(word, None) for word in ("~", "null", "Null", "NULL", "", '!!null ""', "!!null ~")],
    *[
        (word, word)
        for word in ["yEs", "tRUE", "nULL", "0xg", "0b12", ".", "1e400", "1e", "1:30", "190:20:30"]
    ],
    *[
        (word, word)
        for word in ["2001-01-01", "0o8", "_1", "100m", "0x1p4", "0x1.8p1", "inf", "NaN", "1.2.3"]
    ],
    *[(word, word) for word in ["1-2", "1+2", "+", "--", "++1", "+-1", "1,000", "=", "<<", "0x"]],
    ("010", 8),
    ("0o10", 8),
    ("0O10", 8),
    ("0x1F", 31),
    ("0X1f", 31),
    ("0b11", 3),
    ("0B11", 3),
    ("1_000", 1000),
    ("1_", 1),
    ("1__0", 10),
    ("0x_1F", 31),
    ("0b_1", 1),
    ("0_10", 8),
    ("+1", 1),
    ("-1", -1),
    ("08", 8),
    ("018", 18),
    ("1.0", 1),
    ("1.", 1),
    (".5", 0.5),
    ("-.5", -0.5),
    ("+.5", 0.5),
    ("1e3", 1000),
    ("1E3", 1000),
    ("1e+3", 1000),
    ("1e-3", 0.001),
    ("1.5e3", 1500),
    ("1.e3", 1000),
    (".5e1", 5),
    ("0", 0),
    ("-0", 0),
    ("00", 0),
    ("-0.0", 0),
    ("1.10", 1.1),
    ("1_0.5", 10.5),
    ("1.5_0", 1.5),
    ("9223372036854775807", 9223372036854775807),
    ("-9223372036854775808", -9223372036854775808),
    ("123456789012345678901234567890", 1.2345678901234568e29),
    ("1e21", 1e21),
    ("1e20", 10**20),
    ("+0x10", 16),
    ("-0x10", -16),
    ("-010", -8),
    ("-0o10", -8),
    ("-0b11", -3),
    ('"1"', "1"),
    ("'true'", "true"),
    ("!!str 1", "1"),
    ("!!str ~", "~"),
    ("!!str", ""),
    ('!!int "1"', 1),
    ("!!int '010'", 8),
    ("!<tag:yaml.org,2002:int> '1'", 1),
    ("!!float 1", 1),
    ("!!bool yes", True),
    ('!!bool "true"', True),
    ("!foo 1", "1"),
    ("!foo true", "true"),
    ("! 1", "1"),
    ("!!binary aGk=", "hi"),
    ("!!timestamp 2001-01-01", "2001-01-01"),
    ("!!set x", "x"),
]
# kubectl rounds these to a JSON float; the exact value is kept, so that a change is never missed
EXACT = [("9223372036854775808", 2**63), ("0x8000000000000000", 2**63)]
REFUSED = [("!!int 1.5", "1.5"), ("!!int x", "x"), ("!!null x", "x"), ("!!binary a", "a")]


def scalar(token: str) -> Scalar:
    """A scalar node as libyaml composes it."""
    tag, _, rest = token.partition(" ") if token.startswith("!") else ("", "", token)
    node = yaml.compose(token or "~")
    style = "" if not token else (node.style or "")
    return Scalar(token, 0, len(token), len(token) - len(rest), "", tag, _value(token), style)


def _value(token: str) -> str:
    return yaml.compose(token).value if token else ""


@pytest.mark.parametrize("token, expected", KUBECTL + EXACT + REFUSED)
def test_resolve_reads_what_kubectl_reads(token, expected):
    node = scalar(token)
    found = resolve(node.value, node.style, node.tag)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.skipif(not shutil.which("kubectl"), reason="the oracle is not installed")
def test_the_table_is_what_kubectl_says(tmp_path):
    tokens = [token for token, _ in KUBECTL]
    fields = "".join(f"  k{i}: {token}\n" for i, token in enumerate(tokens))
    text = f"apiVersion: example.com/v1\nkind: Foo\nmetadata: {{name: x}}\nspec:\n{fields}"
    argv = ["kubectl", "label", "--local", "-o", "json", "-f", "-", "a=b"]
    env = {"HOME": str(tmp_path), "PATH": str(shutil.which("kubectl")).rpartition("/")[0]}
    ran = subprocess.run(argv, input=text, capture_output=True, text=True, env=env, check=True)
    spec = json.loads(ran.stdout)["spec"]
    assert [spec[f"k{i}"] for i in range(len(tokens))] == [value for _, value in KUBECTL]


@pytest.mark.parametrize("token, expected", [(".inf", math.inf), ("-.Inf", -math.inf)])
def test_infinity_is_a_float(token, expected):
    assert resolve(token) == expected


def test_not_a_number_is_a_float_and_the_same_as_itself():
    assert math.isnan(resolve(".nan"))
    assert same(scalar(".nan"), scalar(".nan"))


SAME = [
    ('"a"', "a"),
    ("'a'", '"a"'),
    ("|\n  a b\n", '"a b\\n"'),
    (">-\n  a b", "a b"),
    ("true", "True"),
    ("true", "TRUE"),
    ("false", "False"),
    ("~", "null"),
    ("~", ""),
    ("Null", "NULL"),
    ("+1", "1"),
    ("-0", "0"),
    ("0x1F", "31"),
    ("!!str 1", "'1'"),
    ("! 1", '"1"'),
    ('!!int "1"', "1"),
    ("!!int 0x10", "16"),
    ('!!bool "true"', "True"),
    ("!!null ''", "~"),
    ("!<tag:yaml.org,2002:str> yes", '"yes"'),
    ("!!int yes", "!<tag:yaml.org,2002:int> yes"),
    ("!mine 1", '!mine "1"'),
    ("1.2.3", '"1.2.3"'),
    ("100m", "'100m'"),
    ("nginx:1.25", '"nginx:1.25"'),
    ("10.0.0.1:80", '"10.0.0.1:80"'),
    ("yEs", '"yEs"'),
    ("--flag", '"--flag"'),
]
DIFFERENT = [
    ("yes", "true"),
    ("y", "yes"),
    ("no", "false"),
    ("on", '"on"'),
    ("yes", '"yes"'),
    ("true", '"true"'),
    ("1", '"1"'),
    ("~", '""'),
    ("~", '"~"'),
    ("010", "8"),
    ("010", "10"),
    ("0o10", "8"),
    ("0b11", "3"),
    ("0X1F", "31"),
    ("-0x10", "-16"),
    ("1_0", "10"),
    ("1_0", '"1_0"'),
    ("08", "8"),
    ("1.0", "1"),
    ("1.10", "1.1"),
    ("1e3", "1000"),
    ("1e3", '"1e3"'),
    (".inf", '".inf"'),
    ("2001-01-01", '"2001-01-01"'),
    ("2001-01-01T10:00:00Z", '"2001-01-01T10:00:00Z"'),
    ("1:30", '"1:30"'),
    ("1:30", "90"),
    ("1e400", '"1e400"'),
    ("1E309", "0"),
    ("0x" + "f" * 20, '"0x' + "f" * 20 + '"'),
    ("9223372036854775807", "9223372036854775808"),
    ("=", '"="'),
    ("<<", '"<<"'),
    ("!mine a", "a"),
    ("!mine a", "!yours a"),
    ("!!float 1", "1"),
    ("!!binary aGk=", "hi"),
    ("!!int yes", "yes"),
    ("a", "A"),
    ("a", "b"),
    ("0" * 41, "0"),
]


@pytest.mark.parametrize("a, b", SAME)
def test_spellings_on_which_all_readers_agree_are_the_same(a, b):
    assert same(scalar(a), scalar(b))
    assert meaning(scalar(a)) == meaning(scalar(b))
    assert hash(meaning(scalar(a))) == hash(meaning(scalar(b)))


@pytest.mark.parametrize("a, b", DIFFERENT)
def test_spellings_that_some_reader_takes_differently_are_not_the_same(a, b):
    assert not same(scalar(a), scalar(b))
    assert not same(scalar(b), scalar(a))
    assert same(scalar(a), scalar(a))


@pytest.mark.parametrize(
    "token, kind",
    [("a", "str"), ("1", "int"), ("1.5", "float"), ("yes", "bool"), ("", "null"), ('"1"', "str")],
)
def test_kind_of_names_the_type(token, kind):
    node = scalar(token)
    assert kind_of(node.value, node.style, node.tag) == kind


@pytest.mark.parametrize(
    "token, expected",
    [
        *[(token, True) for token in ("~", "", "NULL", "!!null ''")],
        *[(token, False) for token in ('""', "nil", "!!str ~", "0", "false")],
    ],
)
def test_is_null(token, expected):
    assert is_null(scalar(token)) is expected


PLAIN = [
    "a",
    "a b",
    "a:b",
    "http://x:80/",
    "a#b",
    "-x",
    "--flag",
    "?x",
    ":x",
    "é",
    "🚀",
    "a'b",
    'a"b',
]
NOT_PLAIN = ["", " a", "a ", "a: b", "a #b", "a:", "- a", "-", "?", ": x", "#a", "&a", "*a", "!a"]
NOT_PLAIN += [
    "|",
    ">",
    "'a",
    '"a',
    "%a",
    "@a",
    "`a",
    "[a",
    "{a",
    "a\nb",
    "a\tb",
    "---",
    "...",
    "a\x85b",
]
NOT_PLAIN += [
    "yes",
    "n",
    "true",
    "~",
    "null",
    "1",
    "1.5",
    "010",
    "0x1F",
    "1_0",
    "1:30",
    "2001-01-01",
]
NOT_PLAIN += [".inf", "<<", "=", "1e3", "0o7", "+1", "\ufeffa", "a\u2028b", ".5_0", "1:30.5"]


@pytest.mark.parametrize("value", PLAIN)
def test_a_string_that_can_be_plain_stays_as_it_is(value):
    assert respell(value, "") == value


@pytest.mark.parametrize("value", NOT_PLAIN)
def test_a_string_that_plain_style_would_change_cannot_be_plain(value):
    assert respell(value, "") is None


@pytest.mark.parametrize(
    "value, style, expected",
    [
        ("it's", "'", "'it''s'"),
        ("", "'", "''"),
        ("a\nb", "'", None),
        ("a\tb", "'", None),
        ("\x07", "'", None),
        ('a"b\\', '"', '"a\\"b\\\\"'),
        ("a\n\t\0é🚀", '"', '"a\\n\\t\\0é🚀"'),
        ("\x85\u2028\ufeff\x9f", '"', '"\\N\\L\\ufeff\\x9f"'),
        ("\ud800", '"', None),
        ("a", "|", None),
        ("a", ">", None),
    ],
)
def test_respell(value, style, expected):
    assert respell(value, style) == expected


TOKENS = st.text(
    st.sampled_from("0123456789+-._:xobeEyYnNtrufalsTRUEOn~ #,[]{}&'\"\\\n\té\x85\u2028-")
)


@given(TOKENS | st.text(), st.sampled_from(["", "'", '"']))
def test_a_respelled_string_is_that_string_to_every_reader(value, style):
    token = respell(value, style)
    if token is None:
        return
    text, expected = f"k:\n- {token}\n- a: {token} # c\n", {"k": [value, {"a": value}]}
    if style:  # a plain one may need quotes within brackets
        text, expected = f"{text}j: [{token}, {token}]\n", {**expected, "j": [value, value]}
    assert yaml.load(text, yaml.CSafeLoader) == expected
    assert YAML(typ="safe", pure=True).load(text) == expected
    assert resolve(value, style) == value


@given(st.text())
def test_only_what_yaml_cannot_hold_is_refused_by_double_quotes(value):
    holds = not any("\ud800" <= char <= "\udfff" for char in value)
    assert (respell(value, '"') is not None) is holds


WORDS = st.text(st.sampled_from("0123456789+-._:xobeE"), min_size=1, max_size=7) | st.sampled_from(
    [
        "y",
        "yes",
        "true",
        "True",
        "TRUE",
        "no",
        "n",
        "off",
        "false",
        "null",
        "~",
        "Null",
        ".inf",
        ".nan",
        "0o17",
        "0x1F",
        "31",
        "15",
        "017",
        "1_5",
        "1.50",
        "1.5",
    ]
)


@given(WORDS, WORDS)
def test_the_same_means_the_same_to_each_reader(a, b):
    if respell(a, '"') is None or not _is_plain(a) or not _is_plain(b):
        return
    first = Scalar(a, 0, len(a), 0, "", "", a, "")
    second = Scalar(b, 0, len(b), 0, "", "", b, "")
    assert same(first, second) is (meaning(first) == meaning(second))
    if same(first, second) and a != b:
        assert resolve(a) == resolve(b)
        assert yaml.safe_load(a) == yaml.safe_load(b)
        assert YAML(typ="safe", pure=True).load(a) == YAML(typ="safe", pure=True).load(b)
    quoted = Scalar(a, 0, len(a), 0, "", "", a, '"')
    if same(first, quoted):
        assert resolve(a) == yaml.safe_load(a) == YAML(typ="safe", pure=True).load(a) == a


def _is_plain(token: str) -> bool:
    try:
        node = yaml.compose(token, yaml.CSafeLoader)
        yaml.safe_load(token)
    except (yaml.YAMLError, ValueError):
        return False
    return isinstance(node, yaml.ScalarNode) and node.value == token
