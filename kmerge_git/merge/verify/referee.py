"""Check the result of a merge a second time, as an independent referee that never sees the plan.

The referee compares the three inputs with the result. These laws hold in every correct merge:

- count: if only one side added or removed copies of an element, the result has the count of that
  side. If both sides added copies, or both removed copies, the result changes by at least the
  larger of the two numbers, and by at most their sum;
- order: if only one side changed the order of two elements, the result has the order of that side;
- leaf: if only one side changed a value, the result has the value of that side. If only one side
  added a value, the result holds the value;
- gone: if one side deleted an entry and the other side did not change it, the result lacks the
  entry;
- comment: the law of counts also holds for comment lines; no comment is torn (see `torn_comments`);
- untouched: if both sides kept a line, the result has the line. If one side changed the indentation
  of the line, the result has the new indentation;
- twice: what both sides did is not made twice (see `edits_of_both`);
- moved: what one side moved, and the other side deleted, is in a conflict (see `moved_law`);
- alias: every alias means the anchor that it should mean (see `alias_law`);
- twice: no resource is there more often than in any version;
- emptied: no list or map is empty that neither side emptied, except sets.

Counts, comments and untouched lines are checked without pairing resources or elements, so these
checks find wrong pairs. Places that a policy or the favoured side decided are not checked.

If a place breaks a law, the merge is repeated with a conflict at this place. If that does not help,
the conflict grows to the collection around the place.
"""

from __future__ import annotations

from kmerge_git.kube.identity import describe, identity
from kmerge_git.kube.listkeys import start
from kmerge_git.kube.outline import outline, outlined
from kmerge_git.merge.plan import Doubt, Why
from kmerge_git.merge.three import Three, counted
from kmerge_git.merge.verify import line_damage, sites
from kmerge_git.merge.verify.edits_of_both import (
    come_back,
    may_have_moved,
    may_have_moved_parts,
    may_turn,
    new_namesakes,
    repeats_an_edit,
)
from kmerge_git.merge.verify.field_laws import Fields
from kmerge_git.merge.verify.line_laws import line_laws
from kmerge_git.merge.verify.sites import RESULT, CollectionPaths, Site, Violation, by_side, follows
from kmerge_git.outcome import SIDES
from kmerge_git.text.diff3 import lines_between, uncommon
from kmerge_git.text.pieces import side_text
from kmerge_git.tree.documents import split_text
from kmerge_git.tree.nodes import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection as Some
    from collections.abc import Hashable, Iterable, Sequence

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.merged import MergedFile
    from kmerge_git.merge.plan import Doubts
    from kmerge_git.merge.verify.sites import Documents
    from kmerge_git.outcome import Options
    from kmerge_git.tree.documents import Document, Stream, YamlText
    from kmerge_git.tree.nodes import Node

    Settled = Some[tuple[str, Path]]


def accepts(result: YamlText, at: Three[Stream], options: Options, settled: Settled) -> bool:
    """Return whether git's line merge does no damage and breaks no law.

    `settled` holds the places that a policy or the favoured side decided. These places are skipped.
    """
    if not line_damage.is_sound(result, at):
        return False
    contents = at.map(lambda stream: stream.source.text)
    if repeats_an_edit(contents, result.source.text):
        return False
    # other rules let one side win, and report the lost changes
    return options.rules != "git" or not violations(at, result.stream, settled=settled)


def confirms(text: str, at: Three[Stream], options: Options) -> bool:
    """Return whether a result that git's line merge has as well needs no other check.

    Git, too, puts what both sides added there twice. It knows no moves, and no names.
    """
    if not _share_a_document(at):
        return True
    result = split_text(text, options.path, at.ours)
    four = [list(stream.documents) for stream in (*at.each(), result)]
    rest = _without_settled(four)
    *inputs, made = _joined(rest)
    if repeats_an_edit(Three(*inputs), made) or _may_turn(*inputs):
        return False
    if come_back([version.split("\n") for version in (*inputs, made)]):
        return False
    return options.rules != "git" or not _moved(four, rest, {}, options.path)


