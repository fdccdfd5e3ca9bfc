"""Hold the plan of a merge: all its decisions, before the result is written.

A plan is a tree whose leaves are nodes and lines of the inputs. A finished plan never changes, so
that it can be explained, compared with a result (`merge.verify.proof`) and written (`merge.write`).
The journal lists the decisions with their places, sides and rules.
"""

from __future__ import annotations

from kmerge_git.kube import fieldpath
from kmerge_git.merge.three import Three
from kmerge_git.outcome import SETTLED, Decision
from kmerge_git.tree.nodes import Collection, Scalar, in_mid_line, inline, is_block_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.outcome import Conflict
    from kmerge_git.tree.nodes import Entry, Node


if TYPE_CHECKING:
    # numbers of a document -> its places without a certain merge
    Doubts = dict[tuple[int, ...], dict[Path, "Doubt"]]
    # runs of lines, of block scalars (`str`) or of comments (`Line`); a run that both sides
    # changed is a trio with the lines of each version
    Lines = list[Sequence[str] | Three[Sequence[str]]]
    Sides = Three[list[Entry]]
    Named = tuple[Path, str, "Item | None"]


class Why:
    """List the reasons why a person must decide a place; a conflict's label shows the reason."""

    BOTH_CHANGED = "changed on both sides"
    BOTH_ADDED = "added on both sides"
    BOTH_ADD_HERE = "added on both sides in the same place"
    OURS_GONE = "deleted in ours, changed in theirs"
    THEIRS_GONE = "deleted in theirs, changed in ours"
    MOVED_AND_GONE = "moved on one side, deleted on the other"
    RENAMED_AND_GONE = "renamed on one side, deleted on the other"
    RENAMED_APART = "renamed differently on both sides"
    REPLACED = "rewritten on both sides"
    WHICH = "renamed, but the new name is unclear"
    ADDED_APART = "added on both sides, in different places"
    TWO_VERSIONS = "added on both sides with different content"
    ADDED_BEHIND = "added to content that the other side moved"
    UNCERTAIN = "cannot be merged safely"
    ORDER = "reordered differently on both sides"
    COMMENT = "comment changed differently on both sides"
    SAME_NAME = "two elements have the same name"
    STRANGERS = "the file was added on both sides, with different resources"
    NEW_FILE = "the file was added on both sides"
    NAMESPACES = "added on both sides, in different namespaces"
    GROUPS = "added on both sides, in different API groups"
    NAMESAKES = "another resource now has this name"
    UNPROVED = "cannot be merged field by field"
    DAMAGE = "git's line merge would break the file"
    ALIAS = "`*"  # the beginning of the causes that name an alias

    # A clean merge of lines does not settle these conflicts: a line merge ignores which lines
    # belong together, and would bring back a deleted entry, or keep both replacements of an entry.
    FIRM = (
        MOVED_AND_GONE,
        RENAMED_AND_GONE,
        RENAMED_APART,
        REPLACED,
        WHICH,
        ADDED_APART,
        TWO_VERSIONS,
        ADDED_BEHIND,
    )


class Doubt:
    """Hold the reason why the merge of a place is not certain, so that the place is a conflict.

    If the conflict `opens` the place, the walk looks into it although only one side changed it.
    """

    __slots__ = ("opens", "why")

    def __init__(self, why: str, *, opens: bool) -> None:
        self.why = why
        self.opens = opens


class Line(str):
    """Hold a comment line, or '' for a blank line; blanks around a comment are not compared.

    `spelled` is the line as it is written. `home` is the column of the entry or collection that the
    line belongs to.
    """

    __slots__ = ("home", "spelled")

    home: int
    spelled: str

    @classmethod
    def of(cls, spelled: str, home: int) -> Line:
        line = cls(spelled.strip(" \t\r"))
        line.home, line.spelled = home, spelled
        return line

    @property
    def form(self) -> tuple[int, str]:
        """Return the indentation relative to `home`, and the blanks at the end."""
        indent = len(self.spelled) - len(self.spelled.lstrip(" \t"))
        return indent - self.home if self else 0, self.spelled[indent + len(self) :] if self else ""


