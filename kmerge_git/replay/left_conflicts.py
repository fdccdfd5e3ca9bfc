"""List the conflicts that a merge leaves, and compare policies with what people committed.

Each policy is tried on each conflict. This is quick and shows which policies to try in a merge.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from posixpath import basename
from typing import TYPE_CHECKING, Literal

from kmerge_git.errors import KmergeError, TextOnly
from kmerge_git.git.settings import POLICIES, matches
from kmerge_git.kube import fieldpath
from kmerge_git.kube.differing import found_at
from kmerge_git.kube.fieldpath import show
from kmerge_git.merge.bulk import refuse_at_sight
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.merge.pairing import name_of
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.line_damage import new_damage
from kmerge_git.outcome import SIDES, Decision, Outcome
from kmerge_git.text.markers import marker_size_for, resolve
from kmerge_git.text.opaque_files import is_chart_text
from kmerge_git.tree.brief import brief
from kmerge_git.tree.documents import Stream, YamlText
from kmerge_git.tree.nodes import Entry, Node
from kmerge_git.tree.oddities import TEMPLATE
from kmerge_git.tree.plain_values import to_value

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.outcome import Policy


Match = Literal["as people", "otherwise", "unknown", "silent"]


@dataclass(frozen=True, slots=True)
class FieldPolicy:
    """Hold a policy for a field in some files, as in the setting `kmerge.policy`."""

    glob: str
    field: str
    policy: str

    @property
    def rules(self) -> list[tuple[str, str]]:
        """The pairs of a field and a policy; a changelog goes with the version of its chart."""
        beside = [("version", "rebump")] if self.policy == "mine" else []
        return [*beside, (self.field, self.policy)]

    def asked(self, mine: str, path: str) -> Policy | None:
        """Return the function that decides for a file; `mine` is the side applied on top."""
        return policy_for(self.rules, mine, path)

    def means(self, path: str, left: Remaining) -> bool:
        """Return whether the policy applies to this conflict in this file."""
        words = fieldpath.pattern(self.field)
        return bool(left.path) and fieldpath.matches(words, left.path) and matches(self.glob, path)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Compare a policy's result for a conflict with the result that people committed.

    `unknown` means that the policy resolves the conflict, but the value cannot be compared.
    `silent` means that the policy applies to the field, but does not resolve the conflict.
    """

    match: Match
    value: str = ""  # with `people`, given if the two values differ
    people: str = ""
    is_new: bool = False  # the policy's value differs from people's and from that of every side

    @property
    def is_settled(self) -> bool:
        """Return whether the policy resolves the conflict."""
        return self.match != "silent"


def hinted(
    clashes: Sequence[Clash], judge: Judge, people: bytes | None, mine: str, path: str
) -> tuple[Remaining, ...]:
    """Return the conflicts, and add to each the policies that would resolve the conflict."""

    @cache
    def policy(name: str, field: str) -> Policy | None:
        # some policies decide only about a field that a pattern names
        return policy_for([("**", name), (field, name)], mine, path)

    def hints(left: Remaining, inquiry: Inquiry) -> Iterator[tuple[str, bool | None]]:
        for name in POLICIES:
            if name in SIDES:
                continue  # never proposed: who took a side did not decide for the next merge
            ask = policy(name, any_element(left.path))
            ruling = ask(inquiry.path, *inquiry.at) if ask is not None else None
            if ruling is None or not ruling.side:
                continue
            _, ours, theirs = inquiry.at[:3]
            # a single value, as opposed to list elements
            is_one = not isinstance(inquiry.path[-1], int) and {len(ours), len(theirs)} <= {0, 1}
            if ruling.side not in SIDES or not is_one or not (ours or theirs):
                yield name, None
                continue
            entries = inquiry.at[1 + SIDES.index(ruling.side)]
            value = value_of(entries[0].value if entries else None)
            there = judge.value(people, left.resource, left.path)
            if value is not None and there is not None:
                yield name, value.canon == there.canon

    return tuple(
        replace(left, hints=tuple(hints(left, inquiry))) if inquiry and left.path else left
        for left, inquiry in clashes
    )


def judged(
    left: Sequence[Remaining],
    outcome: Outcome,
    three: Three[bytes | None],
    judge: Judge,
    people: bytes | None,
) -> Iterator[Judgement]:
    """Compare a merge with a policy to the committed file; yield a judgement of each conflict."""
    still = {(d.resource, d.path) for d in outcome.decisions if d.side == "conflict"}
    settled = {(d.resource, d.path) for d in outcome.decisions if d.is_settled} - still
    if outcome.method not in ("structure", "lines"):
        settled = set()
    text = outcome.text
    if not outcome.clean:  # resolve the rest to ours: settled places are the same either way
        size = marker_size_for(_text(version or b"") for version in three.each())
        text = resolve(_text(text), "ours", size).encode("utf-8", "surrogateescape")
    is_settled, is_left = _touching(settled), _touching(still)
    for each in left:
        if is_left(each) or not is_settled(each):
            yield Judgement("silent")
            continue
        value = judge.value(text, each.resource, each.compared)
        there = judge.value(people, each.resource, each.compared)
        if value is None or there is None:
            yield Judgement("unknown")
        elif value.canon == there.canon:
            yield Judgement("as people")
        else:
            sides = (judge.value(side, each.resource, each.compared) for side in three.each())
            is_new = value.canon not in {side.canon for side in sides if side is not None}
            yield Judgement("otherwise", value.shown, there.shown, is_new)


