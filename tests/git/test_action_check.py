"""The action's mode `check`, against a bare remote with pull requests of friends and of others."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from manifests import deployment, service
from test_check_staged import put_on_path
from world import EPOCH, ROOT, World, sealed_environment

pytestmark = pytest.mark.costly  # its tests share what costs

SCRIPT = ROOT / "tools" / "action-check.sh"
Files = dict[str, str | bytes | None]

ODD = ["::error::x.yaml", "$(touch pwned).yaml", "a|b`<img src=x>`.yaml", "x\n::warning::y.yaml", "\u202e\x1b[2J.yaml"]  # fmt: skip
HOSTILE = "</details>|`@everyone`::error::[x](//example.org)"
BASE: Files = {
    **{f"{name}.yaml": deployment() for name in ("web", "image", "gone", "link")},
    "twice.yaml": deployment(env=("A=1", "Z=1")),
    "other.yaml": service(),
    "big.yaml": f"{service()}# {'x' * 2_000_000}\n",
    ".gitattributes": "image.yaml kmerge-policy=**.image:higher\n",
    **dict.fromkeys(ODD, service()),
}
MAIN: Files = {
    "web.yaml": deployment(2, env=("A=1", "MAIN=1")),
    "image.yaml": deployment(image="app:1.2"),
    "gone.yaml": deployment(2),
    "link.yaml": deployment(2),
    "twice.yaml": deployment(env=("D=1", "A=1", "Z=1")),
    "big.yaml": f"{service(81)}# {'x' * 2_000_000}\n",
    **dict.fromkeys(ODD, service(81)),
}
FAVOR = (
    "*.yaml kmerge-favor=theirs kmerge-policy=**:theirs kmerge-generated merge=evil filter=evil\n"
)
ADDED = deployment(env=("A=1", "THEIRS=1"))
REQUESTS: dict[int, Files] = {
    1: {"web.yaml": ADDED},
    2: {"web.yaml": deployment(3)},
    3: {"other.yaml": service(82)},
    4: {"twice.yaml": deployment(env=("A=1", "Z=1", "D=1"))},
    5: {"image.yaml": deployment(image="app:1.10"), ".gitattributes": None},
    6: {
        "web.yaml": deployment(3, image=HOSTILE).replace(
            "replicas: 3", f"replicas: '{HOSTILE}{'x' * 99_999}'"
        ),
        "big.yaml": f"{service(82)}# {'x' * 2_000_000}\n",
        "gone.yaml": None,
        "link.yaml": None,
        "link.yaml/x": "a folder now\n",
        ".gitattributes": FAVOR,
        "x/.gitattributes": FAVOR,
        **dict.fromkeys(ODD, service(82)),
    },
    **{n: {"web.yaml": ADDED, f"more{n}.yaml": service(n)} for n in range(7, 21)},
}
UNRELATED = 21


def stream() -> bytes:
    """What `git fast-import` makes the remote of, in one process."""
    out: list[bytes] = []
    person = f"Ada <ada@example.org> {EPOCH}\n".encode()

    def data(content: str | bytes) -> bytes:
        raw = content if isinstance(content, bytes) else content.encode()
        return b"data %d\n%s\n" % (len(raw), raw)

    def commit(ref: str, files: Files, parent: str = "", subject: str = "x") -> None:
        mark = b"mark :1\n" if ref == "refs/start" else b""
        out.append(f"commit {ref}\n".encode() + mark + b"committer " + person + data(subject))
        out.append(f"from {parent}\n".encode() if parent else b"")
        for name, content in files.items():
            quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
            if content is None:
                out.append(f"D {quoted}\n".encode())
            else:
                out.append(f"M 100644 inline {quoted}\n".encode() + data(content))

    commit("refs/start", BASE)
    commit("refs/heads/main", MAIN, ":1")
    for number, files in REQUESTS.items():
        commit(f"refs/pull/{number}/head", files, ":1", "::error::$(touch pwned)\x1b[2J")
    commit(f"refs/pull/{UNRELATED}/head", {"web.yaml": ADDED})
    return b"".join(out)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run of the script came to."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str

    @property
    def commands(self) -> list[str]:
        """What the runner takes for commands of the script's own."""
        return commands_in(self.log)


def commands_in(log: str) -> list[str]:
    """What the runner would read of a log: all that stands outside of what it is told to skip."""
    found, token = [], ""
    for line in log.split("\n"):
        if token:
            token = "" if line == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif line:
            found.append(line)
    assert not token
    return found


