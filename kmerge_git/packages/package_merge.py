"""Merge three directories: follow renamed files, then moved resources, then merge each file.

Links are compared as links. Of a file's mode only the executable bit is merged; a new file has the
usual permissions. Where two changes cannot be combined, dest's version stays and the result says
so.
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
from kmerge_git.packages.renamed_files import folders, follow
from kmerge_git.text.markers import first_marker
from kmerge_git.text.opaque_files import is_chart_text

NOT_MERGED = Result(b"")
Files = Three[File | None]
NO_FILES: Files = Three(None, None, None)


@dataclass(frozen=True, slots=True)
class ResultFile:
    """Describe one file of the result, and the destination's file at the same path."""

    path: str
    before: File | None
    after: File | None
    merged: Result = NOT_MERGED
    unmerged: str = ""  # the reason why a person must decide; the destination's file stays
    note: str = ""  # a remark that needs no decision
    source: str = ""  # the path before a rename
    versions: Files = NO_FILES  # what was merged; moved resources are in place

    @property
    def is_conflict(self) -> bool:
        """Return whether a person must decide: the file has markers or could not be merged."""
        return bool(self.merged.conflicts or self.unmerged)

    @property
    def status(self) -> str:
        """Return `added`, `deleted`, `changed`, `renamed` or `same`."""
        if self.before == self.after:
            return "same"
        if self.before is None:
            return "renamed" if self.source else "added"
        return "deleted" if self.after is None else "changed"


@dataclass(frozen=True, slots=True)
class Merged:
    """Hold the files of the result, sorted by path, and the moves between files."""

    files: list[ResultFile]
    moves: list[Move]

    @property
    def changes(self) -> dict[str, File | None]:
        """Return the files to write in the destination; None means that a file is deleted."""
        return {r.path: r.after for r in self.files if r.status != "same"}


def merge_packages(
    at: Three[Package], how: Ways, *, done: Callable[[int], None] = lambda count: None
) -> Merged:
    """Merge the changes from base to theirs into ours, the package of the destination.

    In a two-way merge the base is empty. No file is read or written; `done` is called with the
    number of files that are merged so far.
    """
    followed = follow(at, how.words)
    gathered, moves = gather(followed.at, followed.named_by_dest)
    results = {}
    paths = {*gathered.base, *gathered.ours, *gathered.theirs, *at.ours}
    for number, path in enumerate(sorted(paths)):
        versions = under(gathered, path)
        file = merge_file(path, versions, how)
        results[path] = replace(
            file,
            before=at.ours.get(path),
            unmerged="; ".join(filter(None, [followed.refused.get(path, ""), file.unmerged])),
            note=followed.notes.get(path, ""),
            source=followed.sources.get(path, "") if file.after is not None else "",
            versions=versions,
        )
        done(number + 1)
    _keep_folders_apart(results, how)
    renames = [
        Move("", source, target)
        for target, source in sorted(followed.sources.items())
        if target in results and results[target].after is not None
    ]
    changed = {path for path, file in results.items() if file.status != "same"}
    # a repeated update moves nothing again
    made = [m for m in [*renames, *moves] if not changed.isdisjoint((m.source, m.target))]
    return Merged([*results.values()], made)


def _keep_folders_apart(results: dict[str, ResultFile], how: Ways) -> None:
    """Keep dest's file where a path would be both a file and a folder, and record the reason."""
    for path in list(results):
        if results[path].after is None:
            continue
        for folder in folders(path):
            other = results.get(folder)
            if other is None or other.after is None:
                continue
            late = path if results[path].before is None else folder
            why = (
                f"a directory in one version, a file in another; {how.words.ours}'s version is kept"
            )
            results[late] = replace(results[late], after=results[late].before, unmerged=why)


# -- one file


def merge_file(path: str, files: Files, how: Ways) -> ResultFile:
    """Merge the versions of one file; `after` is None in the result if the file is deleted."""
    _, ours, theirs = files.each()
    kept = ResultFile(path, ours, ours)
    side = whose(files.map(lambda file: file.essence if file is not None else None))
    if side == "ours" or (how.two_way and theirs is None):
        return kept
    if side == "theirs" or (how.two_way and ours is None):
        if theirs is None or theirs.link:
            return replace(kept, after=theirs)
        return replace(kept, after=File(theirs.data, _mode(ours, theirs.is_executable)))
    if theirs is None or ours is None:
        return _deleted(kept, files, how)
    if how.two_way:
        return _over(kept, ours, theirs, how)
    if ours.link or theirs.link:
        return replace(kept, unmerged=_both_changed(files, how))
    return _both(kept, files, how)


def _mode(ours: File | None, executable: bool) -> int:
    """Return dest's mode with or without the executable bit; a new file gets the usual mode."""
    if ours is None or ours.link:
        return 0o755 if executable else 0o644
    if ours.is_executable == executable:
        return ours.mode
    return ours.mode | (ours.mode & 0o444) >> 2 if executable else ours.mode & ~0o111


def _both_changed(files: Files, how: Ways) -> str:
    deed, words = "added" if files.base is None else "changed", how.words
    return f"{deed} in {words.ours} and in {words.theirs}; {words.ours}'s version is kept"


# -- two-way


