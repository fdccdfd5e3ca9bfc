"""Give decisions the rule numbers of docs/merge-rules.md."""

from __future__ import annotations

from kmerge_git.merge.plan import Note
from kmerge_git.outcome import Decision
from kmerge_git.tree.nodes import Mapping, Scalar, Sequence, is_block_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.three import Three
    from kmerge_git.tree.nodes import Entry, Node


# (change, rule number of the rules git) -> rule number of the rules kyaml
THREE_WAY = {
    ("changed", "5"): "M7",
    ("changed", "8"): "R4",
    ("added", "8"): "R2",
    ("deleted", "8"): "R1",
}
TWO_WAY = {
    ("changed", "8"): "T10",
    ("added", "8"): "T24",
    ("added", "M3"): "T8",
    ("added", "M7"): "T8",
    ("added", "M12"): "T8",
    ("added", "M14"): "T12",
}


def numbered(decision: Decision, numbers: dict[tuple[str, str], str]) -> Decision:
    """Return a decision with the number of its rule in docs/merge-rules.md."""
    d = decision
    rule = numbers.get((d.what, d.rule), d.rule)
    return Decision(d.resource, d.path, d.what, d.side, rule, d.ours, d.theirs)


def took(ours: Node, theirs: Node, path: Path) -> Note:
    """Return the note for a value that only updated changed.

    For a scalar, the note holds the old and the new value.
    """
    if isinstance(theirs, Mapping):
        rule = "M16" if path and not isinstance(path[-1], str) else "M13"
    else:
        rule = "M7" if isinstance(theirs, Sequence) else "M2"
    values = (ours.raw, theirs.raw) if isinstance(theirs, Scalar) else ("", "")
    return Note(path, "changed", "theirs", rule, *values)


def lost(path: Path, what: str, rule: str, ours: Node | None, theirs: Node | None) -> Note:
    """Return the note for a change of the destination that is not in the result."""
    dest, updated = (node.raw if node is not None else "" for node in (ours, theirs))
    return Note(path, what, "theirs", f"{rule} lost", dest, updated)


def null_rule(other: Entry | None) -> str:
    """Return the rule number for a null that clears a value of another version."""
    value = other.value if other is not None else None
    return "M10" if isinstance(value, Mapping) else "M9" if isinstance(value, Sequence) else "M5"


def added_rule(entry: Entry) -> str:
    """Return the rule number for an entry that updated adds."""
    if entry.key is None:
        return "M14"
    return {Scalar: "M3", Sequence: "M7"}.get(type(entry.value), "M12")


def clash_rule(at: Three[Node | None]) -> str:
    """Return the rule number for a value that both sides changed."""
    ours, theirs = at.ours, at.theirs
    if type(ours) is not type(theirs):
        return "M26"
    if isinstance(theirs, Sequence):
        return "M7"
    if at.base is None:
        return "M3"
    return "M30" if theirs is not None and is_block_text(theirs) else "M2"
