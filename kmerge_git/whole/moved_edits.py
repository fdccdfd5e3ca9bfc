"""Follow the edits of resources that one side moved to another file.

A line merge sees a deletion that conflicts with an edit, although neither person made a mistake.
This module finds the resource by its identity in all files of the merge, takes the edit out of
the old file and merges the edit into the new file. A resource is a document or an item of a list
of resources. An item is indented differently from a document, so a move between the two forms is
followed only if the text certainly means the same at the other column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from kmerge_git.bounds import MOVED_DOCUMENTS
from kmerge_git.errors import CannotParse
from kmerge_git.git.index_stages import Stages
from kmerge_git.git.manifests import is_manifest
from kmerge_git.git.merge_sides import Change, TreeEntry
from kmerge_git.git.repository import Repository
from kmerge_git.kube.identity import Identity, describe, identity
from kmerge_git.kube.likeness import stripped_lines
from kmerge_git.kube.moved_resources import Namesake, destination, holders, once
from kmerge_git.kube.outline import outline
from kmerge_git.merge.bulk import has_bulk, has_more_documents
from kmerge_git.merge.three import Three
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, YamlText, split_text
from kmerge_git.tree.nodes import Alias, Collection, Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.oddities import begins_as_template
from kmerge_git.tree.same import same_node

_NAMES = re.compile(rb"ame[\"']?:[ \t]*(?:[&!]\S+[ \t]+)*[\"']?([^\s\"',}]+)")

_BETWEEN_VALUES = re.compile(r"[\n,{}\[\]]")
_BEFORE_VALUE = re.compile(r":\s|=")
_QUOTES = str.maketrans("", "", "\"'")
_SHORT = 4  # characters; a shorter value says nothing without its key


@dataclass(frozen=True, slots=True)
class MovedEdit:
    """Hold one side's edit of a resource that `mover`, the other side, moved to another file.

    The target is '' if `mover` took the resource away for good.
    """

    resource: str  # Deployment/web
    key: Identity
    source: str
    target: str
    mover: str
    base_text: str
    edited_text: str
    whole: bool = True  # the texts are documents with their comments; else bare, at column 0

    def is_done(self, three: Three[bytes | None]) -> bool:
        """Return whether these three versions of the new file already hold this edit."""
        base, ours, theirs = (text_in(data or b"", self.key, self.whole) for data in three.each())
        edited = theirs if self.mover == "ours" else ours
        return (base, edited) == (self.base_text, self.edited_text)

    def fits(self, data: bytes) -> bool:
        """Return whether the new file can hold the resource's base text and edited text."""
        return all(
            text_in(with_resource(data, self.key, text, whole=self.whole), self.key, self.whole)
            == text
            for text in (self.base_text, self.edited_text)
        )


