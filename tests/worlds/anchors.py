"""Every pair of edits of a document with anchors and aliases, and what the merge of the two must be.

The truth comes from the edits: each entry has a number that no edit changes. What an alias means is
the name and the number of the entry that has its anchor, and it is merged like a value. An edit is
a function of the entries; nothing here knows the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Entry:
    """An entry with its number, which stays; `alias` and `anchor` are names, or empty."""

    number: int
    key: str
    value: str = ""
    anchor: str = ""
    alias: str = ""


Version = tuple[Entry, ...]
Meaning = tuple[str, int]


def plain(number: int) -> Entry:
    return Entry(number, f"p{number}", f"plain-{number}-value")


def defined(number: int, name: str = "k") -> Entry:
    return Entry(number, f"d{number}", f"defined-{number}-value", anchor=name)


def alias(number: int, name: str = "k") -> Entry:
    return Entry(number, f"a{number}", alias=name)


BASES: dict[str, Version] = {
    "one": (plain(1), defined(2), plain(3), plain(4), alias(5), plain(6), plain(7)),
    "two": (
        *(defined(1), plain(2), alias(3), plain(4), plain(5), defined(6), plain(7), plain(8)),
        *(alias(9), plain(10)),
    ),
    "names": (defined(1), plain(2), defined(3, "j"), plain(4), alias(5), plain(6), plain(7)),
    "unused": (plain(1), defined(2), plain(3), plain(4), defined(5), plain(6), plain(7)),
}


def meanings(version: Version) -> dict[int, Meaning] | None:
    """What each alias means, by its number, or None if one has no anchor before it."""
    last: dict[str, int] = {}
    found: dict[int, Meaning] = {}
    for entry in version:
        if entry.anchor:
            last[entry.anchor] = entry.number
        if entry.alias:
            if entry.alias not in last:
                return None
            found[entry.number] = (entry.alias, last[entry.alias])
    return found


def edits(base: Version) -> Iterator[tuple[str, Version]]:
    """Every edited version with its name; the new entries of the two sides have other numbers."""
    for place in range(len(base) + 1):
        for name in ("k", "j"):
            yield f"alias {name} at {place}", _with(base, place, alias(50, name))
            yield f"anchor {name} at {place}", _with(base, place, defined(60, name))
    for place, entry in enumerate(base):
        rest = base[:place] + base[place + 1 :]
        changed = {
            "edit": replace(entry, value=f"{entry.value}-edited") if not entry.alias else entry,
            "rename": replace(entry, key=f"{entry.key}r"),
            "mark": replace(entry, anchor="k") if not entry.alias else entry,
            "unmark": replace(entry, anchor=""),
            "aim": replace(entry, alias="j") if entry.alias else entry,
            "write out": replace(entry, alias="", value="written") if entry.alias else entry,
        }
        for name, one in changed.items():
            if one != entry:
                yield f"{name} {entry.key}", (*base[:place], one, *base[place + 1 :])
        yield f"drop {entry.key}", rest
        if entry.anchor or entry.alias:
            for to in range(len(rest) + 1):
                if to != place:
                    yield f"move {entry.key} to {to}", _with(rest, to, entry)
    renamed = {"k": "j"}
    yield (
        "name anew",
        tuple(
            replace(e, anchor=renamed.get(e.anchor, e.anchor), alias=renamed.get(e.alias, e.alias))
            for e in base
        ),
    )


def _with(version: Version, place: int, entry: Entry) -> Version:
    return (*version[:place], entry, *version[place:])


@dataclass(frozen=True)
class Case:
    """Three versions, the content of their merge, and what its aliases mean; None: a conflict."""

    name: str
    base: Version
    ours: Version
    theirs: Version
    content: frozenset[Entry] | None
    meant: dict[int, Meaning] | None
    has_order: bool  # whether some order of the entries gives each alias its meaning


Pair = tuple[str, Version, Version]  # a name, ours, and what theirs is made of


def pairs(base: Version, layout: str) -> Iterator[Pair]:
    """Every pair of edits whose versions are documents.

    An entry with a scalar value is not renamed: another one is there instead of it.
    """
    is_scalar = layout not in ("maps", "keyed", "items")
    versions = [
        (name, edited)
        for name, edited in edits(base)
        if meanings(edited) is not None and not (is_scalar and name.startswith("rename a"))
    ]
    for n, (one, ours) in enumerate(versions):
        for other, edited in versions[n + 1 :]:
            about = one.split()[1], other.split()[1]
            if about[0] == about[1] and "rename" in one + other:
                continue
            yield f"{one} | {other}", ours, edited


def case_of(base: Version, layout: str, pair: Pair) -> Case:
    """A pair of edits with the truth, which costs most: it is computed for those that are merged."""
    name, ours, edited = pair
    theirs = tuple(_as_theirs(entry) for entry in edited)
    return _case(name, base, ours, theirs, is_apart=layout == "maps")


def _as_theirs(entry: Entry) -> Entry:
    """New entries of both sides are different entries."""
    if entry.number not in (50, 60):
        return entry
    key = f"{entry.key[0]}{entry.number + 5}"
    value = f"other-{entry.number}-thing" if entry.value else ""
    return replace(entry, number=entry.number + 5, key=key, value=value)


def _case(name: str, base: Version, ours: Version, theirs: Version, *, is_apart: bool) -> Case:
    at = [{entry.number: entry for entry in version} for version in (base, ours, theirs)]
    content: list[Entry] = []
    for number in {**at[0], **at[1], **at[2]}:
        found, is_clear = _one(*(table.get(number) for table in at), is_apart=is_apart)
        if not is_clear:
            return Case(name, base, ours, theirs, None, None, False)
        if found is not None:
            content.append(found)
    meant: dict[int, Meaning] = {}
    known = [meanings(version) or {} for version in (base, ours, theirs)]
    for entry in content:
        if entry.alias:
            one, is_clear = _merged(*(table.get(entry.number) for table in known))
            if not is_clear or one is None:
                return Case(name, base, ours, theirs, None, None, False)
            meant[entry.number] = one
    orders = _orders(*([e.number for e in version] for version in (base, ours, theirs)))
    of = {entry.number: entry for entry in content}
    in_order = [tuple(of[n] for n in order if n in of) for order in orders]
    has_order = any(meanings(version) == meant for version in in_order)
    return Case(name, base, ours, theirs, frozenset(content), meant, has_order)


def _one(
    base: Entry | None, ours: Entry | None, theirs: Entry | None, *, is_apart: bool
) -> tuple[Entry | None, bool]:
    """Merge the versions of an entry part by part; False where both sides changed a part.

    With `is_apart` a value is inside of what has the anchor, so that the two are merged apart.
    """
    if base is None or ours is None or theirs is None:
        return _merged(base, ours, theirs)
    kept = replace(base, key="", value="", anchor="", alias="")
    is_clear = True
    apart = (("anchor", "alias"), ("value",)) if is_apart else (("anchor", "alias", "value"),)
    for names in (("key",), *apart):
        part, is_right = _merged(*({n: getattr(e, n) for n in names} for e in (base, ours, theirs)))
        is_clear &= is_right
        kept = replace(kept, **part)
    return kept, is_clear


def _merged(base, ours, theirs):  # type: ignore[no-untyped-def]
    if theirs in (base, ours):
        return ours, True
    return theirs, ours == base


def _orders(base: list[int], ours: list[int], theirs: list[int]) -> Iterator[list[int]]:
    """The orders that a merge may have: that of the side that moved something, and new entries."""
    stay = [n for n in base if n in ours and n in theirs]
    for mine, yours in ((ours, theirs), (theirs, ours)):
        if [n for n in yours if n in stay] in (stay, [n for n in mine if n in stay]):
            for is_behind in (True, False):
                yield _with_new(mine, [n for n in yours if n not in mine], yours, is_behind)


def _with_new(order: list[int], new: list[int], there: list[int], is_behind: bool) -> list[int]:
    result = list(order)
    for number in new:
        at = there.index(number)
        before = next((n for n in reversed(there[:at]) if n in result), None)
        behind = next((n for n in there[at + 1 :] if n in result), None)
        if (is_behind and before is not None) or behind is None:
            result.insert(result.index(before) + 1 if before is not None else 0, number)
        else:
            result.insert(result.index(behind), number)
    return result


# -- texts


def _flat(entry: Entry) -> str:
    return (
        f"*{entry.alias}"
        if entry.alias
        else (f"&{entry.anchor} " if entry.anchor else "") + entry.value
    )


def _as_map(version: Version) -> str:
    return "".join(f"{e.key}: {_flat(e)}\n" for e in version)


def _as_maps(version: Version) -> str:
    lines = []
    for e in version:
        if e.alias:
            lines.append(f"{e.key}:\n  own: {e.key}-own\n  <<: *{e.alias}\n")
        else:
            mark = f" &{e.anchor}" if e.anchor else ""
            number = e.number
            rest = "".join(f"  f{n}: fixed-{number}-{n}\n" for n in range(4))
            lines.append(f"{e.key}:{mark}\n  v: {e.value}\n{rest}")
    return "".join(lines)


def _as_keyed(version: Version) -> str:
    return "things:\n" + "".join(
        f"  - name: {e.key}\n    v: {_flat(e)}\n    fixed: fixed-{e.number}\n    more: more-{e.number}\n"
        for e in version
    )


def _as_nested(version: Version) -> str:
    return "---\ntop:\n  inner:\n" + "".join(
        f"    # about {e.number}\n    {e.key}: {_flat(e)}  # behind\n\n" for e in version
    )


def _as_flow(version: Version) -> str:
    return "top: {\n" + ",\n".join(f"  {e.key}: {_flat(e)}" for e in version) + "\n}\n"


def _as_documents(version: Version) -> str:
    return (
        f"d0: &k zero\na0: *k\n---\n{_as_map(version)}---\nd99: &k last\nd98: &k final\na99: *k\n"
    )


def _as_items(version: Version) -> str:
    return "apiVersion: v1\nkind: List\nitems:\n" + "".join(
        f"- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: {e.key}\n  data:\n    v: {_flat(e)}\n"
        f"    fixed: fixed-{e.number}\n    more: more-{e.number}\n"
        for e in version
    )


LAYOUTS = {
    "map": _as_map,
    "maps": _as_maps,
    "keyed": _as_keyed,
    "nested": _as_nested,
    "flow": _as_flow,
    "documents": _as_documents,
    "items": _as_items,
}


@dataclass
class Read:
    """What a text holds at one place, by the events of its parser."""

    anchor: str = ""
    alias: str = ""
    text: str = ""
    pairs: list[tuple[str, Read]] | None = None
    items: list[Read] | None = None

    def at(self, *steps: str) -> Read:
        here = self
        for step in steps:
            here = next(inside for key, inside in here.pairs or [] if key == step)
        return here


def documents(data: bytes) -> list[Read]:
    """The documents of a text; an anchor may be repeated."""
    found: list[Read] = []
    open_ones: list[list[Read]] = []
    for event in yaml.parse(data, Loader=LOADER):
        if isinstance(event, yaml.AliasEvent):
            made = Read(alias=event.anchor)
        elif isinstance(event, yaml.ScalarEvent):
            made = Read(event.anchor or "", text=event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            open_ones.append([Read(event.anchor or "", text=event.__class__.__name__[0])])
            continue
        elif isinstance(event, yaml.CollectionEndEvent):
            made, *inside = open_ones.pop()
            if made.text == "M":
                pairs = zip(inside[::2], inside[1::2], strict=True)
                made.pairs = [(key.text, value) for key, value in pairs]
            else:
                made.items = inside
            made.text = ""
        else:
            continue
        (open_ones[-1] if open_ones else found).append(made)
    return found


def _read_entry(key: str, read: Read, number_of: dict[str, int]) -> Entry:
    if read.pairs is not None:
        table = dict(read.pairs)
        alias_of = table["<<"].alias if "<<" in table else ""
        text = table["v"].text if "v" in table else ""
    else:
        alias_of, text = read.alias, read.text
    return Entry(number_of.get(key, -1), key, text, read.anchor, alias_of)


def read_version(layout: str, data: bytes, number_of: dict[str, int]) -> Version | None:
    """The entries of a text in their order, or None if it is not what the layout writes."""
    try:
        roots = documents(data)
        if layout == "documents":
            if len(roots) != 3 or data.count(b"&k last") != 1:
                return None
            roots = roots[1:2]
        (root,) = roots
        pairs: list[tuple[str, Read]]
        if layout == "keyed":
            pairs = [(e.at("name").text, e.at("v")) for e in root.at("things").items or []]
        elif layout == "items":
            pairs = [
                (e.at("metadata", "name").text, e.at("data", "v"))
                for e in root.at("items").items or []
            ]
        else:
            way = {"nested": ("top", "inner"), "flow": ("top",)}.get(layout, ())
            pairs = root.at(*way).pairs or []
        return tuple(_read_entry(key, read, number_of) for key, read in pairs)
    except (yaml.YAMLError, StopIteration, ValueError):
        return None


def verdict(case: Case, layout: str, data: bytes) -> str:
    """Whether a clean result is right, wrong, or bold: clean where the truth is a conflict."""
    known = (*case.base, *case.ours, *case.theirs)
    made = read_version(layout, data, {entry.key: entry.number for entry in known})
    if case.content is None:
        return "bold"
    if made is None or len(made) != len(case.content) or frozenset(made) != case.content:
        return "wrong"
    return "right" if meanings(made) == case.meant else "wrong"
