"""Try policies on past conflicts, and propose the policies that agree with people.

A policy is proposed (not switched on) if it would have settled at least five conflicts of a
field, and nine of ten as people did. The pattern usually names the field in any file (`**.image`).
The name of a top-level field means little without its file, so its pattern also names the file
(`version` of Chart.yaml). If a wide pattern fails, a narrower pattern is tried: for files of one
name, or for one place in the document.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from posixpath import basename
from typing import Any

from kmerge_git.outcome import SIDES
from kmerge_git.replay.left_conflicts import (
    FieldPolicy,
    Judgement,
    Match,
    Remaining,
    any_element,
    anywhere,
    is_at_top,
)
from kmerge_git.replay.past_merges import Replayed, Tried
from kmerge_git.visible import counted

Case = tuple[Replayed, Remaining]
TryAll = Callable[[FieldPolicy, Sequence[Replayed]], Iterable[Tried]]
Place = tuple[str, str, str]  # commit, file and field
Scope = tuple[str, str]  # patterns for the files and the field, as in `kmerge.policy`

ENOUGH = 5  # conflicts that can be compared with people's values
OF_TEN = 9  # so many of ten must be settled as people did
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_SAFE = _PLAIN | set("/[]*@")  # characters of a field path that need no quotes


def propose(files: Iterable[Replayed], try_all: TryAll) -> list[Trial]:
    """Return the policies to propose; the policy that settles most conflicts comes first."""
    fields: defaultdict[str, list[Case]] = defaultdict(list)
    for file in files:
        for left in file.left:
            if left.path and _SAFE.issuperset(any_element(left.path)):
                fields[anywhere(left.path)].append((file, left))
    # group the fields by name, as no pattern fits fields of two names
    trials = chain.from_iterable(_of_field(of, try_all) for name, of in fields.items() if name)
    return sorted(trials, key=lambda t: (-t.count("as people"), t.count("otherwise"), t.words))


def _of_field(cases: Sequence[Case], try_all: TryAll) -> Iterator[Trial]:
    """Yield the policies to propose for a field.

    Each policy is judged without the conflicts that an earlier proposal settles.
    """
    ranks: dict[Scope, int] = {}
    meant: defaultdict[Scope, list[Case]] = defaultdict(list)
    for case in cases:
        for scope, rank in _scopes(*case).items():
            ranks[scope] = max(rank, ranks.get(scope, rank))
            meant[scope].append(case)
    settled: set[Place] = set()
    taken: set[Scope] = set()
    for policy, scope in _promising(meant, ranks):
        fresh = [case for case in meant[scope] if _place(*case) not in settled]
        if scope in taken or not is_proof(*_promised(policy, fresh)):
            continue
        rule = FieldPolicy(*scope, policy)
        files = {id(file): file for file, _ in meant[scope]}.values()
        trial = Trial(rule, tuple(try_all(rule, [*files])))
        if trial.is_proved:
            taken.add(scope)
            settled |= {_place(file, left) for file, left, of in trial.cases if of.is_settled}
            yield trial


def _place(file: Replayed, left: Remaining) -> Place:
    return file.commit, file.path, left.place


def _scopes(file: Replayed, left: Remaining) -> dict[Scope, int]:
    """Return scopes for a field, each with a rank; of equally good scopes the lowest rank wins.

    A scope with a negative rank is not proposed for this field alone.
    """
    form, name = any_element(left.path), anywhere(left.path)
    # each character that needs quotes is a `?`
    glob = "**/" + "".join(c if c in _PLAIN else "?" for c in basename(file.path))
    if is_at_top(left.path):
        return {(glob, form): 0, ("*", form): 1, ("*", name): -1, (glob, name): -1}
    return {("*", name): 0, (glob, name): 1, ("*", form): 2}


def _promising(
    meant: dict[Scope, list[Case]], ranks: dict[Scope, int]
) -> Iterator[tuple[str, Scope]]:
    """Yield each policy that is worth trying, with its scope, the most promising policy first."""
    promising = []
    for scope, cases in meant.items():
        policies = {policy for _, left in cases for policy, _ in left.hints}
        for policy in policies if ranks[scope] >= 0 else ():
            agreed, apart = _promised(policy, cases)
            if is_proof(agreed, apart):
                # prefer a policy that compares values to a policy that takes a side
                promising.append((policy in SIDES, -agreed, ranks[scope], policy, scope))
    for *_, policy, scope in sorted(promising):
        yield policy, scope


def _promised(policy: str, cases: Iterable[Case]) -> tuple[int, int]:
    """Return how often a policy may choose as people did, and how often differently."""
    counts = Counter(dict(left.hints).get(policy, "silent") for _, left in cases)
    return counts[True] + counts[None], counts[False]


def notes_on(trials: Sequence[Trial]) -> list[str]:
    """Return notes that a reader must know before a proposed policy is switched on."""
    if any(trial.rule.policy in SIDES for trial in trials):
        return ["ours is the branch that is merged into; in a rebase, the one that is rebased onto"]
    return []


def attribute_lines(trials: Sequence[Trial]) -> list[str]:
    """Return the lines of `.gitattributes` for all trials; git uses the last line for a file."""
    rules = [trial.rule for trial in trials]
    globs = sorted({rule.glob for rule in rules})  # `*` first
    return [attribute_line(g, [rule for rule in rules if rule.glob in ("*", g)]) for g in globs]


@dataclass(frozen=True, slots=True)
class Trial:
    """Hold a policy, and the files in conflict that were merged again with this policy."""

    rule: FieldPolicy
    files: tuple[Tried, ...]

    @property
    def cases(self) -> tuple[tuple[Replayed, Remaining, Judgement], ...]:
        """The conflicts of the field, each with its file and judgement."""
        return tuple((tried.file, *case) for tried in self.files for case in tried.cases)

    @property
    def settled(self) -> int:
        """The number of conflicts that the policy would have settled."""
        return sum(verdict.is_settled for _, _, verdict in self.cases)

    def count(self, match: Match) -> int:
        """Return the number of conflicts with this judgement."""
        return sum(verdict.match == match for _, _, verdict in self.cases)

    @property
    def merges(self) -> int:
        """The number of merges in which the policy would have settled a conflict."""
        return len({file.commit for file, _, verdict in self.cases if verdict.is_settled})

    @property
    def freed(self) -> int:
        """The number of files that would have had no conflict left."""
        return sum(bool(tried.freed) for tried in self.files)

    @property
    def freed_as_people(self) -> int:
        """The number of files that have no conflict left and mean the same as people's files."""
        return sum(tried.freed in ("same bytes", "same meaning") for tried in self.files)

    @property
    def is_proved(self) -> bool:
        """Return whether people chose as the policy does often enough to propose the policy."""
        return is_proof(self.count("as people"), self.count("otherwise"))

    @property
    def summary(self) -> str:
        """Describe the results of the policy in one sentence."""
        glob, field = self.rule.glob, self.rule.field
        where = "any file" if glob == "*" else glob.removeprefix("**/")
        merges = counted(self.merges, "merge")
        people = f"{self.count('as people')} as people did"
        unknown = self.count("unknown")
        rest = f", {unknown} with nothing to compare" if unknown else ""
        results = f"{self.settled} settled in {merges}, {people}{rest}"
        return f"{self.rule.policy} for {field} in {where}: {results}"

    @property
    def config(self) -> str:
        """The command that switches the policy on in a clone."""
        return f"git config --add kmerge.policy {shlex.quote(' '.join(self.words))}"

    @property
    def attributes(self) -> str:
        """The line of `.gitattributes` that switches the policy on for everybody."""
        return attribute_line(self.rule.glob, (self.rule,))

    @property
    def command(self) -> str:
        """The command that shows every conflict of this policy."""
        return shlex.join(["kmerge", "replay", "--policy", " ".join(self.words)])

    @property
    def words(self) -> tuple[str, str, str]:
        """The value of the setting `kmerge.policy`: a file pattern, a field and a policy."""
        return self.rule.glob, self.rule.field, self.rule.policy

    def as_json(self) -> dict[str, Any]:
        """Return the policy and its counts as plain values."""
        return {
            "policy": self.rule.policy,
            "files": self.rule.glob,
            "field": self.rule.field,
            "settled": self.settled,
            "as_people": self.count("as people"),
            "otherwise": self.count("otherwise"),
            "unknown": self.count("unknown"),
            "silent": self.count("silent"),
            "settled_in": self.merges,
            "files_freed": self.freed,
            "files_as_people": self.freed_as_people,
            "proved": self.is_proved,
            "gitattributes": self.attributes,
            "config": self.config,
            "command": self.command,
        }

    def cases_as_json(self) -> list[dict[str, str]]:
        """Return every conflict of the trial as plain values."""
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
            for file, left, verdict in self.cases
        ]


def is_proof(as_people: int, otherwise: int) -> bool:
    """Return whether these counts show that people chose as the policy does."""
    compared = as_people + otherwise
    return compared >= ENOUGH and 10 * as_people >= OF_TEN * compared


def attribute_line(glob: str, rules: Iterable[FieldPolicy]) -> str:
    """Return the line of `.gitattributes` for the policies of one file pattern."""
    return f"{glob} kmerge-policy={','.join(f'{rule.field}:{rule.policy}' for rule in rules)}"
