"""Random merges that once broke a law, made again by `tools/check_laws.py`."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parent.parent / "tools" / "check_laws.py"
SEEDS = {
    "CRD": "101542 303739 505476",
    "ConfigMap": "44374 505599 55397 20261204-263 20261207-221",
    "Deployment": "11447 202292 30346 31337832 404486 20261214-91",
    "RBAC": "101169 22330 2272 4485 777160 777703 77784 20261214-212 20261230-10 20270107-59",
    "Service": "2264 404890 777280",
    "conflicts": "11234 11391 202169 40453 20261204-162 20261212-157 20261212-278",
    "kustomization": (
        "101339 202875 31337492 404104 44495 50566 505870 55405 77768 20261130-21 20261201-82"
        " 20261215-150 20261227-54 20261229-75"
    ),
    "values": "101248 303184 50565 55217 20270103-143",
}


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = spec_from_file_location("check_laws", TOOL)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", SEEDS)
def test_what_broke_a_law_breaks_none(tool: ModuleType, kind: str) -> None:
    for seed in SEEDS[kind].split():
        *_, breaches = tool.merged(tool.ALL_LAWS, (kind, seed))
        assert not breaches, f"{kind} {seed}: {breaches}"


@pytest.mark.parametrize("most, code", [("1", 1), ("2", 0)])
def test_how_many_of_a_day_may_break_a_law(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, most: str, code: int
) -> None:
    monkeypatch.setattr(tool, "checked", lambda group, *rest: 1)
    monkeypatch.setattr("sys.argv", ["check_laws.py", "random", "CRD", "RBAC", "--most", most])
    assert tool.main() == code
