"""The ordinary ways to finish a merge go through the hooks; damage done in them does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from test_check_staged import install_hook
from world import Done, Repo, World

BASE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app: web
spec:
  replicas: 1
  paused: false
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: web:1
        args:
        - serve
        env:
        - name: MODE
          value: plain
      tolerations:
      - key: spot
        operator: Exists
"""
ENV = "        - name: MODE\n"
ADDED = "        - name: {}\n          value: 'yes'\n" + ENV
OURS = BASE.replace("replicas: 1", "replicas: 2").replace("web:1", "web:2")
OURS = OURS.replace(ENV, ADDED.format("OURS"))
THEIRS = BASE.replace("    app: web\nspec", "    app: web\n    tier: front\nspec")
THEIRS = THEIRS.replace("web:1", "web:3").replace(ENV, ADDED.format("THEIRS"))
BOTH = OURS.replace("web:2", "web:3").replace(
    "    app: web\nspec", "    app: web\n    tier: front\nspec"
)
BOTH = BOTH.replace(ENV, ADDED.format("THEIRS"))
CLEAN = BASE.replace("    app: web\nspec", "    app: web\n    tier: front\nspec")

Way = Callable[[Repo], Done]


@pytest.fixture
def hooked(repo: Repo, world: World) -> Repo:
    """Two branches that clash in a manifest, and both hooks; their calls are written down."""
    repo.fork({"web.yaml": BASE}, {"web.yaml": OURS}, {"web.yaml": THEIRS})
    for name in ("pre-commit", "pre-merge-commit"):
        install_hook(repo, world, name)
    program = world.root / "bin" / "kmerge"
    lines = program.read_text().split("\n")
    lines.insert(1, f'echo "$@" >>"{calls(repo)}"')
    program.write_text("\n".join(lines))
    return repo


def calls(repo: Repo) -> Path:
    return repo.world.root / "calls"


def how_often(repo: Repo) -> int:
    """How often the hooks have checked something."""
    return calls(repo).read_text().count("check --staged") if calls(repo).exists() else 0


def by_hand(repo: Repo, text: str = BOTH) -> None:
    repo.write("web.yaml", text)
    repo.git("add", "web.yaml")


def commit(repo: Repo) -> Done:
    return repo.git("commit", "-m", "merged", check=False)


def a_side(repo: Repo, side: str) -> Done:
    repo.merge()
    repo.git("checkout", f"--{side}", "web.yaml")
    repo.git("add", "web.yaml")
    return commit(repo)


def edited(repo: Repo) -> Done:
    repo.merge()
    by_hand(repo)
    return commit(repo)


def edited_and_all(repo: Repo) -> Done:
    repo.merge()
    repo.write("web.yaml", BOTH)
    return repo.git("commit", "-a", "-m", "merged", check=False)


def continued(repo: Repo) -> Done:
    repo.merge()
    by_hand(repo)
    return repo.git("merge", "--continue", env={"GIT_EDITOR": "true"}, check=False)


def solved(repo: Repo, side: str) -> Done:
    repo.merge()
    repo.kmerge("solve", "--favor", side)
    return commit(repo)


def resolved(repo: Repo) -> Done:
    repo.merge()
    repo.kmerge("resolve", "--take", "ours", "web.yaml")
    return commit(repo)


def remembered(repo: Repo) -> Done:
    repo.git("config", "rerere.enabled", "true")
    repo.git("config", "rerere.autoUpdate", "true")
    repo.merge()
    by_hand(repo)
    repo.git("rerere")
    repo.git("merge", "--abort")
    assert "using previous resolution" in repo.merge().said
    return commit(repo)


def with_a_tool(repo: Repo) -> Done:
    repo.write("../hand", BOTH)
    repo.git("config", "mergetool.hand.cmd", f'cp "{repo.world.root / "hand"}" "$MERGED"')
    repo.git("config", "mergetool.hand.trustExitCode", "true")
    repo.git("config", "mergetool.keepBackup", "false")
    repo.merge()
    repo.git("mergetool", "--tool=hand", "--no-prompt")
    return commit(repo)


def favoured(repo: Repo, command: str) -> Done:
    run = repo.git if command == "git" else repo.kmerge
    return run("merge", "-X", "ours", "-m", "merged", "side", check=False)


def clean(repo: Repo) -> Done:
    repo.git("checkout", "-q", "-b", "clean", "main~1")
    repo.commit("clean", {"web.yaml": CLEAN})
    repo.switch("main")
    calls(repo).unlink()
    return repo.git("merge", "--no-edit", "clean", check=False)


def clean_by_kmerge(repo: Repo) -> Done:
    repo.git("checkout", "-q", "-b", "clean", "main~1")
    repo.commit("clean", {"web.yaml": CLEAN})
    repo.switch("main")
    calls(repo).unlink()
    return repo.kmerge("merge", "clean", check=False)


