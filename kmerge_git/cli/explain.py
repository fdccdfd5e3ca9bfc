"""`kmerge explain [REV]`: why a merge came out as it did."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from kmerge_git.cli.colour import Paint, add_color
from kmerge_git.cli.explaining import SIDES, lines
from kmerge_git.cli.files import say, tell_json
from kmerge_git.errors import UsageError

if TYPE_CHECKING:
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.beside import ExplainedFile
    from kmerge_git.whole.explaining import Explanation

EPILOG = """\
examples:
  kmerge explain                    the merge, rebase, cherry-pick or stash in progress
  kmerge explain HEAD               the merge commit HEAD, made again from its two parents
  kmerge explain HEAD -- apps/      only files below apps/
  kmerge explain 1a2b3c4 --json

Of each file that both sides changed: what git alone would have done, the conflicts and whose
version was chosen, and every field with its three values and the rule that decided it. What is in
the commit (or in the working tree), but in neither side's merge, is shown as well.
No record is kept: the merge is made again, with the settings of today.

exit status: 0 explained, 2 an error: no merge, or one that cannot be made again
"""
BEHIND_DASHES = "paths"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add = parser.add_argument
    add("rev", nargs="?", metavar="REV", help="a merge commit (default: the merge in progress)")
    add("words", nargs="*", metavar="PATH", help="files or directories (default: all)")
    add("-a", "--all", action="store_true", help="every file and every field that is decided")
    add("--json", action="store_true", help="print the explanation as JSON")
    add_color(parser, "colours in the explanation")
    parser.set_defaults(paths=None)


def run(args: argparse.Namespace) -> int:
    """Make the merge again, and tell."""
    from kmerge_git.cli.solve import inside
    from kmerge_git.git.manifests import is_selected
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.explaining import explain_commit, explain_progress

    repository = Repository.open()
    words = [args.rev, *args.words] if args.rev else []
    rev, given = _rev_and_paths(repository, words, args.paths)
    paths = tuple(inside(path, repository.worktree) for path in given)

    def is_chosen(path: str) -> bool:
        return is_selected(path, paths)

    if rev:
        found = explain_commit(repository, rev, is_chosen)
    else:
        found = explain_progress(repository, is_chosen)
    for problem in found.problems:
        say(f"kmerge: {problem}")
    if args.json:
        tell_json(as_json(found))
        return 0
    paint = Paint(args.color, sys.stdout)
    for line in lines(found, everything=args.all):
        print(paint.line(*line))
    left = [file for file in found.files if file.state == "in conflict" and file.merge.asks]
    if found.commit is None and left:
        say("kmerge: `kmerge resolve` asks about what is left, field by field")
    return 0


def _rev_and_paths(
    repository: Repository, words: list[str], behind: list[str] | None
) -> tuple[str, list[str]]:
    """The revision, if one is named, and the paths; as git tells them apart."""
    if behind is not None:
        if len(words) > 1:
            raise UsageError("one merge at a time", path=words[1], hint="paths stand behind `--`")
        return (words[0] if words else ""), behind
    has_files = repository.worktree is not None
    rev = words[0] if words and _is_commit(repository, words[0]) else ""
    if rev and has_files and os.path.lexists(rev):
        hint = f"say `{rev} --` for the commit, or `-- {rev}` for the path"
        raise UsageError("both a commit and a path", path=rev, hint=hint)
    rest = words[1:] if rev else words
    for word in rest:
        if has_files and not os.path.lexists(word):
            if word is words[0]:
                repository.commit(word)  # says that it is none
            raise UsageError("no such path", path=word, hint="put `--` before one that is gone")
    return rev, rest


def _is_commit(repository: Repository, word: str) -> bool:
    try:
        return bool(repository.commit(word))
    except UsageError:
        return False


def as_json(found: Explanation) -> dict[str, Any]:
    """All of it; a schema grows by fields, and changes with its number."""
    return {
        "schema": 1,
        "operation": found.operation,
        "commit": found.commit.oid if found.commit else None,
        "title": found.title,
        "sides": {side: getattr(found.sides, side) for side in SIDES},
        "notes": list(found.notes),
        "files": [_file_as_json(file) for file in found.files],
        "others": list(found.others),
        "elsewhere": [
            {"path": e.path, "changes": [c.as_json() for c in e.changes]} for e in found.elsewhere
        ],
    }


def _file_as_json(file: ExplainedFile) -> dict[str, Any]:
    from kmerge_git.merge.inwords import in_words
    from kmerge_git.whole.merging import plain

    merge = file.merge
    return {
        "path": file.path,
        "situation": merge.situation,
        "result": merge.result,
        "git": "clean" if merge.git_clean else "conflict",
        "method": merge.method,
        "why": merge.why or (merge.both.outcome.reason if merge.both else ""),
        "decisions": [
            {
                "resource": decision.resource,
                "field": decision.path,
                "what": decision.what,
                "side": decision.side,
                "rule": decision.rule,
                "rule_in_words": in_words(decision.rule),
                "base": decision.base,
                "ours": decision.ours,
                "theirs": decision.theirs,
            }
            for decision in file.decisions
        ],
        "conflicts": [
            plain(conflict.conflict) | {"chosen": conflict.choice} for conflict in file.conflicts
        ],
        "against": [change.as_json() for change in file.against],
        "git_alone": [change.as_json() for change in file.git_alone],
        "now": file.state,
        "changes": [change.as_json() for change in file.changes],
    }
