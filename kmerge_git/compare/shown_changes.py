"""Show a comparison as text: one line for each change, with long values shortened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from kmerge_git.compare import shown_values
from kmerge_git.compare.change import At, FieldChange, FieldValue
from kmerge_git.compare.file_changes import hunks, in_lines
from kmerge_git.compare.folder_changes import POINTERS, ComparedFile
from kmerge_git.kube import fieldpath
from kmerge_git.text.diff3 import longest_increasing
from kmerge_git.visible import counted

_MOST_OTHERS = 40  # the most values or lines to compare a long text with
_SIGNS = {"added": ("+", "green"), "deleted": ("-", "red")}
NAME = ("metadata", "name")


def lines(files: Iterable[ComparedFile], *, full: bool = False) -> Iterator[Line]:
    """Yield the lines of a report about compared files."""
    for file in files:
        yield from file_lines(file, full=full)


def file_lines(file: ComparedFile, *, full: bool = False) -> Iterator[Line]:
    """Yield a file's name, and then the changes in the file."""
    said = file.path
    if file.how == "renamed":
        said += f": renamed from {file.source}"
    elif file.how != "changed":
        said += f": {file.how}"
    if file.note:
        said += f" ({file.note})" if ":" in said or file.changes else f": {file.note}"
    if file.note in POINTERS.values() and file.changes:
        ends = _target(file.changes[0].before), _target(file.changes[0].after)
        yield f"{file.path}: {file.note}, {ends[0]} -> {ends[1]}", "bold"
        return
    if not file.is_manifest and any(file.lines):
        said += f"{',' if ': ' in said else ':'} {_plus_minus(file)}"
    if file.changes and file.changes[0].how == "binary":
        values = file.changes[0].before, file.changes[0].after
        sizes = [value.plain if value else 0 for value in values]
        yield f"{said}: binary, {sizes[0]} -> {sizes[1]} bytes", "bold"
        return
    yield said, "bold"
    if file.is_manifest:
        yield from change_lines(file.changes, "  ", full=full)


def _target(value: FieldValue | None) -> str:
    """Return the target of a symbolic link, or the short commit id of a submodule."""
    target = "".join(value.plain) if value and isinstance(value.plain, list) else ""
    oid, _, dirty = target.partition("-")
    is_oid = len(oid) in (40, 64) and set(oid) <= set("0123456789abcdef") and dirty in ("", "dirty")
    return target.replace(oid, oid[:12]) if is_oid else target or "nothing"


def change_lines(
    changes: Iterable[FieldChange], indent: str = "", *, full: bool = False
) -> Iterator[Line]:
    """Yield the lines for the changes of one file; unless they are `full`, fold long lines."""
    for text, colour in _by_resource(changes, indent, full=full):
        yield from ((part, colour) for part in ((text,) if full else shown_values.folded(text)))


def _by_resource(changes: Iterable[FieldChange], indent: str, *, full: bool) -> Iterator[Line]:
    """Yield the lines for changes, under the names of the resources."""
    for _, group in groupby(changes, key=lambda change: (change.resource, change.document)):
        together = list(group)
        head = together[0]
        if head.how in _SIGNS and not head.steps:
            yield from _whole(head, indent, full=full)
            continue
        inner = indent
        at = head.document
        if head.resource:
            renamed = f": renamed from {_old_name(head)}" if head.how == "renamed" else ""
            yield f"{indent}{head.resource}{renamed}", "bold"
            inner += "  "
            if renamed:
                together = [c for c in together if c.steps != NAME or c.how != "changed"]
        elif at and head.how != "lines" and (at.old or at.new):
            yield f"{indent}document {(at.new or 0) + 1}", "bold"
            inner += "  "
        yield from _fields([c for c in together if c.how != "renamed"], inner, full=full)


def _old_name(change: FieldChange) -> str:
    """Return the old name of a resource, without the kind if the kind is the same."""
    kind, _, name = change.source.partition("/")
    return (
        name if name and kind == change.resource.partition("/")[0] else change.source or "no name"
    )


