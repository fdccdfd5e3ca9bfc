"""`kmerge check --merge` and `--merge-of`: which merge, which files, and what their sides are."""

from __future__ import annotations

import os

import pytest
from world import Repo, World

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  nodeName: a
  priority: 1
  restartPolicy: Never
  hostname: web
"""
OURS, THEIRS = POD.replace("nodeName: a", "nodeName: b"), POD.replace("Never", "Always")
MERGED = OURS.replace("Never", "Always")
SLIPPED = MERGED.replace("  hostname: web\n", "hostname: web\n")


def merged(repo: Repo, text: str = SLIPPED, path: str = "a.yaml") -> None:
    """A merge commit with a text for a file that both sides changed."""
    repo.merge("--no-commit", "--no-ff", "side")
    repo.write(path, text)
    repo.git("add", path)
    repo.git("commit", "-m", "merged", check=False)


def ids(said: str) -> list[str]:
    return sorted(line.split()[2] for line in said.split("\n") if ": error " in line)


@pytest.mark.costly
def test_the_merge_in_progress_else_head(repo: Repo) -> None:
    repo.fork({"a.yaml": POD}, {"a.yaml": OURS}, {"a.yaml": THEIRS})
    done = repo.kmerge("check", "--merge")
    assert done.said == (
        "0 files checked, nothing found\n"
        "kmerge: there is nothing to compare: no merge is in progress, and HEAD is not a merge commit\n"
    )
    repo.merge("--no-commit", "--no-ff", "side")
    assert repo.kmerge("check", "--merge").out == "1 file checked, nothing found\n"
    repo.write("a.yaml", SLIPPED)
    assert ids(repo.kmerge("check", "--merge", check=False).out) == ["M20", "M21"]
    assert repo.kmerge("check", "--merge", "--staged").code == 0  # not staged yet
    repo.git("commit", "-am", "merged")
    for words in (["--merge"], ["--merge-of", "HEAD"], ["--merge", "a.yaml"], ["--merge", "."]):
        done = repo.kmerge("check", *words, check=False)
        assert (done.code, ids(done.out)) == (1, ["M20", "M21"])
    repo.commit("mended", {"a.yaml": MERGED})
    assert repo.kmerge("check", "--merge").code == 0
    assert repo.kmerge("check", "--merge-of", "HEAD^", check=False).code == 1


def test_the_command_that_lists_warnings_of_a_merge_runs(repo: Repo) -> None:
    pods = [POD.replace("nodeName: a", f"nodeName: {name}") for name in "abc"]
    repo.fork(*({"a.yaml": pod, "b.yaml": pod} for pod in pods))
    repo.merge("side", check=False)
    repo.git("checkout", "--ours", ".")
    repo.git("commit", "-qam", "merged")
    done = repo.kmerge("check", "--merge-of", "HEAD", "--quiet")
    command = done.err.partition("`kmerge ")[2].partition("`")[0]
    assert command.startswith("check --merge-of HEAD ")
    assert "warning M11" in repo.kmerge(*command.split()).out


def test_a_folder_of_the_repository(repo: Repo) -> None:
    path = "deploy/a.yaml"
    repo.fork({path: POD}, {path: OURS}, {path: THEIRS})
    merged(repo, path=path)
    there = Repo(repo.world, repo.path / "deploy")
    done = there.kmerge("check", "--merge", check=False)
    assert done.out.startswith("a.yaml:6:3: error M21")
    assert there.kmerge("check", "--merge", "a.yaml", check=False).out == done.out
    whole = str(repo.path / path)
    assert there.kmerge("check", "--merge", whole, check=False).out == done.out


def test_a_file_named_from_the_root(repo: Repo) -> None:
    repo.fork({"a.yaml": POD}, {"a.yaml": OURS}, {"a.yaml": THEIRS})
    repo.merge("--no-commit", "--no-ff", "side")
    repo.write("a.yaml", SLIPPED)
    repo.git("add", "a.yaml")
    for words in ([], ["--staged"], ["--merge"]):
        done = repo.kmerge("check", *words, str(repo.path / "a.yaml"), check=False)
        assert ids(done.out) == ["M20", "M21"]


@pytest.mark.parametrize("name", ["a\nb.yaml", os.fsdecode(b"a\xff.yaml"), 'a"b.yaml', "-a.yaml"])
@pytest.mark.costly
def test_odd_names(repo: Repo, name: str) -> None:
    repo.fork({name: POD}, {name: OURS}, {name: THEIRS})
    repo.merge("--no-commit", "--no-ff", "side")
    repo.write(name, SLIPPED)
    repo.git("add", "-A")
    for words in (["--merge"], ["--staged"]):
        assert ids(repo.kmerge("check", *words, check=False).out) == ["M20", "M21"]
    repo.git("commit", "-m", "merged", check=False)
    for words in (["--merge-of", "HEAD"], ["--merge-of", "HEAD", "--format", "sarif"]):
        done = repo.kmerge("check", *words, check=False)
        assert (done.code, "Traceback" in done.said) == (1, False)


def test_what_cannot_be_compared_is_told(repo: Repo) -> None:
    repo.fork({"a.yaml": POD, "b.yaml": POD}, {"a.yaml": OURS}, {"a.yaml": THEIRS})
    merged(repo, MERGED)
    for words, said in (
        (
            ["--merge-of", "nothing"],
            "'nothing' is not a commit of this repository; see `git log` and `git branch -a`",
        ),
        (["--merge-of", "HEAD^"], "HEAD^: this commit is not a merge commit; "),
        (["--merge", "b.yaml"], "b.yaml: no file here was changed by both sides of the merge; "),
        (["--merge", "--fix"], "--fix cannot change a merge; omit --fix, or --merge"),
    ):
        done = repo.kmerge("check", *words, check=False)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"kmerge: {said}")


def test_an_octopus_is_told(repo: Repo) -> None:
    repo.commit("base", {"a.yaml": POD})
    for name in ("one", "two"):
        repo.git("checkout", "-b", name, "main")
        repo.commit(name, {f"{name}.yaml": POD})
    repo.git("checkout", "main")
    repo.commit("ours", {"b.yaml": POD})
    repo.git("merge", "-m", "all", "one", "two")
    done = repo.kmerge("check", "--merge")
    assert "HEAD is an octopus merge with 3 parents" in done.err
    assert repo.kmerge("check", "--merge-of", "HEAD", check=False).code == 2


def test_a_history_that_is_cut_off_is_no_clean_answer(repo: Repo, world: World) -> None:
    """What CI fetches by default: HEAD alone, which is a merge and does not look like one."""
    repo.fork({"a.yaml": POD}, {"a.yaml": OURS}, {"a.yaml": THEIRS})
    merged(repo)
    for depth in ("1", "2", "3"):
        world.git("clone", "-q", "--depth", depth, repo.path.as_uri(), f"cut{depth}")
    for depth in ("1", "2"):
        there = Repo(world, world.root / f"cut{depth}")
        done = there.kmerge("check", "--merge", check=False)
        assert (done.code, done.out) == (2, "")
        assert (
            "the shallow history lacks the parents or the merge base of this merge; run `git fetch "
            in done.err
        )
    whole = Repo(world, world.root / "cut3")
    assert whole.kmerge("check", "--merge", check=False).code == 1


def test_a_renamed_file_has_its_sides(repo: Repo) -> None:
    """Theirs adds a field under the old name: no side has it under the new one."""
    theirs = THEIRS + "  schedulerName: own\n"
    repo.fork({"a.yaml": POD}, {"a.yaml": OURS}, {"a.yaml": theirs})
    repo.git("mv", "a.yaml", "b.yaml")
    repo.git("commit", "--amend", "-m", "moved")
    merged(repo, MERGED + "  schedulerName: own\n", "b.yaml")
    assert repo.kmerge("check", "--merge").out == "1 file checked, nothing found\n"
    repo.write("b.yaml", SLIPPED)
    repo.git("commit", "--amend", "-am", "slip")
    assert ids(repo.kmerge("check", "--merge", check=False).out) == ["M20", "M21", "M28"]


def test_a_resource_that_moved_has_its_sides(repo: Repo) -> None:
    """Ours moves it to another file, theirs adds a field to it where it was."""
    other = POD.replace("name: web", "name: other").replace("hostname: web", "hostname: other")
    both = f"{POD}---\n{other}"
    repo.fork(
        {"a.yaml": both, "b.yaml": POD.replace("web", "third")},
        {"a.yaml": OURS, "b.yaml": f"{POD.replace('web', 'third')}---\n{other}"},
        {
            "a.yaml": both + "  schedulerName: own\n",
            "b.yaml": POD.replace("web", "third").replace("Never", "Always"),
        },
    )
    repo.merge("--no-commit", "--no-ff", "side")
    third = POD.replace("web", "third").replace("Never", "Always")
    repo.write("a.yaml", OURS)
    repo.write("b.yaml", f"{third}---\n{other}  schedulerName: own\n")
    repo.git("commit", "-am", "merged")
    assert repo.kmerge("check", "--merge").out.endswith("nothing found\n")
    repo.write("b.yaml", f"{third}---\n{other}schedulerName: own\n")
    repo.git("commit", "--amend", "-am", "merged")
    assert ids(repo.kmerge("check", "--merge", check=False).out) == ["M20"]


def test_what_a_side_has_already_is_no_damage(repo: Repo) -> None:
    twice = "  tolerations:\n  - key: a\n  hostAliases:\n  - ip: 1.1.1.1\n  - ip: 1.1.1.1\n"
    repo.fork({"a.yaml": POD + twice}, {"a.yaml": OURS + twice}, {"a.yaml": THEIRS + twice})
    merged(repo, MERGED + twice)
    assert repo.kmerge("check", "--merge").out == "1 file checked, nothing found\n"
    assert " M06 " in repo.kmerge("check", "a.yaml").out


def test_histories_without_a_common_base(repo: Repo) -> None:
    repo.commit("ours", {"a.yaml": OURS})
    repo.git("checkout", "--orphan", "side")
    repo.commit("theirs", {"a.yaml": THEIRS})
    repo.git("checkout", "main", "--")
    repo.git("merge", "--allow-unrelated-histories", "--no-commit", "side", check=False)
    repo.write("a.yaml", SLIPPED)
    repo.git("commit", "-am", "merged")
    assert ids(repo.kmerge("check", "--merge", check=False).out) == ["M20", "M21"]


def test_a_symbolic_link_is_no_text(repo: Repo) -> None:
    repo.fork({"a.yaml": POD}, {"a.yaml": OURS}, {"a.yaml": THEIRS})
    repo.merge("--no-commit", "--no-ff", "side")
    (repo.path / "a.yaml").unlink()
    (repo.path / "a.yaml").symlink_to("b.yaml")
    repo.git("add", "a.yaml")
    assert repo.kmerge("check", "--staged").code == 0
    repo.git("commit", "-m", "merged")
    assert repo.kmerge("check", "--merge-of", "HEAD").code == 0


@pytest.mark.parametrize("made, found", [(MERGED, []), (SLIPPED, ["M20", "M21"])])
@pytest.mark.costly
def test_a_project_in_a_folder_of_another(repo: Repo, made: str, found: list[str]) -> None:
    """A file of the same name at the top is another one (`git subtree`)."""
    same = {"b.yaml": POD.replace("web", "b"), "c.yaml": POD.replace("web", "c")}
    repo.commit("a library", {"a.yaml": POD, **same})
    repo.git("branch", "library")
    repo.git("checkout", "--orphan", "app")
    repo.git("rm", "-rfq", ".")
    repo.commit("an application", {"a.yaml": POD.replace("web", "app"), "x.txt": "x\n"})
    repo.git("merge", "-s", "ours", "--no-commit", "--allow-unrelated-histories", "library")
    repo.git("read-tree", "--prefix=lib/", "-u", "library")
    repo.git("commit", "-m", "the library in a folder")
    repo.commit("changed here", {"lib/a.yaml": OURS})
    repo.git("checkout", "library")
    repo.commit("changed there", {"a.yaml": THEIRS})
    repo.git("checkout", "app")
    repo.git("merge", "-s", "subtree", "--no-commit", "library")
    repo.write("lib/a.yaml", made)
    repo.git("add", "-A")
    for words in (["--staged"], ["--merge"]):
        assert ids(repo.kmerge("check", *words, check=False).out) == found
    repo.git("commit", "-m", "merged", check=False)
    assert ids(repo.kmerge("check", "--merge-of", "HEAD", check=False).out) == found


@pytest.mark.parametrize("folder, listed, found", [("", False, 1), ("b/", False, 0), ("", True, 0)])
def test_one_resource_that_each_side_added(
    repo: Repo, folder: str, listed: bool, found: int
) -> None:
    """Git sees no conflict; in two folders it is the same thing for two environments."""
    service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  type: %s\n"
    base = {"c.yaml": "a: 1\n"}
    if listed:  # then the build of the kustomization fails, which is an error
        base["kustomization.yaml"] = "resources: [one.yaml, two.yaml]\n"
    repo.fork(base, {"one.yaml": service % "A"}, {f"{folder}two.yaml": service % "B"})
    assert repo.merge().code == 0
    said = repo.kmerge("check", "--merge", check=False).out
    words = f"warning M04 duplicate resource Service/web: ours added it in one.yaml, theirs in {folder}two.yaml"
    assert said.count(words) == found
    assert ("error M04 resources[1]: duplicate resource: Service/web" in said) == listed
