"""Find out whether the driver works here: each probe asks one question and names a remedy.

A driver that is registered but gets no files, and a driver that gets files but is not registered,
look the same from outside: git merges text and prints nothing. So the probes ask about both, and
really run the registered line. `status --deep` also makes a real merge and looks for leftover
files.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kmerge_git import __version__
from kmerge_git.bounds import MERGING_SECONDS
from kmerge_git.errors import KmergeError
from kmerge_git.git.attribute_files import (
    DEFAULTS,
    OURS,
    TEMPLATES,
    quoted_pattern,
)
from kmerge_git.git.config_places import (
    config_values,
    git_path,
    in_repository,
    scopes_of,
    worktree_top,
)
from kmerge_git.git.driver_lines import driver_line
from kmerge_git.git.generators import FOLDER
from kmerge_git.git.installation import (
    DIFF,
    DRIVER,
    HOOKS,
    TOOL,
    Registered,
    registered,
    trial,
)
from kmerge_git.git.manifests import generator_of
from kmerge_git.git.run_git import ask_git, environment, git_version
from kmerge_git.git.settings import settings_for
from kmerge_git.git.settings_in_force import with_deletion
from kmerge_git.git.tracked_files import attributes_of
from kmerge_git.git.unasked import WAYS, named, told_branches

LABELS_SINCE = (2, 44)  # %S %X %Y
PATH_SINCE = (2, 5)  # %P
MADE_UP = "kmerge-probe.yaml"
PRE_COMMIT = ".pre-commit-config.yaml"
# a hook of `.pre-commit-hooks.yaml`, or a hook of the user's own
IN_PRE_COMMIT = re.compile(
    r"^[^#\n]*(?:\bid: *['\"]?"
    r"(kmerge-(?:check|directives|merge|merge-damage|installed|register)\b)|(kmerge check))",
    re.M,
)
_BASE = "kind: ConfigMap\ndata:\n  a: '1'\n  b: '1'\n"
# git alone sees a conflict in neighbouring lines
_EDITS = ("a: '1'", "a: '2'"), ("b: '1'", "b: '2'")


@dataclass(frozen=True, slots=True)
class Probe:
    """Hold the answer of one probe: its name, state, text and hint."""

    name: str
    state: Literal["ok", "warn", "FAIL"]
    text: str
    hint: str = ""


def examine(cwd: Path) -> list[Probe]:
    """Return the answers of `status --deep`: all probes, a real merge, and leftover files."""
    findings = probe_all(cwd)
    if PATH_SINCE <= git_version() < LABELS_SINCE:
        text = "conflict markers show `ours` and `theirs`; git 2.44 or newer shows branch names"
        findings.append(Probe("labels", "ok", text))
    lines = scopes_of(DRIVER, cwd)
    if lines and lines[-1][1]:
        findings.append(try_merge(lines[-1][1]))
    if in_repository(cwd):
        findings += [*probe_bare(cwd), probe_leftovers(cwd)]
    return findings


def try_merge(line: str) -> Probe:
    """Merge three versions with the registered line, in a temporary repository."""
    with tempfile.TemporaryDirectory(prefix="kmerge-status-") as scratch:
        try:
            merged, messages = _scratch_merge(Path(scratch), line)
        except KmergeError as error:
            return Probe("merge", "FAIL", f"the test merge failed: {error}")
    if merged == _BASE.replace(*_EDITS[0]).replace(*_EDITS[1]):
        return Probe(
            "merge", "ok", "a test merge in a temporary repository gave the correct result"
        )
    why = next((text for text in messages.splitlines() if text.startswith("kmerge:")), "")
    end = "the conflict that git gives without kmerge" if "<<<<<<<" in merged else "a wrong result"
    text = f"a test merge in a temporary repository gave {end}" + (f" ({why})" if why else "")
    return Probe("merge", "FAIL", text, "run `kmerge install`")


def _scratch_merge(top: Path, line: str) -> tuple[str, str]:
    """Merge two edits in the new repository `top`; return the text and git's messages."""
    env = environment(any_repository=True) | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
    }
    env.pop("KMERGE", None)

    def run(*args: str) -> str:
        answer = ask_git(*args, cwd=top, env=env)
        if answer.code > 1:
            raise KmergeError(answer.err.strip() or f"git {args[0]}: exit code {answer.code}")
        return answer.out + answer.err

    def commit(text: str) -> None:
        (top / "x.yaml").write_text(text, "utf-8", newline="\n")
        run("add", "-A")
        run("commit", "-q", "-m", "x")

    run("init", "-q", ".")
    for key, value in (
        ("user.name", "kmerge"),
        ("user.email", "kmerge@localhost"),
        ("core.autocrlf", "false"),
        ("merge.kmerge.name", "kmerge"),
        (DRIVER, line),
    ):
        run("config", key, value)
    (top / ".gitattributes").write_text("*.yaml merge=kmerge\n", "utf-8", newline="\n")
    commit(_BASE)
    run("branch", "side")
    commit(_BASE.replace(*_EDITS[0]))
    run("checkout", "-q", "side")
    commit(_BASE.replace(*_EDITS[1]))
    run("checkout", "-q", "-")
    messages = run("merge", "--no-edit", "side")
    return (top / "x.yaml").read_bytes().decode(), messages


