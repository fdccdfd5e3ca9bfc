"""Files that are read whole, and replaced in one step: a kill leaves the old one or the new one."""

from __future__ import annotations

import os
from contextlib import suppress

from kmerge_git.errors import KmergeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def read_text(path: Path) -> str:
    """Return a file's text, any bytes kept as they are; '' if there is no such file."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise KmergeError(f"cannot be read: {error.strerror}", path=str(path)) from error


def content(top: Path, path: str) -> bytes | None:
    """Return the bytes of a file of the working tree; None where there is none."""
    file = top / path
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):  # a pipe is read for ever
            raise KmergeError("it is no file", path=path)
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KmergeError(error.strerror or str(error), path=path) from error


def start_of(file: Path, count: int) -> bytes:
    """Return the first bytes of a file; nothing where none can be read, and of links."""
    with suppress(OSError):
        if file.is_file() and not file.is_symlink():
            with file.open("rb") as opened:
                return opened.read(count)
    return b""


def write_text(path: Path, text: str, *, executable: bool = False) -> None:
    """Replace a file, through links and with its mode; empty text removes it."""
    path = path.resolve()  # a link into somebody's dotfiles stays a link
    if text:
        data = text.encode("utf-8", "surrogateescape")
        replace_file(path, data, new_mode=0o777 if executable else 0o666, parents=True)
    else:
        path.unlink(missing_ok=True)


def replace_file(
    path: Path | str,
    data: bytes,
    *,
    drafts: Path | str | None = None,
    mode: int | None = None,
    new_mode: int = 0o666,
    durable: bool = True,
    parents: bool = False,
) -> None:
    """Write a draft and put it in the file's place.

    The draft lies in the folder `drafts`, or beside the file, where no rename fails. A file
    that is there keeps its mode unless `mode` is given; the mode of a new one is `new_mode`, and
    the user's umask takes away from it. `durable`: the draft is on the disk before it is renamed.
    `parents`: missing folders are made.
    """
    folder = os.path.dirname(path)
    if parents and folder:
        os.makedirs(folder, exist_ok=True)
    if mode is None and os.path.exists(path):
        mode = os.stat(path).st_mode & 0o7777
    beside = f"{path}.kmerge-{os.getpid()}"
    draft = beside if drafts is None else os.path.join(drafts, f"kmerge-draft-{os.getpid()}")
    _write(draft, data, mode, new_mode, durable=durable)
    try:
        os.replace(draft, path)
    except OSError:
        os.unlink(draft)
        if draft == beside:
            raise
        # another file system: a linked worktree or a submodule may live on its own
        replace_file(path, data, mode=mode, new_mode=new_mode, durable=durable)


def _write(draft: str, data: bytes, mode: int | None, new_mode: int, *, durable: bool) -> None:
    """Write a new file; nobody can ever do more with it than `new_mode` says, or `mode`."""

    def create(name: str, flags: int) -> int:
        return os.open(name, flags, new_mode)

    if os.path.lexists(draft):  # a process of the same number was killed
        os.unlink(draft)
    try:
        with open(draft, "xb", opener=create) as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        if mode is not None:
            os.chmod(draft, mode)
    except BaseException:
        if os.path.lexists(draft):
            os.unlink(draft)
        raise
