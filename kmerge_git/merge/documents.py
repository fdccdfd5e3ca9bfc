"""The documents of three files: paired by resource, merged one by one, put in order."""

from __future__ import annotations

from kmerge_git.kube.listkeys import start
from kmerge_git.kube.outline import outline
from kmerge_git.merge.decide.comments import bare_lines
from kmerge_git.merge.decide.order import weave
from kmerge_git.merge.pairing import name_of, pair_documents
from kmerge_git.merge.plan import Plan, TextClash
from kmerge_git.merge.three import Three, under
from kmerge_git.merge.write.document import write_document
from kmerge_git.text.pieces import Hunk, side_text
from kmerge_git.tree.documents import Document, Stream
from kmerge_git.tree.same import comments, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from kmerge_git.merge.decide.git import GitRules
    from kmerge_git.merge.elision import Elided
    from kmerge_git.text.pieces import Pieces

    Documents = dict[Hashable, Document]

LARGE = 60_000  # characters of a document that is worth a look for runs nobody changed


class Resource:
    """A document of the result: what was decided, and its text."""

    __slots__ = ("at", "elided", "name", "opening", "pieces", "plan")

    def __init__(self, at: Three[Document | None], name: str, plan: Plan | None) -> None:
        self.at = at
        self.name = name  # `Deployment/web`, or empty
        self.plan = plan  # None: taken whole from one side, or a conflict of the whole document
        self.pieces: Pieces = []
        self.opening = ""
        self.elided: Elided | None = None  # runs of lines that are not in `pieces`


class Merged:
    """The result of a merge of files by resource, before conflicts are spelled."""

    __slots__ = ("prologue", "resources", "tail")

    def __init__(self, prologue: Pieces, resources: list[Resource], tail: str) -> None:
        self.prologue = prologue
        self.resources = resources
        self.tail = tail


def merge(rules: GitRules, at: Three[Stream], path: str = "") -> Merged:
    """Merge three files, resource by resource."""
    tables = pair_documents(at, rules)
    if rules.strict and _strangers(tables):
        return _whole_file(rules, at)
    made: dict[Hashable, Resource] = {}
    for key in [*tables.ours, *(k for k in tables.theirs if k not in tables.ours)]:
        resource = _merge_one(rules, under(tables, key), path)
        if resource is not None:
            made[key] = resource
    if rules.strict:
        _part_namesakes(rules, made)
    keys = tables.map(list)
    order, _ = weave(keys.base, keys.ours, keys.theirs, made)
    resources = [made[key] for key in order]
    _open(resources, at)
    return Merged(_prologue(rules, at), resources, _pick(at.map(lambda s: s.tail)))


def _strangers(tables: Three[Documents]) -> bool:
    """Whether two people put unrelated resources into one new file."""
    if any(d.content.strip() for d in tables.base.values()):
        return False
    both = bool(tables.ours) and bool(tables.theirs)
    return both and not any(key in tables.theirs for key in tables.ours)


def _whole_file(rules: GitRules, at: Three[Stream]) -> Merged:
    texts = at.map(lambda s: s.source.text)
    why = "different resources in one new file"
    side = rules.document_side((), why)
    hunk = Hunk(texts.base, texts.ours, texts.theirs, "", why)
    resource = Resource(Three(None, None, None), "", None)
    resource.pieces = [hunk.side(side) if side else hunk]
    return Merged([], [resource], "")


def _merge_one(rules: GitRules, at: Three[Document | None], path: str) -> Resource | None:
    base, ours, theirs = at.base, at.ours, at.theirs
    if rules.drops_document(at):
        return None
    if ours is None or theirs is None:
        return _one_sided(rules, at)
    result = Resource(at, "", None)
    if not rules.may_skip_documents(at):
        return _both_changed(rules, at, path)
    if ours.content == theirs.content or (base and base.content == theirs.content):
        result.pieces = [ours.content]
        return result
    if base and base.content == ours.content:
        result.pieces = [theirs.content]
        rules.journal.resource = name_of(theirs)
        rules.journal.note((), "changed", "theirs", "8")
        return result
    return _both_changed(rules, at, path)


def _both_changed(rules: GitRules, at: Three[Document | None], path: str) -> Resource:
    ours, theirs = at.ours, at.theirs
    assert ours is not None and theirs is not None  # the caller's case
    name = rules.journal.resource = name_of(ours)
    result = _without_runs(rules, at, path, name)
    if result is not None:
        return result
    result = Resource(at, name, None)
    roots = at.map(lambda d: d.root if d is not None else None)
    if roots.ours is None and roots.theirs is None:
        lines = at.map(lambda d: bare_lines(d.content) if d else [])
        result.pieces = _comment_pieces(rules.comment_lines(lines), ours.content)
        return result
    if roots.ours is not None and roots.theirs is not None:
        result.plan = rules.node(roots, (), start(roots.base or roots.ours, path), None)
    if result.plan is not None:
        result.pieces = write_document(result.plan, at)
        return result
    return _clash(rules, at, name, "changed on both sides")


def _without_runs(
    rules: GitRules, at: Three[Document | None], path: str, name: str
) -> Resource | None:
    """The merge of a large document without its common runs; None: merge it as a whole."""
    if not rules.strict or at.base is None or len(at.base.content) < LARGE:
        return None
    from kmerge_git.merge.elision import elide

    elided = elide(at)
    if elided is None:
        return None
    roots = elided.at.map(lambda d: d.root if d is not None else None)
    known = len(rules.journal.decisions)
    plan = rules.node(roots, (), start(roots.base or roots.ours, path), None)
    pieces = write_document(plan, elided.at) if plan is not None else []
    if plan is None or not elided.restorable(pieces):
        del rules.journal.decisions[known:]
        return None
    result = Resource(at, name, plan)
    result.pieces, result.elided = pieces, elided
    return result


