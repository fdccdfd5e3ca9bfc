"""Read the identity of a resource from its lines, without parsing the document.

Nearly all manifests are written in the plain form that `outline` reads. For any other form
`outline` returns None, and the caller parses the document. This way a bundle of a thousand
resources is paired in milliseconds.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.tree.documents import Document

    FullName = tuple[str, str, str, str]

FIELDS = ("apiVersion", "kind", "metadata")
_ODD = frozenset("&*!|>{}[]#'\"%@`,")


def full_name(document: Document) -> FullName | None:
    """Return the full name of a document, or None if the document has no name.

    The document is parsed only if its lines do not have the plain form.
    """
    name = outlined(document)
    if name is not None:
        return name
    from kmerge_git.kube.identity import identity_in  # most documents are plain

    known = identity_in(document)
    return known.key[:4] if known is not None and known.name else None


def outlined(document: Document) -> FullName | None:
    """Return what `outline` finds in a document; many questions begin with it."""
    return document.kept(_outline)


def _outline(document: Document) -> FullName | None:
    return outline(document.content)


def outline(text: str) -> FullName | None:
    """Return (group, kind, namespace, name) from the lines of a document.

    Return None if the lines do not have the plain form.
    """
    values: dict[str, str] = {}
    for field in FIELDS:
        mark = f"\n{field}:"
        at = 0 if text.startswith(mark[1:]) else text.find(mark) + 1
        if not text.startswith(mark[1:], at) or text.find(mark, at) >= 0:
            return None
        values[field] = _rest_of_line(text, at + len(mark) - 1)
        if field == "metadata":
            below = text.find("\n", at) + 1
            # a comment of kpt may hold another name
            is_plain = not values[field] and "kpt-merge" not in text[at:below]
            names = _names(text, below) if is_plain else None
    version, kind = values["apiVersion"], values["kind"]
    if names is None or not _plain(version) or not _plain(kind):
        return None
    return version.rpartition("/")[0], kind, names.get("namespace", ""), names["name"]


def _names(text: str, start: int) -> dict[str, str] | None:
    """Return `name` and `namespace` from the lines below `metadata:`.

    Return None if the lines do not have the plain form.
    """
    indent = _indent_of_first(text, start)
    if indent <= 0:
        return None
    end = _end_of_block(text, start)
    names: dict[str, str] = {}
    for key in ("name", "namespace"):
        mark = "\n" + " " * indent + key + ":"
        at = text.find(mark, start - 1, end)
        if at >= 0:
            value = _rest_of_line(text, at + len(mark))
            if not _plain(value) or text.find(mark, at + 1, end) >= 0:
                return None
            names[key] = value
    return names if "name" in names else None


def _rest_of_line(text: str, at: int) -> str:
    """Return the rest of a line without its comment."""
    return text[at : text.find("\n", at)].split(" #", maxsplit=1)[0].strip()


def _indent_of_first(text: str, start: int) -> int:
    """Return the indentation of the first line with content at or after `start`."""
    while start < len(text):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        bare = line.lstrip(" ")
        if bare and bare[0] != "#":
            return len(line) - len(bare)
        start += len(line) + 1
    return 0


def _end_of_block(text: str, start: int) -> int:
    """Return where the first line at or after `start` begins that is not indented."""
    while text.startswith((" ", "#", "\n"), start):
        start = text.find("\n", start) + 1 or len(text)
    return start


def _plain(value: str) -> bool:
    is_null = value.lower() in ("", "~", "null")
    return not is_null and value[0] not in _ODD and "'" not in value and '"' not in value
