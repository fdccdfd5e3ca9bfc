"""The resources of three files, and what the result has of each."""

from __future__ import annotations

from kmerge_git.kube.listkeys import start
from kmerge_git.kube.outline import full_name
from kmerge_git.merge.account.fields import differences
from kmerge_git.merge.account.places import Difference, Four, alike, apart, side_of, what_of
from kmerge_git.merge.pairing import likely_same, name_of, one_new_file, pair_documents
from kmerge_git.merge.three import Three, under
from kmerge_git.tree.brief import brief, shortened
from kmerge_git.tree.nodes import Collection, Node
from kmerge_git.tree.same import comments
from kmerge_git.tree.spans import is_block_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from kmerge_git.merge.account.places import Ends
    from kmerge_git.merge.decide.rules import Rules
    from kmerge_git.tree.documents import Document, Stream

    Documents = dict[Hashable, Document]
    Trio = Three[Document | None]


def differing(
    rules: Rules, streams: Three[Stream], ends: Ends[Stream], path: str
) -> Iterator[Difference]:
    """All places at which the versions of a file differ, resource by resource."""
    tables = pair_documents(streams, rules.twins, stops=rules.stops)
    if not any(d.content.strip() for d in tables.base.values()) and tables.ours and tables.theirs:
        tables = one_new_file(tables) or tables
    made = [_placed(tables, end) for end in ends] if ends is not None and None not in ends else None
    for key in dict.fromkeys([*tables.ours, *tables.theirs, *tables.base]):
        at = under(tables, key)
        contents = at.map(lambda d: d.content if d is not None else None)
        if contents.base == contents.ours == contents.theirs:
            continue
        there = at.ours or at.theirs or at.base
        name = name_of(there) if there is not None else ""
        result = (made[0].get(key), made[1].get(key)) if made is not None else None
        for found in _of_one(rules, at, result, path):
            found.resource = name
            yield found
    yield from _order(tables, made)
    yield from _around(streams, ends)


def _of_one(rules: Rules, at: Trio, ends: Ends[Document], path: str) -> Iterator[Difference]:
    """What differs in one resource; its comments and its spelling last."""
    roots = at.map(_root)
    result = (_root(ends[0]), _root(ends[1])) if ends is not None else None
    four = Four(roots, result)
    if at.ours is None or at.theirs is None:
        what, side = what_of(roots, alike), side_of(roots, result, alike)
        rule = "8"
        if what or roots.base is None:
            yield Difference((), what or "comments", side, rule, _names(at), "document")
        return
    doers: set[str] = set()
    for found in differences(rules, four, (), start(roots.base or roots.ours, path)):
        doers |= found.doers
        yield found
    for found in _comments(at, ends):
        doers |= found.doers
        yield found
    yield from _layout(at.map(lambda d: d.content if d is not None else ""), doers)


def _layout(texts: Three[str], told: set[str]) -> Iterator[Difference]:
    """A side that changed a text, though no field of it and no comment."""
    sides = ("ours", "theirs")
    left = [s for s in sides if s not in told and texts.side(s) != texts.base]
    if left:
        side = left[0] if len(left) == 1 else "both"
        yield Difference((), "layout", side, "14", Three("", "", ""), "comment")


def _root(document: Document | None) -> Node | None:
    return document.root if document is not None else None


def _names(at: Trio) -> Three[str]:
    """Whole resources by a few words of them."""
    return at.map(lambda d: brief(d.root) if d is not None else "")


def _comments(at: Trio, ends: Ends[Document]) -> Iterator[Difference]:
    """The comments of a resource that not all versions have."""
    found = at.map(lambda d: tuple(_comments_of(d)) if d is not None else ())
    if found.base == found.ours == found.theirs:
        return
    made = None
    if ends is not None and ends[0] is not None and ends[1] is not None:
        made = tuple(_comments_of(ends[0])), tuple(_comments_of(ends[1]))
    side = side_of(found, made, lambda a, b: sorted(a or ()) == sorted(b or ()))
    shown = apart(found.map(list), str, str, lambda parts, _: shortened(" / ".join(parts)))
    yield Difference((), "comments", side, "14", shown, "comment")