def _whole(change: FieldChange, indent: str, *, full: bool) -> Iterator[Line]:
    """Yield the lines of an added, deleted or moved resource."""
    colour = _SIGNS[change.how][1]
    at = change.document
    name = (
        change.resource
        or f"document {((at.new if at.new is not None else at.old) or 0) + 1 if at else 1}"
    )
    if change.target:
        yield f"{indent}{name}: moved to {change.target}", "yellow"
    elif change.source:
        yield f"{indent}{name}: moved from {change.source}", "yellow"
        yield from _fields(change.inside, indent + "  ", full=full)
    else:
        value = change.after or change.before
        yield f"{indent}{name}{_namespace(value)}: {change.how}", colour
        if full and value:
            sign = _SIGNS[change.how][0]
            for line in shown_values.block(value.plain):
                yield f"{indent}  {sign} {line}", colour


def _namespace(value: FieldValue | None) -> str:
    """Return words for the namespace of a resource, as resources can share a name."""
    about = value.plain.get("metadata") if value and isinstance(value.plain, dict) else None
    namespace = about.get("namespace") if isinstance(about, dict) else None
    return f" in {namespace}" if namespace and isinstance(namespace, str) else ""


def _fields(changes: Sequence[FieldChange], indent: str, *, full: bool) -> Iterator[Line]:
    others = _counterparts(changes)
    for _, group in groupby(changes, key=_neighbours):
        together = list(group)
        joined = _joined(together) if len(together) > 1 or _is_element(together[0]) else ""
        if joined:
            hows = {change.how for change in together}
            yield f"{indent}{joined}", _SIGNS[hows.pop()][1] if len(hows) == 1 else ""
        elif len(together) > 1 and not full and all(c.how == "deleted" for c in together):
            names = shown_values.cut(", ".join(fieldpath.show(c.path[-1:]) for c in together))
            count = sum(_leaves(change.before.plain) for change in together if change.before)
            yield f"{indent}{_list_of(together)}: deleted {names}, {count} values", "red"
        else:
            for change in together:
                counterparts = others.get((change.steps[:-1], change.how), ())
                yield from _field(change, indent, counterparts, full=full)


def _counterparts(changes: Sequence[FieldChange]) -> dict[object, list[str]]:
    """For each list, map `added` to the deleted elements, and `deleted` to the added elements."""
    others: dict[object, list[str]] = {}
    for change in changes:
        if _is_element(change):
            how = "deleted" if change.how == "added" else "added"
            text = shown_values.written(change.after or change.before)
            others.setdefault((change.steps[:-1], how), []).append(text)
    return others


def _neighbours(change: FieldChange) -> object:
    """Return a key; changes with the same key, such as elements of one list, share a line."""
    if not _is_element(change):
        return change.steps, change.how
    # large added elements do not share a line with deleted elements
    is_large = shown_values.is_large(change.before or change.after)
    return change.steps[:-1], change.how if is_large else ""


def _is_element(change: FieldChange) -> bool:
    return change.how in _SIGNS and bool(change.steps) and isinstance(change.steps[-1], At)


def _joined(changes: Sequence[FieldChange]) -> str:
    """Return `spec.env: + LOG_LEVEL=debug, - OLD`, or '' if the text is too long for a line."""
    words = []
    for change in changes:
        value = change.before if change.how == "deleted" else change.after
        step = change.steps[-1]
        key = fieldpath.show((step.shown,))[1:-1] if isinstance(step, At) and step.key else ""
        key = key.partition("=")[2] if "," not in key else key
        text = key if key and change.how == "deleted" else shown_values.element(value)
        words.append(f"{_SIGNS[change.how][0]} {text}")
    text = ", ".join(words)
    return f"{_list_of(changes)}: {text}" if len(text) <= 2 * shown_values.LONG else ""


