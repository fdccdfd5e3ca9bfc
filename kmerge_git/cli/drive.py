"""Merge a file as git's merge driver; the program around this module is `cli/driver.py`.

Exit code 0 means that the merge is clean, and 3 that conflicts are written. After any other code
the command that `kmerge install` registered runs `git merge-file`; see `git/driver_lines.py`. The
result replaces %A by a rename, so a killed process leaves the file whole. Nothing is written to
stdout, because that would corrupt the output of `git merge-tree`.
"""

from __future__ import annotations

import sys
from time import monotonic, process_time

from kmerge_git.errors import TimeUp
from kmerge_git.outcome import GENERATED, LABELS, Options
from kmerge_git.system import calls, exists, variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from kmerge_git.git.settings import Settings
    from kmerge_git.merge.three import Three
    from kmerge_git.outcome import Conflict, Labels, Outcome, Policy
    from kmerge_git.text.linemerge import GitMergeFile


CLEAN, CONFLICT, NO_ANSWER = 0, 3, 4
MOST_NAMED = 5  # conflicts of a file that are printed one by one
# names of the sides in `merge3`, and their names in git
IN_GIT = (
    *(("the lines of `dest`", "our lines"), ("`dest`", "ours"), ("dest", "ours")),
    *(("`updated`", "theirs"), ("updated", "theirs")),
)
USAGE = (
    "kmerge driver: called by git as `driver --marker-size=%L --path=%P --base=%S --ours=%X "
    "--theirs=%Y %O %A %B`; to merge by hand, use `kmerge merge-file BASE OURS THEIRS`"
)


def main(
    argv: list[str], at_last: Callable[[], None] = lambda: None, began: float | None = None
) -> int:
    """Run the merge driver: merge the file %B into the file %A.

    `at_last` is called before %A is replaced, which comes last: if the process is killed after
    that, git merges the result again with its line merge. The time limit counts from `began`, or
    from now.
    """
    paths = [arg for arg in argv if not arg.startswith("--")]
    options = [arg[2:].partition("=") for arg in argv if arg.startswith("--")]
    flags = {name: value for name, _, value in options}
    if "version" in flags:
        code = _version()
        at_last()
        return code
    if variable("KMERGE") == "0":
        return NO_ANSWER
    if len(paths) != 3:
        print(USAGE, file=sys.stderr)
        return NO_ANSWER
    # on the wall clock, and in CPU of this process
    since = (monotonic(), process_time()) if began is None else (began, 0.0)
    return _merge(flags, (paths[0], paths[1], paths[2]), at_last, since)


def _version() -> int:
    """Print the version for `kmerge status`, after checking that a merge works."""
    from kmerge_git import __version__
    from kmerge_git.merge.three import Three
    from kmerge_git.pipeline import merge
    from kmerge_git.text.linemerge import Given
    from kmerge_git.tree import parser
    from kmerge_git.tree.documents import YamlText

    parser.compose("a: 1")  # raises where PyYAML is missing
    texts = Three(b"a: 1\nb: 1\n", b"a: 2\nb: 1\n", b"a: 1\nb: 2\n").map(YamlText)
    outcome = merge(texts, Options(), lambda favor, size: Given(b"", clean=False))
    if outcome.method != "structure" or outcome.text != b"a: 2\nb: 2\n":
        raise RuntimeError(outcome.reason or "a test merge had a wrong result; please report it")
    print(f"kmerge {__version__}")
    return CLEAN


def _merge(
    flags: dict[str, str],
    paths: tuple[str, str, str],
    at_last: Callable[[], None],
    since: tuple[float, float],
) -> int:
    from kmerge_git.git.settings import Settings, settings_for
    from kmerge_git.merge.three import Three
    from kmerge_git.pipeline import merge
    from kmerge_git.tree.documents import YamlText

    texts = Three(*map(_read, paths))
    name = flags.get("path") or paths[1]
    settings = Settings()
    options = _options(flags, paths, name, settings)  # until git has answered

    def set_clock(seconds: float) -> None:
        _set_clock(seconds, since)

    def start(favor: str, size: int) -> GitMergeFile:
        return _line_merge(paths, settings, options, favor, size)

    try:
        settings = settings_for(name, set_clock=set_clock)
        for problem in settings.problems:
            _say(name, problem)
        options = _options(flags, paths, name, settings)
        set_clock(settings.timeout)
        _inject_fault()
        if settings.crds or settings.own_crds:
            _learn(name, settings, texts.ours)
        outcome = merge(texts.map(lambda data: YamlText(data, name)), options, start)
    except TimeUp as up:
        _set_clock(0)  # one of the two clocks is left
        late = _late(name, texts, options, up.late)
        if isinstance(late, int):
            return late
        outcome = late
    finally:
        _set_clock(0)
    _tell(name, outcome, options)
    at_last()
    if outcome.text != texts.ours:
        _replace(paths[1], outcome.text)
    return CLEAN if outcome.clean else CONFLICT


