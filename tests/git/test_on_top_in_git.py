"""Policies `rebump` and `mine` in the real git, in every operation, against the truth of a world."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import Driven
from worlds.charts import ATTRIBUTE, CHANGES, LISTS, Chart, charts, standing

from kmerge_git.git import sides
from kmerge_git.git.repository import Repository
from kmerge_git.merge.plan import Why
from kmerge_git.whole.operation import current_operation

CHARTS = {f"charts/c{n}/Chart.yaml": chart for n, chart in enumerate([*charts()][::29])}
SHOWS_COMMANDS = Path("/proc/self/cmdline").exists()  # else a lone pick is told by git 2.44 only
MAIN, SIDE = 1, 2  # the numbers of the branches in a chart
ORIGIN = "refs/remotes/origin"


@pytest.fixture
def forked(driven: Driven) -> Driven:
    """Charts that both branches changed: main, which is checked out and the default, and `side`."""
    driven.write(".git/info/attributes", f"*.yaml merge=kmerge kmerge-policy={ATTRIBUTE}\n")
    driven.fork(*({name: chart.text(n) for name, chart in CHARTS.items()} for n in range(3)))
    driven.git("update-ref", f"{ORIGIN}/main", "main")
    driven.git("symbolic-ref", f"{ORIGIN}/HEAD", f"{ORIGIN}/main")
    return driven


def expect(driven: Driven, mine: int, *, with_changes: bool) -> None:
    truths = {name: c.truth(mine, with_changes=with_changes) for name, c in CHARTS.items()}
    assert driven.unmerged() == sorted(name for name, (_, left) in truths.items() if left)
    for name, (text, left) in truths.items():
        found = driven.text(name)
        if not left:
            assert found == text, CHARTS[name]
        labels = " ".join(line for line in found.split("\n") if line[:7] == "<" * 7)
        for field in ("version", CHANGES):
            assert (f"{field}:" in labels) == (field in left), (CHARTS[name], labels)


@pytest.mark.costly
def test_the_default_branch_is_merged_into_a_branch(forked: Driven) -> None:
    forked.switch("side")
    done = forked.git("merge", "main", check=False)
    expect(forked, SIDE, with_changes=True)
    assert f"{CHANGES}: {Why.BOTH_CHANGED}, ours taken (rule 12 policy mine)" in done.err


@pytest.mark.costly
def test_a_branch_is_merged_into_the_default_branch(forked: Driven) -> None:
    """What main has is published, and what `side` has is new; but nothing tells git so."""
    forked.merge()
    expect(forked, MAIN, with_changes=False)


@pytest.mark.parametrize("what", ["no name", "no branch", "detached"])
@pytest.mark.costly
def test_the_default_branch_or_the_own_one_is_unknown(forked: Driven, what: str) -> None:
    forked.git("checkout", "-q", *(["--detach"] if what == "detached" else []), "side")
    if what == "no name":
        forked.git("symbolic-ref", "-d", f"{ORIGIN}/HEAD")
    elif what == "no branch":
        forked.git("update-ref", "-d", f"{ORIGIN}/main")
    forked.git("merge", "main", check=False)
    expect(forked, SIDE, with_changes=False)


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.costly
def test_a_rebase(forked: Driven, backend: str, is_known: bool) -> None:
    """What is rebased goes on top, whatever the default branch is."""
    if not is_known:
        forked.git("symbolic-ref", "-d", f"{ORIGIN}/HEAD")
    forked.switch("side")
    forked.git("rebase", backend, "main", check=False)
    expect(forked, SIDE, with_changes=True)


@pytest.mark.skipif(not SHOWS_COMMANDS, reason="the command that runs is not shown")
@pytest.mark.costly
def test_a_cherry_pick(forked: Driven) -> None:
    forked.git("cherry-pick", "side", check=False)
    expect(forked, SIDE, with_changes=True)


@pytest.mark.costly
def test_am(forked: Driven) -> None:
    patch = forked.git("format-patch", "-1", "--stdout", "side").out
    forked.git("am", "-3", stdin=patch, check=False)
    expect(forked, SIDE, with_changes=True)


@pytest.mark.costly
def test_a_revert_puts_nothing_on_top(forked: Driven) -> None:
    """Main has what `side` did, goes on to its own versions, and takes the first one back."""
    forked.git("reset", "-q", "--hard", "side")
    forked.commit("on", {name: chart.text(MAIN) for name, chart in CHARTS.items()})
    done = forked.git("revert", "--no-edit", "HEAD~1", check=False)
    assert "rule 12" not in done.err
    for policy in ("rebump", "mine"):
        assert f"(policy {policy}: only a merge, rebase or cherry-pick shows" in done.err
    for name, chart in CHARTS.items():
        fields = [
            tuple(of[n] for n in (SIDE, MAIN, 0)) for of in (chart.versions, LISTS[chart.changes])
        ]
        is_left = any(standing(*of) is None and of != (of[0], None, None) for of in fields)
        assert (name in forked.unmerged()) == is_left, chart


@pytest.mark.costly
def test_a_stash_puts_nothing_on_top(forked: Driven) -> None:
    forked.git("checkout", "-q", "main~1")
    for name, chart in CHARTS.items():
        forked.write(name, chart.text(SIDE))
    forked.git("stash")
    forked.switch("main")
    forked.git("stash", "pop", check=False)
    expect(forked, 0, with_changes=False)


@pytest.mark.parametrize("head", ["side", "main"])
@pytest.mark.costly
def test_commands_of_whole_merges_say_the_same(forked: Driven, head: str) -> None:
    """A merge by kmerge, one that is solved afterwards, and a preview."""
    other, mine = ("main", SIDE) if head == "side" else ("side", MAIN)
    forked.switch(head)
    taken = forked.kmerge("preview", other, "--json", check=False).out
    assert ('"policy mine"' in taken) == (head == "side")
    there = "side" if head == "main" else "main"
    into = forked.kmerge("preview", head, "--into", there, "--json", check=False).out
    assert ('"policy mine"' in into) == (there == "side")
    forked.kmerge("merge", other, check=False)
    expect(forked, mine, with_changes=head == "side")
    forked.git("reset", "-q", "--hard")
    forked.git("merge", other, check=False, env={"KMERGE": "0"})
    forked.kmerge("solve", check=False)
    expect(forked, mine, with_changes=head == "side")
    assert current_operation(Repository.open(forked.path)).mine == "ours"


@pytest.mark.costly
def test_a_tree_is_merged_for_branches_that_are_not_checked_out(forked: Driven) -> None:
    """Main is ours, not the branch that is checked out: a label says so (git 2.44), or nobody."""
    forked.switch("side")
    merged = forked.git("merge-tree", "--write-tree", "main", "side", check=False)
    for name, chart in CHARTS.items():
        text, left = chart.truth(MAIN, with_changes=False)
        found = forked.show(f"{merged.lines[0]}:{name}")
        assert found == text if not left else "<<<<<<<" in found


@pytest.mark.costly
def test_each_branch_that_is_refreshed_is_asked_for(driven: Driven) -> None:
    chart = Chart(("1.2.0", "1.3.0", "1.2.1"), "replaced", is_below=True)
    lines = f"*.yaml merge=kmerge kmerge-policy={ATTRIBUTE}\n"
    driven.fork(*({"Chart.yaml": chart.text(n), ".gitattributes": lines} for n in range(3)))
    driven.git("branch", "trunk", "side")
    driven.git("update-ref", f"{ORIGIN}/trunk", "trunk")
    driven.git("symbolic-ref", f"{ORIGIN}/HEAD", f"{ORIGIN}/trunk")
    driven.kmerge("refresh", "--with", "main", "side", "trunk", check=False)
    assert driven.show("side:Chart.yaml") == chart.truth(SIDE, with_changes=True)[0]
    assert driven.head("trunk") == driven.head(f"{ORIGIN}/trunk")


@pytest.mark.costly
def test_a_merge_is_explained_as_it_was_made(driven: Driven) -> None:
    """While the branch it was made into is checked out; else it is not known."""
    chart = Chart(("1.2.0", "1.2.1", "1.3.0"), "replaced", is_below=True)
    driven.write(".git/info/attributes", f"*.yaml merge=kmerge kmerge-policy={ATTRIBUTE}\n")
    driven.fork(*({"Chart.yaml": chart.text(number)} for number in range(3)))
    driven.git("update-ref", f"{ORIGIN}/main", "main")
    driven.git("symbolic-ref", f"{ORIGIN}/HEAD", f"{ORIGIN}/main")
    driven.switch("side")
    driven.git("merge", "main")
    assert "rule 12 policy mine" in driven.kmerge("explain", "HEAD").out
    driven.commit("on", {"x": "1"})
    said = driven.kmerge("explain", "HEAD~1").out
    assert (
        "rule 12 policy mine" not in said
        and "policy mine: the merge is into the default branch" in said
    )


@pytest.mark.costly
def test_the_side_is_known_without_a_policy_rebump(driven: Driven) -> None:
    driven.write(
        ".git/info/attributes", f"*.yaml merge=kmerge kmerge-policy=version:theirs,{CHANGES}:mine\n"
    )
    chart = Chart(("1.2.0", "1.3.0", "1.2.1"), "replaced", is_below=True)
    driven.fork(*({"Chart.yaml": chart.text(number)} for number in range(3)))
    driven.switch("side")
    driven.git("rebase", "main")
    assert driven.text("Chart.yaml") == chart.text(SIDE)


@pytest.mark.parametrize(
    "name, is_topic",
    [
        ("HEAD", True), ("side", True), ("origin/side", True), ("HEAD:charts/a/Chart.yaml", True),
        ("main", False), ("origin/main", False), ("up/main", False), ("refs/heads/main", False),
        ("", False), ("none", False), ("HEAD~1", False), ("%X", False),
    ],
)  # fmt: skip
def test_which_branch_is_certainly_not_the_default_one(
    driven: Driven, name: str, is_topic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven.commit("one", {"x": "1"})
    driven.commit("two", {"x": "2"})
    for ref in (f"{ORIGIN}/main", f"{ORIGIN}/side", "refs/remotes/up/main"):
        driven.git("update-ref", ref, "HEAD")
    driven.git("symbolic-ref", f"{ORIGIN}/HEAD", f"{ORIGIN}/main")
    driven.git("checkout", "-q", "-b", "side")
    monkeypatch.chdir(driven.path)
    assert sides.is_topic_branch(name) == is_topic
    monkeypatch.setenv("GITHEAD_1a2b3c4", "main")
    assert sides.is_topic_branch(name) == (is_topic or name == "%X")
    driven.git("symbolic-ref", "-d", f"{ORIGIN}/HEAD")
    assert not sides.is_topic_branch(name)
