"""Show values in one line for people: scalars as the file spells them, collections in brackets."""

from __future__ import annotations

from kmerge_git.tree.nodes import Collection, Mapping, Node, Scalar, is_block_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 300  # characters; a longer text ends in `…`
_ROOM = 2 * LONGEST  # characters that are read


def brief(node: Node | None) -> str:
    """Return the value in one line, or '' if the node is None."""
    return shortened(_spelled(node, _ROOM)) if node is not None else ""


def shortened(text: str) -> str:
    """Return a text in one line of at most `LONGEST` characters."""
    line = " ".join(text[:_ROOM].split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def listed(parts: Iterable[str], *, all_of_it: bool) -> str:
    """Return some elements of a list in brackets; `…` stands for the other elements."""
    return f"[{', '.join([*([] if all_of_it else ['…']), *parts])}]"


def _spelled(node: Node, room: int) -> str:
    if isinstance(node, Scalar):
        if is_block_text(node):
            return f'"{" ".join(node.value[:room].split())}"'
        return node.raw[:room] or "null"
    if not isinstance(node, Collection):
        return node.raw
    parts: list[str] = []
    for entry in node.entries:
        if room <= 0:
            parts.append("…")
            break
        value = _spelled(entry.value, room)
        parts.append(f"{entry.name}: {value}" if isinstance(node, Mapping) else value)
        room -= len(parts[-1])
    return f"{{{', '.join(parts)}}}" if isinstance(node, Mapping) else f"[{', '.join(parts)}]"
