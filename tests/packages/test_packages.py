"""Directories: files by path, resources wherever they are."""

import pytest

from kmerge_git.errors import CannotParse
from kmerge_git.merge.three import Three
from kmerge_git.packages.files import File
from kmerge_git.packages.merging import ResultFile, merge_packages
from kmerge_git.packages.moves import gather
from kmerge_git.packages.ways import two_ways, ways

KYAML = ways("kyaml", labels=("original", "dest", "updated"))


def secret(name: str, kind: str = "x", more: str = "") -> str:
    return f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\ntype: {kind}\n{more}"


def stream(*documents: str) -> str:
    return "---\n".join(documents)


def package(files: dict[str, str]) -> dict[str, File]:
    return {path: File(text.encode()) for path, text in files.items()}


def merge(original: dict, updated: dict, dest: dict) -> dict[str, ResultFile]:
    at = Three(package(original), package(dest), package(updated))
    return {result.path: result for result in merge_packages(at, KYAML).files}


def texts(results: dict[str, ResultFile]) -> dict[str, str]:
    return {path: r.after.data.decode() for path, r in results.items() if r.after is not None}


A, B = secret("a"), secret("b")

TABLE = {
    "unchanged": ({"a.yaml": A}, {"a.yaml": A}, {"a.yaml": A}, {"a.yaml": A}),
    "changed in updated": (
        {"a.yaml": A},
        {"a.yaml": secret("a", "new")},
        {"a.yaml": A},
        {"a.yaml": secret("a", "new")},
    ),
    "changed in both": (
        {"a.yaml": A},
        {"a.yaml": secret("a", "new")},
        {"a.yaml": secret("a", "x", "data: {}\n")},
        {"a.yaml": secret("a", "new", "data: {}\n")},
    ),
    "added in updated": ({}, {"a.yaml": A}, {}, {"a.yaml": A}),
    "only in dest": ({}, {}, {"a.yaml": A}, {"a.yaml": A}),
    "deleted in updated": ({"a.yaml": A}, {}, {"a.yaml": A}, {}),
    "deleted in updated, changed in dest": (
        {"a.yaml": A},
        {},
        {"a.yaml": secret("a", "mine")},
        {},
    ),
    "deleted in updated, dest has more": (
        {"a.yaml": A},
        {},
        {"a.yaml": stream(A, B)},
        {"a.yaml": B},
    ),
    "deleted in dest": ({"a.yaml": A}, {"a.yaml": A}, {}, {}),
    "deleted in dest, changed in updated": (
        {"a.yaml": A},
        {"a.yaml": secret("a", "new")},
        {},
        {},
    ),
    "deleted in dest, more in updated": (
        {"a.yaml": A},
        {"a.yaml": stream(A, B)},
        {},
        {"a.yaml": B},
    ),
    "moved in updated": (
        {"all.yaml": stream(A, B)},
        {"all.yaml": A, "new/b.yaml": secret("b", "new")},
        {"all.yaml": stream(A, secret("b", "x", "data: {}\n"))},
        {"all.yaml": A, "new/b.yaml": secret("b", "new", "data: {}\n")},
    ),
    "moved in updated to a file that is there": (
        {"a.yaml": A, "b.yaml": B},
        {"a.yaml": stream(A, B)},
        {"a.yaml": A, "b.yaml": secret("b", "mine")},
        {"a.yaml": stream(A, secret("b", "mine"))},
    ),
    "moved in dest": (
        {"all.yaml": stream(A, B)},
        {"all.yaml": stream(A, secret("b", "new"))},
        {"all.yaml": A, "mine.yaml": secret("b", "x", "data: {}\n")},
        {"all.yaml": A, "mine.yaml": secret("b", "new", "data: {}\n")},
    ),
    "moved to different files": (
        {"all.yaml": stream(A, B)},
        {"all.yaml": A, "theirs.yaml": secret("b", "new")},
        {"all.yaml": A, "mine.yaml": B},
        {"all.yaml": A, "mine.yaml": secret("b", "new")},
    ),
    "the first document moved": (
        {"all.yaml": stream(A, B)},
        {"all.yaml": B, "a.yaml": A},
        {"all.yaml": stream(A, B)},
        {"all.yaml": B, "a.yaml": A},
    ),
    "moved in updated, deleted in dest": (
        {"all.yaml": stream(A, B)},
        {"all.yaml": A, "b.yaml": B},
        {"all.yaml": A},
        {"all.yaml": A},
    ),
    "moved in dest, deleted in updated": (
        {"all.yaml": stream(A, B)},
        {"all.yaml": A},
        {"all.yaml": A, "mine.yaml": B},
        {"all.yaml": A},
    ),
    "added by both in different files": (
        {},
        {"u.yaml": secret("n", "x", "u: 1\n")},
        {"d.yaml": secret("n", "x", "d: 1\n")},
        {"d.yaml": secret("n", "x", "d: 1\nu: 1\n")},
    ),
    "overlays of one resource are no moves": (
        {"base/a.yaml": A, "prod/a.yaml": secret("a", "prod")},
        {"base/a.yaml": secret("a", "new"), "prod/a.yaml": secret("a", "prod")},
        {"base/a.yaml": A, "prod/a.yaml": secret("a", "prod"), "dev/a.yaml": secret("a", "dev")},
        {
            "base/a.yaml": secret("a", "new"),
            "prod/a.yaml": secret("a", "prod"),
            "dev/a.yaml": secret("a", "dev"),
        },
    ),
    "other files": (
        {"f": "1", "gone": "1", "kept": "1"},
        {"f": "2", "new": "1", "kept": "1"},
        {"f": "1", "gone": "1", "kept": "mine", "own": "1"},
        {"f": "2", "new": "1", "kept": "mine", "own": "1"},
    ),
    "no manifest for all that it looks like": (
        {"t.yaml": "{{ x }}: [\n"},
        {"t.yaml": "{{ y }}: [\n"},
        {"t.yaml": "{{ x }}: [\n"},
        {"t.yaml": "{{ y }}: [\n"},
    ),
}


