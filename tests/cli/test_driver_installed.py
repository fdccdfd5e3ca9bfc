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
from installed import copied_package, spied_on

import kmerge_git


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder that holds the package and PyYAML, compiled, without a bundle."""
    folder = tmp_path / "site-packages"
    spec = find_spec("yaml")
    assert spec is not None and spec.origin is not None
    shutil.copytree(Path(spec.origin).parent, folder / "yaml")
    copied_package(folder / "kmerge_git")
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
    folder = site / "kmerge_git" / "cli" / "__pycache__" / "driver"
    return folder / f"{sys.implementation.cache_tag}.bundle"


@pytest.mark.costly
def test_it_answers_with_and_without_its_bundle(site: Path) -> None:
    for _ in range(2):
        answer = drive(site, "--version")
        assert (answer.returncode, answer.stderr) == (0, "")
        assert answer.stdout == f"kmerge {kmerge_git.__version__}\n"
        assert bundle(site).exists()


@pytest.mark.costly
def test_the_bundle_holds_this_package_alone(site: Path) -> None:
    drive(site, "--version")
    size, _, rest = bundle(site).read_bytes().partition(b"\n")
    _, _, every, some, late = marshal.loads(rest[: int(size)])
    names = {name for name, *_ in every} | set(some)
    assert {name.partition(".")[0] for name in names} == {"kmerge_git"}
    assert {"kmerge_git.pipeline", "kmerge_git.text.markers", *late} <= names
    assert not set(late) & {name for name, *_ in every}


@pytest.mark.costly
def test_the_other_rules_come_out_of_the_bundle(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are a package among modules that are loaded one by one."""
    monkeypatch.setenv("KMERGE_RULES", "kyaml")
    for _ in range(2):
        assert merged(site, tmp_path) == (0, "a: 2\nb: 2\n", "")
    base, ours, theirs = versions(tmp_path, "a: 3\nb: 1\n")
    assert drive(site, base, ours, theirs).returncode == 0
    assert ours.read_text() == "a: 3\nb: 1\n"


# Imports all that the bundle has besides, and tells which module did not come out of it.
EVERY_MODULE = """
bundle = sys.meta_path[0]
for name in bundle.places:
    __import__(name)
    getattr(sys.modules[name], "nothing", None)  # a stand-in is loaded when it is asked
    if sys.modules[name].__spec__.loader is not bundle:
        print(name, file=sys.stderr)
print(f"{len(bundle.places)} modules", file=sys.stderr)
"""


@pytest.mark.costly
def test_every_module_comes_out_of_the_bundle(site: Path, tmp_path: Path) -> None:
    drive(site, "--version")
    _, _, _, some, late = marshal.loads(bundle(site).read_bytes().partition(b"\n")[2])
    assert len(some) > 20
    assert set(late) <= set(some)
    shutil.rmtree(site / "yaml")
    done = drive(site, spied_on(site, EVERY_MODULE), *versions(tmp_path, "a: 1\nb: 2\n"))
    assert (done.returncode, done.stderr) == (0, f"{len(some)} modules\n")


def merged(site: Path, folder: Path) -> tuple[int, str, str]:
    base, ours, theirs = versions(folder, "a: 1\nb: 2\n")
    answer = drive(site, base, ours, theirs)
    return answer.returncode, ours.read_text(), answer.stderr


@pytest.mark.world
@pytest.mark.parametrize("damage", [b"", b"12", b"7\nabcdefg", b"x\n", b"0\n", b"9\n\xe9\0\0"])
def test_a_broken_bundle_costs_no_answer(site: Path, tmp_path: Path, damage: bytes) -> None:
    drive(site, "--version")
    whole = bundle(site).read_bytes()
    bundle(site).write_bytes(damage)
    assert merged(site, tmp_path) == (0, "a: 2\nb: 2\n", "")
    assert len(bundle(site).read_bytes()) == len(whole)


