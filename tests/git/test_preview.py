"""`kmerge preview` in real repositories: compared with what the merge then really does."""

from __future__ import annotations

import json

import pytest
from manifests import deployment, service, stream
from world import Repo, World

from kmerge_git.git.repository import Repository
from kmerge_git.git.scratch_merges import scratch
from kmerge_git.merge.plan import Why
from kmerge_git.whole.both_merges import SettingsOf
from kmerge_git.whole.previewing import preview_rebase

BASE = deployment()
OURS = deployment(env=("A=1", "OURS=1"))
THEIRS = deployment(env=("A=1", "THEIRS=1"))
BOTH = deployment(env=("A=1", "OURS=1", "THEIRS=1"))


def state(repo: Repo) -> tuple[str, str, str]:
    """Everything that a preview must not touch."""
    return (
        repo.git("ls-files", "-s").out,
        repo.git("status", "--porcelain", check=False).out,
        repo.git("count-objects").out,
    )


def files(repo: Repo, *args: str, code: int) -> dict[str, str]:
    """The results by path, from --json."""
    before = state(repo)
    done = repo.kmerge("preview", *args, "--json", check=False)
    assert done.code == code, done.said
    assert state(repo) == before
    report = json.loads(done.out)
    assert report["clean"] == (code == 0)
    return {file["path"]: file["result"] for step in report["steps"] for file in step["files"]}


def test_every_result_by_name(repo: Repo) -> None:
    image = deployment(image="app:2")
    repo.fork(
        dict.fromkeys(("a.yaml", "b.yaml", "c.yaml"), BASE) | {"notes.txt": "a\n"},
        {
            "a.yaml": deployment(replicas=2),
            "b.yaml": OURS,
            "c.yaml": deployment(replicas=2),
            "notes.txt": "b\n",
        },
        {"a.yaml": image, "b.yaml": THEIRS, "c.yaml": deployment(replicas=3), "notes.txt": "c\n"},
    )
    assert files(repo, "side", code=1) == {
        "a.yaml": "clean",
        "b.yaml": "resolved",
        "c.yaml": "conflict",
        "notes.txt": "conflict",
    }


def test_the_table(repo: Repo) -> None:
    repo.fork(
        {"b.yaml": BASE, "c.yaml": BASE},
        {"b.yaml": OURS, "c.yaml": deployment(replicas=2)},
        {"b.yaml": THEIRS, "c.yaml": deployment(replicas=3)},
    )
    done = repo.kmerge("preview", "side", check=False)
    assert done.code == 1
    assert done.out == (
        "resolved  b.yaml\n"
        "CONFLICT  c.yaml\n"
        f"    Deployment/web spec.replicas: {Why.BOTH_CHANGED}\n"
        "        base   replicas: 1\n"
        "        ours   replicas: 2\n"
        "        theirs replicas: 3\n"
        "merge: 2 files changed on both sides: 1 resolved, 1 in conflict\n"
    )
    painted = repo.kmerge("preview", "side", "--color", "always", check=False).out
    assert "\x1b[31mCONFLICT \x1b[0m c.yaml" in painted


def test_a_conflict_where_git_alone_does_not_stop(repo: Repo) -> None:
    """One variable, added twice in two places: git's lines merge clean and wrong."""
    lists = (("A=1", "B=2"), ("NEW=1", "A=1", "B=2"), ("A=1", "B=2", "NEW=2"))
    repo.fork(*({"a.yaml": deployment(env=env)} for env in lists))
    done = repo.kmerge("preview", "side", check=False)
    silent = "git alone or a merge button would not stop with a conflict"
    assert (done.code, done.lines[0]) == (1, f"CONFLICT  a.yaml  {silent}")
    page = repo.kmerge("preview", "side", "--format", "markdown", check=False).out
    assert (
        "1 file with unresolved conflicts, the merge button reports no conflict in 1 of these."
        in page
    )
    assert "changed by both; the merge button reports no conflict here\n" in page
    assert repo.git("merge", "side").code == 0


def test_a_conflict_of_lines_shows_no_fields(repo: Repo) -> None:
    helm = "a: {{{{ .x }}}}\n{{{{- if .y }}}}\nb: {}\n{{{{- end }}}}\n"
    repo.fork(*({"templates/a.yaml": helm.format(n)} for n in (1, 2, 3)))
    done = repo.kmerge("preview", "side", check=False)
    assert done.code == 1
    assert done.lines[1:] == [
        "    git's line merge: both sides changed the same lines",
        "merge: 1 file changed on both sides: 1 in conflict",
    ]


