"""Try policies on the conflicts of the past, and propose those that the past proves.

A policy is proposed, never switched on, where it would have settled at least five conflicts of
a field, nine of ten as people did. A pattern names the field in any file (`**.image`); a field
at the top of a document, whose name means little without the file, is named in files of that
name (`version` of Chart.yaml). Where that is too wide to be right, the pattern names files of
one name, or one place.
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

Case = tuple[Replayed, Remaining]
TryAll = Callable[[FieldPolicy, Sequence[Replayed]], Iterable[Tried]]
Place = tuple[str, str, str]  # commit, file and field
Scope = tuple[str, str]  # the files and the field, as `kmerge.policy` has them

ENOUGH = 5  # conflicts with a value of people's to compare
OF_TEN = 9  # as people did
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_SAFE = _PLAIN | set("/[]*@")  # characters of a field path that need no quotes


def propose(files: Iterable[Replayed], try_all: TryAll) -> list[Trial]:
    """Return the policies that files with conflicts prove, the most cases first."""
    fields: defaultdict[str, list[Case]] = defaultdict(list)
    for file in files:
        for left in file.left:
            if left.path and _SAFE.issuperset(any_element(left.path)):
                fields[anywhere(left.path)].append((file, left))
    # fields of two names have no pattern in common
    trials = chain.from_iterable(_of_field(of, try_all) for name, of in fields.items() if name)
    return sorted(trials, key=lambda t: (-t.count("as people"), t.count("otherwise"), t.words))


def _of_field(cases: Sequence[Case], try_all: TryAll) -> Iterator[Trial]:
    """Yield the proposals for a field: each is proved where no earlier one settles anything."""
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
    """Return the scopes of a field: of two that prove the same the lower rank is taken.

    A scope with a negative rank is never proposed because of this field.
    """
    glob, form, name = _glob(file.path), any_element(left.path), anywhere(left.path)
    if is_at_top(left.path):
        return {(glob, form): 0, ("*", form): 1, ("*", name): -1, (glob, name): -1}
    return {("*", name): 0, (glob, name): 1, ("*", form): 2}


def _glob(path: str) -> str:
    """Return a pattern for files of a name; it has `?` for a character that needs quotes."""
    return "**/" + "".join(char if char in _PLAIN else "?" for char in basename(path))


def _promising(
    meant: dict[Scope, list[Case]], ranks: dict[Scope, int]
) -> Iterator[tuple[str, Scope]]:
    """Yield the policies that may be proved, in the order in which they are tried."""
    promising = []
    for scope, cases in meant.items():
        policies = {policy for _, left in cases for policy, _ in left.hints}
        for policy in policies if ranks[scope] >= 0 else ():
            agreed, apart = _promised(policy, cases)
            if is_proof(agreed, apart):
                # a side is a weaker rule for a field than one that compares its values
                promising.append((policy in SIDES, -agreed, ranks[scope], policy, scope))
    for *_, policy, scope in sorted(promising):
        yield policy, scope


def _promised(policy: str, cases: Iterable[Case]) -> tuple[int, int]:
    """Return how often a policy would do as people did, at best, and how often not."""
    counts = Counter(dict(left.hints).get(policy, "silent") for _, left in cases)
    return counts[True] + counts[None], counts[False]


def notes_on(trials: Sequence[Trial]) -> list[str]:
    """Return what a reader has to know before one of them is switched on."""
    if any(trial.rule.policy in SIDES for trial in trials):
        return ["ours is the branch that is merged into; in a rebase, the one that is rebased onto"]
    return []


def attribute_lines(trials: Sequence[Trial]) -> list[str]:
    """Return all of them for `.gitattributes`, where the last line for a file counts."""
    rules = [trial.rule for trial in trials]
    globs = sorted({rule.glob for rule in rules})  # `*` first
    return [attribute_line(g, [rule for rule in rules if rule.glob in ("*", g)]) for g in globs]


@dataclass(frozen=True, slots=True)
class Trial:
    """A policy, the files that were left with conflicts, and what it made of them."""

    rule: FieldPolicy
    files: tuple[Tried, ...]

    @property
    def cases(self) -> tuple[tuple[Replayed, Remaining, Judgement], ...]:
        """The conflicts of the field."""
        return tuple((tried.file, *case) for tried in self.files for case in tried.cases)

    @property
    def settled(self) -> int:
        """The conflicts that it would have settled."""
        return sum(verdict.is_settled for _, _, verdict in self.cases)

    def count(self, match: Match) -> int:
        """Return how many conflicts it would have settled so."""
        return sum(verdict.match == match for _, _, verdict in self.cases)

    @property
    def merges(self) -> int:
        """The merges in which it would have settled any."""
        return len({file.commit for file, _, verdict in self.cases if verdict.is_settled})

    @property
    def freed(self) -> int:
        """The files that would have had no conflict."""
        return sum(bool(tried.freed) for tried in self.files)

    @property
    def freed_as_people(self) -> int:
        """The number of these that mean what people committed."""
        return sum(tried.freed in ("same bytes", "same meaning") for tried in self.files)

    @property
    def is_proved(self) -> bool:
        """Return whether people chose the same, often enough for a proof."""
        return is_proof(self.count("as people"), self.count("otherwise"))

    @property
    def summary(self) -> str:
        """A sentence about its results."""
        glob, field = self.rule.glob, self.rule.field
        where = "any file" if glob == "*" else glob.removeprefix("**/")
        merges = f"{self.merges} merge{'s' * (self.merges != 1)}"
        people = f"{self.count('as people')} as people did"
        unknown = self.count("unknown")
        rest = f", {unknown} with nothing to compare" if unknown else ""
        results = f"{self.settled} settled in {merges}, {people}{rest}"
        return f"{self.rule.policy} for {field} in {where}: {results}"

    @property
    def config(self) -> str:
        """The command that switches it on in a clone."""
        return f"git config --add kmerge.policy {shlex.quote(' '.join(self.words))}"

    @property
    def attributes(self) -> str:
        """The line that switches it on for everybody, in `.gitattributes`."""
        return attribute_line(self.rule.glob, (self.rule,))

    @property
    def command(self) -> str:
        """The command that shows each case."""
        return shlex.join(["kmerge", "policy", "try", *self.words])

    @property
    def words(self) -> tuple[str, str, str]:
        """Files, field and policy, as `kmerge.policy` has them."""
        return self.rule.glob, self.rule.field, self.rule.policy

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain values."""
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
        """Return every conflict as plain values."""
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
    """Return whether so many cases prove that people would have chosen the same."""
    compared = as_people + otherwise
    return compared >= ENOUGH and 10 * as_people >= OF_TEN * compared


def attribute_line(glob: str, rules: Iterable[FieldPolicy]) -> str:
    """Return the line of `.gitattributes` for some policies of the same files."""
    return f"{glob} kmerge-policy={','.join(f'{rule.field}:{rule.policy}' for rule in rules)}"
