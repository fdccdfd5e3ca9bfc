"""Builds what a release publishes, from the commit that is checked out.

    python tools/build_release.py check TAG     may this commit be released under this tag?
    python tools/build_release.py build OUT     wheel, sdist, SHA256SUMS: built twice and compared
    python tools/build_release.py notes         what CHANGELOG.md says of this version

`build` clones the commit twice and builds each clone in surroundings of its own (folder, umask,
time zone, hash seed) with the build tools of tools/release/build.txt. Both must be the same bytes,
hold what git has and nothing else, and describe themselves as PyPI wants it. Nothing is uploaded.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "tools" / "release" / "build.txt"
NOTE = "kmerge_git/commit.txt"  # of what is no release: see hatch_build.py
VALID = """
import sys
from packaging.metadata import Metadata
Metadata.from_email(sys.stdin.buffer.read())
"""
SURROUNDINGS = (
    {"umask": 0o022, "TZ": "UTC", "PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8"},
    {"umask": 0o077, "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "2", "LC_ALL": "C"},
)


class Refused(Exception):
    """Why there is no release."""


def main(argv: list[str] | None = None) -> int:
    """Run one of the three."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("check")
    command.add_argument("tag")
    command.set_defaults(run=lambda args: check(ROOT, args.tag))
    command = commands.add_parser("build")
    command.add_argument("out", type=Path)
    command.set_defaults(run=lambda args: build(args.out))
    command = commands.add_parser("notes")
    command.set_defaults(run=lambda args: print(notes(ROOT)))
    args = parser.parse_args(argv)
    try:
        args.run(args)
    except Refused as why:
        print(f"tools/build_release.py: {why}", file=sys.stderr)
        return 1
    return 0


# -- what the tree says about itself


def version(root: Path) -> str:
    """The version, which pyproject.toml and the package must agree about."""
    told = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    source = (root / "kmerge_git" / "__init__.py").read_text("utf-8")
    if f'\n__version__ = "{told}"\n' not in source:
        raise Refused(f"pyproject.toml says {told}, kmerge_git/__init__.py another version")
    return str(told)


def notes(root: Path) -> str:
    """What the change log says of this version: its section without the heading."""
    number = version(root)
    heading = re.compile(rf"^## \[{re.escape(number)}\] - \d{{4}}-\d\d-\d\d$", re.M)
    text = (root / "CHANGELOG.md").read_text("utf-8")
    found = heading.search(text)
    if not found:
        raise Refused(f"CHANGELOG.md has no heading `## [{number}] - YYYY-MM-DD`")
    section = re.split(r"^## \[|^\[[^\]]+\]: ", text[found.end() :], maxsplit=1, flags=re.M)[0]
    if not section.strip():
        raise Refused(f"CHANGELOG.md says nothing of {number}")
    return section.strip()


def check(root: Path, tag: str) -> None:
    """Whether tag, version, change log and commit are of one release."""
    number = version(root)
    if tag != f"v{number}":
        raise Refused(f"the tag is {tag}, the version {number}")
    notes(root)
    if git("rev-parse", "HEAD", cwd=root) != git("rev-parse", f"refs/tags/{tag}^{{}}", cwd=root):
        raise Refused(f"{tag} is another commit than the one that is checked out")
    if git("status", "--porcelain", cwd=root):
        raise Refused("there are changes that are not committed")
    print(f"{tag}: tag, version, change log and commit agree")


