"""`$patch` in a source of merge2: it instructs, it is no data."""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.merge.journal import Note
from kmerge_git.merge.kyaml.nulls import document_holds_null, holds_null, is_null_field, null
from kmerge_git.merge.kyaml.parts import part_of, without
from kmerge_git.merge.plan import Build, Item, Keep, Plan, Take
from kmerge_git.merge.three import Three
from kmerge_git.tree.nodes import Entry, Mapping, Node, Scalar, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.decide.rules import Notes, Place
    from kmerge_git.tree.documents import Document


class Instructions:
    """A source with nulls or directives; see `decide.rules.Live`."""

    __slots__ = ("nulls",)

    def __init__(self, *, nulls: bool) -> None:
        self.nulls = nulls  # whether there is a null in it

    def instructed(self, at: Three[Entry | None], place: Place) -> tuple[Item | None, Notes] | None:
        """T22: `$patch` in the source decides first; alone in an element it means the list.

        T3, T6, T9, T16: a null in the source clears; T15: one in the destination stays.
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
        return None, [Note(place.path, "null clears", "theirs", rule)]

    def enters(self, ours: Node, theirs: Node) -> bool:
        return (self.nulls and holds_null(theirs)) or "$patch" in theirs.raw

    def part(self, theirs: Entry) -> Plan | None:
        """T16: neither a null nor a directive is of use in what is added."""
        value = theirs.value
        if not self.nulls and "$patch" not in value.raw:
            return None
        whole: Plan = Keep(value)
        if isinstance(value, Sequence) and _marker(value) is not None:
            data = [Item(Keep(entry.value), entry, entry, ()) for entry in data_of(value)]
            whole = Build(value, value, data)
        return part_of(theirs, [without(whole, is_nothing), whole])

    def own(self, ours: Entry) -> Plan:
        """A source with nulls takes those away that stand inside of what only ours has."""
        whole = Keep(ours.value)
        return without(whole, is_null_field) if self.nulls else whole


def instructions(document: Document) -> Instructions | None:
    """What clears or instructs in a source; None: nothing does."""
    nulls = document_holds_null(document)
    return Instructions(nulls=nulls) if nulls or "$patch" in document.content else None


def directive_of(node: Node) -> str:
    """The value of a mapping's `$patch`; nothing where there is none."""
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
    """The element of a list that holds a `$patch` and nothing else."""
    found = (e for e in node.entries if _is_marker(e)) if isinstance(node, Sequence) else ()
    return next(iter(found), None)


def _is_marker(element: Entry) -> bool:
    value = element.value
    return isinstance(value, Mapping) and [e.name for e in value.entries] == ["$patch"]


def data_of(made: Sequence) -> list[Entry]:
    """The elements of a list without the first that is an instruction for the list."""
    marker = _marker(made)
    return [entry for entry in made.entries if entry is not marker]


def is_nothing(entry: Entry) -> bool:
    """Whether an entry adds nothing: a null, or an instruction."""
    return null(entry.value) or is_directive(entry)


def is_directive(entry: Entry) -> bool:
    return entry.key is not None and entry.name == "$patch"


def replaced(ours: Mapping, theirs: Mapping) -> Build:
    """T22, at the top of a document: the fields of the source, and no others."""
    data = [entry for entry in theirs.entries if not is_directive(entry)]
    parts = [part_of(entry, [without(Keep(entry.value), is_nothing)]) for entry in data]
    fresh = [
        Item(Take(entry.value, entry, part=part), None, entry, (entry.name,))
        for entry, part in zip(data, parts, strict=True)
    ]
    return Build(ours, theirs, fresh)


def told(value: Node) -> str:
    """The text of a value, without an element that is an instruction."""
    marker = _marker(value)
    if not isinstance(value, Sequence) or marker is None:
        return value.raw
    starts = [entry.start for entry in value.entries if entry.start > marker.start]
    end = starts[0] if starts else marker.value.end
    return value.text[value.start : marker.start] + value.text[end : value.end]