def test_what_a_policy_decides_is_told(repo: Repo) -> None:
    repo.fork(*({"a.yaml": deployment(image=f"app:{n}")} for n in (1, 2, 3)))
    repo.write(".git/info/attributes", "*.yaml kmerge-policy=**.image:higher\n")
    done = repo.kmerge("preview", "side")
    image = "spec.template.spec.containers[name=app].image"
    assert done.out.startswith(
        "resolved  a.yaml\n"
        f"    Deployment/web {image}: {Why.BOTH_CHANGED}, theirs taken (rule 12 policy higher)\n"
    )
    (step,) = json.loads(repo.kmerge("preview", "side", "--json").out)["steps"]
    assert step["files"][0]["decided"] == [
        {
            "resource": "Deployment/web",
            "field": image,
            "why": Why.BOTH_CHANGED,
            "side": "theirs",
            "by": "policy higher",
        }
    ]


def test_what_a_side_decides_where_lines_merge_clean_is_told(repo: Repo) -> None:
    many = tuple(f"V{number}=1" for number in range(8))
    rows = (many, ("NEW=1", *many), (*many, "NEW=2"))
    repo.fork(*({"a.yaml": deployment(env=row)} for row in rows))
    repo.git("config", "kmerge.favor", "ours")
    value = "spec.template.spec.containers[name=app].env[name=NEW].value"
    assert repo.kmerge("preview", "side").lines[1:2] == [
        f"    Deployment/web {value}: {Why.BOTH_ADDED}, ours taken (rule 13 favor)"
    ]


@pytest.mark.costly
def test_no_side_is_favoured_where_a_file_is_deleted(repo: Repo) -> None:
    """As in `git merge` and `kmerge merge`; only who solves by hand can say so."""
    repo.fork(
        {"a.yaml": BASE, "b.yaml": BASE},
        {"a.yaml": BASE, "b.yaml": deployment(replicas=2)},
        {"a.yaml": THEIRS, "b.yaml": deployment(replicas=3)},
    )
    repo.git("rm", "-q", "a.yaml")
    repo.commit("deleted")
    repo.git("config", "kmerge.favor", "theirs")
    assert files(repo, "side", code=1) == {"a.yaml": "conflict", "b.yaml": "resolved"}
    done = repo.kmerge("refresh", "--with", "side", "--dry-run", "main", check=False)
    assert "\n    a.yaml: deleted by us" in done.out
    assert repo.kmerge("merge", "side", check=False).code == 1
    assert repo.unmerged() == ["a.yaml"]
    repo.kmerge("solve", "--favor", "theirs")
    assert repo.text("a.yaml") == THEIRS


@pytest.mark.parametrize("mover", ["ours", "theirs"])
def test_a_moved_resource(repo: Repo, mover: str) -> None:
    moved = {"all.yaml": deployment(), "service.yaml": service()}
    edited = {"all.yaml": stream(deployment(), service(8443))}
    ours, theirs = (moved, edited) if mover == "ours" else (edited, moved)
    repo.fork({"all.yaml": stream(deployment(), service())}, ours, theirs)
    assert files(repo, "side", code=0) == {"all.yaml": "moved", "service.yaml": "moved"}


def test_deleted_and_renamed(repo: Repo) -> None:
    repo.commit("base", {"gone.yaml": service(1, "gone"), "old.yaml": stream(BASE, service())})
    repo.branch("side")
    repo.commit("theirs", {"gone.yaml": service(2, "gone"), "old.yaml": stream(THEIRS, service())})
    repo.switch("main")
    repo.git("rm", "-q", "gone.yaml")
    repo.git("mv", "old.yaml", "new.yaml")
    repo.commit("ours", {"new.yaml": stream(OURS, service())})
    assert files(repo, "side", code=1) == {"gone.yaml": "conflict", "new.yaml": "resolved"}


def test_no_merge_to_make(repo: Repo) -> None:
    repo.commit("base", {"a.yaml": BASE})
    repo.branch("side")
    repo.commit("more", {"a.yaml": OURS})
    assert repo.kmerge("preview", "main").out == "merge: already up to date\n"
    repo.switch("main")
    assert repo.kmerge("preview", "side").out == "merge: a fast-forward\n"
    assert repo.kmerge("preview", "side", "--rebase").out == "rebase: a fast-forward\n"


@pytest.mark.costly
def test_a_bare_repository_and_a_linked_worktree(world: World, repo: Repo) -> None:
    repo.fork({"a.yaml": BASE}, {"a.yaml": OURS}, {"a.yaml": THEIRS})
    world.git("clone", "-q", "--bare", repo.path, "bare.git")
    assert files(Repo(world, world.root / "bare.git"), "side", code=0) == {"a.yaml": "resolved"}
    repo.git("worktree", "add", "-q", "../linked", "side")
    assert files(Repo(world, world.root / "linked"), "main", code=0) == {"a.yaml": "resolved"}
    assert files(repo, "main", "--into", "side", code=0) == {"a.yaml": "resolved"}


