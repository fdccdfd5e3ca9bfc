"""Find out which documents of three files are versions of one resource."""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.kube import likeness
from kmerge_git.kube.outline import full_name, outlined
from kmerge_git.merge.three import Three, agreed, counted, grouped
from kmerge_git.text.pieces import UNDECIDED
from kmerge_git.tree.documents import Document, Stream
from kmerge_git.tree.nodes import Mapping
from kmerge_git.tree.same import is_undecided

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence, Set

    Documents = dict[Hashable, Document]
    Gaps = dict[Hashable, set[tuple[int, Hashable]]]  # by document: its neighbours
    Pairs = list[tuple[int, int]]  # of indexes
    Twins = Callable[[list[Document], list[Document]], Pairs]

NAMES = ("namespace", "name", "generateName")
_NAMED_WITHIN = 2000  # most resources have their names in as many characters


def pair_documents(at: Three[Stream], twins: Twins, *, stops: bool = True) -> Three[Documents]:
    """Return the documents of each version; paired documents have the same key.

    `twins` pairs documents that both sides added if they are one resource. With `stops` two
    resources of one name are left to the referee.
    """
    base: Documents = dict(enumerate(at.base.documents))
    ours = _under_keys(at.base, at.ours, "ours")
    theirs = _under_keys(at.base, at.theirs, "theirs")
    ours, theirs = _renamed_by_leaves(base, ours, theirs), _renamed_by_leaves(base, theirs, ours)
    ours, theirs = _renamed_alike(base, ours, theirs), _renamed_alike(base, theirs, ours)
    if not stops:
        ours, theirs = (
            _without_namesakes(base, ours, theirs, "ours"),
            _without_namesakes(base, theirs, ours, "theirs"),
        )
    ours_new = [(k, d) for k, d in ours.items() if isinstance(k, tuple)]
    theirs_new = [(k, d) for k, d in theirs.items() if isinstance(k, tuple)]
    if ours_new and theirs_new:  # documents that both sides added may be one resource
        pairs = twins([d for _, d in ours_new], [d for _, d in theirs_new])
        names: dict[Hashable, Hashable] = {theirs_new[j][0]: ours_new[i][0] for i, j in pairs}
        theirs = {names.get(k, k): d for k, d in theirs.items()}
    return Three(base, ours, theirs)


def _without_namesakes(base: Documents, side: Documents, other: Documents, name: str) -> Documents:
    """Give a document a new key if a side renamed it to a name that the other side added.

    The other side still has the document under its old name, so the result would have two resources
    of one name. Without conflicts the new document and the added one are one.
    """
    added = {full_name(d): d for k, d in other.items() if isinstance(k, tuple)}
    apart: dict[Hashable, Hashable] = {}
    for key, document in side.items() if added.keys() - {None} else ():
        if not isinstance(key, int) or key not in other or document.content == base[key].content:
            continue
        known = full_name(document)
        twin = added.get(known) if known is not None else None
        if twin is not None and known != full_name(base[key]):
            apart[key] = name, document.number
    return {apart.get(k, k): d for k, d in side.items()}


def _renamed_alike(base: Documents, side: Documents, other: Documents) -> Documents:
    """Give a document that both sides renamed alike the key of its base version.

    Such a document may be too short, or merged too early, to be paired by its lines. It is paired
    if both sides gave it the same full name, or if its values are like those of the base.
    """
    waiting = [k for k in other if isinstance(k, int) and k not in side]
    fresh = [k for k in side if not isinstance(k, int)]
    if not waiting or not fresh:
        return side
    from kmerge_git.kube.likeness import IDENTITY, Leaves, is_alike  # rare

    known = {name_of(other[k]): k for k in waiting if name_of(other[k])}
    old_keys: dict[Hashable, Hashable] = {}
    for key in fresh:
        old = known.get(name_of(side[key]))
        if old is None:
            continue
        full = full_name(side[key])
        is_same = full is not None and full == full_name(other[old])
        if is_same or is_alike(Leaves(base[old].root, IDENTITY), Leaves(side[key].root, IDENTITY)):
            old_keys[key] = known.pop(name_of(side[key]))
    return {old_keys.get(k, k): d for k, d in side.items()}


def _renamed_by_leaves(base: Documents, side: Documents, other: Documents) -> Documents:
    """Give a side's renamed document the key of a base document with similar values.

    Only documents of the base that the other side changed or deleted are candidates. The version of
    the other side counts as well, because an earlier merge may have put it into the new document.
    """
    gone: dict[Hashable, tuple[Document, ...]] = {
        k: (d, other[k]) if k in other else (d,)
        for k, d in base.items()
        if k not in side and not (k in other and other[k].content == d.content)
    }
    fresh = {k: d for k, d in side.items() if not isinstance(k, int)}
    if not gone or not fresh or len(gone) * len(fresh) > likeness.MOST_COMPARISONS:
        return side
    old_keys = {key: k for k, key in _alike(gone, fresh)}
    return {old_keys.get(k, k): d for k, d in side.items()}


