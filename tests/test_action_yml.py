"""action.yml is a sound composite action: no text of others is read as a command."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "action.yml").read_text()
ACTION: dict[str, Any] = yaml.safe_load(TEXT)
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
EVENTS = {
    "event.action",
    "event.after",
    "event.before",
    "event.merge_group.base_sha",
    "event.merge_group.head_sha",
    "event.pull_request.head.sha",
    "event.pull_request.merge_commit_sha",
    "event.pull_request.merged",
    "event.pull_request.number",
}
SCRIPTS = sorted((ROOT / "tools").glob("action-*.sh"))


def test_it_is_a_composite_action() -> None:
    assert {"name", "description", "inputs", "outputs", "runs"} <= ACTION.keys()
    assert ACTION["runs"]["using"] == "composite"
    assert all(
        isinstance(given.get("description"), str) and isinstance(given.get("default"), str)
        for given in ACTION["inputs"].values()
    )


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["name"])
def test_a_step_reads_no_text_of_others_as_a_command(step: dict[str, Any]) -> None:
    assert "uses" not in step or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"])
    if "run" in step:
        assert step["shell"] == "sh"
        assert "${{" not in step["run"]
    # no name, title, body or message: of an event only numbers, ids of commits and what the server
    # says itself, that a request was closed or merged
    events = re.findall(r"github\.(event[\w.]*|head_ref|ref\w*)", str(step.get("env", "")))
    assert set(events) <= EVENTS


def test_inputs_and_outputs_are_all_used() -> None:
    used = set(re.findall(r"\binputs\.([\w-]+)", TEXT))
    assert used == set(ACTION["inputs"])
    for name, output in ACTION["outputs"].items():
        step, wanted = re.findall(r"steps\.(\w+)\.outputs\.(\w+)", output["value"])[0]
        assert wanted == name
        assert step in {step.get("id") for step in STEPS}
    for mode in ("check", "judge"):
        script = (ROOT / "tools" / f"action-{mode}.sh").read_text()
        outputs = ACTION["outputs"].items()
        ours = [name for name, output in outputs if f"steps.{mode}." in output["value"]]
        assert ours
        assert [name for name in ours if f"{name}=%s" not in script] == []


def test_what_the_scripts_are_told_is_what_they_read() -> None:
    told = {name for step in STEPS for name in step.get("env", {})} - {"GITHUB_TOKEN"}
    read = set(re.findall(r"KMERGE_ACTION_\w+", "".join(file.read_text() for file in SCRIPTS)))
    assert told <= read
    called = re.findall(r"tools/(action-[\w.-]+)", TEXT)
    assert [name for name in called if not (ROOT / "tools" / name).is_file()] == []


def test_what_it_installs_is_pinned_by_hash() -> None:
    text = (ROOT / "tools" / "action-requirements.txt").read_text()
    lines = [line for line in text.replace("\\\n", " ").splitlines() if not line.startswith("#")]
    pinned = {}
    for line in lines:
        name, version = re.match(r"([\w.-]+)==([\w.]+) ", line).groups()  # type: ignore[union-attr]
        assert re.findall(r"--hash=(\S+)", line)
        assert all(
            re.fullmatch("sha256:[0-9a-f]{64}", h) for h in re.findall(r"--hash=(\S+)", line)
        )
        assert "://" not in line
        pinned[re.sub(r"[-_.]+", "-", name).lower()] = tuple(map(int, version.split(".")))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for wanted in project["dependencies"]:
        name, least = re.match(r"([\w.-]+)>=([\d.]+)$", wanted).groups()  # type: ignore[union-attr]
        known = pinned[re.sub(r"[-_.]+", "-", name).lower()]
        assert known >= tuple(map(int, least.split(".")))
    assert "--require-hashes" in (ROOT / "tools" / "action-install.sh").read_text()
