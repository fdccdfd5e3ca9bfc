"""Decide by the two-way rules: the source wins over the destination, and there is no base.

The rule numbers are the numbers in docs/merge-rules.md. A `$patch` in a source is an instruction
and not data.

>>> merge2("replicas: 2\n", "replicas: 1\nimage: web\n")
'replicas: 2\nimage: web\n'
"""

from __future__ import annotations

from kmerge_git.errors import CannotParse, RepeatedKey, TextOnly, Unsupported
from kmerge_git.merge.decide.keyed import by_key
from kmerge_git.merge.decide.order import insert_new
from kmerge_git.merge.decide.rules import Reading
from kmerge_git.merge.kyaml.kyaml_merges import (
    Result,
    is_text,
    kept,
    merged_by,
    opened,
    placed,
    refuses,
    why_no_fields,
)
from kmerge_git.merge.kyaml.value_parts import (
    TWO_WAY,
    added_rule,
    document_holds_null,
    excluded,
    holds_null,
    is_null_field,
    null,
    own,
    part_of,
    tables_of,
    taken,
    took,
    updated_value,
    without,
)
from kmerge_git.merge.pairing import likely_same
from kmerge_git.merge.plan import Build, Item, Keep, Note, Plan, Take
from kmerge_git.merge.three import Three
from kmerge_git.text.opaque_files import SEALED
from kmerge_git.tree.nodes import Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.merge.decide.rules import KeyPaths, Keys, Notes, Place, Riddle, Table
    from kmerge_git.merge.plan import Line, Lines
    from kmerge_git.tree.documents import Document


def merge2(src: str, dest: str, *, infer: bool = True, prepend: bool = False) -> str:
    """Merge the fields of src over the fields of dest; a null in src clears a field."""
    return merge2_bytes(src.encode(), dest.encode(), infer=infer, prepend=prepend).data.decode()


def merge2_bytes(
    src: bytes,
    dest: bytes,
    *,
    infer: bool = True,
    prepend: bool = False,
    path: str = "",
    names: tuple[str, str] = ("src", "dest"),
) -> Result:
    """Merge (src, dest) as `merge2` does, but merge bytes and list the decisions."""
    rules = TwoWayRules(infer=infer, prepend=prepend)
    texts = Three(b"", dest, src)
    versions = opened(texts, Three("", names[1], names[0]))
    if refuses(versions):
        raise Unsupported(
            SEALED, path=names[1], hint="decrypt the versions, merge them, and encrypt the result"
        )
    try:
        return merged_by(rules, TWO_WAY, versions, path)
    except (CannotParse, TextOnly) as error:
        if isinstance(error, RepeatedKey):
            raise placed(error, versions) from None
        if not is_text(error, texts):
            raise
        if src == dest:
            return Result(dest)
        return kept(
            texts, "a line merge needs a base; the lines of `dest` are kept", why_no_fields(error)
        )
    except Unsupported as error:
        raise placed(error, versions) from None


