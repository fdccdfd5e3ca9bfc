"""List branches by their full names, find the branches in use, and move branches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from kmerge_git.errors import GitFailed, UsageError
from kmerge_git.git.repository import Repository
from kmerge_git.git.run_git import GitAnswer, ask_git

HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Branch:
    """Hold a branch: its name without the prefix of its ref, its full ref, and its commit."""

    name: str
    ref: str
    oid: str


def branches(at: Repository, remote: str | None) -> list[Branch]:
    """Return the local branches, or the branches of a remote as they were last fetched."""
    top = f"refs/remotes/{remote}/" if remote else HEADS
    # the whole list is read: a name used as a pattern of for-each-ref could match too much
    listed = _output(at, "for-each-ref", "--format=%(objectname) %(symref) %(refname)", top)
    lines = [line.split(" ", 2) for line in listed.split("\n")[:-1]]
    return [
        Branch(ref.removeprefix(top), ref, oid)
        for oid, symref, ref in lines
        if not symref and ref.startswith(top)  # refs/remotes/origin/HEAD only points to a branch
    ]


def not_fetched(at: Repository, remote: str) -> UsageError:
    """Return the error for a remote that is unknown or whose branches were never fetched."""
    if remote not in _output(at, "remote").split("\n"):
        return UsageError(f"there is no remote {remote!r}", hint="see `git remote`")
    refspec = f"+{HEADS}*:refs/remotes/{remote}/*"
    hint = f"run `git fetch {remote} '{refspec}'`"
    return UsageError(f"no branch of the remote {remote!r} was fetched", hint=hint)


def chosen(
    there: Iterable[Branch], names: Iterable[str], globs: Iterable[str], hint: str = ""
) -> list[Branch]:
    """Return the branches that the names and patterns choose, each branch once.

    Raise an error if a name is unknown.
    """
    known = {branch.name: branch for branch in there}
    wanted: dict[str, Branch] = {}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no branch {name!r}", hint=hint)
        wanted[name] = known[name]
    for glob in globs:
        wanted |= {name: known[name] for name in known if fnmatchcase(name, glob)}
    return list(wanted.values())


def checked_out(at: Repository) -> dict[str, str]:
    """Return the branches that working trees use, each with the folder that uses the branch.

    A branch to which a rebase or a bisect returns is in use, too.
    """
    blocks = _output(at, "worktree", "list", "--porcelain", "-z").split("\0\0")
    trees = [dict(ln.split(" ", 1) for ln in block.split("\0") if " " in ln) for block in blocks]
    places = {about["branch"]: about["worktree"] for about in trees if "branch" in about}
    common = _output(at, "rev-parse", "--path-format=absolute", "--git-common-dir")
    main = Path(common.removesuffix("\n"))
    for folder in (main, *main.glob("worktrees/*")):
        places = dict.fromkeys(_busy(folder), str(folder)) | places
    return places


def _busy(folder: Path) -> Iterator[str]:
    """Yield the branches that a rebase or a bisect will move or return to."""
    for name in ("rebase-merge/head-name", "rebase-apply/head-name"):
        yield from _lines(folder / name)[:1]
    for started in _lines(folder / "BISECT_START")[:1]:
        yield HEADS + started
    # `rebase --update-refs` moves more than one branch
    lines = _lines(folder / "rebase-merge" / "update-refs")
    yield from (line for line in lines if line.startswith("refs/"))


def _lines(file: Path) -> list[str]:
    if not file.is_file():
        return []
    return file.read_text("utf-8", "surrogateescape").split("\n")[:-1]


def move(branch: Branch, new: str, reason: str, at: Repository) -> str:
    """Move a local branch; return '' on success, otherwise the reason of the failure.

    Git refuses to move a branch that another process has moved meanwhile.
    """
    answer = _ask(at, "update-ref", "--no-deref", "-m", reason, "--", branch.ref, new, branch.oid)
    return "" if answer.code == 0 else _complaint(answer.err)


def push(branch: Branch, new: str, remote: str, at: Repository) -> str:
    """Move a branch of a remote; return '' on success, otherwise the reason of the failure.

    Git refuses to move a branch that somebody else has moved meanwhile.
    """
    if not (_ask(at, "merge-base", "--is-ancestor", branch.oid, new).code == 0):
        raise GitFailed(["git", "push"], 1, f"{new} is not a descendant of {branch.oid}")
    target = HEADS + branch.name
    flags = ("--porcelain", "--no-follow-tags", "--no-recurse-submodules")
    lease = f"--force-with-lease={target}:{branch.oid}"
    answer = _ask(at, "push", *flags, lease, "--", remote, f"{new}:{target}")
    if answer.code == 0:
        return ""
    lines = answer.out.split("\n")
    refused = [line.split("\t", 2)[2] for line in lines if line.startswith("!\t")]
    return refused[0] if refused else _complaint(answer.err)


def _ask(at: Repository, *words: str) -> GitAnswer:
    """Run git with the path of this repository, so that the environment cannot choose another."""
    return ask_git(f"--git-dir={at.git_dir}", *words, cwd=Path(at.worktree or at.git_dir))


def _output(at: Repository, *words: str) -> str:
    return _ask(at, *words).checked().out


def _complaint(err: str) -> str:
    """Return git's error message without its prefix `fatal:` or `error:`."""
    lines = [line for line in err.splitlines() if line.startswith(("fatal: ", "error: "))]
    return lines[0].partition(": ")[2] if lines else (err.strip().splitlines() or ["git failed"])[0]
