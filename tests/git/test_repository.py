"""What libgit2 refuses is read by git, and what is missing is said in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest
from manifests import deployment
from world import Repo, World

from kmerge_git.errors import KmergeError
from kmerge_git.git.line_merges import LineMerges, MergedLines
from kmerge_git.git.merge_sides import TreeEntry
from kmerge_git.git.repository import Repository
from kmerge_git.git.scratch_merges import scratch
from kmerge_git.outcome import Options

TEXTS = tuple(deployment(replicas=number) for number in (1, 2, 3))


def stopped(repo: Repo) -> Repo:
    base, ours, theirs = ({"a.yaml": text, "dir/b.yaml": text} for text in TEXTS)
    repo.fork(base, ours, theirs)
    assert repo.merge().code == 1
    return repo


def test_sha256(world: World) -> None:
    world.git("init", "-q", "-b", "main", "--object-format=sha256", "repo")
    repo = stopped(Repo(world, world.root / "repo"))
    solved(repo)
    assert "a.yaml" in repo.kmerge("preview", "side", check=False).out


def test_an_unknown_extension(repo: Repo) -> None:
    stopped(repo)
    with (repo.path / ".git" / "config").open("a") as config:
        config.write("[core]\n\trepositoryformatversion = 1\n[extensions]\n\todd = true\n")
    done = repo.kmerge("solve", check=False)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "unknown repository extension" in done.err


def test_a_split_index(repo: Repo) -> None:
    stopped(repo)
    repo.git("update-index", "--split-index")
    solved(repo)


def test_a_sparse_index(repo: Repo) -> None:
    repo.commit("base", {"a/a.yaml": TEXTS[0], "b/b.yaml": TEXTS[0], "c.yaml": TEXTS[0]})
    repo.branch("side")
    repo.commit("theirs", {"a/a.yaml": TEXTS[1]})
    repo.switch("main")
    repo.commit("ours", {"a/a.yaml": TEXTS[2]})
    repo.git("sparse-checkout", "init", "--cone", "--sparse-index")
    repo.git("sparse-checkout", "set", "a")
    assert repo.merge().code == 1
    solved(repo)


def solved(repo: Repo) -> None:
    assert repo.kmerge("solve", "--favor", "ours").code == 0
    assert repo.unmerged() == []


def test_a_partial_clone_with_missing_blobs(world: World, repo: Repo) -> None:
    repo.fork(*({"a.yaml": text} for text in TEXTS))
    repo.git("config", "uploadpack.allowFilter", "true")
    origin = f"file://{repo.path}"
    world.git("clone", "-q", "--filter=blob:none", "--no-checkout", origin, "partial")
    partial = Repo(world, world.root / "partial")
    partial.git("branch", "side", "origin/side")
    before = _state(partial.path)
    done = partial.kmerge("preview", "side", check=False)
    assert _state(partial.path) == before
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    message = done.err
    assert "was never fetched: this is a partial clone" in message
    assert "git fetch --refetch --no-filter" in message


def _state(path: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_a_kind_of_index_that_is_held_by_another_process(repo: Repo) -> None:
    stopped(repo)
    (repo.path / ".git" / "index.lock").touch()
    done = repo.kmerge("solve", "--favor", "ours", check=False)
    assert done.code == 2
    assert "another git process holds the lock " in done.err
    (repo.path / ".git" / "index.lock").unlink()
    repo.git("merge", "--abort")
    assert repo.text("a.yaml") == TEXTS[1]


def test_the_line_merge_is_that_of_git(world: World, tmp_path: Path) -> None:
    lines = [f"line {number}\n" for number in range(40)]
    variants = [
        {3: "ours\n"},
        {3: "theirs\n"},
        {20: "far\n"},
        {4: "next\n"},
        {3: "", 4: ""},
        {39: "last"},
    ]
    merge = LineMerges()
    for ours in variants:
        for theirs in variants:
            texts = tuple(
                "".join(change.get(number, line) for number, line in enumerate(lines)).encode()
                for change in ({}, ours, theirs)
            )
            for name, text in zip(("base", "ours", "theirs"), texts, strict=True):
                (tmp_path / name).write_bytes(text)
            labels = [word for name in ("ours", "base", "theirs") for word in ("-L", name)]
            argv = ["git", "merge-file", "-p", *labels, "ours", "base", "theirs"]
            git = world.run(*argv, cwd=tmp_path, check=False)
            assert merge.merge_file(texts, Options()) == (git.out.encode(), git.code)


def test_the_line_merge_takes_any_bytes() -> None:
    merge = LineMerges()
    odd = b"a\n\xff\n", b"b\n\xff\n", b"a\n\xff\nc\n"
    assert merge.merge_file(odd, Options()) == (b"b\n\xff\nc\n", 0)
    binary = MergedLines(merge, (b"a\0", b"b\0", b"c\0"), Options())
    assert (binary.text, binary.clean) == (b"b\0", False)
    assert merge.merge_file((b"", b"", b""), Options()) == (b"", 0)


def test_a_scratch_folder_takes_what_is_written(repo: Repo) -> None:
    repo.commit("base", {"a.yaml": "a: 1\n", "dir/b.yaml": "b: 1\n"})
    before = repo.git("count-objects").out
    with scratch(Repository.open(str(repo.path))) as at:
        twin = at.repository
        tree = twin.commit(repo.head()).tree
        blob = twin.store(b"c: 1\n")
        other = twin.with_files(tree, {"a.yaml": None, "dir/c.yaml": TreeEntry(blob, 0o100644)})
        assert twin.entry(other, "a.yaml") is None
        assert twin.entry(other, "dir/c.yaml") == TreeEntry(blob, 0o100644)
        assert twin.blob(blob) == b"c: 1\n"
        changed = {change.new_path for change in twin.changes(tree, other, renames=False)}
        assert changed == {"a.yaml", "dir/c.yaml"}
    assert repo.git("count-objects").out == before


@pytest.mark.usefixtures("by_libgit2")
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="Linux lists what is open")
def test_nothing_is_open_after_opening_again(repo: Repo) -> None:
    repo.fork({"a.yaml": TEXTS[0]}, {"a.yaml": TEXTS[1]}, {"a.yaml": TEXTS[2]})
    repo.git("repack", "-adq")

    def open_packs() -> list[str]:
        files = [str(place.resolve()) for place in Path("/proc/self/fd").iterdir()]
        return [
            line
            for line in [*files, *Path("/proc/self/maps").read_text().splitlines()]
            if f"{repo.path}/.git/objects" in line
        ]

    inside = Repository.open(str(repo.path))
    tree = inside.commit("main").tree
    assert inside.entry(tree, "a.yaml")
    assert open_packs()
    inside.reopen()
    assert open_packs() == []
    assert inside.entry(tree, "a.yaml")


def test_an_odd_commit_is_read(repo: Repo) -> None:
    repo.commit("base", {"a.yaml": "a: 1\n"})
    tree = repo.git("rev-parse", "HEAD^{tree}").out.strip()
    inside = Repository.open(str(repo.path))
    for encoding, time in (("idna", "12 +0000"), ("\udcff", "7"), ("utf-8", "x +0000"), ("", "")):
        about = f"author a <a@b> {time}\ncommitter a <a@b> {time}\n" if time else ""
        text = f"tree {tree}\n{about}encoding {encoding}\n\nsubject\xfc\n"
        (repo.path / "commit").write_bytes(text.encode("utf-8", "surrogateescape"))
        words = ("hash-object", "-t", "commit", "-w", "--literally", "commit")
        commit = inside.named(repo.git(*words).out.strip())
        assert (commit.tree, commit.subject) == (
            tree,
            "subject\xfc" if encoding != "idna" else commit.subject,
        )
        assert commit.time == (12 if time.startswith("12") else 0)


@pytest.mark.parametrize("names", ["sha1", "sha256"])
def test_a_pick_of_a_first_commit_is_explained(world: World, names: str) -> None:
    world.git("init", "-q", "-b", "main", f"--object-format={names}", "repo")
    repo = Repo(world, world.root / "repo")
    repo.commit("base", {"a.yaml": TEXTS[0]})
    repo.git("checkout", "-q", "--orphan", "old")
    repo.commit("old", {"a.yaml": TEXTS[1]})
    repo.git("checkout", "-q", "main")
    repo.git("cherry-pick", "old", check=False)
    assert "a.yaml" in repo.kmerge("explain").out


@pytest.mark.usefixtures("by_libgit2")
def test_a_missing_file_that_may_be_renamed_is_reported(repo: Repo) -> None:
    rows = (f"100644 blob {digit * 40}\t{name}\n" for digit, name in (("1", "a"), ("2", "b")))
    old, new = (repo.git("mktree", "--missing", stdin=row).out.strip() for row in rows)
    inside = Repository.open(str(repo.path))
    assert len(inside.changes(old, new, renames=False)) == 2
    with pytest.raises(KmergeError, match="object 1111111111 is missing"):
        inside.changes(old, new)
