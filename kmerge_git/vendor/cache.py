"""The user's own cache: what was fetched, and which source each directory was fetched from.

A record may come with anybody's pull request. The first source of a directory is believed, as ssh
believes a host it never saw; another one later needs the user's word.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.git.files import read_text, write_text
from kmerge_git.git.upstream import PROTOCOLS, Upstream
from kmerge_git.vendor.sources import is_local


def upstream(url: str) -> Upstream:
    """The cached repository of a source."""
    protocols = ("file",) if is_local(url) else PROTOCOLS  # whatever `url.*.insteadOf` says
    return Upstream(url, _root() / _name(url), protocols)


def check_known(url: str, directory: str, *, accept: bool) -> None:
    """Raise where the directory came from another source so far, unless the user accepts that."""
    known = read_text(_note(directory))
    if known and known != url and not accept:
        raise UsageError(
            f"its record names {url}, but so far it came from {known}",
            path=directory,
            hint="--accept-source, if that is meant",
        )


def remember(url: str, directory: str) -> None:
    """From now on the directory comes from this source."""
    note = _note(directory)
    if read_text(note) == url:
        return
    try:
        os.makedirs(note.parent, mode=0o700, exist_ok=True)
        write_text(note, url)
    except OSError as error:
        raise KmergeError(f"no cache: {error.strerror}", path=str(note.parent)) from None


def _note(directory: str) -> Path:
    return _root() / "sources" / _name(os.path.realpath(directory))


def _root() -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(given) if os.path.isabs(given) else Path("~/.cache").expanduser()
    return home / "kmerge" / "vendor"


def _name(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
