"""Counts how far five journeys go through the package: a refactoring makes them no longer.

    python tools/journeys.py              a table
    python tools/journeys.py --json       the same, for machines
    PYTHONPATH=other-tree python tools/journeys.py     the same journeys in another tree

The journeys, each in a process of its own, in a folder and a home of its own:

- `merge_files`: a Deployment; each side adds another variable at one place of its `env`.
- `kmerge merge`: a branch is merged that changes a Deployment and a Helm template. Git's lines
  clash in both, and both merge clean by structure.
- `resolve`: `kmerge resolve --take theirs` decides the one conflict of a stopped merge.
- `check`: `kmerge check --merge-of HEAD` checks the merge commit of the second journey.
- `template`: `merge_files` of the template of the second journey.

Counted for each, by a profile function inside of the process:

- functions: the different functions of the package that are called;
- files: the modules of the package that these functions stand in;
- Source, split, parse: how often a text is decoded, taken apart into documents, and parsed. They
  are counted by name (`OPENERS`), under the names of every tree that is compared.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

# column of the table -> the functions that are counted in it, with the modules they may stand in
OPENERS = {
    "Source": {("text.source", "Source.__init__")},
    "split": {("tree.documents", "split")},
    "parse": {("tree.parser", "compose")},
}
COLUMNS = ("functions", "files", *OPENERS)

_IS_FUNCTION = 1  # CO_OPTIMIZED: the code of a function, not that of a module or a class

MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  template:
    spec:
      containers:
        - name: app
          image: app:1
          env:
            - name: A
              value: a
            - name: B
              value: b
"""
TEMPLATE = """\
{{- if .Values.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels:
    {{- include "web.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
        - name: web
          image: "{{ .Values.image }}:{{ .Values.tag }}"
          env:
            - name: A
              value: a
            {{- if .Values.debug }}
            - name: DEBUG
              value: "1"
            {{- end }}
          resources:
            {{- toYaml .Values.resources | nindent 12 }}
{{- end }}
"""
_GUARD = "            {{- if .Values.debug }}\n"
Files = dict[str, str]


class Counts:
    """What was called so far, as a profile function sees it."""

    def __init__(self, package: Path) -> None:
        self._root = f"{package}{os.sep}"
        self._calls: Counter[CodeType] = Counter()

    def watch(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call; the interpreter calls this for every event."""
        if event == "call":
            self._calls[frame.f_code] += 1

    def row(self) -> dict[str, int]:
        """Return the numbers of a journey by column."""
        calls = [
            (self._module(code), code.co_qualname, count)
            for code, count in self._calls.items()
            if code.co_filename.startswith(self._root) and code.co_flags & _IS_FUNCTION
        ]
        texts = {
            column: sum(count for module, name, count in calls if (module, name) in names)
            for column, names in OPENERS.items()
        }
        files = {module for module, _, _ in calls}
        functions = {(module, name) for module, name, _ in calls if not name.endswith(">")}
        return {"functions": len(functions), "files": len(files), **texts}

    def _module(self, code: CodeType) -> str:
        path = code.co_filename.removeprefix(self._root)
        return path.removesuffix(".py").replace(os.sep, ".")


def main() -> int:
    """Print the table of all journeys, or the numbers of one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--only", choices=JOURNEYS, help="one journey, in this process, as JSON")
    args = parser.parse_args()
    if args.only:
        print(json.dumps(counted(args.only)))
        return 0
    table = {name: in_own_process(name) for name in JOURNEYS}
    if args.json:
        print(json.dumps(table, indent=2))
        return 0
    print(f"{'journey':16}" + "".join(f"{column:>11}" for column in COLUMNS))
    for name, row in table.items():
        print(f"{name:16}" + "".join(f"{row[column]:11}" for column in COLUMNS))
    return 0


def in_own_process(name: str) -> dict[str, int]:
    """Return the numbers of a journey that starts with nothing imported."""
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, str(Path(__file__).resolve()), "--only", name]
        paths = [str(Path(path).resolve()) for path in sys.path[1:] if path]
        done = subprocess.run(
            command,
            env=sealed(home) | {"PYTHONPATH": os.pathsep.join(paths)},
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"journey {name}: {done.stderr or done.stdout}")
    row: dict[str, int] = json.loads(done.stdout.splitlines()[-1])  # git may write above it
    return row


