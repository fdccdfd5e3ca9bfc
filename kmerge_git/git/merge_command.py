"""A `git merge` in its parts: up to the conflicts, and from there to the commit.

Git keeps the state of the merge from its first moment to its last. Here is what is asked of it,
and what it left: the files that it handed to the driver, its messages, `MERGE_MSG`.

What a killed merge left inside git's directory: nobody reads it, nobody else removes it.

Every such file has the number of its process in its name, so that those of others stay.
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

from kmerge_git.atomic_files import replace_file
from kmerge_git.bounds import LEFTOVER_SECONDS
from kmerge_git.git.driver_lines import driver_line, marked, marking
from kmerge_git.git.file_attributes import values_of
from kmerge_git.git.index_stages import Stages, read_stages, stage_entries
from kmerge_git.git.run_git import GitAnswer, ask_git, git, pass_on, to_its_end
from kmerge_git.git.settings import marker_size
from kmerge_git.visible import visible

WELL = "Automatic merge went well; stopped before committing as requested\n"
LATER = "When finished, apply stashed changes with `git stash pop`\n"
FAILED = "Automatic merge failed; fix conflicts and then commit the result.\n"
# The kinds of conflict that the stages of a file tell; all others are about its name.
_OF_CONTENTS = ("content", "add/add", "binary", "modify/delete", "rename/delete")
# Git cannot take these back; what it moved out of the way stays as git left it.
_IN_THE_WAY = ("file/directory", "distinct types", "distinct modes")
_MOVED = re.compile(r"; moving it to (.+) instead\.$", re.M)
_KIND = re.compile(r"^CONFLICT \(([^)\n]+)\): ", re.M)
_CONFLICTS = re.compile(rb"^(\S+) Conflicts:\n(?:\1[^\n]*\n)*\Z", re.M)
_SCISSORS = re.compile(rb"\n(\S+) -+ >8 -+\n(?:\1[^\n]*\n)*\Z")


@dataclass(frozen=True, slots=True)
class MergeSite:
    """A working tree, and the commits of a merge that is to be made in it."""

    git_dir: Path
    ours: str
    theirs: str
    bases: tuple[str, ...]

    @property
    def is_trivial(self) -> bool:
        """Whether one side has nothing that the other side lacks."""
        return self.bases == (self.ours,) or self.theirs in self.bases

    @property
    def merge_heads(self) -> list[str]:
        """The commits that git is in the middle of merging."""
        try:
            return (self.git_dir / "MERGE_HEAD").read_text().split()
        except FileNotFoundError:
            return []


@dataclass(frozen=True, slots=True)
class Start:
    """Git's part of a merge: its answer, and the files that it gave to the driver."""

    answer: GitAnswer
    given: frozenset[str]
    # Whether git merged texts that are no version of a file: what it had merged before went in.
    is_nested: bool


def find_place(rev: str) -> MergeSite | None:
    """Where `git merge REV` would merge what; None where git has something to say against it."""
    asked = ask_git(
        "rev-parse", "--absolute-git-dir", "--show-toplevel", "HEAD", f"{rev}^{{commit}}"
    )
    lines = asked.out.split("\n")
    if asked.code or len(lines) != 5:
        return None
    git_dir, _, ours, theirs, _ = lines
    bases = ask_git("merge-base", "--all", ours, theirs)
    if bases.code > 1:
        return None
    return MergeSite(Path(git_dir), ours, theirs, tuple(bases.out.split()))


def plainly(
    words: Sequence[str], *, driven: bool, favor: str | None = None, out: int | None = None
) -> int:
    """`git merge` as it is; `driven`: with the driver for this call, and the side it favours."""
    if not driven:
        return _run(["git", "merge", *words], out)
    told = {"KMERGE_FAVOR": favor} if favor else {}
    with marked(driver_line()) as binding:
        return _run(["git", *binding, "merge", *words], out, os.environ | told)


def begin(
    place: MergeSite, words: Sequence[str], labels: tuple[str, str, str], *, own: Path | None = None
) -> Start:
    """Merge up to the conflicts; every manifest that both sides changed is left as one."""
    sweep(place.git_dir)
    log = place.git_dir / f"kmerge-given-{os.getpid()}"
    try:
        with marked(marking(log, labels), place.git_dir, own=own) as binding:
            argv = [*binding, "-c", "rerere.enabled=false"]
            argv += ["-c", "color.ui=false", "-c", "color.advice=false"]  # only we write in colour
            argv += ["merge", "--no-commit", "--no-edit", *words]
            with to_its_end() as came:
                answer = ask_git(*argv)
        if came:
            raise KeyboardInterrupt
        noted = log.read_bytes() if log.exists() else b""
    finally:
        log.unlink(missing_ok=True)
    calls = [call.partition(" ") for call in os.fsdecode(noted).split("\0")[:-1]]
    odd = {path: int(size) for size, _, path in calls if size != "7"}
    return Start(answer, frozenset(path for _, _, path in calls), _has_nested(odd))


def _has_nested(sizes: dict[str, int]) -> bool:
    """Whether any of these markers is longer than an attribute says: git adds to them inside."""
    if not sizes:
        return False
    # names from the top, whatever the current folder is
    given = values_of(_top(), sizes, "conflict-marker-size")
    return any(size > marker_size(given.get(path, "")) for path, size in sizes.items())


def is_about_names(said: str) -> bool:
    """Whether git has more to ask than the stages show: which name a file has, which folder."""
    kinds = (kind for kind in _KIND.findall(said) if not kind.startswith("submodule"))
    return any(kind not in _OF_CONTENTS + _IN_THE_WAY for kind in kinds)


