"""`kmerge generate`: outputs are those of the merged sources, or everything is as it was."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest
from depth import kill_points, part
from manifests import deployment
from terminal import Terminal
from world import Done, Driven, Repo, World

SOURCE, OUTPUT, SECOND = "src/a.yaml", "gen/a.yaml", "gen/all.txt"
COMMAND = "for f in src/*.yaml; do sed 's/^/out: /' $f >gen/${f##*/}; done; cat src/* >gen/all.txt"
FOLDER = "kmerge-generate"


def set_up(repo: Repo, name: str = "all", **fields: str | list[str]) -> None:
    """Name a generator in the repository's own configuration."""
    given = {"command": COMMAND, "files": "gen/**", "sources": "src/**"} | fields
    text = f'[kmerge "generate.{name}"]\n'
    for field, value in given.items():
        for one in [value] if isinstance(value, str) else value:
            quoted = one.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            text += f'\t{field} = "{quoted}"\n'
    with (repo.path / ".git" / "config").open("a") as file:
        file.write(text)


def outputs(value: int) -> dict[str, str | bytes]:
    source = f"v: {value}\n"
    return {SOURCE: source, OUTPUT: f"out: {source}", SECOND: source}


def fork(repo: Repo) -> None:
    """A merge that stopped: the source is decided for theirs, both outputs are in conflict."""
    repo.fork(outputs(1) | {"Makefile": "all:\n"}, outputs(2), outputs(3) | {"Makefile": "x:\n"})
    repo.merge()
    repo.git("checkout", "--theirs", SOURCE)
    repo.git("add", SOURCE)


@pytest.fixture
def stopped(repo: Repo) -> Repo:
    fork(repo)
    set_up(repo)
    return repo


def generate(repo: Repo, *words: str, code: int = 0, env: dict[str, str] | None = None) -> Done:
    done = repo.kmerge("generate", *(words or ("--yes",)), check=False, env=env)
    assert done.code == code, done.err
    return done


def state(repo: Repo) -> tuple[object, ...]:
    """The index, HEAD, and the bytes of each file of the working tree."""
    files = {
        str(file.relative_to(repo.path)): file.readlink()
        if file.is_symlink()
        else file.read_bytes()
        for file in sorted(repo.path.rglob("*"))
        if ".git" not in file.parts and (file.is_symlink() or file.is_file())
    }
    return repo.git("ls-files", "-s").out, repo.head(), files


def left(repo: Repo) -> list[str]:
    return sorted(file.name for file in (repo.path / ".git").glob("kmerge*"))


# -- outputs are what the generator makes of the merged sources

TWO_STEPS = {
    # each output begins with a line about its source, so that a clean merge of lines is wrong
    "one": (
        "rm -f mid/*.txt; for f in src/*.txt; do"
        " { wc -l <$f | tr -d ' '; cat $f; wc -l <$f | tr -d ' '; } >mid/${f##*/}; done",
        "mid/**",
        "src/*.txt",
    ),
    "two": ("cat mid/*.txt rules/top >out.lst; sort mid/*.txt >sorted.lst", "*.lst", "mid/*"),
}


def made(sources: dict[str, str]) -> dict[str, str]:
    """The outputs of both steps, as the page of a sane person says."""
    mid = {}
    for name, text in sources.items():
        if name.startswith("src/"):
            count = text.count("\n")
            mid[f"mid/{name[4:]}"] = f"{count}\n{text}{count}\n"
    ordered = [mid[name] for name in sorted(mid)]
    lines = sorted("".join(ordered).splitlines(True))
    return mid | {"out.lst": "".join(ordered) + sources["rules/top"], "sorted.lst": "".join(lines)}


def edited(chance: random.Random, sources: dict[str, str], half: int) -> dict[str, str]:
    """The sources with some edits: a line in one half, new files, files that are gone."""
    now = dict(sources)
    for name in sorted(sources):
        lines = now[name].splitlines(True)
        at = half * len(lines) // 2 + chance.randrange(1, 4) if chance.random() < 0.8 else 0
        lines[at : at + chance.randrange(2)] = [f"{chance.randrange(1000)}\n"]
        if chance.random() < 0.6:
            now[name] = "".join(lines)
    if chance.random() < 0.3:
        now[f"src/{chance.choice('xyz')}.txt"] = f"{chance.randrange(1000)}\n"
    if chance.random() < 0.3:
        del now[chance.choice(sorted(name for name in now if name.startswith("src/")))]
    return now


