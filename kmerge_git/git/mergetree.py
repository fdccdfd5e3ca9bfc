"""Merges of two commits by `git merge-tree`: no working tree and no index are needed or touched.

Renames, directories that were renamed, modes, deletions: all of that is git's own answer. Every
manifest that both sides changed comes back as stages, however well its lines merge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kmerge_git.errors import GitFailed, Unsupported
from kmerge_git.git.call import ask_git, git_version
from kmerge_git.git.conflicts import Stages
from kmerge_git.git.scratch import Scratch
from kmerge_git.git.sides import TreeEntry

SINCE = (2, 38)
# `could not fetch ID from promisor remote`, `unable to read tree (ID)`, `Could not read ID`
_LOST = re.compile(r"(?:fetch |read |\()([0-9a-f]{40})\b")


@dataclass(frozen=True, slots=True)
class Message:
    """What git says about some files: `kind` never changes, `text` is for people."""

    kind: str  # `Auto-merging`, `CONFLICT (contents)`, ..
    paths: tuple[str, ...]
    text: str

    @property
    def is_conflict(self) -> bool:
        """Whether the merge is not clean for this."""
        return self.kind.startswith("CONFLICT")


@dataclass(frozen=True, slots=True)
class MergedTree:
    """What git makes of two commits; the tree has git's markers where it is in conflict."""

    tree: str
    is_clean: bool
    conflicts: tuple[Stages, ...]
    messages: tuple[Message, ...]

    @property
    def merged(self) -> tuple[str, ...]:
        """The files whose lines git merged without a conflict."""
        touched = {m.paths[0] for m in self.messages if m.kind == "Auto-merging" and m.paths}
        return tuple(sorted(touched - {stages.path for stages in self.conflicts}))


def merge_tree(
    at: Scratch,
    ours: str,
    theirs: str,
    *,
    base: str | None = None,
    keep: bool = False,
    driver: bool = True,
    with_text: bool = False,
) -> MergedTree:
    """Merge two commits.

    `base`: against this tree, whatever their history says; then all three are trees. `keep`: the
    objects are kept (not together with `base`). Not `driver`: as git alone does it.
    `with_text`: what is left to us has git's merge in it, not ours alone; that takes much longer.
    """
    if base is not None:
        root = at.commit(base)
        ours, theirs = at.commit(ours, root), at.commit(theirs, root)
    top, words = at.marked(with_text=with_text) if driver else at.without_us()
    command = ("merge-tree", "--write-tree", "-z", "--messages", ours, theirs)
    env = at.environment(keep=keep)
    answer = ask_git(*words, *command, cwd=Path(top), env=env)
    if answer.code not in (0, 1) or not answer.out:
        version = git_version()
        if version < SINCE:
            why = f"git {version[0]}.{version[1]} cannot merge without a working tree"
            raise Unsupported(why, hint="git 2.38 or newer can")
        lost = _LOST.search(answer.err)
        if lost:
            raise at.repository.missing(lost[1])
        raise GitFailed(["git", *command], answer.code, answer.err)
    return _read(answer.out, is_clean=answer.code == 0)


def _read(out: str, *, is_clean: bool) -> MergedTree:
    """The answer: a tree, the stages, an empty word, the messages."""
    words = iter(out.split("\0")[:-1])
    tree = next(words)
    found: dict[str, list[TreeEntry | None]] = {}
    for word in words:
        if not word:
            break
        about, _, path = word.partition("\t")
        mode, oid, stage = about.split()
        found.setdefault(path, [None] * 3)[int(stage) - 1] = TreeEntry(oid, int(mode, 8))
    messages = []
    for word in words:
        paths = tuple(next(words) for _ in range(int(word)))
        messages.append(Message(next(words), paths, next(words).rstrip("\n")))
    stages = tuple(Stages(path, *entries) for path, entries in found.items())
    return MergedTree(tree, is_clean, stages, tuple(messages))
