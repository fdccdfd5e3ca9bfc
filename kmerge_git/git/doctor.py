"""A closer look than `status`: a real merge with the registered line, and leftovers of merges."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from pathlib import Path

from kmerge_git.errors import KmergeError
from kmerge_git.git.call import ask_git, environment
from kmerge_git.git.places import git_path, in_repository, scopes_of, worktree_top
from kmerge_git.git.probes import Probe, is_bare, probe_all
from kmerge_git.git.registered import DRIVER

_TRIAL_BASE = "kind: ConfigMap\ndata:\n  a: '1'\n  b: '1'\n"
_TRIAL_OURS = _TRIAL_BASE.replace("a: '1'", "a: '2'")
_TRIAL_THEIRS = _TRIAL_BASE.replace("b: '1'", "b: '2'")
_TRIAL_MERGED = _TRIAL_OURS.replace(
    "b: '1'", "b: '2'"
)  # neighbouring lines: git alone sees a conflict
RUNNING = 3600  # a temporary file that is younger may belong to a merge that is going on


def examine(cwd: Path) -> list[Probe]:
    """The findings of `status`, and those that need more than a look."""
    findings = probe_all(cwd)
    registered = scopes_of(DRIVER, cwd)
    if registered and registered[-1][1]:
        findings.append(try_merge(registered[-1][1]))
    if in_repository(cwd):
        findings += [*probe_bare(cwd), probe_leftovers(cwd)]
    return findings


def try_merge(line: str) -> Probe:
    """Merge three versions with the registered line, in a repository made for it."""
    with tempfile.TemporaryDirectory(prefix="kmerge-doctor-") as scratch:
        top = Path(scratch)
        try:
            merged, said = _scratch_merge(top, line)
        except KmergeError as error:
            return Probe("merge", "FAIL", f"the trial merge could not be made: {error}")
    if merged == _TRIAL_MERGED:
        return Probe("merge", "ok", "a real merge in a scratch repository came out right")
    why = next((text for text in said.splitlines() if text.startswith("kmerge:")), "")
    text = "a real merge in a scratch repository came out as git alone would have merged it"
    if "<<<<<<<" not in merged:
        text = "a real merge in a scratch repository came out wrong"
    return Probe("merge", "FAIL", text + (f" ({why})" if why else ""), "run `kmerge install`")


def _scratch_merge(top: Path, line: str) -> tuple[str, str]:
    env = environment(any_repository=True) | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
    }
    env.pop("KMERGE", None)

    def run(*args: str) -> str:
        answer = ask_git(*args, cwd=top, env=env)
        if answer.code > 1:
            raise KmergeError(answer.err.strip() or f"git {args[0]}: exit code {answer.code}")
        return answer.out + answer.err

    def commit(text: str) -> None:
        (top / "x.yaml").write_text(text, "utf-8", newline="\n")
        run("add", "-A")
        run("commit", "-q", "-m", "x")

    run("init", "-q", ".")
    for key, value in (
        ("user.name", "kmerge"),
        ("user.email", "kmerge@localhost"),
        ("core.autocrlf", "false"),
        ("merge.kmerge.name", "kmerge"),
        (DRIVER, line),
    ):
        run("config", key, value)
    (top / ".gitattributes").write_text("*.yaml merge=kmerge\n", "utf-8", newline="\n")
    commit(_TRIAL_BASE)
    run("branch", "side")
    commit(_TRIAL_OURS)
    run("checkout", "-q", "side")
    commit(_TRIAL_THEIRS)
    run("checkout", "-q", "-")
    said = run("merge", "--no-edit", "side")
    return (top / "x.yaml").read_bytes().decode(), said


def probe_bare(cwd: Path) -> list[Probe]:
    """Where a bare repository takes its attributes from."""
    if not is_bare(cwd):
        return []
    text = "a bare repository reads info/attributes, not the committed .gitattributes"
    return [Probe("bare", "ok", text + " (git 2.43: `git config attr.tree HEAD` makes it)")]


def probe_leftovers(cwd: Path) -> Probe:
    """Temporary files of merges that were killed."""
    found = leftovers(cwd)
    if not found:
        return Probe("leftovers", "ok", "no temporary files of killed merges")
    names = ", ".join(path.name for path in found[:3]) + (", ..." if len(found) > 3 else "")
    hint = "`kmerge doctor --fix` removes them"
    return Probe("leftovers", "warn", f"killed merges left {names} in {found[0].parent}", hint)


def leftovers(cwd: Path) -> list[Path]:
    """`.merge_file_*` where git puts them, untracked, and too old to be in use."""
    top = worktree_top(cwd) or git_path(".", cwd)
    found = []
    for path in sorted(top.glob(".merge_file_*")):
        info = path.lstat()
        if stat.S_ISREG(info.st_mode) and time.time() - info.st_mtime > RUNNING:
            tracked = ask_git("ls-files", "--error-unmatch", "--", path.name, cwd=top)
            found += [path] if tracked.code != 0 else []
    return found