def _touching(places: set[tuple[str, str]]) -> Callable[[Remaining], bool]:
    """Return a test whether a conflict is at one of these places, inside of one, or around one.

    With a policy, a merge may decide about a list at once, and without it about its elements.
    """
    wider = {(resource, around) for resource, field in places for around in _around(field)}

    def touches(left: Remaining) -> bool:
        inside = any((left.resource, around) in places for around in _around(left.field))
        return inside or (left.resource, left.field) in wider

    return touches


def _around(field: str) -> Iterator[str]:
    """Yield a field and all fields around it; `[` and `.` end the name of one."""
    yield field
    yield from (field[:at] for at, sign in enumerate(field) if sign in "[.")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Remaining:
    """Hold a conflict that a merge leaves; if the conflict is not about a field, the path is empty.

    Each hint has a policy that would resolve the conflict, and whether its choice agrees with the
    commit, or None if only a merge can show that. Hints are guesses until such a merge.
    """

    resource: str
    field: str
    cause: str
    path: Path = ()
    hints: tuple[tuple[str, bool | None], ...] = ()

    @property
    def place(self) -> str:
        """The resource and the field: `Deployment/web spec.replicas`."""
        return " ".join(part for part in (self.resource, self.field) if part)

    @property
    def compared(self) -> Path:
        """The path to compare: for a list element without a key, the path of the list."""
        return _without_place(self.path)

    def called(self, file: str) -> str:
        """Return the field's name for a report, such as `**.image` or `version of Chart.yaml`."""
        if is_at_top(self.path):
            return f"{any_element(self.path)} of {basename(file)}"
        return anywhere(self.path) or self.field


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Hold what a merge asks a policy: a place, and the entries there in base, ours and theirs."""

    path: Path
    at: tuple[Sequence[Entry], ...]


Clash = tuple[Remaining, Inquiry | None]  # None if the question is not certain


class Listener:
    """Record the questions that a merge asks its policy, and decide nothing.

    So the merge has the same result as without policies. A merge also asks questions on trial, or
    about parts of a wider conflict; such questions belong to no conflict of the result.
    """

    def __init__(self) -> None:
        self._asked: defaultdict[str, dict[tuple[int, ...], Inquiry]] = defaultdict(dict)

    def __call__(self, path: Path, *at: Sequence[Entry]) -> None:
        # several questions can have the same place, so the entries are part of the key
        key = tuple(id(entry) for entries in at[:3] for entry in entries)
        self._asked[show(path)].setdefault(key, Inquiry(path, at))

    def clashes(self, outcome: Outcome) -> list[Clash]:
        """Return the conflicts that are left, field by field, in the order of the file.

        The conflicts of an outcome are hunks, in which fields on adjacent lines are joined.
        """
        if outcome.method != "structure":
            causes = (_by_lines(c.why, outcome.reason) for c in outcome.conflicts)
            return [(Remaining("", "", cause), None) for cause in causes]
        given_up = {c.resource for c in outcome.conflicts if not c.field}
        decided = [d for d in outcome.decisions if d.side == "conflict"]
        decided = [d for d in decided if d.path and d.resource not in given_up]
        known = {(d.resource, d.path) for d in decided}
        rest = [c for c in outcome.conflicts if (c.resource, c.field) not in known]
        return self._with_inquiries(decided) + [
            (Remaining(c.resource, c.field, c.why.partition(":")[0]), None) for c in rest
        ]

    def _with_inquiries(self, decided: Sequence[Decision]) -> list[Clash]:
        counts = Counter(decision.path for decision in decided)
        rows = {path: list(self._asked[path].values()) for path in counts}
        # if there are as many questions as conflicts, pair them in order
        each = {path: iter(row) for path, row in rows.items() if len(row) == counts[path]}
        paths = {path: row[0].path if row else () for path, row in rows.items()}
        return [
            (
                Remaining(d.resource, d.path, d.what, paths[d.path]),
                next(each.get(d.path, iter(())), None),
            )
            for d in decided
        ]


def _by_lines(why: str, reason: str) -> str:
    """Join the cause of a conflict without a place with the reason for the merge by lines."""
    parts = [_cause(part) for part in (why, reason) if part]
    return ": ".join(dict.fromkeys(parts))


def _cause(why: str) -> str:
    """Return the cause without its line number, which differs from file to file."""
    kind, _, cause = why.partition(": ")
    if kind == "a template":
        return f"{kind}: {cause.partition(': ')[0].partition(' at ')[0]}"
    return cause if why.startswith("line ") else why


def any_element(path: Path) -> str:
    """Return the pattern of a field in any list element; for an index, return the list's path."""
    out = ""
    for step in _without_place(path):
        key = show((step,)) if isinstance(step, str) else "[*]"
        out += f".{key}" if out and key[0] != "[" else key
    return out


