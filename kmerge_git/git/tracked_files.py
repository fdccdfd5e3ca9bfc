"""Read the files of the index and of commits: their names, bytes, attributes and fate.

Blobs are read through one `git cat-file --batch`. It also reads what libgit2 refuses (sha256,
reftable), and honours `GIT_INDEX_FILE`, which git gives to hooks, because `git commit -a` has an
index of its own.
"""

from __future__ import annotations

import os

from kmerge_git.bounds import NAMES_AT_ONCE
from kmerge_git.errors import GitFailed, UsageError
from kmerge_git.git.run_git import GitProcess, ask_git, environment, git_bytes, try_git
from kmerge_git.git.spawned_git import attributes_by_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import IO

    Attributes = dict[str, dict[str, str]]
    from collections.abc import Collection


class Blobs:
    """Read blobs by the names that git takes, with paths from the top."""

    def __init__(
        self, top: str, words: Sequence[str] = (), env: Mapping[str, str] | None = None
    ) -> None:
        self._top = top
        self._git = GitProcess(*words, "cat-file", "--batch", cwd=top, env=env)

    def read(self, name: str) -> bytes | None:
        """Return the blob that `:0:PATH`, `HEAD:PATH` or an id names, or None if there is none."""
        if "\n" in name:  # a line break would end the name
            answer = ask_git("-C", self._top, "cat-file", "blob", name)
            return None if answer.code else answer.data
        found = self.find(name)
        return found[2] if found and found[1] == "blob" else None

    def read_each(self, *names: str) -> list[bytes | None]:
        """Return the blobs with these names, and None for ''; git is asked for all at once.

        Few names fit into a pipe, so git reads them all before it waits for its reader.
        """
        known: dict[str, bytes | None] = dict.fromkeys(filter(None, names))
        if any("\n" in name for name in known):
            return [self.read(name) if name else None for name in names]
        out = self._ask(*known)
        for name in known:
            found = _object(out)
            known[name] = found[2] if found and found[1] == "blob" else None
        return [known.get(name) for name in names]

    def find(self, name: str) -> tuple[str, str, bytes] | None:
        """Return id, kind and bytes of the object with a name of one line, or None."""
        return _object(self._ask(name))

    def _ask(self, *names: str) -> IO[bytes]:
        lines = "".join(f"{name}\n" for name in names)
        return self._git.ask(lines.encode("utf-8", "surrogateescape"))  # in any locale


def _object(out: IO[bytes]) -> tuple[str, str, bytes] | None:
    """Return the next object that git has found, or None if it has not found it."""
    header = out.readline()
    if not header:
        raise GitFailed(
            ["git", "cat-file", "--batch"], 1, "git stopped before it answered; try again"
        )
    parts = os.fsdecode(header).split()
    if len(parts) != 3 or not parts[2].isdigit():
        return None
    return parts[0], parts[1], out.read(int(parts[2]) + 1)[:-1]


def top_of_tree() -> str | None:
    """Return the top of the working tree around the current folder, or None outside of a tree."""
    try:
        top = git_bytes("rev-parse", "--show-toplevel")
    except (GitFailed, UsageError):
        return None
    return os.fsdecode(top.removesuffix(b"\n")) or None


def staged_paths(top: str, both: Collection[str]) -> list[str]:
    """Return the files that the next commit adds or changes, as paths from the top.

    `both` are the files that both sides of an unfinished merge changed. These files count as well:
    a file that was resolved to ours as a whole equals the last commit, and yet a change may be
    lost.
    """
    flags = ("--cached", "--name-only", "-z", "--no-renames", "--diff-filter=ACMT")
    changed = names_in(git_bytes("-C", top, "diff", *flags))
    merged = sorted(set(both) & set(tracked(top))) if both else []
    return list(dict.fromkeys(changed + merged))


def tracked(top: str, *patterns: str) -> list[str]:
    """Return the tracked files that match the patterns, as paths from the top."""
    return names_in(git_bytes("-C", top, "ls-files", "-z", "--", *patterns))


def committed(top: str, revision: str) -> list[str]:
    """Return the files of a commit, as paths from the top."""
    return names_in(
        git_bytes("-C", top, "ls-tree", "-r", "-z", "--full-tree", "--name-only", revision)
    )


