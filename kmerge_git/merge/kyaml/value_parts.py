"""Take a part of a value, such as the changes of updated, or everything except the nulls.

Each part is a plan over the text of the value, so the part is written with the comments and the
quotes of this text.
"""

from __future__ import annotations

from kmerge_git.kube.listkeys import ListKeys, field_text, has_port_names
from kmerge_git.merge.decide.keyed import by_key, keys_of
from kmerge_git.merge.plan import Build, Item, Keep, Note, Plan, Take
from kmerge_git.merge.three import Three, grouped
from kmerge_git.outcome import Decision
from kmerge_git.tree.nodes import (
    Alias,
    Collection,
    Mapping,
    Node,
    Scalar,
    Sequence,
    in_flow,
    is_block_text,
)
from kmerge_git.tree.same import is_null, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import ListRule, Where
    from kmerge_git.merge.decide.rules import Notes, Place
    from kmerge_git.merge.three import Three
    from kmerge_git.tree.documents import Document
    from kmerge_git.tree.nodes import Entry, Node

    Drop = Callable[[Entry], bool]
    Child = tuple[Entry | None, Entry, Where, Path]


_WORDS = ("~", "null", "Null", "NULL")
_ODD = ("&", "!", "\t", "? ", " \n", ": ]", ": ,", ":]", ":,")


def tables_of(
    at: Three[Sequence | None], rule: ListRule, *, infer: bool
) -> Three[dict[Hashable, Entry]] | None:
    """Return the elements of three lists by key, or None if the list has no keys."""
    lists = at.map(lambda seq: seq.entries if seq is not None else ())
    tables = by_key(lists, rule, infer=infer)
    return _with_one_name(tables) if tables is not None and has_port_names(rule) else tables


def _with_one_name(tables: Three[dict[Hashable, Entry]]) -> Three[dict[Hashable, Entry]]:
    """Put two ports of the same name under one key if the sides gave them different port numbers.

    The names of ports are unique, so the result must not hold two ports of the same name.
    """
    base, ours, theirs = tables.each()
    mine, yours, before = map(_by_name, (ours, theirs, base))
    to: Three[dict[Hashable, Hashable]] = Three({}, {}, {})
    for name in mine.keys() & yours.keys():
        old = before.get(name, mine[name])
        keys = {mine[name], yours[name]}
        numbers = keys | {old}
        if len(keys) > 1 and not any(
            number in side and side[number] is not side.get(own[name])
            for side, own in ((ours, mine), (theirs, yours))
            for number in numbers
        ):
            to.ours[mine[name]] = to.theirs[yours[name]] = old
    return Three(
        base,
        {to.ours.get(key, key): entry for key, entry in ours.items()},
        {to.theirs.get(key, key): entry for key, entry in theirs.items()},
    )


def _by_name(table: dict[Hashable, Entry]) -> dict[str, Hashable]:
    """Return the keys of ports by the names of the ports, without names that ports share."""
    keys = grouped((field_text(entry.value, "name"), key) for key, entry in table.items())
    return {name: same[0] for name, same in keys.items() if name and len(same) == 1}


# -- entries that the destination takes or keeps


def taken(theirs: Entry, place: Place, over: Entry | None = None) -> Item:
    """Take an entry of updated, without the nulls that clear fields.

    If `over` is given, take only the value of the entry, and replace the value of `over`.
    """
    part = place.live.part(theirs) if place.live else None
    return Item(Take(theirs.value, theirs, part=part), over, theirs, place.path)


def own(ours: Entry, place: Place) -> Item:
    """Keep an entry that only the destination has, without the nulls that clear fields."""
    plan = place.live.own(ours) if place.live else Keep(ours.value)
    return Item(plan, ours, None, place.path)


def updated_value(ours: Entry, theirs: Entry, place: Place, part: Plan | None = None) -> Take:
    """Take the value of updated with the quotes and the anchor of the destination.

    The anchor stays because aliases in the destination may refer to it.
    """
    old, new = ours.value, theirs.value
    style = old.style if isinstance(old, Scalar) and old.style in ("'", '"') else None
    anchor = old.anchor if isinstance(new, Scalar) and not new.anchor else ""
    if part is None and place.live:
        part = place.live.part(theirs)
    return Take(new, theirs, style, part=part, anchor=anchor)


