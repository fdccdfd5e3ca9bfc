"""The action's mode `judge`: made-up events of merges, squashes and rebases, sound and not."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from test_action_check import Ran, commands_in
from test_check_staged import put_on_path
from test_driver_surroundings import CRD, FOO, RULE
from world import EPOCH, ROOT, World, sealed_environment

# its tests share what costs; no server has SHA-256 names
pytestmark = [pytest.mark.costly, pytest.mark.usefixtures("by_libgit2")]

SCRIPT = ROOT / "tools" / "action-judge.sh"
Files = dict[str, str]

HOSTILE = "::error::$(touch pwned)\x1b[2J"
ODD = ["::error::x.yaml", "$(touch pwned).yaml", "a|b`<img src=x>`.yaml", "x\n::warning::y.yaml", "\u202e\x1b[2J.yaml"]  # fmt: skip
ODD_BRANCHES = ["-x", "$(touch${IFS}pwned)", ";touch${IFS}pwned", "'\"`x`", "si\u202ede"]
OFF = {".gitattributes": "* -kmerge-check\n"}


def settings(a: str = "one", b: str = "one") -> str:
    """A ConfigMap with two fields that lines can merge."""
    between = "".join(f"  k{n}: same\n" for n in range(8))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  a: {a}\n{between}  b: {b}\n"


BASE = {"web.yaml": settings(), "more.yaml": settings()}
OURS = BASE | {"web.yaml": settings("ours")}
THEIRS = {"web.yaml": settings(b="theirs"), "more.yaml": settings(b="theirs")}
SOUND = THEIRS | {"web.yaml": settings("ours", "theirs")}
LOST = THEIRS | OURS | {"more.yaml": THEIRS["more.yaml"]}
MEANT = f"{HOSTILE}\n\nKmerge-Dropped: web.yaml\n"
RESULTS = {"sound": (SOUND, HOSTILE), "lost": (LOST, HOSTILE), "meant": (LOST, MEANT)}


@dataclass
class History:
    """What `git fast-import` makes the remote of, in one process."""

    out: list[bytes] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def commit(
        self, name: str, files: Files, *parents: str, subject: str = HOSTILE, hour: int = 0
    ) -> None:
        """Add a commit; it keeps the author's hour, and is committed at another one."""
        self.names.append(name)
        lines = [f"commit refs/all/{name}", f"mark :{len(self.names)}"]
        lines.append(f"author Ada <ada@example.org> {EPOCH.split()[0]} +{hour:02}00")
        lines.append(f"committer Bot <bot@example.org> {EPOCH}")
        self.out += ["\n".join([*lines, ""]).encode(), data(subject)]
        self.out += [
            f"{word} :{self.names.index(parent) + 1}\n".encode()
            for word, parent in zip(["from", *["merge"] * len(parents)], parents, strict=False)
        ]
        self.out.append(b"deleteall\n")
        for path, text in files.items():
            quoted = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            self.out.append(f'M 100644 inline "{quoted}"\n'.encode() + data(text))

    def point(self, ref: str, name: str) -> None:
        self.out.append(f"reset {ref}\nfrom :{self.names.index(name) + 1}\n\n".encode())


def data(text: str) -> bytes:
    return b"data %d\n%s\n" % (len(text.encode()), text.encode())


