"""The calls of the driver to the operating system, without the module `os`.

Importing `os` costs the driver as much as all of its own settings: it brings abstract classes and
two path modules along. What is needed here are a few calls and the environment. Where `os` is
loaded already, or the system is not POSIX, `os` answers.
"""

from __future__ import annotations

import sys

try:
    import posix as _calls
except ImportError:
    import os as _calls  # type: ignore[no-redef]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

calls = _calls
NULL = "/dev/null"
CAN_SPAWN = hasattr(calls, "posix_spawnp")


def variable(name: str) -> str | None:
    """Return a variable of the environment, or None."""
    os = sys.modules.get("os")
    if os is not None:  # changes of this process' environment are made there
        return os.environ.get(name)  # type: ignore[no-any-return]
    value = environment().get(name.encode())
    return None if value is None else decoded(value)


def environment() -> Mapping[Any, Any]:
    """Return all variables, in the form in which a process gets them."""
    os = sys.modules.get("os")
    if os is None:
        return calls.environ
    # its bytes, where it keeps them
    variables: Mapping[Any, Any] = getattr(os.environ, "_data", os.environ)
    return variables


def decoded(data: bytes) -> str:
    """Decode a name or a value of the system."""
    return data.decode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())


def spawn(argv: list[str], out: int) -> int:
    """Start a program with a file descriptor for its output, without input and error messages."""
    actions = [
        (calls.POSIX_SPAWN_DUP2, out, 1),  # first: `out` may be one of the three itself
        (calls.POSIX_SPAWN_OPEN, 0, NULL, calls.O_RDONLY, 0),
        (calls.POSIX_SPAWN_OPEN, 2, NULL, calls.O_WRONLY, 0),
    ]
    return calls.posix_spawnp(argv[0], argv, environment(), file_actions=actions)


def all_of(fd: int) -> bytes:
    """Read a file descriptor to its end, and close it."""
    chunks = []
    try:
        while chunk := calls.read(fd, 1 << 20):
            chunks.append(chunk)
    finally:
        calls.close(fd)
    return b"".join(chunks)


def contents(file: str, most: int = 1 << 20) -> bytes:
    """Return the first bytes of a small file; nothing where there is none."""
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
    """Return whether a path leads to anything."""
    try:
        calls.stat(path)
    except (OSError, ValueError):
        return False
    return True


def parent(path: str) -> str:
    """Return the folder of a path; empty where it names none."""
    return path[: max(path.rfind("/"), 0)]
