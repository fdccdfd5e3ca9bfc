"""Strategic merge patch: growth with the size of a list, and calls against kubectl processes.

    python bench/patch.py [--calls N] [--json]

Two figures: a patch of 5 elements applied to a container with 500, 1000, 2000 and 4000 ports
(linear: doubling the list doubles the time, bar 2.6), and apply_patch calls on a Deployment as a
ratio to `kubectl patch --local` processes (bar 20; skipped where kubectl is missing).
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kmerge_git import Schema, apply_patch  # noqa: E402

BARS = {"growth": 2.6, "ratio": 20.0}
SIZES = (500, 1000, 2000, 4000)
KUBECTL_RUNS = 20

DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": name,
                        "image": f"{name}:1",
                        "env": [{"name": f"E{n}", "value": str(n)} for n in range(10)],
                        "ports": [{"containerPort": 80 + n, "protocol": "TCP"} for n in range(3)],
                    }
                    for name in ("app", "proxy", "log")
                ],
                "volumes": [{"name": f"v{n}", "emptyDir": {}} for n in range(3)],
            },
        },
    },
}
PATCH = {
    "spec": {
        "replicas": 3,
        "template": {
            "spec": {
                "containers": [
                    {"name": "app", "image": "app:2", "env": [{"name": "E3", "value": "x"}]},
                    {"name": "log", "$patch": "delete"},
                ],
                "$setElementOrder/containers": [{"name": "app"}, {"name": "proxy"}],
            }
        },
    }
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = {"ports": {size: ports(size) for size in SIZES}, "calls": calls(args.calls)}
    times = found["ports"]
    found["growth"] = max(times[b] / times[a] for a, b in pairwise(SIZES))
    if shutil.which("kubectl"):
        found["kubectl"] = kubectl()
        found["ratio"] = found["calls"] / found["kubectl"]
    print(json.dumps(found, indent=2) if args.json else report(found))
    return 0 if passes(found) else 1


def ports(size: int) -> float:
    """Seconds of CPU for one patch of 5 elements over `size` ports; the best of 20."""
    many = [{"containerPort": n, "protocol": "TCP"} for n in range(1, size + 1)]
    target = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{"name": "c", "ports": many}]},
    }
    numbers = (1, size // 2, size, size + 10)
    changes = [{"containerPort": n, "name": f"p{n}"} for n in numbers]
    changes.append({"containerPort": 7, "$patch": "delete"})
    patch = {"spec": {"containers": [{"name": "c", "ports": changes}]}}
    schema = Schema.builtin("v1", "Pod")
    return best(lambda: apply_patch(target, patch, schema), 20)


def best(call, rounds: int) -> float:
    times = []
    gc.disable()  # its rounds are no part of the algorithm
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    gc.enable()
    return min(times)


def calls(count: int) -> float:
    """apply_patch calls a second."""
    schema = Schema.builtin("apps/v1", "Deployment")
    start = time.perf_counter()
    for _ in range(count):
        apply_patch(DEPLOYMENT, PATCH, schema)
    return count / (time.perf_counter() - start)


def kubectl() -> float:
    """`kubectl patch --local` processes a second."""
    with tempfile.TemporaryDirectory() as directory:
        target, patch = Path(directory) / "t.json", Path(directory) / "p.json"
        target.write_text(json.dumps(DEPLOYMENT), "utf-8")
        patch.write_text(json.dumps(PATCH), "utf-8")
        command = ["kubectl", "patch", "--local", "-f", str(target), "--type=strategic"]
        command += ["--patch-file", str(patch), "-o", "json"]
        start = time.perf_counter()
        for _ in range(KUBECTL_RUNS):
            subprocess.run(command, check=True, capture_output=True)
        return KUBECTL_RUNS / (time.perf_counter() - start)


def passes(found) -> bool:
    return found["growth"] <= BARS["growth"] and found.get("ratio", 99) >= BARS["ratio"]


def report(found) -> str:
    lines = [f"{size:5} ports, patch of 5: {t * 1e3:7.2f} ms" for size, t in found["ports"].items()]
    lines.append(f"growth at doubling: {found['growth']:.2f} (bar {BARS['growth']})")
    lines.append(f"apply_patch on a Deployment: {found['calls']:.0f} a second")
    if "ratio" in found:
        lines.append(f"kubectl patch --local: {found['kubectl']:.1f} processes a second")
        lines.append(f"ratio: {found['ratio']:.0f} (bar {BARS['ratio']:.0f})")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
