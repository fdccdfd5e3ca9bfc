"""The plain git hooks for people without the pre-commit framework."""

from __future__ import annotations

from pathlib import Path

from kmerge_git.errors import UsageError
from kmerge_git.git.changes import FileChange
from kmerge_git.git.files import read_text
from kmerge_git.git.places import config_values, git_path

# git runs pre-merge-commit instead of pre-commit when a merge was clean
HOOKS = ("pre-commit", "pre-merge-commit")
SHIM = """\
#!/bin/sh
# kmerge-git: checks the staged manifests; without kmerge on PATH it is in nobody's way
command -v kmerge >/dev/null || { echo 'kmerge: not on PATH, nothing was checked' >&2; exit 0; }
exec kmerge check --staged --quiet
"""
BEFORE = SHIM.replace(" --quiet", "")  # as it was written until it counted warnings
TO_ADD = "kmerge check --staged --quiet || exit 1"


def plan_hooks(scope: str, cwd: Path) -> tuple[list[FileChange], list[str]]:
    """The hook files to write, and what to tell where somebody else's hooks are."""
    if scope in ("global", "system"):
        raise UsageError(
            f"--hooks belongs to one repository, it cannot go with --{scope}",
            hint="run `kmerge install --hooks` in the repository",
        )
    directory = git_path("hooks", cwd)
    if config_values(None, "core.hooksPath", cwd):
        add = f"add `{TO_ADD}` to {' and '.join(HOOKS)} there"
        return [], [f"core.hooksPath points to {directory}: no hook was written; {add}"]
    changes, notes = [], []
    for name in HOOKS:
        path = directory / name
        before = read_text(path)
        if before in ("", BEFORE):
            changes.append(FileChange(path, before, SHIM, executable=True))
        elif before != SHIM and "kmerge check" not in before:
            notes.append(f"{path} is somebody else's hook: add `{TO_ADD}` to it")
    return changes, notes


def plan_no_hooks(cwd: Path) -> list[FileChange]:
    """The removal of the hook files that are ours, letter for letter."""
    texts = [(path, read_text(path)) for path in (git_path("hooks", cwd) / name for name in HOOKS)]
    return [FileChange(path, text, "") for path, text in texts if text in (SHIM, BEFORE)]
