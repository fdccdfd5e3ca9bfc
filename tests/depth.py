"""Two depths: everything, or the part of the day.

`tests/run` sets the depth `part` and a seed, the day. Worlds and kill tests then run a part of their
samples, chosen by the seed, laws the first quarter of their examples, and of the costly tests an
eighth runs. What is red in a part is red in the whole. Without these two variables, and for tests
that are named by their path, everything runs. The depth `samples` leaves out samples within tests, but no test (`tools/mutate.py` chooses these itself).
"""

from __future__ import annotations

import functools
import os
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

DEPTH, SEED = "KMERGE_TESTS_DEPTH", "KMERGE_TESTS_SEED"
SHARE = 8  # one in so many: as many days in a row choose everything
# What a marker is for; `tests/run` runs one in this many of such tests by default (0: none).
# What is marked for all of a file runs with all of the file, or not at all: its tests share what costs.
MARKERS = {
    "world": (SHARE, "one of many cases of an enumerated world"),
    "costly": (SHARE, "takes a fifth of a second and more, for git or for many merges"),
    "kill": (1, "a command is killed, by default at a third of the points of a whole run"),
    "installed": (SHARE, "the package or a hook is installed somewhere, which is slow"),
    "rates": (0, "counts how often something is so among all samples: a part would say nothing"),
}


# Read once: a test in a sealed world sees no such variable.
_depth = os.environ.get(DEPTH) or "all"
_seed = os.environ.get(SEED) or "0"


def run_everything() -> None:
    """Leave out nothing, here and in the processes that are started from here on."""
    global _depth
    _depth = os.environ[DEPTH] = "all"


def is_whole() -> bool:
    """Whether everything is to run."""
    return _depth == "all"


def leaves_tests_out() -> bool:
    """Whether some tests are left out, not only samples within them."""
    return _depth == "part"


def day() -> int:
    """The seed as a number that grows by one each day, also at the end of a month."""
    try:
        return datetime.strptime(_seed, "%Y%m%d").toordinal()
    except ValueError:
        return int(_seed)


def in_words(left_out: str = "") -> str:
    """How much runs, for the first line and the last, which knows what was left out."""
    if is_whole():
        return f"depth: everything{left_out}"
    again = f"`tests/run --seed {_seed}` repeats it, `tests/run --all` runs everything"
    return f"depth: a part{left_out}; {again}"


def part(samples: Iterable[T], of: int = SHARE) -> list[T]:
    """All samples, or one of `of`, in their order; `of` seeds in a row choose each of them."""
    every = list(samples)
    if is_whole():
        return every
    order = list(range(len(every)))
    random.Random(len(every)).shuffle(order)  # or a stride would meet the same edit each time
    today = order[day() % of :: of] or order[day() % max(1, len(order)) :][:1]
    return [every[at] for at in sorted(today)]


def kill_points() -> range:
    """The steps before which a command is killed: 1, 2, 3 ... 300, or every third of them."""
    return range(1, 301) if is_whole() else range(1 + day() % 3, 301, 3)


def of_today(items: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The tests to run, and those that are left out: of each function, or of all with a marker."""
    every = list(items)
    groups: dict[tuple[str, str], dict[Any, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for item in every:
        name = next((name for name in MARKERS if item.get_closest_marker(name)), "")
        together = f"{item.path}::{item.originalname}" if name in ("", "world") else ""
        groups[name, together][_shared_with(item, name)].append(item)
    chosen = {
        id(item)
        for (name, _), group in groups.items()
        for tests in (_some(list(group.values()), MARKERS[name][0]) if name else group.values())
        for item in tests
    }
    return (
        [item for item in every if id(item) in chosen],
        [item for item in every if id(item) not in chosen],
    )


def _shared_with(item: Any, name: str) -> object:
    """The file, if all of it is marked, or the test alone."""
    file = item.getparent(pytest.Module)
    return file if any(marker.name == name for marker in file.own_markers) else item


def _some(group: list[Any], of: int) -> list[Any]:
    return part(group, of) if of else []


class EnoughExamples(BaseException):
    """Ends a run of Hypothesis, as Ctrl-C would: Hypothesis does not take it for a failure."""


@contextmanager
def quarter_of_examples(test: Any) -> Iterator[None]:
    """End a test of Hypothesis after the first quarter of its examples, unless everything runs.

    With a smaller `max_examples` Hypothesis would make up others, which the whole never tries.
    """
    from hypothesis.errors import UnsatisfiedAssumption

    if is_whole():
        yield
        return
    whole = test.hypothesis.inner_test
    most = max(1, test._hypothesis_internal_use_settings.max_examples // 4)
    tried, failed = 0, False

    @functools.wraps(whole)
    def first_quarter(*args: Any, **kwargs: Any) -> None:
        nonlocal tried, failed
        tried += 1
        if tried > most and not failed:
            raise EnoughExamples
        try:
            whole(*args, **kwargs)
        except UnsatisfiedAssumption:
            raise
        except (Exception, SystemExit, GeneratorExit, pytest.fail.Exception):
            failed = True  # Hypothesis looks for the smallest one from here on, with many tries
            raise

    test.hypothesis.inner_test = first_quarter
    try:
        yield
    except EnoughExamples:
        pass
    finally:
        test.hypothesis.inner_test = whole
