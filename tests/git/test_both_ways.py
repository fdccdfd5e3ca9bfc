"""Every command says and does the same by libgit2 and by git, whatever names the objects."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from manifests import deployment
from world import Done, Repo, World, living

from kmerge_git.git.libgit2 import Libgit2Objects
from kmerge_git.git.merge_sides import Change
from kmerge_git.git.objects import Absent, GitObjects, Objects
from kmerge_git.git.run_git import git_version

# how a repository is made, and how it is read
SHA1, WITHOUT, SHA256, REFTABLE = "libgit2", "without libgit2", "sha256", "reftable"
FORMATS = {SHA256: "--object-format=sha256", REFTABLE: "--ref-format=reftable"}
COMMANDS = {
    "preview": ("preview", "side", "--json"),
    "rebase": ("preview", "side", "--rebase", "--into", "topic"),
    "written": ("preview", "topic", "--write-tree"),
    "renamed": ("preview", "topic", "--json"),
    "merge": ("merge", "side"),
    "clean merge": ("merge", "topic", "--no-edit"),
    "refresh": ("refresh", "--with", "topic", "side", "main", "--json"),
    "replay": ("replay", "--jobs", "1", "--json"),
    "policy": ("replay", "--jobs", "1", "--policy", "* **.replicas higher"),
    "explain": ("explain", "past", "--all"),
    "check": ("check", "--merge-of", "past", "--select", "all"),
    "diff": ("diff", "past~1", "side"),
    "status": ("status", "--json"),
    "stopped solve": ("solve", "--favor", "ours"),
    "stopped resolve": ("resolve", "--take", "theirs", "--json"),
    "stopped list": ("resolve", "--list", "--json", "--blame"),
    "stopped explain": ("explain", "--json"),
    "picked resolve": ("resolve", "--auto", "--json"),
    "picked check": ("check", "--merge", "--json"),
    "picked commit": ("check", "--committed"),
}
# the ids of objects, and the places that hold them or their times
MADE = re.compile(r"\b[0-9a-f]{7,64}\b|\"(?:longest|median)\": [\d.]+|/tmp\S*|/[^\s\"]*popen-\S*")
BLOCKED = "import sys; sys.modules['pygit2'] = None; from kmerge_git.cli.main import main; sys.exit(main())"


def forked(repo: Repo) -> None:
    """A past merge, a side in conflict, and a topic that lines cannot merge."""
    repo.write(".gitattributes", "*.txt text eol=crlf\n")
    lines = "".join(f"- {{name: n{number}, value: a}}\n" for number in range(4))
    repo.commit(
        "base", {"web.yaml": deployment(replicas=1), "env.yaml": lines, "d/x.yaml": "a: 1\n"}
    )
    repo.git("branch", "old")
    repo.commit("ours", {"web.yaml": deployment(replicas=2), "env.yaml": lines + "- {name: o}\n"})
    repo.switch("old")
    repo.commit("theirs", {"web.yaml": deployment(replicas=3)})
    repo.switch("main")
    repo.git("merge", "old", check=False)
    repo.commit("past", {"web.yaml": deployment(replicas=3)})
    repo.git("tag", "past")
    repo.git("branch", "topic")
    repo.git("branch", "side")
    repo.commit(
        "more",
        {
            "web.yaml": deployment(replicas=5),
            "env.yaml": lines + "- {name: m}\n",
            "d/x.yaml": "a: 1\nb: 1\n",
        },
    )
    repo.switch("topic")
    repo.commit("topic", {"env.yaml": lines + "- {name: t}\n", "d/y.yaml": "b: 1\n"})
    repo.git("mv", "d/x.yaml", "d/z.yaml")
    repo.commit("moved")
    repo.switch("side")
    repo.commit("side", {"web.yaml": deployment(replicas=4), "env.yaml": "- {name: s}\n" + lines})
    repo.switch("main")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same repository in each format, each also in the middle of a merge and of a pick."""
    root = tmp_path_factory.mktemp("ways")
    with living(root) as world:
        for way, flags in {SHA1: "--object-format=sha1", **FORMATS}.items():
            if way == REFTABLE and git_version() < (2, 45):
                continue
            world.git("init", "-q", "-b", "main", flags, root / way)
            forked(Repo(world, root / way))
            for name, command in (("stopped", "merge"), ("picked", "cherry-pick")):
                shutil.copytree(root / way, root / f"{name} {way}")
                Repo(world, root / f"{name} {way}").git(command, "side", check=False)
    return root