def _alike(
    gone: dict[Hashable, tuple[Document, ...]], fresh: Documents
) -> list[tuple[Hashable, Hashable]]:
    """Pair resources of one kind that hold the same values, if each has only one candidate."""
    from kmerge_git.kube.likeness import IDENTITY, Leaves, is_alike  # rare

    old = {
        k: (_kind(versions[0]), [Leaves(d.root, IDENTITY) for d in versions])
        for k, versions in gone.items()
        if name_of(versions[0])
    }
    new = {k: (_kind(d), Leaves(d.root, IDENTITY)) for k, d in fresh.items() if name_of(d)}
    pairs = [
        (k, key)
        for k, (kind, versions) in old.items()
        for key, (other_kind, others) in new.items()
        if kind == other_kind and any(is_alike(leaves, others) for leaves in versions)
    ]
    left, right = counted(k for k, _ in pairs), counted(key for _, key in pairs)
    return [(k, key) for k, key in pairs if left[k] == right[key] == 1]


def replaced_apart(tables: Three[Documents]) -> tuple[Three[Documents], set[Hashable]]:
    """Find the documents that each side replaced by another new document of the same kind.

    Two of the three documents must be in one gap, so that git's line merge has a conflict, too. The
    replaced document gets the new ones as its partners, because a conflict needs their texts.
    """
    base, ours, theirs = tables.each()
    gone = _by_kind(base, ours, theirs)
    mine = _by_kind(ours, base, theirs) if gone else {}
    yours = _by_kind(theirs, base, ours) if mine else {}
    kinds = [kind for kind in gone if kind in mine and kind in yours]
    if not kinds:
        return tables, set()
    kept = base.keys() & ours.keys() & theirs.keys()
    gaps = _gaps(base, kept) | _gaps(ours, kept) | _gaps(theirs, kept)
    found: dict[Hashable, Hashable] = {}
    for kind in kinds:
        _refuse_many(len(mine[kind]), len(yours[kind]))
        for key in gone[kind]:
            pair = _nearest(gaps, key, mine[kind], yours[kind])
            if pair is not None:
                mine[kind].remove(pair[0])
                yours[kind].remove(pair[1])
                found |= dict.fromkeys(pair, key)
    sides = ({found.get(k, k): d for k, d in side.items()} for side in (ours, theirs))
    return Three(base, *sides), set(found.values())


def _refuse_many(gone: int, fresh: int) -> None:
    """Refuse to guess which of many new resources became of many old ones."""
    if gone * fresh > likeness.MOST_COMPARISONS:
        from kmerge_git.merge.bulk import too_many  # few files have so many

        what = "finding renamed resources would take more than {} comparisons"
        raise too_many(what, likeness.MOST_COMPARISONS)


def _by_kind(side: Documents, *others: Documents) -> dict[str, list[Hashable]]:
    """Return the named documents that only one of three versions has, by their kinds."""
    alone = [key for key in side if not any(key in other for other in others)]
    kinds = grouped((_kind(side[key]), key) for key in alone)
    kinds.pop("", None)
    return kinds


def _gaps(side: Documents, kept: Set[Hashable]) -> Gaps:
    """Return the nearest kept documents before and behind each other document."""
    gaps: Gaps = {}
    for direction, keys in enumerate((side, reversed(side))):
        nearest: Hashable = None
        for key in keys:
            if key in kept:
                nearest = key
            else:
                gaps.setdefault(key, set()).add((direction, nearest))
    return gaps


def _nearest(
    gaps: Gaps, key: Hashable, left: list[Hashable], right: list[Hashable]
) -> tuple[Hashable, Hashable] | None:
    """Return a new document of each side, as many as possible in one gap with the replaced one."""
    from itertools import product  # rare

    best, most = None, 0
    for pair in product(left, right):
        a, b, c = (gaps[k] for k in (key, *pair))
        shared = bool(a & b) + bool(a & c) + bool(b & c)
        if shared > most:
            best, most = pair, shared
        if most == 3:
            break
    return best


def perhaps_renamed(tables: Three[Documents]) -> tuple[Three[Documents], set[Hashable]]:
    """Find the resources that a side perhaps renamed, though it is uncertain to which name.

    These resources have no partner on a side, but the side added resources that are much like them,
    and the other side changed or deleted them. If the other side deleted such a resource, the
    resource gets the first of the added ones as its partner, because a conflict needs a text.
    """
    ours, mine = _perhaps_renamed(tables.base, tables.ours, tables.theirs)
    theirs, yours = _perhaps_renamed(tables.base, tables.theirs, tables.ours)
    return Three(tables.base, ours, theirs), mine | yours