@pytest.mark.parametrize("seed", part(range(40)))
def test_each_output_is_what_the_generator_makes_of_the_merged_sources(
    world: World, seed: int
) -> None:
    """Of the 40, outputs are in conflict in 34, and clean but wrong in 16."""
    chance = random.Random(seed)
    repo = world.init()
    base = {f"src/{name}.txt": "".join(f"{n}\n" for n in range(12)) for name in "abc"}
    base["rules/top"] = "".join(f"top {n}\n" for n in range(12))
    sides = [edited(chance, base, 0), edited(chance, base, 1)]
    marks = {".gitattributes": "mid/** kmerge-generated\n"} if seed % 2 else {}
    kept: list[dict[str, str | bytes]] = []
    for number, one in enumerate([base, *sides]):
        files = {**marks, **one, **made(one)}
        if number and chance.random() < 0.3:  # one side tracks an output no longer
            files.pop(chance.choice(sorted(made(one))))
        kept.append(dict(files))
    repo.commit("base", kept[0])
    for branch, files in zip(("side", "own"), (kept[2], kept[1]), strict=True):
        repo.git("checkout", "-q", "-b", branch, "main")
        for name in kept[0].keys() - files.keys():
            (repo.path / name).unlink()
        repo.commit(branch, files)
    for name in ("two", "one"):
        command, written, read = TWO_STEPS[name]
        sources = [read, "rules/*"] if name == "two" else read
        set_up(repo, name, command=f"mkdir -p mid; {command}", files=written, sources=sources)
    way = ("rebase", "side") if seed % 4 == 3 else ("merge", "side")
    repo.git(*way, check=False)
    merged = {}
    for name in sorted({*base, *sides[0], *sides[1]}):  # a person decides: theirs, where in doubt
        file = repo.path / name
        if name in repo.unmerged():
            text = sides[1].get(name)
            file.unlink(missing_ok=True)
            if text is not None:
                repo.write(name, text)
            repo.git("add", "-A", "--", name)
        if file.exists():
            merged[name] = file.read_text()
    wanted = made(merged)
    done = repo.kmerge("generate", "--yes", check=False)
    assert done.code == 0, done.err
    assert {name: repo.text(name) for name in wanted} == wanted
    listed = repo.git("ls-files", "mid", "*.lst").lines
    assert listed == sorted(wanted)
    assert repo.unmerged() == []
    assert repo.git("diff", "--name-only").out == ""  # all of it is staged
    assert left(repo) == []


def test_a_chain_runs_in_the_order_in_which_outputs_are_sources(stopped: Repo) -> None:
    log = stopped.world.root / "log"
    names = [("c", "gen/c", "gen/b"), ("b", "gen/b", "gen/a"), ("a", "gen/a", "src/*")]
    config = stopped.path / ".git" / "config"
    config.write_text(config.read_text().partition("[kmerge")[0])
    for name, written, read in names:
        command = f"echo {name} >>{log}; echo {name} >{written}"
        set_up(stopped, name, command=command, files=written, sources=read)
    done = generate(stopped)
    assert log.read_text().split() == ["a", "b", "c"]
    assert "3 generated files staged" in done.err
    log.unlink()
    generate(stopped, "b", "--yes")
    assert log.read_text().split() == ["b"]


def test_a_circle_of_generators_is_refused(stopped: Repo) -> None:
    set_up(stopped, "other", command="touch ran", files="src/**", sources="gen/**")
    done = generate(stopped, code=2)
    assert done.err.startswith("kmerge: these generators depend on each other in a circle: ")
    assert not (stopped.path / "ran").exists()


def test_only_what_is_named_runs(stopped: Repo) -> None:
    set_up(stopped, "other", command="touch ran", files="ran", sources="src/**")
    generate(stopped, "all", "--yes")
    assert not (stopped.path / "ran").exists()
    done = generate(stopped, "al", "--yes", code=2)
    assert "kmerge.generate.al" in done.err


def test_new_outputs_are_staged_and_ignored_ones_are_not(stopped: Repo) -> None:
    stopped.write(".git/info/exclude", "*.tmp\n")
    set_up(stopped, "new", command="touch gen/new gen/x.tmp; rm gen/all.txt", sources="gen/a.yaml")
    generate(stopped)
    assert stopped.git("ls-files", "gen").lines == [OUTPUT, "gen/new"]
    assert stopped.unmerged() == []


def test_it_runs_at_the_top_without_input(stopped: Repo) -> None:
    set_up(
        stopped, command=f"{COMMAND}; pwd >gen/all.txt; cat >>gen/all.txt; echo done >>gen/all.txt"
    )
    (stopped.path / "sub").mkdir()
    words = ("-m", "kmerge_git", "generate", "--yes")
    done = stopped.world.python(*words, cwd=stopped.path / "sub", stdin="input\n")
    assert stopped.text(SECOND) == f"{stopped.path}\ndone\n", done.err


def test_in_a_linked_worktree(stopped: Repo) -> None:
    stopped.git("reset", "-q", "--hard")
    tree = stopped.world.root / "tree"
    stopped.git("worktree", "add", "-q", "-b", "other", tree, "HEAD")
    linked = Repo(stopped.world, tree)
    linked.merge()
    linked.git("checkout", "--ours", SOURCE)
    linked.git("add", SOURCE)
    kill = f'{COMMAND}; [ -e "$KILLED" ] && kill -9 $PPID'
    set_up(stopped, command=f"{kill}; true")
    killed(linked, KILLED="/")
    inside = stopped.path / ".git" / "worktrees" / "tree"
    assert (inside / FOLDER / "old" / OUTPUT).exists()
    assert f"{inside}/{FOLDER}" in linked.kmerge("status", check=False).out
    assert FOLDER not in stopped.kmerge("status", check=False).out
    generate(linked, "--restore")
    generate(linked)
    assert linked.text(OUTPUT) == "out: v: 2\n"
    assert linked.unmerged() == []


# -- who is asked, and what is shown before


def test_without_a_terminal_it_needs_a_yes(stopped: Repo) -> None:
    before = state(stopped)
    done = stopped.kmerge("generate", check=False)
    assert done.code == 2
    assert done.err.splitlines()[-1] == (
        "kmerge: cannot ask without a terminal; use --yes to run the commands"
    )
    assert state(stopped) == before


