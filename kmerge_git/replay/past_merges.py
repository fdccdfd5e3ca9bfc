"""Repeat past merges of each manifest that both sides changed.

Cherry-picks and reverts are three-way merges as well; their messages name the old commit.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from fnmatch import fnmatchcase
from functools import partial
from hashlib import sha256
from itertools import pairwise
from multiprocessing.pool import Pool
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Literal, TypeVar

from kmerge_git.bounds import FEW_FILES, FEW_MERGES, MERGES_A_TASK
from kmerge_git.errors import UsageError
from kmerge_git.git.line_merges import LineMerges
from kmerge_git.git.manifests import is_merged
from kmerge_git.git.merge_sides import FileCase, touched_by_both
from kmerge_git.git.repository import Commit, MissingObject, Repository
from kmerge_git.git.settings import matches, settle
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options, Outcome
from kmerge_git.replay.left_conflicts import (
    Agreement,
    FieldPolicy,
    Judge,
    Judgement,
    Listener,
    Remaining,
    hinted,
    judged,
)
from kmerge_git.replay.pull_requests import Heads
from kmerge_git.whole.both_merges import Both, Job, merge_all, merge_both
from kmerge_git.whole.cores import collect_rarely
from kmerge_git.whole.moved_edits import (
    Arrivals,
    changed_nothing_else,
    find_moves,
    is_taken_away,
    without_edits,
)

Kind = Literal["cherry-pick", "revert"]

_PICKED = re.compile(r"^\(cherry picked from commit ([0-9a-f]{7,64})\)$", re.MULTILINE)
_REVERTED = re.compile(
    r"^This reverts commit ([0-9a-f]{7,64})"
    r"(?:,\s+reversing\s+changes\s+made\s+to\s+([0-9a-f]{7,64}))?\.",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Pick:
    """Hold the commit that a message names as cherry-picked or reverted."""

    kind: Kind
    commit: str
    parent: str = ""  # the parent that the revert of a merge restored


Past = tuple[str, str]  # a commit to repeat, and the head of the pull request that it squashes


@dataclass(frozen=True, slots=True)
class Chosen:
    """Hold the commits to repeat; `instead` means that picks stand in for missing merges."""

    commits: list[Past]
    instead: bool
    seen: int  # the number of commits that were read
    ambiguous: int  # the number of squash merges of a number that several heads have


def choose(
    history: Iterable[Commit], *, picks: bool, most: int | None, heads: Heads, tip: str
) -> Chosen:
    """Return the newest merges, and with `picks` also the cherry-picks and reverts.

    Squash merges are those of the first parents of `tip`; a commit that was picked from there
    names the same pull request. If the history has no merges, return the newest cherry-picks and
    reverts instead.
    """
    merges: list[Past] = []
    others: list[Past] = []
    seen = ambiguous = 0
    for commit in history:
        seen += 1
        pick = pick_of(commit.message)
        head = ""
        if commit.oid == tip:
            tip = next(iter(commit.parents), "")
            is_pick = pick is not None and pick.kind == "cherry-pick"
            squashed = frozenset() if is_pick else heads.squashed_in(commit)
            ambiguous += len(squashed) > 1
            head = next(iter(squashed)) if len(squashed) == 1 else ""
        if head or len(commit.parents) > 1 or (picks and pick):
            merges.append((commit.oid, head))
        elif not merges and pick:
            others.append((commit.oid, ""))
        if len(merges) == most:
            break
    return Chosen(merges or others[:most], not merges, seen, ambiguous)


def pick_of(message: str) -> Pick | None:
    """Return the commit that was picked or reverted, according to a message, or None."""
    reverts = list(_REVERTED.finditer(message))
    if reverts:
        own = message[:7].lower() in ("revert ", "revert:", "revert(", "reapply")
        (first, *more) = reverts
        return Pick("revert", first[1], first[2] or "") if own and not more else None
    picks = list(_PICKED.finditer(message))
    # a pick of a pick has two lines in sequence; lines apart come from a squash of several picks
    gaps = [message[a.end() : b.start()] for a, b in pairwise(picks)]
    return Pick("cherry-pick", picks[-1][1]) if picks and not "".join(gaps).strip("\n") else None


def trees_of(repository: Repository, commit: Commit, pick: Pick) -> Three[str | None] | None:
    """Return the trees base, ours and theirs of a pick, or None if the picked commit is missing.

    For a picked merge, the base is the first parent, as the message does not name a parent.
    """
    named = _commit(repository, pick.commit)
    before = _commit(repository, pick.parent) if pick.parent else None
    if named is None or (pick.parent and (before is None or before.oid not in named.parents)):
        return None
    if before is None and named.parents:
        before = repository.named(named.parents[0])
    ours = repository.named(commit.parents[0]).tree
    if pick.kind == "cherry-pick":
        return Three(before.tree if before else None, ours, named.tree)
    return Three(named.tree, ours, before.tree) if before else None


def _commit(repository: Repository, oid: str) -> Commit | None:
    try:
        commit = repository.commit(oid)
    except UsageError:
        return None
    return commit if commit.oid.startswith(oid) else None


# the first matching name counts; the text is searched if no name matches
BY_NAME = {
    "Chart.yaml": "Chart.yaml",
    "*values*": "values",
    "[Kk]ustomization*": "kustomizations",
}
BY_TEXT = {b"{{": "templates", b"apiVersion:": "manifests"}
OTHER = "other YAML"


def sort_of(path: str, text: bytes) -> str:
    """Classify a file by its name or, if no name pattern matches, by its text."""
    name = path.rpartition("/")[2]
    by_name = (sort for pattern, sort in BY_NAME.items() if fnmatchcase(name, pattern))
    by_text = (sort for word, sort in BY_TEXT.items() if word in text)
    return next(by_name, "") or next(by_text, OTHER)


Way = Literal["merge", "squash merge"] | Kind
# the side whose change is applied on top
MINE = {"merge": "ours", "squash merge": "theirs", "cherry-pick": "theirs", "revert": ""}

Skipped = Literal["", "octopus", "criss-cross", "cut off", "missing", "elsewhere"]
BlobIds = dict[str, str]  # of base, ours, theirs and people; '' if the file is missing


@dataclass(frozen=True, slots=True)
class Replayed:
    """Hold one file of a past merge with git's result, kmerge's result and the committed one."""

    commit: str
    subject: str
    path: str
    blobs: BlobIds
    git_clean: bool
    git_damage: tuple[str, ...]
    kmerge_clean: bool
    kmerge_damage: tuple[str, ...]  # searched only if git did damage
    method: str
    changed: bool  # kmerge's clean result differs from git's
    agreement: Agreement  # of kmerge's result with people's commit
    people_damage: tuple[str, ...]
    places: tuple[str, ...]  # the places of the conflicts that kmerge leaves
    seconds: float
    left: tuple[Remaining, ...] = ()  # the same conflicts, field by field
    is_late: bool = False  # the merge took too long: git's line merge is used
    kind: Way = "merge"
    sort: str = OTHER
    author: str = ""  # a hash of the mail address of who committed people's result

    @property
    def is_resolved(self) -> bool:
        """Return whether git's line merge has a conflict and kmerge's merge is clean."""
        return self.kmerge_clean and not self.git_clean

    @property
    def is_disagreement(self) -> bool:
        """Return whether kmerge's own decision differs from what people committed."""
        decided = self.kmerge_clean and (not self.git_clean or self.changed)
        return decided and self.agreement == "different"


