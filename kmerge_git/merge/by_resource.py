"""Merge the documents of three files: pair them by resource, merge each pair, and order them."""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.kube.listkeys import start
from kmerge_git.merge.decide import keyed
from kmerge_git.merge.decide.comments import comment_lines
from kmerge_git.merge.decide.order import arranged, moved, weave
from kmerge_git.merge.decide.rules import Place
from kmerge_git.merge.decide.walk import Walk
from kmerge_git.merge.layout import laid_out_anew
from kmerge_git.merge.merged import (
    MergedDocument,
    MergedFile,
    conflict,
    numbers_of,
    texts_of,
    whole_conflict,
)
from kmerge_git.merge.pairing import (
    has_lost_one,
    name_of,
    one_new_file,
    pair_documents,
    perhaps_renamed,
    replaced_apart,
    standing_name,
)
from kmerge_git.merge.plan import Journal, Note, Plan, Why
from kmerge_git.merge.three import Three, agreed, standing, under, whose
from kmerge_git.merge.write.document_text import write_document
from kmerge_git.merge.write.placed_lines import line_pieces
from kmerge_git.outcome import ORDER
from kmerge_git.text.opaque_files import is_json, place_of_time
from kmerge_git.text.pieces import Hunk
from kmerge_git.tree.documents import Document, Stream
from kmerge_git.tree.nodes import Collection
from kmerge_git.tree.same import comments, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from kmerge_git.merge.decide.rules import Policy, Reading, Rules
    from kmerge_git.merge.merged import Trio
    from kmerge_git.merge.plan import Doubts, Journal
    from kmerge_git.outcome import Options
    from kmerge_git.text.pieces import Pieces
    from kmerge_git.tree.documents import YamlText
    from kmerge_git.tree.nodes import Node


PLAIN = "---\n"  # how most documents begin
LARGE = 60_000  # characters; in larger documents unchanged runs are searched


def split_all(texts: Three[YamlText]) -> Three[Stream]:
    """Return the documents of three versions; raise `TextOnly` if a version is too large."""
    if max(len(text.source.text) for text in texts.each()) > LARGE:
        from kmerge_git.merge.bulk import split_within  # most files are small

        return split_within(texts)
    base = texts.base.stream
    return Three(base, texts.ours.stream_like(base), texts.theirs.stream_like(base))


def merge(
    rules: Rules,
    at: Three[Stream],
    journal: Journal,
    path: str = "",
    doubts: Doubts | None = None,
    count: Callable[[int], object] = bool,
) -> MergedFile:
    """Merge three files resource by resource; make a conflict wherever the merge is uncertain.

    `count` is given the number of conflicts so far, and raises an error to end the merge.
    """
    walk = Walk(rules, journal)
    tables = pair_documents(at, rules.twins, stops=rules.stops)
    if _strangers(tables) and rules.stops:
        paired = one_new_file(tables)
        if paired is None:
            from kmerge_git.merge.newfile import what_tells_apart  # few files are new

            why, new = what_tells_apart(tables)
            return _whole_file(walk, at, why, new)
        tables = paired
    if has_lost_one(tables) and rules.stops:
        return _whole_file(walk, at, Why.BOTH_CHANGED)
    merged: dict[Hashable, MergedDocument] = {}
    causes: dict[Hashable, str] = {}
    conflicts = 0
    if rules.stops and tables.ours.keys() != tables.theirs.keys():
        tables, causes = _in_conflict(tables)
    for key in [*tables.ours, *(k for k in tables.theirs if k not in tables.ours)]:
        versions = under(tables, key)
        doubtful = Walk(rules, journal, doubts.get(numbers_of(versions), {})) if doubts else walk
        document = _merge_one(doubtful, versions, path, causes.get(key, ""))
        if document is not None:
            merged[key] = document
            conflicts += sum(isinstance(piece, Hunk) for piece in document.pieces)
            count(conflicts)
    order = _order(journal, tables.map(list), merged, rules)
    return _as_file(walk, [merged[key] for key in order], at, path)


