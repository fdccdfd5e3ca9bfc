"""What one policy would have come to in the past, conflict by conflict."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kmerge_git.whole.remaining import Remaining
from kmerge_git.whole.replaying import Replayed, Tried
from kmerge_git.whole.trying import FieldPolicy, Judgement, Match

ENOUGH = 5  # conflicts with people's value beside them
OF_TEN = 9  # as people did


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
        """How many conflicts it would have settled so."""
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
        """How many of these mean what people committed."""
        return sum(tried.freed in ("same bytes", "same meaning") for tried in self.files)

    @property
    def is_proved(self) -> bool:
        """Whether people chose the same, often enough to tell."""
        return is_proof(self.count("as people"), self.count("otherwise"))

    @property
    def told(self) -> str:
        """What it would have come to, in words."""
        glob, field = self.rule.glob, self.rule.field
        where = "any file" if glob == "*" else glob.removeprefix("**/")
        merges = f"{self.merges} merge{'s' * (self.merges != 1)}"
        people = f"{self.count('as people')} as people did"
        unknown = self.count("unknown")
        rest = f", {unknown} with nothing to compare" if unknown else ""
        settled = f"{self.settled} settled in {merges}, {people}{rest}"
        return f"{self.rule.policy} for {field} in {where}: {settled}"

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
        """The command that tells each case."""
        return shlex.join(["kmerge", "policy", "try", *self.words])

    @property
    def words(self) -> tuple[str, str, str]:
        """Files, field and policy, as `kmerge.policy` has them."""
        return self.rule.glob, self.rule.field, self.rule.policy

    def as_json(self) -> dict[str, Any]:
        """The figures, as plain values."""
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
        """Every conflict, as plain values."""
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
    """Whether so many cases say that people would have chosen the same."""
    compared = as_people + otherwise
    return compared >= ENOUGH and 10 * as_people >= OF_TEN * compared


def attribute_line(glob: str, rules: Iterable[FieldPolicy]) -> str:
    """The line of `.gitattributes` for some policies of the same files."""
    return f"{glob} kmerge-policy={','.join(f'{rule.field}:{rule.policy}' for rule in rules)}"
