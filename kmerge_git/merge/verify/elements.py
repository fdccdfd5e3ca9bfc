"""What tells the elements of a collection apart, and how they are named for people."""

from __future__ import annotations

from kmerge_git.kube.identity import Identity
from kmerge_git.kube.listkeys import ListRule, element_key, field_text, infer_key
from kmerge_git.merge.verify.sites import RESULT
from kmerge_git.tree.nodes import Entry, Mapping, Node, Scalar
from kmerge_git.tree.same import canon_of
from kmerge_git.tree.spans import is_block_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from kmerge_git.tree.same import Known

    # of base, ours, theirs and the result
    Tables = list[dict[Hashable, Entry]]


def inferred(lists: list[list[Entry]], rule: ListRule) -> str | None:
    """The field that makes the key of a list that no table knows."""
    if rule.kind != "infer":
        return None
    return infer_key(lists[:RESULT] if any(lists[:RESULT]) else lists)


def tables(lists: list[list[Entry]], rule: ListRule, infer: str | None) -> Tables | None:
    """The elements by key; None: there is none, or an input repeats it. Of a repetition in the
    result the first one counts."""
    if rule.kind == "atomic" or (rule.kind == "infer" and infer is None):
        return None
    found: Tables = []
    for side, entries in enumerate(lists):
        table: dict[Hashable, Entry] = {}
        for entry in entries:
            node = entry.value
            key = field_text(node, infer) if infer is not None else element_key(node, rule)
            if key is None or (key in table and side < RESULT):
                return None
            table.setdefault(key, entry)
        found.append(table)
    return found


def index(node: Mapping | None) -> dict[Hashable, Entry]:
    return dict(node.index().items()) if node is not None else {}


def what(node: Node, known: Known) -> Hashable:
    """What an element is, and whether it can only be there or not."""
    alone = isinstance(node, Scalar) and not is_block_text(node)  # those are merged
    return ("leaf" if alone else "", canon_of(node, known))


def is_leaf(key: Hashable) -> bool:
    return isinstance(key, tuple) and key[0] == "leaf"


def parts(key: Hashable) -> tuple[Hashable, ...]:
    """A key of several fields counts field by field: each side may change one of them."""
    if isinstance(key, Identity):
        return tuple(enumerate(key.key))
    if isinstance(key, tuple) and len(key) > 1 and all(isinstance(x, str | None) for x in key):
        return tuple(enumerate(key))
    return (key,)


def shown(key: Hashable) -> str:
    """A key for people."""
    while isinstance(key, tuple) and key:
        texts = [part for part in key if isinstance(part, str) and part not in ("leaf", "str")]
        key = texts[-1] if key[0] != "leaf" and texts and isinstance(key[-1], str) else key[-1]
    return str(key)


def named(pair: Iterable[Hashable]) -> str:
    return " and ".join(f"`{shown(key)}`" for key in pair)


def miscounted(key: Hashable, made: int, low: int, high: int) -> str:
    """How often a thing stands somewhere, and how often it should."""
    wanted = f"{low}" if low == high else f"{low} to {high}"
    return f"`{shown(key)}` would stand there {made} times, not {wanted}"
