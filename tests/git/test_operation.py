"""Which operation stopped: each is brought about by the real git, whose markers and stages tell.

The truth is git's: the labels are those that it wrote into the file, and the trees hold the very
blobs that it put into the index.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest
from world import Repo, World

from kmerge_git.git.index_stages import Operation
from kmerge_git.git.repository import Repository
from kmerge_git.whole.operation import current_operation

FILE = "app.yaml"


def text(word: str) -> str:
    return f"a: {word}\n"


def change(repo: Repo, word: str) -> str:
    return repo.commit(f"{word} did", {FILE: text(word)})


def forked(repo: Repo) -> None:
    """`side` says theirs, `main` (checked out) says ours."""
    repo.git("config", "merge.conflictStyle", "diff3")
    repo.fork({FILE: text("base")}, {FILE: text("ours")}, {FILE: text("theirs")})


def stop(repo: Repo, *args: str, env: dict[str, str] | None = None) -> None:
    """A command of git that has to stop with a conflict."""
    repo.git(*args, check=False, env={"GIT_EDITOR": "true"} | (env or {}))
    assert repo.unmerged() == [FILE], args


def merge(repo: Repo) -> None:
    forked(repo)
    stop(repo, "merge", "side")


def merge_no_ff_detached(repo: Repo) -> None:
    forked(repo)
    stop(repo, "merge", "--no-ff", "--no-commit", repo.head("side"))


def squash(repo: Repo) -> None:
    forked(repo)
    stop(repo, "merge", "--squash", "side")


def unrelated(repo: Repo) -> None:
    forked(repo)
    repo.git("checkout", "-q", "--orphan", "other")
    change(repo, "root")
    repo.switch("main")
    stop(repo, "merge", "--allow-unrelated-histories", "other")


def octopus(repo: Repo) -> None:
    forked(repo)
    repo.branch("third", "main~1")
    repo.commit("third", {"third.yaml": text("x")})
    repo.switch("main")
    stop(repo, "merge", "third", "side")


def pick(repo: Repo) -> None:
    forked(repo)
    stop(repo, "cherry-pick", "side")


def pick_of_several(repo: Repo) -> None:
    forked(repo)
    repo.switch("side")
    repo.commit("more", {"more.yaml": text("x")})
    repo.switch("main")
    stop(repo, "cherry-pick", "main..side")


def pick_without_a_commit(repo: Repo) -> None:
    forked(repo)
    stop(repo, "cherry-pick", "--no-commit", "side")


def pick_of_a_root(repo: Repo) -> None:
    forked(repo)
    repo.git("checkout", "-q", "--orphan", "other")
    change(repo, "root")
    repo.switch("main")
    stop(repo, "cherry-pick", "other")


def merged_side(repo: Repo) -> None:
    """`mixed` merges `side` into a branch of its own, other files apart."""
    forked(repo)
    repo.branch("mixed", "main~1")
    repo.commit("mixed", {"mixed.yaml": text("x")})
    repo.git("merge", "-q", "--no-edit", "side")
    repo.switch("main")


def pick_of_a_merge(repo: Repo) -> None:
    merged_side(repo)
    stop(repo, "cherry-pick", "-m", "1", "mixed")


def pick_of_a_merge_by_its_second_parent(repo: Repo) -> None:
    forked(repo)
    repo.branch("mixed", "side")
    repo.git("merge", "-q", "--no-edit", "-s", "ours", "main")
    repo.switch("main")
    change(repo, "again")
    stop(repo, "cherry-pick", "-m", "2", "mixed")


def revert(repo: Repo) -> None:
    forked(repo)
    change(repo, "again")
    stop(repo, "revert", "--no-edit", "HEAD~1")


def revert_of_a_merge(repo: Repo) -> None:
    merged_side(repo)
    repo.switch("mixed")
    change(repo, "again")
    stop(repo, "revert", "--no-edit", "-m", "1", "HEAD~1")


def rebase(repo: Repo) -> None:
    forked(repo)
    repo.switch("side")
    stop(repo, "rebase", "main")


def rebase_by_patches(repo: Repo) -> None:
    forked(repo)
    repo.switch("side")
    stop(repo, "rebase", "--apply", "main")


def rebase_of_a_root(repo: Repo) -> None:
    forked(repo)
    repo.git("checkout", "-q", "--orphan", "other")
    change(repo, "root")
    stop(repo, "rebase", "--root", "--onto", "main")


def fixup(repo: Repo) -> None:
    forked(repo)
    repo.branch("mine", "main~1")
    repo.commit("apart", {"apart.yaml": text("x")})
    repo.commit("fixup! apart", {FILE: text("fixed")})
    stop(repo, "rebase", "-i", "--autosquash", "main", env={"GIT_SEQUENCE_EDITOR": "true"})


def rebase_with_merges(repo: Repo) -> None:
    """Stopped at the merge itself, not at a commit."""
    forked(repo)
    repo.branch("mixed", "main~1")
    repo.commit("mixed", {FILE: text("mixed")})
    stop(repo, "merge", "side")
    change(repo, "both")
    repo.branch("upstream", "main~1")
    repo.commit("upstream", {"upstream.yaml": text("x")})
    repo.switch("mixed")
    stop(repo, "rebase", "-r", "upstream")


def mail(repo: Repo) -> None:
    forked(repo)
    repo.git("format-patch", "-q", "-1", "side", "-o", "../mail")
    stop(repo, "am", "-3", "../mail/0001-theirs.patch")


def stashed(repo: Repo) -> None:
    """An entry with a change of its own, and one of the same file below it."""
    for word in ("older", "stashed"):
        repo.write(FILE, text(word))
        repo.git("stash", "-q")


def stash(repo: Repo) -> None:
    forked(repo)
    repo.git("checkout", "-q", "main~1")
    stashed(repo)
    repo.switch("main")
    stop(repo, "stash", "pop")


def older_stash(repo: Repo) -> None:
    forked(repo)
    repo.git("checkout", "-q", "main~1")
    stashed(repo)
    repo.switch("main")
    stop(repo, "stash", "apply", "stash@{1}")


def dropped_stash(repo: Repo) -> None:
    stash(repo)
    repo.git("stash", "drop", "-q")


def autostash(repo: Repo) -> None:
    forked(repo)
    repo.branch("mine", "main~1")
    repo.commit("mine", {"mine.yaml": text("x")})
    repo.write(FILE, text("dirty"))
    stop(repo, "rebase", "--autostash", "main")


def switch(repo: Repo) -> None:
    forked(repo)
    repo.write(FILE, text("dirty"))
    stop(repo, "checkout", "-m", "side")


def ended_rebase(repo: Repo) -> None:
    """A rebase that is over, and the name of a commit that some versions of git leave behind."""
    rebase(repo)
    repo.write(FILE, text("both"))
    repo.git("add", FILE)
    repo.git("rebase", "--continue", env={"GIT_EDITOR": "true"})
    repo.git("update-ref", "REBASE_HEAD", "ORIG_HEAD")


def merge_after_a_rebase(repo: Repo) -> None:
    ended_rebase(repo)
    repo.branch("late", "main~1")
    change(repo, "late")
    stop(repo, "merge", "main")


def stash_after_a_rebase(repo: Repo) -> None:
    ended_rebase(repo)
    stashed(repo)
    change(repo, "late")
    stop(repo, "stash", "pop")


def at_an_edit(repo: Repo) -> None:
    """A rebase that stopped because it was told to, with nothing in conflict."""
    forked(repo)
    repo.branch("mine", "main~1")
    change(repo, "mine")
    stashed(repo)
    edit = {"GIT_SEQUENCE_EDITOR": "sed -i -e s/^pick/edit/"}
    repo.git("rebase", "-q", "-i", "--force-rebase", "main~1", env=edit)
    assert repo.unmerged() == []


def merge_within_a_rebase(repo: Repo) -> None:
    at_an_edit(repo)
    stop(repo, "merge", "main")


def pick_within_a_rebase(repo: Repo) -> None:
    at_an_edit(repo)
    stop(repo, "cherry-pick", "side")


def stash_within_a_rebase(repo: Repo) -> None:
    at_an_edit(repo)
    change(repo, "meanwhile")
    stop(repo, "stash", "pop")


def stash_after_a_pick(repo: Repo) -> None:
    """Everything of the cherry-pick is staged, its commit is not made yet."""
    other = "other.yaml"
    repo.git("config", "merge.conflictStyle", "diff3")
    base = {FILE: text("base"), other: text("base")}
    repo.fork(base, dict.fromkeys(base, text("ours")), {other: text("theirs")})
    repo.git("checkout", "-q", "main~1")
    stashed(repo)
    repo.switch("main")
    repo.git("cherry-pick", "side", check=False)
    assert repo.unmerged() == [other]
    repo.write(other, text("both"))
    repo.git("add", other)
    stop(repo, "stash", "pop")


KNOWN: list[tuple[Callable[[Repo], None], str]] = [
    (merge, "merge"),
    (merge_no_ff_detached, "merge"),
    (squash, "squash"),
    (unrelated, "merge"),
    (pick, "cherry-pick"),
    (pick_of_several, "cherry-pick"),
    (pick_of_a_root, "cherry-pick"),
    (pick_of_a_merge, "cherry-pick"),
    (pick_of_a_merge_by_its_second_parent, "cherry-pick"),
    (revert, "revert"),
    (revert_of_a_merge, "revert"),
    (rebase, "rebase"),
    (rebase_by_patches, "rebase"),
    (rebase_of_a_root, "rebase"),
    (fixup, "rebase"),
    (rebase_with_merges, "rebase"),
    (stash, "stash"),
    (older_stash, "stash"),
    (autostash, "stash"),
    (merge_after_a_rebase, "merge"),
    (stash_after_a_rebase, "stash"),
    (merge_within_a_rebase, "merge"),
    (pick_within_a_rebase, "cherry-pick"),
    (stash_within_a_rebase, "stash"),
    (stash_after_a_pick, "stash"),
]


@pytest.mark.world
@pytest.mark.parametrize("make, name", KNOWN, ids=lambda value: getattr(value, "__name__", value))
def test_an_operation_is_known_by_its_trees(
    repo: Repo, make: Callable[[Repo], None], name: str
) -> None:
    make(repo)
    operation = here(repo)
    assert (operation.name, operation.is_known) == (name, True)
    told = 2 if name == "squash" else 3  # nobody keeps the name that was squashed
    assert written_labels(repo)[:told] == operation.labels[:told]
    assert stages(repo) == {
        number: blob
        for number, tree in enumerate((operation.base, operation.ours, operation.theirs), 1)
        if (blob := repo.git("rev-parse", "-q", "--verify", f"{tree}:{FILE}", check=False).out)
    }


ENDS = (merge, squash, pick, revert, rebase, rebase_by_patches, rebase_with_merges, mail)


@pytest.mark.parametrize("make", [*ENDS, merge_within_a_rebase], ids=lambda make: make.__name__)
def test_the_command_that_ends_it_does(repo: Repo, make: Callable[[Repo], None]) -> None:
    make(repo)
    command = here(repo).finish.split()
    repo.write(FILE, text("both"))
    repo.git("add", FILE)
    assert make is squash or here(repo).finish.split() == command
    repo.git(*command[1:], env={"GIT_EDITOR": "true"})
    assert repo.git("status", "--porcelain").out == ""
    assert here(repo).name == ("rebase" if make is merge_within_a_rebase else "")


@pytest.mark.parametrize(
    "make, name",
    [
        (octopus, "merge"),
        (mail, "am"),
        (pick_without_a_commit, ""),
        (dropped_stash, ""),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_an_operation_whose_trees_git_does_not_keep(
    repo: Repo, make: Callable[[Repo], None], name: str
) -> None:
    make(repo)
    operation = here(repo)
    assert (operation.name, operation.is_known) == (name, False)
    if name == "am":
        assert written_labels(repo) == operation.labels


def test_a_switch_of_branches_with_local_changes(repo: Repo) -> None:
    switch(repo)
    operation = here(repo)
    # some versions of git make a stash of the changes, and keep it until they are merged
    assert (operation.name, operation.is_known) in (("", False), ("stash", True))


def test_a_linked_worktree_has_an_operation_of_its_own(world: World, repo: Repo) -> None:
    rebase(repo)
    repo.git("worktree", "add", "-q", "../linked", "main")
    linked = Repo(world, world.root / "linked")
    assert here(linked).name == ""
    stop(linked, "cherry-pick", repo.head("REBASE_HEAD"))
    assert (here(repo).name, here(linked).name) == ("rebase", "cherry-pick")


def test_nothing_is_under_way(repo: Repo) -> None:
    assert here(repo).name == ""  # not even a commit
    squash(repo)
    repo.git("reset", "-q", "--hard")  # the note of the squash stays
    assert here(repo).name == ""


def test_nothing_is_under_way_after_a_rebase(repo: Repo) -> None:
    ended_rebase(repo)
    assert here(repo).name == ""


# Python decodes a file in ASCII here, unless it is told otherwise
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
NAMED = "größe"


def merge_of_a_name(repo: Repo) -> None:
    forked(repo)
    repo.git("branch", "-m", "side", NAMED)
    stop(repo, "merge", NAMED)


def rebase_of_a_merge_with_a_name(repo: Repo) -> None:
    """The last step of git's list names the merged commit, after the message of the merge."""
    forked(repo)
    repo.branch("mixed", "main~1")
    repo.commit("mixed", {FILE: text("mixed")})
    stop(repo, "merge", "side")
    change(repo, NAMED)
    repo.branch("upstream", "main~1")
    repo.commit("upstream", {"upstream.yaml": text("x")})
    repo.switch("mixed")
    stop(repo, "rebase", "-r", "upstream")


