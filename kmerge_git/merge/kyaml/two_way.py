"""The two-way rules of the seeds: source over destination, as rules `kyaml` without a base.

The numbers are those of docs/merge-rules.md.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.merge.decide.order import insert_new
from kmerge_git.merge.derive import derived, pruned
from kmerge_git.merge.kyaml.nulls import document_holds_null, holds_null, null
from kmerge_git.merge.kyaml.numbers import TWO_WAY
from kmerge_git.merge.kyaml.three_way import KyamlRules
from kmerge_git.merge.plan import Build, Item, Keep, Plan, Take, TextClash
from kmerge_git.merge.three import Three
from kmerge_git.tree.nodes import Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.merge.journal import Journal
    from kmerge_git.tree.documents import Document


class TwoWayRules(KyamlRules):
    """Source (theirs) over destination (ours); the base is always absent."""

    name = "two-way"
    numbers = TWO_WAY

    def __init__(self, journal: Journal, *, infer: bool = True, prepend: bool = False) -> None:
        super().__init__(journal, infer=infer)
        self.prepend = prepend

    def lone_pair(self, ours: list[Document], theirs: list[Document]) -> list[tuple[int, int]]:
        """A source that names no resource is for the one resource that there is."""
        from kmerge_git.kube.identity import identity

        nameless = [d for d in theirs if d.content.strip() and identity(d.root) is None]
        named = [d for d in ours if identity(d.root) is not None]
        if not nameless or len(named) < len(ours):
            return []
        hint = "give it apiVersion, kind and metadata.name"
        if len(theirs) > 1 or len(ours) > 1:
            raise _unclear(nameless[0], "which resource this is for cannot be told", hint)
        source, dest = nameless[0].root, named[0].root
        if not isinstance(source, Mapping) or not isinstance(dest, Mapping):
            raise _unclear(nameless[0], "this is no resource, and no part of one", hint)
        for field in ("apiVersion", "kind"):
            told, known = source.get(field), dest.get(field)
            if told is not None and (known is None or not same_node(told, known)):
                raise _unclear(nameless[0], f"its {field} is not that of the destination", hint)
        return [(0, 0)]

    def cleared(self, at: Three[Entry | None], path: Path, where: Where) -> bool:
        """T3, T6, T9, T16: a null in the source clears; T15: one in the destination stays."""
        ours, theirs = at.ours, at.theirs
        if theirs is None or theirs.key is None or not null(theirs.value):
            return False
        if ours is not None:
            rule = "T6" if isinstance(ours.value, Sequence) else "T3"
            self.journal.note(path, "null clears", "theirs", rule)
        return True

    def lose(
        self, path: Path, what: str, rule: str, ours: Node | None, theirs: Node | None
    ) -> None:
        """What the source replaces is what the user asked for: nothing is lost."""
        number = "T18" if rule == "M26" else "T5" if isinstance(theirs, Sequence) else "T2"
        dest, src = (node.raw if node is not None else "" for node in (ours, theirs))
        self.journal.note(path, "replaced", "theirs", number, dest, src)

    def document_side(self, path: Path, why: str) -> str:
        """T18: a document of another kind of value is replaced."""
        self.journal.note(path, "replaced", "theirs", "T18")
        return "theirs"

    def set_order(self, order: list[Hashable], ours: dict[Hashable, Entry]) -> list[Hashable]:
        """T12, T20: as with elements that have keys."""
        return order

    def entry(self, at: Three[Entry | None], path: Path, where: Where) -> Item | None:
        """T22: `$patch` in the source decides first; alone in an element it means the list."""
        theirs = at.theirs
        if theirs is not None:
            marker = _marker(theirs.value)
            directive = _directive(marker.value if marker else theirs.value)
            if directive == "delete":
                self.journal.note(path, "$patch: delete", "theirs", "T22")
                return None
            if marker is not None:
                theirs = _without(theirs, marker)
            if directive == "replace":
                self.journal.note(path, "$patch: replace", "theirs", "T22")
                return self.replaced(at.ours, theirs, path)
        return super().entry(Three(None, at.ours, theirs), path, where)

    def drops_document(self, at: Three[Document | None]) -> bool:
        """T22: `$patch: delete` at the top of a document of the source."""
        root = at.theirs.root if at.theirs is not None else None
        return root is not None and _directive(root) == "delete"

    def must_enter(self, ours: Node, theirs: Node) -> bool:
        """Whether something in the source clears or instructs."""
        return (self.nulls and holds_null(theirs)) or "$patch" in theirs.raw

    def replaced(self, ours: Entry | None, theirs: Entry, path: Path) -> Item:
        """The source's value in the place of the destination's."""
        entry = self.without_nulls(theirs)
        return Item(Take(entry.value, entry), ours, entry, path)

    def may_skip(self, ours: Entry, theirs: Entry) -> bool:
        """Equal lines decide, unless a null or a directive stands in them."""
        return super().may_skip(theirs, theirs) and "$patch" not in theirs.value.raw

    def may_skip_documents(self, at: Three[Document | None]) -> bool:
        """Equal documents decide, unless a null or a directive stands in them."""
        theirs = at.theirs
        if theirs is None or at.ours is None:
            return True
        self.nulls = document_holds_null(theirs)
        same = at.ours.content == theirs.content
        return same and not self.nulls and "$patch" not in theirs.content

    def without_nulls(self, theirs: Entry) -> Entry:
        """T16: neither is a directive of use in what is added."""
        if not self.nulls and "$patch" not in theirs.value.raw:
            return theirs
        return pruned(theirs, self.is_nothing)

    def is_to_prune(self, theirs: Document) -> bool:
        """T16, for a document."""
        return "$patch" in theirs.content or super().is_to_prune(theirs)

    def is_nothing(self, entry: Entry) -> bool:
        """T16: a null, and an instruction."""
        return null(entry.value) or _is_directive(entry)

    def mappings(self, at: Three[Mapping | None], path: Path, where: Where) -> Plan | None:
        """T22: `$patch` is an instruction, no field."""
        ours, theirs = at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller's case
        if _directive(theirs) == "replace":  # at the top of a document
            fresh = [self.taken(e, (*path, e.name)) for e in theirs.entries if not _is_directive(e)]
            return Build(ours, theirs, fresh)
        plan = super().mappings(at, path, where)
        if isinstance(plan, Build):
            own = [i for i in plan.items if i.ours is not None or not _is_directive(i.theirs)]
            plan.items[:] = own
        return plan

    def sequences(self, at: Three[Sequence | None], path: Path, where: Where) -> Plan | None:
        """T17: `[]` changes no keyed list."""
        ours, theirs = at.ours, at.theirs
        assert ours is not None and theirs is not None  # the caller's case
        if not theirs.entries and ours.entries and self.has_keys(ours, where):
            return Keep(ours)
        return super().sequences(at, path, where)

    def unkeyed(self, at: Three[Sequence | None], path: Path, where: Where) -> Plan | None:
        """T5: the source's list replaces the destination's."""
        return super().unkeyed(Three(None, at.ours, at.theirs), path, where)

    def order(
        self, tables: Three[dict[Hashable, Entry]], items: dict[Hashable, Item]
    ) -> tuple[list[Hashable], bool]:
        """T12: new elements last; T20: in front with `prepend`; T21: new fields by neighbour."""
        ours, theirs = list(tables.ours), list(tables.theirs)
        elements = any(e.key is None for e in [*tables.ours.values(), *tables.theirs.values()])
        result = insert_new(ours, theirs, at_end=elements and not self.prepend, in_front=elements)
        return [key for key in result if key in items], False

    def comment_lines(self, lines: Three[list[str]]) -> list[list[str] | TextClash] | None:
        """T23: the destination's comments stay."""
        return None

    def tail(self, tails: Three[str]) -> tuple[str | None, bool]:
        """T14: the source's trailing comment, if there is one."""
        text = (
            tails.theirs
            if tails.theirs.strip() and tails.theirs.strip() != tails.ours.strip()
            else None
        )
        return text, False

    def pick(self, at: Three[str]) -> str | None:
        """Keys, anchors and tags stay as the destination has them."""
        return None


def _directive(node: Node) -> str:
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
    for entry in node.entries if isinstance(node, Sequence) else ():
        if isinstance(entry.value, Mapping) and [e.name for e in entry.value.entries] == ["$patch"]:
            return entry
    return None


def _without(entry: Entry, marker: Entry) -> Entry:
    """An entry of a list without one element."""
    value = entry.value
    assert isinstance(value, Sequence)  # the caller's case
    items = [Item(Keep(e.value), e, e, ()) for e in value.entries if e is not marker]
    return derived(entry, Build(value, value, items))


def _is_directive(entry: Entry | None) -> bool:
    return entry is not None and entry.name == "$patch"


def _unclear(document: Document, why: str, hint: str) -> Unsupported:
    line, column = document.source.position(document.body)
    path = document.source.path
    return Unsupported(why, path=path, line=line, column=column, hint=hint)
