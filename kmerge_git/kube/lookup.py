"""Find the value at a path of a document; `fieldpath` describes the paths."""

from __future__ import annotations

from kmerge_git.kube.listkeys import field_text
from kmerge_git.tree.nodes import Mapping, Node, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path, Step


def found_at(node: Node | None, path: Path) -> Node | None:
    """Return the value at a path, or None if the path fits no element or more than one element."""
    for step in path:
        node = _below(node, step)
    return node


def _below(node: Node | None, step: Step) -> Node | None:
    if isinstance(step, str):
        return node.get(step) if isinstance(node, Mapping) else None
    if not isinstance(node, Sequence):
        return None
    if isinstance(step, int):
        return node.entries[step].value if 0 <= step < len(node.entries) else None
    meant = [entry.value for entry in node.entries if _is_meant(entry.value, step)]
    return meant[0] if len(meant) == 1 else None


def _is_meant(node: Node, step: tuple[tuple[str, str] | str, ...]) -> bool:
    """Return whether an element has these keys, or is the resource with this name."""
    for part in step:
        if isinstance(part, str):
            from kmerge_git.kube.identity import describe, identity

            known = identity(node)
            if known is None or describe(known) != part:
                return False
        elif field_text(node, part[0]) not in (part[1], None):
            return False  # a missing field matches, because it has its default value
    return bool(step)
