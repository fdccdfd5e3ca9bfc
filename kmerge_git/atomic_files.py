"""Files that are replaced in one step: whoever kills it leaves the old one or the new one."""

from __future__ import annotations

import os
from pathlib import Path

from kmerge_git.errors import KmergeError


def read_text(path: Path) -> str:
    """A file's text, any bytes kept as they are; '' if there is no such file."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise KmergeError(f"cannot be read: {error.strerror}", path=str(path)) from error


def content(top: Path, path: str) -> bytes | None:
    """What a file of the working tree holds; None where there is none."""
    file = top / path
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):  # a pipe is read for ever
            raise KmergeError("it is no file", path=path)
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KmergeError(error.strerror or str(error), path=path) from error


def write_text(path: Path, text: str, *, executable: bool = False) -> None:
    """Replace a file, through links and with its mode; empty text removes it."""
    path = path.resolve()  # a link into somebody's dotfiles stays a link
    if text:
        data = text.encode("utf-8", "surrogateescape")
        replace_file(path, data, executable=executable, drafts=path.parent)
    else:
        path.unlink(missing_ok=True)


def replace_file(
    path: Path, data: bytes, *, executable: bool, drafts: Path, durable: bool = True
) -> None:
    """Write a draft in the folder `drafts` and put it in the file's place, with the file's mode.

    `durable`: it is on the disk before it takes the place.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        permissions = path.stat().st_mode & 0o777
    except FileNotFoundError:
        permissions = (0o777 if executable else 0o666) & ~_umask()
    draft = drafts / f"kmerge-draft-{os.getpid()}"
    _write(draft, data, permissions, durable=durable)
    try:
        os.replace(draft, path)
    except OSError:
        draft.unlink()
        if drafts == path.parent:
            raise
        # another file system: a linked worktree or a submodule may live on its own
        draft = path.with_name(f".{path.name}.kmerge-{os.getpid()}")
        _write(draft, data, permissions, durable=durable)
        os.replace(draft, path)


def _write(draft: Path, data: bytes, permissions: int, *, durable: bool) -> None:
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        draft.chmod(permissions)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
