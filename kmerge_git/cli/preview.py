"""`kmerge preview REV`: show what a merge or a rebase would do, without making it."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from kmerge_git.cli.in_and_out import add_color, listed, painted, warn, write
from kmerge_git.cli.main import make_haste
from kmerge_git.errors import UsageError
from kmerge_git.git.unasked import WAYS
from kmerge_git.report.results import CommandResult
from kmerge_git.visible import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kmerge_git.git.repository import Repository
    from kmerge_git.outcome import Conflict
    from kmerge_git.report.results import Line
    from kmerge_git.whole.previewing import FilePreview, Preview, Step

EPILOG = """\
examples:
  kmerge preview feature             show what `git merge feature` would do
  kmerge preview main --rebase       show what `git rebase main` would do
  kmerge preview origin/pull/7 --into origin/main --json      in a CI job
  kmerge preview HEAD --into origin/main --format github --format markdown=summary.md
  kmerge preview feature --into main --write-tree             write the merge as a tree to commit

results:
  clean      git alone gets the same result
  resolved   git alone would stop with a conflict; kmerge merges it by structure
  improved   git alone would merge it cleanly, but the result would mean something different
  moved      an edit is applied to a resource that was moved to another file
  CONFLICT   there are unresolved conflicts; the fields are listed

The index and the working tree do not change, and bare repositories work. --write-tree prints the id
of the merged tree on the first line, then the conflicts. If there are conflicts, the files in that
tree have conflict markers.

