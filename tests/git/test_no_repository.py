"""Where a command needs a repository or a working tree and there is none, all say the same."""

from __future__ import annotations

import pytest
from world import World

INSIDE = "run kmerge inside a git repository"
FILES = f"{INSIDE}, or give two files or two folders"
GLOBAL = f"{INSIDE}, or use --global"
DRIVER = f"{INSIDE}, or omit FILE to check whether the driver works"
# command -> what to do outside of a repository
NEEDS_REPOSITORY = {
    "preview side": INSIDE,
    "refresh --with side main": INSIDE,
    "explain": INSIDE,
    "explain x.yaml": INSIDE,
    "replay": INSIDE,
    "policy try * spec ours": INSIDE,
    "install": GLOBAL,
    "install --hooks": GLOBAL,
    "uninstall": GLOBAL,
    "diff --staged": FILES,
    "diff HEAD~1 HEAD": FILES,
    "diff HEAD -- x.yaml": FILES,
}
NEEDS_TREE = {
    "merge side": INSIDE,
    "merge --continue": INSIDE,
    "merge --abort": INSIDE,
    "merge --json side": INSIDE,
    "solve": INSIDE,
    "resolve --list": INSIDE,
    "check --installed": INSIDE,
    "check --staged": f"{INSIDE}, or omit --staged",
    "check --merge": f"{INSIDE}, or omit --merge",
    "check --merge-of HEAD": f"{INSIDE}, or omit --merge-of",
    "status x.yaml": DRIVER,
}
OUTSIDE = NEEDS_REPOSITORY | NEEDS_TREE | {"diff": FILES, "install --shared": GLOBAL}
BARE = NEEDS_TREE | {
    "diff": f"{INSIDE}, or give two commits",
    "install --shared": f"{INSIDE}, or omit --shared",
    "uninstall --shared": f"{INSIDE}, or omit --shared",
}


@pytest.mark.parametrize("words", OUTSIDE)
def test_outside_of_a_repository(world: World, words: str) -> None:
    done = world.kmerge(*words.split(), cwd=world.home, check=False)
    said = f"kmerge: this is not a git repository; {OUTSIDE[words]}\n"
    assert (done.code, done.out, done.err) == (2, "", said)


@pytest.mark.parametrize("words", BARE)
def test_in_a_bare_repository(world: World, words: str) -> None:
    bare = world.init("bare", bare=True)
    done = bare.kmerge(*words.split(), check=False)
    said = f"kmerge: this is not a working tree; {BARE[words]}\n"
    assert (done.code, done.out, done.err) == (2, "", said)


def test_another_refusal_of_git_is_not_taken_for_it(world: World) -> None:
    """Such as a repository of another user; git's own reason is shown."""
    repo = world.init("repo")
    repo.git("config", "core.repositoryFormatVersion", "99")
    done = repo.kmerge("install", check=False)
    assert done.code == 2
    assert "found 99" in done.err
