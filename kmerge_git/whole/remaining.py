"""The conflicts that a merge leaves, one by one, each with what its policy would be asked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from posixpath import basename
from typing import TYPE_CHECKING

from kmerge_git.kube.fieldpath import show
from kmerge_git.outcome import Decision, Outcome
from kmerge_git.tree.nodes import Entry

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path


@dataclass(frozen=True, slots=True)
class Remaining:
    """A conflict that is left; the path is empty where it is about no field.

    The hints are what policies would do, by their names: whether that is what people did, None
    where only a merge can tell. Only a merge with the policy proves it.
    """

    resource: str
    field: str
    cause: str
    path: Path = ()
    hints: tuple[tuple[str, bool | None], ...] = ()

    @property
    def place(self) -> str:
        """`Deployment/web spec.replicas`."""
        return " ".join(part for part in (self.resource, self.field) if part)

    @property
    def compared(self) -> Path:
        """What is compared: of an element that has nothing but its place, the list."""
        return _without_place(self.path)

    def called(self, file: str) -> str:
        """The field for a list of them: `**.image`, `version of Chart.yaml`."""
        if is_at_top(self.path):
            return f"{any_element(self.path)} of {basename(file)}"
        return anywhere(self.path) or self.field


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What a policy is asked: the entries of base, ours and theirs at a place, and what follows."""

    path: Path
    at: tuple[Sequence[Entry], ...]


Clash = tuple[Remaining, Inquiry | None]  # None where more than one question may be it


class Listener:
    """In the place of a policy: hears what a merge asks, and has nothing to say.

    So the merge is the one that is made without policies. What was asked on trial, or about a part
    of a wider conflict, is what no conflict of the result belongs to.
    """

    def __init__(self) -> None:
        self._heard: defaultdict[str, dict[tuple[int, ...], Inquiry]] = defaultdict(dict)

    def __call__(self, path: Path, *at: Sequence[Entry]) -> None:
        # a place may be asked about more than once; the entries say which one it is
        key = tuple(id(entry) for entries in at[:3] for entry in entries)
        self._heard[show(path)].setdefault(key, Inquiry(path, at))

    def clashes(self, outcome: Outcome) -> list[Clash]:
        """What is left, in the order of the file: every field for itself.

        The conflicts of an outcome are hunks: fields in lines that touch each other are one.
        """
        if outcome.method != "structure":
            causes = (_by_lines(c.why, outcome.reason) for c in outcome.conflicts)
            return [(Remaining("", "", cause), None) for cause in causes]
        given_up = {c.resource for c in outcome.conflicts if not c.field}
        decided = [d for d in outcome.decisions if d.side == "conflict"]
        decided = [d for d in decided if d.path and d.resource not in given_up]
        known = {(d.resource, d.path) for d in decided}
        rest = [c for c in outcome.conflicts if (c.resource, c.field) not in known]
        return self._found(decided) + [
            (Remaining(c.resource, c.field, c.why.partition(":")[0]), None) for c in rest
        ]

    def _found(self, decided: Sequence[Decision]) -> list[Clash]:
        counts = Counter(decision.path for decision in decided)
        rows = {path: list(self._heard[path].values()) for path in counts}
        # as many as there are clashes: then the first is the first
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
    """The cause of a conflict that has no place: why the file was merged by lines."""
    parts = [_cause(part) for part in (why, reason) if part]
    return ": ".join(dict.fromkeys(parts))


def _cause(why: str) -> str:
    """The cause alone: where it is differs from file to file."""
    kind, _, cause = why.partition(": ")
    if kind == "a template":
        return f"{kind}: {cause.partition(': ')[0].partition(' at ')[0]}"
    return cause if why.startswith("line ") else why


def any_element(path: Path) -> str:
    """The pattern of a field in whatever elements it is; a place in a list counts as the list."""
    out = ""
    for step in _without_place(path):
        key = show((step,)) if isinstance(step, str) else "[*]"
        out += f".{key}" if out and key[0] != "[" else key
    return out


def anywhere(path: Path) -> str:
    """The pattern of a field by its name alone: `**.image`; nothing where it has none."""
    path = _without_place(path)
    names = [at for at, step in enumerate(path) if isinstance(step, str)]
    if not names:
        return ""
    end = any_element(path[names[-1] :])
    return f"**{end}" if end[0] == "[" else f"**.{end}"


def is_at_top(path: Path) -> bool:
    """Whether a field stands at the top of its document."""
    return sum(isinstance(step, str) for step in path) == 1 and isinstance(path[0], str)


def _without_place(path: Path) -> Path:
    return path[:-1] if path and isinstance(path[-1], int) else path