def _line_merge(
    paths: tuple[str, str, str], settings: Settings, options: Options, favor: str, size: int
) -> GitMergeFile:
    from kmerge_git.text.linemerge import GitMergeFile  # seldom needed

    is_longer = size != options.marker_size
    return GitMergeFile(
        paths,
        marker_size=options.marker_size if is_longer and _rerere_is_on() else size,
        labels=options.labels_so_far,
        style=settings.conflict_style if options.virtual is False else "merge",
        favor=favor,
    )


def _rerere_is_on() -> bool:
    """Return whether git remembers resolutions.

    Git then recognizes markers of one size only. It would not see longer markers next to those that
    a version already has, and would mistake this conflict for another one.
    """
    from kmerge_git.git.spawned_git import GitQuestion

    value = GitQuestion("config", "--type=bool", "--get", "rerere.enabled").answer().strip()
    folder = GitQuestion("rev-parse", "--git-path", "rr-cache").answer().decode().strip()
    return value == b"true" or (not value and exists(folder))


def _late(name: str, texts: Three[bytes], options: Options, late: str) -> Outcome | int:
    """Return the conflict of an encrypted file after the time is up, or the exit code."""
    from kmerge_git.merge.sealed import unmerged

    if options.generated and not options.virtual:
        _say(name, f"{late}; {GENERATED}")
        return CONFLICT
    encrypted = unmerged(texts, options, late)
    if encrypted is None:
        _say(name, f"{late}; git's line merge is used")
    return NO_ANSWER if encrypted is None else encrypted


def _learn(name: str, settings: Settings, text: bytes) -> None:
    """Load the definitions of the custom resources that occur in this file."""
    from kmerge_git.kube.crds import kinds_of, learn_files, learn_own

    kinds = kinds_of(text.decode("utf-8", "replace"))
    for problem in (*learn_files(settings.crds, kinds), *learn_own("", settings.own_crds, kinds)):
        _say(name, problem)


def _options(
    flags: dict[str, str], paths: tuple[str, str, str], name: str, settings: Settings
) -> Options:
    size = int(flags.get("marker-size") or 7)
    # git adds 2 for every level of an inner merge of a criss-cross
    virtual = size >= settings.marker_size + 2
    base, ours, theirs = (flags.get(label) or label for label in LABELS)
    given: Labels | Callable[[], Labels] = (base, ours, theirs)
    # git before 2.44 does not know these placeholders and passes them through
    if base == "%S" or ours == "%X" or theirs == "%Y":

        def found() -> Labels:
            from kmerge_git.git.sides import names

            try:
                return names(name, paths, with_base=settings.conflict_style != "merge")
            except (OSError, ValueError):  # a label must not fail a merge
                return LABELS

        given = LABELS if virtual else found
    policy = _policy(settings, name, virtual, base, ours, theirs)
    return Options(
        name,
        settings.rules,
        settings.favor,
        size,
        given,
        settings.conflict_style,
        policy,
        virtual,
        settings.generated,
    )


def _policy(
    settings: Settings, name: str, virtual: bool, base: str, ours: str, theirs: str
) -> Policy | None:
    """Return the policy of a file, which is loaded when the first conflict asks it."""
    is_chart = name.rpartition("/")[2] == "Chart.yaml"
    if not settings.policies and not is_chart:  # most files
        return None
    made: list[Policy | None] = []

    def is_topic() -> bool:
        from kmerge_git.git.sides import is_topic_branch

        return is_topic_branch(ours)

    def decide(*at: Any) -> Any:
        if not made:
            from kmerge_git.git.sides import mine
            from kmerge_git.merge.decide.policies import policy_for

            is_asked = is_chart or any(of in ("rebump", "mine") for _, of in settings.policies)
            # ancestors that are merged have no side on top
            side = mine(base, theirs) if is_asked and not virtual else ""
            made.append(policy_for(settings.policies, side, name, is_topic))
        (policy,) = made
        return policy(*at) if policy is not None else None

    return decide


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _replace(path: str, data: bytes) -> None:
    """Replace a file by a rename, so that a killed process leaves the old or the new file whole."""
    fresh = f"{path}.kmerge-{calls.getpid()}"
    try:
        mode = calls.stat(path).st_mode & 0o7777
        with open(fresh, "xb", opener=lambda name, flags: calls.open(name, flags, mode)) as file:
            file.write(data)
            if calls.fstat(file.fileno()).st_mode & 0o7777 != mode:
                calls.chmod(fresh, mode)
        calls.replace(fresh, path)
    except BaseException:
        if exists(fresh):
            calls.unlink(fresh)
        raise


