"""Records which lines of the package run in a process, for `tools/mutate.py --trace`.

Every process of a traced run executes this file: pytest, the commands that tests start, and the
driver in its bare interpreter. So it imports only what a bare interpreter has loaded. A line is
written at once, because many of these processes are killed or end by `os._exit`.

`sys.monitoring` reports a line once and costs nothing afterwards. It needs Python 3.12; an older
interpreter that a test starts records nothing.
"""

import posix
import sys

PACKAGE = "/kmerge_git/"
TOOL = 1  # sys.monitoring.COVERAGE_ID
IS_FUNCTION = 1  # CO_OPTIMIZED of `inspect`: bodies of classes and modules have it not
EVERY_TEST = 0  # the number for lines that run while a module is loaded

writes_at_once = True
folders: "list[str]" = []  # a worker's folder, or those of all workers if the worker is unknown
numbers: "list[int]" = []  # what each of these workers is running
collected: "dict[tuple[int, str], set[int]]" = {}  # (number, file) -> lines not yet written
loading = 0  # depth of imports that are under way
is_driver = sys.flags.isolated  # it loads its modules for one test, each time


def start(base: str) -> bool:
    """Begin to record; say whether this call was the one that did."""
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None or monitoring.get_tool(TOOL):
        return False
    folder = posix.environ.get(b"MUTATE_TRACE", b"").decode()
    # A test that starts a process with an empty environment hides the worker from us. The line then
    # counts for the tests of all workers at this moment: one test too many does no harm.
    folders[:] = [folder] if folder else [f"{base}/{name}" for name in posix.listdir(base)]
    monitoring.use_tool_id(TOOL, "mutate")
    events = monitoring.events
    monitoring.register_callback(TOOL, events.PY_START, enter)
    monitoring.register_callback(TOOL, events.PY_RETURN, leave)
    monitoring.register_callback(TOOL, events.LINE, line)
    monitoring.set_events(TOOL, events.PY_START)
    posix.register_at_fork(after_in_child=restart_in_child)
    numbers[:] = map(current, folders)
    return True


def restart(number: int) -> None:
    """Record every line again, for the test or fixture with this number."""
    global loading
    loading = 0
    numbers[:] = [number]
    sys.monitoring.restart_events()


def restart_in_child() -> None:
    """A forked process may serve another test than the one that started its parent."""
    global loading, writes_at_once
    loading, writes_at_once = 0, True
    collected.clear()
    numbers[:] = map(current, folders)
    sys.monitoring.restart_events()


def current(folder: str) -> int:
    """The number of the test that a worker is running."""
    try:
        file = posix.open(folder + "/now", posix.O_RDONLY)
    except OSError:
        return EVERY_TEST
    try:
        return int(posix.read(file, 20))
    finally:
        posix.close(file)


def enter(code, offset):  # type: ignore[no-untyped-def]
    """Ask for the lines of a function of the package; notice that a module is being loaded."""
    global loading
    events = sys.monitoring.events
    name = code.co_filename
    if code.co_name == "<module>":
        if is_shared(name) and sys._getframe(1).f_globals.get("__name__") != "__main__":
            loading += 1
            sys.monitoring.set_local_events(TOOL, code, events.PY_RETURN)
    elif PACKAGE in name and code.co_flags & IS_FUNCTION:
        sys.monitoring.set_local_events(TOOL, code, events.LINE)
    return sys.monitoring.DISABLE


def is_shared(file: str) -> bool:
    """Whether a module serves many tests, so that loading it belongs to no single one."""
    is_of_tests = "/tests/" in file and not file.rpartition("/")[2].startswith("test_")
    return PACKAGE in file or is_of_tests


def leave(code, offset, value):  # type: ignore[no-untyped-def]
    """A module has been loaded."""
    global loading
    loading = max(0, loading - 1)


def line(code, number):  # type: ignore[no-untyped-def]
    """Record a line."""
    file = code.co_filename.rpartition(PACKAGE)[2]
    for folder, running in zip(folders, numbers):  # noqa: B905  (they are of one length)
        test = EVERY_TEST if loading and not is_driver else running
        if writes_at_once:
            write(folder, f"{test} {file} {number}\n")
        else:
            collected.setdefault((test, file), set()).add(number)
    return sys.monitoring.DISABLE


def flush() -> None:
    """Write the lines that were collected."""
    for (test, file), lines in collected.items():
        write(folders[0], f"{test} {file} {' '.join(map(str, lines))}\n")
    collected.clear()


def write(folder: str, text: str) -> None:
    """Append a line of text.

    The file is opened each time: a test may close any descriptor, and then open a file that gets
    its number.
    """
    flags = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC
    try:
        file = posix.open(folder + "/lines", flags, 0o666)
    except OSError:
        return  # a test has used up the descriptors
    try:
        posix.write(file, text.encode())
    finally:
        posix.close(file)
