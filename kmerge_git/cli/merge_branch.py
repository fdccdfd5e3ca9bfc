"""Make a whole merge for `kmerge merge`.

Git merges first, then kmerge resolves the conflicts in manifests, then git commits. At the end
the merge is reported.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from kmerge_git.bounds import SHOWN_OF_A_SORT
from kmerge_git.cli.in_and_out import tell_json, warn
from kmerge_git.cli.main import make_haste
from kmerge_git.cli.merge_options import STATE, GitOptions, of_the_branch
from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.git import merge_command as git
from kmerge_git.git.config_places import usual_attributes
from kmerge_git.git.generators import hint_for
from kmerge_git.git.manifests import is_manifest
from kmerge_git.git.repository import Repository
from kmerge_git.git.run_git import ask_git, ask_here
from kmerge_git.git.spawned_git import config_pairs
from kmerge_git.visible import counted, visible
from kmerge_git.whole.both_merges import plain, plain_decision
from kmerge_git.whole.conflicted_files import FileMerge
from kmerge_git.whole.solving import SolvePlan, carry_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.whole.fresh_merge import Task


_WITH_A_DRIVER = ("", "ort", "recursive")  # the strategies that give a file to its driver


WHAT_NOW = "run `git merge --abort` to undo the merge, or `kmerge resolve` to continue"


class Plainly(Exception):
    """Leave the merge to `git merge` alone; `why` is the reason.

    If `driven` is true, the driver is registered for this merge. `asks` is true if git certainly
    calls the driver; this is uncertain for several branches at once and for `-s resolve`.
    """

    def __init__(self, why: str = "", *, driven: bool = True, asks: bool = True) -> None:
        super().__init__(why)
        self.why = why
        self.driven = driven
        self.asks = asks


@dataclass(frozen=True, slots=True)
class _Call:
    """Hold the arguments of the command line and the settings of git's configuration."""

    revs: tuple[str, ...]
    typed: GitOptions
    given: GitOptions  # the options of the branch, then those of the command line
    config: list[tuple[str, str]]
    json: bool

    @property
    def out(self) -> int | None:
        """Return the descriptor for git's own output: stderr if stdout gets JSON, else None."""
        return sys.stderr.fileno() if self.json else None

    @property
    def rev(self) -> str:
        """Return the revision to merge, in a form that git understands."""
        rev = self.revs[0] if self.revs else "@{upstream}"
        return "@{-1}" if rev == "-" else rev

    @property
    def is_quiet(self) -> bool:
        return self.given.last("--quiet", "--verbose") == "--quiet"

    @property
    def is_squash(self) -> bool:
        return self.given.last("--squash", "--no-squash") == "--squash"

    @property
    def commits(self) -> bool:
        """Return whether the merge ends with a commit."""
        return not self.is_squash and self.given.last("--commit", "--no-commit") != "--no-commit"

    @property
    def edits(self) -> bool:
        """Return whether git would open an editor for the commit message."""
        asked = self.given.last("--edit", "--no-edit")
        if asked or self.given.values("--message") or self.given.values("--file"):
            return asked == "--edit"
        wanted = os.environ.get("GIT_MERGE_AUTOEDIT")
        if wanted is not None:
            return wanted.lower() not in ("", "0", "no", "off", "false")
        return os.isatty(0) and os.isatty(1) and os.path.sameopenfile(0, 1)

    def setting(self, key: str) -> str:
        """Return the last value of a setting, or an empty text if git has no such setting."""
        return next((value for name, value in reversed(self.config) if name == key), "")

    @property
    def renormalizes(self) -> bool:
        """Return whether git converts the line ends of all versions before it merges them."""
        given = [v for v in self.given.values("--strategy-option") if v.endswith("renormalize")]
        if given:
            return given[-1] == "renormalize"
        return self.setting("merge.renormalize").lower() in ("true", "yes", "on", "1")

    @property
    def strategy(self) -> str:
        """Return the name of the merge strategy, or an empty text for git's default strategy."""
        return " ".join(self.given.values("--strategy")) or self.setting("pull.twohead")


