"""List every decision of a merge with its three values.

The journal of a merge holds only the places that the rules had to decide. This module compares the
versions with the result to list all places, with the values as the files spell them.
"""

from __future__ import annotations

from operator import eq

from kmerge_git.account.field_differences import (
    Difference,
    Four,
    alike,
    apart,
    differences,
    shown_values,
    side_by_side,
    side_of,
    what_of,
)
from kmerge_git.errors import KmergeError
from kmerge_git.kube import fieldpath
from kmerge_git.kube.listkeys import start
from kmerge_git.kube.lookup import found_at
from kmerge_git.kube.outline import full_name
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
from kmerge_git.outcome import BY_BLOCKS, ORDER, SIDES, Decision
from kmerge_git.pipeline import by_structure, rules_for
from kmerge_git.template.template_merge import without_favor
from kmerge_git.template.template_parser import Template
from kmerge_git.template.template_readings import ActionWords, WantedReadings, rendered
from kmerge_git.text.markers import marker_size_for, resolve
from kmerge_git.tree.brief import brief
from kmerge_git.tree.documents import YamlText, split_text
from kmerge_git.tree.nodes import Collection, Node, is_block_text
from kmerge_git.tree.same import comments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from kmerge_git.account.field_differences import Ends
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.decide.rules import Rules
    from kmerge_git.merge.plan import Note
    from kmerge_git.outcome import Options, Outcome
    from kmerge_git.tree.documents import Document, Stream

    Place = tuple[str, Path]
    Documents = dict[Hashable, Document]
    Naming = Callable[[Document], Hashable]
    Results = tuple[Stream, Stream] | None  # the result resolved to ours, and to theirs
    Trio = Three[Document | None]

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
    decisions = [_decision(place, _note(known, place), outcome, options) for place in places]
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
    difference: Difference, note: Note | None, outcome: Outcome, options: Options
) -> Decision:
    what, side, rule = difference.what, difference.side, difference.rule
    if options.rules == "kyaml":
        rule = of_kyaml(what, side, difference.kind)
    elif side == "both" and " " in what and "alike" not in what and outcome.method == "lines":
        rule = "15"
    if note is not None and (_says_more(note) or options.rules == "kyaml"):
        what = note.what
        rule = rule if note.side == "conflict" else note.rule
        side = note.side if side not in ("ours", "theirs") else side
    place = difference.resource, difference.path
    return _with_values(place, what, side, rule, difference.values)


def _with_values(place: Place, what: str, side: str, rule: str, values: Three[str]) -> Decision:
    resource, path = place[0], fieldpath.show(place[1])
    return Decision(resource, path, what, side, rule, values.ours, values.theirs, values.base)


def _note(known: Mapping[Place, Note], of: Difference) -> Note | None:
    """Return the note for a place; a note for a whole resource does not apply to its comments."""
    return known.get((of.resource, of.path)) if of.kind != "comment" else None


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
        values = shown_values(streams.map(lambda s, r=resource, p=path: _value(s, r, p)))  # type: ignore[misc]
        yield _with_values((resource, path), note.what, note.side, note.rule, values)


def _are_in_line(one: Path, other: Path) -> bool:
    """Return whether two places are the same, or one place is inside of the other place."""
    short = min(len(one), len(other))
    return one[:short] == other[:short]


def _value(stream: Stream, resource: str, path: Path) -> Node | None:
    documents = [d for d in stream.documents if name_of(d) == resource]
    return found_at(documents[0].root, path) if len(documents) == 1 else None


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
    at = texts.map(lambda text: Template(text.source.text))
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
