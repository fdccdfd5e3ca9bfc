"""A file that a merge made, beside its sides: which documents belong together.

The sides are base, ours and theirs; one that does not have the file is left out. A document with
the text of one side is that side's own, and is not looked into.
"""

from __future__ import annotations

from collections import Counter

from kmerge_git.check.merges.elements import least
from kmerge_git.check.merges.moved import without_moved
from kmerge_git.check.merges.walk import FUSED, GONE, NEW, Odd, walked
from kmerge_git.compare.files import paired_documents
from kmerge_git.errors import KmergeError
from kmerge_git.kube.identity import Identity, identity
from kmerge_git.merge.three import Three
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, Stream, is_idle, split
from kmerge_git.tree.nodes import Mapping, Node, Sequence
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kmerge_git.check.merges.elements import Nodes
    from kmerge_git.check.page import Page

    # the other texts of the merge that may hold a resource: it can have moved between files
    Elsewhere = Callable[[Identity], list[Node]]


MARKERS = "<|=>"
MARKER_SIZE = 7


class SidedFile:
    """A file that a merge made; `odd` is what is wrong with it beside its sides."""

    __slots__ = ("_elsewhere", "_odd", "page", "sides")

    def __init__(
        self,
        page: Page,
        sides: Three[bytes | None],
        elsewhere: Elsewhere = lambda identity: [],
    ) -> None:
        self.page = page
        self.sides = sides
        self._elsewhere = elsewhere
        self._odd: list[Odd] | None = None

    @property
    def is_mixed(self) -> bool:
        """Whether both sides changed the file, and it is now neither of them."""
        base, ours, theirs = self.sides.each()
        if ours is None or theirs is None or ours == theirs or base in (ours, theirs):
            return False
        return self.page.source.data not in (ours, theirs)

    def odd(self, what: str) -> Iterator[Odd]:
        """What is odd in this way; see `merge_walk`."""
        if self._odd is None:
            self._odd = self._found() if self.is_mixed else []
        return (one for one in self._odd if one.what == what)

    def _found(self) -> list[Odd]:
        path = self.page.path
        try:
            sides = [split(Source(text, path)) for text in self.sides.each() if text is not None]
            found = list(_documents(split(self.page.source), sides, path, self._elsewhere))
            if any(odd.what == NEW for odd in found):
                return without_moved(found, (side.roots for side in sides))
        except KmergeError:
            return []  # a side that is no YAML says nothing about fields
        return found

    def markers(self) -> Iterator[tuple[int, str]]:
        """Offset and marker of the lines that look like those of a conflict, and that are new."""
        if not self.is_mixed:
            return
        most: Counter[str] = Counter()
        for text in self.sides.each():
            most |= Counter(
                line for _, line in _marker_lines((text or b"").decode("utf-8", "replace"))
            )
        for at, line in _marker_lines(self.page.source.text):
            most[line] -= 1
            if most[line] < 0:
                yield at, line.partition(" ")[0]

    def could_be_read(self) -> bool:
        """Whether every side that has the file is YAML."""
        return all(text is None or _is_yaml(text, self.page.path) for text in self.sides.each())


def _marker_lines(text: str) -> Iterator[tuple[int, str]]:
    """Every line that git could have written into a conflict, indented or not, and its offset."""
    if not any(char * MARKER_SIZE in text for char in MARKERS):
        return
    position = 0
    for line in text.split("\n"):
        bare = line.strip()
        word = bare.partition(" ")[0]
        is_one = len(word) >= MARKER_SIZE and word[0] in MARKERS and word == word[0] * len(word)
        if is_one and (word[0] != "=" or bare == word):
            yield position + line.index(word), bare
        position += len(line) + 1


def _is_yaml(text: bytes, path: str) -> bool:
    try:
        return split(Source(text, path)).roots is not None
    except KmergeError:
        return False


class _Side:
    """The documents of one side that the result has not as they are, and what became of them."""

    __slots__ = ("_partners", "alone", "count")

    def __init__(self, stream: Stream, made: set[str], new: list[Document]) -> None:
        self.count = len(stream.documents)
        left = [d for d in stream.documents if d.content not in made and not is_idle(d.content)]
        pairs = paired_documents(new, left)
        self._partners = {new[i].number: left[j] for i, j in pairs}
        taken = {j for _, j in pairs}
        self.alone = [document for j, document in enumerate(left) if j not in taken]

    def pair_the_last(self, result: Stream, new: list[Document]) -> None:
        """What lost its name, or stands alone, belongs to the only one without a partner."""
        without = [d for d in new if d.number not in self._partners]
        is_only = self.count == len(result.documents) == 1
        if len(without) != 1 or not self.alone or (_is_named(without[0]) and not is_only):
            return
        known = {_key(document) for document in result.documents}
        missing = [document for document in self.alone if _key(document) not in known]
        if len(missing) == 1:
            self._partners[without[0].number] = missing[0]
            self.alone.remove(missing[0])

    def root(self, document: Document) -> Node | None:
        """What stands in a document of the result on this side."""
        found = self._partners.get(document.number)
        return found.root if found is not None else None


