"""The open conflicts of one file by their numbers, and the file with answers to them."""

from __future__ import annotations

from kmerge_git.errors import Refused
from kmerge_git.merge.finish import answer_proof, possible_answers
from kmerge_git.merge.finish.possible_answers import path_of
from kmerge_git.merge.merged import NO_DOCUMENT, MergedDocument, MergedFile
from kmerge_git.merge.result_text import OpenMerge, answered
from kmerge_git.merge.verify import line_damage
from kmerge_git.outcome import SIDES
from kmerge_git.text.markers import sections
from kmerge_git.text.pieces import Hunk, is_clean
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.three import Three
    from kmerge_git.merge.verify.line_damage import Identities
    from kmerge_git.outcome import Conflict, Options
    from kmerge_git.text.pieces import Pieces


if TYPE_CHECKING:
    Given = Mapping[int, str]  # by the number of the conflict: the lines in its place


class Deciding:
    """The conflicts of one file by their numbers, and answers to them."""

    __slots__ = ("_open", "_path", "_sound", "_texts", "kinds")

    def __init__(self, open_merge: OpenMerge, texts: Three[YamlText]) -> None:
        self._open = open_merge
        self._texts = texts
        self._path = texts.ours.path
        self._sound: Identities = {}  # documents that were looked into for an answer before
        self.kinds = [
            possible_answers.kind_of(hunk, by_lines=open_merge.is_by_lines)
            for hunk in open_merge.hunks
        ]

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """What is to be decided, in the order of the text."""
        return self._open.conflicts

    def path(self, number: int) -> Path:
        """The field that a conflict is about."""
        return path_of(self._open.hunks[number])

    def choices(self, number: int) -> tuple[str, ...]:
        """The answers in one word that a conflict may have."""
        return possible_answers.choices(self.kinds[number], self._open.hunks[number])

    def value(self, number: int, side: str) -> str | None:
        """What a version has there, for people; None: it has nothing."""
        return possible_answers.value_of(self.kinds[number], self._open.hunks[number], side)

    def chosen(self, number: int, choice: str) -> str:
        """The lines that an answer in one word puts there."""
        return possible_answers.lines_of(self.kinds[number], self._open.hunks[number], choice)

    def with_value(self, number: int, given: str) -> str:
        """The lines with a value that somebody gave as YAML."""
        from kmerge_git.merge.finish.own_value import with_value  # few answers are no side

        return with_value(self.kinds[number], self._open.hunks[number], given)

    def check(self, given: Given) -> None:
        """Refuse answers that cannot stand together in this file."""
        by_hunk = {id(self._open.hunks[number]): text for number, text in given.items()}
        for document in self._open.merged.documents:
            if any(id(piece) in by_hunk for piece in document.pieces):
                answer_proof.check(document, by_hunk)
        broken: set[str] = set()
        for side in SIDES:  # what the answers to come may mend is no fault of these
            rest = {n: h.side(side) for n, h in enumerate(self._open.hunks) if n not in given}
            made = self.text({**rest, **given})
            broken = line_damage.brought(YamlText(made, self._path), self._texts, self._sound)
            if not broken:
                return self._refuse_no_json(made)
        raise Refused(f"the file would be broken: {min(broken)}")

    def _refuse_no_json(self, made: bytes) -> None:
        """What was JSON in all versions stays JSON, and not only YAML."""
        if not self._path.endswith(".json"):
            return
        versions = [text.data for text in self._texts.each()]
        if all(_is_json(data) for data in versions if data) and not _is_json(made):
            raise Refused("the file would be no JSON any more: quote it")

    def text(self, given: Given) -> bytes:
        """The file with these answers, and markers around what is left."""
        by_hunk = {id(self._open.hunks[number]): text for number, text in given.items()}
        made = answered(self._open.merged, by_hunk)
        self._fill(made, by_hunk)
        return self._open.spelled(made)

    def _fill(self, made: MergedFile, by_hunk: dict[int, str]) -> None:
        """Write `[]` or `{}` where answers took all that stood in a collection."""
        for old, new in zip(self._open.merged.documents, made.documents, strict=True):
            if not is_clean(old.pieces) and is_clean(new.pieces):
                text = answer_proof.with_empty_ones(old, by_hunk)
                if text is not None:
                    new.pieces = [text]


def _is_json(data: bytes) -> bool:
    import json  # few files are

    try:
        json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    return True


WHY = "the lines conflict"


def open_lines(marked: bytes, texts: Three[bytes], options: Options) -> OpenMerge:
    """The merge that a text with git's markers is; in style `diff3` the base is known, too."""
    text = marked.decode("utf-8", "surrogateescape")
    is_crlf = text.count("\r\n") == text.count("\n")
    if is_crlf:
        text = text.replace("\r\n", "\n")
    found = sections(text, options.marker_size)
    pieces: Pieces = [p if isinstance(p, str) else Hunk(*p, "", WHY) for p in found if p]
    if pieces and isinstance(pieces[-1], Hunk):
        pieces[-1] = _as_it_ends(pieces[-1], texts)

    def encode(made: str) -> bytes:
        return (made.replace("\n", "\r\n") if is_crlf else made).encode("utf-8", "surrogateescape")

    merged = MergedFile([], [MergedDocument(NO_DOCUMENT, "", None, pieces)], "")
    return OpenMerge(merged, options, options.marker_size, encode, is_by_lines=True)


def _as_it_ends(hunk: Hunk, texts: Three[bytes]) -> Hunk:
    """The last lines of a file: a marker stands on a line of its own, whatever they end with."""

    def side(text: str, whole: bytes) -> str:
        return text if whole.endswith(b"\n") else text.removesuffix("\n")

    base, ours, theirs = texts.each()
    return hunk.but(side(hunk.base, base), side(hunk.ours, ours), side(hunk.theirs, theirs))