def _perhaps_renamed(
    base: Documents, side: Documents, other: Documents
) -> tuple[Documents, set[Hashable]]:
    found: set[Hashable] = set()
    known: dict[Hashable, Hashable] = {}
    for key, alike, least in _candidates(base, side, other):
        free = [k for k in alike if k not in known]
        if len(free) >= least:
            found.add(key)
            known |= {free[0]: key} if key not in other else {}
    return {known.get(k, k): document for k, document in side.items()}, found


def _candidates(
    base: Documents, side: Documents, other: Documents
) -> Iterator[tuple[Hashable, list[Hashable], int]]:
    """Yield each document that a side perhaps renamed, and the new documents that are like it.

    Also yield how many of them make it doubtful: a single one is its partner already, unless the
    other side changed the document.
    """
    fresh = [key for key in side if key not in base and key not in other]
    gone = [k for k in base if k not in side] if fresh else []
    changed = [k for k in gone if k not in other or other[k].content != base[k].content]
    kinds = _by_kind(side, base, other) if changed else {}
    changed = [key for key in changed if _kind(base[key]) in kinds]
    _refuse_many(len(fresh), len(changed))
    for key in changed:
        yield key, [k for k in fresh if _is_like(base[key], side[k])], 1 if key in other else 2


def _is_like(old: Document, new: Document) -> bool:
    """Return whether a resource is so much like an older one of its kind that it may replace it."""
    if not name_of(old) or _kind(old) != _kind(new):
        return False
    from kmerge_git.kube.likeness import IDENTITY, Leaves, is_alike  # rare

    by_lines = likeness.likeness(likeness.bag(old.content), likeness.bag(new.content))
    return by_lines >= likeness.RENAMED or is_alike(
        Leaves(old.root, IDENTITY), Leaves(new.root, IDENTITY)
    )


def _kind(document: Document) -> str:
    return name_of(document).partition("/")[0]


def _under_keys(base: Stream, other: Stream, side: str) -> Documents:
    partners = {j: i for i, j in likely_same(list(base.documents), list(other.documents))}
    gone, fresh = len(base.documents) - len(partners), len(other.documents) - len(partners)
    if gone and fresh and gone * fresh > likeness.MOST_COMPARISONS:
        from kmerge_git.merge.bulk import refuse_replaced  # few files have so many

        refuse_replaced(gone, fresh, "documents")
    return {partners.get(j, (side, j)): document for j, document in enumerate(other.documents)}


def one_new_file(tables: Three[Documents]) -> Three[Documents] | None:
    """Pair the only documents of a file new on both sides, if they may be one resource."""
    from kmerge_git.kube.identity import may_be_one

    if len(tables.ours) > 1 or len(tables.theirs) > 1:
        return None
    (key, ours), (theirs,) = *tables.ours.items(), tables.theirs.values()
    return Three(tables.base, tables.ours, {key: theirs}) if may_be_one(ours, theirs) else None


def likely_same(base: list[Document], other: list[Document]) -> Pairs:
    """Pair documents that are likely one resource, by text, name, rename or similarity."""
    return _pairs(base, other, identified_only=False)


def alike(base: list[Document], other: list[Document], known: Pairs) -> Pairs:
    """Pair documents without a partner that hold the same values under different names."""
    left, right = _rest(base, known, 0), _rest(other, known, 1)
    if not left or not right or len(left) * len(right) > likeness.MOST_COMPARISONS:
        return []
    gone: dict[Hashable, tuple[Document, ...]] = {i: (base[i],) for i in left}
    fresh: Documents = {j: other[j] for j in right}
    return [(i, j) for i, j in _alike(gone, fresh) if isinstance(i, int) and isinstance(j, int)]


def same_name(base: list[Document], other: list[Document]) -> Pairs:
    """Pair documents that are certainly one resource: by equal text, or by their full names."""
    return _pairs(base, other, identified_only=True)


def _pairs(base: list[Document], other: list[Document], *, identified_only: bool) -> Pairs:
    result = _equal([d.content for d in base], [d.content for d in other])
    left, right = _rest(base, result, 0), _rest(other, result, 1)
    outlines = [outlined(base[i]) for i in left]
    there = [outlined(other[j]) for j in right]
    result += [(left[i], right[j]) for i, j in _by_key(outlines, there)]
    # an empty document is not the next version of another document
    rest = [
        {n: side[n] for n in _rest(side, result, at) if side[n].content.strip()}
        for at, side in enumerate((base, other))
    ]
    if identified_only:
        rest = _of_one_name(*rest)
    left, right = map(list, rest)
    if left and right:
        from kmerge_git.kube.identity import pairing  # few files need more than their outlines

        mine, yours = (list(side.values()) for side in rest)
        found = pairing(mine, yours, identified_only=identified_only)
        pairs = found.pairs
        if found.ambiguous_base:
            pairs += _by_place(mine, yours, found.ambiguous_base, found.ambiguous_other)
        result += [(left[i], right[j]) for i, j in pairs]
    return result


