"""Run git's own line merge, `git merge-file`.

Git's line merge is used if no other merge works. It is also used as a second opinion if the line
merge of kmerge does not agree with the result.
"""

from __future__ import annotations

import sys

from kmerge_git.system import all_of, calls, exists, spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class LineMerge(Protocol):
        """Represent a line merge that was started and whose result may not be ready."""

        def result(self) -> tuple[bytes, int]: ...


class GitMergeFile:
    """Run `git merge-file -p` for three files; `result` waits until git has finished."""

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
        self._argv: list[str | bytes] = ["git", "merge-file", "-p", "-q"]
        self._argv.append(f"--marker-size={marker_size}")
        if style in ("diff3", "zdiff3"):
            self._argv.append(f"--{style}")
        if favor in ("ours", "theirs"):
            self._argv.append(f"--{favor}")
        for label in (labels[1], labels[0], labels[2]):
            word = label if label.isprintable() else _one_line(label)
            self._argv += ["-L", word.encode("utf-8", "surrogateescape")]  # in any locale
        self._argv += [ours, base, theirs]
        self._out, self._pid = _spawn(self._argv)

    def result(self) -> tuple[bytes, int]:
        """Return the merged text and the number of conflicts.

        If git cannot merge the files line by line, the number of conflicts is -1.
        """
        if self._pid < 0:
            return _run(self._argv)
        _, status = calls.waitpid(self._pid, 0)
        code = calls.waitstatus_to_exitcode(status)
        calls.lseek(self._out, 0, 0)
        text = all_of(self._out)
        return (text, code) if 0 <= code <= 127 else (b"", -1)


def _one_line(text: str) -> str:
    from kmerge_git.visible import label  # few labels have unprintable characters

    return label(text)


def _spawn(argv: list[str | bytes]) -> tuple[int, int]:
    """Start git; return its output file and process id, or (-1, -1) if a cheap start fails."""
    if not hasattr(calls, "memfd_create"):
        return -1, -1
    out = calls.memfd_create("kmerge-lines")
    try:
        return out, spawn(argv, out)
    except OSError:
        calls.close(out)
        return -1, -1


def _run(argv: list[str | bytes]) -> tuple[bytes, int]:
    import subprocess

    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        _say(f"cannot run git: {error}")
        return b"", -1
    return (done.stdout, done.returncode) if 0 <= done.returncode <= 127 else (b"", -1)


def _say(problem: str) -> None:
    from kmerge_git.visible import visible

    if sys.stderr is not None:
        print(visible(f"kmerge: {problem}"), file=sys.stderr)


class TemporaryFiles:
    """Write three texts to temporary files and merge the files line by line."""

    __slots__ = ("_folder", "_merge", "_paths")

    def __init__(self, texts: tuple[bytes, bytes, bytes], **options: object) -> None:
        from tempfile import mkdtemp

        self._paths: list[str] = []
        self._folder = ""
        self._merge: GitMergeFile | None = None
        try:
            self._folder = mkdtemp(prefix="kmerge-")
            for name, text in zip(("base", "ours", "theirs"), texts, strict=True):
                self._paths.append(f"{self._folder}/{name}")
                with open(self._paths[-1], "wb") as file:
                    file.write(text)
            base, ours, theirs = self._paths
            self._merge = GitMergeFile((base, ours, theirs), **options)  # type: ignore[arg-type]
        except OSError as error:
            _say(f"cannot write temporary files: {error}")
            self._remove()
        except BaseException:  # such as a time limit
            self._remove()
            raise

    def result(self) -> tuple[bytes, int]:
        """Return the result of `GitMergeFile.result` and remove the temporary files.

        If the files could not be written, the number of conflicts is -1.
        """
        if self._merge is None:
            return b"", -1
        try:
            return self._merge.result()
        finally:
            self._remove()

    def _remove(self) -> None:
        for path in self._paths:
            if exists(path):
                calls.unlink(path)
        if self._folder:
            calls.rmdir(self._folder)


class Given:
    """Hold the result of a line merge that the caller has made already."""

    __slots__ = ("clean", "text")

    def __init__(self, text: bytes, clean: bool) -> None:
        self.text = text
        self.clean = clean

    def result(self) -> tuple[bytes, int]:
        return self.text, 0 if self.clean else 1
