"""Run generators again when the sources of a merge are decided, and stage what they write.

First the outputs are copied into git's folder. If a command fails they are put back. If kmerge is
killed, the copies stay, and nothing is put back until a person asks for it. The commands inherit
the lock of the copies, so that nothing is put back while one of them is still at work.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from kmerge_git.atomic_files import start_of
from kmerge_git.bounds import GRACE_SECONDS, SEALED_BYTES
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.git.generators import FOLDER, KEY, Generator, generators
from kmerge_git.git.index_stages import Operation, refuse_unwritable, stage_files
from kmerge_git.git.manifests import is_manifest
from kmerge_git.git.repository import Repository
from kmerge_git.git.run_git import ask_git, git
from kmerge_git.git.settings import matches
from kmerge_git.packages.exchange_journal import file_at, in_the_way, inside, stamp_at, write
from kmerge_git.packages.exchanged_files import about_left_alone, alone, settle, write_all
from kmerge_git.packages.package_files import File
from kmerge_git.text.markers import has_new_marker
from kmerge_git.whole.operation import current_operation

_OLD, _GLOBS = "old", "globs"  # the copies of the outputs, and the globs that match outputs
_RESTORE = "`kmerge generate --restore` puts the generated files back"


@dataclass(frozen=True, slots=True)
class GeneratePlan:
    """Hold the generators in the order in which they run, and the operation in progress."""

    repository: Repository
    top: str
    generators: tuple[Generator, ...]
    operation: Operation

    @property
    def globs(self) -> list[str]:
        """Return the globs of all outputs."""
        return [glob for one in self.generators for glob in one.files]

    def writes(self, path: str) -> bool:
        """Return whether a path is an output."""
        return any(one.writes(path) for one in self.generators)


def make_plan(repository: Repository, names: Sequence[str]) -> GeneratePlan:
    """Return the plan of a run; refuse it while a source is in conflict or an output is a link."""
    unmerged = {stages.path for stages in repository.conflicts()}
    top = repository.worktree or ""
    if os.path.lexists(_folder(repository)):
        raise UsageError("an earlier `kmerge generate` has not ended here", hint=_RESTORE)
    paths = _paths(top)
    ordered = _in_order(_chosen(names), paths)
    plan = GeneratePlan(repository, top, ordered, current_operation(repository))
    for path in _odd(plan, paths):
        why = "a link or no file where generators write, and no link is followed"
        raise KmergeError(why, path=path, hint="nothing is run")
    for path in paths:
        # a generator that names no sources may read everything
        is_source = any(not one.sources or one.reads(path) for one in ordered)
        if is_source and not plan.writes(path) and (path in unmerged or _is_marked(top, path)):
            hint = "nothing is run: decide it first (`kmerge resolve`, `git add`)"
            raise KmergeError("it is in conflict, and a generator reads it", path=path, hint=hint)
    return plan


def _folder(repository: Repository) -> str:
    return os.path.join(repository.git_dir, FOLDER)


def _paths(top: str) -> list[str]:
    """Return the tracked files, and those that are neither tracked nor ignored."""
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=top)
    return [*dict.fromkeys(listed.split("\0")[:-1])]


def _chosen(names: Sequence[str]) -> list[Generator]:
    """Return the generators of these names, or all of them."""
    known = {one.name: one for one in generators()}
    wanted = dict.fromkeys(names or known or ["NAME"])
    chosen = [known.get(name, Generator(name, "", (), (), "")) for name in wanted]
    for one in chosen:
        is_timed = one.timeout.isdecimal() and len(one.timeout) < 9
        if not (one.command and one.files and is_timed):
            why = "the repository's own configuration needs `.command` and `.files` of it"
            hint = "`git config --local` sets them, and `.sources` and `.timeout` (seconds)"
            raise UsageError(f"{KEY}.{one.name}: {why}", hint=hint)
    return chosen


def _in_order(chosen: Sequence[Generator], paths: Sequence[str]) -> tuple[Generator, ...]:
    """Return the generators so that each comes after those whose outputs it reads."""
    by_name = {one.name: one for one in chosen}
    needs = {
        one.name: [other.name for other in chosen if other is not one and _feeds(other, one, paths)]
        for one in chosen
    }
    try:
        return tuple(by_name[name] for name in TopologicalSorter(needs).static_order())
    except CycleError as error:
        why = f"each reads what the one before it writes: {', '.join(error.args[1])}"
        raise UsageError(why, hint=f"let `{KEY}.NAME.sources` match fewer files") from None


def _feeds(one: Generator, other: Generator, paths: Sequence[str]) -> bool:
    """Return whether `other` reads what `one` writes; for new outputs their globs are compared."""
    outputs = [*one.files, *(path for path in paths if one.writes(path))]
    return any(map(other.reads, outputs)) or any(map(one.writes, other.sources))


def _odd(plan: GeneratePlan, paths: Iterable[str]) -> Iterator[str]:
    """Yield the outputs that are no plain files, and the links by which outputs may get out."""
    root = os.path.realpath(plan.top)
    for path in paths:
        place = os.path.join(plan.top, path)
        is_link = os.path.islink(place)
        is_no_file = is_link or os.path.isfile(place) != os.path.lexists(place)
        if plan.writes(path) and (is_no_file or in_the_way(plan.top, path)):
            yield path
        elif is_link and any(_is_near(glob, path) for glob in plan.globs):
            target = os.path.relpath(os.path.realpath(place), root).split(os.sep)
            if {"..", ".git"} & {*target}:  # out of the repository, or to what git itself runs
                yield path


def _is_near(glob: str, link: str) -> bool:
    """Return whether a link lies above or below the folder with which a glob begins."""
    folder = glob.lstrip("/").replace("?", "*").partition("*")[0].rpartition("/")[0]
    return not folder or f"{link}/".startswith(f"{folder}/") or f"{folder}/".startswith(f"{link}/")


def _is_marked(top: str, path: str) -> bool:
    """Return whether a file has conflict markers that are not in the last commit."""
    text = start_of(Path(top, path), SEALED_BYTES).decode("latin-1")
    if not has_new_marker(text, ()):
        return False
    before = ask_git("cat-file", "blob", f"HEAD:{path}", cwd=top).data
    return has_new_marker(text, [before.decode("latin-1")])


def foreign(plan: GeneratePlan) -> list[str]:
    """Return the files that others changed and commands may run: no outputs and no manifests.

    In a rebase both sides may be of others. Without known trees it is all that is not committed.
    """
    of, pairs = plan.operation, [["HEAD"]]
    if of.is_known:
        sides = (of.theirs, of.ours) if of.name == "rebase" else (of.theirs,)
        pairs = [[of.base, side] for side in sides]
    asked = ("diff", "--name-only", "--no-renames", "-z")
    listed = "".join(git(*asked, *trees, "--", cwd=plan.top) for trees in pairs)
    changed = {path for path in listed.split("\0")[:-1] if not is_manifest(path, json=True)}
    return sorted(path for path in changed if not plan.writes(path))


# -- the run


def generate(plan: GeneratePlan) -> tuple[str, list[str], list[str]]:
    """Run the commands; stage their outputs, or put them back if a command failed.

    Return why it failed or '', the files that changed and are no outputs, and the staged files.
    """
    folder = _folder(plan.repository)
    refuse_unwritable(plan.repository.git_dir)
    with _draft(plan.repository.git_dir) as draft:
        _copy(plan.top, plan.globs, os.path.join(draft, _OLD))
        Path(draft, _GLOBS).write_text(json.dumps(plan.globs))
        os.rename(draft, folder)  # from now on it is complete, and outputs may change
    is_sound = False
    with alone(folder) as lock:
        try:
            before = _state(plan.top)
            runs = (_run(one, plan.top, lock) for one in plan.generators)
            failure = next(filter(None, runs), "") or _damage(plan)
            changed = {path for path, _ in before ^ _state(plan.top)}
            elsewhere = sorted(path for path in changed if not plan.writes(path))
            staged = [] if failure or elsewhere else _outputs(plan.top, plan.globs)
            is_sparse = ("core.sparsecheckout", "true") in plan.repository.settings()
            stage_files(plan.top, staged, sparse=is_sparse)
            is_sound = not failure
        finally:
            if not is_sound:
                _put_back(plan.top, folder)
            _forget(folder)
    return failure, elsewhere, staged


def _draft(folder: str) -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix=f"{FOLDER}-", dir=folder, ignore_cleanup_errors=True)


def _copy(top: str, globs: Sequence[str], folder: str) -> None:
    """Copy the outputs that are there into a folder."""
    for path in _outputs(top, globs):
        place, copy = os.path.join(top, path), os.path.join(folder, path)
        if not in_the_way(top, path) and (os.path.islink(place) or os.path.isfile(place)):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            write(copy, file_at(place))


def _outputs(top: str, globs: Sequence[str]) -> list[str]:
    return [path for path in _paths(top) if any(matches(glob, path) for glob in globs)]


def _state(top: str) -> set[tuple[str, str]]:
    """Return what commands must not change: each file by its content, the index, and HEAD."""
    files = {(path, str(stamp_at(top, path))) for path in _paths(top)}
    index = git("ls-files", "-z", "--stage", cwd=top).split("\0")[:-1]
    staged = {(path, about) for about, _, path in (line.partition("\t") for line in index)}
    return files | staged | {("HEAD", ask_git("rev-parse", "HEAD", cwd=top).line)}


def _run(one: Generator, top: str, lock: int | None) -> str:
    """Run a command in a session of its own; return why it failed, or ''."""
    process = subprocess.Popen(
        ["sh", "-c", one.command],
        cwd=top,
        stdin=subprocess.DEVNULL,
        stdout=2,
        start_new_session=True,
        pass_fds=[] if lock is None else [lock],
    )
    try:
        code = process.wait(int(one.timeout) or None)
    except subprocess.TimeoutExpired:
        return f"{one.name}: not done within {one.timeout} s (`{KEY}.{one.name}.timeout`)"
    finally:
        _end(process)
    return f"{one.name}: exit code {code}" if code else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End all processes of a command's group, at first politely."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(OSError):  # none is left
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)


def _damage(plan: GeneratePlan) -> str:
    """Return what is wrong with the outputs that the commands wrote, or ''."""
    outputs = _outputs(plan.top, plan.globs)
    wrong = [f"{path}: it is no plain file now" for path in _odd(plan, outputs)]
    wrong += [f"{path}: it has conflict markers" for path in outputs if _is_marked(plan.top, path)]
    return wrong[0] if wrong else ""


# -- the way back


def restore(repository: Repository) -> str:
    """Put the outputs of a killed run back; return the folder with what was there."""
    top, folder = repository.worktree or "", _folder(repository)
    if not os.path.lexists(folder):
        raise UsageError("no `kmerge generate` was killed here", hint="there is nothing to do")
    with alone(folder):
        settle(top)  # an earlier --restore may have been killed as well
        saved = mkdtemp(prefix="kmerge-replaced-", dir=repository.git_dir)
        _copy(top, _globs(folder), saved)
        _put_back(top, folder)
        _forget(folder)
    return saved


def _globs(folder: str) -> list[str]:
    return list(map(str, json.loads(Path(folder, _GLOBS).read_text())))


def _put_back(top: str, folder: str) -> None:
    """Give each output the content that it had before; remove those that are new."""
    changes: dict[str, File | None] = dict.fromkeys(_outputs(top, _globs(folder)))
    for name, is_folder in inside(folder, _OLD):
        if not is_folder:
            changes[name.removeprefix(f"{_OLD}/")] = file_at(os.path.join(folder, name))
    left = write_all(top, changes)
    if left:
        raise KmergeError(f"not all is put back{about_left_alone(left)}", hint=_RESTORE)


def _forget(folder: str) -> None:
    """Remove the copies; by one rename, so that no part of them is taken for all of them."""
    with _draft(os.path.dirname(folder)) as gone:
        os.rename(folder, os.path.join(gone, _OLD))
