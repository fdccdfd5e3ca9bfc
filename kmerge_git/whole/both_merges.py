"""Merge files twice: by lines as git does, and by structure with the settings for the path.

No other module of `whole` merges a file. If a merge takes too long, git's line merge is used.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

from kmerge_git.api import explain
from kmerge_git.bounds import FEW_MERGES
from kmerge_git.errors import TimeUp
from kmerge_git.git.index_stages import Stages
from kmerge_git.git.line_merges import LineMerges, MergedLines
from kmerge_git.git.manifests import is_merged, way_out
from kmerge_git.git.repository import Repository
from kmerge_git.git.settings import ATTRIBUTES, Settings, settle
from kmerge_git.git.sides import is_topic_branch
from kmerge_git.git.tracked_files import attributes_in, has_other_attributes
from kmerge_git.kube import keytable
from kmerge_git.kube.crds import learn_files, learn_own
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.merge.sealed import unmerged, whole
from kmerge_git.merge.three import Three
from kmerge_git.outcome import GENERATED, LABELS, Conflict, Decision, Options, Outcome
from kmerge_git.pipeline import merge
from kmerge_git.text.linemerge import Given
from kmerge_git.time_limit import alarm, time_up
from kmerge_git.tree.documents import YamlText
from kmerge_git.whole.cores import children_for, on_cores

DRIVER = "kmerge"


class SettingsOf:
    """Return the merge options for a path; `problems` lists the invalid settings."""

    def __init__(
        self,
        repository: Repository,
        favor: str | None = None,
        labels: tuple[str, str, str] = LABELS,
        config: list[tuple[str, str]] | None = None,
        mine: str = "",
        into: str = "HEAD",
    ) -> None:
        self.into = into  # the branch that is merged into
        self._repository = repository
        self._flags = {"favor": favor} if favor else {}
        self._config = repository.settings() if config is None else config
        self._labels = labels
        self._mine = mine  # the side whose change goes on top (see `git.sides`)
        self._tree = ""  # whose attributes count instead of those of the working tree
        self._before: dict[str, dict[str, str]] = {}  # these attributes, by path
        self._settled: dict[str, Settings] = {}  # by path
        self.problems: list[str] = []
        self._top = repository.worktree or os.getcwd()
        keytable.know({})  # the definitions that other settings have loaded
        places = [value for key, value in self._config if key.lower() == "kmerge.crd" and value]
        if places:
            self.problems += learn_files(os.path.join(self._top, place) for place in places)
        self._known: dict[tuple[str, ...], dict[tuple[str, str], int]] = {
            (): keytable.learned()
        }  # the definitions, by the places that an attribute names

    def __call__(self, path: str) -> Options:
        """Return the merge options that the merge driver uses for a path."""
        settings = self._settings(path)
        self.problems += [p for p in settings.problems if p not in self.problems]
        define = partial(keytable.know, self._definitions(tuple(settings.own_crds)))
        return options_for(
            path, settings, self._labels, mine=self._mine, into=self.into, define=define
        )

    def deletes(self, path: str) -> str:
        """Return the side that takes a file or its resources away, whoever changed them, or ''."""
        return self._mine if self._settings(path).deletion else ""

    def of_tree(self, tree: str, conflicts: Iterable[Stages]) -> None:
        """Take the attributes of ours' tree if the merge has brought others into the working tree.

        What is merged has no say in how it is merged. The attributes of all conflicts are read at
        once.
        """
        top = self._repository.worktree
        self._tree = tree if top and tree and has_other_attributes(top, tree) else ""
        self._settled = {}
        if self._tree:
            self._read_before([stages.path for stages in conflicts])

    def _read_before(self, paths: list[str]) -> None:
        there = attributes_in(self._top, self._tree, paths, *ATTRIBUTES, "merge")
        self._before |= {path: there.get(path, {}) for path in paths}

    def _attribute(self, path: str, name: str) -> str | None:
        if not self._tree:
            return self._repository.attribute(path, name)
        if path not in self._before:  # a file that a resource was moved to
            self._read_before([path])
        return self._before[path].get(name)

    def _settings(self, path: str) -> Settings:
        if path not in self._settled:
            values = {name: self._attribute(path, name) for name in ATTRIBUTES}
            attributes = {name: value for name, value in values.items() if value is not None}
            flags = self._flags
            self._settled[path] = settle(path, self._config, attributes, os.environ, flags)
        return self._settled[path]

    def _definitions(self, places: tuple[str, ...]) -> dict[tuple[str, str], int]:
        """Return the definitions at the places in an attribute; read each place only once."""
        if places not in self._known:
            keytable.know(self._known[()])
            own = learn_own(self._top, places)
            self.problems += [problem for problem in own if problem not in self.problems]
            self._known[places] = keytable.learned()
        return self._known[places]

    @property
    def timeout(self) -> float:
        """The time limit for a file in seconds; 0 means no limit."""
        return settle("", self._config, {}, os.environ, {}).timeout

    def takes(self, path: str, *, json: bool = False) -> bool:
        """Return whether a path is a manifest and its attributes name no other merge driver."""
        return not self.refusal(path, json=json)

    def refusal(self, path: str, *, json: bool = False) -> str:
        """If a path cannot be merged by structure, return the reason; otherwise return ''."""
        driver = self.driver(path)
        if driver == DRIVER or way_out(driver):
            return "" if driver == DRIVER else way_out(driver)
        if is_merged(path, json=json):
            return ""
        return "JSON files need --with-json" if is_merged(path, json=True) else "not a manifest"

    def driver(self, path: str) -> str | None:
        """Return the merge driver that the attributes give to a path."""
        return self._attribute(path, "merge")


def merge_all(
    jobs: Sequence[Job], seconds: float = 0.0, lines: LineMerges | None = None
) -> list[Both]:
    """Merge each file separately, in at most `seconds` of CPU per file; 0 means no limit."""
    lines = lines or LineMerges()
    merged = []
    with alarm(seconds) as ring_in:
        for job in jobs:
            try:
                ring_in(seconds)
                both = merge_both(job.three, job.options, lines)
                ring_in(0)
            except (TimeUp, SystemError) as error:
                ring_in(0)  # one of the two timers is left
                late = TimeUp("", seconds, is_wall_clock=time_up(error).is_wall_clock).late
                both = _by_lines(job, lines, late)
            merged.append(both)
    return merged


def _by_lines(job: Job, lines: LineMerges, late: str) -> Both:
    texts = job.three.map(lambda data: data or b"")
    merged = MergedLines(lines, texts.each(), job.options.but(favor=""))
    if job.options.generated and not merged.clean:
        reason = f"{late}; {GENERATED}"
        conflict = Conflict("", "", GENERATED)
        outcome = Outcome(texts.ours, False, "kept", conflicts=(conflict,), reason=reason)
        return Both(outcome, merged)
    encrypted = unmerged(texts, job.options, late)
    if encrypted is not None:
        return Both(encrypted, Given(merged.text, merged.clean), is_late=True)
    why = f"{late}, so git's line merge was used"
    text, count = merged.result()
    conflicts = (Conflict("", "", "both sides changed the same lines"),) * count
    if count < 0:
        text, conflicts = _unmerged(texts, job.options), (Conflict("", "", why),)
    outcome = Outcome(text, count == 0, "lines", conflicts=conflicts, reason=why)
    return Both(outcome, Given(text, count == 0), is_late=True)


def _unmerged(texts: Three[bytes], options: Options) -> bytes:
    """Return a text that git cannot merge between markers; a binary file stays ours."""
    if any(b"\0" in data for data in texts.each()):
        return texts.ours
    return whole(texts.map(lambda data: data.decode("utf-8", "surrogateescape")), options)


Result = Literal["clean", "resolved", "improved", "moved", "conflict"]


def plain(conflict: Conflict) -> dict[str, str]:
    """Return the place, the cause and the three unindented texts of a conflict for a report."""
    texts = {side: short(getattr(conflict, side)) for side in ("base", "ours", "theirs")}
    return {"resource": conflict.resource, "field": conflict.field, "why": conflict.why} | texts


def plain_decision(decision: Decision) -> dict[str, str]:
    """Return a decision of a policy or of the favoured side as plain values for a report."""
    return {
        "resource": decision.resource,
        "field": decision.path,
        "why": decision.what,
        "side": decision.side,
        "by": decision.rule.partition(" ")[2],  # `favor`, `policy higher`
    }


def short(text: str) -> str:
    """Return a few lines of a file, without the indentation that all of the lines share."""
    return textwrap.dedent(text).strip("\n")


@dataclass(frozen=True, slots=True)
class Both:
    """Hold the two merges of a file."""

    outcome: Outcome
    lines: MergedLines | Given
    is_late: bool = False  # kmerge's merge took too long, so both results are git's

    @property
    def git(self) -> bytes:
        """The text of git's line merge."""
        return self.lines.text

    @property
    def git_clean(self) -> bool:
        """True if git's line merge has no conflict."""
        return self.lines.clean

    @property
    def result(self) -> Result:
        """The comparison of the two merges.

        `resolved` means that only git's merge has a conflict. `improved` means that both merges
        are clean, with different results.
        """
        if not self.outcome.clean:
            return "conflict"
        if not self.git_clean:
            return "resolved"
        return "clean" if self.outcome.text == self.git else "improved"


