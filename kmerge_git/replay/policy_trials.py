"""Try policies on past conflicts, and propose those that agree with what people committed.

No proposal is enabled. Each one is rated by the conflicts that can be compared with the commits,
and is as narrow as possible. A group has all conflicts of a field that the policy resolves, or
only those in files of one name, or only those at one place of a document. The file pattern is the
narrowest one that matches the group. The field is the single place of the group, or else the
field's name at any place (`**.image`).
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from posixpath import basename, commonprefix, splitext
from typing import Any, Literal

from kmerge_git.errors import UsageError
from kmerge_git.git.repository import Commit, Repository, commits_here
from kmerge_git.git.settings import DELETION, matches
from kmerge_git.outcome import SIDES
from kmerge_git.replay.left_conflicts import (
    FieldPolicy,
    Judgement,
    Remaining,
    any_element,
    anywhere,
    is_at_top,
)
from kmerge_git.replay.past_merges import Replayed, Tried, Workers, choose
from kmerge_git.replay.pull_requests import Heads, heads_of
from kmerge_git.visible import counted

Case = tuple[Replayed, Remaining]
TryAll = Callable[[FieldPolicy, Sequence[Replayed]], Iterable[Tried]]
Place = tuple[str, str, str]  # commit, file and field
Scope = tuple[str, str]  # patterns for the files and the field, as in `kmerge.policy`

Standing = Literal["safe here", "saves work", ""]

ENOUGH = 5  # places that can be compared with people's values
# safe here: so many of ten as people did; one merge is one decision of one person, so it takes some
OF_TEN = 9
MERGES, AUTHORS = 5, 2
# saves work: three of four places are right, and the more of them as people did. A number of a
# chart that no side had is not wrong: it was free. Any other wrong value has to be found by whom
# the merge tells that a policy decided, and beyond one in four that is no work saved.
OF_FOUR = 3
SHOWN_WRONG = 3  # the cases of a proposal that are shown
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_SAFE = _PLAIN | set("/[]*@")  # characters of a field path that need no quotes


def past_trials(
    repository: Repository, rules: Iterable[FieldPolicy], jobs: int, glob: str = "*"
) -> list[Trial]:
    """Return a trial of each policy on past merges of HEAD and of fetched pull requests.

    Only files that match the pattern are merged again.
    """
    pulls = Heads()
    history: Iterable[Commit] = ()
    with suppress(UsageError):
        pulls = heads_of(repository, (), pulls=True)
    with suppress(UsageError):  # there is no commit yet
        history, _ = commits_here(repository, "HEAD", pulls.oids)
    chosen = choose(history, picks=False, most=None, heads=Heads(), tip="")
    with Workers(repository, jobs, glob) as made:
        merges = made.replay(chosen.commits)
        files = [file for merge in merges for file in merge.files if not file.kmerge_clean]
        return trials_of(rules, files, made.tried)


def trials_of(
    rules: Iterable[FieldPolicy], files: Sequence[Replayed], try_all: TryAll
) -> list[Trial]:
    """Return a trial of each policy on the files that a replay left in conflict."""
    trials = []
    for rule in rules:
        meant = [file for file in files if any(rule.means(file.path, left) for left in file.left)]
        trials.append(Trial(rule, tuple(try_all(rule, meant)), len(files)))
    return trials


def propose(files: Sequence[Replayed], try_all: TryAll) -> list[Trial]:
    """Return the policies to propose: safe ones first, then those that agree most often."""
    fields: defaultdict[str, list[Case]] = defaultdict(list)
    for file in files:
        for left in file.left:
            if left.path and _SAFE.issuperset(any_element(left.path)):
                fields[anywhere(left.path)].append((file, left))
    proposals: list[Trial] = []
    # group the fields by name, as no pattern fits fields of two names
    for name, cases in fields.items():
        if name:
            proposals += _of_field(
                cases, proposals, partial(trials_of, files=files, try_all=try_all)
            )
    return sorted(proposals, key=lambda trial: by_worth(trial.as_json()))


def propose_deletions(away: Iterable[Tried], conflicted: int) -> list[Trial]:
    """Return the folders for which to propose policy `deletion`, the deepest first.

    The whole repository is never proposed: outside these folders a deletion may be a mistake.
    """
    below: defaultdict[str, list[Tried]] = defaultdict(list)
    for one in away:
        parts = [*map(_quoted, one.file.path.split("/")[:-1])]
        for depth in range(len(parts)):
            below["/".join(parts[: depth + 1])].append(one)
    proposals: list[Trial] = []
    known: set[int] = set()
    for folder in sorted(below, key=lambda name: (-name.count("/"), name)):
        fresh = [one for one in below[folder] if id(one) not in known]
        trial = Trial(FieldPolicy(f"{folder}/**", "", DELETION), tuple(fresh), conflicted)
        if trial.standing:
            proposals.append(trial)
            known |= set(map(id, fresh))
    return proposals


def _of_field(
    cases: Sequence[Case],
    others: Sequence[Trial],
    tried: Callable[[list[FieldPolicy]], list[Trial]],
) -> list[Trial]:
    """Return the policies to propose for a field; a safe narrow one comes before a wide one.

    Each policy is judged without the conflicts that an earlier proposal settles.
    """
    ranks: dict[Scope, int] = {}
    meant: defaultdict[Scope, list[Case]] = defaultdict(list)
    for case in cases:
        for scope, rank in _scopes(*case).items():
            ranks[scope] = max(rank, ranks.get(scope, rank))
            meant[scope].append(case)
    settled: set[Place] = set()
    trials: dict[FieldPolicy, Trial] = {}
    proposals: dict[Scope, Trial] = {}
    for standings in (("safe here",), ("safe here", "saves work")):
        for policy, (glob, field) in _promising(meant, ranks):
            fresh = [
                case
                for case in meant[glob, field]
                if policy in dict(case[1].hints) and _place(*case) not in settled
            ]
            if not _promised(policy, fresh):
                continue
            known = [trial.rule.glob for trial in (*others, *proposals.values())]
            scope = narrowed(glob, field, fresh, known)
            rule = FieldPolicy(*scope, policy)
            if scope in proposals:
                continue
            if rule not in trials:
                (trials[rule],) = tried([rule])
            trial = trials[rule]
            if trial.standing in standings:
                proposals[scope] = trial
                settled |= {_place(file, left) for file, left, of in trial.cases if of.is_settled}
    return [*proposals.values()]


def _place(file: Replayed, left: Remaining) -> Place:
    return file.commit, file.path, left.place


def _scopes(file: Replayed, left: Remaining) -> dict[Scope, int]:
    """Return the groups of a field, each with a rank; of equally good groups the lowest rank wins.

    A group with a negative rank is not proposed for this field alone.
    """
    form, name = any_element(left.path), anywhere(left.path)
    glob = f"**/{_quoted(basename(file.path))}"
    if is_at_top(left.path):  # such a name means little without its file
        return {(glob, form): 0, ("*", form): 1, ("*", name): -1, (glob, name): -1}
    return {("*", name): 0, (glob, name): 1, ("*", form): 2}


def _promising(meant: dict[Scope, list[Case]], ranks: dict[Scope, int]) -> list[tuple[str, Scope]]:
    """Return each policy that is worth trying, with its group, the most promising policy first."""
    promising = []
    for scope, cases in meant.items():
        policies = {policy for _, left in cases for policy, _ in left.hints}
        for policy in policies if ranks[scope] >= 0 else ():
            agreed = _promised(policy, cases)
            if agreed:
                promising.append((-agreed, ranks[scope], policy, scope))
    return [(policy, scope) for *_, policy, scope in sorted(promising)]


def _promised(policy: str, cases: Iterable[Case]) -> int:
    """Return how often a policy may choose as people did, or 0 if too seldom for a standing.

    Numbers that were free are not known before a trial.
    """
    counts = Counter(dict(left.hints).get(policy, "silent") for _, left in cases)
    agreed, apart = counts[True] + counts[None], counts[False]
    return agreed if agreed + apart >= ENOUGH and agreed >= apart else 0


# -- patterns for files


def narrowed(glob: str, field: str, cases: Sequence[Case], known: Sequence[str]) -> Scope:
    """Return the narrowest patterns for the conflicts of a group.

    Of two lines of `.gitattributes` for one file only the last one counts. So no two patterns may
    have some files in common and not all files of one of them: then the pattern is a wider one.
    """
    forms = {any_element(left.path) for _, left in cases}
    narrow = narrowest(file.path for file, _ in cases)
    globs = (g for g in (narrow, glob) if all(_fits(g, other) for other in known))
    return next(globs, "*"), forms.pop() if len(forms) == 1 else field


def narrowest(paths: Iterable[str]) -> str:
    """Return the narrowest pattern that matches files, with stars where their names differ."""
    rows = [path.split("/") for path in sorted(set(paths))]
    names = {row[-1] for row in rows}
    suffixes = {splitext(name)[1] for name in names}
    name = f"*{_quoted(suffixes.pop())}" if len(suffixes) == 1 else "*"
    if len(names) == 1:
        name = _quoted(names.pop())
    folders = [row[:-1] for row in rows]
    if len({len(row) for row in rows}) == 1:
        levels = [set(level) for level in zip(*folders, strict=True)]
        parts = [_quoted(level.pop()) if len(level) == 1 else "*" for level in levels]
    else:
        parts = [*map(_quoted, commonprefix(folders)), "**"]
    return "/".join((*parts, name)) if parts else f"/{name}"


def _quoted(name: str) -> str:
    """Return a pattern for a name without the characters that need quotes."""
    # git matches bytes: a `?` is only one of those of a letter beyond ASCII
    wild = ("?" if sign.isascii() else "*" for sign in name)
    return "".join(sign if sign in _PLAIN else star for sign, star in zip(name, wild, strict=True))


def _fits(one: str, other: str) -> bool:
    """Return whether one of two patterns covers the other, or they have no file in common."""
    if _covers(one, other) or _covers(other, one):
        return True
    parts = [glob.strip("/").split("/") for glob in (one, other)]
    if "**" not in (*parts[0], *parts[1]) and len(parts[0]) != len(parts[1]):
        return True
    heads = (takewhile(lambda part: part != "**", row) for row in parts)
    pairs = [*zip(*heads, strict=False), (parts[0][-1], parts[1][-1])]
    return any(not matches(a, b) and not matches(b, a) for a, b in pairs)


def _covers(wide: str, narrow: str) -> bool:
    """Return whether a pattern covers all files of another pattern."""
    # as many folders as no pattern of a real path has stars
    return matches(wide, narrow.strip("/").replace("**", "/".join("*" * 99)))


def attribute_lines(trials: Sequence[Trial]) -> list[str]:
    """Return the lines of `.gitattributes` for all trials; git uses the last line for a file."""
    rules = [trial.rule for trial in trials]

    def holds(rule: FieldPolicy, glob: str) -> bool:
        # a folder of deletions must not hide a policy for some of its files
        is_hidden = glob.endswith("/**") and not _fits(rule.glob, glob)
        return is_hidden or _covers(rule.glob, glob)

    wider = {g: [rule for rule in rules if holds(rule, g)] for g in {r.glob for r in rules}}
    globs = sorted(wider, key=lambda glob: (len({rule.glob for rule in wider[glob]}), glob))
    return [attribute_line(glob, wider[glob]) for glob in globs]


@dataclass(frozen=True, slots=True)
class Trial:
    """Hold a policy, and the files in conflict that were merged again with this policy."""

    rule: FieldPolicy
    files: tuple[Tried, ...]
    conflicted: int  # the number of files that the replay left in conflict

    @property
    def cases(self) -> tuple[tuple[Replayed, Remaining, Judgement], ...]:
        """The conflicts of the field, each with its file and judgement."""
        return tuple((tried.file, *case) for tried in self.files for case in tried.cases)

    @property
    def settled(self) -> int:
        """The number of conflicts that the policy would have resolved."""
        return sum(verdict.is_settled for _, _, verdict in self.cases)

    @property
    def wrong(self) -> list[tuple[Replayed, Remaining, Judgement]]:
        """The conflicts that the policy would have resolved differently; new values come last."""
        wrong = (case for case in self.cases if case[-1].match == "otherwise")
        return sorted(wrong, key=lambda case: case[-1].is_new)

    @property
    def compared(self) -> list[Replayed]:
        """The files of the conflicts that can be compared with the commits."""
        matches = ("as people", "otherwise")
        return [file for file, _, verdict in self.cases if verdict.match in matches]

    @property
    def standing(self) -> Standing:
        """The rating of the policy by how often it agrees with the commits; '' is not proposed."""
        return standing_of(self.as_json())

    @property
    def rate(self) -> str:
        """Describe the results of the policy in one sentence."""
        return rate_of(self.as_json())

    def as_json(self) -> Proposal:
        """Return the policy and its counts as plain values; authors are hashes."""
        counts = Counter(verdict.match for _, _, verdict in self.cases)
        is_rebump = self.rule.policy == "rebump"
        settled = {id(file) for file, _, verdict in self.cases if verdict.is_settled}
        as_people = ("same bytes", "same meaning")
        return with_lines(
            {
                "policy": self.rule.policy,
                "files": self.rule.glob,
                "field": self.rule.field,
                "settled": self.settled,
                "as_people": counts["as people"],
                "otherwise": counts["otherwise"],
                "unknown": counts["unknown"],
                "silent": counts["silent"],
                # chart versions that people did not choose, and that no side had
                "free": sum(of.is_new for *_, of in self.wrong) if is_rebump else 0,
                "compared_in": len({file.commit for file in self.compared}),
                "authors": sorted({file.author for file in self.compared}),
                "conflicted_files": self.conflicted,
                "files_settled": len(settled),
                "files_freed": sum(bool(tried.freed) for tried in self.files),
                "files_as_people": sum(tried.freed in as_people for tried in self.files),
                "wrong": self.cases_as_json(self.wrong[:SHOWN_WRONG]),
            }
        )

    def cases_as_json(
        self, cases: Iterable[tuple[Replayed, Remaining, Judgement]]
    ) -> list[dict[str, str]]:
        """Return conflicts of the trial as plain values."""
        return [
            {
                "commit": file.commit,
                "path": file.path,
                "resource": left.resource,
                "field": left.field,
                "why": left.cause,
                "people": verdict.match,
                "value": verdict.value,
                "value_of_people": verdict.people,
            }
            for file, left, verdict in cases
        ]


# -- a policy and its counts as plain values, of one repository or of many together

Proposal = dict[str, Any]


def with_lines(figures: Proposal) -> Proposal:
    """Return the counts of a policy with its rating and the lines that enable it."""
    rule = FieldPolicy(figures["files"], figures["field"], figures["policy"])
    settings = [" ".join(filter(None, (rule.glob, *words))) for words in rule.rules]
    added = (f"git config --add kmerge.policy {shlex.quote(words)}" for words in settings)
    return figures | {
        "standing": standing_of(figures),
        "gitattributes": attribute_line(rule.glob, (rule,)),
        "config": " && ".join(added),
        "command": shlex.join(["kmerge", "replay", "--policy", settings[-1]]),
    }


def attribute_line(glob: str, rules: Iterable[FieldPolicy]) -> str:
    """Return the line of `.gitattributes` for the policies of one file pattern."""
    items = (f"{field}:{name}".removeprefix(":") for rule in rules for field, name in rule.rules)
    return f"{glob} kmerge-policy={','.join(dict.fromkeys(items))}"


def standing_of(counts: Proposal) -> Standing:
    """Rate a policy by how often it agrees with the commits; '' means that it is not proposed."""
    right, compared = counts["as_people"], counts["as_people"] + counts["otherwise"]
    if counts["policy"] in SIDES or compared < ENOUGH or counts["compared_in"] < 2:
        return ""
    is_decided = counts["compared_in"] >= MERGES and len(counts["authors"]) >= AUTHORS
    if is_decided and 10 * right >= OF_TEN * compared:
        return "safe here"
    is_right = 2 * right >= compared and 4 * (right + counts["free"]) >= OF_FOUR * compared
    return "saves work" if is_right else ""


def by_worth(proposal: Proposal) -> tuple[object, ...]:
    """Return the sort key of a proposal: safe ones first, then those that agree most often."""
    words = [proposal[name] for name in ("files", "field", "policy")]
    return proposal["standing"], -proposal["as_people"], proposal["otherwise"], *words


def rate_of(counts: Proposal) -> str:
    """Describe the results of a policy in one sentence."""
    parts = [
        (counts["free"], "in which the new chart version differs"),
        (counts["otherwise"] - counts["free"], "different"),
        (counts["unknown"], "not comparable"),
    ]
    rest = "".join(f", {count} {words}" for count, words in parts if count)
    places = f"resolves {counted(counts['settled'], 'conflict')} in {counts['files_settled']} of"
    files = counted(counts["conflicted_files"], "file")
    return f"{places} {files}; {counts['as_people']} as committed{rest}"


def summary_of(proposal: Proposal) -> str:
    """Describe a policy and its results in one sentence."""
    merges = counted(proposal["compared_in"], "merge")
    authors = counted(len(proposal["authors"]), "author")
    field = f" for {proposal['field']}" if proposal["field"] else ""
    title = f"{proposal['policy']}{field} in {proposal['files']}"
    return f"{title}: {rate_of(proposal)} ({merges}, {authors})"
