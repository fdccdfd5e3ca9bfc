"""The pre-commit framework itself runs our hooks, from this repository's own commit."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from identify.identify import ALL_TAGS
from test_check_ways import BASE as WEB
from test_check_ways import BOTH, DAMAGE, OURS, THEIRS
from world import ROOT, Done, Repo, World, sealed_environment

GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: b\n"
BAD = GOOD + "  a: c\n"
PATCH = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n  strategy:\n    $path: x\n"
USER = Path.home() / ".config" / "pip" / "pip.conf"

# What both pre-commit and prek read in a manifest; neither has keys of its own here.
KEYS = {
    "id", "name", "description", "entry", "language", "types", "files", "require_serial", "stages",
    "minimum_pre_commit_version", "always_run", "pass_filenames", "verbose",
}  # fmt: skip


def manifest() -> list[dict[str, object]]:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert isinstance(hooks, list)
    return hooks


def test_the_manifest() -> None:
    from pre_commit.clientlib import load_manifest

    load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))
    names = ["kmerge-check", "kmerge-directives", "kmerge-merge-damage"]
    names += ["kmerge-merge", "kmerge-installed", "kmerge-register"]
    assert [hook["id"] for hook in manifest()] == names
    *checks, registering = manifest()
    assert {tuple(hook["stages"]) for hook in checks} == {
        ("pre-commit", "pre-merge-commit", "pre-push", "manual")
    }
    assert registering["stages"] == ["post-checkout", "manual"]
    for hook in manifest():
        assert set(hook) <= KEYS
        assert set(hook.get("types", [])) <= ALL_TAGS


@pytest.mark.parametrize(
    "path, taken",
    [
        ("a.yaml", True), ("a/b.yml", True), ("a.kyaml", True), ("a.json", True),
        ("kustomization", True), ("x/Kustomization", True), ("a.txt", False), ("yaml", False),
        ("my-kustomization", False), ("a.yaml.bak", False),
        ("c/templates/_helpers.tpl", True), ("templates/a/b.tpl", True), ("templates/NOTES.txt", True),
        ("a.tpl", False), ("NOTES.txt", False), ("c/templates/a/NOTES.txt.bak", False),
    ],
)  # fmt: skip
def test_which_files_are_taken(path: str, taken: bool) -> None:
    import re

    pattern = str(manifest()[0]["files"])
    assert bool(re.search(pattern, path)) is taken


def can_install() -> str:
    """Why pre-commit cannot make an environment here, or nothing."""
    if find_spec("pre_commit") is None:
        return "pre-commit is not installed"
    ask = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed"]
    try:
        done = subprocess.run(
            [*ask, "--no-deps", "hatchling"],
            capture_output=True,
            timeout=600,
            check=False,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return "the package index does not answer"
    return "" if done.returncode == 0 else f"the package index cannot be reached: {done.stderr}"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps what it has installed: once for all tests of this module."""
    reason = can_install()
    if reason:
        pytest.skip(reason)
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this repository with one commit: what `repo:` points to."""
    root = tmp_path_factory.mktemp("source")
    world = World(root, sealed_environment(root))
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    ).stdout
    if not listed:
        pytest.skip("this is no checkout of the repository")
    path = root / "kmerge-git"
    world.git("init", "-q", "-b", "main", path)
    for name in map(os.fsdecode, filter(None, listed.split(b"\0"))):
        if not name.startswith(("tests/", "bench/", "docs/")) and (ROOT / name).is_file():
            target = path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    world.git("add", "-A", cwd=path)
    world.git("commit", "-q", "-m", "kmerge-git", cwd=path)
    return path


def pre_commit(repo: Repo, cache: Path, *args: str | Path) -> Done:
    return repo.world.run(
        sys.executable, "-m", "pre_commit", *args,
        cwd=repo.path, env=environment(cache), check=False, timeout=900,
    )  # fmt: skip


def environment(cache: Path) -> dict[str, str]:
    env = {"PRE_COMMIT_HOME": str(cache), "PRE_COMMIT_COLOR": "never", "PYTHONPATH": ""}
    return env | ({"PIP_CONFIG_FILE": str(USER)} if USER.is_file() else {})


def configuration(repo: Repo, source: Path, *hooks: str) -> str:
    revision = repo.world.git("rev-parse", "HEAD", cwd=source).out.strip()
    lines = [
        "default_install_hook_types: [pre-commit, pre-merge-commit]",
        "repos:",
        f"- repo: {source}",
        f"  rev: {revision}",
        "  hooks:",
        *(f"  - id: {hook}" for hook in hooks),
    ]
    return "\n".join(lines) + "\n"


def section(said: str, start: str, end: str = "") -> str:
    """What one hook has printed."""
    rest = said[said.index(start) :]
    return rest[: rest.index(end)] if end else rest


@pytest.mark.installed
def test_try_repo(repo: Repo, source: Path, cache: Path) -> None:
    """One call makes a new environment, so all hooks are tried in one."""
    repo.write("x/Kustomization", "resources:\n- a.yaml\n- a.yaml\n")
    files = {"good.yaml": GOOD, "bad.yaml": BAD, "web-patch.yaml": PATCH, "n.txt": "<<<<<<< a\n"}
    for name, text in files.items():
        repo.write(name, text)
    repo.write(".gitattributes", "*.yaml merge=kmerge\n")
    repo.git("add", "-A")

    done = pre_commit(repo, cache, "try-repo", source, "--all-files")
    assert done.code == 1
    names = [
        "kmerge check (patches",
        "kmerge check (directives",
        "kmerge driver",
        "kmerge check (merge damage",
    ]
    everything = section(done.said, *names[0:2])
    directives = section(done.said, *names[1:3])
    installed = section(done.said, *names[2:4])
    damage = section(done.said, names[3])
    for place in (
        "bad.yaml:7:3: error M02",
        "web-patch.yaml:7:5: error D50",
        "x/Kustomization:3:3:",
    ):
        assert place in everything
    assert "good.yaml" not in done.said
    assert "n.txt" not in done.said
    assert ("D50" in directives, "M02" in directives) == (True, False)
    assert ("D50" in damage, "M02" in damage) == (False, True)
    assert "run `kmerge install`" in installed


@pytest.mark.installed
def test_commits_and_merges(repo: Repo, source: Path, cache: Path) -> None:
    """Installed as people do it: pre-commit stashes what is not staged, and runs in merges."""
    base = GOOD + "".join(f"  k{n}: v\n" for n in range(12))
    config = configuration(repo, source, "kmerge-check", "kmerge-installed")
    repo.fork(
        {".pre-commit-config.yaml": config, "a.yaml": base},
        {"a.yaml": base.replace("  k0", "  new: ours\n  k0")},
        {"a.yaml": base + "  new: theirs\n"},
    )
    assert pre_commit(repo, cache, "install").code == 0
    env = environment(cache)

    repo.write("b.yaml", GOOD.replace("name: a", "name: b"))
    repo.git("add", "b.yaml")
    repo.write("b.yaml", BAD)
    done = repo.git("commit", "-m", "staged", env=env, check=False)
    assert (done.code, done.said.count("Passed")) == (0, 2), done.said
    repo.git("add", "b.yaml")
    assert "error M02" in repo.git("commit", "-m", "bad", env=env, check=False).said
    repo.git("reset", "-q", "--hard")

    done = repo.git("merge", "side", env=env, check=False)
    assert done.code != 0
    assert "error M02 data.new: duplicate key new" in done.said


@pytest.mark.installed
def test_a_side_taken_whole(repo: Repo, source: Path, cache: Path) -> None:
    base = GOOD + "".join(f"  k{n}: v\n" for n in range(12))
    repo.fork(
        {
            ".pre-commit-config.yaml": configuration(repo, source, "kmerge-check"),
            ".gitattributes": "*.yaml merge=kmerge\n",
            "a.yaml": base,
        },
        {"a.yaml": base.replace("k5: v", "k5: ours").replace("k0: v", "k0: ours")},
        {"a.yaml": base.replace("k5: v", "k5: theirs").replace("k11: v", "k11: theirs")},
    )
    assert pre_commit(repo, cache, "install").code == 0
    env = environment(cache)
    assert repo.git("merge", "side", env=env, check=False).code == 1
    repo.git("checkout", "--ours", "a.yaml")
    repo.git("add", "a.yaml")
    done = repo.git("commit", "-m", "merged", env=env, check=False)
    assert (done.code, "error M11" in done.said) == (1, True), done.said
    meant = repo.git("commit", "-m", "meant", env=env | {"KMERGE_CHECK_IGNORE": "M11"})
    assert "M11" not in meant.said


@pytest.mark.installed
def test_the_ways_to_finish_a_merge(repo: Repo, source: Path, cache: Path) -> None:
    """All in one repository: each way starts from the same two branches."""
    config = {".pre-commit-config.yaml": configuration(repo, source, "kmerge-check")}
    repo.fork({**config, "web.yaml": WEB}, {"web.yaml": OURS}, {"web.yaml": THEIRS})
    assert pre_commit(repo, cache, "install").code == 0
    env = environment(cache)
    start = repo.head()
    repo.git("config", "rerere.enabled", "true")
    repo.git("config", "rerere.autoUpdate", "true")

    def stopped() -> None:
        repo.git("reset", "-q", "--hard", start)
        assert repo.git("merge", "side", env=env, check=False).code == 1

    def commit(name: str) -> Done:
        done = repo.git("commit", "-m", name, env=env, check=False)
        assert done.said.count("kmerge check") == 1, done.said
        return done

    stopped()
    for name, (text, id) in DAMAGE.items():
        repo.write("web.yaml", text)
        repo.git("add", "web.yaml")
        done = commit(name)
        assert (done.code, f": error {id} " in done.said) == (1, True), done.said
    repo.write("web.yaml", BOTH)
    repo.git("add", "web.yaml")
    assert commit("by hand").code == 0
    stopped()
    assert commit("rerere").code == 0
    repo.git("rerere", "forget", "web.yaml", check=False)
    repo.git("config", "rerere.enabled", "false")
    ways = {
        "solve": ["kmerge", "solve", "--favor", "theirs"],
        "resolve": ["kmerge", "resolve", "--take", "ours", "web.yaml"],
    }
    for name, (program, *args) in ways.items():
        stopped()
        assert (repo.git if program == "git" else repo.kmerge)(*args).code == 0
        repo.git("add", "web.yaml")
        done = commit(name)
        assert (done.code, "Passed" in done.said) == (0, True), done.said
    repo.git("reset", "-q", "--hard", start)
    done = repo.git("merge", "-X", "ours", "-m", "favoured", "side", env=env, check=False)
    assert (done.code, "error M28" in done.said) == (1, True), done.said
    stopped()
    repo.git("checkout", "--ours", "web.yaml")
    repo.git("add", "web.yaml")
    done = commit("a side")
    assert (done.code, "error M11" in done.said) == (1, True), done.said


@pytest.mark.installed
def test_the_hook_for_merges(repo: Repo, source: Path, cache: Path) -> None:
    """It runs without file names, and what it found is shown also where it passes."""
    names = "resources:\n- web.yaml\n"
    config = configuration(repo, source, "kmerge-merge").replace("mit]", "mit, pre-push]")
    repo.fork(
        {".pre-commit-config.yaml": config, "kustomization.yaml": names, "web.yaml": WEB},
        {"web.yaml": OURS},
        {"web.yaml": THEIRS, "t": "1"},
    )
    remote = repo.world.init("remote", bare=True)
    repo.git("remote", "add", "origin", remote.path)
    repo.git("push", "-q", "origin", "main")
    assert pre_commit(repo, cache, "install").code == 0
    env = environment(cache)

    repo.git("rm", "-q", "web.yaml")
    done = repo.git("commit", "-m", "deleted", env=env, check=False)
    assert (done.code, "error M14" in done.said) == (1, True), done.said
    repo.git("reset", "-q", "--hard")

    assert repo.merge("side").code == 1
    repo.write("web.yaml", BOTH.replace("web:3", "web:1"))
    repo.git("add", "web.yaml")
    done = repo.git("commit", "-m", "decided", env=env, check=False)
    assert (done.code, "warning M28" in done.said) == (0, True), done.said
    repo.write("web.yaml", OURS)
    repo.git("commit", "-q", "-a", "--amend", "--no-verify", "-m", "dropped")
    done = repo.git("push", "origin", "main", env=env, check=False)
    assert (done.code, "error M11" in done.said) == (1, True), done.said
