"""`kmerge check --merge` of merges that somebody finished: what a side changed is there, or named."""

from __future__ import annotations

import pytest
from world import Repo

BASE = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\ndata:\n  a: one\n  b: one\n"
WEB = BASE.format("web")
OURS = WEB.replace("a: one", "a: ours")
THEIRS = WEB.replace("b: one", "b: theirs")
BOTH = OURS.replace("b: one", "b: theirs")


def found(repo: Repo, *words: str) -> list[str]:
    """What is found, without the lines that show the place."""
    lines = repo.kmerge("check", "--merge", *words, check=False).lines
    return [line for line in lines if ": error " in line or ": warning " in line]


def fork_where_theirs_deletes(repo: Repo, more: dict[str, str]) -> None:
    """Theirs deletes a file, or gives it another name."""
    repo.commit("base", {"web.yaml": WEB, "x": "1"})
    repo.branch("side")
    repo.git("rm", "-q", "web.yaml")
    repo.commit("theirs", {**more, "z": "1"})
    repo.switch("main")
    repo.commit("ours", {"x": "2"})


def merged(repo: Repo, files: dict[str, str | None]) -> None:
    """Merge without a commit, and commit what somebody made of it."""
    repo.merge("--no-commit", "--no-ff", "side")
    for path, text in files.items():
        if text is None:
            repo.git("rm", "-qf", path)
        else:
            repo.write(path, text)
    repo.git("add", "-A")
    repo.git("commit", "-m", "merged")


def test_a_file_that_one_side_alone_changed(repo: Repo) -> None:
    more = {"web.yaml": WEB, "other.yaml": BASE.format("other")}
    repo.fork(
        more,
        {"other.yaml": BASE.format("other").replace("one", "2")},
        {"web.yaml": THEIRS, "z": "1"},
    )
    merged(repo, {"web.yaml": WEB})
    [line] = found(repo)
    assert line.startswith("web.yaml:1:1: error M11 only theirs changed this file, but the merge ")
    assert line.endswith("lost: ConfigMap/web data.b")
    repo.git("reset", "-q", "--hard", "HEAD^")
    merged(repo, {"web.yaml": THEIRS.replace("a: one", "a: three")})
    assert found(repo) == []  # it has more than the side, and nothing less


def test_a_file_that_one_side_alone_changed_is_gone(repo: Repo) -> None:
    repo.fork({"web.yaml": WEB, "x": "1"}, {"x": "2"}, {"web.yaml": THEIRS, "z": "1"})
    merged(repo, {"web.yaml": None})
    [line] = found(repo)
    assert (
        line
        == "web.yaml:1:1: error M11 only theirs changed this file, but the merge does not have the file"
    )
    repo.git("reset", "-q", "--hard", "HEAD^")
    merged(repo, {"web.yaml": None, "moved.yaml": THEIRS})
    assert found(repo) == []


def test_a_file_that_one_side_renamed(repo: Repo) -> None:
    fork_where_theirs_deletes(repo, {"new.yaml": THEIRS})
    merged(repo, {})
    assert found(repo) == []
    repo.git("reset", "-q", "--hard", "HEAD^")
    merged(repo, {"new.yaml": WEB})
    [line] = found(repo)
    assert line.startswith("new.yaml:1:1: error M11 only theirs changed this file")
    repo.git("reset", "-q", "--hard", "HEAD^")
    merged(repo, {"new.yaml": None, "web.yaml": THEIRS})
    assert found(repo) == []


def test_a_file_that_one_side_deleted(repo: Repo) -> None:
    fork_where_theirs_deletes(repo, {})
    merged(repo, {"web.yaml": WEB})
    [line] = found(repo)
    assert "web.yaml:1:1: error M11 only theirs changed this file" in line
    assert line.endswith("no change of theirs; lost: ConfigMap/web")


