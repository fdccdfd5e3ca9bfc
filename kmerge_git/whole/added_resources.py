"""Find resources that each side of a merge added, in two files of one folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from posixpath import dirname

from kmerge_git.git.manifests import is_manifest
from kmerge_git.git.merge_sides import Change
from kmerge_git.kube.identity import Identity
from kmerge_git.tree.documents import YamlText
from kmerge_git.whole.moved_edits import stands

_New = dict[str, str]  # the new manifests of a side: path -> blob id


def added_by_both(
    ours: Iterable[Change], theirs: Iterable[Change], read: Callable[[str], bytes]
) -> Iterator[tuple[Identity, str, str]]:
    """Yield each resource that both sides added, with the new files of ours and of theirs.

    In two folders it may be one resource in two environments, so only one folder counts.
    """
    one, other = _new_files(ours), _new_files(theirs)
    shared = {dirname(path) for path in one} & {dirname(path) for path in other}
    if not shared:
        return
    here, there = (dict(_resources(files, shared, read)) for files in (one, other))
    for (folder, key), path in here.items():
        counterpart = there.get((folder, key), path)
        if counterpart not in one and path not in other:
            yield key, path, counterpart


def _new_files(changes: Iterable[Change]) -> _New:
    return {
        change.new_path: change.new.oid
        for change in changes
        if change.new and change.new.is_text and not change.old and is_manifest(change.new_path)
    }


def _resources(
    files: _New, folders: set[str], read: Callable[[str], bytes]
) -> Iterator[tuple[tuple[str, Identity], str]]:
    for path, oid in files.items():
        folder = dirname(path)
        for key, _ in stands(YamlText(read(oid))) if folder in folders else ():
            if key.name:
                yield (folder, key), path
