"""Field paths: how they are shown, and which places a pattern means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmerge_git.kube.fieldpath import matches, pattern, show, together

APP = (("name", "app"),)
PORT = (("port", "80"), ("protocol", "TCP"))
IMAGE = ("spec", "template", "spec", "containers", APP, "image")

SHOWN = [
    ((), "", ""),
    (("spec", "replicas"), "spec.replicas", "spec.replicas"),
    (
        IMAGE,
        "spec.template.spec.containers[name=app].image",
        'spec.template.spec.containers[name="app"].image',
    ),
    (("ports", PORT), "ports[port=80,protocol=TCP]", 'ports[port="80",protocol="TCP"]'),
    (("items", ("Deployment/web",)), "items[Deployment/web]", 'items["Deployment/web"]'),
    (("finalizers", ()), "finalizers[]", "finalizers[]"),
    (("finalizers", (("", "a/b"),)), "finalizers[=a/b]", 'finalizers[="a/b"]'),
    (("annotations", "a.io/b"), "annotations[a.io/b]", 'annotations["a.io/b"]'),
    (("rules", 3, 0, "x"), "rules[3][0].x", "rules[3][0].x"),
    (("data", "3"), "data.3", "data.3"),
    (("a", "a]b", "c"), 'a["a]b"].c', 'a["a]b"].c'),
    (("a", "x,y"), 'a["x,y"]', 'a["x,y"]'),
    (("a", ""), 'a[""]', 'a[""]'),
    (('"\\\n',), '["\\"\\\\\\n"]', '["\\"\\\\\\n"]'),
    (("a", (("name", "a=b"),)), 'a[name="a=b"]', 'a[name="a=b"]'),
    (("a", (("name", "*"),)), 'a[name="*"]', 'a[name="*"]'),
]


@pytest.mark.parametrize("path, plain, quoted", SHOWN)
def test_paths_are_shown(path, plain, quoted):
    assert show(path) == plain
    assert show(path, quoted=True) == quoted


TOGETHER = {
    "version appVersion": "version appVersion",
    "a.b.c a.b.d a.b.e": "a.b.c .d .e",
    "a.b a.c.d a.e.d a.e.f": "a.b a.c.d a.e.d .f",
    "l[name=a.b].x l[name=a.b].y l[name=a.c].y": "l[name=a.b].x .y l[name=a.c].y",
    "a.b[0] a.b[1] a.c": "a.b[0] .b[1] .c",
    "data[a.b] data[a.c]": "data[a.b] data[a.c]",
}


@pytest.mark.parametrize(("paths", "shown"), TOGETHER.items())
def test_neighbours_are_shown_without_their_parent(paths, shown):
    assert " ".join(together(paths.split())) == shown


def test_names_behind_a_place_are_no_steps():
    for places in (["r[] (a.yaml)", "r[] (a.yml)"], ['d["a.]b"]', 'd["a.]c"]']):
        assert together(places) == places


MEANT = [
    ("", ()),
    (".spec.a", ("spec", "a")),
    ("**", ()),
    ("**", IMAGE),
    ("**.image", IMAGE),
    ("spec.**.image", IMAGE),
    ("spec.**", ("spec",)),
    ("**.**.b", ("a", "b")),
    ("*", ("spec",)),
    # `*` is any one key of a mapping, odd or not
    ("metadata.annotations.*", ("metadata", "annotations", "plain")),
    ("metadata.annotations.*", ("metadata", "annotations", "example.com/x")),
    # `[*]` is whatever stands in brackets
    ("metadata.annotations[*]", ("metadata", "annotations", "example.com/x")),
    ("**.containers[*].image", IMAGE),
    ("a[*]", ("a", 3)),
    ("a[*]", ("a", ("app",))),
    ("a[*]", ("a", ())),
    ("**.containers[name=app].image", IMAGE),
    ("**.containers[app].image", IMAGE),
    ("a[app]", ("a", ("app",))),
    ("items[Deployment/web]", ("items", ("Deployment/web",))),
    ("ports[port=80,protocol=TCP]", ("ports", PORT)),
    ("ports[protocol=TCP,port=80]", ("ports", PORT)),
    ("ports[port=80]", ("ports", PORT)),
    ("annotations[example.com/x]", ("annotations", "example.com/x")),
    ('annotations["example.com/x"]', ("annotations", "example.com/x")),
    ('a["*"]', ("a", "*")),
    ('a["x,y"]', ("a", "x,y")),
    ("a[x,y]", ("a", "x,y")),
    ('a[name="a,b"]', ("a", (("name", "a,b"),))),
    ("a[3]", ("a", 3)),
    ("a.3", ("a", "3")),
    ("finalizers[]", ("finalizers", ())),
    # a place in a list that has no keys counts as the list
    ("args", ("args", 3)),
    ("**.args", ("spec", "args", 0)),
]


@pytest.mark.parametrize("text, path", MEANT)
def test_patterns_that_mean_a_place(text, path):
    assert matches(pattern(text), path)


OTHERS = [
    ("", ("spec",)),
    ("spec", ()),
    ("spec", ("spec", "a")),
    ("image", IMAGE),
    ("*.image", IMAGE),
    ("**.tag", IMAGE),
    ("a.**.b.c", ("a", "b")),
    ("a.*", ("a", APP)),
    ("a.*", ("a", ("app",))),
    ("a[*]", ("a", "plain")),
    ("a[plain]", ("a", "plain")),
    ("**.containers[name=web].image", IMAGE),
    ("**.containers[web].image", IMAGE),
    ("ports[port=80,name=a]", ("ports", PORT)),
    ("ports[port=8]", ("ports", PORT)),
    ("ports[80]", ("ports", PORT)),
    ("ports[]", ("ports", PORT)),
    ('a["*"]', ("a", "example.com/x")),
    ("a[0]", ("a", 1)),
    ("a[0]", ("a", "0")),
    ("a.0", ("a", 0)),
    ("a.b", ("a", (("b", "c"),))),
    ("a[b=c]", ("a", "b")),
    ("args", ("args", APP)),
]


@pytest.mark.parametrize("text, path", OTHERS)
def test_patterns_that_mean_another_place(text, path):
    assert not matches(pattern(text), path)


TEXT = st.text(st.sampled_from("ab$.[]=,\"'\\/* \n\t03é"), max_size=5)
PAIRS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=2).map(tuple)
ELEMENTS = PAIRS | TEXT.map(lambda text: (text,)) | st.just(())
PATHS = st.lists(TEXT | st.integers(0, 12) | ELEMENTS, max_size=5).map(tuple)


@given(PATHS)
def test_what_is_shown_means_its_own_place(path):
    assert matches(pattern(show(path)), path)
    assert matches(pattern(show(path, quoted=True)), path)
    assert matches(pattern("**"), path)


@given(PATHS, PATHS)
def test_two_places_are_told_apart(one, other):
    if show(one) != show(other) and not any(isinstance(step, tuple) for step in other):
        assert one[:-1] == other or other[:-1] == one or not matches(pattern(show(one)), other)


@given(TEXT | st.text(max_size=8), PATHS)
def test_no_pattern_is_an_error(text, path):
    assert matches(pattern(text), path) in (True, False)
