"""The plan that turns a document into a wanted plain value with the fewest edits.

For everything that computes values (`patch`, `apply`): what is already as wanted keeps its text,
new text is written only for what is new.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.merge.plan import Build, Item, Keep, NewText, Plan, Take
from kmerge_git.merge.three import Three
from kmerge_git.merge.write.document import write_document
from kmerge_git.text.pieces import side_text
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split
from kmerge_git.tree.emit import dump
from kmerge_git.tree.nodes import Alias, Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.values import is_merge_key, to_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def reshape(document: Document, value: object) -> str:
    """The document's text, its opening included, with `value` for its content."""
    if document.root is None:
        return document.opening + _head(document.content) + dump(value)
    fresh = Three(None, document, _fresh(value))
    for expand in (False, True):
        plan = plan_for(document, value, expand=expand)
        result = document.opening + side_text(write_document(plan, fresh), "ours")
        if _reads_as(result, value):
            return result
    raise Unsupported(
        "the edited text does not read back as the wanted value",
        path=document.source.path,
        hint="please report it; -o json writes the value as new text",
    )


def _reads_as(text: str, value: object) -> bool:
    try:
        return equal(to_value(split(Source.of(text)).documents[0].root), value)
    except KmergeError:
        return False  # an alias whose anchor is gone


def plan_for(document: Document, value: object, *, expand: bool = False) -> Plan:
    """The plan that makes `value` of a document that is not empty.

    With `expand` aliases are written out: where an anchored value changes, they cannot stay.
    """
    root = document.root
    assert root is not None  # the caller's case
    shape = _Shape(root, max(_list_offset(root), 0), expand)
    plan = shape.node(root, value)
    if plan is None:
        new = _fresh(value).root
        assert new is not None  # just written
        plan = Take(new, None)
    return plan


