"""Number the open conflicts of a file, and write the file with the user's answers."""

from __future__ import annotations

from kmerge_git.errors import Refused
from kmerge_git.merge.finish import possible_answers
from kmerge_git.merge.finish.answer_proof import DocumentProof
from kmerge_git.merge.merged import NO_DOCUMENT, MergedDocument, MergedFile, OpenMerge, answered
from kmerge_git.merge.verify import line_damage
from kmerge_git.outcome import SIDES
from kmerge_git.text.markers import has_torn_markers, sections
from kmerge_git.text.pieces import Hunk, is_clean
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.three import Three
    from kmerge_git.merge.verify.line_damage import Identities
    from kmerge_git.outcome import Options
    from kmerge_git.text.pieces import Pieces

    Brought = Callable[[YamlText, Three[YamlText], Identities], set[str]]
    Given = Mapping[int, str]  # the lines of each answer, by the number of the conflict


class OpenConflicts:
    """Hold the conflicts of a file, numbered in the order of the text, and apply answers."""

    __slots__ = (
        "_brought",
        "_file",
        "_hunks",
        "_merge",
        "_path",
        "_proofs",
        "_proved",
        "_sound",
        "_texts",
        "conflicts",
        "kinds",
    )

    def __init__(
        self,
        open_merge: OpenMerge,
        texts: Three[YamlText],
        brought: Brought = line_damage.brought,
    ) -> None:
        self._brought = brought  # finds the damage in a file with answers
        self._merge = open_merge
        self._hunks = hunks = open_merge.hunks
        self._texts = texts
        self._path = texts.ours.path
        self._sound: Identities = {}  # documents that were already checked for damage
        self._proofs = [DocumentProof(document) for document in open_merge.merged.documents]
        self._proved: Given | None = None  # the last answers that were proved
        self._file: tuple[Given, bytes] | None = None  # the last answers, and the file with them
        by_lines = open_merge.is_by_lines
        self.conflicts = open_merge.conflicts
        self.kinds = [possible_answers.kind_of(hunk, by_lines=by_lines) for hunk in hunks]

    def path(self, number: int) -> Path:
        """Return the field that a conflict is about."""
        return possible_answers.path_of(self._hunks[number])

    def choices(self, number: int) -> tuple[str, ...]:
        """Return the one-word answers that are possible for a conflict."""
        return possible_answers.choices(self.kinds[number], self._hunks[number])

    def value(self, number: int, side: str) -> str | None:
        """Return the value of one version in a conflict as text for people, or None."""
        return possible_answers.value_of(self.kinds[number], self._hunks[number], side)

    def chosen(self, number: int, choice: str) -> str:
        """Return the lines that replace a conflict after a one-word answer."""
        return possible_answers.lines_of(self.kinds[number], self._hunks[number], choice)

    def with_value(self, number: int, given: str) -> str:
        """Return the lines of a conflict with a value that the user gave as YAML."""
        return possible_answers.with_value(self.kinds[number], self._hunks[number], given)

    def check(self, given: Given) -> None:
        """Refuse answers that cannot be used together in this file."""
        if given == self._proved:
            return
        by_hunk = self._by_hunk(given)
        for document, proof in zip(self._merge.merged.documents, self._proofs, strict=True):
            if any(id(piece) in by_hunk for piece in document.pieces):
                proof.check(by_hunk)
        broken: set[str] = set()
        versions = self._texts.map(lambda text: text.data.decode("utf-8", "surrogateescape"))
        for side in SIDES:  # it is enough if the file is sound with one side for the rest
            rest = {n: h.side(side) for n, h in enumerate(self._hunks) if n not in given}
            data = self.text({**rest, **given})
            made, size = data.decode("utf-8", "surrogateescape"), self._merge.marker_size
            if has_torn_markers(made, versions.each(), size):
                raise Refused("the answer still contains conflict markers; remove them")
            broken = self._brought(YamlText(data, self._path), self._texts, self._sound)
            if not broken:
                self._proved = dict(given)
                return
        raise Refused(f"the file would be damaged: {min(broken)}")

    def text(self, given: Given) -> bytes:
        """Return the file with these answers; conflicts without an answer keep their markers."""
        if self._file is not None and self._file[0] == given:
            return self._file[1]
        by_hunk = self._by_hunk(given)
        before = self._merge.merged
        after = answered(before, by_hunk)
        for old, new, proof in zip(before.documents, after.documents, self._proofs, strict=True):
            if not is_clean(old.pieces) and is_clean(new.pieces):
                text = proof.with_empty_ones(by_hunk)
                new.pieces = new.pieces if text is None else [text]
        self._file = dict(given), self._merge.spelled(after)
        return self._file[1]

    def around(self, number: int, given: Given) -> tuple[list[str], list[str]]:
        """Return the lines of the file above and below a conflict.

        Other conflicts have their answers in these lines, or ours if they have no answer.
        """
        ours = {n: hunk.ours for n, hunk in enumerate(self._hunks)}
        # no manifest can hold the character that is put in the place of the conflict
        marked = self._merge.text({**ours, **given, number: "\0"})
        text = marked.decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n")
        above, _, below = text.partition("\0")
        return above.split("\n")[:-1], below.removesuffix("\n").split("\n") if below else []

    def _by_hunk(self, given: Given) -> dict[int, str]:
        return {id(self._hunks[number]): text for number, text in given.items()}


def open_lines(marked: bytes, texts: Three[bytes], options: Options) -> OpenMerge:
    """Read a text with git's conflict markers, and return the text as a merge.

    If the markers have the style `diff3`, the merge also has the base of each conflict.
    """
    text = marked.decode("utf-8", "surrogateescape")
    is_crlf = text.count("\r\n") == text.count("\n")
    if is_crlf:
        text = text.replace("\r\n", "\n")
    parts = sections(text, options.marker_size)
    pieces: Pieces = [
        part if isinstance(part, str) else Hunk(*part, "", "both sides changed the same lines")
        for part in parts
        if part
    ]
    if pieces and isinstance(pieces[-1], Hunk):
        pieces[-1] = _as_it_ends(pieces[-1], texts)

    def encode(made: str) -> bytes:
        return (made.replace("\n", "\r\n") if is_crlf else made).encode("utf-8", "surrogateescape")

    merged = MergedFile([], [MergedDocument(NO_DOCUMENT, "", None, pieces)], "")
    return OpenMerge(merged, options, options.marker_size, encode, is_by_lines=True)


def _as_it_ends(hunk: Hunk, texts: Three[bytes]) -> Hunk:
    """Return the last hunk of a file; remove a final newline that a side does not have.

    Git adds such a newline so that the next marker is on its own line.
    """
    sides = zip((hunk.base, hunk.ours, hunk.theirs), texts.each(), strict=True)
    return hunk.but(
        *(text if whole.endswith(b"\n") else text.removesuffix("\n") for text, whole in sides)
    )
