"""Define the errors of kmerge: an error carries data, and its text is derived from the data.

Every command prints a `KmergeError` as one line, `kmerge: FILE:LINE:COL: problem; remedy`, and
ends with exit code 2. A conflict is never an error: a conflict is part of the outcome of a merge.
"""

from __future__ import annotations


class KmergeError(Exception):
    """Report a problem together with its place and a remedy for the user."""

    def __init__(
        self,
        why: str,
        *,
        path: str = "",
        line: int = 0,
        column: int = 0,
        hint: str = "",
        excerpt: str = "",
    ) -> None:
        super().__init__(why)
        self.why = why
        self.path = path
        self.line = line  # 1-based; 0 = unknown
        self.column = column  # 1-based; 0 = unknown
        self.hint = hint
        self.excerpt = excerpt  # the offending line of text, if there is one

    def __str__(self) -> str:
        parts = (self.path, self.line, self.column if self.line else 0)
        place = ":".join(str(part) for part in parts if part)
        return (f"{place}: " if place else "") + self.why + (f"; {self.hint}" if self.hint else "")

    def caret(self) -> str:
        """Return the offending line and a caret below it, or '' if the place is unknown."""
        if not (self.excerpt and self.column):
            return ""
        from kmerge_git.visible import visible  # a merge without errors shows none

        before = visible(self.excerpt[: self.column - 1])
        pad = "".join("\t" if c == "\t" else " " for c in before)
        return f"  {visible(self.excerpt)}\n  {pad}^"


class Refused(KmergeError):
    """Report that an answer to a conflict would damage the file."""


class TimeUp(BaseException):
    """Report that the time limit is over.

    The limit is in seconds of CPU. A busy machine must not cost a merge, so the wall clock ends
    the work only after `PATIENCE` times the limit.

    This class is not an `Exception`, so that no handler of exceptions takes a timeout for a bug.
    """

    PATIENCE = 3

    def __init__(self, path: str = "", limit: float = 0.0, *, is_wall_clock: bool = False) -> None:
        super().__init__()
        self.path = path
        self.limit = limit
        self.is_wall_clock = is_wall_clock

    @property
    def late(self) -> str:
        """Return the time that is over, in words."""
        if self.is_wall_clock:
            return f"no result within {self.limit * self.PATIENCE:g} s"
        return f"no result within {self.limit:g} s of CPU time"

    def __str__(self) -> str:
        place = f"{self.path}: " if self.path not in ("", "-") else ""
        return f"{place}{self.late}; set KMERGE_TIMEOUT=SECONDS to change the limit (0: no limit)"


class CannotParse(KmergeError):
    """Report a text that cannot be merged by structure, because it is not usable YAML."""


class Unsupported(KmergeError):
    """Report a valid input that kmerge does not handle."""


class TextOnly(Unsupported):
    """Report a text that has no usable fields: a template, or a mapping with an unusable key."""


class RepeatedKey(TextOnly):
    """Report a mapping that has the same key twice."""


class Unproved(Unsupported):
    """Report a merged text that differs from the decisions of the merge.

    The cause is a bug, or an alias that lost its anchor.
    """


class UsageError(KmergeError):
    """Report invalid arguments of a command or function."""


class GitFailed(KmergeError):
    """Report a git command that ended with an error."""

    def __init__(self, argv: list[str], code: int, stderr: str, *, hint: str = "") -> None:
        last = stderr.strip().splitlines()[-1:] or [f"exit code {code}"]
        super().__init__(f"`{' '.join(argv)}` failed: {last[0]}", hint=hint)
        self.argv = argv
        self.code = code
        self.stderr = stderr


class PatchError(KmergeError):
    """Report a patch that cannot be applied or made.

    `field` is the path of the field as text, and `steps` are the parts of that path.
    """

    def __init__(
        self, why: str, *, field: str = "", steps: tuple[str | int, ...] = (), **where: object
    ) -> None:
        super().__init__(why, **where)  # type: ignore[arg-type]
        self.field = field
        self.steps = steps

    def __str__(self) -> str:
        text = super().__str__()
        return text.replace(self.why, f"{self.field}: {self.why}", 1) if self.field else text


class PatchConflict(PatchError):
    """Report that both sides changed the same field while `overwrite` is off."""
