"""Directories: files by path, resources wherever they are."""

import pytest

from kmerge_git.merge.three import Three
from kmerge_git.packages.followed_resources import gather
from kmerge_git.packages.package_files import File
from kmerge_git.packages.package_merge import ResultFile, merge_packages
from kmerge_git.packages.package_rules import Ways, two_ways, ways

KYAML = ways("kyaml", labels=("original", "dest", "updated"))
GIT = ways("git", labels=("original", "dest", "updated"))


def secret(name: str, kind: str = "x", more: str = "") -> str:
    return f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\ntype: {kind}\n{more}"


def stream(*documents: str) -> str:
    return "---\n".join(documents)


def package(files: dict[str, str]) -> dict[str, File]:
    return {path: File(text.encode()) for path, text in files.items()}


def merge(original: dict, updated: dict, dest: dict, how: Ways = KYAML) -> dict[str, ResultFile]:
    at = Three(package(original), package(dest), package(updated))
    return {result.path: result for result in merge_packages(at, how).files}


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
        {"a.yaml": secret("a", "mine")},
    ),
    "deleted in updated, dest has more": (
        {"a.yaml": A},
        {},
        {"a.yaml": stream(A, B)},
        {"a.yaml": B},
    ),
    "deleted in updated, dest has more and a change": (
        {"a.yaml": A},
        {},
        {"a.yaml": stream(secret("a", "mine"), B)},
        {"a.yaml": stream(secret("a", "mine"), B)},
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
    "deleted in dest, more and a change in updated": (
        {"a.yaml": A},
        {"a.yaml": stream(secret("a", "new"), B)},
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


def test_a_file_that_went_with_a_change_is_kept():
    merged = merge({"a.yaml": A}, {}, {"a.yaml": secret("a", "mine")})["a.yaml"]
    assert merged.unmerged == "deleted in updated, changed in dest; dest's version is kept"
    assert merged.status == "same"


def test_a_resource_that_went_with_a_change_is_lost_and_told():
    merged = merge({"a.yaml": stream(A, B)}, {"a.yaml": B}, {"a.yaml": stream(secret("a", "1"), B)})
    assert [d.rule for d in merged["a.yaml"].merged.decisions] == ["R1 lost"]
    assert texts(merged) == {"a.yaml": B}


def test_only_the_part_of_a_file_that_nobody_moved_is_kept():
    original = {"x.yaml": stream(A, B), "y.yaml": secret("y")}
    updated = {"y.yaml": stream(secret("y"), A)}
    dest = {"x.yaml": stream(secret("a", "1"), secret("b", "1")), "y.yaml": secret("y")}
    merged = merge(original, updated, dest)
    assert texts(merged) == {
        "x.yaml": secret("b", "1"),
        "y.yaml": stream(secret("y"), secret("a", "1")),
    }
    assert merged["x.yaml"].unmerged.startswith("deleted in updated")


DELETED = "deleted in dest, changed in updated; the file stays deleted"
KEPT = "deleted in updated, changed in dest; dest's version is kept"


@pytest.mark.parametrize("rules", [KYAML, GIT], ids=["kyaml", "git"])
@pytest.mark.parametrize("name", ["f", "f.yaml"])
@pytest.mark.parametrize("updated, dest, why", [(None, "a: 3\n", KEPT), ("a: 2\n", None, DELETED)])
def test_deleted_and_changed(rules, name, updated, dest, why):
    files = [{name: text} if text is not None else {} for text in ("a: 1\n", updated, dest)]
    merged = merge(*files, rules)[name]
    assert merged.unmerged == why
    assert merged.status == "same"


TEXT = "1\n2\n3\n4\n5\n"
UPDATED, MINE = TEXT.replace("1", "one"), TEXT.replace("5", "five")


@pytest.mark.parametrize("rules", [KYAML, GIT], ids=["kyaml", "git"])
@pytest.mark.parametrize("name", ["run.sh", "bad.yaml"])
def test_other_texts_are_merged_by_lines(rules, name):
    bad = "a: [\n" if name == "bad.yaml" else ""
    merged = merge({name: TEXT}, {name: bad + UPDATED}, {name: MINE}, rules)
    assert texts(merged) == {name: bad + UPDATED.replace("5", "five")}


def test_where_lines_clash_dests_stand_and_it_is_told():
    merged = merge({"f": TEXT}, {"f": UPDATED}, {"f": MINE.replace("1", "eins")})["f"]
    assert merged.after.data.decode() == MINE.replace("1", "eins")
    assert [(d.path, d.ours, d.theirs) for d in merged.merged.lost] == [
        ("[line 1]", "eins\n", "one\n")
    ]


def test_helpers_of_a_chart_are_merged_as_templates():
    base = '{{- define "a" -}}\na\n{{- end }}\n'
    new = '\n{{{{- define "{0}" -}}}}\n{0}\n{{{{- end }}}}\n'
    path = "templates/_helpers.tpl"
    sides = {path: base + new.format("theirs")}, {path: base + new.format("ours")}
    assert merge({"x.sh": base}, {"x.sh": sides[0][path]}, {"x.sh": sides[1][path]}, GIT)[
        "x.sh"
    ].merged.conflicts
    (made,) = merge({path: base}, *sides, GIT).values()
    assert not made.merged.conflicts
    assert made.after.data.decode() == base + new.format("ours") + new.format("theirs")


def test_where_lines_clash_there_are_markers_under_rules_git():
    merged = merge({"f": TEXT}, {"f": UPDATED}, {"f": MINE.replace("1", "eins")}, GIT)["f"]
    clash = "<<<<<<< dest\neins\n=======\none\n>>>>>>> updated\n"
    assert merged.after.data.decode() == clash + MINE[2:]
    assert merged.is_conflict


@pytest.mark.parametrize("rules", [KYAML, GIT], ids=["kyaml", "git"])
@pytest.mark.parametrize("name", ["f", "f.yaml"])
def test_there_are_never_markers_in_markers(rules, name):
    marked = "<<<<<<< a\n1\n=======\none\n>>>>>>> b\n2\n"
    merged = merge({name: "1\n2\n"}, {name: "one\n2\n"}, {name: marked}, rules)[name]
    assert merged.after.data.decode() == marked
    assert "conflict markers" in merged.unmerged


@pytest.mark.parametrize("rules", [KYAML, GIT], ids=["kyaml", "git"])
def test_binary_files(rules):
    merged = merge({"f": "1\0"}, {"f": "2\0"}, {"f": "1\0"}, rules)
    assert texts(merged) == {"f": "2\0"}
    merged = merge({"f": "1\0"}, {"f": "2\0"}, {"f": "3\0"}, rules)
    assert texts(merged) == {"f": "3\0"}
    assert merged["f"].unmerged.startswith("binary, changed in dest and in updated")


LINK = File(b"a", link=True)


@pytest.mark.parametrize(
    "original, updated, dest, after, is_told",
    [
        (LINK, File(b"b", link=True), LINK, File(b"b", link=True), False),
        (LINK, LINK, File(b"b", link=True), File(b"b", link=True), False),
        (LINK, File(b"b", link=True), File(b"c", link=True), File(b"c", link=True), True),
        (LINK, File(b"b"), File(b"c", link=True), File(b"c", link=True), True),
        (File(b"a"), LINK, File(b"c"), File(b"c"), True),
        (None, LINK, None, LINK, False),
        (None, LINK, File(b"a"), File(b"a"), True),
        (LINK, None, LINK, None, False),
    ],
)
def test_links(original, updated, dest, after, is_told):
    versions = (original, dest, updated)
    at = Three(*({"f": file} if file is not None else {} for file in versions))
    [found] = merge_packages(at, KYAML).files
    assert found.after == after
    assert found.is_conflict == is_told


@pytest.mark.parametrize(
    "original, updated, dest, mode",
    [
        (0o644, 0o755, 0o600, 0o700),
        (0o644, 0o755, 0o664, 0o775),
        (0o755, 0o644, 0o750, 0o640),
        (0o644, 0o600, 0o664, 0o664),
        (0o755, 0o755, 0o644, 0o644),
        (None, 0o700, None, 0o755),
        (None, 0o600, None, 0o644),
    ],
)
def test_modes(original, updated, dest, mode):
    versions = (original, dest, updated)
    at = Three(*({"f": File(b"1", m)} if m is not None else {} for m in versions))
    [found] = merge_packages(at, KYAML).files
    assert found.after.mode == mode
    assert not found.is_conflict


@pytest.mark.parametrize(
    "updated, dest",
    [
        (File(b"1", 0o755), File(b"2")),
        (File(b"2"), File(b"1", 0o755)),
        (File(b"2", 0o755), File(b"2")),
    ],
)
def test_one_side_changed_the_text_and_the_other_the_mode(updated, dest):
    at = Three({"f": File(b"1")}, {"f": dest}, {"f": updated})
    [found] = merge_packages(at, KYAML).files
    assert found.after == File(b"2", 0o755)
    assert not found.is_conflict


@pytest.mark.parametrize(
    "updated, dest, mode",
    [
        (None, 0o600, 0o600),
        (None, 0o750, 0o750),
        (0o600, None, 0o644),
        (0o700, None, 0o755),
    ],
)
def test_the_mode_of_what_one_side_added_to_a_file_that_the_other_deleted(updated, dest, mode):
    versions = ((A, 0o644), (stream(A, B), dest), (stream(A, B), updated))
    at = Three(*({"f.yaml": File(t.encode(), m)} if m is not None else {} for t, m in versions))
    [found] = merge_packages(at, KYAML).files
    assert found.after == File(B.encode(), mode)


def test_a_mode_merges_beside_the_text():
    at = Three({"f": File(b"1\n2\n3\n4\n")}, {"f": File(b"1\n2\n3\n5\n", 0o600)}, {})
    at = Three(at.base, at.ours, {"f": File(b"0\n2\n3\n4\n", 0o755)})
    [found] = merge_packages(at, KYAML).files
    assert found.after == File(b"0\n2\n3\n5\n", 0o700)


def test_a_clash_of_modes_is_told():
    at = Three({}, {"f": File(b"1")}, {"f": File(b"1", 0o755)})
    [found] = merge_packages(at, KYAML).files
    assert found.after == File(b"1")
    assert found.unmerged == "executable in updated, but not in dest; dest's mode is kept"


def test_a_file_where_dest_has_a_folder():
    merged = merge({}, {"f": "1"}, {"f/own": "2"})
    assert texts(merged) == {"f/own": "2"}
    assert "a directory in one version" in merged["f"].unmerged
    merged = merge({}, {"f/x": "1"}, {"f": "2"})
    assert texts(merged) == {"f": "2"}
    assert "a directory in one version" in merged["f/x"].unmerged
    assert texts(merge({"f": "1"}, {"f/x": "1"}, {"f": "1"})) == {"f/x": "1"}


def test_a_file_that_sops_sealed_is_reported():
    sealed = "a: ENC[{n}]\nsops:\n  mac: ENC[{n}]\n"
    original, updated, dest = ({"s.yaml": sealed.format(n=n)} for n in range(3))
    merged = merge(original, updated, dest)["s.yaml"]
    assert merged.unmerged.startswith("a file encrypted with SOPS")
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
    assert merge_packages(at, KYAML).moves == moves
    again = Three(at.base, at.theirs, at.theirs)
    assert merge_packages(again, KYAML).moves == []  # dest has it there already


def overlay(who: str, edited: str = "") -> str:
    """A Deployment of an overlay; all of them have one name."""
    lines = "".join(f"  {who}{n}: {n}\n" for n in range(4))
    return (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  labels:\n    app: web\n"
        f"spec:\n  level: {edited or 'info'}\n{lines}"
    )


def of_overlays(**owners: str) -> dict[str, str]:
    """A file for each folder, with a resource of its own and perhaps one or more Deployments."""
    return {
        f"{name}/all.yaml": stream(secret(name), *filter(None, [text]))
        for name, text in owners.items()
    }


PROD, DEV, EDITED = overlay("prod"), overlay("dev"), overlay("prod", "edited")


@pytest.mark.parametrize("order", ["dest moves", "updated moves"])
@pytest.mark.parametrize(
    "base, moved, edited, expected",
    [
        # prod's is deleted; qa's is a copy of dev's, which stays
        (
            {"prod": PROD, "dev": DEV, "qa": ""},
            {"prod": "", "dev": DEV, "qa": DEV},
            {"prod": EDITED, "dev": DEV, "qa": ""},
            {"prod": "", "dev": DEV, "qa": DEV},
        ),
        # it moved, and dev's has nothing to do with it
        (
            {"prod": PROD, "dev": DEV, "qa": ""},
            {"prod": "", "dev": DEV, "qa": PROD},
            {"prod": EDITED, "dev": DEV, "qa": ""},
            {"prod": "", "dev": DEV, "qa": EDITED},
        ),
        # each side adds one
        (
            {"prod": PROD, "dev": DEV, "qa": "", "new": ""},
            {"prod": PROD, "dev": DEV, "qa": DEV, "new": ""},
            {"prod": PROD, "dev": DEV, "qa": "", "new": EDITED},
            {"prod": PROD, "dev": DEV, "qa": DEV, "new": EDITED},
        ),
        # one side moves it, the other one deletes it and copies dev's
        (
            {"prod": PROD, "dev": DEV, "qa": "", "new": ""},
            {"prod": "", "dev": DEV, "qa": PROD, "new": ""},
            {"prod": "", "dev": DEV, "qa": "", "new": DEV},
            {"prod": "", "dev": DEV, "qa": "", "new": DEV},
        ),
    ],
)
def test_resources_of_one_name_are_told_apart(order, base, moved, edited, expected):
    base, moved, edited, expected = (
        of_overlays(**each) for each in (base, moved, edited, expected)
    )
    sides = (edited, moved) if order == "dest moves" else (moved, edited)
    assert texts(merge(base, *sides)) == expected


def test_a_copy_of_a_file_that_stays_is_no_renamed_file():
    base = {"prod/d.yaml": PROD, "dev/d.yaml": DEV}
    merged = merge(base, {"dev/d.yaml": DEV, "qa/d.yaml": DEV}, base | {"prod/d.yaml": EDITED})
    assert texts(merged) == base | {"prod/d.yaml": EDITED, "qa/d.yaml": DEV}
    assert merged["prod/d.yaml"].unmerged
    renamed = merge(base, {"dev/d.yaml": DEV, "qa/d.yaml": PROD}, base | {"prod/d.yaml": EDITED})
    assert texts(renamed) == {"dev/d.yaml": DEV, "qa/d.yaml": EDITED}


def test_a_move_within_a_folder_comes_before_a_copy_of_the_base_name():
    base, edited = {"prod/d.yaml": PROD}, {"prod/d.yaml": EDITED}
    merged = merge(base, {"prod/web.yaml": PROD, "apac/d.yaml": PROD}, edited)
    assert texts(merged) == {"prod/web.yaml": EDITED, "apac/d.yaml": PROD}
    open_one = merge(base, {"eu/web.yaml": PROD, "apac/d.yaml": PROD}, edited)
    assert texts(open_one) == edited | {"eu/web.yaml": PROD, "apac/d.yaml": PROD}
    assert open_one["prod/d.yaml"].unmerged


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
        "both.txt": "1",
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


def test_two_way_what_differs_and_is_no_manifest_is_told():
    at = Three({}, package({"t.yaml": "a: [\n", "f": "1"}), package({"t.yaml": "a: 1\n", "f": "2"}))
    for found in merge_packages(at, two_ways(labels=("", "dest", "src"))).files:
        assert found.status == "same"
        assert found.unmerged.endswith("dest's version is kept")


@pytest.mark.parametrize(
    "dest, src",
    [
        (File(b"b.yaml", link=True), File(A.encode())),  # dest's link is not written over
        (File(A.encode()), File(b"b.yaml", link=True)),
        (File(b"b.yaml", link=True), File(b"c.yaml", link=True)),
    ],
)
def test_two_way_a_link_that_differs_is_told(dest: File, src: File) -> None:
    at = Three({}, {"a.yaml": dest}, {"a.yaml": src})
    [found] = merge_packages(at, two_ways(labels=("", "dest", "src"))).files
    assert found.after == dest
    assert found.unmerged == "different in src; dest's version is kept"
