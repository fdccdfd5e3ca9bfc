"""The driver beside modules that want it to end, to print, or to have no descriptors; its bundle."""

from __future__ import annotations

import marshal
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from installed import PACKAGE, copied_package

import kmerge_git

YAML = Path(find_spec("yaml").origin).parent  # type: ignore[union-attr, arg-type]
OURS = "a: 2\nb: 1\n"


def drive(
    package: Path, *args: str, base: str = "a: 1\nb: 1\n", sh: str = ""
) -> tuple[int, str, str, str]:
    """Exit code, stdout, stderr, what stands in ours; the current folder holds the three files."""
    for name, text in (("base", base), ("ours", OURS), ("theirs", "a: 1\nb: 2\n")):
        Path(name).write_text(text)
    argv = [sys.executable, "-I", "-S", str(package / "cli" / "driver.py"), *args]
    argv += ["base", "ours", "theirs"]
    if sh:
        argv = ["sh", "-c", f'"$@" {sh}', "sh", *argv]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr, Path("ours").read_text()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package, without its bundle."""
    return copied_package(tmp_path / "lib" / "kmerge_git")


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="who else may give files away")

ENDS = {
    "exit 0": "raise SystemExit(0)",
    "exit 3": "raise SystemExit(3)",
    "exit": "import sys; sys.exit()",
    "interrupt": "raise KeyboardInterrupt",
    "generator": "raise GeneratorExit",
    "no words": "class E(BaseException):\n def __str__(self): raise SystemExit(0)\nraise E",
    "no stderr": "import sys; sys.stderr.close(); raise SystemExit(0)",
    "other stderr": "import sys; sys.stderr = 0; raise SystemExit(3)",
}


@pytest.mark.world
@pytest.mark.parametrize("body", ENDS.values(), ids=ENDS)
def test_a_library_that_wants_the_end_is_no_answer(tmp_path: Path, body: str) -> None:
    (tmp_path / "yaml").mkdir()
    (tmp_path / "yaml" / "__init__.py").write_text(body)
    code, out, _, ours = drive(PACKAGE, f"--lib={tmp_path}")
    assert (code, out, ours) == (4, "", OURS)


@pytest.mark.parametrize("body", [ENDS["exit 0"], ENDS["interrupt"]])
@pytest.mark.costly
def test_a_module_that_wants_the_end_is_no_answer(copy: Path, body: str) -> None:
    (copy / "pipeline.py").write_text(body)
    code, out, _, ours = drive(copy, f"--lib={YAML.parent}")
    assert (code, out, ours) == (4, "", OURS)


def test_why_there_is_no_answer_is_told(copy: Path) -> None:
    (copy / "pipeline.py").write_text("raise SystemExit('\\x1b[2J')")
    said = drive(copy)[2]
    assert said == "kmerge: SystemExit: \\x1b[2J; git's line merge is used\n"


HABITS = {
    "prints": "print('x' * 99999, flush=True)",
    "writes": "import os; os.write(1, b'x' * 9999)",
    "closes": "import os; [os.close(fd) for fd in (0, 1, 2)]",
}


@pytest.mark.world
@pytest.mark.parametrize("base, answer", [("a: 1\nb: 1\n", 0), ("a: 3\nb: 1\n", 3)])
@pytest.mark.parametrize("habit", HABITS.values(), ids=HABITS)
def test_a_library_with_habits_costs_nothing(
    tmp_path: Path, habit: str, base: str, answer: int
) -> None:
    (tmp_path / "yaml").mkdir()
    text = (
        f"{habit}\n__path__[:] = [{str(YAML)!r}]\nexec(open(__path__[0] + '/__init__.py').read())"
    )
    (tmp_path / "yaml" / "__init__.py").write_text(text)
    code, out, _, ours = drive(PACKAGE, f"--lib={tmp_path}", base=base)
    assert (code, out) == (answer, "")
    assert ours.endswith("\n=======\na: 1\n>>>>>>> theirs\nb: 2\n" if answer else "a: 2\nb: 2\n")


@pytest.mark.world
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("base", ["a: 3\nb: 1\n", "\t{\n"])
def test_descriptors_that_are_closed_cost_nothing(closed: str, base: str) -> None:
    args = f"--lib={YAML.parent}"
    open_ones = drive(PACKAGE, args, base=base)
    assert open_ones[0] == 3
    code, out, _, ours = drive(PACKAGE, args, base=base, sh=closed)
    assert (code, out, ours) == (3, "", open_ones[3])


def test_what_cannot_be_told_was_decided_all_the_same(copy: Path) -> None:
    """The result is in its place: were it no answer, git would merge it once more."""
    text = (copy / "cli" / "drive.py").read_text()
    broken = "    if options.virtual:\n        return  # in a merge of ancestors"
    assert broken in text
    (copy / "cli" / "__pycache__" / "driver").mkdir(parents=True)
    (copy / "cli" / "__pycache__" / "driver").chmod(0o777)  # a bundle takes its time
    (copy / "cli" / "drive.py").write_text(
        text.replace(broken, "    raise KeyboardInterrupt\n" + broken)
    )
    code, _, said, ours = drive(copy, f"--lib={YAML.parent}", base="a: 3\nb: 1\n")
    assert (code, ours[:8]) == (3, "<<<<<<< ")
    assert "cannot report the decisions of the merge: KeyboardInterrupt" in said


# -- the bundle is code: who may write it, whose is read ------------------------------------------


@pytest.fixture
def kept(copy: Path) -> Path:
    """Where a driver writes its bundle, which has no contents worth the time they take."""
    write_less(copy, "def contents(root):\n    return (b'bundle',)\n")
    return copy / "cli" / "__pycache__" / "driver" / f"{sys.implementation.cache_tag}.bundle"


def write_less(package: Path, contents: str) -> None:
    """Give the bundle of a package other contents."""
    with (package / "bundle.py").open("a") as file:
        file.write(f"\n\n{contents}")


def answered(kept: Path) -> str:
    """What a driver says that answers, and writes the bundle if it may."""
    package = kept.parents[3]
    code, out, said, _ = drive(package, f"--lib={YAML.parent}", "--version")
    assert (code, out) == (0, f"kmerge {kmerge_git.__version__}\n")
    return said


@pytest.mark.parametrize("umask, mode", [(0, 0o644), (0o002, 0o644), (0o077, 0o600)])
def test_others_may_read_a_bundle_at_most(kept: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        assert answered(kept) == ""
    finally:
        os.umask(before)
    assert kept.read_bytes() == b"bundle"
    assert kept.stat().st_mode & 0o7777 == mode
    assert kept.parent.stat().st_mode & 0o022 == 0
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o1777])
def test_a_folder_that_others_may_write_gets_no_bundle(kept: Path, mode: int) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.parent.chmod(mode)
    assert answered(kept) == ""
    assert not list(kept.parent.iterdir())


def test_a_folder_elsewhere_gets_no_bundle(kept: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    kept.parent.parent.mkdir(exist_ok=True)
    kept.parent.symlink_to(elsewhere)
    assert answered(kept) == ""
    assert not list(elsewhere.iterdir())


@needs_root
def test_a_folder_of_somebody_else_gets_no_bundle(kept: Path) -> None:
    kept.parent.mkdir(parents=True, mode=0o755)
    os.chown(kept.parent, 1234, 1234)
    assert answered(kept) == ""
    assert not list(kept.parent.iterdir())


def test_a_bundle_that_cannot_be_made_leaves_nothing(kept: Path) -> None:
    write_less(kept.parents[3], "def contents(root):\n    raise SystemExit(0)\n")
    assert answered(kept) == f"kmerge: {kept} was not written: SystemExit: 0\n"
    assert not list(kept.parent.iterdir())


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A bundle that says so when it is run, beside the driver alone."""
    cli = tmp_path / "lib" / "cli"
    (cli / "__pycache__" / "driver").mkdir(parents=True)
    shutil.copy(PACKAGE / "cli" / "driver.py", cli)
    run = "def run(*given):\n import os\n os.write(2, b'{}')\n os._exit(4)\n"
    (cli / "start.py").write_text(run.format("the files"))
    path = cli / "__pycache__" / "driver" / f"{sys.implementation.cache_tag}.bundle"
    head = marshal.dumps((compile(run.format("the bundle"), "start", "exec"),))
    path.write_bytes(b"%d\n" % len(head) + head)
    path.chmod(0o644)
    return path


def test_whose_bundle_is_read(planted: Path) -> None:
    package = planted.parents[3]
    assert drive(package)[2] == "the bundle"
    for mode in (0o664, 0o646):
        planted.chmod(mode)
        assert drive(package)[2] == "the files"


@needs_root
def test_a_bundle_of_somebody_else_is_not_read(planted: Path) -> None:
    package = planted.parents[3]
    os.chown(planted, 1234, 1234)
    assert drive(package)[2] == "the files"
    os.chown(package / "cli" / "driver.py", 1234, 1234)  # who wrote the code may bundle it
    assert drive(package)[2] == "the bundle"