def history() -> History:
    made = History()
    made.commit("base", BASE)
    made.commit("main", OURS, "base")
    made.commit("one", BASE | {"web.yaml": THEIRS["web.yaml"]}, "base", subject="one", hour=1)
    made.commit("topic", THEIRS, "one", subject="two", hour=2)
    made.commit("lenient", OURS | OFF, "base")
    odd = dict.fromkeys(ODD, settings())
    made.commit("odd-base", odd)
    made.commit("odd-main", dict.fromkeys(ODD, settings("ours")), "odd-base")
    made.commit("odd-topic", dict.fromkeys(ODD, settings(b="theirs")), "odd-base")
    made.commit("odd", dict.fromkeys([*ODD, "x"], settings("ours")), "odd-main", "odd-topic")
    for name, (files, subject) in RESULTS.items():
        first = files | {"more.yaml": BASE["more.yaml"]}
        made.commit(f"merge-{name}", files, "main", "topic", subject=subject)
        made.commit(f"squash-{name}", files, "main", subject=subject)
        made.commit(f"rebase-{name}-1", first, "main", subject="one", hour=1)
        last = subject.replace(HOSTILE, "two")
        made.commit(f"rebase-{name}", files, f"rebase-{name}-1", subject=last, hour=2)
        made.commit(f"inside-{name}", files, "topic", "main", subject=subject)
        made.commit(f"after-{name}", files | {"x": "1\n"}, f"inside-{name}")
    made.commit("inside-off", LOST | OFF, "topic", "main")
    made.commit("squash-off", LOST | OFF, "main")
    made.commit("merge-off", LOST | OFF, "main", "topic")
    made.commit("merge-lenient", LOST | OFF, "lenient", "topic")
    foo = {"crds/foo.yaml": CRD, "foo.yaml": FOO + RULE.format("m") + RULE.format("n")}
    foo[".gitattributes"] = "*.yaml kmerge-crd=crds,../x\n"
    ours = foo["foo.yaml"].replace("name: m", "name: m\n    extra: 1") + RULE.format("b")
    made.commit("crd-base", foo)
    made.commit("crd-main", foo | {"foo.yaml": ours}, "crd-base")
    made.commit("crd-topic", foo | {"foo.yaml": foo["foo.yaml"] + RULE.format("c")}, "crd-base")
    made.commit("crd-lost", foo | {"foo.yaml": ours, "x": "1"}, "crd-main", "crd-topic")
    made.commit("octopus", LOST, "topic", "main", "squash-sound")
    made.commit("unrelated", SOUND)
    for branch in ("main", *ODD_BRANCHES):
        made.point(f"refs/heads/{branch}", "main")
    made.point("refs/heads/lenient", "lenient")
    made.point("refs/heads/odd", "odd-main")
    for number, (head, merge) in REQUESTS.items():
        made.point(f"refs/pull/{number}/head", head)
        if merge:
            made.point(f"refs/pull/{number}/merge", merge)
    return made


# of each pull request its head, and the test merge that the server has made
REQUESTS = {
    1: ("topic", "merge-sound"),
    2: ("topic", "merge-lost"),
    3: ("topic", ""),
    4: ("after-sound", "merge-lost"),  # of an older head
    5: ("after-lost", ""),
    6: ("after-meant", ""),
    7: ("inside-off", ""),
    8: ("octopus", ""),
    9: ("odd", ""),
}
# what is judged, errors, exit code, and what the summary says
OPEN = [
    (1, 1, 0, 0, "Checked: the test merge, "),
    (2, 1, 1, 1, "Checked: the test merge, "),
    (3, 0, 0, 0, "The server has not made a test merge yet"),
    (4, 1, 0, 0, "The test merge of the server is for another commit and was not checked."),
    (5, 1, 1, 1, "Checked: a merge, "),
    (6, 1, 0, 0, "    trailer of the commit: Kmerge-Dropped: web.yaml\n"),
    (7, 1, 1, 1, "Checked: a merge, "),
    (8, 0, 0, 0, " merges more than two commits."),
]


