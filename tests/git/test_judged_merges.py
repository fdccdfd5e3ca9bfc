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
    assert line.startswith("web.yaml:1:1: error M11 theirs alone changed this file, and the merge ")
    assert line.endswith("lost is ConfigMap/web data.b")
    repo.git("reset", "-q", "--hard", "HEAD^")
    merged(repo, {"web.yaml": THEIRS.replace("a: one", "a: three")})
    assert found(repo) == []  # it has more than the side, and nothing less


def test_a_file_that_one_side_alone_changed_is_gone(repo: Repo) -> None:
    repo.fork({"web.yaml": WEB, "x": "1"}, {"x": "2"}, {"web.yaml": THEIRS, "z": "1"})
    merged(repo, {"web.yaml": None})
    [line] = found(repo)
    assert (
        line
        == "web.yaml:1:1: error M11 theirs alone changed this file, and the merge does not have it"
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
    assert line.startswith("new.yaml:1:1: error M11 theirs alone changed this file")
    repo.git("reset", "-q", "--hard", "HEAD^")
    merged(repo, {"new.yaml": None, "web.yaml": THEIRS})
    assert found(repo) == []


def test_a_file_that_one_side_deleted(repo: Repo) -> None:
    fork_where_theirs_deletes(repo, {})
    merged(repo, {"web.yaml": WEB})
    [line] = found(repo)
    assert "web.yaml:1:1: error M11 theirs alone changed this file" in line
    assert line.endswith("nothing of theirs: lost is ConfigMap/web")


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
        == "a.yaml:1:1: warning M11 the whole merge is one of its sides: a.yaml, b.yaml, c.yaml"
    )
    [line] = found(repo, "b.yaml")
    assert line == "b.yaml:1:1: warning M11 the whole merge is one of its sides: b.yaml"


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
    said = f"both sides changed this {kind} file, and it is exactly ours; of theirs is lost: "
    line = f"web.yaml:1:1: warning M11 {said}ConfigMap/web data.b"
    assert found(repo) == ([line] if kind else [])


def test_both_hold_after_a_clean_merge(repo: Repo) -> None:
    repo.fork({"web.yaml": WEB}, {"web.yaml": OURS}, {"web.yaml": THEIRS})
    merged(repo, {"web.yaml": BOTH})
    assert found(repo) == []
