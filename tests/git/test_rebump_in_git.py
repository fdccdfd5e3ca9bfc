"""Policy `rebump` in the real git: whose version goes on top is told by the operation."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from world import Driven, World

from kmerge_git.git import sides as whose
from kmerge_git.git.index_stages import Operation
from kmerge_git.git.repository import Repository
from kmerge_git.merge.plan import Why
from kmerge_git.system import contents
from kmerge_git.whole.operation import current_operation

# base, ours on main, theirs on `side`; what stands if ours, or theirs, goes on top
CHARTS = [
    ("1.2.0", "1.2.1", "1.3.0", "1.3.1", "1.3.0"),
    ("1.2.0", "2.0.0", "1.2.1", "2.0.0", "2.0.1"),
    ("1.2.0", "1.3.0", "1.2.5", "1.3.0", "1.3.1"),
    ("v1.2.3", "v1.2.4", "v1.2.5", "v1.2.6", "v1.2.5"),
    ('"v1.2.4"', '"v1.3.0"', '"v2.0.1"', '"v2.1.0"', '"v2.0.1"'),
    ("'1.2.9'", "'1.2.10'", "'1.2.11'", "'1.2.12'", "'1.2.11'"),
    ("1.2.0", "1.2.1", "1.2.1", "1.2.1", "1.2.1"),  # both alike: no conflict
    ("1.2.0", "1.1.0", "1.3.0", "", ""),  # not both went up
    ("1.2.0", "1.3.0-rc.1", "1.2.1", "", ""),
    ("1.2.0", "1.2.1+a", "1.3.0", "", ""),
]
SHOWS_COMMANDS = Path("/proc/self/cmdline").exists()  # else a lone pick is told by git 2.44 only
NAMES = [f"charts/c{n}/Chart.yaml" for n in range(len(CHARTS))]
POLICY = "kmerge-policy=version:rebump"


def chart(version: str) -> str:
    return f"apiVersion: v2\n# the chart's own\nversion: {version}  # see RELEASING\nname: a\n"


@pytest.fixture
def forked(driven: Driven) -> Driven:
    """Charts that both branches bumped: main, which is checked out, and `side`."""
    driven.write(".git/info/attributes", f"*.yaml merge=kmerge {POLICY}\n")
    base, ours, theirs = (
        {name: chart(versions[n]) for name, versions in zip(NAMES, CHARTS, strict=True)}
        for n in range(3)
    )
    driven.fork(base, ours, theirs)
    return driven


def expect(driven: Driven, mine: str) -> None:
    """Every chart as that side's bumps on top of the other's; the rest in conflict."""
    column = {"ours": 3, "theirs": 4}[mine]
    left = [name for name, row in zip(NAMES, CHARTS, strict=True) if not row[column]]
    assert driven.unmerged() == left
    for name, row in zip(NAMES, CHARTS, strict=True):
        if row[column]:
            assert driven.text(name) == chart(row[column]), row
    text = driven.text(NAMES[7])
    assert "<<<<<<<" in text and "(policy rebump: one side did not raise the version)" in text
    assert current_operation(Repository.open(driven.path)).mine == mine


def expect_silence(driven: Driven) -> None:
    """Every chart that both changed is in conflict, and the conflict says why."""
    same = NAMES[6]
    assert driven.unmerged() == [name for name in NAMES if name != same]
    assert "(policy rebump: only a merge, rebase or cherry-pick shows" in driven.text(NAMES[0])


@pytest.mark.costly
def test_a_merge(forked: Driven) -> None:
    done = forked.merge()
    expect(forked, "ours")
    what = "set to 1.3.1: 1.3.0 with the same bump (patch) as in ours (rule 12 policy rebump)"
    assert f"{NAMES[0]}: version: {Why.BOTH_CHANGED}: {what}" in done.err


def test_a_merge_by_kmerge_itself(forked: Driven) -> None:
    forked.kmerge("merge", "side", check=False)
    expect(forked, "ours")


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
@pytest.mark.costly
def test_a_rebase(forked: Driven, backend: str) -> None:
    """What is rebased is theirs to git, and goes on top: here the commit of `side`."""
    forked.switch("side")
    forked.git("rebase", backend, "main", check=False)
    expect(forked, "theirs")


@pytest.mark.skipif(not SHOWS_COMMANDS, reason="the command that runs is not shown")
@pytest.mark.costly
def test_a_cherry_pick(forked: Driven) -> None:
    forked.git("cherry-pick", "side", check=False)
    expect(forked, "theirs")


@pytest.mark.costly
def test_several_picks(forked: Driven) -> None:
    forked.switch("side")
    forked.commit("more", {"x.yaml": "a: 1\n"})
    forked.switch("main")
    forked.git("cherry-pick", "side~2..side", check=False)
    expect(forked, "theirs")


@pytest.mark.costly
def test_a_revert_puts_nothing_on_top(forked: Driven) -> None:
    forked.commit("on", {name: chart(row[2]) for name, row in zip(NAMES, CHARTS, strict=True)})
    forked.git("revert", "--no-edit", "HEAD~1", check=False)
    assert NAMES[0] in forked.unmerged()
    assert "(policy rebump: only a merge, rebase or cherry-pick shows" in forked.text(NAMES[0])
    assert current_operation(Repository.open(forked.path)).mine == ""


@pytest.mark.costly
def test_a_stash_puts_nothing_on_top(forked: Driven) -> None:
    forked.git("checkout", "-q", "main~1")
    for name, row in zip(NAMES, CHARTS, strict=True):
        forked.write(name, chart(row[2]))
    forked.git("stash")
    forked.switch("main")
    forked.git("stash", "pop", check=False)
    expect_silence(forked)


@pytest.mark.costly
def test_a_linked_worktree(forked: Driven) -> None:
    forked.git("worktree", "add", "-q", "--detach", "../linked", "side")
    linked = Driven(forked.world, forked.path.parent / "linked")
    linked.git("rebase", "main", check=False)
    expect(linked, "theirs")


@pytest.mark.costly
def test_solve_and_preview_know_the_operation(forked: Driven) -> None:
    """Markers of git's own merge are solved as the driver would have; a preview says the same."""
    assert forked.kmerge("preview", "side", "--json", check=False).out.count('"neither"') == 4
    rebased = forked.kmerge("preview", "--rebase", "side", "--json", check=False).out
    assert "with the same bump (patch) as in theirs" in rebased
    forked.git("cherry-pick", "side", check=False, env={"KMERGE": "0"})
    assert NAMES[0] in forked.unmerged()
    forked.kmerge("solve", check=False)
    expect(forked, "theirs")


