"""Mutates lines of the package, and lists the mutants that no test notices.

    .venv-test/bin/python tools/mutate.py --trace [TESTS ...]    once: which tests reach which lines
    .venv-test/bin/python tools/mutate.py kmerge_git/merge/finish --count 20
    .venv-test/bin/python tools/mutate.py --only FILE --part --day-seed 20261123

A trace needs Python 3.12 (`PYTHON=python3.12 tests/run --version` makes such a .venv-test): older
ones have no cheap way to watch lines. It is kept for the commit; mutants may run with any Python.

Each mutant gets a copy of the tree. The tests that reach its line run there, the cheapest first,
until one is red. A test that is red without the mutant does not count.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PARTS = ROOT / "tools" / "mutation"
sys.path.insert(0, str(PARTS))

from mutate_plugin import OTHER_PACKAGE  # noqa: E402
from mutate_source import Mutant, chosen, mutants, mutated  # noqa: E402
from mutate_tracer import EVERY_TEST  # noqa: E402

BATCHES = (10, 40, 160)  # how many tests run at once; at last all the others
GREEN, BAD_USAGE, NOTHING_RAN = 0, 4, 5  # exit codes of pytest
PROBE = """
import sys
import kmerge_git
from world import BASE, MERGED, OURS, ROOT, THEIRS

def test_in_this_process():
    texts = [text.encode() for text in (BASE, OURS, THEIRS)]
    assert kmerge_git.merge_files(*texts).text == MERGED.encode()

def test_in_a_child(world):
    file = world.run(sys.executable, "-c", "import kmerge_git as k; print(k.__file__)").out.strip()
    assert file == str(ROOT / "kmerge_git" / "__init__.py")
    for name, text in (("base", BASE), ("ours", OURS), ("theirs", THEIRS)):
        (world.root / name).write_text(text)
    assert world.kmerge("merge-file", "base", "ours", "theirs").out == MERGED

def test_in_the_driver(driven):
    driven.fork_one()
    for _ in range(2):  # the first start writes the bundle
        assert driven.merge().code == 0
        assert driven.text("x.yaml") == MERGED
        driven.git("reset", "-q", "--hard", "HEAD^")
"""
PROBE_FILE = "tests/git/test_mutate_probe.py"


def main(argv: list[str] | None = None) -> int:
    """Trace the suite, or run mutants."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("folders", nargs="*", metavar="FOLDER", help="with --trace: arguments of pytest")
    add("--trace", action="store_true", help="find out which tests reach which lines")
    add("--map", type=Path, metavar="FILE", help="the trace's result, if it is not the commit's")
    add("--count", type=int, default=20, metavar="N", help="mutants, each of another line")
    add("--seed", default="", help="another one gives other mutants")
    add("--save", type=Path, metavar="FILE", help="append mutants and verdicts, as lines of JSON")
    add("--only", type=Path, metavar="FILE", help="run the mutants of such a file again")
    add("--verdict", help="of these mutants only those with this verdict, such as `killed`")
    add("--part", action="store_true", help="run only tests of the suite's default depth")
    add("--day-seed", default="", metavar="N", help="the seed that chooses the tests of --part")
    add("--jobs", type=int, default=1, metavar="N")
    add("--limit", type=float, default=600, metavar="SECONDS", help="for one mutant")
    args = parser.parse_args(argv)
    args.map = args.map or default_map()
    with tempfile.TemporaryDirectory(prefix="mutate-", ignore_cleanup_errors=True) as scratch:
        if args.trace:
            return trace(args, Path(scratch))
        if not args.map.exists():
            parser.error(f"there is no {args.map}: run --trace, or name another --map")
        return run(args, Path(scratch))