class Plan:
    """Describe a decision about one place."""

    __slots__ = ()


class Keep(Plan):
    """Keep our node as it is."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node


class Take(Plan):
    """Put a node of another text at the place, together with the lines of its entry."""

    __slots__ = ("anchor", "entry", "keeps_comment", "node", "part", "style")

    def __init__(
        self,
        node: Node,
        entry: Entry | None,
        style: str | None = None,
        *,
        part: Plan | None = None,
        anchor: str = "",
        keeps_comment: bool = False,
    ) -> None:
        self.node = node
        self.entry = entry  # the entry that holds the node, or None at the top of a document
        self.style = style  # the quotes for the node, if they can hold its value
        self.part = (
            part  # the part of the node that comes here, as a plan over its own text; None: all
        )
        self.anchor = anchor  # our anchor, which a scalar of theirs gets
        self.keeps_comment = keeps_comment  # our comment stays if the node has none


class NewText(Plan):
    """Give our scalar of several lines new lines, and put `comment` behind its header, if any.

    The header of a plain or quoted scalar is its style, and its first line is one of the lines.

    If `comment` is None, our comment stays.
    """

    __slots__ = ("comment", "header", "ours", "parts", "refused")

    def __init__(
        self, ours: Scalar, header: str, parts: Lines, comment: str | None = None, refused: str = ""
    ) -> None:
        self.ours = ours
        self.header = header
        self.parts = parts
        self.comment = comment
        self.refused = refused  # why a policy does not decide the lines that both sides changed

    def lines(self, side: str) -> list[str]:
        """Return the lines with every conflict decided for one side."""
        return [line for part in settled(self.parts, side) for line in part]


# the beginning of what a policy would do that is not set for the place; told as if it refused
ADVICE = "policy rebump would set it to"


class Clash(Plan):
    """Mark a place that a person must decide; hold the entries of each side.

    With `with_lead` the comments above the first entries are part of the conflict. Otherwise these
    comments are written above the conflict.
    """

    __slots__ = ("at", "refused", "where", "why", "with_lead")

    def __init__(
        self, at: Sides, why: str, where: Where, *, with_lead: bool = True, refused: str = ""
    ) -> None:
        self.at = at
        self.why = why
        self.where = where  # the place of the values of these entries
        self.with_lead = with_lead
        self.refused = refused  # why a policy for the place does not decide it


class Remark(Plan):
    """Hold comment lines among the entries of a block collection that belong to no entry."""

    __slots__ = ("parts",)

    def __init__(self, parts: Lines) -> None:
        self.parts = parts


class Item:
    """Hold an entry of a collection that is rebuilt, or a remark among its entries.

    The plan changes the text of `ours` as little as possible. If `ours` is None, the entry of
    `plan` (a `Take`) is written. An optional field that is not None replaces a part of that text.
    """

    __slots__ = ("after", "base", "key", "lead", "ours", "path", "plan", "replaces", "theirs")

    def __init__(
        self,
        plan: Plan,
        ours: Entry | None,
        theirs: Entry | None,
        path: Path,
        *,
        base: Entry | None = None,
        replaces: Entry | None = None,
        key: str | None = None,
        lead: Lines | None = None,
        after: str | None = None,
    ) -> None:
        self.plan = plan
        self.ours = ours
        self.theirs = theirs
        self.path = path
        self.base = base
        self.replaces = replaces  # our entry that the whole entry of theirs replaces
        self.key = key  # the key as text
        self.lead = lead  # lines above, without indentation
        self.after = after  # the text behind a value on its line, and comments below

    def but(self, plan: Plan, theirs: Entry | None, lead: Lines | None) -> Item:
        """Return the same item with a new plan, a new entry of theirs and new lines above it."""
        return Item(
            plan,
            self.ours,
            theirs,
            self.path,
            base=self.base,
            replaces=self.replaces,
            key=self.key,
            lead=lead,
            after=self.after,
        )

    def with_tail(self, after: str) -> Item:
        """Return the same item with a new text on the line behind its value."""
        item = self.but(self.plan, self.theirs, self.lead)
        item.after = after if self.ours is not None and inline(self.ours.value) else self.after
        return item


class Build(Plan):
    """Write our collection with other entries; `head` and `foot` are its comment lines."""

    __slots__ = ("foot", "head", "is_guess", "items", "ours", "properties", "theirs")

    def __init__(
        self,
        ours: Collection,
        theirs: Collection,
        items: list[Item],
        *,
        head: Lines | None = None,
        foot: Lines | None = None,
        properties: str | None = None,
    ) -> None:
        self.ours = ours
        self.theirs = theirs
        self.items = items
        self.head = head
        self.foot = foot
        self.properties = properties  # anchor and tag as text
        self.is_guess = False  # only likeness says that these are versions of one element

    def but(self, items: list[Item]) -> Build:
        """Return the same collection with other entries."""
        return Build(
            self.ours,
            self.theirs,
            items,
            head=self.head,
            foot=self.foot,
            properties=self.properties,
        )


def keeps_tail(plan: Plan, ours: Entry, theirs: Entry) -> bool:
    """Return whether the comment behind a value still has a place in the plan's result."""
    if not isinstance(plan, Take):
        return not is_block_text(ours.value) or is_block_text(theirs.value)
    if isinstance(plan.part, Build) and not plan.part.items:
        return has_tail(ours.value)  # only `{}` is left of the collection
    return has_tail(ours.value) and has_tail(plan.node)


