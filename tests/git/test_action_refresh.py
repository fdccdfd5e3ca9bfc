"""The action's modes `update` and `sweep`: a bare remote with the branches of pull requests."""

from __future__ import annotations

import json
import shutil
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from manifests import deployment, service
from test_action_check import commands_in
from test_check_staged import put_on_path
from test_refresh import BASE, BOTH, KINDS, OURS, commit, refs
from world import ROOT, Done, Repo, World

pytestmark = pytest.mark.usefixtures("by_libgit2")  # no such server has SHA-256 names

SCRIPT = ROOT / "tools" / "action-refresh.sh"
TOKEN = "ghs_quite-secret"
HUGE = "kind: ConfigMap\ndata:\n" + "".join(f"  k{n}: &a{n} [*a, {{ x: y\n" for n in range(20_000))
FAVOR = "* kmerge-favor=ours kmerge-policy=**:ours merge=evil filter=evil\n"
ODD = ("--upload-pack=x", "-x", "$(touch${IFS}x)", ";touch${IFS}x", "'\"`x`", "si\u202ede")
RESOLVED = KINDS["resolved"]
# what each branch did, and what a sweep makes of it
BRANCHES: dict[str, tuple[dict[str, str], str]] = {
    "clean/1": (KINDS["clean"], "unchanged"),
    "clean/2": (KINDS["clean"], "unchanged"),
    "fine/1": (RESOLVED, "updated"),
    "fine/2": (RESOLVED | {"x.txt": "1\n"}, "updated"),
    "fine/3": (RESOLVED | {"::warning::hit.txt": "1\n"}, "updated"),
    "left/1": (KINDS["conflict"], "left"),
    "left/favor": (KINDS["conflict"] | {".gitattributes": FAVOR}, "left"),
    "left/huge": (RESOLVED | {"count.yaml": HUGE}, "left"),
    "locked/1": (RESOLVED | {"x.txt": "2\n"}, "left"),
} | {f"odd/{name}"[4 * name.startswith("-") :]: (RESOLVED, "updated") for name in ODD}
HOOK = '#!/bin/sh\ncase $1 in refs/heads/locked/*) echo "no: it is protected" >&2; exit 1;; esac\n'


@dataclass(frozen=True, slots=True)
class Forge:
    """A bare repository with pull requests, and a runner beside it."""

    world: World
    server: Repo

    @property
    def runner(self) -> Path:
        return self.world.root / "runner"

    def run(self, mode: str, code: int = 0, **env: str) -> Done:
        """The script, as the action calls it."""
        self.runner.mkdir(exist_ok=True)
        usual = {
            "KMERGE_ACTION_REMOTE_URL": str(self.server.path),
            "KMERGE_ACTION_GH": "",
            "GITHUB_OUTPUT": str(self.runner / "output"),
            "GITHUB_STEP_SUMMARY": str(self.runner / "summary"),
            "GITHUB_REPOSITORY": "ours/app",
            "GITHUB_REF": "refs/heads/main",
            "RUNNER_TEMP": str(self.runner),
        }
        env = usual | {"KMERGE_ACTION_MODE": mode} | env
        done = self.world.run("sh", SCRIPT, cwd=self.runner, env=env, check=False)
        assert done.code == code, done.said
        assert not list(self.runner.glob("kmerge-*")), "something was left behind"
        assert done.err == "" or "GIT_TRACE" in env
        return done

    def outputs(self) -> dict[str, int]:
        lines = (self.runner / "output").read_text().splitlines()
        return {name: int(count) for name, _, count in (line.partition("=") for line in lines)}

    def summary(self) -> str:
        return (self.runner / "summary").read_text()

    def merged(self, before: dict[str, str]) -> set[str]:
        """The branches that have a merge of `main` on top of what they were, and no others moved."""
        after = refs(self.server)
        moved = {name for name in before if before[name] != after.get(name)}
        main = before["refs/heads/main"]
        told = self.server.git("for-each-ref", "--format=%(refname) %(parent)").lines
        parents = {ref: oids for ref, *oids in map(str.split, told)}
        assert {name: parents[name] for name in moved} == {n: [before[n], main] for n in moved}
        assert set(after) == set(before)
        return {name.removeprefix("refs/heads/") for name in moved}

    def pull(self, number: int, name: str, event: str = "ours/app") -> dict[str, str]:
        """The environment of the event of a pull request."""
        file = self.runner.parent / "event.json"
        repository = {"full_name": event} if event else None
        head = {"ref": name, "repo": repository}
        file.write_text(json.dumps({"number": number, "pull_request": {"head": head}}))
        return {
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(file),
            "GITHUB_HEAD_REF": name,
            "GITHUB_BASE_REF": "main",
            "GITHUB_REF": f"refs/pull/{number}/merge",
        }