@pytest.mark.parametrize("answer", ["y", "n", ""])
def test_a_person_is_asked(stopped: Repo, answer: str) -> None:
    set_up(stopped, command=f"if (: </dev/tty); then touch gen/terminal; fi; {COMMAND}")
    before = state(stopped)
    argv = [sys.executable, "-m", "kmerge_git", "generate"]
    with Terminal(argv, cwd=stopped.path, env=stopped.world.env) as terminal:
        shown = terminal.wait("Run these commands? [y/N]")
        assert "kmerge: Makefile: this file was changed" in shown and "all runs `if (: " in shown
        assert state(stopped) == before
        terminal.press(f"{answer}\n")
        code = terminal.end()
    assert code == (0 if answer == "y" else 1)
    assert (state(stopped) == before) == (answer != "y")
    assert not (stopped.path / "gen/terminal").exists()  # a command has no hold of it


def shown(done: Done) -> list[str]:
    end = ": this file was changed, and a command may run it"
    lines = [line.removeprefix("kmerge: ") for line in done.err.splitlines()]
    return [line.removesuffix(end) for line in lines if line.endswith(end)]


def test_what_others_changed_is_listed(repo: Repo) -> None:
    base: dict[str, str | bytes] = {"Makefile": "a\n", "own.sh": "a\n", "gone.sh": "a\n"}
    theirs = outputs(3) | {"Makefile": "b\n", "src/x.go": "x\n", "gone.sh": "", "x.json": "{}\n"}
    repo.fork(outputs(1) | base, outputs(2) | {"own.sh": "b\n"}, theirs | {"e\x1b[2J": "x\n"})
    set_up(repo, sources="nothing")
    repo.merge()
    done = repo.kmerge("generate", check=False)
    assert shown(done) == ["Makefile", "e\\x1b[2J", "gone.sh", "src/x.go"]
    assert "merge: 4 changed files, not counting manifests and generated files" in done.err
    repo.git("merge", "--abort")
    done = repo.kmerge("generate", check=False)
    assert shown(done) == []
    assert "no merge or rebase is in progress: 0 changed files, not counting" in done.err
    repo.git("rebase", "side", check=False)
    done = repo.kmerge("generate", check=False)
    assert shown(done) == ["Makefile", "e\\x1b[2J", "gone.sh", "own.sh", "src/x.go"]
    repo.git("rebase", "--abort")
    repo.git("merge", "--squash", "side", check=False)
    repo.git("checkout", "--ours", ".")
    repo.git("add", ".")
    assert shown(repo.kmerge("generate", check=False))[0] == "Makefile"


def test_links_and_submodules_that_others_bring_are_listed(stopped: Repo) -> None:
    """A command may copy what a link leads to; a submodule asks not to be seen."""
    stopped.git("merge", "--abort")
    stopped.switch("side")
    (stopped.path / "src/link.yaml").symlink_to("../../secret")
    stopped.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./x\n\tignore = all\n')
    stopped.git("add", "-A")
    stopped.git("update-index", "--add", "--cacheinfo", f"160000,{stopped.head()},sub")
    stopped.git("commit", "-qm", "more")
    stopped.switch("main")
    stopped.merge("-Xtheirs")
    stopped.git("reset", "-q", "--soft", "HEAD^")
    stopped.write(".git/MERGE_HEAD", stopped.head("side") + "\n")
    done = stopped.kmerge("generate", check=False)
    assert shown(done) == [".gitmodules", "Makefile", "src/link.yaml", "sub"]


def test_in_a_rebase(stopped: Repo) -> None:
    stopped.git("merge", "--abort")
    stopped.git("rebase", "side", check=False)
    stopped.git("checkout", "--theirs", SOURCE)
    stopped.git("add", SOURCE)
    generate(stopped)
    stopped.git("rebase", "--continue", env={"GIT_EDITOR": "true"})
    assert stopped.show(f"HEAD:{OUTPUT}") == "out: v: 2\n"
    assert stopped.git("status", "--porcelain").out == ""


@pytest.mark.parametrize("torn", ["unmerged", "marked"])
def test_no_source_may_be_in_conflict(stopped: Repo, torn: str) -> None:
    stopped.git("checkout", "-m", SOURCE)
    if torn == "marked":
        stopped.git("add", SOURCE)
    before = state(stopped)
    done = generate(stopped, code=2)
    assert (
        f"kmerge: {SOURCE}: a generator reads this file: resolve its conflict first; no generator was run"
        in (done.err)
    )
    assert state(stopped) == before


def test_without_sources_every_other_file_is_one(stopped: Repo) -> None:
    stopped.git("checkout", "-m", SOURCE)
    config = stopped.path / ".git" / "config"
    config.write_text(config.read_text().replace("sources = ", "other = "))
    generate(stopped, code=2)
    stopped.git("add", SOURCE)
    stopped.write(SOURCE, "v: 3\n")
    generate(stopped)


