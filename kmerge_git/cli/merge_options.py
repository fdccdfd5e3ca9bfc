"""Parse the options of `git merge` and keep their order, to pass the options on to git."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from kmerge_git.errors import UsageError

FLAGS = {
    "--commit": "commit the result (default)",
    "--no-commit": "stop before the commit",
    "--ff": "fast-forward if possible (default)",
    "--no-ff": "always create a merge commit",
    "--ff-only": "refuse to merge unless a fast-forward is possible",
    "--squash": "stage the result, but neither commit nor record a merge",
    "--no-squash": "undo an earlier --squash",
    "--edit -e": "edit the commit message",
    "--no-edit": "use git's commit message without editing it",
    "--signoff": "add a Signed-off-by trailer",
    "--no-signoff": "undo an earlier --signoff",
    "--no-verify": "do not run hooks",
    "--verify": "undo an earlier --no-verify",
    "--no-gpg-sign": "do not sign the commit",
    "--no-log": "do not list the merged commits in the message",
    "--stat --summary": "show a diffstat at the end of the merge",
    "--no-stat --no-summary -n": "do not show a diffstat",
    "--allow-unrelated-histories": "allow branches without a common ancestor",
    "--autostash": "stash local changes, and apply them after the merge",
    "--no-autostash": "do not stash, even if an earlier option is --autostash",
    "--rerere-autoupdate": "stage the files that rerere resolves",
    "--no-rerere-autoupdate": "undo an earlier --rerere-autoupdate",
    "--verify-signatures": "merge only commits with a valid signature",
    "--no-verify-signatures": "undo an earlier --verify-signatures",
    "--overwrite-ignore": "allow ignored files to be overwritten (default)",
    "--no-overwrite-ignore": "refuse to overwrite ignored files",
    "--progress": "always show the progress",
    "--no-progress": "never show the progress",
    "--quiet -q": "print errors only",
    "--verbose -v": "print more details",
}
VALUES = {
    "--message -m": ("TEXT", "the commit message"),
    "--file -F": ("FILE", "a file with the commit message"),
    "--strategy-option -X": (
        "OPT",
        "ours or theirs: the side that wins a conflict; git handles other values",
    ),
    "--strategy -s": ("NAME", "the merge strategy; if it is not the default, git alone merges"),
    "--cleanup": ("MODE", "how to clean up the commit message"),
    "--into-name": ("BRANCH", "the branch name to use in the commit message"),
}
# options with an optional value, which is given in the same word
OPTIONAL = {
    "--gpg-sign -S": ("KEYID", "sign the commit"),
    "--log": ("N", "list the merged commits in the message"),
}
STATE = {
    "--abort": "undo a stopped merge, as `git merge --abort` does",
    "--continue": "commit a stopped merge, as `git merge --continue` does",
    "--quit": "forget a stopped merge, but keep its files",
}
# options about the commit, which git makes in a second step
_OF_THE_COMMIT = {
    *("--commit", "--no-commit", "--edit", "--no-edit", "--signoff", "--no-signoff"),
    *("--gpg-sign", "--no-gpg-sign", "--verify", "--no-verify", "--stat", "--no-stat"),
}


@dataclass(frozen=True, slots=True)
class GitOptions:
    """Hold options with their values, in the order of the command line."""

    pairs: tuple[tuple[str, str | None], ...] = ()

    def last(self, *names: str) -> str:
        """Return the option in `names` that was given last, or an empty text if none was given."""
        return next((name for name, _ in reversed(self.pairs) if name in names), "")

    def values(self, name: str) -> list[str]:
        """Return all values of an option."""
        return [value or "" for given, value in self.pairs if given == name]

    def words(self, names: set[str] | None = None) -> list[str]:
        """Return the options as words for git: all of them, or only those with the given names."""
        found: list[str] = []
        for name, value in self.pairs:
            if names is None or name in names:
                found.append(name if value is None else f"{name}={value}")
        return found

    @property
    def of_the_merge(self) -> list[str]:
        """Return the options, as words, for a `git merge` that stops before the commit."""
        return self.words({name for name, _ in self.pairs} - _OF_THE_COMMIT)

    @property
    def of_the_commit(self) -> list[str]:
        """Return the options, as words, for `git commit`."""
        words = self.words({"--gpg-sign", "--no-gpg-sign", "--cleanup"})
        for pair in (("--signoff", "--no-signoff"), ("--verify", "--no-verify")):
            words += [word] if (word := self.last(*pair)) else []
        return words

    @property
    def favor(self) -> str | None:
        """Return the side that the last `-X ours` or `-X theirs` names, or None without -X."""
        sides = [v for v in self.values("--strategy-option") if v in ("ours", "theirs")]
        return sides[-1] if sides else None


class _Keep(argparse.Action):
    """Append an option under its long name to the options that were given."""

    @property
    def is_in_one_word(self) -> bool:
        """Return whether the value must be in the same word as the option, as in `--log=5`."""
        return self.metavar in ("KEYID", "N")

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        value = None if self.nargs == 0 else str(values)
        if value == "" and self.is_in_one_word:
            value = None
        namespace.given = GitOptions((*namespace.given.pairs, (self.option_strings[0], value)))


def add_git_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `git merge`."""
    parser.set_defaults(given=GitOptions())
    group = parser.add_argument_group("options of git merge")
    for names, text in (FLAGS | STATE).items():
        group.add_argument(*names.split(), action=_Keep, nargs=0, help=text, dest="given")
    for names, (value, text) in (VALUES | OPTIONAL).items():
        group.add_argument(*names.split(), action=_Keep, metavar=value, help=text, dest="given")


def spelled(argv: Sequence[str]) -> list[str]:
    """Return the words, with `=` after each option whose value is optional.

    Otherwise argparse would take the next word as the value.
    """
    names = {name: names.split()[0] for names in OPTIONAL for name in names.split()}
    words: list[str] = []
    for at, word in enumerate(argv):
        if word == "--":
            return words + list(argv[at:])
        short = word[:2] if not word.startswith("--") else ""
        if word in names:
            words.append(f"{names[word]}=")
        elif short in names:
            words.append(f"{names[short]}={word[2:]}")
        else:
            words.append(word)
    return words


def of_the_branch(text: str) -> GitOptions:
    """Parse the options of `branch.NAME.mergeOptions`; ignore wrong options, which git reports."""
    parser = _Strict(add_help=False)
    add_git_options(parser)
    try:
        found, _ = parser.parse_known_args(spelled(shlex.split(text)))
    except (UsageError, ValueError):
        return GitOptions()
    return found.given  # type: ignore[no-any-return]


class _Strict(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)
