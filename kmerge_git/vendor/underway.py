"""An update that is not finished: a conflict is left, or it was killed; how it goes on or back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.packages import writing
from kmerge_git.packages.files import Package, read
from kmerge_git.packages.holding import alone
from kmerge_git.text.markers import first_marker
from kmerge_git.vendor.origin import Vendored, vendored
from kmerge_git.vendor.record import MOVING, Record, parse


@dataclass(frozen=True, slots=True)
class Underway:
    """What an unfinished update or `add` is about."""

    what: str  # `update` or `add`
    record: Record  # the one that it leads to
    found: str
    conflicts: tuple[str, ...] = ()
    began: str = ""  # the commit that was on record

    def spelled(self) -> dict[str, str]:
        """As it is kept beside the journal."""
        return {
            "what": self.what,
            "record": self.record.spelled().decode(),
            "found": self.found,
            "conflicts": json.dumps(self.conflicts),
            "began": self.began,
        }


@dataclass(frozen=True, slots=True)
class Left:
    """What still stands between an update and its end."""

    marked: tuple[tuple[str, int], ...] = ()  # files with conflict markers, and the first line
    edited: tuple[str, ...] = ()  # files that somebody changed before they could be replaced


def underway(directory: str) -> Underway | None:
    """The unfinished update of a directory; one that changed no file yet is none."""
    state = writing.unfinished(directory) if os.path.isdir(directory) else None
    return _read(state.about, directory) if state and state.is_begun else None


def refuse_unfinished(directory: str) -> None:
    """Raise if an update of the directory has not come to its end."""
    found = underway(directory)
    if found:
        raise UsageError(
            f"its {found.what} to {found.record.ref} is unfinished",
            path=directory,
            hint=f"`kmerge vendor update {directory} --continue`, or `--abort`",
        )


def go_on(directory: str) -> tuple[Underway, Left]:
    """Finish an update, if nothing of it is left to a person."""
    with alone(directory):
        found = _needed(directory)
        edited = writing.carry_out(directory)
        marked = _marked(read(directory), found)
        if edited or marked:
            return found, Left(tuple(marked), tuple(edited))
        _refuse_what_was_taken_back(directory, found)
        if found.conflicts:
            package = vendored(directory)
            if package.record.commit not in (found.began, found.record.commit):
                raise UsageError(
                    f"its record is not at {found.began[:7]} any more, where the update began",
                    path=directory,
                    hint="go back to the branch it belongs to, or give --abort",
                )
            _move_on(package, found)
        writing.forget(directory)
    return found, Left()


def _refuse_what_was_taken_back(directory: str, found: Underway) -> None:
    """Raise if nothing of what the update brought is there: what the record says would not be so.

    A conflict may well be solved by the old version; elsewhere that was `git stash`, or a branch.
    """
    back, rest = ({*paths} - {*found.conflicts} for paths in writing.taken_back(directory))
    if found.conflicts and back and not rest:
        raise UsageError(
            f"{sorted(back)[0]} and all else is as it was before the update",
            path=directory,
            hint="bring back what it wrote (`git stash pop`, its branch), or give --abort",
        )


def go_back(directory: str) -> tuple[Underway, list[str]]:
    """Undo an unfinished update; gives the files that somebody edited and that stay so."""
    with alone(directory):
        found = _needed(directory)
        if found.conflicts and _has_moved_on(directory, found):
            raise UsageError(
                f"its {found.what} is finished but for its drafts",
                path=directory,
                hint=f"`kmerge vendor update {directory} --continue` takes them away",
            )
        edited = writing.roll_back(directory, give_up=found.conflicts)
        writing.forget(directory)
    return found, edited


def _has_moved_on(directory: str, found: Underway) -> bool:
    """Whether the record is the next one already: all that is left is to take the drafts away."""
    try:
        now = vendored(directory).record
        return all(getattr(now, key) == getattr(found.record, key) for key in MOVING)
    except KmergeError:
        return False  # the record itself is in conflict


def _needed(directory: str) -> Underway:
    state = writing.unfinished(directory) if os.path.isdir(directory) else None
    if state is None:
        hint = "what a finished one did is taken back with git"
        raise UsageError("no update is unfinished there", path=directory, hint=hint)
    if not state.is_begun:
        writing.forget(directory)
        raise UsageError(
            "the update was stopped before it changed a file; its drafts are removed",
            path=directory,
            hint="run it again",
        )
    return _read(state.about, directory)


def _marked(package: Package, found: Underway) -> list[tuple[str, int]]:
    """The files in which a conflict is left, with the line of its first marker.

    One that was renamed since is known by the version that its markers name.
    """
    end = f" {found.record.label}"
    left = []
    for path, file in package.items():
        if file.link or not (path in found.conflicts or b">>>>>>>" in file.data):
            continue
        text = file.data.decode("utf-8", "replace")
        at = first_marker(text) if path in found.conflicts else _closing(text, end)
        if at >= 0:
            left.append((path, text.count("\n", 0, at) + 1))
    return left


def _closing(text: str, end: str) -> int:
    """The offset of a line of `>` and this end, or -1."""
    at = 0
    for line in text.split("\n"):
        if line.startswith(">>>>>>>") and line.lstrip(">").rstrip("\r") == end:
            return at
        at += len(line) + 1
    return -1


def _move_on(package: Vendored, found: Underway) -> None:
    """Replace the record by rename; the draft lies where `forget` takes it away after a kill."""
    now = read(package.directory).get(package.file)
    new = package.moved_on(now, found.record, found.found)
    fresh = os.path.join(package.directory, writing.UNDERWAY, "record")
    path = os.path.join(package.directory, package.file)
    try:
        with open(fresh, "wb") as out:
            out.write(new.data)
        os.chmod(fresh, new.mode)
        os.replace(fresh, path)
    except OSError as error:
        raise UsageError(f"cannot write it: {error.strerror}", path=path) from None


def _read(about: Mapping[str, str], directory: str) -> Underway:
    where = os.path.join(directory, writing.UNDERWAY)
    try:
        record = parse(about["record"].encode("utf-8", "surrogateescape"), where)
        conflicts = json.loads(about["conflicts"])
        assert isinstance(conflicts, list)
        paths = tuple(map(str, conflicts))
        return Underway(about["what"], record, about["found"], paths, about["began"])
    except (KeyError, ValueError, AssertionError):
        raise UsageError(
            "it is of no update that `kmerge vendor` began", path=where, hint="look what is in it"
        ) from None