def _part_namesakes(rules: GitRules, made: dict[Hashable, Resource]) -> None:
    """Two resources that have one name now, and had it on neither side: a conflict."""
    if len(made) < 2 or not any(map(_has_new_name, made.values())):
        return
    names: dict[Hashable, list[Resource]] = {}
    for resource in made.values():
        name = outline(side_text(resource.pieces, "ours"))
        if name is not None:
            names.setdefault(name, []).append(resource)
    for found in names.values():
        fresh = [r for r in found if _has_new_name(r) and not _is_old_twin(found)]
        if len(found) < 2 or not fresh:
            continue
        last = fresh[-1]
        clash = _clash(rules, last.at, last.name, "another resource has this name now")
        last.plan, last.elided, last.pieces = None, None, clash.pieces


def _has_new_name(resource: Resource) -> bool:
    base = resource.at.base
    others = (resource.at.ours, resource.at.theirs)
    changed = [d for d in others if d is not None and (base is None or d.content != base.content)]
    known = outline(base.content) if base is not None and changed else None
    return any(outline(document.content) != known for document in changed)


def _is_old_twin(found: list[Resource]) -> bool:
    """Whether one side has all these resources under one name: that is its own affair."""
    for side in ("ours", "theirs"):
        documents = [getattr(r.at, side) for r in found]
        names = [outline(d.content) if d is not None else None for d in documents]
        if None not in names and len(set(names)) == 1:
            return True
    return False


def _one_sided(rules: GitRules, at: Three[Document | None]) -> Resource | None:
    """A document that one side does not have."""
    base, there = at.base, at.ours or at.theirs
    assert there is not None  # the caller's case
    name = rules.journal.resource = name_of(there)
    if base is None:
        result = Resource(at, name, None)
        result.pieces = [there.content]
        if at.theirs is not None:
            result.pieces = rules.added_document(at.theirs)
            rules.journal.note((), "added", "theirs", "8")
        return result
    if _untouched(base, there):
        if at.ours is not None:
            rules.journal.note((), "deleted", "theirs", "8")
        return None
    gone = "theirs" if at.theirs is None else "ours"
    why = f"deleted in {gone}, changed in {'ours' if gone == 'theirs' else 'theirs'}"
    clash = _clash(rules, at, name, why)
    return clash if clash.pieces != [""] else None


def _untouched(base: Document, other: Document) -> bool:
    if base.content == other.content:
        return True
    if base.root is None or other.root is None:
        return base.content.split() == other.content.split()
    same = same_node(base.root, other.root)
    return same and comments(base.content) == comments(other.content)


def _clash(rules: GitRules, at: Three[Document | None], name: str, why: str) -> Resource:
    result = Resource(at, name, None)
    texts = at.map(lambda d: d.content if d is not None else "")
    side = rules.document_side((), why)
    if side == "theirs" and at.theirs is not None:
        result.pieces = rules.added_document(at.theirs)
    elif side in ("ours", "theirs"):
        result.pieces = [getattr(texts, side)]
    else:
        result.pieces = [Hunk(texts.base, texts.ours, texts.theirs, "", why)]
    return result


def _open(resources: list[Resource], at: Three[Stream]) -> None:
    """Give every document of the result its opening line."""
    there = at.ours.documents or at.theirs.documents
    first = there[0] if there else None
    bare = first is not None and not first.opening
    for index, resource in enumerate(resources):
        openings = resource.at.map(lambda d: d.opening if d is not None else None)
        chosen = _opening(openings)
        if index == 0 and bare and chosen in ("---\n", ""):
            chosen = ""
        elif index and "---" not in chosen:
            chosen += "---\n"
        elif index == 0 and not chosen and first is not None and first.opening:
            chosen = "---\n"
        if resource.at.ours is None and resource.at.theirs is None:
            chosen = ""
        whole = resource.pieces
        if len(whole) == 1 and isinstance(whole[0], Hunk) and resource.plan is None:
            hunk = whole[0]
            sides = [chosen + text if text else "" for text in (hunk.base, hunk.ours, hunk.theirs)]
            resource.pieces = [Hunk(sides[0], sides[1], sides[2], hunk.place, hunk.why)]
            chosen = ""
        resource.opening = chosen


def _opening(openings: Three[str | None]) -> str:
    base, ours, theirs = openings.base, openings.ours, openings.theirs
    if ours is None:
        return theirs or ""
    if theirs is not None and ours == base:
        return theirs
    return ours


def _pick(at: Three[str]) -> str:
    return at.theirs if at.ours == at.base else at.ours


def _prologue(rules: GitRules, at: Three[Stream]) -> Pieces:
    texts = at.map(lambda s: s.prologue)
    return _comment_pieces(rules.comment_lines(texts.map(bare_lines)), texts.ours)


def _comment_pieces(parts: list[list[str] | TextClash] | None, ours: str) -> Pieces:
    if parts is None:
        return [ours]
    pieces: Pieces = []
    for part in parts:
        if isinstance(part, TextClash):
            sides = [_joined(part.side(s)) for s in ("base", "ours", "theirs")]
            why = "comment changed on both sides"
            pieces.append(Hunk(sides[0], sides[1], sides[2], "", why))
        else:
            pieces.append(_joined(part))
    return pieces


def _joined(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)