def equal(a: object, b: object) -> bool:
    """Whether two plain values are the same; `1`, `1.0` and `true` are three values."""
    if isinstance(a, dict) and isinstance(b, dict):
        return len(a) == len(b) and all(k in b and equal(v, b[k]) for k, v in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    return type(a) is type(b) and (a == b or (a != a and b != b))  # noqa: PLR0124  (nan)


class _Shape:
    """Compares one document's nodes with the wanted values."""

    __slots__ = ("expand", "list_offset", "root")

    def __init__(self, root: Node, list_offset: int, expand: bool) -> None:
        self.expand = expand
        self.root = root
        self.list_offset = list_offset

    def node(self, node: Node, value: object) -> Plan | None:
        """The plan for one node; None: new text must stand here."""
        if self.expand and (isinstance(node, Alias) or _has_merge_key(node)):
            return None
        walk = self.expand and isinstance(node, Collection)
        if not walk and equal(to_value(node, self.root), value):
            return Keep(node)
        return None if node.tag else self.other(node, value)

    def other(self, node: Node, value: object) -> Plan | None:
        """The plan for a node that has another value."""
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
        """Key by key; what a `<<` brings is written out only where it must differ."""
        merged = to_value(node, self.root)
        own = {_key(e) for e in node.entries if not is_merge_key(e.key)}
        if len(node.index()) != len(node.entries) or not isinstance(merged, dict):
            return None
        if any(key not in value for key in merged if key not in own):
            return None  # a key that comes from an alias is to go: nothing but new text can do it
        items: list[Item] = []
        for entry in node.entries:
            key = _key(entry)
            if is_merge_key(entry.key):
                items.append(Item(Keep(entry.value), entry, entry, ()))
            elif key in value:
                items.append(self.entry(entry, value[key], node))
        for key in [k for k in value if k not in own]:
            if key not in merged or not equal(merged[key], value[key]):
                items.insert(
                    _behind(items, list(value), key), self.new_entry(key, value[key], node)
                )
        return Build(node, node, items)

    def sequence(self, node: Sequence, value: list[object]) -> Plan:
        """Equal elements first, then those of the same name, then by place."""
        items: list[Item] = []
        partners = _partners([to_value(e.value, self.root) for e in node.entries], value)
        for partner, wanted in zip(partners, value, strict=True):
            if partner is None:
                items.append(self.new_entry(None, wanted, node))
            else:
                items.append(self.entry(node.entries[partner], wanted, node))
        return Build(node, node, items)

    def entry(self, entry: Entry, value: object, inside: Collection) -> Item:
        """One of our entries with a wanted value."""
        plan = self.node(entry.value, value)
        if plan is not None:
            return Item(plan, entry, entry, ())
        key = entry.name if entry.key is not None else None
        fresh = self.new_entry(key, value, inside).theirs
        assert fresh is not None  # a new entry always has one
        style, anchor = None, ""
        if isinstance(entry.value, Scalar):
            quoted = isinstance(value, str) and entry.value.style in ("'", '"')
            style = entry.value.style if quoted else None
            anchor = entry.value.anchor if isinstance(fresh.value, Scalar) else ""
        take = Take(fresh.value, fresh, style, anchor=anchor, keeps_comment=True)
        return Item(take, entry, fresh, ())

    def new_entry(self, key: str | None, value: object, inside: Collection) -> Item:
        """An entry that is in no file yet, in the style of the collection it goes to."""
        wanted: object = [value] if key is None else {key: value}
        text = _json(wanted) if _is_json(inside) else dump(wanted, list_offset=self.list_offset)
        root = split(Source.of(text)).documents[0].root
        assert isinstance(root, Collection)  # just written so
        fresh = root.entries[0]
        return Item(Take(fresh.value, fresh), None, fresh, ())


def _fresh(value: object) -> Document:
    """A document of new text."""
    return split(Source.of(dump(value))).documents[0]


def _has_merge_key(node: Node) -> bool:
    return isinstance(node, Mapping) and any(is_merge_key(e.key) for e in node.entries)


def _key(entry: Entry) -> str:
    """The key as a JSON reader sees it."""
    if isinstance(entry.key, Scalar):
        value = to_value(entry.key)
        if isinstance(value, bool):
            return "true" if value else "false"
        return value if isinstance(value, str) else str(value)
    return entry.name


def _behind(items: list[Item], order: list[str], key: str) -> int:
    """Where a new key goes: behind its nearest predecessor that is there, else last."""
    places = {_key(i.ours or i.theirs): n for n, i in enumerate(items)}  # type: ignore[arg-type]
    for before in reversed(order[: order.index(key)]):
        if before in places:
            return places[before] + 1
    return len(items)


def _partners(have: list[object], want: list[object]) -> list[int | None]:
    """For every wanted element the element of ours that becomes it, or None."""
    free = list(range(len(have)))
    partners: list[int | None] = [None] * len(want)

    def assign(fits: Callable[[object, object], bool]) -> None:
        for index, wanted in enumerate(want):
            if partners[index] is None:
                found = next((i for i in free if fits(have[i], wanted)), None)
                if found is not None:
                    partners[index] = found
                    free.remove(found)

    assign(equal)
    for field in ("name", "containerPort", "mountPath", "key", "type", "port"):
        assign(lambda a, b, field=field: _same_field(a, b, field))  # type: ignore[misc]
    for index, wanted in enumerate(want):
        if partners[index] is not None or index not in free:
            continue
        if type(have[index]) is not type(wanted):
            continue
        if not isinstance(wanted, dict) or _related(have[index], wanted):
            partners[index] = index
            free.remove(index)
    return partners


def _same_field(a: object, b: object, field: str) -> bool:
    both = isinstance(a, dict) and isinstance(b, dict)
    return both and field in a and field in b and equal(a[field], b[field])  # type: ignore[operator,index]


def _related(a: object, b: object) -> bool:
    if not (isinstance(a, dict) and isinstance(b, dict)):
        return False
    return any(k in b and equal(v, b[k]) for k, v in a.items())


def _block_text(node: Scalar, value: str) -> Plan | None:
    """Other lines under the header of a block scalar, if the header can hold them."""
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

    # JSON lets characters through that YAML takes for line breaks or refuses. Only these are
    # escaped: JSON spells a character above U+FFFF as two, and YAML takes neither of them.
    return "".join(map(_escaped, dumps(value, ensure_ascii=False))) + "\n"


def _escaped(char: str) -> str:
    odd = "\x7f" <= char < "\xa0" or char in "\u2028\u2029\ufeff\ufffe\uffff"
    return f"\\u{ord(char):04x}" if odd else char


def _list_offset(node: Node) -> int:
    """How far a list is indented below its key in this document; -1: no list tells."""
    for entry in node.entries if isinstance(node, Collection) and not node.flow else ():
        value = entry.value
        if isinstance(value, Sequence) and not value.flow and entry.key is not None:
            assert isinstance(node, Collection)
            return min(max(value.column - node.column, 0), 2)
        found = _list_offset(value) if isinstance(value, Collection) else -1
        if found >= 0:
            return found
    return -1


def _head(content: str) -> str:
    return content if not content or content.endswith("\n") else content + "\n"