@dataclass(frozen=True, slots=True)
class Forge:
    """A remote, the commits in it by name, and the script."""

    world: World
    remote: Path
    ids: dict[str, str]

    def judge(self, event: str, **env: str) -> Ran:
        temp = self.world.root / "temp"
        temp.mkdir(exist_ok=True)
        files = {name: temp / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("before\n")
        known = {name: str(file) for name, file in files.items()} | {
            "RUNNER_TEMP": str(temp),
            "KMERGE_ACTION_REMOTE_URL": str(self.remote),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_HEAD_REF": "$(touch pwned);`::error::`",
            "GITHUB_TOKEN": "own-secret",
        }
        done = self.world.run("sh", SCRIPT, cwd=self.world.root, env=known | env, check=False)
        texts = [file.read_text() for file in files.values()]
        told = [line.partition("=") for line in texts[0].splitlines()[1:]]
        assert sorted(path.name for path in temp.iterdir()) == sorted(map(str.lower, files))
        assert not list(self.world.root.rglob("pwned"))
        assert done.err == ""
        assert "own-secret" not in done.out + texts[1]
        ran = Ran(
            done.code, done.out, {k: v for k, _, v in told}, texts[1].removeprefix("before\n")
        )
        assert all(line.isprintable() for line in [*ran.summary.split("\n"), *ran.commands])
        return ran

    def request(self, number: int | str, base: str = "main", **env: str) -> Ran:
        event = {"KMERGE_ACTION_NUMBER": str(number), "GITHUB_BASE_REF": base}
        return self.judge("pull_request", **event | env)

    def closed(self, result: str, base: str = "main", **env: str) -> Ran:
        event = {
            "KMERGE_ACTION_TYPE": "closed",
            "KMERGE_ACTION_MERGED": "true",
            "KMERGE_ACTION_RESULT": self.ids.get(result, result),
            "KMERGE_ACTION_SHA": self.ids["topic"],
        }
        return self.request(3, base, **event | env)

    def pushed(self, before: str, after: str, event: str = "push", **env: str) -> Ran:
        ids = {"KMERGE_ACTION_BEFORE": before, "KMERGE_ACTION_AFTER": after}
        known = {name: self.ids.get(commit, commit) for name, commit in ids.items()}
        return self.judge(event, **{"GITHUB_REF": "refs/heads/$(touch${IFS}pwned)"} | known | env)


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    root = tmp_path_factory.mktemp("forge") / "w"
    for directory in (root / "home", root / "etc"):
        directory.mkdir(parents=True)
    world = World(root, sealed_environment(root))
    remote = world.init("remote.git", bare=True).path
    made = history()
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=remote, env=world.env, input=b"".join(made.out), capture_output=True, check=True,
    )  # fmt: skip
    world.git("symbolic-ref", "HEAD", "refs/heads/main", cwd=remote)
    shown = world.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/all", cwd=remote)
    ids = dict(line.removeprefix("refs/all/").split() for line in shown.lines)
    put_on_path(world)
    return Forge(world, remote, ids)


def counts(ran: Ran) -> tuple[int, int, int]:
    """What was judged, the errors, and the exit code."""
    return int(ran.outputs["judged"]), int(ran.outputs["errors"]), ran.code


@pytest.mark.world
@pytest.mark.parametrize("number, judged, errors, code, said", OPEN)
def test_a_request_before_the_button(
    forge: Forge, number: int, judged: int, errors: int, code: int, said: str
) -> None:
    ran = forge.request(number, KMERGE_ACTION_SHA=forge.ids["unrelated"])
    assert counts(ran) == (judged, errors, code), ran.log
    assert said in ran.summary
    found = [line for line in ran.commands if line.startswith("::error file=web.yaml,line=")]
    assert len(found) == errors


WAYS = {"merge": "a merge", "squash": "a squash", "rebase": "a rebase of 2 of 2 commits"}


@pytest.mark.world
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", RESULTS)
def test_a_request_after_the_button(forge: Forge, way: str, kind: str) -> None:
    result = f"{way}-{kind}"
    ran = forge.closed(result)
    is_lost = kind == "lost"
    assert counts(ran) == (1, is_lost, is_lost), ran.log
    assert f"\nChecked: {WAYS[way]}, {forge.ids[result]}.\n" in ran.summary
    trailer = "    trailer of the commit: Kmerge-Dropped: web.yaml\n"
    assert (trailer in ran.summary) == (trailer in ran.log) == (kind == "meant")
    assert ("lost: ConfigMap/web data.b" in ran.summary) == is_lost


