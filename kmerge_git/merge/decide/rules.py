"""Define the questions that the walk asks a rule set, and the facts about a place.

An answer is a value: no question writes, remembers or changes anything. The notes for the journal
come with the answer, and the walk writes them down.
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
    """Hold the keys of elements that cannot be paired with certainty."""

    __slots__ = ("keys", "why")

    def __init__(self, keys: Iterable[Hashable], why: str) -> None:
        self.keys = set(keys)
        self.why = why


class ElementPairs:
    """Hold a label for each element; elements of different versions with one label are one."""

    __slots__ = ("labels", "unclear", "why")

    def __init__(
        self, labels: Three[list[Hashable]], unclear: Iterable[Hashable] = (), why: str = ""
    ) -> None:
        self.labels = labels
        # the labels of new elements that are alike with several elements that their side lacks
        self.unclear = set(unclear)
        self.why = why  # the reason if a person must pair the elements


def shared_out(table: Table, riddles: list[Riddle]) -> list[Table]:
    """Divide the entries of a version among the groups in doubt; no key is in two groups."""
    parts: list[Table] = [{} for _ in riddles]
    number_of = {key: number for number, riddle in enumerate(riddles) for key in riddle.keys}
    for key in [key for key in table if key in number_of] if riddles else ():
        parts[number_of[key]][key] = table[key]
    return parts


BY_ELEMENTS = Plan()  # the answer if a list without keys merges element by element


class Place:
    """Hold the position of the walk and the facts about this position; a place never changes."""

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
        self.live = live  # set if the document may delete fields or give instructions
        self.list_rule = list_rule  # the rule of the list that holds this element
        self.lists = lists  # the three versions of that list
        self.maps = maps  # the three versions of the mapping that holds this entry

    def within(self, node: Node | None) -> Place:
        """Return the place of a mapping; if it has a field `kind`, this selects the schema."""
        return Place(self.path, self.where.at(node), self.live)

    def key(self, name: str, maps: Three[Mapping | None] | None = None) -> Place:
        """Return the place below a key of the mapping at this place."""
        return Place((*self.path, name), self.where.child(name), self.live, maps=maps)

    def elements(self, lists: Three[Sequence | None]) -> Place:
        """Return the place of the elements of the lists; `step` then selects one element."""
        return Place(self.path, self.where.items(), self.live, self.where.list_rule(), lists)

    def step(self, step: Step) -> Place:
        """Return the same place with one more step in its path."""
        return Place((*self.path, step), self.where, self.live, self.list_rule, self.lists)


class Ruling:
    """Hold the answer of a policy to a conflict: a side, a plan for the value alone, or a refusal.

    With the side `neither` the plan has a value that neither side has, and `what` describes the
    value. With `after` the whole value of a side is taken, if a policy has put the value of the
    same side on top in the field `after` of the document.
    """

    __slots__ = ("after", "plan", "refused", "rule", "side", "taken", "what")

    def __init__(
        self,
        side: str,
        rule: str,
        *,
        plan: Plan | None = None,
        taken: list[Entry] | None = None,
        what: str = "",
        refused: str = "",
        after: Path = (),
    ) -> None:
        self.after = after
        self.side = side  # ours, theirs, union, neither; empty if the clash stays
        self.rule = rule
        self.plan = plan  # the value; the comments around it merge as usual
        self.taken = taken  # the entries of theirs in a union
        self.what = what
        self.refused = refused  # why no policy decides, though one is set for the place


class Reading:
    """Hold what a document instructs about its own merge, before fields are compared."""

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
        self.plan = plan  # the plan replaces the other document as a whole
        self.gone = gone  # the document deletes the other document
        self.whole = whole  # unchanged parts must be read, too, because the notes have values


if TYPE_CHECKING:

    class Rules(Protocol):
        """Define every question on which rule sets differ; the walk is the same for all of them."""

        stops: bool  # leave a conflict if a possible merge could be wrong

        # -- documents

        def twins(self, ours: list[Document], theirs: list[Document]) -> list[tuple[int, int]]:
            """Pair the documents that both sides added if they are the same resource."""

        def reading(self, at: Three[Document | None]) -> Reading:
            """Return the instructions that a pair of documents gives about its merge."""

        def added(self, document: Document) -> Plan | None:
            """Return the part to add of a document of theirs, or None to add all of it."""

        def document_clash(self, why: str) -> tuple[str, Notes]:
            """If the fields cannot decide, return the side whose document is taken.

            Return '' if a person must decide.
            """

        # -- entries of mappings and elements of lists

        def took(self, ours: Node, theirs: Node, place: Place) -> Note:
            """Return the note for a value that only their side changed."""

        def alone(self, at: Three[Entry | None], place: Place) -> tuple[Item | None, Notes]:
            """Decide an entry that one side does not have."""

        def clash(self, at: Three[list[Entry]], why: str, place: Place) -> tuple[list[Item], Notes]:
            """Decide entries that both sides have if neither side can be preferred."""

        # -- values

        def text(self, at: Three[Node | None], place: Place) -> tuple[Plan | None, Notes]:
            """Merge two different scalars line by line, or return None if that is impossible."""

        def winner(self, at: Three[Entry | None], place: Place) -> tuple[Plan | None, Notes]:
            """Decide a value that both sides changed, or return None if a person must decide."""

        def exclusive(
            self, at: Three[Mapping | None], group: Collection[str], names: list[str], place: Place
        ) -> tuple[list[str] | None, Notes]:
            """Return which fields to drop of `names`, the present fields that exclude each other.

            Return None for a conflict.
            """

        # -- the elements of lists, and the order of everything

        def keyed(self, at: Three[Sequence | None], rule: ListRule) -> Three[Table] | None:
            """Return the elements of each version by key, or None if this list has no keys."""

        def renamed(
            self, tables: Three[Table], key_paths: KeyPaths, rule: ListRule | None
        ) -> tuple[Three[Table], list[Riddle]]:
            """Return the tables with renamed elements under old keys, and the groups in doubt.

            The elements of such a group cannot be paired with certainty.
            """

        def unkeyed(self, at: Three[Sequence | None], place: Place) -> Plan | None:
            """Merge a list without keys; return `BY_ELEMENTS` to merge element by element.

            Return None if the list cannot be merged.
            """

        def order(
            self, tables: Three[Table], kept: dict[Hashable, Item], rule: ListRule | None
        ) -> Keys | None:
            """Return the kept keys in order, or None if both sides reordered them differently."""

        # -- the text between values

        def lines(self, lines: Three[list[Line]], *, is_new: bool = False) -> Lines | None:
            """Merge comment lines, or return None if our lines stay as they are.

            With `is_new` the lines belong to something that base does not have.
            """

        def tail(self, tails: Three[str], plan: Plan) -> tuple[str | None, bool]:
            """Merge the texts behind a value, and return whether a person must decide.

            A text of None means that our text stays.
            """

        def piece(self, at: Three[str]) -> str | None:
            """Merge the text of a key, or of an anchor and tag; return None if our text stays."""

    class Live(Protocol):
        """Mark a document with instructions, such as null or `$patch`, and decide its entries.

        The instructions apply even where two texts are equal.
        """

        def instructed(
            self, at: Three[Entry | None], place: Place
        ) -> tuple[Item | None, Notes] | None:
            """Return what the document instructs for an entry, or None without an instruction."""

        def enters(self, ours: Node, theirs: Node) -> bool:
            """Return whether to compare two values by field even if a side left them alone."""

        def part(self, theirs: Entry) -> Plan | None:
            """Return the part of their entry that the result gets, or None for all of it."""

        def own(self, ours: Entry) -> Plan:
            """Return the part that stays of an entry that only our version has."""

    class Walker(Protocol):
        """Describe what the merge of sequences uses of the walk, which it may not import."""

        @property
        def rules(self) -> Rules: ...
        @property
        def journal(self) -> Journal: ...
        @property
        def opened(self) -> Collection[Path]: ...
        def entry(self, at: Three[Entry | None], place: Place) -> Item | None: ...
        def clash(self, at: Three[list[Entry]], why: str, place: Place) -> list[Item]: ...
        def trial(self) -> Walker: ...
