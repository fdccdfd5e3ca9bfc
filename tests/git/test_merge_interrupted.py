"""Ctrl-C in the middle of `kmerge merge`: git is never killed for it, and answers it itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from manifests import deployment
from test_merge_command import BOTH, forked
from world import Repo

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

# A process whose children know its number.
KNOWN = """
import os, sys
os.environ["MERGE"] = str(os.getpid())
from kmerge_git.cli.main import main
raise SystemExit(main())
"""


def interrupted(repo: Repo, *words: str, editor: str = "false") -> subprocess.CompletedProcess[str]:
    """Run a merge in a group of its own, so that its signals reach nobody else."""
    return subprocess.run(
        [sys.executable, "-c", KNOWN, "merge", *words, "side"],
        cwd=repo.path,
        env=repo.world.env | {"GIT_EDITOR": editor},
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )


@pytest.mark.costly
def test_an_editor_may_have_a_use_for_ctrl_c(repo: Repo) -> None:
    """Git takes no notice of it then: the terminal sends it to all, and only the editor is meant."""
    forked(repo)
    # git is deaf to it only when the editor has been running for a moment
    script = '#!/bin/sh\ntrap "" INT\nsleep 1\nkill -INT 0\nsleep 1\necho edited >"$1"\n'
    editor = repo.write(".git/editor", script)
    editor.chmod(0o755)
    done = interrupted(repo, "--edit", editor=str(editor))
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert repo.git("log", "-1", "--format=%s").out == "edited\n"
    assert repo.text("app.yaml") == BOTH


@pytest.mark.costly
def test_git_ends_its_part_when_only_we_are_stopped(repo: Repo) -> None:
    app = [deployment(), *[deployment(env=("A=1", "B=1"))] * 2]
    repo.fork(*({"app.yaml": app[n], "x.slow": f"{n}\n"} for n in range(3)))
    repo.git("config", "merge.slow.driver", 'kill -INT "$MERGE"; sleep 1; false')
    repo.write(".git/info/attributes", "*.slow merge=slow\n")
    done = interrupted(repo)
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr.startswith("kmerge: the merge was interrupted; ")
    assert done.stderr.count("\n") == 1
    left = {path.name for path in (repo.path / ".git").iterdir()}
    assert "index.lock" not in left
    assert not [name for name in left if name.startswith("kmerge")]
    assert repo.unmerged() == ["x.slow"]
    repo.git("merge", "--abort")


@pytest.mark.costly
def test_a_hook_that_is_stopped_leaves_the_merge_to_a_person(repo: Repo) -> None:
    forked(repo)
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\nkill -INT 0\nsleep 5\n").chmod(0o755)
    done = interrupted(repo)
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr.startswith("kmerge: the merge was interrupted; ")
    assert repo.git("status", "--porcelain").out == "M  app.yaml\n"
    assert not (repo.path / ".git/index.lock").exists()
    repo.git("merge", "--abort")
