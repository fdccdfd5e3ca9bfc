"""Write the result of an inner merge of a criss-cross: a placeholder for every conflict.

The next merge must be able to find a placeholder by its place: the value below a key, an element
with its key, or a document with its name. A list merges as a plain sequence if one of its elements
has no certain key. If a place cannot hold a placeholder, a placeholder replaces the entry around
that place.
"""

from __future__ import annotations

from kmerge_git.kube.identity import Identity, describe, identity
from kmerge_git.kube.listkeys import KEYS, field_text
from kmerge_git.merge.merged import (
    MergedDocument,
    MergedFile,
    conflict_of,
    opening_in,
    texts_of,
    to_bytes,
)
from kmerge_git.merge.plan import Build, Clash, Item, NewText, Plan, Take, Why, has_clash
from kmerge_git.merge.three import Three
from kmerge_git.merge.write.document_text import write_document
from kmerge_git.outcome import Outcome
from kmerge_git.text.pieces import UNDECIDED, Hunk, digest, is_clean
from kmerge_git.tree.documents import split_text
from kmerge_git.tree.nodes import Collection, Entry, Mapping, Node, Scalar, after, is_block_text
from kmerge_git.tree.same import comments, respell, same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence as List

    from kmerge_git.kube.fieldpath import Step
    from kmerge_git.merge.merged import Trio
    from kmerge_git.merge.plan import Lines
    from kmerge_git.text.pieces import Pieces
    from kmerge_git.text.source import Source

    Fields = list[tuple[str, str | None]]  # names, and values as text

COMMENT = "# "


def undecided(merged: MergedFile, sources: Three[Source]) -> Outcome:
    """Return the outcome of a merged file in which placeholders replace the conflicts."""
    conflicts = tuple(conflict_of(*hunk) for hunk in merged.hunks())
    data = to_bytes(undecided_text(merged), sources)
    return Outcome(data, False, "structure", conflicts=conflicts)


def undecided_text(merged: MergedFile) -> str:
    """Return the whole text with placeholders; raise an error if the text does not parse again."""
    prologue = _known(merged.prologue, Three(None, None, None))
    undecided = MergedFile(prologue, list(map(_document, merged.documents)), merged.tail)
    text = undecided.decided("ours")
    _ = split_text(text).roots
    return text


def nothing_decided(texts: Three[bytes]) -> bytes:
    """Return a file that is one placeholder; the inputs may be binary."""
    decoded = texts.map(lambda data: data.decode("utf-8", "backslashreplace"))
    return (_object([], digest(*decoded.each())) + "\n").encode()


def _document(merged: MergedDocument) -> MergedDocument:
    if is_clean(merged.pieces):
        return merged
    elided, plan = merged.elided, merged.plan and _plan(merged.plan)
    if plan is not None:
        pieces = write_document(plan, elided.at if elided is not None else merged.at)
    elif merged.plan is not None:
        pieces, elided = [_unknown(merged.at, texts_of(merged.at))], None
    else:
        pieces = _known(merged.pieces, merged.at)
    result = MergedDocument(merged.at, merged.name, None, pieces, elided)
    result.opening = merged.opening
    return result


def _known(pieces: Pieces, at: Trio) -> Pieces:
    """Return a document that is not merged field by field, with placeholders for conflicts."""
    return [piece if isinstance(piece, str) else _known_of(piece, at) for piece in pieces]


def _known_of(hunk: Hunk, at: Trio) -> str:
    texts = Three(hunk.base, hunk.ours, hunk.theirs)
    if hunk.why == Why.COMMENT:
        return f"{COMMENT}{UNDECIDED}: {digest(*texts.each())}\n"
    opening = ""  # an opening line within the hunk is above every side
    for document, text in zip(at.each(), texts.each(), strict=True):
        opening = opening_in(text, document) or opening
    if opening.endswith("---"):  # the document began on this line
        opening += " "
    return opening + _unknown(at, texts)


def _unknown(at: Trio, texts: Three[str]) -> str:
    """Return a document that holds only its name and a placeholder."""
    roots = [d.root for d in at.each() if d is not None and d.root is not None]
    return _object(roots, digest(*texts.each())) + "\n"


# -- plans


def _plan(plan: Plan) -> Plan | None:
    """Replace every conflict in a plan by a placeholder; return None if that is impossible."""
    if isinstance(plan, NewText):
        if not is_block_text(plan.ours) and has_clash(plan):
            return None
        parts: Lines = [*_lines(plan.parts, "")]
        return NewText(plan.ours, plan.header, parts, plan.comment)
    if not isinstance(plan, Build):
        return plan
    items = []
    for item in plan.items:
        undecided = _item(item)
        if undecided is None:
            return None
        items.append(undecided)
    head, foot = _comments(plan.head), _comments(plan.foot)
    return Build(plan.ours, plan.theirs, items, head=head, foot=foot, properties=plan.properties)


def _comments(parts: Lines | None) -> Lines | None:
    return parts and [*_lines(parts, COMMENT)]


def _lines(parts: Lines, start: str) -> list[List[str]]:
    return [_line_of(part, start) if isinstance(part, Three) else part for part in parts]


