"""Nulls, which clear what they stand for: where they are, and what they do to a document."""

from __future__ import annotations

from kmerge_git.merge.journal import Note
from kmerge_git.merge.kyaml.numbers import lost, null_rule
from kmerge_git.merge.plan import Keep, Plan
from kmerge_git.merge.three import Three
from kmerge_git.tree.nodes import Collection, Node, Scalar
from kmerge_git.tree.same import same_node
from kmerge_git.tree.scalars import is_null

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.decide.rules import Notes, Place
    from kmerge_git.tree.documents import Document
    from kmerge_git.tree.nodes import Entry

_WORDS = ("~", "null", "Null", "NULL")
_ODD = ("&", "!", "\t", "? ", " \n", ": ]", ": ,", ":]", ":,")


class Nulls:
    """A document with nulls under the three-way rules; see `decide.rules.Live`.

    A null acts only where it is a change: where original has a value, or updated alone has the
    field. Any other null is nobody's wish to clear anything, and a value.
    """

    __slots__ = ()

    def instructed(self, at: Three[Entry | None], place: Place) -> tuple[None, Notes] | None:
        """M5, M9, M10, M17: a null that one side put in the place of a value clears the field."""
        base, ours, theirs = at.base, at.ours, at.theirs
        there = base or ours or theirs
        if there is None or there.key is None or (base is not None and null(base.value)):
            return None
        if ours is not None and null(ours.value):
            return self._cleared(base, theirs, place) if base is not None else None
        if theirs is None or not null(theirs.value):
            return None
        if ours is None:
            return None, []  # over nothing it adds nothing
        rule = null_rule(ours)
        if base is not None and same_node(base.value, ours.value):
            return None, [Note(place.path, "null clears", "theirs", rule)]
        return None, [lost(place.path, "null clears", rule, ours.value, theirs.value)]

    def _cleared(self, base: Entry, theirs: Entry | None, place: Place) -> tuple[None, Notes]:
        """What dest has cleared stays away, and what updated made of it is told."""
        rule = null_rule(base)
        if theirs is None or null(theirs.value) or same_node(base.value, theirs.value):
            return None, [Note(place.path, "null clears", "ours", rule)]
        what = "cleared in dest, changed in updated"
        return None, [Note(place.path, what, "ours", f"{rule} lost", "", theirs.value.raw)]

    def enters(self, ours: Node, theirs: Node) -> bool:
        return holds_null(ours) or holds_null(theirs)

    def part(self, theirs: Entry) -> Plan | None:
        """A null inside of what updated adds clears nothing, and is not taken out."""
        return None

    def own(self, ours: Entry) -> Plan:
        return Keep(ours.value)


def null(node: Node) -> bool:
    """Whether a node is null, however it is spelled."""
    return isinstance(node, Scalar) and is_null(node)


def is_null_field(entry: Entry) -> bool:
    """Whether the value of an entry is null."""
    return null(entry.value)


def holds_null(node: Node) -> bool:
    """Whether a field below a node is null."""
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
