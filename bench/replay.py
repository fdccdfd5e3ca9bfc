"""Replay in one process: files a second, and memory over many files.

    python bench/replay.py [FILES]

Makes a repository of merges in a temporary directory, each with 50 files of about 5 KB that both
sides changed, and replays it in one process: the rate, and the peak memory after a tenth of the
files and at the end, to see that it does not grow with them. A bare loop is timed in the same
run, so that figures of two machines can be compared.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

PER_MERGE = 50
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "PATH": os.environ["PATH"],
}


def manifest(number: int, replicas: int, image: str, extra: str) -> str:
    """A Deployment and a ConfigMap, about 5 KB together."""
    containers = "".join(
        f"      - name: c{index}\n"
        f"        image: registry.example.com/team/service-{number}-{index}:{image}\n"
        "        ports:\n"
        f"        - containerPort: {8000 + index}\n"
        "          name: http\n"
        "        resources:\n"
        "          requests: {cpu: 100m, memory: 128Mi}\n"
        "        readinessProbe:\n"
        "          httpGet:\n"
        "            path: /healthz\n"
        f"            port: {8000 + index}\n"
        "        env:\n"
        f'        - name: INDEX\n          value: "{index}"\n' + (extra if index == 1 else "")
        for index in range(6)
    )
    notes = "".join(f"    line {line} of a text that nobody changes\n" for line in range(40))
    return (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n"
        f"  name: app-{number}\nspec:\n  replicas: {replicas}\n  template:\n    spec:\n"
        f"      containers:\n{containers}---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n"
        f"  name: app-{number}\ndata:\n  notes: |\n{notes}"
    )


def history(files: int) -> Iterator[str]:
    """A stream for `git fast-import`: one merge after the other."""
    env = '        - name: {0}\n          value: "1"\n'
    mark = 0
    for start in range(0, files, PER_MERGE):
        numbers = range(start, min(start + PER_MERGE, files))
        versions = (
            [manifest(n, 1, "1.0", "") for n in numbers],
            [manifest(n, 2, "1.0", env.format("OURS")) for n in numbers],
            [manifest(n, 1, "1.1" if n % 2 else "1.0", env.format("THEIRS")) for n in numbers],
            [
                manifest(n, 2, "1.1" if n % 2 else "1.0", env.format("OURS") + env.format("THEIRS"))
                for n in numbers
            ],
        )
        parents = ([mark] if mark else [], [mark + 1], [mark + 1], [mark + 2, mark + 3])
        for texts, before in zip(versions, parents, strict=True):
            mark += 1
            yield f"commit refs/heads/main\nmark :{mark}\ncommitter A <a@b> 1700000000 +0000\n"
            yield "data 1\nx\n"
            yield "".join(
                f"{word} :{parent}\n"
                for word, parent in zip(("from", "merge"), before, strict=False)
            )
            yield "deleteall\n"
            for number, text in zip(numbers, texts, strict=True):
                yield f"M 100644 inline apps/{number % 50}/app-{number}.yaml\n"
                yield f"data {len(text)}\n{text}\n"


def make(directory: Path, files: int) -> None:
    """Write the repository."""
    subprocess.run(["git", "init", "-q", "-b", "main", directory], check=True, env=ENVIRONMENT)
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=directory,
        input="".join(history(files)).encode(),
        check=True,
        env=ENVIRONMENT,
    )


def measure(directory: Path) -> None:
    """Replay all merges in this process; prints the figures."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.replay.past_merges import Replayer
    from kmerge_git.replay.tally import Tally
    from kmerge_git.whole.both_merges import collect_rarely

    repository = Repository.open(str(directory))
    replayer, tally = Replayer(repository), Tally()
    collect_rarely()  # as the command does
    sizes = []
    start = time.process_time()
    for oid in repository.merge_commits("HEAD"):
        tally.add(replayer.merge(oid))
        sizes.append(_peak())
    seconds = time.process_time() - start
    files = tally.counts["files"]
    tenth = sizes[len(sizes) // 10]
    loop = _loop()
    print(f"{files} files: {seconds:.1f} s CPU, {files / seconds:.0f} files/s on one core")
    print(f"a file costs as much as {seconds / files / loop:.2f} x sum(range(100_000))")
    print(
        f"peak memory: {tenth:.0f} MiB after a tenth of the files, {sizes[-1]:.0f} MiB at the end"
    )
    print(f"resolved: {tally.counts['resolved']} of {tally.counts['git_conflicts']} conflicts")


def _peak() -> float:
    """The peak memory of this process in MiB; `ru_maxrss` would begin with the parent's."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _loop() -> float:
    """The time of a bare loop here and now: a busy machine is slow at everything."""
    start = time.process_time()
    for _ in range(50):
        sum(range(100_000))
    return (time.process_time() - start) / 50


def main() -> None:
    """Make, measure, and say how fast this machine is."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="?", type=int, default=10_000, help="default: 10,000")
    parser.add_argument("--measure", type=Path, help="the replay of a repository alone")
    args = parser.parse_args()
    if args.measure:
        measure(args.measure)
        return
    files = args.files
    print(f"a manifest: {len(manifest(1, 1, '1.0', ''))} bytes")
    with tempfile.TemporaryDirectory() as temporary:
        make(Path(temporary), files)
        # a process of its own: its memory is that of the replay alone
        argv = [sys.executable, __file__, "--measure", temporary]
        subprocess.run(argv, check=True)


if __name__ == "__main__":
    main()
