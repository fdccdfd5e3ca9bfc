"""The driver's process around `cli/drive.py`: how it gets its modules, and how it ends.

`cli/driver.py` runs this before any module of the package is there. `-S` skips `site`, so the
folders of the packages are added here. Nothing is imported that a bare interpreter has not got.
"""

import sys

try:
    import posix as calls
except ImportError:
    import os as calls  # type: ignore[no-redef]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, BinaryIO

CLEAN, CONFLICT, NO_ANSWER = 0, 3, 4


class Lazy:
    """Finds the modules of the bundle that not every merge needs; an importer."""

    __slots__ = ("bundle", "places", "root", "spec", "start")

    def __init__(
        self, root: str, bundle: "BinaryIO", places: "dict[str, tuple[Any, int, int]]"
    ) -> None:
        self.root = root
        self.bundle = bundle  # open since it was looked at who may write it
        self.start = bundle.tell()  # behind what every merge needs
        self.places = places  # stamp, and where in the bundle the code is
        self.spec = type(sys.__spec__)

    def find_spec(self, name: str, path: object = None, target: object = None) -> "Any":
        """Return the module's place, if it is in the bundle and still the same."""
        if name not in self.places or not _is_fresh(self.root, [self.places[name][0]]):
            return None
        file = self.root + self.places[name][0][0]
        spec = self.spec(name, self, origin=file)  # type: ignore[arg-type]
        spec.has_location = True
        if file.endswith("/__init__.py"):
            spec.submodule_search_locations = [file.removesuffix("/__init__.py")]
        return spec

    def create_module(self, spec: object) -> None:
        """Let the interpreter make an ordinary module."""

    def exec_module(self, module: "ModuleType") -> None:
        """Run the module's code."""
        stamp, start, size = self.places[module.__name__]
        code = self._stored(start, size)
        if not getattr(code, "co_filename", "").replace("\\", "/").endswith(stamp[0]):
            # half of a bundle
            with open(self.root + stamp[0], "rb") as file:
                code = compile(file.read(), self.root + stamp[0], "exec")
        exec(code, module.__dict__)  # noqa: S102

    def _stored(self, start: int, size: int) -> "Any":
        from marshal import loads

        try:
            self.bundle.seek(self.start + start)
            return loads(self.bundle.read(size))  # noqa: S302
        except Exception:
            return None


class Late(type(sys)):  # type: ignore[misc]
    """Stands in for a module until something of it is asked for."""

    def __getattr__(self, name: str) -> "Any":
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop(self.__name__, None)
        module = __import__(self.__name__, None, None, ["*"])
        self.__class__ = type(sys)  # type: ignore[assignment]
        self.__dict__.update(module.__dict__)
        return getattr(module, name)


def run(
    here: str, path: str, bundle: "tuple[Any, ...]" = (), file: "BinaryIO | None" = None
) -> None:
    """Answer git and end the process; come back if the bundle is of other modules.

    Whatever a module raises, a command to end the process among it, nothing but an answer is one.
    """
    root = _root(here)
    if bundle and not _is_fresh(root, bundle[0]):
        return
    code, above = NO_ANSWER, 0
    try:
        above = _above()
        sys.dont_write_bytecode = True  # a half-written one would be in the way of later starts
        sys.path[0:1] = [root]
        libraries = [arg[6:] for arg in sys.argv if arg.startswith("--lib=")]
        sys.path += libraries
        if file is not None:
            sys.meta_path.insert(0, Lazy(root, file, bundle[2]))
            _load(root, bundle[1], bundle[3])
        code = _answer(libraries)
        if file is None and code in (CLEAN, CONFLICT):
            _keep_bundle(root, path)
    except BaseException as error:  # whatever it is: git's line merge goes on
        tell("", error, "; git's line merge instead")
    finally:
        calls._exit(code + above if code in (CLEAN, CONFLICT) else NO_ANSWER)


