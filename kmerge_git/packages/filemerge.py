"""The merge of one file of a package: whose version stands, or how two are put together.

Links are compared as links. Of modes only the executable bit merges; a fresh file has the usual
permissions. Where nothing puts two changes together, dest's version stays and the result says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kmerge_git.errors import CannotParse, KmergeError, Unsupported
from kmerge_git.merge.kyaml.api import Result
from kmerge_git.merge.kyaml.by_lines import LOST
from kmerge_git.merge.three import Three, whose
from kmerge_git.packages.files import File, is_manifest
from kmerge_git.packages.outlines import stream_of
from kmerge_git.packages.ways import Ways
from kmerge_git.text.charts import is_chart_text
from kmerge_git.text.markers import first_marker

Files = Three[File | None]
NOT_MERGED = Result(b"")


@dataclass(frozen=True, slots=True)
class FileResult:
    """What becomes of a file, and why a person must look at it."""

    after: File | None
    merged: Result = NOT_MERGED
    unmerged: str = ""


def merge_file(path: str, files: Files, how: Ways) -> FileResult:
    """The file of the result; None where it goes."""
    _, ours, theirs = files.each()
    side = whose(files.map(lambda file: file.essence if file is not None else None))
    if side == "ours" or (how.two_way and theirs is None):
        return FileResult(ours)
    if side == "theirs" or (how.two_way and ours is None):
        return FileResult(_in_place_of(ours, theirs))
    if how.two_way:
        return _over(path, files, how)
    if theirs is None or ours is None:
        return _deleted(path, files, how)
    if ours.link or theirs.link:
        return FileResult(ours, unmerged=_both_changed(files, how))
    return _both(path, files, how)


def _in_place_of(ours: File | None, theirs: File | None) -> File | None:
    if theirs is None or theirs.link:
        return theirs
    return File(theirs.data, _mode(ours, theirs.is_executable))


def _mode(ours: File | None, executable: bool) -> int:
    """Dest's permissions with or without that of execution; a fresh file has the usual ones."""
    if ours is None or ours.link:
        return 0o755 if executable else 0o644
    if ours.is_executable == executable:
        return ours.mode
    return ours.mode | (ours.mode & 0o444) >> 2 if executable else ours.mode & ~0o111


def _both_changed(files: Files, how: Ways) -> str:
    words = how.words
    if files.base is None:
        return f"added in {words.ours} and in {words.theirs}; {words.ours}'s version is kept"
    where = f"changed in {words.ours} and in {words.theirs}"
    return f"{where}; {words.ours}'s version is kept"


# -- two-way


def _over(path: str, files: Files, how: Ways) -> FileResult:
    """Src's manifest over dest's; anything else has no original that would tell."""
    _, ours, theirs = files.each()
    assert ours is not None and theirs is not None
    differs = f"it differs in {how.words.theirs}; {how.words.ours}'s version is kept"
    if ours.link or theirs.link or not is_manifest(path):
        return FileResult(ours, unmerged=differs)
    mode = "" if ours.is_executable == theirs.is_executable else _mode_told(files, how)
    if ours.data == theirs.data:
        return FileResult(ours, unmerged=mode)
    try:
        merged = how.manifest(files.map(_data), path)
    except KmergeError as error:
        return FileResult(ours, unmerged=f"{_told(error)}; {how.words.ours}'s version is kept")
    if any(decision.rule == LOST for decision in merged.decisions):
        return FileResult(ours, unmerged=differs)  # a template, as any other text
    return FileResult(File(merged.data, ours.mode), merged, mode)


def _mode_told(files: Files, how: Ways) -> str:
    assert files.ours is not None
    one, other = how.words.ours, how.words.theirs
    if not files.ours.is_executable:
        one, other = other, one
    return f"executable in {one}, not in {other}; {how.words.ours}'s mode is kept"


# -- three-way


