"""The driver process beside git's line merge and a bare interpreter: whole-process CPU, medians.

    python bench/driver.py            all rows
    python bench/driver.py --rounds 5
    python bench/driver.py --against TREE     the driver of another tree beside this one, each row

Every round runs every command once, one after the other, so that the noise of a shared machine
falls on all of them alike. CPU time counts the process and its children. See bench/README.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from kmerge_git.git.driver_lines import driver_line

ROOT = Path(__file__).resolve().parent.parent
DRIVER = ROOT / "kmerge_git" / "cli" / "driver.py"
LIB = Path(yaml.__file__).parent.parent
RULERS = {
    "git": ["git", "merge-file", "-p", "-q", "A", "O", "B"],
    "python": [sys.executable, "-I", "-c", "pass"],
}
WORDS = ("the merge keeps every change and says so when it cannot decide between them").split()  # noqa: SIM905


def main() -> int:
    """Print the table of ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--against", type=Path, metavar="TREE", help="a checkout to compare with")
    args = parser.parse_args()
    rounds = args.rounds
    # git calls its drivers with its own folder first in PATH
    folder = subprocess.check_output(["git", "--exec-path"], text=True).strip()
    os.environ["PATH"] = folder + os.pathsep + os.environ.get("PATH", "")
    if args.against:
        return between_trees(args.against, rounds)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "compileall", "-q", str(ROOT / "kmerge_git")], check=True
        )
        # git calls its drivers at the top of a repository
        subprocess.run(["git", "init", "-q", folder], check=True)
        print(f"{'case':52} {'driver':>9} {'ruler':>9} {'ratio':>6}  we ship")
        for name, ruler, bar, texts in rows():
            commands = [driver_argv(), RULERS[ruler]]
            (cpu, peak), (base, _) = compare(Path(folder), texts, commands, rounds)
            line = f"{name:52} {cpu * 1000:7.1f}ms {base * 1000:7.1f}ms {cpu / base:6.2f}  <= {bar}"
            print(line + f"   peak {peak / 1024:.0f} MiB")
        cpu, base, off, least = real_merge(Path(folder), rounds, registered_lines())
        print(
            f"{'git merge of 200 files / driver `python -I -S -c pass`':52} {cpu * 1000:7.1f}ms "
            f"{base * 1000:7.1f}ms {cpu / base:6.2f}  <= 1.6"
        )
        print(
            f"{'the same with KMERGE=0 / driver `git merge-file`':52} {off * 1000:7.1f}ms "
            f"{least * 1000:7.1f}ms {off / least:6.2f}  <= 1.1"
        )
    return 0


def between_trees(tree: Path, rounds: int) -> int:
    """Print the medians of this tree's driver and of another's, and new / old, row by row."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        subprocess.run(["git", "init", "-q", folder], check=True)
        drivers = [copied(root, folder / name) for name, root in (("new", ROOT), ("old", tree))]
        print(f"{'case':52} {'new':>9} {'old':>9} {'ratio':>6}")
        for name, _, _, texts in rows():
            new, old = compare(folder, texts, [driver_argv(driver) for driver in drivers], rounds)
            print(
                f"{name:52} {new[0] * 1000:7.1f}ms {old[0] * 1000:7.1f}ms {new[0] / old[0]:6.2f}"
                f"   peaks {new[1] / 1024:.0f}, {old[1] / 1024:.0f} MiB"
            )
        lines = [driver_setting(driver) for driver in drivers]
        new, old = real_merge(folder, rounds, lines)
        name = "git merge of 200 files"
        print(f"{name:52} {new * 1000:7.1f}ms {old * 1000:7.1f}ms {new / old:6.2f}")
    return 0


def copied(tree: Path, folder: Path) -> Path:
    """The driver of a copy of a tree's package; it writes its bundle there at its first start."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(tree / "kmerge_git", folder / "kmerge_git", ignore=ignored)
    subprocess.run([sys.executable, "-m", "compileall", "-q", folder], check=True)
    driver = folder / "kmerge_git" / "cli" / "driver.py"
    for name in ("O", "A", "B"):
        (folder / name).write_text("a: 1\n")
    run(driver_argv(driver), folder)
    return driver


