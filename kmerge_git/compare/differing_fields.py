"""Compare the fields, the comments and the spelling of two versions of a resource."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from kmerge_git.compare.change import At, FieldChange, FieldValue, Steps
from kmerge_git.kube.differing import paired_elements, renamed_entries
from kmerge_git.kube.fieldpath import show
from kmerge_git.kube.likeness import MOST_COMPARISONS, Leaves, is_edit
from kmerge_git.kube.listkeys import Where
from kmerge_git.merge.decide.element_pairs import pair as pair_elements
from kmerge_git.merge.decide.unkeyed import are_moved, are_versions
from kmerge_git.merge.three import Three
from kmerge_git.text.diff3 import changes, diff
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import YamlText
from kmerge_git.tree.nodes import Alias, Collection, Entry, Mapping, Node, Scalar, key_text
from kmerge_git.tree.nodes import Sequence as ListNode
from kmerge_git.tree.same import canon_of, comments, resolve, same_text
from kmerge_git.tree.same import same as same_scalars

if TYPE_CHECKING:
    from kmerge_git.kube.differing import Place
    from kmerge_git.kube.identity import Pairs
    from kmerge_git.tree.same import Known

    # by the ids of two lists: the lists, kept so that their ids stay unique, and their elements
    Paired = dict[tuple[int, int], tuple[ListNode, ListNode, list[Place] | None]]
    Numbered = tuple[int, Entry]  # an element and its place


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold two versions of a field, and the path of the field."""

    old: FieldValue
    new: FieldValue
    where: Where
    steps: Steps
    known: Known = field(default_factory=dict)  # the contents of list elements
    paired: Paired = field(default_factory=dict)  # the lists whose elements were paired by key

    def below(self, old: FieldValue, new: FieldValue, where: Where, steps: Steps) -> Pair:
        """Return the pair of two values inside of these."""
        return Pair(old, new, where, steps, self.known, self.paired)


def resource_changes(
    name: str, pair: Pair, comments: Signed, at: At | None = None
) -> list[FieldChange]:
    """Return the changes of a resource; a change of layout (comments, spelling) comes last."""
    changed = [replace(c, resource=name, document=at) for c in field_changes(pair)]
    words = ["comments"] if comments else []
    mine, yours = pair.old.node, pair.new.node
    if mine is not None and yours is not None:
        words += sorted(set(_words(mine, yours, pair.where, pair.paired)))
    if words:
        layout = FieldChange("layout", name, document=at, what=tuple(words), comments=comments)
        changed.append(layout)
    return changed


def field_changes(pair: Pair) -> Iterator[FieldChange]:
    """Yield the changes of a field and of the fields below, in the order of the new version."""
    if _are_same(pair.old, pair.new):
        return
    kind = pair.old.kind if pair.old.kind is pair.new.kind else object
    if kind is dict:
        yield from _mapping(_with_nodes(pair))
    elif kind is list:
        yield from _list(_with_nodes(pair))
    elif _canon(pair.old.plain) != _canon(pair.new.plain):
        yield FieldChange("changed", "", pair.steps, pair.old, pair.new)


def _are_same(old: FieldValue, new: FieldValue) -> bool:
    """Return whether two values have the same text; an alias in a text may mean another value."""
    mine, yours = old.node, new.node
    if mine is None or yours is None or not same_text(mine, yours):
        return False
    return mine.text.find("*", mine.start, mine.end) < 0


def _with_nodes(pair: Pair) -> Pair:
    """Return the pair with nodes of their own for values that an alias or `<<` brought."""
    if isinstance(pair.old.node, Collection) and isinstance(pair.new.node, Collection):
        return pair
    return replace(pair, old=_with_node(pair.old), new=_with_node(pair.new))


def _with_node(value: FieldValue) -> FieldValue:
    if isinstance(value.node, Collection):
        return value
    return FieldValue(value.plain, YamlText(_spelled(value.plain).encode()).roots[0])


def _spelled(value: object) -> str:
    """Return a value as YAML in brackets; a key may be of any length behind a `?`."""
    if isinstance(value, dict):
        entries = (f"? {_canon(key)} : {_spelled(item)}" for key, item in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_spelled, value))}]"
    return _canon(value)


def _mapping(pair: Pair) -> Iterator[FieldChange]:
    mine, yours = pair.old.node, pair.new.node
    assert isinstance(mine, Mapping)  # see `_with_nodes`
    assert isinstance(yours, Mapping)
    place = pair.where.at(yours)
    renamed = renamed_entries(mine, yours)
    other_name = {before: after for after, before in renamed.items()}
    old, new = _fields(pair.old), _fields(pair.new)
    for name in [*new, *(name for name in old if name not in new)]:
        steps = (*pair.steps, name)
        before, after = old.get(renamed.get(name, name)), new.get(name)
        if before is None:
            yield FieldChange("added", "", steps, after=after)
        elif after is None:
            target = other_name.get(name, "")
            yield FieldChange("deleted", "", steps, before=before, target=target)
        elif name in renamed:
            below = pair.below(before, after, place.child(name), steps)
            inside = tuple(field_changes(below))
            yield FieldChange("added", "", steps, None, after, source=renamed[name], inside=inside)
        elif not _are_same(before, after):
            yield from field_changes(pair.below(before, after, place.child(name), steps))


