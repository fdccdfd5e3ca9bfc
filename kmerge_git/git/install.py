"""Registers the driver with git and takes it out again: plans first, changes last.

Two things make a driver work: its command line in git's configuration, and lines in an attribute
file that send files to it. Either one without the other does no harm: git then merges text.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kmerge_git.git import patterns as pat
from kmerge_git.git.attributes import OURS, covers, merge_rules, read_attributes, without_block
from kmerge_git.git.changes import ConfigChange, FileChange, SetupChange
from kmerge_git.git.driverline import NAME
from kmerge_git.git.hookfiles import plan_hooks, plan_no_hooks
from kmerge_git.git.places import (
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
from kmerge_git.git.registered import CURRENT, DIFF, DRIVER, TOOL, Registered

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