def probe_bare(cwd: Path) -> list[Probe]:
    """Report the file from which a bare repository takes its attributes."""
    if not is_bare(cwd):
        return []
    text = "in a bare repository git reads info/attributes, not the committed .gitattributes"
    return [Probe("bare", "ok", f"{text}, unless attr.tree is set to HEAD (git 2.43 or newer)")]


def probe_leftovers(cwd: Path) -> Probe:
    """Report temporary files of merges that were killed."""
    files = leftovers(cwd)
    if not files:
        return Probe("leftovers", "ok", "there are no temporary files of killed merges")
    text = f"killed merges left {_first([file.name for file in files])} in {files[0].parent}"
    return Probe("leftovers", "warn", text, "run `kmerge status --fix` to remove them")


def leftovers(cwd: Path) -> list[Path]:
    """Return the untracked files `.merge_file_*` of git that are too old to be in use."""
    top = worktree_top(cwd) or git_path(".", cwd)

    def is_left(file: Path) -> bool:
        info = file.lstat()
        is_old = stat.S_ISREG(info.st_mode) and time.time() - info.st_mtime > MERGING_SECONDS
        return is_old and ask_git("ls-files", "--error-unmatch", "--", file.name, cwd=top).code != 0

    return [file for file in sorted(top.glob(".merge_file_*")) if is_left(file)]


def probe_all(cwd: Path) -> list[Probe]:
    """Answer every question of `kmerge status`, the most important question first."""
    findings = [probe_git(), *probe_driver(cwd)]
    if not in_repository(cwd):
        text, hint = (
            "this directory is not in a git repository",
            "run `kmerge status` in a git repository",
        )
        return [*findings, Probe("repository", "warn", text, hint)]
    return [
        *findings, *probe_selection(cwd), *probe_templates(cwd), *probe_generated(cwd),
        *probe_diff(cwd), *probe_programs(cwd), probe_hooks(cwd), *probe_settings(cwd),
        *probe_deletion(cwd), *probe_generating(cwd),
    ]  # fmt: skip


def probe_git() -> Probe:
    """Report git's version."""
    version = git_version()
    name = f"git {version[0]}.{version[1]}"
    if version < PATH_SINCE:
        return Probe("git", "FAIL", f"{name} does not pass paths to merge drivers", "update git")
    return Probe("git", "ok", name)


def probe_driver(cwd: Path) -> list[Probe]:
    """Report the scope that registers the driver line, and whether the line runs."""
    lines = scopes_of(DRIVER, cwd)
    if lines and lines[-1][1]:
        scope, line = lines[-1]
        where = Probe("driver", "ok", f"registered in the {scope} configuration")
        return [where, probe_line(line, cwd, _install(scope)), *_overruled(lines[:-1], cwd)]
    if config_values(None, "merge.kmerge.name", cwd):
        text = "merge.kmerge.name is set without a driver: git stops every merge of these files"
        return [Probe("driver", "FAIL", text, "run `kmerge status --fix`, or `kmerge uninstall`")]
    hint = "run `kmerge install`, or `kmerge install --global` for all your repositories"
    return [Probe("driver", "FAIL", "not registered: git merges manifests as text", hint)]


def probe_line(line: str, cwd: Path, repair: str) -> Probe:
    """Run the registered line's own interpreter, options and driver file."""
    ours = Registered("local", DRIVER, line)
    if not ours.is_ours:
        text = f"the registered command was not written by kmerge, so kmerge did not run it: {line}"
        return Probe("line", "warn", text, f"run `{repair}` to replace it")
    if not ours.command:
        text = "another version of kmerge wrote the registered command"
        return Probe("line", "warn", text, f"run `{repair}` to update it")
    version, why = trial(ours.command, cwd)
    if why:
        text = f"the registered command does not run: {why}"
        return Probe("line", "FAIL", text, f"run `{repair}`")
    if version != __version__:
        text = f"the registered command is version {version}, but this is {__version__}"
        return Probe("line", "warn", text, f"run `{repair}`")
    place = "" if line == driver_line() else " from another installation"
    return Probe("line", "ok", f"the registered command runs (version {version}){place}")


