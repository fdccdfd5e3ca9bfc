"""`kmerge refresh`: a hundred branches of a bare repository, and everything that is in the way."""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import sys
import time
from typing import Any

import pytest
from manifests import deployment, service, stream
from world import Repo, World

from kmerge_git.errors import GitFailed
from kmerge_git.git.branches import branches, chosen, push
from kmerge_git.git.repository import Repository
from kmerge_git.merge.plan import Why

BASE = deployment()
OURS = deployment(env=("A=1", "OURS=1"))
THEIRS = deployment(env=("A=1", "THEIRS=1"))
BOTH = deployment(env=("A=1", "THEIRS=1", "OURS=1"))
FAR = service(2, "far")
Files = dict[str, str]
# what a branch did, by the word for what becomes of it
KINDS: dict[str, Files] = {
    "clean": {"far.yaml": FAR, "new.txt": "n\n"},
    "resolved": {"web.yaml": THEIRS, "new.txt": "n\n"},
    "conflict": {"count.yaml": deployment(replicas=3), "web.yaml": THEIRS},
}


def history(repo: Repo, kinds: list[str], main: Files | None = None) -> None:
    """A branch `KIND/NUMBER` for each, from a base before the last commit of `main`."""
    base: Files = {"web.yaml": BASE, "count.yaml": BASE, "far.yaml": service(1, "far")}
    ours = {"web.yaml": OURS, "count.yaml": deployment(replicas=2)} | (main or {})
    lines = [commit("refs/heads/main", 1, 0, base), commit("refs/heads/main", 2, 1, ours)]
    for number, kind in enumerate(kinds):
        changed = KINDS[kind] | {"who.txt": f"{number}\n"}
        lines.append(commit(f"refs/heads/{kind}/{number}", 3 + number, 1, changed))
    repo.git("fast-import", "--quiet", stdin="".join(lines) + "done\n")


def commit(ref: str, mark: int, parent: int, files: Files) -> str:
    return (
        f"commit {ref}\nmark :{mark}\n"
        f"committer Ada <ada@example.org> {1700000000 + mark} +0000\ndata 2\nx\n"
        + (f"from :{parent}\n" if parent else "")
        + "".join(
            f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n"
            for name, text in files.items()
        )
    )


def refs(repo: Repo) -> dict[str, str]:
    told = repo.git("for-each-ref", "--format=%(refname) %(objectname)").lines
    return dict(line.split(" ") for line in told)


def refresh(
    repo: Repo, *args: str, code: int, env: dict[str, str] | None = None
) -> dict[str, dict[str, Any]]:
    done = repo.kmerge("refresh", "--with", "main", *args, "--json", check=False, env=env)
    assert done.code == code, done.said
    report = json.loads(done.out)
    return {branch["name"]: branch for branch in report["branches"]}


def results(branches: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: branch["result"] for name, branch in branches.items()}