def git(*args: str, cwd: Path = ROOT) -> str:
    """What git says."""
    ended = subprocess.run(["git", *args], cwd=cwd, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise Refused(f"git {' '.join(args)}: {ended.stderr.strip()}")
    return ended.stdout.strip()


# -- building


def build(out: Path) -> None:
    """Build twice, compare, look into it, and only then put it there."""
    if git("status", "--porcelain"):
        print("changes that are not committed are not built", file=sys.stderr)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        run(sys.executable, "-m", "venv", scratch / "tools")
        python = scratch / "tools" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", TOOLS)
        made = [
            built(scratch / ("a" * number), python, dict(surroundings))
            for number, surroundings in enumerate(SURROUNDINGS, 1)
        ]
        if made[0] != made[1]:
            raise Refused(f"two builds differ: {', '.join(different(*made))}")
        for file, data in made[0].items():
            looked_into(file, data, python)
        out.mkdir(parents=True, exist_ok=True)
        sums = ""
        for file, data in made[0].items():
            (out / file).write_bytes(data)
            sums += f"{hashlib.sha256(data).hexdigest()}  {file}\n"
            print(f"{out / file}: {len(data):,} bytes, the same twice")
        (out / "SHA256SUMS").write_text(sums)
        print(sums, end="")


def built(folder: Path, python: Path, surroundings: dict[str, str | int]) -> dict[str, bytes]:
    """The files of one build, in surroundings of its own."""
    umask = int(surroundings.pop("umask"))
    environment = os.environ | {key: str(value) for key, value in surroundings.items()}
    environment["SOURCE_DATE_EPOCH"] = git("log", "-1", "--format=%ct", "HEAD")
    tree = folder / "tree"
    run("git", "clone", "--quiet", "--no-local", ROOT, tree, umask=umask)
    run("git", "-C", tree, "checkout", "--quiet", "--detach", git("rev-parse", "HEAD"), umask=umask)
    order = ("-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", folder / "dist")
    run(python, *order, cwd=tree, env=environment, umask=umask)
    return {file.name: file.read_bytes() for file in sorted((folder / "dist").iterdir())}


def run(
    *argv: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None, umask: int = -1
) -> None:
    """Run a program that must end well and has nothing to say."""
    ended = subprocess.run(
        argv, cwd=cwd, env=env, umask=umask, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise Refused(f"{' '.join(map(str, argv))}\n{ended.stdout}{ended.stderr}")


def different(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    """The files of two builds that are not the same."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


# -- looking into it


def looked_into(file: str, data: bytes, python: Path) -> None:
    """Hold a built file against the commit, and its metadata against PyPI's rules."""
    tracked = set(git("ls-files").splitlines())
    stem = f"kmerge_git-{version(ROOT)}"
    if file == f"{stem}-py3-none-any.whl":
        held = wheel(data)
        info = f"{stem}.dist-info/"
        wanted = {name for name in tracked if name.startswith("kmerge_git/")}
        wanted |= {info + n for n in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
        wanted |= {info + "licenses/LICENSE"}
        about = info + "METADATA"
        commands = held[info + "entry_points.txt"].decode()
        if not {"kmerge", "git-kmerge", "kmerge-git"} <= set(
            re.findall(r"^(\S+) =", commands, re.M)
        ):
            raise Refused(f"{file}: a command is missing in {commands!r}")
    elif file == f"{stem}.tar.gz":
        held = sdist(data, stem)
        wanted, about = tracked | {"PKG-INFO"}, "PKG-INFO"
    else:
        raise Refused(f"{file} is neither the wheel nor the sdist of this version")
    if set(held) - {NOTE} != wanted:
        raise Refused(f"{file}: too many or missing: {sorted((set(held) - {NOTE}) ^ wanted)}")
    described(file, BytesParser().parsebytes(held[about]))
    ended = subprocess.run(
        [python, "-c", VALID], input=held[about], capture_output=True, check=False
    )
    if ended.returncode:
        raise Refused(f"{file}: {ended.stderr.decode()}")


def wheel(data: bytes) -> dict[str, bytes]:
    """The files of a wheel."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        with zipfile.ZipFile(file) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def sdist(data: bytes, stem: str) -> dict[str, bytes]:
    """The files of an sdist, all of them below one folder, by no link and belonging to nobody."""
    held = {}
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        with tarfile.open(fileobj=file) as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isreg() else None
                if content is None or not member.name.startswith(f"{stem}/") or member.uid:
                    raise Refused(f"{member.name} does not belong into an sdist")
                held[member.name.removeprefix(f"{stem}/")] = content.read()
    return held


def described(file: str, told: Message) -> None:
    """Hold the metadata against what was meant."""
    wanted = {
        "Name": "kmerge-git",
        "Version": version(ROOT),
        "License-Expression": "Apache-2.0",
        "License-File": "LICENSE",
        "Description-Content-Type": "text/markdown",
    }
    for key, value in wanted.items():
        if told[key] != value:
            raise Refused(f"{file}: {key} is {told[key]!r}, not {value!r}")
    links = re.findall(r"\]\((?!https://|#)([^)]*)\)", str(told.get_payload()))
    if links:
        raise Refused(f"{file}: the README's links lead nowhere on PyPI: {links}")


if __name__ == "__main__":
    sys.exit(main())
