"""`kmerge merge3` and `merge2`: merge files or directories, with their common base or without."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from types import SimpleNamespace

from kmerge_git import time_limit
from kmerge_git.cli import in_and_out
from kmerge_git.cli.in_and_out import Progress, say, tell, tell_json
from kmerge_git.cli.lost_changes import is_loss, loss, place, values
from kmerge_git.cli.main import make_haste
from kmerge_git.errors import UsageError
from kmerge_git.merge.three import Three
from kmerge_git.visible import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.merge.kyaml.kyaml_merges import Result
    from kmerge_git.outcome import Decision
    from kmerge_git.packages.followed_resources import Move
    from kmerge_git.packages.package_files import File, Package
    from kmerge_git.packages.package_merge import Merged, ResultFile
    from kmerge_git.packages.package_rules import Labels, Ways, Words

DESCRIPTION = """\
Merge the changes from ORIGINAL to UPDATED into DEST. A typical use is a vendored package with local
changes: ORIGINAL is the upstream version that DEST was made from, UPDATED is the new version.

By default UPDATED wins: if both sides changed a field, the value of UPDATED is used, and the lost
change is reported on stderr. A null in UPDATED removes the field. With --rules git neither side
wins, and a field that both changed differently is marked as a conflict. All other bytes of DEST do
not change.

All three are files (with any number of documents, YAML or JSON), or all three are directories. In
directories, if one side renamed, split or joined files, the changes are merged into the new files.
Other text files are merged with git's line merge. If upstream is a git repository, use
`kmerge vendor`, which keeps the original for you.
"""
EPILOG = """\
examples:
  kmerge merge3 --original v1.yaml --updated v2.yaml --dest mine.yaml          print the result
  kmerge merge3 --original v1.yaml --updated v2.yaml --dest mine.yaml --in-place
  kmerge merge3 --original v1/ --updated v2/ --dest vendor/app/ --in-place --summary
  kmerge merge3 --original v1/ --updated v2/ --dest vendor/app/ --dry-run      list changes
  git show HEAD:a.yaml | kmerge merge3 --original - --updated new.yaml --dest a.yaml --explain

exit code: 0 merged; 1 unresolved conflicts (only with --rules git); 2 an error: nothing is written.
docs/merge-rules.md explains the rules by number.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    add = parser.add_argument
    add(
        "--original",
        "-O",
        required=True,
        metavar="O",
        help="the common base of `updated` and `dest`",
    )
    add("--updated", "-U", required=True, metavar="U", help="the new version of the original")
    add("--dest", "-D", required=True, metavar="D", help="the version with local changes")
    add_shared_options(parser)
    add(
        "--rules",
        choices=("kyaml", "git"),
        default="kyaml",
        help="kyaml: `updated` wins, and a null removes a field; git: neither side wins, and a "
        "field that both changed differently is a conflict",
    )
    add(
        "--conflict-style",
        choices=("merge", "diff3", "zdiff3"),
        default="merge",
        help="the style of conflict markers with --rules git",
    )


def run(args: argparse.Namespace) -> int:
    """Merge three files or three directories."""
    from kmerge_git.packages.package_rules import ways

    if args.rules == "git" and not args.infer:
        raise UsageError("--no-infer needs --rules kyaml")
    names = Three(args.original, args.dest, args.updated)

    def make_ways(labels: Labels) -> Ways:
        return ways(args.rules, labels=labels, style=args.conflict_style, infer=args.infer)

    return merge_inputs(args, names, names.each(), MERGE3, make_ways)


