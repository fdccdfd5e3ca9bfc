"""What git knows about files that are not there: the checks ask, whoever knows git answers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# What became of a file that is not there.
DELETED = "deleted"  # by this commit, or in this merge; or it is called otherwise now
UNSTAGED = "unstaged"  # it is in the working tree, but will not be committed
MADE = "made"  # git ignores it, or it is in a submodule: something else makes it


class Fate:
    """What became of a file: one of the words, and its new name where it has one."""

    __slots__ = ("now", "what")

    def __init__(self, what: str, now: str = "") -> None:
        self.what = what
        self.now = now


class Past:
    """Answers about the last commit, or the sides of a merge; without git there is none."""

    __slots__ = ("before", "concerned", "fates", "kustomizations", "place")

    def __init__(
        self,
        fates: Callable[[list[str]], dict[str, Fate]] = lambda paths: {},
        before: Callable[[str], list[bytes] | None] = lambda path: None,
        concerned: Callable[[], Iterable[str]] = lambda: (),
        kustomizations: Callable[[], Iterable[str]] = lambda: (),
        place: Callable[[str], str] = lambda path: path,
    ) -> None:
        self.fates = fates  # of those files about which there is something to say
        self.before = before  # a file as it was on each side; None where nobody knows
        self.concerned = concerned  # files beside those of the run: the commit deletes them
        self.kustomizations = kustomizations  # all there are, to find those that name such a file
        self.place = place  # a path from the top: here `../a/b` and `b` may be one