@pytest.mark.parametrize("operation, mine", [("merge", "ours"), ("cherry-pick", "theirs")])
@pytest.mark.parametrize("policy", ["", "kmerge-policy=**:higher"])
@pytest.mark.costly
def test_a_label_says_what_it_would_write(
    forked: Driven, operation: str, mine: str, policy: str
) -> None:
    """Where the policy is not set for the chart's version, and only where it would decide."""
    forked.write(".git/info/attributes", f"*.yaml merge=kmerge {policy}\n")
    forked.git(operation, "side", check=False)
    column = {"ours": 3, "theirs": 4}[mine]
    advice = "policy rebump would set it to "
    for name, row in zip(NAMES, CHARTS, strict=True):
        label = next((ln for ln in forked.text(name).splitlines() if ln[:7] == "<<<<<<<"), "")
        version = row[column].strip("\"'")
        if row[1] == row[2]:
            assert not label
        elif version and not policy:
            assert label.partition(" (")[2] == f"version: {Why.BOTH_CHANGED}; {advice}{version})"
        else:
            assert (advice in label) == bool(version) and len(label) <= 160


@pytest.mark.parametrize("operation, mine", [("merge", "ours"), ("cherry-pick", "theirs")])
@pytest.mark.costly
def test_resolve_has_it_as_an_answer(forked: Driven, operation: str, mine: str) -> None:
    """Without the policy, it can be taken once, for the same places and with the same versions."""
    forked.write(".git/info/attributes", "*.yaml merge=kmerge\n")
    forked.git(operation, "side", check=False)
    report = json.loads(forked.kmerge("resolve", "--list", "--json", check=False).out)
    offered = [one["path"] for one in report["conflicts"] if "rebump" in one["choices"]]
    column = {"ours": 3, "theirs": 4}[mine]
    rows = [*zip(NAMES, CHARTS, strict=True)]
    assert offered == [name for name, row in rows if row[column] and row[1] != row[2]]
    done = forked.kmerge("resolve", "--take", "rebump", check=False)
    assert "not a version" not in done.said
    for name, row in rows:
        if row[column]:
            assert forked.text(name) == chart(row[column]), row
    assert forked.unmerged() == [name for name, row in rows if not row[column]]


@pytest.mark.costly
def test_resolve_has_it_not_where_nothing_is_on_top(forked: Driven) -> None:
    forked.write(".git/info/attributes", "*.yaml merge=kmerge\n")
    forked.commit("on", {name: chart(row[2]) for name, row in zip(NAMES, CHARTS, strict=True)})
    forked.git("revert", "--no-edit", "HEAD~1", check=False)
    report = json.loads(forked.kmerge("resolve", "--list", "--json", check=False).out)
    assert report["conflicts"] and "would set it" not in str(report)
    assert not [one for one in report["conflicts"] if "rebump" in one["choices"]]


@pytest.mark.costly
def test_explain_says_which_value_was_written(forked: Driven) -> None:
    forked.merge()
    said = "set to 1.3.1: 1.3.0 with the same bump"
    assert said in forked.kmerge("explain").out
    forked.commit("merged")
    assert said in forked.kmerge("explain", "HEAD").out


