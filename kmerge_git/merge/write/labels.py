"""Write the label of a conflict: its place, and what each side did at that place.

If the sides are swapped, only the words `in ours` and `in theirs` change.
"""

from __future__ import annotations

from kmerge_git.kube import fieldpath
from kmerge_git.kube.differing import differing
from kmerge_git.kube.identity import describe, identity
from kmerge_git.kube.listkeys import field_text, start
from kmerge_git.merge.plan import ADVICE, Clash, Item, Why
from kmerge_git.merge.three import Three, grouped
from kmerge_git.merge.write.placed_lines import entry_lines, shift_rest
from kmerge_git.merge.write.units import NAMING
from kmerge_git.text.diff3 import changes
from kmerge_git.text.pieces import UNDECIDED
from kmerge_git.tree.nodes import Scalar, column_of, in_flow
from kmerge_git.tree.same import canon, comments, is_undecided

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.identity import Identity
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.outcome import Conflict
    from kmerge_git.text.pieces import Hunk
    from kmerge_git.tree.documents import Document
    from kmerge_git.tree.nodes import Entry, Node

MOST = 3  # paths, causes and names that one label shows; more are counted
LONGEST = 60  # characters of a name, and of fields; of longer fields the first is shown
# The fields that name an element without a key; the first field that is present counts.
SHOWN = (*NAMING, "host", "path")


def label(resource: str, conflicts: Sequence[Conflict]) -> str:
    """Return the label of one pair of markers, such as `Deployment/web spec.replicas: ...`."""
    parts: list[str] = []
    for words, places in grouped((c.told, c.run) for c in conflicts if c.told).items():
        place = _some(fieldpath.together([one for one in dict.fromkeys(places) if one]))
        if not parts:
            place = " ".join(part for part in (resource, place) if part)
        parts.append(f"{place}: {words}" if place else words)
    return _some(parts, "; ") or resource


def where(hunk: Hunk) -> str:
    """Return the place of a conflict, such as `spec.tolerations[0-2] (spot, gpu)`.

    The place may have several elements.
    """
    item = hunk.about
    if not (isinstance(item, Item) and isinstance(item.plan, Clash) and item.path):
        return hunk.place
    *path, first = item.path
    if not (isinstance(first, int) or first == ()):
        return hunk.place
    at = item.plan.at
    count = max(len(at.ours), len(at.theirs))
    run = f"[{first}-{first + count - 1}]" if isinstance(first, int) and count > 1 else ""
    names = _names_of_run(at, is_set=first == ())
    run = run or fieldpath.show((first,))
    return fieldpath.show(tuple(path)) + run + (f" ({names})" if names else "")


def told(hunk: Hunk) -> str:
    """Return what each side did at the place of a conflict, or else the general cause."""
    about, words, refused = hunk.about, hunk.why, hunk.refused
    if isinstance(about, Item) and isinstance(about.plan, Clash):
        words = _told_of_entries(about, about.plan)
        refused = about.plan.refused
    elif isinstance(about, Three):
        words = _told_of_documents(about, hunk.why)
    if refused:
        words += f"; {refused}" if refused.startswith(ADVICE) else f" ({refused})"
    return words if UNDECIDED not in words else hunk.why  # an undecided name is not shown


# -- entries


def _told_of_entries(item: Item, clash: Clash) -> str:
    at, why = clash.at, clash.why
    if at.base and bool(at.ours) != bool(at.theirs):
        if why in _DEEDS:
            return _entries_against_deletion(item, clash)
    elif why == Why.MOVED_AND_GONE:
        return _moved_and_gone(at) or why
    if why in (Why.RENAMED_APART, Why.BOTH_CHANGED):
        return _both_renamed(item.path, at, why) or why
    if why == Why.RENAMED_AND_GONE and not _has_key(item.path, at):
        # an element without a key was not renamed
        return "changed on one side, replaced on the other side"
    if why in (Why.WHICH, Why.REPLACED, Why.BOTH_ADDED, Why.TWO_VERSIONS, Why.RENAMED_AND_GONE):
        return _with_new_names(item.path, at, why)
    return why


def _entries_against_deletion(item: Item, clash: Clash) -> str:
    """Return what one side changed in entries that the other side deleted."""
    old, new = clash.at.base, clash.at.ours or clash.at.theirs
    is_one = len(old) == len(new) == 1 and not is_undecided(old[0].value)
    deed = _DEEDS[clash.why]
    if clash.why == Why.RENAMED_AND_GONE:
        name = _name(new[0], item.path) if is_one else ""
        deed = f"renamed to `{name}`" if name and name != _name(old[0], item.path) else deed
    texts = ["".join(map(_entry_text, entries)) for entries in (old, new)]
    fields = ""
    if is_one:
        fields = _fields(old[0].value, new[0].value, clash.where, texts)
    return _against_deletion(deed, bool(clash.at.ours), texts, fields)


