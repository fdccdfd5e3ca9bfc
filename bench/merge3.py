"""merge3 of a bundle beside `git merge-file`: CPU time on the same three files, in one run.

    python bench/merge3.py [--rounds N] [--json]

The bundle has 1,000 documents (1 MB); 20 of them are changed on each side, and no two changes
touch. Both are measured as whole processes, start to end: user and system time of the child. The
same merge of 10,000 documents shows how the time grows.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHANGED = 20  # documents on each side
BARS = {"to git": 10.0, "growth": 12.0}

DOCUMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: service-{n}
  namespace: team-{team}
  labels:
    app: service-{n}
    team: team-{team}
  annotations:
    example.com/owner: "team-{team}@example.com"
spec:
  replicas: {replicas}
  selector:
    matchLabels:
      app: service-{n}
  template:
    metadata:
      labels:
        app: service-{n}
    spec:
      containers:
      - name: app  # the service
        image: registry.example.com/team-{team}/service-{n}:{tag}
        args: ["--listen=:8080", "--shard={n}"]
        ports:
        - containerPort: 8080
          name: http
        env:
        - name: LOG_LEVEL
          value: {level}
        - name: SHARD
          value: "{n}"
        resources:
          limits:
            cpu: 500m
            memory: 256Mi
        readinessProbe:
          httpGet:
            path: /healthz
            port: http
          periodSeconds: 10
"""


def bundle(count: int, side: str) -> str:
    """A stream of documents; each side changes the same documents at different fields."""
    step = count // CHANGED
    documents = []
    for n in range(count):
        changed = n % step == 0
        fields = {
            "tag": "1.1.0" if changed and side == "updated" else "1.0.0",
            "replicas": 3 if changed and side == "dest" else 1,
            "level": "info",
        }
        if (side == "updated" and n % step == 1) or (side == "dest" and n % step == 2):
            fields["level"] = side  # documents that one side alone changed
        documents.append(DOCUMENT.format(n=n, team=n % 17, **fields))
    return "---\n".join(documents)


def write(folder: Path, count: int) -> list[str]:
    """The three files: original, updated, dest."""
    paths = []
    for side in ("original", "updated", "dest"):
        path = folder / f"{side}-{count}.yaml"
        path.write_text(bundle(count, side))
        paths.append(str(path))
    return paths


def merge3(paths: list[str]) -> list[str]:
    original, updated, dest = paths
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r});"
        "from kmerge_git.cli.main import main; raise SystemExit(main())"
    )
    names = ["--original", original, "--updated", updated, "--dest", dest]
    return [sys.executable, "-c", code, "merge3", *names, "-o", f"{dest}.out"]


def merge_file(paths: list[str]) -> list[str]:
    original, updated, dest = paths
    return ["git", "merge-file", "-p", dest, original, updated]


def cpu(command: list[str], rounds: int, cache: str) -> float:
    """Seconds of CPU of one process: the best of some rounds, after one that fills the caches."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment["PYTHONPYCACHEPREFIX"] = cache
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False, env=environment)
    best = float("inf")
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime - before.ru_utime
        used += after.ru_stime - before.ru_stime
        best = min(best, used)
    return best


def inside(paths: list[str], rounds: int) -> float:
    """Seconds of CPU of the merge alone, in this process."""
    sys.path.insert(0, str(ROOT))
    from kmerge_git.merge.kyaml.kyaml_merges import merge3_bytes
    from kmerge_git.merge.three import Three

    base, theirs, ours = (Path(path).read_bytes() for path in paths)
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        merge3_bytes(Three(base, ours, theirs))
        best = min(best, time.process_time() - start)
    return best


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--json", action="store_true", help="print one JSON object")
    options = arguments.parse_args()
    results: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        small, large = (write(Path(folder), count) for count in (1_000, 10_000))
        results["size MB"] = round(os.path.getsize(small[0]) / 1e6, 2)
        results["merge3 s"] = cpu(merge3(small), options.rounds, folder)
        results["git s"] = cpu(merge_file(small), options.rounds, folder)
        results["merge alone s"] = inside(small, options.rounds)
        results["python s"] = cpu([sys.executable, "-c", "pass"], options.rounds, folder)
        results["merge3 x10 s"] = cpu(merge3(large), max(1, options.rounds // 2), folder)
        results["to git"] = results["merge3 s"] / results["git s"]
        results["growth"] = results["merge3 x10 s"] / results["merge3 s"]
        results["growth alone"] = inside(large, 1) / results["merge alone s"]
    if options.json:
        print(json.dumps({"results": results, "bars": BARS}, indent=2))
    else:
        for name, value in results.items():
            bar = f"  (at most {BARS[name]:.0f})" if name in BARS else ""
            print(f"{name:14} {value:8.3f}{bar}")
    return 0 if all(results[name] <= bar for name, bar in BARS.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
