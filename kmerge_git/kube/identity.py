"""Identify resources, and pair the resources of two versions that belong together.

The identity is group, kind, namespace and name. The version of the API is a field, so a new
apiVersion is an edit. `pairing` runs several passes, from certain to likely. Each pass looks only
at resources that have no partner yet.
"""

from __future__ import annotations

from kmerge_git.kube.likeness import (
    FEW_LEAVES,
    NEW_FILE,
    RELATED,
    RENAMED,
    bag,
    likeness,
    match,
)
from kmerge_git.tree.nodes import Mapping, Node, Scalar
from kmerge_git.tree.same import is_null

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from kmerge_git.tree.documents import Document
    from kmerge_git.tree.nodes import Entry

    Pairs = list[tuple[int, int]]

_KPT_MERGE = "# kpt-merge:"
# Kubernetes moved kinds from the group `extensions` to these groups.
_HEIRS = ("apps", "networking.k8s.io", "policy")


class Identity:
    """Hold the group, kind, namespace and name of a resource.

    A resource without a name is identified by its `generate_name`.
    """

    __slots__ = ("generate_name", "group", "key", "kind", "name", "namespace", "version")

    def __init__(
        self, group: str, kind: str, namespace: str, name: str, version: str, generate_name: str
    ) -> None:
        self.group = group
        self.kind = kind
        self.namespace = namespace
        self.name = name
        self.version = version  # no part of the identity
        self.generate_name = generate_name
        self.key = (group, kind, namespace, name, "" if name else generate_name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        kind = f"{self.kind}.{self.group}" if self.group else self.kind
        return f"{kind} {place}{self.name or self.generate_name + '*'}"


_LONG = 60_000  # characters


class Candidate:
    """Represent a document, or an item of a `kind: List`, that needs a partner."""

    __slots__ = ("_lines", "_text", "identity", "index", "kind")

    def __init__(self, thing: Document | Node, index: int) -> None:
        root: Node | None
        if isinstance(thing, Node):
            root, self._text = thing, thing.raw
        else:
            self._text = thing.content
            root = None if has_no_kind(thing) else thing.root
        self.identity = identity(root) if isinstance(thing, Node) else identity_in(thing)
        self.kind = _text(root, "kind") if isinstance(root, Mapping) else ""
        self.index = index
        self._lines: dict[str, int] | None = None

    @property
    def lines(self) -> dict[str, int]:
        """Return the lines by which the likeness of resources is measured."""
        if self._lines is None:
            self._lines = bag(self._text)
        return self._lines


class Pairing:
    """Hold pairs of indexes of resources in base and other, and list ambiguous resources."""

    __slots__ = ("ambiguous_base", "ambiguous_other", "left", "pairs", "right")

    def __init__(self, base: Sequence[Document | Node], other: Sequence[Document | Node]) -> None:
        self.left = [Candidate(thing, n) for n, thing in enumerate(base)]  # still without a partner
        self.right = [Candidate(thing, n) for n, thing in enumerate(other)]
        self.pairs: Pairs = []
        self.ambiguous_base: list[int] = []
        self.ambiguous_other: list[int] = []


def has_no_kind(document: Document) -> bool:
    """Return whether a long document has no kind, and so no identity; the answer False is unsure.

    Callers parse the others, which is fast for a short text.
    """
    return document.end - document.body > _LONG and document.kept(_lacks_kind)


def _lacks_kind(document: Document) -> bool:
    return "kind" not in document.content


def identity_in(document: Document) -> Identity | None:
    """Return the identity of the resource in a document; several pairings ask for it."""
    return document.kept(_identity)


def _identity(document: Document) -> Identity | None:
    return None if has_no_kind(document) else identity(document.root)


def identity(root: Node | None) -> Identity | None:
    """Return the identity of a resource, or None if the node has no kind or no name."""
    if not isinstance(root, Mapping) or not _may_have(root, "metadata"):
        return None
    entry = root.index().get("metadata")
    kind = _text(root, "kind")
    if entry is None or not isinstance(entry.value, Mapping) or not kind:
        return None
    group, _, version = _text(root, "apiVersion").rpartition("/")
    namespace, name = _text(entry.value, "namespace"), _text(entry.value, "name")
    original = _kpt_merge(entry)
    if original is not None:
        namespace, name = original
    generate_name = _text(entry.value, "generateName")
    if not name and not generate_name:
        return None
    return Identity(group, kind, namespace, name, version, generate_name)


def _may_have(root: Mapping, name: str) -> bool:
    """Return whether a name is in the text of a mapping, or may be, behind an escape."""
    return any(root.text.find(part, root.start, root.end) >= 0 for part in (name, "\\"))


def describe(known: Identity) -> str:
    """Return a short name for messages, such as `Deployment/web`."""
    return f"{known.kind}/{known.name or known.generate_name + '*'}"


def may_be_one(a: Document, b: Document) -> bool:
    """Return whether two documents may be versions of the same document.

    Each side added exactly one document to the file, and these are the two documents.
    """
    mine, yours = identity(a.root), identity(b.root)
    if mine is not None and yours is not None:
        named_alike = describe(mine) == describe(yours)
    else:
        named_alike = mine is yours
    lines = bag(a.content), bag(b.content)
    return named_alike and all(lines) and likeness(*lines) >= NEW_FILE


def pairing(
    base: Sequence[Document | Node],
    other: Sequence[Document | Node],
    *,
    identified_only: bool = False,
) -> Pairing:
    """Pair the resources of two versions that belong together.

    With `identified_only`, pair resources only by full name. This is for resources that both sides
    added, because then no resource can be an edited version of the other.
    """
    result = Pairing(base, other)
    _by_key(result, _full_name)
    _repeated(result)
    _by_key(result, _group_heir)
    if not identified_only:
        _by_key(result, _identified("group", "kind", "name"), _may_gain_a_namespace)
        _alike(result, _generated, 0.0, by_place=True)
        _alike(result, _identified("group", "kind"), RENAMED)
        # The partner may have another kind or another group.
        _alike(result, _identified("namespace", "name", least=FEW_LEAVES + 1), RENAMED)
        _alike(result, lambda r: (_nameless(r) and r.kind) or None, RELATED, by_place=True)
        _alike(result, _nameless, RELATED, by_place=True)
        _matched(_with_name(result.left), _with_name(result.right, False), RENAMED, result)
        _matched(_with_name(result.left, False), _with_name(result.right), RENAMED, result)
    return result


def _text(mapping: Mapping, field: str) -> str:
    """Return the text of a scalar field, so that `1` and `"1"` are the same name."""
    value = mapping.get(field)
    return value.value if isinstance(value, Scalar) and not is_null(value) else ""


def _kpt_merge(metadata: Entry) -> tuple[str, str] | None:
    """Return namespace and name from a comment `metadata: # kpt-merge: namespace/name`, or None."""
    if metadata.key is None:
        return None
    text = metadata.key.text
    end = text.find("\n", metadata.key.end)
    line = text[metadata.key.end : end if end >= 0 else len(text)]
    at = line.find(_KPT_MERGE)
    if at < 0:
        return None
    namespace, _, name = line[at + len(_KPT_MERGE) :].strip().rpartition("/")
    return (namespace, name) if name else None


def _full_name(resource: Candidate) -> Hashable:
    known = resource.identity
    return known if known is not None and known.name else None


def _identified(*fields: str, least: int = 0) -> Callable[[Candidate], Hashable]:
    """Return a function that makes a key from some fields of a resource's identity.

    The key is None if the resource has no name or fewer than `least` lines.
    """

    def key(resource: Candidate) -> Hashable:
        if _full_name(resource) is None or (least and sum(resource.lines.values()) < least):
            return None
        return tuple(getattr(resource.identity, field) for field in fields)

    return key


def _group_heir(resource: Candidate) -> Hashable:
    """Return a key that is the same for the group `extensions` and the group that replaced it."""
    known = resource.identity
    if known is None or not known.name or known.group not in ("extensions", *_HEIRS):
        return None
    return known.kind, known.namespace, known.name


def _generated(resource: Candidate) -> Hashable:
    return resource.identity if _full_name(resource) is None else None


def _nameless(resource: Candidate) -> Hashable:
    return True if resource.identity is None else None


def _may_gain_a_namespace(a: Candidate, b: Candidate) -> bool:
    return not all(r.identity is not None and r.identity.namespace for r in (a, b))


def _with_name(resources: list[Candidate], wanted: bool = True) -> list[Candidate]:
    """Return the resources with an identity; if `wanted` is False, return the others instead."""
    return [r for r in resources if (r.identity is not None) == wanted]


def _by_key(
    result: Pairing,
    key: Callable[[Candidate], Hashable],
    allowed: Callable[[Candidate, Candidate], bool] = lambda a, b: True,
) -> None:
    """Pair two resources of the same key if each version has only one resource with this key."""
    for mine, yours in _groups(result, key):
        if len(mine) == len(yours) == 1 and allowed(mine[0], yours[0]):
            result.pairs.append((mine[0].index, yours[0].index))
    _drop_paired(result)


def _repeated(result: Pairing) -> None:
    """Pair the resources of the same full name by likeness, or list them as ambiguous.

    A version may hold several resources of one full name.
    """
    done: set[int] = set()
    for mine, yours in _groups(result, _full_name):
        if not yours or not mine:
            continue
        rest = _matched(mine, yours, RELATED, result)
        if rest[0] and rest[1]:
            result.ambiguous_base += [r.index for r in rest[0]]
            result.ambiguous_other += [r.index for r in rest[1]]
        done.update(id(r) for r in (*mine, *yours))
    result.ambiguous_base.sort()
    result.ambiguous_other.sort()
    result.left = [r for r in result.left if id(r) not in done]
    result.right = [r for r in result.right if id(r) not in done]


def _alike(
    result: Pairing,
    key: Callable[[Candidate], Hashable],
    least: float,
    *,
    by_place: bool = False,
) -> None:
    """Pair resources with the same key if they are clearly alike.

    With `by_place`, pair the remaining resources in the order of the file.
    """
    for mine, yours in _groups(result, key):
        is_sure = by_place and len(mine) == len(yours) == 1
        rest = (mine, yours) if is_sure else _matched(mine, yours, least, result)
        if by_place:
            result.pairs += [(a.index, b.index) for a, b in zip(*rest, strict=False)]
    _drop_paired(result)


def _matched(
    mine: list[Candidate], yours: list[Candidate], least: float, result: Pairing
) -> tuple[list[Candidate], list[Candidate]]:
    """Pair resources that are clearly alike; return the remaining resources of each side."""
    pairs = match(mine, yours, least)
    result.pairs += [(a.index, b.index) for a, b in pairs]
    used = {id(r) for found in pairs for r in found}
    return [r for r in mine if id(r) not in used], [r for r in yours if id(r) not in used]


def _groups(
    result: Pairing, key: Callable[[Candidate], Hashable]
) -> Iterable[tuple[list[Candidate], list[Candidate]]]:
    """Group the resources of each side by key, and omit resources without a key."""
    groups: dict[Hashable, tuple[list[Candidate], list[Candidate]]] = {}
    for side, resources in enumerate((result.left, result.right)):
        for resource in resources:
            name = key(resource)
            if name is not None:
                groups.setdefault(name, ([], []))[side].append(resource)
    return groups.values()


def _drop_paired(result: Pairing) -> None:
    mine, yours = {i for i, _ in result.pairs}, {j for _, j in result.pairs}
    result.left = [r for r in result.left if r.index not in mine]
    result.right = [r for r in result.right if r.index not in yours]