@dataclass(frozen=True, slots=True)
class Job:
    """Hold the three versions of a file to be merged; an added file has no base."""

    three: Three[bytes | None]
    options: Options


def options_for(
    path: str,
    settings: Settings,
    labels: tuple[str, str, str],
    *,
    mine: str = "",
    into: str = "HEAD",
    define: Callable[[], None] | None = None,
) -> Options:
    """Return the merge options for a path; `mine` is the side whose change is applied on top.

    `into` is the branch that is merged into.
    """
    return Options(
        path,
        settings.rules,
        settings.favor,
        settings.marker_size,
        labels,
        settings.conflict_style,
        policy_for(settings.policies, mine, path, partial(is_topic_branch, into)),
        generated=settings.generated,
        define=define,
    )


def merge_both(three: Three[bytes | None], options: Options, lines: LineMerges) -> Both:
    """Merge a file with git and with kmerge; make the line merge only once for both."""
    texts = three.map(lambda data: data or b"")
    plain = options.but(favor="")  # git's own merge favours no side
    by_lines = MergedLines(lines, texts.each(), plain)

    def start(favor: str, size: int) -> MergedLines:
        if not favor and size == options.marker_size:
            return by_lines
        return MergedLines(lines, texts.each(), options.but(favor=favor, marker_size=size))

    outcome = merge(texts.map(lambda data: YamlText(data, options.path)), options, start)
    outcome.explain = explain
    return Both(outcome, by_lines)


