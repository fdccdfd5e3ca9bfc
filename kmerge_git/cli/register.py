"""`kmerge register`: let a kmerge on PATH register its driver, for the hook `kmerge-register`.

The hook also runs in clones where somebody else may have prepared PATH or the repository. So it
registers only a program that nobody else could have put on PATH. It never fails, because that would
break a checkout.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from kmerge_git.cli.check_repository import is_in_ci
from kmerge_git.cli.in_and_out import warn
from kmerge_git.errors import KmergeError
from kmerge_git.git.config_places import config_values
from kmerge_git.git.installation import DRIVER, Registered, trial
from kmerge_git.git.program_places import cache_of, open_place, working_tree
from kmerge_git.git.run_git import ask_git, ask_here

EPILOG = """\
This command is for hooks. It registers the first kmerge on PATH as the merge driver of this clone,
unless that program is in a working tree, in a cache, or in a directory that other users can write
to. It does nothing in CI, if a driver is already registered, or after
`git config kmerge.autoinstall false`. The exit code is always 0.
"""
SWITCH = "kmerge.autoinstall"
NAME = "kmerge"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line, which has no arguments."""


def run(args: argparse.Namespace) -> int:
    """Register the driver if that is safe and wanted; print at most one line."""
    try:
        top = Path(ask_here("--show-toplevel"))
        if _is_wanted(top):
            warn(_register(top))
    except (KmergeError, OSError) as error:
        warn(f"the merge driver was not registered: {error}")
    return 0


def _is_wanted(top: Path) -> bool:
    """Return whether git has no merge driver, or has one of kmerge that does not run."""
    asked = ("config", "--type=bool", "--get", SWITCH)
    if is_in_ci() or ask_git(*asked, cwd=top).line == "false":
        return False
    *_, line = ["", *config_values(None, DRIVER, top)]
    # "" also for the line of another version of kmerge: only `kmerge install` renews that
    command = Registered("local", DRIVER, line).command
    return not line or bool(command and trial(command, top)[1])


def _register(top: Path) -> str:
    """Let the program register itself; return what was done, or what the user must do."""
    program, refused = _first_on_path(top)
    if program is None:
        return (
            "the merge driver is not registered: "
            f"{'; '.join(refused) or 'there is no other kmerge on PATH'}; "
            "run `uv tool install kmerge-git` (or pipx, or pip), then `kmerge install`"
        )
    import subprocess

    # what the shell of a repository may set must not decide which modules are imported
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(program), "install", "--quiet"]
    done = subprocess.run(command, cwd=top, env=env, capture_output=True, check=False)
    if done.returncode:
        said = os.fsdecode(done.stderr).strip().removeprefix("kmerge: ").partition("\n")[0]
        return f"{program} could not register its merge driver: {said}"
    return (
        f"{program} is registered as the merge driver of this clone; "
        f"to undo this, run `kmerge uninstall` and `git config {SWITCH} false`"
    )


def _first_on_path(top: Path) -> tuple[Path | None, list[str]]:
    """Return the first kmerge on PATH that may be registered, and why those before it may not.

    Programs in caches are not reported, because the environment of pre-commit is always on PATH.
    """
    refused = []
    for folder in os.get_exec_path():
        place = Path(os.path.realpath(folder))
        program = Path(os.path.realpath(place / NAME))
        if cache_of(program.parent) or not os.access(program, os.X_OK):
            continue
        tree = working_tree(place, top) or working_tree(program, top)
        others = open_place(program)
        if program.name != NAME or not program.is_file():
            refused.append(f"{place / NAME} is not a program named {NAME}")
        elif tree:
            refused.append(f"{place / NAME} is in the working tree {tree}")
        elif others:
            refused.append(f"other users can write to {others}, which contains {place / NAME}")
        else:
            return program, refused
    return None, refused
