"""Show values in one line for people: scalars as the file spells them, collections in brackets."""

from __future__ import annotations

from itertools import combinations

from kmerge_git.tree.nodes import Collection, Mapping, Node, Scalar, is_block_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST = 300  # characters; a longer text ends in `…`
_ROOM = 2 * LONGEST  # characters that are read
_COMPARED = 20_000  # characters that are read of a value that is shown beside others
_QUOTES = ("'", '"')
_AROUND = 12  # characters that are shown before a difference


def brief(node: Node | None) -> str:
    """Return the value in one line, or '' if the node is None."""
    return shortened(_spelled(node, _ROOM)) if node is not None else ""


def shortened(text: str) -> str:
    """Return a text in one line of at most `LONGEST` characters."""
    line = " ".join(text[:_ROOM].split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def in_full(node: Node | None) -> str:
    """Return the value in one line as `brief` does, but long enough to be compared with others."""
    return " ".join(_spelled(node, _COMPARED).split()) if node is not None else ""


def beside(texts: Sequence[str], most: int = LONGEST) -> list[str]:
    """Cut texts that are shown next to each other to the parts where they begin to differ.

    Two texts that differ differ in what is shown of them as well. An empty text stays empty.
    """
    if max(map(len, texts)) <= most:
        return [*texts]
    pairs = combinations(dict.fromkeys(filter(None, texts)), 2)
    places = sorted({_shared(*pair) for pair in pairs}) or [0]
    width = most // len(places) - 2
    return [_parts(text, places, width) if len(text) > most else text for text in texts]


def _shared(a: str, b: str) -> int:
    """Return how far two texts are the same, apart from the quotes that they begin with."""
    mine, yours = (text[text[:1] in _QUOTES :] for text in (a, b))
    pairs = enumerate(zip(mine, yours, strict=False))
    same = next((n for n, (x, y) in pairs if x != y), min(len(mine), len(yours)))
    return same + ((mine, yours) != (a, b))


def _parts(text: str, places: list[int], width: int) -> str:
    """Return the parts of a text around some places, with `…` for what is omitted."""
    shown, end = "", 0
    for place in places:
        first = max(place - _AROUND, end) if place + _AROUND > width else end
        if end <= place and first < len(text):
            shown += ("…" if first > end else "") + text[first : first + width]
            end = first + width
    return shown if end >= len(text) else f"{shown}…"


def listed(parts: Iterable[str], *, all_of_it: bool) -> str:
    """Return some elements of a list in brackets; `…` represents the other elements."""
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