def _entry_text(entry: Entry) -> str:
    """Return the lines of an entry, which may be in brackets, without indentation."""
    if not in_flow(entry):
        return entry_lines(entry, 0)
    return shift_rest(entry.value.text[entry.start : entry.value.end], -column_of(entry)) + "\n"


def _moved_and_gone(at: Three[list[Entry]]) -> str:
    """Return which side deleted entries of a list and which side moved entries."""
    known = at.map(lambda entries: {canon(entry.value) for entry in entries})
    mine, yours = known.base - known.ours, known.base - known.theirs
    if bool(mine) == bool(yours):
        return ""
    return "deleted in ours, moved in theirs" if mine else "deleted in theirs, moved in ours"


def _both_renamed(path: Path, at: Three[list[Entry]], why: str) -> str:
    """If both sides renamed one thing differently, return its old name and the new names."""
    if not all(len(entries) == 1 for entries in at.each()):
        return ""
    one = at.map(lambda entries: entries[0])
    if why == Why.RENAMED_APART:
        names = one.map(lambda entry: entry.name)
    elif path[-1:] == ("name",) and _is_name(path, one.base):
        names = one.map(lambda entry: _text_of(entry.value))
    else:
        return ""
    if not all(names.each()):
        return ""
    base, ours, theirs = names.map(_short).each()
    return f"renamed from `{base}` to `{ours}` in ours, to `{theirs}` in theirs"


def _is_name(path: Path, base: Entry) -> bool:
    """Return whether a field is the name of its element, or of the resource."""
    if path == ("metadata", "name"):
        return True
    parent = path[-2] if len(path) > 1 else ()
    return isinstance(parent, tuple) and ("name", _text_of(base.value)) in parent


def _text_of(node: Node) -> str:
    return node.value if isinstance(node, Scalar) else ""


def _with_new_names(path: Path, at: Three[list[Entry]], why: str) -> str:
    """Return the cause of a conflict, with the names of each side's new elements."""
    names = at.map(lambda entries: [_name(entry, path) for entry in entries])
    known = names.map(set)
    ours, theirs = ([n for n in side if n not in known.base] for side in (names.ours, names.theirs))
    if not all((*ours, *theirs)):
        return why
    if ours == theirs:
        gone = [n for n in names.base if n not in known.ours and n not in known.theirs]
        if why == Why.BOTH_ADDED or not ours or not gone:
            return why
        return f"{_quoted(gone)} replaced by {_quoted(ours)} on both sides, with different content"
    sides = [(ours, "in ours"), (theirs, "in theirs")]
    shown = [f"{_quoted(found)} {side}" for found, side in sides if found]
    if why == Why.WHICH:
        return f"perhaps renamed to {' or to '.join(shown)}"
    if len(shown) < 2:
        return why
    if why in (Why.REPLACED, Why.RENAMED_AND_GONE):
        return f"replaced by {', by '.join(shown)}"
    return f"{why}, as {', as '.join(shown)}"


def _quoted(names: list[str]) -> str:
    return _some([f"`{name}`" for name in names])


# -- runs of elements without keys


def _names_of_run(at: Three[list[Entry]], *, is_set: bool) -> str:
    """Return the names that the elements have: `spot, gpu`, or `spot in ours, gpu in theirs`."""

    def names(entries: list[Entry]) -> list[str]:
        found = (_short(_text_of(e.value)) if is_set else _own_name(e) for e in entries)
        return list(dict.fromkeys(name for name in found if name))

    mine, yours = names(at.ours), names(at.theirs)
    if not mine or not yours or mine == yours:
        return _some(mine or yours)
    if set(mine) & set(yours):  # a label has no room for the names of each side
        return _some(sorted({*mine, *yours}))
    return f"{_some(mine)} in ours, {_some(yours)} in theirs"


def _own_name(entry: Entry) -> str:
    texts = (field_text(entry.value, name) for name in SHOWN)
    return _short(next((text for text in texts if text), ""))


def _name(entry: Entry, path: Path) -> str:
    """Return the name of an entry: its key in a mapping, its key fields in a list."""
    if entry.key is not None:
        return _short(entry.name)
    step = path[-1] if path else ()
    if isinstance(step, tuple) and step and isinstance(step[0], tuple):
        return _short(field_text(entry.value, step[0][0]) or "")
    return _own_name(entry)


def _has_key(path: Path, at: Three[list[Entry]]) -> bool:
    """Return whether entries have a key, in a mapping, or key fields, in a list."""
    is_named = any(entry.key is not None for entries in at.each() for entry in entries)
    return is_named or bool(path and isinstance(path[-1], tuple))


# -- documents


def _told_of_documents(at: Three[Document | None], why: str) -> str:
    base, ours, theirs = at.each()
    is_new = base is None or why == Why.REPLACED
    if is_new and ours is not None and theirs is not None:
        return _told_of_new(identity(ours.root), identity(theirs.root), why)
    new = ours or theirs
    if base is None or new is None or (ours and theirs):
        return why
    if why not in _DEEDS and why != Why.WHICH:
        return why
    deed, gone = _deeds(base, new, why)
    texts, fields = [base.content, new.content], ""
    if base.root is not None and new.root is not None:
        fields = _fields(base.root, new.root, start(base.root, new.source.path), texts)
    return _against_deletion(deed, ours is not None, texts, fields, gone)


