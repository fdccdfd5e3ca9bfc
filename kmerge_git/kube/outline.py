"""The identity of a resource read from its lines, without parsing the document.

It answers only for the plain shape that nearly all manifests have, and None for everything else:
then the document is parsed. A bundle of a thousand resources is paired in milliseconds this way.
"""

from __future__ import annotations

FIELDS = ("apiVersion", "kind", "metadata")
_ODD = frozenset("&*!|>{}[]#'\"%@`,")


def outline(text: str) -> tuple[str, str, str, str] | None:
    """(group, kind, namespace, name) of a document's text, or None where the lines do not tell."""
    found: dict[str, str] = {}
    for field in FIELDS:
        at = 0 if text.startswith(field + ":") else text.find("\n" + field + ":") + 1
        if not at and not text.startswith(field + ":"):
            return None
        if text.find("\n" + field + ":", at) >= 0 and at != text.find("\n" + field + ":", at) + 1:
            return None
        end = text.find("\n", at)
        found[field] = text[at + len(field) + 1 : end].split(" #", maxsplit=1)[0].strip()
        if field == "metadata":
            names = _names(text, end + 1) if not found[field] else None
    version, kind = found["apiVersion"], found["kind"]
    if names is None or not _plain(version) or not _plain(kind) or "kpt-merge" in text:
        return None
    group = version.rpartition("/")[0]
    return group, kind, names.get("namespace", ""), names["name"]


def _names(text: str, start: int) -> dict[str, str] | None:
    """`name` and `namespace` among the lines below `metadata:`."""
    indent = _indent_of_first(text, start)
    if indent <= 0:
        return None
    names: dict[str, str] = {}
    for key in ("name", "namespace"):
        mark = "\n" + " " * indent + key + ":"
        at = text.find(mark, start - 1)
        if at >= 0 and not _leaves(text[start:at]):
            value = (
                text[at + len(mark) : text.find("\n", at + 1)].split(" #", maxsplit=1)[0].strip()
            )
            again = text.find(mark, at + 1)
            if not _plain(value) or (again >= 0 and not _leaves(text[start:again])):
                return None
            names[key] = value
    return names if "name" in names else None


def _indent_of_first(text: str, start: int) -> int:
    """The column of the first line below `start` that has content."""
    while start < len(text):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        bare = line.lstrip(" ")
        if bare and bare[0] != "#":
            return len(line) - len(bare)
        start += len(line) + 1
    return 0


def _leaves(lines: str) -> bool:
    """Whether lines come back to the margin: the mapping ends among them."""
    return any(line and line[0] not in " #" for line in lines.split("\n"))


def _plain(value: str) -> bool:
    return bool(value) and value[0] not in _ODD and "'" not in value and '"' not in value
