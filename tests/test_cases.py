"""The cases: a folder each, with the three versions and the wanted result; all obey all laws."""

from __future__ import annotations

import tomllib
from pathlib import Path

import laws
import pytest
from causes import with_causes

from kmerge_git.api import merge_files

CASES = Path(__file__).parent / "cases"
OTHERS = {"merge2", "merge3", "_known_wrong"}  # have rules, or a form, of their own
AREAS = sorted(area for area in CASES.iterdir() if area.is_dir() and area.name not in OTHERS)
FOLDERS = sorted(p.parent for area in AREAS for p in area.glob("*/case.toml"))
KNOWN_WRONG = sorted(p.parent for p in (CASES / "_known_wrong").rglob("case.toml"))


def test_there_are_cases() -> None:
    assert len(FOLDERS) >= 128


def name(folder: Path) -> str:
    return str(folder.relative_to(CASES))


def trio(folder: Path) -> tuple[bytes, bytes, bytes]:
    base, ours, theirs = (
        (folder / f"{side}.yaml").read_bytes() for side in ("base", "ours", "theirs")
    )
    return base, ours, theirs


def check(folder: Path) -> None:
    case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    outcome = merge_files(*trio(folder), path=case.get("path", ""))
    wanted = [path.read_bytes().decode() for path in sorted(folder.glob("expected*.yaml"))]
    assert outcome.text.decode() in map(with_causes, wanted), case["why"]
    assert (0 if outcome.clean else 1) == case["exit"]
    assert [c.place for c in outcome.conflicts] == case.get("conflicts", [])


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_case_is_as_expected(folder: Path) -> None:
    check(folder)


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_case_obeys_the_laws(folder: Path) -> None:
    case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    laws.obey(trio(folder), case.get("path", ""))


@pytest.mark.parametrize("folder", KNOWN_WRONG, ids=name)
@pytest.mark.xfail(strict=True, reason="known to be wrong; the case says how it should be")
def test_known_wrong_case(folder: Path) -> None:
    check(folder)
    laws.obey(trio(folder))
