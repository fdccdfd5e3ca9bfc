"""Settings of the whole suite."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import depth
import forking
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# The machines that run the suite are shared: only what is computed counts, never how long it took.
# The same examples every time: a red suite is a change's fault, not the day's. To look for new
# ones: KMERGE_EXAMPLES=random tests/run tests/test_laws.py
looks_for_new = os.environ.get("KMERGE_EXAMPLES") == "random"
if not looks_for_new and hasattr(providers, "is_local_module_file"):
    # the constants of loaded modules go into the examples: which, is up to the tests run before
    providers.is_local_module_file = lambda path: False
settings.register_profile(
    "suite",
    derandomize=not looks_for_new,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("suite")


LEFT_OUT = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers; what is named by its path runs whole, in the workers too."""
    config.stash[LEFT_OUT] = 0
    for name, (_, reason) in depth.MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {reason}")
    named = config.args_source is config.ArgsSource.ARGS and not hasattr(config, "workerinput")
    if named and depth.leaves_tests_out():
        depth.run_everything()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say in the first line how much will run; the header of pytest is not shown with `-q`."""
    if not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        print(depth.in_words())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another day tries."""
    if depth.leaves_tests_out():
        items[:], left_out = depth.of_today(items)
        config.hook.pytest_deselected(items=left_out)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count what is left out, by the depth or by `-k`."""
    for item in items[:1]:
        item.config.stash[LEFT_OUT] += len(items)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Let a law try the first quarter of its examples."""
    if not hasattr(pyfuncitem.obj, "hypothesis"):
        return (yield)
    with depth.quarter_of_examples(pyfuncitem.obj):
        return (yield)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the processes that this one has started, and tell the first process what it counted."""
    forking.close()
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take the count from a worker; it is the same in all, but for one that crashed."""
    count = getattr(node, "workeroutput", {}).get("left_out", 0)
    node.config.stash[LEFT_OUT] = max(count, node.config.stash[LEFT_OUT])


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Say in the last line how much has run, and how that is repeated."""
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        left_out = config.stash[LEFT_OUT]
        print(depth.in_words(f", {left_out} test{'s' if left_out != 1 else ''} left out"))