def ask_policy(merged: MergedFile, options: Options, rules: Rules, journal: Journal) -> bool:
    """Let a policy, if there is one, decide or refuse conflicts; return whether it did."""
    has_answered = False
    for document in merged.documents:
        is_open = any(isinstance(piece, Hunk) for piece in document.pieces)
        policy = _policy_for(document, options) if is_open else None
        if policy is None:
            continue
        from kmerge_git.merge.decide.by_policy import Rulings  # few merges have a policy

        rulings = Rulings(policy, Walk(rules, Journal(document.name)))
        whole = document.whole_hunk
        if whole is not None:
            side = rulings.document(whole.why)
            document.pieces = [whole.side(side)] if side else document.pieces
        elif document.plan is not None:
            roots = _roots(document.laid)
            top = Place((), start(roots.base or roots.ours, options.path))
            plan = rulings.plan(document.plan, roots.base, top)
            pieces = _written(plan, document.laid, rules) if rulings.notes else None
            is_whole = document.elided is None or document.elided.restorable(pieces or [])
            if pieces is None or not is_whole:
                continue
            document.plan, document.pieces = plan, pieces
        journal.rule(document.name, rulings.notes)
        has_answered = has_answered or bool(rulings.notes)
    return has_answered


def _policy_for(document: MergedDocument, options: Options) -> Policy | None:
    """Return the policy for a document, with the rule for a timestamp that a program writes."""
    texts = [version.content for version in document.at.each() if version is not None]
    time = place_of_time(options.path, texts)
    if not time:
        return options.policy
    from kmerge_git.merge.decide.program_times import with_time  # few files have one

    return with_time(options.policy, time, is_lock=options.path.endswith(".lock"))


def _order(
    journal: Journal,
    keys: Three[list[Hashable]],
    merged: dict[Hashable, MergedDocument],
    rules: Rules,
) -> list[Hashable]:
    """Return the merged documents in an order that follows both sides; if none does, in ours."""
    order, clash = weave(*keys.each(), merged)
    if clash and rules.stops:
        lawful = arranged(*keys.each())
        if lawful is not None:
            return [key for key in lawful if key in merged]
        journal.resource = ""
        journal.write([Note((), "both sides changed the order of the documents", "ours", ORDER)])
    return order


def _as_file(
    walk: Walk, documents: list[MergedDocument], at: Three[Stream], path: str
) -> MergedFile:
    """Return the merged documents as a file, with their opening lines."""
    is_new = len(documents) > 1 and all(len(stream.documents) < 2 for stream in at.each())
    if is_new and walk.rules.stops and is_json(path, [s.source.data for s in at.each()]):
        return _whole_file(walk, at, Why.BOTH_CHANGED)  # JSON holds one value
    _open(walk, documents, at)
    prologue = _comment_pieces(walk, at.map(lambda s: s.prologue))
    tail = _without_ends(standing(at.map(lambda s: s.tail)), documents, len(documents))
    return MergedFile(prologue, documents, tail)


def _strangers(tables: Three[dict[Hashable, Document]]) -> bool:
    """Return whether both sides put unrelated resources into one new file."""
    if any(d.content.strip() for d in tables.base.values()):
        return False
    if not (tables.ours and tables.theirs):
        return False
    shared = [key for key in tables.ours if key in tables.theirs]
    return not any(tables.ours[k].content.strip() or len(tables.ours) == 1 for k in shared)


def _whole_file(walk: Walk, at: Three[Stream], why: str, new: Trio | None = None) -> MergedFile:
    """Return a file that is one conflict; `new` holds the resources that explain the cause."""
    texts = at.map(lambda s: s.source.text)
    names = {name_of(d) for d in new.each() if d is not None} if new is not None else set()
    is_one = len(names) == 1 and len(at.ours.documents) == 1
    name = walk.journal.resource = names.pop() if is_one else ""
    side = walk.noted(walk.rules.document_clash(why))
    merged = whole_conflict(texts, why, name, new)
    if side:
        merged.documents[0].pieces = [texts.side(side)]
    return merged


def _in_conflict(
    tables: Three[dict[Hashable, Document]],
) -> tuple[Three[dict[Hashable, Document]], dict[Hashable, str]]:
    """Return the documents that only a person can pair, with the causes, and pair them."""
    tables, replaced = replaced_apart(tables)
    tables, in_doubt = perhaps_renamed(tables)
    pairs = (tables.ours, tables.theirs), (tables.theirs, tables.ours)
    lost = {k for side, other in pairs for k in moved(tables.base, side) if k not in other}
    causes = dict.fromkeys(lost, Why.MOVED_AND_GONE)
    causes |= dict.fromkeys(in_doubt, Why.WHICH) | dict.fromkeys(replaced, Why.REPLACED)
    return tables, causes


