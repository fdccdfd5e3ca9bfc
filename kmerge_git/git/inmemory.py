"""Run git's line merge by libgit2 over objects in memory, without a repository."""

from __future__ import annotations

from typing import Any

import pygit2
from pygit2 import enums
from pygit2.enums import MergeFavor, MergeFileFlag
from pygit2.ffi import C, ffi

from kmerge_git.outcome import Options
from kmerge_git.text.opaque_files import is_binary
from kmerge_git.visible import label

_PLAIN = Options()
_STYLES = {
    "merge": MergeFileFlag.STYLE_MERGE,
    "diff3": MergeFileFlag.STYLE_DIFF3,
    "zdiff3": MergeFileFlag.STYLE_DIFF3 | MergeFileFlag.STYLE_ZDIFF3,
}


class Memory(pygit2.OdbBackend):
    """Store git objects in memory, for as long as this store exists."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, tuple[int, bytes]] = {}

    def read_cb(self, oid: pygit2.Oid) -> tuple[int, bytes]:
        return self.objects[str(oid)]

    def read_prefix_cb(self, oid: pygit2.Oid) -> tuple[int, bytes, pygit2.Oid]:
        return (*self.objects[str(oid)], oid)

    def read_header_cb(self, oid: pygit2.Oid) -> tuple[int, int]:
        kind, data = self.objects[str(oid)]
        return kind, len(data)

    def exists_cb(self, oid: pygit2.Oid) -> bool:
        return str(oid) in self.objects

    def exists_prefix_cb(self, oid: pygit2.Oid) -> pygit2.Oid:
        _ = self.objects[str(oid)]  # a KeyError says that the object is missing
        return oid

    def write_cb(self, oid: pygit2.Oid, data: bytes, kind: int) -> None:
        self.objects[str(oid)] = (kind, bytes(data))

    def refresh_cb(self) -> None:
        """Do nothing, because no other process can change objects in memory."""


class Libgit2LineMerge:
    """Run the line merge of libgit2 over blobs in memory, without a process."""

    def __init__(self) -> None:
        self._memory = Memory()
        odb = pygit2.Odb()
        odb.add_backend(self._memory, 1)
        self._inner = pygit2.Repository()
        self._inner.set_odb(odb)

    def __call__(self, base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bool]:
        """Return the merged text and whether the text is free of conflicts.

        Return ours and False if libgit2 cannot merge.
        """
        text, count = self.merge_file(base, ours, theirs, Options())
        return (text, count == 0) if count >= 0 else (ours, False)

    def merge_file(
        self, base: bytes, ours: bytes, theirs: bytes, options: Options
    ) -> tuple[bytes, int]:
        """Return the text and the number of conflicts, as `git merge-file` does.

        The number is -1 if libgit2 cannot merge.
        """
        flags = MergeFileFlag.SIMPLIFY_ALNUM | _STYLES[options.style]
        favor = {"ours": MergeFavor.OURS, "theirs": MergeFavor.THEIRS}.get(options.favor)
        return self._merge((base, ours, theirs), favor or MergeFavor.NORMAL, flags, options)

    def readings(
        self, base: bytes, ours: bytes, theirs: bytes, *, patience: bool = False
    ) -> tuple[bytes, bytes]:
        """Return two merged texts: one takes ours in every conflict, the other takes theirs."""
        three, flags = (base, ours, theirs), MergeFileFlag.DEFAULT
        if patience:
            flags = MergeFileFlag.DIFF_PATIENCE
        to_ours, _ = self._merge(three, MergeFavor.OURS, flags)
        to_theirs, _ = self._merge(three, MergeFavor.THEIRS, flags)
        return to_ours, to_theirs

    def _merge(
        self,
        three: tuple[bytes, bytes, bytes],
        favor: MergeFavor,
        flags: MergeFileFlag,
        options: Options = _PLAIN,
    ) -> tuple[bytes, int]:
        if any(map(is_binary, three)):
            return b"", -1  # git takes no side of binary files either
        size, labels = options.marker_size, [_label(word) for word in options.labels]
        # version, ancestor_label, our_label, their_label, favor, flags, marker_size
        given = ffi.new("git_merge_file_options *", [1, *labels, int(favor), int(flags), size])
        result = ffi.new("git_merge_file_result *")
        entries = [self._put(data)._to_c() for data in three]
        code = C.git_merge_file_from_index(
            result, self._inner._repo, *(entry[0] for entry in entries), given
        )
        if code:
            return b"", -1
        try:
            text = bytes(ffi.buffer(result.ptr, result.len))
            is_clean = bool(result.automergeable)
        finally:
            C.git_merge_file_result_free(result)
            self._memory.objects.clear()
        if is_clean:
            return text, 0
        text = text if all(three) else _labelled(text, size, options.labels)
        return text, max(1, sum(line.startswith(b"<" * size + b" ") for line in text.split(b"\n")))

    def _put(self, data: bytes) -> pygit2.IndexEntry:
        oid = pygit2.hash(data)
        self._memory.objects[str(oid)] = (int(enums.ObjectType.BLOB), data)
        return pygit2.IndexEntry("file", oid, enums.FileMode.BLOB)


def _label(word: str) -> Any:
    """Return a label as a C string, which the caller must keep alive during the merge."""
    return ffi.new("char[]", label(word).encode("utf-8", "surrogateescape"))


def _labelled(text: bytes, size: int, labels: tuple[str, str, str]) -> bytes:
    """Return the text with the labels that libgit2 leaves out if a version is empty."""
    marks = dict(zip((b"|" * size, b"<" * size, b">" * size), labels, strict=True))
    lines = []
    for line in text.split(b"\n"):
        bare = line.removesuffix(b"\r")
        word = label(marks.get(bare, "")).encode("utf-8", "surrogateescape")
        lines.append(bare + b" " + word + line[len(bare) :] if word else line)
    return b"\n".join(lines)
