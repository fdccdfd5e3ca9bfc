"""`kmerge check`: CPU of 1,000 files of 5 KB in one call, growth, the start of the hook, a merge.

    python bench/check.py [--rounds N] [--files N]

Whole processes are measured, their children too, and the best of all rounds counts: the machine
may be shared. Nine of ten files are Deployments with ten containers or so, the others patches;
a kustomization names twenty of them. In the merge both sides have changed every file. See
bench/README.md.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BARS = {"1,000 files": 6.0, "growth": 2.3, "start": 4.0, "merge": 3.0}
MERGED = 500  # files
START = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from kmerge_git.cli.main import main; "

HEAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-{n}
  labels: {{app.kubernetes.io/name: web-{n}}}
spec:
"""
MIDDLE = """\
  replicas: 3
  selector:
    matchLabels: {{app.kubernetes.io/name: web-{n}}}
  template:
    metadata:
      labels: {{app.kubernetes.io/name: web-{n}}}
    spec:
      containers:
"""
CONTAINER = """\
      - name: worker-{c}
        image: registry.example.com/team/worker:1.{c}.{n}
        args: ["--shard={c}", "--log-level=info"]
        env:
        - name: LOG_LEVEL
          value: info
        - name: PASSWORD
          valueFrom:
            secretKeyRef:
              name: worker
              key: password
        ports:
        - containerPort: 80{c:02}
          name: http
          protocol: TCP
        resources:
          limits:
            cpu: 500m
            memory: 256Mi
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=1000)
    args = parser.parse_args()
    subprocess.run([sys.executable, "-m", "compileall", "-q", ROOT / "kmerge_git"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        sizes = [args.files // 4, args.files // 2, args.files]
        names = write(Path(folder, "app"), args.files)
        subprocess.run(["git", "init", "-q", folder], check=True)  # hooks run in repositories
        alone = "alone.yaml"
        Path(folder, alone).write_text(Path(folder, names[0]).read_text())
        merged = merge(Path(folder, "merge"), args.files * MERGED // 1000)
        best = dict.fromkeys(["pass", "start", "merge", *sizes], float("inf"))
        for _ in range(args.rounds):
            best["merge"] = min(best["merge"], cpu(check(["--merge"]), merged))
            best["pass"] = min(best["pass"], cpu([sys.executable, "-I", "-c", "pass"], folder))
            best["start"] = min(best["start"], cpu(check([alone]), folder))
            for size in sizes:
                best[size] = min(best[size], cpu(check(names[:size]), folder))
        bytes_each = sum(Path(folder, n).stat().st_size for n in names) // len(names)
    print(
        f"files of {bytes_each} bytes; `python -I -c pass` takes {best['pass'] * 1000:.0f} ms CPU"
    )
    rows = [
        ("start", "one file, in times of `python -I -c pass`", best["start"] / best["pass"]),
        ("1,000 files", f"{sizes[2]} files in one call, seconds CPU", best[sizes[2]]),
        ("merge", f"--merge, {args.files * MERGED // 1000} files, seconds CPU", best["merge"]),
        ("growth", f"{sizes[1]} -> {sizes[2]} files", best[sizes[2]] / best[sizes[1]]),
        ("growth", f"{sizes[0]} -> {sizes[1]} files", best[sizes[1]] / best[sizes[0]]),
    ]
    for bar, what, value in rows:
        verdict = "ok" if value <= BARS[bar] else "TOO MUCH"
        print(f"{what:48} {value:6.2f}   at most {BARS[bar]:.1f}   {verdict}")
    return int(any(value > BARS[bar] for bar, _, value in rows))


def write(folder: Path, files: int) -> list[str]:
    """Folders of twenty files with a kustomization each; every tenth file is a patch."""
    names = []
    for n in range(files):
        here = folder / f"app-{n // 20}"
        here.mkdir(parents=True, exist_ok=True)
        is_patch = n % 10 == 9
        name = f"web-{n}-patch.yaml" if is_patch else f"web-{n}.yaml"
        text = HEAD.format(n=n - 1 if is_patch else n)
        text += MIDDLE.format(n=n) + "".join(CONTAINER.format(n=n, c=c) for c in range(9))
        (here / name).write_text(text)
        with (here / "kustomization.yaml").open("a") as file:
            if n % 20 == 0:
                file.write("resources:\n")
            file.write(f"- {name}\n" if not is_patch else "")
        names.append(f"{folder.name}/{here.name}/{name}")
    for here in folder.iterdir():
        with (here / "kustomization.yaml").open("a") as file:
            file.write("patches:\n")
            for patch in sorted(here.glob("*-patch.yaml")):
                file.write(f"- path: {patch.name}\n")
    return names


def merge(folder: Path, files: int) -> str:
    """A repository whose last commit merges two branches that both changed every file."""

    def git(*args: str) -> None:
        person = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(["git", "-C", folder, *person, *args], check=True, capture_output=True)

    def commit(old: str, new: str) -> None:
        for file in sorted(folder.rglob("*.yaml")):
            file.write_text(file.read_text().replace(old, new) if old else file.read_text())
        git("add", "-A")
        git("commit", "-q", "-m", "changed")

    folder.mkdir()
    git("init", "-q", "-b", "main")
    write(folder / "app", files)
    commit("", "")
    git("checkout", "-q", "-b", "side")
    commit("containerPort: 8008", "containerPort: 9008")
    git("checkout", "-q", "main")
    commit("replicas: 3", "replicas: 5")
    git("merge", "-q", "--no-edit", "side")
    return str(folder)


def check(names: list[str]) -> list[str]:
    """The command line of the hook."""
    return [sys.executable, "-I", "-c", START + "sys.exit(main())", "check", "--quiet", *names]


def cpu(argv: list[str], folder: str) -> float:
    """Seconds of CPU that a process and its children take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, cwd=folder, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


if __name__ == "__main__":
    sys.exit(main())