def rows():
    """Name, ruler, bar and the three texts of every row."""
    small = deployment("web", 60)
    yield (
        "5 KB Deployment, both sides changed",
        "python",
        1.6,
        (small, small.replace("replicas: 3", "replicas: 5"), small.replace("V7: v7", "V7: other")),
    )
    scripts = functions(40)
    both = scripts.replace("    f20() {\n", "    shared() {\n      echo 5\n    }\n\n    f20() {\n")
    yield (
        "5 KB of scripts, a function that both sides added",
        "python",
        2,
        (scripts, both.replace("echo 7\n", "echo ours\n"), both.replace("echo 30\n", "no\n")),
    )
    gone = small.replace("    V9: v9\n    V10: v10\n    V11: v11\n", "")
    yield (
        "5 KB Deployment, both sides deleted lines that are elsewhere",
        "python",
        2,
        (small, gone.replace("replicas: 3", "replicas: 5"), gone + "        tty: true\n"),
    )
    yield from templates()
    parts = [prose(f"big{i}", 500_000 if i < 6 else 8_000) for i in range(63)]
    bundle = "---\n".join(parts)
    yield (
        "3.5 MB bundle, 2 documents changed on one side each",
        "git",
        1.35,
        (bundle, change(bundle, "big3", 40), change(bundle, "big20", 3)),
    )
    yield (
        "3.5 MB bundle, a document added",
        "git",
        6,
        (bundle, change(bundle, "big3", 40), f"{bundle}---\n{prose('new', 8_000)}"),
    )
    two = "---\n".join([prose(f"two{i}", 1_000_000 if i < 2 else 8_000) for i in range(190)])
    ours = change(change(two, "two0", 50), "two1", 60)
    theirs = change(change(two, "two0", 900), "two1", 800)
    yield "3.5 MB bundle, two 1 MB documents changed by both", "git", 12, (two, ours, theirs)
    ours = theirs = bundle
    for number in range(10, 30):
        ours = change(ours, f"big{number}", 5)
        theirs = retype(theirs, f"big{number}", 5)
    yield "3.5 MB bundle, 20 documents changed by both", "git", 4, (bundle, ours, theirs)
    crd = prose("crd", 1_600_000)
    yield (
        "1.6 MB CRD, one line changed by each side",
        "git",
        13,
        (
            crd,
            change(crd, "crd", 100),
            change(crd, "crd", 4000),
        ),
    )
    ports = elements(2000)
    ours, theirs = (ports.replace(f"port: {n}\n", f"port: 9{n}\n") for n in (1400, 2800))
    yield "a list of 2,000 elements, one changed by each side", "git", 6, (ports, ours, theirs)
    script = config_map(1_000_000)
    yield (
        "a ConfigMap with a text of 1 MB, a line by each side",
        "git",
        6,
        (script, script.replace("line 3000 ", "ours "), script.replace("line 9000 ", "theirs ")),
    )


def elements(count: int) -> str:
    """A Service with a long list of maps."""
    ports = "".join(
        f"  - name: p{i}\n    port: {1000 + i}\n    targetPort: t{i}\n    protocol: TCP\n"
        for i in range(count)
    )
    return f"apiVersion: v1\nkind: Service\nmetadata:\n  name: long\nspec:\n  ports:\n{ports}"


def config_map(size: int) -> str:
    """A ConfigMap with one long text."""
    lines = "".join(
        f"    line {i} {' '.join(WORDS[(i + k) % len(WORDS)] for k in range(9))}\n"
        for i in range(size // 60)
    )
    return (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: long\n"
        f"data:\n  before: a\n  script.txt: |\n{lines}  behind: b\n"
    )


def functions(count: int) -> str:
    """A ConfigMap of some 5 KB with a script, in which the last line of each function repeats."""
    bodies = "\n".join(
        f"    f{n}() {{\n      echo {n}\n      run {n} {'x' * 80}\n    }}\n" for n in range(count)
    )
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: scripts\ndata:\n  run.sh: |\n{bodies}"
    )


