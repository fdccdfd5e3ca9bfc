"""What an attribute says of files: asked once for all of them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from kmerge_git.git.run_git import GitAnswer, ask_git, environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def in_working_tree(top: str, paths: Iterable[str], name: str) -> dict[str, str]:
    """By path from the top, in git's words; files of which nothing is said are left out."""
    return _values(_asked(top, paths, name))


def in_index(top: str, paths: Iterable[str], name: str) -> dict[str, str]:
    """The same as it is staged."""
    return _values(_asked(top, paths, "--cached", name))


def in_commit(top: str, commit: str, paths: Iterable[str], name: str) -> dict[str, str]:
    """The same as a commit has it, through an index of its own: git before 2.40 asks no tree."""
    with TemporaryDirectory() as folder:
        env = environment() | {"GIT_INDEX_FILE": str(Path(folder, "index"))}
        if ask_git("-C", top, "read-tree", commit, env=env).code:
            return {}
        return _values(_asked(top, paths, "--cached", name, env=env))


def _asked(
    top: str, paths: Iterable[str], *what: str, env: dict[str, str] | None = None
) -> GitAnswer:
    names = "".join(f"{path}\0" for path in paths)
    return ask_git("-C", top, "check-attr", "-z", "--stdin", *what, stdin=names, env=env)


def _values(asked: GitAnswer) -> dict[str, str]:
    words = asked.out.split("\0")[:-1] if asked.code == 0 else []
    pairs = zip(words[::3], words[2::3], strict=True)
    return {path: value for path, value in pairs if value != "unspecified"}
