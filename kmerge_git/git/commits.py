"""Commits as plain values, the meaning of a range, and the commit that changed some lines last."""

from __future__ import annotations

from dataclasses import dataclass
from subprocess import TimeoutExpired

from kmerge_git.bounds import AUTHOR_CHARACTERS, BLAME_LINES, BLAME_SECONDS
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.git.run_git import ask_git, environment
from kmerge_git.visible import label, shortened


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its id, its tree, its parents, its message and time."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    subject: str  # the first line of the message
    message: str = ""
    time: int = 0  # seconds, by the clock of whoever made the commit


def ends_of(spec: str) -> tuple[str, str]:
    """Return the last revision of `REV` or `A..B`, and the first of `A..B`, if there is one."""
    left, dots, right = spec.partition("..")
    if right.startswith("."):
        raise UsageError(f"{spec!r}: a range is A..B", hint="two dots")
    return (right if dots else left) or "HEAD", (left or "HEAD") if dots else ""


_SHORT = 10  # digits of a commit
# objects that a partial clone lacks are not fetched behind the user's back
_OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0"}


def last_change(
    directory: str, rev: str, path: str, first_line: int, last_line: int
) -> tuple[str, str, str] | None:
    """Return the newest commit that touched these lines of a file, as its revision has it.

    Short id, author and subject, without control characters; None where git fails or takes too
    long: a name on a screen never makes a command fail.
    """
    if rev.startswith("-") or not 0 < first_line <= last_line:
        return None
    lines = f"{first_line},{min(last_line, first_line + BLAME_LINES - 1)}"
    # no program is run to show the file as text
    asked = ("blame", "--porcelain", "--no-textconv", "-L", lines, rev, "--", path)
    env = environment() | _OFFLINE
    try:
        answer = ask_git(*asked, cwd=directory, env=env, seconds=BLAME_SECONDS)
    except (KmergeError, OSError, ValueError, TimeoutExpired):
        return None
    return None if answer.code else _newest(answer.out)


def _newest(blamed: str) -> tuple[str, str, str] | None:
    """Return the newest commit in the output of blame, which describes each where it is first."""
    commits: list[dict[str, str]] = []
    for line in blamed.split("\n"):
        if line.startswith("\t"):  # a line of the file itself
            continue
        word, _, rest = line.partition(" ")
        if len(word) in (40, 64) and rest[:1].isdigit():
            commits.append({"id": word})
        elif commits:
            commits[-1][word] = rest
    known = [c for c in commits if c.get("committer-time", "").isdigit()]
    if not known:
        return None
    newest = max(known, key=lambda commit: int(commit["committer-time"]))
    author, subject = (
        shortened(label(newest.get(word, "")), AUTHOR_CHARACTERS) for word in ("author", "summary")
    )
    return newest["id"][:_SHORT], author, subject
