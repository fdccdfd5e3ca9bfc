"""Start and end the process of the merge driver around `cli/drive.py`.

`cli/driver.py` runs this file before it loads any module of the package. Python's option `-S`
skips `site`, so this file adds the folders of the packages to `sys.path`. At its top this file
imports only modules that a bare interpreter has already loaded.
"""

import posix as calls
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any, BinaryIO

CLEAN, CONFLICT, NO_ANSWER = 0, 3, 4


class Lazy:
    """Import those modules of the bundle that only some merges need."""

    __slots__ = ("bundle", "places", "root", "spec", "start")

    def __init__(
        self, root: str, bundle: "BinaryIO", places: "dict[str, tuple[Any, int, int]]"
    ) -> None:
        self.root = root
        self.bundle = bundle  # the open file whose owner and mode were checked
        self.start = bundle.tell()  # after the modules that every merge needs
        self.places = places  # module -> stamp, offset and size in the bundle
        self.spec = type(sys.__spec__)

    def find_spec(self, name: str, path: object = None, target: object = None) -> "Any":
        """Return the spec of a module if the bundle has the module and its file has not changed."""
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
        """Run the code of the module from the bundle, or from its file if the bundle is damaged."""
        stamp, start, size = self.places[module.__name__]
        code = self._stored(start, size)
        if not getattr(code, "co_filename", "").endswith(stamp[0]):
            # the bundle is cut off
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
    """Take the place of a module; import the module when an attribute is first used."""

    def __getattr__(self, name: str) -> "Any":
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop(self.__name__, None)
        module = __import__(self.__name__, None, None, ["*"])
        self.__class__ = type(sys)  # type: ignore[assignment]
        self.__dict__.update(module.__dict__)
        return getattr(module, name)


def run(
    here: str,
    path: str,
    began: float,
    bundle: "tuple[Any, ...]" = (),
    file: "BinaryIO | None" = None,
) -> None:
    """Merge, answer git and end the process; return only if the bundle is out of date.

    The time limit counts from `began`.
    If a module raises anything, even SystemExit, the exit code makes git use its line merge.
    """
    root = _root(here)
    if bundle and not _is_fresh(root, bundle[0]):
        return
    code, above = NO_ANSWER, 0
    try:
        above = _above()
        sys.dont_write_bytecode = True  # a half-written .pyc would break later starts
        sys.path[0:1] = [root]
        libraries = [arg[6:] for arg in sys.argv if arg.startswith("--lib=")]
        sys.path += libraries
        if file is not None:
            sys.meta_path.insert(0, Lazy(root, file, bundle[2]))
            _load(root, bundle[1], bundle[3])
        at_last = (lambda: None) if file is not None else (lambda: _keep_bundle(root, path))
        code = _answer(libraries, at_last, began)
    except BaseException as error:  # after any error, git uses its line merge
        tell("", error, "; git's line merge is used")
    finally:
        calls._exit(code + above if code in (CLEAN, CONFLICT) else NO_ANSWER)


def tell(before: str, error: BaseException, behind: str = "") -> None:
    """Print an error on stderr; go on even if stderr is closed or broken."""
    try:
        text = f"kmerge: {before}{type(error).__name__}: {error}{behind}"
        if sys.stderr is not None:  # with None, `print` would write to stdout
            # `visible` of the package may not be loaded
            print(text if text.isprintable() else ascii(text)[1:-1], file=sys.stderr)
    except BaseException:
        return


def _above() -> int:
    """Remove the number that git's driver line passes as the first argument, and return it.

    The number is added to the exit code 0 or 3. A process that ends without an answer, such as
    one with an empty driver file, exits without this number.
    """
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(words) != 4 or not words[0].isdecimal():
        return 0  # the driver line of an older version has no number
    sys.argv.remove(words[0])
    return int(words[0])


def _answer(libraries: "list[str]", at_last: "Callable[[], None]", began: float) -> int:
    is_merge = "--version" not in sys.argv
    if is_merge:
        _seal_stdout()
    from kmerge_git.cli.drive import main
    from kmerge_git.errors import TimeUp
    from kmerge_git.tree import parser

    parser.bare(libraries)
    if is_merge:
        _seal_stdout()  # the loaded binding may have closed stdout
    try:
        code = main(sys.argv[1:], at_last, began)
    except TimeUp:
        return NO_ANSWER
    if not is_merge:
        sys.stdout.flush()
    return code


def _seal_stdout() -> None:
    """Send stdout to the null device, because `git merge-tree` would read it as its own output.

    Also open the descriptors 0 to 2, so that no other file can get one of these numbers.
    """
    try:
        null = calls.open("/dev/null", calls.O_RDWR)
        while null < 3:
            null = calls.dup(null)
        calls.dup2(null, 1)
        calls.close(null)
    except OSError:
        return


def _root(here: str) -> str:
    """Return the folder that holds the package, with a slash at its end."""
    if here.endswith("/kmerge_git/cli/"):
        return here[: -len("kmerge_git/cli/")]
    from os.path import abspath, dirname

    return dirname(dirname(abspath(here))) + "/"


def _is_fresh(root: str, stamps: "list[tuple[str, int, int]]") -> bool:
    """Return whether the files of the modules have not changed since the bundle was made."""
    try:
        for name, size, time in stamps:
            stat = calls.stat(root + name)
            if stat.st_size != size or stat.st_mtime_ns != time:
                return False
    except OSError:
        return False
    return True


def _load(root: str, modules: "list[tuple[str, str, Any]]", late: "tuple[str, ...]") -> None:
    """Create modules from their code, in the order of their imports; delay the `late` modules.

    The `import` statement would take about twice as long.
    """
    module_type, known = type(sys), sys.modules
    stand_ins: dict[str, list[str]] = {}  # package -> the names of its late modules
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
    """Write the bundle for the next start; an error does not change the result of this merge.

    The next driver runs the code in the bundle, so write only into a folder that nobody else owns
    or may change.
    """
    folder = path.rpartition("/")[0]
    try:
        for place in (folder.rpartition("/")[0], folder):
            if not calls.access(place, 0):
                calls.mkdir(place, 0o755)  # not writable for others, whatever the umask is
        about = calls.lstat(folder)
        is_own = about.st_uid == calls.geteuid()
        if not is_own or about.st_mode & 0o22 or not calls.access(folder, 2):
            return
    except OSError:
        return
    try:
        from kmerge_git.bundle import write

        write(root, path)
    except BaseException as error:
        tell(f"{path} was not written: ", error)
