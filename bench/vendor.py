"""An update of a vendored package beside `git merge` of the same: CPU time, in one run.

    python bench/vendor.py [--rounds N] [--json]

The package has 500 files. Upstream changed 20 of them, so did the local copy; 10 are the same
files, changed at other fields. `kmerge vendor update` brings the new release into the copy;
`git merge` does it in a repository where the copy is a branch of upstream, alone and with the
driver. All are measured as whole processes with their children. A package of the same 500 files
with 20 documents each shows the memory that 10,000 documents take.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from merge3 import DOCUMENT

ROOT = Path(__file__).resolve().parent.parent
FILES, CHANGED = 500, 20
BARS = {"to git": 3.0, "peak MiB": 300.0}
START = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r});"
    "from kmerge_git.cli.main import main; raise SystemExit(main())"
)


def main() -> int:
    """Print the figures, and whether they hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(sealed(folder))
        results = measure(Path(folder) / "small", 1, options.rounds)
        large = measure(Path(folder) / "large", 20, 1)
    results["10,000 documents s"] = large["update s"]
    results["10,000 documents git s"] = large["git s"]
    results["peak MiB"] = large["peak MiB"]
    if options.json:
        print(json.dumps({"results": results, "bars": BARS}, indent=2))
    else:
        for name, value in results.items():
            bar = f"  (at most {BARS[name]:.0f})" if name in BARS else ""
            print(f"{name:24} {value:8.3f}{bar}")
    return 0 if all(results[name] <= bar for name, bar in BARS.items()) else 1


def measure(folder: Path, documents: int, rounds: int) -> dict[str, float]:
    """Medians of interleaved rounds: the update, the merge, a bare interpreter."""
    names = "upstream", "vendored", "branch", "driven"
    upstream, vendored, branch, with_driver = (folder / name for name in names)
    release(upstream, documents, "v1", set(), {})
    release(upstream, documents, "v2", set(range(0, FILES, FILES // CHANGED)), {"tag": "1.1.0"})
    make_copy(upstream, vendored, documents)
    make_branch(upstream, branch, documents)
    make_branch(upstream, with_driver, documents)
    install = [sys.executable, "-c", START, "install"]
    subprocess.run(install, cwd=with_driver, check=True, capture_output=True)
    update = [sys.executable, "-c", START, "vendor", "update", "app", "--ref", "v2"]
    merge = ["git", "merge", "-q", "--no-edit", "v2"]
    used: dict[str, list[float]] = {}
    peak = 0.0
    for number in range(rounds + 1):
        for command, repository, name in (
            (update, vendored, "update s"),
            (merge, branch, "git s"),
            (merge, with_driver, "git with the driver s"),
            ([sys.executable, "-I", "-c", "pass"], branch, "python s"),
        ):
            git(repository, "reset", "-q", "--hard", "local")
            git(repository, "clean", "-qfdx")
            seconds, memory = run(command, repository)
            if number:  # the first fills the caches
                used.setdefault(name, []).append(seconds)
            if command is update:
                peak = max(peak, memory)
    results = {name: statistics.median(values) for name, values in used.items()}
    results["to git"] = results["update s"] / results["git s"]
    results["to git with the driver"] = results["update s"] / results["git with the driver s"]
    results["peak MiB"] = peak
    return results


def release(upstream: Path, documents: int, tag: str, which: set[int], fields: dict) -> None:
    """A release of the package, with some of its files changed."""
    if not upstream.exists():
        git(None, "init", "-q", str(upstream))
    write(upstream, documents, which, fields)
    commit(upstream, tag)
    git(upstream, "tag", tag)


def make_copy(upstream: Path, vendored: Path, documents: int) -> None:
    """A repository with the package in it, vendored and changed locally."""
    git(None, "init", "-q", str(vendored))
    add = [sys.executable, "-c", START, "vendor", "add", str(upstream), "app", "--ref", "v1"]
    subprocess.run(add, cwd=vendored, check=True, capture_output=True)
    change_locally(vendored / "app", documents)
    commit(vendored, "local")
    git(vendored, "tag", "local")


def make_branch(upstream: Path, branch: Path, documents: int) -> None:
    """A clone of upstream with the same local changes on a branch of the first release."""
    git(None, "clone", "-q", str(upstream), str(branch))
    git(branch, "checkout", "-q", "-B", "mine", "v1")
    change_locally(branch, documents)
    commit(branch, "local")
    git(branch, "tag", "local")


def change_locally(folder: Path, documents: int) -> None:
    """Change every second file that upstream changes, and as many others."""
    step = FILES // CHANGED
    which = set(range(0, FILES, 2 * step)) | set(range(1, FILES, 2 * step))
    write(folder, documents, which, {"replicas": 3})


def write(folder: Path, documents: int, which: set[int], fields: dict) -> None:
    """The files of the package in folders of 25."""
    for number in range(FILES):
        path = folder / f"team-{number // 25}" / f"service-{number}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = []
        for n in range(documents):
            values = {"tag": "1.0.0", "replicas": 1, "level": "info"}
            if number in which:
                values |= fields
            texts.append(DOCUMENT.format(n=number * documents + n, team=number // 25, **values))
        path.write_text("---\n".join(texts))


def commit(repository: Path, message: str) -> None:
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", message)


def git(repository: Path | None, *args: str) -> None:
    subprocess.run(["git", *args], cwd=repository, check=True, stdout=subprocess.DEVNULL)


def run(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds of CPU of one process with its children, and the largest memory of one in MiB."""
    complaints = folder.parent / "stderr"
    process = os.posix_spawnp(
        "sh",
        ["sh", "-c", 'cd "$0" && exec "$@"', str(folder), *command],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, str(complaints), os.O_CREAT | os.O_WRONLY, 0o644),
        ],
    )
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(complaints.read_text())
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def sealed(folder: str) -> dict[str, str]:
    """An environment with a home of its own, and bytecode that is kept there."""
    home = Path(folder) / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = a\n\temail = a@example.com\n")
    shutil.rmtree(home / ".cache", ignore_errors=True)
    return {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode"),
        "PYTHONDONTWRITEBYTECODE": "",
    }


if __name__ == "__main__":
    sys.exit(main())