def test_markers_that_are_committed_are_no_conflict(stopped: Repo) -> None:
    stopped.git("reset", "-q", "--hard")
    text = "an example:\n<<<<<<< ours\n=======\n>>>>>>> theirs\n"
    stopped.commit("markers", {"src/b.yaml": text})
    generate(stopped, code=1)  # the output has them for the first time
    stopped.commit("markers", {SECOND: stopped.text(SOURCE) + text, "gen/b.yaml": ""})
    set_up(stopped, command="cat src/* >gen/all.txt")
    generate(stopped)


# -- what fails leaves things as they were


@pytest.mark.parametrize(
    "command, why",
    [
        ("exit 3", "all: exit code 3"),
        ("kill -9 $$", "all: exit code -9"),
        ("echo '<<<<<<< x' >>gen/a.yaml", f"{OUTPUT}: it has conflict markers"),
        (
            "rm gen/all.txt; ln -s /etc/passwd gen/all.txt",
            f"{SECOND}: it is no longer a regular file",
        ),
        ("rm gen/all.txt; mkdir gen/all.txt", f"{SECOND}: it is no longer a regular file"),
    ],
)
def test_a_failure_puts_the_outputs_back(stopped: Repo, command: str, why: str) -> None:
    (stopped.path / OUTPUT).chmod(0o755)
    before = state(stopped)
    set_up(stopped, command=f"{COMMAND}; echo >gen/new; rm gen/a.yaml; echo >gen/a.yaml; {command}")
    done = generate(stopped, code=1)
    assert done.err.splitlines()[-1] == (
        f"kmerge: {why}; the generated files were restored, and nothing was staged"
    )
    assert state(stopped) == before
    assert (stopped.path / OUTPUT).stat().st_mode & 0o777 == 0o755
    assert left(stopped) == []


def test_what_could_not_be_put_back_is_refused(stopped: Repo) -> None:
    """Some systems take this name for `.git`, so nothing is ever written there."""
    stopped.write("gen/.g\u200cit/x", "x")
    set_up(stopped, command="touch ../ran")
    done = generate(stopped, code=2)
    assert "git reads as `.git`" in done.err
    assert not (stopped.world.root / "ran").exists()
    assert left(stopped) == []


def test_one_at_a_time(stopped: Repo) -> None:
    inner = f"{shlex.quote(sys.executable)} -m kmerge_git generate"
    set_up(stopped, command=f"{inner} --yes; {inner} --restore; {COMMAND}; echo said")
    done = generate(stopped)
    assert "an earlier `kmerge generate` is still running or was killed" in done.err
    assert "another kmerge process uses this directory" in done.err
    assert (done.out, "\nsaid\n" in done.err) == ("", True)


def test_a_failure_ends_the_chain(stopped: Repo) -> None:
    before = state(stopped)
    set_up(stopped, "next", command="touch ../ran", files="gen/b", sources="gen/a.yaml")
    set_up(stopped, command=f"{COMMAND}; exit 1")
    generate(stopped, code=1)
    assert state(stopped) == before
    assert not (stopped.world.root / "ran").exists()


def test_a_slow_command_is_ended_with_all_its_processes(stopped: Repo) -> None:
    before = state(stopped)
    stubborn = "exec >/dev/null 2>&1; trap '' TERM; sleep 50 & echo $! >../pid; echo >gen/a.yaml; while :; do sleep 1; done"
    set_up(stopped, command=stubborn, timeout="1")
    code = "import kmerge_git.whole.generating as g, sys; g.GRACE_SECONDS = .2; "
    code += "from kmerge_git.cli.main import main; sys.exit(main(['generate', '--yes']))"
    done = stopped.world.python("-c", code, cwd=stopped.path, check=False)
    assert done.code == 1, done.err
    assert "all: stopped after 1 s (`kmerge.generate.all.timeout`); the generated" in done.err
    assert state(stopped) == before
    assert is_gone(int((stopped.world.root / "pid").read_text()))


def is_gone(process: int) -> bool:
    """Whether a process ends soon; nobody may have waited for it yet."""
    for _ in range(100):
        status = Path(f"/proc/{process}/stat")
        try:
            os.kill(process, 0)
            if status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_an_interrupt_ends_the_command_and_puts_back(stopped: Repo, name: str) -> None:
    before = state(stopped)
    set_up(stopped, command=f"echo $$ >../pid; {COMMAND}; kill -{name} $PPID; sleep 50")
    # who starts the tests in the background lets them ignore Ctrl-C
    as_a_person = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    run = (
        "sys.argv[1:] = ['generate', '--yes']; runpy.run_module('kmerge_git', run_name='__main__')"
    )
    code = f"import runpy, signal, sys; {as_a_person}; {run}"
    argv = [sys.executable, "-c", code]
    done = stopped.world.run(*argv, cwd=stopped.path, check=False, timeout=60)
    assert done.code == 130, done.err
    assert is_gone(int((stopped.world.root / "pid").read_text()))
    assert state(stopped) == before
    assert left(stopped) == []


def test_what_a_command_leaves_running_ends_with_it(stopped: Repo) -> None:
    set_up(stopped, command=f"{COMMAND}; (sleep 50; touch gen/late) & echo $! >../pid")
    generate(stopped)
    assert is_gone(int((stopped.world.root / "pid").read_text()))


