"""Compare a merged file with its sides, after finding out which documents belong together.

The sides are base, ours and theirs; a side that does not have the file is left out. A document that
has the same text on one side is not compared further.

A field that no side has at this place may have moved: one side moved or renamed the section around
the field, and the other side added the field. A person who finishes the merge then writes the field
into the section at its present place, under its present name. Such a field is correct if a side has
the same value below the same names, or beside fields that moved the same way.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cached_property

from kmerge_git.check.merges.merge_walk import FUSED, GONE, NEW, Odd, least, walked
from kmerge_git.check.registry import ERROR
from kmerge_git.compare.file_changes import paired_documents
from kmerge_git.errors import KmergeError
from kmerge_git.kube.identity import Identity, describe, identity, identity_in
from kmerge_git.kube.listkeys import field_text
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.sites import disordered
from kmerge_git.tree.documents import Document, Stream, YamlText, built_root, is_idle
from kmerge_git.tree.nodes import Collection, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import canon, canon_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from kmerge_git.check.merges.merge_walk import Nodes
    from kmerge_git.tree.same import Known

    # the versions of a resource in other files of the merge, from which it may have moved
    Elsewhere = Callable[[Identity], list[Node]]
    Place = tuple[Hashable, ...]

MARKER = re.compile(r"^[^\S\n]*((?:<{7,}|\|{7,}|>{7,})(?: [^\n]*)?|={7,})[^\S\n]*$", re.MULTILINE)
ENOUGH = 3  # names at the end of a path to compare: a slip changes the last two
WITH_BASE = 3  # base and both sides


class SidedFile:
    """Hold the result of a merge of a file, and the versions of the sides."""

    def __init__(
        self,
        result: YamlText,
        sides: Three[bytes | None],
        elsewhere: Elsewhere = lambda identity: [],
        gained: Callable[[Identity], Node | None] = lambda identity: None,
        gravest: Callable[[], str] = lambda: ERROR,
        name: str = "",
    ) -> None:
        self.result = result
        self.name = name or result.path  # from the top of the repository
        self.gained = gained  # finds a resource in a file that gained it in this merge
        self.gravest = gravest  # how severe a lost change is at most, or '' for not judged
        known = {result.data: result}  # a version is parsed once, also if it is the result

        def version(data: bytes | None) -> YamlText | None:
            return None if data is None else known.setdefault(data, YamlText(data, result.path))

        self.sides = sides.map(version)
        self._there = [side for side in self.sides.each() if side is not None]
        self.elsewhere = elsewhere  # finds the versions of a resource in other files

    @cached_property
    def is_mixed(self) -> bool:
        """Return whether both sides changed the file and the result differs from each side."""
        base, ours, theirs = self.sides.map(lambda side: side.data if side else None).each()
        if ours is None or theirs is None or ours == theirs or base in (ours, theirs):
            return False
        return self.result.data not in (ours, theirs)

    @cached_property
    def is_yaml(self) -> bool:
        """Return whether the result can be parsed."""
        try:
            return self.result.roots is not None
        except KmergeError:
            return False

    def odd(self, *sorts: str) -> list[Odd]:
        """Return the oddities of the given sorts (see `merge_walk`)."""
        return [one for one in self._odd if one.what in sorts]

    @cached_property
    def _odd(self) -> list[Odd]:
        if not self.is_mixed:
            return []
        try:
            sides = [side.stream for side in self._there]
            odd = list(_documents(self, sides))
            is_new = any(one.what == NEW for one in odd)
            return without_moved(odd, [side.roots for side in sides]) if is_new else odd
        except KmergeError:
            return []  # a side that is not YAML has no fields to compare

    def turned(self) -> tuple[Document, str, str] | None:
        """Return a document of the result, its name, and the name of one that a side put behind it.

        The result has the two in the order of base.
        """
        three = self._there
        if len(three) < WITH_BASE or len({side.data for side in three}) < WITH_BASE:
            return None
        try:
            streams = [text.stream for text in (*three, self.result)]
            if len(streams[-1].documents) == 1:
                return None
            names = [list(map(_key, stream.documents)) for stream in streams]
        except KmergeError:
            return None
        turned = disordered(*names)
        if [*turned] != sorted(turned, key=names[-1].index):
            return None  # base has them so, and the result has an order of its own
        places = [names[-1].index(key) for key in turned]
        documents = [streams[-1].documents[place] for place in places]
        shown = [describe(name) for d in documents if (name := _resource(d))]
        return (documents[1], shown[1], shown[0]) if len(shown) > 1 else None

    def markers(self) -> Iterator[tuple[int, str]]:
        """Yield the offset and text of each line that looks like a marker and that no side has.

        A marker is a conflict marker of git.
        """
        made = _marker_lines(self.result.source.text) if self.is_mixed else []
        most: Counter[str] = Counter()
        for side in self._there if made else ():
            text = side.data.decode("utf-8", "replace")
            most |= Counter(line for _, line in _marker_lines(text))
        for at, line in made:
            most[line] -= 1
            if most[line] < 0:
                yield at, line.partition(" ")[0]

    def could_be_read(self) -> bool:
        """Return whether the file is YAML on every side that has the file."""
        try:
            return all(side.roots is not None for side in self._there)
        except KmergeError:
            return False


def _marker_lines(text: str) -> list[tuple[int, str]]:
    """Return each line that looks like a conflict marker of git, with its offset."""
    return [(line.start(1), line[1].rstrip()) for line in MARKER.finditer(text)]


class _Side:
    """Pair the documents of a side with the changed documents of the result.

    Some documents have no partner.
    """

    __slots__ = ("_partners", "alone", "count")

    def __init__(self, stream: Stream, made: set[str], new: list[Document]) -> None:
        self.count = len(stream.documents)
        left = [d for d in stream.documents if d.content not in made and not is_idle(d.content)]
        pairs = paired_documents(new, left)
        self._partners = {new[i].number: left[j] for i, j in pairs}
        taken = {j for _, j in pairs}
        self.alone = [document for j, document in enumerate(left) if j not in taken]

    def pair_the_last(self, result: Stream, new: list[Document]) -> None:
        """Pair the only document of the result without a partner with a missing document.

        The missing document belongs to this side. The document of the result must have no name, or
        both files must have only one document.
        """
        without = [d for d in new if d.number not in self._partners]
        is_only = self.count == len(result.documents) == 1
        if len(without) != 1 or not self.alone or (_resource(without[0]) and not is_only):
            return
        known = {_key(document) for document in result.documents}
        missing = [document for document in self.alone if _key(document) not in known]
        if len(missing) == 1:
            self._partners[without[0].number] = missing[0]
            self.alone.remove(missing[0])

    def root(self, document: Document) -> Node | None:
        """Return the root of this side's partner of a document, or None.

        The document belongs to the result.
        """
        return built_root(self._partners.get(document.number))


def _documents(merged: SidedFile, sides: list[Stream]) -> Iterator[Odd]:
    """Yield the oddities of the documents that differ from the documents of every side."""
    result, path = merged.result.stream, merged.result.path
    known, made = _contents(sides), _contents([result])
    new = [d for d in result.documents if d.content not in known and not is_idle(d.content)]
    at = [_Side(side, made, new) for side in sides]
    for side in at:
        side.pair_the_last(result, new)
    if not made and least([side.count for side in at]):
        yield Odd(GONE, 0, (), "the file is empty, but every side of the merge has content")
        return
    gone = _gone(merged, sides, [side.alone for side in at])
    fewer = len(result.documents) < min(side.count for side in at)
    contained: list[Document] = []
    for document in new:
        held = _held(document, gone, at[-2]) if fewer else []
        contained += held
        if held and document.root is not None:
            names = " and ".join(map(_name, held))
            what = f"{names} became part of another document: the line `---` is missing"
            yield Odd(FUSED, _seam(document.root, held), (), what)
        else:
            roots = [side.root(document) for side in at]
            yield from _inside(document, roots, path, merged.elsewhere)
    for document in gone:
        if document not in contained:
            yield Odd(GONE, 0, (), f"{_name(document)} is missing; every side of the merge has it")


def _contents(streams: list[Stream]) -> set[str]:
    """Return the texts of the documents that have any content except comments."""
    documents = (document for stream in streams for document in stream.documents)
    return {document.content for document in documents if not is_idle(document.content)}


def _inside(document: Document, sides: Nodes, path: str, elsewhere: Elsewhere) -> list[Odd]:
    """Return the oddities inside a document.

    A document that no side has is new: it has no oddities.
    """
    root, there = document.root, [node for node in sides if node is not None]
    if root is None or not there:
        return []
    odd, resource = walked(root, sides, path), _resource(document)
    if odd and resource is not None and len(there) < len(sides):
        more = elsewhere(resource)
        return walked(root, [*sides, *more], path) if more else odd  # moved from another file
    return odd


def _gone(merged: SidedFile, sides: list[Stream], alone: list[list[Document]]) -> list[Document]:
    """Return the documents of ours that every side has and that the result lost."""
    result = merged.result.stream
    keys = [{_key(document) for document in side} for side in alone]
    return [
        document
        for document in alone[-2]
        if document.root is not None
        and all(_key(document) in key for key in keys)
        and _count(result, document) < least([_count(side, document) for side in sides])
        and not _is_moved_away(document, merged)
    ]


def _is_moved_away(document: Document, merged: SidedFile) -> bool:
    """Return whether another file has gained the resource of a document in this merge."""
    resource = _resource(document)
    return resource is not None and merged.gained(resource) is not None


def _count(stream: Stream, wanted: Document) -> int:
    """Return how many documents in a file have the same key as a document."""
    return sum(_key(document) == _key(wanted) for document in stream.documents)


def _key(document: Document) -> object:
    """Return a key for a document: the identity of its resource, or its text."""
    return _resource(document) or document.content.strip()


def _resource(document: Document) -> Identity | None:
    """Return the identity of a resource, or None if the resource has no name."""
    found = identity_in(document) if document.root is not None else None
    return found if found is not None and found.name else None


def _name(document: Document) -> str:
    resource = _resource(document)
    return f"{resource.kind}/{resource.name}" if resource else "a document"


def _held(whole: Document, gone: list[Document], ours: _Side) -> list[Document]:
    """Return the lost documents of ours whose content is now in another document."""
    held = [one for one in gone if _holds(whole.root, one.root)]
    partner = ours.root(whole)
    for one in ours.alone:  # without a name, keys are compared: the partner lacks them
        is_in_both = _holds(partner, one.root) or not _holds(whole.root, one.root)
        if one not in held and not _resource(one) and not is_in_both:
            held.append(one)
    return held


def _seam(whole: Node, held: list[Document]) -> int:
    """Return the offset in a document at which the first of its lost neighbours begins or ends."""
    if not isinstance(whole, Collection):
        return whole.start
    parts = {part for document in held for part in _parts(document.root)}
    before: set[Hashable] = set()
    there = list(zip(_parts(whole), whole.entries, strict=True))
    for part, entry in there:
        is_other = (part in parts) != (there[0][0] in parts)
        if is_other or part in before:
            return (entry.key or entry.value).start
        before.add(part)
    return whole.start


def _parts(node: Node | None) -> list[Hashable]:
    """Return the top-level keys, or the elements, of a document."""
    if isinstance(node, Mapping):
        return [entry.name for entry in node.entries]
    return [canon(entry.value) for entry in node.entries] if isinstance(node, Sequence) else []


def _holds(whole: Node | None, part: Node | None) -> bool:
    """Return whether a document has all top-level keys, or all elements, of another document."""
    is_like = isinstance(part, Collection) and type(part) is type(whole)
    return is_like and set(_parts(part)) <= set(_parts(whole))


# -- fields that moved with their neighbours ------------------------------------------------------


def without_moved(found: list[Odd], sides: list[list[Node]]) -> list[Odd]:
    """Return the oddities, but leave out fields that moved together with other fields."""
    known: Known = {}
    versions = [_Version(roots, known) for roots in sides]
    return [odd for odd in found if odd.what != NEW or not _is_moved(odd, versions, known)]


class _Version:
    """Index the mappings of a version by place, and its values by the names above them."""

    __slots__ = ("_roots", "at", "below", "named")

    def __init__(self, roots: list[Node], known: Known) -> None:
        self._roots = roots
        self.at: dict[Place, Mapping] = {}
        self.below: set[tuple[tuple[str, ...], Hashable]] = set()
        self.named: dict[tuple[str, Hashable], list[Place]] = defaultdict(list)
        for number, root in enumerate(roots):
            self._collect(root, (identity(root) or number,), (), known)

    def _collect(self, node: Node, place: Place, names: tuple[str, ...], known: Known) -> None:
        self.below.add((names, canon_of(node, known)))
        if isinstance(node, Mapping):
            self.at[place] = node
            for entry in node.entries:
                self.named[entry.name, canon_of(entry.value, known)].append(place)
                below = (*names, entry.name)[-ENOUGH:]
                self._collect(entry.value, (*place, entry.name), below, known)
        elif isinstance(node, Sequence):
            for number, entry in enumerate(node.entries):
                step = ("element", field_text(entry.value, "name") or number)
                self._collect(entry.value, (*place, step), names, known)

    def has(self, node: Node) -> bool:
        """Return whether a node is part of this version."""
        return any(root.text is node.text for root in self._roots)

    def added(self, name: str, base: _Version) -> Iterator[Place]:
        """Yield the places of the mappings of base that have a field here, but not in base."""
        for place, mapping in self.at.items():
            if mapping.get(name) is not None and base.field(place, name) is None:
                yield place

    def field(self, place: Place, name: str) -> Node | None:
        """Return the value of a field of the mapping at a place, or None."""
        mapping = self.at.get(place)
        return mapping.get(name) if mapping is not None else None


def _is_moved(odd: Odd, versions: list[_Version], known: Known) -> bool:
    if odd.value is None or odd.parent is None:
        return False
    names = tuple(step for step in odd.path if isinstance(step, str))
    field = (names[-1], canon_of(odd.value, known))
    if len(names) >= ENOUGH and any((names[-ENOUGH:], field[1]) in one.below for one in versions):
        return True
    if _was_element(odd, names[-1]):
        return True
    if len(versions) < WITH_BASE:
        return False
    base, *sides = versions
    places = [place for version in versions for place in version.named.get(field, ())]
    places += (place for side in sides for place in side.added(names[-1], base))
    return any(
        _came_with_others(odd, odd.parent, place, base, sides) for place in dict.fromkeys(places)
    ) or _is_renamed(odd, odd.parent, names[-1], base, sides, known)


def _came_with_others(
    odd: Odd, parent: Mapping, place: Place, base: _Version, sides: list[_Version]
) -> bool:
    """Return whether a side moved neighbours of the field from `place` into this mapping."""
    there = base.at.get(place)
    here = [one for one in odd.beside if isinstance(one, Mapping)]
    moved = [name for name in parent.index() if there is not None and there.get(name) is not None]
    return any(
        side.has(one) and one.get(name) is not None and side.field(place, name) is None
        for name in moved
        if not any(base.has(one) and one.get(name) is not None for one in here)
        for one in here
        for side in sides
    )


def _is_renamed(
    odd: Odd, parent: Mapping, new: str, base: _Version, sides: list[_Version], known: Known
) -> bool:
    """Return whether a side has the field here under an old name that the result dropped."""
    there = {name for one in odd.beside if isinstance(one, Mapping) for name in one.index()}
    gone = there - parent.index().keys()
    return any(_renames(side, base, old, new, known) for side in sides for old in gone)


def _renames(side: _Version, base: _Version, old: str, new: str, known: Known) -> bool:
    """Return whether a side renamed a field of base, and kept its value and place."""
    for place, mapping in side.at.items():
        after, before = mapping.get(new), base.field(place, old)
        if after is not None and before is not None:
            is_other = mapping.get(old) is None and base.field(place, new) is None
            if is_other and canon_of(before, known) == canon_of(after, known):
                return True
    return False


def _was_element(odd: Odd, name: str) -> bool:
    """Return whether a side has a list here, and the name of the field is in this list."""
    elements = [e.value for one in odd.beside if isinstance(one, Sequence) for e in one.entries]
    fields = [e.value for one in elements if isinstance(one, Mapping) for e in one.entries]
    return any(isinstance(one, Scalar) and one.value == name for one in (*elements, *fields))