@pytest.mark.parametrize("case", TABLE.values(), ids=TABLE)
def test_three_packages(case):
    original, updated, dest, expected = case
    assert texts(merge(original, updated, dest)) == expected


def test_a_lost_change_is_listed():
    merged = merge({"a.yaml": A}, {}, {"a.yaml": secret("a", "mine")})["a.yaml"]
    assert [d.rule for d in merged.merged.decisions] == ["R1 lost"]
    assert merged.status == "deleted"


@pytest.mark.parametrize(
    "base, updated, dest, why",
    [
        ("1", "2", "3", "changed in dest, changed otherwise in updated"),
        ("1", None, "3", "changed in dest, deleted otherwise in updated"),
        ("1", "2", None, "deleted in dest, changed otherwise in updated"),
        (None, "2", "3", "added in dest, added otherwise in updated"),
    ],
)
def test_other_files_that_both_changed_are_reported(base, updated, dest, why):
    files = [{"f": text} if text is not None else {} for text in (base, updated, dest)]
    merged = merge(*files)["f"]
    assert merged.unmerged == f"{why}; dest's version is kept"
    assert merged.status == "same"


def test_bad_yaml_that_both_changed_is_an_error():
    with pytest.raises(CannotParse):
        merge({"a.yaml": A}, {"a.yaml": "a: [\n"}, {"a.yaml": secret("a", "mine")})


def test_a_file_that_sops_sealed_is_reported():
    sealed = "a: ENC[{n}]\nsops:\n  mac: ENC[{n}]\n"
    original, updated, dest = ({"s.yaml": sealed.format(n=n)} for n in range(3))
    merged = merge(original, updated, dest)["s.yaml"]
    assert merged.unmerged.startswith("a SOPS file")
    assert merged.status == "same"
    assert texts(merge(original, updated, original)) == updated


def test_a_moved_resource_is_named():
    at = Three(
        package({"a.yaml": stream(A, B)}),
        package({"a.yaml": stream(A, B)}),
        package({"a.yaml": A, "b.yaml": B}),
    )
    _, moves = gather(at)
    assert [(m.name, m.source, m.target) for m in moves] == [("Secret/b", "a.yaml", "b.yaml")]


def test_two_way():
    at = Three(
        {},
        package({"a.yaml": A, "own.txt": "1", "both.txt": "1", "b.yaml": B}),
        package(
            {"a.yaml": secret("a", "new"), "both.txt": "2", "new.txt": "1", "x/b.yaml": "kind: C\n"}
        ),
    )
    results = merge_packages(at, two_ways(labels=("", "dest", "src"))).files
    assert texts({r.path: r for r in results}) == {
        "a.yaml": secret("a", "new"),
        "b.yaml": B,
        "both.txt": "2",
        "new.txt": "1",
        "own.txt": "1",
        "x/b.yaml": "kind: C\n",
    }


def test_modes_come_with_the_file_and_stay():
    tool, plain = File(b"#!/bin/sh\n", 0o755), File(A.encode(), 0o600)
    changed = File(secret("a", "new").encode(), 0o644)
    at = Three({"a.yaml": File(A.encode())}, {"a.yaml": plain}, {"a.yaml": changed, "run": tool})
    results = merge_packages(at, KYAML).files
    assert {r.path: r.after.mode for r in results} == {"a.yaml": 0o600, "run": 0o755}
