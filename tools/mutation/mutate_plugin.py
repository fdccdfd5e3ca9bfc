"""The pytest plugin of `tools/mutate.py`: records what each test reaches, or selects tests.

Variables of the environment choose: MUTATE_BASE names the folder of a traced run, MUTATE_SELECT a
file with the ids of the tests to run, MUTATE_FAILED one to write the first id to that failed, and
MUTATE_COLLECTED one to write the ids of all tests to.
"""

from __future__ import annotations

import functools
import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mutate_tracer
import pytest

BASE = os.environ.get("MUTATE_BASE", "")
SELECTED = os.environ.get("MUTATE_SELECT", "")
FAILED = os.environ.get("MUTATE_FAILED", "")
COLLECTED = os.environ.get("MUTATE_COLLECTED", "")
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
OTHER_PACKAGE = 99  # exit code: the package is not that of the tree
MOST_MEMORY = 4 << 30  # a mutant may fill a list for ever


def pytest_configure(config: pytest.Config) -> None:
    """Refuse the package of another tree."""
    if TRACING:
        config.pluginmanager.register(TRACING)
    if SELECTED:
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, resource.RLIM_INFINITY))
    import kmerge_git

    if not Path(kmerge_git.__file__).is_relative_to(config.rootpath):
        pytest.exit(f"the package is {kmerge_git.__file__}", OTHER_PACKAGE)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Run the selected tests, whatever the suite itself would leave out of these files."""
    everything = list(items)
    yield
    if SELECTED:
        wanted = set(Path(SELECTED).read_text("utf-8").splitlines())
        items[:] = [item for item in everything if item.nodeid in wanted]
    if COLLECTED:
        Path(COLLECTED).write_text("\n".join(item.nodeid for item in items), "utf-8")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Tell which test failed: an id may hold whatever the words of pytest hold."""
    if FAILED and report.failed and not Path(FAILED).exists():
        Path(FAILED).write_text(report.nodeid, "utf-8")


class Tracing:
    """Tells the tracer, and the processes that tests start, which test is running."""

    def __init__(self, base: Path) -> None:
        self.folder = base / WORKER
        self.folder.mkdir()
        self.numbers: dict[str, int] = {}  # test, fixture or test file -> its number
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self.uses: dict[str, list[str]] = {}  # test -> what else runs lines for it
        self.caches: dict[str, list[Callable[[], None]]] = {}  # module -> how to clear its caches
        self.current = ""
        os.environ["MUTATE_TRACE"] = str(self.folder)
        mutate_tracer.writes_at_once = False
        self.begin("start")
        if not mutate_tracer.start(str(base)):
            raise pytest.UsageError(f"another tool watches lines: {sys.monitoring.get_tool(1)}")

    def begin(self, name: str) -> str:
        """From now on lines count for this; return what they counted for."""
        before, self.current = self.current, name
        number = self.numbers.setdefault(name, len(self.numbers) + 1)
        mutate_tracer.flush()
        (self.folder / "now").write_bytes(b"%9d" % number)
        if before:
            self.clear_caches()
            mutate_tracer.restart(number)
        return before

    def clear_caches(self) -> None:
        """Clear the caches of functions: else only the first test would reach what they cache."""
        for name, module in list(sys.modules.items()):
            if name not in self.caches:
                file = getattr(module, "__file__", None) or ""
                values = vars(module).values() if mutate_tracer.is_shared(file) else ()
                cached = [one for one in values if isinstance(one, functools._lru_cache_wrapper)]
                self.caches[name] = [one.cache_clear for one in cached]
            for clear in self.caches[name]:
                clear()

    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        """Lines that run while a test file is collected count for all its tests."""
        self.begin(collected_with(collector.nodeid))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Remember the wider fixtures of each test."""
        for item in session.items:
            fixtures = item._fixtureinfo.name2fixturedefs.values()
            wide = [fixture_name(each[-1]) for each in fixtures if each[-1].scope != "function"]
            self.uses[item.nodeid] = [collected_with(item.nodeid), *wide]
        self.begin("start")

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Let lines count for this test."""
        self.begin(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Lines of a fixture that tests share count for each of them."""
        if fixturedef.scope == "function":
            return (yield)
        before = self.begin(fixture_name(fixturedef))
        try:
            return (yield)
        finally:
            self.begin(before)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up what a test costs."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write what the numbers mean."""
        mutate_tracer.flush()
        facts = {
            "numbers": self.numbers,
            "seconds": self.seconds,
            "failed": self.failed,
            "uses": self.uses,
        }
        (self.folder / "facts.json").write_text(json.dumps(facts), "utf-8")


def collected_with(nodeid: str) -> str:
    """A name for the collection of a test file."""
    return f"collection of {nodeid.partition('::')[0]}"


def fixture_name(fixturedef: Any) -> str:
    """A name for a fixture."""
    return f"fixture {fixturedef.baseid}::{fixturedef.argname}"


# The first conftest.py imports the package before pytest asks any plugin.
TRACING = Tracing(Path(BASE)) if BASE and WORKER else None
