"""Runs every command in 200 generated repositories and records what each prints and leaves behind.

`tools/snapshot.py commands FILE` calls this. The repositories, and the commands that are run in
each, come from `snapshot_scenes.py`. This module knows the package by its command line alone, so
that it can run against any other tree: its modules may stand anywhere.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from random import Random
from subprocess import CompletedProcess

HERE = Path(__file__).resolve().parent.parent
for folder in ("tests/check", "tests/git", "tests"):
    sys.path.insert(1, str(HERE / folder))

import forking  # noqa: E402
from world import Repo, World, sealed_environment  # noqa: E402

WIDTH = {"COLUMNS": "100", "LINES": "40"}  # of the terminal that there is not
LONGEST = 120.0  # seconds that a command may take
# Folders whose files say nothing that the index, the refs and the work tree do not say as well.
SKIPPED = ("objects", ".cache", "tmp")
VARYING = (  # what is another at each run, and what is written in its place
    (re.compile(r"\b[0-9.]+ ms\b"), "N ms"),
    (re.compile(r'("(?:median|longest)": )[0-9.]+'), r"\1N"),  # milliseconds of a replay
    (re.compile(r"\b(kmerge-(?:given|attributes))-[\w-]+"), r"\1-N"),  # files of one process
    (re.compile(r'("token": )"\w+"'), r'\1"..."'),  # of an update that is unfinished
)
Result = dict[str, object]
_servers: list[forking.Server] = []  # the warm interpreter of this process


def write(out: Path, jobs: int, only: str) -> int:
    """Run the commands of all repositories, and write one line for each repository."""
    from snapshot_scenes import plays

    chosen = [play for play in plays() if only in f"{play[0]} {play[1]}"]
    root = tempfile.mkdtemp(prefix="kmerge-snapshot-")
    tasks = [(group, number, root) for group, number in chosen]
    steps = 0
    with multiprocessing.Pool(jobs) as pool, out.open("w") as file:
        for line, count in pool.imap(recorded, tasks):
            file.write(line + "\n")
            steps += count
        pool.close()
        pool.join()
    shutil.rmtree(root, ignore_errors=True)
    print(f"{out}: {steps} commands in {len(chosen)} repositories; {package()}")
    return 0


def package() -> Path:
    """The folder of the package that Python would import, which is not imported here."""
    spec = find_spec("kmerge_git")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def recorded(task: tuple[str, int, str]) -> tuple[str, int]:
    """One line of the snapshot, and how many commands it holds."""
    from snapshot_scenes import PLAYS

    group, number, folder = task
    root = Path(folder) / f"{group}-{number:03}"
    for name in ("home", "etc", "tmp"):
        (root / name).mkdir(parents=True)
    env = environment(root)
    if not _servers:
        _servers.append(forking.Server(env))
    scene = Scene(World(root, env), _servers[0])
    PLAYS[group](Random(f"{group} {number}"), scene, number)
    shutil.rmtree(root)
    line = {"group": f"commands: {group}", "name": str(number), "results": scene.results}
    return json.dumps(line), len(scene.results)


def environment(root: Path) -> dict[str, str]:
    """The variables of a sealed world; of this process only the place of its programs."""
    for name in set(os.environ) - {"PATH", "GIT_DEFAULT_HASH"}:
        del os.environ[name]
    own = {"PYTHONPATH": str(package().parent), "TMPDIR": str(root / "tmp")}
    return sealed_environment(root) | WIDTH | own


class Scene:
    """A repository, and the results of the commands that were run in it so far."""

    def __init__(self, world: World, server: forking.Server) -> None:
        self.world = world
        self.repo: Repo = world.init()
        self.results: dict[str, Result] = {}
        self._server = server
        self._tree = package().parent
        self._state: dict[str, str] = {}

    def begin(self) -> None:
        """Take all files as they are now for known; results tell what changes from here on."""
        self._state = self._read()

    def kmerge(
        self, *words: str, stdin: str = "", env: Mapping[str, str] | None = None, at: str = "repo"
    ) -> str:
        """Run a command in a folder of the world, record its result, and return its stdout."""
        argv = [sys.executable, "-m", "kmerge_git", *words]
        ended = self._server.run(
            argv,
            cwd=str(self.world.root / at),
            env=self.world.env | (env or {}),
            stdin=stdin.encode(),
            timeout=LONGEST,
        )
        return self._record(("kmerge", *words), ended)

    def git(self, *words: str) -> str:
        """Run git in the repository and record the result: it may start the driver or a hook."""
        done = self.repo.git(*words, check=False)
        out, err = done.out.encode(errors="surrogateescape"), done.err.encode()
        return self._record(("git", *words), CompletedProcess((), done.code, out, err))

    def _record(self, words: tuple[str, ...], ended: CompletedProcess[bytes]) -> str:
        number = len(self.results)
        state = self._read()
        changed = {
            name: state.get(name)
            for name in sorted(state | self._state)
            if state.get(name) != self._state.get(name)
        }
        self._state = state
        out = ended.stdout.decode("utf-8", "surrogateescape")
        self.results[f"{number:02} {self._shown(shlex.join(words))}"] = {
            "code": ended.returncode,
            "out": self._shown(out),
            "err": self._shown(ended.stderr.decode("utf-8", "surrogateescape")),
            "files": changed,
        }
        return out

    def _read(self) -> dict[str, str]:
        """The text of every file of the world (with refs and settings), and the index."""
        root = self.world.root
        files = {
            path.relative_to(root).as_posix(): self._shown(text_of(path)) for path in under(root)
        }
        index = self.repo.git("ls-files", "--stage", check=False)
        return files | {"index": index.out}

    def _shown(self, text: str) -> str:
        """Return a text with placeholders for the names of folders and for what varies."""
        text = text.replace(str(self.world.root), "<root>")
        text = text.replace(str(self._tree), "<tree>")
        for pattern, placeholder in VARYING:
            text = pattern.sub(placeholder, text)
        return text


def under(folder: Path) -> Iterator[Path]:
    """The files and links below a folder, but for those of git that are no text."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in SKIPPED:
                yield from under(Path(entry.path))
        elif entry.name != "index" or folder.name != ".git":
            yield Path(entry.path)


def text_of(path: Path) -> str:
    """The mode and the text of a file, or where a link leads."""
    if path.is_symlink():
        return f"link to {path.readlink()}"
    mode = "executable\n" if path.stat().st_mode & 0o100 else ""
    return mode + path.read_bytes().decode("utf-8", "surrogateescape")
