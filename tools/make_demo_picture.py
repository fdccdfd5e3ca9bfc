#!/usr/bin/env python3
"""Draw docs/demo.svg and docs/resolve.svg: real merges in scratch repositories.

    python tools/make_demo_picture.py            # writes both
    python tools/make_demo_picture.py FOLDER     # the same, into another folder

The first is a merge with git alone beside one with kmerge, the second `kmerge resolve` at work in
a terminal. Run it with the interpreter of an environment that has the package, on a system with
pseudo-terminals. What the pictures show is what the programs printed and wrote, and nothing else;
names and dates are fixed, so the same versions of git and kmerge draw the same pictures.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
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
BOLD = ' font-weight="bold"'
COLOURS = {
    "$": "#7ee787",  # commands
    "bad": "#ff7b72",  # what git stopped at
    "ours": "#79c0ff",
    "theirs": "#d2a8ff",
    "": "#c9d1d9",
}


def main(argv: list[str]) -> int:
    """Write the pictures."""
    target = Path(argv[0]) if argv else ROOT / "docs"
    with tempfile.TemporaryDirectory() as folder:
        alone = session(Path(folder) / "git", with_kmerge=False)
        merged = session(Path(folder) / "kmerge", with_kmerge=True)
        asked = questions(Path(folder) / "resolve")
    for name, text in (("demo", picture(alone, merged)), ("resolve", one_terminal(asked))):
        (target / f"{name}.svg").write_text(text, encoding="utf-8")
        print(f"wrote {target / name}.svg")
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


# What is left when both sides changed the same fields, and the keys that settle it.
CHANGED = (
    BASE + "          args:\n            - --verbose\n",
    BASE.replace("web:1.4", "web:1.5").replace("3  #", "5  #")
    + "          args:\n            - --verbose\n            - --cache=redis\n",
    BASE.replace("web:1.4", "web:1.10").replace("3  #", "4  #")
    + "          args:\n            - --verbose\n            - --trace\n",
)
KEYS = "thb"


def questions(home: Path) -> list[str]:
    """The lines of a terminal in which `kmerge resolve` asks, with their colours."""
    repo = home / "repo"
    repo.mkdir(parents=True)
    run = Shell(home, repo)
    run("git", "init", "-q", ".")
    run("git", "symbolic-ref", "HEAD", "refs/heads/main")
    base, ours, theirs = CHANGED
    commit(run, base, "web: a deployment")
    run("git", "checkout", "-q", "-b", "release")
    commit(run, theirs, "web: 1.10, traced")
    run("git", "checkout", "-q", "main")
    commit(run, ours, "web: 1.5 with a cache")
    run(sys.executable, "-m", "kmerge_git", "merge", "-q", "release")
    shown = in_a_terminal(run, [sys.executable, "-m", "kmerge_git", "resolve"], KEYS)
    return ["$ kmerge resolve", *shown, "$ git commit"]


def in_a_terminal(run: Shell, argv: list[str], keys: str) -> list[str]:
    """What a program prints that is asked for keys, one at each prompt."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = run.env | {"TERM": "xterm"}
    env.pop("NO_COLOR", None)
    done = subprocess.Popen(
        argv, cwd=run.repo, env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    told, left = "", list(keys)
    while done.poll() is None or select.select([master], [], [], 0)[0]:
        if select.select([master], [], [], 0.05)[0]:
            told += os.read(master, 65536).decode()
        if left and re.search(r"\?\](\x1b\[0m)? $", told):
            told += f"\x1b[1m{left[0]}\x1b[0m "
            os.write(master, left.pop(0).encode())
    os.close(master)
    os.close(slave)
    if done.returncode:
        raise SystemExit(f"`{' '.join(argv)}` ended with {done.returncode}: {told}")
    return told.replace("\r\n", "\n").splitlines()


def one_terminal(lines: list[str]) -> str:
    """A terminal with its colours, as SVG."""
    columns = max(len(_PAINT.sub("", line)) for line in lines)
    width = round(columns * WIDTH) + 2 * LEFT
    height = TOP - 26 + LINE * len(lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 24}" height="{height + 24}" '
        f'viewBox="0 0 {width + 24} {height + 24}" role="img" aria-labelledby="t">',
        '<title id="t">kmerge resolve asks about three fields that both sides changed, and stages '
        "the file</title>",
        "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',"
        "monospace;white-space:pre}</style>",
        f'<rect x="12" y="12" width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
    ]
    for number, line in enumerate(lines):
        y = TOP - 20 + LINE * number
        shown = painted(line) if not line.startswith("$") else [(line, COLOURS["$"], False)]
        spans = "".join(
            f'<tspan fill="{fill}"{BOLD if bold else ""}>{escape(text)}</tspan>'
            for text, fill, bold in shown
        )
        parts.append(f'<text x="{12 + LEFT}" y="{y}">{spans or " "}</text>')
    return "\n".join([*parts, "</svg>", ""])


_PAINT = re.compile(r"\x1b\[(\d+)m")
ANSI = {"2": "#8b949e", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff"}


def painted(line: str) -> list[tuple[str, str, bool]]:
    """The parts of a line, each with its colour and whether it is bold."""
    parts = _PAINT.split(line)
    found = [(parts[0], COLOURS[""], False)]
    for code, text in zip(parts[1::2], parts[2::2], strict=True):
        found.append((text, ANSI.get(code, COLOURS[""]), code == "1"))
    return [part for part in found if part[0]]


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
