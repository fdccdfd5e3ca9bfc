"""Remove the findings that an earlier revision has, for `kmerge check --new`.

A commit does not have to fix what earlier commits left behind. An earlier version is read only if
there are findings, and only its versions of the files with findings are checked.
"""

from __future__ import annotations

import os
import re
from collections import Counter

from kmerge_git.check.registry import BESIDE, get
from kmerge_git.cli.check_repository import (
    FROM_REF,
    commit_of,
    fetched,
    from_here,
    from_top_of,
    targets,
    top_here,
)
from kmerge_git.cli.in_and_out import warn
from kmerge_git.errors import UsageError
from kmerge_git.git.run_git import ask_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.run import Run
    from kmerge_git.finding import Finding

_LINE = re.compile(r"\bline \d+")


def only_new(findings: list[Finding], worker: Run, named: str) -> list[Finding]:
    """Return the findings that no earlier version has.

    `named` is the revision of the command line, or ''. The earlier versions of a merge are both of
    its sides. What compares a file with earlier versions is always new.
    """
    top = top_here()
    asked = [finding for finding in findings if get(finding.id).scope not in BESIDE]
    if not top or not asked:
        return findings
    known: Counter[tuple[str, ...]] = Counter()
    for revision in _earlier(top, named):
        known |= _found_in(top, revision, asked, worker)
    new = set(map(id, unknown(asked, known)))
    return [one for one in findings if id(one) in new or get(one.id).scope in BESIDE]


def unknown(findings: list[Finding], known: Counter[tuple[str, ...]]) -> list[Finding]:
    """Return the findings that are not among the known ones, each as often as it occurs."""
    waiting = known.copy()
    left = []
    for finding in findings:
        waiting[words_of(finding)] -= 1
        if waiting[words_of(finding)] < 0:
            left.append(finding)
    return left


def words_of(finding: Finding, file: str = "") -> tuple[str, ...]:
    """Return the parts of a finding that do not depend on its line; `file` replaces its file."""
    return file or finding.file, finding.id, finding.path, _LINE.sub("line", finding.message)


def _earlier(top: str, named: str) -> list[str]:
    """Return the commits to compare with; if there are none, all findings are new."""
    if named:
        return [require_commit(named)]
    start, aims = os.environ.get(FROM_REF, ""), targets()
    if start.strip("0") or aims:
        found = commit_of(top, start) if start.strip("0") else fetched(aims, top)
        if not found:
            warn(f"{start or aims[0]} was not fetched, so old findings are reported, too; fetch it")
        return [found] if found else []
    from kmerge_git.git.merge_sides import in_progress

    sides = in_progress()
    if sides is not None:
        return [sides.ours, sides.theirs]
    # another code than 1 means that there is no commit yet
    is_staged = ask_git("-C", top, "diff", "--cached", "--quiet", "HEAD", env=os.environ).code == 1
    return ["HEAD"] if is_staged else []


def require_commit(revision: str) -> str:
    """Return the commit of a revision; raise an error if there is none."""
    found = commit_of(top_here() or ".", revision)
    if not found:
        hint = "--new takes a revision; write files after `--`"
        raise UsageError(f"{revision!r} is not a commit of this repository", hint=hint)
    return found


def _found_in(
    top: str, revision: str, findings: list[Finding], worker: Run
) -> Counter[tuple[str, ...]]:
    """Return the words of what the checks find in the earlier versions of files with findings.

    A renamed file counts as the file of its new name.
    """
    from kmerge_git.check.run import Run, check_files
    from kmerge_git.cli.check_files import world_of
    from kmerge_git.git.tracked_files import Blobs, all_kustomizations, committed, renamed
    from kmerge_git.time_limit import within

    former = {new: old for old, new in renamed(top, revision, "").items()}
    now: dict[str, str] = {}
    for file in sorted({finding.file for finding in findings}):
        name = from_top_of(top, file)
        now[from_here(top, former.get(name, name))] = file
    past = worker.past._replace(
        concerned=lambda: (),
        kustomizations=lambda: [from_here(top, n) for n in all_kustomizations(top, revision)],
    )
    before = Run(
        world_of(top, Blobs(top), revision, lambda: committed(top, revision)),
        worker.checks.ids, told=worker.told, script_with=worker.script_with,
        target=worker.target, named=[old for old, new in now.items() if new in worker.named],
        tools=worker.tools, past=past,
    )  # fmt: skip
    found = check_files(now, before, within)
    return Counter(words_of(finding, now.get(finding.file, "")) for finding in found)
