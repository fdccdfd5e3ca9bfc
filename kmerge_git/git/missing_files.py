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
    found = {new.removesuffix(rest) if new.endswith(rest) else "" for rest, new in inside}
    return found.pop() if len(found) == 1 else ""


def present(top: str, revision: str, names: list[str]) -> set[str]:
    """Return those of some files and folders that a commit has."""
    found: set[str] = set()
    for part in _parts(names):
        flags = ("ls-tree", "--full-tree", "--name-only", "-z", revision, "--")
        found.update(names_in(try_git("-C", top, *flags, *part)))
    # of a folder that is asked for together with what is in it git names only that
    return {n for n in names if n in found or any(f.startswith(n + "/") for f in found)}


def made_elsewhere(top: str, names: list[str]) -> set[str]:
    """Return those that are ignored, as something makes them, in submodules or not checked out."""
    modules = _submodules(top)
    found = {name for name in names if any(f"{name}/".startswith(m + "/") for m in modules)}
    for part in _parts(names):
        listed = names_in(try_git("-C", top, "--literal-pathspecs", "ls-files", "-zt", "--", *part))
        sparse = [line[2:] for line in listed if line.startswith("S ")]
        found.update(n for n in part if any(f"{s}/".startswith(n + "/") for s in sparse))
    left = [name for name in names if name not in found]
    for part in _parts(left):
        both = [each for name in part for each in (name, name + "/")]
        flags = ("-c", "core.quotePath=false", "check-ignore", "--no-index", "--")
        ignored = os.fsdecode(try_git("-C", top, *flags, *both)).splitlines()
        found.update(name.rstrip("/") for name in ignored)
    return found


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
