"""`kmerge solve` killed between any two of its steps: an abort works and no side is lost."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from depth import kill_points
from manifests import deployment, service, stream
from test_solve import is_sound
from world import Done, Repo

# A run that is killed right before its n-th step that changes anything: opening a file for
# writing, a rename, a removal, a process (git).
KILLED = """
import os, signal, sys
STEPS = {"os.rename", "os.remove", "os.chmod", "subprocess.Popen", "os.posix_spawn"}
count = 0
def watch(event, args):
    global count
    writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax")
    if event in STEPS or writes:
        count += 1
        if count == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
@
print("steps", count)
raise SystemExit(code)
"""


def killed(imports: str, call: str) -> str:
    """A program that calls something, and is killed before the step that its argument numbers."""
    return f"{imports}\n{KILLED.replace('@', f'code = {call}')}"


def steps(done: Done) -> int:
    """How many steps a program took that was not killed."""
    return int(done.out.rpartition("steps ")[2])


def were_all_killed(done: Done, step: int) -> bool:
    """Whether a run that was to be killed before this step, and ended, had no step in between."""
    return step - kill_points().step <= steps(done) < step


BASE = {"all.yaml": stream(deployment(), service(80)), "app.yaml": deployment(name="b")}
MOVER = {
    "all.yaml": deployment(),
    "service.yaml": service(80),
    "app.yaml": deployment(name="b", env=("A=1", "OURS=1")),
}
EDITOR = {
    "all.yaml": stream(deployment(), service(8443)),
    "app.yaml": deployment(name="b", env=("A=1", "THEIRS=1")),
}


@pytest.mark.kill
@pytest.mark.parametrize("mover", ["ours", "theirs"])
def test_killed_at_every_step(repo: Repo, tmp_path: Path, mover: str) -> None:
    ours, theirs = (MOVER, EDITOR) if mover == "ours" else (EDITOR, MOVER)
    script = tmp_path / "killed.py"
    script.write_text(killed("from kmerge_git.cli.main import main", 'main(["solve"])'))
    repo.fork(BASE, ours, theirs)
    theirs_oids = repo.git("ls-tree", "-r", "side").out
    for step in kill_points():
        assert repo.merge().code == 1
        done = repo.world.python(script, str(step), cwd=repo.path, check=False)
        if done.code == 0:
            break
        assert done.code == -signal.SIGKILL
        _check_the_abort(repo, ours)
        assert repo.git("ls-tree", "-r", "side").out == theirs_oids
    assert were_all_killed(done, step)
    assert steps(done) > 5  # three files are written and renamed, two processes at least
    repo.git("commit", "-q", "--no-edit")
    assert is_sound(repo)


def _check_the_abort(repo: Repo, ours: dict[str, str]) -> None:
    (repo.path / ".git" / "index.lock").unlink(missing_ok=True)
    repo.git("merge", "--abort")
    assert is_sound(repo)
    for name, text in ours.items():
        assert repo.text(name) == text
    assert (repo.path / "service.yaml").exists() == ("service.yaml" in ours)


@pytest.mark.kill
@pytest.mark.parametrize("mover", ["ours", "theirs"])
def test_a_solve_that_was_killed_can_be_run_again(repo: Repo, tmp_path: Path, mover: str) -> None:
    ours, theirs = (MOVER, EDITOR) if mover == "ours" else (EDITOR, MOVER)
    script = tmp_path / "killed.py"
    script.write_text(killed("from kmerge_git.cli.main import main", 'main(["solve"])'))
    repo.fork(BASE, ours, theirs)
    both = ("A=1", "OURS=1", "THEIRS=1") if mover == "ours" else ("A=1", "THEIRS=1", "OURS=1")
    for step in kill_points():
        assert repo.merge().code == 1
        done = repo.world.python(script, str(step), cwd=repo.path, check=False)
        repo.kmerge("solve")
        assert repo.text("all.yaml") == deployment()
        assert repo.text("service.yaml") == service(8443)
        assert repo.text("app.yaml") == deployment(name="b", env=both)
        assert repo.unmerged() == []
        repo.git("merge", "--abort")
        if done.code == 0:
            break
    assert were_all_killed(done, step)
    assert steps(done) > 5
