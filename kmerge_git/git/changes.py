"""What an installation changes, as values: decided first, shown or made afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import ndiff
from pathlib import Path

from kmerge_git.errors import KmergeError
from kmerge_git.git.call import git
from kmerge_git.git.files import write_text
from kmerge_git.git.places import Scope


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A key of git's configuration gets a value, or goes (`value` is None)."""

    scope: Scope
    key: str
    value: str | None
    renews: bool = False  # a line of ours is there already

    @property
    def summary(self) -> str:
        """One line for people."""
        verb = "removed" if self.value is None else "renewed" if self.renews else "set"
        return f"{self.scope} configuration: {verb} {self.key}"

    def lines(self) -> list[str]:
        """The change in full."""
        change = f"remove {self.key}" if self.value is None else f"{self.key} = {self.value}"
        return [f"{self.scope} configuration: {change}"]

    def make(self, cwd: Path) -> None:
        """Change the configuration."""
        hint = "system configuration needs an administrator" if self.scope == "system" else ""
        flag = f"--{self.scope}"
        if self.value is None:
            git("config", flag, "--unset-all", self.key, cwd=cwd, hint=hint)
        else:
            git("config", flag, "--replace-all", self.key, self.value, cwd=cwd, hint=hint)


@dataclass(frozen=True, slots=True)
class FileChange:
    """A text file gets new content, or goes (`after` is empty)."""

    path: Path
    before: str
    after: str
    executable: bool = False

    @property
    def summary(self) -> str:
        """One line for people."""
        if not self.after:
            return f"removed {self.path}"
        return f"{'changed' if self.before else 'wrote'} {self.path}"

    def lines(self) -> list[str]:
        """The change in full."""
        old, new = (text.splitlines() for text in (self.before, self.after))
        changed = [f"  {line}" for line in ndiff(old, new) if line[:1] in "+-"]
        return [f"{self.path}:" + ("" if self.after else " remove"), *changed]

    def make(self, cwd: Path) -> None:
        """Replace the file."""
        try:
            write_text(self.path, self.after, executable=self.executable)
        except OSError as error:
            why = f"cannot be written: {error.strerror or error}"
            raise KmergeError(why, path=str(self.path), hint="nothing in it was changed") from error


SetupChange = ConfigChange | FileChange