def _may_turn(base: str, *sides: str) -> bool:
    start, behind = uncommon(base, *sides)
    old, *lists = (lines_between(text, start, behind) for text in (base, *sides))
    known = set(old)
    return may_turn(old, lists, (line for lines in lists for line in lines if line not in known))


def _share_a_document(at: Three[Stream]) -> bool:
    """Return whether both sides may have changed one document, or moved a part of one to another.

    Documents without a name may be one.
    """
    old = {document.content for document in at.base.documents}
    sides = at.map(lambda stream: [d.content for d in stream.documents])
    new = [[text for text in side if text not in old] for side in (sides.ours, sides.theirs)]
    names = [set(map(outline, texts)) for texts in new]
    if None in names[0] | names[1] or names[0] & names[1]:
        return all(names)
    return may_have_moved_parts(sides)


def objections(
    merged: MergedFile,
    results: Sequence[Stream],
    read: list[Document],
    at: Three[Stream],
    options: Options,
    settled: Settled,
) -> list[Violation]:
    """Return the places outside of conflicts where a merge field by field breaks a law.

    `results` holds the result. If there are conflicts, it holds the result resolved to ours and the
    result resolved to theirs. Documents in `read` were parsed for the check and are not parsed
    again.
    """
    if options.rules != "git":
        return []  # other rules let one side win, and report the lost changes
    # A person still has to decide the lines of a conflict.
    hunks = [hunk for _, hunk in merged.hunks()]
    shown = "\n".join(text for h in hunks for text in (h.base, h.ours, h.theirs))
    return violations(at, *results, settled=settled, read=read, shown=shown)


def uncertain(found: Violation) -> str:
    """Return the reason that a conflict gives if its place breaks a law."""
    return f"{Why.UNCERTAIN}: {found.what}"


def widened(doubts: Doubts, found: list[Violation], merged: MergedFile) -> Doubts | None:
    """Return the places that become conflicts, with the places of new violations added.

    If a place is a conflict already, add the collection around the place instead. Return None if
    nothing can be added for a violation.
    """
    grown = {key: dict(paths) for key, paths in doubts.items()}
    shown = [d for d in merged.documents if side_text([d.opening, *d.pieces], "ours").strip()]
    for violation in found:
        if not 0 <= violation.document < len(shown):
            return None
        paths = grown.setdefault(shown[violation.document].numbers, {})
        path = _not_yet(violation.path, paths)
        if path is None:
            return None
        paths[path] = Doubt(violation.why or uncertain(violation), opens=bool(violation.why))
    return grown


def _not_yet(path: Path, paths: dict[Path, Doubt]) -> Path | None:
    """Return the path or its nearest parent that is not in `paths`, or None."""
    while path in paths:
        if not path:
            return None
        path = path[:-1]
    return path


def violations(
    at: Three[Stream],
    result: Stream,
    other: Stream | None = None,
    *,
    settled: Settled = (),
    read: Iterable[Document] = (),
    shown: str = "",
) -> list[Violation]:
    """Return the places where a result breaks a law.

    If there are conflicts, `result` is the result resolved to ours, and `other` is the result
    resolved to theirs. Only a law that both results break is broken outside of the conflicts.
    `settled` holds the places that a policy or the favoured side decided, each with the name of its
    resource. Documents in `read` were parsed before and are not parsed again. `shown` holds the
    lines of the conflicts; violations about one of these are omitted, except those of moves.
    """
    if namesakes := _namesakes(at, result):
        return namesakes
    known = {document.content: document for document in read}
    has_conflicts = other is not None
    found = _broken(at, result, settled, known, has_conflicts=has_conflicts)
    if shown:
        words = set(shown.replace(":", " ").split())  # a fast first check: most keys are words
        found = [v for v in found if v.why or not (v.about in words or v.about in shown)]
    if found and other is not None:
        always = {v.key for v in _broken(at, other, settled, known, has_conflicts=True)}
        found = [v for v in found if v.key in always]
    found += _turned(at, result, other)
    _place(found, result, at)
    return found


