"""Merges the cases of tests/cases/driver with other tools, and counts what comes of it.

    python tools/compare.py [--tool NAME='COMMAND'] [--list]

git and kmerge are always there. A COMMAND names the three versions as {base}, {ours} and {theirs}
and the file's name in the repository as {path}; the result is its stdout, or {ours} where it names
no stdout of its own (`-o {ours}`). Exit 0: clean; 1 to 127 with markers in the result: a conflict;
anything else: it failed. The table is that of docs/comparison.md.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent.parent
CASES = HERE / "tests" / "cases" / "driver"
SIDES = ("base", "ours", "theirs")
TOOLS = {
    "git": "git merge-file -p {ours} {base} {theirs}",
    "kmerge": f"{shlex.quote(sys.executable)} -m kmerge_git merge-file --path {{path}} "
    "{base} {ours} {theirs}",
}
CLEAN = ("the expected bytes", "the expected values, formatted differently", "a needless conflict",
         "clean, but with wrong values", "the tool failed")  # fmt: skip
CONFLICT = ("a conflict", "clean, but a change is lost or the YAML is broken", "the tool failed")


def main() -> int:
    """Print the table, and with --list each case with its verdicts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--list", action="store_true", help="tell each case")
    args = parser.parse_args()
    tools = TOOLS | dict(tool.split("=", 1) for tool in args.tool)
    counts: Counter[tuple[str, int, str]] = Counter()
    cases = Counter[int]()
    for folder in sorted(path.parent for path in CASES.glob("*/case.toml")):
        case = tomllib.loads((folder / "case.toml").read_text("utf-8"))
        cases[case["exit"]] += 1
        verdicts = {name: judged(folder, case, command) for name, command in tools.items()}
        counts.update((name, case["exit"], verdict) for name, verdict in verdicts.items())
        if args.list:
            print(folder.name, *(f"{name}: {said};" for name, said in verdicts.items()))
    for code, title, rows in ((0, "should be clean", CLEAN), (1, "should be a conflict", CONFLICT)):
        print(f"| **{title}: {cases[code]}** | {' | '.join(tools)} |")
        for row in rows:
            print(f"| {row} | {' | '.join(str(counts[name, code, row]) for name in tools)} |")
    return 0


def judged(folder: Path, case: dict[str, str], command: str) -> str:
    """What a tool made of a case, in the words of the table."""
    code, result = merged(folder, case, command)
    if code == 0 and case["exit"] == 0:
        wanted = [path.read_bytes() for path in folder.glob("expected*.yaml")]
        if result in wanted:
            return CLEAN[0]
        return CLEAN[1] if any(same_data(result, text) for text in wanted) else CLEAN[3]
    if code == 0:
        return CONFLICT[1]
    if 0 < code < 128 and (b"<<<<<<<" in result or case.get("path", "").endswith("enc.yaml")):
        return CLEAN[2] if case["exit"] == 0 else CONFLICT[0]
    if case["exit"] == 1 and code == 1 and result == (folder / "expected.yaml").read_bytes():
        return CONFLICT[0]  # one side is kept whole, and that is told
    return CLEAN[4]


def merged(folder: Path, case: dict[str, str], command: str) -> tuple[int, bytes]:
    """The exit code and the result of a tool, in a folder of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        at = {side: Path(scratch, f"{side}.yaml") for side in SIDES}
        for side, file in at.items():
            file.write_bytes((folder / f"{side}.yaml").read_bytes())
        names = {"path": case.get("path", "manifest.yaml")} | {s: str(f) for s, f in at.items()}
        words = [word.format_map(names) for word in shlex.split(command)]
        done = subprocess.run(words, capture_output=True, check=False)
        own_file = "-o {ours}" in command
        return done.returncode, at["ours"].read_bytes() if own_file else done.stdout


def same_data(one: bytes, other: bytes) -> bool:
    """Whether two texts are read as the same documents."""
    try:
        first, second = (list(yaml.load_all(text, Loader=_Strict)) for text in (one, other))
    except yaml.YAMLError:
        return False
    return first == second


class _Strict(yaml.SafeLoader):
    """Takes no key twice: a reader that does keeps one value and drops the other."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        keys = [
            (key.tag, key.value) for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"
        ]
        if len(keys) != len({str(key) for key in keys}):
            raise yaml.YAMLError("a key twice")
        return super().construct_mapping(node, deep=True)


if __name__ == "__main__":
    sys.exit(main())
