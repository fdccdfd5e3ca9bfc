"""A copy of the package, to be moved or damaged, with the modules that the driver may need."""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml

import kmerge_git

PACKAGE = Path(kmerge_git.__file__).parent


def copied_package(target: Path) -> Path:
    """The package there: compiled as it is here, which saves each start a second, and no bundle."""
    left_out = shutil.ignore_patterns("driver", "whole", "check", "vendor", "packages")
    return Path(shutil.copytree(PACKAGE, target, ignore=left_out))


def spied_on(folder: Path, code: str) -> str:
    """The option of a driver that runs this code when it first parses, and has PyYAML afterwards.

    By then all that every merge needs is there. The code tells what it sees on stderr.
    """
    library = Path(yaml.__file__).parent
    (folder / "yaml").mkdir()
    (folder / "yaml" / "__init__.py").write_text(
        f"import sys\n__path__[:] = [{str(library)!r}]\nsys.path.append({str(library.parent)!r})\n"
        f"{code}\nexec(open(__path__[0] + '/__init__.py').read())\n"
    )
    return f"--lib={folder}"
