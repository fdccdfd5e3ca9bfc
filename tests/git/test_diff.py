"""`kmerge diff` in real repositories: the words of git, files and folders."""

from __future__ import annotations

import json
import os
import shlex
import sys

import pytest
from world import Repo, World

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  template:
    spec:
      containers:
        - name: app
          image: app:1
"""
CHANGED = ["apps/web.yaml", "  Deployment/web"]


def scaled(count: int) -> str:
    return WEB.replace("replicas: 3", f"replicas: {count}")


def one_line(before: object, after: object) -> list[str]:
    return [*CHANGED, f"    spec.replicas: {before} -> {after}"]


@pytest.fixture
def shop(repo: Repo) -> Repo:
    """Commits with 3, 4 and 5 replicas; 6 are staged, 7 in the work tree."""
    for count in (3, 4, 5):
        repo.commit(str(count), {"apps/web.yaml": scaled(count), "notes.txt": f"{count}\n"})
    repo.write("apps/web.yaml", scaled(6))
    repo.git("add", "-A")
    repo.write("apps/web.yaml", scaled(7))
    return repo


@pytest.mark.parametrize(
    "words, before, after",
    [
        ([], 5, 7),
        (["--staged"], 5, 6),
        (["--cached", "HEAD~1"], 4, 6),
        (["HEAD~1"], 4, 7),
        (["HEAD~2", "HEAD~1"], 3, 4),
        (["HEAD~2..HEAD"], 3, 5),
        (["HEAD~2...HEAD"], 3, 5),
        (["--", "apps"], 5, 7),
        (["apps/web.yaml"], 5, 7),
        (["HEAD~1", "--", ":(glob)**/*.yaml"], 4, 7),
        (["HEAD~1:apps/web.yaml", ":apps/web.yaml"], 4, 6),
        (["HEAD:apps/web.yaml"], 5, 7),
    ],
)
def test_the_words_of_git(shop: Repo, words: list[str], before: int, after: int) -> None:
    found = shop.kmerge("diff", *words).lines
    assert [line for line in found if "notes.txt" not in line] == one_line(before, after)


def test_in_a_folder_below(shop: Repo, world: World) -> None:
    below = shop.path / "apps"
    assert world.kmerge("diff", cwd=below).lines == one_line(5, 7)
    assert world.kmerge("diff", "web.yaml", cwd=below).lines == one_line(5, 7)
    found = world.kmerge("diff", "HEAD:./web.yaml", "web.yaml", cwd=below).lines
    assert found[1:] == one_line(5, 7)[1:]
    assert world.kmerge("diff", "HEAD:apps/web.yaml", cwd=below).lines[1:] == one_line(5, 7)[1:]


def test_other_files_are_counted(shop: Repo) -> None:
    assert shop.kmerge("diff", "HEAD~1", "HEAD").lines == [*one_line(4, 5), "notes.txt: +1 -1"]


def test_a_line_a_file(shop: Repo) -> None:
    assert shop.kmerge("diff", "--stat", "HEAD~1", "HEAD").lines == [
        "apps/web.yaml: 1 field in 1 resource",
        "notes.txt: +1 -1",
        "2 files changed",
    ]


def test_the_exit_code_is_asked_for(shop: Repo) -> None:
    assert shop.kmerge("diff").code == 0
    assert shop.kmerge("diff", "--exit-code", check=False).code == 1
    done = shop.kmerge("diff", "--exit-code", "HEAD", "HEAD")
    assert (done.code, done.said) == (0, "")


def test_json_says_all(shop: Repo) -> None:
    report = json.loads(shop.kmerge("diff", "--json", "--", "apps").out)
    ((change,),) = [file["changes"] for file in report["files"]]
    assert report["schema"] == 1
    assert change == {
        "resource": "Deployment/web",
        "how": "changed",
        "field": "spec.replicas",
        "steps": ["spec", "replicas"],
        "document": {"old": 0, "new": 0},
        "before": 5,
        "after": 7,
    }


def test_json_has_numbers_that_json_has(repo: Repo) -> None:
    repo.commit("one", {"a.yaml": "a: 1.5\n"})
    repo.write("a.yaml", "a: [.nan, -.inf, {b: .inf}]\n")
    out = repo.kmerge("diff", "--json").out
    (change,) = json.loads(out, parse_constant=pytest.fail)["files"][0]["changes"]
    assert (change["before"], change["after"]) == (1.5, [".nan", "-.inf", {"b": ".inf"}])


def test_before_the_first_commit(repo: Repo) -> None:
    repo.write("web.yaml", WEB)
    assert repo.kmerge("diff").out == ""
    repo.git("add", "-A")
    assert repo.kmerge("diff", "--staged").lines == ["web.yaml: added", "  Deployment/web: added"]


def test_files_that_come_go_and_move(repo: Repo) -> None:
    other = WEB.replace("name: web", "name: api")
    repo.commit(
        "one", {"a.yaml": f"{WEB}---\n{other}", "b.yaml": "a: 1\nb: 2\n", "gone.txt": "x\n"}
    )
    repo.git("mv", "b.yaml", "c.yaml")
    (repo.path / "gone.txt").unlink()
    repo.write("a.yaml", WEB)
    repo.write("api.yaml", other.replace("app:1", "app:2"))
    repo.git("add", "-A")
    assert repo.kmerge("diff").lines == [
        "a.yaml",
        "  Deployment/api: moved to api.yaml",
        "api.yaml: added",
        "  Deployment/api: moved from a.yaml",
        "    spec.template.spec.containers[name=app].image: app:1 -> app:2",
        "c.yaml: renamed from b.yaml",
        "gone.txt: deleted, +0 -1",
    ]


def test_modes_links_and_bytes_that_are_no_text(repo: Repo) -> None:
    repo.commit("one", {"a.yaml": WEB, "logo.png": b"\0one", "b.yaml": b"\xff: 1\n"})
    (repo.path / "a.yaml").chmod(0o755)
    (repo.path / "link.yaml").symlink_to("a.yaml")
    repo.write("logo.png", b"\0three")
    repo.write("b.yaml", b"\xff: 2\n")
    repo.git("add", "-A")
    assert repo.kmerge("diff").lines == [
        "a.yaml: now executable",
        "b.yaml",
        r"    1- \xff: 1",
        r"    1+ \xff: 2",
        "link.yaml: added, +1 -0",
        "logo.png: binary, 4 -> 6 bytes",
    ]


def test_line_ends_of_the_work_tree_are_those_of_git(repo: Repo) -> None:
    repo.write(".gitattributes", "*.yaml text eol=crlf\n")
    repo.commit("one", {"a.yaml": WEB})
    repo.write("a.yaml", scaled(4).replace("\n", "\r\n"))
    assert repo.kmerge("diff").lines == ["a.yaml", *one_line(3, 4)[1:]]
    repo.write("a.yaml", WEB.replace("\n", "\r\n"))
    assert repo.kmerge("diff").out == ""


def test_two_commits_know_no_conflict_of_the_index(repo: Repo) -> None:
    repo.fork(*({"a.yaml": scaled(n), "gone.yaml": "a: 1\n"} for n in (1, 2, 3)))
    repo.git("rm", "-q", "gone.yaml")
    repo.commit("gone")
    assert repo.git("merge", "side", check=False).code == 1
    told = ["a.yaml", "  Deployment/web", "    spec.replicas: 1 -> 2"]
    told += ["gone.yaml: deleted", "  document 1: deleted"]
    assert repo.kmerge("diff", "main~2", "main").lines == told
    repo.git("clone", "-q", "--bare", ".", "../bare.git")
    bare = Repo(repo.world, repo.world.root / "bare.git")
    assert bare.kmerge("diff", "main~2", "main").lines == told


def test_a_file_in_conflict_is_said_to_be(repo: Repo) -> None:
    repo.fork({"a.yaml": WEB, "b.yaml": WEB}, {"a.yaml": scaled(4)}, {"a.yaml": scaled(5)})
    repo.merge()
    repo.write("b.yaml", scaled(8))
    found = repo.kmerge("diff", "--", "b.yaml").lines
    assert found == ["b.yaml", *one_line(3, 8)[1:]]
    assert repo.kmerge("diff").lines[-1] == "a.yaml: in conflict"
    assert repo.kmerge("diff", "--exit-code", "--", "a.yaml", check=False).code == 1


def test_conflicts_are_of_the_work_tree(repo: Repo) -> None:
    """Two commits have none, even if a file went between them."""
    repo.commit("base", {"a.yaml": WEB, "b.yaml": WEB})
    repo.branch("side")
    repo.git("rm", "-q", "b.yaml")
    repo.commit("theirs", {"a.yaml": scaled(5)})
    repo.switch("main")
    repo.commit("ours", {"a.yaml": scaled(4), "b.yaml": scaled(4)})
    repo.merge()
    gone = ["b.yaml: deleted", "  Deployment/web: deleted"]
    told = ["a.yaml", *one_line(4, 5)[1:], *gone]
    assert repo.kmerge("diff", "main", "side").lines == told
    assert repo.kmerge("diff", "main..side").lines == told
    repo.git("clone", "-q", "--bare", ".", "../bare.git")
    bare = Repo(repo.world, repo.path.parent / "bare.git")
    assert bare.kmerge("diff", "main", "side").lines == told


def test_a_conflict_where_the_file_is_that_of_the_commit(repo: Repo) -> None:
    repo.fork({"a.yaml": WEB}, {"a.yaml": scaled(4)}, {"a.yaml": scaled(5)})
    repo.merge()
    repo.git("checkout", "-q", "--ours", "a.yaml")
    below = repo.path / "below"
    below.mkdir()
    for place in (repo.path, below):
        repo.git("config", "diff.relative", str(place == below))
        assert repo.world.kmerge("diff", cwd=place).lines == ["a.yaml: in conflict"]


def test_links_and_submodules_say_where_they_lead(repo: Repo) -> None:
    repo.commit("one", {"a.yaml": WEB, "b.yaml": WEB})
    inner = Repo(repo.world, repo.path / "sub")
    repo.git("init", "-q", "sub")
    ids = [inner.commit(name, {"x.txt": name}) for name in ("one", "two")]
    inner.git("checkout", "-q", ids[0])
    (repo.path / "link.yaml").symlink_to("a.yaml")
    repo.git("add", "sub", "link.yaml")
    repo.git("commit", "-q", "-m", "two")
    inner.git("checkout", "-q", ids[1])
    (repo.path / "link.yaml").unlink()
    (repo.path / "link.yaml").symlink_to("b.yaml")
    assert repo.kmerge("diff").lines == [
        "link.yaml: a link, a.yaml -> b.yaml",
        f"sub: a submodule, {ids[0][:12]} -> {ids[1][:12]}",
    ]
    inner.git("checkout", "-q", ids[0])
    inner.write("x.txt", "other")
    found = repo.kmerge("diff", "--", "sub").lines
    assert found == [f"sub: a submodule, {ids[0][:12]} -> {ids[0][:12]}-dirty"]


def test_encrypted_values_are_no_values(repo: Repo) -> None:
    sealed = "data:\n  pw: ENC[AES256_GCM,data:{},type:str]\nsops:\n  mac: ENC[{}]\n"
    repo.commit("one", {"a.yaml": sealed.format("aaa", "bbb")})
    repo.write("a.yaml", sealed.format("ccc", "ddd"))
    done = repo.kmerge("diff")
    assert "ENC" not in done.out
    assert done.lines[1] == "  data.pw: (encrypted) -> another value"


def test_odd_names(repo: Repo) -> None:
    names = ["a b.yaml", "ü.yaml", "-x.yaml", "q\"'.yaml", "\x1b[31m.yaml"]
    repo.commit("one", dict.fromkeys(names, WEB))
    for name in names:
        repo.write(name, scaled(4))
    found = repo.kmerge("diff").lines
    told = [name.replace("\x1b", "\\x1b") for name in sorted(names)]
    assert [line for line in found if not line.startswith(" ")] == told
    assert repo.kmerge("diff", "--", "-x.yaml").lines[0] == "-x.yaml"


# -- files and folders -----------------------------------------------------------------------------


def test_two_files_two_folders(world: World) -> None:
    for name, count in (("old", 3), ("new", 5)):
        folder = world.root / name / "apps"
        folder.mkdir(parents=True)
        (folder / "web.yaml").write_text(scaled(count))
    assert world.kmerge("diff", "old", "new").lines == one_line(3, 5)
    files = ("old/apps/web.yaml", "new/apps/web.yaml")
    assert world.kmerge("diff", *files).lines == ["new/apps/web.yaml", *one_line(3, 5)[1:]]
    assert world.kmerge("diff", "--exit-code", *files, check=False).code == 1
    done = world.run("cp", "-r", "old", "same")
    assert world.kmerge("diff", "--exit-code", "old", "same").out == done.out == ""
    done = world.kmerge("diff", "old", files[1], check=False)
    assert done.code == 2
    assert "this is a folder" in done.err


def test_what_two_files_are(world: World) -> None:
    """A pipe is what it is given for; a copy with another ending is what the other file is."""
    for name, count in (("old.yaml", 3), ("new.yaml", 5), ("old.yaml.orig", 3), ("new.orig", 5)):
        (world.root / name).write_text(scaled(count), encoding="utf-8")
    told = one_line(3, 5)[1:]
    assert world.kmerge("diff", "old.yaml", "new.orig").lines == ["old.yaml", *told]
    assert world.kmerge("diff", "old.yaml.orig", "new.yaml").lines == ["new.yaml", *told]
    words = [sys.executable, "-m", "kmerge_git", "diff"]
    found = world.run("bash", "-c", f"{shlex.join(words)} <(cat old.yaml) <(cat new.yaml)").lines
    assert found[1:] == told
    assert world.kmerge("diff", "old.yaml.orig", "new.orig").lines == ["new.orig: +1 -1"]


def test_a_folder_of_a_commit(shop: Repo) -> None:
    assert shop.kmerge("diff", "HEAD~1:apps", "apps").lines == ["web.yaml", *one_line(4, 7)[1:]]
    assert shop.kmerge("diff", "HEAD~1:apps", "HEAD:apps").lines[1:] == one_line(4, 5)[1:]


@pytest.mark.parametrize(
    "words, said",
    [
        (["nope"], "nope is neither a revision nor a path"),
        (["HEAD", "nope"], "nope is neither a revision nor a path"),
        (["nope", "--"], "nope is not a revision"),
        (["HEAD:nope.yaml"], "there is no such path in HEAD"),
        (["apps"], "apps is both a revision and a path"),
        (["--staged", "HEAD", "HEAD~1"], "--staged compares the index with one commit"),
        (["--external"], "--external needs the seven arguments that git passes"),
        (["-", "-"], "only one of the two files can be stdin"),
    ],
)
def test_what_makes_no_sense(shop: Repo, words: list[str], said: str) -> None:
    if words == ["apps"]:
        shop.git("branch", "apps")
    done = shop.kmerge("diff", *words, check=False)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(shop: Repo) -> None:
    (shop.path / "notes.txt").unlink()
    os.mkfifo(shop.path / "notes.txt")
    done = shop.kmerge("diff", check=False)
    assert (done.code, done.out) == (2, "")
    assert done.err == "kmerge: notes.txt: not a regular file; only regular files can be compared\n"
