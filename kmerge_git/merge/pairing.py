"""Which documents of three files are one resource."""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.kube.outline import outline
from kmerge_git.merge.three import Three
from kmerge_git.tree.documents import Document, Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from kmerge_git.merge.decide.git import GitRules

    Documents = dict[Hashable, Document]


def pair_documents(at: Three[Stream], rules: GitRules) -> Three[Documents]:
    """The documents of each version under keys that paired documents share."""
    base: Documents = dict(enumerate(at.base.documents))
    ours = _under_keys(at.base.documents, at.ours.documents, ("ours", 0))
    theirs = _under_keys(at.base.documents, at.theirs.documents, ("theirs", 0))
    ours_new = [(k, d) for k, d in ours.items() if isinstance(k, tuple)]
    theirs_new = [(k, d) for k, d in theirs.items() if isinstance(k, tuple)]
    if ours_new and theirs_new:  # added by both: one resource
        mine, yours = [d for _, d in ours_new], [d for _, d in theirs_new]
        twins = rules.lone_pair(mine, yours) or _pairs(mine, yours, added=rules.strict)
        names: dict[Hashable, Hashable] = {theirs_new[j][0]: ours_new[i][0] for i, j in twins}
        theirs = {names.get(k, k): d for k, d in theirs.items()}
    return Three(base, ours, theirs)


def _under_keys(
    base: tuple[Document, ...], other: tuple[Document, ...], fresh: tuple[str, int]
) -> Documents:
    found = {j: i for i, j in _pairs(list(base), list(other), added=False)}
    return {found.get(j, (fresh[0], j)): document for j, document in enumerate(other)}


def _pairs(base: list[Document], other: list[Document], *, added: bool) -> list[tuple[int, int]]:
    """Pairs of indexes: equal text first, then identity, then as `kube.identity.pair` says."""
    result = _by_key([d.content for d in base], [d.content for d in other])
    left, right = _rest(base, result, 0), _rest(other, result, 1)
    outlines = [outline(base[i].content) for i in left]
    there = [outline(other[j].content) for j in right]
    result += [(left[i], right[j]) for i, j in _by_key(outlines, there)]
    left, right = _rest(base, result, 0), _rest(other, result, 1)
    # what holds nothing is no other document's next version
    left = [i for i in left if base[i].content.strip()]
    right = [j for j in right if other[j].content.strip()]
    if left and right:
        from kmerge_git.kube.identity import pairing  # few files need more than their outlines

        mine, yours = [base[i] for i in left], [other[j] for j in right]
        found = pairing(mine, yours, identified_only=added)
        pairs = found.pairs
        if found.ambiguous_base:
            pairs += _by_place(mine, yours, found.ambiguous_base, found.ambiguous_other)
        result += [(left[i], right[j]) for i, j in pairs]
    return result


def _by_place(
    base: list[Document], other: list[Document], mine: list[int], yours: list[int]
) -> list[tuple[int, int]]:
    """Resources of one name that nothing tells apart: the first with the first, if none came."""
    pairs: list[tuple[int, int]] = []
    names = [name_of(base[i]) for i in mine], [name_of(other[j]) for j in yours]
    for name in dict.fromkeys(names[0]):
        left = [i for i, known in zip(mine, names[0], strict=True) if known == name]
        right = [j for j, known in zip(yours, names[1], strict=True) if known == name]
        if len(left) != len(right):
            why = f"{name} stands several times in a file, and nothing tells which is which"
            raise Unsupported(why, hint="give each a name of its own")
        pairs += zip(left, right, strict=True)
    return pairs


def _rest(documents: list[Document], pairs: list[tuple[int, int]], side: int) -> list[int]:
    taken = {p[side] for p in pairs}
    return [i for i in range(len(documents)) if i not in taken]


def _by_key(base: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of equal keys that occur once on each side."""
    where: dict[Hashable, int] = {}
    for i, key in enumerate(base):
        where[key] = -1 if key in where else i
    there: dict[Hashable, int] = {}
    for j, key in enumerate(other):
        there[key] = -1 if key in there else j
    return [
        (i, there[key])
        for key, i in where.items()
        if key is not None and i >= 0 and there.get(key, -1) >= 0
    ]


def name_of(document: Document) -> str:
    """A resource's short name, `Deployment/web`; empty for what has none."""
    found = outline(document.content)
    if found is not None:
        return f"{found[1]}/{found[3]}"
    from kmerge_git.kube.identity import describe, identity

    known = identity(document.root)
    return describe(known) if known is not None else ""