@dataclass(frozen=True, slots=True)
class ReplayedMerge:
    """Hold one past merge or pick, with the files that both sides changed."""

    files: tuple[Replayed, ...] = ()
    kind: Way = "merge"
    skipped: Skipped = ""
    deleted: int = 0  # manifests that one side deleted and the other changed
    followed: int = 0  # deleted files whose resources the deleting side moved
    away: tuple[Tried, ...] = ()  # deleted files that policy `deletion` keeps deleted
    hint: str = ""  # the command that fetches missing objects


@dataclass(frozen=True, slots=True)
class ReplayedTexts:
    """Hold the five texts of a file; a missing text is empty."""

    by_name: dict[str, bytes]
    outcome: Outcome  # the outcome of kmerge's merge


@dataclass(frozen=True, slots=True)
class Tried:
    """Hold a file with conflicts that was merged again with one policy."""

    file: Replayed
    cases: tuple[tuple[Remaining, Judgement], ...]  # the conflicts that the policy applies to
    freed: Agreement | Literal[""]  # the comparison with people; '' if not clean


_AUTHOR = 12  # digits that tell authors apart; a report that is handed around names nobody


def _author(commit: Commit) -> str:
    return sha256(commit.author.lower()).hexdigest()[:_AUTHOR]


def _taken_away(commit: Commit, path: str, repository: Repository) -> Tried:
    """Compare a file that policy `deletion` keeps deleted with the commit."""
    is_gone = repository.entry(commit.tree, path) is None
    verdict = Judgement("as people") if is_gone else Judgement("otherwise", "", "the changed file")
    about = commit.oid, commit.subject, path, BlobIds(), False, (), False, (), "", False
    file = Replayed(*about, "gone", (), (), 0.0, author=_author(commit))
    freed: Agreement = "same bytes" if is_gone else "different"
    return Tried(file, ((Remaining("", "", "deleted on one side"), verdict),), freed)


