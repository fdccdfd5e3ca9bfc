"""Follow resources that one side moved to another file.

Before files are merged path by path, every version of a moved resource is put into the file
where the merged one will be. So what the destination changed in it is merged as everywhere else.
A move is certain only where a full name left one file and appeared in one other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from kmerge_git.errors import KmergeError, TextOnly
from kmerge_git.kube import outline
from kmerge_git.kube.identity import identity
from kmerge_git.merge.bulk import has_bulk
from kmerge_git.merge.three import Three, under
from kmerge_git.packages.package_files import File, Package, is_manifest
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, Stream, split
from kmerge_git.tree.nodes import Mapping, Sequence
from kmerge_git.tree.oddities import refuse_oddities

Contents = dict[str, dict[Hashable, int]]  # of a file: its resources in order, by their numbers
Places = dict[Hashable, set[str]]  # of a resource: its files
Carry = tuple[Hashable, str, str]  # a resource, its file, and the one where it belongs


@dataclass(frozen=True, slots=True)
class Move:
    """A resource, or a whole file (without a name), where it was and where it belongs now."""

    name: str
    source: str
    target: str


def gather(
    at: Three[Package], named_by_dest: Collection[str] = ()
) -> tuple[Three[Package], list[Move]]:
    """The packages with every moved resource in the file where the result has it.

    Out of a file that dest renamed nothing is moved: dest chose the place of all that is in it.
    """
    contents = _contents(at)
    places = contents.map(_places)
    moves = []
    ways: Three[list[Carry]] = Three([], [], [])
    keys = {**places.base, **places.ours, **places.theirs}
    for key in sorted(keys, key=repr):
        files = under(places, key).map(lambda paths: paths or set())
        move = _move(key, files, named_by_dest)
        if move is None or any(map(partial(_has_both, move), files.each())):
            continue  # where one version has it in both, two files hold resources of one name
        if move.source != move.target:
            moves.append(move)
        for way, paths in zip(ways.each(), files.each(), strict=True):
            start = _start(move, files.base, paths)
            if start and start != move.target:
                way.append((key, start, move.target))
    carried = [_carried(p, way, contents) for p, way in zip(at.each(), ways.each(), strict=True)]
    return Three(*carried), moves


def _contents(at: Three[Package]) -> Three[Contents]:
    """What stands in which file, of the files that differ somewhere."""
    found: Three[Contents] = Three({}, {}, {})
    for path in sorted({*at.base, *at.ours, *at.theirs}):
        files = under(at, path)
        if files.ours == files.theirs and files.base in (None, files.ours):
            continue
        names = files.map(partial(named_documents, path))
        if any(known is None for known in names.each()):
            continue  # no manifest in one version: whoever merges the file will say so
        for contents, known in zip(found.each(), names.each(), strict=True):
            contents[path] = {key: document.number for key, document in (known or {}).items()}
    return found


def _places(contents: Contents) -> Places:
    places: Places = {}
    for path, keys in contents.items():
        for key in keys:
            places.setdefault(key, set()).add(path)
    return places


def _move(key: Hashable, files: Three[set[str]], named_by_dest: Collection[str]) -> Move | None:
    """Where a resource belongs that is not where it was; the destination's move comes first."""
    base, ours, theirs = files.each()
    name = f"{key[1]}/{key[3]}" if isinstance(key, tuple) else str(key)
    if not base:  # added by both, in different files
        both = moved(theirs, ours) if len(ours) == len(theirs) == 1 else None
        return Move(name, *both) if both else None
    found = moved(base, ours)
    if not found and (found := moved(base, theirs)) and found[0] in named_by_dest:
        found = found[0], found[0]
    return Move(name, *found) if found else None


def _has_both(move: Move, paths: set[str]) -> bool:
    return move.source != move.target and {move.source, move.target} <= paths


def _start(move: Move, base: set[str], paths: set[str]) -> str:
    """The file from which a version's resource is taken; nothing where it is no part of it."""
    if move.source in paths:
        return move.source
    own = moved(base, paths) if base else None
    return own[1] if own and move.target not in paths else ""


def _carried(package: Package, way: list[Carry], contents: Three[Contents]) -> Package:
    """A package with resources taken out of their files and put into others."""
    result = dict(package)
    out: dict[str, set[Hashable]] = {}
    arriving: dict[str, list[tuple[Hashable, str]]] = {}
    for key, start, target in way:
        out.setdefault(start, set()).add(key)
        arriving.setdefault(target, []).append((key, start))
    found: dict[tuple[str, Hashable], Document] = {}
    for path, keys in out.items():
        stream = stream_of(package[path])
        gone = {full_name(d): d for d in stream.documents if full_name(d) in keys}
        found |= {(path, key): document for key, document in gone.items()}
        rest = without(stream, {document.number for document in gone.values()})
        if rest:
            result[path] = replace(package[path], data=stream.source.encode(rest))
        else:
            del result[path]
    for target, arrivals in arriving.items():
        there = result.get(target, File(b"", package[arrivals[0][1]].mode))
        documents = {key: found[start, key] for key, start in arrivals}
        orders = [side.get(target, {}) for side in (contents.theirs, contents.ours, contents.base)]
        result[target] = replace(there, data=_woven(there.data, documents, orders))
    return result