def default_map() -> Path:
    """The file for the trace of this commit."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    return Path(cache, "kmerge-git", "mutate", f"{commit}.json.gz")


# -- which tests reach which lines


@dataclass(frozen=True, slots=True)
class Reach:
    """The result of a trace. Each line has a number whose bits stand for the tests."""

    tests: list[str]
    seconds: list[float]
    digests: dict[str, str]  # file of the package -> its content when it was traced
    lines: dict[str, dict[int, int]]  # file -> line -> tests

    def of(self, mutant: Mutant) -> int:
        """The tests that reach a mutant."""
        lines = self.lines.get(mutant.file.removeprefix("kmerge_git/"), {})
        bits = 0
        for line in range(mutant.line, mutant.last + 1):
            bits |= lines.get(line, 0)
        return bits or lines.get(mutant.statement, 0)

    def ids(self, bits: int) -> list[str]:
        """The ids of tests, the cheapest first."""
        numbers = [number for number, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"]
        return [self.tests[number] for number in sorted(numbers, key=self.seconds.__getitem__)]


def trace(args: argparse.Namespace, scratch: Path) -> int:
    """Run the tests in a tree that records lines, and write the map."""
    if sys.version_info < (3, 12):
        print("a trace needs Python 3.12: PYTHON=python3.12 tests/run --version makes .venv-test")
        return 2
    base, tree = scratch / "trace", scratch / "tree"
    base.mkdir()
    copy_checkout(tree)
    make_traced(tree, base)
    environment = environment_for(tree, {"MUTATE_BASE": str(base)})
    words = [*pytest_words(scratch), "-q", "--tb=no", "-n", str(args.jobs), *args.folders]
    subprocess.run(words, cwd=tree, env=environment, check=False)
    reach, failed = read_trace(base)
    if not reach.tests:
        return 2
    args.map.parent.mkdir(parents=True, exist_ok=True)
    write_map(reach, args.map)
    for test in failed:
        print(f"red in the traced run: {test}")
    reached = sum(map(len, reach.lines.values()))
    print(f"{args.map}: {len(reach.tests)} tests reach {reached} lines")
    return 0


def make_traced(tree: Path, base: Path) -> None:
    """Let every process that loads the package, or is the driver, record its lines."""
    tracer = (PARTS / "mutate_tracer.py").read_text("utf-8") + "\nstart(BASE)\n"
    names = {"__name__": "mutate_tracer", "BASE": str(base)}
    call = f"exec(compile({tracer!r}, 'mutate_tracer', 'exec'), {names!r}); "
    for name, begin in (("cli/driver.py", "import gc\n"), ("__init__.py", "__version__ = ")):
        file = tree / "kmerge_git" / name
        before, found, after = file.read_text("utf-8").partition("\n" + begin)
        assert found, f"{name} has no line that begins with {begin!r}"
        file.write_text(f"{before}\n{call}{begin}{after}", "utf-8")
    with (tree / "kmerge_git" / "bundle.py").open("a") as file:
        file.write("\n\ndef _bare(code):  # a trace needs the line numbers\n    return code\n")


def read_trace(base: Path) -> tuple[Reach, list[str]]:
    """What the workers have written, and the tests that failed."""
    facts = {file.parent: json.loads(file.read_bytes()) for file in base.glob("*/facts.json")}
    seconds = {test: cost for one in facts.values() for test, cost in one["seconds"].items()}
    bits = {test: 1 << number for number, test in enumerate(seconds)}
    users: dict[str, int] = {}  # fixture or test file -> its tests
    for one in facts.values():
        for test, names in one["uses"].items():
            for name in names:
                users[name] = users.get(name, 0) | bits.get(test, 0)
    lines: dict[str, dict[int, int]] = {}
    for folder, one in facts.items():
        who = {
            number: bits.get(name) or users.get(name, 0) for name, number in one["numbers"].items()
        }
        who[EVERY_TEST] = (1 << len(bits)) - 1
        with (folder / "lines").open(encoding="utf-8") as file:
            for text in file:
                number, name, *reached = text.split(" ")
                tests, of_file = who[int(number)], lines.setdefault(name, {})
                for line in map(int, reached):
                    of_file[line] = of_file.get(line, 0) | tests
    failed = sorted({test for one in facts.values() for test in one["failed"]})
    return Reach([*seconds], [*seconds.values()], digests(ROOT), lines), failed


def digests(root: Path) -> dict[str, str]:
    """The content of each file of the package, in short."""
    return {
        file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(root.glob("kmerge_git/**/*.py"))
    }


def write_map(reach: Reach, file: Path) -> None:
    """Keep a trace."""
    lines = {
        name: {line: f"{bits:x}" for line, bits in sorted(of_file.items()) if bits}
        for name, of_file in reach.lines.items()
    }
    parts = {"tests": reach.tests, "seconds": reach.seconds, "digests": reach.digests}
    with gzip.open(file, "wt", 5, encoding="utf-8") as out:
        json.dump(parts | {"lines": lines}, out)


def read_map(file: Path) -> Reach:
    """A trace that was kept."""
    with gzip.open(file, "rt", encoding="utf-8") as text:
        parts = json.load(text)
    lines = {
        name: {int(line): int(bits, 16) for line, bits in of_file.items()}
        for name, of_file in parts["lines"].items()
    }
    return Reach(parts["tests"], parts["seconds"], parts["digests"], lines)


# -- the mutants


class Verdict(NamedTuple):
    """What the tests say to a mutant."""

    word: str  # killed, survived, timeout, changed
    seconds: float = 0.0
    tests: int = 0  # how many it took
    killer: str = ""


@dataclass(frozen=True, slots=True)
class Bench:
    """What all mutants share."""

    scratch: Path
    template: Path  # a copy of the checkout
    reach: Reach
    limit: float
    environment: dict[str, str]  # says which samples are left out within tests
    tests: frozenset[str]  # those that may run
    green: set[str] = field(default_factory=set)  # tests known to be green without a mutant
    red: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)


def run(args: argparse.Namespace, scratch: Path) -> int:
    """Run mutants and say which survive; exit code 1 if one does."""
    reach = read_map(args.map)
    before: dict[Mutant, str] = {}
    if args.only:
        before = saved(args.only, args.verdict)
        some = list(before)
    else:
        every = mutants_below(args.folders, reach)
        some = chosen([one for one in every if reach.of(one)], args.count, Random(args.seed))
        tell_unreached([one for one in every if not reach.of(one)])
    bench = bench_for(args, scratch, reach)
    prove(bench)
    words: Counter[tuple[str, str]] = Counter()
    with ThreadPoolExecutor(args.jobs) as pool:
        futures = {pool.submit(verdict, mutant, bench): mutant for mutant in some}
        for future in as_completed(futures):
            mutant, result = futures[future], future.result()
            words[before.get(mutant, ""), result.word] += 1
            tell(mutant, result)
            if args.save:
                line = {"mutant": asdict(mutant), "verdict": result._asdict()}
                with args.save.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
    for test in sorted(bench.red):
        print(f"red without a mutant, not counted: {test}")
    for (earlier, word), count in sorted(words.items()):
        print(f"== {word}: {count}" + (f" ({earlier} before)" if earlier else ""))
    return int(any(word == "survived" for _, word in words))


def saved(file: Path, verdict: str | None) -> dict[Mutant, str]:
    """The mutants of a file with their verdicts."""
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    all_of_them = {Mutant(**line["mutant"]): line["verdict"]["word"] for line in lines}
    return {one: word for one, word in all_of_them.items() if verdict in (None, word)}


def mutants_below(folders: list[str], reach: Reach) -> list[Mutant]:
    """All mutants of some folders or files."""
    paths = [Path(folder).resolve() for folder in folders or ["kmerge_git"]]
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))]
    found: list[Mutant] = []
    for file in sorted(files):
        name, source = file.relative_to(ROOT).as_posix(), file.read_bytes()
        if reach.digests.get(name) == hashlib.sha256(source).hexdigest():
            found += mutants(name, source)
        else:
            print(f"{name}: left out, it has changed since the trace")
    return found


def tell_unreached(unreached: list[Mutant]) -> None:
    """List the lines that could be mutated, but that no test reaches."""
    lines: dict[str, set[int]] = {}
    for mutant in unreached:
        lines.setdefault(mutant.file, set()).add(mutant.line)
    for file, numbers in lines.items():
        print(f"{file}: no test reaches {', '.join(map(str, sorted(numbers)))}")


def tell(mutant: Mutant, result: Verdict) -> None:
    """Say what became of a mutant, and show one that nobody noticed."""
    place = f"{mutant.file}:{mutant.line}: {mutant.kind}"
    cost = f"{result.tests} tests, {result.seconds:.0f} s"
    print(f"{result.word}: {place} ({cost}) {result.killer}", flush=True)
    if result.word in ("survived", "timeout"):
        source = (ROOT / mutant.file).read_bytes()
        pages = [text.decode().split("\n") for text in (source, mutated(source, mutant))]
        print(*difflib.unified_diff(*pages, mutant.file, mutant.file, lineterm=""), sep="\n")


# -- a mutant's verdict


def verdict(mutant: Mutant, bench: Bench) -> Verdict:
    """Run the tests that reach a mutant, in growing batches."""
    source = (bench.template / mutant.file).read_bytes()
    if source[mutant.start : mutant.end].decode("utf-8", "replace") != mutant.old:
        return Verdict("changed")
    begin, count = time.monotonic(), 0
    tests = [test for test in bench.reach.ids(bench.reach.of(mutant)) if test in bench.tests]
    with copy_with(bench, mutant.file, mutated(source, mutant)) as tree:
        for batch in batches(tests):
            while left := [test for test in batch if test not in bench.red]:
                count += len(left)
                rest = bench.limit - (time.monotonic() - begin)
                code, killer = run_tests(tree, left, bench.environment, rest)
                seconds = time.monotonic() - begin
                if code is None:
                    return Verdict("timeout", seconds, count)
                if code in (GREEN, NOTHING_RAN):
                    break
                if killer not in left or is_green_without(killer, bench):
                    return Verdict("killed", seconds, count, killer)
    return Verdict("survived", time.monotonic() - begin, count)


def batches(tests: list[str]) -> Iterator[list[str]]:
    """Few tests first, since most mutants are noticed at once."""
    start = 0
    for size in (*BATCHES, len(tests)):
        if start < len(tests):
            yield tests[start : start + size]
        start += size


def is_green_without(test: str, bench: Bench) -> bool:
    """Whether a test is green in the tree as it is; a red one is not asked again."""
    if test in bench.green:
        return True
    code, _ = run_tests(bench.template, [test], bench.environment, bench.limit)
    with bench.lock:
        (bench.green if code == GREEN else bench.red).add(test)
    return code == GREEN


def run_tests(
    tree: Path, tests: list[str], more: dict[str, str], limit: float
) -> tuple[int | None, str]:
    """The exit code of pytest, none if it was too slow, and the first test that failed."""
    with tempfile.TemporaryDirectory(dir=tree.parent, ignore_cleanup_errors=True) as folder:
        selected, files, failed = (Path(folder, name) for name in ("selected", "files", "failed"))
        selected.write_text("\n".join(tests), "utf-8")
        files.write_text("\n".join({test.partition("::")[0]: 1 for test in tests}), "utf-8")
        words = [*pytest_words(Path(folder)), "-n", "0", "-x", "--tb=no", f"@{files}"]
        told = {"MUTATE_SELECT": str(selected), "MUTATE_FAILED": str(failed)}
        code, said = ended(words, tree, environment_for(tree, more | told), max(limit, 1))
        first = failed.read_text("utf-8") if failed.exists() else said[-200:]
    if code in (OTHER_PACKAGE, BAD_USAGE):
        raise SystemExit(said)
    return code, first


def ended(
    words: list[str], tree: Path, environment: dict[str, str], limit: float
) -> tuple[int | None, str]:
    """The exit code and the words of a process, which ends with its children at the limit."""
    with subprocess.Popen(
        words,
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=limit)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            code, said = None, b""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return code, said.decode("utf-8", "replace")


def pytest_words(folder: Path) -> list[str]:
    """How pytest is called: it leaves nothing behind, and loads our plugin."""
    options = ["-p", "mutate_plugin", "-p", "no:cacheprovider", f"--basetemp={folder / 't'}"]
    return [sys.executable, "-m", "pytest", *options]


def environment_for(tree: Path, more: dict[str, str]) -> dict[str, str]:
    """The environment in which the package is that of the tree."""
    other = ("PYTHON", "KMERGE", "MUTATE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(other)}
    return kept | more | {"PYTHONPATH": f"{tree}{os.pathsep}{PARTS}"}


# -- copies of the tree


def copy_checkout(tree: Path) -> None:
    """Copy the files that git knows or would add, as they are now."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in filter(None, names.split("\0")):
        if (ROOT / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)