def squashed(repo: Repo) -> Done:
    repo.git("merge", "--squash", "side", check=False)
    by_hand(repo)
    return commit(repo)


def rebased(repo: Repo) -> Done:
    repo.git("rebase", "side", check=False)
    by_hand(repo)
    assert commit(repo).code == 0
    return repo.git("rebase", "--continue", check=False)


def picked(repo: Repo) -> Done:
    repo.git("cherry-pick", "side", check=False)
    by_hand(repo)
    return repo.git("cherry-pick", "--continue", check=False, env={"GIT_EDITOR": "true"})


def reverted(repo: Repo) -> Done:
    repo.commit("later", {"web.yaml": OURS.replace("web:2", "web:4")})
    calls(repo).unlink()
    repo.git("revert", "--no-edit", "HEAD~1", check=False)
    by_hand(repo, BASE.replace("web:1", "web:4"))
    return commit(repo)


WAYS: dict[str, tuple[Way, int]] = {
    "edited": (edited, 1),
    "edited, commit -a": (edited_and_all, 1),
    "edited, merge --continue": (continued, 1),
    "squashed": (squashed, 1),
    "rebased": (rebased, 1),
    "picked": (picked, 1),
    "reverted": (reverted, 1),
    "rerere": (remembered, 1),
    "a tool": (with_a_tool, 1),
    "clean": (clean, 1),
    "clean by kmerge": (clean_by_kmerge, 1),
    "kmerge -X ours": (lambda repo: favoured(repo, "kmerge"), 1),
    "solve --favor ours": (lambda repo: solved(repo, "ours"), 1),
    "solve --favor theirs": (lambda repo: solved(repo, "theirs"), 1),
    "resolve --take ours": (resolved, 1),
}


@pytest.mark.world
@pytest.mark.parametrize("name", WAYS)
def test_without_a_finding(hooked: Repo, name: str) -> None:
    way, times = WAYS[name]
    done = way(hooked)
    assert (done.code, how_often(hooked)) == (0, times), done.said
    for word in (": error ", ": warning ", "lists them"):
        assert word not in done.said
    assert hooked.git("status", "--porcelain", "-uno").out == ""


DROPPED: dict[str, Callable[[Repo], Done]] = {
    "M11 ours": lambda repo: a_side(repo, "ours"),
    "M11 theirs": lambda repo: a_side(repo, "theirs"),
    "M28 git -X ours": lambda repo: favoured(repo, "git"),
}


@pytest.mark.parametrize("way", DROPPED)
@pytest.mark.world
def test_what_merges_clean_is_not_dropped(hooked: Repo, way: str) -> None:
    """A way that takes one side for a whole conflict also drops what nobody disagreed about."""
    id = way.split(maxsplit=1)[0]
    done = DROPPED[way](hooked)
    assert (done.code, f": error {id} " in done.said) == (1, True), done.said
    meant = hooked.git("commit", "-m", "meant", env={"KMERGE_CHECK_IGNORE": id})
    assert meant.code == 0
    # a merge that is one of its sides is a warning: nobody can tell whether a strategy made it
    worst = "error" if id == "M28" else "warning"
    assert f": {worst} {id} " in hooked.kmerge("check", "--merge", "web.yaml", check=False).out


LOST = BOTH.replace("  paused: false\n", "")
LABELS = "      app: web\n"
DAMAGE = {
    "a marker": (BOTH.replace("        env:\n", "        env:\n=======\n"), "M01"),
    "a slip": (LOST.replace(LABELS, LABELS + "    paused: false\n", 1), "M20"),
    "a field is lost": (LOST, "M21"),
    "an element is lost": (BOTH.replace("        args:\n        - serve\n", ""), "M21"),
    "an element twice": (BOTH + "      - key: spot\n        operator: Exists\n", "M22"),
    "no YAML": (BOTH.replace("  selector:", "   selector:"), "M26"),
}


STOPS: dict[str, tuple[str, ...]] = {
    "merge": ("merge", "side"),
    "squash": ("merge", "--squash", "side"),
    "rebase": ("rebase", "side"),
    "cherry-pick": ("cherry-pick", "side"),
}


@pytest.mark.world
@pytest.mark.parametrize("operation", STOPS)
@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_by_hand_is_stopped(hooked: Repo, operation: str, kind: str) -> None:
    text, id = DAMAGE[kind]
    assert hooked.git(*STOPS[operation], check=False).code != 0
    by_hand(hooked, text)
    done = commit(hooked)
    assert (done.code, f": error {id} " in done.said) == (1, True), done.said
    by_hand(hooked)
    done = commit(hooked)
    assert done.code == 0, done.said
