"""Follow the resources that one side moved to another file.

Before files are merged path by path, every version of a moved resource is put into the file that
will hold the merged resource. So the destination's changes to the resource are merged as well. A
move counts only if a full name disappeared from one file and appeared in exactly one other, and
the resource is the same one where further files hold resources of that name.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from kmerge_git.errors import KmergeError, TextOnly
from kmerge_git.kube import outline
from kmerge_git.kube.identity import identity
from kmerge_git.kube.moved_resources import Namesake, destination, holders, moved, once
from kmerge_git.merge.bulk import has_bulk
from kmerge_git.merge.three import Three, under
from kmerge_git.packages.package_files import File, Package, is_manifest
from kmerge_git.tree.documents import Document, Stream, YamlText
from kmerge_git.tree.nodes import Mapping, Sequence
from kmerge_git.tree.oddities import refuse_oddities

Contents = dict[str, dict[Hashable, int]]  # the documents' numbers, by file and resource
Carry = tuple[Hashable, str, str]  # a resource, its file, and the file to which it belongs
Way = tuple[str, str] | None  # the file that a resource left, and the file to which it moved


@dataclass(frozen=True, slots=True)
class Move:
    """Describe the move of a resource or, if its `name` is empty, the rename of a whole file."""

    name: str
    source: str
    target: str


def gather(
    at: Three[Package], named_by_dest: Collection[str] = ()
) -> tuple[Three[Package], list[Move]]:
    """Put each moved resource into the file that will hold it; return the packages and the moves.

    No resource is moved out of a file that dest renamed, because dest chose the place of that file.
    """
    contents = _contents(at)
    places = contents.map(lambda files: holders(files.items()))
    moves = []
    carries: Three[list[Carry]] = Three([], [], [])
    for key in sorted({*places.base, *places.ours, *places.theirs}, key=repr):
        files = under(places, key).map(lambda paths: set(paths or ()))
        ways = Three(*map(partial(_way, key, at.base, files.base), at.each(), files.each()))
        move = _move(key, files, ways, at, named_by_dest)
        if move is None:
            continue
        ends = {move.source, move.target}
        if len(ends) > 1:
            if any(ends <= paths for paths in files.each()):
                continue  # a version with the resource in both files has two of one name
            moves.append(move)
        for carry, paths, way in zip(carries.each(), files.each(), ways.each(), strict=True):
            start = way[1] if way and move.target not in paths else ""
            start = move.source if move.source in paths else start
            if start and start != move.target:
                carry.append((key, start, move.target))
    pairs = zip(at.each(), carries.each(), strict=True)
    return Three(*(_carried(package, carry, contents) for package, carry in pairs)), moves


def _contents(at: Three[Package]) -> Three[Contents]:
    """Return the resources of each version, for the files that differ between the versions."""
    contents: Three[Contents] = Three({}, {}, {})
    for path in sorted({*at.base, *at.ours, *at.theirs}):
        files = under(at, path)
        if files.ours == files.theirs and files.base in (None, files.ours):
            continue
        versions = [named_documents(path, file) for file in files.each()]
        if None in versions:
            continue  # one version is no manifest; the merge of the file reports that
        for files_of_side, named in zip(contents.each(), versions, strict=True):
            files_of_side[path] = {key: document.number for key, document in (named or {}).items()}
    return contents


def _way(key: Hashable, base: Package, before: set[str], side: Package, after: set[str]) -> Way:
    """Return the move of a resource on one side; look for its name in unchanged files, too."""
    way = moved(before, after)
    if way is None:
        return None
    known = _namesakes(base, key)
    paths = {one.path for one in known}
    fresh = [one for one in _namesakes(side, key) if one.path not in paths]
    old = next(one for one in known if one.path == way[0])
    return way if destination(old, known, fresh) == way[1] else None


def _namesakes(package: Package, key: Hashable) -> list[Namesake]:
    name = (key[3] if isinstance(key, tuple) else str(key)).encode()
    found = (
        (path, (named_documents(path, file) or {}).get(key))
        for path, file in package.items()
        if name in file.data
    )
    return [Namesake(path, document.content) for path, document in found if document]


def _move(
    key: Hashable,
    files: Three[set[str]],
    ways: Three[Way],
    at: Three[Package],
    named_by_dest: Collection[str],
) -> Move | None:
    """Return the move of a resource that left its file; prefer the move of the destination."""
    name = f"{key[1]}/{key[3]}" if isinstance(key, tuple) else str(key)
    if not files.base:  # both sides added the resource, in different files
        both = moved(files.theirs, files.ours)
        is_one = both and at.map(lambda side: len(_namesakes(side, key))).each() == (0, 1, 1)
        return Move(name, *both) if both and is_one else None
    way = ways.ours
    if not way and (way := ways.theirs) and way[0] in named_by_dest:
        way = way[0], way[0]
    return Move(name, *way) if way else None


def _carried(package: Package, carries: list[Carry], contents: Three[Contents]) -> Package:
    """Return a package with some resources moved from their files into other files."""
    result = dict(package)
    taken: dict[tuple[str, Hashable], Document] = {}
    for path, keys in holders((key, (start,)) for key, start, _ in carries).items():
        stream = stream_of(package[path])
        by_name = {full_name(document): document for document in stream.documents}
        taken |= {(path, key): by_name[key] for key in keys}
        rest = without(stream, {by_name[key].number for key in keys})
        if rest:
            result[path] = replace(package[path], data=stream.source.encode(rest))
        else:
            del result[path]
    arriving = holders(((key, start), (target,)) for key, start, target in carries)
    for target, arrivals in arriving.items():
        there = result.get(target, File(b"", package[arrivals[0][1]].mode))
        documents = {key: taken[start, key] for key, start in arrivals}
        orders = [side.get(target, {}) for side in (contents.theirs, contents.ours, contents.base)]
        result[target] = replace(there, data=_woven(there.data, documents, orders))
    return result


def _woven(
    data: bytes, arriving: dict[Hashable, Document], orders: list[dict[Hashable, int]]
) -> bytes:
    """Add documents to a file, in the order that they have in other versions."""
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


# -- the text of a file without some documents, or with some more


def without(stream: Stream, numbers: Collection[int]) -> str:
    """Return the text of a file without some of its documents."""
    kept = (document.text for document in stream.documents if document.number not in numbers)
    text = stream.prologue + "".join(kept) + stream.tail
    if 0 in numbers and not stream.documents[0].opening:
        text = text.removeprefix("---\n")
    return text if text.strip() not in ("", "---", "...") else ""


def arranged(stream: Stream, documents: Iterable[Document]) -> bytes:
    """Return the bytes of a file with these documents.

    The bytes are encoded like the stream, or like the first document if the stream is empty.
    """
    wanted = list(documents)
    text = stream.prologue
    for number, document in enumerate(wanted):
        opening = document.opening if document.source is stream.source else ""
        text += opening or ("---\n" if number or text else "")
        text += document.content
    source = stream.source if stream.source.text else wanted[0].source
    return source.encode(text + stream.tail)


# -- the names of resources in a file

_NOTHING = YamlText(b"").stream


def stream_of(file: File) -> Stream:
    """Parse a file into its stream of documents."""
    return YamlText(file.data).stream


def named_documents(path: str, file: File | None) -> dict[Hashable, Document] | None:
    """Return the resources of a manifest whose full names are unique.

    Return None for a file that is not a manifest. A template does not count as a manifest, because
    a block of the template can span several documents.
    """
    if file is None:
        return {}
    if not is_manifest(path, file):
        return None
    try:
        return once((full_name(document), document) for document in _resources(file))
    except KmergeError:
        return None


def names(path: str, file: File) -> frozenset[Hashable]:
    """Return the names of a file's resources, including generated names and items of a `List`."""
    if not is_manifest(path, file):
        return frozenset()
    try:
        return frozenset(name for document in _resources(file) for name in _any_names(document))
    except KmergeError:
        return frozenset()


def holds_only_names(path: str, file: File) -> bool:
    """Return whether every document of a file is a resource with a unique full name."""
    known = named_documents(path, file)
    return known is not None and len(known) == len(stream_of(file).documents)


def _resources(file: File) -> tuple[Document, ...]:
    """Return the documents of a manifest; raise an error for other or too large files."""
    if has_bulk(file.data):
        raise TextOnly(
            "kmerge cannot find moved resources: too many documents or list elements in the file"
        )
    stream = stream_of(file)
    refuse_oddities(stream, _NOTHING)
    return stream.documents


def full_name(document: Document) -> Hashable | None:
    """Return group, kind, namespace and name of a document, or None if it cannot be moved.

    A document that starts on the line of its `---` cannot be moved.
    """
    return None if document.inline else outline.full_name(document)


def _any_names(document: Document) -> list[Hashable]:
    known = outline.outlined(document)
    if known is not None:
        return [(*known, "")]
    root = document.root
    items = root.get("items") if isinstance(root, Mapping) else None
    nodes = [entry.value for entry in items.entries] if isinstance(items, Sequence) else []
    return [each.key for node in (root, *nodes) if (each := identity(node)) is not None]
