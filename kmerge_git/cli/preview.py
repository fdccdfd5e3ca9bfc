"""`kmerge preview REV`: show what a merge or a rebase would do, without making it."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from kmerge_git.cli.in_and_out import add_color, listed, painted, warn, write
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
  kmerge preview feature             what would `git merge feature` do here?
  kmerge preview main --rebase       what would `git rebase main` do here?
  kmerge preview origin/pull/7 --into origin/main --json      in a CI job
  kmerge preview HEAD --into origin/main --format github --format markdown=summary.md
  kmerge preview feature --into main --write-tree             the merge as a tree, to commit it

results:
  clean      git merges it as well, with the same bytes
  resolved   git would stop with a conflict; merged by structure
  improved   git would merge it to something that means something else
  moved      an edit follows a resource into the file it was moved to
  CONFLICT   a person must decide; the fields are listed

Neither the index nor the working tree is touched; bare repositories are fine. --write-tree prints
the id of the merged tree on the first line; a tree with conflicts has markers in it, and what is
in conflict stands behind the id.

exit status: 0 no conflict, 1 conflicts, 2 an error
"""
FORMATS = ("text", "json", "markdown", "github", "sarif")
SILENT = "git alone, as a merge button, does not stop here"
_COLOURS = {"clean": "dim", "conflict": "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("rev", metavar="REV", help="what would be merged, or rebased onto")
    add("--rebase", action="store_true", help="rebase onto REV, commit by commit, instead")
    add("--into", metavar="REV", default="HEAD", help="the commit to be on (default: HEAD)")
    add("--write-tree", action="store_true", help="make the merged tree and print its id")
    add(
        "--format",
        action="append",
        type=_format,
        default=[],
        metavar="FORMAT[=FILE]",
        help=f"{', '.join(FORMATS)}; to a file, too; may be given several times",
    )
    add("--json", action="store_true", help="print the result as JSON: --format json")
    add_color(parser, "colours in the table")


def run(args: argparse.Namespace) -> int:
    """Compute the preview, and print or write it in the chosen formats."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.git.scratch_merges import scratch
    from kmerge_git.whole.both_merges import SettingsOf
    from kmerge_git.whole.previewing import preview_merge, preview_rebase

    wanted = _wanted(args)
    if args.rebase and args.write_tree:
        raise UsageError("--write-tree makes one merge, --rebase makes many", hint="choose one")
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
            warn("where it stops, `kmerge resolve` asks field by field")
        if repository.worktree:
            _say_what_git_would_do(preview, args.rev)
    return 0 if preview.is_clean else 1


def _format(word: str) -> tuple[str, str]:
    """Split `FORMAT` or `FORMAT=FILE` into the format and the file name."""
    name, is_given, path = word.partition("=")
    if name not in FORMATS or (is_given and not path):
        raise argparse.ArgumentTypeError(f"{word!r} is none of {', '.join(FORMATS)}")
    return name, path


def _wanted(args: argparse.Namespace) -> list[tuple[str, str]]:
    """Return each wanted format with the name of its file; the name is empty for stdout."""
    wanted: list[tuple[str, str]] = [*args.format, *([("json", "")] if args.json else [])]
    wanted = list(dict.fromkeys(wanted)) or [("text", "")]
    printed = [format for format, path in wanted if not path]
    if len(printed) > 1:
        hint = f"`--format {printed[0]}=FILE` writes one to a file"
        raise UsageError(f"{' and '.join(printed)}: only one can be printed", hint=hint)
    if args.write_tree and not {"text", "json"}.issuperset(format for format, _ in wanted):
        raise UsageError("--write-tree prints text or JSON", hint="choose one")
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
        warn(f"`git {preview.mode}` would not ask kmerge for {listed(preview.unasked)}; {ways}")
    if preview.unasked or not preview.beyond_git:
        return
    files = [file for step in preview.steps for file in step.files if file.result == "resolved"]
    are, them = ("is", "it") if preview.beyond_git == 1 else ("are", "them")
    is_missing = not all(file.driver or file.git_clean for file in files)
    why = f"the driver is not registered for {them}" if is_missing else "it follows no resource"
    by_us = f"`kmerge merge {rev}` merges as shown"
    by_us = by_us if preview.mode == "merge" else "`kmerge resolve` goes on where git stops"
    ways = f"`kmerge install` registers it, or {by_us}" if is_missing else by_us
    warn(
        f"`git {preview.mode}` alone will conflict in {counted(preview.beyond_git, 'file')} "
        f"that {are} clean above: {why}; {ways}"
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
        words = {"up to date": "nothing to do: up to date", "fast-forward": "a fast-forward"}
        yield f"{preview.mode}: {words[preview.state]}"
        return
    for number, step in enumerate(preview.steps, 1):
        if preview.mode == "rebase":
            yield ((f"{number}. {step.commit[:10]} {step.title}", "bold"),)
        yield from _step_lines(step, step.files)
    yield _summary(preview)


def _step_lines(step: Step, files: Sequence[FilePreview]) -> Iterator[Line]:
    if step.criss_cross:
        yield "criss-cross: there are several merge bases, this is against the first one"
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
                yield f"    merged by lines: {conflict.why}"
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
    called = {"improved": "merged otherwise than by git", "conflict": "in conflict"}
    words = [
        f"{count[result]} {called.get(result, result)}"
        for result in ("clean", "resolved", "improved", "moved", "conflict")
        if count[result]
    ]
    files = f"{counted(total, 'file')} changed on both sides"
    untried = counted(preview.untried, "commit")
    tail = f"; stops here, {untried} not tried" if preview.untried else ""
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
