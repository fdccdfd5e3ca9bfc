"""Findings as text, JSON, GitHub annotations and SARIF."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from json_schema import wrong

from kmerge_git import __version__
from kmerge_git.check.registry import every
from kmerge_git.finding import Finding
from kmerge_git.report.findings import as_github, as_json, as_sarif, as_text
from kmerge_git.visible import visible

SCHEMA = json.loads(
    (Path(__file__).parents[1] / "check" / "sarif-2.1.0-part.json").read_text("utf-8")
)

ONE = Finding(
    "D12", "error", "apps/a b,c:d%.yaml", 9, 5, "replaces the WHOLE list: 100%\nreally",
    path='spec.containers[name="web"]', mend="Write it so.", rule="rule 2: a patch of k.yaml",
    excerpt="\t  $patch: replace",
)  # fmt: skip
TWO = Finding("M06", "warning", "b.yaml", 1, 1, "odd", mend="Keep one.", excerpt="a: b")
THREE = Finding("D39", "info", "b.yaml", 2, 3, "spec.x: old servers", path="spec.x", excerpt="")


def test_text() -> None:
    assert as_text([ONE, TWO, THREE], files=7) == (
        'apps/a b,c:d%.yaml:9:5: error D12 spec.containers[name="web"]: replaces the WHOLE list: '
        "100%\\nreally\n"
        " 9 | \t  $patch: replace\n"
        "   | \t   ^\n"
        "  fix: Write it so.\n"
        "  checked as a patch, because of rule 2: a patch of k.yaml\n"
        "\n"
        "b.yaml:1:1: warning M06 odd\n"
        " 1 | a: b\n"
        "   | ^\n"
        "  fix: Keep one.\n"
        "\n"
        "b.yaml:2:3: info D39 spec.x: old servers\n"
        "\n"
        "1 error, 1 warning, 1 info in 2 of 7 files\n"
    )


def test_each_finding_prints_its_fix() -> None:
    assert as_text([TWO, TWO], files=1).count("  fix: Keep one.\n") == 2


def test_text_of_nothing() -> None:
    assert as_text([], files=1) == "1 file checked, nothing found\n"
    assert as_text([], files=3, skipped={"a.yaml": "no\x1b YAML"}) == (
        "not checked: a.yaml: no\\x1b YAML\n2 files checked, nothing found, 1 skipped\n"
    )
    assert as_text([ONE], files=3, skipped={"a": "b", "c": "d"}).endswith(
        "\nnot checked: a: b\nnot checked: c: d\n1 error in 1 of 1 file, 2 skipped\n"
    )
    assert as_text([], files=2, color=True) == "\033[32m2 files checked, nothing found\033[0m\n"


def test_colour() -> None:
    colored = as_text([ONE, TWO, THREE], files=3, color=True)
    for code in ("\033[31merror D12", "\033[33mwarning M06", "\033[34minfo D39"):
        assert code in colored
    assert "\033" not in as_text([ONE, TWO, THREE], files=3)


def test_json() -> None:
    report = json.loads(as_json([ONE, TWO], {}))
    assert report["schema"] == 1
    assert report["findings"][0] == {
        "id": "D12",
        "severity": "error",
        "file": "apps/a b,c:d%.yaml",
        "line": 9,
        "column": 5,
        "path": 'spec.containers[name="web"]',
        "message": "replaces the WHOLE list: 100%\nreally",
        "mend": "Write it so.",
        "rule": "rule 2: a patch of k.yaml",
    }
    assert len(report["findings"]) == 2
    assert json.loads(as_json([], {})) == {
        "schema": 1, "findings": [], "skipped": [], "why_skipped": {}
    }  # fmt: skip


def test_github() -> None:
    assert as_github([ONE, TWO, THREE], with_fixes=True) == (
        "::error file=apps/a b%2Cc%3Ad%25.yaml,line=9,col=5,title=kmerge D12::"
        'spec.containers[name="web"]: replaces the WHOLE list: 100%25%0Areally%0AWrite it so.\n'
        "::warning file=b.yaml,line=1,col=1,title=kmerge M06::odd%0AKeep one.\n"
        "::notice file=b.yaml,line=2,col=3,title=kmerge D39::spec.x: old servers\n"
    )
    assert "Keep one." not in as_github([TWO])
    assert as_github([]) == ""


def test_sarif() -> None:
    log = json.loads(as_sarif([ONE, TWO, THREE], every(), __version__))
    assert list(wrong(log, SCHEMA)) == []
    [run] = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["D12", "D39", "M06"]
    assert run["tool"]["driver"]["version"] == __version__
    results = run["results"]
    assert [(r["ruleId"], r["ruleIndex"], r["level"]) for r in results] == [
        ("D12", 0, "error"),
        ("M06", 2, "warning"),
        ("D39", 1, "note"),
    ]
    [place] = results[0]["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "apps/a%20b%2Cc%3Ad%25.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 9, "startColumn": 5},
    }
    assert place["logicalLocations"][0]["fullyQualifiedName"] == 'spec.containers[name="web"]'


def test_sarif_of_nothing() -> None:
    log = json.loads(as_sarif([], every(), __version__))
    assert list(wrong(log, SCHEMA)) == []
    assert log["runs"][0]["results"] == []


BROKEN = [
    ({"version": "2.0.0"}, "version"),
    ({"extra": 1}, "extra"),
    ({"runs": [{}]}, "tool"),
    ({"runs": [{"tool": {"driver": {"name": "a"}}, "results": [{}]}]}, "message"),
    ({"runs": [{"tool": {"driver": {"name": "a"}}, "results": [{"message": {}}]}]}, "message"),
    (
        {"runs": [{"tool": {"driver": {"name": "a"}}, "results": [{"message": {"text": "a"}, "level": "info"}]}]},
        "level",
    ),
    ({"runs": {}}, "runs"),
]  # fmt: skip


@pytest.mark.parametrize("change, place", BROKEN)
def test_the_validation_itself(change: dict[str, Any], place: str) -> None:
    log = {"version": "2.1.0", "runs": []} | change
    assert any(place in problem for problem in wrong(log, SCHEMA))


HIDDEN = "a\x1b[2J\u202e\x9b\x7f\u2028\u200b\r\ud83d b"


def test_no_character_that_nobody_sees_leaves_in_any_format() -> None:
    """In JSON it is an escape of JSON; what SARIF's reader shows has none any more."""
    file = HIDDEN.replace("\ud83d", "\udcff")
    odd = Finding("D12", "error", file, 1, 1, HIDDEN, path=HIDDEN, mend=HIDDEN, rule=HIDDEN,
                  excerpt=HIDDEN)  # fmt: skip
    shown = {
        "text": as_text([odd], files=1, skipped={HIDDEN: HIDDEN}),
        "github": as_github([odd]),
        "json": as_json([odd], {HIDDEN: HIDDEN}),
        "sarif": as_sarif([odd], every(), __version__),
    }
    for name, report in shown.items():
        assert all(visible(line) == line for line in report.split("\n")), name
    assert json.loads(shown["json"])["findings"][0]["message"] == HIDDEN
    (result,) = json.loads(shown["sarif"])["runs"][0]["results"]
    assert result["message"]["text"] == visible(HIDDEN)
    (place,) = result["locations"]
    assert place["logicalLocations"][0]["fullyQualifiedName"] == visible(HIDDEN)