def has_tail(node: Node) -> bool:
    """Return whether a comment can be on a value's last line, or on the line of its key."""
    return not in_mid_line(node) if isinstance(node, Collection) else not is_block_text(node)


def has_clash(plan: Plan) -> bool:
    """Return whether a plan contains an open decision."""
    if isinstance(plan, Build):
        return any(has_clash(item.plan) for item in plan.items)
    if isinstance(plan, NewText | Remark):
        return any(isinstance(part, Three) for part in plan.parts)
    return isinstance(plan, Clash)


def is_empty(plan: Build, side: str) -> bool:
    """Return whether no entries of a plan are left if all conflicts are decided for a side."""
    entries = [item.plan for item in plan.items if not isinstance(item.plan, Remark)]
    return bool(entries) and all(isinstance(p, Clash) and not p.at.side(side) for p in entries)


def named_clash(plan: Plan) -> Named:
    """Return the path, cause and item of one conflict, whichever side is ours."""
    clashes: list[Named] = []
    for item in plan.items if isinstance(plan, Build) else ():
        inside = item.plan
        clashes.append(
            (item.path, inside.why, item) if isinstance(inside, Clash) else named_clash(inside)
        )
    return min((one for one in clashes if one[1]), key=_shown, default=((), "", None))


def _shown(place: Named) -> tuple[list[str], str]:
    path, why, _ = place
    return [step if isinstance(step, str) else fieldpath.show((step,)) for step in path], why


# If a clash has no lines of its own (within a line of JSON, in the only entry of a list), the
# entry around the clash is written once for each side, from a plan that is decided for that side.
# Rules that settle a clash of lines for one side need decided plans, too.


def decided(plan: Plan, side: str) -> Plan:
    """Return the plan without conflicts; the entries of one side replace each conflict."""
    if isinstance(plan, NewText):
        return NewText(plan.ours, plan.header, [plan.lines(side)], plan.comment)
    if isinstance(plan, Remark):
        return Remark([*settled(plan.parts, side)])
    if not isinstance(plan, Build):
        return plan
    return Build(
        plan.ours,
        plan.theirs,
        [one for item in plan.items for one in decided_item(item, side)],
        head=plan.head and [*settled(plan.head, side)],
        foot=plan.foot and [*settled(plan.foot, side)],
        properties=plan.properties,
    )


