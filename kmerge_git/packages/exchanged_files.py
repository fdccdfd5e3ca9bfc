"""Replace files of a directory so that either all or none are replaced, even after a kill.

The new files and copies of the old files are written first, into a folder of the directory; then a
journal is written; then each file is put in place by one rename. So every file has its old or its
new bytes at any time, and the next command can finish or undo the exchange. A file that somebody
else wrote in the meantime is not overwritten; the bytes for it are saved in the folder SAVED.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.packages.exchange_journal import (
    BACK,
    DONE,
    JOURNAL,
    NEW,
    NOT,
    OLD,
    Ledger,
    Stamp,
    above,
    check,
    draft,
    errors_of,
    file_at,
    in_the_way,
    inside,
    is_alike,
    load,
    prepare,
    stamp,
    stamp_at,
    write,
)
from kmerge_git.packages.package_files import SAVED, UNDERWAY, File


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Describe an exchange whose process ended before the exchange was done."""

    about: dict[str, str]
    paths: tuple[str, ...]
    is_begun: bool  # there is a journal; without a journal no file was touched
    is_carried_out: bool
    is_going_back: bool


def write_all(
    root: str,
    changes: Mapping[str, File | None],
    before: Mapping[str, File | None] | None = None,
) -> list[str]:
    """Replace files, or leave all files as they were and raise an error that says why.

    A change to None deletes the file. `before` holds the files for which the changes were decided;
    it is an error if the directory has other versions. Return the paths that somebody else wrote
    during the exchange; these files are not overwritten.
    """
    new_folders = _make(root)
    try:
        with alone(root):
            if not changes:
                return []
            begin(root, changes, {}, before)
            left = carry_out_or_back(root)
            forget(root)
            return left
    except BaseException:
        for folder in new_folders:
            with suppress(OSError):
                os.rmdir(folder)
        raise


def settle(root: str) -> str:
    """Finish or undo a `write_all` that was killed; return a sentence that says so, or ''."""
    if not os.path.lexists(os.path.join(root, UNDERWAY)):
        return ""
    with alone(root):
        state = unfinished(root)
        if state is None:
            return ""
        if state.about:
            raise UsageError(
                "an update of this directory is unfinished",
                path=root,
                hint="run `kmerge vendor update DIR --continue`, or `--abort`",
            )
        if not state.is_begun:  # killed before the first file was touched, or after the last one
            forget(root)
            return f"{root}: removed {UNDERWAY} of a run that was killed"
        left = roll_back(root) if state.is_going_back else carry_out(root)
        forget(root)
    what = "undid" if state.is_going_back else "finished"
    return f"{root}: {what} the changes of a run that was killed{about_left_alone(left)}"


def about_left_alone(left: Collection[str]) -> str:
    """Return the end of a message with the files that were not overwritten, or ''."""
    if not left:
        return ""
    return f"; changed meanwhile and not overwritten: {', '.join(left)} (see {SAVED})"


def begin(
    root: str,
    changes: Mapping[str, File | None],
    about: Mapping[str, str],
    before: Mapping[str, File | None] | None = None,
) -> None:
    """Prepare the exchange in the folder UNDERWAY, without touching any other file.

    The journal is written last.
    """
    with alone(root):
        state = unfinished(root)
        if state and state.is_begun:
            raise UsageError(
                "an earlier update of this directory is unfinished",
                path=root,
                hint="finish it first",
            )
        if state:
            forget(root)
        check(root, changes)
        folder = os.path.join(root, UNDERWAY)
        with errors_of(folder):
            os.mkdir(folder, 0o700)
        try:
            prepare(root, changes, about, before)
        except BaseException:
            with suppress(OSError, UsageError):
                forget(root)
            raise


def carry_out(root: str, before: Callable[[], None] = lambda: None) -> list[str]:
    """Put the files that `begin` prepared in their places; a killed call can be repeated.

    `before` is called before the first file is replaced, and again if the call is repeated.
    Return the paths that somebody else has written since `begin`; these files are not overwritten.
    """
    with alone(root):
        ledger = _begun(root)
        if _is_marked(root, BACK):
            raise UsageError(
                "kmerge had begun to undo the update",
                path=root,
                hint="use --abort to undo the rest",
            )
        if _is_marked(root, DONE):
            return []
        before()
        left = exchange(root, ledger, back=False)
        _mark(root, DONE)
        return left


