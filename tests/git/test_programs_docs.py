"""The scripts of docs/programs.md do what the page says."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys

import pytest
from manifests import deployment
from test_check_staged import put_on_path
from world import ROOT, Done, Failed, Repo, World, refuse_other_form

PAGE = (ROOT / "docs" / "programs.md").read_text()
(PUSH,) = re.findall(r"^```sh\n(#!.*?)^```", PAGE, re.M | re.S)
(PYTHON,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
(PRINTING,) = re.findall(r"^python3 (-c '.*')$", PAGE, re.M)


def merge(repo: Repo, rev: str = "side") -> Done:
    """Let the program of the page make a merge."""
    if not (repo.world.root / "bin").exists():
        put_on_path(repo.world)
    return repo.world.run(sys.executable, "-c", PYTHON, rev, cwd=repo.path, check=False)


def test_what_it_may_decide(repo: Repo) -> None:
    texts = [deployment(replicas, image=f"app:{tag}") for replicas, tag in ((1, 1), (2, 2), (1, 3))]
    repo.fork(*({"app.yaml": text} for text in texts))
    done = merge(repo)
    assert done.code == 0, done.said
    assert repo.text("app.yaml") == deployment(2, image="app:3")
    assert repo.git("status", "--porcelain").out == ""
    assert json.loads(done.out)["certificate"]["result"] == repo.head()
    assert repo.head("HEAD^2") == repo.head("side")


def test_what_it_may_not_decide(repo: Repo) -> None:
    texts = [deployment(number, image=f"app:{number}") for number in (1, 2, 3)]
    repo.fork(*({"app.yaml": text} for text in texts))
    before = repo.head()
    assert merge(repo).code == 1
    assert (repo.head(), repo.text("app.yaml")) == (before, texts[1])
    assert repo.git("status", "--porcelain").out == ""


def test_what_the_check_finds(repo: Repo) -> None:
    repo.fork({"x": "1"}, {"y": "1"}, {"z": "1"})
    before = repo.head()
    fake = repo.world.root / "bin" / "kmerge"
    repo.world.env["PATH"] = f"{fake.parent}:{repo.world.env['PATH']}"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\n[ "$1" != check ] || exit 1\ngit merge -q --no-edit "$3"\n')
    fake.chmod(0o755)
    assert merge(repo).code == 1
    assert repo.head() == before


def test_what_git_refuses(repo: Repo) -> None:
    repo.commit("base", {"app.yaml": deployment()})
    assert merge(repo, "none").code == 2


def test_the_schemas_are_where_the_page_says(world: World) -> None:
    for command, title in (("merge", "merge"), ("resolve", "resolve"), ("check", "check")):
        code = PRINTING.replace("merge.schema", f"{command}.schema")
        schema = json.loads(world.run("sh", "-c", f'"{sys.executable}" {code}').out)
        assert schema["title"] == f"kmerge {title} --json"


@pytest.mark.parametrize("printed", ['{"schema": 2}', '{"schema": 1', "{}", "words"])
def test_every_output_is_held_against_its_schema(printed: str) -> None:
    with pytest.raises(Failed):
        refuse_other_form(Done(("python", "-m", "kmerge_git", "merge", "--json"), 0, printed, ""))


class Bots:
    """Clones of one bare repository, in which the driver is registered."""

    def __init__(self, world: World, names: str) -> None:
        put_on_path(world)
        self.world = world
        self.server = world.init("server.git", bare=True)
        self.asks("config", "core.logAllRefUpdates", "always")
        self.asks("config", "gc.auto", "0")
        tags = "".join(f"  - name: {name}\n    newTag: v0\n" for name in names)
        first = world.init("first")
        first.commit("base", {"kustomization.yaml": f"images:\n{tags}"})
        first.git("push", "-q", str(self.server.path), "main")
        self.clones = {name: Repo(world, world.root / f"bot-{name}") for name in names}
        for clone in self.clones.values():
            world.git("clone", "-q", self.server.path, clone.path)
            clone.kmerge("install")

    def asks(self, *words: str) -> Done:
        """Ask git about the server; `--git-dir`, because git 3.0 wants a bare repository named."""
        return self.world.git("--git-dir", self.server.path, *words)

    def promotes(self, name: str, tags: range) -> subprocess.Popen[bytes]:
        """Let a bot commit and push one tag after the other."""
        script = (
            f"for tag in {' '.join(map(str, tags))}; do\n"
            f"sed -i '/name: {name}$/{{n;s/v.*/v'$tag'/;}}' kustomization.yaml\n"
            f'git commit --quiet --all --message "{name} $tag"\n'
            'sh -c "$PUSH" || exit 1\ndone'
        )
        return subprocess.Popen(
            ["sh", "-c", script], cwd=self.clones[name].path, env=self.world.env | {"PUSH": PUSH}
        )

    def refuse_loss(self, last: int) -> None:
        """Every promotion is in the branch, which only ever went forward."""
        told = self.asks("log", "--no-merges", "--format=%s", "main").lines
        wanted = [f"{name} {tag}" for name in self.clones for tag in range(1, last + 1)]
        assert sorted(told) == sorted([*wanted, "base"])
        text = self.asks("show", "main:kustomization.yaml").out
        assert text.count(f"newTag: v{last}\n") == 2
        heads = self.asks("log", "--walk-reflogs", "--format=%H", "main").lines
        assert len(heads) > 2 * last
        for new, old in itertools.pairwise(heads):
            self.asks("merge-base", "--is-ancestor", old, new)
        assert self.asks("fsck", "--full", "--strict").said == ""


def test_promotions_of_two_bots_at_once(world: World) -> None:
    bots = Bots(world, "ab")
    assert bots.promotes("a", range(1, 2)).wait(600) == 0  # of which the other one does not know
    running = [bots.promotes("a", range(2, 4)), bots.promotes("b", range(1, 4))]
    assert [bot.wait(600) for bot in running] == [0, 0]
    bots.refuse_loss(3)


def test_promotions_of_one_image_are_left_to_a_person(world: World) -> None:
    bots = Bots(world, "ab")
    one, other = bots.clones["a"], bots.clones["b"]
    assert bots.promotes("a", range(1, 2)).wait(600) == 0
    other.commit(
        "a 9", {"kustomization.yaml": other.text("kustomization.yaml").replace("v0", "v9")}
    )
    done = world.run("sh", "-c", PUSH, cwd=other.path, check=False)
    assert (done.code, other.unmerged()) == (1, [])
    assert other.git("log", "-1", "--format=%s").out == "a 9\n"
    assert bots.asks("rev-parse", "main").out.strip() == one.head()
