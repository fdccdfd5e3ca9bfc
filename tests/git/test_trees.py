"""Trees with replaced files, held against the trees that git itself writes."""

from __future__ import annotations

import random

import pytest
from world import Repo

from kmerge_git.git.merge_sides import TreeEntry
from kmerge_git.git.repository import Repository

# names that git sorts in its own way: a folder as if it ended with a slash
NAMES = ("a", "a.b", "a0", "a-b", "b", "B", "\u00fc", "\udcff")
DEPTHS = (1, 1, 2, 3)


def paths(rng: random.Random, count: int) -> list[str]:
    return ["/".join(rng.choices(NAMES, k=rng.choice(DEPTHS))) for _ in range(count)]


def without_clashes(files: dict[str, TreeEntry]) -> dict[str, TreeEntry]:
    """The files of which none stands where another one has a folder."""
    folders = {path[:at] for path in files for at, char in enumerate(path) if char == "/"}
    return {path: entry for path, entry in files.items() if path not in folders}


def written_by_git(repo: Repo, files: dict[str, TreeEntry]) -> str:
    repo.git("read-tree", "--empty")
    lines = "".join(f"{entry.mode:o} {entry.oid}\t{path}\0" for path, entry in files.items())
    listing = lines.encode("utf-8", "surrogateescape")
    (repo.path / "listing").write_bytes(listing)
    repo.world.run("sh", "-c", "git update-index -z --index-info <listing", cwd=repo.path)
    return repo.git("write-tree").out.strip()


@pytest.mark.costly
def test_every_tree_is_the_one_that_git_writes(repo: Repo) -> None:
    inside = Repository.open(str(repo.path))
    rng = random.Random(14)
    entries = [
        TreeEntry(inside.store(str(number).encode()), mode)
        for number, mode in enumerate((0o100644, 0o100755, 0o120000))
    ]
    for _ in range(40):
        old = without_clashes({path: rng.choice(entries) for path in paths(rng, 12)})
        new = without_clashes(
            {path: entry for path, entry in old.items() if rng.random() < 0.6}
            | {path: rng.choice(entries) for path in paths(rng, 4)}
        )
        changes = {path: new.get(path) for path in old.keys() | new.keys()}
        changes = {path: entry for path, entry in changes.items() if entry != old.get(path)}
        before = written_by_git(repo, old)
        assert inside.with_files(before, changes) == written_by_git(repo, new)