class TwoWayRules:
    """Merge source (theirs) over destination (ours); the base is always absent."""

    __slots__ = ("infer", "prepend")
    stops = False

    def __init__(self, *, infer: bool = True, prepend: bool = False) -> None:
        self.infer = infer
        self.prepend = prepend

    # -- documents

    def twins(self, ours: list[Document], theirs: list[Document]) -> list[tuple[int, int]]:
        lone = _lone_pair(ours, theirs)
        others = likely_same(ours, theirs)
        return lone + [(i, j) for i, j in others if all(i != a and j != b for a, b in lone)]

    def reading(self, at: Three[Document | None]) -> Reading:
        """Follow a `$patch` at the top of the source (rule T22).

        If the source has no such `$patch`, follow its nulls and its other `$patch` instructions.
        """
        ours, theirs = at.ours, at.theirs
        root = theirs.root if theirs is not None else None
        directive = directive_of(root) if root is not None else ""
        if directive == "delete":
            return Reading(gone=True)
        if ours is None or theirs is None:
            return Reading()
        live = instructions(theirs)
        if directive == "replace" and isinstance(ours.root, Mapping) and isinstance(root, Mapping):
            return Reading(live, replaced(ours.root, root))
        return Reading(live)

    def added(self, document: Document) -> Plan | None:
        """Return the plan for a new document, without nulls and `$patch` instructions (rule T16).

        Return None if the document has neither nulls nor instructions.
        """
        if document.root is None or instructions(document) is None:
            return None
        plan = without(Keep(document.root), is_nothing)
        return plan if isinstance(plan, Build) else None

    def document_clash(self, why: str) -> tuple[str, Notes]:
        """Replace a document if its value has another kind in the source (rule T18)."""
        return "theirs", [Note((), "replaced", "theirs", "T18")]

    # -- entries

    def took(self, ours: Node, theirs: Node, place: Place) -> Note:
        return took(ours, theirs, place.path)

    def alone(self, at: Three[Entry | None], place: Place) -> tuple[Item | None, Notes]:
        if at.ours is not None:
            return own(at.ours, place), []
        assert at.theirs is not None  # the caller guarantees this
        notes = [Note(place.path, "added", "theirs", added_rule(at.theirs))]
        item = None if is_directive(at.theirs) else taken(at.theirs, place)
        return item, notes

    def clash(self, at: Three[list[Entry]], why: str, place: Place) -> tuple[list[Item], Notes]:
        """Take the value of the source, and drop the comment that follows the old value."""
        ours, theirs = at.ours[0], at.theirs[0]
        return [taken(theirs, place, over=ours)], [_replaced(place.path, ours, theirs)]

    # -- values

    def text(self, at: Three[Node | None], place: Place) -> tuple[Plan | None, Notes]:
        return None, []

    def winner(self, at: Three[Entry | None], place: Place) -> tuple[Plan | None, Notes]:
        """Take the value of the source."""
        assert at.ours is not None and at.theirs is not None  # the caller guarantees this
        other_kind = type(at.ours.value) is not type(at.theirs.value)
        note = _replaced(place.path, at.ours, at.theirs, other_kind=other_kind)
        return updated_value(at.ours, at.theirs, place), [note]

    def exclusive(
        self, at: Three[Mapping | None], group: Collection[str], names: list[str], place: Place
    ) -> tuple[list[str] | None, Notes]:
        gone = excluded(at, names)
        notes = [_replaced((*place.path, name), e) for name, e in gone.items()]
        return list(gone), notes

    # -- lists and order

    def keyed(self, at: Three[Sequence | None], rule: ListRule) -> Three[Table] | None:
        ours, theirs = at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller guarantees this
        there = data_of(theirs)
        if ours.entries and not there:
            return None
        return by_key(Three((), ours.entries, there), rule, infer=self.infer)

    def renamed(
        self, tables: Three[Table], key_paths: KeyPaths, rule: ListRule | None
    ) -> tuple[Three[Table], list[Riddle]]:
        return tables, []  # another key is another element

    def unkeyed(self, at: Three[Sequence | None], place: Place) -> Plan | None:
        """Replace the list of the destination by the list of the source (rule T5).

        An empty list in the source does not change a keyed list (rule T17).
        """
        ours, theirs = at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller guarantees this
        there = data_of(theirs)
        if ours.entries and not there:
            mine = Three(None, ours, None)
            has_keys = tables_of(mine, place.where.list_rule(), infer=self.infer) is not None
            return Keep(ours) if has_keys else None
        if len(there) == len(theirs.entries):
            return Keep(ours) if same_node(ours, theirs) else None
        mark = ours.anchor, ours.tag, len(ours.entries)
        alike = mark == (theirs.anchor, theirs.tag, len(there))
        pairs = zip(ours.entries, there, strict=False)
        return Keep(ours) if alike and all(same_node(a.value, b.value) for a, b in pairs) else None

    def order(
        self, tables: Three[Table], kept: dict[Hashable, Item], rule: ListRule | None
    ) -> Keys | None:
        """Put new elements last, or put them first with `prepend` (rules T12 and T20).

        A new field gets the same neighbours as in the source (rule T21).
        """
        elements = rule is not None
        result = insert_new(
            list(tables.ours),
            list(tables.theirs),
            at_end=elements and not self.prepend,
            in_front=elements,
        )
        return [key for key in result if key in kept]

    # -- the text between values

    def lines(self, lines: Three[list[Line]], *, is_new: bool = False) -> Lines | None:
        """Keep the comments of the destination (rule T23)."""
        return None

    def tail(self, tails: Three[str], plan: Plan) -> tuple[str | None, bool]:
        """Take the trailing comment of the source, if it exists (rule T14)."""
        new = tails.theirs.strip() not in ("", tails.ours.strip())
        if isinstance(plan, Take) and isinstance(plan.node, Scalar):
            new = bool(tails.theirs.strip())
        return tails.theirs if new else None, False

    def piece(self, at: Three[str]) -> str | None:
        """Keep keys, anchors and tags as they are in the destination."""
        return None


