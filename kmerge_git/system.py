"""Call the operating system for the driver without importing the module `os`.

Importing `os` costs the driver as much time as reading all settings, because `os` loads abstract
classes and two path modules. The driver needs only a few system calls and the environment.
"""

from __future__ import annotations

import gc
import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

calls = posix
NULL = "/dev/null"
_IGNORED = (13, 25)  # SIGPIPE and SIGXFSZ, which Python ignores and a program must not


class GarbageStays:
    """Keep the garbage collector off: nearly all objects that a merge makes stay in use.

    A large merge would take three times as long with the collector.
    """

    __slots__ = ("was_on",)

    def __enter__(self) -> None:
        self.was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self.was_on:
            gc.enable()


def variable(name: str) -> str | None:
    """Return the value of an environment variable, or None if the variable is not set."""
    os = sys.modules.get("os")
    if os is not None:  # changes of this process' environment are made there
        return os.environ.get(name)  # type: ignore[no-any-return]
    value = environment().get(name.encode())
    return None if value is None else decoded(value)


def environment() -> Mapping[Any, Any]:
    """Return all environment variables, in the form in which a new process gets them."""
    os = sys.modules.get("os")
    if os is None:
        return calls.environ
    # `os` may keep the variables as bytes
    variables: Mapping[Any, Any] = getattr(os.environ, "_data", os.environ)
    return variables


def decoded(data: bytes) -> str:
    """Decode bytes of the system, such as a file name or an environment variable, to text."""
    return data.decode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())


def spawn(argv: list[str] | list[str | bytes], out: int, errors: int = -1) -> int:
    """Start a program that writes to the file descriptor `out`, and return the process id.

    The program gets no input. Its error messages go to the descriptor `errors`, or nowhere.
    """
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
        (calls.POSIX_SPAWN_DUP2, out, 1),  # comes first because `out` may be 0, 1 or 2
        (calls.POSIX_SPAWN_OPEN, 0, NULL, calls.O_RDONLY, 0),
        (calls.POSIX_SPAWN_DUP2, errors, 2)
        if errors > 2
        else (calls.POSIX_SPAWN_OPEN, 2, NULL, calls.O_WRONLY, 0),
    ]
    return calls.posix_spawnp(
        argv[0], argv, environment(), file_actions=actions, setsigdef=_IGNORED
    )


def all_of(fd: int) -> bytes:
    """Read a file descriptor to its end, then close the descriptor."""
    chunks = []
    try:
        while chunk := calls.read(fd, 1 << 20):
            chunks.append(chunk)
    finally:
        calls.close(fd)
    return b"".join(chunks)


def contents(file: str, most: int = 1 << 20) -> bytes:
    """Return the first `most` bytes of a file, or b'' if the file cannot be read."""
    try:
        fd = calls.open(file, calls.O_RDONLY)
        try:
            return calls.read(fd, most)
        finally:
            calls.close(fd)
    except OSError:
        return b""


def is_folder(path: str) -> bool:
    """Return whether a path is a folder."""
    try:
        return calls.stat(path).st_mode & 0o170000 == 0o040000
    except (OSError, ValueError):
        return False


def exists(path: str) -> bool:
    """Return whether a path leads to an existing file or folder."""
    try:
        calls.stat(path)
    except (OSError, ValueError):
        return False
    return True


def parent(path: str) -> str:
    """Return the folder part of a path, or '' if the path has no folder part."""
    return path[: max(path.rfind("/"), 0)]