@pytest.mark.costly
def test_half_a_bundle_costs_no_answer(site: Path, tmp_path: Path) -> None:
    drive(site, "--version")
    whole = bundle(site).read_bytes()
    bundle(site).write_bytes(whole[: len(whole) // 2])
    assert merged(site, tmp_path) == (0, "a: 2\nb: 2\n", "")


@pytest.mark.parametrize("tail", [b"", bytes(60_000)])
@pytest.mark.costly
def test_a_bundle_without_its_end_costs_no_answer(site: Path, tmp_path: Path, tail: bytes) -> None:
    drive(site, "--version")
    whole = bundle(site).read_bytes()
    bundle(site).write_bytes(whole[:-60_000] + tail)
    base, ours, theirs = versions(tmp_path, "a: 3\nb: 1\n")
    assert drive(site, base, ours, theirs).returncode == 3
    assert "a: 2\n=======\na: 3\n" in ours.read_text()


@pytest.mark.costly
def test_a_folder_without_pyyaml_is_told(site: Path, tmp_path: Path) -> None:
    shutil.rmtree(site / "yaml")
    for _ in range(2):
        base, ours, theirs = versions(tmp_path, "a: 1\nb: 2\n")
        answer = drive(site, f"--lib={tmp_path}", base, ours, theirs)
        assert answer.returncode == 3  # merged by lines: they touch
        assert "No module named 'yaml" in answer.stderr


@pytest.mark.costly
def test_a_changed_module_is_not_taken_from_the_bundle(site: Path, tmp_path: Path) -> None:
    drive(site, "--version")
    module = site / "kmerge_git" / "pipeline.py"
    module.write_text(module.read_text() + "\n\nraise RuntimeError('the new module')\n")
    code, _, said = merged(site, tmp_path)
    assert code == 4
    assert "the new module" in said


@pytest.mark.costly
def test_a_missing_module_is_not_taken_from_the_bundle(site: Path, tmp_path: Path) -> None:
    drive(site, "--version")
    (site / "kmerge_git" / "text" / "markers.py").unlink()
    assert merged(site, tmp_path) == (0, "a: 2\nb: 2\n", "")


@pytest.mark.costly
def test_a_copied_bundle_is_that_of_the_copy(site: Path, tmp_path: Path) -> None:
    drive(site, "--version")
    copy = tmp_path / "copy"
    shutil.copytree(site, copy)  # with the times of the files
    shutil.rmtree(site)
    assert merged(copy, tmp_path) == (0, "a: 2\nb: 2\n", "")


@pytest.mark.costly
def test_the_modules_of_some_merges_are_in_the_bundle(site: Path, tmp_path: Path) -> None:
    drive(site, "--version")
    base, ours, theirs = versions(tmp_path, "a: 3\nb: 1\n")
    script = site / "kmerge_git" / "cli" / "driver.py"
    argv = [sys.executable, "-I", "-S", "-v", str(script), str(base), str(ours), str(theirs)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "a: 2\n=======\na: 3\n" in ours.read_text()
    loaded = [line for line in done.stderr.splitlines() if line.startswith("import 'kmerge_git")]
    assert loaded and all("Lazy object" in line for line in loaded)


def test_a_bundle_that_cannot_be_made_costs_no_answer(site: Path, tmp_path: Path) -> None:
    broken = site / "kmerge_git" / "bundle.py"
    broken.write_text("raise RuntimeError('no bundle today')\n")
    base, ours, theirs = versions(tmp_path, "a: 1\nb: 2\n")
    answer = drive(site, base, ours, theirs)
    assert answer.returncode == 0
    assert "no bundle today" in answer.stderr
    assert ours.read_text() == "a: 2\nb: 2\n"


@pytest.mark.costly
def test_a_reader_of_stderr_that_went_away_costs_no_answer(site: Path, tmp_path: Path) -> None:
    base, ours, theirs = versions(tmp_path, "a: 3\nb: 2\n")
    reader, writer = os.pipe()
    os.close(reader)
    answer = drive(site, base, ours, theirs, stderr=writer)
    os.close(writer)
    assert (answer.returncode, answer.stdout) == (3, "")
    assert "=======\na: 3\n>>>>>>> theirs\nb: 2\n" in ours.read_text()


@pytest.mark.parametrize("theirs, code", [("a: 1\nb: 2\n", 0), ("a: 3\nb: 1\n", 3)])
@pytest.mark.costly
def test_the_bundle_is_there_before_the_result_is(
    site: Path, tmp_path: Path, theirs: str, code: int
) -> None:
    """A driver that is killed while it writes its bundle has replaced nothing."""
    drive_module = site / "kmerge_git" / "cli" / "drive.py"
    text, rename = drive_module.read_text(), "        calls.replace(fresh, path)\n"
    assert text.count(rename) == 1
    drive_module.write_text(
        text.replace(rename, "        calls.kill(calls.getpid(), 9)\n" + rename)
    )
    base, ours, other = versions(tmp_path, theirs)
    assert drive(site, base, ours, other).returncode == -9
    assert ours.read_text() == "a: 2\nb: 1\n"
    assert bundle(site).stat().st_size > 60_000
    drive_module.write_text(text)
    for path in tmp_path.glob("*.kmerge-*"):
        path.unlink()
    assert drive(site, base, ours, other).returncode == code
    assert ours.read_text() != "a: 2\nb: 1\n"


@pytest.mark.costly
def test_a_driver_that_is_killed_while_it_writes_its_bundle(site: Path, tmp_path: Path) -> None:
    """It has answered nothing, and the next one works."""
    module = site / "kmerge_git" / "bundle.py"
    text = module.read_text()
    module.write_text("import os\nos.kill(os.getpid(), 9)\n")
    base, ours, theirs = versions(tmp_path, "a: 1\nb: 2\n")
    assert drive(site, base, ours, theirs).returncode == -9
    assert (ours.read_text(), bundle(site).exists()) == ("a: 2\nb: 1\n", False)
    assert sorted(path.name for path in tmp_path.iterdir() if path != site) == [
        "base", "ours", "theirs",
    ]  # fmt: skip
    module.write_text(text)
    assert merged(site, tmp_path) == (0, "a: 2\nb: 2\n", "")
    assert bundle(site).exists()


@pytest.mark.costly
def test_a_result_that_cannot_be_put_in_its_place_is_no_answer(site: Path, tmp_path: Path) -> None:
    """What was reported by then is git's to mend: it merges the same files once more."""
    drive(site, "--version")
    drive_module = site / "kmerge_git" / "cli" / "drive.py"
    text, rename = drive_module.read_text(), "        calls.replace(fresh, path)\n"
    drive_module.write_text(text.replace(rename, "        raise OSError(28, 'no room')\n"))
    base, ours, theirs = versions(tmp_path, "a: 3\nb: 1\n")
    before = sorted(tmp_path.iterdir())
    answer = drive(site, base, ours, theirs)
    assert (answer.returncode, ours.read_text()) == (4, "a: 2\nb: 1\n")
    told = answer.stderr.splitlines()
    assert "1 conflict, everything else" in told[-2]
    assert told[-1] == "kmerge: OSError: [Errno 28] no room; git's line merge is used"
    assert sorted(tmp_path.iterdir()) == before
