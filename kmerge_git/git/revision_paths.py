"""Read `REV:PATH`, a file of a commit or of the index, wherever a command takes a file.

The bytes are those of the blob, as `git show REV:PATH` prints the blob: no filter and no
conversion of line ends is applied. A name that begins with `-` is no `REV:PATH`, so that git never
takes a name for an option.
"""

from __future__ import annotations

import os

from kmerge_git.errors import GitFailed, KmergeError, UsageError

STAGES = ("0", "1", "2", "3")


def may_be(name: str) -> bool:
    """Return whether a name has the form `REV:PATH`, `:PATH` or `:2:PATH`."""
    return ":" in name and not name.startswith("-") and "\n" not in name and "\0" not in name


def parts(name: str) -> tuple[str, str]:
    """Split a name into revision and path; a file of the index has a revision from `:0` to `:3`."""
    if name[:1] == ":" and name[1:2] in STAGES and name[2:3] == ":":
        return name[:2], name[3:]
    revision, _, path = name.partition(":")
    return revision or ":0", path


def blob(name: str) -> bytes | None:
    """Return the bytes of the file that `REV:PATH` names, or None if there is no such file."""
    from kmerge_git.git.run_git import git_bytes

    if not may_be(name) or not parts(name)[1]:
        return None
    try:
        return git_bytes("cat-file", "blob", name)
    except (GitFailed, UsageError):
        return None


def is_folder(name: str) -> bool:
    """Return whether `REV:PATH` names a folder of a commit or of the index."""
    from kmerge_git.git.run_git import try_git

    if not may_be(name):
        return False
    revision, path = parts(name)
    if revision[0] == ":":
        return bool(try_git("ls-files", "--", f":(top,literal){path}/"))
    return try_git("cat-file", "-t", name).strip() == b"tree"


def names_revision(name: str) -> bool:
    """Return whether the part before the colon names a commit, a tree or the index."""
    from kmerge_git.git.run_git import git_bytes, try_git

    if not may_be(name):
        return False
    revision = parts(name)[0]
    if revision[0] == ":":
        try:
            return bool(git_bytes("rev-parse", "--git-dir"))
        except (GitFailed, UsageError):
            return False
    try:
        return bool(try_git("rev-parse", "-q", "--verify", f"{revision}^{{tree}}"))
    except UsageError:  # no git
        return False


def why_missing(name: str) -> KmergeError | None:
    """Return the error if `REV:PATH` names no file, or None if REV is no revision at all."""
    from kmerge_git.git.run_git import try_git

    if not names_revision(name):
        return None
    revision, path = parts(name)
    from_here = "give the path from the top of the repository, or `./PATH` from this folder"
    if revision[0] == ":":
        if try_git("ls-files", "-u", "--", _from_top(path)):
            hint = f"in a conflict, use `:1:{path}` for base, `:2:` for ours, `:3:` for theirs"
            return UsageError(
                "the index does not have this file at that stage", path=name, hint=hint
            )
        return UsageError("the index has no such file", path=name, hint=from_here)
    if try_git("cat-file", "-t", name).strip() == b"tree":
        return UsageError("this is a folder", path=name, hint="give a file")
    hint = from_here
    if path and os.path.exists(path) and not path.startswith(("./", "../")):
        hint = f"use `{revision}:./{path}` for the path in this folder"
    return UsageError(f"there is no such path in {revision}", path=name, hint=hint)


def _from_top(path: str) -> str:
    return path if path.startswith(("./", "../")) else f":(top,literal){path}"
