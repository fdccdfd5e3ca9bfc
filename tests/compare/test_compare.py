"""What changed in a file, said in a line a change."""

from __future__ import annotations

import pytest

from kmerge_git.compare.file_changes import compare
from kmerge_git.compare.folder_changes import FileVersion, compare_folders
from kmerge_git.compare.shown_changes import change_lines, file_lines, summary

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"


def told(old: str, new: str, path: str = "a.yaml") -> list[str]:
    return [text for text, _ in change_lines(compare(old.encode(), new.encode(), path))]


LINES = [
    ("a: 1", "a: 2", ["a: 1 -> 2"]),
    ("a: 1", "a: '1'", ['a: 1 -> "1"']),
    ("a: 1.10", "a: 1.1", ["layout: 1.10 written as 1.1"]),
    ("a: 1.10", "a: 1.20", ["a: 1.10 -> 1.20"]),
    ("a: yes", "a: no", ["a: yes -> no"]),
    ("a: x", "a:", ["a: x -> null"]),
    ("a: x", "a: {b: 1}", ["a: x -> {b: 1}"]),
    ("a: x", "b: x", ["b: + x", "a: - x"]),
    ("a: x # why", "a: x # because", ["comments: - # why, + # because"]),
    ("a: x", "a: x # because\nb: y", ["b: + y", "comments: + # because"]),
    ("a: x", 'a: "x"', ["layout: quoting"]),
    ("a: 16", "a: 0x10", ["layout: spelling"]),
    ("a: 1\nb: 2", "b: 2\na: 1", ["layout: key order"]),
    ("a:\n  b: 1", "a:\n    b: 1", ["layout: indentation"]),
    ("a: {b: 1}", "a:\n  b: 1", ["layout: block style"]),
    ("a: 1\nb: 2", "a: 1\n\nb: 2", ["layout: blank lines"]),
    ("a: &x 1", "a: &y 1", ["layout: anchors"]),
    ("a: 1\nb: 2", "a: 1\r\nb: 2\r", ["layout: line endings (CRLF)"]),
    ("a: |\n  # no comment\n  x", "a: |\n  # none\n  x",
     ["a:", "    1- # no comment", "    1+ # none"]),
    ("old: {a: 1, b: 2, c: 3}", "new: {a: 1, b: 2, c: 4}",
     ["new: renamed from old", "  new.c: 3 -> 4"]),
    ("old: {a: 1}", "new: {a: 1}", ["new: + {a: 1}", "old: - {a: 1}"]),
    # an alias is what it stands for
    ("a: &x {b: 1}\nc: *x", "a: &x {b: 2}\nc: *x", ["a.b: 1 -> 2", "c.b: 1 -> 2"]),
    # lists by their keys, and without any
    ("l: [{name: a, v: 1}, {name: b}]", "l: [{name: b}, {name: a, v: 2}]",
     ["l[name=a].v: 1 -> 2", "l: new order: name=b, name=a"]),
    ("l: [{name: a, value: 1}]", "l: [{name: b, value: x y}]", ["l: + b=x y, - a"]),
    ("l: [a, b, c]", "l: [c, a, b]", ["l: new order: c, a, b"]),
    ("l: [a, b]", "l: [a, c]", ["l[1]: b -> c"]),
    ("l: [a]", "l: [a, b, c]", ["l: + b, + c"]),
    ("l: [a, a]", "l: [a]", ["l: - a"]),
    ("[a]", "[b]", ["[0]: a -> b"]),
    ("a", "b", ["document: a -> b"]),
    ("l: [{v: 1, w: 1}, {v: 2, w: 2}]", "l: [{x: 1}, {v: 1, w: 1}, {v: 2, w: 3}]",
     ["l: + {x: 1}", "l[2].w: 2 -> 3"]),
    ("data:\n  a: ENC[x]\n  b: ENC[y]", "data:\n  a: ENC[z]",
     ["data.a: (encrypted) -> another value", "data.b: - (encrypted)"]),
    ("a: ENC[x]", "a: (encrypted)", ['a: (encrypted) -> "(encrypted)"']),
    ("l: []", "l: [{name: a, value: '5'}, {name: b, value: 5}, {name: c, value: true}]",
     ["l: + a=5, + {name: b, value: 5}, + {name: c, value: true}"]),
    # what looks the same is told apart
    ("a: x y", "a: x\u00a0y", ["a: x y -> x\\xa0y"]),
    ("a: \u00e9", "a: e\u0301", ["a: \\xe9 -> e\\u0301"]),
    ("a: |\n  x\n  b y", "a: |\n  x\n  b\u00a0y", ["a:", "    2- b y", "    2+ b\\xa0y"]),
    ("a: |\n  x\n  b", "a: |\n  x\n  b  ", ["a:", "    2- b", "    2+ b (2 trailing spaces)"]),
    ("a: {{ .x }}", "a: {{ .x }} ",
     ["  1- a: {{ .x }}", "  1+ a: {{ .x }} (1 trailing space)"]),
    # what has no fields
    ("a: {{ .x }}\nb: 1", "a: {{ .y }}\nb: 1", ["  1- a: {{ .x }}", "  1+ a: {{ .y }}"]),
    ("a: [", "a: ]", ["  1- a: [", "  1+ a: ]"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "lines"), LINES)
def test_a_line_a_change(old: str, new: str, lines: list[str]) -> None:
    assert told(f"{old}\n", f"{new}\n") == lines


def test_a_long_value_is_cut_where_it_is_the_same() -> None:
    digest = "sha256:" + "ab" * 32
    (line,) = told(f"image: example.com/app@{digest}1\n", f"image: example.com/app@{digest}2\n")
    assert line == (
        "image: example.com/app@sha256:ababababa…abababababab1"
        " -> example.com/app@sha256:ababababa…abababababab2"
    )
    (line,) = told("a: 1\n", f"a: 1\nb: {'x' * 500}\n")
    assert line.endswith("… (500 characters)")


@pytest.mark.parametrize("around", ["a: |\n  x\n  {}\n", "a: {{{{ .x }}}} {}\n", "l: [a, {}]\n",
                                    "a: 1 # {}\n"])  # fmt: skip
def test_of_long_texts_the_end_is_shown_where_they_differ(around: str) -> None:
    """In lines of texts and templates, in elements beside others, in comments."""
    long = "x" * 300
    new = around.format(f"{long} new").replace("]", ", more]")
    found = told(around.format(f"{long} old"), new)
    assert [line for line in found if line.endswith("xxxxxxxxxxx old")]
    assert [line for line in found if line.endswith("xxxxxxxxxxx new")]


def test_of_many_lines_some_of_both_versions_are_shown() -> None:
    """What came may not hide behind what went."""
    old, new = ("".join(f"  {word} {n}\n" for n in range(50)) for word in ("old", "new"))
    found = told(f"a: |\n{old}", f"a: |\n{new}")
    assert [line for line in found if "- old 19" in line]
    assert [line for line in found if "+ new 19" in line]
    assert found[-1] == "  … 60 more lines"


def test_of_many_elements_those_are_named_that_moved() -> None:
    names = [f"element number {n}" for n in range(30)]
    moved = [*names[:3], *names[4:9], names[3], *names[9:]]
    old, new = ("".join(f"- {name}\n" for name in found) for found in (names, moved))
    assert told(old, new) == ["document: new order: 1 of 30 moved: element number 3"]


def test_a_large_value_is_shown_as_it_would_stand_in_the_file() -> None:
    limits = "".join(f"    k{n}: a longer value {n}\n" for n in range(20))
    found = told("a: 1\n", f"a: 1\nb:\n  limits:\n{limits}")
    assert found[:3] == ["b: added", "  + limits:", "  +   k0: a longer value 0"]
    assert found[-1] == "  … 9 more lines"
    assert told(f"a: 1\nb:\n  limits:\n{limits}", "a: 1\n") == ["b: deleted, 20 values"]


def test_resources_that_come_go_and_are_renamed() -> None:
    one, two = (POD.replace("name: p", f"name: {name}") + "spec: {x: 1}\n" for name in ("a", "b"))
    assert told(one, f"{one}---\n{two}") == ["Pod/b: added"]
    assert told(f"{one}---\n{two}", two) == ["Pod/a: deleted"]
    assert told(f"{one}---\n{two}", f"{two}---\n{one}") == ["resources: new order: Pod/b, Pod/a"]
    spec = "spec: {a: 1, b: 2, c: 3, d: 4, e: 5}\n"
    found = told(POD + spec, POD.replace("name: p", "name: q") + spec.replace("5", "6"))
    assert found == ["Pod/q: renamed from p", "  spec.e: 5 -> 6"]


def test_names_that_stand_several_times() -> None:
    """Nothing tells which is which: the first is the first."""
    texts = [f"{POD}spec: {{v: {n}}}\n" for n in range(4)]
    assert told("---\n".join(texts[:2]), "---\n".join(texts[2:])) == [
        *("Pod/p", "  spec.v: 0 -> 2", "Pod/p", "  spec.v: 1 -> 3"),
    ]
    assert told("---\n".join(texts[:2]), texts[1]) == ["Pod/p: deleted"]


def test_a_resource_of_another_namespace() -> None:
    old, new = (POD.replace("name: p", f"name: p, namespace: {name}") for name in ("a", "b"))
    assert told(old, new) == ["Pod/p in a: deleted", "Pod/p in b: added"]


def test_documents_without_a_name_have_a_number() -> None:
    swapped = "b: 1\n---\na: 1\n"
    found = told("a: 1\n---\nb: 1\n", swapped)
    assert found == ["resources: new order: document 2, document 1"]
    assert told("a: 1\n---\nb: 1\n", "a: 1\n---\nb: 2\n") == ["document 2", "  b: 1 -> 2"]


def test_a_comment_between_documents() -> None:
    assert told(f"# one\n---\n{POD}", f"# two\n---\n{POD}") == ["comments: - # one, + # two"]
    assert told(POD, f"---\n{POD}") != []


@pytest.mark.parametrize(
    "data", [b"\xff\xfea\0", b"a: \xff\n", b"\0", b"a: \x01\n", b"- - " * 5000]
)
def test_no_bytes_are_too_odd(data: bytes) -> None:
    for old, new in ((data, b"a: 1\n"), (b"a: 1\n", data), (None, data), (data, None)):
        found = compare(old, new, "a.yaml")
        assert found
        assert list(change_lines(found))


def test_an_alias_that_stands_for_a_billion() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(
        f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n"
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    (change,) = compare(bomb.encode(), (bomb + "z: 1\n").encode())
    assert change.how == "lines"


def test_a_file_that_is_new_or_gone() -> None:
    (new,) = compare_folders({}, {"a.yaml": FileVersion(POD.encode())})
    assert [t for t, _ in file_lines(new)] == ["a.yaml: added", "  Pod/p: added"]
    assert [t for t, _ in file_lines(new, full=True)][2:] == [
        *("    + apiVersion: v1", "    + kind: Pod", "    + metadata: {name: p}"),
    ]
    (gone,) = compare_folders({"a.yaml": FileVersion(POD.encode())}, {})
    assert summary(gone) == "a.yaml: deleted, 1 resource deleted"


def test_comments_that_a_moved_resource_lost() -> None:
    old = {"a.yaml": FileVersion(f"# ask Ada first\n{POD}x: 'z'  # why\n---\na: 1\n".encode())}
    new = {"a.yaml": FileVersion(b"a: 1\n"), "b.yaml": FileVersion(f"{POD}x: z\n".encode())}
    found = [t for file in compare_folders(old, new) for t, _ in file_lines(file)]
    assert found[-3:] == [
        "  Pod/p: moved from a.yaml",
        "    layout: quoting",
        "    comments: - # ask Ada first, - # why",
    ]


def test_a_resource_of_two_places_did_not_move() -> None:
    """Each overlay has a version of it: which went where is not known."""
    files = {p: FileVersion(POD.encode()) for p in ("a/x.yaml", "b/x.yaml")}
    other = {"c/y.yaml": FileVersion((POD + "spec: {a: 1}\n---\na: 1\n").encode())}
    found = [t for file in compare_folders(files, other) for t, _ in file_lines(file)]
    assert not [line for line in found if "moved" in line]


def test_what_nothing_else_tells_is_told_as_spelling() -> None:
    assert told("a: 1\n", "a: 1\n---\n# end\n---\n") == ["comments: + # end"]
    assert told("a: 1\n", "a: 1\n---\n") == ["layout: spelling"]


def test_a_broken_document_that_nobody_changed_hides_no_fields() -> None:
    """As where a template opens and closes in documents of its own."""
    around = "- {{ if .on\n---\na: 1\nb: %s\n---\n- ]\n"
    assert told(around % 1, around % 2) == ["document 2", "  b: 1 -> 2"]