def _fields(value: FieldValue) -> dict[str, FieldValue]:
    """Return the fields of a mapping by the names that they have in plain values."""
    node = value.node
    index = node.index() if isinstance(node, Mapping) else {}
    keys = [entry.key for entry in index.values() if isinstance(entry.key, Scalar)]
    is_read = len(keys) == len(index) and all(_is_text(key.value, key.style) for key in keys)
    if value.is_unread and is_read:
        return {name: FieldValue.unread(entry.value) for name, entry in index.items()}
    plain = value.plain
    assert isinstance(plain, dict)  # as the caller has looked
    return {
        name: FieldValue(item, index[name].value if name in index else None)
        for name, item in plain.items()
    }


@lru_cache(maxsize=1000)  # most files have the same keys
def _is_text(value: str, style: str) -> bool:
    """Return whether a key is its own text in plain values, as `a` and `"1"` are, but not `on`."""
    return isinstance(resolve(value, style), str)


def _list(pair: Pair) -> Iterator[FieldChange]:
    mine, yours = _elements(pair.old), _elements(pair.new)
    paired = _paired(pair)
    inner = pair.where.items()
    for key, i, j in paired:
        steps = (*pair.steps, At.of(i, j, key))
        if i < 0:
            yield FieldChange("added", "", steps, after=yours[j])
        elif j < 0:
            yield FieldChange("deleted", "", steps, before=mine[i])
        else:
            yield from field_changes(pair.below(mine[i], yours[j], inner, steps))
    order = order_of([(i, j) for _, i, j in paired])
    if order:
        both = sorted((j, key) for key, i, j in paired if i >= 0 and j >= 0)
        names = tuple(show((key,))[1:-1] if key else _short(yours[j].plain) for j, key in both)
        yield FieldChange("reordered", "", pair.steps, order=order, names=names)


