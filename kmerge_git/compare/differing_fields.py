"""Compare the fields, the comments and the spelling of two versions of a resource."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kmerge_git.compare.change import At, FieldChange, FieldValue, Steps
from kmerge_git.kube.differing import paired_elements
from kmerge_git.kube.fieldpath import show
from kmerge_git.kube.likeness import (
    FEW_LEAVES,
    MOST_COMPARISONS,
    RENAMED_LEAVES,
    SAME_ELEMENT,
    likeness,
)
from kmerge_git.kube.listkeys import Where
from kmerge_git.text.diff3 import changes
from kmerge_git.text.source import Source
from kmerge_git.tree.nodes import Alias, Collection, Entry, Mapping, Node, Scalar
from kmerge_git.tree.nodes import Sequence as ListNode
from kmerge_git.tree.same import comments, resolve, same_text
from kmerge_git.tree.same import same as same_scalars

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Element

    Map = dict[str, object]
    Triple = tuple[Element, int, int]  # a key, and the places in both lists or -1


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold two versions of a field, and the path of the field."""

    old: FieldValue
    new: FieldValue
    where: Where
    steps: Steps


def resource_changes(
    name: str, pair: Pair, comments: Signed, at: At | None = None
) -> list[FieldChange]:
    """Return the changes of a resource; a change of layout (comments, spelling) comes last."""
    changed = [replace(c, resource=name, document=at) for c in field_changes(pair)]
    words = ["comments"] if comments else []
    words += sorted(spelling(pair.old.node, pair.new.node, pair.where))
    if words:
        layout = FieldChange("layout", name, document=at, what=tuple(words), comments=comments)
        changed.append(layout)
    return changed