def deployment(name: str, variables: int) -> str:
    """A Deployment of some 5 KB."""
    env = "".join(f"        - name: V{i}\n          value: value-{i}\n" for i in range(variables))
    labels = "".join(f"    V{i}: v{i}\n" for i in range(variables))
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  labels:\n{labels}"
        "spec:\n  replicas: 3\n  template:\n    spec:\n      containers:\n      - name: app\n"
        f"        image: app:1\n        env:\n{env}"
    )


def templates():
    """The rows of a Helm template of some 5 KB: clean by git's lines, and in conflict."""
    text = template(40)
    ours = text.replace("value: {{ .Values.v7 }}", "value: {{ .Values.other }}")
    theirs = text.replace("tag7: {{ .Values.tag }}", "tag7: {{ .Values.tag | quote }}")
    yield "5 KB template, both sides changed, git clean", "git", 30, (text, ours, theirs)
    at = "            {{- if .Values.debug }}\n"
    ours = text.replace(at, "            - name: OURS\n              value: a\n" + at)
    theirs = text.replace(at, "            - name: THEIRS\n              value: b\n" + at)
    theirs = theirs.replace("{{- if .Values.debug }}", "{{- if or .Values.debug .Values.trace }}")
    yield "5 KB template, git's lines conflict, blocks do not", "git", 150, (text, ours, theirs)
    ours = text.replace("replicas: {{ .Values.replicas }}", "replicas: 2")
    theirs = text.replace("replicas: {{ .Values.replicas }}", "replicas: 3")
    yield "5 KB template, a conflict", "git", 150, (text, ours, theirs)


def template(variables: int) -> str:
    """A Deployment of a chart, with the blocks that charts have."""
    env = "".join(
        f"            - name: V{i}\n              value: {{{{ .Values.v{i} }}}}\n"
        for i in range(variables)
    )
    labels = "".join(f"    tag{i}: {{{{ .Values.tag }}}}\n" for i in range(variables))
    return (
        '{{- $name := include "web.name" . -}}\n'
        "{{- if .Values.enabled }}\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n"
        "  name: {{ $name }}\n  labels:\n"
        '    {{- include "web.labels" . | nindent 4 }}\n'
        f"{labels}spec:\n  replicas: {{{{ .Values.replicas }}}}\n  template:\n    spec:\n"
        "      {{- with .Values.nodeSelector }}\n      nodeSelector:\n"
        "        {{- toYaml . | nindent 8 }}\n      {{- end }}\n      containers:\n"
        '        - name: web\n          image: "{{ .Values.image }}:{{ .Values.tag }}"\n'
        f"          env:\n{env}"
        "            {{- if .Values.debug }}\n            - name: DEBUG\n"
        '              value: "1"\n            {{- end }}\n'
        "          {{- range .Values.more }}\n          # {{ . }}\n          {{- end }}\n"
        "          resources:\n            {{- toYaml .Values.resources | nindent 12 }}\n"
        "{{- end }}\n"
    )


def prose(name: str, size: int) -> str:
    """A schema-like document: nested properties with a description each."""
    lines = [
        "apiVersion: apiextensions.k8s.io/v1",
        "kind: CustomResourceDefinition",
        f"metadata:\n  name: {name}",
        "spec:\n  properties:",
    ]
    length, number = 0, 0
    while length < size:
        words = " ".join(WORDS[(number + k) % len(WORDS)] for k in range(14))
        entry = (
            f"    {name}field{number}:\n      description: {words} {number}\n      type: object\n"
            f"      properties:\n        inner{number}:\n          description: |-\n"
            f"            {words}\n            {words}\n          type: string"
        )
        lines.append(entry)
        length += len(entry)
        number += 1
    return "\n".join(lines) + "\n"


def change(text: str, name: str, number: int) -> str:
    """One description of a document changed."""
    at = text.index(f"    {name}field{number}:\n")
    end = text.index("\n      type", at)
    return text[:end] + " changed" + text[end:]


