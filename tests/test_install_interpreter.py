"""install.sh: which interpreter it takes, and what becomes of environments and registrations."""

import shutil
import subprocess
from pathlib import Path

import pytest
from test_install_sh import World

# what a fake interpreter says of itself: its real path, its version
FAKE = """\
case "$*" in
    *_base_executable*) echo "{path}" ;;
    --version) echo "Python {version}" ;;
    *"-m venv"*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    *"-m pip install"*) exit {pip} ;;
esac
"""


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def fake(path: Path, version: str, pip: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + FAKE.format(path=path, version=version, pip=pip))
    path.chmod(0o755)
    return path


def heading(done) -> str:
    return next(
        line for line in done.stdout.splitlines() if line.startswith("==> installing kmerge-git")
    )


@pytest.fixture
def pythons(world):
    """Two interpreters in a folder with a space, the first is `python3`."""
    old, new = (fake(world.root / "the pythons" / v, v) for v in ("3.11.9", "3.13.1"))
    world.add("python3", f'exec "{old}" "$@"')
    return old, new


def test_the_heading_names_the_interpreter_that_is_used(world, pythons):
    assert "made by venv with " in heading(world.run("--dry-run"))
    assert heading(world.run("--dry-run")).endswith("/bin/python3 (Python 3.11.9)")
    done = world.run("--dry-run", PYTHON=str(pythons[1]))
    assert heading(done).endswith(f"made by venv with {pythons[1]} (Python 3.13.1)")
    assert f"$ '{pythons[1]}' -m venv " in done.stdout


@pytest.mark.parametrize("method", ["venv", "uv", "pipx"])
def test_a_python_that_will_not_do_is_never_passed_over(world, method):
    if method != "venv":
        world.add(method, f'echo "{world.root}/tools"')
    done = world.run(PYTHON="/no/such python")
    assert done.returncode == 1
    assert "/no/such python was not found or does not run" in done.stderr
    assert world.files() == []


def test_another_python_makes_the_environment_again(world, pythons):
    old, new = pythons
    env = fake(world.prefix / "share" / "kmerge-git" / "venv" / "bin" / "python", "3.11.9")
    env.write_text(env.read_text().replace(str(env), str(old)))
    place = ("--dry-run", "--prefix", str(world.prefix))
    kept = world.run(*place)
    assert heading(kept).endswith(f"with {old} (Python 3.11.9)")
    assert "-m venv" not in kept.stdout
    assert "-m venv" not in world.run(*place, PYTHON=str(old)).stdout
    # one that stands in the environment is the one that it has
    assert "-m venv" not in world.run(*place, PYTHON=str(env)).stdout
    done = world.run(*place, PYTHON=str(new))
    assert f"the environment has another interpreter ({old}), so it is created again" in done.stdout
    venv = env.parents[1]
    for command in (
        f"mv '{venv}' '{venv}.before'",
        f"'{new}' -m venv '{venv}'",
        f"rm -rf '{venv}.before'",
    ):
        assert f"  $ {command}\n" in done.stdout


def test_an_environment_that_could_not_be_made_again_is_back(world, pythons):
    old, new = pythons
    env = fake(world.prefix / "share" / "kmerge-git" / "venv" / "bin" / "python", "3.11.9")
    env.write_text(env.read_text().replace(str(env), str(old)))
    before = env.read_text()
    fake(new, "3.13.1", pip=1)
    for tool in ("cp", "mv"):
        (world.bin / tool).unlink(missing_ok=True)
        (world.bin / tool).symlink_to(shutil.which(tool))
    done = world.run("--prefix", str(world.prefix), PYTHON=str(new))
    assert done.returncode == 1
    assert f"the earlier environment with {old} was restored" in done.stderr
    assert env.read_text() == before
    assert not env.parents[1].with_name("venv.before").exists()


