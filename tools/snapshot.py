"""Records what the package does, so that a refactoring can be held against the tree before it.

    python tools/snapshot.py write OUT [--random N]     merges of cases, probes and N random trios
    python tools/snapshot.py commands OUT [--jobs N]    every command, in 200 generated repositories
    python tools/snapshot.py compare A B                exit code 0 only if they are identical

The inputs are those of the tree that the script stands in; the package is the one on sys.path:
PYTHONPATH=other-tree chooses another one. A snapshot holds one line of JSON for each input.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path.append(str(HERE))  # where nobody chose a package

# The parts of a result, the gravest first: of a merge, and of a command.
PARTS = ("text", "conflicts", "method", "error", "code", "files", "out", "err", "decisions")
SHOWN = 10  # differences of commands that are shown
LINES = 30  # of each
Result = dict[str, object]


def main() -> int:
    """Write a snapshot, or compare two."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("write")
    command.add_argument("out", type=Path)
    command.add_argument("--random", type=int, default=5000, metavar="N")
    command.set_defaults(run=write_merges)
    command = commands.add_parser("commands")
    command.add_argument("out", type=Path)
    command.add_argument("--jobs", type=int, default=2, metavar="N", help="processes")
    command.add_argument("--only", default="", metavar="TEXT", help="repositories such as `past 3`")
    command.set_defaults(run=write_commands)
    command = commands.add_parser("compare")
    command.add_argument("before", type=Path)
    command.add_argument("after", type=Path)
    command.set_defaults(run=lambda args: compare(args.before, args.after))
    args = parser.parse_args()
    code: int = args.run(args)
    return code


def write_merges(args: argparse.Namespace) -> int:
    """Write the snapshot of merges, whose module imports the package."""
    from snapshot_merges import write

    return write(args.out, args.random)


def write_commands(args: argparse.Namespace) -> int:
    """Write the snapshot of commands, whose modules do not import the package."""
    from snapshot_commands import write

    return write(args.out, args.jobs, args.only)


# -- compare


def compare(before: Path, after: Path) -> int:
    """Say what differs by group and rule set, and show the first of the gravest differences.

    Of commands, each that differs is named with its repository, and the first ones are shown.
    """
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}  # part of a merge -> the first difference of it
    commands: list[str] = []
    total = 0
    with before.open() as one, after.open() as other:
        for texts in zip_longest(one, other, fillvalue="{}"):
            total += 1
            if texts[0] == texts[1]:
                continue
            lines = [json.loads(text) for text in texts]
            if about(lines[0]) != about(lines[1]):
                print(f"line {total}: the two snapshots are of different inputs")
                return 2
            for rules, parts, text in differences(lines):
                group, name = lines[0]["group"], lines[0]["name"]
                if group.startswith("commands"):
                    counts[f"{group} {name}: {rules}: {', '.join(parts)}"] += 1
                    commands.append("\n".join(text.split("\n")[:LINES]))
                    continue
                for part in parts:
                    counts[f"{group}: {rules}: differs in {part}"] += 1
                    first.setdefault(part, text)
    for what, count in counts.items():
        print(what if count == 1 else f"{what}, {count} times")
    gravest = next((first[part] for part in PARTS if part in first), "")
    print("\n".join([gravest, *commands[:SHOWN]]) if counts else f"identical: {total} inputs")
    return int(bool(counts))


def about(line: dict[str, object]) -> tuple[object, ...]:
    """Which input a line is about."""
    return tuple(line.get(part) for part in ("group", "name", "inputs"))


def differences(lines: list[dict[str, dict[str, Result]]]) -> Iterator[tuple[str, list[str], str]]:
    """The results of two lines that differ: of which rules or command, in which parts, a diff."""
    for rules in lines[0]["results"] | lines[1]["results"]:
        before, after = (line["results"].get(rules, {}) for line in lines)
        parts = [part for part in different(before, after) if not may_differ(rules, part)]
        if parts:
            yield rules, parts, difference(lines[0], rules, before, after)


def may_differ(rules: str, part: str) -> bool:
    """Whether a part of a result is no promise.

    The text that `kmerge completion` prints is a script whose spelling may change: the tests that
    ask real shells say that its candidates stay.
    """
    words = rules.split()
    return part == "out" and words[1:3] == ["kmerge", "completion"] and "--help" not in words


def different(before: Result, after: Result) -> list[str]:
    """The parts of a result that differ; an error has no other parts."""
    parts = before | after
    parts = {"error": None} if "error" in parts else parts
    return [part for part in parts if before.get(part) != after.get(part)]


def difference(line: dict[str, object], rules: str, before: Result, after: Result) -> str:
    """Two results of one merge as a diff."""
    title = f"{line['group']} {line['name']}: {rules}"
    pages = [page(result) for result in (before, after)]
    return "\n".join([f"\n{title}", *difflib.unified_diff(*pages, "before", "after", lineterm="")])


def page(result: Result) -> list[str]:
    """A result as lines."""
    lines = []
    for part, value in result.items():
        lines.append(f"-- {part}")
        if isinstance(value, str):
            lines += value.split("\n")
        elif isinstance(value, dict):
            for name, text in value.items():
                lines += [f"-- {name}", *("(gone)" if text is None else text).split("\n")]
        else:
            lines += [json.dumps(each) for each in (value if isinstance(value, list) else [value])]
    return lines


if __name__ == "__main__":
    sys.exit(main())