def add_shared_options(parser: argparse.ArgumentParser) -> None:
    """Define the options that `merge2` and `merge3` have in common."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write the result to this file, or to this new or empty directory",
    )
    where.add_argument("--in-place", action="store_true", help="overwrite `dest` with the result")
    where.add_argument(
        "-n", "--dry-run", action="store_true", help="list the changes, but write nothing"
    )
    parser.add_argument(
        "--no-infer",
        dest="infer",
        action="store_false",
        help="pair list elements only in lists with a known key, and never guess a key",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="print every decision on stderr: the field, the rule, and the side that was chosen",
    )
    parser.add_argument(
        "--summary", action="store_true", help="print the number of decisions on stderr"
    )
    parser.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="print no notes and no lost changes, only unresolved conflicts",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print a report as JSON; needs -o, --in-place or --dry-run",
    )


def merge_inputs(
    args: argparse.Namespace,
    names: Three[str],
    given: tuple[str, ...],
    words: dict[str, str],
    make_ways: Callable[[Labels], Ways],
) -> int:
    """Merge files or directories; `given` holds the inputs, with no base in a two-way merge."""
    make_haste()
    if args.json and (args.output in (None, "-") and not (args.in_place or args.dry_run)):
        hint = "add -o OUT, --in-place or --dry-run"
        raise UsageError("--json and the result cannot both go to stdout", hint=hint)
    if _are_directories(*given):
        from kmerge_git.packages.package_rules import timed

        def labels(path: str) -> Words:
            return names.map(lambda root: os.path.join(root, path)).each()

        return merge_directories(args, names, words, timed(make_ways(labels)))
    _check(args, *given)
    texts = names.map(lambda name: in_and_out.read(name) if name else b"")
    path = next((name for name in (names.ours, *given) if name != "-"), "")
    with time_limit.within(path):
        merged = make_ways(names.each()).manifest(texts, path)
    return _finish(args, merged, texts.ours, words)


def _are_directories(*paths: str) -> bool:
    """Return whether all paths are directories; refuse a mixture of files and directories."""
    are = [os.path.isdir(path) for path in paths]
    if any(are) and not all(are):
        raise UsageError(
            "this is not a directory, but another input is",
            path=paths[are.index(False)],
            hint="use only files or only directories",
        )
    return all(are)


def _check(args: argparse.Namespace, *paths: str) -> None:
    """Refuse options that make no sense for files."""
    if paths.count("-") > 1:
        raise UsageError("only one of the inputs can be stdin", hint="use files for the others")
    if args.in_place and args.dest == "-":
        raise UsageError("--in-place needs a file as --dest", hint="use -o FILE")
    if args.output is not None and os.path.isdir(args.output):
        raise UsageError(
            "this is a directory, but the inputs are files", path=args.output, hint="use -o FILE"
        )


def _finish(args: argparse.Namespace, merged: Result, before: bytes, words: dict[str, str]) -> int:
    """Write the merged file and report the merge."""
    is_same = merged.data == before
    if args.in_place:
        if not is_same:
            in_and_out.write(args.dest, merged.data)
    elif not args.dry_run:
        in_and_out.write(args.output, merged.data)
    if args.json:
        from kmerge_git.packages.package_files import File
        from kmerge_git.packages.package_merge import ResultFile

        file = ResultFile(args.dest, File(before), File(merged.data), merged)
        print_json(args, [file], [], words)
        return int(bool(merged.conflicts))
    report(args, merged, words)
    if args.dry_run:
        tell(f"{'unchanged' if is_same else 'changed'}: {args.dest}")
    if args.summary:
        say(count(merged.decisions, words, merged.conflicts))
    return int(bool(merged.conflicts))


# the options that name the sides which git calls `ours` and `theirs`
MERGE3 = {"ours": "dest", "theirs": "updated"}
MERGE2 = {"ours": "dest", "theirs": "src"}


def report(args: argparse.Namespace, merged: Result, words: dict[str, str], path: str = "") -> None:
    """Print conflicts, with --explain all decisions, and without --quiet the dropped changes."""
    for decision in merged.decisions:
        if is_loss(decision):
            if not args.quiet:
                say(loss(decision, words, path))
        elif args.explain:
            side = words.get(decision.side, decision.side)
            source = "in conflict" if side == "conflict" else f"from {side}"
            about = f"{decision.what}; {source} ({decision.rule}){values(decision, words)}"
            say(f"{place(decision, path)}: {about}")
    if merged.reason and not (args.quiet and not merged.conflicts):
        say(f"{path}: {merged.reason}" if path else f"kmerge: {merged.reason}")
    if merged.conflicts:
        say(f"conflict: {path or args.dest}: {merged.conflicts} unresolved")


def print_json(
    args: argparse.Namespace,
    files: Sequence[ResultFile],
    moves: Sequence[Move],
    words: dict[str, str],
) -> None:
    """Print the result of the merge as JSON."""
    fields = {
        "command": args.command,
        "written": not args.dry_run,
        "files": [
            {"path": f.path, "status": f.status}
            | ({"from": f.source} if f.source else {})
            | ({"note": f.note} if f.note else {})
            for f in files
        ],
        "moves": [{"resource": m.name, "from": m.source, "to": m.target} for m in moves],
        "losses": [
            {
                "path": file.path,
                "resource": decision.resource,
                "field": decision.path,
                "why": decision.what,
                "rule": decision.rule.removesuffix(" lost"),
                words["ours"]: decision.ours,
                words["theirs"]: decision.theirs,
            }
            for file in files
            for decision in filter(is_loss, file.merged.decisions)
        ],
        "conflicts": [
            {"path": f.path, "count": f.merged.conflicts, "why": f.merged.reason}
            for f in files
            if f.merged.conflicts
        ],
        "unmerged": [{"path": f.path, "why": f.unmerged} for f in files if f.unmerged],
    }
    tell_json(fields)


def count(decisions: Sequence[Decision], words: dict[str, str], conflicts: int) -> str:
    """Return counts of decisions, such as `3 from updated, 1 from dest, 1 lost, 0 conflicts`."""
    sides = [decision.side for decision in decisions]
    parts = [f"{sides.count(side)} from {words[side]}" for side in ("theirs", "ours")]
    lost = sum(map(is_loss, decisions))
    return ", ".join([*parts, f"{lost} lost", counted(conflicts, "conflict")])


def count_files(statuses: Sequence[str], unmerged: int) -> str:
    """Return counts of files, such as `12 files: 2 added, 1 deleted, 4 changed, 5 same`."""
    words = ["added", "deleted", "changed", "same", *(["renamed"] * ("renamed" in statuses))]
    parts = [f"{statuses.count(word)} {word}" for word in words]
    text = f"{counted(len(statuses), 'file')}: {', '.join(parts)}"
    return f"{text}; {unmerged} not merged" if unmerged else text


def merge_directories(
    args: argparse.Namespace, names: Three[str], words: dict[str, str], how: Ways
) -> int:
    """Merge directories in three ways, or in two ways if the name of the base is empty."""
    from kmerge_git.packages.exchanged_files import check_whole, settle
    from kmerge_git.packages.package_files import check_links, read
    from kmerge_git.packages.package_merge import merge_packages

    target = args.dest if args.in_place else args.output
    if target and not args.dry_run:
        unfinished = settle(target)  # finish or undo a killed run
        if unfinished:
            say(unfinished)
    _check_target(args)
    for root in filter(None, names.each()):
        check_whole(root)
    packages: Three[Package] = names.map(lambda root: read(root) if root else {})
    check_links(packages.theirs, names.theirs)
    paths = {*packages.base, *packages.ours, *packages.theirs}
    with closing(Progress(len(paths), "files")) as bar:
        merged = merge_packages(packages, how, done=bar.update)
    if not args.dry_run:
        _write_directory(target, merged.files, in_place=args.in_place)
    _report_directory(args, merged, words)
    fails = args.command == "merge3" and args.rules == "git"
    return int(fails and any(file.is_conflict for file in merged.files))


def _check_target(args: argparse.Namespace) -> None:
    if not (args.in_place or args.dry_run or args.output):
        hint = "add -o DIR, --in-place or --dry-run"
        raise UsageError("a directory cannot be written to stdout", hint=hint)
    taken = args.output and os.path.lexists(args.output)
    if taken and not (os.path.isdir(args.output) and not os.listdir(args.output)):
        raise UsageError("the output exists", path=args.output, hint="use a new or empty directory")


def _write_directory(target: str, results: list[ResultFile], *, in_place: bool) -> None:
    from kmerge_git.packages.exchanged_files import about_left_alone, write_all

    wanted = [r for r in results if (r.status != "same" if in_place else r.after is not None)]
    before = {r.path: r.before if in_place else None for r in wanted}
    umask = os.umask(0)
    os.umask(umask)
    left = write_all(target, {r.path: _fresh(r, umask) for r in wanted}, before)
    if left:
        say(f"{target}{about_left_alone(left)}")


def _fresh(result: ResultFile, umask: int) -> File | None:
    """Return the file to write; give a new file the usual permissions."""
    from kmerge_git.packages.package_files import File

    file = result.after
    if file is None or file.link or result.before is not None or result.source:
        return file
    return File(file.data, (0o777 if file.is_executable else 0o666) & ~umask)


def _report_directory(args: argparse.Namespace, merged: Merged, words: dict[str, str]) -> None:
    if args.json:
        print_json(args, _present(merged), merged.moves, words)
        return
    for move in merged.moves if args.explain or args.dry_run or args.summary else ():
        what = f"moved: {move.name}" if move.name else "renamed"
        say(f"{what}: {move.source} -> {move.target}")
    for result in merged.files:
        _report_file(args, result, words)
    if args.summary:
        left = {r.source for r in merged.files}  # a renamed file counts once
        present = [r for r in _present(merged) if r.after is not None or r.path not in left]
        unmerged = sum(bool(r.unmerged) for r in merged.files)
        say(count_files([r.status for r in present], unmerged))
        decisions = [d for r in merged.files for d in r.merged.decisions]
        say(count(decisions, words, sum(r.merged.conflicts for r in merged.files)))


def _present(merged: Merged) -> list[ResultFile]:
    """Return the results of the files that exist before or after the merge, or were not merged."""
    return [r for r in merged.files if r.before is not None or r.after is not None or r.unmerged]


def _report_file(args: argparse.Namespace, result: ResultFile, words: dict[str, str]) -> None:
    report(args, result.merged, words, result.path)
    if result.note and not args.quiet:
        say(f"{result.path}: {result.note}")
    if result.unmerged:
        say(f"not merged: {result.path}: {result.unmerged}")
    if args.dry_run and result.status != "same":
        origin = f" (from {result.source})" if result.source else ""
        tell(f"{result.status}: {result.path}{origin}")


ABOUT_MERGE2 = """\
Merge the fields of SRC over DEST. Fields of SRC win, fields that only DEST has stay, and a null in
SRC removes the field. In lists with a merge key (such as containers by name, or ports by number and
protocol) elements are merged one by one; other lists are replaced. `$patch: replace`, `delete` and
`merge` in SRC work as in kustomize. All other bytes of DEST do not change.

