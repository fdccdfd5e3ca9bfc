"""One file of a merge that was made again, beside what is there now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from kmerge_git.compare.change import FieldChange
from kmerge_git.compare.files import by_lines, compare
from kmerge_git.git.manifests import is_manifest
from kmerge_git.outcome import Conflict, Decision
from kmerge_git.text.markers import first_marker, marker_size_for, resolve
from kmerge_git.whole.settling import FileMerge

# how what is there now compares with the merge that was made again
State = Literal["same", "as git", "different", "gone", "there", "in conflict", "unsolved"]
# whose version of a conflict is there now
Choice = Literal["ours", "theirs", "neither", ""]


@dataclass(frozen=True, slots=True)
class ExplainedConflict:
    """A conflict, and whose version somebody chose; nothing where that is not done."""

    conflict: Conflict
    choice: Choice = ""


@dataclass(frozen=True, slots=True)
class ExplainedFile:
    """A file that both sides changed."""

    path: str
    merge: FileMerge
    decisions: tuple[Decision, ...]
    conflicts: tuple[ExplainedConflict, ...]
    git_alone: tuple[FieldChange, ...]  # from our result to that of git, where git has one
    state: State
    changes: tuple[FieldChange, ...]  # from our result to what is there now
    against: tuple[FieldChange, ...] = ()  # what one side changed in a file that the other deleted

    @property
    def is_plain(self) -> bool:
        """Whether git alone comes to the same, and that is what is there."""
        return self.merge.result == "clean" and self.state == "same"

    @property
    def is_layout_alone(self) -> bool:
        """Whether what is there now means what the merge makes."""
        return all(change.how == "layout" for change in self.changes)


def explained(file: FileMerge, found: bytes | None, *, waits: bool = False) -> ExplainedFile:
    """A file as the merge makes it again; `found` is what is there now.

    `waits`: git has it, or the file from which a resource comes into it, still in conflict.
    """
    outcome = file.both.outcome if file.both else None
    made = ExplainedFile(
        file.path,
        file,
        outcome.explained if outcome else (),
        tuple(ExplainedConflict(conflict) for conflict in file.conflicts),
        _by_git(file),
        "same",
        (),
        _against(file),
    )
    if file.verdict == "solved" and waits and _is_untouched(file, found):
        return replace(made, state="unsolved")
    if file.verdict == "solved":
        return _beside(made, file.data, found)
    if file.writes and file.method != "kept":
        return _resolved(made, file, found)
    if found is None:
        return replace(made, state="gone")
    if first_marker(found.decode("utf-8", "surrogateescape")) >= 0:
        return replace(made, state="in conflict")
    if file.both and file.data is not None:  # ours was kept, a person must merge
        return replace(made, state="same" if found == file.data else "different")
    return replace(made, state="there")


def _is_untouched(file: FileMerge, found: bytes | None) -> bool:
    """Whether nobody has settled by hand what is in conflict; git leaves no side of a file out."""
    if found is None or file.data is None:
        return found is not None
    if file.stages:
        plain = _plain(found, file.data)
        return plain != file.data and plain in (file.stages.ours, file.stages.theirs)
    return first_marker(found.decode("utf-8", "surrogateescape")) >= 0


def _by_git(file: FileMerge) -> tuple[FieldChange, ...]:
    """What git alone would have made of it instead, where it is clean."""
    if not file.git_clean or file.moves or file.both is None or file.verdict != "solved":
        return ()
    return tuple(compared(file.data, file.both.git, file.path))


def _against(file: FileMerge) -> tuple[FieldChange, ...]:
    """What is at stake in a file that one side deleted."""
    if file.both is not None or file.verdict != "conflict":
        return ()
    base, ours, theirs = file.three.each()
    return tuple(compared(base, theirs if ours is None else ours, file.path))


def compared(old: bytes | None, new: bytes | None, path: str) -> list[FieldChange]:
    """What differs between two versions of a file, by field where it may have some."""
    if is_manifest(path, json=True):
        return compare(old, new, path)
    return by_lines(old or b"", new or b"")


def _beside(file: ExplainedFile, made: bytes | None, found: bytes | None) -> ExplainedFile:
    """A file without a conflict beside what is there now."""
    if made is None or found is None:
        state: State = "gone" if made else "there"
        return replace(file, state="same" if made is found else state)
    found = _plain(found, made)
    changes = tuple(compared(made, found, file.path))
    both = file.merge.both
    state = "as git" if both and both.git_clean and both.git == found else "different"
    return replace(file, state=state if changes else "same", changes=changes)


def _plain(found: bytes, made: bytes) -> bytes:
    """Without the line ends that a checkout may have added."""
    return found if b"\r" in made else found.replace(b"\r\n", b"\n")


def _resolved(file: ExplainedFile, merge: FileMerge, found: bytes | None) -> ExplainedFile:
    """A file in conflict beside what is there now: whose version each place has."""
    if found is None:
        return replace(file, state="gone")
    made = (merge.data or b"").decode("utf-8", "surrogateescape")
    found = _plain(found, merge.data or b"")
    text = found.decode("utf-8", "surrogateescape")
    size = _size_of(made)
    if first_marker(text, min(size, 7)) >= 0:
        return replace(file, state="in conflict")
    sides = [resolve(made, s, size).encode("utf-8", "surrogateescape") for s in ("ours", "theirs")]
    mine, yours = (compared(side, found, merge.path) for side in sides)
    conflicts = tuple(
        replace(c, choice=_choice(c.conflict, mine, yours, text)) for c in file.conflicts
    )
    rest = [c for c in mine if not any(_is_about(c, known.conflict) for known in file.conflicts)]
    return replace(file, conflicts=conflicts, state="different", changes=tuple(rest))


def _size_of(made: str) -> int:
    """How long the markers of a merge are."""
    at = first_marker(made)
    return len(made[at:]) - len(made[at:].lstrip("<")) if at >= 0 else marker_size_for([made])


def _choice(
    conflict: Conflict, mine: list[FieldChange], yours: list[FieldChange], text: str
) -> Choice:
    is_ours, is_theirs = (
        not any(_is_about(change, conflict) for change in changes) for changes in (mine, yours)
    )
    if is_ours and is_theirs:  # the values say nothing: the conflict is about comments
        text = text.replace("\r\n", "\n")
        is_ours, is_theirs = (part.strip("\n") in text for part in (conflict.ours, conflict.theirs))
    return "ours" if is_ours else "theirs" if is_theirs else "neither"


def _is_about(change: FieldChange, conflict: Conflict) -> bool:
    """Whether a change is at the place of a conflict, inside of it or around it."""
    if change.how == "layout" or (
        conflict.resource and change.resource and conflict.resource != change.resource
    ):
        return False
    one, other = change.field, _place_of(conflict)
    short, long = sorted((one, other), key=len)
    if not short:
        return not other or change.how == "lines"
    return long.startswith(short) and long[len(short) : len(short) + 1] in ("", ".", "[")


def _place_of(conflict: Conflict) -> str:
    """The field of a conflict; of elements without a key their list: places shift."""
    head, bracket, last = conflict.field.rpartition("[")
    return head if bracket and last[:-1].isdigit() else conflict.field