@pytest.mark.parametrize("result", ["merge-off", "squash-off"])
def test_a_request_does_not_switch_its_own_judge_off(forge: Forge, result: str) -> None:
    """Nor does the machine; the target branch does, and that is said."""
    home = forge.world.home
    (home / ".config" / "git").mkdir(parents=True, exist_ok=True)
    (home / ".config" / "git" / "attributes").write_text("* -kmerge-check kmerge-generated\n")
    before = (home / ".gitconfig").read_bytes() if (home / ".gitconfig").exists() else b""
    (home / ".gitconfig").write_text('[kmerge "check"]\n\tignore = M11,M28\n')
    try:
        ran = forge.closed(result, KMERGE_CHECK_IGNORE="M11,M28")
    finally:
        (home / ".gitconfig").write_bytes(before)
        (home / ".config" / "git" / "attributes").unlink()
    assert counts(ran) == (1, 1, 1)
    assert "attribute of the target" not in ran.summary


def test_the_target_branch_may_switch_it_off(forge: Forge) -> None:
    ran = forge.closed("merge-lenient", "lenient")
    assert counts(ran) == (1, 0, 0)
    line = "    attribute of the target branch: web.yaml: kmerge-check: unset\n"
    assert line in ran.summary
    assert line in ran.log


def test_lists_of_custom_resources_are_paired_as_the_target_declares(forge: Forge) -> None:
    """Otherwise both sides would have added to one place: no more than a warning."""
    ran = forge.pushed("crd-main", "crd-lost")
    assert counts(ran) == (1, 1, 1)
    assert "lost: Foo/f spec.rules[id=c]" in ran.summary


@pytest.mark.parametrize("branch", ODD_BRANCHES)
def test_branches_with_odd_names(forge: Forge, branch: str) -> None:
    assert counts(forge.request(5, branch)) == (1, 1, 1)


def test_files_with_odd_names(forge: Forge) -> None:
    ran = forge.request(9, "odd")
    assert counts(ran) == (1, len(ODD), 1)
    names = r"%3A%3Aerror%3A%3Ax.yaml|\$\(touch pwned\).yaml|a\|b`<img src=x>`.yaml|[^,:]*"
    assert ran.commands
    for command in ran.commands:
        assert re.match(rf"::(error|warning) file=({names}),line=\d+,col=\d+,title=", command)
    listed = ran.summary.split("\n")
    assert [line for line in listed if "img" in line and not line.startswith("    ")] == []


def test_what_was_not_merged_is_not_judged(forge: Forge) -> None:
    ran = forge.closed("merge-lost", KMERGE_ACTION_MERGED="false")
    assert counts(ran) == (0, 0, 0)
    assert "The pull request was not merged." in ran.summary
    ran = forge.closed("topic")
    assert counts(ran) == (0, 0, 0)
    assert "contains the commits of the pull request unchanged" in ran.summary


@pytest.mark.parametrize("event", ["push", "merge_group"])
def test_commits_that_were_pushed(forge: Forge, event: str) -> None:
    assert counts(forge.pushed("main", "merge-sound", event)) == (1, 0, 0)
    ran = forge.pushed("main", "merge-off", event)
    assert counts(ran) == (1, 1, 1)
    assert "Commits with one parent" not in ran.summary
    ran = forge.pushed("main", "rebase-lost", event)
    assert counts(ran) == (0, 0, 0)
    assert "Commits with one parent: 2. They were not checked" in ran.summary


def test_branches_that_come_and_go(forge: Forge) -> None:
    none = "0" * 40
    assert counts(forge.pushed(none, "after-lost")) == (1, 1, 1)
    assert counts(forge.pushed("1" * 40, "after-lost")) == (1, 1, 1)
    ran = forge.pushed("refs/heads/lenient", "after-lost")
    assert "was compared with the main branch" in ran.summary
    ran = forge.pushed("main", none)
    assert counts(ran) == (0, 0, 0)
    assert "The branch was deleted." in ran.summary


