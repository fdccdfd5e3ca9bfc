"""The questions of the walk, which a rule set answers, and what it is told about a place.

An answer is a value: no question writes, remembers or changes anything. What a rule set decides
comes with the notes for the journal; the walk writes them down.
"""

from __future__ import annotations

from kmerge_git.merge.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable
    from typing import Protocol

    from kmerge_git.kube.fieldpath import Path, Step
    from kmerge_git.kube.listkeys import ListRule, Where
    from kmerge_git.merge.journal import Journal, Note
    from kmerge_git.merge.plan import Item, Line, Lines
    from kmerge_git.merge.three import Three
    from kmerge_git.tree.documents import Document
    from kmerge_git.tree.nodes import Entry, Mapping, Node, Sequence

    Keys = list[Hashable]
    Table = dict[Hashable, Entry]
    KeyPaths = Collection[tuple[str, ...]]  # the fields of an element that are its key
    Notes = list[Note]
    Policy = Callable[
        [Path, list[Entry], list[Entry], list[Entry], "Place | None"], "Ruling | None"
    ]


class Riddle:
    """Elements, by their keys, of which only a person can say what belongs together."""

    __slots__ = ("keys", "why")

    def __init__(self, keys: Iterable[Hashable], why: str) -> None:
        self.keys = set(keys)
        self.why = why


def shared_out(table: Table, riddles: list[Riddle]) -> list[Table]:
    """What a version has of each riddle; no key is in two of them."""
    parts: list[Table] = [{} for _ in riddles]
    number_of = {key: number for number, riddle in enumerate(riddles) for key in riddle.keys}
    for key in [key for key in table if key in number_of] if riddles else ():
        parts[number_of[key]][key] = table[key]
    return parts


BY_ELEMENTS = Plan()  # the answer for a list without keys that merges element by element


class Place:
    """Where the walk is, with what a rule set may have to know there; never changed."""

    __slots__ = ("list_rule", "lists", "live", "maps", "path", "where")

    def __init__(
        self,
        path: Path,
        where: Where,
        live: Live | None = None,
        list_rule: ListRule | None = None,
        lists: Three[Sequence | None] | None = None,
        maps: Three[Mapping | None] | None = None,
    ) -> None:
        self.path = path
        self.where = where
        self.live = live  # set where something in the document may clear or instruct
        self.list_rule = list_rule  # of the list whose element this is
        self.lists = lists  # the three versions of that list
        self.maps = maps  # those of the mapping whose entry this is

    def within(self, node: Node | None) -> Place:
        """The place of a mapping, once it may say which kind it is."""
        return Place(self.path, self.where.at(node), self.live)

    def key(self, name: str, maps: Three[Mapping | None] | None = None) -> Place:
        """The place below a key of the mapping here."""
        return Place((*self.path, name), self.where.child(name), self.live, maps=maps)

    def elements(self, lists: Three[Sequence | None]) -> Place:
        """The place of each element of the list here; `step` says of which one."""
        rule = self.where.list_rule()
        return Place(self.path, self.where.items(), self.live, rule, lists)

    def step(self, step: Step) -> Place:
        """The same, one step further."""
        return Place((*self.path, step), self.where, self.live, self.list_rule, self.lists)


class Ruling:
    """What a policy says about a clash: whose side, a plan for the value alone, or why nothing.

    `neither`: the plan has a value that no side has, and `what` says which.
    """

    __slots__ = ("plan", "refused", "rule", "side", "taken", "what")

    def __init__(
        self,
        side: str,
        rule: str,
        *,
        plan: Plan | None = None,
        taken: list[Entry] | None = None,
        what: str = "",
        refused: str = "",
    ) -> None:
        self.side = side  # ours, theirs, union, neither; nothing: it stays a clash
        self.rule = rule
        self.plan = plan  # the value, where the comments around it are merged as always
        self.taken = taken  # what a union takes of theirs
        self.what = what
        self.refused = refused  # why no policy speaks, though one is set for the place


class Reading:
    """What a document says about its own merge, before its fields are compared."""

    __slots__ = ("gone", "live", "plan", "whole")

    def __init__(
        self,
        live: Live | None = None,
        plan: Plan | None = None,
        *,
        gone: bool = False,
        whole: bool = True,
    ) -> None:
        self.live = live  # see `Place`
        self.plan = plan  # it replaces the other as a whole
        self.gone = gone  # it deletes the other
        self.whole = whole  # what no side changed must be read, too: the notes tell values