def excluded(at: Three[Mapping | None], names: list[str]) -> dict[str, Entry]:
    """Return the fields of the destination that exclude a field of updated."""
    ours, theirs = (side.index() if side is not None else {} for side in (at.ours, at.theirs))
    if not any(name in theirs for name in names):
        return {}
    return {name: ours[name] for name in names if name not in theirs}


# -- values without the nulls and instructions


def without(plan: Plan, drop: Drop) -> Plan:
    """Return a plan without the mapping entries that `drop` selects, at any depth.

    If no entry is selected, return the same plan object.
    """
    if isinstance(plan, Keep) and isinstance(plan.node, Collection):
        node = plan.node
        children = [(entry, without(Keep(entry.value), drop)) for entry in node.entries]
        kept = [(e, part) for e, part in children if e.key is None or not drop(e)]
        untouched = all(isinstance(part, Keep) for _, part in kept)
        if untouched and len(kept) == len(children):
            return plan
        return Build(node, node, [Item(part, e, e, ()) for e, part in kept])
    if isinstance(plan, Build):
        items = [i for i in plan.items if i.ours is None or i.ours.key is None or not drop(i.ours)]
        parts = [i.but(without(i.plan, drop), i.theirs, i.lead) for i in items]
        return Build(plan.ours, plan.theirs, parts)
    return plan


def part_of(theirs: Entry, plans: Iterator[Plan] | list[Plan]) -> Plan | None:
    """Return the first plan that takes a part of an entry and is valid YAML alone, or None."""
    if theirs.key is None and in_flow(theirs):
        return None
    for plan in plans:
        if isinstance(plan, Build) and _stands_alone(theirs, plan):
            return plan
    return None


def _stands_alone(entry: Entry, plan: Plan) -> bool:
    """Return whether a part of an entry is valid YAML outside of its document.

    No alias in the part may refer to an anchor outside of the part. A blank must follow the colon
    of the key, because only JSON allows a colon without a blank.
    """
    text = entry.value.text
    if entry.key is not None and entry.value.start == entry.key.end + 1:
        return False
    if text.find("*", entry.start, entry.end) < 0:
        return True
    known: set[str] = set()
    for node in (*([entry.key] if entry.key is not None else ()), *_nodes(plan)):
        if isinstance(node, Alias) and node.name not in known:
            return False
        known.add(node.anchor)
    return True


def _nodes(plan: Plan) -> Iterator[Node]:
    """Yield the nodes that a part holds, in the order of its text."""
    if isinstance(plan, Build):
        yield plan.ours
        for item in plan.items:
            if item.ours is not None and item.ours.key is not None:
                yield item.ours.key
            yield from _nodes(item.plan)
    elif isinstance(plan, Keep):
        yield plan.node
        for entry in plan.node.entries if isinstance(plan.node, Collection) else ():
            if entry.key is not None:
                yield from _nodes(Keep(entry.key))
            yield from _nodes(Keep(entry.value))


# -- the children of two versions


