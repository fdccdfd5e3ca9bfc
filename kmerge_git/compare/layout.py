"""What differs between two documents beside their values: comments, spelling, columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kmerge_git.kube.differing import paired_elements
from kmerge_git.kube.listkeys import Where
from kmerge_git.text.source import Source
from kmerge_git.tree.nodes import Alias, Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import comments, same_text
from kmerge_git.tree.scalars import resolve, same

_LINE_ENDS = {"\r\n": "CRLF", "\n": "LF", "": "mixed"}
_MOST = 60  # characters of two spellings that are shown
Signed = tuple[tuple[str, str], ...]  # `+` or `-`, and a comment


def spelling(old: Node | None, new: Node | None, where: Where) -> set[str]:
    """How what both versions say is said in another way, in words."""
    return set(_words(old, new, where)) if old is not None and new is not None else set()


def _words(old: Node, new: Node, where: Where) -> Iterator[str]:
    if same_text(old, new):
        return
    if old.anchor != new.anchor or isinstance(old, Alias) != isinstance(new, Alias):
        yield "anchors"
    if isinstance(old, Scalar) and isinstance(new, Scalar):
        yield from _of_scalars(old, new)
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _of_collections(old, new)
        place = where.at(new)
        mine, yours = old.index(), new.index()
        names = [name for name in yours if name in mine]
        if names != [name for name in mine if name in yours]:
            yield "order of keys"
        for name in names:
            yield from _keys(mine[name], yours[name])
            yield from _words(mine[name].value, yours[name].value, place.child(name))
    elif isinstance(old, Sequence) and isinstance(new, Sequence):
        yield from _of_collections(old, new)
        yield from _in_list(old, new, where)


def _of_scalars(old: Scalar, new: Scalar) -> Iterator[str]:
    mine, yours = (node.text[node.content : node.end] for node in (old, new))
    if mine == yours:
        return
    if same(old, new):
        yield "quoting" if old.style != new.style else "spelling"
    elif _read(old) == _read(new):  # `1.10` and `1.1` are one number, and may mean two versions
        yield f"{mine} written {yours}" if len(mine + yours) < _MOST else "spelling"


def _read(scalar: Scalar) -> tuple[str, str]:
    value = resolve(scalar.value, scalar.style, scalar.tag)
    return type(value).__name__, repr(value)


def _in_list(old: Sequence, new: Sequence, where: Where) -> Iterator[str]:
    paired = paired_elements(old, new, where)
    if paired is not None:
        both = [(i, j) for _, i, j in paired if i >= 0 and j >= 0]
    elif len(old.entries) == len(new.entries):
        both = [(n, n) for n in range(len(new.entries))]
    else:
        both = []
    for i, j in both:
        yield from _words(old.entries[i].value, new.entries[j].value, where.items())


def _keys(old: Entry, new: Entry) -> Iterator[str]:
    if old.key is not None and new.key is not None and old.key.raw != new.key.raw:
        yield "quoting"


def _of_collections(old: Collection, new: Collection) -> Iterator[str]:
    if old.tag != new.tag:
        yield "tags"
    if not old.entries or not new.entries:
        return
    if old.flow != new.flow:
        yield "lines" if new.flow else "flow style"
        return
    if not old.flow and old.column != new.column:
        yield "indentation"


def comment_changes(old: list[str], new: list[str]) -> Signed:
    """The comments that went, and those that came."""
    mine, yours = Counter(old), Counter(new)
    gone, come = (mine - yours).elements(), (yours - mine).elements()
    return (*(("-", text) for text in gone), *(("+", text) for text in come))


def comments_in(text: str, start: int, root: Node | None) -> list[str]:
    """The comments of a piece of a file; `start` is its offset there."""
    if "#" not in text:
        return []
    spans = sorted(_texts(root)) if root is not None else []
    out, at = "", start
    for begin, end in spans:
        if begin >= at:
            out += root.text[at:begin] if root is not None else ""
            out += '""' + "\n" * (root.text.count("\n", begin, end) if root is not None else 0)
            at = end
    return comments(out + text[at - start :])


def _texts(node: Node) -> Iterator[tuple[int, int]]:
    """Where scalars stand that hold a `#`, which opens no comment there."""
    if node.text.find("#", node.start, node.end) < 0:
        return
    if isinstance(node, Scalar):
        yield node.content, node.end
    elif isinstance(node, Collection):
        for entry in node.entries:
            if entry.key is not None:
                yield from _texts(entry.key)
            yield from _texts(entry.value)


def of_texts(old: str, new: str) -> str:
    """In a word, how two texts of the same meaning differ, if nothing else was found."""
    lines = [[line.rstrip() for line in text.split("\n")] for text in (old, new)]
    if lines[0] == lines[1]:
        return "blanks at line ends"
    full = [[line for line in found if line] for found in lines]
    if full[0] == full[1]:
        return "blank lines"
    bare = [[line.lstrip() for line in found] for found in full]
    if bare[0] == bare[1]:
        return "indentation"
    return "spelling"


def of_files(old: Source, new: Source) -> list[str]:
    """What differs in the bytes of two files and is in none of their documents."""
    found = []
    if old.bom != new.bom:
        found.append("a byte order mark" if new.bom else "no byte order mark")
    if old.eol != new.eol:
        found.append(f"line ends ({_LINE_ENDS[new.eol]})")
    if old.final_newline != new.final_newline:
        found.append("a last line end" if new.final_newline else "no last line end")
    return found
