"""`kmerge explain [REV]`: explain the result of a merge.

The report begins with the unexpected results. The option `--explain` of other commands prints one
decision per line.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from functools import partial
from itertools import groupby, zip_longest
from typing import Any

from kmerge_git.bounds import (
    EXPLAINED_CHARACTERS,
    SHOWN_ALIKE,
    SHOWN_BESIDE,
    SHOWN_ELSEWHERE,
    SHOWN_ONE_SIDED,
)
from kmerge_git.cli.in_and_out import add_color, inside, listed, show, warn
from kmerge_git.cli.lost_changes import place
from kmerge_git.cli.main import make_haste
from kmerge_git.errors import UsageError
from kmerge_git.merge.rule_sentences import in_words
from kmerge_git.outcome import BY_BLOCKS
from kmerge_git.report.results import CommandResult
from kmerge_git.text.pieces import VERSIONS
from kmerge_git.tree.brief import beside
from kmerge_git.visible import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.compare.change import FieldChange
    from kmerge_git.git.repository import Repository
    from kmerge_git.outcome import Decision
    from kmerge_git.report.results import Line
    from kmerge_git.whole.explained_merge import ExplainedConflict, ExplainedFile, Explanation


EPILOG = """\
examples:
  kmerge explain                    the merge, rebase, cherry-pick or stash in progress
  kmerge explain HEAD               the merge commit HEAD, merged again from its two parents
  kmerge explain HEAD -- apps/      only files below apps/
  kmerge explain 1a2b3c4 --json     the same as JSON

For each file that both sides changed, the report shows what git alone would have done, the
conflicts and the side that was chosen, and each field with its three values and the rule that
decided it. It also lists changes in the commit (or in the working tree) that neither side made.
kmerge keeps no log: it merges again, with today's settings.

exit status: 0 explained, 2 an error: there is no merge, or it cannot be made again
"""
BEHIND_DASHES = "paths"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of the command."""
    add = parser.add_argument
    add("rev", nargs="?", metavar="REV", help="a merge commit (default: the merge in progress)")
    add("words", nargs="*", metavar="PATH", help="files or directories (default: all)")
    add("-a", "--all", action="store_true", help="show every file and every decided field")
    add("--json", action="store_true", help="print the explanation as JSON")
    add_color(parser, "colour the explanation")
    parser.set_defaults(paths=None)


def run(args: argparse.Namespace) -> int:
    """Make the merge again and explain its result."""
    make_haste()
    from kmerge_git.git.manifests import is_selected
    from kmerge_git.git.repository import Repository
    from kmerge_git.whole.explained_merge import explain_commit, explain_progress

    repository = Repository.open()
    words = [args.rev, *args.words] if args.rev else []
    rev, given = _rev_and_paths(repository, words, args.paths)
    paths = tuple(inside(path, repository.worktree) for path in given)

    def is_chosen(path: str) -> bool:
        return is_selected(path, paths)

    if rev:
        merge = explain_commit(repository, rev, is_chosen)
    else:
        merge = explain_progress(repository, is_chosen)
    warn(*merge.problems)
    result = CommandResult(
        partial(_fields, merge), partial(_narrow_lines, merge, everything=args.all)
    )
    show(result, as_json=args.json, color=args.color)
    in_conflict = [file for file in merge.files if file.state == "in conflict"]
    if not (args.json or merge.commit) and any(file.merge.asks for file in in_conflict):
        warn("run `kmerge resolve`: it asks about each unresolved conflict")
    return 0


def _rev_and_paths(
    repository: Repository, words: list[str], behind: list[str] | None
) -> tuple[str, list[str]]:
    """Split words into a revision and paths, as git does; without a revision, return '' for it."""
    if behind is not None:
        if len(words) > 1:
            raise UsageError(
                "explain accepts one merge", path=words[1], hint="put paths after `--`"
            )
        return (words[0] if words else ""), behind
    has_files = repository.worktree is not None
    rev = words[0] if words and _is_commit(repository, words[0]) else ""
    if rev and has_files and os.path.lexists(rev):
        hint = f"write `{rev} --` for the commit, or `-- {rev}` for the path"
        raise UsageError("both a commit and a path have this name", path=rev, hint=hint)
    rest = words[1:] if rev else words
    for word in rest:
        if has_files and not os.path.lexists(word):
            if word is words[0]:
                repository.commit(word)  # raises an error: no such commit
            raise UsageError("no such path", path=word, hint="put `--` before a deleted path")
    return rev, rest


