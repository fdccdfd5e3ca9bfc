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
from kmerge_git.packages.package_files import File, check_path
from kmerge_git.text.markers import has_new_marker
from kmerge_git.whole.operation import current_operation

_OLD, _GLOBS = "old", "globs"  # the copies of the outputs, and the globs that match outputs
_NOTHING = "no generator was run"
_RESTORE = "run `kmerge generate --restore` to restore the generated files"


@dataclass(frozen=True, slots=True)
class GeneratePlan:
    """Hold the generators in the order in which they run, and the operation in progress."""

    repository: Repository
    top: str
    generators: tuple[Generator, ...]
    whole: Generator  # has the globs of all of them
    operation: Operation


def make_plan(repository: Repository, names: Sequence[str]) -> GeneratePlan:
    """Return the plan of a run; refuse it while a source is in conflict or an output is a link."""
    unmerged = {stages.path for stages in repository.conflicts()}
    top = repository.worktree or ""
    if os.path.lexists(os.path.join(repository.git_dir, FOLDER)):
        raise UsageError(
            "an earlier `kmerge generate` is still running or was killed", hint=_RESTORE
        )
    paths = _paths(top)
    ordered = _in_order(_chosen(names), paths)
    whole = Generator("", "", tuple(glob for one in ordered for glob in one.files), (), "")
    plan = GeneratePlan(repository, top, ordered, whole, current_operation(repository))
    for path in _odd(plan, paths):
        raise KmergeError(
            "a generator writes this path, but it is not a regular file", path=path, hint=_NOTHING
        )
    for path in paths:
        # a generator that names no sources may read everything
        is_source = any(not one.sources or one.reads(path) for one in ordered)
        if (
            is_source
            and not plan.whole.writes(path)
            and (path in unmerged or _is_marked(top, path))
        ):
            raise KmergeError(
                "a generator reads this file: resolve its conflict first", path=path, hint=_NOTHING
            )
    return plan


def _paths(top: str) -> list[str]:
    """Return the tracked files, and those that are neither tracked nor ignored."""
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=top)
    return [*dict.fromkeys(listed.split("\0")[:-1])]


def _chosen(names: Sequence[str]) -> list[Generator]:
    """Return the generators of these names, or all of them."""
    known = {one.name: one for one in generators()}
    chosen = [
        known.get(name, Generator(name, "", (), (), ""))
        for name in dict.fromkeys(names or known or ["NAME"])
    ]
    for one in chosen:
        if not (one.command and one.files and one.timeout.isdecimal() and len(one.timeout) < 9):
            why = "set `command` and `files` of the generator in the repository's own configuration"
            hint = "use `git config --local`; `sources` and `timeout` (seconds) are optional"
            raise UsageError(f"{KEY}.{one.name}: {why}", hint=hint)
    return chosen


