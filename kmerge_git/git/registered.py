"""The lines of ours in git's configuration, scope by scope: whether they run, or are old."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kmerge_git.git.call import GitAnswer, ask_git
from kmerge_git.git.changes import ConfigChange
from kmerge_git.git.driverline import (
    GONE,
    TESTS,
    command_of,
    diff_line,
    driver_line,
    is_older,
    mergetool_line,
)
from kmerge_git.git.places import SCOPES, Scope, scopes_of

DRIVER = "merge.kmerge.driver"
TOOL = "mergetool.kmerge.cmd"
DIFF = "diff.kmerge.command"
CURRENT = {
    DRIVER: driver_line,
    TOOL: mergetool_line,
    DIFF: diff_line,
}
# an interpreter in double quotes, and our package
PROGRAM = re.compile(r'("(?:[^"\\]|\\.)*" -P -m kmerge_git) (?:mergetool|diff --external)')


@dataclass(frozen=True, slots=True)
class Registered:
    """One line, and the scope that holds it."""

    scope: Scope
    key: str
    line: str

    @property
    def command(self) -> str:
        """What tells its version when `--version` stands behind it; '' if the line is not ours."""
        if self.key == DRIVER:
            return command_of(self.line)
        found = PROGRAM.search(self.line)
        return found[1] if found else ""

    @property
    def is_older(self) -> bool:
        """Whether an older version wrote it: this one would write it otherwise, for any path."""
        if self.key == DRIVER:
            return is_older(self.line)
        command, current = self.command, CURRENT[self.key]()
        its_own = PROGRAM.search(current)
        assert its_own
        return command != "" and self.line.replace(command, its_own[1]) != current

    def renewed(self) -> ConfigChange:
        """The line as this version writes it, for the interpreter that runs now."""
        return ConfigChange(self.scope, self.key, CURRENT[self.key](), renews=True)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command said when it was asked for its version: that, or why there is none."""

    version: str
    why: str = ""


def registered(cwd: Path) -> list[Registered]:
    """Every line that git sees from here and that is ours."""
    found = [
        Registered(named, key, line)
        for key in CURRENT
        for scope, line in scopes_of(key, cwd)
        for named in SCOPES
        if named == scope
    ]
    return [one for one in found if one.command]


def trial(command: str, cwd: Path) -> Reply:
    """Run a command of ours, in the shell that git gives its lines to."""
    ran = _in_gits_shell(f"{command} --version", cwd)
    if ran.code == 0 and ran.out.startswith("kmerge "):
        return Reply(ran.line.removeprefix("kmerge "))
    gone = ""
    if TESTS in command:  # they fail without a word
        asked = f'{command.partition(TESTS)[0]}w=;{GONE};echo "$w";:'
        gone = _in_gits_shell(asked, cwd).line
    said = ran.err.strip().splitlines() or [f"exit code {ran.code}"]
    return Reply("", gone or said[-1])


def _in_gits_shell(line: str, cwd: Path) -> GitAnswer:
    return ask_git("-c", f"alias.kmerge-probe=!{line}", "kmerge-probe", cwd=cwd)


def renewals(cwd: Path) -> list[ConfigChange]:
    """What mends the lines that are older or do not run, in every scope that git sees from here."""
    found = {
        (one.scope, one.key): one.renewed()
        for one in registered(cwd)
        if one.is_older or trial(one.command, cwd).why
    }
    return list(found.values())