def _replaced(
    path: Path, ours: Entry, theirs: Entry | None = None, *, other_kind: bool = False
) -> Note:
    """Return the note for a value that the source replaces.

    The user asked for the replacement, so the note does not say `lost`.
    """
    is_list = theirs is not None and isinstance(theirs.value, Sequence)
    number = "T18" if other_kind else "T5" if is_list else "T2"
    source = without_marker(theirs.value) if theirs is not None else ""
    return Note(path, "replaced", "theirs", number, ours.value.raw, source)


def _lone_pair(ours: list[Document], theirs: list[Document]) -> list[tuple[int, int]]:
    """Pair a source without a resource name with the only resource of the destination."""
    from kmerge_git.kube.identity import identity

    here, there = (
        [(n, document) for n, document in enumerate(documents) if document.root is not None]
        for documents in (ours, theirs)
    )
    nameless = [d for _, d in there if identity(d.root) is None]
    if not nameless or not all(identity(d.root) for _, d in here):
        return []
    hint = "add apiVersion, kind and metadata.name to the source"
    if len(there) > 1 or len(here) > 1:
        raise _unclear(
            nameless[0], "kmerge cannot determine the resource that this source applies to", hint
        )
    if not here:
        return []
    source, dest = nameless[0].root, here[0][1].root
    if not isinstance(source, Mapping) or not isinstance(dest, Mapping):
        raise _unclear(nameless[0], "the source is not a resource or a part of one", hint)
    for field in ("apiVersion", "kind"):
        wanted, known = source.get(field), dest.get(field)
        if wanted is not None and (known is None or not same_node(wanted, known)):
            raise _unclear(
                nameless[0],
                f"the {field} of the source differs from the one in the destination",
                hint,
            )
    return [(here[0][0], there[0][0])]


def _unclear(document: Document, why: str, hint: str) -> Unsupported:
    line, column = document.source.position(document.body)
    path = document.source.path
    return Unsupported(why, path=path, line=line, column=column, hint=hint)