def _is_commit(repository: Repository, word: str) -> bool:
    try:
        return bool(repository.commit(word))
    except UsageError:
        return False


def _fields(merge: Explanation) -> dict[str, Any]:
    return {
        "operation": merge.operation,
        "commit": merge.commit.oid if merge.commit else None,
        "title": merge.title,
        "sides": {side: getattr(merge.sides, side) for side in VERSIONS},
        "notes": list(merge.notes),
        "files": [_file_fields(file) for file in merge.files],
        "others": list(merge.others),
        "why_others": dict(merge.others),
        "elsewhere": [
            {"path": e.path, "changes": [c.as_json() for c in e.changes]} for e in merge.elsewhere
        ],
    }


def _file_fields(file: ExplainedFile) -> dict[str, Any]:
    from kmerge_git.whole.both_merges import plain

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
        "waits": file.waits,
        "chosen": file.choice,
        "changes": [change.as_json() for change in file.changes],
    }


# -- for people ----------------------------------------------------------------------------------

MOST_FIELDS = {"alone": SHOWN_ONE_SIDED, "alike": SHOWN_ALIKE}
_RANKS = {"improved": 0, "moved": 0, "resolved": 0, "conflict": 1, "clean": 2}
_COLOURS = {"conflict": "red", "clean": "dim"}
_RESULTS = {
    "clean": "git's line merge gives the same bytes",
    "resolved": "merged {how}; git alone leaves a conflict",
    "improved": "merged {how}; git alone has no conflict, but gives a different result",
    "moved": "a resource that moved to another file is merged there; git alone leaves a conflict",
    "moved here": "a resource that moved here is merged; git alone does not change this file",
}
_STATES = {
    "in conflict": "still has the conflict markers",
    "gone": "does not have the file",
    "there": "still has the file",
    "as git": "has the result of git's line merge",
}


def _narrow_lines(merge: Explanation, *, everything: bool) -> Iterator[Line]:
    """Yield the lines for people; fold long lines, which lose their colours."""
    from kmerge_git.compare.shown_values import WIDTH, folded

    for line in _lines(merge, everything=everything):
        parts = (line,) if isinstance(line, str) else line
        text = "".join(part if isinstance(part, str) else part[0] for part in parts)
        yield from folded(text) if len(text) > WIDTH else (line,)


def _lines(merge: Explanation, *, everything: bool) -> Iterator[Line]:
    """Yield the lines for people; results that git alone would not give come before conflicts."""
    title = f"{merge.operation or 'merge'} {merge.title}" if merge.commit else merge.title
    yield ((title, "bold"),)
    for side in VERSIONS:
        yield f"  {side:<7}{getattr(merge.sides, side)}"
    yield from (f"  {note}" for note in merge.notes)
    there = "the commit" if merge.commit else "the working tree"
    shown = [file for file in merge.files if everything or not file.is_plain]
    for file in sorted(shown, key=_rank):
        yield ""
        yield from _file(file, there, everything=everything)
    for elsewhere in merge.elsewhere:
        yield ""
        yield ((elsewhere.path, "bold"), f": {there} has changes that neither side made")
        yield from _changes(elsewhere.changes, everything=everything)
    for why in sorted(set(merge.others.values())):
        paths = [path for path, reason in merge.others.items() if reason == why]
        yield ""
        yield f"unresolved conflict, {why}: {listed(paths)}"
    yield ""
    yield _summary(merge, len(merge.files) - len(shown), there)


def _summary(merge: Explanation, plain: int, there: str) -> str:
    changed = sum(map(_is_otherwise, merge.files)) + len(merge.elsewhere)
    words = [
        f"{counted(len(merge.files), 'manifest')} changed on both sides",
        f"git merges {plain} of them to the same bytes as kmerge (--all shows them)"
        if plain
        else "",
        f"{there} differs from the merge in {counted(changed, 'file')}" if changed else "",
    ]
    return "; ".join(filter(None, words))


def _rank(file: ExplainedFile) -> tuple[int, str]:
    result = file.merge.result
    return (0 if _is_otherwise(file) and result != "conflict" else _RANKS[result]), file.path


def _is_otherwise(file: ExplainedFile) -> bool:
    """Return whether the file that is there now differs from the result of the merge."""
    if file.merge.result != "conflict" and file.state in ("gone", "there"):
        return True
    return bool(file.changes) and not file.is_layout_alone