@pytest.fixture
def forge(world: World) -> Forge:
    """Pull requests of branches here, of forks, of branches that are gone."""
    server = world.init("server.git", bare=True)
    base = {"web.yaml": BASE, "count.yaml": BASE, "far.yaml": service(1, "far")}
    ours = {"web.yaml": OURS, "count.yaml": deployment(replicas=2)}
    lines = [commit("refs/heads/main", 1, 0, base), commit("refs/heads/main", 2, 1, ours)]
    pulls = [(f"refs/heads/{name}", made) for name, (made, _) in BRANCHES.items()]
    for number, (ref, made) in enumerate(pulls, 3):
        lines.append(commit(ref, number, 1, made | {"who.txt": f"{number}\n"}))
        lines.append(f"reset refs/pull/{number}/head\nfrom :{number}\n")
    for number, ref in enumerate(("refs/pull/90/head", "refs/pull/91/head"), 90):
        lines.append(commit(ref, number, 1, RESOLVED | {"who.txt": "a fork\n"}))
    lines.append("reset refs/pull/92/head\nfrom :1\n")  # that of a branch which is up to date
    lines.append("reset refs/heads/fine/behind\nfrom :1\n")
    lines.append("reset refs/heads/fine/merged\nfrom :2\n")
    lines.append("reset refs/pull/93/head\nfrom :2\n")
    lines.append(commit("refs/heads/nobody-asked", 94, 1, RESOLVED))
    lines.append("reset refs/tags/fine/1\nfrom :94\n")
    server.git("fast-import", "--quiet", stdin="".join(lines) + "done\n")
    server.write("hooks/update", HOOK).chmod(0o755)
    server.git("config", "core.hooksPath", server.path / "hooks")  # whatever is set for the runner
    put_on_path(world)
    return Forge(world, server)


def wanted(word: str) -> set[str]:
    return {name for name, (_, result) in BRANCHES.items() if result == word}


@pytest.mark.costly
def test_a_sweep(forge: Forge) -> None:
    hit = forge.world.root / "hit"
    for key in ("filter.evil.smudge", "filter.evil.clean", "merge.evil.driver"):
        forge.world.git("config", "--global", key, f"touch '{hit}'")
    hooks = forge.world.root / "hooks"
    hooks.mkdir()
    (hooks / "pre-push").write_text(f"#!/bin/sh\ntouch '{hit}'\nexit 1\n")
    (hooks / "pre-push").chmod(0o755)
    forge.world.git("config", "--global", "core.hooksPath", hooks)
    forge.world.git("config", "--global", "hook.some one.event", "pre-push")
    forge.world.git("config", "--global", "hook.some one.command", f"touch '{hit}'; exit 1")
    before = refs(forge.server)
    done = forge.run("sweep", KMERGE_ACTION_BRANCHES="*")
    assert forge.merged(before) == wanted("updated")
    assert not hit.exists()
    # `main` itself is the head of a request, too, and is not asked about
    unchanged = len(wanted("unchanged")) + len({"fine/behind", "fine/merged"})
    left = wanted("left")
    updated = wanted("updated")
    assert forge.outputs() == {"updated": len(updated), "failed": len(left), "unchanged": unchanged}
    made = {
        *forge.server.git("rev-parse", *(f"refs/heads/{name}:web.yaml" for name in updated)).lines
    }
    assert [forge.server.show(oid).split() for oid in made] == [BOTH.split()]
    forge.server.git("fsck", "--strict")
    page = forge.summary()
    assert page in done.out
    field = (
        "- <code>count.yaml</code> <code>Deployment/web</code> <code>spec.replicas</code>: changed"
    )
    assert page.count(field) == 2  # for all that a branch says of favour
    assert "| rejected | <code>locked/1</code> | &#91;remote rejected&#93;" in page
    assert "own token, so no checks start" in page
    assert not [sign for sign in ("\u202e", "$", "::", "@") if sign in page]
    warning = (
        "::warning title=kmerge refresh::branches that could not be updated: 4; see the summary"
    )
    assert commands_in(done.out) == [warning]
    nothing_is_left_to_do(forge)


