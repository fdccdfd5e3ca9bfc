"""Find out whether the driver works here: one probe a question, each with what to do about it.

A driver that is bound but never selected, and one that is selected but never bound, look the
same from outside: git merges text and prints nothing. So both ends are asked, and the line is
really run. `doctor` looks closer than `status`: it makes a real merge and looks for leftovers.
"""

from __future__ import annotations

import os
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
    BUILT_IN,
    DEFAULTS,
    OURS,
    TEMPLATES,
    names_us,
    quoted_pattern,
    read_attributes,
)
from kmerge_git.git.config_places import (
    SCOPES,
    config_values,
    git_path,
    in_repository,
    scopes_of,
    worktree_top,
)
from kmerge_git.git.driver_lines import driver_line
from kmerge_git.git.file_attributes import attributes_of
from kmerge_git.git.installation import (
    DIFF,
    DRIVER,
    HOOKS,
    TOOL,
    FileChange,
    Registered,
    Wish,
    plan_install,
    registered,
    trial,
)
from kmerge_git.git.manifests import generator_of
from kmerge_git.git.run_git import ask_git, environment, git_version
from kmerge_git.git.settings import settings_for

_TRIAL_BASE = "kind: ConfigMap\ndata:\n  a: '1'\n  b: '1'\n"
_TRIAL_OURS = _TRIAL_BASE.replace("a: '1'", "a: '2'")
_TRIAL_THEIRS = _TRIAL_BASE.replace("b: '1'", "b: '2'")
_TRIAL_MERGED = _TRIAL_OURS.replace(
    "b: '1'", "b: '2'"
)  # neighbouring lines: git alone sees a conflict


def examine(cwd: Path) -> list[Probe]:
    """The findings of `status`, and those that need more than a look."""
    findings = probe_all(cwd)
    registered = scopes_of(DRIVER, cwd)
    if registered and registered[-1][1]:
        findings.append(try_merge(registered[-1][1]))
    if in_repository(cwd):
        findings += [*probe_bare(cwd), probe_leftovers(cwd)]
    return findings


def try_merge(line: str) -> Probe:
    """Merge three versions with the registered line, in a repository made for it."""
    with tempfile.TemporaryDirectory(prefix="kmerge-doctor-") as scratch:
        top = Path(scratch)
        try:
            merged, said = _scratch_merge(top, line)
        except KmergeError as error:
            return Probe("merge", "FAIL", f"the trial merge could not be made: {error}")
    if merged == _TRIAL_MERGED:
        return Probe("merge", "ok", "a real merge in a scratch repository came out right")
    why = next((text for text in said.splitlines() if text.startswith("kmerge:")), "")
    text = "a real merge in a scratch repository came out as git alone would have merged it"
    if "<<<<<<<" not in merged:
        text = "a real merge in a scratch repository came out wrong"
    return Probe("merge", "FAIL", text + (f" ({why})" if why else ""), "run `kmerge install`")


def _scratch_merge(top: Path, line: str) -> tuple[str, str]:
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
    commit(_TRIAL_BASE)
    run("branch", "side")
    commit(_TRIAL_OURS)
    run("checkout", "-q", "side")
    commit(_TRIAL_THEIRS)
    run("checkout", "-q", "-")
    said = run("merge", "--no-edit", "side")
    return (top / "x.yaml").read_bytes().decode(), said


def probe_bare(cwd: Path) -> list[Probe]:
    """Where a bare repository takes its attributes from."""
    if not is_bare(cwd):
        return []
    text = "a bare repository reads info/attributes, not the committed .gitattributes"
    return [Probe("bare", "ok", text + " (git 2.43: `git config attr.tree HEAD` makes it)")]


def probe_leftovers(cwd: Path) -> Probe:
    """Temporary files of merges that were killed."""
    found = leftovers(cwd)
    if not found:
        return Probe("leftovers", "ok", "no temporary files of killed merges")
    names = ", ".join(path.name for path in found[:3]) + (", ..." if len(found) > 3 else "")
    hint = "`kmerge doctor --fix` removes them"
    return Probe("leftovers", "warn", f"killed merges left {names} in {found[0].parent}", hint)