@dataclass(frozen=True)
class Arrivals:
    """Find the files of one side that hold resources which the base does not have in that file."""

    changes: Iterable[Change]
    read: Callable[[str], bytes]
    base: Iterable[Change] = ()  # the files of the base, as if added; else those of the changes

    @classmethod
    def between(cls, repository: Repository, base: str | None, side: str) -> Arrivals:
        """Return the arrivals between the base and the tree of one side."""

        def changes(old: str | None, new: str | None) -> Iterator[Change]:
            # compare late, as few merges move a resource;
            # treat a renamed file as a new file into which its resources were moved
            yield from repository.changes(old, new, renames=False) if new else ()

        return cls(changes(base, side), repository.blob, changes(None, base))

    def of(self, key: Identity) -> dict[str, str]:
        """Return the paths of the files in which a resource is new, each with its blob id."""
        return self._files.get(key, {})

    def target(self, path: str, key: Identity, before: Stand, left: bytes) -> str | None:
        """Return the file to which the side moved a resource; '' if it is gone, None if unclear.

        `left` is the text of the old file on this side.
        """
        files = self.of(key)
        if not files or path in files:
            return None if files else ""
        known = self._in_the_base(key)
        here = _in_base(before.namesake(path), known)
        if len(here) > 1:
            return None
        others = [other for other in known if other not in here]
        target = destination(here[0], here + others, self._namesakes(files.items(), key))
        arrived = self.arrived(key, target) if target else None
        if target and (arrived is None or _has_stayed(before, left, arrived)):
            return None
        return target

    def had(self, key: Identity, but: str) -> bool:
        """Return whether the base has a resource in a file other than `but`."""
        return any(one.path != but for one in self._in_the_base(key))

    def arrived(self, key: Identity, path: str) -> Stand | None:
        """Return a resource in its new file; return None if the file has it twice."""
        return once(self._stands(self.of(key)[path])).get(key)

    def _in_the_base(self, key: Identity) -> list[Namesake]:
        name = (key.name or key.generate_name).encode()
        return self._namesakes(self._base.get(name, ()), key)

    def _namesakes(self, files: Iterable[tuple[str, str]], key: Identity) -> list[Namesake]:
        every = ((path, pair) for path, oid in files for pair in self._stands(oid))
        return [stand.namesake(path) for path, (name, stand) in every if name == key]

    def _stands(self, oid: str) -> list[tuple[Identity, Stand]]:
        """Return the resources of a file; parse it once, as many resources share a name."""
        if oid not in self._parsed:
            self._parsed[oid] = stands(YamlText(self.read(oid)))
        return self._parsed[oid]

    @cached_property
    def _parsed(self) -> dict[str, list[tuple[Identity, Stand]]]:
        return {}

    @cached_property
    def _base(self) -> dict[bytes, list[tuple[str, str]]]:
        """Return the files of the base, each with its blob id, by the names in their lines."""
        every = [(change.new_path, change.new) for change in self.base]
        every = every or [(path, change.old) for path, change in self.by_old_path.items()]
        files = [(p, entry.oid) for p, entry in every if entry and entry.is_text and is_manifest(p)]
        return holders((file, {*_NAMES.findall(self.read(file[1]))}) for file in files)

    def kept_half(self, path: str, text: str) -> bool:
        """Return whether half of the values in a text of a file are still on the side.

        They are there if its files gained them, or if the file itself did not lose them.
        """
        change = self.by_old_path.get(path)
        if change is None:  # one of the sides renamed the file
            return True
        values = Counter(_values(text))
        lost = self._read_values(change.old) - self._read_values(change.new)
        kept = (values & self._gained) + (values - lost)
        return 2 * kept.total() >= values.total()

    @cached_property
    def _gained(self) -> Counter[str]:
        gained: Counter[str] = Counter()
        for change in self._changes:
            gained += self._read_values(change.new) - self._read_values(change.old)
        return gained

    def _read_values(self, entry: TreeEntry | None) -> Counter[str]:
        if entry is None or not entry.is_text:
            return Counter()
        return Counter(_values(self.read(entry.oid).decode("utf-8", "replace")))

    def source_of(self, old: TreeEntry | None, new: TreeEntry | None) -> str:
        """Return the path of a file that the side changed from one content to another, or ''."""
        pairs = ((path, change.old, change.new) for path, change in self.by_old_path.items())
        return next((path for path, *pair in pairs if old and pair == [old, new]), "")

    def new_files(self, oid: str) -> list[str]:
        """Return the files with this content that the side added, perhaps by renaming others."""
        return self._added.get(oid, [])

    @cached_property
    def _added(self) -> dict[str, list[str]]:
        new = [(c.new_path, [c.new.oid]) for c in self._changes if c.new and not c.old]
        return holders(new)

    @cached_property
    def added(self) -> frozenset[str]:
        """Return the files that the side added, perhaps by renaming others."""
        return frozenset(change.new_path for change in self._changes if not change.old)

    @cached_property
    def by_old_path(self) -> dict[str, Change]:
        """Return the changes of the files that the base has, by their paths."""
        return {change.old_path: change for change in self._changes if change.old}

    @cached_property
    def _changes(self) -> tuple[Change, ...]:
        return tuple(self.changes)

    @cached_property
    def _files(self) -> dict[Identity, dict[str, str]]:
        return {key: dict(files) for key, files in holders(self._arrived()).items()}

    def _arrived(self) -> Iterator[tuple[tuple[str, str], set[Identity]]]:
        for change in self._changes:
            if change.new and change.new.is_text and is_manifest(change.new_path):
                old, new = (
                    {name for name, _ in stands(YamlText(self.read(entry.oid)))} if entry else set()
                    for entry in (change.old, change.new)
                )
                yield (change.new_path, change.new.oid), new - old


