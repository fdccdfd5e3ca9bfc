"""The error tree: errors carry data, the text is derived from it.

Every command prints a `KmergeError` as one line, `kmerge: FILE:LINE:COL: what; what to do`,
and ends with exit code 2. A conflict is never an error: it is a value of the merge.
"""

from __future__ import annotations


class KmergeError(Exception):
    """A problem, its place, and what the user can do about it."""

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
        """Return the offending line with a caret below it, or nothing."""
        if not (self.excerpt and self.column):
            return ""
        from kmerge_git.visible import visible  # a merge without errors shows none

        before = visible(self.excerpt[: self.column - 1])
        pad = "".join("\t" if c == "\t" else " " for c in before)
        return f"  {visible(self.excerpt)}\n  {pad}^"


class Refused(KmergeError):
    """An answer to a conflict would make no sound file."""


class TimeUp(BaseException):
    """The time limit is over; not an Exception, so that no handler takes it for a bug."""

    def __init__(self, path: str = "", seconds: float = 0.0) -> None:
        super().__init__()
        self.path = path
        self.seconds = seconds

    def __str__(self) -> str:
        place = f"{self.path}: " if self.path not in ("", "-") else ""
        hint = "KMERGE_TIMEOUT=SECONDS sets the limit, 0 is none"
        return f"{place}no result within {self.seconds:g} s; {hint}"


class CannotParse(KmergeError):
    """The text is not YAML that can be merged by structure."""


class Unsupported(KmergeError):
    """The input is valid, but this tool does not handle it."""


class TextOnly(Unsupported):
    """The text has no fields to merge by: it is a template, or a mapping has an odd key."""


class RepeatedKey(TextOnly):
    """A mapping has a key twice."""


class Unproved(Unsupported):
    """A merged text differs from the decisions: by a bug, or an alias that lost its anchor."""


class UsageError(KmergeError):
    """The command line asks for something that makes no sense."""


class GitFailed(KmergeError):
    """A git command ended with an error."""

    def __init__(self, argv: list[str], code: int, stderr: str, *, hint: str = "") -> None:
        last = stderr.strip().splitlines()[-1:] or [f"exit code {code}"]
        super().__init__(f"`{' '.join(argv)}` failed: {last[0]}", hint=hint)
        self.argv = argv
        self.code = code
        self.stderr = stderr


class PatchError(KmergeError):
    """A patch cannot be applied or made; `field` is the path of the field, `steps` its parts."""

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
    """Both sides changed the same field and `overwrite` is off."""