def tell(before: str, error: BaseException, behind: str = "") -> None:
    """Say it on stderr; one that is closed or broken must not cost the answer."""
    try:
        text = f"kmerge: {before}{type(error).__name__}: {error}{behind}"
        if sys.stderr is not None:  # `print` would take stdout then
            # no module of the package may be there to do it better
            print(text if text.isprintable() else ascii(text)[1:-1], file=sys.stderr)
    except BaseException:
        return


def _above() -> int:
    """Return what git's line wants added to the exit 0 or 3; take the number off the words.

    Whatever else ends the process, an empty file or a module, gives no such number.
    """
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(words) != 4 or not words[0].isdecimal():
        return 0  # a line of an older version
    sys.argv.remove(words[0])
    return int(words[0])


def _answer(libraries: "list[str]") -> int:
    is_merge = "--version" not in sys.argv
    if is_merge:
        _seal_stdout()
    from kmerge_git.cli.drive import main
    from kmerge_git.errors import TimeUp
    from kmerge_git.tree import parser

    parser.bare(libraries)
    if is_merge:
        _seal_stdout()  # nobody knows what the binding has closed
    try:
        code = main(sys.argv[1:])
    except TimeUp:
        return NO_ANSWER
    if not is_merge:
        sys.stdout.flush()
    return code


def _seal_stdout() -> None:
    """Let what is printed go nowhere: `git merge-tree` would take it for its own.

    And none of the three first descriptors is free afterwards, for a file to become it.
    """
    try:
        null = calls.open("/dev/null" if calls.__name__ == "posix" else "nul", calls.O_RDWR)
        while null < 3:
            null = calls.dup(null)
        calls.dup2(null, 1)
        calls.close(null)
    except OSError:
        return


def _root(here: str) -> str:
    """Return the folder above the package, with a slash behind it."""
    own = here.replace("\\", "/")
    if own.endswith("/kmerge_git/cli/"):
        return here[: -len("kmerge_git/cli/")]
    from os.path import abspath, dirname

    return dirname(dirname(abspath(here))) + "/"


def _is_fresh(root: str, stamps: "list[tuple[str, int, int]]") -> bool:
    """Return whether the modules are those that the bundle was made of."""
    try:
        for name, size, time in stamps:
            stat = calls.stat(root + name)
            if stat.st_size != size or stat.st_mtime_ns != time:
                return False
    except OSError:
        return False
    return True


def _load(root: str, modules: "list[tuple[str, str, Any]]", late: "tuple[str, ...]") -> None:
    """Make modules of codes that stand in the order of their imports; stand-ins for the late ones.

    What `import` does besides takes as long as the modules themselves.
    """
    module_type, known = type(sys), sys.modules
    stand_ins: dict[str, list[str]] = {}  # package -> its late modules
    for name in late:
        known[name] = Late(name)
        above, _, last = name.rpartition(".")
        stand_ins.setdefault(above, []).append(last)
    for name, file, code in modules:
        if name in known:
            continue
        module = module_type(name)
        module.__file__ = root + file
        above, _, last = name.rpartition(".")
        if file.endswith("/__init__.py"):
            module.__path__ = [root + file.removesuffix("/__init__.py")]
            module.__package__ = name
            for below in stand_ins.get(name, ()):
                setattr(module, below, known[f"{name}.{below}"])
        else:
            module.__package__ = above
        known[name] = module
        exec(code, module.__dict__)  # noqa: S102
        if above:
            setattr(known[above], last, module)


def _keep_bundle(root: str, path: str) -> None:
    """Write the bundle for the next start; the answer of this one stands, whatever happens.

    Who may write it decides what the next driver runs: only a folder of the own will do.
    """
    folder = path.rpartition("/")[0]
    try:
        for place in (folder.rpartition("/")[0], folder):
            if not calls.access(place, 0):
                calls.mkdir(place, 0o755)  # whatever the umask says
        about = calls.lstat(folder)
        is_own = calls.__name__ != "posix" or about.st_uid == calls.geteuid()
        if not is_own or about.st_mode & 0o22 or not calls.access(folder, 2):
            return
    except OSError:
        return
    try:
        from kmerge_git.bundle import write

        write(root, path)
    except BaseException as error:
        tell(f"{path} was not written: ", error)