def _merge_one(walk: Walk, at: Trio, path: str, cause: str) -> MergedDocument | None:
    reading = walk.rules.reading(at)
    if reading.gone:
        return None
    ours, theirs = at.ours, at.theirs
    if () in walk.doubts:
        return _clash(walk, at, standing_name(at), walk.doubts[()].why)
    if ours is None or theirs is None:
        return _one_sided(walk, at, cause or next((d.why for d in walk.doubts.values()), ""))
    if cause:
        return _clash(walk, at, standing_name(at), cause)
    if not reading.live and not walk.opened:
        side = whose(at.map(lambda d: d.content if d is not None else None))
        if side == "ours":
            return MergedDocument(at, "", None, [ours.content])
        if side:
            walk.journal.resource = name_of(theirs)
            walk.journal.write([Note((), "changed", "theirs", "8")])
            return MergedDocument(at, "", None, [theirs.content])
    return _both_changed(walk, at, reading, path)


def _both_changed(walk: Walk, at: Trio, reading: Reading, path: str) -> MergedDocument:
    ours, theirs = at.ours, at.theirs
    assert ours is not None and theirs is not None  # the caller's case
    name = walk.journal.resource = standing_name(at)
    laid = laid_out_anew(at) if walk.rules.stops else at
    without_runs = _without_runs(walk, at, reading, path, name) if laid is at else None
    if without_runs is not None:
        return without_runs
    roots = _roots(laid)
    if roots.ours is None and roots.theirs is None:
        return MergedDocument(at, name, None, _comment_pieces(walk, texts_of(at)))
    plan = reading.plan
    if plan is None and roots.ours is not None and roots.theirs is not None:
        plan = _decided(walk, _roots(laid), reading, path)
    if plan is None:
        return _clash(walk, at, name, Why.BOTH_CHANGED if at.base else Why.BOTH_ADDED)
    pieces = _written(plan, laid, walk.rules)
    if pieces is None:
        return _clash(walk, at, name, Why.COMMENT)
    document = MergedDocument(at, name, plan, pieces)
    document.laid = laid
    return document


def _written(plan: Plan, at: Trio, rules: Rules) -> Pieces | None:
    """Return the text of a plan, or None if both sides changed the comments around `{}`."""
    pieces = write_document(plan, at)
    if rules.stops and all(isinstance(r, Collection) and r.flow for r in _roots(at).each()):
        around = _around(at)
        if around is None:
            return None
        if len(pieces) > 2:  # otherwise the document is one conflict
            pieces = [around[0], *pieces[1:-1], around[1]]
    return pieces


def _around(at: Trio) -> tuple[str, str] | None:
    """Merge the text before and after a flow collection; return None for a conflict."""
    texts = [
        (d.source.text[d.body : d.root.start], d.source.text[d.root.end : d.end])
        for d in at.each()
        if d is not None and d.root is not None
    ]
    above, behind = (agreed(Three(*part)) for part in zip(*texts, strict=True))
    return (above, behind) if above is not None and behind is not None else None


def _roots(at: Trio) -> Three[Node | None]:
    return at.map(lambda d: d.root if d is not None else None)


def _decided(walk: Walk, roots: Three[Node | None], reading: Reading, path: str) -> Plan | None:
    return walk.node(roots, Place((), start(roots.base or roots.ours, path), reading.live))


def _without_runs(
    walk: Walk, at: Trio, reading: Reading, path: str, name: str
) -> MergedDocument | None:
    """Merge a large document without the parts that are the same in all versions.

    Return None if the document must be merged as a whole.
    """
    if reading.whole or at.base is None or len(at.base.content) < LARGE:
        return None
    from kmerge_git.merge.elision import elide

    elided = elide(at, lambda lists, rule: keyed.by_key(lists, rule, by_name=True))
    if elided is None:
        return None
    trial = walk.trial()
    plan = _decided(trial, _roots(elided.at), reading, path)
    pieces = write_document(plan, elided.at) if plan is not None else []
    if plan is None or not elided.restorable(pieces):
        return None
    walk.journal.adopt(trial.journal)
    document = MergedDocument(at, name, plan, pieces, elided)
    document.laid = elided.at
    return document


def _one_sided(walk: Walk, at: Trio, cause: str) -> MergedDocument | None:
    """Merge a document that one side does not have; `cause` is why it conflicts, if known."""
    base, there = at.base, at.ours or at.theirs
    assert there is not None  # the caller's case
    name = walk.journal.resource = name_of(there)
    if base is None and not cause:
        if at.theirs is None:
            return MergedDocument(at, name, None, [there.content])
        pieces = _added(walk, there)
        walk.journal.write([Note((), "added", "theirs", "8")])
        return MergedDocument(at, name, None, pieces)
    if base is not None and _untouched(base, there):
        if at.ours is not None:
            walk.journal.write([Note((), "deleted", "theirs", "8")])
        return None
    why = Why.THEIRS_GONE if at.theirs is None else Why.OURS_GONE
    is_renamed = base is not None and walk.rules.stops and name_of(there) != name_of(base)
    if cause or is_renamed:  # otherwise it was deleted
        why = cause or Why.RENAMED_AND_GONE
    clash = _clash(walk, at, name, why)
    return clash if clash.pieces != [""] else None