def _turned(at: Three[Stream], result: Stream, other: Stream | None) -> list[Violation]:
    """Return the aliases that mean another anchor than they should, in each of two results."""
    if not any("*" in stream.source.text for stream in (result, other) if stream is not None):
        return []
    from kmerge_git.merge.verify.alias_law import turned_aliases  # few files have aliases

    found: list[Violation] = []
    each = [(result, SIDES)] if other is None else [(result, SIDES[:1]), (other, SIDES[1:])]
    for stream, sides in each:
        four = [list(version.documents) for version in (*at.each(), stream)]
        found += turned_aliases(four, result.source.path or at.ours.source.path, sides)
    return [*{violation.key: violation for violation in found}.values()]


def _namesakes(at: Three[Stream], result: Stream) -> list[Violation]:
    """Return the documents of a full name that the result has more often than any version."""
    texts = [[d.content for d in stream.documents] for stream in (*at.each(), result)]
    names = new_namesakes(texts)
    twice = [d for d in (result.documents if names else ()) if outlined(d) in names]
    known = [(d, identity(d.root)) for d in twice]
    return [
        Violation(
            "twice",
            d.number,
            (),
            f"`{describe(k)}` would appear twice",
            d.number,
            why=Why.NAMESAKES,
        )
        for d, k in known
        if k is not None
    ]


def _place(found: list[Violation], result: Stream, at: Three[Stream]) -> None:
    """Shorten the path of every violation until the path leads to a collection of the result."""
    file = result.source.path or at.ours.source.path
    documents: dict[int, CollectionPaths] = {}
    for violation in found:
        number = violation.document
        if number >= 0 and violation.path and not violation.why:
            if number not in documents:
                documents[number] = CollectionPaths(result.documents[number].root, file)
            violation.path = documents[number].nearest(violation.path)


def _broken(
    at: Three[Stream],
    result: Stream,
    settled: Settled,
    known: dict[str, Document],
    *,
    has_conflicts: bool,
) -> list[Violation]:
    """Return the places where a result breaks a law."""
    streams = [list(stream.documents) for stream in (*at.each(), result)]
    rest = _without_settled(streams)
    path = result.source.path or at.ours.source.path
    fields = Fields(has_conflicts=has_conflicts)
    if any(rest):
        numbers = [document.number for document in rest[RESULT]]
        known = {**known, **{d.content: d for documents in rest[:RESULT] for d in documents}}
        parsed = _with_parsed(rest, known)
        _documents(fields, parsed, numbers, path, settled)
        fields.judge(parsed[RESULT])
    fields.found += _moved(streams, rest, known, path)
    by_lines = line_laws(at, result, rest, fields.exempt, any_column=has_conflicts)
    return [*fields.found, *by_lines]


def _moved(
    four: Documents, rest: Documents, known: dict[str, Document], path: str
) -> list[Violation]:
    """Return what one side moved, perhaps to a document that it alone changed, and one deleted."""
    found = []
    base, *sides = (set(text.split("\n")) for text in _joined(rest[:RESULT]))
    if not all(base <= side for side in sides):  # something left its place
        from kmerge_git.merge.verify.moved_law import moved_near  # few merges move anything

        found += moved_near(_with_parsed(rest, known), path)
    differing = _without_equal(four)
    texts = _joined(differing)
    if may_have_moved(texts[:RESULT]) or come_back([text.split("\n") for text in texts]):
        from kmerge_git.merge.verify.moved_law import moved_and_deleted

        found += moved_and_deleted(_with_parsed(differing, known), path)
    return found


def _joined(versions: Documents) -> list[str]:
    return ["".join(document.content for document in version) for version in versions]


def _with_parsed(four: Documents, known: dict[str, Document]) -> Documents:
    """Return the documents, those of the result with the same text as parsed ones replaced."""
    return [*four[:RESULT], [_parsed(document, known) for document in four[RESULT]]]


def _parsed(document: Document, known: dict[str, Document]) -> Document:
    """Return a document with the same text that was parsed before, or else the document."""
    twin = known.get(document.content)
    return document if twin is None or document.inline or twin.inline else twin


