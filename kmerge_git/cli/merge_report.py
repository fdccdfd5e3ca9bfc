"""Report the decisions, the dropped changes and the counts of `merge2` and `merge3`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kmerge_git.cli.in_and_out import say, tell_json
from kmerge_git.cli.lost_changes import is_loss, loss, place, values
from kmerge_git.visible import counted

TYPE_CHECKING = False
if TYPE_CHECKING:  # counting needs no merge rules
    from kmerge_git.merge.kyaml.kyaml_merges import Result
    from kmerge_git.outcome import Decision
    from kmerge_git.packages.followed_resources import Move
    from kmerge_git.packages.package_merge import ResultFile

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
