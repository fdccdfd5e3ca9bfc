"""Python programs in forked processes: what a start of the interpreter would do, without its price.

A start of `kmerge` costs a third of a second, most of it for imports. So one warm process per test
process, the server, imports the package once and forks for every program that the tests run. The
server has no threads (a worker of xdist has some, and must not fork) and opens no repository. What
a program is given is that of a real start: arguments, folder, environment, streams, limits.

`KMERGE_TESTS_START` says how programs start: `forked` (the default), `real`, or `some`: one test in
ten starts its programs for real, chosen by its name.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[1]
STARTS = ("forked", "real", "some")
HOW = os.environ.get("KMERGE_TESTS_START") or "forked"  # read once, as `depth` does
assert HOW in STARTS, f"KMERGE_TESTS_START is {HOW!r}, not one of {STARTS}"
# the interpreter reads these when it starts, and never again
_READ_AT_START = ("PYTHON", "LC_", "LANG", "MALLOC_", "LD_")


# -- who asks: a test ------------------------------------------------------------------------------


def starts_for_real(test: str) -> bool:
    """Whether the programs of a test are started, not forked."""
    if HOW == "some":
        return zlib.crc32(test.encode()) % 10 == 0
    return HOW == "real" or not hasattr(os, "fork")


def run_forked(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: bytes,
    timeout: float,
) -> subprocess.CompletedProcess[bytes] | None:
    """Run `PYTHON -m MODULE`, `-c CODE` or `SCRIPT` in a fork of the server, if that is the same.

    None says that it is not: the interpreter has options, or would read other variables.
    """
    server = _server_for(env)
    words = argv[1:]
    if (
        server is None
        or words[:1] == ["-"]
        or (words[0][:1] == "-" and words[0] not in ("-m", "-c"))
    ):
        return None
    return server.run(argv, cwd, env, stdin, timeout)


def _read_at_start(env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((k, v) for k, v in env.items() if k.startswith(_READ_AT_START)))


# What the interpreter of the server reads: that of every program in a sealed world.
_PLAIN = _read_at_start(
    {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    | {"LC_ALL": "C", "PYTHONPATH": str(ROOT)}
    | ({"PYTHONPYCACHEPREFIX": sys.pycache_prefix} if sys.pycache_prefix else {})
)
_servers: list[Server] = []  # one, or none


def _server_for(env: Mapping[str, str]) -> Server | None:
    """The server, if a program with this environment may run there."""
    if _read_at_start(env) != _PLAIN:
        return None
    if _servers and _servers[0].process.poll() is not None:  # somebody has killed it
        close()
    if not _servers:
        _servers.append(Server(env))
    return _servers[0]


def close() -> None:
    """End the server, if there is one, and wait for it."""
    while _servers:
        _servers.pop().close()


class Server:
    """The warm process, seen from a test."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._socket, other = socket.socketpair()
        with other:
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(other.fileno())],
                pass_fds=[other.fileno()],
                cwd=ROOT,
                env=env,
                stdin=subprocess.DEVNULL,
            )

    def close(self) -> None:
        """End the server and wait for it, so that its time counts as that of the tests."""
        self._socket.close()
        self.process.wait()

    def run(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes,
        timeout: float,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program, give it its input, and collect what it prints until both streams end."""
        asked = {
            "argv": list(argv),
            "cwd": cwd,
            "env": dict(env),
            "umask": _umask(),
            "limits": _limits(),
        }
        end = time.monotonic() + timeout
        read_in, write_in = os.pipe()
        read_out, write_out = os.pipe()
        read_err, write_err = os.pipe()
        ours, pid = [write_in, read_out, read_err], 0
        try:
            try:
                message = json.dumps(asked).encode()
                head = len(message).to_bytes(8, "big")
                socket.send_fds(self._socket, [head], [read_in, write_out, write_err])
                self._socket.sendall(message)
            finally:
                for handle in (read_in, write_out, write_err):
                    os.close(handle)
            pid = self._reply(end)
            ours = []  # they are closed there
            out, err = _exchange(write_in, stdin, read_out, read_err, end)
            return subprocess.CompletedProcess(list(argv), self._reply(end), out, err)
        except BaseException as error:
            # The answers that are still to come belong to nobody: this server is of no use any more.
            for handle in ours:
                os.close(handle)
            if pid and not self._has_reply():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait()
            if isinstance(error, TimeoutError):
                raise subprocess.TimeoutExpired(list(argv), timeout) from None
            raise

    def _has_reply(self, seconds: float = 0.0) -> bool:
        return bool(select.select([self._socket], [], [], max(0.0, seconds))[0])

    def _reply(self, end: float) -> int:
        """The next number that the server tells."""
        line = b""
        while not line.endswith(b"\n"):
            if not self._has_reply(end - time.monotonic()):
                raise TimeoutError
            byte = self._socket.recv(1)
            assert byte, "the server of forked programs has ended"
            line += byte
        return int(line)


def _exchange(
    write_in: int, stdin: bytes, read_out: int, read_err: int, end: float
) -> tuple[bytes, bytes]:
    """Write all input, read both outputs to their ends, and close the three."""
    texts: dict[int, list[bytes]] = {read_out: [], read_err: []}
    open_ones = {write_in, read_out, read_err}
    rest = memoryview(stdin)
    try:
        with selectors.DefaultSelector() as selector:
            for handle in texts:
                selector.register(handle, selectors.EVENT_READ)
            os.set_blocking(write_in, False)
            selector.register(write_in, selectors.EVENT_WRITE)
            while selector.get_map():
                ready = selector.select(max(0.0, end - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    handle = key.fd
                    if handle == write_in:
                        try:
                            rest = rest[os.write(write_in, rest) :] if rest else rest
                        except BrokenPipeError:
                            rest = memoryview(b"")
                        more: object = rest
                    else:
                        more = os.read(handle, 1 << 16)
                        texts[handle].append(more)
                    if not more:
                        selector.unregister(handle)
                        os.close(handle)
                        open_ones.discard(handle)
    finally:
        for handle in open_ones:
            os.close(handle)
    return b"".join(texts[read_out]), b"".join(texts[read_err])


def _umask() -> int:
    mask = os.umask(0o22)
    os.umask(mask)
    return mask


def _limits() -> dict[str, tuple[int, int]]:
    """The limits of this process, which a program that it starts inherits."""
    import resource

    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    limits = {}
    for name in names:
        with suppress(OSError, ValueError):
            limits[name] = resource.getrlimit(getattr(resource, name))
    return limits


# -- who answers: the server -----------------------------------------------------------------------


def _serve(handle: int) -> None:
    """Fork for every request until the asking process is gone; tell each pid and exit code."""
    import gc

    asks = socket.socket(fileno=handle)
    _import_all()
    gc.collect()
    gc.freeze()  # a collection in a child would copy all that it looks at
    while True:
        head, streams, _, _ = socket.recv_fds(asks, 8, 3)
        if not head:
            os._exit(0)
        size = int.from_bytes(head, "big")
        message = b""
        while len(message) < size:
            more = asks.recv(size - len(message))
            if not more:
                os._exit(1)
            message += more
        pid = os.fork()
        if pid == 0:
            asks.close()
            _become(SimpleNamespace(**json.loads(message)), streams)
        for stream in streams:
            os.close(stream)
        asks.sendall(b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        asks.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _import_all() -> None:
    """Import what the commands import, and what they import when they need it."""
    from importlib import import_module

    package = Path(str(import_module("kmerge_git").__file__)).parent
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        if name not in ("kmerge_git.__main__", "kmerge_git.cli.driver"):  # they run when imported
            import_module(name)
    for name in ("argparse", "json", "subprocess", "tempfile", "runpy", "pygit2", "ruamel.yaml"):
        import_module(name)


def _become(asked: SimpleNamespace, streams: list[int]) -> None:
    """Run the program in this process, which ends with it."""
    try:
        code = _begin_and_run(asked, streams)
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    os._exit(code)


def _begin_and_run(asked: SimpleNamespace, streams: list[int]) -> int:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(asked.cwd)
    os.environ.clear()
    os.environ.update(asked.env)
    time.tzset()
    os.umask(asked.umask)
    _set_limits(asked.limits)
    _open_streams()
    _find_home()
    return _ended(asked.argv[1:])


def _set_limits(limits: dict[str, list[int]]) -> None:
    import resource

    for name, limit in limits.items():
        number = getattr(resource, name)
        if list(resource.getrlimit(number)) != limit:
            resource.setrlimit(number, (limit[0], limit[1]))


def _open_streams() -> None:
    """Open `sys.stdin` and the like for the new streams, as the interpreter does at its start."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, f"__{name}__")
        new = open(  # noqa: SIM115  (open to the end of the process)
            number,
            "w" if number else "r",
            encoding=old.encoding,
            errors=old.errors,
            newline="\n",
            closefd=False,
        )
        new.buffer.raw.name = f"<{name}>"
        if number:
            new.reconfigure(line_buffering=number == 2 or new.isatty())
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def _find_home() -> None:
    """Let libgit2 look for settings in this home: it asks the environment once per process."""
    import pygit2
    from pygit2 import enums

    home = os.environ.get("HOME", "")
    more = os.environ.get("XDG_CONFIG_HOME") or (home and f"{home}/.config")
    if hasattr(pygit2.settings, "homedir"):
        pygit2.settings.homedir = home
    pygit2.settings.search_path[enums.ConfigLevel.GLOBAL] = home
    pygit2.settings.search_path[enums.ConfigLevel.XDG] = more and f"{more}/git"


def _ended(words: list[str]) -> int:
    """Run the program, then do what the interpreter does at its end; the exit code."""
    import runpy
    import threading

    code: object = 0
    interrupted = False
    try:
        if words[0] == "-m":
            sys.argv, sys.path[0] = words[1:], os.getcwd()
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        elif words[0] == "-c":
            sys.argv, sys.path[0] = ["-c", *words[2:]], ""
            exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})
        else:
            sys.argv, sys.path[0] = words, os.path.dirname(os.path.abspath(words[0]))
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        interrupted = True
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = 1
    if not isinstance(code, int | None):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream and not stream.closed:
            try:
                stream.flush()
            except OSError:
                code = 120
    if interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return (code or 0) & 0xFF


if __name__ == "__main__":
    # Ctrl-C of a terminal is told to the tests as well; and they may be gone before a program is
    with suppress(KeyboardInterrupt, BrokenPipeError):
        _serve(int(sys.argv[1]))