def merge_whole(args: argparse.Namespace) -> int:
    """Do what `git merge` does, and merge the manifests by structure where that is possible."""
    make_haste()
    answer = ask_git("config", "--null", "--list")
    config = config_pairs(answer.data) if answer.code == 0 else []
    given = GitOptions((*_of_this_branch(config).pairs, *args.given.pairs))
    call = _Call(tuple(args.revs), args.given, given, config, args.json)
    task = None
    try:
        task = _task(call)
        return _merge(call, task)
    except KmergeError:
        if call.json:
            _show_json(2, None, sorted(stages.path for stages in git.unmerged()))
        raise
    except KeyboardInterrupt:
        if task and task.place.merge_heads:
            warn(f"the merge was interrupted; {WHAT_NOW}")
        raise
    except Plainly as way:
        ask_here("--show-toplevel")
        if way.why and not call.is_quiet:
            warn(
                f"using plain `git merge`{' with the merge driver' if way.asks else ''}: {way.why}"
            )
        words = [*call.typed.words(), *call.revs]
        code = git.plainly(words, driven=way.driven, favor=call.given.favor, out=call.out)
        return _by_git(call, code)


def _by_git(call: _Call, code: int) -> int:
    """Report a merge that git made alone, and return the exit code."""
    left = sorted(stages.path for stages in git.unmerged()) if code else []
    if call.json:
        _show_json(code, None, left, by_git=True)
    elif not call.is_quiet:
        warn(*hint_for(left))
    return code


def _of_this_branch(config: list[tuple[str, str]]) -> GitOptions:
    """Return the options in `branch.NAME.mergeOptions` of the current branch."""
    if not any(key.startswith("branch.") and key.endswith(".mergeoptions") for key, _ in config):
        return GitOptions()
    branch = ask_git("symbolic-ref", "-q", "--short", "HEAD").line
    return of_the_branch(ask_git("config", "--get", f"branch.{branch}.mergeoptions").line)


def _task(call: _Call) -> Task:
    """Return the merge to make; raise `Plainly` if git must make the merge alone."""
    if any(name in STATE for name, _ in call.typed.pairs):
        raise Plainly(driven=False)
    if len(call.revs) > 1:
        raise Plainly("kmerge merges only one branch at a time", asks=False)
    if call.strategy not in _WITH_A_DRIVER:
        raise Plainly(f"kmerge does not support the merge strategy `{call.strategy}`", asks=False)
    if call.renormalizes:  # git then merges texts that are not the stored versions
        raise Plainly("kmerge does not support renormalization (merge.renormalize)")
    place = git.find_place(call.rev)
    if place is None or place.merge_heads or (call.is_squash and call.given.last("--commit")):
        raise Plainly  # `git merge` reports why it cannot merge
    if place.is_trivial:
        raise Plainly(driven=False)
    if len(place.bases) > 1:
        raise Plainly("kmerge needs one merge base, but there are several")
    from kmerge_git.whole.fresh_merge import Task

    try:
        repository = Repository.open()
    except KmergeError as error:
        raise Plainly(error.why) from None
    labels = (_name_of_the_base(call, place), "HEAD", _name(call, place))
    return Task(repository, place, labels, call.given.favor, call.config)


def _name(call: _Call, place: git.MergeSite) -> str:
    """Return git's name of the merged branch."""
    if call.rev == "FETCH_HEAD":
        return place.theirs
    if call.revs:
        return call.rev
    return ask_git("rev-parse", "--symbolic-full-name", call.rev).line


def _name_of_the_base(call: _Call, place: git.MergeSite) -> str:
    """Return a short id of the common ancestor; ask git only if conflict markers show the id."""
    if not place.bases:
        return "empty tree"
    if call.setting("merge.conflictstyle") or os.environ.get("KMERGE_CONFLICT_STYLE"):
        return ask_git("rev-parse", "--short", place.bases[0]).line
    return place.bases[0][:7]