@pytest.mark.parametrize(
    "command, named",
    [
        ("echo x >>own.txt", ["own.txt"]),
        ("chmod +x own.txt", ["own.txt"]),
        ("rm own.txt", ["own.txt"]),
        ("touch new.txt", ["new.txt"]),
        ("git add loose.txt", ["loose.txt"]),
        ("echo x >>loose.txt", ["loose.txt"]),
        ("echo x >>src/a.yaml", [SOURCE]),
        ("rm -f own.txt; ln -s x own.txt", ["own.txt"]),
        ("git commit -qm x --no-verify -- own.txt || git update-ref HEAD HEAD~1", ["HEAD"]),
        ("echo x >'a\nb\x1b'", ["a\\nb\\x1b"]),
    ],
)
def test_what_else_changes_is_listed_and_nothing_is_staged(
    repo: Repo, command: str, named: list[str]
) -> None:
    repo.commit("own", {"own.txt": "own\n"})
    fork(repo)
    repo.write("loose.txt", "loose\n")
    repo.write("same.txt", "same\n")
    set_up(repo, command=f"{COMMAND}; cp same.txt t; rm t; touch same.txt src/a.yaml; {command}")
    index = repo.git("ls-files", "-s", "gen").out
    done = generate(repo, code=1)
    lines = [
        line for line in done.err.splitlines() if line.endswith("no `.files` setting matches it")
    ]
    assert lines == [
        f"kmerge: {name}: this file was changed, but no `.files` setting matches it"
        for name in named
    ]
    assert done.err.splitlines()[-1] == "kmerge: nothing was staged, and nothing was restored"
    assert repo.git("ls-files", "-s", "gen").out == index
    assert repo.text(OUTPUT) == "out: v: 3\n" or SOURCE in named
    assert left(repo) == []


def test_a_failure_and_a_change_elsewhere_are_both_told(stopped: Repo) -> None:
    set_up(stopped, command=f"{COMMAND}; touch new.txt; exit 1")
    outputs_before = stopped.bytes(OUTPUT)
    done = generate(stopped, code=1)
    assert "kmerge: new.txt: this file was changed" in done.err
    assert (stopped.path / "new.txt").exists()
    assert stopped.bytes(OUTPUT) == outputs_before


def test_nothing_is_run_while_another_process_holds_the_index(stopped: Repo) -> None:
    stopped.write(".git/index.lock", "")
    set_up(stopped, command="touch ../ran")
    generate(stopped, code=2)
    assert not (stopped.world.root / "ran").exists()


# -- a kill


def killed(repo: Repo, **env: str) -> None:
    """Run it in a process that gets no chance to do anything when it is killed."""
    argv = [sys.executable, "-m", "kmerge_git", "generate", "--yes"]
    done = repo.world.run(*argv, cwd=repo.path, check=False, env=env)
    assert done.code == -signal.SIGKILL, done.err


def test_after_a_kill_nothing_is_put_back_unasked(stopped: Repo) -> None:
    before = state(stopped)
    set_up(stopped, command=f"{COMMAND}; rm gen/all.txt; echo new >gen/new; kill -9 $PPID")
    killed(stopped)
    after = state(stopped)
    assert after != before and after[0] == before[0]
    for words in (("status",), ("solve",), ("resolve", "--auto"), ("explain",)):
        stopped.kmerge(*words, check=False)
    assert state(stopped) == after
    told = stopped.kmerge("status", check=False).out
    assert "`kmerge generate` is still running or was killed" in told
    assert "run `kmerge generate --restore` to restore them" in told
    done = generate(stopped, code=2)
    assert (
        "an earlier `kmerge generate` is still running or was killed; run `kmerge generate --restore`"
        in done.err
    )
    assert state(stopped) == after
    done = generate(stopped, "--restore")
    assert state(stopped) == before
    saved = Path(done.err.split()[-1])
    files = {str(f.relative_to(saved)): f.read_text() for f in saved.rglob("*") if f.is_file()}
    assert files == {OUTPUT: "out: v: 3\n", "gen/new": "new\n"}
    assert "generate" not in stopped.kmerge("status", check=False).out
    assert left(stopped) == [saved.name]
    done = generate(stopped, "--restore", code=2)
    assert "no run of `kmerge generate` was killed" in done.err


def test_nothing_is_put_back_below_a_command_that_still_runs(stopped: Repo) -> None:
    quiet = "exec >/dev/null 2>&1"  # or the test would wait for the end of its output
    set_up(
        stopped,
        command=f"{quiet}; echo half >gen/a.yaml; echo $$ >../pid; kill -9 $PPID; sleep 50",
    )
    killed(stopped)
    after = state(stopped)
    done = generate(stopped, "--restore", code=2)
    assert "another kmerge process uses this directory; wait until it ends" in done.err
    assert state(stopped) == after
    os.killpg(int((stopped.world.root / "pid").read_text()), signal.SIGKILL)
    for _ in range(100):
        if stopped.kmerge("generate", "--restore", check=False).code == 0:
            break
        time.sleep(0.05)
    assert stopped.text(OUTPUT) != "half\n"


WATCHED = """
import os, sys
left = [{at}]
def watched(call):
    def ask(*args, **named):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), 9)
        return call(*args, **named)
    return ask
import kmerge_git.whole.generating
from kmerge_git.cli.main import main
for name in ("rename", "replace", "unlink", "rmdir", "mkdir", "link", "symlink", "makedirs"):
    setattr(os, name, watched(getattr(os, name)))
sys.exit(main(["generate", "{word}"]))
"""


