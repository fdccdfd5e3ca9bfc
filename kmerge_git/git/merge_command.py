"""Run a `git merge` in two parts: up to the conflicts, and from the conflicts to the commit.

Git keeps the state of the merge from its first moment to its last. This module calls git, and
reads what git leaves: the files that git gave to the driver, git's messages, `MERGE_MSG`. This
module also removes the files that a killed merge left in git's directory. Such a file has the id
of its process in its name, so that the files of running processes stay.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kmerge_git.atomic_files import read_text, replace_file
from kmerge_git.bounds import LEFTOVER_SECONDS
from kmerge_git.git.driver_lines import driver_line, marked, marking
from kmerge_git.git.index_stages import Stages, read_stages, stage_entries
from kmerge_git.git.run_git import GitAnswer, ask_git, git, pass_on, to_its_end
from kmerge_git.git.settings import marker_size
from kmerge_git.git.tracked_files import values_of
from kmerge_git.text.markers import first_marker
from kmerge_git.visible import visible

WELL = "Automatic merge went well; stopped before committing as requested\n"
LATER = "When finished, apply stashed changes with `git stash pop`\n"
FAILED = "Automatic merge failed; fix conflicts and then commit the result.\n"
# The kinds of conflict that the stages of a file show; all others are about its name.
_OF_CONTENTS = ("content", "add/add", "binary", "modify/delete", "rename/delete")
# Git cannot undo conflicts of these kinds; files that git moved out of the way stay there.
_IN_THE_WAY = ("file/directory", "distinct types", "distinct modes")
_MOVED = re.compile(r"; moving it to (.+) instead\.$", re.M)
_KIND = re.compile(r"^CONFLICT \(([^)\n]+)\): ", re.M)
_NAME = re.compile(r"kmerge-(?:attributes|given|index|draft)-(\d+)(?:-\w+)?(?:\.lock)?")
_CONFLICTS = re.compile(rb"^(\S+) Conflicts:\n(?:\1[^\n]*\n)*\Z", re.M)
_SCISSORS = re.compile(rb"\n(\S+) -+ >8 -+\n(?:\1[^\n]*\n)*\Z")


@dataclass(frozen=True, slots=True)
class MergeSite:
    """Hold git's directory of a working tree, and the commits of a merge to make in that tree."""

    git_dir: Path
    ours: str
    theirs: str
    bases: tuple[str, ...]

    @property
    def is_trivial(self) -> bool:
        """Return whether one side has all commits of the other side."""
        return self.bases == (self.ours,) or self.theirs in self.bases

    @property
    def merge_heads(self) -> list[str]:
        """Return the commits that git is in the middle of merging."""
        return read_text(self.git_dir / "MERGE_HEAD").split()


@dataclass(frozen=True, slots=True)
class Start:
    """Hold the result of the first part: git's answer and the files that git gave to the driver."""

    answer: GitAnswer
    given: frozenset[str]
    # True if git made inner merges, whose texts are no version of a file.
    is_nested: bool


def find_place(rev: str) -> MergeSite | None:
    """Return the place and the commits of `git merge REV`, or None if git would refuse."""
    asked = ("--absolute-git-dir", "--show-toplevel", "HEAD", f"{rev}^{{commit}}")
    answer = ask_git("rev-parse", *asked)
    lines = answer.out.split("\n")
    if answer.code or len(lines) != 5:
        return None
    git_dir, _, ours, theirs, _ = lines
    bases = ask_git("merge-base", "--all", ours, theirs)
    site = MergeSite(Path(git_dir), ours, theirs, tuple(bases.out.split()))
    return site if bases.code <= 1 else None


def plainly(
    words: Sequence[str], *, driven: bool, favor: str | None = None, out: int | None = None
) -> int:
    """Run `git merge` as a whole, and return the exit code.

    With `driven`, git uses the kmerge driver, which may favour a side.
    """
    if not driven:
        return _run(["merge", *words], out)
    env = os.environ | ({"KMERGE_FAVOR": favor} if favor else {})
    with marked(driver_line()) as binding:
        return _run([*binding, "merge", *words], out, env)