def _overruled(lines: list[tuple[str, str]], cwd: Path) -> list[Probe]:
    """Report broken driver lines that another scope overrules; other repositories may use them."""
    commands = ((scope, Registered("local", DRIVER, line).command) for scope, line in lines)
    tried = [(scope, trial(command, cwd)[1]) for scope, command in commands if command]
    text = "the command in the {} configuration does not run ({}); git does not use it here"
    return [
        Probe("line", "warn", text.format(scope, why), f"run `{_install(scope)}`")
        for scope, why in tried
        if why
    ]


def probe_programs(cwd: Path) -> list[Probe]:
    """Report the commands of kmerge for `git diff` and `git mergetool` that do not run."""
    programs = [one for one in registered(cwd) if one.key != DRIVER and one.command]
    tried = [(one.key, trial(one.command, cwd)[1]) for one in programs]
    names = {TOOL: "mergetool", DIFF: "diff"}
    hint = "run `kmerge status --fix`"
    return [
        Probe(names[key], "FAIL", f"{key} does not run: {why}", hint) for key, why in tried if why
    ]


def probe_selection(cwd: Path) -> list[Probe]:
    """Ask git which merge driver the files of this repository have, here and on other branches."""
    paths = _manifests(cwd)
    drivers = merge_attributes(paths or [MADE_UP], cwd)
    counts = Counter(drivers.values())
    ours = counts.pop(OURS, 0)
    first = {driver: path for path, driver in reversed(drivers.items())}
    others = [f"{named(name)} merges {n} ({first[name]})" for name, n in sorted(counts.items())]
    text = f"kmerge merges {ours} of {len(paths)} YAML files"
    text += f"; {', '.join(others)}" if others else ""
    if not paths:
        text = f"{named(drivers[MADE_UP])} merges a file such as {MADE_UP}"
    top = worktree_top(cwd)
    branches = told_branches(str(top)) if top else ""
    if ours:
        more = [Probe("branches", "warn", branches, WAYS)] if branches else []
        return [Probe("attributes", "ok", text), *more]
    hint = "run `kmerge install`"
    if set(counts) - {"unspecified"}:
        hint += "; add --on-conflict overwrite to replace another driver"
    if branches and "unspecified" in counts:
        hint = f"{branches}; {WAYS}"
    if is_bare(cwd):
        hint += " (a bare repository does not read the committed .gitattributes)"
    return [Probe("attributes", "FAIL", text, hint)]


def probe_templates(cwd: Path) -> list[Probe]:
    """Ask git which merge driver the Helm helpers and notes have."""
    paths = _tracked(cwd, TEMPLATES)
    if not paths or merge_attributes([MADE_UP], cwd)[MADE_UP] != OURS:
        return []
    ours = [*merge_attributes(paths, cwd).values()].count(OURS)
    text = f"kmerge merges {ours} of {len(paths)} Helm helpers and NOTES.txt files"
    return [Probe("templates", "ok", text)]


def _install(scope: str) -> str:
    return "kmerge install" + ("" if scope in ("local", "command") else f" --{scope}")


def probe_generated(cwd: Path) -> list[Probe]:
    """Report files that a generator seems to write although no attribute says so."""
    paths, top = _manifests(cwd), worktree_top(cwd)
    if not paths or top is None:
        return []
    ours, linguist = "kmerge-generated", "linguist-generated"
    files = [
        path
        for path, values in attributes_of(paths, ours, linguist, cwd=cwd).items()
        if ours not in values
        and (values.get(linguist) in ("set", "true") or generator_of(cwd / path))
    ]
    if not files:
        return []
    are = "file seems" if len(files) == 1 else "files seem"
    pattern = quoted_pattern("/" + os.path.relpath(cwd / files[0], top))
    hint = (
        f"add `{pattern} kmerge-generated` to .gitattributes to get no conflict markers in this "
        "file, or `-kmerge-generated` to merge it like any other"
    )
    text = f"{len(files)} {are} to be generated: {_first(files)}"
    return [Probe("generated", "warn", text, hint)]