@pytest.mark.kill
@pytest.mark.parametrize("word", ["--yes", "--restore"])
def test_a_kill_at_any_step_loses_no_output(repo: Repo, word: str) -> None:
    """Killed before each call that changes something: in a run that fails, in what puts it back."""
    fork(repo)
    before = state(repo)
    failing = f"{COMMAND}; echo >gen/new; echo half >>gen/a.yaml"
    set_up(repo, command=f"{failing}; false")
    codes = []
    for at in kill_points():
        if word == "--restore":
            set_up(repo, command=f"{failing}; kill -9 $PPID")
            assert repo.kmerge("generate", "--yes", check=False).code < 0
        code = WATCHED.format(at=at, word=word)
        codes.append(repo.world.python("-c", code, cwd=repo.path, check=False).code)
        if (repo.path / ".git" / FOLDER).exists():
            generate(repo, "--restore")
        assert state(repo) == before, f"killed at {at}"
        if codes[-1] >= 0:
            break
    assert {*codes[:-1]} == {-9} and codes[-1] == (1 if word == "--yes" else 0)
    assert len(codes) > 4


# -- nothing runs that the repository itself does not name, or that nobody asked for

EVIL = 'command = "touch ../ran"\n\tfiles = gen/**\n\tsources = src/**\n'


@pytest.mark.parametrize(
    "where", ["global", "included", "count", "parameters", "GIT_CONFIG", "worktree", "attributes"]
)
def test_only_the_repository_itself_names_commands(repo: Repo, where: str) -> None:
    """Whatever else git reads, also what comes with a clone."""
    files = {"evil": f'[kmerge "generate.all"]\n\t{EVIL}', ".gitconfig": f"[kmerge]\n\t{EVIL}"}
    attributes = "gen/** kmerge-generated kmerge-generate='touch ../ran' merge=kmerge\n"
    up = repo.world.init("up")
    up.fork({**outputs(1), **files, ".gitattributes": attributes}, outputs(2), outputs(3))
    repo.world.git("clone", "-q", up.path, repo.world.root / "clone")
    clone = Repo(repo.world, repo.world.root / "clone")
    evil = clone.path / "evil"
    env = {}
    if where == "global":
        clone.git("config", "--global", "include.path", evil)
    elif where == "included":
        clone.git("config", "include.path", "../evil")
    elif where == "count":
        env = {"GIT_CONFIG_COUNT": "2"}
        for number, key in enumerate(("command", "files")):
            env[f"GIT_CONFIG_KEY_{number}"] = f"kmerge.generate.all.{key}"
            env[f"GIT_CONFIG_VALUE_{number}"] = "touch ../ran"
    elif where == "parameters":
        env = {"GIT_CONFIG_PARAMETERS": f"'include.path'='{evil}'"}
    elif where == "GIT_CONFIG":
        env = {"GIT_CONFIG": str(evil)}
    elif where == "worktree":
        clone.git("config", "extensions.worktreeConfig", "true")
        clone.write(".git/config.worktree", evil.read_text())
    clone.git("merge", "origin/side", check=False)
    clone.git("checkout", "--ours", ".")
    clone.git("add", ".")
    done = generate(clone, code=2, env=env)
    assert (
        "set `command` and `files` of the generator in the repository's own configuration"
        in done.err
    )
    assert not (repo.world.root / "ran").exists()


def test_a_folder_that_looks_like_a_repository_names_none(repo: Repo) -> None:
    """A clone can bring a bare repository, whose folder is in no `.git`."""
    repo.commit("x", {"x": "x"})
    evil = repo.world.init("repo/evil", bare=True)
    config = evil.path / "config"
    text = config.read_text().replace("bare = true", "bare = false\n\tworktree = ..")
    config.write_text(f'{text}[kmerge "generate.all"]\n\t{EVIL}')
    if repo.git("version").out.split()[2] < "2.38":
        pytest.skip("this git takes it for one, whatever it is asked")
    done = generate(evil, code=2)
    assert "kmerge.generate.NAME" in done.err, done.err
    assert not (repo.path / "ran").exists()
    assert not (repo.world.root / "ran").exists()


def test_nothing_runs_unasked(driven: Driven) -> None:
    """Neither the driver, nor hooks, nor any other command runs a generator."""
    ran = driven.world.root / "ran"
    set_up(driven, command=f"touch {ran}")
    driven.write(".gitattributes", "gen/** kmerge-generated\n*.yaml merge=kmerge\n")
    driven.kmerge("install", "--hooks")
    driven.fork(outputs(1), outputs(2), outputs(3))
    driven.merge()
    for words in (
        ("status",),
        ("status", OUTPUT),
        ("explain",),
        ("solve",),
        ("resolve", "--list"),
        ("resolve", "--take", "theirs", "."),
        ("check", "--merge"),
    ):
        driven.kmerge(*words, check=False)
    driven.git("add", ".")
    driven.git("commit", "-qm", "merged")
    driven.git("reset", "-q", "--hard", "HEAD^")
    for words in (("preview", "side"), ("merge", "side")):
        driven.kmerge(*words, check=False)
    driven.git("merge", "--abort", check=False)
    driven.git("rebase", "side", check=False)
    driven.kmerge("resolve", "--auto", check=False)
    assert not ran.exists()