@contextlib.contextmanager
def copy_with(bench: Bench, name: str, content: bytes) -> Iterator[Path]:
    """A tree of its own for a changed file: links to all the others, and nothing compiled of it.

    Compiled files are valid for a source of the same size and second, and so a mutant could run as
    the file it was. In a new folder without its compiled file and without a bundle it cannot.
    """
    with tempfile.TemporaryDirectory(dir=bench.scratch, ignore_cleanup_errors=True) as folder:
        tree, file = Path(folder, "tree"), Path(folder, "tree", name)
        shutil.copytree(
            bench.template,
            tree,
            symlinks=True,
            copy_function=os.link,
            ignore=lambda above, _: ["driver"] if above.endswith("__pycache__") else [],
        )
        for compiled in file.parent.glob(f"__pycache__/{file.stem}.*"):
            compiled.unlink()
        file.unlink()  # it is a link: to write to it would change the template
        file.write_bytes(content)
        yield tree


def bench_for(args: argparse.Namespace, scratch: Path, reach: Reach) -> Bench:
    """Copy the checkout and collect its tests, which compiles the test files as well."""
    template, collected = scratch / "tree", scratch / "collected"
    copy_checkout(template)
    (template / PROBE_FILE).write_text(PROBE, "utf-8")
    # the part is one of the whole suite, so no file is named; when tests are, samples are left out
    files = [] if args.part else sorted({test.partition("::")[0] for test in reach.tests})
    day = {"KMERGE_TESTS_SEED": args.day_seed or "0"} if args.part else {}
    part = day | {"KMERGE_TESTS_DEPTH": "part"} if args.part else {}
    environment = day | {"KMERGE_TESTS_DEPTH": "samples"} if args.part else {}
    words = [*pytest_words(scratch), "-n", "0", "--collect-only", "-q", *files]
    more = part | {"MUTATE_COLLECTED": str(collected)}
    code, said = ended(words, template, environment_for(template, more), args.limit)
    if code != GREEN:
        raise SystemExit(f"the tests cannot be collected:\n{said[-2000:]}")
    tests = frozenset(collected.read_text("utf-8").splitlines())
    return Bench(scratch, template, reach, args.limit, environment, tests)


def prove(bench: Bench) -> None:
    """Make sure that tests, their children and the driver run the package of the copy."""
    names = re.findall(r"def (test_\w+)", PROBE)
    probes = [f"{PROBE_FILE}::{name}" for name in names]
    code, failed = run_tests(bench.template, probes, {}, bench.limit)
    if code != GREEN:
        raise SystemExit(f"the tree is red without a mutant: {failed}")
    name = "kmerge_git/pipeline.py"
    source = (bench.template / name).read_text("utf-8")
    broken = re.sub(r"(?m)^(def .*:\n)", r"\1    raise RuntimeError\n", source)
    with copy_with(bench, name, broken.encode()) as tree:
        for probe in probes:
            code, failed = run_tests(tree, [probe], {}, bench.limit)
            if failed != probe or broken == source:
                raise SystemExit(f"a mutant that raises goes unnoticed: {probe} {code} {failed}")


if __name__ == "__main__":
    sys.exit(main())