def _list_of(changes: Sequence[FieldChange]) -> str:
    return fieldpath.show(changes[0].path[:-1]) or "list"


def _field(
    change: FieldChange, indent: str, counterparts: Sequence[str], *, full: bool
) -> Iterator[Line]:
    place = change.field or "document"
    if change.how == "layout":
        yield from _layout(change, indent)
    elif change.how == "lines":
        yield from numbered([change], indent, full=full)
    elif change.how == "reordered":
        what = change.field or ("resources" if not change.document else "document")
        yield f"{indent}{what}: new order: {_order(change, full=full)}", "yellow"
    elif change.how in _SIGNS:
        yield from _one_sided(change, place, indent, counterparts, full=full)
    else:
        yield from _changed(change, place, indent, full=full)


def _order(change: FieldChange, *, full: bool) -> str:
    """Return the names in the new order; if the text is too long, return only the moved names."""
    names = ", ".join(change.names)
    if full or len(names) <= shown_values.LONG:
        return names
    stay = {n for n, _ in longest_increasing(list(enumerate(change.order)))}
    moved = [name for n, name in enumerate(change.names) if n not in stay]
    return f"{len(moved)} of {len(change.names)} moved: {shown_values.cut(', '.join(moved))}"


def _one_sided(
    change: FieldChange, place: str, indent: str, counterparts: Sequence[str], *, full: bool
) -> Iterator[Line]:
    sign, colour = _SIGNS[change.how]
    if change.target:
        return  # the change at the new place shows the field
    if change.source:
        yield f"{indent}{place}: renamed from {change.source}", "yellow"
        yield from _fields(change.inside, indent + "  ", full=full)
        return
    value = change.after or change.before
    assert value is not None  # an added or deleted field has a value
    text = shown_values.written(value)
    is_text = isinstance(value.plain, str) and "\n" in value.plain
    if len(text) <= shown_values.LONG and not is_text:
        yield f"{indent}{place}: {sign} {text}", colour
        return
    if not isinstance(value.plain, dict | list) and not is_text:
        shown = text if full else shown_values.apart(text, counterparts[:_MOST_OTHERS])
        yield f"{indent}{place}: {sign} {shown}", colour
        return
    if change.how == "deleted" and not full:
        size = counted(_leaves(value.plain), "value")
        if isinstance(value.plain, str):
            size = counted(len(in_lines(value.plain)), "line")
        yield f"{indent}{place}: deleted, {size}", colour
        return
    yield f"{indent}{place}: {change.how}", colour
    body = [(f"{indent}  {sign} {line}", colour) for line in shown_values.block(value.plain)]
    yield from capped(body, f"{indent}  ", full=full)


def _leaves(value: object) -> int:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_leaves, items)) if items else 1


def _changed(change: FieldChange, place: str, indent: str, *, full: bool) -> Iterator[Line]:
    old, new = (value.plain if value else None for value in (change.before, change.after))
    if (
        isinstance(old, str)
        and isinstance(new, str)
        and "\n" in old.rstrip("\n") + new.rstrip("\n")
    ):
        yield f"{indent}{place}:", ""
        changes = hunks(in_lines(old), in_lines(new))
        yield from numbered(changes, indent + "  ", full=full)
        return
    before, after = shown_values.both(change.before, change.after, full=full)
    yield f"{indent}{place}: {before} -> {after}", ""


def _layout(change: FieldChange, indent: str) -> Iterator[Line]:
    """Yield a line about differences of layout, and the comments that were added or deleted."""
    words = [word for word in change.what if word != "comments"]
    if words:
        yield f"{indent}layout: {', '.join(words)}", "dim"
    texts = {sign: [text for s, text in change.comments if s == sign] for sign in "+-"}
    others = {"+": texts["-"], "-": texts["+"]}
    signed = [f"{sign} {shown_values.apart(text, others[sign])}" for sign, text in change.comments]
    if signed and len(", ".join(signed)) <= shown_values.LONG:
        yield f"{indent}comments: {', '.join(signed)}", "dim"
        return
    yield from capped([(f"{indent}{text}", "dim") for text in signed], indent, full=False)