def sealed(home: str) -> dict[str, str]:
    """Return an environment in which git and the program know nothing of this machine."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    people = {f"GIT_{who}_NAME": "journey" for who in ("AUTHOR", "COMMITTER")}
    mails = {f"GIT_{who}_EMAIL": "journey@example.invalid" for who in ("AUTHOR", "COMMITTER")}
    git = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    return {**kept, **people, **mails, **git, "HOME": home, "XDG_CONFIG_HOME": home}


def counted(name: str) -> dict[str, int]:
    """Make one journey and return its numbers."""
    import kmerge_git

    journey = JOURNEYS[name]()
    counts = Counts(Path(kmerge_git.__file__).resolve().parent)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        threading.setprofile(counts.watch)
        sys.setprofile(counts.watch)
        try:
            problem = journey()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
    if problem:
        raise SystemExit(f"{problem}\n{shown.getvalue()}")
    return counts.row()


# -- the journeys: each prepares its inputs and returns what is counted; a text says what went wrong

Journey = Callable[[], str]


def two_variables() -> Journey:
    """Both sides add a variable at one place of a list."""
    return of_versions([MANIFEST, *manifest_sides()], "deployment.yaml")


def template_alone() -> Journey:
    """Both sides change a block of a template."""
    return of_versions([TEMPLATE, *template_sides()], "templates/deployment.yaml")


def of_versions(versions: list[str], path: str) -> Journey:
    """Merge three versions of a file, which must come out clean."""

    def journey() -> str:
        from kmerge_git import merge_files

        merged = merge_files(*(text.encode() for text in versions), path=path)
        return "" if merged.clean else "the merge has conflicts"

    return journey


def branch() -> Journey:
    """Merge the branch of theirs."""
    make_chart_repository()
    return command("merge", "theirs")


def one_answer() -> Journey:
    """Decide the one conflict of a stopped merge."""
    make_repository(*(deployment_with_image(tag) for tag in ("1", "2", "3")))
    with contextlib.suppress(subprocess.CalledProcessError):
        git("merge", "-q", "theirs")
    return command("resolve", "--take", "theirs")


def merge_commit() -> Journey:
    """Check the last commit, the merge that the second journey makes."""
    make_chart_repository()
    run(sys.executable, "-m", "kmerge_git", "merge", "-q", "theirs")
    return command("check", "--merge-of", "HEAD")


JOURNEYS: dict[str, Callable[[], Journey]] = {
    "merge_files": two_variables,
    "kmerge merge": branch,
    "resolve": one_answer,
    "check": merge_commit,
    "template": template_alone,
}
CHART = {"chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n"}


def variable(name: str) -> str:
    """Return the lines of an element of `env`."""
    return f"            - name: {name}\n              value: {name.lower()}\n"


def manifest_sides() -> tuple[str, str]:
    """Return two versions of the manifest that each have another variable at one place."""
    at = "            - name: B\n"
    return MANIFEST.replace(at, variable("OURS") + at), MANIFEST.replace(
        at, variable("THEIRS") + at
    )


def template_sides() -> tuple[str, str]:
    """Return two versions of the template whose lines clash and whose blocks do not."""
    ours = TEMPLATE.replace(_GUARD, variable("OURS") + _GUARD)
    theirs = TEMPLATE.replace(_GUARD, variable("THEIRS") + _GUARD)
    return ours, theirs.replace("if .Values.debug", "if or .Values.debug .Values.trace")


def deployment_with_image(tag: str) -> Files:
    """Return the manifest with another image."""
    return {"deployment.yaml": MANIFEST.replace("app:1", f"app:{tag}")}


def command(*argv: str) -> Journey:
    """Return a journey that is a command of the program, which must succeed."""

    def journey() -> str:
        from kmerge_git.cli.main import main as kmerge

        code = kmerge([*argv])
        return f"kmerge {' '.join(argv)}: exit code {code}" if code else ""

    return journey


def make_chart_repository() -> None:
    """Make a repository with a manifest and a template that only structure merges clean."""
    manifests = (MANIFEST, *manifest_sides())
    templates = (TEMPLATE, *template_sides())
    versions = (
        {**CHART, "deployment.yaml": manifest, "chart/templates/web.yaml": template}
        for manifest, template in zip(manifests, templates, strict=True)
    )
    make_repository(*versions)


def make_repository(base: Files, ours: Files, theirs: Files) -> None:
    """Make a repository here: `main` with ours is checked out, the branch `theirs` is not."""
    git("init", "-q", "-b", "main")
    Path(".git/info/attributes").write_text("*.yaml merge=kmerge\n")
    commit(base, "base")
    git("checkout", "-q", "-b", "theirs")
    commit(theirs, "theirs")
    git("checkout", "-q", "main")
    commit(ours, "ours")


def commit(files: Files, message: str) -> None:
    """Write files and commit them."""
    for name, text in files.items():
        file = Path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git("add", "-A")
    git("commit", "-q", "-m", message)


def git(*argv: str) -> None:
    """Run git, which must succeed."""
    run("git", *argv)


def run(*argv: str) -> None:
    """Run a program, which must succeed."""
    subprocess.run(argv, check=True, capture_output=True)


if __name__ == "__main__":
    raise SystemExit(main())
