"""The driver out of a folder that it shares with other packages, as `pip install` puts it."""

from __future__ import annotations

import marshal
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import kmerge_git


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder that holds the package and PyYAML, its compiled part as well."""
    folder = tmp_path / "site-packages"
    for name in ("kmerge_git", "yaml"):
        spec = find_spec(name)
        assert spec is not None and spec.origin is not None
        shutil.copytree(
            Path(spec.origin).parent, folder / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    return folder


def drive(
    site: Path, *args: str | Path, stderr: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    script = site / "kmerge_git" / "cli" / "driver.py"
    argv = [sys.executable, "-I", "-S", str(script), *map(str, args)]
    out = subprocess.PIPE
    return subprocess.run(argv, stdout=out, stderr=stderr, text=True, check=False, timeout=60)


def versions(folder: Path, theirs: str) -> list[Path]:
    """Three files, with full paths."""
    texts = {"base": "a: 1\nb: 1\n", "ours": "a: 2\nb: 1\n", "theirs": theirs}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]


def bundle(site: Path) -> Path:
    folder = site / "kmerge_git" / "cli" / "__pycache__"
    return folder / f"driver.{sys.implementation.cache_tag}.bundle"


def test_it_answers_with_and_without_its_bundle(site: Path) -> None:
    for _ in range(2):
        answer = drive(site, "--version")
        assert (answer.returncode, answer.stderr) == (0, "")
        assert answer.stdout == f"kmerge {kmerge_git.__version__}\n"
        assert bundle(site).exists()


def test_the_bundle_holds_this_package_alone(site: Path) -> None:
    drive(site, "--version")
    _, codes = marshal.loads(bundle(site).read_bytes())
    names = {name.partition(".")[0] for name in codes}
    assert names == {"__future__", "kmerge_git"}


def test_a_bundle_that_cannot_be_made_costs_no_answer(site: Path, tmp_path: Path) -> None:
    broken = site / "kmerge_git" / "bundle.py"
    broken.write_text("raise RuntimeError('no bundle today')\n")
    base, ours, theirs = versions(tmp_path, "a: 1\nb: 2\n")
    answer = drive(site, base, ours, theirs)
    assert answer.returncode == 0
    assert "no bundle today" in answer.stderr
    assert ours.read_text() == "a: 2\nb: 2\n"


def test_a_reader_of_stderr_that_went_away_costs_no_answer(site: Path, tmp_path: Path) -> None:
    base, ours, theirs = versions(tmp_path, "a: 3\nb: 2\n")
    reader, writer = os.pipe()
    os.close(reader)
    answer = drive(site, base, ours, theirs, stderr=writer)
    os.close(writer)
    assert (answer.returncode, answer.stdout) == (3, "")
    assert "=======\na: 3\n>>>>>>> theirs\nb: 2\n" in ours.read_text()
