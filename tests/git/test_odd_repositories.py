"""Every command over a repository whose files are valid and odd: an answer, never a traceback.

`KMERGE_ODD=5000 tests/run tests/git/test_odd_repositories.py` puts more files into it, and
`KMERGE_ODD=5000-5400` those of these seeds.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from odd_documents import odd_trio
from world import Driven, Repo, World, live_in, living, sealed_environment

from kmerge_git.cli.main import COMMANDS, main

NAMES = ["x{}.yaml", "x{}.yml", "x{}.json", "{}/kustomization.yaml", "{}/values.yaml"]
NAMES += ["{}/Chart.yaml", "{}/templates/x.yaml", "{}/Kptfile", "crds/x{}.yaml"]

# state of the repository, and what is run there; these of files alone: tests/cli/test_odd_shapes.py
ROWS = {
    "install": [("", ["--dry-run"])],
    "uninstall": [("", ["--dry-run"])],
    "status": [("", []), ("", ["{}", "--json"])],
    "merge": [("", ["side"]), ("", ["side", "--json", "-X", "theirs"])],
    "preview": [("", ["side", "--json"]), ("", ["side", "--rebase"]), ("", ["side", "--write-tree"])],
    "solve": [("torn", []), ("torn", ["--json", "--with-json", "--favor", "theirs"])],
    "resolve": [("torn", ["--list", "--json", "--blame"]), ("torn", ["--list", "--with-json"]),
                ("torn", ["--take", "both"]), ("torn", ["--take", "higher", "--json"])],
    "explain": [("torn", ["--all"]), ("torn", ["--json"]), ("", ["past", "--all"])],
    "refresh": [("", ["--with", "side", "main", "--dry-run", "--json"]),
                ("", ["--with", "main", "side"])],
    "replay": [("", ["--jobs", "1", "--json"]), ("", ["--jobs", "1", "--html", "r.html"]),
               ("", ["--policy", "* ** union", "--jobs", "1", "--json"])],
    "diff": [("", ["side", "HEAD"]), ("", ["side", "HEAD", "--json"]), ("torn", [])],
    "check": [("", ["--select", "all"]), ("torn", ["--merge", "--format", "json"]),
              ("", ["--merge-of", "past", "--select", "all"]), ("", ["--fix"])],
    "vendor": [("", ["status", "--json"]), ("", ["diff", "vendor"]),
               ("", ["update", "vendor", "--ref", "side", "--json"]), ("", ["list"])],
}  # fmt: skip
WRITING = {"merge", "solve", "resolve", "refresh", "check", "vendor"}
OTHERS = {
    *("merge-file", "merge2", "merge3", "mergetool", "patch", "make-patch", "apply"),
    *("last-applied", "completion", "generate"),
}


def test_every_command_is_here() -> None:
    assert {*ROWS, *OTHERS} == {*COMMANDS, "solve"}


def trios() -> Iterator[tuple[str, tuple[bytes, bytes, bytes]]]:
    first, _, last = (os.environ.get("KMERGE_ODD") or "16").rpartition("-")
    for seed in range(int(first or 0), int(last)):
        yield NAMES[seed % len(NAMES)].format(seed), odd_trio(Random(seed))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository, its upstream, and the same in the middle of a merge."""
    root = tmp_path_factory.mktemp("odd")
    with living(root) as world:
        _make(world)
    return root


def _make(world: World) -> None:
    found = list(trios())
    versions: list[dict[str, str | bytes]] = [{name: t[n] for name, t in found} for n in range(3)]
    up = world.init("up")
    up.fork(*versions)
    repo = Driven(world, world.init().path)
    repo.commit("vendored")
    assert repo.kmerge("vendor", "add", "../up", "vendor", "--ref", up.head("side~1")).code == 0
    for name, text in versions[1].items():
        repo.write(f"vendor/{name}", text)
    repo.commit("mine")
    _fork(repo, "past-side", versions, rotated=1)
    repo.git("merge", "--no-commit", "past-side", check=False)
    repo.commit("decided", versions[2])
    repo.git("tag", "past")
    _fork(repo, "side", versions, rotated=0)
    shutil.copytree(repo.path, world.root / "torn", symlinks=True)
    Repo(world, world.root / "torn").git("merge", "side", check=False)


def _fork(repo: Repo, branch: str, versions: list[dict[str, str | bytes]], rotated: int) -> None:
    base, ours, theirs = versions[rotated:] + versions[:rotated]
    repo.commit("base", base)
    repo.branch(branch)
    repo.commit("theirs", theirs)
    repo.switch("main")
    repo.commit("ours", ours)


@pytest.mark.world
@pytest.mark.parametrize("command", ROWS)
def test_odd_repositories(
    made: Path,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    env = sealed_environment(made)
    live_in(env, monkeypatch)
    for number, (state, words) in enumerate(ROWS[command]):
        root = tmp_path / (str(number) if command in WRITING else state or "once")
        if not root.exists():
            shutil.copytree(made / (state or "repo"), root / "repo", symlinks=True)
            shutil.copytree(made / "up", root / "up", symlinks=True)
        monkeypatch.chdir(root / "repo")
        argv = [command, *(word.format(next(trios())[0]) for word in words)]
        code = main(argv)
        out, err = capfd.readouterr()
        assert code in (0, 1, 2), argv
        assert "internal error" not in out + err, f"{argv}: {err}"
        assert "Traceback" not in out + err
        if "--json" in words or "json" in words:
            json.loads(out, parse_constant=_no_number)
        if code == 2:
            last = [line for line in err.split("\n") if line.startswith("kmerge: ")]
            assert last, f"{argv}: {err}"


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no JSON")