@pytest.mark.costly
def test_a_hundred_branches(world: World) -> None:
    repo = world.init("bare.git", bare=True)
    kinds = ["clean"] * 30 + ["resolved"] * 40 + ["conflict"] * 30
    history(repo, kinds)
    before, main = refs(repo), repo.head("main")
    dry = refresh(repo, "--branches", "*", "--dry-run", code=1)
    assert (refs(repo), repo.git("count-objects").out.split()[0]) == (before, "0")
    told = refresh(repo, "--branches", "*", code=1)
    assert results(told) == results(dry)
    names = [f"{kind}/{number}" for number, kind in enumerate(kinds)]
    assert results(told) == {name: name.partition("/")[0] for name in names} | {
        "main": "up to date"
    }
    after = refs(repo)
    for name in names:
        old, new = before[f"refs/heads/{name}"], after[f"refs/heads/{name}"]
        if not name.startswith("resolved"):
            assert new == old
            continue
        assert repo.head(f"{name}^@").split() == [old, main]
        # what both sides did, and nothing else
        want = {"web.yaml": BOTH, "new.txt": "n\n", "who.txt": f"{name.partition('/')[2]}\n"}
        want |= {"count.yaml": deployment(replicas=2), "far.yaml": service(1, "far")}
        listed = repo.git("ls-tree", "-r", "--name-only", name).lines
        assert sorted(listed) == sorted(want)
        assert repo.show(f"{name}:who.txt") == want["who.txt"]
    assert repo.show("resolved/30:web.yaml").split() == BOTH.split()
    assert repo.git("log", "-1", "--format=%B", "resolved/30").out == (
        "Merge main into resolved/30\n\n"
        "Without kmerge, git reports conflicts in these files; kmerge merged them by structure:\n"
        "- web.yaml: Deployment/web\n\n"
        "Made by `kmerge refresh`.\n\n"
    )
    (left,) = (file for file in told["conflict/70"]["files"] if file["result"] == "conflict")
    assert [place["field"] for place in left["conflicts"]] == ["spec.replicas"]
    repo.git("fsck", "--strict")
    again = refresh(repo, "--branches", "resolved/*", code=0)
    assert set(results(again).values()) == {"up to date"}


def test_the_table(repo: Repo) -> None:
    history(repo, ["clean", "resolved", "conflict"])
    done = repo.kmerge("refresh", "--with", "main", "--branches", "*/*", check=False)
    assert done.code == 1
    assert done.out == (
        "clean        clean/0\n"
        "conflict     conflict/2\n"
        f"    count.yaml: Deployment/web spec.replicas: {Why.BOTH_CHANGED}\n"
        "resolved     resolved/1  web.yaml\n"
        "refresh: 3 branches: 1 clean, 1 conflict, 1 resolved\n"
    )


def test_some_by_name(repo: Repo) -> None:
    history(repo, ["resolved", "resolved", "clean"])
    before = refs(repo)
    assert results(refresh(repo, "resolved/0", "clean/2", code=0)) == {
        "resolved/0": "resolved",
        "clean/2": "clean",
    }
    assert refs(repo) | {"refs/heads/resolved/0": ""} == before | {"refs/heads/resolved/0": ""}
    done = repo.kmerge("refresh", "--with", "main", "nowhere", check=False)
    assert (done.code, "there is no branch 'nowhere'" in done.err) == (2, True)
    done = repo.kmerge("refresh", "--with", "main", check=False)
    assert (done.code, "no branches are given" in done.err) == (2, True)


def test_a_branch_that_somebody_works_on_is_skipped(repo: Repo) -> None:
    history(repo, ["resolved"] * 4)
    repo.git("worktree", "add", "-q", "../linked", "resolved/0")
    repo.git("worktree", "add", "-q", "../rebasing", "resolved/1")
    rebasing = Repo(repo.world, repo.world.root / "rebasing")
    assert rebasing.git("rebase", "main", check=False).code == 1
    repo.git("reset", "-q", "--hard")
    repo.switch("resolved/2")
    before = refs(repo)
    told = refresh(repo, "--branches", "resolved/*", code=1)
    assert results(told) == dict.fromkeys(("resolved/0", "resolved/1", "resolved/2"), "skipped") | {
        "resolved/3": "resolved"
    }
    assert told["resolved/0"]["why"].endswith("/linked")
    after = refs(repo)
    assert [name for name in before if before[name] != after[name]] == ["refs/heads/resolved/3"]


def remote(world: World, kinds: list[str]) -> tuple[Repo, Repo]:
    """A remote, and a clone of it."""
    server = world.init("server.git", bare=True)
    history(server, kinds)
    world.git("clone", "-q", server.path, "clone")
    return server, Repo(world, world.root / "clone")


