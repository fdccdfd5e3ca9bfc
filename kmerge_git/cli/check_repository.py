"""Read the repository around `kmerge check`: its paths, its bounds and its settings.

A kustomization from a stranger may name `/etc/passwd`, an endless device, or a link to such a file.
These files are neither read nor shown. A file that the command line names is read wherever it is. A
setting of git switches checks off for a repository. An attribute switches checks off for a file.
"""

from __future__ import annotations

import os
from functools import cache, cached_property
from posixpath import normpath

from kmerge_git.check.registry import expand
from kmerge_git.cli.in_and_out import read, warn
from kmerge_git.errors import UsageError
from kmerge_git.git.hints import IGNORING, NO, YES, may_be_configured, may_be_said, top_around
from kmerge_git.git.run_git import ask_git, ask_here, try_git
from kmerge_git.git.spawned_git import config_pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kmerge_git.finding import Finding


KEY, ATTRIBUTE = "kmerge.check.ignore", "kmerge-check"
EVERY = frozenset(("*",))


def ignored(selected: list[str], configured: Iterable[tuple[str, str]]) -> list[str]:
    """Return the ids that settings switch off and that the command line does not select."""
    settings = [(KEY, value) for key, value in configured if key == KEY]
    if os.environ.get(IGNORING):
        settings.append((IGNORING, os.environ[IGNORING]))
    off: set[str] = set()
    for name, words in settings:
        ids, problems = known_ids(name, words.split(","))
        off |= ids
        warn(*problems)
    return sorted(off - named(selected))


def named(selected: Iterable[str]) -> set[str]:
    """Return the words of `--select`; an id among these words overrides every setting."""
    return {word.strip().upper() for words in selected for word in words.split(",")}


def attribute_ids(value: str) -> tuple[frozenset[str], list[str]]:
    """Return the ids that a value of the attribute switches off, and the errors in the value."""
    if value in ("", *YES):
        return frozenset(), []
    if value in NO:
        return EVERY, []
    items = value.split(",")
    ids, problems = known_ids(ATTRIBUTE, [item[1:] for item in items if item[:1] == "-"])
    hint = f"write {ATTRIBUTE}=-M11, or -{ATTRIBUTE} to switch off all checks"
    wrong = [
        f"{ATTRIBUTE}: `{item}` has no leading `-`; {hint}" for item in items if item[:1] != "-"
    ]
    return ids, wrong + problems


def known_ids(name: str, words: Iterable[str]) -> tuple[frozenset[str], list[str]]:
    """Return the ids of checks that the words name, and an error for each unknown word."""
    ids, problems = set[str](), []
    for word in words:
        try:
            ids |= expand([word])
        except UsageError as error:
            problems.append(f"{name}: {error}")
    return frozenset(ids), problems


class FileSettings:
    """Hold, for each file with findings, the checks that an attribute switches off."""

    def __init__(self, selected: Iterable[str], *, staged: bool = False, judge: str = "") -> None:
        self._selected = named(selected)
        self._staged = staged
        self._judge = judge  # the commit that a merge goes to, whose attributes count
        self._off: dict[str, frozenset[str]] = {}
        self._warn_once = cache(warn)

    def heard(self, findings: list[Finding]) -> list[Finding]:
        """Return the findings that no attribute has switched off."""
        self._learn({finding.file for finding in findings} - self._off.keys())
        return [
            finding
            for finding in findings
            if finding.id in self._selected or self._off[finding.file].isdisjoint((finding.id, "*"))
        ]

    def _learn(self, files: set[str]) -> None:
        self._off.update(dict.fromkeys(files, frozenset()))
        top = top_here() if files else ""
        if not top:
            return
        paths = {file: from_top_of(top, file) for file in sorted(files)}
        inside = [path for path in paths.values() if not is_beyond(path)]
        values = self._values(top, inside) if inside else {}
        for file, path in paths.items():
            self._off[file], problems = attribute_ids(values.get(path, ""))
            for problem in problems:
                self._warn_once(problem)

    def _values(self, top: str, paths: list[str]) -> dict[str, str]:
        """Return the values of the attribute by file.

        In a pull request the values in the target branch count.
        """
        from kmerge_git.git.tracked_files import in_commit, values_of

        judges = targets() or ([self._judge] if self._judge else [])
        commit = fetched(judges, top) if judges else ""
        if commit:
            return in_commit(top, commit, paths, ATTRIBUTE)
        values = values_of(top, paths, ATTRIBUTE, staged=self._staged)
        if judges and values:
            why = f"{judges[0]} was not fetched, so this attribute is ignored; fetch that branch"
            self._warn_once(f"{ATTRIBUTE}: {why}")
        return {} if judges else values