def _of_one_name(*versions: dict[int, Document]) -> list[dict[int, Document]]:
    """Return the documents whose kind and name another version has, in whichever group.

    Most of what two sides add has plain lines and nothing in common, and needs no parser.
    """
    names = [{n: full_name(d) for n, d in side.items()} for side in versions]
    common = set.intersection(*({name[1:] for name in at.values() if name} for at in names))
    return [
        {n: d for n, d in side.items() if (name := at[n]) and name[1:] in common}
        for side, at in zip(versions, names, strict=True)
    ]


def _by_place(
    base: list[Document], other: list[Document], mine: list[int], yours: list[int]
) -> Pairs:
    """Pair resources of one name in their order, if each version has the same number of them."""
    pairs: Pairs = []
    there = grouped((name_of(other[j]), j) for j in yours)
    for name, left in grouped((name_of(base[i]), i) for i in mine).items():
        right = there.get(name, [])
        if len(left) != len(right):
            why = f"a file has {name} several times, and kmerge cannot match them"
            raise Unsupported(why, hint="give each of them a different name")
        pairs += zip(left, right, strict=True)
    return pairs


def _rest(documents: list[Document], pairs: Pairs, side: int) -> list[int]:
    taken = {p[side] for p in pairs}
    return [i for i in range(len(documents)) if i not in taken]


def _equal(base: list[str], other: list[str]) -> Pairs:
    """Pair equal texts; if a text occurs several times, pair the first with the first."""
    if len(set(base)) == len(base) and len(set(other)) == len(other):
        return _by_key(base, other)
    from kmerge_git.text.diff3 import diff

    pairs = [(i0 + n, j0 + n) for i0, i1, j0, _ in diff(base, other) for n in range(i1 - i0)]
    taken = {i for i, _ in pairs}, {j for _, j in pairs}
    there = grouped((text, j) for j, text in enumerate(other) if j not in taken[1])  # moved texts
    left = [i for i, text in enumerate(base) if i not in taken[0] and text in there]
    waiting = {text: iter(places) for text, places in there.items()}
    moved = ((i, next(waiting[base[i]], -1)) for i in left)
    return pairs + [(i, j) for i, j in moved if j >= 0]


def _by_key(base: Sequence[Hashable], other: Sequence[Hashable]) -> Pairs:
    """Pair equal keys that occur once in each list."""
    where, there = (grouped((key, n) for n, key in enumerate(keys)) for keys in (base, other))
    return [
        (places[0], there[key][0])
        for key, places in where.items()
        if key is not None and len(places) == len(there.get(key, ())) == 1
    ]


def name_of(document: Document) -> str:
    """Return a resource's short name, `Deployment/web`, or '' for other documents."""
    found = outlined(document)
    if found is not None:
        return f"{found[1]}/{found[3]}"
    from kmerge_git.kube.identity import describe, identity_in

    known = identity_in(document)
    return describe(known) if known is not None else ""


def standing_name(at: Three[Document | None]) -> str:
    """Return the name of a resource in the result, or that in base if both sides renamed it."""
    starts = {d.content[:_NAMED_WITHIN] if d is not None else "" for d in at.each()}
    if len(starts) == 1 and at.ours is not None:
        return name_of(at.ours)  # to find three names in large documents takes time
    names = at.map(lambda document: name_of(document) if document is not None else "")
    return agreed(names) or names.base or min(names.ours, names.theirs)


def has_lost_one(tables: Three[Documents]) -> bool:
    """Return whether a document with an undecided name is gone and the new documents differ.

    An earlier merge within a criss-cross left the name of such a document undecided.
    """
    base, ours, theirs = tables.each()
    gone = [d for key, d in base.items() if key not in ours and key not in theirs]
    if not any(UNDECIDED in document.content and _is_unnamed(document) for document in gone):
        return False
    new = [{k: d.content for k, d in side.items() if k not in base} for side in (ours, theirs)]
    return new[0] != new[1]


def _is_unnamed(document: Document) -> bool:
    """Return whether a part of a resource's full name is missing or undecided."""
    from kmerge_git.kube.identity import identity

    root = document.root
    if not isinstance(root, Mapping) or identity(root) is None:
        return True
    metadata = root.get("metadata")
    parts = [root.get("apiVersion")]
    parts += [metadata.get(name) for name in NAMES] if isinstance(metadata, Mapping) else []
    return any(map(is_undecided, parts))