def _first(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def _manifests(cwd: Path) -> list[str]:
    """Return the tracked manifests below a folder."""
    return _tracked(cwd, (name for name in DEFAULTS if name not in TEMPLATES))


def _tracked(cwd: Path, patterns: Iterable[str]) -> list[str]:
    names = (f":(top,glob){name if '/' in name else '**/' + name}" for name in patterns)
    listed = ask_git("ls-files", "-z", "--", *names, cwd=cwd)
    # a path in conflict is listed once a stage; --deduplicate came with git 2.31
    return list(dict.fromkeys(listed.out.split("\0")[:-1])) if listed.code == 0 else []


def merge_attributes(paths: list[str], cwd: Path) -> dict[str, str]:
    """Return the merge attribute of each path, in git's words."""
    by_path = attributes_of(paths, "merge", cwd=cwd)
    return {path: values.get("merge", "unspecified") for path, values in by_path.items()}


def probe_diff(cwd: Path) -> list[Probe]:
    """If the diff of kmerge is registered, ask git whether `git diff` shows manifests by field."""
    if not scopes_of(DIFF, cwd):
        return []
    value = attributes_of([MADE_UP], "diff", cwd=cwd)[MADE_UP].get("diff", "unspecified")
    if value == OURS:
        return [
            Probe(
                "diff",
                "ok",
                "`git diff` shows manifests by field; --no-ext-diff shows them as text",
            )
        ]
    text = (
        "kmerge is registered for `git diff`, but a file such as "
        f"{MADE_UP} is shown by {named(value)}"
    )
    return [Probe("diff", "warn", text, "run `kmerge install --diff`")]


def probe_hooks(cwd: Path) -> Probe:
    """Look for hooks that call kmerge, also by pre-commit, and check that they find the program."""
    directory = git_path("hooks", cwd)
    calling = [name for name in HOOKS if _calls_us(directory / name) or _is_configured(name, cwd)]
    if not calling and IN_PRE_COMMIT.search(_text((worktree_top(cwd) or cwd) / PRE_COMMIT)):
        if "generated by pre" in _text(directory / HOOKS[0]):
            return Probe("hooks", "ok", f"pre-commit calls kmerge ({PRE_COMMIT})")
        text = f"{PRE_COMMIT} calls kmerge, but git does not call pre-commit"
        return Probe("hooks", "warn", text, "run `pre-commit install`")
    if not calling:
        return Probe("hooks", "ok", "no hook calls kmerge (optional: run `kmerge install --hooks`)")
    text = f"{' and '.join(calling)} call kmerge"
    if shutil.which("kmerge") is None:
        return Probe("hooks", "warn", f"{text}, which is not on PATH", "add kmerge to PATH")
    return Probe("hooks", "ok", text)


def probe_settings(cwd: Path) -> list[Probe]:
    """Report settings that turn the driver off or make no sense."""
    hint = "kmerge ignores this value; correct it"
    problems = [(problem, hint) for problem in settings_for(MADE_UP).problems]
    if config_values(None, "merge.kmerge.recursive", cwd):
        text = "merge.kmerge.recursive is set: kmerge gets a worse merge base in criss-cross merges"
        problems.insert(0, (text, "run `git config --unset-all merge.kmerge.recursive`"))
    if os.environ.get("KMERGE") == "0":
        problems.insert(0, ("KMERGE=0 turns the driver off in this shell", "run `unset KMERGE`"))
    return [Probe("settings", "warn", *problem) for problem in problems]


def probe_deletion(cwd: Path) -> list[Probe]:
    """Report a policy `deletion` for most of the repository: it is meant for a folder."""
    paths, top = _manifests(cwd), worktree_top(cwd)
    if not paths or top is None:
        return []
    taken = with_deletion(top, [os.path.relpath(cwd / path, top) for path in paths])
    if 2 * len(taken) <= len(paths):
        return []
    text = f"the policy `deletion` covers {len(taken)} of {len(paths)} YAML files: {_first(taken)}"
    hint = "set this policy only for folders in which every deletion is intended"
    return [Probe("deletion", "warn", text, hint)]


def probe_generating(cwd: Path) -> list[Probe]:
    """Report generated files that a killed `kmerge generate` left as its commands wrote them."""
    folder = git_path(FOLDER, cwd)
    text = f"`kmerge generate` is still running or was killed; {folder} holds the previous files"
    hint = "if it is not running, run `kmerge generate --restore` to restore them"
    return [Probe("generate", "warn", text, hint)] if folder.exists() else []


def is_bare(cwd: Path) -> bool:
    """Return whether the repository has no working tree of its own."""
    return ask_git("rev-parse", "--is-bare-repository", cwd=cwd).line == "true"


def _is_configured(name: str, cwd: Path) -> bool:
    """Return whether git's configuration calls kmerge at an event, and is not switched off."""
    return f"kmerge-{name}" in ask_git("hook", "list", name, cwd=cwd).out.splitlines()


def _calls_us(hook: Path) -> bool:
    return "kmerge check" in _text(hook) and os.access(hook, os.X_OK)


def _text(file: Path) -> str:
    """Return the text of a file; treat an unreadable file as empty."""
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""
