"""Read whole files, and replace a file in one step so that a kill never leaves half a file."""

from __future__ import annotations

import os
from contextlib import suppress

from kmerge_git.errors import KmergeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def read_text(path: Path) -> str:
    """Return the text of a file with undecodable bytes kept, or '' if the file is missing."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise KmergeError(f"cannot be read: {error.strerror}", path=str(path)) from error


def content(top: Path, path: str) -> bytes | None:
    """Return the bytes of a file in the working tree, or None if the file is missing."""
    file = top / path
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):  # reading a pipe may never end
            raise KmergeError("not a regular file", path=path)
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KmergeError(error.strerror or str(error), path=path) from error


def start_of(file: Path, count: int) -> bytes:
    """Return the first `count` bytes of a file, or b'' for a link or an unreadable file."""
    with suppress(OSError):
        if file.is_file() and not file.is_symlink():
            with file.open("rb") as opened:
                return opened.read(count)
    return b""


def write_text(path: Path, text: str, *, executable: bool = False) -> None:
    """Replace the text of a file, or remove the file if the text is empty.

    The file keeps its mode, and a link to the file stays a link.
    """
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
    """Write the data to a draft file, then rename the draft to `path`.

    The draft is in the folder `drafts`, or next to the file if `drafts` is None or is on
    another file system. An existing file keeps its mode unless `mode` is given. A new file gets
    `new_mode`, from which the user's umask is subtracted. With `durable`, the draft is on the disk
    before the rename. With `parents`, missing folders are made.
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
        # `drafts` is on another file system, as it may be for a linked worktree or a submodule
        replace_file(path, data, mode=mode, new_mode=new_mode, durable=durable)


def _write(draft: str, data: bytes, mode: int | None, new_mode: int, *, durable: bool) -> None:
    """Write a new file whose permissions never exceed `new_mode` or `mode`."""

    def create(name: str, flags: int) -> int:
        return os.open(name, flags, new_mode if mode is None else mode)

    if os.path.lexists(draft):  # left by a killed process with the same process id
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
