"""One place of a merge: what stands there in the three versions and in the result, told in words.

A result with conflicts is two: everything decided for ours, and for theirs. What differs between
these is what is left to a person.
"""

from __future__ import annotations

from kmerge_git.merge.three import Three
from kmerge_git.tree.blocks import body_lines
from kmerge_git.tree.brief import brief, listed, shortened
from kmerge_git.tree.nodes import Collection, Node, Scalar, Sequence
from kmerge_git.tree.same import canon, same_node
from kmerge_git.tree.spans import is_block_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from typing import TypeVar

    from kmerge_git.kube.fieldpath import Path

    T = TypeVar("T")
    Ends = tuple[T | None, T | None] | None  # None: nobody knows what is there


class Difference:
    """A place where the versions of a merge are not the same, and whose came out."""

    __slots__ = ("kind", "path", "resource", "rule", "side", "values", "what")

    def __init__(
        self,
        path: Path,
        what: str,
        side: str,
        rule: str,
        values: Three[str],
        kind: str = "scalar",
    ) -> None:
        self.resource = ""
        self.path = path
        self.what = what
        self.side = side  # `ours`, `theirs`, `both` or `conflict`
        self.rule = rule
        self.values = values
        self.kind = kind  # `scalar`, `list`, `map`, `element`, `document`, `comment` or `order`

    @property
    def doers(self) -> set[str]:
        """The sides that did something here."""
        is_alone = self.side in ("ours", "theirs") and " " not in self.what
        return {self.side} if is_alone else {"ours", "theirs"}


class Four:
    """The nodes of one place."""

    __slots__ = ("at", "ends")

    def __init__(self, at: Three[Node | None], ends: Ends[Node]) -> None:
        self.at = at
        self.ends = ends

    @property
    def is_the_same(self) -> bool:
        """Whether no side did anything here."""
        at = self.at
        return alike(at.base, at.ours) and alike(at.base, at.theirs)


def marked(four: Four, path: Path) -> list[Difference]:
    """Anchor and tag of a collection, if a side changed them; its entries are told one by one."""
    if four.at.base is None:
        return []
    at = four.at.map(_marks)
    if at.base == at.ours == at.theirs:
        return []
    ends = (_marks(four.ends[0]), _marks(four.ends[1])) if four.ends is not None else None
    side = side_of(at, ends, lambda a, b: a == b)
    return [Difference(path, what_of(at, lambda a, b: a == b), side, "1", at)]


def _marks(node: Node | None) -> str:
    return " ".join(m for m in (node.anchor and f"&{node.anchor}", node.tag) if m) if node else ""


def alike(a: Node | None, b: Node | None) -> bool:
    """Whether two nodes mean the same, or neither is there."""
    if a is None or b is None:
        return a is b
    return same_node(a, b)


def side_of(at: Three[T], ends: Ends[T], same: Callable[[T | None, T | None], bool]) -> str:
    """Whose version came out; `both` where that is neither alone, or they are the same."""
    if ends is None:
        is_mine, is_theirs = same(at.base, at.theirs), same(at.base, at.ours)
        if same(at.ours, at.theirs):
            return "both"
        return "ours" if is_mine else "theirs" if is_theirs else "conflict"
    if not same(*ends):
        return "conflict"
    is_mine, is_theirs = same(ends[0], at.ours), same(ends[0], at.theirs)
    return "both" if is_mine == is_theirs else "ours" if is_mine else "theirs"


def what_of(at: Three[T | None], same: Callable[[T | None, T | None], bool]) -> str:
    """What the sides did: `changed`, `added`, `deleted`, one of them alone or both."""
    mine, yours = _how(at.base, at.ours, same), _how(at.base, at.theirs, same)
    if not mine or not yours:
        return mine or yours
    if same(at.ours, at.theirs):
        return f"{mine} alike on both sides"
    return f"{mine} on both sides" if mine == yours else f"{mine} in ours, {yours} in theirs"


def _how(old: T | None, new: T | None, same: Callable[[T | None, T | None], bool]) -> str:
    if same(old, new):
        return ""
    return "added" if old is None else "deleted" if new is None else "changed"


def whole(four: Four, path: Path, *, is_set: bool = False) -> Difference:
    """The difference of a place that is not looked into."""
    at = four.at
    what, side = what_of(at, alike), side_of(at, four.ends, alike)
    kind = _kind(at, path, what)
    return Difference(path, what, side, _rule(at, path, what, is_set=is_set), told(at), kind)


def _kind(at: Three[Node | None], path: Path, what: str) -> str:
    if path and not isinstance(path[-1], str) and what != "changed":
        return "element"
    node = at.theirs or at.ours or at.base
    if isinstance(node, Collection):
        return "list" if isinstance(node, Sequence) else "map"
    return "scalar"


def _rule(at: Three[Node | None], path: Path, what: str, *, is_set: bool) -> str:
    """The number of the rule that says what comes of such a place."""
    if " " not in what or "alike" in what:
        return "3" if path and isinstance(path[-1], tuple) and what != "changed" else "1"
    if at.ours is None or at.theirs is None:
        return "2"
    if type(at.ours) is not type(at.theirs):
        return "7"
    if isinstance(at.ours, Sequence):
        return "4" if is_set else "5"
    return "6"


def told(at: Three[Node | None]) -> Three[str]:
    """The three values in a line each; of texts and lists only what not all versions have."""
    there = [node for node in at.each() if node is not None]
    if len(there) > 1 and all(isinstance(node, Scalar) and is_block_text(node) for node in there):
        lines = at.map(lambda node: body_lines(node) if isinstance(node, Scalar) else None)
        return apart(lines, lambda line: line, lambda line: line.strip(), _as_lines)
    if len(there) > 1 and all(isinstance(node, Sequence) for node in there):
        lists = at.map(
            lambda n: [e.value for e in n.entries] if isinstance(n, Collection) else None
        )
        return apart(lists, canon, brief, _as_list)
    return at.map(brief)


def apart(
    at: Three[list[T] | None],
    key: Callable[[T], Hashable],
    spelled: Callable[[T], str],
    joined: Callable[[list[str], bool], str],
) -> Three[str]:
    """What of each version the others do not all have; everything where that is nothing."""
    counts = [_counted(map(key, found)) for found in at.each() if found is not None]
    common = {k: min(count.get(k, 0) for count in counts) for k in counts[0]}
    apart = at.map(lambda found: None if found is None else _without(found, common, key))
    is_order = not any(apart.each())
    shown = at if is_order else apart
    return Three(
        *(
            joined([spelled(one) for one in found], len(found) == len(known))
            if found is not None and known is not None
            else ""
            for found, known in zip(shown.each(), at.each(), strict=True)
        )
    )


def _counted(keys: Iterable[Hashable]) -> dict[Hashable, int]:
    counts: dict[Hashable, int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    return counts


def _without(found: list[T], common: dict[Hashable, int], key: Callable[[T], Hashable]) -> list[T]:
    left, rest = dict(common), []
    for one in found:
        name = key(one)
        if left.get(name):
            left[name] -= 1
        else:
            rest.append(one)
    return rest


def _as_lines(parts: list[str], is_all: bool) -> str:
    text = " / ".join(part for part in parts if part)
    return shortened(text if is_all else f"… {text}")


def _as_list(parts: list[str], is_all: bool) -> str:
    return shortened(listed(parts, all_of_it=is_all))