def _in_order(chosen: Sequence[Generator], paths: Sequence[str]) -> tuple[Generator, ...]:
    """Return the generators so that each comes after those whose outputs it reads."""
    needs = {
        one: [other for other in chosen if other is not one and _feeds(other, one, paths)]
        for one in chosen
    }
    try:
        return tuple(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = ", ".join(one.name for one in error.args[1])
        raise UsageError(
            f"these generators depend on each other in a circle: {circle}",
            hint=f"make `{KEY}.NAME.sources` match fewer files",
        ) from None


def _feeds(one: Generator, other: Generator, paths: Sequence[str]) -> bool:
    """Return whether `other` reads what `one` writes; for new outputs their globs are compared."""
    outputs = [*one.files, *(path for path in paths if one.writes(path))]
    return any(map(other.reads, outputs)) or any(map(one.writes, other.sources))


def _odd(plan: GeneratePlan, paths: Iterable[str]) -> Iterator[str]:
    """Yield the outputs that are no plain files, and the links by which outputs may get out."""
    for path in paths:
        place = os.path.join(plan.top, path)
        is_link = os.path.islink(place)
        is_no_file = is_link or os.path.isfile(place) != os.path.lexists(place)
        if plan.whole.writes(path) and (is_no_file or in_the_way(plan.top, path)):
            yield path
        elif is_link and any(_is_near(glob, path) for glob in plan.whole.files):
            target, root = map(os.path.realpath, (place, plan.top))
            # out of the repository, or to what git itself runs, such as hooks
            if {"..", ".git"} & {*os.path.relpath(target, root).lower().split(os.sep)}:
                yield path


def _is_near(glob: str, link: str) -> bool:
    """Return whether a link lies above or below the folder with which a glob begins."""
    folder = glob.lstrip("/").replace("?", "*").partition("*")[0].rpartition("/")[0]
    return not folder or f"{link}/".startswith(f"{folder}/") or f"{folder}/".startswith(f"{link}/")


def _is_marked(top: str, path: str) -> bool:
    """Return whether a file has conflict markers that are not in the last commit."""
    text = start_of(Path(top, path), SEALED_BYTES).decode("latin-1")
    return has_new_marker(text, ()) and has_new_marker(
        text, [ask_git("cat-file", "blob", f"HEAD:{path}", cwd=top).data.decode("latin-1")]
    )


def foreign(plan: GeneratePlan) -> list[str]:
    """Return the files that others changed and commands may run: no outputs and no manifests.

    A link counts, whatever its name: a command may copy what it leads to. In a rebase both sides
    may be of others. Without known trees it is all that is not committed.
    """
    of = plan.operation
    also = of.ours if of.name == "rebase" else of.theirs
    pairs = [[of.base, of.theirs], [of.base, also]] if of.is_known else [["HEAD"]]
    asked = ("diff", "--name-only", "--no-renames", "--ignore-submodules=none", "-z")
    listed = "".join(git(*asked, *trees, "--", cwd=plan.top) for trees in pairs).split("\0")[:-1]
    return sorted(
        path
        for path in {*listed}
        if os.path.islink(os.path.join(plan.top, path))
        or not (is_manifest(path, json=True) or plan.whole.writes(path))
    )


# -- the run


def generate(plan: GeneratePlan) -> tuple[str, list[str], list[str]]:
    """Run the commands; stage their outputs, or put them back if a command failed.

    Return why it failed or '', the files that changed and are no outputs, and the staged files.
    """
    folder = os.path.join(plan.repository.git_dir, FOLDER)
    refuse_unwritable(plan.repository.git_dir)
    with TemporaryDirectory(
        prefix=f"{FOLDER}-", dir=plan.repository.git_dir, ignore_cleanup_errors=True
    ) as draft:
        _copy(plan.top, plan.whole.files, os.path.join(draft, _OLD))
        Path(draft, _GLOBS).write_text(json.dumps(plan.whole.files))
        os.rename(draft, folder)  # from now on it is complete, and outputs may change
    is_sound = False
    with alone(folder) as lock:
        try:
            before = _state(plan.top)
            runs = (_run(one, plan.top, lock) for one in plan.generators)
            failure = next(filter(None, runs), "") or _damage(plan)
            changed = before ^ _state(plan.top)
            elsewhere = sorted({path for path, _ in changed if not plan.whole.writes(path)})
            staged = [] if failure or elsewhere else _outputs(plan.top, plan.whole.files)
            settings = plan.repository.settings()
            stage_files(plan.top, staged, sparse=("core.sparsecheckout", "true") in settings)
            is_sound = not failure
        finally:
            if not is_sound:
                _put_back(plan.top, plan.whole.files, folder)
            _forget(folder)
    return failure, elsewhere, staged


def _copy(top: str, globs: Sequence[str], folder: str) -> None:
    """Copy the outputs that are there into a folder."""
    for path in _outputs(top, globs):
        check_path(path, top)  # or it could not be put back
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
        return f"{one.name}: stopped after {one.timeout} s (`{KEY}.{one.name}.timeout`)"
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
    outputs = _outputs(plan.top, plan.whole.files)
    odd = [f"{path}: it is no longer a regular file" for path in _odd(plan, outputs)]
    torn = [f"{path}: it has conflict markers" for path in outputs if _is_marked(plan.top, path)]
    return next(iter(odd + torn), "")


# -- the way back


def restore(repository: Repository) -> str:
    """Put the outputs of a killed run back; return the folder with what was there."""
    top, folder = repository.worktree or "", os.path.join(repository.git_dir, FOLDER)
    if not os.path.lexists(folder):
        raise UsageError(
            "no run of `kmerge generate` was killed", hint="there is nothing to restore"
        )
    with alone(folder):
        settle(top)  # an earlier --restore may have been killed as well
        globs = json.loads(Path(folder, _GLOBS).read_text())
        saved = mkdtemp(prefix="kmerge-replaced-", dir=repository.git_dir)
        _copy(top, globs, saved)
        _put_back(top, globs, folder)
        _forget(folder)
    return saved


def _put_back(top: str, globs: Sequence[str], folder: str) -> None:
    """Give each output the content that it had before; remove those that are new."""
    changes: dict[str, File | None] = dict.fromkeys(_outputs(top, globs))
    for name, is_folder in inside(folder, _OLD):
        if not is_folder:
            changes[name.removeprefix(f"{_OLD}/")] = file_at(os.path.join(folder, name))
    left = write_all(top, changes)
    if left:
        raise KmergeError(f"not all files were restored{about_left_alone(left)}", hint=_RESTORE)


def _forget(folder: str) -> None:
    """Remove the copies; by one rename, so that no part of them is taken for all of them."""
    with TemporaryDirectory(prefix=f"{FOLDER}-", dir=os.path.dirname(folder)) as gone:
        os.rename(folder, os.path.join(gone, _OLD))
