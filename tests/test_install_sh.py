"""install.sh: what it says, what it makes, and that removing leaves nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kmerge_git import __version__
from kmerge_git.cli.main import COMMANDS

SCRIPT = Path(__file__).resolve().parent.parent / "install.sh"
TOOLS = "cat cksum dirname env git ln mkdir mktemp mv readlink rm rmdir sed sh sort".split()  # noqa: SIM905


class World:
    """A machine with the named tools, an empty home and nothing else."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home dir"
        self.prefix = root / "the prefix"
        self.bin = root / "bin"
        self.bin.mkdir()
        self.home.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.add("python3", f'exec "{sys.executable}" "$@"')

    def add(self, name: str, script: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        kept = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "HTTP", "SSL_"))}
        return subprocess.run(
            ["sh", str(SCRIPT), *arguments],
            env={**kept, "PATH": str(self.bin), "HOME": str(self.home), **settings},
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )

    def files(self) -> list[str]:
        outside = [
            p
            for p in self.root.rglob("*")
            # the first merge writes its modules as one file, in a folder of its own
            if self.bin not in (p, p.parent) and "__pycache__/driver" not in p.as_posix()
            if not p.is_relative_to(self.home / ".cache")  # pip's own
        ]
        return sorted(p.relative_to(self.root).as_posix() for p in outside if p != self.home)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_help_names_every_flag_and_does_nothing(world):
    done = world.run("--help")
    assert done.returncode == 0
    flags = ("--demo", "--global", "--prefix DIR", "--newest", "--dry-run", "--uninstall", "--help")
    for flag in flags:
        assert flag in done.stdout
    assert world.files() == []


@pytest.mark.parametrize("arguments", [("--frobnicate",), ("--prefix",), ("extra",)])
def test_a_wrong_argument_is_refused_before_anything_happens(world, arguments):
    done = world.run(*arguments)
    assert done.returncode == 1
    assert "install.sh: " in done.stderr
    assert world.files() == []


def test_a_dry_run_says_everything_and_does_nothing(world):
    done = world.run("--dry-run", "--demo", "--global")
    assert done.returncode == 0, done.stderr
    venv = f"{world.home}/.local/share/kmerge-git/venv"
    assert f"-m venv '{venv}'\n" in done.stdout
    assert f"ln -s '{venv}/bin/kmerge' '{world.home}/.local/bin/kmerge'\n" in done.stdout
    assert "kmerge' install --global\n" in done.stdout
    assert "sudo" not in done.stdout
    assert world.files() == []


def test_the_path_is_the_last_thing_to_be_told(world):
    told = f"  {world.home}/.local/bin is not on your PATH; add it"
    shown = world.run("--dry-run", "--demo").stdout
    assert told in shown.partition("==> next steps\n")[2]
    assert shown.count(told) == 2
    assert world.run("--dry-run").stdout.count(told) == 1
    found = world.run("--dry-run", "--demo", PATH=f"{world.bin}:{world.home}/.local/bin")
    assert told not in found.stdout


def test_the_data_directory_is_the_users_choice(world):
    done = world.run("--dry-run", XDG_DATA_HOME=str(world.root / "data"))
    assert f"-m venv {world.root}/data/kmerge-git/venv\n" in done.stdout


@pytest.mark.parametrize(
    "present, chosen",
    [(["uv", "pipx"], "uv tool install "), (["pipx"], "pipx install ")],
)
def test_uv_goes_before_pipx_and_both_before_a_venv(world, present, chosen):
    for tool in present:
        world.add(tool, f'echo "{world.root}/tools"')
    done = world.run("--dry-run")
    assert f"  $ {chosen}" in done.stdout
    assert "-m venv" not in done.stdout
    with_prefix = world.run("--dry-run", "--prefix", str(world.prefix))
    assert f"-m venv '{world.prefix}/share/kmerge-git/venv'\n" in with_prefix.stdout


