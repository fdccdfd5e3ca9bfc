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
  kmerge resolve                          asks about one field after the other; `?` shows the keys
  git commit                              or what `git status` says

without a person:
  kmerge resolve --auto                   settles what needs no decision, and asks nothing
  kmerge resolve --list                   the conflicts that are left then, each with its id
  kmerge resolve --take theirs apps/      their side of all conflicts below apps/
  kmerge resolve --take higher --at '**.image'
  kmerge resolve --set 3f2a9c01d7be=1.4.2
  kmerge resolve --list --json >answers   as a file: add `"answer": "ours"` to conflicts, then
  kmerge resolve --from answers
  kmerge resolve --undo FILE              brings the conflict of a file back, while the merge lasts

First it settles what needs no decision, and stages it: conflicts of lines that are none of fields,
and edits of resources that the other side moved to another file. Then it asks, or takes the answers
from the options: an answer by id counts before one for a field, and this one before a side for all,
which is for the conflicts without an answer. All answers are checked first: if one by id cannot be,
nothing is written. A file whose conflicts all have an answer is written and staged; in the others
the remaining conflicts are marked. In a rebase `ours` is its new base, `theirs` your commit.

exit status: 0 no conflict is without an answer, 1 some are, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: all conflicts)")
    add("--list", action="store_true", help="show the conflicts that need an answer, write nothing")
    add("-n", "--dry-run", action="store_true", dest="list", help="the same")
    add("--auto", action="store_true", help="settle what needs no decision, and ask nothing")
    add(
        "--take",
        metavar="SIDE",
        help="one answer for all: ours, theirs, both, base, higher, rebump",
    )
    add(
        "--at",
        action="append",
        default=[],
        metavar="FIELDPATH|ID",
        help="with --take: only for these fields (`**.image`), or for one conflict",
    )
    add(
        "--set",
        action="append",
        default=[],
        metavar="ID=YAML",
        help="a value of your own for the conflict with this id",
    )
    add("--from", dest="source", metavar="FILE", help="answers as JSON; - is stdin")
    add("--undo", action="store_true", help="bring the conflicts of files back")
    add("--force", action="store_true", help="with --undo: drop even work that is not staged")
    add("--blame", action="store_true", help="show who changed each side last, and in which commit")
    add("--with-json", action="store_true", help="ask about *.json files, too")
    add("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """List the conflicts, answer them from the options, bring them back, or ask a person."""
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
    """Return whether the options say what to do, so that nobody is asked."""
    answers = bool(args.take or args.at or args.set or args.source)
    decides = answers or args.auto
    if (args.list and answers) + args.undo + (args.list or decides) > 1:
        raise UsageError("--list, --undo and answers are separate calls", hint="choose one")
    if args.at and not args.take:
        raise UsageError("--at says where: --take says what", hint="add `--take SIDE`")
    return decides


def _given(args: argparse.Namespace) -> tuple[ById, ...]:
    """Return the answers of the options `--set` and `--from`, each with the id of its question."""
    from kmerge_git.cli.resolve_report import read_answers
    from kmerge_git.merge.finish.possible_answers import CHOICES
    from kmerge_git.whole.resolving import ById

    if args.take and args.take not in CHOICES:
        why = f"--take: `{args.take}` is none of {', '.join(CHOICES)}"
        raise UsageError(why, hint=did_you_mean(args.take, CHOICES))
    given = []
    for word in args.set:
        of, equals, text = word.partition("=")
        if not equals:
            raise UsageError(f"--set: `{word}` has no `=`", hint="ID=YAML")
        given.append(ById(of, "value", text))
    return (*given, *(read_answers(args.source) if args.source else ()))


def _require_conflict(resolving: Resolving, given: str, path: str) -> None:
    """Refuse a path without a conflict: a misspelled path must not look like a resolved file."""
    known = [question.path for question in resolving.questions]
    if any(is_selected(name, (path,)) for name in (*known, *resolving.settled)):
        return
    for name, why in resolving.unasked:
        if is_selected(name, (path,)):
            raise UsageError("kmerge does not decide this conflict", path=given, hint=why)
    hint = "`git status` names those that are"
    raise UsageError("no file is in conflict there", path=given, hint=hint)


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
        why = "--json does not ask" if args.json else "there is no terminal to ask on"
        hint = "nothing is changed; --auto, --take, --set and --from need no terminal"
        raise UsageError(why, hint=hint)
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
        raise UsageError("which files?", hint="`--undo .` brings back all below this folder")
    files = undo(repository, paths, force=args.force)
    if args.json:
        rows = [{"path": f.path, "situation": f.situation, "was": f.was} for f in files]
        tell_json({"undone": rows})
        return 0
    for file in files:
        was = f"; `git cat-file -p {file.was[:10]}` shows what was staged" if file.was else ""
        tell(f"in conflict again: {file.path} ({file.situation}{was})")
    return 0
