"""A merged file before its conflicts are spelled: documents, each with its plan and its pieces."""

from __future__ import annotations

from kmerge_git.merge.three import Three
from kmerge_git.text.pieces import Hunk, side_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.merge.elision import Elided
    from kmerge_git.merge.plan import Plan
    from kmerge_git.text.pieces import Pieces
    from kmerge_git.tree.documents import Document

    Trio = Three[Document | None]


NO_DOCUMENT: Trio = Three(None, None, None)


class MergedDocument:
    """A document of the result has its decisions and its text."""

    __slots__ = ("at", "elided", "name", "opening", "pieces", "plan")

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
        self.plan = plan  # None: taken whole from one side, or a conflict of the whole document
        self.pieces = pieces
        self.opening = ""
        self.elided = elided  # runs of lines that are not in `pieces`

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return its places in the three files; they identify it."""
        return numbers_of(self.at)

    def give_up(self, pieces: Pieces) -> None:
        """Be taken whole, or be a conflict as a whole."""
        self.plan, self.elided, self.pieces = None, None, pieces


class MergedFile:
    """The result of a merge of files by resource, before its conflicts are written."""

    __slots__ = ("documents", "prologue", "tail")

    def __init__(self, prologue: Pieces, documents: list[MergedDocument], tail: str) -> None:
        self.prologue = prologue
        self.documents = documents
        self.tail = tail

    @property
    def is_one_conflict(self) -> bool:
        """Return whether a side is taken whole for any answer, so that we decided nothing."""
        if self.prologue or self.tail or len(self.documents) > 1:
            return False
        return all(
            not document.opening and all(isinstance(p, Hunk) for p in document.pieces)
            for document in self.documents
        )

    def hunks(self) -> list[tuple[str, Hunk]]:
        """Return the conflicts, each with the name of its resource."""
        found = [("", p) for p in self.prologue if isinstance(p, Hunk)]
        for document in self.documents:
            found += [(document.name, p) for p in document.pieces if isinstance(p, Hunk)]
        return found

    def text(self, spelled: Callable[[MergedDocument], str]) -> str:
        """Return the whole text; `spelled` makes text of the pieces of a document."""
        parts = [spelled(MergedDocument(NO_DOCUMENT, "", None, self.prologue))]
        for document in self.documents:
            text = spelled(document)
            parts += [document.opening, document.elided.restored(text) if document.elided else text]
        return "".join(parts) + self.tail

    def decided(self, side: str) -> str:
        """Return the whole text with every conflict decided for one side."""
        return self.text(lambda document: side_text(document.pieces, side))


def numbers_of(at: Trio) -> tuple[int, ...]:
    """Return the places of a document in the three files; -1 where it is not."""
    return tuple(document.number if document is not None else -1 for document in at.each())


def texts_of(at: Trio) -> Three[str]:
    """Return the text of each version, without its opening; an empty text for a missing one."""
    return at.map(lambda document: document.content if document is not None else "")


def conflict(at: Trio, why: str) -> Pieces:
    """Return a document that is one conflict."""
    return [Hunk(*texts_of(at).each(), "", why, at)]


def whole_conflict(
    texts: Three[str], why: str, name: str = "", about: Trio | None = None
) -> MergedFile:
    """Return a file that is one conflict; `about` are its documents that explain the conflict."""
    hunk = Hunk(*texts.each(), "", why, about)
    return MergedFile([], [MergedDocument(NO_DOCUMENT, name, None, [hunk])], "")