def test_a_rebase_goes_commit_by_commit(repo: Repo) -> None:
    repo.commit("base", {"a.yaml": BASE, "b.yaml": BASE, "x.yaml": BASE})
    repo.branch("side")
    repo.commit("upstream", {"a.yaml": THEIRS, "b.yaml": deployment(replicas=3)})
    repo.switch("main")
    repo.commit("first", {"a.yaml": OURS})
    repo.commit("second", {"a.yaml": deployment(image="app:2", env=("A=1", "OURS=1"))})
    repo.commit("third", {"b.yaml": deployment(replicas=2)})
    repo.commit("fourth", {"x.yaml": OURS})
    before = state(repo)
    done = repo.kmerge("preview", "side", "--rebase", check=False)
    assert state(repo) == before
    assert done.code == 1
    lines = [line for line in done.lines if not line.startswith(" ")]
    assert [line.partition(" ")[2][11:] for line in lines if line[0].isdigit()] == [
        "first",
        "second",
        "third",
    ]
    assert lines[-1].endswith(
        "1 in conflict; git would stop at this commit, so the preview leaves out 1 commit"
    )


def test_a_clean_rebase_is_what_git_makes_of_it(repo: Repo) -> None:
    repo.write(".gitattributes", "")
    repo.commit("base", {"a.yaml": stream(BASE, service()), "gone.yaml": BASE})
    repo.branch("side")
    repo.git("mv", "a.yaml", "b.yaml")
    repo.git("rm", "-q", "gone.yaml")
    repo.commit("upstream", {"new.yaml": service(1, "new")})
    repo.switch("main")
    repo.commit("first", {"a.yaml": stream(OURS, service())})
    repo.commit("second", {"c.yaml": service(2, "c")})
    inside = Repository.open(str(repo.path))
    ours, upstream = inside.commit("main"), inside.commit("side")
    with scratch(inside) as at:
        preview = preview_rebase(inside, at, ours, upstream, SettingsOf(inside))
    assert (preview.is_clean, len(preview.steps)) == (True, 2)
    repo.git("rebase", "-q", "side")
    assert repo.text("b.yaml") == stream(OURS, service())
    assert preview.steps[-1].tree == repo.head("HEAD^{tree}")


def titles(repo: Repo, upstream: str, code: int = 0) -> list[str]:
    done = repo.kmerge("preview", upstream, "--rebase", "--json", check=False)
    assert done.code == code, done.said
    return [step["title"] for step in json.loads(done.out)["steps"]]


def test_what_a_rebase_leaves_out(repo: Repo) -> None:
    """The same change; not one that changes nothing, nor another change of a binary file."""
    repo.commit("base", {"a.yaml": BASE, "bin": b"\0 1"})
    repo.branch("side")
    repo.commit("same there", {"a.yaml": THEIRS})
    repo.git("commit", "-q", "--allow-empty", "-m", "nothing there")
    repo.commit("binary there", {"bin": b"\0 2"})
    repo.commit("and back", {"bin": b"\0 1"})
    repo.switch("main")
    repo.commit("same", {"a.yaml": THEIRS})
    repo.git("commit", "-q", "--allow-empty", "-m", "nothing")
    repo.commit("binary", {"bin": b"\0 3"})
    assert titles(repo, "side") == ["nothing", "binary"]
    repo.git("rebase", "-q", "side")
    assert repo.git("log", "--reverse", "--format=%s", "side..").lines == ["nothing", "binary"]


def test_a_rebase_makes_one_line_of_merges(repo: Repo) -> None:
    counts = [deployment(replicas=number) for number in (1, 2, 3)]
    repo.fork(*({"a.yaml": text} for text in counts))
    repo.merge()
    repo.commit("merge", {"a.yaml": counts[1]})
    assert titles(repo, "HEAD^", code=1) == ["theirs"]
    assert repo.git("rebase", "HEAD^", check=False).code == 1


def test_a_criss_cross_is_said(repo: Repo) -> None:
    repo.fork({"a.yaml": BASE}, {"b.yaml": BASE}, {"c.yaml": BASE})
    ours, theirs = repo.head("main"), repo.head("side")
    repo.git("merge", "-q", "--no-edit", theirs)
    repo.switch("side")
    repo.git("merge", "-q", "--no-edit", ours)
    repo.commit("theirs", {"a.yaml": THEIRS})
    repo.switch("main")
    repo.commit("ours", {"a.yaml": OURS})
    done = repo.kmerge("preview", "side")
    assert done.lines[0].startswith("criss-cross history: ")


def test_what_cannot_be(repo: Repo) -> None:
    repo.commit("base", {"a.yaml": BASE})
    done = repo.kmerge("preview", "nowhere", check=False)
    assert (done.code, done.err) == (
        2,
        "kmerge: 'nowhere' is not a commit of this repository; see `git log` and `git branch -a`\n",
    )
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit("other", {"b.yaml": BASE})
    done = repo.kmerge("preview", "main", check=False)
    assert (done.code, "no common ancestor" in done.err) == (2, True)
