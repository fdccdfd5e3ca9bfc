"""Nodes as kubectl reads them: aliases, merge keys, keys that are no strings, bombs."""

import pytest

from kmerge_git.errors import CannotParse, Unsupported
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Mapping
from kmerge_git.tree.plain_values import load, to_value


@pytest.mark.parametrize(
    "text, value",
    [
        ("a: 1\nb: [x, {c: true}]\nd:\n", {"a": 1, "b": ["x", {"c": True}], "d": None}),
        ("a: '1'\nb: \"yes\"\nc: yes\n", {"a": "1", "b": "yes", "c": True}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("a: !!str 1\n", {"a": "1"}),
        # the last one of a repeated key wins
        ("a: 1\na: 2\n", {"a": 2}),
        # keys become strings
        ("1: a\ntrue: b\n1.5: c\non: d\n.inf: e\n", {"1": "a", "true": "d", "1.5": "c", ".inf": "e"}),
        ("1: a\n'1': b\n", {"1": "b"}),
        # aliases
        ("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}),
        ("a: &x k\n*x : 1\n", {"a": "k", "k": 1}),
        ("&x a: *x\n", {"a": "a"}),
        # merge keys: what the mapping says itself wins, wherever it says it
        ("d: &d {a: 1, b: 2}\nm:\n  b: 3\n  <<: *d\n", {"d": {"a": 1, "b": 2}, "m": {"a": 1, "b": 3}}),
        ("<<: [{a: 1}, {a: 2, b: 3}]\n", {"a": 1, "b": 3}),
        ("<<: {a: 1}\n<<: {a: 2}\n", {"a": 2}),
        ("'<<': 1\n", {"<<": 1}),
        ("p: &x {a: 1}\nq: &y {<<: *x, b: 2}\nz: {<<: *y}\n",
         {"p": {"a": 1}, "q": {"a": 1, "b": 2}, "z": {"a": 1, "b": 2}}),
        ("- 1\n- - 2\n", [1, [2]]),
        ("x\n", "x"),
    ],
)  # fmt: skip
def test_values(text, value):
    assert load(text.encode()) == [value]


def test_a_stream_has_a_value_for_each_document_that_is_not_only_comments():
    assert load(b"# a\n---\n# nothing\n---\na: 1\n---\nnull\n---\n") == [{"a": 1}, None]


def test_nothing_is_null():
    assert to_value(None) is None


def test_aliases_give_values_of_their_own():
    value = load(b"a: &x [1]\nb: *x\n")[0]
    assert value["a"] is not value["b"]


def test_an_alias_means_the_last_anchor_of_its_name_before_it():
    text = b"a: &x 1\nb: *x\nc: &x {d: 2}\ne: [*x, &x f]\n<<: &y {g: *x}\nh: *x\n---\ni: &x 3\n"
    first, second = load(text)
    assert first == {"a": 1, "b": 1, "c": {"d": 2}, "e": [{"d": 2}, "f"], "g": "f", "h": "f"}
    assert second == {"i": 3}


def test_many_anchors_may_have_one_short_name():
    text = "".join(f"a{n}: &x {n}\nb{n}: *x\n" for n in range(60))
    values = load(text.encode())[0]
    assert isinstance(values, dict)
    assert all(values[f"b{n}"] == n for n in range(60))


def test_an_alias_of_a_part_is_looked_up_in_the_whole():
    root = split(Source(b"a: &x [1]\nb: {c: *x}\n")).documents[0].root
    assert isinstance(root, Mapping)
    assert to_value(root.get("b"), root) == {"c": [1]}
    with pytest.raises(Unsupported, match="alias \\*x has no anchor"):
        to_value(root.get("b"))


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 1500))


@pytest.mark.parametrize(
    "text, why",
    [
        (BOMB, "aliases expand to more than"),
        (CHAIN, "are nested deeper than"),
        ("a: &x [1, *x]\n", "inside its own anchor"),
        ("&x a: &y {b: [*y]}\n", "inside its own anchor"),
        ("a: 1\n<<: 2\n", "the value of `<<` must be a mapping"),
        ("<<: [{a: 1}, 2]\n", "the value of `<<` must be a mapping"),
        ("a: 1\n~: 2\n", "null is used as a key"),
        ("? [a]\n: 2\n", "a map or list is used as a key"),
    ],
)
def test_what_no_json_can_hold_is_refused(text, why):
    with pytest.raises(Unsupported, match=why) as caught:
        load(text.encode(), "f.yaml")
    assert caught.value.path == "f.yaml"
    assert caught.value.line >= 1
    assert caught.value.hint


def test_the_place_of_the_error_is_exact():
    with pytest.raises(Unsupported) as caught:
        load(b"a: 1\nb: &x\n  c: *x\n", "f.yaml")
    error = caught.value
    assert str(error).startswith("f.yaml:3:6: the alias *x is inside its own anchor; ")
    assert error.caret() == "    c: *x\n       ^"


def test_text_that_is_no_yaml_is_refused():
    with pytest.raises(CannotParse, match="not YAML"):
        load(b"a: [\n", "f.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "a: &x name\nm:\n  *x : 1\n  other: 2\n",
        "a: &x 1\nm:\n  name: *x\n",
        "a: &name 1\nm: {name: *name}\n",
        "m:\n  name: 1\n  name: 2\n",
        "m:\n  name:\n  other: 1\n",
        "m:\n  ? name\n  other: 1\n",
        "m: {name, other: 1}\n",
        "m:\n  ? |-\n    name\n  : 1\n",
        "m:\n  name: &y !t 1 # c\n",
        "m:\n  name: {b: 1}\n",
        'm:\n  "name": |\n    x\n\n\n  other: 1\n',
    ],
)
def test_a_value_is_the_same_before_and_after_the_entries_are_built(text):
    """It is looked for in the parser's nodes while nobody has asked for the entries."""

    def below() -> Mapping:
        root = split(Source(text.encode())).documents[0].root
        found = root.index()["m"].value
        assert isinstance(found, Mapping)
        return found

    built = below()
    assert built.entries
    entry = built.index().get("name")
    early, late = below().get("name"), entry.value if entry else None
    assert (early and early.raw) == (late and late.raw)
    if early is not None and late is not None:
        assert (early.start, early.end, early.tag) == (late.start, late.end, late.tag)