# -- many files on all cores


def merge_on_cores(
    jobs: Sequence[Job], seconds: float = 0.0, *, most: int | None = None
) -> list[Both]:
    """Merge each file separately, in at most `seconds` of CPU per file; 0 means no limit."""
    children = children_for(len(jobs), FEW_MERGES, most)
    if not children:
        return merge_all(jobs, seconds)
    line_merge = cache(LineMerges)  # each process makes its own

    def work(job: Job) -> Both:
        (both,) = merge_all([job], seconds, line_merge())
        return _plain(both)

    sizes = [sum(len(data or b"") for data in job.three.each()) for job in jobs]
    order = sorted(range(len(jobs)), key=lambda at: -sizes[at])
    results = on_cores([jobs[at] for at in order], work, children, seconds)
    merged = dict(zip(order, results, strict=True))
    return [_with_lines(jobs[at], merged[at], line_merge) for at in range(len(jobs))]


def _plain(both: Both) -> Both:
    """Return a merge as plain values."""
    full = both.outcome
    outcome = Outcome(
        full.text,
        full.clean,
        full.method,
        conflicts=full.conflicts,
        decisions=full.decisions,
        reason=full.reason,
    )
    lines = (
        both.lines if both.is_late else Given(both.git if both.git_clean else b"", both.git_clean)
    )
    return replace(both, outcome=outcome, lines=lines)


def _with_lines(job: Job, both: Both, merges: Callable[[], LineMerges]) -> Both:
    """Return a merge that can make the markers of git's line merge, if somebody asks for them."""
    if both.git_clean or both.is_late:
        return both
    texts = job.three.map(lambda data: data or b"").each()
    return replace(both, lines=MergedLines(merges(), texts, job.options.but(favor="")))
