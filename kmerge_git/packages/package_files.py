"""Read the files of a directory; judge the paths and links of a package.

Paths and links that a package must not hold are refused. Names that some systems cannot check out
are only reported.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from unicodedata import normalize

from kmerge_git.errors import UsageError
from kmerge_git.text.opaque_files import is_binary

GIT = ".git"
UNDERWAY = ".kmerge-update"  # the folder of an exchange that is not done
SAVED = ".kmerge-saved"  # files that were not put in place because somebody else wrote there
UNREAD = "check its name and permissions"
MANIFESTS = (".yaml", ".yml", ".json")
MANIFEST_NAMES = ("Kptfile", "Kustomization")
# HFS+ ignores these characters in names (see git's `core.protectHFS`)
_UNSEEN = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
# characters that Windows does not allow in names
_FOREIGN = frozenset('<>:"|?*\\')
_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)))
)
# a link or a pipe that takes a file's place at the last moment is neither followed nor waited for
_PLAINLY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class File:
    """Hold a file's bytes and permissions; the bytes of a symbolic link are its target."""

    data: bytes
    mode: int = 0o644
    link: bool = False

    @property
    def is_executable(self) -> bool:
        """Return whether git treats the file as executable."""
        return bool(self.mode & 0o100) and not self.link

    @property
    def is_binary(self) -> bool:
        """Return whether git treats the file as binary."""
        return is_binary(self.data)

    @property
    def essence(self) -> tuple[bytes, bool, bool]:
        """Return the bytes, kind and executable bit of a file, by which versions are compared."""
        return self.data, self.link, self.is_executable


Package = dict[str, File]


def is_manifest(path: str, file: File | None = None) -> bool:
    """Return whether a file can hold resources, judged by its name."""
    name = path.rpartition("/")[2]
    return not (file and file.link) and (name.endswith(MANIFESTS) or name in MANIFEST_NAMES)


def read(root: str) -> Package:
    """Return all files below a directory by their paths, without following links."""
    package: Package = {}
    folders = [""]
    while folders:
        folder = folders.pop()
        for name, path, is_folder in _entries(root, folder):
            if not folder and name in (GIT, UNDERWAY, SAVED):
                continue
            why = _reserved(name)
            if why:
                raise UsageError(
                    why, path=os.path.join(root, path), hint="remove it, or move it elsewhere"
                )
            if is_folder:
                folders.append(path)
            else:
                package[path] = _file(os.path.join(root, path))
    return dict(sorted(package.items()))


def _entries(root: str, folder: str) -> list[tuple[str, str, bool]]:
    """Return for each entry of a folder its name, its path and whether it is a directory."""
    place = os.path.join(root, folder) if folder else root
    prefix = f"{folder}/" if folder else ""
    try:
        with os.scandir(place) as entries:
            return [
                (entry.name, prefix + entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
            ]
    except OSError as error:
        why = f"cannot read: {error.strerror}"
        raise UsageError(why, path=place, hint=UNREAD) from None


def _file(path: str) -> File:
    try:
        if os.path.islink(path):
            return File(os.fsencode(os.readlink(path)), link=True)
        if not os.path.isfile(path):
            raise UsageError("this is neither a file nor a directory", path=path, hint="remove it")
        with open(os.open(path, _PLAINLY), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise UsageError(
                    "this is neither a file nor a directory", path=path, hint="remove it"
                )
            return File(file.read(), stat.S_IMODE(about.st_mode))
    except OSError as error:
        why = f"cannot read: {error.strerror}"
        raise UsageError(why, path=path, hint=UNREAD) from None


def check_path(path: str, where: str) -> None:
    """Refuse a path that is malformed, leads out of a package, or has a reserved name in it."""
    parts = path.split("/")
    if not all(parts) or {".", ".."} & {*parts} or "\0" in path:
        raise UsageError(f"`{path}` is not a valid relative path", path=where)
    why = next(filter(None, map(_reserved, parts)), "")
    if why:
        raise UsageError(f"{path}: {why}", path=where)


def _reserved(part: str) -> str:
    """Return why a package must not hold a file of this name, or '' if the name is allowed."""
    for piece in part.split("\\"):
        # as a file system might normalise the name, by the same rules as git
        name = piece.translate(_UNSEEN).lower().partition(":")[0].rstrip(". ")
        if name in (GIT, "git~1"):
            return "a package must not contain a name that git reads as `.git`"
        if name in (UNDERWAY, SAVED):
            return "a package must not contain a name that kmerge uses itself"
    return ""


def not_portable(paths: Iterable[str], old: Container[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield each file or folder that some systems cannot check out, and why.

    A file or folder on the way to an `old` path is not yielded.
    """
    spelled: dict[str, str] = {}  # what a file system may confuse -> the first such name
    seen = set()
    for path in sorted(paths, key=lambda path: (path not in old, path)):
        for name in accumulate(path.split("/"), "{}/{}".format):
            if name in seen:
                continue
            seen.add(name)
            first = spelled.setdefault(normalize("NFC", name.casefold()), name)
            if path in old:
                continue
            if first != name:
                is_case = first.casefold() == name.casefold()
                where = "macOS and Windows" if is_case else "macOS"
                yield name, f"has the same name as {first} on {where}"
            if why := _not_on_windows(name.rpartition("/")[2]):
                yield name, f"cannot be checked out on Windows: {why}"


def _not_on_windows(name: str) -> str:
    """Return why Windows refuses the name of a file or folder, or '' if Windows takes the name."""
    wrong = next((char for char in name if char in _FOREIGN or char < " "), "")
    if wrong:
        return f"the name contains `{wrong}`"
    if name.endswith((".", " ")):
        return "the name ends with a dot or a space"
    is_device = name.partition(".")[0].rstrip(" ").lower() in _DEVICES
    return "the name is reserved for a device" if is_device else ""


def check_links(package: Package, where: str) -> None:
    """Refuse a package with a link that may lead out of the package."""
    links = {_alike(path): file for path, file in package.items() if file.link}
    for path, file in package.items():
        if file.link:
            target = os.fsdecode(file.data)
            why = _astray(path, target, links)
            if why:
                raise UsageError(f"link {path} -> {target}: {why}", path=where)


def _astray(path: str, target: str, links: Package) -> str:
    """Return why the target of a link is not allowed, or '' if it is allowed."""
    if not target or "\0" in target or os.path.isabs(target):
        return "the target is not a relative path"
    places = list(_steps(path.split("/")[:-1], target.split("/")))
    if None in places:
        return "the target is outside of the package"
    for place in filter(None, places[:-1]):  # the last place may be a link
        if _alike(place) in links:
            return f"the target goes through another link, {place}"
    return next(filter(None, map(_reserved, target.split("/"))), "")


def _steps(around: list[str], parts: list[str]) -> Iterator[str | None]:
    """Yield each folder that a relative path goes through; yield None if it leaves the package."""
    here = list(around)
    for part in parts:
        if part == ".." and not here:
            yield None
        elif part == "..":
            here.pop()
            yield "/".join(here)
        elif part not in ("", "."):
            here.append(part)
            yield "/".join(here)


def _alike(path: str) -> str:
    """Return the same text for paths that a file system may confuse if it ignores case."""
    return path.translate(_UNSEEN).casefold()
