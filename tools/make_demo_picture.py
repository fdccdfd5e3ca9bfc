#!/usr/bin/env python3
"""Draw docs/demo.svg: a real merge in a scratch repository, git alone beside kmerge.

    python tools/make_demo_picture.py            # writes docs/demo.svg
    python tools/make_demo_picture.py FILE.svg

Run it with the interpreter of an environment that has the package. What the picture shows is what
git printed and wrote, and nothing else; names and dates are fixed, so the same versions of git and
kmerge draw the same picture.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3  # sized for the sale
  template:
    spec:
      containers:
        - name: web
          image: example/web:1.4
          env:
            - name: LOG_LEVEL
              value: info
"""
OURS = BASE.replace("3  #", "5  #") + "            - name: REGION\n              value: eu\n"
THEIRS = BASE + "            - name: CACHE\n              value: redis\n"

WIDTH, LINE, LEFT, TOP = 8.4, 19, 18, 58  # of a character, of a line, of the margins
COLUMNS = 58
COLOURS = {
    "$": "#7ee787",  # commands
    "bad": "#ff7b72",  # what git stopped at
    "ours": "#79c0ff",
    "theirs": "#d2a8ff",
    "": "#c9d1d9",
}


def main(argv: list[str]) -> int:
    """Write the picture."""
    target = Path(argv[0]) if argv else ROOT / "docs" / "demo.svg"
    with tempfile.TemporaryDirectory() as folder:
        alone = session(Path(folder) / "git", with_kmerge=False)
        merged = session(Path(folder) / "kmerge", with_kmerge=True)
    target.write_text(picture(alone, merged), encoding="utf-8")
    print(f"wrote {target}")
    return 0


def session(home: Path, *, with_kmerge: bool) -> list[str]:
    """The lines of a terminal in which the merge is made."""
    repo = home / "repo"
    repo.mkdir(parents=True)
    run = Shell(home, repo)
    run("git", "init", "-q", ".")
    run("git", "symbolic-ref", "HEAD", "refs/heads/main")
    commit(run, BASE, "web: a deployment")
    run("git", "branch", "add-cache")
    commit(run, OURS, "web: five replicas, a region")
    run("git", "checkout", "-q", "add-cache")
    commit(run, THEIRS, "web: a cache")
    run("git", "checkout", "-q", "main")
    shown: list[str] = []
    if with_kmerge:
        run(sys.executable, "-m", "kmerge_git", "install")
        shown += ["$ kmerge install"]
    shown += ["$ git merge add-cache", *run("git", "merge", "--no-edit", "add-cache")]
    text = (repo / "web.yaml").read_text().splitlines()
    return [*shown, "", "$ tail -n +5 web.yaml", *text[4:]]


def commit(run: Shell, text: str, subject: str) -> None:
    """Commit the manifest."""
    (run.repo / "web.yaml").write_text(text)
    run("git", "add", "web.yaml")
    run("git", "commit", "-q", "-m", subject)


class Shell:
    """Runs commands that see nothing of the caller's git configuration."""

    def __init__(self, home: Path, repo: Path) -> None:
        self.repo = repo
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "KMERGE"))}
        person = {"NAME": "Demo", "EMAIL": "demo@example.com", "DATE": "2026-01-01T00:00:00Z"}
        who = {f"GIT_{r}_{k}": v for r in ("AUTHOR", "COMMITTER") for k, v in person.items()}
        sealed = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "LC_ALL": "C"}
        git = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1", "COLUMNS": str(COLUMNS)}
        self.env = kept | who | sealed | git | {"PYTHONPATH": str(ROOT)}

    def __call__(self, *argv: str) -> list[str]:
        """The lines that a command prints."""
        out, err = subprocess.PIPE, subprocess.STDOUT
        done = subprocess.run(
            argv, cwd=self.repo, env=self.env, stdout=out, stderr=err, text=True, check=False
        )
        if done.returncode and "merge" not in argv:
            raise SystemExit(f"`{' '.join(argv)}` failed: {done.stdout}")
        return done.stdout.splitlines()


def picture(alone: list[str], merged: list[str]) -> str:
    """Both terminals side by side, as SVG."""
    panes = [folded(alone), folded(merged)]
    pane = round(COLUMNS * WIDTH) + 2 * LEFT
    height = TOP + LINE * max(map(len, panes)) + 14
    width = 2 * pane + 3 * 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 24}" '
        f'viewBox="0 0 {width} {height + 24}" role="img" aria-labelledby="t">',
        '<title id="t">The same merge with git alone, which stops with a conflict, and with '
        "kmerge, which merges it</title>",
        "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',"
        "monospace;white-space:pre}.h{font-weight:bold}</style>",
    ]
    for number, (title, lines) in enumerate(zip(("git alone", "with kmerge"), panes, strict=True)):
        x = 12 + number * (pane + 12)
        parts.append(
            f'<rect x="{x}" y="12" width="{pane}" height="{height}" rx="8" fill="#0d1117"/>'
        )
        parts.append(f'<text class="h" x="{x + LEFT}" y="40" fill="#f0f6fc">{title}</text>')
        parts += spelled(lines, x + LEFT)
    return "\n".join([*parts, "</svg>", ""])


def folded(lines: list[str]) -> list[str]:
    """No line is longer than the terminal."""
    return [line[i : i + COLUMNS] for line in lines for i in range(0, len(line) or 1, COLUMNS)]


def spelled(lines: list[str], x: int) -> list[str]:
    """The lines as text elements, each side's additions in a colour of their own."""
    parts = []
    sides = {t.strip(): s for s, text in (("ours", OURS), ("theirs", THEIRS)) for t in added(text)}
    for number, line in enumerate(lines):
        kind = sides.get(line.strip(), "")
        if line.startswith("$"):
            kind = "$"
        elif line.startswith(("<<<<<<<", "=======", ">>>>>>>", "CONFLICT", "Automatic merge fai")):
            kind = "bad"
        y = TOP + LINE * (number + 1)
        fill = COLOURS[kind]
        parts.append(f'<text x="{x}" y="{y}" fill="{fill}">{escape(line) or " "}</text>')
    return parts


def added(text: str) -> list[str]:
    """The lines of a version that the base does not have."""
    return [line for line in text.splitlines() if line not in BASE.splitlines()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
