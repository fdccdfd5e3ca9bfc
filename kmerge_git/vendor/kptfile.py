"""A Kptfile as a record: `upstream` is what was asked for, `upstreamLock` is what was found.

Both fields belong to the copy, not to the package, and so does its name, which `kpt pkg get` makes
that of the directory: in a merge they are the destination's.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from kmerge_git.errors import CannotParse, UsageError
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split
from kmerge_git.tree.values import to_value
from kmerge_git.vendor.record import Record, check_commit
from kmerge_git.vendor.sources import check_folder, check_ref, check_source, is_path

NAME = "Kptfile"
FIELDS = ("upstream", "upstreamLock")
HINT = "`kmerge vendor add --adopt` writes a record of its own"


def read(directory: str) -> Record | None:
    """The record that a Kptfile holds; None without one, and without both of its fields."""
    path = os.path.join(directory, NAME)
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise UsageError(f"cannot read it: {error.strerror}", path=path) from None
    return parse(data, path)


def parse(data: bytes, where: str) -> Record | None:
    """The record in the text of a Kptfile."""
    value = _value(_document(data, where))
    asked, found = (_git(value, field) for field in FIELDS)
    if not (asked and found.get("commit")):
        return None
    source = _source(str(asked.get("repo", "")))
    path = str(found.get("directory", asked.get("directory", ""))).strip("/") or "."
    record = Record(source, path, str(asked.get("ref", "HEAD")), str(found["commit"]))
    try:
        check_source(record.source)
        check_folder(record.path)
        check_ref(record.ref)
        check_commit(record.commit)
    except UsageError as error:
        raise UsageError(f"its upstream: {error}", path=where, hint=HINT) from None
    return record


def without_origin(data: bytes, own: bytes, where: str) -> bytes:
    """A version of a Kptfile without upstream, and with the name of the destination's own."""
    name = _metadata(_value(_document(own, where))).get("name")

    def put_aside(value: dict[str, Any]) -> None:
        for field in FIELDS:
            value.pop(field, None)
        if name and "name" in _metadata(value):
            value["metadata"]["name"] = name

    return _edited(data, where, put_aside)


def moved_on(data: bytes, where: str, record: Record, found: str) -> bytes:
    """The Kptfile with another commit on record; `found` is the full name of what was asked for."""

    def move(value: dict[str, Any]) -> None:
        short = found.removeprefix("refs/tags/").removeprefix("refs/heads/")
        asked, lock = value["upstream"]["git"], value["upstreamLock"]["git"]
        asked["ref"] = record.ref
        lock |= {"ref": short, "commit": record.commit}
        folder = "" if record.path == "." else record.path
        for git in (asked, lock):
            if str(git.get("directory", "")).strip("/") != folder:
                git["directory"] = f"/{folder}"

    return _edited(data, where, move)


def _edited(data: bytes, where: str, edit: Callable[[dict[str, Any]], None]) -> bytes:
    from kmerge_git.merge.reshape import reshape  # few packages have a Kptfile

    document = _document(data, where)
    before, after = _value(document), _value(document)
    edit(after)
    if before == after:
        return data
    source = document.source
    rest = source.text[document.end :]
    return source.encode(source.text[: document.start] + reshape(document, after) + rest)


def _document(data: bytes, where: str) -> Document:
    documents = split(Source(data, where)).documents
    if len(documents) != 1:
        raise CannotParse("a Kptfile is one document", path=where)
    return documents[0]


def _value(document: Document) -> dict[str, Any]:
    value = to_value(document.root)
    return value if isinstance(value, dict) else {}


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    found = value.get("metadata")
    return found if isinstance(found, dict) else {}


def _git(value: dict[str, Any], field: str) -> dict[str, Any]:
    inside = value.get(field)
    found = inside.get("git") if isinstance(inside, dict) else None
    return found if isinstance(found, dict) else {}


def _source(repo: str) -> str:
    """A repository as kpt spells it: `github.com/a/b` means https."""
    host = repo.partition("/")[0]
    return f"https://{repo}" if is_path(repo) and "." in host.strip(".") else repo