def leftovers(cwd: Path) -> list[Path]:
    """`.merge_file_*` where git puts them, untracked, and too old to be in use."""
    top = worktree_top(cwd) or git_path(".", cwd)
    found = []
    for path in sorted(top.glob(".merge_file_*")):
        info = path.lstat()
        if stat.S_ISREG(info.st_mode) and time.time() - info.st_mtime > MERGING_SECONDS:
            tracked = ask_git("ls-files", "--error-unmatch", "--", path.name, cwd=top)
            found += [path] if tracked.code != 0 else []
    return found


LABELS_SINCE = (2, 44)  # %S %X %Y
PATH_SINCE = (2, 5)  # %P
MADE_UP = "kmerge-probe.yaml"
OTHER_PLACE = ", from another place than this one"


@dataclass(frozen=True, slots=True)
class Probe:
    """The answer of one probe."""

    name: str
    state: Literal["ok", "warn", "FAIL"]
    text: str
    hint: str = ""


def probe_all(cwd: Path) -> list[Probe]:
    """Every question of `kmerge status`, in the order in which the answers matter."""
    here = in_repository(cwd)
    findings = [probe_git(cwd), *probe_driver(cwd)]
    if not here:
        hint = "go into a repository to see whether its files are selected"
        return [*findings, Probe("repository", "warn", "this directory is in none", hint)]
    return [
        *findings, *probe_selection(cwd), *probe_templates(cwd), *probe_generated(cwd),
        *probe_diff(cwd), *probe_programs(cwd), probe_hooks(cwd), *probe_settings(cwd),
    ]  # fmt: skip


def probe_git(cwd: Path) -> Probe:
    """Git's version, and the placeholders that it does not have."""
    version = git_version()
    name = f"git {version[0]}.{version[1]}"
    if version < PATH_SINCE:
        return Probe("git", "FAIL", f"{name} does not tell drivers the path", "update git")
    if version < LABELS_SINCE:
        text = f"{name} tells drivers no names: some labels say `ours` and `theirs`"
        return Probe("git", "warn", text, "git 2.44 or newer does; nothing else is missing")
    return Probe("git", "ok", name)


def probe_driver(cwd: Path) -> list[Probe]:
    """The registered line: who registered it, and whether it runs."""
    found = scopes_of(DRIVER, cwd)
    if not found or not found[-1][1]:
        if config_values(None, "merge.kmerge.name", cwd):
            text = "merge.kmerge has a name and no driver: git stops every merge of these files"
            return [Probe("driver", "FAIL", text, "run `kmerge install` or `kmerge uninstall`")]
        hint = "run `kmerge install`, or `kmerge install --global` for all your repositories"
        return [Probe("driver", "FAIL", "not registered, git merges text", hint)]
    scope, line = found[-1]
    where = Probe("driver", "ok", f"registered in the {scope} configuration")
    repair = f"run `{_install(scope)}`"
    return [where, probe_line(line, cwd, repair), *_overruled(found[:-1], cwd)]


def probe_line(line: str, cwd: Path, repair: str) -> Probe:
    """Run the registered line's own interpreter, options and driver file."""
    ours = Registered("local", DRIVER, line)
    if not ours.command:
        text = "the registered line is not one that kmerge writes; it was not tried"
        return Probe("line", "warn", text, f"{repair} to replace it: {line}")
    tried = trial(ours.command, cwd)
    if not tried.version:
        return Probe("line", "FAIL", f"the registered command does not run: {tried.why}", repair)
    if ours.is_older:
        text = f"an older kmerge wrote the registered line; it runs (version {tried.version})"
        return Probe("line", "warn", text, f"{repair} to renew it")
    if tried.version != __version__:
        text = f"the registered command is version {tried.version}, this is {__version__}"
        return Probe("line", "warn", text, repair)
    text = f"the registered command runs (version {tried.version})"
    return Probe("line", "ok", text + ("" if line == driver_line() else OTHER_PLACE))


