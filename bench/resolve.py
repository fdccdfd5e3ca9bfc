"""`kmerge resolve` in a terminal: CPU until the first question, and from one question to the next.

    python bench/resolve.py [--rounds N] [--files N]

100 conflicts in 40 files of 5 KB, left by a merge without the driver. Whole processes with their
children, the best of all rounds: killed at the first question, and with an answer to every one.
See bench/README.md.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from driver import ROOT, deployment

BAR, EACH = 0.6, 0.05
RESOLVE = [sys.executable, "-m", "kmerge_git", "resolve"]


def main() -> int:
    """Print both figures; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=40)
    given = parser.parse_args()
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(ROOT / "kmerge_git")], check=True)
    os.environ.update(
        {
            "PYTHONPATH": str(ROOT),
            "TERM": "xterm",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            **{f"GIT_{who}_NAME": "bench" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "bench@example.invalid" for who in ("AUTHOR", "COMMITTER")},
        }
    )
    first, whole, asked = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        repo, count = repository(Path(folder), given.files)
        for _ in range(given.rounds):
            first.append(in_a_terminal(repo, 0)[0])
            seconds, asked = in_a_terminal(repo, count)
            whole.append(seconds)
            subprocess.run(["git", "reset", "-q", "--hard"], cwd=repo, check=True)
            subprocess.run(
                ["git", "merge", "-q", "side"], cwd=repo, capture_output=True, check=False
            )
    each = (min(whole) - min(first)) / asked
    print(f"{count} conflicts in {given.files} files, {asked} asked")
    print(f"first question {min(first) * 1000:6.0f} ms  <= {BAR * 1000:.0f}")
    print(f"every other    {each * 1000:6.1f} ms  <= {EACH * 1000:.0f}, with what is written")
    return int(min(first) > BAR or each > EACH)


def in_a_terminal(repo: Path, answers: int) -> tuple[float, int]:
    """CPU seconds of a session with so many answers, and how often it asked."""
    master, slave = os.openpty()
    null = os.open(os.devnull, os.O_WRONLY)
    done = subprocess.Popen(RESOLVE, cwd=repo, stdin=slave, stdout=slave, stderr=null)
    os.close(slave)
    os.close(null)
    asked, told = 0, b""
    while asked <= answers:
        try:
            told += os.read(master, 65536)
        except OSError:  # it has ended
            break
        if b"?]" not in told:
            continue
        told = told[told.rindex(b"?]") + 2 :]
        asked += 1
        if asked > answers:
            done.send_signal(signal.SIGKILL)
        else:
            os.write(master, b"o")
    _, _, usage = os.wait4(done.pid, 0)
    done.returncode = 0
    os.close(master)
    return usage.ru_utime + usage.ru_stime, asked


def repository(folder: Path, files: int) -> tuple[Path, int]:
    """Files whose image and replicas both sides changed, and a label in every other; how many."""

    def git(*argv: str) -> None:
        subprocess.run(["git", *argv], cwd=folder, check=True, capture_output=True)

    def change(number: int) -> None:
        for n, file in enumerate(sorted(folder.glob("*.yaml"))):
            text = file.read_text().replace("image: app:1", f"image: app:1.{number}")
            text = text.replace("replicas: 3", f"replicas: {number}")
            if n % 2:
                text = text.replace("    V7: v7", f"    V7: other{number}")
            file.write_text(text)
        git("commit", "-q", "-a", "-m", f"change {number}")

    git("init", "-q", "-b", "main")
    git("config", "gc.auto", "0")
    text = deployment("web", 60)
    for number in range(files):
        (folder / f"f{number}.yaml").write_text(text.replace("name: web", f"name: web{number}"))
    git("add", "-A")
    git("commit", "-q", "-m", "base")
    git("checkout", "-q", "-b", "side")
    change(5)
    git("checkout", "-q", "main")
    change(6)
    subprocess.run(["git", "merge", "-q", "side"], cwd=folder, capture_output=True, check=False)
    return folder, 2 * files + files // 2


if __name__ == "__main__":
    raise SystemExit(main())