def begin(
    place: MergeSite, words: Sequence[str], labels: tuple[str, str, str], *, own: Path | None = None
) -> Start:
    """Merge up to the conflicts; leave every manifest that both sides changed in conflict."""
    sweep(place.git_dir)
    log = place.git_dir / f"kmerge-given-{os.getpid()}"
    try:
        with marked(marking(log, labels), place.git_dir, own=own) as binding:
            # only kmerge writes in colour
            plain = ("rerere.enabled=false", "color.ui=false", "color.advice=false")
            options = [word for setting in plain for word in ("-c", setting)]
            with to_its_end() as came:
                answer = ask_git(*binding, *options, "merge", "--no-commit", "--no-edit", *words)
        if came:
            raise KeyboardInterrupt
        noted = log.read_bytes() if log.exists() else b""
    finally:
        log.unlink(missing_ok=True)
    calls = [call.partition(" ") for call in os.fsdecode(noted).split("\0")[:-1]]
    odd = {path: int(size) for size, _, path in calls if size != "7"}
    return Start(answer, frozenset(path for _, _, path in calls), _has_nested(odd))


def _has_nested(sizes: dict[str, int]) -> bool:
    """Return whether git asked for longer markers than the attributes, as in inner merges."""
    if not sizes:
        return False
    # the names are from the top, whatever the current folder is
    given = values_of(_top(), sizes, "conflict-marker-size")
    return any(size > marker_size(given.get(path, "")) for path, size in sizes.items())


def is_about_names(said: str) -> bool:
    """Return whether git reports a conflict about the name or the folder of a file."""
    kinds = (kind for kind in _KIND.findall(said) if not kind.startswith("submodule"))
    return any(kind not in _OF_CONTENTS + _IN_THE_WAY for kind in kinds)


def out_of_the_way(said: str) -> set[str]:
    """Return the names to which git moved files out of the way."""
    return set(_MOVED.findall(said))


def unmerged() -> tuple[Stages, ...]:
    """Return the conflicts of the index, read by git because git is fastest for a large index."""
    return read_stages(git("ls-files", "-u", "-z", "--full-name", ":/").split("\0")[:-1])


def refresh() -> None:
    """Refresh the index, so that git knows that the files are as staged."""
    ask_git("update-index", "-q", "--refresh")


def abort(*, squash: bool) -> bool:
    """Undo the merge as if it had not begun, and return whether git succeeded.

    To abort, git removes the files in conflict that our side did not have. If both sides gave up a
    name, git wrote no file of that name, so a file there is the user's own and is kept.
    """
    left, top = unmerged(), _top()
    given_up = [s for s in left if s.ours is None and s.theirs is None]
    mine = _not_by_git(top, [s for s in left if s.ours])  # once staged, git sees local changes
    stage_entries(top, [(s.path, s.ours) for s in (*given_up, *mine)])
    with to_its_end():
        return ask_git(*(("reset", "--merge", "-q") if squash else ("merge", "--abort"))).code == 0


def _not_by_git(top: str, files: Sequence[Stages]) -> list[Stages]:
    """Return the files with local changes, which git kept because the merge result was ours."""
    listed = ask_git("ls-tree", "-r", "-z", "--full-tree", "AUTO_MERGE").out.split("\0")[:-1]
    written = {path: about.split(" ")[2] for about, _, path in (x.partition("\t") for x in listed)}
    paths = {s.path for s in files if s.path in written and "\n" not in s.path}
    known = [s for s in files if s.path in paths and os.path.isfile(os.path.join(top, s.path))]
    names = "".join(f"{s.path}\n" for s in known)
    oids = ask_git("hash-object", "--stdin-paths", cwd=top, stdin=names).out.split()
    if len(oids) != len(known):
        return []
    return [s for s, oid in zip(known, oids, strict=True) if oid != written[s.path]]


