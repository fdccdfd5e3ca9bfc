"""What cannot be timed from outside: each action times itself and prints what was spent as JSON.

    python bench/inside.py merge BASE OURS THEIRS       the merge of three files, without the start
    python bench/inside.py events FILE...               libyaml reads the events of files
    python bench/inside.py patch COUNT                  so many strategic merge patches
    python bench/inside.py questions ANSWERS            `kmerge resolve` in a terminal
    python bench/inside.py share WORDS -- COMMAND...    the calls of git with a word in a command

`PYTHONPATH` names the tree that is timed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from timing import Spent, inside


def main(argv: list[str]) -> int:
    """Print what an action spent."""
    action, *words = argv
    print(json.dumps(asdict(ACTIONS[action](words))))
    return 0


def merge(files: list[str]) -> Spent:
    """Merge three files in this process, git's line merge made before."""
    from kmerge_git import merge_files

    base, ours, theirs = (Path(file).read_bytes() for file in files)
    command = ["git", "merge-file", "-p", "-q", files[1], files[0], files[2]]
    done = subprocess.run(command, capture_output=True, check=False)
    lines = done.stdout, done.returncode == 0

    def once() -> None:
        _ = merge_files(base, ours, theirs, path=files[0], line_merge=lambda *_: lines).text

    merge_files(
        b"a: 1\nb: 1\n", b"a: 2\nb: 1\n", b"a: 1\nb: 2\n", line_merge=lambda *_: (b"", False)
    )
    return inside(once)


def events(files: list[str]) -> Spent:
    """Let libyaml read the events of each file."""
    from yaml import CBaseLoader, parse

    texts = [Path(file).read_bytes() for file in files]

    def once() -> None:
        for text in texts:
            for _ in parse(text, Loader=CBaseLoader):
                pass

    return inside(once)


def patch(words: list[str]) -> Spent:
    """Apply a strategic merge patch to a Deployment, so many times."""
    from kmerge_git import Schema, apply_patch

    names = ("app", "proxy", "log")
    containers = [
        {
            "name": name,
            "image": f"{name}:1",
            "env": [{"name": f"E{n}", "value": str(n)} for n in range(10)],
            "ports": [{"containerPort": 80 + n, "protocol": "TCP"} for n in range(3)],
        }
        for name in names
    ]
    target = {"kind": "Deployment", "spec": {"template": {"spec": {"containers": containers}}}}
    changes = [
        {"name": "app", "image": "app:2", "env": [{"name": "E3", "value": "x"}]},
        {"name": "log", "$patch": "delete"},
    ]
    change = {"spec": {"replicas": 3, "template": {"spec": {"containers": changes}}}}
    schema = Schema.builtin("apps/v1", "Deployment")
    count = int(words[0])

    def often() -> None:
        for _ in range(count):
            apply_patch(target, change, schema)

    return inside(often)


def questions(words: list[str]) -> Spent:
    """Answer so many questions of `kmerge resolve` in a terminal, and kill it at the next."""
    answers = int(words[0])
    main_end, terminal = os.openpty()
    null = os.open(os.devnull, os.O_WRONLY)
    argv = [sys.executable, "-P", "-m", "kmerge_git", "resolve"]
    process = subprocess.Popen(argv, stdin=terminal, stdout=terminal, stderr=null)
    os.close(terminal)
    os.close(null)
    asked, told = 0, b""
    while asked <= answers:
        try:
            told += os.read(main_end, 65536)
        except OSError:  # it has ended
            break
        if b"?]" not in told:
            continue
        told = told[told.rindex(b"?]") + 2 :]
        asked += 1
        if asked > answers:
            process.send_signal(signal.SIGKILL)
        else:
            os.write(main_end, b"o")
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    os.close(main_end)
    if asked < answers:
        raise SystemExit(f"{asked} questions, not {answers}")
    return Spent(usage.ru_utime + usage.ru_stime, 0.0, 0.0)


# Stands in for git: notes the CPU of the calls with a word, in seconds.
STAND_IN = """\
#!/bin/bash
case " $* " in
*" {word} "*) ;;
*) exec "{git}" "$@" ;;
esac
exec 3>&1 4>&2
TIMEFORMAT='%U %S'
{{ time "{git}" "$@" 1>&3 2>&4 3>&- 4>&-; }} 2>>"{log}"
"""


def share(words: list[str]) -> Spent:
    """Return what a command's own calls of git with a word take, `merge-tree` for example."""
    word, _, *command = words
    found = subprocess.check_output(["sh", "-c", "command -v git"], text=True).strip()
    with tempfile.TemporaryDirectory() as name:
        log, stand_in = Path(name, "log"), Path(name, "git")
        stand_in.write_text(STAND_IN.format(word=word, git=found, log=log))
        stand_in.chmod(0o755)
        path = name + os.pathsep + os.environ["PATH"]
        quiet = subprocess.DEVNULL
        done = subprocess.run(
            command, env={**os.environ, "PATH": path}, stdout=quiet, stderr=quiet, check=False
        )
        if done.returncode not in (0, 1, 3):
            raise SystemExit(f"exit {done.returncode}: {command}")
        lines = log.read_text().splitlines() if log.exists() else []
    seconds = sum(sum(map(float, line.split())) for line in lines)
    return Spent(seconds, seconds, 0.0)


ACTIONS: dict[str, Callable[[list[str]], Spent]] = {
    "merge": merge,
    "events": events,
    "patch": patch,
    "questions": questions,
    "share": share,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
