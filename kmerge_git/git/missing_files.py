"""Files that are missing: why, whether deleted, renamed, ignored, or in a submodule."""

from __future__ import annotations

import os

from kmerge_git.bounds import NAMES_AT_ONCE
from kmerge_git.git.run_git import try_git
from kmerge_git.git.tracked_files import committed, names_in, tracked

KUSTOMIZATIONS = tuple(
    f"{folder}{name}"
    for folder in ("", "*/")
    for name in ("kustomization.yaml", "kustomization.yml", "Kustomization")
)


def changed(top: str, before: str, result: str, kinds: str = "D") -> list[str]:
    """Return the files that a commit, or the index without a `result`, changes or deletes."""
    return _diff(top, before, result, "--name-only", "--no-renames", f"--diff-filter={kinds}")


def renamed(top: str, before: str, result: str) -> dict[str, str]:
    """Return the new names of files that were renamed since a commit."""
    words = _diff(top, before, result, "--name-status", "-M", "--diff-filter=R")
    return dict(zip(words[1::3], words[2::3], strict=False))


def _diff(top: str, before: str, result: str, *flags: str) -> list[str]:
    where = [before, result] if result else ["--cached", before]
    return names_in(try_git("-C", top, "diff", "-z", *flags, *where, "--"))


def moved(name: str, now: dict[str, str]) -> str:
    """Return the new name of a file, or of a folder all of whose files went to one other."""
    if name in now:
        return now[name]
    inside = [(old[len(name) :], new) for old, new in now.items() if old.startswith(name + "/")]
    folders = {new.removesuffix(rest) if new.endswith(rest) else "" for rest, new in inside}
    return folders.pop() if len(folders) == 1 else ""


def present(top: str, revision: str, names: list[str]) -> set[str]:
    """Return those of some files and folders that a commit has."""
    flags = ("ls-tree", "--full-tree", "--name-only", "-z", revision, "--")
    there = {name for part in _parts(names) for name in names_in(try_git("-C", top, *flags, *part))}
    # asked for a folder together with files in it, git names only the files
    return {n for n in names if n in there or any(file.startswith(n + "/") for file in there)}


def made_elsewhere(top: str, names: list[str]) -> set[str]:
    """Return those that are ignored, as something makes them, in submodules or not checked out."""
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
    """Return the kustomizations of a commit, or without one of the index."""
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
