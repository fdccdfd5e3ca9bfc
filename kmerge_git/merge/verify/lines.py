"""The referee's laws of lines: comments are counted, lines that both sides kept stay as they are.

Nothing is parsed: block scalars are told by their headers and their indentation.
"""

from __future__ import annotations

from kmerge_git.merge.verify.sequences import bounds
from kmerge_git.merge.verify.spots import Violation
from kmerge_git.text.diff3 import diff
from kmerge_git.tree.nodes import Collection, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.three import Three
    from kmerge_git.merge.verify.spots import Opened
    from kmerge_git.tree.documents import Document, Stream

    Documents = list[list[Document]]


def line_laws(
    at: Three[Stream], result: Stream, rest: Documents, opened: Opened, exempt: set[str]
) -> list[Violation]:
    """The laws of comments and of untouched lines, over the documents that are left to look into.

    What opens documents, and what stands before and behind them, is looked at in the whole file.
    """
    streams = (*at.each(), result)
    around = [_around(stream) for stream in streams]
    if len(set(around)) > 1 or any(rest):
        texts = ["".join(d.content for d in documents) for documents in rest]
        exempt = exempt | {line.strip() for line in opened.text.split("\n")}
        found = _comments([a + text for a, text in zip(around, texts, strict=True)], exempt)
        laws = [("comment", line, what) for line, what in found]
        laws += [("untouched", line, "is not as it was") for line in _untouched(texts, exempt)]
        return [Violation(law, *_place(line, rest), f"`{line}` {what}") for law, line, what in laws]
    return []


def _around(stream: Stream) -> str:
    openings = [d.opening for d in stream.documents if "#" in d.opening]
    return "".join([stream.prologue, *openings, stream.tail])


def _comments(texts: list[str], exempt: set[str]) -> list[tuple[str, str]]:
    """The comments that stand too often or not often enough, and how often."""
    counts: dict[str, list[int]] = {}
    for side, text in enumerate(texts):
        for line in comments(text):
            counts.setdefault(line, [0, 0, 0, 0])[side] += 1
    found = []
    for line, (base, ours, theirs, made) in counts.items():
        low, high = bounds(base, ours, theirs)
        if not low <= made <= high and line not in exempt:
            wanted = str(low) if low == high else f"{low} to {high}"
            found.append((line, f"would stand there {made} times, not {wanted}"))
    return found


def comments(text: str) -> list[str]:
    """The lines that are comments, without their indentation."""
    if "#" not in text:
        return []
    found = []
    floor = -1  # the column of the entry that a block scalar belongs to
    for line in text.split("\n"):
        bare = line.strip(" \t\r")
        if not bare:
            continue
        column = len(line) - len(line.lstrip(" "))
        if floor >= 0 and column > floor:
            continue
        floor = -1
        if bare[0] == "#":
            found.append(bare)
        elif _opens_text(bare):
            floor = column + _dashes(bare)
    return found


def _opens_text(bare: str) -> bool:
    """Whether a line ends in the header of a block scalar."""
    value = bare.split(" #")[0].rstrip()
    mark = value.rstrip("+-0123456789")
    return mark[-1:] in ("|", ">") and (len(mark) == 1 or mark[-2] in " \t")


def _dashes(bare: str) -> int:
    """How many columns the dashes in front of a key take; the last one counts if no key follows."""
    taken = 0
    while bare.startswith("- "):
        rest = bare[1:].lstrip(" ")
        if rest[0] in "|>":
            break
        taken += len(bare) - len(rest)
        bare = rest
    return taken


def _untouched(texts: list[str], exempt: set[str]) -> list[str]:
    """Lines that both sides kept, and that the result has less often or at another column."""
    lines = [text.split("\n") for text in texts]
    bare = [[line.strip(" \t\r") for line in found] for found in lines]
    base, ours, theirs, _ = lines
    mine, yours = (_kept(bare[0], bare[side]) for side in (1, 2))
    needed: dict[tuple[int, str], int] = {}
    for n, line in enumerate(bare[0]):
        if not line or line in exempt or n not in mine or n not in yours:
            continue
        column, left, right = _column(base[n]), _column(ours[mine[n]]), _column(theirs[yours[n]])
        wanted = left if right == column else right
        if wanted in (left, right):
            needed[wanted, line] = needed.get((wanted, line), 0) + 1
    there: dict[tuple[int, str], int] = {}
    for whole, line in zip(lines[3], bare[3], strict=True):
        if line:
            place = _column(whole), line
            there[place] = there.get(place, 0) + 1
    short = {key: count for key, count in needed.items() if there.get(key, 0) < count}
    counts = [_counted(found) for found in bare] if short else []
    found = []
    for key, count in short.items():
        before, left, right, _ = (version.get(key[1], 0) for version in counts)
        # what a diff keeps of equal lines is a guess: both sides may have deleted different ones
        least = before - max(before - left, 0) - max(before - right, 0)
        if there.get(key, 0) < min(count, least):
            found.append(key[1])
    return found


def _kept(base: list[str], side: list[str]) -> dict[int, int]:
    """Where the lines of base that a side kept stand in it."""
    return {i: j for i0, i1, j0, _ in diff(base, side) for i, j in zip(range(i0, i1), range(j0, j0 + i1 - i0))}


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _counted(lines: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line in lines:
        counts[line] = counts.get(line, 0) + 1
    return counts


def _place(line: str, rest: Documents) -> tuple[int, Path]:
    return -1, ()
