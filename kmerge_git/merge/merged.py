"""Hold a merged file: its documents, its text, its bytes, and its open conflicts.

Conflicts get their markers when the bytes are written. The line ends, the byte order mark and the
last newline are those of our version, unless only their version changed them.
"""

from __future__ import annotations

from kmerge_git.merge.three import Three, standing
from kmerge_git.outcome import Conflict, Outcome
from kmerge_git.text.pieces import Hunk, side_text, without_placeholders
from kmerge_git.text.source import Source, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kmerge_git.merge.elision import Elided
    from kmerge_git.merge.plan import Plan
    from kmerge_git.outcome import Options
    from kmerge_git.text.pieces import Pieces
    from kmerge_git.tree.documents import Document


if TYPE_CHECKING:
    Trio = Three[Document | None]


NO_DOCUMENT: Trio = Three(None, None, None)


class MergedDocument:
    """Hold a document of the result, with its decisions and its text."""

    __slots__ = ("at", "elided", "laid", "name", "opening", "pieces", "plan")

    def __init__(
        self,
        at: Trio,
        name: str,
        plan: Plan | None,
        pieces: Pieces,
        elided: Elided | None = None,
    ) -> None:
        self.at = at
        self.name = name  # `Deployment/web`, or empty
        self.plan = plan  # None if a side is taken whole, or if the whole document is a conflict
        self.pieces = pieces
        self.opening = ""
        self.elided = elided  # runs of lines that are not in `pieces`
        self.laid = at  # the versions as they were merged: laid out anew, or without these runs

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the positions of the document in the three files, which identify the document."""
        return numbers_of(self.at)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing of the document is in the text."""
        return not self.opening and self.pieces in ([], [""])

    @property
    def whole_hunk(self) -> Hunk | None:
        """Return the conflict about the whole document, or None."""
        piece = self.pieces[0] if self.plan is None and len(self.pieces) == 1 else None
        return piece if isinstance(piece, Hunk) else None

    def whole(self, text: str) -> str:
        """Return a text of the document with the runs of lines that are not in `pieces`."""
        return self.elided.restored(text) if self.elided else text


class MergedFile:
    """Hold the result of a merge by resource, before its conflicts are written."""

    __slots__ = ("documents", "prologue", "tail")

    def __init__(self, prologue: Pieces, documents: list[MergedDocument], tail: str) -> None:
        self.prologue = prologue
        self.documents = documents
        self.tail = tail

    @property
    def is_one_conflict(self) -> bool:
        """Return whether the whole file is in conflict, so that the merge decided nothing."""
        if self.prologue or self.tail or len(self.documents) > 1:
            return False
        return all(
            not document.opening and all(isinstance(p, Hunk) for p in document.pieces)
            for document in self.documents
        )

    def hunks(self) -> list[tuple[str, Hunk]]:
        """Return the conflicts, each with the name of its resource."""
        hunks = [("", p) for p in self.prologue if isinstance(p, Hunk)]
        for document in self.documents:
            hunks += [(document.name, p) for p in document.pieces if isinstance(p, Hunk)]
        return hunks

    def text(self, spelled: Callable[[MergedDocument], str]) -> str:
        """Return the whole text; the function `spelled` makes text of a document's pieces."""
        parts = [spelled(MergedDocument(NO_DOCUMENT, "", None, self.prologue))]
        for document in self.documents:
            parts += [document.opening, document.whole(spelled(document))]
        return "".join(parts) + self.tail

    def decided(self, side: str) -> str:
        """Return the whole text with every conflict decided for one side."""
        return self.text(lambda document: side_text(document.pieces, side))


def numbers_of(at: Trio) -> tuple[int, ...]:
    """Return the position of a document in each of three files, or -1 where it is missing."""
    return tuple(document.number if document is not None else -1 for document in at.each())


def texts_of(at: Trio) -> Three[str]:
    """Return each version of a document without its opening line, or '' if it is missing."""
    return at.map(lambda document: document.content if document is not None else "")


def opening_in(text: str, document: Document | None) -> str:
    """Return how a document begins in the text of a conflict about the whole document."""
    return text[: max(text.rfind(document.content), 0)] if document is not None else ""


def conflict(at: Trio, why: str) -> Pieces:
    """Return a document as one conflict."""
    return [Hunk(*texts_of(at).each(), "", why, at)]


def whole_conflict(
    texts: Three[str], why: str, name: str = "", about: Trio | None = None
) -> MergedFile:
    """Return a file that is one conflict; `about` has the documents that explain the cause."""
    hunk = Hunk(*texts.each(), "", why, about)
    return MergedFile([], [MergedDocument(NO_DOCUMENT, name, None, [hunk])], "")


if TYPE_CHECKING:
    Answers = Mapping[int, str]  # number of a conflict -> the lines that replace it


def conflicted(merged: MergedFile, sources: Three[Source], options: Options) -> Outcome:
    """Return the outcome of a merged file with markers around its conflicts."""
    from kmerge_git.text.markers import marker_size_for

    size = marker_size_for((source.text for source in sources.each()), options.marker_size)

    def to_file(text: str) -> bytes:
        return to_bytes(put_mark_into_conflict(text, sources, size), sources)

    opened = OpenMerge(merged, options, size, to_file)
    outcome = Outcome(lambda: opened.text({}), False, "structure", conflicts=opened.conflicts)
    outcome.open_merge = opened
    return outcome