def nothing_is_left_to_do(forge: Forge) -> None:
    """The forge moves the heads of its requests along, and the next run finds all done."""
    (forge.runner / "output").unlink()
    now = refs(forge.server)
    moves = [f"pull/{n}/head {now[f'refs/heads/{name}']}" for n, name in enumerate(BRANCHES, 3)]
    forge.server.git("update-ref", "--stdin", stdin="".join(f"update refs/{m}\n" for m in moves))
    before = refs(forge.server)
    forge.run("sweep", KMERGE_ACTION_BRANCHES="fine/*\nodd/*")
    odd = sum(name.startswith("odd/") for name in BRANCHES)
    assert forge.outputs() == {"updated": 0, "failed": 0, "unchanged": 5 + odd}
    assert refs(forge.server) == before


def gh(forge: Forge, answer: str, code: int = 0) -> dict[str, str]:
    """A `gh` that answers so, and notes what it was asked and with which token."""
    program, told = forge.world.root / "gh", forge.world.root / "answer"
    told.write_text(answer)
    program.write_text(
        f'#!/bin/sh\nprintf \'%s\\n\' "$@" "token $GH_TOKEN" "$GH_HOST" >\'{program}.asked\'\n'
        f"cat '{told}'\nexit {code}\n"
    )
    program.chmod(0o755)
    return {"KMERGE_ACTION_GH": str(program), "KMERGE_ACTION_TOKEN": TOKEN}


@pytest.mark.costly
def test_the_forge_says_which_requests_are_open(forge: Forge) -> None:
    """Not its refs: of closed ones, of other targets and of copied tips they tell nothing."""
    before = refs(forge.server)
    env = gh(forge, "here fine/1\nhere locked/1\nhere gone\nfork\nhere main\nfork\nhere left/1\n")
    forge.run("sweep", **env)
    assert forge.merged(before) == {"fine/1"}
    assert forge.outputs() == {"updated": 1, "failed": 2, "unchanged": 0}
    assert "Pull requests of forks, not updated: 2." in forge.summary()
    assert "own token" not in forge.summary()
    asked = (forge.world.root / "gh.asked").read_text().splitlines()
    assert {"base=main", "state=open", f"token {TOKEN}", "github.com"} <= set(asked)
    forge.run("sweep", **env, KMERGE_ACTION_BRANCHES="fine/*\nno/*")
    assert forge.merged(before) == {"fine/1"}
    assert forge.outputs() == {"updated": 0, "failed": 0, "unchanged": 1}


def test_no_guess_where_nobody_says_which_requests_are_open(forge: Forge) -> None:
    before = refs(forge.server)
    assert "set the input `branches`" in forge.run("sweep", code=2).out
    assert (
        "`pull-requests: read`" in forge.run("sweep", code=2, **gh(forge, "here fine/1\n", 1)).out
    )
    assert "did not run: the pull requests could not be listed" in forge.summary()
    assert refs(forge.server) == before


@pytest.mark.parametrize("name, words", [("fine/2", "fine/2"), ("left/1", "")])
@pytest.mark.costly
def test_an_update(forge: Forge, name: str, words: str) -> None:
    before = refs(forge.server)
    done = forge.run("update", **forge.pull(4, name), GITHUB_TOKEN=TOKEN, KMERGE_ACTION_TOKEN=TOKEN)
    assert forge.merged(before) == ({words} if words else set())
    assert forge.outputs() == {"updated": bool(words), "failed": not words, "unchanged": 0}
    assert ("own token, so no checks start" in forge.summary()) == bool(words)
    assert TOKEN not in done.said + forge.summary()


