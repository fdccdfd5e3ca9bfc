"""`kmerge replay --pulls` counts what git itself says about the branches of pull requests."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from forge import Forge
from history import every_kind, write_history
from manifests import deployment
from world import Repo

from kmerge_git.git.repository import Commit, Repository
from kmerge_git.replay.past_merges import Chosen, choose
from kmerge_git.replay.pull_requests import HINT, Heads, heads_of


def replay(repo: Repo, *args: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(repo.kmerge("replay", "--json", *args).out)
    return report


def counts_of(report: dict[str, Any]) -> dict[str, int]:
    squashed = report["squash_merges"]
    return {
        "merges": report["merges"]["replayed"],
        "criss-cross": report["merges"]["criss_cross"],
        "files": report["counts"]["files"],
        "conflicts": report["counts"]["git_conflicts"],
        "squash merges": squashed["replayed"],
        "files of squash merges": squashed["counts"]["files"],
        "conflicts of squash merges": squashed["counts"]["git_conflicts"],
    }


def by_git(repo: Repo) -> dict[str, int]:
    """The same, slowly: by `git merge-tree`, one merge after the other."""
    refs = repo.git("for-each-ref", "--format=%(refname)", "refs/remotes/origin/pull").lines
    merges = {
        merge for ref in ["HEAD", *refs] for merge in repo.git("rev-list", "--merges", ref).lines
    }
    found: Counter[str] = Counter()
    for merge in merges:
        ours, theirs = repo.git("rev-parse", f"{merge}^1", f"{merge}^2").lines
        one_merge(repo, ours, theirs, found, "")
    log = repo.git("log", "--first-parent", "--no-merges", "--format=%H %P %s").lines
    for row in log:
        number = re.search(r" \(#(\d+)\)$", row)
        if number and f"refs/remotes/origin/pull/{number[1]}" in refs:
            head = f"refs/remotes/origin/pull/{number[1]}"
            one_merge(repo, row.split()[1], head, found, "squash ")
    found["merges"] = found.pop("merge")
    return dict(found)


def one_merge(repo: Repo, ours: str, theirs: str, found: Counter[str], kind: str) -> None:
    bases = repo.git("merge-base", "--all", ours, theirs).lines
    if len(bases) > 1:
        found["criss-cross"] += 1
        return
    of = f" of {kind}merges" if kind else ""
    found["squash merges" if kind else "merge"] += 1
    merged = repo.git("merge-tree", "--write-tree", "--name-only", ours, theirs, check=False).lines
    conflicts = set(merged[1 : merged.index("")] if "" in merged else merged[1:])
    changed = [
        set(repo.git("diff", "--name-only", bases[0], side).lines) for side in (ours, theirs)
    ]
    differing = set(repo.git("diff", "--name-only", ours, theirs).lines)
    both = {name for name in changed[0] & changed[1] & differing if not name.endswith(".md")}
    found[f"files{of}"] += len(both)
    found[f"conflicts{of}"] += len(both & conflicts)


@pytest.mark.costly
@pytest.mark.parametrize("seed", [1])
def test_what_pull_requests_hold_is_what_git_says(repo: Repo, seed: int) -> None:
    forge = Forge(seed)
    for number in range(1, 61):
        forge.pull(number)
    forge.write(repo)
    report = replay(repo, "--pulls")
    assert counts_of(report) == by_git(repo)
    assert all(counts_of(report).values())


def test_how_the_heads_are_fetched_is_said(repo: Repo) -> None:
    repo.commit("base", {"a.yaml": deployment()})
    repo.git("update-ref", "refs/pull/7/merge", "HEAD")  # a merge that the server tries
    repo.git("update-ref", "refs/remotes/origin/feature/pull/7", "HEAD")  # a branch
    done = repo.kmerge("replay", "--pulls", check=False)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"kmerge: this clone has no refs of pull requests; {HINT}\n"
    assert HINT == (
        "run `git fetch origin '+refs/pull/*/head:refs/remotes/origin/pull/*'` (GitHub), "
        "`git fetch origin '+refs/merge-requests/*/head:refs/remotes/origin/"
        "merge-requests/*'` (GitLab) or `git fetch origin '+refs/pull-requests/*/from:"
        "refs/remotes/origin/pull-requests/*'` (Bitbucket Server)"
    )
    assert "run `kmerge replay --pulls` for merges in the branches of pull requests\n" in (
        repo.kmerge("replay").out
    )


@pytest.mark.parametrize(
    "form, refspec",
    [
        ("refs/pull/7/head", "+refs/pull/*/head:refs/remotes/origin/pull/*"),
        ("refs/pull/7/head", "+refs/pull/*/head:refs/remotes/origin/pr/*"),
        ("refs/pull/7/head", "+refs/pull/*:refs/remotes/origin/pull/*"),
        ("refs/pull/7/head", "+refs/*:refs/*"),
        ("refs/merge-requests/7/head", "+refs/merge-requests/*/head:refs/remotes/o/mr/*"),
        ("refs/merge-requests/7/head", "+refs/*:refs/*"),
        ("refs/pull-requests/7/from", "+refs/pull-requests/*/from:refs/remotes/o/pull-requests/*"),
        ("refs/pull-requests/7/from", "+refs/*:refs/*"),
    ],
)
def test_what_was_fetched_from_a_server(repo: Repo, form: str, refspec: str) -> None:
    """The commands of the hint, and other ways that people have."""
    write_history(repo, [every_kind(0)])
    repo.git("update-ref", form, "HEAD")
    repo.git("update-ref", "refs/heads/main", "HEAD^")
    repo.git("init", "-q", "clone")
    clone = Repo(repo.world, repo.path / "clone")
    clone.git("fetch", "-q", repo.path, refspec, "+refs/heads/main:refs/remotes/origin/main")
    clone.git("reset", "-q", "--hard", "refs/remotes/origin/main")
    assert replay(clone)["merges"]["replayed"] == 0
    assert replay(clone, "--pulls")["merges"]["replayed"] == 1
    heads = heads_of(Repository.open(str(clone.path)), (), pulls=True)
    assert [*heads.numbered] == ["!7" if "merge-requests" in form else "#7"]


def test_other_refs_to_start_from(repo: Repo) -> None:
    """What several of them reach counts once; nothing is said of a name."""
    write_history(repo, [every_kind(number) for number in range(4)])
    names = [
        "heads/work/\N{RIGHT-TO-LEFT OVERRIDE}'$(touch)`",
        "heads/work/b/c",
        "tags/v1",
        "heads/other",
    ]
    for name in names:
        repo.git("update-ref", f"refs/{name}", "HEAD")
    repo.git("tag", "-a", "-m", "x", "annotated", "HEAD")
    repo.git("update-ref", "refs/odd/tree", repo.head("HEAD^{tree}"))
    repo.git("update-ref", "refs/heads/main", "HEAD~6")

    def merges(*args: str) -> int:
        count: int = replay(repo, *args)["merges"]["replayed"]
        return count

    assert merges() == 2
    assert merges("--refs", "heads/work/*") == merges("--refs", "refs/heads/work/*/c") == 4
    assert merges("--refs", "tags/*", "--refs", "heads/other", "--last", "3") == 3
    assert merges("--refs", "refs/tags/annotated") == 4
    assert merges("main~1..main", "--refs", "heads/other") == 3
    out = repo.kmerge("replay", "--refs", "*odd*", "--refs", "heads/work/*").out
    assert out.startswith("4 merges replayed\n1 ref skipped: the commit is not in this clone\n")
    shown = [line for line in out.splitlines() if "--show N" in line]
    assert shown == [
        "disagreements (run `kmerge replay --refs '*odd*' --refs 'heads/work/*' --show N` to see one)"
    ]
    assert "override" not in out and "touch" not in out
    done = repo.kmerge("replay", "--refs", "heads/\N{ESCAPE}[31m*", check=False)
    assert (done.code, done.out, "\N{ESCAPE}" in done.err) == (2, "", False)
    assert done.err.endswith("; `git for-each-ref` lists all refs\n")


def test_a_head_below_a_hole_is_reached(repo: Repo) -> None:
    """The history of HEAD misses a commit; that of a ref is whole."""
    write_history(repo, [every_kind(number) for number in range(6)])
    repo.git("update-ref", "refs/remotes/origin/pull/1", "HEAD~6")
    repo.git("update-ref", "refs/remotes/origin/pull/2", "HEAD~9")  # the first one reaches it
    oid = repo.head("HEAD~3")
    (repo.path / ".git/objects" / oid[:2] / oid[2:]).unlink()
    assert replay(repo)["merges"]["replayed"] == 0
    assert replay(repo, "--pulls")["merges"]["replayed"] == 4


# -- which commits are squash merges

A, B, C = "a" * 40, "b" * 40, "c" * 40
HEADS = Heads(frozenset((A, B, C)), 0, {"#7": {A}, "#8": {B}, "!7": {C}, "#9": {A, B}, "#11": {A}})


def commit(oid: str, *parents: str, message: str = "work") -> Commit:
    return Commit(oid, "", parents, message.partition("\n")[0], message)


@pytest.mark.parametrize(
    "message, head",
    [
        ("web: two (#7)", A),
        ("web: two (#8) (#7)", A),  # the last one
        ("web: two (#7) \n\nmore (#8)\n", A),
        ("web: two (#007)", A),
        ('Revert "web: two (#8)" (#7)', A),
        ('Revert "web: two (#7)"', ""),
        ("web: two (#7), again", ""),
        ("web: two (#6)", ""),
        ("web: two #7", ""),
        ("web: two (#7777777777)", ""),
        ("web: two", ""),
        ("web: two\n\nSee merge request group/project!7", C),
        ("web: two\n\nSee merge request group/project!6\n\nSee merge request !7\n", C),
        ("web: two\n\nSee merge request group/project!6", ""),
        ("web: two (#7)\n\nSee merge request group/project!7", A),
        (f"web: two (#7)\n\n(cherry picked from commit {B})", ""),
        ('Revert "web" (#7)\n\nThis reverts commit ' + B + ".", A),
    ],
)
def test_a_squash_merge_is_known_by_its_message(message: str, head: str) -> None:
    history = [commit("x", "y", message=message), commit("y", "z"), commit("z")]
    chosen = choose(history, picks=False, most=None, heads=HEADS, tip="x")
    assert [past for past in chosen.commits if past[1]] == ([("x", head)] if head else [])


def chosen(history: list[Commit], most: int | None = None) -> Chosen:
    return choose(history, picks=False, most=most, heads=HEADS, tip="x")


def test_squash_merges_are_on_the_first_parents_only() -> None:
    history = [
        commit("x", "w", "b", message="Merge (#7)"),  # no squash
        commit("b", "a", message="in the branch (#8)"),
        commit("w", "v", message="on main (#7)"),
        commit("v", "a", message="on main (#9)"),  # of two remotes
        commit("a", message="the first (#11)"),
    ]
    assert chosen(history) == Chosen([("x", ""), ("w", A)], False, 5, 1)
    assert chosen(history, most=1).commits == [("x", "")]
    assert chosen([commit("o", "x"), *history[:3]]).commits == [("x", ""), ("w", A)]


def test_what_a_squash_merge_comes_to_is_told_apart(repo: Repo) -> None:
    """Its files, its conflicts and its disagreements are not those of merges."""
    # ours and theirs in this order, a disagreement, and damage by git
    write_history(repo, [every_kind(number) for number in (0, 3, 6)])
    heads = [repo.head(f"HEAD{up}^2") for up in ("", "~3", "~6")]
    plain = replay(repo)
    for number, head in enumerate(heads, 1):
        repo.git("update-ref", f"refs/pull/{number}/head", head)
    # the same merges, as the button makes them
    for number, up in ((3, "HEAD~6"), (2, "HEAD~3"), (1, "HEAD")):
        tree, parent = repo.head(f"{up}^{{tree}}"), repo.head(f"{up}^1")
        squash = repo.git("commit-tree", "-p", parent, "-m", f"feat (#{number})", tree).out.strip()
        repo.git("update-ref", f"refs/heads/squash-{number}", squash)
    one = replay(repo, "squash-1", "--pulls")
    assert one["merges"]["replayed"] == 2  # those below it
    assert one["squash_merges"]["replayed"] == 1
    two = replay(repo, "squash-2", "--refs", "refs/pull/2/head")
    assert (two["merges"]["replayed"], two["squash_merges"]["replayed"]) == (1, 1)
    assert two["disagreements"] == two["git_broken"] == []
    three = replay(repo, "squash-3", "--refs", "refs/pull/3/head")["squash_merges"]
    assert three["counts"]["resolved_same_bytes"] == 1
    total = {
        name: one["counts"][name] + one["squash_merges"]["counts"][name] for name in plain["counts"]
    }
    assert total == plain["counts"]
    assert one["squash_merges"]["counts"]["git_broken"] == 1
    assert one["counts"]["git_broken"] == 0
    out = repo.kmerge("replay", "squash-1", "--pulls").out
    assert out.startswith("2 merges, 1 squash merge replayed\n")
    assert "disagreements (run `kmerge replay squash-1 --pulls --show N` to see one)\n" in out
    table = out.partition("squash merges (made by the server, so git had no conflict)\n")[2]
    assert table.splitlines()[:2] == [
        "      1  manifests that both sides changed",
        "      1  git leaves no conflict, but its result is broken",
    ]
    repo.kmerge("replay", "squash-1", "--pulls", "--html", "../page.html")
    page = (repo.path.parent / "page.html").read_text("utf-8")
    assert "<h2>Squash merges <span>1</span></h2>" in page
    assert "<tr><td>1</td><td>git leaves no conflict, but its result is broken</td></tr>" in page
    assert [case["number"] for case in one["disagreements"]] == [1]
    assert "apps/app-3.yaml" in repo.kmerge("replay", "squash-1", "--pulls", "--show", "1").out
