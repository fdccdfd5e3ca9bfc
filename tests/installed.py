"""A copy of the package, to be moved or damaged, with the modules that the driver may need."""

from __future__ import annotations

import shutil
from pathlib import Path

import kmerge_git

PACKAGE = Path(kmerge_git.__file__).parent


def copied_package(target: Path) -> Path:
    """The package there: compiled as it is here, which saves each start a second, and no bundle."""
    left_out = shutil.ignore_patterns("driver", "whole", "check", "vendor", "packages")
    return Path(shutil.copytree(PACKAGE, target, ignore=left_out))