exit status: 0 no conflict, 1 conflicts, 2 an error
"""
FORMATS = ("text", "json", "markdown", "github", "sarif")
SILENT = "git alone or a merge button would not stop with a conflict"
_COLOURS = {"clean": "dim", "conflict": "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("rev", metavar="REV", help="the revision to merge or to rebase onto")
    add("--rebase", action="store_true", help="show a rebase onto REV, commit by commit")
    add(
        "--into",
        metavar="REV",
        default="HEAD",
        help="the commit to merge into or to rebase (default: HEAD)",
    )
    add(
        "--write-tree",
        action="store_true",
        help="write the merged tree to the repository and print its id",
    )
    add(
        "--format",
        action="append",
        type=_format,
        default=[],
        metavar="FORMAT[=FILE]",
        help=f"{', '.join(FORMATS)}; with =FILE, write to a file instead of stdout (repeatable)",
    )
    add("--json", action="store_true", help="print the result as JSON; the same as --format json")
    add_color(parser, "use colors (default: auto)")


def run(args: argparse.Namespace) -> int:
    """Compute the preview, and print or write it in the chosen formats."""
    make_haste()
    from kmerge_git.git.repository import Repository
    from kmerge_git.git.scratch_merges import scratch
    from kmerge_git.whole.both_merges import SettingsOf
    from kmerge_git.whole.previewing import preview_merge, preview_rebase

    wanted = _wanted(args)
    if args.rebase and args.write_tree:
        raise UsageError("--write-tree and --rebase cannot be used together", hint="choose one")
    repository = Repository.open()
    ours, theirs = repository.commit(args.into), repository.commit(args.rev)
    # without a working tree, read the attributes from the `--into` commit
    with scratch(repository, None if repository.worktree else ours.tree) as at:
        labels = ("base", args.into, args.rev)
        mine = "theirs" if args.rebase else "ours"  # as in `git.sides`
        settings = SettingsOf(at.repository, labels=labels, mine=mine, into=args.into)
        if args.rebase:
            preview = preview_rebase(repository, at, ours, theirs, settings)
        else:
            preview = preview_merge(repository, at, ours, theirs, settings, keep=args.write_tree)
    warn(*settings.problems)
    result = CommandResult(partial(_fields, preview), partial(_lines, preview))
    for format, path in wanted:
        if format in ("github", "sarif"):
            text = _annotations(repository, preview, args, format)
        else:
            text = _rendered(result, args, format, "never" if path else args.color)
        if path:
            write(path, text.encode("utf-8", "replace"))
        else:
            sys.stdout.write(text)
    if not args.write_tree:
        if ("text", "") in wanted and any(
            file.asks for step in preview.steps for file in step.files
        ):
            warn("if git stops with a conflict, run `kmerge resolve` to decide field by field")
        if repository.worktree:
            _say_what_git_would_do(preview, args.rev)
    return 0 if preview.is_clean else 1


def _format(word: str) -> tuple[str, str]:
    """Split `FORMAT` or `FORMAT=FILE` into the format and the file name."""
    name, is_given, path = word.partition("=")
    if name not in FORMATS or (is_given and not path):
        raise argparse.ArgumentTypeError(
            f"{word!r} is not a format; use {', '.join(FORMATS)} or FORMAT=FILE"
        )
    return name, path


def _wanted(args: argparse.Namespace) -> list[tuple[str, str]]:
    """Return each wanted format with the name of its file; the name is empty for stdout."""
    wanted: list[tuple[str, str]] = [*args.format, *([("json", "")] if args.json else [])]
    wanted = list(dict.fromkeys(wanted)) or [("text", "")]
    printed = [format for format, path in wanted if not path]
    if len(printed) > 1:
        hint = f"use `--format {printed[0]}=FILE` to write one of them to a file"
        raise UsageError(f"only one format can be printed, not {' and '.join(printed)}", hint=hint)
    if args.write_tree and not {"text", "json"}.issuperset(format for format, _ in wanted):
        raise UsageError("--write-tree prints only text or JSON", hint="choose one of them")
    return wanted


def _rendered(result: CommandResult, args: argparse.Namespace, format: str, color: str) -> str:
    if format == "json":
        return result.as_json()
    if format == "markdown":
        from kmerge_git.report.markdown import preview_page

        return preview_page(result.fields(), args.into, args.rev)
    return "".join(f"{line}\n" for line in painted(result.lines(), color))


def _annotations(
    repository: Repository, preview: Preview, args: argparse.Namespace, format: str
) -> str:
    from kmerge_git import __version__
    from kmerge_git.report.findings import as_github, as_sarif
    from kmerge_git.whole.preview_findings import RULES, findings

    ours = args.into if preview.mode == "merge" else args.rev
    found = findings(repository, preview, ours)
    if format == "github":
        return as_github(found)
    return as_sarif(found, RULES, __version__, "kmerge preview")


def _say_what_git_would_do(preview: Preview, rev: str) -> None:
    """Warn that git will not ask the driver, or leaves conflicts that the preview resolves."""
    if preview.unasked:
        ways = WAYS.replace("REV", rev)
        warn(f"`git {preview.mode}` would not use kmerge for {listed(preview.unasked)}; {ways}")
    if preview.unasked or not preview.beyond_git:
        return
    files = [file for step in preview.steps for file in step.files if file.result == "resolved"]
    have, them = ("has", "it") if preview.beyond_git == 1 else ("have", "them")
    is_missing = not all(file.driver or file.git_clean for file in files)
    why = (
        f"the driver is not registered for {them}"
        if is_missing
        else "git cannot follow moved resources"
    )
    by_us = f"run `kmerge merge {rev}` to merge as shown"
    by_us = by_us if preview.mode == "merge" else "run `kmerge resolve` when git stops"
    ways = f"run `kmerge install` to register it, or {by_us}" if is_missing else by_us
    warn(
        f"`git {preview.mode}` alone will have conflicts in {counted(preview.beyond_git, 'file')} "
        f"that {have} none above, because {why}; {ways}"
    )


# -- as text -------------------------------------------------------------------------------------


def _lines(preview: Preview) -> Iterator[Line]:
    if preview.kept:  # print the id of the tree, and the conflicts
        yield preview.kept
        for step in preview.steps:
            left = [file for file in step.files if file.result == "conflict"]
            yield from _step_lines(step, left) if left else ()
        return
    if preview.state != "merge":
        words = {"up to date": "already up to date", "fast-forward": "a fast-forward"}
        yield f"{preview.mode}: {words[preview.state]}"
        return
    for number, step in enumerate(preview.steps, 1):
        if preview.mode == "rebase":
            yield ((f"{number}. {step.commit[:10]} {step.title}", "bold"),)
        yield from _step_lines(step, step.files)
    yield _summary(preview)


def _step_lines(step: Step, files: Sequence[FilePreview]) -> Iterator[Line]:
    if step.criss_cross:
        yield "criss-cross history: there are several merge bases; this preview uses the first one"
    yield from step.notes
    width = min(max((len(file.path) for file in files), default=0), 60)
    for file in files:
        word = "CONFLICT" if file.result == "conflict" else file.result
        colour = _COLOURS.get(file.result, "green")
        kind = file.kind if file.kind != "changed by both" else ""
        silent = SILENT if file.result == "conflict" and file.git_clean else ""
        about = "; ".join(filter(None, (kind, file.note, silent)))
        yield ((f"{word:<9}", colour), f" {file.path:<{width}}  {about}".rstrip())
        yield from (f"    {words}" for words in file.chosen)
        # the row of a file that is in conflict as a whole already gives the reason
        for conflict in file.conflicts if file.asks else ():
            if file.method == "lines":  # the conflict has no field and no values
                yield f"    git's line merge: {conflict.why}"
            else:
                yield from _conflict_lines(conflict)


def _conflict_lines(conflict: Conflict) -> Iterator[Line]:
    from kmerge_git.whole.both_merges import short

    yield ("    ", (conflict.spot or "document", "bold"), f": {conflict.told}")
    for side in ("base", "ours", "theirs"):
        lines = short(getattr(conflict, side)).splitlines() or ["(nothing)"]
        more = f" … and {len(lines) - 3} more lines" if len(lines) > 3 else ""
        for index, line in enumerate(lines[:3]):
            label = side if index == 0 else ""
            yield f"        {label:<7}{line}{more if index == 2 else ''}"


def _summary(preview: Preview) -> str:
    count: Counter[str] = Counter(file.result for step in preview.steps for file in step.files)
    total = sum(count.values())
    called = {"improved": "merged differently from git", "conflict": "in conflict"}
    words = [
        f"{count[result]} {called.get(result, result)}"
        for result in ("clean", "resolved", "improved", "moved", "conflict")
        if count[result]
    ]
    files = f"{counted(total, 'file')} changed on both sides"
    untried = counted(preview.untried, "commit")
    tail = (
        f"; git would stop at this commit, so the preview leaves out {untried}"
        if preview.untried
        else ""
    )
    return f"{preview.mode}: {files}" + (f": {', '.join(words)}" if words else "") + tail


# -- as JSON -------------------------------------------------------------------------------------


def _fields(preview: Preview) -> dict[str, Any]:
    tree = {"tree": preview.kept} if preview.kept else {}
    return {
        "mode": preview.mode,
        "state": preview.state,
        "clean": preview.is_clean,
        "ours": preview.ours,
        "theirs": preview.theirs,
        "base": preview.base,
        "untried": preview.untried,
        "beyond_git": preview.beyond_git,
        "steps": [
            {
                "commit": step.commit,
                "title": step.title,
                "criss_cross": step.criss_cross,
                "notes": list(step.notes),
                "files": [file_as_json(file) for file in step.files],
            }
            for step in preview.steps
        ],
    } | tree


def file_as_json(file: FilePreview) -> dict[str, Any]:
    """Return the fields that the JSON of a preview has for a file."""
    from kmerge_git.compare.shown_values import cut, written
    from kmerge_git.whole.both_merges import plain, plain_decision
    from kmerge_git.whole.preview_findings import otherwise

    return {
        "path": file.path,
        "situation": file.situation,
        # until the next release, `kind` and `note` remain for `situation` and `why`
        "kind": file.kind,
        "result": file.result,
        "git": "clean" if file.git_clean else "conflict",
        "driver": file.driver,
        "method": file.method,
        "why": file.note,
        "note": file.note,
        "decided": [plain_decision(decision) for decision in file.decided],
        "conflicts": [plain(conflict) for conflict in file.conflicts],
        "otherwise": [
            {"resource": change.resource, "field": change.field, "how": change.how}
            | {"git": cut(written(change.before)), "kmerge": cut(written(change.after))}
            for change in otherwise(file)
        ],
    }
