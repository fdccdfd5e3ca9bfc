"""The answers of an unfinished `kmerge resolve`, kept in git's directory: a kill loses none.

An answer is kept under the id of its conflict, which is made of all three versions: an answer to
another merge is never taken for one to this.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from kmerge_git.atomic_files import read_text, replace_file

FILE = "kmerge-answers"
# what git writes when an operation stops, and leaves alone until its end
_BEGUN = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "SQUASH_MSG",
    "AUTO_MERGE",
)

SURE = ("ours", "theirs")  # answers that the merge itself has proved; alone, not together


@dataclass(frozen=True, slots=True)
class Answer:
    """What stands in the place of a conflict; `text` is None where a file is deleted."""

    how: str  # ours, theirs, both, base, higher; `value` and `lines` are the user's own
    text: str | None


class Kept:
    """Answers by path and id, and the digests of what was written to files with them."""

    def __init__(self, place: Path) -> None:
        self._file = place / FILE
        self._drafts = place
        self.answers: dict[str, dict[str, Answer]] = {}
        self.written: dict[str, list[str]] = {}
        self._told: dict[str, dict[str, Answer]] = {}  # by this process
        self._load()
        self._told = {path: dict(found) for path, found in self.answers.items()}

    def is_ours(self, path: str, found: bytes) -> bool:
        """Whether a file holds what an earlier run wrote there."""
        return digest(found) in self.written.get(path, ())

    def forget_what_is_older(self) -> None:
        """Forget answers to an operation that has ended since.

        Who aborts a merge and makes it once more wants to be asked once more.
        """
        times = [_written_at(self._drafts / name) for name in _BEGUN]
        if _written_at(self._file) < max(times):
            self.forget({*self.answers, *self.written})

    def remember(self, path: str, answers: Mapping[str, Answer]) -> None:
        """The answers of a file as they are now; what another process heard meanwhile stays."""
        self._load()
        before = self._told.get(path, {})
        others = self.answers.get(path, {}).items()
        kept = {id_: one for id_, one in others if id_ in answers or id_ not in before}
        new = {id_: one for id_, one in answers.items() if before.get(id_) != one}
        self.answers[path] = kept | new
        self._told[path] = dict(answers)
        self._save()

    def will_write(self, files: Iterable[tuple[str, bytes]]) -> None:
        """What will stand in files, as the working tree has it."""
        self._load()
        for path, data in files:
            known = self.written.setdefault(path, [])
            known[:] = [*known[-1:], digest(data)]
        self._save()

    def forget(self, paths: Iterable[str]) -> None:
        """Files that are decided, or in no conflict any more."""
        gone = set(paths)
        self._load()
        for path in gone:
            self._told.pop(path, None)
        if gone & (self.answers.keys() | self.written.keys()):
            self.answers = {k: v for k, v in self.answers.items() if k not in gone}
            self.written = {k: v for k, v in self.written.items() if k not in gone}
            self._save()

    def _save(self) -> None:
        if not any(self.answers.values()) and not self.written:
            self._file.unlink(missing_ok=True)
            return
        made = {
            "schema": 1,
            "answers": {
                path: {id_: [one.how, one.text] for id_, one in of.items()}
                for path, of in self.answers.items()
                if of
            },
            "written": self.written,
        }
        data = json.dumps(made).encode("utf-8")
        replace_file(self._file, data, drafts=self._drafts, durable=False)

    def _load(self) -> None:
        """What is no such file is none: an answer that is lost is asked again."""
        try:
            made = json.loads(read_text(self._file) or "{}")
            self.answers = dict(_answers(made))
            self.written = {
                path: [one for one in found if isinstance(one, str)][-2:]
                for path, found in _dict(made, "written").items()
                if isinstance(found, list)
            }
        except (ValueError, RecursionError):
            return


def _written_at(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def digest(data: bytes) -> str:
    """What a file's content is known by."""
    return sha256(data).hexdigest()


def _dict(made: Any, name: str) -> dict[str, Any]:
    found = made.get(name) if isinstance(made, dict) else None
    return found if isinstance(found, dict) else {}


def _answers(made: Any) -> Iterable[tuple[str, dict[str, Answer]]]:
    for path, found in _dict(made, "answers").items():
        pairs = found.items() if isinstance(found, dict) else ()
        yield path, {id_: Answer(one[0], one[1]) for id_, one in pairs if _is_answer(one)}


def _is_answer(one: Any) -> bool:
    is_pair = isinstance(one, list) and len(one) == 2 and isinstance(one[0], str)
    return is_pair and (one[1] is None or isinstance(one[1], str))
