"""Find the heads of pull requests and other refs to start from, and the squash merges of the heads.

If pull requests are squashed, a history has no merges: the conflicts were in the branches, when
the target branch was merged into them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from kmerge_git.errors import UsageError
from kmerge_git.git.repository import Commit, Repository
from kmerge_git.git.run_git import ask_git

# of GitHub (and Gitea), GitLab and Bitbucket Server, as they have them or as they are fetched;
# `pull/7/merge` is a merge that a server tries, and nobody made
_HEAD = re.compile(
    r"refs/(?:remotes/[^/]+/)?(pull|pr|pull-requests|merge-requests|mr)/([0-9]{1,9})"
    r"(?:/head|/from)?"
)
_REQUEST = re.compile(r"^See merge request \S*!([0-9]{1,9})\s*$", re.MULTILINE)
# at the end: `Revert "web (#7)"` does not squash 7
_NUMBER = re.compile(r"\(#([0-9]{1,9})\)\s*$")
_FETCH = "`git fetch origin '+refs/{0}:refs/remotes/origin/{1}/*'`"
HINT = (
    f"run {_FETCH.format('pull/*/head', 'pull')} (GitHub), "
    f"{_FETCH.format('merge-requests/*/head', 'merge-requests')} (GitLab) or "
    f"{_FETCH.format('pull-requests/*/from', 'pull-requests')} (Bitbucket Server)"
)


@dataclass(frozen=True, slots=True)
class Heads:
    """Hold the commits of refs; the heads of pull requests are listed by number as well."""

    oids: Set[str] = frozenset()
    missing: int = 0  # refs that lead to no commit, or to one that this clone does not have
    numbered: Mapping[str, Set[str]] = field(default_factory=dict)  # `#7` or `!7`

    def squashed_in(self, commit: Commit) -> Set[str]:
        """Return the heads of the pull request in a commit's message; two remotes may have two."""
        if len(commit.parents) != 1:
            return frozenset()
        requests = _REQUEST.findall(commit.message)
        number = _NUMBER.search(commit.subject)
        name = f"#{int(number[1])}" if number else ""
        name = f"!{int(requests[-1])}" if requests and not name else name
        return self.numbered.get(name, frozenset())


def heads_of(repository: Repository, globs: Iterable[str], *, pulls: bool) -> Heads:
    """Return the commits of all refs that match one of the patterns; `*` matches slashes, too.

    With `pulls`, also return the heads of pull requests. Raise an error if a pattern matches
    nothing.
    """
    listed = ask_git(
        "--git-dir", repository.git_dir, "for-each-ref", "--format=%(objectname) %(refname)"
    )
    lines = [line.partition(" ") for line in listed.checked().out.split("\n")[:-1]]
    refs = {name: oid for oid, _, name in lines}
    chosen = {name for name in refs if pulls and _HEAD.fullmatch(name)}
    if pulls and not chosen:
        raise UsageError("this clone has no refs of pull requests", hint=HINT)
    for glob in globs:
        there = {n for n in refs if fnmatchcase(n, glob) or fnmatchcase(n, f"refs/{glob}")}
        if not there:
            raise UsageError(f"no ref matches {glob!r}", hint="`git for-each-ref` lists all refs")
        chosen |= there
    return _heads(repository, {name: refs[name] for name in sorted(chosen)})


def _heads(repository: Repository, refs: Mapping[str, str]) -> Heads:
    oids: set[str] = set()
    numbered: defaultdict[str, set[str]] = defaultdict(set)
    missing = 0
    for name, oid in refs.items():
        try:
            commit = repository.commit(oid).oid  # of an annotated tag, too
        except UsageError:
            missing += 1
            continue
        oids.add(commit)
        head = _HEAD.fullmatch(name)
        if head:
            sign = "!" if head[1] in ("merge-requests", "mr") else "#"
            numbered[f"{sign}{int(head[2])}"].add(commit)
    return Heads(frozenset(oids), missing, numbered)
