"""`kmerge merge` beside `git merge`: whole-process CPU with all children, medians.

    python bench/merge.py              both rows
    python bench/merge.py --rounds 9
    python bench/merge.py --against TREE      the same command of another tree beside this one's

Two repositories: 200 files of 5 KB that both sides changed, beside `git merge` with the registered
driver; and 20,000 files, 5 of them changed by both sides, beside `git merge` alone and a bare
interpreter. Rounds are interleaved. See bench/README.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from driver import ROOT, deployment, run, template

from kmerge_git.git.driver_lines import driver_line

KMERGE = [sys.executable, "-m", "kmerge_git", "merge", "-q", "side"]
Edits = tuple[tuple[str, str], tuple[str, str]]  # of theirs and of ours: what becomes what
LINES = ("V7: v7", "V7: other"), ("replicas: 3", "replicas: 5")
_DEBUG = "            {{- if .Values.debug }}\n"
BLOCKS = (
    ("{{- if .Values.debug }}\n", "{{- if or .Values.debug .Values.trace }}\n"),
    (_DEBUG, "            - name: OURS\n              value: a\n" + _DEBUG),
)
PASS = [sys.executable, "-I", "-c", "pass"]


def main() -> int:
    """Print the table of both rows; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path, metavar="TREE", help="a checkout to compare with")
    args = parser.parse_args()
    rounds = args.rounds
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(ROOT / "kmerge_git")], check=True)
    os.environ.update(
        {
            "PYTHONPATH": str(ROOT),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            **{f"GIT_{who}_NAME": "bench" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "bench@example.invalid" for who in ("AUTHOR", "COMMITTER")},
        }
    )
    if args.against:
        return between_trees(args.against, rounds)
    driver = ["-c", "merge.kmerge.name=x", "-c", f"merge.kmerge.driver={driver_line()}"]
    with tempfile.TemporaryDirectory() as folder:
        small = repository(Path(folder) / "small", 200, 200)
        git = ["git", *driver, "merge", "-q", "--no-edit", "side"]
        ours, theirs = interleaved(small, [KMERGE, git], rounds)
        missed = row(
            "200 files, both sides / git merge with the driver", ours, theirs, 0.45 * theirs
        )
        large = repository(Path(folder) / "large", 20_000, 5)
        alone = ["git", "merge", "-q", "--no-edit", "side"]
        ours, theirs, empty = interleaved(large, [KMERGE, alone, PASS], rounds)
        bar = theirs + 25 * empty
        missed |= row("20,000 files, 5 changed / git merge + 25 x pass", ours, bar, bar)
    return int(missed)


def between_trees(tree: Path, rounds: int) -> int:
    """Print the medians of both trees' commands, and new / old."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        commands = [kmerge_of(root, folder / name) for name, root in (("new", ROOT), ("old", tree))]
        repositories = {
            "200 files, both sides": repository(folder / "small", 200, 200),
            "200 templates, git's lines conflict": repository(
                folder / "chart", 200, 200, template(40), BLOCKS
            ),
            "20,000 files, 5 changed": repository(folder / "large", 20_000, 5),
        }
        for name, repo in repositories.items():
            new, old = interleaved(repo, commands, rounds)
            print(f"{name:52} {new * 1000:7.0f}ms {old * 1000:7.0f}ms {new / old:6.2f}")
    return 0


def kmerge_of(tree: Path, folder: Path) -> list[str]:
    """The command of a copy of a tree's package."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(tree / "kmerge_git", folder / "kmerge_git", ignore=ignored)
    subprocess.run([sys.executable, "-m", "compileall", "-q", folder], check=True)
    return ["env", f"PYTHONPATH={folder}", *KMERGE]


def row(name: str, ours: float, beside: float, bar: float) -> bool:
    """Print a row; whether the bar is missed."""
    print(
        f"{name:52} {ours * 1000:7.0f}ms {beside * 1000:7.0f}ms {ours / beside:6.2f}"
        f"  <= {bar / beside:.2f}"
    )
    return ours > bar


def repository(
    folder: Path, count: int, changed: int, text: str = deployment("web", 60), edits: Edits = LINES
) -> Path:
    """Files of 5 KB on two branches, some of them changed on both."""

    def git(*argv: str) -> None:
        subprocess.run(["git", *argv], cwd=folder, check=True, capture_output=True)

    def change(old: str, new: str, message: str) -> None:
        for number in range(changed):
            file = folder / f"{number // 100}" / f"f{number}.yaml"
            file.write_text(file.read_text().replace(old, new))
        git("commit", "-q", "-a", "-m", message)

    folder.mkdir()
    git("init", "-q", "-b", "main")
    git("config", "gc.auto", "0")
    (folder / ".git" / "info" / "attributes").write_text("*.yaml merge=kmerge\n")
    for number in range(count):
        file = folder / f"{number // 100}" / f"f{number}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text.replace("name: web", f"name: web{number}"))
    git("add", "-A")
    git("commit", "-q", "-m", "base")
    git("checkout", "-q", "-b", "side")
    change(*edits[0], "theirs")
    git("checkout", "-q", "main")
    change(*edits[1], "ours")
    git("tag", "start")
    return folder


def interleaved(repo: Path, commands: list[list[str]], rounds: int) -> list[float]:
    """The medians of commands that take turns; every one begins at the same commit."""
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds):
        for command, found in zip(commands, times, strict=True):
            subprocess.run(["git", "reset", "-q", "--hard", "start"], cwd=repo, check=True)
            cpu, _, code = run(command, repo)
            assert code == 0, (code, command)
            found.append(cpu)
    return [statistics.median(found) for found in times]


if __name__ == "__main__":
    raise SystemExit(main())
