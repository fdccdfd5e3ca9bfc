"""`kmerge preview` beside real merges: the tree that it makes, and what git alone would do."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from manifests import deployment, service, stream
from world import Repo, World

from kmerge_git.git.driver_lines import NAME, driver_line
from kmerge_git.git.unasked import WAYS
from kmerge_git.merge.plan import Why

Files = dict[str, str | bytes]
Fork = tuple[Files, Files, Files]

BASE = deployment()
OURS = deployment(env=("A=1", "OURS=1"))
THEIRS = deployment(env=("A=1", "THEIRS=1"))
TEXTS = [BASE, OURS, THEIRS]
APART = [deployment(), deployment(replicas=2), deployment(image="app:2")]
NOTES = ["".join(f"{n}\n" for n in numbers) for numbers in ([*range(9)], [9, *range(9)], range(10))]
SECRET = (
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\ndata:\n  a: {}\nsops:\n  mac: ENC[{}]\n"
)
SIDES = ("base", "ours", "theirs")


def forked(**files: list[str]) -> Fork:
    """A base and two sides, from the three texts of each file."""
    return tuple(  # type: ignore[return-value]
        {name.replace("__", "/") + ".yaml": texts[at] for name, texts in files.items()}
        for at in range(3)
    )


def three(name: str, texts: list[str]) -> Fork:
    return tuple({name: text} for text in texts)  # type: ignore[return-value]


def drive(repo: Repo, patterns: str = "*.yaml merge=kmerge\n") -> None:
    repo.git("config", "merge.kmerge.name", NAME)
    repo.git("config", "merge.kmerge.driver", driver_line())
    repo.write(".git/info/attributes", patterns)


def report(repo: Repo, *args: str, code: int) -> dict[str, Any]:
    done = repo.kmerge("preview", "side", *args, "--json", check=False)
    assert done.code == code, done.said
    found = json.loads(done.out)
    assert isinstance(found, dict)
    return found


def rows(repo: Repo, *args: str, code: int) -> dict[str, dict[str, Any]]:
    steps = report(repo, *args, code=code)["steps"]
    return {file["path"]: file for step in steps for file in step["files"]}


# -- the merged tree -------------------------------------------------------------------------------

CLEAN = {
    "structure": forked(a=TEXTS, b=APART, dir__c=TEXTS),
    "with other files": (
        {"a.yaml": BASE, "notes.txt": NOTES[0], "gone.txt": "g\n", "dir/x.yaml": BASE},
        {"a.yaml": OURS, "notes.txt": NOTES[1], "gone.txt": "g\n", "ours/new.yaml": BASE},
        {"a.yaml": THEIRS, "notes.txt": NOTES[2], "dir/x.yaml": OURS, "theirs.yaml": BASE},
    ),
    "odd names": three('dir "x"/a\tb\\ü.yaml', TEXTS),
    "added by both": three("a.yaml", ["", stream(BASE), stream(BASE)]),
    "line ends": three("a.yaml", [text.replace("\n", "\r\n") for text in TEXTS]),
    "a directory where the other side has the old file": (
        {"a.yaml": BASE, "b.yaml": BASE, "b-old.yaml": service()},
        {"a.yaml": OURS, "b.yaml/c.yaml": service(8443), "moved.yaml": service()},
        {"a.yaml": THEIRS, "b.yaml": BASE, "b-old.yaml": service(81)},
    ),
    "union": (
        {".gitattributes": "u.yaml merge=union\n", "u.yaml": BASE, "a.yaml": BASE},
        {".gitattributes": "u.yaml merge=union\n", "u.yaml": OURS, "a.yaml": OURS},
        {".gitattributes": "u.yaml merge=union\n", "u.yaml": THEIRS, "a.yaml": THEIRS},
    ),
}


def fork(repo: Repo, files: Fork) -> None:
    """As `Repo.fork`; a file that a side does not name is not there."""
    base, ours, theirs = files
    repo.commit("base", base)
    repo.branch("side")
    for message, side in (("theirs", theirs), ("ours", ours)):
        gone = base.keys() - side.keys()
        if gone:
            repo.git("rm", "-q", "--ignore-unmatch", *sorted(gone))
        repo.commit(message, side)
        if message == "theirs":
            repo.switch("main")


@pytest.mark.world
@pytest.mark.parametrize("name", CLEAN)
def test_the_tree_is_the_one_of_the_merge(repo: Repo, name: str) -> None:
    fork(repo, CLEAN[name])
    done = repo.kmerge("preview", "side", "--write-tree")
    assert (done.err, done.out.count("\n")) == ("", 1)
    tree = done.out.strip()
    assert report(repo, "--write-tree", code=0)["tree"] == tree
    assert repo.git("status", "--porcelain").out == ""
    made = repo.git("commit-tree", tree, "-p", "main", "-p", "side", "-m", "m").out.strip()
    repo.git("fsck", "--strict")
    drive(repo, "")
    repo.write("../home/.config/git/attributes", "*.yaml merge=kmerge\n")
    repo.git("merge", "-q", "--no-edit", "side")
    assert repo.head(f"{made}^{{tree}}") == repo.head("HEAD^{tree}")


MOVED = {
    "to a new file": (
        {"all.yaml": stream(BASE, service())},
        {"all.yaml": BASE, "service.yaml": service()},
        {"all.yaml": stream(BASE, service(8443))},
    ),
    "split": (
        {"all.yaml": stream(BASE, service())},
        {"web.yaml": BASE, "service.yaml": service()},
        {"all.yaml": stream(THEIRS, service(8443))},
    ),
}


@pytest.mark.world
@pytest.mark.parametrize("name", [*CLEAN, *MOVED])
def test_a_merge_in_a_working_tree_comes_to_the_same(repo: Repo, name: str) -> None:
    fork(repo, (CLEAN | MOVED)[name])
    tree = repo.kmerge("preview", "side", "--write-tree").out.strip()
    repo.kmerge("merge", "side")
    assert repo.head("HEAD^{tree}") == tree


@pytest.mark.world
@pytest.mark.parametrize("name", CLEAN)
def test_a_bare_repository_makes_the_same_tree(world: World, repo: Repo, name: str) -> None:
    fork(repo, CLEAN[name])
    world.git("clone", "-q", "--bare", repo.path, "bare.git")
    bare = Repo(world, world.root / "bare.git")
    tree = repo.kmerge("preview", "side", "--write-tree").out
    made = bare.kmerge("preview", "side", "--into", "main", "--write-tree")
    assert (made.out, made.err) == (tree, "")
    bare.git("fsck", "--strict")


def test_names_that_are_no_text(repo: Repo) -> None:
    name = b"dir/\xff.yaml".decode("utf-8", "surrogateescape")
    fork(repo, three(name, TEXTS))
    tree = repo.kmerge("preview", "side", "--write-tree").out.strip()
    drive(repo)
    repo.git("merge", "-q", "--no-edit", "side")
    assert tree == repo.head("HEAD^{tree}")


def test_what_is_in_conflict_is_told_behind_the_tree(repo: Repo) -> None:
    counts = [deployment(replicas=number) for number in (1, 2, 3)]
    fork(repo, forked(a=TEXTS, b=counts))
    done = repo.kmerge("preview", "side", "--write-tree", check=False)
    assert done.code == 1
    tree, *told = done.lines
    assert told == [
        "CONFLICT  b.yaml",
        f"    Deployment/web spec.replicas: {Why.BOTH_CHANGED}",
        "        base   replicas: 1",
        "        ours   replicas: 2",
        "        theirs replicas: 3",
    ]
    text = repo.show(f"{tree}:b.yaml")
    assert "<<<<<<< HEAD" in text
    assert ">>>>>>> side" in text
    assert "<<<<<<<" not in repo.show(f"{tree}:a.yaml")


def test_nothing_to_merge_is_a_tree_as_well(repo: Repo) -> None:
    repo.commit("base", {"a.yaml": BASE})
    repo.branch("side")
    repo.commit("more", {"a.yaml": OURS})
    tree = repo.head("side^{tree}")
    assert repo.kmerge("preview", "main", "--write-tree").out == tree + "\n"
    repo.switch("main")
    assert repo.kmerge("preview", "side", "--write-tree").out == tree + "\n"
    done = repo.kmerge("preview", "side", "--write-tree", "--rebase", check=False)
    assert (done.code, done.out) == (2, "")


# -- what git alone would do -----------------------------------------------------------------------


def test_json_that_the_driver_merges(repo: Repo) -> None:
    texts = [json.dumps({"a": a, "b": b, "c": 0}, indent=1) for a, b in ((1, 1), (2, 1), (1, 2))]
    fork(repo, three("a.json", texts))
    assert rows(repo, code=1)["a.json"]["result"] == "conflict"
    drive(repo, "*.json merge=kmerge\n")
    row = rows(repo, code=0)["a.json"]
    assert (row["result"], row["driver"]) == ("resolved", True)
    assert repo.merge().code == 0


UNREGISTERED: dict[str, Callable[[Repo], object]] = {
    "no driver": lambda repo: repo.write(".git/info/attributes", "*.yaml merge=kmerge\n"),
    "no attributes": lambda repo: drive(repo, ""),
    "another driver": lambda repo: drive(repo, "*.yaml merge\n"),
}


@pytest.mark.parametrize("how", UNREGISTERED)
@pytest.mark.costly
def test_a_clone_without_the_driver(repo: Repo, how: str) -> None:
    fork(repo, forked(a=TEXTS, b=APART))
    UNREGISTERED[how](repo)
    why = (
        "`git merge` alone will have conflicts in 1 file that has none above, because the driver is not "
        "registered for it; run `kmerge install` to register it, or run `kmerge merge side` to merge "
        "as shown"
    )
    if how != "no driver":
        why = f"`git merge` would not use kmerge for a.yaml; {WAYS.replace('REV', 'side')}"
    assert repo.kmerge("preview", "side").err == f"kmerge: {why}\n"
    assert report(repo, code=0)["beyond_git"] == 1
    assert repo.merge().code == 1
    repo.git("merge", "--abort")
    drive(repo)
    assert repo.kmerge("preview", "side").err == ""
    assert report(repo, code=0)["beyond_git"] == 0
    assert repo.merge().code == 0


@pytest.mark.costly
def test_the_driver_follows_no_resource(repo: Repo) -> None:
    drive(repo)
    fork(
        repo,
        (
            {"all.yaml": stream(BASE, service())},
            {"all.yaml": BASE, "service.yaml": service()},
            {"all.yaml": stream(BASE, service(8443))},
        ),
    )
    done = repo.kmerge("preview", "side")
    assert done.err == (
        "kmerge: `git merge` alone will have conflicts in 1 file that has none above, because git "
        "cannot follow moved resources; run `kmerge merge side` to merge as shown\n"
    )
    (step,) = report(repo, code=0)["steps"]
    assert [(f["path"], f["git"]) for f in step["files"]] == [
        ("all.yaml", "conflict"),
        ("service.yaml", "clean"),
    ]
    rebased = repo.kmerge("preview", "side", "--rebase").err
    assert rebased.endswith(
        "git cannot follow moved resources; run `kmerge resolve` when git stops\n"
    )
    assert repo.merge().code == 1
    assert repo.git("diff", "--name-only", "--diff-filter=U").out == "all.yaml\n"


# -- conflicts that are not about values -----------------------------------------------------------


def test_an_encrypted_file(repo: Repo) -> None:
    texts = [SECRET.format(side, side) for side in SIDES]
    fork(repo, three("secret.yaml", texts))
    done = repo.kmerge("preview", "side", check=False)
    assert done.code == 1
    assert done.lines == [
        "CONFLICT  secret.yaml  a SOPS file: both sides changed the file, and a mixture of both "
        "could not be decrypted",
        "merge: 1 file changed on both sides: 1 in conflict",
    ]
    # as in a working tree: neither side is dropped without a word
    tree = repo.kmerge("preview", "side", "--write-tree", check=False).lines[0]
    cause = "(encrypted: see `kmerge explain secret.yaml`)"
    lines = repo.show(f"{tree}:secret.yaml").splitlines()
    assert {f"<<<<<<< HEAD {cause}", ">>>>>>> side"} <= set(lines)


def test_what_git_merges_itself_is_told(repo: Repo) -> None:
    fork(repo, CLEAN["with other files"])
    found = rows(repo, code=0)
    assert {path: row["result"] for path, row in found.items()} == {
        "a.yaml": "resolved",
        "notes.txt": "clean",
    }


def test_names_that_clash(repo: Repo) -> None:
    fork(
        repo,
        (
            {"a.yaml": BASE, "c.yaml": service()},
            {"b.yaml": BASE, "c.yaml": service(), "dir/x.yaml": BASE},
            {"d.yaml": BASE, "c.yaml": service(), "dir": "a file\n"},
        ),
    )
    found = rows(repo, code=1)
    assert {path: row["kind"] for path, row in found.items()} == {
        "a.yaml": "renamed to two names",
        "dir": "file and directory",
    }
    assert found["a.yaml"]["note"] == found["a.yaml"]["why"] == "b.yaml and d.yaml"
    assert found["dir"]["situation"] == "file and directory"


def test_a_directory_that_was_renamed(repo: Repo) -> None:
    many = {f"old/{n}.yaml": service(n + 1, f"s{n}") for n in range(4)}
    fork(
        repo,
        (
            {**many, "old/web.yaml": BASE},
            {name.replace("old", "new"): text for name, text in many.items()}
            | {"new/web.yaml": OURS},
            {**many, "old/web.yaml": THEIRS, "old/more.yaml": BASE},
        ),
    )
    found = rows(repo, code=1)
    assert found["new/web.yaml"]["result"] == "resolved"
    assert found["new/web.yaml"]["kind"] == "changed by both"
    assert found["new/web.yaml"]["situation"] == "both modified"
    assert found["new/web.yaml"]["note"] == "renamed from old/web.yaml"
    # git asks whether a new file belongs to where the others went: it is not settled by content
    assert found["new/more.yaml"]["result"] == "conflict"
    repo.git("config", "merge.directoryRenames", "true")
    assert rows(repo, code=0)["new/web.yaml"]["result"] == "resolved"


def test_a_file_with_two_new_names_loses_nothing(repo: Repo) -> None:
    many = stream(*(service(n + 1, f"s{n}") for n in range(6)))
    fork(
        repo,
        (
            {"a.yaml": many, "b.txt": "b\n"},
            {"ours.yaml": many.replace("name: s1", "name: ours"), "b.txt": "b\n"},
            {"theirs.yaml": many.replace("name: s4", "name: theirs"), "b.txt": "b\n"},
        ),
    )
    done = repo.kmerge("preview", "side", "--write-tree", check=False)
    assert done.code == 1
    tree, row = done.lines
    assert row == "CONFLICT  a.yaml  renamed to two names; ours.yaml and theirs.yaml"
    texts = [repo.show(f"{tree}:{name}.yaml") for name in ("ours", "theirs")]
    assert all("name: ours" in text and "name: theirs" in text for text in texts)


def test_a_new_name_that_is_taken_loses_nothing(repo: Repo) -> None:
    """Ours renames a file that theirs changes; the new name is that of a new file of theirs."""
    many = stream(*(service(n + 1, f"s{n}") for n in range(6)))
    fork(
        repo,
        (
            {"a.yaml": many},
            {"new.yaml": many.replace("name: s1", "name: ours")},
            {"a.yaml": many.replace("name: s4", "name: theirs"), "new.yaml": BASE},
        ),
    )
    done = repo.kmerge("preview", "side", "--write-tree", check=False)
    assert done.code == 1
    text = repo.show(f"{done.lines[0]}:new.yaml")
    assert all(f"name: {name}" in text for name in ("ours", "theirs", "web"))


def test_a_file_behind_a_filter_keeps_both_sides(repo: Repo) -> None:
    repo.write(".git/info/attributes", "a.yaml filter=crypt\n")
    fork(repo, three("a.yaml", TEXTS))
    done = repo.kmerge("preview", "side", "--write-tree", check=False)
    assert done.code == 1
    text = repo.show(f"{done.lines[0]}:a.yaml")
    assert "OURS" in text
    assert "THEIRS" in text


def test_an_edit_that_cannot_follow_stays_in_the_conflict(repo: Repo) -> None:
    """Its resource moved into a file that the other side gave another name."""
    other = service(80, "other")
    fork(
        repo,
        (
            {"all.yaml": stream(BASE, service()), "x/a.yaml": other, "x/b.yaml": BASE},
            {"all.yaml": BASE, "x/a.yaml": stream(other, service()), "x/b.yaml": BASE},
            {"all.yaml": stream(BASE, service(8443)), "y/a.yaml": other, "y/b.yaml": BASE},
        ),
    )
    done = repo.kmerge("preview", "side", "--write-tree", check=False)
    assert done.code == 1
    assert "but x/a.yaml does not exist or was renamed" in done.out
    text = repo.show(f"{done.lines[0]}:all.yaml")
    repo.kmerge("merge", "side", check=False)
    marked = repo.text("all.yaml")
    assert "8443" in marked
    assert text == marked.replace("<<< HEAD", "<<< ours").replace(">>> side", ">>> theirs")


def test_of_a_binary_conflict_the_tree_has_ours(repo: Repo) -> None:
    fork(repo, tuple({"a.yaml": b"\0 %d" % n} for n in range(3)))  # type: ignore[arg-type]
    done = repo.kmerge("preview", "side", "--write-tree", check=False)
    assert done.code == 1
    assert repo.show(f"{done.lines[0]}:a.yaml") == repo.show("main:a.yaml") != ""