def _merge(call: _Call, task: Task) -> int:
    """Start the merge with git, resolve conflicts in manifests, commit, and report."""
    own = None if call.setting("core.attributesfile") else usual_attributes()
    start = git.begin(task.place, [*call.typed.of_the_merge, *call.revs], task.labels, own=own)
    code = start.answer.code
    if not _has_begun(call, task, start):
        _relay(call, start.answer.out, start.answer.err)
        return _by_git(call, code)
    _leave_names(call, start)
    plan = _plan(call, task, start) if code or _may_have_moved(task) else None
    if plan:
        _carry_out(task, plan)
    solved = [file.path for file in plan.files if file.verdict == "solved"] if plan else []
    left = sorted({*plan.others, *(f.path for f in plan.files)} - {*solved}) if plan else []
    if plan:
        git.mend_message(task.place.git_dir, left)
    out = git.left_over(start.answer.out, {*solved})
    if call.commits and not left:  # the commit applies an autostash again
        out = out.replace(git.LATER, "")
    _relay(call, out, start.answer.err.removesuffix(git.WELL))
    # git's text after FAILED is about an autostash, which waits for the commit
    code, as_before = _finish(call, task, left, start.answer.out.partition(git.FAILED)[2])
    left = _without_staged(left, as_before)
    if call.json:
        _show_json(code, plan, left)
    elif plan and not call.is_quiet:
        warn(*plan.problems, *_lines(plan, left, as_before), *hint_for(left))
    return code


def _without_staged(left: list[str], as_before: Sequence[str]) -> list[str]:
    """Return the files that are left, without those that rerere has staged."""
    unmerged = {stages.path for stages in git.unmerged()} if as_before else {*left}
    return [path for path in left if path in unmerged]


def _has_begun(call: _Call, task: Task, start: git.Start) -> bool:
    """Return whether git began this merge and stopped in the middle."""
    if call.is_squash:
        return start.answer.code == 1 and bool(git.unmerged())
    heads = task.place.merge_heads
    if heads and heads != [task.place.theirs]:  # FETCH_HEAD may name several
        _give_up(call, "kmerge merges only one branch at a time", asks=False)
    return bool(heads) and start.answer.code in (0, 1)


def _leave_names(call: _Call, start: git.Start) -> None:
    """Leave the merge to git if names of files are in conflict or a rename is ambiguous."""
    if start.is_nested:
        _give_up(call, "a file is renamed to two names, or to the name of another file")
    if git.is_about_names(start.answer.out):
        _give_up(call, "the names of some files are in conflict")


def _plan(call: _Call, task: Task, start: git.Start) -> SolvePlan:
    """Plan how to resolve the conflicts; after an internal error leave the whole merge to git."""
    from kmerge_git.whole.fresh_merge import plan_merge

    try:
        plan = plan_merge(task, start)
    except Unsupported as error:
        _give_up(call, error.why)
    except Exception as error:  # nothing is written yet, so git can still make the merge
        what = str(error) if isinstance(error, KmergeError) else f"{type(error).__name__}: {error}"
        _give_up(call, f"internal error: {what}; please report it")
    if start.answer.code and not (plan.files or plan.others):
        _refuse_empty(call, start)
    return plan


def _may_have_moved(task: Task) -> bool:
    """Return whether both sides changed or deleted a manifest, so that a resource may have moved.

    Git reports no conflict if both sides take the same resource out of a file.
    """
    place, read = task.place, task.repository
    if not place.bases:
        return False
    base, ours, theirs = (read.commit(c).tree for c in (place.bases[0], place.ours, place.theirs))
    here, there = (
        {change.old_path for change in read.changes(base, side, renames=False)}
        for side in (ours, theirs)
    )
    return any(map(is_manifest, here & there))