def test_a_change_that_moved_with_its_resource(repo: Repo) -> None:
    """Another environment's resource of the same name does not answer for a lost change."""
    base = {"dev.yaml": THEIRS, "prod.yaml": f"{WEB}---\n{BASE.format('two')}"}
    ours = {"prod.yaml": base["prod.yaml"].replace("name: two", "name: II")}
    theirs = {"prod.yaml": base["prod.yaml"].replace("b: one", "b: theirs", 1), "z": "1"}
    repo.fork(base, ours, theirs)
    merged(repo, {"prod.yaml": ours["prod.yaml"]})
    [line] = found(repo)
    assert "prod.yaml:1:1: error M11" in line and "ConfigMap/web data.b" in line
    repo.git("reset", "-q", "--hard", "HEAD^")
    split = {"prod.yaml": BASE.format("II"), "web.yaml": THEIRS}
    merged(repo, dict(split))
    assert found(repo) == []
    repo.git("reset", "-q", "--hard", "HEAD^")
    merged(repo, {**split, "web.yaml": WEB})
    [line] = found(repo)
    assert "ConfigMap/web data.b" in line and ": error M" in line


def test_a_merge_that_is_one_of_its_sides(repo: Repo) -> None:
    files = {f"{name}.yaml": BASE.format(name) for name in "abc"}
    theirs = {path: text.replace("b: one", "b: theirs") for path, text in files.items()}
    repo.fork(files, {"a.yaml": files["a.yaml"].replace("a: one", "a: ours")}, theirs)
    repo.git("merge", "-s", "ours", "-m", "merged", "side")
    [line] = found(repo)
    assert (
        line
        == "a.yaml:1:1: warning M11 the merge took one side unchanged for all files: a.yaml, b.yaml, c.yaml"
    )
    [line] = found(repo, "b.yaml")
    assert line == "b.yaml:1:1: warning M11 the merge took one side unchanged for all files: b.yaml"


@pytest.mark.parametrize("attribute", ["-merge", "merge=keep", "kmerge-generated"])
def test_files_that_are_not_judged_by_value(repo: Repo, attribute: str) -> None:
    repo.git("config", "merge.keep.driver", "true")
    repo.write(".gitattributes", f"*.yaml {attribute}\n")
    repo.fork({"web.yaml": WEB}, {"web.yaml": OURS, "x": "1"}, {"web.yaml": THEIRS, "y": "1"})
    merged(repo, {"web.yaml": BOTH.replace("a: ours", "a: two")})
    assert found(repo) == []
    repo.git("reset", "-q", "--hard", "HEAD^")
    merged(repo, {"web.yaml": OURS})
    kind = {"-merge": "unmerged", "kmerge-generated": "generated"}.get(attribute)
    said = f"both sides changed this {kind} file, but the merge took ours unchanged; lost changes of theirs: "
    line = f"web.yaml:1:1: warning M11 {said}ConfigMap/web data.b"
    assert found(repo) == ([line] if kind else [])


def test_both_hold_after_a_clean_merge(repo: Repo) -> None:
    repo.fork({"web.yaml": WEB}, {"web.yaml": OURS}, {"web.yaml": THEIRS})
    merged(repo, {"web.yaml": BOTH})
    assert found(repo) == []


# -- what is meant --------------------------------------------------------------------------------


def meant(repo: Repo, *lines: str) -> None:
    """Put trailers into the message of the last commit."""
    trailers = "\n".join(f"Kmerge-Dropped: {line}" for line in lines)
    repo.git("commit", "--amend", "-m", f"merged\n\nWhy.\n\n{trailers}\n")


def test_a_trailer_names_what_is_meant(repo: Repo) -> None:
    """The finding prints the line to paste; another one drops nothing, and is reported."""
    base = f"{WEB}---\n{BASE.format('two')}"
    theirs = base.replace("b: one", "b: theirs")
    repo.fork(
        {"x y.yaml": base},
        {"x y.yaml": base.replace("a: one", "a: o", 1)},
        {"x y.yaml": theirs, "z": "1"},
    )
    merged(repo, {"x y.yaml": base.replace("a: one", "a: o", 1).replace("b: one", "b: theirs", 1)})
    done = repo.kmerge("check", "--merge", check=False)
    assert "a line `Kmerge-Dropped: x y.yaml ConfigMap/two data.b` to the end" in done.out
    meant(repo, "x y.yaml ConfigMap/two data.a")
    done = repo.kmerge("check", "--merge", check=False)
    said = "kmerge: Kmerge-Dropped: x y.yaml ConfigMap/two data.a: no change that the merge lost has this name\n"
    assert (done.code, done.err) == (1, said)
    for line in ("x y.yaml ConfigMap/two data.b", "x y.yaml"):
        meant(repo, line)
        done = repo.kmerge("check", "--merge-of", "HEAD")
        assert (done.err, "nothing found" in done.out) == ("", True)