def _values(text: str) -> Iterator[str]:
    """Yield each value in a text, also in comments, JSON, templates, and `.env` files."""
    for piece in _BETWEEN_VALUES.split(text):
        line = piece.translate(_QUOTES).strip(" \t\r-#")
        value = _BEFORE_VALUE.split(line)[-1].strip()
        if line and line[-1] != ":":
            yield value if len(value) >= _SHORT else line


def _in_base(one: Namesake, known: list[Namesake]) -> list[Namesake]:
    """Return the resource as the base has it; several if that is open.

    The other side may have renamed the file, and a criss-cross merge has a base of its own.
    """
    same = [other for other in known if other.lines == one.lines]
    return [other for other in same or known if other.path == one.path] or same or [one]


def find_moves(
    path: str, three: Three[bytes | None], ours: Arrivals, theirs: Arrivals
) -> tuple[MovedEdit, ...]:
    """Return the edits of resources that one side moved away and the other side edited."""
    at = _resources(three)
    if at is None:
        return ()
    return (
        *_edits(path, at, ours, "ours", three.ours or b""),
        *_edits(path, at.swapped(), theirs, "theirs", three.theirs or b""),
    )


def _resources(three: Three[bytes | None]) -> Three[Stands] | None:
    """Return the resources of the versions, or None if no side took one of base's away."""
    if three.base is None or any(map(has_many, three.each())):
        return None
    names = three.map(lambda data: names_by_lines(data or b""))
    if names.base is not None and names.base <= (names.ours or set()) & (names.theirs or set()):
        return None  # the lines show, without parsing, that both sides kept every resource
    base, ours, theirs = (YamlText(data or b"") for data in three.each())
    before = places(base)
    return Three(before, places(ours), places(theirs)) if before else None


def find_removals(
    path: str, three: Three[bytes | None], mover: str, arrivals: Arrivals
) -> tuple[MovedEdit, ...]:
    """Return the edits of resources that the mover took away, so that they are nowhere else."""
    at = _resources(three)
    if at is None:
        return ()
    at = at if mover == "ours" else at.swapped()
    edits = []
    for key in at.base.keys() & at.theirs.keys() - at.ours.keys():
        before, after = at.base[key], at.theirs[key]
        edit = MovedEdit(describe(key), key, path, "", mover, before.text, after.text)
        if (
            before.text != after.text
            and not arrivals.of(key)
            and not arrivals.kept_half(path, before.text)
            and edit.fits(after.source.data)
        ):
            edits.append(edit)
    return tuple(sorted(edits, key=lambda edit: edit.resource))


def is_taken_away(path: str, three: Three[bytes | None], mover: str, arrivals: Arrivals) -> bool:
    """Return whether the mover deleted a file for good, and the other side added no resource to it.

    If the file has another name on the other side, or is no YAML, the answer is no.
    """
    old, edited = three.base or b"", (three.theirs if mover == "ours" else three.ours) or b""
    change = arrivals.by_old_path.get(path)
    if change is None or change.new:
        return False
    before, after = (_readable(YamlText(data)) for data in (old, edited))
    if before is None or after is None:
        return False
    known = once(before)
    return (
        {key for key, _ in after} <= known.keys()
        and not any(map(arrivals.of, known))
        and not arrivals.kept_half(path, old.decode("utf-8", "replace"))
    )