def _file(file: ExplainedFile, there: str, *, everything: bool) -> Iterator[Line]:
    merge = file.merge
    says_why = not merge.why or merge.is_whole
    says_why = says_why or (merge.why == BY_BLOCKS and merge.result != "conflict")
    yield (
        (file.path, "bold"),
        ": ",
        (_what_came(file), _COLOURS.get(merge.result, "green")),
        f" ({merge.why})" if merge.both and not says_why else "",
    )
    reason = merge.both.outcome.reason if merge.both else ""
    if reason and reason != merge.why and merge.method == "lines":
        yield f"  merged with git's line merge: {reason}"
    if file.git_alone:
        yield "  git's own result differs in:"
        yield from _changes(file.git_alone, "    ", everything=everything)
    if file.against and merge.both is None:
        yield f"  changes in {'theirs' if merge.three.ours is None else 'ours'}:"
        changes = list(_changes(file.against, "    "))
        cut = len(changes) if everything else MOST_FIELDS["alone"]
        yield from changes[:cut]
        if changes[cut:]:
            yield f"    … and {counted(len(changes) - cut, 'more line')} (--all)"
    for conflict in file.conflicts if not merge.is_whole else ():  # the first line says why
        yield from _conflict(conflict, there)
    yield from _decisions(file, everything=everything)
    yield from _now(file, there, everything=everything)


def _what_came(file: ExplainedFile) -> str:
    merge = file.merge
    if merge.verdict == "skipped":
        return f"not merged: {_why(file)}"
    if merge.result != "conflict" and merge.data is None and merge.dropped:
        return "the file stays deleted; git alone leaves a conflict"
    if merge.result != "conflict":
        how = "with git's line merge" if merge.method == "lines" else "field by field"
        how = "block by block" if merge.why == BY_BLOCKS else how
        return _RESULTS["moved here" if merge.stages else merge.result].format(how=how)
    if merge.both is None or merge.is_whole:
        return f"CONFLICT, {_why(file)}"
    left = f"CONFLICT in {counted(len(file.conflicts), 'place')}"
    return left + ("; git alone has no conflict" if merge.git_clean else "")


def _why(file: ExplainedFile) -> str:
    """Return why a file is left and, until a person has decided it, what the person does."""
    is_open = file.waits or file.state == "in conflict"
    return file.merge.reason if is_open else file.merge.why


def _conflict(explained: ExplainedConflict, there: str) -> Iterator[Line]:
    from kmerge_git.whole.both_merges import short as dedented

    conflict, choice = explained.conflict, explained.choice
    chosen = "neither version" if choice == "neither" else choice
    is_chosen = choice in ("ours", "theirs", "neither")
    yield (
        "  ",
        (conflict.spot or "file", "red"),
        f": {conflict.told}",
        f"; {there} has {chosen}" if is_chosen else "",
    )
    texts = [dedented(getattr(conflict, side)).splitlines() for side in VERSIONS]
    skipped = _in_common([lines for lines in texts if lines])
    rows = [["…", *t[skipped:]] if t and skipped else t or ["(nothing)"] for t in texts]
    cut = zip(*(beside(row, SHOWN_BESIDE) for row in zip_longest(*rows, fillvalue="")), strict=True)
    for side, lines, shown in zip(VERSIONS, rows, cut, strict=True) if any(texts) else ():
        more = f" … and {counted(len(lines) - 3, 'more line')}" if len(lines) > 3 else ""
        for index, line in enumerate(shown[: min(len(lines), 3)]):
            yield f"      {side if index == 0 else '':<7}{line}{more if index == 2 else ''}"


def _in_common(texts: list[list[str]]) -> int:
    """Return how many first lines are the same in all versions and need not be shown."""
    if max(map(len, texts), default=0) <= 3:
        return 0
    rows = zip(*texts, strict=False)
    same = next((n for n, row in enumerate(rows) if len(set(row)) > 1), min(map(len, texts)))
    return same if same > 2 else 0


def _decisions(file: ExplainedFile, *, everything: bool) -> Iterator[Line]:
    """Yield the decisions by resource; shorten the lists of fields that needed no decision."""
    seen = dict.fromkeys(MOST_FIELDS, 0)
    decisions = [decision for decision in file.decisions if decision.side != "conflict"]
    for resource, group in groupby(decisions, key=lambda decision: decision.resource):
        head: list[Line] = [("  ", (resource, "bold"))] if resource else []
        for decision in group:
            kind = _kind(decision)
            if kind:
                seen[kind] += 1
            if everything or not kind or seen[kind] <= MOST_FIELDS[kind]:
                yield from head
                head = []
                yield from _decision(decision, "    " if resource else "  ")
    words = {
        "alone": "that only one side changed",
        "alike": "that both sides changed in the same way",
    }
    left = {kind: seen[kind] - most for kind, most in MOST_FIELDS.items()}
    parts = [f"{counted(n, 'field')} {words[kind]}" for kind, n in left.items() if n > 0]
    if parts and not everything:
        yield f"  … and {', '.join(parts)} (--all)"


