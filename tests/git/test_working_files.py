"""Line ends and `ident` are converted as git does, and attributes are read as git reads them."""

from __future__ import annotations

from itertools import product

import pytest
from world import Repo

from kmerge_git.git.repository import Repository

ATTRIBUTES = ["", "text", "text=auto", "-text", "eol=crlf", "text eol=lf", "crlf=input", "ident"]
TEXTS = [b"a\nb\n", b"a\r\nb\r\n", b"a\r\nb\n", b"id: $Id$\n", b"a\n\0\r\n"]
SETTINGS = [(), ("core.autocrlf", "true"), ("core.autocrlf", "input"), ("core.eol", "crlf")]


@pytest.mark.costly
@pytest.mark.parametrize("setting", SETTINGS, ids=" ".join)
def test_bytes_are_converted_as_by_git(repo: Repo, setting: tuple[str, ...]) -> None:
    if setting:
        repo.git("config", *setting)
    cases = {f"{a} {t}.txt": (ATTRIBUTES[a], TEXTS[t]) for a, t in product(range(8), range(5))}
    lines = (f'"{name}" {attribute}\n' for name, (attribute, _) in cases.items() if attribute)
    repo.write(".gitattributes", "".join(lines))
    for name, (_, text) in cases.items():
        (repo.path / name).write_bytes(text)
    repo.git("-c", "core.safecrlf=false", "add", "-A")
    inside = Repository.open(str(repo.path))
    stored = {name: inside.text(inside.staged(name)) for name in cases}
    assert {n: inside.from_worktree(n, text) for n, (_, text) in cases.items()} == stored
    for name in cases:
        (repo.path / name).unlink()
    repo.git("checkout", "-q", "--", ".")
    written = {name: (repo.path / name).read_bytes() for name in cases}
    assert {n: inside.to_worktree(n, data or b"") for n, data in stored.items()} == written
    assert len({*written.values()}) > 5


def test_attributes_are_those_of_git(repo: Repo) -> None:
    lines = '"a b.yaml" merge=x text\n*.yaml kmerge-policy= -filter\ndir**/c.yaml merge=y\n'
    repo.write(".gitattributes", lines)
    inside = Repository.open(str(repo.path))
    for path, name in product(("a b.yaml", "dir/c.yaml", "d\n.yaml"), ("merge", "text", "filter")):
        said = repo.git("check-attr", "-z", name, "--", path).out.split("\0")[2]
        assert inside.attribute(path, name) == (None if said == "unspecified" else said)
    assert inside.attribute("a b.yaml", "kmerge-policy") == ""
