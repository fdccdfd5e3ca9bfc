"""Check the sources and refs that may be fetched, and sort tags by version."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from kmerge_git.errors import UsageError
from kmerge_git.packages.package_files import check_path

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.S)
_HELPER = re.compile(r"[A-Za-z0-9+.-]*::")
_SCP = re.compile(r"(?:([^/:]*)@)?(\[[^/\]]*\]|[^/:@\[\]]+):(.*)", re.S)
_NO_REF = re.compile(r"\.\.|@\{|//|[\x00-\x20\x7f~^:?*\[\\]|(^|/)\.|\.lock(/|$)|^[-/]|[./]$|^@?$")
_ABOUT_SECRETS = "the URL would be committed with the package; use a git credential helper instead"


def check_source(source: str) -> None:
    """Raise an error if a source must not be fetched or recorded."""
    scheme = _SCHEME.fullmatch(source)
    is_odd = " " in source and not is_path(source)
    if is_odd or not source or source != source.strip() or not source.isprintable():
        raise UsageError(
            f"{source!r}: not a URL or path, or it has spaces or unprintable characters"
        )
    if source.startswith("-"):
        raise UsageError(
            f"{source}: git would read this source as an option", hint="put ./ before a path"
        )
    if scheme:
        _check_url(source, scheme[1].lower(), scheme[2])
    elif _HELPER.match(source):
        raise UsageError(
            f"{source}: git would run a program for this source",
            hint="use an https or ssh URL, or a path",
        )
    elif not is_path(source):
        _check_scp(source)


def is_path(source: str) -> bool:
    """Return whether a source is a local path and not a URL of any spelling."""
    return not _SCHEME.match(source) and ":" not in source.partition("/")[0]


def is_local(source: str) -> bool:
    """Return whether a source can be fetched without a network."""
    return is_path(source) or source.lower().startswith("file://")


def recorded(given: str, directory: str) -> str:
    """Return a source for the record, with paths relative to the directory of the package."""
    if not is_path(given) or os.path.isabs(given):
        return given
    path = os.path.relpath(os.path.realpath(given), os.path.realpath(directory))
    return path if path.startswith("..") else f"./{path}"


def url_of(source: str, directory: str) -> str:
    """Return the URL or the absolute path of a recorded source."""
    if not is_path(source):
        return source
    return os.path.normpath(os.path.join(os.path.realpath(directory), source))


def check_ref(ref: str) -> None:
    """Raise an error unless a text can be the name of a branch or a tag, or a commit."""
    if _NO_REF.search(ref) or not ref.isprintable():
        raise UsageError(f"{ref!r} is not a valid name of a branch, tag or commit")


def check_folder(path: str) -> None:
    """Raise an error unless a path is `.` or stays inside the repository."""
    if path != ".":
        check_path(path, "the path in the repository")


def _check_url(source: str, scheme: str, rest: str) -> None:
    host = rest.partition("/")[0]
    user, at, name = host.rpartition("@")
    if scheme not in ("https", "ssh", "file"):
        why = "is not encrypted" if scheme in ("http", "git", "ftp") else "needs a helper program"
        raise UsageError(f"{scheme} {why}", path=_bare(source), hint="use https, ssh or file")
    if ":" in user or (at and scheme == "https"):
        raise UsageError(
            "the URL has a user name or password", path=_bare(source), hint=_ABOUT_SECRETS
        )
    if "?" in rest or "#" in rest:
        raise UsageError("the URL has `?` or `#`", path=_bare(source), hint=_ABOUT_SECRETS)
    if name.startswith("-") or user.startswith("-") or (not host and scheme != "file"):
        raise UsageError("the URL has no valid host", path=_bare(source))


def _check_scp(source: str) -> None:
    parts = _SCP.fullmatch(source)
    if parts is None or not parts[3] or parts[2].startswith("-") or parts[3].startswith("-"):
        raise UsageError(f"{source}: neither a URL nor USER@HOST:PATH", hint="put ./ before a path")
    if "@" in parts[3].partition("/")[0]:
        raise UsageError("the source has a password", path=_bare(source), hint=_ABOUT_SECRETS)


def _bare(source: str) -> str:
    """Return a source without the parts that might be secret."""
    scheme, between, rest = source.rpartition("://")
    rest = rest.partition("?")[0].partition("#")[0]
    host, slash, path = rest.partition("/")
    return f"{scheme}{between}{host.rpartition('@')[2]}{slash}{path}"


_VERSION = re.compile(
    r"(.*?)(\d{1,18}(?:\.\d{1,18})*)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?", re.S
)
Parts = tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class TagVersion:
    """Hold the parts of a tag: `chart-1.2.0-rc.1` has `chart-`, `1.2.0` and `rc.1`."""

    prefix: str
    numbers: tuple[int, ...]
    pre: str

    @property
    def rank(self) -> tuple[tuple[int, ...], bool, Parts]:
        """Return a sort key for versions: a pre-release comes before its release."""
        numbers = self.numbers
        while numbers and numbers[-1] == 0:
            numbers = numbers[:-1]
        parts = [
            (0, int(p), "") if p.isdecimal() and len(p) < 19 else (1, 0, p)
            for p in self.pre.split(".")
        ]
        return numbers, not self.pre, tuple(parts)


def version(tag: str) -> TagVersion | None:
    """Return the version in the name of a tag, or None if the name has no version."""
    match = _VERSION.fullmatch(tag)
    if match is None or not tag.isascii() or match[1].endswith("."):
        return None
    return TagVersion(match[1], tuple(map(int, match[2].split("."))), match[3] or "")


def newer(tag: str, tags: list[str]) -> list[str]:
    """Return the tags of newer versions, newest first; if `tag` is a release, skip pre-releases."""
    mine = version(tag)
    if mine is None:
        return []
    ranked = [
        (yours.rank, other)
        for other in tags
        if (yours := version(other)) and yours.prefix == mine.prefix
        if yours.rank > mine.rank and (mine.pre or not yours.pre)
    ]
    return [other for _, other in sorted(ranked, reverse=True)]