def _kind(decision: Decision) -> str:
    """Return `alone` if one side changed the field, `alike` if both sides did the same, else ''."""
    if "identically" in decision.what:
        return "alike"
    is_one_sided = " " not in decision.what and decision.side in ("ours", "theirs")
    return "alone" if is_one_sided else ""


def _decision(decision: Decision, indent: str) -> Iterator[Line]:
    place = decision.path or (
        "" if decision.what.startswith(("comments", "layout")) else "the whole resource"
    )
    head = f"{indent}{place}: " if place else indent
    if _kind(decision):
        new = decision.theirs if decision.side == "theirs" else decision.ours
        yield (f"{head}{_change(decision, new)}", (f"  ({decision.side})", "dim"))
        return
    whose = {"neither": "a new value is used", "both": "both are kept", "union": "both are kept"}
    taken = whose.get(decision.side, f"{decision.side} taken")
    yield (f"{head}{decision.what}; {taken}", (f"  ({by(decision)})", "dim"))
    values = {side: getattr(decision, side) for side in VERSIONS}
    if any(values.values()):
        shown = beside([*values.values()], SHOWN_BESIDE)
        yield from (
            f"{indent}    {s:<7}{t or '(nothing)'}" for s, t in zip(VERSIONS, shown, strict=True)
        )


def _change(decision: Decision, new: str) -> str:
    """Return the change as `1 -> 2`, `+ 2` or `- 1`, or as a word if there are no values."""
    what = decision.what.partition(" ")[0]
    old, new = beside([decision.base, new], EXPLAINED_CHARACTERS)
    if not (old or new) or what == "layout":
        return what
    changed = f"{old} -> {new}" if old and new else f"+ {new}" if new else f"- {old}"
    return changed if what in ("added", "changed", "deleted") else f"{what}: {changed}"


def _now(file: ExplainedFile, there: str, *, everything: bool) -> Iterator[Line]:
    """Yield lines about the present content of a file if it differs from the merge result."""
    words = _STATES.get(file.state, "")
    if file.state == "unsolved":
        words = "does not have this result yet" if file.merge.stages else "still has the conflict"
        words += "; run `kmerge resolve --auto`"
    elif file.choice:
        words = "has neither version" if file.choice == "neither" else f"has {file.choice}"
    elif file.state == "there" and file.merge.result == "conflict":
        words = "has the file"
    if words:
        yield f"  {there} {words}"
    if file.waits:
        yield "  the conflict is not resolved yet"
    if file.changes and file.state != "as git":
        differs = "differs only in comments or layout"
        where = f"apart from the conflicts, {there}" if file.conflicts else there
        yield f"  {where} {differs if file.is_layout_alone else 'differs from this result:'}"
        if not file.is_layout_alone:
            yield from _changes(file.changes, "    ", everything=everything)


def _changes(
    changes: tuple[FieldChange, ...], indent: str = "  ", *, everything: bool = False
) -> Iterator[Line]:
    from kmerge_git.compare.shown_changes import change_lines

    lines = [(line,) for line in change_lines(changes, indent)]
    cut = len(lines) if everything or len(lines) <= SHOWN_ELSEWHERE + 1 else SHOWN_ELSEWHERE
    yield from lines[:cut]
    if lines[cut:]:
        yield f"{indent}… {len(lines) - cut} more lines (--all)"


# -- decisions, for `--explain` as well ----------------------------------------------------------


def explain_line(decision: Decision) -> str:
    """Return a line such as `Deployment/web spec.replicas: changed -> theirs: base 1, ...`."""
    values = [getattr(decision, side) for side in VERSIONS]
    shown = zip(VERSIONS, beside(values, EXPLAINED_CHARACTERS), strict=True)
    three = ", ".join(f"{side} {value or '(nothing)'}" for side, value in shown)
    three = f": {three}" if any(values) else ""
    return f"{place(decision)}: {decision.what} -> {decision.side}{three} ({by(decision)})"


def by(decision: Decision) -> str:
    """Describe a rule in words, such as `rule 12 policy higher: both changed it, and ...`."""
    words = in_words(decision.rule)
    return f"rule {decision.rule}: {words}" if words else f"rule {decision.rule}"