def _overruled(found: list[tuple[str, str]], cwd: Path) -> list[Probe]:
    """Lines that another scope overrules here and that do not run: in force elsewhere."""
    told = []
    for scope, line in found:
        command = Registered("local", DRIVER, line).command
        why = trial(command, cwd).why if command else ""
        if why:
            text = f"the command of the {scope} configuration, unused here, does not run: {why}"
            told.append(Probe("line", "warn", text, f"run `{_install(scope)}`"))
    return told


def probe_programs(cwd: Path) -> list[Probe]:
    """What `git diff` and `git mergetool` call, where that is ours and does not run."""
    told = []
    for one in registered(cwd):
        why = "" if one.key == DRIVER else trial(one.command, cwd).why
        if why:
            name = "mergetool" if one.key == TOOL else "diff"
            text = f"{one.key} does not run: {why}"
            told.append(Probe(name, "FAIL", text, "run `kmerge doctor --fix`"))
    return told


def probe_selection(cwd: Path) -> list[Probe]:
    """What git itself says about the files of this repository."""
    paths = _manifests(cwd)
    drivers = merge_attributes(paths or [MADE_UP], cwd)
    counts = Counter(drivers.values())
    ours = counts.pop(OURS, 0)
    if not paths:
        text = f"a file such as {MADE_UP} goes to {_named(drivers[MADE_UP])}"
    else:
        first = {driver: path for path, driver in reversed(drivers.items())}
        others = ", ".join(
            f"{count} to {_named(name)} ({first[name]})" for name, count in sorted(counts.items())
        )
        text = f"{ours} of {len(paths)} YAML files go to kmerge" + (f"; {others}" if others else "")
    if ours:
        return [Probe("attributes", "ok", text)]
    hint = "run `kmerge install`"
    if set(counts) - {"unspecified"}:
        hint += "; --on-conflict overwrite takes files from another driver"
    if is_bare(cwd):
        hint += " (a bare repository does not read the committed .gitattributes)"
    return [Probe("attributes", "FAIL", text, hint)]


def probe_templates(cwd: Path) -> list[Probe]:
    """Texts of charts, where there are any: a registration may be older than their patterns."""
    paths = _tracked(cwd, TEMPLATES)
    if not paths or MADE_UP not in _of_ours(merge_attributes([MADE_UP], cwd)):
        return []
    drivers = merge_attributes(paths, cwd)
    text = f"{len(_of_ours(drivers))} of {len(paths)} helpers and notes of charts go to kmerge"
    left = [path for path, driver in drivers.items() if driver == "unspecified"]
    again = _again(cwd) if left else ""
    if again:
        text += f"; `{again}` takes the rest, too ({left[0]})"
    return [Probe("templates", "ok", text)]


def _of_ours(drivers: dict[str, str]) -> list[str]:
    return [path for path, driver in drivers.items() if driver == OURS]


def _again(cwd: Path) -> str:
    """The command that gives more files of a repository to us; empty where none would."""
    top = worktree_top(cwd)
    shared = top is not None and names_us(read_attributes(top / ".gitattributes"))
    found = scopes_of(DRIVER, cwd)
    scope = next((s for s in SCOPES if found and s == found[-1][0]), SCOPES[0])
    try:
        changes = plan_install(Wish(scope, shared), cwd).changes
    except KmergeError:
        return ""
    if not any(isinstance(change, FileChange) for change in changes):
        return ""
    return "kmerge install --shared" if shared else _install(scope)


def _install(scope: str) -> str:
    return "kmerge install" + ("" if scope in ("local", "command") else f" --{scope}")


