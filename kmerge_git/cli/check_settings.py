"""Which checks are off: for a repository, in git's configuration; for a file, by an attribute."""

from __future__ import annotations

import os

from kmerge_git.check.registry import expand
from kmerge_git.cli.check_definitions import IGNORING
from kmerge_git.cli.check_places import from_top_of, is_beyond, top_here
from kmerge_git.cli.files import say
from kmerge_git.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kmerge_git.finding import Finding

KEY, ATTRIBUTE = "kmerge.check.ignore", "kmerge-check"
# what git says of an attribute without a value, and what may be written in its place
YES, NO = ("set", "true"), ("unset", "false")
EVERY = frozenset(("*",))


def ignored(selected: list[str], configured: Iterable[tuple[str, str]]) -> list[str]:
    """The ids that are off here, but for those that the command line selects by their id."""
    said = [(KEY, value) for key, value in configured if key == KEY]
    if os.environ.get(IGNORING):
        said.append((IGNORING, os.environ[IGNORING]))
    found: set[str] = set()
    for name, words in said:
        ids, problems = configured_ids(name, words)
        found |= ids
        for problem in problems:
            say(f"kmerge: {problem}")
    return sorted(found - named(selected))


def named(selected: Iterable[str]) -> set[str]:
    """The words of `--select`, of which the ids count before every setting."""
    return {word.strip().upper() for words in selected for word in words.split(",")}


def configured_ids(name: str, words: str) -> tuple[frozenset[str], list[str]]:
    """The ids that some words mean, and what is wrong with others, which are passed over."""
    return _ids(name, words.split(","))


def attribute_ids(value: str) -> tuple[frozenset[str], list[str]]:
    """The ids that a value of the attribute switches off, and what is wrong with it."""
    if value in ("", *YES):
        return frozenset(), []
    if value in NO:
        return EVERY, []
    items = value.split(",")
    ids, problems = _ids(ATTRIBUTE, [item[1:] for item in items if item[:1] == "-"])
    hint = f"write {ATTRIBUTE}=-M11, or -{ATTRIBUTE} for no check"
    wrong = [f"{ATTRIBUTE}: `{item}` is not -ID; {hint}" for item in items if item[:1] != "-"]
    return ids, wrong + problems


def _ids(name: str, words: Iterable[str]) -> tuple[frozenset[str], list[str]]:
    found, problems = set[str](), []
    for word in words:
        try:
            found |= expand([word])
        except UsageError as error:
            problems.append(f"{name}: {error}")
    return frozenset(found), problems


class FileSettings:
    """What the attribute says of files in which something was found."""

    __slots__ = ("_judge", "_off", "_problems", "_selected", "_staged")

    def __init__(self, selected: Iterable[str], *, staged: bool = False, judge: str = "") -> None:
        self._selected = named(selected)
        self._staged = staged
        self._judge = judge  # the commit that a merge goes to: its attributes count, not those here
        self._off: dict[str, frozenset[str]] = {}
        self._problems: set[str] = set()

    def heard(self, findings: list[Finding]) -> list[Finding]:
        """The findings that no attribute has switched off."""
        self._learn({finding.file for finding in findings} - self._off.keys())
        return [finding for finding in findings if not self._is_off(finding)]

    def _is_off(self, finding: Finding) -> bool:
        off = self._off[finding.file]
        return not off.isdisjoint((finding.id, "*")) and finding.id not in self._selected

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
                self._tell(problem)

    def _values(self, top: str, paths: list[str]) -> dict[str, str]:
        """What counts: in a pull request it is the word of the branch that it goes to."""
        from kmerge_git.git import checkattribute, targets

        here = checkattribute.in_index if self._staged else checkattribute.in_working_tree
        judges = targets.targets() or ([self._judge] if self._judge else [])
        if not judges:
            return here(top, paths, ATTRIBUTE)
        commit = targets.commit_of(judges, top)
        if commit:
            return checkattribute.in_commit(top, commit, paths, ATTRIBUTE)
        if here(top, paths, ATTRIBUTE):
            why = f"{judges[0]} is not here, so it does not count; fetch that branch"
            self._tell(f"{ATTRIBUTE}: {why}")
        return {}

    def _tell(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.add(problem)
            say(f"kmerge: {problem}")