def _tell(name: str, outcome: Outcome, options: Options) -> None:
    """Report the result; catch every error, because a report must not fail a merge."""
    try:
        _report(name, outcome, options)
    except BaseException as error:
        _say(name, f"cannot report the decisions of the merge: {type(error).__name__}")


def _report(name: str, outcome: Outcome, options: Options) -> None:
    """Print a line for each conflict, and one line for the file if needed."""
    if outcome.method == "lines" and outcome.reason.startswith("internal"):
        _say(name, f"{outcome.reason}; git's line merge is used; please report it")
    if options.virtual:
        return  # in a merge of ancestors nobody decides conflicts, and no side is ours
    if outcome.method == "lines" and outcome.reason.startswith("a template: "):
        _say(name, outcome.reason.partition(" (")[0])
    elif outcome.method == "lines" and "more than " in outcome.reason:
        _say(name, f"git's line merge is used: {outcome.reason}")
    if outcome.method != "lines":
        _report_conflicts(name, outcome.conflicts)
    is_told = options.favor or options.policy or (outcome.journal and outcome.journal.settled())
    for words in outcome.chosen(options.favor) if is_told else ():
        _say(name, words)
    if options.rules == "kyaml":  # the rules `git` have conflicts instead
        _report_losses(name, outcome)
    if not outcome.clean and outcome.method == "structure":
        from kmerge_git.visible import counted

        conflicts = counted(len(outcome.conflicts), "conflict")
        _say(name, f"{conflicts}, everything else is merged; run `kmerge resolve`")


def _report_conflicts(name: str, conflicts: tuple[Conflict, ...]) -> None:
    """Print the first conflicts of a file, and the command that lists all of them."""
    for conflict in conflicts[:MOST_NAMED]:
        _say(name, conflict.shown())
    if len(conflicts) > MOST_NAMED:
        from os.path import relpath  # few files have so many conflicts
        from shlex import quote

        path = relpath(name, variable("GIT_PREFIX") or ".")  # git runs the driver at the top
        path = quote(f"./{path}" if path.startswith("-") else path)
        more = len(conflicts) - MOST_NAMED
        _say(name, f"and {more} more; run `kmerge resolve --list {path}` to list all")


def _report_losses(name: str, outcome: Outcome) -> None:
    from kmerge_git.cli.lost_changes import is_loss, loss

    for decision in filter(is_loss, outcome.decisions):
        what = decision.what
        for word, here in IN_GIT:
            what = what.replace(word, here)
        _say(name, loss(decision, {"ours": "ours", "theirs": "theirs"}, what=what))


def _say(name: str, text: str) -> None:
    """Print one line on stderr; ignore a stderr that is closed or broken."""
    from kmerge_git.visible import visible  # most merges have nothing to say

    if sys.stderr is not None:  # with None `print` would use stdout
        try:
            print(visible(f"kmerge: {name}: {text}"), file=sys.stderr)
        except OSError:
            return


def _set_clock(seconds: float, since: tuple[float, float] = (0.0, 0.0)) -> None:
    """Raise `TimeUp` after so many seconds of CPU; for 0 stop both clocks.

    The wall clock ends a process that waits. `since` is where the clocks began. The module
    `_signal` loads faster than `signal`.
    """
    import _signal

    def ring(number: int, frame: FrameType | None) -> None:
        for other in (_signal.SIGPROF, _signal.SIGALRM):
            # it may have rung as well, and the interpreter reports a signal that is ignored then
            _signal.signal(other, lambda *_: None)
        raise TimeUp("", seconds, is_wall_clock=number == _signal.SIGALRM)

    _signal.signal(_signal.SIGPROF, ring)
    _signal.signal(_signal.SIGALRM, ring)
    for timer, limit, used in (
        (_signal.ITIMER_PROF, seconds, process_time() - since[1]),
        (_signal.ITIMER_REAL, seconds * TimeUp.PATIENCE, monotonic() - since[0]),
    ):
        # 0 would stop the timer of a limit that the start has used up
        _signal.setitimer(timer, limit and max(limit - used, 1e-6))


def _inject_fault() -> None:
    """Fail on purpose if `KMERGE_FAULT` is set, to test the fallback with the real git."""
    fault = variable("KMERGE_FAULT")
    if fault == "exception":
        raise RuntimeError("KMERGE_FAULT=exception")
    if fault == "kill":
        calls.kill(calls.getpid(), 9)
    while fault == "busy":
        pass
    if fault == "hang":
        import time

        time.sleep(3600)