def _comments_of(document: Document) -> list[str]:
    """The comments of a document, without what stands in block texts."""
    text, root = document.source.text, document.root
    out, at = "", document.body
    for first, last in _block_texts(root) if root is not None and "#" in document.content else ():
        out, at = out + text[at:first], last
    return comments(out + text[at : document.end])


def _block_texts(node: Node) -> Iterator[tuple[int, int]]:
    """Where block texts stand, without their headers."""
    if is_block_text(node):
        yield node.text.find("\n", node.content, node.end) % (node.end + 1), node.end
    elif isinstance(node, Collection):
        for entry in node.entries:
            yield from _block_texts(entry.value)


def _placed(tables: Three[Documents], end: Stream | None) -> Documents:
    """The documents of a result under the keys of what they came from."""
    free = {document.number: document for document in (end.documents if end else ())}
    placed: Documents = {}
    keys = list(dict.fromkeys([*tables.ours, *tables.theirs, *tables.base]))
    for name_as in (_content, full_name):
        known: dict[Hashable, list[Document]] = {}
        for document in free.values():
            known.setdefault(name_as(document), []).append(document)
        for key in [key for key in keys if key not in placed]:
            same = _one_of(under(tables, key), known, name_as)
            if same is not None:
                placed[key] = free.pop(same.number)
    return placed | _by_likeness(
        tables, [key for key in keys if key not in placed], [*free.values()]
    )


def _by_likeness(tables: Three[Documents], keys: list[Hashable], left: list[Document]) -> Documents:
    """The rest: what has no name, and what has another one."""
    gone = {key for key in tables.base if key not in tables.ours or key not in tables.theirs}
    rest = [key for key in keys if key not in gone]
    mine = [tables.ours.get(key) or tables.theirs[key] for key in rest]
    return {rest[i]: left[j] for i, j in likely_same(mine, left)} if mine and left else {}


def _one_of(
    at: Trio, known: dict[Hashable, list[Document]], name_as: Callable[[Document], Hashable]
) -> Document | None:
    """The first document of a result that is called as one of the versions."""
    for version in (at.ours, at.theirs, at.base):
        name = name_as(version) if version is not None else None
        if name is not None and known.get(name):
            return known[name].pop(0)
    return None


def _content(document: Document) -> str:
    return document.content


def _order(tables: Three[Documents], made: list[Documents] | None) -> Iterator[Difference]:
    common = {key for key in tables.base if key in tables.ours and key in tables.theirs}
    orders = tables.map(lambda table: [key for key in table if key in common])
    if orders.base == orders.ours == orders.theirs:
        return
    found = None
    if made is not None:
        results = [sorted(table, key=lambda k, t=table: t[k].number) for table in made]  # type: ignore[misc]
        first, second = ([key for key in keys if key in common] for keys in results)
        found = first, second
    side = side_of(orders, found, lambda a, b: a == b)
    shown = orders.map(lambda keys: shortened(", ".join(name_of(tables.ours[k]) for k in keys)))
    yield Difference((), "reordered", side, "8", shown, "order")


def _around(streams: Three[Stream], ends: Ends[Stream]) -> Iterator[Difference]:
    """Comments that stand above the first resource or behind the last one."""
    parts: tuple[Callable[[Stream], str], ...] = (lambda s: s.prologue, lambda s: s.tail)
    for part in parts:
        texts = streams.map(part)
        if not texts.base == texts.ours == texts.theirs:
            made = (part(ends[0]), part(ends[1])) if ends and ends[0] and ends[1] else None
            side = side_of(texts, made, lambda a, b: a == b)
            yield Difference((), "comments", side, "14", texts.map(shortened), "comment")