def test_pushed_branches(world: World) -> None:
    server, clone = remote(world, ["resolved", "clean", "conflict"])
    before, mine = refs(server), refs(clone)
    told = refresh(clone, "--branches", "*", "--push", "origin", code=1)
    assert told["resolved/0"]["result"] == "resolved"
    after = refs(server)
    changed = [name for name in before if before[name] != after[name]]
    assert changed == ["refs/heads/resolved/0"]
    parents = server.head("resolved/0^@").split()
    assert parents == [before["refs/heads/resolved/0"], before["refs/heads/main"]]
    # of the clone's own refs only what it knows of the remote has moved
    moved = {name for name, oid in refs(clone).items() if mine[name] != oid}
    assert moved == {"refs/remotes/origin/resolved/0"}


def meanwhile(world: World, command: str) -> dict[str, str]:
    """An environment in which git does something else first, whenever it merges."""
    path = world.env["PATH"]
    program = world.root / "bin" / "git"
    program.parent.mkdir()
    program.write_text(
        f"#!/bin/sh\nPATH='{path}'\n"
        f'case "$*" in *" merge-tree "*) git {command};; esac\nexec git "$@"\n'
    )
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{path}"}


@pytest.mark.parametrize("how", ["on", "back"])
def test_nothing_is_pushed_over_a_branch_that_moved(world: World, how: str) -> None:
    server, clone = remote(world, ["resolved", "resolved"])
    blob = server.git("hash-object", "-w", "--stdin", stdin="b: 1\n").out.strip()
    tree = server.git("mktree", stdin=f"100644 blob {blob}\tb.yaml\n").out.strip()
    other = server.git("commit-tree", tree, "-p", "resolved/0", "-m", "meanwhile").out.strip()
    env = None
    if how == "back":  # to what the new commit descends from: a plain push would bring all back
        other = server.head("resolved/0^")
        env = meanwhile(
            world, f"--git-dir='{server.path}' update-ref refs/heads/resolved/0 {other}"
        )
    else:  # while git is pushing
        moving = f"git --git-dir='{server.path}' update-ref refs/heads/resolved/0 {other}"
        clone.write(".git/hooks/pre-push", f"#!/bin/sh\n{moving}\n").chmod(0o755)
    told = refresh(clone, "--branches", "resolved/*", "--push", "origin", code=1, env=env)
    assert results(told) == {"resolved/0": "rejected", "resolved/1": "resolved"}
    assert told["resolved/0"]["why"]
    assert server.head("resolved/0") == other
    assert len(server.head("resolved/1^@").split()) == 2


@pytest.mark.costly
def test_branches_that_are_not_here(world: World) -> None:
    """What each message says to do helps."""
    server = world.init("server.git", bare=True)
    history(server, ["resolved"])
    world.git("clone", "-q", "--bare", server.path, "clone.git")
    bare = Repo(world, world.root / "clone.git")

    def said(*args: str) -> str:
        done = bare.kmerge("refresh", "--with", "main", *args, check=False)
        assert done.code in (0, 2)
        return done.err

    assert said("x", "--push", "nowhere") == (
        "kmerge: there is no remote 'nowhere'; see `git remote`\n"
    )
    message = said("resolved/0", "--push", "origin")
    assert message.startswith(
        "kmerge: no branch of the remote 'origin' was fetched; run `git fetch origin "
    )
    bare.git(*shlex.split(message.split("`")[1])[1:])
    assert said("x", "--push", "origin") == (
        "kmerge: there is no branch 'x'; run `git branch -r` to list the "
        "fetched branches of 'origin'\n"
    )
    assert said("origin/resolved/0") == (
        "kmerge: there is no branch 'origin/resolved/0'; run `git branch` to list local "
        "branches, or use --push REMOTE for a remote\n"
    )
    assert said("--branches", "no/*", "res*") == "kmerge: no branch matches 'no/*'\n"
    assert said("resolved/0", "--push", "origin") == ""


