"""Save the answers of an unfinished `kmerge resolve` in git's directory: a kill loses none.

An answer is saved under the id of its conflict, which is made of all three versions: an answer to
another merge is never taken for one to this.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from kmerge_git.atomic_files import read_text, replace_file

FILE = "kmerge-answers"
# git writes these when an operation stops, and leaves them alone until its end
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
    """The answer to a conflict, and its lines; `text` is None where a file is deleted."""

    how: str  # ours, theirs, both, base, higher; `value` and `lines` are the user's own
    text: str | None


class SavedAnswers:
    """Answers by path and id, and the digests of the files that were written with them."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder  # None: nothing is saved
        self.answers: dict[str, dict[str, Answer]] = {}
        self.written: dict[str, list[str]] = {}
        self._load()
        # of this process: another one may answer at the same time
        self._own = {path: dict(answers) for path, answers in self.answers.items()}

    def is_ours(self, path: str, data: bytes) -> bool:
        """Return whether a file holds what an earlier run wrote there."""
        return digest(data) in self.written.get(path, ())

    def forget_older(self) -> None:
        """Forget answers to an operation that has ended since.

        A person who aborts a merge and makes it once more wants to be asked once more.
        """
        if self._folder:
            begun = max(_written_at(self._folder / name) for name in _BEGUN)
            if _written_at(self._folder / FILE) < begun:
                self.forget({*self.answers, *self.written})

    def remember(self, path: str, answers: Mapping[str, Answer]) -> None:
        """Save the answers of a file as they are now; those of another process stay."""
        self._load()
        before = self._own.get(path, {})
        others = self.answers.get(path, {}).items()
        kept = {id_: one for id_, one in others if id_ in answers or id_ not in before}
        new = {id_: one for id_, one in answers.items() if before.get(id_) != one}
        self.answers[path] = kept | new
        self._own[path] = dict(answers)
        self._save()

    def will_write(self, files: Iterable[tuple[str, bytes]]) -> None:
        """Save the digests of files as the working tree will have them."""
        self._load()
        for path, data in files:
            self.written[path] = [*self.written.get(path, [])[-1:], digest(data)]
        self._save()

    def forget(self, paths: Iterable[str]) -> None:
        """Forget files that are decided, or in no conflict any more."""
        gone = set(paths)
        self._load()
        for path in gone:
            self._own.pop(path, None)
        if gone & (self.answers.keys() | self.written.keys()):
            self.answers = {k: v for k, v in self.answers.items() if k not in gone}
            self.written = {k: v for k, v in self.written.items() if k not in gone}
            self._save()

    def _save(self) -> None:
        if self._folder is None:
            return
        file = self._folder / FILE
        answers = {
            path: {id_: [one.how, one.text] for id_, one in of.items()}
            for path, of in self.answers.items()
            if of
        }
        if not answers and not self.written:
            file.unlink(missing_ok=True)
            return
        data = json.dumps({"schema": 1, "answers": answers, "written": self.written}).encode()
        replace_file(file, data, drafts=self._folder, durable=False)

    def _load(self) -> None:
        """Load saved answers; leave out an unreadable file: its answers are asked again."""
        if self._folder is None:
            return
        try:
            saved = json.loads(read_text(self._folder / FILE) or "{}")
            answers = {
                path: {id_: Answer(how, text) for id_, (how, text) in of.items()}
                for path, of in saved.get("answers", {}).items()
            }
            self.written = {path: of[-2:] for path, of in saved.get("written", {}).items()}
            self.answers = answers
        except (ValueError, TypeError, AttributeError, RecursionError):
            return


def _written_at(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def digest(data: bytes) -> str:
    """Return the digest by which the content of a file is known."""
    return sha256(data).hexdigest()