def test_no_name_of_the_repository_comes_to_a_shell(repo: Repo) -> None:
    """Nor does it change what is staged, written or shown."""
    names = ["gen/$(touch ran)", "gen/`touch ran`", "gen/;touch ran", "gen/-rf", "gen/--", "gen/ "]
    names += [
        "gen/a\nb",
        "gen/\x1b[2J",
        "gen/*",
        "gen/:(top)x",
        os.fsdecode(b"gen/\xff"),
        "gen/'\"",
    ]
    files = dict.fromkeys(names, "1\n")
    repo.fork({SOURCE: "1\n", **files}, {SOURCE: "1\n", **dict.fromkeys(names, "2\n")}, {
        SOURCE: "1\n", **dict.fromkeys(names, "3\n")
    })  # fmt: skip
    repo.merge()
    set_up(repo, command='for f in gen/*; do echo 4 >"$f"; done')
    done = generate(repo)
    assert [repo.text(name) for name in names] == ["4\n"] * len(names)
    assert repo.unmerged() == []
    assert f"{len(names)} generated files staged" in done.err
    assert "\x1b" not in done.err
    set_up(repo, command='for f in gen/*; do echo 5 >"$f"; done; rm gen/--; exit 1')
    before = state(repo)
    generate(repo, code=1)
    assert state(repo) == before
    assert not (repo.path / "ran").exists()


@pytest.mark.parametrize("name", ["a b", "-x", "$(touch ran)", "a.b", "é\x1b"])
def test_odd_names_of_generators(repo: Repo, name: str) -> None:
    fork(repo)
    set_up(repo, name, command=f"{COMMAND}; touch gen/b")
    shown = repo.kmerge("solve", check=False).err
    assert f"`kmerge generate {shlex.quote(name)}`".replace("\x1b", "\\x1b") in shown
    done = generate(repo, "--yes", "--", name)
    assert "3 generated files staged" in done.err
    assert "\x1b" not in done.err + shown
    assert not (repo.path / "ran").exists()


@pytest.mark.parametrize(
    "fields, why",
    [
        ({"command": ""}, "set `command` and `files`"),
        ({"files": []}, "set `command` and `files`"),
        ({"timeout": "soon"}, "`timeout` (seconds)"),
        ({"timeout": "9" * 5000}, "`timeout` (seconds)"),
        ({"timeout": "-1"}, "`timeout` (seconds)"),
    ],
)
def test_what_is_set_wrong_is_told(repo: Repo, fields: dict[str, str], why: str) -> None:
    repo.commit("x", outputs(1))
    set_up(repo, **fields)
    assert why in generate(repo, code=2).err


# -- links


@pytest.mark.parametrize(
    "link, to, files",
    [
        (OUTPUT, "../../secret", "gen/**"),
        (OUTPUT, "../src/a.yaml", "gen/**"),
        ("gen", "..", "gen/**"),
        ("gen", "..", "gen/*.yaml"),
        ("gen/b", "../..", "gen/*/x.yaml"),
        ("gen/b", "../.git/hooks", "gen/*/x"),
        ("gen/b", "../.GIT/hooks", "gen/*/x"),  # the same where names have no case
        ("a/b", "../..", "*.yaml"),
        ("a/b", "../..", "/a/?/c/*.yaml"),
        ("a", "nowhere/../../out", "a/b/**"),
    ],
)
def test_no_link_is_followed(repo: Repo, link: str, to: str, files: str) -> None:
    secret = repo.world.root / "secret"
    secret.write_text("secret\n")
    repo.commit("x", {SOURCE: "v: 1\n", "gen/keep": "x\n"})
    if link == "gen":
        (repo.path / "gen/keep").unlink()
        (repo.path / "gen").rmdir()
    (repo.path / link).parent.mkdir(exist_ok=True)
    (repo.path / link).symlink_to(to)
    repo.git("add", "-A")
    set_up(repo, command="touch ../ran; echo x >gen/a.yaml", files=files)
    done = generate(repo, code=2)
    assert f"kmerge: {link}" in done.err
    assert (
        "a generator writes this path, but it is not a regular file; no generator was run"
        in done.err
    )
    assert not (repo.world.root / "ran").exists()
    assert secret.read_text() == "secret\n"


def test_links_that_no_output_can_reach_are_nobodys_business(stopped: Repo) -> None:
    (stopped.path / "etc").symlink_to("/etc")
    (stopped.path / "gen/inside").mkdir()
    (stopped.path / "gen/inside/link").symlink_to("../../src")
    stopped.git("add", "etc")
    set_up(stopped, files=["gen/*.yaml", "gen/*.txt"])
    config = stopped.path / ".git" / "config"
    config.write_text(config.read_text().replace('files = "gen/**"', 'files = "gen/*.yaml"'))
    generate(stopped)


def test_what_is_put_back_follows_no_link_either(stopped: Repo) -> None:
    outside = stopped.world.root / "outside"
    outside.mkdir()
    (outside / "a.yaml").write_text("mine\n")
    before = state(stopped)
    set_up(stopped, command="mv gen old; ln -s ../outside gen; echo >gen/all.txt; exit 1")
    done = generate(stopped, code=2)
    assert "cannot write: gen is a link" in done.err
    assert (outside / "a.yaml").read_text() == "mine\n"
    assert (stopped.path / ".git" / FOLDER).exists()
    generate(stopped, "--restore", code=2)
    assert (outside / "a.yaml").read_text() == "mine\n"
    assert [*(stopped.path / ".git").glob("kmerge-replaced-*/gen/a.yaml")] == []
    (stopped.path / "gen").unlink()
    (stopped.path / "old").rename(stopped.path / "gen")
    generate(stopped, "--restore")
    assert state(stopped) == before


