"""`kmerge resolve`: resolve the conflicts of a merge, rebase or cherry-pick, field by field."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from kmerge_git.cli.in_and_out import inside, say, tell, tell_json
from kmerge_git.errors import UsageError
from kmerge_git.git.manifests import is_selected
from kmerge_git.nearest import did_you_mean

if TYPE_CHECKING:
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.resolving import ById, Picked, Resolving

EPILOG = """\
examples:
  git merge feature                       stops with conflicts
  kmerge resolve                          asks about one field after another; `?` lists the keys
  git commit                              or the command that `git status` suggests

without questions:
  kmerge resolve --auto                   resolve what needs no decision
  kmerge resolve --list                   list the other conflicts, each with its id
  kmerge resolve --take theirs apps/      take theirs in all conflicts below apps/
  kmerge resolve --take higher --at '**.image'
  kmerge resolve --set 3f2a9c01d7be=1.4.2
  kmerge resolve --list --json >answers   add `"answer": "ours"` to conflicts in this file, then
  kmerge resolve --from answers           use these answers
  kmerge resolve --undo FILE              restore the conflicts of a file until you commit the merge

The command first resolves and stages what needs no decision: conflicts of lines whose fields do not
conflict, and edits of resources that the other side moved to another file. Then it asks you, or
uses the answers given by the options. An answer for an id takes precedence over an answer for a
field (--at), and both take precedence over --take alone. All answers are checked first: if an
answer for an id is not possible, nothing is written. When all conflicts of a file have an answer,
the file is written and staged. In other files the remaining conflicts keep their markers. In a
rebase, `ours` is the new base and `theirs` is your commit.