if TYPE_CHECKING:

    class Rules(Protocol):
        """What differs between rule sets; everything else is the walk's."""

        stops: bool  # whether a person is asked where a merge could be made, and be wrong

        # -- documents

        def twins(self, ours: list[Document], theirs: list[Document]) -> list[tuple[int, int]]:
            """Which documents that both sides added are one resource."""

        def reading(self, at: Three[Document | None]) -> Reading:
            """What the document of a pair says about its merge."""

        def added(self, document: Document) -> Plan | None:
            """What of a document of theirs is added; None: all of it."""

        def document_clash(self, why: str) -> tuple[str, Notes]:
            """Whose document stands where the fields cannot tell; nothing: a person must say."""

        # -- entries of mappings and elements of lists

        def took(self, ours: Node, theirs: Node, place: Place) -> Note:
            """What to say where theirs alone changed a value."""

        def alone(self, at: Three[Entry | None], place: Place) -> tuple[Item | None, Notes]:
            """What becomes of an entry that one side does not have."""

        def clash(self, at: Three[list[Entry]], why: str, place: Place) -> tuple[list[Item], Notes]:
            """What stands where both sides have something and neither can be preferred."""

        # -- values

        def text(self, at: Three[Node | None], place: Place) -> tuple[Plan | None, Notes]:
            """Two different scalars merged line by line; None: they cannot be."""

        def winner(self, at: Three[Entry | None], place: Place) -> tuple[Plan | None, Notes]:
            """The value that stands where both sides changed it; None: a person must say."""

        def exclusive(
            self, at: Three[Mapping | None], group: Collection[str], names: list[str], place: Place
        ) -> tuple[list[str] | None, Notes]:
            """Which of `names`, a group of fields that exclude each other, go; None: a clash."""

        # -- the elements of lists, and the order of everything

        def keyed(self, at: Three[Sequence | None], rule: ListRule) -> Three[Table] | None:
            """The elements of each version by key; None: this list has no keys."""

        def renamed(
            self, tables: Three[Table], key_paths: KeyPaths, rule: ListRule | None
        ) -> tuple[Three[Table], list[Riddle]]:
            """The tables with renamed elements under their old keys, and what is uncertain."""

        def unkeyed(self, at: Three[Sequence | None], place: Place) -> Plan | None:
            """A list without keys; `BY_ELEMENTS`: merge the sequence. None: a person must say."""

        def order(
            self, tables: Three[Table], kept: dict[Hashable, Item], rule: ListRule | None
        ) -> Keys | None:
            """The kept keys in their order; None: both sides reordered them differently."""

        # -- the text between values

        def lines(self, lines: Three[list[Line]]) -> Lines | None:
            """Comment lines; None: ours stand as they are."""

        def tail(self, tails: Three[str], plan: Plan) -> tuple[str | None, bool]:
            """What follows a value (None: as ours has it), and whether a person must say."""

        def piece(self, at: Three[str]) -> str | None:
            """A key, or an anchor and tag, as text; None: as ours has it."""

    class Live(Protocol):
        """What in a document clears or instructs: equal texts do not decide there."""

        def instructed(
            self, at: Three[Entry | None], place: Place
        ) -> tuple[Item | None, Notes] | None:
            """What an entry is told to become; None: it is told nothing."""

        def enters(self, ours: Node, theirs: Node) -> bool:
            """Whether to look inside two values though one side, or both, left it alone."""

        def part(self, theirs: Entry) -> Plan | None:
            """What of an entry of theirs comes to ours; None: all of it."""

        def own(self, ours: Entry) -> Plan:
            """What stays of an entry that only ours has."""

    class Walker(Protocol):
        """The walk, for the merge of sequences, which is a part of it and may not import it."""

        @property
        def rules(self) -> Rules: ...
        @property
        def journal(self) -> Journal: ...
        def entry(self, at: Three[Entry | None], place: Place) -> Item | None: ...
        def clash(self, at: Three[list[Entry]], why: str, place: Place) -> list[Item]: ...
        def trial(self) -> Walker: ...
