"""`kmerge explain [REV]`: why a merge came out as it did.

For people the surprises come first. `--explain` of other commands prints decisions line by line.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from kmerge_git.bounds import EXPLAINED_CHARACTERS, SHOWN_ALIKE, SHOWN_ELSEWHERE, SHOWN_ONE_SIDED
from kmerge_git.cli.lost_changes import place
from kmerge_git.cli.printing import Paint, add_color, counted, say, tell_json
from kmerge_git.errors import UsageError
from kmerge_git.merge.rule_sentences import in_words
from kmerge_git.outcome import BY_BLOCKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.compare.change import FieldChange
    from kmerge_git.git.repository import Repository
    from kmerge_git.outcome import Decision
    from kmerge_git.whole.conflicted_files import FileMerge
    from kmerge_git.whole.explained_merge import ExplainedConflict, ExplainedFile, Explanation


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
    from kmerge_git.whole.explained_merge import explain_commit, explain_progress

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
    from kmerge_git.merge.rule_sentences import in_words
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
        "changes": [change.as_json() for change in file.changes],
    }


SIDES = ("base", "ours", "theirs")
_RANKS = {"improved": 0, "moved": 0, "resolved": 0, "conflict": 1, "clean": 2}
_COLOURS = {"conflict": "red", "clean": "dim"}
_WORDS = {
    "clean": "git merges it to the same bytes",
    "resolved": "merged by {how}; git alone leaves a conflict",
    "improved": "merged by {how}; git alone is clean, but comes to something else",
    "moved": "a resource is followed; git alone leaves a conflict",
    "moved here": "a resource is followed into it; git alone leaves it as it is",
}
Line = str | tuple[str, str]


def lines(found: Explanation, *, everything: bool) -> Iterator[tuple[Line, ...]]:
    """What surprises comes first: what git alone would not have done, then conflicts."""
    yield (
        (f"{found.operation or 'merge'} {found.title}" if found.commit else found.title, "bold"),
    )
    for side in SIDES:
        yield (f"  {side:<7}{getattr(found.sides, side)}",)
    for note in found.notes:
        yield (f"  {note}",)
    there = "the commit" if found.commit else "the working tree"
    shown = [file for file in found.files if everything or not file.is_plain]
    for file in sorted(shown, key=lambda f: (_rank(f), f.path)):
        yield ("",)
        yield from _file(file, there, everything=everything)
    for elsewhere in found.elsewhere:
        yield ("",)
        yield ((elsewhere.path, "bold"), f": {there} has what neither side brought")
        yield from _changes(elsewhere.changes, everything=everything)
    if found.others:
        yield ("",)
        names = ", ".join(found.others[:5]) + (", …" if len(found.others) > 5 else "")
        yield (f"conflicts in what is no manifest, git's alone: {names}",)
    yield ("",)
    yield (_summary(found, len(found.files) - len(shown), there),)


def _summary(found: Explanation, plain: int, there: str) -> str:
    total = counted(len(found.files), "manifest")
    words = [f"{total} changed on both sides"]
    if plain:
        words.append(f"{plain} as git merges them, too (--all shows them)")
    changed = sum(map(_is_otherwise, found.files))
    changed += len(found.elsewhere)
    if changed:
        words.append(f"{there} has something else in {changed}")
    return "; ".join(words)


def _rank(file: ExplainedFile) -> int:
    result = file.merge.result
    return 0 if _is_otherwise(file) and result != "conflict" else _RANKS[result]


def _is_otherwise(file: ExplainedFile) -> bool:
    """Whether something else is there than the merge makes."""
    if file.merge.result != "conflict" and file.state in ("gone", "there"):
        return True
    return bool(file.changes) and not file.is_layout_alone


def _file(file: ExplainedFile, there: str, *, everything: bool) -> Iterator[tuple[Line, ...]]:
    merge = file.merge
    result = merge.result
    yield (
        (file.path, "bold"),
        ": ",
        (_what_came(file), _COLOURS.get(result, "green")),
        f" ({merge.why})" if merge.both and not _is_told(merge) else "",
    )
    reason = merge.both.outcome.reason if merge.both else ""
    if reason and reason != merge.why and merge.method == "lines":
        yield (f"  merged by lines: {reason}",)
    if file.git_alone:
        yield ("  git alone would have:",)
        yield from _changes(file.git_alone, "    ", everything=everything)
    if file.against and merge.both is None:
        yield (f"  {'they' if merge.three.ours is None else 'we'} changed:",)
        found = list(_changes(file.against, "    "))
        cut = len(found) if everything else SHOWN_ONE_SIDED
        yield from found[:cut]
        if found[cut:]:
            yield (f"    … and {counted(len(found) - cut, 'more line')} (--all)",)
    for conflict in file.conflicts if merge.method != "kept" else ():  # the head has said why
        yield from _conflict(conflict, there)
    yield from _decisions(file, everything=everything)
    yield from _now(file, there, everything=everything)


def _is_told(merge: FileMerge) -> bool:
    """Whether the words about a file say why it came so; of most there is nothing to say."""
    if not merge.why or merge.method == "kept":
        return True
    return merge.why == BY_BLOCKS and merge.result != "conflict"


def _what_came(file: ExplainedFile) -> str:
    merge = file.merge
    if merge.verdict == "skipped":
        return f"left alone: {merge.why}"
    if merge.result != "conflict":
        how = "lines" if merge.method == "lines" else "fields"
        how = "the blocks of a template" if merge.why == BY_BLOCKS else how
        return _WORDS["moved here" if merge.stages else merge.result].format(how=how)
    if merge.both is None or merge.method == "kept":
        return f"CONFLICT, {merge.why}"
    left = f"CONFLICT, {counted(len(file.conflicts), 'place')} left to a person"
    return left + ("; git alone is clean" if merge.git_clean else "")


def _conflict(told: ExplainedConflict, there: str) -> Iterator[tuple[Line, ...]]:
    from kmerge_git.whole.both_merges import short as dedented

    conflict = told.conflict
    chosen = {"ours": "ours", "theirs": "theirs", "neither": "neither of them"}.get(told.choice, "")
    yield (
        "  ",
        (conflict.spot or "file", "red"),
        f": {conflict.told}",
        f"; {there} has {chosen}" if chosen else "",
    )
    texts = {side: dedented(getattr(conflict, side)).splitlines() for side in SIDES}
    skipped = _in_common([lines for lines in texts.values() if lines])
    for side, found in texts.items() if any(texts.values()) else ():
        shown = ["…", *found[skipped:]] if found and skipped else found or ["(nothing)"]
        more = f" … and {counted(len(shown) - 3, 'more line')}" if len(shown) > 3 else ""
        for index, line in enumerate(shown[:3]):
            yield (f"      {side if index == 0 else '':<7}{line}{more if index == 2 else ''}",)


def _in_common(texts: list[list[str]]) -> int:
    """How many lines long versions begin with alike, and so need not show; one more is shown."""
    if max(map(len, texts), default=0) <= 3:
        return 0
    rows = zip(*texts, strict=False)
    same = next((n for n, row in enumerate(rows) if len(set(row)) > 1), min(map(len, texts)))
    return same if same > 2 else 0


def _decisions(file: ExplainedFile, *, everything: bool) -> Iterator[tuple[Line, ...]]:
    """The fields by resource; of those that nobody had to decide the first few."""
    told = [d for d in file.decisions if d.side != "conflict"]
    room = {"alone": SHOWN_ONE_SIDED, "alike": SHOWN_ALIKE}
    left = {"alone": 0, "alike": 0}
    for resource, group in groupby(told, key=lambda d: d.resource):
        head: list[tuple[Line, ...]] = [("  ", (resource, "bold"))] if resource else []
        for decision in group:
            kind = _kind(decision)
            if kind and not room[kind] and not everything:
                left[kind] += 1
                continue
            if kind:
                room[kind] -= 1
            yield from head
            head = []
            yield from _decision(decision, "    " if resource else "  ")
    words = {"alone": "that one side alone changed", "alike": "that both changed alike"}
    parts = [f"{counted(n, 'field')} {words[kind]}" for kind, n in left.items() if n]
    if parts:
        yield (f"  … and {', '.join(parts)} (--all)",)


def _kind(decision: Decision) -> str:
    """Whether one side alone did something, or both the same; nothing for what was decided."""
    if "alike" in decision.what:
        return "alike"
    return "alone" if _is_one_sided(decision) else ""


def _is_one_sided(decision: Decision) -> bool:
    return " " not in decision.what and decision.side in ("ours", "theirs")


def _decision(decision: Decision, indent: str) -> Iterator[tuple[Line, ...]]:
    place = decision.path or ("" if decision.what in ("comments", "layout") else "all of it")
    head = f"{indent}{place}: " if place else indent
    if _kind(decision):
        new = decision.theirs if decision.side == "theirs" else decision.ours
        yield (f"{head}{_change(decision, new)}", (f"  ({decision.side})", "dim"))
        return
    yield (f"{head}{decision.what}; {_whose(decision.side)}", (f"  ({by(decision)})", "dim"))
    values = {side: getattr(decision, side) for side in SIDES}
    if any(values.values()):
        yield from ((f"{indent}    {side:<7}{short(text)}",) for side, text in values.items())


def _whose(side: str) -> str:
    if side == "neither":
        return "a value of its own"
    return "both are in it" if side in ("both", "union") else f"{side} taken"


def _change(decision: Decision, new: str) -> str:
    """`1 -> 2`, `+ 2`, `- 1`, or the word where there are no values."""
    old, what = decision.base, decision.what.partition(" ")[0]
    if not (old or new) or what == "layout":
        return what
    if what == "added":
        return f"+ {short(new)}"
    if what == "deleted":
        return f"- {short(old)}"
    changed = " -> ".join(beside(old, new))
    return changed if what == "changed" else f"{what}: {changed}"


def _now(file: ExplainedFile, there: str, *, everything: bool) -> Iterator[tuple[Line, ...]]:
    """What is there now, where it is not what the merge makes."""
    if file.state == "in conflict":
        yield (f"  {there} still has the conflict markers",)
    elif file.state == "unsolved":
        what = "does not have it yet" if file.merge.stages else "still has the conflict"
        yield (f"  {there} {what}: `kmerge solve` makes it so",)
    elif file.state == "gone":
        yield (f"  {there} does not have the file",)
    elif file.state == "there" and file.merge.result == "conflict":
        yield (f"  {there} has the file",)
    elif file.state == "there":
        yield (f"  {there} still has the file",)
    if file.state == "as git":
        yield (f"  {there} has what git alone makes of it",)
    elif file.changes and file.is_layout_alone:
        yield (f"  {there} differs in comments or layout alone",)
    elif file.changes:
        yield (f"  {there} has something else:",)
        yield from _changes(file.changes, "    ", everything=everything)


def _changes(
    changes: tuple[FieldChange, ...], indent: str = "  ", *, everything: bool = False
) -> Iterator[tuple[Line, ...]]:
    from kmerge_git.compare.shown_changes import change_lines

    found = list(change_lines(changes, indent))
    shown = found if everything or len(found) <= SHOWN_ELSEWHERE + 1 else found[:SHOWN_ELSEWHERE]
    yield from (((text, colour),) for text, colour in shown)
    if len(shown) < len(found):
        yield (f"{indent}… {len(found) - len(shown)} more lines (--all)",)


AROUND = 12  # characters that are shown in front of what differs in two long ones


def explain_line(decision: Decision) -> str:
    """`Deployment/web spec.replicas: changed -> theirs: base 1, ours 1, theirs 3 (rule 1: ..)`."""
    return (
        f"{place(decision)}: {decision.what} -> {decision.side}{_three(decision)} ({by(decision)})"
    )


def by(decision: Decision) -> str:
    """`rule 12 policy higher: both changed it, and a policy for the field decides`."""
    words = in_words(decision.rule)
    return f"rule {decision.rule}: {words}" if words else f"rule {decision.rule}"


def _three(decision: Decision) -> str:
    values = {"base": decision.base, "ours": decision.ours, "theirs": decision.theirs}
    if not any(values.values()):
        return ""
    return ": " + ", ".join(f"{name} {short(value)}" for name, value in values.items())


def beside(old: str, new: str) -> tuple[str, str]:
    """Two values side by side: of long ones what differs, and a little around it."""
    if max(len(old), len(new)) <= EXPLAINED_CHARACTERS or not (old and new):
        return short(old), short(new)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    first = max(start - AROUND, 0)
    if first <= AROUND:
        return short(old), short(new)
    return f"…{short(old[first:])}", f"…{short(new[first:])}"


def short(text: str) -> str:
    """A value that fits in a line."""
    if not text:
        return "(nothing)"
    return text if len(text) <= EXPLAINED_CHARACTERS else text[: EXPLAINED_CHARACTERS - 1] + "…"
