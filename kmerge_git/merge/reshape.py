"""Plan how to turn a document into a wanted plain value with the fewest edits.

All commands that compute values use this module (`patch`, `apply`). Fields with the wanted value
keep their text, and new text is written only for new values.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.kube.listkeys import RECOGNIZED_BY
from kmerge_git.merge.plan import Build, Item, Keep, NewText, Plan, Take
from kmerge_git.merge.three import Three
from kmerge_git.merge.write.document_text import write_document
from kmerge_git.text.pieces import side_text
from kmerge_git.tree.documents import Document, split_text
from kmerge_git.tree.emit import dump
from kmerge_git.tree.nodes import Alias, Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.plain_values import is_merge_key, reader, to_value
from kmerge_git.tree.same import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    Pair = tuple[Entry | None, str | None, object]


def reshape(document: Document, value: object) -> str:
    """Return the document's text, including its opening line, with `value` as its content."""
    root = document.root
    if root is None:
        head = document.content
        if head and not head.endswith("\n"):
            head += "\n"
        return document.opening + head + dump(value)
    for expand in (False, True):
        plan = _Shape(root, expand).node(root, value)
        fresh = None
        if plan is None:
            fresh = split_text(dump(value)).documents[0]
            assert fresh.root is not None  # just written
            plan = Take(fresh.root, None)
        at = Three(None, document, fresh)
        result = document.opening + side_text(write_document(plan, at), "ours")
        if _reads_as(result, value):
            return result
    raise Unsupported(
        "the edited text does not have the expected value",
        path=document.source.path,
        hint="use `-o json`, which writes the whole value as new text, and report this bug",
    )


def _reads_as(text: str, value: object) -> bool:
    try:
        return equal(to_value(split_text(text).documents[0].root), value)
    except KmergeError:
        return False  # an alias without an anchor


class _Shape:
    """Compare one document's nodes with the wanted values.

    With `expand` aliases are written out, because an alias cannot stay if its anchored value
    changes.
    """

    __slots__ = ("expand", "likeness", "list_offset", "value")

    def __init__(self, root: Node, expand: bool) -> None:
        self.expand = expand
        self.value = reader(root)
        self.likeness = Likeness()
        self.list_offset = max(_list_offset(root), 0)

    def node(self, node: Node, value: object) -> Plan | None:
        """Return the plan for one node, or None if the node needs new text."""
        if self.expand and (isinstance(node, Alias) or _has_merge_key(node)):
            return None
        walk = self.expand and isinstance(node, Collection)
        if not walk and self.likeness.same(self.value(node), value):
            return Keep(node)
        return None if node.tag else self.other(node, value)

    def other(self, node: Node, value: object) -> Plan | None:
        """Return the plan for a node whose value must change, or None if it needs new text."""
        if isinstance(node, Scalar):
            return _block_text(node, value) if isinstance(value, str) else None
        if isinstance(node, Collection) and node.flow and not node.entries and not _is_json(node):
            return None  # an empty `{}` is filled in the style of its surroundings
        if isinstance(node, Mapping) and isinstance(value, dict):
            return self.mapping(node, value)
        if isinstance(node, Sequence) and isinstance(value, list | tuple):
            return self.sequence(node, list(value))
        return None

    def mapping(self, node: Mapping, value: dict[str, object]) -> Plan | None:
        """Plan a mapping key by key; write out the contents of a `<<` only if they must change."""
        merged = self.value(node)
        own = {_key(e) for e in node.entries if not is_merge_key(e.key)}
        if len(node.index()) != len(node.entries) or not isinstance(merged, dict):
            return None
        if merged.keys() - own - value.keys():
            return None  # only new text can drop a key that comes from an alias
        pairs: list[Pair] = [
            # a `<<` keeps its contents
            (e, None, merged) if is_merge_key(e.key) else (e, e.name, value[_key(e)])
            for e in node.entries
            if is_merge_key(e.key) or _key(e) in value
        ]
        pairs += [
            (None, key, value[key])
            for key in value
            if key not in own
            and not (key in merged and self.likeness.same(merged[key], value[key]))
        ]
        return self.build(node, pairs, value)

    def sequence(self, node: Sequence, value: list[object]) -> Plan:
        """Pair equal elements first, then elements with the same name, then elements by index."""
        partners = self.likeness.partners([self.value(e.value) for e in node.entries], value)
        pairs: list[Pair] = [
            (None if partner is None else node.entries[partner], None, wanted)
            for partner, wanted in zip(partners, value, strict=True)
        ]
        return self.build(node, pairs)

    def build(self, inside: Collection, pairs: list[Pair], keys: Iterable[str] = ()) -> Build:
        """Return the plan of a collection.

        A pair is our entry or None, with its key and the wanted value. `keys` holds the keys of a
        mapping in the wanted order.
        """
        plans = [self.plan(entry, value) for entry, _, value in pairs]
        planned = [(*pair, plan) for pair, plan in zip(pairs, plans, strict=True)]
        fresh = self.fresh(inside, [(k, v) for _, k, v, plan in planned if plan is None])
        items = []
        for entry, _, value, plan in planned:
            if plan is not None:
                items.append(Item(plan, entry, entry, ()))
            elif entry is None:
                new = next(fresh)
                items.append(Item(Take(new.value, new), None, new, ()))
            else:
                items.append(_rewritten(entry, value, next(fresh)))
        if isinstance(inside, Mapping):
            old = [item for item in items if item.ours is not None]
            named = {i.theirs.name: i for i in items if i.ours is None and i.theirs is not None}
            items = _with_new(old, named, keys)
        return Build(inside, inside, items)

    def plan(self, entry: Entry | None, value: object) -> Plan | None:
        """Return the plan for an entry's value, or None if the value needs new text."""
        if entry is None:
            return None
        return Keep(entry.value) if is_merge_key(entry.key) else self.node(entry.value, value)

    def fresh(self, inside: Collection, new: list[tuple[str | None, object]]) -> Iterator[Entry]:
        """Yield new entries for a collection, parsed from new text, in order."""
        values: list[object] = [[value for _, value in new]]
        if isinstance(inside, Mapping):
            whole = dict(new)
            is_repeated = len(whole) < len(new)  # `0x1` and `"0x1"`
            values = [{key: value} for key, value in new] if is_repeated else [whole]
        for value in values if new else ():
            is_json = _is_json(inside)
            text = _json(value) if is_json else dump(value, list_offset=self.list_offset)
            root = split_text(text).documents[0].root
            assert isinstance(root, Collection)  # just written so
            yield from root.entries


