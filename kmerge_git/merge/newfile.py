"""Explain why two versions of a file that is new on both sides are different resources."""

from __future__ import annotations

from kmerge_git.kube.identity import identity_in
from kmerge_git.merge.pairing import name_of
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from kmerge_git.tree.documents import Document

    Documents = dict[Hashable, Document]


def what_tells_apart(tables: Three[Documents]) -> tuple[str, Three[Document | None] | None]:
    """Return why the two versions are different resources.

    If only one pair of documents shows the difference, return that pair, too.
    """
    ours, theirs = _known(tables.ours), _known(tables.theirs)
    if ours is None or theirs is None:
        return Why.NEW_FILE, None
    if not ours.keys() & theirs.keys():
        (document, *others), (twin, *more) = tables.ours.values(), tables.theirs.values()
        return Why.STRANGERS, None if others or more else Three(None, document, twin)
    if ours.keys() != theirs.keys():
        return Why.NEW_FILE, None
    return _namesakes([(ours[name], theirs[name]) for name in sorted(ours)])


def _known(documents: Documents) -> dict[str, Document] | None:
    """Return the resources by kind and name.

    Return None if a name is missing or occurs twice.
    """
    resources: dict[str, Document] = {}
    for document in documents.values():
        name = name_of(document)
        if not name or name in resources:
            return None
        resources[name] = document
    return resources


def _namesakes(
    pairs: list[tuple[Document, Document]],
) -> tuple[str, Three[Document | None] | None]:
    """Return the difference between resources of one kind and name, if all pairs share it.

    If only one pair shows the difference, return that pair, too.
    """
    document, twin = pairs[0]
    known = [(identity_in(mine), identity_in(yours)) for mine, yours in pairs]
    spaces = {(mine.namespace, yours.namespace) for mine, yours in known if mine and yours}
    if all(here != there for here, there in spaces):
        return Why.NAMESPACES, Three(None, document, twin) if len(spaces) == 1 else None
    groups = [mine.group != yours.group for mine, yours in known if mine and yours]
    if all(groups) and all(here == there for here, there in spaces):
        return Why.GROUPS, Three(None, document, twin) if len(pairs) == 1 else None
    return Why.NEW_FILE, None
