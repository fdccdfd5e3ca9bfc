"""List every decision of a merge with its three values.

The journal of a merge holds only the places that the rules had to decide. This module compares the
versions with the result to list all places, with the values as the files spell them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from operator import eq

from kmerge_git.errors import KmergeError
from kmerge_git.kube import fieldpath
from kmerge_git.kube.differing import found_at
from kmerge_git.kube.listkeys import start
from kmerge_git.kube.outline import full_name
from kmerge_git.merge.decide.keyed import keys_of
from kmerge_git.merge.pairing import (
    likely_same,
    name_of,
    one_new_file,
    pair_documents,
    standing_name,
)
from kmerge_git.merge.plan import Journal
from kmerge_git.merge.rule_sentences import of_kyaml
from kmerge_git.merge.three import Three, under, whose
from kmerge_git.outcome import BY_BLOCKS, LABELS, ORDER, SIDES, Decision
from kmerge_git.pipeline import by_structure, rules_for
from kmerge_git.template.template_merge import without_favor
from kmerge_git.template.template_parser import templates
from kmerge_git.template.template_readings import ActionWords, WantedReadings, rendered
from kmerge_git.text.markers import marker_size_for, resolve
from kmerge_git.tree.block_scalars import body_lines
from kmerge_git.tree.brief import beside, brief, in_full, listed
from kmerge_git.tree.documents import YamlText, split_text
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, Sequence, is_block_text
from kmerge_git.tree.same import canon, comments, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator
    from typing import TypeVar

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.decide.rules import Rules, Table
    from kmerge_git.merge.merged import Trio
    from kmerge_git.merge.pairing import Documents
    from kmerge_git.merge.plan import Note
    from kmerge_git.outcome import Options, Outcome
    from kmerge_git.tree.documents import Document, Stream

    Place = tuple[str, Path]
    Naming = Callable[[Document], Hashable]
    Results = tuple[Stream, Stream] | None  # the result resolved to ours, and to theirs
    T = TypeVar("T")
    Ends = tuple[T | None, T | None] | None  # None if the result is unknown at this place
    KeyOf = Callable[[Entry], Hashable]


# Notes of these rules say more than which side changed something.
_TELLING = ("12", "13", ORDER)


def explained(outcome: Outcome) -> tuple[Decision, ...]:
    """Return a decision for every place at which the versions of a merge differ.

    If the files cannot be read as fields, return nothing.
    """
    if outcome.inputs is None:
        return ()
    versions, options = outcome.inputs
    texts: Three[YamlText] = versions.map(lambda data: YamlText(data, options.path))
    if outcome.reason == BY_BLOCKS:
        return _of_readings(texts, options)
    journal = outcome.journal if outcome.journal is not None else Journal()
    rules = rules_for(options)
    try:
        base = texts.base.stream
        streams = Three(base, texts.ours.stream_like(base), texts.theirs.stream_like(base))
        ends = _ends(outcome, texts, options)
        places = [*differing(rules, streams, ends, options.path)]
    except (KmergeError, RecursionError):
        return journal.unnoted
    known = {(resource, note.path): note for resource, note in journal.notes}
    decisions = [_decision(place, known, outcome, options) for place in places]
    listed = {(d.resource, d.path) for d in places if d.kind != "comment"}
    rest = [
        (place, note)
        for place, note in known.items()
        if place not in listed and (_says_more(note) or options.rules == "kyaml")
    ]
    decisions += _more(rest, listed, streams)
    data = texts.map(lambda text: text.data)
    if not decisions and not data.base == data.ours == data.theirs:
        side = "both" if data.ours == data.theirs else whose(data) or "conflict"
        decisions.append(Decision("", "", "layout", side, "14"))
    return (*decisions, *journal.unnoted)


def _ends(outcome: Outcome, texts: Three[YamlText], options: Options) -> Results:
    """Return the result twice: with all conflicts resolved to ours, and resolved to theirs.

    Return None if the result cannot be parsed.
    """
    try:
        result = YamlText(outcome.text, options.path)
        if outcome.clean:
            _ = result.roots
            return result.stream, result.stream
        size = marker_size_for((text.source.text for text in texts.each()), options.marker_size)
        first, second = (split_text(resolve(result.source.text, side, size)) for side in SIDES)
        _ = first.roots, second.roots
    except KmergeError:
        return None
    return first, second


def _decision(
    difference: Difference, known: dict[Place, Note], outcome: Outcome, options: Options
) -> Decision:
    place = difference.resource, difference.path
    # a note for a whole resource does not apply to its comments
    note = known.get(place) if difference.kind != "comment" else None
    what, side, rule = difference.what, difference.side, difference.rule
    if options.rules == "kyaml":
        rule = of_kyaml(what, side, difference.kind)
    elif side == "both" and " " in what and "alike" not in what and outcome.method == "lines":
        rule = "15"
    if note is not None and (_says_more(note) or options.rules == "kyaml"):
        what = note.what
        rule = rule if note.side == "conflict" else note.rule
        side = note.side if side not in ("ours", "theirs") else side
    return _with_values(place, what, side, rule, difference.values)


def _with_values(place: Place, what: str, side: str, rule: str, values: Three[str]) -> Decision:
    resource, path = place[0], fieldpath.show(place[1])
    return Decision(resource, path, what, side, rule, values.ours, values.theirs, values.base)


def _says_more(note: Note) -> bool:
    return note.side == "conflict" or note.rule.startswith(_TELLING)


def _more(
    notes: Iterable[tuple[Place, Note]], listed: set[Place], streams: Three[Stream]
) -> Iterable[Decision]:
    """Yield the decisions in notes about places that are not listed yet.

    At these places a policy, a favoured side or a null decided.
    """
    for (resource, path), note in notes:
        is_listed = any(name == resource and _are_in_line(path, other) for name, other in listed)
        is_whole = not path and note.side == "conflict"
        if is_listed and not (is_whole or note.rule.startswith(_TELLING) or "lost" in note.rule):
            continue
        named = ([d for d in s.documents if name_of(d) == resource] for s in streams.each())
        nodes = Three(*(found_at(d[0].root, path) if len(d) == 1 else None for d in named))
        values = shown_values(nodes)
        yield _with_values((resource, path), note.what, note.side, note.rule, values)


def _are_in_line(one: Path, other: Path) -> bool:
    """Return whether two places are the same, or one place is inside of the other place."""
    short = min(len(one), len(other))
    return one[:short] == other[:short]


def differing(
    rules: Rules, streams: Three[Stream], ends: Results, path: str
) -> Iterator[Difference]:
    """Yield all places at which the versions of a file differ, resource by resource."""
    tables = pair_documents(streams, rules.twins, stops=rules.stops)
    if not any(d.content.strip() for d in tables.base.values()) and tables.ours and tables.theirs:
        tables = one_new_file(tables) or tables
    results = [_placed(tables, end) for end in ends] if ends is not None else None
    for key in dict.fromkeys([*tables.ours, *tables.theirs, *tables.base]):
        at = under(tables, key)
        contents = at.map(lambda d: d.content if d is not None else None)
        if contents.base == contents.ours == contents.theirs:
            continue
        there = at.ours or at.theirs or at.base
        assert there is not None  # the key is that of a version
        name = name_of(there) if None in (at.ours, at.theirs) else standing_name(at)
        result = (results[0].get(key), results[1].get(key)) if results is not None else None
        for difference in _of_one(rules, at, result, path):
            difference.resource = name
            yield difference
    yield from _order(tables, results)
    yield from _around(streams, ends)


def _of_one(rules: Rules, at: Trio, ends: Ends[Document], path: str) -> Iterator[Difference]:
    """Yield the differences in one resource: first the fields, then the comments and the layout."""
    roots = at.map(_root)
    result = (_root(ends[0]), _root(ends[1])) if ends is not None else None
    if at.ours is None or at.theirs is None:
        what, side = what_of(roots, alike), side_of(roots, result, alike)
        if what or roots.base is None:
            names = shown_values(roots) if what else roots.map(brief)
            yield Difference((), what or "comments", side, "8", names, "document")
        return
    fields = differences(rules, Four(roots, result), (), start(roots.base or roots.ours, path))
    listed = [*fields, *_comments(at, ends)]
    yield from listed
    doers = {side for difference in listed for side in difference.doers}
    yield from _layout(at.map(lambda d: d.content if d is not None else ""), doers)


def _layout(texts: Three[str], doers: set[str]) -> Iterator[Difference]:
    """Yield a difference for a side that changed only the layout, and no field or comment."""
    left = [side for side in SIDES if side not in doers and texts.side(side) != texts.base]
    if left:
        side = left[0] if len(left) == 1 else "both"
        yield Difference((), "layout", side, "14", Three("", "", ""), "comment")


def _root(document: Document | None) -> Node | None:
    return document.root if document is not None else None


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
    what = "comments" if lines.ours != lines.theirs else "comments alike on both sides"
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
    names = orders.map(lambda keys: ", ".join(name_of(tables.ours[k]) for k in keys))
    shown = side_by_side(orders, names, eq)
    yield Difference((), "reordered", side_of(orders, ends, eq), "8", shown, "order")


def _around(streams: Three[Stream], ends: Results) -> Iterator[Difference]:
    """Yield differences in the comments before the first resource or after the last resource."""
    parts: tuple[Callable[[Stream], str], ...] = (lambda s: s.prologue, lambda s: s.tail)
    for part in parts:
        texts = streams.map(part)
        if not texts.base == texts.ours == texts.theirs:
            result = (part(ends[0]), part(ends[1])) if ends else None
            side = side_of(texts, result, eq)
            what = "comments" if texts.ours != texts.theirs else "comments alike on both sides"
            shown = side_by_side(texts, texts, eq)
            yield Difference((), what, side, "14", shown, "comment")


# -- templates


def _of_readings(texts: Three[YamlText], options: Options) -> tuple[Decision, ...]:
    """Return the decisions of a merge of the readings, with the actions in place of the words."""
    at = templates(texts)
    structure = without_favor(by_structure, options)
    words = ActionWords(scopes=False)
    wanted = WantedReadings(*(version.parts for version in at.each()))
    wanted.names = wanted.names[:1]
    found = at.map(lambda one: {r.name: r.text for r in rendered(one.parts, words, wanted)})
    decisions: list[Decision] = []
    for name in dict.fromkeys(name for version in found.each() for name in version):
        versions = Three(*(YamlText(one.get(name, "").encode()) for one in found.each()))
        try:
            decisions += explained(structure(versions))
        except KmergeError:  # the reading has no fields
            continue
    # definitions and outputs are no fields, and a text without fields has decisions for comments
    return tuple([_in_actions(one, words) for one in decisions if one.resource or one.path])


def _in_actions(decision: Decision, words: ActionWords) -> Decision:
    shown = words.shown
    values = [
        "null, or what is rendered there" if text == "null" else shown(text)
        for text in (decision.ours, decision.theirs, decision.base)
    ]
    place = shown(decision.resource), shown(decision.path), shown(decision.what)
    return Decision(*place, decision.side, decision.rule, *values)


# -- the fields that differ, and the side that the result follows

# where two versions differ and read the same
ALMOST = "(as {} but for blanks, order, tags or anchors)"


@dataclass(slots=True)
class Difference:
    """Hold a place where the versions of a merge differ, and the side that the result follows."""

    path: Path
    what: str
    side: str  # `ours`, `theirs`, `both` or `conflict`
    rule: str
    values: Three[str]
    kind: str = "scalar"  # `scalar`, `list`, `map`, `element`, `document`, `comment` or `order`
    resource: str = ""

    @property
    def doers(self) -> set[str]:
        """Return the sides that changed this place."""
        is_alone = self.side in ("ours", "theirs") and " " not in self.what
        return {self.side} if is_alone else {"ours", "theirs"}


@dataclass(frozen=True, slots=True)
class Four:
    """Hold the nodes at one place: a node of each of the three versions and of the result."""

    at: Three[Node | None]
    ends: Ends[Node]


def differences(rules: Rules, four: Four, path: Path, where: Where) -> Iterator[Difference]:
    """Yield the places, at a path or below the path, that a side changed."""
    at = four.at
    if alike(at.base, at.ours) and alike(at.base, at.theirs):
        return
    is_looked_into = at.base is not None or not alike(at.ours, at.theirs)
    is_set = False
    if is_looked_into and _are_all(at, Mapping):
        yield from marked(four, path)
        yield from _in_mapping(rules, four, path, where.at(at.base or at.ours))
        return
    if is_looked_into and _are_all(at, Sequence):
        rule = where.list_rule()
        is_set = rule.kind == "set"
        tables = rules.keyed(_as_lists(at), rule)
        if tables is not None and not is_set:
            yield from marked(four, path)
            yield from _in_list(rules, four, path, where, tables)
            return
    yield whole(four, path, is_set=is_set)


def _are_all(at: Three[Node | None], kind: type[Collection]) -> bool:
    """Return whether both sides have a collection of this kind at a place.

    The base must have a collection of this kind, or no value.
    """
    is_base = at.base is None or isinstance(at.base, kind)
    return is_base and isinstance(at.ours, kind) and isinstance(at.theirs, kind)


def _as_lists(at: Three[Node | None]) -> Three[Sequence | None]:
    return at.map(lambda node: node if isinstance(node, Sequence) else None)


def _in_mapping(rules: Rules, four: Four, path: Path, where: Where) -> Iterator[Difference]:
    indexes: Three[dict[Hashable, Entry]] = four.at.map(
        lambda node: dict(node.index().items()) if isinstance(node, Mapping) else {}
    )
    tables, _ = rules.renamed(indexes, (), None)
    for key, names, inner in _entries(four, tables, Mapping, lambda entry: entry.name):
        yield from _renamed(names, (*path, str(key)))
        yield from differences(rules, inner, (*path, str(key)), where.child(str(key)))


def _renamed(names: Three[Hashable], path: Path) -> Iterator[Difference]:
    """Yield a difference for an entry that has another key on a side."""
    new = [name for name in (names.ours, names.theirs) if name not in (names.base, None)]
    if names.base is None or not new:
        return
    side = "both" if len(new) > 1 else "ours" if new == [names.ours] else "theirs"
    what = "renamed" if len(new) == 1 else "renamed alike on both sides"
    yield Difference(path, what, side, "11", names.map(lambda name: str(name or "")))


def _in_list(
    rules: Rules, four: Four, path: Path, where: Where, own: Three[Table]
) -> Iterator[Difference]:
    rule = where.list_rule()
    keys = keys_of(_as_lists(four.at), rule)
    tables, _ = rules.renamed(own, keys.paths, rule)

    def key_of(entry: Entry) -> Hashable:
        return keys.of(entry.value)

    for key, _, inner in _entries(four, tables, Sequence, key_of):
        yield from differences(rules, inner, (*path, keys.step(key)), where.items())
    yield from _element_order(tables, _each_end(four.ends, Sequence, key_of), key_of, path)


def _entries(
    four: Four, tables: Three[Table], kind: type[Collection], key_of: KeyOf
) -> Iterator[tuple[Hashable, Three[Hashable], Four]]:
    """Yield each key of the tables, with the keys and the values of its entry in every version."""
    ends = _each_end(four.ends, kind, key_of)
    for key in dict.fromkeys([*tables.base, *tables.ours, *tables.theirs]):
        at = under(tables, key)
        own = at.map(lambda entry: key_of(entry) if entry is not None else None)
        values = at.map(lambda entry: entry.value if entry is not None else None)
        yield key, own, Four(values, _values_in(ends, own))


def _each_end(
    ends: Ends[Node], kind: type[Collection], key_of: KeyOf
) -> tuple[dict[Hashable, Node], dict[Hashable, Node]] | None:
    """Return the entries of a result by key: once resolved to ours, and once to theirs.

    Return None if the result has another kind of value at this place.
    """
    if ends is None:
        return None
    tables = [
        {key_of(entry): entry.value for entry in end.entries}
        for end in ends
        if isinstance(end, Collection) and isinstance(end, kind)
    ]
    return (tables[0], tables[1]) if len(tables) == 2 else None


def _values_in(
    ends: tuple[dict[Hashable, Node], dict[Hashable, Node]] | None, keys: Three[Hashable]
) -> Ends[Node]:
    """Return the values in the result, found by the keys of the entry in the versions."""
    if ends is None:
        return None
    names = [key for key in (keys.ours, keys.theirs, keys.base) if key is not None]
    first, second = (next((end[name] for name in names if name in end), None) for end in ends)
    if first is None and second is None and keys.ours is not None and keys.theirs is not None:
        return None  # the result has the entry under another name
    return first, second


def _element_order(
    tables: Three[Table],
    ends: tuple[dict[Hashable, Node], dict[Hashable, Node]] | None,
    key_of: KeyOf,
    path: Path,
) -> Iterator[Difference]:
    """Yield a difference if a side changed the order of the elements that all versions have."""
    common = {key for key in tables.base if key in tables.ours and key in tables.theirs}
    orders = tables.map(lambda table: [key for key in table if key in common])
    if orders.base == orders.ours == orders.theirs:
        return
    names = {key_of(entry): key for table in tables.each() for key, entry in table.items()}
    result = None
    if ends is not None:
        first, second = ([n for n in map(names.get, end) if n in common] for end in ends)
        result = first, second
    shown = side_by_side(orders, orders.map(lambda keys: ", ".join(map(_text_of, keys))), eq)
    yield Difference(path, "reordered", side_of(orders, result, eq), "3", shown, "order")


def _text_of(key: Hashable) -> str:
    parts = key if isinstance(key, tuple) else (key,)
    return "/".join(str(part) for part in parts if part is not None)


def marked(four: Four, path: Path) -> list[Difference]:
    """Return a difference if a side changed the anchor or the tag of a collection."""
    at = four.at.map(_marks)
    if four.at.base is None or at.base == at.ours == at.theirs:
        return []
    ends = (_marks(four.ends[0]), _marks(four.ends[1])) if four.ends is not None else None
    return [Difference(path, what_of(at, eq), side_of(at, ends, eq), "1", at)]


def _marks(node: Node | None) -> str:
    return " ".join(m for m in (node.anchor and f"&{node.anchor}", node.tag) if m) if node else ""


def alike(a: Node | None, b: Node | None) -> bool:
    """Return whether two nodes have the same meaning, or are both absent."""
    return a is b if a is None or b is None else same_node(a, b)


def side_of(at: Three[T], ends: Ends[T], same: Callable[[T | None, T | None], bool]) -> str:
    """Return the side that the result follows, or `conflict`.

    Return `both` if the result equals both sides, or if it equals neither side.
    """
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
    """Return the change in words: `changed`, `added` or `deleted`, on one side or on both sides."""

    def change(new: T | None) -> str:
        how = "added" if at.base is None else "deleted" if new is None else "changed"
        return "" if same(at.base, new) else how

    mine, yours = change(at.ours), change(at.theirs)
    if not mine or not yours:
        return mine or yours
    if same(at.ours, at.theirs):
        return f"{mine} alike on both sides"
    return f"{mine} on both sides" if mine == yours else f"{mine} in ours, {yours} in theirs"


def whole(four: Four, path: Path, *, is_set: bool = False) -> Difference:
    """Return the difference of two values that are compared as a whole, not entry by entry."""
    at = four.at
    what, side = what_of(at, alike), side_of(at, four.ends, alike)
    rule = _rule(at, path, what, is_set=is_set)
    node = at.theirs or at.ours or at.base
    kind = "list" if isinstance(node, Sequence) else "scalar"
    if path and not isinstance(path[-1], str) and what != "changed":
        kind = "element"
    elif isinstance(node, Mapping):
        kind = "map"
    return Difference(path, what, side, rule, shown_values(at), kind)


def _rule(at: Three[Node | None], path: Path, what: str, *, is_set: bool) -> str:
    """Return the number of the rule that decides a place with these versions."""
    if " " not in what or "alike" in what:
        return "3" if path and isinstance(path[-1], tuple) and what != "changed" else "1"
    if at.ours is None or at.theirs is None:
        return "2"
    if type(at.ours) is not type(at.theirs):
        return "7"
    if isinstance(at.ours, Sequence):
        return "4" if is_set else "5"
    return "6"


def shown_values(at: Three[Node | None]) -> Three[str]:
    """Return the three values of a place, each in one line.

    For texts and lists, return only the parts that differ.
    """
    there = [node for node in at.each() if node is not None]
    texts = at.map(in_full)
    if len(there) > 1 and all(map(is_block_text, there)):
        lines = at.map(lambda node: body_lines(node) if isinstance(node, Scalar) else None)
        texts = apart(lines, str, str.strip, _as_lines)
    elif len(there) > 1 and all(isinstance(node, Sequence) for node in there):
        lists = _as_lists(at).map(lambda n: [e.value for e in n.entries] if n is not None else None)
        texts = apart(lists, canon, in_full, lambda parts, is_all: listed(parts, all_of_it=is_all))
    return side_by_side(at, texts, alike)


def side_by_side(at: Three[T], texts: Three[str], same: Callable[[T, T], bool]) -> Three[str]:
    """Return the texts of three versions in one line each, so that different versions differ.

    Words say it where two different versions read the same.
    """
    versions = at.each()
    shown = beside([" ".join(text.split()) for text in texts.each()])
    for later, earlier in ((1, 0), (2, 0), (2, 1)):
        is_read_alike = bool(shown[later]) and shown[later] == shown[earlier]
        if is_read_alike and not same(versions[later], versions[earlier]):
            shown[later] = ALMOST.format(LABELS[earlier])
    return Three(*shown)


def apart(
    at: Three[list[T] | None],
    key: Callable[[T], Hashable],
    spelled: Callable[[T], str],
    joined: Callable[[list[str], bool], str],
) -> Three[str]:
    """Return for each version its parts that some other version lacks.

    If the versions differ only in the order of their parts, return all parts.
    """
    counts = [Counter(map(key, parts)) for parts in at.each() if parts is not None]
    common = counts[0]
    for count in counts[1:]:
        common = common & count

    def rest(parts: list[T] | None) -> list[T]:
        left = Counter(common)
        different = []
        for one in parts or ():
            left[key(one)] -= 1
            different += [one] if left[key(one)] < 0 else []
        return different

    is_order = not any(map(rest, at.each()))

    def shown(parts: list[T] | None) -> str:
        if parts is None:
            return ""
        different = parts if is_order else rest(parts)
        return joined([spelled(one) for one in different], len(different) == len(parts))

    return at.map(shown)


def _as_lines(parts: list[str], is_all: bool) -> str:
    text = " / ".join(part for part in parts if part)
    return text if is_all else f"… {text}"