def _rewritten(entry: Entry, value: object, fresh: Entry) -> Item:
    """Return one of our entries with newly written text as its value."""
    style, anchor = None, ""
    if isinstance(entry.value, Scalar):
        quoted = isinstance(value, str) and entry.value.style in ("'", '"')
        style = entry.value.style if quoted else None
        anchor = entry.value.anchor if isinstance(fresh.value, Scalar) else ""
    take = Take(fresh.value, fresh, style, anchor=anchor, keeps_comment=True)
    return Item(take, entry, fresh, ())


def _has_merge_key(node: Node) -> bool:
    return isinstance(node, Mapping) and any(is_merge_key(e.key) for e in node.entries)


def _key(entry: Entry) -> str:
    """Return the key as a JSON parser reads it."""
    if isinstance(entry.key, Scalar):
        value = resolve(entry.key.value, entry.key.style, entry.key.tag)
        if isinstance(value, bool):
            return "true" if value else "false"
        return value if isinstance(value, str) else str(value)
    return entry.name


def _with_new(items: list[Item], new: dict[str, Item], order: Iterable[str]) -> list[Item]:
    """Add new items, each behind its nearest known predecessor, or else at the end."""
    last = {_key(i.ours or i.theirs): n for n, i in enumerate(items)}  # type: ignore[arg-type]
    behind: dict[int, list[Item]] = {}
    place = len(items)
    for key in order:
        if key in new:
            behind.setdefault(place, []).append(new[key])
        else:
            place = last.get(key, place)
    spread = ([item, *behind.get(n, ())] for n, item in enumerate(items))
    return [item for some in spread for item in some] + behind.get(len(items), [])


def _block_text(node: Scalar, value: str) -> Plan | None:
    """Plan new lines under the header of a block scalar, if the header allows these lines."""
    if node.style != "|" or "\n" not in value.rstrip("\n") or value.startswith((" ", "\n", "\t")):
        return None
    chomp = "" if value.endswith("\n") and not value.endswith("\n\n") else None
    if not value.endswith("\n"):
        chomp = "-"
    odd = any((c < " " and c != "\n") or c in "\x7f\x85\u2028\u2029\ufeff" for c in value)
    if chomp is None or odd or any(line != line.rstrip() for line in value.split("\n")):
        return None
    return NewText(node, "|" + chomp, [value.removesuffix("\n").split("\n")])