def _woven(
    data: bytes, arriving: dict[Hashable, Document], orders: list[dict[Hashable, int]]
) -> bytes:
    """A file with more documents, each before what follows it in the version that has it there."""
    stream = stream_of(File(data))
    documents = [(full_name(document), document) for document in stream.documents]
    waiting = dict(arriving)
    for order in orders:
        here = {name for name, _ in documents} & order.keys()
        before: dict[Hashable, list[tuple[Hashable, Document]]] = {}
        group: list[tuple[Hashable, Document]] = []
        for key in order:
            if key in waiting:
                group.append((key, waiting.pop(key)))
            elif key in here:
                before[key], group = group, []
        woven = []
        for name, document in documents:
            woven += [*before.pop(name, []), (name, document)]
        documents = woven + group
    return arranged(stream, [document for _, document in documents] + [*waiting.values()])


Name = TypeVar("Name", bound=Hashable)


def by_name(
    documents: Iterable[Document], name_of: Callable[[Document], Name | None]
) -> dict[Name, Document]:
    """The documents that have a name, without those that share it with another one."""
    named = [(name_of(document), document) for document in documents]
    count = Counter(name for name, _ in named)
    return {name: document for name, document in named if name is not None and count[name] == 1}


def moved(before: Collection[str], after: Collection[str]) -> tuple[str, str] | None:
    """The file that a resource left and the file where it arrived, if it is one of each.

    More than one is no move: two files of a kustomization may well hold resources of one name.
    """
    gone, fresh = set(before) - set(after), set(after) - set(before)
    return (gone.pop(), fresh.pop()) if len(gone) == len(fresh) == 1 else None


def without(stream: Stream, numbers: Collection[int]) -> str:
    """The text of a file without some of its documents."""
    kept = [d.text for d in stream.documents if d.number not in numbers]
    text = "".join([stream.prologue, *kept, stream.tail])
    first = stream.documents[0]
    if 0 in numbers and not first.opening and text.startswith("---\n"):
        text = text[4:]
    return text if text.strip() not in ("", "---", "...") else ""


def arranged(stream: Stream, documents: Iterable[Document]) -> bytes:
    """A file of these documents, its own and others'; where it is empty, spelled as the first."""
    wanted = list(documents)
    text = stream.prologue
    for number, document in enumerate(wanted):
        opening = document.opening if document.source is stream.source else ""
        text += opening or ("---\n" if number or text else "")
        text += document.content
    source = stream.source if stream.source.text else wanted[0].source
    return source.encode(text + stream.tail)


_NOTHING = split(Source(b""))


def stream_of(file: File) -> Stream:
    """The documents of a file."""
    return split(Source(file.data))


def named_documents(path: str, file: File | None) -> dict[Hashable, Document] | None:
    """The resources of a file that have a full name; None where it holds no such documents.

    A template's documents are no resources: a block of its actions can go over several of them.
    """
    if file is None:
        return {}
    if not is_manifest(path, file):
        return None
    try:
        return by_name(_resources(file), full_name)
    except KmergeError:
        return None


def names(path: str, file: File) -> frozenset[Hashable]:
    """The resources of a file, those with a generated name and items of a `List` as well."""
    if not is_manifest(path, file):
        return frozenset()
    try:
        known = {name for document in _resources(file) for name in _any_names(document)}
    except KmergeError:
        return frozenset()
    return frozenset(known)


def holds_only_names(path: str, file: File) -> bool:
    """Whether all documents of a file are resources with full names of their own."""
    known = named_documents(path, file)
    return known is not None and len(known) == len(stream_of(file).documents)


def _resources(file: File) -> tuple[Document, ...]:
    """The documents of a file; an error if it is no manifest, or has too many of them."""
    if has_bulk(file.data):
        raise TextOnly("more documents or entries than are taken apart")
    stream = stream_of(file)
    refuse_oddities(stream, _NOTHING)
    return stream.documents


def full_name(document: Document) -> Hashable | None:
    """Group, kind, namespace and name; of one on the line of its `---` nothing: it cannot move."""
    return None if document.inline else outline.full_name(document)


def _any_names(document: Document) -> list[Hashable]:
    found = outline.outline(document.content)
    if found is not None:
        return [(*found, "")]
    root = document.root
    items = root.get("items") if isinstance(root, Mapping) else None
    nodes = [entry.value for entry in items.entries] if isinstance(items, Sequence) else []
    return [known.key for node in (root, *nodes) if (known := identity(node)) is not None]