def _both(path: str, files: Files, how: Ways) -> FileResult:
    """What both changed: the bytes of one, or a merge; and the mode on its own."""
    _, ours, theirs = files.each()
    assert ours is not None and theirs is not None
    bits = files.map(lambda file: file.is_executable if file is not None else None)
    executable = theirs.is_executable if whose(bits) == "theirs" else ours.is_executable
    mode = _mode(ours, executable)
    clash = "" if whose(bits) else _mode_told(files, how)
    side = whose(files.map(lambda file: file.data if file is not None else None))
    if side:
        data = ours.data if side == "ours" else theirs.data
        return FileResult(File(data, mode), unmerged=clash)
    found = _contents(path, files, how)
    after = replace(found.after, mode=mode) if found.after is not None else None
    return replace(found, after=after, unmerged=found.unmerged or clash)


def _contents(path: str, files: Files, how: Ways) -> FileResult:
    texts = files.map(_data)
    if any(file is not None and file.is_binary for file in files.each()):
        return FileResult(files.ours, unmerged=f"binary, {_both_changed(files, how)}")
    if holds_markers(texts.ours) and not holds_markers(texts.base):
        why = f"it holds conflict markers in {how.words.ours}"
        return FileResult(files.ours, unmerged=f"{why}; it is left as it is")
    try:
        merged = _texts_merged(path, texts, how)
    except KmergeError as error:
        why = f"{_told(error)}; {how.words.ours}'s version is kept"
        return FileResult(files.ours, unmerged=why)
    is_empty = is_manifest(path) and not merged.data.strip() and texts.ours.strip()
    return FileResult(File(merged.data) if not is_empty else None, merged)


def _texts_merged(path: str, texts: Three[bytes], how: Ways) -> Result:
    """As manifests and templates; by lines where one of the three cannot be read."""
    if not is_manifest(path) and not is_chart_text(path):
        return _by_lines(path, texts, how)
    try:
        return how.manifest(texts, path)
    except CannotParse as error:
        merged = _by_lines(path, texts, how)
        reason = f"merged by lines: {_told(error)}"
        return Result(merged.data, merged.decisions, reason, merged.conflicts)


def _by_lines(path: str, texts: Three[bytes], how: Ways) -> Result:
    """A merge of lines that comes to the same once more: lines alike can be paired in two ways."""
    merged = how.text(texts, path)
    if not merged.conflicts and merged.data not in (texts.ours, texts.theirs):
        again = how.text(Three(texts.base, merged.data, texts.theirs), path)
        if again.data != merged.data:
            raise Unsupported("where lines belong that are alike cannot be told", path=path)
    return merged


def _deleted(path: str, files: Files, how: Ways) -> FileResult:
    """Gone on one side, changed on the other: only what the other added has a place to stay."""
    words = how.words
    if files.ours is not None:
        why = f"deleted in {words.theirs}, changed in {words.ours}"
        kept = FileResult(files.ours, unmerged=f"{why}; {words.ours}'s version is kept")
    else:
        why = f"deleted in {words.ours}, changed in {words.theirs}"
        kept = FileResult(None, unmerged=f"{why}; it stays deleted")
    left = files.ours or files.theirs
    if left is None or left.link or not is_manifest(path) or left.is_binary:
        return kept
    if holds_markers(left.data):
        return kept
    try:
        return _rest(path, files, left, how) or kept
    except KmergeError:
        return kept


def _rest(path: str, files: Files, left: File, how: Ways) -> FileResult | None:
    """What one side added to a file that the other deleted; None if a change would be lost."""
    merged = how.manifest(files.map(_data), path)
    if merged.conflicts or any(decision.rule == LOST for decision in merged.decisions):
        return None
    rest, present = _documents(merged.data), _documents(_data(files.base))
    changed = [text for text in _documents(left.data) if text not in present]
    if any(text not in rest for text in changed) and (files.ours is not None or not rest):
        return None
    after = File(merged.data, _mode(files.ours, left.is_executable)) if rest else None
    return FileResult(after, merged)


def holds_markers(data: bytes) -> bool:
    """Whether a text holds a conflict that somebody has still to solve."""
    return b"<<<<<<<" in data and first_marker(data.decode("utf-8", "replace")) >= 0


def _documents(data: bytes) -> list[str]:
    return [document.content for document in stream_of(File(data)).documents]


def _data(file: File | None) -> bytes:
    return file.data if file is not None and not file.link else b""


def _told(error: KmergeError) -> str:
    where = f"line {error.line}: " if error.line else ""
    return f"{where}{error.why}"