@pytest.mark.parametrize("repository, name", [("theirs/app", "fine/1"), ("", "nobody-asked")])
@pytest.mark.costly
def test_a_fork_moves_no_branch_of_ours_by_its_name(
    forge: Forge, repository: str, name: str
) -> None:
    before = refs(forge.server)
    env = forge.pull(90, name, repository)
    forge.run("update", **env)
    forge.run("update", **env, KMERGE_ACTION_BRANCH=name)
    assert refs(forge.server) == before
    assert forge.outputs() == {"updated": 0, "failed": 0, "unchanged": 0}
    assert "is in a fork and was not updated" in forge.summary()


def test_the_main_branch_is_never_moved(forge: Forge) -> None:
    """It can be the head of a request, onto a branch that is released from."""
    main = forge.server.head("refs/heads/main")
    onto = {"KMERGE_ACTION_WITH": "nobody-asked"}
    forge.run("sweep", **onto, KMERGE_ACTION_BRANCHES="main")
    forge.run("update", **onto, KMERGE_ACTION_BRANCH="main")
    assert forge.server.head("refs/heads/main") == main
    assert forge.outputs() == {"updated": 0, "failed": 0, "unchanged": 0}


@pytest.mark.skipif(not shutil.which("jq"), reason="gh has its own jq, and there is none here")
@pytest.mark.costly
def test_what_is_asked_of_the_forge_in_its_own_words(forge: Forge) -> None:
    """`gh` puts each page of its answer through the filter that it is given."""
    ours, theirs = {"full_name": "ours/app"}, {"full_name": "theirs/app"}
    heads = [("fine/1", ours), ("main", theirs), ("fine/2", None), ("left/1", ours)]
    pulls = [{"head": {"ref": ref, "repo": of}, "base": {"repo": ours}} for ref, of in heads]
    env = gh(forge, json.dumps(pulls))
    program = Path(env["KMERGE_ACTION_GH"])
    text = program.read_text().replace(
        "cat '", 'while [ "$1" != --jq ]; do shift; done; jq -r "$2" \''
    )
    program.write_text(text)
    before = refs(forge.server)
    forge.run("sweep", **env)
    assert forge.merged(before) == {"fine/1"}
    assert forge.outputs() == {"updated": 1, "failed": 1, "unchanged": 0}
    assert "Pull requests of forks, not updated: 2." in forge.summary()


def test_an_event_that_says_nothing_of_the_fork(forge: Forge) -> None:
    env = forge.pull(4, "fine/1") | {"GITHUB_EVENT_PATH": "nowhere.json"}
    assert "the event could not be read" in forge.run("update", code=2, **env).out


@pytest.mark.costly
def test_what_cannot_be(forge: Forge) -> None:
    before = refs(forge.server)
    for mode, env, words in (
        ("check", {}, "must be update or sweep"),
        ("sweep", {"GITHUB_REF": "refs/tags/fine/1"}, "no target branch"),
        ("sweep", {"KMERGE_ACTION_WITH": "fine"}, "the target branch does not exist"),
        ("sweep", {"KMERGE_ACTION_REMOTE_URL": "/nowhere"}, "could not be listed"),
        ("sweep", {"KMERGE_ACTION_BRANCHES": "*", "KMERGE_ACTION_COMMAND": "false"}, "no result"),
        ("sweep", {"KMERGE_ACTION_BRANCHES": "*", "KMERGE_ACTION_COMMITTER": "x"}, "NAME <MAIL>"),
        ("update", {}, "this event has no pull request"),
    ):
        done = forge.run(mode, code=2, **env)
        assert words in done.out
        (command,) = commands_in(done.out)
        assert command.startswith("::error title=kmerge refresh::")
        why = command.rpartition("::")[2]
        assert forge.summary().endswith(f"`kmerge refresh` did not run: {why}.\n")
    assert refs(forge.server) == before


