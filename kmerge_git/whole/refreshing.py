"""Merge a revision into those branches for which git alone would stop with a conflict.

Attributes, policies and definitions come from the revision, never from a branch. Each branch is
handled separately, and is moved to its merge commit in one step or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from subprocess import TimeoutExpired
from time import time
from typing import Literal

from kmerge_git.bounds import FEW_BRANCHES, MERGES_AHEAD, NAMES_IN_MESSAGE
from kmerge_git.errors import KmergeError, TimeUp, UsageError
from kmerge_git.git import branches
from kmerge_git.git.branches import Branch
from kmerge_git.git.repository import Commit, Repository
from kmerge_git.git.run_git import ask_git, environment
from kmerge_git.git.scratch_merges import Scratch, merge_ahead, merge_tree, scratch
from kmerge_git.git.spawned_git import are_calls_shown
from kmerge_git.time_limit import limit, within
from kmerge_git.visible import visible
from kmerge_git.whole.both_merges import SettingsOf
from kmerge_git.whole.conflicted_files import FileMerge
from kmerge_git.whole.cores import children_for, on_cores
from kmerge_git.whole.previewing import FilePreview, files_of
from kmerge_git.whole.tree_merge import Sides, TreeMerge, base_of, merge_trees, result_of

Answer = Literal[
    "up to date", "clean", "resolved", "conflict", "criss-cross", "unrelated", "skipped", "rejected"
]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """Hold the result for a branch; `new` is the id of its merge commit."""

    branch: Branch
    result: Answer
    why: str = ""
    files: tuple[FilePreview, ...] = ()
    new: str = ""
    notes: tuple[str, ...] = ()  # about resources that one side moved and the other side deleted


@dataclass(frozen=True, slots=True)
class Failed:
    """Hold the reason why a branch could not be merged."""

    branch: Branch
    why: str


@dataclass(frozen=True, slots=True)
class Orders:
    """Hold the options that the user gave."""

    name: str  # the revision, as the user gave it
    remote: str | None = None
    committer: str = ""
    dry_run: bool = False


@contextmanager
def refresher(repository: Repository, orders: Orders) -> Iterator[Refresher]:
    """Yield a refresher of branches, and delete its scratch folder at the end."""
    other = repository.commit(orders.name)
    with scratch(repository, other.tree, alone=True) as at:
        yield Refresher(repository, at, other, orders)


class Refresher:
    """Merge one revision into branches, on git trees."""

    def __init__(self, repository: Repository, at: Scratch, other: Commit, orders: Orders) -> None:
        self.other = other
        config = at.repository.settings()
        self.settings = SettingsOf(at.repository, config=config, mine="ours")
        self._repository = repository
        self._at = at
        self._orders = orders
        self._git_dir = f"--git-dir={repository.git_dir}"
        self._cwd = Path(repository.worktree or repository.git_dir)
        self._env = environment() | _identity(orders.committer)
        self._busy = {} if orders.remote else branches.checked_out(repository)
        self._people = [] if orders.dry_run else [*self._identities()]
        self._is_utf8 = "i18n.commitencoding" not in dict(repository.settings())
        # the driver of somebody else may print something in the middle of git's answer
        names = {name for name, _ in config if name.endswith("driver")}
        self._at_once = 1 if names - {"merge.kmerge.driver"} else MERGES_AHEAD
        self._ahead: list[Branch] = []  # whose merges git has made

    def chosen(self, names: list[str], globs: list[str]) -> list[Branch]:
        """Return the branches that the given names and patterns select."""
        remote = self._orders.remote
        there = branches.branches(self._repository, remote)
        if remote and not there:
            raise branches.not_fetched(self._repository, remote)
        hint = "run `git branch` to list local branches, or use --push REMOTE for a remote"
        if remote:
            hint = f"run `git branch -r` to list the fetched branches of {remote!r}"
        return branches.chosen(there, names, globs, hint)

    def refreshed(self, chosen: list[Branch]) -> Generator[Refreshed | Failed]:
        """Refresh the branches one after the other; many are merged on all cores.

        Forked processes write commits to which nothing refers. This process alone moves branches,
        in their order, so that one that dies leaves nothing half done and nothing is done twice.
        """
        # the calls are shown in their order
        children = 0 if are_calls_shown() else children_for(len(chosen), FEW_BRANCHES)
        work = partial(self._merged, chosen, max(children, 1))
        if children:
            self._repository.reopen()
            self._at.repository.reopen()
        seconds = 0.0
        with suppress(UsageError):  # an invalid limit is reported for each branch
            seconds = limit()
        with closing(on_cores(chosen, work, children, seconds)) as merged:
            for result, problems in merged:
                known = self.settings.problems
                known += [problem for problem in problems if problem not in known]
                yield self._moved(result)

    def _merged(
        self, every: list[Branch], step: int, branch: Branch
    ) -> tuple[Refreshed | Failed, list[str]]:
        """Merge and commit; return the result and the invalid settings that were not known.

        The time is limited, so that a slow branch does not stop the others. `step` is the number of
        processes that share the branches.
        """
        if branch not in self._ahead:
            self._look_ahead(every[every.index(branch) :: step][: self._at_once])
        known = len(self.settings.problems)
        try:
            with within(branch.name):
                result, merge = self._decided(branch)
            new = self._commit(branch, merge) if merge else ""
            return replace(result, new=new), self.settings.problems[known:]
        except TimeUp as up:
            why = str(TimeUp("", up.limit, is_wall_clock=up.is_wall_clock))
        except KmergeError as error:
            why = str(error)
        return Failed(branch, why), self.settings.problems[known:]

    def _moved(self, result: Refreshed | Failed) -> Refreshed | Failed:
        """Move the branch to its merge commit, if there is one."""
        if isinstance(result, Failed) or not result.new:
            return result
        branch, new = result.branch, result.new
        try:
            if self._orders.remote:
                why = branches.push(branch, new, self._orders.remote, self._repository)
            else:
                reason = f"kmerge refresh: merge {visible(self._orders.name)}"
                why = branches.move(branch, new, reason, self._repository)
        except KmergeError as error:
            return Failed(branch, str(error))
        return replace(result, result="rejected", why=why, new="") if why else result

    def _look_ahead(self, chosen: list[Branch]) -> None:
        """Let one process of git make the merges of the next branches.

        If that fails, each merge is made by itself, where an error is reported for its branch.
        """
        self._ahead = chosen
        pairs = [(branch.oid, self.other.oid) for branch in chosen]
        if len(pairs) > 1:
            try:
                pairs = [p for p in pairs if self._repository.merge_base(*p) not in (None, *p)]
                merge_ahead(self._at, pairs)
            except (KmergeError, TimeoutExpired):
                self._at_once = 1

    def _decided(self, branch: Branch) -> tuple[Refreshed, TreeMerge | None]:
        """Return the planned result for a branch and the merge to commit, if any; write nothing."""
        result, merge = self._decide(branch, self._repository.commit(branch.oid))
        if result.result == "resolved" and branch.ref in self._busy:
            why = f"the branch is checked out in {self._busy[branch.ref]}"
            return replace(result, result="skipped", why=why), None
        return result, None if self._orders.dry_run else merge

    def _decide(self, branch: Branch, ours: Commit) -> tuple[Refreshed, TreeMerge | None]:
        base = base_of(self._repository, ours, self.other)
        if base == self.other.oid:
            return Refreshed(branch, "up to date"), None
        if base == ours.oid:
            return Refreshed(branch, "clean", "the branch has no commits of its own"), None
        if base is None:
            return Refreshed(branch, "unrelated", "the two histories have no common ancestor"), None
        sides = Sides.of_commits(self._repository, base, ours, self.other)
        if sides.is_made_up:
            return self._criss_cross(branch, ours), None
        self.settings.into = branch.ref
        # no time limit: a merge that took too long must not be pushed
        merge = merge_trees(self._at, sides, self.settings, is_timed=False)
        if merge.merged.is_clean and merge.is_clean:  # no file needs structure
            return Refreshed(branch, "clean", notes=merge.notes), None
        files = files_of(self._at.repository, sides.trees, merge)
        if not merge_tree(self._at, ours.oid, self.other.oid, driver=False).is_clean:
            if merge.is_clean:
                return Refreshed(branch, "resolved", files=files, notes=merge.notes), merge
            return Refreshed(branch, "conflict", files=files, notes=merge.notes), None
        if merge.is_clean:
            paths = ", ".join(file.path for file in files if file.result == "improved")
            why = f"git's line merge gives a different result in {paths}" if paths else ""
            return Refreshed(branch, "clean", why, files, notes=merge.notes), None
        why = "git merges the branch without a conflict, but the result is broken"
        return Refreshed(branch, "conflict", why, files, notes=merge.notes), None

    def _criss_cross(self, branch: Branch, ours: Commit) -> Refreshed:
        """Leave a branch with several merge bases to git, which merges in a working tree."""
        why = "there are several merge bases"
        if merge_tree(self._at, ours.oid, self.other.oid, driver=False).is_clean:
            return Refreshed(branch, "clean", why)
        return Refreshed(branch, "criss-cross", f"{why}: run `git merge` with the kmerge driver")

    def _commit(self, branch: Branch, merge: TreeMerge) -> str:
        """Write the merge commit and its objects, and return the id of the commit."""
        ours, other = self._repository.commit(branch.oid), self.other
        self._at.hand_over(merge.merged.tree, (ours.tree, other.tree), self._repository)
        tree, now = result_of(self._repository, merge), int(time())
        text = message(branch.name, self._orders.name, merge)
        people = (f"{who} {name} {date or now} {zone}" for who, name, date, zone in self._people)
        lines = (f"tree {tree}", f"parent {ours.oid}", f"parent {other.oid}", *people, "", text)
        data = os.fsencode("\n".join(lines))
        if self._is_utf8 and data.decode(errors="surrogateescape").replace("\n", "").isprintable():
            return self._repository.store(data, "commit")
        # git encodes the message, or reads it in another encoding
        words = (self._git_dir, "commit-tree", tree, "-p", ours.oid, "-p", other.oid, "-F", "-")
        return ask_git(*words, cwd=self._cwd, stdin=text, env=self._env).checked().line

    def _identities(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield the role and the name of a person, the date if it was given, and the time zone."""
        for who in ("AUTHOR", "COMMITTER"):
            answer = ask_git(self._git_dir, "var", f"GIT_{who}_IDENT", cwd=self._cwd, env=self._env)
            if answer.code:
                raise UsageError(
                    "git has no name and email for the commit",
                    hint="set user.name and user.email, or give --committer 'NAME <MAIL>'",
                )
            name, date, zone = answer.line.rsplit(" ", 2)
            yield who.lower(), name, date if self._env.get(f"GIT_{who}_DATE") else "", zone