# -- a file in one line


def summary(file: ComparedFile) -> str:
    """Summarize a file in one line: `apps/web.yaml: 3 fields in 1 resource, 1 resource deleted`."""
    name = f"{file.source} -> {file.path}" if file.how == "renamed" else file.path
    words: list[str] = [] if file.how == "changed" else [file.how]
    if not file.is_manifest:
        if any(file.lines):
            words.append(_plus_minus(file))
        words += ["binary"] if any(c.how == "binary" for c in file.changes) else []
    else:
        words += _counts(file)
    words += [file.note] if file.note else []
    return f"{name}: {', '.join(words)}" if words else name


def _plus_minus(file: ComparedFile) -> str:
    return "+{} -{}".format(*file.lines)


def _counts(file: ComparedFile) -> list[str]:
    kinds = Counter(_kind(change) for change in file.changes)
    within = {(c.resource, c.document) for c in file.changes if _kind(c) == "field"}
    words = []
    if kinds["field"]:
        inside = f" in {counted(len(within), 'resource')}" if any(r for r, _ in within) else ""
        words.append(counted(kinds["field"], "field") + inside)
    for kind in ("added", "deleted", "moved away", "moved here", "renamed"):
        if kinds[kind]:
            words.append(f"{counted(kinds[kind], 'resource')} {kind}")
    if kinds["lines"]:
        words.append(_plus_minus(file))
    words += ["order"] if kinds["reordered"] else []
    return words + (["layout"] if kinds["layout"] else [])


def _kind(change: FieldChange) -> str:
    if change.how in _SIGNS and change.steps:
        return "" if change.target else "field"  # only the change at the new key counts
    if change.how in _SIGNS:
        return "moved away" if change.target else "moved here" if change.source else change.how
    if change.how in ("lines", "layout", "renamed", "binary"):
        return change.how
    return "reordered" if change.how == "reordered" and not change.steps else "field"


MOST = 12  # the most lines of an added or deleted value
MOST_CHANGED = 40  # the most lines of a changed text
Line = tuple[str, str]  # a text and its colour


def numbered(changes: Sequence[FieldChange], indent: str, *, full: bool) -> Iterator[Line]:
    """Yield deleted lines with old line numbers, and added lines with new line numbers."""
    left = MOST_CHANGED
    total = sum(len(_texts(hunk.before)) + len(_texts(hunk.after)) for hunk in changes)
    full_length = full or total <= MOST_CHANGED + 1
    shown = 0
    for hunk in changes:
        gone, come = _texts(hunk.before), _texts(hunk.after)
        sizes = len(gone), len(come)
        if not full_length:
            old = min(len(gone), max(left // 2, left - len(come)))
            sizes = old, min(len(come), left - old)
        at = hunk.document or At(0, 0)
        for sign, colour, texts, others, first, count in (
            ("-", "red", gone, come, at.old, sizes[0]),
            ("+", "green", come, gone, at.new, sizes[1]),
        ):
            for number, text in enumerate(islice(texts, count), (first or 0) + 1):
                line = shown_values.line(text, others[:_MOST_OTHERS], full=full)
                yield f"{indent}{number:>3}{sign} {line}".rstrip(), colour
        shown += sum(sizes)
        left -= sum(sizes)
    if shown < total:
        yield f"{indent}… {total - shown} more lines", "dim"


def _texts(value: FieldValue | None) -> list[str]:
    return value.plain if value and isinstance(value.plain, list) else []


def capped(body: list[Line], indent: str, *, full: bool) -> Iterator[Line]:
    """Yield the first lines of a text and, if lines are omitted, a line with their number."""
    if full or len(body) <= MOST + 1:
        yield from body
        return
    yield from body[:MOST]
    yield f"{indent}… {len(body) - MOST} more lines", "dim"