def anywhere(path: Path) -> str:
    """Return the pattern of a field's last name, such as `**.image`, or '' without a name."""
    path = _without_place(path)
    names = [at for at, step in enumerate(path) if isinstance(step, str)]
    if not names:
        return ""
    end = any_element(path[names[-1] :])
    return f"**{end}" if end[0] == "[" else f"**.{end}"


def is_at_top(path: Path) -> bool:
    """Return whether a field is at the top level of its document."""
    return sum(isinstance(step, str) for step in path) == 1 and isinstance(path[0], str)


def _without_place(path: Path) -> Path:
    return path[:-1] if path and isinstance(path[-1], int) else path


# -- what a merge damaged, and how its result agrees with people's file

Agreement = Literal[
    "same bytes", "same meaning", "another order", "different", "unreadable", "gone"
]


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """Hold the value of a field as a text for comparison and as a text for display."""

    canon: str  # the same text for the same value, and '' without a value
    shown: str = ""


class Judge:
    """Judge the merges of one file; parse every text at most once."""

    def __init__(self, three: Three[bytes | None], path: str, sound: bytes | None = None) -> None:
        self._inputs = [side or b"" for side in three.each()]
        self._sound = sound  # a result that is known to have no damage
        self._path = path
        self._stream = cache(partial(_stream, path))
        self._damage: dict[bytes, tuple[str, ...]] = {}

    def agreement(self, result: bytes, people: bytes | None) -> Agreement:
        """Return whether a merge result agrees with the file that people committed.

        `another order`: only the order of list elements or documents differs. `unreadable`: the
        committed file is not YAML. `gone`: the commit has no such file.
        """
        if people is None:
            return "gone"
        if result == people:
            return "same bytes"
        try:
            theirs = self._values(people)
        except KmergeError:
            return "unreadable"
        try:
            ours = self._values(result)
        except KmergeError:
            return "different"
        if canon(ours) == canon(theirs):
            return "same meaning"
        return "another order" if canon(_sorted(ours)) == canon(_sorted(theirs)) else "different"

    def damage(self, result: bytes) -> tuple[str, ...]:
        """Return the damage that a merge did to valid files, such as repeated keys."""
        if result == self._sound or result in self._inputs:
            return ()
        if result not in self._damage:
            self._damage[result] = self._look(result)
        return self._damage[result]

    def _look(self, result: bytes) -> tuple[str, ...]:
        try:
            stream = self._stream(result)
        except TextOnly:
            return ()
        except KmergeError as error:
            with suppress(KmergeError):
                if all(self._stream(data) for data in self._inputs):
                    return (f"no longer valid YAML: {error.why}",)
            return ()  # an input was broken already, so do not blame the merge
        try:
            inputs = Three(*(YamlText(data, self._path).stream for data in self._inputs))
            return tuple(sorted(new_damage(stream, inputs, self._path)))
        except KmergeError:
            return ()

    def value(self, data: bytes | None, resource: str, path: Path) -> ComparedValue | None:
        """Return the value at a place, or None if the text is unreadable or lacks the resource."""
        try:
            stream = self._stream(data) if data is not None else None
        except KmergeError:
            return None
        documents = stream.documents if stream is not None else ()
        roots = [d.root for d in documents if d.root and name_of(d) == resource]
        return value_of(found_at(roots[0], path), roots[0]) if len(roots) == 1 else None

    def _values(self, data: bytes) -> list[object]:
        return [to_value(root) for root in self._stream(data).roots]


def value_of(node: Node | None, root: Node | None = None) -> ComparedValue | None:
    """Return the value of a node, or None if unreadable; for no node, return an empty value."""
    if node is None:
        return ComparedValue("")
    try:
        return ComparedValue(canon(to_value(node, root)), brief(node))
    except KmergeError:
        return None


def _stream(path: str, data: bytes) -> Stream:
    """Parse all documents of a text, and return the documents."""
    if is_chart_text(path):
        raise TextOnly(TEMPLATE, path=path)
    text = YamlText(data, path)
    refuse_at_sight(text.source)
    _ = text.roots
    return text.stream


def canon(value: object) -> str:
    """Return the same text only for equal values; `1`, `1.0`, `"1"` and `true` all differ."""
    return json.dumps(value, sort_keys=True)


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sorted(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(item) for item in value), key=canon)
    return value
