"""What people do between an update with conflicts and its end."""

from __future__ import annotations

import pytest
from git.world import Repo
from vendored.conftest import Vendoring, release
from vendored.texts import config, deployment

DIR = "shop"


@pytest.fixture
def open_update(up: Repo, mine: Vendoring) -> Vendoring:
    """An update of which a conflict in web.yaml is left; README.md came from upstream."""
    release(up, "v1", {"web.yaml": deployment(), "README.md": "one\n"})
    release(up, "v2", {"web.yaml": deployment(image="shop:2"), "README.md": "two\n"})
    mine.vendor("add", str(up.path), DIR, "--ref", "v1")
    mine.commit("v1", {"shop/web.yaml": deployment(image="shop:mine")})
    mine.vendor("update", DIR, "--ref", "v2", code=1)
    return mine


def recorded(mine: Vendoring) -> str:
    """The version on record."""
    lines = mine.text(f"{DIR}/.kmerge-vendor").splitlines()
    return next(line.partition(": ")[2] for line in lines if line.startswith("ref: "))


def test_a_file_with_markers_was_renamed(open_update):
    mine = open_update
    (mine.path / DIR / "web.yaml").rename(mine.path / DIR / "app.yaml")
    done = mine.vendor("update", DIR, "--continue", code=1)
    assert "shop/app.yaml:" in done.err and "unresolved conflict" in done.err
    assert recorded(mine) == "v1"
    mine.write("shop/app.yaml", deployment(image="shop:2"))
    mine.vendor("update", DIR, "--continue")
    assert recorded(mine) == "v2"


def test_markers_of_others_are_texts(open_update):
    mine = open_update
    mine.write("shop/web.yaml", deployment(image="shop:2"))
    mine.write("shop/notes.md", "<<<<<<< local\none\n=======\ntwo\n>>>>>>> other\n")
    mine.vendor("update", DIR, "--continue")
    assert recorded(mine) == "v2"


def test_what_the_update_wrote_was_stashed(open_update):
    mine = open_update
    assert "needs merge" in mine.git("stash", check=False).said
    mine.git("add", DIR)
    mine.git("stash", "-q")
    assert "restore the update" in mine.vendor_fails("update", DIR, "--continue").err
    assert recorded(mine) == "v1"
    mine.git("stash", "pop", "-q")
    mine.write("shop/web.yaml", deployment(image="shop:2"))
    mine.vendor("update", DIR, "--continue")
    assert recorded(mine) == "v2"
    assert mine.text("shop/README.md") == "two\n"


def test_a_conflict_may_be_solved_by_the_old_version(open_update):
    mine = open_update
    mine.git("checkout", "-q", "--ours", "shop/web.yaml")
    mine.vendor("update", DIR, "--continue")
    assert recorded(mine) == "v2"
    assert "shop:mine" in mine.text("shop/web.yaml")


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_the_record_keeps_its_mode(open_update, mode):
    mine = open_update
    record = mine.path / DIR / ".kmerge-vendor"
    record.chmod(mode)
    mine.write("shop/web.yaml", deployment(image="shop:2"))
    mine.vendor("update", DIR, "--continue")
    assert recorded(mine) == "v2"
    assert record.stat().st_mode & 0o777 == mode


def test_another_branch_has_another_version(up, open_update):
    mine = open_update
    mine.git("add", DIR)
    mine.git("stash", "-q")
    mine.git("checkout", "-q", "-b", "other")
    text = mine.text(f"{DIR}/.kmerge-vendor")
    other = release(up, "v0", {"web.yaml": config(a="one"), "README.md": "zero\n"})
    lines = text.splitlines(keepends=True)
    mine.write(f"{DIR}/.kmerge-vendor", "".join([*lines[:3], f"commit: {other}\n", *lines[4:]]))
    mine.write("shop/README.md", "zero\n")
    assert "but the record has another commit" in mine.vendor_fails("update", DIR, "--continue").err
    assert other in mine.text(f"{DIR}/.kmerge-vendor")