def probe_generated(cwd: Path) -> list[Probe]:
    """Files that a generator writes, where no attribute says so: that is proposed, never set."""
    paths, top = _manifests(cwd), worktree_top(cwd)
    if not paths or top is None:
        return []
    names = ("kmerge-generated", "linguist-generated")
    found = [
        path
        for path, values in attributes_of(paths, *names, cwd=cwd).items()
        if names[0] not in values
        and (values.get(names[1]) in ("set", "true") or generator_of(cwd / path))
    ]
    if not found:
        return []
    shown = ", ".join(found[:3]) + (", ..." if len(found) > 3 else "")
    are = "file seems" if len(found) == 1 else "files seem"
    pattern = quoted_pattern("/" + os.path.relpath(cwd / found[0], top).replace(os.sep, "/"))
    hint = (
        f"`{pattern} kmerge-generated` in .gitattributes: a clash there is not written as markers "
        "(`-kmerge-generated`: it is merged like any other)"
    )
    return [Probe("generated", "warn", f"{len(found)} {are} to be generated: {shown}", hint)]


def _manifests(cwd: Path) -> list[str]:
    """The tracked manifests below a folder."""
    return _tracked(cwd, (name for name in DEFAULTS if name not in TEMPLATES))


def _tracked(cwd: Path, patterns: Iterable[str]) -> list[str]:
    names = (f":(top,glob){name if '/' in name else '**/' + name}" for name in patterns)
    listed = ask_git("ls-files", "-z", "--", *names, cwd=cwd)
    # a path in conflict is listed once a stage; --deduplicate came with git 2.31
    return list(dict.fromkeys(listed.out.split("\0")[:-1])) if listed.code == 0 else []


def merge_attributes(paths: list[str], cwd: Path) -> dict[str, str]:
    """The merge driver of each path, as git says."""
    by_path = attributes_of(paths, "merge", cwd=cwd)
    return {path: values.get("merge", "unspecified") for path, values in by_path.items()}


def probe_diff(cwd: Path) -> list[Probe]:
    """Whether `git diff` shows manifests by field: a choice; nothing is said until it is made."""
    found = scopes_of(DIFF, cwd)
    if not found:
        return []
    value = attributes_of([MADE_UP], "diff", cwd=cwd)[MADE_UP].get("diff", "unspecified")
    if value == OURS:
        return [Probe("diff", "ok", "`git diff` shows manifests by field (--no-ext-diff: as text)")]
    text = f"registered for `git diff`, but {MADE_UP} goes to {_named(value)}"
    return [Probe("diff", "warn", text, "run `kmerge install --diff`")]


def probe_hooks(cwd: Path) -> Probe:
    """Hooks are a choice: without them nothing is wrong, without their program they are idle."""
    directory = git_path("hooks", cwd)
    calling = [name for name in HOOKS if _calls_us(directory / name)]
    if not calling:
        return Probe("hooks", "ok", "none call kmerge (`kmerge install --hooks` writes them)")
    text = f"{' and '.join(calling)} call kmerge"
    if shutil.which("kmerge") is None:
        return Probe("hooks", "warn", f"{text}, which is not on PATH", "put kmerge on PATH")
    return Probe("hooks", "ok", text)


def probe_settings(cwd: Path) -> list[Probe]:
    """Settings that turn the driver off, or make no sense."""
    told = []
    if os.environ.get("KMERGE") == "0":
        told.append(("KMERGE=0 turns the driver off in this shell", "unset KMERGE"))
    if config_values(None, "merge.kmerge.recursive", cwd):
        text = "merge.kmerge.recursive is set: criss-cross merges lose the driver's base"
        told.append((text, "git config --unset-all merge.kmerge.recursive"))
    hint = "it is passed over; correct it"
    told += [(problem, hint) for problem in settings_for(MADE_UP).problems]
    return [Probe("settings", "warn", text, hint) for text, hint in told]


def is_bare(cwd: Path) -> bool:
    """Whether the repository has no working tree of its own."""
    return ask_git("rev-parse", "--is-bare-repository", cwd=cwd).line == "true"


def _calls_us(hook: Path) -> bool:
    try:
        return "kmerge check" in hook.read_text("utf-8", "replace") and os.access(hook, os.X_OK)
    except OSError:
        return False


def _named(driver: str) -> str:
    return (BUILT_IN | {"unspecified": "git"}).get(driver, driver)
