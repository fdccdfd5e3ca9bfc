"""Find the commit of this package, unless the package is a release.

The build notes the commit in a file; in a checkout git is asked.
"""

from __future__ import annotations

from pathlib import Path

from kmerge_git import __version__
from kmerge_git.errors import KmergeError
from kmerge_git.git.run_git import ask_git, environment

PACKAGE = Path(__file__).resolve().parents[1]
NOTE = "commit.txt"  # a file in the package, written by `hatch_build.py`
BUILDER = "hatch_build.py"  # next to the package in a checkout, not where it is installed
PACKED = ("kmerge_git", "pyproject.toml", BUILDER)


def version_line(package: Path = PACKAGE) -> str:
    """Return the line of `kmerge --version`; a release shows only its version."""
    note = package / NOTE
    commit = note.read_text("utf-8").strip() if note.is_file() else commit_of(package.parent)
    return f"kmerge {__version__}" + (f" (from a checkout, {commit})" if commit else "")


def commit_of(root: Path) -> str:
    """Return the commit of a checkout of this package.

    Return '' if the commit is the release itself, or if the folder is no checkout.
    """
    if not ((root / ".git").exists() and (root / BUILDER).is_file()):
        return ""
    # ask about this very folder: a broken `.git` must not lead to an outer repository
    env = environment(any_repository=True) | {"GIT_CEILING_DIRECTORIES": str(root.parent)}
    revisions = ("HEAD", f"refs/tags/v{__version__}^{{commit}}")
    try:
        head, tag = (
            ask_git("rev-parse", "--verify", "--quiet", revision, cwd=root, env=env).line
            for revision in revisions
        )
        status = ("--no-optional-locks", "status", "--porcelain", "--", *PACKED)
        changed = ask_git(*status, cwd=root, env=env)
    except KmergeError:  # no git
        return "commit unknown"
    if not head or changed.code != 0:  # the repository may belong to another user
        return "commit unknown"
    if changed.out:
        return f"{head[:10]}+dirty"
    return "" if head == tag else head[:10]
