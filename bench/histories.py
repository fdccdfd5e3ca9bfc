"""Repositories to merge in: branches, merges that stopped, packages from upstream."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from texts import Trio

NOBODY = "bench <bench@example.invalid> 1700000000 +0000"


def git(folder: Path, *words: str, fails: bool = False) -> None:
    """Run git quietly."""
    subprocess.run(["git", *words], cwd=folder, check=not fails, capture_output=True)


def forked(folder: Path, files: dict[str, Trio], others: dict[str, str] | None = None) -> None:
    """A repository on `main`, where ours is; theirs is on `side`, and `start` is where main is."""
    sides = [{name: trio[n] for name, trio in files.items()} for n in range(3)]
    stream = _commits([({**(others or {}), **sides[0]}, "main", "")])
    stream += _commits([(sides[2], "side", "main"), (sides[1], "main", "main")])
    _imported(folder, stream, bare=False)
    git(folder, "tag", "start")
    (folder / ".git" / "info" / "attributes").write_text("*.yaml merge=kmerge\n")


def many_branches(folder: Path, files: int, branches: int, text: str, one: Trio) -> None:
    """A bare repository; main and each branch change the same file of the branch, `one`."""
    base = {_name(number): text for number in range(files)}
    contested = [_name(number * (files // branches)) for number in range(branches)]
    base |= dict.fromkeys(contested, one[0])
    sides: list[tuple[dict[str, str], str, str]] = [(base, "main", "")]
    sides += [({name: one[2]}, f"b/{n}", "main") for n, name in enumerate(contested)]
    sides.append((dict.fromkeys(contested, one[1]), "main", "main"))
    _imported(folder, _commits(sides), bare=True)


def _name(number: int) -> str:
    return f"apps/{number // 100}/f{number}.yaml"


def taken_from_ours(folder: Path, files: dict[str, Trio]) -> None:
    """A repository whose last commit is a merge in which every file is ours."""
    forked(folder, files)
    git(folder, "merge", "-q", "-s", "ours", "-m", "merged", "side")


def stopped(folder: Path, files: dict[str, Trio]) -> None:
    """A merge that stopped with git's conflicts: the driver is not registered."""
    forked(folder, files)
    git(folder, "merge", "-q", "side", fails=True)


def past_merges(folder: Path, merges: list[dict[str, tuple[str, str, str, str]]]) -> None:
    """Merges one after the other, of files given as base, ours, theirs and result."""
    sides: list[tuple[dict[str, str], str, str]] = []
    for files in merges:
        base, ours, theirs, result = (
            {name: four[n] for name, four in files.items()} for n in range(4)
        )
        sides += [(base, "main", "main"), (theirs, "side", "main"), (ours, "main", "main")]
        sides.append((result, "main", "main side"))
    _imported(folder, _commits(sides), bare=False)


def _commits(sides: list[tuple[dict[str, str], str, str]]) -> str:
    """Return what `git fast-import` reads: files to write, the branch, and its parents."""
    return "".join(part for side in sides for part in _commit(*side))


def _commit(files: dict[str, str], branch: str, parents: str) -> Iterator[str]:
    yield f"commit refs/heads/{branch}\ncommitter {NOBODY}\ndata 1\nx\n"
    first, *others = parents.split() or [""]
    if first and first != branch:
        yield f"from refs/heads/{first}\n"
    yield from (f"merge refs/heads/{other}\n" for other in others)
    for name, text in files.items():
        yield f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n"


def _imported(folder: Path, stream: str, *, bare: bool) -> None:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", *(["--bare"] if bare else []))
    git(folder, "config", "gc.auto", "0")
    command = ["git", "fast-import", "--quiet", "--force"]
    subprocess.run(command, cwd=folder, input=stream.encode(), check=True, capture_output=True)
    if not bare:
        git(folder, "reset", "-q", "--hard")
