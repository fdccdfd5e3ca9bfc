"""Every command with odd but valid files: an answer or one line, never a traceback.

`KMERGE_ODD=20000 tests/run tests/cli/test_odd_shapes.py` looks at more of them than CI does, and
`KMERGE_ODD=20000-30000` at those seeds.
"""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from odd_documents import odd_trio

from kmerge_git.cli.main import COMMANDS, main

# What is made of three files b, o, t (and their folders B, O, T), of every command that takes files.
OF_FILES = {
    "merge": [["o", "b", "t"], ["o", "b", "t", "--explain", "--rules", "kyaml"],
              ["o", "b", "t", "--favor", "ours", "--conflict-style", "zdiff3", "--crd", "o"]],
    "merge-file": [["o", "b", "t"], ["-o", "out", "o", "b", "t", "--explain"]],
    "merge2": [["--src", "t", "--dest", "o"], ["--src", "T", "--dest", "O", "--in-place", "--json"]],
    "merge3": [["-O", "b", "-U", "t", "-D", "o", "--explain", "--summary"],
               ["-O", "b", "-U", "t", "-D", "o", "--rules", "git", "--dry-run", "--json"],
               ["-O", "B", "-U", "T", "-D", "O", "--rules", "git", "-o", "X", "--summary"]],
    "mergetool": [["b", "o", "t", "out"]],
    "patch": [["o", "-p", "t"], ["o", "-p", "t", "--type", "merge", "-o", "json"],
              ["o", "-p", "t", "--tool", "kustomize", "--dry-run", "--schema", "b"]],
    "make-patch": [["b", "o"], ["b", "o", "--live", "t", "--no-overwrite", "-o", "json"],
                   ["b", "o", "--type", "merge", "--schema", "t"]],
    "apply": [["o"], ["o", "--live", "t", "--explain"],
              ["o", "--live", "t", "--last-applied", "b", "--no-overwrite", "-o", "json"],
              ["o", "--live", "t", "--dry-run"],
              ["o", "--live", "t", "--show-patch", "--namespace", "x"]],
    "last-applied": [["view", "o"], ["view", "o", "-o", "json"], ["edit", "o"],
                     ["set", "o", "--config", "t", "--create-annotation"]],
    "check": [["o"], ["--as", "patch", "o", "--select", "all", "--format", "github"],
              ["O", "--select", "all", "--format", "sarif"], ["--as", "patch", "o", "--target", "t"],
              ["-n", "o", "--as", "manifest", "--select", "all"], ["o", "--fix", "--as", "patch"],
              ["o", "t", "--tool", "both", "--format", "json", "-q"]],
    "diff": [["b", "o"], ["B", "O", "--json"], ["B", "O", "--stat"], ["--full", "b", "o"],
             ["--external", "x.yaml", "b", "a" * 40, "100644", "o", "b" * 40, "100644"]],
    "driver": [["b", "o", "t"]],
}  # fmt: skip
# What these make of a repository is in tests/git/test_odd_repositories.py.
OF_REPOSITORIES = {
    *(
        "completion",
        "install",
        "uninstall",
        "status",
        "preview",
        "solve",
        "resolve",
        "explain",
    ),
    *("refresh", "replay", "vendor", "generate"),
}
ASKED = os.environ.get("KMERGE_ODD", "")
IS_LONG = bool(ASKED)
EDITOR = "sed -i -e s/a/b/"


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command has said, and its exit code."""

    argv: list[str]
    code: int
    out: bytes
    err: str


def seeds() -> range:
    """Those of CI, or those that are asked for."""
    first, _, last = (ASKED or "45").rpartition("-")
    return range(int(first or 0), int(last))


def test_every_command_is_here() -> None:
    assert {*OF_FILES, *OF_REPOSITORIES} - {"driver"} == {*COMMANDS, "solve"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EDITOR", EDITOR)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("KUBE_EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    for name in "BOT":
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.mark.world
@pytest.mark.parametrize("command", OF_FILES)
def test_odd_files(place: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = []
    for seed in seeds():
        texts = odd_trio(Random(seed))
        ways = OF_FILES[command]
        for argv in ways if IS_LONG else [ways[seed % len(ways)]]:
            for name, text in zip("bot", texts, strict=True):
                Path(name).write_bytes(text)
                Path(name.upper(), "x.yaml").write_bytes(text)
            ended = call([command, *argv], monkeypatch)
            why = fault(ended)
            if why:
                wrong.append(f"{seed}: {' '.join(ended.argv)}: {why}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:40])


def fault(ended: Ended) -> str:
    """What is wrong with the end of a command; nothing if all is well."""
    if ended.code not in (0, 1, 2):
        return f"exit {ended.code}: {ended.err[-1500:]}"
    errors = [line for line in ended.err.split("\n") if line.startswith("kmerge: ")]
    if "internal error" in ended.err or "Traceback" in ended.err:
        return ended.err
    if ended.code == 2 and len(errors) != 1:
        return f"{len(errors)} errors: {ended.err}"
    if ended.code == 2 and ended.out:
        return f"an error, and on stdout {ended.out[:80]!r}"
    if "--json" in ended.argv or "json" in ended.argv:
        return "" if ended.code == 2 else _why_no_json(ended)
    return ""


def _why_no_json(ended: Ended) -> str:
    """What a program that reads the report would complain of; of several objects the first."""
    text = ended.out.decode()
    try:
        json.JSONDecoder(parse_constant=_no_number).raw_decode(text)
    except ValueError as error:
        return f"{error}: {text[:200]!r}" if text else ""
    return ""


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def call(argv: list[str], monkeypatch: pytest.MonkeyPatch) -> Ended:
    """Run a command in this process."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="surrogateescape", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace", write_through=True)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", out)
        patched.setattr(sys, "stderr", err)
        patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        try:
            code = main(argv) if argv[0] != "driver" else _drive(argv[1:])
        except SystemExit as exit:
            code = exit.code if isinstance(exit.code, int) else 99
        except Exception:
            told = traceback.format_exc().split("\n")[-7:]
            return Ended(argv, 99, out.buffer.getvalue(), " | ".join(map(str.strip, told)))
    return Ended(argv, code, out.buffer.getvalue(), err.buffer.getvalue().decode())


def _drive(argv: list[str]) -> int:
    """The driver's answer: 3 is its conflict."""
    from kmerge_git.cli import drive

    code = drive.main(["--path=x.yaml", *argv])
    return {0: 0, 3: 1}.get(code, 90 + code)
