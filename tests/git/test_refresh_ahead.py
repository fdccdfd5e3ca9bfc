"""`kmerge refresh`: one process of git merges many branches, and nothing shows it but the time."""

from __future__ import annotations

import shlex
import sys

import pytest
from test_refresh import BASE, OURS, THEIRS, history, refresh, refs, results
from world import Repo, World

KINDS = ["resolved", "clean", "conflict"] * 3
WORDS = ("refresh", "--with", "main", "--branches", "*", "--json")
DATES = {f"GIT_{who}_DATE": "1700000000 +0100" for who in ("AUTHOR", "COMMITTER")}


def calls(said: str, word: str) -> int:
    return sum(f" {word} " in line for line in said.splitlines() if line.startswith("kmerge: git"))


def test_many_branches_take_few_processes(world: World) -> None:
    repo = world.init("bare.git", bare=True)
    history(repo, KINDS)
    done = repo.kmerge("--verbose", *WORDS, check=False)
    words = ("merge-tree", "check-attr", "commit-tree")
    assert [calls(done.err, word) for word in words] == [2, 1, 0]
    repo.git("fsck", "--strict")


def as_one_by_one(repo: Repo, env: dict[str, str], lines: str = "") -> None:
    """Refresh, and again where git merges one pair of commits only; the results are the same."""
    before, git = refs(repo), repo.world.root / "bin" / "git"
    many = repo.kmerge(*WORDS, check=False, env=env)
    moved = refs(repo)
    assert moved != before
    repo.git("update-ref", "--stdin", stdin="".join(f"update {n} {o}\n" for n, o in before.items()))
    path = repo.world.env["PATH"]
    git.parent.mkdir()
    git.write_text(
        f"#!/bin/sh\nPATH='{path}'\ncase \"$*\" in *merge-tree*--stdin*)"
        f' {lines or "exit 129"};; esac\nexec git "$@"\n'
    )
    git.chmod(0o755)
    one = repo.kmerge(*WORDS, check=False, env=env | {"PATH": f"{git.parent}:{path}"})
    assert (one.code, one.out, one.err) == (many.code, many.out, many.err)
    assert refs(repo) == moved
    repo.git("fsck", "--strict")


@pytest.mark.parametrize("lines", ["", "git $@ | head -c 300; exit 1"])
def test_a_git_that_does_not_merge_many(world: World, lines: str) -> None:
    repo = world.init("bare.git", bare=True)
    history(repo, KINDS)
    as_one_by_one(repo, DATES, lines)


SLOW = """
import shlex
import sys
from kmerge_git.cli.main import main
from kmerge_git.git import scratch_merges
scratch_merges.AHEAD_SECONDS = 0.0
raise SystemExit(main(sys.argv[1:]))
"""


def test_merges_that_take_long_are_made_one_by_one(world: World) -> None:
    repo = world.init("bare.git", bare=True)
    history(repo, KINDS)
    words = ("--verbose", *WORDS, "--dry-run")
    quick = repo.kmerge(*words, check=False)
    slow = world.run(sys.executable, "-c", SLOW, *words, cwd=repo.path, check=False)
    assert (slow.code, slow.out) == (quick.code, quick.out)
    assert calls(slow.err, "merge-tree") > len(KINDS)


@pytest.mark.parametrize(
    "settings, env",
    [
        ({"i18n.commitEncoding": "latin1"}, {}),
        ({}, {"GIT_AUTHOR_NAME": "L\udcf6we"}),
        ({}, {"GIT_COMMITTER_NAME": "L\xf6we \ufdd0"}),
        ({"user.name": "x"}, {"GIT_AUTHOR_DATE": "1600000000 -0230"}),
    ],
)
def test_a_commit_is_as_git_writes_it(
    world: World, settings: dict[str, str], env: dict[str, str]
) -> None:
    repo = world.init("bare.git", bare=True)
    history(repo, ["resolved"])
    for name, value in settings.items():
        repo.git("config", name, value)
    old = repo.head("resolved/0")
    refresh(repo, "resolved/0", code=0, env=DATES | env)
    text = repo.git("log", "-1", "--format=%B", "--encoding=", "resolved/0").out[:-1]
    words = ("commit-tree", "resolved/0^{tree}", "-p", old, "-p", "main", "-F", "-")
    dated = Repo(World(world.root, world.env | DATES | env), repo.path)
    assert repo.head("resolved/0") == dated.git(*words, stdin=text).out.strip()


def test_a_commit_has_the_time_of_its_moment(world: World) -> None:
    repo = world.init("bare.git", bare=True)
    history(repo, ["resolved"])
    env = {**dict.fromkeys(DATES, ""), "TZ": "Asia/Tokyo"}
    now = int(world.run("date", "+%s").out)
    refresh(repo, "resolved/0", code=0, env=env)
    for form in ("%at %ai", "%ct %ci"):
        time, *_, zone = repo.git("log", "-1", f"--format={form}", "resolved/0").out.split()
        assert now <= int(time) <= now + 600
        assert zone == "+0900"