class OpenMerge:
    """Hold a merged file with conflicts, some of which may be answered already."""

    __slots__ = ("_encode", "_options", "_size", "conflicts", "hunks", "is_by_lines", "merged")

    def __init__(
        self,
        merged: MergedFile,
        options: Options,
        size: int,
        encode: Callable[[str], bytes],
        *,
        is_by_lines: bool = False,
    ) -> None:
        hunks = merged.hunks()
        self.merged = merged
        self.is_by_lines = is_by_lines  # if so, git wrote the labels
        self.hunks = [hunk for _, hunk in hunks]
        self.conflicts = tuple(conflict_of(*one) for one in hunks)
        self._options = options
        self._size = size  # of the markers
        self._encode = encode

    @property
    def marker_size(self) -> int:
        """Return the size of the markers that the caller wants, which may be longer in the file."""
        return self._options.marker_size

    def text(self, answers: Answers) -> bytes:
        """Return the file with these answers, and with markers around the other conflicts."""
        given = {id(self.hunks[number]): text for number, text in answers.items()}
        return self.spelled(answered(self.merged, given))

    def spelled(self, merged: MergedFile) -> bytes:
        """Return the bytes of a merged file in which some conflicts have been answered."""
        causes = {id(hunk): c for hunk, c in zip(self.hunks, self.conflicts, strict=True)}
        return self._encode(merged.text(lambda document: self._marked(document, causes)))

    def decided(self, side: str) -> bytes:
        """Return the file with every conflict answered by one side."""
        return self.text({n: hunk.side(side) for n, hunk in enumerate(self.hunks)})

    def _marked(self, of: MergedDocument, causes: dict[int, Conflict]) -> str:
        from kmerge_git.merge.write.labels import label
        from kmerge_git.merge.write.marked import marked, spell

        # a label may cover several hunks, and a hunk that is cut has several labels
        at, uncut = (of.elided.at, of.elided.texts) if of.elided is not None else (of.at, ())
        labels, style = self._options.labels, self._options.style

        def cause(hunks: list[Hunk]) -> str:
            return "" if self.is_by_lines else label(of.name, [causes[id(hunk)] for hunk in hunks])

        return spell(
            marked(of.pieces, texts_of(at), style, uncut),
            cause,
            labels,
            self._size,
            style,
        )


def answered(merged: MergedFile, answers: dict[int, str]) -> MergedFile:
    """Return the file with answers in the place of some hunks; `answers` is keyed by id(hunk)."""

    def pieces(of: Pieces) -> Pieces:
        return [answers.get(id(p), p) if isinstance(p, Hunk) else p for p in of]

    documents = []
    for document in merged.documents:
        at, name, plan = document.at, document.name, document.plan
        copy = MergedDocument(at, name, plan, pieces(document.pieces), document.elided)
        copy.opening = document.opening
        documents.append(copy)
    return MergedFile(pieces(merged.prologue), documents, merged.tail)


def conflict_of(resource: str, hunk: Hunk) -> Conflict:
    """Return the description of a conflict that is shown to people."""
    from kmerge_git.merge.write.labels import told, where

    return Conflict(
        resource,
        hunk.place,
        hunk.why,
        without_placeholders(hunk.base),
        hunk.ours,
        hunk.theirs,
        run=where(hunk),
        told=told(hunk),
    )


BOM = "\ufeff"


def to_bytes(text: str, sources: Three[Source]) -> bytes:
    """Return the result as bytes, with our byte order mark and our line ends.

    If only theirs changed the byte order mark or the line ends, theirs are used. The result ends
    with a newline if either side does, because a lost newline is no lost work.
    """
    base, ours, theirs = sources.each()
    if not base.data:
        base = theirs
    at = Three(base, ours, theirs)
    eol = _line_ends(at)
    if eol == "\r\n" or (eol and not base.eol):
        text = text.replace("\r\n", "\n")  # some lines come from a version with mixed line ends
    has_bom = standing(at.map(lambda source: source.bom))
    final_newline = ours.final_newline or theirs.final_newline
    if text.endswith("\n") and text[text.rfind("\n", 0, -1) + 1 :].startswith(">>>>>>>"):
        final_newline = True  # a marker is a whole line
    return encode(text, has_bom and not text.startswith("<<<<<<<"), eol, final_newline)


def _line_ends(at: Three[Source]) -> str:
    """Return the line ends of the whole file, or '' if the file keeps mixed line ends.

    A side that converts all line ends changes the whole file. A side that mixes line ends changes
    only single lines.
    """
    ends = at.map(lambda source: source.eol)
    return ends.theirs if ends.theirs and ends.ours == ends.base else ends.ours


def put_mark_into_conflict(text: str, sources: Three[Source], size: int) -> str:
    """If the first line is in a conflict, put the byte order mark into each side.

    A byte order mark in front of the first marker would hide the marker.
    """
    has_mark = standing(sources.map(lambda source: source.bom))
    if not (has_mark and text.startswith("<" * size)):
        return text
    end = text.find("\n" + ">" * size) + 1
    out = []
    lines = text[:end].splitlines(keepends=True)
    for line, above in zip(lines, ["", *lines], strict=False):
        is_first = above.startswith(tuple(char * size for char in "<|="))
        is_marker = line.startswith(tuple(char * size for char in "|="))
        out.append(BOM + line if is_first and not is_marker else line)
    return "".join(out) + text[end:]
