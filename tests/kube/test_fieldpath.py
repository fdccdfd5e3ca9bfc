"""Field paths: read, written, matched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmerge_git.errors import UsageError
from kmerge_git.kube.fieldpath import match, parse, show

SAME_BOTH_WAYS = [
    ("", ()),
    ("spec", ("spec",)),
    ("spec.replicas", ("spec", "replicas")),
    (
        "spec.template.spec.containers[name=app].image",
        ("spec", "template", "spec", "containers", (("name", "app"),), "image"),
    ),
    ("metadata.annotations[example.com/config]", ("metadata", "annotations", "example.com/config")),
    ("spec.rules[3]", ("spec", "rules", 3)),
    ("spec.rules[3][0].x", ("spec", "rules", 3, 0, "x")),
    ("ports[port=80,protocol=TCP]", ("ports", (("port", "80"), ("protocol", "TCP")))),
    ("finalizers[=a.io/b]", ("finalizers", (("", "a.io/b"),))),
    ('a[name="a]b"]', ("a", (("name", "a]b"),))),
    ('a["a]b"].c', ("a", "a]b", "c")),
    ('a["a=b"]', ("a", "a=b")),
    ('a[""]', ("a", "")),
    ('a[name=""]', ("a", (("name", ""),))),
    ("data.3", ("data", "3")),
    ('["\\"\\\\\\n"]', ('"\\\n',)),
    ("[a b]", ("a b",)),
    ("[.]", (".",)),
    ("volumeMounts[mountPath=/var/lib]", ("volumeMounts", (("mountPath", "/var/lib"),))),
    ("env[name=$x-y:z]", ("env", (("name", "$x-y:z"),))),
]


@pytest.mark.parametrize("text, path", SAME_BOTH_WAYS)
def test_paths_read_and_written(text, path):
    assert parse(text) == path
    assert show(path) == text


@pytest.mark.parametrize(
    "text, path",
    [
        (".spec.a", ("spec", "a")),
        ("[spec].a", ("spec", "a")),
        ('spec["a"]', ("spec", "a")),
        ('a["3"]', ("a", "3")),
        ("a[name=x=y]", ("a", (("name", "x=y"),))),
        ("a[12345678901]", ("a", "12345678901")),
    ],
)
def test_other_spellings_are_read(text, path):
    assert parse(text) == path


@pytest.mark.parametrize(
    "text, column",
    [
        (".", 1),
        ("a.", 3),
        ("a..b", 3),
        ("a.[b]", 3),
        ("a[b", 4),
        ("a[]", 3),
        ("a[b]c", 5),
        ('a["b]', 3),
        ('a["\\x"]', 5),
        ("a[b,c=d]", 4),
        ("a[b=c,d]", 8),
        ('a["b"c]', 6),
        ("a[b=c", 6),
    ],
)
def test_an_error_says_where(text, column):
    with pytest.raises(UsageError, match="not a field path") as caught:
        parse(text)
    assert caught.value.column == column
    assert caught.value.excerpt == text


IMAGE = "spec.template.spec.containers[name=app].image"


@pytest.mark.parametrize(
    "pattern, path",
    [
        (IMAGE, IMAGE),
        ("**.image", IMAGE),
        ("**", IMAGE),
        ("**", ""),
        ("", ""),
        ("spec.**.image", IMAGE),
        ("spec.**", IMAGE),
        ("spec.**", "spec"),
        ("**.containers[*].image", IMAGE),
        ("**.containers[name=*].*", IMAGE),
        ("**.containers[name=a*p].ima*", IMAGE),
        ("**.containers.*.image", IMAGE),
        ("*", "spec"),
        ("*.*", "a[3]"),
        ("a[*]", "a[3]"),
        ("ports[port=80]", "ports[port=80,protocol=TCP]"),
        ("ports[protocol=TCP,port=80]", "ports[port=80,protocol=TCP]"),
        ("ports[*=80]", "ports[port=80,protocol=TCP]"),
        ("metadata.annotations[a.io/*]", "metadata.annotations[a.io/b]"),
        ('a["*"]', 'a["*"]'),
        ("a[*]", 'a["*"]'),
        ("**.**.b", "a.b"),
        ("a*b*c", "axbybzc"),
    ],
)
def test_patterns_that_match(pattern, path):
    assert match(pattern, path)
    assert match(pattern, parse(path))


@pytest.mark.parametrize(
    "pattern, path",
    [
        ("spec", IMAGE),
        ("image", IMAGE),
        ("*.image", IMAGE),
        ("**.tag", IMAGE),
        ("", "spec"),
        ("spec", ""),
        ("**.containers[name=web].image", IMAGE),
        ("ports[port=80,name=a]", "ports[port=80,protocol=TCP]"),
        ("ports[port=8]", "ports[port=80]"),
        ("a[0]", "a[1]"),
        ("a[0]", "a.0"),
        ("a.b", "a[b=c]"),
        ("a[b=c]", "a.b"),
        ('a["*"]', "a.b"),
        ("ab*ba", "aba"),
        ("a*b*c", "axc"),
        ("a.**.b.c", "a.b"),
    ],
)
def test_patterns_that_do_not_match(pattern, path):
    assert not match(pattern, path)


TEXT = st.text(st.sampled_from("ab.[]=,\"'\\/* \n\t03é"), max_size=5)
PAIRS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=2).map(tuple)
PATHS = st.lists(TEXT | st.integers(0, 12) | PAIRS, max_size=5).map(tuple)


@given(PATHS)
def test_what_is_written_reads_back(path):
    assert parse(show(path)) == path
    assert match("**", path)
    assert match(show(path), path)


@given(TEXT | st.text(max_size=8))
def test_any_text_is_a_path_or_an_error(text):
    try:
        path = parse(text)
    except UsageError:
        return
    assert parse(show(path)) == path