NO_EVENT = "the event must be pull_request, push or merge_group"
NOT_FETCHED = "the commits could not be fetched; the workflow needs `contents: read`"


@pytest.mark.parametrize(
    "event, env, said",
    [
        ("schedule", {}, NO_EVENT),
        ("pull_request", {}, "this event has no pull request"),
        ("pull_request", {"KMERGE_ACTION_NUMBER": "1/head x"}, "this event has no pull request"),
        ("pull_request", {"KMERGE_ACTION_NUMBER": "999"}, NOT_FETCHED),
        ("pull_request", {"KMERGE_ACTION_NUMBER": "1", "GITHUB_BASE_REF": "a b"}, "is not a valid branch name"),
        ("pull_request", {"KMERGE_ACTION_NUMBER": "1", "GITHUB_BASE_REF": "x:refs/heads/main"}, "is not a valid branch name"),
        ("pull_request", {"KMERGE_ACTION_NUMBER": "1", "KMERGE_ACTION_REMOTE_URL": "--upload-pack=touch pwned"}, NOT_FETCHED),
        ("push", {"KMERGE_ACTION_AFTER": "--all", "GITHUB_REF": "refs/heads/x"}, "not name the pushed commit"),
        ("push", {"KMERGE_ACTION_AFTER": "1" * 40, "GITHUB_REF": "refs/heads/x"}, NOT_FETCHED),
        ("push", {"KMERGE_ACTION_AFTER": "1" * 40, "GITHUB_REF": "refs/tags/x"}, "this event is not for a branch"),
    ],
)  # fmt: skip
def test_what_cannot_be_looked_at(forge: Forge, event: str, env: dict[str, str], said: str) -> None:
    ran = forge.judge(event, **{"GITHUB_BASE_REF": "main"} | env)
    assert ran.code == 2
    assert ran.outputs == {}
    (command,) = ran.commands
    assert command.startswith("::error title=kmerge judge::")
    assert said in command
    assert ran.summary == f"`kmerge check` did not run: {command.rpartition('::')[2]}.\n"


@pytest.mark.parametrize(
    "result, said", [("$(touch pwned)", "not name the merge commit"), ("1" * 40, "could not be fetched"), ("unrelated", "was not found")]
)  # fmt: skip
def test_results_that_are_not_there(forge: Forge, result: str, said: str) -> None:
    ran = forge.closed(result)
    assert ran.code == 2
    assert said in ran.log


def test_a_shallow_server_is_not_believed(forge: Forge) -> None:
    """Without the history of both sides nothing would be found."""
    forge.world.git("clone", "-q", "--bare", "--depth=1", f"file://{forge.remote}", "shallow.git")
    shallow = forge.world.root / "shallow.git"
    forge.world.git("fetch", "-q", "--depth=1", forge.remote.as_uri(), "+refs/pull/5/head:refs/pull/5/head", cwd=shallow)  # fmt: skip
    ran = forge.request(5, KMERGE_ACTION_REMOTE_URL=shallow.as_uri())
    assert ran.code == 2
    assert NOT_FETCHED in ran.log


@pytest.mark.parametrize("code", [1, 3])
def test_a_program_that_breaks_down_finds_nothing_out(
    forge: Forge, tmp_path: Path, code: int
) -> None:
    """It has no token, either."""
    program = tmp_path / "kmerge"
    program.write_text(f"#!/bin/sh\nenv >{tmp_path}/env\necho Traceback >&2\nexit {code}\n")
    program.chmod(0o755)
    known = {"KMERGE_ACTION_COMMAND": str(program), "KMERGE_ACTION_TOKEN": "given-secret"}
    ran = forge.request(5, **known)
    assert counts(ran) == (0, 0, 2)
    assert "::error title=kmerge judge::could not be checked: a merge, " in ran.log
    assert "Traceback" not in "".join(commands_in(ran.log))
    assert "secret" not in (tmp_path / "env").read_text()