def retype(text: str, name: str, number: int) -> str:
    """The line below a description changed: by lines, that clashes with a change of the other."""
    at = text.index("\n      type: object", text.index(f"    {name}field{number}:\n"))
    return text[:at] + text[at:].replace("type: object", "type: array", 1)


def compare(folder: Path, texts, commands: list[list[str]], rounds: int):
    """The median CPU time and the peak memory in KiB of commands that take turns."""
    times: list[list[float]] = [[] for _ in commands]
    peaks: list[list[int]] = [[] for _ in commands]
    for _ in range(rounds):
        for command, cpus, sizes in zip(commands, times, peaks, strict=True):
            for name, text in zip(("O", "A", "B"), texts, strict=True):
                (folder / name).write_text(text)
            cpu, peak, code = run(command, folder)
            assert code in (0, 3) or command == RULERS["git"], code
            cpus.append(cpu)
            sizes.append(peak)
    return [(statistics.median(cpus), max(sizes)) for cpus, sizes in zip(times, peaks, strict=True)]


def driver_argv(driver: Path = DRIVER, files: tuple[str, ...] = ("O", "A", "B")) -> list[str]:
    """The registered line, without the shell around it."""
    return [
        sys.executable,
        "-I",
        "-S",
        str(driver),
        f"--lib={LIB}",
        "--marker-size=7",
        "--path=a.yaml",
        *files,
    ]


def run(argv: list[str], folder: Path) -> tuple[float, int, int]:
    """CPU seconds, peak KiB and exit code of a process with its children."""
    null = os.open(os.devnull, os.O_RDWR)
    here = os.getcwd()
    os.chdir(folder)
    actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions)
    os.chdir(here)
    os.close(null)
    _, status, usage = os.wait4(pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.waitstatus_to_exitcode(status)


def driver_setting(driver: Path = DRIVER) -> str:
    """The same as git's setting of a driver."""
    return " ".join(f'"{part}"' for part in driver_argv(driver, ())) + " %O %A %B"


def registered_lines() -> list[str]:
    """The driver and an empty one; the registered line, switched off, and git's merge of lines."""
    off = "KMERGE=0;" + driver_line(sys.executable, DRIVER, str(LIB))
    empty = f'"{sys.executable}" -I -S -c pass'
    return [driver_setting(), empty, off, "git merge-file %A %O %B"]


def real_merge(folder: Path, rounds: int, drivers: list[str]) -> list[float]:
    """The medians of `git merge-tree` of 200 files changed on both sides, with each driver."""
    repo = folder / "repo"
    env = {
        **os.environ,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "bench",
        "GIT_AUTHOR_EMAIL": "bench@example.invalid",
        "GIT_COMMITTER_NAME": "bench",
        "GIT_COMMITTER_EMAIL": "bench@example.invalid",
    }
    os.environ.update(env)

    def git(*argv: str) -> None:
        subprocess.run(["git", *argv], cwd=repo, check=True, capture_output=True)

    repo.mkdir()
    git("init", "-q", "-b", "main")
    text = deployment("web", 60)
    sides = {
        "main": text,
        "ours": text.replace("replicas: 3", "replicas: 5"),
        "theirs": text.replace("V7: v7", "V7: other"),
    }
    for branch, content in sides.items():
        if branch != "main":
            git("checkout", "-q", "-b", branch, "main")
        for number in range(200):
            (repo / f"f{number}.yaml").write_text(content + f"# {number}\n")
        git("add", "-A")
        git("commit", "-q", "-m", branch)
    (repo / ".git" / "info" / "attributes").write_text("*.yaml merge=bench\n")
    times: list[list[float]] = [[] for _ in drivers]
    for _ in range(max(rounds // 3, 1)):
        for found, command in zip(times, drivers, strict=True):
            git("config", "merge.bench.driver", command)
            found.append(run(["git", "merge-tree", "--write-tree", "ours", "theirs"], repo)[0])
    shutil.rmtree(repo)
    return [statistics.median(found) for found in times]


if __name__ == "__main__":
    raise SystemExit(main())
