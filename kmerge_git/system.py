"""The calls to the operating system on the driver's way, without the module `os`.

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
    """A variable of the environment, or None."""
    os = sys.modules.get("os")
    if os is not None:  # who changes the environment of this process does it there
        return os.environ.get(name)  # type: ignore[no-any-return]
    value = environment().get(name.encode())
    return None if value is None else decoded(value)


def environment() -> Mapping[Any, Any]:
    """All variables, as they are handed on to a process."""
    os = sys.modules.get("os")
    if os is None:
        return calls.environ
    # the bytes that it is made of, where it has them at hand
    found: Mapping[Any, Any] = getattr(os.environ, "_data", os.environ)
    return found


def decoded(data: bytes) -> str:
    """The text of a name or a value that the system gave."""
    return data.decode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())


def spawn(argv: list[str], out: int) -> int:
    """Start a program that writes to a file descriptor and reads and says nothing else."""
    actions = [
        (calls.POSIX_SPAWN_DUP2, out, 1),  # first: `out` may be one of the three itself
        (calls.POSIX_SPAWN_OPEN, 0, NULL, calls.O_RDONLY, 0),
        (calls.POSIX_SPAWN_OPEN, 2, NULL, calls.O_WRONLY, 0),
    ]
    return calls.posix_spawnp(argv[0], argv, environment(), file_actions=actions)


def all_of(fd: int) -> bytes:
    """What can be read from a file descriptor, which is closed."""
    chunks = []
    try:
        while chunk := calls.read(fd, 1 << 20):
            chunks.append(chunk)
    finally:
        calls.close(fd)
    return b"".join(chunks)


def contents(file: str, most: int = 1 << 20) -> bytes:
    """The first bytes of a small file; nothing where there is none."""
    try:
        fd = calls.open(file, calls.O_RDONLY)
    except OSError:
        return b""
    try:
        return calls.read(fd, most)
    except OSError:
        return b""
    finally:
        calls.close(fd)


def is_folder(path: str) -> bool:
    """Whether a path is a folder."""
    try:
        return calls.stat(path).st_mode & 0o170000 == 0o040000
    except (OSError, ValueError):
        return False


def exists(path: str) -> bool:
    """Whether a path leads anywhere."""
    try:
        calls.stat(path)
    except (OSError, ValueError):
        return False
    return True


def parent(path: str) -> str:
    """The folder of a path; empty where it names none."""
    return path[: max(path.rfind("/"), 0)]