def test_a_branch_that_is_gone(forge: Forge) -> None:
    forge.run("update", KMERGE_ACTION_BRANCH="gone")
    assert "There is no branch to update." in forge.summary()
    assert forge.outputs() == {"updated": 0, "failed": 0, "unchanged": 0}


@pytest.mark.costly
def test_branches_that_go_and_move_meanwhile(forge: Forge) -> None:
    """Before they are fetched, and after."""
    server, tools = f"git --git-dir='{forge.server.path}'", forge.world.root / "tools"
    tools.mkdir()
    once = tools / "once"
    path = forge.world.env["PATH"]
    other = forge.server.head("refs/heads/clean/1")
    (tools / "git").write_text(
        f"#!/bin/sh\nPATH='{path}'\nif [ \"$1\" = fetch ] && [ ! -e '{once}' ]; then touch '{once}'; "
        f'env -u GIT_DIR {server} update-ref -d refs/heads/fine/1; fi\nexec git "$@"\n'
    )
    (tools / "kmerge").write_text(
        f"#!/bin/sh\nunset GIT_DIR\n{server} update-ref -d refs/heads/fine/2\n"
        f'{server} update-ref refs/heads/fine/3 {other}\necho "$SAID" >&2\nexec "$BEHIND" "$@"\n'
    )
    for name in ("git", "kmerge"):
        (tools / name).chmod(0o755)
    env = {
        "PATH": f"{tools}:{path}",
        "SAID": "kmerge: ##[set-output name=updated;]9",  # a path in an error can hold it
        "BEHIND": str(forge.world.root / "bin" / "kmerge"),
        "KMERGE_ACTION_BRANCHES": "fine/*\nodd/;*",
    }
    done = forge.run("sweep", **env)
    assert env["SAID"] in done.out
    assert len(commands_in(done.out)) == 1
    names = set(refs(forge.server))
    assert not names & {"refs/heads/fine/1", "refs/heads/fine/2"}
    assert forge.server.head("refs/heads/fine/3") == other
    assert forge.outputs() == {"updated": 1, "failed": 2, "unchanged": 2}
    assert "| rejected | <code>fine/3</code> |" in forge.summary()


@pytest.fixture
def asking(world: World) -> Iterator[tuple[str, list[str]]]:
    """A server that wants to know who asks, and the words that it gets."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers.get("Authorization", ""))
            self.send_response(403 if heard[-1] else 401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", heard
    server.shutdown()
    server.server_close()


def test_the_token_is_given_to_its_server_alone(
    forge: Forge, asking: tuple[str, list[str]]
) -> None:
    """By git's own way, and stands in no argument and no word of the log."""
    url, heard = asking
    log = forge.world.root / "argv"
    (forge.world.root / "bin" / "git").write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$*\" >>'{log}'\nPATH='{forge.world.env['PATH']}'\n"
        'PATH=${PATH#*:}; exec git "$@"\n'
    )
    (forge.world.root / "bin" / "git").chmod(0o755)
    env = {"KMERGE_ACTION_TOKEN": TOKEN, "GITHUB_SERVER_URL": url, "KMERGE_ACTION_REMOTE_URL": ""}
    env |= {"GIT_TRACE": "1", "GIT_TRACE_CURL": "1"}
    done = forge.run("sweep", code=2, **env)
    assert heard[0] == ""
    assert b64decode(heard[1].split()[1]).decode() == f"x-access-token:{TOKEN}"
    told = done.said + log.read_text() + forge.summary()
    assert "ls-remote" in told
    assert not {word for word in (TOKEN, heard[1].split()[1]) if word in told}
    heard.clear()
    other = url.replace("127.0.0.1", "localhost")  # another server as far as git knows
    forge.run(
        "sweep", code=2, **env | {"KMERGE_ACTION_REMOTE_URL": f"{url}/x", "GIT_CONFIG_COUNT": "0"}
    )
    assert heard[1:]
    heard.clear()
    forge.world.git("config", "--global", f"url.{other}/.insteadOf", f"{url}/")
    forge.run("sweep", code=2, **env)
    assert set(heard) == {""}