class Instructions:
    """Apply the nulls and `$patch` instructions of a source; see `decide.rules.Live`."""

    __slots__ = ("nulls",)

    def __init__(self, *, nulls: bool) -> None:
        self.nulls = nulls  # whether the source holds a null

    def instructed(self, at: Three[Entry | None], place: Place) -> tuple[Item | None, Notes] | None:
        """Apply a `$patch` or a null of the source to an entry.

        A `$patch` has priority over a null. An element that holds only a `$patch` is an instruction
        for the whole list (rule T22). A null in the source clears the entry (rules T3, T6, T9 and
        T16). A null in the destination stays (rule T15).
        """
        ours, theirs = at.ours, at.theirs
        if theirs is None:
            return None
        marker = _marker(theirs.value)
        directive = directive_of(marker.value if marker else theirs.value)
        if directive == "delete":
            return None, [Note(place.path, "$patch: delete", "theirs", "T22")]
        if directive == "replace":
            taken = Take(theirs.value, theirs, part=self.part(theirs))
            notes = [Note(place.path, "$patch: replace", "theirs", "T22")]
            return Item(taken, ours, theirs, place.path), notes
        if theirs.key is None or not null(theirs.value):
            return None
        if ours is None:
            return None, []
        rule = "T6" if isinstance(ours.value, Sequence) else "T3"
        return None, [Note(place.path, "cleared by null", "theirs", rule)]

    def enters(self, ours: Node, theirs: Node) -> bool:
        return (self.nulls and holds_null(theirs)) or "$patch" in theirs.raw

    def part(self, theirs: Entry) -> Plan | None:
        """Return an added value without its nulls and `$patch` instructions (rule T16).

        Return None if the value has neither nulls nor instructions.
        """
        value = theirs.value
        if not self.nulls and "$patch" not in value.raw:
            return None
        whole: Plan = Keep(value)
        if isinstance(value, Sequence) and _marker(value) is not None:
            data = [Item(Keep(entry.value), entry, entry, ()) for entry in data_of(value)]
            whole = Build(value, value, data)
        return part_of(theirs, [without(whole, is_nothing), whole])

    def own(self, ours: Entry) -> Plan:
        """Return a value that only the destination has; drop its nulls if the source has nulls."""
        whole = Keep(ours.value)
        return without(whole, is_null_field) if self.nulls else whole


def instructions(document: Document) -> Instructions | None:
    """Return the `Instructions` of a source, or None if the source has no null and no `$patch`."""
    nulls = document_holds_null(document)
    return Instructions(nulls=nulls) if nulls or "$patch" in document.content else None


def directive_of(node: Node) -> str:
    """Return the value of `$patch` in a mapping, or '' if the mapping has no `$patch`."""
    value = node.get("$patch") if isinstance(node, Mapping) else None
    if value is None:
        return ""
    name = value.value if isinstance(value, Scalar) else ""
    if name not in ("replace", "delete", "merge"):
        line = value.text.count("\n", 0, value.start) + 1
        raise Unsupported(
            f"unknown $patch directive {name!r}",
            line=line,
            column=value.start - value.text.rfind("\n", 0, value.start),
            hint="use replace, delete or merge",
            excerpt=value.text.split("\n", line)[line - 1],
        )
    return name


def _marker(node: Node) -> Entry | None:
    """Return the first element of a list that holds only a `$patch`, or None."""
    for element in node.entries if isinstance(node, Sequence) else ():
        value = element.value
        if isinstance(value, Mapping) and [e.name for e in value.entries] == ["$patch"]:
            return element
    return None


def data_of(value: Sequence) -> list[Entry]:
    """Return the elements of a list without the element that holds only a `$patch`."""
    marker = _marker(value)
    return [entry for entry in value.entries if entry is not marker]


def is_nothing(entry: Entry) -> bool:
    """Return whether an entry is a null or a `$patch`, and so adds nothing."""
    return null(entry.value) or is_directive(entry)


def is_directive(entry: Entry) -> bool:
    return entry.key is not None and entry.name == "$patch"


def replaced(ours: Mapping, theirs: Mapping) -> Build:
    """Follow a `$patch: replace` of a document: take only the fields of the source (rule T22)."""
    data = [entry for entry in theirs.entries if not is_directive(entry)]
    parts = [part_of(entry, [without(Keep(entry.value), is_nothing)]) for entry in data]
    fresh = [
        Item(Take(entry.value, entry, part=part), None, entry, (entry.name,))
        for entry, part in zip(data, parts, strict=True)
    ]
    return Build(ours, theirs, fresh)


def without_marker(value: Node) -> str:
    """Return the text of a list without the element that holds only a `$patch`."""
    marker = _marker(value)
    if not isinstance(value, Sequence) or marker is None:
        return value.raw
    starts = [entry.start for entry in value.entries if entry.start > marker.start]
    end = starts[0] if starts else marker.value.end
    return value.text[value.start : marker.start] + value.text[end : value.end]