exit status: 0 all conflicts have an answer, 1 some conflicts have none, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: all conflicts)")
    add("--list", action="store_true", help="list the conflicts that need an answer, write nothing")
    add("-n", "--dry-run", action="store_true", dest="list", help="the same as --list")
    add("--auto", action="store_true", help="resolve what needs no decision, and ask nothing")
    add(
        "--take",
        metavar="SIDE",
        help="the answer for all conflicts: ours, theirs, both, base, higher or rebump",
    )
    add(
        "--at",
        action="append",
        default=[],
        metavar="FIELDPATH|ID",
        help="with --take: only for these fields (`**.image`) or for the conflict with this id",
    )
    add(
        "--set",
        action="append",
        default=[],
        metavar="ID=YAML",
        help="your own value for the conflict with this id",
    )
    add(
        "--from",
        dest="source",
        metavar="FILE",
        help="read the answers from a JSON file; `-` is stdin",
    )
    add("--undo", action="store_true", help="restore the conflicts of these files")
    add(
        "--force", action="store_true", help="with --undo: also discard changes that are not staged"
    )
    add(
        "--blame",
        action="store_true",
        help="for each side, show the last commit that changed the conflict, and its author",
    )
    add("--with-json", action="store_true", help="also resolve conflicts in *.json files")
    add("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """List the conflicts, answer them from the options, restore them, or ask the user."""
    from kmerge_git.git.repository import Repository

    decides = _decides(args)
    repository = Repository.open()
    paths = tuple(inside(path, repository.worktree) for path in args.paths)
    if args.undo:
        return _undo(args, repository, paths)
    given = _given(args) if decides else ()
    from kmerge_git.whole.resolving import Resolving

    resolving = Resolving.start(repository, paths, json=args.with_json)
    if resolving.is_empty and not repository.conflicts():
        return _show(args, resolving)
    for name, path in zip(args.paths, paths, strict=True):
        _require_conflict(resolving, name, path)
    for problem in resolving.problems:
        say(f"kmerge: {problem}")
    if args.list:
        return _show(args, resolving)
    if decides:
        return _decide(args, resolving, given)
    return _ask(args, resolving)


def _decides(args: argparse.Namespace) -> bool:
    """Return whether the options give the answers, so that no question is needed."""
    answers = bool(args.take or args.at or args.set or args.source)
    decides = answers or args.auto
    if (args.list and answers) + args.undo + (args.list or decides) > 1:
        raise UsageError("--list, --undo and answers cannot be used together", hint="choose one")
    if args.at and not args.take:
        raise UsageError("--at needs an answer for the fields", hint="add `--take SIDE`")
    return decides


def _given(args: argparse.Namespace) -> tuple[ById, ...]:
    """Return the answers of the options `--set` and `--from`, each with the id of its question."""
    from kmerge_git.cli.resolve_report import read_answers
    from kmerge_git.merge.finish.possible_answers import CHOICES
    from kmerge_git.whole.resolving import ById

    if args.take and args.take not in CHOICES:
        why = f"--take: `{args.take}` is not one of {', '.join(CHOICES)}"
        raise UsageError(why, hint=did_you_mean(args.take, CHOICES))
    given = []
    for word in args.set:
        of, equals, text = word.partition("=")
        if not equals:
            raise UsageError(f"--set: `{word}` has no `=`", hint="use ID=YAML")
        given.append(ById(of, "value", text))
    return (*given, *(read_answers(args.source) if args.source else ()))


def _require_conflict(resolving: Resolving, given: str, path: str) -> None:
    """Refuse a path without a conflict: a misspelled path must not look like a resolved file."""
    known = [question.path for question in resolving.questions]
    if any(is_selected(name, (path,)) for name in (*known, *resolving.settled)):
        return
    for name, why in resolving.unasked:
        if is_selected(name, (path,)):
            raise UsageError("kmerge cannot resolve this conflict", path=given, hint=why)
    hint = "run `git status` to list the files in conflict"
    raise UsageError("this path has no conflicts", path=given, hint=hint)


def _decide(args: argparse.Namespace, resolving: Resolving, given: tuple[ById, ...]) -> int:
    """Apply the answers of the command line and report the result."""
    from kmerge_git.whole.resolving import Choosing, carry_out, decide

    at = tuple(args.at) if resolving.questions else ()  # none left is no wrong field
    picked = decide(resolving, Choosing(given, args.take or "", at))
    return _show(args, resolving, carry_out(resolving, picked, is_whole=args.auto))


def _ask(args: argparse.Namespace, resolving: Resolving) -> int:
    """Ask a person; without a terminal only list the conflicts."""
    if args.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _show(args, resolving)
        how = "with --json" if args.json else "without a terminal"
        hint = "use --auto, --take, --set or --from (nothing was changed)"
        raise UsageError(f"cannot ask questions {how}", hint=hint)
    from kmerge_git.cli.asking import ask

    return ask(resolving, args)


def _show(args: argparse.Namespace, resolving: Resolving, picked: Picked | None = None) -> int:
    from kmerge_git.cli.resolve_report import as_json, tell_end, tell_list, tell_settled

    if args.json:
        tell_json(as_json(resolving, picked))
    elif picked:
        tell_settled(resolving, picked.staged)
        return tell_end(resolving, picked.staged, refused=picked.refused)
    else:
        tell_list(resolving)
    return 1 if resolving.left else 0


def _undo(args: argparse.Namespace, repository: Repository, paths: tuple[str, ...]) -> int:
    """Put the given files into conflict again."""
    from kmerge_git.whole.answer_staging import undo

    if not paths:
        raise UsageError(
            "--undo needs a path", hint="use `--undo .` for all files of this directory"
        )
    files = undo(repository, paths, force=args.force)
    if args.json:
        rows = [{"path": f.path, "situation": f.situation, "was": f.was} for f in files]
        tell_json({"undone": rows})
        return 0
    for file in files:
        was = f"; `git cat-file -p {file.was[:10]}` prints the staged version" if file.was else ""
        tell(f"in conflict again: {file.path} ({file.situation}{was})")
    return 0
