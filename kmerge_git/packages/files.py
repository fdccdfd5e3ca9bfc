"""The files of a directory in memory, and what a merge writes back."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass

from kmerge_git.errors import UsageError

SKIPPED = (".git",)
UNREAD = "check its name and permissions"
MANIFESTS = (".yaml", ".yml", ".json")
MANIFEST_NAMES = ("Kptfile", "Kustomization")


@dataclass(frozen=True, slots=True)
class File:
    """A file's bytes and permissions; of a symbolic link the target."""

    data: bytes
    mode: int = 0o644
    link: bool = False


Package = dict[str, File]


def is_manifest(path: str, file: File | None = None) -> bool:
    """Whether a file can hold resources, judged by its name."""
    name = path.rpartition("/")[2]
    return not (file and file.link) and (name.endswith(MANIFESTS) or name in MANIFEST_NAMES)


def read(root: str) -> Package:
    """All files below a directory, by their path with `/`."""
    found: Package = {}
    for folder, names, files in os.walk(root, onerror=_refuse):
        names[:] = sorted(n for n in names if n not in SKIPPED)
        links = [n for n in names if os.path.islink(os.path.join(folder, n))]
        for name in sorted(files) + links:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, root).replace(os.sep, "/")] = _file(path)
        names[:] = [n for n in names if n not in links]
    return found


def _refuse(error: OSError) -> None:
    raise UsageError(f"cannot read it: {error.strerror}", path=str(error.filename), hint=UNREAD)


def _file(path: str) -> File:
    try:
        about = os.lstat(path)
        if stat.S_ISLNK(about.st_mode):
            return File(os.fsencode(os.readlink(path)), link=True)
        if not stat.S_ISREG(about.st_mode):
            raise UsageError("it is neither a file nor a directory", path=path)
        with open(path, "rb") as file:
            return File(file.read(), stat.S_IMODE(about.st_mode))
    except OSError as error:
        raise UsageError(f"cannot read it: {error.strerror}", path=path, hint=UNREAD) from None


def write(root: str, path: str, file: File | None) -> None:
    """Put a file in its place by rename; None removes it, with the folders it leaves empty."""
    target = os.path.join(root, *path.split("/"))
    try:
        if file is None:
            os.unlink(target)
            _prune(root, os.path.dirname(target))
            return
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(target) and not os.path.islink(target):
            shutil.rmtree(target)  # its files went before
        _replace(target, file)
    except OSError as error:
        raise UsageError(f"cannot write it: {error.strerror}", path=target) from None


def _replace(target: str, file: File) -> None:
    fresh = f"{target}.kmerge-{os.getpid()}"
    try:
        if file.link:
            os.symlink(os.fsdecode(file.data), fresh)
        else:
            with open(fresh, "xb") as out:
                out.write(file.data)
            os.chmod(fresh, file.mode)
        os.replace(fresh, target)
    except OSError:
        if os.path.lexists(fresh):
            os.unlink(fresh)
        raise


def _prune(root: str, folder: str) -> None:
    while os.path.abspath(folder) != os.path.abspath(root) and not os.listdir(folder):
        os.rmdir(folder)
        folder = os.path.dirname(folder)