class Replayer:
    """Repeat the merges of one repository in this process."""

    def __init__(self, repository: Repository, glob: str = "*") -> None:
        self.repository = repository
        self._glob = glob  # the pattern of the files to replay
        settings = settle("", repository.settings(), {}, os.environ, {})
        self._seconds = settings.timeout  # the time limit for a file; 0 means no limit
        self._lines = LineMerges()
        # import all modules now, so that the time of the first merge does not include imports
        merge_both(Three(b"a: 1\n", b"a: 2\n", b"a: 3\n"), Options(), self._lines)

    def merge(self, past: Past) -> ReplayedMerge:
        """Repeat one merge, squash merge, cherry-pick or revert."""
        oid, head = past
        try:
            commit = self.repository.named(oid)
            if head:
                return self._merge(commit, (commit.parents[0], head), "squash merge")
            if len(commit.parents) > 2:
                return ReplayedMerge(skipped="octopus")
            is_merge = len(commit.parents) == 2
            return self._merge(commit, commit.parents) if is_merge else self._pick(commit)
        except MissingObject as error:
            return ReplayedMerge(skipped="missing", hint=error.hint)

    def _merge(
        self, commit: Commit, parents: tuple[str, ...], kind: Way = "merge"
    ) -> ReplayedMerge:
        ours, theirs = map(self.repository.named, parents)
        base = self.repository.merge_base(ours.oid, theirs.oid)
        if base is None and self.repository.is_shallow:
            return ReplayedMerge(skipped="cut off")
        if base and self.repository.is_criss_cross(base, ours.oid, theirs.oid):
            # git would merge the bases first, and with one of them alone other places conflict
            return ReplayedMerge(skipped="criss-cross")
        tree = self.repository.named(base).tree if base else None
        return self._made(commit, Three(tree, ours.tree, theirs.tree), kind)

    def _pick(self, commit: Commit) -> ReplayedMerge:
        pick = pick_of(commit.message)
        trees = trees_of(self.repository, commit, pick) if pick and commit.parents else None
        if pick is None or trees is None:
            return ReplayedMerge(skipped="elsewhere")
        return self._made(commit, trees, pick.kind)

    def _made(self, commit: Commit, trees: Three[str | None], kind: Way) -> ReplayedMerge:
        ours, theirs = trees.ours or "", trees.theirs or ""
        cases = touched_by_both(
            self.repository.changes(trees.base, ours),
            self.repository.changes(trees.base, theirs),
        )
        files = tuple(
            self._file(commit, case, kind)
            for case in cases
            if _is_replayable(case) and matches(self._glob, case.path)
        )
        deleted = [case for case in cases if case.kind in ("deleted by us", "deleted by them")]
        gone = [case for case in deleted if is_merged(case.path) and case.is_text]
        followed, away = self._gone(commit, gone, trees, MINE[kind]) if gone else (0, [])
        return ReplayedMerge(files, kind, "", len(gone), followed, tuple(away))

    def _gone(
        self, commit: Commit, gone: list[FileCase], trees: Three[str | None], mine: str
    ) -> tuple[int, list[Tried]]:
        """Count the deleted files whose edits `kmerge resolve` would merge into other files.

        Also compare the files that policy `deletion` would keep deleted with the commit.
        """
        sides = (trees.ours or "", trees.theirs or "")
        arrivals = [Arrivals.between(self.repository, trees.base, side) for side in sides]
        count, away = 0, []
        for case in gone:
            three = Three(*map(self.repository.text, case.entries))
            moves = find_moves(case.path, three, *arrivals)
            count += bool(moves) and changed_nothing_else(without_edits(three, moves))
            here = arrivals[mine == "theirs"]
            if mine and not moves and is_taken_away(case.path, three, mine, here):
                away.append(_taken_away(commit, case.path, self.repository))
        return count, away

    def _file(self, commit: Commit, case: FileCase, kind: Way) -> Replayed:
        people_entry = self.repository.entry(commit.tree, case.path)
        if people_entry is not None and not people_entry.is_text:
            people_entry = None
        oids = [entry.oid if entry else "" for entry in (*case.entries, people_entry)]
        blobs = dict(zip(("base", "ours", "theirs", "people"), oids, strict=True))
        three, people = self._versions(blobs), self._read(blobs["people"])
        listener = Listener()
        start = time.perf_counter()
        both = self._merged(three, Options(case.path, policy=listener))
        seconds = time.perf_counter() - start
        outcome = both.outcome
        # the pipeline has checked a clean result of the structural merge for damage
        is_proved = outcome.clean and outcome.method == "structure"
        judge = Judge(three, case.path, sound=outcome.text if is_proved else None)
        git_damage = judge.damage(both.git) if both.git_clean else ()
        clashes = () if outcome.clean else listener.clashes(outcome)
        return Replayed(
            commit.oid,
            commit.subject,
            case.path,
            blobs,
            both.git_clean,
            git_damage,
            outcome.clean,
            judge.damage(outcome.text) if outcome.clean and git_damage else (),
            outcome.method,
            both.result == "improved",
            judge.agreement(outcome.text, people),
            judge.damage(people) if people is not None else (),
            tuple(conflict.place or conflict.why for conflict in outcome.conflicts),
            seconds,
            left=hinted(clashes, judge, people, MINE[kind], case.path) if clashes else (),
            is_late=both.is_late,
            kind=kind,
            sort=sort_of(case.path, three.ours or b""),
            author=_author(commit),
        )

    def _merged(self, three: Three[bytes | None], options: Options) -> Both:
        (both,) = merge_all([Job(three, options)], self._seconds, self._lines)
        return both

    def tried(self, file: Replayed, rule: FieldPolicy) -> Tried:
        """Merge a file with conflicts once more, with one policy."""
        left = tuple(each for each in file.left if rule.means(file.path, each))
        if not left:
            return Tried(file, (), "")
        three, people = self._versions(file.blobs), self._read(file.blobs["people"])
        policy = rule.asked(MINE[file.kind], file.path)
        outcome = self._merged(three, Options(file.path, policy=policy)).outcome
        judge = Judge(three, file.path)
        cases = tuple(zip(left, judged(left, outcome, three, judge, people), strict=True))
        is_freed = outcome.clean and any(verdict.is_settled for _, verdict in cases)
        return Tried(file, cases, judge.agreement(outcome.text, people) if is_freed else "")

    def _versions(self, blobs: BlobIds) -> Three[bytes | None]:
        return Three(blobs["base"], blobs["ours"], blobs["theirs"]).map(self._read)

    def _read(self, oid: str) -> bytes | None:
        return self.repository.blob(oid) if oid else None

    def texts(self, file: Replayed) -> ReplayedTexts:
        """Return the five texts of a file; repeat the merge for kmerge's text."""
        texts = {name: self._read(oid) or b"" for name, oid in file.blobs.items()}
        people = texts.pop("people")
        three = Three[bytes | None](*texts.values())
        outcome = self._merged(three, Options(file.path)).outcome
        return ReplayedTexts(texts | {"kmerge": outcome.text, "people": people}, outcome)


