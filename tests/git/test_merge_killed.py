"""`kmerge merge` killed at any moment: an abort works, no side is lost, git finds nothing broken."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from depth import is_whole, kill_points, part
from manifests import deployment, service, stream
from test_solve import is_sound
from test_solve_killed import steps
from world import Repo

ROUNDS = int(os.environ.get("KMERGE_KILLS", "20"))
BASE = {"all.yaml": stream(deployment(), service(80)), "notes": "1\n"}
OURS = {"all.yaml": deployment(), "service.yaml": service(80), "notes": "2\n"}
THEIRS = {"all.yaml": stream(deployment(), service(8443)), "notes": "1\n"}
SIDES = ("A=1", "OURS=1"), ("A=1", "THEIRS=1")
MANY = 20
for number in range(MANY):
    BASE[f"{number}.yaml"] = deployment()
    OURS[f"{number}.yaml"], THEIRS[f"{number}.yaml"] = (deployment(env=env) for env in SIDES)


def kill_after(repo: Repo, seconds: float) -> int:
    """Start a merge in a group of its own, and end all of it after a while; its exit code."""
    argv = [sys.executable, "-m", "kmerge_git", "merge", "side"]
    with subprocess.Popen(
        argv,
        cwd=repo.path,
        env=repo.world.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as merge:
        try:
            return merge.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(merge.pid, signal.SIGKILL)
            return merge.wait()


@pytest.mark.kill
def test_killed_at_random_moments(repo: Repo) -> None:
    repo.fork(BASE, OURS, THEIRS)
    ours, theirs = repo.head("main"), repo.git("ls-tree", "-r", "side").out
    started = time.monotonic()
    assert repo.kmerge("merge", "side").code == 0
    whole = time.monotonic() - started
    merged = repo.head("HEAD^{tree}")
    repo.git("reset", "-q", "--hard", ours)
    moments = random.Random(14)
    ends = {"before": 0, "merging": 0, "after": 0}
    for share in part([moments.uniform(0.1, 1.1) for _ in range(ROUNDS)], 3):
        kill_after(repo, share * whole)
        end = end_of(repo, ours, merged)
        ends[end] += 1
        whole *= 0.8 if end == "after" else 1.1  # the machine may be busy now and then
        assert repo.head() == ours
        assert is_sound(repo)
        assert repo.git("ls-tree", "-r", "side").out == theirs
        for name, text in OURS.items():
            assert repo.text(name) == text
    print(ends)


def end_of(repo: Repo, ours: str, merged: str) -> str:
    """How far it came; afterwards everything is as it was before."""
    folder = repo.path / ".git"
    for name in ("index.lock", "HEAD.lock", "refs/heads/main.lock", "ORIG_HEAD.lock"):
        (folder / name).unlink(missing_ok=True)
    for left in repo.path.glob(".merge_file_*"):  # git's own, of a driver that was killed with it
        left.unlink()
    if repo.head() != ours:
        assert repo.head("HEAD^{tree}") == merged
        repo.git("reset", "-q", "--hard", ours)
        return "after"
    if (folder / "MERGE_HEAD").exists():
        unstaged = repo.unmerged()
        if not unstaged:  # all is staged then, and nothing is lost by a commit
            assert repo.git("write-tree").out.strip() == merged
        for path in unstaged:  # whoever stages what is there has not thrown a side away unseen
            check_text(repo, path)
        repo.git("merge", "--abort")
        return "merging"
    repo.git("reset", "-q", "--hard", ours)  # git was killed while it wrote the files
    repo.git("clean", "-qfd")
    return "before"


def check_text(repo: Repo, path: str) -> None:
    text = (repo.path / path).read_text() if (repo.path / path).exists() else ""
    both = all(word in text for word in ("OURS", "THEIRS"))
    assert both or "<<<<<<<" in text or path in ("all.yaml", "service.yaml"), path


@pytest.mark.costly
def test_there_are_unmerged_files_until_all_is_staged(repo: Repo) -> None:
    """A hook of git counts them whenever the index is written: it never holds a part of them."""
    repo.fork(BASE, OURS, THEIRS)
    log = repo.world.root / "log"
    hook = f'#!/bin/sh\ngit ls-files -u | cut -f2 | sort -u | wc -l >>"{log}"\n'
    repo.write(".git/hooks/post-index-change", hook).chmod(0o755)
    repo.kmerge("merge", "--no-commit", "side")
    counts = log.read_text().split()
    steps = [count for count, _ in itertools.groupby(counts)]
    # before the merge, what both changed, the file where the Service is now as well, all staged
    assert steps == ["0", str(MANY + 1), str(MANY + 2), "0"]


# A run that is killed, with all of git that it started, right before its n-th step.
KILLED = """
import os, signal, sys
from kmerge_git.cli.main import main
os.setsid()
STEPS = {"os.rename", "os.remove", "os.chmod", "os.fork", "subprocess.Popen", "os.posix_spawn"}
count = 0
def watch(event, args):
    global count
    writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax")
    if event in STEPS or writes:
        count += 1
        if count == int(sys.argv[1]):
            os.killpg(0, signal.SIGKILL)
sys.addaudithook(watch)
code = main(["merge", "side"])
print("steps", count)
raise SystemExit(code)
"""


@pytest.mark.kill
def test_killed_at_every_step(repo: Repo, tmp_path: Path) -> None:
    few = {"all.yaml", "service.yaml", "notes", "0.yaml"}
    repo.fork(*({k: v for k, v in side.items() if k in few} for side in (BASE, OURS, THEIRS)))
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    ours = repo.head("main")
    repo.kmerge("merge", "side")
    merged = repo.head("HEAD^{tree}")
    repo.git("reset", "-q", "--hard", ours)
    ends = []
    for step in kill_points():
        done = repo.world.python(script, str(step), cwd=repo.path, check=False)
        ends.append(end_of(repo, ours, merged))
        assert is_sound(repo)
        for name in few:
            assert repo.text(name) == OURS[name]
        if done.code == 0:
            break
    # the run before may have had a step more, after a kill that left something
    assert step - kill_points().step - 1 <= steps(done) < step
    assert ends.count("merging") > (6 if is_whole() else 1)
    assert ends[-1] == "after"