def _without_settled(four: Documents) -> Documents:
    """Return the documents that must be compared.

    Skip documents with the same text in all versions. Skip documents with the same name if only one
    side changed them and the result has that change. A document that a side added or deleted is
    skipped only if no other document can be its renamed version.
    """
    rest = _without_equal(four)
    groups: dict[Hashable, Documents] = {}
    for side, documents in enumerate(rest):
        for document in documents:
            name = outlined(document)
            groups.setdefault(name, [[], [], [], []])[side].append(document)
    done = {
        name
        for name, group in groups.items()
        if name is not None and follows([sorted(d.content for d in some) for some in group])
    }
    if any(name is not None and not all(groups[name]) for name in groups.keys() - done):
        done = {name for name in done if all(groups[name])}
    return [[d for d in documents if outlined(d) not in done] for documents in rest]


def _without_equal(four: Documents) -> Documents:
    counts = by_side([d.content for d in documents] for documents in four)
    rest: Documents = [[], [], [], []]
    for side, documents in enumerate(four):
        spare = {text: min(count) for text, count in counts.items()}
        for document in documents:
            if spare[document.content]:
                spare[document.content] -= 1
            else:
                rest[side].append(document)
    return rest


def _documents(
    fields: Fields, rest: Documents, made: list[int], path: str, settled: Settled
) -> None:
    """Compare documents that have the same name together, and all other documents separately.

    `made` holds the numbers of the documents in the result.
    """
    where = start(None, path)
    top = Site(-1, where)
    tables: list[dict[Hashable, Entry]] = [{}, {}, {}, {}]
    numbers: dict[Hashable, int] = {}
    nameless: list[Node] = []
    for side, (documents, names) in enumerate(zip(rest, _names(rest), strict=True)):
        for n, (document, name) in enumerate(zip(documents, names, strict=True)):
            number = made[n] if side == RESULT else -1
            entry = _entry(document)
            if entry is None:
                fields.tallies.one(top, "---", side)
            elif name is not None:
                tables[side][name], numbers[name] = entry, number
            else:
                top.is_shared = False  # one side alone may have a name, or have the same name twice
                nameless += _alone(fields, entry.value, side, Site(number, where))

    def inner(name: Hashable) -> Site:
        entries = [table[name].value for table in tables if name in table]
        shown = {describe(known) if known is not None else "" for known in map(identity, entries)}
        fields.settled = {_to_the_list(path) for resource, path in settled if resource in shown}
        return Site(numbers[name], where).but(
            is_shared=top.is_shared or len(entries) == len(tables)
        )

    fields.children(tables, top, inner)
    if nameless:  # a document that loses its name is not lost
        fields.tallies.forget_parts(top)


def _alone(fields: Fields, root: Node, side: int, site: Site) -> list[Node]:
    """Count the values of a document that cannot be paired; return an unnamed document."""
    fields.alone(root, side, site, site)
    known = identity(root)
    for part in sites.parts(known) if known is not None else ():
        fields.tallies.one(site, part, side)
    return [root] if known is None else []


def _entry(document: Document) -> Entry | None:
    """Return a document in the form of an entry, or None if the document is empty."""
    if document.root is None:
        return None
    entry = Entry(document.start, document.end)
    entry.value = document.root
    return entry


def _names(rest: Documents) -> list[list[Hashable]]:
    """Return the names that identify the documents of each version.

    The name is None for a document without a unique name.
    """
    roots = [[document.root for document in documents] for documents in rest]
    counts = [sum(root is not None for root in version) for version in roots]
    if counts[1:] == [1, 1, 1] and counts[0] < 2:  # a new file on both sides has no base
        return [["alone"] * len(version) for version in roots]
    names: list[list[Hashable]] = []
    for version in roots:
        identities = [identity(root) for root in version]
        often = counted(identities)
        names.append([name if name and often[name] == 1 else None for name in identities])
    return names


def _to_the_list(path: Path) -> Path:
    """Return the beginning of a path that ends at the first list without keys."""
    return path[: next((n for n, step in enumerate(path) if isinstance(step, int)), len(path))]