KEYS = r"^kmerge\.(crd|check\.ignore)$"
CRD_ATTRIBUTE = "kmerge-crd"


def configuration() -> list[tuple[str, str]]:
    """Return the keys and values of git's configuration that concern the checks."""
    folder = git_directory()
    if not folder or not may_be_configured(folder, b"[kmerge"):
        return []
    return config_pairs(try_git("config", "--null", "--get-regexp", KEYS))


def learn_definitions(configured: Iterable[tuple[str, str]], files: list[str]) -> list[str]:
    """Load the definitions of custom resources; return messages about unusable ones."""
    places = [place for key, place in configured if key == "kmerge.crd" and place]
    named = _named_for(files)
    top = top_here() if places or named else ""
    if not top:
        return []
    from kmerge_git.kube.crds import learn_files, learn_own

    problems = learn_files(os.path.join(top, place) for place in places)
    return problems + learn_own(top, named)


def _named_for(files: list[str]) -> list[str]:
    """Return the files and folders that the attribute `kmerge-crd` names for some files."""
    folder = git_directory()
    near = os.path.dirname(os.path.abspath(folder))
    if not folder or not may_be_said(
        folder, near, CRD_ATTRIBUTE.encode(), [from_top_of(near, file) for file in files]
    ):
        return []
    from kmerge_git.git.tracked_files import values_of

    top = top_here()
    paths = [name for file in files if not is_beyond(name := from_top_of(top, file))]
    values = values_of(top, paths, CRD_ATTRIBUTE).values() if top and paths else ()
    lists = [value.split(",") for value in values if value not in ("set", "unset")]
    return list(dict.fromkeys(place for places in lists for place in places if place))


class Bounds:
    """Limit reading to the repositories around this folder and around the named files."""

    def __init__(self, given: Iterable[str], top: Callable[[], str]) -> None:
        self._given = [os.path.abspath(path) for path in given]
        self._top = top  # returns the top of the working tree, or '' if there is none
        self._stdin = cache(read)  # stdin can be read only once
        self._real = cache(os.path.realpath)

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, or None.

        A file outside the bounds is read only if the command line names it. A pipe is read only if
        the shell opened it for this command, because opening another pipe may wait forever.
        """
        is_given = os.path.abspath(path) in self._given
        if path == "-" and is_given and not os.path.lexists(path):
            return self._stdin(path)
        is_open = is_given and path.startswith(("/dev/stdin", "/dev/fd/"))
        # the path without links may still be inside the repository around this folder
        is_meant = is_given and not _is_below(os.path.abspath(path), self._tops[:1])
        may_be_read = os.path.isfile(path) and (is_meant or not self.is_outside(path))
        if not is_open and not may_be_read:
            return None
        try:
            with open(path, "rb") as file:
                return file.read()
        except (OSError, ValueError):
            return None

    @staticmethod
    def is_special(path: str) -> bool:
        """Return whether a path is a pipe, a socket or a device."""
        return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)

    def is_directory(self, path: str) -> bool:
        """Return whether a path is a folder within the bounds."""
        return os.path.isdir(path) and not self.is_outside(path)

    def is_outside(self, path: str) -> bool:
        """Return whether a file or folder, or the target of a link, is outside the bounds."""
        if path.partition(":")[2].startswith("../"):  # a path in a commit, REV:../PATH
            return True
        folder, name = os.path.split(path)
        if name in ("", ".", "..") or os.path.islink(path):
            return not _is_below(os.path.realpath(path), self._tops)
        return not _is_below(os.path.join(self._real(folder), name), self._tops)

    @cached_property
    def _tops(self) -> list[str]:
        tops = [os.path.realpath(self._top() or os.sep)]
        for path in self._given:
            if not _is_below(path, tops):
                folder = path if os.path.isdir(path) else os.path.dirname(path)
                tops.append(_with_git(os.path.realpath(folder)))
        return tops


def _is_below(path: str, tops: list[str]) -> bool:
    return any(path == top or path.startswith(top.rstrip(os.sep) + os.sep) for top in tops)


def _with_git(folder: str) -> str:
    """Return the nearest folder with a `.git`, from this folder upwards, or the root folder."""
    while not os.path.exists(os.path.join(folder, ".git")) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def git_directory() -> str:
    """Return the path of `.git` around this folder, or ''; do not call git."""
    path = os.environ.get("GIT_DIR") or os.path.join(_with_git(os.getcwd()), ".git")
    return path if os.environ.get("GIT_DIR") or os.path.exists(path) else ""


# files in git's folder during a merge, a reftable that may hold them, and the prefix of the
# variables of `git merge`
_TRACES = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "SQUASH_MSG", "reftable")
_VARIABLE = "GITHEAD_"


def may_be_merging(git_directory: str) -> bool:
    """Look at git's files and return whether a merge may be in progress, without calling git."""
    found = git_directory
    if os.path.isfile(found):  # `gitdir: PATH`, relative to the file
        with open(found, encoding="utf-8", errors="surrogateescape") as file:
            pointer = file.read().partition("gitdir:")[2].strip()
        found = os.path.join(os.path.dirname(found), pointer)
    return any(name.startswith(_VARIABLE) for name in os.environ) or any(
        os.path.exists(os.path.join(found, name)) for name in _TRACES
    )


