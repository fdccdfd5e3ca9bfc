"""Files that one side renamed: what tells, and what becomes of the names of both."""

import pytest

from kmerge_git.merge.three import Three
from kmerge_git.packages.package_files import File
from kmerge_git.packages.package_merge import Merged, merge_packages
from kmerge_git.packages.package_rules import ways
from kmerge_git.packages.renamed_files import arrivals, find_renames

WORDS = ("original", "dest", "updated")
KYAML, GIT = (ways(rules, labels=WORDS) for rules in ("kyaml", "git"))
EITHER = pytest.mark.parametrize("how", [KYAML, GIT], ids=["kyaml", "git"])


def package(files: dict[str, str]) -> dict[str, File]:
    return {path: File(text.encode()) for path, text in files.items()}


def merge(original: dict, updated: dict, dest: dict, how=KYAML) -> Merged:
    return merge_packages(Three(package(original), package(dest), package(updated)), how)


def texts(merged: Merged) -> dict[str, str]:
    return {r.path: r.after.data.decode() for r in merged.files if r.after is not None}


def told(merged: Merged) -> dict[str, str]:
    return {r.path: r.unmerged or r.note for r in merged.files if r.unmerged or r.note}


def script(name: str, size: int = 8) -> str:
    return "".join(f"{name} {i}\n" for i in range(size))


def secret(name: str, kind: str = "x", more: str = "") -> str:
    return f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\ntype: {kind}\n{more}"


def values(changed: str = "1") -> str:
    return "".join(f"key{i}: {i}\n" for i in range(6)) + f"last: {changed}\n"


def listed(*secrets: str) -> str:
    """The same in a `List`."""
    items = "".join("- " + text.rstrip().replace("\n", "\n  ") + "\n" for text in secrets)
    return f"apiVersion: v1\nkind: List\nitems:\n{items}"


def renames(base: dict[str, str], side: dict[str, str]) -> dict[str, str]:
    gone = {path: (file,) for path, file in package(base).items() if path not in side}
    fresh = {path: file for path, file in package(side).items() if path not in base}
    return find_renames(gone, fresh, arrivals(package(base), package(side)))


@pytest.mark.parametrize(
    "base, side, expected",
    [
        ({"a": "1"}, {"b": "1"}, {"a": "b"}),
        ({"a": ""}, {"b": ""}, {}),
        ({"a": "1", "b": "1"}, {"c": "1"}, {}),
        ({"x/a": "1", "x/b": "1"}, {"y/b": "1", "y/a": "1"}, {"x/a": "y/a", "x/b": "y/b"}),
        ({"x/a": "1", "z/a": "1"}, {"y/a": "1", "w/a": "1"}, {}),
        ({"run": script("r")}, {"start": script("r") + "more\n"}, {"run": "start"}),
        ({"run": script("r")}, {"start": script("s")}, {}),
        (
            {"l.yaml": listed(secret("a"), secret("b", more=values()))},
            {"a.yaml": secret("a"), "b.yaml": secret("b", more=values())},
            {},
        ),
        (
            {"l.yaml": listed(secret("a"))},
            {"m.yaml": listed(secret("a", "y"))},
            {"l.yaml": "m.yaml"},
        ),
        ({"run": script("r")}, {"a": script("r") + "a\n", "b": script("r") + "b\n"}, {}),
        ({"a.yaml": secret("a")}, {"b.yaml": secret("a", "other")}, {"a.yaml": "b.yaml"}),
        ({"a.yaml": secret("a")}, {"b.yaml": secret("b", "other")}, {}),
        ({"a.yaml": values()}, {"b.yaml": values("2")}, {"a.yaml": "b.yaml"}),
        ({"a.yaml": values()}, {"a.txt": values("2")}, {}),
        (
            {"a.yaml": secret("a") + "---\n" + secret("b")},
            {"b.yaml": secret("a"), "c.yaml": secret("b")},
            {},
        ),
        (
            {"a.yaml": secret("a") + "---\n" + secret("b"), "c.yaml": secret("c")},
            {"b.yaml": secret("b"), "c.yaml": secret("c") + "---\n" + secret("a")},
            {},
        ),
        (
            {"a.yaml": "{{- if .Values.a }}\n" + script("x: y")},
            {"b.yaml": "{{- if .Values.b }}\n" + script("x: y")},
            {"a.yaml": "b.yaml"},
        ),
        (
            {"x/a.yaml": secret("a", "1"), "z/a.yaml": secret("a", "2")},
            {"y/a.yaml": secret("a", "1"), "w/a.yaml": secret("a", "2", "more: 1\n")},
            {"x/a.yaml": "y/a.yaml", "z/a.yaml": "w/a.yaml"},
        ),
    ],
)
def test_what_became_of_a_file(base, side, expected):
    assert renames(base, side) == expected


