"""Write the bytes of a merged file: markers around its conflicts, its line ends, its ends."""

from __future__ import annotations

from kmerge_git.merge.merged import MergedDocument, MergedFile, texts_of
from kmerge_git.merge.three import Three, standing
from kmerge_git.outcome import Conflict, Outcome
from kmerge_git.text.pieces import Hunk
from kmerge_git.text.source import Source, encode
from kmerge_git.text.undecided import without_placeholders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kmerge_git.outcome import Options
    from kmerge_git.text.pieces import Pieces


if TYPE_CHECKING:
    Answers = Mapping[int, str]  # by the number of the conflict: the lines in its place


def conflicted(merged: MergedFile, sources: Three[Source], options: Options) -> Outcome:
    """Return a merged file with markers around its conflicts."""
    from kmerge_git.text.markers import marker_size_for

    size = marker_size_for((source.text for source in sources.each()), options.marker_size)
    open_merge = OpenMerge(
        merged,
        options,
        size,
        lambda text: to_bytes(put_mark_intoconflict_of(text, sources, size), sources),
    )
    return open_merge.outcome("structure")


class OpenMerge:
    """A merged file with conflicts, some of which may have been answered."""

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
        found = merged.hunks()
        self.merged = merged
        self.is_by_lines = is_by_lines  # then the labels are git's
        self.hunks = [hunk for _, hunk in found]
        self.conflicts = tuple(conflict_of(*one) for one in found)
        self._options = options
        self._size = size  # of the markers
        self._encode = encode

    def outcome(self, method: str) -> Outcome:
        """Return the outcome of the merge with all of them open."""
        made = Outcome(lambda: self.text({}), False, method, conflicts=self.conflicts)
        made.open_merge = self
        return made

    def text(self, answers: Answers) -> bytes:
        """Return the file with these answers, and markers around the other conflicts."""
        given = {id(self.hunks[number]): text for number, text in answers.items()}
        return self.spelled(answered(self.merged, given))

    def spelled(self, merged: MergedFile) -> bytes:
        """Return the bytes of this file, some of whose conflicts have been answered."""
        causes = {id(hunk): c for hunk, c in zip(self.hunks, self.conflicts, strict=True)}
        return self._encode(merged.text(lambda document: self._marked(document, causes)))

    def decided(self, side: str) -> bytes:
        """Return the file with one side's answer to every conflict."""
        return self.text({n: hunk.side(side) for n, hunk in enumerate(self.hunks)})

    def _marked(self, of: MergedDocument, causes: dict[int, Conflict]) -> str:
        from kmerge_git.merge.write.labels import label
        from kmerge_git.merge.write.marked import marked, spell

        # by the hunk: a label covers several of them, and a hunk that is cut has several labels
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
    """Return the file with lines in the place of some hunks, by the identity of these."""

    def pieces(of: Pieces) -> Pieces:
        return [answers.get(id(p), p) if isinstance(p, Hunk) else p for p in of]

    documents = []
    for document in merged.documents:
        at, name, plan = document.at, document.name, document.plan
        made = MergedDocument(at, name, plan, pieces(document.pieces), document.elided)
        made.opening = document.opening
        documents.append(made)
    return MergedFile(pieces(merged.prologue), documents, merged.tail)


def conflict_of(resource: str, hunk: Hunk) -> Conflict:
    """Return a conflict of a resource for people."""
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
    """Return the bytes of a result: ours' spelling, unless only theirs changed it.

    A newline at the end stays where a side has it: to drop it is no work that could be lost.
    """
    base, ours, theirs = sources.each()
    if not base.data:
        base = theirs
    at = Three(base, ours, theirs)
    eol = _line_ends(at)
    if eol == "\r\n" or (eol and not base.eol):
        text = text.replace("\r\n", "\n")  # lines of a version that mixes its line ends
    has_bom = standing(at.map(lambda source: source.bom))
    final_newline = ours.final_newline or theirs.final_newline
    if text.endswith("\n") and text[text.rfind("\n", 0, -1) + 1 :].startswith(">>>>>>>"):
        final_newline = True  # a marker is a whole line
    return encode(text, has_bom and not text.startswith("<<<<<<<"), eol, final_newline)


def _line_ends(at: Three[Source]) -> str:
    """Return the line ends of all lines; an empty text where they stay mixed.

    A side that gives all lines other ends changes the file as a whole; one that mixes them changes
    lines.
    """
    ends = at.map(lambda source: source.eol)
    return ends.theirs if ends.theirs and ends.ours == ends.base else ends.ours


def put_mark_intoconflict_of(text: str, sources: Three[Source], size: int) -> str:
    """Put the byte order mark into each side of a conflict in the first line.

    In front of the first marker it would hide the marker.
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