def _is_replayable(case: FileCase) -> bool:
    return (
        case.kind in ("changed by both", "added by both")
        and is_merged(case.path)
        and case.is_text
        and len({entry.oid if entry else "" for entry in case.entries}) == 3  # a text differs
    )


# -- a file that kmerge and people merged differently

_SHORT = 60  # the most lines of a base that is shown whole

Line = tuple[str, str]  # a text, and its colour or ''


def lines(file: Replayed, texts: ReplayedTexts) -> Iterator[Line]:
    """Yield the base, the diffs from the base, and the diff from kmerge's to the committed text."""
    yield f"{file.path} in {file.commit[:10]} {file.subject}", "bold"
    versions = {name: lines_of(data) for name, data in texts.by_name.items()}
    base = versions["base"]
    if len(base) <= _SHORT:
        yield from _section("base", ((line, "") for line in base))
    for name, text in versions.items():
        if name != "base":
            yield from _diff(("base", base), (name, text))
    yield from _diff(("kmerge", versions["kmerge"]), ("people", versions["people"]))


def extract(texts: ReplayedTexts, path: str, directory: str) -> list[str]:
    """Write the files base, ours, theirs, kmerge and people, and return the names of the files."""
    suffix = PurePosixPath(path).suffix
    target = Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for name, data in texts.by_name.items():
        file = target / f"{name}{suffix}"
        file.write_bytes(data)
        written.append(str(file))
    return written