def out_of_the_way(said: str) -> set[str]:
    """The files to which git gave a name that nobody wanted."""
    return set(_MOVED.findall(said))


def unmerged() -> tuple[Stages, ...]:
    """Return the conflicts of the index; git reads a large index quickest."""
    return read_stages(git("ls-files", "-u", "-z", "--full-name", ":/").split("\0")[:-1])


def refresh() -> None:
    """Let git note that the files are as staged, as they are after every command of its own."""
    ask_git("update-index", "-q", "--refresh")


def abort(*, squash: bool) -> bool:
    """Take the merge back, as if it had not been begun.

    Git removes what is in conflict and was no file of ours. A name that both sides gave up is
    nothing that it wrote: a file there is somebody's own.
    """
    left, top = unmerged(), _top()
    given_up = [s for s in left if s.ours is None and s.theirs is None]
    mine = _not_by_git(top, [s for s in left if s.ours])  # staged they are local changes to git
    stage_entries(top, [(s.path, s.ours) for s in (*given_up, *mine)])
    with to_its_end():
        return ask_git(*(("reset", "--merge", "-q") if squash else ("merge", "--abort"))).code == 0


def _not_by_git(top: str, files: Sequence[Stages]) -> list[Stages]:
    """The files that hold local changes: git leaves them where its result is ours anyway."""
    listed = ask_git("ls-tree", "-r", "-z", "--full-tree", "AUTO_MERGE").out.split("\0")[:-1]
    written = {path: about.split(" ")[2] for about, _, path in (x.partition("\t") for x in listed)}
    known = [s for s in files if s.path in written and os.path.isfile(os.path.join(top, s.path))]
    known = [s for s in known if "\n" not in s.path]
    names = "".join(f"{s.path}\n" for s in known)
    asked = ask_git("hash-object", "--stdin-paths", cwd=Path(top), stdin=names)
    found = asked.out.split()
    if len(found) != len(known):
        return []
    return [s for s, oid in zip(known, found, strict=True) if oid != written[s.path]]


def _top() -> str:
    return ask_git("rev-parse", "--show-toplevel").line


def commit(place: MergeSite, words: Sequence[str], *, edit: bool, out: int | None = None) -> int:
    """Finish the merge: hooks, signature, autostash, which is a merge of its own."""
    argv = ["commit", "-q", "--edit" if edit else "--no-edit", *words]
    if not (place.git_dir / "MERGE_AUTOSTASH").exists():
        return _run(["git", *argv], out)
    with marked(driver_line(), place.git_dir) as binding:
        return _run(["git", *binding, *argv], out)


def remember(words: Sequence[str], out: int | None = None) -> None:
    """Let rerere see what is left, as `git merge` does at its end; it knows whether it may."""
    _run(["git", "rerere", *words], out)


def show_stat(before: str, out: int | None = None) -> None:
    """What the merge changed, as git shows it."""
    argv = ["git", "--no-pager", "diff", "--no-ext-diff", "--stat", "--summary", "-M", before]
    _run([*argv, "HEAD"], out)


def _run(argv: list[str], out: int | None, env: Mapping[str, str] | None = None) -> int:
    with suppress(OSError):  # a full disk behind it ends no merge
        sys.stdout.flush()
    with to_its_end():
        code = pass_on(argv, out, env)
    if code == -signal.SIGINT:
        raise KeyboardInterrupt
    return code


def left_over(said: str, settled: Collection[str]) -> str:
    """Git's messages without the conflicts that are none any more, up to its last line."""
    for path in settled:
        if "\n" in path:
            said = said.replace(f"CONFLICT (content): Merge conflict in {path}\n", "")
    lines = said.partition(FAILED)[0].split("\n")
    return "\n".join(line for line in lines if not _speaks_of(line, settled))


def _speaks_of(line: str, settled: Collection[str]) -> bool:
    """Whether a line of git tells the conflict of such a file, by its old or its new name."""
    kind, _, rest = line.partition("): ")
    if not kind.startswith("CONFLICT ("):
        return False
    name = rest.removeprefix("Merge conflict in ").partition(" deleted in ")[0]
    _, _, new = name.partition(" renamed to ")
    return name in settled or any(new.startswith(f"{path} in ") for path in settled if new)


def mend_message(git_dir: Path, left: Sequence[str]) -> None:
    """Let git's message name the files that are left in conflict, and no others."""
    file = git_dir / "MERGE_MSG"
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return
    found = _CONFLICTS.search(text)
    if found is None:
        return
    sign = found[1]
    kept = text[: found.start()]
    if left:
        names = (visible(path).encode() for path in left)
        kept += sign + b" Conflicts:\n"
        kept += b"".join(sign + b"\t" + name + b"\n" for name in names)
    else:  # with the empty line before it
        kept = _SCISSORS.sub(b"\n", kept).removesuffix(b"\n")
    if kept:
        replace_file(file, kept, drafts=git_dir)
    else:
        file.unlink()


_NAME = re.compile(r"kmerge-(?:attributes|given|index|draft)-(\d+)(?:-\w+)?(?:\.lock)?")


def sweep(git_dir: Path) -> None:
    """Remove the files of processes that are no more."""
    with suppress(OSError), os.scandir(git_dir) as found:
        for entry in found:
            name = _NAME.fullmatch(entry.name)
            if name and (_is_gone(int(name[1])) or _is_old(entry)):
                with suppress(OSError):
                    os.unlink(entry.path)


def _is_gone(process: int) -> bool:
    if os.name != "posix":  # there a question would end it
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    return False


def _is_old(entry: os.DirEntry[str]) -> bool:
    return time.time() - entry.stat(follow_symlinks=False).st_mtime > LEFTOVER_SECONDS