def _untouched(base: Document, other: Document) -> bool:
    if base.content == other.content:
        return True
    if base.root is None or other.root is None:
        return base.content.split() == other.content.split()
    same = same_node(base.root, other.root)
    return same and comments(base.content) == comments(other.content)


def _added(walk: Walk, theirs: Document) -> Pieces:
    """Return the text of a document that their side added, without parts that the rules drop."""
    plan = walk.rules.added(theirs)
    return write_document(plan, Three(None, theirs, theirs)) if plan else [theirs.content]


def _clash(walk: Walk, at: Trio, name: str, why: str) -> MergedDocument:
    walk.journal.resource = name
    side = walk.noted(walk.rules.document_clash(why))
    if not side:
        texts = texts_of(at)
        if texts.ours == texts.theirs:  # markers around equal text would be no conflict
            return MergedDocument(at, name, None, [texts.ours])
        return MergedDocument(at, name, None, conflict(at, why))
    if side == "theirs" and at.theirs is not None:
        return MergedDocument(at, name, None, _added(walk, at.theirs))
    return MergedDocument(at, name, None, [texts_of(at).side(side)])


def _open(walk: Walk, documents: list[MergedDocument], at: Three[Stream]) -> None:
    """Give every document of the result its opening lines."""
    opened = standing(at.map(lambda s: bool(s.documents and s.documents[0].opening)))
    for index, document in enumerate(documents):
        opening = _opening(walk, document, is_first=not index)
        opening = _without_ends(opening, documents, index)
        if not index and opening == PLAIN:
            opening = PLAIN if opened else ""
        piece = document.whole_hunk
        if piece is not None:  # a side without the document stays empty
            document.pieces = [piece.map(lambda text, above=opening: text and above + text)]  # type: ignore[misc]
        else:
            document.opening = opening


def _opening(walk: Walk, merged: MergedDocument, *, is_first: bool) -> str:
    """Return the opening lines of a document: `...` of the document above, directives and `---`."""
    base, ours, theirs = merged.at.map(lambda d: d.opening if d is not None else None).each()
    there = ours if ours is not None else theirs
    if there is None:
        return ""
    if there == PLAIN and theirs in (PLAIN, None):
        return PLAIN  # fast, because most documents begin so
    # a missing version has no say, and a first document may begin without a `---`
    versions = Three(base, there, theirs if theirs is not None else there).map(_with_start)
    ends, own = (versions.map(part) for part in (_ends, _behind_ends))
    chosen = agreed(own)
    if chosen is None and walk.rules.stops:
        raise Unsupported("both sides changed the `---` line or the directives of a document")
    chosen = own.ours if chosen is None else chosen
    # a directive is one only at the start of a file or behind a `...`
    above = standing(ends) or ("" if is_first or chosen[0] != "%" else "...\n")
    return above + chosen


def _with_start(opening: str | None) -> str:
    """Return how a document begins, with the `---` that the first document may lack."""
    return opening if opening and "---" in opening else (opening or "") + PLAIN


def _without_ends(opening: str, documents: list[MergedDocument], index: int) -> str:
    """Return the text in front of a document without the `...` lines that it begins with.

    If the result has a document above, return the whole text. If a side has no such document, the
    lines become a part of the conflict.
    """
    ends = _ends(opening)
    if not ends:
        return opening
    above = next((d for d in reversed(documents[:index]) if not d.is_empty), None)
    piece = above.whole_hunk if above is not None else None
    if above is not None and (piece is None or (piece.ours and piece.theirs)):
        return opening
    if above is not None and piece is not None:
        above.pieces = [piece.map(lambda text: text and text + ends)]
    return _behind_ends(opening)


def _ends(opening: str) -> str:
    """Return the `...` lines with which the text behind a document begins."""
    return opening[: len(opening) - len(_behind_ends(opening))]


def _behind_ends(opening: str) -> str:
    while opening.startswith("..."):
        opening = opening.partition("\n")[2]
    return opening


def _comment_pieces(walk: Walk, at: Three[str]) -> Pieces:
    """Return the merged lines of a text that holds only comments."""
    parts = walk.rules.lines(at.map(lambda text: comment_lines(text, 0)))
    return [at.ours] if parts is None else line_pieces(parts, 0, (), "", Why.COMMENT)