# -- the commands that name it


def test_the_ends_of_merge_solve_and_resolve_name_it(repo: Repo) -> None:
    repo.fork(outputs(1), outputs(2), outputs(3))
    line = "kmerge: 2 generated files in conflict: resolve the conflicts "
    line += "in their sources, then run `kmerge generate all`"
    ends = []
    for is_set in (False, True):
        ends.append([repo.kmerge("merge", "side", check=False).err.splitlines()])
        for words in (("solve",), ("resolve", "--list"), ("resolve", "--take", "theirs", "src")):
            ends[-1].append(repo.kmerge(*words, check=False).err.splitlines())
        repo.git("merge", "--abort")
        if not is_set:
            set_up(repo)
            set_up(repo, "other", files="other")
    for without, told in zip(*ends, strict=True):
        assert told == [*without, line]
    repo.git("config", "merge.renormalize", "true")  # git merges alone
    assert repo.kmerge("merge", "side", check=False).err.splitlines()[-1] == line
    repo.git("merge", "--abort")
    assert line not in repo.kmerge("merge", "-q", "side", check=False).err
    assert repo.git("checkout", "--ours", "gen").code == 0
    repo.git("add", "gen")
    assert "kmerge generate" not in repo.kmerge("solve", check=False).err


def test_status_says_which_generator_a_file_has(stopped: Repo) -> None:
    told = json.loads(stopped.kmerge("status", "--json", OUTPUT, SOURCE, check=False).out)
    rows = [[r for r in f["settings"] if r["name"] == "generator"] for f in told["files"]]
    place = {"by": "config", "key": "kmerge.generate.all.files", "place": "local"}
    assert rows == [[{"name": "generator", "value": "all", **place}], []]


def test_its_timeout_is_not_that_of_merges(driven: Driven) -> None:
    driven.commit("x", {"x.yaml": deployment()})
    set_up(driven, timeout="7")
    told = json.loads(driven.kmerge("status", "--json", "x.yaml").out)
    (row,) = (r for r in told["files"][0]["settings"] if r["name"] == "timeout")
    assert (row["value"], row["by"]) == ("10 s", "default")
    assert told["files"][0]["problems"] == []


def test_names_are_completed(stopped: Repo) -> None:
    set_up(stopped, "b\x1b")
    done = stopped.kmerge("__complete", "kmerge", "generate", "")
    assert done.lines == ["all"]


# -- a chain: the first generator renders each service, the second lists what the first wrote

MAKEFILE = r"""
SERVICES := $(sort $(wildcard services/*.yaml))

rendered: $(SERVICES)
	mkdir -p rendered
	rm -f rendered/*.yaml
	for f in $(SERVICES); do { echo spec:; sed 's/^/  /' $$f; } >rendered/$$(basename $$f); done

index.yaml: rendered
	for f in rendered/*.yaml; do echo "- $$f"; done >index.yaml

.PHONY: rendered index.yaml
"""
CHAIN = """
git config --local kmerge.generate.rendered.command 'make rendered'
git config --local kmerge.generate.rendered.files 'rendered/*.yaml'
git config --local kmerge.generate.rendered.sources 'services/*.yaml'
git config --local --add kmerge.generate.rendered.sources Makefile
git config --local kmerge.generate.index.command 'make -o rendered index.yaml'
git config --local kmerge.generate.index.files /index.yaml
git config --local kmerge.generate.index.sources 'rendered/*.yaml'
git merge --no-commit topic
kmerge generate --yes
git commit --no-edit
"""


def services(**values: int) -> dict[str, str | bytes]:
    """Services by their names, and what the chain makes of them."""
    files: dict[str, str | bytes] = {"Makefile": MAKEFILE}
    for name, port in values.items():
        files[f"services/{name}.yaml"] = f"name: {name}\nport: {port}\n"
        files[f"rendered/{name}.yaml"] = f"spec:\n  name: {name}\n  port: {port}\n"
    files["index.yaml"] = "".join(f"- rendered/{name}.yaml\n" for name in sorted(values))
    return files


def test_a_chain(repo: Repo) -> None:
    program = repo.world.root / "bin" / "kmerge"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kmerge_git "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{repo.world.env['PATH']}"
    repo.commit("base", services(a=1, b=2, c=3))
    repo.branch("topic")
    repo.git("rm", "-q", "services/b.yaml", "rendered/b.yaml")
    repo.commit("theirs", services(a=1, c=3))
    repo.switch("main")
    repo.commit("ours", services(a=9, b=2, c=3, d=4))
    done = repo.world.run("sh", "-ec", CHAIN, cwd=repo.path, env={"PATH": path})
    assert "rendered runs `make rendered`\nkmerge: the generator index runs" in done.err
    wanted = services(a=9, c=3, d=4)
    assert {name: repo.show(f"HEAD:{name}") for name in wanted} == wanted
    assert repo.git("ls-tree", "-r", "--name-only", "HEAD").lines == sorted(wanted)
    assert repo.git("status", "--porcelain").out == ""
