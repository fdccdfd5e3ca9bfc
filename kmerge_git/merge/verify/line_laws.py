"""Check laws for lines: the number of comments, and the lines that both sides kept."""

from __future__ import annotations

from itertools import pairwise

from kmerge_git.kube.identity import identity
from kmerge_git.kube.outline import outlined
from kmerge_git.merge.three import Three, counted, grouped, shared_start
from kmerge_git.merge.verify.edits_of_both import may_tear_comments, repeated
from kmerge_git.merge.verify.sites import (
    RESULT,
    CollectionPaths,
    Violation,
    bounds,
    by_side,
    wrong_count,
)
from kmerge_git.merge.verify.torn_comments import comments, torn
from kmerge_git.text.diff3 import kept_indexes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.verify.sites import Documents
    from kmerge_git.tree.documents import Document, Stream


ANY = -1  # any column
UNLIKE = "would be changed, although both sides kept it"
TWICE = "was added by both sides and would appear twice"
STRAYED = "would end up in another document"


def line_laws(
    at: Three[Stream], result: Stream, rest: Documents, exempt: set[str], *, any_column: bool
) -> list[Violation]:
    """Check the comments and the untouched lines of the documents that must be compared.

    The comments before the first document, between documents and after the last document are
    checked for the whole file. If `any_column` is true, a kept line may have any indentation,
    because a person will look at the result anyway.
    """
    around = [_around(stream) for stream in (*at.each(), result)]
    if len(set(around)) == 1 and not any(rest):
        return []
    texts = _texts(rest)
    lines = list(map(_bare, texts))
    # A line that both sides added may equal a line that one side deleted.
    may_hide = bool({*lines[1]}.intersection(lines[2]).difference(lines[0]))
    whole = around
    if any("#" in text for text in texts):  # block scalars are recognized by their headers
        whole = [a + _whole(documents) for a, documents in zip(around, rest, strict=True)]
    remarks = list(map(comments, whole))
    faults = [("comment", *told) for told in _comments(remarks, exempt, may_hide=may_hide)]
    untouched = _untouched(texts, lines, any_column=any_column)
    if untouched and may_hide:
        before = counted(_bare(_whole(rest[0])))
        untouched = [line for line in untouched if before.get(line) == 1]
    faults += [("untouched", line, UNLIKE) for line in untouched]
    faults += [("twice", line, TWICE) for line in _doubled(rest, remarks, exempt)]
    faults = faults or torn_comments(rest)  # a comment that is lost or comes back is apart, too
    faults = [fault for fault in faults if fault[1] not in exempt]
    return _placed(faults, rest, result.source.path or at.ours.source.path)


def _doubled(rest: Documents, remarks: list[list[str]], exempt: set[str]) -> list[str]:
    """Return a comment that the result has twice in a block, though each side added it once."""
    twice = [line for line in repeated(remarks) if line not in exempt] if any(remarks) else []
    made = _bare(_whole(rest[RESULT])) if twice else []
    return [line for line in twice if _in_one_block(line, made)][:1]


def _in_one_block(comment: str, lines: list[str]) -> bool:
    """Return whether a comment is there twice in a run of comments and blank lines."""
    places = [n for n, line in enumerate(lines) if line == comment]
    return any(
        all(line[:1] in ("", "#") for line in lines[first:last]) for first, last in pairwise(places)
    )


def torn_comments(rest: Documents) -> list[tuple[str, str, str]]:
    """Return the comment lines that the sides or the result tore out of their comments.

    Only documents that have one name in all versions are compared.
    """
    tables = [grouped((outlined(d), d.content) for d in documents) for documents in rest]
    faults = []
    for name in tables[0]:
        four = [table.get(name, []) for table in tables]
        if len(set(map(len, four))) == 1:
            edited = [
                texts for texts in zip(*four, strict=True) if may_tear_comments(*texts[:RESULT])
            ]
            faults += [("comment", *told) for texts in edited for told in torn(*texts)]
    return faults or [("comment", line, STRAYED) for line in sorted(_strayed(rest))]


def _strayed(rest: Documents) -> Iterator[str]:
    """Yield the comments that one side alone wrote, if the result has them in other documents."""
    base, ours, theirs, made = (
        grouped((line, outlined(d)) for d in documents for line in comments(d.content))
        for documents in rest
    )
    names = {*map(outlined, rest[RESULT])} - {None}
    for side, other in ((ours, theirs), (theirs, ours)):
        for line in side.keys() & made.keys() - base.keys() - other.keys():
            there, found = set(side[line]), set(made[line])
            if (names & there) - found and found - there:
                yield line


def _texts(rest: Documents) -> list[str]:
    """Return the texts of the documents, without the first and last lines that all share."""
    if len({len(documents) for documents in rest}) > 1:
        return list(map(_whole, rest))
    texts = []
    for four in zip(*rest, strict=True):
        lines = [document.content.split("\n") for document in four]
        head = shared_start(lines)
        tail = -1 - shared_start([version[head:-1][::-1] for version in lines])
        texts.append(["\n".join(found[head:tail]) + "\n" for found in lines])
    return ["".join(parts) for parts in zip(*texts, strict=True)] or [""] * 4


