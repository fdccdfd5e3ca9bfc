"""What a merge of versions says to people: every decision, what was lost, and counts."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from kmerge_git.cli.lost_changes import is_loss, loss, place, values
from kmerge_git.cli.printing import counted, say, tell_json
from kmerge_git.outcome import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:  # who only counts does not load the rules
    from kmerge_git.merge.kyaml.kyaml_merges import Result
    from kmerge_git.packages.package_merge import ResultFile

# whose value it is: git's words are `ours` and `theirs`
MERGE3 = {"ours": "dest", "theirs": "updated"}
MERGE2 = {"ours": "dest", "theirs": "src"}


def tell(args: argparse.Namespace, merged: Result, words: dict[str, str], path: str = "") -> None:
    """Every decision with --explain; what was lost, but for --quiet."""
    for decision in merged.decisions:
        if is_loss(decision):
            if not args.quiet:
                say(loss(decision, words, path))
        elif args.explain:
            say(explain(decision, words, path))
    if merged.reason and not (args.quiet and not merged.conflicts):
        say(f"{path}: {merged.reason}" if path else f"kmerge: {merged.reason}")
    if merged.conflicts:
        say(f"conflict: {path or args.dest}: {merged.conflicts} left to a person")


def print_json(
    args: argparse.Namespace,
    told: Sequence[ResultFile],
    moves: Sequence[tuple[str, str, str]],
    words: dict[str, str],
) -> None:
    """What was done, for programs; a schema grows by fields, and changes with its number."""

    def lost(file: ResultFile) -> list[dict[str, str]]:
        return [
            {
                "path": file.path,
                "resource": decision.resource,
                "field": decision.path,
                "why": decision.what,
                "rule": decision.rule.removesuffix(" lost"),
                words["ours"]: decision.ours,
                words["theirs"]: decision.theirs,
            }
            for decision in file.merged.decisions
            if is_loss(decision)
        ]

    report = {
        "command": args.command,
        "written": not args.dry_run,
        "files": [
            {"path": f.path, "status": f.status}
            | ({"from": f.source} if f.source else {})
            | ({"note": f.note} if f.note else {})
            for f in told
        ],
        "moves": [{"resource": name, "from": old, "to": new} for name, old, new in moves],
        "losses": [loss for file in told for loss in lost(file)],
        "conflicts": [
            {"path": f.path, "count": f.merged.conflicts, "why": f.merged.reason}
            for f in told
            if f.merged.conflicts
        ],
        "unmerged": [{"path": f.path, "why": f.unmerged} for f in told if f.unmerged],
    }
    tell_json(report)


def explain(decision: Decision, words: dict[str, str], path: str = "") -> str:
    """`a.yaml: Deployment/web spec.replicas: changed; from updated (M2)`."""
    side = words.get(decision.side, decision.side)
    source = "left to a person" if side == "conflict" else f"from {side}"
    what = f"{decision.what}; {source} ({decision.rule}){values(decision, words)}"
    return f"{place(decision, path)}: {what}"


def count(decisions: Iterable[Decision], words: dict[str, str], conflicts: int = 0) -> str:
    """`3 from updated, 1 from dest, 1 lost, 0 conflicts`."""
    made = list(decisions)
    theirs = sum(d.side == "theirs" for d in made)
    ours = sum(d.side == "ours" for d in made)
    lost = sum(map(is_loss, made))
    parts = [f"{theirs} from {words['theirs']}", f"{ours} from {words['ours']}"]
    return ", ".join([*parts, f"{lost} lost", counted(conflicts, "conflict")])


def files(statuses: Sequence[str], unmerged: int) -> str:
    """`12 files: 2 added, 1 deleted, 4 changed, 5 the same`."""
    words: tuple[str, ...] = ("added", "deleted", "changed", "same")
    words += ("renamed",) if "renamed" in statuses else ()
    parts = [f"{statuses.count(word)} {word}" for word in words]
    text = f"{counted(len(statuses), 'file')}: {', '.join(parts)}"
    return f"{text}; {unmerged} not merged" if unmerged else text
