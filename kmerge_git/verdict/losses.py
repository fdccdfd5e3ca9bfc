"""Judge the result of a merge: what became of each change, and was anybody asked about it?

The result may be that of a person, of git or of kmerge; the judge does not know whose it is. It
compares only values: comments, the order of fields and their spelling do not count.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import zip_longest

from kmerge_git.errors import KmergeError
from kmerge_git.kube import fieldpath
from kmerge_git.merge.three import Three
from kmerge_git.outcome import SIDES, Options
from kmerge_git.pipeline import rules_for
from kmerge_git.template.template_parser import Template
from kmerge_git.template.template_readings import ActionWords, WantedReadings, rendered
from kmerge_git.text.markers import SIZE
from kmerge_git.tree.documents import YamlText
from kmerge_git.tree.nodes import Collection, Mapping, Node
from kmerge_git.tree.same import canon_of, same_text
from kmerge_git.verdict.fields import COMBINED, DECIDED, KEPT, LOST
from kmerge_git.verdict.files import FileComparison, ends_of, nowhere
from kmerge_git.verdict.text_lines import lost_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from kmerge_git.kube.fieldpath import Path, Step
    from kmerge_git.tree.documents import Document, Stream
    from kmerge_git.tree.same import Known
    from kmerge_git.verdict.fields import Difference

    Elsewhere = Callable[[Document], Node | None]
    Merged = tuple[YamlText, bool]  # the text of a merge, and whether it is clean
    Leaf = tuple[str, Hashable]


HIDDEN = "(hidden)"
_SECRET = re.compile(rb"""["']?kind["']?\s*:\s*["']?Secret\b""")
_OPEN = ("apiVersion", "immutable", "kind", "type")
# the fields below `metadata` and `annotations` that hold a copy of the whole object
_WHOLE = ("", "annotations")
_COPY = "kubectl.kubernetes.io/last-applied-configuration"
# lines of a template that are alike everywhere, and comments
_COMMON = re.compile(r"\{\{-?\s*(end|else|/\*)")


@dataclass(slots=True)
class Judged:
    """Hold what became of one place of a file; the values are in one line each."""

    resource: str
    path: Path
    kind: str
    what: str
    verdict: str
    side: str  # whose change it is: `ours`, `theirs` or `both`
    taken: str  # whose value the result has: `ours`, `theirs` or `both`
    values: Three[str]
    result: str
    at: int  # an offset in the result: the place, or the nearest one around it

    @property
    def is_gone(self) -> bool:
        """Return whether both sides have this, and the result has nothing of it."""
        return not self.result and bool(self.path and self.values.ours and self.values.theirs)

    @property
    def place(self) -> str:
        """Return the resource and the field, such as `Deployment/web spec.replicas`."""
        return " ".join(part for part in (self.resource, fieldpath.show(self.path)) if part)


def judged(
    versions: Three[YamlText],
    result: YamlText,
    *,
    is_template: bool = False,
    elsewhere: Elsewhere = nowhere,
    lost_of: str = "",
) -> list[Judged]:
    """Return what became of each place that a side changed, with the values of Secrets hidden.

    `lost_of` is that of `FieldWalk`. Raise KmergeError if the files cannot be read.
    """
    rows = _Judge(versions, is_template, elsewhere, lost_of).of((result, True))
    return _without_secrets(rows, (text.data for text in (*versions.each(), result)))


def without_asking(
    rows: Sequence[Judged],
    versions: Three[YamlText],
    merged: Merged,
    *,
    is_template: bool = False,
) -> list[Judged]:
    """Return the lost changes that a merge of the versions has, and not in a conflict.

    Nobody had to decide these changes, so nobody decided against them.
    """
    judge = _Judge(versions, is_template, nowhere, "both")
    try:
        there = [row for row in judge.of(merged) if row.verdict in (KEPT, COMBINED)]
    except KmergeError:
        return []
    return [row for row in rows if any(_covers(one, row) for one in there)]


def _covers(one: Judged, lost: Judged) -> bool:
    """Return whether one place is at, around or inside of another one, and of the same side."""
    short = min(len(one.path), len(lost.path))
    is_in_line = one.resource == lost.resource and one.path[:short] == lost.path[:short]
    return is_in_line and (one.side == lost.side or "both" in (one.side, lost.side))


class _Judge:
    """Judge results of the merge of the same three versions."""

    __slots__ = ("_elsewhere", "_is_template", "_lost_of", "_path", "_versions")

    def __init__(
        self, versions: Three[YamlText], is_template: bool, elsewhere: Elsewhere, lost_of: str
    ) -> None:
        self._versions = versions
        self._lost_of = lost_of
        self._path = versions.ours.path
        self._is_template = is_template
        self._elsewhere = elsewhere

    def of(self, merged: Merged) -> Iterator[Judged]:
        """Yield what became of each place, without the places that are unknown."""
        if self._is_template:
            yield from self._of_template(*merged)
            return
        yield from self._of_texts(self._versions, *merged)

    def _of_texts(
        self, texts: Three[YamlText], result: YamlText, is_clean: bool
    ) -> Iterator[Judged]:
        base = texts.base.stream
        streams = Three(base, texts.ours.stream_like(base), texts.theirs.stream_like(base))
        ends = ends_of(result, texts, SIZE, is_clean=is_clean)
        if ends is None:
            return
        rules = rules_for(Options(self._path))
        comparison = FileComparison(
            rules, self._path, is_thorough=True, elsewhere=self._elsewhere, lost_of=self._lost_of
        )
        rows = [row for row in comparison.differences(streams, ends) if row.verdict]
        for row in _without_moved(rows, streams, ends[0]):
            at = row.node.start if row.node is not None and is_clean else 0
            yield Judged(
                row.resource, row.path, row.kind, row.what, row.verdict, row.of, row.side,
                row.values, row.result, at,
            )  # fmt: skip

    def _of_template(self, result: YamlText, is_clean: bool) -> Iterator[Judged]:
        """Yield what became of the fields of a template, where all of its conditions are true."""
        if not is_clean:
            return
        texts = self._versions.map(lambda version: version.source.text)
        made = Template(result.source.text)
        yield from _lost_actions(texts, made.text)
        trees = [*(Template(text).parts for text in texts.each()), made.parts]
        words, wanted = ActionWords(scopes=False), WantedReadings(*trees)
        wanted.names = wanted.names[:1]
        *readings, last = ({r.name: r for r in rendered(tree, words, wanted)} for tree in trees)
        for name, reading in last.items():
            there = [one[name].text.encode() if name in one else b"" for one in readings]
            versions = Three(*map(YamlText, there))
            rows = self._of_texts(versions, YamlText(reading.text.encode(), self._path), True)
            for row in rows:
                if not (row.resource or row.path):  # definitions and outputs are no fields
                    continue
                line = reading.line_at(row.at)
                yield replace(
                    row,
                    resource=words.shown(row.resource),
                    path=tuple(_shown(step, words) for step in row.path),
                    what=words.shown(row.what),
                    values=row.values.map(words.shown),
                    result=words.shown(row.result),
                    at=_start(made.text, line),
                )


def _shown(step: Step, words: ActionWords) -> Step:
    """Return a step of a path with the actions of a template as they are written."""
    if isinstance(step, tuple):
        return tuple(
            words.shown(part) if isinstance(part, str) else (part[0], words.shown(part[1]))
            for part in step
        )
    return words.shown(step) if isinstance(step, str) else step


def _lost_actions(texts: Three[str], made: str) -> Iterator[Judged]:
    """Yield the lost changes to lines of a template that begin with an action."""
    for side, line in lost_lines(texts.map(_action_lines), _action_lines(made)):
        values = Three("", *(line if side == name else "" for name in SIDES))
        yield Judged("", (), "line", "changed", LOST, side, "", values, "", 0)


def _action_lines(text: str) -> list[str]:
    lines = (line.strip() for line in text.split("\n"))
    return [line for line in lines if line.startswith("{{") and not _COMMON.match(line)]


def _start(text: str, line: int) -> int:
    """Return the offset of a line, counted from 0."""
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
    return at


def _without_moved(
    rows: list[Difference], streams: Three[Stream], result: Stream
) -> Iterator[Difference]:
    """Yield the places; omit lost values that the result has under the same name elsewhere."""
    lost = [row for row in rows if row.verdict == LOST and row.lost is not None]
    if not lost:
        yield from rows
        return
    known: Known = {}
    mine, yours = streams.ours, streams.theirs
    if result is yours:
        mine, yours = yours, mine
    # the values that the changes of both sides come to, and that are not as often in the result
    lacking = _gained(result, mine, known)
    lacking.update(_gained(streams.base, yours, known))
    for row in rows:
        leaves = _of(row.path, row.lost, known) if row.verdict == LOST else None
        if leaves and all(lacking[leaf] <= 0 for leaf in leaves):
            continue
        yield row


def _gained(before: Stream, after: Stream, known: Known) -> Counter[Leaf]:
    """Return how many more of each value a version has than another one; skip what is the same."""
    counts: Counter[Leaf] = Counter()
    todo: list[tuple[str, Node | None, Node | None]] = []
    for mine, yours in zip_longest(before.documents, after.documents):
        if mine is None or yours is None or mine.content != yours.content:
            todo.append(("", mine.root if mine else None, yours.root if yours else None))
    while todo:
        name, old, new = todo.pop()
        if isinstance(old, Collection) and isinstance(new, Collection) and type(old) is type(new):
            if same_text(old, new):
                continue
            if old.entries and new.entries:
                inner = _named(name, old), _named(name, new)
                for (one, there), (other, here) in zip_longest(*inner, fillvalue=("", None)):
                    todo.append((other, there if one == other else None, here))
                    if one != other:
                        todo.append((one, there, None))
                continue
        counts.update(_of((name,), new, known))
        counts.subtract(_of((name,), old, known))
    return counts


def _of(path: Path, node: Node | None, known: Known) -> list[Leaf]:
    """Return the values at and below a place, each with the last name that leads to it."""
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    return [*_below(name, node, known)] if node is not None else []


def _below(name: str, node: Node, known: Known) -> Iterator[Leaf]:
    todo = [(name, node)]
    while todo:
        name, node = todo.pop()
        if isinstance(node, Collection) and node.entries:
            todo += _named(name, node)
        else:
            yield name, canon_of(node, known)


def _named(name: str, node: Collection) -> list[tuple[str, Node]]:
    """Return the values in a collection, each with the last name that leads to it."""
    is_map = isinstance(node, Mapping)
    return [(entry.name if is_map else name, entry.value) for entry in node.entries]


def is_dropped(rows: Sequence[Judged], side: str) -> bool:
    """Return whether a side changed something, and the result has none of its changes."""
    own = [row for row in rows if row.side in (side, "both")]
    has_any = any(
        row.verdict == COMBINED
        or (row.verdict == KEPT and row.side == side)
        or (row.verdict == DECIDED and row.taken == side)
        for row in own
    )
    return not has_any and any(row.verdict == LOST and row.side == side for row in own)


# -- values of Secrets ----------------------------------------------------------------------------


def _without_secrets(rows: Iterable[Judged], texts: Iterable[bytes]) -> list[Judged]:
    """Return the places with the values of Secrets hidden; logs are read by many people.

    The texts are all versions of the file. In a List, and outside of resources, each place may be
    that of a Secret if the file has one.
    """
    if not any(_SECRET.search(text) for text in texts):
        return [*rows]
    return [_hidden(row) if _may_be_secret(row.resource) else row for row in rows]


def _may_be_secret(resource: str) -> bool:
    kind = resource.partition("/")[0]
    return kind in ("", "Secret") or kind.endswith("List")


def _is_open(path: Path) -> bool:
    """Return whether a field of a Secret, perhaps in a List, is no secret."""
    names = [step for step in path if isinstance(step, str)]
    names = names[1:] if names[:1] == ["items"] else names
    if names[:1] != ["metadata"]:
        return names[:1] != [] and names[0] in _OPEN
    below = (*names[1:], "", "")
    return below[0] not in _WHOLE or below[1] not in ("", _COPY)


def _hidden(row: Judged) -> Judged:
    if _is_open(row.path):
        return row
    values = row.values.map(lambda value: HIDDEN if value else "")
    return replace(row, values=values, result=HIDDEN if row.result else "")
