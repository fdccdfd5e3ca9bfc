"""Composing with spans: MB/s of CPU, peak memory, growth.

    python bench/compose.py [--rounds N] [--json]

Two kinds of documents are generated at 5 KB, 100 KB, 1 MB and 3.5 MB: maps as in a Deployment
(short lines, 23 bytes a leaf, which is the median of some 1,400 real manifests) and prose as in
a CRD (long descriptions, 60 bytes a leaf). Measured are
`document.root` (libyaml's graph, our views still to be built) and the full walk, which builds
every node with its span and every entry with its lines. Garbage collection is off, as it is in
the driver. Memory is measured in a process of its own, without tracing.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kmerge_git.text.source import Source  # noqa: E402
from kmerge_git.tree.documents import split  # noqa: E402
from kmerge_git.tree.nodes import Collection, Node  # noqa: E402

SIZES = {"5 KB": 5_000, "100 KB": 100_000, "1 MB": 1_000_000, "3.5 MB": 3_500_000}
BARS = {"speed": 10.0, "memory": 25.0, "growth": 4.5}

CONTAINER = """\
      - name: worker-{n}  # number {n}
        image: registry.example.com/team/worker:1.{n}.0
        imagePullPolicy: IfNotPresent
        command: ["/bin/worker", "--shard={n}"]
        args:
        - --config=/etc/worker/configuration/worker-{n}.yaml
        - --endpoint=https://metrics.monitoring.svc.cluster.local:9090/api/v1/write
        - --log-level=info
        env:
        - name: DATABASE_URL
          valueFrom:
            secretKeyRef:
              name: worker-database
              key: connection-string
        - name: QUEUE_ENDPOINT
          value: "https://queue-{n}.example.com:8443/v1/jobs"
        ports:
        - containerPort: 8{n:03}
          name: http
        resources:
          limits:
            cpu: 500m
            memory: 256Mi
          requests:
            cpu: 250m
            memory: 128Mi
        # The probe asks every ten seconds; three failures in a row take the pod out of the
        # service, so that a slow start of the queue does not restart all of the workers.
        readinessProbe:
          httpGet:
            path: /healthz
            port: http
          periodSeconds: 10
        volumeMounts:
        - mountPath: /var/lib/worker/shard-{n}
          name: data-{n}
"""
MAPS = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: workers
spec:
  template:
    spec:
      containers:
"""
FIELD = """\
                field{n}:
                  description: |-
                    Number {n} of the settings that the controller reads when it reconciles the
                    object. It takes effect at the next restart of the workload, unless the
                    strategy says otherwise, in which case the value is applied at once.

                    More info: https://example.com/docs/concepts/field-{n}/
                  type: string
                  x-kubernetes-validations:
                  - message: field{n} must not be empty when the strategy is set to Recreate
                    rule: self.size() > 0
"""
PROSE = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: settings.example.com
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            description: Everything that the controller reads.
            type: object
            properties:
"""
KINDS = {"maps": (MAPS, CONTAINER), "prose": (PROSE, FIELD)}


def generate(kind: str, size: int) -> bytes:
    """A document of about this many bytes."""
    head, unit = KINDS[kind]
    parts, length, number = [head], len(head), 0
    while length < size:
        parts.append(unit.format(n=number))
        length += len(parts[-1])
        number += 1
    return "".join(parts).encode()


def compose(data: bytes) -> Node:
    root = split(Source(data)).documents[0].root
    if root is None:
        raise SystemExit("an empty document")
    return root


def walk(node: Node) -> int:
    """The number of leaves; looks at the span of each."""
    if not isinstance(node, Collection):
        return node.end >= node.start
    total = 0
    for entry in node.entries:
        if entry.key is not None:
            total += walk(entry.key)
        total += walk(entry.value)
    return total


def measure(kind: str, size: int, rounds: int) -> tuple[float, float, int]:
    """Seconds of CPU for the root and for the full walk, the best of some rounds, and leaves."""
    data = generate(kind, size)
    best_root = best_walk = float("inf")
    leaves = 0
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        root = compose(data)
        middle = time.process_time()
        leaves = walk(root)
        end = time.process_time()
        best_root = min(best_root, middle - start)
        best_walk = min(best_walk, end - start)
        del root
    return best_root, best_walk, leaves


def peak_memories() -> dict[str, dict[str, float]]:
    """MiB per MB above a process that only made the document, for the large ones."""
    return {
        f"{kind} {name}": {
            f"{what} MiB/MB": round(peak_memory(kind, size, what) / (size / 1e6), 1)
            for what in ("root", "walk")
        }
        for kind in KINDS
        for name, size in SIZES.items()
        if size >= 1_000_000
    }


def peak_memory(kind: str, size: int, what: str) -> float:
    code = (
        "import gc, sys; gc.disable();"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r}); import compose as b;"
        f"b.walk(b.compose(b.generate('maps', 2000))); data = b.generate({kind!r}, {size});"
        "before = b.peak(); root = b.compose(data);"
        f"{'b.walk(root);' if what == 'walk' else ''} print(b.peak() - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout)


def peak() -> float:
    """The highest memory of this process so far, in MiB."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1 << 20) if sys.platform == "darwin" else used / 1024


def ruler() -> float:
    """Millions of additions a second in plain Python: how fast this machine is today."""
    start = time.process_time()
    total = 0
    for number in range(1_000_000):
        total += number
    return 1 / (time.process_time() - start)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--json", action="store_true", help="print one JSON object")
    options = arguments.parse_args()
    gc.disable()
    results: dict[str, dict[str, float]] = {"ruler": {"M additions/s": round(ruler(), 1)}}
    grown = peak_memories()  # first: a child's high-water mark starts at its parent's size
    for kind in KINDS:
        times = {}
        for name, size in SIZES.items():
            rounds = options.rounds * (20 if size < 50_000 else 1)
            root, full, leaves = measure(kind, size, rounds)
            times[name] = (root, full)
            results[f"{kind} {name}"] = {
                "root MB/s": round(size / 1e6 / root, 1),
                "walk MB/s": round(size / 1e6 / full, 1),
                "leaves": leaves,
                **grown.get(f"{kind} {name}", {}),
            }
        for index, what in enumerate(("root", "walk")):
            growth = times["3.5 MB"][index] / times["1 MB"][index]
            results[f"{kind} 3.5 MB"][f"{what} growth"] = round(growth, 2)
    show(results, options.json)
    return 0


def show(results: dict[str, dict[str, float]], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"results": results, "bars": BARS}, indent=2))
        return
    for name, row in results.items():
        print(f"{name:14}", "  ".join(f"{key} {value}" for key, value in row.items()))


if __name__ == "__main__":
    sys.exit(main())
