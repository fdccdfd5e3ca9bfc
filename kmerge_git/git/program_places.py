"""Judge the place of an installed program: who may change or remove what lies there?"""

from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path

from kmerge_git.errors import UsageError

# how to install kmerge so that it stays, by the tool that runs it from its cache
LASTING = {
    "uvx": "uv tool install kmerge-git",
    "pipx run": "pipx install kmerge-git",
    "pre-commit": "uv tool install kmerge-git",
    "prek": "uv tool install kmerge-git",
}
# uv's cache may be anywhere (`--cache-dir`, `uv.toml`), but its folders have these names
OF_UV = re.compile(r"(?:archive|builds|environments)-v\d+")


def require_lasting() -> None:
    """Raise an error if this kmerge runs from a cache: its path must not be registered."""
    tool = cache_of(Path(sys.prefix))
    if tool:
        raise UsageError(
            f"this kmerge runs from the cache of {tool}, which can be cleared at any time",
            hint=f"run `{LASTING[tool]}`, then `kmerge install` with the same options",
        )


def cache_of(folder: Path) -> str:
    """Return the tool in whose cache a folder lies, or '' if it lies in none."""
    resolved = folder.resolve()
    for tool, caches in _caches().items():
        known = [Path(cache).expanduser().resolve() for cache in caches if cache]
        if any(map(resolved.is_relative_to, known)):
            return tool
    tagged = (above for above in resolved.parents if OF_UV.fullmatch(above.name))
    return "uvx" if any(above.with_name("CACHEDIR.TAG").exists() for above in tagged) else ""


def working_tree(path: Path, top: Path) -> Path | None:
    """Return the working tree in which a path lies: that at `top`, or any that has a `.git`."""
    for above in (path, *path.parents):
        if above == top.resolve() or os.path.lexists(above / ".git"):
            return above
    return None


def open_place(path: Path) -> Path | None:
    """Return the file or the folder above it that somebody else than this user and root may write.

    A sticky folder is such a place, too: others may make what was removed there.
    """
    for place in (path, *path.parents):
        info = os.stat(place)
        if info.st_uid not in (0, os.geteuid()) or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return place
    return None


def _caches() -> dict[str, list[str]]:
    """Return the folders of each tool that the tool may empty."""
    usual = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    given = os.environ.get
    return {
        "uvx": [f"{usual}/uv", given("UV_CACHE_DIR", "")],
        "pipx run": [
            *(f"{usual}/pipx", "~/.local/pipx/.cache", "~/.local/share/pipx/.cache"),
            given("PIPX_HOME", "") + "/.cache",
        ],
        "pre-commit": [f"{usual}/pre-commit", given("PRE_COMMIT_HOME", "")],
        "prek": [f"{usual}/prek", given("PREK_HOME", "")],
    }
