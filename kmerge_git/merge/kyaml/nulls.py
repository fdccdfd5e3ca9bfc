"""Where nulls are: rules `kyaml` must know, because there a null clears what it stands for."""

from __future__ import annotations

from kmerge_git.tree.nodes import Collection, Node, Scalar
from kmerge_git.tree.scalars import is_null

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.tree.documents import Document

_WORDS = ("~", "null", "Null", "NULL")
_ODD = ("&", "!", "\t", "? ", " \n", ": ]", ": ,", ":]", ":,")


def null(node: Node) -> bool:
    """Whether a node is null, however it is spelled."""
    return isinstance(node, Scalar) and is_null(node)


def holds_null(node: Node) -> bool:
    """Whether a field at or below a node is null."""
    if isinstance(node, Collection):
        return any(
            (e.key is not None and null(e.value)) or holds_null(e.value) for e in node.entries
        )
    return False


def document_holds_null(document: Document) -> bool:
    """The same for a document, which is parsed only where its lines do not tell."""
    if not may_hold_null(document.content):
        return False
    return document.root is not None and holds_null(document.root)


def may_hold_null(text: str) -> bool:
    """Whether lines of YAML could hold a null field; False is certain."""
    if any(word in text for word in _WORDS) or any(sign in text for sign in _ODD):
        return True
    if text.count("{") != text.count("{}") or not text.endswith("\n"):
        return True
    at = text.find(":\n")
    while at >= 0:
        if not _has_value_below(text, at, at + 2):
            return True
        at = text.find(":\n", at + 2)
    at = text.find("#")
    while at >= 0:
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        head = text[start:at].rstrip()
        if head[-1:] == ":" and not _has_value_below(text, start + len(head) - 1, end + 1):
            return True
        at = text.find("#", end)
    return False


def _has_value_below(text: str, colon: int, below: int) -> bool:
    """Whether the next line with a value belongs to the key that ends at a colon."""
    start = text.rfind("\n", 0, colon) + 1
    while text[start] == " " or text[start : start + 2] == "- ":
        start += 1
    column = start - text.rfind("\n", 0, start) - 1
    while below < len(text):
        at = below
        while text[at] == " ":
            at += 1
        if text[at] not in "\n#":
            return at - below > column or (at - below == column and text[at : at + 2] == "- ")
        below = text.find("\n", at) + 1
    return False