def _identity(committer: str) -> dict[str, str]:
    """Return the environment variables by which git learns the author and the committer."""
    if not committer:
        return {}
    name, opened, rest = committer.partition("<")
    mail, closed, tail = rest.partition(">")
    odd = not (opened and closed and name.strip() and mail.strip()) or tail.strip()
    if odd or any(ord(c) < 32 or c in "<>" for c in name + mail):
        raise UsageError(f"--committer: {committer!r} is not of the form 'NAME <MAIL>'")
    people, values = ("AUTHOR", "COMMITTER"), {"NAME": name.strip(), "EMAIL": mail.strip()}
    return {f"GIT_{who}_{what}": value for who in people for what, value in values.items()}


def message(branch: str, name: str, merge: TreeMerge) -> str:
    """Return the message of the merge commit, with the resolved conflicts by file and resource."""
    lines = [f"Merge {name} into {branch}", ""]
    lines.append(
        "Without kmerge, git reports conflicts in these files; kmerge merged them by structure:"
    )
    files = [file for file in merge.files if file.result in ("resolved", "moved")]
    for file in files[:NAMES_IN_MESSAGE]:
        lines.append(f"- {file.path}: {_about(file)}".removesuffix(": "))
        lines += [f"  {words}" for words in file.chosen[:NAMES_IN_MESSAGE]]
    more = len(files) - NAMES_IN_MESSAGE
    lines += [f"- and {more} more"] if more > 0 else []
    lines += ["", "Made by `kmerge refresh`."]
    return "".join(f"{visible(line)}\n" for line in lines)


def _about(file: FileMerge) -> str:
    """Return the names of the resources that were resolved in a file."""
    if file.moves:
        return file.why
    named = dict.fromkeys(d.resource for d in file.decisions if d.resource)
    more = f", and {len(named) - NAMES_IN_MESSAGE} more" if len(named) > NAMES_IN_MESSAGE else ""
    return ", ".join(list(named)[:NAMES_IN_MESSAGE]) + more


def exit_code(done: list[Refreshed], *, failed: bool) -> int:
    """Return 2 if something failed, 1 if git alone still cannot merge some branch, else 0."""
    return 2 if failed else int(not {r.result for r in done} <= {"up to date", "clean", "resolved"})