def _documents(
    result: Stream, sides: list[Stream], path: str, elsewhere: Elsewhere
) -> Iterator[Odd]:
    """What is odd in the documents that no side has as they are."""
    known, made = _contents(sides), _contents([result])
    new = [d for d in result.documents if d.content not in known and not is_idle(d.content)]
    at = [_Side(side, made, new) for side in sides]
    for side in at:
        side.pair_the_last(result, new)
    if not made and least([side.count for side in at]):
        yield Odd(GONE, 0, (), "nothing is left of what every side of the merge has")
        return
    gone = _gone(result, sides, [side.alone for side in at])
    fewer = len(result.documents) < min(side.count for side in at)
    found: list[Document] = []
    for document in new:
        held = _held(document, gone, at[-2]) if fewer else []
        found += held
        if held and document.root is not None:
            names = " and ".join(map(_name, held))
            what = f"{names} became part of another document: the line `---` between them is gone"
            yield Odd(FUSED, document.root.start, (), what)
        else:
            yield from _inside(document, [side.root(document) for side in at], path, elsewhere)
    for document in gone:
        if document not in found:
            yield Odd(GONE, 0, (), f"{_name(document)} is gone: every side of the merge has it")


def _contents(streams: list[Stream]) -> set[str]:
    """What stands in the documents that are more than comments."""
    documents = (document for stream in streams for document in stream.documents)
    return {document.content for document in documents if not is_idle(document.content)}


def _inside(document: Document, sides: Nodes, path: str, elsewhere: Elsewhere) -> list[Odd]:
    """What is odd in a document; one that no side has is new as a whole."""
    root = document.root
    there = [node for node in sides if node is not None]
    if root is None or not there:
        return []
    found = walked(root, sides, path)
    if len(there) < len(sides) and found:
        more = _elsewhere(root, elsewhere)
        if more:  # the resource came from another file
            return walked(root, [*sides, *more], path)
    return found


def _elsewhere(root: Node, elsewhere: Elsewhere) -> list[Node]:
    key = identity(root)
    return elsewhere(key) if key is not None and key.name else []


def _gone(result: Stream, sides: list[Stream], alone: list[list[Document]]) -> list[Document]:
    """Documents that every side has, as ours has them, and that are in the result no more."""
    keys = [{_key(document) for document in side} for side in alone]
    found = [d for d in alone[-2] if d.root is not None and all(_key(d) in key for key in keys)]
    return [
        document
        for document in found
        if _count(result, document) < least([_count(side, document) for side in sides])
    ]


def _count(stream: Stream, wanted: Document) -> int:
    """How many documents are called the same."""
    return sum(_key(document) == _key(wanted) for document in stream.documents)


def _key(document: Document) -> object:
    """What tells a document from others: the resource, else its text."""
    found = identity(document.root) if document.root is not None else None
    return found if found is not None and found.name else document.content.strip()


def _is_named(document: Document) -> bool:
    return isinstance(_key(document), Identity)


def _name(document: Document) -> str:
    found = identity(document.root) if document.root is not None else None
    return f"{found.kind}/{found.name}" if found and found.name else "a document"


def _held(whole: Document, gone: list[Document], ours: _Side) -> list[Document]:
    """The documents that are gone, and all of which one document has."""
    held = [one for one in gone if _holds(whole.root, one.root)]
    partner = ours.root(whole)
    for one in ours.alone:  # without a name a document is known by what its partner lacks
        if not _is_named(one) and _holds(whole.root, one.root) and not _holds(partner, one.root):
            held += [one] if one not in held else []
    return held


def _holds(whole: Node | None, part: Node | None) -> bool:
    """Whether a document has all keys, or all elements, of another one at its top."""
    if isinstance(whole, Mapping) and isinstance(part, Mapping):
        return {e.name for e in part.entries} <= {e.name for e in whole.entries}
    if isinstance(whole, Sequence) and isinstance(part, Sequence):
        return {canon(e.value) for e in part.entries} <= {canon(e.value) for e in whole.entries}
    return False
