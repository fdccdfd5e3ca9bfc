"""The scripts of docs/servers.md do what the page says."""

from __future__ import annotations

import re

import pytest
import yaml
from test_check_staged import put_on_path
from test_refresh import history, refs
from world import ROOT, Repo, World

from kmerge_git.git.driver_lines import driver_line

PAGE = (ROOT / "docs" / "servers.md").read_text()
SCRIPTS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)
JOBS = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.M | re.S)]
KEEP, TRY = SCRIPTS
FAVOR = "* kmerge-favor=ours\n"
# As in git 3.0: a bare repository has to be named, not found.
NAMED = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
}


@pytest.fixture
def server(world: World) -> Repo:
    """A bare repository with branches, and `kmerge` on PATH."""
    put_on_path(world)
    server = world.init("team/app.git", bare=True)
    history(server, ["clean", "resolved", "conflict", "resolved"])
    server.git("update-ref", "refs/heads/release", "refs/heads/resolved/1")
    return server


def moved(server: Repo, before: dict[str, str]) -> set[str]:
    return {name for name, oid in refs(server).items() if before[name] != oid}


def test_every_script_of_the_page_is_run() -> None:
    assert [next(iter(job)) for job in JOBS] == ["kmerge-sweep", "kmerge-preview"]
    assert "keep-mergeable" in KEEP
    assert "merge-tree" in TRY


@pytest.mark.costly
def test_a_script_by_the_clock(world: World, server: Repo) -> None:
    env = {
        "URL": str(server.path),
        "STATE": str(world.root / "state.git"),
        "BRANCHES": "re*/1",
    } | NAMED
    before = refs(server)
    stopped = world.init("state.git.new", bare=True)  # between two of its steps
    stopped.git("remote", "add", "origin", "elsewhere")
    done = world.run("sh", "-c", KEEP, env=env)
    assert done.lines[-1] == "refresh: 1 branch: 1 resolved"
    assert moved(server, before) == {"refs/heads/resolved/1"}
    # all comes from the repository that is kept, also a branch that is new and one that is gone
    server.git("update-ref", "-d", "refs/heads/resolved/1")
    server.git("update-ref", "refs/heads/really/1", before["refs/heads/conflict/2"])
    done = world.run("sh", "-c", KEEP, env=env)
    assert done.lines[-1] == "refresh: 1 branch: 1 conflict"
    world.run("rm", "-rf", server.path)
    assert world.run("sh", "-c", KEEP, env=env, check=False).code == 128


@pytest.mark.costly
def test_a_sweep_of_gitlab(world: World, server: Repo) -> None:
    before = refs(server)
    job = JOBS[0]["kmerge-sweep"]
    env = {
        "CI_SERVER_URL": str(world.root),
        "CI_PROJECT_PATH": "team/app",
        "CI_COMMIT_BRANCH": "main",
        "KMERGE_TOKEN": "secret",
        **NAMED,
    } | {"KMERGE_BRANCHES": job["variables"]["KMERGE_BRANCHES"].replace("feature", "resolved")}
    for _ in range(2):  # a runner keeps its folder
        done = world.run("sh", "-ec", job["script"], env=env)
        assert "secret" not in done.said
    assert done.lines[-1] == "refresh: 2 branches: 2 up to date"
    assert moved(server, before) == {"refs/heads/resolved/1", "refs/heads/resolved/3"}
    told = world.git("--git-dir=work.git", "config", f"credential.{world.root}.helper").out
    lent = world.run("sh", "-c", f"{told[1:].strip()} get", env=env).lines
    assert lent == ["username=kmerge", "password=secret"]


@pytest.mark.parametrize("number, kind, code", [(1, "resolved", 0), (2, "conflict", 1)])
@pytest.mark.costly
def test_a_preview_of_gitlab(world: World, server: Repo, number: int, kind: str, code: int) -> None:
    clone = Repo(world, world.root / "clone")
    world.git("clone", "-q", "-b", f"{kind}/{number}", server.path, clone.path)
    clone.commit("favor", {".gitattributes": FAVOR})
    clone.git("push", "-q", "origin", "HEAD:refs/merge-requests/7/head")
    env = {
        "CI_SERVER_URL": str(world.root),
        "CI_MERGE_REQUEST_PROJECT_URL": str(server.path).removesuffix(".git"),
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_REF_PATH": "refs/merge-requests/7/head",
        "CI_JOB_TOKEN": "secret",
        **NAMED,
    }
    done = world.run("sh", "-ec", JOBS[1]["kmerge-preview"]["script"], env=env, check=False)
    assert done.code == code, done.said
    assert ("spec.replicas" in done.out) == bool(code)


def register(world: World) -> None:
    """For all users of a machine, in the file that git calls the system's."""
    attributes = world.root / "etc" / "gitattributes"
    attributes.write_text("*.yaml merge=kmerge\n")
    config = world.env["GIT_CONFIG_SYSTEM"]
    for key, value in (("merge.kmerge.driver", driver_line()), ("core.attributesFile", attributes)):
        world.git("config", "--file", config, key, str(value))


SERVICE = {"GIT_CONFIG_NOSYSTEM": "0"}


@pytest.mark.parametrize("registered", [True, False])
def test_the_try_tells_whether_the_driver_is_asked(world: World, registered: bool) -> None:
    if registered:
        register(world)
    done = world.run("sh", "-c", TRY, env=SERVICE | NAMED, check=False)
    assert (done.out, done.code) == (("a: 2\nb: 2\n", 0) if registered else ("", 1)), done.said


def test_what_a_server_does_with_its_own_git(world: World, server: Repo) -> None:
    """`git merge-tree` in the bare repository, and a merge in a temporary working tree."""
    argv = ("merge-tree", "--write-tree", "main", "resolved/1")
    assert server.git(*argv, env=SERVICE, check=False).code == 1
    register(world)
    tree = server.git(*argv, env=SERVICE).lines[0]
    merged = server.show(f"{tree}:web.yaml")
    assert [merged.count(f"name: {name}") for name in ("OURS", "THEIRS")] == [1, 1]
    world.git("clone", "-q", "--shared", server.path, "there")
    there = Repo(world, world.root / "there")
    assert there.git("merge", "-q", "origin/resolved/1", env=SERVICE).code == 0
    assert there.text("web.yaml") == merged