@pytest.mark.parametrize("method", ["uv", "pipx"])
def test_what_was_tested_is_installed_unless_the_newest_is_wanted(world, method):
    names = "PIP_CONSTRAINT PIP_BUILD_CONSTRAINT UV_CONSTRAINT UV_BUILD_CONSTRAINT"
    shown = "; ".join(f'echo "{name}=${name}" >>"{world.root}/seen"' for name in names.split())
    tools = world.root / "tools"
    world.add(method, f'case $* in *install*) {shown} ;; *) echo "{tools}" ;; esac; exit 0')
    own = dict.fromkeys(names.split(), "/team.txt")
    seen = []
    for arguments in ((), ("--newest",)):
        world.run(*arguments, **own)
        seen.append((world.root / "seen").read_text().splitlines()[: len(own)])
        (world.root / "seen").unlink()
    file = (SCRIPT.parent / "tests" / "constraints.txt").as_uri()
    assert seen[0] == [f"{name}=/team.txt {file}" for name in own]
    assert seen[1] == [f"{name}=/team.txt" for name in own]


@pytest.mark.parametrize(
    "script, told",
    [
        ("exit 127", "python3 was not found or does not run"),
        (
            'case "$*" in *version_info*) exit 1 ;; --version) echo Python 3.9.2 ;; esac',
            "Python 3.9.2 is too old (3.11 or newer is needed)",
        ),
        (
            'case "$*" in *ensurepip*) exit 1 ;; --version) echo Python 3.11.2 ;; esac',
            "Python 3.11.2 has no venv module; install it (Debian, Ubuntu: apt install python3-venv)",
        ),
    ],
)
def test_an_interpreter_that_will_not_do_is_named(world, script, told):
    world.add("python3", script)
    done = world.run("--prefix", str(world.prefix))
    assert done.returncode == 1
    assert told in done.stderr
    assert world.files() == []


def test_a_machine_without_git_is_told(world):
    (world.bin / "git").unlink()
    done = world.run("--prefix", str(world.prefix))
    assert done.returncode == 1
    assert "git was not found" in done.stderr
    assert world.files() == []


def test_removing_what_was_never_installed_is_fine(world):
    done = world.run("--uninstall", "--prefix", str(world.prefix))
    assert done.returncode == 0
    assert "nothing to remove" in done.stdout


@pytest.fixture
def tools(world):
    """The folder of an installation by uv, whose `kmerge` prints how it was called."""
    world.add("uv", f'echo "{world.root}/tools"')
    tools = world.root / "tools"
    tools.mkdir()
    (tools / "kmerge").write_text('#!/bin/sh\necho "called: $*"\n')
    (tools / "kmerge").chmod(0o755)
    receipt = world.home / ".local" / "share" / "kmerge-git" / "receipt"
    receipt.parent.mkdir(parents=True)
    receipt.write_text("method uv\n")
    return tools


@pytest.mark.parametrize("cache", ["home dir/.cache", "elsewhere", ""])
def test_a_cache_is_removed_without_a_registration(world, tools, cache):
    if cache:
        (world.root / cache / "kmerge" / "vendor").mkdir(parents=True)
    settings = {"XDG_CACHE_HOME": str(world.root / cache)} if cache == "elsewhere" else {}
    done = world.run("--uninstall", **settings)
    assert done.returncode == 0, done.stderr
    assert ("called: uninstall --global" in done.stdout) == bool(cache)


@pytest.mark.parametrize("ours", [True, False])
def test_a_registration_by_hand_is_taken_out(world, tools, ours):
    python = f"{tools if ours else '/another'}/kmerge-git/bin/python"
    (world.home / ".gitconfig").write_text(f'[merge "kmerge"]\ndriver = \\"{python}\\" -I x\n')
    done = world.run("--uninstall")
    assert done.returncode == 0, done.stderr
    assert ("called: uninstall --global" in done.stdout) == ours
    assert ("uses another kmerge and is not changed" in done.stdout) != ours