@dataclass(frozen=True, slots=True)
class Forge:
    """A remote, a runner with a shallow check-out of somebody's branch, and the script."""

    world: World
    remote: Path
    workspace: Path

    def oid(self, ref: str) -> str:
        return self.world.git("rev-parse", ref, cwd=self.remote).out.strip()

    def check(self, number: int | None, **env: str) -> Ran:
        temp = self.world.root / "temp"
        temp.mkdir(exist_ok=True)
        files = {name: temp / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("before\n")
        event = (
            {"GITHUB_REF": f"refs/pull/{number}/merge", "GITHUB_BASE_REF": "main"} if number else {}
        )
        known = {name: str(file) for name, file in files.items()} | {
            "RUNNER_TEMP": str(temp),
            "KMERGE_ACTION_REMOTE_URL": str(self.remote),
            "GITHUB_HEAD_REF": "$(touch pwned);`::error::`",
            "GITHUB_TOKEN": "own-secret",
        }
        done = self.world.run(
            "sh", SCRIPT, cwd=self.workspace, env=known | event | env, check=False
        )
        texts = [file.read_text() for file in files.values()]
        assert all(text.startswith("before\n") for text in texts)
        told = [line.partition("=") for line in texts[0].splitlines()[1:]]
        assert sorted(path.name for path in temp.iterdir()) == sorted(map(str.lower, files))
        assert not list(self.world.root.rglob("pwned"))
        assert done.err == ""
        return Ran(
            done.code, done.out, {k: v for k, _, v in told}, texts[1].removeprefix("before\n")
        )


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    root = tmp_path_factory.mktemp("forge") / "w"
    for directory in (root / "home", root / "etc"):
        directory.mkdir(parents=True)
    world = World(root, sealed_environment(root))
    remote = world.init("remote.git", bare=True).path
    made = subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=remote,
        env=world.env,
        input=stream(),
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    world.git("clone", "-q", "--depth=1", "--no-checkout", f"file://{remote}", "workspace")
    put_on_path(world)
    return Forge(world, remote, root / "workspace")


def counts(clean: bool, conflicts: int, resolved: int, improved: int) -> dict[str, str]:
    numbers = {"conflicts": conflicts, "resolved": resolved, "improved": improved}
    return {"clean": str(clean).lower()} | {name: str(n) for name, n in numbers.items()}


# the request, when the step fails, whether it does, and what is counted
ROWS = [
    (1, "improved", 0, counts(True, 0, 1, 0)),
    (2, "never", 0, counts(False, 1, 0, 0)),
    (4, "improved", 1, counts(True, 0, 0, 1)),
    (5, "conflict", 0, counts(True, 0, 1, 0)),  # the target's policy, though the request removes it
    (6, "conflict", 1, counts(False, len(ODD) + 4, 0, 0)),  # what it brings for itself is not asked
]


@pytest.mark.world
@pytest.mark.parametrize("number, fail_on, code, counted", ROWS)
def test_each_request_by_itself(
    forge: Forge, number: int, fail_on: str, code: int, counted: dict[str, str]
) -> None:
    before = everything(forge)
    # the event's commit, which a forced push has taken from the request
    other = forge.oid("refs/pull/20/head")
    ran = forge.check(number, KMERGE_ACTION_FAIL_ON=fail_on, KMERGE_ACTION_SHA=other)
    assert ran.outputs == counted, ran.log
    assert ran.code == code
    assert ran.summary.startswith(
        f"### Merge of <code>pull/{number}</code> into <code>target</code>\n"
    )
    names = "|".join(
        map(re.escape, ("web.yaml", "twice.yaml", "gone.yaml", "link.yaml", "big.yaml"))
    )
    odd = r"%3A%3Aerror%3A%3Ax.yaml|\$\(touch pwned\).yaml|a\|b`<img src=x>`.yaml|[^,:]*"
    for command in ran.commands:
        assert re.match(rf"::(error|warning) file=({names}|{odd}),line=\d+,col=\d+,title=", command)
        assert command.isprintable()
    assert len(ran.commands) >= sum(int(ran.outputs[n]) for n in ("conflicts", "improved"))
    assert all(line.isprintable() for line in ran.summary.split("\n"))
    assert not re.search(r"<img|</details>|@everyone|\]\(//|::error|own-secret", ran.summary)
    assert len(ran.log) + len(ran.summary) < 30_000
    assert "own-secret" not in ran.log
    assert everything(forge) == before


def everything(forge: Forge) -> list[object]:
    """All that a run must not touch: the remote's branches, the check-out and its settings."""
    refs = forge.world.git("for-each-ref", cwd=forge.remote).out
    files = [p for top in (forge.workspace, forge.world.home) for p in sorted(top.rglob("*"))]
    return [refs, *((p, p.is_file() and p.read_bytes()) for p in files)]


@pytest.mark.parametrize(
    "number, env, said",
    [
        (None, {}, "this event has no pull request; set the inputs `base` and `head`"),
        (None, {"GITHUB_BASE_REF": "main", "GITHUB_REF": "refs/heads/x"}, "this event has no pull request"),
        (None, {"GITHUB_BASE_REF": "main", "KMERGE_ACTION_NUMBER": "1/head x"}, "this event has no"),
        (1, {"KMERGE_ACTION_BASE": "a b"}, "`base` or `head` is not a valid branch name"),
        (1, {"KMERGE_ACTION_HEAD": "refs/heads/x:refs/heads/main"}, "`base` or `head` is not a valid"),
        (1, {"KMERGE_ACTION_BASE": "-x"}, "could not be fetched; the workflow needs `contents: read`"),
        (1, {"KMERGE_ACTION_REMOTE_URL": "--upload-pack=touch pwned"}, "could not be fetched"),
        (3, {"KMERGE_ACTION_FAIL_ON": "$(x)"}, "`fail-on` must be conflict, improved or never"),
        (999, {}, "could not be fetched"),
        (UNRELATED, {}, "kmerge preview had no result"),
    ],
)  # fmt: skip
def test_what_cannot_be_looked_at(
    forge: Forge, number: int, env: dict[str, str], said: str
) -> None:
    ran = forge.check(number, **env)
    assert ran.code == 2
    assert ran.outputs == {}
    (command,) = ran.commands
    assert command.startswith("::error title=kmerge check::")
    assert said in command
    assert ran.summary == f"`kmerge preview` did not run: {command.rpartition('::')[2]}.\n"


def test_another_branch_can_be_named(forge: Forge) -> None:
    ran = forge.check(None, KMERGE_ACTION_BASE="main", KMERGE_ACTION_HEAD="refs/pull/3/head")
    assert ran.code == 0
    assert ran.outputs == counts(True, 0, 0, 0)
    assert ran.commands == []
    assert "Merge of <code>head</code> into <code>target</code>" in ran.summary


def test_it_looks_at_the_commit_of_the_event_while_the_request_has_it(forge: Forge) -> None:
    """Annotations stand on its lines."""
    ran = forge.check(2, KMERGE_ACTION_SHA=forge.oid("refs/start"))
    assert ran.summary.endswith("Already up to date.\n")
    assert ran.outputs == counts(True, 0, 0, 0)


def test_the_token_goes_to_the_server_alone(forge: Forge, tmp_path: Path) -> None:
    """It stands in no argument, and nothing that runs after the fetch has it."""
    git = forge.world.run("sh", "-c", "command -v git").out.strip()
    script = f"""#!/bin/sh
case $1 in fetch) ;; *) exec {git} "$@" ;; esac
printf '%s\\n' "$@" >{tmp_path}/args
for host in forge.example other.example; do
    printf 'protocol=https\\nhost=%s\\n\\n' $host | {git} credential fill >{tmp_path}/$host 2>&1
done
echo '::error::of a server'
exit 128
"""
    (tmp_path / "git").write_text(script)
    (tmp_path / "git").chmod(0o755)
    ran = forge.check(
        1,
        PATH=f"{tmp_path}{os.pathsep}{forge.world.env['PATH']}",
        KMERGE_ACTION_REMOTE_URL="https://forge.example/owner/name",
        KMERGE_ACTION_TOKEN="given-secret",
    )
    assert ran.code == 2
    assert len(ran.commands) == 1
    assert "of a server" in ran.log
    assert "password=given-secret\n" in (tmp_path / "forge.example").read_text()
    assert "secret" not in (tmp_path / "other.example").read_text()
    assert "secret" not in (tmp_path / "args").read_text() + ran.log + ran.summary


def test_a_program_of_the_check_has_no_token(forge: Forge, tmp_path: Path) -> None:
    program = tmp_path / "kmerge"
    program.write_text(f"#!/bin/sh\nenv >{tmp_path}/env\nexit 3\n")
    program.chmod(0o755)
    ran = forge.check(1, KMERGE_ACTION_COMMAND=str(program), KMERGE_ACTION_TOKEN="given-secret")
    assert ran.code == 2
    assert "secret" not in (tmp_path / "env").read_text()
