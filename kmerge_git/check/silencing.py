"""M16: read the comments that silence findings, such as `# kmerge: ignore D12`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from kmerge_git.check.registry import COMMENTS, WARNING, Check, Found, expand, get
from kmerge_git.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.finding import Finding

MARK = "kmerge: ignore"
COMMENT = re.compile(rf"^(.*?)#[ \t]*{MARK}(\S*)(.*)", re.MULTILINE)
ID = re.compile("[A-Za-z][0-9]+:?")
WHOLE_FILE = 0  # in place of the number of a line


class Comments:
    """Hold the ids that the comments of a text silence, and the words that silence nothing.

    A comment counts for its own line; if the line holds only the comment, it counts for the next
    line as well. `ignore-file` counts for the whole file.
    """

    __slots__ = ("_silent", "wrong")

    def __init__(self, text: str) -> None:
        self._silent: dict[int, set[str]] = defaultdict(set)  # by the number of the line
        self.wrong: list[tuple[int, str]] = []  # the offset of a comment, and the problem
        number, at = 1, 0
        for comment in COMMENT.finditer(text) if MARK in text else ():
            before, reach, words = comment.groups()
            number, at = number + text.count("\n", at, comment.start()), comment.start()
            lines = (number,) if before.strip() else (number, number + 1)
            ids, wrong = silenced(words)
            if reach.rstrip(":") not in ("", "-file"):
                ids, wrong = (
                    set(),
                    [f"ignore{reach} is unknown and silences nothing; write ignore or ignore-file"],
                )
            for line in (WHOLE_FILE,) if "-file" in reach else lines:
                self._silent[line] |= ids
            self.wrong += [(comment.end(1), problem) for problem in wrong]

    def heard(self, findings: list[Finding]) -> list[Finding]:
        """Return the findings that no comment silences."""
        if not self._silent:
            return findings
        everywhere = self._silent[WHOLE_FILE]
        return [f for f in findings if f.id not in everywhere | self._silent[f.line]]


def silenced(words: str) -> tuple[set[str], list[str]]:
    """Return the ids that the words of a comment silence, and what is wrong with the words.

    Without words a comment silences all checks. A reason may follow the words: it begins with a
    word that is not an id and does not follow a comma.
    """
    ids: set[str] = set()
    wrong: list[str] = []
    is_listed = True  # the word is the first one, or follows a comma
    for number, word in enumerate(words.replace(",", " , ").split() or ["all"]):
        if word == ",":
            is_listed = True
            continue
        if not is_listed and not ID.fullmatch(word):
            break
        named = _named(word.rstrip(":"))
        if not named and number and not ID.fullmatch(word):
            break  # a reason after a comma
        can_be_silenced = {id for id in named if get(id).by_comment}
        ids |= can_be_silenced
        if not named:
            wrong.append(f"there is no check {word}, so this silences nothing")
        elif not can_be_silenced:
            wrong.append(f"a comment cannot silence {word}")
        is_listed = False
    return ids, wrong


def _named(word: str) -> set[str]:
    """Return the ids that a word names: an id, the start of an id, a group or `all`."""
    try:
        return expand([word])
    except UsageError:
        return set()


@Check(
    "M16", WARNING, COMMENTS, "a comment that silences nothing",
    kubectl="Not affected.",
    kustomize="Not affected.",
    example="# kmerge: ignore M99\nreplicas: 2",
    counter="# kmerge: ignore M02, D6, directives: read by our own tool\nreplicas: 2",
    mend="Write `# kmerge: ignore` or `# kmerge: ignore-file`, then ids, beginnings of ids, or "
    "groups (as for `--ignore`), then the reason. A comment cannot silence M11: see `kmerge check "
    "--explain M11`.",
)  # fmt: skip
def silences_nothing(comments: Comments) -> Iterator[Found]:
    """Find a word in a comment `# kmerge: ignore` that names no check."""
    yield from (Found(at, problem) for at, problem in comments.wrong)