def test_what_git_merged_is_copied(repo: Repo) -> None:
    """A tree that is there already may lack a file: objects are removed one by one."""
    first, *lines, last = [f"{n}\n" for n in range(20)]
    repo.fork(
        {"web.yaml": BASE, "a/b/notes.txt": "".join((first, *lines, last))},
        {"web.yaml": OURS, "a/b/notes.txt": "".join((first, *lines, "last\n"))},
        {"web.yaml": THEIRS, "a/b/notes.txt": "".join(("first\n", *lines, last))},
    )
    before = repo.head("side")
    assert results(refresh(repo, "side", code=0)) == {"side": "resolved"}
    assert repo.show("side:a/b/notes.txt") == "".join(("first\n", *lines, "last\n"))
    blob = repo.git("rev-parse", "side:a/b/notes.txt").out.strip()
    repo.git("update-ref", "refs/heads/side", before)
    (repo.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert results(refresh(repo, "side", code=0)) == {"side": "resolved"}
    repo.git("fsck", "--strict")
    repo.git("cat-file", "-e", blob)


@pytest.mark.usefixtures("by_libgit2")
def test_advice_and_programs_in_between(world: World) -> None:
    """Git gives advice about a submodule, and a merge driver prints something."""
    repo = world.init("bare.git", bare=True)
    attributes = {".gitattributes": "*.txt merge=loud\n", "notes.txt": "main\n"}
    history(repo, ["resolved", "resolved"], attributes)
    lines = []
    for name, number in (("main", 1), ("resolved/0", 2)):
        lines += [f"commit refs/heads/{name}", "committer A <a@b> 1700000099 +0000", "data 0"]
        lines += [f"from refs/heads/{name}^0", f"M 160000 {number:040} sub", ""]
    repo.git("fast-import", "--quiet", stdin="\n".join(lines) + "done\n")
    as_one_by_one(repo, DATES)
    repo.git("config", "merge.loud.driver", "echo 1; echo loud; false")
    done = repo.kmerge("--verbose", *WORDS, "--dry-run", check=False)
    assert "--stdin" not in "".join(line for line in done.err.split("\n") if "merge-tree" in line)


def test_a_driver_of_the_name_that_kmerge_uses(world: World) -> None:
    """Manifests are left to kmerge as binary files, but never to a driver of that name."""
    repo = world.init("bare.git", bare=True)
    history(repo, KINDS)
    before = repo.kmerge(*WORDS, "--dry-run", check=False)
    repo.git("config", "merge.binary.driver", "true")
    assert repo.kmerge(*WORDS, "--dry-run", check=False).out == before.out


def test_a_file_in_a_thousand_folders(world: World) -> None:
    repo = world.init("bare.git", bare=True)
    history(repo, ["resolved", "clean"])
    lines = []
    for name, number in (("main", 1), ("resolved/0", 2)):
        lines += [f"commit refs/heads/{name}", "committer A <a@b> 1700000099 +0000", "data 0"]
        lines += [f"from refs/heads/{name}^0", f"M 100644 inline {'a/' * 1100}{number}.txt"]
        lines += ["data 2", f"{number}\n"]
    repo.git("fast-import", "--quiet", stdin="\n".join(lines) + "done\n")
    assert results(refresh(repo, "resolved/0", code=0)) == {"resolved/0": "resolved"}
    repo.git("fsck", "--strict")


def test_a_branch_whose_commit_cannot_be_written(world: World) -> None:
    """The others are still reported."""
    repo = world.init("bare.git", bare=True)
    history(repo, ["resolved", "clean"])
    repo.git("gc", "-q", "--prune=now")
    for number in range(256):
        (repo.path / "objects" / f"{number:02x}").touch()
    found = refresh(repo, "resolved/0", "clean/1", code=2)
    assert results(found) == {"resolved/0": "error", "clean/1": "clean"}


def test_what_is_written_is_for_the_group(world: World) -> None:
    repo = world.init("bare.git", bare=True)
    history(repo, ["resolved"])
    repo.git("config", "core.sharedRepository", "group")
    there = {*repo.path.glob("objects/??/*")}
    words = ("refresh", "--with", "main", "resolved/0")
    kmerge = f"umask 077; exec {shlex.quote(sys.executable)} -m kmerge_git {shlex.join(words)}"
    world.run("sh", "-c", kmerge, cwd=repo.path)
    new = {*repo.path.glob("objects/??/*")} - there
    assert new
    assert all(file.stat().st_mode & 0o040 for file in new)
