"""Files of a directory exchanged as one: all of them, or none, whenever the process dies.

Fresh files and copies of the old ones are made first, in a folder of the directory, then a journal,
then one rename a file. So every file has its old or its new bytes at any time, and whoever comes
next can go on or go back. What somebody else wrote in between is left alone; the bytes that should
have stood there are kept in SAVED.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass

from kmerge_git.errors import UsageError
from kmerge_git.packages import preparing
from kmerge_git.packages.exchanging import exchange
from kmerge_git.packages.files import SAVED, UNDERWAY, File
from kmerge_git.packages.holding import alone
from kmerge_git.packages.underway import (
    BACK,
    DONE,
    JOURNAL,
    NOT,
    Ledger,
    is_alike,
    load,
    standing,
)

__all__ = ["SAVED", "UNDERWAY", "Unfinished", "begin", "carry_out", "carry_out_or_back"]
__all__ += ["check_whole", "forget", "roll_back", "settle", "taken_back", "told", "unfinished"]
__all__ += ["write_all"]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What a process left that ended before it said it was done."""

    about: dict[str, str]
    paths: tuple[str, ...]
    is_begun: bool  # without a journal no file was touched
    is_carried_out: bool
    is_going_back: bool


def write_all(
    root: str,
    changes: Mapping[str, File | None],
    before: Mapping[str, File | None] | None = None,
) -> list[str]:
    """Exchange files, or leave all as they were and say why; None is no file.

    `before` is what was there when the changes were decided: an error if it is not any more.
    Gives the paths that somebody else wrote in this very moment: they are left alone.
    """
    made = _make(root)
    try:
        with alone(root):
            if not changes:
                return []
            begin(root, changes, {}, before)
            left = carry_out_or_back(root)
            forget(root)
            return left
    except BaseException:
        for folder in made:
            with suppress(OSError):
                os.rmdir(folder)
        raise


def settle(root: str) -> str:
    """Finish or undo what a killed `write_all` left; a sentence about it, or nothing."""
    if not os.path.lexists(os.path.join(root, UNDERWAY)):
        return ""
    with alone(root):
        found = unfinished(root)
        if found is None:
            return ""
        if found.about:
            hint = "end it with `kmerge vendor update DIR --continue` or `--abort`"
            raise UsageError("an update of it is not finished", path=root, hint=hint)
        if not found.is_begun:  # killed before the first file was touched, or after the last one
            forget(root)
            return f"{root}: {UNDERWAY} of a run that was killed is removed"
        left = roll_back(root) if found.is_going_back else carry_out(root)
        forget(root)
    what = "is undone" if found.is_going_back else "is finished"
    return f"{root}: the writing of a run that was killed {what}{told(left)}"


def told(left: Collection[str]) -> str:
    """What to say of paths that were left alone."""
    if not left:
        return ""
    return f"; changed since and left alone: {', '.join(left)} (see {SAVED})"


def begin(
    root: str,
    changes: Mapping[str, File | None],
    about: Mapping[str, str],
    before: Mapping[str, File | None] | None = None,
) -> None:
    """Lay everything ready in UNDERWAY, the journal last; no other file is touched."""
    with alone(root):
        found = unfinished(root)
        if found and found.is_begun:
            raise UsageError("an earlier update of it is not finished", path=root)
        if found:
            forget(root)
        preparing.check(root, changes)
        folder = os.path.join(root, UNDERWAY)
        with preparing.errors_of(folder):
            os.mkdir(folder, 0o700)
        try:
            preparing.prepare(root, changes, about, before)
        except BaseException:
            with suppress(OSError, UsageError):
                forget(root)
            raise


def carry_out(root: str) -> list[str]:
    """Put what `begin` laid ready in its place; may be done again after a kill.

    Gives the paths that somebody else wrote since: they are left alone.
    """
    with alone(root):
        ledger = _begun(root)
        if _is_marked(root, BACK):
            raise UsageError("the update is being undone", path=root, hint="end that first")
        if _is_marked(root, DONE):
            return []
        left = exchange(root, ledger, back=False)
        _mark(root, DONE)
        return left


def roll_back(root: str, *, give_up: Collection[str] = ()) -> list[str]:
    """Put the old files back, however far `carry_out` came; may be done again after a kill.

    Gives the paths that somebody else wrote since: they are left alone, but for those to give up.
    """
    with alone(root):
        ledger = load(root)
        if ledger is None:
            return []
        _mark(root, BACK)
        return exchange(root, ledger, back=True, give_up=give_up)


def taken_back(root: str) -> tuple[list[str], list[str]]:
    """Of the files that were exchanged for others: those that are as before again, and the rest."""
    back: list[str] = []
    rest: list[str] = []
    for each in _begun(root).exchanges:
        if each.old is not None and not is_alike(each.old, each.new):
            now = standing(root, each.path)
            (back if is_alike(now, each.old) else rest).append(each.path)
    return back, rest


def carry_out_or_back(root: str) -> list[str]:
    """`carry_out`, and if that cannot be done everything as it was before `begin`."""
    try:
        return carry_out(root)
    except BaseException as error:
        try:
            roll_back(root)
            forget(root)
        except (OSError, UsageError):
            hint = f"what is left to do lies in {UNDERWAY}: free what is missing, and run it again"
            why = getattr(error, "why", "it was interrupted")
            raise UsageError(f"{why}; not all could be undone", path=root, hint=hint) from None
        raise


def forget(root: str) -> None:
    """Take UNDERWAY away; without its journal it is nothing any more."""
    folder = os.path.join(root, UNDERWAY)
    with alone(root), preparing.errors_of(folder):
        if load(root):
            os.unlink(os.path.join(folder, JOURNAL))
        if os.path.lexists(folder):
            shutil.rmtree(folder)


def unfinished(root: str) -> Unfinished | None:
    """What lies in UNDERWAY, if there is one."""
    if not os.path.lexists(os.path.join(root, UNDERWAY)):
        return None
    ledger = load(root)
    if ledger is None:
        return Unfinished({}, (), False, False, False)
    paths = tuple(each.path for each in ledger.exchanges)
    return Unfinished(ledger.about, paths, True, _is_marked(root, DONE), _is_marked(root, BACK))


def check_whole(root: str) -> None:
    """Refuse to take a directory for a version of anything that a kill left half written."""
    found = unfinished(root)
    if found and found.is_begun and (found.is_going_back or not found.is_carried_out):
        hint = "what wrote there ends it when it is run again"
        raise UsageError("it was left half written", path=root, hint=hint)


def _begun(root: str) -> Ledger:
    ledger = load(root)
    if ledger is None:
        raise UsageError("no update of it is begun", path=root)
    return ledger


def _is_marked(root: str, name: str) -> bool:
    return os.path.lexists(os.path.join(root, UNDERWAY, name))


def _mark(root: str, name: str) -> None:
    """Remember what was done by a rename: that needs no room on a full disk."""
    path = os.path.join(root, UNDERWAY, name)
    with preparing.errors_of(path):
        if not os.path.lexists(path):
            os.rename(os.path.join(root, UNDERWAY, NOT + name), path)


def _make(root: str) -> list[str]:
    """Make the directory itself; those that were made, the deepest first."""
    made: list[str] = []
    place = os.path.abspath(root)
    while not os.path.lexists(place):
        made.append(place)
        place = os.path.dirname(place)
    with preparing.errors_of(root):
        for folder in reversed(made):
            os.mkdir(folder)
    return made
