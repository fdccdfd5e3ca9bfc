"""What policies would have made of the conflicts that a merge left, and what people made of them.

All policies are asked about all conflicts: that is quick, and says which are worth a look. What one
of them comes to in a file, a merge with it tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

from kmerge_git.git.settings import POLICIES, matches
from kmerge_git.kube import fieldpath
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.merge.three import Three
from kmerge_git.outcome import SIDES, Outcome
from kmerge_git.text.markers import marker_size_for, resolve
from kmerge_git.whole.judging import Judge, value_of
from kmerge_git.whole.remaining import Clash, Inquiry, Remaining, any_element

if TYPE_CHECKING:
    from kmerge_git.outcome import Policy

Match = Literal["as people", "otherwise", "unknown", "silent"]


@dataclass(frozen=True, slots=True)
class FieldPolicy:
    """A policy for a field of some files, as `kmerge.policy` has it."""

    glob: str
    field: str
    policy: str

    def asked(self, mine: str, path: str) -> Policy | None:
        """What is asked at the places of a file; `mine`: the side whose change is made again."""
        return policy_for([(self.field, self.policy)], mine, path)

    def means(self, path: str, left: Remaining) -> bool:
        """Whether it is for this conflict of a file."""
        words = fieldpath.pattern(self.field)
        return bool(left.path) and fieldpath.matches(words, left.path) and matches(self.glob, path)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a policy makes of a conflict, beside what people made of it.

    `unknown`: it settles the conflict, and people's file does not have the place to compare.
    `silent`: it is for this field, and does not settle the conflict.
    """

    match: Match
    value: str = ""  # both told where people have another one
    people: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether the policy settles the conflict."""
        return self.match != "silent"


def hinted(
    clashes: Sequence[Clash], judge: Judge, people: bytes | None, mine: str, path: str
) -> tuple[Remaining, ...]:
    """The conflicts, each with what the policies would do."""

    @cache
    def policy(name: str, field: str) -> Policy | None:
        # some speak only of fields that are named
        return policy_for([("**", name), (field, name)], mine, path)

    def hints(left: Remaining, inquiry: Inquiry) -> Iterator[tuple[str, bool | None]]:
        for name in POLICIES:
            ask = policy(name, any_element(left.path))
            found = ask(inquiry.path, *inquiry.at) if ask is not None else None
            if found is None or not found.side:
                continue
            if found.side not in SIDES or not _is_one(inquiry):
                yield name, None
                continue
            entries = inquiry.at[1 + SIDES.index(found.side)]
            value = value_of(entries[0].value if entries else None)
            there = judge.value(people, left.resource, left.path)
            if value is not None and there is not None:
                yield name, value.canon == there.canon

    return tuple(
        replace(left, hints=tuple(hints(left, inquiry))) if inquiry and left.path else left
        for left, inquiry in clashes
    )


def _is_one(inquiry: Inquiry) -> bool:
    """Whether it is about one value, and not about elements or the lines of a text."""
    _, ours, theirs = inquiry.at[:3]
    is_value = not isinstance(inquiry.path[-1], int) and bool(ours or theirs)
    return is_value and len(ours) < 2 and len(theirs) < 2


def judged(
    left: Sequence[Remaining],
    outcome: Outcome,
    three: Three[bytes | None],
    judge: Judge,
    people: bytes | None,
) -> Iterator[Judgement]:
    """What a merge with a policy made of each of these conflicts."""
    still = {d.place for d in outcome.decisions if d.side == "conflict"}
    settled = {d.place for d in outcome.decisions if d.is_settled} - still
    if outcome.method not in ("structure", "lines"):
        settled = set()
    # what is decided is the same in either reading of what is not
    text = outcome.text if outcome.clean else _decided_for_ours(outcome.text, three)
    for each in left:
        if each.place not in settled:
            yield Judgement("silent")
            continue
        value = judge.value(text, each.resource, each.compared)
        there = judge.value(people, each.resource, each.compared)
        if value is None or there is None:
            yield Judgement("unknown")
        elif value.canon == there.canon:
            yield Judgement("as people")
        else:
            yield Judgement("otherwise", value.shown, there.shown)


def _decided_for_ours(data: bytes, three: Three[bytes | None]) -> bytes:
    size = marker_size_for(_text(version or b"") for version in three.each())
    return resolve(_text(data), "ours", size).encode("utf-8", "surrogateescape")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