def _refuse_empty(call: _Call, start: git.Start) -> NoReturn:
    """Refuse a merge of which git staged no file: a commit would drop the branch's changes."""
    _relay(call, git.left_over(start.answer.out, ()), start.answer.err)
    done = "the merge was undone" if git.abort(squash=False) else "run `git merge --abort`"
    raise KmergeError("git did not stage any file of the merge", hint=f"{done}; then try again")


def _carry_out(task: Task, plan: SolvePlan) -> None:
    """Write and stage the resolved files; after an error, the person can still abort the merge."""
    try:
        carry_out(task.repository, plan, fresh=True)
    except KmergeError as error:
        error.hint = "; ".join(filter(None, (error.hint, WHAT_NOW)))
        raise
    except Exception as error:
        what = f"internal error: {type(error).__name__}: {error}; please report it"
        raise KmergeError(what, hint=WHAT_NOW) from error


def _give_up(call: _Call, why: str, *, asks: bool = True) -> NoReturn:
    if not git.abort(squash=call.is_squash):
        hint = "run `git merge --abort`"
        raise KmergeError(f"{why}, and git could not undo the merge", hint=hint)
    raise Plainly(why, asks=asks)


def _relay(call: _Call, out: str, err: str) -> None:
    """Print git's own output without control characters; ignore a stream that cannot be written.

    The error is reported when the program ends and flushes stdout again.
    """
    stream = sys.stderr if call.json else sys.stdout
    for text, there in ((out, stream), (err, sys.stderr)):
        with suppress(OSError):
            there.flush()
            there.write("\n".join(map(visible, text.split("\n"))))
            there.flush()


def _finish(call: _Call, task: Task, left: list[str], last: str) -> tuple[int, list[str]]:
    """Do what `git merge` does after the files are merged.

    Return the exit code, and the files whose conflicts rerere has resolved as before.
    """
    if left or not call.commits:
        git.refresh()
    if left:
        chosen = call.given.last("--rerere-autoupdate", "--no-rerere-autoupdate")
        as_before = git.remember([chosen] if chosen else [], left, call.out)
        _relay(call, git.FAILED + last, "")
        return 1, as_before
    if not call.commits:
        _relay(call, last, git.WELL)
        return 0, []
    code = git.commit(task.place, call.given.of_the_commit, edit=call.edits, out=call.out)
    if code:
        warn("everything is merged and staged, but not committed; finish with `git commit`")
        return code, []
    if not call.is_quiet:
        _relay(call, f"Merge made by the '{call.strategy or 'ort'}' strategy.\n", "")
        shown = call.given.last("--stat", "--no-stat") or call.setting("merge.stat").lower()
        if shown not in ("--no-stat", "false", "no", "off", "0"):
            git.show_stat(task.place.ours, call.out)
    return 0, []