def _whole(documents: list[Document]) -> str:
    return "".join(document.content for document in documents)


def _bare(text: str) -> list[str]:
    return [line.strip(" \t\r") for line in text.split("\n")]


def _around(stream: Stream) -> str:
    openings = [d.opening for d in stream.documents if "#" in d.opening]
    return "".join([stream.prologue, *openings, stream.tail])


def _comments(
    remarks: list[list[str]], exempt: set[str], *, may_hide: bool
) -> list[tuple[str, str]]:
    """Return the comments with a wrong count, each with a message."""
    miscounted = []
    for line, (base, ours, theirs, made) in by_side(remarks).items():
        low, high = bounds(base, ours, theirs)
        if may_hide and max(base, ours, theirs) > 1:
            low = 0
        if not low <= made <= high and line not in exempt:
            miscounted.append((line, wrong_count(made, low, high)))
    return miscounted


def _untouched(texts: list[str], bare: list[list[str]], *, any_column: bool) -> list[str]:
    """Return the lines that both sides kept and the result lacks or indents wrongly."""
    columns = [[len(line) - len(line.lstrip(" ")) for line in t.split("\n")] for t in texts]
    needed = _needed(columns, bare, any_column=any_column)
    rows = [
        *zip(columns[RESULT], bare[RESULT], strict=True),
        *((ANY, line) for line in bare[RESULT]),
    ]
    there = counted(rows)
    short = [key for key, count in needed.items() if there.get(key, 0) < count]
    if not short:
        return []
    lost = []
    counts, made_of = [counted(version) for version in bare[:RESULT]], set(bare[RESULT])
    for column, line in short:
        base, ours, theirs = (count.get(line, 0) for count in counts)
        # A diff guesses which of equal lines were kept: the sides may have deleted different lines.
        least = base - max(base - ours, 0) - max(base - theirs, 0)
        made = there.get((column, line), 0)
        if made < min(needed[column, line], least) and not _is_emptied(line, made_of):
            lost.append(line)
    return lost


def _needed(
    columns: list[list[int]], bare: list[list[str]], *, any_column: bool
) -> dict[tuple[int, str], int]:
    """Return how often the result must have each line that both sides kept, with its column."""
    mine, yours = (kept_indexes(bare[0], bare[side]) for side in (1, 2))
    kept = {
        n: (columns[0][n], columns[1][mine[n]], columns[2][yours[n]])
        for n, line in enumerate(bare[0])
        if line and n in mine and n in yours
    }
    both_move = all(any(place[0] != place[side] for place in kept.values()) for side in (1, 2))
    return counted(
        (ANY if any_column else _column(*place, may_stay=both_move), bare[0][n])
        for n, place in kept.items()
    )


def _is_emptied(line: str, made: set[str]) -> bool:
    """Return whether a key has a block in base, and empty brackets in the result."""
    return line[-1] == ":" and any(line + brackets in made for brackets in (" []", " {}"))


def _column(base: int, ours: int, theirs: int, *, may_stay: bool) -> int:
    """Return the column that a line must have, or `ANY` if both sides changed the indentation."""
    if theirs in (base, ours):
        return ours
    return theirs if ours == base and not may_stay else ANY


def _placed(found: list[tuple[str, str, str]], rest: Documents, path: str) -> list[Violation]:
    if not found:
        return []
    places = _Places(rest, path)
    return [Violation(law, *places.of(line), f"`{line}` {what}") for law, line, what in found]


class _Places:
    """Look up the places of lines in the versions of a file."""

    __slots__ = ("_known", "_lines", "_made", "_names", "_path")

    def __init__(self, rest: Documents, path: str) -> None:
        self._path = path
        self._made = rest[RESULT]
        # the first document of each name
        self._names = {identity(made.root): made for made in reversed(self._made)}
        self._known: dict[int, CollectionPaths] = {}  # by the id() of the document
        self._lines = [grouped(_placed_lines(documents)) for documents in rest]

    def of(self, line: str) -> tuple[int, Path]:
        """Return the number of the document, and the path of the collection, for a line.

        If the result lacks the line, the place is taken from a version that has the line.
        """
        places = [lines.get(line, []) for lines in self._lines]
        side = max((RESULT, 0, 1, 2), key=lambda side: len(places[side]))
        if not places[side]:
            return -1, ()
        document, offset = places[side][-1]
        counterpart = document if side == RESULT else self._counterpart(document)
        if counterpart is None:
            return -1, ()
        if id(document) not in self._known:
            self._known[id(document)] = CollectionPaths(document.root, self._path)
        return counterpart.number, self._known[id(document)].around(offset)

    def _counterpart(self, document: Document) -> Document | None:
        """Return the document of the result that has the same name as this document."""
        if len(self._made) == 1:
            return self._made[0]
        known = identity(document.root)
        return self._names.get(known) if known is not None else None


def _placed_lines(documents: list[Document]) -> Iterator[tuple[str, tuple[Document, int]]]:
    """Yield each line with its document and its offset."""
    for document in documents:
        offset = document.body
        for line in document.content.split("\n"):
            yield line.strip(" \t\r"), (document, offset)
            offset += len(line) + 1