@pytest.mark.costly
@pytest.mark.parametrize("name", COMMANDS)
def test_both_ways(made: Path, world: World, name: str) -> None:
    expected = _ran(made, world, name, SHA1)
    for way in (WITHOUT, SHA256, REFTABLE):
        if way != REFTABLE or git_version() >= (2, 45):
            assert _ran(made, world, name, way) == expected, way


def _ran(made: Path, world: World, name: str, way: str) -> tuple[object, ...]:
    """What a command says, and what it leaves: files, index and the trees of the branches."""
    of = SHA1 if way == WITHOUT else way
    path = world.root / way / "repo"
    state = name.partition(" ")[0]
    shutil.copytree(made / (f"{state} {of}" if state in ("stopped", "picked") else of), path)
    repo = Repo(world, path)
    words = COMMANDS[name]
    if way == WITHOUT:
        done: Done = world.run(sys.executable, "-c", BLOCKED, *words, cwd=path, check=False)
    else:
        done = repo.kmerge(*words, check=False)
    left = repo.git("ls-files", "--stage").out, repo.git("status", "--short").out
    named = repo.git("for-each-ref", "--format=%(refname) %(contents:subject)").out
    texts = {
        str(file.relative_to(path)): MADE.sub("ID", file.read_text())  # labels name commits
        for file in sorted(path.rglob("*"))
        if file.is_file() and ".git" not in file.parts
    }
    said = [MADE.sub("ID", text) for text in (done.out, done.err, *left)]
    assert "internal error" not in done.err
    return done.code, *said, named, texts


def test_both_ways_read_the_same(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made / SHA1)
    ways = Libgit2Objects("."), GitObjects(".")
    assert ways[0].worktree == f"{ways[1].worktree}/"
    assert ways[0].git_dir == ways[1].git_dir
    heads = [_id(ways[0], name) for name in ("main", "side", "topic")]
    commits = list(ways[0].walk(heads, []))
    assert len(commits) == 8

    def same(ask: Callable[[Objects], object]) -> object:
        one, other = map(ask, ways)
        assert one == other
        return one

    trees = [_id(ways[0], f"{oid}^{{tree}}") for oid in commits]
    for oid in [*commits, *trees, "0" * 40]:
        same(lambda way, oid=oid: way.find(oid))
    for name in ("main", "past^{tree}", "HEAD~1:web.yaml", "nothing", "main:none", "a b", ""):
        same(lambda way, name=name: way.find(name))
    for a, b in product(commits, commits):
        base = same(lambda way, a=a, b=b: way.merge_base(a, b))
        same(lambda way, a=a, b=b, base=base: way.has_other_bases(base, a, b))
        same(lambda way, a=a, b=b: list(way.walk([a], [b])))
    for (a, b), renames in product(product([None, *trees], trees), (False, True)):
        same(lambda way, a=a, b=b, renames=renames: _sorted(way.changes(a, b, renames=renames)))
    for path in ("web.yaml", "d", "d/z.yaml", "d/z.yaml/x", "none"):
        same(lambda way, path=path: way.entry(_id(way, "topic^{tree}"), path))
    assert ways[0].write("blob", b"new\n") == ways[1].write("blob", b"new\n")
    with pytest.raises(Absent):
        ways[1].changes("1" * 40, trees[0], renames=False)
    with pytest.raises(Absent):
        ways[0].changes("1" * 40, trees[0], renames=False)


def _id(way: Objects, name: str) -> str:
    found = way.find(name)
    assert found is not None
    return found[0]


def _sorted(changes: list[Change]) -> list[Change]:
    return sorted(changes, key=lambda change: (change.new_path, change.old_path))