def stranger(stages: Stages, three: Three[bytes | None], ours: Arrivals, theirs: Arrivals) -> str:
    """If git merges an edit into another resource, return how it came to; else ''."""
    path, texts = stages.path, three.map(lambda data: YamlText(data or b""))
    for at, entry, mover, editor in (
        (texts, stages.theirs, ours, theirs),
        (texts.swapped(), stages.ours, theirs, ours),
    ):
        is_new = path in mover.added
        source = editor.source_of(stages.base, entry) if is_new else path
        if not source or not (is_new or _lacks_one(at)):
            continue
        old, there, edited = map(places, at.each())
        for key in edited_resources(old, edited):
            name = describe(key)
            if key in there:
                is_other = path != source and mover.target(source, key, old[key], b"") != path
                what = f"the {name} in it is a different resource"
            else:
                is_other = bool(there) and all(
                    other not in old and mover.had(other, source) for other in there
                )
                what = f"it does not contain {name}"
            if is_other and path == source:
                return (
                    f"one side edited {name}, but the other has a different resource in this file"
                )
            if is_other:
                return f"git assumes that {source} was renamed to this file, but {what}"
    return ""


def _lacks_one(at: Three[YamlText]) -> bool:
    """Return whether ours may lack a resource of base, as the lines show without parsing."""
    base, ours = names_by_lines(at.base.data), names_by_lines(at.ours.data)
    return base is None or ours is None or not base <= ours


def edited_resources(old: Stands, new: Stands) -> list[Identity]:
    """Return the resources that two versions of a file have with different texts."""
    return [key for key in old.keys() & new.keys() if old[key].text != new[key].text]


@lru_cache(maxsize=3)  # the versions of a file; several questions about it begin with its names
def names_by_lines(data: bytes) -> set[object] | None:
    """Return the names of a file's documents, or None if the lines do not show every name."""
    try:
        names = [outline(document.content) for document in YamlText(data).stream.documents]
    except CannotParse:
        return None
    # a `kind: List` holds resources with names that the outline does not show
    return None if any(name is None or name[1].endswith("List") for name in names) else {*names}


def _edits(
    path: str, at: Three[Stands], arrivals: Arrivals, mover: str, left: bytes
) -> Iterator[MovedEdit]:
    """Yield the edits of `at.theirs` to resources that `at.ours` moved to exactly one file.

    `left` is the text of the old file in `at.ours`.
    """
    for key, before in at.base.items():
        after = at.theirs.get(key)
        if key in at.ours or after is None or after.text == before.text:
            continue
        target = arrivals.target(path, key, before, left)
        arrived = arrivals.arrived(key, target) if target else None
        texts = _texts(before, after, arrived) if arrived else None
        if target and arrived and texts:
            whole = not (before.is_item or after.is_item or arrived.is_item)
            edit = MovedEdit(describe(key), key, path, target, mover, *texts, whole)
            if edit.fits(arrived.source.data):
                yield edit


def _has_stayed(before: Stand, left: bytes, arrived: Stand) -> bool:
    """Return whether the old file still has more lines of a resource than the new file.

    Then the resource was renamed in place, and a new resource took the old name.
    """
    known = _lines(before.text)
    others = _lines(before.source.text) - known
    stayed = known & (_lines(left.decode("utf-8", "replace")) - others)
    return stayed.total() > (known & _lines(arrived.text)).total()


def _lines(text: str) -> Counter[str]:
    return Counter(stripped_lines(text))


def _texts(before: Stand, after: Stand, arrived: Stand) -> tuple[str, str] | None:
    """Return the base text and the edited text so that they fit into both files, or None."""
    if not (before.is_item or after.is_item or arrived.is_item):
        return before.text, after.text
    one, other = before.bare(), after.bare()
    if one is None or other is None or one.text == other.text or before.is_item != after.is_item:
        return None
    # comments around the resource do not move, so an edit of such a comment would be lost
    return (one.text, other.text) if before.around(one) == after.around(other) else None


