"""Time processes: CPU with all children, wall clock and peak memory, in interleaved rounds.

A shared machine is slow at one moment and fast at the next. So every round runs every command
once, one after the other, and only figures of one run are compared.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEOPLE = ("AUTHOR", "COMMITTER")


@dataclass(frozen=True, slots=True)
class Command:
    """A process to time, and what prepares its folder without being timed."""

    argv: tuple[str, ...]
    folder: Path
    env: tuple[tuple[str, str], ...] = ()
    before: tuple[str, ...] = ()  # run in the folder before each round
    codes: tuple[int, ...] = (0,)
    cores: int = 0  # how many processors it may use; 0: all
    reports: bool = False  # it prints a `Spent` as JSON: what it has timed itself
    limit: int = 0  # seconds of CPU after which it is killed; 0: never


@dataclass(frozen=True, slots=True)
class Spent:
    """Hold what one run of a command took."""

    cpu: float  # seconds, with all children
    wall: float
    peak: float  # MiB, of the largest process
    code: int = 0


def interleaved(commands: Iterable[Command], rounds: int) -> dict[Command, list[Spent]]:
    """Run every command once a round; every other round begins with the last one."""
    spent: dict[Command, list[Spent]] = {command: [] for command in commands}
    for number in range(rounds):
        for command in sorted(spent, key=list(spent).index, reverse=number % 2 == 1):
            found = run(command)
            if found.code not in command.codes:
                raise SystemExit(f"exit {found.code}: {command.argv} in {command.folder}")
            spent[command].append(found)
    return spent


def run(command: Command) -> Spent:
    """Run a command once; nothing that it prints is shown."""
    if command.before:
        subprocess.run(command.before, cwd=command.folder, check=True, capture_output=True)
    words = (*_limits(command), *command.argv)
    here = Path.cwd()
    os.chdir(command.folder)  # no process of ours between: it would be timed
    with tempfile.TemporaryFile() as out:
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, out.fileno(), 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        started = time.perf_counter()
        environment = {**os.environ, **dict(command.env)}
        pid = os.posix_spawnp(words[0], words, environment, file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
        wall = time.perf_counter() - started
        os.chdir(here)
        code = os.waitstatus_to_exitcode(status)
        if command.reports and code in command.codes:
            out.seek(0)
            return Spent(**json.loads(out.read()))
    return Spent(usage.ru_utime + usage.ru_stime, wall, mebibytes(usage.ru_maxrss), code)


def _limits(command: Command) -> tuple[str, ...]:
    """The words before a command that may not use all of the machine; each becomes the next."""
    cores, limit = command.cores, command.limit
    words = ("taskset", "-c", ",".join(_processors(cores))) if cores else ()
    return (*words, "sh", "-c", f'ulimit -t {limit};exec "$@"', "sh") if limit else words


def _processors(count: int) -> list[str]:
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < count:
        raise SystemExit(f"{count} processors are needed")
    return [str(number) for number in usable[:count]]


def mebibytes(resident: int) -> float:
    """The kernel's figure of the largest memory, in MiB."""
    return resident / (1 << 20) if sys.platform == "darwin" else resident / 1024


def inside(work: Callable[[], object], rounds: int = 1) -> Spent:
    """The least that some rounds of work in this process take, garbage collection off."""
    gc.collect()
    gc.disable()
    least = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        work()
        least = min(least, time.process_time() - begin)
    gc.enable()
    return Spent(least, least, 0.0)


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


@dataclass(frozen=True, slots=True)
class Tree:
    """A copy of a checkout's package, compiled, its driver started once."""

    folder: Path

    @property
    def driver(self) -> Path:
        return self.folder / "kmerge_git" / "cli" / "driver.py"

    @property
    def env(self) -> tuple[tuple[str, str], ...]:
        return (("PYTHONPATH", str(self.folder)),)

    def kmerge(self, *words: str) -> tuple[str, ...]:
        """The words of a command, which runs with `env`."""
        return (sys.executable, "-P", "-m", "kmerge_git", *words)

    def registered(self) -> str:
        """The line that `kmerge install` registers."""
        code = (
            "import sys; from pathlib import Path; from kmerge_git.git.driver_lines import *;"
            "print(driver_line(sys.executable, Path(sys.argv[1]), sys.argv[2]), end='')"
        )
        argv = [sys.executable, "-P", "-c", code, str(self.driver), str(library())]
        environment = {**os.environ, **dict(self.env)}
        return subprocess.check_output(argv, env=environment, text=True)


def library() -> Path:
    """The folder that PyYAML is in."""
    found = find_spec("yaml")
    if found is None or found.origin is None:
        raise SystemExit("PyYAML is missing: use the interpreter of .venv-test")
    return Path(found.origin).parent.parent


def apart(work: Callable[[], None]) -> None:
    """Do work in a child: the memory of a process counts for those that it starts."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    if os.waitpid(pid, 0)[1]:
        raise SystemExit("the preparation failed")


def copied(checkout: Path, folder: Path) -> Tree:
    """Copy a checkout's package, so that nothing changes it while it is timed."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(checkout / "kmerge_git", folder / "kmerge_git", ignore=ignored)
    subprocess.run([sys.executable, "-m", "compileall", "-q", folder], check=True)
    tree = Tree(folder)
    for name in ("O", "A", "B"):
        (folder / name).write_text(f"a: 1\nb: {name}\n")
    argv = (sys.executable, "-I", "-S", tree.driver, f"--lib={library()}")
    words = ("--marker-size=7", "--path=a.yaml", "O", "A", "B")
    subprocess.run([*argv, *words], cwd=folder, check=False, capture_output=True)
    return tree


@contextmanager
def scratch(checkouts: Sequence[Path]) -> Iterator[tuple[Path, list[Tree]]]:
    """A folder for the run, an environment without settings of the user, copies of checkouts."""
    with tempfile.TemporaryDirectory(prefix="kmerge-bench-") as name:
        folder = Path(name)
        home = folder / "home"
        home.mkdir()
        for variable in [name for name in os.environ if name.startswith(("GIT_", "KMERGE"))]:
            del os.environ[variable]
        os.environ |= {
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "KMERGE_TIMEOUT": "0",  # what takes too long is to be seen
            "TERM": "xterm",
            **{f"GIT_{who}_NAME": "bench" for who in PEOPLE},
            **{f"GIT_{who}_EMAIL": "bench@example.invalid" for who in PEOPLE},
        }
        # git calls its drivers with its own folder first in PATH
        own = subprocess.check_output(["git", "--exec-path"], text=True).strip()
        os.environ["PATH"] = own + os.pathsep + os.environ.get("PATH", "")
        trees = [copied(path, folder / f"tree{n}") for n, path in enumerate(checkouts)]
        yield folder, trees