@pytest.mark.parametrize("method", ["uv", "pipx"])
def test_uv_and_pipx_get_the_python(world, pythons, method):
    old, new = pythons
    tools = world.root / "tools"
    world.add(method, f'echo "{tools}"')
    env = fake(tools / "kmerge-git" / "bin" / "python", "3.11.9")
    env.write_text(env.read_text().replace(str(env), str(old)))
    kept = world.run("--dry-run")
    assert f" --python '{old}' " in kept.stdout
    assert "reinstall --python" not in kept.stdout
    done = world.run("--dry-run", PYTHON=str(new))
    assert heading(done).endswith(f"made by {method} with {new} (Python 3.13.1)")
    assert f" --python '{new}' " in done.stdout
    again = f"$ pipx reinstall --python '{new}' kmerge-git\n"  # `install --force` keeps the old one
    assert (again in done.stdout) is (method == "pipx")


def installed_by_uv(world, said: str) -> None:
    """An installation whose `kmerge status --fix` says something, and notes how it was called."""
    tools = world.root / "tools"
    world.add("uv", f'[ "$2" = install ] || echo "{tools}"')
    fake(tools / "kmerge-git" / "bin" / "python", "3.11.9")
    command = tools / "kmerge"
    command.write_text(
        f'#!/bin/sh\necho "$PWD: $*" >>"{world.root}/calls"\n'
        f'case "$*" in "status --fix") echo "a table"; echo "{said}" >&2; exit 1 ;; esac\n'
    )
    command.chmod(0o755)


@pytest.mark.parametrize("section", ['merge "kmerge"]\ndriver = x', 'diff "kmerge"]\ncommand = x'])
def test_registrations_are_mended_and_told(world, section):
    installed_by_uv(world, "repaired: global configuration: renewed merge.kmerge.driver")
    (world.home / ".gitconfig").write_text(f"[{section}\n")
    done = world.run(GIT_DIR=str(world.root))
    assert done.returncode == 0, done.stderr
    assert "repaired: global configuration: renewed merge.kmerge.driver\n" in done.stdout
    assert "a table" not in done.stdout
    assert "/: status --fix" in (world.root / "calls").read_text()


def test_without_a_registration_nothing_is_mended(world):
    installed_by_uv(world, "repaired: all")
    done = world.run(GIT_CONFIG_NOSYSTEM="1")
    assert done.returncode == 0, done.stderr
    assert "repaired" not in done.stdout
    assert "status --fix" not in (world.root / "calls").read_text()


def test_a_dry_run_mends_nothing(world):
    installed_by_uv(world, "repaired: all")
    (world.home / ".gitconfig").write_text('[merge "kmerge"]\ndriver = x\n')
    done = world.run("--dry-run")
    assert "broken and outdated registrations would be renewed" in done.stdout
    assert not (world.root / "calls").exists()


def test_what_is_shown_can_be_typed(world):
    prefix = world.root / "a 'b' $c"
    done = world.run("--dry-run", "--prefix", str(prefix))
    shown = [line for line in done.stdout.splitlines() if "--uninstall" in line]
    (command,) = (line.partition("--prefix ")[2] for line in shown)
    assert subprocess.check_output(["sh", "-c", f"printf %s {command}"], text=True) == str(prefix)


def test_commands_of_a_home_that_moved_are_linked_again(world, pythons):
    fake(world.prefix / "share" / "kmerge-git" / "venv" / "bin" / "python", "3.11.9")
    receipt = world.prefix / "share" / "kmerge-git" / "receipt"
    command = world.prefix / "bin" / "kmerge"
    command.parent.mkdir()
    command.symlink_to("/old home/share/kmerge-git/venv/bin/kmerge")
    place = ("--dry-run", "--prefix", str(world.prefix))
    assert "was not made by this script" in world.run(*place).stderr  # nobody says that it was
    receipt.write_text("method venv\n")
    done = world.run(*place)
    assert done.returncode == 0, done.stderr
    assert f"$ rm '{command}'\n" in done.stdout
    target = world.prefix / "share" / "kmerge-git" / "venv" / "bin" / "kmerge"
    assert f"$ ln -s '{target}' '{command}'\n" in done.stdout
    assert f"$ rm '{command}'\n" in world.run("--uninstall", *place).stdout
    command.unlink()
    command.symlink_to(world.bin / "sh")  # leads somewhere
    assert "was not made by this script" in world.run(*place).stderr
