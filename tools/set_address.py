"""Put the repository's address wherever the tree names it.

    python tools/set_address.py OWNER/REPOSITORY      write it
    python tools/set_address.py --check               is it spelled the same everywhere?
    python tools/set_address.py --check OWNER/REPO    ... and is it this one?

The address is in pyproject.toml, as `Source` of `project.urls`; all other files repeat it. Until
somebody owns it, pyproject.toml names the owner OWNER, and all other files say
`from/this-repository`. Tests are left alone: their addresses are invented.
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
UNOWNED, PLACE = "OWNER/", "from/this-repository"
# an address of this project in any spelling
SPELLED = re.compile(
    r"(?:github\.com[/:]|githubusercontent\.com/|\buses: |\brepo: )(?:https?://[\w.]+/)?"
    r"([^\s/\"'`]+/kmerge-git\b|from/this-repository\b|[A-Z]+\b(?!/))"
)


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    """Write the address, or list the places with another one."""
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
    """Return the address that pyproject.toml has."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return "/".join(project["urls"]["Source"].split("/")[-2:])


def spelled(address: str, file: Path) -> str:
    """Return the address as this file spells it: a placeholder until there is an owner."""
    is_open = address.startswith(UNOWNED) and file.name != "pyproject.toml"
    return PLACE if is_open else address


def others(root: Path) -> Iterator[str]:
    """Yield the places that spell another address."""
    for file in texts(root):
        right = spelled(address(root), file)
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            for found in SPELLED.findall(line):
                if found != right:
                    yield f"{file.relative_to(root)}:{number}: {found}, the address is {right}"


def put(root: Path, old: str, new: str) -> Iterator[Path]:
    """Replace the address, and yield the files that had it."""
    for file in texts(root):
        pattern = rf"(?<![\w.-]){re.escape(spelled(old, file))}(?![\w-])"
        before = file.read_bytes().decode("utf-8")
        after = re.sub(pattern, spelled(new, file), before)  # an address has no backslash
        if after != before:
            file.write_bytes(after.encode("utf-8"))
            yield file.relative_to(root)


def texts(root: Path) -> Iterator[Path]:
    """Yield the files that people read or write, without this one and tests."""
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