def decided_item(item: Item, side: str) -> Iterator[Item]:
    """Return the entries of one side that replace an item of a plan."""
    if isinstance(item.plan, Clash):
        base = next(iter(item.plan.at.base), None)
        for entry in item.plan.at.side(side):
            if side == "ours":
                yield Item(Keep(entry.value), entry, None, item.path)
            else:
                yield Item(Take(entry.value, entry), None, entry, item.path, base=base)
        return
    own = item.ours if side == "ours" else item.theirs
    collection = own.value if own is not None and isinstance(own.value, Collection) else None
    is_emptied = collection is not None and not collection.entries
    if is_emptied and isinstance(item.plan, Build) and is_empty(item.plan, side):
        assert own is not None
        # the side has no comments in its empty collection either
        plan: Plan = Keep(own.value) if side == "ours" else Take(own.value, own)
    else:
        plan = decided(item.plan, side)
    yield item.but(plan, item.theirs, item.lead and [*settled(item.lead, side)])


def settled(parts: Lines, side: str) -> list[Sequence[str]]:
    """Return lines in groups; if both sides changed a group, take the lines of one side."""
    return [part.side(side) if isinstance(part, Three) else part for part in parts]


FAVOR = "13 favor"


class Note:
    """Hold a decision at a place, with the texts of both sides if one of the texts is lost."""

    __slots__ = ("ours", "path", "rule", "side", "theirs", "what")

    def __init__(
        self, path: Path, what: str, side: str, rule: str, ours: str = "", theirs: str = ""
    ) -> None:
        self.path = path
        self.what = what
        self.side = side
        self.rule = rule  # the number of the rule in docs/merge-rules.md
        self.ours = ours
        self.theirs = theirs

    def favored(self, side: str) -> Note:
        """Return the note of a conflict as decided for a side; return other notes unchanged."""
        if self.side != "conflict":
            return self
        return Note(self.path, self.what, side, FAVOR, self.ours, self.theirs)


class Journal:
    """Collect the notes of a merge, resource by resource."""

    __slots__ = ("notes", "resource", "unnoted")

    def __init__(self, resource: str = "") -> None:
        self.notes: list[tuple[str, Note]] = []
        self.resource = resource  # the resource that is being merged
        # conflicts of comments and of doubtful places that were decided for the favoured side
        self.unnoted: tuple[Decision, ...] = ()

    def write(self, notes: Iterable[Note]) -> None:
        """Add notes about the current resource."""
        self.notes += [(self.resource, note) for note in notes]

    def trial(self) -> Journal:
        """Return an empty journal for decisions that may be dropped."""
        return Journal(self.resource)

    def adopt(self, trial: Journal) -> None:
        """Add the notes of a trial."""
        self.notes += trial.notes

    def rule(self, resource: str, notes: list[Note]) -> None:
        """Replace conflicts of a resource by what a policy decided or refused about them."""
        for note in notes:
            for number, (name, old) in enumerate(self.notes):
                if name == resource and old.side == "conflict" and old.path == note.path:
                    if note.side == "conflict":
                        note.rule = old.rule
                    self.notes[number] = resource, note
                    break
            else:
                if note.side != "conflict":  # a refusal is in the label of its conflict
                    self.notes.append((resource, note))

    def settled(self) -> list[tuple[str, Path]]:
        """Return the places that need no person, though both sides changed them, by resource."""
        return [(r, note.path) for r, note in self.notes if note.rule.startswith(SETTLED)]

    def favor(self, side: str, conflicts: Iterable[Conflict]) -> None:
        """Record that every conflict was decided for a side."""
        whole = {c.resource for c in conflicts if not c.field}
        self.notes = [
            (resource, note.favored(side))
            for resource, note in self.notes
            # a resource that is one conflict has no other conflicts
            if not (note.side == "conflict" and note.path and resource in whole)
        ]
        noted = {(resource, fieldpath.show(note.path)) for resource, note in self.notes}
        self.unnoted = tuple(
            Decision(c.resource, c.field, c.why, side, FAVOR)
            for c in conflicts
            if (c.resource, c.field) not in noted
        )

    def decisions(self) -> tuple[Decision, ...]:
        """Return the notes as decisions for people, with the places as text."""
        noted = (
            Decision(resource, fieldpath.show(n.path), n.what, n.side, n.rule, n.ours, n.theirs)
            for resource, n in self.notes
        )
        return (*noted, *self.unnoted)
