"""Register the driver with git and take it out again: plans first, changes last.

Two things make a driver work: its command line in git's configuration, and lines in an
attribute file that send files to it. Either one without the other does no harm: git then
merges text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import ndiff
from pathlib import Path

from kmerge_git.atomic_files import read_text, write_text
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.git import attribute_files as pat
from kmerge_git.git.attribute_files import OURS, covers, merge_rules, read_attributes, without_block
from kmerge_git.git.config_places import (
    SCOPES,
    Scope,
    attribute_file,
    config_values,
    git_path,
    lower_attribute_files,
    needs_repository,
    needs_worktree_config,
    scopes_of,
    worktree_top,
)
from kmerge_git.git.driver_lines import (
    GONE,
    NAME,
    TESTS,
    command_of,
    diff_line,
    driver_line,
    is_older,
    mergetool_line,
)
from kmerge_git.git.run_git import GitAnswer, ask_git, git

DRIVER_NAME = "merge.kmerge.name"
DRIVER = "merge.kmerge.driver"
TOOL = "mergetool.kmerge.cmd"
TRUST = "mergetool.kmerge.trustExitCode"
DIFF = "diff.kmerge.command"
CURRENT = {DRIVER: driver_line, TOOL: mergetool_line, DIFF: diff_line}
# an interpreter in double quotes, and our package
PROGRAM = re.compile(r'("(?:[^"\\]|\\.)*" -P -m kmerge_git) (?:mergetool|diff --external)')
# git runs pre-merge-commit instead of pre-commit when a merge was clean
HOOKS = ("pre-commit", "pre-merge-commit")
SHIM = """\
#!/bin/sh
# kmerge-git: checks the staged manifests; without kmerge on PATH it is in nobody's way
command -v kmerge >/dev/null || { echo 'kmerge: not on PATH, nothing was checked' >&2; exit 0; }
exec kmerge check --staged --quiet
"""
BEFORE = SHIM.replace(" --quiet", "")  # as it was written until it counted warnings
TO_ADD = "kmerge check --staged --quiet || exit 1"


@dataclass(frozen=True, slots=True)
class Wish:
    """The options of an installation."""

    scope: Scope = "local"
    shared: bool = False
    patterns: tuple[str, ...] = ()
    json: bool = False
    on_conflict: pat.OnConflict = "abort"
    hooks: bool = False
    mergetool: bool = False
    diff: bool = False


@dataclass(frozen=True, slots=True)
class SetupPlan:
    """The changes to make, in order, and the notes for the user."""

    changes: tuple[SetupChange, ...]
    notes: tuple[str, ...] = ()


def plan_install(wish: Wish, cwd: Path) -> SetupPlan:
    """Plan the changes that make the driver work as wished; none if all is there."""
    _require_place(wish, cwd)
    wanted = {DRIVER_NAME: NAME, DRIVER: driver_line()}
    wanted |= {TOOL: mergetool_line(), TRUST: "true"} if wish.mergetool else {}
    wanted |= {DIFF: diff_line()} if wish.diff else {}
    ours = {key for key in CURRENT if _has_ours(key, wish.scope, cwd)}
    wanted |= {key: CURRENT[key]() for key in CURRENT if key in ours}
    changes = [
        ConfigChange(wish.scope, key, value, renews=key in ours)
        for key, value in wanted.items()
        if config_values(wish.scope, key, cwd) != [value]
    ]
    files, notes = _plan_attributes(wish, cwd)
    hooks, more = plan_hooks(wish.scope, cwd) if wish.hooks else ([], [])
    if wish.shared and files:
        more = [*more, f"commit {files[0].path}: the team gets the registration with it"]
    return SetupPlan((*changes, *files, *hooks), (*notes, *more))


def plan_uninstall(wish: Wish, cwd: Path) -> SetupPlan:
    """Plan the removals; settings below `kmerge.*` are the user's own and stay."""
    _require_place(wish, cwd)
    keys = [DRIVER_NAME, DRIVER]
    for key, words, more in ((TOOL, "mergetool", [TRUST]), (DIFF, "diff --external", [])):
        if any(f"kmerge_git {words}" in value for value in config_values(wish.scope, key, cwd)):
            keys += [key, *more]
    config = [ConfigChange(wish.scope, k, None) for k in keys if config_values(wish.scope, k, cwd)]
    path = attribute_file(wish.scope, cwd, shared=wish.shared)
    before = read_attributes(path)
    after = without_block(before)
    files = [FileChange(path, before, after)] if after != before else []
    hooks = plan_no_hooks(cwd) if wish.scope in ("local", "worktree") else []
    return SetupPlan((*config, *files, *hooks), tuple(_notes_of_the_rest(wish, cwd)))