def without_edits(three: Three[bytes | None], edits: Iterable[MovedEdit]) -> Three[bytes | None]:
    """Undo the edits of moved resources in the old file, so that their removal is no conflict."""
    ours, theirs = three.ours, three.theirs
    for edit in edits:
        if edit.mover == "ours" and theirs is not None:
            theirs = with_resource(theirs, edit.key, edit.base_text, whole=edit.whole)
        elif edit.mover == "theirs" and ours is not None:
            ours = with_resource(ours, edit.key, edit.base_text, whole=edit.whole)
    return Three(three.base, ours, theirs)


def with_base(three: Three[bytes | None], edits: Iterable[MovedEdit]) -> Three[bytes | None]:
    """Give both sides the base text of the resources that both sides moved to this file."""
    for edit in edits:

        def unedited(data: bytes | None, edit: MovedEdit = edit) -> bytes | None:
            return data and with_resource(data, edit.key, edit.base_text, whole=edit.whole)

        three = Three(three.base, unedited(three.ours), unedited(three.theirs))
    return three


def changed_nothing_else(rest: Three[bytes | None]) -> bool:
    """Return whether one side deleted the file and the other edited only moved resources."""
    return (rest.ours or rest.theirs) == rest.base


def at_target(target: bytes, edits: Iterable[MovedEdit]) -> Three[bytes]:
    """Return three versions of the new file, for merging the edits of moved resources."""
    base = ours = theirs = target
    for edit in edits:
        base = with_resource(base, edit.key, edit.base_text, whole=edit.whole)
        if edit.mover == "ours":
            theirs = with_resource(theirs, edit.key, edit.edited_text, whole=edit.whole)
        else:
            ours = with_resource(ours, edit.key, edit.edited_text, whole=edit.whole)
    return Three(base, ours, theirs)


def text_in(data: bytes, key: Identity, whole: bool = True) -> str | None:
    """Return the text of a resource, or None if the text cannot be replaced in the file."""
    place = _place_of(data, key, whole)
    return place.text if place else None


def with_resource(data: bytes, key: Identity, text: str, whole: bool = True) -> bytes:
    """Replace the text of a resource in a file; if the file lacks the resource, change nothing."""
    place = _place_of(data, key, whole)
    return place.exchanged(text) if place else data


def _place_of(data: bytes, key: Identity, whole: bool) -> Stand | None:
    place = places(YamlText(data)).get(key)
    if place is None or not whole:
        return place and place.bare()
    return None if place.is_item else place


@dataclass(frozen=True, slots=True)
class Stand:
    """Hold the lines of a resource in a file, with its comments and blank lines."""

    source: Source
    start: int
    end: int
    node: Node | None
    is_item: bool

    column: int = 0  # the column of the text in the file

    @property
    def text(self) -> str:
        """The lines of the resource, moved to the first column."""
        lines = self.source.text[self.start : self.end]
        return _dedented(lines, self.column) if self.column else lines

    def exchanged(self, text: str) -> bytes:
        """Return the file with the text of the resource replaced and every other byte unchanged."""
        known = self.source.text
        lines = _indented(text, self.column) if self.column else text
        return self.source.encode(known[: self.start] + lines + known[self.end :])

    def bare(self) -> Stand | None:
        """Return the resource without comments around it, or None if it cannot move to column 0."""
        node = self.node
        if not isinstance(node, Mapping) or node.flow or not node.entries or _is_tied(node):
            return None
        start, end = node.entries[0].start, node.entries[-1].end
        bare = replace(self, start=start, end=end, column=node.column)
        is_same = _indented(bare.text, node.column) == self.source.text[start:end]
        return bare if is_same and _says(bare.text, node) else None

    def namesake(self, path: str) -> Namesake:
        """Return the resource for a comparison with the others of its name."""
        bare = self.bare() if self.is_item else None
        return Namesake(path, (bare or self).text)

    def around(self, bare: Stand) -> tuple[str, str]:
        """Return the comments and blank lines before and after the bare resource."""
        return self.source.text[self.start : bare.start], self.source.text[bare.end : self.end]


Stands = dict[Identity, Stand]


