"""Registers the driver with git and takes it out again: plans first, changes last.

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


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user asks for."""

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
    """The changes to make, in order, and what to tell the user."""

    changes: tuple[SetupChange, ...]
    notes: tuple[str, ...] = ()


def plan_install(wish: Wish, cwd: Path) -> SetupPlan:
    """What is still missing for the driver to work as wished; nothing if all is there."""
    _require_place(wish, cwd)
    wanted = {DRIVER_NAME: NAME, DRIVER: CURRENT[DRIVER]()}
    if wish.mergetool:
        wanted |= {TOOL: CURRENT[TOOL](), "mergetool.kmerge.trustExitCode": "true"}
    if wish.diff:
        wanted |= {DIFF: CURRENT[DIFF]()}
    ours = {key for key in CURRENT if _has_ours(key, wish.scope, cwd)}
    wanted |= {key: CURRENT[key]() for key in CURRENT if key in ours}
    changes: list[SetupChange] = [
        ConfigChange(wish.scope, key, value, renews=key in ours)
        for key, value in wanted.items()
        if config_values(wish.scope, key, cwd) != [value]
    ]
    files, notes = _plan_attributes(wish, cwd)
    hooks, told = plan_hooks(wish.scope, cwd) if wish.hooks else ([], [])
    if wish.shared and files:
        told = [*told, f"commit {files[0].path}: the team gets the registration with it"]
    return SetupPlan((*changes, *files, *hooks), (*notes, *told))


def plan_uninstall(wish: Wish, cwd: Path) -> SetupPlan:
    """What has to go; settings below `kmerge.*` are the user's own and stay."""
    _require_place(wish, cwd)
    keys = [DRIVER_NAME, DRIVER]
    if any("kmerge_git mergetool" in v for v in config_values(wish.scope, TOOL, cwd)):
        keys += [TOOL, "mergetool.kmerge.trustExitCode"]
    if any("kmerge_git diff --external" in v for v in config_values(wish.scope, DIFF, cwd)):
        keys += [DIFF]
    config = [ConfigChange(wish.scope, k, None) for k in keys if config_values(wish.scope, k, cwd)]
    path = attribute_file(wish.scope, cwd, shared=wish.shared)
    before = read_attributes(path)
    after = without_block(before)
    files = [FileChange(path, before, after)] if after != before else []
    hooks = plan_no_hooks(cwd) if wish.scope in ("local", "worktree") else []
    return SetupPlan((*config, *files, *hooks), tuple(_what_stays(wish, cwd)))


def _has_ours(key: str, scope: Scope, cwd: Path) -> bool:
    """Whether a scope holds a line of this package, of whatever version, under a key."""
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
    asked = wish.patterns or wish.json or wish.diff
    if not asked and not settled and top is not None and top / ".gitattributes" in lower:
        team = top / ".gitattributes"
        if pat.names_us(read_attributes(team)):
            return [], [f"{team} names the files already: {path} is left alone"]
    weaker = pat.sources(lower, top)
    patterns = wish.patterns or settled or pat.DEFAULTS
    told: list[str] = []
    if not wish.patterns:
        patterns += pat.added_since(target, weaker, settled)
        if wish.on_conflict == "overwrite":
            patterns += pat.skipped(target, weaker, settled)
        elif not settled:
            patterns, told = pat.untaken(target, weaker, patterns)
    if wish.json:
        patterns += tuple(p for p in pat.JSON if p not in patterns)
    diff = wish.diff or pat.shows(target.text)  # who wants it no more uninstalls
    text, notes = pat.select(target, weaker, patterns, wish.on_conflict, diff=diff)
    files = [FileChange(path, target.text, text)] if text != target.text else []
    return files, told + notes + _overruled(wish, path, patterns, cwd)


def _overruled(wish: Wish, path: Path, patterns: tuple[str, ...], cwd: Path) -> list[str]:
    """Lines of info/attributes that git prefers to the committed file: told, never touched."""
    if not wish.shared:
        return []
    private = git_path("info/attributes", cwd)
    rules = [r for r in merge_rules(read_attributes(private)) if r.merge != OURS and not r.fenced]
    return [
        f"{private}:{rule.number} has the last word over {path}: {rule.text}"
        for rule in rules
        if any(covers(rule.pattern, pattern) for pattern in patterns)
    ]


def _what_stays(wish: Wish, cwd: Path) -> list[str]:
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


def plan_hooks(scope: str, cwd: Path) -> tuple[list[FileChange], list[str]]:
    """The hook files to write, and what to tell where somebody else's hooks are."""
    if scope in ("global", "system"):
        raise UsageError(
            f"--hooks belongs to one repository, it cannot go with --{scope}",
            hint="run `kmerge install --hooks` in the repository",
        )
    directory = git_path("hooks", cwd)
    if config_values(None, "core.hooksPath", cwd):
        add = f"add `{TO_ADD}` to {' and '.join(HOOKS)} there"
        return [], [f"core.hooksPath points to {directory}: no hook was written; {add}"]
    changes, notes = [], []
    for name in HOOKS:
        path = directory / name
        before = read_text(path)
        if before in ("", BEFORE):
            changes.append(FileChange(path, before, SHIM, executable=True))
        elif before != SHIM and "kmerge check" not in before:
            notes.append(f"{path} is somebody else's hook: add `{TO_ADD}` to it")
    return changes, notes


def plan_no_hooks(cwd: Path) -> list[FileChange]:
    """The removal of the hook files that are ours, letter for letter."""
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