def test_a_local_branch_that_moved_stays(repo: Repo) -> None:
    history(repo, ["resolved", "resolved"])
    other = repo.head("main")
    moving = f"--git-dir='{repo.path}/.git' update-ref refs/heads/resolved/0 {other}"
    env = meanwhile(repo.world, moving)
    told = refresh(repo, "--branches", "resolved/*", code=1, env=env)
    assert results(told) == {"resolved/0": "rejected", "resolved/1": "resolved"}
    assert repo.head("resolved/0") == other


def test_only_a_fast_forward_is_pushed(world: World) -> None:
    server, clone = remote(world, ["resolved"])
    inside = Repository.open(str(clone.path))
    (branch,) = chosen(branches(inside, "origin"), ["resolved/0"], [])
    with pytest.raises(GitFailed, match="is not a descendant of"):
        push(branch, clone.head("origin/main"), "origin", inside)
    assert server.head("resolved/0") == branch.oid


@pytest.mark.parametrize("pushing", [False, True])
@pytest.mark.costly
def test_hostile_names(world: World, pushing: bool) -> None:
    server, clone = remote(world, ["resolved"])
    tip = server.head("resolved/0")
    names = [
        "-f",
        "--upload-pack=x",
        "si\u202ede",
        "a;touch${IFS}x",
        "$(touch${IFS}x)",
        "main\u0085",
        "b\udcff",
    ]
    names += [] if pushing else ["HEAD"]  # of a remote git keeps that name for itself
    for name in names:
        server.git("update-ref", f"refs/heads/{name}", tip)
    clone.git("fetch", "-q")
    repo = clone if pushing else server
    args = ["--push", "origin"] if pushing else []
    told = refresh(repo, "--branches", "*", *args, code=0)
    assert results(told) == dict.fromkeys([*names, "resolved/0"], "resolved") | {
        "main": "up to date"
    }
    assert all(len(server.head(f"refs/heads/{name}^@").split()) == 2 for name in names)
    message = server.git("log", "-1", "--format=%s", "refs/heads/si\u202ede").out
    assert "\u202e" not in message
    shown = repo.kmerge("refresh", "--with", "main", "--branches", "*", *args, check=False).said
    assert not {"\u202e", "\u0085"} & set(shown)
    assert not (repo.path / "x").exists()


@pytest.mark.costly
def test_how_to_merge_is_read_from_the_revision_alone(repo: Repo) -> None:
    favor = {".gitattributes": "* kmerge-favor=ours\n"}
    history(repo, ["conflict", "resolved"])
    # neither a branch nor the working tree has a say
    repo.git("reset", "-q", "--hard")
    repo.switch("conflict/0")
    repo.commit("favor", favor)
    repo.switch("main")
    repo.write(".gitattributes", favor[".gitattributes"])
    assert results(refresh(repo, "conflict/0", code=1)) == {"conflict/0": "conflict"}
    # but the revision has
    repo.commit("policy", {".gitattributes": "count.yaml kmerge-favor=theirs\n"})
    assert results(refresh(repo, "resolved/1", code=0)) == {"resolved/1": "resolved"}
    told = refresh(repo, "conflict/0", code=1)
    assert [f["path"] for f in told["conflict/0"]["files"] if f["result"] == "conflict"] == [
        ".gitattributes"
    ]


def test_what_a_policy_decides_is_told(repo: Repo) -> None:
    """Nobody looks at the commit before it is pushed."""
    history(repo, ["conflict"])
    words = f"Deployment/web spec.replicas: {Why.BOTH_CHANGED}, theirs taken (rule 13 favor)"
    repo.git("reset", "-q", "--hard")
    repo.commit("favor", {".gitattributes": "count.yaml kmerge-favor=theirs\n"})
    done = repo.kmerge("refresh", "--with", "main", "conflict/0")
    assert f"resolved     conflict/0  count.yaml, web.yaml\n    count.yaml: {words}\n" in done.out
    message = repo.git("log", "-1", "--format=%B", "conflict/0").out
    assert f"- count.yaml: Deployment/web\n  {words}\n- web.yaml: Deployment/web\n" in message