def has_many(data: bytes | None) -> bool:
    """Return whether a file has so many documents or entries that moves are not searched."""
    data = data or b""
    return has_bulk(data) or has_more_documents(data.decode("latin-1"), MOVED_DOCUMENTS)


def places(text: YamlText) -> Stands:
    """Return the resources of a file by identity; leave out resources that occur twice."""
    return once(stands(text))


def stands(text: YamlText) -> list[tuple[Identity, Stand]]:
    """Return the resources of a file with their identities."""
    if b"kind" not in text.data and b"\\" not in text.data:
        return []  # no resource without a kind, which may be behind an escape
    return _readable(text) or []


def _readable(text: YamlText) -> list[tuple[Identity, Stand]] | None:
    """Return the resources of a file with their identities.

    Return None if the file is not YAML, is too large, or has a document on a `---` line.
    """
    if has_many(text.data):
        return None
    try:
        source, documents = text.source, text.stream.documents
        if any(d.inline or begins_as_template(d.content) for d in documents):
            return None
        return [pair for document in documents for pair in _of(source, document)]
    except CannotParse:
        return None


def _of(source: Source, document: Document) -> Iterator[tuple[Identity, Stand]]:
    root = document.root
    key = identity(root)
    if key is not None:
        yield key, Stand(source, document.body, document.end, root, False)
    for entry in items_of(root):
        name = identity(entry.value)
        if name is not None:
            yield name, Stand(source, entry.lead, entry.end, entry.value, True)


def items_of(root: Node | None) -> tuple[Entry, ...]:
    kind = root.get("kind") if isinstance(root, Mapping) else None
    if not isinstance(kind, Scalar) or not kind.value.endswith("List"):
        return ()
    items = root.get("items") if isinstance(root, Mapping) else None
    return items.entries if isinstance(items, Sequence) else ()


def _is_tied(node: Node) -> bool:
    """Return whether a node holds an anchor or an alias."""
    if node.anchor or isinstance(node, Alias):
        return True
    below = node.entries if isinstance(node, Collection) else ()
    return any(_is_tied(part) for entry in below for part in (entry.key, entry.value) if part)


def _says(text: str, node: Node) -> bool:
    """Return whether a text, read as a document, has the same meaning as a node."""
    try:
        documents = split_text(text).documents
        root = documents[0].root if len(documents) == 1 else None
    except CannotParse:
        return False
    return root is not None and same_node(root, node)


def _dedented(text: str, column: int) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(line.removeprefix(" " * column) for line in rest)])


def _indented(text: str, column: int) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * column + line if line else "" for line in rest)])


# -- resources that both sides took out of one file
#
# Git does not pair a resource with itself in two files, so it reports no conflict, whatever the
# sides did with the resource.


@dataclass(frozen=True, slots=True)
class TakenByBoth:
    """Hold a resource that both sides took out of one file.

    `ours` and `theirs` are the files to which the sides moved the resource, or '' if a side deleted
    the resource.
    """

    resource: str
    key: Identity
    source: str
    ours: str
    theirs: str
    before: Stand

    @property
    def is_apart(self) -> bool:
        """Return whether the two sides moved the resource to different files."""
        return bool(self.ours and self.theirs and self.ours != self.theirs)

    @property
    def words(self) -> str:
        """Return a sentence about a resource that one side deleted."""
        here, there = (
            f"moved from {self.source} to {path}" if path else f"deleted from {self.source}"
            for path in (self.ours, self.theirs)
        )
        return (
            f"{self.resource} was {here} in ours and {there} in theirs; "
            f"it stays in {self.ours or self.theirs}"
        )