def test_a_trailer_names_a_whole_file(repo: Repo) -> None:
    repo.fork({"web.yaml": WEB, "x": "1"}, {"x": "2"}, {"web.yaml": THEIRS, "z": "1"})
    for files in ({"web.yaml": WEB}, {"web.yaml": None}):
        merged(repo, files)
        done = repo.kmerge("check", "--merge", check=False)
        assert (done.code, "`Kmerge-Dropped: web.yaml`" in done.out) == (1, True)
        meant(repo, "web.yaml")
        assert repo.kmerge("check", "--merge").err == ""
        repo.git("reset", "-q", "--hard", "HEAD^")


def test_a_trailer_hides_no_damage(repo: Repo) -> None:
    repo.fork({"web.yaml": WEB}, {"web.yaml": OURS}, {"web.yaml": THEIRS, "z": "1"})
    merged(repo, {"web.yaml": BOTH + "  b: again\n"})
    meant(repo, "web.yaml")
    done = repo.kmerge("check", "--merge", check=False)
    assert (
        done.code,
        "M02" in done.out,
        "no change that the merge lost has this name" in done.err,
    ) == (
        1,
        True,
        True,
    )


# -- merges that are no merge commits -------------------------------------------------------------


def test_a_squash_and_a_rebase_are_judged_by_their_revisions(repo: Repo) -> None:
    ours, theirs = {"web.yaml": OURS, "y": "1"}, {"web.yaml": THEIRS, "z": "1"}
    repo.fork({"web.yaml": WEB}, ours, theirs)
    revisions = [repo.head("main^"), repo.head("main"), repo.head("side")]
    for text, code in ((BOTH, 0), (OURS, 1), (THEIRS, 1)):
        repo.git("reset", "-q", "--hard", revisions[1])
        repo.git("merge", "--squash", "side", check=False)
        repo.write("web.yaml", text)
        repo.git("add", "-A")
        repo.git("commit", "-m", "squashed")
        done = repo.kmerge("check", "--merged", *revisions, "HEAD", check=False)
        assert (done.code, "error M11" in done.out) == (code, bool(code))
    meant(repo, "web.yaml")
    assert repo.kmerge("check", "--merged", *revisions, "HEAD").err == ""


@pytest.mark.parametrize("place", range(4))
def test_a_revision_that_is_not_there(repo: Repo, place: int) -> None:
    repo.commit("one", {"web.yaml": WEB})
    words = ["HEAD"] * 4
    words[place] = "nothing\n"
    done = repo.kmerge("check", "--merged", *words, check=False)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("kmerge: 'nothing\\n' is not a commit of this repository; see ")


def test_a_merge_of_branches_without_a_common_commit(repo: Repo) -> None:
    empty = repo.git("hash-object", "-t", "tree", "/dev/null").out.strip()
    repo.commit("one", {"web.yaml": WEB})
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit("two", {"web.yaml": THEIRS})
    words = (empty, "main", "other", "main")
    done = repo.kmerge("check", "--merged", *words)  # it is one of its sides
    assert "the merge has no change of theirs" not in done.out
    assert repo.kmerge("check", "--merged", "main", "main", "main", "main").code == 0


# -- values that nobody may read ------------------------------------------------------------------

SECRET = (
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  labels:\n    a: one\ndata:\n  p: b25l\n"
)
LIST = "apiVersion: v1\nkind: List\nitems:\n- " + SECRET.replace("\n", "\n  ").rstrip() + "\n"


@pytest.mark.parametrize("path, text", [("s.yaml", SECRET), ("s.yaml", LIST), ("web/templates/s.yaml", SECRET.replace("name: s", "name: {{ .Values.name }}"))])  # fmt: skip
def test_no_value_of_a_secret_is_printed(repo: Repo, path: str, text: str) -> None:
    repo.fork(
        {path: text, "x": "1"},
        {path: text + "# ours\n"},
        {path: text.replace("b25l", "dHdv").replace("a: one", "a: theirs"), "z": "1"},
    )
    merged(repo, {path: text.replace("a: one", "a: theirs") + "# ours\n"})
    done = repo.kmerge("check", "--merge", check=False)
    assert (
        "data.p: theirs changed it from (hidden) to (hidden), but the merge has (hidden)"
        in done.out
    )
    shown = [line for line in done.said.splitlines() if "error M28" in line]
    assert shown and not any("dHdv" in line or "b25l" in line for line in shown)
