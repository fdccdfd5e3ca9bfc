"""Where `kmerge check` is: git's folder, the top of the working tree, paths as seen from there."""

from __future__ import annotations

import os
from posixpath import normpath

from kmerge_git.errors import UsageError
from kmerge_git.git.hints import top_around


def git_directory() -> str:
    """`.git` around this folder, or the file in its place, or nothing; most calls need no git."""
    if os.environ.get("GIT_DIR"):
        return os.environ["GIT_DIR"]
    folder = os.getcwd()
    while True:
        path = os.path.join(folder, ".git")
        if os.path.exists(path):
            return path
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def top_here() -> str:
    """The top of the working tree around this folder; nothing where there is none."""
    from kmerge_git.git.blobs import top_of_tree

    folder = git_directory()
    return (folder and (top_around(folder) or top_of_tree())) or ""


def top_of(option: str) -> str:
    """The top of the working tree, which an option needs."""
    top = top_here()
    if not top:
        what = f"{option} needs a git repository with a working tree"
        raise UsageError(what, hint=f"go into one, or leave {option} out")
    return top


def prefix_of(top: str) -> str:
    """This folder, as a path from the top of the working tree."""
    return os.path.relpath(os.getcwd(), top).replace(os.sep, "/")


def from_top_of(top: str, path: str) -> str:
    """A path as seen from the top of the working tree."""
    if not os.path.isabs(path):
        return normpath(f"{prefix_of(top)}/{path}")
    folder, name = os.path.split(path)
    found = os.path.relpath(os.path.join(os.path.realpath(folder), name), os.path.realpath(top))
    return found.replace(os.sep, "/")


def is_beyond(name: str) -> bool:
    """Whether a path, as seen from the top, leads out of the working tree."""
    return name.startswith(("../", "/"))


def from_here(top: str, name: str) -> str:
    """A path from the top as seen from the current folder."""
    return os.path.relpath(name, prefix_of(top)).replace(os.sep, "/")