def _is_json(inside: Collection) -> bool:
    first = inside.entries[0] if inside.entries else None
    if not inside.flow:
        return False
    if first is None:
        return inside.text.lstrip()[:1] in ("{", "[")
    node = first.key if first.key is not None else first.value
    return isinstance(node, Collection) or (isinstance(node, Scalar) and node.style == '"')


def _json(value: object) -> str:
    from json import dumps

    # JSON allows characters that YAML reads as line breaks or refuses. Only these are escaped,
    # because a JSON escape of a character above U+FFFF has two halves, which YAML refuses.
    return "".join(map(_escaped, dumps(value, ensure_ascii=False))) + "\n"


def _escaped(char: str) -> str:
    odd = "\x7f" <= char < "\xa0" or char in "\u2028\u2029\ufeff\ufffe\uffff"
    return f"\\u{ord(char):04x}" if odd else char


def _list_offset(node: Node) -> int:
    """Return how many columns lists are indented below their keys, or -1 if there is no list."""
    for entry in node.entries if isinstance(node, Collection) and not node.flow else ():
        value = entry.value
        if isinstance(value, Sequence) and not value.flow and entry.key is not None:
            assert isinstance(node, Collection)
            return min(max(value.column - node.column, 0), 2)
        offset = _list_offset(value) if isinstance(value, Collection) else -1
        if offset >= 0:
            return offset
    return -1


def equal(a: object, b: object) -> bool:
    """Return whether two plain values are the same; `1`, `1.0` and `true` all differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        return len(a) == len(b) and all(k in b and equal(v, b[k]) for k, v in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    return type(a) is type(b) and (a == b or (a != a and b != b))  # noqa: PLR0124  (nan)


class Likeness:
    """Compare values that do not change; a hash of each value excludes most pairs quickly."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # id() of a collection -> its hash

    def same(self, a: object, b: object) -> bool:
        """Return whether two values are `equal`; hash each collection only once."""
        return self.number(a) == self.number(b) and equal(a, b)

    def number(self, value: object) -> int:
        """Return a hash that is the same for equal values."""
        if not isinstance(value, dict | list | tuple):
            return hash(("nan",) if value != value else (type(value), value))  # noqa: PLR0124
        number = self._numbers.get(id(value))
        if number is None:
            if isinstance(value, dict):
                number = hash(frozenset((key, self.number(item)) for key, item in value.items()))
            else:
                number = hash(tuple(map(self.number, value)))
            self._numbers[id(value)] = number
        return number

    def partners(self, have: list[object], want: list[object]) -> list[int | None]:
        """Return the index of the partner of every wanted element, or None for a new element.

        A partner is an old element with an equal value, the same name, or the same index.
        """
        partners: list[int | None] = [None] * len(want)
        free = dict.fromkeys(range(len(have)))

        def assign(part: Callable[[object], Iterable[object]]) -> None:
            known: dict[Hashable, list[int]] = {}
            for index in reversed(free):
                for value in part(have[index]):
                    known.setdefault(self.number(value), []).append(index)
            for index, wanted in enumerate(want):
                if partners[index] is not None:
                    continue
                for value in part(wanted):
                    if indices := known.get(self.number(value)):
                        partners[index] = taken = indices.pop()
                        del free[taken]

        assign(lambda value: (value,))
        for name in RECOGNIZED_BY:
            assign(lambda value, name=name: _field(value, name))  # type: ignore[misc]
        for index, wanted in enumerate(want):
            if partners[index] is None and index in free and _is_like(have[index], wanted):
                partners[index] = index
                del free[index]
        return partners


def _field(value: object, name: str) -> tuple[object, ...]:
    return (value[name],) if isinstance(value, dict) and name in value else ()


def _is_like(a: object, b: object) -> bool:
    """Return whether an element may be turned into the wanted element with the same index."""
    if not isinstance(a, dict) or not isinstance(b, dict):
        return type(a) is type(b)
    return any(k in b and equal(v, b[k]) for k, v in a.items())
