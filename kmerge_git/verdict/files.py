"""Compare the documents of three versions of a file with those of a result."""

from __future__ import annotations

from operator import eq

from kmerge_git.errors import KmergeError
from kmerge_git.kube.listkeys import start
from kmerge_git.kube.outline import full_name
from kmerge_git.merge.pairing import (
    likely_same,
    name_of,
    one_new_file,
    pair_documents,
    standing_name,
)
from kmerge_git.merge.three import Three, under
from kmerge_git.outcome import SIDES
from kmerge_git.text.markers import marker_size_for, resolve
from kmerge_git.tree.brief import brief
from kmerge_git.tree.documents import YamlText, built_root, split_text
from kmerge_git.tree.nodes import Collection, is_block_text
from kmerge_git.tree.same import comments
from kmerge_git.verdict.fields import Difference, FieldWalk, Four, side_of, verdict_of, what_of
from kmerge_git.verdict.spelling import alike, apart, shown_values, side_by_side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.decide.rules import Rules
    from kmerge_git.merge.merged import Trio
    from kmerge_git.merge.pairing import Documents
    from kmerge_git.tree.documents import Document, Stream
    from kmerge_git.tree.nodes import Node
    from kmerge_git.verdict.fields import Ends

    Naming = Callable[[Document], Hashable]
    Results = tuple[Stream, Stream] | None  # the result resolved to ours, and to theirs


def ends_of(
    result: YamlText, texts: Three[YamlText], marker_size: int, *, is_clean: bool
) -> Results:
    """Return a result twice: with all conflicts resolved to ours, and resolved to theirs.

    Return None if the result cannot be parsed.
    """
    try:
        if is_clean:
            _ = result.roots
            return result.stream, result.stream
        size = marker_size_for((text.source.text for text in texts.each()), marker_size)
        first, second = (split_text(resolve(result.source.text, side, size)) for side in SIDES)
        known = {document.text for document in first.documents}
        _ = first.roots, [d.root for d in second.documents if d.text not in known]
    except KmergeError:
        return None
    return first, second


def nowhere(document: Document) -> Node | None:
    """Say that no other file has gained the resource of a document."""
    return None


class FileComparison:
    """Compare three versions of a file with a result that can be resolved to ours and to theirs.

    A thorough comparison is that of a judge: it looks into lists and texts that are in doubt, at
    what nobody changed, and, through `elsewhere`, at resources that are in another file now. It
    leaves out comments and the layout.
    """

    def __init__(
        self,
        rules: Rules,
        path: str,
        *,
        is_thorough: bool = False,
        elsewhere: Callable[[Document], Node | None] = nowhere,
        lost_of: str = "",
    ) -> None:
        self._rules = rules
        self._path = path
        self._is_thorough = is_thorough
        self._elsewhere = elsewhere
        self._walk = FieldWalk(rules, is_thorough=is_thorough, lost_of=lost_of)

    def differences(self, streams: Three[Stream], ends: Results) -> Iterator[Difference]:
        """Yield all places at which the versions of a file differ, resource by resource."""
        tables = pair_documents(streams, self._rules.twins, stops=self._rules.stops)
        is_new = not any(d.content.strip() for d in tables.base.values())
        if is_new and tables.ours and tables.theirs:
            tables = one_new_file(tables) or tables
        results = _both_placed(tables, ends) if ends is not None else None
        for key in dict.fromkeys([*tables.ours, *tables.theirs, *tables.base]):
            at = under(tables, key)
            result = (results[0].get(key), results[1].get(key)) if results is not None else None
            if not self._is_of_interest(at, result):
                continue
            there = at.ours or at.theirs or at.base
            assert there is not None  # the key is that of a version
            name = name_of(there) if None in (at.ours, at.theirs) else standing_name(at)
            for difference in self._of_one(*_read_once(at, result)):
                difference.resource = name
                yield difference
            if not self._is_thorough:  # a judge looks at the whole file in the end
                _free((*at.each(), *(result or ())))
        yield from _order(tables, results)
        if not self._is_thorough:
            yield from _around(streams, ends)

    def _is_of_interest(self, at: Trio, result: Ends[Document]) -> bool:
        contents = at.map(_content)
        if not contents.base == contents.ours == contents.theirs:
            return True
        is_thorough = self._is_thorough and result is not None
        return is_thorough and any(_content(end) not in ("", contents.base) for end in result or ())

    def _of_one(self, at: Trio, ends: Ends[Document]) -> Iterator[Difference]:
        """Yield the differences in one resource: first the fields, then comments and layout."""
        roots = at.map(built_root)
        where = start(roots.base or roots.ours or roots.theirs, self._path)
        if self._is_thorough:
            yield from self._judged(at, roots, ends, where)
            return
        result = (built_root(ends[0]), built_root(ends[1])) if ends is not None else None
        if at.ours is None or at.theirs is None:
            what, side = what_of(roots, alike), side_of(roots, result, alike)
            if what or roots.base is None:
                names = shown_values(roots) if what else roots.map(brief)
                yield Difference((), what or "comments", side, "8", names, "document")
            return
        four = Four(roots, result)
        listed = [*self._walk.differences(four, (), where), *_comments(at, ends)]
        yield from listed
        doers = {side for difference in listed for side in difference.doers}
        yield from _layout(at.map(lambda d: d.content if d is not None else ""), doers)

    def _judged(
        self, at: Trio, roots: Three[Node | None], ends: Ends[Document], where: Where
    ) -> Iterator[Difference]:
        """Yield the differences in one resource for a judge."""
        result = (built_root(ends[0]), built_root(ends[1])) if ends is not None else None
        there = at.ours or at.theirs or at.base
        if result == (None, None) and there is not None:
            moved = self._elsewhere(there)
            result = moved, moved
        if result == (None, None) and None not in roots.each():
            return  # every side has the resource, and the result has lost all of it
        for one in self._walk.differences(Four(roots, result), (), where):
            if not one.path:
                one.kind = "document"
            yield one


