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
    "--ff": "move the branch only where that is enough (default)",
    "--no-ff": "make a merge commit in any case",
    "--ff-only": "refuse what is no fast-forward",
    "--squash": "the result without a merge: no commit, no second parent",
    "--no-squash": "undo an earlier --squash",
    "--edit -e": "edit the message",
    "--no-edit": "take git's message as it is",
    "--signoff": "add a Signed-off-by trailer",
    "--no-signoff": "undo an earlier --signoff",
    "--no-verify": "run no hooks",
    "--verify": "undo an earlier --no-verify",
    "--no-gpg-sign": "do not sign the commit",
    "--no-log": "no list of what is merged in the message",
    "--stat --summary": "show what was changed, at the end",
    "--no-stat --no-summary -n": "do not show what was changed",
    "--allow-unrelated-histories": "merge what has no common ancestor",
    "--autostash": "put local changes aside and back again",
    "--no-autostash": "undo an earlier --autostash",
    "--rerere-autoupdate": "stage what rerere resolves",
    "--no-rerere-autoupdate": "undo an earlier --rerere-autoupdate",
    "--verify-signatures": "merge only what is signed",
    "--no-verify-signatures": "undo an earlier --verify-signatures",
    "--overwrite-ignore": "ignored files may be overwritten (default)",
    "--no-overwrite-ignore": "refuse to overwrite ignored files",
    "--progress": "show progress in any case",
    "--no-progress": "show no progress",
    "--quiet -q": "say nothing",
    "--verbose -v": "say more",
}
VALUES = {
    "--message -m": ("TEXT", "the message of the commit"),
    "--file -F": ("FILE", "a file with the message"),
    "--strategy-option -X": ("OPT", "ours, theirs: the side that wins; others are git's"),
    "--strategy -s": ("NAME", "another strategy than git's own: git alone merges then"),
    "--cleanup": ("MODE", "how the message is cleaned up"),
    "--into-name": ("BRANCH", "the branch that the message names"),
}
# options with an optional value, which is given in the same word
OPTIONAL = {
    "--gpg-sign -S": ("KEYID", "sign the commit"),
    "--log": ("N", "put what is merged into the message"),
}
STATE = {
    "--abort": "give the merge up, as `git merge --abort`",
    "--continue": "commit a merge that stopped, as `git merge --continue`",
    "--quit": "forget the merge that stopped, leave its files",
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