def roll_back(root: str, *, give_up: Collection[str] = ()) -> list[str]:
    """Put the old files back, however far `carry_out` came; a killed call can be repeated.

    Return the paths that somebody else has written since `begin`; these files are not overwritten,
    except for the files in `give_up`.
    """
    with alone(root):
        ledger = load(root)
        if ledger is None:
            return []
        _mark(root, BACK)
        return exchange(root, ledger, back=True, give_up=give_up)


def taken_back(root: str) -> tuple[list[str], list[str]]:
    """Return the replaced files whose old content is back, and the other replaced files."""
    back: list[str] = []
    rest: list[str] = []
    for each in _begun(root).exchanges:
        if each.old is not None and not is_alike(each.old, each.new):
            now = stamp_at(root, each.path)
            (back if is_alike(now, each.old) else rest).append(each.path)
    return back, rest


def carry_out_or_back(
    root: str, before: Callable[[], None] = lambda: None, undo: Callable[[], None] = lambda: None
) -> list[str]:
    """Carry out the exchange; if that fails, restore everything as it was before `begin`.

    `undo` takes back what `before` did.
    """
    try:
        return carry_out(root, before)
    except BaseException as error:
        try:
            roll_back(root)
            undo()
            forget(root)
        except (OSError, KmergeError):
            hint = f"fix this problem and run kmerge again; {UNDERWAY} has the remaining changes"
            why = getattr(error, "why", "kmerge was interrupted")
            raise UsageError(
                f"{why}; some changes have not been undone", path=root, hint=hint
            ) from None
        raise


def forget(root: str) -> None:
    """Remove the folder UNDERWAY; remove its journal first, because that ends the exchange."""
    folder = os.path.join(root, UNDERWAY)
    with alone(root), errors_of(folder):
        if load(root):
            os.unlink(os.path.join(folder, JOURNAL))
        if os.path.lexists(folder):
            shutil.rmtree(folder)


def unfinished(root: str) -> Unfinished | None:
    """Return the state of the exchange in the folder UNDERWAY, or None if there is none."""
    if not os.path.lexists(os.path.join(root, UNDERWAY)):
        return None
    ledger = load(root)
    if ledger is None:
        return Unfinished({}, (), False, False, False)
    paths = tuple(each.path for each in ledger.exchanges)
    return Unfinished(ledger.about, paths, True, _is_marked(root, DONE), _is_marked(root, BACK))


def check_whole(root: str) -> None:
    """Raise an error if a killed process left the directory half written."""
    state = unfinished(root)
    if state and state.is_begun and (state.is_going_back or not state.is_carried_out):
        raise UsageError(
            "a killed command left this directory half written",
            path=root,
            hint="run the same command again to finish",
        )


def _begun(root: str) -> Ledger:
    ledger = load(root)
    if ledger is None:
        raise UsageError("there is no unfinished update of this directory", path=root)
    return ledger


def _is_marked(root: str, name: str) -> bool:
    return os.path.lexists(os.path.join(root, UNDERWAY, name))


def _mark(root: str, name: str) -> None:
    """Record a step of the exchange by a rename, which works even if the disk is full."""
    path = os.path.join(root, UNDERWAY, name)
    with errors_of(path):
        if not os.path.lexists(path):
            os.rename(os.path.join(root, UNDERWAY, NOT + name), path)


def _make(root: str) -> list[str]:
    """Create the directory and its missing parents; return the created folders, deepest first."""
    new_folders: list[str] = []
    place = os.path.abspath(root)
    while not os.path.lexists(place):
        new_folders.append(place)
        place = os.path.dirname(place)
    with errors_of(root):
        for folder in reversed(new_folders):
            os.mkdir(folder)
    return new_folders


# -- file by file


@dataclass(frozen=True, slots=True)
class _Step:
    """Describe how one file is replaced, or how its old version is put back."""

    path: str
    had: Stamp | None  # the file that may be replaced
    want: Stamp | None
    source: str  # the path of the prepared file
    draft: str  # the path of a copy in the target's folder, if a rename fails
    saved: str  # the path for the prepared file if somebody else wrote at `path`


