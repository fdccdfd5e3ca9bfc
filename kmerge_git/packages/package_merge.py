"""Merge three directories: renamed files first, then moved resources, then file by file.

Links are compared as links. Of modes only the executable bit merges; a fresh file has the usual
permissions. Where two changes cannot be put together, dest's version stays and the result says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kmerge_git.errors import CannotParse, KmergeError, Unsupported
from kmerge_git.merge.kyaml.kyaml_merges import LOST, Result
from kmerge_git.merge.three import Three, under, whose
from kmerge_git.packages.followed_resources import Move, gather, stream_of
from kmerge_git.packages.package_files import File, Package, is_manifest
from kmerge_git.packages.package_rules import Ways
from kmerge_git.packages.renamed_files import Followed, folders, follow
from kmerge_git.text.markers import first_marker
from kmerge_git.text.opaque_files import is_chart_text

NOT_MERGED = Result(b"")


@dataclass(frozen=True, slots=True)
class ResultFile:
    """One file of the result, beside what the destination had."""

    path: str
    before: File | None
    after: File | None
    merged: Result = NOT_MERGED
    unmerged: str = ""  # why this is left to a person; the destination's stays
    note: str = ""  # what a person should know, and need not decide
    source: str = ""  # where it was before it was renamed

    @property
    def is_conflict(self) -> bool:
        """Whether a person must decide: there are markers inside, or it could not be merged."""
        return bool(self.merged.conflicts or self.unmerged)

    @property
    def status(self) -> str:
        """`added`, `deleted`, `changed`, `renamed` or `same`."""
        if self.before == self.after:
            return "same"
        if self.before is None:
            return "renamed" if self.source else "added"
        return "deleted" if self.after is None else "changed"


@dataclass(frozen=True, slots=True)
class Merged:
    """Every file of the result in the order of paths, and what moved between files."""

    files: list[ResultFile]
    moves: list[Move]

    @property
    def changes(self) -> dict[str, File | None]:
        """What is to be written over the destination; None takes a file away."""
        return {r.path: r.after for r in self.files if r.status != "same"}


def merge_packages(
    at: Three[Package], how: Ways, *, done: Callable[[int], None] = lambda count: None
) -> Merged:
    """Merge what changed from base to theirs into ours, which lies in the destination.

    Two-way the base is empty. No file is read or written; `done` hears how many files are merged.
    """
    followed = follow(at, how.words)
    gathered, moves = gather(followed.at, followed.named_by_dest)
    results = {}
    paths = {*gathered.base, *gathered.ours, *gathered.theirs, *at.ours}
    for number, path in enumerate(sorted(paths)):
        found = merge_file(path, under(gathered, path), how)
        results[path] = ResultFile(
            path,
            at.ours.get(path),
            found.after,
            found.merged,
            "; ".join(filter(None, [followed.refused.get(path, ""), found.unmerged])),
            followed.notes.get(path, ""),
            followed.sources.get(path, "") if found.after is not None else "",
        )
        done(number + 1)
    _keep_folders_apart(results, how)
    made = [move for move in [*_renames(followed, results), *moves] if _is_made(move, results)]
    return Merged([*results.values()], made)


def _is_made(move: Move, results: dict[str, ResultFile]) -> bool:
    """Whether the destination had it elsewhere so far; the same update once more moves nothing."""
    found = [results[path] for path in (move.source, move.target) if path in results]
    return any(file.status != "same" for file in found)


def _renames(followed: Followed, results: dict[str, ResultFile]) -> list[Move]:
    return [
        Move("", source, target)
        for target, source in sorted(followed.sources.items())
        if target in results and results[target].after is not None
    ]


def _keep_folders_apart(results: dict[str, ResultFile], how: Ways) -> None:
    """What would be a file and a folder at once: dest's stays, and it is told."""
    for path in list(results):
        if results[path].after is None:
            continue
        for folder in folders(path):
            other = results.get(folder)
            if other is None or other.after is None:
                continue
            late = path if results[path].before is None else folder
            why = f"a folder in one version, a file in another; {how.words.ours}'s stays"
            results[late] = replace(results[late], after=results[late].before, unmerged=why)


Files = Three[File | None]


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