Both are files (with any number of documents, YAML or JSON), or both are directories. In
directories, if a template or a file that is not a manifest differs, DEST keeps its version and
kmerge reports the file.
"""
EXAMPLES_OF_MERGE2 = """\
examples:
  kmerge merge2 --src overlay.yaml --dest base.yaml                 print the result
  kmerge merge2 --src overlay.yaml --dest base.yaml --in-place
  kmerge merge2 --src overlay.yaml --dest base.yaml --prepend       put new containers first
  kmerge merge2 --src overlay/ --dest base/ --dry-run               list the changes
  echo 'spec: {replicas: 3}' | kmerge merge2 --src - --dest web.yaml --explain

exit code: 0 merged, 2 an error: nothing is written. docs/merge-rules.md explains the rules by
number.
"""


def add_merge2(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    parser.add_argument("--src", "-S", required=True, metavar="S", help="the fields to merge")
    parser.add_argument("--dest", "-D", required=True, metavar="D", help="the manifest to change")
    add_shared_options(parser)
    parser.add_argument(
        "--prepend",
        action="store_true",
        help="in lists with a merge key, put new elements first instead of last",
    )


def run_merge2(args: argparse.Namespace) -> int:
    """Merge two files or two directories."""
    from kmerge_git.packages.package_rules import two_ways

    names = Three("", args.dest, args.src)

    def make_ways(labels: Labels) -> Ways:
        return two_ways(labels=labels, infer=args.infer, prepend=args.prepend)

    return merge_inputs(args, names, (names.ours, names.theirs), MERGE2, make_ways)


merge2 = SimpleNamespace(
    DESCRIPTION=ABOUT_MERGE2, EPILOG=EXAMPLES_OF_MERGE2, add_arguments=add_merge2, run=run_merge2
)