@pytest.mark.costly
def test_definitions_come_from_the_revision(repo: Repo) -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "webs.example.org"},
        "spec": {
            "group": "example.org",
            "names": {"kind": "Web"},
            "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"properties": {
                "spec": {"properties": {"rows": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["slot"],
                }}}
            }}}}],
        },
    }  # fmt: skip
    head = "apiVersion: example.org/v1\nkind: Web\nmetadata: {name: a}\nspec:\n  rows:\n"
    one, two, three = (f"  - {{slot: {n}, size: {n}}}\n" for n in (1, 2, 3))
    repo.commit("base", {"a.yaml": head + one})
    repo.branch("side")
    repo.commit("theirs", {"a.yaml": head + one + two})
    repo.switch("main")
    repo.commit("ours", {"a.yaml": head + one + three})
    repo.git("config", "kmerge.crd", "crds")
    repo.write("crds/web.yaml", json.dumps(crd))
    assert results(refresh(repo, "side", code=1)) == {"side": "conflict"}
    repo.commit("definition", {})
    assert results(refresh(repo, "side", code=0)) == {"side": "resolved"}


def test_several_merge_bases(repo: Repo) -> None:
    repo.fork({"a.yaml": BASE}, {"b.yaml": BASE}, {"c.yaml": BASE})
    ours, theirs = repo.head("main"), repo.head("side")
    repo.git("merge", "-q", "--no-edit", theirs)
    repo.switch("side")
    repo.git("merge", "-q", "--no-edit", ours)
    repo.commit("theirs", {"a.yaml": THEIRS})
    repo.branch("fine", "side~1")
    repo.switch("main")
    repo.commit("ours", {"a.yaml": OURS})
    before = refs(repo)
    told = refresh(repo, "side", "fine", code=1)
    assert results(told) == {"side": "criss-cross", "fine": "clean"}
    assert refs(repo) == before


def test_a_merge_that_git_breaks_is_no_clean_one(repo: Repo) -> None:
    head = "kind: ConfigMap\nmetadata:\n  name: a\ndata:\n"
    lines = "".join(f"  k{n}: v\n" for n in range(20))
    repo.fork(
        {"a.yaml": head + lines},
        {"a.yaml": head + "  new: ours\n" + lines},
        {"a.yaml": head + lines + "  new: theirs\n"},
    )
    assert repo.git("merge-tree", "--write-tree", "main", "side").code == 0
    told = refresh(repo, "side", code=1)
    assert results(told) == {"side": "conflict"}
    assert "broken" in told["side"]["why"]


def test_moved_resources_and_other_histories(repo: Repo) -> None:
    both = stream(deployment(), service())
    repo.fork(
        {"all.yaml": both},
        {"all.yaml": deployment(), "service.yaml": service()},
        {"all.yaml": stream(deployment(), service(8443))},
    )
    repo.git("checkout", "-q", "--orphan", "alien")
    repo.commit("alien", {"all.yaml": BASE})
    repo.switch("main")
    told = refresh(repo, "side", "alien", code=1)
    assert results(told) == {"side": "resolved", "alien": "unrelated"}
    assert repo.show("side:service.yaml") == service(8443)
    assert (
        "Service/web was moved to service.yaml" in repo.git("log", "-1", "--format=%B", "side").out
    )


def test_who_commits(repo: Repo) -> None:
    history(repo, ["resolved", "resolved"])
    refresh(repo, "resolved/0", "--committer", "A Bot <bot@example.org>", code=0)
    who = repo.git("log", "-1", "--format=%an <%ae> %cn <%ce>", "resolved/0").out.strip()
    assert who == "A Bot <bot@example.org> A Bot <bot@example.org>"
    done = repo.kmerge("refresh", "--with", "main", "resolved/1", "--committer", "Bot", check=False)
    assert (done.code, "NAME <MAIL>" in done.err) == (2, True)
    repo.git("config", "user.useConfigOnly", "true")
    names = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
    env = {name: value for name, value in repo.world.env.items() if name not in names}
    bare = World(repo.world.root, env)
    done = Repo(bare, repo.path).kmerge("refresh", "--with", "main", "resolved/1", check=False)
    assert (done.code, "--committer" in done.err) == (2, True)