def top_here() -> str:
    """Return the top of the working tree around this folder, or '' outside of a repository."""
    from kmerge_git.git.tracked_files import top_of_tree

    folder = git_directory()
    return (folder and (top_around(folder) or top_of_tree())) or ""


def top_of(option: str) -> str:
    """Return the top of the working tree; raise an error that names the option if there is none."""
    return top_here() or ask_here("--show-toplevel", f", or omit {option}")


def prefix_of(top: str) -> str:
    """Return the current folder as a path relative to the top of the working tree."""
    return os.path.relpath(os.getcwd(), top)


def from_top_of(top: str, path: str) -> str:
    """Return a path relative to the top of the working tree."""
    if not os.path.isabs(path):
        return normpath(f"{prefix_of(top)}/{path}")
    folder, name = os.path.split(path)
    return os.path.relpath(os.path.join(os.path.realpath(folder), name), os.path.realpath(top))


def is_beyond(name: str) -> bool:
    """Return whether a path relative to the top leads out of the working tree."""
    return name.startswith(("../", "/"))


def from_here(top: str, name: str) -> str:
    """Return a path that is relative to the top as a path relative to the current folder."""
    return os.path.relpath(name, prefix_of(top))


FROM_REF = "PRE_COMMIT_FROM_REF"  # pre-commit sets it to what a push or a range begins with
# Only CI services set these; anybody may set the variables below.
SERVICES = ("CI", "TF_BUILD", "JENKINS_URL")
COMMITS = ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "BITBUCKET_PR_DESTINATION_COMMIT")
BRANCHES = (
    "GITHUB_BASE_REF",  # GitHub, Gitea, Forgejo
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",  # GitLab
    "BITBUCKET_PR_DESTINATION_BRANCH",
    "SYSTEM_PULLREQUEST_TARGETBRANCH",  # Azure
    "CHANGE_TARGET",  # Jenkins
    "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
    "CI_COMMIT_TARGET_BRANCH",  # Woodpecker
)


def is_in_ci() -> bool:
    """Return whether a CI service runs this command."""
    return any(os.environ.get(name, "").lower() not in ("", "0", "false") for name in SERVICES)


def targets() -> list[str]:
    """Return every name that a CI service gives for the target of the pull request.

    A name is `origin/main` or a commit. The list is empty outside of a CI service.
    """
    if not is_in_ci():
        return []
    commits = [os.environ[name] for name in COMMITS if os.environ.get(name)]
    branches = [os.environ[name] for name in BRANCHES if os.environ.get(name)]
    return ["origin/" + branch.removeprefix("refs/heads/") for branch in branches] + commits


def fetched(named: list[str], top: str) -> str:
    """Return the commit of the first target that exists here, or '' if no target was fetched."""
    for target in named:
        name = f"refs/remotes/{target}" if target.startswith("origin/") else target
        if commit := commit_of(top, name):
            return commit
    return ""


def commit_of(top: str, revision: str) -> str:
    """Return the id of a commit, or '' if the revision names none that is here."""
    asked = ("rev-parse", "--verify", "-q", "--end-of-options", f"{revision}^{{commit}}")
    answer = ask_git("-C", top, *asked)
    return "" if answer.code else answer.line