def _top() -> str:
    return ask_git("rev-parse", "--show-toplevel").line


def commit(place: MergeSite, words: Sequence[str], *, edit: bool, out: int | None = None) -> int:
    """Commit the merge with hooks and signature, and return git's exit code.

    Git applies an autostash by another merge, so the driver is bound to this command as well.
    """
    argv = ["commit", "-q", "--edit" if edit else "--no-edit", *words]
    if not (place.git_dir / "MERGE_AUTOSTASH").exists():
        return _run(argv, out)
    with marked(driver_line(), place.git_dir) as binding:
        return _run([*binding, *argv], out)


def remember(words: Sequence[str], left: Sequence[str], out: int | None = None) -> list[str]:
    """Let rerere record the remaining conflicts, as `git merge` does if rerere is enabled.

    Return the files whose conflicts rerere has resolved as before.
    """
    top = Path(_top())
    marked_files = [path for path in left if _has_markers(top, path)]
    _run(["rerere", *words], out)
    return [path for path in marked_files if not _has_markers(top, path)]


def _has_markers(top: Path, path: str) -> bool:
    file = top / path
    if file.is_symlink() or not file.is_file():
        return False
    return first_marker(file.read_text("utf-8", "surrogateescape")) >= 0


def show_stat(before: str, out: int | None = None) -> None:
    """Let git show which files the merge changed."""
    _run(["--no-pager", "diff", "--no-ext-diff", "--stat", "--summary", "-M", before, "HEAD"], out)


def _run(argv: list[str], out: int | None, env: Mapping[str, str] | None = None) -> int:
    with suppress(OSError):  # a full disk does not end the merge
        sys.stdout.flush()
    with to_its_end():
        code = pass_on(["git", *argv], out, env)
    if code == -signal.SIGINT:
        raise KeyboardInterrupt
    return code


def left_over(said: str, settled: Collection[str]) -> str:
    """Return git's messages up to the last line, without the conflicts that are settled."""
    for path in settled:
        if "\n" in path:
            said = said.replace(f"CONFLICT (content): Merge conflict in {path}\n", "")
    lines = said.partition(FAILED)[0].split("\n")
    return "\n".join(line for line in lines if not _is_about(line, settled))


def _is_about(line: str, settled: Collection[str]) -> bool:
    """Return whether a message reports a conflict of a settled file, by its old or new name."""
    kind, _, rest = line.partition("): ")
    if not kind.startswith("CONFLICT ("):
        return False
    name = rest.removeprefix("Merge conflict in ").partition(" deleted in ")[0]
    _, _, new = name.partition(" renamed to ")
    return name in settled or any(new.startswith(f"{path} in ") for path in settled if new)


def mend_message(git_dir: Path, left: Sequence[str]) -> None:
    """Let git's `MERGE_MSG` name exactly the files that are left in conflict."""
    file = git_dir / "MERGE_MSG"
    text = file.read_bytes() if file.exists() else b""
    conflicts = _CONFLICTS.search(text)
    if conflicts is None:
        return
    sign, text = conflicts[1], text[: conflicts.start()]
    if left:
        names = (visible(path).encode() for path in left)
        text += sign + b" Conflicts:\n"
        text += b"".join(sign + b"\t" + name + b"\n" for name in names)
    else:  # the empty line before the list is removed, too
        text = _SCISSORS.sub(b"\n", text).removesuffix(b"\n")
    if text:
        replace_file(file, text, drafts=git_dir)
    else:
        file.unlink()


def sweep(git_dir: Path) -> None:
    """Remove the temporary files of processes that have ended."""
    with suppress(OSError), os.scandir(git_dir) as entries:
        for entry in entries:
            name = _NAME.fullmatch(entry.name)
            with suppress(OSError):
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if name and (_is_gone(int(name[1])) or age > LEFTOVER_SECONDS):
                    os.unlink(entry.path)


def _is_gone(process: int) -> bool:
    with suppress(OSError, OverflowError):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
    return False
