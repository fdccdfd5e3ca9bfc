"""Find the files and the branches for which git would not ask the merge driver.

Git takes attributes from the working tree that it merges into, so a branch without the team's
`.gitattributes`, or with another one, is merged without the driver, and git does not report that.

The rule: a file is a gap on a branch if git asks the driver for the file here, in the working tree
as it is, and would not ask with that branch checked out. A file that is taken from the driver here
as well (`-merge`, `merge=union`, `merge=other`, `!merge`) is an exception of the team and no gap.
Where git asks for no file at all, as on an old branch, the files count that it asks for on another.
Git itself evaluates the attributes, those of the clone and of the user included, at every call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kmerge_git.bounds import ATTRIBUTE_STATES, SHOWN_NAMES, SOUGHT_FILES
from kmerge_git.git.attribute_files import BUILT_IN, OURS
from kmerge_git.git.manifests import is_merged
from kmerge_git.git.run_git import OFFLINE, ask_git, environment, try_git
from kmerge_git.git.tracked_files import attributes_in, tracked, values_of
from kmerge_git.visible import counted

WAYS = (
    "run `kmerge install --global` to use kmerge wherever .gitattributes sets no other merge "
    "driver, or merge one of these branches with `kmerge merge REV`"
)


def told_branches(top: str) -> str:
    """Return on how many local and remote branches there are gaps, and some names; '' without gaps.

    If git asks the driver for no file here, return a branch on which it would.
    """
    asking, files = expected(top)
    if asking:
        return f"git uses kmerge on {asking}, but not on this branch"
    branches = list(_branches(top, files))
    gaps = [f"{name} ({_counted(left)})" for name, left in branches if left]
    more = len(gaps) - SHOWN_NAMES
    names = ", ".join(gaps[:SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")
    text = f"git does not use kmerge on {len(gaps)} of {len(branches)} other branches: {names}"
    return text if gaps else ""


def _counted(left: dict[str, str]) -> str:
    """Return how many files there are, and which merges they have instead of kmerge."""
    merges = " and ".join(map(named, dict.fromkeys(left.values())))
    return f"{counted(len(left), 'file')} merged by {merges}"


def named(merge: str) -> str:
    """Return the name that people know for a value of the attribute `merge`."""
    return (BUILT_IN | {"unspecified": "git"}).get(merge, merge)


def expected(top: str) -> tuple[str, Collection[str]]:
    """Return '' and the files for which git asks the driver here, in the working tree as it is.

    If there are none, but the driver is registered, return the name of a branch on which git would
    ask it, and its files.
    """
    # a path in conflict is listed once a stage
    manifests = {path: "" for path in tracked(top) if is_merged(path, json=True)}
    here = [path for path, merge in values_of(top, manifests, "merge").items() if merge == OURS]
    if here or not try_git("-C", top, "config", "--get", "merge.kmerge.driver"):
        return "", here
    for name, left in _branches(top, manifests):
        if len(left) < len(manifests):
            return name, manifests.keys() - left.keys()
    return "", []


def unasked(top: str, tree: str, paths: Collection[str]) -> dict[str, str] | None:
    """Return the files for which git would not ask the driver if a tree were checked out.

    Each file has its merge attribute, in git's words. Return None if git cannot read the tree.
    """
    there = attributes_in(top, tree, paths, "merge", env=OFFLINE) if paths else {}
    if paths and not there:
        return None
    return {
        path: values.get("merge", "unspecified")
        for path, values in there.items()
        if values.get("merge") != OURS
    }


def _branches(top: str, paths: Collection[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the branches but the current one, each with the files that git would not ask about.

    Branches with the same attribute files are examined once. Branches that have none of the files,
    such as pages for the web, and those that git cannot read without fetching are left out.
    """
    branches = _others(top) if paths else []
    states = _states(top, [commit for _, commit in branches], paths) if branches else {}
    known: dict[str, dict[str, str] | None] = {ABSENT: None}
    for name, commit in branches:
        state = states.get(commit, "")
        if state not in known and len(known) < ATTRIBUTE_STATES:
            known[state] = unasked(top, commit, paths)
        left = known.get(state)
        if left is not None:
            yield name, left


def _others(top: str) -> list[tuple[str, str]]:
    """Return the other local and remote branches with their commits, the newest first."""
    form = "--format=%(HEAD)\t%(symref)\t%(refname:lstrip=2)\t%(objectname)"
    asked = ("for-each-ref", "--sort=-committerdate", form, "refs/heads/", "refs/remotes/")
    rows = [line.split("\t") for line in ask_git("-C", top, *asked).out.splitlines()]
    return [(name, commit) for here, symref, name, commit in rows if here != "*" and not symref]


ABSENT = "none of the files"


def _states(top: str, commits: list[str], paths: Collection[str]) -> dict[str, str]:
    """Return how the attribute files of each commit differ from those of HEAD.

    The result is `ABSENT` for a commit that has none of the files; some of them are looked for.
    """
    head = ask_git("-C", top, "rev-parse", "-q", "--verify", "HEAD").line
    pairs = "".join(f"{commit} {head or commits[0]}\n" for commit in commits)
    some = [*paths][:: len(paths) // SOUGHT_FILES + 1]
    asked = ["diff-tree", "--stdin", "-r", "--", ":(top,glob)**/.gitattributes"]
    asked += [f":(top,literal){path}" for path in some]
    answer = ask_git("-C", top, *asked, stdin=pairs, env=environment() | OFFLINE)
    if answer.code:  # a partial clone without some of the trees
        return {commit: commit for commit in commits}
    lines: dict[str, list[str]] = {}
    commit = ""
    for line in answer.out.splitlines():
        if line.startswith(":"):
            lines[commit].append(line)
        else:
            commit = line
            lines[commit] = []
    return {commit: _state(differing, len(some)) for commit, differing in lines.items()}


def _state(differing: list[str], sought: int) -> str:
    attributes = [line for line in differing if line.rstrip('"').endswith(".gitattributes")]
    gone = sum(" D\t" in line for line in differing if line not in attributes)
    return ABSENT if gone == sought else "".join(attributes)
