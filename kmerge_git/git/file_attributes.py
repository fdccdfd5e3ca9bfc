"""Ask git for the attributes of files, with one question for all files."""

from __future__ import annotations

from kmerge_git.errors import GitFailed
from kmerge_git.git.run_git import ask_git, environment
from kmerge_git.git.spawned_git import attributes_by_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    Attributes = dict[str, dict[str, str]]


def attributes_of(
    paths: Iterable[str],
    *names: str,
    cwd: Path | str,
    staged: bool = False,
    env: dict[str, str] | None = None,
) -> Attributes:
    """Return the attributes that are set for each path, in git's words.

    Raise `GitFailed` if git fails. Git reads the attribute files of the working tree or, with
    `staged`, those of the index.
    """
    flags = ("--cached",) if staged else ()
    listing = "".join(f"{path}\0" for path in paths)
    asked = ("check-attr", "-z", "--stdin", *flags, *names)
    return attributes_by_path(ask_git(*asked, cwd=cwd, stdin=listing, env=env).checked().data)


def values_of(
    top: str,
    paths: Iterable[str],
    name: str,
    *,
    staged: bool = False,
    env: dict[str, str] | None = None,
) -> dict[str, str]:
    """Return the value of one attribute for each path from the top, or {} if git fails."""
    try:
        by_path = attributes_of(paths, name, cwd=top, staged=staged, env=env)
    except GitFailed:
        return {}
    return {path: values[name] for path, values in by_path.items() if name in values}


def in_commit(top: str, commit: str, paths: Iterable[str], name: str) -> dict[str, str]:
    """Return the value that a commit gives to one attribute of each path.

    Return {} if git cannot read the commit. The commit is read into an index of its own, because
    git before 2.40 reads no attributes of a tree.
    """
    import os
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        env = environment() | {"GIT_INDEX_FILE": os.path.join(folder, "index")}
        if ask_git("-C", top, "read-tree", commit, env=env).code:
            return {}
        return values_of(top, paths, name, staged=True, env=env)
