"""A whole file, as other programs read it: by PyYAML, or by a reader of JSON, and by nothing of ours.

The package proves each document by itself, in a text that it has split. Here nobody splits: the
reader gets all bytes of a result, and says how many documents they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import yaml
from marked_text import decided, size_for

LAW = "whole"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def documents(data: bytes, path: str = "") -> int | None:
    """How many documents there are; nothing where no reader takes it."""
    if path.endswith(".json"):
        return _documents_of_json(data)
    try:
        events = yaml.parse(data.decode("utf-8"), Loader=LOADER)
        return sum(isinstance(event, yaml.DocumentStartEvent) for event in events)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _documents_of_json(data: bytes) -> int | None:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a repeated key")
        return dict(pairs)

    try:
        text = data.decode("utf-8-sig")
        if text.strip():
            json.loads(text, object_pairs_hook=unique)
            return 1
        return 0
    except (ValueError, RecursionError):
        return None


def readings(
    result: bytes, versions: Iterable[bytes], *, clean: bool, size: int = 7
) -> list[bytes]:
    """A result, or what is left of it with every conflict decided for ours, and for theirs."""
    if clean:
        return [result]
    texts = [data.decode("utf-8", "replace").replace("\r\n", "\n") for data in versions]
    text = result.decode("utf-8", "replace").replace("\r\n", "\n")
    size = size_for(texts, size)
    return [decided(text, side, size).encode() for side in ("ours", "theirs")]


def unread(
    versions: Iterable[bytes], result: bytes, *, clean: bool, path: str = "", size: int = 7
) -> str:
    """What is wrong with a result that no reader takes; nothing if a version is as bad."""
    versions = list(versions)
    if any(documents(data, path) is None for data in versions if data):
        return ""
    for reading in readings(result, versions, clean=clean, size=size):
        if documents(reading, path) is None:
            return f"no reader takes it:\n{reading.decode(errors='replace')}"
    return ""
