"""Tell whether a part was certainly moved, and what the other side took away inside of it."""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.kube.likeness import Leaves, is_alike
from kmerge_git.kube.listkeys import ListKeys, field_text
from kmerge_git.merge.three import Three
from kmerge_git.merge.write import moved_text
from kmerge_git.text.diff3 import changes
from kmerge_git.tree.documents import whole_document
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Scalar, Sequence
from kmerge_git.tree.same import (
    canon,
    comments,
    same_comments,
    same_entry_text,
    same_node,
    same_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.write.moved_text import Rewritten
    from kmerge_git.tree.documents import Document
    from kmerge_git.tree.nodes import Node

    Doubts = dict[Path, str]
    Rewrite = Callable[[str], Rewritten | None]  # the side -> the lines of that version


# Names of maps and lists whose entries are told apart by their keys alone.
BY_KEY_ALONE = frozenset(
    ("env", "labels", "annotations", "matchLabels", "nodeSelector", "data", "stringData")
)
# The least number of leaves of a part that was moved and edited.
MOVED_LEAVES = 4


class Findings:
    """Collect the doubtful places of a document, and the first move that is not followed yet."""

    __slots__ = ("doubts", "move", "tried")

    def __init__(self) -> None:
        self.doubts: Doubts = {}
        self.tried: set[Hashable] = set()  # moves that were found before
        self.move: FoundMove | None = None

    def found(self, key: Hashable, move: FoundMove) -> None:
        """Take a move, unless it was found before."""
        if self.move is None and key not in self.tried:
            self.tried.add(key)
            self.move = move

    def doubt(self, paths: Iterable[Path], why: str) -> None:
        """Doubt some places; of two causes the same one stays, whichever is found first."""
        for path in paths:
            self.doubts[path] = min(why, self.doubts.get(path, why))


class FoundMove:
    """Hold a move of one side, and how to write the other versions with the same move."""

    __slots__ = ("other", "rewrite", "without")

    def __init__(self, other: str, rewrite: Rewrite, without: Doubts) -> None:
        self.other = other  # the side that did not move it
        self.rewrite = rewrite
        self.without = without  # the doubtful places if the versions cannot be written anew

    def of(self, at: Three[Document]) -> Three[Document] | None:
        """Return the versions with the move, or None if they would not mean the same."""
        versions = dict(zip(("base", "ours", "theirs"), at.each(), strict=True))
        for side in ("base", self.other):
            rewritten = self.rewrite(side)
            new = _rewritten(versions[side], rewritten) if rewritten is not None else None
            if new is None:
                return None
            versions[side] = new
        return Three(*versions.values())


def _rewritten(document: Document, rewritten: Rewritten) -> Document | None:
    """Return a document with other lines, if it then means what it should."""
    text = document.source.text
    begin, end, lines, wanted = rewritten
    if not document.body <= begin <= end <= document.end:
        return None
    new = whole_document(text[document.body : begin] + lines + text[end : document.end])
    new.number = document.number
    try:
        root, old = new.root, document.root
    except KmergeError:
        return None
    if (
        root is None
        or old is None
        or sorted(comments(new.content)) != sorted(comments(document.content))
    ):
        return None
    return new if moved_text.value_of(root, {}) == moved_text.value_of(old, wanted) else None


def is_moved(old: Node, new: Node) -> bool:
    """Return whether a part is equal to a part of base, or much like it."""
    return same_node(old, new) or are_alike([old], [new])


def are_alike(old: list[Node], new: list[Node]) -> bool:
    """Return whether parts with the same keys have enough leaves, and most of them equal."""
    return is_much_alike(_together(old), _together(new))


def is_much_alike(old: Leaves, new: Leaves) -> bool:
    """Return whether a part that was moved and edited is the same part for certain."""
    return min(old.total, new.total) >= MOVED_LEAVES and is_alike(old, new)


def _together(nodes: list[Node]) -> Leaves:
    """Return the leaves of several nodes, each node with its number."""
    result = Leaves(None)
    for number, node in enumerate(nodes):
        for (path, value), count in Leaves(node).counts.items():
            result.counts[(str(number), *path), value] = count
    result.total = sum(result.counts.values())
    return result


def untouched(base: Entry, other: Entry | None) -> bool:
    if other is None:
        return False
    if same_entry_text(base, other):
        return True
    return same_node(base.value, other.value) and same_comments(base, other)


def holds_half(leaves: Leaves, entry: Entry) -> bool:
    """Return whether an entry has half of the leaves of what is gone."""
    return leaves.total > 0 and 2 * leaves.shared(Leaves(entry.value)) >= leaves.total


def tells_little(node: Node) -> bool:
    """Return whether an equal value says nothing about where a value comes from."""
    if isinstance(node, Collection):
        return not node.entries
    return not isinstance(node, Scalar) or node.value.lower() in ("true", "false", "null", "~", "")


def losses(old: Node, new: Node, moved: Node, where: Where, path: Path) -> Iterator[Path]:
    """Yield the places inside a moved part that the other side deleted or renamed.

    What was moved shows them still.
    """
    if same_text(old, new):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping) and isinstance(moved, Mapping):
        where = where.at(old)
        yours, mine = new.index(), moved.index()
        for name, entry in old.index().items():
            if name not in mine:
                continue
            if name not in yours:
                yield (*path, name)
            else:
                trio = entry.value, yours[name].value, mine[name].value
                yield from losses(*trio, where.child(name), (*path, name))
    elif isinstance(old, Sequence) and isinstance(new, Sequence) and isinstance(moved, Sequence):
        yield from _lost_elements(old, new, moved, where, path)


def _lost_elements(
    old: Sequence, new: Sequence, moved: Sequence, where: Where, path: Path
) -> Iterator[Path]:
    lists = [list(sequence.entries) for sequence in (old, new, moved)]
    keys = ListKeys(where.list_rule(), lists)
    base, theirs, mine = (keys.table(entries) for entries in lists)
    if base is not None and theirs is not None and mine is not None:
        for key, entry in base.items():
            if key not in mine:
                continue
            inside = (*path, keys.step(key))
            if key not in theirs:
                yield inside
            else:
                trio = entry.value, theirs[key].value, mine[key].value
                yield from losses(*trio, where.items(), inside)
        return
    if _loses_unkeyed(lists, where):
        yield path


def _loses_unkeyed(lists: list[list[Entry]], where: Where) -> bool:
    """Return whether a list without keys lost an element, or a part of one, that was moved."""
    old, new, moved = ([canon(entry.value) for entry in entries] for entries in lists)
    shown: list[Node | None] = [
        entry.value if value in moved else None for entry, value in zip(lists[0], old, strict=True)
    ]
    if len(moved) == len(old):  # the mover edited elements
        shown = [entry.value for entry in lists[2]]
    for first, stop, begin, end in changes(old, new):
        gone = sum(node is not None for node in shown[first:stop])
        if stop - first > end - begin and gone > end - begin:
            return True
        pairs = zip(lists[0][first:stop], lists[1][begin:end], shown[first:stop], strict=False)
        if any(_loses_part(a.value, b.value, there, where) for a, b, there in pairs):
            return True
    return False


def _loses_part(old: Node, new: Node, there: Node | None, where: Where) -> bool:
    if there is None:
        return False
    is_renamed = field_text(old, "name") != field_text(new, "name")
    return is_renamed or any(True for _ in losses(old, new, there, where.items(), ()))
