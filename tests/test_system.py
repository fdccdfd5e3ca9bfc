"""The system calls of the driver, with and without `os`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kmerge_git import system

ROOT = Path(system.__file__).resolve().parents[1]


def without_os(code: str, **variables: str) -> str:
    """What a bare interpreter prints, in which nobody has imported `os`."""
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from kmerge_git.system import *\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", start + code + "\nassert 'os' not in sys.modules"],
        env={**os.environ, **variables},
        capture_output=True,
        check=True,
    )
    return os.fsdecode(done.stdout).rstrip("\n")


def test_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KMERGE_TRIED", "ä")
    assert system.variable("KMERGE_TRIED") == "ä"
    monkeypatch.delenv("KMERGE_TRIED")
    assert system.variable("KMERGE_TRIED") is None


def test_without_os() -> None:
    assert without_os("print(variable('KMERGE_TRIED'))", KMERGE_TRIED="yes") == "yes"
    assert without_os("print(variable('KMERGE_NOT_THERE'))") == "None"
    odd = os.fsdecode(b"caf\xe9")
    assert without_os("print(ascii(variable('KMERGE_TRIED')))", KMERGE_TRIED=odd) == ascii(odd)


def test_a_program_writes_where_it_should() -> None:
    out, into = os.pipe()
    pid = system.spawn(["sh", "-c", "echo said; echo lost >&2; cat"], into)
    os.close(into)
    assert system.all_of(out) == b"said\n"
    assert os.waitpid(pid, 0)[1] == 0
    with pytest.raises(OSError, match=r"Bad file"):
        os.fstat(out)


def test_files(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    file = str(tmp_path / "f")
    assert (system.contents(file), system.contents(file, 2)) == (b"12345", b"12")
    assert system.contents(str(tmp_path)) == system.contents(file + "g") == b""
    assert (system.exists(file), system.exists(file + "g"), system.exists("\0")) == (
        True,
        False,
        False,
    )
    assert (system.is_folder(str(tmp_path)), system.is_folder(file)) == (True, False)


@pytest.mark.parametrize("path, folder", [("a/b/c", "a/b"), ("a", ""), ("/a", ""), ("", "")])
def test_a_parent(path: str, folder: str) -> None:
    assert system.parent(path) == folder


def test_a_program_writes_into_a_file_that_became_stdin() -> None:
    """`out` has the place of the first descriptor where that was closed."""
    code = """
import os
os.close(0)
from kmerge_git.text.linemerge import TemporaryFiles
made = TemporaryFiles((b"a\\n", b"b\\n", b"a\\n")).result()
os.write(2, repr(made).encode())
"""
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, check=True)
    assert done.stderr == rb"(b'b\n', 0)"