def lines_of(data: bytes) -> list[str]:
    """Return the lines of a text; replace bytes that are not UTF-8."""
    return data.decode("utf-8", "replace").splitlines()


def _diff(old: tuple[str, list[str]], new: tuple[str, list[str]]) -> Iterator[Line]:
    diff = list(unified_diff(old[1], new[1], lineterm=""))[2:]
    colours = {"+": "green", "-": "red", "@": "dim"}
    changes = [(line, colours.get(line[:1], "")) for line in diff]
    return _section(f"{old[0]} -> {new[0]}", changes or [("(no difference)", "dim")])


def _section(title: str, text: Iterable[Line]) -> Iterator[Line]:
    yield "", ""
    yield f"== {title}", "blue"
    yield from text


# -- in several processes, with the results in the order of the merges

_replayer: Replayer  # the replayer of a worker process

T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """Repeat merges in several processes, which start only if there is enough work."""

    def __init__(self, repository: Repository, jobs: int, glob: str = "*") -> None:
        self._repository = repository
        self._jobs = jobs
        self._glob = glob  # the pattern of the files to replay
        self._own: Replayer | None = None
        self._pool: Pool | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()

    def replay(self, commits: Sequence[Past]) -> Iterator[ReplayedMerge]:
        """Repeat the merges of these commits."""
        return self._each(Replayer.merge, commits, self._jobs > 1 and len(commits) >= FEW_MERGES)

    def tried(self, rule: FieldPolicy, files: Sequence[Replayed]) -> Iterator[Tried]:
        """Merge files with conflicts once more, with one policy."""
        few = 1 if self._pool is not None else FEW_FILES
        work = partial(Replayer.tried, rule=rule)
        return self._each(work, files, self._jobs > 1 and len(files) >= few)

    def _each(
        self, work: Callable[[Replayer, T], R], jobs: Sequence[T], is_shared: bool
    ) -> Iterator[R]:
        if not is_shared:
            self._own = self._own or Replayer(self._repository, self._glob)
            for job in jobs:
                yield work(self._own, job)
            return
        if self._pool is None:
            # `spawn`, because a forked copy of an open repository is not safe to use
            context = multiprocessing.get_context("spawn")
            self._pool = context.Pool(self._jobs, _start, (self._repository.git_dir, self._glob))
        batches = (
            (work, jobs[at : at + MERGES_A_TASK]) for at in range(0, len(jobs), MERGES_A_TASK)
        )
        for results in self._pool.imap(_run, batches):
            yield from results


def _start(git_dir: str, glob: str) -> None:
    global _replayer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    _replayer = Replayer(Repository.open(git_dir), glob)
    collect_rarely()


def _run(task: tuple[Callable[[Replayer, T], R], Sequence[T]]) -> list[R]:
    work, jobs = task
    return [work(_replayer, job) for job in jobs]