def _has_ours(key: str, scope: Scope, cwd: Path) -> bool:
    """Return whether a scope has a line of this package, of any version, under a key."""
    return any(Registered(scope, key, v).command for v in config_values(scope, key, cwd))


def _require_place(wish: Wish, cwd: Path) -> None:
    """Raise where the scope needs a repository, or a worktree's own configuration, and has none."""
    if wish.scope in ("local", "worktree") or wish.shared or wish.hooks:
        needs_repository(cwd)
    if wish.scope == "worktree":
        needs_worktree_config(cwd)


def _plan_attributes(wish: Wish, cwd: Path) -> tuple[list[FileChange], list[str]]:
    path = attribute_file(wish.scope, cwd, shared=wish.shared)
    target = pat.AttributeFile(path, read_attributes(path))
    settled = pat.registered(target.text)
    lower = lower_attribute_files(wish.scope, cwd, shared=wish.shared)
    top = worktree_top(cwd)
    team = top / ".gitattributes" if top is not None else path
    is_asked = wish.patterns or wish.json or wish.diff or settled
    if not is_asked and team in lower and pat.names_us(read_attributes(team)):
        return [], [f"{team} names the files already: {path} is left alone"]
    weaker = pat.sources(lower, top)
    patterns = wish.patterns or settled or pat.DEFAULTS
    notes: list[str] = []
    if not wish.patterns:
        patterns += pat.added_since(target, weaker, settled)
        if wish.on_conflict == "overwrite":
            patterns += pat.skipped(target, weaker, settled)
        elif not settled:
            patterns, notes = pat.untaken(target, weaker, patterns)
    if wish.json:
        patterns += tuple(p for p in pat.JSON if p not in patterns)
    diff = wish.diff or pat.shows(target.text)  # to end it, people uninstall
    text, more = pat.select(target, weaker, patterns, wish.on_conflict, diff=diff)
    files = [FileChange(path, target.text, text)] if text != target.text else []
    return files, notes + more + _overruled(wish, path, patterns, cwd)


def _overruled(wish: Wish, path: Path, patterns: tuple[str, ...], cwd: Path) -> list[str]:
    """Note lines of info/attributes that git prefers to the committed file; they stay."""
    if not wish.shared:
        return []
    private = git_path("info/attributes", cwd)
    return [
        f"{private}:{rule.number} has the last word over {path}: {rule.text}"
        for rule in merge_rules(read_attributes(private))
        if rule.merge != OURS
        and not rule.fenced
        and any(covers(rule.pattern, pattern) for pattern in patterns)
    ]


def _notes_of_the_rest(wish: Wish, cwd: Path) -> list[str]:
    """Note the lines that still register the driver, or send files to it."""
    others = {scope for scope, _ in scopes_of(DRIVER, cwd)} - {wish.scope}
    notes = [
        f"the driver is still registered in the {scope} configuration: kmerge uninstall --{scope}"
        for scope in SCOPES
        if scope in others
    ]
    top = worktree_top(cwd)
    team = top / ".gitattributes" if top and not wish.shared else None
    if team and pat.names_us(read_attributes(team)):
        notes.append(f"{team} still names kmerge, which does no harm: kmerge uninstall --shared")
    return notes


