"""Merge texts by the rules of merge3, as pure functions; `two_way` does so for merge2.

>>> merge3("replicas: 1\n", "replicas: 2\n", "replicas: 1 # ours\n")
'replicas: 2 # ours\n'

Files without fields, such as Helm templates, are merged by git's line merge. If both sides changed
a line, the line of the destination stays.
"""

from __future__ import annotations

from kmerge_git.errors import (
    CannotParse,
    KmergeError,
    TextOnly,
    Unsupported,
)
from kmerge_git.merge import by_resource
from kmerge_git.merge.bulk import split_within
from kmerge_git.merge.kyaml.value_parts import THREE_WAY, numbered
from kmerge_git.merge.merged import to_bytes
from kmerge_git.merge.plan import Journal, Note
from kmerge_git.merge.three import Three, agreed, standing
from kmerge_git.merge.verify import line_damage
from kmerge_git.merge.verify.proof import prove
from kmerge_git.outcome import Decision
from kmerge_git.text.markers import marker_size_for
from kmerge_git.text.opaque_files import SEALED, is_sealed
from kmerge_git.tree.documents import YamlText
from kmerge_git.tree.oddities import TEMPLATE, refuse_oddities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.merge.decide.rules import Rules


NAMES = Three("original", "dest", "updated")
STAYS = "both sides changed these lines; the lines of `dest` are kept"
LOST = "lines lost"  # the rule for a change of updated that is not in the result


class Result:
    """Hold the bytes of a merge and the decisions that led to them."""

    __slots__ = ("conflicts", "data", "decisions", "reason")

    def __init__(
        self,
        data: bytes,
        decisions: tuple[Decision, ...] = (),
        reason: str = "",
        conflicts: int = 0,
    ) -> None:
        self.data = data
        self.decisions = decisions
        self.reason = reason  # the reason if lines were merged instead of fields
        self.conflicts = conflicts  # only other rule sets have conflicts; the rules kyaml have none

    @property
    def lost(self) -> tuple[Decision, ...]:
        """Return the decisions about changes that are not in the result.

        These are changes of dest, and changed lines of updated that conflict with lines of dest.
        """
        return tuple(d for d in self.decisions if d.rule.endswith(" lost"))


def merge3(original: str, updated: str, dest: str, *, infer: bool = True) -> str:
    """Merge the changes from original to updated into dest.

    If dest changed the same field, the value of updated wins. A null in updated clears a field.
    """
    texts = Three(original.encode(), dest.encode(), updated.encode())
    return merge3_bytes(texts, infer=infer).data.decode()


def merge3_bytes(
    texts: Three[bytes], *, infer: bool = True, path: str = "", names: Three[str] = NAMES
) -> Result:
    """Merge (original, dest, updated) as `merge3` does, but merge bytes and list the decisions.

    `path` is the name of the file, which may tell its kind. `names` are used in error messages.
    """
    from kmerge_git.merge.kyaml.three_way import KyamlRules

    if texts.base == texts.ours == texts.theirs:
        return Result(texts.ours)
    versions = opened(texts, names)
    if refuses(versions):
        if texts.base in (texts.ours, texts.theirs):
            return Result(standing(texts))
        raise Unsupported(
            SEALED, path=names.ours, hint="decrypt the versions, merge them, and encrypt the result"
        )
    try:
        return merged_by(KyamlRules(infer=infer), THREE_WAY, versions, path)
    except CannotParse as error:
        if not is_text(error, texts):
            raise
        return _by_lines(versions, why_no_fields(error), path)
    except Unsupported as error:
        return _by_lines(versions, str(placed(error, versions)), path)


def is_text(error: KmergeError, texts: Three[bytes]) -> bool:
    """Return whether an error means that a file has no fields.

    Such a file is a template, or has a map that cannot be merged field by field.
    """
    is_template = isinstance(error, CannotParse) and any(b"{{" in text for text in texts.each())
    return is_template or isinstance(error, TextOnly)


def why_no_fields(error: KmergeError) -> str:
    """Return the reason why a file has no fields.

    A template is valid, so the reason for a template is not a parser error.
    """
    return TEMPLATE if "{{" in error.excerpt else str(error)


def merge3_text(
    texts: Three[bytes], *, path: str = "", names: Three[str] = NAMES, reason: str = ""
) -> Result:
    """Merge any files line by line; if both sides changed the same lines, keep the lines of dest.

    If a file is binary, keep the file of dest as a whole.
    """
    trivial = agreed(texts)
    if trivial is not None:
        return Result(trivial, (), reason)
    if any(b"\0" in text for text in texts.each()):
        return kept(texts, "both sides changed a binary file; `dest` is kept", reason)
    try:
        return _by_lines(opened(texts, names), reason, path)
    except CannotParse:  # the encoding is unknown
        data, notes = merge_by_lines(texts)
        return Result(data, _told(notes), reason)


