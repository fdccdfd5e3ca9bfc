"""Turn a preview into findings with lines and columns in the files of the merged commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kmerge_git.bounds import FOUND_MESSAGE, FOUND_PLACES, FOUND_VALUE
from kmerge_git.compare.file_changes import compare
from kmerge_git.errors import KmergeError
from kmerge_git.finding import ERROR, WARNING, Finding
from kmerge_git.git.repository import Repository
from kmerge_git.kube import fieldpath
from kmerge_git.kube.identity import describe, identity
from kmerge_git.merge.pairing import name_of
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, split
from kmerge_git.tree.nodes import Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.whole.both_merges import short

if TYPE_CHECKING:
    from kmerge_git.compare.change import FieldChange
    from kmerge_git.outcome import Conflict
    from kmerge_git.whole.previewing import FilePreview, Preview


@dataclass(frozen=True, slots=True)
class PreviewRule:
    """Describe one kind of finding: its severity, its meaning and its remedy."""

    id: str
    severity: str
    what: str
    mend: str


CONFLICT = PreviewRule(
    "conflict",
    ERROR,
    "both sides changed it, so the conflict is left unresolved",
    "Merge the target branch with `kmerge merge`, then run `kmerge resolve`.",
)
IMPROVED = PreviewRule(
    "improved",
    WARNING,
    "git merges it without a conflict, but its result differs in meaning from kmerge's",
    "Merge the target branch with `kmerge merge`.",
)
RULES = (CONFLICT, IMPROVED)


def findings(repository: Repository, preview: Preview, ours: str) -> list[Finding]:
    """Return findings about conflicts, and about fields that git merges differently from kmerge.

    Line numbers are those of the merged or rebased commit; `ours` is the name of the other side.
    """
    rows: list[Finding] = []
    for step in preview.steps:
        tree = repository.named(step.commit).tree
        for file in step.files:
            rows += _of_file(repository, tree, file, ours)
    return rows


def otherwise(file: FilePreview) -> list[FieldChange]:
    """Return the fields that git and kmerge merge differently, if both merges are clean."""
    return compare(*file.texts, file.path)[:FOUND_PLACES] if file.texts else []


def _of_file(repository: Repository, tree: str, file: FilePreview, ours: str) -> Iterator[Finding]:
    if file.result not in ("conflict", "improved"):
        return
    path = file.path
    entry = repository.entry(tree, path)
    if entry is None and file.old:  # the other side renamed the file
        path, entry = file.old, repository.entry(tree, file.old)
    if file.result == "improved":
        pins = _Pins(repository.text(entry))
        yield from _improved(file, path, pins)
        return
    fields = [conflict for conflict in file.conflicts if conflict.place]
    if not fields:
        whole = dict.fromkeys(conflict.told for conflict in file.conflicts)
        about = "; ".join(dict.fromkeys(p for p in (file.kind, file.note, *whole) if p))
        yield _finding(CONFLICT, path, (1, 1), about, "")
        return
    pins = _Pins(repository.text(entry))
    for conflict in fields[:FOUND_PLACES]:
        at = pins.at(conflict.resource, conflict.field)
        yield _finding(CONFLICT, path, at, _words(conflict, ours), conflict.field)
    if len(fields) > FOUND_PLACES:
        more = f"and {len(fields) - FOUND_PLACES} more conflicts in this file"
        yield _finding(CONFLICT, path, (1, 1), more, "")


def _words(conflict: Conflict, ours: str) -> str:
    """Return the message for a conflict; `ours` names the side whose value is shown."""
    first, _, rest = short(conflict.ours).partition("\n")
    cut = first[:FOUND_VALUE] + ("…" if rest or len(first) > FOUND_VALUE else "")
    return f"{conflict.shown()}; in {ours}: {cut or '(nothing)'}"


def _improved(file: FilePreview, path: str, pins: _Pins) -> Iterator[Finding]:
    for change in otherwise(file):
        place = " ".join(part for part in (change.resource, change.field) if part)
        at = pins.at(change.resource, change.field)
        what = "git's line merge gives a different result without a conflict"
        yield _finding(IMPROVED, path, at, f"{place}: {what}" if place else what, change.field)


def _finding(
    rule: PreviewRule, path: str, at: tuple[int, int], message: str, field: str
) -> Finding:
    cut = message[:FOUND_MESSAGE], field[:FOUND_MESSAGE]  # a key can be of any length
    return Finding(rule.id, rule.severity, path, *at, cut[0], path=cut[1], mend=rule.mend)


class _Pins:
    """Find the places of fields in one file; an unknown place is the first line."""

    def __init__(self, data: bytes | None) -> None:
        self._source = Source.of("")
        self._documents: dict[str, Document] = {}
        with suppress(KmergeError):
            self._source = Source(data or b"")
            for document in split(self._source).documents:
                self._documents.setdefault(name_of(document), document)

    def at(self, resource: str, field: str) -> tuple[int, int]:
        """Return the line and column of a field, or of the nearest parent that the file has."""
        document = self._documents.get(resource)
        with suppress(KmergeError):
            if document and document.root:
                return self._source.position(_reached(document.root, fieldpath.pattern(field)))
        return 1, 1


def _reached(node: Node, words: list[fieldpath.Word]) -> int:
    """Follow a path below a node as far as possible, and return the offset reached."""
    at = node.content
    for word in words:
        entry = _entry(node, word)
        if entry is None:
            break
        at, node = entry.start, entry.value
    return at


def _entry(node: Node, word: fieldpath.Word) -> Entry | None:
    raw, parts = (word, (word,)) if isinstance(word, str) else word
    if isinstance(node, Mapping):
        name = parts[0] if len(parts) == 1 else None
        return node.index().get(name) if isinstance(name, str) else None
    if not isinstance(node, Sequence) or isinstance(word, str):
        return None
    for entry in node.entries:
        if _is_called(entry.value, parts):
            return entry
    number = int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 8 else -1
    return node.entries[number] if 0 <= number < len(node.entries) else None


def _is_called(node: Node, parts: fieldpath.Element) -> bool:
    """Return whether a list element has the given keys or value, or is the given resource."""
    if isinstance(node, Scalar):
        return parts == (node.value,)
    if not isinstance(node, Mapping):
        return False
    pairs = [part for part in parts if not isinstance(part, str)]
    if not pairs:
        known = identity(node)
        return known is not None and parts == (describe(known),)
    values = [(node.get(name), text) for name, text in pairs]
    same = [value.value == text for value, text in values if isinstance(value, Scalar)]
    return bool(same) and all(same)  # a key may be missing