def field_changes(pair: Pair) -> Iterator[FieldChange]:
    """Yield the changes of a field and of the fields below, in the order of the new version."""
    old, new = pair.old.plain, pair.new.plain
    if _canon(old) == _canon(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _mapping(pair, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _list(pair, old, new)
    else:
        yield FieldChange("changed", "", pair.steps, pair.old, pair.new)


def _mapping(pair: Pair, old: Map, new: Map) -> Iterator[FieldChange]:
    place = pair.where.at(pair.new.node)
    renamed = _renamed(old, new)
    other_name = {before: after for after, before in renamed.items()}
    for name in [*new, *(name for name in old if name not in new)]:
        steps = (*pair.steps, name)
        before = _below(pair.old, old, renamed.get(name, name))
        after = _below(pair.new, new, name)
        if before is None:
            yield FieldChange("added", "", steps, after=after)
        elif after is None:
            target = other_name.get(name, "")
            yield FieldChange("deleted", "", steps, before=before, target=target)
        elif name in renamed:
            inside = tuple(field_changes(Pair(before, after, place.child(name), steps)))
            yield FieldChange("added", "", steps, None, after, source=renamed[name], inside=inside)
        else:
            yield from field_changes(Pair(before, after, place.child(name), steps))


def _renamed(old: Map, new: Map) -> dict[str, str]:
    """Map new names of renamed keys to old names; count only names whose values match no others."""
    gone = {name: _leaves(old[name]) for name in old if name not in new}
    come = {name: _leaves(new[name]) for name in new if name not in old}
    if not gone or not come or len(gone) * len(come) > MOST_COMPARISONS:
        return {}
    part, whole = RENAMED_LEAVES
    pairs = [
        (name, before)
        for name, leaves in come.items()
        for before, others in gone.items()
        if min(leaves.total(), others.total()) >= FEW_LEAVES
        and whole * (leaves & others).total() >= part * max(leaves.total(), others.total())
    ]
    uses = Counter(name for pair in pairs for name in pair)
    return {name: before for name, before in pairs if uses[name] == uses[before] == 1}


def _below(value: FieldValue, table: Map, name: str) -> FieldValue | None:
    if name not in table:
        return None
    node = value.node
    entry = node.index().get(name) if isinstance(node, Mapping) else None
    return FieldValue(table[name], entry.value if entry else None)


def _list(pair: Pair, old: list[object], new: list[object]) -> Iterator[FieldChange]:
    mine, yours = _elements(pair.old, old), _elements(pair.new, new)
    paired = _by_key(pair, mine, yours)
    if paired is None:
        paired = _by_value(old, new)
    inner = pair.where.items()
    for key, i, j in paired:
        steps = (*pair.steps, At.of(i, j, key))
        if i < 0:
            yield FieldChange("added", "", steps, after=yours[j])
        elif j < 0:
            yield FieldChange("deleted", "", steps, before=mine[i])
        else:
            yield from field_changes(Pair(mine[i], yours[j], inner, steps))
    order = order_of([(i, j) for _, i, j in paired])
    if order:
        both = sorted((j, key) for key, i, j in paired if i >= 0 and j >= 0)
        names = tuple(show((key,))[1:-1] if key else _short(new[j]) for j, key in both)
        yield FieldChange("reordered", "", pair.steps, order=order, names=names)


def order_of(places: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the old ranks of the elements in the new order, or () if the order is unchanged."""
    both = [(i, j) for i, j in places if i >= 0 and j >= 0]
    ranks = {i: rank for rank, (i, _) in enumerate(sorted(both))}
    order = tuple(ranks[i] for _, i in sorted((j, i) for i, j in both))
    return () if list(order) == sorted(order) else order


def _elements(value: FieldValue, plain: list[object]) -> list[FieldValue]:
    node = value.node
    if not isinstance(node, ListNode) or len(node.entries) != len(plain):
        return [FieldValue(item) for item in plain]
    return [FieldValue(p, entry.value) for p, entry in zip(plain, node.entries, strict=True)]


def _by_key(pair: Pair, mine: list[FieldValue], yours: list[FieldValue]) -> list[Triple] | None:
    """Pair list elements by their keys; return None if keys or YAML nodes are missing."""
    old, new = pair.old.node, pair.new.node
    if not isinstance(old, ListNode) or not isinstance(new, ListNode):
        return None
    if any(value.node is None for value in (*mine, *yours)):
        return None
    return paired_elements(old, new, pair.where)


def _by_value(old: list[object], new: list[object]) -> list[Triple]:
    """Pair list elements without keys: first pair equal elements, then similar elements between."""
    mine, yours = [_canon(v) for v in old], [_canon(v) for v in new]
    ranked = (sorted(range(len(texts)), key=texts.__getitem__) for texts in (mine, yours))
    if sorted(mine) == sorted(yours):  # only the order differs
        return sorted([((), i, j) for i, j in zip(*ranked, strict=True)], key=lambda at: at[2])
    paired: list[Triple] = []
    a = b = 0
    for i0, i1, j0, j1 in [*changes(mine, yours), (len(old), len(old), len(new), len(new))]:
        paired += [((), a + n, b + n) for n in range(i0 - a)]
        pairs = _between(old[i0:i1], new[j0:j1])
        taken = {i for i, _ in pairs}, {j for _, j in pairs}
        paired += [((), i0 + i, j0 + j) for i, j in pairs]
        paired += [((), i, -1) for i in range(i0, i1) if i - i0 not in taken[0]]
        paired += [((), -1, j) for j in range(j0, j1) if j - j0 not in taken[1]]
        a, b = i1, j1
    return paired


def _between(old: list[object], new: list[object]) -> list[tuple[int, int]]:
    """Pair similar elements of both lists, in order, as versions of the same element."""
    if len(old) == len(new):
        return [(n, n) for n in range(len(old)) if type(old[n]) is type(new[n])]
    if len(old) * len(new) > MOST_COMPARISONS:
        return []
    pairs: list[tuple[int, int]] = []
    mine, yours = [_leaves(v) for v in old], [_leaves(v) for v in new]
    last = -1
    for i, leaves in enumerate(mine):
        scores = [(likeness(leaves, yours[j]), -j) for j in range(last + 1, len(new))]
        best, at = max(scores, default=(0.0, 0))
        is_alike = leaves and best >= SAME_ELEMENT  # an empty element is like no other
        if is_alike and isinstance(old[i], dict) and isinstance(new[-at], dict):
            pairs.append((i, -at))
            last = -at
    return pairs


def _leaves(value: object) -> Counter[str]:
    return Counter(_each_leaf(value, ""))


def _each_leaf(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _each_leaf(item, f"{path}/{name}")
    elif isinstance(value, list):
        for item in value:
            yield from _each_leaf(item, f"{path}/[]")
    else:
        yield f"{path}={_canon(value)}"


def _canon(value: object) -> str:
    """Return the same text only for equal values; 1 and 1.0 count as different values."""
    return json.dumps(value, sort_keys=True)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else _canon(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


_LINE_ENDS = {"\r\n": "CRLF", "\n": "LF", "": "mixed"}
_MOST = 60  # the most characters of two spellings to show both
Signed = tuple[tuple[str, str], ...]  # `+` or `-`, and a comment


def spelling(old: Node | None, new: Node | None, where: Where) -> set[str]:
    """Describe how the spelling of equal values differs."""
    return set(_words(old, new, where)) if old is not None and new is not None else set()


def _words(old: Node, new: Node, where: Where) -> Iterator[str]:
    if same_text(old, new):
        return
    if old.anchor != new.anchor or isinstance(old, Alias) != isinstance(new, Alias):
        yield "anchors"
    if isinstance(old, Scalar) and isinstance(new, Scalar):
        yield from _of_scalars(old, new)
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _of_collections(old, new)
        place = where.at(new)
        mine, yours = old.index(), new.index()
        names = [name for name in yours if name in mine]
        if names != [name for name in mine if name in yours]:
            yield "order of keys"
        for name in names:
            yield from _keys(mine[name], yours[name])
            yield from _words(mine[name].value, yours[name].value, place.child(name))
    elif isinstance(old, ListNode) and isinstance(new, ListNode):
        yield from _of_collections(old, new)
        yield from _in_list(old, new, where)


def _of_scalars(old: Scalar, new: Scalar) -> Iterator[str]:
    mine, yours = (node.text[node.content : node.end] for node in (old, new))
    if mine == yours:
        return
    if same_scalars(old, new):
        yield "quoting" if old.style != new.style else "spelling"
    elif _read(old) == _read(new):  # `1.10` and `1.1` may be version numbers
        yield f"{mine} written {yours}" if len(mine + yours) < _MOST else "spelling"


def _read(scalar: Scalar) -> tuple[str, str]:
    value = resolve(scalar.value, scalar.style, scalar.tag)
    return type(value).__name__, repr(value)


def _in_list(old: ListNode, new: ListNode, where: Where) -> Iterator[str]:
    paired = paired_elements(old, new, where)
    if paired is None and len(old.entries) == len(new.entries):
        paired = [((), n, n) for n in range(len(new.entries))]
    for _, i, j in paired or ():
        if i >= 0 and j >= 0:
            yield from _words(old.entries[i].value, new.entries[j].value, where.items())


def _keys(old: Entry, new: Entry) -> Iterator[str]:
    if old.key is not None and new.key is not None and old.key.raw != new.key.raw:
        yield "quoting"


def _of_collections(old: Collection, new: Collection) -> Iterator[str]:
    if old.tag != new.tag:
        yield "tags"
    if not old.entries or not new.entries:
        return
    if old.flow != new.flow:
        yield "lines" if new.flow else "flow style"
        return
    if not old.flow and old.column != new.column:
        yield "indentation"


def comment_changes(old: list[str], new: list[str]) -> Signed:
    """Return the deleted comments with `-` and the added comments with `+`."""
    mine, yours = Counter(old), Counter(new)
    gone, come = (mine - yours).elements(), (yours - mine).elements()
    return (*(("-", text) for text in gone), *(("+", text) for text in come))


def comments_in(text: str, start: int, root: Node | None) -> list[str]:
    """Return the comments in a part of a file; `start` is the offset of the part in the file."""
    if "#" not in text:
        return []
    out, at = "", start
    for whole, begin, end in sorted(_texts(root)) if root is not None else ():
        if begin >= at:
            out += whole[at:begin] + '""' + "\n" * whole.count("\n", begin, end)
            at = end
    return comments(out + text[at - start :])


def _texts(node: Node) -> Iterator[tuple[str, int, int]]:
    """Yield the text and place of each scalar with a `#` that does not begin a comment."""
    if node.text.find("#", node.start, node.end) < 0:
        return
    if isinstance(node, Scalar):
        yield node.text, node.content, node.end
    elif isinstance(node, Collection):
        for entry in node.entries:
            if entry.key is not None:
                yield from _texts(entry.key)
            yield from _texts(entry.value)


def of_texts(old: str, new: str) -> str:
    """Describe how the layout of two texts with the same meaning differs."""
    lines = [[line.rstrip() for line in text.split("\n")] for text in (old, new)]
    if lines[0] == lines[1]:
        return "blanks at line ends"
    full = [[line for line in text if line] for text in lines]
    if full[0] == full[1]:
        return "blank lines"
    bare = [[line.lstrip() for line in text] for text in full]
    return "indentation" if bare[0] == bare[1] else "spelling"


def of_files(old: Source, new: Source) -> list[str]:
    """Describe how two files differ in their byte order marks and line ends."""
    words = []
    if old.bom != new.bom:
        words.append("a byte order mark" if new.bom else "no byte order mark")
    if old.eol != new.eol:
        words.append(f"line ends ({_LINE_ENDS[new.eol]})")
    if old.final_newline != new.final_newline:
        words.append("a last line end" if new.final_newline else "no last line end")
    return words