def order_of(places: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the old ranks of the elements in the new order, or () if the order is unchanged."""
    both = [(i, j) for i, j in places if i >= 0 and j >= 0]
    ranks = {i: rank for rank, (i, _) in enumerate(sorted(both))}
    order = tuple(ranks[i] for _, i in sorted((j, i) for i, j in both))
    return () if list(order) == sorted(order) else order


def _elements(value: FieldValue) -> list[FieldValue]:
    node = value.node
    assert isinstance(node, ListNode)  # see `_with_nodes`
    if value.is_unread:
        return [FieldValue.unread(entry.value) for entry in node.entries]
    plain = value.plain
    assert isinstance(plain, list)  # as the caller has looked
    return [FieldValue(p, entry.value) for p, entry in zip(plain, node.entries, strict=True)]


def _paired(pair: Pair) -> list[Place]:
    """Pair list elements as a merge does: by key or, without keys, by content."""
    old, new = pair.old.node, pair.new.node
    assert isinstance(old, ListNode)  # see `_with_nodes`
    assert isinstance(new, ListNode)
    paired = _paired_by_key(old, new, pair.where, pair.paired)
    if paired is not None:
        return paired
    mine, yours = list(old.entries), list(new.entries)
    a, b = _contents(mine, yours, pair.known)
    partner = {j0 + n: i0 + n for i0, i1, j0, _ in diff(a, b) for n in range(i1 - i0)}
    if are_moved(Three(a, b, a)):
        labels = pair_elements(Three(a, b, a), Three(mine, yours, mine)).labels.ours
        partner = {j: i for j, i in enumerate(labels) if isinstance(i, int)}
    for i0, i1, j0, j1 in changes(a, b):
        taken = {*partner.values()}
        gone = [(i, mine[i]) for i in range(i0, i1) if i not in taken]
        partner |= _between(gone, [(j, yours[j]) for j in range(j0, j1) if j not in partner])
    pairs = [(i, j) for j, i in partner.items()]
    return [((), i, j) for i, j in in_order(pairs, len(mine), len(yours))]


def _paired_by_key(old: ListNode, new: ListNode, where: Where, known: Paired) -> list[Place] | None:
    """Pair list elements by their keys, only once for two lists; return None without keys."""
    lists = id(old), id(new)
    if lists not in known:
        known[lists] = old, new, paired_elements(old, new, where)
    return known[lists][2]


def _contents(
    old: list[Entry], new: list[Entry], known: Known
) -> tuple[list[Hashable], list[Hashable]]:
    """Return the contents of two lists of elements; equal ones are versions of one element."""
    mine, yours = ([entry.value.raw for entry in side] for side in (old, new))
    shared = {*mine}.intersection(yours)  # most elements need no look inside of them

    def of(text: str, entry: Entry) -> Hashable:
        return text if text in shared else canon_of(entry.value, known)

    return [*map(of, mine, old)], [*map(of, yours, new)]


def _between(gone: list[Numbered], come: list[Numbered]) -> dict[int, int]:
    """Pair the elements between equal ones, in order, as versions of the same element."""
    if len(gone) == len(come) and all(
        are_versions(a, b) or (isinstance(a.value, ListNode) and isinstance(b.value, ListNode))
        for (_, a), (_, b) in zip(gone, come, strict=True)
    ):
        return {j: i for (i, _), (j, _) in zip(gone, come, strict=True)}
    if len(gone) * len(come) > MOST_COMPARISONS:
        return {}
    partner: dict[int, int] = {}
    for i, old in gone:
        leaves = Leaves(old.value)
        scores = [
            (leaves.shared(Leaves(new.value)), -j)
            for j, new in come
            if j > max(partner, default=-1) and is_edit(old.value, new.value)
        ]
        if scores:
            partner[-max(scores)[1]] = i
    return partner


def in_order(pairs: Pairs, old: int, new: int) -> Pairs:
    """Return all places in the new order; what was deleted follows its old predecessor."""
    partner = dict(pairs)
    sources = {j: i for i, j in pairs}
    ranked = [(float(j), sources.get(j, -1), j) for j in range(new)]
    last = -1
    for i in range(old):
        if i not in partner:
            ranked.append((last + 0.5, i, -1))
        last = partner.get(i, last)
    return [(i, j) for _, i, j in sorted(ranked)]


def _canon(value: object) -> str:
    """Return the same text only for equal values; 1 and 1.0 count as different values."""
    return json.dumps(value, sort_keys=True)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else _canon(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


_LINE_ENDS = {"\r\n": "CRLF", "\n": "LF", "": "mixed"}
_MOST = 60  # the most characters of two spellings to show both
Signed = tuple[tuple[str, str], ...]  # `+` or `-`, and a comment


def _words(old: Node, new: Node, where: Where, paired: Paired) -> Iterator[str]:
    """Describe how the spelling of equal values differs."""
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
            yield "key order"
        for name in names:
            if key_text(mine[name]) != key_text(yours[name]):
                yield "quoting"
            before, after = mine[name].value, yours[name].value
            if not same_text(before, after):
                yield from _words(before, after, place.child(name), paired)
    elif isinstance(old, ListNode) and isinstance(new, ListNode):
        yield from _of_collections(old, new)
        yield from _in_list(old, new, where, paired)


def _of_scalars(old: Scalar, new: Scalar) -> Iterator[str]:
    mine, yours = (node.text[node.content : node.end] for node in (old, new))
    if mine == yours:
        return
    if same_scalars(old, new):
        yield "quoting" if old.style != new.style else "spelling"
    elif _read(old) == _read(new):  # `1.10` and `1.1` may be version numbers
        yield f"{mine} written as {yours}" if len(mine + yours) < _MOST else "spelling"


def _read(scalar: Scalar) -> tuple[str, str]:
    value = resolve(scalar.value, scalar.style, scalar.tag)
    return type(value).__name__, repr(value)


def _in_list(old: ListNode, new: ListNode, where: Where, paired: Paired) -> Iterator[str]:
    pairs = _paired_by_key(old, new, where, paired)
    if pairs is None and len(old.entries) == len(new.entries):
        pairs = [((), n, n) for n in range(len(new.entries))]
    for _, i, j in pairs or ():
        if i >= 0 and j >= 0:
            yield from _words(old.entries[i].value, new.entries[j].value, where.items(), paired)


def _of_collections(old: Collection, new: Collection) -> Iterator[str]:
    if old.tag != new.tag:
        yield "tags"
    if not old.entries or not new.entries:
        return
    if old.flow != new.flow:
        yield "flow style" if new.flow else "block style"
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
            if node.text.find("#", entry.start, entry.value.end) >= 0:
                for part in (entry.key, entry.value):
                    yield from _texts(part) if part is not None else ()


def of_texts(old: str, new: str) -> str:
    """Describe how the layout of two texts with the same meaning differs."""
    lines = [[line.rstrip() for line in text.split("\n")] for text in (old, new)]
    if lines[0] == lines[1]:
        return "trailing spaces"
    full = [[line for line in text if line] for text in lines]
    if full[0] == full[1]:
        return "blank lines"
    bare = [[line.lstrip() for line in text] for text in full]
    return "indentation" if bare[0] == bare[1] else "spelling"


def of_files(old: Source, new: Source) -> list[str]:
    """Describe how two files differ in their byte order marks and line ends."""
    words = []
    if old.bom != new.bom:
        words.append("byte order mark added" if new.bom else "byte order mark removed")
    if old.eol != new.eol:
        words.append(f"line endings ({_LINE_ENDS[new.eol]})")
    if old.final_newline != new.final_newline:
        words.append("newline at end of file" if new.final_newline else "no newline at end of file")
    return words