def taken_by_both(ours: Arrivals, theirs: Arrivals) -> Iterator[TakenByBoth]:
    """Yield the resources that both sides took out of one file, and at least one side moved."""
    for path in sorted(ours.by_old_path.keys() & theirs.by_old_path.keys()):
        here, there = ours.by_old_path[path], theirs.by_old_path[path]
        entries = (here.old, here.new, there.new)
        if not is_manifest(path) or not all(entry.is_text for entry in entries if entry):
            continue
        three = Three(*(ours.read(entry.oid) if entry else b"" for entry in entries))
        if any(map(has_many, three.each())):
            continue
        names = three.map(names_by_lines)
        # do not parse if the lines show that a side kept each resource
        if names.base is None or not names.base <= (names.ours or set()) | (names.theirs or set()):
            yield from _taken(path, three.map(YamlText), ours, theirs)


def _taken(
    path: str, texts: Three[YamlText], ours: Arrivals, theirs: Arrivals
) -> Iterator[TakenByBoth]:
    at = texts.map(places)
    for key, before in at.base.items():
        if key in at.ours or key in at.theirs:
            continue
        here = ours.target(path, key, before, texts.ours.data)
        there = theirs.target(path, key, before, texts.theirs.data)
        if here is not None and there is not None and (here or there):
            yield TakenByBoth(describe(key), key, path, here, there, before)


def edits_of_both(taken: TakenByBoth, three: Three[bytes]) -> tuple[MovedEdit, ...]:
    """Return the edits of a resource that both sides moved to the same file, if these differ."""
    if taken.key in places(YamlText(three.base)):
        return ()  # a killed run has written the base of the resource into the stages
    here, there = (places(YamlText(data)).get(taken.key) for data in (three.ours, three.theirs))
    if here is None or there is None:
        return ()
    ours = _edit(taken, taken.ours, here, there, "theirs")
    theirs = _edit(taken, taken.ours, there, here, "ours")
    if ours is None or theirs is None or ours.edited_text == theirs.edited_text:
        return ()
    is_fit = all(edit.fits(data) for edit in (ours, theirs) for data in (three.ours, three.theirs))
    return (ours, theirs) if is_fit else ()


def _edit(
    taken: TakenByBoth, target: str, after: Stand, arrived: Stand, mover: str
) -> MovedEdit | None:
    """Return the change from the base to `after` as an edit for the place `arrived`."""
    whole = not (taken.before.is_item or after.is_item or arrived.is_item)
    before = taken.before if whole else taken.before.bare()
    edited = after if whole else after.bare()
    if before is None or edited is None:
        return None
    texts = before.text, edited.text
    return MovedEdit(taken.resource, taken.key, taken.source, target, mover, *texts, whole)


def is_proposal(three: Three[bytes | None]) -> bool:
    """Return whether three stages propose in which of two files a resource stays.

    The stages of a file with the edit of a moved resource have the same resources on both sides.
    """
    base, ours, theirs = three.each()
    if base != theirs or ours == base:
        return base == theirs
    names = [places(YamlText(data or b"")).keys() for data in (base, ours)]
    return names[0] != names[1]


def has_resource(data: bytes, key: Identity) -> bool:
    """Return whether a file has a resource exactly once."""
    return key in places(YamlText(data))


def cut(data: bytes, key: Identity) -> tuple[str, str, str] | None:
    """Split the text of a file into the part before a resource, the resource, and the rest.

    The file without the middle part is the file without the resource. Return None if the lines of
    the resource cannot be taken out.
    """
    text = YamlText(data)
    place = places(text).get(key)
    if place is None:
        return None
    lines, documents = text.source.text, text.stream.documents
    at = next(n for n, d in enumerate(documents) if d.start <= place.start < d.end)
    holder = documents[at]
    start, end = place.start, place.end
    if not place.is_item or len(items_of(holder.root)) == 1:
        start, end = holder.start, holder.end
        following = documents[at + 1].opening if at + 1 < len(documents) else ""
        if at == 0 and not holder.opening and following == "---\n":
            end += len(following)
    return lines[:start], lines[start:end], lines[end:]


def without_resource(data: bytes, key: Identity) -> bytes | None:
    """Return a file without a resource, or None if nothing else is in the file."""
    parts = cut(data, key)
    if parts is None:
        return data
    head, _, tail = parts
    return YamlText(data).source.encode(head + tail) if (head + tail).strip() else None