def opened(texts: Three[bytes], names: Three[str]) -> Three[YamlText]:
    """Open the versions of a file; error messages use the given names.

    Raise `CannotParse` if a version is not text.
    """
    opened = Three(*map(YamlText, texts.each(), names.each()))
    _ = opened.map(lambda text: text.source)
    return opened


def refuses(texts: Three[YamlText]) -> bool:
    """Return whether a side is encrypted."""
    return is_sealed(texts.ours.source.text) or is_sealed(texts.theirs.source.text)


def merged_by(
    rules: Rules, numbers: dict[tuple[str, str], str], texts: Three[YamlText], path: str
) -> Result:
    """Merge texts by a rule set; `numbers` are the numbers of its rules."""
    journal = Journal()
    streams = split_within(texts)
    refuse_oddities(*streams.each())  # merge2 has an empty base, so this checks all documents
    merged = by_resource.merge(rules, streams, journal, path)
    prove(merged, "ours")
    text = merged.decided("ours")
    if "*" in text and "&" in text:
        from kmerge_git.merge.verify.alias_law import refuse_turned  # few files have aliases

        refuse_turned(text, path, streams)
    data = _spelled(text, texts)
    return Result(data, tuple(numbered(d, numbers) for d in journal.decisions()))


def _spelled(text: str, texts: Three[YamlText]) -> bytes:
    """Return a result as bytes, with the line ends of the destination.

    If the destination is empty, use the line ends of updated.
    """
    sources = texts.map(lambda one: one.source)
    theirs = sources.theirs
    return to_bytes(text, sources if sources.ours.text else Three(theirs, theirs, theirs))


def _by_lines(texts: Three[YamlText], reason: str, path: str) -> Result:
    """Merge line by line; keep dest if all three files are valid and the result would be broken."""
    merged, notes = merge_by_lines(texts.map(lambda one: one.source.text.encode()))
    data = _spelled(merged.decode(), texts)
    versions = texts.map(lambda one: one.data)
    if data != versions.ours and line_damage.breaks(YamlText(data, path), texts):
        return kept(
            versions, "the merged lines would break the file; the lines of `dest` are kept", reason
        )
    return Result(data, _told(notes), reason)


def kept(texts: Three[bytes], why: str, reason: str) -> Result:
    """Keep the destination as it is, and note that no change of updated was taken."""
    return Result(texts.ours, _told([Note((), why, "ours", LOST)]), reason)


def _told(notes: list[Note]) -> tuple[Decision, ...]:
    journal = Journal()
    journal.write(notes)
    return journal.decisions()


def placed(error: Unsupported, texts: Three[YamlText]) -> Unsupported:
    """Return the error with the name of the file in which the error occurred."""
    if error.path or not error.line:
        return error
    for text in texts.each() if error.excerpt else ():  # the last file with this line counts
        lines = text.source.text.split("\n")
        if lines[error.line - 1 : error.line] == [error.excerpt]:
            error.path = text.path
    return error


# -- lines


def merge_by_lines(texts: Three[bytes]) -> tuple[bytes, list[Note]]:
    """Return the merged text, and notes about all lines of updated that were not taken."""
    from kmerge_git.text.linemerge import TemporaryFiles  # few files are merged by lines

    size = marker_size_for(text.decode("latin-1") for text in texts.each())
    marked, conflicts = TemporaryFiles(texts.each(), marker_size=size).result()
    if conflicts == 0:
        return marked, []
    data, failed = TemporaryFiles(texts.each(), favor="ours").result()
    if conflicts < 0 or failed:
        raise Unsupported("`git merge-file` could not merge the lines of the file")
    return data, [
        Note((f"line {line}",), STAYS, "ours", LOST, ours, theirs)
        for line, ours, theirs in _clashes(marked, size)
    ]


def _clashes(marked: bytes, size: int) -> Iterator[tuple[int, str, str]]:
    """Yield each conflict: its line number in the result, and the lines of both sides."""
    start, middle, end = (char * size for char in (b"<", b"=", b">"))
    number = 1  # the number of the next line of the result
    inside: list[list[bytes]] = []
    for line in marked.split(b"\n"):
        if line.startswith(start):
            inside = [[]]
        elif not inside:
            number += 1
        elif line.startswith(end):
            ours, theirs = (b"".join(side).decode("utf-8", "replace") for side in inside)
            yield number, ours, theirs
            number += len(inside[0])
            inside = []
        elif line.rstrip(b"\r") == middle:
            inside.append([])
        else:
            inside[-1].append(line + b"\n")
