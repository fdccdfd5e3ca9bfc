"""Which policies a repository's own past proves: proposed, never switched on.

A policy is worth a line where it would have settled at least five conflicts of a field, nine of ten
as people did. A field is meant by its name in any file (`**.image`); one at the top of a document,
whose name says little without the file, in files of that name (`version` of Chart.yaml). Where
that is too wide to be right, it is meant in files of one name, or at one place. What the hints
promise, the merges with the policy must keep.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from posixpath import basename

from kmerge_git.outcome import SIDES
from kmerge_git.whole.remaining import Remaining, any_element, anywhere, is_at_top
from kmerge_git.whole.replaying import Replayed, Tried
from kmerge_git.whole.trial import Trial, attribute_line, is_proof
from kmerge_git.whole.trying import FieldPolicy

Case = tuple[Replayed, Remaining]
TryAll = Callable[[FieldPolicy, Sequence[Replayed]], Iterable[Tried]]
Place = tuple[str, str, str]  # commit, file and field
Scope = tuple[str, str]  # the files and the field, as `kmerge.policy` has them

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_SAFE = _PLAIN | set("/[]*@")  # what stands in a field path without quotes, in a shell or a value


def propose(files: Iterable[Replayed], try_all: TryAll) -> list[Trial]:
    """What files that were left with conflicts prove, the most cases first."""
    fields: defaultdict[str, list[Case]] = defaultdict(list)
    for file in files:
        for left in file.left:
            if left.path and _SAFE.issuperset(any_element(left.path)):
                fields[anywhere(left.path)].append((file, left))
    # fields of two names have no pattern in common
    found = chain.from_iterable(_of_field(cases, try_all) for name, cases in fields.items() if name)
    return sorted(found, key=lambda t: (-t.count("as people"), t.count("otherwise"), t.words))


def _of_field(cases: Sequence[Case], try_all: TryAll) -> Iterator[Trial]:
    """The proposals for a field: each holds by itself, and where none before it speaks."""
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
            settled |= {_place(file, left) for file, left, said in trial.cases if said.is_settled}
            yield trial


def _place(file: Replayed, left: Remaining) -> Place:
    return file.commit, file.path, left.place


def _scopes(file: Replayed, left: Remaining) -> dict[Scope, int]:
    """What means this field: of two that prove the same the lower rank is taken.

    A negative rank is for what is never proposed because of this field.
    """
    glob, form, name = _glob(file.path), any_element(left.path), anywhere(left.path)
    if is_at_top(left.path):
        return {(glob, form): 0, ("*", form): 1, ("*", name): -1, (glob, name): -1}
    return {("*", name): 0, (glob, name): 1, ("*", form): 2}


def _glob(path: str) -> str:
    """The files of a name; a character that would have to be quoted may be any."""
    return "**/" + "".join(char if char in _PLAIN else "?" for char in basename(path))


def _promising(
    meant: dict[Scope, list[Case]], ranks: dict[Scope, int]
) -> Iterator[tuple[str, Scope]]:
    """The policies that might be proved, in the order in which they are tried."""
    found = []
    for scope, cases in meant.items():
        policies = {policy for _, left in cases for policy, _ in left.hints}
        for policy in policies if ranks[scope] >= 0 else ():
            agreed, apart = _promised(policy, cases)
            if is_proof(agreed, apart):
                # a side says less about a field than what looks at its values
                found.append((policy in SIDES, -agreed, ranks[scope], policy, scope))
    return ((policy, scope) for *_, policy, scope in sorted(found))


def _promised(policy: str, cases: Iterable[Case]) -> tuple[int, int]:
    """How often a policy would do as people did, at best, and how often not."""
    counts = Counter(dict(left.hints).get(policy, "silent") for _, left in cases)
    return counts[True] + counts[None], counts[False]


def notes_on(trials: Sequence[Trial]) -> list[str]:
    """What is to be known before one of them is switched on."""
    if any(trial.rule.policy in SIDES for trial in trials):
        return ["ours is the branch that is merged into; in a rebase, the one that is rebased onto"]
    return []


def attribute_lines(trials: Sequence[Trial]) -> list[str]:
    """All of them for `.gitattributes`, where of two lines for a file the last one stands."""
    rules = [trial.rule for trial in trials]
    globs = sorted({rule.glob for rule in rules})  # `*` first
    return [attribute_line(g, [rule for rule in rules if rule.glob in ("*", g)]) for g in globs]
