"""A terminal with a program in it, driven as a person would: read, then press a key."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

PATIENCE = 60.0  # seconds: a guard against hanging, not a measure
# the terminal of its session, so that Ctrl-C and Ctrl-Z reach it, whoever runs the tests ignores them
_IN_CONTROL = """
import fcntl, os, signal, sys, termios
for name in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
    signal.signal(name, signal.SIG_DFL)
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvpe(sys.argv[1], sys.argv[1:], os.environ)
"""
_PAINT = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """A pseudo-terminal that a program thinks it is alone with."""

    def __init__(
        self,
        argv: Sequence[str | Path],
        *,
        cwd: Path,
        env: dict[str, str],
        rows: int = 24,
        columns: int = 80,
    ) -> None:
        self._master, self._slave = os.openpty()
        self.resize(rows, columns)
        self.seen = ""  # all that was printed, without its colours
        self.raw = ""
        self._read = 0  # how much of it was waited for
        self.before = self.is_normal()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _IN_CONTROL, *map(str, argv)],
            cwd=cwd,
            env={"TERM": "xterm"} | env,
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            start_new_session=True,
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)
        os.close(self._slave)

    def resize(self, rows: int, columns: int) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    def wait(self, text: str) -> str:
        """What was printed since the last wait, up to and with this text."""
        end = time.monotonic() + PATIENCE
        while text not in self.seen[self._read :]:
            over = time.monotonic() > end
            if over or not (self._more(0.5) or self.process.poll() is None or self._more(0)):
                raise AssertionError(f"{text!r} does not come:\n{self.seen[self._read :]}")
        start = self._read
        self._read = self.seen.index(text, start) + len(text)
        return self.seen[start : self._read]

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def end(self) -> int:
        """The exit code; everything that is printed until then is seen."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it does not end:\n{self.seen[self._read :]}"
            self._more(0.05)
        while self._more(0):
            pass
        return self.process.returncode

    def rest(self) -> str:
        """What was printed and not waited for."""
        return self.seen[self._read :]

    def is_normal(self) -> bool:
        """Whether the terminal gives lines and shows what is typed, as a shell leaves it."""
        flags = termios.tcgetattr(self._slave)[3]
        return bool(flags & termios.ICANON) and bool(flags & termios.ECHO)

    def _more(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return False
        self.raw += os.read(self._master, 65536).decode("utf-8", "replace").replace("\r\n", "\n")
        self.seen = _PAINT.sub("", self.raw)
        return True