@pytest.mark.parametrize(
    "name, labels, mine",
    [
        ("merge", ("1a2b3c4", "HEAD", "side"), "ours"),
        ("squash", ("1a2b3c4", "HEAD", "side"), "ours"),
        ("rebase", ("parent of 1a2b3c4 (bump)", "HEAD", "1a2b3c4 (bump)"), "theirs"),
        ("rebase", ("1a2b3c4", "HEAD", "side"), "ours"),  # a merge that is made anew
        ("am", ("constructed merge base", "HEAD", "bump"), "theirs"),
        ("stash", ("Stash base", "Updated upstream", "Stashed changes"), ""),
        ("", ("base", "ours", "theirs"), ""),
    ],
)
def test_whose_change_goes_on_top_in_an_operation(
    name: str, labels: tuple[str, str, str], mine: str
) -> None:
    assert Operation(name, "", "", "", labels).mine == mine


@pytest.mark.parametrize(
    "base, theirs, mine",
    [
        ("1a2b3c4", "side", "ours"),
        ("merged common ancestors", "side", "ours"),
        ("parent of 1a2b3c4 (bump)", "1a2b3c4 (bump)", "theirs"),
        ("(empty tree)", "1a2b3c4 (bump)", "theirs"),
        ("constructed merge base", "bump", "theirs"),
        ("1a2b3c4 (bump)", "parent of 1a2b3c4 (bump)", ""),
        ("1a2b3c4 (bump)", "(empty tree)", ""),
        ("Stash base", "Stashed changes", ""),
    ],
)
def test_what_labels_say(base: str, theirs: str, mine: str) -> None:
    assert whose.by_labels(base, theirs) == mine


def showing(line: str) -> Callable[[str], bytes]:
    """How files are read where the system shows one command above this process, or none."""
    shown = {
        f"/proc/{os.getpid()}/stat": b"7 (python) (3) S 17 7 7",
        "/proc/17/cmdline": line.replace(" ", "\0").encode(),
    }
    return lambda file: shown.get(file, b"") if file.startswith("/proc/") else contents(file)


@pytest.mark.parametrize(
    "files, variables, mine",
    [
        (["rebase-merge/done:pick 1a2b3c4 x"], {}, "theirs"),
        (["rebase-merge/done:pick 1a2b3c4 x\nmerge -C 1a2b3c4 side"], {}, "ours"),
        (["rebase-apply/next:1"], {"GITHEAD_1a": "side"}, "theirs"),
        (["CHERRY_PICK_HEAD:1a2b3c4"], {}, "theirs"),
        (["REVERT_HEAD:1a2b3c4"], {}, ""),
        (["sequencer/todo:pick 1a2b3c4 x"], {}, "theirs"),
        (["sequencer/todo:revert 1a2b3c4 x"], {}, ""),
        (["MERGE_HEAD:1a2b3c4"], {}, "ours"),
        ([], {"GITHEAD_1a2b3c4": "side"}, "ours"),
        ([], {}, ""),
    ],
)
@pytest.mark.parametrize("place", [".git", "pointed-at", "in-a-variable"])
def test_what_lies_in_the_folder_of_git(
    place: str,
    files: list[str],
    variables: dict[str, str],
    mine: str,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the system does not show which command runs, in a folder of git, by its pointer, by GIT_DIR."""
    monkeypatch.setattr(whose, "contents", showing(""))
    folder = world.root / place
    folder.mkdir()
    if place == "in-a-variable":
        monkeypatch.setenv("GIT_DIR", str(folder))
    elif place == "pointed-at":
        (world.root / ".git").write_text(f"gitdir: {folder}\n")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for file in files:
        name, _, text = file.partition(":")
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text + "\n")
    assert whose.mine() == mine


@pytest.mark.parametrize(
    "line, mine",
    [
        ("git merge side", "ours"),
        ("git -c a=b -C /x --no-pager cherry-pick 1a2b3c4", "theirs"),
        ("merge side", "ours"),  # `git-merge`
        ("git rebase main", "theirs"),
        ("git merge-tree --write-tree a b", "ours"),
        ("git merge-tree --merge-base=c a b", ""),
        ("git stash pop", ""),
        ("git revert HEAD", ""),
        ("git my-alias", None),
        ("git", None),
        ("git -c", None),
    ],
)
def test_what_a_command_is_for(
    line: str, mine: str | None, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None: it is not told by the command, but by what lies in git's folder, or by a variable."""
    command = line if line.startswith("git") else f"git-{line}"
    monkeypatch.setattr(whose, "contents", showing(f"/usr/bin/{command}"))
    monkeypatch.setenv("GITHEAD_1a2b3c4", "side")
    assert whose.mine() == ("ours" if mine is None else mine)
    (world.root / ".git").mkdir()
    (world.root / ".git" / "CHERRY_PICK_HEAD").write_text("1a2b3c4\n")
    assert whose.mine() == ("theirs" if mine is None else mine)
