"""Puts the repository's address wherever the tree names it.

    python tools/set_address.py OWNER/REPOSITORY      write it
    python tools/set_address.py --check               is it spelled the same everywhere?
    python tools/set_address.py --check OWNER/REPO    ... and is it this one?

The address stands in pyproject.toml, as `Source` of `project.urls`; every other place repeats it.
Until somebody owns it, the owner is the word OWNER. Tests are left alone: theirs are inventions.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = {"", ".md", ".toml", ".yml", ".yaml", ".py", ".sh", ".svg"}
PASSED_OVER = {"tests", "dist", "build", ".git", "__pycache__"}
# where an address of ours stands, however it is spelled
SPELLED = re.compile(
    r"(?:github\.com[/:]|githubusercontent\.com/|\buses: |\brepo: )(?:https?://[\w.]+/)?"
    r"([^\s/\"'`]+/kmerge-git\b|[A-Z]+\b(?!/))"
)


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    """Write the address, or say where it is another one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("address", nargs="?", metavar="OWNER/REPOSITORY")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if it differs")
    args = parser.parse_args(argv)
    if args.address and not re.fullmatch(r"[A-Za-z0-9-]+/[\w.-]+", args.address):
        parser.error(f"{args.address!r} is no OWNER/REPOSITORY")
    if not (args.check or args.address):
        parser.error("which address?")
    if args.check:
        wrong = list(others(root))
        if args.address and address(root) != args.address:
            wrong.insert(0, f"pyproject.toml: the address is {address(root)}, not {args.address}")
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return int(bool(wrong))
    for file in put(root, address(root), args.address):
        print(file)
    return 0


def address(root: Path) -> str:
    """The address, from the one place where it stands."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return "/".join(project["urls"]["Source"].split("/")[-2:])


def others(root: Path) -> Iterator[str]:
    """The places that spell another address than that one."""
    right = address(root)
    for file in texts(root):
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            for found in SPELLED.findall(line):
                if found != right:
                    yield f"{file.relative_to(root)}:{number}: {found}, the address is {right}"


def put(root: Path, old: str, new: str) -> Iterator[Path]:
    """Write another address in the place of this one; the files that had it."""
    pattern = re.compile(rf"(?<![\w.-]){re.escape(old)}(?![\w-])")
    for file in texts(root):
        before = file.read_bytes().decode("utf-8")
        after = pattern.sub(lambda _: new, before)
        if after != before:
            file.write_bytes(after.encode("utf-8"))
            yield file.relative_to(root)


def texts(root: Path) -> Iterator[Path]:
    """The files of the tree that people read or write, but for this one and tests."""
    for entry in sorted(root.iterdir()):
        hidden = entry.name.startswith((".venv", ".mypy", ".ruff", ".pytest", ".hypothesis"))
        if entry.name in PASSED_OVER or hidden or entry.is_symlink():
            continue
        for file in sorted(entry.rglob("*")) if entry.is_dir() else [entry]:
            own = file.name == Path(__file__).name or "__pycache__" in file.parts
            if not own and file.is_file() and file.suffix in SUFFIXES:
                yield file


if __name__ == "__main__":
    sys.exit(main())
