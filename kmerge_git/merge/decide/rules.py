"""Define the questions of the walk, which a rule set answers, and what a rule set knows of a place.

An answer is a value: no question writes, remembers or changes anything. A decision of a rule set
comes with its notes for the journal; the walk writes them down.
"""

from __future__ import annotations

from kmerge_git.merge.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable
    from typing import Protocol

    from kmerge_git.kube.fieldpath import Path, Step
    from kmerge_git.kube.listkeys import ListRule, Where
    from kmerge_git.merge.plan import Item, Journal, Line, Lines, Note
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
    """These are elements, by their keys, of which only a person can say which belong together."""

    __slots__ = ("keys", "why")

    def __init__(self, keys: Iterable[Hashable], why: str) -> None:
        self.keys = set(keys)
        self.why = why


def shared_out(table: Table, riddles: list[Riddle]) -> list[Table]:
    """Return the entries that a version has of each riddle; no key is in two of them."""
    parts: list[Table] = [{} for _ in riddles]
    number_of = {key: number for number, riddle in enumerate(riddles) for key in riddle.keys}
    for key in [key for key in table if key in number_of] if riddles else ():
        parts[number_of[key]][key] = table[key]
    return parts


BY_ELEMENTS = Plan()  # the answer for a list without keys that merges element by element


class Place:
    """This says where the walk is, and what a rule set may have to know there; it never changes."""

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
        self.live = live  # set where a document may clear or instruct
        self.list_rule = list_rule  # of the list whose element this is
        self.lists = lists  # the three versions of that list
        self.maps = maps  # those of the mapping whose entry this is

    def within(self, node: Node | None) -> Place:
        """Return the place of a mapping, once it may say which kind it is."""
        return Place(self.path, self.where.at(node), self.live)

    def key(self, name: str, maps: Three[Mapping | None] | None = None) -> Place:
        """Return the place below a key of the mapping here."""
        return Place((*self.path, name), self.where.child(name), self.live, maps=maps)

    def elements(self, lists: Three[Sequence | None]) -> Place:
        """Return the place of the elements of the list here; `step` then says which one."""
        return Place(self.path, self.where.items(), self.live, self.where.list_rule(), lists)

    def step(self, step: Step) -> Place:
        """Return the same place, one step further."""
        return Place((*self.path, step), self.where, self.live, self.list_rule, self.lists)


class Ruling:
    """This is the answer of a policy to a clash: a side, a plan for the value alone, or a refusal.

    With the side `neither` the plan has a value that no side has, and `what` says which.
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
        self.side = side  # ours, theirs, union, neither; empty: it stays a clash
        self.rule = rule
        self.plan = plan  # the value, where the comments around it are merged as always
        self.taken = taken  # the entries of theirs in a union
        self.what = what
        self.refused = refused  # why no policy decides, though one is set for the place


class Reading:
    """This is what a document says about its own merge, before its fields are compared."""

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
        self.whole = whole  # parts that no side changed must be read, too: the notes have values


if TYPE_CHECKING:

    class Rules(Protocol):
        """Here rule sets differ; everything else is the same walk."""

        stops: bool  # a person is asked where a merge could be made, and be wrong

        # -- documents

        def twins(self, ours: list[Document], theirs: list[Document]) -> list[tuple[int, int]]:
            """Pair the documents that both sides added and that are one resource."""

        def reading(self, at: Three[Document | None]) -> Reading:
            """Return what the document of a pair says about its merge."""

        def added(self, document: Document) -> Plan | None:
            """Return the part of a document of theirs that is added; None: all of it."""

        def document_clash(self, why: str) -> tuple[str, Notes]:
            """Return whose document is taken where the fields cannot decide; nothing: ask
            a person.
            """

        # -- entries of mappings and elements of lists

        def took(self, ours: Node, theirs: Node, place: Place) -> Note:
            """Return the note for a value that theirs alone changed."""

        def alone(self, at: Three[Entry | None], place: Place) -> tuple[Item | None, Notes]:
            """Decide an entry that one side does not have."""

        def clash(self, at: Three[list[Entry]], why: str, place: Place) -> tuple[list[Item], Notes]:
            """Decide entries of both sides of which neither can be preferred."""

        # -- values

        def text(self, at: Three[Node | None], place: Place) -> tuple[Plan | None, Notes]:
            """Merge two different scalars line by line; None: they cannot be."""

        def winner(self, at: Three[Entry | None], place: Place) -> tuple[Plan | None, Notes]:
            """Decide a value that both sides changed; None: a person must."""

        def exclusive(
            self, at: Three[Mapping | None], group: Collection[str], names: list[str], place: Place
        ) -> tuple[list[str] | None, Notes]:
            """Return which of `names`, fields that exclude each other, go; None: a clash."""

        # -- the elements of lists, and the order of everything

        def keyed(self, at: Three[Sequence | None], rule: ListRule) -> Three[Table] | None:
            """Return the elements of each version by key; None: this list has no keys."""

        def renamed(
            self, tables: Three[Table], key_paths: KeyPaths, rule: ListRule | None
        ) -> tuple[Three[Table], list[Riddle]]:
            """Return the tables with renamed elements under their old keys, and what is
            uncertain.
            """

        def unkeyed(self, at: Three[Sequence | None], place: Place) -> Plan | None:
            """Merge a list without keys: by its elements (`BY_ELEMENTS`), or not (None)."""

        def order(
            self, tables: Three[Table], kept: dict[Hashable, Item], rule: ListRule | None
        ) -> Keys | None:
            """Return the kept keys in their order; None: both sides reordered them differently."""

        # -- the text between values

        def lines(self, lines: Three[list[Line]]) -> Lines | None:
            """Merge comment lines; None: ours stay as they are."""

        def tail(self, tails: Three[str], plan: Plan) -> tuple[str | None, bool]:
            """Merge the texts behind a value (None: ours), and tell whether a person must."""

        def piece(self, at: Three[str]) -> str | None:
            """Merge a key, or an anchor and tag, as text; None: ours."""

    class Live(Protocol):
        """Such a document clears or instructs: equal texts do not decide there."""

        def instructed(
            self, at: Three[Entry | None], place: Place
        ) -> tuple[Item | None, Notes] | None:
            """Return what the document makes of an entry; None: it has no instruction."""

        def enters(self, ours: Node, theirs: Node) -> bool:
            """Return whether to look inside two values though one side, or both, left it alone."""

        def part(self, theirs: Entry) -> Plan | None:
            """Return the part of an entry of theirs that comes to ours; None: all of it."""

        def own(self, ours: Entry) -> Plan:
            """Return the part that stays of an entry that only ours has."""

    class Walker(Protocol):
        """This is the walk, for the merge of sequences, which is a part of it and may not import
        it.
        """

        @property
        def rules(self) -> Rules: ...
        @property
        def journal(self) -> Journal: ...
        def entry(self, at: Three[Entry | None], place: Place) -> Item | None: ...
        def clash(self, at: Three[list[Entry]], why: str, place: Place) -> list[Item]: ...
        def trial(self) -> Walker: ...