def test_somebody_elses_command_is_not_overwritten(world):
    theirs = world.prefix / "bin" / "kmerge"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("another kmerge")
    done = world.run("--prefix", str(world.prefix))
    assert done.returncode == 1
    assert f"{theirs} exists and was not made by this script" in done.stderr
    assert world.files() == ["the prefix", "the prefix/bin", "the prefix/bin/kmerge"]
    assert theirs.read_text() == "another kmerge"


def test_an_install_that_fails_half_way_can_be_removed(world):
    broken = f'mkdir -p "$3/bin" && ln -s "{shutil.which("false")}" "$3/bin/python"'
    world.add("python3", f'[ "$2" != venv ] || {{ {broken}; exit; }}; exec "{sys.executable}" "$@"')
    done = world.run("--prefix", str(world.prefix))
    assert done.returncode == 1
    assert "venv could not install kmerge-git; see its messages above" in done.stderr
    assert (world.prefix / "share" / "kmerge-git" / "venv").is_dir()
    assert world.run("--uninstall", "--prefix", str(world.prefix)).returncode == 0
    assert world.files() == []


def test_what_the_build_imports_leaves_nothing_in_the_checkout(world):
    world.add("builds", f'echo "$PYTHONDONTWRITEBYTECODE" >>"{world.root}/told"; false')
    made = f'mkdir -p "$3/bin" && ln -s "{world.bin}/builds" "$3/bin/python"'
    world.add("python3", f'[ "$2" != venv ] || {{ {made}; exit; }}; exec "{sys.executable}" "$@"')
    assert world.run("--prefix", str(world.prefix)).returncode == 1
    assert set((world.root / "told").read_text().split()) == {"1"}


@pytest.mark.installed
def test_install_again_show_and_remove(world):
    first = world.run("--prefix", "the prefix")
    if "could not install" in first.stderr and "No matching distribution" in first.stderr:
        pytest.skip("the package index cannot be reached from here")
    assert first.returncode == 0, first.stderr
    assert f"{world.prefix}/bin is not on your PATH" in first.stdout
    (line,) = {line for line in first.stdout.splitlines() if "export PATH=" in line}
    export = line.partition(":")[2]
    found = subprocess.check_output(["sh", "-c", f"{export}; command -v kmerge"], text=True)
    assert found == f"{world.prefix}/bin/kmerge\n"

    command = world.prefix / "bin" / "git-kmerge"
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith(f"kmerge {__version__}")
    package = next(world.prefix.glob("share/kmerge-git/venv/lib/*/site-packages/kmerge_git"))
    assert list(package.glob("tree/__pycache__/*.pyc"))

    before = [name for name in world.files() if ".pyc" not in name]
    again = world.run("--prefix", str(world.prefix), "--demo")
    assert "-m venv" not in again.stdout
    assert "ln -s" not in again.stdout
    assert [name for name in world.files() if ".pyc" not in name] == before
    check_demo(again)

    by_hand = {"PATH": os.environ["PATH"], "HOME": str(world.home)}
    subprocess.run([command, "install", "--global"], env=by_hand, cwd=world.root, check=True)
    assert "kmerge" in (world.home / ".gitconfig").read_text()

    removed = world.run("--uninstall", "--prefix", str(world.prefix))
    assert removed.returncode == 0, removed.stderr
    assert f"$ rmdir '{world.prefix}/bin'\n" in removed.stdout
    left = ["home dir/.config", "home dir/.config/git", "home dir/.gitconfig"]  # git's own, empty
    assert [name for name in world.files() if name not in left] == []
    assert (world.home / ".gitconfig").read_text() == ""


def check_demo(done: subprocess.CompletedProcess[str]) -> None:
    """Check that git's conflict was shown and then the clean merge, if anything can merge yet."""
    alone, _, merged = done.stdout.partition("==> 2. ")
    assert "<<<<<<< HEAD" in alone
    if not COMMANDS.keys() & {"install", "merge"}:
        assert "cannot merge, so there is nothing to show" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    assert "<<<<<<<" not in merged
    for line in ("replicas: 5  # sized for the spring sale", "name: REGION", "name: CACHE"):
        assert line in merged