def _over(kept: ResultFile, ours: File, theirs: File, how: Ways) -> ResultFile:
    """Merge src's manifest over dest's in a two-way merge; keep any other file of dest."""
    differs = f"different in {how.words.theirs}; {how.words.ours}'s version is kept"
    if ours.link or theirs.link or not is_manifest(kept.path):
        return replace(kept, unmerged=differs)
    mode = "" if ours.is_executable == theirs.is_executable else _mode_clash(ours, how)
    if ours.data == theirs.data:
        return replace(kept, unmerged=mode)
    try:
        merged = how.manifest(Three(b"", ours.data, theirs.data), kept.path)
    except KmergeError as error:
        return replace(kept, unmerged=_ours_is_kept(error, how))
    if _has_lost(merged):
        return replace(kept, unmerged=differs)  # a template is treated as any other text
    return replace(kept, after=File(merged.data, ours.mode), merged=merged, unmerged=mode)


def _mode_clash(ours: File, how: Ways) -> str:
    one, other = how.words.ours, how.words.theirs
    if not ours.is_executable:
        one, other = other, one
    return f"executable in {one}, but not in {other}; {how.words.ours}'s mode is kept"


# -- three-way


def _both(kept: ResultFile, files: Files, how: Ways) -> ResultFile:
    """Merge a file that both sides changed: merge the bytes and the mode separately."""
    _, ours, theirs = files.each()
    assert ours is not None and theirs is not None
    bits = files.map(lambda file: file.is_executable if file is not None else None)
    executable = theirs.is_executable if whose(bits) == "theirs" else ours.is_executable
    clash = "" if whose(bits) else _mode_clash(ours, how)
    side = whose(files.map(lambda file: file.data if file is not None else None))
    result = replace(kept, after=theirs) if side == "theirs" else kept
    if not side:
        result = _contents(kept, files, how)
    if result.after is not None:
        result = replace(result, after=File(result.after.data, _mode(ours, executable)))
    return replace(result, unmerged=result.unmerged or clash)


def _contents(kept: ResultFile, files: Files, how: Ways) -> ResultFile:
    texts = files.map(_data)
    if any(file is not None and file.is_binary for file in files.each()):
        return replace(kept, unmerged=f"binary, {_both_changed(files, how)}")
    if holds_markers(texts.ours) and not holds_markers(texts.base):
        where = how.words.ours
        return replace(
            kept, unmerged=f"unresolved conflict markers in {where}; the file is not changed"
        )
    try:
        merged = _texts_merged(kept.path, texts, how)
    except KmergeError as error:
        return replace(kept, unmerged=_ours_is_kept(error, how))
    is_empty = is_manifest(kept.path) and not merged.data.strip() and texts.ours.strip()
    return replace(kept, after=None if is_empty else File(merged.data), merged=merged)


def _texts_merged(path: str, texts: Three[bytes], how: Ways) -> Result:
    """Merge manifests and templates by fields; merge other and unparseable texts by lines."""
    if not is_manifest(path) and not is_chart_text(path):
        return _by_lines(path, texts, how)
    try:
        return how.manifest(texts, path)
    except CannotParse as error:
        merged = _by_lines(path, texts, how)
        return Result(
            merged.data,
            merged.decisions,
            f"merged with git's line merge: {_place_and_reason(error)}",
            merged.conflicts,
        )


def _by_lines(path: str, texts: Three[bytes], how: Ways) -> Result:
    """Merge by lines; raise an error if a repetition of the merge would change the result.

    That happens where equal lines can be paired in two ways.
    """
    merged = how.text(texts, path)
    if not merged.conflicts and merged.data not in (texts.ours, texts.theirs):
        again = how.text(Three(texts.base, merged.data, texts.theirs), path)
        if again.data != merged.data:
            raise Unsupported("kmerge cannot determine the order of equal lines", path=path)
    return merged


def _deleted(kept: ResultFile, files: Files, how: Ways) -> ResultFile:
    """Merge a file that one side deleted; resources that the other side added may stay."""
    words = how.words
    if files.ours is not None:
        why = f"deleted in {words.theirs}, changed in {words.ours}; {words.ours}'s version is kept"
    else:
        why = f"deleted in {words.ours}, changed in {words.theirs}; the file stays deleted"
    left = files.ours or files.theirs
    assert left is not None  # one side has changed it
    unmerged = replace(kept, unmerged=why)
    if left.link or not is_manifest(kept.path) or left.is_binary or holds_markers(left.data):
        return unmerged
    try:
        return _rest(kept, files, left, how) or unmerged
    except KmergeError:
        return unmerged


def _rest(kept: ResultFile, files: Files, left: File, how: Ways) -> ResultFile | None:
    """Return the file with the resources that one side added, or None if a change would be lost."""
    merged = how.manifest(files.map(_data), kept.path)
    if merged.conflicts or _has_lost(merged):
        return None
    rest, present = _documents(merged.data), _documents(_data(files.base))
    changed = [text for text in _documents(left.data) if text not in present]
    if any(text not in rest for text in changed) and (files.ours is not None or not rest):
        return None
    after = File(merged.data, _mode(files.ours, left.is_executable)) if rest else None
    return replace(kept, after=after, merged=merged)


def _has_lost(merged: Result) -> bool:
    return any(decision.rule == LOST for decision in merged.decisions)


def holds_markers(data: bytes) -> bool:
    """Return whether a text contains conflict markers."""
    return b"<<<<<<<" in data and first_marker(data.decode("utf-8", "replace")) >= 0


def _documents(data: bytes) -> list[str]:
    return [document.content for document in stream_of(File(data)).documents]


def _data(file: File | None) -> bytes:
    return file.data if file is not None and not file.link else b""


def _ours_is_kept(error: KmergeError, how: Ways) -> str:
    return f"{_place_and_reason(error)}; {how.words.ours}'s version is kept"


def _place_and_reason(error: KmergeError) -> str:
    where = f"line {error.line}: " if error.line else ""
    return f"{where}{error.why}"