@dataclass(frozen=True, slots=True)
class Registered:
    """A line in git's configuration, and the scope of it."""

    scope: Scope
    key: str
    line: str

    @property
    def command(self) -> str:
        """The command that prints its version with `--version`; '' if the line is not ours."""
        if self.key == DRIVER:
            return command_of(self.line)
        program = PROGRAM.search(self.line)
        return program[1] if program else ""

    @property
    def is_older(self) -> bool:
        """Whether an older version wrote it: this one would write it otherwise, for any path."""
        if self.key == DRIVER:
            return is_older(self.line)
        command, current = self.command, CURRENT[self.key]()
        program = PROGRAM.search(current)
        assert program
        return command != "" and self.line.replace(command, program[1]) != current


def registered(cwd: Path) -> list[Registered]:
    """Return every line that git sees from here and that is ours."""
    lines = [
        Registered(scope, key, line)
        for key in CURRENT
        for name, line in scopes_of(key, cwd)
        for scope in SCOPES
        if scope == name
    ]
    return [line for line in lines if line.command]


def trial(command: str, cwd: Path) -> tuple[str, str]:
    """Run a command of ours, in git's shell, and return its version, or why there is none."""
    answer = _in_gits_shell(f"{command} --version", cwd)
    if answer.code == 0 and answer.out.startswith("kmerge "):
        return answer.line.removeprefix("kmerge "), ""
    gone = ""
    if TESTS in command:  # they fail without a message
        asked = f'{command.partition(TESTS)[0]}w=;{GONE};echo "$w";:'
        gone = _in_gits_shell(asked, cwd).line
    messages = answer.err.strip().splitlines() or [f"exit code {answer.code}"]
    return "", gone or messages[-1]


def _in_gits_shell(line: str, cwd: Path) -> GitAnswer:
    return ask_git("-c", f"alias.kmerge-probe=!{line}", "kmerge-probe", cwd=cwd)


def renewals(cwd: Path) -> list[ConfigChange]:
    """Plan to renew our lines that are older or do not run, in every scope that git sees."""
    lines = [one for one in registered(cwd) if one.is_older or trial(one.command, cwd)[1]]
    places = dict.fromkeys((one.scope, one.key) for one in lines)
    return [ConfigChange(scope, key, CURRENT[key](), renews=True) for scope, key in places]


def plan_hooks(scope: str, cwd: Path) -> tuple[list[FileChange], list[str]]:
    """Plan the hook files for people without pre-commit; note the hooks of somebody else."""
    if scope in ("global", "system"):
        raise UsageError(
            f"--hooks belongs to one repository, it cannot go with --{scope}",
            hint="run `kmerge install --hooks` in the repository",
        )
    directory = git_path("hooks", cwd)
    if config_values(None, "core.hooksPath", cwd):
        add = f"add `{TO_ADD}` to {' and '.join(HOOKS)} there"
        return [], [f"core.hooksPath points to {directory}: no hook was written; {add}"]
    texts = {directory / name: read_text(directory / name) for name in HOOKS}
    changes = [
        FileChange(path, text, SHIM, executable=True)
        for path, text in texts.items()
        if text in ("", BEFORE)
    ]
    notes = [
        f"{path} is somebody else's hook: add `{TO_ADD}` to it"
        for path, text in texts.items()
        if text not in ("", BEFORE, SHIM) and "kmerge check" not in text
    ]
    return changes, notes


def plan_no_hooks(cwd: Path) -> list[FileChange]:
    """Plan to remove the hook files that are ours, letter for letter."""
    texts = [(path, read_text(path)) for path in (git_path("hooks", cwd) / name for name in HOOKS)]
    return [FileChange(path, text, "") for path, text in texts if text in (SHIM, BEFORE)]


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
        words = ["--unset-all", self.key]
        if self.value is not None:
            words = ["--replace-all", self.key, self.value]
        git("config", f"--{self.scope}", *words, cwd=cwd, hint=hint)


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
        verb = "removed" if not self.after else "changed" if self.before else "wrote"
        return f"{verb} {self.path}"

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