def _read_once(at: Trio, ends: Ends[Document]) -> tuple[Trio, Ends[Document]]:
    """Return the same documents; those of one text become the first of them, in the result."""
    known: dict[str, Document] = {}

    def first(document: Document | None) -> Document | None:
        return known.setdefault(document.text, document) if document is not None else None

    result = (first(ends[0]), first(ends[1])) if ends is not None else None
    return at.map(first), result


def _free(documents: tuple[Document | None, ...]) -> None:
    for document in filter(None, documents):
        document.forget()


def _content(document: Document | None) -> str | None:
    return document.content if document is not None else None


def _layout(texts: Three[str], doers: set[str]) -> Iterator[Difference]:
    """Yield a difference for a side that changed only the layout, and no field or comment."""
    left = [side for side in SIDES if side not in doers and texts.side(side) != texts.base]
    if left:
        side = left[0] if len(left) == 1 else "both"
        yield Difference((), "layout", side, "14", Three("", "", ""), "comment")


def _comments(at: Trio, ends: Ends[Document]) -> Iterator[Difference]:
    """Yield a difference if the versions of a resource have different comments."""
    lines = at.map(lambda d: _comments_of(d) if d is not None else [])
    if lines.base == lines.ours == lines.theirs:
        return
    result = None
    if ends is not None and ends[0] is not None and ends[1] is not None:
        result = _comments_of(ends[0]), _comments_of(ends[1])
    side = side_of(lines, result, lambda a, b: sorted(a or ()) == sorted(b or ()))
    texts = apart(lines, str, str, lambda parts, _: " / ".join(parts))
    what = (
        "comments" if lines.ours != lines.theirs else "comments changed identically on both sides"
    )
    yield Difference((), what, side, "14", side_by_side(lines, texts, eq), "comment")


def _comments_of(document: Document) -> list[str]:
    """Return the comments of a document, without lines inside of block texts."""
    text, root = document.source.text, document.root
    out, at = "", document.body
    for first, last in _block_texts(root) if root is not None and "#" in document.content else ():
        out, at = out + text[at:first], last
    return comments(out + text[at : document.end])


def _block_texts(node: Node) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each block text below a node, without its header."""
    if is_block_text(node):
        yield node.text.find("\n", node.content, node.end) % (node.end + 1), node.end
    elif isinstance(node, Collection):
        for entry in node.entries:
            yield from _block_texts(entry.value)


def _both_placed(tables: Three[Documents], ends: tuple[Stream, Stream]) -> list[Documents]:
    first = _placed(tables, ends[0])
    return [first, first if ends[1] is ends[0] else _placed(tables, ends[1])]


def _placed(tables: Three[Documents], end: Stream) -> Documents:
    """Return the documents of a result, each under the key of the input document it comes from."""
    free = {document.number: document for document in end.documents}
    placed: Documents = {}
    keys = list(dict.fromkeys([*tables.ours, *tables.theirs, *tables.base]))
    naming: tuple[Naming, ...] = (lambda document: document.content, full_name)
    for name_as in naming:
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
    """Pair the remaining documents that are alike; these have no name or a new name."""
    gone = {key for key in tables.base if key not in tables.ours or key not in tables.theirs}
    rest = [key for key in keys if key not in gone]
    mine = [tables.ours.get(key) or tables.theirs[key] for key in rest]
    return {rest[i]: left[j] for i, j in likely_same(mine, left)} if mine and left else {}


def _one_of(at: Trio, known: dict[Hashable, list[Document]], name_as: Naming) -> Document | None:
    """Return the first document of a result that has the name of one of the versions."""
    for version in (at.ours, at.theirs, at.base):
        name = name_as(version) if version is not None else None
        if name is not None and known.get(name):
            return known[name].pop(0)
    return None


def _order(tables: Three[Documents], results: list[Documents] | None) -> Iterator[Difference]:
    common = {key for key in tables.base if key in tables.ours and key in tables.theirs}
    orders = tables.map(lambda table: [key for key in table if key in common])
    if orders.base == orders.ours == orders.theirs:
        return
    ends = None
    if results is not None:
        numbers = ({table[key].number: key for key in common & table.keys()} for table in results)
        first, second = ([known[number] for number in sorted(known)] for known in numbers)
        ends = first, second
    name = {key: name_of(tables.ours[key]) for key in common}
    names = orders.map(lambda keys: ", ".join(name[key] for key in keys))
    shown = side_by_side(orders, names, eq)
    verdict, of = verdict_of(orders, ends, eq)
    side = side_of(orders, ends, eq)
    yield Difference((), "reordered", side, "8", shown, "order", verdict=verdict, of=of)


def _around(streams: Three[Stream], ends: Results) -> Iterator[Difference]:
    """Yield differences in the comments before the first resource or after the last resource."""
    parts: tuple[Callable[[Stream], str], ...] = (lambda s: s.prologue, lambda s: s.tail)
    for part in parts:
        texts = streams.map(part)
        if not texts.base == texts.ours == texts.theirs:
            result = (part(ends[0]), part(ends[1])) if ends else None
            side = side_of(texts, result, eq)
            what = (
                "comments"
                if texts.ours != texts.theirs
                else "comments changed identically on both sides"
            )
            shown = side_by_side(texts, texts, eq)
            yield Difference((), what, side, "14", shown, "comment")
