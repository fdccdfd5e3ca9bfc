"""Two versions of a package as a patch that `git apply` takes."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.packages.package_files import File, Package
from kmerge_git.text.git_patch import file_patch


def patch(base: Package, local: Package) -> Iterator[bytes]:
    """The lines of the patch from base to local, paths as they are in the package."""
    for path in sorted({*base, *local}):
        old, new = base.get(path), local.get(path)
        if old is None or new is None or old.essence != new.essence:
            yield from _file(path, old, new)


def _file(path: str, old: File | None, new: File | None) -> Iterator[bytes]:
    if old and new and old.link != new.link:  # git has no patch for that but both
        yield from _file(path, old, None)
        yield from _file(path, None, new)
        return
    data = old.data if old else None, new.data if new else None
    yield from file_patch((path, path), data, (_mode(old), _mode(new)))


def _mode(file: File | None) -> bytes:
    if file is None:
        return b""
    if file.link:
        return b"120000"
    return b"100755" if file.is_executable else b"100644"
