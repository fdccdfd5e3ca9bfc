"""Paths as kustomizations write them: beside a file, in a revision (`REV:PATH`), or elsewhere."""

from __future__ import annotations

from posixpath import dirname, join, normpath

REMOTE = ("://", "git@", "?ref=", "?version=", "github.com/", "github.com:", "git::", "gh:")
PLACEHOLDERS = ("$", "{{", "{%", "<", "%")
DOMAINS = ("com", "org", "net", "io", "dev", "de", "eu", "cloud", "local", "internal", "corp")


def folder_of(path: str) -> str:
    """The folder of a file; that of `REV:FILE` is `REV:`."""
    revision, colon, rest = path.partition(":")
    return revision + colon + dirname(rest) if colon else dirname(path)


def inside_of(folder: str, entry: str) -> str:
    """The path that an entry of a kustomization in a folder stands for."""
    revision, colon, rest = folder.partition(":")
    if not colon:
        return normpath(join(folder, entry))
    path = normpath(join(rest, entry))
    return revision + colon + ("" if path == "." else path)


def is_remote(entry: str) -> bool:
    """Whether an entry stands for something on another machine.

    kustomize takes URLs, `git@HOST:PATH`, `HOST/ORG/REPO` and all that names a revision.
    """
    if any(mark in entry for mark in REMOTE) or ".git/" in entry or entry.endswith(".git"):
        return True
    host, slash, _ = entry.partition("/")
    user, at, _ = host.partition("@")
    domain = host.rpartition(".")[2].partition(":")[0]
    is_host = "." in host.lstrip(".") and domain in DOMAINS
    return bool(slash) and (is_host or bool(user and at and ":" in host))


def has_placeholder(entry: str) -> bool:
    """Whether something writes another text into an entry before kustomize reads it."""
    marked = any(mark in entry for mark in PLACEHOLDERS)
    return marked or entry.count("@") > 1 or entry.count("__") > 1
