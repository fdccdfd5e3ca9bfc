"""Which resource is which, and which belong together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmerge_git.kube.identity import describe, identity, may_be_one, pairing
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split


def documents(text):
    return split(Source(text.encode())).documents


def known(text):
    return identity(documents(text)[0].root)


def doc(kind, name, *lines, api="v1", namespace=""):
    place = f"  namespace: {namespace}\n" if namespace else ""
    body = "".join(f"{line}\n" for line in lines)
    return f"apiVersion: {api}\nkind: {kind}\nmetadata:\n  name: {name}\n{place}{body}"


def stream(*texts):
    return documents("---\n".join(texts))


def paired(base, other, **options):
    return sorted(pairing(stream(*base), stream(*other), **options).pairs)


@pytest.mark.parametrize(
    "text, key",
    [
        (doc("Deployment", "web", api="apps/v1"), ("apps", "Deployment", "", "web", "")),
        (doc("Service", "web", namespace="a"), ("", "Service", "a", "web", "")),
        ("kind: A\nmetadata: {name: x}\n", ("", "A", "", "x", "")),
        (doc("A", "8080"), ("", "A", "", "8080", "")),
        (doc("A", '"8080"'), ("", "A", "", "8080", "")),
        ("kind: A\nmetadata:\n  generateName: x-\n", ("", "A", "", "", "x-")),
        (
            "kind: A\nmetadata: # kpt-merge: up/stream\n  name: local\n",
            ("", "A", "up", "stream", ""),
        ),
        (
            "kind: A\nmetadata:  # kpt-merge: /stream\n  name: x\n  namespace: y\n",
            ("", "A", "", "stream", ""),
        ),
    ],
)
def test_identity(text, key):
    assert known(text).key == key


@pytest.mark.parametrize(
    "text",
    [
        "---\n# only a comment\n",
        "- a\n",
        "a\n",
        "image:\n  tag: 1\n",
        "kind: Kustomization\nresources: [a]\n",
        "kind: A\nmetadata:\n  name:\n",
        "kind: A\nmetadata:\n  name: {a: b}\n",
        "kind:\nmetadata:\n  name: x\n",
        "kind: A\nmetadata: x\n",
        "a: &m {name: x}\nkind: A\nmetadata: *m\n",
    ],
)
def test_what_has_no_identity(text):
    assert known(text) is None


def test_the_version_is_no_part_of_it():
    old, new = known(doc("A", "x", api="g/v1beta1")), known(doc("A", "x", api="g/v1"))
    assert old == new
    assert hash(old) == hash(new)
    assert (old.version, new.version) == ("v1beta1", "v1")
    assert known(doc("A", "x", api="h/v1")) != new


@pytest.mark.parametrize(
    "text, short, full",
    [
        (doc("Deployment", "web", api="apps/v1"), "Deployment/web", "Deployment.apps web"),
        (doc("Service", "web", namespace="a"), "Service/web", "Service a/web"),
        ("kind: Job\nmetadata:\n  generateName: x-\n", "Job/x-*", "Job x-*"),
    ],
)
def test_describe(text, short, full):
    assert describe(known(text)) == short
    assert str(known(text)) == full


A, B, C = doc("A", "a"), doc("A", "b"), doc("A", "c")


def test_by_name_whatever_the_order():
    assert paired([A, B, C], [C, A]) == [(0, 1), (2, 0)]


def test_a_namespace_is_part_of_the_name():
    web = [doc("A", "x", namespace=n) for n in ("one", "two")]
    assert paired(web, web[::-1]) == [(0, 1), (1, 0)]


def test_a_kind_that_moved_to_another_group():
    old = doc("Ingress", "x", api="extensions/v1beta1")
    new = doc("Ingress", "x", api="networking.k8s.io/v1")
    assert paired([old], [new]) == [(0, 0)]
    assert paired([new], [old]) == [(0, 0)]
    assert paired([old], [doc("Ingress", "x", api="other.io/v1")]) == []


def test_setting_a_namespace_is_an_edit():
    assert paired([A], [doc("A", "a", namespace="n")]) == [(0, 0)]
    assert paired([doc("A", "a", namespace="n")], [doc("A", "a", namespace="m")]) == []
    assert paired([A], [doc("A", "a", namespace=n) for n in ("n", "m")]) == []


def test_generated_names_by_likeness_then_by_place():
    def job(*args):
        lines = "".join(f"  - {a}\n" for a in args)
        return f"kind: Job\nmetadata:\n  generateName: j-\nargs:\n{lines}"

    base = [job("a", "b", "c"), job("x", "y", "z"), job("1", "2", "3")]
    other = [job("x", "y", "Z"), job("7"), job("a", "b", "C")]
    assert paired(base, other) == [(0, 2), (1, 0), (2, 1)]
    assert paired(base[:1], base[:1], identified_only=True) == []


LINES = [f"field{i}: {i}" for i in range(10)]


def test_a_rename_is_the_same_resource():
    old, new = doc("A", "old", *LINES), doc("A", "new", *LINES)
    assert paired([old], [new]) == [(0, 0)]
    assert paired([old], [new], identified_only=True) == []
    assert paired([old], [doc("B", "new", *LINES)]) == []
    assert paired([old], [doc("A", "new", "field: other")]) == []


def test_a_rename_must_be_clear():
    old = doc("A", "old", *LINES)
    near = doc("A", "near", *LINES[:9])
    far = doc("A", "far", *LINES[:5], "x: 1", "y: 1", "z: 1")
    assert paired([old], [far, near]) == [(0, 1)]
    assert paired([old], [near, doc("A", "twin", *LINES[:9])]) == []


def test_what_only_its_name_tells_apart_is_no_rename():
    assert paired([doc("Namespace", "a")], [doc("Namespace", "b")]) == []


def test_documents_without_a_name_by_likeness_then_by_place():
    values = "image: a\ntag: b\nport: c\n"
    other = "x: 1\ny: 2\nz: 3\n"
    assert paired([values, other], [other, values]) == [(0, 1), (1, 0)]
    assert paired([values], ["all: new\n"]) == [(0, 0)]
    assert paired([values, "p: 1\n"], ["q: 2\n", values]) == [(0, 1), (1, 0)]
    assert paired(["kind: K\na: 1\n"], ["b: 2\n", "kind: K\nc: 3\n"]) == [(0, 1)]
    assert paired([values], [A]) == []


def test_the_same_name_twice_pairs_by_likeness():
    first, second = doc("A", "x", *LINES), doc("A", "x", "m: 1", "n: 2", "o: 3")
    edited = doc("A", "x", *LINES, "new: 1")
    assert paired([first, second], [second, edited]) == [(0, 1), (1, 0)]
    assert paired([first, second], [edited]) == [(0, 0)]
    assert paired([first, first], [first, first]) == [(0, 0), (1, 1)]


def test_what_cannot_be_told_apart_is_reported():
    first, second = doc("A", "x", "a: 1", "b: 2"), doc("A", "x", "a: 1", "b: 3")
    other = [doc("A", "x", "a: 1", "b: 4"), doc("A", "x", "a: 1", "b: 5")]
    found = pairing(stream(first, second, B), stream(*other, B))
    assert found.pairs == [(2, 2)]
    assert found.ambiguous_base == [0, 1]
    assert found.ambiguous_other == [0, 1]


def test_items_of_a_list_pair_as_documents_do():
    def items(*names):
        lines = "".join(f"- kind: A\n  metadata:\n    name: {n}\n" for n in names)
        root = documents(f"apiVersion: v1\nkind: List\nitems:\n{lines}")[0].root
        return [entry.value for entry in root.get("items").entries]

    assert sorted(pairing(items("a", "b"), items("b", "c", "a")).pairs) == [(0, 2), (1, 0)]


RESOURCES = st.lists(
    st.builds(
        lambda kind, name, line: doc(kind, name, line) if kind else f"{line}\n",
        st.sampled_from(["A", "B", ""]),
        st.sampled_from(["x", "y", "z"]),
        st.sampled_from(["a: 1", "a: 2", "b: 3"]),
    ),
    max_size=6,
)


@given(RESOURCES, RESOURCES)
def test_nothing_pairs_twice_and_the_sides_may_be_swapped(base, other):
    left, right = stream(*base), stream(*other)
    found = pairing(left, right)
    assert len({i for i, _ in found.pairs}) == len(found.pairs) == len({j for _, j in found.pairs})
    swapped = pairing(right, left)
    assert {(j, i) for i, j in swapped.pairs} == set(found.pairs)
    assert swapped.ambiguous_other == found.ambiguous_base


@given(RESOURCES)
def test_every_resource_pairs_with_itself_or_its_twin(base):
    documents_ = stream(*base)
    found = pairing(documents_, documents_)
    assert len(found.pairs) == len(documents_)
    assert all(documents_[i].content == documents_[j].content for i, j in found.pairs)


SERVICE = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {}\nspec:\n  a: {}\n  b: 1\n"


@pytest.mark.parametrize(
    "a, b, expected",
    [
        ("a: 1\nb: 1\n", "a: 1\nb: 2\n", True),
        ("a: 1\nb: 1\nc: 1\nd: 1\n", "a: 1\nb: 2\nc: 2\nd: 2\n", True),  # a quarter
        ("a: 1\nb: 1\nc: 1\nd: 1\n", "a: 1\nb: 2\nc: 2\nd: 2\ne: 2\n", False),
        ("a: 1\n", "b: 1\n", False),
        ("--- # a\n", "--- # a\n", False),  # nothing to be alike in
        ("a: 1\n", "--- # a\n", False),
        (SERVICE.format("x", 1), SERVICE.format("x\n  namespace: n", 2), True),
        (SERVICE.format("x", 1), SERVICE.format("x", 1).replace("v1", "a.example/v1"), True),
        (SERVICE.format("x", 1), SERVICE.format("y", 1), False),
        (SERVICE.format("x", 1), SERVICE.format("x", 1).replace("Service", "Web"), False),
        (SERVICE.format("x", 1), "spec:\n  a: 1\n  b: 1\n", False),
    ],
)
def test_the_only_documents_of_a_new_file_may_be_one(a, b, expected):
    mine, yours = (split(Source.of(text)).documents[0] for text in (a, b))
    assert may_be_one(mine, yours) is expected
    assert may_be_one(yours, mine) is expected
