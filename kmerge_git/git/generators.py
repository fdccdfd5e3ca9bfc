"""Read which commands write the generated files of a repository.

A command is set in the repository's own configuration (`.git/config`) and nowhere else: no file of
a commit, no included or global file, and no variable of the environment can name one.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from kmerge_git.git.run_git import ask_git
from kmerge_git.git.settings import matches
from kmerge_git.visible import counted

KEY = "kmerge.generate"
FOLDER = "kmerge-generate"  # in git's folder: the outputs as they were, until a run has ended


@dataclass(frozen=True, slots=True)
class Generator:
    """Hold a command, the globs of what it writes and reads, and the seconds that it may take."""

    name: str
    command: str
    files: tuple[str, ...]
    sources: tuple[str, ...]
    timeout: str

    def writes(self, path: str) -> bool:
        """Return whether a path is an output."""
        return any(matches(glob, path) for glob in self.files)

    def reads(self, path: str) -> bool:
        """Return whether a path is a source."""
        return any(matches(glob, path) for glob in self.sources)


def generators(cwd: str | None = None) -> list[Generator]:
    """Return the generators of the repository, in the order of its configuration."""
    # a folder of a clone that looks like a bare repository brings a configuration of its own
    asked = ("-c", "safe.bareRepository=explicit", "config", "--local", "--no-includes", "--null")
    answer = ask_git(*asked, "--get-regexp", rf"^{KEY}\.", cwd=cwd)
    found: dict[str, dict[str, list[str]]] = {}
    for item in answer.out.split("\0")[:-1]:
        key, _, value = item.partition("\n")
        name, _, field = key.removeprefix(f"{KEY}.").rpartition(".")
        found.setdefault(name, {}).setdefault(field, []).append(value)
    return [
        Generator(
            name,
            given.get("command", [""])[-1],
            tuple(given.get("files", ())),
            tuple(given.get("sources", ())),
            given.get("timeout", ["600"])[-1],
        )
        for name, given in found.items()
    ]


def hint_for(conflicts: list[str] | None) -> list[str]:
    """Return the line that names `kmerge generate`, if outputs are in conflict."""
    known = generators() if conflicts else []
    outputs = [path for path in conflicts or () if any(one.writes(path) for one in known)]
    names = [one.name for one in known if any(map(one.writes, outputs))]
    line = (
        f"{counted(len(outputs), 'generated file')} in conflict: resolve the conflicts in their "
        f"sources, then run `{shlex.join(['kmerge', 'generate', *names])}`"
    )
    return [line] if outputs else []