def test_folders_tell_which_of_many_alike_is_which():
    base = {f"old/{n}/x": script("r") for n in "ab"} | {f"old/{n}/{n}": script(n) for n in "ab"}
    side = {path.replace("old", "new"): text for path, text in base.items()}
    assert renames(base, side) == {path: path.replace("old", "new") for path in base}


@pytest.mark.costly
def test_five_hundred_renamed_and_changed_files():
    base = {f"a/{n}.sh": script("all") + script(f"of {n}") for n in range(500)}
    side = {p.replace("a/", "b/"): text.replace("all 1", "one") for p, text in base.items()}
    assert renames(base, side) == {path: path.replace("a/", "b/") for path in base}


FILES = [
    ("run.sh", script("r"), "r 0", "r 7"),
    ("values.yaml", values(), "key0: 0", "last: 1"),
    ("s.yaml", secret("s", more=values()), "key0: 0", "last: 1"),
    ("t.yaml", "{{- if .Values.t }}\n" + values(), "key0: 0", "last: 1"),
]


@EITHER
@pytest.mark.parametrize("name, text, first, last", FILES, ids=[f[0] for f in FILES])
class TestNames:
    """Upstream changes the first line, dest the last one, and one of them the name."""

    def sides(self, text, first, last):
        upstream, dest = text.replace(first, first + "u"), text.replace(last, last + "d")
        return upstream, dest, upstream.replace(last, last + "d")

    def test_renamed_in_updated(self, how, name, text, first, last):
        upstream, dest, both = self.sides(text, first, last)
        merged = merge({name: text}, {f"new/{name}": upstream}, {name: dest}, how)
        assert texts(merged) == {f"new/{name}": both}
        assert [(m.name, m.source, m.target) for m in merged.moves] == [("", name, f"new/{name}")]
        [found] = [r for r in merged.files if r.after]
        assert (found.status, found.source) == ("renamed", name)
        assert not told(merged)

    def test_renamed_in_dest(self, how, name, text, first, last):
        upstream, dest, both = self.sides(text, first, last)
        merged = merge({name: text}, {name: upstream}, {f"my/{name}": dest}, how)
        assert texts(merged) == {f"my/{name}": both}
        assert not told(merged)

    def test_renamed_alike(self, how, name, text, first, last):
        upstream, dest, both = self.sides(text, first, last)
        merged = merge({name: text}, {f"new/{name}": upstream}, {f"new/{name}": dest}, how)
        assert texts(merged) == {f"new/{name}": both}
        assert not told(merged)

    def test_renamed_differently(self, how, name, text, first, last):
        upstream, dest, both = self.sides(text, first, last)
        merged = merge({name: text}, {f"new/{name}": upstream}, {f"my/{name}": dest}, how)
        assert texts(merged) == {f"my/{name}": both}
        assert told(merged) == {
            f"my/{name}": f"renamed to new/{name} in updated; dest's name is kept"
        }
        assert not any(r.is_conflict for r in merged.files)

    def test_renamed_and_gone(self, how, name, text, first, last):
        upstream, dest, _ = self.sides(text, first, last)
        merged = merge({name: text}, {f"new/{name}": upstream}, {}, how)
        assert texts(merged) == {}
        assert told(merged)
        assert texts(merge({name: text}, {f"new/{name}": text}, {}, how)) == {}
        assert texts(merge({name: text}, {}, {f"my/{name}": text}, how)) == {}
        merged = merge({name: text}, {}, {f"my/{name}": dest}, how)
        assert texts(merged) == {f"my/{name}": dest}
        assert told(merged)


