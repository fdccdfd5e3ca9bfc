"""`tools/snapshot.py commands`: what it records, and how two records are compared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMPLETION = "12 kmerge completion bash"


def snapshot(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the tool with the package of this tree."""
    argv = [sys.executable, ROOT / "tools" / "snapshot.py", *words]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False)


def test_a_repository_is_recorded_with_all_that_its_commands_did(tmp_path):
    done = snapshot("commands", tmp_path / "a", "--jobs", "1", "--only", "patched 12")
    assert done.returncode == 0, done.stderr
    line = json.loads((tmp_path / "a").read_text())
    assert (line["group"], line["name"]) == ("commands: patched", "12")
    in_place = next(r for name, r in line["results"].items() if name.endswith("--in-place"))
    assert in_place["code"] == 0
    assert set(in_place["files"]) == {"repo/old.yaml"}
    assert "replicas: 9" in in_place["files"]["repo/old.yaml"]
    assert str(ROOT) not in json.dumps(line)


def test_what_differs_is_named_and_the_script_of_completion_may_differ(tmp_path):
    def write(name: str, out: str, script: str, code: int = 0) -> Path:
        of_all = {"code": code, "err": "", "files": {}}
        results = {"00 kmerge diff": of_all | {"out": out}, COMPLETION: of_all | {"out": script}}
        line = {"group": "commands: installed", "name": "3", "results": results}
        (tmp_path / name).write_text(json.dumps(line) + "\n")
        return tmp_path / name

    before, same = write("before", "one\n", "a"), write("same", "one\n", "b")
    other, failing = write("other", "two\n", "a"), write("failing", "one\n", "b", code=1)
    assert snapshot("compare", before, same).stdout == "identical: 1 inputs\n"
    differs = snapshot("compare", before, other)
    assert differs.returncode == 1
    assert differs.stdout.startswith("commands: installed 3: 00 kmerge diff: out\n")
    assert "\n-one\n+two\n" in differs.stdout
    assert f"installed 3: {COMPLETION}: code\n" in snapshot("compare", before, failing).stdout
