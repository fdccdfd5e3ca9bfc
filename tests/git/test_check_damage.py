"""Damage of every kind in one real merge, through every command and hook that looks at merges."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import pytest
from random_damage import KINDS, Damage, Merge, damage
from test_check_staged import install_hook
from world import Done, Repo, World

CASES = Path(__file__).parents[1] / "cases"
TEXTS = (
    "anchors/services-of-one-kind", "anchors/environments-of-a-release",
    "documents/rules-of-two-teams", "documents/what-a-team-may-do",
    "texts/scripts-of-a-namespace", "texts/dashboards-and-values",
)  # fmt: skip


def sides(name: str) -> list[str]:
    folder = CASES / name
    return [(folder / f"{s}.yaml").read_text() for s in ("base", "ours", "theirs", "expected")]


@cache
def damaged() -> dict[str, tuple[list[str], str]]:
    """A file for each form of damage: its sides and its result, and the result as it was damaged."""
    files: dict[str, tuple[list[str], str]] = {}
    for name in TEXTS:
        texts = sides(name)
        merge = Merge(*texts)
        for kind, seed in product(KINDS, range(12)):
            made = damage(kind, merge, Random(f"{kind} {name} {seed}"))
            if isinstance(made, Damage):
                files.setdefault(f"{kind}/{made.form}.yaml", (texts, made.text))
    return files


@pytest.fixture
def merging(repo: Repo, world: World) -> dict[str, str]:
    """A merge in progress, every file of it finished well; without the driver. What damages it."""
    files = damaged()
    assert {name.partition("/")[0] for name in files} == set(KINDS)
    assert len(files) >= 30
    repo.fork(*({name: texts[n] for name, (texts, _) in files.items()} for n in range(3)))
    repo.merge("--no-commit")
    for name, (texts, _) in files.items():
        repo.write(name, texts[3])
    repo.git("add", "-A")
    return {name: text for name, (_, text) in files.items()}


def spoil(repo: Repo, files: dict[str, str]) -> None:
    for name, text in files.items():
        repo.write(name, text)
    repo.git("add", "-A")


def found(done: Done) -> set[str]:
    """The files in which errors were found."""
    return {f["file"] for f in json.loads(done.out)["findings"] if f["severity"] == "error"}


@pytest.mark.costly
def test_every_command_finds_it(repo: Repo, merging: dict[str, str]) -> None:
    def check(*args: str) -> Done:
        return repo.kmerge("check", "--format", "json", *args, check=False)

    for args in (["--merge"], ["--merge", "--staged"], ["--staged"], []):
        done = check(*args)
        assert (done.code, found(done), done.err) == (0, set(), "")
    spoil(repo, merging)
    for args in (["--merge"], ["--merge", "--staged"], ["--staged"], []):
        done = check(*args)
        assert set(merging) - found(done) == set()
        assert (done.code, found(done)) == (1, set(merging))
    some = sorted(merging)[:3]
    assert found(check("--merge", *some)) == set(some)
    repo.git("commit", "-q", "--no-verify", "-m", "merged")
    for args in (["--merge"], ["--merge-of", "HEAD"], ["--merge-of", repo.head()]):
        done = check(*args)
        assert (done.code, found(done)) == (1, set(merging))
    repo.commit("more", {"other.yaml": "a: 1\n"})
    assert found(check("--merge-of", "HEAD~1")) == set(merging)
    assert check("--merge").code == 0  # HEAD is no merge any more


@pytest.mark.costly
def test_the_hook_stops_it(repo: Repo, world: World, merging: dict[str, str]) -> None:
    install_hook(repo, world, "pre-commit")
    spoil(repo, merging)
    done = repo.git("commit", "-m", "merged", check=False)
    assert done.code == 1
    assert [name for name in merging if f"{name}:" not in done.said] == []
    first, *rest = sorted(merging)
    good = {name: texts[3] for name, (texts, _) in damaged().items()}
    spoil(repo, {name: good[name] for name in rest})
    done = repo.git("commit", "-m", "merged", check=False)
    assert done.code == 1
    assert {name for name in merging if f"{name}:" in done.said} == {first}
    spoil(repo, good)
    assert repo.git("commit", "-m", "merged").code == 0


def test_before_a_merge_that_was_clean(repo: Repo, world: World) -> None:
    """Each side adds the same element in another place: the merge by lines keeps both."""
    base = "args:\n- --a\n- --b\n- --c\n- --d\n- --e\n- --f\n- --g\n- --h\n"
    ours = base.replace("- --a\n", "- --a\n- --new\n")
    repo.fork({"a.yaml": base}, {"a.yaml": ours}, {"a.yaml": base + "- --new\n"})
    install_hook(repo, world, "pre-merge-commit")
    done = repo.merge()
    assert done.code != 0
    assert "a.yaml:11:3: error M22 args" in done.said
    assert repo.git("rev-list", "--merges", "HEAD").out == ""
