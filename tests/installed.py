"""A copy of the package, to be moved or damaged, with the modules that the driver may need."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

import kmerge_git

PACKAGE = Path(kmerge_git.__file__).parent


def copied_package(target: Path) -> Path:
    """The package there without a bundle; compiled, which saves each start of a driver a second."""
    return Path(shutil.copytree(_compiled_package(), target))


@functools.cache
def _compiled_package() -> Path:
    """A copy with its bytecode beside it, as a driver looks for it, even if the tests keep theirs elsewhere."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    left_out = shutil.ignore_patterns("__pycache__", "whole", "check", "vendor", "packages")
    package = shutil.copytree(PACKAGE, Path(folder) / "kmerge_git", ignore=left_out)
    words = [sys.executable, "-m", "compileall", "-q", package]
    subprocess.run(words, env=os.environ | {"PYTHONPYCACHEPREFIX": ""}, check=True)
    return Path(package)


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
