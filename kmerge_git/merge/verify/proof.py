"""The proof: a result is parsed again and must say what the plan says, before it is called clean.

With conflicts, every hunk is decided for ours, and again for theirs; both texts must hold.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.merge.decide.block_texts import body_lines, header
from kmerge_git.merge.plan import Build, Clash, Keep, NewText, Plan, Take
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Collection, Mapping, Node, Scalar
from kmerge_git.tree.same import same_node
from kmerge_git.tree.scalars import meaning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.tree.documents import Document


def holds(text: str, plan: Plan, side: str) -> bool:
    """Whether a document's text, decided for one side, is what the plan says."""
    try:
        documents = split(Source.of(text)).documents
        return len(documents) == 1 and agrees(plan, documents[0].root, side)
    except KmergeError:
        return False


def agrees(plan: Plan, node: Node | None, side: str) -> bool:
    """Whether a node is what the plan says."""
    if node is None:
        return False
    if isinstance(plan, Take) and plan.anchor:
        both = isinstance(node, Scalar) and isinstance(plan.node, Scalar)
        return both and node.anchor == plan.anchor and meaning(node) == meaning(plan.node)  # type: ignore[arg-type]
    if isinstance(plan, Keep | Take):
        return same_node(plan.node, node)
    if isinstance(plan, NewText):
        return (
            isinstance(node, Scalar)
            and header(node) == plan.header
            and _trimmed(body_lines(node)) == _trimmed(plan.lines(side))
        )
    if isinstance(plan, Build) and isinstance(node, Collection):
        if plan.properties is None and node.anchor != plan.ours.anchor:
            return False
        if isinstance(plan.ours, Mapping):
            return isinstance(node, Mapping) and _agrees_mapping(plan, node, side)
        return not isinstance(node, Mapping) and _agrees_list(plan, node, side)
    return False


def _agrees_mapping(plan: Build, node: Mapping, side: str) -> bool:
    there = node.index()
    wanted = 0
    for item in plan.items:
        if isinstance(item.plan, Clash):
            for entry in getattr(item.plan, side):
                wanted += 1
                found = there.get(entry.name)
                if found is None or not same_node(entry.value, found.value):
                    return False
            continue
        entry = item.ours or item.theirs
        wanted += 1
        found = there.get(entry.name) if entry is not None else None
        if found is None or not agrees(item.plan, found.value, side):
            return False
    return wanted == len(node.entries) == len(there)


def _agrees_list(plan: Build, node: Collection, side: str) -> bool:
    found = iter(node.entries)
    for item in plan.items:
        if isinstance(item.plan, Clash):
            for entry in getattr(item.plan, side):
                other = next(found, None)
                if other is None or not same_node(entry.value, other.value):
                    return False
            continue
        other = next(found, None)
        if other is None or not agrees(item.plan, other.value, side):
            return False
    return next(found, None) is None


def _trimmed(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def same_documents(a: tuple[Document, ...], b: tuple[Document, ...]) -> bool:
    """Whether two streams mean the same."""
    if len(a) != len(b):
        return False
    for one, other in zip(a, b, strict=True):
        if one.content == other.content:
            continue
        if one.root is None or other.root is None:
            if one.root is not other.root:
                return False
        elif not same_node(one.root, other.root):
            return False
    return True
