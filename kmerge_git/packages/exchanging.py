"""Puts files that lie ready in their places, one rename a file, or puts the old ones back."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from kmerge_git.errors import UsageError
from kmerge_git.packages.files import SAVED, UNDERWAY
from kmerge_git.packages.preparing import errors_of, file_at, write
from kmerge_git.packages.underway import (
    NEW,
    OLD,
    Ledger,
    Stamp,
    above,
    draft,
    in_the_way,
    inside,
    stamp,
    standing,
)


@dataclass(frozen=True, slots=True)
class _Step:
    path: str
    had: Stamp | None  # what may be exchanged
    want: Stamp | None
    source: str  # where the wanted file lies
    draft: str  # its copy beside the target, where a rename cannot reach that
    saved: str  # where it goes if somebody else wrote there


def exchange(root: str, ledger: Ledger, *, back: bool, give_up: Collection[str] = ()) -> list[str]:
    """Go on from wherever the files are; the paths that somebody else wrote are left alone."""
    steps = _steps(root, ledger, back=back)
    left = []
    for step in steps:
        with errors_of(os.path.join(root, step.path)):
            _discard(root, step)
            if step.want is None and not _remove(root, step, give_up):
                left.append(step.path)
    _prune(root, steps)
    modes = ledger.folders if back else {}
    for step in steps:
        with errors_of(os.path.join(root, step.path)):
            if step.want is not None and not _place(root, step, modes, give_up):
                _save(root, step)
                left.append(step.path)
    for folder in sorted(modes):
        with errors_of(os.path.join(root, folder)):
            _make_way(root, f"{folder}/", modes)
    return sorted(left)


def _steps(root: str, ledger: Ledger, *, back: bool) -> list[_Step]:
    made = []
    for each in ledger.exchanges:
        had, want = (each.new, each.old) if back else (each.old, each.new)
        source = os.path.join(root, UNDERWAY, OLD if back else NEW, str(each.number))
        saved = f"{SAVED}/{each.path}.{'old' if back else 'new'}"
        made.append(_Step(each.path, had, want, source, draft(root, ledger, each), saved))
    return made


def _discard(root: str, step: _Step) -> None:
    """Remove the draft that a kill left."""
    if not in_the_way(root, step.path):
        with suppress(FileNotFoundError):
            os.unlink(step.draft)


def _remove(root: str, step: _Step, give_up: Collection[str]) -> bool:
    now = standing(root, step.path)
    if now is not None and now != step.had and step.path not in give_up:
        return False
    if now is not None:
        os.unlink(os.path.join(root, step.path))
    return True


def _prune(root: str, steps: list[_Step]) -> None:
    """Remove the folders that were emptied, but for those that are needed."""
    needed = {folder for step in steps if step.want for folder in above(step.path)}
    emptied = {folder for step in steps if not step.want for folder in above(step.path)}
    for folder in sorted(emptied - needed, reverse=True):  # the deepest first
        if not in_the_way(root, f"{folder}/"):
            with suppress(OSError):  # most have files left
                os.rmdir(os.path.join(root, folder))


def _place(root: str, step: _Step, modes: dict[str, int], give_up: Collection[str]) -> bool:
    """Put a file in its place; False where somebody else wrote, or where it is damaged."""
    now = standing(root, step.path)
    if now == step.want:
        return True
    if now != step.had and step.path not in give_up:
        return False
    if stamp(step.source) != step.want or not _make_way(root, step.path, modes):
        return False
    if not _clear(root, step.path):
        return False
    target = os.path.join(root, step.path)
    try:
        os.replace(step.source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        write(step.draft, file_at(step.source))
        os.replace(step.draft, target)
    return True


def _make_way(root: str, path: str, modes: dict[str, int]) -> bool:
    """Make the folders above a path; False where a file or a link is in the way."""
    if in_the_way(root, path):
        return False
    for folder in reversed(above(path)):
        place = os.path.join(root, folder)
        if not os.path.lexists(place):
            os.mkdir(place)
            if folder in modes:
                os.chmod(place, modes[folder])
    return True


def _clear(root: str, path: str) -> bool:
    """Remove a folder that has nothing but folders in it; whether a file can stand there now."""
    found = inside(root, path)
    if not all(is_folder for _, is_folder in found):
        return False
    target = os.path.join(root, path)
    for folder in [*(os.path.join(root, name) for name, _ in reversed(found)), target]:
        if os.path.isdir(folder) and not os.path.islink(folder):
            os.rmdir(folder)
    return True


def _save(root: str, step: _Step) -> None:
    """Keep what could not be put in place: nobody else may have it."""
    if stamp(step.source) != step.want:
        return
    name, number = step.saved, 1
    while os.path.lexists(os.path.join(root, name)):
        number += 1
        name = f"{step.saved}.{number}"
    if not _make_way(root, name, {}):
        where = os.path.join(root, in_the_way(root, name))
        raise UsageError("it is in the way", path=where, hint="remove it")
    os.rename(step.source, os.path.join(root, name))
