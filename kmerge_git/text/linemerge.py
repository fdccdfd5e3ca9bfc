"""Git's own line merge, `git merge-file`, started early and asked late.

It is the fallback of everything, and the second opinion of every structural merge.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class LineMerge(Protocol):
        """A line merge that has been started."""

        def result(self) -> tuple[bytes, int]: ...
        def abandon(self) -> None: ...


class GitMergeFile:
    """`git merge-file -p` over three files; `result` waits for it."""

    __slots__ = ("_argv", "_out", "_pid")

    def __init__(
        self,
        paths: tuple[str, str, str],
        *,
        marker_size: int = 7,
        labels: tuple[str, str, str] = ("base", "ours", "theirs"),
        style: str = "merge",
        favor: str = "",
    ) -> None:
        base, ours, theirs = paths
        self._argv = ["git", "merge-file", "-p", "-q", f"--marker-size={marker_size}"]
        if style in ("diff3", "zdiff3"):
            self._argv.append(f"--{style}")
        if favor in ("ours", "theirs"):
            self._argv.append(f"--{favor}")
        for label in (labels[1], labels[0], labels[2]):
            self._argv += ["-L", label]
        self._argv += [ours, base, theirs]
        self._out, self._pid = _spawn(self._argv)

    def result(self) -> tuple[bytes, int]:
        """(merged text, number of conflicts); -1 conflicts: git could not merge by lines."""
        if self._pid < 0:
            return _run(self._argv)
        _, status = os.waitpid(self._pid, 0)
        code = os.waitstatus_to_exitcode(status)
        os.lseek(self._out, 0, os.SEEK_SET)
        text = _read_all(self._out)
        os.close(self._out)
        if 0 <= code <= 127:
            return text, code
        return b"", -1

    def abandon(self) -> None:
        """Nobody needs the answer: wait for the process and throw it away."""
        if self._pid >= 0:
            os.waitpid(self._pid, 0)
            os.close(self._out)


def _spawn(argv: list[str]) -> tuple[int, int]:
    """(file of the output, process), or (-1, -1) where this system cannot do it cheaply."""
    if not (hasattr(os, "posix_spawnp") and hasattr(os, "memfd_create")):
        return -1, -1
    out = os.memfd_create("kmerge-lines")
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, out, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    try:
        return out, os.posix_spawnp("git", argv, _environment(), file_actions=actions)
    except OSError:
        os.close(out)
        return -1, -1


def _environment() -> Mapping[str, str]:
    """The environment; as the bytes that it is made of, where it has them at hand."""
    found: Mapping[str, str] = getattr(os.environ, "_data", os.environ)
    return found


def _run(argv: list[str]) -> tuple[bytes, int]:
    import subprocess

    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        print(f"kmerge: cannot run git: {error}", file=sys.stderr)
        return b"", -1
    return (done.stdout, done.returncode) if 0 <= done.returncode <= 127 else (b"", -1)


def _read_all(fd: int) -> bytes:
    chunks = []
    while chunk := os.read(fd, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)


class TemporaryFiles:
    """Three texts as files, for a line merge of texts that are not in files yet."""

    __slots__ = ("_folder", "_merge")

    def __init__(self, texts: tuple[bytes, bytes, bytes], **options: object) -> None:
        from tempfile import mkdtemp

        self._folder = mkdtemp(prefix="kmerge-")
        paths = []
        for name, text in zip(("base", "ours", "theirs"), texts, strict=True):
            paths.append(os.path.join(self._folder, name))
            with open(paths[-1], "wb") as file:
                file.write(text)
        self._merge = GitMergeFile((paths[0], paths[1], paths[2]), **options)  # type: ignore[arg-type]

    def result(self) -> tuple[bytes, int]:
        """As `GitMergeFile.result`; the files are gone afterwards."""
        try:
            return self._merge.result()
        finally:
            self._remove()

    def abandon(self) -> None:
        """As `GitMergeFile.abandon`."""
        self._merge.abandon()
        self._remove()

    def _remove(self) -> None:
        for name in ("base", "ours", "theirs"):
            os.unlink(os.path.join(self._folder, name))
        os.rmdir(self._folder)


class Once:
    """A line merge that may be asked more than once."""

    __slots__ = ("_answer", "_lines")

    def __init__(self, lines: LineMerge) -> None:
        self._lines = lines
        self._answer: tuple[bytes, int] | None = None

    def result(self) -> tuple[bytes, int]:
        if self._answer is None:
            self._answer = self._lines.result()
        return self._answer

    def abandon(self) -> None:
        if self._answer is None:
            self._lines.abandon()


class Given:
    """A line merge that a caller made."""

    __slots__ = ("clean", "text")

    def __init__(self, text: bytes, clean: bool) -> None:
        self.text = text
        self.clean = clean

    def result(self) -> tuple[bytes, int]:
        return self.text, 0 if self.clean else 1

    def abandon(self) -> None:
        return None
