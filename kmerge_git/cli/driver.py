"""What git calls: `PYTHON -I -S driver.py OPTIONS %O %A %B`; what it does stands in `cli/drive.py`.

A script is compiled at every start, so this one is short. `-S` skips `site`: the folders of the
packages are added here, and the modules come from one file (see `kmerge_git.bundle`).
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

CLEAN, CONFLICT, NO_ANSWER = 0, 3, 4


class Bundle:
    """Finds the driver's modules in one file (see `kmerge_git.bundle`); an importer."""

    __slots__ = ("codes", "spec")

    def __init__(self, root: str, path: str) -> None:
        from marshal import load

        with open(path, "rb") as file:
            stamps, self.codes = load(file)  # noqa: S302  (as trusted as the code beside it)
        for name, size, time in stamps:
            stat = os.stat(name)
            if stat.st_size != size or stat.st_mtime_ns != time:
                raise ValueError(name)
        self.spec = type(sys.__spec__)

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        """The module's place, if it is in the bundle."""
        if name not in self.codes:
            return None
        _, file, is_package = self.codes[name]
        spec = self.spec(name, self, origin=file, is_package=is_package)  # type: ignore[arg-type]
        spec.has_location = True
        if is_package and spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(file))
        return spec

    def create_module(self, spec: object) -> None:
        """An ordinary module will do."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code."""
        from marshal import loads

        exec(loads(self.codes[module.__name__][0]), module.__dict__)  # noqa: S102, S302


def _load_bundle(root: str, path: str) -> bool:
    """Whether the modules come from the bundle from here on."""
    try:
        sys.meta_path.insert(0, Bundle(root, path))  # type: ignore[arg-type]
    except (OSError, ValueError, EOFError, TypeError):
        return False
    return True


def _as_program() -> None:
    """Run from git's command line: no `site`, so the packages' folders are added here."""
    gc.disable()
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    sys.path[0:1] = [root]
    libraries = [arg[6:] for arg in sys.argv if arg.startswith("--lib=")]
    sys.path += libraries
    tag = sys.implementation.cache_tag
    bundle = os.path.join(here, "__pycache__", f"driver.{tag}.bundle")
    bundled = _load_bundle(root, bundle)
    code = NO_ANSWER
    try:
        from kmerge_git.cli.drive import TimeUp, main
        from kmerge_git.tree import parser

        parser.bare(libraries)
        try:
            code = main(sys.argv[1:])
        except TimeUp:
            code = NO_ANSWER
    except Exception as error:  # whatever it is: git's line merge goes on
        tell(f"kmerge: {type(error).__name__}: {error}; git's line merge instead")
        code = NO_ANSWER
    if not bundled and code in (CLEAN, CONFLICT):
        _keep_bundle(bundle)
    if "--version" in sys.argv:
        sys.stdout.flush()
    os._exit(code)


def _keep_bundle(path: str) -> None:
    """Write the bundle for the next start; the answer of this one stands, whatever happens."""
    try:
        from kmerge_git.bundle import write

        write(path)
    except Exception as error:
        tell(f"kmerge: {path} was not written: {error}")


def tell(text: str) -> None:
    """Say it on stderr; one that is closed or broken must not cost the answer."""
    if sys.stderr is not None:  # `print` would take stdout then
        try:
            print(text, file=sys.stderr)
        except OSError:
            return


if __name__ == "__main__":
    _as_program()