@pytest.mark.costly
def test_a_killed_run_leaves_whole_branches(world: World) -> None:
    repo = world.init("bare.git", bare=True)
    history(repo, ["resolved"] * 6)
    before, main = refs(repo), repo.head("main")
    rng = random.Random(14)
    argv = [sys.executable, "-m", "kmerge_git", "refresh", "--with", "main", "--branches", "*"]
    for _ in range(6):
        process = subprocess.Popen(
            argv, cwd=repo.path, env=world.env | {"TMPDIR": str(world.root)}, stdout=-3, stderr=-3
        )
        time.sleep(rng.uniform(0.1, 0.5))
        process.kill()
        process.wait()
        for name, old in before.items():
            tip = repo.head(name)
            assert tip == old or repo.head(f"{tip}^@").split() == [old, main]
    repo.git("fsck", "--strict")
    # what a kill leaves of a lock is git's to clean up, and nothing else is in the way
    for lock in repo.path.glob("refs/heads/resolved/*.lock"):
        lock.unlink()
    assert set(results(refresh(repo, "--branches", "*", code=0)).values()) <= {
        "up to date",
        "resolved",
    }


def test_bare_repositories_that_git_wants_to_be_named(world: World) -> None:
    repo = world.init("bare.git", bare=True)
    history(repo, ["resolved", "resolved"])
    world.git("config", "--global", "safe.bareRepository", "explicit")
    assert repo.git("rev-parse", "HEAD", check=False).code == 128
    refused = repo.kmerge("refresh", "--with", "main", "resolved/0", check=False)
    assert refused.code == 2
    assert "safe.bareRepository is 'explicit'" in refused.err
    assert refused.err.endswith("; set GIT_DIR=. to use the repository in this folder\n")
    named = {"GIT_DIR": "."}
    done = repo.kmerge("refresh", "--with", "main", "resolved/0", env=named)
    assert done.lines[-1] == "refresh: 1 branch: 1 resolved"
    assert len(world.git("--git-dir=bare.git", "rev-parse", "resolved/0^@").lines) == 2
    argv = ("preview", "resolved/1", "--into", "main", "--write-tree")
    assert len(repo.kmerge(*argv, env=named).lines) == 1


@pytest.mark.parametrize("is_relative", [True, False])
def test_the_repository_that_is_named_is_meant(world: World, is_relative: bool) -> None:
    """`git --git-dir=PATH kmerge` in a folder of another repository."""
    repo, here = world.init("bare.git", bare=True), world.init("here")
    history(repo, ["resolved"])
    history(here, ["resolved"])
    before = refs(here)
    env = {"GIT_DIR": "../bare.git" if is_relative else str(repo.path)}
    done = here.kmerge("refresh", "--with", "main", "resolved/0", env=env)
    assert done.lines[-1] == "refresh: 1 branch: 1 resolved"
    assert refs(here) == before
    assert len(repo.git("rev-parse", "resolved/0^@").lines) == 2


def test_a_working_tree_that_is_named_is_meant(world: World, repo: Repo) -> None:
    repo.fork({"a.yaml": BASE}, {"a.yaml": OURS}, {"a.yaml": THEIRS})
    repo.merge()
    env = {"GIT_DIR": "repo/.git", "GIT_WORK_TREE": "repo"}
    world.kmerge("solve", env=env)
    merged = deployment(env=("A=1", "OURS=1", "THEIRS=1"))
    assert (repo.text("a.yaml"), repo.unmerged()) == (merged, [])
