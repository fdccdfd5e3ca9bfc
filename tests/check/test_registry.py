"""The registry: every check is documented, selectable, and in docs/checks.md."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kmerge_git.check import registry
from kmerge_git.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
DECORATORS = ("Check", "KubectlCheck", "also")
ID = re.compile(r"[DM]\d\d")
CATALOGUE = (
    [f"D{n:02}" for n in range(1, 9)]
    + [f"D{n}" for n in range(10, 23)]
    + [f"D{n}" for n in range(30, 44)]
    + ["D50", "D51"]
    + [f"D{n}" for n in range(60, 70)]
    + [f"D{n}" for n in range(70, 81)]
)


def test_the_catalogue_is_complete() -> None:
    ids = [check.id for check in registry.every()]
    assert [id for id in ids if id.startswith("D")] == CATALOGUE
    numbers = [*range(1, 17), *range(20, 30)]  # the second row: beside the sides of a merge
    assert [id for id in ids if id.startswith("M")] == [f"M{n:02}" for n in numbers]


@pytest.mark.parametrize("check", registry.every(), ids=lambda c: c.id)
def test_every_check_is_documented(check: registry.Check) -> None:
    for text in (
        check.what,
        check.kubectl,
        check.kustomize,
        check.example,
        check.counter,
        check.mend,
    ):
        assert text.strip()
    assert check.mend[0] in "`" or check.mend[0].isupper()
    assert check.mend.endswith(".")
    assert check.functions
    assert set(check.tools) <= set("KZ")
    assert set(check.needs) <= set("ST")
    known = {c.id for c in registry.every()}
    assert set(check.hides) <= known
    for function in check.functions.values():
        assert (function.__doc__ or "").strip().endswith(".")


def test_only_the_decorators_know_ids() -> None:
    modules = sorted((ROOT / "kmerge_git" / "check").rglob("*.py"))
    assert modules
    for path in modules:
        tree = ast.parse(path.read_bytes())
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        decorators = [c for c in calls if getattr(c.func, "id", "") in DECORATORS]
        told = {id(node) for call in decorators for node in ast.walk(call)}
        texts = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in told]
        assert not [t.value for t in texts if ID.fullmatch(str(t.value))], path.name


def test_twins_name_each_other() -> None:
    twins = {check.id: check.twin for check in registry.every() if check.twin}
    assert twins == {"D66": "M02", "M02": "D66"}


@pytest.mark.parametrize(
    "chosen, in_patches, elsewhere",
    [
        (None, ["D66"], ["M02"]),
        ({"D66", "M02"}, ["D66"], ["M02"]),
        ({"D66"}, ["D66"], ["D66"]),  # a hook for directives alone speaks about all files
        ({"M02"}, ["M02"], ["M02"]),
        ({"D10"}, [], []),
        ({"D10", "M02"}, [], ["M02"]),
        ({"M01", "D66"}, ["D66"], []),
    ],
)
def test_who_speaks_about_repeated_keys(
    chosen: set[str] | None, in_patches: list[str], elsewhere: list[str]
) -> None:
    checks = registry.ChosenChecks(None if chosen is None else frozenset(chosen))
    for scope, ids in ((registry.PATCH_REPEATED, in_patches), (registry.REPEATED, elsewhere)):
        assert [check.id for check, _ in checks.of(scope)] == ids


def test_a_check_for_one_tool_is_not_asked_about_the_other() -> None:
    checks = registry.ChosenChecks()
    assert [check.id for check, _ in checks.of(registry.PATCH_BOOK, "K")] == ["D65"]
    assert checks.of(registry.PATCH_BOOK, "Z") == []


def test_the_page_is_not_stale() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "generate_checks_doc.py", "--check"], check=False
    )
    assert done.returncode == 0, "run python tools/generate_checks_doc.py"
    page = (ROOT / "docs" / "checks.md").read_text("utf-8")
    for check in registry.every():
        assert f"{check.id}: {check.what}" in page
        assert f"- fix: {check.mend}" in page


SELECTIONS = [
    ((), (), None),
    (("D12",), (), {"D12"}),
    (("d12,m02",), (), {"D12", "M02"}),
    (("D1",), ("D12",), {"D10", "D11", "D13", "D14", "D15", "D16", "D17", "D18"} | {"D19"}),
    (("D12", "M01"), ("D",), {"M01"}),
]


@pytest.mark.parametrize("selected, ignored, expected", SELECTIONS)
def test_select(selected: tuple[str], ignored: tuple[str], expected: set[str] | None) -> None:
    assert registry.select(selected, ignored) == expected


def test_select_groups() -> None:
    everything = {c.id for c in registry.every()}
    assert registry.select(["all"], []) == everything
    assert registry.select([], ["M05"]) == everything - {"M05"}
    for group, letter in (("directives", "D"), ("merge-damage", "M")):
        assert registry.select([group], []) == {i for i in everything if i[0] == letter}


@pytest.mark.parametrize("word", ["X1", "D99", "nonsense"])
def test_unknown_ids(word: str) -> None:
    with pytest.raises(UsageError, match=f"there is no check {word}"):
        registry.select([word], [])
    with pytest.raises(UsageError, match="kmerge check --list"):
        registry.get(word)


def test_two_checks_cannot_share_an_id() -> None:
    with pytest.raises(ValueError, match="there are two checks D01"):
        registry.Check(
            "D01",
            "error",
            registry.MAP,
            "x",
            kubectl="",
            kustomize="",
            example="",
            counter="",
            mend="",
        )
