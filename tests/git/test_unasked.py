"""On which branches git would not ask the driver: what it really asks, and what kmerge says.

The clone of a team has a branch for each row of the first table. The rows of the second table set
the clone up in another way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from world import BASE, OURS, THEIRS, Repo, living

from kmerge_git.git import unasked
from kmerge_git.git.unasked import WAYS, told_branches

FILES = ["app.yaml", "legacy/a.yaml", "own.yaml"]
DRIVEN = FILES[:2]  # own.yaml is an exception of the team, on nearly every branch
TEAM = "*.yaml merge=kmerge\nown.yaml merge=union\n"
NAME = ".gitattributes"
# attribute files of the branch, the files that git asks about, what kmerge says
BRANCHES: dict[str, tuple[dict[str, str], list[str], str]] = {
    "same": ({NAME: TEAM}, DRIVEN, ""),
    "old": ({}, [], "2 files merged by git"),
    "unset": (
        {NAME: f"{TEAM}legacy/** -merge\n"},
        ["app.yaml"],
        "1 file merged by git's binary merge",
    ),
    "union": ({NAME: f"{TEAM}legacy/** merge=union\n"}, ["app.yaml"], "1 file merged by union"),
    "other": ({NAME: f"{TEAM}*.yaml merge=other\n"}, [], "2 files merged by other"),
    "unspecified": ({NAME: f"{TEAM}legacy/** !merge\n"}, ["app.yaml"], "1 file merged by git"),
    "nested": ({NAME: TEAM, f"legacy/{NAME}": "* !merge\n"}, ["app.yaml"], "1 file merged by git"),
    "mixed": ({NAME: "app.yaml -merge\n"}, [], "2 files merged by git's binary merge and git"),
    "wider": ({NAME: "*.yaml merge=kmerge\n"}, FILES, ""),
    "pages": ({}, [], ""),  # it has none of the files
    "origin/old": ({}, [], "2 files merged by git"),
}
SAID = {name: f"{name} ({said})" for name, (_, _, said) in BRANCHES.items() if said}
MISSING = "git uses kmerge on main, but not on this branch"


class Team(Repo):
    """A clone whose branches can be merged with `topic`, while git notes what it asks."""

    def asked(self, branch: str, cwd: Path | None = None) -> list[str]:
        """Merge `topic` into a branch, and return the files for which git asks the driver."""
        self.switch_to(branch, cwd)
        asked = self._noted("merge", "--no-commit", "topic", cwd=cwd)
        self.world.git("reset", "-q", "--hard", cwd=cwd or self.path)
        return asked

    def asked_in_bare(self, branch: str, cwd: Path) -> list[str]:
        return self._noted("merge-tree", "--write-tree", branch, "topic", cwd=cwd)

    def _noted(self, *words: str, cwd: Path | None) -> list[str]:
        log = self.world.root / "asked"
        log.write_text("")
        line = f"merge.kmerge.driver=echo %P >>'{log}'; false"
        done = self.world.git("-c", line, *words, cwd=cwd or self.path, check=False)
        assert done.code in (0, 1), done.said
        return sorted(log.read_text().splitlines())

    def switch_to(self, branch: str, cwd: Path | None = None) -> None:
        self.world.git("checkout", "-qf", branch, cwd=cwd or self.path)

    def rows(self, cwd: Path | None = None) -> dict[str, dict[str, str]]:
        """Return the rows of `kmerge status`."""
        done = self.world.kmerge("status", "--json", cwd=cwd or self.path, check=False)
        return {row["name"]: row for row in json.loads(done.out)["probes"]}


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with living(tmp_path_factory.mktemp("team")) as world, pytest.MonkeyPatch.context() as patched:
        patched.setattr(unasked, "SHOWN_NAMES", 99)
        team = Team(world, world.init("team").path)
        team.git("fast-import", "--quiet", stdin=history())
        team.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/old")
        patched.chdir(team.path)
        yield team


@pytest.fixture(autouse=True)
def on_main(team: Team) -> None:
    team.switch_to("main")
    team.git("config", "merge.kmerge.driver", "false")


def history() -> str:
    """Return the branches as a stream for `git fast-import`, the newest first."""
    sides, base = dict.fromkeys(FILES, OURS), "refs/tags/base"
    stream = commit(base, 99, dict.fromkeys(FILES, BASE))
    stream += commit("refs/tags/topic", 0, dict.fromkeys(FILES, THEIRS), base)
    stream += commit("refs/heads/main", 0, sides | {NAME: TEAM}, base)
    for age, (name, (attributes, _, _)) in enumerate(BRANCHES.items(), 1):
        ref = f"refs/remotes/{name}" if "/" in name else f"refs/heads/{name}"
        files = {"index.html": "x"} if name == "pages" else sides | attributes
        stream += commit(ref, age, files, "" if name == "pages" else base)
    return stream


def commit(ref: str, age: int, files: dict[str, str], start: str = "") -> str:
    who = f"committer Ada <ada@example.org> {1_700_000_000 - age} +0000"
    lines = [f"commit {ref}", who, "data 1", "x", *([f"from {start}"] if start else [])]
    for path, text in files.items():
        lines += [f"M 100644 inline {path}", f"data {len(text)}", text]
    return "\n".join([*lines, "", ""])


def told(names: dict[str, str], of: int = len(BRANCHES) - 1) -> str:
    return f"git does not use kmerge on {len(names)} of {of} other branches: " + ", ".join(
        names.values()
    )


# -- one branch each -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BRANCHES)
def test_a_branch(team: Team, name: str) -> None:
    _, asked, said = BRANCHES[name]
    if name != "pages":
        assert team.asked(name) == asked
        team.switch_to("main")
    text = told_branches(str(team.path))
    assert text == told(SAID)
    assert (f" {name} (" in text) == bool(said)


# -- the clone set up in another way ---------------------------------------------------------------


@contextmanager
def private(team: Team, text: str) -> Iterator[None]:
    file = team.write(".git/info/attributes", text)
    yield
    file.unlink()


@contextmanager
def users_file(team: Team, scope: str) -> Iterator[None]:
    file = team.world.home / "attributes"
    file.write_text("*.yaml merge=kmerge\n")
    team.git("config", scope, "core.attributesFile", file)
    yield
    team.git("config", scope, "--unset", "core.attributesFile")


@contextmanager
def installed(team: Team, scope: str) -> Iterator[None]:
    team.kmerge("install", scope)
    yield
    team.kmerge("uninstall", scope)


# weaker than any `.gitattributes`
WEAKER = SAID | {"mixed": "mixed (1 file merged by git's binary merge)"}
WEAKER = {name: said for name, said in WEAKER.items() if "old" not in name}
SETUPS: dict[str, tuple[Callable[[Team], object], list[str], list[str], str]] = {
    "info/attributes": (lambda t: private(t, "*.yaml merge=kmerge\n"), FILES, FILES, ""),
    "info/attributes for another": (lambda t: private(t, "* merge=union\n"), [], [], ""),
    "global attributes": (lambda t: users_file(t, "--global"), FILES, ["app.yaml"], told(WEAKER)),
    "local attributes": (lambda t: users_file(t, "--local"), FILES, ["app.yaml"], told(WEAKER)),
    "installed globally": (lambda t: installed(t, "--global"), FILES, ["app.yaml"], told(WEAKER)),
}


@pytest.mark.parametrize("name", SETUPS)
def test_a_setup(team: Team, name: str) -> None:
    setup, on_old, on_unspecified, said = SETUPS[name]
    with setup(team):
        assert team.asked("old") == on_old
        assert team.asked("unspecified") == on_unspecified
        team.switch_to("main")
        assert told_branches(str(team.path)) == said


def test_a_linked_worktree(team: Team) -> None:
    linked = team.world.root / "linked"
    team.git("worktree", "add", "-q", linked, "old")
    assert team.asked("old", linked) == []
    row = team.rows(linked)["attributes"]
    assert (row["state"], row["hint"]) == ("FAIL", f"{MISSING}; {WAYS}")
    assert told_branches(str(team.path)) == told(SAID)
    team.git("worktree", "remove", "--force", linked)


def test_a_submodule(team: Team) -> None:
    above = team.world.init("above")
    above.write("app.yaml", BASE)
    allowed = ("-c", "protocol.file.allow=always")
    above.git(*allowed, "submodule", "--quiet", "add", team.path, "sub")
    inside = above.path / "sub"
    assert told_branches(str(inside)).startswith("git does not use kmerge on 7 of 10 other")
    assert told_branches(str(above.path)) == ""
    assert team.asked("old", inside) == []


def test_a_bare_repository(team: Team) -> None:
    bare = team.world.root / "bare.git"
    team.git("clone", "-q", "--bare", team.path, bare)
    assert team.asked_in_bare("old", bare) == team.asked_in_bare("same", bare) == []
    rows = team.rows(bare)
    assert "does not read the committed .gitattributes" in rows["attributes"]["hint"]
    (bare / "info" / "attributes").write_text("*.yaml merge=kmerge\n")
    assert team.asked_in_bare("old", bare) == FILES
    assert "branches" not in {**rows, **team.rows(bare)}


def test_sha_256(team: Team) -> None:
    long = team.world.root / "long"
    team.git("init", "-q", "-b", "main", "--object-format=sha256", long)
    other = Team(team.world, long)
    other.git("fast-import", "--quiet", stdin=history())
    assert other.asked("unset") == ["app.yaml"]
    other.switch_to("main")
    assert told_branches(str(long)) == told(SAID)


def test_installed_twice_and_uninstalled(team: Team) -> None:
    shown = told(dict(list(SAID.items())[:5]))
    note = f"note: {shown.replace(' 5 of', ' 8 of')} and 3 more; {WAYS}"
    for last in ("to check it", "nothing to do"):
        done = team.kmerge("install", "--shared")
        assert done.lines[-1].endswith(last)
        assert done.err.splitlines()[-1] == note
    assert team.kmerge("install", "--shared", "--quiet").err == ""
    row = team.rows()["branches"]
    assert (row["state"], row["hint"]) == ("warn", WAYS)
    assert f"note: {row['text']}; {WAYS}" == note
    team.kmerge("uninstall", "--shared")
    team.switch_to("old")
    assert team.kmerge("install", "--shared", "--dry-run").err.count("note") == 1
    rows = team.rows()
    assert (rows["driver"]["state"], rows["attributes"]["state"]) == ("FAIL", "FAIL")
    assert rows["attributes"]["hint"] == "run `kmerge install`"  # no driver, so nothing is missed


# -- the merge at hand -----------------------------------------------------------------------------


def test_the_merge_at_hand(team: Team) -> None:
    preview = ("preview", "topic")
    said = f"kmerge: `git merge` would not use kmerge for app.yaml, legacy/a.yaml; {WAYS}\n"
    said = said.replace("REV", "topic")
    assert team.kmerge(*preview).err == ""
    assert team.kmerge(*preview, "--into", "old").err == said
    assert team.kmerge(*preview, "--into", "unset").err == said.replace("app.yaml, ", "")
    rebase = ("--into", "topic", "--rebase")
    assert team.kmerge("preview", "same", *rebase).err == ""
    said = team.kmerge("preview", "old", *rebase).err
    assert said.startswith("kmerge: `git rebase` would not use kmerge for app.yaml, legacy/a.yaml;")
    team.switch_to("old")
    assert "would not use kmerge for app.yaml, legacy/a.yaml, own" in team.kmerge(*preview).err


def test_a_merge_that_was_made(team: Team) -> None:
    """What counts is what it was merged into, wherever `kmerge check` runs."""
    merges = {}
    for branch in ("old", "unset", "same"):
        team.git("checkout", "-q", "--detach", branch)
        team.git("merge", "-q", "-s", "ours", "topic", "-m", "x")
        merges[branch] = team.head()
    check = ("check", "--fail-on", "never", "--merge-of")
    for here in ("main", "old"):
        team.switch_to(here)
        for branch, names in (("old", ", ".join(DRIVEN)), ("unset", "legacy/a.yaml")):
            said = (
                f"kmerge: git would not use kmerge for {names} in {team.head(branch)[:10]}; {WAYS}"
            )
            assert team.kmerge(*check, merges[branch]).err == f"{said}\n"
            assert "would not ask" not in team.kmerge(*check, merges[branch], "--quiet").err
        assert team.kmerge(*check, merges["same"]).err == ""