def _deeds(base: Document, new: Document, why: str) -> tuple[str, str]:
    """Return what a side did that has a resource, or '', and what a side did that lacks it."""
    if why not in (Why.RENAMED_AND_GONE, Why.WHICH):
        return _DEEDS.get(why, ""), "deleted {}"
    perhaps, old_name = "perhaps " if why == Why.WHICH else "", _old_name(base, new)
    if old_name:
        return f"{perhaps}renamed from `{old_name}`", "deleted {}"
    return ("", "deleted or renamed {}") if perhaps else ("renamed", "deleted {}")


def _old_name(base: Document, new: Document) -> str:
    """Return the old name of a resource that has another name now, or ''."""
    old, now = identity(base.root), identity(new.root)
    if old is None or now is None or old == now:
        return ""
    return _short(old.name if old.kind == now.kind else describe(old))


def _told_of_new(mine: Identity | None, yours: Identity | None, why: str) -> str:
    """Return how two new resources differ."""
    if mine is None or yours is None:
        return why
    if why == Why.STRANGERS:
        return f"{why}: {_each(describe(mine), describe(yours))}"
    if why == Why.REPLACED:
        one, other = (known.name or f"{known.generate_name}*" for known in (mine, yours))
        return why if one == other else f"replaced {_each(one, other, 'by ')}"
    if why == Why.NAMESPACES:
        return f"{Why.BOTH_ADDED}, {_each(mine.namespace, yours.namespace, 'in namespace ')}"
    if why == Why.GROUPS:
        one, other = (f"{known.group}/{known.version}".strip("/") for known in (mine, yours))
        return f"{Why.BOTH_ADDED}, {_each(one, other, 'as ')}"
    return why


def _each(mine: str, yours: str, before: str = "") -> str:
    """Return one name for each side, such as `by `a` in ours, by `b` in theirs`."""
    names = [f"`{_short(name)}`" if name else "none" for name in (mine, yours)]
    return f"{before}{names[0]} in ours, {before}{names[1]} in theirs"


# -- words

# The verb for the side that has the entry; empty if the side changed lines, which are counted.
_DEEDS = {
    Why.OURS_GONE: "",
    Why.THEIRS_GONE: "",
    Why.BOTH_CHANGED: "",
    Why.MOVED_AND_GONE: "moved",
    Why.RENAMED_AND_GONE: "renamed",
}


def _against_deletion(
    deed: str, is_ours: bool, texts: list[str], fields: str, gone: str = "deleted {}"
) -> str:
    """Return a sentence such as `deleted in ours, 2 of 6,160 lines changed in theirs: ..`."""
    has, lacks = ("in ours", "in theirs") if is_ours else ("in theirs", "in ours")
    # the lines of an undecided base were in no file
    count, total = _changed_lines(*texts) if UNDECIDED not in texts[0] else (0, 0)
    lines = f"{count:,} of {total:,} lines changed"
    if deed:  # for a single changed line the word is enough
        is_more = count > 1
        what = f"{deed} {has}" + (f" ({lines})" if is_more else "")
    else:
        is_more = count > 0 and total > 1
        what = f"{lines} {has}" if is_more else f"changed {has}"
    words = f"{gone.format(lacks)}, {what}"
    return f"{words}: {fields}" if is_more and fields else words


def _changed_lines(old: str, new: str) -> tuple[int, int]:
    """Count the lines that differ, and all lines; a line that replaces another counts once."""
    a, b = old.splitlines(), new.splitlines()
    hunks = changes(a, b)
    changed = sum(max(a1 - a0, b1 - b0) for a0, a1, b0, b1 in hunks)
    return changed, len(a) - sum(a1 - a0 for a0, a1, _, _ in hunks) + changed


def _fields(old: Node, new: Node, place: Where, texts: list[str]) -> str:
    """Return the fields that differ, up to the number that a label has room for."""
    paths = differing(old, new, place)
    if not paths and comments(texts[0]) != comments(texts[1]):
        return "comments only"
    shown = [fieldpath.show(path) for path in paths if path]
    return _some(shown, most=MOST if sum(map(len, shown[:MOST])) <= LONGEST else 1)


def _some(texts: Sequence[str], between: str = ", ", most: int = MOST) -> str:
    """Return the first few texts, and the number of the remaining texts."""
    rest = len(texts) - most
    return between.join(texts[:most]) + (f" and {rest} more" if rest > 0 else "")


def _short(name: str) -> str:
    name = " ".join(name.split())
    half = LONGEST // 2 - 1  # the end of an image is its tag
    return name if len(name) <= LONGEST else f"{name[:half]}...{name[-half:]}"