def _line_of(lines: Three[List[str]], start: str) -> List[str]:
    return [f"{start}{UNDECIDED}: {digest(*lines.map(chr(10).join).each())}"]


def _item(item: Item) -> Item | None:
    if isinstance(item.plan, Clash):
        return _placeholder(item, item.plan.at)
    plan = _plan(item.plan)
    if plan is None:
        versions = Three(item.base, item.ours, item.theirs)
        return _placeholder(item, versions.map(lambda entry: [entry] if entry else []))
    return item.but(plan, item.theirs, _comments(item.lead))


def _placeholder(item: Item, at: Three[list[Entry]]) -> Item | None:
    """Return one entry that replaces all of these entries and has their common key."""
    entries = [entry for some in at.each() for entry in some]
    nodes = [entry.value for entry in entries]
    texts = ["".join(e.value.text[e.lead : e.end] for e in some) for some in at.each()]
    mark = digest(*texts)
    if entries[0].key is None:
        named = max(map(len, at.each())) == 1 and _is_named(nodes, item.path[-1:])
        first, line = "- 0", f"- {_object(nodes if named else [], mark)}{_tail(at)}"
    elif len({entry.name for entry in entries}) == 1:
        key = min(entry.key.raw for entry in at.base or entries if entry.key is not None)
        first, line = "0: 0", f"{key}: {_object([], mark)}{_tail(at)}"
    else:
        return None
    text = "".join(f"{line}\n" for line in (first, *_lead(item, at), line))
    root = split_text(text).documents[0].root
    if not isinstance(root, Collection) or len(root.entries) != 2:
        return None
    entry = root.entries[1]
    return Item(Take(entry.value, entry), None, entry, item.path)


def _tail(at: Three[list[Entry]]) -> str:
    """If the versions' comments differ, return an undecided comment for the end of an entry."""
    tails = [comments(after(some[0])) for some in at.each() if some]
    texts = at.map(lambda some: "".join(map(after, some)))
    differ = any(tail != tails[0] for tail in tails)
    return f"  {COMMENT}{UNDECIDED}: {digest(*texts.each())}" if differ else ""


def _lead(item: Item, at: Three[list[Entry]]) -> List[str]:
    """Return the merged comment lines above an entry, or an undecided comment."""
    if item.lead is not None:
        return [line for part in _lines(item.lead, COMMENT) for line in part]
    leads = at.map(lambda some: _lead_lines(some[0]) if some else [])
    if isinstance(item.plan, Clash) and item.plan.with_lead:
        known = [lead for lead, some in zip(leads.each(), at.each(), strict=True) if some]
        if any(any(lead) and lead != known[0] for lead in known):
            return _line_of(leads, COMMENT)
        return known[0]
    return leads.ours


def _lead_lines(entry: Entry) -> list[str]:
    return [line.strip() for line in entry.value.text[entry.lead : entry.line].split("\n")[:-1]]


# -- the parts of a value that all versions share


def _is_named(nodes: list[Node], steps: tuple[Step, ...]) -> bool:
    """Return whether a path has a step that names a list element and fits all nodes."""
    return any(
        isinstance(step, tuple) and bool(step) and all(_has_part(nodes, part) for part in step)
        for step in steps
    )


def _has_part(nodes: list[Node], part: tuple[str, str] | str) -> bool:
    if not isinstance(part, str):
        return all(field_text(node, part[0]) in (part[1], None) for node in nodes)
    if any(all(field_text(node, key) == part for node in nodes) for key in KEYS):
        return True
    known = _identity(nodes)
    return known is not None and describe(known) == part


def _object(nodes: list[Node], mark: str) -> str:
    """Return a one-line mapping, valid as JSON, with the nodes' common identity and the mark."""
    known = _identity(nodes)
    fields = _shared(nodes) if known is None else _full_name(known)
    return _line([*fields, (UNDECIDED, respell(mark, '"'))])


def _line(fields: Fields) -> str:
    pairs = [(respell(name, '"'), text) for name, text in fields]
    return "{" + ", ".join(f"{name}: {text}" for name, text in pairs if name and text) + "}"


def _identity(nodes: list[Node]) -> Identity | None:
    """Return the identity of resources if all of them share it."""
    known = [identity(node) for node in nodes]
    return known[0] if len(set(known)) == 1 else None


def _full_name(known: Identity) -> Fields:
    version = f"{known.group}/{known.version}" if known.group else known.version
    names = ("name", known.name), ("namespace", known.namespace)
    named = [*names, ("generateName", known.generate_name)]
    metadata = _line([(field, respell(text, '"')) for field, text in named if text])
    texts = [("apiVersion", respell(version, '"')), ("kind", respell(known.kind, '"'))]
    return [*texts, ("metadata", metadata)]


def _shared(nodes: list[Node]) -> Fields:
    """Return the scalar fields that all nodes share."""
    mappings = [node.index() for node in nodes if isinstance(node, Mapping)]
    if not mappings or len(mappings) < len(nodes):
        return []
    fields: Fields = []
    for name in sorted(set(mappings[0]).intersection(*mappings[1:])):
        first, *others = (mapping[name].value for mapping in mappings)
        if isinstance(first, Scalar) and all(same_node(first, other) for other in others):
            fields.append((name, respell(first.value, '"')))
    return fields