@EITHER
def test_nothing_is_overwritten_where_dest_has_a_file_of_its_own(how):
    upstream, dest = script("r").replace("r 0", "zero"), script("r").replace("r 7", "seven")
    both = upstream.replace("r 7", "seven")
    merged = merge({"a": script("r")}, {"b": upstream}, {"a": dest, "b": "mine\n"}, how)
    assert texts(merged) == {"a": both, "b": "mine\n"}
    assert told(merged) == {"a": "renamed to b in updated, but dest has another file"}
    merged = merge({"a": script("r")}, {"b": upstream}, {"a": dest, "b/mine": "1\n"}, how)
    assert texts(merged) == {"a": both, "b/mine": "1\n"}
    assert told(merged) == {
        "a": "renamed to b in updated, but dest has a file or directory in the way"
    }


@EITHER
def test_a_file_that_becomes_a_folder_of_itself(how):
    merged = merge(
        {"a": script("r")}, {"a/b": script("r") + "u\n"}, {"a": "d\n" + script("r")}, how
    )
    assert texts(merged) == {"a/b": "d\n" + script("r") + "u\n"}
    merged = merge(
        {"a/b": script("r")}, {"a": script("r") + "u\n"}, {"a/b": "d\n" + script("r")}, how
    )
    assert texts(merged) == {"a": "d\n" + script("r") + "u\n"}


@EITHER
@pytest.mark.parametrize(
    "dest, result, notes",
    [
        ("other\n", {"a/b": script("r")}, {}),
        (
            "mine\n",
            {"a": "mine\n", "b": script("r")},
            {
                "a": "deleted in updated, changed in dest; dest's version is kept",
                "b": "renamed to a/b in updated, but dest has a file or directory in the way",
            },
        ),
    ],
    ids=["unchanged in dest", "changed in dest"],
)
def test_a_file_that_moves_below_the_name_of_a_deleted_one(how, dest, result, notes):
    original = {"a": "other\n", "b": script("r")}
    merged = merge(original, {"a/b": script("r")}, original | {"a": dest}, how)
    assert texts(merged) == result
    assert told(merged) == notes


@EITHER
def test_what_dest_added_goes_along_with_the_file(how):
    own = secret("own")
    both = secret("a") + "---\n"
    merged = merge({"x.yaml": secret("a")}, {"y.yaml": secret("a")}, {"x.yaml": both + own}, how)
    assert texts(merged) == {"y.yaml": both + own}


@EITHER
def test_what_dest_added_stays_where_a_file_was_split(how):
    own, a, b = secret("own"), secret("a"), secret("b")
    dest = "---\n".join([a, b.replace("type: x", "type: mine"), own])
    merged = merge({"x.yaml": f"{a}---\n{b}"}, {"a.yaml": a, "b.yaml": b}, {"x.yaml": dest}, how)
    assert texts(merged) == {
        "a.yaml": a,
        "b.yaml": b.replace("type: x", "type: mine"),
        "x.yaml": own,
    }


@EITHER
def test_a_copy_in_dest_is_no_part_of_a_move(how):
    a, b = secret("a"), secret("b")
    dest = {"x.yaml": f"{a}---\n{b}", "copy.yaml": secret("b", "copy")}
    merged = merge({"x.yaml": f"{a}---\n{b}"}, {"x.yaml": a, "n.yaml": b}, dest, how)
    assert texts(merged) == {"x.yaml": a, "n.yaml": b, "copy.yaml": secret("b", "copy")}


@EITHER
def test_where_dest_has_a_resource_in_both_files_it_is_no_move(how):
    a, b = secret("a"), secret("b")
    dest = {"x.yaml": f"{a}---\n{b}", "n.yaml": b}
    merged = merge({"x.yaml": f"{a}---\n{b}"}, {"x.yaml": a, "n.yaml": b}, dest, how)
    assert texts(merged) == {"x.yaml": a, "n.yaml": b}
