"""Trees with some files replaced, on git's own bytes: a name can be any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kmerge_git.git.sides import TreeEntry

Node = tuple[int, bytes]  # mode and id
Below = dict[bytes, "Below | Node | None"]
FOLDER = 0o40000
_ID = 20  # bytes: libgit2 opens no repository with longer ids


def with_files(
    read: Callable[[str], bytes],
    write: Callable[[bytes], str],
    tree: str,
    files: Mapping[bytes, TreeEntry | None],
) -> str:
    """The tree with these files in it, those without an entry taken out of it."""
    return write(_grown(read, write, read(tree), _nested(files)))


def _nested(files: Mapping[bytes, TreeEntry | None]) -> Below:
    """The files by folder; what goes comes first, so that a file can give way to a folder."""
    top: Below = {}
    for path, entry in sorted(files.items(), key=lambda item: item[1] is not None):
        *folders, name = path.split(b"/")
        at = top
        for folder in folders:
            below = at.get(folder)
            if not isinstance(below, dict):
                below = at[folder] = {}
            at = below
        if entry is not None:
            at[name] = entry.mode, bytes.fromhex(entry.oid)
        elif not at.get(name):
            at[name] = None
    return top


def _grown(
    read: Callable[[str], bytes], write: Callable[[bytes], str], data: bytes, new: Below
) -> bytes:
    """The bytes of a tree with what is new in it; empty if nothing is left."""
    nodes = dict(_nodes(data))
    for name, what in new.items():
        if isinstance(what, dict):
            old = nodes.get(name)
            inner = read(old[1].hex()) if old and old[0] == FOLDER else b""
            inner = _grown(read, write, inner, what)
            node = (FOLDER, bytes.fromhex(write(inner))) if inner else None
        else:
            node = what
        nodes.pop(name, None)
        if node is not None:
            nodes[name] = node
    # git sorts a folder as if its name ended with a slash
    rows = sorted(nodes.items(), key=lambda item: item[0] + b"/" * (item[1][0] == FOLDER))
    return b"".join(b"%o %s\0%s" % (mode, name, oid) for name, (mode, oid) in rows)


def _nodes(data: bytes) -> Iterator[tuple[bytes, Node]]:
    at = 0
    while at < len(data):
        space, end = data.index(b" ", at), data.index(b"\0", at)
        mode = int(data[at:space], 8)
        at = end + 1 + _ID
        yield data[space + 1 : end], (mode, data[end + 1 : at])