def names_in(out: bytes) -> list[str]:
    """Split the names that git prints with `-z`."""
    return [os.fsdecode(name) for name in out.split(b"\0") if name]


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
    # otherwise git writes the answer for each path on its own
    env = (env or environment()) | {"GIT_FLUSH": "0"}
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

    Return {} if git cannot read the commit.
    """
    by_path = attributes_in(top, commit, paths, name)
    return {path: values[name] for path, values in by_path.items() if name in values}


def attributes_in(
    top: str, tree: str, paths: Iterable[str], *names: str, env: dict[str, str] | None = None
) -> Attributes:
    """Return the attributes that a tree or commit gives to each path; {} if git cannot read it.

    The tree is read into an index of its own, because git before 2.40 reads no attributes of a
    tree.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        env = environment() | (env or {}) | {"GIT_INDEX_FILE": os.path.join(folder, "index")}
        if ask_git("-C", top, "read-tree", tree, env=env).code:
            return {}
        try:
            return attributes_of(paths, *names, cwd=top, staged=True, env=env)
        except GitFailed:
            return {}


def has_other_attributes(top: str, tree: str) -> bool:
    """Return whether an attribute file of the index differs from that of a tree."""
    asked = ("diff", "--cached", "--quiet", "--no-ext-diff", tree, "--")
    return ask_git("-C", top, *asked, ":(top,glob)**/.gitattributes").code != 0


KUSTOMIZATIONS = tuple(
    f"{folder}{name}"
    for folder in ("", "*/")
    for name in ("kustomization.yaml", "kustomization.yml", "Kustomization")
)


def changed(top: str, before: str, result: str, kinds: str = "D") -> list[str]:
    """Return the files that were deleted between the commit `before` and the commit `result`.

    If `result` is empty, the index is compared. `kinds` are git's letters for other changes.
    """
    return _diff(top, before, result, "--name-only", "--no-renames", f"--diff-filter={kinds}")


def renamed(top: str, before: str, result: str) -> dict[str, str]:
    """Return the new name of each file that was renamed since the commit `before`."""
    words = _diff(top, before, result, "--name-status", "-M", "--diff-filter=R")
    return dict(zip(words[1::3], words[2::3], strict=False))


def _diff(top: str, before: str, result: str, *flags: str) -> list[str]:
    where = [before, result] if result else ["--cached", before]
    return names_in(try_git("-C", top, "diff", "-z", *flags, *where, "--"))


def moved(name: str, now: dict[str, str]) -> str:
    """Return the new name of a file, or of a folder if all its files moved to one other folder.

    Return '' if the name did not move.
    """
    if name in now:
        return now[name]
    inside = [(old[len(name) :], new) for old, new in now.items() if old.startswith(name + "/")]
    folders = {new.removesuffix(rest) if new.endswith(rest) else "" for rest, new in inside}
    return folders.pop() if len(folders) == 1 else ""


def present(top: str, revision: str, names: list[str]) -> set[str]:
    """Return the given files and folders that exist in a commit."""
    flags = ("ls-tree", "--full-tree", "--name-only", "-z", revision, "--")
    there = {name for part in _parts(names) for name in names_in(try_git("-C", top, *flags, *part))}
    # if asked for a folder and for files in that folder, git names only the files
    return {n for n in names if n in there or any(file.startswith(n + "/") for file in there)}


def made_elsewhere(top: str, names: list[str]) -> set[str]:
    """Return the names that are ignored, in submodules, or not checked out.

    A missing file of an ignored name may be generated by another tool.
    """
    modules = _submodules(top)
    elsewhere = {name for name in names if any(f"{name}/".startswith(m + "/") for m in modules)}
    for part in _parts(names):
        listed = names_in(try_git("-C", top, "--literal-pathspecs", "ls-files", "-zt", "--", *part))
        sparse = [line[2:] for line in listed if line.startswith("S ")]
        elsewhere.update(n for n in part if any(f"{s}/".startswith(n + "/") for s in sparse))
    flags = ("-c", "core.quotePath=false", "check-ignore", "--no-index", "--")
    for part in _parts([name for name in names if name not in elsewhere]):
        both = [each for name in part for each in (name, name + "/")]
        ignored = os.fsdecode(try_git("-C", top, *flags, *both)).splitlines()
        elsewhere.update(name.rstrip("/") for name in ignored)
    return elsewhere


def all_kustomizations(top: str, revision: str) -> list[str]:
    """Return the kustomizations of a commit, or of the index if `revision` is empty."""
    if not revision:
        return tracked(top, *KUSTOMIZATIONS)
    ends = tuple(pattern.removeprefix("*/") for pattern in KUSTOMIZATIONS)
    return [name for name in committed(top, revision) if name.rpartition("/")[2] in ends]


def _submodules(top: str) -> list[str]:
    place = os.path.join(top, ".gitmodules")
    if not os.path.isfile(place):
        return []
    flags = ("config", "--file", place, "-z", "--get-regexp", r"^submodule\..*\.path$")
    return [pair.partition("\n")[2] for pair in names_in(try_git(*flags))]


def _parts(names: list[str]) -> list[list[str]]:
    return [names[n : n + NAMES_AT_ONCE] for n in range(0, len(names), NAMES_AT_ONCE)]
