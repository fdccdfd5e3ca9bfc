"""A merge costs what it should: ten times the units, at most twelve times the work, without a clock."""

from __future__ import annotations

import subprocess
import sys

import counted_growth
import pytest
from counting import steps

from kmerge_git import Schema, apply_patch

pytestmark = pytest.mark.costly
MOST = 12


@pytest.mark.parametrize("shape", counted_growth.SHAPES)
def test_ten_times_the_units_cost_ten_times_the_work(shape: str) -> None:
    command = [sys.executable, counted_growth.__file__, shape, "500", "5000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    small, large = map(int, done.stdout.split())
    assert small > 10_000  # something was counted
    assert large <= MOST * small


def test_a_patch_of_a_long_list() -> None:
    def count(size: int) -> int:
        ports = [{"containerPort": n, "protocol": "TCP"} for n in range(1, size + 1)]
        containers = [{"name": "c", "ports": ports}]
        target = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": containers}}
        changes = [{"containerPort": n, "name": f"p{n}"} for n in (1, size // 2, size, size + 10)]
        changes.append({"containerPort": 7, "$patch": "delete"})
        patch = {"spec": {"containers": [{"name": "c", "ports": changes}]}}
        return steps(lambda: apply_patch(target, patch, schema))

    schema = Schema.builtin("v1", "Pod")
    count(20)  # what is loaded once is loaded now
    assert count(10_000) <= MOST * count(1000)
