"""Register the driver with git and remove it: plan the changes first, then make the changes.

A driver needs two things to work: its command line in git's configuration, and lines in an
attribute file that send files to the driver. If one of the two is missing, no harm is done: git
then merges text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
    needs_worktree_config,
    scopes_of,
    worktree_top,
)
from kmerge_git.git.driver_lines import (
    DRIVER_FILE,
    GONE,
    MODULE,
    NAME,
    TESTS,
    command_of,
    diff_line,
    driver_line,
    mergetool_line,
)
from kmerge_git.git.program_places import require_lasting
from kmerge_git.git.run_git import GitAnswer, ask_git, ask_here, git, git_version

DRIVER_NAME = "merge.kmerge.name"
DRIVER = "merge.kmerge.driver"
TOOL = "mergetool.kmerge.cmd"
TRUST = "mergetool.kmerge.trustExitCode"
DIFF = "diff.kmerge.command"
CURRENT = {DRIVER: driver_line, TOOL: mergetool_line, DIFF: diff_line}
# an interpreter in double quotes, and our package
PROGRAM = re.compile(rf'("(?:[^"\\]|\\.)*" {MODULE}) (?:mergetool|diff --external)')
# git runs pre-merge-commit instead of pre-commit when a merge was clean
HOOKS = ("pre-commit", "pre-merge-commit")
# a hook is known by its text, so the words of hooks that were written before stay
SHIM = """\
#!/bin/sh
# kmerge-git: checks the staged manifests; without kmerge on PATH it is in nobody's way
command -v kmerge >/dev/null || { echo 'kmerge: not on PATH, nothing was checked' >&2; exit 0; }
exec kmerge check --staged --new --quiet
"""
# git gives pre-push the name of the remote, and a line `LOCAL_REF ID REMOTE_REF ID` of each branch
PUSH_SHIM = """\
#!/bin/sh
# kmerge-git: judges the merges that are pushed; without kmerge on PATH it is in nobody's way
command -v kmerge >/dev/null || { echo 'kmerge: not on PATH, nothing was checked' >&2; exit 0; }
code=0
while read -r line; do
  rest=${line% * *}
  PRE_COMMIT_FROM_REF=${line##* } PRE_COMMIT_TO_REF=${rest##* } PRE_COMMIT_REMOTE_NAME=$1 \\
    kmerge check --committed </dev/null || code=1
done
exit $code
"""
SHIMS = {**dict.fromkeys(HOOKS, SHIM), "pre-push": PUSH_SHIM}
# git 2.54 runs hooks of its configuration, too: `hook.kmerge-NAME.command` at the event NAME
CONFIGURED_SINCE = (2, 54)
TO_ADD = "kmerge check --staged --new --quiet || exit 1"


@dataclass(frozen=True, slots=True)
class Wish:
    """Hold the options of an installation."""

    scope: Scope = "local"
    shared: bool = False
    patterns: tuple[str, ...] = ()
    json: bool = False
    on_conflict: pat.OnConflict = "abort"
    hooks: bool = False
    mergetool: bool = False
    diff: bool = False
    policies: Mapping[str, Sequence[str]] | None = None  # by the pattern of their files


@dataclass(frozen=True, slots=True)
class SetupPlan:
    """Hold the changes to make, in order, and the notes for the user."""

    changes: tuple[SetupChange, ...]
    notes: tuple[str, ...] = ()


def plan_install(wish: Wish, cwd: Path) -> SetupPlan:
    """Plan the changes that set up the driver as wished; plan none if all is set up already."""
    require_lasting()
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
        more = [*more, f"commit {files[0].path} to share the registration with your team"]
    return SetupPlan((*changes, *files, *hooks), (*notes, *more))


def plan_uninstall(wish: Wish, cwd: Path) -> SetupPlan:
    """Plan to remove the driver, but keep settings below `kmerge.*`, which are the user's own."""
    _require_place(wish, cwd)
    keys = [DRIVER_NAME, DRIVER]
    for key, more in ((TOOL, [TRUST]), (DIFF, [])):
        if _has_ours(key, wish.scope, cwd):
            keys += [key, *more]
    for name in SHIMS:
        (command, line), (event, _) = _configured(name)
        if config_values(wish.scope, command, cwd) == [line]:
            keys += [event, command]
    config = [ConfigChange(wish.scope, k, None) for k in keys if config_values(wish.scope, k, cwd)]
    path = attribute_file(wish.scope, cwd, shared=wish.shared)
    before = read_attributes(path)
    after = without_block(before)
    files = [FileChange(path, before, after)] if after != before else []
    hooks = []
    if wish.scope in ("local", "worktree"):
        shims = {git_path("hooks", cwd) / name: text for name, text in SHIMS.items()}
        hooks = [FileChange(hook, s, "") for hook, s in shims.items() if read_text(hook) == s]
    return SetupPlan((*config, *files, *hooks), tuple(_notes_of_the_rest(wish, cwd)))


def _has_ours(key: str, scope: Scope, cwd: Path) -> bool:
    """Return whether a scope sets a key to a line that any version of kmerge wrote."""
    return any(Registered(scope, key, v).is_ours for v in config_values(scope, key, cwd))


def _require_place(wish: Wish, cwd: Path) -> None:
    """Raise an error if the scope needs a repository or worktree configuration that is missing."""
    if wish.scope in ("local", "worktree") or wish.shared or wish.hooks:
        ask_here("--git-dir", ", or use --global", cwd)
    if wish.scope == "worktree":
        needs_worktree_config(cwd)


def _plan_attributes(wish: Wish, cwd: Path) -> tuple[list[FileChange], list[str]]:
    path = attribute_file(wish.scope, cwd, shared=wish.shared)
    target = pat.AttributeFile(path, read_attributes(path))
    settled = pat.registered(target.text)
    lower = lower_attribute_files(wish.scope, cwd, shared=wish.shared)
    top = worktree_top(cwd)
    team = top / ".gitattributes" if top is not None else path
    is_asked = wish.patterns or wish.json or wish.diff or wish.policies or settled
    if not is_asked and team in lower and pat.names_us(read_attributes(team)):
        return [], []
    weaker = pat.sources(lower, top)
    patterns, notes = _patterns(wish, target, weaker)
    diff = wish.diff or pat.shows(target.text)  # only `kmerge uninstall` ends it
    text, more = pat.select(
        target, weaker, patterns, wish.on_conflict, diff=diff, policies=wish.policies
    )
    files = [FileChange(path, target.text, text)] if text != target.text else []
    return files, notes + more + _overruled(wish, path, patterns, cwd)


def _patterns(
    wish: Wish, target: pat.AttributeFile, weaker: list[pat.AttributeFile]
) -> tuple[tuple[str, ...], list[str]]:
    """Return the patterns that the driver gets, and notes about those that are left out."""
    settled, notes = pat.registered(target.text), list[str]()
    patterns = wish.patterns or settled or pat.DEFAULTS
    if not wish.patterns:
        if wish.on_conflict == "overwrite":
            patterns += pat.skipped(target, weaker, settled)
        elif not settled:
            patterns, notes = pat.untaken(target, weaker, patterns)
    more = (*(pat.JSON if wish.json else ()), *(pat.CHARTS if wish.policies else ()))
    return (*patterns, *(p for p in more if p not in patterns)), notes


def _overruled(wish: Wish, path: Path, patterns: tuple[str, ...], cwd: Path) -> list[str]:
    """Return notes on the lines of info/attributes that overrule the committed file."""
    if not wish.shared:
        return []
    private = git_path("info/attributes", cwd)
    return [
        f"{private}:{rule.number} overrides {path}: {rule.text}"
        for rule in merge_rules(read_attributes(private))
        if rule.merge != OURS
        and not rule.fenced
        and any(covers(rule.pattern, pattern) for pattern in patterns)
    ]


def _notes_of_the_rest(wish: Wish, cwd: Path) -> list[str]:
    """Return notes on the lines that still register the driver or send files to the driver."""
    others = {scope for scope, _ in scopes_of(DRIVER, cwd)} - {wish.scope}
    notes = [
        f"the driver is still registered ({scope}); run `kmerge uninstall --{scope}`"
        for scope in SCOPES
        if scope in others
    ]
    top = worktree_top(cwd)
    team = top / ".gitattributes" if top and not wish.shared else None
    if team and pat.names_us(read_attributes(team)):
        notes.append(
            f"{team} still contains lines of kmerge; run `kmerge uninstall --shared` to remove them"
        )
    return notes


@dataclass(frozen=True, slots=True)
class Registered:
    """Hold a line of git's configuration, its scope and its key."""

    scope: Scope
    key: str
    line: str

    @property
    def is_ours(self) -> bool:
        """Return whether the line runs kmerge, in whatever form."""
        return bool(self.command) or DRIVER_FILE in self.line or MODULE in self.line

    @property
    def command(self) -> str:
        """Return the command to which `--version` can be added.

        Return '' unless the line has the form in which this version writes it; paths do not count.
        """
        if self.key == DRIVER:
            return command_of(self.line)
        current = CURRENT[self.key]()
        theirs, ours = PROGRAM.search(self.line), PROGRAM.search(current)
        is_current = theirs and ours and self.line.replace(theirs[1], ours[1]) == current
        return theirs[1] if theirs and is_current else ""


def registered(cwd: Path) -> list[Registered]:
    """Return every line of git's configuration that runs kmerge, as git reads it in `cwd`."""
    lines = [
        Registered(scope, key, line)
        for key in CURRENT
        for name, line in scopes_of(key, cwd)
        for scope in SCOPES
        if scope == name
    ]
    return [line for line in lines if line.is_ours]


def trial(command: str, cwd: Path) -> tuple[str, str]:
    """Run a command of kmerge with `--version` in git's shell.

    Return the version and '', or '' and the reason of the failure.
    """
    answer = _in_gits_shell(f"{command} --version", cwd)
    if answer.code == 0 and answer.out.startswith("kmerge "):
        return answer.line.removeprefix("kmerge "), ""
    gone = ""
    if TESTS in command:  # the tests fail without a message
        asked = f'{command.partition(TESTS)[0]}w=;{GONE};echo "$w";:'
        gone = _in_gits_shell(asked, cwd).line
    messages = answer.err.strip().splitlines() or [f"exit code {answer.code}"]
    return "", gone or messages[-1]


def _in_gits_shell(line: str, cwd: Path) -> GitAnswer:
    return ask_git("-c", f"alias.kmerge-probe=!{line}", "kmerge-probe", cwd=cwd)


def renewals(cwd: Path) -> list[ConfigChange]:
    """Plan to renew, in every scope, each line of kmerge that is outdated or does not run."""
    lines = [one for one in registered(cwd) if not one.command or trial(one.command, cwd)[1]]
    if lines:
        require_lasting()
    places = dict.fromkeys((one.scope, one.key) for one in lines)
    return [ConfigChange(scope, key, CURRENT[key](), renews=True) for scope, key in places]


def plan_hooks(scope: Scope, cwd: Path) -> tuple[Sequence[SetupChange], list[str]]:
    """Plan the hooks for people without pre-commit; note hooks that somebody else wrote."""
    if scope in ("global", "system"):
        raise UsageError(
            f"--hooks is for one repository and cannot be combined with --{scope}",
            hint="run `kmerge install --hooks` in the repository",
        )
    if git_version() >= CONFIGURED_SINCE:
        return list(_plan_configured(scope, cwd)), []
    directory = git_path("hooks", cwd)
    if config_values(None, "core.hooksPath", cwd):
        return [], [
            "no hook was written, because core.hooksPath is set; "
            f"add `{TO_ADD}` to {' and '.join(HOOKS)} in {directory}"
        ]
    texts = {directory / name: read_text(directory / name) for name in SHIMS}
    changes = [
        FileChange(path, text, SHIMS[path.name], executable=True)
        for path, text in texts.items()
        if text == ""
    ]
    others = [path for path, text in texts.items() if text and "kmerge check" not in text]
    notes = [
        f"kmerge is not the author of the hook {path}; {_to_add(path.name)}" for path in others
    ]
    return changes, notes


def _plan_configured(scope: Scope, cwd: Path) -> Iterator[ConfigChange]:
    """Yield the settings that let git call kmerge, except where a file of hooks does already."""
    directory = git_path("hooks", cwd)
    for name in SHIMS:
        settings = () if "kmerge check" in read_text(directory / name) else _configured(name)
        for key, value in settings:
            before = config_values(scope, key, cwd)
            if before != [value]:
                yield ConfigChange(scope, key, value, renews=bool(before))


def _configured(name: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the keys and values of a hook in git's configuration: its command, then its event.

    The event comes last, because git stops where an event has no command.
    """
    script = SHIMS[name].removeprefix("#!/bin/sh\n")
    command = f"kmerge_hook() {{\n{script}}}; kmerge_hook"  # git adds the arguments
    return (f"hook.kmerge-{name}.command", command), (f"hook.kmerge-{name}.event", name)


def _to_add(name: str) -> str:
    """Return what is to do with a hook that somebody else wrote."""
    if name in HOOKS:
        return f"add `{TO_ADD}` to this hook"
    return "to check pushed merges, add the commands of kmerge's hooks/pre-push to this hook"


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """Set a key of git's configuration, or remove the key if `value` is None."""

    scope: Scope
    key: str
    value: str | None
    renews: bool = False  # True if the key has a line of kmerge already

    @property
    def summary(self) -> str:
        """Summarize the change of configuration in one line."""
        verb = "removed" if self.value is None else "renewed" if self.renews else "set"
        return f"{self.scope} configuration: {verb} {self.key}"

    def lines(self) -> list[str]:
        """Return all lines that show the change."""
        change = f"remove {self.key}" if self.value is None else f"{self.key} = {self.value}"
        return [f"{self.scope} configuration: {change}"]

    def make(self, cwd: Path) -> None:
        """Change git's configuration."""
        hint = (
            "only an administrator can change the system configuration"
            if self.scope == "system"
            else ""
        )
        words = ["--unset-all", self.key]
        if self.value is not None:
            words = ["--replace-all", self.key, self.value]
        git("config", f"--{self.scope}", *words, cwd=cwd, hint=hint)


@dataclass(frozen=True, slots=True)
class FileChange:
    """Replace the text of a file, or remove the file if `after` is empty."""

    path: Path
    before: str
    after: str
    executable: bool = False

    @property
    def summary(self) -> str:
        """Summarize the change of the file in one line."""
        verb = "removed" if not self.after else "changed" if self.before else "wrote"
        return f"{verb} {self.path}"

    def lines(self) -> list[str]:
        """Return all lines that show the change."""
        old, new = (text.splitlines() for text in (self.before, self.after))
        changed = [f"  {line}" for line in ndiff(old, new) if line[:1] in "+-"]
        return [f"{self.path}:" + ("" if self.after else " remove"), *changed]

    def make(self, cwd: Path) -> None:
        """Replace or remove the file."""
        try:
            write_text(self.path, self.after, executable=self.executable)
        except OSError as error:
            why = f"kmerge cannot write this file: {error.strerror or error}"
            raise KmergeError(why, path=str(self.path), hint="nothing was changed") from error


SetupChange = ConfigChange | FileChange