def children(
    old: Node, new: Node, where: Where, path: Path = (), *, infer: bool
) -> list[Child] | None:
    """Return the entries of `new`, each with its counterpart in `old`, its place and its path.

    Return None if the entries have no names or keys.
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        there, inner = old.index(), where.at(new)
        return [(there.get(e.name), e, inner.child(e.name), (*path, e.name)) for e in new.entries]
    if not isinstance(old, Sequence) or not isinstance(new, Sequence):
        return None
    at, rule = Three(old, None, new), where.list_rule()
    tables = tables_of(at, rule, infer=infer)
    if tables is None:
        return None
    keys = _keys_of(at, rule, infer=infer)
    return [
        (tables.base.get(key), entry, where.items(), (*path, keys.step(key)))
        for key, entry in tables.theirs.items()
    ]


def _keys_of(at: Three[Sequence | None], rule: ListRule, *, infer: bool) -> ListKeys:
    return keys_of(at, rule) if infer else ListKeys(rule)


# -- the changes of updated


def delta(
    old: Node, new: Node, where: Where, kept: tuple[str, ...] = (), *, infer: bool
) -> Plan | None:
    """Return the part of `new` that is missing or different in `old`, and the key fields `kept`.

    Return None if `new` adds and changes nothing.
    """
    if same_node(old, new):
        return None
    pairs = children(old, new, where, infer=infer)
    names: tuple[str, ...] = ()
    if isinstance(old, Sequence) and isinstance(new, Sequence):
        rule = where.list_rule()
        if rule.kind == "set":
            return Keep(new)
        names = _keys_of(Three(old, None, new), rule, infer=infer).fields
    if pairs is None or not isinstance(new, Collection):
        return Keep(new)
    items: list[Item] = []
    changed = False
    for before, e, inner, _ in pairs:
        part: Plan | None = Keep(e.value)
        if before is not None:  # a null can only clear a value that exists
            cleared = null(e.value)
            part = None if cleared else delta(before.value, e.value, inner, names, infer=infer)
        changed = changed or part is not None
        if part is not None or (e.key is not None and e.name in kept):
            items.append(Item(part or Keep(e.value), e, e, ()))
    return Build(new, new, items) if changed else None


def without_cleared(old: Node, new: Node, where: Where, *, infer: bool) -> Plan:
    """Return `new` without the nulls that clear a value of `old`."""
    pairs = children(old, new, where, infer=infer) or []
    items: list[Item] = []
    for before, e, inner, _ in pairs:
        plan: Plan = Keep(e.value)
        if before is not None:
            if e.key is not None and null(e.value) and not null(before.value):
                continue
            plan = without_cleared(before.value, e.value, inner, infer=infer)
        items.append(Item(plan, e, e, ()))
    is_whole = len(items) == len(pairs) and all(isinstance(item.plan, Keep) for item in items)
    if is_whole or not isinstance(new, Collection):
        return Keep(new)
    return Build(new, new, items)


# -- the parts that only the destination has


def rest(
    base: Node, ours: Node, where: Where, path: Path, *, infer: bool
) -> tuple[Plan | None, list[Path]]:
    """Return what only the destination has in a value that updated removed.

    The value is a mapping or a keyed list. Everything that base had is removed. The returned paths
    are the places that the destination had changed. The plan is None if nothing is left.
    """
    pairs = children(base, ours, where, path, infer=infer)
    if pairs is None or not isinstance(ours, Collection):
        return None, [] if null(ours) or same_node(base, ours) else [path]
    items: list[Item] = []
    changed: list[Path] = []
    for before, entry, inner, place in pairs:
        plan: Plan | None = Keep(entry.value)
        if before is not None and entry.key is not None:
            plan, below = rest(before.value, entry.value, inner, place, infer=infer)
            changed += below
        elif before is not None:  # an element is removed as a whole (rule M21)
            plan = None
            changed += [] if same_node(before.value, entry.value) else [place]
        if plan is not None:
            items.append(Item(plan, entry, None, place))
    return Build(ours, ours, items) if items else None, changed


# -- nulls


class Nulls:
    """Apply nulls by the three-way rules; see `decide.rules.Live`.

    A null clears a field in two cases: original has a value for the field, or only updated has the
    field. Any other null is an ordinary value.
    """

    __slots__ = ()

    def instructed(self, at: Three[Entry | None], place: Place) -> tuple[None, Notes] | None:
        """Clear a field if one side changed its value to null (rules M5, M9, M10 and M17)."""
        base, ours, theirs = at.base, at.ours, at.theirs
        there = base or ours or theirs
        if there is None or there.key is None or (base is not None and null(base.value)):
            return None
        if ours is not None and null(ours.value):
            return self._cleared(base, theirs, place) if base is not None else None
        if theirs is None or not null(theirs.value):
            return None
        if ours is None:
            return None, []  # there is no value to clear
        rule = null_rule(ours)
        if base is not None and same_node(base.value, ours.value):
            return None, [Note(place.path, "cleared by null", "theirs", rule)]
        return None, [lost(place.path, "cleared by null", rule, ours.value, theirs.value)]

    def _cleared(self, base: Entry, theirs: Entry | None, place: Place) -> tuple[None, Notes]:
        """Omit a field that dest has cleared, and note the change of updated in this field."""
        rule = null_rule(base)
        if theirs is None or null(theirs.value) or same_node(base.value, theirs.value):
            return None, [Note(place.path, "cleared by null", "ours", rule)]
        what = "cleared in `dest`, changed in `updated`"
        return None, [Note(place.path, what, "ours", f"{rule} lost", "", theirs.value.raw)]

    def enters(self, ours: Node, theirs: Node) -> bool:
        return holds_null(ours) or holds_null(theirs)

    def part(self, theirs: Entry) -> Plan | None:
        """Keep the nulls in a value that updated adds, because there is nothing to clear."""
        return None

    def own(self, ours: Entry) -> Plan:
        return Keep(ours.value)


def null(node: Node) -> bool:
    """Return whether a node is null, in any spelling of null in YAML."""
    return isinstance(node, Scalar) and is_null(node)


def is_null_field(entry: Entry) -> bool:
    """Return whether the value of an entry is null."""
    return null(entry.value)


def holds_null(node: Node) -> bool:
    """Return whether any field below a node is null."""
    if isinstance(node, Collection):
        return any(
            (e.key is not None and null(e.value)) or holds_null(e.value) for e in node.entries
        )
    return False


def document_holds_null(document: Document) -> bool:
    """Return whether any field of a document is null.

    The document is parsed only if its lines may hold a null.
    """
    if not may_hold_null(document.content):
        return False
    return document.root is not None and holds_null(document.root)


def may_hold_null(text: str) -> bool:
    """Return whether lines of YAML may hold a null field. The answer False is certain."""
    if any(word in text for word in _WORDS) or any(sign in text for sign in _ODD):
        return True
    if text.count("{") != text.count("{}") or not text.endswith("\n"):
        return True
    at = text.find(":\n")
    while at >= 0:
        if not _has_value_below(text, at, at + 2):
            return True
        at = text.find(":\n", at + 2)
    at = text.find("#")
    while at >= 0:
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        head = text[start:at].rstrip()
        if head[-1:] == ":" and not _has_value_below(text, start + len(head) - 1, end + 1):
            return True
        at = text.find("#", end)
    return False


def _has_value_below(text: str, colon: int, below: int) -> bool:
    """Return whether the next line with content is the value of the key that ends at `colon`."""
    start = text.rfind("\n", 0, colon) + 1
    while text[start] == " " or text[start : start + 2] == "- ":
        start += 1
    column = start - text.rfind("\n", 0, start) - 1
    while below < len(text):
        at = below
        while text[at] == " ":
            at += 1
        if text[at] not in "\n#":
            return at - below > column or (at - below == column and text[at : at + 2] == "- ")
        below = text.find("\n", at) + 1
    return False


# -- the rule numbers of docs/merge-rules.md

# (change, rule number of the rules git) -> rule number of the rules kyaml
THREE_WAY = {
    ("changed", "5"): "M7",
    ("changed", "8"): "R4",
    ("added", "8"): "R2",
    ("deleted", "8"): "R1",
}
TWO_WAY = {
    ("changed", "8"): "T10",
    ("added", "8"): "T24",
    ("added", "M3"): "T8",
    ("added", "M7"): "T8",
    ("added", "M12"): "T8",
    ("added", "M14"): "T12",
}


def numbered(decision: Decision, numbers: dict[tuple[str, str], str]) -> Decision:
    """Return a decision with the number of its rule in docs/merge-rules.md."""
    d = decision
    rule = numbers.get((d.what, d.rule), d.rule)
    return Decision(d.resource, d.path, d.what, d.side, rule, d.ours, d.theirs)


def took(ours: Node, theirs: Node, path: Path) -> Note:
    """Return the note for a value that only updated changed.

    For a scalar, the note holds the old and the new value.
    """
    if isinstance(theirs, Mapping):
        rule = "M16" if path and not isinstance(path[-1], str) else "M13"
    else:
        rule = "M7" if isinstance(theirs, Sequence) else "M2"
    values = (ours.raw, theirs.raw) if isinstance(theirs, Scalar) else ("", "")
    return Note(path, "changed", "theirs", rule, *values)


def lost(path: Path, what: str, rule: str, ours: Node | None, theirs: Node | None) -> Note:
    """Return the note for a change of the destination that is not in the result."""
    dest, updated = (node.raw if node is not None else "" for node in (ours, theirs))
    return Note(path, what, "theirs", f"{rule} lost", dest, updated)


def null_rule(other: Entry | None) -> str:
    """Return the rule number for a null that clears a value of another version."""
    value = other.value if other is not None else None
    return "M10" if isinstance(value, Mapping) else "M9" if isinstance(value, Sequence) else "M5"


def added_rule(entry: Entry) -> str:
    """Return the rule number for an entry that updated adds."""
    if entry.key is None:
        return "M14"
    return {Scalar: "M3", Sequence: "M7"}.get(type(entry.value), "M12")


def clash_rule(at: Three[Node | None]) -> str:
    """Return the rule number for a value that both sides changed."""
    ours, theirs = at.ours, at.theirs
    if type(ours) is not type(theirs):
        return "M26"
    if isinstance(theirs, Sequence):
        return "M7"
    if at.base is None:
        return "M3"
    return "M30" if theirs is not None and is_block_text(theirs) else "M2"