def _lines(plan: SolvePlan, left: Sequence[str], as_before: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the report, without files that git alone merges in the same way.

    No file is called both resolved and left: the conflicts of the files `as_before` were left, and
    rerere has resolved them.
    """
    by_git = [path for path in _in_conflict_by_git(plan) if path not in as_before]
    solved = {file.path for file in plan.files if file.verdict == "solved"}
    if not solved.isdisjoint(by_git):
        open_files = [f.path for f in plan.files if f.verdict != "solved"]
        ours = sum(path not in as_before for path in (*open_files, *plan.others))
        yield (
            f"git alone would leave {counted(len(by_git), 'file')} in conflict, "
            f"kmerge leaves {ours or 'none'}"
        )
    yield from _some(
        f"{move.resource} moved to {move.target}; its change in {move.source} is applied there"
        for file in plan.files
        if file.verdict == "solved"
        for move in file.arrivals
    )
    yield from _some(plan.notes)
    better = [file.path for file in plan.files if file.result == "improved"]
    if better:
        names = ", ".join(_some(better))
        yield f"git alone would merge these files cleanly, but with a different result: {names}"
    yield from _decided(plan)
    yield from _left(plan, left, as_before)


def _left(plan: SolvePlan, left: Sequence[str], as_before: Sequence[str]) -> Iterator[str]:
    """Yield what is left, what rerere has resolved as before, and a hint how to go on."""
    files = [f for f in plan.files if f.verdict != "solved" and f.path not in as_before]
    others = {path: why for path, why in plan.others.items() if path not in as_before}
    yield from _some(line for file in files for line in _what_is_left(file))
    for why in sorted(set(others.values())):
        paths = [path for path, reason in others.items() if reason == why]
        yield f"still in conflict ({why}): {', '.join(_some(paths))}"
    unstaged = [path for path in as_before if path in left]
    if as_before:
        staged = "" if unstaged else " and staged them"
        yield f"rerere resolved these files{staged}; check them: {', '.join(_some(as_before))}"
    if files or others or as_before:
        yield _what_next(files, [*others, *unstaged])


def _decided(plan: SolvePlan) -> Iterator[str]:
    """Yield the decisions of policies and of a favoured side, and the files that took too long."""
    yield from _some(f"{file.path}: {words}" for file in plan.files for words in file.chosen)
    reasons = [(file.path, file.both.outcome.reason) for file in plan.files if file.both]
    yield from _some(f"{path}: {reason}" for path, reason in reasons if "no result" in reason)


def _what_next(files: Sequence[FileMerge], others: Sequence[str]) -> str:
    """Return a hint how to finish the merge; the hint depends on the kinds of files in conflict."""
    if not (files or others):
        return "finish with `git commit`"
    if not any(file.asks for file in files):
        why = " (`kmerge explain` shows the reasons)" if files else ""
        return f"edit these files{why}, then run `git add` and `git commit`"
    by_hand = others or not all(file.asks for file in files)
    rest = ", edit the other files and `git add` them" if by_hand else ""
    return (
        "run `kmerge resolve` to decide field by field (`kmerge explain` shows the reasons)"
        f"{rest}, then `git commit`"
    )


def _in_conflict_by_git(plan: SolvePlan) -> list[str]:
    """Return the files that git alone would have left in conflict."""
    return [*(f.path for f in plan.files if not f.git_clean), *plan.others]


def _what_is_left(file: FileMerge) -> Iterator[str]:
    by_lines = f" ({file.why})" if file.method == "lines" and file.why else ""
    for conflict in file.conflicts if file.asks else ():
        yield f"conflict: {file.path}: {conflict.shown()}{by_lines}"
    if not (file.conflicts and file.asks):
        yield f"conflict: {file.path}: {file.reason}"


def _some(lines: Iterable[str]) -> list[str]:
    """Return the first lines, and after them a line that counts the omitted lines."""
    first = [*lines]
    rest = len(first) - SHOWN_OF_A_SORT
    return first if rest <= 0 else [*first[:SHOWN_OF_A_SORT], f"... and {rest} more"]


def _show_json(
    code: int, plan: SolvePlan | None, left: Sequence[str] = (), *, by_git: bool = False
) -> None:
    tell_json(
        {
            "exit": code,
            "made_by": "git" if by_git else "kmerge",
            "clean": code == 0,
            "git_alone": _in_conflict_by_git(plan) if plan else [],
            "left": list(left),
            "files": [_file(file) for file in plan.files] if plan else [],
            "notes": list(plan.notes) if plan else [],
            "problems": list(plan.problems) if plan else [],
        }
    )


def _file(file: FileMerge) -> dict[str, Any]:
    return {
        "path": file.path,
        "situation": file.situation,
        "result": file.result,
        "git": "clean" if file.git_clean else "conflict",
        "method": file.method,
        "why": file.reason,
        "moves": [
            {"resource": move.resource, "from": move.source, "to": move.target}
            for move in file.moves
        ],
        "decided": [plain_decision(d) for d in file.decisions if d.is_settled],
        "conflicts": [plain(conflict) for conflict in file.conflicts],
    }