def exchange(root: str, ledger: Ledger, *, back: bool, give_up: Collection[str] = ()) -> list[str]:
    """Replace all files that are not replaced yet; return the paths that somebody else wrote."""
    steps = _steps(root, ledger, back=back)
    left = []
    for step in steps:
        with errors_of(os.path.join(root, step.path)):
            if not in_the_way(root, step.path):
                with suppress(FileNotFoundError):
                    os.unlink(step.draft)  # a killed process left it
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
    steps = []
    for each in ledger.exchanges:
        had, want = (each.new, each.old) if back else (each.old, each.new)
        source = os.path.join(root, UNDERWAY, OLD if back else NEW, str(each.number))
        saved = f"{SAVED}/{each.path}.{'old' if back else 'new'}"
        steps.append(_Step(each.path, had, want, source, draft(root, ledger, each), saved))
    return steps


def _remove(root: str, step: _Step, give_up: Collection[str]) -> bool:
    now = stamp_at(root, step.path)
    if now is not None and now != step.had and step.path not in give_up:
        return False
    if now is not None:
        os.unlink(os.path.join(root, step.path))
    return True


def _prune(root: str, steps: list[_Step]) -> None:
    """Remove the folders that became empty, except for the folders of new files."""
    needed = {folder for step in steps if step.want for folder in above(step.path)}
    emptied = {folder for step in steps if not step.want for folder in above(step.path)}
    for folder in sorted(emptied - needed, reverse=True):  # the deepest first
        if not in_the_way(root, f"{folder}/"):
            with suppress(OSError):  # most folders still hold files
                os.rmdir(os.path.join(root, folder))


def _place(root: str, step: _Step, modes: dict[str, int], give_up: Collection[str]) -> bool:
    """Put a file in its place; return False if somebody else wrote there or the file is damaged."""
    now = stamp_at(root, step.path)
    if now == step.want:
        return True
    may_go = now == step.had or step.path in give_up
    if not may_go or stamp(step.source) != step.want:
        return False
    if not _make_way(root, step.path, modes) or not _clear(root, step.path):
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
    """Create the folders above a path; return False if a file or a link is in the way."""
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
    """Remove a folder that holds no files; return whether a file can take its place now."""
    below = inside(root, path)
    if not all(is_folder for _, is_folder in below):
        return False
    for name in [*(name for name, _ in reversed(below)), path]:
        folder = os.path.join(root, name)
        if os.path.isdir(folder) and not os.path.islink(folder):
            os.rmdir(folder)
    return True


def _save(root: str, step: _Step) -> None:
    """Save a file that could not be put in its place, because it may be the only copy."""
    if stamp(step.source) != step.want:
        return
    name, number = step.saved, 1
    while os.path.lexists(os.path.join(root, name)):
        number += 1
        name = f"{step.saved}.{number}"
    if not _make_way(root, name, {}):
        blocked = in_the_way(root, name)
        raise UsageError(
            "this file is in the way", path=os.path.join(root, blocked), hint="remove it"
        )
    os.rename(step.source, os.path.join(root, name))


# -- only one command at a time works in a directory

_held: set[str] = set()  # directories that this process has locked, and may lock again


@contextmanager
def alone(root: str) -> Iterator[int | None]:
    """Lock a directory against other kmerge commands; raise an error if it is locked already.

    Yield the handle of a new lock: a process that inherits it holds the lock as well.
    """
    place = os.path.realpath(root)
    if place in _held:
        yield None
        return
    handle = _lock(root)
    _held.add(place)
    try:
        yield handle
    finally:
        _held.discard(place)
        if handle is not None:
            os.close(handle)


def _lock(root: str) -> int | None:
    """Lock the directory itself instead of a lock file; return the handle of the directory.

    Return None where the system has no such locks (some network file systems).
    """
    try:
        handle = os.open(root, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise UsageError(
            "another kmerge process uses this directory", path=root, hint="wait until it ends"
        ) from None
    except OSError:
        os.close(handle)
        return None
    return handle