def mail_with_a_name(repo: Repo) -> None:
    forked(repo)
    repo.switch("side")
    repo.git("commit", "-q", "--amend", "-m", NAMED)
    repo.switch("main")
    repo.write("../mail", repo.git("format-patch", "-q", "-1", "side", "--stdout").out)
    stop(repo, "am", "-3", "../mail")


@pytest.mark.parametrize(
    "make",
    [merge_of_a_name, rebase_of_a_merge_with_a_name, mail_with_a_name],
    ids=lambda make: make.__name__,
)
@pytest.mark.costly
def test_names_are_read_as_git_writes_them(repo: Repo, make: Callable[[Repo], None]) -> None:
    """In UTF-8, whatever the locale: it is that of another terminal, or of none."""
    make(repo)
    theirs = written_labels(repo)[2]
    assert NAMED in theirs
    words = (sys.executable, "-m", "kmerge_git")
    encoding = (sys.executable, "-c", "import locale; print(locale.getpreferredencoding())")
    assert repo.world.run(*encoding, env=ASCII).out == "ANSI_X3.4-1968\n"
    listed = repo.world.run(
        *words, "resolve", "--list", "--json", cwd=repo.path, env=ASCII, check=False
    )
    assert json.loads(listed.out)["labels"]["theirs"] == theirs
    shown = repo.world.run(*words, "resolve", "--list", cwd=repo.path, env=ASCII, check=False).out
    assert f"theirs ({theirs})".encode("ascii", "backslashreplace").decode() in shown
    repo.world.run(*words, "solve", "--force", cwd=repo.path, env=ASCII, check=False)
    assert f"\n>>>>>>> {theirs}\n" in repo.text(FILE)


def here(repo: Repo) -> Operation:
    return current_operation(Repository.open(str(repo.path)))


def written_labels(repo: Repo) -> tuple[str, ...]:
    """The labels that git wrote, in the order base, ours, theirs."""
    # newer gits have another word for the base of a patch; it stands in no place of ours
    written = repo.text(FILE).replace("constructed fake ancestor", "constructed merge base")
    found = {line[:7]: line[8:] for line in written.split("\n")}
    return tuple(found.get(7 * mark, "") for mark in "|<>")


def stages(repo: Repo) -> dict[int, str]:
    lines = repo.git("ls-files", "-u", "--", FILE).lines
    return {int(line.split()[2]): f"{line.split()[1]}\n" for line in lines}
